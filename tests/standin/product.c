// SPDX-License-Identifier: Apache-2.0
// rocSPARSE's part of the stand-in: products, with sums in f64, row by row.
#include "sparse.h"

#include <stdlib.h>
#include <string.h>

// y[i] = alpha*sum + beta*y[i], and y is not read when beta is 0
static void store(void *y, int64_t i, int f64, double alpha, double sum, double beta)
{
    double value = alpha * sum + (beta != 0 ? beta * standin_load(y, i, f64) : 0);
    if (f64)
        ((double *)y)[i] = value;
    else
        ((float *)y)[i] = (float)value;
}

// x and y of a product as host memory.
static rocsparse_status vectors(const void **x, void **y, const void *x_device, rocsparse_int n, void *y_device,
                                rocsparse_int m, int f64)
{
    *x = standin_at(x_device, (size_t)n * standin_type_bytes(f64), "x");
    *y = standin_at(y_device, (size_t)m * standin_type_bytes(f64), "y");
    return *x && *y ? rocsparse_status_success : rocsparse_status_invalid_pointer;
}

// ---- products ----

static rocsparse_status csrmv_analysis(rocsparse_handle handle, int f64, rocsparse_int m, rocsparse_int n,
                                       rocsparse_int nnz, const rocsparse_mat_descr descr, const void *csr_val,
                                       const rocsparse_int *csr_row_ptr, const rocsparse_int *csr_col_ind,
                                       rocsparse_mat_info info)
{
    struct matrix a;
    ENTER(handle);
    if (!standin_is(descr, STANDIN_MAT_DESCR) || !standin_is(info, STANDIN_MAT_INFO))
        return rocsparse_status_invalid_pointer;
    rocsparse_status status = standin_matrix(&a, f64, m, n, nnz, csr_row_ptr, csr_col_ind, csr_val, 1);
    if (status == rocsparse_status_success)
        info->analysed = a;
    return status;
}

static void multiply(const struct matrix *a, double alpha, const void *x, double beta, void *y)
{
    for (rocsparse_int i = 0; i < a->m; i++) {
        double sum = 0;
        for (rocsparse_int p = a->ptr[i]; p < a->ptr[i + 1]; p++)
            sum += standin_load(a->val, p, a->f64) * standin_load(x, a->col[p], a->f64);
        store(y, i, a->f64, alpha, sum, beta);
    }
}

static rocsparse_status csrmv(rocsparse_handle handle, rocsparse_operation trans, int f64, rocsparse_int m,
                              rocsparse_int n, rocsparse_int nnz, double alpha, const rocsparse_mat_descr descr,
                              const void *csr_val, const rocsparse_int *csr_row_ptr, const rocsparse_int *csr_col_ind,
                              rocsparse_mat_info info, const void *x, double beta, void *y)
{
    struct matrix a;
    const void *from;
    void *to;
    ENTER(handle);
    if (!standin_is(descr, STANDIN_MAT_DESCR) || (info && !standin_is(info, STANDIN_MAT_INFO)))
        return rocsparse_status_invalid_pointer;
    if (trans != rocsparse_operation_none)
        return rocsparse_status_not_implemented;
    rocsparse_status status = standin_matrix(&a, f64, m, n, nnz, csr_row_ptr, csr_col_ind, csr_val, 1);
    if (status == rocsparse_status_success)
        status = vectors(&from, &to, x, n, y, m, f64);
    if (status != rocsparse_status_success)
        return status;
    if (info && (info->analysed.m != m || info->analysed.n != n || info->analysed.nnz != nnz ||
                 info->analysed.f64 != f64 || info->analysed.ptr != a.ptr || info->analysed.col != a.col))
        REFUSE(invalid_value, "csrmv of a matrix that was not analysed");
    multiply(&a, alpha, from, beta, to);
    return status;
}

