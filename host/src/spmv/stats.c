// SPDX-License-Identifier: Apache-2.0
#include "host/src/core/fill.h"
#include "host/src/spmv/spmv.h"

#include <stdlib.h>
#include <string.h>

const struct weft__kernel_spec weft__rows_stats_spec = {"rows_stats", "spmv/rows_stats.cl"};

#define SUMS 8 // figures of a group

static void stats_add(struct weft_spmv_plan *plan, const cl_long *sums, size_t groups)
{
    struct weft__spmv_stats *s = &plan->stats;
    for (size_t g = 0; g < groups; g++) {
        for (int i = 0; i < 6; i++)
            s->steps[i] += sums[g * SUMS + (size_t)i];
        if (s->max_row < sums[g * SUMS + 6])
            s->max_row = sums[g * SUMS + 6];
    }
    plan->info.max_row = s->max_row;
    plan->info.empty_rows = s->hist[0];
}

weft_status weft__spmv_stats(struct weft_spmv_plan *plan, cl_command_queue queue)
{
    struct weft_context *ctx = plan->ctx;
    const int cpu = ctx->schedule == WEFT_SCHEDULE_CPU;
    const size_t wg = cpu ? 1 : 64;
    const size_t groups =
        weft__min(weft__ceil_div((size_t)plan->a.m, 32 * wg), cpu ? 4 * (size_t)ctx->device.compute_units : 256);
    const size_t sums_bytes = groups * SUMS * sizeof(cl_long);
    struct weft__defines d = {0};
    weft__define_types(&d, WEFT_PATTERN, plan->a.ofs);
    weft__define(&d, "WEFT_WG", "%zu", wg);
    weft__define(&d, "WEFT_BINS", "%d", WEFT__SPMV_BINS);
    struct weft__kernel *kernel = NULL, *fill = NULL;
    cl_mem hist = NULL, sums = NULL;
    cl_long *host = malloc(sums_bytes);
    weft_status status = host ? WEFT_OK : weft__fail(ctx, WEFT_ENOMEM, "out of host memory for row figures");
    if (!status)
        status = weft__kernel_create(&kernel, ctx, &weft__rows_stats_spec, &d);
    if (!status)
        status = weft__fill_create(&fill, ctx);
    if (!status)
        status = weft__buffer_create(&hist, ctx, sizeof plan->stats.hist, "histogram of row lengths");
    if (!status)
        status = weft__buffer_create(&sums, ctx, sums_bytes, "row figures");
    struct weft__stream stream = {0};
    const cl_int m = (cl_int)plan->a.m;
    if (!status)
        status = weft__stream_begin(&stream, ctx, queue, 0, NULL, NULL);
    if (!status)
        status = weft__fill(&stream, fill, hist, 0, WEFT__SPMV_BINS, 0);
    if (!status)
        status = WEFT__LAUNCH(&stream, kernel, groups, wg, WEFT__ARG(row_ptr, plan->a.row_ptr), WEFT__ARG(hist),
                              WEFT__ARG(sums), WEFT__ARG(m));
    if (!status)
        status = weft__spmv_read(ctx, queue, hist, 0, sizeof plan->stats.hist, plan->stats.hist);
    if (!status)
        status = weft__spmv_read(ctx, queue, sums, 0, sums_bytes, host);
    if (!status)
        stats_add(plan, host, groups);
    weft__buffer_release(&hist);
    weft__buffer_release(&sums);
    weft__kernel_release(&kernel);
    weft__kernel_release(&fill);
    free(host);
    return status;
}
