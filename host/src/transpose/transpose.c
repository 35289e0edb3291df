// SPDX-License-Identifier: Apache-2.0
// Transposition: checks, the choice of a method, shapes without entries. The methods have a file each.
#include "host/src/core/buffer.h"
#include "host/src/core/check.h"
#include "host/src/core/fill.h"
#include "host/src/core/keep.h"
#include "host/src/core/make.h"
#include "host/src/core/limits.h"
#include "host/src/core/tune.h"
#include "host/src/matrix/device_csr.h"
#include "host/src/matrix/sync.h"
#include "host/src/transpose/method.h"
#include "host/src/core/names.h"
#include "host/src/transpose/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

WEFT__NAMES(transpose_algo, "auto", "scan", "merge");

struct weft_transpose_plan {
    struct weft_context *ctx;
    struct weft__transpose_shape shape;
    struct weft_transpose_info info;
    const struct weft__transpose_method *method; // NULL: no entries, only pointers of zeros
    void *state;
    struct weft__transpose_made made;
    struct weft__kernel *fill; // for no entries
};

// Entries that one work-group of MergeTrans sorts, in one or two launches, as many as ScanTrans takes. Back to back on an H200
// it took 0.6 to 1.0 times as long, and 1.3 to 2.3 times where there are more. As one work-group also writes the pointers,
// it took 0.9 to 1.05 times as long with 4000 columns, 1.2 to 1.5 times with 6000 (docs/log/small-launches.md).
#define MERGE_MOST    3584
#define MERGE_COLUMNS 4000
// The same on a CPU, where ScanTrans takes more launches: on two cores MergeTrans took 0.28 to 0.99 times as long, 0.7 with the most
// entries, and up to 2.5 times as long beyond (docs/log/transpose-cpu.md).
#define CPU_MERGE_MOST    30000
#define CPU_MERGE_COLUMNS 100000

#define MIRROR_LEAST 1000000 // entries from which AUTO on a GPU tries first whether the pattern mirrors
// Columns for each entry of a row of mean length, from which on it is tried. In denser patterns an entry's image lies
// in a far row, at a place that no guess finds: a dense 4000 x 4000 pattern took five times as long by the mirror as by
// scan.
#define MIRROR_SPARSE 4

#define ROWS_AHEAD (1 << 10) // kernels step past the last row by a few lanes

static const struct weft__transpose_method *method_find(enum weft_transpose_algo algo, enum weft_schedule schedule)
{
    if (algo == WEFT_TRANSPOSE_ALGO_MERGE)
        return schedule == WEFT_SCHEDULE_CPU ? &weft__transpose_merge_cpu : &weft__transpose_merge_gpu;
    return schedule == WEFT_SCHEDULE_CPU ? &weft__transpose_scan_cpu : &weft__transpose_scan_gpu;
}

static bool merge_pays(const struct weft_context *ctx, const struct weft__transpose_shape *shape)
{
    const bool cpu = ctx->schedule == WEFT_SCHEDULE_CPU;
    return shape->nnz <= (cpu ? CPU_MERGE_MOST : MERGE_MOST) && shape->n <= (cpu ? CPU_MERGE_COLUMNS : MERGE_COLUMNS);
}

static const struct weft__tunables *scan_tunables(const struct weft_context *ctx)
{
    return ctx->schedule == WEFT_SCHEDULE_CPU ? weft__transpose_scan_cpu_tunables : weft__transpose_scan_gpu_tunables;
}

