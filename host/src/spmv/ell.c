// SPDX-License-Identifier: Apache-2.0
// ELL and sliced ELL (cl/spmv_ell.cl): conversion from CSR and product.
#include "host/src/core/limits.h"
#include "host/src/core/tune.h"
#include "host/src/spmv/formats.h"

#include <stdlib.h>
#include <weft/scan.h>

const struct weft__kernel_spec weft__ell_sort_spec = {"ell_sort", "spmv/ell_sort.cl"};
const struct weft__kernel_spec weft__ell_width_spec = {"ell_width", "spmv/ell_width.cl"};
const struct weft__kernel_spec weft__ell_fill_spec = {"ell_fill", "spmv/ell_fill.cl"};
const struct weft__kernel_spec weft__spmv_ell_spec = {"spmv_ell", "spmv/ell.cl"};
const struct weft__kernel_spec weft__spmv_ell_cpu_spec = {"spmv_ell_cpu", "spmv/ell_cpu.cl"};

struct weft_tune_spmv_ell {
    struct weft__tune_key key;
    int wg, ipt;
    int height; // rows of a slice
    int chunk;  // places of a work-item, a multiple of height (CPU)
    int read;
};
static const struct weft_tune_spmv_ell tune[] = {
    {{WEFT_SCHEDULE_GPU, NULL, NULL, "default"}, 128, 4, 32, 1, 2},
    {{WEFT_SCHEDULE_CPU, NULL, NULL, "default"}, 1, 0, 8, 1024, 1},
};
#define SORT_WG    256
#define ELL_HEIGHT 32 // the rows of ELL are padded to a multiple of it
// Rows that a CPU work-item takes together: of sliced ELL a slice; of ELL, whose columns lie far apart, at most as many as
// have a page of f32 side by side.
#define CPU_BLOCK     8
#define CPU_ELL_BLOCK 1024

#define CPU_ITEMS 16 // work-items for each compute unit, at least, if rows are enough

static int is_cpu(const struct weft_spmv_plan *plan)
{
    return plan->ctx->schedule == WEFT_SCHEDULE_CPU;
}

// A kernel that reads the row pointers, with the defines that all of them share.
static weft_status convert_kernel(struct weft__kernel **out, struct weft_spmv_plan *plan,
                                  const struct weft__kernel_spec *spec, size_t wg, int sorted, int sigma)
{
    struct weft__defines d = {0};
    weft__define_types(&d, plan->a.type, plan->a.ofs);
    weft__define(&d, "WEFT_WG", "%zu", wg);
    weft__define(&d, "WEFT_SORTED", "%d", sorted);
    weft__define(&d, "WEFT_SIGMA", "%d", sigma);
    return weft__kernel_create(out, plan->ctx, spec, &d);
}

static weft_status rows_sort(struct weft__spmv_ell *e, struct weft_spmv_plan *plan, struct weft__stream *stream,
                             const struct weft_device_csr *a)
{
    const size_t wg = is_cpu(plan) ? 1 : (size_t)weft__wg_lower(plan->ctx, SORT_WG),
                 windows = weft__ceil_div((size_t)a->m, (size_t)e->sigma);
    const cl_int m = (cl_int)a->m;
    struct weft__kernel *kernel = NULL;
    weft_status status = convert_kernel(&kernel, plan, &weft__ell_sort_spec, wg, 1, e->sigma);
    if (!status)
        status = WEFT__LAUNCH(stream, kernel, weft__groups(windows, wg), wg, WEFT__ARG(row_ptr, a->row_ptr),
                              WEFT__ARG(perm, e->perm), WEFT__ARG(m));
    weft__kernel_release(&kernel);
    return status;
}

