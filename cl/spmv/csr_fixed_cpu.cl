// SPDX-License-Identifier: Apache-2.0
// y = alpha*A*x + beta*y, A CSR m x n; sums by the tree of spmv/csr_fixed.cl, a tile per work-item, no barriers.
// Source:  as spmv/csr_fixed.cl; the tree is walked from the left with the sums of complete parts on a stack.
// Mapping: 1-D; work-item g owns tile g of spmv/rows_tiles.cl.
// Local:   none.
// Needs:   tile_row, tile_pos of spmv/rows_tiles.cl with snap == 1024; chunk has 2*(nnz/1024 + 1) elements.
// Gives:   y, and sums of chunks, as spmv/csr_fixed.cl.
// Order:   that of spmv/csr_fixed.cl, bit for bit.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#define CHUNK 1024

WEFT_INLINE acc_t product(__global const idx_t *col, __global const val_t *val, __global const val_t *x, ofs_t p)
{
    return times(read_val(val, p), (acc_t)x[col[p]]);
}

// The tree over count < 8 entries from p, count > 0.
WEFT_INLINE acc_t few_sum(__global const idx_t *col, __global const val_t *val, __global const val_t *x, ofs_t p,
                          int count)
{
    acc_t four = product(col, val, x, p), two;
    if (count > 1)
        four = plus(four, product(col, val, x, p + 1));
    if (count > 2) {
        two = product(col, val, x, p + 2);
        four = plus(four, count > 3 ? plus(two, product(col, val, x, p + 3)) : two);
    }
    if (count > 4) {
        two = product(col, val, x, p + 4);
        if (count > 5)
            two = plus(two, product(col, val, x, p + 5));
        if (count > 6)
            two = plus(two, product(col, val, x, p + 6));
        four = plus(four, two);
    }
    return four;
}

// The tree over a chunk: entries p .. p + count - 1, 0 < count <= CHUNK.
WEFT_INLINE acc_t chunk_sum(__global const idx_t *col, __global const val_t *val, __global const val_t *x, ofs_t p,
                            int count)
{
    acc_t full[8]; // full[l]: sum of 8 << l entries, there when bit l of `eights` is set
    uint eights = 0u;
    for (; count >= 8; count -= 8, p += 8, eights++) {
        acc_t sum = plus(plus(plus(product(col, val, x, p), product(col, val, x, p + 1)),
                              plus(product(col, val, x, p + 2), product(col, val, x, p + 3))),
                         plus(plus(product(col, val, x, p + 4), product(col, val, x, p + 5)),
                              plus(product(col, val, x, p + 6), product(col, val, x, p + 7))));
        int l = 0;
        for (; eights >> l & 1u; l++)
            sum = plus(full[l], sum);
        full[l] = sum;
    }
    int l = 0;
    acc_t sum;
    if (count > 0) {
        sum = few_sum(col, val, x, p, count);
    } else {
        while (!(eights >> l & 1u))
            l++;
        sum = full[l++];
    }
    for (; eights >> l; l++)
        if (eights >> l & 1u)
            sum = plus(full[l], sum);
    return sum;
}

WEFT_KERNEL void spmv_csr_fixed_cpu(__global const ofs_t *restrict row_ptr, __global const idx_t *restrict col,
                                    __global const val_t *restrict val, __global const val_t *restrict x,
                                    __global val_t *restrict y, __global const idx_t *restrict tile_row,
                                    __global const ofs_t *restrict tile_pos, __global acc_t *restrict chunk, uint tiles,
                                    acc_t alpha, acc_t beta)
{
    const uint tile = (uint)get_global_id(0);
    if (tile >= tiles)
        return;
    const idx_t last = tile_row[tile + 1u];
    const ofs_t stop = tile_pos[tile + 1u];
    ofs_t p = tile_pos[tile];
    for (idx_t row = tile_row[tile]; row < last || p < stop; row++) {
        const ofs_t begin = row_ptr[row], end = row < last ? row_ptr[row + 1] : stop;
        const int cut = p > begin || row == last;
        acc_t sum = ZERO;
        int count;
        for (ofs_t from = p; p < end; p += count) {
            count = (int)min(end - p, (ofs_t)CHUNK);
            acc_t part = chunk_sum(col, val, x, p, count);
            if (cut)
                chunk[2 * (p / CHUNK) + (p == begin ? 1 : 0)] = part;
            else
                sum = p == from ? part : plus(sum, part);
        }
        if (!cut)
            put(y, row, FROM_ZERO(sum), alpha, beta);
        p = end;
    }
}
