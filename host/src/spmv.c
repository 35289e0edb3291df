// SPDX-License-Identifier: Apache-2.0
#include "spmv.h"
#include "op.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct {
    const char *name;
    const struct weft__spmv_method *gpu, *cpu; // NULL: chosen, not run
} algos[] = {
    [WEFT_SPMV_AUTO] = {"auto", NULL, NULL},
    [WEFT_SPMV_CSR] = {"csr", NULL, NULL},
    [WEFT_SPMV_CSR_SCALAR] = {"csr_scalar", &weft__spmv_csr_scalar, &weft__spmv_csr_scalar},
    [WEFT_SPMV_CSR_LANES] = {"csr_lanes", &weft__spmv_csr_lanes, &weft__spmv_csr_lanes_cpu},
    [WEFT_SPMV_CSR_MERGE] = {"csr_merge", &weft__spmv_csr_merge, &weft__spmv_csr_merge_cpu},
};
#define NALGOS (sizeof algos / sizeof *algos)

const char *weft_spmv_algo_name(enum weft_spmv_algo algo)
{
    return (size_t)algo < NALGOS ? algos[algo].name : "unknown";
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

weft_status weft__spmv_read(struct weft_context *ctx, cl_command_queue queue, cl_mem from, size_t bytes, void *to)
{
    weft_status status = weft__fail_cl(ctx, weft__cl.clFinish(queue), "clFinish");
    return status ? status
                  : weft__fail_cl(ctx, weft__cl.clEnqueueReadBuffer(queue, from, CL_TRUE, 0, bytes, to, 0, NULL, NULL),
                                  "clEnqueueReadBuffer");
}

static size_t csr_bytes(const struct weft_device_csr *a)
{
    return weft__add(weft__mul((size_t)a->nnz, 4 + weft_type_bytes(a->type)),
                     weft__mul((size_t)a->m + 1, weft_ofs_bytes(a->ofs)));
}

static weft_status matrix_check(struct weft_context *ctx, const struct weft_device_csr *a)
{
    if (a->m < 0 || a->n < 0 || a->nnz < 0 || a->m > INT32_MAX || a->n > INT32_MAX)
        return weft__fail(ctx, WEFT_EINVAL, "a matrix needs 0 <= m, n <= 2147483647 and nnz >= 0");
    if ((unsigned)a->type > WEFT_PATTERN || (unsigned)a->ofs > WEFT_OFS64)
        return weft__fail(ctx, WEFT_EINVAL, "the type of values or of offsets is not known");
    if (a->ofs == WEFT_OFS32 && a->nnz > INT32_MAX)
        return weft__fail(ctx, WEFT_ERANGE, "%lld entries do not fit 32-bit offsets", (long long)a->nnz);
    weft_status status =
        weft__check_buffer(ctx, a->row_ptr, weft__mul((size_t)a->m + 1, weft_ofs_bytes(a->ofs)), "row_ptr");
    if (!status)
        status = weft__check_buffer(ctx, a->col, weft__mul((size_t)a->nnz, 4), "col");
    if (!status)
        status = weft__check_buffer(ctx, a->val, weft__mul((size_t)a->nnz, weft_type_bytes(a->type)), "val");
    return status;
}

// Types of vectors and sums.
static weft_status types_resolve(struct weft_spmv_plan *plan)
{
    struct weft_spmv_params *p = &plan->info.params;
    plan->type = plan->a.type == WEFT_PATTERN ? p->vec_type : plan->a.type;
    if ((unsigned)plan->type >= WEFT_PATTERN)
        return weft__fail(plan->ctx, WEFT_EINVAL, "params.vec_type is %d, it must be f32, f64 or i32", (int)plan->type);
    if (p->f64_sums && plan->type == WEFT_I32)
        return weft__fail(plan->ctx, WEFT_EINVAL, "params.f64_sums does not go with integer values");
    p->vec_type = plan->type;
    plan->acc = p->f64_sums ? WEFT_F64 : plan->type;
    if (plan->acc == WEFT_F64 && !plan->ctx->device.fp64)
        return weft__fail(plan->ctx, WEFT_EUNSUPPORTED, "%s has no double precision", plan->ctx->device.name);
    return weft__check_range(plan->ctx, p->read, 0, 3, 1, "params.read");
}

static weft_status matrix_retain(struct weft_spmv_plan *plan, const struct weft_device_csr *a)
{
    plan->a = *a;
    plan->a.row_ptr = plan->a.col = plan->a.val = NULL;
    const cl_mem from[] = {a->row_ptr, a->col, a->type == WEFT_PATTERN ? NULL : a->val};
    cl_mem *to[] = {&plan->a.row_ptr, &plan->a.col, &plan->a.val};
    for (int i = 0; i < 3; i++)
        if (from[i]) {
            weft_status status = weft__fail_cl(plan->ctx, weft__cl.clRetainMemObject(from[i]), "clRetainMemObject");
            if (status)
                return status;
            *to[i] = from[i];
        }
    return WEFT_OK;
}

static weft_status plan_analyse(struct weft_spmv_plan *plan, cl_command_queue queue)
{
    struct weft_spmv_info *info = &plan->info;
    double start = now_ms();
    struct weft_build_stats before, after;
    weft_context_build_stats(plan->ctx, &before);
    weft_status status = weft__spmv_stats(plan, queue);
    if (status)
        return status;
    enum weft_spmv_algo algo = info->params.algo;
    if (algo == WEFT_SPMV_AUTO || algo == WEFT_SPMV_CSR)
        algo = weft__spmv_choose(plan);
    else
        snprintf(info->why, sizeof info->why, "asked for");
    info->params.algo = algo;
    plan->method = info->schedule == WEFT_SCHEDULE_CPU ? algos[algo].cpu : algos[algo].gpu;
    status = plan->method->create(plan, queue);
    weft_context_build_stats(plan->ctx, &after);
    info->analyse_ms = now_ms() - start - (after.compile_ms - before.compile_ms) - (after.load_ms - before.load_ms);
    return status;
}

weft_status weft_spmv_plan_create(struct weft_spmv_plan **out, struct weft_context *ctx, cl_command_queue queue,
                                  const struct weft_device_csr *a, const struct weft_spmv_params *params)
{
    *out = NULL;
    weft_status status = matrix_check(ctx, a);
    if (!status && params && (size_t)params->algo >= NALGOS)
        status = weft__fail(ctx, WEFT_EINVAL, "algorithm %d is not known", (int)params->algo);
    if (status)
        return status;
    struct weft_spmv_plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return weft__fail(ctx, WEFT_ENOMEM, "out of host memory for a plan");
    plan->ctx = ctx;
    if (params)
        plan->info.params = *params;
    plan->info.schedule = ctx->schedule;
    status = matrix_retain(plan, a);
    if (!status)
        status = types_resolve(plan);
    if (!status)
        status = weft__spmv_semiring(&plan->semiring, ctx, &plan->info.params);
    plan->info.params.plus = plan->info.params.times = plan->info.params.zero = NULL;
    plan->info.format_bytes = csr_bytes(a);
    if (!status && a->m > 0)
        status = plan_analyse(plan, queue);
    if (status)
        weft_spmv_plan_destroy(&plan);
    *out = plan;
    return status;
}

// A scalar in the type of sums.
static weft_status scalar_convert(union weft__spmv_scalar *out, const struct weft_spmv_plan *plan, double value,
                                  const char *name)
{
    if (plan->acc == WEFT_F64)
        out->f64 = value;
    else if (plan->acc == WEFT_F32)
        out->f32 = (float)value;
    else if (value >= INT32_MIN && value <= INT32_MAX && value == rint(value))
        out->i32 = (cl_int)value;
    else
        return weft__fail(plan->ctx, WEFT_EINVAL, "%s is %g, integer matrices need an integer", name, value);
    return WEFT_OK;
}

weft_status weft_spmv_run(struct weft_spmv_plan *plan, cl_command_queue queue, double alpha, cl_mem x, double beta,
                          cl_mem y, cl_uint nwait, const cl_event *wait, cl_event *event)
{
    struct weft_context *ctx = plan->ctx;
    struct weft__stream stream;
    struct weft__spmv_call call = {.x = x, .y = y};
    const size_t bytes = weft_type_bytes(plan->type);
    if (plan->info.params.semiring != WEFT_PLUS_TIMES && alpha != 1)
        return weft__fail(ctx, WEFT_EINVAL, "alpha is %g, it must be 1 outside (+, *)", alpha);
    weft_status status = weft__check_buffer(ctx, x, weft__mul((size_t)plan->a.n, bytes), "x");
    if (!status)
        status = weft__check_buffer(ctx, y, weft__mul((size_t)plan->a.m, bytes), "y");
    if (!status && x == y && plan->a.m && plan->a.n)
        status = weft__fail(ctx, WEFT_EINVAL, "x and y are the same buffer");
    if (!status)
        status = scalar_convert(&call.alpha, plan, alpha, "alpha");
    if (!status)
        status = scalar_convert(&call.beta, plan, beta, "beta");
    if (!status)
        status = weft__stream_begin(&stream, ctx, queue, nwait, wait, event);
    if (status)
        return status;
    if (plan->a.m > 0)
        plan->method->run(plan, &stream, &call);
    return weft__stream_end(&stream);
}

void weft_spmv_plan_info(const struct weft_spmv_plan *plan, struct weft_spmv_info *out)
{
    *out = plan->info;
}

void weft_spmv_plan_destroy(struct weft_spmv_plan **plan)
{
    if (!plan || !*plan)
        return;
    struct weft_spmv_plan *p = *plan;
    if (p->state)
        p->method->destroy(p->state);
    weft__buffer_release(&p->a.row_ptr);
    weft__buffer_release(&p->a.col);
    weft__buffer_release(&p->a.val);
    free(p);
    *plan = NULL;
}
