// SPDX-License-Identifier: Apache-2.0
// ELL and sliced ELL: conversion from CSR and SpMV. ELL is one slice of a given width, so that it begins with ell_fill.
//
//     pass        reads                  writes               form of an entry on its way   buffers
//     ell_sort    row_ptr                rows by length       (rows alone)                  PERM, where sigma > 1
//     ell_width   row_ptr, PERM          elements of slices   (rows alone)                  SLICE_PTR
//     scan        SLICE_PTR              begins of slices     (slices alone)                SLICE_PTR
//     ell_fill    CSR, PERM, SLICE_PTR   all elements         column, value                 COL, VAL
//   and for each SpMV
//     spmv_ell    all of these, x        y                    product, sum of a row
//
// Where a product takes hardly longer than its launch, all arrays are copied into one, which spmv_ell_packed reads.
#include "ell.h"
#include "cost.h"

#include <stdlib.h>

// Rows that a CPU work-item takes together: of sliced ELL a slice; of ELL, whose columns lie far apart, at most as many
// as have a page of f32 side by side.
#define CPU_BLOCK     8
#define CPU_ELL_BLOCK 1024

struct weft_tune_spmv_ell {
    struct weft__tune_key key;
    int wg, ipt;
    int height; // rows of a slice
    int chunk;  // places of a work-item, a multiple of height (CPU)
    int read;
    int around_wg; // of many rows whose entries lie near the diagonal, but not beside one another; 0: wg
    int apart_ipt; // of long rows that read x apart; 0: ipt
};
static const struct weft_tune_spmv_ell tune[] = {
    {{WEFT_SCHEDULE_GPU, NULL, 0, NULL, "default"}, 128, 4, 32, 1, 2, 0, 0},
    {{WEFT_SCHEDULE_GPU, "NVIDIA", 0, NULL, "measured on an H200"}, 128, 8, 32, 1, 2, 256, 4},
    {{WEFT_SCHEDULE_CPU, NULL, 0, NULL, "default"}, 1, 0, CPU_BLOCK, 1024, 1, 0, 0},
};
// With columns in 16 bits.
static const struct weft_tune_spmv_ell narrow_tune[] = {
    {{WEFT_SCHEDULE_GPU, NULL, 0, NULL, "default"}, 128, 4, 32, 1, 2, 0, 0},
    {{WEFT_SCHEDULE_GPU, "NVIDIA", 0, NULL, "measured on an H200"}, 128, 6, 32, 1, 2, 256, 4},
    {{WEFT_SCHEDULE_CPU, NULL, 0, NULL, "default"}, 1, 0, CPU_BLOCK, 1024, 1, 0, 0},
};
#define GPU(member) WEFT__SPMV_GPU(struct weft_tune_spmv_ell, member, member)
static const struct weft__tunable gpu_values[] = {
    {GPU(wg), .low = 1, .step = 1, .most = weft__tunable_wg, .lower = WEFT__LOWER_HALVE, .kept = WEFT__KEPT_FOUND,
     .sweep = {64, 128, 256}, .help = "work-items per work-group"},
    {GPU(ipt), .low = 1, .high = 8, .step = 1, .kept = WEFT__KEPT_FOUND, .sweep = {2, 4, 6, 8},
     .help = "entries of a row that a work-item reads together"},
    {GPU(read), WEFT__SPMV_READ},
};
static const struct weft__tunable hyb_values[] = {
    {GPU(wg), .low = 1, .step = 1, .most = weft__tunable_wg, .lower = WEFT__LOWER_HALVE, .kept = WEFT__KEPT,
     .help = "work-items per work-group of the ELL part"},
    {GPU(ipt), .low = 1, .high = 8, .step = 1, .kept = WEFT__KEPT,
     .help = "entries of a row of the ELL part that a work-item reads together"},
    {GPU(read), .low = 1, .high = 3, .step = 1, .kept = WEFT__KEPT, .help = "as of ell"},
};
static const struct weft__tunable cpu_values[] = {
    {WEFT__SPMV_CPU(struct weft_tune_spmv_ell, wg, wg), .low = 1, .step = 1, .most = weft__tunable_wg,
     .kept = WEFT__KEPT, .help = "work-items per work-group"},
};
#define SET(algo, schedule, values, rows)                                                                              \
    {                                                                                                                  \
        "spmv", algo, WEFT_SCHEDULE_##schedule, "spmv." algo, WEFT__TUNABLES(values), WEFT__TUNE_ROWS(rows)            \
    }
