// SPDX-License-Identifier: Apache-2.0
// rocSPARSE's part of the stand-in: handles and descriptors, conversions. Formats and sizes are as documented.
#include "sparse.h"

#include <stdlib.h>
#include <string.h>

// ---- what every call checks ----

rocsparse_status standin_enter_sparse(rocsparse_handle handle)
{
    if (standin_enter())
        return rocsparse_status_internal_error;
    if (!standin_is(handle, STANDIN_HANDLE))
        return rocsparse_status_invalid_handle;
    standin_count_sparse(handle->stream);
    return rocsparse_status_success;
}

rocsparse_status standin_pointers(const rocsparse_int **out, const rocsparse_int *row_ptr, rocsparse_int m,
                                  rocsparse_int nnz)
{
    if (m < 0 || nnz < 0)
        REFUSE(invalid_size, "m is %d, nnz is %d", (int)m, (int)nnz);
    const rocsparse_int *ptr = *out = standin_at(row_ptr, ((size_t)m + 1) * sizeof *ptr, "row_ptr");
    if (!ptr)
        return rocsparse_status_invalid_pointer;
    for (rocsparse_int i = 0; i < m; i++)
        if (ptr[i] > ptr[i + 1])
            REFUSE(invalid_size, "row_ptr[%d] is beyond the next", (int)i);
    if (ptr[0] != 0 || ptr[m] != nnz)
        REFUSE(invalid_size, "nnz is %d, row_ptr goes from %d to %d", (int)nnz, (int)ptr[0], (int)ptr[m]);
    return rocsparse_status_success;
}

rocsparse_status standin_indices(const rocsparse_int **out, const rocsparse_int *col, rocsparse_int nnz,
                                 rocsparse_int limit, const char *what)
{
    const rocsparse_int *index = *out = standin_at(col, (size_t)nnz * sizeof *col, what);
    if (!index)
        return rocsparse_status_invalid_pointer;
    for (rocsparse_int p = 0; p < nnz; p++)
        if (index[p] < 0 || index[p] >= limit)
            REFUSE(invalid_size, "%s[%d] is %d, outside of 0 .. %d", what, (int)p, (int)index[p], (int)limit - 1);
    return rocsparse_status_success;
}

rocsparse_status standin_matrix(struct matrix *out, int f64, rocsparse_int m, rocsparse_int n, rocsparse_int nnz,
                                const rocsparse_int *row_ptr, const rocsparse_int *col, const void *val, int values)
{
    *out = (struct matrix){.m = m, .n = n, .nnz = nnz, .f64 = f64};
    rocsparse_status status = standin_pointers(&out->ptr, row_ptr, m, nnz);
    if (status == rocsparse_status_success)
        status = standin_indices(&out->col, col, nnz, n, "col");
    if (status == rocsparse_status_success && values) {
        out->val = standin_at(val, (size_t)nnz * standin_type_bytes(f64), "val");
        status = out->val ? status : rocsparse_status_invalid_pointer;
    }
    return status;
}

// ---- objects ----

