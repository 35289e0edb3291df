// SPDX-License-Identifier: Apache-2.0
// Tells what products and conversions cost on a CPU from the figures of a matrix; the numbers were fitted on three processors.
#include "cost.h"
#include "hyb.h"

#include <math.h>
#include <string.h>

// Nanoseconds of a core: of CSR for an entry, a row, and a row that is not as long as the one before, where the processor guesses wrongly
// where the row ends; of formats for an element and a row. The same of conversions.
struct cost {
    double element, row, change;
};
struct format {
    struct cost run, convert;
};
enum { NARROW, WIDE, WIDTHS };
// Where long rows read another line of a far x for each entry, which eight of them share: nanoseconds more for an entry by CSR; where
// a row has so many lines of x for each of its entries, and a unit has so many rows.
struct apart {
    double ns, least, most, rows;
};
// What differs between processors.
struct processor {
    struct cost csr[WIDTHS], csr_memory[WIDTHS]; // entries from the caches, from memory
    struct cost blocks[WIDTHS], longer[WIDTHS];  // from the caches, in blocks of eight, in longer rows
    // CSR that walks entries and not rows (spmv_csr_gaps_cpu). A row with entries takes `gaps_taken` whatever it holds; where they come
    // one by one, the processor guesses wrongly twice at a row of several.
    struct cost gaps[WIDTHS];
    double gaps_taken;
    struct format sell[WIDTHS], sell16[WIDTHS], sdia[WIDTHS];
    double format_memory;          // more for a byte of ELL or sliced ELL, where they come from memory
    struct cost ell[WIDTHS], rest; // of a hybrid: of its ELL part; of the rest an entry, and a row that has some
    // Entries and rows of a unit from which the processor does not know from the product before where its rows end. With fewer it
    // knows more than in proportion.
    double learned;
    double taken; // more for a row with entries
    double loops; // more for a change, where some rows are summed up by the loop for long ones and some are not
    // More for an entry where x is far and has more bytes than x_cached: by CSR, by sliced ELL, and with a large x.
    double x_cached, x_csr, x_sell[WIDTHS], x_sell_large[WIDTHS];
    // And where the matrix flows past the caches: in full from a half of the last one on, nothing up to a quarter.
    double x_csr_streamed[WIDTHS], x_sell_streamed[WIDTHS];
    struct apart apart;
    double x_close[WIDTHS]; // more for an entry by sliced ELL, where long rows leave out few columns of such an x
    // Where such an x comes from memory: more for a row with entries by CSR, and for an entry by either.
    double memory_csr, memory;
    double convert_us, launch_us; // buffers and launches of a conversion; a launch, which CSR and formats take alike
    double gain;                  // of the time of CSR, at most
    double sell_least_us;         // of CSR from which sliced ELL may gain
    size_t narrow;                // bytes of a value up to which columns in 16 bits gain, from memory
    double narrow_cache; // the part of the last cache from which on they do where x is far; else it is all of it
};
// An AMD EPYC with AVX-512, family 26. Fitted to 39 patterns in f32 and 37 in f64, a second, third and fourth time to patterns drawn at
// random (docs/log/cpu-costs.md). Sliced ELL gained nothing where CSR takes less than 12 us: five patterns took 0.84 to 0.97 times as
// long by CSR.
static const struct processor avx512 = {
    .csr = {{0.28, 0.60, 6.8}, {0.30, 0.60, 7.0}},
    .csr_memory = {{0.38, 0.60, 6.8}, {0.50, 0.60, 7.0}},
    .blocks = {{0.28, 0.60, 8.0}, {0.30, 0.60, 8.0}},
    .longer = {{0.22, 0.60, 6.8}, {0.26, 0.60, 7.0}},
    .gaps = {{0.4, 0.07, 6.3}, {0.45, 0.11, 6.3}},
    .gaps_taken = 1.6,
    .sell = {{{0.23, 0.5, 0}, {1.6, 4.5, 0}}, {{0.28, 1.5, 0}, {2.0, 4.0, 0}}},
    .ell = {{0.26, 0.3, 0}, {0.36, 0.2, 0}},
    .sell16 = {{{0.25, 0.5, 0}, {3.2, 5.0, 0}}, {{0.31, 1.5, 0}, {3.6, 4.0, 0}}},
    .sdia = {{{0.11, 0.15, 0}, {4.0, 0.8, 0}}, {{0.18, 0.3, 0}, {5.0, 0.5, 0}}},
    .format_memory = 0.008,
    .rest = {0.85, 3.0, 0},
    .learned = 1.2e5,
    .loops = 1.0,
    .x_cached = 32 << 10,
    .apart = {0.6, 0.75, 4, 8},
    .x_sell = {0.07, 0.12},
    .x_sell_large = {0.22, 0.4},
    .x_csr_streamed = {0.10, 0.15},
    .x_sell_streamed = {0.22, 0.45},
    .convert_us = 330,
    .launch_us = 5,
    .gain = 0.95,
    .sell_least_us = 12,
    .narrow = 4,
    .narrow_cache = 0.5,
};
// An Intel Xeon of the Ice Lake kind, where gathers take twice as long as reads one by one. Fitted to 44 patterns in f32 and f64, multiplied by
// kernels without gathers (docs/log/cpu-costs.md).
static const struct processor avx512_intel = {
    .csr = {{0.50, 0.85, 7.5}, {0.55, 0.85, 7.5}},
    .csr_memory = {{0.65, 0.85, 7.5}, {0.75, 0.85, 7.5}},
    .blocks = {{0.50, 0.85, 7.5}, {0.60, 0.85, 7.5}},
    .longer = {{0.40, 0.85, 7.5}, {0.50, 0.85, 7.5}},
    .gaps = {{0.9, 0.12, 6.3}, {1.1, 0.18, 6.3}},
    .gaps_taken = 1.6,
    .sell = {{{0.45, 0.8, 0}, {2.2, 8.5, 0}}, {{0.60, 1.6, 0}, {3.0, 7.5, 0}}},
    .ell = {{0.50, 0.9, 0}, {0.70, 1.6, 0}},
    .sell16 = {{{0.48, 0.8, 0}, {4.7, 7.8, 0}}, {{0.60, 1.4, 0}, {5.0, 8.4, 0}}},
    .sdia = {{{0.18, 0.3, 0}, {6.9, 0.5, 0}}, {{0.40, 0.5, 0}, {8.0, 0.5, 0}}},
    .format_memory = 0.012,
    .rest = {1.15, 4.4, 0},
    .learned = 3e4,
    .taken = 0.6,
    .loops = 3.0,
    .x_cached = 1 << 20,
    .apart = {1.0, 0.5, 8, 4},
    .x_sell = {0, 0.2},
    .x_sell_large = {0.3, 0.8},
    .convert_us = 480,
    .launch_us = 5.5,
    .gain = 0.95,
    .sell_least_us = 7,
    .narrow = 4,
    .narrow_cache = 1,
};
// One with AVX2, fitted to 148 patterns in f32 and f64 (docs/log/cpu-costs.md): it learns the ends of few rows.
static const struct processor avx2 = {
    .csr = {{0.70, 1.2, 6.3}, {0.80, 1.2, 6.3}},
    .csr_memory = {{0.95, 1.2, 6.3}, {1.70, 1.2, 6.3}},
    .blocks = {{0.55, 1.2, 6.3}, {0.82, 1.2, 6.3}},
    .longer = {{0.55, 1.2, 6.3}, {0.82, 1.2, 6.3}},
    .gaps = {{0.9, 0.13, 12}, {1.0, 0.3, 10}},
    .gaps_taken = 3.0,
    .sell = {{{0.50, 1.5, 0}, {2.0, 9.0, 0}}, {{0.85, 2.0, 0}, {3.4, 9.0, 0}}},
    .ell = {{0.50, 1.9, 0}, {1.06, 2.5, 0}},
    .sell16 = {{{0.67, 1.5, 0}, {4.6, 6.0, 0}}, {{0.95, 1.9, 0}, {6.0, 6.0, 0}}},
    .sdia = {{{0.20, 0.5, 0}, {7.0, 0.5, 0}}, {{0.40, 0.5, 0}, {7.5, 0.5, 0}}},
    .format_memory = 0.055,
    .rest = {1.9, 12, 0},
    .learned = 1.5e4,
    .taken = 1.8,
    .loops = 3.0,
    .x_cached = 256 << 10,
    .x_csr = 0.45,
    .apart = {0.9, 0.75, 4, 8},
    .x_close = {0.2, 0.15},
    .x_sell = {0.3, 0.6},
    .x_sell_large = {0.7, 1.0},
    .memory_csr = 24,
    .memory = 15,
    .convert_us = 900,
    .launch_us = 7,
    .gain = 0.96,
    .sell_least_us = 7,
    .narrow = 8,
    .narrow_cache = 1,
};
#define AVX512_FLOATS 16         // of a vector
#define X_FIRST       (32 << 10) // bytes of x, beyond the first cache
#define X_LARGE       (2 << 20)
#define NARROW_REACH                                                                                                   \
    20000              // columns, by the square root of a row's entries, of which 16 bits tell the distance in a slice
