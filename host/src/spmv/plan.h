// SPDX-License-Identifier: Apache-2.0
// The inside of an SpMV plan: its struct, the functions behind an algorithm, and what every format needs.
#pragma once

#include "algos.h"
#include "host/src/core/make.h"
#include "host/src/core/check.h"
#include "host/src/core/limits.h"
#include "host/src/core/tune.h"
#include "host/src/core/variants.h"
#include "kernels.h"
#include <weft/spmv.h>

// alpha or beta in the type of sums.
union weft__spmv_scalar {
    cl_float f32;
    cl_double f64;
    cl_int i32;
};

// One SpMV.
struct weft__spmv_call {
    cl_mem x, y;
    union weft__spmv_scalar alpha, beta;
};

// Distribution of the row lengths, and how far entries of a row lie apart (cl/spmv/rows_stats.cl).
#define WEFT__SPMV_BINS 1024
struct weft__spmv_stats {
    int64_t steps[6]; // with 2^i lanes per row: steps that 32 lanes side by side take together, summed
    int64_t max_row;
    // 1024 times the share of entries that are not beside the one before in the order of columns, of every 32nd row, summed.
    int64_t far;
    int64_t changes; // rows that are not as long as the row before
    int64_t lone;    // as far, of those that are not beside the entry at their place in the row behind either
    int64_t apart;   // 1024 times the share of entries that are not near the diagonal, of every 32nd row, summed
    int64_t alike;   // 1024 times the rows with the columns of the row before, of one row of every 32, summed
    int64_t fullest; // the most entries of 32 rows side by side
    cl_uint hist[WEFT__SPMV_BINS]; // rows of k entries, the last bin with all longer ones
};

// What a call that multiplies once, or a trial, tells the plan it makes.
struct weft__spmv_once {
    const struct weft__spmv_stats *stats; // NULL: they are not known
    bool large;                           // the form of large matrices
};

struct weft__spmv_method;
struct weft_spmv_plan {
    struct weft_context *ctx;
    struct weft_device_csr a;     // what is multiplied; buffers retained, or NULL once the method has its own form
    cl_mem columns;               // the method's, which runs read instead of a.col; NULL: they read that
    uint64_t taken;               // matrices taken into `a`, from 1 on: a kernel whose mark says so has these buffers
    struct weft__queue_seen seen; // by the last run
    int64_t x_size, y_size;
    enum weft_type type; // of x and y
    enum weft_type acc;  // of sums
    struct weft__defines semiring;
    struct weft__spmv_stats stats;
    struct weft_spmv_info info;
    const struct weft__spmv_method *method;
    void *state;                          // the method's
    const struct weft_spmv_params *asked; // the caller's, while the plan is made
    const struct weft__spmv_once *once;   // while the plan is made by such a call; else NULL
    int trial;                            // nonzero: tried by weft__spmv_tune; too much padding is no error to tell of
    double bound; // > 0: auto chose this conversion, which ends with WEFT_ERANGE where weft__spmv_bound_holds says no
    double least; // microseconds that it has to save, by a CPU: those of the conversion that would have been taken else
    unsigned denied; // bit of each algorithm that ended so, or that the device has no memory for
    int crowded;     // nonzero: one of them for want of memory
    bool gaps;       // CSR for many empty rows: it walks entries, or csr_flags on a GPU scales y first
    // On a GPU, what large matrices have: buffers of their own (ELL, sliced ELL), blocks of rows (csr_lanes).
    bool large;
    // Runs take turns from the first and from the last entries, where a GPU's caches hold a part of the matrix: what is left there of the run
    // before is read first (docs/log/turns.md). backward: the next one begins with the last.
    bool turns;
    cl_uint backward;
    // Panels were refused, since rows read x where those beside them have: in few panels, or the same lines.
    bool returns;
};

// An algorithm. create and run are called with m > 0; nnz may be 0.
struct weft__spmv_method {
    // Resolve tuning in plan->info, compile, allocate, analyse; plan->state owns everything, also when half built. May
    // hand over to another method, with plan->method and params.policy.algo.
    weft_status (*create)(struct weft_spmv_plan *plan, cl_command_queue queue);
    // Take the values of `a`, of the structure of plan->a, into a form of its own; may leave the work in the queue.
    // NULL: runs read plan->a.
    weft_status (*fill)(struct weft_spmv_plan *plan, cl_command_queue queue, const struct weft_device_csr *a);
    weft_status (*run)(struct weft_spmv_plan *plan, struct weft__stream *stream, const struct weft__spmv_call *call);
    void (*destroy)(void *state);
    // Of kernels that only this method has; NULL: weft__spmv_variants_shared lists its kernels.
    weft__variants_fn *variants;
};
// All of them; weft__spmv_scatter is A^T*x by atomics.
#define WEFT__SPMV_DECLARE(algo, name, gpu, cpu, padded)                                                               \
    extern const struct weft__spmv_method weft__spmv_##gpu, weft__spmv_##cpu;
WEFT__SPMV_ALGOS(WEFT__SPMV_DECLARE, WEFT__SPMV_NONE)
extern const struct weft__spmv_method weft__spmv_scatter;

static inline int weft__spmv_is_cpu(const struct weft_spmv_plan *plan)
{
    return plan->ctx->schedule == WEFT_SCHEDULE_CPU;
}

