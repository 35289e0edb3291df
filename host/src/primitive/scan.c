// SPDX-License-Identifier: Apache-2.0
// Prefix sums: three launches over tiles or chunks, or one launch of chained tiles.
#include "host/src/core/check.h"
#include "host/src/core/limits.h"
#include "host/src/core/make.h"
#include "host/src/primitive/scan.h"
#include "host/src/core/tune.h"
#include "host/src/core/variants.h"
#include "host/src/core/names.h"
#include "host/src/primitive/trial.h"

#include <stdio.h>
#include <stdlib.h>

static const struct weft__kernel_spec reduce_spec = {"scan_reduce", {"scan/gpu.cl", "lib/tile.clh", "scan/quads.clh"}};
static const struct weft__kernel_spec spine_spec = {"scan_spine", {"scan/gpu.cl", "lib/tile.clh", "scan/quads.clh"}};
static const struct weft__kernel_spec down_spec = {"scan_down", {"scan/gpu.cl", "lib/tile.clh", "scan/quads.clh"}};
static const struct weft__kernel_spec chained_spec = {
    "scan_chained", {"scan/chained.cl", "lib/tile.clh", "scan/quads.clh", "scan/words.clh"}};
static const struct weft__kernel_spec cpu_reduce_spec = {"scan_cpu_reduce", {"scan/cpu.cl"}};
static const struct weft__kernel_spec cpu_down_spec = {"scan_cpu_down", {"scan/cpu.cl"}};

static const struct {
    const char *in, *sum;
    size_t in_bytes, sum_bytes;
} types[] = {
    [WEFT_SCAN_TYPE_I32] = {"int", "int", 4, 4},
    [WEFT_SCAN_TYPE_U32] = {"uint", "uint", 4, 4},
    // Unsigned, because sums wrap around.
    [WEFT_SCAN_TYPE_I64] = {"ulong", "ulong", 8, 8},
    [WEFT_SCAN_TYPE_F32] = {"float", "float", 4, 4},
    [WEFT_SCAN_TYPE_I32_I64] = {"int", "long", 4, 8},
    [WEFT_SCAN_TYPE_U32_U64] = {"uint", "ulong", 4, 8},
};
#define TYPES (sizeof types / sizeof *types)

struct weft_tune_scan {
    struct weft__tune_key key;
    int wg;
    int ipt, ipt64; // with sums of 32 and of 64 bits
    int groups;
    struct {
        int wg, ipt; // half of ipt for elements of 64 bits
        int look;
        int64_t most; // elements up to which auto takes this form
    } chained;
};
static const struct weft_tune_scan tune_table[] = {
    {{WEFT_SCHEDULE_GPU, NULL, 0, NULL, "not measured"}, 256, 16, 8, 1 << 22, {256, 16, 32, 0}},
    // 2026-11-22, H200, driver 580, three launches over 40 million i32: 0.1343 ms, best of 30 points; 0.1371 at wg 512,
    // 0.1379 with ipt 12, 0.57 at wg 64 with ipt 4. Chained for three launches, i32: 5.1 million 0.0168 for 0.0431 ms, 10
    // million 0.0352 for 0.0513, 45.9 million 0.122 for 0.154, 100 million 0.252 for 0.312, 400 million 0.977 for 1.183;
    // i32 to i64: 10 million 0.0524 for 0.0737, 400 million 1.584 for 1.987.
    {{WEFT_SCHEDULE_GPU, "NVIDIA", 0, NULL, "swept on an H200"}, 256, 16, 8, 1 << 22, {256, 32, 256, INT64_C(1) << 34}},
    // docs/log/amd-occupancy.md: three launches leave all waves; chained tiles 28 of 32, where they are twice as large on
    // waves of 32. Whether they pay is not to be had from that.
    {{WEFT_SCHEDULE_GPU, WEFT__VENDOR_AMD, 0, NULL, "from the ISA, not run: 32 of 32 waves"},
     256,
     16,
     8,
     1 << 22,
     {256, 8, 32, 0}},
    {{WEFT_SCHEDULE_GPU, WEFT__VENDOR_AMD, 32, NULL, "from the ISA, not run: 64 of 64 waves"},
     256,
     16,
     8,
     1 << 22,
     {256, 16, 32, 0}},
    // 2026-11-21, PoCL 3.1 on 2 shared cores of a Xeon, uniform:500000,500000,4000000, f32: 3.2 ms of CPU time a run
    // in 62 chunks; 3.2 with 16, 3.3 at wg 8, 3.7 with 489, 4.4 with 4. Noise about 0.1 ms.
    {{WEFT_SCHEDULE_CPU, NULL, 0, NULL, "swept with PoCL on 2 cores"}, 1, 65536, 65536, 256, {0}},
};

