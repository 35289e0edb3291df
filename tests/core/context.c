// SPDX-License-Identifier: Apache-2.0
// Contexts: choice of device, the caller's own objects, errors and their log, launch callbacks, compilation.
#include "host/internal/inside.h"
#include "tests/support/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weft/transpose.h>

static char logged[2048];
static int log_lines;

static void log_keep(void *arg, const char *text)
{
    ++*(int *)arg;
    strncpy(logged, text, sizeof logged - 1);
}

static void test_create(struct test_device *dev)
{
    struct weft_error err = {0};
    struct weft_context *ctx = (struct weft_context *)&err;
    const struct weft_device_info *info = weft_context_device(dev->ctx);
    weft_status status = weft_context_create(&ctx, weft_context_params(.select = "9999"), &err);
    tap_ok(status == WEFT_ENODEV && !ctx && strstr(err.text, "9999"), "%s: no such device: %s", dev->name, err.text);
    status = weft_context_create(&ctx, weft_context_params(.device = (cl_device_id)&err), &err);
    tap_ok(status == WEFT_ENODEV && !ctx, "%s: a device of no platform: %s", dev->name, err.text);
    status = weft_context_create(&ctx, weft_context_params(.select = "-1"), NULL);
    tap_ok(status == WEFT_ENODEV && !ctx, "%s: an error that nobody asks for", dev->name);

    // The caller's own cl_context and device: kept by reference, still the caller's afterwards.
    cl_int error;
    cl_uint before = 0, during = 0, after = 0;
    cl_context own = clCreateContext(NULL, 1, &info->id, NULL, NULL, &error);
    clGetContextInfo(own, CL_CONTEXT_REFERENCE_COUNT, sizeof before, &before, NULL);
    status = weft_context_create(&ctx, weft_context_params(.context = own, .device = info->id), &err);
    clGetContextInfo(own, CL_CONTEXT_REFERENCE_COUNT, sizeof during, &during, NULL);
    tap_ok(!status && weft_context_cl(ctx) == own && weft_context_device(ctx)->id == info->id && during == before + 1,
           "%s: the caller's own context", dev->name);
    enum weft_schedule schedule = weft_context_schedule(ctx);
    tap_ok((schedule == WEFT_SCHEDULE_CPU) == ((info->type & CL_DEVICE_TYPE_CPU) != 0),
           "%s: the schedule follows the type of the device", dev->name);
    weft_context_destroy(&ctx);
    clGetContextInfo(own, CL_CONTEXT_REFERENCE_COUNT, sizeof after, &after, NULL);
    tap_ok(!ctx && after == before, "%s: given back", dev->name);
    clReleaseContext(own);
    weft_context_destroy(&ctx);
    weft_context_destroy(NULL);
}

