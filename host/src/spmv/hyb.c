// SPDX-License-Identifier: Apache-2.0
// Hybrid: an ELL part of a limited width, and the rest of the longer rows as coordinates, on the device or on the host.
#include "host/src/spmv/host.h"

#include <stdlib.h>
#include <weft/scan.h>

const struct weft__kernel_spec weft__hyb_count_spec = {"hyb_count", "spmv/hyb_rest.cl"};
const struct weft__kernel_spec weft__hyb_rest_spec = {"hyb_rest", "spmv/hyb_rest.cl"};

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

static size_t convert_wg(const struct weft_spmv_plan *plan, cl_uint *chunk)
{
    const int cpu = plan->ctx->schedule == WEFT_SCHEDULE_CPU;
    *chunk = cpu ? 4096 : 1;
    return cpu ? 1 : 64;
}

static weft_status convert_kernel(struct weft__kernel **out, struct weft_spmv_plan *plan,
                                  const struct weft__kernel_spec *spec)
{
    struct weft__defines d = {0};
    cl_uint chunk;
    weft__define_types(&d, plan->a.type, plan->a.ofs);
    weft__define(&d, "WEFT_WG", "%zu", convert_wg(plan, &chunk));
    return weft__kernel_create(out, plan->ctx, spec, &d);
}

// rest_ptr, and how many entries the rest has.
static weft_status rest_count(struct hyb_state *s, struct weft_spmv_plan *plan, cl_command_queue queue)
{
    const struct weft_device_csr *a = &plan->a;
    const cl_int m = (cl_int)a->m;
    const cl_long width = plan->info.params.width;
    cl_uint chunk;
    const size_t wg = convert_wg(plan, &chunk);
    struct weft__stream stream;
    struct weft_scan_plan *scan = NULL;
    struct weft__kernel *kernel = NULL;
    cl_long last = 0;
    weft_status status = convert_kernel(&kernel, plan, &weft__hyb_count_spec);
    if (!status)
        status = weft__buffer_create(&s->rest_ptr, plan->ctx, ((size_t)a->m + 1) * sizeof last, "rows of the rest");
    if (!status)
        status = weft__stream_begin(&stream, plan->ctx, queue, 0, NULL, NULL);
    if (!status)
        status = WEFT__LAUNCH(&stream, kernel, weft__groups(weft__ceil_div(weft__ceil_div((size_t)m, chunk), wg), wg),
                              wg, WEFT__ARG(row_ptr, a->row_ptr), WEFT__ARG(count, s->rest_ptr), WEFT__ARG(m),
                              WEFT__ARG(width), WEFT__ARG(chunk));
    if (!status)
        status = weft__fail_cl(plan->ctx, weft__cl.clFinish(queue), "clFinish");
    if (!status)
        status = weft_scan_plan_create(&scan, plan->ctx, WEFT_SCAN_I64, a->m,
                                       weft_scan_params(.total = 1, .algo = WEFT_SCAN_THREE));
    if (!status)
        status = weft_scan_run(scan, queue, s->rest_ptr, s->rest_ptr, a->m, 0, NULL, NULL);
    if (!status)
        status = weft__spmv_read(plan->ctx, queue, s->rest_ptr, (size_t)a->m * sizeof last, sizeof last, &last);
    s->rest.nnz = last;
    weft_scan_plan_destroy(&scan);
    weft__kernel_release(&kernel);
    return status;
}

static weft_status rest_create(struct hyb_state *s, struct weft_spmv_plan *plan, cl_command_queue queue)
{
    const size_t count = (size_t)s->rest.nnz, val = weft_type_bytes(plan->a.type);
    weft_status status = weft__buffer_create(&s->rest.row, plan->ctx, weft__mul(count, 4), "rows of the rest");
    if (!status)
        status = weft__buffer_create(&s->rest.col, plan->ctx, weft__mul(count, 4), "columns of the rest");
    if (!status && val)
        status = weft__buffer_create(&s->rest.val, plan->ctx, weft__mul(count, val), "values of the rest");
    return status ? status
                  : weft__spmv_rows_expand(plan, queue, s->rest_ptr, WEFT_OFS64, plan->a.m, s->rest.nnz, s->rest.row);
}

