// SPDX-License-Identifier: Apache-2.0
// Counts how often each index occurs: rows of private bins that are summed, or atomics; on request summed up to pointers.
#include "host/src/core/check.h"
#include "host/src/core/fill.h"
#include "host/src/core/limits.h"
#include "host/src/core/make.h"
#include "host/src/primitive/scan.h"
#include "host/src/core/tune.h"
#include "host/src/core/variants.h"
#include "host/src/core/names.h"
#include "host/src/primitive/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <weft/histogram.h>

WEFT__NAMES(histogram_algo, "auto", "rows", "atomic");

static const struct weft__kernel_spec rows_spec = {"histogram_rows", {"histogram/gpu.cl"}};
static const struct weft__kernel_spec atomic_spec = {"histogram_atomic", {"histogram/gpu.cl"}};
static const struct weft__kernel_spec sum_spec = {"histogram_sum", {"histogram/sum.cl"}};
static const struct weft__kernel_spec cpu_rows_spec = {"histogram_cpu_rows", {"histogram/cpu.cl"}};
static const struct weft__kernel_spec cpu_sum_spec = {"histogram_cpu_sum", {"histogram/cpu.cl"}};

struct weft_tune_histogram {
    struct weft__tune_key key;
    int wg, ipt;
    int per_unit;   // groups for each compute unit
    int range;      // bins in local memory (GPU), least bins of a range (CPU)
    int max_ranges; // GPU: more ranges than this, and atomics are chosen
};
static const struct weft_tune_histogram tune_table[] = {
    {{WEFT_SCHEDULE_GPU, NULL, 0, NULL, "not measured"}, 256, 8, 8, 8192, 8},
    // 2026-11-22, one NVIDIA H200, 20 million indices, the best of 81 points of weft-bench -o histogram -a rows --sweep: 10000
    // bins 0.0634 ms, 0.116 with the row above; 60000 bins 0.187 and 0.276; 80000 bins, which are 8 ranges, 0.216.
    // Atomics take 0.442, 0.270 and 0.263. Those with ranges of 11264 bins, which fill the local memory: with 4 KiB more for lanes
    // without shuffles the driver refuses them.
    {{WEFT_SCHEDULE_GPU, "NVIDIA", 0, NULL, "swept on an H200"}, 1024, 8, 2, 10240, 8},
    // docs/log/amd-occupancy.md: as many bins as leave half of the waves.
    {{WEFT_SCHEDULE_GPU, WEFT__VENDOR_AMD, 0, NULL, "from the ISA, not run: 16 of 32 waves"}, 256, 8, 8, 4096, 8},
    {{WEFT_SCHEDULE_GPU, WEFT__VENDOR_AMD, 32, NULL, "from the ISA, not run: 32 of 64 waves"}, 256, 8, 8, 8192, 8},
    // 2026-11-21, PoCL 3.1 on 2 shared cores of a Xeon, uniform:500000,500000,10000000: 8.4 ms with a row for each core,
    // the best point of weft-bench -o histogram --sweep; 8.6, 9.2, 10.5 with 2, 4, 8 times as many, 15 with one row.
    {{WEFT_SCHEDULE_CPU, NULL, 0, NULL, "swept with PoCL on 2 cores"}, 1, 16384, 1, 4096, 0},
};

// Most bins of a range beside the wg words that lanes without a faster way want.
static int64_t most_range(const struct weft_context *ctx, const void *params)
{
    return ctx->device.local_bytes / 4 - ((const struct weft_histogram_params *)params)->gpu.wg;
}

#define GPU(label, member, column)                                                                                     \
    WEFT__TUNABLE(label, struct weft_histogram_params, gpu.member, struct weft_tune_histogram, column)
#define CPU(label, member, column)                                                                                     \
    WEFT__TUNABLE(label, struct weft_histogram_params, cpu.member, struct weft_tune_histogram, column)
