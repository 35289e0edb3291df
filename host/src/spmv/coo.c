// SPDX-License-Identifier: Apache-2.0
// Coordinates in row order: sums by segments, or by atomics.
#include "host/src/core/check.h"
#include "host/src/core/limits.h"
#include "host/src/core/tune.h"
#include "host/src/spmv/formats.h"

#include <stdlib.h>
#include <weft/expand.h>

const struct weft__kernel_spec weft__spmv_segment_spec = {"spmv_coo_segment", "spmv/coo_segment.cl"};
const struct weft__kernel_spec weft__spmv_coo_cpu_spec = {"spmv_coo_cpu", "spmv/coo_cpu.cl"};
const struct weft__kernel_spec weft__spmv_coo_join_spec = {"spmv_coo_join", "spmv/coo_join.cl"};
const struct weft__kernel_spec weft__spmv_atomic_spec = {"spmv_coo_atomic", "spmv/coo_atomic.cl"};
const struct weft__kernel_spec weft__spmv_scale_spec = {"spmv_scale", "spmv/scale.cl"};

struct weft_tune_spmv_coo {
    struct weft__tune_key key;
    int wg, ipt;
    int tiles; // for each compute unit (CPU)
    int read;
};
static const struct weft_tune_spmv_coo tune[] = {
    {{WEFT_SCHEDULE_GPU, NULL, NULL, "default"}, 256, 7, 0, 2},
    {{WEFT_SCHEDULE_CPU, NULL, NULL, "default"}, 1, 0, 16, 1},
};

static weft_status scratch_create(struct weft__spmv_coo *c, struct weft_spmv_plan *plan)
{
    const size_t bytes = (size_t)c->tiles * weft__spmv_acc_bytes(plan);
    c->workspace_bytes = 2 * bytes;
    weft_status status = weft__buffer_create(&c->part, plan->ctx, bytes, "sums behind each tile");
    return status ? status : weft__buffer_create(&c->head, plan->ctx, bytes, "sums before each tile");
}

static weft_status join_create(struct weft__spmv_coo *c, struct weft_spmv_plan *plan, int cpu)
{
    struct weft__defines d = {0};
    const size_t per_group = cpu ? 1 : 2;
    c->join_wg = cpu ? 1 : 64;
    c->join_groups = c->tiles > 1 ? weft__groups(weft__ceil_div(c->tiles, per_group), c->join_wg) : 0;
    weft__spmv_define(plan, &d);
    weft__define(&d, "WEFT_WG", "%zu", c->join_wg);
    weft__define(&d, "WEFT_JOIN", "%zu", c->join_wg / per_group);
    return weft__kernel_create(&c->join, plan->ctx, &weft__spmv_coo_join_spec, &d);
}

static weft_status atomic_create(struct weft__spmv_coo *c, struct weft_spmv_plan *plan)
{
    struct weft__defines d = {0};
    c->spec = &weft__spmv_atomic_spec;
    c->groups = weft__groups(weft__ceil_div((size_t)c->nnz, c->wg), c->wg);
    weft_status status = weft__spmv_atomic_check(plan);
    weft__spmv_define(plan, &d);
    weft__define(&d, "WEFT_ATOMIC", "1");
    weft__define(&d, "WEFT_WG", "%zu", c->wg);
    return status ? status : weft__kernel_create(&c->run, plan->ctx, c->spec, &d);
}

// Local memory of cl/spmv_coo_segment.cl.
static size_t tile_local(const void *of, int wg, int ipt)
{
    const size_t acc = weft__spmv_acc_bytes(of), w = (size_t)wg;
    return w * (size_t)ipt * (acc + 4) + w / 32 * (acc + 4) + 4 * w + 8;
}

