// SPDX-License-Identifier: Apache-2.0
// Infinities, NaN, sums too large for their type, subnormal numbers and integers that wrap around, by every algorithm: rows that have them
// give what they must, and rows between them are as ever.
#include "tests/support/device.h"
#include "tests/support/problem.h"
#include "tests/support/rng.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <weft/spmv.h>

enum { M = 95, N = 60, NOBODY = 23 }; // no row has column NOBODY: what pads rows must not multiply with it

static struct rng rng;

static void put(void *v, enum weft_type type, int64_t i, double value)
{
    if (type == WEFT_TYPE_F32)
        ((float *)v)[i] = (float)value;
    else
        ((double *)v)[i] = value;
}

// Every fourth row has something special, at places drawn; all integers are. Columns ascend, for sliced DIA.
static void special_put(struct test_problem *p)
{
    const double huge = p->type == WEFT_TYPE_F64 ? 1.7e308 : 3e38;
    for (int64_t i = 0; i < M; i++) {
        const int64_t begin = weft_csr_ofs(&p->a, i), k = weft_csr_ofs(&p->a, i + 1) - begin;
        for (int64_t q = 0; q < k; q++)
            p->a.col[begin + q] = (int32_t)(q * N / k);
        if (p->type == WEFT_TYPE_I32 || i % 4 != 1 || k < 2)
            continue;
        const int kind = (int)(i / 4 % 6);
        const int64_t one = begin + (int64_t)rng_below(&rng, (uint64_t)k), next = begin + (one - begin + 1) % k;
        put(p->a.val, p->type, one, kind == 0 ? NAN : kind == 1 || kind == 2 ? INFINITY : kind == 3 ? -INFINITY : huge);
        if (kind == 2)
            put(p->a.val, p->type, next, -INFINITY);
        if (kind > 3)
            put(p->a.val, p->type, next, kind == 4 ? huge : -huge);
    }
    for (int64_t q = 0; p->type == WEFT_TYPE_I32 && q < p->a.nnz; q++)
        ((int32_t *)p->a.val)[q] = (int32_t)rng_u64(&rng);
    for (int64_t j = 0; j < N; j++)
        if (p->type == WEFT_TYPE_I32)
            ((int32_t *)p->x)[j] = (int32_t)rng_u64(&rng);
        else if (j == NOBODY)
            put(p->x, p->type, j, rng_below(&rng, 2) ? NAN : -INFINITY);
        else
            put(p->x, p->type, j, 1 + rng_unit(&rng));
    for (int64_t i = 0; i < M; i++)
        if (p->type == WEFT_TYPE_I32)
            ((int32_t *)p->y0)[i] = (int32_t)rng_u64(&rng);
        else if (i % 9 == 2)
            put(p->y0, p->type, i, i % 2 ? INFINITY : NAN);
    test_problem_write(p);
}

static const enum weft_spmv_algo algos[] = {
    WEFT_SPMV_ALGO_CSR_SCALAR, WEFT_SPMV_ALGO_CSR_LANES, WEFT_SPMV_ALGO_CSR_MERGE, WEFT_SPMV_ALGO_ELL,
    WEFT_SPMV_ALGO_SELL,       WEFT_SPMV_ALGO_HYB,       WEFT_SPMV_ALGO_COO,       WEFT_SPMV_ALGO_COO_ATOMIC,
    WEFT_SPMV_ALGO_CSR_FIXED,  WEFT_SPMV_ALGO_SELL16,    WEFT_SPMV_ALGO_SDIA,      WEFT_SPMV_ALGO_CSR_FLAGS,
    WEFT_SPMV_ALGO_PANELS,     WEFT_SPMV_ALGO_CSR_HUBS,  WEFT_SPMV_ALGO_CSR_NODES};
#define ALGOS (sizeof algos / sizeof *algos)

