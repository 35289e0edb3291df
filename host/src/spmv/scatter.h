// SPDX-License-Identifier: Apache-2.0
// y = alpha*A^T*x + beta*y by atomics.
#ifndef WEFT_SPMV_SCATTER_H
#define WEFT_SPMV_SCATTER_H

#include "plan.h"

extern const struct weft__spmv_method weft__spmv_scatter;

#endif
