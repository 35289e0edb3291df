// SPDX-License-Identifier: Apache-2.0
// Finish the rows that rows_tiles cut in two or more: y[row] = alpha*(sum of its parts) + beta*y[row].
// Source:  the fix-up pass of Merrill & Garland, SC'16, section III, with one writer per row instead of one per part.
// Mapping: 1-D; JOIN consecutive work-items own one element of `split`, then strides by the number of work-items.
// Local:   WG accumulators where lanes have no shuffle or JOIN is more than LANES, else none.
// Needs:   tile_row, split of rows_tiles, cut with `tile` and `snap`; part[t]: sum of the row that goes on behind tile t,
//          of its entries in tile t; head[t]: sum of the row that began before tile t, of its entries in tile t, where
//          it ends there. JOIN 1, LANES or WG, a power of two.
// Gives:   y of the rows of split.
// Order:   work-item l takes parts l, l + JOIN, ...; then pairs of work-items at distance JOIN/2 .. 1; then the head.
//          Repeatable.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_JOIN
#error "WEFT_JOIN: work-items per row: 1, 32 or WG"
#endif

// The sum over JOIN work-items, valid in the first. Uniform control flow over the work-group.
#if WEFT_JOIN <= 32
#define JOIN_MEMORY(mem)    LANE_MEMORY(acc_t, mem)
#define join_plus(sum, mem) lanes_plus(sum, WEFT_JOIN, mem)
#else
#define JOIN_MEMORY(mem) __local acc_t mem[WEFT_WG]
WEFT_INLINE acc_t join_plus(acc_t sum, __local acc_t *mem)
{
    const uint lid = (uint)get_local_id(0);
    mem[lid] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = WEFT_JOIN / 2u; d > 0u; d >>= 1) {
        if (lid < d)
            mem[lid] = sum = plus(sum, mem[lid + d]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return sum;
}
#endif

WEFT_KERNEL void spmv_join(__global const ofs_t *row_ptr, __global const idx_t *tile_row, __global const acc_t *part,
                           __global const acc_t *head, __global const uint *split, uint nsplit, uint tile, uint snap,
                           __global val_t *y, acc_t alpha, acc_t beta)
{
    JOIN_MEMORY(mem);
    const uint lane = (uint)get_local_id(0) % WEFT_JOIN, per_group = WEFT_WG / WEFT_JOIN;
    for (uint base = (uint)get_group_id(0) * per_group; base < nsplit; base += (uint)get_num_groups(0) * per_group) {
        uint s = base + (uint)get_local_id(0) / WEFT_JOIN, last = 0u;
        idx_t row = 0;
        acc_t sum = ZERO;
        if (s < nsplit) {
            last = split[s];
            row = tile_row[last];
            // The row's first part is in the first tile that ends `snap` entries or more behind the row's begin: a cut
            // before that moved back to the begin.
            ulong first = ((ulong)row_ptr[row] + (ulong)row + snap + tile - 1u) / tile - 1u;
            for (ulong t = first + lane; t < last; t += WEFT_JOIN)
                sum = plus(sum, part[t]);
        }
        sum = join_plus(sum, mem);
        if (s < nsplit && lane == 0u)
            put(y, row, plus(sum, head[last]), alpha, beta);
    }
}
