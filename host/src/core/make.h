// SPDX-License-Identifier: Apache-2.0
// The skeleton that plans share: kernels and buffers known by an enum of the operation, made and released in a loop.
//
//     enum { REDUCE, DOWN, NKERNELS };
//     enum { SUMS, WORDS, NBUFFERS };
//     struct plan { struct weft__kernel *k[NKERNELS]; cl_mem b[NBUFFERS]; };
//
//     struct weft__make make = {.ctx = ctx};
//     weft__make_kernel(&make, &plan->k[REDUCE], &reduce_spec, &defines);
//     weft__make_buffers(&make, plan->b, (const struct weft__scratch[NBUFFERS]){
//         [SUMS] = {sums_bytes, "sums of tiles"}, [WORDS] = {words_bytes, "words of tiles", .zeros = true}}, NBUFFERS);
//     if (make.status)
//         weft__parts_release(plan->k, NKERNELS, plan->b, NBUFFERS);
//
// The first failure stays in make.status, and every later call does nothing: the text of the error is the first one's.
#pragma once

#include "host/src/core/buffer.h"
#include "host/src/core/program.h"

#include <stdbool.h>

struct weft__make {
    struct weft_context *ctx;
    weft_status status;
    size_t bytes;      // of the buffers made so far
    uint64_t programs; // a hash of the names and the defines of all kernels asked for
};

// Memory of the host, all zeros; NULL after a failure. The caller frees it. `what` is for the message: "a scan plan".
void *weft__make_memory(struct weft__make *make, size_t bytes, const char *what);
// A kernel into *out. It counts in make.programs after a failure as well: a make that starts with one makes nothing and gets the hash.
void weft__make_kernel(struct weft__make *make, struct weft__kernel **out, const struct weft__kernel_spec *spec,
                       const struct weft__defines *defines);
// Milliseconds in which weft__make_kernel has compiled and loaded programs in this thread, in all contexts.
double weft__make_built_ms(void);

// One buffer of a plan.
struct weft__scratch {
    size_t bytes; // 0: not needed, the buffer stays NULL
    const char *what;
    bool zeros; // filled with zeros before anything runs
};
// The buffers of a plan, out[i] by needs[i].
void weft__make_buffers(struct weft__make *make, cl_mem *out, const struct weft__scratch *needs, size_t count);
// Their bytes together; SIZE_MAX where the sum does not fit. For the functions that tell a workspace without making it.
size_t weft__scratch_bytes(const struct weft__scratch *needs, size_t count);

// weft__bind for every kernel that is there: what all launches of a plan, or of a run, share.
weft_status weft__parts_bind(struct weft_context *ctx, struct weft__kernel *const *kernels, size_t count,
                             const struct weft__arg *args, size_t nargs);
#define WEFT__PARTS_BIND(ctx, kernels, count, ...) weft__parts_bind(ctx, kernels, count, WEFT__ARGS(__VA_ARGS__))

// Release kernels and buffers and set them to NULL; both may be NULL inside.
void weft__parts_release(struct weft__kernel **kernels, size_t nkernels, cl_mem *buffers, size_t nbuffers);
