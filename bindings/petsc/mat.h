// SPDX-License-Identifier: Apache-2.0
// What the sequential and the parallel matrix type share: what they hold, operands on the device.
#ifndef WEFT_PETSC_MAT_H
#define WEFT_PETSC_MAT_H

#include "bindings/petsc/block.h"
#include "bindings/petsc/halo.h"
#include <petsc/private/matimpl.h>

// What a matrix of these types has beside PETSc's own, at spptr.
struct wp_mat {
    struct _MatOps parent; // the operations of PETSc's type
    struct wp_options options;
    struct wp_block block;      // all of a sequential matrix, the diagonal block of a parallel one
    struct wp_block off;        // the off-diagonal block
    struct wp_halo halo;        // of a parallel one
    PetscObjectState structure; // that the halo is for
    int has_halo;
    PetscObjectId transposed; // the matrix that MatTranspose made, 0: none; its structure, and of which
    PetscObjectState transposed_structure, transposed_from;
    cl_mem stage[2]; // for x and y of other vector types
};

// An operand in device memory: a weft vector's own buffer, or a staged copy of any other's.
struct wp_operand {
    Vec vec;
    cl_mem mem;
    int staged; // nonzero: `done` copies it to the host
};
PetscErrorCode wp_operand_read(Mat a, Vec x, cl_mem *out);
// keep: y is read too.
PetscErrorCode wp_operand_write(Mat a, Vec y, int keep, struct wp_operand *out);
PetscErrorCode wp_operand_done(struct wp_operand *operand);

// Set the operations of each type.
PetscErrorCode wp_seqaij_ops(Mat a);
PetscErrorCode wp_mpiaij_ops(Mat a);
// Make matrix types known: aijweft, seqaijweft, mpiaijweft.
PetscErrorCode wp_mat_register(void);

#endif
