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

// The layout of a plan, and its programs; nothing is compiled. Zero: there is no such plan.
static uint64_t programs_of(struct test_device *dev, const struct weft__transpose_shape *shape,
                            const struct weft_transpose_params *params, struct weft_transpose_info *info,
                            struct weft__scan_layout *layout)
{
    *info = (struct weft_transpose_info){.params = *params, .schedule = WEFT_SCHEDULE_GPU};
    if (weft__scan_plan(dev->ctx, shape, info))
        return 0;
    weft__scan_layout_make(layout, dev->ctx, shape, &info->params);
    return weft__scan_gpu_programs(dev->ctx, shape, layout);
}

// The device with other lanes: kernels with ballots rank digits of as many bits as there are, and 132 compute units share out
// more chunks.
static void lanes_take(struct test_device *dev, enum weft_lanes lanes)
{
    struct weft_device_info *d = &dev->ctx->device;
    if (lanes == WEFT_LANES_LOCAL)
        return;
    d->lanes = lanes;
    d->wave = lanes == WEFT_LANES_PTX ? 32 : 64;
    d->fence = 1;
    d->compute_units = 132;
    snprintf(d->vendor, sizeof d->vendor, "%s", lanes == WEFT_LANES_PTX ? "NVIDIA Corporation" : WEFT__VENDOR_AMD);
}

// The problems of its trial are small, and their plans have its programs.
static int same_programs(struct test_device *dev, const struct weft__transpose_shape *shape,
                         const struct weft_transpose_params *params)
{
    struct weft_transpose_info info;
    struct weft__scan_layout like;
    const struct weft__transpose_made made = {programs_of(dev, shape, params, &info, &like), &like};
    int same = made.programs != 0;
    for (int diagonals = 0; diagonals <= shape->mirror && same; diagonals++) {
        struct weft_transpose_info small;
        struct weft__scan_layout l;
        struct weft__transpose_few few;
        same = weft__transpose_few(&few, dev->ctx, &weft__transpose_scan_gpu, shape, &info, &made, diagonals) &&
               programs_of(dev, &few.shape, &few.params, &small, &l) == made.programs && few.shape.nnz <= 20000 &&
               few.shape.n <= 1 << 17 && few.shape.m <= 1 << 17;
    }
    if (!same)
        tap_note("%lld x %lld, %lld entries, %s, %d bits, mirror %d, lanes %d: other programs", (long long)shape->m,
                 (long long)shape->n, (long long)shape->nnz, weft_type_name(shape->type),
                 8 * (int)weft_ofs_bytes(shape->ofs), shape->mirror, (int)dev->ctx->device.lanes);
    return same;
}

// Shapes of every kind, on devices with other lanes as well.
static void test_programs(struct test_device *dev)
{
    static const int64_t columns[] = {30, 900, 5000, 66700, 200000, 1000000, 8000000, 100000000, 1000000000},
                         entries[] = {100, 20000, 400000, 1200000, 10000000, 30000000, 1000000000};
    static const enum weft_type types[] = {WEFT_TYPE_F32, WEFT_TYPE_F64, WEFT_TYPE_PATTERN};
    const struct weft_transpose_params scan = {.algo = WEFT_TRANSPOSE_ALGO_SCAN};
    const struct weft_device_info device = dev->ctx->device;
    for (int lanes = WEFT_LANES_LOCAL; lanes <= WEFT_LANES_AMDGCN; lanes++) {
        int count = 0, same = 0;
        lanes_take(dev, (enum weft_lanes)lanes);
        for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
            for (size_t k = 0; k < sizeof entries / sizeof *entries; k++)
                for (int form = 0; form < 12; form++) {
                    const struct weft__transpose_shape shape = {.m = form % 2 ? columns[i] : 100000,
                                                                .n = columns[i],
                                                                .nnz = entries[k],
                                                                .type = types[form / 2 % 3],
                                                                .ofs = form / 6 ? WEFT_OFS_64 : WEFT_OFS_32,
                                                                .mirror = form % 2};
                    struct weft_transpose_info info;
                    struct weft__scan_layout l;
                    if (!programs_of(dev, &shape, &scan, &info, &l))
                        continue; // no room for its digits
                    count++;
                    same += same_programs(dev, &shape, &scan);
                }
        tap_ok(count > 600 && same == count, "%s: lanes %d: trials of %d of %d shapes have their programs", dev->name,
               lanes, same, count);
    }
    // These differ in how the rows of counters are added up alone, and in how chunks are.
    lanes_take(dev, WEFT_LANES_PTX);
    static const struct weft__transpose_shape pairs[][2] = {
        {{.m = 100000, .n = 66700, .nnz = 400000}, {.m = 100000, .n = 200000, .nnz = 1200000}},
        {{.m = 100000, .n = 200000, .nnz = 10000000}, {.m = 100000, .n = 200000, .nnz = 60000000}}};
    for (size_t i = 0; i < 2; i++) {
        struct weft_transpose_info info;
        struct weft__scan_layout l[2];
        uint64_t of[2];
        for (int k = 0; k < 2; k++)
            of[k] = programs_of(dev, &pairs[i][k], &scan, &info, &l[k]);
        tap_ok(of[0] && of[1] && of[0] != of[1],
               "%s: %zu and %zu segments, chunks joined %d and %d: programs %016llx and %016llx", dev->name,
               l[0].segments, l[1].segments, l[0].last_chunks.joined, l[1].last_chunks.joined,
               (unsigned long long)of[0], (unsigned long long)of[1]);
    }
    dev->ctx->device = device;
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
    const struct weft__scan_layout *l = status ? NULL : weft__transpose_made(plan)->layout;
    tap_ok(l && !l->wide_ipt && h.trials == 1 && h.right == 1,
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
    test_programs(dev);
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
            const struct weft__transpose_made made = {weft__scan_gpu_programs(dev->ctx, &shape, &like), &like};
            const weft_status status = weft__transpose_trial(dev->ctx, &weft__transpose_scan_gpu, &shape, &info, &made);
            trials->off = off;
            trials->seen = NULL;
            const int joined = strstr(h.kernels, "scan_count_offsets") != NULL,
                      vertical = strstr(h.kernels, "scan_vertical") != NULL,
                      count = joined == (!like.first_counted && like.joined) &&
                              vertical == (!like.first_counted && !like.joined),
                      three = (strstr(h.kernels, "bucket_chunks") != NULL) == (like.passes == 3),
                      buckets = (strstr(h.kernels, "scan_bucket") != NULL) == (like.passes > 1);
            tap_ok(!status && h.trials == 1 && h.right == 1 && count && three && buckets &&
                       same_programs(dev, &shape, &params),
                   "%s: %s: %s; %s %s", dev->name, cases[i].what, h.what, h.kernels, h.why);
        }
}

int main(void)
{
    test_device_each(each_device);
    return tap_done();
}
