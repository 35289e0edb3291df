// SPDX-License-Identifier: Apache-2.0
// Host arrays as buffers: the array's own memory where the device shares it, else a copy.
#include "host/src/core/lend.h"
#include "host/src/core/buffer.h"
#include "host/src/core/check.h"
#include "host/src/core/copy.h"
#include "host/src/core/keep.h"

// Of the largest built-in type, which OpenCL aligns every buffer to.
#define LARGEST_TYPE 128
#define ELEMENT      4

// Is the array itself the buffer? Only on a device that shares the host's memory, and where it is aligned: to its elements in
// the CPU schedule, whose kernels read one at a time, else to the largest type of OpenCL.
static bool is_shared(const struct weft_context *ctx, const void *host, size_t bytes)
{
    const uintptr_t align = ctx->schedule == WEFT_SCHEDULE_CPU ? ELEMENT : LARGEST_TYPE;
    return ctx->device.unified && bytes && host && (uintptr_t)host % align == 0;
}

// A buffer as weft__lend_begin's; *copy is what there is to bring into it, 0 bytes for nothing.
static weft_status lend_make(struct weft__copy *copy, cl_mem *out, struct weft_context *ctx, enum weft__lend use,
                             const void *host, size_t bytes, const char *what)
{
    *out = NULL;
    *copy = (struct weft__copy){0};
    if (bytes && !host)
        return weft__fail(ctx, WEFT_EINVAL, "%s: the host array is NULL", what);
    // What is beyond the device's limit is refused as any other buffer.
    if (is_shared(ctx, host, bytes) && bytes <= (size_t)ctx->device.max_alloc_bytes) {
        const cl_mem_flags flags = use == WEFT__LEND_READ ? CL_MEM_READ_ONLY : CL_MEM_READ_WRITE;
        cl_int error;
        *out = weft__cl.clCreateBuffer(ctx->cl, flags | CL_MEM_USE_HOST_PTR | weft__buffer_large(ctx, bytes), bytes,
                                       (void *)(uintptr_t)host, &error);
        if (error != CL_INVALID_HOST_PTR) // some drivers have rules of their own for such memory
            return weft__fail_cl(ctx, error, what);
        *out = NULL;
    }
    *out = weft__keep_buffer(ctx, bytes);
    const weft_status status = *out ? WEFT_OK : weft__buffer_create(out, ctx, bytes, what);
    if (!status && use != WEFT__LEND_WRITE)
        *copy = (struct weft__copy){*out, 0, (void *)(uintptr_t)host, bytes};
    return status;
}

weft_status weft__lend_begin(cl_mem *out, struct weft_context *ctx, cl_command_queue queue, enum weft__lend use,
                             const void *host, size_t bytes, const char *what)
{
    struct weft__copy copy;
    const weft_status status = lend_make(&copy, out, ctx, use, host, bytes, what);
    return status ? status : weft__copies_in(ctx, queue, true, &copy, 1);
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

// The end of a lent array: mapped, or left to the caller to copy out. 0 bytes: nothing.
static weft_status lend_map(struct weft__copy *copy, struct weft_context *ctx, cl_command_queue queue, cl_mem buffer,
                            void *host, size_t bytes)
{
    void *of = NULL;
    *copy = (struct weft__copy){0};
    if (!bytes)
        return WEFT_OK;
    weft_status status = weft__fail_cl(ctx, weft__cl.clGetMemObjectInfo(buffer, CL_MEM_HOST_PTR, sizeof of, &of, NULL),
                                       "clGetMemObjectInfo");
    if (!status && of == host)
        return map_once(ctx, queue, buffer, bytes);
    *copy = (struct weft__copy){buffer, 0, host, bytes};
    return status;
}

weft_status weft__lend_end(struct weft_context *ctx, cl_command_queue queue, cl_mem buffer, void *host, size_t bytes)
{
    struct weft__copy copy;
    weft_status status;
    if (!bytes)
        status = weft__fail_cl(ctx, weft__cl.clFinish(queue), "clFinish");
    else if (!(status = lend_map(&copy, ctx, queue, buffer, host, bytes)))
        status = weft__copies_out(ctx, queue, true, &copy, 1);
    return status ? status : weft__stage_settle(ctx, queue);
}

weft_status weft__lend_csr(struct weft_device_csr *out, struct weft_context *ctx, cl_command_queue queue,
                           enum weft__lend use, const struct weft_csr *a)
{
    const size_t nnz = (size_t)a->nnz;
    struct weft__copy copies[3] = {{0}};
    *out = (struct weft_device_csr){.m = a->m, .n = a->n, .nnz = a->nnz, .type = a->type, .ofs = a->ofs};
    weft_status status = lend_make(&copies[0], &out->row_ptr, ctx, use, a->row_ptr,
                                   weft__mul((size_t)a->m + 1, weft_ofs_bytes(a->ofs)), "row pointers");
    if (!status)
        status = lend_make(&copies[1], &out->col, ctx, use, a->col, weft__mul(nnz, 4), "column indices");
    if (!status && a->type != WEFT_TYPE_PATTERN)
        status = lend_make(&copies[2], &out->val, ctx, use, a->val, weft__mul(nnz, weft_type_bytes(a->type)), "values");
    return status ? status : weft__copies_in(ctx, queue, true, copies, 3);
}

weft_status weft__lend_csr_end(struct weft_context *ctx, cl_command_queue queue, const struct weft_device_csr *d,
                               struct weft_csr *a)
{
    const size_t nnz = (size_t)a->nnz;
    struct weft__copy copies[3] = {{0}};
    weft_status status =
        lend_map(&copies[0], ctx, queue, d->row_ptr, a->row_ptr, ((size_t)a->m + 1) * weft_ofs_bytes(a->ofs));
    if (!status)
        status = lend_map(&copies[1], ctx, queue, d->col, a->col, nnz * 4);
    if (!status && a->type != WEFT_TYPE_PATTERN)
        status = lend_map(&copies[2], ctx, queue, d->val, a->val, nnz * weft_type_bytes(a->type));
    if (!status)
        status = weft__copies_out(ctx, queue, true, copies, 3);
    return status ? status : weft__stage_settle(ctx, queue);
}

void weft__lend_release(struct weft_context *ctx, cl_mem *buffer, bool idle)
{
    weft__keep_buffer_end(ctx, buffer, idle);
}

void weft__lend_csr_release(struct weft_context *ctx, struct weft_device_csr *a, bool idle)
{
    weft__lend_release(ctx, &a->row_ptr, idle);
    weft__lend_release(ctx, &a->col, idle);
    weft__lend_release(ctx, &a->val, idle);
    *a = (struct weft_device_csr){0};
}

void weft__lend_wait(struct weft_context *ctx, cl_command_queue queue)
{
    if (!queue)
        return;
    weft__cl.clFinish(queue);
    weft__quiet_begin(ctx);
    weft__stage_settle(ctx, queue);
    weft__quiet_end(NULL);
}
