// SPDX-License-Identifier: Apache-2.0
// What transpose.c knows of a method: a table of functions, one file each.
#pragma once

#include "host/src/core/program.h"
#include "host/src/core/variants.h"
#include "host/src/transpose/shape.h"
#include <weft/transpose.h>

struct weft__transpose_method {
    const char *name;
    // Resolve defaults in *info (params, passes, workspace_bytes, why) without allocating on the device.
    weft_status (*plan)(struct weft_context *ctx, const struct weft__transpose_shape *shape,
                        struct weft_transpose_info *info);
    // Compile and allocate according to *info; *state owns everything, also when half built.
    weft_status (*create)(void **state, struct weft_context *ctx, const struct weft__transpose_shape *shape,
                          const struct weft_transpose_info *info);
    // Enqueue; nnz > 0, m > 0, n > 0 (transpose.c handles the rest).
    weft_status (*run)(void *state, struct weft__stream *stream, const struct weft_device_csr *a,
                       const struct weft_device_csr *at);
    void (*destroy)(void **state);
};

extern const struct weft__transpose_method weft__transpose_scan_gpu, weft__transpose_scan_cpu,
    weft__transpose_merge_gpu, weft__transpose_merge_cpu;

// How ScanTrans on GPUs cut the shape of a plan.
const struct weft__scan_layout *weft__scan_gpu_layout(const void *state);

// mirror.c: what ScanTrans on GPUs runs first where the shape says `mirror`.
#define WEFT__MIRROR_BYTES 4 // of its scratch
struct weft__mirror {
    struct weft__kernel *mirror;
    int wg, ipt;
    cl_mem failed; // one uint: the last run that did not make A^T
    cl_uint run;   // the last run that tried, from 1 on; 0: none
    cl_uint mark;  // what the kernels behind look for in *failed; 0: there is something to do, without a look
    // A pattern that was not symmetric in these buffers is mostly not symmetric the next time either.
    cl_mem row_ptr, col;     // of the last call
    cl_event tried;          // a try whose end was not seen yet; NULL: none
    cl_uint tried_run;       // its number
    cl_command_queue reader; // for the mark alone
    int known, no, age;      // how such a try ended; not symmetric; runs since
};
weft_status weft__mirror_create(struct weft__mirror *out, struct weft_context *ctx,
                                const struct weft__transpose_shape *shape);
// Enqueues the try, or nothing while the pattern in these buffers was not symmetric when last asked.
void weft__mirror_run(struct weft__mirror *x, struct weft__stream *stream, const struct weft__transpose_shape *shape,
                      const struct weft_device_csr *a, const struct weft_device_csr *at);
void weft__mirror_release(struct weft__mirror *m);

// NULL: of no object.
struct weft_context *weft__transpose_context(const struct weft_transpose_plan *op);

// What the CPU methods share.
// Check params by the method's tuning values, give `chunks` its default.
weft_status weft__transpose_cpu_params(struct weft_context *ctx, const struct weft__transpose_shape *shape,
                                       struct weft_transpose_params *params, const struct weft__tunables *set);
void weft__transpose_cpu_defines(struct weft__defines *d, const struct weft__transpose_shape *shape, enum weft_ofs pos);
// Every set of defines for one kernel; `also` is one more define, or NULL; narrow: also 64-bit offsets with 32-bit positions.
void weft__transpose_cpu_variants(weft__variant_fn *fn, void *arg, const struct weft__kernel_spec *spec,
                                  const char *also, int narrow);
#define WEFT__TRANSPOSE_CHUNKS                                                                                         \
    WEFT__TUNABLE_BY_SHAPE("groups", struct weft_transpose_params, cpu.chunks),                                        \
        .low = 1, .high = 4096, .step = 1, .kept = WEFT__KEPT_FOUND, .sweep = {1, 2, 4, 8, 16, 32, 64, 128},           \
        .help = "chunks of the entries"
