// SPDX-License-Identifier: Apache-2.0
// Lane operations as kernels see them, drivers whose answers are wrong, and which devices are taken to have sub-groups.
#include "host/internal/tests.h"
#include "tests/support/device.h"
#include "tests/support/fault.h"

#include <stdio.h>
#include <string.h>

static cl_uint wrong; // the word of the answer that is spoilt

static cl_int CL_API_CALL read_wrong(cl_command_queue queue, cl_mem mem, cl_bool block, size_t offset, size_t bytes,
                                     void *out, cl_uint nwait, const cl_event *wait, cl_event *event)
{
    cl_int error = clEnqueueReadBuffer(queue, mem, block, offset, bytes, out, nwait, wait, event);
    if (error == CL_SUCCESS)
        ((cl_uint *)out)[wrong] ^= 1u;
    return error;
}

// A context of the same kind as dev's.
static struct weft_context *context_like(struct test_device *dev, weft_status *status)
{
    const struct weft_device_info *info = weft_context_device(dev->ctx);
    struct weft_context *ctx = NULL;
    struct weft_error err = {0};
    *status = weft_context_create(
        &ctx,
        weft_context_params(.device = info->id, .schedule = WEFT_SCHEDULE_GPU, .lanes = info->lanes,
                            .wave = info->lanes == WEFT_LANES_SUBGROUPS ? info->wave : 0, .cache_dir = ""),
        &err);
    if (*status)
        tap_note("%s", err.text);
    return ctx;
}

