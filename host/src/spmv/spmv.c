// SPDX-License-Identifier: Apache-2.0
// Makes SpMV plans: checks, the choice of an algorithm, its method (algos.h lists them), refills.
#include "choose.h"
#include "cost.h"
#include "host/src/core/check.h"
#include "host/src/core/names.h"
#include "host/src/core/tune.h"
#include "hyb.h"
#include "sdia.h"
#include "trial.h"
#include "tune.h"
#include "variants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/transpose.h>

#define NAME(algo, name, gpu, cpu, padded) [WEFT_SPMV_ALGO_##algo] = name,
#define METHOD(algo, name, on_gpu, on_cpu, padded)                                                                     \
    [WEFT_SPMV_ALGO_##algo] = {&weft__spmv_##on_gpu, &weft__spmv_##on_cpu},
WEFT__NAMES(spmv_algo, WEFT__SPMV_ALGOS(NAME, WEFT__SPMV_NONE));
static const struct {
    const struct weft__spmv_method *gpu, *cpu;
} methods[] = {WEFT__SPMV_ALGOS(METHOD, WEFT__SPMV_NONE)};
const struct weft__spmv_method weft__spmv_none = {.create = NULL};
#define NALGOS (sizeof methods / sizeof *methods)

static size_t csr_bytes(const struct weft_device_csr *a)
{
    return weft__add(weft__mul((size_t)a->nnz, 4 + weft_type_bytes(a->type)),
                     weft__mul((size_t)a->m + 1, weft_ofs_bytes(a->ofs)));
}

static weft_status matrix_check(struct weft_context *ctx, const struct weft_device_csr *a)
{
    if (a->m < 0 || a->n < 0 || a->nnz < 0 || a->m > INT32_MAX || a->n > INT32_MAX)
        return weft__fail(ctx, WEFT_EINVAL, "a matrix needs 0 <= m, n <= 2147483647 and nnz >= 0");
    if ((unsigned)a->type > WEFT_TYPE_PATTERN || (unsigned)a->ofs > WEFT_OFS_64)
        return weft__fail(ctx, WEFT_EINVAL, "the type of values or of offsets is not known");
    if (a->ofs == WEFT_OFS_32 && a->nnz > INT32_MAX)
        return weft__fail(ctx, WEFT_ERANGE, "%lld entries do not fit 32-bit offsets", (long long)a->nnz);
    weft_status status =
        weft__check_buffer(ctx, a->row_ptr, weft__mul((size_t)a->m + 1, weft_ofs_bytes(a->ofs)), "row_ptr");
    if (!status)
        status = weft__check_buffer(ctx, a->col, weft__mul((size_t)a->nnz, 4), "col");
    if (!status)
        status = weft__check_buffer(ctx, a->val, weft__mul((size_t)a->nnz, weft_type_bytes(a->type)), "val");
    return status ? status : weft__check_own(ctx, a);
}

// What the caller asks of formats, whichever will be taken.
static weft_status format_check(struct weft_context *ctx, const struct weft_spmv_params *p)
{
    const int sigma = p->format.sigma;
    if (sigma < 0 || sigma > 1024 || (sigma & (sigma - 1)))
        return weft__fail(ctx, WEFT_EINVAL, "params.format.sigma is %d, it must be 0 or a power of two up to 1024",
                          sigma);
    if (p->format.width < 0 || p->format.width > INT32_MAX)
        return weft__fail(ctx, WEFT_EINVAL, "params.format.width is %lld, it must be in 0..2147483647",
                          (long long)p->format.width);
    if (p->format.host_rest && p->policy.algo != WEFT_SPMV_ALGO_HYB)
        return weft__fail(ctx, WEFT_EINVAL, "params.format.host_rest goes with hyb, not with %s",
                          weft_spmv_algo_name(p->policy.algo));
    if (p->format.host_rest && p->problem.semiring == WEFT_SPMV_SEMIRING_CUSTOM)
        return weft__fail(ctx, WEFT_EINVAL,
                          "params.format.host_rest does not go with a custom semiring: its OpenCL C is for "
                          "the device");
    return WEFT_OK;
}

// Types of vectors and sums, and what else does not depend on the algorithm.
static weft_status params_resolve(struct weft_spmv_plan *plan)
{
    struct weft_context *ctx = plan->ctx;
    struct weft_spmv_params *p = &plan->info.params;
    plan->type = plan->a.type == WEFT_TYPE_PATTERN ? p->problem.vec_type : plan->a.type;
    if ((size_t)p->policy.algo >= NALGOS)
        return weft__fail(ctx, WEFT_EINVAL, "algorithm %d is not known", (int)p->policy.algo);
    if ((unsigned)p->policy.mode > WEFT_SPMV_MODE_REPRODUCIBLE)
        return weft__fail(ctx, WEFT_EINVAL, "params.policy.mode is %d, no mode", (int)p->policy.mode);
    if (p->policy.mode == WEFT_SPMV_MODE_REPRODUCIBLE &&
        ((p->policy.algo != WEFT_SPMV_ALGO_AUTO && p->policy.algo != WEFT_SPMV_ALGO_CSR &&
          p->policy.algo != WEFT_SPMV_ALGO_CSR_FIXED) ||
         p->problem.transpose == WEFT_SPMV_TRANSPOSE_BY_ATOMICS))
        return weft__fail(ctx, WEFT_EINVAL, "WEFT_SPMV_MODE_REPRODUCIBLE has csr_fixed, not %s",
                          p->problem.transpose == WEFT_SPMV_TRANSPOSE_BY_ATOMICS ? "atomics"
                                                                                 : weft_spmv_algo_name(p->policy.algo));
    if (p->policy.products < 0)
        return weft__fail(ctx, WEFT_EINVAL, "params.policy.products is %lld, it must be 0 or more",
                          (long long)p->policy.products);
    if ((unsigned)p->problem.transpose > WEFT_SPMV_TRANSPOSE_BY_ATOMICS)
        return weft__fail(ctx, WEFT_EINVAL, "params.problem.transpose is %d, no way to transpose",
                          (int)p->problem.transpose);
    if (p->problem.transpose == WEFT_SPMV_TRANSPOSE_BY_ATOMICS && p->policy.algo != WEFT_SPMV_ALGO_AUTO &&
        p->policy.algo != WEFT_SPMV_ALGO_CSR)
        return weft__fail(ctx, WEFT_EINVAL, "A^T*x by atomics has no algorithm \"%s\"",
                          weft_spmv_algo_name(p->policy.algo));
    if ((unsigned)p->problem.vec_type > WEFT_TYPE_PATTERN) // looked at for a pattern alone
        return weft__fail(ctx, WEFT_EINVAL, "params.problem.vec_type is %d, no type", (int)p->problem.vec_type);
    if ((unsigned)plan->type >= WEFT_TYPE_PATTERN)
        return weft__fail(ctx, WEFT_EINVAL, "params.problem.vec_type is %d, it must be f32, f64 or i32",
                          (int)plan->type);
    if (p->problem.f64_sums && plan->type == WEFT_TYPE_I32)
        return weft__fail(ctx, WEFT_EINVAL, "params.problem.f64_sums does not go with integer values");
    p->problem.vec_type = plan->type;
    plan->acc = p->problem.f64_sums ? WEFT_TYPE_F64 : plan->type;
    if (plan->acc == WEFT_TYPE_F64 && !ctx->device.fp64)
        return weft__fail(ctx, WEFT_EUNSUPPORTED, "%s has no double precision", ctx->device.name);
    const weft_status status = format_check(ctx, p);
    if (status)
        return status;
    p->format.max_padding = p->format.max_padding == 0 ? 4 : p->format.max_padding;
    if (!(p->format.max_padding >= 1))
        return weft__fail(ctx, WEFT_EINVAL, "params.format.max_padding is %g, it must be 1 or more",
                          p->format.max_padding);
    return WEFT_OK;
}

static weft_status matrix_retain(struct weft_spmv_plan *plan, const struct weft_device_csr *a)
{
    weft_status status = weft__spmv_retain(plan->ctx, &plan->a.row_ptr, a->row_ptr);
    if (!status)
        status = weft__spmv_retain(plan->ctx, &plan->a.col, a->col);
    return status ? status : weft__spmv_retain(plan->ctx, &plan->a.val, a->type == WEFT_TYPE_PATTERN ? NULL : a->val);
}

// at = a^T in buffers of its own. Blocks.
static weft_status transposed_create(struct weft_device_csr *out, struct weft_context *ctx, cl_command_queue queue,
                                     const struct weft_device_csr *a)
{
    struct weft_transpose_plan *op = NULL;
    weft_status status = weft_device_csr_alloc(out, ctx, weft_shape_transposed(weft_device_csr_shape(a)));
    if (!status)
        status = weft_transpose_plan_create(&op, ctx, weft_device_csr_shape(a), NULL);
    if (!status)
        status = weft_transpose_run(op, queue, out, a, 0, NULL, NULL);
    if (!status)
        status = weft__fail_cl(ctx, weft__cl.clFinish(queue), "clFinish");
    weft_transpose_plan_destroy(&op);
    if (status)
        weft_device_csr_free(out);
    return status;
}

// plan->a: the caller's arrays, or a transposed copy of them.
static weft_status matrix_take(struct weft_spmv_plan *plan, cl_command_queue queue, const struct weft_device_csr *a)
{
    plan->taken++;
    if (plan->info.params.problem.transpose != WEFT_SPMV_TRANSPOSE_BY_COPY)
        return matrix_retain(plan, a);
    struct weft__spmv_clock clock = weft__spmv_clock();
    struct weft_device_csr at; // a plan that could not be refilled keeps what it had
    weft_status status = transposed_create(&at, plan->ctx, queue, a);
    plan->info.convert_ms += weft__spmv_clock_ms(&clock);
    if (status)
        return status;
    weft__spmv_matrix_release(plan);
    plan->a = at;
    return WEFT_OK;
}

// As before a method was tried, which may have failed before it had a state, or have handed over to another.
static void state_drop(struct weft_spmv_plan *plan, const struct weft_spmv_info *before)
{
    if (plan->state)
        plan->method->destroy(plan->state);
    plan->state = NULL;
    plan->gaps = plan->large = false;
    plan->info = *before;
}

// The method's state, by the tune file where the caller gives no values; where the file's are refused, once more.
static weft_status method_create(struct weft_spmv_plan *plan, cl_command_queue queue)
{
    struct weft_spmv_info *info = &plan->info;
    const struct weft_spmv_info before = *info;
    const struct weft__spmv_method *method = plan->method;
    const struct weft__tunables *set =
        weft__tunables_of("spmv", weft_spmv_algo_name(info->params.policy.algo), info->schedule);
    struct weft__tuned tuned = weft__tuned_begin(plan->ctx, set, weft__spmv_acc_bytes(plan), &info->params);
    weft_status status;
    do {
        if (tuned.refused) {
            state_drop(plan, &before);
            plan->method = method;
        }
        status = plan->method->create(plan, queue);
    } while (weft__tuned_again(&tuned, status, info->why, sizeof info->why));
    return status;
}

// The state of an algorithm that can run.
static weft_status algo_create(struct weft_spmv_plan *plan, cl_command_queue queue, enum weft_spmv_algo algo)
{
    plan->method = plan->info.params.problem.transpose == WEFT_SPMV_TRANSPOSE_BY_ATOMICS ? &weft__spmv_scatter
                   : plan->info.schedule == WEFT_SCHEDULE_CPU                            ? methods[algo].cpu
                                                                                         : methods[algo].gpu;
    plan->info.params.policy.algo = algo;
    return method_create(plan, queue);
}

// CSR by rows, which keeps nothing beside the matrix: where what `wanted` keeps does not fit.
static weft_status rows_create(struct weft_spmv_plan *plan, cl_command_queue queue, enum weft_spmv_algo wanted)
{
    struct weft_spmv_info *info = &plan->info;
    struct weft__spmv_sizes sizes = weft__spmv_sizes(&info->params, info->schedule);
    sizes.lanes = 0; // those of another algorithm
    sizes.ipt = 1;   // no blocks, whose rows are found beforehand
    weft__spmv_sizes_set(&info->params, info->schedule, &sizes);
    snprintf(info->why, sizeof info->why, "by rows: what %s keeps beside the matrix does not fit the device",
             weft_spmv_algo_name(wanted));
    return algo_create(plan, queue, WEFT_SPMV_ALGO_CSR_SCALAR);
}

// The algorithm that the figures speak for. A conversion may turn out to cost more than they said, or to need memory that
// is not there: then the next best, at last CSR by rows.
static weft_status chosen_create(struct weft_spmv_plan *plan, cl_command_queue queue)
{
    const struct weft_spmv_info before = plan->info;
    enum weft_spmv_algo algo;
    weft_status status = weft__spmv_choose(plan, queue, &algo);
    while (!status) {
        const int converts = plan->bound > 0;
        struct weft_error error;
        weft__quiet_begin(plan->ctx);
        status = algo_create(plan, queue, algo);
        weft__quiet_end(&error);
        if (!status)
            break;
        const bool limited = status == WEFT_ERANGE && weft__limit_found(); // the whole plan once more, with less
        if ((status != WEFT_EDEVMEM && status != WEFT_ERANGE) || limited) {
            weft__fail_again(plan->ctx, &error);
            return status;
        }
        state_drop(plan, &before);
        if (!converts)
            return rows_create(plan, queue, algo);
        plan->denied |= 1u << algo;
        plan->crowded |= status == WEFT_EDEVMEM;
        status = weft__spmv_choose(plan, queue, &algo);
    }
    return status;
}

// The state by a recorded choice, in info->params. Where matrix or device refuse it, *created stays 0, and the plan is
// as before the choice, with the caller's parameters `asked`.
static weft_status recorded_create(struct weft_spmv_plan *plan, cl_command_queue queue,
                                   const struct weft_spmv_info *asked, int *created)
{
    const enum weft_spmv_algo recorded = plan->info.params.policy.algo;
    struct weft_error error;
    weft__quiet_begin(plan->ctx);
    const weft_status status = algo_create(plan, queue, recorded);
    weft__quiet_end(&error);
    *created = !status && plan->info.params.policy.algo == recorded;
    if (*created)
        return WEFT_OK;
    if (status == WEFT_ENOMEM || status == WEFT_EDEVICE) {
        weft__fail_again(plan->ctx, &error);
        return status;
    }
    weft__tell(plan->ctx, "the recorded choice of %s is measured again: %.200s", weft_spmv_algo_name(recorded),
               status ? error.text : "it became another");
    state_drop(plan, asked);
    return WEFT_OK;
}

static weft__spmv_try plan_try;

// Microseconds of bytes from which on runs take turns: half of what the second cache keeps, which x and y come through as well.
#define TURNS_US (WEFT__SPMV_KEPT_US / 2)

static weft_status plan_analyse(struct weft_spmv_plan *plan, cl_command_queue queue)
{
    struct weft_spmv_info *info = &plan->info;
    const double transpose_ms = info->convert_ms;
    struct weft__spmv_clock clock = weft__spmv_clock();
    info->convert_ms = 0;
    weft_status status = weft__spmv_stats(plan, queue);
    if (status)
        return status;
    plan->turns = !weft__spmv_is_cpu(plan) && weft__spmv_csr_us(plan) > TURNS_US;
    const enum weft_spmv_algo asked = info->params.policy.algo;
    enum weft_spmv_algo algo = asked;
    const struct weft_spmv_info before = *info;
    int choose = 0, created = 0;
    if (info->params.problem.transpose == WEFT_SPMV_TRANSPOSE_BY_ATOMICS) {
        algo = WEFT_SPMV_ALGO_CSR;
        snprintf(info->why, sizeof info->why, "asked for");
    } else {
        enum weft__spmv_chosen measured = WEFT__SPMV_NOTHING;
        if (info->params.policy.mode == WEFT_SPMV_MODE_REPEATABLE && info->params.policy.tune)
            status = weft__spmv_tune(plan, queue, plan_try, 0, &measured);
        if (!status && measured == WEFT__SPMV_RECORDED)
            status = recorded_create(plan, queue, &before, &created);
        if (!status && measured == WEFT__SPMV_RECORDED && !created)
            status = weft__spmv_tune(plan, queue, plan_try, 1, &measured);
        if (status)
            return status;
        choose = !measured && (asked == WEFT_SPMV_ALGO_AUTO || asked == WEFT_SPMV_ALGO_CSR);
        if (info->params.policy.mode == WEFT_SPMV_MODE_REPRODUCIBLE) {
            algo = WEFT_SPMV_ALGO_CSR_FIXED;
            choose = 0;
            snprintf(info->why, sizeof info->why, "reproducible: sums by a fixed tree");
        } else if (measured)
            algo = info->params.policy.algo;
        else if (!choose)
            snprintf(info->why, sizeof info->why, "asked for");
    }
    if (!created)
        status = choose ? chosen_create(plan, queue) : algo_create(plan, queue, algo);
    info->analyse_ms = weft__spmv_clock_ms(&clock) - info->convert_ms - info->tune_ms;
    info->convert_ms += transpose_ms;
    if (!status && plan->method->fill)
        weft__spmv_matrix_release(plan);
    return status;
}

static weft_status plan_make(struct weft_spmv_plan **out, struct weft_context *ctx, cl_command_queue queue,
                             const struct weft_device_csr *a, const struct weft_spmv_params *params,
                             const struct weft__spmv_once *once, int trial)
{
    if (out)
        *out = NULL;
    weft_status status = WEFT__NEED_IN(ctx, {"out", out}, {"a", a});
    if (!status)
        status = weft__queue_check(ctx, queue);
    if (!status)
        status = matrix_check(ctx, a);
    if (status)
        return status;
    struct weft_spmv_plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return weft__fail(ctx, WEFT_ENOMEM, "out of host memory for a plan");
    if (params)
        plan->info.params = *params;
    const int transposed = plan->info.params.problem.transpose != WEFT_SPMV_TRANSPOSE_PLAIN;
    plan->ctx = ctx;
    plan->asked = params;
    plan->trial = trial;
    plan->once = once;
    plan->a = *a;
    plan->a.row_ptr = plan->a.col = plan->a.val = NULL;
    plan->x_size = transposed ? a->m : a->n;
    plan->y_size = transposed ? a->n : a->m;
    plan->info.schedule = ctx->schedule;
    status = params_resolve(plan);
    if (!status)
        status = weft__spmv_semiring(&plan->semiring, ctx, &plan->info.params);
    plan->info.params.problem.plus = plan->info.params.problem.times = plan->info.params.problem.zero = NULL;
    if (!status)
        status = matrix_take(plan, queue, a);
    plan->info.format_bytes = csr_bytes(&plan->a);
    if (!status && plan->y_size)
        status = plan_analyse(plan, queue);
    plan->asked = NULL;
    plan->once = NULL;
    if (status)
        weft_spmv_plan_destroy(&plan);
    *out = plan;
    return status;
}

static weft_status plan_create(struct weft_spmv_plan **out, struct weft_context *ctx, cl_command_queue queue,
                               const struct weft_device_csr *a, const struct weft_spmv_params *params,
                               const struct weft__spmv_once *once, int trial)
{
    weft_status status;
    WEFT__LIMITED(status, ctx, plan_make(out, ctx, queue, a, params, once, trial));
    return status;
}

// Too much padding is no error to tell of.
static weft_status plan_try(struct weft_spmv_plan **out, struct weft_context *ctx, cl_command_queue queue,
                            const struct weft_device_csr *a, const struct weft_spmv_params *params)
{
    return plan_create(out, ctx, queue, a, params, NULL, 1);
}

weft_status weft__spmv_plan_create(struct weft_spmv_plan **out, struct weft_context *ctx, cl_command_queue queue,
                                   const struct weft_device_csr *a, const struct weft_spmv_params *params,
                                   const struct weft__spmv_once *once)
{
    weft_status status = plan_create(out, ctx, queue, a, params, once, 0);
    if (status || !(*out)->state)
        return status;
    struct weft_spmv_params next = params ? *params : (struct weft_spmv_params){0};
    const enum weft_spmv_algo algo = (*out)->info.params.policy.algo;
    const bool other = next.policy.algo <= WEFT_SPMV_ALGO_CSR && next.policy.mode == WEFT_SPMV_MODE_REPEATABLE &&
                       next.problem.transpose != WEFT_SPMV_TRANSPOSE_BY_ATOMICS;
    next.policy.algo = algo == WEFT_SPMV_ALGO_CSR_SCALAR ? WEFT_SPMV_ALGO_CSR_MERGE : WEFT_SPMV_ALGO_CSR_SCALAR;
    next.policy.tune = false;
    next.gpu.lanes = next.gpu.ipt = next.gpu.rows = next.cpu.lanes = 0; // those of another algorithm
    weft__fallback_begin(ctx);
    status = weft__spmv_trial(ctx, a->type, a->ofs, &(*out)->info, (*out)->gaps, (*out)->large);
    if (weft__fallback(ctx, status, other ? weft_spmv_algo_name(next.policy.algo) : NULL)) {
        weft_spmv_plan_destroy(out);
        status = weft__spmv_plan_create(out, ctx, queue, a, &next, once);
        if (!status)
            snprintf((*out)->info.why, sizeof(*out)->info.why, "%s is wrong on this device", weft_spmv_algo_name(algo));
    } else if (status) {
        weft_spmv_plan_destroy(out);
    }
    return status;
}

weft_status weft_spmv_plan_create(struct weft_spmv_plan **out, struct weft_context *ctx, cl_command_queue queue,
                                  const struct weft_device_csr *a, const struct weft_spmv_params *params)
{
    return weft__spmv_plan_create(out, ctx, queue, a, params, NULL);
}

weft_status weft_spmv_plan_refill(struct weft_spmv_plan *plan, cl_command_queue queue, const struct weft_device_csr *a)
{
    if (!plan)
        return WEFT_EINVAL;
    struct weft_context *ctx = plan->ctx;
    const int copy = plan->info.params.problem.transpose == WEFT_SPMV_TRANSPOSE_BY_COPY;
    weft_status status = WEFT__NEED_IN(ctx, {"a", a});
    if (!status)
        status = weft__queue_check(ctx, queue);
    if (!status)
        status = matrix_check(ctx, a);
    if (!status && ((copy ? a->n : a->m) != plan->a.m || (copy ? a->m : a->n) != plan->a.n || a->nnz != plan->a.nnz ||
                    a->type != plan->a.type || a->ofs != plan->a.ofs))
        status = weft__fail(ctx, WEFT_EINVAL, "the matrix has another shape or type than the plan");
    if (!status)
        status = matrix_take(plan, queue, a);
    if (status || !plan->method || !plan->method->fill)
        return status;
    status = plan->method->fill(plan, queue, &plan->a);
    if (!status)
        status = weft__fail_cl(ctx, weft__cl.clFinish(queue), "clFinish");
    weft__spmv_matrix_release(plan);
    return status;
}

void weft__spmv_variants(weft__variant_fn *fn, void *arg)
{
    weft__spmv_variants_shared(fn, arg);
    for (size_t i = 0; i < NALGOS; i++)
        if (methods[i].gpu->variants)
            methods[i].gpu->variants(fn, arg);
}
