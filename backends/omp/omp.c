// SPDX-License-Identifier: Apache-2.0
// Multi-threaded C on the host, the best that we can write: what a device has to beat.
#include "host/internal/inside.h"
#include "omp_backend.h"

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
    .transpose = {.algos = weft__omp_transpose_algos,
                  .prepare = weft__omp_transpose_prepare,
                  .run = weft__omp_transpose_run,
                  .result = weft__omp_transpose_result,
                  .finish = weft__omp_transpose_finish},
    .spmv = {.algos = weft__omp_spmv_algos,
             .prepare = weft__omp_spmv_prepare,
             .run = weft__omp_spmv_run,
             .result = weft__omp_spmv_result,
             .finish = weft__omp_spmv_finish},
#endif
};
