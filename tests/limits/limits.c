// SPDX-License-Identifier: Apache-2.0
// Every operation, algorithm and format on a small device (layer.c): work-groups, local memory, buffers, what it lacks. With
// default values they work, or say which limit they do not fit into; what a caller asks for beyond it is refused.
#include "limits.h"
#include "host/internal/tests.h"
#include "tests/support/csr.h"
#include "tests/support/problem.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <weft/canonical.h>
#include <weft/convert.h>
#include <weft/expand.h>
#include <weft/histogram.h>
#include <weft/merge.h>
#include <weft/permute.h>
#include <weft/segsort.h>

struct limits limits;
static struct rng rng;

// Launches that the layer has refused; -1: there is no layer.
static int refused(struct test_device *dev)
{
    cl_uint count = 0;
    return clGetPlatformInfo(dev->ctx->device.platform_id, LIMITS_REFUSED, sizeof count, &count, NULL) ? -1
                                                                                                       : (int)count;
}

static int fits(int wg)
{
    return wg <= (int)limits.kernel;
}

// Refused for the limit, which the error names.
static int names(struct test_device *dev, weft_status status, const char *limit)
{
    return (status == WEFT_EINVAL || status == WEFT_ERANGE) && strstr(test_error(dev), limit);
}

static unsigned excused;
int limited(struct test_device *dev)
{
    char most[32];
    snprintf(most, sizeof most, "allocates at most %u ", limits.alloc);
    const char *text = test_error(dev);
    const int named = (!limits.fp64 && strstr(text, "double precision")) ||
                      (!limits.atomics64 && strstr(text, "64-bit atomics")) || (limits.alloc && strstr(text, most));
    if (named)
        tap_note("refused: %s", text);
    excused += (unsigned)named;
    dev->ctx->error = (struct weft_error){0};
    return named;
}

static const struct form {
    enum weft_type type;
    enum weft_ofs ofs;
} forms[] = {{WEFT_TYPE_F32, WEFT_OFS_32}, {WEFT_TYPE_F64, WEFT_OFS_64}, {WEFT_TYPE_PATTERN, WEFT_OFS_32}};
static int first_form, end_form = 2; // those of this run

// Every `every`-th case, from number `phase` on.
static unsigned every = 1, phase, cases, taken;
static int take(void)
{
    const int yes = cases++ % every == phase;
    taken += (unsigned)yes;
    return yes;
}

// A square matrix with a symmetric pattern.
static void band_make(struct weft_csr *a, int32_t m, enum weft_type type, enum weft_ofs ofs)
{
    int64_t at = 0;
    if (weft_csr_alloc(a, weft_shape(m, m, 3 * (int64_t)m - 2, type, ofs)))
        tap_bail("out of host memory");
    for (int32_t i = 0; i <= m; i++) {
        if (ofs == WEFT_OFS_64)
            ((int64_t *)a->row_ptr)[i] = at;
        else
            ((int32_t *)a->row_ptr)[i] = (int32_t)at;
        for (int32_t j = i - 1; i < m && j <= i + 1; j++)
            if (j >= 0 && j < m)
                a->col[at++] = j;
    }
    test_values_draw(&rng, a->val, type, a->nnz);
}

