// SPDX-License-Identifier: Apache-2.0
// PETSc's sequential matrices, on one rank and one thread.
#include "host/common/clock.h"
#include "petsc_backend.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(PetscScalar) == sizeof(PetscReal),
               "PETSc is built for complex numbers, which weft does not have");

#define TEXT(x)       #x
#define TEXT_VALUE(x) TEXT(x)
#define VERSION                                                                                                        \
    TEXT_VALUE(PETSC_VERSION_MAJOR) "." TEXT_VALUE(PETSC_VERSION_MINOR) "." TEXT_VALUE(PETSC_VERSION_SUBMINOR)

weft_status weft__petsc_fail(PetscErrorCode code, const char *what, struct weft_error *err)
{
    const char *text = NULL;
    if (!code)
        return WEFT_OK;
    if (code == PETSC_ERR_MEM)
        return weft__error(err, WEFT_ENOMEM, "out of host memory in %s", what);
    PetscErrorMessage((int)code, &text, NULL);
    text = text ? text : "an error without a text";
    return weft__error(err, WEFT_EDEVICE, "%s: %.*s", what, (int)strcspn(text, "\n"), text);
}

static void petsc_end(void)
{
    PetscFinalize();
}

// Once in a process. Signals stay with whom they are with, and errors come back as codes without a word.
static weft_status petsc_begin(struct weft_error *err)
{
    char name[] = "weft-bench", quiet[] = "-no_signal_handler", *words[] = {name, quiet, NULL}, **args = words;
    int count = 2;
    PetscBool begun = PETSC_FALSE;
    PetscInitialized(&begun);
    if (begun)
        return WEFT_OK;
    setenv("OMPI_MCA_ess_singleton_isolated", "1", 0); // no daemon of Open MPI for one rank
    weft_status status = weft__petsc_fail(PetscInitialize(&count, &args, NULL, NULL), "PetscInitialize", err);
    if (status)
        return status;
    atexit(petsc_end);
    return weft__petsc_fail(PetscPushErrorHandler(PetscReturnErrorHandler, NULL), "PetscPushErrorHandler", err);
}

weft_status weft__petsc_matrix(struct petsc_matrix *out, const struct weft_csr *a, const char *what, double *ms,
                               struct weft_error *err)
{
    const enum weft_type type = sizeof(PetscScalar) == sizeof(double) ? WEFT_TYPE_F64 : WEFT_TYPE_F32;
    *out = (struct petsc_matrix){0};
    if (a->type != type)
        return weft__error(err, WEFT_EUNSUPPORTED, "PETSc is built for %s and has %s of nothing else",
                           weft_type_name(type), what);
    if (a->nnz > PETSC_MAX_INT)
        return weft__error(err, WEFT_EUNSUPPORTED, "PETSc takes %lld entries at most", (long long)PETSC_MAX_INT);
    weft_status status = petsc_begin(err);
    if (status)
        return status;
    const double start = clock_ms();
    out->ptr = malloc(weft__mul((size_t)a->m + 1, sizeof *out->ptr));
    out->col = malloc(weft__mul(weft__max(1, (size_t)a->nnz), sizeof *out->col));
    if (out->ptr && out->col) {
        for (int64_t i = 0; i <= a->m; i++)
            out->ptr[i] = (PetscInt)weft_csr_ofs(a, i);
        for (int64_t p = 0; p < a->nnz; p++)
            out->col[p] = a->col[p];
        status = weft__petsc_fail(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, (PetscInt)a->m, (PetscInt)a->n, out->ptr,
                                                            out->col, a->val, &out->mat),
                                  "MatCreateSeqAIJWithArrays", err);
    } else {
        status = weft__error(err, WEFT_ENOMEM, "out of host memory for %s", what);
    }
    *ms = clock_ms() - start;
    if (status)
        weft__petsc_matrix_free(out);
    return status;
}

void weft__petsc_matrix_free(struct petsc_matrix *matrix)
{
    if (matrix->mat)
        MatDestroy(&matrix->mat);
    free(matrix->ptr);
    free(matrix->col);
    *matrix = (struct petsc_matrix){0};
}

static weft_status petsc_probe(struct weft_context *ctx, struct weft_error *err)
{
    (void)ctx;
    (void)err;
    return WEFT_OK;
}

static const char *petsc_version(void)
{
    return "PETSc " VERSION;
}

const struct weft_backend weft__backend_petsc = {
    .name = "petsc",
    .needs = "host",
    .probe = petsc_probe,
    .version = petsc_version,
    .transpose = {WEFT__BACKEND_OP(petsc, transpose)},
    .spmv = {WEFT__BACKEND_OP(petsc, spmv)},
};