const struct weft__tunables weft__spmv_ell_tunables[] = {
    SET("ell", GPU, gpu_values, tune),           SET("ell", CPU, cpu_values, tune),
    SET("sell", GPU, gpu_values, tune),          SET("sell", CPU, cpu_values, tune),
    SET("sell16", GPU, gpu_values, narrow_tune), SET("sell16", CPU, cpu_values, narrow_tune),
    SET("hyb", GPU, hyb_values, tune),           SET("hyb", CPU, cpu_values, tune),
    SET("panels", CPU, cpu_values, tune),        {0},
};
#define SORT_WG    256
#define ELL_HEIGHT 32  // the rows of ELL are padded to a multiple of it
#define CPU_CHUNK  256 // rows of a work-item of a conversion, at most
#define CPU_ITEMS  16  // work-items for each compute unit, at most, unless rows are many
// Rows and entries of a work-item, at least, as of csr_merge, while each unit has two: with 32 work-items for 30 000 entries two cores
// took 1.4 times as long.
#define CPU_LEAST 4096

// A kernel that reads the row pointers, with the defines that all of them share.
static void convert_make(struct weft__make *make, struct weft__kernel **out, struct weft_spmv_plan *plan,
                         const struct weft__kernel_spec *spec, size_t wg, int sorted, int sigma)
{
    struct weft__defines d = {0};
    weft__define_types(&d, plan->a.type, plan->a.ofs);
    weft__define(&d, "WEFT_WG", "%zu", wg);
    weft__define(&d, "WEFT_SORTED", "%d", sorted);
    weft__define(&d, "WEFT_SIGMA", "%d", sigma);
    weft__make_kernel(make, out, spec, &d);
}

// PERM, SLICE_PTR and e->elements of sliced ELL.
static weft_status slices_size(struct weft__spmv_ell *e, struct weft_spmv_plan *plan, cl_command_queue queue)
{
    enum { SORT, WIDTH, NKERNELS };
    const int cpu = weft__spmv_is_cpu(plan), sorted = e->sigma > 1;
    const size_t wg = cpu ? 1 : 64, sort_wg = cpu ? 1 : (size_t)weft__wg_lower(plan->ctx, SORT_WG);
    const size_t windows = weft__ceil_div((size_t)plan->a.m, (size_t)e->sigma);
    const cl_int m = (cl_int)plan->a.m;
    const cl_uint chunk = cpu ? CPU_CHUNK / e->height + 1 : 1;
    const cl_mem row_ptr = plan->a.row_ptr, perm = sorted ? e->b[WEFT__ELL_PERM] : row_ptr;
    struct weft__make make = {.ctx = plan->ctx};
    struct weft__kernel *k[NKERNELS] = {0};
    cl_long ends[2] = {0, 0};
    if (sorted)
        convert_make(&make, &k[SORT], plan, cpu ? &weft__ell_sort_cpu_spec : &weft__ell_sort_spec, sort_wg, 1,
                     e->sigma);
    convert_make(&make, &k[WIDTH], plan, &weft__ell_width_spec, wg, sorted, 2);
    struct weft__stream stream = weft__spmv_stream(&make, queue);
    if (sorted)
        WEFT__LAUNCH(&stream, k[SORT], weft__groups(windows, sort_wg), sort_wg, WEFT__ARG(row_ptr), WEFT__ARG(perm),
                     WEFT__ARG(m));
    WEFT__LAUNCH(&stream, k[WIDTH], weft__groups(weft__ceil_div(weft__ceil_div(e->slices, chunk), wg), wg), wg,
                 WEFT__ARG(row_ptr), WEFT__ARG(perm), WEFT__ARG(size, e->b[WEFT__ELL_SLICE_PTR]), WEFT__ARG(m),
                 WEFT__ARG(height, e->height), WEFT__ARG(slices, e->slices), WEFT__ARG(chunk));
    weft__spmv_positions(&stream, e->b[WEFT__ELL_SLICE_PTR], e->slices, ends);
    e->elements = ends[1];
    e->last = ends[1] - ends[0];
    weft__parts_release(k, NKERNELS, NULL, 0);
    return stream.status;
}

