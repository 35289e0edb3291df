// SPDX-License-Identifier: Apache-2.0
// Matrices in device memory, and blocking copies.
#include "host/src/matrix/device_csr.h"
#include "host/src/core/buffer.h"
#include "host/src/core/check.h"

#include <string.h>

weft_status weft__shape_check(struct weft_context *ctx, struct weft_shape shape)
{
    const int64_t m = shape.m, n = shape.n, nnz = shape.nnz;
    if (m < 0 || m > INT32_MAX || n < 0 || n > INT32_MAX || nnz < 0)
        return weft__fail(ctx, WEFT_EINVAL, "a %lld x %lld matrix with %lld entries: sizes are 0 .. 2^31-1",
                          (long long)m, (long long)n, (long long)nnz);
    if (nnz > 0 && (m == 0 || n == 0))
        return weft__fail(ctx, WEFT_EINVAL, "a %lld x %lld matrix has no entries, %lld are given", (long long)m,
                          (long long)n, (long long)nnz);
    if ((int)shape.type < 0 || shape.type > WEFT_TYPE_PATTERN)
        return weft__fail(ctx, WEFT_EINVAL, "type %d is not a type of values", (int)shape.type);
    if (shape.ofs != WEFT_OFS_32 && shape.ofs != WEFT_OFS_64)
        return weft__fail(ctx, WEFT_EINVAL, "%d is not a width of offsets", (int)shape.ofs);
    if (shape.ofs == WEFT_OFS_32 && nnz > INT32_MAX)
        return weft__fail(ctx, WEFT_ERANGE, "%lld entries do not fit 32-bit offsets", (long long)nnz);
    return WEFT_OK;
}

weft_status weft_device_csr_alloc(struct weft_device_csr *out, struct weft_context *ctx, struct weft_shape shape)
{
    if (out)
        *out = (struct weft_device_csr){0};
    weft_status status = WEFT__NEED_IN(ctx, {"out", out});
    if (!status)
        status = weft__shape_check(ctx, shape);
    if (status)
        return status;
    const size_t nnz = (size_t)shape.nnz;
    *out = (struct weft_device_csr){.m = shape.m, .n = shape.n, .nnz = shape.nnz, .type = shape.type, .ofs = shape.ofs};
    status = weft__buffer_create(&out->row_ptr, ctx, weft__mul((size_t)shape.m + 1, weft_ofs_bytes(shape.ofs)),
                                 "row pointers");
    if (!status)
        status = weft__buffer_create(&out->col, ctx, weft__mul(nnz, 4), "column indices");
    if (!status && shape.type != WEFT_TYPE_PATTERN)
        status = weft__buffer_create(&out->val, ctx, weft__mul(nnz, weft_type_bytes(shape.type)), "values");
    if (status)
        weft_device_csr_free(out);
    return status;
}

void weft_device_csr_free(struct weft_device_csr *a)
{
    if (!a)
        return;
    weft__buffer_release(&a->row_ptr);
    weft__buffer_release(&a->col);
    weft__buffer_release(&a->val);
    *a = (struct weft_device_csr){0};
}

// Both sides of a copy must be the same matrix.
static weft_status same_check(struct weft_context *ctx, const struct weft_device_csr *d, const struct weft_csr *h)
{
    struct weft_error err = {0};
    weft_status status = WEFT__NEED_IN(ctx, {"the device matrix", d});
    if (status)
        return status;
    if ((status = weft__csr_check(&err, h)))
        return weft__fail(ctx, status, "%s", err.text);
    if (d->m == h->m && d->n == h->n && d->nnz == h->nnz && d->type == h->type && d->ofs == h->ofs)
        return WEFT_OK;
    return weft__fail(ctx, WEFT_EINVAL,
                      "the device matrix is %lld x %lld, %lld entries of type %d, offsets %d; the host matrix %lld x "
                      "%lld, %lld entries of type %d, offsets %d",
                      (long long)d->m, (long long)d->n, (long long)d->nnz, (int)d->type, (int)d->ofs, (long long)h->m,
                      (long long)h->n, (long long)h->nnz, (int)h->type, (int)h->ofs);
}

weft_status weft_device_csr_write_sync(const struct weft_device_csr *to, struct weft_context *ctx,
                                       cl_command_queue queue, const struct weft_csr *from)
{
    weft_status status = same_check(ctx, to, from);
    size_t nnz = status ? 0 : (size_t)from->nnz;
    if (!status)
        status =
            weft__copy_in(ctx, queue, to->row_ptr, from->row_ptr, ((size_t)from->m + 1) * weft_ofs_bytes(from->ofs));
    if (!status)
        status = weft__copy_in(ctx, queue, to->col, from->col, nnz * 4);
    if (!status)
        status = weft__copy_in(ctx, queue, to->val, from->val, nnz * weft_type_bytes(from->type));
    return status;
}

weft_status weft_device_csr_read_sync(struct weft_csr *to, struct weft_context *ctx, cl_command_queue queue,
                                      const struct weft_device_csr *from)
{
    weft_status status = same_check(ctx, from, to);
    size_t nnz = status ? 0 : (size_t)to->nnz;
    if (!status)
        status = weft__copy_out(ctx, queue, to->row_ptr, from->row_ptr, ((size_t)to->m + 1) * weft_ofs_bytes(to->ofs));
    if (!status)
        status = weft__copy_out(ctx, queue, to->col, from->col, nnz * 4);
    if (!status)
        status = weft__copy_out(ctx, queue, to->val, from->val, nnz * weft_type_bytes(to->type));
    return status;
}