static const struct weft__tunable rows_values[] = {
    {GPU("wg", wg, wg), .low = 32, .step = 32, .most = weft__tunable_wg, .lower = WEFT__LOWER_HALVE,
     .kept = WEFT__KEPT_FOUND, .sweep = {256, 512, 1024}, .help = "work-items per work-group"},
    {GPU("ipt", ipt, ipt), .low = 4, .high = 32, .step = 4, .kept = WEFT__KEPT_FOUND, .sweep = {4, 8, 16},
     .help = "indices that a work-item loads at once"},
    {GPU("groups", groups, per_unit), .low = 1, .high = 1 << 22, .step = 1, .kept = WEFT__KEPT_FOUND,
     .sweep = {264, 528, 1056}, .help = "most work-groups of one launch; the default is for each compute unit"},
    {GPU("range", range, range), .low = 1, .step = 1, .most = most_range, .kept = WEFT__KEPT_FOUND,
     .sweep = {4096, 8192, 11264}, .help = "bins that a work-group holds in local memory"},
};
static const struct weft__tunable atomic_values[] = {
    {GPU("wg", wg, wg), .low = 32, .step = 32, .most = weft__tunable_wg, .lower = WEFT__LOWER_HALVE,
     .kept = WEFT__KEPT_FOUND, .sweep = {128, 256, 512, 1024}, .help = "work-items per work-group"},
    {GPU("ipt", ipt, ipt), .low = 4, .high = 32, .step = 4, .kept = WEFT__KEPT_FOUND, .sweep = {4, 8, 16},
     .help = "indices that a work-item loads at once"},
    {GPU("groups", groups, per_unit), .low = 1, .high = 1 << 22, .step = 1, .kept = WEFT__KEPT_FOUND,
     .sweep = {1056, 65536}, .help = "most work-groups of one launch; the default is for each compute unit"},
    {GPU("range", range, range), .low = 1, .step = 1, .most = most_range, .kept = WEFT__KEPT, .help = "of rows alone"},
};
static const struct weft__tunable cpu_values[] = {
    {CPU("wg", wg, wg), .low = 1, .high = 8, .step = 1, .most = weft__tunable_wg, .kept = WEFT__KEPT_FOUND,
     .sweep = {1, 8}, .help = "work-items per work-group"},
    {CPU("ipt", chunk, ipt), .low = 1, .high = 1 << 24, .step = 1, .kept = WEFT__KEPT,
     .help = "least indices of a chunk"},
    {CPU("groups", chunks, per_unit), .low = 1, .high = 1 << 22, .step = 1, .kept = WEFT__KEPT_FOUND,
     .sweep = {1, 2, 4, 8, 16, 32, 64, 128}, .help = "most chunks; the default is for each compute unit"},
    {CPU("range", range, range), .low = 1, .high = INT32_MAX, .step = 1, .kept = WEFT__KEPT,
     .help = "least bins of a range"},
};
enum { BY_CPU, BY_ROWS, BY_ATOMIC };
const struct weft__tunables weft__histogram_tunables[] = {
    [BY_CPU] = {"histogram", NULL, WEFT_SCHEDULE_CPU, "histogram.rows", WEFT__TUNABLES(cpu_values),
                WEFT__TUNE_ROWS(tune_table)},
    [BY_ROWS] = {"histogram", "rows", WEFT_SCHEDULE_GPU, "histogram.rows", WEFT__TUNABLES(rows_values),
                 WEFT__TUNE_ROWS(tune_table)},
    [BY_ATOMIC] = {"histogram", NULL, WEFT_SCHEDULE_GPU, "histogram.atomic", WEFT__TUNABLES(atomic_values),
                   WEFT__TUNE_ROWS(tune_table)},
    {0},
};
static const struct weft__tunables *tunables_of(const struct weft_context *ctx, enum weft_histogram_algo algo)
{
    return &weft__histogram_tunables[ctx->schedule == WEFT_SCHEDULE_CPU   ? BY_CPU
                                     : algo == WEFT_HISTOGRAM_ALGO_ATOMIC ? BY_ATOMIC
                                                                          : BY_ROWS];
}

enum { COUNT, SUM, FILL, NKERNELS };

struct weft_histogram_plan {
    struct weft_context *ctx;
    int64_t bins;
    enum weft_ofs ofs;
    size_t n_max;
    struct weft_histogram_info info;
    struct weft__kernel *k[NKERNELS]; // SUM: with rows only; FILL: atomics only
    cl_mem rows;                      // NULL: counts go straight to the result
    struct weft_scan_plan *scan;
    bool apart; // counts are in the first row, beside the pointers made of them
};

// Of pointers. With 32 bits it may chain its tiles, which it does not in place: counts are apart then.
static enum weft_scan_type scan_type(enum weft_ofs ofs)
{
    return ofs == WEFT_OFS_64 ? WEFT_SCAN_TYPE_I64 : WEFT_SCAN_TYPE_I32;
}

