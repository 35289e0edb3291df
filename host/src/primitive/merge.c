// SPDX-License-Identifier: Apache-2.0
// Merges two sorted arrays, or all pairs of neighbouring sorted blocks, by tiles of equal size.
#include "host/src/core/check.h"
#include "host/src/core/limits.h"
#include "host/src/core/make.h"
#include "host/src/primitive/key.h"
#include "host/src/core/tune.h"
#include "host/src/core/variants.h"
#include "host/src/primitive/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <weft/merge.h>

static const struct weft__kernel_spec cut_spec = {"merge_cut", {"merge/gpu.cl"}};
static const struct weft__kernel_spec tile_spec = {"merge_tile", {"merge/gpu.cl"}};
static const struct weft__kernel_spec chunk_spec = {"merge_chunk", {"merge/cpu.cl"}};

struct weft_tune_merge {
    struct weft__tune_key key;
    int wg, ipt, groups;
};
static const struct weft_tune_merge tune_table[] = {
    {{WEFT_SCHEDULE_GPU, NULL, 0, NULL, "not measured"}, 256, 8, 1 << 22},
    // 2026-11-22, one NVIDIA H200, 40 M keys, u32 + 4: small, large, two blocks 0.207, 0.235, 0.241 ms, the last two the
    // best of 18 points of weft-bench -o merge --sweep, the first 0.204 at 128 of 12; 0.210, 0.243, 0.250 at 256 of 8.
    {{WEFT_SCHEDULE_GPU, "NVIDIA", 0, NULL, "swept on an H200"}, 256, 12, 1 << 22},
    // docs/log/amd-occupancy.md: the largest tiles that leave three quarters of the waves.
    {{WEFT_SCHEDULE_GPU, WEFT__VENDOR_AMD, 0, NULL, "from the ISA, not run: 24 of 32 waves"}, 256, 7, 1 << 22},
    {{WEFT_SCHEDULE_GPU, WEFT__VENDOR_AMD, 32, NULL, "from the ISA, not run: 56 of 64 waves"}, 256, 12, 1 << 22},
    // 2026-11-21, PoCL 3.1 on 2 shared cores of a Xeon, uniform:500000,500000,4000000, u32 + 4: 36 ms of CPU time for
    // small, large and two together; 35 to 36 with 2, 8, 16 chunks and at wg 8, 40 with 977.
    {{WEFT_SCHEDULE_CPU, NULL, 0, NULL, "swept with PoCL on 2 cores"}, 1, 16384, 256},
};

#define GPU(label, column) WEFT__TUNABLE(label, struct weft_merge_params, gpu.column, struct weft_tune_merge, column)
#define CPU(label, member, column)                                                                                     \
    WEFT__TUNABLE(label, struct weft_merge_params, cpu.member, struct weft_tune_merge, column)
static const struct weft__tunable gpu_values[] = {
    {GPU("wg", wg), .low = 32, .step = 32, .most = weft__tunable_wg, .lower = WEFT__LOWER_HALVE,
     .kept = WEFT__KEPT_FOUND, .sweep = {128, 256, 512}, .help = "work-items per work-group"},
    {GPU("ipt", ipt), .low = 1, .high = 32, .step = 1, .lower = WEFT__LOWER_HALVE, .kept = WEFT__KEPT_FOUND,
     .sweep = {4, 7, 8, 11, 12, 16}, .help = "elements per work-item"},
    {GPU("groups", groups), .low = 1, .high = INT32_MAX, .step = 1, .kept = WEFT__KEPT,
     .help = "most work-groups of one launch"},
};
static const struct weft__tunable cpu_values[] = {
    {CPU("wg", wg, wg), .low = 1, .high = 8, .step = 1, .most = weft__tunable_wg, .kept = WEFT__KEPT_FOUND,
     .sweep = {1, 8}, .help = "work-items per work-group"},
    {CPU("ipt", chunk, ipt), .low = 1, .high = 1 << 30, .step = 1, .kept = WEFT__KEPT_FOUND,
     .sweep = {1024, 4096, 16384, 65536, 262144}, .help = "least elements of a chunk"},
    {CPU("groups", chunks, groups), .low = 1, .high = INT32_MAX, .step = 1, .kept = WEFT__KEPT_FOUND,
     .sweep = {2, 16, 256, 4096}, .help = "most chunks"},
};
const struct weft__tunables weft__merge_tunables[] = {
    {"merge", NULL, WEFT_SCHEDULE_GPU, "merge", WEFT__TUNABLES(gpu_values), WEFT__TUNE_ROWS(tune_table)},
    {"merge", NULL, WEFT_SCHEDULE_CPU, "merge", WEFT__TUNABLES(cpu_values), WEFT__TUNE_ROWS(tune_table)},
    {0},
};

