// SPDX-License-Identifier: Apache-2.0
// Launches of SpMV kernels, and the steps of analyses and conversions: wait, read, sum up sizes, tell the time.
#include "host/src/matrix/device_csr.h"
#include "host/src/primitive/scan.h"
#include "host/src/core/clock.h"
#include "plan.h"

// The scalar as an argument.
#define SCALAR(name)                                                                                                   \
    {                                                                                                                  \
#name, weft__spmv_acc_bytes(plan), &call->name                                                                 \
    }

weft_status weft__spmv_launch(struct weft_spmv_plan *plan, struct weft__stream *stream, struct weft__kernel *kernel,
                              size_t groups, size_t wg, const struct weft__spmv_call *call)
{
    if (!stream->status)
        stream->status = WEFT__BIND(plan->ctx, kernel, WEFT__ARG(x, call->x), WEFT__ARG(y, call->y), SCALAR(alpha),
                                    SCALAR(beta), WEFT__ARG(backward, plan->backward));
    return weft__launch(stream, kernel, groups, wg, NULL, 0);
}

weft_status weft__spmv_launch_csr(struct weft_spmv_plan *plan, struct weft__stream *stream, struct weft__kernel *kernel,
                                  size_t groups, size_t wg, const struct weft__spmv_call *call)
{
    const struct weft_device_csr *a = &plan->a;
    const cl_mem val = a->type == WEFT_TYPE_PATTERN ? a->col : a->val, col = plan->columns ? plan->columns : a->col;
    uint64_t *mark = weft__kernel_mark(kernel);
    if (!stream->status && *mark != plan->taken) {
        stream->status = WEFT__BIND(plan->ctx, kernel, WEFT__ARG(row_ptr, a->row_ptr), WEFT__ARG(col), WEFT__ARG(val));
        *mark = stream->status ? 0 : plan->taken;
    }
    return weft__spmv_launch(plan, stream, kernel, groups, wg, call);
}

struct weft__stream weft__spmv_stream(const struct weft__make *make, cl_command_queue queue)
{
    struct weft__stream stream = {.ctx = make->ctx, .queue = queue, .status = make->status};
    if (!stream.status)
        weft__stream_begin(&stream, make->ctx, queue, 0, NULL, NULL);
    return stream;
}

weft_status weft__spmv_finish(struct weft__stream *stream)
{
    if (!stream->status)
        stream->status = weft__fail_cl(stream->ctx, weft__cl.clFinish(stream->queue), "clFinish");
    return stream->status;
}

weft_status weft__spmv_read(struct weft__stream *stream, cl_mem from, size_t offset, size_t bytes, void *to)
{
    if (!weft__spmv_finish(stream) && bytes)
        stream->status = weft__fail_cl(
            stream->ctx, weft__cl.clEnqueueReadBuffer(stream->queue, from, CL_TRUE, offset, bytes, to, 0, NULL, NULL),
            "clEnqueueReadBuffer");
    return stream->status;
}

weft_status weft__spmv_positions(struct weft__stream *stream, cl_mem sizes, size_t count, cl_long ends[2])
{
    struct weft_scan_plan *scan = NULL;
    if (!stream->status)
        stream->status = weft_scan_plan_create(&scan, stream->ctx, WEFT_SCAN_TYPE_I64, (int64_t)count,
                                               weft_scan_params(.total = 1, .algo = WEFT_SCAN_ALGO_THREE));
    if (!stream->status)
        weft__scan_enqueue(scan, stream, sizes, sizes, count);
    weft__spmv_read(stream, sizes, (count - 1) * sizeof *ends, 2 * sizeof *ends, ends);
    weft_scan_plan_destroy(&scan);
    return stream->status;
}

weft_status weft__spmv_retain(struct weft_context *ctx, cl_mem *to, cl_mem from)
{
    weft_status status = from ? weft__fail_cl(ctx, weft__cl.clRetainMemObject(from), "clRetainMemObject") : WEFT_OK;
    if (status)
        return status;
    weft__buffer_release(to);
    *to = from;
    return WEFT_OK;
}

struct weft__spmv_clock weft__spmv_clock(void)
{
    return (struct weft__spmv_clock){weft__now_ms(), weft__make_built_ms()};
}

double weft__spmv_clock_ms(const struct weft__spmv_clock *clock)
{
    return weft__now_ms() - clock->start_ms - (weft__make_built_ms() - clock->build_ms);
}

void weft__spmv_make_word(struct weft__make *make, cl_command_queue queue, cl_mem *out, const char *what)
{
    const cl_uint none = 0;
    weft__spmv_make_buffer(make, out, sizeof none, what);
    if (!make->status)
        make->status = weft__copy_in(make->ctx, queue, *out, &none, sizeof none);
}
