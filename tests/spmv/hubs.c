// SPDX-License-Identifier: Apache-2.0
// Columns with many entries: products whose x lies in local memory in part, what a sample finds, when auto takes them.
#include "host/internal/tests.h"
#include "tests/support/problem.h"

#include <math.h>
#include <stdlib.h>

static struct rng rng;

// Every seventh row is empty; one has so many entries that work-groups share it.
static int64_t length(int64_t i, int64_t m)
{
    return i % 7 == 3 ? 0 : i == m / 2 ? 700 : 1 + i % 9;
}

// Every second entry lies in one of `hubs` columns that stand evenly.
static void hubs_put(struct test_problem *p, int64_t hubs)
{
    for (int64_t k = 0; hubs && k < p->a.nnz; k += 2)
        p->a.col[k] = (int32_t)((int64_t)rng_below(&rng, (uint64_t)hubs) * (p->a.n / hubs));
    if (weft_device_csr_write_sync(&p->d, p->dev->ctx, p->dev->queue, &p->a))
        tap_bail("%s", test_error(p->dev));
}

static const struct product {
    const char *what;
    int64_t m, n, hubs;
    enum weft_type type;
    enum weft_ofs ofs;
    int f64_sums, wg, ipt, units;
    enum weft_spmv_semiring semiring;
} products[] = {
    {"20 hubs", 900, 800, 20, WEFT_TYPE_F32, WEFT_OFS_32, 0, 32, 4, 1, WEFT_SPMV_SEMIRING_PLUS_TIMES},
    {"20 hubs", 900, 800, 20, WEFT_TYPE_F64, WEFT_OFS_64, 0, 64, 4, 2, WEFT_SPMV_SEMIRING_PLUS_TIMES},
    {"sums of f64", 500, 800, 20, WEFT_TYPE_F32, WEFT_OFS_32, 1, 32, 8, 1, WEFT_SPMV_SEMIRING_PLUS_TIMES},
    {"integers", 500, 800, 9, WEFT_TYPE_I32, WEFT_OFS_32, 0, 32, 4, 1, WEFT_SPMV_SEMIRING_MIN_PLUS},
    {"a pattern", 500, 800, 9, WEFT_TYPE_PATTERN, WEFT_OFS_32, 0, 32, 4, 3, WEFT_SPMV_SEMIRING_OR_AND},
    {"one hub", 400, 3000, 1, WEFT_TYPE_F32, WEFT_OFS_32, 0, 64, 8, 1, WEFT_SPMV_SEMIRING_PLUS_TIMES},
    {"no hubs", 300, 100000, 0, WEFT_TYPE_F32, WEFT_OFS_32, 0, 32, 4, 200, WEFT_SPMV_SEMIRING_PLUS_TIMES},
    {"each column a hub", 600, 30, 30, WEFT_TYPE_F32, WEFT_OFS_32, 0, 32, 4, 1, WEFT_SPMV_SEMIRING_PLUS_TIMES},
    {"more hubs than room", 5000, 60000, 3000, WEFT_TYPE_F32, WEFT_OFS_32, 0, 256, 4, 1, WEFT_SPMV_SEMIRING_MAX_TIMES},
    {"default sizes", 900, 800, 20, WEFT_TYPE_F32, WEFT_OFS_32, 0, 0, 0, 1, WEFT_SPMV_SEMIRING_PLUS_TIMES},
};

// A plan, two runs, new values, another run; on a device of few units, so that a work-group takes many steps.
static void test_product(struct test_device *dev, const struct product *c)
{
    const int units = dev->ctx->device.compute_units;
    const bool wide = c->type == WEFT_TYPE_F64 || c->f64_sums, crowd = c->hubs > 1000,
               sums = c->semiring == WEFT_SPMV_SEMIRING_PLUS_TIMES;
    const int64_t local = dev->ctx->device.local_bytes;
    if (crowd && dev->checker) // an entry takes a checker a millisecond
        return;
    if (wide && !weft_context_device(dev->ctx)->fp64) {
        tap_skip("%s: no double precision", dev->name);
        return;
    }
    struct test_problem p = test_problem_of(dev, &rng, c->m, c->n, length, c->type, c->ofs);
    const struct weft_spmv_params params = {.policy.algo = WEFT_SPMV_ALGO_CSR_HUBS,
                                            .problem = {.f64_sums = c->f64_sums, .semiring = c->semiring},
                                            .gpu = {.wg = dev->gpu ? c->wg : 0, .ipt = dev->gpu ? c->ipt : 0}};
    hubs_put(&p, c->hubs);
    dev->ctx->device.compute_units = dev->gpu ? c->units : units;
    dev->ctx->device.local_bytes = dev->gpu && crowd ? 11264 : local; // room for less than 2816
    struct weft_spmv_plan *plan = test_problem_plan(&p, &params);
    dev->ctx->device.local_bytes = local;
    const enum weft_spmv_algo runs = dev->gpu ? WEFT_SPMV_ALGO_CSR_HUBS : WEFT_SPMV_ALGO_CSR_MERGE;
    int ok = plan && weft_spmv_plan_info(plan)->params.policy.algo == runs &&
             (plan->columns != NULL) == (dev->gpu && c->hubs > 0) && test_problem_run(&p, plan, &params, 1, 0) &&
             test_problem_run(&p, plan, &params, sums ? -2 : 1, sums ? 3 : 1);
    if (p.a.val)
        test_values_draw(&rng, p.a.val, c->type, p.a.nnz);
    ok = ok && !weft_device_csr_write_sync(&p.d, dev->ctx, dev->queue, &p.a) &&
         !weft_spmv_plan_refill(plan, dev->queue, &p.d) && test_problem_run(&p, plan, &params, 1, 1);
    tap_ok(ok, "%s: %s, %s, %d bits, work-groups of %d, %d entries, %d units", dev->name, c->what,
           weft_type_name(c->type), (int)weft_ofs_bytes(c->ofs) * 8, c->wg, c->ipt, c->units);
    dev->ctx->device.compute_units = units;
    weft_spmv_plan_destroy(&plan);
    test_problem_free(&p);
}

