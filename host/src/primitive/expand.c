// SPDX-License-Identifier: Apache-2.0
// Expands row pointers to a row index for each entry, by tiles of rows and entries together.
#include "host/src/core/check.h"
#include "host/src/core/limits.h"
#include "host/src/core/make.h"
#include "host/src/core/tune.h"
#include "host/src/core/variants.h"
#include "host/src/primitive/part.h"
#include "host/src/primitive/trial.h"

#include <stdio.h>
#include <stdlib.h>

static const struct weft__kernel_spec cuts_spec = {"expand_cuts", {"expand/gpu.cl"}};
static const struct weft__kernel_spec tiles_spec = {"expand_tiles", {"expand/gpu.cl"}};
static const struct weft__kernel_spec cpu_spec = {"expand_cpu", {"expand/cpu.cl"}};

struct weft_tune_expand {
    struct weft__tune_key key;
    int wg, ipt;
    int groups; // CPU: for each compute unit
};
static const struct weft_tune_expand tune_table[] = {
    {{WEFT_SCHEDULE_GPU, NULL, 0, NULL, "not measured"}, 256, 8, 1 << 22},
    // 2026-11-22, one NVIDIA H200, uniform:500000,500000,40000000: 0.1056 ms, the best of 22 points of weft-bench -o
    // expand --sweep; 0.1064 to 0.112 from 12 entries each in groups of 64 to 256 on, 0.137 at 512 of 4.
    {{WEFT_SCHEDULE_GPU, "NVIDIA", 0, NULL, "swept on an H200"}, 128, 32, 1 << 22},
    // docs/log/amd-occupancy.md: the largest tiles that leave three quarters of the waves.
    {{WEFT_SCHEDULE_GPU, WEFT__VENDOR_AMD, 0, NULL, "from the ISA, not run: 28 of 32 waves"}, 256, 8, 1 << 22},
    {{WEFT_SCHEDULE_GPU, WEFT__VENDOR_AMD, 32, NULL, "from the ISA, not run: 56 of 64 waves"}, 256, 16, 1 << 22},
    // 2026-11-21, PoCL 3.1 on 2 shared cores of a Xeon, uniform:500000,500000,10000000: 2.5 ms, the best point of
    // weft-bench -o expand --sweep; 2.6 to 6.4 at the others.
    {{WEFT_SCHEDULE_CPU, NULL, 0, NULL, "swept with PoCL on 2 cores"}, 1, 16384, 16},
};

#define GPU(label, column) WEFT__TUNABLE(label, struct weft_expand_params, gpu.column, struct weft_tune_expand, column)
#define CPU(label, member, column)                                                                                     \
    WEFT__TUNABLE(label, struct weft_expand_params, cpu.member, struct weft_tune_expand, column)
static const struct weft__tunable gpu_values[] = {
    {GPU("wg", wg), .low = 32, .step = 32, .most = weft__tunable_wg, .lower = WEFT__LOWER_HALVE,
     .kept = WEFT__KEPT_FOUND, .sweep = {64, 128, 256, 512}, .help = "work-items per work-group"},
    {GPU("ipt", ipt), .low = 4, .high = 32, .step = 4, .lower = WEFT__LOWER_STEP, .kept = WEFT__KEPT_FOUND,
     .sweep = {4, 8, 12, 16, 24, 32}, .help = "rows plus positions per work-item"},
    {GPU("groups", groups), .low = 1, .high = INT32_MAX, .step = 1, .kept = WEFT__KEPT,
     .help = "most work-groups of one launch"},
};
static const struct weft__tunable cpu_values[] = {
    {CPU("wg", wg, wg), .low = 1, .high = 8, .step = 1, .most = weft__tunable_wg, .kept = WEFT__KEPT_FOUND,
     .sweep = {1, 8}, .help = "work-items per work-group"},
    {CPU("ipt", chunk, ipt), .low = 1, .high = 1 << 24, .step = 1, .kept = WEFT__KEPT_FOUND,
     .sweep = {1024, 16384, 262144}, .help = "least rows plus positions of a chunk"},
    {CPU("groups", chunks, groups), .low = 1, .high = INT32_MAX, .step = 1, .kept = WEFT__KEPT_FOUND,
     .sweep = {2, 8, 32, 128, 512}, .help = "most chunks; the default is for each compute unit"},
};
const struct weft__tunables weft__expand_tunables[] = {
    {"expand", NULL, WEFT_SCHEDULE_GPU, "expand", WEFT__TUNABLES(gpu_values), WEFT__TUNE_ROWS(tune_table)},
    {"expand", NULL, WEFT_SCHEDULE_CPU, "expand", WEFT__TUNABLES(cpu_values), WEFT__TUNE_ROWS(tune_table)},
    {0},
};