weft_status weft__spmv_coo_create(struct weft__spmv_coo *c, struct weft_spmv_plan *plan)
{
    const int cpu = plan->ctx->schedule == WEFT_SCHEDULE_CPU;
    const struct weft_tune_spmv_coo *row = WEFT__TUNE_FIND(plan->ctx, tune);
    // A hybrid's wg and ipt belong to its ELL part.
    const struct weft_spmv_params *p = &plan->info.params;
    const int own = p->algo == WEFT_SPMV_COO || p->algo == WEFT_SPMV_COO_ATOMIC;
    int wg = own ? p->wg : 0, ipt = own ? p->ipt : 0;
    weft_status status = weft__size_resolve(plan->ctx, &wg, &ipt,
                                            &(struct weft__size_rule){.name = "params.",
                                                                      .wg = row->wg,
                                                                      .wg_step = cpu || c->atomic ? 1 : 32,
                                                                      .ipt = row->ipt,
                                                                      .ipt_least = !cpu,
                                                                      .ipt_most = cpu ? 0 : 16,
                                                                      .ipt_step = 1,
                                                                      .local = cpu || c->atomic ? NULL : tile_local,
                                                                      .of = plan});
    if (status)
        return status;
    if (own) {
        plan->info.params.wg = wg;
        plan->info.params.ipt = ipt;
        plan->info.params.read = p->read ? p->read : row->read;
    }
    c->bytes = weft__mul((size_t)c->nnz, 8 + weft_type_bytes(plan->a.type));
    c->wg = (size_t)wg;
    if (c->atomic)
        return atomic_create(c, plan);
    const size_t items = (size_t)wg * (size_t)ipt, units = (size_t)plan->ctx->device.compute_units * (size_t)row->tiles;
    c->tile =
        (cl_uint)(cpu ? weft__min(weft__max(4096, weft__ceil_div((size_t)c->nnz, units)), (size_t)1 << 30) : items);
    c->tiles = (cl_uint)weft__ceil_div((size_t)c->nnz, c->tile);
    c->groups = weft__groups(weft__ceil_div(c->tiles, cpu ? c->wg : 1), c->wg);
    c->spec = cpu ? &weft__spmv_coo_cpu_spec : &weft__spmv_segment_spec;
    struct weft__defines d = {0};
    weft__spmv_define(plan, &d);
    weft__define(&d, "WEFT_WG", "%d", wg);
    if (!cpu) {
        weft__define(&d, "WEFT_IPT", "%d", ipt);
        weft__define(&d, "WEFT_TILED", "1");
    }
    status = scratch_create(c, plan);
    if (!status)
        status = weft__kernel_create(&c->run, plan->ctx, c->spec, &d);
    return status ? status : join_create(c, plan, cpu);
}

weft_status weft__spmv_coo_run(const struct weft__spmv_coo *c, struct weft_spmv_plan *plan, struct weft__stream *stream,
                               const struct weft__spmv_call *call)
{
    const cl_long nnz = c->nnz;
    const cl_mem val = c->val ? c->val : c->col;
    if (c->atomic)
        return WEFT__LAUNCH(stream, c->run, c->groups, c->wg, WEFT__ARG(row, c->row), WEFT__ARG(col, c->col),
                            WEFT__ARG(val), WEFT__ARG(x, call->x), WEFT__ARG(y, call->y), WEFT__ARG(nnz),
                            WEFT__SPMV_SCALAR(alpha, plan, call->alpha));
    weft_status status;
    if (c->spec == &weft__spmv_coo_cpu_spec)
        status = WEFT__LAUNCH(stream, c->run, c->groups, c->wg, WEFT__ARG(row, c->row), WEFT__ARG(col, c->col),
                              WEFT__ARG(val), WEFT__ARG(x, call->x), WEFT__ARG(y, call->y), WEFT__ARG(part, c->part),
                              WEFT__ARG(head, c->head), WEFT__ARG(nnz), WEFT__ARG(tile, c->tile),
                              WEFT__ARG(tiles, c->tiles), WEFT__SPMV_SCALAR(alpha, plan, call->alpha));
    else
        status = WEFT__LAUNCH(stream, c->run, c->groups, c->wg, WEFT__ARG(row, c->row), WEFT__ARG(col, c->col),
                              WEFT__ARG(val), WEFT__ARG(x, call->x), WEFT__ARG(y, call->y), WEFT__ARG(part, c->part),
                              WEFT__ARG(head, c->head), WEFT__ARG(nnz), WEFT__ARG(tiles, c->tiles),
                              WEFT__SPMV_SCALAR(alpha, plan, call->alpha));
    if (status)
        return status;
    return WEFT__LAUNCH(stream, c->join, c->join_groups, c->join_wg, WEFT__ARG(row, c->row), WEFT__ARG(part, c->part),
                        WEFT__ARG(head, c->head), WEFT__ARG(y, call->y), WEFT__ARG(nnz), WEFT__ARG(tile, c->tile),
                        WEFT__ARG(tiles, c->tiles), WEFT__SPMV_SCALAR(alpha, plan, call->alpha));
}

void weft__spmv_coo_release(struct weft__spmv_coo *c)
{
    weft__kernel_release(&c->run);
    weft__kernel_release(&c->join);
    weft__buffer_release(&c->row);
    weft__buffer_release(&c->col);
    weft__buffer_release(&c->val);
    weft__buffer_release(&c->part);
    weft__buffer_release(&c->head);
}

