// SPDX-License-Identifier: Apache-2.0
// Rows that follow each other and have the same columns: products by nodes, how rows are cut into nodes, what a sample finds of them, and
// when auto takes them.
#include "host/internal/tests.h"
#include "tests/support/problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <weft/generate.h>

static struct rng rng;

enum { BLOCK = 120 }; // rows, which no node leaves (cl/spmv/nodes_find.cl)

// Runs of rows with the same columns, over and over.
static const int runs[] = {1, 2, 3, 9, 4, 1, 6, 5, 2, 8, 130, 3};
#define RUNS (int64_t)(sizeof runs / sizeof *runs)

// The number of the run of row i, and its first row.
static int64_t run_of(int64_t i, int64_t *first)
{
    int64_t run = 0;
    *first = 0;
    while (*first + runs[run % RUNS] <= i)
        *first += runs[run++ % RUNS];
    return run;
}

// Every seventh run is of empty rows; one of long ones.
static int64_t length(int64_t i, int64_t m)
{
    int64_t first;
    const int64_t run = run_of(i, &first);
    (void)m;
    return run % 7 == 5 ? 0 : run == 3 ? 150 : 1 + run % 19;
}

// All rows of a run get the columns of its first one.
static void runs_put(struct test_problem *p)
{
    for (int64_t i = 0; i < p->a.m; i++) {
        int64_t first;
        run_of(i, &first);
        const int64_t from = weft_csr_ofs(&p->a, first), to = weft_csr_ofs(&p->a, i);
        for (int64_t k = 0; k < weft_csr_ofs(&p->a, i + 1) - to; k++)
            p->a.col[to + k] = p->a.col[from + k];
    }
    test_problem_write(p);
}

static bool alike(const struct weft_csr *a, int64_t i)
{
    const int64_t before = weft_csr_ofs(a, i - 1), begin = weft_csr_ofs(a, i), end = weft_csr_ofs(a, i + 1);
    for (int64_t k = 0; k < end - begin; k++)
        if (end - begin == begin - before && a->col[begin + k] != a->col[before + k])
            return false;
    return end - begin == begin - before;
}

// Nodes of `most` rows each at most.
static int64_t nodes_of(const struct weft_csr *a, int most)
{
    int64_t nodes = 0;
    int rows = 0;
    for (int64_t i = 0; i < a->m; i++) {
        rows = i % BLOCK && rows < most && alike(a, i) ? rows + 1 : 1;
        nodes += rows == 1;
    }
    return nodes;
}

static const struct product {
    const char *what;
    int64_t m, n;
    enum weft_type type;
    enum weft_ofs ofs;
    int f64_sums, wg, lanes, ipt, rows;
    enum weft_spmv_semiring semiring;
} products[] = {
    {"default sizes", 700, 300, WEFT_TYPE_F32, WEFT_OFS_32, 0, 0, 0, 0, 0, WEFT_SPMV_SEMIRING_PLUS_TIMES},
    {"default sizes", 400, 300, WEFT_TYPE_F64, WEFT_OFS_64, 0, 0, 0, 0, 0, WEFT_SPMV_SEMIRING_PLUS_TIMES},
    {"two lanes", 300, 300, WEFT_TYPE_F64, WEFT_OFS_32, 0, 32, 2, 1, 8, WEFT_SPMV_SEMIRING_PLUS_TIMES},
    {"32 lanes", 300, 300, WEFT_TYPE_F32, WEFT_OFS_64, 0, 64, 32, 4, 3, WEFT_SPMV_SEMIRING_PLUS_TIMES},
    {"rows by themselves", 200, 300, WEFT_TYPE_F32, WEFT_OFS_32, 0, 32, 8, 2, 1, WEFT_SPMV_SEMIRING_PLUS_TIMES},
    {"sums of f64", 300, 300, WEFT_TYPE_F32, WEFT_OFS_32, 1, 32, 4, 3, 5, WEFT_SPMV_SEMIRING_PLUS_TIMES},
    {"integers", 250, 300, WEFT_TYPE_I32, WEFT_OFS_32, 0, 32, 4, 2, 4, WEFT_SPMV_SEMIRING_MIN_PLUS},
    {"a pattern", 250, 300, WEFT_TYPE_PATTERN, WEFT_OFS_32, 0, 32, 16, 2, 6, WEFT_SPMV_SEMIRING_OR_AND},
    {"best paths", 250, 300, WEFT_TYPE_F32, WEFT_OFS_32, 0, 64, 4, 2, 2, WEFT_SPMV_SEMIRING_MAX_TIMES},
    {"one row", 1, 300, WEFT_TYPE_F32, WEFT_OFS_32, 0, 0, 0, 0, 0, WEFT_SPMV_SEMIRING_PLUS_TIMES},
};

