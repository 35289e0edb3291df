// SPDX-License-Identifier: Apache-2.0
// What the benches of primitives share: arrays on host and device, the reference result kept for a sweep, verifying.
#include "primitive.h"
#include "backends/opencl/opencl_backend.h"
#include "backends/trace.h"
#include "host/internal/inside.h"

#include <stdlib.h>
#include <string.h>

// The reference result that was computed last: a sweep compares every point with the same one.
struct primitive_want {
    const char *algo; // NULL: none yet
    void *out[BENCH_PRIMITIVE_OUT];
};

struct primitive_state {
    const struct bench_primitive *primitive;
    size_t in_bytes[BENCH_PRIMITIVE_IN], out_bytes[BENCH_PRIMITIVE_OUT];
    void *in[BENCH_PRIMITIVE_IN], *out[BENCH_PRIMITIVE_OUT]; // on the host; out: backends of the host, else NULL
    cl_mem device_in[BENCH_PRIMITIVE_IN], device_out[BENCH_PRIMITIVE_OUT];
    void *plan;
};

const char *const *bench_primitive_algos(const struct weft_backend *backend)
{
    static const char *const ref[] = {"ref", NULL}, *const own[] = {"auto", NULL};
    return !strcmp(backend->name, "ref")                                       ? ref
           : !strcmp(backend->name, "omp") || !strcmp(backend->name, "opencl") ? own
                                                                               : NULL;
}

int bench_is_threaded(const struct bench_run *run)
{
    return !strcmp(run->backend->name, "omp");
}

static weft_status arrays_alloc(void **out, const size_t *bytes, int count, struct weft_error *err)
{
    for (int i = 0; i < count; i++)
        if (!(out[i] = malloc(weft__max(1, bytes[i]))))
            return weft__error(err, WEFT_ENOMEM, "out of host memory for %zu bytes", bytes[i]);
    return WEFT_OK;
}

static void arrays_free(void **arrays, int count)
{
    for (int i = 0; i < count; i++) {
        free(arrays[i]);
        arrays[i] = NULL;
    }
}

weft_status bench_primitive_input(struct bench_input *in, struct weft_error *err)
{
    in->data = calloc(1, sizeof(struct primitive_want));
    return in->data ? WEFT_OK : weft__error(err, WEFT_ENOMEM, "out of host memory");
}

void bench_primitive_input_free(struct bench_input *in)
{
    struct primitive_want *want = in->data;
    if (want)
        arrays_free(want->out, BENCH_PRIMITIVE_OUT);
    free(want);
    in->data = NULL;
}

weft_status bench_primitive_setup(struct bench_run *run, struct weft_error *err)
{
    const struct bench_primitive *primitive = run->op->primitive;
    struct primitive_state *s = run->state = calloc(1, sizeof *s);
    if (!s)
        return weft__error(err, WEFT_ENOMEM, "out of host memory");
    s->primitive = primitive;
    primitive->sizes(run, s->in_bytes, s->out_bytes);
    weft_status status = arrays_alloc(s->in, s->in_bytes, BENCH_PRIMITIVE_IN, err);
    if (!status && !run->ctx)
        status = arrays_alloc(s->out, s->out_bytes, BENCH_PRIMITIVE_OUT, err);
    if (status)
        return status;
    weft__trace_own(1);
    primitive->draw(run, s->in);
    weft__trace_own(0);
    if (!run->ctx) {
        for (int i = 0; i < BENCH_PRIMITIVE_OUT; i++)
            memset(s->out[i], 0, s->out_bytes[i]); // the pages are there before the first sample
        return WEFT_OK;
    }
    for (int i = 0; i < primitive->inputs && !status; i++)
        if (s->in_bytes[i] || !i)
            status = bench_buffer(run, &s->device_in[i], s->in[i], s->in_bytes[i], "the input", err);
    for (int i = 0; i < BENCH_PRIMITIVE_OUT && !status; i++)
        if (s->out_bytes[i] || !i)
            status = bench_buffer(run, &s->device_out[i], NULL, s->out_bytes[i], "the output", err);
    return status ? status : bench_fail(run, primitive->plan_create(&s->plan, run), err);
}