// A window is at most a work-group.
static int64_t look_most(const struct weft_context *ctx, const void *params)
{
    (void)ctx;
    return ((const struct weft_scan_params *)params)->gpu.wg;
}

#define GPU(label, member, column)                                                                                     \
    WEFT__TUNABLE(label, struct weft_scan_params, gpu.member, struct weft_tune_scan, column)
#define CPU(label, member, column)                                                                                     \
    WEFT__TUNABLE(label, struct weft_scan_params, cpu.member, struct weft_tune_scan, column)
static const struct weft__tunable gpu_values[] = {
    {GPU("wg", wg, wg), .low = 32, .step = 32, .most = weft__tunable_wg, .lower = WEFT__LOWER_HALVE,
     .kept = WEFT__KEPT_FOUND, .sweep = {64, 128, 256, 512, 1024}, .help = "work-items per work-group"},
    {GPU("ipt", ipt, ipt), .low = 4, .high = 32, .step = 4, .kept = WEFT__KEPT_FOUND, .sweep = {4, 8, 12, 16, 24, 32},
     .help = "elements per work-item"},
    {GPU("groups", groups, groups), .low = 1, .high = INT32_MAX, .step = 1, .kept = WEFT__KEPT,
     .help = "most work-groups of one launch"},
    {WEFT__TUNABLE_BY_SHAPE("look", struct weft_scan_params, gpu.look), .low = 1, .high = INT32_MAX, .step = 1,
     .kept = WEFT__KEPT, .help = "of chained tiles alone"},
};
static const struct weft__tunable chained_values[] = {
    {GPU("wg", wg, chained.wg), .low = 32, .step = 32, .most = weft__tunable_wg, .lower = WEFT__LOWER_HALVE,
     .kept = WEFT__KEPT_FOUND, .sweep = {128, 256, 384, 512}, .help = "work-items per work-group"},
    {GPU("ipt", ipt, chained.ipt), .low = 4, .high = 32, .step = 4, .lower = WEFT__LOWER_STEP, .kept = WEFT__KEPT_FOUND,
     .sweep = {8, 16, 24, 32}, .help = "elements per work-item"},
    {GPU("groups", groups, groups), .low = 1, .high = INT32_MAX, .step = 1, .kept = WEFT__KEPT,
     .help = "of three launches alone"},
    {GPU("look", look, chained.look), .low = 32, .step = 32, .most = look_most, .kept = WEFT__KEPT_FOUND,
     .sweep = {32, 128, 256}, .help = "tiles that a work-group looks back at at once"},
};
static const struct weft__tunable cpu_values[] = {
    {CPU("wg", wg, wg), .low = 1, .high = 8, .step = 1, .most = weft__tunable_wg, .kept = WEFT__KEPT_FOUND,
     .sweep = {1, 8}, .help = "work-items per work-group"},
    {CPU("ipt", chunk, ipt), .low = 8, .high = 1 << 24, .step = 8, .kept = WEFT__KEPT_FOUND,
     .sweep = {1024, 4096, 16384, 65536, 262144, 1048576}, .help = "least elements of a chunk"},
    {CPU("groups", chunks, groups), .low = 1, .high = INT32_MAX, .step = 1, .kept = WEFT__KEPT_FOUND,
     .sweep = {16, 256, 4096}, .help = "most chunks"},
};
enum { BY_CPU, BY_CHAINED, BY_GPU };
const struct weft__tunables weft__scan_tunables[] = {
    [BY_CPU] = {"scan", NULL, WEFT_SCHEDULE_CPU, "scan", WEFT__TUNABLES(cpu_values), WEFT__TUNE_ROWS(tune_table)},
    [BY_CHAINED] = {"scan", "chained", WEFT_SCHEDULE_GPU, "scan", WEFT__TUNABLES(chained_values),
                    WEFT__TUNE_ROWS(tune_table)},
    [BY_GPU] = {"scan", NULL, WEFT_SCHEDULE_GPU, "scan", WEFT__TUNABLES(gpu_values), WEFT__TUNE_ROWS(tune_table)},
    {0},
};
static const struct weft__tunables *tunables_of(const struct weft_context *ctx, enum weft_scan_algo algo)
{
    return &weft__scan_tunables[ctx->schedule == WEFT_SCHEDULE_CPU ? BY_CPU
                                : algo == WEFT_SCAN_ALGO_CHAINED   ? BY_CHAINED
                                                                   : BY_GPU];
}