static rocsparse_status ellmv(rocsparse_handle handle, rocsparse_operation trans, int f64, rocsparse_int m,
                              rocsparse_int n, double alpha, const rocsparse_mat_descr descr, const void *ell_val,
                              const rocsparse_int *ell_col_ind, rocsparse_int ell_width, const void *x, double beta,
                              void *y)
{
    const void *from;
    void *to;
    ENTER(handle);
    if (m < 0 || n < 0 || ell_width < 0)
        REFUSE(invalid_size, "ELL of %d x %d, %d wide", (int)m, (int)n, (int)ell_width);
    if (!standin_is(descr, STANDIN_MAT_DESCR))
        return rocsparse_status_invalid_pointer;
    if (trans != rocsparse_operation_none)
        return rocsparse_status_not_implemented;
    const size_t elements = (size_t)m * (size_t)ell_width;
    const rocsparse_int *col = standin_at(ell_col_ind, elements * sizeof *col, "ell_col_ind");
    const void *val = standin_at(ell_val, elements * standin_type_bytes(f64), "ell_val");
    rocsparse_status status = vectors(&from, &to, x, n, y, m, f64);
    if (!col || !val || status != rocsparse_status_success)
        return rocsparse_status_invalid_pointer;
    for (rocsparse_int i = 0; i < m; i++) {
        double sum = 0;
        for (rocsparse_int k = 0; k < ell_width; k++) {
            const int64_t at = (int64_t)k * m + i;
            if (col[at] < -1 || col[at] >= n)
                REFUSE(invalid_value, "ell_col_ind[%lld] is %d", (long long)at, (int)col[at]);
            sum += col[at] < 0 ? 0 : standin_load(val, at, f64) * standin_load(from, col[at], f64);
        }
        store(to, i, f64, alpha, sum, beta);
    }
    return status;
}

static rocsparse_status hybmv(rocsparse_handle handle, rocsparse_operation trans, int f64, double alpha,
                              const rocsparse_mat_descr descr, const rocsparse_hyb_mat hyb, const void *x, double beta,
                              void *y)
{
    const void *from;
    void *to;
    ENTER(handle);
    if (!standin_is(descr, STANDIN_MAT_DESCR) || !standin_is(hyb, STANDIN_HYB))
        return rocsparse_status_invalid_pointer;
    if (trans != rocsparse_operation_none)
        return rocsparse_status_not_implemented;
    if (!hyb->dense || hyb->f64 != f64)
        REFUSE(invalid_value, "hybmv without a conversion to its type");
    rocsparse_status status = vectors(&from, &to, x, hyb->n, y, hyb->m, f64);
    for (rocsparse_int i = 0; i < hyb->m && status == rocsparse_status_success; i++) {
        double sum = 0;
        for (rocsparse_int j = 0; j < hyb->n; j++)
            if (hyb->dense[(size_t)i * (size_t)hyb->n + (size_t)j] != 0)
                sum += hyb->dense[(size_t)i * (size_t)hyb->n + (size_t)j] * standin_load(from, j, f64);
        store(to, i, f64, alpha, sum, beta);
    }
    return status;
}

// ---- rocsparse_spmv, whatever the release calls it, and rocsparse_v2_spmv ----

enum stage { SIZE, ANALYSE, COMPUTE };

static int alg_fits(const struct _rocsparse_spmat_descr *mat, rocsparse_spmv_alg alg)
{
    const int coo = alg == rocsparse_spmv_alg_coo || alg == rocsparse_spmv_alg_coo_atomic;
    return alg == rocsparse_spmv_alg_default || coo == mat->coo;
}

static size_t spmv_bytes(const struct _rocsparse_spmat_descr *mat)
{
    return RELEASE < 20400 ? 4 : mat->coo ? 0 : 512;
}

// The matrix of a descriptor as CSR whose row pointers are in `ptr` (m+1) when it is COO.
static rocsparse_status spmv_matrix(struct matrix *out, const struct _rocsparse_spmat_descr *mat, rocsparse_int *ptr)
{
    const int f64 = mat->type == rocsparse_datatype_f64_r;
    if (!mat->coo)
        return standin_matrix(out, f64, mat->m, mat->n, mat->nnz, mat->row, mat->col, mat->val, 1);
    const rocsparse_int *row;
    *out = (struct matrix){.m = mat->m, .n = mat->n, .nnz = mat->nnz, .f64 = f64, .ptr = ptr};
    rocsparse_status status = standin_indices(&row, mat->row, mat->nnz, mat->m, "coo_row_ind");
    if (status == rocsparse_status_success)
        status = standin_indices(&out->col, mat->col, mat->nnz, mat->n, "coo_col_ind");
    out->val = standin_at(mat->val, (size_t)mat->nnz * standin_type_bytes(f64), "coo_val");
    if (status != rocsparse_status_success || !out->val)
        return rocsparse_status_invalid_pointer;
    for (rocsparse_int p = 0; p < mat->nnz; p++) {
        if (p && row[p] < row[p - 1])
            REFUSE(invalid_value, "coo_row_ind descends at %d", (int)p);
        ptr[row[p] + 1] = p + 1;
    }
    for (rocsparse_int i = 0; i < mat->m; i++)
        ptr[i + 1] = ptr[i + 1] > ptr[i] ? ptr[i + 1] : ptr[i];
    return status;
}

