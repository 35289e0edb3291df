// SPDX-License-Identifier: Apache-2.0
// The choice of an algorithm by measurement.
#pragma once

#include "plan.h"

// Makes a plan to measure, as weft_spmv_plan_create.
typedef weft_status weft__spmv_try(struct weft_spmv_plan **out, struct weft_context *ctx, cl_command_queue queue,
                                   const struct weft_device_csr *a, const struct weft_spmv_params *params);
// Put what measurements chose into plan->info.params and .why, by the record of an earlier plan where the context's
// cache has one. Nonzero `again`: that record was refused; it is dropped, and measured anew. Blocks.
enum weft__spmv_chosen {
    WEFT__SPMV_NOTHING = 0, // there is nothing to measure
    WEFT__SPMV_MEASURED,
    WEFT__SPMV_RECORDED // not tried yet: matrix or device may refuse it
};
weft_status weft__spmv_tune(struct weft_spmv_plan *plan, cl_command_queue queue, weft__spmv_try *try, int again,
                            enum weft__spmv_chosen *chosen);
// What a record is kept under: everything that decides. The caller frees it; NULL: no memory.
char *weft__spmv_tune_key(const struct weft_spmv_plan *plan, const char *version, uint64_t kernels, uint64_t structure);
// 1: a record that can be tried, in *p; 0: there is none (data NULL), or one that no plan of these parameters has written.
int weft__spmv_record_parse(const struct weft_spmv_plan *plan, const void *data, size_t size,
                            struct weft_spmv_params *p);