enum { CUT, MERGE, NKERNELS };

struct weft_merge_plan {
    struct weft_context *ctx;
    enum weft_key key;
    int payload_bytes;
    int64_t n_max;
    struct weft_merge_info info;
    struct weft__kernel *k[NKERNELS]; // CUT: GPU schedule only
    cl_mem cuts;                      // the same
};

static size_t tile_local(const void *of, const void *params)
{
    const enum weft_key *key = of;
    const struct weft_merge_params *p = params;
    return (size_t)p->gpu.wg * (size_t)p->gpu.ipt * (weft_key_bytes(*key) + 2);
}

static weft_status info_resolve(struct weft_merge_info *info, struct weft_context *ctx, enum weft_key key,
                                int payload_bytes, int64_t n_max, const struct weft_merge_params *params)
{
    weft_status status = weft__key_check(ctx, key, payload_bytes);
    if (status)
        return status;
    if (n_max < 0)
        return weft__fail(ctx, WEFT_EINVAL, "merge: n_max is %lld", (long long)n_max);
    const int gpu = ctx->schedule == WEFT_SCHEDULE_GPU;
    const struct weft__tunables *set = &weft__merge_tunables[!gpu];
    const struct weft_tune_merge *tune = WEFT__TUNE_FIND(ctx, tune_table);
    const int given = weft__tunables_given(set, params);
    *info = (struct weft_merge_info){.params = *params, .schedule = ctx->schedule};
    struct weft_merge_params *p = &info->params;
    status = weft__tunables_resolve(set, ctx, p, tune, gpu ? tile_local : NULL, &key);
    if (status)
        return status;
    // A pair spans at least two tiles where cuts are needed, so its last, shorter one at most doubles them.
    size_t tile = (size_t)p->gpu.wg * (size_t)p->gpu.ipt;
    info->workspace_bytes = gpu ? weft__mul(2 * weft__ceil_div((size_t)n_max, tile) + 2, 8) : 0;
    snprintf(info->why, sizeof info->why, "%s; %s", gpu ? "merge path, tiles per work-group" : "chunks per work-item",
             given ? "tuning given by the caller" : tune->key.source);
    return WEFT_OK;
}

static weft_status merge_info(struct weft_merge_info *info, struct weft_context *ctx, enum weft_key key,
                              int payload_bytes, int64_t n_max, const struct weft_merge_params *params)
{
    struct weft_merge_params p = params ? *params : (struct weft_merge_params){0};
    size_t bytes = weft_key_bytes(key) + (size_t)payload_bytes;
    struct weft__tuned tuned =
        weft__tuned_begin(ctx, &weft__merge_tunables[ctx->schedule == WEFT_SCHEDULE_CPU], bytes, &p);
    weft_status status;
    do
        status = info_resolve(info, ctx, key, payload_bytes, n_max, &p);
    while (weft__tuned_again(&tuned, status, info->why, sizeof info->why));
    return status;
}

weft_status weft_merge_workspace(size_t *out_bytes, struct weft_context *ctx, enum weft_key key, int payload_bytes,
                                 int64_t n_max, const struct weft_merge_params *params)
{
    struct weft_merge_info info;
    weft_status status = WEFT__NEED_IN(ctx, {"out_bytes", out_bytes});
    if (!status)
        status = merge_info(&info, ctx, key, payload_bytes, n_max, params);
    if (out_bytes)
        *out_bytes = status ? 0 : info.workspace_bytes;
    return status;
}

static void merge_define(struct weft__defines *d, enum weft_key key, int payload_bytes, enum weft_schedule schedule,
                         int wg, int ipt)
{
    weft__define(d, "WEFT_WG", "%d", wg);
    if (schedule == WEFT_SCHEDULE_GPU)
        weft__define(d, "WEFT_IPT", "%d", ipt);
    weft__key_define(d, key, payload_bytes);
}

