// SPDX-License-Identifier: Apache-2.0
// What plans of SpMV refuse, with which status and which words: params, matrices, buffers and factors of a run; and what
// auto does where the device has no memory for a conversion, or for what is beside the matrix.
#include "tests/support/fault.h"
#include "tests/support/problem.h"

#include <stdio.h>
#include <string.h>

static struct rng rng;

static void refused(struct test_problem *p, const char *what, const struct weft_spmv_params *params, weft_status want,
                    const char *text)
{
    struct weft_spmv_plan *plan = (struct weft_spmv_plan *)&rng;
    const weft_status status = weft_spmv_plan_create(&plan, p->dev->ctx, p->dev->queue, &p->d, params);
    tap_ok(status == want && !plan && strstr(test_error(p->dev), text), "%s: refuses %s: %s", p->dev->name, what,
           test_error(p->dev));
    if (!status)
        weft_spmv_plan_destroy(&plan);
}

static void test_refused_params(struct test_device *dev)
{
    struct test_problem p = test_problem_make(dev, &rng, 60, 40, 1, 40, WEFT_TYPE_F32, WEFT_OFS_32);
    char sizes[80];
    snprintf(sizes, sizeof sizes, "ell would hold 2560 elements (0.0 MiB) for %lld entries", (long long)p.a.nnz);
    refused(&p, "an ELL of mostly padding", weft_spmv_params(.policy.algo = WEFT_SPMV_ALGO_ELL), WEFT_ERANGE, sizes);
    refused(&p, "sliced ELL beyond a factor",
            weft_spmv_params(.policy.algo = WEFT_SPMV_ALGO_SELL, .format.sigma = 1, .format.max_padding = 1.01),
            WEFT_ERANGE, "params.format.max_padding allows 1.0");
    refused(&p, "an unknown algorithm", weft_spmv_params(.policy.algo = (enum weft_spmv_algo)99), WEFT_EINVAL, "99");
    refused(&p, "an unknown semiring", weft_spmv_params(.problem.semiring = (enum weft_spmv_semiring)9), WEFT_EINVAL,
            "9");
    refused(&p, "an unknown mode", weft_spmv_params(.policy.mode = (enum weft_spmv_mode)5), WEFT_EINVAL, "mode is 5");
    refused(&p, "an unknown way to transpose", weft_spmv_params(.problem.transpose = (enum weft_spmv_transpose)7),
            WEFT_EINVAL, "transpose is 7");
    refused(&p, "a reproducible hybrid",
            weft_spmv_params(.policy.algo = WEFT_SPMV_ALGO_HYB, .policy.mode = WEFT_SPMV_MODE_REPRODUCIBLE),
            WEFT_EINVAL, "csr_fixed, not hyb");
    refused(&p, "reproducible atomics",
            weft_spmv_params(.policy.mode = WEFT_SPMV_MODE_REPRODUCIBLE,
                             .problem.transpose = WEFT_SPMV_TRANSPOSE_BY_ATOMICS),
            WEFT_EINVAL, "atomics");
    refused(&p, "A^T by atomics in slices",
            weft_spmv_params(.policy.algo = WEFT_SPMV_ALGO_SELL, .problem.transpose = WEFT_SPMV_TRANSPOSE_BY_ATOMICS),
            WEFT_EINVAL, "sell");
    refused(&p, "a rest on the host without a hybrid",
            weft_spmv_params(.policy.algo = WEFT_SPMV_ALGO_ELL, .format.host_rest = 1), WEFT_EINVAL,
            "host_rest goes with hyb, not with ell");
    refused(&p, "a custom semiring on the host",
            weft_spmv_params(.policy.algo = WEFT_SPMV_ALGO_HYB, .format.host_rest = 1,
                             .problem.semiring = WEFT_SPMV_SEMIRING_CUSTOM, .problem.plus = "a + b",
                             .problem.times = "a * b", .problem.zero = "0"),
            WEFT_EINVAL, "custom");
    refused(&p, "padding below 1", weft_spmv_params(.format.max_padding = 0.5), WEFT_EINVAL, "0.5");
    refused(&p, "a width below 0", weft_spmv_params(.policy.algo = WEFT_SPMV_ALGO_HYB, .format.width = -1), WEFT_EINVAL,
            "width is -1");
    // Whatever algorithm is taken.
    refused(&p, "a width below 0 of auto", weft_spmv_params(.format.width = -5), WEFT_EINVAL, "width is -5");
    refused(&p, "a width beyond the columns there can be", weft_spmv_params(.format.width = INT64_C(1) << 31),
            WEFT_EINVAL, "width is 2147483648");
    refused(&p, "a window below 0 of auto", weft_spmv_params(.format.sigma = -5), WEFT_EINVAL, "sigma is -5");
    refused(&p, "an odd window of csr", weft_spmv_params(.policy.algo = WEFT_SPMV_ALGO_CSR, .format.sigma = 3),
            WEFT_EINVAL, "sigma is 3");
    refused(&p, "vectors of an unknown type beside values", weft_spmv_params(.problem.vec_type = (enum weft_type)77),
            WEFT_EINVAL, "vec_type is 77");
    refused(&p, "an odd window", weft_spmv_params(.policy.algo = WEFT_SPMV_ALGO_SELL, .format.sigma = 48), WEFT_EINVAL,
            "sigma is 48");
    refused(&p, "a window too long", weft_spmv_params(.policy.algo = WEFT_SPMV_ALGO_SELL, .format.sigma = 2048),
            WEFT_EINVAL, "sigma is 2048");
    if (dev->gpu)
        refused(&p, "an unknown hint", weft_spmv_params(.gpu.read = 4), WEFT_EINVAL, "gpu.read");
    refused(&p, "3 lanes", weft_spmv_params(.policy.algo = WEFT_SPMV_ALGO_CSR_LANES, .gpu.lanes = 33, .cpu.lanes = 33),
            WEFT_EINVAL, "lanes is 33");
    refused(&p, "a work-group beyond the device",
            weft_spmv_params(.policy.algo = WEFT_SPMV_ALGO_CSR_SCALAR, .gpu.wg = 1 << 20, .cpu.wg = 1 << 20),
            WEFT_EINVAL, dev->gpu ? "gpu.wg" : "cpu.wg");
    refused(
        &p, "no `plus`",
        weft_spmv_params(.problem.semiring = WEFT_SPMV_SEMIRING_CUSTOM, .problem.times = "a * b", .problem.zero = "0"),
        WEFT_EINVAL, "needs the expression `plus`");
    refused(&p, "two statements",
            weft_spmv_params(.problem.semiring = WEFT_SPMV_SEMIRING_CUSTOM, .problem.plus = "a; b",
                             .problem.times = "a * b", .problem.zero = "0"),
            WEFT_EINVAL, "';' at position 1");
    static char longest[402]; // an expression
    memset(longest, 'a', sizeof longest - 1);
    refused(&p, "an expression of 401 characters",
            weft_spmv_params(.problem.semiring = WEFT_SPMV_SEMIRING_CUSTOM, .problem.plus = longest,
                             .problem.times = "a * b", .problem.zero = "0"),
            WEFT_EINVAL, "longer than 400");
    refused(&p, "a bracket too many",
            weft_spmv_params(.problem.semiring = WEFT_SPMV_SEMIRING_CUSTOM, .problem.plus = "a)",
                             .problem.times = "a * b", .problem.zero = "0"),
            WEFT_EINVAL, "position 1");
    refused(&p, "a bracket too few",
            weft_spmv_params(.problem.semiring = WEFT_SPMV_SEMIRING_CUSTOM, .problem.plus = "max(a, b",
                             .problem.times = "a * b", .problem.zero = "0"),
            WEFT_EINVAL, "lacks 1 ')'");
    if (!dev->checker) // which prints what its compiler says
        refused(&p, "an expression that does not compile",
                weft_spmv_params(.problem.semiring = WEFT_SPMV_SEMIRING_CUSTOM, .problem.plus = "nosuch(a, b)",
                                 .problem.times = "a * b", .problem.zero = "0"),
                WEFT_EBUILD, "nosuch");
    if (weft_context_device(dev->ctx)->fp64)
        refused(&p, "f64 sums by atomics",
                weft_spmv_params(.policy.algo = WEFT_SPMV_ALGO_COO_ATOMIC, .problem.f64_sums = 1), WEFT_EINVAL,
                "atomics");
    if (weft_context_device(dev->ctx)->fp64)
        refused(&p, "f64 sums of A^T by atomics",
                weft_spmv_params(.problem.transpose = WEFT_SPMV_TRANSPOSE_BY_ATOMICS, .problem.f64_sums = 1),
                WEFT_EINVAL, "atomics");
    test_problem_free(&p);
    p = test_problem_make(dev, &rng, 20, 20, 1, 5, WEFT_TYPE_I32, WEFT_OFS_32);
    refused(&p, "f64 sums of integers", weft_spmv_params(.problem.f64_sums = 1), WEFT_EINVAL, "f64_sums");
    test_problem_free(&p);
    p = test_problem_make(dev, &rng, 20, 20, 1, 5, WEFT_TYPE_PATTERN, WEFT_OFS_32);
    refused(&p, "vectors of no type", weft_spmv_params(.problem.vec_type = WEFT_TYPE_PATTERN), WEFT_EINVAL, "vec_type");
    test_problem_free(&p);
}

