// SPDX-License-Identifier: Apache-2.0
// Exchanges the values of x between neighbours; sums that come back are added neighbour by neighbour, in the order of ranks.
#include "bindings/petsc/halo.h"
#include <petscsf.h>

static PetscErrorCode side_create(struct wp_side *side, PetscInt ranks, const PetscMPIInt *rank, const PetscInt *offset)
{
    static const PetscInt none[] = {0};
    size_t bytes = (size_t)(ranks ? offset[ranks] : 0) * sizeof(PetscScalar);
    side->ranks = ranks;
    PetscCall(PetscMalloc2(ranks, &side->rank, ranks + 1, &side->offset));
    PetscCall(PetscArraycpy(side->rank, rank, ranks));
    PetscCall(PetscArraycpy(side->offset, ranks ? offset : none, ranks + 1));
    PetscCall(wp_buffer(&side->mem, bytes));
    return wp_pinned_alloc(&side->host, bytes);
}

static PetscErrorCode side_free(struct wp_side *side)
{
    PetscCall(wp_wait(&side->copied));
    PetscCall(wp_buffer_free(&side->mem));
    PetscCall(wp_pinned_free(&side->host));
    PetscCall(PetscFree2(side->rank, side->offset));
    return 0;
}

static size_t size_of(const struct wp_side *side)
{
    return (size_t)side->offset[side->ranks] * sizeof(PetscScalar);
}

PetscErrorCode wp_halo_create(struct wp_halo *halo, PetscObject object, PetscLayout layout, PetscInt n,
                              const PetscInt *garray)
{
    PetscSF sf;
    wp_rank_count roots, leaves;
    const PetscMPIInt *root_rank, *leaf_rank;
    const PetscInt *root_offset, *mine, *remote, *leaf_offset, *own;
    cl_int *index;
    halo->comm = PetscObjectComm(object);
    PetscCall(PetscObjectGetNewTag(object, &halo->tag));
    PetscCall(PetscSFCreate(halo->comm, &sf));
    PetscCall(PetscSFSetGraphLayout(sf, layout, n, NULL, PETSC_COPY_VALUES, garray));
    PetscCall(PetscSFSetUp(sf));
    PetscCall(PetscSFGetRootRanks(sf, &roots, &root_rank, &root_offset, &mine, &remote));
    PetscCall(PetscSFGetLeafRanks(sf, &leaves, &leaf_rank, &leaf_offset, &own));
    PetscCall(side_create(&halo->ghost, roots, root_rank, root_offset));
    PetscCall(side_create(&halo->owned, leaves, leaf_rank, leaf_offset));
    PetscInt count = halo->owned.offset[leaves];
    PetscCall(PetscMalloc2((size_t)n, &halo->place, (size_t)(roots + leaves), &halo->requests));
    for (PetscInt k = 0; k < n; k++) {
        halo->place[k] = mine ? mine[k] : k;
        halo->reorder |= halo->place[k] != k;
    }
    PetscCall(PetscMalloc1(halo->reorder ? n : 0, &halo->ordered));
    PetscCall(PetscMalloc1(count, &index));
    for (PetscInt i = 0; i < count; i++)
        index[i] = (cl_int)own[i];
    PetscCall(wp_buffer(&halo->index, (size_t)count * sizeof(cl_int)));
    PetscCall(wp_write(halo->index, index, (size_t)count * sizeof(cl_int)));
    PetscCall(PetscFree(index));
    return PetscSFDestroy(&sf);
}

PetscErrorCode wp_halo_free(struct wp_halo *halo)
{
    PetscCall(side_free(&halo->owned));
    PetscCall(side_free(&halo->ghost));
    PetscCall(wp_buffer_free(&halo->index));
    PetscCall(PetscFree(halo->ordered));
    PetscCall(PetscFree2(halo->place, halo->requests));
    PetscCall(PetscMemzero(halo, sizeof *halo));
    return 0;
}