static void test_transposes(struct test_device *dev)
{
    static const enum weft_transpose_algo algos[] = {WEFT_TRANSPOSE_ALGO_AUTO, WEFT_TRANSPOSE_ALGO_SCAN,
                                                     WEFT_TRANSPOSE_ALGO_MERGE};
    static const char *const names_of[] = {"auto", "scan", "merge"};
    struct weft_transpose_info info = {0};
    struct weft_csr a;
    for (int f = first_form; f < end_form + (end_form == 2); f++)
        for (int i = 0; i < 3; i++) {
            if (!take())
                continue;
            test_matrix_make(&a, &rng, TEST_SKEWED, 900, 700, 9000, forms[f].type, forms[f].ofs);
            const int ok = test_transpose(dev, &a, weft_transpose_params(.algo = algos[i]), &info);
            tap_ok((ok || limited(dev)) && fits(test_value(dev, "transpose", &info.params, "wg")),
                   "%s: transposition, %s, %s, wg %d", dev->name, names_of[i], weft_type_name(forms[f].type),
                   test_value(dev, "transpose", &info.params, "wg"));
            weft_csr_free(&a);
        }
    for (int f = first_form; f < end_form; f++) { // three passes; two of them, each bucket many tiles; the mirror
        if (!take())
            continue;
        // Of a device with small buffers both row pointers have to fit in one.
        const int64_t cols = limits.alloc ? limits.alloc / 16 : 1 << 22;
        test_matrix_make(&a, &rng, TEST_UNIFORM, 50, cols, 3000, forms[f].type, forms[f].ofs);
        int ok = test_transpose(dev, &a, weft_transpose_params(.algo = WEFT_TRANSPOSE_ALGO_SCAN), &info);
        weft_csr_free(&a);
        tap_ok(ok || limited(dev), "%s: transposition of %lld columns, %s, wg %d", dev->name, (long long)cols,
               weft_type_name(forms[f].type), test_value(dev, "transpose", &info.params, "wg"));
        test_matrix_make(&a, &rng, TEST_ONE_COLUMN, 3000, 5000, 30000, forms[f].type, forms[f].ofs);
        ok = test_transpose(dev, &a, weft_transpose_params(.algo = WEFT_TRANSPOSE_ALGO_SCAN), &info);
        weft_csr_free(&a);
        tap_ok(ok || limited(dev), "%s: transposition of one full column, %s, wg %d", dev->name,
               weft_type_name(forms[f].type), test_value(dev, "transpose", &info.params, "wg"));
        band_make(&a, 3000, forms[f].type, forms[f].ofs);
        ok = test_transpose(dev, &a, weft_transpose_params(.algo = WEFT_TRANSPOSE_ALGO_AUTO), &info);
        weft_csr_free(&a);
        tap_ok(ok || limited(dev), "%s: transposition of a band, %s, wg %d", dev->name, weft_type_name(forms[f].type),
               test_value(dev, "transpose", &info.params, "wg"));
    }
    if (!dev->gpu)
        return;
    // More columns than ScanTrans reaches in 16 KiB of local memory, in a square as well, which it would try to mirror. Nothing is
    // made.
    for (int square = 0; square <= 1; square++) {
        const int64_t n = (INT64_C(1) << 30) + 5;
        size_t bytes = 0;
        const weft_status status = weft_transpose_workspace(
            &bytes, dev->ctx, weft_shape(n - !square, n, 2000000, WEFT_TYPE_F32, WEFT_OFS_32), NULL);
        tap_ok(!status && bytes, "%s: a plan for 2^30 columns%s %s", dev->name, square ? " and as many rows" : "",
               status ? test_error(dev) : "");
    }
    struct weft_transpose_plan *op = NULL;
    char limit[16];
    snprintf(limit, sizeof limit, "%u", limits.kernel);
    const weft_status status =
        weft_transpose_plan_create(&op, dev->ctx, weft_shape(900, 700, 9000, WEFT_TYPE_F32, WEFT_OFS_32),
                                   weft_transpose_params(.gpu.wg = 2 * (int)limits.kernel));
    tap_ok(names(dev, status, limit), "%s: transposition with wg %u is refused: %s", dev->name, 2 * limits.kernel,
           test_error(dev));
}

static int csr_equal(const struct weft_csr *a, const struct weft_csr *b)
{
    const size_t nnz = (size_t)a->nnz, ofs = weft_ofs_bytes(a->ofs), val = weft_type_bytes(a->type);
    return a->m == b->m && a->nnz == b->nnz && !memcmp(a->row_ptr, b->row_ptr, ((size_t)a->m + 1) * ofs) &&
           !memcmp(a->col, b->col, nnz * 4) && (!val || !memcmp(a->val, b->val, nnz * val));
}

