// SPDX-License-Identifier: Apache-2.0
#include "device.h"
#include "../../host/src/context.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

double bench_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

weft_status bench_device_open(struct bench_device *out, const struct weft_device_info *info, int cold,
                              struct weft_error *err)
{
    *out = (struct bench_device){.info = *info};
    weft_status status =
        weft_context_create(&out->ctx, weft_context_params(.device = info->id, .cache_dir = cold ? "" : NULL), err);
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
            snprintf(name, sizeof name, "%.120s", strchr(line, ':') + 2);
        }
    if (file)
        fclose(file);
    if (!name[0])
        snprintf(name, sizeof name, "host");
    return name;
}

static const char *type_name(cl_device_type type)
{
    return type & CL_DEVICE_TYPE_GPU ? "GPU" : type & CL_DEVICE_TYPE_CPU ? "CPU" : "accelerator";
}

static void backend_print(FILE *out, const struct weft_backend *backend, struct weft_device_info *list, size_t count)
{
    struct weft_error err = {0};
    fprintf(out, "%-9s  ", backend->name);
    if (!strcmp(backend->needs, "host")) {
        fprintf(out, "%s\n", backend->probe(NULL, &err) ? err.text : "runs");
        return;
    }
    const char *separator = "";
    for (size_t i = 0; i < count; i++) {
        struct weft_context *ctx = NULL;
        if (list[i].why[0] ||
            weft_context_create(&ctx, weft_context_params(.device = list[i].id, .cache_dir = ""), NULL))
            continue;
        if (!backend->probe(ctx, &err)) {
            fprintf(out, "%s%d", *separator ? separator : "runs on device ", list[i].index);
            separator = ", ";
        }
        weft_context_destroy(&ctx);
    }
    if (!*separator && !err.text[0])
        backend->probe(NULL, &err);
    fprintf(out, "%s\n", *separator ? "" : err.text[0] ? err.text : "no device to run on");
}

void bench_devices_print(FILE *out, struct weft_device_info *list, size_t count)
{
    int platform = 0, name = 0, driver = 0;
    for (size_t i = 0; i < count; i++) {
        int lengths[] = {(int)strlen(list[i].platform), (int)strlen(list[i].name), (int)strlen(list[i].driver)};
        platform = lengths[0] > platform ? lengths[0] : platform;
        name = lengths[1] > name ? lengths[1] : name;
        driver = lengths[2] > driver ? lengths[2] : driver;
    }
    for (size_t i = 0; i < count; i++) {
        weft_device_probe(&list[i]);
        fprintf(out, "%2d  %-*s  %-*s", list[i].index, platform, list[i].platform, name,
                list[i].name[0] ? list[i].name : "?");
        if (list[i].why[0])
            fprintf(out, "  cannot be used: %s\n", list[i].why);
        else
            fprintf(out, "  %-11s  driver %-*s  %6.1f GiB\n", type_name(list[i].type), driver, list[i].driver,
                    (double)list[i].global_bytes / (double)(1 << 30));
    }
    fputs(count ? "\nbackends\n" : "backends\n", out);
    for (const struct weft_backend *const *b = weft__backends; *b; b++)
        backend_print(out, *b, list, count);
}

weft_status bench_fail(struct bench_run *run, weft_status status, struct weft_error *err)
{
    if (status && run->ctx)
        weft_context_error(run->ctx, err);
    if (status && err->status != status)
        weft__error(err, status, "%s", weft_status_text(status));
    return status;
}

int bench_tune(const struct bench_run *run, const char *axis)
{
    for (int i = 0; i < run->ntune; i++)
        if (!strcmp(run->tune[i].name, axis))
            return run->tune[i].value;
    return 0;
}

weft_status bench_buffer(struct bench_run *run, cl_mem *out, const void *from, size_t bytes, const char *what,
                         struct weft_error *err)
{
    weft_status status = weft__buffer_create(out, run->ctx, bytes, what);
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

void bench_events_add(struct bench_run *run, cl_event event)
{
    struct bench_events *events = run->events;
    if (events->count == events->room) {
        size_t room = events->room ? 2 * events->room : 64;
        cl_event *grown = realloc(events->list, room * sizeof(cl_event));
        if (!grown) {
            events->full = 1;
            weft__cl.clReleaseEvent(event);
            return;
        }
        events->list = grown;
        events->room = room;
    }
    events->list[events->count++] = event;
}

static void events_note(void *arg, const char *kernel, size_t global, size_t wg, cl_event event)
{
    (void)kernel;
    (void)global;
    (void)wg;
    if (weft__cl.clRetainEvent(event) == CL_SUCCESS)
        bench_events_add(arg, event);
}

static void events_clear(struct bench_events *events)
{
    while (events->count)
        weft__cl.clReleaseEvent(events->list[--events->count]);
    events->full = 0;
}

void bench_events_begin(struct bench_run *run)
{
    events_clear(run->events);
    weft_context_on_launch(run->ctx, events_note, run);
}

weft_status bench_events_end(struct bench_run *run, weft_status status, double *ms, struct weft_error *err)
{
    struct bench_events *events = run->events;
    weft_context_on_launch(run->ctx, NULL, NULL);
    if (!status)
        status = weft__fail_cl(run->ctx, weft__cl.clFinish(run->queue), "clFinish");
    if (!status && events->full)
        status = weft__fail(run->ctx, WEFT_ENOMEM, "out of host memory for the events of a launch");
    cl_ulong first = CL_ULONG_MAX, last = 0;
    for (size_t i = 0; i < events->count && !status; i++) {
        cl_ulong start, end;
        cl_int error =
            weft__cl.clGetEventProfilingInfo(events->list[i], CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
        if (error == CL_SUCCESS)
            error = weft__cl.clGetEventProfilingInfo(events->list[i], CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
        status = weft__fail_cl(run->ctx, error, "clGetEventProfilingInfo");
        first = !status && start < first ? start : first;
        last = !status && end > last ? end : last;
    }
    *ms = first < last ? (double)(last - first) * 1e-6 : 0;
    events_clear(events);
    return bench_fail(run, status, err);
}

void bench_events_free(struct bench_events *events)
{
    events_clear(events);
    free(events->list);
    *events = (struct bench_events){0};
}
