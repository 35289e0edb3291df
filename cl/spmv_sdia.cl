// SPDX-License-Identifier: Apache-2.0
// y = alpha*A*x + beta*y, A in sliced DIA: of each 32 rows the diagonals that they touch, with a mask of the rows that
// have an entry there (sdia_pack_gpu.cl). An entry costs its value, and a diagonal 8 bytes for 32 rows.
// Source:  as sdia_pack_gpu.cl.
// Mapping: 1-D; a row per work-item, then strides by the global size.
// Local:   none.
// Needs:   IPT 1 .. 8 entries read together; slots slice_ptr[s] .. slice_ptr[s+1]-1 of slice s ascend by offset; slot k is
//          (offset, mask), and row r of the slice has the value val[k*32 + r] in column row + offset where bit r of the
//          mask is set. Other values are not multiplied, and x is not read for them but at 0.
// Gives:   y.
// Order:   entries of a row from the left; repeatable, the bits of spmv_ell.cl for rows whose columns ascend.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_IPT
#error "WEFT_IPT: entries of a row read together"
#endif

WEFT_KERNEL void spmv_sdia(__global const long *restrict slice_ptr, __global const int2 *restrict slot,
                           __global const val_t *restrict val, __global const val_t *restrict x,
                           __global val_t *restrict y, idx_t m, acc_t alpha, acc_t beta)
{
    for (long row = (long)get_global_id(0); row < m; row += (long)get_global_size(0)) {
        const uint slice = (uint)row / 32u, r = (uint)row & 31u;
        const long begin = slice_ptr[slice];
        const uint count = (uint)(slice_ptr[slice + 1u] - begin);
        acc_t sum = ZERO;
        for (uint k = 0; k < count; k += WEFT_IPT) {
            idx_t c[WEFT_IPT];
            bool on[WEFT_IPT];
            acc_t a[WEFT_IPT], b[WEFT_IPT];
            for (int i = 0; i < WEFT_IPT; i++) { // past the end, the last slot again: no branch around a load
                const long at = begin + min(k + (uint)i, count - 1u);
                const int2 s = slot[at];
                on[i] = k + (uint)i < count && ((uint)s.y >> r & 1u);
                c[i] = on[i] ? (idx_t)row + s.x : 0;
                a[i] = read_val_at(val, at * 32 + r);
            }
            for (int i = 0; i < WEFT_IPT; i++)
                b[i] = (acc_t)x[c[i]];
            for (int i = 0; i < WEFT_IPT; i++)
                sum = on[i] ? plus(sum, times(a[i], b[i])) : sum;
        }
        put(y, (idx_t)row, sum, alpha, beta);
    }
}
