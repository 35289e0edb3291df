// SPDX-License-Identifier: Apache-2.0
// y = beta*y, what products that add to y begin with; other semirings: y = zero when beta == 0, else zero "plus" y.
// Source:  -
// Mapping: 1-D; work-items stride over y.
// Local:   none.
// Needs:   WEFT_WG.
// Gives:   y; not read when beta == 0.
// Order:   none.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif

WEFT_KERNEL void spmv_scale(__global val_t *y, idx_t m, acc_t beta)
{
    for (long i = (long)get_global_id(0); i < m; i += (long)get_global_size(0)) {
#if WEFT_SEMIRING == 0
        y[i] = beta == ZERO ? (val_t)0 : (val_t)(beta * (acc_t)y[i]);
#else
        y[i] = (val_t)(beta == (acc_t)0 ? ZERO : plus(ZERO, (acc_t)y[i]));
#endif
    }
}
