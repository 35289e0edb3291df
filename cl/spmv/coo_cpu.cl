// SPDX-License-Identifier: Apache-2.0
// y = y + alpha*A*x, A as coordinates in row order; a tile of entries per work-item, no barriers.
// Source:  as spmv/coo_segment.cl.
// Mapping: 1-D; work-item g owns tile g of `tile` entries.
// Local:   none.
// Needs:   tile > 0; rows ascend.
// Gives:   y of rows that lie in one tile; head[t] and part[t] as spmv/coo_segment.cl gives them.
// Order:   entries of a row from the left within a tile; repeatable.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif

WEFT_KERNEL void spmv_coo_cpu(__global const idx_t *restrict row, __global const idx_t *restrict col,
                              __global const val_t *restrict val, __global const val_t *restrict x,
                              __global val_t *restrict y, __global acc_t *restrict part, __global acc_t *restrict head,
                              long nnz, uint tile, uint tiles, acc_t alpha)
{
    const uint t = (uint)get_global_id(0);
    if (t >= tiles)
        return;
    long p = (long)t * tile;
    const long stop = min(p + (long)tile, nnz);
    const idx_t before = p > 0 ? row[p - 1] : -1, behind = stop < nnz ? row[stop] : -1;
    acc_t sum = ZERO;
    while (p < stop) {
        const idx_t r = row[p];
        sum = ZERO;
        for (; p < stop && row[p] == r; p++)
            sum = plus(sum, times(read_val_at(val, p), (acc_t)x[col[p]]));
        if (p == stop && r == behind)
            break;
        if (r == before)
            head[t] = sum;
        else
            put(y, r, sum, alpha, (acc_t)1);
        sum = ZERO;
    }
    part[t] = sum;
}
