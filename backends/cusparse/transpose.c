// SPDX-License-Identifier: Apache-2.0
// Transposition by cusparseCsr2cscEx2, and by the calls of CUDA 9 and 10 where the headers still have them.
#include "backends/algo.h"
#include "host/internal/inside.h"
#include "backends/cuda/transpose.h"
#include "cusparse_backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Algorithm 2 went with CUDA 12, the older call with CUDA 11.
#ifdef WEFT_HAS_CUSPARSE_CSR2CSC_ALG2
#define ALG2(x)          x,
#define leaves_open(alg) ((alg) == CUSPARSE_CSR2CSC_ALG2) // the order of the entries of a column
#else
#define ALG2(x)
#define leaves_open(alg) 0
#endif
#ifdef WEFT_HAS_CUSPARSESCSR2CSC
#define OLD(x) x,
#else
#define OLD(x)
#endif
enum { OLD_CALL = -1 };
const char *const weft__cusparse_transpose_algos[] = {"alg1", ALG2("alg2") OLD("csr2csc") NULL};
static const int algs[] = {CUSPARSE_CSR2CSC_ALG1, ALG2(CUSPARSE_CSR2CSC_ALG2) OLD(OLD_CALL)};

struct cusparse_transpose {
    struct cuda_session cuda;
    cusparseHandle_t handle;
    struct cuda_transpose m;
    int alg; // a cusparseCsr2CscAlg_t, or OLD_CALL
    cudaDataType type;
    cusparseAction_t action;
    void *buffer;
};

// The values are moved, never computed with: integers travel as floats of their width. A pattern has none, but the
// pointers have to point somewhere.
static void type_choose(struct cusparse_transpose *t)
{
    t->action = t->m.a->type == WEFT_TYPE_PATTERN ? CUSPARSE_ACTION_SYMBOLIC : CUSPARSE_ACTION_NUMERIC;
    t->type = t->m.a->type == WEFT_TYPE_F64 ? CUDA_R_64F : CUDA_R_32F;
}

static weft_status buffer_size(const struct cusparse_transpose *t, size_t *bytes, struct weft_error *err)
{
    const int m = (int)t->m.a->m, n = (int)t->m.a->n, nnz = (int)t->m.a->nnz;
    if (t->alg == OLD_CALL) // takes its memory itself
        return WEFT_OK;
    return weft__cusparse_fail(cusparseCsr2cscEx2_bufferSize(t->handle, m, n, nnz, t->m.val, t->m.row_ptr, t->m.col,
                                                             t->m.out_val, t->m.out_ptr, t->m.out_row, t->type,
                                                             t->action, CUSPARSE_INDEX_BASE_ZERO,
                                                             (cusparseCsr2CscAlg_t)t->alg, bytes),
                               "cusparseCsr2cscEx2_bufferSize", err);
}

static weft_status transpose_init(struct cusparse_transpose *t, struct weft_context *ctx, const struct weft_csr *a,
                                  struct weft_backend_times *times, struct weft_error *err)
{
    size_t bytes = 0;
    weft_status status = weft__cusparse_open(&t->cuda, &t->handle, ctx, err);
    if (!status)
        status = weft__cuda_transpose_take(&t->m, &t->cuda, a, times, err);
    if (status)
        return status;
    type_choose(t);
    status = buffer_size(t, &bytes, err);
    if (!status && bytes)
        status = weft__cuda_take(&t->cuda, &t->buffer, bytes, "cuSPARSE's buffer", err);
    times->workspace_bytes = (int64_t)bytes;
    if (a->type == WEFT_TYPE_I32 || leaves_open(t->alg))
        snprintf(times->chosen, sizeof times->chosen, "%s%s%s", a->type == WEFT_TYPE_I32 ? "values moved as f32" : "",
                 a->type == WEFT_TYPE_I32 && leaves_open(t->alg) ? ", " : "",
                 leaves_open(t->alg) ? "unordered: columns sorted before the check" : "");
    return status;
}

weft_status weft__cusparse_transpose_prepare(void **state, struct weft_context *ctx, const struct weft_csr *a,
                                             const char *algo, const struct weft_backend_tune *tune,
                                             struct weft_backend_times *times, struct weft_error *err)
{
    *state = NULL;
    const int k =
        weft__algo_find(weft__cusparse_transpose_algos, algo, tune, "backend cusparse has no transposition", err);
    if (k < 0)
        return WEFT_EINVAL;
    struct cusparse_transpose *t = calloc(1, sizeof *t);
    if (!t)
        return weft__error(err, WEFT_ENOMEM, "out of host memory for a transposition");
    t->alg = algs[k];
    *state = t;
    weft_status status = transpose_init(t, ctx, a, times, err);
    if (status)
        weft__cusparse_transpose_finish(state);
    return status;
}

