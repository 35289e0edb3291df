// SPDX-License-Identifier: Apache-2.0
// Makes and destroys contexts: the device, its schedule, the caches and the tune file.
#include "host/src/core/check.h"
#include "host/src/core/device.h"
#include "host/src/core/lanes_probe.h"
#include "host/src/core/keep.h"
#include "host/src/core/limits.h"
#include "host/src/core/own.h"
#include "host/src/core/program.h"
#include "host/src/core/quirks.h"
#include "host/src/core/selftest.h"
#include "host/src/core/stage.h"
#include "host/src/core/tune.h"
#include "host/src/core/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

WEFT__NAMES(schedule, "auto", "gpu", "cpu");

// $XDG_CACHE_HOME/weft, else ~/.cache/weft, by absolute paths; NULL where there is neither. Made where it is missing, below a home
// that is there.
static char *cache_dir_find(struct weft_context *ctx, const char *wanted)
{
    const char *home = weft__own_base("HOME"), *xdg = weft__own_base("XDG_CACHE_HOME"), *why;
    char path[4096];
    int length;
    if (wanted)
        length = snprintf(path, sizeof path, "%s", wanted);
    else if (xdg)
        length = snprintf(path, sizeof path, "%s/weft", xdg);
    else if (home)
        length = snprintf(path, sizeof path, "%s/.cache/weft", home);
    else
        return NULL;
    if (length <= 0 || (size_t)length >= sizeof path) {
        weft__tell(ctx, "program cache %.64s... is not used: the path is too long", path);
        return NULL;
    }
    if (!wanted && !xdg && access(home, F_OK)) // nothing is kept, as without a home
        return strdup(path);
    const int error = weft__own_folder_make(path);
    const int folder = weft__own_folder(path, &why);
    if (folder >= 0)
        close(folder);
    else if (!why) // what is there and not to be used is told when it is first read
        weft__tell(ctx, "program cache %.400s is not used: the folder cannot be made: %s", path, strerror(error));
    return strdup(path);
}

// The devices of the caller's context, *own (size *nown, to be freed); none, if it does not tell.
static weft_status devices_own(cl_device_id **own, size_t *nown, cl_context context, struct weft_error *err)
{
    size_t bytes = 0;
    *nown = 0;
    if (weft__cl.clGetContextInfo(context, CL_CONTEXT_DEVICES, 0, NULL, &bytes) != CL_SUCCESS)
        return WEFT_OK;
    *own = malloc(weft__max(bytes, sizeof **own));
    if (!*own)
        return weft__error(err, WEFT_ENOMEM, "%s", weft_status_text(WEFT_ENOMEM));
    if (weft__cl.clGetContextInfo(context, CL_CONTEXT_DEVICES, bytes, *own, NULL) == CL_SUCCESS)
        *nown = bytes / sizeof **own;
    return WEFT_OK;
}

static bool has(const cl_device_id *own, size_t count, cl_device_id id)
{
    for (size_t i = 0; i < count; i++)
        if (own[i] == id)
            return true;
    return false;
}

// Leave in the list what the caller's context has; of a context of parts of a device the first one. Gives how many.
static size_t devices_keep(struct weft_device_info *list, size_t count, const cl_device_id *own, size_t nown)
{
    cl_device_id whole;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (has(own, nown, list[i].id))
            list[kept++] = list[i];
    return kept ? kept : nown && weft__device_entry(list, &whole, list, count, own[0]);
}

// What the device lacks for lane operations of this kind; NULL: nothing. Local memory is everywhere.
static const char *lanes_lack(const struct weft_device_info *d, enum weft_lanes lanes)
{
    if (lanes <= WEFT_LANES_LOCAL || lanes == d->lanes)
        return NULL;
    if (lanes == WEFT_LANES_PTX)
        return "PTX of NVIDIA's compute capability 7.0 or later";
    if (lanes == WEFT_LANES_AMDGCN)
        return "wavefronts of AMD's GPUs";
    const struct weft__subgroups found = weft__subgroups_of(d);
    return found.there && (found.no_size || found.waves) ? NULL : "sub-groups of 32 or 64 with a shuffle";
}

