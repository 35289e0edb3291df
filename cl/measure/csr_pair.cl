// SPDX-License-Identifier: Apache-2.0
// y = A*x, A CSR, a row per work-item, with the sum in y or in a variable: for study, not for use (docs/profiling.md).
// Source:  two forms of a kernel of PARALUTION, and the pseudocode of the second, in a study of SpMV by the profilers of
//          ATI and NVIDIA.
// Mapping: 1-D; work-item i owns row i.
// Local:   none.
// Needs:   WEFT_WG; row_ptr[m] == nnz; any row length, empty rows allowed.
// Gives:   y.
// Order:   entries of a row from the left.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_VAL_BITS
#error "WEFT_VAL_BITS: width of a value, 32 or 64"
#endif
#ifndef WEFT_OFS_BITS
#error "WEFT_OFS_BITS: width of an offset, 32 or 64"
#endif

// The sum is y[row] itself, and the bounds of the loop are read as it goes.
// No `restrict`: then every step reads and writes y, as the name says.
WEFT_KERNEL void csr_naive(__global const ofs_t *row_ptr, __global const idx_t *col, __global const val_t *val,
                           __global const val_t *x, __global val_t *y, idx_t m)
{
    idx_t row = (idx_t)get_global_id(0);
    if (row >= m)
        return;
    y[row] = 0;
    for (ofs_t p = row_ptr[row]; p < row_ptr[row + 1]; p++)
        y[row] = y[row] + val[p] * x[col[p]];
}

// The sum and the bounds are variables, y is written once.
WEFT_KERNEL void csr_private(__global const ofs_t *row_ptr, __global const idx_t *col, __global const val_t *val,
                             __global const val_t *x, __global val_t *y, idx_t m)
{
    idx_t row = (idx_t)get_global_id(0);
    if (row >= m)
        return;
    ofs_t end = row_ptr[row + 1];
    val_t sum = 0;
    for (ofs_t p = row_ptr[row]; p < end; p++)
        sum = sum + val[p] * x[col[p]];
    y[row] = sum;
}
