// SPDX-License-Identifier: Apache-2.0
// Hybrid of ELL and coordinates.
#ifndef WEFT_SPMV_HYB_H
#define WEFT_SPMV_HYB_H

#include "plan.h"

// The width that a hybrid has by itself.
int64_t weft__spmv_hyb_width(const struct weft_spmv_plan *plan);

#endif
