// SPDX-License-Identifier: Apache-2.0
// Finish the rows that lie in two or more tiles of coordinates: y[row] += alpha*(sum of its parts).
// Source:  the fix-up pass of Merrill & Garland, SC'16, section III, with one writer per row instead of one per part.
// Mapping: 1-D; JOIN consecutive work-items own one tile, then stride.
// Local:   WG accumulators where lanes have no shuffle, else none.
// Needs:   part, head of spmv/coo_segment.cl or spmv/coo_cpu.cl with tiles of `tile` entries; JOIN 1 or 32.
// Gives:   y of the rows that end in a tile and began before it.
// Order:   work-item l takes parts l, l + JOIN, ...; then pairs at distance JOIN/2 .. 1; then the head. Repeatable.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_JOIN
#error "WEFT_JOIN: work-items per row, 1 or 32"
#endif

WEFT_KERNEL void spmv_coo_join(__global const idx_t *restrict row, __global const acc_t *restrict part,
                               __global const acc_t *restrict head, __global val_t *restrict y, long nnz, uint tile,
                               uint tiles, acc_t alpha)
{
    LANE_MEMORY(acc_t, mem);
    const uint lane = (uint)get_local_id(0) % WEFT_JOIN, per_group = WEFT_WG / WEFT_JOIN;
    for (uint base = (uint)get_group_id(0) * per_group; base < tiles; base += (uint)get_num_groups(0) * per_group) {
        const uint t = base + (uint)get_local_id(0) / WEFT_JOIN;
        const long pos = (long)t * tile, end = pos + tile;
        acc_t sum = ZERO;
        idx_t r = -1;
        if (t > 0u && t < tiles && row[pos - 1] == row[pos] && (end >= nnz || row[end] != row[pos])) {
            r = row[pos];
            uint lo = 0u, hi = t - 1u; // the first tile that ends in row r
            while (lo < hi) {
                uint mid = (lo + hi) / 2u;
                if (row[(long)(mid + 1u) * tile - 1] >= r)
                    hi = mid;
                else
                    lo = mid + 1u;
            }
            for (uint u = lo + lane; u < t; u += WEFT_JOIN)
                sum = plus(sum, part[u]);
        }
        sum = lanes_plus(sum, WEFT_JOIN, mem);
        if (r >= 0 && lane == 0u)
            put(y, r, plus(sum, head[t]), alpha, (acc_t)1);
    }
}
