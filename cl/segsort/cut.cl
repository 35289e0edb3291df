// SPDX-License-Identifier: Apache-2.0
// Where the tiles of a merged group of runs begin in each run, for segsort_join.
// Source:  P. Varman, S. Scheufler, B. Iyer, G. Ricard, Merging multiple lists on hierarchical-memory
//          multiprocessors, JPDC 12, 1991: the element of a given rank in many sorted lists; here the key is found bit by
//          bit from the top, and the lists are searched between bounds that close in from both sides.
// Mapping: 1-D; a group is LANES work-items and takes tiles grp, grp+groups, ...; lane l searches runs l, l+LANES, ...
// Local:   WG uints where lanes have no shuffle, else none.
// Needs:   wg == LANES; runs <= WEFT_RUNS. Chunks and segments as in segsort/tile.cl.
// Gives:   cuts[t*runs + i]: position in run i where tile t of its group begins, such that the elements before the cuts
//          are the first ones of the group ordered by (segment, key, run, position).
// Order:   exact, whatever the keys: equal ones are given to the runs from the left.

#if !defined(WEFT_WG) || WEFT_WG != 32
#error "WEFT_WG: work-group size, 32"
#endif
#ifndef WEFT_RUNS
#error "WEFT_RUNS: most runs merged at once"
#endif
#ifndef WEFT_TILE
#error "WEFT_TILE: elements of a tile"
#endif
#if !defined(WEFT_KEY_BITS) || !defined(WEFT_KEY_SIGNED) || !defined(WEFT_OFFSETS)
#error "WEFT_KEY_BITS: 32 or 64, WEFT_KEY_SIGNED: 0 or 1; WEFT_OFFSETS: 1 segments by offsets, 0 blocks"
#endif

#if WEFT_KEY_BITS == 64
typedef ulong key_t; // as an unsigned number in the same order
#else
typedef uint key_t;
#endif
#define SIGN     ((key_t)WEFT_KEY_SIGNED << (WEFT_KEY_BITS - 1))
#define PER_LANE ((WEFT_RUNS + 31) / 32)

// Sum of v over the lanes before this one; *all gets the sum over every lane.
WEFT_INLINE ofs_t lanes_before(ofs_t v, ofs_t *all, __local uint *mem)
{
#if WEFT_OFS_BITS == 64
    ulong sum = (ulong)v;
    WEFT_UNROLL
    for (uint d = 1; d < LANES; d <<= 1) {
        uint from = lane_id() < d ? lane_id() : lane_id() - d;
        ulong low = lane_get((uint)sum, from, mem), high = lane_get((uint)(sum >> 32), from, mem);
        sum += lane_id() < d ? 0ul : high << 32 | low;
    }
    ulong low = lane_get((uint)sum, LANES - 1u, mem), high = lane_get((uint)(sum >> 32), LANES - 1u, mem);
    *all = (ofs_t)(high << 32 | low);
    return (ofs_t)sum - v;
#else
    uint sum, before = lane_scan((uint)v, &sum, mem);
    *all = (ofs_t)sum;
    return (ofs_t)before;
#endif
}

WEFT_KERNEL void segsort_cut(__global const key_t *key, __global const ofs_t *offsets, __global ofs_t *cuts,
                             long segments, long n, long chunk, long per_chunk, long tiles, uint runs, long length)
{
    LANE_MEMORY(uint, mem);
    long per_group = length / WEFT_TILE * runs;
    for (long t = (long)get_group_id(0); t < tiles; t += (long)get_num_groups(0)) {
        long c = t / per_chunk, nth = t - c * per_chunk, begin = c * chunk, stop = min(begin + chunk, n);
        long start = begin + nth / per_group * per_group * WEFT_TILE, base = min(begin + nth * WEFT_TILE, stop);
        // The segment of position `base`: what is before it in the group is taken, what is behind it is not.
        long from = start, to = stop;
#if WEFT_OFFSETS
        if (base < stop) {
            idx_t s = row_of(offsets, 0, (idx_t)segments, (ofs_t)base);
            from = max(start, (long)offsets[s]);
            to = (long)offsets[s + 1];
        }
#endif
        ofs_t rank = (ofs_t)(base - from);
        // In run i elements before lo[i] are smaller than `least`, those from hi[i] on are not smaller than some key above.
        ofs_t lo[PER_LANE], hi[PER_LANE], below = 0, all;
        key_t least = 0;
#pragma unroll
        for (uint k = 0; k < PER_LANE; k++) {
            uint i = k * LANES + lane_id();
            long first = min(start + (long)i * length, stop), last = min(first + length, stop);
            lo[k] = (ofs_t)clamp(from, first, last);
            hi[k] = i < runs ? (ofs_t)clamp(to, first, last) : lo[k];
        }
        for (uint bit = WEFT_KEY_BITS; bit > 0u; bit--) {
            key_t pivot = least | (key_t)1 << (bit - 1u);
            ofs_t at[PER_LANE], sum = 0;
#pragma unroll
            for (uint k = 0; k < PER_LANE; k++) {
                ofs_t a = lo[k], b = hi[k];
                while (a < b) {
                    ofs_t mid = a + (b - a) / 2;
                    if ((key[mid] ^ SIGN) < pivot)
                        a = mid + 1;
                    else
                        b = mid;
                }
                at[k] = a;
                sum += a - lo[k];
            }
            lanes_before(sum, &all, mem);
            bool up = below + all <= rank;
            least = up ? pivot : least;
            below += up ? all : 0;
#pragma unroll
            for (uint k = 0; k < PER_LANE; k++) {
                lo[k] = up ? at[k] : lo[k];
                hi[k] = up ? hi[k] : at[k];
            }
        }
        // Elements with key `least` lie from lo to hi: the runs give theirs in order until the rank is reached.
        ofs_t need = rank - below;
#pragma unroll
        for (uint k = 0; k < PER_LANE; k++) {
            ofs_t before = lanes_before(hi[k] - lo[k], &all, mem);
            if (k * LANES + lane_id() < runs)
                cuts[(size_t)t * runs + k * LANES + lane_id()] = lo[k] + clamp(need - before, (ofs_t)0, hi[k] - lo[k]);
            need -= all;
        }
    }
}
