// SPDX-License-Identifier: Apache-2.0
// What a device can do at most: bandwidths of a copy and a triad, and the time of an empty launch.
#include "ceilings.h"
#include "backends/opencl/opencl_backend.h"
#include "host/internal/inside.h"

#include <math.h>
#include <stdlib.h>

// As the copy (bench/op/copy.c): beyond the caches of GPUs, and of most hosts.
#define TRIAD_BYTES     ((size_t)256 << 20)
#define TRIAD_CPU_BYTES ((size_t)128 << 20)

enum { TRIES = 5, TOGETHER = 100 };

// ---- a device --------------------------------------------------------------------------------------------------

struct triad {
    const struct bench_device *device;
    cl_mem a, b, out;
    size_t bytes;
};

static weft_status fill(struct triad *t, cl_mem to, float value)
{
    struct weft_context *ctx = t->device->ctx;
    float *from = malloc(t->bytes);
    if (!from)
        return WEFT_ENOMEM;
    for (size_t i = 0; i < t->bytes / sizeof *from; i++)
        from[i] = value;
    weft_status status = weft__fail_cl(
        ctx, weft__cl.clEnqueueWriteBuffer(t->device->queue, to, CL_TRUE, 0, t->bytes, from, 0, NULL, NULL), "triad");
    free(from);
    return status;
}

// Least time of a few launches; the result is looked at, so that a kernel that did nothing shows.
static weft_status triad_try(struct triad *t, int wg, size_t groups, double *best_ms)
{
    struct weft_context *ctx = t->device->ctx;
    struct weft__kernel *kernel = NULL;
    struct opencl_events events = {0};
    float got[4] = {0};
    const cl_float s = 3;
    weft_status status = weft__triad_create(&kernel, ctx, wg);
    for (int i = 0; i < TRIES && !status; i++) {
        struct weft__stream stream;
        double ms = 0;
        weft__opencl_events_begin(&events, ctx);
        status = weft__stream_begin(&stream, ctx, t->device->queue, 0, NULL, NULL);
        if (!status) {
            weft__triad(&stream, kernel, groups, wg, t->a, t->b, t->out, s, t->bytes / 16);
            status = weft__stream_end(&stream);
        }
        weft_status ended = weft__opencl_events_end(&events, ctx, t->device->queue, &ms);
        status = status ? status : ended;
        if (!status && i) // the first one warms up
            *best_ms = fmin(*best_ms, ms);
    }
    if (!status)
        status = weft__fail_cl(ctx,
                               weft__cl.clEnqueueReadBuffer(t->device->queue, t->out, CL_TRUE, t->bytes - sizeof got,
                                                            sizeof got, got, 0, NULL, NULL),
                               "triad");
    weft__kernel_release(&kernel);
    weft__opencl_events_free(&events);
    for (int i = 0; i < 4 && !status; i++)
        status = got[i] == 1 + s * 2 ? WEFT_OK : WEFT_EDEVICE;
    return status;
}

static double triad_gbps(const struct bench_device *device)
{
    const struct weft_device_info *info = &device->info;
    const int cpu = weft_context_schedule(device->ctx) == WEFT_SCHEDULE_CPU;
    struct triad t = {.device = device, .bytes = cpu ? TRIAD_CPU_BYTES : TRIAD_BYTES};
    size_t most = weft__min((size_t)info->max_alloc_bytes, (size_t)info->global_bytes / 6);
    double best_ms = INFINITY;
    t.bytes = weft__min(t.bytes, most / 4096 * 4096);
    weft_status status = weft__buffer_create(&t.a, device->ctx, t.bytes, "triad");
    if (!status)
        status = weft__buffer_create(&t.b, device->ctx, t.bytes, "triad");
    if (!status)
        status = weft__buffer_create(&t.out, device->ctx, t.bytes, "triad");
    if (!status)
        status = fill(&t, t.a, 1);
    if (!status)
        status = fill(&t, t.b, 2);
    static const int wgs[] = {64, 128, 256, 512}, per_cus[] = {1, 4, 8, 32, 128};
    for (size_t w = 0; w < (cpu ? 1 : 4) && !status; w++)
        for (size_t p = cpu ? 0 : 2; p < (cpu ? 2 : 5) && !status; p++)
            if ((size_t)wgs[w] <= info->max_wg)
                status = triad_try(&t, cpu ? 1 : wgs[w], (size_t)per_cus[p] * weft__max(1, (size_t)info->compute_units),
                                   &best_ms);
    weft__buffer_release(&t.a);
    weft__buffer_release(&t.b);
    weft__buffer_release(&t.out);
    return status ? NAN : 3 * (double)t.bytes / best_ms * 1e-6;
}

static weft_status empty_run(const struct bench_device *device, struct weft__kernel *kernel, cl_mem flag, int count)
{
    struct weft__stream stream;
    weft_status status = weft__stream_begin(&stream, device->ctx, device->queue, 0, NULL, NULL);
    for (int i = 0; i < count && !status; i++)
        status = weft__empty(&stream, kernel, flag);
    if (!status)
        status = weft__stream_end(&stream);
    return status ? status : weft__fail_cl(device->ctx, weft__cl.clFinish(device->queue), "clFinish");
}

static void launches_measure(struct bench_ceilings *out, const struct bench_device *device)
{
    struct weft__kernel *kernel = NULL;
    cl_mem flag = NULL;
    weft_status status = weft__empty_create(&kernel, device->ctx);
    if (!status)
        status = weft__buffer_create(&flag, device->ctx, sizeof(cl_int), "flag");
    if (!status)
        status = empty_run(device, kernel, flag, 1);
    for (int i = 0; i < BENCH_CEILING_SAMPLES && !status; i++) {
        double start = bench_now_ms();
        status = empty_run(device, kernel, flag, 1);
        double middle = bench_now_ms();
        if (!status)
            status = empty_run(device, kernel, flag, TOGETHER);
        out->launch_us[i] = (middle - start) * 1e3;
        out->queue_us[i] = (bench_now_ms() - middle) * 1e3 / TOGETHER;
        out->launches += !status;
    }
    weft__kernel_release(&kernel);
    weft__buffer_release(&flag);
}

// ---- the host --------------------------------------------------------------------------------------------------

static double host_triad_gbps(void)
{
    const size_t count = TRIAD_CPU_BYTES / sizeof(float);
    float *a = malloc(TRIAD_CPU_BYTES), *b = malloc(TRIAD_CPU_BYTES), *out = malloc(TRIAD_CPU_BYTES);
    double best_ms = INFINITY;
    if (a && b && out) {
#pragma omp parallel for schedule(static)
        for (size_t i = 0; i < count; i++) {
            a[i] = 1;
            b[i] = 2;
            out[i] = 0;
        }
        for (int k = 0; k < TRIES; k++) {
            double start = bench_now_ms();
#pragma omp parallel for schedule(static)
            for (size_t i = 0; i < count; i++)
                out[i] = a[i] + 3.0f * b[i];
            best_ms = fmin(best_ms, bench_now_ms() - start);
        }
        if (out[count / 2] != 7)
            best_ms = NAN;
    }
    free(a);
    free(b);
    free(out);
    return 3 * (double)TRIAD_CPU_BYTES / best_ms * 1e-6;
}

void bench_ceilings_measure(struct bench_ceilings *out, const struct bench_device *device)
{
    *out = (struct bench_ceilings){0};
    out->triad_gbps = device ? triad_gbps(device) : host_triad_gbps();
    if (device)
        launches_measure(out, device);
}
