// SPDX-License-Identifier: Apache-2.0
// y = alpha*A^T*x + beta*y by atomics, from the rows of A.
#include "scatter.h"
#include "cost.h"
#include "scale.h"

#include <stdlib.h>

enum { RUN, SCALE, NKERNELS };
struct scatter_state {
    struct weft__kernel *k[NKERNELS];
    size_t groups, wg;
};

static weft_status scatter_create(struct weft_spmv_plan *plan, cl_command_queue queue)
{
    (void)queue;
    struct weft_spmv_params *p = &plan->info.params;
    const int cpu = weft__spmv_is_cpu(plan);
    const cl_int m = (cl_int)plan->a.m;
    struct weft__make make = {.ctx = plan->ctx};
    struct weft__defines d = {0};
    struct scatter_state *s = plan->state = weft__make_memory(&make, sizeof *s, "a plan");
    if (!s)
        return make.status;
    p->read = p->read ? p->read : 1;
    p->lanes = p->lanes ? p->lanes : cpu ? 1 : weft__spmv_lanes(plan);
    int none = 1; // a work-item has an entry at a time
    make.status = weft__size_resolve(
        plan->ctx, &p->wg, &none,
        &(struct weft__size_rule){
            .name = "params.", .wg = cpu ? 1 : 256, .wg_step = 1, .ipt_least = 1, .ipt_most = 1, .ipt_step = 1});
    if (!make.status && (p->lanes < 1 || p->lanes > 32 || p->wg % p->lanes))
        make.status = weft__fail(plan->ctx, WEFT_EINVAL, "params.lanes is %d, it must divide wg = %d and be at most 32",
                                 p->lanes, p->wg);
    if (!make.status)
        make.status = weft__spmv_atomic_check(plan);
    if (make.status)
        return make.status;
    s->wg = (size_t)p->wg;
    const size_t items = weft__mul((size_t)plan->a.m, (size_t)p->lanes);
    const size_t most = cpu ? 64 * (size_t)plan->ctx->device.compute_units : SIZE_MAX;
    s->groups = weft__groups(weft__min(weft__ceil_div(items, s->wg), most), s->wg);
    weft__spmv_define(plan, &d);
    weft__define(&d, "WEFT_ATOMIC", "1");
    weft__define(&d, "WEFT_WG", "%d", p->wg);
    weft__define(&d, "WEFT_LPR", "%d", p->lanes);
    weft__make_kernel(&make, &s->k[RUN], &weft__spmv_scatter_spec, &d);
    weft__spmv_make_scale(&make, &s->k[SCALE], plan);
    return make.status ? make.status : WEFT__BIND(plan->ctx, s->k[RUN], WEFT__ARG(m));
}

static weft_status scatter_run(struct weft_spmv_plan *plan, struct weft__stream *stream,
                               const struct weft__spmv_call *call)
{
    const struct scatter_state *s = plan->state;
    weft__spmv_scale(s->k[SCALE], plan, stream, call);
    return plan->a.nnz ? weft__spmv_launch_csr(plan, stream, s->k[RUN], s->groups, s->wg, call) : stream->status;
}

static void scatter_destroy(void *state)
{
    struct scatter_state *s = state;
    weft__parts_release(s->k, NKERNELS, NULL, 0);
    free(s);
}

const struct weft__spmv_method weft__spmv_scatter = {scatter_create, NULL, scatter_run, scatter_destroy};
