// SPDX-License-Identifier: Apache-2.0
// CSR from coordinates and back, on the device and for host arrays.
#ifndef WEFT_CONVERT_H
#define WEFT_CONVERT_H

#include <weft/device_coo.h>
#include <weft/transpose.h>

#ifdef __cplusplus
extern "C" {
#endif

// Which conversion is which call:
//   CSR to CSC    weft_transpose_run: the CSC arrays of A (col_ptr, row indices, val) are the CSR arrays of A^T
//   CSC to CSR    the same, with the CSC arrays of the m x n matrix A passed as the n x m CSR matrix that they also are
//   CSR to COO    weft_expand_run (expand.h) makes the row indices; col and val are those of the CSR matrix, no copy
//   COO to CSR    weft_coo_to_csr_run
//   COO to CSC    weft_coo_to_csr_run with row and col, m and n exchanged

// CSR from coordinates of one shape: the machinery of the transposition, with the roles of row and column exchanged.
struct weft_coo_to_csr;

// Scratch bytes that such an object holds, without making it.
WEFT_API weft_status weft_coo_to_csr_workspace(size_t *out_bytes, struct weft_context *ctx, struct weft_shape shape,
                                               const struct weft_transpose_params *params);
// Compile the kernels and allocate the scratch memory for results of this shape. params may be NULL.
// Errors: as weft_transpose_plan_create.
// Threads: one object runs in one queue at a time.
WEFT_API weft_status weft_coo_to_csr_create(struct weft_coo_to_csr **out, struct weft_context *ctx,
                                            struct weft_shape shape, const struct weft_transpose_params *params);
// out = a, stable: entries of one row keep the order they have in `a`; duplicates stay.
//   out   m x n, every element of its arrays is written
//   a     m x n, trusted: indices in range                 (read, borrowed until the event)
//   wait  nwait events to wait for; event: NULL or where to put the event of the result
// Errors: WEFT_EINVAL shapes or types differ from those of the object, a buffer is missing, too small or on both sides;
//         WEFT_EDEVICE the queue refused a launch.
// Blocks: no; allocates nothing. Repeatable: the same bits on every device.
// Moves: at least nnz*(4*4 + 2*sizeof val) + (m+1)*sizeof ofs bytes.
WEFT_API weft_status weft_coo_to_csr_run(struct weft_coo_to_csr *op, cl_command_queue queue,
                                         const struct weft_device_csr *out, const struct weft_device_coo *a,
                                         cl_uint nwait, const cl_event *wait, cl_event *event);
// What the plan is: valid until it is destroyed. NULL for NULL.
WEFT_API const struct weft_transpose_info *weft_coo_to_csr_info(const struct weft_coo_to_csr *op);
// Accepts NULL and *op == NULL.
WEFT_API void weft_coo_to_csr_destroy(struct weft_coo_to_csr **op);

// The same with host arrays in and out: validates, creates, writes, runs, reads. Block. `out` is allocated here; on
// failure it is all zero.
// Errors: as above; WEFT_EMATRIX an index out of range or row pointers that contradict each other; WEFT_ENOMEM.
WEFT_API weft_status weft_coo_to_csr_sync(struct weft_csr *out, struct weft_context *ctx, const struct weft_coo *a,
                                          enum weft_ofs ofs, const struct weft_transpose_params *params);
WEFT_API weft_status weft_csr_to_coo_sync(struct weft_coo *out, struct weft_context *ctx, const struct weft_csr *a);

#ifdef __cplusplus
}
#endif
#endif
