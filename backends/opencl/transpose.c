// SPDX-License-Identifier: Apache-2.0
// The transposition of weft/transpose.h on one device.
#include "backends/algo.h"
#include "host/common/clock.h"
#include "opencl_backend.h"
#include "host/internal/inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/transpose.h>

const char *const weft__opencl_transpose_algos[] = {"auto", "scan", "merge", NULL};

struct opencl_transpose {
    struct weft_context *ctx;
    cl_command_queue queue, plain; // plain: NULL until it is used
    const struct weft_csr *host;   // borrowed
    struct weft_transpose_params params;
    struct weft_device_csr a, at;
    struct weft_transpose_plan *op;
    struct opencl_events events;
};

static weft_status output_poison(struct opencl_transpose *t)
{
    const struct weft_csr *a = t->host;
    weft_status status =
        weft__opencl_poison(t->ctx, t->queue, t->at.row_ptr, ((size_t)a->n + 1) * weft_ofs_bytes(a->ofs));
    if (!status)
        status = weft__opencl_poison(t->ctx, t->queue, t->at.col, (size_t)a->nnz * sizeof *a->col);
    if (!status)
        status = weft__opencl_poison(t->ctx, t->queue, t->at.val, (size_t)a->nnz * weft_type_bytes(a->type));
    return status;
}

weft_status weft__opencl_transpose_prepare(void **state, struct weft_context *ctx, const struct weft_csr *a,
                                           const char *algo, const struct weft_backend_tune *tune,
                                           struct weft_backend_times *times, struct weft_error *err)
{
    *state = NULL;
    struct weft_transpose_params params = {0};
    if (weft__algo_find(weft__opencl_transpose_algos, algo, NULL, "backend opencl has no transposition", err) < 0)
        return WEFT_EINVAL;
    weft_transpose_algo_parse(&params.algo, algo); // NULL: auto
    weft_status status =
        weft__tune_take(tune, weft__tunables_of("transpose", algo, weft_context_schedule(ctx)), &params, err);
    if (status)
        return status;
    struct opencl_transpose *t = calloc(1, sizeof *t);
    if (!t)
        return weft__error(err, WEFT_ENOMEM, "out of host memory for a transposition");
    *t = (struct opencl_transpose){.ctx = ctx, .host = a, .params = params};
    *state = t;
    cl_int error;
    t->queue = weft__cl.clCreateCommandQueue(ctx->cl, ctx->device.id, CL_QUEUE_PROFILING_ENABLE, &error);
    if (error != CL_SUCCESS) {
        t->queue = NULL;
        status = weft__fail_cl(ctx, error, "clCreateCommandQueue");
    }
    if (!status)
        status = weft_device_csr_alloc(&t->a, ctx, weft_csr_shape(a));
    if (!status)
        status = weft_device_csr_alloc(&t->at, ctx, weft_shape_transposed(weft_csr_shape(a)));
    if (!status)
        status = output_poison(t);
    double start = clock_ms();
    if (!status)
        status = weft_device_csr_write_sync(&t->a, ctx, t->queue, a);
    times->write_ms = clock_ms() - start;
    if (!status)
        status = weft_transpose_plan_create(&t->op, ctx, weft_csr_shape(a), &params);
    if (status) {
        weft__opencl_fail(ctx, status, err);
        weft__opencl_transpose_finish(state);
        return status;
    }
    const struct weft_transpose_info *info = weft_transpose_plan_info(t->op);
    times->workspace_bytes = (int64_t)info->workspace_bytes;
    if (params.algo == WEFT_TRANSPOSE_ALGO_AUTO) // with a mirror in front it is not what scan by itself is
        snprintf(times->chosen, sizeof times->chosen, "%s%s", weft_transpose_algo_name(info->params.algo),
                 strstr(info->why, "mirrored") ? ", mirror first" : "");
    return WEFT_OK;
}

weft_status weft__opencl_transpose_run(void *state, double *ms, struct weft_error *err)
{
    struct opencl_transpose *t = state;
    weft__opencl_events_begin(&t->events, t->ctx);
    weft_status status = weft_transpose_run(t->op, t->queue, &t->at, &t->a, 0, NULL, NULL);
    weft_status ended = weft__opencl_events_end(&t->events, t->ctx, t->queue, ms);
    return weft__opencl_fail(t->ctx, status ? status : ended, err);
}

weft_status weft__opencl_transpose_plain(void *state, int runs, struct weft_error *err)
{
    struct opencl_transpose *t = state;
    weft_status status = weft__opencl_plain_queue(&t->plain, t->ctx);
    for (int i = 0; i < runs && !status; i++)
        status = weft_transpose_run(t->op, t->plain, &t->at, &t->a, 0, NULL, NULL);
    if (!status)
        status = weft__fail_cl(t->ctx, weft__cl.clFinish(t->plain), "clFinish");
    return weft__opencl_fail(t->ctx, status, err);
}

weft_status weft__opencl_transpose_call(void *state, struct weft_csr *out, struct weft_error *err)
{
    struct opencl_transpose *t = state;
    return weft__opencl_fail(t->ctx, weft_transpose_sync(out, t->ctx, t->host, &t->params), err);
}

weft_status weft__opencl_transpose_poison(void *state, struct weft_error *err)
{
    struct opencl_transpose *t = state;
    return weft__opencl_fail(t->ctx, output_poison(t), err);
}

weft_status weft__opencl_transpose_result(void *state, struct weft_csr *out, struct weft_backend_times *times,
                                          struct weft_error *err)
{
    struct opencl_transpose *t = state;
    weft_status status = weft_csr_alloc(out, weft_device_csr_shape(&t->at));
    if (status)
        return weft__error(err, status, "a copy of the transpose: %s", weft_status_text(status));
    double start = clock_ms();
    status = weft_device_csr_read_sync(out, t->ctx, t->queue, &t->at);
    times->read_ms = clock_ms() - start;
    times->host_clock = t->events.untimed;
    if (status)
        weft_csr_free(out);
    return weft__opencl_fail(t->ctx, status, err);
}

void weft__opencl_transpose_finish(void **state)
{
    if (!state || !*state)
        return;
    struct opencl_transpose *t = *state;
    weft_transpose_plan_destroy(&t->op);
    weft_device_csr_free(&t->a);
    weft_device_csr_free(&t->at);
    weft__queue_release(&t->queue);
    weft__queue_release(&t->plain);
    weft__opencl_events_free(&t->events);
    free(t);
    *state = NULL;
}
