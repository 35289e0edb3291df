// SPDX-License-Identifier: Apache-2.0
// Vectors of type seqweft and mpiweft: PETSc's own with a copy on the device, each valid or not.
#ifndef WEFT_PETSC_VEC_H
#define WEFT_PETSC_VEC_H

#include "bindings/petsc/device.h"
#include <petsc/private/vecimpl.h>

// Which copies hold the values; at least one does.
enum { WP_HOST = 1, WP_DEVICE = 2 };

struct wp_vec {
    cl_mem mem; // NULL until the device is first asked for
    int valid;  // WP_HOST and WP_DEVICE added up
};

// The device's half of a vector; NULL where it is of another type.
PetscErrorCode wp_vec_of(Vec v, struct wp_vec **out);
// The buffer of a vector of these types: with its values, to be overwritten whole, or both read and written.
PetscErrorCode wp_vec_read(Vec v, cl_mem *out);
PetscErrorCode wp_vec_write(Vec v, cl_mem *out);
PetscErrorCode wp_vec_change(Vec v, cl_mem *out);
// PETSc's own operations of vectors of this communicator's size, for what has no kernel.
const struct _VecOps *wp_vec_parent(Vec v);
// Set the operations that run on the device.
PetscErrorCode wp_vec_ops(Vec v);
// Make vector types known: weft, seqweft, mpiweft.
PetscErrorCode wp_vec_register(void);

#endif
