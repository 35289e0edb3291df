// SPDX-License-Identifier: Apache-2.0
// Products by cusparseSpMV in each of its formats, and by cusparseSpMVOp.
#include "backends/algo.h"
#include "host/common/clock.h"
#include "backends/trace.h"
#include "host/internal/inside.h"
#include "cusparse_backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum format { FORMAT_CSR, FORMAT_COO, FORMAT_SELL, FORMAT_BSR, FORMAT_OP };

// What every version has, and what the headers of this one say that it has: name, format, algorithm.
#ifdef WEFT_HAS_CUSPARSE_SPMV_SELL_ALG1
#define SELL_ALGOS(X) X("sell", FORMAT_SELL, CUSPARSE_SPMV_SELL_ALG1)
#else
#define SELL_ALGOS(X)
#endif
#ifdef WEFT_HAS_CUSPARSE_SPMV_BSR_ALG1
#define BSR_ALGOS(X) X("bsr", FORMAT_BSR, CUSPARSE_SPMV_BSR_ALG1)
#else
#define BSR_ALGOS(X)
#endif
#ifdef WEFT_HAS_CUSPARSE_SPMVOP_ALG1
#define OP_ALGOS(X) X("op_alg1", FORMAT_OP, CUSPARSE_SPMVOP_ALG1) X("op_alg2", FORMAT_OP, CUSPARSE_SPMVOP_ALG2)
#define OP_ALG(alg) , (cusparseSpMVOpAlg_t)(alg)
#elif defined(WEFT_HAS_CUSPARSESPMVOP_BUFFERSIZE)
#define OP_ALGOS(X) X("op", FORMAT_OP, 0)
#define OP_ALG(alg)
#else
#define OP_ALGOS(X)
#endif
#define ALGOS(X)                                                                                                       \
    X("csr_alg1", FORMAT_CSR, CUSPARSE_SPMV_CSR_ALG1)                                                                  \
    X("csr_alg2", FORMAT_CSR, CUSPARSE_SPMV_CSR_ALG2)                                                                  \
    X("coo_alg1", FORMAT_COO, CUSPARSE_SPMV_COO_ALG1)                                                                  \
    X("coo_alg2", FORMAT_COO, CUSPARSE_SPMV_COO_ALG2)                                                                  \
    SELL_ALGOS(X)                                                                                                      \
    BSR_ALGOS(X)                                                                                                       \
    OP_ALGOS(X)

#define NAME_OF(name, format, alg)  name,
#define ENTRY_OF(name, format, alg) {format, (int)(alg)},
const char *const weft__cusparse_spmv_algos[] = {ALGOS(NAME_OF) NULL};
static const struct {
    enum format format;
    int alg; // cusparseSpMVAlg_t, or cusparseSpMVOpAlg_t
} algos[] = {ALGOS(ENTRY_OF)};

union scalar {
    float f32;
    double f64;
};

struct cusparse_spmv {
    struct cuda_session cuda;
    cusparseHandle_t handle;
    const struct weft_csr *a;
    const void *host_x; // borrowed
    enum format format;
    int alg;
    cudaDataType type;
    union scalar alpha, beta;
    int keeps_y; // beta != 0
    size_t y_bytes;
    void *ptr, *row, *col, *val, *x, *y, *y0, *buffer;
    cusparseSpMatDescr_t matrix;
    cusparseDnVecDescr_t vec_x, vec_y;
#ifdef OP_ALG
    cusparseSpMVOpDescr_t op;
    cusparseSpMVOpPlan_t plan;
#endif
};

// ---- the matrix, on the device and described -------------------------------------------------------------------

// An analysis or conversion has ended, which began at `start`.
static void step_end(double *ms, double start)
{
    double end = clock_ms();
    *ms = end - start;
    weft__trace_command(WEFT_TRACE_ANALYSE, "analysis", -1, start, end, 0);
}

