// SPDX-License-Identifier: Apache-2.0
// y = alpha*A*x + beta*y, A CSR m x n; a row per work-item.
// Source:  the parallel SpMV / CSR kernel of D. Kirk, W. Hwu, Programming Massively Parallel Processors, chapter on
//          sparse matrices; alpha, beta and blocks of rows are ours.
// Mapping: 1-D; work-group g owns WG*chunk rows from g*WG*chunk on, then as many further on, until m. A work-item takes every WG-th
//          of them.
// Local:   none.
// Needs:   row_ptr[m] == nnz; any row length, empty rows allowed.
// Gives:   y.
// Order:   entries of a row from the left; repeatable, whatever the device's width.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif

WEFT_KERNEL void spmv_csr_scalar(__global const ofs_t *restrict row_ptr, __global const idx_t *restrict col,
                                 __global const val_t *restrict val, __global const val_t *restrict x,
                                 __global val_t *restrict y, idx_t m, idx_t chunk, acc_t alpha, acc_t beta)
{
    const long group = (long)WEFT_WG * chunk;
    for (long at = (long)get_group_id(0) * group; at < m; at += (long)get_num_groups(0) * group)
        for (long row = at + get_local_id(0); row < min(at + group, (long)m); row += WEFT_WG) {
            const ofs_t end = row_ptr[row + 1];
            acc_t sum = ZERO;
            for (ofs_t p = row_ptr[row]; p < end; p++)
                sum = plus(sum, times(read_val(val, p), (acc_t)x[col[p]]));
            put(y, (idx_t)row, sum, alpha, beta);
        }
}
