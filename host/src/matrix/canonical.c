// SPDX-License-Identifier: Apache-2.0
// Sorted columns and summed duplicates on a device: a look whether there is anything to do, a segmented sort of the rows,
// and entries of one row and column moved together at their rank.
//
// pass            | reads                    | writes            | buffers
// validate        | row_ptr, col             | what is not in order | FOUND
// segsort         | row_ptr, col, val        | sorted entries    | COL, VAL; with `keep` the result
// canonical_heads | row_ptr, sorted col      | a bit an entry    | BITS, COUNT: a word each 32 entries
// scan            | COUNT                    | BEFORE            | BEFORE: an offset each 32 entries
// canonical_sum   | sorted col, val; BITS    | col, val          | those
// canonical_rows  | row_ptr; BITS, BEFORE    | row_ptr           | those
#include "host/src/core/check.h"
#include "host/src/core/limits.h"
#include "host/src/core/make.h"
#include "host/src/core/variants.h"
#include "host/src/matrix/device_csr.h"
#include "host/src/matrix/sync.h"
#include "host/src/matrix/validate.h"
#include "host/src/primitive/part.h"
#include "host/src/primitive/scan.h"

#include <stdlib.h>
#include <weft/canonical.h>

#define CANONICAL_WG  256
#define CANONICAL_IPT 16    // entries per work-item and tile (GPU)
#define CPU_CHUNK     16384 // least entries of a chunk (CPU)

enum { HEADS, SUM, ROWS, NKERNELS };
enum { FOUND, COL, VAL, BITS, COUNT, BEFORE, NBUFFERS };
static const struct weft__kernel_spec specs[NKERNELS] = {
    [HEADS] = {"canonical_heads", {"matrix/canonical.cl", "matrix/begins.clh"}},
    [SUM] = {"canonical_sum", {"matrix/canonical.cl", "matrix/begins.clh"}},
    [ROWS] = {"canonical_rows", {"matrix/canonical.cl", "matrix/begins.clh"}},
};

struct weft_canonical_plan {
    struct weft_context *ctx;
    struct weft_shape shape;
    struct weft_canonical_info info;
    struct weft__kernel *k[NKERNELS]; // all NULL with `keep`
    cl_mem b[NBUFFERS];
    size_t wg;
    struct weft_validate_plan *validate; // NULL with `always`
    struct weft_segsort_plan *sort;
    struct weft_scan_plan *scan; // NULL with `keep`
};

static const struct weft_segsort_params *sort_params(int64_t m)
{
    static const struct weft_segsort_params rows = {.whole = WEFT_SEGSORT_WHOLE_MERGE};
    return m == 1 ? NULL : &rows;
}

static const struct weft_scan_params scan_params = {.total = 1, .algo = WEFT_SCAN_ALGO_THREE};

static enum weft_scan_type scan_type(enum weft_ofs ofs)
{
    return ofs == WEFT_OFS_64 ? WEFT_SCAN_TYPE_I32_I64 : WEFT_SCAN_TYPE_I32;
}

static size_t words_of(int64_t nnz)
{
    return weft__ceil_div((size_t)nnz, 32);
}

static void buffers_need(struct weft__scratch out[NBUFFERS], struct weft_shape shape,
                         const struct weft_canonical_params *p)
{
    const size_t entries = p->keep ? 0 : (size_t)shape.nnz, words = p->keep ? 0 : words_of(shape.nnz);
    static const char what[] = "canonical: workspace";
    out[FOUND] = (struct weft__scratch){p->always ? 0 : 2 * sizeof(cl_long), what, false};
    out[COL] = (struct weft__scratch){weft__mul(entries, 4), what, false};
    out[VAL] = (struct weft__scratch){weft__mul(entries, weft_type_bytes(shape.type)), what, false};
    out[BITS] = (struct weft__scratch){weft__mul(words, 4), what, false};
    out[COUNT] = (struct weft__scratch){weft__mul(words, 4), what, false};
    out[BEFORE] = (struct weft__scratch){words ? weft__mul(words + 1, weft_ofs_bytes(shape.ofs)) : 0, what, false};
}

