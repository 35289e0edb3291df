// SPDX-License-Identifier: Apache-2.0
// NVIDIA's cuSPARSE on the CUDA device that is the OpenCL device of the bench.
#include "cusparse_backend.h"
#include "backends/trace.h"
#include "host/common/clock.h"
#include "host/internal/inside.h"

#include <stdio.h>

weft_status weft__cusparse_fail(cusparseStatus_t status, const char *what, struct weft_error *err)
{
    if (status == CUSPARSE_STATUS_SUCCESS)
        return WEFT_OK;
    cudaGetLastError();
    int unsupported = status == CUSPARSE_STATUS_NOT_SUPPORTED || status == CUSPARSE_STATUS_ARCH_MISMATCH;
    int memory = status == CUSPARSE_STATUS_ALLOC_FAILED || status == CUSPARSE_STATUS_INSUFFICIENT_RESOURCES;
    return weft__error(err,
                       unsupported ? WEFT_EUNSUPPORTED
                       : memory    ? WEFT_EDEVMEM
                                   : WEFT_EDEVICE,
                       "%s: cuSPARSE: %s", what, cusparseGetErrorString(status));
}

static const char *cusparse_version(void)
{
    static char text[40];
    int major = 0, minor = 0, patch = 0;
    cusparseGetProperty(MAJOR_VERSION, &major);
    cusparseGetProperty(MINOR_VERSION, &minor);
    cusparseGetProperty(PATCH_LEVEL, &patch);
    snprintf(text, sizeof text, "cuSPARSE %d.%d.%d", major, minor, patch);
    return text;
}

weft_status weft__cusparse_open(struct cuda_session *s, cusparseHandle_t *handle, struct weft_context *ctx,
                                struct weft_error *err)
{
    const double begin = clock_ms();
    weft_status status = weft__cuda_open(s, ctx, "cuSPARSE", err);
    if (!status)
        status = weft__cusparse_fail(cusparseCreate(handle), "cusparseCreate", err);
    if (!status)
        status = weft__cusparse_fail(cusparseSetStream(*handle, s->stream), "cusparseSetStream", err);
    weft__trace_command(WEFT_TRACE_CALL, "cusparseCreate", -1, begin, clock_ms(), 0);
    return status;
}

void weft__cusparse_close(struct cuda_session *s, cusparseHandle_t handle)
{
    if (s->stream)
        cudaStreamSynchronize(s->stream);
    if (handle)
        cusparseDestroy(handle);
    weft__cuda_close(s);
}

const struct weft_backend weft__backend_cusparse = {
    .name = "cusparse",
    .needs = "cuda",
    .probe = weft__cuda_probe,
    .version = cusparse_version,
    .transpose = {WEFT__BACKEND_OP(cusparse, transpose), .plain = weft__cusparse_transpose_plain,
                  .call = weft__cusparse_transpose_call},
    .spmv = {WEFT__BACKEND_OP(cusparse, spmv), .plain = weft__cusparse_spmv_plain, .call = weft__cusparse_spmv_call},
};
