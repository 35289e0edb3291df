// SPDX-License-Identifier: Apache-2.0
// Elements of each slice of sliced ELL: height times the longest of its rows.
// Source:  -
// Mapping: 1-D; a slice per work-item, then strides by the global size.
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
                           __global long *restrict size, idx_t m, uint height, uint slices)
{
    for (ulong slice = get_global_id(0); slice < slices; slice += get_global_size(0)) {
        long first = (long)slice * height, last = min(first + (long)height, (long)m), longest = 0;
        for (long place = first; place < last; place++) {
            idx_t row = WEFT_SORTED ? perm[place] : (idx_t)place;
            longest = max(longest, (long)(row_ptr[row + 1] - row_ptr[row]));
        }
        size[slice] = longest * height;
    }
}
