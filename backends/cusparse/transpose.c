// SPDX-License-Identifier: Apache-2.0
// Transposition by cusparseCsr2cscEx2, and by the calls of CUDA 9 and 10 where the headers still have them.
#include "backends/algo.h"
#include "host/internal/inside.h"
#include "cusparse_backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Algorithm 2 went with CUDA 12, the older call with CUDA 11.
#ifdef WEFT_HAS_CUSPARSE_CSR2CSC_ALG2
#define ALG2(x) x,
#else
#define ALG2(x)
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
    const struct weft_csr *a;
    int alg; // a cusparseCsr2CscAlg_t, or OLD_CALL
    cudaDataType type;
    cusparseAction_t action;
    void *row_ptr, *col, *val;              // of A
    void *out_ptr, *out_row, *out_val;      // of A^T
    size_t ptr_bytes, idx_bytes, val_bytes; // of A^T
    void *buffer;
};

// The values are moved, never computed with: integers travel as floats of their width. A pattern has none, but the
// pointers have to point somewhere.
static void type_choose(struct cusparse_transpose *t)
{
    t->action = t->a->type == WEFT_TYPE_PATTERN ? CUSPARSE_ACTION_SYMBOLIC : CUSPARSE_ACTION_NUMERIC;
    t->type = t->a->type == WEFT_TYPE_F64 ? CUDA_R_64F : CUDA_R_32F;
}

static weft_status buffer_size(const struct cusparse_transpose *t, size_t *bytes, struct weft_error *err)
{
    const int m = (int)t->a->m, n = (int)t->a->n, nnz = (int)t->a->nnz;
    if (t->alg == OLD_CALL) // takes its memory itself
        return WEFT_OK;
    return weft__cusparse_fail(cusparseCsr2cscEx2_bufferSize(t->cuda.handle, m, n, nnz, t->val, t->row_ptr, t->col,
                                                             t->out_val, t->out_ptr, t->out_row, t->type, t->action,
                                                             CUSPARSE_INDEX_BASE_ZERO, (cusparseCsr2CscAlg_t)t->alg,
                                                             bytes),
                               "cusparseCsr2cscEx2_bufferSize", err);
}

static weft_status transpose_init(struct cusparse_transpose *t, struct weft_context *ctx,
                                  struct weft_backend_times *times, struct weft_error *err)
{
    const struct weft_csr *a = t->a;
    struct cuda_session *s = &t->cuda;
    const size_t a_ptr_bytes = ((size_t)a->m + 1) * sizeof(int);
    size_t bytes = 0;
    t->ptr_bytes = ((size_t)a->n + 1) * sizeof(int);
    t->idx_bytes = (size_t)a->nnz * sizeof(int);
    t->val_bytes = (size_t)a->nnz * weft_type_bytes(a->type);
    type_choose(t);
    weft_status status = weft__cuda_open(s, ctx, err);
    if (!status)
        status = weft__cuda_take(s, &t->row_ptr, a_ptr_bytes, "row pointers", err);
    if (!status)
        status = weft__cuda_take(s, &t->col, t->idx_bytes, "column indices", err);
    if (!status)
        status = weft__cuda_take(s, &t->val, weft__max(t->val_bytes, t->idx_bytes), "values", err);
    if (!status)
        status = weft__cuda_take(s, &t->out_ptr, t->ptr_bytes, "column pointers", err);
    if (!status)
        status = weft__cuda_take(s, &t->out_row, t->idx_bytes, "row indices", err);
    t->out_val = t->val;
    if (!status && a->type != WEFT_TYPE_PATTERN)
        status = weft__cuda_take(s, &t->out_val, t->val_bytes, "values of the transpose", err);
    if (!status)
        status = weft__cuda_write(t->row_ptr, a->row_ptr, a_ptr_bytes, &times->write_ms, err);
    if (!status)
        status = weft__cuda_write(t->col, a->col, t->idx_bytes, &times->write_ms, err);
    if (!status)
        status = weft__cuda_write(t->val, a->val, t->val_bytes, &times->write_ms, err);
    if (!status)
        status = buffer_size(t, &bytes, err);
    if (!status && bytes)
        status = weft__cuda_take(s, &t->buffer, bytes, "cuSPARSE's buffer", err);
    times->workspace_bytes = (int64_t)bytes;
    if (a->type == WEFT_TYPE_I32)
        snprintf(times->chosen, sizeof times->chosen, "values moved as f32");
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
    if (a->ofs != WEFT_OFS_32)
        return weft__error(err, WEFT_EUNSUPPORTED, "cusparseCsr2cscEx2 has no 64-bit offsets");
    if (!a->m || !a->n)
        return weft__error(err, WEFT_EUNSUPPORTED, "no rows or columns, for which cuSPARSE before CUDA 13.0 is wrong");
    struct cusparse_transpose *t = calloc(1, sizeof *t);
    if (!t)
        return weft__error(err, WEFT_ENOMEM, "out of host memory for a transposition");
    t->a = a;
    t->alg = algs[k];
    *state = t;
    weft_status status = transpose_init(t, ctx, times, err);
    if (status)
        weft__cusparse_transpose_finish(state);
    return status;
}

