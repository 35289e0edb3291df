// SPDX-License-Identifier: Apache-2.0
// What a launch costs in a model, for tests of choices.
#include "cost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct cost_device cost_gpu = {0, 132, 4270e3, 3, 0.4, 48, 0}, cost_cpu = {1, 16, 160e3, 10, 0, 0, 0};

#define TOGETHER     4    // entries that one work-item reads at once
#define TILE         1000 // rows and entries of a tile of csr_merge
#define WINDOW       1024 // sorted rows
#define MOST_PADDING 4.0
// A CPU, nanoseconds of a core beside the bytes (docs/log/cpu-costs.md): a row of CSR and of a sliced format; a row of CSR that is not
// as long as the one before, unless the product is so small that the processor knows it from the one before.
#define CSR_ROW_NS    0.45
#define SLICED_ROW_NS 0.9
#define GUESS_NS      5.4
#define LEARNED       1.2e5 // rows and entries of a core

static double max2(double a, double b)
{
    return a > b ? a : b;
}

static int64_t length_of(const struct weft_csr *a, int64_t row)
{
    return row < a->m ? weft_csr_ofs(a, row + 1) - weft_csr_ofs(a, row) : 0;
}

// Pieces of work that run side by side: all of them, and the longest.
struct work {
    double bytes;          // moved in all
    double steps, longest; // GPU: of groups of 32 lanes one after the other
    double items[1 << 14]; // CPU: bytes of each work-item, in their order
    int count;
    double launches;
};

static double work_us(const struct cost_device *d, const struct work *w)
{
    if (!d->cpu) {
        const double busy = w->steps * d->step_us / (d->units * (double)d->warps);
        return w->launches * d->launch_us + max2(max2(w->bytes / d->bytes_per_us, busy), w->longest * d->step_us);
    }
    double until[64] = {0}, end = 0; // each item goes to the unit that is free first
    for (int i = 0; i < w->count; i++) {
        int first = 0;
        for (int u = 1; u < d->units; u++)
            first = until[u] < until[first] ? u : first;
        until[first] += w->items[i] / d->bytes_per_us * d->units;
        end = max2(end, until[first]);
    }
    return w->launches * d->launch_us + end;
}

// Nanoseconds of a core as bytes that it would move meanwhile; none on a GPU.
static double as_bytes(const struct cost_device *d, double ns)
{
    return d->cpu ? ns * 1e-3 * d->bytes_per_us / d->units : 0;
}

// What rows of CSR take a CPU beside their bytes.
static double csr_rows_ns(const struct cost_device *d, const struct weft_csr *a)
{
    double changes = 0, taken = 0;
    for (int64_t i = 0; i < a->m; i++) {
        taken += length_of(a, i) > 0;
        changes += i > 0 && length_of(a, i) != length_of(a, i - 1);
    }
    return CSR_ROW_NS * taken + GUESS_NS * changes * fmin(1, (double)(a->nnz + a->m) / d->units / LEARNED);
}

// `count` work-items of equal bytes.
static void work_even(struct work *w, int64_t count)
{
    w->count = (int)(count < 1 ? 1 : count > 1 << 14 ? 1 << 14 : count);
    for (int i = 0; i < w->count; i++)
        w->items[i] = w->bytes / w->count;
}

static int longer(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a >> 32, y = *(const int64_t *)b >> 32;
    return (x < y) - (x > y);
}

// Rows by falling length in windows; the row in the low half.
static int64_t *rows_order(const struct weft_csr *a, int sorted)
{
    int64_t *order = malloc((size_t)(a->m + 1) * sizeof *order);
    for (int64_t i = 0; i < a->m; i++)
        order[i] = length_of(a, i) << 32 | i;
    for (int64_t i = 0; sorted && i < a->m; i += WINDOW)
        qsort(order + i, (size_t)(a->m - i < WINDOW ? a->m - i : WINDOW), sizeof *order, longer);
    return order;
}

