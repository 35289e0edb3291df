// SPDX-License-Identifier: Apache-2.0
// The inside of SpMV: a plan, and the table of functions behind each algorithm.
#ifndef WEFT_SRC_SPMV_H
#define WEFT_SRC_SPMV_H

#include "host/src/core/program.h"
#include <weft/spmv.h>

// alpha or beta in the type of sums.
union weft__spmv_scalar {
    cl_float f32;
    cl_double f64;
    cl_int i32;
};

// One product.
struct weft__spmv_call {
    cl_mem x, y;
    union weft__spmv_scalar alpha, beta;
};

// Distribution of the row lengths (cl/rows_stats.cl).
#define WEFT__SPMV_BINS 1024
struct weft__spmv_stats {
    int64_t steps[6]; // with 2^i lanes per row: steps that 32 lanes side by side take together, summed
    int64_t max_row;
    cl_uint hist[WEFT__SPMV_BINS]; // rows of k entries, the last bin with all longer ones
};

struct weft__spmv_method;
struct weft_spmv_plan {
    struct weft_context *ctx;
    struct weft_device_csr a; // what is multiplied; buffers retained, or NULL once the method has its own form
    int64_t x_size, y_size;
    enum weft_type type; // of x and y
    enum weft_type acc;  // of sums
    struct weft__defines semiring;
    struct weft__spmv_stats stats;
    struct weft_spmv_info info;
    const struct weft__spmv_method *method;
    void *state;                          // the method's
    const struct weft_spmv_params *asked; // the caller's, while the plan is made
    int trial;                            // nonzero: tried by weft__spmv_tune; too much padding is no error to tell of
    double bound; // > 0: auto chose this conversion, which ends with WEFT_ERANGE where weft__spmv_bound_holds says no
    unsigned denied; // bit of each algorithm that ended so
};

// An algorithm. create and run are called with m > 0; nnz may be 0.
struct weft__spmv_method {
    enum weft_spmv_algo algo;
    // Resolve tuning in plan->info, compile, allocate, analyse; plan->state owns everything, also when half built. May hand
    // over to another method, with plan->method and params.algo.
    weft_status (*create)(struct weft_spmv_plan *plan, cl_command_queue queue);
    // Take the values of `a`, of the structure of plan->a, into a form of its own; may leave the work in the queue. NULL:
    // runs read plan->a.
    weft_status (*fill)(struct weft_spmv_plan *plan, cl_command_queue queue, const struct weft_device_csr *a);
    weft_status (*run)(struct weft_spmv_plan *plan, struct weft__stream *stream, const struct weft__spmv_call *call);
    void (*destroy)(void *state);
};
extern const struct weft__spmv_method weft__spmv_csr_scalar, weft__spmv_csr_lanes, weft__spmv_csr_merge,
    weft__spmv_csr_lanes_cpu, weft__spmv_csr_merge_cpu, weft__spmv_ell, weft__spmv_sell, weft__spmv_hyb, weft__spmv_coo,
    weft__spmv_coo_atomic, weft__spmv_scatter, weft__spmv_csr_fixed, weft__spmv_sell16, weft__spmv_sdia,
    weft__spmv_csr_flags;

// spmv_defines.c: types, semiring and hint of reads, as cl/spmv.clh wants them.
weft_status weft__spmv_semiring(struct weft__defines *out, struct weft_context *ctx,
                                const struct weft_spmv_params *params);
void weft__spmv_define(const struct weft_spmv_plan *plan, struct weft__defines *d);
// Bytes of one sum.
size_t weft__spmv_acc_bytes(const struct weft_spmv_plan *plan);
// The scalar as an argument.
#define WEFT__SPMV_SCALAR(name, plan, scalar)                                                                          \
    {                                                                                                                  \
#name, weft__spmv_acc_bytes(plan), &(scalar)                                                                   \
    }
// The buffer that stands in for `val` where the matrix is a pattern.
cl_mem weft__spmv_val(const struct weft_spmv_plan *plan);

// spmv_stats.c: fill plan->stats and the row figures of plan->info. Blocks.
weft_status weft__spmv_stats(struct weft_spmv_plan *plan, cl_command_queue queue);

// spmv_choose.c: the algorithm for plan->info.params.algo AUTO or CSR, from the figures, without those that were denied;
// writes info.why and plan->bound. May look at a sample of the matrix (blocks). And the lanes per row that suit the
// distribution.
weft_status weft__spmv_choose(struct weft_spmv_plan *plan, cl_command_queue queue, enum weft_spmv_algo *out);
int weft__spmv_lanes(const struct weft_spmv_plan *plan);
// Whether a conversion costs no more than auto supposed, or was not chosen by auto.
struct weft__spmv_load {
    double elements, bytes; // stored; each
    double longest;         // that a work-item walks one after the other: of a row (GPU), of a chunk (CPU)
    double items;           // work-items (CPU)
};
int weft__spmv_bound_holds(const struct weft_spmv_plan *plan, const struct weft__spmv_load *load);

