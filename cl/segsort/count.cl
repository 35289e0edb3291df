// SPDX-License-Identifier: Apache-2.0
// What tells segsort_move where each tile's share of each bin goes when its tiles do not look back.
// Source:  M. Zagha, G. Blelloch, Radix sort for vector multiprocessors, SC'91: counts of each part by bin, added up bin by bin.
// Mapping: segsort_count: group g counts tiles g, g+groups, ...; segsort_rows: group b owns the row of bin b.
// Local:   segsort_count: 4 << WEFT_RADIX_BITS bytes; segsort_rows: 4*wg*33/32.
// Needs:   pass k of segsort/radix.clh, else nothing is done; WEFT_TILE at most 32768.
// Gives:   table[b*tiles + t]: position of the first element of bin b in tile t.
// Order:   exact.

#ifndef WEFT_TILE
#error "WEFT_TILE: elements of a tile"
#endif

// Count the values of the digit in each tile.
WEFT_KERNEL void segsort_count(__global const key_t *key, __global const key_t *key_out, __global const key_t *key_tmp,
                               __global const uint *state, __global pos_t *table, long n, uint k, uint tiles)
{
    __local uint count[BINS];
    if (k < state[PASSES]) {
        const struct pass p = pass_of(state, k);
        __global const key_t *from = k == 0u ? key : p.from_tmp ? key_tmp : key_out;
        for (uint t = (uint)get_group_id(0); t < tiles; t += (uint)get_num_groups(0)) {
            const long first = (long)t * WEFT_TILE;
            const uint many = (uint)min(n - first, (long)WEFT_TILE);
            for (uint b = (uint)get_local_id(0); b < BINS; b += WEFT_WG)
                count[b] = 0u;
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint i = (uint)get_local_id(0); i < many; i += WEFT_WG)
                atomic_inc(&count[digit_of(from[first + i], p.shift, p.mask)]);
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint b = (uint)get_local_id(0); b < BINS; b += WEFT_WG)
                table[(size_t)b * tiles + t] = count[b];
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }
}

// Counts of a bin become positions: where the bin begins, and the counts of the tiles before.
WEFT_KERNEL void segsort_rows(__global const uint *state, __global pos_t *table, uint k, uint tiles)
{
    __local uint mem[WEFT_WG + WEFT_WG / 32];
    if (k < state[PASSES]) {
        const uint bin = (uint)get_group_id(0);
        __global pos_t *row = table + (size_t)bin * tiles;
        pos_t run = ((__global const pos_t *)(state + BASES(k)))[bin];
        for (uint step = 0; step < tiles; step += 4u * WEFT_WG) {
            const uint at = step + 4u * (uint)get_local_id(0);
            uint v[4], sum = 0u, all;
#pragma unroll
            for (uint j = 0; j < 4; j++) {
                v[j] = at + j < tiles ? (uint)row[at + j] : 0u;
                sum += v[j];
            }
            pos_t before = run + group_scan(sum, &all, mem);
#pragma unroll
            for (uint j = 0; j < 4; j++) {
                if (at + j < tiles)
                    row[at + j] = before;
                before += v[j];
            }
            run += all;
        }
    }
}
