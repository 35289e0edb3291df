// SPDX-License-Identifier: Apache-2.0
// Builds an SpMV problem on host and device, runs plans on it and checks y.
#include "problem.h"
#include "csr.h"

#include "host/common/check_spmv.h"
#include "host/internal/inside.h"

#include <stdlib.h>

void test_values_draw(struct rng *rng, void *v, enum weft_type type, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        if (type == WEFT_TYPE_F32)
            ((float *)v)[i] = (float)(2 * rng_unit(rng) - 1);
        else if (type == WEFT_TYPE_F64)
            ((double *)v)[i] = 2 * rng_unit(rng) - 1;
        else if (type == WEFT_TYPE_I32)
            ((int32_t *)v)[i] = (int32_t)rng_between(rng, -9, 9);
    }
}

static void vectors_make(struct test_problem *p, struct rng *rng)
{
    p->x_bytes = (size_t)p->a.n * weft_type_bytes(p->type);
    p->y_bytes = (size_t)p->a.m * weft_type_bytes(p->type);
    p->x = test_alloc(p->x_bytes);
    p->y0 = test_alloc(p->y_bytes);
    p->y = test_alloc(p->y_bytes);
    test_values_draw(rng, p->x, p->type, p->a.n);
    test_values_draw(rng, p->y0, p->type, p->a.m);
    p->bx = test_buffer_make(p->dev, p->x, p->x_bytes);
    p->by = test_buffer_make(p->dev, p->y0, p->y_bytes);
}

void test_problem_write(struct test_problem *p)
{
    struct weft_csr turned = {0};
    if (p->turned && weft__ref_transpose(&turned, &p->a))
        tap_bail("no memory for a transpose");
    if (weft_device_csr_write_sync(&p->d, p->dev->ctx, p->dev->queue, p->turned ? &turned : &p->a))
        tap_bail("%s", test_error(p->dev));
    weft_csr_free(&turned);
    test_buffer_write(p->dev, &p->bx, p->x, p->x_bytes);
}

// The matrix of these offsets, with drawn columns and values, and its vectors.
static struct test_problem problem_of(struct test_device *dev, struct rng *rng, int64_t m, int64_t n,
                                      const int64_t *begin, enum weft_type type, enum weft_ofs ofs)
{
    struct test_problem p = {.dev = dev, .type = type == WEFT_TYPE_PATTERN ? WEFT_TYPE_F32 : type};
    const int64_t nnz = begin[m];
    if (weft_csr_alloc(&p.a, weft_shape(m, n, nnz, type, ofs)) ||
        weft_device_csr_alloc(&p.d, dev->ctx, weft_shape(m, n, nnz, type, ofs)))
        tap_bail("no memory for a test matrix");
    for (int64_t i = 0; i <= m; i++)
        test_row_begin(&p.a, i, begin[i]);
    for (int64_t q = 0; q < nnz; q++)
        p.a.col[q] = (int32_t)rng_below(rng, (uint64_t)n);
    test_values_draw(rng, p.a.val, type, nnz);
    vectors_make(&p, rng);
    test_problem_write(&p);
    return p;
}

struct test_problem test_problem_turned(const struct test_problem *p, struct rng *rng)
{
    struct test_problem out = {.dev = p->dev, .type = p->type, .turned = true};
    if (weft__ref_transpose(&out.a, &p->a) || weft_device_csr_alloc(&out.d, p->dev->ctx, weft_csr_shape(&p->a)))
        tap_bail("no memory for a test matrix");
    vectors_make(&out, rng);
    test_problem_write(&out);
    return out;
}

struct test_problem test_problem_of(struct test_device *dev, struct rng *rng, int64_t m, int64_t n,
                                    int64_t (*length)(int64_t i, int64_t m), enum weft_type type, enum weft_ofs ofs)
{
    int64_t *begin = test_alloc((size_t)(m + 1) * sizeof *begin);
    begin[0] = 0;
    for (int64_t i = 0; i < m; i++)
        begin[i + 1] = begin[i] + length(i, m);
    const struct test_problem p = problem_of(dev, rng, m, n, begin, type, ofs);
    free(begin);
    return p;
}

