// SPDX-License-Identifier: Apache-2.0
// Matrix type mpiaijweft: the diagonal and off-diagonal blocks of PETSc's parallel AIJ, each on the device of its rank.
#include "bindings/petsc/mat.h"

// Bring blocks and halo up to date. Collective, as PETSc's state of the structure is the same on all ranks.
static PetscErrorCode update(Mat a, struct wp_mat *w)
{
    Mat diagonal, off;
    const PetscInt *garray;
    PetscCall(MatMPIAIJGetSeqAIJ(a, &diagonal, &off, &garray));
    PetscCall(wp_block_update(&w->block, diagonal, 0));
    PetscCall(wp_block_update(&w->off, off, 1));
    if (w->has_halo && w->structure == a->nonzerostate)
        return 0;
    if (w->has_halo)
        PetscCall(wp_halo_free(&w->halo));
    PetscCall(wp_halo_create(&w->halo, (PetscObject)a, a->cmap, off->cmap->n, garray));
    w->has_halo = 1;
    w->structure = a->nonzerostate;
    return 0;
}

// z = A*x + y; y NULL: z = A*x. The halo travels while the diagonal block is multiplied.
static PetscErrorCode product(Mat a, Vec x, Vec y, Vec z)
{
    struct wp_mat *w = a->spptr;
    const struct wp_device *d;
    struct wp_operand out;
    cl_mem px;
    if (y && y != z)
        PetscCall(VecCopy(y, z));
    PetscCall(update(a, w));
    PetscCall(wp_operand_read(a, x, &px));
    PetscCall(wp_operand_write(a, z, y != NULL, &out));
    PetscCall(wp_halo_begin(&w->halo, px));
    PetscCall(wp_block_mult(&w->block, &w->options, 0, px, y ? 1 : 0, out.mem));
    PetscCall(wp_device_get(&d));
    WP_CL(clFlush(d->queue));
    PetscCall(wp_halo_end(&w->halo));
    PetscCall(wp_block_mult(&w->off, &w->options, 0, w->halo.ghost.mem, 1, out.mem));
    PetscCall(PetscLogFlops(2.0 * (double)(w->block.csr.nnz + w->off.csr.nnz)));
    return wp_operand_done(&out);
}

static PetscErrorCode mult(Mat a, Vec x, Vec z)
{
    return product(a, x, NULL, z);
}

// z = A^T*x + y; y NULL: z = A^T*x. What belongs to other ranks is sent to them and added there.
static PetscErrorCode mult_transpose_add(Mat a, Vec x, Vec y, Vec z)
{
    struct wp_mat *w = a->spptr;
    struct wp_operand out;
    cl_mem px;
    if (y && y != z)
        PetscCall(VecCopy(y, z));
    PetscCall(update(a, w));
    PetscCall(wp_operand_read(a, x, &px));
    PetscCall(wp_operand_write(a, z, y != NULL, &out));
    PetscCall(wp_block_mult(&w->off, &w->options, 1, px, 0, w->halo.ghost.mem));
    PetscCall(wp_block_mult(&w->block, &w->options, 1, px, y ? 1 : 0, out.mem));
    PetscCall(wp_halo_add(&w->halo, out.mem));
    PetscCall(PetscLogFlops(2.0 * (double)(w->block.csr.nnz + w->off.csr.nnz)));
    return wp_operand_done(&out);
}

static PetscErrorCode mult_transpose(Mat a, Vec x, Vec z)
{
    return mult_transpose_add(a, x, NULL, z);
}

PetscErrorCode wp_mpiaij_ops(Mat a)
{
    a->ops->mult = mult;
    a->ops->multadd = product;
    a->ops->multtranspose = mult_transpose;
    a->ops->multtransposeadd = mult_transpose_add;
    return 0;
}