// Entries of a row.
static int64_t three_each(int64_t i, int64_t m)
{
    (void)i;
    (void)m;
    return 3;
}

static void test_find(struct test_device *dev)
{
    static const struct {
        const char *what;
        size_t most, groups;
        cl_uint number;
        double entries;
    } cases[] = {{"read by 100 work-groups", 64, 100, 10, 2000},
                 {"by one, with room for 64", 64, 1, 10, 2000},
                 {"by one, with room for 200", 200, 20, 110, 4000},
                 {"by too many", 64, 100000, 0, 0}};
    struct test_problem p = test_problem_of(dev, &rng, 2048, 70000, three_each, WEFT_TYPE_F32, WEFT_OFS_32);
    // 6144 entries: columns 0 to 9 have 200, 500 to 599 have 20, the others one here and there.
    for (int64_t k = 0; k < p.a.nnz; k++)
        p.a.col[k] = (int32_t)(k < 2000 ? k % 10 : k < 4000 ? 500 + k % 100 : 1000 + 29 * (k - 4000));
    if (weft_device_csr_write_sync(&p.d, dev->ctx, dev->queue, &p.a))
        tap_bail("%s", test_error(dev));
    struct weft_spmv_plan *plan = test_problem_plan(&p, weft_spmv_params(.policy.algo = WEFT_SPMV_ALGO_CSR_MERGE));
    for (size_t i = 0; plan && i < sizeof cases / sizeof *cases; i++) {
        struct weft__spmv_hubs hubs = {0};
        const int ok = !weft__spmv_hubs_find(&hubs, plan, dev->queue, cases[i].most, cases[i].groups);
        tap_ok(ok && hubs.number == cases[i].number && fabs(hubs.share * 6144 - cases[i].entries) < 1e-6,
               "%s: %s: %u hubs with %.0f of 6144 entries", dev->name, cases[i].what, hubs.number, hubs.share * 6144);
        // Of 32 columns: the line of the first ten, four of the hundred, and of the others some with two and most with one.
        const double kept = hubs.kept * 6144;
        tap_ok(ok && kept > 4000 + 1100 && kept < 4000 + 1300, "%s: 1024 lines hold %.0f entries", dev->name, kept);
        weft__buffer_release(&hubs.count);
    }
    tap_ok(plan != NULL, "%s: a plan to sample", dev->name);
    weft_spmv_plan_destroy(&plan);
    test_problem_free(&p);
}

// Columns of more entries than a bin counts, and more of them than there is room for.
static void test_full(struct test_device *dev)
{
    struct test_problem p = test_problem_of(dev, &rng, 60000, 50, three_each, WEFT_TYPE_F32, WEFT_OFS_32);
    struct weft_spmv_plan *plan = test_problem_plan(&p, weft_spmv_params(.policy.algo = WEFT_SPMV_ALGO_CSR_MERGE));
    struct weft__spmv_hubs hubs = {0};
    const int ok = plan && !weft__spmv_hubs_find(&hubs, plan, dev->queue, 20, 1);
    tap_ok(ok && hubs.number == 20 && fabs(hubs.share - 0.4) < 1e-3 && fabs(hubs.kept - 1) < 1e-6,
           "%s: room for 20 of 50 hubs: %u, %.3f of the entries", dev->name, hubs.number, hubs.share);
    weft__buffer_release(&hubs.count);
    weft_spmv_plan_destroy(&plan);
    test_problem_free(&p);
}

