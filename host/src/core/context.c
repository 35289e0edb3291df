// SPDX-License-Identifier: Apache-2.0
// What a context keeps for its operations: the last error, the log, the cache of programs, what callers ask of it.
#include "host/src/core/context.h"
#include "host/src/core/cache.h"

#include <stdio.h>
#include <string.h>

// Failures of this thread that are nobody's yet: weft__quiet_begin.
static _Thread_local struct {
    struct weft_context *ctx;
    int depth;
    struct weft_error error;
} quiet;

void weft__quiet_begin(struct weft_context *ctx)
{
    quiet.ctx = ctx;
    if (!quiet.depth++)
        quiet.error = (struct weft_error){0};
}

void weft__quiet_end(struct weft_error *out)
{
    if (out)
        *out = quiet.error;
    quiet.error = (struct weft_error){0};
    quiet.depth--;
}

weft_status weft__fail_again(struct weft_context *ctx, const struct weft_error *error)
{
    if (quiet.depth && quiet.ctx == ctx) {
        quiet.error = *error;
        return error->status;
    }
    pthread_mutex_lock(&ctx->mutex);
    ctx->error = *error;
    pthread_mutex_unlock(&ctx->mutex);
    if (ctx->log)
        ctx->log(ctx->log_arg, error->text);
    return error->status;
}

// The whole failure is made in memory of the caller: no thread sees half of one, nor does the log see another's.
__attribute__((format(__printf__, 4, 0))) static weft_status fail_with(struct weft_context *ctx, weft_status status,
                                                                       cl_int code, const char *format, va_list args)
{
    struct weft_error error;
    error.status = status;
    error.cl_error = code;
    vsnprintf(error.text, sizeof error.text, format, args);
    return weft__fail_again(ctx, &error);
}

weft_status weft__fail(struct weft_context *ctx, weft_status status, const char *format, ...)
{
    va_list args;
    if (!ctx)
        return status;
    va_start(args, format);
    fail_with(ctx, status, 0, format, args);
    va_end(args);
    return status;
}

weft_status weft__fail_code(struct weft_context *ctx, weft_status status, cl_int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fail_with(ctx, status, code, format, args);
    va_end(args);
    return status;
}

weft_status weft__fail_cl(struct weft_context *ctx, cl_int error, const char *what)
{
    if (error == CL_SUCCESS)
        return WEFT_OK;
    weft_status status = error == CL_MEM_OBJECT_ALLOCATION_FAILURE || error == CL_OUT_OF_RESOURCES ? WEFT_EDEVMEM
                         : error == CL_OUT_OF_HOST_MEMORY                                          ? WEFT_ENOMEM
                                                                                                   : WEFT_EDEVICE;
    return weft__fail_code(ctx, status, error, "%s on %s: %s (%d)", what, ctx->device.name, weft__cl_error_name(error),
                           error);
}

void weft__tell(struct weft_context *ctx, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (ctx->log)
        ctx->log(ctx->log_arg, text);
}

unsigned char *weft__cached(struct weft_context *ctx, const char *key, size_t *size)
{
    char why[WEFT__CACHE_WHY];
    unsigned char *binary = weft__cache_read(ctx->cache_dir, key, size, why);
    if (!*why)
        return binary;
    pthread_mutex_lock(&ctx->mutex);
    const int told = !strcmp(ctx->cache_told, why);
    snprintf(ctx->cache_told, sizeof ctx->cache_told, "%s", why);
    pthread_mutex_unlock(&ctx->mutex);
    if (!told)
        weft__tell(ctx, "%s", why);
    return binary;
}

const struct weft_device_info *weft_context_device(const struct weft_context *ctx)
{
    return ctx ? &ctx->device : NULL;
}

cl_context weft_context_cl(const struct weft_context *ctx)
{
    return ctx ? ctx->cl : NULL;
}

enum weft_schedule weft_context_schedule(const struct weft_context *ctx)
{
    return ctx ? ctx->schedule : WEFT_SCHEDULE_AUTO;
}

void weft_context_error(struct weft_error *out, struct weft_context *ctx)
{
    if (!out)
        return;
    if (!ctx) {
        *out = (struct weft_error){0};
        weft__error(out, WEFT_EINVAL, "ctx is NULL");
        return;
    }
    pthread_mutex_lock(&ctx->mutex);
    *out = ctx->error;
    pthread_mutex_unlock(&ctx->mutex);
}

void weft_context_on_launch(struct weft_context *ctx, weft_launch_fn *fn, void *arg)
{
    if (!ctx)
        return;
    ctx->on_launch = fn;
    ctx->on_launch_arg = arg;
}

void weft_context_build_stats(struct weft_build_stats *out, struct weft_context *ctx)
{
    if (!out)
        return;
    *out = (struct weft_build_stats){0};
    if (!ctx)
        return;
    pthread_mutex_lock(&ctx->mutex);
    *out = ctx->stats;
    pthread_mutex_unlock(&ctx->mutex);
}