// Can a context on this device be what `params` asks for?
static weft_status device_check(const struct weft_device_info *d, const struct weft_context_params *params,
                                struct weft_error *err)
{
    if (d->why[0])
        return weft__error(err, WEFT_ENODEV, "device %d cannot be used: %s", d->index, d->why);
    if (params->wave && (params->lanes != WEFT_LANES_SUBGROUPS || !(d->waves & params->wave & 96)))
        return weft__error(err, WEFT_EINVAL, "params.wave is %d, device %d has no such sub-groups", params->wave,
                           d->index);
    const char *const lack = lanes_lack(d, params->lanes);
    if (lack)
        return weft__error(err, WEFT_EINVAL, "params.lanes is \"%s\", device %d (%s) has no %s",
                           weft_lanes_name(params->lanes), d->index, d->name, lack);
    if (params->schedule == WEFT_SCHEDULE_GPU && weft__quirks_of(d).cpu_only)
        return weft__error(err, WEFT_EINVAL, "kernels for GPUs end the compiler of device %d (%s, %s)", d->index,
                           d->platform, d->platform_version);
    if (params->schedule == WEFT_SCHEDULE_GPU && d->max_wg < WEFT__WG_LEAST)
        return weft__error(err, WEFT_EINVAL, "kernels for GPUs need work-groups of %d, device %d takes %zu at most",
                           WEFT__WG_LEAST, d->index, d->max_wg);
    return WEFT_OK;
}

// The device that `params` names, if it is in the caller's context, should there be one.
static weft_status device_named(struct weft_device_info *out, const struct weft_device_info *list, size_t count,
                                const struct weft_context_params *params, const cl_device_id *own, size_t nown,
                                struct weft_error *err)
{
    cl_device_id whole;
    if (!params->context) { // what is in no list may be no device at all: no driver is asked
        for (size_t i = 0; i < count; i++)
            if (list[i].id == params->device) {
                *out = list[i];
                return WEFT_OK;
            }
        return weft__error(err, WEFT_ENODEV, "the device given is in no platform");
    }
    // Some drivers say of a context of parts of a device that it has the whole.
    return weft__device_entry(out, &whole, list, count, params->device) &&
                   (has(own, nown, out->id) || has(own, nown, whole))
               ? WEFT_OK
               : weft__error(err, WEFT_EINVAL, "params.device is none of the context given");
}

// Place in the list of the device that `params` names, or of the default one; of the caller's context, if there is one.
static weft_status device_find_own(size_t *out, struct weft_device_info *list, size_t count,
                                   const struct weft_context_params *params, const cl_device_id *own, size_t nown,
                                   struct weft_error *err)
{
    const size_t all = count;
    if (params->device && (!params->context || nown)) {
        struct weft_device_info named;
        const weft_status status = device_named(&named, list, count, params, own, nown, err);
        *out = 0;
        list[0] = status ? list[0] : named;
        return status;
    }
    if (params->context && !(count = devices_keep(list, count, own, nown)))
        return weft__error(err, WEFT_ENODEV, "no device of the context given is in the list");
    const int found = weft_device_find(list, count, params->select);
    *out = (size_t)found;
    if (found >= 0)
        return WEFT_OK;
    if (params->context)
        return weft__error(err, WEFT_ENODEV, "no device of the context given is \"%.200s\"", params->select);
    char why[400];
    weft__device_absent(why, sizeof why, all, params->select);
    return weft__error(err, WEFT_ENODEV, "%s", why);
}

static weft_status device_find(size_t *out, struct weft_device_info *list, size_t count,
                               const struct weft_context_params *params, struct weft_error *err)
{
    cl_device_id *own = NULL;
    size_t nown = 0;
    weft_status status = params->context ? devices_own(&own, &nown, params->context, err) : WEFT_OK;
    if (!status)
        status = device_find_own(out, list, count, params, own, nown, err);
    free(own);
    return status;
}

// The device for the context.
static weft_status device_choose(struct weft_device_info *out, const struct weft_context_params *params,
                                 struct weft_error *err)
{
    struct weft_device_info *list = NULL;
    size_t count = 0, at = 0;
    weft_status status = weft_devices_list(&list, &count, err);
    if (!status)
        status = device_find(&at, list, count, params, err);
    if (!status) {
        *out = list[at];
        status = device_check(out, params, err);
    }
    weft_devices_free(&list);
    return status;
}

// The OpenCL context: the caller's, or a new one.
static weft_status cl_open(struct weft_context *ctx, cl_context given, struct weft_error *err)
{
    const cl_context_properties props[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)ctx->device.platform_id, 0};
    cl_int error;
    cl_context cl = given;
    if (given)
        error = weft__cl.clRetainContext(given);
    else
        cl = weft__cl.clCreateContext(props, 1, &ctx->device.id, NULL, NULL, &error);
    if (error == CL_SUCCESS) {
        ctx->cl = cl;
        return WEFT_OK;
    }
    weft__error(err, WEFT_EDEVICE, "device %d (%s) gives no context: %s (%d)", ctx->device.index, ctx->device.name,
                weft__cl_error_name(error), error);
    if (err)
        err->cl_error = error;
    return WEFT_EDEVICE;
}