enum { FIND_CUTS, EXPAND, NKERNELS };

struct weft_expand_plan {
    struct weft_context *ctx;
    size_t m_max, nnz_max;
    enum weft_ofs ofs;
    struct weft_expand_info info;
    struct weft__kernel *k[NKERNELS]; // FIND_CUTS: GPU schedule only
    cl_mem cuts;                      // the same
};

static size_t tiles_of(const struct weft_expand_info *info, size_t m, size_t nnz)
{
    return weft__ceil_div(weft__add(m, nnz), (size_t)info->params.gpu.wg * (size_t)info->params.gpu.ipt);
}

// Local memory: a mark for each step, a maximum for each 32 work-items, wg words for lanes without a faster way.
static size_t tile_local(const void *of, const void *params)
{
    (void)of;
    const struct weft_expand_params *p = params;
    return 4 * ((size_t)p->gpu.wg * (size_t)p->gpu.ipt + (size_t)p->gpu.wg / 32 + (size_t)p->gpu.wg);
}

// Resolve defaults, check everything, count the scratch bytes.
static weft_status info_resolve(struct weft_expand_info *info, struct weft_context *ctx, int64_t m_max, int64_t nnz_max,
                                enum weft_ofs ofs, const struct weft_expand_params *params)
{
    const int gpu = ctx->schedule == WEFT_SCHEDULE_GPU;
    const struct weft__tunables *set = &weft__expand_tunables[!gpu];
    struct weft_tune_expand row = *WEFT__TUNE_FIND(ctx, tune_table);
    *info = (struct weft_expand_info){.params = *params, .schedule = ctx->schedule};
    struct weft_expand_params *p = &info->params;
    if (ofs != WEFT_OFS_32 && ofs != WEFT_OFS_64)
        return weft__fail(ctx, WEFT_EINVAL, "expand: there are no offsets %d", (int)ofs);
    if (nnz_max < 0)
        return weft__fail(ctx, WEFT_EINVAL, "expand: nnz_max is %lld", (long long)nnz_max);
    if (ofs == WEFT_OFS_32 && nnz_max > INT32_MAX)
        return weft__fail(ctx, WEFT_ERANGE, "expand: %lld positions exceed 32-bit offsets", (long long)nnz_max);
    const int given = weft__tunables_given(set, p);
    row.groups *= gpu || ctx->device.compute_units < 1 ? 1 : ctx->device.compute_units;
    weft_status status = weft__check_range(ctx, m_max, 0, INT32_MAX, 1, "expand: m_max");
    if (!status)
        status = weft__tunables_resolve(set, ctx, p, &row, gpu ? tile_local : NULL, NULL);
    if (status)
        return status;
    if (gpu)
        info->workspace_bytes = weft__mul(weft__add(tiles_of(info, (size_t)m_max, (size_t)nnz_max), 1), sizeof(cl_int));
    snprintf(info->why, sizeof info->why, "%s; %s",
             gpu ? "tiles of rows and positions per work-group" : "parts of rows and positions per work-item",
             given ? "tuning given by the caller" : row.key.source);
    return WEFT_OK;
}

static weft_status expand_info(struct weft_expand_info *info, struct weft_context *ctx, int64_t m_max, int64_t nnz_max,
                               enum weft_ofs ofs, const struct weft_expand_params *params)
{
    struct weft_expand_params p = params ? *params : (struct weft_expand_params){0};
    struct weft__tuned tuned =
        weft__tuned_begin(ctx, &weft__expand_tunables[ctx->schedule == WEFT_SCHEDULE_CPU], weft_ofs_bytes(ofs), &p);
    weft_status status;
    do
        status = info_resolve(info, ctx, m_max, nnz_max, ofs, &p);
    while (weft__tuned_again(&tuned, status, info->why, sizeof info->why));
    return status;
}

