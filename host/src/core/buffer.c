// SPDX-License-Identifier: Apache-2.0
// Buffers on the device: checked against its limit, on huge pages where that helps a processor.
#include "host/src/core/buffer.h"
#include "host/src/core/context.h"
#include "host/src/core/huge.h"
#include "host/src/core/keep.h"

#include <stdlib.h>
#include <sys/mman.h>

// Bytes from which a buffer is worth huge pages.
#define HUGE_LEAST (2 * WEFT__HUGE_BYTES)
// Where all buffers begin at a page, equal places of two arrays lie at equal offsets in their pages, and processors take a load
// for one that has to wait for a store just before it (Intel: "4K aliasing"). So one buffer after the other begins elsewhere in
// its first page, at one of 16 places that lie 256 bytes apart or more.
#define PAGE_BYTES ((size_t)4096)
#define SKEW_BYTES ((size_t)1280)

#ifdef MADV_HUGEPAGE
static void CL_CALLBACK huge_free(cl_mem buffer, void *memory)
{
    (void)buffer;
    free(memory);
}
#endif

// Drivers for processors take their memory from malloc, in pages of 4 KiB where the system gives huge ones only to those
// who ask. Random access then waits for addresses as well, and even a stream through memory is a fifth slower. NULL:
// not to be had; an ordinary buffer serves.
static cl_mem huge_create(struct weft_context *ctx, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    void *memory = NULL;
    cl_int error;
    if (!(ctx->device.type & CL_DEVICE_TYPE_CPU) || bytes < HUGE_LEAST ||
        posix_memalign(&memory, WEFT__HUGE_BYTES, bytes + PAGE_BYTES))
        return NULL;
    cl_mem buffer = NULL;
    const size_t number = __atomic_fetch_add(&ctx->huge_buffers, 1, __ATOMIC_RELAXED);
    char *first = (char *)memory + number * SKEW_BYTES % PAGE_BYTES;
    if (!madvise(memory, bytes + PAGE_BYTES, MADV_HUGEPAGE))
        buffer = weft__cl.clCreateBuffer(ctx->cl, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, first, &error);
    if (buffer && weft__cl.clSetMemObjectDestructorCallback(buffer, huge_free, memory) == CL_SUCCESS)
        return buffer;
    weft__buffer_release(&buffer);
    free(memory);
#else
    (void)ctx;
    (void)bytes;
#endif
    return NULL;
}

cl_mem_flags weft__buffer_large(const struct weft_context *ctx, size_t bytes)
{
    const int64_t wide = (int64_t)bytes; // a size_t of 32 bits never gets there, of which compilers warn
    return wide >= WEFT__LARGE_BYTES ? ctx->large_flag : 0;
}

weft_status weft__buffer_check(struct weft_context *ctx, size_t bytes, const char *what)
{
    if (bytes <= (size_t)ctx->device.max_alloc_bytes)
        return WEFT_OK;
    return weft__fail(ctx, WEFT_ERANGE, "%s needs %zu bytes, %s allocates at most %lld at once", what, bytes,
                      ctx->device.name, (long long)ctx->device.max_alloc_bytes);
}

weft_status weft__buffer_create(cl_mem *out, struct weft_context *ctx, size_t bytes, const char *what)
{
    return weft__buffer_create_from(out, ctx, bytes, NULL, what);
}

weft_status weft__buffer_create_from(cl_mem *out, struct weft_context *ctx, size_t bytes, const void *data,
                                     const char *what)
{
    const cl_mem_flags flags =
        CL_MEM_READ_WRITE | (data && bytes ? CL_MEM_COPY_HOST_PTR : 0) | weft__buffer_large(ctx, bytes);
    *out = NULL;
    const weft_status status = weft__buffer_check(ctx, bytes, what);
    if (status)
        return status;
    if (!data && (*out = huge_create(ctx, bytes)))
        return WEFT_OK;
    cl_int error;
    cl_mem buffer;
    do // without memory, what is kept for the next call goes first
        buffer = weft__cl.clCreateBuffer(ctx->cl, flags, bytes ? bytes : 1, bytes ? (void *)data : NULL, &error);
    while (error != CL_SUCCESS && weft__keep_drop(ctx));
    if (error != CL_SUCCESS)
        return weft__fail_code(ctx, WEFT_EDEVMEM, error, "%s of %zu bytes on %s: %s (%d)", what, bytes,
                               ctx->device.name, weft__cl_error_name(error), error);
    *out = buffer;
    return WEFT_OK;
}

weft_status weft__buffer_create_zeros(cl_mem *out, struct weft_context *ctx, size_t bytes, const char *what)
{
    void *zeros = calloc(1, bytes);
    *out = NULL;
    if (!zeros)
        return weft__fail(ctx, WEFT_ENOMEM, "out of host memory for %s", what);
    weft_status status = weft__buffer_create_from(out, ctx, bytes, zeros, what);
    free(zeros);
    return status;
}

void weft__buffer_release(cl_mem *buffer)
{
    if (*buffer)
        weft__cl.clReleaseMemObject(*buffer);
    *buffer = NULL;
}
