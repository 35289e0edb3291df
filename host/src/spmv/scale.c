// SPDX-License-Identifier: Apache-2.0
// Scales y for the formats that then add to it, and says whether they can do so by atomics.
#include "scale.h"

// Elements of a work-item. With one, an H100 starts groups more slowly than its memory takes y: 14 M elements took 140 us
// (docs/log/hypersparse.md).
#define CPU_CHUNK 4096
#define GPU_CHUNK 16

static size_t wg_of(const struct weft_spmv_plan *plan)
{
    return weft__spmv_is_cpu(plan) ? 1 : (size_t)weft__wg_small(plan->ctx);
}

static size_t chunk_of(const struct weft_spmv_plan *plan)
{
    return weft__spmv_is_cpu(plan) ? CPU_CHUNK : GPU_CHUNK;
}

void weft__spmv_make_scale(struct weft__make *make, struct weft__kernel **out, struct weft_spmv_plan *plan)
{
    const cl_int m = (cl_int)plan->y_size;
    struct weft__defines d = {0};
    weft__spmv_define(plan, &d);
    weft__define(&d, "WEFT_WG", "%zu", wg_of(plan));
    weft__define(&d, "WEFT_CHUNK", "%zu", chunk_of(plan));
    weft__make_kernel(make, out, &weft__spmv_scale_spec, &d);
    if (!make->status)
        make->status = WEFT__BIND(plan->ctx, *out, WEFT__ARG(m));
}

weft_status weft__spmv_scale(struct weft__kernel *kernel, struct weft_spmv_plan *plan, struct weft__stream *stream,
                             const struct weft__spmv_call *call)
{
    const size_t wg = wg_of(plan), groups = weft__ceil_div((size_t)plan->y_size, wg * chunk_of(plan));
    return weft__spmv_launch(plan, stream, kernel, weft__groups(groups, wg), wg, call);
}

weft_status weft__spmv_atomic_check(const struct weft_spmv_plan *plan)
{
    if (plan->acc != plan->type)
        return weft__fail(plan->ctx, WEFT_EINVAL, "params.problem.f64_sums does not go with atomics on f32 values");
    if (plan->type == WEFT_TYPE_F64 && !plan->ctx->device.int64_atomics)
        return weft__fail(plan->ctx, WEFT_EUNSUPPORTED, "%s has no 64-bit atomics", plan->ctx->device.name);
    return WEFT_OK;
}
