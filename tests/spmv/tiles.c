// SPDX-License-Identifier: Apache-2.0
// The tiles of csr_flags: which kind figures ask for, and products by large ones, of which each work-group has one.
#include "host/internal/tests.h"
#include "tests/support/problem.h"

#include <string.h>

static struct rng rng;

static const char *const kinds[] = {"small", "near", "local"};

// On a device with as many units as an H200, by figures alone; shares of 1024 entries.
static void test_kind(void)
{
    static const struct {
        const char *what;
        double rows, entries;
        int far, apart;
        int64_t empty, longest, columns;
        enum weft_type acc;
        enum weft__spmv_flags_tiles want;
    } cases[] = {
        {"entries side by side", 1e6, 9e6, 100, 0, 0, 9, 1000000, WEFT_TYPE_F32, WEFT__SPMV_TILES_NEAR},
        {"far from the diagonal", 1e6, 9e6, 100, 1000, 0, 9, 1000000, WEFT_TYPE_F32, WEFT__SPMV_TILES_NEAR},
        {"some rows empty", 1e6, 9e6, 100, 0, 1000, 9, 1000000, WEFT_TYPE_F32, WEFT__SPMV_TILES_NEAR},
        {"few entries", 1e5, 2e6, 100, 0, 0, 20, 100000, WEFT_TYPE_F32, WEFT__SPMV_TILES_SMALL},
        {"two turns and a bit", 2e5, 2.3e6, 100, 0, 0, 20, 200000, WEFT_TYPE_F32, WEFT__SPMV_TILES_SMALL},
        {"nearly three turns", 2e5, 3.2e6, 100, 0, 0, 20, 200000, WEFT_TYPE_F32, WEFT__SPMV_TILES_NEAR},
        {"a web graph", 1e6, 1e7, 730, 600, 1000, 8000, 1000000, WEFT_TYPE_F32, WEFT__SPMV_TILES_LOCAL},
        {"sums of f64", 1e6, 1e7, 730, 600, 0, 8000, 1000000, WEFT_TYPE_F64, WEFT__SPMV_TILES_LOCAL},
        {"sums of f64, some rows empty", 1e6, 1e7, 730, 600, 1000, 8000, 1000000, WEFT_TYPE_F64,
         WEFT__SPMV_TILES_LOCAL},
        {"sums of f64, half of the rows empty", 1e6, 1e7, 730, 600, 500000, 8000, 1000000, WEFT_TYPE_F64,
         WEFT__SPMV_TILES_SMALL},
        {"sums of f64 side by side, some rows empty", 1e6, 9e6, 100, 0, 1000, 9, 1000000, WEFT_TYPE_F64,
         WEFT__SPMV_TILES_SMALL},
        {"a long row", 1e6, 1e7, 730, 600, 0, 80000, 1000000, WEFT_TYPE_F32, WEFT__SPMV_TILES_SMALL},
        {"entries at random", 1e6, 1e7, 1000, 1000, 0, 30, 1000000, WEFT_TYPE_F32, WEFT__SPMV_TILES_SMALL},
        {"few columns", 1e6, 1e7, 1000, 1000, 0, 30, 1000, WEFT_TYPE_F32, WEFT__SPMV_TILES_SMALL},
        {"nothing", 1e6, 0, 0, 0, 1000000, 0, 1000000, WEFT_TYPE_F32, WEFT__SPMV_TILES_SMALL},
    };
    struct weft_context ctx = {.device.compute_units = 132};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int64_t samples = ((int64_t)cases[i].rows - cases[i].empty + 31) / 32;
        struct weft_spmv_plan plan = {.ctx = &ctx,
                                      .type = cases[i].acc,
                                      .acc = cases[i].acc,
                                      .x_size = cases[i].columns,
                                      .a = {.m = (int64_t)cases[i].rows,
                                            .n = cases[i].columns,
                                            .nnz = (int64_t)cases[i].entries,
                                            .type = cases[i].acc},
                                      .stats = {.far = cases[i].far * samples,
                                                .lone = cases[i].far * samples,
                                                .apart = cases[i].apart * samples,
                                                .max_row = cases[i].longest},
                                      .info.empty_rows = cases[i].empty};
        const enum weft__spmv_flags_tiles got = weft__spmv_flags_tiles(&plan);
        tap_ok(got == cases[i].want, "%s: %s tiles", cases[i].what, kinds[got]);
    }
}