// Quirks go by platform, release and type.
static void test_quirks(void)
{
    static const struct {
        const char *platform, *version, *driver;
        cl_device_type type;
        int cpu_only, no_subgroups, untold_groups;
        uint64_t fill_words;
    } cases[] = {
        {"Portable Computing Language", "OpenCL 3.0 PoCL 5.0+debian  Linux", "5.0", CL_DEVICE_TYPE_CPU, 1, 1, 0, 0},
        {"Portable Computing Language", "OpenCL 3.0 PoCL 3.1+debian  Linux", "3.1", CL_DEVICE_TYPE_CPU, 0, 1, 0, 0},
        {"Portable Computing Language", "OpenCL 3.0 PoCL 6.0+debian  Linux", "6.0", CL_DEVICE_TYPE_CPU, 1, 1, 0, 0},
        {"Portable Computing Language", "OpenCL 3.0 PoCL 5.0", "5.0", CL_DEVICE_TYPE_GPU, 0, 0, 0, 0},
        {"Portable Computing Language", "OpenCL 3.0", "", CL_DEVICE_TYPE_CPU, 0, 1, 0, 0},
        {"NVIDIA CUDA", "OpenCL 3.0 CUDA 13.0", "580", CL_DEVICE_TYPE_GPU, 0, 0, 1, UINT64_C(1) << 30},
        {"rusticl", "OpenCL 3.0 ", "22.3.6", CL_DEVICE_TYPE_CPU, 0, 0, 1, 0},
        {"rusticl", "OpenCL 3.0 ", "25.0.7", CL_DEVICE_TYPE_CPU, 1, 0, 1, 0},
        {"rusticl", "OpenCL 3.0 ", "25.0.7", CL_DEVICE_TYPE_GPU, 0, 0, 1, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct weft_device_info info = {.type = cases[i].type};
        snprintf(info.platform, sizeof info.platform, "%s", cases[i].platform);
        snprintf(info.platform_version, sizeof info.platform_version, "%s", cases[i].version);
        snprintf(info.driver, sizeof info.driver, "%s", cases[i].driver);
        const struct weft__quirks got = weft__quirks_of(&info);
        tap_ok(got.cpu_only == cases[i].cpu_only && got.no_subgroups == cases[i].no_subgroups &&
                   got.fill_words == cases[i].fill_words && got.untold_groups == cases[i].untold_groups,
               "quirks of %s, %s, driver %s", cases[i].platform, cases[i].version, cases[i].driver);
    }
}

// Buffers beyond 4 GB: by a flag and an option on Intel's GPUs, and there alone.
static void test_large(void)
{
    struct weft_device_info gpu = {.type = CL_DEVICE_TYPE_GPU, .platform = "Intel(R) OpenCL Graphics"}, cpu = gpu;
    cpu.type = CL_DEVICE_TYPE_CPU;
    tap_ok(weft__quirks_of(&gpu).large_flag == 1 << 23 && !weft__quirks_of(&cpu).large_flag,
           "the flag of large buffers");
    const char *large = weft__program_options(&(struct weft__caps){.large = 1});
    tap_ok(strstr(large, "-cl-std=CL1.2 ") && strstr(large, WEFT__LARGE_OPTION) &&
               !strstr(weft__program_options(&(struct weft__caps){0}), WEFT__LARGE_OPTION),
           "the option of programs: %s", large);
    struct weft_context ctx = {.large_flag = 1 << 23}, plain = {0};
    tap_ok(weft__buffer_large(&ctx, (size_t)WEFT__LARGE_BYTES) == 1 << 23 &&
               !weft__buffer_large(&ctx, (size_t)WEFT__LARGE_BYTES - 1) && !weft__buffer_large(&plain, SIZE_MAX / 2),
           "which buffers have it");
}

static void test_probe(struct test_device *dev)
{
    static const enum fault_call calls[] = {
        FAULT_clCreateCommandQueue,  FAULT_clCreateBuffer,         FAULT_clCreateProgramWithSource,
        FAULT_clBuildProgram,        FAULT_clCreateKernel,         FAULT_clSetKernelArg,
        FAULT_clGetCommandQueueInfo, FAULT_clEnqueueNDRangeKernel, FAULT_clEnqueueReadBuffer};
    if (!dev->gpu)
        return;
    const struct weft_device_info *info = weft_context_device(dev->ctx);
    weft_status status;
    struct weft_context *ctx = context_like(dev, &status);
    if (!tap_ok(!status && ctx->device.lanes == info->lanes && ctx->device.wave == info->wave, "%s: a context",
                dev->name))
        return;
    tap_ok(weft__lanes_probe(ctx), "%s: lane operations are right", dev->name);
    weft__cl.clEnqueueReadBuffer = read_wrong;
    for (wrong = 0; wrong < 384 && !weft__lanes_probe(ctx); wrong += 383)
        ;
    tap_is_int(wrong, 2 * 383, "%s: one wrong work-item is found", dev->name);
    wrong = 0;
    struct weft_context *next = context_like(dev, &status);
    tap_ok(!status && next->device.lanes == WEFT_LANES_LOCAL ? 1 : info->lanes != WEFT_LANES_SUBGROUPS,
           "%s: no sub-groups where they are wrong", dev->name);
    weft_context_destroy(&next);
    weft__cl.clEnqueueReadBuffer = clEnqueueReadBuffer;
    size_t max_wg = ctx->device.max_wg;
    ctx->device.max_wg = 64;
    tap_ok(!weft__lanes_probe(ctx), "%s: no room for the probe", dev->name);
    ctx->device.max_wg = max_wg;
    fault_install();
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct weft_error err = {0};
        next = context_like(dev, &status);
        if (status)
            tap_bail("%s: no context", dev->name);
        next->salt = 1 + i;                   // compiled anew
        if (calls[i] == FAULT_clBuildProgram) // one that fails once is tried again
            fault_set_ever(calls[i], 1);
        else
            fault_set(calls[i], 1);
        int right = weft__lanes_probe(next), hit = fault_hit();
        fault_set(calls[i], 0);
        weft_context_error(&err, next);
        weft_context_destroy(&next);
        tap_ok(hit && !right && !err.status && !err.text[0] && !fault_live(), "%s: a probe without %s", dev->name,
               fault_name(calls[i]));
    }
    fault_remove();
    weft_context_destroy(&ctx);
}

static void test_wave(struct test_device *dev)
{
    struct weft_context *ctx = NULL;
    struct weft_error err = {0};
    weft_status status = weft_context_create(
        &ctx,
        weft_context_params(.device = weft_context_device(dev->ctx)->id, .lanes = WEFT_LANES_SUBGROUPS, .wave = 16),
        &err);
    tap_ok(status == WEFT_EINVAL && !ctx && strstr(err.text, "params.wave is 16"), "%s: %s", dev->name, err.text);
    status = weft_context_create(
        &ctx, weft_context_params(.device = weft_context_device(dev->ctx)->id, .lanes = WEFT_LANES_LOCAL, .wave = 32),
        &err);
    tap_ok(status == WEFT_EINVAL && !ctx, "%s: a width without sub-groups: %s", dev->name, err.text);
}

