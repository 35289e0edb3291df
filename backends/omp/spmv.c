// SPDX-License-Identifier: Apache-2.0
// y = alpha*A*x + beta*y by OpenMP threads: each takes equal shares of rows plus entries (csr), of entries (csr_nnz) or of
// rows whatever their lengths (csr_rows, the naive split), and rows that lie across shares are put together at the end.
// Source: D. Merrill, M. Garland, Merge-Based Parallel Sparse Matrix-Vector Multiplication, SC'16, section III, with
//         one share per thread.
#include "backends/algo.h"
#include "host/internal/inside.h"
#include "host/common/clock.h"
#include "backends/backend.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

const char *const weft__omp_spmv_algos[] = {"csr", "csr_rows", "csr_nnz", NULL};

// A share: rows that end in it, entries, and the sum of the row that goes on behind it.
struct share {
    int64_t row, pos;
    double part;
};

struct omp_spmv {
    struct weft_backend_spmv_job job;
    enum weft_type type; // of x and y
    size_t y_bytes;
    void *y;
    int nshares;
    struct share *shares; // nshares + 1
};

// Where step d of the path is along which an entry is a step, and the end of a row `ends` steps: 1 or 0.
static struct share cut(const struct weft_csr *a, int64_t d, int64_t ends)
{
    int64_t lo = 0, hi = a->m;
    while (lo < hi) {
        int64_t mid = hi - (hi - lo) / 2;
        if (weft_csr_ofs(a, mid) + ends * mid <= d)
            lo = mid;
        else
            hi = mid - 1;
    }
    return (struct share){lo, d - ends * lo, 0};
}

// Cut the matrix into shares by the rule of the algorithm.
static void shares_cut(struct omp_spmv *s, const char *algo)
{
    const struct weft_csr *a = s->job.a;
    const int64_t ends = strcmp(algo, "csr_nnz") != 0, rows = !strcmp(algo, "csr_rows");
    const int64_t total = rows ? a->m : a->nnz + ends * a->m, step = total / s->nshares + 1;
    for (int64_t i = 0; i <= s->nshares; i++) {
        const int64_t d = i * step < total ? i * step : total;
        s->shares[i] = rows ? (struct share){d, weft_csr_ofs(a, d), 0} : cut(a, d, ends);
        if (!i)
            s->shares[i].row = 0; // empty rows at the start are at step 0 too
    }
}

// Rows from which additions that wait for each other cost more than the loops around independent sums.
#define LONG 64

// The loops for one type: sums of rows and shares. Integers wrap around, and so their sums have no sign (sum_t).
#define VAL(p) val[p]
#define ONE(p) 1
#define SPMV_DEFINE(name, T, sum_t, ofs_t, VALUE_AT)                                                                   \
    static inline sum_t name##_row(const int32_t *restrict col, const T *restrict val, const T *restrict x, ofs_t p,   \
                                   ofs_t end)                                                                          \
    {                                                                                                                  \
        sum_t sum = 0;                                                                                                 \
        (void)val;                                                                                                     \
        if (end - p >= LONG) {                                                                                         \
            sum_t s[8] = {0};                                                                                          \
            for (; end - p >= 8; p += 8)                                                                               \
                for (int i = 0; i < 8; i++)                                                                            \
                    s[i] += (sum_t)VALUE_AT(p + i) * (sum_t)x[col[p + i]];                                             \
            sum = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));                                   \
        }                                                                                                              \
        for (; p < end; p++)                                                                                           \
            sum += (sum_t)VALUE_AT(p) * (sum_t)x[col[p]];                                                              \
        return sum;                                                                                                    \
    }                                                                                                                  \
    static void name(const struct omp_spmv *s, struct share *share)                                                    \
    {                                                                                                                  \
        const ofs_t *restrict row_ptr = s->job.a->row_ptr;                                                             \
        const int32_t *restrict col = s->job.a->col;                                                                   \
        const T *restrict val = s->job.a->val, *restrict x = s->job.x;                                                 \
        const sum_t alpha = (sum_t)(T)s->job.alpha, beta = (sum_t)(T)s->job.beta;                                      \
        T *restrict y = s->y;                                                                                          \
        ofs_t p = (ofs_t)share[0].pos;                                                                                 \
        for (int64_t i = share[0].row; i < share[1].row; i++) {                                                        \
            const sum_t sum = alpha * name##_row(col, val, x, p, row_ptr[i + 1]);                                      \
            y[i] = (T)(beta == 0 ? sum : sum + beta * (sum_t)y[i]);                                                    \
            p = row_ptr[i + 1];                                                                                        \
        }                                                                                                              \
        share->part = (double)name##_row(col, val, x, p, (ofs_t)share[1].pos);                                         \
    }
