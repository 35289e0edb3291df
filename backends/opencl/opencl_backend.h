// SPDX-License-Identifier: Apache-2.0
// Operations of backend `opencl`, as backend.h describes them.
#pragma once

#include "backends/backend.h"
#include "host/internal/inside.h"

// Device events of the kernels of one run.
struct opencl_events {
    cl_event *events;
    size_t count, capacity;
    int lost;        // nonzero: an event could not be kept
    int untimed;     // nonzero: a run was told by the host's clock, since an event was lost or has no times
    double start_ms; // host clock at begin
};
// Collect the events of everything that ctx launches until weft__opencl_events_end.
void weft__opencl_events_begin(struct opencl_events *e, struct weft_context *ctx);
// Count the event of a command that is no kernel of weft; takes the reference over.
void weft__opencl_events_add(struct opencl_events *e, cl_event event);
// Wait for `queue`; *ms is the time from the start of the first command to the end of the last. Where a single event has no
// times, or was lost, the span of the others would be short: then *ms is of the host clock since begin, and `untimed` is set.
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
