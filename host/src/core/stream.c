// SPDX-License-Identifier: Apache-2.0
// Begins and ends the chains of launches that operations enqueue; queues for functions that block.
#include "host/src/core/stream.h"

weft_status weft__queue_create(cl_command_queue *out, struct weft_context *ctx)
{
    cl_int error;
    cl_command_queue queue = weft__cl.clCreateCommandQueue(ctx->cl, ctx->device.id, 0, &error);
    *out = error == CL_SUCCESS ? queue : NULL;
    return weft__fail_cl(ctx, error, "clCreateCommandQueue");
}

void weft__queue_release(cl_command_queue *queue)
{
    if (*queue)
        weft__cl.clReleaseCommandQueue(*queue);
    *queue = NULL;
}

weft_status weft__queue_check(struct weft_context *ctx, cl_command_queue queue)
{
    cl_context of = NULL;
    cl_device_id device = NULL;
    if (!queue)
        return weft__fail(ctx, WEFT_EINVAL, "queue is NULL");
    cl_int error = weft__cl.clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof of, &of, NULL);
    if (error == CL_SUCCESS)
        error = weft__cl.clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL);
    if (error != CL_SUCCESS)
        return weft__fail_cl(ctx, error, "clGetCommandQueueInfo");
    if (of != ctx->cl)
        return weft__fail(ctx, WEFT_EINVAL, "queue is of another OpenCL context");
    if (device != ctx->device.id)
        return weft__fail(ctx, WEFT_EINVAL, "queue is of another device than %s", ctx->device.name);
    return WEFT_OK;
}

static weft_status queue_ask(struct weft_context *ctx, cl_command_queue queue, int *out_of_order)
{
    cl_command_queue_properties props = 0;
    weft_status status = weft__queue_check(ctx, queue);
    if (!status)
        status =
            weft__fail_cl(ctx, weft__cl.clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof props, &props, NULL),
                          "clGetCommandQueueInfo");
    *out_of_order = (props & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
    return status;
}

// The list of events to wait for, behind the checks of the queue.
static weft_status wait_check(struct weft__stream *stream)
{
    if (!stream->status && stream->nwait && !stream->wait)
        stream->status = weft__fail(stream->ctx, WEFT_EINVAL, "wait is NULL");
    for (cl_uint i = 0; i < stream->nwait && !stream->status; i++)
        if (!stream->wait[i])
            stream->status = weft__fail(stream->ctx, WEFT_EINVAL, "wait[%u] is NULL", (unsigned)i);
    return stream->status;
}

weft_status weft__stream_begin(struct weft__stream *out, struct weft_context *ctx, cl_command_queue queue,
                               cl_uint nwait, const cl_event *wait, cl_event *event)
{
    *out =
        (struct weft__stream){.ctx = ctx, .queue = queue, .nwait = nwait, .wait = nwait ? wait : NULL, .event = event};
    out->status = queue_ask(ctx, queue, &out->out_of_order);
    return wait_check(out);
}

weft_status weft__stream_begin_seen(struct weft__stream *out, struct weft_context *ctx, struct weft__queue_seen *seen,
                                    cl_command_queue queue, cl_uint nwait, const cl_event *wait, cl_event *event)
{
    if (!queue || queue != seen->queue) {
        weft_status status = weft__stream_begin(out, ctx, queue, nwait, wait, event);
        if (!status)
            out->status = status = weft__fail_cl(ctx, weft__cl.clRetainCommandQueue(queue), "clRetainCommandQueue");
        if (!status) {
            weft__queue_release(&seen->queue);
            *seen = (struct weft__queue_seen){queue, out->out_of_order};
        }
        return status;
    }
    *out = (struct weft__stream){.ctx = ctx,
                                 .queue = queue,
                                 .nwait = nwait,
                                 .wait = nwait ? wait : NULL,
                                 .event = event,
                                 .out_of_order = seen->out_of_order};
    return wait_check(out);
}

void weft__queue_seen_release(struct weft__queue_seen *seen)
{
    weft__queue_release(&seen->queue);
}

cl_int weft__stream_barrier(struct weft__stream *stream)
{
    const bool first = !stream->begun;
    stream->begun = true;
    if (!stream->out_of_order)
        return CL_SUCCESS;
    return weft__cl.clEnqueueBarrierWithWaitList(stream->queue, first ? stream->nwait : 0, first ? stream->wait : NULL,
                                                 NULL);
}

weft_status weft__stream_copy(struct weft__stream *stream, cl_mem to, size_t at, cl_mem from, size_t bytes)
{
    if (stream->status || !bytes)
        return stream->status;
    cl_int error = weft__stream_barrier(stream);
    if (error == CL_SUCCESS)
        error = weft__cl.clEnqueueCopyBuffer(stream->queue, from, to, 0, at, bytes, stream->nwait, stream->wait, NULL);
    stream->status = weft__fail_cl(stream->ctx, error, "clEnqueueCopyBuffer");
    return stream->status;
}

// With a list, a marker waits for that alone: in an out-of-order queue behind a barrier.
cl_int weft__stream_mark(const struct weft__stream *stream, cl_event *out)
{
    cl_int error = CL_SUCCESS;
    if (stream->out_of_order && stream->nwait && stream->begun)
        error = weft__cl.clEnqueueBarrierWithWaitList(stream->queue, 0, NULL, NULL);
    if (error == CL_SUCCESS)
        error = weft__cl.clEnqueueMarkerWithWaitList(stream->queue, stream->nwait, stream->wait, out);
    return error;
}

weft_status weft__stream_end(struct weft__stream *stream)
{
    if (!stream->status && stream->event)
        stream->status =
            weft__fail_cl(stream->ctx, weft__stream_mark(stream, stream->event), "clEnqueueMarkerWithWaitList");
    return stream->status;
}
