// SPDX-License-Identifier: Apache-2.0
// weft's own kernels on an OpenCL device, timed by device events.
#include "opencl_backend.h"
#include "host/common/clock.h"
#include "backends/trace.h"
#include "host/internal/inside.h"

#include <stdlib.h>

static weft_status opencl_probe(struct weft_context *ctx, struct weft_error *err)
{
    return ctx ? WEFT_OK : weft__error(err, WEFT_ENODEV, "no OpenCL device");
}

void weft__opencl_events_add(struct opencl_events *e, cl_event event)
{
    if (e->count == e->capacity) {
        size_t capacity = 2 * e->capacity + 16;
        cl_event *grown = realloc(e->events, capacity * sizeof *grown);
        if (!grown) {
            e->lost = 1;
            weft__cl.clReleaseEvent(event);
            return;
        }
        e->events = grown;
        e->capacity = capacity;
    }
    e->events[e->count++] = event;
}

static void event_keep(void *arg, const char *kernel, size_t global, size_t wg, cl_event event)
{
    (void)kernel;
    (void)global;
    (void)wg;
    struct opencl_events *e = arg;
    if (weft__cl.clRetainEvent(event) == CL_SUCCESS)
        weft__opencl_events_add(e, event);
    else
        e->lost = 1;
}

void weft__opencl_events_begin(struct opencl_events *e, struct weft_context *ctx)
{
    e->lost = 0;
    e->start_ms = clock_ms();
    weft_context_on_launch(ctx, event_keep, e);
}

// Whether the driver gives both times of an event, and they can be.
static int event_times(cl_event event, cl_ulong *start, cl_ulong *end)
{
    return weft__cl.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof *start, start, NULL) ==
               CL_SUCCESS &&
           weft__cl.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof *end, end, NULL) == CL_SUCCESS &&
           *start && *end >= *start;
}

weft_status weft__opencl_events_end(struct opencl_events *e, struct weft_context *ctx, cl_command_queue queue,
                                    double *ms)
{
    cl_ulong first = 0, last = 0;
    weft_context_on_launch(ctx, NULL, NULL);
    weft_status status = weft__fail_cl(ctx, weft__cl.clFinish(queue), "clFinish");
    double host_ms = clock_ms() - e->start_ms;
    int timed = e->count > 0 && !e->lost;
    for (size_t i = 0; i < e->count; i++) {
        cl_ulong start, end;
        timed = timed && !status && event_times(e->events[i], &start, &end);
        if (timed) {
            first = i && first < start ? first : start;
            last = i && last > end ? last : end;
        }
        weft__cl.clReleaseEvent(e->events[i]);
    }
    timed = timed && last > first; // a driver that keeps no times may give the same number for all
    e->untimed |= !status && !timed;
    e->count = 0;
    *ms = timed ? (double)(last - first) * 1e-6 : host_ms;
    return status;
}

void weft__opencl_events_free(struct opencl_events *e)
{
    for (size_t i = 0; i < e->count; i++)
        weft__cl.clReleaseEvent(e->events[i]);
    free(e->events);
    *e = (struct opencl_events){0};
}

weft_status weft__opencl_plain_queue(cl_command_queue *queue, struct weft_context *ctx)
{
    cl_int error = CL_SUCCESS;
    if (!*queue)
        *queue = weft__cl.clCreateCommandQueue(ctx->cl, ctx->device.id, 0, &error);
    if (error != CL_SUCCESS)
        *queue = NULL;
    return weft__fail_cl(ctx, error, "clCreateCommandQueue");
}

weft_status weft__opencl_poison(struct weft_context *ctx, cl_command_queue queue, cl_mem buffer, size_t bytes)
{
    struct weft__kernel *kernel = NULL;
    struct weft__stream stream;
    if (!buffer || bytes < 4)
        return WEFT_OK;
    weft__trace_own(1);
    weft_status status = weft__fill_create(&kernel, ctx);
    if (!status)
        status = weft__stream_begin(&stream, ctx, queue, 0, NULL, NULL);
    if (!status) {
        weft__fill(&stream, kernel, buffer, 0, bytes / 4, UINT32_C(0xffffa5a5));
        status = weft__stream_end(&stream);
    }
    if (!status)
        status = weft__fail_cl(ctx, weft__cl.clFinish(queue), "clFinish");
    weft__kernel_release(&kernel);
    weft__trace_own(0);
    return status;
}

weft_status weft__opencl_fail(struct weft_context *ctx, weft_status status, struct weft_error *err)
{
    if (status && err)
        weft_context_error(err, ctx);
    return status;
}

const struct weft_backend weft__backend_opencl = {
    .name = "opencl",
    .needs = "opencl",
    .probe = opencl_probe,
    .transpose = {WEFT__BACKEND_OP(opencl, transpose), .plain = weft__opencl_transpose_plain,
                  .call = weft__opencl_transpose_call},
    .spmv = {WEFT__BACKEND_OP(opencl, spmv), .plain = weft__opencl_spmv_plain, .call = weft__opencl_spmv_call},
};
