// SPDX-License-Identifier: Apache-2.0
// y = alpha*A*x + beta*y, A in sliced DIA (spmv/sdia.cl); the 32 rows of a slice together.
// Source:  as spmv/sdia.cl; x is read side by side, not gathered.
// Mapping: 1-D; work-item g owns slices g*chunk .. (g+1)*chunk-1.
// Local:   none.
// Needs:   arrays as for spmv/sdia.cl.
// Gives:   y.
// Order:   entries of a row from the left; repeatable, the bits of spmv/ell.cl for rows whose columns ascend.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif

WEFT_KERNEL void spmv_sdia_cpu(__global const long *restrict slice_ptr, __global const int2 *restrict slot,
                               __global const val_t *restrict val, __global const val_t *restrict x,
                               __global val_t *restrict y, idx_t m, idx_t n, uint slices, uint chunk, acc_t alpha,
                               acc_t beta)
{
    const ulong begin = get_global_id(0) * chunk, last = min(begin + chunk, (ulong)slices);
    for (ulong slice = begin; slice < last; slice++) {
        const long first = (long)slice * 32, end = slice_ptr[slice + 1];
        acc_t sum[32];
        for (int r = 0; r < 32; r++)
            sum[r] = ZERO;
        for (long k = slice_ptr[slice]; k < end; k++) {
            const int2 s = slot[k];
            const uint mask = (uint)s.y;
            const long c = first + s.x, p = k * 32;
            if (mask == 0xffffffffu) {
                __global const val_t *near = x + c;
                WEFT_TOGETHER_TIMES(8, 4)
                for (int r = 0; r < 32; r++)
                    sum[r] = plus(sum[r], times(read_val_at(val, p + r), (acc_t)near[r]));
            } else if (c >= 0 && c + 32 <= n) { // x is there for every row
                __global const val_t *near = x + c;
                WEFT_TOGETHER_TIMES(8, 4)
                for (int r = 0; r < 32; r++) {
                    const acc_t next = plus(sum[r], times(read_val_at(val, p + r), (acc_t)near[r]));
                    sum[r] = mask >> r & 1u ? next : sum[r];
                }
            } else {
                const int low = (int)max(-c, 0L), high = (int)min((long)n - c, 32L);
                WEFT_TOGETHER_TIMES(8, 1)
                for (int r = low; r < high; r++) {
                    const acc_t next = plus(sum[r], times(read_val_at(val, p + r), (acc_t)x[c + r]));
                    sum[r] = mask >> r & 1u ? next : sum[r];
                }
            }
        }
        const int there = (int)min(32L, m - first);
        if (there == 32 && beta == (acc_t)0) {
            WEFT_TOGETHER_TIMES(8, 4)
            for (int r = 0; r < 32; r++)
                put(y + first, (idx_t)r, sum[r], alpha, (acc_t)0);
        } else {
            for (int r = 0; r < there; r++)
                put(y, (idx_t)(first + r), sum[r], alpha, beta);
        }
    }
}
