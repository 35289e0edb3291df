// SPDX-License-Identifier: Apache-2.0
// out[i] = in[i], 16 bytes at a time: what a device can move, the ceiling that results are measured against.
// Source:  -
// Mapping: 1-D; COPY_CHUNKED 0: work-items stride over the vectors by the global size (neighbours touch neighbours);
//          COPY_CHUNKED 1: each work-item copies one contiguous chunk (CPU devices).
// Needs:   WEFT_WG, COPY_CHUNKED.   Gives: every vector written.   Order: none.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef COPY_CHUNKED
#error "COPY_CHUNKED: 0 strided by the global size, 1 a contiguous chunk for each work-item"
#endif

WEFT_KERNEL void copy(__global const uint4 *restrict in, __global uint4 *restrict out, ulong count)
{
#if COPY_CHUNKED
    ulong chunk = (count + get_global_size(0) - 1) / get_global_size(0);
    ulong first = min(count, get_global_id(0) * chunk), end = min(count, first + chunk);
    for (ulong i = first; i < end; i++)
        out[i] = in[i];
#else
    for (ulong i = get_global_id(0); i < count; i += get_global_size(0))
        out[i] = in[i];
#endif
}