// Take device memory for one array of the matrix and write it there.
static weft_status array_write(struct cusparse_spmv *s, void **out, const void *from, size_t bytes, const char *what,
                               struct weft_backend_times *times, struct weft_error *err)
{
    weft_status status = weft__cuda_take(&s->cuda, out, bytes, what, err);
    return status ? status : weft__cuda_write(*out, from, bytes, &times->write_ms, err);
}

static weft_status csr_describe(struct cusparse_spmv *s, struct weft_error *err)
{
    const struct weft_csr *a = s->a;
    return weft__cusparse_fail(cusparseCreateCsr(&s->matrix, a->m, a->n, a->nnz, s->ptr, s->col, s->val,
                                                 a->ofs == WEFT_OFS_64 ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I,
                                                 CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, s->type),
                               "cusparseCreateCsr", err);
}

static weft_status csr_make(struct cusparse_spmv *s, struct weft_backend_times *times, struct weft_error *err)
{
    const struct weft_csr *a = s->a;
    const size_t ptr_bytes = ((size_t)a->m + 1) * weft_ofs_bytes(a->ofs), idx_bytes = (size_t)a->nnz * sizeof *a->col,
                 val_bytes = (size_t)a->nnz * weft_type_bytes(a->type);
    weft_status status = array_write(s, &s->ptr, a->row_ptr, ptr_bytes, "row pointers", times, err);
    if (!status)
        status = array_write(s, &s->col, a->col, idx_bytes, "column indices", times, err);
    if (!status)
        status = array_write(s, &s->val, a->val, val_bytes, "values", times, err);
    times->format_bytes = (int64_t)(ptr_bytes + idx_bytes + val_bytes);
    return status || s->format == FORMAT_COO ? status : csr_describe(s, err);
}

static weft_status coo_make(struct cusparse_spmv *s, struct weft_backend_times *times, struct weft_error *err)
{
    const struct weft_csr *a = s->a;
    const size_t idx_bytes = (size_t)a->nnz * sizeof *a->col;
    if (a->ofs != WEFT_OFS_32)
        return weft__error(err, WEFT_EUNSUPPORTED, "cusparseXcsr2coo has no 64-bit offsets");
    weft_status status = csr_make(s, times, err);
    if (!status)
        status = weft__cuda_take(&s->cuda, &s->row, idx_bytes, "row indices", err);
    double start = clock_ms();
    if (!status)
        status = weft__cusparse_fail(
            cusparseXcsr2coo(s->handle, s->ptr, (int)a->nnz, (int)a->m, s->row, CUSPARSE_INDEX_BASE_ZERO),
            "cusparseXcsr2coo", err);
    if (!status)
        status = weft__cuda_fail(cudaStreamSynchronize(s->cuda.stream), "cusparseXcsr2coo", err);
    step_end(&times->convert_ms, start);
    times->format_bytes = (int64_t)(2 * idx_bytes + (size_t)a->nnz * weft_type_bytes(a->type));
    if (!status)
        status = weft__cusparse_fail(cusparseCreateCoo(&s->matrix, a->m, a->n, a->nnz, s->row, s->col, s->val,
                                                       CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, s->type),
                                     "cusparseCreateCoo", err);
    return status;
}

static weft_status form_write(struct cusparse_spmv *s, const struct cusparse_form *form,
                              struct weft_backend_times *times, struct weft_error *err)
{
    weft_status status = array_write(s, &s->ptr, form->ptr, form->ptr_bytes, "offsets", times, err);
    if (!status)
        status = array_write(s, &s->col, form->col, form->idx_bytes, "column indices", times, err);
    if (!status)
        status = array_write(s, &s->val, form->val, form->val_bytes, "values", times, err);
    times->format_bytes = (int64_t)(form->ptr_bytes + form->idx_bytes + form->val_bytes);
    return status;
}