// A plan, which has the nodes that it should have, two runs, new values, another run.
static void test_product(struct test_device *dev, const struct product *c)
{
    const bool sums = c->semiring == WEFT_SPMV_SEMIRING_PLUS_TIMES;
    if ((c->type == WEFT_TYPE_F64 || c->f64_sums) && !weft_context_device(dev->ctx)->fp64) {
        tap_skip("%s: no double precision", dev->name);
        return;
    }
    const int64_t m = dev->checker && c->m > 200 ? 200 : c->m; // an entry takes a checker a millisecond
    struct test_problem p = test_problem_of(dev, &rng, m, c->n, length, c->type, c->ofs);
    runs_put(&p);
    const struct weft_spmv_params params = {
        .policy.algo = WEFT_SPMV_ALGO_CSR_NODES,
        .problem = {.semiring = c->semiring, .f64_sums = c->f64_sums},
        .gpu = {.wg = c->wg, .lanes = c->lanes, .ipt = c->ipt, .rows = c->rows},
    };
    struct weft_spmv_plan *plan = test_problem_plan(&p, &params);
    const struct weft_spmv_info *info = plan ? weft_spmv_plan_info(plan) : NULL;
    const int most = dev->gpu && info ? info->params.gpu.rows : 4;
    const int64_t nodes = info ? (int64_t)info->workspace_bytes / 16 : -1, want = nodes_of(&p.a, most);
    tap_ok(info && info->params.policy.algo == WEFT_SPMV_ALGO_CSR_NODES && nodes == want &&
               (!dev->gpu || !c->rows || most == c->rows),
           "%s: %s, %s: %lld nodes of %d rows at most", dev->name, c->what, weft_type_name(c->type), (long long)nodes,
           most);
    if (nodes != want)
        tap_note("expected %lld nodes", (long long)want);
    tap_ok(plan && test_problem_run(&p, plan, &params, 1, 0) &&
               test_problem_run(&p, plan, &params, sums ? -2 : 1, sums ? 3 : 1) && test_problem_renew(&p, plan, &rng) &&
               test_problem_run(&p, plan, &params, 1, 1),
           "%s: %s, %s: products", dev->name, c->what, weft_type_name(c->type));
    weft_spmv_plan_destroy(&plan);
    test_problem_free(&p);
}

