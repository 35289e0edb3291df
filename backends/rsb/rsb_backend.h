// SPDX-License-Identifier: Apache-2.0
// Operations of backend `rsb`, as backend.h describes them.
#ifndef WEFT_BACKENDS_RSB_H
#define WEFT_BACKENDS_RSB_H

#include "backends/backend.h"

extern const char *const weft__rsb_spmv_algos[];
weft_status weft__rsb_spmv_prepare(void **state, struct weft_context *ctx, const struct weft_backend_spmv_job *job,
                                   const char *algo, struct weft_backend_times *times, struct weft_error *err);
weft_status weft__rsb_spmv_run(void *state, double *ms, struct weft_error *err);
weft_status weft__rsb_spmv_result(void *state, void *y, struct weft_backend_times *times, struct weft_error *err);
void weft__rsb_spmv_finish(void **state);

#endif