static weft_status sell_make(struct cusparse_spmv *s, struct weft_backend_times *times, struct weft_error *err)
{
#ifdef WEFT_HAS_CUSPARSE_SPMV_SELL_ALG1
    const struct weft_csr *a = s->a;
    struct cusparse_form form;
    double start = clock_ms();
    weft_status status = weft__cusparse_sell(&form, a, err);
    step_end(&times->convert_ms, start);
    if (!status)
        status = form_write(s, &form, times, err);
    if (!status)
        status = weft__cusparse_fail(cusparseCreateSlicedEll(&s->matrix, a->m, a->n, a->nnz, form.entries, form.edge,
                                                             s->ptr, s->col, s->val, CUSPARSE_INDEX_32I,
                                                             CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, s->type),
                                     "cusparseCreateSlicedEll", err);
    snprintf(times->chosen, sizeof times->chosen, "slices of %d rows", form.edge);
    weft__cusparse_form_free(&form);
    return status;
#else
    (void)s;
    (void)times;
    return weft__error(err, WEFT_EUNSUPPORTED, "this cuSPARSE has no sliced ELL");
#endif
}

// *rows and *cols get the lengths of y and x, which are whole blocks.
static weft_status bsr_make(struct cusparse_spmv *s, int64_t *rows, int64_t *cols, struct weft_backend_times *times,
                            struct weft_error *err)
{
#ifdef WEFT_HAS_CUSPARSE_SPMV_BSR_ALG1
    const struct weft_csr *a = s->a;
    struct cusparse_form form;
    double start = clock_ms();
    weft_status status = weft__cusparse_blocks(&form, a, err);
    step_end(&times->convert_ms, start);
    if (!status)
        status = form_write(s, &form, times, err);
    const int64_t bands = form.bands, edge = form.edge, blocks = form.entries;
    weft__cusparse_form_free(&form);
    if (status)
        return status;
    const int64_t block_cols = (a->n + edge - 1) / edge;
    *rows = bands * edge;
    *cols = block_cols * edge;
    snprintf(times->chosen, sizeof times->chosen, "blocks of %d x %d, %.0f %% full", (int)edge, (int)edge,
             100.0 * (double)a->nnz / (double)(blocks * edge * edge));
    return weft__cusparse_fail(cusparseCreateBsr(&s->matrix, bands, block_cols, blocks, edge, edge, s->ptr, s->col,
                                                 s->val, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                                 CUSPARSE_INDEX_BASE_ZERO, s->type, CUSPARSE_ORDER_ROW),
                               "cusparseCreateBsr", err);
#else
    (void)s;
    (void)rows;
    (void)cols;
    (void)times;
    return weft__error(err, WEFT_EUNSUPPORTED, "this cuSPARSE has no SpMV of blocks");
#endif
}

// ---- the product -----------------------------------------------------------------------------------------------

static weft_status buffer_size(const struct cusparse_spmv *s, size_t *bytes, struct weft_error *err)
{
    return weft__cusparse_fail(cusparseSpMV_bufferSize(s->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &s->alpha,
                                                       s->matrix, s->vec_x, &s->beta, s->vec_y, s->type,
                                                       (cusparseSpMVAlg_t)s->alg, bytes),
                               "cusparseSpMV_bufferSize", err);
}

// Buffer and analysis of cusparseSpMV.
static weft_status spmv_analyse(struct cusparse_spmv *s, struct weft_backend_times *times, struct weft_error *err)
{
    size_t bytes = 0;
    weft_status status = buffer_size(s, &bytes, err);
    if (!status)
        status = weft__cuda_take(&s->cuda, &s->buffer, bytes, "cuSPARSE's buffer", err);
    times->workspace_bytes = (int64_t)bytes;
#ifdef WEFT_HAS_CUSPARSESPMV_PREPROCESS
    const cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
    const cusparseSpMVAlg_t alg = (cusparseSpMVAlg_t)s->alg;
    cusparseHandle_t handle = s->handle;
    if (status || s->format != FORMAT_CSR)
        return status;
    double start = clock_ms();
    status = weft__cusparse_fail(cusparseSpMV_preprocess(handle, plain, &s->alpha, s->matrix, s->vec_x, &s->beta,
                                                         s->vec_y, s->type, alg, s->buffer),
                                 "cusparseSpMV_preprocess", err);
    if (!status)
        status = weft__cuda_fail(cudaStreamSynchronize(s->cuda.stream), "cusparseSpMV_preprocess", err);
    step_end(&times->analyse_ms, start);
#endif
    return status;
}

