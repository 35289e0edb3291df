// SPDX-License-Identifier: Apache-2.0
// cuSPARSE's part of the stand-in: conversions and products in double precision on the host.
#include "cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cusparseContext {
    struct standin_object object;
    cudaStream_t stream;
    int has_stream;
    int64_t csc_shape[3]; // that cusparseCsr2cscEx2_bufferSize was asked for
};
struct cusparseSpMatDescr {
    struct standin_object object;
    cusparseFormat_t format;
    cudaDataType type;
    int64_t rows, cols, nnz; // of bsr: of blocks
    int64_t stored, edge;
    int wide; // 64-bit offsets
    const void *ptr, *idx, *val;
    int asked;            // algorithm + 1 of cusparseSpMV_bufferSize
    const void *analysed; // buffer of cusparseSpMV_preprocess
};
struct cusparseDnVecDescr {
    struct standin_object object;
    int64_t size;
    void *values;
    cudaDataType type;
};

static size_t value_bytes(cudaDataType type)
{
    return type == CUDA_R_64F ? 8 : 4;
}

static size_t buffer_bytes(int64_t m, int64_t n, int64_t nnz)
{
    return (size_t)(1000 + m + 2 * n + 4 * nnz);
}

// Nonzero, and a complaint: not what the documentation wants.
static int broken(int bad, const char *what)
{
    if (bad)
        standin_complain("%s", what);
    return bad;
}

#define ENTER()                                                                                                        \
    if (standin_enter())                                                                                               \
    return CUSPARSE_STATUS_EXECUTION_FAILED
