// SPDX-License-Identifier: Apache-2.0
// y = alpha*A*x + beta*y, A in slices of `height` rows, each padded to its longest row and stored by columns: ELL (one
// slice) and sliced ELL, SELL-C-sigma.
// Source:  D. Kirk, W. Hwu, Programming Massively Parallel Processors, ELL; M. Kreutzer et al., A Unified Sparse Matrix
//          Data Format for Efficient General Sparse Matrix-Vector Multiplication on Modern Processors with Wide SIMD
//          Units, SIAM J. Sci. Comput. 36(5), 2014. Ours: padding is marked by column -1 and not multiplied, so that
//          infinities in x and semirings without a zero product stay right.
// Mapping: 1-D; a row per work-item, then strides by the global size.
// Local:   none.
// Needs:   IPT 1 .. 8 entries read together; slice s at slice_ptr[s] .. slice_ptr[s+1]-1; entry k of its row r at
//          slice_ptr[s] + k*height + r; perm[i] is the row stored at place i (SORTED), else row i.
// Gives:   y.
// Order:   entries of a row from the left; repeatable, whatever the device's width.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_IPT
#error "WEFT_IPT: entries of a row read together"
#endif
#ifndef WEFT_SORTED
#error "WEFT_SORTED: 0 or 1"
#endif

WEFT_KERNEL void spmv_ell(__global const long *restrict slice_ptr, __global const idx_t *restrict col,
                          __global const val_t *restrict val, __global const idx_t *restrict perm,
                          __global const val_t *restrict x, __global val_t *restrict y, idx_t m, uint height,
                          acc_t alpha, acc_t beta)
{
    for (long place = (long)get_global_id(0); place < m; place += (long)get_global_size(0)) {
        const uint slice = (uint)place / height;
        const long base = slice_ptr[slice], begin = base + ((uint)place - slice * height);
        const int width = (int)((slice_ptr[slice + 1u] - base) / height);
        acc_t sum = ZERO;
        for (int k = 0; k < width; k += WEFT_IPT) {
            idx_t c[WEFT_IPT];
            acc_t a[WEFT_IPT], b[WEFT_IPT];
            for (int i = 0; i < WEFT_IPT; i++) { // past the end, the last entry again: no branch around a load
                long p = begin + (long)min(k + i, width - 1) * height;
                c[i] = read_col_at(col, p);
                a[i] = read_val_at(val, p);
            }
            for (int i = 0; i < WEFT_IPT; i++)
                b[i] = (acc_t)x[max(c[i], 0)];
            for (int i = 0; i < WEFT_IPT; i++)
                sum = k + i < width && c[i] >= 0 ? plus(sum, times(a[i], b[i])) : sum;
            if (c[WEFT_IPT - 1] < 0)
                break; // the rest of the row is padding
        }
        put(y, WEFT_SORTED ? perm[place] : (idx_t)place, sum, alpha, beta);
    }
}
