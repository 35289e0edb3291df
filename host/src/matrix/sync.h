// SPDX-License-Identifier: Apache-2.0
// Functions that block and give a matrix: one skeleton for host arrays in and out.
#pragma once

#include "host/src/core/context.h"
#include <weft/device_csr.h>

// A function that blocks and gives a matrix: its queue, and the result on both sides. The first failure stays in `status`,
// and what follows does nothing.
struct weft__sync {
    struct weft_context *ctx;
    weft_status status;
    cl_command_queue queue;
    struct weft_csr *out;
    struct weft_device_csr to, from;
};
// Zero *out, and check what such a function is given: `out`, and of `a` the shape and the pointers. Where `out` is `a` itself
// nothing changes: its arrays are the caller's.
weft_status weft__sync_check(struct weft_context *ctx, struct weft_csr *out, const struct weft_csr *a);
// Make the queue and the result; the caller has set ctx, and status to what came before.
void weft__sync_begin(struct weft__sync *s, struct weft_csr *out, struct weft_shape shape);
// A matrix on the device, as weft__lend_csr, which is checked as weft_csr_validate does: by the device where it is large, else by
// the host while its arrays are on their way.
weft_status weft__sync_lend(struct weft_device_csr *out, struct weft_context *ctx, cl_command_queue queue,
                            const struct weft_csr *a);
// s->from with the contents of `from`, and a buffer with those of host memory (0 bytes: none), as lend.h says: what they are
// made from stays untouched until the end. The matrix passed weft__sync_check, and is checked by weft__sync_lend.
void weft__sync_csr(struct weft__sync *s, const struct weft_csr *from);
void weft__sync_buffer(struct weft__sync *s, cl_mem *to, const void *from, size_t bytes, const char *what);
// Read the result, or free it after a failure; release the rest.
weft_status weft__sync_end(struct weft__sync *s);