static void test(struct test_device *dev, enum weft_type type, int f64_sums, size_t part)
{
    static const double scalars[][2] = {{1, 0}, {1, 1}, {-2, 3}, {0, 0}};
    if ((type == WEFT_TYPE_F64 || f64_sums) && !weft_context_device(dev->ctx)->fp64) {
        tap_skip("%s: no double precision", dev->name);
        return;
    }
    struct test_problem p = test_problem_make(dev, &rng, M, N, 3, 40, type, WEFT_OFS_32);
    special_put(&p);
    for (size_t k = 0; k < ALGOS; k++) {
        const struct weft_spmv_params params = {
            .policy.algo = algos[k], .problem.f64_sums = f64_sums, .format.max_padding = 1e9};
        if (f64_sums && algos[k] == WEFT_SPMV_ALGO_COO_ATOMIC)
            continue;                        // refused
        if (test_sample() && (k + part) % 3) // floats have every algorithm once
            continue;
        struct weft_spmv_plan *plan = test_problem_plan(&p, &params);
        int ok = plan != NULL;
        for (size_t s = 0; ok && s < 4; s++)
            if (!test_sample() || s == k / 3 % 3)
                ok = test_problem_run(&p, plan, &params, scalars[s][0], scalars[s][1]);
        tap_ok(ok, "%s: %s, %s%s", dev->name, weft_spmv_algo_name(algos[k]), weft_type_name(type),
               f64_sums ? ", f64 sums" : "");
        weft_spmv_plan_destroy(&plan);
    }
    test_problem_free(&p);
}

static bool has_nan(const struct test_problem *p)
{
    for (int64_t i = 0; i < M; i++)
        if (isnan(p->type == WEFT_TYPE_F32 ? ((const float *)p->y)[i] : ((const double *)p->y)[i]))
            return true;
    return false;
}

// Rows all of whose products are NaN, of few entries and of many: least and greatest pass over NaN, so that such a row is as one without
// entries, by every algorithm but csr_flags and csr_hubs (docs/spmv.md). beta is 0: y says it alone.
static void test_nan(struct test_device *dev, enum weft_type type, enum weft_spmv_semiring semiring)
{
    static const enum weft_spmv_algo passing[] = {
        WEFT_SPMV_ALGO_CSR_SCALAR, WEFT_SPMV_ALGO_CSR_LANES, WEFT_SPMV_ALGO_CSR_MERGE, WEFT_SPMV_ALGO_ELL,
        WEFT_SPMV_ALGO_SELL,       WEFT_SPMV_ALGO_HYB,       WEFT_SPMV_ALGO_COO,       WEFT_SPMV_ALGO_CSR_FIXED,
        WEFT_SPMV_ALGO_SELL16,     WEFT_SPMV_ALGO_SDIA,      WEFT_SPMV_ALGO_PANELS,    WEFT_SPMV_ALGO_CSR_NODES};
    enum { COLUMNS = 700, LONG = 300 };
    if (type == WEFT_TYPE_F64 && !weft_context_device(dev->ctx)->fp64) {
        tap_skip("%s: no double precision", dev->name);
        return;
    }
    struct test_problem p = test_problem_make(dev, &rng, M, COLUMNS, 1, LONG, type, WEFT_OFS_32);
    for (int64_t i = 0; i < M; i++) {
        const int64_t begin = weft_csr_ofs(&p.a, i), k = weft_csr_ofs(&p.a, i + 1) - begin;
        for (int64_t q = 0; q < k; q++) {
            p.a.col[begin + q] = (int32_t)(q * COLUMNS / k);
            put(p.a.val, type, begin + q, k == LONG || i % 3 == 0 ? NAN : (double)rng_between(&rng, 1, 9));
        }
    }
    for (int64_t j = 0; j < COLUMNS; j++)
        put(p.x, type, j, (double)rng_between(&rng, 1, 9));
    test_problem_write(&p);
    for (size_t k = 0; k < sizeof passing / sizeof *passing; k++)
        for (int lanes = 0; lanes <= (passing[k] == WEFT_SPMV_ALGO_CSR_MERGE && !dev->gpu ? 8 : 0); lanes += 4) {
            struct weft_spmv_params params = {
                .policy.algo = passing[k], .problem.semiring = semiring, .format.max_padding = 1e9, .cpu.lanes = lanes};
            struct weft_spmv_plan *plan = test_problem_plan(&p, &params);
            tap_ok(plan && test_problem_run(&p, plan, &params, 1, 0) && !has_nan(&p),
                   "%s: rows of NaN, %s, %s, semiring %d, %d lanes", dev->name, weft_spmv_algo_name(passing[k]),
                   weft_type_name(type), (int)semiring, lanes);
            weft_spmv_plan_destroy(&plan);
        }
    test_problem_free(&p);
}