#define LINE        64 // bytes
#define CACHES      (32 << 20) // bytes, where the driver does not tell
#define LEARNED_POW 1.5
#define LEARNED_ROW 12   // entries of a row beyond which less is learned
#define APART       10   // of 32: entries of long rows that lie far from the one before, at least
#define CLOSE       0.33 // lines of x for each entry of a long row, at most
#define LOOPS_ROW   64   // entries of a row that the loop for long ones takes
// Two sums of blocks of eight took 0.67 to 0.89 times as long as one sum or four with rows of 50 to 500 entries, from 16 on where the next row
// is mostly as long, since then the processor knows where loops end. They took 1.2 to 1.5 times as long where x is not in the second
// cache, and with integers, of which LLVM makes gathers (docs/log/cpu-costs.md).
#define BLOCKS_ALIKE 16
#define BLOCKS_ROW   48
#define BLOCKS_MOST  600
#define BLOCKS_X     (512 << 10)                      // bytes
static const struct cost gaps_make = {1.5, 1.0, 4.0}; // the rows of the entries, for CSR that walks entries
#define GAPS_GAIN 0.8                                 // of the time by rows, at most
// ELL with more columns takes several times as long as sliced ELL.
#define HYB_COLUMNS 64
static const struct cost hyb_convert[WIDTHS] = {{5.0, 9.0, 0}, {6.0, 9.0, 0}};
#define JOIN_US 3.0 // a second launch, where tiles of csr_merge share rows
// Tiles of csr_merge: nanoseconds at least, and how many for each unit at most.
#define TILE       2500.0
#define UNIT_TILES 16

