// SPDX-License-Identifier: Apache-2.0
// What the files of rocSPARSE's part of the stand-in share.
#pragma once

#include "hip.h"

#include <hip/hip_runtime_api.h>
#include <rocsparse/rocsparse.h>
#include <stdint.h>

#define RELEASE (ROCSPARSE_VERSION_MAJOR * 10000 + ROCSPARSE_VERSION_MINOR * 100 + ROCSPARSE_VERSION_PATCH)

// A CSR matrix, as host memory.
struct matrix {
    rocsparse_int m, n, nnz;
    int f64;
    const rocsparse_int *ptr, *col;
    const void *val;
};

struct _rocsparse_handle {
    struct standin_object object;
    hipStream_t stream;
};
struct _rocsparse_mat_descr {
    struct standin_object object;
};
struct _rocsparse_mat_info {
    struct standin_object object;
    struct matrix analysed; // m == 0: nothing
};
struct _rocsparse_hyb_mat {
    struct standin_object object;
    rocsparse_int m, n;
    int f64;
    double *dense; // m*n sums: the tests' matrices are small
};
struct _rocsparse_dnvec_descr {
    struct standin_object object;
    int64_t size;
    void *values;
    rocsparse_datatype type;
};
struct _rocsparse_spmat_descr {
    struct standin_object object;
    int coo;
    rocsparse_int m, n, nnz;
    void *row, *col, *val;
    rocsparse_datatype type;
    int sized, analysed;
};

#if RELEASE >= 40100
struct _rocsparse_spmv_descr {
    struct standin_object object;
    unsigned given; // a bit for each input
    rocsparse_spmv_alg alg;
    rocsparse_operation operation;
    rocsparse_datatype scalar, compute;
    rocsparse_const_spmat_descr analysed;
};
#endif

static inline size_t standin_type_bytes(int f64)
{
    return f64 ? sizeof(double) : sizeof(float);
}

static inline double standin_load(const void *values, int64_t i, int f64)
{
    return f64 ? ((const double *)values)[i] : (double)((const float *)values)[i];
}

// Begin of each call with a handle: an error where it is to fail, or the handle is none.
rocsparse_status standin_enter_sparse(rocsparse_handle handle);
// Row pointers as host memory: they begin with 0, never descend, end with nnz.
rocsparse_status standin_pointers(const rocsparse_int **out, const rocsparse_int *row_ptr, rocsparse_int m,
                                  rocsparse_int nnz);
// nnz indices as host memory, each in 0 .. limit-1.
rocsparse_status standin_indices(const rocsparse_int **out, const rocsparse_int *index, rocsparse_int nnz,
                                 rocsparse_int limit, const char *what);
// A CSR matrix as host memory; `values` nonzero: val must be there.
rocsparse_status standin_matrix(struct matrix *out, int f64, rocsparse_int m, rocsparse_int n, rocsparse_int nnz,
                                const rocsparse_int *row_ptr, const rocsparse_int *col, const void *val, int values);

#define ENTER(handle)                                                                                                  \
    do {                                                                                                               \
        rocsparse_status entered = standin_enter_sparse(handle);                                                       \
        if (entered != rocsparse_status_success)                                                                       \
            return entered;                                                                                            \
    } while (0)
#define REFUSE(status, ...)                                                                                            \
    do {                                                                                                               \
        standin_complain(__VA_ARGS__);                                                                                 \
        return rocsparse_status_##status;                                                                              \
    } while (0)
