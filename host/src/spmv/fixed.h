// SPDX-License-Identifier: Apache-2.0
// CSR with a fixed tree of sums.
#ifndef WEFT_SPMV_FIXED_H
#define WEFT_SPMV_FIXED_H

#include "plan.h"

extern const struct weft__spmv_method weft__spmv_csr_fixed;

#endif