// OpenCL tells the width of vectors and the vendor, and not what a processor learns: those that were measured differ by them.
static const struct processor *processor_of(const struct weft_spmv_plan *plan)
{
    const struct processor *wide = strstr(plan->ctx->device.vendor, "Intel") ? &avx512_intel : &avx512;
    return plan->ctx->vector >= AVX512_FLOATS ? wide : &avx2;
}

static int width_of(const struct weft_spmv_plan *plan)
{
    return weft_type_bytes(plan->a.type) == 8 ? WIDE : NARROW;
}

static const struct format *format_of(const struct weft_spmv_plan *plan, enum weft_spmv_algo algo)
{
    const int width = width_of(plan);
    const struct processor *p = processor_of(plan);
    return algo == WEFT_SPMV_ALGO_SDIA     ? &p->sdia[width]
           : algo == WEFT_SPMV_ALGO_SELL16 ? &p->sell16[width]
                                           : &p->sell[width];
}

// Microseconds until the last of the units is done with items of `total` nanoseconds, the longest of them last.
static double span_us(const struct weft_spmv_plan *plan, double total, double longest, double items)
{
    const double units = plan->ctx->device.compute_units;
    return fmin(ceil(items / units) * longest, total / units + longest) * 1e-3;
}

static double x_bytes(const struct weft_spmv_plan *plan)
{
    return (double)plan->x_size * (double)weft_type_bytes(plan->type);
}