// A function that creates an object of its kind, and one that destroys it.
#define OBJECT(name, KIND, type)                                                                                       \
    rocsparse_status rocsparse_create_##name(rocsparse_##type *out)                                                    \
    {                                                                                                                  \
        if (standin_enter())                                                                                           \
            return rocsparse_status_memory_error;                                                                      \
        *out = standin_create(STANDIN_##KIND, sizeof **out);                                                           \
        return rocsparse_status_success;                                                                               \
    }                                                                                                                  \
    DESTROY(name, KIND, type)
#define DESTROY(name, KIND, type)                                                                                      \
    rocsparse_status rocsparse_destroy_##name(rocsparse_##type object)                                                 \
    {                                                                                                                  \
        return standin_destroy(object, STANDIN_##KIND) ? rocsparse_status_success : rocsparse_status_invalid_pointer;  \
    }
OBJECT(handle, HANDLE, handle)
OBJECT(mat_descr, MAT_DESCR, mat_descr)
OBJECT(mat_info, MAT_INFO, mat_info)
#if RELEASE >= 30000
DESTROY(spmat_descr, SPMAT, const_spmat_descr)
DESTROY(dnvec_descr, DNVEC, const_dnvec_descr)
#else
DESTROY(spmat_descr, SPMAT, spmat_descr)
DESTROY(dnvec_descr, DNVEC, dnvec_descr)
#endif
#if RELEASE >= 40100
OBJECT(spmv_descr, SPMV, spmv_descr)
#endif

rocsparse_status rocsparse_create_hyb_mat(rocsparse_hyb_mat *hyb)
{
    if (standin_enter())
        return rocsparse_status_memory_error;
    *hyb = standin_create(STANDIN_HYB, sizeof **hyb);
    return rocsparse_status_success;
}

rocsparse_status rocsparse_destroy_hyb_mat(rocsparse_hyb_mat hyb)
{
    if (!standin_is(hyb, STANDIN_HYB))
        return rocsparse_status_invalid_pointer;
    free(hyb->dense);
    hyb->dense = NULL;
    standin_destroy(hyb, STANDIN_HYB);
    return rocsparse_status_success;
}

rocsparse_status rocsparse_set_stream(rocsparse_handle handle, hipStream_t stream)
{
    ENTER(handle);
    if (!standin_is(stream, STANDIN_STREAM))
        return rocsparse_status_invalid_value;
    handle->stream = stream;
    return rocsparse_status_success;
}

rocsparse_status rocsparse_get_version(rocsparse_handle handle, int *version)
{
    ENTER(handle);
    *version = ROCSPARSE_VERSION_MAJOR * 100000 + ROCSPARSE_VERSION_MINOR * 100 + ROCSPARSE_VERSION_PATCH;
    return rocsparse_status_success;
}

static rocsparse_status spmat_create(rocsparse_spmat_descr *descr, int coo, int64_t rows, int64_t cols, int64_t nnz,
                                     void *row, void *col, void *val, rocsparse_datatype type)
{
    if (standin_enter())
        return rocsparse_status_memory_error;
    if (rows < 0 || cols < 0 || nnz < 0 || nnz > rows * cols || rows > INT32_MAX || cols > INT32_MAX)
        REFUSE(invalid_size, "a descriptor of %lld x %lld with %lld entries", (long long)rows, (long long)cols,
               (long long)nnz);
    if (!row || !col || !val)
        REFUSE(invalid_pointer, "a descriptor without arrays");
    struct _rocsparse_spmat_descr *mat = standin_create(STANDIN_SPMAT, sizeof *mat);
    mat->coo = coo;
    mat->m = (rocsparse_int)rows;
    mat->n = (rocsparse_int)cols;
    mat->nnz = (rocsparse_int)nnz;
    mat->row = row;
    mat->col = col;
    mat->val = val;
    mat->type = type;
    *descr = mat;
    return rocsparse_status_success;
}

rocsparse_status rocsparse_create_coo_descr(rocsparse_spmat_descr *descr, int64_t rows, int64_t cols, int64_t nnz,
                                            void *coo_row_ind, void *coo_col_ind, void *coo_val,
                                            rocsparse_indextype idx_type, rocsparse_index_base idx_base,
                                            rocsparse_datatype data_type)
{
    if (idx_type != rocsparse_indextype_i32 || idx_base != rocsparse_index_base_zero)
        return rocsparse_status_not_implemented;
    return spmat_create(descr, 1, rows, cols, nnz, coo_row_ind, coo_col_ind, coo_val, data_type);
}

rocsparse_status rocsparse_create_csr_descr(rocsparse_spmat_descr *descr, int64_t rows, int64_t cols, int64_t nnz,
                                            void *csr_row_ptr, void *csr_col_ind, void *csr_val,
                                            rocsparse_indextype row_ptr_type, rocsparse_indextype col_ind_type,
                                            rocsparse_index_base idx_base, rocsparse_datatype data_type)
{
    if (row_ptr_type != rocsparse_indextype_i32 || col_ind_type != rocsparse_indextype_i32 ||
        idx_base != rocsparse_index_base_zero)
        return rocsparse_status_not_implemented;
    return spmat_create(descr, 0, rows, cols, nnz, csr_row_ptr, csr_col_ind, csr_val, data_type);
}

rocsparse_status rocsparse_create_dnvec_descr(rocsparse_dnvec_descr *descr, int64_t size, void *values,
                                              rocsparse_datatype data_type)
{
    if (standin_enter())
        return rocsparse_status_memory_error;
    if (size < 0 || !values)
        REFUSE(invalid_pointer, "a vector of %lld elements without values", (long long)size);
    struct _rocsparse_dnvec_descr *vec = standin_create(STANDIN_DNVEC, sizeof *vec);
    vec->size = size;
    vec->values = values;
    vec->type = data_type;
    *descr = vec;
    return rocsparse_status_success;
}

// ---- conversions ----

rocsparse_status rocsparse_csr2coo(rocsparse_handle handle, const rocsparse_int *csr_row_ptr, rocsparse_int nnz,
                                   rocsparse_int m, rocsparse_int *coo_row_ind, rocsparse_index_base idx_base)
{
    const rocsparse_int *ptr;
    ENTER(handle);
    rocsparse_status status = standin_pointers(&ptr, csr_row_ptr, m, nnz);
    rocsparse_int *row = standin_at(coo_row_ind, (size_t)(nnz < 0 ? 0 : nnz) * sizeof *row, "coo_row_ind");
    if (status != rocsparse_status_success)
        return status;
    if (!row || idx_base != rocsparse_index_base_zero)
        return rocsparse_status_invalid_pointer;
    for (rocsparse_int i = 0; i < m; i++)
        for (rocsparse_int p = ptr[i]; p < ptr[i + 1]; p++)
            row[p] = i;
    return status;
}

static size_t csr2csc_bytes(rocsparse_int m, rocsparse_int n, rocsparse_int nnz)
{
    return m && n && nnz ? 3 * (((size_t)nnz * sizeof(rocsparse_int) + 255) & ~(size_t)255) + 1024 : 4;
}

rocsparse_status rocsparse_csr2csc_buffer_size(rocsparse_handle handle, rocsparse_int m, rocsparse_int n,
                                               rocsparse_int nnz, const rocsparse_int *csr_row_ptr,
                                               const rocsparse_int *csr_col_ind, rocsparse_action copy_values,
                                               size_t *buffer_size)
{
    struct matrix a;
    (void)copy_values;
    ENTER(handle);
    rocsparse_status status = standin_matrix(&a, 0, m, n, nnz, csr_row_ptr, csr_col_ind, NULL, 0);
    *buffer_size = csr2csc_bytes(m, n, nnz);
    return status;
}

static rocsparse_status csr2csc(rocsparse_handle handle, int f64, rocsparse_int m, rocsparse_int n, rocsparse_int nnz,
                                const void *csr_val, const rocsparse_int *csr_row_ptr, const rocsparse_int *csr_col_ind,
                                void *csc_val, rocsparse_int *csc_row_ind, rocsparse_int *csc_col_ptr,
                                rocsparse_action copy_values, rocsparse_index_base idx_base, void *temp_buffer)
{
    struct matrix a;
    const int values = copy_values == rocsparse_action_numeric;
    const size_t bytes = standin_type_bytes(f64);
    ENTER(handle);
    rocsparse_status status = standin_matrix(&a, f64, m, n, nnz, csr_row_ptr, csr_col_ind, csr_val, values);
    if (status != rocsparse_status_success)
        return status;
    if (idx_base != rocsparse_index_base_zero)
        return rocsparse_status_invalid_value;
    void *buffer = standin_at(temp_buffer, csr2csc_bytes(m, n, nnz), "temp_buffer");
    rocsparse_int *ptr = standin_at(csc_col_ptr, ((size_t)n + 1) * sizeof *ptr, "csc_col_ptr");
    rocsparse_int *row = standin_at(csc_row_ind, (size_t)nnz * sizeof *row, "csc_row_ind");
    void *val = values ? standin_at(csc_val, (size_t)nnz * bytes, "csc_val") : NULL;
    if (!buffer || !ptr || !row || (values && !val))
        return rocsparse_status_invalid_pointer;
    memset(buffer, 0xee, csr2csc_bytes(m, n, nnz));
    if (!m || !n) // as releases before 3.0 do
        return status;
    memset(ptr, 0, ((size_t)n + 1) * sizeof *ptr);
    for (rocsparse_int p = 0; p < nnz; p++)
        ptr[a.col[p] + 1]++;
    for (rocsparse_int j = 0; j < n; j++)
        ptr[j + 1] += ptr[j];
    for (rocsparse_int i = 0; i < m; i++)
        for (rocsparse_int p = a.ptr[i]; p < a.ptr[i + 1]; p++) {
            size_t at = (size_t)ptr[a.col[p]]++;
            row[at] = i;
            if (values)
                memcpy((char *)val + at * bytes, (const char *)a.val + (size_t)p * bytes, bytes);
        }
    memmove(ptr + 1, ptr, (size_t)n * sizeof *ptr);
    ptr[0] = 0;
    return status;
}

static rocsparse_int longest_row(const rocsparse_int *ptr, rocsparse_int m)
{
    rocsparse_int longest = 0;
    for (rocsparse_int i = 0; i < m; i++)
        longest = ptr[i + 1] - ptr[i] > longest ? ptr[i + 1] - ptr[i] : longest;
    return longest;
}

rocsparse_status rocsparse_csr2ell_width(rocsparse_handle handle, rocsparse_int m, const rocsparse_mat_descr csr_descr,
                                         const rocsparse_int *csr_row_ptr, const rocsparse_mat_descr ell_descr,
                                         rocsparse_int *ell_width)
{
    ENTER(handle);
    const rocsparse_int *ptr = m < 0 ? NULL : standin_at(csr_row_ptr, ((size_t)m + 1) * sizeof *ptr, "row_ptr");
    if (!ptr || !standin_is(csr_descr, STANDIN_MAT_DESCR) || !standin_is(ell_descr, STANDIN_MAT_DESCR))
        return rocsparse_status_invalid_pointer;
    standin_later(ell_width, longest_row(ptr, m));
    return rocsparse_status_success;
}

static rocsparse_status csr2ell(rocsparse_handle handle, int f64, rocsparse_int m, const rocsparse_mat_descr csr_descr,
                                const void *csr_val, const rocsparse_int *csr_row_ptr, const rocsparse_int *csr_col_ind,
                                const rocsparse_mat_descr ell_descr, rocsparse_int ell_width, void *ell_val,
                                rocsparse_int *ell_col_ind)
{
    ENTER(handle);
    if (m < 0 || ell_width < 0)
        REFUSE(invalid_size, "ELL of %d rows, %d wide", (int)m, (int)ell_width);
    if (!standin_is(csr_descr, STANDIN_MAT_DESCR) || !standin_is(ell_descr, STANDIN_MAT_DESCR))
        return rocsparse_status_invalid_pointer;
    const size_t elements = (size_t)m * (size_t)ell_width, bytes = standin_type_bytes(f64);
    const rocsparse_int *ptr = standin_at(csr_row_ptr, ((size_t)m + 1) * sizeof *ptr, "row_ptr");
    rocsparse_int *col = standin_at(ell_col_ind, elements * sizeof *col, "ell_col_ind");
    char *val = standin_at(ell_val, elements * bytes, "ell_val");
    if (!ptr || !col || !val)
        return rocsparse_status_invalid_pointer;
    if (longest_row(ptr, m) != ell_width)
        REFUSE(invalid_size, "ELL is %d wide, the longest row has %d entries", (int)ell_width,
               (int)longest_row(ptr, m));
    const rocsparse_int *from = standin_at(csr_col_ind, (size_t)ptr[m] * sizeof *from, "col");
    const char *from_val = standin_at(csr_val, (size_t)ptr[m] * bytes, "val");
    if (!from || !from_val)
        return rocsparse_status_invalid_pointer;
    for (rocsparse_int i = 0; i < m; i++)
        for (rocsparse_int k = 0; k < ell_width; k++) {
            const size_t at = (size_t)k * (size_t)m + (size_t)i, p = (size_t)ptr[i] + (size_t)k;
            const int filled = p < (size_t)ptr[i + 1];
            col[at] = filled ? from[p] : -1;
            if (filled)
                memcpy(val + at * bytes, from_val + p * bytes, bytes);
            else
                memset(val + at * bytes, 0, bytes);
        }
    return rocsparse_status_success;
}

static rocsparse_status csr2hyb(rocsparse_handle handle, int f64, rocsparse_int m, rocsparse_int n,
                                const rocsparse_mat_descr descr, const void *csr_val, const rocsparse_int *csr_row_ptr,
                                const rocsparse_int *csr_col_ind, rocsparse_hyb_mat hyb,
                                rocsparse_hyb_partition partition_type)
{
    ENTER(handle);
    if (m < 0 || n < 0)
        REFUSE(invalid_size, "HYB of %d x %d", (int)m, (int)n);
    if (!standin_is(descr, STANDIN_MAT_DESCR) || !standin_is(hyb, STANDIN_HYB))
        return rocsparse_status_invalid_pointer;
    const rocsparse_int *ptr = standin_at(csr_row_ptr, ((size_t)m + 1) * sizeof *ptr, "row_ptr");
    struct matrix a;
    if (!ptr)
        return rocsparse_status_invalid_pointer;
    rocsparse_status status = standin_matrix(&a, f64, m, n, ptr[m], csr_row_ptr, csr_col_ind, csr_val, 1);
    if (status != rocsparse_status_success)
        return status;
    if (!a.nnz || partition_type != rocsparse_hyb_partition_auto) // an empty matrix has no width that fits the rule
        REFUSE(invalid_value, "HYB of %d entries, partition %d", (int)a.nnz, (int)partition_type);
    free(hyb->dense);
    hyb->m = m;
    hyb->n = n;
    hyb->f64 = f64;
    hyb->dense = calloc((size_t)m * (size_t)n, sizeof *hyb->dense);
    if (!hyb->dense)
        return rocsparse_status_memory_error;
    for (rocsparse_int i = 0; i < m; i++)
        for (rocsparse_int p = a.ptr[i]; p < a.ptr[i + 1]; p++)
            hyb->dense[(size_t)i * (size_t)n + (size_t)a.col[p]] += standin_load(a.val, p, f64);
    return status;
}

// ---- routines for f32 and f64 ----

#define TYPED(p, T, f64)                                                                                               \
    rocsparse_status rocsparse_##p##csr2csc(                                                                           \
        rocsparse_handle handle, rocsparse_int m, rocsparse_int n, rocsparse_int nnz, const T *csr_val,                \
        const rocsparse_int *csr_row_ptr, const rocsparse_int *csr_col_ind, T *csc_val, rocsparse_int *csc_row_ind,    \
        rocsparse_int *csc_col_ptr, rocsparse_action copy_values, rocsparse_index_base idx_base, void *temp_buffer)    \
    {                                                                                                                  \
        return csr2csc(handle, f64, m, n, nnz, csr_val, csr_row_ptr, csr_col_ind, csc_val, csc_row_ind, csc_col_ptr,   \
                       copy_values, idx_base, temp_buffer);                                                            \
    }                                                                                                                  \
    rocsparse_status rocsparse_##p##csr2ell(                                                                           \
        rocsparse_handle handle, rocsparse_int m, const rocsparse_mat_descr csr_descr, const T *csr_val,               \
        const rocsparse_int *csr_row_ptr, const rocsparse_int *csr_col_ind, const rocsparse_mat_descr ell_descr,       \
        rocsparse_int ell_width, T *ell_val, rocsparse_int *ell_col_ind)                                               \
    {                                                                                                                  \
        return csr2ell(handle, f64, m, csr_descr, csr_val, csr_row_ptr, csr_col_ind, ell_descr, ell_width, ell_val,    \
                       ell_col_ind);                                                                                   \
    }                                                                                                                  \
    rocsparse_status rocsparse_##p##csr2hyb(                                                                           \
        rocsparse_handle handle, rocsparse_int m, rocsparse_int n, const rocsparse_mat_descr descr, const T *csr_val,  \
        const rocsparse_int *csr_row_ptr, const rocsparse_int *csr_col_ind, rocsparse_hyb_mat hyb,                     \
        rocsparse_int user_ell_width, rocsparse_hyb_partition partition_type)                                          \
    {                                                                                                                  \
        (void)user_ell_width;                                                                                          \
        return csr2hyb(handle, f64, m, n, descr, csr_val, csr_row_ptr, csr_col_ind, hyb, partition_type);              \
    }
TYPED(s, float, 0)
TYPED(d, double, 1)
