// SPDX-License-Identifier: Apache-2.0
// y = alpha*A*x + beta*y, A CSR m x n; a row per work-item.
// Source:  the parallel SpMV / CSR kernel of D. Kirk, W. Hwu, Programming Massively Parallel Processors, chapter on
//          sparse matrices; alpha, beta and blocks of rows are ours.
// Mapping: 1-D; work-group g owns WG*chunk rows from g*WG*chunk on, then as many further on, until m. A work-item takes every WG-th
//          of them, IPT at a time: their reads are in flight together.
// Local:   none.
// Needs:   chunk a multiple of IPT; row_ptr[m] == nnz; any row length, empty rows allowed.
// Gives:   y.
// Order:   entries of a row from the left; repeatable, whatever the device's width.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_IPT
#error "WEFT_IPT: rows of a work-item at a time"
#endif

WEFT_KERNEL void spmv_csr_scalar(__global const ofs_t *restrict row_ptr, __global const idx_t *restrict col,
                                 __global const val_t *restrict val, __global const val_t *restrict x,
                                 __global val_t *restrict y, idx_t m, idx_t chunk, acc_t alpha, acc_t beta)
{
    const long group = (long)WEFT_WG * chunk;
    for (long at = (long)get_group_id(0) * group; at < m; at += (long)get_num_groups(0) * group)
        for (long first = at + get_local_id(0); first < min(at + group, (long)m); first += WEFT_WG * WEFT_IPT) {
#if WEFT_IPT == 1 // nothing but a row: compilers unroll the loop
            const ofs_t end = row_ptr[first + 1];
            acc_t sum = ZERO;
            for (ofs_t p = row_ptr[first]; p < end; p++)
                sum = plus(sum, times(read_val(val, p), (acc_t)x[col[p]]));
            put(y, (idx_t)first, sum, alpha, beta);
#else
            ofs_t p[WEFT_IPT], length[WEFT_IPT], longest = 0;
            acc_t sum[WEFT_IPT];
#pragma unroll
            for (int k = 0; k < WEFT_IPT; k++) {
                const long row = min(first + k * WEFT_WG, (long)m - 1);
                p[k] = row_ptr[row];
                length[k] = row_ptr[row + 1] - p[k];
                longest = max(longest, length[k]);
                sum[k] = ZERO;
            }
            for (ofs_t i = 0; i < longest; i++)
#pragma unroll
                for (int k = 0; k < WEFT_IPT; k++)
                    if (i < length[k])
                        sum[k] = plus(sum[k], times(read_val(val, p[k] + i), (acc_t)x[col[p[k] + i]]));
#pragma unroll
            for (int k = 0; k < WEFT_IPT; k++)
                if (first + k * WEFT_WG < m)
                    put(y, (idx_t)(first + k * WEFT_WG), sum[k], alpha, beta);
#endif
        }
}
