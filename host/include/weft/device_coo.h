// SPDX-License-Identifier: Apache-2.0
// Coordinates in device memory: buffers of a shape, copies between host and device.
#ifndef WEFT_DEVICE_COO_H
#define WEFT_DEVICE_COO_H

#include <weft/context.h>
#include <weft/matrix.h>

#ifdef __cplusplus
extern "C" {
#endif

// A matrix as coordinates in device memory, entries in any order: the caller's own buffers, borrowed for the time of a
// call and its commands.
struct weft_device_coo {
    int64_t m, n, nnz;
    enum weft_type type;
    cl_mem row; // nnz int32
    cl_mem col; // nnz int32
    cl_mem val; // nnz values; NULL for WEFT_TYPE_PATTERN
};

// Buffers for coordinates on the device of ctx, contents not set. shape.ofs is not used.
// Errors: WEFT_EINVAL sizes or type; WEFT_ERANGE an array too large for one buffer of the device; WEFT_EDEVMEM.
WEFT_API weft_status weft_device_coo_alloc(struct weft_device_coo *out, struct weft_context *ctx,
                                           struct weft_shape shape);
// Release the buffers and zero the struct; accepts NULL and an all-zero struct.
WEFT_API void weft_device_coo_free(struct weft_device_coo *a);

#ifdef __cplusplus
}
#endif
#endif