#ifdef OP_ALG
static weft_status op_analyse(struct cusparse_spmv *s, struct weft_backend_times *times, struct weft_error *err)
{
    const cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
    cusparseHandle_t handle = s->handle;
    size_t bytes = 0;
    weft_status status = weft__cusparse_fail(cusparseSpMVOp_bufferSize(handle, plain, s->matrix, s->vec_x, s->vec_y,
                                                                       s->vec_y, s->type OP_ALG(s->alg), &bytes),
                                             "cusparseSpMVOp_bufferSize", err);
    if (!status)
        status = weft__cuda_take(&s->cuda, &s->buffer, bytes, "cuSPARSE's buffer", err);
    times->workspace_bytes = (int64_t)bytes;
    double start = clock_ms();
    if (!status)
        status = weft__cusparse_fail(cusparseSpMVOp_createDescr(handle, &s->op, plain, s->matrix, s->vec_x, s->vec_y,
                                                                s->vec_y, s->type OP_ALG(s->alg), s->buffer),
                                     "cusparseSpMVOp_createDescr", err);
    if (!status)
        status = weft__cusparse_fail(cusparseSpMVOp_createPlan(handle, s->op, &s->plan, NULL, 0),
                                     "cusparseSpMVOp_createPlan", err);
    if (!status)
        status = weft__cuda_fail(cudaStreamSynchronize(s->cuda.stream), "cusparseSpMVOp_createPlan", err);
    step_end(&times->analyse_ms, start);
    return status;
}
#endif

static weft_status spmv_init(struct cusparse_spmv *s, struct weft_context *ctx, const struct weft_backend_spmv_job *job,
                             struct weft_backend_times *times, struct weft_error *err)
{
    const struct weft_csr *a = s->a;
    const size_t size = weft_type_bytes(a->type), x_bytes = (size_t)a->n * size;
    int64_t rows = a->m, cols = a->n;
    weft_status status = weft__cusparse_open(&s->cuda, &s->handle, ctx, err);
    if (!status)
        status = s->format == FORMAT_COO    ? coo_make(s, times, err)
                 : s->format == FORMAT_SELL ? sell_make(s, times, err)
                 : s->format == FORMAT_BSR  ? bsr_make(s, &rows, &cols, times, err)
                                            : csr_make(s, times, err);
    if (!status)
        status = weft__cuda_take(&s->cuda, &s->x, (size_t)cols * size, "x", err);
    if (!status) // a block may reach beyond the last column
        status = weft__cuda_fail(cudaMemsetAsync(s->x, 0, (size_t)cols * size, s->cuda.stream), "x", err);
    if (!status)
        status = weft__cuda_fail(cudaStreamSynchronize(s->cuda.stream), "x", err);
    if (!status)
        status = weft__cuda_write(s->x, job->x, x_bytes, &times->write_ms, err);
    if (!status)
        status = weft__cuda_take(&s->cuda, &s->y, (size_t)rows * size, "y", err);
    if (!status && s->keeps_y)
        status = array_write(s, &s->y0, job->y, s->y_bytes, "a copy of y", times, err);
    if (!status)
        status = weft__cusparse_fail(cusparseCreateDnVec(&s->vec_x, cols, s->x, s->type), "cusparseCreateDnVec", err);
    if (!status)
        status = weft__cusparse_fail(cusparseCreateDnVec(&s->vec_y, rows, s->y, s->type), "cusparseCreateDnVec", err);
#ifdef OP_ALG
    if (!status && s->format == FORMAT_OP)
        return op_analyse(s, times, err);
#endif
    return status ? status : spmv_analyse(s, times, err);
}

