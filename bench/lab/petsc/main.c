// SPDX-License-Identifier: Apache-2.0
// weft-petsc: solves A*x = A*1 by PETSc's KSP on any number of ranks, and prints one line of JSON with times and halo.
//
// A plain PETSc program: the plug-in comes by -dll_append as everywhere, solver and types by PETSc's options.
//   -matrix stencil27:K | FILE   27-point stencil of a K x K x K grid, or a Matrix Market file (default stencil27:20)
// The first solve is not timed. The matrix is cut into rows of equal number, as PETSc does.
#include <weft/mtx.h> // before PETSc, which brings the macro `complex`

#include <petsc/private/vecimpl.h>
#include <petscksp.h>

struct halo {
    PetscReal values, messages; // received by this rank in a product
};

// Columns of one row of the stencil, in rising order; gives how many.
static PetscInt stencil_row(PetscInt k, PetscInt row, PetscInt col[27])
{
    PetscInt n = 0, x = row % k, y = row / k % k, z = row / (k * k);
    for (PetscInt l = PetscMax(z - 1, 0); l <= PetscMin(z + 1, k - 1); l++) {
        for (PetscInt j = PetscMax(y - 1, 0); j <= PetscMin(y + 1, k - 1); j++) {
            for (PetscInt i = PetscMax(x - 1, 0); i <= PetscMin(x + 1, k - 1); i++)
                col[n++] = i + k * (j + k * l);
        }
    }
    return n;
}

// 27 on the diagonal, -1 for each neighbour.
static PetscErrorCode stencil(Mat a, PetscInt k)
{
    PetscInt from, to, col[27], *inside, *outside;
    PetscScalar val[27];
    PetscLayout rows;
    PetscCall(MatSetSizes(a, PETSC_DECIDE, PETSC_DECIDE, k * k * k, k * k * k));
    PetscCall(MatSetFromOptions(a));
    PetscCall(MatGetLayouts(a, &rows, NULL));
    PetscCall(PetscLayoutSetUp(rows));
    PetscCall(PetscLayoutGetRange(rows, &from, &to));
    PetscCall(PetscCalloc2((size_t)(to - from), &inside, (size_t)(to - from), &outside));
    for (PetscInt row = from; row < to; row++) {
        for (PetscInt i = 0, n = stencil_row(k, row, col); i < n; i++)
            ++*(col[i] >= from && col[i] < to ? &inside[row - from] : &outside[row - from]);
    }
    PetscCall(MatSeqAIJSetPreallocation(a, 0, inside));
    PetscCall(MatMPIAIJSetPreallocation(a, 0, inside, 0, outside));
    PetscCall(PetscFree2(inside, outside));
    PetscCall(MatSetOption(a, MAT_SORTED_FULL, PETSC_TRUE)); // each row at once, its columns rising
    for (PetscInt row = from; row < to; row++) {
        PetscInt n = stencil_row(k, row, col);
        for (PetscInt i = 0; i < n; i++)
            val[i] = col[i] == row ? 27 : -1;
        PetscCall(MatSetValues(a, 1, &row, n, col, val, INSERT_VALUES));
    }
    return 0;
}

// Every rank reads the file and takes its rows.
static PetscErrorCode file(Mat a, const char *path)
{
    struct weft_csr csr;
    struct weft_error err = {0};
    PetscInt from, to, *length;
    weft_status status = weft_mtx_read(&csr, NULL, path, &(struct weft_mtx_params){.type = WEFT_TYPE_F64}, &err);
    PetscCheck(status == WEFT_OK, PETSC_COMM_WORLD, PETSC_ERR_FILE_READ, "%s", err.text);
    const int32_t *ptr = csr.row_ptr;
    const double *val = csr.val;
    PetscCall(MatSetSizes(a, PETSC_DECIDE, PETSC_DECIDE, (PetscInt)csr.m, (PetscInt)csr.n));
    PetscCall(MatSetFromOptions(a));
    PetscCall(MatSetUp(a));
    PetscCall(MatGetOwnershipRange(a, &from, &to));
    PetscCall(PetscMalloc1((size_t)(to - from), &length));
    for (PetscInt row = from; row < to; row++)
        length[row - from] = ptr[row + 1] - ptr[row];
    PetscCall(MatSeqAIJSetPreallocation(a, 0, length));
    PetscCall(MatMPIAIJSetPreallocation(a, 0, length, 0, length));
    PetscCall(PetscFree(length));
    for (PetscInt row = from; row < to; row++) {
        for (int32_t p = ptr[row]; p < ptr[row + 1]; p++)
            PetscCall(MatSetValue(a, row, csr.col[p], (PetscScalar)val[p], ADD_VALUES));
    }
    weft_csr_free(&csr);
    return 0;
}

static PetscErrorCode make(Mat *a, const char *name)
{
    PetscBool made_up;
    PetscInt k;
    PetscCall(MatCreate(PETSC_COMM_WORLD, a));
    PetscCall(PetscStrbeginswith(name, "stencil27:", &made_up));
    if (made_up) {
        PetscCall(PetscOptionsStringToInt(name + 10, &k));
        PetscCheck(k > 0 && k <= 1000, PETSC_COMM_WORLD, PETSC_ERR_USER, "%s: 1 to 1000 points are allowed", name);
        PetscCall(stencil(*a, k));
    } else {
        PetscCall(file(*a, name));
    }
    PetscCall(MatAssemblyBegin(*a, MAT_FINAL_ASSEMBLY));
    return MatAssemblyEnd(*a, MAT_FINAL_ASSEMBLY);
}