weft_status weft__spmv_heaviest(struct weft_spmv_plan *plan, cl_command_queue queue, cl_mem slice_ptr, cl_uint slices,
                                cl_uint per, int64_t *out)
{
    const size_t bytes = ((size_t)slices + 1) * sizeof(cl_long);
    struct weft__make make = {.ctx = plan->ctx};
    cl_long *ptr = weft__make_memory(&make, bytes, "the slices");
    struct weft__stream stream = weft__spmv_stream(&make, queue);
    weft__spmv_read(&stream, slice_ptr, 0, bytes, ptr);
    *out = 0;
    for (size_t first = 0; !stream.status && first < slices; first += per) {
        const int64_t size = ptr[weft__min(first + per, slices)] - ptr[first];
        *out = *out < size ? size : *out;
    }
    free(ptr);
    return stream.status;
}

// Whether auto keeps it.
static weft_status bound_check(const struct weft__spmv_ell *e, struct weft_spmv_plan *plan, cl_command_queue queue,
                               double elements)
{
    const struct weft_tune_spmv_ell *row = WEFT__TUNE_FIND(plan->ctx, tune);
    const cl_uint chunk = weft__spmv_is_cpu(plan) ? weft__spmv_chunk(plan, (cl_uint)row->chunk, CPU_BLOCK) : 1;
    int64_t longest = plan->info.max_row;
    weft_status status = WEFT_OK;
    if (plan->info.params.policy.algo == WEFT_SPMV_ALGO_HYB) // auto knows both parts from the lengths of rows
        return WEFT_OK;
    if (plan->bound > 0 && weft__spmv_is_cpu(plan))
        status = weft__spmv_heaviest(plan, queue, e->b[WEFT__ELL_SLICE_PTR], e->slices, chunk / e->height, &longest);
    const struct weft__spmv_load load = {
        .elements = elements, .longest = (double)longest, .items = (double)weft__ceil_div((size_t)plan->a.m, chunk)};
    return status || weft__spmv_bound_holds(plan, &load) ? status : WEFT_ERANGE;
}

// Refuse what would be mostly padding. Rows that only fill up the last slice do not count: a small matrix is not
// refused for them.
static weft_status padding_check(const struct weft__spmv_ell *e, struct weft_spmv_plan *plan, cl_command_queue queue)
{
    const double limit = plan->info.params.format.max_padding, nnz = (double)plan->a.nnz;
    const int64_t missing = (int64_t)e->slices * e->height - plan->a.m;
    const double filling = (double)missing * (double)(e->last / e->height);
    const double mib = (double)e->elements * (double)(4 + weft_type_bytes(plan->a.type)) / 1048576;
    if (!plan->a.nnz || (double)e->elements - filling <= limit * nnz) // nothing is never too much, whatever the limit
        return bound_check(e, plan, queue, (double)e->elements - filling);
    if (plan->trial || plan->bound > 0)
        return WEFT_ERANGE;
    return weft__fail(plan->ctx, WEFT_ERANGE,
                      "%s would hold %lld elements (%.1f MiB) for %lld entries, %.1f times as many; "
                      "params.format.max_padding allows %.1f: longest row %lld, mean %.1f",
                      weft_spmv_algo_name(plan->info.params.policy.algo), (long long)e->elements, mib,
                      (long long)plan->a.nnz, (double)e->elements / nnz, limit, (long long)plan->info.max_row,
                      nnz / (double)plan->a.m);
}