static void refused_matrix(struct test_problem *p, const char *what, struct weft_device_csr bad, weft_status want)
{
    const struct weft_device_csr good = p->d;
    p->d = bad;
    refused(p, what, NULL, want, "");
    p->d = good;
}

static void test_refused_calls(struct test_device *dev)
{
    struct test_problem p = test_problem_make(dev, &rng, 30, 40, 1, 9, WEFT_TYPE_I32, WEFT_OFS_32);
    struct weft_device_csr bad = p.d;
    bad.m = -1;
    refused_matrix(&p, "m < 0", bad, WEFT_EINVAL);
    bad = p.d;
    bad.type = (enum weft_type)17;
    refused_matrix(&p, "an unknown type", bad, WEFT_EINVAL);
    bad = p.d;
    bad.col = NULL;
    refused_matrix(&p, "no columns", bad, WEFT_EINVAL);
    bad = p.d;
    bad.nnz += 1000;
    refused_matrix(&p, "small buffers", bad, WEFT_EINVAL);
    bad.nnz = INT64_C(1) << 31;
    refused_matrix(&p, "more entries than 32-bit offsets count", bad, WEFT_ERANGE);
    struct weft_spmv_plan *plan = test_problem_plan(&p, NULL);
    if (!tap_ok(plan != NULL, "%s: a plan without params", dev->name))
        return;
    const struct {
        const char *what;
        double alpha, beta;
        cl_mem x, y;
        const char *text;
    } runs[] = {{"no x", 1, 0, NULL, p.by.mem, "x is NULL"},
                {"a small x", 1, 0, p.by.mem, p.by.mem, "x has"},
                {"no y", 1, 0, p.bx.mem, NULL, "y is NULL"},
                {"one buffer for x and y", 1, 0, p.bx.mem, p.bx.mem, "same buffer"},
                {"row pointers as y", 1, 0, p.bx.mem, p.d.row_ptr, "same buffer"},
                {"columns as y", 1, 0, p.bx.mem, p.d.col, "same buffer"},
                {"values as y", 1, 0, p.bx.mem, p.d.val, "same buffer"},
                {"half of integers", 0.5, 0, p.bx.mem, p.by.mem, "alpha is 0.5"},
                {"too much of integers", 1, 1e10, p.bx.mem, p.by.mem, "beta is 1e+10"}};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        const weft_status status =
            weft_spmv_run(plan, dev->queue, runs[i].y, runs[i].alpha, runs[i].x, runs[i].beta, 0, NULL, NULL);
        tap_ok(status == WEFT_EINVAL && strstr(test_error(dev), runs[i].text), "%s: a run refuses %s: %s", dev->name,
               runs[i].what, test_error(dev));
    }
    weft_spmv_plan_destroy(&plan);
    // Coordinates share columns and values with the caller.
    plan = test_problem_plan(&p, weft_spmv_params(.policy.algo = WEFT_SPMV_ALGO_COO));
    const cl_mem theirs[] = {p.d.col, p.d.val};
    for (size_t i = 0; i < 2 && plan; i++) {
        const weft_status status = weft_spmv_run(plan, dev->queue, theirs[i], 1, p.bx.mem, 0, 0, NULL, NULL);
        tap_ok(status == WEFT_EINVAL && strstr(test_error(dev), "same buffer"), "%s: a run of coo refuses %s as y: %s",
               dev->name, i ? "values" : "columns", test_error(dev));
    }
    weft_spmv_plan_destroy(&plan);
    plan = test_problem_plan(&p, weft_spmv_params(.problem.semiring = WEFT_SPMV_SEMIRING_MIN_PLUS));
    const weft_status status =
        plan ? weft_spmv_run(plan, dev->queue, p.by.mem, 2, p.bx.mem, 0, 0, NULL, NULL) : WEFT_OK;
    tap_ok(status == WEFT_EINVAL && strstr(test_error(dev), "alpha is 2"), "%s: a run refuses alpha in (min, +): %s",
           dev->name, test_error(dev));
    weft_spmv_plan_destroy(&plan);
    weft_spmv_plan_destroy(&plan);
    weft_spmv_plan_destroy(NULL);
    test_problem_free(&p);
}

