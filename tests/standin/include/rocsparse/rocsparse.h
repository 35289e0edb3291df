// SPDX-License-Identifier: Apache-2.0
// The part of rocSPARSE's interface that backends/rocsparse calls, as of the release STANDIN_ROCSPARSE (20303 is 2.3.3),
// declared anew for machines without its headers and for releases that are not here. Where headers are installed, the
// stand-in is also compiled against them.
#pragma once

#include <hip/hip_runtime_api.h>
#include <stdint.h>

#define ROCSPARSE_VERSION_MAJOR (STANDIN_ROCSPARSE / 10000)
#define ROCSPARSE_VERSION_MINOR (STANDIN_ROCSPARSE / 100 % 100)
#define ROCSPARSE_VERSION_PATCH (STANDIN_ROCSPARSE % 100)

typedef int32_t rocsparse_int;
typedef struct _rocsparse_handle *rocsparse_handle;
typedef struct _rocsparse_mat_descr *rocsparse_mat_descr;
typedef struct _rocsparse_hyb_mat *rocsparse_hyb_mat;
typedef struct _rocsparse_mat_info *rocsparse_mat_info;
typedef struct _rocsparse_spmat_descr *rocsparse_spmat_descr;
typedef struct _rocsparse_dnvec_descr *rocsparse_dnvec_descr;
#if STANDIN_ROCSPARSE >= 30000
typedef const struct _rocsparse_spmat_descr *rocsparse_const_spmat_descr;
typedef const struct _rocsparse_dnvec_descr *rocsparse_const_dnvec_descr;
#endif

typedef enum rocsparse_operation_ { rocsparse_operation_none = 111 } rocsparse_operation;
typedef enum rocsparse_index_base_ { rocsparse_index_base_zero = 0 } rocsparse_index_base;
typedef enum rocsparse_action_ { rocsparse_action_symbolic = 0, rocsparse_action_numeric = 1 } rocsparse_action;
typedef enum rocsparse_hyb_partition_ { rocsparse_hyb_partition_auto = 0 } rocsparse_hyb_partition;
typedef enum rocsparse_status_ {
    rocsparse_status_success = 0,
    rocsparse_status_invalid_handle = 1,
    rocsparse_status_not_implemented = 2,
    rocsparse_status_invalid_pointer = 3,
    rocsparse_status_invalid_size = 4,
    rocsparse_status_memory_error = 5,
    rocsparse_status_internal_error = 6,
    rocsparse_status_invalid_value = 7,
    rocsparse_status_arch_mismatch = 8
} rocsparse_status;
typedef enum rocsparse_indextype_ { rocsparse_indextype_i32 = 2 } rocsparse_indextype;
typedef enum rocsparse_datatype_ { rocsparse_datatype_f32_r = 151, rocsparse_datatype_f64_r = 152 } rocsparse_datatype;
typedef enum rocsparse_spmv_alg_ {
    rocsparse_spmv_alg_default = 0,
    rocsparse_spmv_alg_coo = 1,
    rocsparse_spmv_alg_coo_atomic = 5,
#if STANDIN_ROCSPARSE >= 30100
    rocsparse_spmv_alg_csr_lrb = 7,
#endif
#if STANDIN_ROCSPARSE >= 40200
    rocsparse_spmv_alg_csr_nnzsplit = 8,
#endif
} rocsparse_spmv_alg;
#if STANDIN_ROCSPARSE >= 20400
typedef enum rocsparse_spmv_stage_ {
    rocsparse_spmv_stage_buffer_size = 1,
    rocsparse_spmv_stage_preprocess = 2,
    rocsparse_spmv_stage_compute = 3
} rocsparse_spmv_stage;
#endif

rocsparse_status rocsparse_create_handle(rocsparse_handle *handle);
rocsparse_status rocsparse_destroy_handle(rocsparse_handle handle);
rocsparse_status rocsparse_set_stream(rocsparse_handle handle, hipStream_t stream);
rocsparse_status rocsparse_get_version(rocsparse_handle handle, int *version);
rocsparse_status rocsparse_create_mat_descr(rocsparse_mat_descr *descr);
rocsparse_status rocsparse_destroy_mat_descr(rocsparse_mat_descr descr);
rocsparse_status rocsparse_create_mat_info(rocsparse_mat_info *info);
rocsparse_status rocsparse_destroy_mat_info(rocsparse_mat_info info);
rocsparse_status rocsparse_create_hyb_mat(rocsparse_hyb_mat *hyb);
rocsparse_status rocsparse_destroy_hyb_mat(rocsparse_hyb_mat hyb);
rocsparse_status rocsparse_create_coo_descr(rocsparse_spmat_descr *descr, int64_t rows, int64_t cols, int64_t nnz,
                                            void *coo_row_ind, void *coo_col_ind, void *coo_val,
                                            rocsparse_indextype idx_type, rocsparse_index_base idx_base,
                                            rocsparse_datatype data_type);
