// SPDX-License-Identifier: Apache-2.0
// The other way of panels (panels.c), where rows have less than about an entry in each: products wait in buckets of rows.
#pragma once

#include "plan.h"

extern const struct weft__spmv_method weft__spmv_push;

// Nonzero: the matrix fits it, and it is expected to be faster than sums of parts.
int weft__spmv_push_suits(const struct weft_spmv_plan *plan);
