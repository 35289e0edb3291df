// SPDX-License-Identifier: Apache-2.0
// CSR where most rows are empty. It walks entries and not rows: on a CPU by tiles, on a GPU by csr_scalar, which sums up blocks of rows in
// local memory; csr_flags scales y first. Whether they do, and what they give where rows with entries fill a block, where tiles cut a row,
// and where all stand at one end.
#include "host/internal/tests.h"
#include "tests/support/device.h"
#include "tests/support/problem.h"
#include "tests/support/rng.h"

#include <math.h>
#include <string.h>

static struct rng rng;

static int64_t rare(int64_t i, int64_t m)
{
    (void)m;
    return i % 50 == 3 ? 1 + i % 3 : 0;
}
static int64_t blocks(int64_t i, int64_t m) // more rows with entries than a block has, in each tile
{
    (void)m;
    return i % 12 == 11;
}
static int64_t first(int64_t i, int64_t m)
{
    (void)m;
    return i < 600;
}
static int64_t last(int64_t i, int64_t m)
{
    return i >= m - 600;
}
static int64_t cut(int64_t i, int64_t m) // a row of several tiles, and its neighbours
{
    return i == m / 2 ? (m < 30000 ? 9000 : 20000) : i == m / 2 - 1 || i == m / 2 + 2;
}
static int64_t only(int64_t i, int64_t m)
{
    return i == m - 1;
}

static const struct form {
    const char *name;
    int64_t (*length)(int64_t i, int64_t m);
} forms[] = {{"few entries", rare},    {"blocks of rows", blocks},      {"all at the begin", first},
             {"all at the end", last}, {"a row of several tiles", cut}, {"one entry", only}};
#define FORMS (sizeof forms / sizeof *forms)

// Whether the plan is of the kind that empty rows, or the rows of a block that were given, ask for. The checker's matrices are too small for
// a launch more.
static int is_for_gaps(const struct test_device *dev, const struct weft_spmv_plan *plan, int given)
{
    const struct weft_spmv_info *info = weft_spmv_plan_info(plan);
    if (!dev->gpu)
        return plan->gaps && info->convert_ms > 0;
    if (info->params.policy.algo == WEFT_SPMV_ALGO_CSR_SCALAR)
        return (given ? info->params.gpu.ipt == given : (info->params.gpu.ipt > 1) == weft__spmv_scalar_gaps(plan)) &&
               plan->gaps == (info->params.gpu.ipt > 1) && plan->gaps == (info->convert_ms > 0);
    return dev->checker || plan->gaps == !info->params.problem.f64_sums;
}

// Nonzero: `form` is multiplied right, by entries, with new values as well.
static int check(struct test_device *dev, const struct form *form, enum weft_type type, enum weft_ofs ofs,
                 const struct weft_spmv_params *params)
{
    static const double scalars[][2] = {{1, 0}, {1, 1}, {-2, 3}};
    const size_t runs = params->problem.semiring == WEFT_SPMV_SEMIRING_PLUS_TIMES ? 3 : 2;
    struct test_problem p = test_problem_of(dev, &rng, dev->checker ? 9000 : 60000, 500, form->length, type, ofs);
    struct weft_spmv_plan *plan = test_problem_plan(&p, params);
    int ok = plan && is_for_gaps(dev, plan, params->gpu.ipt);
    for (size_t s = 0; ok && s < runs; s++)
        ok = test_problem_run(&p, plan, params, scalars[s][0], scalars[s][1]);
    if (ok && p.type == WEFT_TYPE_F32) { // y is not read
        for (int64_t i = 0; i < p.a.m; i++)
            ((float *)p.y0)[i] = NAN;
        ok = test_problem_run(&p, plan, params, 1, 0);
    }
    test_values_draw(&rng, p.a.val, type, p.a.nnz);
    if (ok)
        ok = !weft_device_csr_write_sync(&p.d, dev->ctx, dev->queue, &p.a) &&
             !weft_spmv_plan_refill(plan, dev->queue, &p.d) && test_problem_run(&p, plan, params, 1, 0);
    weft_spmv_plan_destroy(&plan);
    test_problem_free(&p);
    return ok;
}