static struct weft_scan_params scan_params(enum weft_ofs ofs)
{
    return (struct weft_scan_params){.total = 1,
                                     .algo = ofs == WEFT_OFS_64 ? WEFT_SCAN_ALGO_THREE : WEFT_SCAN_ALGO_AUTO};
}

// How n indices are counted: slice s of them into row s, range by range.
struct cut {
    size_t slices, slice, ranges, range;
};
static struct cut cut_make(const struct weft_histogram_info *info, int64_t bins, size_t n)
{
    const struct weft_histogram_params *p = &info->params;
    int gpu = info->schedule == WEFT_SCHEDULE_GPU;
    size_t groups = (size_t)(gpu ? p->gpu.groups : p->cpu.chunks), width = weft__max(1, (size_t)bins);
    size_t step = gpu ? (size_t)p->gpu.wg * (size_t)p->gpu.ipt : (size_t)p->cpu.chunk;
    struct cut cut = {.range = (size_t)(gpu ? p->gpu.range : p->cpu.range)};
    if (info->params.algo == WEFT_HISTOGRAM_ALGO_ATOMIC)
        return (struct cut){1, n, 1, width};
    cut.ranges = gpu ? weft__ceil_div(width, cut.range) : 1;
    // Rows that are written and summed should not outweigh the indices; and this grows with n.
    cut.slices = weft__min(groups / cut.ranges, weft__min(2 * n / width, gpu ? weft__ceil_div(n, step) : n / step));
    cut.slices = weft__max(1, cut.slices);
    cut.slice = weft__max(step, weft__round_up(weft__ceil_div(n, cut.slices), gpu ? step : 1));
    if (!gpu) {
        cut.ranges = weft__max(1, weft__min(groups / cut.slices, width / cut.range));
        cut.range = weft__ceil_div(width, cut.ranges);
    }
    return cut;
}

// Indices of one slab, out of n that are left.
static size_t slab_of(const struct weft_histogram_plan *plan, size_t n)
{
    return plan->ofs == WEFT_OFS_64 ? weft__min(n, (size_t)plan->info.params.slab) : n;
}

static int default_range(const struct weft_context *ctx, int wg)
{
    const struct weft_tune_histogram *row = WEFT__TUNE_FIND(ctx, tune_table);
    const int64_t most = most_range(ctx, &(struct weft_histogram_params){.gpu.wg = wg});
    return row->range < most ? row->range : (int)most;
}

static enum weft_histogram_algo algo_choose(const struct weft_context *ctx, int64_t bins, int range)
{
    const struct weft_tune_histogram *row = WEFT__TUNE_FIND(ctx, tune_table);
    int64_t ranges = range > 0 ? (bins + range - 1) / range : INT64_MAX;
    return ctx->schedule == WEFT_SCHEDULE_GPU && ranges > row->max_ranges ? WEFT_HISTOGRAM_ALGO_ATOMIC
                                                                          : WEFT_HISTOGRAM_ALGO_ROWS;
}

// Resolve the tuning values and check them.
static weft_status tune(struct weft_histogram_info *info, struct weft_context *ctx, int64_t bins)
{
    struct weft_tune_histogram row = *WEFT__TUNE_FIND(ctx, tune_table);
    struct weft_histogram_params *p = &info->params;
    const struct weft__tunables *set = tunables_of(ctx, p->algo);
    const int gpu = ctx->schedule == WEFT_SCHEDULE_GPU, given = weft__tunables_given(set, p);
    row.per_unit *= ctx->device.compute_units > 0 ? ctx->device.compute_units : 1;
    p->slab = p->slab ? p->slab : WEFT__HOSTILE(INT64_C(1) << 31, INT64_C(1) << 10);
    weft_status status = weft__tunables_resolve(set, ctx, p, &row, NULL, NULL);
    if (!status)
        status = weft__check_range(ctx, p->slab, 4, INT64_C(1) << 31, 4, "histogram: slab");
    if (status)
        return status;
    if (!p->algo)
        p->algo = algo_choose(ctx, bins, p->gpu.range);
    if (p->algo == WEFT_HISTOGRAM_ALGO_ATOMIC && !gpu)
        return weft__fail(ctx, WEFT_EINVAL, "histogram: the CPU schedule has no atomics");
    snprintf(info->why, sizeof info->why, "%s; %s",
             p->algo == WEFT_HISTOGRAM_ALGO_ATOMIC ? "too many bins for local memory"
             : gpu                                 ? "bins fit local memory, in ranges"
                                                   : "private rows for each core",
             given ? "tuning given by the caller" : row.key.source);
    return WEFT_OK;
}

