// SPDX-License-Identifier: Apache-2.0
// Finish the rows that tiles of spmv/csr_flags.cl share: y[row] = alpha*(sum of its parts) + beta*y[row].
// Source:  the fix-up pass of Merrill & Garland, SC'16, section III, with one writer per row instead of one per part.
// Mapping: 1-D; 32 consecutive work-items own one tile, then stride.
// Local:   WG accumulators where lanes have no shuffle, else none.
// Needs:   flags of spmv/rows_flags.cl; part and head in the sums of spmv/csr_flags.cl, with tiles of `tile` entries.
// Gives:   y of the rows that end in a tile and began before it.
// Order:   work-item l takes the parts of tiles l, l + 32, ... of the row; then pairs at distance 16 .. 1. Repeatable.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif

WEFT_KERNEL void spmv_flags_join(__global val_t *restrict y, __global const uint *restrict flags,
                                 __global const acc_t *restrict sums, ulong cross_at, ulong row_of_at, uint tile,
                                 uint tiles, uint gaps, acc_t alpha, acc_t beta)
{
    __global const uint2 *const cross = (__global const uint2 *)(flags + cross_at);
    __global const idx_t *const row_of = (__global const idx_t *)(flags + row_of_at);
    __global const acc_t *const part = sums, *const head = sums + tiles;
    LANE_MEMORY(acc_t, mem);
    for (uint base = (uint)get_group_id(0) * (WEFT_WG / LANES); base < tiles;
         base += (uint)get_num_groups(0) * (WEFT_WG / LANES)) {
        const uint t = base + lane_group();
        const uint2 span = t < tiles ? cross[t] : (uint2)(0u, 0u);
        const bool ends = t < tiles && span.x < t && span.y == t;
        acc_t sum = ZERO;
        for (uint u = span.x + lane_id(); ends && u <= t; u += LANES)
            sum = plus(sum, u == span.x ? part[u] : head[u]);
        sum = lanes_plus(sum, LANES, mem);
        if (ends && lane_id() == 0u) {
            const uint k = flags[2 * (long)t * (tile / 32u) + 1] - 1u;
            put(y, gaps ? row_of[k] : (idx_t)k, sum, alpha, beta);
        }
    }
}