weft_status weft__transpose_plan(struct weft_transpose_info *out, struct weft_context *ctx,
                                 const struct weft__transpose_shape *shape, const struct weft_transpose_params *params)
{
    *out = (struct weft_transpose_info){.schedule = ctx->schedule};
    if (params)
        out->params = *params;
    struct weft_transpose_params *p = &out->params;
    if ((int)p->algo < 0 || p->algo > WEFT_TRANSPOSE_ALGO_MERGE)
        return weft__fail(ctx, WEFT_EINVAL, "algo %d is not a method of transposition", (int)p->algo);
    weft_status status = weft__shape_check(ctx, weft_shape(shape->m, shape->n, shape->nnz, shape->type, shape->ofs));
    if (status)
        return status;
    if ((shape->ofs == WEFT_OFS_32 && shape->nnz > WEFT__POS_32_MOST) ||
        (shape->nnz && !shape->rows_given && shape->m > INT32_MAX - ROWS_AHEAD))
        return weft__fail(ctx, WEFT_ERANGE,
                          "%lld rows, %lld entries: a transposition takes up to %d rows, and with 32-bit offsets "
                          "up to %d entries",
                          (long long)shape->m, (long long)shape->nnz, INT32_MAX - ROWS_AHEAD, WEFT__POS_32_MOST);
    if (p->algo == WEFT_TRANSPOSE_ALGO_AUTO)
        p->algo = !shape->mirror && merge_pays(ctx, shape) && !weft__tunables_given(scan_tunables(ctx), p)
                      ? WEFT_TRANSPOSE_ALGO_MERGE
                      : WEFT_TRANSPOSE_ALGO_SCAN;
    const struct weft__tunables *set =
        weft__tunables_of("transpose", p->algo == WEFT_TRANSPOSE_ALGO_MERGE ? "merge" : "scan", ctx->schedule);
    status = weft__tunables_resolve(set, ctx, p, NULL, NULL, NULL);
    if (status)
        return status;
    if (shape->nnz == 0) {
        snprintf(out->why, sizeof out->why, "no entries: pointers of zeros");
        return WEFT_OK;
    }
    const struct weft__transpose_method *method = method_find(p->algo, ctx->schedule);
    struct weft__tuned tuned = weft__tuned_begin(ctx, set, weft_type_bytes(shape->type), p);
    do
        status = method->plan(ctx, shape, out);
    while (weft__tuned_again(&tuned, status, out->why, sizeof out->why));
    // Three digits of 10 bits do not reach 2^30 columns, and wider ones may not fit local memory; MergeTrans needs none. It has no
    // use for a mirror either.
    if (status == WEFT_EINVAL && p->algo == WEFT_TRANSPOSE_ALGO_SCAN && ctx->schedule == WEFT_SCHEDULE_GPU &&
        (!params || (!params->algo && !weft__tunables_given(weft__transpose_scan_gpu_tunables, params))))
        return weft__transpose_plan(out, ctx, shape, weft_transpose_params(.algo = WEFT_TRANSPOSE_ALGO_MERGE));
    return status;
}

// The shape as the methods and AUTO take it.
static struct weft__transpose_shape shape_auto(const struct weft_context *ctx,
                                               const struct weft__transpose_shape *shape,
                                               const struct weft_transpose_params *params)
{
    struct weft__transpose_shape out = *shape;
    out.wide |= ctx->wide_positions;
    if ((!params || params->algo == WEFT_TRANSPOSE_ALGO_AUTO) && ctx->schedule == WEFT_SCHEDULE_GPU &&
        shape->nnz >= MIRROR_LEAST && shape->m == shape->n && !shape->rows_given &&
        shape->nnz / shape->n < shape->n / MIRROR_SPARSE)
        out.mirror = 1;
    return out;
}

weft_status weft_transpose_workspace(size_t *out_bytes, struct weft_context *ctx, struct weft_shape plain,
                                     const struct weft_transpose_params *params)
{
    struct weft__transpose_shape shape = {
        .m = plain.m, .n = plain.n, .nnz = plain.nnz, .type = plain.type, .ofs = plain.ofs};
    struct weft_transpose_info info;
    weft_status status = WEFT__NEED_IN(ctx, {"out_bytes", out_bytes});
    if (!status) {
        shape = shape_auto(ctx, &shape, params);
        status = weft__transpose_plan(&info, ctx, &shape, params);
    }
    if (out_bytes)
        *out_bytes = status ? 0 : info.workspace_bytes;
    return status;
}