// Receive each neighbour's stretch of `side`, as requests from `first` on.
static PetscErrorCode receive(struct wp_halo *halo, struct wp_side *side, PetscInt first)
{
    PetscScalar *values = side->host.at;
    for (PetscInt r = 0; r < side->ranks; r++) {
        PetscMPIInt n;
        PetscCall(PetscMPIIntCast(side->offset[r + 1] - side->offset[r], &n));
        PetscCallMPI(MPI_Irecv(values + side->offset[r], n, MPIU_SCALAR, side->rank[r], halo->tag, halo->comm,
                               &halo->requests[first + r]));
    }
    return 0;
}

static PetscErrorCode send(struct wp_halo *halo, struct wp_side *side, PetscInt first)
{
    const PetscScalar *values = side->host.at;
    for (PetscInt r = 0; r < side->ranks; r++) {
        PetscMPIInt n;
        PetscCall(PetscMPIIntCast(side->offset[r + 1] - side->offset[r], &n));
        PetscCallMPI(MPI_Isend(values + side->offset[r], n, MPIU_SCALAR, side->rank[r], halo->tag, halo->comm,
                               &halo->requests[first + r]));
    }
    return 0;
}

static PetscErrorCode finish(struct wp_halo *halo)
{
    PetscMPIInt count = (PetscMPIInt)(halo->owned.ranks + halo->ghost.ranks);
    PetscCallMPI(MPI_Waitall(count, halo->requests, MPI_STATUSES_IGNORE));
    return 0;
}

PetscErrorCode wp_halo_begin(struct wp_halo *halo, cl_mem x)
{
    struct wp_side *owned = &halo->owned, *ghost = &halo->ghost;
    PetscCall(wp_wait(&ghost->copied)); // the values of the product before may still be on their way to the device
    PetscCall(receive(halo, ghost, 0));
    PetscCall(wp_launch(WP_KERNEL_gather, size_of(owned) / sizeof(PetscScalar), owned->mem, halo->index, x));
    return wp_read_aside(owned->host.at, owned->mem, size_of(owned), &owned->copied);
}

PetscErrorCode wp_halo_end(struct wp_halo *halo)
{
    struct wp_side *owned = &halo->owned, *ghost = &halo->ghost;
    const PetscScalar *packed = ghost->host.at;
    PetscInt n = ghost->offset[ghost->ranks];
    PetscCall(wp_wait(&owned->copied)); // behind what the device had to do before
    PetscCall(PetscLogEventBegin(wp_events[WP_EVENT_HALO], 0, 0, 0, 0));
    PetscCall(send(halo, owned, ghost->ranks));
    PetscCall(finish(halo));
    for (PetscInt k = 0; k < n && halo->reorder; k++)
        halo->ordered[halo->place[k]] = packed[k];
    PetscCall(wp_write_aside(ghost->mem, halo->reorder ? halo->ordered : packed, size_of(ghost), &ghost->copied));
    PetscCall(PetscLogEventEnd(wp_events[WP_EVENT_HALO], 0, 0, 0, 0));
    return 0;
}

PetscErrorCode wp_halo_add(struct wp_halo *halo, cl_mem y)
{
    struct wp_side *owned = &halo->owned, *ghost = &halo->ghost;
    PetscScalar *packed = ghost->host.at;
    PetscInt n = ghost->offset[ghost->ranks];
    PetscCall(PetscLogEventBegin(wp_events[WP_EVENT_HALO], 0, 0, 0, 0));
    PetscCall(wp_wait(&ghost->copied));
    PetscCall(receive(halo, owned, 0));
    PetscCall(wp_read(halo->reorder ? halo->ordered : packed, ghost->mem, size_of(ghost)));
    for (PetscInt k = 0; k < n && halo->reorder; k++)
        packed[k] = halo->ordered[halo->place[k]];
    PetscCall(send(halo, ghost, owned->ranks));
    PetscCall(finish(halo));
    PetscCall(wp_write(owned->mem, owned->host.at, size_of(owned)));
    for (PetscInt r = 0; r < owned->ranks; r++)
        PetscCall(wp_launch(WP_KERNEL_scatter_add, (size_t)(owned->offset[r + 1] - owned->offset[r]), y, halo->index,
                            owned->mem, (cl_ulong)owned->offset[r]));
    PetscCall(PetscLogEventEnd(wp_events[WP_EVENT_HALO], 0, 0, 0, 0));
    return 0;
}