static weft_status info_resolve(struct weft_canonical_info *info, struct weft_context *ctx, struct weft_shape shape,
                                const struct weft_canonical_params *params)
{
    *info = (struct weft_canonical_info){.schedule = ctx->schedule};
    if (params)
        info->params = *params;
    const struct weft_canonical_params *p = &info->params;
    struct weft__scratch needs[NBUFFERS];
    struct weft_error err = {0};
    size_t sort = 0, scan = 0, validate = 0;
    weft_status status = weft__shape_check(ctx, shape);
    if (!status && weft__threads_check(&err, p->threads))
        status = weft__fail(ctx, WEFT_EINVAL, "%s", err.text);
    if (!status && !p->keep && shape.type == WEFT_TYPE_F64 && !ctx->device.fp64)
        status = weft__fail(ctx, WEFT_EUNSUPPORTED, "canonical: %s has no double precision", ctx->device.name);
    if (!status)
        status = weft_segsort_workspace(&sort, ctx, WEFT_KEY_I32, (int)weft_type_bytes(shape.type), shape.ofs,
                                        shape.nnz, sort_params(shape.m));
    if (!status && !p->keep)
        status = weft_scan_workspace(&scan, ctx, scan_type(shape.ofs), (int64_t)words_of(shape.nnz), &scan_params);
    if (!status && !p->always)
        status = weft_validate_workspace(&validate, ctx, shape.ofs);
    if (status)
        return status;
    buffers_need(needs, shape, p);
    info->workspace_bytes = weft__add(weft__scratch_bytes(needs, NBUFFERS), weft__add(sort, weft__add(scan, validate)));
    return WEFT_OK;
}

weft_status weft_canonical_workspace(size_t *out_bytes, struct weft_context *ctx, struct weft_shape shape,
                                     const struct weft_canonical_params *params)
{
    struct weft_canonical_info info;
    weft_status status = WEFT__NEED_IN(ctx, {"out_bytes", out_bytes});
    if (!status)
        status = info_resolve(&info, ctx, shape, params);
    if (out_bytes)
        *out_bytes = status ? 0 : info.workspace_bytes;
    return status;
}

static void canonical_define(struct weft__defines *d, enum weft_schedule schedule, size_t wg, enum weft_type type,
                             enum weft_ofs ofs)
{
    weft__define(d, "WEFT_WG", "%zu", wg);
    weft__define(d, "WEFT_IPT", "%d", CANONICAL_IPT);
    weft__define(d, "MATRIX_CHUNKED", "%d", schedule == WEFT_SCHEDULE_CPU);
    weft__define_types(d, type, ofs);
}

static weft_status parts_create(struct weft_canonical_plan *plan)
{
    struct weft_context *ctx = plan->ctx;
    const struct weft_canonical_params *p = &plan->info.params;
    struct weft__make make = {.ctx = ctx};
    struct weft__scratch needs[NBUFFERS];
    struct weft__defines d = {0};
    plan->wg = ctx->schedule == WEFT_SCHEDULE_CPU ? 1 : (size_t)weft__wg_lower(ctx, CANONICAL_WG);
    canonical_define(&d, ctx->schedule, plan->wg, plan->shape.type, plan->shape.ofs);
    for (int i = 0; i < NKERNELS && !p->keep; i++)
        weft__make_kernel(&make, &plan->k[i], &specs[i], &d);
    buffers_need(needs, plan->shape, p);
    weft__make_buffers(&make, plan->b, needs, NBUFFERS);
    if (!make.status)
        make.status = weft_segsort_plan_create(&plan->sort, ctx, WEFT_KEY_I32, (int)weft_type_bytes(plan->shape.type),
                                               plan->shape.ofs, plan->shape.nnz, sort_params(plan->shape.m));
    if (!make.status && !p->keep)
        make.status = weft_scan_plan_create(&plan->scan, ctx, scan_type(plan->shape.ofs),
                                            (int64_t)words_of(plan->shape.nnz), &scan_params);
    if (!make.status && !p->always)
        make.status = weft_validate_plan_create(&plan->validate, ctx, plan->shape.ofs);
    return make.status;
}

