// SPDX-License-Identifier: Apache-2.0
// y = alpha*A*x + beta*y, A CSR m x n; a row per work-item.
// Source:  the parallel SpMV / CSR kernel of D. Kirk, W. Hwu, Programming Massively Parallel Processors, chapter on
//          sparse matrices; alpha, beta and blocks of rows are ours.
// Mapping: 1-D; work-group g owns WG*chunk rows, those of part g or of as many parts before the last, then strides. A work-item takes
//          every WG-th of them.
// Local:   none.
// Needs:   row_ptr[m] == nnz; any row length, empty rows allowed.
// Gives:   y.
// Order:   entries of a row from the left; repeatable, whatever the device's width.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif

WEFT_KERNEL void spmv_csr_scalar(__global const ofs_t *restrict row_ptr, __global const idx_t *restrict col,
                                 __global const val_t *restrict val, __global const val_t *restrict x,
                                 __global val_t *restrict y, idx_t m, idx_t chunk, acc_t alpha, acc_t beta,
                                 uint backward)
{
    const long part = (long)WEFT_WG * chunk, parts = ((long)m + part - 1) / part;
    for (long at = (long)get_group_id(0); at < parts; at += (long)get_num_groups(0)) {
        const long begin = part_at(at, parts, backward) * part;
        for (long row = begin + get_local_id(0); row < min(begin + part, (long)m); row += WEFT_WG) {
            const ofs_t end = row_ptr[row + 1];
            acc_t sum = ZERO;
            for (ofs_t p = row_ptr[row]; p < end; p++)
                sum = plus(sum, times(read_val(val, p), (acc_t)x[col[p]]));
            put(y, (idx_t)row, sum, alpha, beta);
        }
    }
}