// Lane operations that the device lacks are refused; it is the list that says which it has, local memory is everywhere.
static void test_lanes(struct test_device *dev)
{
    const struct weft_device_info *d = weft_context_device(dev->ctx);
    struct weft_device_info *list = NULL;
    size_t count = 0, at = 0;
    if (weft_devices_list(&list, &count, NULL))
        tap_bail("no list of devices");
    while (at < count && list[at].id != d->id)
        at++;
    const struct weft__subgroups found = at < count ? weft__subgroups_of(&list[at]) : (struct weft__subgroups){0};
    for (int lanes = WEFT_LANES_AUTO; at < count && lanes <= WEFT_LANES_SUBGROUPS; lanes++) {
        struct weft_context *ctx = NULL;
        struct weft_error err = {0};
        const bool there = lanes <= WEFT_LANES_LOCAL || (int)list[at].lanes == lanes ||
                           (lanes == WEFT_LANES_SUBGROUPS && found.there && (found.no_size || found.waves));
        const weft_status status = weft_context_create(
            &ctx, weft_context_params(.device = d->id, .schedule = dev->ctx->schedule, .lanes = (enum weft_lanes)lanes),
            &err);
        tap_ok(there ? !status && ctx : status == WEFT_EINVAL && !ctx && strstr(err.text, "params.lanes is \""),
               "%s: lanes \"%s\" asked for: %s", dev->name, weft_lanes_name((enum weft_lanes)lanes), err.text);
        weft_context_destroy(&ctx);
    }
    weft_devices_free(&list);
}

// ---- what drivers say ----

static struct {
    const char *platform, *version, *extensions;
    cl_device_type type;
    cl_uint most; // sub-groups of a work-group
    size_t sizes[3], nsizes;
    cl_uint wavefront; // of AMD's
} driver;

static cl_int answer(const void *data, size_t bytes, size_t size, void *value, size_t *needed)
{
    if (value && size < bytes)
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, data, bytes);
    if (needed)
        *needed = bytes;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL driver_info(cl_device_id id, cl_device_info what, size_t size, void *value, size_t *needed)
{
    switch (what) {
    case CL_DEVICE_TYPE:
        return answer(&driver.type, sizeof driver.type, size, value, needed);
    case CL_DEVICE_VERSION:
        return answer(driver.version, strlen(driver.version) + 1, size, value, needed);
    case CL_DEVICE_EXTENSIONS:
        return answer(driver.extensions, strlen(driver.extensions) + 1, size, value, needed);
    case 0x105C:
        return answer(&driver.most, sizeof driver.most, size, value, needed);
    case 0x4043:
        return driver.wavefront ? answer(&driver.wavefront, sizeof driver.wavefront, size, value, needed)
                                : CL_INVALID_VALUE;
    case 0x4108:
        return driver.nsizes ? answer(driver.sizes, driver.nsizes * sizeof *driver.sizes, size, value, needed)
                             : CL_INVALID_VALUE;
    default:
        return clGetDeviceInfo(id, what, size, value, needed);
    }
}

static cl_int CL_API_CALL driver_platform(cl_platform_id id, cl_platform_info what, size_t size, void *value,
                                          size_t *needed)
{
    return what == CL_PLATFORM_NAME ? answer(driver.platform, strlen(driver.platform) + 1, size, value, needed)
                                    : clGetPlatformInfo(id, what, size, value, needed);
}

#define BALLOT "cl_khr_subgroup_ballot cl_khr_subgroup_shuffle"
#define NEEDED BALLOT " cl_intel_required_subgroup_size"