// What all stages want of their arguments.
static rocsparse_status operands(const struct _rocsparse_spmat_descr *mat, const struct _rocsparse_dnvec_descr *x,
                                 const struct _rocsparse_dnvec_descr *y, rocsparse_operation trans,
                                 rocsparse_datatype type, rocsparse_spmv_alg alg)
{
    if (!standin_is(mat, STANDIN_SPMAT) || !standin_is(x, STANDIN_DNVEC) || !standin_is(y, STANDIN_DNVEC))
        return rocsparse_status_invalid_pointer;
    if (trans != rocsparse_operation_none || type != mat->type || type != x->type || type != y->type)
        return rocsparse_status_not_implemented;
    if (!alg_fits(mat, alg))
        REFUSE(invalid_value, "algorithm %d is not for this format", (int)alg);
    if (x->size != mat->n || y->size != mat->m)
        REFUSE(invalid_size, "x has %lld elements, y %lld, the matrix is %d x %d", (long long)x->size,
               (long long)y->size, (int)mat->m, (int)mat->n);
    return rocsparse_status_success;
}

static rocsparse_status product(const void *alpha, const struct _rocsparse_spmat_descr *mat,
                                const struct _rocsparse_dnvec_descr *x, const void *beta,
                                const struct _rocsparse_dnvec_descr *y)
{
    struct matrix a;
    const void *from;
    void *to;
    const int f64 = mat->type == rocsparse_datatype_f64_r;
    rocsparse_int *ptr = calloc((size_t)mat->m + 1, sizeof *ptr);
    if (!ptr)
        return rocsparse_status_memory_error;
    rocsparse_status status = spmv_matrix(&a, mat, ptr);
    if (status == rocsparse_status_success)
        status = vectors(&from, &to, x->values, mat->n, y->values, mat->m, f64);
    if (status == rocsparse_status_success)
        multiply(&a, standin_load(alpha, 0, f64), from, standin_load(beta, 0, f64), to);
    free(ptr);
    return status;
}

static rocsparse_status spmv(rocsparse_handle handle, rocsparse_operation trans, const void *alpha,
                             const struct _rocsparse_spmat_descr *const_mat, const struct _rocsparse_dnvec_descr *x,
                             const void *beta, const struct _rocsparse_dnvec_descr *y, rocsparse_datatype type,
                             rocsparse_spmv_alg alg, enum stage stage, size_t *buffer_size, void *temp_buffer)
{
    ENTER(handle);
    rocsparse_status status = operands(const_mat, x, y, trans, type, alg);
    if (status != rocsparse_status_success)
        return status;
    struct _rocsparse_spmat_descr *mat = (struct _rocsparse_spmat_descr *)(uintptr_t)const_mat; // its stages are kept
    if (stage == SIZE) {
        *buffer_size = spmv_bytes(mat);
        mat->sized = 1;
        return rocsparse_status_success;
    }
    if (!mat->sized || (stage == COMPUTE && RELEASE >= 20400 && !mat->analysed))
        REFUSE(invalid_value, "a stage of spmv before the one that it needs");
    void *buffer = standin_at(temp_buffer, spmv_bytes(mat), "temp_buffer");
    if (!buffer)
        return rocsparse_status_invalid_pointer;
    memset(buffer, 0xee, spmv_bytes(mat));
    if (stage == ANALYSE) {
        mat->analysed = 1;
        return rocsparse_status_success;
    }
    return product(alpha, mat, x, beta, y);
}