#define SPMV_DEFINE_TYPE(type, T, sum_t)                                                                               \
    SPMV_DEFINE(type##_32, T, sum_t, int32_t, VAL)                                                                     \
    SPMV_DEFINE(type##_64, T, sum_t, int64_t, VAL)                                                                     \
    SPMV_DEFINE(type##_ones_32, T, sum_t, int32_t, ONE)                                                                \
    SPMV_DEFINE(type##_ones_64, T, sum_t, int64_t, ONE)
SPMV_DEFINE_TYPE(f32, float, float)
SPMV_DEFINE_TYPE(f64, double, double)
SPMV_DEFINE_TYPE(i32, int32_t, uint32_t)

#define SPMV_OF(prefix) (ones ? (wide ? prefix##_ones_64 : prefix##_ones_32) : (wide ? prefix##_64 : prefix##_32))

static void run_shares(struct omp_spmv *s)
{
    const int ones = s->job.a->type == WEFT_TYPE_PATTERN, wide = s->job.a->ofs == WEFT_OFS_64;
    void (*run)(const struct omp_spmv *, struct share *) = s->type == WEFT_TYPE_F32   ? SPMV_OF(f32)
                                                           : s->type == WEFT_TYPE_F64 ? SPMV_OF(f64)
                                                                                      : SPMV_OF(i32);
#pragma omp parallel for schedule(static) num_threads(s->nshares)
    for (int i = 0; i < s->nshares; i++)
        run(s, &s->shares[i]);
    for (int i = 0; i < s->nshares; i++) {
        int64_t row = s->shares[i + 1].row;
        if (row == s->job.a->m || s->shares[i].part == 0)
            continue;
        if (s->type == WEFT_TYPE_F32)
            ((float *)s->y)[row] += (float)(s->job.alpha * s->shares[i].part);
        else if (s->type == WEFT_TYPE_F64)
            ((double *)s->y)[row] += s->job.alpha * s->shares[i].part;
        else
            ((uint32_t *)s->y)[row] += (uint32_t)(int32_t)s->job.alpha * (uint32_t)s->shares[i].part;
    }
}

weft_status weft__omp_spmv_prepare(void **state, struct weft_context *ctx, const struct weft_backend_spmv_job *job,
                                   const char *algo, struct weft_backend_times *times, struct weft_error *err)
{
    (void)ctx;
    *state = NULL;
    const int k = weft__algo_find(weft__omp_spmv_algos, algo, job->tune, "backend omp has no SpMV", err);
    if (k < 0)
        return WEFT_EINVAL;
    struct omp_spmv *s = calloc(1, sizeof *s);
    if (!s)
        return weft__error(err, WEFT_ENOMEM, "out of host memory for SpMV");
    *state = s;
    s->job = *job;
    s->type = job->a->type == WEFT_TYPE_PATTERN ? WEFT_TYPE_F32 : job->a->type;
    s->y_bytes = weft__mul((size_t)job->a->m, weft_type_bytes(s->type));
    s->y = malloc(weft__max(1, s->y_bytes));
    s->nshares = omp_get_max_threads();
    s->shares = calloc((size_t)s->nshares + 1, sizeof *s->shares);
    if (!s->y || !s->shares) {
        weft__omp_spmv_finish(state);
        return weft__error(err, WEFT_ENOMEM, "out of host memory for y");
    }
    double start = clock_ms();
    shares_cut(s, weft__omp_spmv_algos[k]);
    times->analyse_ms = clock_ms() - start;
    times->workspace_bytes = (int64_t)(((size_t)s->nshares + 1) * sizeof *s->shares);
    times->format_bytes = job->a->nnz * (int64_t)(4 + weft_type_bytes(job->a->type)) +
                          (job->a->m + 1) * (int64_t)weft_ofs_bytes(job->a->ofs);
    memset(s->y, 0xff, s->y_bytes); // NaN: what no run wrote is no result; and no run pays for the pages
    return WEFT_OK;
}

weft_status weft__omp_spmv_run(void *state, double *ms, struct weft_error *err)
{
    (void)err;
    struct omp_spmv *s = state;
    if (s->job.beta != 0)
        memcpy(s->y, s->job.y, s->y_bytes);
    double start = clock_ms();
    run_shares(s);
    *ms = clock_ms() - start;
    return WEFT_OK;
}

weft_status weft__omp_spmv_poison(void *state, struct weft_error *err)
{
    (void)err;
    const struct omp_spmv *s = state;
    memset(s->y, 0xff, s->y_bytes);
    return WEFT_OK;
}

weft_status weft__omp_spmv_result(void *state, void *y, struct weft_backend_times *times, struct weft_error *err)
{
    (void)times;
    (void)err;
    const struct omp_spmv *s = state;
    memcpy(y, s->y, s->y_bytes);
    return WEFT_OK;
}

void weft__omp_spmv_finish(void **state)
{
    if (!state || !*state)
        return;
    struct omp_spmv *s = *state;
    free(s->y);
    free(s->shares);
    free(s);
    *state = NULL;
}
