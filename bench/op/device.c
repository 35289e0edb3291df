// SPDX-License-Identifier: Apache-2.0
// Devices in use, buffers and events of operations that launch kernels themselves.
#include "device.h"
#include "host/common/list.h"
#include "host/internal/text.h"
#include "backends/opencl/opencl_backend.h"
#include "host/common/clock.h"

#include <cjson/cJSON.h>
#include <string.h>
#include <time.h>

double bench_now_ms(void)
{
    return clock_ms();
}

void (*bench_device_log)(void *arg, const char *text);

weft_status bench_device_open(struct bench_device *out, const struct weft_device_info *info, int cold,
                              struct weft_error *err)
{
    *out = (struct bench_device){.info = *info};
    weft_status status = weft_context_create(&out->ctx,
                                             weft_context_params(.device = info->id, .cache_dir = cold ? "" : NULL,
                                                                 .no_selftest = true, .log = bench_device_log),
                                             err);
    if (status)
        return status;
    if (cold) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        out->ctx->salt = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    }
    cl_int error;
    out->queue = weft__cl.clCreateCommandQueue(weft_context_cl(out->ctx), info->id, CL_QUEUE_PROFILING_ENABLE, &error);
    if (error == CL_SUCCESS)
        return WEFT_OK;
    out->queue = NULL;
    bench_device_close(out);
    return weft__error(err, WEFT_EDEVICE, "device %d (%s) gives no queue with profiling: %s (%d)", info->index,
                       info->name, weft__cl_error_name(error), error);
}

void bench_device_close(struct bench_device *device)
{
    if (device->queue)
        weft__cl.clReleaseCommandQueue(device->queue);
    device->queue = NULL;
    weft_context_destroy(&device->ctx);
}

const char *bench_host_name(void)
{
    static char name[128];
    FILE *file = name[0] ? NULL : fopen("/proc/cpuinfo", "r");
    char line[256];
    while (file && !name[0] && fgets(line, sizeof line, file))
        if (!strncmp(line, "model name", 10) && strchr(line, ':')) {
            line[strcspn(line, "\n")] = 0;
            weft__text_fit(name, sizeof name, strchr(line, ':') + 2);
        }
    if (file)
        fclose(file);
    if (!name[0])
        snprintf(name, sizeof name, "host");
    return name;
}

enum { PLACES = 64 };

// Where a backend runs: the host, some devices, or nowhere.
struct places {
    int host, count;
    int device[PLACES]; // indices
    char why[1024];     // why it runs nowhere
};

static void places_find(struct places *out, const struct weft_backend *backend, struct weft_device_info *list,
                        size_t count)
{
    struct weft_error err = {0};
    *out = (struct places){0};
    if (!strcmp(backend->needs, "host")) {
        out->host = !backend->probe(NULL, &err);
    } else {
        for (size_t i = 0; i < count && out->count < PLACES; i++) {
            struct weft_context *ctx = NULL;
            if (list[i].why[0] ||
                weft_context_create(
                    &ctx, weft_context_params(.device = list[i].id, .cache_dir = "", .no_selftest = true), NULL))
                continue;
            if (!backend->probe(ctx, &err))
                out->device[out->count++] = list[i].index;
            weft_context_destroy(&ctx);
        }
        if (!out->count && !err.text[0])
            backend->probe(NULL, &err);
    }
    if (!out->host && !out->count)
        snprintf(out->why, sizeof out->why, "%s", err.text[0] ? err.text : "no device to run on");
}

// "cusparse   cuSPARSE 12.6.3: runs on device 0"; the library's name is there when it is compiled in.
static void backend_print(FILE *out, const struct weft_backend *backend, struct weft_device_info *list, size_t count)
{
    struct places places;
    places_find(&places, backend, list, count);
    fprintf(out, "%-10s ", backend->name);
    if (backend->version)
        fprintf(out, "%s: ", backend->version());
    for (int i = 0; i < places.count; i++)
        fprintf(out, "%s%d", i ? ", " : "runs on device ", places.device[i]);
    fprintf(out, "%s\n", places.host ? "runs" : places.why);
}

void bench_devices_print(FILE *out, struct weft_device_info *list, size_t count)
{
    bench_list_print(out, list, count);
    fputs(count ? "\nbackends\n" : "backends\n", out);
    for (const struct weft_backend *const *b = weft__backends; *b; b++)
        backend_print(out, *b, list, count);
}

