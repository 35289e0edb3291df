// SPDX-License-Identifier: Apache-2.0
// A matrix of PETSc's sequential AIJ type on the device: weft's plans for it, made and refilled as the matrix changes.
#ifndef WEFT_PETSC_BLOCK_H
#define WEFT_PETSC_BLOCK_H

#include "bindings/petsc/device.h"
#include <weft/device_csr.h>
#include <weft/spmv.h>

// The -mat_weft_* options of a matrix.
struct wp_options {
    int format;             // enum weft_spmv_algo
    PetscInt products;      // how many products are expected
    PetscBool tune;         // measure before choosing
    PetscBool reproducible; // the same bits on every device
};

struct wp_block {
    PetscObjectId id; // of the matrix that is on the device; 0: none
    PetscObjectState structure, values;
    struct weft_device_csr csr;     // without empty rows where `rows` is there
    int64_t m;                      // rows of the matrix
    cl_mem rows;                    // which rows csr has; NULL: all
    cl_mem packed;                  // a value for each of these
    struct weft_spmv_plan *plan[2]; // A and A^T, each made when first multiplied with
    int stale[2];                   // nonzero: the plan is to take new values
    struct weft_transpose_refill *transposer;
};

// Read the options of a matrix; `object` gives prefix and help.
PetscErrorCode wp_options_read(wp_option_items object, struct wp_options *options);
// Follow matrix `a`: a new structure drops the plans, new values are written. pack: empty rows are left out where most are, as
// in an off-diagonal block; such a block is not transposed.
PetscErrorCode wp_block_update(struct wp_block *block, Mat a, int pack);
// y = A*x + beta*y, or with A^T; enqueued. The block follows the matrix.
PetscErrorCode wp_block_mult(struct wp_block *block, const struct wp_options *options, int transposed, cl_mem x,
                             double beta, cl_mem y);
// The transposed matrix on the host: row pointers, columns and values, each freed by PetscFree. Where `values` alone are
// wanted, row_ptr and col are NULL.
PetscErrorCode wp_block_transpose(struct wp_block *block, PetscInt **row_ptr, PetscInt **col, PetscScalar *values);
PetscErrorCode wp_block_free(struct wp_block *block);

#endif