static double cache_bytes(const struct weft_spmv_plan *plan)
{
    const double told = (double)plan->ctx->device.cache_bytes;
    return told > 0 ? told : CACHES;
}

static double matrix_bytes(const struct weft_spmv_plan *plan)
{
    return (double)plan->a.nnz * (4 + (double)weft_type_bytes(plan->a.type));
}

bool weft__spmv_cpu_cached(const struct weft_spmv_plan *plan)
{
    return matrix_bytes(plan) <= cache_bytes(plan);
}

// Lines of x for each entry of a row.
static double x_lines(const struct weft_spmv_plan *plan)
{
    return x_bytes(plan) / (LINE * fmax(weft__spmv_mean_row(plan), 1));
}

// Whether rows find what they read of x in the first caches: entries lie beside each other, or near the diagonal in any order.
static bool x_beside(const struct weft_spmv_plan *plan)
{
    return weft__spmv_x_near(plan) || weft__spmv_on_diagonal(plan);
}

// Whether rows are long and read every line of x, of which each serves several entries.
static bool x_close(const struct weft_spmv_plan *plan)
{
    return weft__spmv_mean_row(plan) >= BLOCKS_MOST && x_lines(plan) <= CLOSE;
}

// Whether `apart` holds of the rows. A long row of a band reads its lines once for many entries.
static bool x_apart(const struct weft_spmv_plan *plan)
{
    const struct apart *p = &processor_of(plan)->apart;
    const double mean = weft__spmv_mean_row(plan), rows = (double)(plan->a.m - plan->info.empty_rows),
                 lines = x_lines(plan);
    return rows >= p->rows * (double)plan->ctx->device.compute_units && mean >= BLOCKS_MOST && lines >= p->least &&
           lines <= p->most && (double)plan->stats.far >= APART * rows;
}

// Nanoseconds of a core that all entries take more for reads of an x that is far, by CSR or by sliced ELL.
static double x_ns(const struct weft_spmv_plan *plan, bool by_csr)
{
    const struct processor *p = processor_of(plan);
    const double entries = (double)plan->a.nnz, taken = (double)(plan->a.m - plan->info.empty_rows);
    if (x_bytes(plan) <= p->x_cached)
        return 0;
    if (x_apart(plan))
        return by_csr ? p->apart.ns * entries : 0;
    if (x_close(plan))
        return by_csr ? 0 : p->x_close[width_of(plan)] * entries;
    if (x_beside(plan))
        return 0;
    const double memory = x_bytes(plan) > cache_bytes(plan) / 2
                              ? p->memory * entries + (by_csr ? p->memory_csr * taken : 0)
                              : 0,
                 sell = (x_bytes(plan) > X_LARGE ? p->x_sell_large : p->x_sell)[width_of(plan)];
    const double streamed = fmin(1, fmax(0, 4 * matrix_bytes(plan) / cache_bytes(plan) - 1)) *
                            (by_csr ? p->x_csr_streamed : p->x_sell_streamed)[width_of(plan)];
    return ((by_csr ? p->x_csr : sell) + streamed) * entries + memory;
}

bool weft__spmv_cpu_blocks(const struct weft_spmv_plan *plan)
{
    const double mean = weft__spmv_mean_row(plan);
    const int alike = 2 * plan->stats.changes <= plan->a.m;
    return plan->type != WEFT_TYPE_I32 && mean >= (alike ? BLOCKS_ALIKE : BLOCKS_ROW) && mean < BLOCKS_MOST &&
           (x_beside(plan) || x_bytes(plan) <= BLOCKS_X);
}

// Nanoseconds of a core for a product by CSR, where the processor guesses wrongly at `changes` rows once there are too many to learn.
static double csr_ns(const struct weft_spmv_plan *plan, const struct cost *c, double changes)
{
    const double entries = (double)plan->a.nnz, rows = (double)plan->a.m, units = plan->ctx->device.compute_units,
                 longer = fmax(1, weft__spmv_mean_row(plan) / LEARNED_ROW),
                 wrong = fmin(1, pow(longer * (entries + rows) / units / processor_of(plan)->learned, LEARNED_POW)) *
                         changes;
    return c->element * entries + c->row * rows + c->change * wrong;
}