weft_status weft__spmv_rows_expand(struct weft_spmv_plan *plan, cl_command_queue queue, cl_mem ptr, enum weft_ofs ofs,
                                   int64_t m, int64_t nnz, cl_mem row)
{
    struct weft_expand_plan *expand = NULL;
    weft_status status = weft_expand_plan_create(&expand, plan->ctx, m, nnz, ofs, NULL);
    if (!status)
        status = weft_expand_run(expand, queue, ptr, row, m, nnz, 0, NULL, NULL);
    if (!status)
        status = weft__fail_cl(plan->ctx, weft__cl.clFinish(queue), "clFinish");
    weft_expand_plan_destroy(&expand);
    return status;
}

weft_status weft__spmv_scale_create(struct weft__kernel **out, struct weft_spmv_plan *plan)
{
    struct weft__defines d = {0};
    weft__spmv_define(plan, &d);
    weft__define(&d, "WEFT_WG", "%d", weft__wg_small(plan->ctx));
    return weft__kernel_create(out, plan->ctx, &weft__spmv_scale_spec, &d);
}

weft_status weft__spmv_scale(struct weft__kernel *kernel, struct weft_spmv_plan *plan, struct weft__stream *stream,
                             int64_t rows, const struct weft__spmv_call *call)
{
    const cl_int count = (cl_int)rows;
    const size_t wg = (size_t)weft__wg_small(plan->ctx);
    return WEFT__LAUNCH(stream, kernel, weft__groups(weft__ceil_div((size_t)rows, wg), wg), wg, WEFT__ARG(y, call->y),
                        WEFT__ARG(m, count), WEFT__SPMV_SCALAR(beta, plan, call->beta));
}

struct coo_state {
    struct weft__spmv_coo coo;
    struct weft__kernel *scale;
};

// The columns and values are the caller's own.
static weft_status coo_fill(struct weft_spmv_plan *plan, cl_command_queue queue, const struct weft_device_csr *a)
{
    (void)queue;
    struct coo_state *s = plan->state;
    weft_status status = weft__spmv_retain(plan->ctx, &s->coo.col, a->col);
    return status || !a->val ? status : weft__spmv_retain(plan->ctx, &s->coo.val, a->val);
}

static weft_status coo_create(struct weft_spmv_plan *plan, cl_command_queue queue)
{
    const struct weft_device_csr *a = &plan->a;
    struct coo_state *s = plan->state = calloc(1, sizeof *s);
    if (!s)
        return weft__fail(plan->ctx, WEFT_ENOMEM, "out of host memory for a plan");
    s->coo.nnz = a->nnz;
    s->coo.atomic = plan->info.params.algo == WEFT_SPMV_COO_ATOMIC;
    weft_status status = weft__spmv_coo_create(&s->coo, plan);
    if (!status)
        status = weft__spmv_scale_create(&s->scale, plan);
    struct weft__spmv_clock clock = weft__spmv_clock(plan->ctx);
    if (!status)
        status = weft__buffer_create(&s->coo.row, plan->ctx, weft__mul((size_t)a->nnz, 4), "row indices");
    if (!status)
        status = weft__spmv_rows_expand(plan, queue, a->row_ptr, a->ofs, a->m, a->nnz, s->coo.row);
    plan->info.convert_ms = weft__spmv_clock_ms(plan->ctx, &clock);
    plan->info.format_bytes = s->coo.bytes;
    plan->info.workspace_bytes += s->coo.workspace_bytes;
    return status ? status : coo_fill(plan, queue, a);
}

static weft_status coo_run(struct weft_spmv_plan *plan, struct weft__stream *stream, const struct weft__spmv_call *call)
{
    struct coo_state *s = plan->state;
    weft_status status = weft__spmv_scale(s->scale, plan, stream, plan->a.m, call);
    return status ? status : weft__spmv_coo_run(&s->coo, plan, stream, call);
}

static void coo_destroy(void *state)
{
    struct coo_state *s = state;
    weft__spmv_coo_release(&s->coo);
    weft__kernel_release(&s->scale);
    free(s);
}

const struct weft__spmv_method weft__spmv_coo = {WEFT_SPMV_COO, coo_create, coo_fill, coo_run, coo_destroy};
const struct weft__spmv_method weft__spmv_coo_atomic = {WEFT_SPMV_COO_ATOMIC, coo_create, coo_fill, coo_run,
                                                        coo_destroy};
