// SPDX-License-Identifier: Apache-2.0
// The door of libweftpetsc.so: what PETSc calls when a program runs with -dll_append libweftpetsc.so.
#include "bindings/petsc/mat.h"
#include "bindings/petsc/vec.h"

// PETSc derives the name from that of the library. Collective.
PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_weftpetsc(void);
PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_weftpetsc(void)
{
    PetscCall(wp_device_init());
    PetscCall(wp_vec_register());
    return wp_mat_register();
}
