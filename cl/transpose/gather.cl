// SPDX-License-Identifier: Apache-2.0
// out[i] = in[from[i]], words of 32 or 64 bits: the values of a transpose whose permutation is known.
// Source:  -
// Mapping: 1-D; GATHER_CHUNKED 0: work-items stride over the elements by the global size (neighbours touch
//          neighbours); GATHER_CHUNKED 1: each work-item owns one contiguous chunk (CPU devices).
// Local:   none.
// Needs:   WEFT_WG, GATHER_CHUNKED; 0 <= from[i] < elements of in.
// Gives:   every element of out.   Order: none.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef GATHER_CHUNKED
#error "GATHER_CHUNKED: 0 strided by the global size, 1 a contiguous chunk for each work-item"
#endif

#if GATHER_CHUNKED
#define FIRST(count) min((ulong)(count), get_global_id(0) * CHUNK(count))
#define END(count)   min((ulong)(count), FIRST(count) + CHUNK(count))
#define CHUNK(count) (((count) + get_global_size(0) - 1) / get_global_size(0))
#define STEP         1
#else
#define FIRST(count) get_global_id(0)
#define END(count)   (count)
#define STEP         get_global_size(0)
#endif

// Words of 32 bits: out[i] = in[from[i]].
WEFT_KERNEL void gather32(__global const ofs_t *restrict from, __global const uint *restrict in,
                          __global uint *restrict out, ulong count)
{
    for (ulong i = FIRST(count), end = END(count); i < end; i += STEP)
        out[i] = in[from[i]];
}

// Words of 64 bits: out[i] = in[from[i]].
WEFT_KERNEL void gather64(__global const ofs_t *restrict from, __global const ulong *restrict in,
                          __global ulong *restrict out, ulong count)
{
    for (ulong i = FIRST(count), end = END(count); i < end; i += STEP)
        out[i] = in[from[i]];
}