// The part of so many bytes that comes from memory: x, y and other programs are in the caches as well.
static double from_memory(const struct weft_spmv_plan *plan, double bytes)
{
    return fmin(1, fmax(0, 2 * bytes / cache_bytes(plan) - 1));
}

// More for an element of a format with columns of `column` bytes, where elements come from memory.
static double memory_ns(const struct weft_spmv_plan *plan, double elements, int column)
{
    const double bytes = column + (double)weft_type_bytes(plan->a.type);
    return from_memory(plan, elements * bytes) * processor_of(plan)->format_memory * bytes;
}

// What CSR by rows takes of the matrix.
static struct cost rows_cost(const struct weft_spmv_plan *plan)
{
    const struct processor *p = processor_of(plan);
    const double mean = weft__spmv_mean_row(plan);
    const bool loops = plan->stats.max_row >= LOOPS_ROW && mean < LOOPS_ROW,
               longer = x_close(plan) || (mean >= BLOCKS_MOST && x_bytes(plan) <= p->x_cached);
    const double memory = from_memory(plan, matrix_bytes(plan));
    struct cost by = (weft__spmv_cpu_blocks(plan) ? p->blocks : longer ? p->longer : p->csr)[width_of(plan)];
    by.element += memory * (p->csr_memory[width_of(plan)].element - by.element);
    by.change += loops ? p->loops : 0;
    return by;
}

static double rows_ns(const struct weft_spmv_plan *plan)
{
    const struct cost by = rows_cost(plan);
    return csr_ns(plan, &by, (double)plan->stats.changes) +
           processor_of(plan)->taken * (double)(plan->a.m - plan->info.empty_rows) + x_ns(plan, true);
}

static double gaps_ns(const struct weft_spmv_plan *plan)
{
    const struct processor *p = processor_of(plan);
    const int width = width_of(plan);
    const double taken = (double)(plan->a.m - plan->info.empty_rows), several = taken - (double)plan->stats.hist[1];
    struct cost by = p->gaps[width];
    by.element += from_memory(plan, matrix_bytes(plan)) * (p->csr_memory[width].element - p->csr[width].element);
    return csr_ns(plan, &by, fmin(taken, 2 * several)) + p->gaps_taken * taken + x_ns(plan, true);
}

bool weft__spmv_cpu_gaps(const struct weft_spmv_plan *plan)
{
    const double by_rows = rows_ns(plan), by_entries = gaps_ns(plan),
                 products = (double)plan->info.params.policy.products;
    if (!plan->a.nnz || plan->once || by_entries > GAPS_GAIN * by_rows)
        return false;
    return products <= 0 || products * (by_rows - by_entries) >= csr_ns(plan, &gaps_make, (double)plan->stats.changes);
}

// Microseconds of CSR. whole: no tile cuts a row, so that its parts need no second launch.
static double csr_tiles_us(const struct weft_spmv_plan *plan, bool whole)
{
    const double units = plan->ctx->device.compute_units,
                 all = weft__spmv_cpu_gaps(plan) ? gaps_ns(plan) : rows_ns(plan),
                 tile = fmax(TILE, all / (UNIT_TILES * units));
    if (plan->stats.max_row < WEFT__SPMV_CPU_SHARED_ROW)
        return span_us(plan, all, tile, ceil(all / tile));
    if (!whole)
        return span_us(plan, all, tile, ceil(all / tile)) + JOIN_US;
    const double entry = rows_cost(plan).element + x_ns(plan, true) / (double)plan->a.nnz,
                 longest = fmax(tile, entry * (double)plan->stats.max_row);
    return span_us(plan, all, longest, fmin(ceil(all / tile), (double)plan->a.m));
}

bool weft__spmv_cpu_whole(const struct weft_spmv_plan *plan)
{
    return plan->stats.max_row >= WEFT__SPMV_CPU_SHARED_ROW && csr_tiles_us(plan, true) <= csr_tiles_us(plan, false);
}

