// SPDX-License-Identifier: Apache-2.0
// y = alpha*A*x + beta*y, A CSR m x n; tiles of equal rows plus entries, each in local memory.
// Source:  D. Merrill, M. Garland, Merge-Based Parallel Sparse Matrix-Vector Multiplication, SC'16, section III; cuts
//          moved to row begins where that is near (rows_tiles.cl), so that most matrices need no fix-up pass.
// Mapping: 1-D; group g owns tile g, then strides; its work-items load the products side by side, then walk IPT steps
//          of the tile's merge path of row ends and entries each, and join rows that cross work-items by a scan.
// Local:   WG*IPT accumulators + 2*(WG/32) accumulators + WG/32 words (+ WG words where lanes have no shuffle).
// Needs:   WG a multiple of 32; tile_row, tile_pos of rows_tiles with tile + snap <= WG*IPT.
// Gives:   y of the rows that begin and end in a tile; head[t] of the row that ends in tile t and began before it;
//          part[t]: sum of the row that goes on behind tile t (zero when none does).
// Order:   depends on tile, IPT and WG alone; repeatable.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_IPT
#error "WEFT_IPT: steps of the merge path per work-item"
#endif
#ifndef WEFT_TILED
#error "WEFT_TILED: for products() and carry_before()"
#endif
#if WEFT_WG % 32
#error "WEFT_WG: a multiple of 32"
#endif

// Row ends at or before step d of the tile's merge path.
WEFT_INLINE int ends_before(__local const int *ends, int rows, int count, int d)
{
    int lo = max(0, d - count), hi = min(d, rows);
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (ends[mid] <= d - mid - 1)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

WEFT_KERNEL void spmv_csr_merge(__global const ofs_t *restrict row_ptr, __global const idx_t *restrict col,
                                __global const val_t *restrict val, __global const val_t *restrict x,
                                __global val_t *restrict y, __global const idx_t *restrict tile_row,
                                __global const ofs_t *restrict tile_pos, __global acc_t *restrict part,
                                __global acc_t *restrict head, uint tiles, acc_t alpha, acc_t beta)
{
    __local acc_t prod[WEFT_WG * WEFT_IPT], sums[WEFT_WG / LANES];
    __local uint cuts[WEFT_WG / LANES], mem[LANE_MEM];
    const int lid = (int)get_local_id(0);
    for (uint tile = (uint)get_group_id(0); tile < tiles; tile += (uint)get_num_groups(0)) {
        const idx_t row0 = tile_row[tile];
        const ofs_t pos0 = tile_pos[tile];
        const int rows = tile_row[tile + 1u] - row0, count = (int)(tile_pos[tile + 1u] - pos0);
        __local int *ends = (__local int *)(prod + count); // rows + count <= WG*IPT
        products(prod, col, val, x, pos0, count);
        for (int i = lid; i < rows; i += WEFT_WG)
            ends[i] = (int)(row_ptr[row0 + i + 1] - pos0);
        barrier(CLK_LOCAL_MEM_FENCE);

        const int steps = rows + count, d = min(lid * WEFT_IPT, steps), stop = min(d + WEFT_IPT, steps);
        int row = ends_before(ends, rows, count, d), at = d - row, first = -1;
        int end = row < rows ? ends[row] : INT_MAX;
        acc_t sum = ZERO, first_sum = ZERO;
        while (row + at < stop) {
            if (at < end) {
                sum = plus(sum, prod[at++]);
                continue;
            }
            if (first < 0) {
                first = row;
                first_sum = sum;
            } else {
                put(y, row0 + row, sum, alpha, beta);
            }
            sum = ZERO;
            row++;
            end = row < rows ? ends[row] : INT_MAX;
        }
        acc_t all, before = carry_before(sum, first >= 0 ? 1u : 0u, &all, sums, cuts, mem);
        if (first >= 0) {
            first_sum = plus(before, first_sum);
            if (first == 0 && pos0 > row_ptr[row0])
                head[tile] = first_sum;
            else
                put(y, row0 + first, first_sum, alpha, beta);
        }
        if (lid == 0)
            part[tile] = all;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
