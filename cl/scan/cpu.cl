// SPDX-License-Identifier: Apache-2.0
// Prefix sums: out[i] = in[0] + ... + in[i-1] (exclusive) or + in[i] (inclusive); a chunk per work-item, two passes.
// Source:  G. Blelloch, Prefix sums and their applications, 1990, section 1.4.
// Mapping: 1-D; work-item g owns elements g*chunk .. (g+1)*chunk-1 and walks them by fours.
// Local:   none.
// Needs:   chunk > 0. in may be out when the types have one width.
// Gives:   scan_cpu_reduce: sums[g] = sum of chunk g.  scan_cpu_down: out, and with `total` out[n].
// Order:   fours as written below, then fours from the left, then chunks from the left (their sums by 8 strands);
//          depends on chunk only.

#if !defined(WEFT_WG)
#error "WEFT_WG: work-group size"
#endif
#if !defined(WEFT_IN_T) || !defined(WEFT_SUM_T)
#error "WEFT_IN_T, WEFT_SUM_T: types of an element and of a sum"
#endif
#if !defined(WEFT_INCLUSIVE)
#error "WEFT_INCLUSIVE: 0 or 1"
#endif

typedef WEFT_IN_T in_t;
typedef WEFT_SUM_T sum_t;

// Sum of each chunk.
WEFT_KERNEL void scan_cpu_reduce(__global const WEFT_IN_T *in, __global WEFT_SUM_T *sums, ulong n, ulong chunk,
                                 ulong chunks)
{
    ulong g = get_global_id(0);
    if (g >= chunks)
        return;
    ulong i = g * chunk, end = min(i + chunk, n);
    sum_t strand[8] = {0}, sum = 0;
    for (; i + 8 <= end; i += 8)
        for (uint k = 0; k < 8; k++)
            strand[k] += in[i + k];
    for (uint k = 0; k < 8; k++)
        sum += strand[k];
    for (; i < end; i++)
        sum += in[i];
    sums[g] = sum;
}

// Prefix sums of each chunk, from the sums of the chunks before it.
WEFT_KERNEL void scan_cpu_down(__global const WEFT_IN_T *in, __global const WEFT_SUM_T *sums, __global WEFT_SUM_T *out,
                               ulong n, ulong chunk, ulong chunks, uint total)
{
    ulong g = get_global_id(0);
    if (g >= chunks)
        return;
    ulong i = g * chunk, end = min(i + chunk, n);
    sum_t carry = 0;
    for (ulong k = 0; k < g; k++)
        carry += sums[k];
    for (; i + 4 <= end; i += 4) {
        sum_t v0 = in[i], v1 = in[i + 1], v2 = in[i + 2], v3 = in[i + 3];
        sum_t s1 = v0 + v1, s2 = s1 + v2, s3 = s1 + (v2 + v3);
        out[i] = carry + (WEFT_INCLUSIVE ? v0 : 0);
        out[i + 1] = carry + (WEFT_INCLUSIVE ? s1 : v0);
        out[i + 2] = carry + (WEFT_INCLUSIVE ? s2 : s1);
        out[i + 3] = carry + (WEFT_INCLUSIVE ? s3 : s2);
        carry += s3;
    }
    for (; i < end; i++) {
        sum_t v = in[i], next = carry + v;
        out[i] = WEFT_INCLUSIVE ? next : carry;
        carry = next;
    }
    if (total && g == chunks - 1)
        out[n] = carry;
}
