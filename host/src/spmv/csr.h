// SPDX-License-Identifier: Apache-2.0
// The CSR schedules: a row per work-item, lanes per row, tiles of equal work.
#ifndef WEFT_SPMV_CSR_H
#define WEFT_SPMV_CSR_H

#include "plan.h"

extern const struct weft__spmv_method weft__spmv_csr_scalar, weft__spmv_csr_lanes, weft__spmv_csr_merge,
    weft__spmv_csr_cpu;

#endif
