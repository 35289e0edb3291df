// SPDX-License-Identifier: Apache-2.0
// Makes and releases what a blocking call on arrays of the host needs.
#include "host/src/core/call.h"
#include "host/src/core/buffer.h"
#include "host/src/core/keep.h"
#include "host/src/core/lend.h"

struct weft__call weft__call_begin(struct weft_context *ctx, weft_status status)
{
    struct weft__call call = {.ctx = ctx, .status = status};
    if (!status)
        call.status = weft__keep_queue(&call.queue, ctx);
    return call;
}

// Does the array share memory with one that came before?
static bool overlaps(const struct weft__call *call, const void *host, size_t bytes)
{
    const uintptr_t at = (uintptr_t)host;
    for (int i = 0; i < call->count; i++) {
        const uintptr_t other = (uintptr_t)call->array[i].host;
        if (call->array[i].bytes && bytes && at < other + call->array[i].bytes && other < at + bytes)
            return true;
    }
    return false;
}

cl_mem weft__call_in(struct weft__call *call, const char *name, const void *host, size_t bytes)
{
    if (call->status)
        return NULL;
    struct weft__call_array *array = &call->array[call->count++];
    *array = (struct weft__call_array){.host = host, .bytes = bytes};
    call->status = weft__lend_begin(&array->buffer, call->ctx, call->queue, WEFT__LEND_READ, host, bytes, name);
    return array->buffer;
}

cl_mem weft__call_out(struct weft__call *call, const char *name, void *host, size_t bytes)
{
    if (call->status)
        return NULL;
    const bool apart = !host || !overlaps(call, host, bytes);
    struct weft__call_array *array = &call->array[call->count++];
    *array = (struct weft__call_array){.host = host, .result = host, .bytes = bytes};
    call->status = apart ? weft__lend_begin(&array->buffer, call->ctx, call->queue, WEFT__LEND_WRITE, host, bytes, name)
                         : weft__buffer_create(&array->buffer, call->ctx, bytes, name);
    return array->buffer;
}

// What was read is given back before results are copied, which may lie in it.
weft_status weft__call_end(struct weft__call *call)
{
    if (call->status)
        weft__lend_wait(call->ctx, call->queue);
    else
        call->status = weft__lend_end(call->ctx, call->queue, NULL, NULL, 0);
    for (int i = 0; i < call->count; i++)
        if (!call->array[i].result)
            weft__lend_release(call->ctx, &call->array[i].buffer, !call->status);
    for (int i = 0; i < call->count; i++) {
        struct weft__call_array *array = &call->array[i];
        if (array->result && !call->status)
            call->status = weft__lend_end(call->ctx, call->queue, array->buffer, array->result, array->bytes);
        weft__lend_release(call->ctx, &array->buffer, !call->status);
    }
    weft__keep_queue_end(call->ctx, &call->queue, !call->status);
    return call->status;
}
