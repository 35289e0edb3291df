// SPDX-License-Identifier: Apache-2.0
// weft_selftest: the list of small problems, whose plans try themselves.
#include "host/src/core/check.h"
#include "host/src/primitive/trial.h"
#include "host/src/spmv/trial.h"
#include "host/src/transpose/trial.h"
#include "host/src/core/clock.h"

#include <stdio.h>
#include <weft/convert.h>
#include <weft/selftest.h>

struct run {
    struct weft_context *ctx;
    weft_selftest_fn *fn;
    void *arg;
    double began_ms;
    size_t seen; // results so far
    weft_status status;
    char first[600]; // what is wrong first
};

static void say(struct run *r, const char *what, const char *kernels, bool right, weft_status status, const char *text)
{
    const double now = weft__now_ms();
    const struct weft_selftest_result result = {what, kernels, right, status, text, now - r->began_ms};
    r->began_ms = now;
    r->seen++;
    if (!right && (!r->status || (r->status != WEFT_EDEVICE && !status))) {
        r->status = status ? status : WEFT_EDEVICE;
        snprintf(r->first, sizeof r->first, "%.200s%s%.200s: %.180s", what, *kernels ? ", kernels " : "", kernels,
                 *text ? text : "wrong numbers");
    }
    if (r->fn)
        r->fn(r->arg, &result);
}

static void trial_seen(void *arg, const char *what, const char *kernels, const struct weft_error *error, bool right)
{
    say(arg, what, kernels, right && !error, error ? error->status : WEFT_OK, error ? error->text : "");
}

// Begin to make the plan of a problem; end: `status` of that. What the device lacks is no failure.
static size_t begin(struct run *r)
{
    weft__quiet_begin(r->ctx);
    r->began_ms = weft__now_ms();
    return r->seen;
}

static void end(struct run *r, const char *name, size_t seen, weft_status status)
{
    struct weft_error error;
    weft__quiet_end(&error);
    if (status && r->seen == seen && status != WEFT_EUNSUPPORTED && status != WEFT_EINVAL)
        say(r, name, "", false, status, error.text);
}

static void scans(struct run *r)
{
    for (int algo = WEFT_SCAN_ALGO_THREE; algo <= WEFT_SCAN_ALGO_CHAINED; algo++)
        for (int type = WEFT_SCAN_TYPE_I32; type <= WEFT_SCAN_TYPE_U32_U64; type++)
            for (int form = 0; form < 3; form++) {
                const struct weft_scan_params p = {
                    .inclusive = form == 1, .total = form == 2, .algo = (enum weft_scan_algo)algo};
                struct weft_scan_plan *plan = NULL;
                const size_t seen = begin(r);
                end(r, "scan", seen, weft_scan_plan_create(&plan, r->ctx, (enum weft_scan_type)type, 1 << 20, &p));
                weft_scan_plan_destroy(&plan);
            }
}

static void histograms(struct run *r)
{
    for (int algo = WEFT_HISTOGRAM_ALGO_ROWS; algo <= WEFT_HISTOGRAM_ALGO_ATOMIC; algo++)
        for (int ofs = WEFT_OFS_32; ofs <= WEFT_OFS_64; ofs++)
            for (int form = 0; form < 4; form++) {
                const struct weft_histogram_params p = {.pointers = form & 1, .algo = (enum weft_histogram_algo)algo};
                struct weft_histogram_plan *plan = NULL;
                const size_t seen = begin(r);
                end(r, "histogram", seen,
                    weft_histogram_plan_create(&plan, r->ctx, form & 2 ? 60000 : 1000, (enum weft_ofs)ofs, 1 << 20,
                                               &p));
                weft_histogram_plan_destroy(&plan);
            }
}

static void expands(struct run *r)
{
    for (int ofs = WEFT_OFS_32; ofs <= WEFT_OFS_64; ofs++) {
        struct weft_expand_plan *plan = NULL;
        const size_t seen = begin(r);
        end(r, "expand", seen, weft_expand_plan_create(&plan, r->ctx, 1 << 20, 1 << 20, (enum weft_ofs)ofs, NULL));
        weft_expand_plan_destroy(&plan);
    }
}

