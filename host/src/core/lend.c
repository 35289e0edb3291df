// SPDX-License-Identifier: Apache-2.0
// Host arrays as buffers: the array's own memory where the device shares it, else a copy.
#include "host/src/core/lend.h"
#include "host/src/core/buffer.h"
#include "host/src/core/check.h"
#include "host/src/core/copy.h"

// Of the largest built-in type, which OpenCL aligns every buffer to.
#define LARGEST_TYPE 128
#define ELEMENT      4

bool weft__lend_shares(const struct weft_context *ctx, const void *host, size_t bytes)
{
    const uintptr_t align = ctx->schedule == WEFT_SCHEDULE_CPU ? ELEMENT : LARGEST_TYPE;
    return ctx->device.unified && bytes && host && (uintptr_t)host % align == 0;
}

weft_status weft__lend_begin(cl_mem *out, struct weft_context *ctx, cl_command_queue queue, enum weft__lend use,
                             const void *host, size_t bytes, const char *what)
{
    *out = NULL;
    if (bytes && !host)
        return weft__fail(ctx, WEFT_EINVAL, "%s: the host array is NULL", what);
    // What is beyond the device's limit is refused as any other buffer.
    if (weft__lend_shares(ctx, host, bytes) && bytes <= (size_t)ctx->device.max_alloc_bytes) {
        const cl_mem_flags flags = use == WEFT__LEND_READ ? CL_MEM_READ_ONLY : CL_MEM_READ_WRITE;
        cl_int error;
        *out = weft__cl.clCreateBuffer(ctx->cl, flags | CL_MEM_USE_HOST_PTR, bytes, (void *)(uintptr_t)host, &error);
        if (error != CL_INVALID_HOST_PTR) // some drivers have rules of their own for such memory
            return weft__fail_cl(ctx, error, what);
        *out = NULL;
    }
    weft_status status = weft__buffer_create(out, ctx, bytes, what);
    if (!status && use != WEFT__LEND_WRITE)
        status = weft__copy_in(ctx, queue, *out, host, bytes);
    return status;
}

// Mapping makes the array hold what the device wrote.
static weft_status map_once(struct weft_context *ctx, cl_command_queue queue, cl_mem buffer, size_t bytes)
{
    cl_int error;
    void *at = weft__cl.clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ, 0, bytes, 0, NULL, NULL, &error);
    weft_status status = weft__fail_cl(ctx, error, "clEnqueueMapBuffer");
    if (!status)
        status = weft__fail_cl(ctx, weft__cl.clEnqueueUnmapMemObject(queue, buffer, at, 0, NULL, NULL),
                               "clEnqueueUnmapMemObject");
    return status ? status : weft__fail_cl(ctx, weft__cl.clFinish(queue), "clFinish");
}

weft_status weft__lend_end(struct weft_context *ctx, cl_command_queue queue, cl_mem buffer, void *host, size_t bytes)
{
    void *of = NULL;
    if (!bytes)
        return weft__fail_cl(ctx, weft__cl.clFinish(queue), "clFinish");
    weft_status status = weft__fail_cl(ctx, weft__cl.clGetMemObjectInfo(buffer, CL_MEM_HOST_PTR, sizeof of, &of, NULL),
                                       "clGetMemObjectInfo");
    if (status)
        return status;
    return of == host ? map_once(ctx, queue, buffer, bytes) : weft__copy_out(ctx, queue, host, buffer, bytes);
}

weft_status weft__lend_csr(struct weft_device_csr *out, struct weft_context *ctx, cl_command_queue queue,
                           enum weft__lend use, const struct weft_csr *a)
{
    const size_t nnz = (size_t)a->nnz;
    *out = (struct weft_device_csr){.m = a->m, .n = a->n, .nnz = a->nnz, .type = a->type, .ofs = a->ofs};
    weft_status status = weft__lend_begin(&out->row_ptr, ctx, queue, use, a->row_ptr,
                                          weft__mul((size_t)a->m + 1, weft_ofs_bytes(a->ofs)), "row pointers");
    if (!status)
        status = weft__lend_begin(&out->col, ctx, queue, use, a->col, weft__mul(nnz, 4), "column indices");
    if (!status && a->type != WEFT_TYPE_PATTERN)
        status =
            weft__lend_begin(&out->val, ctx, queue, use, a->val, weft__mul(nnz, weft_type_bytes(a->type)), "values");
    return status;
}

weft_status weft__lend_csr_end(struct weft_context *ctx, cl_command_queue queue, const struct weft_device_csr *d,
                               struct weft_csr *a)
{
    const size_t nnz = (size_t)a->nnz;
    weft_status status =
        weft__lend_end(ctx, queue, d->row_ptr, a->row_ptr, ((size_t)a->m + 1) * weft_ofs_bytes(a->ofs));
    if (!status)
        status = weft__lend_end(ctx, queue, d->col, a->col, nnz * 4);
    if (!status && a->type != WEFT_TYPE_PATTERN)
        status = weft__lend_end(ctx, queue, d->val, a->val, nnz * weft_type_bytes(a->type));
    return status;
}

void weft__lend_wait(cl_command_queue queue)
{
    if (queue)
        weft__cl.clFinish(queue);
}
