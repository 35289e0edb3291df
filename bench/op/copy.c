// SPDX-License-Identifier: Apache-2.0
// Copy bandwidth: the ceiling that every other line is measured against. On a device the kernel of cl/measure/copy.cl at the
// best of a few work-group sizes, and the driver's own copy; on the host memcpy, by one thread and by all.
#include "backends/opencl/opencl_backend.h"
#include "host/internal/inside.h"
#include "op.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Beyond the caches of GPUs, and of most hosts.
#define COPY_BYTES     ((size_t)256 << 20)
#define COPY_CPU_BYTES ((size_t)128 << 20)

struct copy_state {
    size_t bytes; // of each buffer
    cl_mem in, out;
    struct weft__kernel *kernel;
    int wg;
    size_t groups;
    char *host_out;
};

static const char *const *copy_algos(const struct weft_backend *backend)
{
    static const char *const device[] = {"kernel", "buffer", NULL}, *const host[] = {"memcpy", NULL};
    return !strcmp(backend->name, "opencl")                                 ? device
           : !strcmp(backend->name, "ref") || !strcmp(backend->name, "omp") ? host
                                                                            : NULL;
}

struct copy_params {
    int wg, per_cu;
};
#define COPY(member) WEFT__TUNABLE_BY_SHAPE(#member, struct copy_params, member)
static const struct weft__tunable gpu_values[] = {
    {COPY(wg), .sweep = {64, 128, 256, 512}, .help = "work-items per work-group"},
    {COPY(per_cu), .sweep = {8, 32, 128}, .help = "work-groups for each compute unit"},
};
static const struct weft__tunable cpu_values[] = {
    {COPY(wg), .sweep = {1}, .help = "work-items per work-group"},
    {COPY(per_cu), .sweep = {1, 4}, .help = "work-groups for each compute unit"},
};
static const struct weft__tunables *copy_tunables(const struct bench_run *run)
{
    static const struct weft__tunables gpu = {.op = "copy", .algo = "kernel", .list = gpu_values, .count = 2},
                                       cpu = {.op = "copy", .algo = "kernel", .list = cpu_values, .count = 2};
    if (!run->ctx || strcmp(run->algo, "kernel"))
        return NULL;
    return weft_context_schedule(run->ctx) == WEFT_SCHEDULE_CPU ? &cpu : &gpu;
}

// Words that depend on their position, so that a vector in the wrong place shows.
static weft_status copy_input(struct bench_input *in, struct weft_error *err)
{
    uint32_t *words = malloc(COPY_BYTES);
    in->data = words;
    if (!words)
        return weft__error(err, WEFT_ENOMEM, "out of host memory for %zu bytes to copy", COPY_BYTES);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < COPY_BYTES / sizeof *words; i++)
        words[i] = (uint32_t)i * UINT32_C(2654435761) + (uint32_t)in->seed;
    return WEFT_OK;
}

static void copy_input_free(struct bench_input *in)
{
    free(in->data);
    in->data = NULL;
}

static int64_t copy_bytes_min(const struct bench_run *run)
{
    const struct copy_state *s = run->state;
    return 2 * (int64_t)s->bytes;
}

static weft_status kernel_launch(struct bench_run *run, double *ms, struct weft_error *err)
{
    struct copy_state *s = run->state;
    struct weft__stream stream;
    bench_events_begin(run);
    weft_status status = weft__stream_begin(&stream, run->ctx, run->queue, 0, NULL, NULL);
    if (!status) {
        weft__copy(&stream, s->kernel, s->groups, s->wg, s->in, s->out, s->bytes / 16);
        status = weft__stream_end(&stream);
    }
    return bench_events_end(run, status, ms, err);
}

// Make the kernel for one point, and time it as the least of three launches.
static weft_status kernel_try(struct bench_run *run, int wg, int per_cu, double *ms, struct weft_error *err)
{
    struct copy_state *s = run->state;
    weft__kernel_release(&s->kernel);
    s->wg = wg;
    s->groups = (size_t)per_cu * weft__max(1, (size_t)weft_context_device(run->ctx)->compute_units);
    weft_status status = bench_fail(run, weft__copy_create(&s->kernel, run->ctx, wg), err);
    *ms = 1e300;
    for (int i = 0; i < 3 && !status; i++) {
        double once = 0;
        status = kernel_launch(run, &once, err);
        *ms = once < *ms ? once : *ms;
    }
    return status;
}

static weft_status kernel_setup(struct bench_run *run, struct weft_error *err)
{
    const struct weft__tunable *axes = copy_tunables(run)->list;
    struct copy_params asked = {0};
    bench_tune(run, &asked);
    int wg = asked.wg, per_cu = asked.per_cu, best_wg = 0, best_per_cu = 0;
    double ms, best_ms = 1e300;
    weft_status status = WEFT_OK;
    for (const int *w = axes[0].sweep; *w && !status; w++)
        for (const int *p = axes[1].sweep; *p && !status; p++) {
            int max_wg = (int)weft__min(weft_context_device(run->ctx)->max_wg, 1024);
            if ((wg && w != axes[0].sweep) || (per_cu && p != axes[1].sweep) || (!wg && *w > max_wg))
                continue;
            status = kernel_try(run, wg ? wg : *w, per_cu ? per_cu : *p, &ms, err);
            if (!status && ms < best_ms) {
                best_ms = ms;
                best_wg = wg ? wg : *w;
                best_per_cu = per_cu ? per_cu : *p;
            }
        }
    if (!status)
        status = kernel_try(run, best_wg, best_per_cu, &ms, err);
    snprintf(run->times.chosen, sizeof run->times.chosen, "kernel, wg %d, %d groups per compute unit", best_wg,
             best_per_cu);
    return status;
}

