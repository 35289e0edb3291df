// SPDX-License-Identifier: Apache-2.0
// Operations of backend `graphblas`, as backend.h describes them.
#ifndef WEFT_BACKENDS_GRAPHBLAS_H
#define WEFT_BACKENDS_GRAPHBLAS_H

#include "backends/backend.h"

extern const char *const weft__graphblas_transpose_algos[];
weft_status weft__graphblas_transpose_prepare(void **state, struct weft_context *ctx, const struct weft_csr *a,
                                              const char *algo, const struct weft_backend_tune *tune,
                                              struct weft_backend_times *times, struct weft_error *err);
weft_status weft__graphblas_transpose_run(void *state, double *ms, struct weft_error *err);
weft_status weft__graphblas_transpose_result(void *state, struct weft_csr *out, struct weft_backend_times *times,
                                             struct weft_error *err);
void weft__graphblas_transpose_finish(void **state);

#endif
