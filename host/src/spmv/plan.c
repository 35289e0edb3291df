// SPDX-License-Identifier: Apache-2.0
// A plan in use: names of its parameters, runs, information, release.
#include "plan.h"
#include "host/src/core/names.h"
#include "host/src/core/variants.h"

#include <math.h>
#include <stdlib.h>

WEFT__NAMES(spmv_semiring, "plus_times", "min_plus", "or_and", "max_times", "custom");
WEFT__NAMES(spmv_transpose, "plain", "by_copy", "by_atomics");
WEFT__NAMES(spmv_mode, "repeatable", "reproducible");

void weft__spmv_resolve(struct weft__make *make, struct weft_spmv_plan *plan, const void *row, weft__local_fn *local)
{
    struct weft_spmv_params *p = &plan->info.params;
    const char *algo = weft_spmv_algo_name(p->policy.algo);
    if (!make->status)
        make->status = weft__tunables_resolve(weft__tunables_of("spmv", algo, plan->info.schedule), plan->ctx, p, row,
                                              local, plan);
}

struct weft__spmv_sizes weft__spmv_sizes(const struct weft_spmv_params *params, enum weft_schedule schedule)
{
    if (schedule == WEFT_SCHEDULE_CPU)
        return (struct weft__spmv_sizes){.lanes = params->cpu.lanes, .wg = params->cpu.wg, .read = 1};
    return (struct weft__spmv_sizes){params->gpu.lanes, params->gpu.wg, params->gpu.ipt, params->gpu.rows,
                                     params->gpu.read};
}

void weft__spmv_sizes_set(struct weft_spmv_params *params, enum weft_schedule schedule,
                          const struct weft__spmv_sizes *sizes)
{
    if (schedule == WEFT_SCHEDULE_CPU) {
        params->cpu.lanes = sizes->lanes;
        params->cpu.wg = sizes->wg;
        return;
    }
    params->gpu.lanes = sizes->lanes;
    params->gpu.wg = sizes->wg;
    params->gpu.ipt = sizes->ipt;
    params->gpu.rows = sizes->rows;
    params->gpu.read = sizes->read;
}

// A scalar in the type of sums.
static weft_status scalar_convert(union weft__spmv_scalar *out, const struct weft_spmv_plan *plan, double value,
                                  const char *name)
{
    if (plan->acc == WEFT_TYPE_F64)
        out->f64 = value;
    else if (plan->acc == WEFT_TYPE_F32)
        out->f32 = (float)value;
    else if (value >= INT32_MIN && value <= INT32_MAX && value == rint(value))
        out->i32 = (cl_int)value;
    else
        return weft__fail(plan->ctx, WEFT_EINVAL, "%s is %g, integer matrices need an integer", name, value);
    return WEFT_OK;
}

// y is neither x nor an array of the matrix: row pointers that are overwritten lead the next run astray.
static weft_status alone_check(const struct weft_spmv_plan *plan, cl_mem y, cl_mem x)
{
    const struct weft_device_csr *a = &plan->a;
    return WEFT__ALONE(plan->ctx, {"y", y, (size_t)plan->y_size}, {"x", x, (size_t)plan->x_size},
                       {"row_ptr", a->row_ptr, a->row_ptr != NULL}, {"col", a->col, a->col != NULL},
                       {"val", a->val, a->val != NULL});
}

weft_status weft_spmv_run(struct weft_spmv_plan *plan, cl_command_queue queue, cl_mem y, double alpha, cl_mem x,
                          double beta, cl_uint nwait, const cl_event *wait, cl_event *event)
{
    weft__event_none(event);
    if (!plan)
        return WEFT_EINVAL;
    struct weft_context *ctx = plan->ctx;
    struct weft__stream stream;
    struct weft__spmv_call call = {.x = x, .y = y};
    const size_t bytes = weft_type_bytes(plan->type);
    if (plan->info.params.problem.semiring != WEFT_SPMV_SEMIRING_PLUS_TIMES && alpha != 1)
        return weft__fail(ctx, WEFT_EINVAL, "alpha is %g, it must be 1 outside (+, *)", alpha);
    weft_status status = weft__check_buffer(ctx, x, weft__mul((size_t)plan->x_size, bytes), "x");
    if (!status)
        status = weft__check_buffer(ctx, y, weft__mul((size_t)plan->y_size, bytes), "y");
    if (!status)
        status = alone_check(plan, y, x);
    if (!status)
        status = scalar_convert(&call.alpha, plan, alpha, "alpha");
    if (!status)
        status = scalar_convert(&call.beta, plan, beta, "beta");
    if (!status)
        status = weft__stream_begin_seen(&stream, ctx, &plan->seen, queue, nwait, wait, event);
    if (status)
        return status;
    if (plan->y_size)
        plan->method->run(plan, &stream, &call);
    plan->backward = plan->turns && !plan->backward;
    return weft__stream_end(&stream);
}

const struct weft_spmv_info *weft_spmv_plan_info(const struct weft_spmv_plan *plan)
{
    return plan ? &plan->info : NULL;
}

void weft__spmv_matrix_release(struct weft_spmv_plan *plan)
{
    weft__buffer_release(&plan->a.row_ptr);
    weft__buffer_release(&plan->a.col);
    weft__buffer_release(&plan->a.val);
}

void weft_spmv_plan_destroy(struct weft_spmv_plan **plan)
{
    if (!plan || !*plan)
        return;
    struct weft_spmv_plan *p = *plan;
    if (p->state)
        p->method->destroy(p->state);
    weft__spmv_matrix_release(p);
    weft__queue_seen_release(&p->seen);
    free(p);
    *plan = NULL;
}
