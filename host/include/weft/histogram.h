// SPDX-License-Identifier: Apache-2.0
// Index to pointers: how often each index appears, and where its entries begin, on the device.
#ifndef WEFT_HISTOGRAM_H
#define WEFT_HISTOGRAM_H

#include <stdbool.h>
#include <weft/context.h>
#include <weft/matrix.h>

#ifdef __cplusplus
extern "C" {
#endif

enum weft_histogram_algo {
    WEFT_HISTOGRAM_ALGO_AUTO = 0, // by the number of bins and the device
    WEFT_HISTOGRAM_ALGO_ROWS,     // private counts, a row for each part of the indices, then a vertical sum
    WEFT_HISTOGRAM_ALGO_ATOMIC    // atomic additions to the result, joined among lanes first (GPU schedule only)
};
// "auto" "rows" "atomic"
WEFT_API const char *weft_histogram_algo_name(enum weft_histogram_algo algo);
WEFT_API weft_status weft_histogram_algo_parse(enum weft_histogram_algo *out, const char *text);

struct weft_histogram_params {
    bool pointers; // index-to-pointers, out[b] is the number of indices below b; default: counts
    enum weft_histogram_algo algo;
    int64_t slab; // indices counted in 32 bits before they are added to 64-bit counts, a multiple of 4; default 2^31
    // Tuning, 0: from the tables. A value outside what the device allows is WEFT_EINVAL. Those of the schedule that does
    // not run are not looked at.
    struct {
        int wg;     // work-items per work-group, a multiple of 32
        int ipt;    // indices that a work-item loads at once, a multiple of 4, 4..32
        int groups; // most work-groups of one launch, up to 2^22
        int range;  // bins that a work-group holds in local memory
    } gpu;
    struct {
        int wg;     // work-items per work-group, 1..8
        int chunk;  // least indices of a chunk, 1..2^24
        int chunks; // most chunks, up to 2^22
        int range;  // least bins of a range
    } cpu;
};
#define weft_histogram_params(...) (&(struct weft_histogram_params){__VA_ARGS__})

struct weft_histogram_info {
    struct weft_histogram_params params; // with every default resolved
    enum weft_schedule schedule;
    int rows;               // rows of private counts for n_max indices
    int ranges;             // times that the indices are read, each for another range of bins
    size_t workspace_bytes; // scratch held by the plan
    char why[160];          // why this algorithm, and where the tuning values come from
};

// Histogram of up to n_max indices over `bins` bins:
//   counts    out[b] = number of i with idx[i] == b        (bins elements)
//   pointers  out[b] = number of i with 0 <= idx[i] < b    (bins + 1 elements): the row pointers of CSR
// Elements of out are int32_t or int64_t, as `ofs` says.
struct weft_histogram_plan;

// Scratch bytes of such a plan, without making it.
WEFT_API weft_status weft_histogram_workspace(size_t *out_bytes, struct weft_context *ctx, int64_t bins,
                                              enum weft_ofs ofs, int64_t n_max,
                                              const struct weft_histogram_params *params);
// Compile the kernels and allocate the scratch memory. params may be NULL.
// Errors: WEFT_EINVAL bins outside 0 .. 2^31-1, n_max < 0, tuning; WEFT_ERANGE n_max too large for ofs, the scratch
//         exceeds the device; WEFT_EDEVMEM; WEFT_EBUILD; WEFT_ENOMEM.
// Threads: a plan runs in one queue at a time.
WEFT_API weft_status weft_histogram_plan_create(struct weft_histogram_plan **out, struct weft_context *ctx,
                                                int64_t bins, enum weft_ofs ofs, int64_t n_max,
                                                const struct weft_histogram_params *params);
// Enqueue the histogram of idx[0..n-1].
//   out    bins counts, or bins+1 pointers                        (every one written)
//   idx    n int32; an index outside 0 .. bins-1 is not counted   (read, borrowed until the event)
//   wait   nwait events to wait for; event: NULL or where to put the event of the result
// Errors:     WEFT_EINVAL n < 0, n > n_max, a buffer too small or the same twice; WEFT_EDEVICE the queue refused the launch.
// Blocks:     no; allocates nothing.      Repeatable: always the same result.
// Moves:      n*4*ranges + bins*sizeof ofs bytes, 8*rows*bins with rows; pointers add 3*bins*sizeof ofs, 2 of them by a chained scan.
// Method:     docs/histogram.md.
WEFT_API weft_status weft_histogram_run(struct weft_histogram_plan *plan, cl_command_queue queue, cl_mem out,
                                        cl_mem idx, int64_t n, cl_uint nwait, const cl_event *wait, cl_event *event);
// What the plan is: valid until it is destroyed. NULL for NULL.
WEFT_API const struct weft_histogram_info *weft_histogram_plan_info(const struct weft_histogram_plan *plan);
// Accepts NULL and *plan == NULL.
WEFT_API void weft_histogram_plan_destroy(struct weft_histogram_plan **plan);

// The histogram with arrays of the host in and out: creates, lends or copies, runs. Blocks.
// Shapes as weft_histogram_run; `out` may lie anywhere in `idx`. A device that shares the host's memory works in the
// arrays themselves.
// Errors: as weft_histogram_plan_create; WEFT_EINVAL an array is NULL; WEFT_EDEVICE. What `out` holds after one is open.
WEFT_API weft_status weft_histogram_sync(void *out, struct weft_context *ctx, const int32_t *idx, int64_t n,
                                         int64_t bins, enum weft_ofs ofs, const struct weft_histogram_params *params);

#ifdef __cplusplus
}
#endif
#endif
