// SPDX-License-Identifier: Apache-2.0
// Matrix type seqaijweft: PETSc's sequential AIJ, multiplied and transposed on the device.
#include "bindings/petsc/mat.h"

// z = A*x + y, or with A^T; y NULL: z = A*x.
static PetscErrorCode product(Mat a, int transposed, Vec x, Vec y, Vec z)
{
    struct wp_mat *w = a->spptr;
    struct wp_operand out;
    cl_mem px;
    if (y && y != z)
        PetscCall(VecCopy(y, z));
    PetscCall(wp_block_update(&w->block, a, 0));
    PetscCall(wp_operand_read(a, x, &px));
    PetscCall(wp_operand_write(a, z, y != NULL, &out));
    PetscCall(wp_block_mult(&w->block, &w->options, transposed, px, y ? 1 : 0, out.mem));
    PetscCall(PetscLogFlops(2.0 * (double)w->block.csr.nnz));
    return wp_operand_done(&out);
}

static PetscErrorCode mult(Mat a, Vec x, Vec z)
{
    return product(a, 0, x, NULL, z);
}

static PetscErrorCode mult_add(Mat a, Vec x, Vec y, Vec z)
{
    return product(a, 0, x, y, z);
}

static PetscErrorCode mult_transpose(Mat a, Vec x, Vec z)
{
    return product(a, 1, x, NULL, z);
}

static PetscErrorCode mult_transpose_add(Mat a, Vec x, Vec y, Vec z)
{
    return product(a, 1, x, y, z);
}

// A new matrix, by weft's transposition.
static PetscErrorCode transpose_initial(Mat a, Mat *out)
{
    struct wp_mat *w = a->spptr;
    PetscInt *row_ptr, *col, row_block, col_block;
    PetscScalar *val;
    PetscCall(PetscMalloc1(w->block.csr.nnz, &val));
    PetscCall(wp_block_transpose(&w->block, &row_ptr, &col, val));
    PetscCall(MatGetBlockSizes(a, &row_block, &col_block));
    PetscCall(MatCreate(PetscObjectComm((PetscObject)a), out));
    PetscCall(MatSetSizes(*out, a->cmap->n, a->rmap->n, a->cmap->N, a->rmap->N));
    PetscCall(MatSetBlockSizes(*out, col_block, row_block));
    PetscCall(MatSetType(*out, ((PetscObject)a)->type_name));
    PetscCall(MatSeqAIJSetPreallocationCSR(*out, row_ptr, col, val));
    PetscCall(PetscFree(row_ptr));
    PetscCall(PetscFree(col));
    PetscCall(PetscFree(val));
    PetscCall(PetscObjectGetId((PetscObject)*out, &w->transposed));
    w->transposed_structure = (*out)->nonzerostate;
    w->transposed_from = a->nonzerostate;
    return 0;
}

// The values alone where `out` was made above and neither structure has changed.
static PetscErrorCode transpose(Mat a, MatReuse reuse, Mat *out)
{
    struct wp_mat *w = a->spptr;
    PetscObjectId id = 0;
    PetscScalar *val;
    if (reuse == MAT_INPLACE_MATRIX)
        return w->parent.transpose(a, reuse, out);
    PetscCall(wp_block_update(&w->block, a, 0));
    if (reuse == MAT_INITIAL_MATRIX && w->block.csr.nnz > 0)
        return transpose_initial(a, out);
    if (reuse == MAT_REUSE_MATRIX)
        PetscCall(PetscObjectGetId((PetscObject)*out, &id));
    if (id == 0 || id != w->transposed || (*out)->nonzerostate != w->transposed_structure ||
        a->nonzerostate != w->transposed_from)
        return w->parent.transpose(a, reuse, out);
    PetscCall(MatSeqAIJGetArrayWrite(*out, &val));
    PetscCall(wp_block_transpose(&w->block, NULL, NULL, val));
    PetscCall(MatSeqAIJRestoreArrayWrite(*out, &val));
    PetscCall(MatAssemblyBegin(*out, MAT_FINAL_ASSEMBLY));
    return MatAssemblyEnd(*out, MAT_FINAL_ASSEMBLY);
}

PetscErrorCode wp_seqaij_ops(Mat a)
{
    a->ops->mult = mult;
    a->ops->multadd = mult_add;
    a->ops->multtranspose = mult_transpose;
    a->ops->multtransposeadd = mult_transpose_add;
    a->ops->transpose = transpose;
    return 0;
}