static weft_status plan_create(struct weft_merge_plan **out, struct weft_context *ctx, enum weft_key key,
                               int payload_bytes, int64_t n_max, const struct weft_merge_params *params)
{
    if (out)
        *out = NULL;
    struct weft_merge_info info;
    weft_status status = WEFT__NEED_IN(ctx, {"out", out});
    if (!status)
        status = merge_info(&info, ctx, key, payload_bytes, n_max, params);
    if (status)
        return status;
    struct weft__make make = {.ctx = ctx};
    struct weft_merge_plan *plan = weft__make_memory(&make, sizeof *plan, "a merge plan");
    if (!plan)
        return make.status;
    *plan =
        (struct weft_merge_plan){.ctx = ctx, .key = key, .payload_bytes = payload_bytes, .n_max = n_max, .info = info};
    int gpu = info.schedule == WEFT_SCHEDULE_GPU;
    struct weft__defines d = {0};
    merge_define(&d, key, payload_bytes, info.schedule, gpu ? info.params.gpu.wg : info.params.cpu.wg,
                 info.params.gpu.ipt);
    weft__make_kernel(&make, &plan->k[MERGE], gpu ? &tile_spec : &chunk_spec, &d);
    if (gpu)
        weft__make_kernel(&make, &plan->k[CUT], &cut_spec, &d);
    weft__make_buffers(&make, &plan->cuts,
                       &(const struct weft__scratch){info.workspace_bytes, "merge: workspace", false}, 1);
    if (make.status)
        weft_merge_plan_destroy(&plan);
    *out = plan;
    return make.status;
}

weft_status weft_merge_plan_create(struct weft_merge_plan **out, struct weft_context *ctx, enum weft_key key,
                                   int payload_bytes, int64_t n_max, const struct weft_merge_params *params)
{
    weft_status status;
    WEFT__LIMITED(status, ctx, plan_create(out, ctx, key, payload_bytes, n_max, params));
    if (!status)
        status = weft__merge_trial(ctx, *out, key, payload_bytes, n_max);
    if (status && out)
        weft_merge_plan_destroy(out);
    return status;
}

const struct weft_merge_info *weft_merge_plan_info(const struct weft_merge_plan *plan)
{
    return plan ? &plan->info : NULL;
}

void weft_merge_plan_destroy(struct weft_merge_plan **plan)
{
    if (!plan || !*plan)
        return;
    weft__parts_release((*plan)->k, NKERNELS, &(*plan)->cuts, 1);
    free(*plan);
    *plan = NULL;
}

// What one call merges: arrays a and b (block == 0), or the blocks of a (b and its payload are those of a).
struct job {
    cl_mem a, a_val, b, b_val, out, out_val;
    cl_long na, nb, block;
};

static void run_gpu(struct weft_merge_plan *plan, struct weft__stream *s, const struct job *j)
{
    size_t wg = (size_t)plan->info.params.gpu.wg, tile = wg * (size_t)plan->info.params.gpu.ipt;
    size_t n = (size_t)(j->na + j->nb), pair = 2 * (size_t)j->block;
    cl_long tiles, per_pair = 0;
    if (!j->block)
        tiles = per_pair = (cl_long)weft__ceil_div(n, tile);
    else if (pair <= tile)
        tiles = (cl_long)weft__ceil_div(n, tile / pair * pair);
    else {
        per_pair = (cl_long)weft__ceil_div(weft__min(n, pair), tile);
        tiles = (cl_long)weft__ceil_div(n, pair) * per_pair;
    }
    size_t most = (size_t)plan->info.params.gpu.groups;
    size_t cut_groups = weft__min(weft__groups(weft__ceil_div((size_t)tiles, wg), wg), most);
    if (per_pair)
        WEFT__LAUNCH(s, plan->k[CUT], cut_groups, wg, WEFT__ARG(tiles), WEFT__ARG(per_pair));
    WEFT__LAUNCH(s, plan->k[MERGE], weft__min(weft__groups((size_t)tiles, wg), most), wg, WEFT__ARG(tiles),
                 WEFT__ARG(per_pair));
}

static void run_cpu(struct weft_merge_plan *plan, struct weft__stream *s, const struct job *j)
{
    const struct weft_merge_params *p = &plan->info.params;
    size_t n = (size_t)(j->na + j->nb), wg = (size_t)p->cpu.wg;
    cl_long chunk = (cl_long)weft__max((size_t)p->cpu.chunk, weft__ceil_div(n, (size_t)p->cpu.chunks));
    WEFT__LAUNCH(s, plan->k[MERGE], weft__ceil_div(weft__ceil_div(n, (size_t)chunk), wg), wg, WEFT__ARG(chunk));
}

