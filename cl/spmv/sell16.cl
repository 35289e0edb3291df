// SPDX-License-Identifier: Apache-2.0
// y = alpha*A*x + beta*y, A in sliced ELL (spmv/ell.cl) with columns in 16 bits (spmv/sell16_pack.cl).
// Source:  as spmv/ell.cl; ours: the base of a step, which the rows of a slice share, so that each loads 2 bytes for 4.
// Mapping: 1-D; a row per work-item, as rows_put of spmv/ell.clh.
// Local:   none.
// Needs:   IPT 1 .. 8 entries read together; HEIGHT is height, or 0 (a slice of all rows); arrays as for spmv/ell.cl;
//          entry k of row r of slice s has the column base[slice_ptr[s]/height + k] + col[slice_ptr[s] + k*height + r],
//          PAD for padding.
// Gives:   y.
// Order:   entries of a row from the left; repeatable, the bits of spmv/ell.cl.

#ifndef WEFT_IPT
#error "WEFT_IPT: entries of a row read together"
#endif
#ifndef WEFT_HEIGHT
#error "WEFT_HEIGHT: rows of a slice, 0: as many as are told"
#endif
#ifndef WEFT_PAD
#error "WEFT_PAD: 65535, the distance that stands for padding"
#endif

WEFT_KERNEL void spmv_sell16(__global const long *restrict slice_ptr, __global const idx_t *restrict base,
                             __global const ushort *restrict col, __global const val_t *restrict val,
                             __global const idx_t *restrict perm, __global const val_t *restrict x,
                             __global val_t *restrict y, idx_t m, uint height, acc_t alpha, acc_t beta, uint backward)
{
    rows_put(slice_ptr, base, col, val, perm, x, y, m, height, alpha, beta, backward);
}