rocsparse_status rocsparse_create_csr_descr(rocsparse_spmat_descr *descr, int64_t rows, int64_t cols, int64_t nnz,
                                            void *csr_row_ptr, void *csr_col_ind, void *csr_val,
                                            rocsparse_indextype row_ptr_type, rocsparse_indextype col_ind_type,
                                            rocsparse_index_base idx_base, rocsparse_datatype data_type);
rocsparse_status rocsparse_create_dnvec_descr(rocsparse_dnvec_descr *descr, int64_t size, void *values,
                                              rocsparse_datatype data_type);
#if STANDIN_ROCSPARSE >= 30000
rocsparse_status rocsparse_destroy_spmat_descr(rocsparse_const_spmat_descr descr);
rocsparse_status rocsparse_destroy_dnvec_descr(rocsparse_const_dnvec_descr descr);
#else
rocsparse_status rocsparse_destroy_spmat_descr(rocsparse_spmat_descr descr);
rocsparse_status rocsparse_destroy_dnvec_descr(rocsparse_dnvec_descr descr);
#endif

rocsparse_status rocsparse_csr2coo(rocsparse_handle handle, const rocsparse_int *csr_row_ptr, rocsparse_int nnz,
                                   rocsparse_int m, rocsparse_int *coo_row_ind, rocsparse_index_base idx_base);
rocsparse_status rocsparse_csr2csc_buffer_size(rocsparse_handle handle, rocsparse_int m, rocsparse_int n,
                                               rocsparse_int nnz, const rocsparse_int *csr_row_ptr,
                                               const rocsparse_int *csr_col_ind, rocsparse_action copy_values,
                                               size_t *buffer_size);
rocsparse_status rocsparse_csr2ell_width(rocsparse_handle handle, rocsparse_int m, const rocsparse_mat_descr csr_descr,
                                         const rocsparse_int *csr_row_ptr, const rocsparse_mat_descr ell_descr,
                                         rocsparse_int *ell_width);
#define STANDIN_ROCSPARSE_TYPED(p, T)                                                                                  \
    rocsparse_status rocsparse_##p##csr2csc(                                                                           \
        rocsparse_handle handle, rocsparse_int m, rocsparse_int n, rocsparse_int nnz, const T *csr_val,                \
        const rocsparse_int *csr_row_ptr, const rocsparse_int *csr_col_ind, T *csc_val, rocsparse_int *csc_row_ind,    \
        rocsparse_int *csc_col_ptr, rocsparse_action copy_values, rocsparse_index_base idx_base, void *temp_buffer);   \
    rocsparse_status rocsparse_##p##csr2ell(                                                                           \
        rocsparse_handle handle, rocsparse_int m, const rocsparse_mat_descr csr_descr, const T *csr_val,               \
        const rocsparse_int *csr_row_ptr, const rocsparse_int *csr_col_ind, const rocsparse_mat_descr ell_descr,       \
        rocsparse_int ell_width, T *ell_val, rocsparse_int *ell_col_ind);                                              \
    rocsparse_status rocsparse_##p##csr2hyb(                                                                           \
        rocsparse_handle handle, rocsparse_int m, rocsparse_int n, const rocsparse_mat_descr descr, const T *csr_val,  \
        const rocsparse_int *csr_row_ptr, const rocsparse_int *csr_col_ind, rocsparse_hyb_mat hyb,                     \
        rocsparse_int user_ell_width, rocsparse_hyb_partition partition_type);                                         \
    rocsparse_status rocsparse_##p##csrmv_analysis(                                                                    \
        rocsparse_handle handle, rocsparse_operation trans, rocsparse_int m, rocsparse_int n, rocsparse_int nnz,       \
        const rocsparse_mat_descr descr, const T *csr_val, const rocsparse_int *csr_row_ptr,                           \
        const rocsparse_int *csr_col_ind, rocsparse_mat_info info);                                                    \
    rocsparse_status rocsparse_##p##csrmv(                                                                             \
        rocsparse_handle handle, rocsparse_operation trans, rocsparse_int m, rocsparse_int n, rocsparse_int nnz,       \
        const T *alpha, const rocsparse_mat_descr descr, const T *csr_val, const rocsparse_int *csr_row_ptr,           \
        const rocsparse_int *csr_col_ind, rocsparse_mat_info info, const T *x, const T *beta, T *y);                   \
    rocsparse_status rocsparse_##p##ellmv(rocsparse_handle handle, rocsparse_operation trans, rocsparse_int m,         \
                                          rocsparse_int n, const T *alpha, const rocsparse_mat_descr descr,            \
                                          const T *ell_val, const rocsparse_int *ell_col_ind, rocsparse_int ell_width, \
                                          const T *x, const T *beta, T *y);                                            \
    rocsparse_status rocsparse_##p##hybmv(rocsparse_handle handle, rocsparse_operation trans, const T *alpha,          \
                                          const rocsparse_mat_descr descr, const rocsparse_hyb_mat hyb, const T *x,    \
                                          const T *beta, T *y)
