// SPDX-License-Identifier: Apache-2.0
// What auto takes for finite elements, grids and rows near the diagonal on a GPU of one unit, whose caches hold none of them: the formats that
// docs/log/finite-elements.md found best, with right results; and what the analysis finds of rows side by side.
#include "host/internal/inside.h"
#include "host/internal/tests.h"
#include "tests/support/device.h"
#include "tests/support/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <weft/generate.h>
#include <weft/spmv.h>

static struct weft_csr matrix(const char *spec, enum weft_type type)
{
    struct weft_csr a;
    struct weft_error err = {0};
    if (weft_generate(&a, spec, weft_generate_params(.type = type), &err))
        tap_bail("%s", err.text);
    return a;
}

static double at(const void *v, enum weft_type type, int64_t i)
{
    return type == WEFT_TYPE_F64 ? ((const double *)v)[i] : (double)((const float *)v)[i];
}

// Largest difference of y from A*x, for each row in units of what its terms amount to.
static double difference(const struct weft_csr *a, const void *x, const void *y)
{
    double most = 0;
    for (int64_t i = 0; i < a->m; i++) {
        double sum = 0, all = 1e-300;
        for (int64_t p = weft_csr_ofs(a, i); p < weft_csr_ofs(a, i + 1); p++) {
            const double term = at(a->val, a->type, p) * at(x, a->type, a->col[p]);
            sum += term;
            all += fabs(term);
        }
        most = fmax(most, fabs(at(y, a->type, i) - sum) / all);
    }
    return most;
}

// want: WEFT_SPMV_ALGO_CSR is any of its schedules.
static void check(struct test_device *dev, const char *spec, enum weft_type type, enum weft_spmv_algo want)
{
    if (type == WEFT_TYPE_F64 && !weft_context_device(dev->ctx)->fp64) {
        tap_skip("%s: %s in f64, which the device does not have", dev->name, spec);
        return;
    }
    struct weft_csr a = matrix(spec, type);
    const size_t wide = weft_type_bytes(type), bytes = (size_t)a.m * wide;
    struct rng rng = {7};
    char *x = test_alloc((size_t)a.n * wide), *y = test_alloc(bytes);
    for (int64_t j = 0; j < a.n; j++)
        if (type == WEFT_TYPE_F64)
            ((double *)x)[j] = rng_unit(&rng) - 0.5;
        else
            ((float *)x)[j] = (float)rng_unit(&rng) - 0.5F;
    struct weft_device_csr d = {0};
    struct weft_spmv_plan *plan = NULL;
    struct test_buffer bx = test_buffer_make(dev, x, (size_t)a.n * wide), by = test_buffer_make(dev, NULL, bytes);
    enum weft_spmv_algo got = WEFT_SPMV_ALGO_AUTO;
    const int ran =
        !weft_device_csr_alloc(&d, dev->ctx, weft_csr_shape(&a)) &&
        !weft_device_csr_write_sync(&d, dev->ctx, dev->queue, &a) &&
        !weft_spmv_plan_create(&plan, dev->ctx, dev->queue, &d, weft_spmv_params(.policy.products = 1000000)) &&
        !weft_spmv_run(plan, dev->queue, by.mem, 1, bx.mem, 0, 0, NULL, NULL);
    double off = INFINITY;
    if (ran) {
        got = weft_spmv_plan_info(plan)->params.policy.algo;
        test_buffer_read(dev, &by, y, bytes);
        off = difference(&a, x, y);
    }
    const bool csr = got == WEFT_SPMV_ALGO_CSR_LANES || got == WEFT_SPMV_ALGO_CSR_SCALAR ||
                     got == WEFT_SPMV_ALGO_CSR_MERGE || got == WEFT_SPMV_ALGO_CSR_FLAGS,
               good = want == WEFT_SPMV_ALGO_CSR ? csr : got == want;
    tap_ok(good && off < (type == WEFT_TYPE_F64 ? 1e-14 : 1e-5), "%s: %s, %s: %s, off by %.1e", dev->name, spec,
           weft_type_name(type), weft_spmv_algo_name(got), off);
    if (!good)
        tap_note("expected %s: %s", weft_spmv_algo_name(want), plan ? weft_spmv_plan_info(plan)->why : test_error(dev));
    weft_spmv_plan_destroy(&plan);
    weft_device_csr_free(&d);
    test_buffer_free(&bx);
    test_buffer_free(&by);
    weft_csr_free(&a);
    free(x);
    free(y);
}

