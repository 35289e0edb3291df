// SPDX-License-Identifier: Apache-2.0
// Streams: the launches of one call on the caller's queue, in their order.
#pragma once

#include "host/src/core/context.h"

// A queue in order for a function that blocks.
weft_status weft__queue_create(cl_command_queue *out, struct weft_context *ctx);
void weft__queue_release(cl_command_queue *queue); // and null; accepts NULL
// WEFT_EINVAL unless the queue is of this context's OpenCL context and device. What is enqueued elsewhere would read
// buffers that its context does not have.
weft_status weft__queue_check(struct weft_context *ctx, cl_command_queue queue);

// A chain of launches on the caller's queue: each waits for the caller's wait list and follows the one before it, also on
// an out-of-order queue; the caller's event completes with the last. Each has the list, since failure goes through lists alone
// on some drivers: with it on the first launch only, the others would run on what that one has not written.
struct weft__stream {
    struct weft_context *ctx;
    cl_command_queue queue;
    cl_uint nwait;
    const cl_event *wait;
    cl_event *event;
    int out_of_order;
    bool begun;         // something is enqueued
    weft_status status; // first failure; later launches do nothing
};
// What a function that gives an event begins with: after any failure it is NULL.
static inline void weft__event_none(cl_event *event)
{
    if (event)
        *event = NULL;
}
weft_status weft__stream_begin(struct weft__stream *out, struct weft_context *ctx, cl_command_queue queue,
                               cl_uint nwait, const cl_event *wait, cl_event *event);
// The queue of an operation's last run. It is retained: what has its handle is that queue, and need not be asked again.
struct weft__queue_seen {
    cl_command_queue queue; // NULL: none
    int out_of_order;
};
// weft__stream_begin that asks a queue only where it is not `seen`, and keeps it there.
weft_status weft__stream_begin_seen(struct weft__stream *out, struct weft_context *ctx, struct weft__queue_seen *seen,
                                    cl_command_queue queue, cl_uint nwait, const cl_event *wait, cl_event *event);
void weft__queue_seen_release(struct weft__queue_seen *seen); // and null
// What comes before each command of a stream: in an out-of-order queue a barrier. The first one has the list; the others have
// none, since a barrier with a list waits for that alone.
cl_int weft__stream_barrier(struct weft__stream *stream);
// Copy the first `bytes` bytes of a buffer to another one, from its byte `at` on, as a command of the stream; 0 bytes: nothing to do.
weft_status weft__stream_copy(struct weft__stream *stream, cl_mem to, size_t at, cl_mem from, size_t bytes);
// An event of the chain as far as it is enqueued.
cl_int weft__stream_mark(const struct weft__stream *stream, cl_event *out);
// Give the caller's event; return the status of the chain.
weft_status weft__stream_end(struct weft__stream *stream);