// Merges and sorts: every key with every payload.
static void pairs(struct run *r)
{
    for (int key = WEFT_KEY_U32; key <= WEFT_KEY_I64; key++)
        for (int payload = 0; payload <= 8; payload += 4) {
            struct weft_merge_plan *merge = NULL;
            const size_t seen = begin(r);
            end(r, "merge", seen, weft_merge_plan_create(&merge, r->ctx, (enum weft_key)key, payload, 1 << 18, NULL));
            weft_merge_plan_destroy(&merge);
            for (int whole = WEFT_SEGSORT_WHOLE_AUTO; whole <= WEFT_SEGSORT_WHOLE_CHAINED; whole++)
                for (int ofs = WEFT_OFS_32; ofs <= WEFT_OFS_64; ofs++) {
                    const struct weft_segsort_params p = {.whole = (enum weft_segsort_whole)whole};
                    struct weft_segsort_plan *sort = NULL;
                    if (whole == WEFT_SEGSORT_WHOLE_MERGE || (ofs == WEFT_OFS_64 && key != WEFT_KEY_I32))
                        continue; // auto merges below a length; the key and the offsets do not meet
                    const size_t before = begin(r);
                    end(r, "segsort", before,
                        weft_segsort_plan_create(&sort, r->ctx, (enum weft_key)key, payload, (enum weft_ofs)ofs,
                                                 1 << 18, &p));
                    weft_segsort_plan_destroy(&sort);
                }
        }
}

static void transpositions(struct run *r)
{
    static const enum weft_type widths[] = {WEFT_TYPE_PATTERN, WEFT_TYPE_F32, WEFT_TYPE_F64};
    for (int algo = WEFT_TRANSPOSE_ALGO_SCAN; algo <= WEFT_TRANSPOSE_ALGO_MERGE; algo++)
        for (size_t width = 0; width < 3; width++)
            for (int ofs = WEFT_OFS_32; ofs <= WEFT_OFS_64; ofs++)
                for (int many = 0; many <= 1; many++) { // columns, which take more passes
                    const struct weft_transpose_params p = {.algo = (enum weft_transpose_algo)algo};
                    const int64_t n = many ? 1 << 17 : 900;
                    struct weft_transpose_plan *plan = NULL;
                    struct weft_coo_to_csr *coo = NULL;
                    size_t seen = begin(r);
                    end(r, "transpose", seen,
                        weft_transpose_plan_create(&plan, r->ctx,
                                                   weft_shape(700, n, 20000, widths[width], (enum weft_ofs)ofs), &p));
                    weft_transpose_plan_destroy(&plan);
                    if (many)
                        continue;
                    seen = begin(r);
                    end(r, "coo to csr", seen,
                        weft_coo_to_csr_create(&coo, r->ctx,
                                               weft_shape(900, 700, 20000, widths[width], (enum weft_ofs)ofs), &p));
                    weft_coo_to_csr_destroy(&coo);
                }
}

// Of large square matrices on GPUs.
static void mirrors(struct run *r)
{
    static const enum weft_type widths[] = {WEFT_TYPE_PATTERN, WEFT_TYPE_F32, WEFT_TYPE_F64};
    for (size_t width = 0; width < 3 && r->ctx->schedule == WEFT_SCHEDULE_GPU; width++)
        for (int ofs = WEFT_OFS_32; ofs <= WEFT_OFS_64; ofs++)
            for (int rows_long = 0; rows_long <= (width == 1); rows_long++) { // whose images are guessed
                const struct weft__transpose_shape shape = {
                    9000, 9000, rows_long ? 300000 : 20000, widths[width], (enum weft_ofs)ofs, .mirror = 1};
                struct weft_transpose_plan *plan = NULL;
                const size_t seen = begin(r);
                end(r, "mirror", seen, weft__transpose_create(&plan, r->ctx, &shape, NULL));
                weft_transpose_plan_destroy(&plan);
            }
}

static void gathers(struct run *r)
{
    static const enum weft_type widths[] = {WEFT_TYPE_PATTERN, WEFT_TYPE_F32, WEFT_TYPE_F64};
    for (int ofs = WEFT_OFS_32; ofs <= WEFT_OFS_64; ofs++) {
        size_t seen = begin(r);
        end(r, "refill", seen, weft__refill_trial(r->ctx, (enum weft_ofs)ofs));
        for (size_t width = 0; width < 3; width++)
            for (int sorts = 0; sorts <= 1; sorts++) {
                const struct weft_permute_info info = {.schedule = r->ctx->schedule, .sorts = sorts};
                seen = begin(r);
                end(r, "permute", seen, weft__permute_trial(r->ctx, widths[width], (enum weft_ofs)ofs, &info));
            }
    }
}