// Refill of a transposition, permutation and conversion, against the host.
static void test_moves(struct test_device *dev)
{
    for (int f = first_form; f < end_form; f++) {
        struct weft_csr a, want, got;
        struct weft_coo coo;
        struct weft_permutation p;
        struct weft_transpose_refill *plan = NULL;
        struct test_csr d;
        const enum weft_type type = forms[f].type;
        test_matrix_make(&a, &rng, TEST_UNIFORM, 600, 800, 7000, type, forms[f].ofs);
        if (weft__ref_transpose(&want, &a))
            tap_bail("out of host memory");
        test_csr_make(&d, dev, &a, a.m, a.n, a.nnz, type, a.ofs);
        const size_t bytes = (size_t)a.nnz * weft_type_bytes(type);
        struct test_buffer val = test_buffer_make(dev, NULL, bytes);
        char *out = test_alloc(bytes);
        weft_status status = weft_transpose_refill_create(&plan, dev->ctx, dev->queue, &d.d, NULL);
        if (!status)
            status = weft_transpose_refill_run(plan, dev->queue, val.mem, d.d.val, type, 0, NULL, NULL);
        test_buffer_read(dev, &val, out, bytes);
        tap_ok(!status && !memcmp(out, want.val, bytes), "%s: refill of a transposition, %s %s", dev->name,
               weft_type_name(type), status ? test_error(dev) : "");
        weft_transpose_refill_destroy(&plan);
        test_buffer_free(&val);
        test_csr_free(&d);
        weft_csr_free(&want);
        free(out);

        if (weft_permutation_alloc(&p, WEFT_ORDER_ROW_COL, &a, 3, NULL) || weft_csr_permute(&want, &a, &p, NULL, NULL))
            tap_bail("out of host memory");
        status = weft_permute_sync(&got, dev->ctx, &a, &p, NULL);
        tap_ok(!status && csr_equal(&want, &got), "%s: permutation, %s %s", dev->name, weft_type_name(type),
               status ? test_error(dev) : "");
        weft_csr_free(&got);
        weft_csr_free(&want);
        weft_permutation_free(&p);

        if (weft__ref_canonical(&want, &a, 1))
            tap_bail("out of host memory");
        status = weft_canonical_sync(&got, dev->ctx, &a, weft_canonical_params(.keep = 1));
        tap_ok(!status && csr_equal(&want, &got), "%s: sorted columns, %s %s", dev->name, weft_type_name(type),
               status ? test_error(dev) : "");
        weft_csr_free(&got);
        status = weft_canonical_sync(&got, dev->ctx, &want, NULL);
        if (!status)
            status = weft_csr_validate_columns(&got, WEFT_COLUMNS_UNIQUE, NULL);
        tap_ok(!status || limited(dev), "%s: duplicates summed, %s %s", dev->name, weft_type_name(type),
               status ? test_error(dev) : "");
        weft_csr_free(&got);
        weft_csr_free(&want);

        status = weft_csr_to_coo_sync(&coo, dev->ctx, &a);
        if (!status)
            status = weft_coo_to_csr_sync(&got, dev->ctx, &coo, a.ofs, NULL);
        tap_ok(!status && csr_equal(&a, &got), "%s: to coordinates and back, %s %s", dev->name, weft_type_name(type),
               status ? test_error(dev) : "");
        weft_csr_free(&got);
        weft_coo_free(&coo);
        weft_csr_free(&a);
    }
}

#define N 20000

// out holds want?
static int holds(struct test_device *dev, const struct test_buffer *out, const void *want, size_t bytes)
{
    char *got = test_alloc(bytes);
    test_buffer_read(dev, out, got, bytes);
    const int same = !memcmp(got, want, bytes) && test_buffer_intact(dev, out);
    free(got);
    return same;
}

