// SPDX-License-Identifier: Apache-2.0
// The small matrix that SpMV is tried with: a band with empty rows and a row of many entries, small integers for values. Where a plan is
// of the kind that many empty rows ask for, few rows have any, and there are so many that the plan is of that kind again. For nodes each RUN rows
// have the columns of the first of them.
#include "plan.h"
#include "host/src/spmv/trial.h"
#include "host/src/ref/ref.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    M = 1500,
    M_GAPS = 16000,
    N = 1200,
    LONG_ROW = 6,
    LONG = 300,
    LONG_GAPS = 100,
    GAP = 50,
    RUN = 6,
    MOST = 4 * M + RUN * LONG
};

struct spmv {
    struct weft_context *ctx;
    enum weft_type type;
    enum weft_ofs ofs;
    struct weft_spmv_params params;
    bool gaps, nodes, large;
};

static void number_set(void *values, enum weft_type type, int64_t i, int value)
{
    if (type == WEFT_TYPE_F32)
        ((float *)values)[i] = (float)value;
    else if (type == WEFT_TYPE_F64)
        ((double *)values)[i] = value;
    else if (type == WEFT_TYPE_I32)
        ((int32_t *)values)[i] = value;
}

static int row_length(int i, bool gaps)
{
    if (i == LONG_ROW)
        return gaps ? LONG_GAPS : LONG;
    return gaps ? (i % GAP == 1 ? 1 + i % 3 : 0) : i % 7 ? 4 : 0;
}

static void band(struct weft_csr *a, int m, bool gaps, bool nodes)
{
    const int run = nodes ? RUN : 1;
    static const int diagonals[] = {-3, 0, 1, 40};
    int64_t p = 0;
    for (int i = 0; i <= m; i++) {
        if (a->ofs == WEFT_OFS_64)
            ((int64_t *)a->row_ptr)[i] = p;
        else
            ((int32_t *)a->row_ptr)[i] = (int32_t)p;
        const int like = i - i % run;
        for (int k = 0; i < m && k < row_length(like, gaps); k++) {
            const int column = like == LONG_ROW ? like + k : like + diagonals[k];
            if (column < 0 || column >= N)
                continue;
            a->col[p] = column;
            if (a->val)
                number_set(a->val, a->type, p, 1 + (i * 5 + k) % 3);
            p++;
        }
    }
    a->nnz = p;
}

// y = 2*A*x + y; other semirings: y plus A*x. Of one run.
static void expected_make(struct weft__trial *t, const struct spmv *s, const struct weft_csr *a, enum weft_type vec,
                          const void *x, void *y)
{
    struct weft_csr turned = {0};
    const struct weft_csr *from = a;
    if (s->params.problem.transpose != WEFT_SPMV_TRANSPOSE_PLAIN) {
        t->status = weft__ref_transpose(&turned, a);
        from = &turned;
    }
    if (!t->status && s->params.problem.semiring == WEFT_SPMV_SEMIRING_PLUS_TIMES)
        weft__ref_spmv(from, vec, 2, x, 1, y);
    else if (!t->status)
        weft__ref_spmv_semiring(from, vec, s->params.problem.semiring, s->params.problem.f64_sums, x, 1, y);
    weft_csr_free(&turned);
}

static void spmv_trial(struct weft__trial *t, void *arg)
{
    const struct spmv *s = arg;
    const enum weft_type vec = s->type == WEFT_TYPE_PATTERN ? s->params.problem.vec_type : s->type;
    const bool turned = s->params.problem.transpose != WEFT_SPMV_TRANSPOSE_PLAIN;
    const int m = s->gaps ? M_GAPS : M;
    const size_t wide = weft_type_bytes(vec), xs = (size_t)(turned ? m : N), ys = (size_t)(turned ? N : m);
    struct weft_spmv_plan *plan = NULL;
    struct weft_csr a = {0};
    t->status = weft_csr_alloc(&a, weft_shape(m, N, MOST, s->type, s->ofs));
    if (t->status)
        return;
    band(&a, m, s->gaps, s->nodes);
    void *x = weft__trial_memory(t, xs * wide), *y = weft__trial_memory(t, ys * wide);
    for (size_t i = 0; x && i < xs; i++)
        number_set(x, vec, (int64_t)i, (int)(i % 5));
    for (size_t i = 0; y && i < ys; i++)
        number_set(y, vec, (int64_t)i, (int)(i % 4));
    struct weft_device_csr on = {.m = m, .n = N, .nnz = a.nnz, .type = s->type, .ofs = s->ofs};
    on.row_ptr = weft__trial_buffer(t, a.row_ptr, ((size_t)m + 1) * weft_ofs_bytes(s->ofs));
    on.col = weft__trial_buffer(t, a.col, (size_t)a.nnz * 4);
    on.val = a.val ? weft__trial_buffer(t, a.val, (size_t)a.nnz * weft_type_bytes(s->type)) : NULL;
    cl_mem dx = weft__trial_buffer(t, x, xs * wide), dy = weft__trial_buffer(t, y, ys * wide);
    for (int run = 0; run < 2 && !t->status; run++)
        expected_make(t, s, &a, vec, x, y);
    if (!t->status)
        t->status = weft__spmv_plan_create(&plan, s->ctx, t->queue, &on, &s->params,
                                           s->large ? &(struct weft__spmv_once){.large = true} : NULL);
    for (int run = 0; run < 2 && !t->status; run++) { // from the first entries and from the last
        plan->backward = (cl_uint)run;
        t->status =
            weft_spmv_run(plan, t->queue, dy, s->params.problem.semiring == WEFT_SPMV_SEMIRING_PLUS_TIMES ? 2 : 1, dx,
                          1, 0, NULL, NULL);
    }
    weft__trial_same(t, dy, y, ys * wide);
    weft_spmv_plan_destroy(&plan);
    weft_csr_free(&a);
    free(x);
    free(y);
}

weft_status weft__spmv_trial(struct weft_context *ctx, enum weft_type type, enum weft_ofs ofs,
                             const struct weft_spmv_info *info, bool gaps, bool large)
{
    struct spmv s = {ctx, type, ofs, info->params, gaps, info->params.policy.algo == WEFT_SPMV_ALGO_CSR_NODES, large};
    struct weft_spmv_params *p = &s.params;
    char what[256];
    if (p->problem.semiring == WEFT_SPMV_SEMIRING_CUSTOM)
        return WEFT_OK;
    p->format.max_padding = 1e4;
    p->policy.products = 0;
    p->policy.tune = false;
    if (p->policy.mode == WEFT_SPMV_MODE_REPRODUCIBLE || p->problem.transpose == WEFT_SPMV_TRANSPOSE_BY_ATOMICS)
        p->policy.algo = WEFT_SPMV_ALGO_AUTO;
    const struct weft__spmv_sizes z = weft__spmv_sizes(p, info->schedule);
    snprintf(
        what, sizeof what,
        "spmv %s, %s x %s, %d bits, semiring %d, f64 sums %d, transpose %d, mode %d, host rest %d, lanes %d, wg %d, "
        "ipt %d, rows %d, read %d, sigma %d, gaps %d, large %d",
        weft_spmv_algo_name(info->params.policy.algo), weft_type_name(type), weft_type_name(p->problem.vec_type),
        (int)weft_ofs_bytes(ofs) * 8, (int)p->problem.semiring, p->problem.f64_sums, (int)p->problem.transpose,
        (int)p->policy.mode, p->format.host_rest, z.lanes, z.wg, z.ipt, z.rows, z.read, p->format.sigma, gaps, large);
    return weft__selftest(ctx, what, spmv_trial, &s);
}