static weft_status plan_create(struct weft_canonical_plan **out, struct weft_context *ctx, struct weft_shape shape,
                               const struct weft_canonical_params *params)
{
    struct weft_canonical_info info;
    if (out)
        *out = NULL;
    weft_status status = WEFT__NEED_IN(ctx, {"out", out});
    if (!status)
        status = info_resolve(&info, ctx, shape, params);
    if (status)
        return status;
    struct weft__make make = {.ctx = ctx};
    struct weft_canonical_plan *plan = weft__make_memory(&make, sizeof *plan, "a canonical plan");
    if (!plan)
        return make.status;
    *plan = (struct weft_canonical_plan){.ctx = ctx, .shape = shape, .info = info};
    status = parts_create(plan);
    if (status)
        weft_canonical_plan_destroy(&plan);
    *out = plan;
    return status;
}

weft_status weft_canonical_plan_create(struct weft_canonical_plan **out, struct weft_context *ctx,
                                       struct weft_shape shape, const struct weft_canonical_params *params)
{
    weft_status status;
    WEFT__LIMITED(status, ctx, plan_create(out, ctx, shape, params));
    return status;
}

const struct weft_canonical_info *weft_canonical_plan_info(const struct weft_canonical_plan *plan)
{
    return plan ? &plan->info : NULL;
}

void weft_canonical_plan_destroy(struct weft_canonical_plan **plan)
{
    if (!plan || !*plan)
        return;
    struct weft_canonical_plan *p = *plan;
    weft__parts_release(p->k, NKERNELS, p->b, NBUFFERS);
    weft_validate_plan_destroy(&p->validate);
    weft_segsort_plan_destroy(&p->sort);
    weft_scan_plan_destroy(&p->scan);
    free(p);
    *plan = NULL;
}

// Entries of a matrix, and whether two have the same.
struct entries {
    cl_mem col, val;
};

static bool is_same(const struct weft_device_csr *a, const struct weft_device_csr *b)
{
    return a->row_ptr == b->row_ptr && a->col == b->col && a->val == b->val;
}

static weft_status matrices_check(const struct weft_canonical_plan *plan, const struct weft_device_csr *out,
                                  const struct weft_device_csr *a)
{
    weft_status status = WEFT__NEED_IN(plan->ctx, {"out", out}, {"a", a});
    if (!status)
        status = weft__matrix_check(plan->ctx, "the input", a, plan->shape);
    if (!status)
        status = weft__matrix_check(plan->ctx, "the output", out, plan->shape);
    return status || is_same(a, out) ? status : weft__check_apart(plan->ctx, a, out);
}

static void entries_copy(const struct weft_canonical_plan *plan, struct weft__stream *s, struct entries to,
                         struct entries from)
{
    weft__stream_copy(s, to.col, 0, from.col, (size_t)plan->shape.nnz * 4);
    weft__stream_copy(s, to.val, 0, from.val, (size_t)plan->shape.nnz * weft_type_bytes(plan->shape.type));
}

static size_t groups_for(const struct weft_canonical_plan *plan, size_t count)
{
    const size_t units = weft__max(1, (size_t)plan->ctx->device.compute_units);
    if (plan->info.schedule == WEFT_SCHEDULE_CPU)
        return weft__min(weft__ceil_div(count, CPU_CHUNK), 8 * units);
    return weft__groups(weft__ceil_div(count, plan->wg * CANONICAL_IPT), plan->wg);
}