// A buffer alone, which is there also where nothing is in it; a word that is 0, written by `queue` so that a profiler
// sees the time.
static inline void weft__spmv_make_buffer(struct weft__make *make, cl_mem *out, size_t bytes, const char *what)
{
    if (!make->status)
        make->status = weft__buffer_create(out, make->ctx, bytes, what);
    make->bytes = weft__add(make->bytes, bytes);
}
void weft__spmv_make_word(struct weft__make *make, cl_command_queue queue, cl_mem *out, const char *what);

// CPU: rows, entries or both of a tile, of `work` in all, with `tiles` of them for each compute unit where that is not
// too few.
static inline uint32_t weft__spmv_cpu_tile(const struct weft_spmv_plan *plan, int64_t work, int tiles)
{
    const size_t units = (size_t)plan->ctx->device.compute_units * (size_t)tiles;
    return (uint32_t)weft__min(weft__max(weft__ceil_div((size_t)work, units), 4096), (size_t)1 << 30);
}

// plan.c: the tuning values of the algorithm: defaults of `row`, of its table, where the caller gave none; checked.
void weft__spmv_resolve(struct weft__make *make, struct weft_spmv_plan *plan, const void *row, weft__local_fn *local);
// The tuning values of the schedule that runs, 0 where it has none; and params with these.
struct weft__spmv_sizes {
    int lanes, wg, ipt, rows, read;
};
struct weft__spmv_sizes weft__spmv_sizes(const struct weft_spmv_params *params, enum weft_schedule schedule);
void weft__spmv_sizes_set(struct weft_spmv_params *params, enum weft_schedule schedule,
                          const struct weft__spmv_sizes *sizes);
// A row of a table of tuning values.
#define WEFT__SPMV_GPU(row, column, member) WEFT__TUNABLE(#member, struct weft_spmv_params, gpu.member, row, column)
#define WEFT__SPMV_CPU(row, column, member) WEFT__TUNABLE(#member, struct weft_spmv_params, cpu.member, row, column)
#define WEFT__SPMV_READ                                                                                                \
    .low = 1, .high = 3, .step = 1, .kept = WEFT__KEPT_FOUND, .sweep = {1, 2, 3},                                      \
    .help = "1: entries as any data; 2: marked to leave the caches first; 3: past the first cache"
// Give up the arrays of plan->a.
void weft__spmv_matrix_release(struct weft_spmv_plan *plan);

// defines.c: types, semiring and hint of reads, as cl/spmv/spmv.clh wants them.
weft_status weft__spmv_semiring(struct weft__defines *out, struct weft_context *ctx,
                                const struct weft_spmv_params *params);
void weft__spmv_define(const struct weft_spmv_plan *plan, struct weft__defines *d);
// Bytes of one sum.
size_t weft__spmv_acc_bytes(const struct weft_spmv_plan *plan);

// stats.c: fill plan->stats and the row figures of plan->info: from plan->once, or on the device, which blocks. And the same
// figures of a matrix on the host.
weft_status weft__spmv_stats(struct weft_spmv_plan *plan, cl_command_queue queue);
void weft__spmv_stats_host(struct weft__spmv_stats *out, const struct weft_csr *a);
// spmv.c: weft_spmv_plan_create, for one product where `once` is given.
weft_status weft__spmv_plan_create(struct weft_spmv_plan **out, struct weft_context *ctx, cl_command_queue queue,
                                   const struct weft_device_csr *a, const struct weft_spmv_params *params,
                                   const struct weft__spmv_once *once);

// launch.c: a launch with x, y, alpha and beta, those of them that the kernel has; what else it takes is bound. The
// second also sets the arrays of plan->a, which another matrix may have replaced.
weft_status weft__spmv_launch(struct weft_spmv_plan *plan, struct weft__stream *stream, struct weft__kernel *kernel,
                              size_t groups, size_t wg, const struct weft__spmv_call *call);
weft_status weft__spmv_launch_csr(struct weft_spmv_plan *plan, struct weft__stream *stream, struct weft__kernel *kernel,
                                  size_t groups, size_t wg, const struct weft__spmv_call *call);
// The steps of an analysis or a conversion: a stream on `queue`, which has failed already where `make` has. The others
// wait for it; they do nothing on a stream that has failed, and return its status.
struct weft__stream weft__spmv_stream(const struct weft__make *make, cl_command_queue queue);
weft_status weft__spmv_finish(struct weft__stream *stream);
weft_status weft__spmv_read(struct weft__stream *stream, cl_mem from, size_t offset, size_t bytes, void *to);
// `count` > 0 sizes of 64 bits become the sums of those before each, and their total behind them; ends: the last two.
weft_status weft__spmv_positions(struct weft__stream *stream, cl_mem sizes, size_t count, cl_long ends[2]);
// Share a buffer in place of *to.
weft_status weft__spmv_retain(struct weft_context *ctx, cl_mem *to, cl_mem from);
// Host time of this thread without what it compiles. What other threads compile meanwhile counts as time like any other.
struct weft__spmv_clock {
    double start_ms, build_ms;
};
struct weft__spmv_clock weft__spmv_clock(void);
double weft__spmv_clock_ms(const struct weft__spmv_clock *clock);