static double csr_us(const struct weft_spmv_plan *plan)
{
    return fmin(csr_tiles_us(plan, true), csr_tiles_us(plan, false));
}

static double format_us(const struct weft_spmv_plan *plan, enum weft_spmv_algo algo, const struct weft__spmv_load *load)
{
    const struct cost *c = &format_of(plan, algo)->run;
    const bool columns = algo != WEFT_SPMV_ALGO_SDIA;
    const double entries = (double)plan->a.nnz, rows = c->row * (double)plan->a.m,
                 memory = columns ? memory_ns(plan, load->elements, algo == WEFT_SPMV_ALGO_SELL16 ? 2 : 4) : 0,
                 element = c->element + memory, x = columns ? x_ns(plan, false) / fmax(entries, 1) : 0;
    return span_us(plan, element * load->elements + x * entries + rows,
                   (element + x) * load->longest + rows / load->items, load->items);
}

bool weft__spmv_cpu_gains(const struct weft_spmv_plan *plan, enum weft_spmv_algo algo,
                          const struct weft__spmv_load *load)
{
    const struct processor *p = processor_of(plan);
    const double csr_takes = csr_us(plan);
    return (algo == WEFT_SPMV_ALGO_SDIA || csr_takes >= p->sell_least_us) &&
           p->launch_us + format_us(plan, algo, load) <= p->gain * (p->launch_us + csr_takes);
}

double weft__spmv_cpu_saves(const struct weft_spmv_plan *plan, enum weft_spmv_algo algo,
                            const struct weft__spmv_load *load)
{
    const struct cost *c = &format_of(plan, algo)->convert;
    const double convert = processor_of(plan)->convert_us + (c->element * load->elements + c->row * (double)plan->a.m) /
                                                                plan->ctx->device.compute_units * 1e-3;
    if (!weft__spmv_cpu_gains(plan, algo, load))
        return 0;
    return (double)plan->info.params.policy.products * (csr_us(plan) - format_us(plan, algo, load)) - convert;
}

// With 16 bits a product from memory took 0.62 to 0.93 times as long where x is not in the first cache, once 1.09; 1.00 to 1.04 with values
// of 8 bytes by AVX-512. From the caches it took 1.07 to 1.11 times as long in the median, a conversion 1.7 times (docs/log/cpu-costs.md).
// The k-th entries of rows at random lie as far apart as the square root of their number tells.
bool weft__spmv_cpu_narrow(const struct weft_spmv_plan *plan)
{
    const struct processor *p = processor_of(plan);
    const double reach = fmax(UINT16_MAX, NARROW_REACH * sqrt(weft__spmv_mean_row(plan))),
                 part = x_beside(plan) ? 1 : p->narrow_cache;
    return (double)plan->a.n <= reach && weft_type_bytes(plan->a.type) <= p->narrow &&
           matrix_bytes(plan) > part * cache_bytes(plan) && x_bytes(plan) > X_FIRST;
}

double weft__spmv_cpu_hyb_saves(const struct weft_spmv_plan *plan)
{
    const struct processor *p = processor_of(plan);
    const struct cost *ell = &p->ell[width_of(plan)], *convert = &hyb_convert[width_of(plan)];
    const int64_t columns = weft__spmv_hyb_width(plan);
    const double rows = (double)plan->a.m, units = plan->ctx->device.compute_units, csr_takes = csr_us(plan);
    const struct weft__spmv_rest rest = weft__spmv_hyb_rest(plan, columns);
    const double element = ell->element + memory_ns(plan, (double)columns * rows, 4);
    const double ns = (element * (double)columns + ell->row) * rows + x_ns(plan, false) +
                      p->rest.element * rest.entries + p->rest.row * rest.rows;
    const double us = ns / units * 1e-3 + 2 * JOIN_US; // three launches
    const double convert_us =
        p->convert_us + (convert->element * (double)plan->a.nnz + convert->row * rows) / units * 1e-3;
    if (columns > HYB_COLUMNS || p->launch_us + us > p->gain * (p->launch_us + csr_takes))
        return 0;
    return (double)plan->info.params.policy.products * (csr_takes - us) - convert_us;
}
