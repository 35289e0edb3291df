// SPDX-License-Identifier: Apache-2.0
// CSR to ELL or sliced ELL, as spmv/ell_fill.cl.
// Source:  -
// Mapping: 1-D; `chunk` places per work-item, then strides by the global size; 8 rows of a slice together, so that no branch
//          depends on where a row ends. col and val are volatile: of their reads compilers would make gathers (spmv/spmv.clh).
// Local:   none.
// Needs:   as spmv/ell_fill.cl; height and chunk are multiples of 8.
// Gives:   as spmv/ell_fill.cl.
// Order:   none.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_SORTED
#error "WEFT_SORTED: 0 or 1"
#endif

#define BLOCK 8

WEFT_KERNEL void ell_fill_cpu(__global const ofs_t *restrict row_ptr, __global const volatile idx_t *restrict col,
                              __global const volatile bits_t *restrict val, __global const idx_t *restrict perm,
                              __global const long *restrict slice_ptr, __global idx_t *restrict ell_col,
                              __global bits_t *restrict ell_val, idx_t m, uint height, ulong places, uint chunk)
{
    for (ulong first = get_global_id(0) * chunk; first < places; first += get_global_size(0) * chunk)
        for (ulong place = first; place < min(first + chunk, places); place += BLOCK) {
            const uint slice = (uint)place / height;
            const long end = slice_ptr[slice + 1u];
            ofs_t p[BLOCK], stop[BLOCK];
            for (int r = 0; r < BLOCK; r++) {
                const bool there = (long)place + r < m;
                const idx_t row = !there ? 0 : WEFT_SORTED ? perm[place + r] : (idx_t)(place + r);
                p[r] = there ? row_ptr[row] : 0;
                stop[r] = there ? row_ptr[row + 1] : 0;
            }
            long to = slice_ptr[slice] + ((uint)place - slice * height);
            ofs_t shared = stop[0] - p[0]; // steps that all rows have; none where row pointers fall
            for (int r = 1; r < BLOCK; r++)
                shared = min(shared, stop[r] - p[r]);
            shared = max(shared, (ofs_t)0);
            for (ofs_t k = 0; k < shared && to < end; k++, to += height)
                for (int r = 0; r < BLOCK; r++) {
                    ell_col[to + r] = col[p[r] + k];
#if WEFT_VAL_BITS > 0
                    ell_val[to + r] = val[p[r] + k];
#endif
                }
            for (int r = 0; r < BLOCK; r++)
                p[r] += shared;
            for (; to < end; to += height)
                for (int r = 0; r < BLOCK; r++) {
                    const bool there = p[r] < stop[r];
                    ell_col[to + r] = there ? col[p[r]] : -1;
#if WEFT_VAL_BITS > 0
                    ell_val[to + r] = there ? val[p[r]] : (bits_t)0;
#endif
                    p[r] += there;
                }
        }
}
