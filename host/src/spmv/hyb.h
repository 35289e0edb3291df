// SPDX-License-Identifier: Apache-2.0
// Hybrid of ELL and coordinates.
#pragma once

#include "plan.h"

// The width that a hybrid has by itself.
int64_t weft__spmv_hyb_width(const struct weft_spmv_plan *plan);
