// SPDX-License-Identifier: Apache-2.0
// Columns sorted inside each row, and duplicates added up, on the host and on the device.
#ifndef WEFT_CANONICAL_H
#define WEFT_CANONICAL_H

#include <stdbool.h>
#include <weft/validate.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_canonical_params {
    bool keep;   // duplicates stay, in their order; default: entries of one row and column become one, their sum
    bool always; // on a device: sort without a look whether columns ascend already; a run then does not block
    int threads; // of weft_csr_canonical; default 0: every processor
};
#define weft_canonical_params(...) (&(struct weft_canonical_params){__VA_ARGS__})

// Sort the columns inside each row, stable, values with them; then add up duplicates from the left and move entries
// together, as SciPy's sum_duplicates does. Integers wrap around; entries of a pattern are merged; explicit zeros and sums
// that are zero stay. Works in place: a->nnz may become less, the arrays keep their memory. The result does not depend on
// the number of threads. params may be NULL.
// Errors: WEFT_EINVAL, WEFT_EMATRIX as weft_csr_validate; WEFT_EINVAL threads; WEFT_ERANGE a row of 2^32 entries or more;
//         WEFT_ENOMEM: rows may be sorted, nothing is lost.
WEFT_API weft_status weft_csr_canonical(struct weft_csr *a, const struct weft_canonical_params *params,
                                        struct weft_error *err);

struct weft_canonical_info {
    struct weft_canonical_params params;
    enum weft_schedule schedule;
    size_t workspace_bytes; // device memory held by the plan
};

// The same for CSR matrices of one shape on a device.
struct weft_canonical_plan;

// Device bytes that such a plan holds, without making it.
WEFT_API weft_status weft_canonical_workspace(size_t *out_bytes, struct weft_context *ctx, struct weft_shape shape,
                                              const struct weft_canonical_params *params);
// Compile the kernels and allocate the scratch memory for matrices of this shape. params may be NULL.
// Errors: WEFT_EINVAL sizes, type, ofs; WEFT_ERANGE nnz too large for ofs or the device; WEFT_EUNSUPPORTED sums of f64
//         without double precision; WEFT_EDEVMEM; WEFT_EBUILD; WEFT_ENOMEM.
// Threads: a plan runs in one queue at a time.
WEFT_API weft_status weft_canonical_plan_create(struct weft_canonical_plan **out, struct weft_context *ctx,
                                                struct weft_shape shape, const struct weft_canonical_params *params);
// Enqueue: `out` becomes `a` with sorted columns and, unless params.keep, no duplicates.
//   out   m x n with room for nnz entries, may be `a`; row pointers say how many it has, weft_canonical_nnz_sync reads it.
//         Entries behind them are not set.
//   a     m x n with nnz entries, trusted (weft_validate_sync)                (read, borrowed until the event)
//   wait  nwait events to wait for; event: NULL or where to put the event of the result
// Errors:     WEFT_EINVAL shapes, type or offsets differ from those of the plan, a buffer is missing or too small, or `out`
//             has some of the buffers of `a` only; WEFT_EMATRIX without params.always: row pointers that
//             contradict each other, or a column out of range that the look meets first;
//             WEFT_EDEVICE, WEFT_EDEVMEM, WEFT_ENOMEM the driver refused a call.
// Blocks:     until it is known whether columns ascend: what is in order is copied, or in place left alone. With
//             params.always not. Allocates nothing.
// Repeatable: the same bits on every device, those of weft_csr_canonical.
// Moves:      in order nnz*(3*4 + 2*sizeof val) bytes, in place nnz*4; else the sort's two to three times nnz*(8 + 2*sizeof
//             val), and for sums nnz*(12 + 2*sizeof val).
// Method:     docs/canonical.md.
WEFT_API weft_status weft_canonical_run(struct weft_canonical_plan *plan, cl_command_queue queue,
                                        const struct weft_device_csr *out, const struct weft_device_csr *a,
                                        cl_uint nwait, const cl_event *wait, cl_event *event);
// Wait for what `queue` holds and read how many entries a matrix has by its row pointers, whatever a->nnz says.
// Errors: WEFT_EINVAL sizes, row_ptr missing or too small; WEFT_EDEVICE.
WEFT_API weft_status weft_canonical_nnz_sync(int64_t *out, struct weft_context *ctx, cl_command_queue queue,
                                             const struct weft_device_csr *a);
// What the plan is: valid until it is destroyed. NULL for NULL.
WEFT_API const struct weft_canonical_info *weft_canonical_plan_info(const struct weft_canonical_plan *plan);
// Accepts NULL and *plan == NULL.
WEFT_API void weft_canonical_plan_destroy(struct weft_canonical_plan **plan);

// The same with host arrays in and out: validates, creates, writes, runs, reads. Blocks. `out` is allocated here; on
// failure it is all zero. Where it is `a` itself that is WEFT_EINVAL, and nothing changes.
// Errors: as above; WEFT_EMATRIX row pointers or columns that contradict the shape; WEFT_ENOMEM.
WEFT_API weft_status weft_canonical_sync(struct weft_csr *out, struct weft_context *ctx, const struct weft_csr *a,
                                         const struct weft_canonical_params *params);

#ifdef __cplusplus
}
#endif
#endif