#ifdef WEFT_HAS_CUSPARSESCSR2CSC
static weft_status old_call(struct cusparse_transpose *t, struct weft_error *err)
{
    const int m = (int)t->m.a->m, n = (int)t->m.a->n, nnz = (int)t->m.a->nnz;
    if (t->type == CUDA_R_64F)
        return weft__cusparse_fail(cusparseDcsr2csc(t->handle, m, n, nnz, t->m.val, t->m.row_ptr, t->m.col,
                                                    t->m.out_val, t->m.out_row, t->m.out_ptr, t->action,
                                                    CUSPARSE_INDEX_BASE_ZERO),
                                   "cusparseDcsr2csc", err);
    return weft__cusparse_fail(cusparseScsr2csc(t->handle, m, n, nnz, t->m.val, t->m.row_ptr, t->m.col, t->m.out_val,
                                                t->m.out_row, t->m.out_ptr, t->action, CUSPARSE_INDEX_BASE_ZERO),
                               "cusparseScsr2csc", err);
}
#endif

static weft_status transpose_call(struct cusparse_transpose *t, struct weft_error *err)
{
#ifdef WEFT_HAS_CUSPARSESCSR2CSC
    if (t->alg == OLD_CALL)
        return old_call(t, err);
#endif
    return weft__cusparse_fail(cusparseCsr2cscEx2(t->handle, (int)t->m.a->m, (int)t->m.a->n, (int)t->m.a->nnz, t->m.val,
                                                  t->m.row_ptr, t->m.col, t->m.out_val, t->m.out_ptr, t->m.out_row,
                                                  t->type, t->action, CUSPARSE_INDEX_BASE_ZERO,
                                                  (cusparseCsr2CscAlg_t)t->alg, t->buffer),
                               "cusparseCsr2cscEx2", err);
}

weft_status weft__cusparse_transpose_run(void *state, double *ms, struct weft_error *err)
{
    struct cusparse_transpose *t = state;
    weft_status status = weft__cuda_begin(&t->cuda, err);
    if (!status)
        status = transpose_call(t, err);
    return weft__cuda_end(&t->cuda, status, ms, err);
}

weft_status weft__cusparse_transpose_plain(void *state, int runs, struct weft_error *err)
{
    struct cusparse_transpose *t = state;
    weft_status status = WEFT_OK;
    for (int i = 0; i < runs && !status; i++)
        status = transpose_call(t, err);
    return status ? status : weft__cuda_fail(cudaStreamSynchronize(t->cuda.stream), "cudaStreamSynchronize", err);
}

weft_status weft__cusparse_transpose_call(void *state, struct weft_csr *out, struct weft_error *err)
{
    struct cusparse_transpose t = *(struct cusparse_transpose *)state;
    size_t bytes = 0;
    if (leaves_open(t.alg))
        return weft__error(err, WEFT_EUNSUPPORTED, "one call: what it gives is not a transpose with ordered columns");
    weft_status status = weft__cuda_transpose_have(&t.m, &t.cuda, err);
    if (!status)
        status = buffer_size(&t, &bytes, err);
    if (!status)
        status = weft__cuda_have(&t.cuda, &t.buffer, NULL, bytes, "cuSPARSE's buffer", err);
    if (!status)
        status = weft__cuda_settle(err);
    if (!status)
        status = weft__cusparse_transpose_plain(&t, 1, err);
    if (!status)
        status = weft__cuda_transpose_read(&t.m, out, err);
    weft__cuda_drop(&t.cuda);
    return status;
}

weft_status weft__cusparse_transpose_poison(void *state, struct weft_error *err)
{
    struct cusparse_transpose *t = state;
    return weft__cuda_transpose_poison(&t->m, &t->cuda, err);
}

weft_status weft__cusparse_transpose_result(void *state, struct weft_csr *out, struct weft_backend_times *times,
                                            struct weft_error *err)
{
    const struct cusparse_transpose *t = state;
    weft_status status = weft__cuda_transpose_result(&t->m, out, times, err);
    if (!status && leaves_open(t->alg) && (status = weft__cusparse_columns_order(out, t->m.a, err)))
        weft_csr_free(out);
    return status;
}

void weft__cusparse_transpose_finish(void **state)
{
    if (!state || !*state)
        return;
    struct cusparse_transpose *t = *state;
    weft__cusparse_close(&t->cuda, t->handle);
    free(t);
    *state = NULL;
}