static bool summed(const struct weft_histogram_info *info, enum weft_ofs ofs)
{
    return info->rows > 1 || ofs == WEFT_OFS_64;
}

static size_t rows_bytes(const struct weft_histogram_info *info, int64_t bins, enum weft_ofs ofs, bool apart)
{
    const size_t rows = summed(info, ofs) ? (size_t)info->rows : apart ? 1 : 0;
    return weft__mul(weft__mul(rows, (size_t)bins), 4);
}

// Resolve defaults, check everything, count the scratch bytes.
static weft_status info_resolve(struct weft_histogram_info *info, bool *apart, struct weft_context *ctx, int64_t bins,
                                enum weft_ofs ofs, int64_t n_max, const struct weft_histogram_params *params)
{
    *info = (struct weft_histogram_info){.params = *params, .schedule = ctx->schedule};
    if (ofs != WEFT_OFS_32 && ofs != WEFT_OFS_64)
        return weft__fail(ctx, WEFT_EINVAL, "histogram: there are no offsets %d", (int)ofs);
    if ((unsigned)info->params.algo > WEFT_HISTOGRAM_ALGO_ATOMIC)
        return weft__fail(ctx, WEFT_EINVAL, "histogram: there is no algorithm %d", (int)info->params.algo);
    if (n_max < 0)
        return weft__fail(ctx, WEFT_EINVAL, "histogram: n_max is %lld", (long long)n_max);
    if (ofs == WEFT_OFS_32 && n_max > INT32_MAX)
        return weft__fail(ctx, WEFT_ERANGE, "histogram: %lld indices exceed 32-bit counts", (long long)n_max);
    weft_status status = tune(info, ctx, bins);
    if (status)
        return status;
    size_t most = ofs == WEFT_OFS_64 ? weft__min((size_t)n_max, (size_t)info->params.slab) : (size_t)n_max;
    struct cut cut = cut_make(info, bins, most);
    struct weft_scan_info scan = {0};
    const struct weft_scan_params sp = scan_params(ofs);
    info->rows = (int)cut.slices;
    info->ranges = (int)cut.ranges;
    if (info->params.pointers)
        status = weft__scan_info(&scan, ctx, scan_type(ofs), bins, &sp);
    *apart = bins > 0 && scan.params.algo == WEFT_SCAN_ALGO_CHAINED;
    info->workspace_bytes = weft__add(rows_bytes(info, bins, ofs, *apart), scan.workspace_bytes);
    return status;
}

static weft_status histogram_info(struct weft_histogram_info *info, bool *apart, struct weft_context *ctx, int64_t bins,
                                  enum weft_ofs ofs, int64_t n_max, const struct weft_histogram_params *params)
{
    struct weft_histogram_params p = params ? *params : (struct weft_histogram_params){0};
    weft_status status = weft__check_range(ctx, bins, 0, INT32_MAX, 1, "histogram: bins");
    if (status)
        return status;
    if (!p.algo &&
        !weft__tunables_given(tunables_of(ctx, p.algo), &p)) // the defaults choose it, whatever the file says
        p.algo = algo_choose(ctx, bins, default_range(ctx, WEFT__TUNE_FIND(ctx, tune_table)->wg));
    struct weft__tuned tuned = weft__tuned_begin(ctx, tunables_of(ctx, p.algo), weft_ofs_bytes(ofs), &p);
    do
        status = info_resolve(info, apart, ctx, bins, ofs, n_max, &p);
    while (weft__tuned_again(&tuned, status, info->why, sizeof info->why));
    return status;
}

weft_status weft_histogram_workspace(size_t *out_bytes, struct weft_context *ctx, int64_t bins, enum weft_ofs ofs,
                                     int64_t n_max, const struct weft_histogram_params *params)
{
    struct weft_histogram_info info;
    bool apart;
    weft_status status = WEFT__NEED_IN(ctx, {"out_bytes", out_bytes});
    if (!status)
        status = histogram_info(&info, &apart, ctx, bins, ofs, n_max, params);
    if (out_bytes)
        *out_bytes = status ? 0 : info.workspace_bytes;
    return status;
}