struct test_problem test_problem_make(struct test_device *dev, struct rng *rng, int64_t m, int64_t n, int64_t base,
                                      int64_t longest, enum weft_type type, enum weft_ofs ofs)
{
    int64_t *begin = test_alloc((size_t)(m + 1) * sizeof *begin);
    begin[0] = 0;
    for (int64_t i = 0; i < m; i++)
        begin[i + 1] = begin[i] + (i % 30 == 7 ? longest : base + i % 4);
    const struct test_problem p = problem_of(dev, rng, m, n, begin, type, ofs);
    free(begin);
    return p;
}

void test_problem_free(struct test_problem *p)
{
    test_buffer_free(&p->bx);
    test_buffer_free(&p->by);
    weft_device_csr_free(&p->d);
    weft_csr_free(&p->a);
    free(p->x);
    free(p->y0);
    free(p->y);
}

// Do these sums flush subnormal numbers (docs/spmv.md)?
static bool is_flushed(const struct test_problem *p, const struct weft_spmv_params *params)
{
    const bool atomics =
        params->policy.algo == WEFT_SPMV_ALGO_COO_ATOMIC || params->problem.transpose == WEFT_SPMV_TRANSPOSE_BY_ATOMICS;
    return atomics && p->type == WEFT_TYPE_F32 && weft_context_device(p->dev->ctx)->lanes == WEFT_LANES_PTX;
}

int test_problem_right(struct test_problem *p, const struct weft_spmv_params *params, double alpha, double beta)
{
    char why[256];
    const struct check_spmv job = {.a = &p->a,
                                   .type = p->type,
                                   .semiring = params->problem.semiring,
                                   .f64_sums = params->problem.f64_sums,
                                   .parts = params->policy.algo >= WEFT_SPMV_ALGO_HYB &&
                                            params->policy.algo <= WEFT_SPMV_ALGO_COO_ATOMIC,
                                   .flushes = is_flushed(p, params),
                                   .alpha = alpha,
                                   .beta = beta,
                                   .x = p->x,
                                   .y0 = p->y0};
    test_buffer_read(p->dev, &p->by, p->y, p->y_bytes);
    const int right = check_spmv(&job, p->y, why, sizeof why);
    if (!right)
        tap_note("%s", why);
    return right && test_buffer_intact(p->dev, &p->bx) && test_buffer_intact(p->dev, &p->by);
}

struct weft_spmv_plan *test_problem_plan(struct test_problem *p, const struct weft_spmv_params *params)
{
    struct weft_spmv_plan *plan = NULL;
    if (weft_spmv_plan_create(&plan, p->dev->ctx, p->dev->queue, &p->d, params))
        tap_note("plan: %s", test_error(p->dev));
    return plan;
}

int test_problem_run(struct test_problem *p, struct weft_spmv_plan *plan, const struct weft_spmv_params *params,
                     double alpha, double beta)
{
    test_buffer_write(p->dev, &p->by, p->y0, p->y_bytes);
    if (weft_spmv_run(plan, p->dev->queue, p->by.mem, alpha, p->bx.mem, beta, 0, NULL, NULL)) {
        tap_note("run: %s", test_error(p->dev));
        return 0;
    }
    return test_problem_right(p, params, alpha, beta);
}

int test_problem_renew(struct test_problem *p, struct weft_spmv_plan *plan, struct rng *rng)
{
    test_values_draw(rng, p->a.val, p->a.type, p->a.nnz);
    test_problem_write(p);
    if (weft_spmv_plan_refill(plan, p->dev->queue, &p->d)) {
        tap_note("refill: %s", test_error(p->dev));
        return 0;
    }
    return 1;
}