static weft_status run(struct weft_merge_plan *plan, cl_command_queue queue, const struct job *j, cl_uint nwait,
                       const cl_event *wait, cl_event *event)
{
    struct weft_context *ctx = plan->ctx;
    size_t key = weft_key_bytes(plan->key), val = (size_t)plan->payload_bytes;
    size_t na = (size_t)j->na, nb = (size_t)j->nb;
    if (na + nb > (size_t)plan->n_max)
        return weft__fail(ctx, WEFT_EINVAL, "merge: %zu elements, the plan is for at most %lld", na + nb,
                          (long long)plan->n_max);
    const struct weft__buffer_rule rules[] = {
        {"merge: keys", j->a, weft__mul(na, key)},
        {"merge: payload", j->a_val, weft__mul(na, val)},
        {"merge: b_key", j->b, weft__mul(nb, key)},
        {"merge: b_payload", j->b_val, weft__mul(nb, val)},
        {"merge: out_key", j->out, weft__mul(na + nb, key)},
        {"merge: out_payload", j->out_val, weft__mul(na + nb, val)},
    };
    weft_status status = weft__buffers_check(ctx, rules, 6);
    for (size_t i = 0; i < 8 && !status; i++)
        if (rules[i / 2].bytes && rules[i / 2].buffer == rules[4 + i % 2].buffer)
            status = weft__fail(ctx, WEFT_EINVAL, "%s is an input of the same call", rules[4 + i % 2].name);
    if (!status)
        status = WEFT__ALONE(ctx, rules[4], {"out_payload", j->out_val, rules[5].bytes});
    struct weft__stream stream;
    if (!status)
        status = weft__stream_begin(&stream, ctx, queue, nwait, wait, event);
    if (status)
        return status;
    stream.status = WEFT__PARTS_BIND(ctx, plan->k, NKERNELS, WEFT__ARG(a, j->a), WEFT__ARG(b, j->b),
                                     WEFT__ARG(a_val, j->a_val), WEFT__ARG(b_val, j->b_val), WEFT__ARG(out, j->out),
                                     WEFT__ARG(out_val, j->out_val), WEFT__ARG(cuts, plan->cuts), WEFT__ARG(na, j->na),
                                     WEFT__ARG(nb, j->nb), WEFT__ARG(block, j->block));
    if (plan->info.schedule == WEFT_SCHEDULE_CPU)
        run_cpu(plan, &stream, j);
    else
        run_gpu(plan, &stream, j);
    return weft__stream_end(&stream);
}

weft_status weft_merge_run(struct weft_merge_plan *plan, cl_command_queue queue, cl_mem out_key, cl_mem out_payload,
                           cl_mem a_key, cl_mem a_payload, int64_t na, cl_mem b_key, cl_mem b_payload, int64_t nb,
                           cl_uint nwait, const cl_event *wait, cl_event *event)
{
    weft__event_none(event);
    if (!plan)
        return WEFT_EINVAL;
    if (na < 0 || nb < 0 || na > INT64_MAX - nb)
        return weft__fail(plan->ctx, WEFT_EINVAL, "merge: lengths are %lld and %lld", (long long)na, (long long)nb);
    struct job job = {a_key, a_payload, b_key, b_payload, out_key, out_payload, na, nb, 0};
    return run(plan, queue, &job, nwait, wait, event);
}

weft_status weft_merge_blocks_run(struct weft_merge_plan *plan, cl_command_queue queue, cl_mem out_key,
                                  cl_mem out_payload, cl_mem key, cl_mem payload, int64_t n, int64_t block,
                                  cl_uint nwait, const cl_event *wait, cl_event *event)
{
    weft__event_none(event);
    if (!plan)
        return WEFT_EINVAL;
    if (n < 0 || block < 1)
        return weft__fail(plan->ctx, WEFT_EINVAL, "merge: n is %lld, block %lld", (long long)n, (long long)block);
    // A block of n elements has no neighbour, so a larger one changes nothing.
    struct job job = {key, payload, key, payload, out_key, out_payload, n, 0, n < 1 ? 1 : block < n ? block : n};
    return run(plan, queue, &job, nwait, wait, event);
}

void weft__merge_variants(weft__variant_fn *fn, void *arg)
{
    for (enum weft_key key = WEFT_KEY_U32; key <= WEFT_KEY_I64; key++)
        for (int payload = 0; payload <= 8; payload += 4) {
            struct weft__variant v = {.spec = &chunk_spec, .schedule = WEFT_SCHEDULE_CPU};
            merge_define(&v.defines, key, payload, WEFT_SCHEDULE_CPU, 1, 0);
            fn(arg, &v);
            // The tiles of NVIDIA's and AMD's rows as well, where they are most common.
            const struct weft__kernel_spec *specs[] = {&cut_spec, &tile_spec, &tile_spec, &tile_spec};
            const int ipts[] = {8, 8, 7, 12};
            for (size_t i = 0; i < (key == WEFT_KEY_U32 && payload == 4 ? 4 : 2); i++) {
                struct weft__variant g = {.spec = specs[i], .schedule = WEFT_SCHEDULE_GPU};
                merge_define(&g.defines, key, payload, WEFT_SCHEDULE_GPU, 256, ipts[i]);
                fn(arg, &g);
            }
        }
}
