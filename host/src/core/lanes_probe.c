// SPDX-License-Identifier: Apache-2.0
// Tries the lane operations of a device: a kernel that tells for each lane whether they gave what they should.
#include "host/src/core/lanes_probe.h"
#include "host/src/core/make.h"
#include "host/src/core/variants.h"

#define PROBE_WG     128
#define PROBE_GROUPS 3
#define PROBE_ITEMS  (PROBE_WG * PROBE_GROUPS)

const struct weft__kernel_spec weft__lanes_probe_spec = {"lanes_probe", {"lib/lanes_probe.cl"}};

void weft__probe_variants(weft__variant_fn *fn, void *arg)
{
    struct weft__variant v = {.spec = &weft__lanes_probe_spec, .schedule = WEFT_SCHEDULE_GPU};
    weft__define(&v.defines, "WEFT_WG", "%d", PROBE_WG);
    fn(arg, &v);
}

// Without a size that kernels ask for: that of the compiled probe is the context's, 32 or 64.
static weft_status wave_find(struct weft_context *ctx)
{
    static const int sizes[] = {32, 64};
    for (size_t i = 0; i < 2; i++) {
        struct weft__defines d = {0};
        struct weft__kernel *kernel = NULL;
        ctx->device.wave = sizes[i];
        weft__define(&d, "WEFT_WG", "%d", PROBE_WG);
        const weft_status status = weft__kernel_create(&kernel, ctx, &weft__lanes_probe_spec, &d);
        weft__kernel_release(&kernel);
        if (status != WEFT_ERANGE)
            return status;
        ctx->device.lanes = WEFT_LANES_SUBGROUPS; // which another size has ended
    }
    return WEFT_EUNSUPPORTED;
}

static weft_status probe_run(struct weft_context *ctx, cl_command_queue queue, cl_uint *right)
{
    const size_t bytes = PROBE_ITEMS * sizeof *right;
    const cl_uint rounds = 5;
    struct weft__make make = {.ctx = ctx};
    struct weft__defines d = {0};
    struct weft__kernel *kernel = NULL;
    cl_mem out = NULL;
    weft__define(&d, "WEFT_WG", "%d", PROBE_WG);
    weft__make_buffers(&make, &out, &(const struct weft__scratch){bytes, "the answer of a probe", false}, 1);
    weft__make_kernel(&make, &kernel, &weft__lanes_probe_spec, &d);
    if (!make.status) {
        struct weft__stream stream;
        weft__stream_begin(&stream, ctx, queue, 0, NULL, NULL);
        WEFT__LAUNCH(&stream, kernel, PROBE_GROUPS, PROBE_WG, WEFT__ARG(right, out), WEFT__ARG(rounds));
        make.status = weft__stream_end(&stream);
    }
    if (!make.status)
        make.status =
            weft__fail_cl(ctx, weft__cl.clEnqueueReadBuffer(queue, out, CL_TRUE, 0, bytes, right, 0, NULL, NULL),
                          "clEnqueueReadBuffer");
    weft__parts_release(&kernel, 1, &out, 1);
    return make.status;
}

int weft__lanes_probe(struct weft_context *ctx)
{
    cl_uint right[PROBE_ITEMS] = {0};
    cl_int error;
    if (ctx->device.max_wg < PROBE_WG)
        return 0;
    cl_command_queue queue = weft__cl.clCreateCommandQueue(ctx->cl, ctx->device.id, 0, &error);
    if (error != CL_SUCCESS)
        return 0;
    weft__quiet_begin(ctx);
    const int wave = ctx->device.wave;
    int all = (!ctx->no_size || wave_find(ctx) == WEFT_OK) && probe_run(ctx, queue, right) == WEFT_OK;
    weft__quiet_end(NULL);
    weft__cl.clFinish(queue); // where the answer could not be read the kernel may still run, and the process end
    weft__cl.clReleaseCommandQueue(queue);
    for (int i = 0; i < PROBE_ITEMS; i++)
        all = all && right[i] == 1;
    ctx->device.wave = all ? ctx->device.wave : wave;
    return all;
}
