// SPDX-License-Identifier: Apache-2.0
// Every operation of the plug-in's types against PETSc's own, on random matrices and vectors; TAP from rank 0.
// Options beside the plug-in's: -least takes the smallest matrix alone; -leak takes none and forgets a vector, so that the
// caller sees that a leak is found.
#include <petscmat.h>

static int tests;

static PetscErrorCode check(PetscBool good, const char *name)
{
    return PetscPrintf(PETSC_COMM_WORLD, "%sok %d - %s\n", good ? "" : "not ", ++tests, name);
}

// Are two numbers or vectors the same within rounding?
static PetscErrorCode near(PetscReal a, PetscReal b, const char *name)
{
    return check((PetscBool)(PetscAbsReal(a - b) <= 1e-12 * (1 + PetscAbsReal(a) + PetscAbsReal(b))), name);
}

static PetscErrorCode equal(Vec ours, Vec theirs, const char *name)
{
    Vec d;
    PetscReal difference, size;
    PetscCall(VecDuplicate(theirs, &d));
    PetscCall(VecCopy(ours, d));
    PetscCall(VecAXPY(d, -1, theirs));
    PetscCall(VecNorm(d, NORM_INFINITY, &difference));
    PetscCall(VecNorm(theirs, NORM_INFINITY, &size));
    PetscCall(VecDestroy(&d));
    return check((PetscBool)(difference <= 1e-12 * (1 + size)), name);
}

