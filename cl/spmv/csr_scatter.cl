// SPDX-License-Identifier: Apache-2.0
// y = y + alpha*A^T*x, A CSR m x n, without a transpose: products are added to y by atomics.
// Source:  the column-wise product of Y. Tao et al., Atomic-based transposed SpMV, PADSW 2014, in outline.
// Mapping: 1-D; LPR work-items own a row, then as many rows further on, until m.
// Local:   none.
// Needs:   LPR divides WG; the atomics of WEFT_ATOMIC in spmv/spmv.clh.
// Gives:   y, n elements.
// Order:   as the device comes to it: sums of floating-point values differ from run to run.

#if !defined(WEFT_WG) || !defined(WEFT_LPR) || !defined(WEFT_ATOMIC)
#error "WEFT_WG: work-group size; WEFT_LPR: work-items per row; WEFT_ATOMIC: for add_to()"
#endif

WEFT_KERNEL void spmv_csr_scatter(__global const ofs_t *restrict row_ptr, __global const idx_t *restrict col,
                                  __global const val_t *restrict val, __global const val_t *restrict x,
                                  __global val_t *restrict y, idx_t m, acc_t alpha)
{
    const long step = (long)get_global_size(0) / WEFT_LPR;
    for (long row = (long)get_global_id(0) / WEFT_LPR; row < m; row += step) {
        const acc_t at = (acc_t)x[row];
        const ofs_t end = row_ptr[row + 1];
        for (pos_t p = (pos_t)row_ptr[row] + (pos_t)(get_global_id(0) % WEFT_LPR); p < end; p += WEFT_LPR)
            add_to(y + read_col(col, p), scaled(times(read_val(val, p), at), alpha));
    }
}
