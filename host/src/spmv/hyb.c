// SPDX-License-Identifier: Apache-2.0
// Hybrid: an ELL part of a limited width, and the rest of the longer rows as coordinates, on the device or on the host.
//
//     pass        reads             writes                    form of an entry on its way   buffers
//     ell_fill    CSR               the first `width` of rows column, value                 those of ell.c
//     hyb_count   row_ptr           rest of each row          (rows alone)                  rest_ptr
//     scan        rest_ptr          begins of these           (rows alone)                  rest_ptr
//     expand      rest_ptr          row of each entry         row                           ROW
//     hyb_rest    CSR, rest_ptr     the rest                  column, value                 COL, VAL
//   and for each SpMV spmv_ell, then the passes of coo.c, or those of host.c around it
#include "hyb.h"
#include "ell.h"
#include "host.h"

#include <stdlib.h>

struct hyb_state {
    struct weft__spmv_ell ell;
    struct weft__spmv_coo rest;
    cl_mem rest_ptr; // m + 1, 64-bit: entries of the rest before each row
    struct weft__kernel *fill;
    struct weft__spmv_host *host; // NULL: the device multiplies the rest
};

#define COLUMN_ROWS_MIN 3 // a column of ELL pays where a third of the rows, or more, has an entry for it

// The rule of N. Bell and M. Garland (SC'09, section 4.4): ELL is about three times as fast as coordinates, so that a
// column that a third of the rows fills is the last that pays. At most the bins of the statistics.
int64_t weft__spmv_hyb_width(const struct weft_spmv_plan *plan)
{
    int64_t width = WEFT__SPMV_BINS - 1, longer = plan->stats.hist[width];
    while (width > 0 && COLUMN_ROWS_MIN * longer < plan->a.m)
        longer += plan->stats.hist[--width];
    return width;
}

// Of the last bin all rows count as longer.
struct weft__spmv_rest weft__spmv_hyb_rest(const struct weft_spmv_plan *plan, int64_t columns)
{
    struct weft__spmv_rest rest = {.entries = (double)plan->a.nnz};
    for (int64_t k = 0; k < WEFT__SPMV_BINS; k++) {
        rest.entries -= (double)(k < columns ? k : columns) * (double)plan->stats.hist[k];
        rest.rows += k > columns ? (double)plan->stats.hist[k] : 0;
    }
    return rest;
}

// Work-items of a group and rows or entries of a work-item, of a conversion of `count` rows or entries.
struct shape {
    size_t groups, wg;
    cl_uint chunk;
};
static struct shape shape_of(const struct weft_spmv_plan *plan, size_t count)
{
    const int cpu = weft__spmv_is_cpu(plan);
    const size_t wg = cpu ? 1 : 64, chunk = cpu ? 4096 : 1;
    return (struct shape){weft__groups(weft__ceil_div(weft__ceil_div(count, chunk), wg), wg), wg, (cl_uint)chunk};
}

static void convert_make(struct weft__make *make, struct weft__kernel **out, struct weft_spmv_plan *plan,
                         const struct weft__kernel_spec *spec)
{
    struct weft__defines d = {0};
    weft__define_types(&d, plan->a.type, plan->a.ofs);
    weft__define(&d, "WEFT_WG", "%zu", shape_of(plan, 1).wg);
    weft__make_kernel(make, out, spec, &d);
}

// rest_ptr, and how many entries the rest has.
static void rest_count(struct hyb_state *s, struct weft_spmv_plan *plan, struct weft__make *make,
                       cl_command_queue queue)
{
    const cl_int m = (cl_int)plan->a.m;
    const cl_long width = plan->info.params.format.width;
    const struct shape shape = shape_of(plan, (size_t)m);
    struct weft__kernel *kernel = NULL;
    cl_long ends[2] = {0, 0};
    convert_make(make, &kernel, plan, &weft__hyb_count_spec);
    weft__spmv_make_buffer(make, &s->rest_ptr, ((size_t)m + 1) * sizeof *ends, "rows of the rest");
    struct weft__stream stream = weft__spmv_stream(make, queue);
    WEFT__LAUNCH(&stream, kernel, shape.groups, shape.wg, WEFT__ARG(row_ptr, plan->a.row_ptr),
                 WEFT__ARG(count, s->rest_ptr), WEFT__ARG(m), WEFT__ARG(width), WEFT__ARG(chunk, shape.chunk));
    make->status = weft__spmv_positions(&stream, s->rest_ptr, (size_t)m, ends);
    s->rest.nnz = ends[1];
    weft__kernel_release(&kernel);
}

static void rest_make(struct hyb_state *s, struct weft_spmv_plan *plan, struct weft__stream *stream)
{
    const size_t count = (size_t)s->rest.nnz;
    struct weft__make make = {.ctx = plan->ctx, .status = stream->status};
    weft__make_buffers(
        &make, s->rest.b,
        (const struct weft__scratch[WEFT__COO_BUFFERS]){
            [WEFT__COO_ROW] = {weft__mul(count, 4), .what = "rows of the rest"},
            [WEFT__COO_COL] = {weft__mul(count, 4), .what = "columns of the rest"},
            [WEFT__COO_VAL] = {weft__mul(count, weft_type_bytes(plan->a.type)), .what = "values of the rest"}},
        WEFT__COO_BUFFERS);
    stream->status = make.status;
    weft__spmv_rows_expand(stream, s->rest_ptr, WEFT_OFS_64, plan->a.m, s->rest.nnz, s->rest.b[WEFT__COO_ROW]);
}

