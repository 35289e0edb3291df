// SPDX-License-Identifier: Apache-2.0
// SuiteSparse:GraphBLAS on the threads of the host.
#include "backends/backend.h"
#include "host/internal/inside.h"

#include <GraphBLAS.h>
#include <stdio.h>

static weft_status graphblas_probe(struct weft_context *ctx, struct weft_error *err)
{
    (void)ctx;
    (void)err;
    return WEFT_OK;
}

static const char *graphblas_version(void)
{
    static char text[64];
    int version[3] = {GxB_IMPLEMENTATION_MAJOR, GxB_IMPLEMENTATION_MINOR, GxB_IMPLEMENTATION_SUB};
    snprintf(text, sizeof text, "%s %d.%d.%d", GxB_IMPLEMENTATION_NAME, version[0], version[1], version[2]);
    return text;
}

const struct weft_backend weft__backend_graphblas = {
    .name = "graphblas",
    .needs = "host",
    .probe = graphblas_probe,
    .version = graphblas_version,
    .transpose = {WEFT__BACKEND_OP(graphblas, transpose)},
};
