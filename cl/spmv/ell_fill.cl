// SPDX-License-Identifier: Apache-2.0
// CSR to ELL or sliced ELL: entries by columns within slices of `height` rows, padding marked by column -1.
// Source:  -
// Mapping: 1-D; `chunk` places (rows of a slice) per work-item, then strides by the global size.
// Local:   none.
// Needs:   slice_ptr, perm (SORTED) as spmv/ell.cl has them; places is a multiple of height, m at most places; entries
//          of a row beyond the width of its slice are left out.
// Gives:   every element of ell_col, and of ell_val where the matrix has values (0 in padding).
// Order:   none.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_SORTED
#error "WEFT_SORTED: 0 or 1"
#endif

WEFT_INLINE void place_fill(__global const ofs_t *row_ptr, __global const idx_t *col, __global const bits_t *val,
                            __global const idx_t *perm, __global const long *slice_ptr, __global idx_t *ell_col,
                            __global bits_t *ell_val, long place, idx_t m, uint height)
{
    const uint slice = (uint)place / height;
    const long base = slice_ptr[slice], end = slice_ptr[slice + 1u];
    ofs_t p = 0, stop = 0;
    if (place < m) {
        idx_t row = WEFT_SORTED ? perm[place] : (idx_t)place;
        p = row_ptr[row];
        stop = row_ptr[row + 1];
    }
    for (long to = base + ((uint)place - slice * height); to < end; to += height) {
        const bool there = p < stop;
        ell_col[to] = there ? col[p] : -1;
#if WEFT_VAL_BITS > 0
        ell_val[to] = there ? val[p] : (bits_t)0;
#endif
        p += there;
    }
}

WEFT_KERNEL void ell_fill(__global const ofs_t *restrict row_ptr, __global const idx_t *restrict col,
                          __global const bits_t *restrict val, __global const idx_t *restrict perm,
                          __global const long *restrict slice_ptr, __global idx_t *restrict ell_col,
                          __global bits_t *restrict ell_val, idx_t m, uint height, ulong places, uint chunk)
{
    for (ulong first = get_global_id(0) * chunk; first < places; first += get_global_size(0) * chunk)
        for (ulong place = first; place < min(first + chunk, places); place++)
            place_fill(row_ptr, col, val, perm, slice_ptr, ell_col, ell_val, (long)place, m, height);
}
