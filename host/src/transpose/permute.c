// SPDX-License-Identifier: Apache-2.0
// Permuting on a device: lengths of the rows in their new order, a scan of them to row pointers, their expansion to a
// row index for each entry, a gather of the entries; and where columns move, a segmented sort of the rows.
#include "host/src/core/check.h"
#include "host/src/core/make.h"
#include "host/src/core/limits.h"
#include "host/src/core/variants.h"
#include "host/src/matrix/device_csr.h"
#include "host/src/matrix/sync.h"
#include "host/src/primitive/part.h"
#include "host/src/primitive/scan.h"
#include "host/src/transpose/trial.h"

#include <stdlib.h>
#include <weft/permute.h>

#define PERMUTE_WG  256
#define PERMUTE_IPT 4     // elements per work-item (GPU)
#define CPU_CHUNK   16384 // least elements of a chunk (CPU)

enum { LENGTHS, ENTRIES, GATHER32, GATHER64, NKERNELS };
static const struct weft__kernel_spec specs[NKERNELS] = {
    [LENGTHS] = {"permute_lengths", {"transpose/permute.cl"}},
    [ENTRIES] = {"permute_entries", {"transpose/permute.cl"}},
    [GATHER32] = {"gather32", {"transpose/gather.cl"}},
    [GATHER64] = {"gather64", {"transpose/gather.cl"}},
};
// Maps of a permutation, at 2*side + back, and the row of each entry of the result.
enum { MAP_ROW, MAP_ROW_INV, MAP_COL, MAP_COL_INV, OUT_ROW, NBUFFERS };

struct weft_permute_plan {
    struct weft_context *ctx;
    struct weft_shape shape;
    struct weft_permute_info info;
    struct weft__kernel *k[NKERNELS];
    cl_mem b[NBUFFERS];
    size_t wg; // of the kernels
    struct weft_scan_plan *scan;
    struct weft_expand_plan *expand;
    struct weft_segsort_plan *sort; // NULL: rows keep the order of their entries
};

static void permute_define(struct weft__defines *d, enum weft_schedule schedule, size_t wg, enum weft_type type,
                           enum weft_ofs ofs, int cols)
{
    weft__define(d, "WEFT_OFS_BITS", "%d", ofs == WEFT_OFS_64 ? 64 : 32);
    weft__define(d, "WEFT_VAL_BITS", "%d", (int)weft_type_bytes(type) * 8); // values are moved, whatever they are
    weft__define(d, "WEFT_WG", "%zu", wg);
    weft__define(d, "PERMUTE_CHUNKED", "%d", schedule == WEFT_SCHEDULE_CPU);
    weft__define(d, "PERMUTE_COLS", "%d", cols);
}

// The defines of transpose/gather.cl for a map of 32-bit indices.
static void gather_define(struct weft__defines *d, enum weft_schedule schedule, size_t wg)
{
    weft__define(d, "WEFT_OFS_BITS", "%d", 32);
    weft__define(d, "WEFT_WG", "%zu", wg);
    weft__define(d, "GATHER_CHUNKED", "%d", schedule == WEFT_SCHEDULE_CPU);
}

// A map to the device; 0, 1, 2, ... where the permutation has none.
static weft_status map_write(struct weft_context *ctx, cl_command_queue queue, cl_mem to, const int32_t *map,
                             int64_t count)
{
    int32_t *identity = NULL;
    if (!map && count) {
        identity = malloc((size_t)count * sizeof *identity);
        if (!identity)
            return weft__fail(ctx, WEFT_ENOMEM, "out of host memory for a map of %lld", (long long)count);
        for (int64_t i = 0; i < count; i++)
            identity[i] = (int32_t)i;
    }
    weft_status status = weft__copy_in(ctx, queue, to, map ? map : identity, (size_t)count * 4);
    free(identity);
    return status;
}

static weft_status maps_write(struct weft_permute_plan *plan, const struct weft_permutation *p)
{
    const int32_t *const maps[] = {p->row, p->row_inv, p->col, p->col_inv};
    cl_command_queue queue = NULL;
    weft_status status = weft__queue_create(&queue, plan->ctx);
    for (int i = MAP_ROW; i <= MAP_COL_INV && !status; i++)
        status = map_write(plan->ctx, queue, plan->b[i], maps[i], i < MAP_COL ? p->m : p->n);
    weft__queue_release(&queue);
    return status;
}

static void needs_of(struct weft__scratch out[NBUFFERS], struct weft_shape shape)
{
    const size_t rows = weft__mul((size_t)shape.m, 4), columns = weft__mul((size_t)shape.n, 4);
    out[MAP_ROW] = out[MAP_ROW_INV] = (struct weft__scratch){rows, .what = "map of a permutation"};
    out[MAP_COL] = out[MAP_COL_INV] = (struct weft__scratch){columns, .what = "map of a permutation"};
    out[OUT_ROW] = (struct weft__scratch){weft__mul((size_t)shape.nnz, 4), .what = "row indices"};
}