static weft_status copy_setup(struct bench_run *run, struct weft_error *err)
{
    struct copy_state *s = run->state = calloc(1, sizeof *s);
    if (!s)
        return weft__error(err, WEFT_ENOMEM, "out of host memory");
    s->bytes = run->ctx && weft_context_schedule(run->ctx) == WEFT_SCHEDULE_GPU ? COPY_BYTES : COPY_CPU_BYTES;
    if (run->ctx) { // a small device copies less
        const struct weft_device_info *info = weft_context_device(run->ctx);
        size_t most = weft__min((size_t)info->max_alloc_bytes, (size_t)info->global_bytes / 4);
        s->bytes = weft__min(s->bytes, most / 4096 * 4096);
    }
    if (!run->ctx) {
        s->host_out = malloc(s->bytes);
        if (!s->host_out)
            return weft__error(err, WEFT_ENOMEM, "out of host memory for a copy of %zu bytes", s->bytes);
        memset(s->host_out, 0, s->bytes);
        return WEFT_OK;
    }
    weft_status status = bench_buffer(run, &s->in, run->input->data, s->bytes, "the copy's input", err);
    if (!status)
        status = bench_buffer(run, &s->out, NULL, s->bytes, "the copy's output", err);
    if (!status && !strcmp(run->algo, "kernel"))
        status = kernel_setup(run, err);
    return status;
}

static void host_copy(char *to, const char *from, size_t bytes, int parallel)
{
    (void)parallel;
    const size_t piece = (size_t)1 << 20;
#pragma omp parallel for schedule(static) if (parallel)
    for (size_t at = 0; at < bytes; at += piece)
        memcpy(to + at, from + at, bytes - at < piece ? bytes - at : piece);
}

static weft_status copy_launch(struct bench_run *run, double *ms, struct weft_error *err)
{
    struct copy_state *s = run->state;
    if (!run->ctx) {
        double start = bench_now_ms();
        host_copy(s->host_out, run->input->data, s->bytes, strcmp(run->backend->name, "ref") != 0);
        *ms = bench_now_ms() - start;
        return WEFT_OK;
    }
    if (s->kernel)
        return kernel_launch(run, ms, err);
    cl_event event = NULL;
    bench_events_begin(run);
    cl_int error = weft__cl.clEnqueueCopyBuffer(run->queue, s->in, s->out, 0, 0, s->bytes, 0, NULL, &event);
    if (error == CL_SUCCESS)
        bench_events_add(run, event);
    return bench_events_end(run, weft__fail_cl(run->ctx, error, "clEnqueueCopyBuffer"), ms, err);
}

static weft_status copy_poison(struct bench_run *run, struct weft_error *err)
{
    struct copy_state *s = run->state;
    if (run->ctx)
        return bench_fail(run, weft__opencl_poison(run->ctx, run->queue, s->out, s->bytes), err);
    memset(s->host_out, 0, s->bytes);
    return WEFT_OK;
}

static weft_status copy_read(struct bench_run *run, struct weft_error *err)
{
    struct copy_state *s = run->state;
    if (!run->ctx)
        return WEFT_OK;
    if (!s->host_out && !(s->host_out = malloc(s->bytes)))
        return weft__error(err, WEFT_ENOMEM, "out of host memory for the copy's result");
    return bench_read(run, s->out, s->host_out, s->bytes, err);
}

static void copy_transfers(const struct bench_run *run, int64_t *write_bytes, int64_t *read_bytes)
{
    const struct copy_state *s = run->state;
    *write_bytes = *read_bytes = (int64_t)s->bytes;
}

static weft_status copy_verify(struct bench_run *run, int *right, struct weft_error *err)
{
    struct copy_state *s = run->state;
    char *got = run->ctx ? malloc(s->bytes) : s->host_out;
    weft_status status = got ? WEFT_OK : weft__error(err, WEFT_ENOMEM, "out of host memory for the copy's result");
    if (!status && run->ctx)
        status = bench_read(run, s->out, got, s->bytes, err);
    if (!status) {
        const char *want = run->input->data;
        size_t at = 0;
        *right = !memcmp(got, want, s->bytes);
        while (!*right && got[at] == want[at])
            at++;
        if (!*right)
            weft__error(err, WEFT_EMATRIX, "the copy differs from its source at byte %zu", at);
    }
    if (run->ctx)
        free(got);
    return status;
}

static void copy_finish(struct bench_run *run)
{
    struct copy_state *s = run->state;
    if (!s)
        return;
    weft__kernel_release(&s->kernel);
    weft__buffer_release(&s->in);
    weft__buffer_release(&s->out);
    free(s->host_out);
    free(s);
    run->state = NULL;
}

const struct bench_op bench_copy = {
    .name = "copy",
    .help = "copy bandwidth of each device and of the host",
    .no_matrix = 1,
    .algos = copy_algos,
    .tunables = copy_tunables,
    .input = copy_input,
    .input_free = copy_input_free,
    .bytes_min = copy_bytes_min,
    .setup = copy_setup,
    .launch = copy_launch,
    .poison = copy_poison,
    .read = copy_read,
    .transfers = copy_transfers,
    .verify = copy_verify,
    .finish = copy_finish,
};
