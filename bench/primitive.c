// SPDX-License-Identifier: Apache-2.0
#include "primitive.h"
#include "../host/src/internal.h"

#include <stdlib.h>
#include <string.h>

struct primitive_state {
    const struct bench_primitive *primitive;
    size_t in_bytes, out_bytes;
    void *in, *out; // on the host; out: backend ref, else NULL
    cl_mem device_in, device_out;
    void *plan;
};

const char *const *bench_primitive_algos(const struct weft_backend *backend)
{
    static const char *const ref[] = {"ref", NULL}, *const opencl[] = {"auto", NULL};
    return !strcmp(backend->name, "ref") ? ref : !strcmp(backend->name, "opencl") ? opencl : NULL;
}

weft_status bench_primitive_setup(struct bench_run *run, const struct bench_primitive *primitive,
                                  struct weft_error *err)
{
    struct primitive_state *s = run->state = calloc(1, sizeof *s);
    if (!s)
        return weft__error(err, WEFT_ENOMEM, "out of host memory");
    s->primitive = primitive;
    primitive->sizes(run, &s->in_bytes, &s->out_bytes);
    s->in = malloc(weft__max(1, s->in_bytes));
    s->out = run->ctx ? NULL : malloc(weft__max(1, s->out_bytes));
    if (!s->in || (!run->ctx && !s->out))
        return weft__error(err, WEFT_ENOMEM, "out of host memory for %zu bytes", s->in_bytes + s->out_bytes);
    primitive->draw(run, s->in);
    if (!run->ctx) {
        memset(s->out, 0, s->out_bytes); // its pages are there before the first sample
        return WEFT_OK;
    }
    weft_status status = bench_buffer(run, &s->device_in, s->in, s->in_bytes, "the input", err);
    if (!status)
        status = bench_buffer(run, &s->device_out, NULL, s->out_bytes, "the output", err);
    return status ? status : bench_fail(run, primitive->plan_create(&s->plan, run), err);
}

weft_status bench_primitive_launch(struct bench_run *run, double *ms, struct weft_error *err)
{
    struct primitive_state *s = run->state;
    if (!run->ctx) {
        double start = bench_now_ms();
        s->primitive->reference(run, s->in, s->out);
        *ms = bench_now_ms() - start;
        return WEFT_OK;
    }
    bench_events_begin(run);
    weft_status status = s->primitive->plan_run(s->plan, run, s->device_in, s->device_out);
    return bench_events_end(run, status, ms, err);
}

weft_status bench_primitive_verify(struct bench_run *run, int *right, struct weft_error *err)
{
    struct primitive_state *s = run->state;
    char *want = malloc(weft__max(1, s->out_bytes)), *got = run->ctx ? malloc(weft__max(1, s->out_bytes)) : s->out;
    weft_status status = want && got ? WEFT_OK : weft__error(err, WEFT_ENOMEM, "out of host memory for the result");
    if (!status && run->ctx)
        status = bench_read(run, s->device_out, got, s->out_bytes, err);
    if (!status) {
        size_t at = 0;
        s->primitive->reference(run, s->in, want);
        *right = !memcmp(got, want, s->out_bytes);
        while (!*right && got[at] == want[at])
            at++;
        if (!*right)
            weft__error(err, WEFT_EMATRIX, "the result differs from the reference at byte %zu", at);
    }
    free(want);
    if (run->ctx)
        free(got);
    return status;
}

void bench_primitive_finish(struct bench_run *run)
{
    struct primitive_state *s = run->state;
    if (!s)
        return;
    s->primitive->plan_destroy(&s->plan);
    if (s->device_in)
        clReleaseMemObject(s->device_in);
    if (s->device_out)
        clReleaseMemObject(s->device_out);
    free(s->in);
    free(s->out);
    free(s);
    run->state = NULL;
}
