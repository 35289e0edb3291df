// SPDX-License-Identifier: Apache-2.0
// A^T by GrB_transpose, which chooses its method itself. Its matrices hide their arrays and have 64-bit indices, so A is
// copied in before and the result out after; every run makes a new matrix, and what that allocates is part of the time.
#include "backends/algo.h"
#include "backends/pages.h"
#include "backends/distinct.h"
#include "host/common/clock.h"
#include "backends/backend.h"
#include "host/internal/inside.h"

#include <GraphBLAS.h>
#include <stdlib.h>
#include <string.h>

const char *const weft__graphblas_transpose_algos[] = {"auto", NULL};

struct graphblas_transpose {
    const struct weft_csr *from; // borrowed
    GrB_Matrix a, out;
};

static weft_status fail(GrB_Info info, const char *what, struct weft_error *err)
{
    if (info == GrB_SUCCESS)
        return WEFT_OK;
    if (info == GrB_OUT_OF_MEMORY)
        return weft__error(err, WEFT_ENOMEM, "out of host memory in %s", what);
    return weft__error(err, WEFT_EDEVICE, "%s failed with GrB_Info %d", what, (int)info);
}

static void graphblas_end(void)
{
    GrB_finalize();
}

static weft_status graphblas_begin(struct weft_error *err)
{
    static int begun;
    if (begun)
        return WEFT_OK;
    weft_status status = fail(GrB_init(GrB_NONBLOCKING), "GrB_init", err);
    if (!status) {
        begun = 1;
        atexit(graphblas_end);
    }
    return status;
}

static GrB_Type type_of(enum weft_type type)
{
    return type == WEFT_TYPE_F32   ? GrB_FP32
           : type == WEFT_TYPE_F64 ? GrB_FP64
           : type == WEFT_TYPE_I32 ? GrB_INT32
                                   : GrB_BOOL;
}

#define IMPORT(name, T)                                                                                                \
    GrB_Matrix_import_##name(out, type_of(a->type), rows, cols, ptr, col, (const T *)val, rows + 1, nnz, nnz,          \
                             GrB_CSR_FORMAT)

// Copy `a` in.
static weft_status import(GrB_Matrix *out, const struct weft_csr *a, struct weft_error *err)
{
    const GrB_Index rows = (GrB_Index)a->m, cols = (GrB_Index)a->n, nnz = (GrB_Index)a->nnz;
    GrB_Index *ptr = malloc(weft__mul((size_t)a->m + 1, sizeof *ptr));
    GrB_Index *col = malloc(weft__max(1, weft__mul((size_t)a->nnz, sizeof *col)));
    bool *ones = a->type == WEFT_TYPE_PATTERN ? malloc(weft__max(1, (size_t)a->nnz)) : NULL;
    weft_status status = WEFT_OK;
    if (!ptr || !col || (a->type == WEFT_TYPE_PATTERN && !ones))
        status = weft__error(err, WEFT_ENOMEM, "out of host memory for a transpose");
    for (int64_t i = 0; i <= a->m && !status; i++)
        ptr[i] = (GrB_Index)weft_csr_ofs(a, i);
    for (int64_t p = 0; p < a->nnz && !status; p++)
        col[p] = (GrB_Index)a->col[p];
    for (int64_t p = 0; p < a->nnz && ones; p++)
        ones[p] = true;
    const void *val = ones ? ones : a->val;
    if (!status)
        status = fail(a->type == WEFT_TYPE_F32   ? IMPORT(FP32, float)
                      : a->type == WEFT_TYPE_F64 ? IMPORT(FP64, double)
                      : a->type == WEFT_TYPE_I32 ? IMPORT(INT32, int32_t)
                                                 : IMPORT(BOOL, bool),
                      "GrB_Matrix_import", err);
    if (!status && ones) // one value for all, kept once: a pattern
        status = fail(GrB_Matrix_assign_BOOL(*out, *out, NULL, true, GrB_ALL, rows, GrB_ALL, cols, GrB_DESC_S),
                      "GrB_Matrix_assign", err);
    if (!status)
        status = fail(GrB_Matrix_wait(*out, GrB_MATERIALIZE), "GrB_Matrix_wait", err);
    free(ptr);
    free(col);
    free(ones);
    return status;
}

