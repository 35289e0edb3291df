// SPDX-License-Identifier: Apache-2.0
// Checks matrices on a device: each work-group leaves its least fault, and one group finds the least of those.
//
// pass           | reads               | writes                  | buffers
// validate_find  | row_ptr, col        | the least of each group | LEAST: 8 bytes a group
// validate_least | those               | found                   | LEAST
#include "host/src/matrix/validate.h"
#include "host/src/core/check.h"
#include "host/src/core/keep.h"
#include "host/src/core/limits.h"
#include "host/src/core/make.h"
#include "host/src/core/variants.h"
#include "host/src/matrix/device_csr.h"

#include <stdlib.h>

#define VALIDATE_WG  256
#define VALIDATE_IPT 16    // entries per work-item and tile (GPU)
#define CPU_CHUNK    16384 // least entries of a chunk (CPU)

enum { FIND, LEAST_OF, NKERNELS };
enum { LEAST, NBUFFERS };
static const struct weft__kernel_spec specs[NKERNELS] = {
    [FIND] = {"validate_find", {"matrix/validate.cl", "matrix/begins.clh"}},
    [LEAST_OF] = {"validate_least", {"matrix/validate.cl", "matrix/begins.clh"}},
};

struct weft_validate_plan {
    struct weft_context *ctx;
    enum weft_ofs ofs;
    struct weft_validate_info info;
    struct weft__kernel *k[NKERNELS];
    cl_mem b[NBUFFERS];
    size_t wg;
};

// Most groups of a launch: what fills the device several times.
static size_t groups_most(const struct weft_context *ctx)
{
    const size_t units = ctx->device.compute_units > 0 ? (size_t)ctx->device.compute_units : 1;
    return weft__min(units * (ctx->schedule == WEFT_SCHEDULE_GPU ? 16 : 8), 1 << 16);
}

static weft_status info_resolve(struct weft_validate_info *info, struct weft_context *ctx, enum weft_ofs ofs)
{
    if (ofs != WEFT_OFS_32 && ofs != WEFT_OFS_64)
        return weft__fail(ctx, WEFT_EINVAL, "validate: %d is not a width of offsets", (int)ofs);
    *info = (struct weft_validate_info){ctx->schedule, groups_most(ctx) * sizeof(cl_ulong)};
    return WEFT_OK;
}

weft_status weft_validate_workspace(size_t *out_bytes, struct weft_context *ctx, enum weft_ofs ofs)
{
    struct weft_validate_info info = {0};
    weft_status status = WEFT__NEED_IN(ctx, {"out_bytes", out_bytes});
    if (!status)
        status = info_resolve(&info, ctx, ofs);
    if (out_bytes)
        *out_bytes = status ? 0 : info.workspace_bytes;
    return status;
}

static void validate_define(struct weft__defines *d, enum weft_schedule schedule, size_t wg, enum weft_ofs ofs)
{
    weft__define(d, "WEFT_WG", "%zu", wg);
    weft__define(d, "WEFT_IPT", "%d", VALIDATE_IPT);
    weft__define(d, "WEFT_OFS_BITS", "%d", (int)weft_ofs_bytes(ofs) * 8);
    weft__define(d, "MATRIX_CHUNKED", "%d", schedule == WEFT_SCHEDULE_CPU);
}

static weft_status plan_create(struct weft_validate_plan **out, struct weft_context *ctx, enum weft_ofs ofs)
{
    struct weft_validate_info info = {0};
    if (out)
        *out = NULL;
    weft_status status = WEFT__NEED_IN(ctx, {"out", out});
    if (!status)
        status = info_resolve(&info, ctx, ofs);
    if (status)
        return status;
    struct weft__make make = {.ctx = ctx};
    struct weft_validate_plan *plan = weft__make_memory(&make, sizeof *plan, "a check of matrices");
    if (!plan)
        return make.status;
    struct weft__defines d = {0};
    *plan = (struct weft_validate_plan){.ctx = ctx, .ofs = ofs, .info = info, .wg = 1};
    if (info.schedule == WEFT_SCHEDULE_GPU)
        plan->wg = (size_t)weft__wg_lower(ctx, VALIDATE_WG);
    validate_define(&d, info.schedule, plan->wg, ofs);
    for (int i = 0; i < NKERNELS; i++)
        weft__make_kernel(&make, &plan->k[i], &specs[i], &d);
    weft__make_buffers(&make, plan->b,
                       (const struct weft__scratch[NBUFFERS]){
                           [LEAST] = {info.workspace_bytes, .what = "validate: workspace"},
                       },
                       NBUFFERS);
    if (!make.status)
        make.status = WEFT__PARTS_BIND(ctx, plan->k, NKERNELS, WEFT__ARG(least, plan->b[LEAST]));
    if (make.status)
        weft_validate_plan_destroy(&plan);
    *out = plan;
    return make.status;
}

