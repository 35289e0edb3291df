// SPDX-License-Identifier: Apache-2.0
// Sorts the segments of an array, stable: tiles or chunks first, then rounds that merge runs of them inside segments.
//
// pass          | reads                   | writes                | form of an element on its way | buffers
// GPU
// segsort_tile  | key, val; offsets       | out or tmp            | sorted in its tile            | tmp: KEY_TMP, VAL_TMP
// then for each round of merges, of up to 2^bits runs:
// segsort_cut   | keys of the last round  | where tiles begin     | stays                         | SCRATCH: cuts
// segsort_join  | the last round; cuts    | the other of out, tmp | sorted in its run             | KEY_TMP, VAL_TMP
// CPU
// segsort_chunk | key, val; offsets       | out or tmp            | sorted in its chunk           | the other is scratch
// then for each round of merges, of two runs:
// segsort_merge | the last round; offsets | the other of out, tmp | sorted in its run             | KEY_TMP, VAL_TMP
//
// One segment of many elements is sorted digit by digit on a GPU: segsort_radix.c.
#include "host/src/core/check.h"
#include "host/src/core/limits.h"
#include "host/src/core/tune.h"
#include "host/src/primitive/key.h"
#include "host/src/primitive/part.h"
#include "host/src/primitive/segsort.h"
#include "host/src/core/names.h"
#include "host/src/primitive/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

WEFT__NAMES(segsort_whole, "auto", "merge", "radix", "chained");

#define CUT_WG   32
#define MAX_BITS 8

static const struct weft__kernel_spec tile_spec = {"segsort_tile", {"segsort/tile.cl", "lib/tile.clh"}};
static const struct weft__kernel_spec join_spec = {"segsort_join", {"segsort/tile.cl", "lib/tile.clh"}};
static const struct weft__kernel_spec cut_spec = {"segsort_cut", {"segsort/cut.cl"}};
static const struct weft__kernel_spec chunk_spec = {"segsort_chunk", {"segsort/cpu.cl"}};
static const struct weft__kernel_spec merge_spec = {"segsort_merge", {"segsort/cpu.cl"}};

struct weft_tune_segsort {
    struct weft__tune_key key;
    int wg, ipt, bits, groups; // groups 0: one chunk per compute unit
    int radix;                 // bits of a step in local memory
};
static const struct weft_tune_segsort tune_table[] = {
    // For AMD it is also what docs/log/amd-occupancy.md chooses.
    {{WEFT_SCHEDULE_GPU, NULL, 0, NULL, "not measured"}, 256, 8, 8, 1, 8},
    // 2026-11-22, one NVIDIA H200, 10 million u32 + 4: blocks, rows, mixed 0.222, 0.703, 0.810 ms, the last two the best of 36
    // points of weft-bench -o segsort --sweep; 0.262, 0.865, 0.944 with 256 x 8; blocks alone 0.195 with 128 x 8.
    {{WEFT_SCHEDULE_GPU, "NVIDIA", 0, NULL, "swept on an H200"}, 128, 16, 8, 1, 8},
    // 2026-11-21, PoCL 3.1 on 2 shared cores of a Xeon, uniform:500000,500000,4000000, u32 + 4: 276 ms of CPU time for
    // all four cases with a chunk for each core; 333, 373, 413 with 2, 4, 8 times as many, 253 on one core alone.
    {{WEFT_SCHEDULE_CPU, NULL, 0, NULL, "swept with PoCL on 2 cores"}, 1, 16384, 1, 0, 8},
};

#define GPU(column) WEFT__TUNABLE(#column, struct weft_segsort_params, gpu.column, struct weft_tune_segsort, column)
#define CPU(label, member, column)                                                                                     \
    WEFT__TUNABLE(label, struct weft_segsort_params, cpu.member, struct weft_tune_segsort, column)