// Least k with 2^k >= n.
static cl_uint log2_of(size_t n)
{
    cl_uint k = 0;
    while (((size_t)1 << k) < n)
        k++;
    return k;
}

static void count_define(struct weft__defines *d, int gpu, const struct weft_histogram_params *p, int64_t bins,
                         enum weft_ofs ofs)
{
    weft__define(d, "WEFT_WG", "%d", gpu ? p->gpu.wg : p->cpu.wg);
    if (gpu) {
        weft__define(d, "WEFT_IPT", "%d", p->gpu.ipt);
        // By eights, so that numbers of bins share programs.
        cl_uint bits = p->algo == WEFT_HISTOGRAM_ALGO_ATOMIC ? log2_of((size_t)bins + 1) : 1;
        weft__define(d, "WEFT_KEY_BITS", "%u", (bits + 7) / 8 * 8);
    } else {
        weft__define(d, "WEFT_OFS_BITS", "%d", (int)weft_ofs_bytes(ofs) * 8);
    }
}

static void sum_define(struct weft__defines *d, int gpu, const struct weft_histogram_params *p, enum weft_ofs ofs)
{
    weft__define(d, "WEFT_WG", "%d", gpu ? p->gpu.wg : p->cpu.wg);
    weft__define(d, "WEFT_OFS_BITS", "%d", (int)weft_ofs_bytes(ofs) * 8);
}

// With the programs of a plan for `like` bins.
static weft_status plan_create(struct weft_histogram_plan **out, struct weft_context *ctx, int64_t bins, int64_t like,
                               enum weft_ofs ofs, int64_t n_max, const struct weft_histogram_params *params)
{
    if (out)
        *out = NULL;
    struct weft_histogram_info info;
    bool apart = false;
    weft_status status = WEFT__NEED_IN(ctx, {"out", out});
    if (!status)
        status = histogram_info(&info, &apart, ctx, bins, ofs, n_max, params);
    if (status)
        return status;
    struct weft__make make = {.ctx = ctx};
    struct weft_histogram_plan *plan = weft__make_memory(&make, sizeof *plan, "a histogram plan");
    if (!plan)
        return make.status;
    *plan = (struct weft_histogram_plan){
        .ctx = ctx, .bins = bins, .ofs = ofs, .n_max = (size_t)n_max, .info = info, .apart = apart};
    int gpu = info.schedule == WEFT_SCHEDULE_GPU, atomic = info.params.algo == WEFT_HISTOGRAM_ALGO_ATOMIC;
    const size_t bytes = rows_bytes(&info, bins, ofs, apart);
    const struct weft_scan_params sp = scan_params(ofs);
    const cl_uint nbins = (cl_uint)bins;
    struct weft__defines count = {0}, sum = {0};
    count_define(&count, gpu, &info.params, like, ofs);
    sum_define(&sum, gpu, &info.params, ofs);
    weft__make_kernel(&make, &plan->k[COUNT], atomic ? &atomic_spec : gpu ? &rows_spec : &cpu_rows_spec, &count);
    if (summed(&info, ofs))
        weft__make_kernel(&make, &plan->k[SUM], gpu ? &sum_spec : &cpu_sum_spec, gpu ? &sum : &count);
    weft__make_buffers(&make, &plan->rows, &(const struct weft__scratch){bytes, "histogram: workspace", false}, 1);
    if (!make.status)
        make.status = WEFT__PARTS_BIND(ctx, plan->k, NKERNELS, WEFT__ARG(rows, plan->rows), WEFT__ARG(bins, nbins));
    if (!make.status && atomic)
        make.status = weft__fill_create(&plan->k[FILL], ctx);
    if (!make.status && info.params.pointers)
        make.status = weft_scan_plan_create(&plan->scan, ctx, scan_type(ofs), bins, &sp);
    if (!make.status && plan->scan) // which may be another than was expected
        plan->info.workspace_bytes = weft__add(bytes, weft_scan_plan_info(plan->scan)->workspace_bytes);
    if (make.status)
        weft_histogram_plan_destroy(&plan);
    *out = plan;
    return make.status;
}

