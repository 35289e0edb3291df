// SPDX-License-Identifier: Apache-2.0
// Buffers of a context.
#pragma once

#include <weft/context.h>

// WEFT_ERANGE, with the sizes, where the device has no buffer of `bytes` bytes. `what` names it.
weft_status weft__buffer_check(struct weft_context *ctx, size_t bytes, const char *what);
// A buffer of `bytes` bytes (at least one is allocated). Checks the device's limit first, so that the message has
// the sizes in it. `what` names the buffer. On a processor a large one lies on huge pages, where the system has them, and one
// after the other begins elsewhere in its first page.
// Errors: WEFT_ERANGE beyond the device's limit, WEFT_EDEVMEM.
weft_status weft__buffer_create(cl_mem *out, struct weft_context *ctx, size_t bytes, const char *what);
// The same with the contents of host memory, which is read before the call ends, and never on huge pages; no data: as
// weft__buffer_create.
weft_status weft__buffer_create_from(cl_mem *out, struct weft_context *ctx, size_t bytes, const void *data,
                                     const char *what);
// The same with zeros, for the few bytes that have to begin so. Errors: also WEFT_ENOMEM.
weft_status weft__buffer_create_zeros(cl_mem *out, struct weft_context *ctx, size_t bytes, const char *what);
// Bytes from which a buffer needs the flag that the driver wants for large ones, and the flag (0: none) of one of `bytes` bytes.
#define WEFT__LARGE_BYTES (INT64_C(1) << 32)
cl_mem_flags weft__buffer_large(const struct weft_context *ctx, size_t bytes);
// Release and null; accepts NULL.
void weft__buffer_release(cl_mem *buffer);