static cJSON *backend_json(const struct weft_backend *backend, struct weft_device_info *list, size_t count)
{
    struct places places;
    places_find(&places, backend, list, count);
    cJSON *item = cJSON_CreateObject(), *on = cJSON_CreateIntArray(places.device, places.count);
    int fine = cJSON_AddStringToObject(item, "name", backend->name) &&
               (!backend->version || cJSON_AddStringToObject(item, "library", backend->version())) &&
               cJSON_AddBoolToObject(item, "host", places.host) &&
               (!places.why[0] || cJSON_AddStringToObject(item, "cannot_run", places.why));
    fine &= cJSON_AddItemToObject(item, "devices", on);
    if (fine)
        return item;
    cJSON_Delete(item);
    return NULL;
}

int bench_devices_json(FILE *out, struct weft_device_info *list, size_t count)
{
    cJSON *root = cJSON_CreateObject(), *devices = bench_list_json(list, count), *backends = cJSON_CreateArray();
    int fine = cJSON_AddItemToObject(root, "devices", devices);
    fine &= cJSON_AddItemToObject(root, "backends", backends);
    for (const struct weft_backend *const *b = weft__backends; *b && fine; b++)
        fine = cJSON_AddItemToArray(backends, backend_json(*b, list, count));
    char *text = fine ? cJSON_Print(root) : NULL;
    if (text)
        fprintf(out, "%s\n", text);
    cJSON_free(text);
    cJSON_Delete(root);
    return text != NULL;
}

weft_status bench_fail(struct bench_run *run, weft_status status, struct weft_error *err)
{
    if (status && run->ctx)
        weft_context_error(err, run->ctx);
    if (status && err->status != status)
        weft__error(err, status, "%s", weft_status_text(status));
    return status;
}

const struct weft__tunables *bench_tunables(const struct bench_run *run)
{
    if (!run->op || !run->ctx || strcmp(run->backend->name, "opencl"))
        return NULL;
    return run->op->tunables ? run->op->tunables(run)
                             : weft__tunables_of(run->op->name, run->algo, weft_context_schedule(run->ctx));
}

void bench_tune(const struct bench_run *run, void *params)
{
    for (int i = 0; i < run->tune.count; i++) {
        const struct weft__tunable *t = weft__tunable_find(bench_tunables(run), run->tune.values[i].name);
        if (t)
            *weft__tunable_value(t, params) = run->tune.values[i].value;
    }
}

int bench_tuned(const struct bench_run *run, const void *params, const char *name)
{
    return weft__tunable_get(bench_tunables(run), params, name);
}

weft_status bench_buffer(struct bench_run *run, cl_mem *out, const void *from, size_t bytes, const char *what,
                         struct weft_error *err)
{
    weft_status status = weft__buffer_create(out, run->ctx, bytes, what);
    if (!status && !from)
        status = weft__opencl_poison(run->ctx, run->queue, *out, bytes);
    if (status || !from || !bytes)
        return bench_fail(run, status, err);
    double start = bench_now_ms();
    cl_int error = weft__cl.clEnqueueWriteBuffer(run->queue, *out, CL_TRUE, 0, bytes, from, 0, NULL, NULL);
    run->times.write_ms = (run->times.write_ms > 0 ? run->times.write_ms : 0) + bench_now_ms() - start;
    return bench_fail(run, weft__fail_cl(run->ctx, error, what), err);
}

weft_status bench_read(struct bench_run *run, cl_mem from, void *to, size_t bytes, struct weft_error *err)
{
    if (!bytes)
        return WEFT_OK;
    double start = bench_now_ms();
    cl_int error = weft__cl.clEnqueueReadBuffer(run->queue, from, CL_TRUE, 0, bytes, to, 0, NULL, NULL);
    run->times.read_ms = (run->times.read_ms > 0 ? run->times.read_ms : 0) + bench_now_ms() - start;
    return bench_fail(run, weft__fail_cl(run->ctx, error, "clEnqueueReadBuffer"), err);
}

void bench_events_begin(struct bench_run *run)
{
    weft__opencl_events_begin(run->events, run->ctx);
}

void bench_events_add(struct bench_run *run, cl_event event)
{
    weft__opencl_events_add(run->events, event);
}

weft_status bench_events_end(struct bench_run *run, weft_status status, double *ms, struct weft_error *err)
{
    weft_status ended = weft__opencl_events_end(run->events, run->ctx, run->queue, ms);
    run->times.host_clock |= run->events->untimed;
    return bench_fail(run, status ? status : ended, err);
}