weft_status weft_expand_workspace(size_t *out_bytes, struct weft_context *ctx, int64_t m_max, int64_t nnz_max,
                                  enum weft_ofs ofs, const struct weft_expand_params *params)
{
    struct weft_expand_info info;
    weft_status status = WEFT__NEED_IN(ctx, {"out_bytes", out_bytes});
    if (!status)
        status = expand_info(&info, ctx, m_max, nnz_max, ofs, params);
    if (out_bytes)
        *out_bytes = status ? 0 : info.workspace_bytes;
    return status;
}

static void expand_define(struct weft__defines *d, int gpu, const struct weft_expand_params *p, enum weft_ofs ofs)
{
    weft__define(d, "WEFT_WG", "%d", gpu ? p->gpu.wg : p->cpu.wg);
    if (gpu)
        weft__define(d, "WEFT_IPT", "%d", p->gpu.ipt);
    weft__define(d, "WEFT_OFS_BITS", "%d", (int)weft_ofs_bytes(ofs) * 8);
}

static weft_status plan_create(struct weft_expand_plan **out, struct weft_context *ctx, int64_t m_max, int64_t nnz_max,
                               enum weft_ofs ofs, const struct weft_expand_params *params)
{
    if (out)
        *out = NULL;
    struct weft_expand_info info;
    weft_status status = WEFT__NEED_IN(ctx, {"out", out});
    if (!status)
        status = expand_info(&info, ctx, m_max, nnz_max, ofs, params);
    if (status)
        return status;
    struct weft__make make = {.ctx = ctx};
    struct weft_expand_plan *plan = weft__make_memory(&make, sizeof *plan, "an expand plan");
    if (!plan)
        return make.status;
    *plan = (struct weft_expand_plan){
        .ctx = ctx, .m_max = (size_t)m_max, .nnz_max = (size_t)nnz_max, .ofs = ofs, .info = info};
    int gpu = info.schedule == WEFT_SCHEDULE_GPU;
    struct weft__defines d = {0};
    expand_define(&d, gpu, &info.params, ofs);
    weft__make_kernel(&make, &plan->k[EXPAND], gpu ? &tiles_spec : &cpu_spec, &d);
    if (gpu)
        weft__make_kernel(&make, &plan->k[FIND_CUTS], &cuts_spec, &d);
    weft__make_buffers(&make, &plan->cuts,
                       &(const struct weft__scratch){info.workspace_bytes, "expand: workspace", false}, 1);
    if (make.status)
        weft_expand_plan_destroy(&plan);
    *out = plan;
    return make.status;
}

weft_status weft_expand_plan_create(struct weft_expand_plan **out, struct weft_context *ctx, int64_t m_max,
                                    int64_t nnz_max, enum weft_ofs ofs, const struct weft_expand_params *params)
{
    weft_status status;
    WEFT__LIMITED(status, ctx, plan_create(out, ctx, m_max, nnz_max, ofs, params));
    if (!status)
        status = weft__expand_trial(ctx, *out, m_max, nnz_max, ofs);
    if (status && out)
        weft_expand_plan_destroy(out);
    return status;
}

const struct weft_expand_info *weft_expand_plan_info(const struct weft_expand_plan *plan)
{
    return plan ? &plan->info : NULL;
}

void weft_expand_plan_destroy(struct weft_expand_plan **plan)
{
    if (!plan || !*plan)
        return;
    weft__parts_release((*plan)->k, NKERNELS, &(*plan)->cuts, 1);
    free(*plan);
    *plan = NULL;
}

static void run_gpu(struct weft_expand_plan *plan, struct weft__stream *s, size_t m, size_t nnz)
{
    size_t wg = (size_t)plan->info.params.gpu.wg;
    cl_ulong tiles = tiles_of(&plan->info, m, nnz);
    cl_uint has_cuts = tiles > 1;
    if (has_cuts)
        WEFT__LAUNCH(s, plan->k[FIND_CUTS], weft__groups(weft__ceil_div(tiles + 1, wg), wg), wg, WEFT__ARG(tiles));
    size_t groups = weft__min(weft__groups(tiles, wg), (size_t)plan->info.params.gpu.groups);
    WEFT__LAUNCH(s, plan->k[EXPAND], groups, wg, WEFT__ARG(tiles), WEFT__ARG(has_cuts));
}

