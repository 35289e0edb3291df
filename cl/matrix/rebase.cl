// SPDX-License-Identifier: Apache-2.0
// Row pointers and columns of a CSR matrix from one base to the other: each plus `by`.
// Source:  -
// Mapping: 1-D; work-items stride over both arrays by the global size.
// Needs:   WEFT_WG, WEFT_OFS_BITS; every sum fits.   Gives: row_ptr[0 .. m], col[0 .. nnz-1].   Order: none.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_OFS_BITS
#error "WEFT_OFS_BITS: width of row_ptr"
#endif

WEFT_KERNEL void rebase(__global ofs_t *row_ptr, __global idx_t *col, ulong m, ulong nnz, int by)
{
    for (ulong i = get_global_id(0); i <= m; i += get_global_size(0))
        row_ptr[i] += by;
    for (ulong p = get_global_id(0); p < nnz; p += get_global_size(0))
        col[p] += by;
}