#if RELEASE >= 20400
static enum stage stage_of(rocsparse_spmv_stage stage)
{
    return stage == rocsparse_spmv_stage_buffer_size  ? SIZE
           : stage == rocsparse_spmv_stage_preprocess ? ANALYSE
                                                      : COMPUTE;
}
#endif
#if RELEASE >= 30000
rocsparse_status rocsparse_spmv(rocsparse_handle handle, rocsparse_operation trans, const void *alpha,
                                rocsparse_const_spmat_descr mat, rocsparse_const_dnvec_descr x, const void *beta,
                                const rocsparse_dnvec_descr y, rocsparse_datatype compute_type, rocsparse_spmv_alg alg,
                                rocsparse_spmv_stage stage, size_t *buffer_size, void *temp_buffer)
{
    return spmv(handle, trans, alpha, mat, x, beta, y, compute_type, alg, stage_of(stage), buffer_size, temp_buffer);
}
#elif RELEASE >= 20400
rocsparse_status rocsparse_spmv_ex(rocsparse_handle handle, rocsparse_operation trans, const void *alpha,
                                   const rocsparse_spmat_descr mat, const rocsparse_dnvec_descr x, const void *beta,
                                   const rocsparse_dnvec_descr y, rocsparse_datatype compute_type,
                                   rocsparse_spmv_alg alg, rocsparse_spmv_stage stage, size_t *buffer_size,
                                   void *temp_buffer)
{
    return spmv(handle, trans, alpha, mat, x, beta, y, compute_type, alg, stage_of(stage), buffer_size, temp_buffer);
}
#else
rocsparse_status rocsparse_spmv(rocsparse_handle handle, rocsparse_operation trans, const void *alpha,
                                const rocsparse_spmat_descr mat, const rocsparse_dnvec_descr x, const void *beta,
                                const rocsparse_dnvec_descr y, rocsparse_datatype compute_type, rocsparse_spmv_alg alg,
                                size_t *buffer_size, void *temp_buffer)
{
    return spmv(handle, trans, alpha, mat, x, beta, y, compute_type, alg, temp_buffer ? COMPUTE : SIZE, buffer_size,
                temp_buffer);
}
#endif

#if RELEASE >= 40100
rocsparse_status rocsparse_spmv_set_input(rocsparse_handle handle, rocsparse_spmv_descr descr,
                                          rocsparse_spmv_input input, const void *in, size_t size_in_bytes,
                                          rocsparse_error *error)
{
    (void)error;
    ENTER(handle);
    if (!standin_is(descr, STANDIN_SPMV) || !in)
        return rocsparse_status_invalid_pointer;
    const struct {
        void *place;
        size_t bytes;
    } inputs[] = {[rocsparse_spmv_input_alg] = {&descr->alg, sizeof descr->alg},
                  [rocsparse_spmv_input_operation] = {&descr->operation, sizeof descr->operation},
                  [rocsparse_spmv_input_scalar_datatype] = {&descr->scalar, sizeof descr->scalar},
                  [rocsparse_spmv_input_compute_datatype] = {&descr->compute, sizeof descr->compute}};
    if ((size_t)input >= sizeof inputs / sizeof *inputs || size_in_bytes != inputs[input].bytes)
        REFUSE(invalid_size, "input %d of %zu bytes", (int)input, size_in_bytes);
    if (descr->analysed)
        REFUSE(invalid_value, "an input after the analysis");
    memcpy(inputs[input].place, in, size_in_bytes);
    descr->given |= 1u << input;
    return rocsparse_status_success;
}

// Each stage has a workspace of its own, and each format one stage without.
static size_t v2_bytes(const struct _rocsparse_spmat_descr *mat, rocsparse_v2_spmv_stage stage)
{
    const int analysis = stage == rocsparse_v2_spmv_stage_analysis;
    return analysis == mat->coo ? 0 : analysis ? 512 : 64;
}

static rocsparse_status v2_operands(rocsparse_spmv_descr descr, rocsparse_const_spmat_descr mat,
                                    rocsparse_const_dnvec_descr x, rocsparse_const_dnvec_descr y,
                                    rocsparse_v2_spmv_stage stage)
{
    if (!standin_is(descr, STANDIN_SPMV))
        return rocsparse_status_invalid_pointer;
    if (descr->given != 15u)
        REFUSE(invalid_value, "inputs %x of a product are not all", descr->given);
    if (stage == rocsparse_v2_spmv_stage_compute && descr->analysed != mat)
        REFUSE(invalid_value, "a product of a matrix that was not analysed");
    if (descr->scalar != descr->compute)
        return rocsparse_status_not_implemented;
    return operands(mat, x, y, descr->operation, descr->compute, descr->alg);
}