static void test_scans(struct test_device *dev)
{
    static const enum weft_scan_type types[] = {WEFT_SCAN_TYPE_I32, WEFT_SCAN_TYPE_I64};
    int64_t *in = test_alloc(N * 8), *want = test_alloc((N + 1) * 8);
    for (int i = 0; i < N; i++)
        in[i] = rng_between(&rng, 0, 9) << 32 | rng_between(&rng, 0, 9);
    for (int t = 0; t < 2; t++)
        for (int algo = WEFT_SCAN_ALGO_AUTO; algo <= (dev->gpu ? WEFT_SCAN_ALGO_CHAINED : WEFT_SCAN_ALGO_AUTO);
             algo++) {
            if (!take())
                continue;

            const size_t bytes = weft_scan_in_bytes(types[t]);
            struct weft_scan_plan *plan = NULL;
            struct weft_scan_info info = {0};
            struct test_buffer from = test_buffer_make(dev, in, N * bytes), to = test_buffer_make(dev, NULL, N * bytes);
            weft_status status = weft_scan_plan_create(&plan, dev->ctx, types[t], N,
                                                       weft_scan_params(.algo = (enum weft_scan_algo)algo));
            if (!status) {
                info = *weft_scan_plan_info(plan);
                status = weft_scan_run(plan, dev->queue, to.mem, from.mem, N, 0, NULL, NULL);
            }
            weft__ref_scan(want, in, N, types[t], 0, 0);
            tap_ok((!status && holds(dev, &to, want, N * bytes) && fits(test_value(dev, "scan", &info.params, "wg"))) ||
                       limited(dev),
                   "%s: scan, form %d of %s, wg %d ipt %d %s", dev->name, algo, weft_scan_type_name(types[t]),
                   test_value(dev, "scan", &info.params, "wg"), test_value(dev, "scan", &info.params, "ipt"),
                   status ? test_error(dev) : "");
            weft_scan_plan_destroy(&plan);
            test_buffer_free(&from);
            test_buffer_free(&to);
        }
    free(in);
    free(want);
}

static void test_histograms(struct test_device *dev)
{
    static const int64_t many[] = {300, 100000};
    int32_t *idx = test_alloc(N * 4);
    for (int b = 0; b < 2; b++)
        for (int algo = WEFT_HISTOGRAM_ALGO_AUTO;
             algo <= (dev->gpu ? WEFT_HISTOGRAM_ALGO_ATOMIC : WEFT_HISTOGRAM_ALGO_ROWS); algo++) {
            if (!take())
                continue;

            const int64_t bins = many[b];
            int32_t *want = test_alloc(((size_t)bins + 1) * 4);
            struct weft_histogram_plan *plan = NULL;
            struct weft_histogram_info info = {0};
            for (int i = 0; i < N; i++)
                idx[i] = (int32_t)rng_below(&rng, (uint64_t)bins);
            struct test_buffer from = test_buffer_make(dev, idx, N * 4),
                               to = test_buffer_make(dev, NULL, ((size_t)bins + 1) * 4);
            weft_status status = weft_histogram_plan_create(
                &plan, dev->ctx, bins, WEFT_OFS_32, N,
                &(struct weft_histogram_params){.algo = (enum weft_histogram_algo)algo, .pointers = 1});
            if (!status) {
                info = *weft_histogram_plan_info(plan);
                status = weft_histogram_run(plan, dev->queue, to.mem, from.mem, N, 0, NULL, NULL);
            }
            weft__ref_histogram(want, idx, N, bins, WEFT_OFS_32, 1);
            tap_ok(!status && holds(dev, &to, want, ((size_t)bins + 1) * 4) &&
                       fits(test_value(dev, "histogram", &info.params, "wg")),
                   "%s: histogram, form %d of %lld bins, wg %d %s", dev->name, algo, (long long)bins,
                   test_value(dev, "histogram", &info.params, "wg"), status ? test_error(dev) : "");
            weft_histogram_plan_destroy(&plan);
            test_buffer_free(&from);
            test_buffer_free(&to);
            free(want);
        }
    free(idx);
}