// A vector of a type with values that depend on seed and index alone, some of them zero.
static PetscErrorCode vector(Vec *out, const char *type, PetscInt n, PetscInt seed)
{
    PetscInt from, to;
    PetscCall(VecCreate(PETSC_COMM_WORLD, out));
    PetscCall(VecSetSizes(*out, PETSC_DECIDE, n));
    PetscCall(VecSetType(*out, type));
    PetscCall(VecGetOwnershipRange(*out, &from, &to));
    for (PetscInt i = from; i < to; i++)
        PetscCall(VecSetValue(*out, i, (PetscReal)((i * 7919 + seed * 104729) % 1000 - 500) / 250, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(*out));
    return VecAssemblyEnd(*out);
}

// m x n, a few entries a row here and there; rows 3, 10, 17, ... are empty.
static PetscErrorCode fill(Mat a, PetscInt seed)
{
    PetscInt from, to, m, n;
    PetscCall(MatGetSize(a, &m, &n));
    PetscCall(MatGetOwnershipRange(a, &from, &to));
    for (PetscInt i = from; i < to; i++) {
        for (PetscInt k = 0; k < 5 && i % 7 != 3; k++)
            PetscCall(MatSetValue(a, i, (i * (k + 1) + k * k * 17) % n, (PetscReal)((i + seed * k) % 90 + 1) / 30,
                                  INSERT_VALUES));
        if (i < n)
            PetscCall(MatSetValue(a, i, i, 5 + (PetscReal)seed, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
    return MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY);
}

static PetscErrorCode matrix(Mat *out, const char *type, PetscInt m, PetscInt n, PetscInt seed)
{
    PetscCall(MatCreate(PETSC_COMM_WORLD, out));
    PetscCall(MatSetSizes(*out, PETSC_DECIDE, PETSC_DECIDE, m, n));
    PetscCall(MatSetType(*out, type));
    PetscCall(MatSetFromOptions(*out));
    PetscCall(MatSetUp(*out));
    return fill(*out, seed);
}

// The four products of both matrices, with vectors of this type for ours.
static PetscErrorCode products(Mat ours, Mat theirs, const char *type, const char *what)
{
    Vec x[2], y[2], z[2], t[2];
    char name[120];
    PetscInt m, n;
    PetscCall(MatGetSize(theirs, &m, &n));
    for (int k = 0; k < 2; k++) {
        const char *of = k ? VECSTANDARD : type;
        PetscCall(vector(&x[k], of, n, 1));
        PetscCall(vector(&y[k], of, m, 2));
        PetscCall(vector(&z[k], of, m, 3));
        PetscCall(vector(&t[k], of, n, 4));
        Mat a = k ? theirs : ours;
        PetscCall(MatMult(a, x[k], z[k]));
        PetscCall(MatMultAdd(a, x[k], z[k], y[k])); // y = z + A*x
        PetscCall(MatMultAdd(a, x[k], z[k], z[k])); // z = z + A*x
        PetscCall(MatMultTranspose(a, y[k], t[k])); // t = A^T*y
        PetscCall(MatMultTransposeAdd(a, z[k], x[k], x[k]));
        PetscCall(MatMultTransposeAdd(a, z[k], x[k], t[k]));
    }
    Vec *all[] = {x, y, z, t};
    const char *const names[] = {"MultTransposeAdd in place", "MultAdd", "MultAdd in place", "MultTransposeAdd"};
    for (int i = 0; i < 4; i++) {
        PetscCall(PetscSNPrintf(name, sizeof name, "%s: %s, vectors %s", what, names[i], type));
        PetscCall(equal(all[i][0], all[i][1], name));
        PetscCall(VecDestroy(&all[i][0]));
        PetscCall(VecDestroy(&all[i][1]));
    }
    return 0;
}

static PetscErrorCode both_products(Mat ours, Mat theirs, const char *what)
{
    PetscCall(products(ours, theirs, "weft", what));
    return products(ours, theirs, VECSTANDARD, what);
}

static PetscErrorCode transposes(Mat ours, Mat theirs)
{
    Mat t[2];
    PetscCall(MatTranspose(ours, MAT_INITIAL_MATRIX, &t[0]));
    PetscCall(MatTranspose(theirs, MAT_INITIAL_MATRIX, &t[1]));
    PetscCall(both_products(t[0], t[1], "transposed"));
    PetscCall(MatScale(ours, 3));
    PetscCall(MatScale(theirs, 3));
    PetscCall(MatTranspose(ours, MAT_REUSE_MATRIX, &t[0]));
    PetscCall(MatTranspose(theirs, MAT_REUSE_MATRIX, &t[1]));
    PetscCall(both_products(t[0], t[1], "transposed again, other values"));
    PetscCall(MatDestroy(&t[0]));
    return MatDestroy(&t[1]);
}

static PetscErrorCode conversions(Mat ours, Mat theirs)
{
    Mat converted, back, twin;
    PetscBool same;
    PetscMPIInt size;
    PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
    PetscCall(MatConvert(theirs, size > 1 ? "mpiaijweft" : "seqaijweft", MAT_INITIAL_MATRIX, &converted));
    PetscCall(PetscObjectTypeCompareAny((PetscObject)converted, &same, "seqaijweft", "mpiaijweft", ""));
    PetscCall(check(same, "a matrix of PETSc's own type converts"));
    PetscCall(products(converted, theirs, "weft", "converted"));
    PetscCall(MatConvert(ours, MATAIJ, MAT_INITIAL_MATRIX, &back));
    PetscCall(PetscObjectTypeCompareAny((PetscObject)back, &same, MATSEQAIJ, MATMPIAIJ, ""));
    PetscCall(check(same, "and one of ours back"));
    PetscCall(MatEqual(back, theirs, &same));
    PetscCall(check(same, "with the same entries"));
    PetscCall(MatDuplicate(ours, MAT_COPY_VALUES, &twin));
    PetscCall(products(twin, theirs, "weft", "duplicate"));
    PetscCall(MatDestroy(&twin));
    PetscCall(MatDestroy(&converted));
    return MatDestroy(&back);
}

static PetscErrorCode changes(Mat ours, Mat theirs)
{
    Mat more[2], a[] = {ours, theirs};
    Vec left[2], right[2], diagonal[2];
    PetscInt m, n;
    PetscCall(MatGetSize(theirs, &m, &n));
    for (int k = 0; k < 2; k++)
        PetscCall(fill(a[k], 9));
    PetscCall(both_products(ours, theirs, "SetValues after use"));
    for (int k = 0; k < 2; k++) {
        const char *type = k ? MATAIJ : "aijweft", *of = k ? VECSTANDARD : "weft";
        PetscCall(matrix(&more[k], type, m, n, 4));
        PetscCall(MatAXPY(a[k], -0.5, more[k], SAME_NONZERO_PATTERN));
        PetscCall(vector(&left[k], of, m, 5));
        PetscCall(vector(&right[k], of, n, 6));
        PetscCall(MatDiagonalScale(a[k], left[k], right[k]));
        PetscCall(vector(&diagonal[k], of, m, 7));
        if (m == n)
            PetscCall(MatGetDiagonal(a[k], diagonal[k]));
    }
    PetscCall(both_products(ours, theirs, "AXPY and DiagonalScale"));
    PetscCall(equal(diagonal[0], diagonal[1], "GetDiagonal"));
    for (int k = 0; k < 2; k++) {
        PetscCall(MatSetOption(a[k], MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
        PetscCall(MatSetValue(a[k], 2, n - 1, 77, INSERT_VALUES));
        PetscCall(MatSetValue(a[k], m - 1, 0, 78, INSERT_VALUES));
        PetscCall(MatAssemblyBegin(a[k], MAT_FINAL_ASSEMBLY));
        PetscCall(MatAssemblyEnd(a[k], MAT_FINAL_ASSEMBLY));
    }
    PetscCall(both_products(ours, theirs, "new entries"));
    for (int k = 0; k < 2; k++) {
        PetscCall(MatDestroy(&more[k]));
        PetscCall(VecDestroy(&left[k]));
        PetscCall(VecDestroy(&right[k]));
        PetscCall(VecDestroy(&diagonal[k]));
    }
    return 0;
}

// The largest difference of two matrices with the same pattern is within rounding, and the second is not zero.
static PetscErrorCode equal_matrices(Mat ours, Mat theirs, const char *name)
{
    Mat d;
    PetscReal difference, size;
    PetscCall(MatConvert(theirs, MATSAME, MAT_INITIAL_MATRIX, &d));
    PetscCall(MatAXPY(d, -1, ours, SAME_NONZERO_PATTERN));
    PetscCall(MatNorm(d, NORM_FROBENIUS, &difference));
    PetscCall(MatNorm(theirs, NORM_FROBENIUS, &size));
    PetscCall(MatDestroy(&d));
    return check((PetscBool)(difference <= 1e-12 * size && size > 0), name);
}

// Products with dense matrices, made and made again with other values; products of sparse ones, which PETSc has.
static PetscErrorCode matrix_products(Mat ours, Mat theirs)
{
    Mat dense, tall, c[2], t[2], s[2], a[] = {ours, theirs};
    PetscInt m, n, columns = 3;
    PetscCall(MatGetSize(theirs, &m, &n));
    PetscCall(MatCreateDense(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n, columns, NULL, &dense));
    PetscCall(MatCreateDense(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, m, columns, NULL, &tall));
    for (int k = 0; k < 2; k++) {
        Mat b = k ? tall : dense;
        PetscInt from, to;
        PetscCall(MatGetOwnershipRange(b, &from, &to));
        for (PetscInt i = from; i < to; i++) {
            for (PetscInt j = 0; j < columns; j++)
                PetscCall(MatSetValue(b, i, j, (PetscReal)((i * 31 + j * 7) % 50 - 20) / 10, INSERT_VALUES));
        }
        PetscCall(MatAssemblyBegin(b, MAT_FINAL_ASSEMBLY));
        PetscCall(MatAssemblyEnd(b, MAT_FINAL_ASSEMBLY));
    }
    for (int k = 0; k < 2; k++) {
        PetscCall(MatMatMult(a[k], dense, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &c[k]));
        PetscCall(MatTransposeMatMult(a[k], tall, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &t[k]));
        PetscCall(MatTransposeMatMult(a[k], a[k], MAT_INITIAL_MATRIX, PETSC_DEFAULT, &s[k]));
    }
    PetscCall(equal_matrices(c[0], c[1], "MatMatMult with a dense matrix"));
    PetscCall(equal_matrices(t[0], t[1], "MatTransposeMatMult with a dense matrix"));
    PetscCall(equal_matrices(s[0], s[1], "MatTransposeMatMult with itself"));
    PetscCall(MatScale(dense, -2));
    for (int k = 0; k < 2; k++) {
        PetscCall(MatMatMult(a[k], dense, MAT_REUSE_MATRIX, PETSC_DEFAULT, &c[k]));
        PetscCall(MatTransposeMatMult(a[k], tall, MAT_REUSE_MATRIX, PETSC_DEFAULT, &t[k]));
    }
    PetscCall(equal_matrices(c[0], c[1], "MatMatMult reused"));
    PetscCall(equal_matrices(t[0], t[1], "MatTransposeMatMult reused"));
    for (int k = 0; k < 2; k++) {
        PetscCall(MatDestroy(&c[k]));
        PetscCall(MatDestroy(&t[k]));
        PetscCall(MatDestroy(&s[k]));
    }
    PetscCall(MatDestroy(&dense));
    return MatDestroy(&tall);
}

static PetscErrorCode matrices(PetscInt m, PetscInt n)
{
    Mat ours, theirs;
    PetscCall(matrix(&ours, "aijweft", m, n, 1));
    PetscCall(matrix(&theirs, MATAIJ, m, n, 1));
    PetscCall(both_products(ours, theirs, "as assembled"));
    PetscCall(transposes(ours, theirs));
    PetscCall(matrix_products(ours, theirs));
    PetscCall(conversions(ours, theirs));
    PetscCall(changes(ours, theirs));
    PetscCall(MatDestroy(&ours));
    return MatDestroy(&theirs);
}

// The numbers that all operations give, and the vectors that they leave.
static PetscErrorCode run_vectors(Vec *v, PetscReal *out, int *count)
{
    PetscScalar a[] = {0.5, -2, 3, 0.25, 1.5}, value, dots[5];
    PetscReal norms[2], *o = out;
    PetscInt place;
    PetscCall(VecAXPY(v[0], 2, v[1]));
    PetscCall(VecAYPX(v[0], 0.5, v[2]));
    PetscCall(VecAXPBY(v[1], 3, -1, v[0]));
    PetscCall(VecAXPBYPCZ(v[2], 1, 2, 3, v[0], v[1]));
    PetscCall(VecAXPBYPCZ(v[3], 1, 2, 0, v[0], v[1]));
    PetscCall(VecWAXPY(v[4], -0.5, v[0], v[1]));
    PetscCall(VecMAXPY(v[5], 5, a, v));
    PetscCall(VecSwap(v[0], v[3]));
    PetscCall(VecPointwiseMult(v[1], v[1], v[0]));
    PetscCall(VecPointwiseDivide(v[2], v[2], v[6]));
    PetscCall(VecReciprocal(v[6]));
    PetscCall(VecShift(v[3], 0.125));
    PetscCall(VecScale(v[3], -1.25));
    PetscCall(VecCopy(v[3], v[7]));
    PetscCall(VecDot(v[0], v[1], &value));
    *o++ = value;
    PetscCall(VecTDot(v[2], v[1], &value));
    *o++ = value;
    PetscCall(VecMDot(v[0], 5, v + 1, dots));
    for (int i = 0; i < 5; i++)
        *o++ = dots[i];
    PetscCall(VecDotNorm2(v[0], v[1], &value, norms));
    *o++ = value;
    *o++ = norms[0];
    PetscCall(VecNorm(v[0], NORM_1, o++));
    PetscCall(VecNorm(v[1], NORM_2, o++));
    PetscCall(VecNorm(v[2], NORM_INFINITY, o++));
    PetscCall(VecNorm(v[3], NORM_1_AND_2, norms));
    *o++ = norms[0];
    *o++ = norms[1];
    PetscCall(VecSum(v[4], &value));
    *o++ = value;
    PetscCall(VecMax(v[4], NULL, o++));
    PetscCall(VecMin(v[4], NULL, o++));
    PetscCall(VecMax(v[4], &place, o++));
    *o++ = (PetscReal)place;
    PetscCall(VecNormBegin(v[5], NORM_2, o));
    PetscCall(VecDotBegin(v[5], v[4], &value));
    PetscCall(VecNormEnd(v[5], NORM_2, o++));
    PetscCall(VecDotEnd(v[5], v[4], &value));
    *o++ = value;
    PetscCall(VecSet(v[6], 4));
    PetscCall(VecAbs(v[5])); // no kernel: the host's
    *count = (int)(o - out);
    return 0;
}

// An array of the caller's in the vector's place holds what the device computed, and the old one comes back.
static PetscErrorCode placed(PetscInt n)
{
    Vec v, w;
    PetscScalar *array;
    PetscInt local;
    PetscReal before, during, after;
    PetscCall(vector(&v, "weft", n, 3));
    PetscCall(VecScale(v, 2)); // the device's copy is the newer one
    PetscCall(VecNorm(v, NORM_1, &before));
    PetscCall(VecGetLocalSize(v, &local));
    PetscCall(PetscMalloc1(local, &array));
    for (PetscInt i = 0; i < local; i++)
        array[i] = 3;
    PetscCall(VecPlaceArray(v, array));
    PetscCall(VecScale(v, 2));
    PetscCall(VecNorm(v, NORM_1, &during));
    PetscCall(VecResetArray(v));
    PetscCall(VecNorm(v, NORM_1, &after));
    PetscCall(near(during, 6 * (PetscReal)n, "PlaceArray: the vector has the values of the array"));
    PetscCall(check((PetscBool)(local == 0 || array[local - 1] == 6), "ResetArray: the array has those of the vector"));
    PetscCall(near(before, after, "and the vector its own again"));
    PetscCall(VecDuplicate(v, &w));
    PetscCall(VecNorm(w, NORM_1, &after));
    PetscCall(near(after, 0, "a duplicate is zero"));
    PetscCall(PetscFree(array));
    PetscCall(VecDestroy(&w));
    return VecDestroy(&v);
}

static PetscErrorCode vectors(PetscInt n)
{
    enum { COUNT = 8 };
    Vec v[2][COUNT];
    PetscReal numbers[2][40];
    char name[80];
    int count = 0;
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < COUNT; i++)
            PetscCall(vector(&v[k][i], k ? VECSTANDARD : "weft", n, i));
        PetscCall(run_vectors(v[k], numbers[k], &count));
    }
    for (int i = 0; i < count; i++) {
        PetscCall(PetscSNPrintf(name, sizeof name, "number %d of vectors of %d", i, (int)n));
        PetscCall(near(numbers[0][i], numbers[1][i], name));
    }
    for (int i = 0; i < COUNT; i++) {
        PetscCall(PetscSNPrintf(name, sizeof name, "vector %d of %d", i, (int)n));
        PetscCall(equal(v[0][i], v[1][i], name));
        PetscCall(VecDestroy(&v[0][i]));
        PetscCall(VecDestroy(&v[1][i]));
    }
    return placed(n);
}

// A vector and a matrix that had PETSc's own type before, and have it again after.
static PetscErrorCode retyped(void)
{
    Vec v;
    Mat a, b;
    PetscReal norm;
    PetscCall(vector(&v, VECSTANDARD, 40, 1));
    PetscCall(VecSetType(v, "weft"));
    PetscCall(VecSet(v, 2));
    PetscCall(VecNorm(v, NORM_1, &norm));
    PetscCall(near(norm, 80, "a vector of PETSc's own type takes ours"));
    PetscCall(VecSetType(v, VECSTANDARD));
    PetscCall(VecSet(v, 3));
    PetscCall(VecNorm(v, NORM_1, &norm));
    PetscCall(near(norm, 120, "and goes back"));
    PetscCall(VecDestroy(&v));
    PetscCall(matrix(&b, MATAIJ, 30, 30, 1));
    PetscCall(MatCreate(PETSC_COMM_WORLD, &a));
    PetscCall(MatSetSizes(a, PETSC_DECIDE, PETSC_DECIDE, 30, 30));
    PetscCall(MatSetType(a, MATAIJ));
    PetscCall(MatSetType(a, "aijweft"));
    PetscCall(MatSetUp(a));
    PetscCall(fill(a, 1));
    PetscCall(products(a, b, "weft", "retyped"));
    PetscCall(MatDestroy(&a));
    return MatDestroy(&b);
}

int main(int argc, char **argv)
{
    static const PetscInt sizes[][2] = {{97, 97}, {61, 113}, {130, 40}, {5, 5}};
    size_t first = 0, count = sizeof sizes / sizeof *sizes;
    PetscBool leak, least;
    Vec forgotten;
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    PetscCall(PetscOptionsHasName(NULL, NULL, "-leak", &leak));
    PetscCall(PetscOptionsHasName(NULL, NULL, "-least", &least));
    first = leak ? count : least ? count - 1 : 0;
    if (leak)
        PetscCall(vector(&forgotten, "weft", 10, 1));
    for (size_t i = first; i < count; i++)
        PetscCall(matrices(sizes[i][0], sizes[i][1]));
    for (PetscInt n = 1; n < 20000 && first == 0; n = 19 * n + 2) // 1, 21, 401, 7621: with and without empty ranks
        PetscCall(vectors(n));
    if (first == 0)
        PetscCall(retyped());
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "1..%d\n", tests));
    return PetscFinalize();
}