// The device keeps subnormal numbers, in f32 if it says so.
static bool keeps_subnormal(struct test_device *dev, enum weft_type type)
{
    cl_device_fp_config config = 0;
    clGetDeviceInfo(weft_context_device(dev->ctx)->id,
                    type == WEFT_TYPE_F64 ? CL_DEVICE_DOUBLE_FP_CONFIG : CL_DEVICE_SINGLE_FP_CONFIG, sizeof config,
                    &config, NULL);
    return (config & CL_FP_DENORM) != 0;
}

// Rows whose values, or products alone, or y are subnormal: a device that took them for zero would be off by many steps.
static void subnormal_put(struct test_problem *p)
{
    const int least = p->type == WEFT_TYPE_F64 ? -1022 : -126; // the exponent of the least normal number
    for (int64_t i = 0; i < p->a.m; i++) {
        for (int64_t q = weft_csr_ofs(&p->a, i); q < weft_csr_ofs(&p->a, i + 1); q++) // by halves: products alone
            put(p->a.val, p->type, q, ldexp(rng_unit(&rng) - 0.5, i % 2 ? least - 2 : least / 2));
        put(p->y0, p->type, i, ldexp(rng_unit(&rng) - 0.5, least - 3));
    }
    for (int64_t j = 0; j < p->a.n; j++)
        put(p->x, p->type, j, ldexp(1 + rng_unit(&rng), j % 3 ? 0 : least / 2 - 3));
    test_problem_write(p);
}

// The bound of docs/spmv.md, which is wider for f32 by atomics of NVIDIA's devices.
static void test_subnormal(struct test_device *dev, enum weft_type type)
{
    if (type == WEFT_TYPE_F64 && !weft_context_device(dev->ctx)->fp64) {
        tap_skip("%s: no double precision", dev->name);
        return;
    }
    if (!keeps_subnormal(dev, type)) {
        tap_skip("%s: subnormal numbers are zero, %s", dev->name, weft_type_name(type));
        return;
    }
    struct test_problem p = test_problem_make(dev, &rng, M, M, 3, 40, type, WEFT_OFS_32);
    subnormal_put(&p);
    for (size_t k = 0; k < ALGOS; k++) {
        const struct weft_spmv_params params = {.policy.algo = algos[k], .format.max_padding = 1e9};
        struct weft_spmv_plan *plan = test_problem_plan(&p, &params);
        tap_ok(plan && test_problem_run(&p, plan, &params, 1, 0) && test_problem_run(&p, plan, &params, -2, 3),
               "%s: subnormal numbers, %s, %s", dev->name, weft_spmv_algo_name(algos[k]), weft_type_name(type));
        weft_spmv_plan_destroy(&plan);
    }
    struct test_problem turned = test_problem_turned(&p, &rng);
    subnormal_put(&turned);
    const struct weft_spmv_params params = {.problem.transpose = WEFT_SPMV_TRANSPOSE_BY_ATOMICS};
    struct weft_spmv_plan *plan = test_problem_plan(&turned, &params);
    tap_ok(plan && test_problem_run(&turned, plan, &params, 1, 0) && test_problem_run(&turned, plan, &params, -2, 3),
           "%s: subnormal numbers, A^T by atomics, %s", dev->name, weft_type_name(type));
    weft_spmv_plan_destroy(&plan);
    test_problem_free(&turned);
    test_problem_free(&p);
}

static void each_device(struct test_device *dev)
{
    test_nan(dev, WEFT_TYPE_F32, WEFT_SPMV_SEMIRING_MIN_PLUS);
    test_nan(dev, WEFT_TYPE_F64, WEFT_SPMV_SEMIRING_MAX_TIMES);
    test_subnormal(dev, WEFT_TYPE_F32);
    test_subnormal(dev, WEFT_TYPE_F64);
    test(dev, WEFT_TYPE_F32, 0, 0);
    test(dev, WEFT_TYPE_F32, 1, 1);
    test(dev, WEFT_TYPE_F64, 0, 2);
    test(dev, WEFT_TYPE_I32, 0, 3);
}

int main(void)
{
    rng = rng_start();
    test_device_each(each_device);
    return tap_done();
}