// Sorts and merges of keys with payloads as wide.
static void test_sorts(struct test_device *dev)
{
    static const enum weft_key keys[] = {WEFT_KEY_U32, WEFT_KEY_I64};
    for (int k = first_form; k < end_form; k++) {
        const size_t bytes = weft_key_bytes(keys[k]);
        const int64_t blocks[] = {0, 300, 600, N}, whole[] = {0, N};
        char *in = test_alloc(N * bytes), *val = test_alloc(N * bytes), *sorted = test_alloc(N * bytes),
             *want = test_alloc(N * bytes), *want_val = test_alloc(N * bytes), *sorted_val = test_alloc(N * bytes);
        for (size_t i = 0; i < N * bytes; i++)
            in[i] = (char)rng_below(&rng, 256), val[i] = (char)rng_below(&rng, 256);
        struct test_buffer key = test_buffer_make(dev, in, N * bytes), load = test_buffer_make(dev, val, N * bytes);
        struct test_buffer out = test_buffer_make(dev, NULL, N * bytes),
                           out_val = test_buffer_make(dev, NULL, N * bytes);
        for (int form = WEFT_SEGSORT_WHOLE_AUTO;
             form <= (dev->gpu ? WEFT_SEGSORT_WHOLE_CHAINED : WEFT_SEGSORT_WHOLE_AUTO); form++) {
            if (!take())
                continue;

            struct weft_segsort_plan *plan = NULL;
            struct weft_segsort_info info = {0};
            struct test_buffer ofs = test_buffer_make(dev, form ? whole : blocks, form ? sizeof whole : sizeof blocks);
            const int64_t segments = form ? 1 : 3;
            weft_status status = weft_segsort_plan_create(&plan, dev->ctx, keys[k], (int)bytes, WEFT_OFS_64, N,
                                                          weft_segsort_params(.whole = (enum weft_segsort_whole)form));
            if (!status) {
                info = *weft_segsort_plan_info(plan);
                status = weft_segsort_run(plan, dev->queue, out.mem, out_val.mem, key.mem, load.mem, N, ofs.mem,
                                          segments, 0, NULL, NULL);
            }
            if (weft__ref_segsort(keys[k], (int)bytes, want, want_val, in, val, form ? whole : blocks, segments))
                tap_bail("out of host memory");
            tap_ok((!status && holds(dev, &out, want, N * bytes) && holds(dev, &out_val, want_val, N * bytes) &&
                    fits(test_value(dev, "segsort", &info.params, "wg")) && fits(info.params.gpu.radix.wg)) ||
                       limited(dev),
                   "%s: sort, form %d of %s, wg %d and %d %s", dev->name, form, weft_key_name(keys[k]),
                   test_value(dev, "segsort", &info.params, "wg"), info.params.gpu.radix.wg,
                   status ? test_error(dev) : "");
            weft_segsort_plan_destroy(&plan);
            test_buffer_free(&ofs);
        }
        // Two halves, each in order, are merged.
        const int64_t halves[] = {0, N / 2, N};
        struct weft_merge_plan *plan = NULL;
        struct weft_merge_info info = {0};
        if (weft__ref_segsort(keys[k], (int)bytes, sorted, sorted_val, in, val, halves, 2))
            tap_bail("out of host memory");
        weft__ref_merge_blocks(keys[k], (int)bytes, want, want_val, sorted, sorted_val, N, N / 2);
        test_buffer_write(dev, &key, sorted, N * bytes);
        test_buffer_write(dev, &load, sorted_val, N * bytes);
        weft_status status = weft_merge_plan_create(&plan, dev->ctx, keys[k], (int)bytes, N, NULL);
        if (!status) {
            info = *weft_merge_plan_info(plan);
            status = weft_merge_blocks_run(plan, dev->queue, out.mem, out_val.mem, key.mem, load.mem, N, N / 2, 0, NULL,
                                           NULL);
        }
        tap_ok(!status && holds(dev, &out, want, N * bytes) && holds(dev, &out_val, want_val, N * bytes) &&
                   fits(test_value(dev, "merge", &info.params, "wg")),
               "%s: merge of %s, wg %d ipt %d %s", dev->name, weft_key_name(keys[k]),
               test_value(dev, "merge", &info.params, "wg"), test_value(dev, "merge", &info.params, "ipt"),
               status ? test_error(dev) : "");
        weft_merge_plan_destroy(&plan);
        test_buffer_free(&key);
        test_buffer_free(&load);
        test_buffer_free(&out);
        test_buffer_free(&out_val);
        free(in);
        free(val);
        free(sorted);
        free(sorted_val);
        free(want);
        free(want_val);
    }
}