// How the primitives run.
static enum weft_scan_type lengths_type(struct weft_shape shape)
{
    return shape.ofs == WEFT_OFS_64 ? WEFT_SCAN_TYPE_I64 : WEFT_SCAN_TYPE_I32;
}
static const struct weft_scan_params scan_params = {.total = true, .algo = WEFT_SCAN_ALGO_THREE};
static const struct weft_segsort_params sort_params = {.whole = WEFT_SEGSORT_WHOLE_MERGE};

static bool sorts(const struct weft_permutation *p, const struct weft_permute_params *params)
{
    return p->col && !(params && params->keep);
}

// Kernels, buffers and the plans of the primitives, and the bytes that they hold.
static weft_status parts_create(struct weft_permute_plan *plan, int cols)
{
    struct weft_context *ctx = plan->ctx;
    struct weft__make make = {.ctx = ctx};
    struct weft__defines d = {0}, g = {0};
    struct weft__scratch needs[NBUFFERS];
    needs_of(needs, plan->shape);
    weft__make_buffers(&make, plan->b, needs, NBUFFERS);
    plan->wg = ctx->schedule == WEFT_SCHEDULE_CPU ? 1 : (size_t)weft__wg_lower(ctx, PERMUTE_WG);
    permute_define(&d, ctx->schedule, plan->wg, plan->shape.type, plan->shape.ofs, cols);
    gather_define(&g, ctx->schedule, plan->wg);
    for (int i = 0; i < NKERNELS; i++)
        weft__make_kernel(&make, &plan->k[i], &specs[i], i < GATHER32 ? &d : &g);
    if (!make.status)
        make.status = weft_scan_plan_create(&plan->scan, ctx, lengths_type(plan->shape), plan->shape.m, &scan_params);
    if (!make.status)
        make.status =
            weft_expand_plan_create(&plan->expand, ctx, plan->shape.m, plan->shape.nnz, plan->shape.ofs, NULL);
    if (!make.status && plan->info.sorts)
        make.status = weft_segsort_plan_create(&plan->sort, ctx, WEFT_KEY_I32, (int)weft_type_bytes(plan->shape.type),
                                               plan->shape.ofs, plan->shape.nnz, &sort_params);
    if (make.status)
        return make.status;
    plan->info.workspace_bytes = weft_scan_plan_info(plan->scan)->workspace_bytes +
                                 weft_expand_plan_info(plan->expand)->workspace_bytes + make.bytes;
    if (plan->sort)
        plan->info.workspace_bytes += weft_segsort_plan_info(plan->sort)->workspace_bytes;
    return WEFT_OK;
}

// The arguments that a plan and its workspace have in common.
static weft_status arguments_check(struct weft_context *ctx, struct weft_shape shape, const struct weft_permutation *p)
{
    struct weft_error err = {0};
    weft_status status = weft__permutation_check(&err, p);
    if (status)
        return weft__fail(ctx, status, "%s", err.text);
    status = weft__shape_check(ctx, shape);
    if (!status && (shape.m != p->m || shape.n != p->n))
        status = weft__fail(ctx, WEFT_EINVAL, "the matrix is %lld x %lld, the permutation is of %lld x %lld",
                            (long long)shape.m, (long long)shape.n, (long long)p->m, (long long)p->n);
    return status;
}

weft_status weft_permute_workspace(size_t *out_bytes, struct weft_context *ctx, struct weft_shape shape,
                                   const struct weft_permutation *p, const struct weft_permute_params *params)
{
    struct weft__scratch needs[NBUFFERS];
    size_t scan = 0, expand = 0, sort = 0;
    weft_status status = WEFT__NEED_IN(ctx, {"out_bytes", out_bytes});
    if (out_bytes)
        *out_bytes = 0;
    if (!status)
        status = arguments_check(ctx, shape, p);
    if (!status)
        status = weft_scan_workspace(&scan, ctx, lengths_type(shape), shape.m, &scan_params);
    if (!status)
        status = weft_expand_workspace(&expand, ctx, shape.m, shape.nnz, shape.ofs, NULL);
    if (!status && sorts(p, params))
        status = weft_segsort_workspace(&sort, ctx, WEFT_KEY_I32, (int)weft_type_bytes(shape.type), shape.ofs,
                                        shape.nnz, &sort_params);
    if (status)
        return status;
    needs_of(needs, shape);
    *out_bytes = weft__add(weft__scratch_bytes(needs, NBUFFERS), weft__add(scan, weft__add(expand, sort)));
    return WEFT_OK;
}

