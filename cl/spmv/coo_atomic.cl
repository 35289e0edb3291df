// SPDX-License-Identifier: Apache-2.0
// y = y + alpha*A*x, A as coordinates; an entry per work-item, added to y by an atomic.
// Source:  D. Kirk, W. Hwu, Programming Massively Parallel Processors, the parallel SpMV / COO kernel.
// Mapping: 1-D; work-items stride over the entries by the global size.
// Local:   none.
// Needs:   entries in any order; the atomics of WEFT_ATOMIC in spmv/spmv.clh.
// Gives:   y.
// Order:   as the device comes to it: sums of floating-point values differ from run to run.

#if !defined(WEFT_WG) || !defined(WEFT_ATOMIC)
#error "WEFT_WG: work-group size; WEFT_ATOMIC: for add_to()"
#endif

WEFT_KERNEL void spmv_coo_atomic(__global const idx_t *restrict row, __global const idx_t *restrict col,
                                 __global const val_t *restrict val, __global const val_t *restrict x,
                                 __global val_t *restrict y, long nnz, acc_t alpha)
{
    for (long p = (long)get_global_id(0); p < nnz; p += (long)get_global_size(0))
        add_to(y + row[p], scaled(times(read_val_at(val, p), (acc_t)x[read_col_at(col, p)]), alpha));
}