static int64_t five(int64_t i, int64_t m)
{
    return i == m / 3 ? 9000 : 3 + i % 5;
}
static int64_t five_or_none(int64_t i, int64_t m)
{
    return i % 11 == 4 ? 0 : five(i, m);
}
static int64_t three(int64_t i, int64_t m)
{
    (void)i;
    (void)m;
    return 3;
}

// Entries of row i from column `first` on, side by side; with `apart` so many of a hundred anywhere.
static void columns_put(struct test_problem *p, int apart)
{
    enum { BLOCK = 2048 };
    for (int64_t i = 0; i < p->a.m; i++) {
        const int64_t begin = weft_csr_ofs(&p->a, i), length = weft_csr_ofs(&p->a, i + 1) - begin;
        const int64_t room = p->a.n - length, first = i * room / p->a.m;
        for (int64_t k = 0; k < length; k++)
            p->a.col[begin + k] = (int32_t)(first + k);
        const int64_t block = first < p->a.n - BLOCK ? first / BLOCK * BLOCK : p->a.n - BLOCK;
        for (int64_t k = 0; apart && k < length; k++) // not side by side
            p->a.col[begin + k] = (int64_t)rng_below(&rng, 100) < apart
                                      ? (int32_t)rng_below(&rng, (uint64_t)p->a.n)
                                      : (int32_t)(block + (int64_t)rng_below(&rng, BLOCK));
    }
    if (weft_device_csr_write_sync(&p->d, p->dev->ctx, p->dev->queue, &p->a))
        tap_bail("%s", test_error(p->dev));
}

#ifdef WEFT_HOSTILE
enum { MANY = 0 }; // few work-groups take all tiles
#else
enum { MANY = 16 };
#endif
static size_t groups; // of the last product
static void groups_count(void *arg, const char *kernel, size_t global, size_t wg, cl_event event)
{
    (void)arg;
    (void)event;
    if (!strcmp(kernel, "spmv_csr_flags"))
        groups = global / wg;
}

static const struct product {
    const char *what;
    int64_t m, n;
    int64_t (*length)(int64_t i, int64_t m);
    int apart, units;
    enum weft_type type;
    enum weft_ofs ofs;
    enum weft_spmv_semiring semiring;
    enum weft__spmv_flags_tiles want;
    size_t teams; // for what each unit has
} products[] = {
    {"a band", 8000, 9000, five, 0, 2, WEFT_TYPE_F32, WEFT_OFS_32, WEFT_SPMV_SEMIRING_PLUS_TIMES, WEFT__SPMV_TILES_NEAR,
     1},
    {"with empty rows", 8000, 9000, five_or_none, 0, 1, WEFT_TYPE_F32, WEFT_OFS_64, WEFT_SPMV_SEMIRING_PLUS_TIMES,
     WEFT__SPMV_TILES_NEAR, 1},
    {"of f64", 8000, 9000, five, 0, 1, WEFT_TYPE_F64, WEFT_OFS_32, WEFT_SPMV_SEMIRING_PLUS_TIMES, WEFT__SPMV_TILES_NEAR,
     1},
    {"of i32", 8000, 9000, five, 0, 1, WEFT_TYPE_I32, WEFT_OFS_32, WEFT_SPMV_SEMIRING_MIN_PLUS, WEFT__SPMV_TILES_NEAR,
     1},
    {"of a pattern", 8000, 9000, five_or_none, 0, 1, WEFT_TYPE_PATTERN, WEFT_OFS_32, WEFT_SPMV_SEMIRING_PLUS_TIMES,
     WEFT__SPMV_TILES_NEAR, 1},
    {"a third elsewhere", 40000, 40000, three, 33, 1, WEFT_TYPE_F32, WEFT_OFS_32, WEFT_SPMV_SEMIRING_PLUS_TIMES,
     WEFT__SPMV_TILES_LOCAL, 1},
    {"more than half elsewhere", 40000, 40000, three, 60, 1, WEFT_TYPE_F32, WEFT_OFS_32, WEFT_SPMV_SEMIRING_PLUS_TIMES,
     WEFT__SPMV_TILES_LOCAL, 2},
    {"that of f64", 40000, 40000, three, 60, 2, WEFT_TYPE_F64, WEFT_OFS_64, WEFT_SPMV_SEMIRING_MAX_TIMES,
     WEFT__SPMV_TILES_LOCAL, 2},
    {"all elsewhere", 40000, 40000, three, 100, 1, WEFT_TYPE_F32, WEFT_OFS_32, WEFT_SPMV_SEMIRING_PLUS_TIMES,
     WEFT__SPMV_TILES_SMALL, 0},
};

