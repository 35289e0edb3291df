// SPDX-License-Identifier: Apache-2.0
#include "copy.h"
#include "variants.h"

const struct weft__kernel_spec weft__copy_spec = {"copy", "copy.cl", "in out count"};

static void copy_define(struct weft__defines *d, enum weft_schedule schedule, int wg)
{
    weft__define(d, "WEFT_WG", "%d", wg);
    weft__define(d, "COPY_CHUNKED", "%d", schedule == WEFT_SCHEDULE_CPU);
}

weft_status weft__copy_create(cl_kernel *out, struct weft_context *ctx, int wg)
{
    struct weft__defines d = {0};
    copy_define(&d, ctx->schedule, wg);
    return weft__kernel_create(out, ctx, &weft__copy_spec, &d);
}

weft_status weft__copy(struct weft__stream *stream, cl_kernel kernel, size_t groups, int wg, cl_mem in, cl_mem out,
                       uint64_t count)
{
    return WEFT__LAUNCH(stream, kernel, &weft__copy_spec, weft__groups(groups, (size_t)wg), (size_t)wg, WEFT__ARG(in),
                        WEFT__ARG(out), WEFT__ARG(count));
}

void weft__copy_variants(weft__variant_fn *fn, void *arg)
{
    static const enum weft_schedule schedules[] = {WEFT_SCHEDULE_GPU, WEFT_SCHEDULE_CPU};
    for (size_t s = 0; s < 2; s++) {
        struct weft__variant v = {.spec = &weft__copy_spec, .schedule = schedules[s]};
        copy_define(&v.defines, schedules[s], schedules[s] == WEFT_SCHEDULE_CPU ? 1 : 256);
        fn(arg, &v);
    }
}