static void test_errors(struct test_device *dev)
{
    struct weft_context *ctx = NULL;
    struct weft_error err = {0}, again;
    struct weft_transpose_plan *op = NULL;
    log_lines = 0;
    if (!tap_ok(!weft_context_create(&ctx,
                                     weft_context_params(.device = weft_context_device(dev->ctx)->id, .log = log_keep,
                                                         .log_arg = &log_lines),
                                     &err),
                "%s: a context with a log", dev->name))
        return;
    weft_context_error(&err, ctx);
    tap_ok(err.status == WEFT_OK && !err.text[0] && !log_lines, "%s: no error yet", dev->name);
    weft_transpose_plan_create(&op, ctx, weft_shape(-1, 1, 0, WEFT_TYPE_F32, WEFT_OFS_32), NULL);
    weft_context_error(&err, ctx);
    tap_ok(err.status == WEFT_EINVAL && err.cl_error == 0 && log_lines == 1 && !strcmp(logged, err.text),
           "%s: an error is kept and logged once: %s", dev->name, logged);

    // Compilation that fails: the log of the compiler, with the line of our file.
    struct weft__defines d = {0};
    struct weft__kernel *kernel = (struct weft__kernel *)&err;
    weft_status status = weft__kernel_create(&kernel, ctx, &weft__fill_spec, &d);
    weft_context_error(&err, ctx);
    tap_ok(status == WEFT_EBUILD && !kernel && strstr(err.text, "lib/fill.cl") && strstr(err.text, "\n"),
           "%s: a missing define: %.60s", dev->name, err.text);
    tap_ok(strstr(err.text, "WEFT_WG: work-group size") != NULL, "%s: the compiler's words are in the message",
           dev->name);
    if (dev->checker)
        tap_skip("%s: Oclgrind does not heed #line", dev->name);
    else if (!tap_ok(strstr(err.text, "lib/fill.cl:8") || strstr(err.text, "lib/fill.cl\", line 8") ||
                         strstr(err.text, "lib/fill.cl(8"),
                     "%s: the line is that of our file", dev->name))
        tap_note("%.2000s", err.text);
    struct weft__kernel_spec spec = {"no_such_kernel", {"lib/fill.cl"}};
    weft__define(&d, "WEFT_WG", "64");
    status = weft__kernel_create(&kernel, ctx, &spec, &d);
    tap_ok(status == WEFT_EDEVICE && !kernel, "%s: no such kernel", dev->name);
    for (int i = 0; i < 400; i++)
        weft__define(&d, "WEFT_FILLER", "%d", i);
    status = weft__kernel_create(&kernel, ctx, &weft__fill_spec, &d);
    tap_ok(status == WEFT_ERANGE && !kernel, "%s: too many defines", dev->name);
    cl_mem buffer = (cl_mem)&err;
    status = weft__buffer_create(&buffer, ctx, (size_t)weft_context_device(ctx)->max_alloc_bytes + 1, "a test");
    weft_context_error(&again, ctx);
    tap_ok(status == WEFT_ERANGE && !buffer && strstr(again.text, "a test"), "%s: too large a buffer: %s", dev->name,
           again.text);
    status = weft__fail_cl(ctx, CL_OUT_OF_HOST_MEMORY, "a call");
    weft_context_error(&again, ctx);
    tap_ok(status == WEFT_ENOMEM && again.cl_error == CL_OUT_OF_HOST_MEMORY &&
               strstr(again.text, "CL_OUT_OF_HOST_MEMORY"),
           "%s: the code of the OpenCL call is kept: %s", dev->name, again.text);
    tap_ok(weft__fail_cl(ctx, CL_SUCCESS, "a call") == WEFT_OK, "%s: success is no failure", dev->name);
    weft_context_destroy(&ctx);
}

static cl_int(CL_API_CALL *real_build)(cl_program, cl_uint, const cl_device_id *, const char *,
                                       void(CL_CALLBACK *)(cl_program, void *), void *);
static int builds, builds_fail; // calls of clBuildProgram; the first so many fail, and say nothing
static cl_int CL_API_CALL silent_build(cl_program program, cl_uint n, const cl_device_id *devices, const char *options,
                                       void(CL_CALLBACK *told)(cl_program, void *), void *arg)
{
    return builds++ < builds_fail ? CL_BUILD_PROGRAM_FAILURE : real_build(program, n, devices, options, told, arg);
}

// A driver that fails and names no error is asked five times; nothing is logged where it succeeds.
static void test_silent_builds(struct test_device *dev)
{
    for (int fail = 4; fail <= 5; fail++) {
        struct weft_context *ctx = NULL;
        struct weft__defines d = {0};
        struct weft__kernel *kernel = NULL;
        struct weft_error err;
        log_lines = 0;
        weft_status status =
            weft_context_create(&ctx,
                                weft_context_params(.device = weft_context_device(dev->ctx)->id, .log = log_keep,
                                                    .log_arg = &log_lines, .cache_dir = ""),
                                &err);
        real_build = weft__cl.clBuildProgram;
        weft__cl.clBuildProgram = silent_build;
        builds = 0;
        builds_fail = fail;
        weft__define(&d, "WEFT_WG", "64");
        weft__define(&d, "WEFT_FILLER", "%d", fail);
        if (!status)
            status = weft__kernel_create(&kernel, ctx, &weft__fill_spec, &d);
        weft__cl.clBuildProgram = real_build;
        tap_ok(builds == 5 && (fail == 5 ? status == WEFT_EBUILD && log_lines == 1 : !status && !log_lines),
               "%s: %d builds fail without a word, of %d: status %d, %d lines logged", dev->name, fail, builds,
               (int)status, log_lines);
        weft__kernel_release(&kernel);
        weft_context_destroy(&ctx);
    }
}

