// SPDX-License-Identifier: Apache-2.0
// The serial oracles as a backend: the time to beat.
#include "ref_backend.h"

static weft_status ref_probe(struct weft_context *ctx, struct weft_error *err)
{
    (void)ctx;
    (void)err;
    return WEFT_OK;
}

const struct weft_backend weft__backend_ref = {
    .name = "ref",
    .needs = "host",
    .probe = ref_probe,
    .transpose = {.algos = weft__ref_transpose_algos,
                  .prepare = weft__ref_transpose_prepare,
                  .run = weft__ref_transpose_run,
                  .result = weft__ref_transpose_result,
                  .finish = weft__ref_transpose_finish},
    .spmv = {.algos = weft__ref_spmv_algos,
             .prepare = weft__ref_spmv_prepare,
             .run = weft__ref_spmv_run,
             .result = weft__ref_spmv_result,
             .finish = weft__ref_spmv_finish},
};
