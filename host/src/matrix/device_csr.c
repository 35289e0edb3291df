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

weft_status weft__shape_same(struct weft_context *ctx, const char *name, struct weft_shape shape, const char *wants,
                             struct weft_shape wanted)
{
    if (shape.m == wanted.m && shape.n == wanted.n && shape.nnz == wanted.nnz && shape.type == wanted.type &&
        shape.ofs == wanted.ofs)
        return WEFT_OK;
    return weft__fail(
        ctx, WEFT_EINVAL,
        "%s is %lld x %lld, %lld entries of type %d, offsets %d; %s %lld x %lld, %lld entries of type %d, "
        "offsets %d",
        name, (long long)shape.m, (long long)shape.n, (long long)shape.nnz, (int)shape.type, (int)shape.ofs, wants,
        (long long)wanted.m, (long long)wanted.n, (long long)wanted.nnz, (int)wanted.type, (int)wanted.ofs);
}

weft_status weft__matrix_check(struct weft_context *ctx, const char *name, const struct weft_device_csr *a,
                               struct weft_shape wanted)
{
    weft_status status = weft__shape_same(ctx, name, weft_device_csr_shape(a), "the plan is for", wanted);
    if (!status)
        status = WEFT__BUFFERS(ctx, {"row_ptr", a->row_ptr, ((size_t)wanted.m + 1) * weft_ofs_bytes(wanted.ofs)},
                               {"col", a->col, weft__mul((size_t)wanted.nnz, 4)},
                               {"val", a->val, weft__mul((size_t)wanted.nnz, weft_type_bytes(wanted.type))});
    return status;
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
    return weft__shape_same(ctx, "the device matrix", weft_device_csr_shape(d), "the host matrix", weft_csr_shape(h));
}

// The arrays of a matrix on both sides.
static void arrays(struct weft__copy out[3], const struct weft_device_csr *d, const struct weft_csr *h)
{
    const size_t nnz = (size_t)h->nnz;
    out[0] = (struct weft__copy){d->row_ptr, 0, h->row_ptr, ((size_t)h->m + 1) * weft_ofs_bytes(h->ofs)};
    out[1] = (struct weft__copy){d->col, 0, h->col, nnz * 4};
    out[2] = (struct weft__copy){d->val, 0, h->val, nnz * weft_type_bytes(h->type)};
}

weft_status weft_device_csr_write_sync(const struct weft_device_csr *to, struct weft_context *ctx,
                                       cl_command_queue queue, const struct weft_csr *from)
{
    struct weft__copy copies[3];
    const weft_status status = same_check(ctx, to, from);
    if (status)
        return status;
    arrays(copies, to, from);
    return weft__copies_in(ctx, queue, false, copies, 3);
}

weft_status weft_device_csr_read_sync(struct weft_csr *to, struct weft_context *ctx, cl_command_queue queue,
                                      const struct weft_device_csr *from)
{
    struct weft__copy copies[3];
    const weft_status status = same_check(ctx, from, to);
    if (status)
        return status;
    arrays(copies, from, to);
    return weft__copies_out(ctx, queue, false, copies, 3);
}

weft_status weft_device_write_sync(cl_mem to, struct weft_context *ctx, cl_command_queue queue, const void *from,
                                   size_t bytes)
{
    return ctx ? weft__copy_in(ctx, queue, to, from, bytes) : WEFT_EINVAL;
}

weft_status weft_device_read_sync(void *to, struct weft_context *ctx, cl_command_queue queue, cl_mem from, size_t bytes)
{
    return ctx ? weft__copy_out(ctx, queue, to, from, bytes) : WEFT_EINVAL;
}
