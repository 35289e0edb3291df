// SPDX-License-Identifier: Apache-2.0
// librsb, recursive sparse blocks, on the threads of the host.
#include "backends/backend.h"

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
    .spmv = {WEFT__BACKEND_OP(rsb, spmv)},
};