// Rows that lie together read the same part of x where entries are near the diagonal: in larger work-groups more of them find it in the first
// cache of their unit. On an H200 four such matrices took 0.77 to 1.10 times as long; the 1.10 has fewer rows. Long rows that read x apart run at
// like columns, and share what that cache holds of x while none takes many elements at a time: with 8 they took up to 1.24 times as long as with 4
// (docs/log/sliced-ell.md).
#define AROUND_ROWS 2048 // for each unit, at least
#define APART_ROW   24   // entries
static void reads_fit(const struct weft_spmv_plan *plan, struct weft_tune_spmv_ell *row)
{
    const bool around = weft__spmv_on_diagonal(plan);
    if (weft__spmv_is_cpu(plan) || weft__spmv_x_near(plan))
        return;
    if (around && row->around_wg && plan->a.m >= (int64_t)AROUND_ROWS * plan->ctx->device.compute_units)
        row->wg = row->around_wg;
    if (!around && row->apart_ipt && weft__spmv_mean_row(plan) >= APART_ROW)
        row->ipt = row->apart_ipt;
}

// Microseconds of bytes up to which a launch is much of a product's time. One with six buffers took 1.3 and 1.6 us longer than one with three
// on an H200 (docs/log/small-launches.md).
#define PACKED_US 8.0
#define ALIGN     256 // bytes, of arrays in one

static void sizes_of(const struct weft__spmv_ell *e, const struct weft_spmv_plan *plan, size_t *out)
{
    out[WEFT__ELL_SLICE_PTR] = ((size_t)e->slices + 1) * sizeof(cl_long);
    out[WEFT__ELL_COL] = weft__mul((size_t)e->elements, 4);
    out[WEFT__ELL_VAL] = weft__mul((size_t)e->elements, weft_type_bytes(plan->a.type));
    out[WEFT__ELL_PERM] = e->b[WEFT__ELL_PERM] ? (size_t)plan->a.m * 4 : 0;
}

// Memory for all arrays in one, where that is worth a copy; begins of slices and the order of rows stay beside it.
static void packed_make(struct weft__spmv_ell *e, struct weft_spmv_plan *plan, struct weft__make *make)
{
    const enum weft_spmv_algo algo = plan->info.params.policy.algo;
    size_t sizes[WEFT__ELL_BUFFERS], bytes = 0;
    sizes_of(e, plan, sizes);
    for (int i = 0; i < WEFT__ELL_BUFFERS; i++) {
        e->at[i] = (int64_t)bytes;
        bytes += weft__round_up(sizes[i], ALIGN);
    }
    if (weft__spmv_is_cpu(plan) || (algo != WEFT_SPMV_ALGO_SELL && algo != WEFT_SPMV_ALGO_ELL))
        return;
    plan->large = (plan->once && plan->once->large) || weft__spmv_bytes_us(plan, (double)bytes) > PACKED_US;
    if (plan->large)
        return;
    weft__spmv_make_buffer(make, &e->packed, bytes, "all arrays of ELL");
    plan->info.workspace_bytes += bytes + sizes[WEFT__ELL_SLICE_PTR] + sizes[WEFT__ELL_PERM] - e->bytes;
}

// What the arrays have; the memory of the large ones goes back.
static void packed_fill(struct weft__spmv_ell *e, const struct weft_spmv_plan *plan, struct weft__stream *stream)
{
    size_t sizes[WEFT__ELL_BUFFERS];
    sizes_of(e, plan, sizes);
    for (int i = 0; i < WEFT__ELL_BUFFERS; i++)
        weft__stream_copy(stream, e->packed, (size_t)e->at[i], e->b[i], sizes[i]);
    weft__buffer_release(&e->b[WEFT__ELL_COL]);
    weft__buffer_release(&e->b[WEFT__ELL_VAL]);
}