static const struct weft__tunable gpu_values[] = {
    {GPU(wg), .low = 32, .step = 32, .most = weft__tunable_wg, .lower = WEFT__LOWER_HALVE, .kept = WEFT__KEPT_FOUND,
     .sweep = {128, 256, 512}, .help = "work-items per work-group"},
    {GPU(ipt), .low = 2, .high = 32, .step = 1, .lower = WEFT__LOWER_HALVE, .kept = WEFT__KEPT_FOUND,
     .sweep = {4, 8, 12, 16}, .help = "elements per work-item"},
    {GPU(bits), .low = 1, .high = MAX_BITS, .step = 1, .kept = WEFT__KEPT_FOUND, .sweep = {4, 6, 8},
     .help = "log2 of the runs merged at once"},
};
static const struct weft__tunable cpu_values[] = {
    {CPU("wg", wg, wg), .low = 1, .high = 8, .step = 1, .most = weft__tunable_wg, .kept = WEFT__KEPT,
     .help = "work-items per work-group"},
    {CPU("ipt", chunk, ipt), .low = 1, .high = 1 << 30, .step = 1, .kept = WEFT__KEPT_FOUND,
     .sweep = {4096, 16384, 65536, 262144}, .help = "least elements of a chunk"},
    {CPU("groups", chunks, groups), .low = 1, .high = INT32_MAX, .step = 1, .kept = WEFT__KEPT_FOUND,
     .sweep = {1, 2, 4, 8, 16, 64}, .help = "most chunks; default 0: one for each compute unit"},
};
const struct weft__tunables weft__segsort_tunables[] = {
    {"segsort", NULL, WEFT_SCHEDULE_GPU, "segsort", WEFT__TUNABLES(gpu_values), WEFT__TUNE_ROWS(tune_table)},
    {"segsort", NULL, WEFT_SCHEDULE_CPU, "segsort", WEFT__TUNABLES(cpu_values), WEFT__TUNE_ROWS(tune_table)},
    {0},
};

enum { SORT, JOIN, CUT, NKERNELS };
enum { KEY_TMP, VAL_TMP, SCRATCH, NBUFFERS };

struct weft_segsort_plan {
    struct weft_context *ctx;
    enum weft_key key;
    int payload_bytes;
    enum weft_ofs ofs;
    int64_t n_max;
    struct weft_segsort_info info;
    int radix;
    struct weft__kernel *k[2][NKERNELS]; // [0] blocks, [1] offsets; CPU schedule: JOIN is segsort_merge, no CUT
    cl_mem b[NBUFFERS];                  // SCRATCH: cuts, or what `whole` wants
    struct weft__radix whole;            // not used where info.params.whole is WEFT_SEGSORT_WHOLE_MERGE
};

static size_t tile_of(const struct weft_segsort_params *p)
{
    return (size_t)p->gpu.wg * (size_t)p->gpu.ipt;
}

// What the local memory of a tile depends on.
struct tile_form {
    enum weft_ofs ofs;
    int radix;
};
static size_t tile_local(const void *of, const void *params)
{
    const struct tile_form *form = of;
    const struct weft_segsort_params *p = params;
    size_t tile = tile_of(p), marks = tile / 8 + tile / 16;
    return 4 * tile + 2 * marks + 2 * ((size_t)p->gpu.wg / 32 << form->radix) + 16 +
           (weft_ofs_bytes(form->ofs) << p->gpu.bits);
}

// Elements of the largest call that merges; tiles alone need no scratch.
static size_t merged_most(const struct weft_segsort_info *info, int64_t n_max)
{
    return info->schedule == WEFT_SCHEDULE_GPU && (size_t)n_max <= tile_of(&info->params) ? 0 : (size_t)n_max;
}

// The buffers of a plan. whole: NULL without that form.
static void buffers_need(struct weft__scratch out[NBUFFERS], const struct weft_segsort_info *info,
                         const struct weft__radix *whole, enum weft_key key, int payload_bytes, enum weft_ofs ofs,
                         int64_t n_max)
{
    size_t n = merged_most(info, n_max), most = whole ? (size_t)n_max : n, scratch = 0;
    if (info->schedule == WEFT_SCHEDULE_GPU && n) {
        // Chunks end with a shorter tile, which at most doubles their number.
        const size_t tiles = 2 * weft__ceil_div(n, tile_of(&info->params)) + 2,
                     runs = weft__min(tiles, (size_t)1 << info->params.gpu.bits);
        scratch = weft__mul(weft__mul(tiles, runs), weft_ofs_bytes(ofs));
    }
    if (whole)
        scratch = weft__max(scratch, weft__radix_scratch_bytes(whole, (size_t)n_max));
    out[KEY_TMP] = (struct weft__scratch){weft__mul(most, weft_key_bytes(key)), "segsort: workspace", false};
    out[VAL_TMP] = (struct weft__scratch){weft__mul(most, (size_t)payload_bytes), "segsort: workspace", false};
    out[SCRATCH] = (struct weft__scratch){scratch, "segsort: workspace", false};
}

