// SPDX-License-Identifier: Apache-2.0
// A^T by mkl_sparse_convert_csr. Every run makes a new matrix, and what that allocates is part of the time.
#include "backends/algo.h"
#include "backends/pages.h"
#include "backends/distinct.h"
#include "host/common/clock.h"
#include "host/internal/inside.h"
#include "mkl_backend.h"

#include <stdlib.h>
#include <string.h>

const char *const weft__mkl_transpose_algos[] = {"csr", NULL};

struct mkl_transpose {
    const struct weft_csr *from; // borrowed
    sparse_matrix_t a, out;
};

weft_status weft__mkl_transpose_prepare(void **state, struct weft_context *ctx, const struct weft_csr *a,
                                        const char *algo, const struct weft_backend_tune *tune,
                                        struct weft_backend_times *times, struct weft_error *err)
{
    (void)ctx;
    (void)times;
    *state = NULL;
    if (weft__algo_find(weft__mkl_transpose_algos, algo, tune, "backend mkl has no transposition", err) < 0)
        return WEFT_EINVAL;
    if (!a->nnz) // MKL 2026.0.2 says that memory is short
        return weft__error(err, WEFT_EUNSUPPORTED, "MKL transposes no matrix without entries");
    weft_status status = weft__distinct(a, "MKL leaves repeated entries in another order", err);
    if (status)
        return status;
    struct mkl_transpose *t = calloc(1, sizeof *t);
    if (!t)
        return weft__error(err, WEFT_ENOMEM, "out of host memory for a transposition");
    *state = t;
    t->from = a;
    status = weft__mkl_csr(&t->a, a, NULL, err);
    if (status)
        weft__mkl_transpose_finish(state);
    else
        weft__pages_keep();
    return status;
}

static void drop(sparse_matrix_t *matrix)
{
    if (*matrix)
        mkl_sparse_destroy(*matrix);
    *matrix = NULL;
}

weft_status weft__mkl_transpose_run(void *state, double *ms, struct weft_error *err)
{
    struct mkl_transpose *t = state;
    drop(&t->out);
    const double start = clock_ms();
    const sparse_status_t status = mkl_sparse_convert_csr(t->a, SPARSE_OPERATION_TRANSPOSE, &t->out);
    *ms = clock_ms() - start;
    return weft__mkl_fail(status, "mkl_sparse_convert_csr", err);
}

weft_status weft__mkl_transpose_poison(void *state, struct weft_error *err)
{
    (void)err;
    struct mkl_transpose *t = state;
    drop(&t->out);
    return WEFT_OK;
}

weft_status weft__mkl_transpose_result(void *state, struct weft_csr *out, struct weft_backend_times *times,
                                       struct weft_error *err)
{
    (void)times;
    struct mkl_transpose *t = state;
    const struct weft_csr *a = t->from;
    const size_t nnz = (size_t)a->nnz;
    if (!t->out)
        return weft__error(err, WEFT_EMATRIX, "no run has made a transpose");
    sparse_index_base_t base;
    int rows = 0, cols = 0, *begin = NULL, *end = NULL, *row = NULL;
    void *val = NULL;
    const sparse_status_t got =
        a->type == WEFT_TYPE_F64
            ? mkl_sparse_d_export_csr(t->out, &base, &rows, &cols, &begin, &end, &row, (double **)&val)
            : mkl_sparse_s_export_csr(t->out, &base, &rows, &cols, &begin, &end, &row, (float **)&val);
    weft_status status = weft__mkl_fail(got, "mkl_sparse_export_csr", err);
    if (status)
        return status;
    if (rows != a->n || cols != a->m || base != SPARSE_INDEX_BASE_ZERO || (size_t)(end[rows - 1] - begin[0]) != nnz)
        return weft__error(err, WEFT_EMATRIX, "MKL gives %d x %d with %d entries", rows, cols, end[rows - 1]);
    status = weft_csr_alloc(out, weft_shape_transposed(weft_csr_shape(a)));
    if (status)
        return weft__error(err, status, "a copy of the transpose: %s", weft_status_text(status));
    memcpy(out->row_ptr, begin, (size_t)rows * sizeof *begin);
    ((int32_t *)out->row_ptr)[rows] = end[rows - 1];
    memcpy(out->col, row, nnz * sizeof *row);
    memcpy(out->val, val, nnz * weft_type_bytes(a->type));
    return WEFT_OK;
}

void weft__mkl_transpose_finish(void **state)
{
    if (!state || !*state)
        return;
    struct mkl_transpose *t = *state;
    drop(&t->out);
    drop(&t->a);
    free(t);
    weft__pages_give();
    *state = NULL;
}