// spmv.c: weft_spmv_plan_create for weft__spmv_tune.
weft_status weft__spmv_plan_try(struct weft_spmv_plan **out, struct weft_context *ctx, cl_command_queue queue,
                                const struct weft_device_csr *a, const struct weft_spmv_params *params);

// spmv_tune.c: put what measurements chose into plan->info.params and .why, by the record of an earlier plan where the
// context's cache has one. Nonzero `again`: that record was refused; it is dropped, and measured anew. Blocks.
enum weft__spmv_chosen {
    WEFT__SPMV_NOTHING = 0, // there is nothing to measure
    WEFT__SPMV_MEASURED,
    WEFT__SPMV_RECORDED // not tried yet: matrix or device may refuse it
};
weft_status weft__spmv_tune(struct weft_spmv_plan *plan, cl_command_queue queue, int again,
                            enum weft__spmv_chosen *chosen);
// What a record is kept under: everything that decides. The caller frees it; NULL: no memory.
char *weft__spmv_tune_key(const struct weft_spmv_plan *plan, const char *version, uint64_t kernels, uint64_t structure);

// spmv_tiles.c: tiles of equal rows plus entries (cl/rows_tiles.cl), and the sums of rows that they cut (cl/spmv_join.cl).
struct weft__spmv_tiles {
    cl_uint tiles, nsplit;
    cl_uint tile, snap; // rows plus entries; entries by which a cut may move
    cl_mem row, pos, split, part, head;
    cl_mem arrived; // where the tiles of a cut row meet; NULL: a kernel of its own joins them
    struct weft__kernel *join;
    size_t join_wg, join_per_group;
    size_t bytes;
};
// Cut plan->a. Blocks.
weft_status weft__spmv_tiles_create(struct weft__spmv_tiles *t, struct weft_spmv_plan *plan, cl_command_queue queue,
                                    uint32_t tile, uint32_t snap);
// Memory for part and head, and the kernel that joins them.
weft_status weft__spmv_tiles_sums(struct weft__spmv_tiles *t, struct weft_spmv_plan *plan, cl_command_queue queue);
weft_status weft__spmv_tiles_join(const struct weft__spmv_tiles *t, struct weft_spmv_plan *plan,
                                  struct weft__stream *stream, const struct weft__spmv_call *call);
void weft__spmv_tiles_release(struct weft__spmv_tiles *t);

// Kernels, for spmv_variants.c.
extern const struct weft__kernel_spec weft__rows_stats_spec, weft__rows_tiles_spec, weft__spmv_join_spec,
    weft__spmv_scalar_spec, weft__spmv_lanes_spec, weft__spmv_merge_spec, weft__spmv_cpu_spec, weft__ell_sort_spec,
    weft__ell_width_spec, weft__ell_fill_spec, weft__spmv_ell_spec, weft__spmv_ell_cpu_spec, weft__spmv_segment_spec,
    weft__spmv_coo_cpu_spec, weft__spmv_coo_join_spec, weft__spmv_atomic_spec, weft__spmv_scale_spec,
    weft__hyb_count_spec, weft__hyb_rest_spec, weft__spmv_scatter_spec, weft__spmv_fixed_spec,
    weft__spmv_fixed_cpu_spec, weft__spmv_fixed_join_spec, weft__spmv_add_spec, weft__sell16_pack_spec,
    weft__spmv_sell16_spec, weft__spmv_sell16_cpu_spec, weft__sdia_count_spec, weft__sdia_count_cpu_spec,
    weft__sdia_fill_spec, weft__sdia_fill_cpu_spec, weft__spmv_sdia_spec, weft__spmv_sdia_cpu_spec,
    weft__rows_flags_spec, weft__rows_flags_count_spec, weft__rows_flags_before_spec, weft__rows_flags_rows_spec,
    weft__rows_flags_cross_spec, weft__spmv_flags_spec, weft__spmv_flags_join_spec;

// spmv_scatter.c: at = a^T in buffers of its own (blocks); WEFT_OK when y can be added to by atomics.
weft_status weft__spmv_transposed(struct weft_device_csr *at, struct weft_context *ctx, cl_command_queue queue,
                                  const struct weft_device_csr *a);
weft_status weft__spmv_atomic_check(const struct weft_spmv_plan *plan);

// spmv_memory.c: wait for `queue`, then copy between a buffer and the host; share a buffer in place of *to; host time
// without compilation.
weft_status weft__spmv_read(struct weft_context *ctx, cl_command_queue queue, cl_mem from, size_t offset, size_t bytes,
                            void *to);
weft_status weft__spmv_write(struct weft_context *ctx, cl_command_queue queue, cl_mem to, size_t bytes,
                             const void *from);
weft_status weft__spmv_retain(struct weft_context *ctx, cl_mem *to, cl_mem from);
struct weft__spmv_clock {
    double start_ms, build_ms;
};
struct weft__spmv_clock weft__spmv_clock(struct weft_context *ctx);
double weft__spmv_clock_ms(struct weft_context *ctx, const struct weft__spmv_clock *clock);

#endif