#define DEMAND(condition)                                                                                              \
    if (broken(!(condition), #condition))                                                                              \
    return CUSPARSE_STATUS_INVALID_VALUE

// ---- the library -----------------------------------------------------------------------------------------------

cusparseStatus_t cusparseGetProperty(libraryPropertyType type, int *value)
{
    *value = type == MAJOR_VERSION ? 99 : type == MINOR_VERSION ? 8 : 7;
    return CUSPARSE_STATUS_SUCCESS;
}

const char *cusparseGetErrorString(cusparseStatus_t status)
{
    return status == CUSPARSE_STATUS_EXECUTION_FAILED ? "the kernel failed" : "something else failed";
}

cusparseStatus_t cusparseCreate(cusparseHandle_t *handle)
{
    ENTER();
    *handle = standin_create(STANDIN_HANDLE, sizeof **handle);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseDestroy(cusparseHandle_t handle)
{
    standin_destroy(handle, STANDIN_HANDLE);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream)
{
    ENTER();
    DEMAND(standin_is(handle, STANDIN_HANDLE) && standin_is(stream, STANDIN_STREAM));
    handle->stream = stream;
    handle->has_stream = 1;
    return CUSPARSE_STATUS_SUCCESS;
}

// ---- conversions -----------------------------------------------------------------------------------------------

static void csr2csc_run(const struct standin_work *w)
{
    if (w->out[3]) // the older calls have their own
        memset(w->out[3], 0xee, buffer_bytes(w->n[0], w->n[1], w->n[2]));
    standin_csr2csc(w, value_bytes((cudaDataType)w->type));
}

#ifdef WEFT_HAS_CUSPARSE_CSR2CSC_ALG2
// Algorithm 2 leaves the order within a column open: here it is that of the rows from the last to the first.
static void csr2csc_open(const struct standin_work *w)
{
    const int *ptr = w->out[0];
    const size_t size = value_bytes((cudaDataType)w->type);
    csr2csc_run(w);
    for (int64_t j = 0; j < w->n[1]; j++)
        for (int low = ptr[j], high = ptr[j + 1] - 1; low < high; low++, high--) {
            int *row = w->out[1], r = row[low];
            char *val = w->out[2], v[8];
            row[low] = row[high];
            row[high] = r;
            if (val) {
                memcpy(v, val + (size_t)low * size, size);
                memcpy(val + (size_t)low * size, val + (size_t)high * size, size);
                memcpy(val + (size_t)high * size, v, size);
            }
        }
}
#endif

static int csc_arguments(cusparseHandle_t handle, int m, int n, int nnz, cudaDataType type, cusparseIndexBase_t base,
                         cusparseCsr2CscAlg_t alg)
{
    return standin_is(handle, STANDIN_HANDLE) && m >= 0 && n >= 0 && nnz >= 0 && base == CUSPARSE_INDEX_BASE_ZERO &&
           (type == CUDA_R_32F || type == CUDA_R_64F) &&
#ifdef WEFT_HAS_CUSPARSE_CSR2CSC_ALG2
           (alg == CUSPARSE_CSR2CSC_ALG1 || alg == CUSPARSE_CSR2CSC_ALG2);
#else
           alg == CUSPARSE_CSR2CSC_ALG1;
#endif
}

cusparseStatus_t cusparseCsr2cscEx2_bufferSize(cusparseHandle_t handle, int m, int n, int nnz, const void *val,
                                               const int *row_ptr, const int *col, void *csc_val, int *col_ptr,
                                               int *row, cudaDataType type, cusparseAction_t action,
                                               cusparseIndexBase_t base, cusparseCsr2CscAlg_t alg, size_t *bytes)
{
    (void)val, (void)row_ptr, (void)col, (void)csc_val, (void)col_ptr, (void)row, (void)action;
    ENTER();
    DEMAND(csc_arguments(handle, m, n, nnz, type, base, alg));
    handle->csc_shape[0] = m;
    handle->csc_shape[1] = n;
    handle->csc_shape[2] = nnz;
    *bytes = buffer_bytes(m, n, nnz);
    return CUSPARSE_STATUS_SUCCESS;
}

// What both generations of the call have in common; `buffer` may be NULL.
static cusparseStatus_t csr2csc(cusparseHandle_t handle, int m, int n, int nnz, const void *val, const int *row_ptr,
                                const int *col, void *csc_val, int *col_ptr, int *row, cudaDataType type,
                                cusparseAction_t action, cusparseCsr2CscAlg_t alg, void *buffer)
{
    if (!m || !n)
        return CUSPARSE_STATUS_SUCCESS; // as documented, without a look at the pointers
    const size_t entries = (size_t)nnz;
    struct standin_work w = {.run = csr2csc_run, .n = {m, n, nnz}, .type = (int)type, .out[3] = buffer};
    DEMAND(w.in[0] = standin_at(row_ptr, ((size_t)m + 1) * 4, "row pointers"));
    DEMAND(w.in[1] = standin_at(col, entries * 4, "column indices"));
    DEMAND(w.in[2] = standin_at(val, entries * value_bytes(type), "values"));
    DEMAND(w.out[0] = standin_at(col_ptr, ((size_t)n + 1) * 4, "column pointers"));
    DEMAND(w.out[1] = standin_at(row, entries * 4, "row indices"));
    void *values = standin_at(csc_val, entries * value_bytes(type), "values");
    DEMAND(values && (action == CUSPARSE_ACTION_SYMBOLIC || values != w.in[2]));
    if (action == CUSPARSE_ACTION_NUMERIC)
        w.out[2] = values;
#ifdef WEFT_HAS_CUSPARSE_CSR2CSC_ALG2
    if (alg == CUSPARSE_CSR2CSC_ALG2)
        w.run = csr2csc_open;
#else
    (void)alg;
#endif
    DEMAND(((const int *)w.in[0])[m] == nnz);
    standin_enqueue(handle->stream, &w);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseCsr2cscEx2(cusparseHandle_t handle, int m, int n, int nnz, const void *val, const int *row_ptr,
                                    const int *col, void *csc_val, int *col_ptr, int *row, cudaDataType type,
                                    cusparseAction_t action, cusparseIndexBase_t base, cusparseCsr2CscAlg_t alg,
                                    void *buffer)
{
    ENTER();
    DEMAND(csc_arguments(handle, m, n, nnz, type, base, alg) && handle->has_stream);
    DEMAND(handle->csc_shape[0] == m && handle->csc_shape[1] == n && handle->csc_shape[2] == nnz);
    void *room = m && n ? standin_at(buffer, buffer_bytes(m, n, nnz), "buffer") : NULL;
    DEMAND(room || !m || !n);
    return csr2csc(handle, m, n, nnz, val, row_ptr, col, csc_val, col_ptr, row, type, action, alg, room);
}

#ifdef WEFT_HAS_CUSPARSESCSR2CSC
STANDIN_CSR2CSC(S, float)
{
    ENTER();
    DEMAND(csc_arguments(handle, m, n, nnz, CUDA_R_32F, base, CUSPARSE_CSR2CSC_ALG1) && handle->has_stream);
    return csr2csc(handle, m, n, nnz, val, row_ptr, col, csc_val, col_ptr, row, CUDA_R_32F, action,
                   CUSPARSE_CSR2CSC_ALG1, NULL);
}
STANDIN_CSR2CSC(D, double)
{
    ENTER();
    DEMAND(csc_arguments(handle, m, n, nnz, CUDA_R_64F, base, CUSPARSE_CSR2CSC_ALG1) && handle->has_stream);
    return csr2csc(handle, m, n, nnz, val, row_ptr, col, csc_val, col_ptr, row, CUDA_R_64F, action,
                   CUSPARSE_CSR2CSC_ALG1, NULL);
}
#endif

static void csr2coo_run(const struct standin_work *w)
{
    const int *row_ptr = w->in[0];
    int *row = w->out[0];
    for (int64_t i = 0; i < w->n[0]; i++)
        for (int p = row_ptr[i]; p < row_ptr[i + 1]; p++)
            row[p] = (int)i;
}

cusparseStatus_t cusparseXcsr2coo(cusparseHandle_t handle, const int *row_ptr, int nnz, int m, int *row,
                                  cusparseIndexBase_t base)
{
    ENTER();
    DEMAND(standin_is(handle, STANDIN_HANDLE) && handle->has_stream && base == CUSPARSE_INDEX_BASE_ZERO);
    struct standin_work w = {.run = csr2coo_run, .n = {m}};
    DEMAND(w.in[0] = standin_at(row_ptr, ((size_t)m + 1) * 4, "row pointers"));
    DEMAND(w.out[0] = standin_at(row, (size_t)nnz * 4, "row indices"));
    DEMAND(((const int *)w.in[0])[m] == nnz);
    standin_enqueue(handle->stream, &w);
    return CUSPARSE_STATUS_SUCCESS;
}

// ---- descriptors -----------------------------------------------------------------------------------------------

// Checks the arrays of *a, whose members are all set, and hands a live copy of it out.
static cusparseStatus_t matrix_create(cusparseSpMatDescr_t *out, const struct cusparseSpMatDescr *a, size_t ptr_count,
                                      size_t idx_count, size_t val_count)
{
    ENTER();
    DEMAND(a->rows > 0 && a->cols > 0 && a->nnz >= 0 && (a->type == CUDA_R_32F || a->type == CUDA_R_64F));
    DEMAND(standin_at(a->ptr, ptr_count * (a->wide ? 8 : 4), "offsets or row indices"));
    DEMAND(standin_at(a->idx, idx_count * 4, "column indices"));
    DEMAND(standin_at(a->val, val_count * value_bytes(a->type), "values"));
    *out = standin_create(STANDIN_MATRIX, sizeof **out);
    struct standin_object object = (*out)->object;
    **out = *a;
    (*out)->object = object;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t *out, int64_t rows, int64_t cols, int64_t nnz, void *ptr,
                                   void *idx, void *val, cusparseIndexType_t ptr_type, cusparseIndexType_t idx_type,
                                   cusparseIndexBase_t base, cudaDataType type)
{
    DEMAND(idx_type == CUSPARSE_INDEX_32I && base == CUSPARSE_INDEX_BASE_ZERO);
    DEMAND(nnz <= rows * cols);
    struct cusparseSpMatDescr a = {.format = CUSPARSE_FORMAT_CSR, .type = type, .rows = rows, .cols = cols, .nnz = nnz};
    a.wide = ptr_type == CUSPARSE_INDEX_64I;
    a.ptr = ptr;
    a.idx = idx;
    a.val = val;
    const void *last = standin_at((char *)ptr + (size_t)rows * (a.wide ? 8 : 4), a.wide ? 8 : 4, "the last offset");
    DEMAND(last && (a.wide ? *(const int64_t *)last : *(const int32_t *)last) == nnz);
    return matrix_create(out, &a, (size_t)rows + 1, (size_t)nnz, (size_t)nnz);
}

cusparseStatus_t cusparseCreateCoo(cusparseSpMatDescr_t *out, int64_t rows, int64_t cols, int64_t nnz, void *row,
                                   void *idx, void *val, cusparseIndexType_t idx_type, cusparseIndexBase_t base,
                                   cudaDataType type)
{
    DEMAND(idx_type == CUSPARSE_INDEX_32I && base == CUSPARSE_INDEX_BASE_ZERO);
    DEMAND(nnz <= rows * cols);
    struct cusparseSpMatDescr a = {.format = CUSPARSE_FORMAT_COO, .type = type, .rows = rows, .cols = cols, .nnz = nnz};
    a.ptr = row;
    a.idx = idx;
    a.val = val;
    return matrix_create(out, &a, (size_t)nnz, (size_t)nnz, (size_t)nnz);
}

cusparseStatus_t cusparseCreateSlicedEll(cusparseSpMatDescr_t *out, int64_t rows, int64_t cols, int64_t nnz,
                                         int64_t stored, int64_t slice, void *ptr, void *idx, void *val,
                                         cusparseIndexType_t ptr_type, cusparseIndexType_t idx_type,
                                         cusparseIndexBase_t base, cudaDataType type)
{
    DEMAND(ptr_type == CUSPARSE_INDEX_32I && idx_type == CUSPARSE_INDEX_32I && base == CUSPARSE_INDEX_BASE_ZERO);
    DEMAND(slice > 0 && stored >= nnz);
    struct cusparseSpMatDescr a = {
        .format = CUSPARSE_FORMAT_SLICED_ELLPACK, .type = type, .rows = rows, .cols = cols, .nnz = nnz};
    a.stored = stored;
    a.edge = slice;
    a.ptr = ptr;
    a.idx = idx;
    a.val = val;
    return matrix_create(out, &a, (size_t)((rows + slice - 1) / slice) + 1, (size_t)stored, (size_t)stored);
}

cusparseStatus_t cusparseCreateBsr(cusparseSpMatDescr_t *out, int64_t rows, int64_t cols, int64_t blocks,
                                   int64_t row_edge, int64_t col_edge, void *ptr, void *idx, void *val,
                                   cusparseIndexType_t ptr_type, cusparseIndexType_t idx_type, cusparseIndexBase_t base,
                                   cudaDataType type, cusparseOrder_t order)
{
    DEMAND(ptr_type == CUSPARSE_INDEX_32I && idx_type == CUSPARSE_INDEX_32I && base == CUSPARSE_INDEX_BASE_ZERO);
    DEMAND(row_edge > 1 && row_edge == col_edge && order == CUSPARSE_ORDER_ROW);
    struct cusparseSpMatDescr a = {
        .format = CUSPARSE_FORMAT_BSR, .type = type, .rows = rows, .cols = cols, .nnz = blocks, .edge = row_edge};
    a.ptr = ptr;
    a.idx = idx;
    a.val = val;
    return matrix_create(out, &a, (size_t)rows + 1, (size_t)blocks, (size_t)(blocks * row_edge * row_edge));
}

cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t matrix)
{
    standin_destroy(matrix, STANDIN_MATRIX);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t *out, int64_t size, void *values, cudaDataType type)
{
    ENTER();
    DEMAND(size > 0 && standin_at(values, (size_t)size * value_bytes(type), "a vector"));
    *out = standin_create(STANDIN_VECTOR, sizeof **out);
    (*out)->size = size;
    (*out)->values = values;
    (*out)->type = type;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t vector)
{
    standin_destroy(vector, STANDIN_VECTOR);
    return CUSPARSE_STATUS_SUCCESS;
}

// ---- products --------------------------------------------------------------------------------------------------

static double value_get(const void *from, int64_t i, int type)
{
    return type == CUDA_R_64F ? ((const double *)from)[i] : (double)((const float *)from)[i];
}

struct sums {
    const struct standin_work *w;
    const int *idx;
    double *sum;
};

static void entry_add(const struct sums *s, int64_t row, int64_t col, int64_t at)
{
    const struct standin_work *w = s->w;
    if (broken(col < 0 || col >= w->n[1], "column indices lie in the matrix"))
        return;
    s->sum[row] += value_get(w->in[2], at, w->type) * value_get(w->in[3], col, w->type);
}

static void rows_add(const struct sums *s, const struct cusparseSpMatDescr *a)
{
    const void *ptr = s->w->in[0];
    const int64_t edge = a->format == CUSPARSE_FORMAT_BSR ? a->edge : 1;
    for (int64_t i = 0; i < a->rows; i++) {
        int64_t first = a->wide ? ((const int64_t *)ptr)[i] : ((const int32_t *)ptr)[i];
        int64_t last = a->wide ? ((const int64_t *)ptr)[i + 1] : ((const int32_t *)ptr)[i + 1];
        for (int64_t p = first; p < last; p++) {
            broken(edge > 1 && p > first && s->idx[p] <= s->idx[p - 1], "blocks of a row ascend");
            for (int64_t k = 0; k < edge * edge; k++)
                entry_add(s, i * edge + k / edge, s->idx[p] * edge + k % edge, p * edge * edge + k);
        }
    }
}

static void spmv_run(const struct standin_work *w)
{
    const struct cusparseSpMatDescr *a = w->in[4];
    double *sum = calloc((size_t)w->n[0], sizeof *sum);
    const struct sums s = {w, w->in[1], sum};
    const int32_t *ptr = w->in[0];
    if (!sum)
        abort();
    if (a->format == CUSPARSE_FORMAT_COO)
        for (int64_t p = 0; p < a->nnz; p++)
            entry_add(&s, ptr[p], s.idx[p], p);
    else if (a->format == CUSPARSE_FORMAT_SLICED_ELLPACK) {
        int64_t real = 0;
        for (int64_t slice = 0; slice * a->edge < a->rows; slice++)
            for (int64_t p = ptr[slice]; p < ptr[slice + 1]; p++) {
                int64_t row = slice * a->edge + (p - ptr[slice]) % a->edge;
                real += s.idx[p] >= 0;
                if (s.idx[p] >= 0 && row < a->rows)
                    entry_add(&s, row, s.idx[p], p);
            }
        broken(real != a->nnz, "what pads sliced ELL has column -1");
    } else
        rows_add(&s, a);
    for (int64_t i = 0; i < w->n[0]; i++) {
        double y = w->scalar[0] * sum[i];
        if (w->scalar[1] != 0)
            y += w->scalar[1] * value_get(w->out[0], i, w->type);
        if (w->type == CUDA_R_64F)
            ((double *)w->out[0])[i] = y;
        else
            ((float *)w->out[0])[i] = (float)y;
    }
    free(sum);
    standin_count_sparse();
}

// Everything that the three calls check; fills *w.
static cusparseStatus_t spmv_check(struct standin_work *w, cusparseHandle_t handle, cusparseOperation_t op,
                                   const void *alpha, cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x,
                                   const void *beta, cusparseDnVecDescr_t y, cudaDataType type, cusparseSpMVAlg_t alg)
{
    static const struct {
        cusparseFormat_t format;
        cusparseSpMVAlg_t algs[2];
    } known[] = {{CUSPARSE_FORMAT_CSR, {CUSPARSE_SPMV_CSR_ALG1, CUSPARSE_SPMV_CSR_ALG2}},
                 {CUSPARSE_FORMAT_COO, {CUSPARSE_SPMV_COO_ALG1, CUSPARSE_SPMV_COO_ALG2}},
                 {CUSPARSE_FORMAT_SLICED_ELLPACK, {CUSPARSE_SPMV_SELL_ALG1, CUSPARSE_SPMV_SELL_ALG1}},
                 {CUSPARSE_FORMAT_BSR, {CUSPARSE_SPMV_BSR_ALG1, CUSPARSE_SPMV_BSR_ALG1}}};
    ENTER();
    DEMAND(standin_is(handle, STANDIN_HANDLE) && handle->has_stream && op == CUSPARSE_OPERATION_NON_TRANSPOSE);
    DEMAND(standin_is(a, STANDIN_MATRIX) && standin_is(x, STANDIN_VECTOR) && standin_is(y, STANDIN_VECTOR));
    DEMAND(a->type == type && x->type == type && y->type == type);
    const int64_t edge = a->format == CUSPARSE_FORMAT_BSR ? a->edge : 1;
    DEMAND(x->size == a->cols * edge && y->size == a->rows * edge);
    int fits = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        fits |= known[i].format == a->format && (known[i].algs[0] == alg || known[i].algs[1] == alg);
    DEMAND(fits);
    const size_t size = value_bytes(type);
    *w = (struct standin_work){.run = spmv_run, .n = {y->size, x->size}, .type = (int)type, .alg = (int)alg};
    w->scalar[0] = value_get(alpha, 0, (int)type);
    w->scalar[1] = value_get(beta, 0, (int)type);
    DEMAND(w->in[0] = standin_at(a->ptr, 4, "offsets"));
    DEMAND(w->in[1] = standin_at(a->idx, 4, "column indices"));
    DEMAND(w->in[2] = standin_at(a->val, size, "values"));
    DEMAND(w->in[3] = standin_at(x->values, (size_t)x->size * size, "x"));
    DEMAND(w->out[0] = standin_at(y->values, (size_t)y->size * size, "y"));
    w->in[4] = a;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t handle, cusparseOperation_t op, const void *alpha,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, const void *beta,
                                         cusparseDnVecDescr_t y, cudaDataType type, cusparseSpMVAlg_t alg,
                                         size_t *bytes)
{
    struct standin_work w;
    cusparseStatus_t status = spmv_check(&w, handle, op, alpha, a, x, beta, y, type, alg);
    if (status == CUSPARSE_STATUS_SUCCESS) {
        ((cusparseSpMatDescr_t)(uintptr_t)a)->asked = (int)alg + 1;
        *bytes = a->format == CUSPARSE_FORMAT_SLICED_ELLPACK ? 0 : buffer_bytes(a->rows, a->cols, a->nnz);
    }
    return status;
}

static cusparseStatus_t buffer_check(cusparseConstSpMatDescr_t a, cusparseSpMVAlg_t alg, void *buffer)
{
    DEMAND(a->asked == (int)alg + 1);
    DEMAND(a->format == CUSPARSE_FORMAT_SLICED_ELLPACK ||
           standin_at(buffer, buffer_bytes(a->rows, a->cols, a->nnz), "buffer"));
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMV_preprocess(cusparseHandle_t handle, cusparseOperation_t op, const void *alpha,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, const void *beta,
                                         cusparseDnVecDescr_t y, cudaDataType type, cusparseSpMVAlg_t alg, void *buffer)
{
    struct standin_work w;
    cusparseStatus_t status = spmv_check(&w, handle, op, alpha, a, x, beta, y, type, alg);
    if (status == CUSPARSE_STATUS_SUCCESS)
        status = buffer_check(a, alg, buffer);
    if (status == CUSPARSE_STATUS_SUCCESS)
        ((cusparseSpMatDescr_t)(uintptr_t)a)->analysed = buffer;
    return status;
}

cusparseStatus_t cusparseSpMV(cusparseHandle_t handle, cusparseOperation_t op, const void *alpha,
                              cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, const void *beta,
                              cusparseDnVecDescr_t y, cudaDataType type, cusparseSpMVAlg_t alg, void *buffer)
{
    struct standin_work w;
    cusparseStatus_t status = spmv_check(&w, handle, op, alpha, a, x, beta, y, type, alg);
    if (status == CUSPARSE_STATUS_SUCCESS)
        status = buffer_check(a, alg, buffer);
    if (status != CUSPARSE_STATUS_SUCCESS)
        return status;
    DEMAND(!a->analysed || a->analysed == buffer);
    standin_enqueue(handle->stream, &w);
    return status;
}