#define RUNS (UINT32_C(1) << 30) // that words of scan/chained.cl tell apart

enum { REDUCE, SPINE, DOWN, CHAINED, NKERNELS };
enum { SUMS, WORDS, NBUFFERS };

struct weft_scan_plan {
    struct weft_context *ctx;
    enum weft_scan_type type;
    size_t n_max;
    struct weft_scan_info info;
    struct weft__kernel *k[NKERNELS]; // SPINE: GPU schedule only; CHAINED: NULL for three launches
    cl_mem b[NBUFFERS];               // WORDS: what chained tiles publish
    cl_uint run;                      // the number of the next run
};

size_t weft_scan_in_bytes(enum weft_scan_type type)
{
    return (size_t)type < TYPES ? types[type].in_bytes : 0;
}

size_t weft_scan_sum_bytes(enum weft_scan_type type)
{
    return (size_t)type < TYPES ? types[type].sum_bytes : 0;
}

WEFT__NAMES(scan_type, "i32", "u32", "i64", "f32", "i32_i64", "u32_u64");
WEFT__NAMES(scan_algo, "auto", "three", "chained");

// How n elements are cut: tiles of wg*ipt (GPU), or chunks (CPU) of a length that keeps to params.groups.
struct cut {
    size_t length, count;
};
static struct cut cut_make(const struct weft_scan_info *info, size_t n)
{
    const struct weft_scan_params *p = &info->params;
    size_t length = (size_t)p->gpu.wg * (size_t)p->gpu.ipt;
    if (info->schedule == WEFT_SCHEDULE_CPU)
        length = weft__max((size_t)p->cpu.chunk, weft__round_up(weft__ceil_div(n, (size_t)p->cpu.chunks), 8));
    return (struct cut){length, weft__max(1, weft__ceil_div(n, length))};
}

// Tiles or chunks of n elements at most, for any n up to n_max. On a CPU fewer elements may have more chunks than n_max: the
// length of a chunk grows by steps.
static size_t count_most(const struct weft_scan_info *info, size_t n_max)
{
    const struct weft_scan_params *p = &info->params;
    if (info->schedule != WEFT_SCHEDULE_CPU)
        return cut_make(info, n_max).count;
    return weft__max(1, weft__min((size_t)p->cpu.chunks, weft__ceil_div(n_max, (size_t)p->cpu.chunk)));
}

// The buffers of a plan. The words of scan/chained.cl are 64 bits for each 32 of a tile's sum.
static void buffers_need(struct weft__scratch out[NBUFFERS], const struct weft_scan_info *info,
                         enum weft_scan_type type, size_t n_max)
{
    const size_t sums = weft__mul(count_most(info, n_max), types[type].sum_bytes);
    const int chained = info->params.algo == WEFT_SCAN_ALGO_CHAINED;
    out[SUMS] = (struct weft__scratch){sums, "scan: workspace", false};
    out[WORDS] = (struct weft__scratch){chained ? weft__mul(sums, 2) : 0, "scan: tiles", true};
}