// Rows of a work-item of a CPU: 16 work-items for each unit, but 4096 rows and entries where each unit has two of them, and no more
// than 1024 rows.
static int64_t chunk_of(const struct cost_device *d, const struct weft_csr *a)
{
    const int64_t even = (a->m + d->units * 16 - 1) / (d->units * 16), two = a->m / (2 * d->units),
                  least = 4096 * a->m / (a->m + a->nnz), most = least < two ? least : two;
    const int64_t rows = ((even > most ? even : most) + 31) / 32 * 32;
    return rows > 1024 ? 1024 : rows;
}

// Sliced ELL: bytes of a column 2 or 4.
static int sell_work(struct work *w, const struct cost_device *d, const struct weft_csr *a, int sorted, int narrow,
                     double val)
{
    const int64_t height = d->cpu ? 8 : 32, chunk = chunk_of(d, a);
    int64_t elements = 0, filling = 0;
    int64_t *order = rows_order(a, sorted);
    int fits = 1;
    *w = (struct work){.launches = 1, .bytes = (sorted ? 4.0 : 0) * (double)a->m};
    for (int64_t s = 0; s < a->m; s += height) {
        int64_t widest = 0, most = a->m - s < height ? a->m - s : height;
        for (int64_t r = s; r < s + most; r++)
            widest = order[r] >> 32 > widest ? order[r] >> 32 : widest;
        for (int64_t k = 0; narrow && fits && k < widest; k++) {
            int64_t low = INT32_MAX, high = 0;
            for (int64_t r = s; r < s + most; r++)
                if (k < order[r] >> 32) {
                    const int64_t c = a->col[weft_csr_ofs(a, order[r] & 0xffffffff) + k];
                    low = c < low ? c : low;
                    high = c > high ? c : high;
                }
            fits = high - low <= 65534;
        }
        // To widen columns of 16 bits takes a CPU as long as it takes to read those of 32.
        const double column = narrow && !d->cpu ? 2 : 4;
        const double bytes = (double)widest * ((double)height * (val + column) + (narrow ? 4 : 0)) + 8 +
                             as_bytes(d, SLICED_ROW_NS * (double)most);
        elements += widest * height;
        filling += (height - most) * widest;
        w->bytes += bytes;
        w->steps += (double)((widest + TOGETHER - 1) / TOGETHER);
        w->longest = max2(w->longest, (double)((widest + TOGETHER - 1) / TOGETHER) * (narrow ? 1.5 : 1));
        const int64_t item = s / chunk;
        if (item < 1 << 14) {
            w->items[item] += bytes;
            w->count = (int)item + 1;
        }
    }
    free(order);
    return fits && (double)(elements - filling) <= MOST_PADDING * (double)a->nnz;
}