// slice_ptr of sliced ELL, and its last element.
static weft_status slices_size(struct weft__spmv_ell *e, struct weft_spmv_plan *plan, cl_command_queue queue,
                               const struct weft_device_csr *a)
{
    const size_t wg = is_cpu(plan) ? 1 : 64;
    const cl_int m = (cl_int)a->m;
    const cl_mem perm = e->perm ? e->perm : a->row_ptr;
    struct weft__stream stream;
    struct weft_scan_plan *scan = NULL;
    struct weft__kernel *kernel = NULL;
    cl_long last = 0;
    weft_status status = weft__stream_begin(&stream, plan->ctx, queue, 0, NULL, NULL);
    if (!status && e->sigma > 1)
        status = rows_sort(e, plan, &stream, a);
    if (!status)
        status = convert_kernel(&kernel, plan, &weft__ell_width_spec, wg, e->sigma > 1, 2);
    if (!status)
        status = WEFT__LAUNCH(&stream, kernel, weft__groups(weft__ceil_div(e->slices, wg), wg), wg,
                              WEFT__ARG(row_ptr, a->row_ptr), WEFT__ARG(perm), WEFT__ARG(size, e->slice_ptr),
                              WEFT__ARG(m), WEFT__ARG(height, e->height), WEFT__ARG(slices, e->slices));
    if (!status)
        status = weft__fail_cl(plan->ctx, weft__cl.clFinish(queue), "clFinish");
    if (!status)
        status = weft_scan_plan_create(&scan, plan->ctx, WEFT_SCAN_I64, e->slices,
                                       weft_scan_params(.total = 1, .algo = WEFT_SCAN_THREE));
    if (!status)
        status = weft_scan_run(scan, queue, e->slice_ptr, e->slice_ptr, e->slices, 0, NULL, NULL);
    if (!status)
        status = weft__spmv_read(plan->ctx, queue, e->slice_ptr, e->slices * sizeof last, sizeof last, &last);
    e->elements = last;
    weft_scan_plan_destroy(&scan);
    weft__kernel_release(&kernel);
    return status;
}

weft_status weft__spmv_heaviest(struct weft_spmv_plan *plan, cl_command_queue queue, cl_mem slice_ptr, cl_uint slices,
                                cl_uint per, int64_t *out)
{
    const size_t bytes = ((size_t)slices + 1) * sizeof(cl_long);
    cl_long *ptr = malloc(bytes);
    *out = 0;
    if (!ptr)
        return weft__fail(plan->ctx, WEFT_ENOMEM, "out of host memory for the slices");
    weft_status status = weft__spmv_read(plan->ctx, queue, slice_ptr, 0, bytes, ptr);
    for (size_t first = 0; !status && first < slices; first += per) {
        const int64_t size = ptr[weft__min(first + per, slices)] - ptr[first];
        *out = *out < size ? size : *out;
    }
    free(ptr);
    return status;
}

// Whether auto keeps it.
static weft_status bound_check(const struct weft__spmv_ell *e, struct weft_spmv_plan *plan, cl_command_queue queue,
                               double elements)
{
    const struct weft_tune_spmv_ell *row = WEFT__TUNE_FIND(plan->ctx, tune);
    const cl_uint chunk = is_cpu(plan) ? weft__spmv_chunk(plan, (cl_uint)row->chunk, ELL_HEIGHT) : 1;
    const int narrow = plan->info.params.algo == WEFT_SPMV_SELL16 && plan->a.n <= UINT16_MAX; // whatever the pattern
    int64_t longest = plan->info.max_row;
    weft_status status = WEFT_OK;
    if (plan->bound > 0 && is_cpu(plan))
        status = weft__spmv_heaviest(plan, queue, e->slice_ptr, e->slices, chunk / e->height, &longest);
    const struct weft__spmv_load load = {.elements = elements,
                                         .bytes = (narrow ? 2 : 4) + (double)weft_type_bytes(plan->a.type),
                                         .longest = (double)longest,
                                         .items = (double)weft__ceil_div((size_t)plan->a.m, chunk)};
    return status || weft__spmv_bound_holds(plan, &load) ? status : WEFT_ERANGE;
}

