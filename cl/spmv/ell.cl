// SPDX-License-Identifier: Apache-2.0
// y = alpha*A*x + beta*y, A in slices of `height` rows, each padded to its longest row and stored by columns: ELL (one
// slice) and sliced ELL, SELL-C-sigma.
// Source:  D. Kirk, W. Hwu, Programming Massively Parallel Processors, ELL; M. Kreutzer et al., A Unified Sparse Matrix
//          Data Format for Efficient General Sparse Matrix-Vector Multiplication on Modern Processors with Wide SIMD
//          Units, SIAM J. Sci. Comput. 36(5), 2014. Ours: padding is marked by column -1 and not multiplied, so that
//          infinities in x and semirings without a zero product stay right.
// Mapping: 1-D; a row per work-item, as rows_put of spmv/ell.clh.
// Local:   none.
// Needs:   IPT 1 .. 8 entries read together; HEIGHT is height, or 0 (a slice of all rows); slice s at slice_ptr[s] ..
//          slice_ptr[s+1]-1; entry k of its row r at slice_ptr[s] + k*height + r; perm[i] is the row stored at place i
//          (SORTED), else row i. spmv_ell_packed has all arrays in one, slice_ptr first, the others at so many bytes from its begin.
// Gives:   y.
// Order:   entries of a row from the left; repeatable, whatever the device's width.

#ifndef WEFT_IPT
#error "WEFT_IPT: entries of a row read together"
#endif
#ifndef WEFT_HEIGHT
#error "WEFT_HEIGHT: rows of a slice, 0: as many as are told"
#endif

// Arrays in buffers of their own.
WEFT_KERNEL void spmv_ell(__global const long *restrict slice_ptr, __global const idx_t *restrict col,
                          __global const val_t *restrict val, __global const idx_t *restrict perm,
                          __global const val_t *restrict x, __global val_t *restrict y, idx_t m, uint height,
                          acc_t alpha, acc_t beta, uint backward)
{
    rows_put(slice_ptr, 0, col, val, perm, x, y, m, height, alpha, beta, backward);
}

// The same with fewer buffers: a driver takes longer to launch a kernel the more of them it has.
WEFT_KERNEL void spmv_ell_packed(__global const uchar *restrict all, __global const val_t *restrict x,
                                 __global val_t *restrict y, long col_at, long val_at, long perm_at, idx_t m,
                                 uint height, acc_t alpha, acc_t beta)
{
    rows_put((__global const long *)all, 0, (__global const idx_t *)(all + col_at),
             (__global const val_t *)(all + val_at), (__global const idx_t *)(all + perm_at), x, y, m, height, alpha,
             beta, 0u);
}