// Is a plan of a device with few units of this kind, with as many work-groups, and are its products right, with new values as well?
static void test_product(struct test_device *dev, const struct product *c)
{
    const int units = dev->ctx->device.compute_units, plus_times = c->semiring == WEFT_SPMV_SEMIRING_PLUS_TIMES;
    if (c->type == WEFT_TYPE_F64 && !weft_context_device(dev->ctx)->fp64) {
        tap_skip("%s: no double precision", dev->name);
        return;
    }
    const struct weft_spmv_params params = {.policy.algo = WEFT_SPMV_ALGO_CSR_FLAGS, .problem.semiring = c->semiring};
    struct test_problem p = test_problem_of(dev, &rng, c->m, c->n, c->length, c->type, c->ofs);
    columns_put(&p, c->apart);
    dev->ctx->device.compute_units = c->units;
    struct weft_spmv_plan *plan = test_problem_plan(&p, &params);
    const enum weft__spmv_flags_tiles kind = plan ? weft__spmv_flags_tiles(plan) : WEFT__SPMV_TILES_SMALL;
    const size_t wg = plan ? (size_t)weft_spmv_plan_info(plan)->params.gpu.wg : 1, each = wg < 1024 ? 1024 / wg : 1,
                 most = each * (size_t)c->units * c->teams;
    dev->ctx->device.compute_units = units;
    groups = 0;
    weft_context_on_launch(dev->ctx, groups_count, NULL);
    int ok = plan && kind == c->want && test_problem_run(&p, plan, &params, 1, 0) &&
             test_problem_run(&p, plan, &params, plus_times ? -2 : 1, plus_times ? 3 : 1);
    weft_context_on_launch(dev->ctx, NULL, NULL);
    const int few = c->want == WEFT__SPMV_TILES_SMALL ? groups > MANY : groups > 0 && groups <= most;
    if (p.a.val)
        test_values_draw(&rng, p.a.val, c->type, p.a.nnz);
    ok = ok && !weft_device_csr_write_sync(&p.d, dev->ctx, dev->queue, &p.a) &&
         !weft_spmv_plan_refill(plan, dev->queue, &p.d) && test_problem_run(&p, plan, &params, 1, 1);
    tap_ok(ok && few, "%s: %s: %s tiles, %zu work-groups of %zu on %d units", dev->name, c->what, kinds[kind], groups,
           wg, c->units);
    weft_spmv_plan_destroy(&plan);
    test_problem_free(&p);
}

static void test_each(struct test_device *dev)
{
    if (!dev->gpu || dev->checker) // an entry takes a checker a millisecond; it sees large tiles of csr_hubs
        return;
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        if (!test_sample() || i % 3 != 1)
            test_product(dev, &products[i]);
}

int main(void)
{
    rng = rng_start();
    test_kind();
    test_device_each(test_each);
    return tap_done();
}