weft_status bench_primitive_launch(struct bench_run *run, double *ms, struct weft_error *err)
{
    struct primitive_state *s = run->state;
    weft_status status = WEFT_OK;
    if (!run->ctx) {
        double start = bench_now_ms();
        if (bench_is_threaded(run))
            s->primitive->threaded(run, s->in, s->out);
        else
            status = s->primitive->reference(run, s->in, s->out);
        *ms = bench_now_ms() - start;
        return bench_fail(run, status, err);
    }
    bench_events_begin(run);
    status = s->primitive->plan_run(s->plan, run, s->device_in, s->device_out);
    return bench_events_end(run, status, ms, err);
}

weft_status bench_primitive_poison(struct bench_run *run, struct weft_error *err)
{
    struct primitive_state *s = run->state;
    weft_status status = WEFT_OK;
    for (int i = 0; i < BENCH_PRIMITIVE_OUT && !status; i++)
        if (run->ctx)
            status = weft__opencl_poison(run->ctx, run->queue, s->device_out[i], s->out_bytes[i]);
        else
            memset(s->out[i], 0xa5, s->out_bytes[i]);
    return bench_fail(run, status, err);
}

// The outputs of a device, in memory made here; freed by the caller in any case.
static weft_status outputs_read(struct bench_run *run, void *got[BENCH_PRIMITIVE_OUT], struct weft_error *err)
{
    struct primitive_state *s = run->state;
    weft_status status = arrays_alloc(got, s->out_bytes, BENCH_PRIMITIVE_OUT, err);
    for (int i = 0; i < BENCH_PRIMITIVE_OUT && !status; i++)
        status = bench_read(run, s->device_out[i], got[i], s->out_bytes[i], err);
    return status;
}

weft_status bench_primitive_read(struct bench_run *run, struct weft_error *err)
{
    void *got[BENCH_PRIMITIVE_OUT] = {NULL};
    weft_status status = run->ctx ? outputs_read(run, got, err) : WEFT_OK;
    arrays_free(got, BENCH_PRIMITIVE_OUT);
    return status;
}

void bench_primitive_transfers(const struct bench_run *run, int64_t *write_bytes, int64_t *read_bytes)
{
    const struct primitive_state *s = run->state;
    *write_bytes = *read_bytes = 0;
    for (int i = 0; i < s->primitive->inputs; i++)
        *write_bytes += (int64_t)s->in_bytes[i];
    for (int i = 0; i < BENCH_PRIMITIVE_OUT; i++)
        *read_bytes += (int64_t)s->out_bytes[i];
}

int64_t bench_primitive_bytes_min(const struct bench_run *run)
{
    int64_t write_bytes, read_bytes;
    bench_primitive_transfers(run, &write_bytes, &read_bytes);
    return write_bytes + read_bytes;
}

static weft_status want_get(struct bench_run *run, struct weft_error *err)
{
    struct primitive_state *s = run->state;
    struct primitive_want *want = run->input->data;
    if (want->algo == run->algo)
        return WEFT_OK;
    arrays_free(want->out, BENCH_PRIMITIVE_OUT);
    want->algo = NULL;
    weft_status status = arrays_alloc(want->out, s->out_bytes, BENCH_PRIMITIVE_OUT, err);
    if (!status)
        status = bench_fail(run, s->primitive->reference(run, s->in, want->out), err);
    want->algo = status ? NULL : run->algo;
    return status;
}

weft_status bench_primitive_verify(struct bench_run *run, int *right, struct weft_error *err)
{
    struct primitive_state *s = run->state;
    struct primitive_want *want = run->input->data;
    void *got[BENCH_PRIMITIVE_OUT] = {NULL};
    char why[256];
    weft_status status = want_get(run, err);
    if (!status && run->ctx)
        status = outputs_read(run, got, err);
    if (!status) {
        *right = s->primitive->right(run, run->ctx ? got : s->out, want->out, why, sizeof why);
        if (!*right)
            weft__error(err, WEFT_EMATRIX, "%s", why);
    }
    arrays_free(got, BENCH_PRIMITIVE_OUT);
    return status;
}

void bench_primitive_finish(struct bench_run *run)
{
    struct primitive_state *s = run->state;
    if (!s)
        return;
    s->primitive->plan_destroy(&s->plan);
    for (int i = 0; i < BENCH_PRIMITIVE_IN; i++)
        if (s->device_in[i])
            clReleaseMemObject(s->device_in[i]);
    for (int i = 0; i < BENCH_PRIMITIVE_OUT; i++)
        if (s->device_out[i])
            clReleaseMemObject(s->device_out[i]);
    arrays_free(s->in, BENCH_PRIMITIVE_IN);
    arrays_free(s->out, BENCH_PRIMITIVE_OUT);
    free(s);
    run->state = NULL;
}
