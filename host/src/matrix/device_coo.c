// SPDX-License-Identifier: Apache-2.0
// Buffers for coordinates in device memory.
#include "host/src/core/buffer.h"
#include "host/src/core/check.h"
#include "host/src/matrix/device_csr.h"

#include <weft/device_coo.h>

weft_status weft_device_coo_alloc(struct weft_device_coo *out, struct weft_context *ctx, struct weft_shape shape)
{
    if (out)
        *out = (struct weft_device_coo){0};
    weft_status status = WEFT__NEED_IN(ctx, {"out", out});
    shape.ofs = WEFT_OFS_64;
    if (!status)
        status = weft__shape_check(ctx, shape);
    if (status)
        return status;
    const size_t nnz = (size_t)shape.nnz;
    *out = (struct weft_device_coo){.m = shape.m, .n = shape.n, .nnz = shape.nnz, .type = shape.type};
    status = weft__buffer_create(&out->row, ctx, weft__mul(nnz, 4), "row indices");
    if (!status)
        status = weft__buffer_create(&out->col, ctx, weft__mul(nnz, 4), "column indices");
    if (!status && shape.type != WEFT_TYPE_PATTERN)
        status = weft__buffer_create(&out->val, ctx, weft__mul(nnz, weft_type_bytes(shape.type)), "values");
    if (status)
        weft_device_coo_free(out);
    return status;
}

void weft_device_coo_free(struct weft_device_coo *a)
{
    if (!a)
        return;
    weft__buffer_release(&a->row);
    weft__buffer_release(&a->col);
    weft__buffer_release(&a->val);
    *a = (struct weft_device_coo){0};
}
