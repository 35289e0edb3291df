// SPDX-License-Identifier: Apache-2.0
// y = beta*y, what products that add to y begin with; other semirings: y = zero when beta == 0, else zero "plus" y.
// Source:  -
// Mapping: 1-D; work-items stride over y by CHUNK elements side by side.
// Local:   none.
// Needs:   WEFT_WG, WEFT_CHUNK.
// Gives:   y; not read when beta == 0.
// Order:   none.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_CHUNK
#error "WEFT_CHUNK: elements of y that a work-item takes together"
#endif

WEFT_KERNEL void spmv_scale(__global val_t *y, idx_t m, acc_t beta)
{
    for (long first = (long)get_global_id(0) * WEFT_CHUNK; first < m; first += (long)get_global_size(0) * WEFT_CHUNK)
        for (long i = first; i < min(first + WEFT_CHUNK, (long)m); i++) {
#if WEFT_SEMIRING == 0
            y[i] = beta == ZERO ? (val_t)0 : (val_t)(beta * (acc_t)y[i]);
#else
            y[i] = (val_t)(beta == (acc_t)0 ? ZERO : plus(ZERO, (acc_t)y[i]));
#endif
        }
}
