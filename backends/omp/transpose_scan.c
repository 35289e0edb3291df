// SPDX-License-Identifier: Apache-2.0
// ScanTrans: each slot counts the columns of its entries, a scan down the slots and along the columns turns the counts
// into places, and each slot moves its entries there.
// Source: H. Wang, W. Liu, K. Hou, W. Feng, Parallel Transposition of Sparse Data Structures, ICS 2016, section 4.1.
//         Two things differ. The counts become running cursors, so that no array holds the place of each entry inside
//         its column; and a slot's counters span only the columns it meets, which keeps them few on banded matrices.
// Moves:  nnz*(12 + 2*sizeof val) bytes and every counter four times.
#include "transpose.h"

// Columns that are scanned at a time: their sums stay in the first-level cache.
enum { SCAN_BLOCK = 1024 };

struct scan {
    void **count;  // count[s]: counters, then cursors of slot s (size high[s]-low[s] offsets)
    int64_t *base; // entries in the columns before those that slot s scans (size slots)
};

static weft_status scan_prepare(struct work *w)
{
    size_t slots = (size_t)w->slots;
    struct scan *scan = w->method = weft__omp_take(w, sizeof *scan);
    if (!scan || !(scan->count = weft__omp_take(w, slots * sizeof *scan->count)) ||
        !(scan->base = weft__omp_take(w, slots * sizeof *scan->base)))
        return WEFT_ENOMEM;
    size_t total = 0;
    for (size_t s = 0; s < slots; s++)
        total += (size_t)(w->high[s] - w->low[s]);
    size_t bytes = w->wide ? sizeof(int64_t) : sizeof(int32_t);
    char *counters = weft__omp_take(w, weft__mul(total, bytes));
    if (!counters)
        return WEFT_ENOMEM;
    for (size_t s = 0; s < slots; s++) {
        scan->count[s] = counters;
        counters += (size_t)(w->high[s] - w->low[s]) * bytes;
    }
    return WEFT_OK;
}

WEFT_INLINE void count_typed(struct work *w, int slot, int wide, size_t bytes)
{
    (void)bytes;
    const struct scan *scan = w->method;
    void *count = scan->count[slot];
    for (int64_t j = 0; j < w->high[slot] - w->low[slot]; j++)
        ofs_set(count, j, 0, wide);
    count_cols(w, slot, count, w->low[slot], wide);
}

static void count_columns(struct work *w, int slot)
{
    WEFT_BY_TYPE(count_typed, w, slot);
}

// The columns that a slot scans, and of them those that slot t met.
struct range {
    int64_t low, high;
};
static struct range range_of(const struct work *w, int slot)
{
    return (struct range){part_start(w->a->n, slot, w->slots), part_start(w->a->n, slot + 1, w->slots)};
}
static struct range range_met(const struct work *w, int t, struct range range)
{
    return (struct range){w->low[t] > range.low ? w->low[t] : range.low,
                          w->high[t] < range.high ? w->high[t] : range.high};
}

// base[slot] = entries in the columns that slot scans.
WEFT_INLINE void sum_typed(struct work *w, int slot, int wide, size_t bytes)
{
    (void)bytes;
    const struct scan *scan = w->method;
    int64_t sum = 0;
    for (int t = 0; t < w->slots; t++) {
        struct range met = range_met(w, t, range_of(w, slot));
        for (int64_t j = met.low; j < met.high; j++)
            sum += ofs_get(scan->count[t], j - w->low[t], wide);
    }
    scan->base[slot] = sum;
}

static void sum_columns(struct work *w, int slot)
{
    WEFT_BY_TYPE(sum_typed, w, slot);
}

// Counters to cursors, and row_ptr of the output, for the columns that the slot scans.
WEFT_INLINE void place_typed(struct work *w, int slot, int wide, size_t bytes)
{
    (void)bytes;
    const struct scan *scan = w->method;
    struct range all = range_of(w, slot);
    int64_t place = scan->base[slot], next[SCAN_BLOCK];
    for (int64_t j0 = all.low; j0 < all.high; j0 += SCAN_BLOCK) {
        struct range block = {j0, j0 + SCAN_BLOCK < all.high ? j0 + SCAN_BLOCK : all.high};
        memset(next, 0, sizeof next);
        for (int t = 0; t < w->slots; t++) {
            struct range met = range_met(w, t, block);
            for (int64_t j = met.low; j < met.high; j++)
                next[j - j0] += ofs_get(scan->count[t], j - w->low[t], wide);
        }
        for (int64_t j = block.low; j < block.high; j++) {
            int64_t count = next[j - j0];
            ofs_set(w->out.row_ptr, j, place, wide);
            next[j - j0] = place;
            place += count;
        }
        for (int t = 0; t < w->slots; t++) {
            struct range met = range_met(w, t, block);
            for (int64_t j = met.low; j < met.high; j++) {
                int64_t count = ofs_get(scan->count[t], j - w->low[t], wide);
                ofs_set(scan->count[t], j - w->low[t], next[j - j0], wide);
                next[j - j0] += count;
            }
        }
    }
}

static void place_columns(struct work *w, int slot)
{
    WEFT_BY_TYPE(place_typed, w, slot);
}

WEFT_INLINE void move_typed(struct work *w, int slot, int wide, size_t bytes)
{
    const struct scan *scan = w->method;
    move_rows(w, slot, w->out.col, w->out.val, scan->count[slot], w->low[slot], wide, bytes);
}

static void move_entries(struct work *w, int slot)
{
    WEFT_BY_TYPE(move_typed, w, slot);
}

static void scan_run(struct work *w)
{
    struct scan *scan = w->method;
    weft__omp_each(w, count_columns);
    weft__omp_each(w, sum_columns);
    int64_t sum = 0;
    for (int s = 0; s < w->slots; s++) {
        int64_t count = scan->base[s];
        scan->base[s] = sum;
        sum += count;
    }
    weft__omp_each(w, place_columns);
    weft__omp_each(w, move_entries);
}

const struct method weft__omp_scan = {"scan", 1, scan_prepare, scan_run};