static void test_drivers(void)
{
    static const struct {
        const char *what, *platform, *version, *extensions;
        cl_device_type type;
        cl_uint most;
        size_t sizes[3], nsizes;
        int waves, wave, used;
    } cases[] = {
        {"both", "Any", "OpenCL 3.0", NEEDED, CL_DEVICE_TYPE_GPU, 8, {8, 32, 64}, 3, 96, 32, 1},
        {"64 alone", "Any", "OpenCL 3.1 x", NEEDED, CL_DEVICE_TYPE_GPU, 8, {64}, 1, 64, 64, 1},
        {"by name alone", "Any", "OpenCL 3.0", "cl_khr_subgroups " NEEDED, CL_DEVICE_TYPE_GPU, 0, {32}, 1, 32, 32, 1},
        {"a CPU", "Any", "OpenCL 3.0", NEEDED, CL_DEVICE_TYPE_CPU, 8, {16, 32}, 2, 32, 32, 1},
        {"none", "Any", "OpenCL 3.0", NEEDED, CL_DEVICE_TYPE_GPU, 0, {32}, 1, 0, 32, 0},
        {"too narrow", "Any", "OpenCL 3.0", NEEDED, CL_DEVICE_TYPE_GPU, 8, {8, 16}, 2, 0, 32, 0},
        {"no size on request", "Any", "OpenCL 3.0", BALLOT, CL_DEVICE_TYPE_GPU, 8, {32}, 1, 0, 32, 0},
        {"sizes not told", "Any", "OpenCL 3.0", NEEDED, CL_DEVICE_TYPE_GPU, 8, {0}, 0, 0, 32, 0},
        {"an older language",
         "Any",
         "OpenCL 2.1",
         "cl_khr_subgroups " NEEDED,
         CL_DEVICE_TYPE_GPU,
         8,
         {32},
         1,
         0,
         32,
         0},
        {"no version", "Any", "3.0", NEEDED, CL_DEVICE_TYPE_GPU, 8, {32}, 1, 0, 32, 0},
        {"PoCL's", "Portable Computing Language", "OpenCL 3.0 PoCL", NEEDED, CL_DEVICE_TYPE_CPU, 8, {32}, 1, 0, 1, 0},
        {"Intel's CPU", "Intel(R) OpenCL", "OpenCL 3.1", NEEDED, CL_DEVICE_TYPE_CPU, 8, {32, 64}, 2, 96, 1, 0},
        {"Intel's GPU", "Intel(R) OpenCL Graphics", "OpenCL 3.0", NEEDED, CL_DEVICE_TYPE_GPU, 8, {32}, 1, 32, 32, 1},
        {"PoCL's of a GPU",
         "Portable Computing Language",
         "OpenCL 3.0 PoCL",
         NEEDED,
         CL_DEVICE_TYPE_GPU,
         8,
         {32},
         1,
         32,
         32,
         1},
    };
    struct weft_device_info *list = NULL;
    struct weft_error err;
    size_t count = 0;
    weft__cl.clGetDeviceInfo = driver_info;
    weft__cl.clGetPlatformInfo = driver_platform;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        driver.platform = cases[k].platform;
        driver.version = cases[k].version;
        driver.extensions = cases[k].extensions;
        driver.type = cases[k].type;
        driver.most = cases[k].most;
        driver.nsizes = cases[k].nsizes;
        memcpy(driver.sizes, cases[k].sizes, sizeof driver.sizes);
        if (weft_devices_list(&list, &count, &err)) {
            tap_skip("%s", err.text);
            break;
        }
        const struct weft_device_info *d = &list[0];
        tap_ok(d->waves == cases[k].waves && d->wave == cases[k].wave &&
                   d->lanes == (cases[k].used ? WEFT_LANES_SUBGROUPS : WEFT_LANES_LOCAL),
               "sub-groups, %s: sizes %d, width %d, lanes %d", cases[k].what, d->waves, d->wave, (int)d->lanes);
        weft_devices_free(&list);
    }
    weft__cl.clGetDeviceInfo = clGetDeviceInfo;
    weft__cl.clGetPlatformInfo = clGetPlatformInfo;
}

// ---- drivers that lack what they should have ----

static size_t compiled_wave; // what a driver makes of every kernel; 0: it does not say
static cl_int CL_API_CALL kernel_wave(cl_kernel kernel, cl_device_id device, cl_uint what, size_t in_size,
                                      const void *in, size_t size, void *value, size_t *needed)
{
    (void)kernel, (void)device, (void)in;
    return what == 0x2033 && in_size == sizeof(size_t) && compiled_wave
               ? answer(&compiled_wave, sizeof compiled_wave, size, value, needed)
               : CL_INVALID_VALUE;
}

// What programs with sub-groups were asked for since.
static int with_subgroups, with_size, with_ballot, waves_seen;
static cl_program CL_API_CALL program_seen(cl_context context, cl_uint count, const char **texts, const size_t *lengths,
                                           cl_int *error)
{
    // They compile where the driver here has none, and give wrong answers.
    static const char none[] = "#define sub_group_barrier(flags) barrier(flags)\n"
                               "#define sub_group_reduce_add(v) (v)\n"
                               "#define sub_group_shuffle(v, from) (v)\n"
                               "#define get_sub_group_local_id() 0u\n"
                               "#define get_sub_group_size() 32u\n",
                      absent[] = "#define __builtin_amdgcn_ballot_w32 no_such_builtin\n"
                                 "#define __builtin_amdgcn_ballot_w64 no_such_builtin\n";
    if (strstr(texts[0], "#define WEFT_LANES_AMDGCN 1\n")) {
        const char *const all[] = {absent, texts[0]};
        return clCreateProgramWithSource(context, 2, (const char **)all, NULL, error);
    }
    if (strstr(texts[0], "#define WEFT_LANES_SUBGROUPS 1\n")) {
        with_subgroups++;
        with_size += !strstr(texts[0], "#define WEFT_WAVE_AS_COMPILED 1\n");
        with_ballot += !strstr(texts[0], "#define WEFT_NO_BALLOT 1\n");
        waves_seen |= strstr(texts[0], "#define WEFT_WAVE 32\n") ? 32 : 64;
        const char *const all[] = {none, texts[0]};
        return clCreateProgramWithSource(context, 2, (const char **)all, NULL, error);
    }
    return clCreateProgramWithSource(context, count, texts, lengths, error);
}

