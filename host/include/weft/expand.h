// SPDX-License-Identifier: Apache-2.0
// Pointers to index: the row of each entry from row pointers, on the device.
#ifndef WEFT_EXPAND_H
#define WEFT_EXPAND_H

#include <weft/context.h>
#include <weft/matrix.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_expand_params {
    // Tuning, 0: from the tables. A value outside what the device allows is WEFT_EINVAL. Those of the schedule that does
    // not run are not looked at.
    struct {
        int wg;     // work-items per work-group, a multiple of 32
        int ipt;    // rows plus positions per work-item, a multiple of 4, 4..32
        int groups; // most work-groups of one launch
    } gpu;
    struct {
        int wg;     // work-items per work-group, 1..8
        int chunk;  // least rows plus positions of a chunk, 1..2^24
        int chunks; // most chunks
    } cpu;
};
#define weft_expand_params(...) (&(struct weft_expand_params){__VA_ARGS__})

struct weft_expand_info {
    struct weft_expand_params params; // with every default resolved
    enum weft_schedule schedule;
    size_t workspace_bytes; // scratch held by the plan
    char why[160];          // where the tuning values come from
};

// Pointers-to-index: the row index of every position, for up to m_max rows and nnz_max positions:
//   row[p] = i   where row_ptr[i] <= p < row_ptr[i+1]
struct weft_expand_plan;

// Scratch bytes of such a plan, without making it.
WEFT_API weft_status weft_expand_workspace(size_t *out_bytes, struct weft_context *ctx, int64_t m_max, int64_t nnz_max,
                                           enum weft_ofs ofs, const struct weft_expand_params *params);
// Compile the kernels and allocate the scratch memory. params may be NULL.
// Errors: WEFT_EINVAL m_max outside 0 .. 2^31-1, nnz_max < 0, tuning; WEFT_ERANGE nnz_max too large for ofs, the
//         scratch exceeds the device; WEFT_EDEVMEM; WEFT_EBUILD; WEFT_ENOMEM.
// Threads: a plan runs in one queue at a time.
WEFT_API weft_status weft_expand_plan_create(struct weft_expand_plan **out, struct weft_context *ctx, int64_t m_max,
                                             int64_t nnz_max, enum weft_ofs ofs,
                                             const struct weft_expand_params *params);
// Enqueue the expansion of m rows that hold nnz positions.
//   row      nnz int32                                                        (every one written)
//   row_ptr  m+1 offsets as `ofs` says, trusted: row_ptr[0] == 0, ascending, row_ptr[m] == nnz
//            (read, borrowed until the event)
//   wait     nwait events to wait for; event: NULL or where to put the event of the result
// Errors:     WEFT_EINVAL m or nnz outside the plan, nnz > 0 with m == 0, a buffer too small or the same twice; WEFT_EDEVICE
//             the queue refused the launch.
// Blocks:     no; allocates nothing.      Repeatable: always the same result.
// Moves:      (m+1)*sizeof ofs + nnz*4 bytes, whatever the lengths of the rows.
// Method:     equal shares of rows plus positions, cut by the merge path; docs/expand.md.
WEFT_API weft_status weft_expand_run(struct weft_expand_plan *plan, cl_command_queue queue, cl_mem row, cl_mem row_ptr,
                                     int64_t m, int64_t nnz, cl_uint nwait, const cl_event *wait, cl_event *event);
// What the plan is: valid until it is destroyed. NULL for NULL.
WEFT_API const struct weft_expand_info *weft_expand_plan_info(const struct weft_expand_plan *plan);
// Accepts NULL and *plan == NULL.
WEFT_API void weft_expand_plan_destroy(struct weft_expand_plan **plan);

// The expansion with arrays of the host in and out: checks row_ptr, creates, lends or copies, runs. Blocks.
// Shapes as weft_expand_run; `row` may lie anywhere in row_ptr. A device that shares the host's memory works in the
// arrays themselves.
// Errors: as weft_expand_plan_create; WEFT_EINVAL an array is NULL; WEFT_EMATRIX row_ptr does not ascend from 0 to nnz;
//         WEFT_EDEVICE. What `row` holds after one is open.
WEFT_API weft_status weft_expand_sync(int32_t *row, struct weft_context *ctx, const void *row_ptr, int64_t m,
                                      int64_t nnz, enum weft_ofs ofs, const struct weft_expand_params *params);

#ifdef __cplusplus
}
#endif
#endif