weft_status weft_validate_plan_create(struct weft_validate_plan **out, struct weft_context *ctx, enum weft_ofs ofs)
{
    weft_status status;
    WEFT__LIMITED(status, ctx, plan_create(out, ctx, ofs));
    return status;
}

const struct weft_validate_info *weft_validate_plan_info(const struct weft_validate_plan *plan)
{
    return plan ? &plan->info : NULL;
}

void weft_validate_plan_destroy(struct weft_validate_plan **plan)
{
    if (!plan || !*plan)
        return;
    weft__parts_release((*plan)->k, NKERNELS, (*plan)->b, NBUFFERS);
    free(*plan);
    *plan = NULL;
}

static weft_status run_check(const struct weft_validate_plan *plan, cl_mem found, const struct weft_device_csr *a,
                             enum weft_columns columns)
{
    struct weft_context *ctx = plan->ctx;
    struct weft_error err = {0};
    weft_status status = WEFT__NEED_IN(ctx, {"a", a});
    if (!status)
        status = weft__shape_check(ctx, weft_device_csr_shape(a));
    if (!status && a->ofs != plan->ofs)
        status = weft__fail(ctx, WEFT_EINVAL, "validate: offsets have %d bits, the plan is for %d",
                            (int)weft_ofs_bytes(a->ofs) * 8, (int)weft_ofs_bytes(plan->ofs) * 8);
    if (!status && weft__columns_check(&err, columns))
        status = weft__fail(ctx, WEFT_EINVAL, "validate: %s", err.text);
    if (!status)
        status = WEFT__BUFFERS(ctx, {"validate: found", found, 2 * sizeof(cl_long)},
                               {"validate: row_ptr", a->row_ptr, ((size_t)a->m + 1) * weft_ofs_bytes(a->ofs)},
                               {"validate: col", a->col, weft__mul((size_t)a->nnz, 4)});
    if (!status)
        status = WEFT__ALONE(ctx, {"validate: found", found, 1}, {"row_ptr", a->row_ptr, 1},
                             {"col", a->col, (size_t)a->nnz});
    return status;
}

static weft_status run_based(struct weft_validate_plan *plan, cl_command_queue queue, cl_mem found,
                             const struct weft_device_csr *a, enum weft_columns columns, cl_int base, cl_uint nwait,
                             const cl_event *wait, cl_event *event)
{
    struct weft__stream stream;
    weft_status status = run_check(plan, found, a, columns);
    if (!status)
        status = weft__stream_begin(&stream, plan->ctx, queue, nwait, wait, event);
    if (status)
        return status;
    const size_t wg = plan->wg, steps = weft__max((size_t)a->m + 1, (size_t)a->nnz);
    const size_t piece = plan->info.schedule == WEFT_SCHEDULE_GPU ? wg * VALIDATE_IPT : CPU_CHUNK;
    const size_t groups = weft__min(weft__ceil_div(steps, piece), groups_most(plan->ctx));
    const cl_int m = (cl_int)a->m, n = (cl_int)a->n;
    const cl_long nnz = a->nnz;
    const cl_uint order = (cl_uint)columns;
    const cl_ulong count = groups;
    cl_mem col = a->col ? a->col : a->row_ptr; // not touched without entries
    WEFT__LAUNCH(&stream, plan->k[FIND], groups, wg, WEFT__ARG(row_ptr, a->row_ptr), WEFT__ARG(col), WEFT__ARG(m),
                 WEFT__ARG(n), WEFT__ARG(nnz), WEFT__ARG(base), WEFT__ARG(order));
    WEFT__LAUNCH(&stream, plan->k[LEAST_OF], 1, wg, WEFT__ARG(found), WEFT__ARG(count), WEFT__ARG(m));
    return weft__stream_end(&stream);
}

weft_status weft_validate_run(struct weft_validate_plan *plan, cl_command_queue queue, cl_mem found,
                              const struct weft_device_csr *a, enum weft_columns columns, cl_uint nwait,
                              const cl_event *wait, cl_event *event)
{
    weft__event_none(event);
    return plan ? run_based(plan, queue, found, a, columns, 0, nwait, wait, event) : WEFT_EINVAL;
}

static weft_status ask_based(struct weft_validate_plan *plan, cl_command_queue queue, cl_mem found,
                             const struct weft_device_csr *a, enum weft_columns columns, int base, cl_uint nwait,
                             const cl_event *wait, enum weft_fault *fault, int64_t *at)
{
    cl_event done = NULL;
    cl_long answer[2] = {0};
    weft_status status = run_based(plan, queue, found, a, columns, base, nwait, wait, &done);
    if (status)
        return status;
    status = weft__fail_cl(
        plan->ctx, weft__cl.clEnqueueReadBuffer(queue, found, CL_TRUE, 0, sizeof answer, answer, 1, &done, NULL),
        "clEnqueueReadBuffer");
    weft__cl.clReleaseEvent(done);
    *fault = (enum weft_fault)answer[0];
    *at = answer[1];
    return status;
}

