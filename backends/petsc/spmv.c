// SPDX-License-Identifier: Apache-2.0
// y = alpha*A*x + beta*y by MatMult of PETSc's types seqaij and seqsell.
#include "host/common/clock.h"
#include "petsc_backend.h"
#include "backends/algo.h"
#include "backends/distinct.h"

#include <stdlib.h>
#include <string.h>

const char *const weft__petsc_spmv_algos[] = {"aij", "sell", NULL};

struct petsc_spmv {
    struct weft_backend_spmv_job job;
    struct petsc_matrix a;
    Mat sell;           // NULL: aij
    Vec x, y, product;  // product: A*x where it is scaled or added to
    PetscScalar *y_own; // the values of y
    size_t y_bytes;
};

static weft_status init(struct petsc_spmv *s, bool sell, struct weft_backend_times *times, struct weft_error *err)
{
    const struct weft_csr *a = s->job.a;
    weft_status status = sell ? weft__distinct(a, "PETSc keeps one of repeated entries in SELL", err) : WEFT_OK;
    double copy_ms = 0;
    if (!status)
        status = weft__petsc_matrix(&s->a, a, "SpMV", &copy_ms, err);
    const double start = clock_ms();
    if (!status && sell)
        status = weft__petsc_fail(MatConvert(s->a.mat, MATSEQSELL, MAT_INITIAL_MATRIX, &s->sell), "MatConvert", err);
    times->convert_ms = copy_ms + clock_ms() - start;
    if (!sell)
        times->format_bytes = (a->m + 1 + a->nnz) * (int64_t)sizeof(PetscInt) + a->nnz * (int64_t)sizeof *s->y_own;
    s->y_bytes = (size_t)a->m * sizeof *s->y_own;
    s->y_own = malloc(weft__max(1, s->y_bytes));
    if (!status && !s->y_own)
        status = weft__error(err, WEFT_ENOMEM, "out of host memory for y");
    if (status)
        return status;
    memset(s->y_own, 0xff, s->y_bytes); // NaN: what no run wrote is no result
    PetscErrorCode code = VecCreateSeqWithArray(PETSC_COMM_SELF, 1, (PetscInt)a->n, s->job.x, &s->x);
    if (!code)
        code = VecCreateSeqWithArray(PETSC_COMM_SELF, 1, (PetscInt)a->m, s->y_own, &s->y);
    if (!code)
        code = VecDuplicate(s->y, &s->product);
    return weft__petsc_fail(code, "VecCreateSeqWithArray", err);
}

weft_status weft__petsc_spmv_prepare(void **state, struct weft_context *ctx, const struct weft_backend_spmv_job *job,
                                     const char *algo, struct weft_backend_times *times, struct weft_error *err)
{
    (void)ctx;
    *state = NULL;
    const int k = weft__algo_find(weft__petsc_spmv_algos, algo, job->tune, "backend petsc has no SpMV", err);
    if (k < 0)
        return WEFT_EINVAL;
    struct petsc_spmv *s = calloc(1, sizeof *s);
    if (!s)
        return weft__error(err, WEFT_ENOMEM, "out of host memory for SpMV");
    *state = s;
    s->job = *job;
    const weft_status status = init(s, k == 1, times, err);
    if (status)
        weft__petsc_spmv_finish(state);
    return status;
}

weft_status weft__petsc_spmv_run(void *state, double *ms, struct weft_error *err)
{
    struct petsc_spmv *s = state;
    const Mat a = s->sell ? s->sell : s->a.mat;
    const bool plain = s->job.alpha == 1 && s->job.beta == 0;
    PetscScalar *y = NULL;
    PetscErrorCode code = VecGetArray(s->y, &y); // PETSc notes that y changes
    if (!code && s->job.beta != 0)
        memcpy(y, s->job.y, s->y_bytes);
    if (!code)
        code = VecRestoreArray(s->y, &y);
    const double start = clock_ms();
    if (!code)
        code = MatMult(a, s->x, plain ? s->y : s->product);
    if (!code && !plain)
        code = VecAXPBY(s->y, (PetscScalar)s->job.alpha, (PetscScalar)s->job.beta, s->product);
    *ms = clock_ms() - start;
    return weft__petsc_fail(code, "MatMult", err);
}

weft_status weft__petsc_spmv_poison(void *state, struct weft_error *err)
{
    (void)err;
    const struct petsc_spmv *s = state;
    memset(s->y_own, 0xff, s->y_bytes);
    return WEFT_OK;
}

weft_status weft__petsc_spmv_result(void *state, void *y, struct weft_backend_times *times, struct weft_error *err)
{
    (void)times;
    (void)err;
    const struct petsc_spmv *s = state;
    memcpy(y, s->y_own, s->y_bytes);
    return WEFT_OK;
}

void weft__petsc_spmv_finish(void **state)
{
    if (!state || !*state)
        return;
    struct petsc_spmv *s = *state;
    VecDestroy(&s->product);
    VecDestroy(&s->y);
    VecDestroy(&s->x);
    MatDestroy(&s->sell);
    weft__petsc_matrix_free(&s->a);
    free(s->y_own);
    free(s);
    *state = NULL;
}