static const struct weft__tunables *tunables_of(const struct weft_context *ctx)
{
    return &weft__segsort_tunables[ctx->schedule == WEFT_SCHEDULE_CPU];
}

static weft_status info_resolve(struct weft_segsort_info *info, struct weft_context *ctx, enum weft_key key,
                                int payload_bytes, enum weft_ofs ofs, int64_t n_max,
                                const struct weft_segsort_params *params)
{
    weft_status status = weft__key_check(ctx, key, payload_bytes);
    if (status)
        return status;
    if (ofs != WEFT_OFS_32 && ofs != WEFT_OFS_64)
        return weft__fail(ctx, WEFT_EINVAL, "segsort: %d is not a width of offsets", (int)ofs);
    if (n_max < 0)
        return weft__fail(ctx, WEFT_EINVAL, "segsort: n_max is %lld", (long long)n_max);
    if (ofs == WEFT_OFS_32 && n_max > INT32_MAX)
        return weft__fail(ctx, WEFT_ERANGE, "segsort: n_max %lld is beyond 32-bit offsets", (long long)n_max);
    const int gpu = ctx->schedule == WEFT_SCHEDULE_GPU, given = weft__tunables_given(tunables_of(ctx), params);
    struct weft_tune_segsort row = *WEFT__TUNE_FIND(ctx, tune_table);
    row.groups = row.groups ? row.groups : ctx->device.compute_units;
    *info = (struct weft_segsort_info){.params = *params, .schedule = ctx->schedule};
    status = weft__tunables_resolve(tunables_of(ctx), ctx, &info->params, &row, gpu ? tile_local : NULL,
                                    &(const struct tile_form){ofs, row.radix});
    if (status)
        return status;
    snprintf(info->why, sizeof info->why, "%s; %s",
             gpu ? "tiles in local memory, rounds of many-way merges" : "a chunk per work-item, rounds of merges",
             given ? "tuning given by the caller" : row.key.source);
    return WEFT_OK;
}

static const struct weft__radix *whole_of(const struct weft_segsort_info *info, const struct weft__radix *whole)
{
    return info->params.whole == WEFT_SEGSORT_WHOLE_MERGE ? NULL : whole;
}

static weft_status segsort_info(struct weft_segsort_info *info, struct weft__radix *whole, struct weft_context *ctx,
                                enum weft_key key, int payload_bytes, enum weft_ofs ofs, int64_t n_max,
                                const struct weft_segsort_params *params)
{
    struct weft_segsort_params p = params ? *params : (struct weft_segsort_params){0};
    size_t bytes = weft_key_bytes(key) + (size_t)payload_bytes;
    struct weft__tuned tuned = weft__tuned_begin(ctx, tunables_of(ctx), bytes, &p);
    weft_status status;
    do
        status = info_resolve(info, ctx, key, payload_bytes, ofs, n_max, &p);
    while (weft__tuned_again(&tuned, status, info->why, sizeof info->why));
    char why[128] = "";
    if (!status)
        status = weft__radix_resolve(whole, ctx, &info->params, key, payload_bytes, ofs, n_max, why, sizeof why);
    if (status)
        return status;
    if (*why)
        snprintf(info->why + strlen(info->why), sizeof info->why - strlen(info->why), ". %s", why);
    struct weft__scratch needs[NBUFFERS];
    buffers_need(needs, info, whole_of(info, whole), key, payload_bytes, ofs, n_max);
    info->workspace_bytes = weft__scratch_bytes(needs, NBUFFERS);
    if (whole_of(info, whole))
        info->workspace_bytes = weft__add(info->workspace_bytes, weft__radix_state_bytes(whole));
    return WEFT_OK;
}

weft_status weft_segsort_workspace(size_t *out_bytes, struct weft_context *ctx, enum weft_key key, int payload_bytes,
                                   enum weft_ofs ofs, int64_t n_max, const struct weft_segsort_params *params)
{
    struct weft_segsort_info info;
    struct weft__radix whole;
    weft_status status = WEFT__NEED_IN(ctx, {"out_bytes", out_bytes});
    if (!status)
        status = segsort_info(&info, &whole, ctx, key, payload_bytes, ofs, n_max, params);
    if (out_bytes)
        *out_bytes = status ? 0 : info.workspace_bytes;
    return status;
}

