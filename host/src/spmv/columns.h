// SPDX-License-Identifier: Apache-2.0
// Panels of columns whose part of x fits local memory.
#pragma once

#include "plan.h"

// Local memory of cl/spmv/panels.cl beside x; for weft__spmv_resolve.
size_t weft__spmv_panels_local(const void *plan, const void *params);
// Columns that local memory holds; of a panel of the matrix, at most as many; and panels.
size_t weft__spmv_panels_cols_most(const struct weft_spmv_plan *plan);
int weft__spmv_panels_cols(const struct weft_spmv_plan *plan);
int64_t weft__spmv_panels_count(const struct weft_spmv_plan *plan);
// Work-items of an SpMV that a compute unit runs at a time on an H200.
#define WEFT__SPMV_UNIT_ITEMS 1024
// Work-items that sum up the parts of a row.
int weft__spmv_panels_joiners(const struct weft_spmv_plan *plan);