static size_t bytes_of(const struct weft__transpose_shape *s, size_t scratch)
{
    const size_t nnz = (size_t)s->nnz, ofs = weft_ofs_bytes(s->ofs), val = weft_type_bytes(s->type);
    size_t all = weft__add(scratch, weft__mul(nnz, 4 + 4 + val + (s->val_positions ? 0 : val)));
    all = weft__add(all, s->rows_given ? weft__mul(nnz, 4) : weft__mul((size_t)s->m + 1, ofs));
    return weft__add(all, weft__mul((size_t)s->n + 1, ofs));
}

bool weft__transpose_fits(const struct weft_context *ctx, const struct weft__transpose_shape *s, size_t scratch)
{
    return (ctx->device.type & CL_DEVICE_TYPE_CPU) || bytes_of(s, scratch) <= (size_t)ctx->device.global_bytes;
}

// No caller can have an array of input or output that is larger than one buffer of the device.
static weft_status arrays_check(struct weft_context *ctx, const struct weft__transpose_shape *s)
{
    const size_t nnz = (size_t)s->nnz, ofs = weft_ofs_bytes(s->ofs);
    weft_status status = weft__buffer_check(ctx, weft__mul((size_t)s->n + 1, ofs), "row_ptr of the output");
    if (!status && nnz && !s->rows_given) // without entries it is not read
        status = weft__buffer_check(ctx, weft__mul((size_t)s->m + 1, ofs), "row_ptr of the input");
    if (!status)
        status = weft__buffer_check(ctx, weft__mul(nnz, 4), "col");
    return status ? status : weft__buffer_check(ctx, weft__mul(nnz, weft_type_bytes(s->type)), "val");
}

// Drivers that allocate at the first use would tell only when the operation runs.
static weft_status memory_check(struct weft_context *ctx, const struct weft__transpose_shape *s, size_t scratch)
{
    if (weft__transpose_fits(ctx, s, scratch))
        return arrays_check(ctx, s);
    return weft__fail(ctx, WEFT_ERANGE,
                      "a transposition of %lld entries takes %zu bytes of memory, %zu of them for scratch; %s has %lld",
                      (long long)s->nnz, bytes_of(s, scratch), scratch, ctx->device.name,
                      (long long)ctx->device.global_bytes);
}

static weft_status op_create(struct weft_transpose_plan **out, struct weft_context *ctx,
                             const struct weft__transpose_shape *asked, const struct weft_transpose_params *params)
{
    if (out)
        *out = NULL;
    weft_status status = WEFT__NEED_IN(ctx, {"out", out});
    if (status)
        return status;
    struct weft__make make = {.ctx = ctx};
    struct weft_transpose_info info;
    struct weft__transpose_shape own = shape_auto(ctx, asked, params);
    const struct weft__transpose_shape *shape = &own;
    make.status = weft__transpose_plan(&info, ctx, shape, params);
    own.mirror &= info.params.algo == WEFT_TRANSPOSE_ALGO_SCAN; // MergeTrans may have taken its place
    if (!make.status)
        make.status = memory_check(ctx, shape, info.workspace_bytes);
    struct weft_transpose_plan *op = weft__make_memory(&make, sizeof *op, "a transposition");
    if (!op)
        return make.status;
    *op = (struct weft_transpose_plan){.ctx = ctx, .shape = *shape, .info = info};
    if (shape->nnz > 0) {
        op->method = method_find(info.params.algo, ctx->schedule);
        make.status = op->method->create(&op->state, &op->made, ctx, shape, &info);
    } else {
        make.status = weft__fill_create(&op->fill, ctx);
    }
    if (make.status)
        weft_transpose_plan_destroy(&op);
    *out = op;
    return make.status;
}