// The rest moves to the host, or stays on the device.
static weft_status rest_place(struct hyb_state *s, struct weft_spmv_plan *plan, cl_command_queue queue)
{
    if (!plan->info.params.format.host_rest)
        return weft__spmv_coo_bind(&s->rest, plan);
    return s->host ? weft__spmv_host_refill(s->host, plan, queue, &s->rest)
                   : weft__spmv_host_create(&s->host, plan, queue, &s->rest);
}

static weft_status hyb_fill(struct weft_spmv_plan *plan, cl_command_queue queue, const struct weft_device_csr *a)
{
    struct hyb_state *s = plan->state;
    cl_mem *const b = s->rest.b;
    const cl_long count = s->rest.nnz, width = plan->info.params.format.width;
    const struct shape shape = shape_of(plan, (size_t)count);
    struct weft__stream stream = weft__spmv_stream(&(struct weft__make){.ctx = plan->ctx}, queue);
    weft__spmv_ell_fill(&s->ell, &stream, a);
    if (!count)
        return stream.status;
    if (!b[WEFT__COO_ROW])
        rest_make(s, plan, &stream);
    const cl_mem val = b[WEFT__COO_VAL] ? a->val : a->col, to = b[b[WEFT__COO_VAL] ? WEFT__COO_VAL : WEFT__COO_COL];
    WEFT__LAUNCH(&stream, s->fill, shape.groups, shape.wg, WEFT__ARG(row_ptr, a->row_ptr), WEFT__ARG(col, a->col),
                 WEFT__ARG(val), WEFT__ARG(rest_ptr, s->rest_ptr), WEFT__ARG(row, b[WEFT__COO_ROW]),
                 WEFT__ARG(rest_col, b[WEFT__COO_COL]), WEFT__ARG(rest_val, to), WEFT__ARG(count), WEFT__ARG(width),
                 WEFT__ARG(chunk, shape.chunk));
    const weft_status status = stream.status ? stream.status : rest_place(s, plan, queue);
    // After a failure too, which may have left some of them NULL: the next refill makes all of them.
    if (plan->info.params.format.host_rest)
        weft__parts_release(NULL, 0, s->rest.b, WEFT__COO_BUFFERS);
    return status;
}

static weft_status hyb_create(struct weft_spmv_plan *plan, cl_command_queue queue)
{
    struct weft_spmv_params *p = &plan->info.params;
    struct weft__make make = {.ctx = plan->ctx};
    struct hyb_state *s = plan->state = weft__make_memory(&make, sizeof *s, "a plan");
    if (!s)
        return make.status;
    p->format.width = p->format.width ? p->format.width : weft__spmv_hyb_width(plan);
    p->format.width = p->format.width < plan->info.max_row ? p->format.width : plan->info.max_row;
    struct weft__spmv_clock clock = weft__spmv_clock();
    make.status = weft__spmv_ell_create(&s->ell, plan, queue, p->format.width, 1);
    rest_count(s, plan, &make, queue);
    if (s->rest.nnz)
        convert_make(&make, &s->fill, plan, &weft__hyb_rest_spec);
    if (!make.status && s->rest.nnz && !p->format.host_rest)
        make.status = weft__spmv_coo_create(&s->rest, plan);
    if (!make.status)
        make.status = hyb_fill(plan, queue, &plan->a);
    struct weft__stream stream = weft__spmv_stream(&make, queue);
    weft__spmv_finish(&stream);
    plan->info.convert_ms = weft__spmv_clock_ms(&clock);
    plan->info.rest = s->rest.nnz;
    plan->info.format_bytes = s->ell.bytes + (s->host ? weft__spmv_host_bytes(s->host) : s->rest.bytes);
    plan->info.workspace_bytes += (s->host ? weft__spmv_host_workspace(s->host) : s->rest.workspace_bytes) +
                                  ((size_t)plan->a.m + 1) * sizeof(cl_long);
    return stream.status;
}

static weft_status hyb_run(struct weft_spmv_plan *plan, struct weft__stream *stream, const struct weft__spmv_call *call)
{
    struct hyb_state *s = plan->state;
    if (s->host) {
        struct weft__spmv_host_run run;
        weft__spmv_host_begin(s->host, plan, stream, call, &run);
        weft__spmv_ell_run(&s->ell, plan, stream, call);
        return weft__spmv_host_end(s->host, plan, stream, call, &run);
    }
    weft_status status = weft__spmv_ell_run(&s->ell, plan, stream, call);
    return status || !s->rest.nnz ? status : weft__spmv_coo_run(&s->rest, plan, stream, call);
}

static void hyb_destroy(void *state)
{
    struct hyb_state *s = state;
    weft__spmv_host_destroy(&s->host);
    weft__spmv_ell_release(&s->ell);
    weft__spmv_coo_release(&s->rest);
    weft__parts_release(&s->fill, 1, &s->rest_ptr, 1);
    free(s);
}

const struct weft__spmv_method weft__spmv_hyb = {
    .create = hyb_create, .fill = hyb_fill, .run = hyb_run, .destroy = hyb_destroy};
