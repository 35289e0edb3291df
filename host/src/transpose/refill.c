// SPDX-License-Identifier: Apache-2.0
// A plan: the pattern of A is transposed once with positions in the place of values; each run gathers values by them.
#include "host/src/core/check.h"
#include "host/src/core/make.h"
#include "host/src/core/limits.h"
#include "host/src/matrix/device_csr.h"
#include "host/src/transpose/method.h"
#include "host/src/transpose/trial.h"

#include <stdlib.h>
#include <string.h>

#define GATHER_WG  256
#define GATHER_IPT 4     // elements per work-item (GPU)
#define CPU_CHUNK  16384 // least elements of a chunk (CPU)

static const struct weft__kernel_spec gather_specs[2] = {
    {"gather32", {"transpose/gather.cl"}},
    {"gather64", {"transpose/gather.cl"}},
};

struct weft_transpose_refill {
    struct weft_context *ctx;
    struct weft_device_csr at;      // n x m; val holds the positions
    struct weft_device_csr pattern; // the same without val
    struct weft_transpose_info info;
    struct weft__kernel *gather[2]; // values of 4 and 8 bytes
    size_t wg;                      // of them
    cl_event ready;                 // of the analysis; NULL: known to be complete
};

static void gather_define(struct weft__defines *d, enum weft_schedule schedule, size_t wg, enum weft_ofs ofs)
{
    weft__define(d, "WEFT_OFS_BITS", "%d", ofs == WEFT_OFS_64 ? 64 : 32);
    weft__define(d, "WEFT_WG", "%zu", wg);
    weft__define(d, "GATHER_CHUNKED", "%d", schedule == WEFT_SCHEDULE_CPU);
}

static weft_status analyse(struct weft_transpose_refill *plan, cl_command_queue queue, const struct weft_device_csr *a,
                           const struct weft_transpose_params *params)
{
    struct weft_context *ctx = plan->ctx;
    enum weft_type type = a->ofs == WEFT_OFS_64 ? WEFT_TYPE_F64 : WEFT_TYPE_I32; // as wide as a position
    struct weft__transpose_shape shape = {
        .m = a->m, .n = a->n, .nnz = a->nnz, .type = type, .ofs = a->ofs, .val_positions = 1};
    struct weft_transpose_plan *op = NULL;
    weft_status status = weft__transpose_create(&op, ctx, &shape, params);
    if (!status)
        status = weft_device_csr_alloc(&plan->at, ctx, weft_shape(a->n, a->m, a->nnz, type, a->ofs));
    if (!status)
        status = weft_transpose_run(op, queue, &plan->at, a, 0, NULL, &plan->ready);
    if (!status) // so that a run in another queue does not wait for ever
        status = weft__fail_cl(ctx, weft__cl.clFlush(queue), "clFlush");
    if (!status)
        plan->info = *weft_transpose_plan_info(op);
    weft_transpose_plan_destroy(&op); // OpenCL keeps what enqueued commands use
    return status;
}

// Held once the analysis is done: row pointers, columns and a position for each entry.
static size_t bytes_of(struct weft_shape shape)
{
    const size_t ofs = weft_ofs_bytes(shape.ofs);
    return weft__add(weft__mul((size_t)shape.nnz, 4 + ofs), weft__mul((size_t)shape.n + 1, ofs));
}

weft_status weft_transpose_refill_workspace(size_t *out_bytes, struct weft_context *ctx, struct weft_shape shape)
{
    weft_status status = WEFT__NEED_IN(ctx, {"out_bytes", out_bytes});
    if (!status)
        status = weft__shape_check(ctx, shape);
    if (out_bytes)
        *out_bytes = status ? 0 : bytes_of(shape);
    return status;
}

static weft_status plan_create(struct weft_transpose_refill **out, struct weft_context *ctx, cl_command_queue queue,
                               const struct weft_device_csr *a, const struct weft_transpose_params *params)
{
    if (out)
        *out = NULL;
    weft_status status = WEFT__NEED_IN(ctx, {"out", out}, {"a", a});
    if (!status)
        status = weft__queue_check(ctx, queue);
    if (!status)
        status = weft__check_own(
            ctx, &(struct weft_device_csr){.type = WEFT_TYPE_PATTERN, .row_ptr = a->row_ptr, .col = a->col});
    if (status)
        return status;
    struct weft__make make = {.ctx = ctx};
    struct weft_transpose_refill *plan = weft__make_memory(&make, sizeof *plan, "a plan");
    if (!plan)
        return make.status;
    const cl_ulong count = (cl_ulong)a->nnz;
    struct weft__defines d = {0};
    plan->ctx = ctx;
    plan->wg = ctx->schedule == WEFT_SCHEDULE_CPU ? 1 : (size_t)weft__wg_lower(ctx, GATHER_WG);
    gather_define(&d, ctx->schedule, plan->wg, a->ofs);
    make.status = analyse(plan, queue, a, params);
    for (int i = 0; i < 2; i++) {
        weft__make_kernel(&make, &plan->gather[i], &gather_specs[i], &d);
        if (!make.status)
            make.status = WEFT__BIND(ctx, plan->gather[i], WEFT__ARG(from, plan->at.val), WEFT__ARG(count));
    }
    plan->pattern = plan->at;
    plan->pattern.type = WEFT_TYPE_PATTERN;
    plan->pattern.val = NULL;
    plan->info.workspace_bytes = bytes_of(weft_device_csr_shape(a));
    if (make.status)
        weft_transpose_refill_destroy(&plan);
    *out = plan;
    return make.status;
}

