// SPDX-License-Identifier: Apache-2.0
// Copies between host and device that block: large ones through the stage, the rest as the driver does it.
#include "host/src/core/copy.h"
#include "host/src/core/check.h"
#include "host/src/core/stage.h"
#include "host/src/core/stream.h"

static weft_status copy_check(struct weft_context *ctx, const struct weft__copy *copy)
{
    if (!copy->bytes)
        return WEFT_OK;
    weft_status status = WEFT__NEED_IN(ctx, {"the host array", copy->host});
    if (!status)
        status = weft__check_buffer(ctx, copy->buffer, weft__add(copy->first, copy->bytes), "the device array");
    return status;
}

// A blocking write may end when the array was taken over: only its event says that the buffer has the data, for other
// queues too.
static weft_status write_once(struct weft_context *ctx, cl_command_queue queue, bool blocks,
                              const struct weft__copy *copy)
{
    cl_event written = NULL;
    weft_status status =
        weft__fail_cl(ctx,
                      weft__cl.clEnqueueWriteBuffer(queue, copy->buffer, blocks, copy->first, copy->bytes, copy->host,
                                                    0, NULL, blocks ? &written : NULL),
                      "clEnqueueWriteBuffer");
    if (status || !blocks)
        return status;
    status = weft__fail_cl(ctx, weft__cl.clWaitForEvents(1, &written), "clWaitForEvents");
    weft__cl.clReleaseEvent(written);
    return status;
}

static weft_status read_once(struct weft_context *ctx, cl_command_queue queue, bool blocks,
                             const struct weft__copy *copy)
{
    return weft__fail_cl(
        ctx,
        weft__cl.clEnqueueReadBuffer(queue, copy->buffer, blocks, copy->first, copy->bytes, copy->host, 0, NULL, NULL),
        "clEnqueueReadBuffer");
}

// A queue of the caller may run out of order: its commands so far come before the copies.
static weft_status queue_follow(struct weft_context *ctx, cl_command_queue queue, bool own)
{
    struct weft__stream stream;
    weft_status status = own ? weft__queue_check(ctx, queue) : weft__stream_begin(&stream, ctx, queue, 0, NULL, NULL);
    return status || own ? status : weft__fail_cl(ctx, weft__stream_barrier(&stream), "clEnqueueBarrierWithWaitList");
}

static weft_status copies_move(struct weft_context *ctx, cl_command_queue queue, bool own, bool out,
                               const struct weft__copy *copies, int count)
{
    bool staged = false;
    int last = -1; // of those that the driver copies
    size_t bytes = 0;
    weft_status status = WEFT_OK;
    for (int i = 0; i < count && !status; i++) {
        status = copy_check(ctx, &copies[i]);
        bytes |= copies[i].bytes;
    }
    if (!status && bytes)
        status = queue_follow(ctx, queue, own);
    if (!status)
        status = weft__stage_move(&staged, ctx, queue,
                                  out   ? WEFT__STAGE_OUT
                                  : own ? WEFT__STAGE_IN_LEAVE
                                        : WEFT__STAGE_IN,
                                  copies, count);
    for (int i = 0; i < count; i++)
        if (copies[i].bytes && !(staged && weft__stage_takes(ctx, copies[i].bytes)))
            last = i;
    for (int i = 0; i <= last && !status; i++)
        if (copies[i].bytes && !(staged && weft__stage_takes(ctx, copies[i].bytes)))
            status =
                out ? read_once(ctx, queue, !own || i == last, &copies[i]) : write_once(ctx, queue, !own, &copies[i]);
    return status;
}

weft_status weft__copies_in(struct weft_context *ctx, cl_command_queue queue, bool own, const struct weft__copy *copies,
                            int count)
{
    return copies_move(ctx, queue, own, false, copies, count);
}

weft_status weft__copies_out(struct weft_context *ctx, cl_command_queue queue, bool own,
                             const struct weft__copy *copies, int count)
{
    return copies_move(ctx, queue, own, true, copies, count);
}

weft_status weft__copy_in(struct weft_context *ctx, cl_command_queue queue, cl_mem to, const void *from, size_t bytes)
{
    return copies_move(ctx, queue, false, false, &(struct weft__copy){to, 0, (void *)(uintptr_t)from, bytes}, 1);
}

weft_status weft__copy_out_from(struct weft_context *ctx, cl_command_queue queue, void *to, cl_mem from, size_t first,
                                size_t bytes)
{
    return copies_move(ctx, queue, false, true, &(struct weft__copy){from, first, to, bytes}, 1);
}

weft_status weft__copy_out(struct weft_context *ctx, cl_command_queue queue, void *to, cl_mem from, size_t bytes)
{
    return weft__copy_out_from(ctx, queue, to, from, 0, bytes);
}