// Each buffer of a plan that converts cannot be had, one after the other. Those of the conversion cost the conversion only.
static void test_no_memory(struct test_device *dev)
{
    // A GPU converts rows of 24 and more, a CPU so many rows that it cannot learn their lengths.
    const int64_t rows = dev->gpu ? 2048 * (int64_t)weft_context_device(dev->ctx)->compute_units
                                  : 16384 * (int64_t)weft_context_device(dev->ctx)->compute_units;
    struct test_problem p =
        test_problem_make(dev, &rng, rows, 400, dev->gpu ? 24 : 6, dev->gpu ? 28 : 10, WEFT_TYPE_I32, WEFT_OFS_32);
    const struct weft_spmv_params *params = weft_spmv_params(.policy.products = 1000000);
    struct weft_spmv_plan *plan = test_problem_plan(&p, params);
    if (!tap_ok(plan && weft_spmv_plan_info(plan)->convert_ms > 0, "%s: auto converts for many runs: %s", dev->name,
                plan ? weft_spmv_plan_info(plan)->why : "no plan"))
        return;
    weft_spmv_plan_destroy(&plan);
    fault_install();
    int kept = 0, refused = 0, wrong = 0, hit = 1;
    for (int n = 1; hit && !wrong; n++) {
        fault_set(FAULT_clCreateBuffer, n);
        const weft_status status = weft_spmv_plan_create(&plan, dev->ctx, dev->queue, &p.d, params);
        hit = fault_hit();
        fault_set(FAULT_clCreateBuffer, 0);
        const char *why = plan ? weft_spmv_plan_info(plan)->why : "";
        kept += hit && !status;
        refused += hit && status == WEFT_EDEVMEM;
        wrong = status ? status != WEFT_EDEVMEM || plan : !test_problem_run(&p, plan, params, 2, 1);
        const int converted = plan && weft_spmv_plan_info(plan)->convert_ms > 0; // to the next best format
        wrong |= hit && !status && !converted && !strstr(why, "no memory for a conversion");
        weft_spmv_plan_destroy(&plan);
    }
    fault_remove();
    tap_ok(!wrong && kept > 1,
           "%s: without memory for a conversion auto takes the next format or the arrays as given: %d buffers, %d more "
           "refused",
           dev->name, kept, refused);
    test_problem_free(&p);
}

