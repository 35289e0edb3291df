// SPDX-License-Identifier: Apache-2.0
// The life of a matrix on the device: made from PETSc's own type, converted, duplicated, destroyed.
#include "bindings/petsc/mat.h"
#include "bindings/petsc/vec.h"

// The two types and those of PETSc that they are made from.
static const struct kind {
    const char *name, *parent, *from, *to; // and their conversions
    PetscErrorCode (*ops)(Mat);
} kinds[] = {
    {"seqaijweft", MATSEQAIJ, "MatConvert_seqaij_seqaijweft_C", "MatConvert_seqaijweft_seqaij_C", wp_seqaij_ops},
    {"mpiaijweft", MATMPIAIJ, "MatConvert_mpiaij_mpiaijweft_C", "MatConvert_mpiaijweft_mpiaij_C", wp_mpiaij_ops},
};

static PetscErrorCode stage(Mat a, int which, cl_mem *out)
{
    struct wp_mat *w = a->spptr;
    if (!w->stage[which])
        PetscCall(wp_buffer(&w->stage[which], (size_t)PetscMax(a->rmap->n, a->cmap->n) * sizeof(PetscScalar)));
    *out = w->stage[which];
    return 0;
}

// Bring a host vector's values to a staging buffer.
static PetscErrorCode put(Vec v, cl_mem to)
{
    const PetscScalar *array;
    PetscCall(VecGetArrayRead(v, &array));
    PetscCall(wp_write(to, array, (size_t)v->map->n * sizeof *array));
    return VecRestoreArrayRead(v, &array);
}

PetscErrorCode wp_operand_read(Mat a, Vec x, cl_mem *out)
{
    struct wp_vec *half;
    PetscCall(wp_vec_of(x, &half));
    if (half)
        return wp_vec_read(x, out);
    PetscCall(stage(a, 0, out));
    return put(x, *out);
}

PetscErrorCode wp_operand_write(Mat a, Vec y, int keep, struct wp_operand *out)
{
    struct wp_vec *half;
    PetscCall(wp_vec_of(y, &half));
    out->vec = y;
    out->staged = !half;
    if (half)
        return keep ? wp_vec_change(y, &out->mem) : wp_vec_write(y, &out->mem);
    PetscCall(stage(a, 1, &out->mem));
    return keep ? put(y, out->mem) : 0;
}

PetscErrorCode wp_operand_done(struct wp_operand *operand)
{
    PetscScalar *array;
    if (!operand->staged)
        return PetscObjectStateIncrease((PetscObject)operand->vec);
    PetscCall(VecGetArrayWrite(operand->vec, &array));
    PetscCall(wp_read(array, operand->mem, (size_t)operand->vec->map->n * sizeof *array));
    return VecRestoreArrayWrite(operand->vec, &array);
}

static PetscErrorCode set_from_options(Mat a, wp_option_items items)
{
    struct wp_mat *w = a->spptr;
    PetscCall(wp_options_read(items, &w->options));
    return w->parent.setfromoptions ? w->parent.setfromoptions(a, items) : 0;
}

static PetscErrorCode duplicate(Mat a, MatDuplicateOption option, Mat *out)
{
    struct wp_mat *w = a->spptr;
    PetscCall(w->parent.duplicate(a, option, out));
    ((struct wp_mat *)(*out)->spptr)->options = w->options;
    return 0;
}

