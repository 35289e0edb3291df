// SPDX-License-Identifier: Apache-2.0
// y = alpha*A^T*x + beta*y: by a transposed copy, or by atomics.
#include "host/src/core/check.h"
#include "host/src/core/limits.h"
#include "host/src/spmv/formats.h"

#include <stdlib.h>

const struct weft__kernel_spec weft__spmv_scatter_spec = {"spmv_csr_scatter", "spmv/csr_scatter.cl"};

weft_status weft__spmv_transposed(struct weft_device_csr *out, struct weft_context *ctx, cl_command_queue queue,
                                  const struct weft_device_csr *a)
{
    struct weft_transpose *op = NULL;
    weft_status status = weft_device_csr_create(out, ctx, a->n, a->m, a->nnz, a->type, a->ofs);
    if (!status)
        status = weft_transpose_create(&op, ctx, a->m, a->n, a->nnz, a->type, a->ofs, NULL);
    if (!status)
        status = weft_transpose_run(op, queue, a, out, 0, NULL, NULL);
    if (!status)
        status = weft__fail_cl(ctx, weft__cl.clFinish(queue), "clFinish");
    weft_transpose_destroy(&op);
    if (status)
        weft_device_csr_release(out);
    return status;
}

weft_status weft__spmv_atomic_check(const struct weft_spmv_plan *plan)
{
    if (plan->acc != plan->type)
        return weft__fail(plan->ctx, WEFT_EINVAL, "params.f64_sums does not go with atomics on f32 values");
    if (plan->type == WEFT_F64 && !plan->ctx->device.int64_atomics)
        return weft__fail(plan->ctx, WEFT_EUNSUPPORTED, "%s has no 64-bit atomics", plan->ctx->device.name);
    return WEFT_OK;
}

struct scatter_state {
    struct weft__kernel *run, *scale;
    size_t groups, wg;
};

static weft_status scatter_create(struct weft_spmv_plan *plan, cl_command_queue queue)
{
    (void)queue;
    struct weft_spmv_params *p = &plan->info.params;
    const int cpu = plan->ctx->schedule == WEFT_SCHEDULE_CPU;
    struct weft__defines d = {0};
    struct scatter_state *s = plan->state = calloc(1, sizeof *s);
    if (!s)
        return weft__fail(plan->ctx, WEFT_ENOMEM, "out of host memory for a plan");
    p->read = p->read ? p->read : 1;
    p->lanes = p->lanes ? p->lanes : cpu ? 1 : weft__spmv_lanes(plan);
    int none = 1; // a work-item has an entry at a time
    weft_status status = weft__size_resolve(
        plan->ctx, &p->wg, &none,
        &(struct weft__size_rule){
            .name = "params.", .wg = cpu ? 1 : 256, .wg_step = 1, .ipt_least = 1, .ipt_most = 1, .ipt_step = 1});
    if (!status && (p->lanes < 1 || p->lanes > 32 || p->wg % p->lanes))
        status = weft__fail(plan->ctx, WEFT_EINVAL, "params.lanes is %d, it must divide wg = %d and be at most 32",
                            p->lanes, p->wg);
    if (!status)
        status = weft__spmv_atomic_check(plan);
    if (status)
        return status;
    s->wg = (size_t)p->wg;
    const size_t items = weft__mul((size_t)plan->a.m, (size_t)p->lanes);
    const size_t most = cpu ? 64 * (size_t)plan->ctx->device.compute_units : SIZE_MAX;
    s->groups = weft__groups(weft__min(weft__ceil_div(items, s->wg), most), s->wg);
    weft__spmv_define(plan, &d);
    weft__define(&d, "WEFT_ATOMIC", "1");
    weft__define(&d, "WEFT_WG", "%d", p->wg);
    weft__define(&d, "WEFT_LPR", "%d", p->lanes);
    status = weft__kernel_create(&s->run, plan->ctx, &weft__spmv_scatter_spec, &d);
    return status ? status : weft__spmv_scale_create(&s->scale, plan);
}

static weft_status scatter_run(struct weft_spmv_plan *plan, struct weft__stream *stream,
                               const struct weft__spmv_call *call)
{
    struct scatter_state *s = plan->state;
    const cl_int m = (cl_int)plan->a.m;
    const cl_mem val = weft__spmv_val(plan);
    weft_status status = weft__spmv_scale(s->scale, plan, stream, plan->a.n, call);
    if (status || !plan->a.nnz)
        return status;
    return WEFT__LAUNCH(stream, s->run, s->groups, s->wg, WEFT__ARG(row_ptr, plan->a.row_ptr),
                        WEFT__ARG(col, plan->a.col), WEFT__ARG(val), WEFT__ARG(x, call->x), WEFT__ARG(y, call->y),
                        WEFT__ARG(m), WEFT__SPMV_SCALAR(alpha, plan, call->alpha));
}

static void scatter_destroy(void *state)
{
    struct scatter_state *s = state;
    weft__kernel_release(&s->run);
    weft__kernel_release(&s->scale);
    free(s);
}

const struct weft__spmv_method weft__spmv_scatter = {WEFT_SPMV_CSR, scatter_create, NULL, scatter_run, scatter_destroy};