weft_status weft_transpose_refill_create(struct weft_transpose_refill **out, struct weft_context *ctx,
                                         cl_command_queue queue, const struct weft_device_csr *a,
                                         const struct weft_transpose_params *params)
{
    weft_status status;
    WEFT__LIMITED(status, ctx, plan_create(out, ctx, queue, a, params));
    if (!status)
        status = weft__refill_trial(ctx, a->ofs);
    if (status && out)
        weft_transpose_refill_destroy(out);
    return status;
}

// Let what follows in `queue` wait for the analysis, which may have gone to another queue.
static weft_status wait_ready(struct weft_transpose_refill *plan, cl_command_queue queue)
{
    cl_int state = CL_QUEUED;
    if (!plan->ready)
        return WEFT_OK;
    cl_int error = weft__cl.clGetEventInfo(plan->ready, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    if (error == CL_SUCCESS && state < 0)
        return weft__fail_cl(plan->ctx, state, "the analysis of the plan");
    if (error == CL_SUCCESS && state != CL_COMPLETE)
        error = weft__cl.clEnqueueBarrierWithWaitList(queue, 1, &plan->ready, NULL);
    else if (error == CL_SUCCESS) {
        weft__cl.clReleaseEvent(plan->ready);
        plan->ready = NULL;
    }
    return weft__fail_cl(plan->ctx, error, "the event of the analysis");
}

weft_status weft_transpose_refill_run(struct weft_transpose_refill *plan, cl_command_queue queue, cl_mem at_val,
                                      cl_mem val, enum weft_type type, cl_uint nwait, const cl_event *wait,
                                      cl_event *event)
{
    weft__event_none(event);
    if (!plan)
        return WEFT_EINVAL;
    struct weft_context *ctx = plan->ctx;
    struct weft__stream stream;
    size_t bytes = weft_type_bytes(type), nnz = (size_t)plan->at.nnz;
    if ((int)type < 0 || type > WEFT_TYPE_PATTERN)
        return weft__fail(ctx, WEFT_EINVAL, "type %d is not a type of values", (int)type);
    weft_status status = weft__queue_check(ctx, queue);
    if (!status)
        status = weft__check_buffer(ctx, val, weft__mul(nnz, bytes), "val");
    if (!status)
        status = weft__check_buffer(ctx, at_val, weft__mul(nnz, bytes), "at_val");
    if (!status && nnz && bytes && val == at_val)
        status = weft__fail(ctx, WEFT_EINVAL, "val and at_val are the same buffer");
    if (!status)
        status = wait_ready(plan, queue);
    if (!status)
        status = weft__stream_begin(&stream, ctx, queue, nwait, wait, event);
    if (status)
        return status;
    int wide = bytes == 8;
    int cpu = ctx->schedule == WEFT_SCHEDULE_CPU;
    size_t wg = plan->wg;
    size_t groups =
        cpu ? weft__min(weft__ceil_div(nnz, CPU_CHUNK), 8 * (size_t)weft__max(1, (size_t)ctx->device.compute_units))
            : weft__groups(weft__ceil_div(nnz, wg * GATHER_IPT), wg);
    if (bytes)
        WEFT__LAUNCH(&stream, plan->gather[wide], groups, wg, WEFT__ARG(in, val), WEFT__ARG(out, at_val));
    return weft__stream_end(&stream);
}

const struct weft_device_csr *weft_transpose_refill_pattern(const struct weft_transpose_refill *plan)
{
    return plan ? &plan->pattern : NULL;
}

const struct weft_transpose_info *weft_transpose_refill_info(const struct weft_transpose_refill *plan)
{
    return plan ? &plan->info : NULL;
}

void weft_transpose_refill_destroy(struct weft_transpose_refill **plan)
{
    if (!plan || !*plan)
        return;
    if ((*plan)->ready)
        weft__cl.clReleaseEvent((*plan)->ready);
    weft__parts_release((*plan)->gather, 2, NULL, 0);
    weft_device_csr_free(&(*plan)->at);
    free(*plan);
    *plan = NULL;
}

void weft__gather_variants(weft__variant_fn *fn, void *arg)
{
    static const enum weft_schedule schedules[] = {WEFT_SCHEDULE_GPU, WEFT_SCHEDULE_CPU};
    for (int s = 0; s < 2; s++)
        for (int ofs = WEFT_OFS_32; ofs <= WEFT_OFS_64; ofs++)
            for (int wide = 0; wide < 2; wide++) {
                struct weft__variant v = {.spec = &gather_specs[wide], .schedule = schedules[s]};
                gather_define(&v.defines, schedules[s], s ? 1 : GATHER_WG, (enum weft_ofs)ofs);
                fn(arg, &v);
            }
}
