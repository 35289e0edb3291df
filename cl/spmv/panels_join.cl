// SPDX-License-Identifier: Apache-2.0
// y[row] = alpha*(sum of the row's parts) + beta*y[row]: what spmv/panels.cl leaves of each panel of columns.
// Source:  -
// Mapping: 1-D; JOIN consecutive work-items own one row, then strides.
// Local:   WG accumulators where JOIN is 32 and lanes have no shuffle, else none.
// Needs:   part[k*m + row], k = 0 .. panels-1; JOIN 1, or 32 where rows are few.
// Gives:   y.
// Order:   work-item l takes parts l, l + JOIN, ... from the left; then pairs at distance JOIN/2 .. 1. Repeatable.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_JOIN
#error "WEFT_JOIN: work-items per row, 1 or 32"
#endif

#define TOGETHER 8 // parts on their way at a time

WEFT_KERNEL void spmv_panels_join(__global const acc_t *restrict part, __global val_t *restrict y, idx_t m, uint panels,
                                  acc_t alpha, acc_t beta)
{
    LANE_MEMORY(acc_t, mem);
    const uint lane = (uint)get_local_id(0) % WEFT_JOIN;
    const long each = WEFT_WG / WEFT_JOIN;
    for (long base = (long)get_group_id(0) * each; base < m; base += (long)get_num_groups(0) * each) {
        const long row = base + (long)((uint)get_local_id(0) / WEFT_JOIN);
        acc_t sum = ZERO;
        for (uint k = row < m ? lane : panels; k < panels; k += TOGETHER * WEFT_JOIN) {
            acc_t a[TOGETHER];
#pragma unroll
            for (uint i = 0u; i < TOGETHER; i++)
                a[i] = part[(long)min(k + i * WEFT_JOIN, panels - 1u) * m + row];
#pragma unroll
            for (uint i = 0u; i < TOGETHER; i++)
                sum = k + i * WEFT_JOIN < panels ? plus(sum, a[i]) : sum;
        }
        sum = lanes_plus(sum, WEFT_JOIN, mem);
        if (row < m && lane == 0u)
            put(y, (idx_t)row, sum, alpha, beta);
    }
}
