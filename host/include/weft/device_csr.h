// SPDX-License-Identifier: Apache-2.0
// CSR matrices in device memory: buffers of a shape, copies between host and device.
#ifndef WEFT_DEVICE_CSR_H
#define WEFT_DEVICE_CSR_H

#include <weft/context.h>
#include <weft/matrix.h>

#ifdef __cplusplus
extern "C" {
#endif

// A CSR matrix in device memory: the caller's own buffers, borrowed for the time of a call and its commands.
// Read by columns it is a CSC matrix. An array that begins inside a larger cl_mem is given as a sub-buffer
// (clCreateSubBuffer, aligned as CL_DEVICE_MEM_BASE_ADDR_ALIGN says); so in every call that takes a buffer.
//
// Of every buffer in every call it is trusted, too, that
// - it is of the OpenCL context of ctx (weft_context_cl). Only weft_spmv_plan_create, weft_spmv_plan_refill and
//   weft_transpose_refill_create look, at those of their matrix: WEFT_EINVAL. Some drivers take others without a word.
// - host memory behind it (CL_MEM_USE_HOST_PTR) begins at a multiple of 128 bytes, the size of OpenCL's largest type. Kernels of
//   the GPU schedule read several elements at once, and crash elsewhere on drivers that use that memory itself, as PoCL does.
//   Those of the CPU schedule need a multiple of an element's size.
struct weft_device_csr {
    int64_t m, n, nnz;
    enum weft_type type;
    enum weft_ofs ofs;
    cl_mem row_ptr; // m+1 offsets
    cl_mem col;     // nnz int32
    cl_mem val;     // nnz values; NULL for WEFT_TYPE_PATTERN
};

static inline struct weft_shape weft_device_csr_shape(const struct weft_device_csr *a)
{
    struct weft_shape shape = {a->m, a->n, a->nnz, a->type, a->ofs};
    return shape;
}

// Buffers for a matrix on the device of ctx, contents not set (row_ptr neither).
// Errors: WEFT_EINVAL sizes, type or ofs; WEFT_ERANGE nnz too large for ofs, an array too large for one buffer of the
//         device; WEFT_EDEVMEM.
WEFT_API weft_status weft_device_csr_alloc(struct weft_device_csr *out, struct weft_context *ctx,
                                           struct weft_shape shape);
// Release the buffers and zero the struct; accepts NULL and an all-zero struct.
WEFT_API void weft_device_csr_free(struct weft_device_csr *a);
// Blocking copies between host and device, behind what `queue` holds: `to` is what is written, of the shape of `from`.
// Errors: WEFT_EINVAL shapes, types or offsets differ; WEFT_EDEVICE, WEFT_EDEVMEM, WEFT_ENOMEM from the driver.
WEFT_API weft_status weft_device_csr_write_sync(const struct weft_device_csr *to, struct weft_context *ctx,
                                                cl_command_queue queue, const struct weft_csr *from);
WEFT_API weft_status weft_device_csr_read_sync(struct weft_csr *to, struct weft_context *ctx, cl_command_queue queue,
                                               const struct weft_device_csr *from);
// weft_csr_rebase on the device: bring row pointers and columns from one base to the other, in place. Follows what `queue`
// holds, and waits. weft_device_csr_rebase_sync(&a, ctx, queue, 1, 0) goes before any function that takes the matrix.
//   a         m x n, row_ptr from `from` to nnz + from, columns from .. n-1 + from: checked first, and nothing is changed
//             where they are not; val is not touched
//   from, to  0 or 1; equal: the check alone
// Errors: WEFT_EINVAL sizes, type, ofs, another base, a buffer missing or too small; WEFT_EMATRIX row pointers do not lead from
//         the base to nnz + base or descend, or a column is out of range; WEFT_ERANGE to base 1: 2^31-1 entries with 32-bit
//         offsets; WEFT_EBUILD, WEFT_EDEVICE, WEFT_EDEVMEM, WEFT_ENOMEM.
// Moves:  nnz*12 + (m+1)*3*sizeof ofs bytes.
WEFT_API weft_status weft_device_csr_rebase_sync(const struct weft_device_csr *a, struct weft_context *ctx,
                                                 cl_command_queue queue, int from, int to);

// The same of one array: the first `bytes` bytes of `to` become those of `from`. Where the device does not share the host's
// memory, large arrays travel through pinned memory by several threads.
// Errors: WEFT_EINVAL an argument is NULL, the queue is of another device, the buffer is smaller; as above.
WEFT_API weft_status weft_device_write_sync(cl_mem to, struct weft_context *ctx, cl_command_queue queue,
                                            const void *from, size_t bytes);
WEFT_API weft_status weft_device_read_sync(void *to, struct weft_context *ctx, cl_command_queue queue, cl_mem from,
                                           size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
