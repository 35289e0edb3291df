// SPDX-License-Identifier: Apache-2.0
// What transpose.c knows of a method: a table of functions, one file each.
#pragma once

#include "host/src/core/make.h"
#include "host/src/core/variants.h"
#include "host/src/transpose/shape.h"
#include <weft/transpose.h>

// What a plan is made of.
struct weft__transpose_made {
    uint64_t programs;  // as weft__make has it: equal for plans of the same programs
    const void *layout; // of the method; lives as long as the state
};

// A problem of a trial: few entries, for which the plan has the programs of another one.
struct weft__transpose_few {
    struct weft__transpose_shape shape;
    struct weft_transpose_params params;
    int diagonals; // on each side of the main one, of a square; 0: entries are scattered
};
// Where a trial has more columns than WEFT__FEW_COLUMNS, WEFT__FEW_APART have entries, at both ends: the others are one gap.
#define WEFT__FEW_COLUMNS (1 << 17)
#define WEFT__FEW_APART   8192
#define WEFT__FEW_CHUNKS  8 // of a trial on a CPU, at most: each has counters or pointers of all columns
// Entries of a square with so many diagonals, of more rows than these.
static inline int64_t weft__diagonals_entries(int64_t m, int diagonals)
{
    return m * (2 * diagonals + 1) - (int64_t)diagonals * (diagonals + 1);
}

struct weft__transpose_method {
    const char *name;
    // Resolve defaults in *info (params, passes, workspace_bytes, why) without allocating on the device.
    weft_status (*plan)(struct weft_context *ctx, const struct weft__transpose_shape *shape,
                        struct weft_transpose_info *info);
    // Compile and allocate according to *info; *state owns everything, also when half built. *made is set on success.
    weft_status (*create)(void **state, struct weft__transpose_made *made, struct weft_context *ctx,
                          const struct weft__transpose_shape *shape, const struct weft_transpose_info *info);
    // The trial of a plan of `shape`: *few comes as any method could take it, with resolved parameters and `like`, and
    // gets what makes its programs those of `made`. Zero: there is no such problem, or this method has no use for it.
    int (*few)(struct weft__transpose_few *few, struct weft_context *ctx, const struct weft__transpose_shape *shape,
               const struct weft__transpose_made *made);
    // Enqueue; nnz > 0, m > 0, n > 0 (transpose.c handles the rest).
    weft_status (*run)(void *state, struct weft__stream *stream, const struct weft_device_csr *a,
                       const struct weft_device_csr *at);
    void (*destroy)(void **state);
};

extern const struct weft__transpose_method weft__transpose_scan_gpu, weft__transpose_scan_cpu,
    weft__transpose_merge_gpu, weft__transpose_merge_cpu;

// The programs of ScanTrans on GPUs for a layout, without making them: for tests, which compare layouts with their trials.
struct weft__scan_layout;
uint64_t weft__scan_gpu_programs(struct weft_context *ctx, const struct weft__transpose_shape *shape,
                                 const struct weft__scan_layout *layout);

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
// guess: 1 where images are guessed before they are searched for, which pays in rows as long as those of the shape.
void weft__mirror_create(struct weft__mirror *out, struct weft__make *make, const struct weft__transpose_shape *shape,
                         int guess);
int weft__mirror_guesses(const struct weft__transpose_shape *shape);
// Enqueues the try, or nothing while the pattern in these buffers was not symmetric when last asked.
void weft__mirror_run(struct weft__mirror *x, struct weft__stream *stream, const struct weft__transpose_shape *shape,
                      const struct weft_device_csr *a, const struct weft_device_csr *at);
void weft__mirror_release(struct weft__mirror *m);

// NULL: of no object.
struct weft_context *weft__transpose_context(const struct weft_transpose_plan *op);
// Of a plan with entries.
const struct weft__transpose_made *weft__transpose_made(const struct weft_transpose_plan *op);

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
