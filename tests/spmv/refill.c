// SPDX-License-Identifier: Apache-2.0
// New values of the same structure: what each algorithm multiplies with them, what it does until it has them, and after a refill for
// which there was no memory.
#include "tests/support/fault.h"
#include "tests/support/problem.h"

#include <string.h>

static struct rng rng;

static void test_refill(struct test_device *dev)
{
    static const struct {
        struct weft_spmv_params params;
        const char *name;
    } ways[] = {{{.policy.algo = WEFT_SPMV_ALGO_CSR}, "csr"},
                {{.policy.algo = WEFT_SPMV_ALGO_ELL}, "ell"},
                {{.policy.algo = WEFT_SPMV_ALGO_SELL}, "sell"},
                {{.policy.algo = WEFT_SPMV_ALGO_SELL16}, "sell16"},
                {{.policy.algo = WEFT_SPMV_ALGO_HYB}, "hyb"},
                {{.policy.algo = WEFT_SPMV_ALGO_HYB, .format.host_rest = 1}, "hyb, rest on the host"},
                {{.policy.algo = WEFT_SPMV_ALGO_COO}, "coo"},
                {{.policy.algo = WEFT_SPMV_ALGO_PANELS}, "panels"},
                {{.policy.algo = WEFT_SPMV_ALGO_CSR_FLAGS}, "csr_flags"},
                {{.policy.algo = WEFT_SPMV_ALGO_CSR_HUBS}, "csr_hubs"},
                {{.policy.algo = WEFT_SPMV_ALGO_CSR_NODES}, "csr_nodes"},
                {{.policy.algo = WEFT_SPMV_ALGO_COO_ATOMIC}, "coo_atomic"},
                {{.policy.mode = WEFT_SPMV_MODE_REPRODUCIBLE}, "csr_fixed"}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct test_problem p =
            test_problem_make(dev, &rng, 90, 90, 1, 50, WEFT_TYPE_F32, i % 2 ? WEFT_OFS_64 : WEFT_OFS_32);
        struct weft_spmv_params params = ways[i].params;
        params.format.max_padding = 1e9;
        struct weft_spmv_plan *plan = test_problem_plan(&p, &params);
        int ok = plan && test_problem_run(&p, plan, &params, 1, 0);
        test_values_draw(&rng, p.a.val, p.a.type, p.a.nnz);
        struct weft_device_csr other = {0};
        ok = ok && !weft_device_csr_alloc(&other, dev->ctx, weft_csr_shape(&p.a)) &&
             !weft_device_csr_write_sync(&other, dev->ctx, dev->queue, &p.a) &&
             !weft_spmv_plan_refill(plan, dev->queue, &other);
        weft_device_csr_free(&other); // the plan keeps what it needs
        tap_ok(ok && test_problem_run(&p, plan, &params, 2, -1), "%s: new values from other buffers: %s", dev->name,
               ways[i].name);
        struct weft_device_csr bad = p.d;
        bad.n++;
        const weft_status status = plan ? weft_spmv_plan_refill(plan, dev->queue, &bad) : WEFT_OK;
        tap_ok(status == WEFT_EINVAL && test_problem_run(&p, plan, &params, 2, -1),
               "%s: another shape is refused, the plan stays: %s", dev->name, test_error(dev));
        weft_spmv_plan_destroy(&plan);
        test_problem_free(&p);
    }
}

// Columns of a row lie so far apart that sell16 becomes sell, whose columns a refill must not narrow.
static void test_wide(struct test_device *dev)
{
    struct test_problem p = test_problem_make(dev, &rng, 90, 300000, 3, 50, WEFT_TYPE_F32, WEFT_OFS_32);
    const struct weft_spmv_params params = {.policy.algo = WEFT_SPMV_ALGO_SELL16, .format.max_padding = 1e9};
    struct weft_spmv_plan *plan = test_problem_plan(&p, &params);
    tap_ok(plan && weft_spmv_plan_info(plan)->params.policy.algo == WEFT_SPMV_ALGO_SELL &&
               test_problem_run(&p, plan, &params, 1, 0) && test_problem_renew(&p, plan, &rng) &&
               test_problem_run(&p, plan, &params, 2, -1),
           "%s: new values of sell that sell16 has become", dev->name);
    weft_spmv_plan_destroy(&plan);
    test_problem_free(&p);
}