weft_status weft_histogram_plan_create(struct weft_histogram_plan **out, struct weft_context *ctx, int64_t bins,
                                       enum weft_ofs ofs, int64_t n_max, const struct weft_histogram_params *params)
{
    weft_status status;
    WEFT__LIMITED(status, ctx, plan_create(out, ctx, bins, bins, ofs, n_max, params));
    if (!status)
        status = weft__histogram_trial(ctx, *out, bins, ofs, n_max);
    if (status && out)
        weft_histogram_plan_destroy(out);
    return status;
}

weft_status weft__histogram_like(struct weft_histogram_plan **out, struct weft_context *ctx, int64_t bins, int64_t like,
                                 enum weft_ofs ofs, int64_t n_max, const struct weft_histogram_params *params)
{
    weft_status status;
    WEFT__LIMITED(status, ctx, plan_create(out, ctx, bins, like, ofs, n_max, params));
    return status;
}

const struct weft_histogram_info *weft_histogram_plan_info(const struct weft_histogram_plan *plan)
{
    return plan ? &plan->info : NULL;
}

void weft_histogram_plan_destroy(struct weft_histogram_plan **plan)
{
    if (!plan || !*plan)
        return;
    weft__parts_release((*plan)->k, NKERNELS, &(*plan)->rows, 1);
    weft_scan_plan_destroy(&(*plan)->scan);
    free(*plan);
    *plan = NULL;
}

// idx[start .. start+n-1] counted into cut->slices rows.
static void count_enqueue(struct weft_histogram_plan *plan, struct weft__stream *s, const struct cut *cut, cl_mem idx,
                          cl_mem rows, cl_ulong start, cl_ulong n)
{
    struct weft__kernel *kernel = plan->k[COUNT];
    const struct weft_histogram_params *p = &plan->info.params;
    const int gpu = plan->info.schedule == WEFT_SCHEDULE_GPU;
    size_t wg = (size_t)(gpu ? p->gpu.wg : p->cpu.wg);
    cl_uint slices = (cl_uint)cut->slices, range = (cl_uint)cut->range, log_ranges = log2_of(cut->ranges);
    cl_ulong slice = cut->slice;
    size_t jobs = cut->slices << log_ranges;
    if (p->algo == WEFT_HISTOGRAM_ALGO_ATOMIC) {
        size_t groups = weft__min(weft__ceil_div(n, wg * (size_t)p->gpu.ipt), (size_t)p->gpu.groups);
        weft__fill(s, plan->k[FILL], rows, 0, (uint64_t)plan->bins, 0);
        WEFT__LAUNCH(s, kernel, groups, wg, WEFT__ARG(idx), WEFT__ARG(counts, rows), WEFT__ARG(start), WEFT__ARG(n));
    } else if (gpu) {
        WEFT__LAUNCH(s, kernel, weft__groups(jobs, wg), wg, WEFT__ARG(idx), WEFT__ARG(rows), WEFT__ARG(start),
                     WEFT__ARG(n), WEFT__ARG(slice), WEFT__ARG(slices), WEFT__ARG(log_ranges), WEFT__ARG(range),
                     WEFT__LOCAL(hist, (size_t)range * 4));
    } else {
        WEFT__LAUNCH(s, kernel, weft__ceil_div(jobs, wg), wg, WEFT__ARG(idx), WEFT__ARG(rows), WEFT__ARG(start),
                     WEFT__ARG(n), WEFT__ARG(slice), WEFT__ARG(slices), WEFT__ARG(log_ranges), WEFT__ARG(range));
    }
}

// out = rows summed, or out += that.
static void sum_enqueue(struct weft_histogram_plan *plan, struct weft__stream *s, size_t slices, cl_mem out,
                        cl_uint add)
{
    const struct weft_histogram_params *p = &plan->info.params;
    cl_uint bins = (cl_uint)plan->bins, nrows = (cl_uint)slices;
    if (plan->info.schedule == WEFT_SCHEDULE_GPU) {
        // Few bins and many rows: several work-items share the rows of a bin.
        cl_uint spread = nrows > 8 && bins < 1 << 16;
        size_t wg = (size_t)p->gpu.wg, groups = weft__groups(weft__ceil_div(bins, spread ? 32 : wg), wg);
        WEFT__LAUNCH(s, plan->k[SUM], groups, wg, WEFT__ARG(out), WEFT__ARG(nrows), WEFT__ARG(spread), WEFT__ARG(add));
    } else {
        cl_uint chunk = (cl_uint)weft__max(1024, weft__ceil_div(bins, 4 * (size_t)p->cpu.chunks));
        size_t wg = (size_t)p->cpu.wg, groups = weft__ceil_div(weft__ceil_div(bins, chunk), wg);
        WEFT__LAUNCH(s, plan->k[SUM], groups, wg, WEFT__ARG(out), WEFT__ARG(nrows), WEFT__ARG(chunk), WEFT__ARG(add));
    }
}