struct launches {
    int count, complete;
    char names[512];
};

static void launch_count(void *arg, const char *kernel, size_t global, size_t wg, cl_event event)
{
    struct launches *l = arg;
    cl_command_type type = 0;
    l->count++;
    l->complete += wg > 0 && global % wg == 0 &&
                   clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL) == CL_SUCCESS &&
                   type == CL_COMMAND_NDRANGE_KERNEL;
    strncat(l->names, kernel, sizeof l->names - strlen(l->names) - 1);
}

static void test_launches(struct test_device *dev)
{
    struct launches l = {0};
    struct weft_csr zeros, out = {0};
    if (weft_csr_alloc(&zeros, weft_shape(10, 20, 0, WEFT_TYPE_F32, WEFT_OFS_32)))
        tap_bail("out of host memory");
    weft_context_on_launch(dev->ctx, launch_count, &l);
    weft_status status = weft_transpose_sync(&out, dev->ctx, &zeros, NULL);
    tap_ok(!status && l.count == 1 && l.complete == 1 && !strcmp(l.names, "fill"),
           "%s: a launch is reported with its event: %s", dev->name, l.names);
    weft_context_on_launch(dev->ctx, NULL, NULL);
    weft_csr_free(&out);
    status = weft_transpose_sync(&out, dev->ctx, &zeros, NULL);
    tap_ok(!status && l.count == 1, "%s: and then no more", dev->name);
    weft_csr_free(&out);
    weft_csr_free(&zeros);
}

static struct weft_context *context_here(struct test_device *dev, const char *cache)
{
    struct weft_context *ctx = NULL;
    if (weft_context_create(&ctx,
                            weft_context_params(.device = weft_context_device(dev->ctx)->id, .cache_dir = cache,
                                                .log = log_keep, .log_arg = &log_lines),
                            NULL))
        tap_bail("%s: no context", dev->name);
    return ctx;
}

#ifdef _WIN32 // the folder of the user's caches stands for XDG_CACHE_HOME
static const char home_name[] = "LOCALAPPDATA", home_cache[] = "/proc/nowhere/weft";
#else
static const char home_name[] = "HOME", home_cache[] = "/proc/nowhere/.cache/weft";
#endif

// A home that is a relative path is none, one that is not there is not made, and a folder that cannot be made is told.
static void test_homes(struct test_device *dev)
{
#ifdef _WIN32
    (void)dev;
#else
    char home[] = "/tmp/weft-home-XXXXXX", inside[64];
    logged[0] = 0;
    setenv("HOME", "somewhere", 1);
    struct weft_context *ctx = context_here(dev, NULL);
    tap_ok(!ctx->cache_dir && !logged[0] && rmdir("somewhere/.cache/weft"), "%s: a home that is no absolute path",
           dev->name);
    weft_context_destroy(&ctx);
    if (!mkdtemp(home))
        tap_bail("no folder");
    snprintf(inside, sizeof inside, "%s/none", home);
    setenv("HOME", inside, 1);
    ctx = context_here(dev, NULL);
    tap_ok(!logged[0] && access(inside, F_OK), "%s: a home that is not there", dev->name);
    weft_context_destroy(&ctx);
    logged[0] = 0;
    setenv("HOME", home, 1);
    ctx = context_here(dev, NULL);
    snprintf(inside, sizeof inside, "%s/.cache/weft", home);
    tap_ok(!logged[0] && !rmdir(inside), "%s: below a home that is there folders are made", dev->name);
    weft_context_destroy(&ctx);
    snprintf(inside, sizeof inside, "%s/.cache", home);
    rmdir(inside);
    rmdir(home);
    ctx = context_here(dev, "/proc/nowhere");
    tap_ok(strstr(logged, "program cache /proc/nowhere is not used: the folder cannot be made") != NULL,
           "%s: in the log: %s", dev->name, logged);
    weft_context_destroy(&ctx);
#endif
}

