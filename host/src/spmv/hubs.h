// SPDX-License-Identifier: Apache-2.0
// Columns with so many entries that a work-group keeps their x in local memory.
#pragma once

#include "plan.h"

#define WEFT__HUBS_BINS 1024 // BINS of cl/spmv/hubs.cl
struct weft__spmv_hubs {
    cl_mem count;   // n words: entries of each column in a sample
    cl_uint least;  // of a hub in it
    cl_uint number; // of hubs
    double share;   // of all entries that lie in them, by the sample
    double kept;    // that lie in the columns of the lines of x that a first cache keeps
};

// Sample the columns; `most` hubs at most, that `groups` work-groups will each read. Blocks.
weft_status weft__spmv_hubs_find(struct weft__spmv_hubs *out, struct weft_spmv_plan *plan, cl_command_queue queue,
                                 size_t most, size_t groups);
// The columns of the hubs into `list`, in uints from `at` on; and what csr_flags reads in place of plan->a.col into *col. Blocks;
// hubs->count is of no use afterwards.
void weft__spmv_hubs_write(const struct weft__spmv_hubs *hubs, struct weft_spmv_plan *plan, struct weft__make *make,
                           cl_command_queue queue, cl_mem list, cl_ulong at, cl_mem *col);
void weft__spmv_hubs_variants(weft__variant_fn *fn, void *arg);