// Refuse what would be mostly padding. Rows that only fill up the last slice do not count: a small matrix is not refused
// for them.
static weft_status padding_check(const struct weft__spmv_ell *e, struct weft_spmv_plan *plan, cl_command_queue queue)
{
    const double limit = plan->info.params.max_padding, nnz = (double)plan->a.nnz;
    const int64_t width = e->slices == 1 ? e->elements / e->height : plan->info.max_row;
    const double filling = (double)((int64_t)e->slices * e->height - plan->a.m) * (double)width;
    const double mib = (double)e->elements * (double)(4 + weft_type_bytes(plan->a.type)) / 1048576;
    if ((double)e->elements - filling <= limit * nnz)
        return bound_check(e, plan, queue, (double)e->elements - filling);
    if (plan->trial || plan->bound > 0)
        return WEFT_ERANGE;
    return weft__fail(plan->ctx, WEFT_ERANGE,
                      "%s would hold %lld elements (%.1f MiB) for %lld entries, %.1f times as many; "
                      "params.max_padding allows %.1f: longest row %lld, mean %.1f",
                      weft_spmv_algo_name(plan->info.params.algo), (long long)e->elements, mib, (long long)plan->a.nnz,
                      (double)e->elements / nnz, limit, (long long)plan->info.max_row, nnz / (double)plan->a.m);
}

static weft_status arrays_alloc(struct weft__spmv_ell *e, struct weft_spmv_plan *plan)
{
    const size_t elements = (size_t)e->elements, val = weft_type_bytes(plan->a.type);
    weft_status status = weft__buffer_create(&e->col, plan->ctx, weft__mul(elements, 4), "columns of ELL");
    if (!status && val)
        status = weft__buffer_create(&e->val, plan->ctx, weft__mul(elements, val), "values of ELL");
    e->bytes = elements * (4 + val) + ((size_t)e->slices + 1) * sizeof(cl_long) + (e->perm ? (size_t)plan->a.m * 4 : 0);
    return status;
}

static weft_status kernels_create(struct weft__spmv_ell *e, struct weft_spmv_plan *plan)
{
    struct weft_spmv_params *p = &plan->info.params;
    const struct weft_tune_spmv_ell *row = WEFT__TUNE_FIND(plan->ctx, tune);
    const int cpu = is_cpu(plan);
    p->read = p->read ? p->read : row->read;
    weft_status status = weft__size_resolve(plan->ctx, &p->wg, &p->ipt,
                                            &(struct weft__size_rule){.name = "params.",
                                                                      .wg = row->wg,
                                                                      .wg_step = 1,
                                                                      .ipt = row->ipt,
                                                                      .ipt_least = !cpu,
                                                                      .ipt_most = cpu ? 0 : 8,
                                                                      .ipt_step = 1});
    if (status)
        return status;
    e->chunk = cpu ? weft__spmv_chunk(plan, (cl_uint)row->chunk, ELL_HEIGHT) : (cl_uint)row->chunk;
    e->wg = (size_t)p->wg;
    e->groups = weft__groups(weft__ceil_div(weft__ceil_div((size_t)plan->a.m, e->chunk), e->wg), e->wg);
    struct weft__defines d = {0};
    weft__spmv_define(plan, &d);
    weft__define(&d, "WEFT_WG", "%d", p->wg);
    weft__define(&d, "WEFT_SORTED", "%d", e->perm != NULL);
    weft__define(&d, cpu ? "WEFT_BLOCK" : "WEFT_IPT", "%d",
                 !cpu                    ? p->ipt
                 : e->height > CPU_BLOCK ? CPU_ELL_BLOCK
                                         : CPU_BLOCK);
    e->spec = cpu ? &weft__spmv_ell_cpu_spec : &weft__spmv_ell_spec;
    status = weft__kernel_create(&e->run, plan->ctx, e->spec, &d);
    if (!status)
        status = convert_kernel(&e->fill, plan, &weft__ell_fill_spec, cpu ? 1 : 64, e->perm != NULL, 2);
    return status;
}

