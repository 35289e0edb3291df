// SPDX-License-Identifier: Apache-2.0
// Copies of functions that block.
#pragma once

#include "host/src/core/stage.h"

// Copies of several arrays; those of 0 bytes: nothing to do. Large ones go through pinned memory (stage.h), the rest as the
// driver does it. They block, and what came in is there for every queue; but in a queue of weft__keep_queue, `own`, arrays
// that go in are only enqueued: they stay untouched until the queue was waited for, also after a failure, and then
// weft__stage_settle says whether all arrived.
weft_status weft__copies_in(struct weft_context *ctx, cl_command_queue queue, bool own, const struct weft__copy *copies,
                            int count);
weft_status weft__copies_out(struct weft_context *ctx, cl_command_queue queue, bool own,
                             const struct weft__copy *copies, int count);
// Copies of `bytes` bytes that block; 0: nothing to do. What came in is there for every queue.
weft_status weft__copy_in(struct weft_context *ctx, cl_command_queue queue, cl_mem to, const void *from, size_t bytes);
weft_status weft__copy_out(struct weft_context *ctx, cl_command_queue queue, void *to, cl_mem from, size_t bytes);
// The same from byte `first` on.
weft_status weft__copy_out_from(struct weft_context *ctx, cl_command_queue queue, void *to, cl_mem from, size_t first,
                                size_t bytes);