// What this rank receives in a product, and from how many ranks.
static PetscErrorCode halo_of(Mat a, struct halo *out)
{
    Mat off;
    const PetscInt *garray, *ranges;
    PetscInt n;
    PetscMPIInt size;
    PetscReal local[2] = {0, 0}, most[2];
    PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
    if (size > 1) {
        PetscCall(MatMPIAIJGetSeqAIJ(a, NULL, &off, &garray));
        PetscCall(MatGetSize(off, NULL, &n));
        PetscCall(MatGetOwnershipRangesColumn(a, &ranges));
        for (PetscInt i = 0, r = -1; i < n; i++) {
            if (r >= 0 && garray[i] < ranges[r + 1])
                continue;
            while (garray[i] >= ranges[r + 1])
                r++;
            local[1]++;
        }
        local[0] = (PetscReal)n;
    }
    PetscCallMPI(MPI_Allreduce(local, most, 2, MPIU_REAL, MPI_MAX, PETSC_COMM_WORLD));
    out->values = most[0];
    out->messages = most[1];
    return 0;
}

// Seconds that this rank's log has for an event so far; 0 where there is no such event.
static PetscErrorCode event_seconds(PetscLogEvent event, double *out)
{
    PetscEventPerfInfo info;
    *out = 0;
    if (event < 0)
        return 0;
    PetscCall(PetscLogEventGetPerfInfo(0, event, &info));
    *out = info.time;
    return 0;
}

// In which this rank waited for its halo: the plug-in's, and that of PETSc's own matrices.
static PetscErrorCode waits(double *out)
{
    PetscLogEvent event;
    double plug, scatter;
    PetscCall(PetscLogEventGetId("WeftHalo", &event));
    PetscCall(event_seconds(event, &plug));
    PetscCall(event_seconds(VEC_ScatterEnd, &scatter)); // which has no name to ask for
    *out = plug + scatter;
    return 0;
}

struct result {
    PetscInt iterations;
    PetscReal residual, error;
    KSPConvergedReason reason;
    double seconds, halo_seconds, mult_seconds;
};

// Solve twice; the second time counts.
static PetscErrorCode solve(Mat a, struct result *out)
{
    KSP ksp;
    PC pc;
    Vec x, b, ones;
    PetscLogEvent product;
    double before = 0, after = 0, mult = 0;
    PetscCall(PetscLogEventGetId("MatMult", &product));
    PetscCall(MatCreateVecs(a, &x, &b));
    PetscCall(VecDuplicate(x, &ones));
    PetscCall(VecSet(ones, 1));
    PetscCall(MatMult(a, ones, b));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, a, a));
    PetscCall(KSPSetType(ksp, KSPCG));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCJACOBI));
    PetscCall(KSPSetFromOptions(ksp));
    for (int k = 0; k < 2; k++) {
        PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
        PetscCall(waits(&before));
        PetscCall(event_seconds(product, &mult));
        out->seconds = -MPI_Wtime();
        PetscCall(KSPSolve(ksp, b, x));
        PetscCall(KSPGetResidualNorm(ksp, &out->residual));
        PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
        out->seconds += MPI_Wtime();
        PetscCall(waits(&after));
    }
    out->halo_seconds = after - before;
    PetscCall(event_seconds(product, &after));
    out->mult_seconds = after - mult;
    PetscCall(KSPGetIterationNumber(ksp, &out->iterations));
    PetscCall(KSPGetConvergedReason(ksp, &out->reason));
    PetscCall(VecAXPY(x, -1, ones));
    PetscCall(VecNorm(x, NORM_INFINITY, &out->error));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    return VecDestroy(&ones);
}

int main(int argc, char **argv)
{
    char name[PETSC_MAX_PATH_LEN] = "stencil27:20";
    Mat a;
    MatInfo info;
    MatType type;
    PetscInt m;
    PetscMPIInt size;
    struct halo halo = {0, 0};
    struct result r = {0};
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    PetscCall(PetscLogDefaultBegin());
    PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
    PetscCall(PetscOptionsGetString(NULL, NULL, "-matrix", name, sizeof name, NULL));
    PetscCall(make(&a, name));
    PetscCall(MatGetInfo(a, MAT_GLOBAL_SUM, &info));
    PetscCall(MatGetSize(a, &m, NULL));
    PetscCall(MatGetType(a, &type));
    PetscCall(halo_of(a, &halo));
    PetscCall(solve(a, &r));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "{\"matrix\": \"%s\", \"m\": %lld, \"nnz\": %.0f, \"ranks\": %d, \"mat_type\": \"%s\", "
                          "\"scalar_bytes\": %d, \"cuda\": %s, \"iterations\": %lld, \"reason\": \"%s\", "
                          "\"residual\": %.6e, \"error\": %.6e, \"seconds\": %.9f, \"mult_seconds\": %.9f, "
                          "\"halo_seconds\": %.9f, \"halo_values\": %.0f, \"halo_messages\": %.0f}\n",
                          name, (long long)m, info.nz_used, (int)size, type, (int)sizeof(PetscScalar),
                          PetscDefined(HAVE_CUDA) ? "true" : "false", (long long)r.iterations,
                          KSPConvergedReasons[r.reason], (double)r.residual, (double)r.error, r.seconds, r.mult_seconds,
                          r.halo_seconds, (double)halo.values, (double)halo.messages));
    PetscCall(MatDestroy(&a));
    return PetscFinalize();
}
