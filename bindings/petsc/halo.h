// SPDX-License-Identifier: Apache-2.0
// The values of x that other ranks own: packed on the device, exchanged by MPI through pinned host memory.
#ifndef WEFT_PETSC_HALO_H
#define WEFT_PETSC_HALO_H

#include "bindings/petsc/device.h"

// One direction: for each neighbour a stretch of a packed array.
struct wp_side {
    PetscInt ranks;
    PetscMPIInt *rank;     // size ranks
    PetscInt *offset;      // size ranks+1: stretch r is offset[r] .. offset[r+1]-1
    struct wp_pinned host; // the packed values
    cl_mem mem;            // the same on the device
    cl_event copied;       // the copy that is under way, NULL: none
};

struct wp_halo {
    MPI_Comm comm;
    PetscMPIInt tag;
    struct wp_side owned; // of x's own values, what neighbours wait for
    struct wp_side ghost; // what this rank waits for
    cl_mem index;         // local indices of the owned values, in packed order
    PetscInt *place;      // place[k]: where packed ghost value k stands among the columns of the off-diagonal block
    PetscScalar *ordered; // ghost values in the order of those columns; the packed array where they are in it already
    int reorder;          // nonzero: they are not
    MPI_Request *requests;
};

// The lists for columns garray[0 .. n-1] of a layout. Collective.
PetscErrorCode wp_halo_create(struct wp_halo *halo, PetscObject object, PetscLayout layout, PetscInt n,
                              const PetscInt *garray);
PetscErrorCode wp_halo_free(struct wp_halo *halo);
// Start to bring the values of x; `end` waits for them and enqueues their way to the device, in halo->ghost.mem.
PetscErrorCode wp_halo_begin(struct wp_halo *halo, cl_mem x);
PetscErrorCode wp_halo_end(struct wp_halo *halo);
// The other way: add what halo->ghost.mem holds to the ranks' own y. Waits for the neighbours.
PetscErrorCode wp_halo_add(struct wp_halo *halo, cl_mem y);

#endif
