// SPDX-License-Identifier: Apache-2.0
// What headers of cuSPARSE before CUDA 11 and 12 have beside those that are installed, for the contract test: the calls
// of CUDA 9 and 10, and the second algorithm of cusparseCsr2cscEx2.
#pragma once

#include <cusparse.h>

#define CUSPARSE_CSR2CSC_ALG2          ((cusparseCsr2CscAlg_t)2)
#define WEFT_HAS_CUSPARSE_CSR2CSC_ALG2 1
#define WEFT_HAS_CUSPARSESCSR2CSC      1

#define STANDIN_CSR2CSC(p, type)                                                                                       \
    cusparseStatus_t cusparse##p##csr2csc(cusparseHandle_t handle, int m, int n, int nnz, const type *val,             \
                                          const int *row_ptr, const int *col, type *csc_val, int *row, int *col_ptr,   \
                                          cusparseAction_t action, cusparseIndexBase_t base)
STANDIN_CSR2CSC(S, float);
STANDIN_CSR2CSC(D, double);
