// SPDX-License-Identifier: Apache-2.0
#include "host/src/core/context.h"
#include "host/src/core/cache.h"
#include "host/src/core/check.h"
#include "host/src/core/op.h"
#include "host/src/core/own.h"
#include "host/src/core/lanes_probe.h"
#include "host/src/core/quirks.h"
#include "host/src/core/program.h"
#include "host/src/core/tune.h"

#include <stdio.h>
#include <stdlib.h>
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
__attribute__((format(printf, 4, 0))) static weft_status fail_with(struct weft_context *ctx, weft_status status,
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

// $XDG_CACHE_HOME/weft, else ~/.cache/weft; NULL when there is neither or the caller wants none.
static char *cache_dir_find(struct weft_context *ctx, const char *wanted)
{
    const char *home = secure_getenv("HOME"), *xdg = secure_getenv("XDG_CACHE_HOME");
    char path[4096];
    int length;
    if (wanted)
        length = snprintf(path, sizeof path, "%s", wanted);
    else if (xdg && *xdg)
        length = snprintf(path, sizeof path, "%s/weft", xdg);
    else if (home && *home)
        length = snprintf(path, sizeof path, "%s/.cache/weft", home);
    else
        return NULL;
    if (length <= 0 || (size_t)length >= sizeof path) {
        weft__tell(ctx, "program cache %.64s... is not used: the path is too long", path);
        return NULL;
    }
    weft__own_folder_make(path);
    return strdup(path);
}

// The device of the list that `params` names, or the default one; NULL: there is none.
static const struct weft_device_info *device_choose(const struct weft_context_params *params,
                                                    const struct weft_device_info *list, size_t count)
{
    const int given = params->device || params->device_index || params->force_index;
    cl_device_id own[64]; // of the caller's context
    size_t bytes = 0;
    if (!given && !params->context)
        return &list[weft_device_default(list, count)];
    if (!given && weft__cl.clGetContextInfo(params->context, CL_CONTEXT_DEVICES, sizeof own, own, &bytes) != CL_SUCCESS)
        return NULL;
    const struct weft_device_info *chosen = NULL;
    for (size_t i = 0; i < count; i++) {
        int wanted = params->device ? list[i].id == params->device : given && list[i].index == params->device_index;
        for (size_t k = 0; !given && k < bytes / sizeof *own; k++)
            wanted |= list[i].id == own[k];
        if (!wanted)
            continue;
        const struct weft_device_info two[] = {chosen ? *chosen : list[i], list[i]};
        if (weft_device_default(two, 2) == 1 || !chosen)
            chosen = &list[i];
    }
    return chosen;
}

weft_status weft_context_create(struct weft_context **out, const struct weft_context_params *params,
                                struct weft_error *err)
{
    static const struct weft_context_params defaults;
    weft_status status = WEFT__NEED(err, {"out", out});
    if (status)
        return status;
    if (!params)
        params = &defaults;
    *out = NULL;
    if ((unsigned)params->schedule > WEFT_SCHEDULE_CPU)
        return weft__error(err, WEFT_EINVAL, "params.schedule is %d, no schedule", (int)params->schedule);
    if ((unsigned)params->max_lanes > WEFT_LANES_SUBGROUPS)
        return weft__error(err, WEFT_EINVAL, "params.max_lanes is %d, no implementation of lane operations",
                           (int)params->max_lanes);
    struct weft_device_info *list = NULL;
    size_t count = 0;
    status = weft_devices_list(&list, &count, err);
    if (status)
        return status;
    const struct weft_device_info *chosen = device_choose(params, list, count);
    if (!chosen) {
        weft_devices_free(&list);
        return params->device ? weft__error(err, WEFT_ENODEV, "the device given is in no platform")
               : params->context && !params->device_index && !params->force_index
                   ? weft__error(err, WEFT_ENODEV, "no device of the context given is in the list")
                   : weft__error(err, WEFT_ENODEV, "there is no device %d: the list goes from 0 to %zu",
                                 params->device_index, count - 1);
    }
    if (chosen->why[0]) {
        weft__error(err, WEFT_ENODEV, "device %d cannot be used: %s", chosen->index, chosen->why);
        weft_devices_free(&list);
        return WEFT_ENODEV;
    }
    if (params->force_lanes && params->wave &&
        (params->max_lanes != WEFT_LANES_SUBGROUPS || !(chosen->waves & params->wave & 96))) {
        weft__error(err, WEFT_EINVAL, "params.wave is %d, device %d has no such sub-groups", params->wave,
                    chosen->index);
        weft_devices_free(&list);
        return WEFT_EINVAL;
    }
    if (params->schedule == WEFT_SCHEDULE_GPU && weft__quirks_of(chosen).cpu_only) {
        weft__error(err, WEFT_EINVAL, "kernels for GPUs end the compiler of device %d (%s, %s)", chosen->index,
                    chosen->platform, chosen->platform_version);
        weft_devices_free(&list);
        return WEFT_EINVAL;
    }
    if (params->schedule == WEFT_SCHEDULE_GPU && chosen->max_wg < WEFT__WG_LEAST) {
        weft__error(err, WEFT_EINVAL, "kernels for GPUs need work-groups of %d, device %d takes %zu at most",
                    WEFT__WG_LEAST, chosen->index, chosen->max_wg);
        weft_devices_free(&list);
        return WEFT_EINVAL;
    }
    struct weft_context *ctx = calloc(1, sizeof *ctx);
    if (!ctx) {
        weft_devices_free(&list);
        return weft__error(err, WEFT_ENOMEM, "out of host memory for a context");
    }
    pthread_mutex_init(&ctx->mutex, NULL);
    ctx->device = *chosen;
    ctx->fill_words = weft__quirks_of(chosen).fill_words;
    weft_devices_free(&list);
    ctx->log = params->log;
    ctx->log_arg = params->log_arg;
    const int cpu = (ctx->device.type & CL_DEVICE_TYPE_CPU) != 0 || ctx->device.max_wg < WEFT__WG_LEAST;
    ctx->schedule = params->schedule ? params->schedule : cpu ? WEFT_SCHEDULE_CPU : WEFT_SCHEDULE_GPU;
    if (params->force_lanes)
        ctx->device.lanes = params->max_lanes;
    ctx->device.fence &= ctx->device.lanes == WEFT_LANES_PTX || ctx->device.lanes == WEFT_LANES_AMDGCN;
    if (params->force_lanes && params->wave)
        ctx->device.wave = params->wave;
    ctx->cache_dir = params->cache_dir && !*params->cache_dir ? NULL : cache_dir_find(ctx, params->cache_dir);
    weft__tune_load(ctx, params->tune_file);
    cl_int error;
    if (params->context) {
        ctx->cl = params->context;
        error = weft__cl.clRetainContext(ctx->cl);
    } else {
        cl_context_properties props[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)ctx->device.platform_id, 0};
        ctx->cl = weft__cl.clCreateContext(props, 1, &ctx->device.id, NULL, NULL, &error);
    }
    if (error != CL_SUCCESS) {
        weft__error(err, WEFT_EDEVICE, "device %d (%s) gives no context: %s (%d)", ctx->device.index, ctx->device.name,
                    weft__cl_error_name(error), error);
        if (err)
            err->cl_error = error;
        ctx->cl = NULL;
        weft_context_destroy(&ctx);
        return WEFT_EDEVICE;
    }
    // How work-items are mapped to sub-groups is the driver's choice.
    if (weft__caps_of(ctx).lanes == WEFT_LANES_SUBGROUPS && !weft__lanes_probe(ctx))
        ctx->device.lanes = WEFT_LANES_LOCAL;
    *out = ctx;
    return WEFT_OK;
}