// Resolve info->params.algo; *why says why.
static weft_status algo_resolve(struct weft_scan_info *info, struct weft_context *ctx, enum weft_scan_type type,
                                int64_t n_max, const struct weft_tune_scan *tune, const char **why)
{
    const enum weft_scan_algo asked = info->params.algo;
    const char *cannot = info->schedule == WEFT_SCHEDULE_CPU ? "a CPU takes a chunk per work-item"
                         : type == WEFT_SCAN_TYPE_F32        ? "f32 sums must not depend on which tile comes first"
                         : !weft__caps_of(ctx).int64_atomics ? "the device has no 64-bit atomics"
                                                             : NULL;
    if ((unsigned)asked > WEFT_SCAN_ALGO_CHAINED)
        return weft__fail(ctx, WEFT_EINVAL, "scan: there is no algorithm %d", (int)asked);
    if (asked == WEFT_SCAN_ALGO_CHAINED && cannot)
        return weft__fail(ctx, WEFT_EUNSUPPORTED, "scan: not chained: %s", cannot);
    // What the caller gives of a tile is meant for the usual form.
    const struct weft__tunables *set = tunables_of(ctx, WEFT_SCAN_ALGO_THREE);
    struct weft_scan_params tile = info->params;
    tile.gpu.look = 0;
    const int given = weft__tunables_given(set, &tile), best = n_max <= tune->chained.most && !cannot && !given;
    info->params.algo = asked ? asked : best ? WEFT_SCAN_ALGO_CHAINED : WEFT_SCAN_ALGO_THREE;
    *why = info->schedule == WEFT_SCHEDULE_CPU ? "chunks per work-item"
           : asked == WEFT_SCAN_ALGO_CHAINED   ? "one launch of chained tiles, as asked"
           : asked == WEFT_SCAN_ALGO_THREE     ? "three launches, as asked"
           : best                              ? "one launch of chained tiles: faster here"
           : cannot                            ? cannot
                                               : "three launches";
    return WEFT_OK;
}

// Local memory of cl/scan/chained.cl: the tile, a sum for each 32 work-items, the window; where work-items exchange through
// local memory, a word each.
static size_t chained_local(const void *in_bytes, const void *params)
{
    const struct weft_scan_params *p = params;
    return (size_t)p->gpu.wg * ((size_t)p->gpu.ipt * *(const size_t *)in_bytes + 5) + 64;
}

// Resolve defaults, check everything, count the scratch bytes.
static weft_status info_resolve(struct weft_scan_info *info, struct weft_context *ctx, enum weft_scan_type type,
                                int64_t n_max, const struct weft_scan_params *params)
{
    if ((size_t)type >= TYPES)
        return weft__fail(ctx, WEFT_EINVAL, "scan: there is no type %d", (int)type);
    if (n_max < 0)
        return weft__fail(ctx, WEFT_EINVAL, "scan: n_max is %lld", (long long)n_max);
    const struct weft_tune_scan *tune = WEFT__TUNE_FIND(ctx, tune_table);
    *info = (struct weft_scan_info){.params = *params, .schedule = ctx->schedule};
    struct weft_scan_params *p = &info->params;
    if (p->inclusive && p->total)
        return weft__fail(ctx, WEFT_EINVAL, "scan: total belongs to an exclusive scan");
    const char *why = NULL;
    weft_status status = algo_resolve(info, ctx, type, n_max, tune, &why);
    if (status)
        return status;
    const struct weft__tunables *set = tunables_of(ctx, p->algo);
    const int chained = p->algo == WEFT_SCAN_ALGO_CHAINED, given = weft__tunables_given(set, p);
    struct weft_tune_scan row = *tune;
    row.ipt = types[type].sum_bytes == 8 ? row.ipt64 : row.ipt;
    row.chained.ipt = row.chained.ipt * 4 / (int)types[type].in_bytes;
    status = weft__tunables_resolve(set, ctx, p, &row, chained ? chained_local : NULL, &types[type].in_bytes);
    if (status)
        return status;
    const size_t tiles = cut_make(info, (size_t)n_max).count;
    if (chained && tiles > weft__groups_most((size_t)p->gpu.wg))
        return weft__fail(ctx, WEFT_ERANGE,
                          "scan: %zu tiles are too many to be chained, below 2^31 work-items are possible", tiles);
    struct weft__scratch needs[NBUFFERS];
    buffers_need(needs, info, type, (size_t)n_max);
    info->workspace_bytes = weft__scratch_bytes(needs, NBUFFERS);
    snprintf(info->why, sizeof info->why, "%s; %s", why, given ? "tuning given by the caller" : tune->key.source);
    return WEFT_OK;
}