static weft_status plan_create(struct weft_permute_plan **out, struct weft_context *ctx, struct weft_shape shape,
                               const struct weft_permutation *p, const struct weft_permute_params *params)
{
    if (out)
        *out = NULL;
    weft_status status = WEFT__NEED_IN(ctx, {"out", out});
    if (!status)
        status = arguments_check(ctx, shape, p);
    if (status)
        return status;
    struct weft__make make = {.ctx = ctx};
    struct weft_permute_plan *plan = weft__make_memory(&make, sizeof *plan, "a permutation");
    if (!plan)
        return make.status;
    *plan = (struct weft_permute_plan){.ctx = ctx, .shape = shape};
    plan->info.schedule = ctx->schedule;
    if (params)
        plan->info.params = *params;
    plan->info.sorts = sorts(p, params);
    status = parts_create(plan, p->col != NULL);
    if (!status)
        status = maps_write(plan, p);
    if (status)
        weft_permute_plan_destroy(&plan);
    *out = plan;
    return status;
}

weft_status weft_permute_plan_create(struct weft_permute_plan **out, struct weft_context *ctx, struct weft_shape shape,
                                     const struct weft_permutation *p, const struct weft_permute_params *params)
{
    weft_status status;
    WEFT__LIMITED(status, ctx, plan_create(out, ctx, shape, p, params));
    if (!status)
        status = weft__permute_trial(ctx, shape.type, shape.ofs, &(*out)->info);
    if (status && out)
        weft_permute_plan_destroy(out);
    return status;
}

// Work-groups for `count` elements.
static size_t groups_for(const struct weft_permute_plan *plan, size_t count)
{
    const struct weft_context *ctx = plan->ctx;
    if (ctx->schedule == WEFT_SCHEDULE_CPU)
        return weft__min(weft__ceil_div(count, CPU_CHUNK), 8 * (size_t)weft__max(1, (size_t)ctx->device.compute_units));
    return weft__groups(weft__ceil_div(count, plan->wg * PERMUTE_IPT), plan->wg);
}

static weft_status matrices_check(const struct weft_permute_plan *plan, const struct weft_device_csr *a,
                                  const struct weft_device_csr *out)
{
    weft_status status = weft__matrix_check(plan->ctx, "the input", a, plan->shape);
    if (!status)
        status = weft__matrix_check(plan->ctx, "the output", out, plan->shape);
    return status ? status : weft__check_apart(plan->ctx, a, out);
}

weft_status weft_permute_run(struct weft_permute_plan *plan, cl_command_queue queue, const struct weft_device_csr *out,
                             const struct weft_device_csr *a, cl_uint nwait, const cl_event *wait, cl_event *event)
{
    weft__event_none(event);
    if (!plan)
        return WEFT_EINVAL;
    struct weft_context *ctx = plan->ctx;
    struct weft__stream stream;
    cl_ulong m = (cl_ulong)plan->shape.m, nnz = (cl_ulong)plan->shape.nnz;
    size_t wg = plan->wg;
    weft_status status = WEFT__NEED_IN(ctx, {"a", a}, {"out", out});
    if (!status)
        status = matrices_check(plan, a, out);
    if (!status)
        status = weft__stream_begin(&stream, ctx, queue, nwait, wait, event);
    if (status)
        return status;
    cl_mem row = plan->b[MAP_ROW], col_inv = plan->b[MAP_COL_INV];
    WEFT__LAUNCH(&stream, plan->k[LENGTHS], groups_for(plan, m), wg, WEFT__ARG(row), WEFT__ARG(row_ptr, a->row_ptr),
                 WEFT__ARG(lengths, out->row_ptr), WEFT__ARG(m));
    weft__scan_enqueue(plan->scan, &stream, out->row_ptr, out->row_ptr, m);
    if (!nnz)
        return weft__stream_end(&stream);
    weft__expand_enqueue(plan->expand, &stream, plan->b[OUT_ROW], out->row_ptr, m, nnz);
    cl_mem val = a->val ? a->val : a->col, out_val = out->val ? out->val : out->col; // not touched in a pattern
    WEFT__LAUNCH(&stream, plan->k[ENTRIES], groups_for(plan, nnz), wg, WEFT__ARG(row), WEFT__ARG(col_inv),
                 WEFT__ARG(row_ptr, a->row_ptr), WEFT__ARG(col, a->col), WEFT__ARG(val),
                 WEFT__ARG(out_ptr, out->row_ptr), WEFT__ARG(out_row, plan->b[OUT_ROW]), WEFT__ARG(out_col, out->col),
                 WEFT__ARG(out_val), WEFT__ARG(nnz));
    if (plan->sort)
        weft__segsort_enqueue(plan->sort, &stream, out->col, out->val, out->col, out->val, plan->shape.nnz,
                              out->row_ptr, plan->shape.m);
    return weft__stream_end(&stream);
}