static void test_forms(struct test_device *dev, enum weft_spmv_algo algo, int ipt)
{
    static const enum weft_type types[] = {WEFT_TYPE_F32, WEFT_TYPE_F64, WEFT_TYPE_I32, WEFT_TYPE_PATTERN};
    for (size_t f = 0; f < FORMS; f++)
        for (size_t k = 0; k < 8; k++) {
            const enum weft_type type = types[k % 4];
            const enum weft_ofs ofs = k / 4 ? WEFT_OFS_64 : WEFT_OFS_32;
            if ((type == WEFT_TYPE_F64 && !weft_context_device(dev->ctx)->fp64) || (test_sample() && (f + k) % 3))
                continue;
            const struct weft_spmv_params params = {.policy.algo = algo, .gpu.ipt = ipt};
            tap_ok(check(dev, &forms[f], type, ofs, &params), "%s: %s, ipt %d, %s, %s, offsets of %d bits", dev->name,
                   weft_spmv_algo_name(algo), ipt, forms[f].name, weft_type_name(type), (int)weft_ofs_bytes(ofs) * 8);
        }
}

static void test_semirings(struct test_device *dev, enum weft_spmv_algo algo)
{
    for (int ring = WEFT_SPMV_SEMIRING_PLUS_TIMES; ring <= WEFT_SPMV_SEMIRING_MAX_TIMES; ring++) {
        const int sums = ring == WEFT_SPMV_SEMIRING_PLUS_TIMES && weft_context_device(dev->ctx)->fp64;
        const struct weft_spmv_params params = {
            .policy.algo = algo, .problem.semiring = (enum weft_spmv_semiring)ring, .problem.f64_sums = sums};
        tap_ok(check(dev, &forms[1], WEFT_TYPE_F32, WEFT_OFS_32, &params), "%s: %s, blocks of rows, semiring %d%s",
               dev->name, weft_spmv_algo_name(algo), ring, sums ? ", f64 sums" : "");
    }
}

// The row of each entry is found where that is repaid, and rows are walked where many have entries.
static void test_choice(struct test_device *dev)
{
    const struct {
        int64_t base, products;
        bool gaps;
    } cases[] = {{0, 0, true}, {0, 1000, true}, {0, 1, false}, {1, 0, false}, {1, 1000, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct weft_spmv_params params = {.policy.algo = WEFT_SPMV_ALGO_CSR,
                                                .policy.products = cases[i].products};
        struct test_problem p = cases[i].base
                                    ? test_problem_make(dev, &rng, 60000, 500, 1, 9, WEFT_TYPE_F32, WEFT_OFS_32)
                                    : test_problem_of(dev, &rng, 60000, 500, rare, WEFT_TYPE_F32, WEFT_OFS_32);
        struct weft_spmv_plan *plan = test_problem_plan(&p, &params);
        tap_ok(plan && plan->gaps == cases[i].gaps && test_problem_run(&p, plan, &params, 1, 0),
               "%s: %lld products, %s: %s are walked", dev->name, (long long)cases[i].products,
               cases[i].base ? "rows of one and more" : "empty rows", cases[i].gaps ? "entries" : "rows");
        weft_spmv_plan_destroy(&plan);
        test_problem_free(&p);
    }
}

static void each_device(struct test_device *dev)
{
    const int units = dev->ctx->device.compute_units;
    if (!dev->gpu) {
        test_forms(dev, WEFT_SPMV_ALGO_CSR, 0);
        test_semirings(dev, WEFT_SPMV_ALGO_CSR);
        if (!dev->checker)
            test_choice(dev);
        return;
    }
    dev->ctx->device.compute_units = 1; // empty rows of few matrices are many for it
    test_forms(dev, WEFT_SPMV_ALGO_CSR_FLAGS, 0);
    test_forms(dev, WEFT_SPMV_ALGO_CSR_SCALAR, 0);
    test_forms(dev, WEFT_SPMV_ALGO_CSR_SCALAR, 4);
    test_semirings(dev, WEFT_SPMV_ALGO_CSR_FLAGS);
    test_semirings(dev, WEFT_SPMV_ALGO_CSR_SCALAR);
    dev->ctx->device.compute_units = units;
}

int main(void)
{
    rng = rng_start();
    test_device_each(each_device);
    return tap_done();
}
