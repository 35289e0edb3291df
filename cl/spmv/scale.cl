// SPDX-License-Identifier: Apache-2.0
// y = beta*y, what products that add to y begin with; other semirings: y = zero when beta == 0, else zero "plus" y.
// Source:  -
// Mapping: 1-D; work-group g takes WG*CHUNK elements from g*WG*CHUNK on, then as many further on; a work-item every WG-th of them.
// Local:   none.
// Needs:   WEFT_WG, WEFT_CHUNK.
// Gives:   y; not read when beta == 0.
// Order:   none.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_CHUNK
#error "WEFT_CHUNK: elements of y of a work-item"
#endif

WEFT_KERNEL void spmv_scale(__global val_t *y, idx_t m, acc_t beta)
{
    const long group = (long)WEFT_WG * WEFT_CHUNK;
    for (long at = (long)get_group_id(0) * group; at < m; at += (long)get_num_groups(0) * group) {
        const int count = (int)min(group, (long)m - at);
        for (int i = (int)get_local_id(0); i < count; i += WEFT_WG) {
#if WEFT_SEMIRING == 0
            y[at + i] = beta == ZERO ? (val_t)0 : (val_t)(beta * (acc_t)y[at + i]);
#else
            y[at + i] = (val_t)(beta == (acc_t)0 ? ZERO : plus(ZERO, (acc_t)y[at + i]));
#endif
        }
    }
}
