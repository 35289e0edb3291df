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
static const struct weft__kernel_spec chained_spec = {"scan_chained",
                                                      {"scan/chained.cl", "lib/tile.clh", "scan/quads.clh"}};
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
    {{WEFT_SCHEDULE_GPU, NULL, NULL, "not measured"}, 256, 16, 8, 1 << 22, {256, 16, 32, 0}},
    // 2026-11-22, H200, driver 580, three launches over 40 million i32: 0.1343 ms, best of 30 points; 0.1371 at wg 512,
    // 0.1379 with ipt 12, 0.57 at wg 64 with ipt 4. Chained for three launches, i32: 5.1 million 0.0168 for 0.0431 ms, 10
    // million 0.0352 for 0.0513, 45.9 million 0.122 for 0.154, 100 million 0.252 for 0.312, 400 million 0.977 for 1.183;
    // i32 to i64: 10 million 0.0524 for 0.0737, 400 million 1.584 for 1.987.
    {{WEFT_SCHEDULE_GPU, "NVIDIA", NULL, "swept on an H200"}, 256, 16, 8, 1 << 22, {256, 32, 256, INT64_C(1) << 34}},
    // docs/reference/kernels.md: 58 to 64 vector registers, 32 bytes of local memory; gfx90a and gfx942 hold all waves that they can.
    {{WEFT_SCHEDULE_GPU, WEFT__VENDOR_AMD, NULL, "from the ISA, not run: 32 of 32 waves"},
     256,
     16,
     8,
     1 << 22,
     {256, 16, 32, 0}},
    // 2026-11-21, PoCL 3.1 on 2 shared cores of a Xeon, uniform:500000,500000,4000000, f32: 3.2 ms of CPU time a run
    // in 62 chunks; 3.2 with 16, 3.3 at wg 8, 3.7 with 489, 4.4 with 4. Noise about 0.1 ms.
    {{WEFT_SCHEDULE_CPU, NULL, NULL, "swept with PoCL on 2 cores"}, 1, 65536, 65536, 256, {0}},
};

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
    size_t ipt = (size_t)info->params.ipt, length = (size_t)info->params.wg * ipt;
    if (info->schedule == WEFT_SCHEDULE_CPU)
        length = weft__max(ipt, weft__round_up(weft__ceil_div(n, (size_t)info->params.groups), 8));
    return (struct cut){length, weft__max(1, weft__ceil_div(n, length))};
}

// The buffers of a plan. The words of scan/chained.cl are 64 bits for each 32 of a tile's sum.
static void buffers_need(struct weft__scratch out[NBUFFERS], const struct weft_scan_info *info,
                         enum weft_scan_type type, size_t n)
{
    const size_t sums = weft__mul(cut_make(info, n).count, types[type].sum_bytes);
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
    const int given = info->params.wg || info->params.ipt || info->params.groups,
              best = n_max <= tune->chained.most && !cannot && !given;
    info->params.algo = asked ? asked : best ? WEFT_SCAN_ALGO_CHAINED : WEFT_SCAN_ALGO_THREE;
    *why = info->schedule == WEFT_SCHEDULE_CPU ? "chunks per work-item"
           : asked == WEFT_SCAN_ALGO_CHAINED   ? "one launch of chained tiles, as asked"
           : asked == WEFT_SCAN_ALGO_THREE     ? "three launches, as asked"
           : best                              ? "one launch of chained tiles: faster here"
           : cannot                            ? cannot
                                               : "three launches";
    return WEFT_OK;
}

// Local memory of cl/scan_chained.cl: the tile, a sum for each 32 work-items, the window; where work-items exchange through
// local memory, a word each.
static size_t chained_local(const void *in_bytes, int wg, int ipt)
{
    return (size_t)wg * ((size_t)ipt * *(const size_t *)in_bytes + 5) + 64;
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
    int gpu = ctx->schedule == WEFT_SCHEDULE_GPU, given = p->wg || p->ipt || p->groups || p->look;
    const int chained = p->algo == WEFT_SCAN_ALGO_CHAINED, wide = types[type].sum_bytes == 8;
    status = weft__size_resolve(ctx, &p->wg, &p->ipt,
                                &(struct weft__size_rule){
                                    .name = "scan: ",
                                    .wg = chained ? tune->chained.wg : tune->wg,
                                    .wg_step = gpu ? 32 : 1,
                                    .wg_most = gpu ? 0 : 8,
                                    .ipt = chained ? tune->chained.ipt * 4 / (int)types[type].in_bytes
                                           : wide  ? tune->ipt64
                                                   : tune->ipt,
                                    .ipt_least = gpu ? 4 : 8,
                                    .ipt_most = gpu ? 32 : 1 << 24,
                                    .ipt_step = gpu ? 4 : 8,
                                    .local = chained ? chained_local : NULL,
                                    .of = &types[type].in_bytes,
                                });
    p->groups = p->groups ? p->groups : tune->groups;
    if (chained && !p->look)
        p->look = tune->chained.look < p->wg ? tune->chained.look : p->wg / 32 * 32;
    if (!status)
        status = weft__check_range(ctx, p->groups, 1, INT32_MAX, 1, "scan: groups");
    if (!status && chained)
        status = weft__check_range(ctx, p->look, 32, p->wg, 32, "scan: look");
    if (status)
        return status;
    const size_t tiles = cut_make(info, (size_t)n_max).count;
    if (chained && weft__groups(tiles, (size_t)p->wg) < tiles)
        return weft__fail(ctx, WEFT_ERANGE,
                          "scan: %zu tiles are too many to be chained, below 2^31 work-items are possible", tiles);
    struct weft__scratch needs[NBUFFERS];
    buffers_need(needs, info, type, (size_t)n_max);
    info->workspace_bytes = weft__scratch_bytes(needs, NBUFFERS);
    snprintf(info->why, sizeof info->why, "%s; %s", why, given ? "tuning given by the caller" : tune->key.source);
    return WEFT_OK;
}