// Sums of sorted entries into `out`, whose entries are others.
static void sum_enqueue(struct weft_canonical_plan *plan, struct weft__stream *s, const struct weft_device_csr *out,
                        cl_mem row_ptr, struct entries from)
{
    const size_t entries = groups_for(plan, (size_t)plan->shape.nnz);
    const cl_int rows = (cl_int)plan->shape.m;
    const cl_ulong m = (cl_ulong)plan->shape.m, nnz = (cl_ulong)plan->shape.nnz;
    cl_mem val = from.val ? from.val : from.col, out_val = out->val ? out->val : out->col; // not touched in a pattern
    if (!s->status)
        s->status = WEFT__PARTS_BIND(plan->ctx, plan->k, NKERNELS, WEFT__ARG(bits, plan->b[BITS]),
                                     WEFT__ARG(before, plan->b[BEFORE]), WEFT__ARG(count, plan->b[COUNT]),
                                     WEFT__ARG(row_ptr), WEFT__ARG(col, from.col), WEFT__ARG(val), WEFT__ARG(nnz));
    WEFT__LAUNCH(s, plan->k[HEADS], entries, plan->wg, WEFT__ARG(m, rows));
    weft__scan_enqueue(plan->scan, s, plan->b[COUNT], plan->b[BEFORE], words_of(plan->shape.nnz));
    WEFT__LAUNCH(s, plan->k[SUM], entries, plan->wg, WEFT__ARG(out_col, out->col), WEFT__ARG(out_val));
    WEFT__LAUNCH(s, plan->k[ROWS], groups_for(plan, (size_t)m + 1), plan->wg, WEFT__ARG(out_ptr, out->row_ptr),
                 WEFT__ARG(m));
}

// What is wrong with the order of columns, as far as it matters: with `always` anything may be.
static weft_status fault_ask(struct weft_canonical_plan *plan, cl_command_queue queue, const struct weft_device_csr *a,
                             cl_uint nwait, const cl_event *wait, enum weft_fault *fault)
{
    int64_t at = 0;
    weft_status status = weft__validate_ask(plan->validate, queue, plan->b[FOUND], a,
                                            plan->info.params.keep ? WEFT_COLUMNS_ASCENDING : WEFT_COLUMNS_UNIQUE,
                                            nwait, wait, fault, &at);
    if (!status && *fault == WEFT_FAULT_DUPLICATE) { // the first; columns may descend behind it
        status =
            weft__validate_ask(plan->validate, queue, plan->b[FOUND], a, WEFT_COLUMNS_ASCENDING, 0, NULL, fault, &at);
        if (*fault == WEFT_FAULT_NONE)
            *fault = WEFT_FAULT_DUPLICATE;
    }
    if (!status && *fault != WEFT_FAULT_NONE && *fault < WEFT_FAULT_ORDER)
        status = weft__fail(plan->ctx, WEFT_EMATRIX, "canonical: the arrays contradict each other: fault '%s' at %lld",
                            weft_fault_name(*fault), (long long)at);
    return status;
}

weft_status weft_canonical_run(struct weft_canonical_plan *plan, cl_command_queue queue,
                               const struct weft_device_csr *out, const struct weft_device_csr *a, cl_uint nwait,
                               const cl_event *wait, cl_event *event)
{
    weft__event_none(event);
    if (!plan)
        return WEFT_EINVAL;
    struct weft_context *ctx = plan->ctx;
    struct weft__stream stream;
    enum weft_fault fault = plan->shape.nnz ? WEFT_FAULT_ORDER : WEFT_FAULT_NONE;
    weft_status status = matrices_check(plan, out, a);
    if (!status) // queue and wait list, before anything is enqueued
        status = weft__stream_begin(&stream, ctx, queue, nwait, wait, event);
    if (!status && plan->shape.nnz && plan->validate) {
        status = fault_ask(plan, queue, a, nwait, wait, &fault);
        stream.nwait = 0; // these have ended
        stream.wait = NULL;
    }
    if (status)
        return status;
    const bool same = is_same(a, out), keep = plan->info.params.keep;
    struct entries from = {a->col, a->val}, to = {out->col, out->val}, tmp = {plan->b[COL], plan->b[VAL]};
    if (fault == WEFT_FAULT_ORDER) {
        if (!keep)
            to = tmp;
        weft__segsort_enqueue(plan->sort, &stream, to.col, to.val, from.col, from.val, plan->shape.nnz, a->row_ptr,
                              plan->shape.m);
        from = to;
    }
    if (fault == WEFT_FAULT_DUPLICATE && same) {
        entries_copy(plan, &stream, tmp, from);
        from = tmp;
    }
    if (fault != WEFT_FAULT_NONE && !keep)
        sum_enqueue(plan, &stream, out, a->row_ptr, from);
    else if (!same)
        weft__stream_copy(&stream, out->row_ptr, 0, a->row_ptr,
                          ((size_t)plan->shape.m + 1) * weft_ofs_bytes(plan->shape.ofs));
    if (fault == WEFT_FAULT_NONE && !same)
        entries_copy(plan, &stream, to, from);
    return weft__stream_end(&stream);
}

