// SPDX-License-Identifier: Apache-2.0
// What the operations of backend `petsc` share: the start of PETSc on one rank, its errors, a matrix of it.
#pragma once

#include "backends/backend.h"
#include "host/internal/inside.h" // before PETSc, in which "complex" is a macro

#include <petscmat.h>

// WEFT_OK for 0, else the first line of what PETSc says of the error. `what` names the call.
weft_status weft__petsc_fail(PetscErrorCode code, const char *what, struct weft_error *err);

// A matrix of type seqaij with its arrays, which PETSc borrows.
struct petsc_matrix {
    Mat mat;
    PetscInt *ptr, *col;
};
// Starts PETSc where it was not, and makes a copy of `a` but for its values, which are borrowed. `what` names what is to be
// done, as in "SpMV"; *ms is the time of the copy, without PETSc's start. Errors: WEFT_EUNSUPPORTED a type or a size that this
// PETSc does not have; WEFT_ENOMEM; WEFT_EDEVICE.
weft_status weft__petsc_matrix(struct petsc_matrix *out, const struct weft_csr *a, const char *what, double *ms,
                               struct weft_error *err);
void weft__petsc_matrix_free(struct petsc_matrix *matrix); // zero is nothing