// A product, new values, and the product again.
static void product_check(struct test_problem *p, const struct weft_spmv_params *params, const char *what)
{
    if (!take())
        return;
    struct test_device *dev = p->dev;
    struct weft_spmv_info info = {0};
    struct weft_spmv_plan *plan = test_problem_plan(p, params);
    struct weft__spmv_sizes sizes = {0};
    int ok = plan != NULL;
    if (ok) {
        info = *weft_spmv_plan_info(plan);
        sizes = weft__spmv_sizes(&info.params, info.schedule);
        ok = fits(sizes.wg) && test_problem_run(p, plan, params, 1.5, -0.5);
    }
    ok = ok && test_problem_renew(p, plan, &rng) && test_problem_run(p, plan, params, 1, 0);
    tap_ok(ok || limited(dev), "%s: product, %s%s as %s, %s, wg %d ipt %d", dev->name, what,
           weft_spmv_algo_name(params->policy.algo), weft_spmv_algo_name(info.params.policy.algo),
           weft_type_name(p->type), sizes.wg, sizes.ipt);
    weft_spmv_plan_destroy(&plan);
}

// Columns side by side.
static void band_set(struct test_problem *p)
{
    for (int64_t i = 0; i < p->a.m; i++)
        for (int64_t q = weft_csr_ofs(&p->a, i); q < weft_csr_ofs(&p->a, i + 1); q++)
            p->a.col[q] = (int32_t)((i + q - weft_csr_ofs(&p->a, i)) % p->a.n);
    if (weft_device_csr_write_sync(&p->d, p->dev->ctx, p->dev->queue, &p->a))
        tap_bail("%s", test_error(p->dev));
}

static void test_products(struct test_device *dev)
{
    for (int f = first_form; f < end_form; f++) {
        struct test_problem p = test_problem_make(dev, &rng, 1500, 1200, 6, 1100, forms[f].type, forms[f].ofs);
        for (int algo = WEFT_SPMV_ALGO_AUTO; algo <= WEFT_SPMV_ALGO_CSR_NODES; algo++)
            if (algo != WEFT_SPMV_ALGO_SDIA)
                product_check(&p, weft_spmv_params(.policy.algo = (enum weft_spmv_algo)algo, .format.max_padding = 1e9),
                              "");
        product_check(
            &p, weft_spmv_params(.policy.algo = WEFT_SPMV_ALGO_SELL, .format.max_padding = 1e9, .format.sigma = 1024),
            "sorted ");
        product_check(&p, weft_spmv_params(.policy.mode = WEFT_SPMV_MODE_REPRODUCIBLE), "reproducible ");
        product_check(&p, weft_spmv_params(.policy.algo = WEFT_SPMV_ALGO_HYB, .format.host_rest = 1), "with the host ");
        product_check(&p, weft_spmv_params(.policy.products = 1000000), "a million ");
        if (f == 0)
            product_check(&p, weft_spmv_params(.problem.f64_sums = 1, .policy.mode = WEFT_SPMV_MODE_REPRODUCIBLE),
                          "sums of f64 ");
        struct test_problem turned = test_problem_turned(&p, &rng);
        product_check(&turned, weft_spmv_params(.problem.transpose = WEFT_SPMV_TRANSPOSE_BY_COPY), "A^T by a copy, ");
        product_check(&turned, weft_spmv_params(.problem.transpose = WEFT_SPMV_TRANSPOSE_BY_ATOMICS),
                      "A^T by atomics, ");
        test_problem_free(&turned);
        test_problem_free(&p);
        p = test_problem_make(dev, &rng, 1500, 1600, 6, 9, forms[f].type, forms[f].ofs);
        band_set(&p);
        product_check(&p, weft_spmv_params(.policy.algo = WEFT_SPMV_ALGO_SDIA, .format.max_padding = 8), "a band, ");
        product_check(&p, weft_spmv_params(.policy.products = 1000000), "a band, a million ");
        struct weft_spmv_plan *plan = NULL;
        char limit[16];
        snprintf(limit, sizeof limit, "%u", limits.kernel);
        const int asked = dev->gpu && (limits.fp64 || forms[f].type != WEFT_TYPE_F64);
        for (int algo = WEFT_SPMV_ALGO_CSR_SCALAR; asked && algo <= WEFT_SPMV_ALGO_CSR_NODES; algo++) {
            const weft_status status = weft_spmv_plan_create(
                &plan, dev->ctx, dev->queue, &p.d,
                weft_spmv_params(.policy.algo = (enum weft_spmv_algo)algo, .gpu.wg = 2 * (int)limits.kernel,
                                 .cpu.wg = 2 * (int)limits.kernel, .format.max_padding = 1e9));
            tap_ok(names(dev, status, limit), "%s: %s with wg %u is refused: %s", dev->name,
                   weft_spmv_algo_name((enum weft_spmv_algo)algo), 2 * limits.kernel, test_error(dev));
            weft_spmv_plan_destroy(&plan);
        }
        test_problem_free(&p);
    }
}