// Entries beside neither the one before nor the one at their place in the row behind, of 1024.
static void test_lone(void)
{
    static const struct {
        const char *spec;
        int least, most;
    } cases[] = {{"stencil7:24", 0, 200},
                 {"stencil5:200", 0, 20},
                 {"fem:9,3", 0, 60},
                 {"band:5000,9", 0, 0},
                 {"band:5000,9+unsorted", 0, 0}, // as in order
                 {"band:5000,61+unsorted", 0, 40},
                 {"stencil27:20+unsorted", 200, 360},
                 {"uniform:900,90000,90000+unsorted", 900, 1024},
                 {"band:5000,9+shuffled", 900, 1024},
                 {"near:20000,200000,4000", 900, 1024},
                 {"uniform:900,90000,90000", 900, 1024}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct weft_csr a = matrix(cases[i].spec, WEFT_TYPE_F32);
        struct weft__spmv_stats stats;
        weft__spmv_stats_host(&stats, &a);
        const long long share = (long long)(stats.lone / ((a.m + 31) / 32));
        tap_ok(share >= cases[i].least && share <= cases[i].most, "%s: %lld of 1024 entries lie alone", cases[i].spec,
               share);
        weft_csr_free(&a);
    }
}

// The same figures from the device.
static void test_analysis(struct test_device *dev, const char *spec)
{
    struct weft_csr a = matrix(spec, WEFT_TYPE_F32);
    struct weft_device_csr d = {0};
    struct weft_spmv_plan *plan = NULL;
    struct weft__spmv_stats want;
    weft__spmv_stats_host(&want, &a);
    const int made = !weft_device_csr_alloc(&d, dev->ctx, weft_csr_shape(&a)) &&
                     !weft_device_csr_write_sync(&d, dev->ctx, dev->queue, &a) &&
                     !weft_spmv_plan_create(&plan, dev->ctx, dev->queue, &d, NULL);
    tap_ok(made && !memcmp(&plan->stats, &want, sizeof want), "%s: %s: the analysis finds what the host does",
           dev->name, spec);
    weft_spmv_plan_destroy(&plan);
    weft_device_csr_free(&d);
    weft_csr_free(&a);
}

static void test_each(struct test_device *dev)
{
    static const char *const specs[] = {
        "stencil7:6",         "uniform:33,5,2", "near:65,900,64+unsorted", // a checker: no more
        "stencil7:11",        "fem:5,3",        "near:3000,20000,90",      "power:2000,900,20000",
        "uniform:7,900,3000", "band:1000,5",    "kkt:3000,20000",          "rows:500,400,9000,3"};
    for (size_t i = 0; i < (dev->checker ? 3 : sizeof specs / sizeof *specs); i++)
        test_analysis(dev, specs[i]);
    if (!dev->gpu || dev->checker)
        return;
    const int units = dev->ctx->device.compute_units;
    dev->ctx->device.compute_units = 1;
    check(dev, "fem:14,3", WEFT_TYPE_F32, WEFT_SPMV_ALGO_SDIA);
    const bool lanes = dev->ctx->device.lanes != WEFT_LANES_LOCAL; // in hardware: nodes
    check(dev, "fem:14,3", WEFT_TYPE_F64, lanes ? WEFT_SPMV_ALGO_CSR_NODES : WEFT_SPMV_ALGO_SELL16);
    check(dev, "fem:9,6", WEFT_TYPE_F32, lanes ? WEFT_SPMV_ALGO_CSR_NODES : WEFT_SPMV_ALGO_SDIA);
    check(dev, "stencil7:30", WEFT_TYPE_F32, WEFT_SPMV_ALGO_SDIA);
    check(dev, "near:9000,300000,40", WEFT_TYPE_F32, WEFT_SPMV_ALGO_SELL16);
    check(dev, "near:9000,90000,40", WEFT_TYPE_F32, WEFT_SPMV_ALGO_SELL16); // rows of many lengths
    dev->ctx->device.compute_units =
        45; // whose caches hold the matrix, for which its rows are few, and panels too slow
    check(dev, "near:40000,1040000,2000", WEFT_TYPE_F32, WEFT_SPMV_ALGO_CSR);
    dev->ctx->device.compute_units = units;
}

int main(void)
{
    test_lone();
    test_device_each(test_each);
    return tap_done();
}