weft_status weft__scan_info(struct weft_scan_info *info, struct weft_context *ctx, enum weft_scan_type type,
                            int64_t n_max, const struct weft_scan_params *params)
{
    struct weft_scan_params p = params ? *params : (struct weft_scan_params){0};
    struct weft__tuned tuned = weft__tuned_begin(ctx, tunables_of(ctx, p.algo), weft_scan_sum_bytes(type), &p);
    weft_status status;
    do
        status = info_resolve(info, ctx, type, n_max, &p);
    while (weft__tuned_again(&tuned, status, info->why, sizeof info->why));
    return status;
}

weft_status weft_scan_workspace(size_t *out_bytes, struct weft_context *ctx, enum weft_scan_type type, int64_t n_max,
                                const struct weft_scan_params *params)
{
    struct weft_scan_info info;
    weft_status status = WEFT__NEED_IN(ctx, {"out_bytes", out_bytes});
    if (!status)
        status = weft__scan_info(&info, ctx, type, n_max, params);
    if (out_bytes)
        *out_bytes = status ? 0 : info.workspace_bytes;
    return status;
}

static void scan_define(struct weft__defines *d, enum weft_scan_type type, int gpu, const struct weft_scan_params *p)
{
    weft__define(d, "WEFT_WG", "%d", gpu ? p->gpu.wg : p->cpu.wg);
    if (gpu)
        weft__define(d, "WEFT_IPT", "%d", p->gpu.ipt);
    weft__define(d, "WEFT_IN_T", "%s", types[type].in);
    weft__define(d, "WEFT_SUM_T", "%s", types[type].sum);
    weft__define(d, "WEFT_SUM_BITS", "%d", (int)types[type].sum_bytes * 8);
    if (type == WEFT_SCAN_TYPE_F32)
        weft__define(d, "WEFT_SUM_IS_F32", "1");
    weft__define(d, "WEFT_INCLUSIVE", "%d", p->inclusive);
}

static weft_status plan_create(struct weft_scan_plan **out, struct weft_context *ctx, enum weft_scan_type type,
                               int64_t n_max, const struct weft_scan_params *params)
{
    if (out)
        *out = NULL;
    struct weft_scan_info info;
    weft_status status = WEFT__NEED_IN(ctx, {"out", out});
    if (!status)
        status = weft__scan_info(&info, ctx, type, n_max, params);
    if (status)
        return status;
    struct weft__make make = {.ctx = ctx};
    struct weft_scan_plan *plan = weft__make_memory(&make, sizeof *plan, "a scan plan");
    if (!plan)
        return make.status;
    *plan = (struct weft_scan_plan){.ctx = ctx, .type = type, .n_max = (size_t)n_max, .info = info};
    const int gpu = info.schedule == WEFT_SCHEDULE_GPU;
    const cl_uint total = info.params.total;
    struct weft__defines d = {0};
    scan_define(&d, type, gpu, &info.params);
    weft__make_kernel(&make, &plan->k[REDUCE], gpu ? &reduce_spec : &cpu_reduce_spec, &d);
    if (gpu)
        weft__make_kernel(&make, &plan->k[SPINE], &spine_spec, &d);
    weft__make_kernel(&make, &plan->k[DOWN], gpu ? &down_spec : &cpu_down_spec, &d);
    if (info.params.algo == WEFT_SCAN_ALGO_CHAINED) {
        weft__define(&d, "WEFT_LOOK", "%d", info.params.gpu.look);
        weft__make_kernel(&make, &plan->k[CHAINED], &chained_spec, &d);
    }
    struct weft__scratch needs[NBUFFERS];
    buffers_need(needs, &info, type, plan->n_max);
    weft__make_buffers(&make, plan->b, needs, NBUFFERS);
    if (!make.status)
        make.status = WEFT__PARTS_BIND(ctx, plan->k, NKERNELS, WEFT__ARG(sums, plan->b[SUMS]), WEFT__ARG(total));
    if (make.status)
        weft_scan_plan_destroy(&plan);
    *out = plan;
    return make.status;
}

