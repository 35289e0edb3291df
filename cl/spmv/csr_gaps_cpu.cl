// SPDX-License-Identifier: Apache-2.0
// y = alpha*A*x + beta*y, A CSR m x n whose rows are mostly empty; a tile of equal rows plus entries per work-item, no barriers.
// Source:  as spmv/csr_cpu.cl; rows are known from their entries, as in doubly compressed formats (Buluc & Gilbert, IPDPS'08).
// Mapping: 1-D; work-item g owns tile g.
// Local:   none.
// Needs:   row_of[p], the row of entry p; tile_row, tile_pos of rows_tiles.
// Gives:   y, head and part as spmv/csr_cpu.cl.
// Order:   from the left; in rows that are cut it depends on tile; repeatable.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif

// Rows with entries whose sums wait until the rows around them are written.
#define BLOCK 256

// Sum of the entries from *p that are in `row`; *p: the first of another one.
WEFT_INLINE acc_t sum_of(__global const idx_t *row_of, __global const idx_t *col, __global const val_t *val,
                         __global const val_t *x, idx_t row, ofs_t *p, ofs_t stop)
{
    acc_t sum = ZERO;
    ofs_t q = *p;
    for (; q < stop && row_of[q] == row; q++)
        sum = plus(sum, times(read_val(val, q), (acc_t)x[col[q]]));
    *p = q;
    return sum;
}

WEFT_KERNEL void spmv_csr_gaps_cpu(__global const idx_t *restrict row_of, __global const idx_t *restrict col,
                                   __global const val_t *restrict val, __global const val_t *restrict x,
                                   __global val_t *restrict y, __global const idx_t *restrict tile_row,
                                   __global const ofs_t *restrict tile_pos, __global acc_t *restrict part,
                                   __global acc_t *restrict head, uint tiles, acc_t alpha, acc_t beta)
{
    const uint tile = (uint)get_global_id(0);
    if (tile >= tiles)
        return;
    idx_t row = tile_row[tile];
    const idx_t last = tile_row[tile + 1u];
    ofs_t p = tile_pos[tile];
    const ofs_t stop = tile_pos[tile + 1u];
    if (row < last && p > 0 && row_of[p - 1] == row) {
        head[tile] = sum_of(row_of, col, val, x, row, &p, stop);
        row++;
    }
    while (row < last) {
        idx_t at[BLOCK];
        val_t put_there[BLOCK];
        int count = 0;
        for (; count < BLOCK && p < stop && row_of[p] < last; count++) {
            at[count] = row_of[p];
            const acc_t sum = sum_of(row_of, col, val, x, at[count], &p, stop);
            put_there[count] = put_of(y, at[count], sum, alpha, beta);
        }
        const idx_t end = count == BLOCK ? at[BLOCK - 1] + 1 : last;
        for (; row < end; row++)
            put(y, row, ZERO, alpha, beta);
        for (int i = 0; i < count; i++)
            y[at[i]] = put_there[i];
    }
    part[tile] = sum_of(row_of, col, val, x, last, &p, stop);
}
