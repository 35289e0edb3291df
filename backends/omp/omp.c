// SPDX-License-Identifier: Apache-2.0
// Multi-threaded C on the host, the best that we can write: what a device has to beat.
#include "host/internal/inside.h"
#include "backends/backend.h"

#ifdef _OPENMP
static weft_status omp_probe(struct weft_context *ctx, struct weft_error *err)
{
    (void)ctx;
    (void)err;
    return WEFT_OK;
}
#else
static weft_status omp_probe(struct weft_context *ctx, struct weft_error *err)
{
    (void)ctx;
    return weft__error(err, WEFT_EUNSUPPORTED, "built without OpenMP");
}
#endif

const struct weft_backend weft__backend_omp = {
    .name = "omp",
    .needs = "host",
    .probe = omp_probe,
#ifdef _OPENMP
    .transpose = {WEFT__BACKEND_OP(omp, transpose)},
    .spmv = {WEFT__BACKEND_OP(omp, spmv)},
#endif
};
