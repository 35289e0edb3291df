// SPDX-License-Identifier: Apache-2.0
// How often a matrix reads again what it has just read of x, by a sample of its entries.
#include "again.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SECTOR  32   // bytes of a read
#define WINDOWS 8    // so many entries side by side, at as many places
#define WINDOW  8192 // entries
#define BITS    18   // of a hash of a sector

// Of `count` columns those whose sector, of 1 << shift columns, one before them has, by the bit of its hash. No branch depends on the
// columns: one that did was guessed wrongly at most entries, and a window took 104 us on a Xeon.
static size_t again_count(const int32_t *col, size_t count, int shift, uint32_t *seen)
{
    size_t again = 0;
    memset(seen, 0, ((size_t)1 << BITS) / 8);
    for (size_t i = 0; i < count; i++) {
        const uint32_t hash = (uint32_t)(col[i] >> shift) * 2654435761u >> (32 - BITS), word = seen[hash / 32];
        again += word >> hash % 32 & 1;
        seen[hash / 32] = word | UINT32_C(1) << hash % 32;
    }
    return again;
}

weft_status weft__spmv_again(struct weft_spmv_plan *plan, cl_command_queue queue, double *share)
{
    const size_t nnz = (size_t)plan->a.nnz, count = weft__min(nnz, WINDOW),
                 windows = count ? weft__min(nnz / count, WINDOWS) : 0, columns = SECTOR / weft_type_bytes(plan->type);
    struct weft__make make = {.ctx = plan->ctx};
    int32_t *col = weft__make_memory(&make, WINDOW * sizeof *col, "a sample of entries");
    uint32_t *seen = weft__make_memory(&make, ((size_t)1 << BITS) / 8, "a sample of entries");
    struct weft__stream stream = weft__spmv_stream(&make, queue);
    double again = 0;
    int shift = 0;
    while ((size_t)1 << shift < columns)
        shift++;
    for (size_t i = 0; i < windows; i++) {
        const size_t first = windows > 1 ? (nnz - count) / (windows - 1) * i : 0;
        if (!weft__spmv_read(&stream, plan->a.col, first * sizeof *col, count * sizeof *col, col))
            again += (double)again_count(col, count, shift, seen);
    }
    free(col);
    free(seen);
    // What entries at random would read again, or seem to by their hashes.
    const double each = (double)count * ((double)columns / fmax((double)plan->x_size, 1) + 1 / (double)(1 << BITS)),
                 random = each > 0 ? 1 + expm1(-each) / each : 0;
    again = windows ? again / (double)(windows * count) : 0;
    *share = random < 1 ? fmax(again - random, 0) / (1 - random) : 0;
    return stream.status;
}
