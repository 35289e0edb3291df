// SPDX-License-Identifier: Apache-2.0
// What a context keeps from one blocking call for the next: a queue, buffers of the device, a plan of each operation.
#pragma once

#include "host/src/core/stream.h"

// Bytes of the device's memory that are kept at most, and the share of all of it. None where the device shares the host's
// memory: arrays are not copied there.
#define WEFT__KEEP_BYTES ((size_t)1 << 30)
#define WEFT__KEEP_SHARE 16

// The queue that is kept, or a new one; its end. It is kept where `idle`: nothing is in it, and nothing failed.
weft_status weft__keep_queue(cl_command_queue *out, struct weft_context *ctx);
void weft__keep_queue_end(struct weft_context *ctx, cl_command_queue *queue, bool idle);
// A kept buffer of exactly `bytes` bytes, whose contents are anything; NULL: there is none. The end of a buffer that
// weft__buffer_create made: kept where `idle`, else released. Accepts NULL; sets it to NULL.
cl_mem weft__keep_buffer(struct weft_context *ctx, size_t bytes);
void weft__keep_buffer_end(struct weft_context *ctx, cl_mem *buffer, bool idle);
// The plan that is kept, if it is one that `drop` destroys, and which the caller then owns; NULL: there is none. And keeping
// one that is idle and holds `bytes` bytes of the device's memory, in the place of the last one; there are WEFT__KEPT_PLANS different `drop`s.
void *weft__keep_plan(struct weft_context *ctx, void (*drop)(void *plan));
void weft__keep_plan_end(struct weft_context *ctx, void *plan, size_t bytes, void (*drop)(void *plan));
// Give all of it up; false: there was nothing.
bool weft__keep_drop(struct weft_context *ctx);
