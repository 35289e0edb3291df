// SPDX-License-Identifier: Apache-2.0
// The other way of panels (panels.c), where rows have less than about an entry in each: products wait in buckets of rows.
#pragma once

#include "plan.h"

extern const struct weft__spmv_method weft__spmv_push;

// How a matrix would be cut.
struct weft__spmv_push_size {
    int64_t panels, buckets; // buckets of rows; 0: sums of parts suit it better, or it does not fit
    int64_t share;           // entries, and a part of one for each row, behind which a bucket begins
    int64_t slabs, teams;    // work-groups of a slab
    int bucket;              // entries of one, at most
};
struct weft__spmv_push_size weft__spmv_push_size(const struct weft_spmv_plan *plan);
