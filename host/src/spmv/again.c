// SPDX-License-Identifier: Apache-2.0
// How often a matrix reads again what it has just read of x, by a sample of its entries.
#include "again.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SECTOR  32     // bytes of a read
#define WINDOWS 8      // so many entries side by side, at as many places
#define WINDOW  8192   // entries
#define SLOTS   16384u // of a hash table of those read, a power of two

// Of `count` columns those whose sector, of 1 << shift columns, one before them has.
static size_t again_count(const int32_t *col, size_t count, int shift, int32_t *table)
{
    size_t again = 0;
    memset(table, 0xff, SLOTS * sizeof *table);
    for (size_t i = 0; i < count; i++) {
        const int32_t sector = col[i] >> shift;
        cl_uint at = (cl_uint)sector * 2654435761u >> 18;
        while (table[at] != sector && table[at] >= 0)
            at = (at + 1) % SLOTS;
        again += table[at] == sector;
        table[at] = sector;
    }
    return again;
}

weft_status weft__spmv_again(struct weft_spmv_plan *plan, cl_command_queue queue, double *share)
{
    const size_t nnz = (size_t)plan->a.nnz, count = weft__min(nnz, WINDOW),
                 windows = count ? weft__min(nnz / count, WINDOWS) : 0, columns = SECTOR / weft_type_bytes(plan->type);
    struct weft__make make = {.ctx = plan->ctx};
    int32_t *col = weft__make_memory(&make, WINDOW * sizeof *col, "a sample of entries");
    int32_t *table = weft__make_memory(&make, SLOTS * sizeof *table, "a sample of entries");
    struct weft__stream stream = weft__spmv_stream(&make, queue);
    double again = 0;
    int shift = 0; // a division takes as long as all the rest
    while ((size_t)1 << shift < columns)
        shift++;
    for (size_t i = 0; i < windows; i++) {
        const size_t first = windows > 1 ? (nnz - count) / (windows - 1) * i : 0;
        if (!weft__spmv_read(&stream, plan->a.col, first * sizeof *col, count * sizeof *col, col))
            again += (double)again_count(col, count, shift, table);
    }
    free(col);
    free(table);
    // What entries at random would read again.
    const double each = (double)count * (double)columns / fmax((double)plan->x_size, 1),
                 random = each > 0 ? 1 + expm1(-each) / each : 0;
    again = windows ? again / (double)(windows * count) : 0;
    *share = random < 1 ? fmax(again - random, 0) / (1 - random) : 0;
    return stream.status;
}