weft_status weft__cusparse_spmv_prepare(void **state, struct weft_context *ctx, const struct weft_backend_spmv_job *job,
                                        const char *algo, struct weft_backend_times *times, struct weft_error *err)
{
    *state = NULL;
    const struct weft_csr *a = job->a;
    const int k = weft__algo_find(weft__cusparse_spmv_algos, algo, job->tune, "backend cusparse has no SpMV", err);
    if (k < 0)
        return WEFT_EINVAL;
    if (a->type != WEFT_TYPE_F32 && a->type != WEFT_TYPE_F64)
        return weft__error(err, WEFT_EUNSUPPORTED, "cuSPARSE has no SpMV of %s", weft_type_name(a->type));
    if (!a->m || !a->n || !a->nnz)
        return weft__error(err, WEFT_EUNSUPPORTED, "cuSPARSE is given no matrix without entries");
    const int described = algos[k].format != FORMAT_SELL && algos[k].format != FORMAT_BSR; // its entries as they are
    if (described && a->nnz > a->m * a->n)
        return weft__error(err, WEFT_EUNSUPPORTED, "cuSPARSE describes no matrix with more entries than m*n");
    struct cusparse_spmv *s = calloc(1, sizeof *s);
    if (!s)
        return weft__error(err, WEFT_ENOMEM, "out of host memory for SpMV");
    s->a = a;
    s->host_x = job->x;
    s->format = algos[k].format;
    s->alg = algos[k].alg;
    s->keeps_y = job->beta != 0;
    s->y_bytes = (size_t)a->m * weft_type_bytes(a->type);
    if (a->type == WEFT_TYPE_F64) {
        s->type = CUDA_R_64F;
        s->alpha.f64 = job->alpha;
        s->beta.f64 = job->beta;
    } else {
        s->type = CUDA_R_32F;
        s->alpha.f32 = (float)job->alpha;
        s->beta.f32 = (float)job->beta;
    }
    *state = s;
    weft_status status = spmv_init(s, ctx, job, times, err);
    if (status)
        weft__cusparse_spmv_finish(state);
    return status;
}

static weft_status spmv_call(struct cusparse_spmv *s, struct weft_error *err)
{
#ifdef OP_ALG
    if (s->format == FORMAT_OP)
        return weft__cusparse_fail(
            cusparseSpMVOp(s->handle, s->plan, &s->alpha, &s->beta, s->vec_x, s->vec_y, s->vec_y), "cusparseSpMVOp",
            err);
#endif
    return weft__cusparse_fail(cusparseSpMV(s->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &s->alpha, s->matrix, s->vec_x,
                                            &s->beta, s->vec_y, s->type, (cusparseSpMVAlg_t)s->alg, s->buffer),
                               "cusparseSpMV", err);
}

weft_status weft__cusparse_spmv_plain(void *state, int runs, struct weft_error *err)
{
    struct cusparse_spmv *s = state;
    weft_status status = WEFT_OK;
    for (int i = 0; i < runs && !status; i++)
        status = spmv_call(s, err);
    return status ? status : weft__cuda_fail(cudaStreamSynchronize(s->cuda.stream), "cudaStreamSynchronize", err);
}

static void descriptors_destroy(const struct cusparse_spmv *s)
{
    if (s->matrix)
        cusparseDestroySpMat(s->matrix);
    if (s->vec_x)
        cusparseDestroyDnVec(s->vec_x);
    if (s->vec_y)
        cusparseDestroyDnVec(s->vec_y);
}