// Back to PETSc's own type, the same object.
static PetscErrorCode unwrap(Mat a)
{
    struct wp_mat *w = a->spptr;
    const struct kind *kind = &kinds[w->parent.getghosts != NULL];
    PetscCall(wp_block_free(&w->block));
    PetscCall(wp_block_free(&w->off));
    if (w->has_halo)
        PetscCall(wp_halo_free(&w->halo));
    PetscCall(wp_buffer_free(&w->stage[0]));
    PetscCall(wp_buffer_free(&w->stage[1]));
    PetscCall(PetscObjectComposeFunction((PetscObject)a, kind->from, NULL));
    PetscCall(PetscObjectComposeFunction((PetscObject)a, kind->to, NULL));
    a->ops->mult = w->parent.mult;
    a->ops->multadd = w->parent.multadd;
    a->ops->multtranspose = w->parent.multtranspose;
    a->ops->multtransposeadd = w->parent.multtransposeadd;
    a->ops->transpose = w->parent.transpose;
    a->ops->duplicate = w->parent.duplicate;
    a->ops->destroy = w->parent.destroy;
    a->ops->setfromoptions = w->parent.setfromoptions;
    PetscCall(PetscFree(a->spptr));
    PetscCall(PetscFree(a->defaultvectype));
    PetscCall(PetscStrallocpy(VECSTANDARD, &a->defaultvectype));
    return PetscObjectChangeTypeName((PetscObject)a, kind->parent);
}

static PetscErrorCode destroy(Mat a)
{
    PetscCall(unwrap(a));
    return a->ops->destroy(a);
}

static PetscErrorCode convert_from_weft(Mat a, MatType type, MatReuse reuse, Mat *out)
{
    (void)type;
    if (reuse == MAT_REUSE_MATRIX)
        return MatCopy(a, *out, SAME_NONZERO_PATTERN);
    if (reuse == MAT_INITIAL_MATRIX)
        PetscCall(MatDuplicate(a, MAT_COPY_VALUES, out));
    return unwrap(*out);
}

static PetscErrorCode wrap(Mat a, const struct kind *kind);

static PetscErrorCode convert_to_weft(Mat a, MatType type, MatReuse reuse, Mat *out)
{
    if (reuse == MAT_REUSE_MATRIX)
        return MatCopy(a, *out, SAME_NONZERO_PATTERN);
    if (reuse == MAT_INITIAL_MATRIX)
        PetscCall(MatDuplicate(a, MAT_COPY_VALUES, out));
    PetscBool parallel;
    PetscCall(PetscStrcmp(type, kinds[1].name, &parallel));
    return wrap(*out, &kinds[parallel]);
}

// Make a matrix of PETSc's own type one on the device, the same object.
static PetscErrorCode wrap(Mat a, const struct kind *kind)
{
    struct wp_mat *w;
    PetscCall(PetscNew(&w));
    w->parent = *a->ops;
    a->spptr = w;
    PetscOptionsBegin(PetscObjectComm((PetscObject)a), ((PetscObject)a)->prefix, "Matrices of weft", "Mat");
    PetscCall(wp_options_read(PetscOptionsObject, &w->options));
    PetscOptionsEnd();
    a->ops->setfromoptions = set_from_options;
    a->ops->duplicate = duplicate;
    a->ops->destroy = destroy;
    PetscCall(kind->ops(a));
    PetscCall(PetscObjectComposeFunction((PetscObject)a, kind->from, convert_to_weft));
    PetscCall(PetscObjectComposeFunction((PetscObject)a, kind->to, convert_from_weft));
    PetscCall(PetscFree(a->defaultvectype));
    PetscCall(PetscStrallocpy("weft", &a->defaultvectype));
    return PetscObjectChangeTypeName((PetscObject)a, kind->name);
}

static PetscErrorCode create(Mat a, const struct kind *kind)
{
    // PETSc has freed what the matrix was before, but still has its name: it would take the parent's type for given.
    PetscCall(PetscObjectChangeTypeName((PetscObject)a, NULL));
    a->ops->destroy = NULL;
    PetscCall(MatSetType(a, kind->parent));
    return wrap(a, kind);
}

static PetscErrorCode create_seq(Mat a)
{
    return create(a, &kinds[0]);
}

static PetscErrorCode create_mpi(Mat a)
{
    return create(a, &kinds[1]);
}

PetscErrorCode wp_mat_register(void)
{
    PetscCall(MatRegisterRootName("aijweft", kinds[0].name, kinds[1].name));
    PetscCall(MatRegister(kinds[0].name, create_seq));
    return MatRegister(kinds[1].name, create_mpi);
}
