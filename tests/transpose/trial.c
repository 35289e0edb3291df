// SPDX-License-Identifier: Apache-2.0
// The self-test of ScanTrans on GPUs runs the kernels of the plan that it stands for: passes, tiles and forms of entries,
// whatever its few entries would take by themselves.
#include "host/internal/tests.h"
#include "tests/support/device.h"

#include <stdio.h>
#include <string.h>

struct heard {
    int trials, right;
    char kernels[1024], what[600], why[600];
};

static void trial_seen(void *arg, const char *what, const char *kernels, const struct weft_error *error, bool right)
{
    struct heard *h = arg;
    h->trials++;
    h->right += right && !error;
    snprintf(h->kernels, sizeof h->kernels, "%.1023s", kernels);
    snprintf(h->what, sizeof h->what, "%.599s", what);
    snprintf(h->why, sizeof h->why, "%.599s", error ? error->text : "");
}

// The digits of a trial need no more room than those of the layout, so that it takes its form.
static int takes_form(struct test_device *dev, const struct weft__transpose_shape *shape,
                      const struct weft_transpose_params *p, const struct weft__scan_layout *like)
{
    struct weft__scan_layout l;
    struct weft__transpose_shape few = *shape;
    few.m = few.m < 700 ? few.m : 700;
    few.n = few.n < 1 << 17 ? few.n : 1 << 17;
    few.nnz = few.nnz < 20000 ? few.nnz : 20000;
    few.like = like;
    return weft__scan_layout_like(&l, dev->ctx, &few, p) && l.passes == like->passes && l.packed == like->packed &&
           l.parts_packed == like->parts_packed && l.first.wg == like->first.wg && l.last.ipt == like->last.ipt;
}

// Kernels take smaller work-groups than the device.
static cl_int CL_API_CALL kernel_small(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what,
                                       size_t size, void *value, size_t *needed)
{
    const cl_int error = clGetKernelWorkGroupInfo(kernel, device, what, size, value, needed);
    if (error == CL_SUCCESS && what == CL_KERNEL_WORK_GROUP_SIZE)
        *(size_t *)value = 256;
    return error;
}

// A plan that would move whole buckets by work-groups of 512, which its kernels do not take: its trial does without, too.
static void test_limited(struct test_device *dev)
{
    const struct weft__transpose_shape shape = {
        .m = 1000, .n = 4096, .nnz = 384000, .type = WEFT_TYPE_F32, .ofs = WEFT_OFS_32};
    const struct weft_transpose_params params = {.algo = WEFT_TRANSPOSE_ALGO_SCAN,
                                                 .gpu = {.wg = 64, .ipt = 8, .bits = 8, .groups = 1}};
    struct weft__trials *trials = &dev->ctx->trials;
    const bool off = trials->off;
    struct weft_transpose_plan *plan = NULL;
    struct heard h = {0};
    trials->off = false;
    trials->seen = trial_seen;
    trials->arg = &h;
    weft__cl.clGetKernelWorkGroupInfo = kernel_small;
    const weft_status status = weft__transpose_create(&plan, dev->ctx, &shape, &params);
    weft__cl.clGetKernelWorkGroupInfo = clGetKernelWorkGroupInfo;
    trials->off = off;
    trials->seen = NULL;
    tap_ok(!status && h.trials == 1 && h.right == 1 && strstr(h.what, "whole 0"),
           "%s: kernels of smaller work-groups than the device: %s; %s", dev->name, h.what, h.why);
    weft_transpose_plan_destroy(&plan);
}

