// SPDX-License-Identifier: Apache-2.0
// counts[b] = number of i with idx[i] == b.
// Source:  L. Nyland, S. Jones, Understanding and using atomic memory operations, GTC 2013 (equal neighbours joined
//          before an atomic addition); rows of private counts as H. Wang, W. Liu, K. Hou, W. Feng, Parallel
//          Transposition of Sparse Data Structures, ICS 2016, section 3.1, here a row per work-group.
// Mapping: 1-D; a group takes jobs grp, grp + groups, ... Its work-items load ipt indices each. Lanes with equal
//          indices add up among themselves, so that 32 equal indices cost one addition.
//          histogram_rows: job (s, r) counts slice s of the indices in range r of the bins, in local memory; a
//          work-item loads four side by side. There are 2^log_ranges ranges, of which those beyond the last bin have
//          nothing to do.
//          histogram_atomic: job s counts slice s in global memory; lanes load indices side by side.
// Local:   range uints (rows); wg uints where lanes exchange through local memory.
// Needs:   wg a multiple of 32; ipt a multiple of 4; start and slice multiples of 4; bins < 2^KEY_BITS and counts
//          zero for histogram_atomic.
// Gives:   histogram_rows: rows[s*bins + b].  histogram_atomic: counts[b]. Indices outside 0 .. bins-1 are left out.
// Order:   integers only.

#if !defined(WEFT_WG) || WEFT_WG % 32
#error "WEFT_WG: work-group size, a multiple of 32"
#endif
#if !defined(WEFT_IPT) || WEFT_IPT % 4
#error "WEFT_IPT: indices that a work-item loads at once, a multiple of 4"
#endif
#ifndef WEFT_KEY_BITS
#error "WEFT_KEY_BITS: bits that tell the bins apart, for histogram_atomic"
#endif

#define STEP ((ulong)WEFT_WG * WEFT_IPT)

// Keys of this work-item in a step of which `left` indices are there: idx - first, or `width` when that is not below it.
static inline void keys_load(uint *key, __global const int *idx, ulong left, uint first, uint width)
{
    WEFT_UNROLL
    for (uint j = 0; j < WEFT_IPT / 4; j++) {
        uint i = (j * WEFT_WG + (uint)get_local_id(0)) * 4u;
        if (left >= STEP) {
            int4 v = *(__global const int4 *)(idx + i);
            key[4 * j] = (uint)v.x - first;
            key[4 * j + 1] = (uint)v.y - first;
            key[4 * j + 2] = (uint)v.z - first;
            key[4 * j + 3] = (uint)v.w - first;
        } else {
            for (uint k = 0; k < 4; k++)
                key[4 * j + k] = i + k < left ? (uint)idx[i + k] - first : width;
        }
        for (uint k = 0; k < 4; k++)
            key[4 * j + k] = min(key[4 * j + k], width);
    }
}

// What this lane has to add, when the first of the lanes in `same`, those with its key, adds for all of them.
static inline uint share_of(uint same, bool counts)
{
    return counts && !(same & lane_below()) ? popcount(same) : 0u;
}

// Lanes with this lane's key, exactly for the key of the first lane and for the first key that differs from it; this
// lane alone for any other. Few steps, and enough for one hot key or sorted ones.
WEFT_INLINE_LOCAL uint lane_like(uint key, __local uint *mem)
{
    uint a = lane_get(key, 0u, mem), same_a = lane_ballot(key == a, mem), rest = ~same_a;
    uint b = lane_get(key, rest ? 31u - clz(rest & (~rest + 1u)) : 0u, mem), same_b = lane_ballot(key == b, mem);
    return key == a ? same_a : key == b ? same_b : 1u << lane_id();
}

// Count each slice of the indices in local memory, for a row of its own.
WEFT_KERNEL void histogram_rows(__global const int *idx, __global uint *rows, ulong start, ulong n, ulong slice,
                                uint slices, uint log_ranges, uint range, uint bins, __local uint *hist)
{
    LANE_MEMORY(uint, mem);
    const uint lid = (uint)get_local_id(0);
    for (ulong job = get_group_id(0); job < (ulong)slices << log_ranges; job += get_num_groups(0)) {
        ulong s = job >> log_ranges, first = (job - (s << log_ranges)) * range, end = start + min((s + 1) * slice, n);
        if (first >= bins)
            continue;
        uint width = min(range, bins - (uint)first);
        for (uint b = lid; b < width; b += WEFT_WG)
            hist[b] = 0u;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (ulong base = start + s * slice; base < end; base += STEP) {
            uint key[WEFT_IPT];
            keys_load(key, idx + base, end - base, (uint)first, width);
            WEFT_UNROLL
            for (uint k = 0; k < WEFT_IPT; k++) {
                uint share = share_of(lane_like(key[k], mem), key[k] < width);
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

// Lanes that add up with this one: equal keys, but for few. Keys are told apart by a hash, of which lane_match takes few steps; where one hash
// stands for several keys, those that differ from the first of these lanes' stand alone.
#define HASH_BITS 8
WEFT_INLINE_LOCAL uint lane_together(uint key, __local uint *mem)
{
#if defined(WEFT_LANES_FAST) && WEFT_KEY_BITS > HASH_BITS
    const uint same = lane_match((key * 2654435761u) >> (32 - HASH_BITS), HASH_BITS, mem);
    const bool first = lane_get(key, 31u - clz(same & (~same + 1u)), mem) == key;
    const uint firsts = lane_ballot(first, mem);
    return first ? same & firsts : 1u << lane_id();
#else
    return lane_match(key, WEFT_KEY_BITS, mem);
#endif
}

// counts[key] += share, whose old value nobody wants.
static inline void count_add(__global uint *counts, uint key, uint share)
{
#ifdef WEFT_LANES_PTX
    __asm volatile("red.global.add.u32 [%0], %1;" : : "l"(counts + key), "r"(share) : "memory");
#else
    atomic_add(counts + key, share);
#endif
}

// Count in global memory by atomics, equal neighbours at once. Lanes take keys side by side: where these are near one another so are their
// counts, and the second cache takes additions to a sector together.
WEFT_KERNEL void histogram_atomic(__global const int *idx, __global uint *counts, ulong start, ulong n, uint bins)
{
    LANE_MEMORY(uint, mem);
    const uint lid = (uint)get_local_id(0);
    for (ulong at = get_group_id(0) * STEP; at < n; at += get_num_groups(0) * STEP) {
        uint key[WEFT_IPT];
        WEFT_UNROLL
        for (uint k = 0; k < WEFT_IPT; k++) {
            const ulong i = at + k * WEFT_WG + lid;
            key[k] = i < n ? min((uint)idx[start + i], bins) : bins;
        }
        WEFT_UNROLL
        for (uint k = 0; k < WEFT_IPT; k++) {
            uint share = share_of(lane_together(key[k], mem), key[k] < bins);
            if (share)
                count_add(counts, key[k], share);
        }
    }
}
