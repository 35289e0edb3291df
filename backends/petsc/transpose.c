// SPDX-License-Identifier: Apache-2.0
// A^T by MatTranspose of PETSc's type seqaij. Every run makes a new matrix, and what that allocates is part of the time.
#include "host/common/clock.h"
#include "petsc_backend.h"
#include "backends/algo.h"
#include "backends/pages.h"

#include <stdlib.h>
#include <string.h>

const char *const weft__petsc_transpose_algos[] = {"aij", NULL};

struct petsc_transpose {
    const struct weft_csr *from; // borrowed
    struct petsc_matrix a;
    Mat out;
};

weft_status weft__petsc_transpose_prepare(void **state, struct weft_context *ctx, const struct weft_csr *a,
                                          const char *algo, const struct weft_backend_tune *tune,
                                          struct weft_backend_times *times, struct weft_error *err)
{
    (void)ctx;
    *state = NULL;
    if (weft__algo_find(weft__petsc_transpose_algos, algo, tune, "backend petsc has no transposition", err) < 0)
        return WEFT_EINVAL;
    struct petsc_transpose *t = calloc(1, sizeof *t);
    if (!t)
        return weft__error(err, WEFT_ENOMEM, "out of host memory for a transposition");
    *state = t;
    t->from = a;
    const weft_status status = weft__petsc_matrix(&t->a, a, "transposition", &times->convert_ms, err);
    if (status)
        weft__petsc_transpose_finish(state);
    else
        weft__pages_keep();
    return status;
}

weft_status weft__petsc_transpose_run(void *state, double *ms, struct weft_error *err)
{
    struct petsc_transpose *t = state;
    weft_status status = weft__petsc_fail(MatDestroy(&t->out), "MatDestroy", err);
    if (status)
        return status;
    const double start = clock_ms();
    const PetscErrorCode code = MatTranspose(t->a.mat, MAT_INITIAL_MATRIX, &t->out);
    *ms = clock_ms() - start;
    return weft__petsc_fail(code, "MatTranspose", err);
}

weft_status weft__petsc_transpose_poison(void *state, struct weft_error *err)
{
    struct petsc_transpose *t = state;
    return weft__petsc_fail(MatDestroy(&t->out), "MatDestroy", err);
}

weft_status weft__petsc_transpose_result(void *state, struct weft_csr *out, struct weft_backend_times *times,
                                         struct weft_error *err)
{
    (void)times;
    struct petsc_transpose *t = state;
    const struct weft_csr *a = t->from;
    PetscInt rows = 0;
    const PetscInt *ptr = NULL, *col = NULL;
    const PetscScalar *val = NULL;
    PetscBool done = PETSC_FALSE;
    if (!t->out)
        return weft__error(err, WEFT_EMATRIX, "no run has made a transpose");
    PetscErrorCode code = MatGetRowIJ(t->out, 0, PETSC_FALSE, PETSC_FALSE, &rows, &ptr, &col, &done);
    if (!code)
        code = MatSeqAIJGetArrayRead(t->out, &val);
    if (code)
        return weft__petsc_fail(code, "MatGetRowIJ", err);
    weft_status status = WEFT_OK;
    if (!done || rows != a->n || ptr[rows] != a->nnz)
        status = weft__error(err, WEFT_EMATRIX, "PETSc gives a matrix of another size");
    if (!status && weft_csr_alloc(out, weft_shape_transposed(weft_csr_shape(a))))
        status = weft__error(err, WEFT_ENOMEM, "out of host memory for a copy of the transpose");
    for (int64_t j = 0; j <= a->n && !status; j++)
        if (a->ofs == WEFT_OFS_64)
            ((int64_t *)out->row_ptr)[j] = ptr[j];
        else
            ((int32_t *)out->row_ptr)[j] = (int32_t)ptr[j];
    for (int64_t p = 0; p < a->nnz && !status; p++)
        out->col[p] = (int32_t)col[p];
    if (!status && a->nnz)
        memcpy(out->val, val, (size_t)a->nnz * sizeof *val);
    MatSeqAIJRestoreArrayRead(t->out, &val);
    MatRestoreRowIJ(t->out, 0, PETSC_FALSE, PETSC_FALSE, &rows, &ptr, &col, &done);
    return status;
}

void weft__petsc_transpose_finish(void **state)
{
    if (!state || !*state)
        return;
    struct petsc_transpose *t = *state;
    MatDestroy(&t->out);
    weft__petsc_matrix_free(&t->a);
    free(t);
    weft__pages_give();
    *state = NULL;
}
