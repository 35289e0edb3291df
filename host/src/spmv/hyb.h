// SPDX-License-Identifier: Apache-2.0
// Hybrid of ELL and coordinates.
#pragma once

#include "plan.h"

// The width that a hybrid has by itself.
int64_t weft__spmv_hyb_width(const struct weft_spmv_plan *plan);

// What a hybrid of so many columns keeps as coordinates: entries, and the rows that have them.
struct weft__spmv_rest {
    double entries, rows;
};
struct weft__spmv_rest weft__spmv_hyb_rest(const struct weft_spmv_plan *plan, int64_t columns);
