// SPDX-License-Identifier: Apache-2.0
// y = alpha*A^T*x + beta*y by atomics, from the rows of A.
#include "plan.h"
#include "cost.h"
#include "scale.h"

#include <stdlib.h>

struct weft_tune_spmv_scatter {
    struct weft__tune_key key;
    int wg, read;
};
static const struct weft_tune_spmv_scatter tune[] = {
    {{WEFT_SCHEDULE_GPU, NULL, 0, NULL, "default"}, 256, 1},
    {{WEFT_SCHEDULE_CPU, NULL, 0, NULL, "default"}, 1, 1},
};
static const struct weft__tunable gpu_values[] = {
    {WEFT__TUNABLE_BY_SHAPE("lanes", struct weft_spmv_params, gpu.lanes), .low = 1, .high = 32, .step = 1,
     .help = "work-items per row, of which wg is a multiple"},
    {WEFT__SPMV_GPU(struct weft_tune_spmv_scatter, wg, wg), .low = 1, .step = 1, .most = weft__tunable_wg,
     .lower = WEFT__LOWER_HALVE, .kept = WEFT__KEPT, .help = "work-items per work-group"},
    {WEFT__TUNABLE_BY_SHAPE("ipt", struct weft_spmv_params, gpu.ipt), .low = 1, .high = INT32_MAX, .step = 1,
     .kept = WEFT__KEPT, .help = "not used"},
    {WEFT__SPMV_GPU(struct weft_tune_spmv_scatter, read, read), .low = 1, .high = 3, .step = 1, .kept = WEFT__KEPT,
     .help = "as of csr_merge"},
};
static const struct weft__tunable cpu_values[] = {
    {WEFT__TUNABLE_BY_SHAPE("lanes", struct weft_spmv_params, cpu.lanes), .low = 1, .high = 32, .step = 1,
     .help = "work-items per row, of which wg is a multiple"},
    {WEFT__SPMV_CPU(struct weft_tune_spmv_scatter, wg, wg), .low = 1, .step = 1, .most = weft__tunable_wg,
     .kept = WEFT__KEPT, .help = "work-items per work-group"},
};
// By the name of what was asked for.
const struct weft__tunables weft__spmv_scatter_tunables[] = {
    {"spmv", "csr", WEFT_SCHEDULE_GPU, "spmv.csr", WEFT__TUNABLES(gpu_values), WEFT__TUNE_ROWS(tune)},
    {"spmv", "csr", WEFT_SCHEDULE_CPU, "spmv.csr", WEFT__TUNABLES(cpu_values), WEFT__TUNE_ROWS(tune)},
    {0},
};

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
    int *const lanes = cpu ? &p->cpu.lanes : &p->gpu.lanes;
    *lanes = *lanes ? *lanes : cpu ? 1 : weft__spmv_lanes(plan);
    weft__spmv_resolve(&make, plan, WEFT__TUNE_FIND(plan->ctx, tune), NULL);
    const struct weft__spmv_sizes sizes = weft__spmv_sizes(p, plan->info.schedule);
    if (!make.status && sizes.wg % sizes.lanes)
        make.status =
            weft__fail(plan->ctx, WEFT_EINVAL, "spmv: lanes is %d, it must divide wg = %d", sizes.lanes, sizes.wg);
    if (!make.status)
        make.status = weft__spmv_atomic_check(plan);
    if (make.status)
        return make.status;
    s->wg = (size_t)sizes.wg;
    const size_t items = weft__mul((size_t)plan->a.m, (size_t)sizes.lanes);
    const size_t most = cpu ? 64 * (size_t)plan->ctx->device.compute_units : SIZE_MAX;
    s->groups = weft__groups(weft__min(weft__ceil_div(items, s->wg), most), s->wg);
    weft__spmv_define(plan, &d);
    weft__define(&d, "WEFT_ATOMIC", "1");
    weft__define(&d, "WEFT_WG", "%d", sizes.wg);
    weft__define(&d, "WEFT_LPR", "%d", sizes.lanes);
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

const struct weft__spmv_method weft__spmv_scatter = {
    .create = scatter_create, .run = scatter_run, .destroy = scatter_destroy};