static int64_t rare(int64_t i, int64_t m)
{
    (void)m;
    return i % 20 == 3;
}

// From each buffer of a CSR plan on none can be had. Rows by themselves need none but those of the analysis. A device of one unit, on which
// these few rows are worth a plan with buffers.
static void test_no_scratch(struct test_device *dev, enum weft_spmv_algo algo, int64_t (*length)(int64_t i, int64_t m))
{
    struct test_problem p = length ? test_problem_of(dev, &rng, 100000, 500, length, WEFT_TYPE_F32, WEFT_OFS_32)
                                   : test_problem_make(dev, &rng, 100, 500, 3, 20000, WEFT_TYPE_F32, WEFT_OFS_32);
    const struct weft_spmv_params params = {.policy.algo = algo};
    struct weft_spmv_plan *plan = NULL;
    const int units = dev->ctx->device.compute_units;
    int kept = 0, refused = 0, wrong = 0, hit = 1;
    dev->ctx->device.compute_units = 1;
    fault_install();
    for (int n = 1; hit && !wrong; n++) {
        fault_set_ever(FAULT_clCreateBuffer, n);
        const weft_status status = weft_spmv_plan_create(&plan, dev->ctx, dev->queue, &p.d, &params);
        hit = fault_hit();
        fault_set(FAULT_clCreateBuffer, 0);
        const int fell = plan && weft_spmv_plan_info(plan)->params.policy.algo == WEFT_SPMV_ALGO_CSR_SCALAR &&
                         !weft_spmv_plan_info(plan)->workspace_bytes &&
                         strstr(weft_spmv_plan_info(plan)->why, "beside the matrix does not fit the device");
        kept += hit && fell;
        refused += hit && status == WEFT_EDEVMEM;
        wrong =
            status ? status != WEFT_EDEVMEM || plan || kept : hit != fell || !test_problem_run(&p, plan, &params, 2, 1);
        weft_spmv_plan_destroy(&plan);
    }
    fault_remove();
    dev->ctx->device.compute_units = units;
    tap_ok(!wrong && kept,
           "%s: %s goes by rows where there is no memory beside the matrix: %d buffers, %d more refused", dev->name,
           weft_spmv_algo_name(algo), kept, refused);
    struct weft_error err = {0};
    weft_context_error(&err, dev->ctx);
    tap_ok(err.status == WEFT_EDEVMEM, "%s: the error is that of the plan that was refused", dev->name);
    test_problem_free(&p);
}

static void each_device(struct test_device *dev)
{
    test_refused_params(dev);
    test_refused_calls(dev);
    if (dev->checker) // a matter of the host
        return;
    test_no_memory(dev);
    for (int algo = WEFT_SPMV_ALGO_AUTO; algo <= WEFT_SPMV_ALGO_CSR; algo++) {
        test_no_scratch(dev, (enum weft_spmv_algo)algo, rare);
        test_no_scratch(dev, (enum weft_spmv_algo)algo, NULL);
    }
}

int main(void)
{
    rng = rng_start();
    test_device_each(each_device);
    return tap_done();
}