#ifdef WEFT_HAS_CUSPARSESCSR2CSC
static weft_status old_call(struct cusparse_transpose *t, struct weft_error *err)
{
    const int m = (int)t->a->m, n = (int)t->a->n, nnz = (int)t->a->nnz;
    if (t->type == CUDA_R_64F)
        return weft__cusparse_fail(cusparseDcsr2csc(t->cuda.handle, m, n, nnz, t->val, t->row_ptr, t->col, t->out_val,
                                                    t->out_row, t->out_ptr, t->action, CUSPARSE_INDEX_BASE_ZERO),
                                   "cusparseDcsr2csc", err);
    return weft__cusparse_fail(cusparseScsr2csc(t->cuda.handle, m, n, nnz, t->val, t->row_ptr, t->col, t->out_val,
                                                t->out_row, t->out_ptr, t->action, CUSPARSE_INDEX_BASE_ZERO),
                               "cusparseScsr2csc", err);
}
#endif

static weft_status transpose_call(struct cusparse_transpose *t, struct weft_error *err)
{
#ifdef WEFT_HAS_CUSPARSESCSR2CSC
    if (t->alg == OLD_CALL)
        return old_call(t, err);
#endif
    return weft__cusparse_fail(cusparseCsr2cscEx2(t->cuda.handle, (int)t->a->m, (int)t->a->n, (int)t->a->nnz, t->val,
                                                  t->row_ptr, t->col, t->out_val, t->out_ptr, t->out_row, t->type,
                                                  t->action, CUSPARSE_INDEX_BASE_ZERO, (cusparseCsr2CscAlg_t)t->alg,
                                                  t->buffer),
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

// The transpose in memory of malloc's, as a plain program has it.
static weft_status out_read(const struct cusparse_transpose *t, struct weft_csr *out, struct weft_error *err)
{
    double ms = 0;
    *out = (struct weft_csr){.m = t->a->n, .n = t->a->m, .nnz = t->a->nnz, .type = t->a->type, .ofs = t->a->ofs};
    out->row_ptr = malloc(t->ptr_bytes);
    out->col = malloc(weft__max(t->idx_bytes, 1));
    out->val = t->val_bytes ? malloc(t->val_bytes) : NULL;
    weft_status status = !out->row_ptr || !out->col || (t->val_bytes && !out->val)
                             ? weft__error(err, WEFT_ENOMEM, "out of host memory for the transpose")
                             : weft__cuda_read(out->row_ptr, t->out_ptr, t->ptr_bytes, &ms, err);
    if (!status)
        status = weft__cuda_read(out->col, t->out_row, t->idx_bytes, &ms, err);
    if (!status)
        status = weft__cuda_read(out->val, t->out_val, t->val_bytes, &ms, err);
    if (status)
        weft_csr_free(out);
    return status;
}

weft_status weft__cusparse_transpose_call(void *state, struct weft_csr *out, struct weft_error *err)
{
    struct cusparse_transpose t = *(struct cusparse_transpose *)state;
    struct cuda_session *s = &t.cuda;
    const struct weft_csr *a = t.a;
    const size_t a_ptr_bytes = ((size_t)a->m + 1) * sizeof(int);
    size_t bytes = 0;
    s->block_count = 0;
    weft_status status = weft__cuda_have(s, &t.row_ptr, a->row_ptr, a_ptr_bytes, "row pointers", err);
    if (!status)
        status = weft__cuda_have(s, &t.col, a->col, t.idx_bytes, "column indices", err);
    if (!status)
        status = weft__cuda_have(s, &t.val, a->val, weft__max(t.val_bytes, a->val ? 0 : t.idx_bytes), "values", err);
    if (!status)
        status = weft__cuda_have(s, &t.out_ptr, NULL, t.ptr_bytes, "column pointers", err);
    if (!status)
        status = weft__cuda_have(s, &t.out_row, NULL, t.idx_bytes, "row indices", err);
    t.out_val = t.val;
    if (!status && a->val)
        status = weft__cuda_have(s, &t.out_val, NULL, t.val_bytes, "values of the transpose", err);
    if (!status)
        status = buffer_size(&t, &bytes, err);
    if (!status)
        status = weft__cuda_have(s, &t.buffer, NULL, bytes, "cuSPARSE's buffer", err);
    if (!status)
        status = weft__cuda_settle(err);
    if (!status)
        status = weft__cusparse_transpose_plain(&t, 1, err);
    if (!status)
        status = out_read(&t, out, err);
    weft__cuda_drop(s);
    return status;
}

weft_status weft__cusparse_transpose_result(void *state, struct weft_csr *out, struct weft_backend_times *times,
                                            struct weft_error *err)
{
    struct cusparse_transpose *t = state;
    const struct weft_csr *a = t->a;
    weft_status status = weft_csr_alloc(out, weft_shape_transposed(weft_csr_shape(a)));
    if (status)
        return weft__error(err, status, "a copy of the transpose: %s", weft_status_text(status));
    status = weft__cuda_read(out->row_ptr, t->out_ptr, t->ptr_bytes, &times->read_ms, err);
    if (!status)
        status = weft__cuda_read(out->col, t->out_row, t->idx_bytes, &times->read_ms, err);
    if (!status)
        status = weft__cuda_read(out->val, t->out_val, t->val_bytes, &times->read_ms, err);
    if (status)
        weft_csr_free(out);
    return status;
}

void weft__cusparse_transpose_finish(void **state)
{
    if (!state || !*state)
        return;
    struct cusparse_transpose *t = *state;
    weft__cuda_close(&t->cuda);
    free(t);
    *state = NULL;
}
