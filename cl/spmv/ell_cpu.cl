// SPDX-License-Identifier: Apache-2.0
// y = alpha*A*x + beta*y, A in slices of `height` rows stored by columns (spmv/ell.cl); BLOCK rows together.
// Source:  as spmv/ell.cl; the sums of a block stay in registers, or in the first cache where a block is long.
// Mapping: 1-D; work-item g owns places g*chunk .. (g+1)*chunk-1, by blocks of BLOCK. Columns of ELL lie a whole matrix
//          apart: a long block reads a page of each, a short one would meet a new page with every line.
// Local:   none.
// Needs:   BLOCK divides height and chunk, or is greater than 32 and lies within one slice; arrays as for spmv/ell.cl.
// Gives:   y.
// Order:   entries of a row from the left; repeatable, the bits of spmv/ell.cl.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_BLOCK
#error "WEFT_BLOCK: rows together"
#endif
#ifndef WEFT_SORTED
#error "WEFT_SORTED: 0 or 1"
#endif

WEFT_KERNEL void spmv_ell_cpu(__global const long *restrict slice_ptr, __global const idx_t *restrict col,
                              __global const val_t *restrict val, __global const idx_t *restrict perm,
                              __global const val_t *restrict x, __global val_t *restrict y, idx_t m, uint height,
                              uint chunk, acc_t alpha, acc_t beta)
{
    const long first = (long)get_global_id(0) * chunk, last = min(first + (long)chunk, (long)m);
    for (long place = first; place < last; place += WEFT_BLOCK) {
        const uint slice = (uint)place / height;
        const long base = slice_ptr[slice], end = slice_ptr[slice + 1u];
        const int rows = WEFT_BLOCK > 32 ? (int)min((long)WEFT_BLOCK, last - place) : WEFT_BLOCK;
        acc_t sum[WEFT_BLOCK];
        for (int r = 0; r < rows; r++)
            sum[r] = ZERO;
        for (long p = base + ((uint)place - slice * height); p < end; p += height)
            for (int r = 0; r < rows; r++) {
                idx_t c = col[p + r];
                acc_t next = plus(sum[r], times(read_val_at(val, p + r), (acc_t)x[max(c, 0)]));
                sum[r] = c >= 0 ? next : sum[r];
            }
        for (int r = 0; r < rows && place + r < last; r++)
            put(y, WEFT_SORTED ? perm[place + r] : (idx_t)(place + r), sum[r], alpha, beta);
    }
}