// The defines of one kernel of a plan.
static void segsort_define(struct weft__defines *d, const struct weft_segsort_plan *plan,
                           const struct weft__kernel_spec *spec, int offsets)
{
    const struct weft_segsort_params *p = &plan->info.params;
    const int cut = spec == &cut_spec, cpu = spec == &chunk_spec || spec == &merge_spec;
    weft__define(d, "WEFT_WG", "%d", cut ? CUT_WG : cpu ? p->cpu.wg : p->gpu.wg);
    weft__define(d, "WEFT_OFS_BITS", "%d", plan->ofs == WEFT_OFS_64 ? 64 : 32);
    weft__define(d, "WEFT_OFFSETS", "%d", offsets);
    weft__key_define(d, plan->key, cut ? 0 : plan->payload_bytes);
    if (cut) {
        weft__define(d, "WEFT_RUNS", "%d", 1 << p->gpu.bits);
        weft__define(d, "WEFT_TILE", "%zu", tile_of(p));
    } else if (spec == &tile_spec || spec == &join_spec) {
        weft__define(d, "WEFT_IPT", "%d", p->gpu.ipt);
        weft__define(d, "WEFT_RADIX_BITS", "%d", plan->radix);
        if (spec == &tile_spec)
            weft__define(d, "WEFT_SORT", "1");
        else
            weft__define(d, "WEFT_JOIN", "%d", 1 << p->gpu.bits);
    }
}

static void kernel_make(struct weft__make *make, struct weft__kernel **kernel, const struct weft_segsort_plan *plan,
                        const struct weft__kernel_spec *spec, int offsets)
{
    struct weft__defines d = {0};
    segsort_define(&d, plan, spec, offsets);
    weft__make_kernel(make, kernel, spec, &d);
}

static weft_status plan_create(struct weft_segsort_plan **out, struct weft_context *ctx, enum weft_key key,
                               int payload_bytes, enum weft_ofs ofs, int64_t n_max,
                               const struct weft_segsort_params *params)
{
    if (out)
        *out = NULL;
    struct weft_segsort_info info;
    struct weft__radix whole;
    weft_status status = WEFT__NEED_IN(ctx, {"out", out});
    if (!status)
        status = segsort_info(&info, &whole, ctx, key, payload_bytes, ofs, n_max, params);
    if (status)
        return status;
    struct weft__make make = {.ctx = ctx};
    struct weft_segsort_plan *plan = weft__make_memory(&make, sizeof *plan, "a segmented sort plan");
    if (!plan)
        return make.status;
    *plan = (struct weft_segsort_plan){.ctx = ctx,
                                       .key = key,
                                       .payload_bytes = payload_bytes,
                                       .ofs = ofs,
                                       .n_max = n_max,
                                       .info = info,
                                       .whole = whole,
                                       .radix = WEFT__TUNE_FIND(ctx, tune_table)->radix};
    const int gpu = info.schedule == WEFT_SCHEDULE_GPU, merges = merged_most(&info, n_max) > 0;
    for (int offsets = 0; offsets < 2; offsets++) {
        kernel_make(&make, &plan->k[offsets][SORT], plan, gpu ? &tile_spec : &chunk_spec, offsets);
        if (!gpu || merges)
            kernel_make(&make, &plan->k[offsets][JOIN], plan, gpu ? &join_spec : &merge_spec, offsets);
        if (gpu && merges)
            kernel_make(&make, &plan->k[offsets][CUT], plan, &cut_spec, offsets);
    }
    if (whole_of(&info, &whole))
        weft__radix_make(&plan->whole, &make);
    struct weft__scratch needs[NBUFFERS];
    buffers_need(needs, &info, whole_of(&info, &whole), key, payload_bytes, ofs, n_max);
    weft__make_buffers(&make, plan->b, needs, NBUFFERS);
    if (make.status)
        weft_segsort_plan_destroy(&plan);
    *out = plan;
    return make.status;
}

