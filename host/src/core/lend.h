// SPDX-License-Identifier: Apache-2.0
// Host arrays as buffers during a call that blocks: without a copy where the device shares the host's memory.
#pragma once

#include "host/src/core/context.h"
#include <weft/device_csr.h>

#include <stdbool.h>

// What the device does with an array.
enum weft__lend {
    WEFT__LEND_READ,  // its contents are there; it is not written
    WEFT__LEND_WRITE, // every element is written
    WEFT__LEND_BOTH   // its contents are there, and may change
};

// `queue`: of weft__keep_queue, here and below.
// A buffer for `bytes` bytes of the host, which stay there and untouched until weft__lend_end and the release of the buffer.
// An array that is not shared is copied. 0 bytes: a buffer of one byte.
// Errors: as weft__buffer_create and weft__copy_in; WEFT_EINVAL the array is NULL.
weft_status weft__lend_begin(cl_mem *out, struct weft_context *ctx, cl_command_queue queue, enum weft__lend use,
                             const void *host, size_t bytes, const char *what);
// Wait until the array holds what the commands of `queue` wrote. Not for WEFT__LEND_READ. 0 bytes: for the commands alone.
weft_status weft__lend_end(struct weft_context *ctx, cl_command_queue queue, cl_mem buffer, void *host, size_t bytes);
// The same for the arrays of a matrix, whose shape *out gets.
weft_status weft__lend_csr(struct weft_device_csr *out, struct weft_context *ctx, cl_command_queue queue,
                           enum weft__lend use, const struct weft_csr *a);
weft_status weft__lend_csr_end(struct weft_context *ctx, cl_command_queue queue, const struct weft_device_csr *d,
                               struct weft_csr *a);
// The end of a buffer of weft__lend_begin and of all of a matrix; `idle`: no command uses it, and nothing failed. A buffer
// that is no array of the host's may be kept for the next call.
void weft__lend_release(struct weft_context *ctx, cl_mem *buffer, bool idle);
void weft__lend_csr_release(struct weft_context *ctx, struct weft_device_csr *a, bool idle);
// After a failure: commands that were enqueued may still use lent arrays.
void weft__lend_wait(struct weft_context *ctx, cl_command_queue queue);