weft_status weft_scan_plan_create(struct weft_scan_plan **out, struct weft_context *ctx, enum weft_scan_type type,
                                  int64_t n_max, const struct weft_scan_params *params)
{
    weft_status status;
    WEFT__LIMITED(status, ctx, plan_create(out, ctx, type, n_max, params));
    if (status)
        return status;
    const bool other = (*out)->info.params.algo == WEFT_SCAN_ALGO_CHAINED && !(params && params->algo);
    weft__fallback_begin(ctx);
    status = weft__scan_trial(ctx, *out, type, n_max);
    if (weft__fallback(ctx, status, other ? "a scan of three launches" : NULL)) {
        struct weft_scan_params three = params ? *params : (struct weft_scan_params){0};
        three.algo = WEFT_SCAN_ALGO_THREE;
        weft_scan_plan_destroy(out);
        status = weft_scan_plan_create(out, ctx, type, n_max, &three);
        if (!status)
            snprintf((*out)->info.why, sizeof(*out)->info.why,
                     "three launches: chained tiles are wrong on this device");
    } else if (status) {
        weft_scan_plan_destroy(out);
    }
    return status;
}

const struct weft_scan_info *weft_scan_plan_info(const struct weft_scan_plan *plan)
{
    return plan ? &plan->info : NULL;
}

void weft_scan_plan_destroy(struct weft_scan_plan **plan)
{
    if (!plan || !*plan)
        return;
    weft__parts_release((*plan)->k, NKERNELS, (*plan)->b, NBUFFERS);
    free(*plan);
    *plan = NULL;
}

static void chained_run(struct weft_scan_plan *plan, struct weft__stream *s, cl_mem in, cl_mem out, cl_ulong n,
                        cl_uint tiles)
{
    if (plan->run == RUNS) { // the numbers begin again, in new words: what is enqueued keeps its own
        weft__buffer_release(&plan->b[WORDS]);
        plan->run = 0;
    }
    if (!plan->b[WORDS] && !s->status) {
        struct weft__make make = {.ctx = plan->ctx};
        struct weft__scratch needs[NBUFFERS];
        buffers_need(needs, &plan->info, plan->type, plan->n_max);
        weft__make_buffers(&make, &plan->b[WORDS], &needs[WORDS], 1);
        s->status = make.status;
    }
    if (s->status)
        return;
    const cl_uint run = plan->run++;
    WEFT__LAUNCH(s, plan->k[CHAINED], tiles, (size_t)plan->info.params.gpu.wg, WEFT__ARG(in), WEFT__ARG(out),
                 WEFT__ARG(words, plan->b[WORDS]), WEFT__ARG(n), WEFT__ARG(tiles), WEFT__ARG(run));
}

void weft__scan_last_run(struct weft_scan_plan *plan)
{
    plan->run = RUNS - 1;
}

static void run_gpu(struct weft_scan_plan *plan, struct weft__stream *s, cl_mem in, cl_mem out, cl_ulong n)
{
    size_t wg = (size_t)plan->info.params.gpu.wg;
    cl_ulong tiles = cut_make(&plan->info, n).count;
    cl_uint has_sums = tiles > 1;
    size_t groups = weft__min(weft__groups(tiles, wg), (size_t)plan->info.params.gpu.groups);
    // Not in place: a tile that waits too long reads what the one before it would have overwritten.
    if (plan->k[CHAINED] && tiles > 1 && in != out) {
        chained_run(plan, s, in, out, n, (cl_uint)tiles);
        return;
    }
    if (has_sums) {
        WEFT__LAUNCH(s, plan->k[REDUCE], groups, wg, WEFT__ARG(in), WEFT__ARG(n), WEFT__ARG(tiles));
        WEFT__LAUNCH(s, plan->k[SPINE], 1, wg, WEFT__ARG(tiles));
    }
    WEFT__LAUNCH(s, plan->k[DOWN], groups, wg, WEFT__ARG(in), WEFT__ARG(out), WEFT__ARG(n), WEFT__ARG(tiles),
                 WEFT__ARG(has_sums));
}