static weft_status kernels_create(struct weft__spmv_ell *e, struct weft_spmv_plan *plan, struct weft__make *make)
{
    struct weft_tune_spmv_ell row = plan->info.params.policy.algo == WEFT_SPMV_ALGO_SELL16
                                        ? *WEFT__TUNE_FIND(plan->ctx, narrow_tune)
                                        : *WEFT__TUNE_FIND(plan->ctx, tune);
    const int cpu = weft__spmv_is_cpu(plan), sorted = e->b[WEFT__ELL_PERM] != NULL;
    struct weft__defines d = {0};
    reads_fit(plan, &row);
    weft__spmv_resolve(make, plan, &row, NULL);
    if (make->status)
        return make->status;
    e->chunk = cpu ? weft__spmv_chunk(plan, (cl_uint)row.chunk, CPU_BLOCK) : (cl_uint)row.chunk;
    const struct weft__spmv_sizes sizes = weft__spmv_sizes(&plan->info.params, plan->info.schedule);
    e->wg = (size_t)sizes.wg;
    e->groups = weft__groups(weft__ceil_div(weft__ceil_div((size_t)plan->a.m, e->chunk), e->wg), e->wg);
    weft__spmv_define(plan, &d);
    weft__define(&d, "WEFT_WG", "%d", sizes.wg);
    weft__define(&d, "WEFT_SORTED", "%d", sorted);
    weft__define(&d, cpu ? "WEFT_BLOCK" : "WEFT_IPT", "%d",
                 !cpu                    ? sizes.ipt
                 : e->height > CPU_BLOCK ? CPU_ELL_BLOCK
                                         : CPU_BLOCK);
    if (!cpu)
        weft__define(&d, "WEFT_HEIGHT", "%u", e->sliced ? e->height : 0);
    weft__make_kernel(make, &e->k[WEFT__ELL_RUN],
                      cpu         ? &weft__spmv_ell_cpu_spec
                      : e->packed ? &weft__spmv_ell_packed_spec
                                  : &weft__spmv_ell_spec,
                      &d);
    convert_make(make, &e->k[WEFT__ELL_FILL], plan, cpu ? &weft__ell_fill_cpu_spec : &weft__ell_fill_spec, cpu ? 1 : 64,
                 sorted, 2);
    return make->status ? make->status : weft__spmv_ell_bind(e, plan, e->k[WEFT__ELL_RUN]);
}

weft_status weft__spmv_ell_bind(const struct weft__spmv_ell *e, struct weft_spmv_plan *plan,
                                struct weft__kernel *kernel)
{
    const cl_int m = (cl_int)plan->a.m;
    if (e->packed)
        return WEFT__BIND(plan->ctx, kernel, WEFT__ARG(all, e->packed), WEFT__ARG(col_at, e->at[WEFT__ELL_COL]),
                          WEFT__ARG(val_at, e->at[WEFT__ELL_VAL]), WEFT__ARG(perm_at, e->at[WEFT__ELL_PERM]),
                          WEFT__ARG(m), WEFT__ARG(height, e->height));
    const cl_mem slice_ptr = e->b[WEFT__ELL_SLICE_PTR], col = e->b[WEFT__ELL_COL],
                 val = e->b[WEFT__ELL_VAL] ? e->b[WEFT__ELL_VAL] : col,
                 perm = e->b[WEFT__ELL_PERM] ? e->b[WEFT__ELL_PERM] : slice_ptr;
    return WEFT__BIND(plan->ctx, kernel, WEFT__ARG(slice_ptr), WEFT__ARG(col), WEFT__ARG(val), WEFT__ARG(perm),
                      WEFT__ARG(m), WEFT__ARG(height, e->height), WEFT__ARG(chunk, e->chunk));
}

cl_uint weft__spmv_chunk(const struct weft_spmv_plan *plan, cl_uint most, cl_uint step)
{
    const size_t m = (size_t)plan->a.m, units = (size_t)plan->ctx->device.compute_units;
    const size_t least = weft__min((size_t)(CPU_LEAST / (1 + weft__spmv_mean_row(plan))), m / (2 * units));
    return (cl_uint)weft__min(weft__round_up(weft__max(weft__ceil_div(m, CPU_ITEMS * units), least), step), most);
}

size_t weft__spmv_items(const struct weft_spmv_plan *plan)
{
    const struct weft_tune_spmv_ell *row = WEFT__TUNE_FIND(plan->ctx, tune);
    return weft__ceil_div((size_t)plan->a.m, weft__spmv_chunk(plan, (cl_uint)row->chunk, CPU_BLOCK));
}