cl_uint weft__spmv_chunk(const struct weft_spmv_plan *plan, cl_uint most, cl_uint step)
{
    const size_t items = (size_t)plan->ctx->device.compute_units * CPU_ITEMS;
    const size_t even = weft__round_up(weft__ceil_div((size_t)plan->a.m, items), step);
    return (cl_uint)weft__min(even, most);
}

weft_status weft__spmv_ell_fill(struct weft__spmv_ell *e, struct weft_spmv_plan *plan, struct weft__stream *stream,
                                const struct weft_device_csr *a)
{
    const size_t wg = is_cpu(plan) ? 1 : 64;
    const cl_uint chunk = is_cpu(plan) ? 256 : 1;
    const cl_ulong places = (cl_ulong)e->slices * e->height;
    const cl_int m = (cl_int)a->m;
    const cl_mem val = e->val ? a->val : a->col, to = e->val ? e->val : e->col, perm = e->perm ? e->perm : a->row_ptr;
    const size_t groups = e->elements ? weft__groups(weft__ceil_div(weft__ceil_div(places, chunk), wg), wg) : 0;
    return WEFT__LAUNCH(stream, e->fill, groups, wg, WEFT__ARG(row_ptr, a->row_ptr), WEFT__ARG(col, a->col),
                        WEFT__ARG(val), WEFT__ARG(perm), WEFT__ARG(slice_ptr, e->slice_ptr), WEFT__ARG(ell_col, e->col),
                        WEFT__ARG(ell_val, to), WEFT__ARG(m), WEFT__ARG(height, e->height), WEFT__ARG(places),
                        WEFT__ARG(chunk));
}

weft_status weft__spmv_ell_create(struct weft__spmv_ell *e, struct weft_spmv_plan *plan, cl_command_queue queue,
                                  const struct weft_device_csr *a, int64_t width, int sigma)
{
    const struct weft_tune_spmv_ell *row = WEFT__TUNE_FIND(plan->ctx, tune);
    const size_t m = (size_t)a->m;
    e->sigma = sigma;
    e->height = width >= 0 ? (cl_uint)weft__round_up(m, ELL_HEIGHT) : (cl_uint)row->height;
    e->slices = (cl_uint)weft__ceil_div(m, e->height);
    const size_t ptr_bytes = ((size_t)e->slices + 1) * sizeof(cl_long);
    weft_status status = weft__buffer_create(&e->slice_ptr, plan->ctx, ptr_bytes, "slices of ELL");
    if (!status && sigma > 1)
        status = weft__buffer_create(&e->perm, plan->ctx, m * 4, "order of rows");
    if (!status && width >= 0) {
        const cl_long ends[2] = {0, (cl_long)e->height * width};
        e->elements = ends[1];
        status = weft__spmv_write(plan->ctx, queue, e->slice_ptr, sizeof ends, ends);
    } else if (!status) {
        status = slices_size(e, plan, queue, a);
    }
    if (!status)
        status = padding_check(e, plan, queue);
    if (!status)
        status = arrays_alloc(e, plan);
    return status ? status : kernels_create(e, plan);
}

weft_status weft__spmv_ell_run(const struct weft__spmv_ell *e, struct weft_spmv_plan *plan, struct weft__stream *stream,
                               const struct weft__spmv_call *call)
{
    const cl_int m = (cl_int)plan->a.m;
    const cl_mem val = e->val ? e->val : e->col, perm = e->perm ? e->perm : e->slice_ptr;
    if (is_cpu(plan))
        return WEFT__LAUNCH(stream, e->run, e->groups, e->wg, WEFT__ARG(slice_ptr, e->slice_ptr),
                            WEFT__ARG(col, e->col), WEFT__ARG(val), WEFT__ARG(perm), WEFT__ARG(x, call->x),
                            WEFT__ARG(y, call->y), WEFT__ARG(m), WEFT__ARG(height, e->height),
                            WEFT__ARG(chunk, e->chunk), WEFT__SPMV_SCALAR(alpha, plan, call->alpha),
                            WEFT__SPMV_SCALAR(beta, plan, call->beta));
    return WEFT__LAUNCH(stream, e->run, e->groups, e->wg, WEFT__ARG(slice_ptr, e->slice_ptr), WEFT__ARG(col, e->col),
                        WEFT__ARG(val), WEFT__ARG(perm), WEFT__ARG(x, call->x), WEFT__ARG(y, call->y), WEFT__ARG(m),
                        WEFT__ARG(height, e->height), WEFT__SPMV_SCALAR(alpha, plan, call->alpha),
                        WEFT__SPMV_SCALAR(beta, plan, call->beta));
}

