// SPDX-License-Identifier: Apache-2.0
// out[i] = a[i] + s*b[i], 16 bytes at a time: two streams in, one out.
// Source:  STREAM's triad (J. McCalpin, IEEE TCCA newsletter, December 1995).
// Mapping: 1-D; TRIAD_CHUNKED 0: work-items stride over the vectors by the global size (neighbours touch neighbours);
//          TRIAD_CHUNKED 1: each work-item takes one contiguous chunk (CPU devices).
// Needs:   WEFT_WG, TRIAD_CHUNKED.   Gives: every vector written.   Order: none.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef TRIAD_CHUNKED
#error "TRIAD_CHUNKED: 0 strided by the global size, 1 a contiguous chunk for each work-item"
#endif

WEFT_KERNEL void triad(__global const float4 *restrict a, __global const float4 *restrict b,
                       __global float4 *restrict out, float s, ulong count)
{
#if TRIAD_CHUNKED
    ulong chunk = (count + get_global_size(0) - 1) / get_global_size(0);
    ulong first = min(count, get_global_id(0) * chunk), end = min(count, first + chunk);
    for (ulong i = first; i < end; i++)
        out[i] = a[i] + s * b[i];
#else
    for (ulong i = get_global_id(0); i < count; i += get_global_size(0))
        out[i] = a[i] + s * b[i];
#endif
}
