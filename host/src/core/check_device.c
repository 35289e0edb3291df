// SPDX-License-Identifier: Apache-2.0
// Checks the arguments of public functions that have a context: buffers, ranges of tuning values.
#include "host/src/core/check.h"
#include "host/src/core/context.h"

#include <weft/transpose.h>

weft_status weft__pointers_check_in(struct weft_context *ctx, const struct weft__pointer *list, size_t count)
{
    struct weft_error err = {0};
    const weft_status status = ctx ? weft__pointers_check(&err, list, count) : WEFT_EINVAL;
    return ctx && status ? weft__fail(ctx, status, "%s", err.text) : status;
}

weft_status weft__check_buffer(struct weft_context *ctx, cl_mem buffer, size_t bytes, const char *name)
{
    size_t size = 0;
    if (!bytes)
        return WEFT_OK;
    if (!buffer)
        return weft__fail(ctx, WEFT_EINVAL, "%s is NULL, it needs %zu bytes", name, bytes);
    cl_int error = weft__cl.clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof size, &size, NULL);
    if (error != CL_SUCCESS)
        return weft__fail_cl(ctx, error, name);
    if (size < bytes)
        return weft__fail(ctx, WEFT_EINVAL, "%s has %zu bytes, it needs %zu", name, size, bytes);
    return WEFT_OK;
}

static weft_status own_check(struct weft_context *ctx, cl_mem buffer, const char *name)
{
    cl_context of = NULL;
    if (!buffer)
        return WEFT_OK;
    const cl_int error = weft__cl.clGetMemObjectInfo(buffer, CL_MEM_CONTEXT, sizeof of, &of, NULL);
    if (error != CL_SUCCESS)
        return weft__fail_cl(ctx, error, name);
    return of == ctx->cl ? WEFT_OK : weft__fail(ctx, WEFT_EINVAL, "%s is of another OpenCL context", name);
}

weft_status weft__check_own(struct weft_context *ctx, const struct weft_device_csr *a)
{
    weft_status status = own_check(ctx, a->row_ptr, "row_ptr");
    if (!status)
        status = own_check(ctx, a->col, "col");
    return status || a->type == WEFT_TYPE_PATTERN ? status : own_check(ctx, a->val, "val");
}

weft_status weft__check_range(struct weft_context *ctx, int64_t value, int64_t low, int64_t high, int64_t step,
                              const char *name)
{
    if (value >= low && value <= high && value % step == 0)
        return WEFT_OK;
    if (step == 1)
        return weft__fail(ctx, WEFT_EINVAL, "%s is %lld, it must be in %lld..%lld", name, (long long)value,
                          (long long)low, (long long)high);
    return weft__fail(ctx, WEFT_EINVAL, "%s is %lld, it must be a multiple of %lld in %lld..%lld", name,
                      (long long)value, (long long)step, (long long)low, (long long)high);
}

weft_status weft__buffers_check(struct weft_context *ctx, const struct weft__buffer_rule *list, size_t count)
{
    weft_status status = WEFT_OK;
    for (size_t i = 0; i < count && !status; i++)
        status = weft__check_buffer(ctx, list[i].buffer, list[i].bytes, list[i].name);
    return status;
}

weft_status weft__alone_check(struct weft_context *ctx, const struct weft__buffer_rule *list, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (list[0].bytes && list[i].bytes && list[0].buffer == list[i].buffer)
            return weft__fail(ctx, WEFT_EINVAL, "%s and %s are the same buffer", list[0].name, list[i].name);
    return WEFT_OK;
}

weft_status weft__check_apart(struct weft_context *ctx, const struct weft_device_csr *in,
                              const struct weft_device_csr *out)
{
    const cl_mem from[] = {in->row_ptr, in->col, in->val}, to[] = {out->row_ptr, out->col, out->val};
    for (int i = 0; i < 9; i++)
        if (from[i % 3] && from[i % 3] == to[i / 3])
            return weft__fail(ctx, WEFT_EINVAL, "input and output share a buffer");
    for (int i = 0; i < 3 && out->nnz; i++)
        if (to[i] && to[i] == to[(i + 1) % 3])
            return weft__fail(ctx, WEFT_EINVAL, "two arrays of the output are the same buffer");
    return WEFT_OK;
}