weft_status weft__spmv_ell_fill(struct weft__spmv_ell *e, struct weft__stream *stream, const struct weft_device_csr *a)
{
    const int cpu = stream->ctx->schedule == WEFT_SCHEDULE_CPU;
    const size_t wg = cpu ? 1 : 64;
    const cl_ulong places = (cl_ulong)e->slices * e->height;
    const cl_int m = (cl_int)a->m;
    const cl_mem col = e->b[WEFT__ELL_COL], val = e->b[WEFT__ELL_VAL] ? a->val : a->col,
                 to = e->b[WEFT__ELL_VAL] ? e->b[WEFT__ELL_VAL] : col,
                 perm = e->b[WEFT__ELL_PERM] ? e->b[WEFT__ELL_PERM] : a->row_ptr;
    const size_t groups = e->elements ? weft__groups(weft__ceil_div(weft__ceil_div(places, e->pack), wg), wg) : 0;
    return WEFT__LAUNCH(stream, e->k[WEFT__ELL_FILL], groups, wg, WEFT__ARG(row_ptr, a->row_ptr),
                        WEFT__ARG(col, a->col), WEFT__ARG(val), WEFT__ARG(perm),
                        WEFT__ARG(slice_ptr, e->b[WEFT__ELL_SLICE_PTR]), WEFT__ARG(ell_col, col),
                        WEFT__ARG(ell_val, to), WEFT__ARG(m), WEFT__ARG(height, e->height), WEFT__ARG(places),
                        WEFT__ARG(chunk, e->pack));
}

static void entries_make(struct weft__spmv_ell *e, const struct weft_spmv_plan *plan, struct weft__make *make)
{
    const size_t elements = (size_t)e->elements, val = weft_type_bytes(plan->a.type);
    weft__spmv_make_buffer(make, &e->b[WEFT__ELL_COL], weft__mul(elements, 4), "columns of ELL");
    if (val)
        weft__spmv_make_buffer(make, &e->b[WEFT__ELL_VAL], weft__mul(elements, val), "values of ELL");
}

weft_status weft__spmv_ell_create(struct weft__spmv_ell *e, struct weft_spmv_plan *plan, cl_command_queue queue,
                                  int64_t width, int sigma)
{
    const struct weft_tune_spmv_ell *row = WEFT__TUNE_FIND(plan->ctx, tune);
    const size_t m = (size_t)plan->a.m;
    struct weft__make make = {.ctx = plan->ctx};
    e->sigma = sigma;
    e->sliced = width < 0;
    e->pack = weft__spmv_is_cpu(plan) ? weft__spmv_chunk(plan, CPU_CHUNK, CPU_BLOCK) : 1;
    e->height = width >= 0 ? (cl_uint)weft__round_up(m, ELL_HEIGHT) : (cl_uint)row->height;
    e->slices = (cl_uint)weft__ceil_div(m, e->height);
    if (width >= 0) {
        const cl_long ends[2] = {0, (cl_long)e->height * width};
        e->elements = e->last = ends[1];
        make.status =
            weft__buffer_create_from(&e->b[WEFT__ELL_SLICE_PTR], plan->ctx, sizeof ends, ends, "slices of ELL");
        make.bytes = sizeof ends;
    } else {
        weft__make_buffers(
            &make, e->b,
            (const struct weft__scratch[WEFT__ELL_BUFFERS]){
                [WEFT__ELL_SLICE_PTR] = {((size_t)e->slices + 1) * sizeof(cl_long), .what = "slices of ELL"},
                [WEFT__ELL_PERM] = {sigma > 1 ? m * 4 : 0, .what = "order of rows"}},
            WEFT__ELL_BUFFERS);
        make.status = make.status ? make.status : slices_size(e, plan, queue);
    }
    make.status = make.status ? make.status : padding_check(e, plan, queue);
    entries_make(e, plan, &make);
    e->bytes = make.bytes;
    if (!make.status)
        packed_make(e, plan, &make);
    return kernels_create(e, plan, &make);
}

weft_status weft__spmv_ell_run(const struct weft__spmv_ell *e, struct weft_spmv_plan *plan, struct weft__stream *stream,
                               const struct weft__spmv_call *call)
{
    return weft__spmv_launch(plan, stream, e->k[WEFT__ELL_RUN], e->groups, e->wg, call);
}

