// SPDX-License-Identifier: Apache-2.0
// The product of weft/spmv.h on one device.
#include "backends/algo.h"
#include "host/common/clock.h"
#include "host/internal/inside.h"
#include "opencl_backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/spmv.h>

#define NAME(algo, name, gpu, cpu, padded)      name,
#define PADDED(algo, name, gpu, cpu, is_padded) [WEFT_SPMV_ALGO_##algo] = is_padded,
#define ALSO(name)                              name,
const char *const weft__opencl_spmv_algos[] = {WEFT__SPMV_ALGOS(NAME, ALSO) NULL};
// Formats that may be mostly padding.
static const bool padded[] = {WEFT__SPMV_ALGOS(PADDED, WEFT__SPMV_NONE)};

struct opencl_spmv {
    struct weft_context *ctx;
    cl_command_queue queue, plain; // plain: NULL until it is used
    struct weft_device_csr a;
    struct weft_backend_spmv_job job; // borrowed
    struct weft_spmv_params params;
    const void *y0; // borrowed; NULL when beta == 0
    size_t y_bytes;
    double alpha, beta;
    cl_mem x, y;
    struct weft_spmv_plan *plan;
    struct weft__kernel *pair; // instead of a plan: weft__csr_pair_names[which]
    int which;
    struct opencl_events events;
};

// What `algo` and the tuning values ask for.
static weft_status params_make(struct weft_spmv_params *out, const struct weft_context *ctx, const char *algo,
                               const struct weft_backend_tune *tune, struct weft_error *err)
{
    if (weft__algo_find(weft__opencl_spmv_algos, algo, NULL, "backend opencl has no SpMV", err) < 0)
        return WEFT_EINVAL;
    out->format.host_rest = algo && !strcmp(algo, "hyb_host");
    out->policy.tune = algo && !strcmp(algo, "tuned");
    if (out->format.host_rest)
        out->policy.algo = WEFT_SPMV_ALGO_HYB;
    else // "tuned" and the study kernels are none of the library's: auto
        weft_spmv_algo_parse(&out->policy.algo, algo);
    return weft__tune_take(tune, weft__tunables_of("spmv", algo, weft_context_schedule(ctx)), out, err);
}

// Queue, buffers, and the inputs in them.
static weft_status device_prepare(struct opencl_spmv *s, const struct weft_backend_spmv_job *job, enum weft_type type,
                                  struct weft_backend_times *times)
{
    const struct weft_csr *a = job->a;
    const size_t x_bytes = weft__mul((size_t)a->n, weft_type_bytes(type));
    cl_int error;
    s->queue = weft__cl.clCreateCommandQueue(s->ctx->cl, s->ctx->device.id, CL_QUEUE_PROFILING_ENABLE, &error);
    if (error != CL_SUCCESS) {
        s->queue = NULL;
        return weft__fail_cl(s->ctx, error, "clCreateCommandQueue");
    }
    weft_status status = weft_device_csr_alloc(&s->a, s->ctx, weft_csr_shape(a));
    if (!status)
        status = weft__buffer_create(&s->x, s->ctx, x_bytes, "x");
    if (!status)
        status = weft__buffer_create(&s->y, s->ctx, s->y_bytes, "y");
    if (!status)
        status = weft__opencl_poison(s->ctx, s->queue, s->y, s->y_bytes);
    double start = clock_ms();
    if (!status)
        status = weft_device_csr_write_sync(&s->a, s->ctx, s->queue, a);
    if (!status && x_bytes)
        status = weft__fail_cl(
            s->ctx, weft__cl.clEnqueueWriteBuffer(s->queue, s->x, CL_TRUE, 0, x_bytes, job->x, 0, NULL, NULL),
            "write x");
    times->write_ms = clock_ms() - start;
    return status;
}

weft_status weft__opencl_spmv_prepare(void **state, struct weft_context *ctx, const struct weft_backend_spmv_job *job,
                                      const char *algo, struct weft_backend_times *times, struct weft_error *err)
{
    *state = NULL;
    const enum weft_type type = job->a->type == WEFT_TYPE_PATTERN ? WEFT_TYPE_F32 : job->a->type;
    struct weft_spmv_params params = {.problem.vec_type = type, .policy.products = job->products};
    const int which = weft__csr_pair_find(algo ? algo : "auto");
    weft_status status =
        which >= 0 ? weft__tune_take(job->tune, NULL, NULL, err) : params_make(&params, ctx, algo, job->tune, err);
    if (params.policy.algo == WEFT_SPMV_ALGO_HYB)
        params.format.width = job->hyb_width;
    if (!status && which >= 0 && (job->alpha != 1 || job->beta != 0))
        status = weft__error(err, WEFT_EUNSUPPORTED, "%s is A*x alone", algo);
    if (status)
        return status;
    struct opencl_spmv *s = calloc(1, sizeof *s);
    if (!s)
        return weft__error(err, WEFT_ENOMEM, "out of host memory for SpMV");
    *s = (struct opencl_spmv){.ctx = ctx,
                              .job = *job,
                              .params = params,
                              .y0 = job->y,
                              .y_bytes = weft__mul((size_t)job->a->m, weft_type_bytes(type)),
                              .alpha = job->alpha,
                              .beta = job->beta,
                              .which = which};
    *state = s;
    status = device_prepare(s, job, type, times);
    if (!status && which >= 0)
        status = weft__csr_pair_create(&s->pair, ctx, which, job->a->type, job->a->ofs);
    else if (!status)
        status = weft_spmv_plan_create(&s->plan, ctx, s->queue, &s->a, &params);
    if (status) {
        weft__opencl_fail(ctx, status, err);
        weft__opencl_spmv_finish(state);
        // A format that would be mostly padding is not for this matrix.
        return status == WEFT_ERANGE && padded[params.policy.algo] ? WEFT_EUNSUPPORTED : status;
    }
    if (which >= 0) // no plan, nothing to tell
        return WEFT_OK;
    const struct weft_spmv_info *info = weft_spmv_plan_info(s->plan);
    times->analyse_ms = info->analyse_ms;
    if (info->tune_ms > 0)
        times->tune_ms = info->tune_ms;
    if (info->convert_ms > 0)
        times->convert_ms = info->convert_ms;
    times->workspace_bytes = (int64_t)info->workspace_bytes;
    times->format_bytes = (int64_t)info->format_bytes;
    const int lanes = info->schedule == WEFT_SCHEDULE_CPU ? info->params.cpu.lanes : info->params.gpu.lanes;
    if (params.policy.algo != info->params.policy.algo || lanes)
        snprintf(times->chosen, sizeof times->chosen, lanes ? "%s, lanes=%d" : "%s",
                 weft_spmv_algo_name(info->params.policy.algo), lanes);
    return WEFT_OK;
}

