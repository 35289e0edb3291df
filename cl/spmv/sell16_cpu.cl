// SPDX-License-Identifier: Apache-2.0
// y = alpha*A*x + beta*y, A in sliced ELL with columns in 16 bits (spmv/sell16.cl); BLOCK rows together.
// Source:  as spmv/sell16.cl; rows side by side in the registers of one work-item.
// Mapping: 1-D; work-item g owns places g*chunk .. (g+1)*chunk-1, by blocks of BLOCK.
// Local:   none.
// Needs:   BLOCK 1 .. 32 is height and divides chunk; arrays as for spmv/sell16.cl.
// Gives:   y.
// Order:   entries of a row from the left; repeatable, the bits of spmv/ell.cl.

#ifndef WEFT_BLOCK
#error "WEFT_BLOCK: rows together"
#endif
#ifndef WEFT_PAD
#error "WEFT_PAD: 65535, the distance that stands for padding"
#endif

WEFT_KERNEL void spmv_sell16_cpu(__global const long *restrict slice_ptr, __global const idx_t *restrict base,
                                 __global const ushort *restrict col, __global const val_t *restrict val,
                                 __global const idx_t *restrict perm, __global const val_t *restrict x,
                                 __global val_t *restrict y, idx_t m, uint height, uint chunk, acc_t alpha, acc_t beta)
{
    blocks_put(slice_ptr, base, col, val, perm, x, y, m, height, chunk, alpha, beta);
}
