// SPDX-License-Identifier: Apache-2.0
// Prefix sums: out[i] = in[0] + ... + in[i-1] (exclusive) or + in[i] (inclusive); a chunk per work-item, two passes.
// Source:  G. Blelloch, Prefix sums and their applications, 1990, section 1.4.
// Mapping: 1-D; work-item g owns elements g*chunk .. (g+1)*chunk-1 and walks them by vectors of 8.
// Local:   none.
// Needs:   chunk > 0, a multiple of 8. in may be out when the types have one width.
// Gives:   scan_cpu_reduce: sums[g] = sum of chunk g.  scan_cpu_down: out, and with `total` out[n].
// Order:   vectors of 8 by doubling distance, then vectors from the left, then chunks from the left; depends on chunk.

#if !defined(WEFT_WG)
#error "WEFT_WG: work-group size"
#endif
#if !defined(WEFT_IN_T) || !defined(WEFT_SUM_T)
#error "WEFT_IN_T, WEFT_SUM_T: types of an element and of a sum"
#endif
#if !defined(WEFT_INCLUSIVE)
#error "WEFT_INCLUSIVE: 0 or 1"
#endif

#define PASTE2(a, b) a##b
#define PASTE(a, b)  PASTE2(a, b)
typedef WEFT_IN_T in_t;
typedef WEFT_SUM_T sum_t;
typedef PASTE(WEFT_SUM_T, 8) sum8_t;
#define TO_SUM8 PASTE(PASTE(convert_, WEFT_SUM_T), 8)

WEFT_KERNEL void scan_cpu_reduce(__global const WEFT_IN_T *in, __global WEFT_SUM_T *sums, ulong n, ulong chunk,
                                 ulong chunks)
{
    ulong g = get_global_id(0);
    if (g >= chunks)
        return;
    ulong i = g * chunk, end = min(i + chunk, n);
    sum8_t a = 0, b = 0, c = 0, d = 0;
    for (; i + 32 <= end; i += 32) {
        a += TO_SUM8(vload8(0, in + i));
        b += TO_SUM8(vload8(1, in + i));
        c += TO_SUM8(vload8(2, in + i));
        d += TO_SUM8(vload8(3, in + i));
    }
    a = (a + b) + (c + d);
    sum_t sum = ((a.s0 + a.s1) + (a.s2 + a.s3)) + ((a.s4 + a.s5) + (a.s6 + a.s7));
    for (; i < end; i++)
        sum += in[i];
    sums[g] = sum;
}

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
    for (; i + 8 <= end; i += 8) {
        sum8_t x = TO_SUM8(vload8(0, in + i));
        x += (sum8_t)(0, x.s0123, x.s456);
        x += (sum8_t)(0, 0, x.s0123, x.s45);
        x += (sum8_t)(0, 0, 0, 0, x.s0123);
        sum8_t y = carry + (WEFT_INCLUSIVE ? x : (sum8_t)(0, x.s0123, x.s456));
        carry += x.s7;
        vstore8(y, 0, out + i);
    }
    for (; i < end; i++) {
        sum_t v = in[i], next = carry + v;
        out[i] = WEFT_INCLUSIVE ? next : carry;
        carry = next;
    }
    if (total && g == chunks - 1)
        out[n] = carry;
}