weft_status weft__validate_ask(struct weft_validate_plan *plan, cl_command_queue queue, cl_mem found,
                               const struct weft_device_csr *a, enum weft_columns columns, cl_uint nwait,
                               const cl_event *wait, enum weft_fault *fault, int64_t *at)
{
    return ask_based(plan, queue, found, a, columns, 0, nwait, wait, fault, at);
}

// Element i of an array of the device, whose elements have 4 or 8 bytes.
static weft_status element_read(struct weft_context *ctx, cl_command_queue queue, int64_t *out, cl_mem from, int64_t i,
                                size_t bytes)
{
    int32_t narrow = 0;
    weft_status status =
        weft__copy_out_from(ctx, queue, bytes == 8 ? (void *)out : (void *)&narrow, from, (size_t)i * bytes, bytes);
    if (bytes == 4)
        *out = narrow;
    return status;
}

// The fault in words, with the numbers that contradict each other.
static weft_status fault_tell(struct weft_context *ctx, cl_command_queue queue, const struct weft_device_csr *a,
                              enum weft_fault fault, int base, int64_t at)
{
    const size_t ofs = weft_ofs_bytes(a->ofs);
    const bool pointer = fault < WEFT_FAULT_RANGE;
    struct weft_error err = {0};
    int64_t x[2] = {0, fault == WEFT_FAULT_LAST ? a->nnz : a->n};
    weft_status status = element_read(ctx, queue, &x[0], pointer ? a->row_ptr : a->col, at, pointer ? ofs : 4);
    if (!status && fault == WEFT_FAULT_DESCENDS)
        status = element_read(ctx, queue, &x[1], a->row_ptr, at + 1, ofs);
    if (!status && fault > WEFT_FAULT_RANGE)
        status = element_read(ctx, queue, &x[1], a->col, at - 1, 4);
    return status ? status : weft__fail(ctx, weft__fault_error(&err, fault, base, at, x), "%s", err.text);
}

// A plan of a check that blocks, which is kept for the next one, with the place of its answer.
struct kept {
    struct weft_validate_plan *plan;
    cl_mem found;
};

static void kept_drop(void *plan)
{
    struct kept *k = plan;
    if (!k)
        return;
    weft__buffer_release(&k->found);
    weft_validate_plan_destroy(&k->plan);
    free(k);
}

static weft_status kept_take(struct kept **out, struct weft_context *ctx, enum weft_ofs ofs)
{
    struct weft__make make = {.ctx = ctx};
    *out = weft__keep_plan(ctx, kept_drop);
    if (*out && (*out)->plan->ofs == ofs)
        return WEFT_OK;
    kept_drop(*out);
    *out = weft__make_memory(&make, sizeof **out, "a check");
    if (!make.status)
        make.status = weft_validate_plan_create(&(*out)->plan, ctx, ofs);
    if (!make.status)
        make.status = weft__buffer_create(&(*out)->found, ctx, 2 * sizeof(cl_long), "validate: found");
    return make.status;
}

static weft_status sync_based(struct weft_context *ctx, cl_command_queue queue, const struct weft_device_csr *a,
                              enum weft_columns columns, int base)
{
    struct kept *kept = NULL;
    enum weft_fault fault = WEFT_FAULT_NONE;
    int64_t at = 0;
    weft_status status = WEFT__NEED_IN(ctx, {"queue", queue}, {"a", a});
    if (!status)
        status = kept_take(&kept, ctx, a->ofs);
    if (!status)
        status = ask_based(kept->plan, queue, kept->found, a, columns, base, 0, NULL, &fault, &at);
    if (status)
        kept_drop(kept);
    else
        weft__keep_plan_end(ctx, kept, kept->plan->info.workspace_bytes, kept_drop);
    if (!status && fault != WEFT_FAULT_NONE)
        status = fault_tell(ctx, queue, a, fault, base, at);
    return status;
}

weft_status weft_validate_sync(struct weft_context *ctx, cl_command_queue queue, const struct weft_device_csr *a,
                               enum weft_columns columns)
{
    return sync_based(ctx, queue, a, columns, 0);
}

weft_status weft__validate_based_sync(struct weft_context *ctx, cl_command_queue queue, const struct weft_device_csr *a,
                                      int base)
{
    return sync_based(ctx, queue, a, WEFT_COLUMNS_ANY, base);
}

void weft__validate_variants(weft__variant_fn *fn, void *arg)
{
    for (int gpu = 0; gpu <= 1; gpu++)
        for (int ofs = WEFT_OFS_32; ofs <= WEFT_OFS_64; ofs++)
            for (int i = 0; i < NKERNELS; i++) {
                struct weft__variant v = {.spec = &specs[i], .schedule = gpu ? WEFT_SCHEDULE_GPU : WEFT_SCHEDULE_CPU};
                validate_define(&v.defines, v.schedule, gpu ? VALIDATE_WG : 1, (enum weft_ofs)ofs);
                fn(arg, &v);
            }
}
