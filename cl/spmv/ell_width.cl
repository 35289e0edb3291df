// SPDX-License-Identifier: Apache-2.0
// Elements of each slice of sliced ELL: height times the longest of its rows.
// Source:  -
// Mapping: 1-D; a slice per work-item, `chunk` slices on a CPU, then strides by the global size.
// Local:   none.
// Needs:   perm (SORTED): the row stored at each place.
// Gives:   size[0 .. slices-1].
// Order:   integers only.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_SORTED
#error "WEFT_SORTED: 0 or 1"
#endif

WEFT_KERNEL void ell_width(__global const ofs_t *restrict row_ptr, __global const idx_t *restrict perm,
                           __global long *restrict size, idx_t m, uint height, uint slices, uint chunk)
{
    for (ulong begin = get_global_id(0) * chunk; begin < slices; begin += get_global_size(0) * chunk)
        for (ulong slice = begin; slice < min(begin + chunk, (ulong)slices); slice++) {
            long first = (long)slice * height, last = min(first + (long)height, (long)m), longest = 0;
            for (long place = first; place < last; place++) {
                idx_t row = WEFT_SORTED ? perm[place] : (idx_t)place;
                longest = max(longest, (long)(row_ptr[row + 1] - row_ptr[row]));
            }
            size[slice] = longest * height;
        }
}