static void spmv_of(struct run *r, enum weft_type type, enum weft_ofs ofs, const struct weft_spmv_params *params,
                    bool gaps)
{
    struct weft_spmv_info info = {.params = *params};
    if (!r->ctx->device.fp64 && (type == WEFT_TYPE_F64 || params->problem.f64_sums))
        return;
    const enum weft_spmv_algo algo = params->policy.algo;
    const int forms =
        r->ctx->schedule == WEFT_SCHEDULE_GPU &&
                (algo == WEFT_SPMV_ALGO_ELL || algo == WEFT_SPMV_ALGO_SELL || algo == WEFT_SPMV_ALGO_CSR_LANES)
            ? 2 // as of small matrices, and of others
            : 1;
    for (int large = 0; large < forms; large++) {
        const size_t seen = begin(r);
        end(r, "spmv", seen, weft__spmv_trial(r->ctx, type, ofs, &info, gaps, large));
    }
}

static void spmv(struct run *r, enum weft_type type, enum weft_ofs ofs, const struct weft_spmv_params *params)
{
    spmv_of(r, type, ofs, params, false);
}

static void spmvs(struct run *r)
{
    for (int type = WEFT_TYPE_F32; type <= WEFT_TYPE_PATTERN; type++) {
        const enum weft_type t = (enum weft_type)type;
        for (int algo = WEFT_SPMV_ALGO_CSR; algo <= WEFT_SPMV_ALGO_CSR_NODES; algo++)
            spmv(r, t, WEFT_OFS_32, &(struct weft_spmv_params){.policy.algo = (enum weft_spmv_algo)algo});
        for (int ring = WEFT_SPMV_SEMIRING_MIN_PLUS; ring <= WEFT_SPMV_SEMIRING_MAX_TIMES; ring++)
            spmv(r, t, WEFT_OFS_32, &(struct weft_spmv_params){.problem.semiring = (enum weft_spmv_semiring)ring});
        spmv(r, t, WEFT_OFS_64, &(struct weft_spmv_params){.policy.algo = WEFT_SPMV_ALGO_CSR});
        const struct weft_spmv_params gaps =
            r->ctx->schedule == WEFT_SCHEDULE_CPU
                ? (struct weft_spmv_params){.policy.algo = WEFT_SPMV_ALGO_CSR}
                : (struct weft_spmv_params){.policy.algo = WEFT_SPMV_ALGO_CSR_SCALAR, .gpu.ipt = 4};
        for (int ofs = WEFT_OFS_32; ofs <= WEFT_OFS_64; ofs++)
            spmv_of(r, t, (enum weft_ofs)ofs, &gaps, true);
        spmv(r, t, WEFT_OFS_32, &(struct weft_spmv_params){.policy.mode = WEFT_SPMV_MODE_REPRODUCIBLE});
        spmv(r, t, WEFT_OFS_32, &(struct weft_spmv_params){.problem.transpose = WEFT_SPMV_TRANSPOSE_BY_ATOMICS});
    }
    spmv(r, WEFT_TYPE_F32, WEFT_OFS_32, &(struct weft_spmv_params){.problem.f64_sums = 1});
    spmv(r, WEFT_TYPE_F32, WEFT_OFS_32, &(struct weft_spmv_params){.problem.transpose = WEFT_SPMV_TRANSPOSE_BY_COPY});
    spmv(r, WEFT_TYPE_F32, WEFT_OFS_32,
         &(struct weft_spmv_params){.policy.algo = WEFT_SPMV_ALGO_HYB, .format.host_rest = 1});
}

weft_status weft_selftest(struct weft_context *ctx, weft_selftest_fn *fn, void *arg)
{
    if (!ctx)
        return WEFT_EINVAL;
    struct run r = {.ctx = ctx, .fn = fn, .arg = arg};
    const bool off = ctx->trials.off;
    ctx->trials.off = false;
    ctx->trials.seen = trial_seen;
    ctx->trials.arg = &r;
    scans(&r);
    histograms(&r);
    expands(&r);
    pairs(&r);
    transpositions(&r);
    mirrors(&r);
    gathers(&r);
    spmvs(&r);
    ctx->trials.off = off;
    ctx->trials.seen = NULL;
    if (!r.status)
        return WEFT_OK;
    return weft__fail(ctx, r.status, "the self-test of %s (driver %s) failed: %s", ctx->device.name, ctx->device.driver,
                      r.first);
}
