// SPDX-License-Identifier: Apache-2.0
// The serial oracles as a backend: the time to beat.
#include "backends/backend.h"

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
    .transpose = {WEFT__BACKEND_OP(ref, transpose)},
    .spmv = {WEFT__BACKEND_OP(ref, spmv)},
};
