// SPDX-License-Identifier: Apache-2.0
// Queues and copies of functions that block.
#ifndef WEFT_CORE_COPY_H
#define WEFT_CORE_COPY_H

#include "host/src/core/context.h"

// A queue in order for a function that blocks.
weft_status weft__queue_create(cl_command_queue *out, struct weft_context *ctx);
void weft__queue_release(cl_command_queue *queue); // and null; accepts NULL
// An array on both sides: bytes first .. first+bytes-1 of the buffer.
struct weft__copy {
    cl_mem buffer;
    size_t first;
    void *host; // written by copies out alone
    size_t bytes;
};
// Copies of several arrays that block; those of 0 bytes: nothing to do. What came in is there for every queue. Large ones go
// through pinned memory (stage.h), the rest as the driver does it.
weft_status weft__copies_in(struct weft_context *ctx, cl_command_queue queue, const struct weft__copy *copies,
                            int count);
weft_status weft__copies_out(struct weft_context *ctx, cl_command_queue queue, const struct weft__copy *copies,
                             int count);
// Copies of `bytes` bytes that block; 0: nothing to do. What came in is there for every queue.
weft_status weft__copy_in(struct weft_context *ctx, cl_command_queue queue, cl_mem to, const void *from, size_t bytes);
weft_status weft__copy_out(struct weft_context *ctx, cl_command_queue queue, void *to, cl_mem from, size_t bytes);
// The same from byte `first` on.
weft_status weft__copy_out_from(struct weft_context *ctx, cl_command_queue queue, void *to, cl_mem from, size_t first,
                                size_t bytes);

#endif