// `free_choice`: the form of a whole sort was not asked for.
static weft_status plan_tried(struct weft_segsort_plan **out, struct weft_context *ctx, enum weft_key key,
                              int payload_bytes, enum weft_ofs ofs, int64_t n_max,
                              const struct weft_segsort_params *params, bool free_choice)
{
    weft_status status;
    WEFT__LIMITED(status, ctx, plan_create(out, ctx, key, payload_bytes, ofs, n_max, params));
    if (status)
        return status;
    const enum weft_segsort_whole whole = (*out)->info.params.whole;
    const bool other = free_choice && whole > WEFT_SEGSORT_WHOLE_MERGE;
    weft__fallback_begin(ctx);
    status = weft__segsort_trial(ctx, *out, key, payload_bytes, ofs, n_max);
    if (weft__fallback(ctx, status, !other ? NULL : whole == WEFT_SEGSORT_WHOLE_CHAINED ? "a radix sort" : "merging")) {
        struct weft_segsort_params next = params ? *params : (struct weft_segsort_params){0};
        next.whole = whole == WEFT_SEGSORT_WHOLE_CHAINED ? WEFT_SEGSORT_WHOLE_RADIX : WEFT_SEGSORT_WHOLE_MERGE;
        weft_segsort_plan_destroy(out);
        return plan_tried(out, ctx, key, payload_bytes, ofs, n_max, &next, true);
    }
    if (status)
        weft_segsort_plan_destroy(out);
    return status;
}

weft_status weft_segsort_plan_create(struct weft_segsort_plan **out, struct weft_context *ctx, enum weft_key key,
                                     int payload_bytes, enum weft_ofs ofs, int64_t n_max,
                                     const struct weft_segsort_params *params)
{
    return plan_tried(out, ctx, key, payload_bytes, ofs, n_max, params, !(params && params->whole));
}

const struct weft_segsort_info *weft_segsort_plan_info(const struct weft_segsort_plan *plan)
{
    return plan ? &plan->info : NULL;
}

void weft_segsort_plan_destroy(struct weft_segsort_plan **plan)
{
    if (!plan || !*plan)
        return;
    weft__parts_release((*plan)->k[0], NKERNELS, NULL, 0);
    weft__parts_release((*plan)->k[1], NKERNELS, (*plan)->b, NBUFFERS);
    weft__radix_release(&(*plan)->whole);
    free(*plan);
    *plan = NULL;
}

// What one call sorts: segments by offsets, or blocks when offsets is NULL.
struct job {
    cl_mem key, val, offsets, out, out_val;
    cl_long n, segments, block;
};

static size_t power(size_t base, size_t exponent)
{
    size_t out = 1;
    while (exponent--)
        out = weft__mul(out, base);
    return out;
}

static void run_gpu(struct weft_segsort_plan *plan, struct weft__stream *s, const struct job *j)
{
    const struct weft_segsort_params *p = &plan->info.params;
    size_t wg = (size_t)p->gpu.wg, tile = tile_of(p), n = (size_t)j->n, block = (size_t)j->block;
    struct weft__radix_place out = {j->out, j->out_val}, tmp = {plan->b[KEY_TMP], plan->b[VAL_TMP]}, to;
    struct weft__kernel *const *k = plan->k[j->offsets != NULL];
    if (p->whole != WEFT_SEGSORT_WHOLE_MERGE && n >= plan->whole.least && (j->segments == 1 || block == n)) {
        weft__radix_run(&plan->whole, s, (struct weft__radix_place){j->key, j->val}, out, tmp, plan->b[SCRATCH], n);
        return;
    }
    // No segment crosses a chunk: all of it, one block, or as many blocks as a tile holds.
    size_t span = j->offsets ? n : block > tile ? block : tile / block * block, in_span = weft__ceil_div(span, tile);
    size_t rounds = 0, many = 1;
    while (power((size_t)1 << p->gpu.bits, rounds) < in_span)
        rounds++;
    while (power(many, rounds) < in_span)
        many++;
    cl_long chunk = (cl_long)span, per_chunk = (cl_long)in_span;
    cl_long tiles = (cl_long)(weft__ceil_div(n, span) * in_span);
    cl_uint runs = (cl_uint)many;
    size_t groups = weft__groups((size_t)tiles, wg);
    to = rounds % 2 ? tmp : out;
    s->status = WEFT__PARTS_BIND(s->ctx, k, NKERNELS, WEFT__ARG(offsets, j->offsets), WEFT__ARG(cuts, plan->b[SCRATCH]),
                                 WEFT__ARG(segments, j->segments), WEFT__ARG(n, j->n), WEFT__ARG(chunk),
                                 WEFT__ARG(per_chunk), WEFT__ARG(block, j->block), WEFT__ARG(tiles), WEFT__ARG(runs));
    WEFT__LAUNCH(s, k[SORT], groups, wg, WEFT__ARG(key, j->key), WEFT__ARG(val, j->val), WEFT__ARG(key_out, to.key),
                 WEFT__ARG(val_out, to.val));
    for (size_t round = 0; round < rounds; round++) {
        struct weft__radix_place from = to;
        cl_long length = (cl_long)weft__mul(tile, power(many, round));
        to = (rounds - round - 1) % 2 ? tmp : out;
        WEFT__LAUNCH(s, k[CUT], weft__groups((size_t)tiles, CUT_WG), CUT_WG, WEFT__ARG(key, from.key),
                     WEFT__ARG(length));
        WEFT__LAUNCH(s, k[JOIN], groups, wg, WEFT__ARG(key, from.key), WEFT__ARG(val, from.val),
                     WEFT__ARG(key_out, to.key), WEFT__ARG(val_out, to.val), WEFT__ARG(length));
    }
}