static void each_device(struct test_device *dev)
{
    static const struct {
        const char *what;
        int64_t m, n, nnz;
        int wg, bits, ipt;
    } cases[] = {
        {"one pass", 3000, 900, 9000000, 0, 0, 0},
        {"few entries", 3000, 9000, 20000, 0, 0, 0},
        {"some entries", 3000, 9000, 90000, 0, 0, 0},
        {"two passes", 200000, 200000, 3000000, 0, 0, 0},
        {"two passes, columns apart", 1 << 30, 200000, 2000000, 0, 0, 0},
        {"crowded buckets", 200000, 9000, 30000000, 0, 0, 0},
        {"crowded buckets, three passes", 1000000, 1000000, 40000000, 0, 0, 0},
        {"three passes", 8000000, 8000000, 100000000, 0, 0, 0},
        {"three passes, columns apart in all", 2000000000, 8000000, 100000000, 0, 0, 0},
        {"three passes, fewer columns to a part", 30000000, 8000000, 100000000, 0, 0, 0},
        {"many entries", 100000000, 100000000, 1500000000, 0, 0, 0},
        {"narrow digits", 3000, 200000, 600000, 64, 7, 0},
        {"columns apart in buckets alone, wide digits", 200000, 100000000, 600000, 256, 12, 0},
        {"columns apart in buckets alone, small tiles", 8000000, 8000000, 600000, 256, 9, 2},
    };
    const enum weft_type types[] = {WEFT_TYPE_F32, WEFT_TYPE_F64, WEFT_TYPE_PATTERN};
    if (!dev->gpu)
        return;
    if (!dev->checker && dev->ctx->device.max_wg >= 512 && dev->ctx->device.local_bytes >= 48 << 10 &&
        !weft__quirks_of(&dev->ctx->device).untold_groups)
        test_limited(dev);
    struct weft__trials *trials = &dev->ctx->trials;
    const bool off = trials->off;
    // Under Oclgrind one of two passes and one of three.
    const size_t most = dev->checker ? 7 : sizeof cases / sizeof *cases;
    for (size_t i = dev->checker ? 1 : 0; i < most; i += dev->checker ? 5 : 1)
        for (size_t t = 0; t < (test_sample() ? 1 : sizeof types / sizeof *types); t++) {
            const struct weft__transpose_shape shape = {
                .m = cases[i].m, .n = cases[i].n, .nnz = cases[i].nnz, .type = types[(i + t) % 3], .ofs = WEFT_OFS_32};
            const struct weft_transpose_params params = {
                .algo = WEFT_TRANSPOSE_ALGO_SCAN,
                .gpu = {.wg = cases[i].wg, .ipt = cases[i].ipt, .bits = cases[i].bits}};
            struct weft_transpose_info info = {.params = params, .schedule = WEFT_SCHEDULE_GPU};
            struct weft__scan_layout like;
            struct heard h = {0};
            if (cases[i].bits > 10 && dev->ctx->device.local_bytes < 96 << 10)
                continue; // no room for so many bins
            if (weft__scan_plan(dev->ctx, &shape, &info)) {
                tap_ok(0, "%s: %s: %s", dev->name, cases[i].what, test_error(dev));
                continue;
            }
            weft__scan_layout_make(&like, dev->ctx, &shape, &info.params);
            trials->off = false;
            trials->seen = trial_seen;
            trials->arg = &h;
            const weft_status status = weft__transpose_trial(dev->ctx, &shape, &params, &info, NULL);
            trials->off = off;
            trials->seen = NULL;
            const int joined = strstr(h.kernels, "scan_count_offsets") != NULL,
                      vertical = strstr(h.kernels, "scan_vertical") != NULL,
                      count = joined == (!like.first_counted && like.joined) &&
                              vertical == (!like.first_counted && !like.joined),
                      three = (strstr(h.kernels, "bucket_chunks") != NULL) == (like.passes == 3),
                      buckets = (strstr(h.kernels, "scan_bucket") != NULL) == (like.passes > 1);
            tap_ok(!status && h.trials == 1 && h.right == 1 && count && three && buckets &&
                       takes_form(dev, &shape, &info.params, &like),
                   "%s: %s: %s; %s %s", dev->name, cases[i].what, h.what, h.kernels, h.why);
        }
}

int main(void)
{
    test_device_each(each_device);
    return tap_done();
}