static weft_status scan_info(struct weft_scan_info *info, struct weft_context *ctx, enum weft_scan_type type,
                             int64_t n_max, const struct weft_scan_params *params)
{
    struct weft_scan_params p = params ? *params : (struct weft_scan_params){0};
    const struct weft__tune_value values[] = {{"wg", &p.wg}, {"ipt", &p.ipt}, {"groups", &p.groups}, {"look", &p.look}};
    struct weft__tuned tuned = weft__tuned_begin(ctx, "scan", weft_scan_sum_bytes(type), values, 4);
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
        status = scan_info(&info, ctx, type, n_max, params);
    if (out_bytes)
        *out_bytes = status ? 0 : info.workspace_bytes;
    return status;
}

static void scan_define(struct weft__defines *d, enum weft_scan_type type, int gpu, const struct weft_scan_params *p)
{
    weft__define(d, "WEFT_WG", "%d", p->wg);
    if (gpu)
        weft__define(d, "WEFT_IPT", "%d", p->ipt);
    weft__define(d, "WEFT_IN_T", "%s", types[type].in);
    weft__define(d, "WEFT_SUM_T", "%s", types[type].sum);
    weft__define(d, "WEFT_SUM_BITS", "%d", (int)types[type].sum_bytes * 8);
    if (type == WEFT_SCAN_TYPE_F32)
        weft__define(d, "WEFT_SUM_IS_F32", "1");
    weft__define(d, "WEFT_INCLUSIVE", "%d", p->inclusive != 0);
}

static weft_status plan_create(struct weft_scan_plan **out, struct weft_context *ctx, enum weft_scan_type type,
                               int64_t n_max, const struct weft_scan_params *params)
{
    if (out)
        *out = NULL;
    struct weft_scan_info info;
    weft_status status = WEFT__NEED_IN(ctx, {"out", out});
    if (!status)
        status = scan_info(&info, ctx, type, n_max, params);
    if (status)
        return status;
    struct weft__make make = {.ctx = ctx};
    struct weft_scan_plan *plan = weft__make_memory(&make, sizeof *plan, "a scan plan");
    if (!plan)
        return make.status;
    *plan = (struct weft_scan_plan){.ctx = ctx, .type = type, .n_max = (size_t)n_max, .info = info};
    const int gpu = info.schedule == WEFT_SCHEDULE_GPU;
    const cl_uint total = info.params.total != 0;
    struct weft__defines d = {0};
    scan_define(&d, type, gpu, &info.params);
    weft__make_kernel(&make, &plan->k[REDUCE], gpu ? &reduce_spec : &cpu_reduce_spec, &d);
    if (gpu)
        weft__make_kernel(&make, &plan->k[SPINE], &spine_spec, &d);
    weft__make_kernel(&make, &plan->k[DOWN], gpu ? &down_spec : &cpu_down_spec, &d);
    if (info.params.algo == WEFT_SCAN_ALGO_CHAINED) {
        weft__define(&d, "WEFT_LOOK", "%d", info.params.look);
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
    struct weft__limit limit = weft__limit_begin(ctx);
    weft_status status;
    do
        status = plan_create(out, ctx, type, n_max, params);
    while (weft__limit_again(&limit, status));
    if (!status)
        status = weft__scan_trial(ctx, *out, type, n_max);
    if (status && out)
        weft_scan_plan_destroy(out);
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
    WEFT__LAUNCH(s, plan->k[CHAINED], tiles, (size_t)plan->info.params.wg, WEFT__ARG(in), WEFT__ARG(out),
                 WEFT__ARG(words, plan->b[WORDS]), WEFT__ARG(n), WEFT__ARG(tiles), WEFT__ARG(run));
}

void weft__scan_last_run(struct weft_scan_plan *plan)
{
    plan->run = RUNS - 1;
}

static void run_gpu(struct weft_scan_plan *plan, struct weft__stream *s, cl_mem in, cl_mem out, cl_ulong n)
{
    size_t wg = (size_t)plan->info.params.wg;
    cl_ulong tiles = cut_make(&plan->info, n).count;
    cl_uint has_sums = tiles > 1;
    size_t groups = weft__min(weft__groups(tiles, wg), (size_t)plan->info.params.groups);
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
    size_t wg = (size_t)plan->info.params.wg, groups = weft__ceil_div(cut.count, wg);
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
                struct weft_scan_params p = {.inclusive = inclusive, .wg = gpu ? 256 : 1};
                p.ipt = types[type].sum_bytes == 8 ? 8 : 16;
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
                    p.ipt = (types[type].in_bytes == 8 ? 8 : 16) << wide;
                    p.look = wide ? 256 : 32;
                    v.defines = (struct weft__defines){0};
                    scan_define(&v.defines, (enum weft_scan_type)type, gpu, &p);
                    weft__define(&v.defines, "WEFT_LOOK", "%d", p.look);
                    fn(arg, &v);
                }
            }
}
