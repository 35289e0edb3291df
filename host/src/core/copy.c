// SPDX-License-Identifier: Apache-2.0
// Copies between host and device that block, and the queues they take.
#include "host/src/core/copy.h"
#include "host/src/core/check.h"
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

// A blocking write may end when `from` was taken over: only its event says that the buffer has the data, for other
// queues too.
weft_status weft__copy_in(struct weft_context *ctx, cl_command_queue queue, cl_mem to, const void *from, size_t bytes)
{
    cl_event written = NULL;
    if (!bytes)
        return WEFT_OK;
    weft_status status = WEFT__NEED_IN(ctx, {"the host array", from});
    if (!status)
        status = weft__queue_check(ctx, queue);
    if (!status)
        status = weft__check_buffer(ctx, to, bytes, "the device array");
    if (!status)
        status =
            weft__fail_cl(ctx, weft__cl.clEnqueueWriteBuffer(queue, to, CL_TRUE, 0, bytes, from, 0, NULL, &written),
                          "clEnqueueWriteBuffer");
    if (status)
        return status;
    status = weft__fail_cl(ctx, weft__cl.clWaitForEvents(1, &written), "clWaitForEvents");
    weft__cl.clReleaseEvent(written);
    return status;
}

weft_status weft__copy_out_from(struct weft_context *ctx, cl_command_queue queue, void *to, cl_mem from, size_t first,
                                size_t bytes)
{
    weft_status status = bytes ? WEFT__NEED_IN(ctx, {"the host array", to}) : WEFT_OK;
    if (!status && bytes)
        status = weft__queue_check(ctx, queue);
    if (!status && bytes)
        status = weft__check_buffer(ctx, from, weft__add(first, bytes), "the device array");
    if (status)
        return status;
    return bytes
               ? weft__fail_cl(ctx, weft__cl.clEnqueueReadBuffer(queue, from, CL_TRUE, first, bytes, to, 0, NULL, NULL),
                               "clEnqueueReadBuffer")
               : WEFT_OK;
}

weft_status weft__copy_out(struct weft_context *ctx, cl_command_queue queue, void *to, cl_mem from, size_t bytes)
{
    return weft__copy_out_from(ctx, queue, to, from, 0, bytes);
}