// Lane operations that work here. How work-items are mapped to sub-groups is the driver's choice, and a driver may lack
// what the device has: then they go through local memory.
static void lanes_open(struct weft_context *ctx, enum weft_lanes asked)
{
    struct weft_device_info *d = &ctx->device;
    const enum weft_lanes lanes = weft__caps_of(ctx).lanes;
    if (ctx->schedule != WEFT_SCHEDULE_GPU || lanes == WEFT_LANES_PTX)
        return;
    if (lanes != WEFT_LANES_AMDGCN) {
        const struct weft__subgroups found = weft__subgroups_of(d);
        ctx->no_ballot = found.no_ballot;
        ctx->no_size = found.no_size;
        // Sub-groups whose size is found when the probe is compiled are in no list.
        const bool tried = !asked && found.there && found.no_size && (d->type & CL_DEVICE_TYPE_GPU);
        if (lanes != WEFT_LANES_SUBGROUPS && !tried)
            return;
        d->lanes = WEFT_LANES_SUBGROUPS;
    }
    if (!weft__lanes_probe(ctx)) {
        d->lanes = WEFT_LANES_LOCAL;
        d->fence = false;
    }
}

weft_status weft_context_create(struct weft_context **out, const struct weft_context_params *params,
                                struct weft_error *err)
{
    static const struct weft_context_params defaults;
    struct weft_device_info device;
    weft_status status = WEFT__NEED(err, {"out", out});
    if (status)
        return status;
    if (!params)
        params = &defaults;
    *out = NULL;
    if ((unsigned)params->schedule > WEFT_SCHEDULE_CPU)
        return weft__error(err, WEFT_EINVAL, "params.schedule is %d, no schedule", (int)params->schedule);
    if ((unsigned)params->lanes > WEFT_LANES_SUBGROUPS)
        return weft__error(err, WEFT_EINVAL, "params.lanes is %d, no implementation of lane operations",
                           (int)params->lanes);
    status = device_choose(&device, params, err);
    if (status)
        return status;
    struct weft_context *ctx = calloc(1, sizeof *ctx);
    if (!ctx)
        return weft__error(err, WEFT_ENOMEM, "out of host memory for a context");
    pthread_mutex_init(&ctx->mutex, NULL);
    ctx->device = device;
    ctx->fill_words = weft__quirks_of(&device).fill_words;
    ctx->vector = weft__device_vector(&device);
    ctx->large_flag = weft__quirks_of(&device).large_flag;
    ctx->log = params->log;
    ctx->log_arg = params->log_arg;
    const int cpu = (device.type & CL_DEVICE_TYPE_CPU) != 0 || device.max_wg < WEFT__WG_LEAST;
    ctx->schedule = params->schedule ? params->schedule : cpu ? WEFT_SCHEDULE_CPU : WEFT_SCHEDULE_GPU;
    if (params->lanes)
        ctx->device.lanes = params->lanes;
    ctx->device.fence &= ctx->device.lanes == WEFT_LANES_PTX || ctx->device.lanes == WEFT_LANES_AMDGCN;
    if (params->wave)
        ctx->device.wave = params->wave;
    ctx->cache_dir = params->cache_dir && !*params->cache_dir ? NULL : cache_dir_find(ctx, params->cache_dir);
    weft__tune_load(ctx, params->tune_file);
    weft__selftest_begin(ctx, params->no_selftest);
    weft__stage_begin(ctx);
    status = cl_open(ctx, params->context, err);
    if (!status)
        lanes_open(ctx, params->lanes);
    if (status)
        weft_context_destroy(&ctx);
    *out = ctx;
    return status;
}

void weft_context_trim(struct weft_context *ctx)
{
    if (!ctx)
        return;
    weft__keep_drop(ctx);
    weft__stage_free(ctx);
}

void weft_context_destroy(struct weft_context **ctx)
{
    if (!ctx || !*ctx)
        return;
    weft_context_trim(*ctx);
    weft__programs_free(*ctx);
    if ((*ctx)->cl)
        weft__cl.clReleaseContext((*ctx)->cl);
    pthread_mutex_destroy(&(*ctx)->mutex);
    weft__tune_free(*ctx);
    weft__selftest_end(*ctx);
    free((*ctx)->cache_dir);
    free(*ctx);
    *ctx = NULL;
}
