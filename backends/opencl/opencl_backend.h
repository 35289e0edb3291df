// SPDX-License-Identifier: Apache-2.0
// Operations of backend `opencl`, as backend.h describes them.
#ifndef WEFT_BACKENDS_OPENCL_H
#define WEFT_BACKENDS_OPENCL_H

#include "../backend.h"
#include "context.h"

// Device events of the kernels of one run.
struct opencl_events {
    cl_event *events;
    size_t count, capacity;
    int lost; // nonzero: an event could not be kept
};
// Collect the events of everything that ctx launches until weft__opencl_events_end, which waits for `queue` and gives the
// time from the start of the first kernel to the end of the last; *ms is negative when the driver keeps no times.
void weft__opencl_events_begin(struct opencl_events *e, struct weft_context *ctx);
weft_status weft__opencl_events_end(struct opencl_events *e, struct weft_context *ctx, cl_command_queue queue,
                                    double *ms);
void weft__opencl_events_free(struct opencl_events *e);

// Move the last error of ctx to err and return `status`.
weft_status weft__opencl_fail(struct weft_context *ctx, weft_status status, struct weft_error *err);

extern const char *const weft__opencl_transpose_algos[];
weft_status weft__opencl_transpose_prepare(void **state, struct weft_context *ctx, const struct weft_csr *a,
                                           const char *algo, struct weft_backend_times *times, struct weft_error *err);
weft_status weft__opencl_transpose_run(void *state, double *ms, struct weft_error *err);
weft_status weft__opencl_transpose_result(void *state, struct weft_csr *out, struct weft_backend_times *times,
                                          struct weft_error *err);
void weft__opencl_transpose_finish(void **state);

#endif