weft_status weft__transpose_create(struct weft_transpose_plan **out, struct weft_context *ctx,
                                   const struct weft__transpose_shape *asked,
                                   const struct weft_transpose_params *params)
{
    weft_status status;
    WEFT__LIMITED(status, ctx, op_create(out, ctx, asked, params));
    if (status)
        return status;
    static const struct weft_transpose_params nothing;
    const bool other = !params || !memcmp(params, &nothing, sizeof nothing);
    const enum weft_transpose_algo algo = (*out)->info.params.algo;
    weft__fallback_begin(ctx);
    if ((*out)->method)
        status = weft__transpose_trial(ctx, (*out)->method, &(*out)->shape, &(*out)->info, &(*out)->made);
    if (weft__fallback(ctx, status, !other ? NULL : algo == WEFT_TRANSPOSE_ALGO_SCAN ? "MergeTrans" : "ScanTrans")) {
        const struct weft_transpose_params next = {.algo = algo == WEFT_TRANSPOSE_ALGO_SCAN ? WEFT_TRANSPOSE_ALGO_MERGE
                                                                                            : WEFT_TRANSPOSE_ALGO_SCAN};
        weft_transpose_plan_destroy(out);
        status = weft__transpose_create(out, ctx, asked, &next);
        if (!status)
            snprintf((*out)->info.why, sizeof(*out)->info.why, "%s is wrong on this device",
                     algo == WEFT_TRANSPOSE_ALGO_SCAN ? "ScanTrans" : "MergeTrans");
    } else if (status) {
        weft_transpose_plan_destroy(out);
    }
    return status;
}

weft_status weft_transpose_plan_create(struct weft_transpose_plan **out, struct weft_context *ctx,
                                       struct weft_shape plain, const struct weft_transpose_params *params)
{
    struct weft__transpose_shape shape = {
        .m = plain.m, .n = plain.n, .nnz = plain.nnz, .type = plain.type, .ofs = plain.ofs};
    return weft__transpose_create(out, ctx, &shape, params);
}

// `x` must be m x n and have buffers large enough for what the method touches.
static weft_status matrix_check(const struct weft_transpose_plan *op, const struct weft_device_csr *x, int64_t m,
                                int64_t n, int output)
{
    const struct weft__transpose_shape *s = &op->shape;
    struct weft_shape shape = weft_device_csr_shape(x);
    if (s->val_positions && !output)
        shape.type = s->type; // not looked at
    weft_status status = weft__shape_same(op->ctx, output ? "the output" : "the input", shape,
                                          "the object was made for", weft_shape(m, n, s->nnz, s->type, s->ofs));
    if (status)
        return status;
    size_t nnz = (size_t)s->nnz, val = output || !s->val_positions ? weft_type_bytes(s->type) : 0;
    size_t ptr = s->rows_given && !output ? weft__mul(nnz, 4) : weft__mul((size_t)m + 1, weft_ofs_bytes(s->ofs));
    if (nnz || output)
        status = weft__check_buffer(op->ctx, x->row_ptr, ptr, "row_ptr");
    if (!status)
        status = weft__check_buffer(op->ctx, x->col, weft__mul(nnz, 4), "col");
    if (!status)
        status = weft__check_buffer(op->ctx, x->val, weft__mul(nnz, val), "val");
    return status;
}