static void run_cpu(struct weft_segsort_plan *plan, struct weft__stream *s, const struct job *j)
{
    const struct weft_segsort_params *p = &plan->info.params;
    size_t n = (size_t)j->n, wg = (size_t)p->cpu.wg, rounds = 0;
    cl_long chunk = (cl_long)weft__max((size_t)p->cpu.chunk, weft__ceil_div(n, (size_t)p->cpu.chunks));
    size_t chunks = weft__ceil_div(n, (size_t)chunk), groups = weft__ceil_div(chunks, wg);
    struct weft__kernel *const *k = plan->k[j->offsets != NULL];
    while (((size_t)1 << rounds) < chunks)
        rounds++;
    struct weft__radix_place out = {j->out, j->out_val}, tmp = {plan->b[KEY_TMP], plan->b[VAL_TMP]};
    struct weft__radix_place to = rounds % 2 ? tmp : out, other = rounds % 2 ? out : tmp;
    s->status = WEFT__PARTS_BIND(s->ctx, k, NKERNELS, WEFT__ARG(offsets, j->offsets), WEFT__ARG(segments, j->segments),
                                 WEFT__ARG(n, j->n), WEFT__ARG(block, j->block), WEFT__ARG(chunk));
    WEFT__LAUNCH(s, k[SORT], groups, wg, WEFT__ARG(key, j->key), WEFT__ARG(val, j->val), WEFT__ARG(key_out, to.key),
                 WEFT__ARG(val_out, to.val), WEFT__ARG(key_other, other.key), WEFT__ARG(val_other, other.val));
    for (size_t round = 0; round < rounds; round++) {
        cl_long width = chunk << round;
        WEFT__LAUNCH(s, k[JOIN], groups, wg, WEFT__ARG(key, to.key), WEFT__ARG(val, to.val),
                     WEFT__ARG(key_out, other.key), WEFT__ARG(val_out, other.val), WEFT__ARG(width));
        struct weft__radix_place swap = to;
        to = other;
        other = swap;
    }
}

static void enqueue(struct weft_segsort_plan *plan, struct weft__stream *stream, const struct job *j)
{
    if (j->n && plan->info.schedule == WEFT_SCHEDULE_CPU)
        run_cpu(plan, stream, j);
    else if (j->n)
        run_gpu(plan, stream, j);
}

void weft__segsort_enqueue(struct weft_segsort_plan *plan, struct weft__stream *stream, cl_mem out_key,
                           cl_mem out_payload, cl_mem key, cl_mem payload, int64_t n, cl_mem offsets, int64_t segments)
{
    if (!stream->status)
        enqueue(plan, stream, &(struct job){key, payload, offsets, out_key, out_payload, n, segments, 0});
}