static void run_cpu(struct weft_scan_plan *plan, struct weft__stream *s, cl_mem in, cl_mem out, cl_ulong n)
{
    struct cut cut = cut_make(&plan->info, n);
    size_t wg = (size_t)plan->info.params.cpu.wg, groups = weft__ceil_div(cut.count, wg);
    cl_ulong chunk = cut.length, chunks = cut.count;
    if (chunks > 1)
        WEFT__LAUNCH(s, plan->k[REDUCE], groups, wg, WEFT__ARG(in), WEFT__ARG(n), WEFT__ARG(chunk), WEFT__ARG(chunks));
    WEFT__LAUNCH(s, plan->k[DOWN], groups, wg, WEFT__ARG(in), WEFT__ARG(out), WEFT__ARG(n), WEFT__ARG(chunk),
                 WEFT__ARG(chunks));
}

void weft__scan_enqueue(struct weft_scan_plan *plan, struct weft__stream *stream, cl_mem in, cl_mem out, size_t n)
{
    if (!n && !plan->info.params.total)
        return;
    if (!n)
        in = out; // nothing is read, but the launch for the total needs a buffer
    if (plan->info.schedule == WEFT_SCHEDULE_GPU)
        run_gpu(plan, stream, in, out, (cl_ulong)n);
    else
        run_cpu(plan, stream, in, out, (cl_ulong)n);
}

weft_status weft_scan_run(struct weft_scan_plan *plan, cl_command_queue queue, cl_mem out, cl_mem in, int64_t n,
                          cl_uint nwait, const cl_event *wait, cl_event *event)
{
    weft__event_none(event);
    if (!plan)
        return WEFT_EINVAL;
    struct weft_context *ctx = plan->ctx;
    if (n < 0 || (uint64_t)n > plan->n_max)
        return weft__fail(ctx, WEFT_EINVAL, "scan: n is %lld, the plan is for 0..%zu", (long long)n, plan->n_max);
    size_t outputs = (size_t)n + (plan->info.params.total ? 1 : 0);
    weft_status status = WEFT__BUFFERS(ctx, {"scan: in", in, weft__mul((size_t)n, types[plan->type].in_bytes)},
                                       {"scan: out", out, weft__mul(outputs, types[plan->type].sum_bytes)});
    if (!status && in && in == out && types[plan->type].in_bytes != types[plan->type].sum_bytes)
        status = weft__fail(ctx, WEFT_EINVAL, "scan: in and out are one buffer, their elements differ in width");
    struct weft__stream stream;
    if (!status)
        status = weft__stream_begin(&stream, ctx, queue, nwait, wait, event);
    if (status)
        return status;
    weft__scan_enqueue(plan, &stream, in, out, (size_t)n);
    return weft__stream_end(&stream);
}

void weft__scan_variants(weft__variant_fn *fn, void *arg)
{
    for (size_t type = 0; type < TYPES; type++)
        for (int gpu = 0; gpu <= 1; gpu++)
            for (int inclusive = 0; inclusive <= 1; inclusive++) {
                struct weft_scan_params p = {.inclusive = inclusive, .gpu.wg = 256, .cpu.wg = 1};
                p.gpu.ipt = types[type].sum_bytes == 8 ? 8 : 16;
                struct weft__variant v = {.schedule = gpu ? WEFT_SCHEDULE_GPU : WEFT_SCHEDULE_CPU};
                scan_define(&v.defines, (enum weft_scan_type)type, gpu, &p);
                const struct weft__kernel_spec *specs[] = {gpu ? &reduce_spec : &cpu_reduce_spec,
                                                           gpu ? &down_spec : &cpu_down_spec, gpu ? &spine_spec : NULL};
                for (size_t i = 0; i < sizeof specs / sizeof *specs && specs[i]; i++) {
                    v.spec = specs[i];
                    fn(arg, &v);
                }
                if (!gpu || type == WEFT_SCAN_TYPE_F32)
                    continue;
                v.spec = &chained_spec;
                v.int64_atomics = 1;
                for (int wide = 0; wide <= 1; wide++) { // the windows and tiles of NVIDIA, and those of others
                    p.gpu.ipt = (types[type].in_bytes == 8 ? 8 : 16) << wide;
                    p.gpu.look = wide ? 256 : 32;
                    v.defines = (struct weft__defines){0};
                    scan_define(&v.defines, (enum weft_scan_type)type, gpu, &p);
                    weft__define(&v.defines, "WEFT_LOOK", "%d", p.gpu.look);
                    fn(arg, &v);
                }
            }
}
