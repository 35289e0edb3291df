// SPDX-License-Identifier: Apache-2.0
// y = y + alpha*A*x, A as coordinates in row order; sums by segments, no atomics.
// Source:  N. Bell, M. Garland, Implementing Sparse Matrix-Vector Multiplication on Throughput-Oriented Processors,
//          SC'09, the COO kernel; here a scan of work-items instead of one of entries, and one writer per row.
// Mapping: 1-D; group g owns tile g of WG*IPT entries, then strides; its work-items load products side by side, then
//          walk IPT entries each, and join rows that cross work-items by a scan.
// Local:   WG*IPT accumulators + WG*IPT + 2 indices + (WG/32)*(accumulator + word) (+ WG words without shuffle).
// Needs:   WG a multiple of 32; rows ascend.
// Gives:   y of rows that lie in one tile; head[t] of the row that ends in tile t and began before it; part[t]: sum of
//          the row that goes on behind tile t (zero when none does).
// Order:   depends on IPT and WG alone; repeatable.

#if !defined(WEFT_WG) || !defined(WEFT_IPT) || !defined(WEFT_TILED)
#error "WEFT_WG: work-group size; WEFT_IPT: entries per work-item; WEFT_TILED: for products() and carry_before()"
#endif
#if WEFT_WG % 32
#error "WEFT_WG: a multiple of 32"
#endif
#define TILE (WEFT_WG * WEFT_IPT)

WEFT_KERNEL void spmv_coo_segment(__global const idx_t *restrict row, __global const idx_t *restrict col,
                                  __global const val_t *restrict val, __global const val_t *restrict x,
                                  __global val_t *restrict y, __global acc_t *restrict part,
                                  __global acc_t *restrict head, long nnz, uint tiles, acc_t alpha)
{
    __local acc_t prod[TILE], sums[WEFT_WG / LANES];
    __local uint cuts[WEFT_WG / LANES];
    LANE_MEMORY(uint, mem);
    __local idx_t rows[TILE + 2]; // rows[1 + i]: row of entry i; -1 outside the matrix
    const int lid = (int)get_local_id(0);
    for (uint tile = (uint)get_group_id(0); tile < tiles; tile += (uint)get_num_groups(0)) {
        const long pos = (long)tile * TILE;
        const int count = (int)min((long)TILE, nnz - pos);
        products(prod, col, val, x, (ofs_t)pos, count);
        for (int i = lid; i < count + 2; i += WEFT_WG)
            rows[i] = pos + i - 1 >= 0 && pos + i - 1 < nnz ? row[pos + i - 1] : -1;
        barrier(CLK_LOCAL_MEM_FENCE);

        const int d = min(lid * WEFT_IPT, count), stop = min(d + WEFT_IPT, count);
        idx_t first = -1;
        acc_t sum = ZERO, first_sum = ZERO;
        for (int at = d; at < stop; at++) {
            sum = plus(sum, prod[at]);
            if (rows[at + 2] == rows[at + 1])
                continue;
            if (first < 0) {
                first = rows[at + 1];
                first_sum = sum;
            } else {
                put(y, rows[at + 1], sum, alpha, (acc_t)1);
            }
            sum = ZERO;
        }
        acc_t all, before = carry_before(sum, first >= 0 ? 1u : 0u, &all, sums, cuts, mem);
        if (first >= 0) {
            first_sum = plus(before, first_sum);
            if (first == rows[0])
                head[tile] = first_sum;
            else
                put(y, first, first_sum, alpha, (acc_t)1);
        }
        if (lid == 0)
            part[tile] = all;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