weft_status weft_histogram_run(struct weft_histogram_plan *plan, cl_command_queue queue, cl_mem out, cl_mem idx,
                               int64_t n, cl_uint nwait, const cl_event *wait, cl_event *event)
{
    weft__event_none(event);
    if (!plan)
        return WEFT_EINVAL;
    struct weft_context *ctx = plan->ctx;
    if (n < 0 || (uint64_t)n > plan->n_max)
        return weft__fail(ctx, WEFT_EINVAL, "histogram: n is %lld, the plan is for 0..%zu", (long long)n, plan->n_max);
    const bool pointers = plan->info.params.pointers;
    size_t outputs = (size_t)plan->bins + (pointers ? 1 : 0);
    weft_status status = WEFT__BUFFERS(ctx, {"histogram: idx", idx, weft__mul((size_t)n, 4)},
                                       {"histogram: out", out, weft__mul(outputs, weft_ofs_bytes(plan->ofs))});
    if (!status)
        status = WEFT__ALONE(ctx, {"histogram: out", out, outputs}, {"idx", idx, (size_t)n});
    struct weft__stream stream;
    if (!status)
        status = weft__stream_begin(&stream, ctx, queue, nwait, wait, event);
    if (status)
        return status;
    if (!n)
        idx = out; // nothing is read, but the launches need a buffer
    const cl_mem counts = plan->apart ? plan->rows : out;
    size_t start = 0, left = (size_t)n;
    do {
        size_t slab = slab_of(plan, left);
        struct cut cut = cut_make(&plan->info, plan->bins, slab);
        int direct = cut.slices == 1 && plan->ofs == WEFT_OFS_32;
        if (plan->bins)
            count_enqueue(plan, &stream, &cut, idx, direct ? counts : plan->rows, start, slab);
        if (plan->bins && !direct)
            sum_enqueue(plan, &stream, cut.slices, counts, start > 0);
        start += slab;
        left -= slab;
    } while (left);
    if (pointers)
        weft__scan_enqueue(plan->scan, &stream, counts, out, (size_t)plan->bins);
    return weft__stream_end(&stream);
}

void weft__histogram_variants(weft__variant_fn *fn, void *arg)
{
    for (int gpu = 0; gpu <= 1; gpu++)
        for (int ofs = WEFT_OFS_32; ofs <= WEFT_OFS_64; ofs++) {
            struct weft_histogram_params p = {
                .gpu = {.wg = 256, .ipt = 8}, .cpu.wg = 1, .algo = WEFT_HISTOGRAM_ALGO_ATOMIC};
            const struct weft__kernel_spec *specs[] = {gpu ? &rows_spec : &cpu_rows_spec,
                                                       gpu ? &atomic_spec : &cpu_sum_spec, gpu ? &sum_spec : NULL};
            for (size_t i = 0; i < sizeof specs / sizeof *specs && specs[i]; i++) {
                struct weft__variant v = {.spec = specs[i], .schedule = gpu ? WEFT_SCHEDULE_GPU : WEFT_SCHEDULE_CPU};
                if (specs[i] == &sum_spec)
                    sum_define(&v.defines, gpu, &p, (enum weft_ofs)ofs);
                else if (gpu && ofs == WEFT_OFS_64)
                    continue; // the same text
                else
                    count_define(&v.defines, gpu, &p, 1 << 20, (enum weft_ofs)ofs);
                fn(arg, &v);
            }
            p.gpu.wg = 1024; // NVIDIA's row
            struct weft__variant v = {.spec = &rows_spec, .schedule = WEFT_SCHEDULE_GPU};
            count_define(&v.defines, gpu, &p, 1 << 20, (enum weft_ofs)ofs);
            if (gpu && ofs == WEFT_OFS_32)
                fn(arg, &v);
        }
}
