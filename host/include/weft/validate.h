// SPDX-License-Identifier: Apache-2.0
// What is wrong first with a CSR matrix, on the host and on the device.
#ifndef WEFT_VALIDATE_H
#define WEFT_VALIDATE_H

#include <weft/device_csr.h>

#ifdef __cplusplus
extern "C" {
#endif

// Columns inside a row.
enum weft_columns {
    WEFT_COLUMNS_ANY = 0,   // in any order
    WEFT_COLUMNS_ASCENDING, // none is less than the one before it
    WEFT_COLUMNS_UNIQUE     // each is greater than the one before it: no duplicates
};
// "any" "ascending" "unique"; "unknown" for any other number.
WEFT_API const char *weft_columns_name(enum weft_columns columns);
WEFT_API weft_status weft_columns_parse(enum weft_columns *out, const char *text);

// What can be wrong, in the order in which it is reported: row pointers before entries, entries by position.
enum weft_fault {
    WEFT_FAULT_NONE = 0,
    WEFT_FAULT_FIRST,    // row_ptr[0] is not 0
    WEFT_FAULT_LAST,     // row_ptr[m] is not nnz
    WEFT_FAULT_DESCENDS, // a row pointer exceeds the next one
    WEFT_FAULT_RANGE,    // a column is outside 0 .. n-1
    WEFT_FAULT_ORDER,    // a column is less than the one before it in its row
    WEFT_FAULT_DUPLICATE // a column is the one before it in its row
};
// "none" "first" "last" "descends" "range" "order" "duplicate"; "unknown" for any other number.
WEFT_API const char *weft_fault_name(enum weft_fault fault);
WEFT_API weft_status weft_fault_parse(enum weft_fault *out, const char *text);

// weft_csr_validate, and the columns inside each row.
// Errors: as weft_csr_validate; WEFT_EINVAL columns; WEFT_EMATRIX the first fault.
WEFT_API weft_status weft_csr_validate_columns(const struct weft_csr *a, enum weft_columns columns,
                                               struct weft_error *err);

struct weft_validate_info {
    enum weft_schedule schedule;
    size_t workspace_bytes; // scratch held by the plan
};

// Checks of CSR matrices of any shape on a device.
struct weft_validate_plan;

// Scratch bytes of such a plan, without making it. Errors: WEFT_EINVAL ofs.
WEFT_API weft_status weft_validate_workspace(size_t *out_bytes, struct weft_context *ctx, enum weft_ofs ofs);
// Compile the kernels and allocate the scratch memory, for matrices with offsets of `ofs`.
// Errors: WEFT_EINVAL ofs; WEFT_EDEVMEM; WEFT_EBUILD; WEFT_ENOMEM.
// Threads: a plan runs in one queue at a time.
WEFT_API weft_status weft_validate_plan_create(struct weft_validate_plan **out, struct weft_context *ctx,
                                               enum weft_ofs ofs);
// Enqueue the check of row_ptr and col; val is not read.
//   found    two int64: enum weft_fault, and where it is: row i of WEFT_FAULT_DESCENDS, the position of an entry (both written)
//   a        m x n, not trusted, only its buffers must be large enough       (read, borrowed until the event)
//   columns  what is asked of them
//   wait     nwait events to wait for; event: NULL or where to put the event of the result
// Errors:     WEFT_EINVAL sizes, offsets, columns, a buffer missing or too small, `found` in the matrix;
//             WEFT_EDEVICE the queue refused the launch.
// Blocks:     no; allocates nothing.      Repeatable: the same fault on every device, that of weft_csr_validate_columns.
// Moves:      nnz*4 + (m+1)*sizeof ofs bytes; row pointers once more where the order of columns is asked for.
WEFT_API weft_status weft_validate_run(struct weft_validate_plan *plan, cl_command_queue queue, cl_mem found,
                                       const struct weft_device_csr *a, enum weft_columns columns, cl_uint nwait,
                                       const cl_event *wait, cl_event *event);
// What the plan is: valid until it is destroyed. NULL for NULL.
WEFT_API const struct weft_validate_info *weft_validate_plan_info(const struct weft_validate_plan *plan);
// Accepts NULL and *plan == NULL.
WEFT_API void weft_validate_plan_destroy(struct weft_validate_plan **plan);

// Check a matrix on the device behind what `queue` holds, and wait for the answer.
// Errors: as above; WEFT_EMATRIX the first fault, in the words of weft_csr_validate.
WEFT_API weft_status weft_validate_sync(struct weft_context *ctx, cl_command_queue queue,
                                        const struct weft_device_csr *a, enum weft_columns columns);

#ifdef __cplusplus
}
#endif
#endif