static void run_cpu(struct weft_expand_plan *plan, struct weft__stream *s, size_t m, size_t nnz)
{
    const struct weft_expand_params *p = &plan->info.params;
    size_t steps = m + nnz, wg = (size_t)p->cpu.wg;
    cl_ulong chunk = weft__max((size_t)p->cpu.chunk, weft__ceil_div(steps, (size_t)p->cpu.chunks));
    WEFT__LAUNCH(s, plan->k[EXPAND], weft__ceil_div(weft__ceil_div(steps, chunk), wg), wg, WEFT__ARG(chunk));
}

void weft__expand_enqueue(struct weft_expand_plan *plan, struct weft__stream *stream, cl_mem row, cl_mem row_ptr,
                          size_t m, size_t nnz)
{
    const cl_int rows = (cl_int)m;
    const cl_long entries = (cl_long)nnz;
    if (!nnz || stream->status)
        return;
    stream->status = WEFT__PARTS_BIND(plan->ctx, plan->k, NKERNELS, WEFT__ARG(row_ptr), WEFT__ARG(row),
                                      WEFT__ARG(cuts, plan->cuts), WEFT__ARG(m, rows), WEFT__ARG(nnz, entries));
    if (plan->info.schedule == WEFT_SCHEDULE_GPU)
        run_gpu(plan, stream, m, nnz);
    else
        run_cpu(plan, stream, m, nnz);
}

weft_status weft_expand_run(struct weft_expand_plan *plan, cl_command_queue queue, cl_mem row, cl_mem row_ptr,
                            int64_t m, int64_t nnz, cl_uint nwait, const cl_event *wait, cl_event *event)
{
    weft__event_none(event);
    if (!plan)
        return WEFT_EINVAL;
    struct weft_context *ctx = plan->ctx;
    if (m < 0 || nnz < 0 || (uint64_t)m > plan->m_max || (uint64_t)nnz > plan->nnz_max)
        return weft__fail(ctx, WEFT_EINVAL, "expand: %lld rows and %lld positions, the plan is for 0..%zu and 0..%zu",
                          (long long)m, (long long)nnz, plan->m_max, plan->nnz_max);
    if (!m && nnz)
        return weft__fail(ctx, WEFT_EINVAL, "expand: %lld positions in no rows", (long long)nnz);
    const size_t pointers = nnz ? (size_t)m + 1 : 0; // with no positions nothing is read
    weft_status status =
        WEFT__BUFFERS(ctx, {"expand: row_ptr", row_ptr, weft__mul(pointers, weft_ofs_bytes(plan->ofs))},
                      {"expand: row", row, weft__mul((size_t)nnz, 4)});
    if (!status)
        status = WEFT__ALONE(ctx, {"expand: row", row, (size_t)nnz}, {"row_ptr", row_ptr, pointers});
    struct weft__stream stream;
    if (!status)
        status = weft__stream_begin(&stream, ctx, queue, nwait, wait, event);
    if (status)
        return status;
    weft__expand_enqueue(plan, &stream, row, row_ptr, (size_t)m, (size_t)nnz);
    return weft__stream_end(&stream);
}

void weft__expand_variants(weft__variant_fn *fn, void *arg)
{
    for (int gpu = 0; gpu <= 1; gpu++)
        for (int ofs = WEFT_OFS_32; ofs <= WEFT_OFS_64; ofs++) {
            struct weft_expand_params p = {.gpu = {.wg = 256, .ipt = 8}, .cpu.wg = 1};
            const struct weft__kernel_spec *specs[] = {gpu ? &tiles_spec : &cpu_spec, gpu ? &cuts_spec : NULL};
            for (size_t i = 0; i < 2 && specs[i]; i++) {
                struct weft__variant v = {.spec = specs[i], .schedule = gpu ? WEFT_SCHEDULE_GPU : WEFT_SCHEDULE_CPU};
                expand_define(&v.defines, gpu, &p, (enum weft_ofs)ofs);
                fn(arg, &v);
            }
        }
}
