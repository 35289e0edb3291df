// SPDX-License-Identifier: Apache-2.0
// Operations of backend `opencl`, as backend.h describes them.
#ifndef WEFT_BACKENDS_OPENCL_H
#define WEFT_BACKENDS_OPENCL_H

#include "backends/backend.h"
#include "host/internal/inside.h"

// Device events of the kernels of one run.
struct opencl_events {
    cl_event *events;
    size_t count, capacity;
    int lost;        // nonzero: an event could not be kept
    double start_ms; // host clock at begin
};
// Collect the events of everything that ctx launches until weft__opencl_events_end.
void weft__opencl_events_begin(struct opencl_events *e, struct weft_context *ctx);
// Count the event of a command that is no kernel of weft; takes the reference over.
void weft__opencl_events_add(struct opencl_events *e, cl_event event);
// Wait for `queue`; *ms is the time from the start of the first command to the end of the last, or of the host clock
// since begin when the driver keeps no times.
weft_status weft__opencl_events_end(struct opencl_events *e, struct weft_context *ctx, cl_command_queue queue,
                                    double *ms);
void weft__opencl_events_free(struct opencl_events *e);

// *queue, made when it is NULL: in order, without profiling, whose time-stamps slow launches down.
weft_status weft__opencl_plain_queue(cl_command_queue *queue, struct weft_context *ctx);

// Fill a buffer for results with what is no result (NaN, a negative index) and wait: new memory may hold what the run
// before wrote there, and that may be right. NULL buffer: nothing happens.
weft_status weft__opencl_poison(struct weft_context *ctx, cl_command_queue queue, cl_mem buffer, size_t bytes);

// Move the last error of ctx to err and return `status`.
weft_status weft__opencl_fail(struct weft_context *ctx, weft_status status, struct weft_error *err);

extern const char *const weft__opencl_transpose_algos[];
weft_status weft__opencl_transpose_prepare(void **state, struct weft_context *ctx, const struct weft_csr *a,
                                           const char *algo, const struct weft_backend_tune *tune,
                                           struct weft_backend_times *times, struct weft_error *err);
weft_status weft__opencl_transpose_run(void *state, double *ms, struct weft_error *err);
weft_status weft__opencl_transpose_plain(void *state, int runs, struct weft_error *err);
weft_status weft__opencl_transpose_call(void *state, struct weft_csr *out, struct weft_error *err);
weft_status weft__opencl_transpose_result(void *state, struct weft_csr *out, struct weft_backend_times *times,
                                          struct weft_error *err);
void weft__opencl_transpose_finish(void **state);

extern const char *const weft__opencl_spmv_algos[];
weft_status weft__opencl_spmv_prepare(void **state, struct weft_context *ctx, const struct weft_backend_spmv_job *job,
                                      const char *algo, struct weft_backend_times *times, struct weft_error *err);
weft_status weft__opencl_spmv_run(void *state, double *ms, struct weft_error *err);
weft_status weft__opencl_spmv_plain(void *state, int runs, struct weft_error *err);
weft_status weft__opencl_spmv_call(void *state, void *y, struct weft_error *err);
weft_status weft__opencl_spmv_result(void *state, void *y, struct weft_backend_times *times, struct weft_error *err);
void weft__opencl_spmv_finish(void **state);

#endif