// A CSR plan sees what is written to the caller's own values; a transposed copy does not until it is refilled.
static void test_written(struct test_device *dev)
{
    static const enum weft_spmv_algo algos[] = {WEFT_SPMV_ALGO_CSR, WEFT_SPMV_ALGO_SELL, WEFT_SPMV_ALGO_COO};
    struct test_problem p = test_problem_make(dev, &rng, 60, 60, 2, 40, WEFT_TYPE_F32, WEFT_OFS_32);
    const struct weft_spmv_params csr = {.policy.algo = WEFT_SPMV_ALGO_CSR};
    struct weft_spmv_plan *plan = test_problem_plan(&p, &csr);
    int ok = plan && test_problem_run(&p, plan, &csr, 1, 0);
    test_values_draw(&rng, p.a.val, p.a.type, p.a.nnz);
    test_problem_write(&p);
    tap_ok(ok && test_problem_run(&p, plan, &csr, 1, 0), "%s: csr reads the values that are there", dev->name);
    weft_spmv_plan_destroy(&plan);
    struct test_problem turned = test_problem_turned(&p, &rng);
    const size_t bytes = (size_t)turned.a.nnz * 4;
    float *before = test_alloc(bytes), *behind = test_alloc(bytes);
    for (size_t i = 0; i < sizeof algos / sizeof *algos; i++) {
        const struct weft_spmv_params params = {
            .policy.algo = algos[i], .problem.transpose = WEFT_SPMV_TRANSPOSE_BY_COPY, .format.max_padding = 1e9};
        plan = test_problem_plan(&turned, &params);
        ok = plan && test_problem_run(&turned, plan, &params, 1, 0);
        memcpy(before, turned.a.val, bytes);
        test_values_draw(&rng, turned.a.val, turned.a.type, turned.a.nnz);
        memcpy(behind, turned.a.val, bytes);
        test_problem_write(&turned);
        memcpy(turned.a.val, before, bytes);
        ok = ok && test_problem_run(&turned, plan, &params, 1, 0);
        memcpy(turned.a.val, behind, bytes);
        tap_ok(ok && !weft_spmv_plan_refill(plan, dev->queue, &turned.d) &&
                   test_problem_run(&turned, plan, &params, 2, -1),
               "%s: a transposed copy has new values once it is refilled: %s", dev->name,
               weft_spmv_algo_name(algos[i]));
        weft_spmv_plan_destroy(&plan);
    }
    free(before);
    free(behind);
    test_problem_free(&turned);
    test_problem_free(&p);
}

// Each buffer of a refill cannot be had, one after the other: the next refill has all that it needs.
static void test_no_memory(struct test_device *dev, const struct weft_spmv_params *params, const char *name)
{
    struct test_problem p = test_problem_make(dev, &rng, 100, 100, 2, 40, WEFT_TYPE_F32, WEFT_OFS_32);
    struct weft_spmv_plan *plan = test_problem_plan(&p, params);
    int refused = 0, ok = plan != NULL, hit = 1;
    fault_install();
    for (int n = 1; ok && hit; n++) {
        test_values_draw(&rng, p.a.val, p.a.type, p.a.nnz);
        test_problem_write(&p);
        fault_set(FAULT_clCreateBuffer, n);
        const weft_status status = weft_spmv_plan_refill(plan, dev->queue, &p.d);
        hit = fault_hit();
        fault_set(FAULT_clCreateBuffer, 0);
        refused += status == WEFT_EDEVMEM;
        ok = status == (hit ? WEFT_EDEVMEM : WEFT_OK) && !weft_spmv_plan_refill(plan, dev->queue, &p.d) &&
             test_problem_run(&p, plan, params, 2, -1);
    }
    fault_remove();
    tap_ok(ok && refused, "%s: %s is refilled after %d refills for which there was no memory", dev->name, name,
           refused);
    weft_spmv_plan_destroy(&plan);
    test_problem_free(&p);
}

static void each_device(struct test_device *dev)
{
    test_refill(dev);
    test_wide(dev);
    test_written(dev);
    if (dev->checker) // a matter of the host
        return;
    test_no_memory(dev, weft_spmv_params(.policy.algo = WEFT_SPMV_ALGO_HYB, .format.host_rest = 1),
                   "hyb, rest on the host");
    test_no_memory(dev, weft_spmv_params(.policy.algo = WEFT_SPMV_ALGO_SELL16, .format.max_padding = 1e9), "sell16");
    if (!dev->gpu) // where columns and values lie apart for good
        return;
    test_no_memory(dev, weft_spmv_params(.policy.algo = WEFT_SPMV_ALGO_SELL, .format.max_padding = 1e9), "sell");
    test_no_memory(dev, weft_spmv_params(.policy.algo = WEFT_SPMV_ALGO_ELL, .format.max_padding = 1e9), "ell");
}

int main(void)
{
    rng = rng_start();
    test_device_each(each_device);
    return tap_done();
}
