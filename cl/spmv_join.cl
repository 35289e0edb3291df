// SPDX-License-Identifier: Apache-2.0
// Finish the rows that rows_tiles cut in two or more: y[row] = alpha*(sum of its parts) + beta*y[row].
// Source:  the fix-up pass of Merrill & Garland, SC'16, section III, with one writer per row instead of one per part.
// Mapping: 1-D; JOIN consecutive work-items own one element of `split`, then strides by the number of work-items.
// Local:   WG accumulators where lanes have no shuffle, else none.
// Needs:   tile_row, tile_pos, split of rows_tiles; part[t]: sum of the row that goes on behind tile t, of its entries
//          in tile t; head[t]: sum of the row that began before tile t, of its entries in tile t, where it ends there.
//          JOIN 1 or 32.
// Gives:   y of the rows of split.
// Order:   work-item l takes parts l, l + JOIN, ...; then pairs at distance JOIN/2 .. 1; then the head. Repeatable.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_JOIN
#error "WEFT_JOIN: work-items per row, 1 or 32"
#endif

WEFT_KERNEL void spmv_join(__global const ofs_t *row_ptr, __global const idx_t *tile_row,
                           __global const ofs_t *tile_pos, __global const acc_t *part, __global const acc_t *head,
                           __global const uint *split, uint nsplit, __global val_t *y, acc_t alpha, acc_t beta)
{
    __local acc_t mem[LANE_MEM];
    const uint lane = (uint)get_local_id(0) % WEFT_JOIN, per_group = WEFT_WG / WEFT_JOIN;
    for (uint base = (uint)get_group_id(0) * per_group; base < nsplit; base += (uint)get_num_groups(0) * per_group) {
        uint s = base + (uint)get_local_id(0) / WEFT_JOIN, last = 0u;
        acc_t sum = ZERO;
        if (s < nsplit) {
            last = split[s];
            // The row's first part is in the first tile whose end lies behind the row's begin.
            ofs_t begin = row_ptr[tile_row[last]];
            uint lo = 0u, hi = last;
            while (lo < hi) {
                uint mid = (lo + hi) / 2u;
                if (tile_pos[mid + 1u] > begin)
                    hi = mid;
                else
                    lo = mid + 1u;
            }
            for (uint t = lo + lane; t < last; t += WEFT_JOIN)
                sum = plus(sum, part[t]);
        }
        sum = lanes_plus(sum, WEFT_JOIN, mem);
        if (s < nsplit && lane == 0u)
            put(y, tile_row[last], plus(sum, head[last]), alpha, beta);
    }
}
