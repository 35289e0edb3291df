// SPDX-License-Identifier: Apache-2.0
// librsb, recursive sparse blocks, on the threads of the host.
#include "rsb_backend.h"

#include <rsb.h>

static weft_status rsb_probe(struct weft_context *ctx, struct weft_error *err)
{
    (void)ctx;
    (void)err;
    return WEFT_OK;
}

static const char *rsb_version(void)
{
    return "librsb " RSB_LIBRSB_VER_STRING;
}

const struct weft_backend weft__backend_rsb = {
    .name = "rsb",
    .needs = "host",
    .probe = rsb_probe,
    .version = rsb_version,
    .spmv = {.algos = weft__rsb_spmv_algos,
             .prepare = weft__rsb_spmv_prepare,
             .run = weft__rsb_spmv_run,
             .result = weft__rsb_spmv_result,
             .finish = weft__rsb_spmv_finish},
};
