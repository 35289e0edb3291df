// SPDX-License-Identifier: Apache-2.0
// The kernels that measure ceilings: copy, triad, and one that does nothing.
#include "host/src/measure/copy.h"
#include "host/src/core/variants.h"

const struct weft__kernel_spec weft__copy_spec = {"copy", {"measure/copy.cl"}};
const struct weft__kernel_spec weft__triad_spec = {"triad", {"measure/triad.cl"}};
const struct weft__kernel_spec weft__empty_spec = {"empty", {"measure/empty.cl"}};

static void copy_define(struct weft__defines *d, enum weft_schedule schedule, int wg)
{
    weft__define(d, "WEFT_WG", "%d", wg);
    weft__define(d, "COPY_CHUNKED", "%d", schedule == WEFT_SCHEDULE_CPU);
}

static void triad_define(struct weft__defines *d, enum weft_schedule schedule, int wg)
{
    weft__define(d, "WEFT_WG", "%d", wg);
    weft__define(d, "TRIAD_CHUNKED", "%d", schedule == WEFT_SCHEDULE_CPU);
}

weft_status weft__copy_create(struct weft__kernel **out, struct weft_context *ctx, int wg)
{
    struct weft__defines d = {0};
    copy_define(&d, ctx->schedule, wg);
    return weft__kernel_create(out, ctx, &weft__copy_spec, &d);
}

weft_status weft__copy(struct weft__stream *stream, struct weft__kernel *kernel, size_t groups, int wg, cl_mem in,
                       cl_mem out, uint64_t count)
{
    return WEFT__LAUNCH(stream, kernel, weft__groups(groups, (size_t)wg), (size_t)wg, WEFT__ARG(in), WEFT__ARG(out),
                        WEFT__ARG(count));
}

weft_status weft__triad_create(struct weft__kernel **out, struct weft_context *ctx, int wg)
{
    struct weft__defines d = {0};
    triad_define(&d, ctx->schedule, wg);
    return weft__kernel_create(out, ctx, &weft__triad_spec, &d);
}

weft_status weft__triad(struct weft__stream *stream, struct weft__kernel *kernel, size_t groups, int wg, cl_mem a,
                        cl_mem b, cl_mem out, cl_float s, uint64_t count)
{
    return WEFT__LAUNCH(stream, kernel, weft__groups(groups, (size_t)wg), (size_t)wg, WEFT__ARG(a), WEFT__ARG(b),
                        WEFT__ARG(out), WEFT__ARG(s), WEFT__ARG(count));
}

weft_status weft__empty_create(struct weft__kernel **out, struct weft_context *ctx)
{
    struct weft__defines d = {0};
    weft__define(&d, "WEFT_WG", "1");
    return weft__kernel_create(out, ctx, &weft__empty_spec, &d);
}

weft_status weft__empty(struct weft__stream *stream, struct weft__kernel *kernel, cl_mem flag)
{
    const cl_int value = 0;
    return WEFT__LAUNCH(stream, kernel, 1, 1, WEFT__ARG(flag), WEFT__ARG(value));
}

void weft__copy_variants(weft__variant_fn *fn, void *arg)
{
    static const enum weft_schedule schedules[] = {WEFT_SCHEDULE_GPU, WEFT_SCHEDULE_CPU};
    for (size_t s = 0; s < 2; s++) {
        struct weft__variant v = {.spec = &weft__copy_spec, .schedule = schedules[s]};
        copy_define(&v.defines, schedules[s], schedules[s] == WEFT_SCHEDULE_CPU ? 1 : 256);
        fn(arg, &v);
        struct weft__variant t = {.spec = &weft__triad_spec, .schedule = schedules[s]};
        triad_define(&t.defines, schedules[s], schedules[s] == WEFT_SCHEDULE_CPU ? 1 : 256);
        fn(arg, &t);
    }
    struct weft__variant e = {.spec = &weft__empty_spec, .schedule = WEFT_SCHEDULE_GPU};
    weft__define(&e.defines, "WEFT_WG", "1");
    fn(arg, &e);
}