void weft__spmv_ell_release(struct weft__spmv_ell *e)
{
    weft__kernel_release(&e->run);
    weft__kernel_release(&e->fill);
    weft__buffer_release(&e->slice_ptr);
    weft__buffer_release(&e->col);
    weft__buffer_release(&e->val);
    weft__buffer_release(&e->perm);
}

static weft_status method_fill(struct weft_spmv_plan *plan, cl_command_queue queue, const struct weft_device_csr *a)
{
    struct weft__stream stream;
    weft_status status = weft__stream_begin(&stream, plan->ctx, queue, 0, NULL, NULL);
    return status ? status : weft__spmv_ell_fill(plan->state, plan, &stream, a);
}

static weft_status method_create(struct weft_spmv_plan *plan, cl_command_queue queue, int64_t width, int sigma)
{
    struct weft__spmv_ell *e = plan->state = calloc(1, sizeof *e);
    if (!e)
        return weft__fail(plan->ctx, WEFT_ENOMEM, "out of host memory for a plan");
    struct weft__spmv_clock clock = weft__spmv_clock(plan->ctx);
    weft_status status = weft__spmv_ell_create(e, plan, queue, &plan->a, width, sigma);
    if (!status)
        status = method_fill(plan, queue, &plan->a);
    if (!status)
        status = weft__fail_cl(plan->ctx, weft__cl.clFinish(queue), "clFinish");
    plan->info.format_bytes = e->bytes;
    plan->info.convert_ms = weft__spmv_clock_ms(plan->ctx, &clock);
    return status;
}

static weft_status ell_create(struct weft_spmv_plan *plan, cl_command_queue queue)
{
    return method_create(plan, queue, plan->info.max_row, 1);
}

#define WINDOW_BYTES 8 // of a row of cl/ell_sort.cl in local memory

weft_status weft__spmv_sell_sigma(struct weft_spmv_plan *plan)
{
    struct weft_spmv_params *p = &plan->info.params;
    const size_t most = weft__local_most(plan->ctx) / WINDOW_BYTES;
    if (!p->sigma) {
        p->sigma = 32.0 * (double)plan->stats.steps[0] > 1.1 * (double)plan->a.nnz ? 1024 : 1;
        while (p->sigma > 1 && (size_t)p->sigma > most)
            p->sigma /= 2;
    }
    if (p->sigma < 1 || p->sigma > 1024 || (p->sigma & (p->sigma - 1)))
        return weft__fail(plan->ctx, WEFT_EINVAL, "params.sigma is %d, it must be a power of two up to 1024", p->sigma);
    if (p->sigma > 1 && (size_t)p->sigma > most)
        return weft__fail(plan->ctx, WEFT_EINVAL, "params.sigma is %d: the local memory of %s orders %zu rows",
                          p->sigma, plan->ctx->device.name, most);
    return WEFT_OK;
}

static weft_status sell_create(struct weft_spmv_plan *plan, cl_command_queue queue)
{
    weft_status status = weft__spmv_sell_sigma(plan);
    return status ? status : method_create(plan, queue, -1, plan->info.params.sigma);
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

const struct weft__spmv_method weft__spmv_ell = {WEFT_SPMV_ELL, ell_create, method_fill, method_run, method_destroy};
const struct weft__spmv_method weft__spmv_sell = {WEFT_SPMV_SELL, sell_create, method_fill, method_run, method_destroy};