// Arrays, descriptors and the buffer of a call, in a session of its own; no preprocessing for one product.
static weft_status call_make(struct cusparse_spmv *s, struct weft_error *err)
{
    const struct weft_csr *a = s->a;
    const size_t size = weft_type_bytes(a->type);
    size_t bytes = 0;
    weft_status status = weft__cuda_have(&s->cuda, &s->ptr, a->row_ptr, ((size_t)a->m + 1) * weft_ofs_bytes(a->ofs),
                                         "row pointers", err);
    if (!status)
        status = weft__cuda_have(&s->cuda, &s->col, a->col, (size_t)a->nnz * sizeof *a->col, "column indices", err);
    if (!status)
        status = weft__cuda_have(&s->cuda, &s->val, a->val, (size_t)a->nnz * size, "values", err);
    if (!status)
        status = weft__cuda_have(&s->cuda, &s->x, s->host_x, (size_t)a->n * size, "x", err);
    if (!status)
        status = weft__cuda_have(&s->cuda, &s->y, NULL, s->y_bytes, "y", err);
    if (!status)
        status = csr_describe(s, err);
    if (!status)
        status = weft__cusparse_fail(cusparseCreateDnVec(&s->vec_x, a->n, s->x, s->type), "cusparseCreateDnVec", err);
    if (!status)
        status = weft__cusparse_fail(cusparseCreateDnVec(&s->vec_y, a->m, s->y, s->type), "cusparseCreateDnVec", err);
    if (!status)
        status = buffer_size(s, &bytes, err);
    if (!status)
        status = weft__cuda_have(&s->cuda, &s->buffer, NULL, bytes, "cuSPARSE's buffer", err);
    return status ? status : weft__cuda_settle(err);
}

weft_status weft__cusparse_spmv_call(void *state, void *y, struct weft_error *err)
{
    struct cusparse_spmv s = *(struct cusparse_spmv *)state;
    double ms = 0;
    if (s.format != FORMAT_CSR || s.keeps_y)
        return WEFT_EUNSUPPORTED;
    s.cuda.block_count = 0;
    s.matrix = NULL;
    s.vec_x = s.vec_y = NULL;
    weft_status status = call_make(&s, err);
    if (!status)
        status = weft__cusparse_spmv_plain(&s, 1, err);
    if (!status)
        status = weft__cuda_read(y, s.y, s.y_bytes, &ms, err);
    descriptors_destroy(&s);
    weft__cuda_drop(&s.cuda);
    return status;
}

weft_status weft__cusparse_spmv_run(void *state, double *ms, struct weft_error *err)
{
    struct cusparse_spmv *s = state;
    weft_status status = WEFT_OK;
    if (s->keeps_y)
        status = weft__cuda_fail(cudaMemcpyAsync(s->y, s->y0, s->y_bytes, cudaMemcpyDeviceToDevice, s->cuda.stream),
                                 "reset y", err);
    if (status)
        return status;
    status = weft__cuda_begin(&s->cuda, err);
    if (!status)
        status = spmv_call(s, err);
    return weft__cuda_end(&s->cuda, status, ms, err);
}

weft_status weft__cusparse_spmv_poison(void *state, struct weft_error *err)
{
    struct cusparse_spmv *s = state;
    return weft__cuda_poison(&s->cuda, s->y, s->y_bytes, err);
}

weft_status weft__cusparse_spmv_result(void *state, void *y, struct weft_backend_times *times, struct weft_error *err)
{
    struct cusparse_spmv *s = state;
    return weft__cuda_read(y, s->y, s->y_bytes, &times->read_ms, err);
}

void weft__cusparse_spmv_finish(void **state)
{
    if (!state || !*state)
        return;
    struct cusparse_spmv *s = *state;
    if (s->cuda.stream)
        cudaStreamSynchronize(s->cuda.stream);
#ifdef OP_ALG
    if (s->plan)
        cusparseSpMVOp_destroyPlan(s->plan);
    if (s->op)
        cusparseSpMVOp_destroyDescr(s->op);
#endif
    descriptors_destroy(s);
    weft__cusparse_close(&s->cuda, s->handle);
    free(s);
    *state = NULL;
}
