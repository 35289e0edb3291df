// SPDX-License-Identifier: Apache-2.0
// counts[b] = number of i with idx[i] == b.
// Source:  L. Nyland, S. Jones, Understanding and using atomic memory operations, GTC 2013 (equal neighbours joined
//          before an atomic addition); rows of private counts as H. Wang, W. Liu, K. Hou, W. Feng, Parallel
//          Transposition of Sparse Data Structures, ICS 2016, section 3.1, here a row per work-group.
// Mapping: 1-D; a group takes jobs grp, grp + groups, ... Its work-items load ipt indices each, 4 side by side. Lanes
//          with equal indices add up among themselves, so that 32 equal indices cost one addition.
//          histogram_rows: job (s, r) counts slice s of the indices in range r of the bins, in local memory.
//          histogram_atomic: job s counts slice s in global memory.
// Local:   range uints (rows); wg uints where lanes exchange through local memory.
// Needs:   wg a multiple of 32; ipt a multiple of 4; start, slice multiples of wg*ipt or of 4; bins < 2^key_bits for
//          atomic, range < 2^key_bits for rows; counts zero before histogram_atomic.
// Gives:   histogram_rows: rows[s*bins + b].  histogram_atomic: counts[b]. Indices outside 0 .. bins-1 are left out.
// Order:   integers only.

#if !defined(WEFT_WG) || WEFT_WG % 32
#error "WEFT_WG: work-group size, a multiple of 32"
#endif
#if !defined(WEFT_IPT) || WEFT_IPT % 4
#error "WEFT_IPT: indices that a work-item loads at once, a multiple of 4"
#endif

#define STEP ((ulong)WEFT_WG * WEFT_IPT)

// Keys of this work-item in the step at `base`: idx - first, or `none` when that is not below `width`.
static inline void keys_load(uint *key, __global const int *idx, ulong base, ulong end, uint first, uint width,
                             uint none)
{
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT / 4; j++) {
        ulong i = base + (j * WEFT_WG + (uint)get_local_id(0)) * 4u;
        if (base + STEP <= end) {
            int4 v = *(__global const int4 *)(idx + i);
            key[4 * j] = (uint)v.x - first;
            key[4 * j + 1] = (uint)v.y - first;
            key[4 * j + 2] = (uint)v.z - first;
            key[4 * j + 3] = (uint)v.w - first;
        } else {
            for (uint k = 0; k < 4; k++)
                key[4 * j + k] = i + k < end ? (uint)idx[i + k] - first : none;
        }
        for (uint k = 0; k < 4; k++)
            key[4 * j + k] = key[4 * j + k] < width ? key[4 * j + k] : none;
    }
}

// What this lane has to add to its key: the first of the lanes with one key adds for all of them.
static inline uint lane_share(uint key, uint none, uint key_bits, __local uint *mem)
{
    uint same = lane_match(key, key_bits, mem);
    return key == none || (same & lane_below()) ? 0u : popcount(same);
}

WEFT_KERNEL void histogram_rows(__global const int *idx, __global uint *rows, ulong start, ulong n, ulong slice,
                                uint slices, uint ranges, uint range, uint bins, uint key_bits, __local uint *hist)
{
    __local uint mem[LANE_MEM];
    const uint lid = (uint)get_local_id(0), none = (1u << key_bits) - 1u;
    for (ulong job = get_group_id(0); job < (ulong)slices * ranges; job += get_num_groups(0)) {
        uint first = (uint)(job % ranges) * range, width = min(range, bins - first);
        ulong s = job / ranges, end = start + min((s + 1) * slice, n);
        for (uint b = lid; b < width; b += WEFT_WG)
            hist[b] = 0u;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (ulong base = start + s * slice; base < end; base += STEP) {
            uint key[WEFT_IPT];
            keys_load(key, idx, base, end, first, width, none);
            WEFT_UNROLL
            for (uint k = 0; k < WEFT_IPT; k++) {
                uint share = lane_share(key[k], none, key_bits, mem);
                if (share)
                    atomic_add(hist + key[k], share);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint b = lid; b < width; b += WEFT_WG)
            rows[s * bins + first + b] = hist[b];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

WEFT_KERNEL void histogram_atomic(__global const int *idx, __global uint *counts, ulong start, ulong n, uint bins,
                                  uint key_bits)
{
    __local uint mem[LANE_MEM];
    const uint none = (1u << key_bits) - 1u;
    for (ulong at = get_group_id(0) * STEP; at < n; at += get_num_groups(0) * STEP) {
        uint key[WEFT_IPT];
        keys_load(key, idx, start + at, start + n, 0u, bins, none);
        WEFT_UNROLL
        for (uint k = 0; k < WEFT_IPT; k++) {
            uint share = lane_share(key[k], none, key_bits, mem);
            if (share)
                atomic_add(counts + key[k], share);
        }
    }
}
