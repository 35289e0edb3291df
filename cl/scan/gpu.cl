// SPDX-License-Identifier: Apache-2.0
// Prefix sums: out[i] = in[0] + ... + in[i-1] (exclusive) or + in[i] (inclusive); reduce, then scan.
// Source:  G. Blelloch, Prefix sums and their applications, 1990, section 1.4 (sum, scan the sums, scan again); inside
//          a tile the lanes scan by W. Hillis, G. Steele, Data parallel algorithms, 1986.
// Mapping: 1-D; a group takes tiles grp, grp + groups, ...; a tile is tile = wg*ipt elements, dealt out as scan/quads.clh says.
// Local:   wg/32 sums; wg uints more where lanes exchange through local memory.
// Needs:   wg a multiple of 32, at most 1024; ipt a multiple of 4. in may be out when the types have one width.
// Gives:   scan_reduce: sums[t] = sum of tile t.  scan_spine: sums[t] = sum of tiles before t, by one group.
//          scan_down: out, and with `total` out[n].
// Order:   neighbours of 4 from the left; the 32 lanes by doubling distance; then rows, then lane groups, then tiles
//          (tile by tile inside scan_spine) from the left. Depends on wg and ipt only.

// Sum of each tile.
WEFT_KERNEL void scan_reduce(__global const WEFT_IN_T *in, __global WEFT_SUM_T *sums, ulong n, ulong tiles)
{
    __local sum_t group_sums[WARPS];
    LANE_MEMORY(uint, mem);
    for (ulong tile = get_group_id(0); tile < tiles; tile += get_num_groups(0)) {
        sum_t x[WEFT_IPT];
        sum_t sum = 0, all;
        quads_load(x, in + tile * TILE, tile_left(tile, n));
        WEFT_UNROLL
        for (uint k = 0; k < WEFT_IPT; k++)
            sum += x[k];
        groups_scan(lanes_sum(sum, mem), &all, group_sums);
        if (get_local_id(0) == 0)
            sums[tile] = all;
    }
}

// Sums of the tiles become sums of the tiles before.
WEFT_KERNEL void scan_spine(__global WEFT_SUM_T *sums, ulong tiles)
{
    __local sum_t group_sums[WARPS];
    LANE_MEMORY(uint, mem);
    sum_t carry = 0;
    for (ulong t = 0; t * TILE < tiles; t++) {
        sum_t x[WEFT_IPT];
        uint left = tile_left(t, tiles);
        WEFT_UNROLL
        for (uint k = 0; k < WEFT_IPT; k++) {
            uint i = row_at(k / 4) + k % 4;
            x[k] = i < left ? sums[t * TILE + i] : 0;
        }
        sum_t all = quads_scan(x, carry, 0, group_sums, mem);
        quads_store(sums + t * TILE, x, left);
        carry += all;
    }
}

// Prefix sums of each tile, from the sum of the tiles before it.
WEFT_KERNEL void scan_down(__global const WEFT_IN_T *in, __global const WEFT_SUM_T *sums, __global WEFT_SUM_T *out,
                           ulong n, ulong tiles, uint has_sums, uint total)
{
    __local sum_t group_sums[WARPS];
    LANE_MEMORY(uint, mem);
    for (ulong tile = get_group_id(0); tile < tiles; tile += get_num_groups(0)) {
        sum_t x[WEFT_IPT];
        sum_t carry = has_sums ? sums[tile] : 0;
        quads_load(x, in + tile * TILE, tile_left(tile, n));
        sum_t all = quads_scan(x, carry, WEFT_INCLUSIVE, group_sums, mem);
        quads_store(out + tile * TILE, x, tile_left(tile, n));
        if (total && tile == tiles - 1 && get_local_id(0) == 0)
            out[n] = carry + all;
    }
}
