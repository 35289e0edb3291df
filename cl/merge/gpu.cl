// SPDX-License-Identifier: Apache-2.0
// Merge sorted arrays: a with b, or all pairs of neighbouring blocks of one array; stable, left first.
// Source:  O. Green, R. McColl, D. Bader, GPU Merge Path, ICS 2012: cut the output in equal parts, find for each part
//          where it begins in both inputs by a binary search along its diagonal, merge the parts in local memory.
// Mapping: 1-D; merge_cut: a work-item finds the cut of one tile. merge_tile: a group takes tiles grp, grp+groups, ...
//          of TILE = wg*ipt outputs; work-item l merges ipt of them from its own diagonal. Where two blocks fit in a
//          tile, it holds as many pairs as fit, and needs no cut.
// Local:   TILE*(sizeof key + 2) bytes.
// Needs:   TILE <= 65536. block == 0: arrays a (na) and b (nb). block > 0: na elements in a, b is the same buffer.
//          per_pair: tiles of a pair; 0: a tile holds several pairs.
// Gives:   cuts[t]: elements of the left array before tile t of its pair; out, every element.
// Order:   exact.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_IPT
#error "WEFT_IPT: outputs per work-item"
#endif
#if !defined(WEFT_KEY_T) || !defined(WEFT_VAL_BITS)
#error "WEFT_KEY_T: type of a key; WEFT_VAL_BITS: 0, 32 or 64, width of a payload"
#endif
#if WEFT_WG * WEFT_IPT > 65536
#error "WEFT_WG * WEFT_IPT is at most 65536"
#endif

#define TILE (WEFT_WG * WEFT_IPT)
typedef WEFT_KEY_T key_t;

// The two arrays of a pair: positions in a and b, lengths; where its output begins.
struct pair {
    long a, la, b, lb, out;
};
WEFT_INLINE struct pair pair_of(long p, long na, long nb, long block)
{
    struct pair x = {0, na, 0, nb, 0};
    if (block > 0) {
        x.a = x.out = min(p * 2 * block, na);
        x.la = min(block, na - x.a);
        x.b = x.a + x.la;
        x.lb = min(block, na - x.b);
    }
    return x;
}

// Elements of a among the first d of the merged arrays.
WEFT_INLINE long rank_global(__global const key_t *a, long la, __global const key_t *b, long lb, long d)
{
    long lo = max(d - lb, 0L), hi = min(d, la);
    while (lo < hi) {
        long mid = lo + (hi - lo) / 2;
        if (b[d - 1 - mid] < a[mid])
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}
WEFT_INLINE uint rank_local(__local const key_t *a, uint la, __local const key_t *b, uint lb, uint d)
{
    uint lo = (uint)max((int)d - (int)lb, 0), hi = min(d, la);
    while (lo < hi) {
        uint mid = (lo + hi) / 2u;
        if (b[d - 1u - mid] < a[mid])
            hi = mid;
        else
            lo = mid + 1u;
    }
    return lo;
}

// Where each tile of the output begins in the left array of its pair.
WEFT_KERNEL void merge_cut(__global const key_t *a, __global const key_t *b, __global long *cuts, long na, long nb,
                           long block, long tiles, long per_pair)
{
    for (long t = get_global_id(0); t < tiles; t += get_global_size(0)) {
        long p = t / per_pair;
        struct pair x = pair_of(p, na, nb, block);
        long d = min((t - p * per_pair) * TILE, x.la + x.lb);
        cuts[t] = rank_global(a + x.a, x.la, b + x.b, x.lb, d);
    }
}

// from[o] = place in `key` of output o, for the outputs of this work-item. `key` holds `count` elements, pairs of
// `size` with the left array in the first `left` of them.
WEFT_INLINE void merge_walk(__local ushort *from, __local const key_t *key, uint count, uint size, uint left)
{
    uint o = (uint)get_local_id(0) * WEFT_IPT, end = min(o + WEFT_IPT, count);
    if (o >= end)
        return;
    uint start = o - o % size, stop = min(start + size, count), mid = min(start + left, stop);
    uint a = start + rank_local(key + start, mid - start, key + mid, stop - mid, o - start);
    uint b = mid + (o - a);
    key_t ka = a < mid ? key[a] : 0, kb = b < stop ? key[b] : 0;
    for (; o < end; o++) {
        if (o == stop) {
            a = stop;
            stop = min(a + size, count);
            b = mid = min(a + left, stop);
            ka = key[a];
            kb = b < stop ? key[b] : 0;
        }
        bool take_a = b >= stop || (a < mid && !(kb < ka));
        from[o] = (ushort)(take_a ? a : b);
        if (take_a) {
            a++;
            ka = a < mid ? key[a] : 0;
        } else {
            b++;
            kb = b < stop ? key[b] : 0;
        }
    }
}

// Merge what belongs to a tile in local memory.
WEFT_KERNEL void merge_tile(__global const key_t *a, __global const key_t *b, __global const bits_t *a_val,
                            __global const bits_t *b_val, __global key_t *out, __global bits_t *out_val,
                            __global const long *cuts, long na, long nb, long block, long tiles, long per_pair)
{
    __local key_t key[TILE];
    __local ushort from[TILE];
    uint lid = (uint)get_local_id(0);
    for (long t = get_group_id(0); t < tiles; t += get_num_groups(0)) {
        long at_a, at_b = 0, at_out;
        uint la, count, size, left;
        if (per_pair) {
            long p = t / per_pair, nth = t - p * per_pair;
            struct pair x = pair_of(p, na, nb, block);
            long all = x.la + x.lb, first = min(nth * TILE, all), last = min(first + TILE, all);
            long cut = cuts[t], next = nth + 1 < per_pair ? cuts[t + 1] : x.la;
            at_a = x.a + cut;
            at_b = x.b + first - cut;
            at_out = x.out + first;
            la = left = (uint)(next - cut);
            count = size = (uint)(last - first);
        } else {
            size = 2u * (uint)block;
            left = (uint)block;
            long span = (long)(TILE / size * size);
            at_a = at_out = t * span;
            la = count = (uint)min(na - at_a, span);
        }
        for (uint i = lid; i < count; i += WEFT_WG)
            key[i] = i < la ? a[at_a + i] : b[at_b + (i - la)];
        barrier(CLK_LOCAL_MEM_FENCE);
        merge_walk(from, key, count, size, left);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = lid; i < count; i += WEFT_WG) {
            uint s = from[i];
            out[at_out + i] = key[s];
#if WEFT_VAL_BITS
            out_val[at_out + i] = s < la ? a_val[at_a + s] : b_val[at_b + (s - la)];
#endif
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