// The rest moves to the host, or stays on the device.
static weft_status rest_place(struct hyb_state *s, struct weft_spmv_plan *plan, cl_command_queue queue)
{
    if (!plan->info.params.host_rest)
        return WEFT_OK;
    weft_status status = s->host ? weft__spmv_host_refill(s->host, plan, queue, &s->rest)
                                 : weft__spmv_host_create(&s->host, plan, queue, &s->rest);
    weft__buffer_release(&s->rest.row);
    weft__buffer_release(&s->rest.col);
    weft__buffer_release(&s->rest.val);
    return status;
}

static weft_status hyb_fill(struct weft_spmv_plan *plan, cl_command_queue queue, const struct weft_device_csr *a)
{
    struct hyb_state *s = plan->state;
    const cl_long count = s->rest.nnz, width = plan->info.params.width;
    cl_uint chunk;
    const size_t wg = convert_wg(plan, &chunk);
    struct weft__stream stream;
    weft_status status = weft__stream_begin(&stream, plan->ctx, queue, 0, NULL, NULL);
    if (!status)
        status = weft__spmv_ell_fill(&s->ell, plan, &stream, a);
    if (!status && count && !s->rest.row)
        status = rest_create(s, plan, queue);
    if (status || !count)
        return status;
    const cl_mem val = s->rest.val ? a->val : a->col, to = s->rest.val ? s->rest.val : s->rest.col;
    status =
        WEFT__LAUNCH(&stream, s->fill, weft__groups(weft__ceil_div(weft__ceil_div((size_t)count, chunk), wg), wg), wg,
                     WEFT__ARG(row_ptr, a->row_ptr), WEFT__ARG(col, a->col), WEFT__ARG(val),
                     WEFT__ARG(rest_ptr, s->rest_ptr), WEFT__ARG(row, s->rest.row), WEFT__ARG(rest_col, s->rest.col),
                     WEFT__ARG(rest_val, to), WEFT__ARG(count), WEFT__ARG(width), WEFT__ARG(chunk));
    return status ? status : rest_place(s, plan, queue);
}

static weft_status hyb_create(struct weft_spmv_plan *plan, cl_command_queue queue)
{
    struct weft_spmv_params *p = &plan->info.params;
    struct hyb_state *s = plan->state = calloc(1, sizeof *s);
    if (!s)
        return weft__fail(plan->ctx, WEFT_ENOMEM, "out of host memory for a plan");
    p->width = p->width ? p->width : weft__spmv_hyb_width(plan);
    if (p->width < 0 || p->width > INT32_MAX)
        return weft__fail(plan->ctx, WEFT_EINVAL, "params.width is %lld, it must be in 0..2147483647",
                          (long long)p->width);
    p->width = p->width < plan->info.max_row ? p->width : plan->info.max_row;
    struct weft__spmv_clock clock = weft__spmv_clock(plan->ctx);
    weft_status status = weft__spmv_ell_create(&s->ell, plan, queue, &plan->a, p->width, 1);
    if (!status)
        status = rest_count(s, plan, queue);
    if (!status && s->rest.nnz)
        status = convert_kernel(&s->fill, plan, &weft__hyb_rest_spec);
    if (!status && s->rest.nnz && !p->host_rest)
        status = weft__spmv_coo_create(&s->rest, plan);
    if (!status)
        status = hyb_fill(plan, queue, &plan->a);
    if (!status)
        status = weft__fail_cl(plan->ctx, weft__cl.clFinish(queue), "clFinish");
    plan->info.convert_ms = weft__spmv_clock_ms(plan->ctx, &clock);
    plan->info.rest = s->rest.nnz;
    plan->info.format_bytes = s->ell.bytes + (s->host ? weft__spmv_host_bytes(s->host) : s->rest.bytes);
    plan->info.workspace_bytes += (s->host ? weft__spmv_host_workspace(s->host) : s->rest.workspace_bytes) +
                                  ((size_t)plan->a.m + 1) * sizeof(cl_long);
    return status;
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
    weft__buffer_release(&s->rest_ptr);
    weft__kernel_release(&s->fill);
    free(s);
}

const struct weft__spmv_method weft__spmv_hyb = {WEFT_SPMV_HYB, hyb_create, hyb_fill, hyb_run, hyb_destroy};