weft_status weft_permute_vector_run(struct weft_permute_plan *plan, cl_command_queue queue, cl_mem out, cl_mem in,
                                    enum weft_permute_side side, bool back, enum weft_type type, cl_uint nwait,
                                    const cl_event *wait, cl_event *event)
{
    weft__event_none(event);
    if (!plan)
        return WEFT_EINVAL;
    struct weft_context *ctx = plan->ctx;
    struct weft__stream stream;
    if (side != WEFT_PERMUTE_SIDE_ROWS && side != WEFT_PERMUTE_SIDE_COLS)
        return weft__fail(ctx, WEFT_EINVAL, "side %d is neither rows nor columns", (int)side);
    if ((int)type < 0 || type >= WEFT_TYPE_PATTERN)
        return weft__fail(ctx, WEFT_EINVAL, "type %d is not a type of vectors", (int)type);
    cl_ulong count = (cl_ulong)(side == WEFT_PERMUTE_SIDE_ROWS ? plan->shape.m : plan->shape.n);
    size_t bytes = weft__mul(count, weft_type_bytes(type));
    weft_status status = weft__check_buffer(ctx, in, bytes, "in");
    if (!status)
        status = weft__check_buffer(ctx, out, bytes, "out");
    if (!status && count && in == out)
        status = weft__fail(ctx, WEFT_EINVAL, "in and out are the same buffer");
    if (!status)
        status = weft__stream_begin(&stream, ctx, queue, nwait, wait, event);
    if (status)
        return status;
    int wide = weft_type_bytes(type) == 8;
    WEFT__LAUNCH(&stream, plan->k[wide ? GATHER64 : GATHER32], groups_for(plan, count), plan->wg,
                 WEFT__ARG(from, plan->b[2 * (int)side + (back != 0)]), WEFT__ARG(in), WEFT__ARG(out),
                 WEFT__ARG(count));
    return weft__stream_end(&stream);
}

const struct weft_permute_info *weft_permute_plan_info(const struct weft_permute_plan *plan)
{
    return plan ? &plan->info : NULL;
}

void weft_permute_plan_destroy(struct weft_permute_plan **plan)
{
    if (!plan || !*plan)
        return;
    struct weft_permute_plan *p = *plan;
    weft__parts_release(p->k, NKERNELS, p->b, NBUFFERS);
    weft_scan_plan_destroy(&p->scan);
    weft_expand_plan_destroy(&p->expand);
    weft_segsort_plan_destroy(&p->sort);
    free(p);
    *plan = NULL;
}

weft_status weft_permute_sync(struct weft_csr *out, struct weft_context *ctx, const struct weft_csr *a,
                              const struct weft_permutation *p, const struct weft_permute_params *params)
{
    struct weft_error err = {0};
    struct weft__sync sync = {.ctx = ctx};
    struct weft_permute_plan *plan = NULL;
    weft_status status = weft__sync_check(ctx, out, a);
    if (!status && (status = weft__permutation_check(&err, p)))
        status = weft__fail(ctx, status, "%s", err.text);
    if (status)
        return status;
    if (a->m != p->m || a->n != p->n)
        return weft__fail(ctx, WEFT_EINVAL,
                          "the permutation is of %lld rows and %lld columns, the matrix has %lld and %lld",
                          (long long)p->m, (long long)p->n, (long long)a->m, (long long)a->n);
    sync.status = weft_permute_plan_create(&plan, ctx, weft_csr_shape(a), p, params);
    weft__sync_begin(&sync, out, weft_csr_shape(a));
    weft__sync_csr(&sync, a);
    if (!sync.status)
        sync.status = weft_permute_run(plan, sync.queue, &sync.to, &sync.from, 0, NULL, NULL);
    status = weft__sync_end(&sync);
    weft_permute_plan_destroy(&plan);
    return status;
}

void weft__permute_variants(weft__variant_fn *fn, void *arg)
{
    static const enum weft_schedule schedules[] = {WEFT_SCHEDULE_GPU, WEFT_SCHEDULE_CPU};
    static const enum weft_type types[] = {WEFT_TYPE_F32, WEFT_TYPE_F64, WEFT_TYPE_PATTERN};
    for (int s = 0; s < 2; s++)
        for (int ofs = WEFT_OFS_32; ofs <= WEFT_OFS_64; ofs++)
            for (int cols = 0; cols < 2; cols++)
                for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
                    struct weft__variant v = {.spec = &specs[ENTRIES], .schedule = schedules[s]};
                    permute_define(&v.defines, schedules[s], s ? 1 : PERMUTE_WG, types[t], (enum weft_ofs)ofs, cols);
                    fn(arg, &v);
                    v.spec = &specs[LENGTHS];
                    if (types[t] == WEFT_TYPE_F32 && !cols)
                        fn(arg, &v);
                }
}