// The share of rows alike, of 1024, that a sample finds.
static void test_shares(void)
{
    static const struct {
        const char *spec;
        int least, most;
    } cases[] = {{"fem:12,3", 600, 760},       {"fem:20,2", 460, 560},
                 {"fem:14,4", 700, 830},       {"fem:12,6", 780, 920},
                 {"dense:900,40", 1024, 1024}, {"block:20000,300000,4", 700, 830},
                 {"stencil27:12", 0, 20},      {"uniform:9000,9000,90000", 0, 0},
                 {"band:9000,9", 0, 0},        {"uniform:1,90,30", 0, 0},
                 {"uniform:900,90,0", 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct weft_csr a;
        struct weft_error err = {0};
        struct weft__spmv_stats stats;
        if (weft_generate(&a, cases[i].spec, NULL, &err))
            tap_bail("%s", err.text);
        weft__spmv_stats_host(&stats, &a);
        const long long share = (long long)(stats.alike / ((a.m + 31) / 32));
        tap_ok(share >= cases[i].least && share <= cases[i].most, "%s: %lld of 1024 rows are as the row before",
               cases[i].spec, share);
        weft_csr_free(&a);
    }
}

// What auto takes by figures alone, on a device with as many units as an H200; nothing runs.
static void test_choice(struct test_device *dev)
{
    static const struct {
        const char *what;
        enum weft_spmv_algo asked;
        int64_t rows, entries, products;
        int alike, longest; // of 1024 rows those with the columns of the row before
        bool nodes;
        int rows_given, lanes_given;
    } cases[] = {
        {"1000 products", WEFT_SPMV_ALGO_AUTO, 100000, 8000000, 1000, 680, 81, true, 0, 0},
        {"CSR, products not known", WEFT_SPMV_ALGO_CSR, 100000, 8000000, 0, 680, 81, true, 0, 0},
        {"products not known", WEFT_SPMV_ALGO_AUTO, 100000, 8000000, 0, 680, 81, true, 0, 0},
        {"10 products", WEFT_SPMV_ALGO_CSR, 100000, 8000000, 10, 680, 81, false, 0, 0},
        {"few rows alike", WEFT_SPMV_ALGO_CSR, 100000, 8000000, 0, 60, 81, false, 0, 0},
        {"short rows", WEFT_SPMV_ALGO_CSR, 1000000, 8000000, 0, 680, 9, false, 0, 0},
        {"few entries", WEFT_SPMV_ALGO_CSR, 10000, 800000, 0, 680, 81, false, 0, 0},
        {"a long row", WEFT_SPMV_ALGO_CSR, 100000, 8000000, 0, 680, 8000, false, 0, 0},
        {"rows of 17", WEFT_SPMV_ALGO_CSR, 400000, 6800000, 0, 680, 40, true, 0, 0},
        {"a long row, whose node has eight lanes", WEFT_SPMV_ALGO_CSR, 400000, 6800000, 0, 680, 2000, false, 0, 0},
        {"rows of a node given", WEFT_SPMV_ALGO_CSR, 100000, 8000000, 0, 680, 81, false, 2, 0},
        {"lanes given", WEFT_SPMV_ALGO_CSR, 100000, 8000000, 0, 680, 81, false, 0, 4},
    };
    const int units = dev->ctx->device.compute_units;
    const enum weft_lanes lanes = dev->ctx->device.lanes;
    dev->ctx->device.compute_units = 132;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct weft_spmv_plan plan = {.ctx = dev->ctx, .type = WEFT_TYPE_F32, .acc = WEFT_TYPE_F32};
        const int64_t m = cases[i].rows;
        plan.a = (struct weft_device_csr){.m = m, .n = m, .nnz = cases[i].entries};
        plan.x_size = plan.y_size = m;
        plan.info.schedule = dev->ctx->schedule;
        plan.info.params =
            (struct weft_spmv_params){.policy = {.algo = cases[i].asked, .products = cases[i].products},
                                      .format.max_padding = 4,
                                      .gpu = {.rows = cases[i].rows_given, .lanes = cases[i].lanes_given}};
        plan.stats.far = plan.stats.lone = 100 * ((m + 31) / 32);
        plan.stats.alike = cases[i].alike * ((m + 31) / 32);
        plan.info.max_row = plan.stats.max_row = cases[i].longest;
        plan.stats.hist[cases[i].entries / m] = (cl_uint)m;
        plan.stats.steps[0] = 2 * cases[i].entries / 32; // rows side by side differ: no sliced format
        enum weft_spmv_algo chosen = WEFT_SPMV_ALGO_AUTO, local = WEFT_SPMV_ALGO_AUTO, denied = WEFT_SPMV_ALGO_AUTO;
        plan.denied = 1u << WEFT_SPMV_ALGO_SELL | 1u << WEFT_SPMV_ALGO_PANELS;
        dev->ctx->device.lanes = WEFT_LANES_PTX;
        int ok = !weft__spmv_choose(&plan, dev->queue, &chosen);
        plan.denied |= 1u << WEFT_SPMV_ALGO_CSR_NODES;
        ok = ok && !weft__spmv_choose(&plan, dev->queue, &denied) && denied != WEFT_SPMV_ALGO_CSR_NODES;
        plan.denied = 0;
        dev->ctx->device.lanes = WEFT_LANES_LOCAL;
        ok = ok && !weft__spmv_choose(&plan, dev->queue, &local) && local != WEFT_SPMV_ALGO_CSR_NODES;
        tap_ok(ok && (chosen == WEFT_SPMV_ALGO_CSR_NODES) == cases[i].nodes, "%s: %s: %s takes %s", dev->name,
               cases[i].what, weft_spmv_algo_name(cases[i].asked), weft_spmv_algo_name(chosen));
    }
    dev->ctx->device.compute_units = units;
    dev->ctx->device.lanes = lanes;
}