void weft_context_destroy(struct weft_context **ctx)
{
    if (!ctx || !*ctx)
        return;
    weft__programs_free(*ctx);
    if ((*ctx)->cl)
        weft__cl.clReleaseContext((*ctx)->cl);
    pthread_mutex_destroy(&(*ctx)->mutex);
    weft__tune_free(*ctx);
    free((*ctx)->cache_dir);
    free(*ctx);
    *ctx = NULL;
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

void weft_context_error(struct weft_context *ctx, struct weft_error *out)
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

void weft_context_build_stats(struct weft_context *ctx, struct weft_build_stats *out)
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

weft_status weft__stream_begin(struct weft__stream *out, struct weft_context *ctx, cl_command_queue queue,
                               cl_uint nwait, const cl_event *wait, cl_event *event)
{
    *out =
        (struct weft__stream){.ctx = ctx, .queue = queue, .nwait = nwait, .wait = nwait ? wait : NULL, .event = event};
    if (!queue || (nwait && !wait)) {
        out->status = weft__fail(ctx, WEFT_EINVAL, "%s is NULL", queue ? "wait" : "queue");
        return out->status;
    }
    for (cl_uint i = 0; i < nwait; i++)
        if (!wait[i]) {
            out->status = weft__fail(ctx, WEFT_EINVAL, "wait[%u] is NULL", (unsigned)i);
            return out->status;
        }
    cl_command_queue_properties props = 0;
    cl_int error = weft__cl.clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof props, &props, NULL);
    out->status = weft__fail_cl(ctx, error, "clGetCommandQueueInfo");
    out->out_of_order = (props & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
    return out->status;
}

weft_status weft__stream_end(struct weft__stream *stream)
{
    if (!stream->status && stream->event)
        stream->status = weft__fail_cl(
            stream->ctx,
            weft__cl.clEnqueueMarkerWithWaitList(stream->queue, stream->nwait, stream->wait, stream->event),
            "clEnqueueMarkerWithWaitList");
    return stream->status;
}