// What the environment says of the cache and of copies.
static void test_environment(struct test_device *dev)
{
    static char longest[5000];
    const char *const cache = getenv("XDG_CACHE_HOME"), *const home = getenv(home_name);
    char *const kept = cache ? strdup(cache) : NULL, *const kept_home = home ? strdup(home) : NULL;
    memset(longest, 'a', sizeof longest - 1);
    logged[0] = 0;
    struct weft_context *ctx = context_here(dev, longest);
    tap_ok(!ctx->cache_dir && strstr(logged, "too long"), "%s: a cache whose path is too long: %s", dev->name, logged);
    weft_context_destroy(&ctx);
    unsetenv("XDG_CACHE_HOME");
    setenv(home_name, "/proc/nowhere", 1);
    ctx = context_here(dev, NULL);
    tap_is_str(ctx->cache_dir ? ctx->cache_dir : "none", home_cache, "a cache in the home");
    weft_context_destroy(&ctx);
    test_homes(dev);
    setenv(home_name, "/proc/nowhere", 1);
    setenv("XDG_CACHE_HOME", "somewhere/here", 1);
    ctx = context_here(dev, NULL);
    tap_is_str(ctx->cache_dir ? ctx->cache_dir : "none", home_cache,
               "a folder that is no absolute path is as if it were not set");
    weft_context_destroy(&ctx);
    unsetenv("XDG_CACHE_HOME");
    unsetenv(home_name);
    ctx = context_here(dev, NULL);
    tap_ok(!ctx->cache_dir && !ctx->staging.slots, "%s: no home, no cache", dev->name);
    weft_context_destroy(&ctx);
    if (kept)
        setenv("XDG_CACHE_HOME", kept, 1);
    if (kept_home)
        setenv(home_name, kept_home, 1);
    free(kept);
    free(kept_home);
    static const char *const wrong[] = {"-1", "999,1", "2,-1", "2,70000", "2,64,-1", "2,64,1,-1", "2,64,1,70000", "x"};
    int ok = 1;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        setenv("WEFT_STAGE", wrong[i], 1);
        ctx = context_here(dev, "");
        ok =
            ok && !ctx->staging.slots && !ctx->staging.slot_bytes && !ctx->staging.threads && !ctx->staging.piece_bytes;
        weft_context_destroy(&ctx);
    }
    setenv("WEFT_STAGE", "2,64,1,16", 1);
    ctx = context_here(dev, "");
    tap_ok(ok && ctx->staging.slots == 2 && ctx->staging.slot_bytes == 65536 && ctx->staging.threads == 1 &&
               ctx->staging.piece_bytes == 16384,
           "%s: WEFT_STAGE is taken where it has numbers that can be", dev->name);
    weft_context_destroy(&ctx);
    unsetenv("WEFT_STAGE");
}

static void test_all(struct test_device *dev)
{
    test_create(dev);
    test_errors(dev);
    test_silent_builds(dev);
    test_launches(dev);
    test_environment(dev);
}

int main(void)
{
    tap_is_str(weft__cl_error_name(CL_INVALID_KERNEL_ARGS), "CL_INVALID_KERNEL_ARGS", "names of OpenCL errors");
    tap_is_str(weft__cl_error_name(12345), "unknown OpenCL error", "and numbers without a name");
    tap_ok(WEFT__HOSTILE(weft__groups(SIZE_MAX, 256) * 256 == ((size_t)1 << 31) - 256 && weft__groups(10, 256) == 10,
                         weft__groups(SIZE_MAX, 256) == 1),
           "launches stay below 2^31 work-items");
    char *log = weft__log_lines("<kernel>:1:9: a\n<kernel>:3:2: b, <kernel>:6:1: c\n<kernel>\n",
                                "#define X\n#line 1 \"a.clh\"\n1\n2\n#line 7 \"b.cl\"\n7\n");
    tap_is_str(log, "<kernel>:1:9: a\na.clh:1:2: b, b.cl:7:1: c\n<kernel>\n",
               "lines of a log that does not heed #line");
    free(log);
    test_device_each(test_all);
    return tap_done();
}