// Where nodes repay, and so do others, by figures alone: columns in 16 bits of rows that are not long, near the diagonal; panels, where few rows are
// alike. Sliced DIA asks the device for a sample.
static void test_beside(struct test_device *dev)
{
    static const struct {
        const char *what;
        int64_t rows, entries, products;
        int alike, far, apart; // of 1024
        enum weft_spmv_algo takes;
    } cases[] = {
        {"rows of 40 near the diagonal", 200000, 8000000, 1000, 680, 100, 0, WEFT_SPMV_ALGO_SELL16},
        {"rows of 40 all over", 200000, 8000000, 1000, 680, 100, 1024, WEFT_SPMV_ALGO_CSR_NODES},
        {"rows of 80", 100000, 8000000, 1000, 680, 100, 0, WEFT_SPMV_ALGO_CSR_NODES},
        {"a far x, half of the rows alike", 300000, 30000000, 10000, 520, 1000, 1024, WEFT_SPMV_ALGO_CSR_NODES},
#ifndef WEFT_HOSTILE // whose panels are small
        {"a far x, a sixth of the rows alike", 300000, 30000000, 10000, 170, 1000, 1024, WEFT_SPMV_ALGO_PANELS},
#endif
    };
    const struct weft_device_info device = dev->ctx->device;
    dev->ctx->device.compute_units = 132;
    dev->ctx->device.local_bytes = 49152;
    dev->ctx->device.lanes = WEFT_LANES_PTX;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct weft_spmv_plan plan = {.ctx = dev->ctx, .type = WEFT_TYPE_F64, .acc = WEFT_TYPE_F64};
        const int64_t m = cases[i].rows, blocks = (m + 31) / 32, mean = cases[i].entries / m;
        plan.a = (struct weft_device_csr){.m = m, .n = m, .nnz = cases[i].entries, .type = WEFT_TYPE_F64};
        plan.x_size = plan.y_size = m;
        plan.info.schedule = dev->ctx->schedule;
        plan.info.params = (struct weft_spmv_params){.policy.products = cases[i].products, .format.max_padding = 4};
        plan.stats.far = plan.stats.lone = cases[i].far * blocks;
        plan.stats.apart = cases[i].apart * blocks;
        plan.stats.alike = cases[i].alike * blocks;
        plan.info.max_row = plan.stats.max_row = mean;
        plan.stats.hist[mean] = (cl_uint)m;
        for (int k = 0; k < 6; k++)
            plan.stats.steps[k] = blocks * mean;
        plan.denied = 1u << WEFT_SPMV_ALGO_SDIA | 1u << WEFT_SPMV_ALGO_CSR_HUBS;
        enum weft_spmv_algo chosen = WEFT_SPMV_ALGO_AUTO;
        const int ok = !weft__spmv_choose(&plan, dev->queue, &chosen);
        tap_ok(ok && chosen == cases[i].takes, "%s: %s: auto takes %s", dev->name, cases[i].what,
               weft_spmv_algo_name(chosen));
    }
    dev->ctx->device = device;
}

// A plan that auto makes since a sample spoke of rows alike: it is kept where the rows are, whatever the sample said.
static void test_bound(struct test_device *dev, const char *spec, bool kept)
{
    struct weft_csr a;
    struct weft_error err = {0};
    struct weft_device_csr d = {0};
    struct weft_spmv_plan *plan = NULL;
    const int units = dev->ctx->device.compute_units;
    if (weft_generate(&a, spec, NULL, &err))
        tap_bail("%s", err.text);
    const int ok = !weft_device_csr_alloc(&d, dev->ctx, weft_csr_shape(&a)) &&
                   !weft_device_csr_write_sync(&d, dev->ctx, dev->queue, &a) &&
                   !weft_spmv_plan_create(&plan, dev->ctx, dev->queue, &d,
                                          weft_spmv_params(.policy.algo = WEFT_SPMV_ALGO_CSR_NODES));
    weft_status status = WEFT_EINVAL;
    if (ok) {
        dev->ctx->device.compute_units = 1;
        plan->method->destroy(plan->state);
        plan->state = NULL;
        plan->bound = 1;
        status = plan->method->create(plan, dev->queue);
        dev->ctx->device.compute_units = units;
    }
    tap_ok(status == (kept ? WEFT_OK : WEFT_ERANGE), "%s: %s: %s", dev->name, spec, status ? "CSR instead" : "nodes");
    weft_spmv_plan_destroy(&plan);
    weft_device_csr_free(&d);
    weft_csr_free(&a);
}

// What the tables do not allow.
static void test_refused(struct test_device *dev)
{
    static const struct weft_spmv_params refused[] = {
        {.policy.algo = WEFT_SPMV_ALGO_CSR_NODES, .gpu.rows = 9},
        {.policy.algo = WEFT_SPMV_ALGO_CSR_NODES, .gpu.lanes = 3},
        {.policy.algo = WEFT_SPMV_ALGO_CSR_NODES, .gpu.wg = 48},
        {.policy.algo = WEFT_SPMV_ALGO_CSR_NODES, .gpu.ipt = 5},
    };
    struct test_problem p = test_problem_of(dev, &rng, 50, 40, length, WEFT_TYPE_F32, WEFT_OFS_32);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct weft_spmv_plan *plan = NULL;
        const weft_status status = weft_spmv_plan_create(&plan, dev->ctx, dev->queue, &p.d, &refused[i]);
        tap_ok(status == WEFT_EINVAL && !plan, "%s: %s", dev->name, status ? test_error(dev) : "not refused");
        weft_spmv_plan_destroy(&plan);
    }
    test_problem_free(&p);
}

static void test_each(struct test_device *dev)
{
    for (size_t k = 0; k < sizeof products / sizeof *products; k++)
        test_product(dev, &products[k]);
    if (!dev->gpu)
        return;
    test_choice(dev);
    test_beside(dev);
    test_refused(dev);
    if (dev->checker)
        return;
    test_bound(dev, "fem:10,3", true);
    test_bound(dev, "stencil27:20", false);
}

int main(void)
{
    test_shares();
    test_device_each(test_each);
    return tap_done();
}
