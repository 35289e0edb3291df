// SPDX-License-Identifier: Apache-2.0
// y = alpha*A*x + beta*y by mkl_sparse_?_mv: as it comes, or after mkl_sparse_optimize for a thousand products.
#include "backends/algo.h"
#include "host/common/clock.h"
#include "host/internal/inside.h"
#include "mkl_backend.h"

#include <stdlib.h>
#include <string.h>

const char *const weft__mkl_spmv_algos[] = {"csr", "optimized", NULL};
enum { HINT = 1000 };

struct mkl_spmv {
    struct weft_backend_spmv_job job;
    struct matrix_descr kind;
    size_t y_bytes;
    void *y;
    float *ones; // the values of a pattern
    sparse_matrix_t a;
};

static weft_status init(struct mkl_spmv *s, bool optimized, struct weft_backend_times *times, struct weft_error *err)
{
    const struct weft_csr *a = s->job.a;
    s->kind.type = SPARSE_MATRIX_TYPE_GENERAL;
    s->y_bytes = (size_t)a->m * (a->type == WEFT_TYPE_F64 ? sizeof(double) : sizeof(float));
    s->y = calloc((size_t)a->m + 1, sizeof(double));
    if (a->type == WEFT_TYPE_PATTERN)
        s->ones = calloc((size_t)a->nnz + 1, sizeof *s->ones);
    if (!s->y || (a->type == WEFT_TYPE_PATTERN && !s->ones))
        return weft__error(err, WEFT_ENOMEM, "out of host memory for SpMV");
    memset(s->y, 0xff, s->y_bytes); // NaN: what no run wrote is no result
    for (int64_t p = 0; p < a->nnz && s->ones; p++)
        s->ones[p] = 1;
    weft_status status = weft__mkl_csr(&s->a, a, s->ones, err);
    const double start = clock_ms();
    if (!status && optimized)
        status = weft__mkl_fail(mkl_sparse_set_mv_hint(s->a, SPARSE_OPERATION_NON_TRANSPOSE, s->kind, HINT),
                                "mkl_sparse_set_mv_hint", err);
    if (!status && optimized)
        status = weft__mkl_fail(mkl_sparse_optimize(s->a), "mkl_sparse_optimize", err);
    if (optimized)
        times->analyse_ms = clock_ms() - start;
    return status;
}

weft_status weft__mkl_spmv_prepare(void **state, struct weft_context *ctx, const struct weft_backend_spmv_job *job,
                                   const char *algo, struct weft_backend_times *times, struct weft_error *err)
{
    (void)ctx;
    *state = NULL;
    const int k = weft__algo_find(weft__mkl_spmv_algos, algo, job->tune, "backend mkl has no SpMV", err);
    if (k < 0)
        return WEFT_EINVAL;
    if (job->a->type == WEFT_TYPE_I32)
        return weft__error(err, WEFT_EUNSUPPORTED, "MKL has no SpMV of integers");
    struct mkl_spmv *s = calloc(1, sizeof *s);
    if (!s)
        return weft__error(err, WEFT_ENOMEM, "out of host memory for SpMV");
    *state = s;
    s->job = *job;
    const weft_status status = init(s, k == 1, times, err);
    if (status)
        weft__mkl_spmv_finish(state);
    return status;
}

weft_status weft__mkl_spmv_run(void *state, double *ms, struct weft_error *err)
{
    struct mkl_spmv *s = state;
    const struct weft_backend_spmv_job *job = &s->job;
    if (job->beta != 0)
        memcpy(s->y, job->y, s->y_bytes);
    const double start = clock_ms();
    const sparse_status_t status =
        job->a->type == WEFT_TYPE_F64
            ? mkl_sparse_d_mv(SPARSE_OPERATION_NON_TRANSPOSE, job->alpha, s->a, s->kind, job->x, job->beta, s->y)
            : mkl_sparse_s_mv(SPARSE_OPERATION_NON_TRANSPOSE, (float)job->alpha, s->a, s->kind, job->x,
                              (float)job->beta, s->y);
    *ms = clock_ms() - start;
    return weft__mkl_fail(status, "mkl_sparse_mv", err);
}

weft_status weft__mkl_spmv_poison(void *state, struct weft_error *err)
{
    (void)err;
    const struct mkl_spmv *s = state;
    memset(s->y, 0xff, s->y_bytes);
    return WEFT_OK;
}

weft_status weft__mkl_spmv_result(void *state, void *y, struct weft_backend_times *times, struct weft_error *err)
{
    (void)times;
    (void)err;
    const struct mkl_spmv *s = state;
    memcpy(y, s->y, s->y_bytes);
    return WEFT_OK;
}

void weft__mkl_spmv_finish(void **state)
{
    if (!state || !*state)
        return;
    struct mkl_spmv *s = *state;
    if (s->a)
        mkl_sparse_destroy(s->a);
    free(s->ones);
    free(s->y);
    free(s);
    *state = NULL;
}
