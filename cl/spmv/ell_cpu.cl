// SPDX-License-Identifier: Apache-2.0
// y = alpha*A*x + beta*y, A in slices of `height` rows stored by columns (spmv/ell.cl); BLOCK rows together.
// Source:  as spmv/ell.cl; the sums of a block stay in registers, or in the first cache where a block is long.
// Mapping: 1-D; work-item g owns places g*chunk .. (g+1)*chunk-1, by blocks of BLOCK. Columns of ELL lie a whole matrix
//          apart: a long block reads a page of each, a short one would meet a new page with every line.
// Local:   none.
// Needs:   BLOCK is height and divides chunk, or is greater than 32 and lies within one slice; arrays as for spmv/ell.cl.
// Gives:   y.
// Order:   entries of a row from the left; repeatable, the bits of spmv/ell.cl.

#ifndef WEFT_BLOCK
#error "WEFT_BLOCK: rows together"
#endif

WEFT_KERNEL void spmv_ell_cpu(__global const long *restrict slice_ptr, __global const idx_t *restrict col,
                              __global const val_t *restrict val, __global const idx_t *restrict perm,
                              __global const val_t *restrict x, __global val_t *restrict y, idx_t m, uint height,
                              uint chunk, acc_t alpha, acc_t beta)
{
    blocks_put(slice_ptr, 0, col, val, perm, x, y, m, height, chunk, alpha, beta);
}
