// SPDX-License-Identifier: Apache-2.0
// Intel's MKL on the threads of the host.
#include "mkl_backend.h"
#include "host/internal/inside.h"

#include <mkl_service.h>
#include <stdio.h>

weft_status weft__mkl_fail(sparse_status_t status, const char *what, struct weft_error *err)
{
    if (status == SPARSE_STATUS_SUCCESS)
        return WEFT_OK;
    if (status == SPARSE_STATUS_ALLOC_FAILED)
        return weft__error(err, WEFT_ENOMEM, "out of host memory in %s", what);
    return weft__error(err, status == SPARSE_STATUS_NOT_SUPPORTED ? WEFT_EUNSUPPORTED : WEFT_EDEVICE,
                       "%s failed with sparse_status_t %d", what, (int)status);
}

weft_status weft__mkl_csr(sparse_matrix_t *out, const struct weft_csr *a, float *ones, struct weft_error *err)
{
    int *ptr = a->row_ptr, *col = a->col;
    if (a->ofs != WEFT_OFS_32)
        return weft__error(err, WEFT_EUNSUPPORTED, "MKL of 32-bit integers has no 64-bit offsets");
    if (!a->m || !a->n)
        return weft__error(err, WEFT_EUNSUPPORTED, "MKL takes no matrix without rows or columns");
    if (a->type == WEFT_TYPE_PATTERN && !ones)
        return weft__error(err, WEFT_EUNSUPPORTED, "MKL has no matrices without values");
    const sparse_status_t status =
        a->type == WEFT_TYPE_F64
            ? mkl_sparse_d_create_csr(out, SPARSE_INDEX_BASE_ZERO, (int)a->m, (int)a->n, ptr, ptr + 1, col, a->val)
            : mkl_sparse_s_create_csr(out, SPARSE_INDEX_BASE_ZERO, (int)a->m, (int)a->n, ptr, ptr + 1, col,
                                      ones ? ones : a->val);
    return weft__mkl_fail(status, "mkl_sparse_create_csr", err);
}

// Of MKL's threads those of GNU's OpenMP, which backend omp has: two runtimes would wait for each other's cores.
static weft_status mkl_probe(struct weft_context *ctx, struct weft_error *err)
{
    (void)ctx;
    if (mkl_set_threading_layer(MKL_THREADING_GNU) < 0 || mkl_get_max_threads() < 1)
        return weft__error(err, WEFT_EUNSUPPORTED, "MKL has no threads of GNU's OpenMP here");
    return WEFT_OK;
}

static const char *mkl_version(void)
{
    static char text[40];
    MKLVersion version;
    mkl_get_version(&version);
    snprintf(text, sizeof text, "MKL %d.%d.%d", version.MajorVersion, version.MinorVersion, version.UpdateVersion);
    return text;
}

const struct weft_backend weft__backend_mkl = {
    .name = "mkl",
    .needs = "host",
    .probe = mkl_probe,
    .version = mkl_version,
    .transpose = {WEFT__BACKEND_OP(mkl, transpose)},
    .spmv = {WEFT__BACKEND_OP(mkl, spmv)},
};
