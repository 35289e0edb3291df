// SPDX-License-Identifier: Apache-2.0
// Serial products, timed by the host clock: the oracle of host/src/ref/spmv.c, and coordinates in row order.
#include "backends/algo.h"
#include "host/internal/inside.h"
#include "host/common/clock.h"
#include "backends/backend.h"

#include <stdlib.h>
#include <string.h>

const char *const weft__ref_spmv_algos[] = {"csr", "coo", NULL};

struct ref_spmv {
    struct weft_backend_spmv_job job;
    enum weft_type type; // of x and y
    size_t y_bytes;
    void *y;
    int32_t *row; // of each entry, for coo; NULL for csr
};

// y = alpha*A*x + beta*y by coordinates; integers wrap around, and so have no sign (sum_t).
#define COO_DEFINE(name, T, sum_t, VALUE)                                                                              \
    static void name(const struct ref_spmv *s)                                                                         \
    {                                                                                                                  \
        const int32_t *restrict row = s->row, *restrict col = s->job.a->col;                                           \
        const T *restrict val = s->job.a->val, *restrict x = s->job.x;                                                 \
        const sum_t alpha = (sum_t)(T)s->job.alpha, beta = (sum_t)(T)s->job.beta;                                      \
        T *restrict y = s->y;                                                                                          \
        (void)val;                                                                                                     \
        if (s->job.beta == 0)                                                                                          \
            memset(y, 0, s->y_bytes);                                                                                  \
        else                                                                                                           \
            for (int64_t i = 0; i < s->job.a->m; i++)                                                                  \
                y[i] = (T)((sum_t)y[i] * beta);                                                                        \
        for (int64_t p = 0; p < s->job.a->nnz; p++)                                                                    \
            y[row[p]] = (T)((sum_t)y[row[p]] + alpha * ((sum_t)VALUE * (sum_t)x[col[p]]));                             \
    }
COO_DEFINE(coo_f32, float, float, val[p])
COO_DEFINE(coo_f64, double, double, val[p])
COO_DEFINE(coo_i32, int32_t, uint32_t, val[p])
COO_DEFINE(coo_ones_f32, float, float, 1)
COO_DEFINE(coo_ones_f64, double, double, 1)
COO_DEFINE(coo_ones_i32, int32_t, uint32_t, 1)

static void coo_run(const struct ref_spmv *s)
{
    const int ones = s->job.a->type == WEFT_TYPE_PATTERN;
    (s->type == WEFT_TYPE_F32   ? (ones ? coo_ones_f32 : coo_f32)
     : s->type == WEFT_TYPE_F64 ? (ones ? coo_ones_f64 : coo_f64)
                                : (ones ? coo_ones_i32 : coo_i32))(s);
}

weft_status weft__ref_spmv_prepare(void **state, struct weft_context *ctx, const struct weft_backend_spmv_job *job,
                                   const char *algo, struct weft_backend_times *times, struct weft_error *err)
{
    (void)ctx;
    *state = NULL;
    const int coo = weft__algo_find(weft__ref_spmv_algos, algo, job->tune, "backend ref has no SpMV", err);
    if (coo < 0)
        return WEFT_EINVAL;
    struct ref_spmv *s = calloc(1, sizeof *s);
    if (!s)
        return weft__error(err, WEFT_ENOMEM, "out of host memory for SpMV");
    s->job = *job;
    s->type = job->a->type == WEFT_TYPE_PATTERN ? WEFT_TYPE_F32 : job->a->type;
    s->y_bytes = weft__mul((size_t)job->a->m, weft_type_bytes(s->type));
    s->y = malloc(weft__max(1, s->y_bytes));
    s->row = coo ? malloc(weft__max(1, weft__mul((size_t)job->a->nnz, sizeof *s->row))) : NULL;
    if (!s->y || (coo && !s->row)) {
        *state = s;
        weft__ref_spmv_finish(state);
        return weft__error(err, WEFT_ENOMEM, "out of host memory for SpMV");
    }
    double start = clock_ms();
    for (int64_t i = 0; i < job->a->m && coo; i++)
        for (int64_t p = weft_csr_ofs(job->a, i); p < weft_csr_ofs(job->a, i + 1); p++)
            s->row[p] = (int32_t)i;
    if (coo)
        times->convert_ms = clock_ms() - start;
    memset(s->y, 0xff, s->y_bytes); // NaN: what no run wrote is no result; and no run pays for the pages
    times->workspace_bytes = 0;
    times->format_bytes = job->a->nnz * (int64_t)((coo ? 8 : 4) + weft_type_bytes(job->a->type)) +
                          (coo ? 0 : (job->a->m + 1) * (int64_t)weft_ofs_bytes(job->a->ofs));
    *state = s;
    return WEFT_OK;
}

weft_status weft__ref_spmv_run(void *state, double *ms, struct weft_error *err)
{
    (void)err;
    struct ref_spmv *s = state;
    if (s->job.beta != 0)
        memcpy(s->y, s->job.y, s->y_bytes);
    double start = clock_ms();
    if (s->row)
        coo_run(s);
    else
        weft__ref_spmv(s->job.a, s->type, s->job.alpha, s->job.x, s->job.beta, s->y);
    *ms = clock_ms() - start;
    return WEFT_OK;
}

weft_status weft__ref_spmv_poison(void *state, struct weft_error *err)
{
    (void)err;
    const struct ref_spmv *s = state;
    memset(s->y, 0xff, s->y_bytes);
    return WEFT_OK;
}

weft_status weft__ref_spmv_result(void *state, void *y, struct weft_backend_times *times, struct weft_error *err)
{
    (void)times;
    (void)err;
    const struct ref_spmv *s = state;
    memcpy(y, s->y, s->y_bytes);
    return WEFT_OK;
}

void weft__ref_spmv_finish(void **state)
{
    if (!state || !*state)
        return;
    struct ref_spmv *s = *state;
    free(s->y);
    free(s->row);
    free(s);
    *state = NULL;
}
