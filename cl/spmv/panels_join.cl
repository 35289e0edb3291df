// SPDX-License-Identifier: Apache-2.0
// y[row] = alpha*(sum of the row's parts) + beta*y[row]: what spmv/panels.cl leaves of each panel of columns.
// Source:  -
// Mapping: 1-D; a row per work-item, then strides by the global size.
// Local:   none.
// Needs:   part[k*m + row], k = 0 .. panels-1.
// Gives:   y.
// Order:   panels from the left; repeatable.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif

#define TOGETHER 8 // parts on their way at a time

WEFT_KERNEL void spmv_panels_join(__global const acc_t *restrict part, __global val_t *restrict y, idx_t m, uint panels,
                                  acc_t alpha, acc_t beta)
{
    for (long row = (long)get_global_id(0); row < m; row += (long)get_global_size(0)) {
        acc_t sum = ZERO;
        for (uint k = 0u; k < panels; k += TOGETHER) {
            acc_t a[TOGETHER];
#pragma unroll
            for (uint i = 0u; i < TOGETHER; i++)
                a[i] = part[(long)min(k + i, panels - 1u) * m + row];
#pragma unroll
            for (uint i = 0u; i < TOGETHER; i++)
                sum = k + i < panels ? plus(sum, a[i]) : sum;
        }
        put(y, (idx_t)row, sum, alpha, beta);
    }
}