// The plan made again as auto would: does it keep hubs?
static void test_bound(struct test_device *dev, const char *what, int64_t hubs, int64_t runs, int kept)
{
    enum { GPU_LOCAL = 49152 };
    const int units = dev->ctx->device.compute_units;
    const int64_t local = dev->ctx->device.local_bytes;
    struct test_problem p = test_problem_of(dev, &rng, 100000, 300000, three_each, WEFT_TYPE_F32, WEFT_OFS_32);
    hubs_put(&p, hubs);
    dev->ctx->device.compute_units = 1;
    dev->ctx->device.local_bytes =
        local < GPU_LOCAL ? local : GPU_LOCAL; // where a processor has more, more columns fit
    struct weft_spmv_plan *plan = test_problem_plan(
        &p, weft_spmv_params(.policy = {.algo = WEFT_SPMV_ALGO_CSR_HUBS, .products = runs}, .gpu.wg = 256));
    weft_status status = WEFT_EINVAL;
    if (plan) {
        plan->method->destroy(plan->state);
        plan->state = NULL;
        plan->columns = NULL;
        plan->bound = 1;
        status = plan->method->create(plan, dev->queue);
    }
    tap_ok(plan && status == (kept ? WEFT_OK : WEFT_ERANGE) && (plan->columns != NULL) == kept, "%s: %s: %s", dev->name,
           what, status ? "CSR instead" : "hubs");
    weft_spmv_plan_destroy(&plan);
    test_problem_free(&p);
    dev->ctx->device.compute_units = units;
    dev->ctx->device.local_bytes = local;
}

// What auto asks a sample for, by figures alone, on a device with as many units as an H200 and lanes in hardware; nothing runs.
static void test_choice(struct test_device *dev)
{
    static const struct {
        const char *what;
        int64_t rows, entries, runs;
        int far, hubs; // of 1024 entries those that lie far from the one before
        enum weft_spmv_semiring semiring;
        enum weft_type acc;
    } cases[] = {
        {"1000 products", 2000000, 10000000, 1000, 1000, 1, WEFT_SPMV_SEMIRING_PLUS_TIMES, WEFT_TYPE_F32},
        {"10 products", 2000000, 10000000, 10, 1000, 0, WEFT_SPMV_SEMIRING_PLUS_TIMES, WEFT_TYPE_F32},
        {"few entries", 200000, 700000, 1000, 1000, 0, WEFT_SPMV_SEMIRING_PLUS_TIMES, WEFT_TYPE_F32},
        {"entries side by side", 2000000, 10000000, 1000, 100, 0, WEFT_SPMV_SEMIRING_PLUS_TIMES, WEFT_TYPE_F32},
        {"another semiring", 2000000, 10000000, 1000, 1000, 0, WEFT_SPMV_SEMIRING_MIN_PLUS, WEFT_TYPE_F32},
        {"sums of f64", 2000000, 10000000, 1000, 1000, 0, WEFT_SPMV_SEMIRING_PLUS_TIMES, WEFT_TYPE_F64},
    };
    const int units = dev->ctx->device.compute_units;
    const enum weft_lanes lanes = dev->ctx->device.lanes;
    dev->ctx->device.compute_units = 132;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct weft_spmv_plan plan = {.ctx = dev->ctx, .type = WEFT_TYPE_F32, .acc = cases[i].acc};
        plan.a = (struct weft_device_csr){.m = cases[i].rows, .n = cases[i].rows, .nnz = cases[i].entries};
        plan.x_size = plan.y_size = cases[i].rows;
        plan.info.schedule = dev->ctx->schedule;
        plan.info.params = (struct weft_spmv_params){
            .policy.products = cases[i].runs, .problem.semiring = cases[i].semiring, .format.max_padding = 4};
        plan.stats.far = plan.stats.lone = plan.stats.apart = cases[i].far * ((cases[i].rows + 31) / 32);
        plan.info.max_row = plan.stats.max_row = 5000;
        plan.denied = 1u << WEFT_SPMV_ALGO_PANELS; // what a sample says of power laws
        enum weft_spmv_algo chosen = WEFT_SPMV_ALGO_AUTO, local = WEFT_SPMV_ALGO_AUTO;
        dev->ctx->device.lanes = WEFT_LANES_PTX;
        int ok = !weft__spmv_choose(&plan, dev->queue, &chosen);
        dev->ctx->device.lanes = WEFT_LANES_LOCAL;
        ok = ok && !weft__spmv_choose(&plan, dev->queue, &local) && local != WEFT_SPMV_ALGO_CSR_HUBS;
        tap_ok(ok && (chosen == WEFT_SPMV_ALGO_CSR_HUBS) == cases[i].hubs, "%s: %s: auto takes %s", dev->name,
               cases[i].what, weft_spmv_algo_name(chosen));
    }
    dev->ctx->device.compute_units = units;
    dev->ctx->device.lanes = lanes;
}

static void test_each(struct test_device *dev)
{
    for (size_t k = 0; k < sizeof products / sizeof *products; k++)
        test_product(dev, &products[k]);
    if (!dev->gpu)
        return;
    test_find(dev);
    test_choice(dev);
    if (dev->checker) // an entry takes a checker a millisecond
        return;
    test_full(dev);
    test_bound(dev, "they do not for few products", 3000, 10, 0);
    test_bound(dev, "the caches keep 30", 30, 100000, 0);
    test_bound(dev, "there are none", 0, 100000, 0);
#ifdef WEFT_HOSTILE
    tap_skip("%s: what auto takes with room for 64 hubs", dev->name);
#else
    test_bound(dev, "3000 hubs repay", 3000, 100000, 1);
#endif
}

int main(void)
{
    rng = rng_start();
    test_device_each(test_each);
    return tap_done();
}