weft_status weft__graphblas_transpose_prepare(void **state, struct weft_context *ctx, const struct weft_csr *a,
                                              const char *algo, const struct weft_backend_tune *tune,
                                              struct weft_backend_times *times, struct weft_error *err)
{
    (void)ctx;
    *state = NULL;
    if (weft__algo_find(weft__graphblas_transpose_algos, algo, tune, "backend graphblas has no transposition", err) < 0)
        return WEFT_EINVAL;
    weft_status status = graphblas_begin(err);
    if (!status)
        status = weft__distinct(a, "GraphBLAS has no repeated entries", err);
    if (status)
        return status;
    struct graphblas_transpose *t = calloc(1, sizeof *t);
    if (!t)
        return weft__error(err, WEFT_ENOMEM, "out of host memory for a transpose");
    *state = t;
    t->from = a;
    double start = clock_ms();
    status = import(&t->a, a, err);
    times->convert_ms = clock_ms() - start;
    if (status)
        weft__graphblas_transpose_finish(state);
    else
        weft__pages_keep();
    return status;
}

weft_status weft__graphblas_transpose_run(void *state, double *ms, struct weft_error *err)
{
    struct graphblas_transpose *t = state;
    GrB_Matrix_free(&t->out);
    weft_status status =
        fail(GrB_Matrix_new(&t->out, type_of(t->from->type), (GrB_Index)t->from->n, (GrB_Index)t->from->m),
             "GrB_Matrix_new", err);
    double start = clock_ms();
    if (!status)
        status = fail(GrB_transpose(t->out, NULL, NULL, t->a, NULL), "GrB_transpose", err);
    if (!status)
        status = fail(GrB_Matrix_wait(t->out, GrB_MATERIALIZE), "GrB_Matrix_wait", err);
    *ms = clock_ms() - start;
    return status;
}

#define EXPORT(name, T) GrB_Matrix_export_##name(ptr, row, (T *)val, &nptr, &nrow, &nval, GrB_CSR_FORMAT, t->out)

weft_status weft__graphblas_transpose_poison(void *state, struct weft_error *err)
{
    struct graphblas_transpose *t = state;
    return fail(GrB_Matrix_free(&t->out), "GrB_Matrix_free", err);
}

weft_status weft__graphblas_transpose_result(void *state, struct weft_csr *out, struct weft_backend_times *times,
                                             struct weft_error *err)
{
    (void)times;
    struct graphblas_transpose *t = state;
    const struct weft_csr *a = t->from;
    const size_t nnz = (size_t)a->nnz, val_bytes = a->type == WEFT_TYPE_PATTERN ? 1 : weft_type_bytes(a->type);
    if (!t->out)
        return weft__error(err, WEFT_EMATRIX, "no run has made a transpose");
    GrB_Index nptr = (GrB_Index)a->n + 1, nrow = (GrB_Index)nnz, nval = (GrB_Index)nnz;
    GrB_Index *ptr = malloc(weft__mul((size_t)nptr, sizeof *ptr));
    GrB_Index *row = malloc(weft__max(1, weft__mul(nnz, sizeof *row)));
    void *val = malloc(weft__max(1, weft__mul(nnz, val_bytes)));
    weft_status status =
        ptr && row && val ? weft_csr_alloc(out, weft_shape_transposed(weft_csr_shape(a))) : WEFT_ENOMEM;
    if (status)
        weft__error(err, status, "a copy of the transpose: %s", weft_status_text(status));
    else
        status = fail(a->type == WEFT_TYPE_F32   ? EXPORT(FP32, float)
                      : a->type == WEFT_TYPE_F64 ? EXPORT(FP64, double)
                      : a->type == WEFT_TYPE_I32 ? EXPORT(INT32, int32_t)
                                                 : EXPORT(BOOL, bool),
                      "GrB_Matrix_export", err);
    if (!status && (nptr != (GrB_Index)a->n + 1 || nrow != nnz))
        status = weft__error(err, WEFT_EMATRIX, "GraphBLAS gives %llu entries of %zu", (unsigned long long)nrow, nnz);
    if (!status) {
        for (int64_t j = 0; j <= a->n; j++)
            if (a->ofs == WEFT_OFS_64)
                ((int64_t *)out->row_ptr)[j] = (int64_t)ptr[j];
            else
                ((int32_t *)out->row_ptr)[j] = (int32_t)ptr[j];
        for (size_t p = 0; p < nnz; p++)
            out->col[p] = (int32_t)row[p];
        if (a->type != WEFT_TYPE_PATTERN)
            memcpy(out->val, val, nnz * val_bytes);
    } else {
        weft_csr_free(out);
    }
    free(ptr);
    free(row);
    free(val);
    return status;
}

void weft__graphblas_transpose_finish(void **state)
{
    if (!state || !*state)
        return;
    struct graphblas_transpose *t = *state;
    GrB_Matrix_free(&t->a);
    GrB_Matrix_free(&t->out);
    free(t);
    weft__pages_give();
    *state = NULL;
}