void weft__spmv_ell_release(struct weft__spmv_ell *e)
{
    weft__buffer_release(&e->packed);
    weft__parts_release(e->k, WEFT__ELL_KERNELS, e->b, WEFT__ELL_BUFFERS);
}

// All arrays filled, and where products read one, that too.
static void all_fill(struct weft__spmv_ell *e, const struct weft_spmv_plan *plan, struct weft__stream *stream,
                     const struct weft_device_csr *a)
{
    weft__spmv_ell_fill(e, stream, a);
    if (e->packed)
        packed_fill(e, plan, stream);
}

// Values alone change; where products read one array the others go to memory that the queue gives back.
static weft_status method_fill(struct weft_spmv_plan *plan, cl_command_queue queue, const struct weft_device_csr *a)
{
    struct weft__spmv_ell *e = plan->state;
    struct weft__make make = {.ctx = plan->ctx};
    if (e->packed)
        entries_make(e, plan, &make);
    struct weft__stream stream = weft__spmv_stream(&make, queue);
    all_fill(e, plan, &stream, a);
    return stream.status;
}

static weft_status method_create(struct weft_spmv_plan *plan, cl_command_queue queue, int64_t width, int sigma)
{
    struct weft__make make = {.ctx = plan->ctx};
    struct weft__spmv_ell *e = plan->state = weft__make_memory(&make, sizeof *e, "a plan");
    if (!e)
        return make.status;
    struct weft__spmv_clock clock = weft__spmv_clock();
    make.status = weft__spmv_ell_create(e, plan, queue, width, sigma);
    struct weft__stream stream = weft__spmv_stream(&make, queue);
    all_fill(e, plan, &stream, &plan->a);
    weft__spmv_finish(&stream);
    plan->info.format_bytes = e->bytes;
    plan->info.convert_ms = weft__spmv_clock_ms(&clock);
    return stream.status;
}

static weft_status ell_create(struct weft_spmv_plan *plan, cl_command_queue queue)
{
    return method_create(plan, queue, plan->info.max_row, 1);
}

// Of a row of a window in local memory (cl/spmv/ell_sort.cl, ell_sort_cpu.cl).
#define WINDOW_BYTES     8
#define WINDOW_BYTES_CPU 12

weft_status weft__spmv_sell_sigma(struct weft_spmv_plan *plan)
{
    struct weft_spmv_params *p = &plan->info.params;
    const size_t most = weft__local_most(plan->ctx) / (weft__spmv_is_cpu(plan) ? WINDOW_BYTES_CPU : WINDOW_BYTES);
    if (!p->format.sigma) {
        p->format.sigma = 32.0 * (double)plan->stats.steps[0] > 1.1 * (double)plan->a.nnz ? 1024 : 1;
        while (p->format.sigma > 1 && (size_t)p->format.sigma > most)
            p->format.sigma /= 2;
    }
    if (p->format.sigma > 1 && (size_t)p->format.sigma > most)
        return weft__fail(plan->ctx, WEFT_EINVAL, "params.format.sigma is %d: the local memory of %s orders %zu rows",
                          p->format.sigma, plan->ctx->device.name, most);
    return WEFT_OK;
}

static weft_status sell_create(struct weft_spmv_plan *plan, cl_command_queue queue)
{
    weft_status status = weft__spmv_sell_sigma(plan);
    return status ? status : method_create(plan, queue, -1, plan->info.params.format.sigma);
}

static weft_status method_run(struct weft_spmv_plan *plan, struct weft__stream *stream,
                              const struct weft__spmv_call *call)
{
    return weft__spmv_ell_run(plan->state, plan, stream, call);
}

static void method_destroy(void *state)
{
    weft__spmv_ell_release(state);
    free(state);
}

const struct weft__spmv_method weft__spmv_ell = {
    .create = ell_create, .fill = method_fill, .run = method_run, .destroy = method_destroy};
const struct weft__spmv_method weft__spmv_sell = {
    .create = sell_create, .fill = method_fill, .run = method_run, .destroy = method_destroy};