STANDIN_ROCSPARSE_TYPED(s, float);
STANDIN_ROCSPARSE_TYPED(d, double);

#if STANDIN_ROCSPARSE >= 40000
__attribute__((deprecated))
#endif
#if STANDIN_ROCSPARSE >= 30000
rocsparse_status
rocsparse_spmv(rocsparse_handle handle, rocsparse_operation trans, const void *alpha, rocsparse_const_spmat_descr mat,
               rocsparse_const_dnvec_descr x, const void *beta, const rocsparse_dnvec_descr y,
               rocsparse_datatype compute_type, rocsparse_spmv_alg alg, rocsparse_spmv_stage stage, size_t *buffer_size,
               void *temp_buffer);
#elif STANDIN_ROCSPARSE >= 20400
rocsparse_status rocsparse_spmv_ex(rocsparse_handle handle, rocsparse_operation trans, const void *alpha,
                                   const rocsparse_spmat_descr mat, const rocsparse_dnvec_descr x, const void *beta,
                                   const rocsparse_dnvec_descr y, rocsparse_datatype compute_type,
                                   rocsparse_spmv_alg alg, rocsparse_spmv_stage stage, size_t *buffer_size,
                                   void *temp_buffer);
#else
rocsparse_status rocsparse_spmv(rocsparse_handle handle, rocsparse_operation trans, const void *alpha,
                                const rocsparse_spmat_descr mat, const rocsparse_dnvec_descr x, const void *beta,
                                const rocsparse_dnvec_descr y, rocsparse_datatype compute_type, rocsparse_spmv_alg alg,
                                size_t *buffer_size, void *temp_buffer);
#endif

// The last argument of these is a place for a description of the error, or NULL.
#if STANDIN_ROCSPARSE >= 40100
typedef struct _rocsparse_spmv_descr *rocsparse_spmv_descr;
typedef struct _rocsparse_error *rocsparse_error;
typedef enum rocsparse_spmv_input_ {
    rocsparse_spmv_input_alg,
    rocsparse_spmv_input_operation,
    rocsparse_spmv_input_scalar_datatype,
    rocsparse_spmv_input_compute_datatype
} rocsparse_spmv_input;
typedef enum rocsparse_v2_spmv_stage_ {
    rocsparse_v2_spmv_stage_analysis = 0,
    rocsparse_v2_spmv_stage_compute = 1
} rocsparse_v2_spmv_stage;
rocsparse_status rocsparse_create_spmv_descr(rocsparse_spmv_descr *descr);
rocsparse_status rocsparse_destroy_spmv_descr(rocsparse_spmv_descr descr);
rocsparse_status rocsparse_spmv_set_input(rocsparse_handle handle, rocsparse_spmv_descr descr,
                                          rocsparse_spmv_input input, const void *in, size_t size_in_bytes,
                                          rocsparse_error *error);
rocsparse_status rocsparse_v2_spmv_buffer_size(rocsparse_handle handle, rocsparse_spmv_descr descr,
                                               rocsparse_const_spmat_descr mat, rocsparse_const_dnvec_descr x,
                                               rocsparse_const_dnvec_descr y, rocsparse_v2_spmv_stage stage,
                                               size_t *buffer_size_in_bytes, rocsparse_error *error);
rocsparse_status rocsparse_v2_spmv(rocsparse_handle handle, rocsparse_spmv_descr descr, const void *alpha,
                                   rocsparse_const_spmat_descr mat, rocsparse_const_dnvec_descr x, const void *beta,
                                   rocsparse_dnvec_descr y, rocsparse_v2_spmv_stage stage, size_t buffer_size_in_bytes,
                                   void *buffer, rocsparse_error *error);
#endif
