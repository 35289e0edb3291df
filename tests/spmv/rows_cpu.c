// SPDX-License-Identifier: Apache-2.0
// CSR on a CPU by rows: each way to add up a row with rows of every length, rows that tiles cut, and which way is taken.
#include "host/internal/tests.h"
#include "tests/support/device.h"
#include "tests/support/problem.h"
#include "tests/support/rng.h"

static struct rng rng;

static int64_t every(int64_t i, int64_t m) // blocks, what is left of them, and none
{
    (void)m;
    return i * 37 % 97;
}
static int64_t long_rows(int64_t i, int64_t m) // one that a tile takes whole, one that several share
{
    return i == m / 3 ? 3000 : i == m / 2 ? 20000 : i % 3;
}
static int64_t alike10(int64_t i, int64_t m)
{
    (void)i, (void)m;
    return 10;
}
static int64_t alike27(int64_t i, int64_t m)
{
    (void)i, (void)m;
    return 27;
}
static int64_t alike700(int64_t i, int64_t m)
{
    (void)i, (void)m;
    return 700;
}
static int64_t about24(int64_t i, int64_t m)
{
    (void)m;
    return 16 + i * 5 % 17;
}
static int64_t about40(int64_t i, int64_t m)
{
    (void)m;
    return 32 + i * 5 % 17;
}
static int64_t about60(int64_t i, int64_t m)
{
    (void)m;
    return 52 + i * 5 % 17;
}

static void test_sums(struct test_device *dev)
{
    static const enum weft_type types[] = {WEFT_TYPE_F32, WEFT_TYPE_F64, WEFT_TYPE_I32, WEFT_TYPE_PATTERN};
    static const int lanes[] = {1, 2, 4, 8, 16};
    for (size_t t = 0; t < 4; t++) {
        const enum weft_ofs ofs = t % 2 ? WEFT_OFS_64 : WEFT_OFS_32;
        if (types[t] == WEFT_TYPE_F64 && !weft_context_device(dev->ctx)->fp64)
            continue;
        struct test_problem rows = test_problem_of(dev, &rng, dev->checker ? 194 : 1940, 500, every, types[t], ofs),
                            cut = test_problem_of(dev, &rng, 400, 500, long_rows, types[t], ofs);
        for (size_t k = 0; k < sizeof lanes / sizeof *lanes; k++) {
            const struct weft_spmv_params params = {.policy.algo = WEFT_SPMV_ALGO_CSR_MERGE, .cpu.lanes = lanes[k]};
            struct weft_spmv_plan *a = test_problem_plan(&rows, &params), *b = test_problem_plan(&cut, &params);
            tap_ok(a && !a->gaps && test_problem_run(&rows, a, &params, 1, 0) &&
                       test_problem_run(&rows, a, &params, -2, 3),
                   "%s: %s, %d sums, rows of 0 to 96 entries", dev->name, weft_type_name(types[t]), lanes[k]);
            tap_ok(b && !b->gaps && test_problem_run(&cut, b, &params, 1, 0) &&
                       test_problem_run(&cut, b, &params, -2, 3),
                   "%s: %s, %d sums, rows that are cut", dev->name, weft_type_name(types[t]), lanes[k]);
            weft_spmv_plan_destroy(&a);
            weft_spmv_plan_destroy(&b);
        }
        test_problem_free(&rows);
        test_problem_free(&cut);
    }
}

// Blocks of eight, cpu.lanes == 2, where rows are long enough to repay the ends of loops, and x is near.
static void test_choice(struct test_device *dev)
{
    static const struct {
        const char *name;
        int64_t (*length)(int64_t i, int64_t m);
        int64_t n;
        enum weft_type type;
        bool blocks;
    } cases[] = {{"rows of 27", alike27, 500, WEFT_TYPE_F32, true},
                 {"rows of 27, patterns", alike27, 500, WEFT_TYPE_PATTERN, true},
                 {"rows of 27, integers", alike27, 500, WEFT_TYPE_I32, false},
                 {"rows of 27, far apart", alike27, 1000000, WEFT_TYPE_F32, false},
                 {"rows of 10", alike10, 500, WEFT_TYPE_F32, false},
                 {"rows of 700", alike700, 1000, WEFT_TYPE_F32, false},
                 {"rows of 16 to 32", about24, 500, WEFT_TYPE_F32, false},
                 {"rows of 32 to 48", about40, 500, WEFT_TYPE_F32, false},
                 {"rows of 52 to 68", about60, 500, WEFT_TYPE_F32, true},
                 {"rows of 52 to 68, f64", about60, 500, WEFT_TYPE_F64, true}};
    const struct weft_spmv_params params = {.policy.algo = WEFT_SPMV_ALGO_CSR};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (cases[i].type == WEFT_TYPE_F64 && !weft_context_device(dev->ctx)->fp64)
            continue;
        struct test_problem p =
            test_problem_of(dev, &rng, 2000, cases[i].n, cases[i].length, cases[i].type, WEFT_OFS_32);
        struct weft_spmv_plan *plan = test_problem_plan(&p, &params);
        const int lanes = plan ? weft_spmv_plan_info(plan)->params.cpu.lanes : 0;
        tap_ok(plan && (lanes == 2) == cases[i].blocks && test_problem_run(&p, plan, &params, 1, 0), "%s: %s: lanes=%d",
               dev->name, cases[i].name, lanes);
        weft_spmv_plan_destroy(&plan);
        test_problem_free(&p);
    }
}

static void each_device(struct test_device *dev)
{
    if (dev->gpu)
        return;
    test_sums(dev);
    if (!dev->checker)
        test_choice(dev);
}

int main(void)
{
    rng = rng_start();
    test_device_each(each_device);
    return tap_done();
}