// A GPU, as far as its driver says, on which neither AMD's builtins nor sub-groups can be more than tried: whatever comes
// of that, the context is there, and what it then uses has been seen to work.
static void test_lacking(void)
{
    static const char *const amd = "cl_amd_device_attribute_query", *const bare =
                                                                        "cl_khr_subgroups cl_khr_subgroup_shuffle";
    const struct {
        const char *what, *version, *extensions;
        size_t wave;
        cl_uint wavefront;
        int tried, waves; // sub-groups, and the sizes of them
    } cases[] = {
        {"AMD without its builtins", "OpenCL 2.0 AMD", amd, 0, 64, 0, 0},
        {"no ballot, no size, 32", "OpenCL 3.0", bare, 32, 0, 1, 32},
        {"no ballot, no size, 64", "OpenCL 3.1", "cl_khr_subgroups", 64, 0, 1, 96},
        {"no ballot, no size, 16", "OpenCL 3.0", bare, 16, 0, 1, 96},
        {"sizes not told", "OpenCL 3.0", bare, 0, 0, 1, 96},
        {"no shuffle", "OpenCL 3.0", "cl_khr_subgroups", 32, 0, 0, 0},
        {"an older language", "OpenCL 2.1", bare, 32, 0, 0, 0},
    };
    struct weft_device_info *list = NULL;
    size_t count = 0;
    const int checker = !weft_devices_list(&list, &count, NULL) && strstr(list[0].platform, "Oclgrind");
    weft_devices_free(&list);
    if (checker) {
        tap_skip("drivers that lack something: the compiler of Oclgrind refuses what stands for sub-groups");
        return;
    }
    driver.platform = "Any";
    driver.type = CL_DEVICE_TYPE_GPU;
    driver.most = 8;
    driver.nsizes = 0;
    weft__cl.clGetDeviceInfo = driver_info;
    weft__cl.clGetPlatformInfo = driver_platform;
    weft__cl.clGetKernelSubGroupInfo = kernel_wave;
    weft__cl.clCreateProgramWithSource = program_seen;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct weft_context *ctx = NULL;
        struct weft_error err = {0};
        driver.version = cases[k].version;
        driver.extensions = cases[k].extensions;
        driver.wavefront = cases[k].wavefront;
        compiled_wave = cases[k].wave;
        with_subgroups = with_size = with_ballot = waves_seen = 0;
        const weft_status status = weft_context_create(&ctx, weft_context_params(.select = "0", .cache_dir = ""), &err);
        if (status == WEFT_ENODEV) {
            tap_skip("%s", err.text);
            break;
        }
        const enum weft_lanes lanes = status ? WEFT_LANES_AUTO : weft_context_device(ctx)->lanes;
        tap_ok(!status && weft_context_schedule(ctx) == WEFT_SCHEDULE_GPU &&
                   (lanes == WEFT_LANES_LOCAL || (lanes == WEFT_LANES_SUBGROUPS && cases[k].tried)) &&
                   !weft_context_device(ctx)->fence,
               "%s: a context, lanes %s %s", cases[k].what, weft_lanes_name(lanes), err.text);
        tap_ok((with_subgroups > 0) == cases[k].tried && !with_size && !with_ballot && waves_seen == cases[k].waves,
               "%s: %d programs with sub-groups, of sizes %d", cases[k].what, with_subgroups, waves_seen);
        if (!status) {
            weft_context_error(&err, ctx);
            tap_ok(!err.text[0] && weft__lanes_probe(ctx), "%s: and its lanes are right %s", cases[k].what, err.text);
        }
        weft_context_destroy(&ctx);
    }
    weft__cl.clGetDeviceInfo = clGetDeviceInfo;
    weft__cl.clGetPlatformInfo = clGetPlatformInfo;
    weft__cl.clGetKernelSubGroupInfo = clGetKernelSubGroupInfo;
    weft__cl.clCreateProgramWithSource = clCreateProgramWithSource;
}

static void test_all(struct test_device *dev)
{
    test_probe(dev);
    test_wave(dev);
    test_lanes(dev);
}

int main(void)
{
    test_quirks();
    test_large();
    test_drivers();
    test_lacking();
    test_device_each(test_all);
    return tap_done();
}