static int int32_less(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static int sdia_work(struct work *w, const struct cost_device *d, const struct weft_csr *a, double val)
{
    const int64_t chunk = chunk_of(d, a);
    double elements = 0;
    int fits = 1;
    *w = (struct work){.launches = 1};
    for (int64_t s = 0; s < a->m && fits; s += 32) {
        const int64_t begin = weft_csr_ofs(a, s), end = weft_csr_ofs(a, s + 32 < a->m ? s + 32 : a->m);
        int32_t *offset = malloc((size_t)(end - begin + 1) * sizeof *offset);
        int64_t slots = 0, count = 0;
        for (int64_t r = s; r < a->m && r < s + 32; r++)
            for (int64_t p = weft_csr_ofs(a, r); p < weft_csr_ofs(a, r + 1); p++) {
                fits &= p == weft_csr_ofs(a, r) || a->col[p] > a->col[p - 1];
                offset[count++] = (int32_t)(a->col[p] - r);
            }
        qsort(offset, (size_t)count, sizeof *offset, int32_less);
        for (int64_t i = 0; i < count; i++)
            slots += !i || offset[i] != offset[i - 1];
        free(offset);
        const double bytes = (double)slots * (32 * val + 8) + 8 + as_bytes(d, SLICED_ROW_NS * 32 / 4);
        elements += (double)slots * 32;
        w->bytes += bytes;
        w->steps += (double)((slots + TOGETHER - 1) / TOGETHER);
        w->longest = max2(w->longest, (double)((slots + TOGETHER - 1) / TOGETHER));
        if (s / chunk < 1 << 14) {
            w->items[s / chunk] += bytes;
            w->count = (int)(s / chunk) + 1;
        }
    }
    return fits && elements <= MOST_PADDING * (double)a->nnz + 32 * (double)w->longest * TOGETHER;
}

// Groups of 32 lanes, `lanes` for each row, that read `together` entries at once.
static void lanes_work(struct work *w, const struct weft_csr *a, int lanes, int together)
{
    for (int64_t first = 0; first < a->m; first += 32 / lanes) {
        int64_t longest = 0;
        for (int64_t r = first; r < first + 32 / lanes; r++)
            longest = length_of(a, r) > longest ? length_of(a, r) : longest;
        const double steps = (double)((longest + together * lanes - 1) / (together * lanes));
        w->steps += steps + 1;
        w->longest = max2(w->longest, steps + 1);
    }
}

static int rows_alike(const struct weft_csr *a, int64_t row)
{
    const int64_t length = length_of(a, row), begin = weft_csr_ofs(a, row);
    return length == length_of(a, row - 1) &&
           !memcmp(a->col + begin, a->col + begin - length, (size_t)length * sizeof *a->col);
}

static double ell_cost(const struct cost_device *d, const struct weft_csr *a, struct work *w, int64_t width, double val,
                       double vectors)
{
    double rest = 0;
    for (int64_t i = 0; i < a->m; i++)
        rest += length_of(a, i) > width ? (double)(length_of(a, i) - width) : 0;
    if ((double)a->m * (double)width > MOST_PADDING * (double)a->nnz)
        return INFINITY;
    *w = (struct work){.launches = rest > 0 ? 3 : 1};
    w->bytes = (double)a->m * (double)width * (4 + val) + rest * (8 + val) + vectors;
    w->longest = (double)((width + TOGETHER - 1) / TOGETHER);
    w->steps = w->longest * (double)a->m / 32;
    work_even(w, a->m / 1024 > d->units * 16 ? a->m / 1024 : a->m / 32 < d->units * 16 ? a->m / 32 : d->units * 16);
    return work_us(d, w);
}

// Whether a tile of so many rows plus entries begins far behind the begin of a row.
static int is_cut(const struct weft_csr *a, int64_t tile)
{
    for (int64_t i = 0; i < a->m; i++) {
        const int64_t begin = i + weft_csr_ofs(a, i), next = (begin + tile - 1) / tile * tile;
        if (next > begin + tile / 16 && next < begin + length_of(a, i))
            return 1;
    }
    return 0;
}

#define PANEL_BYTES 32768 // of x

static double panels_cost(const struct cost_device *d, const struct weft_csr *a, struct work *w, double val,
                          double vectors)
{
    const int64_t cols = PANEL_BYTES / (val > 4 ? 8 : 4), panels = (a->n + cols - 1) / cols;
    double parts = (double)panels * (double)a->m, empty = parts;
    if (d->cpu)
        return INFINITY;
    for (int64_t i = 0; i < a->m; i++)
        for (int64_t p = weft_csr_ofs(a, i); p < weft_csr_ofs(a, i + 1); p++)
            empty -= p == weft_csr_ofs(a, i) || a->col[p] / cols != a->col[p - 1] / cols;
    w->launches = 2;
    w->bytes = ((double)a->nnz + (empty > 0 ? empty : 0)) * (2 + val) + 2 * parts * (val > 4 ? 8 : 4) + vectors +
               2.0 * d->units * PANEL_BYTES; // two work-groups of a unit fill their local memory
    return work_us(d, w);
}

// Bytes that a GPU's second cache moves for reads of an x that the first does not hold: a sector for each entry whose sector is not there, in a
// cache with one place for each, through which the rows pass in their order.
#define SECTORS      4096 // 128 KB
#define SECTOR_BYTES 32
static double gather_bytes(const struct cost_device *d, const struct weft_csr *a, double val)
{
    static int32_t there[SECTORS];
    const int32_t side = SECTOR_BYTES / (int32_t)(val > 4 ? 8 : 4);
    double missed = 0;
    if (d->cpu)
        return 0;
    memset(there, -1, sizeof there);
    for (int64_t p = 0; p < a->nnz; p++) {
        const int32_t sector = a->col[p] / side;
        missed += there[sector % SECTORS] != sector;
        there[sector % SECTORS] = sector;
    }
    return SECTOR_BYTES * missed;
}

double cost_spmv(const struct cost_device *d, const struct weft_csr *a, enum weft_spmv_algo algo, int lanes)
{
    const double val = (double)weft_type_bytes(a->type), ofs = (double)weft_ofs_bytes(a->ofs), m = (double)a->m,
                 nnz = (double)a->nnz, vectors = (m + (double)a->n) * val + gather_bytes(d, a, val),
                 csr = nnz * (4 + val) + m * ofs + vectors;
    static struct work w;
    int64_t longest = 0;
    for (int64_t i = 0; i < a->m; i++)
        longest = length_of(a, i) > longest ? length_of(a, i) : longest;
    const int64_t parts = longest / TILE;
    double us = INFINITY;
    w = (struct work){.launches = 1, .bytes = csr};
    switch (algo) {
    case WEFT_SPMV_ALGO_CSR_LANES:
        if (d->cpu) { // tiles, of which one has all of the longest row
            w.bytes += 8 * (m + nnz) / TILE + as_bytes(d, csr_rows_ns(d, a));
            work_even(&w, a->m + a->nnz < d->units * 16 * 4096 ? (a->m + a->nnz + 4095) / 4096 : d->units * 16);
            w.items[0] = max2(w.items[0], (double)longest * (4 + val));
            return work_us(d, &w);
        }
        lanes_work(&w, a, lanes, TOGETHER);
        return work_us(d, &w);
    case WEFT_SPMV_ALGO_CSR_SCALAR:
        if (d->cpu)
            return INFINITY;
        lanes_work(&w, a, 1, 1);
        return work_us(d, &w);
    case WEFT_SPMV_ALGO_CSR_MERGE:
    case WEFT_SPMV_ALGO_CSR_FLAGS:
        w.bytes += 8 * (m + nnz) / TILE + as_bytes(d, csr_rows_ns(d, a));
        w.longest = 6 + (double)parts / 256;
        w.steps = (m + nnz) / 32 / TOGETHER;
        work_even(&w, a->m + a->nnz < d->units * 16 * 4096 ? (a->m + a->nnz + 4095) / 4096 : d->units * 16);
        // A second launch is on its way while the first one runs: power:3k,3k,20k took no longer by CSR than by sliced ELL.
        w.launches = d->cpu && is_cut(a, (a->m + a->nnz) / w.count) ? 1.1 : d->joins && is_cut(a, TILE) ? 2 : 1;
        return work_us(d, &w);
    case WEFT_SPMV_ALGO_CSR_NODES: {
        if (d->cpu)
            return INFINITY;
        double columns = 0;
        lanes_work(&w, a, 32, 2);
        w.steps = (m + nnz) / 32 / TOGETHER;
        for (int64_t i = 0; i < a->m; i++)
            columns += i % 8 && rows_alike(a, i) ? 0 : (double)length_of(a, i);
        w.bytes -= 4 * (nnz - columns);
        return work_us(d, &w);
    }
    case WEFT_SPMV_ALGO_SELL:
    case WEFT_SPMV_ALGO_SELL16:
        for (int sorted = 0; sorted < 2; sorted++)
            if (sell_work(&w, d, a, sorted, algo == WEFT_SPMV_ALGO_SELL16, val)) {
                w.bytes += vectors;
                for (int i = 0; i < w.count; i++)
                    w.items[i] += vectors / w.count;
                us = fmin(us, work_us(d, &w));
            }
        return us;
    case WEFT_SPMV_ALGO_SDIA:
        if (!sdia_work(&w, d, a, val))
            return INFINITY;
        w.bytes += vectors;
        for (int i = 0; i < w.count; i++)
            w.items[i] += vectors / w.count;
        return work_us(d, &w);
    case WEFT_SPMV_ALGO_PANELS:
        return panels_cost(d, a, &w, val, (m + (double)a->n) * val);
    case WEFT_SPMV_ALGO_ELL:
        return ell_cost(d, a, &w, longest, val, vectors);
    case WEFT_SPMV_ALGO_HYB:
        for (int64_t width = 0, shorter = 0; width < longest && width < 1000; width++, shorter = 0) {
            for (int64_t i = 0; i < a->m; i++)
                shorter += length_of(a, i) <= width;
            if (3 * (a->m - shorter) <= a->m)
                return ell_cost(d, a, &w, width, val, vectors);
        }
        return INFINITY;
    case WEFT_SPMV_ALGO_COO:
        w.bytes = nnz * (8 + val) + vectors + m * val;
        w.longest = 6 + (double)parts / 256;
        w.launches = 3;
        work_even(&w, d->units * 16);
        return work_us(d, &w);
    default:
        return INFINITY;
    }
}

double cost_spmv_best(const struct cost_device *d, const struct weft_csr *a, int csr, int lanes,
                      enum weft_spmv_algo *algo)
{
    static const enum weft_spmv_algo algos[] = {
        WEFT_SPMV_ALGO_CSR_MERGE, WEFT_SPMV_ALGO_CSR_SCALAR, WEFT_SPMV_ALGO_SELL, WEFT_SPMV_ALGO_SELL16,
        WEFT_SPMV_ALGO_SDIA,      WEFT_SPMV_ALGO_ELL,        WEFT_SPMV_ALGO_HYB,  WEFT_SPMV_ALGO_COO,
        WEFT_SPMV_ALGO_PANELS,    WEFT_SPMV_ALGO_CSR_NODES};
    double best = INFINITY;
    for (int each = 2; each <= 32 && !d->cpu; each *= 2) {
        const double us = cost_spmv(d, a, WEFT_SPMV_ALGO_CSR_LANES, each);
        if (us < best) {
            best = us;
            *algo = WEFT_SPMV_ALGO_CSR_LANES;
        }
    }
    const size_t all = sizeof algos / sizeof *algos;
    for (size_t i = 0; i < (csr ? 2 : lanes ? all : all - 2); i++) {
        const double us = cost_spmv(d, a, algos[i], 0);
        if (us < best) {
            best = us;
            *algo = algos[i];
        }
    }
    return best;
}

// ---- transposition ---------------------------------------------------------------------------------------------

#define PASS_BYTES   52 // of a pass of scan for an entry: an H200 takes 25 ps for two passes, at 4270 GB/s
#define MIRROR_BYTES 56 // of the mirror where the first guess is right: 13 ps (stencil27:120)
#define SECTOR       32 // of a step elsewhere

double cost_scan_bytes(const struct weft_csr *a)
{
    return PASS_BYTES * (a->n <= 1 << 10 ? 1.5 : a->n <= 1 << 21 ? 2 : 3);
}

double cost_mirror_bytes(const struct weft_csr *a)
{
    double sectors = 0;
    for (int64_t i = 0; i < a->m; i++)
        for (int64_t p = weft_csr_ofs(a, i); p < weft_csr_ofs(a, i + 1); p++) {
            const int64_t j = a->col[p], begin = weft_csr_ofs(a, j), end = weft_csr_ofs(a, j + 1);
            int64_t low = begin, high = end, q = end - 1 - (p - weft_csr_ofs(a, i)), at = -1, first = 0;
            q = q < begin ? begin : q;
            at = q / 8;
            for (int turn = 0; low < high && a->col[q] != i; turn++) {
                // In long rows: as far as the columns are apart, then on the line through both, then halves.
                const int64_t c = a->col[q], was = q;
                low = c < i ? q + 1 : low;
                high = c < i ? high : q;
                if (turn > 1 || end - begin <= 32)
                    q = low + (high - low) / 2;
                else if (turn == 1 && c != a->col[first])
                    q = first + (i - a->col[first]) * (q - first) / (c - a->col[first]);
                else
                    q += i - c;
                q = q < low ? low : q >= high ? high - 1 : q;
                first = was;
                sectors += low < high && q / 8 != at;
                at = q / 8;
            }
        }
    return MIRROR_BYTES + SECTOR * sectors / (double)(a->nnz ? a->nnz : 1);
}
