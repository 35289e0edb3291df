// SPDX-License-Identifier: Apache-2.0
// Fits work-groups and local memory to what the device and each compiled kernel allow.
#include "host/src/core/limits.h"
#include "host/src/core/quirks.h"

// What kernels were found to allow, for the operation that this thread is creating.
static _Thread_local struct {
    size_t wg, local;
    size_t next_wg, next_local; // found since
    int found;
} low = {SIZE_MAX, SIZE_MAX, 0, 0, 0};

size_t weft__wg_most(const struct weft_context *ctx)
{
    return weft__min(weft__min(ctx->device.max_wg, 1024), low.wg);
}

size_t weft__local_most(const struct weft_context *ctx)
{
    return weft__min((size_t)ctx->device.local_bytes, low.local);
}

int weft__wg_lower(const struct weft_context *ctx, int wg)
{
    while (wg > 1 && (size_t)wg > weft__wg_most(ctx))
        wg /= 2;
    return wg;
}

int weft__wg_small(const struct weft_context *ctx)
{
    int wg = WEFT__WG_LEAST;
    while (wg > 1 && (size_t)wg > ctx->device.max_wg)
        wg /= 2;
    return wg;
}

struct weft__limit weft__limit_begin(struct weft_context *ctx)
{
    struct weft__limit limit = {.ctx = ctx, .wg = low.wg, .local = low.local};
    low.found = 0;
    if (!ctx) // the operation refuses it
        return limit;
    pthread_mutex_lock(&ctx->mutex);
    limit.error = ctx->error;
    pthread_mutex_unlock(&ctx->mutex);
    return limit;
}

bool weft__limit_found(void)
{
    return low.found;
}

#define LIMIT_ROUNDS 8 // each halves at least, or leaves room for what compilers add
int weft__limit_again(struct weft__limit *limit, weft_status status)
{
    const int again = low.found && status == WEFT_ERANGE && limit->rounds++ < LIMIT_ROUNDS;
    low.found = 0;
    low.wg = again ? low.next_wg : limit->wg;
    low.local = again ? low.next_local : limit->local;
    if (again) {
        pthread_mutex_lock(&limit->ctx->mutex);
        limit->ctx->error = limit->error;
        pthread_mutex_unlock(&limit->ctx->mutex);
    }
    return again;
}

weft_status weft__limit_check(struct weft_context *ctx, cl_kernel kernel, const char *name, size_t wg)
{
    const size_t has = (size_t)ctx->device.local_bytes;
    size_t most = 0;
    cl_ulong local = 0;
    if (weft__cl.clGetKernelWorkGroupInfo(kernel, ctx->device.id, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most,
                                          NULL) ||
        weft__quirks_of(&ctx->device).untold_groups)
        most = 0; // not told
    if (weft__cl.clGetKernelWorkGroupInfo(kernel, ctx->device.id, CL_KERNEL_LOCAL_MEM_SIZE, sizeof local, &local, NULL))
        local = 0;
    low.next_wg = low.wg;
    low.next_local = low.local;
    low.found = 1;
    if (most && most < wg) {
        low.next_wg = most;
        return weft__fail(ctx, WEFT_ERANGE, "%s takes work-groups of at most %zu on %s, not of %zu", name, most,
                          ctx->device.name, wg);
    }
    if (local > has) {
        const size_t over = (size_t)local - has, room = weft__local_most(ctx);
        low.next_local = room > over ? room - over : 0;
        return weft__fail(ctx, WEFT_ERANGE, "%s takes %zu bytes of local memory, %s has %zu", name, (size_t)local,
                          ctx->device.name, has);
    }
    low.found = 0;
    return WEFT_OK;
}

#define MAX_SUB_GROUP_SIZE_FOR_NDRANGE 0x2033 // OpenCL 2.1
size_t weft__wave_of(const struct weft_context *ctx, cl_kernel kernel, size_t wg)
{
    size_t wave = 0;
    return weft__cl.clGetKernelSubGroupInfo &&
                   weft__cl.clGetKernelSubGroupInfo(kernel, ctx->device.id, MAX_SUB_GROUP_SIZE_FOR_NDRANGE, sizeof wg,
                                                    &wg, sizeof wave, &wave, NULL) == CL_SUCCESS
               ? wave
               : 0;
}

weft_status weft__limit_wave(struct weft_context *ctx, cl_kernel kernel, const char *name, size_t wg)
{
    const size_t wave = weft__wave_of(ctx, kernel, wg);
    if (wave == (size_t)ctx->device.wave)
        return WEFT_OK;
    // Other threads may be laying out plans: weft__caps_of reads it in one piece.
    __atomic_store_n(&ctx->device.lanes, WEFT_LANES_LOCAL, __ATOMIC_RELAXED);
    low.next_wg = low.wg;
    low.next_local = low.local;
    low.found = 1;
    return weft__fail(ctx, WEFT_ERANGE, "%s has sub-groups of %zu on %s, not of %d", name, wave, ctx->device.name,
                      ctx->device.wave);
}
