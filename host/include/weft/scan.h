// SPDX-License-Identifier: Apache-2.0
// Prefix sums on the device.
#ifndef WEFT_SCAN_H
#define WEFT_SCAN_H

#include <stdbool.h>
#include <weft/context.h>

#ifdef __cplusplus
extern "C" {
#endif

// Type of the elements and of their sums. Integer sums wrap around.
enum weft_scan_type {
    WEFT_SCAN_TYPE_I32 = 0, // int32 to int32
    WEFT_SCAN_TYPE_U32,     // uint32 to uint32
    WEFT_SCAN_TYPE_I64,     // int64 to int64 (the bits are right for uint64 too)
    WEFT_SCAN_TYPE_F32,     // float to float
    WEFT_SCAN_TYPE_I32_I64, // int32 to int64
    WEFT_SCAN_TYPE_U32_U64  // uint32 to uint64 (int64 as long as sums stay below 2^63)
};
// Bytes of one element and of one sum; 0 for any other number.
WEFT_API size_t weft_scan_in_bytes(enum weft_scan_type type);
WEFT_API size_t weft_scan_sum_bytes(enum weft_scan_type type);
// "i32" "u32" "i64" "f32" "i32_i64" "u32_u64"
WEFT_API const char *weft_scan_type_name(enum weft_scan_type type);
WEFT_API weft_status weft_scan_type_parse(enum weft_scan_type *out, const char *text);

enum weft_scan_algo {
    WEFT_SCAN_ALGO_AUTO = 0, // CHAINED where that was measured faster (integers on NVIDIA), else THREE
    WEFT_SCAN_ALGO_THREE,    // sums of the tiles, their sums, then the tiles again: three launches (two on a CPU)
    WEFT_SCAN_ALGO_CHAINED   // one launch, which reads once: GPU schedule, integers, devices with 64-bit atomics
};
// "auto" "three" "chained"
WEFT_API const char *weft_scan_algo_name(enum weft_scan_algo algo);
WEFT_API weft_status weft_scan_algo_parse(enum weft_scan_algo *out, const char *text);

struct weft_scan_params {
    bool inclusive; // out[i] counts in[i] too; default: exclusive
    bool total;     // out has n+1 elements, out[n] is the sum of all (exclusive only)
    enum weft_scan_algo algo;
    // Tuning, 0: from the tables. A value outside what the device allows is WEFT_EINVAL. Those of the schedule that does
    // not run are not looked at.
    struct {
        int wg;     // work-items per work-group, a multiple of 32
        int ipt;    // elements per work-item, a multiple of 4, 4..32
        int groups; // most work-groups of one launch (chained: one for each tile)
        int look;   // chained: tiles that a work-group looks back at at once, a multiple of 32 up to wg
    } gpu;
    struct {
        int wg;     // work-items per work-group, 1..8
        int chunk;  // least elements of a chunk, a multiple of 8 up to 2^24
        int chunks; // most chunks
    } cpu;
};
#define weft_scan_params(...) (&(struct weft_scan_params){__VA_ARGS__})

struct weft_scan_info {
    struct weft_scan_params params; // with every default resolved
    enum weft_schedule schedule;
    size_t workspace_bytes; // scratch held by the plan
    char why[160];          // why this algorithm, and where the tuning values come from
};

// Prefix sums of up to n_max elements:
//   exclusive  out[i] = in[0] + ... + in[i-1]     inclusive  out[i] = in[0] + ... + in[i]
struct weft_scan_plan;

// Scratch bytes of such a plan, without making it.
WEFT_API weft_status weft_scan_workspace(size_t *out_bytes, struct weft_context *ctx, enum weft_scan_type type,
                                         int64_t n_max, const struct weft_scan_params *params);
// Compile the kernels and allocate the scratch memory. params may be NULL. n_max has no upper limit of its own: the scratch
// alone is held against the device, not the arrays of a run.
// Errors: WEFT_EINVAL type, algo, n_max < 0, tuning; WEFT_EUNSUPPORTED WEFT_SCAN_ALGO_CHAINED for f32, on a CPU, without 64-bit
//         atomics; WEFT_ERANGE the scratch exceeds the device, chained: 2^31 work-items or more; WEFT_EDEVMEM;
//         WEFT_EBUILD; WEFT_ENOMEM.
// Threads: a plan runs in one queue at a time; in an in-order queue runs may follow each other, elsewhere each waits for the
//          one before.
WEFT_API weft_status weft_scan_plan_create(struct weft_scan_plan **out, struct weft_context *ctx,
                                           enum weft_scan_type type, int64_t n_max,
                                           const struct weft_scan_params *params);
// Enqueue the prefix sums of in[0..n-1].
//   out    n sums, n+1 with params.total          (every one written); may be `in` when their widths agree, else
//                                                  they share no memory
//   in     n elements                             (read, borrowed until the event)
//   wait   nwait events to wait for; event: NULL or where to put the event of the result
// Errors:     WEFT_EINVAL n < 0, n > n_max, a buffer too small; WEFT_EDEVICE the queue refused the launch; where words are taken
//             anew (Blocks), WEFT_EDEVMEM, WEFT_ENOMEM: a later run tries again.
// Blocks:     no; allocates nothing (chained: 8 or 16 bytes for each tile anew, once in 2^30 runs).
// Repeatable: bitwise on one device with equal tuning, f32 included (a fixed tree of sums, docs/scan.md); integers always.
// Moves:      n*(2*sizeof in + sizeof sum) bytes and two sums per tile; n*(sizeof in + sizeof sum) in one tile. Chained:
//             n*(sizeof in + sizeof sum) and 8 or 16 bytes per tile; in place as three.
// Method:     three: reduce, scan of the tile sums, scan of each tile from its sum. Chained: decoupled look-back;
//             work-groups wait for earlier ones, and not for long. docs/scan.md.
WEFT_API weft_status weft_scan_run(struct weft_scan_plan *plan, cl_command_queue queue, cl_mem out, cl_mem in,
                                   int64_t n, cl_uint nwait, const cl_event *wait, cl_event *event);
// What the plan is: valid until it is destroyed. NULL for NULL.
WEFT_API const struct weft_scan_info *weft_scan_plan_info(const struct weft_scan_plan *plan);
// Accepts NULL and *plan == NULL.
WEFT_API void weft_scan_plan_destroy(struct weft_scan_plan **plan);

// The prefix sums with arrays of the host in and out: creates, lends or copies, runs. Blocks.
// Shapes as weft_scan_run; `out` may lie anywhere in `in`. A device that shares the host's memory works in the arrays
// themselves.
// Errors: as weft_scan_plan_create; WEFT_EINVAL an array is NULL; WEFT_EDEVICE. What `out` holds after one is open.
WEFT_API weft_status weft_scan_sync(void *out, struct weft_context *ctx, const void *in, int64_t n,
                                    enum weft_scan_type type, const struct weft_scan_params *params);

#ifdef __cplusplus
}
#endif
#endif