static weft_status product_enqueue(struct opencl_spmv *s, cl_command_queue queue)
{
    struct weft__stream stream;
    if (!s->pair)
        return weft_spmv_run(s->plan, queue, s->y, s->alpha, s->x, s->beta, 0, NULL, NULL);
    weft_status status = weft__stream_begin(&stream, s->ctx, queue, 0, NULL, NULL);
    if (!status)
        weft__csr_pair_run(&stream, s->pair, s->which, &s->a, s->x, s->y);
    return status ? status : weft__stream_end(&stream);
}

weft_status weft__opencl_spmv_run(void *state, double *ms, struct weft_error *err)
{
    struct opencl_spmv *s = state;
    weft_status status = WEFT_OK;
    if (s->beta != 0 && s->y_bytes)
        status = weft__fail_cl(
            s->ctx, weft__cl.clEnqueueWriteBuffer(s->queue, s->y, CL_TRUE, 0, s->y_bytes, s->y0, 0, NULL, NULL),
            "write y");
    if (status)
        return weft__opencl_fail(s->ctx, status, err);
    weft__opencl_events_begin(&s->events, s->ctx);
    status = product_enqueue(s, s->queue);
    weft_status ended = weft__opencl_events_end(&s->events, s->ctx, s->queue, ms);
    return weft__opencl_fail(s->ctx, status ? status : ended, err);
}

weft_status weft__opencl_spmv_plain(void *state, int runs, struct weft_error *err)
{
    struct opencl_spmv *s = state;
    weft_status status = weft__opencl_plain_queue(&s->plain, s->ctx);
    for (int i = 0; i < runs && !status; i++)
        status = product_enqueue(s, s->plain);
    if (!status)
        status = weft__fail_cl(s->ctx, weft__cl.clFinish(s->plain), "clFinish");
    return weft__opencl_fail(s->ctx, status, err);
}

// One product is all that the call makes.
weft_status weft__opencl_spmv_call(void *state, void *y, struct weft_error *err)
{
    struct opencl_spmv *s = state;
    if (s->pair || s->beta != 0)
        return WEFT_EUNSUPPORTED;
    struct weft_spmv_params params = s->params;
    params.policy.products = 1;
    return weft__opencl_fail(s->ctx, weft_spmv_sync(y, s->ctx, s->alpha, s->job.a, s->job.x, 0, &params), err);
}

weft_status weft__opencl_spmv_poison(void *state, struct weft_error *err)
{
    struct opencl_spmv *s = state;
    return weft__opencl_fail(s->ctx, weft__opencl_poison(s->ctx, s->queue, s->y, s->y_bytes), err);
}

weft_status weft__opencl_spmv_result(void *state, void *y, struct weft_backend_times *times, struct weft_error *err)
{
    struct opencl_spmv *s = state;
    weft_status status = WEFT_OK;
    double start = clock_ms();
    if (s->y_bytes)
        status = weft__fail_cl(
            s->ctx, weft__cl.clEnqueueReadBuffer(s->queue, s->y, CL_TRUE, 0, s->y_bytes, y, 0, NULL, NULL), "read y");
    times->read_ms = clock_ms() - start;
    times->host_clock = s->events.untimed;
    return weft__opencl_fail(s->ctx, status, err);
}

void weft__opencl_spmv_finish(void **state)
{
    if (!state || !*state)
        return;
    struct opencl_spmv *s = *state;
    weft_spmv_plan_destroy(&s->plan);
    weft__kernel_release(&s->pair);
    weft_device_csr_free(&s->a);
    weft__buffer_release(&s->x);
    weft__buffer_release(&s->y);
    if (s->queue)
        weft__cl.clReleaseCommandQueue(s->queue);
    if (s->plain)
        weft__cl.clReleaseCommandQueue(s->plain);
    weft__opencl_events_free(&s->events);
    free(s);
    *state = NULL;
}
