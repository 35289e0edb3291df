// SPDX-License-Identifier: Apache-2.0
// y = alpha*A*x + beta*y, A in sliced ELL (spmv/ell.cl) with columns in 16 bits (spmv/sell16_pack.cl).
// Source:  as spmv/ell.cl; ours: the base of a step, which the rows of a slice share, so that each loads 2 bytes for 4.
// Mapping: 1-D; a row per work-item, then strides by the global size.
// Local:   none.
// Needs:   IPT 1 .. 8 entries read together; arrays as for spmv/ell.cl; entry k of row r of slice s has the column
//          base[slice_ptr[s]/height + k] + col[slice_ptr[s] + k*height + r], PAD for padding.
// Gives:   y.
// Order:   entries of a row from the left; repeatable, the bits of spmv/ell.cl.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_IPT
#error "WEFT_IPT: entries of a row read together"
#endif
#ifndef WEFT_SORTED
#error "WEFT_SORTED: 0 or 1"
#endif
#ifndef WEFT_PAD
#error "WEFT_PAD: 65535, the distance that stands for padding"
#endif

WEFT_KERNEL void spmv_sell16(__global const long *restrict slice_ptr, __global const idx_t *restrict base,
                             __global const ushort *restrict col, __global const val_t *restrict val,
                             __global const idx_t *restrict perm, __global const val_t *restrict x,
                             __global val_t *restrict y, idx_t m, uint height, acc_t alpha, acc_t beta)
{
    for (long place = (long)get_global_id(0); place < m; place += (long)get_global_size(0)) {
        const uint slice = (uint)place / height;
        const long first = slice_ptr[slice], step = first / height, begin = first + ((uint)place - slice * height);
        const int width = (int)(slice_ptr[slice + 1u] / height - step);
        acc_t sum = ZERO;
        for (int k = 0; k < width; k += WEFT_IPT) {
            idx_t c[WEFT_IPT], low[WEFT_IPT];
            acc_t a[WEFT_IPT], b[WEFT_IPT];
            for (int i = 0; i < WEFT_IPT; i++) { // past the end, the last entry again: no branch around a load
                const int at = min(k + i, width - 1);
                low[i] = base[step + at];
                c[i] = (idx_t)col[begin + (long)at * height];
                a[i] = read_val_at(val, begin + (long)at * height);
            }
            for (int i = 0; i < WEFT_IPT; i++)
                b[i] = (acc_t)x[low[i] + (c[i] == WEFT_PAD ? 0 : c[i])];
            for (int i = 0; i < WEFT_IPT; i++)
                sum = k + i < width && c[i] != WEFT_PAD ? plus(sum, times(a[i], b[i])) : sum;
            if (c[WEFT_IPT - 1] == WEFT_PAD)
                break; // the rest of the row is padding
        }
        put(y, WEFT_SORTED ? perm[place] : (idx_t)place, sum, alpha, beta);
    }
}