static weft_status run(struct weft_segsort_plan *plan, cl_command_queue queue, const struct job *j, cl_uint nwait,
                       const cl_event *wait, cl_event *event)
{
    struct weft_context *ctx = plan->ctx;
    size_t n = (size_t)j->n, key = weft__mul(n, weft_key_bytes(plan->key)),
           val = weft__mul(n, (size_t)plan->payload_bytes);
    size_t offsets = n && !j->block ? weft__mul((size_t)j->segments + 1, weft_ofs_bytes(plan->ofs)) : 0;
    if (j->n > plan->n_max)
        return weft__fail(ctx, WEFT_EINVAL, "segsort: %zu elements, the plan is for at most %lld", n,
                          (long long)plan->n_max);
    weft_status status = WEFT__BUFFERS(ctx, {"segsort: key", j->key, key}, {"segsort: payload", j->val, val},
                                       {"segsort: offsets", j->offsets, offsets}, {"segsort: out_key", j->out, key},
                                       {"segsort: out_payload", j->out_val, val});
    if (!status)
        status = WEFT__ALONE(ctx, {"segsort: out_key", j->out, key}, {"payload", j->val, val},
                             {"out_payload", j->out_val, val}, {"offsets", j->offsets, offsets});
    if (!status)
        status = WEFT__ALONE(ctx, {"segsort: out_payload", j->out_val, val}, {"key", j->key, key},
                             {"offsets", j->offsets, offsets});
    struct weft__stream stream;
    if (!status)
        status = weft__stream_begin(&stream, ctx, queue, nwait, wait, event);
    if (status)
        return status;
    enqueue(plan, &stream, j);
    return weft__stream_end(&stream);
}

weft_status weft_segsort_run(struct weft_segsort_plan *plan, cl_command_queue queue, cl_mem out_key, cl_mem out_payload,
                             cl_mem key, cl_mem payload, int64_t n, cl_mem offsets, int64_t segments, cl_uint nwait,
                             const cl_event *wait, cl_event *event)
{
    weft__event_none(event);
    if (!plan)
        return WEFT_EINVAL;
    if (n < 0 || segments < 0 || segments > INT32_MAX || (n > 0 && segments == 0))
        return weft__fail(plan->ctx, WEFT_EINVAL, "segsort: %lld elements in %lld segments (1 .. 2^31-1)", (long long)n,
                          (long long)segments);
    struct job job = {key, payload, offsets, out_key, out_payload, n, segments, 0};
    return run(plan, queue, &job, nwait, wait, event);
}

weft_status weft_segsort_blocks_run(struct weft_segsort_plan *plan, cl_command_queue queue, cl_mem out_key,
                                    cl_mem out_payload, cl_mem key, cl_mem payload, int64_t n, int64_t block,
                                    cl_uint nwait, const cl_event *wait, cl_event *event)
{
    weft__event_none(event);
    if (!plan)
        return WEFT_EINVAL;
    if (n < 0 || block < 1)
        return weft__fail(plan->ctx, WEFT_EINVAL, "segsort: n is %lld, block %lld", (long long)n, (long long)block);
    struct job job = {key, payload, NULL, out_key, out_payload, n, 0, n < 1 ? 1 : block < n ? block : n};
    return run(plan, queue, &job, nwait, wait, event);
}

void weft__segsort_variants(weft__variant_fn *fn, void *arg)
{
    static const struct weft__kernel_spec *const gpu[] = {&tile_spec, &join_spec, &cut_spec};
    static const struct weft__kernel_spec *const cpu[] = {&chunk_spec, &merge_spec};
    for (enum weft_key key = WEFT_KEY_U32; key <= WEFT_KEY_I64; key++)
        for (int i = 0; i < 6; i++) {
            struct weft_segsort_plan plan = {.key = key, .payload_bytes = i % 3 * 4, .radix = 8};
            int offsets = (i + (int)key) % 2;
            plan.ofs = i < 3 ? WEFT_OFS_32 : WEFT_OFS_64;
            plan.info.params = (struct weft_segsort_params){.gpu = {.wg = 256, .ipt = 8, .bits = 6}, .cpu.wg = 1};
            for (size_t k = 0; k < 3; k++) {
                struct weft__variant v = {.spec = gpu[k], .schedule = WEFT_SCHEDULE_GPU};
                segsort_define(&v.defines, &plan, gpu[k], offsets);
                fn(arg, &v);
            }
            // NVIDIA's row, where it is most common.
            for (size_t k = 0; k < 2 && key == WEFT_KEY_U32 && i == 1; k++) {
                struct weft__variant v = {.spec = gpu[k], .schedule = WEFT_SCHEDULE_GPU};
                plan.info.params.gpu.wg = 128;
                plan.info.params.gpu.ipt = 16;
                segsort_define(&v.defines, &plan, gpu[k], offsets);
                fn(arg, &v);
            }
            for (size_t k = 0; k < 2; k++) {
                struct weft__variant v = {.spec = cpu[k], .schedule = WEFT_SCHEDULE_CPU};
                segsort_define(&v.defines, &plan, cpu[k], offsets);
                fn(arg, &v);
            }
        }
    weft__radix_variants(fn, arg);
}