weft_status weft_canonical_nnz_sync(int64_t *out, struct weft_context *ctx, cl_command_queue queue,
                                    const struct weft_device_csr *a)
{
    int32_t narrow = 0;
    if (out)
        *out = 0;
    weft_status status = WEFT__NEED_IN(ctx, {"out", out}, {"a", a});
    if (!status)
        status = weft__queue_check(ctx, queue);
    if (!status)
        status = weft__shape_check(ctx, weft_device_csr_shape(a));
    if (status)
        return status;
    const size_t ofs = weft_ofs_bytes(a->ofs);
    status = weft__fail_cl(ctx, weft__cl.clFinish(queue), "clFinish");
    if (!status)
        status = weft__copy_out_from(ctx, queue, ofs == 8 ? (void *)out : (void *)&narrow, a->row_ptr,
                                     (size_t)a->m * ofs, ofs);
    if (ofs == 4)
        *out = narrow;
    return status;
}

weft_status weft_canonical_sync(struct weft_csr *out, struct weft_context *ctx, const struct weft_csr *a,
                                const struct weft_canonical_params *params)
{
    struct weft__sync sync = {.ctx = ctx};
    struct weft_canonical_plan *plan = NULL;
    int64_t nnz = 0;
    weft_status status = weft__sync_check(ctx, out, a);
    if (status)
        return status;
    sync.status = weft_canonical_plan_create(&plan, ctx, weft_csr_shape(a), params);
    weft__sync_begin(&sync, out, weft_csr_shape(a));
    weft__sync_csr(&sync, a);
    if (!sync.status)
        sync.status = weft_canonical_run(plan, sync.queue, &sync.to, &sync.from, 0, NULL, NULL);
    if (!sync.status)
        sync.status = weft_canonical_nnz_sync(&nnz, ctx, sync.queue, &sync.to);
    if (!sync.status)
        out->nnz = sync.to.nnz = nnz;
    status = weft__sync_end(&sync);
    weft_canonical_plan_destroy(&plan);
    return status;
}

void weft__canonical_variants(weft__variant_fn *fn, void *arg)
{
    for (int gpu = 0; gpu <= 1; gpu++)
        for (int ofs = WEFT_OFS_32; ofs <= WEFT_OFS_64; ofs++)
            for (int type = WEFT_TYPE_F32; type <= WEFT_TYPE_PATTERN; type++)
                for (int i = 0; i < NKERNELS; i++) {
                    struct weft__variant v = {.spec = &specs[i], .fp64 = type == WEFT_TYPE_F64};
                    v.schedule = gpu ? WEFT_SCHEDULE_GPU : WEFT_SCHEDULE_CPU;
                    if (i != SUM && type != WEFT_TYPE_F32) // values are summed there alone
                        continue;
                    canonical_define(&v.defines, v.schedule, gpu ? CANONICAL_WG : 1, (enum weft_type)type,
                                     (enum weft_ofs)ofs);
                    fn(arg, &v);
                }
}
