// SPDX-License-Identifier: Apache-2.0
#include "host/src/spmv/spmv.h"
#include "host/src/matrix/device_csr.h"

#include <time.h>

weft_status weft__spmv_read(struct weft_context *ctx, cl_command_queue queue, cl_mem from, size_t offset, size_t bytes,
                            void *to)
{
    weft_status status = weft__fail_cl(ctx, weft__cl.clFinish(queue), "clFinish");
    return status || !bytes
               ? status
               : weft__fail_cl(ctx,
                               weft__cl.clEnqueueReadBuffer(queue, from, CL_TRUE, offset, bytes, to, 0, NULL, NULL),
                               "clEnqueueReadBuffer");
}

weft_status weft__spmv_write(struct weft_context *ctx, cl_command_queue queue, cl_mem to, size_t bytes,
                             const void *from)
{
    weft_status status = weft__fail_cl(ctx, weft__cl.clFinish(queue), "clFinish");
    return status ? status : weft__copy_in(ctx, queue, to, from, bytes);
}

weft_status weft__spmv_retain(struct weft_context *ctx, cl_mem *to, cl_mem from)
{
    weft_status status = from ? weft__fail_cl(ctx, weft__cl.clRetainMemObject(from), "clRetainMemObject") : WEFT_OK;
    if (status)
        return status;
    weft__buffer_release(to);
    *to = from;
    return WEFT_OK;
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static double build_ms(struct weft_context *ctx)
{
    struct weft_build_stats stats;
    weft_context_build_stats(ctx, &stats);
    return stats.compile_ms + stats.load_ms;
}

struct weft__spmv_clock weft__spmv_clock(struct weft_context *ctx)
{
    return (struct weft__spmv_clock){now_ms(), build_ms(ctx)};
}

double weft__spmv_clock_ms(struct weft_context *ctx, const struct weft__spmv_clock *clock)
{
    return now_ms() - clock->start_ms - (build_ms(ctx) - clock->build_ms);
}
