// SPDX-License-Identifier: Apache-2.0
// Operations of backend `ref`, as backend.h describes them.
#ifndef WEFT_BACKENDS_REF_H
#define WEFT_BACKENDS_REF_H

#include "backends/backend.h"

extern const char *const weft__ref_transpose_algos[];
weft_status weft__ref_transpose_prepare(void **state, struct weft_context *ctx, const struct weft_csr *a,
                                        const char *algo, const struct weft_backend_tune *tune,
                                        struct weft_backend_times *times, struct weft_error *err);
weft_status weft__ref_transpose_run(void *state, double *ms, struct weft_error *err);
weft_status weft__ref_transpose_result(void *state, struct weft_csr *out, struct weft_backend_times *times,
                                       struct weft_error *err);
void weft__ref_transpose_finish(void **state);

extern const char *const weft__ref_spmv_algos[];
weft_status weft__ref_spmv_prepare(void **state, struct weft_context *ctx, const struct weft_backend_spmv_job *job,
                                   const char *algo, struct weft_backend_times *times, struct weft_error *err);
weft_status weft__ref_spmv_run(void *state, double *ms, struct weft_error *err);
weft_status weft__ref_spmv_result(void *state, void *y, struct weft_backend_times *times, struct weft_error *err);
void weft__ref_spmv_finish(void **state);

#endif
