// SPDX-License-Identifier: Apache-2.0
// y[row[i]] += alpha*sum[i]: what the host has summed up of the rest of a hybrid.
// Source:  -
// Mapping: 1-D; work-items stride over the rows of the rest.
// Local:   none.
// Needs:   every row once.
// Gives:   y of these rows.
// Order:   repeatable.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif

WEFT_KERNEL void spmv_add(__global const idx_t *restrict row, __global const acc_t *restrict sum,
                          __global val_t *restrict y, uint count, acc_t alpha)
{
    for (size_t i = get_global_id(0); i < count; i += get_global_size(0))
        put(y, row[i], sum[i], alpha, (acc_t)1);
}
