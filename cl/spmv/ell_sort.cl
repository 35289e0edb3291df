// SPDX-License-Identifier: Apache-2.0
// Rows by falling length within windows of SIGMA rows; equal lengths keep their order.
// Source:  K. Batcher, Sorting networks and their applications, 1968, the bitonic sorter.
// Mapping: 1-D; a window per work-group, then strides by the number of groups.
// Local:   8*SIGMA bytes.
// Needs:   SIGMA a power of two, 2 or more; WG a power of two.
// Gives:   perm[0 .. m-1]: the row at each place.
// Order:   unique: keys differ by the row.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_SIGMA
#error "WEFT_SIGMA: rows of a window"
#endif
#if WEFT_SIGMA < 2 || (WEFT_SIGMA & (WEFT_SIGMA - 1))
#error "WEFT_SIGMA: a power of two"
#endif

WEFT_INLINE void keys_sort(__local ulong *keys)
{
    for (uint run = 2u; run <= WEFT_SIGMA; run <<= 1)
        for (uint d = run >> 1; d > 0u; d >>= 1) {
            for (uint i = (uint)get_local_id(0); i < WEFT_SIGMA / 2u; i += WEFT_WG) {
                uint lo = 2u * i - (i & (d - 1u)), hi = lo + d;
                ulong a = keys[lo], b = keys[hi];
                if ((a > b) == ((lo & run) == 0u)) {
                    keys[lo] = b;
                    keys[hi] = a;
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
}

WEFT_KERNEL void ell_sort(__global const ofs_t *restrict row_ptr, __global idx_t *restrict perm, idx_t m)
{
    __local ulong keys[WEFT_SIGMA];
    for (long first = (long)get_group_id(0) * WEFT_SIGMA; first < m; first += (long)get_num_groups(0) * WEFT_SIGMA) {
        for (uint i = (uint)get_local_id(0); i < WEFT_SIGMA; i += WEFT_WG) {
            long row = first + i;
            ulong length = row < m ? (ulong)(row_ptr[row + 1] - row_ptr[row]) : 0ul;
            keys[i] = row < m ? (min(0xfffffffful - length, 0xfffffffful) << 32) | i : ULONG_MAX;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        keys_sort(keys);
        for (uint i = (uint)get_local_id(0); i < WEFT_SIGMA; i += WEFT_WG)
            if (first + i < m)
                perm[first + i] = (idx_t)(first + (uint)keys[i]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
