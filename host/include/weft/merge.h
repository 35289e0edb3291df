// SPDX-License-Identifier: Apache-2.0
// Merge of sorted arrays and blocks by merge path, on the device.
#ifndef WEFT_MERGE_H
#define WEFT_MERGE_H

#include <weft/context.h>
#include <weft/key.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_merge_params {
    // Tuning, 0: from the tables. A value outside what the device allows is WEFT_EINVAL. Those of the schedule that does
    // not run are not looked at.
    struct {
        int wg;     // work-items per work-group, a multiple of 32
        int ipt;    // elements per work-item, 1..32
        int groups; // most work-groups of one launch
    } gpu;
    struct {
        int wg;     // work-items per work-group, 1..8
        int chunk;  // least elements of a chunk, 1..2^30
        int chunks; // most chunks
    } cpu;
};
#define weft_merge_params(...) (&(struct weft_merge_params){__VA_ARGS__})

struct weft_merge_info {
    struct weft_merge_params params; // with every default resolved
    enum weft_schedule schedule;
    size_t workspace_bytes; // scratch held by the plan
    char why[160];          // where the tuning values come from
};

// Merges of sorted arrays, up to n_max elements of output. Stable: of equal keys those of the left array come first,
// in their order.
struct weft_merge_plan;

// Scratch bytes of such a plan, without making it.
WEFT_API weft_status weft_merge_workspace(size_t *out_bytes, struct weft_context *ctx, enum weft_key key,
                                          int payload_bytes, int64_t n_max, const struct weft_merge_params *params);
// Compile the kernels and allocate the scratch memory.
//   payload_bytes  0, 4 or 8: bytes that travel with each key
//   params         may be NULL
// Errors: WEFT_EINVAL key, payload_bytes, n_max < 0, tuning; WEFT_ERANGE the scratch exceeds the device; WEFT_EDEVMEM;
//         WEFT_EBUILD; WEFT_ENOMEM.
// Threads: a plan runs in one queue at a time.
WEFT_API weft_status weft_merge_plan_create(struct weft_merge_plan **out, struct weft_context *ctx, enum weft_key key,
                                            int payload_bytes, int64_t n_max, const struct weft_merge_params *params);
// Enqueue out = merge of a and b, both sorted.
//   out_key, out_payload  na+nb elements, no input of this call                                 (every one written)
//   a_key, a_payload      na elements each; payloads are not used when payload_bytes is 0      (read)
//   b_key, b_payload      nb elements                                                           (read)
//   wait                  nwait events to wait for; event: NULL or where to put the event of the result
// Errors:     WEFT_EINVAL lengths negative or na+nb > n_max, a buffer too small, both input and output, or
//             output twice;
//             WEFT_EDEVICE the queue refused the launch.
// Blocks:     no; allocates nothing.
// Moves:      (na+nb)*2*(sizeof key + payload_bytes) bytes.
// Method:     merge path, O. Green, R. McColl, D. Bader, ICS 2012; docs/merge.md.
WEFT_API weft_status weft_merge_run(struct weft_merge_plan *plan, cl_command_queue queue, cl_mem out_key,
                                    cl_mem out_payload, cl_mem a_key, cl_mem a_payload, int64_t na, cl_mem b_key,
                                    cl_mem b_payload, int64_t nb, cl_uint nwait, const cl_event *wait, cl_event *event);
// The same for all pairs of neighbours in one array at once: `key` holds sorted blocks of `block` elements, the last
// one maybe shorter; out holds the merged pairs, sorted blocks of 2*block elements. A block without a neighbour is
// copied. Errors also: WEFT_EINVAL block < 1.
WEFT_API weft_status weft_merge_blocks_run(struct weft_merge_plan *plan, cl_command_queue queue, cl_mem out_key,
                                           cl_mem out_payload, cl_mem key, cl_mem payload, int64_t n, int64_t block,
                                           cl_uint nwait, const cl_event *wait, cl_event *event);
// What the plan is: valid until it is destroyed. NULL for NULL.
WEFT_API const struct weft_merge_info *weft_merge_plan_info(const struct weft_merge_plan *plan);
// Accepts NULL and *plan == NULL.
WEFT_API void weft_merge_plan_destroy(struct weft_merge_plan **plan);

// The merge with arrays of the host in and out: checks the order, creates, lends or copies, runs. Blocks. Shapes as
// weft_merge_run; results may lie anywhere in what is read. A device that shares the host's memory works in the arrays
// themselves.
// Errors: as weft_merge_plan_create for na+nb; WEFT_EINVAL na, nb, an array is NULL or not sorted; WEFT_EDEVICE.
//         What the results hold after one is open.
WEFT_API weft_status weft_merge_sync(void *out_key, void *out_payload, struct weft_context *ctx, const void *a_key,
                                     const void *a_payload, int64_t na, const void *b_key, const void *b_payload,
                                     int64_t nb, enum weft_key key_type, int payload_bytes,
                                     const struct weft_merge_params *params);

#ifdef __cplusplus
}
#endif
#endif