rocsparse_status rocsparse_v2_spmv_buffer_size(rocsparse_handle handle, rocsparse_spmv_descr descr,
                                               rocsparse_const_spmat_descr mat, rocsparse_const_dnvec_descr x,
                                               rocsparse_const_dnvec_descr y, rocsparse_v2_spmv_stage stage,
                                               size_t *buffer_size_in_bytes, rocsparse_error *error)
{
    (void)error;
    ENTER(handle);
    rocsparse_status status = v2_operands(descr, mat, x, y, stage);
    if (status == rocsparse_status_success)
        *buffer_size_in_bytes = v2_bytes(mat, stage);
    return status;
}

rocsparse_status rocsparse_v2_spmv(rocsparse_handle handle, rocsparse_spmv_descr descr, const void *alpha,
                                   rocsparse_const_spmat_descr mat, rocsparse_const_dnvec_descr x, const void *beta,
                                   rocsparse_dnvec_descr y, rocsparse_v2_spmv_stage stage, size_t buffer_size_in_bytes,
                                   void *buffer, rocsparse_error *error)
{
    (void)error;
    ENTER(handle);
    rocsparse_status status = v2_operands(descr, mat, x, y, stage);
    if (status != rocsparse_status_success)
        return status;
    if (buffer_size_in_bytes < v2_bytes(mat, stage) || (buffer_size_in_bytes == 0) != (buffer == NULL))
        REFUSE(invalid_value, "a workspace of %zu bytes, %s", buffer_size_in_bytes, buffer ? "with memory" : "none");
    void *at = buffer ? standin_at(buffer, buffer_size_in_bytes, "buffer") : NULL;
    if (buffer && !at)
        return rocsparse_status_invalid_pointer;
    if (at)
        memset(at, 0xee, buffer_size_in_bytes);
    if (stage == rocsparse_v2_spmv_stage_analysis) {
        descr->analysed = mat;
        return rocsparse_status_success;
    }
    return product(alpha, mat, x, beta, y);
}
#endif

// ---- routines for f32 and f64 ----

#define TYPED(p, T, f64)                                                                                               \
    rocsparse_status rocsparse_##p##csrmv_analysis(                                                                    \
        rocsparse_handle handle, rocsparse_operation trans, rocsparse_int m, rocsparse_int n, rocsparse_int nnz,       \
        const rocsparse_mat_descr descr, const T *csr_val, const rocsparse_int *csr_row_ptr,                           \
        const rocsparse_int *csr_col_ind, rocsparse_mat_info info)                                                     \
    {                                                                                                                  \
        if (trans != rocsparse_operation_none)                                                                         \
            return rocsparse_status_not_implemented;                                                                   \
        return csrmv_analysis(handle, f64, m, n, nnz, descr, csr_val, csr_row_ptr, csr_col_ind, info);                 \
    }                                                                                                                  \
    rocsparse_status rocsparse_##p##csrmv(                                                                             \
        rocsparse_handle handle, rocsparse_operation trans, rocsparse_int m, rocsparse_int n, rocsparse_int nnz,       \
        const T *alpha, const rocsparse_mat_descr descr, const T *csr_val, const rocsparse_int *csr_row_ptr,           \
        const rocsparse_int *csr_col_ind, rocsparse_mat_info info, const T *x, const T *beta, T *y)                    \
    {                                                                                                                  \
        return csrmv(handle, trans, f64, m, n, nnz, (double)*alpha, descr, csr_val, csr_row_ptr, csr_col_ind, info, x, \
                     (double)*beta, y);                                                                                \
    }                                                                                                                  \
    rocsparse_status rocsparse_##p##ellmv(rocsparse_handle handle, rocsparse_operation trans, rocsparse_int m,         \
                                          rocsparse_int n, const T *alpha, const rocsparse_mat_descr descr,            \
                                          const T *ell_val, const rocsparse_int *ell_col_ind, rocsparse_int ell_width, \
                                          const T *x, const T *beta, T *y)                                             \
    {                                                                                                                  \
        return ellmv(handle, trans, f64, m, n, (double)*alpha, descr, ell_val, ell_col_ind, ell_width, x,              \
                     (double)*beta, y);                                                                                \
    }                                                                                                                  \
    rocsparse_status rocsparse_##p##hybmv(rocsparse_handle handle, rocsparse_operation trans, const T *alpha,          \
                                          const rocsparse_mat_descr descr, const rocsparse_hyb_mat hyb, const T *x,    \
                                          const T *beta, T *y)                                                         \
    {                                                                                                                  \
        return hybmv(handle, trans, f64, (double)*alpha, descr, hyb, x, (double)*beta, y);                             \
    }
TYPED(s, float, 0)
TYPED(d, double, 1)
