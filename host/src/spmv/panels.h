// SPDX-License-Identifier: Apache-2.0
// What the choice of a format asks of panels (panels.c).
#pragma once

#include "plan.h"

// Columns of a panel of the matrix, and panels.
int weft__spmv_panels_cols(const struct weft_spmv_plan *plan);
int64_t weft__spmv_panels_count(const struct weft_spmv_plan *plan);
