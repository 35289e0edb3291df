// SPDX-License-Identifier: Apache-2.0
// Shared by the multi-threaded transpositions: cuts of the work, memory, access to offsets.
#pragma once

#include "host/internal/inside.h"

#include <string.h>
#include <weft/matrix.h>

// A place among the entries: entry `pos`, which lies in row `row` or where that row ends.
struct cut {
    int64_t row, pos;
};

// A transposition in the making. Slot s of `slots` owns the entries cut[s].pos .. cut[s+1].pos-1: rows plus entries are
// cut evenly (merge path), so that neither one huge row nor a million empty ones make a slot late.
struct work {
    const struct weft_csr *a;
    struct weft_csr out; // its arrays lie in blocks
    int wide;            // offsets have 64 bits
    size_t val_bytes;
    int slots;
    struct cut *cut;     // (size slots+1)
    int64_t *low, *high; // the entries of slot s lie in columns low[s] .. high[s]-1 (size slots)
    void *method;        // what the method keeps, in blocks too
    size_t bytes;        // size of all blocks
    int block_count;
    void *blocks[32];
};

// A method: `prepare` takes all the memory that it needs, `run` fills w->out.
struct method {
    const char *name;
    int spans; // needs low and high
    weft_status (*prepare)(struct work *w);
    void (*run)(struct work *w);
};
extern const struct method weft__omp_scan, weft__omp_merge, weft__omp_radix;

// `bytes` of zeros that live as long as w, on huge pages where the system has them; NULL when there are none left.
void *weft__omp_take(struct work *w, size_t bytes);
// Call phase(w, slot) for every slot, in parallel; returns when all are done. Right with any number of threads.
void weft__omp_each(struct work *w, void (*phase)(struct work *w, int slot));

// A cache line of most machines; one of another size costs speed only.
#define WEFT_LINE_BYTES 64

#define WEFT_INLINE static inline __attribute__((always_inline))
// f(w, slot, wide, bytes) with constants for the last two, so that the inlined copies hold no test of types.
#define WEFT_BY_TYPE(f, w, slot)                                                                                       \
    ((w)->wide ? ((w)->val_bytes == 8   ? f(w, slot, 1, 8)                                                             \
                  : (w)->val_bytes == 4 ? f(w, slot, 1, 4)                                                             \
                                        : f(w, slot, 1, 0))                                                            \
               : ((w)->val_bytes == 8   ? f(w, slot, 0, 8)                                                             \
                  : (w)->val_bytes == 4 ? f(w, slot, 0, 4)                                                             \
                                        : f(w, slot, 0, 0)))

// Element i of an array of offsets.
WEFT_INLINE int64_t ofs_get(const void *ofs, int64_t i, int wide)
{
    return wide ? ((const int64_t *)ofs)[i] : ((const int32_t *)ofs)[i];
}
WEFT_INLINE void ofs_set(void *ofs, int64_t i, int64_t value, int wide)
{
    if (wide)
        ((int64_t *)ofs)[i] = value;
    else
        ((int32_t *)ofs)[i] = (int32_t)value;
}
// ofs[i]++, its value before.
WEFT_INLINE int64_t ofs_next(void *ofs, int64_t i, int wide)
{
    return wide ? ((int64_t *)ofs)[i]++ : ((int32_t *)ofs)[i]++;
}
// Copy one value.
WEFT_INLINE void val_copy(void *to, int64_t i, const void *from, int64_t j, size_t bytes)
{
    if (bytes)
        memcpy((char *)to + (size_t)i * bytes, (const char *)from + (size_t)j * bytes, bytes);
}

// Count the columns of the slot's entries: count[col - low]++.
WEFT_INLINE void count_cols(const struct work *w, int slot, void *count, int64_t low, int wide)
{
    const int32_t *col = w->a->col;
    for (int64_t p = w->cut[slot].pos, end = w->cut[slot + 1].pos; p < end; p++)
        ofs_next(count, col[p] - low, wide);
}

// Entries between the one that is moved and the one whose place is fetched: without it, every write of scattered columns
// waits for memory.
#define WEFT_AHEAD 16

// Move the slot's entries to where the cursors of their columns point: next[col - low]++.
WEFT_INLINE void move_rows(const struct work *w, int slot, int32_t *out_col, void *out_val, void *next, int64_t low,
                           int wide, size_t bytes)
{
    const struct weft_csr *a = w->a;
    const int32_t *col = a->col;
    const void *val = a->val;
    int64_t p = w->cut[slot].pos, end = w->cut[slot + 1].pos;
    for (int64_t i = w->cut[slot].row; p < end; i++) {
        int64_t row_end = ofs_get(a->row_ptr, i + 1, wide), stop = row_end < end ? row_end : end;
        for (; p < stop; p++) {
            if (p + WEFT_AHEAD < end) {
                int64_t ahead = ofs_get(next, col[p + WEFT_AHEAD] - low, wide);
                __builtin_prefetch(out_col + ahead, 1);
                if (bytes)
                    __builtin_prefetch((char *)out_val + (size_t)ahead * bytes, 1);
            }
            int64_t to = ofs_next(next, col[p] - low, wide);
            out_col[to] = (int32_t)i;
            val_copy(out_val, to, val, p, bytes);
        }
    }
}

// First number of part s when `count` things are cut into `parts` even parts; s == parts gives count.
static inline int64_t part_start(int64_t count, int s, int parts)
{
    return count / parts * s + count % parts * s / parts;
}