// What does not fit or is not there is refused with its reason, and nothing is left behind.
static void test_refusals(struct test_device *dev)
{
    struct weft_scan_plan *scan = NULL;
    struct weft_spmv_plan *plan = NULL;
    struct weft_device_csr d = {0};
    if (!limits.atomics64 && dev->gpu) {
        const weft_status status = weft_scan_plan_create(&scan, dev->ctx, WEFT_SCAN_TYPE_I32, N,
                                                         weft_scan_params(.algo = WEFT_SCAN_ALGO_CHAINED));
        tap_ok(status == WEFT_EUNSUPPORTED && limited(dev) && !scan, "%s: no chained scan without 64-bit atomics",
               dev->name);
    }
    if (!limits.fp64) {
        struct test_problem p = test_problem_make(dev, &rng, 40, 30, 3, 5, WEFT_TYPE_F64, WEFT_OFS_32);
        const weft_status status = weft_spmv_plan_create(&plan, dev->ctx, dev->queue, &p.d, NULL);
        tap_ok(status == WEFT_EUNSUPPORTED && limited(dev) && !plan, "%s: no products of f64 without double precision",
               dev->name);
        test_problem_free(&p);
    }
    if (limits.alloc) {
        struct weft_shape shape = {.m = 10, .n = 10, .nnz = limits.alloc / 4 + 1, .type = WEFT_TYPE_F32};
        weft_status status = weft_device_csr_alloc(&d, dev->ctx, shape);
        tap_ok(status == WEFT_ERANGE && limited(dev) && !d.col, "%s: no matrix beyond the largest buffer", dev->name);
        shape.nnz--;
        status = weft_device_csr_alloc(&d, dev->ctx, shape);
        tap_ok(!status, "%s: one that fills it %s", dev->name, status ? test_error(dev) : "");
        weft_device_csr_free(&d);
    }
}

static int memory_alone; // the argument `memory`

