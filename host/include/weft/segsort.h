// SPDX-License-Identifier: Apache-2.0
// Stable sort of each segment of an array, with payload, on the device.
#ifndef WEFT_SEGSORT_H
#define WEFT_SEGSORT_H

#include <weft/context.h>
#include <weft/key.h>
#include <weft/matrix.h>

#ifdef __cplusplus
extern "C" {
#endif

// How a GPU sorts one segment that is the whole array.
enum weft_segsort_whole {
    WEFT_SEGSORT_WHOLE_AUTO,  // CHAINED or RADIX where the array is large enough, by the tables
    WEFT_SEGSORT_WHOLE_MERGE, // as any other: tiles, and rounds of merges
    WEFT_SEGSORT_WHOLE_RADIX, // digit by digit, three launches each
    WEFT_SEGSORT_WHOLE_CHAINED // digit by digit, one launch each: tiles look back at the ones before them; below 2^30 elements
};
// "auto" "merge" "radix" "chained"
WEFT_API const char *weft_segsort_whole_name(enum weft_segsort_whole whole);
WEFT_API weft_status weft_segsort_whole_parse(enum weft_segsort_whole *out, const char *text);
// Tuning of RADIX and CHAINED, 0: from the tables. A value outside what the device allows is WEFT_EINVAL.
struct weft_segsort_radix {
    int wg;    // work-items per work-group, a multiple of 32
    int ipt;   // elements per work-item, 2..32
    int bits;  // of a digit, 4..11
    int look;  // CHAINED: tiles that a work-item looks at at once, 1..32
    int words; // 1: 32-bit keys and payloads are ordered as one word, 2: one after the other
};
struct weft_segsort_params {
    enum weft_segsort_whole whole;
    // Tuning, 0: from the tables. A value outside what the device allows is WEFT_EINVAL. Those of the schedule that does
    // not run are not looked at.
    struct {
        int wg;   // work-items per work-group, a multiple of 32
        int ipt;  // elements per work-item, 2..32
        int bits; // log2 of the runs merged at once, 1..8
        struct weft_segsort_radix radix;
    } gpu;
    struct {
        int wg;     // work-items per work-group, 1..8
        int chunk;  // least elements of a chunk, 1..2^30
        int chunks; // most chunks
    } cpu;
};
#define weft_segsort_params(...) (&(struct weft_segsort_params){__VA_ARGS__})

struct weft_segsort_info {
    struct weft_segsort_params params; // with every default resolved
    enum weft_schedule schedule;
    size_t workspace_bytes; // scratch held by the plan
    char why[256];          // where the tuning values come from
};

// Stable sorts of segments of one array of up to n_max keys, each segment by itself, with payload.
struct weft_segsort_plan;

// Scratch bytes of such a plan, without making it.
WEFT_API weft_status weft_segsort_workspace(size_t *out_bytes, struct weft_context *ctx, enum weft_key key,
                                            int payload_bytes, enum weft_ofs ofs, int64_t n_max,
                                            const struct weft_segsort_params *params);
// Compile the kernels and allocate the scratch memory.
//   payload_bytes  0, 4 or 8: bytes that travel with each key
//   ofs            width of the offsets of weft_segsort_run
//   params         may be NULL
// Errors: WEFT_EINVAL key, payload_bytes, ofs, n_max < 0, form, tuning; WEFT_ERANGE n_max beyond ofs or the form asked for,
//         or the scratch beyond the device; WEFT_EUNSUPPORTED RADIX or CHAINED on a CPU; WEFT_EDEVMEM; WEFT_EBUILD;
//         WEFT_ENOMEM.
// Threads: a plan runs in one queue at a time.
WEFT_API weft_status weft_segsort_plan_create(struct weft_segsort_plan **out, struct weft_context *ctx,
                                              enum weft_key key, int payload_bytes, enum weft_ofs ofs, int64_t n_max,
                                              const struct weft_segsort_params *params);
// Enqueue: out holds, for each segment s, the elements offsets[s] .. offsets[s+1]-1 of the input by ascending key, equal
// keys in their order. Segments of any lengths, none included; one segment of all n sorts the whole array.
//   out_key, out_payload  n elements, may be key and payload                            (every one written)
//   key, payload          n elements; payloads are not used when payload_bytes is 0     (read)
//   offsets               segments+1, ascending from 0 to n (trusted)                   (read)
//   wait                  nwait events to wait for; event: NULL or where to put the event of the result
// Errors:     WEFT_EINVAL n or segments negative, n > n_max, n > 0 without a segment, a buffer too small, or
//             written and there twice (in place: out_key is key, out_payload is payload);
//             WEFT_EDEVICE the queue refused the launch.
// Blocks:     no; allocates nothing, but for a few kilobytes after a run that failed.
// Method:     radix sort of tiles in local memory, then rounds that merge many runs at once; one segment on a GPU digit by
//             digit; docs/segsort.md.
WEFT_API weft_status weft_segsort_run(struct weft_segsort_plan *plan, cl_command_queue queue, cl_mem out_key,
                                      cl_mem out_payload, cl_mem key, cl_mem payload, int64_t n, cl_mem offsets,
                                      int64_t segments, cl_uint nwait, const cl_event *wait, cl_event *event);
// The same for segments of `block` elements each, the last one maybe shorter. Errors also: WEFT_EINVAL block < 1.
WEFT_API weft_status weft_segsort_blocks_run(struct weft_segsort_plan *plan, cl_command_queue queue, cl_mem out_key,
                                             cl_mem out_payload, cl_mem key, cl_mem payload, int64_t n, int64_t block,
                                             cl_uint nwait, const cl_event *wait, cl_event *event);
// What the plan is: valid until it is destroyed. NULL for NULL.
WEFT_API const struct weft_segsort_info *weft_segsort_plan_info(const struct weft_segsort_plan *plan);
// Accepts NULL and *plan == NULL.
WEFT_API void weft_segsort_plan_destroy(struct weft_segsort_plan **plan);

// The sort with arrays of the host in and out: checks the offsets, creates, lends or copies, runs. Blocks. Shapes as
// weft_segsort_run; results may lie anywhere in what is read. A device that shares the host's memory works in the arrays
// themselves.
// Errors: as weft_segsort_plan_create; WEFT_EINVAL segments outside 0 .. 2^31-1, an array is NULL; WEFT_EMATRIX the
//         offsets do not ascend from 0 to n; WEFT_EDEVICE. What the results hold after one is open.
WEFT_API weft_status weft_segsort_sync(void *out_key, void *out_payload, struct weft_context *ctx, const void *key,
                                       const void *payload, int64_t n, const void *offsets, int64_t segments,
                                       enum weft_key key_type, int payload_bytes, enum weft_ofs ofs,
                                       const struct weft_segsort_params *params);

#ifdef __cplusplus
}
#endif
#endif
