// SPDX-License-Identifier: Apache-2.0
// Merge sorted arrays: a with b, or all pairs of neighbouring blocks of one array; stable, left first.
// Source:  O. Green, R. McColl, D. Bader, GPU Merge Path, ICS 2012, with one work-item in place of a thread.
// Mapping: 1-D; work-item i merges outputs i*chunk .. from its own diagonal, pair by pair.
// Local:   none.
// Needs:   block == 0: arrays a (na) and b (nb). block > 0: na elements in a, b is the same buffer.
// Gives:   out, every element.
// Order:   exact.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#if !defined(WEFT_KEY_T) || !defined(WEFT_VAL_BITS)
#error "WEFT_KEY_T: type of a key; WEFT_VAL_BITS: 0, 32 or 64, width of a payload"
#endif

typedef WEFT_KEY_T key_t;

// Elements of a among the first d of the merged arrays.
WEFT_INLINE long rank_of(__global const key_t *a, long la, __global const key_t *b, long lb, long d)
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

WEFT_KERNEL void merge_chunk(__global const key_t *a, __global const key_t *b, __global const bits_t *a_val,
                             __global const bits_t *b_val, __global key_t *out, __global bits_t *out_val, long na,
                             long nb, long block, long chunk)
{
    long n = block > 0 ? na : na + nb, o = min((long)get_global_id(0) * chunk, n), end = min(o + chunk, n);
    while (o < end) {
        long start = 0, a0 = 0, la = na, b0 = 0, lb = nb;
        if (block > 0) {
            a0 = start = o - o % (2 * block);
            la = min(block, na - a0);
            b0 = a0 + la;
            lb = min(block, na - b0);
        }
        long i = rank_of(a + a0, la, b + b0, lb, o - start), j = o - start - i, stop = min(end, start + la + lb);
        i += a0;
        j += b0;
        la += a0;
        lb += b0;
        while (o < stop && i < la && j < lb) {
            key_t ka = a[i], kb = b[j];
            bool right = kb < ka;
            out[o] = right ? kb : ka;
#if WEFT_VAL_BITS
            __global const bits_t *from = right ? b_val + j : a_val + i;
            out_val[o] = *from;
#endif
            o++;
            j += right;
            i += !right;
        }
        for (; o < stop && i < la; o++, i++) {
            out[o] = a[i];
#if WEFT_VAL_BITS
            out_val[o] = a_val[i];
#endif
        }
        for (; o < stop; o++, j++) {
            out[o] = b[j];
#if WEFT_VAL_BITS
            out_val[o] = b_val[j];
#endif
        }
    }
}