weft_status weft_transpose_run(struct weft_transpose_plan *op, cl_command_queue queue, const struct weft_device_csr *at,
                               const struct weft_device_csr *a, cl_uint nwait, const cl_event *wait, cl_event *event)
{
    weft__event_none(event);
    if (!op)
        return WEFT_EINVAL;
    struct weft__stream stream;
    const struct weft__transpose_shape *s = &op->shape;
    weft_status status = WEFT__NEED_IN(op->ctx, {"a", a}, {"at", at});
    if (!status)
        status = matrix_check(op, a, s->m, s->n, 0);
    if (!status)
        status = matrix_check(op, at, s->n, s->m, 1);
    if (!status && s->nnz > 0)
        status = weft__check_apart(op->ctx, a, at);
    if (!status)
        status = weft__stream_begin(&stream, op->ctx, queue, nwait, wait, event);
    if (status)
        return status;
    if (op->method)
        op->method->run(op->state, &stream, a, at);
    else
        weft__fill(&stream, op->fill, at->row_ptr, 0, ((uint64_t)s->n + 1) * weft_ofs_bytes(s->ofs) / 4, 0);
    return weft__stream_end(&stream);
}

const struct weft__transpose_made *weft__transpose_made(const struct weft_transpose_plan *op)
{
    return &op->made;
}

struct weft_context *weft__transpose_context(const struct weft_transpose_plan *op)
{
    return op ? op->ctx : NULL;
}

const struct weft_transpose_info *weft_transpose_plan_info(const struct weft_transpose_plan *op)
{
    return op ? &op->info : NULL;
}

void weft_transpose_plan_destroy(struct weft_transpose_plan **op)
{
    if (!op || !*op)
        return;
    if ((*op)->method)
        (*op)->method->destroy(&(*op)->state);
    weft__kernel_release(&(*op)->fill);
    free(*op);
    *op = NULL;
}

// A plan of weft_transpose_sync that is kept for the next call.
struct kept {
    struct weft_transpose_plan *op;
    struct weft_shape shape;
    struct weft_transpose_params params;
};

static void kept_drop(void *plan)
{
    struct kept *k = plan;
    if (k)
        weft_transpose_plan_destroy(&k->op);
    free(k);
}

static bool kept_fits(const struct kept *k, struct weft_shape shape, const struct weft_transpose_params *params)
{
    const struct weft_shape s = k->shape;
    return s.m == shape.m && s.n == shape.n && s.nnz == shape.nnz && s.type == shape.type && s.ofs == shape.ofs &&
           !memcmp(&k->params, params, sizeof *params);
}

// The plan that the last call left, or a new one.
static weft_status kept_take(struct kept **out, struct weft_context *ctx, struct weft_shape shape,
                             const struct weft_transpose_params *given)
{
    static const struct weft_transpose_params defaults;
    const struct weft_transpose_params *params = given ? given : &defaults;
    *out = weft__keep_plan(ctx, kept_drop);
    if (*out && kept_fits(*out, shape, params))
        return WEFT_OK;
    kept_drop(*out); // its scratch, before there is more
    struct weft__make make = {.ctx = ctx};
    *out = weft__make_memory(&make, sizeof **out, "a transposition");
    if (!*out)
        return make.status;
    (*out)->shape = shape;
    memcpy(&(*out)->params, params, sizeof *params);
    const weft_status status = weft_transpose_plan_create(&(*out)->op, ctx, shape, params);
    if (status) {
        kept_drop(*out);
        *out = NULL;
    }
    return status;
}

weft_status weft_transpose_sync(struct weft_csr *out, struct weft_context *ctx, const struct weft_csr *a,
                                const struct weft_transpose_params *params)
{
    struct weft__sync sync = {.ctx = ctx};
    struct kept *kept = NULL;
    weft_status status = weft__sync_check(ctx, out, a);
    if (status)
        return status;
    sync.status = kept_take(&kept, ctx, weft_csr_shape(a), params);
    weft__sync_begin(&sync, out, weft_shape_transposed(weft_csr_shape(a)));
    weft__sync_csr(&sync, a);
    if (!sync.status)
        sync.status = weft_transpose_run(kept->op, sync.queue, &sync.to, &sync.from, 0, NULL, NULL);
    status = weft__sync_end(&sync);
    if (status)
        kept_drop(kept);
    else
        weft__keep_plan_end(ctx, kept, kept->op->info.workspace_bytes, kept_drop);
    return status;
}
