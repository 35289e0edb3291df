// SPDX-License-Identifier: Apache-2.0
// The inside of device matrices: the check of a shape, queues and copies that block.
#ifndef WEFT_MATRIX_DEVICE_CSR_H
#define WEFT_MATRIX_DEVICE_CSR_H

#include "host/src/core/context.h"
#include <weft/device_csr.h>

// Errors: WEFT_EINVAL sizes, type, ofs; WEFT_ERANGE nnz too large for ofs.
weft_status weft__shape_check(struct weft_context *ctx, struct weft_shape shape);
// A queue in order for a function that blocks.
weft_status weft__queue_create(cl_command_queue *out, struct weft_context *ctx);
void weft__queue_release(cl_command_queue *queue); // and null; accepts NULL
// Copies of `bytes` bytes that block; 0: nothing to do. What came in is there for every queue.
weft_status weft__copy_in(struct weft_context *ctx, cl_command_queue queue, cl_mem to, const void *from, size_t bytes);
weft_status weft__copy_out(struct weft_context *ctx, cl_command_queue queue, void *to, cl_mem from, size_t bytes);

#endif