static void test_all(struct test_device *dev)
{
    static void (*const parts[])(struct test_device *) = {test_transposes, test_moves,    test_scans,   test_histograms,
                                                          test_sorts,      test_products, test_refusals};
    static const char *const part_names[] = {"transposition", "moves",    "scan",    "histogram",
                                             "sorts",         "products", "refusals"};
    const struct weft_device_info *info = weft_context_device(dev->ctx);
    if (!tap_ok(refused(dev) >= 0 && info->max_wg == limits.wg && info->local_bytes == (int64_t)limits.local,
                "%s: the layer is there: wg %zu, local memory %lld", dev->name, info->max_wg,
                (long long)info->local_bytes))
        return;
    int begin_refused = refused(dev);
    limits = limits_read();
    excused = taken = cases = 0;
    tap_ok((limits.fp64 || !info->fp64) && (limits.atomics64 || !info->int64_atomics) &&
               (!limits.units || info->compute_units == (int)limits.units) &&
               (!limits.alloc || info->max_alloc_bytes == limits.alloc),
           "%s: what else it lacks: fp64 %d, 64-bit atomics %d, %d units, %lld bytes at once", dev->name, info->fp64,
           info->int64_atomics, info->compute_units, (long long)info->max_alloc_bytes);
    limits.fp64 &= info->fp64 != 0; // a device may lack them without the layer
    limits.atomics64 &= info->int64_atomics != 0;
    if (!limits.ooo) {
        cl_command_queue queue = test_queue(dev, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
        tap_ok(!queue && refused(dev) == begin_refused + 1, "%s: no queue out of order", dev->name);
        begin_refused++;
    }
    if (limits.alloc)
        test_memory(dev);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !memory_alone; i++) {
        const time_t begin = time(NULL);
        parts[i](dev);
        tap_note("%s, %s: %lld s", dev->name, part_names[i], (long long)(time(NULL) - begin));
    }
    tap_note("%s: %u cases of %u, %s", dev->name, taken, cases,
             end_form - first_form > 1 ? "f32 and f64"
             : first_form              ? "f64"
                                       : "f32");
    tap_is_int(refused(dev), begin_refused, "%s: no launch, buffer or queue beyond the limits", dev->name);
    if (every == 1 && !memory_alone) // a sample may have more of these
        tap_ok(taken > 2 * excused, "%s: %u of %u were refused for what the device lacks", dev->name, excused, taken);
}

// Work-groups below what kernels for GPUs need: the schedule of a CPU, unless asked otherwise.
static void test_least(void)
{
    struct weft_context *ctx = NULL;
    struct weft_error error = {0};
    const weft_status status = weft_context_create(&ctx, weft_context_params(.schedule = WEFT_SCHEDULE_GPU), &error);
    if (status &&
        strstr(error.text, "kernels for GPUs end the compiler")) // a row of quirks.c, test probe looks at these
        tap_skip("the schedule of a GPU: %s", error.text);
    else if (limits.wg < 64)
        tap_ok(status == WEFT_EINVAL && strstr(error.text, "64"), "the schedule of a GPU is refused: %s", error.text);
    else
        tap_ok(!status, "the schedule of a GPU is there %s", error.text);
    weft_context_destroy(&ctx);
}

// limits [f32|f64|all [EVERY PHASE]]: a sample of the cases; `memory`: arrays beyond a buffer alone; nothing: all
int main(int argc, char **argv)
{
    cl_platform_id platform;
    cl_uint count = 0;
    limits = limits_read();
    rng = rng_start();
    memory_alone = argc > 1 && !strcmp(argv[1], "memory");
    if (argc > 1 && strcmp(argv[1], "all") != 0 && !memory_alone) {
        first_form = !strcmp(argv[1], "f64");
        end_form = first_form + 1;
    }
    if (argc > 3) {
        every = (unsigned)atoi(argv[2]);
        phase = (unsigned)atoi(argv[3]);
    }
    if (!limits.wg)
        tap_skip_all("WEFT_TEST_LIMITS says nothing");
    if (clGetPlatformIDs(1, &platform, &count) || !count)
        tap_skip_all("no OpenCL device");
    if (clGetPlatformInfo(platform, LIMITS_REFUSED, sizeof count, &count, NULL))
        tap_skip_all("this loader takes no layers");
    test_least();
    test_device_each(test_all);
    return tap_done();
}
