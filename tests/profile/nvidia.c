// SPDX-License-Identifier: Apache-2.0
// What the recorder asks of NVIDIA's driver, with a stand-in before the device at hand: kernels that the program has
// released by then, build logs of all kinds, binaries that are no PTX, a timer that is not there.
#include "profile/calls.h"
#include "profile/clock.h"
#include "tests/support/device.h"

#include "host/internal/inside.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KERNELS = 16, LOG_BYTES = 1 << 20 };

static struct profile_calls real;
static struct weft__cl_table below;
static struct {
    cl_kernel id;
    int references;
} kernels[KERNELS];
static int made, dead, again, builds, timer_calls;
static const char *version;
static char binary[64];
static size_t zero; // 1: the binary is told with the zero at its end
static cl_ulong timer_grain;
static char *build_log;
static size_t log_size;
static cl_int log_error;
static char program_mark;

static int place_of(cl_kernel id)
{
    int i = made - 1;
    while (i >= 0 && kernels[i].id != id)
        i--;
    return i;
}

static cl_kernel CL_API_CALL kernel_make(cl_program program, const char *name, cl_int *error)
{
    cl_kernel kernel = below.clCreateKernel(program, name, error);
    if (kernel && made < KERNELS) {
        kernels[made].id = kernel;
        kernels[made++].references = 1;
    }
    return kernel;
}

static cl_int CL_API_CALL kernel_hold(cl_kernel kernel)
{
    int i = place_of(kernel);
    if (i < 0 || kernels[i].references < 1) {
        dead++;
        return CL_INVALID_KERNEL;
    }
    kernels[i].references++;
    return clRetainKernel(kernel);
}

static cl_int CL_API_CALL kernel_drop(cl_kernel kernel)
{
    int i = place_of(kernel);
    if (i < 0 || kernels[i].references < 1) {
        dead++;
        return CL_INVALID_KERNEL;
    }
    kernels[i].references--;
    return clReleaseKernel(kernel);
}

static cl_int CL_API_CALL kernel_info(cl_kernel kernel, cl_kernel_info what, size_t size, void *value, size_t *needed)
{
    int i = place_of(kernel);
    if (i < 0 || kernels[i].references < 1) {
        dead++;
        return CL_INVALID_KERNEL;
    }
    if (what == CL_KERNEL_REFERENCE_COUNT && value &&
        size >= sizeof(cl_uint)) { // PoCL's own last a little longer than clFinish
        *(cl_uint *)value = (cl_uint)kernels[i].references;
        return CL_SUCCESS;
    }
    return clGetKernelInfo(kernel, what, size, value, needed);
}

static cl_int CL_API_CALL device_info(cl_device_id device, cl_device_info what, size_t size, void *value,
                                      size_t *needed)
{
    const cl_uint major = 9;
    const char *text = what == CL_DEVICE_VENDOR ? "NVIDIA Corporation" : what == CL_DEVICE_VERSION ? version : NULL;
    if (what == 0x4000 && size >= sizeof major)
        memcpy(value, &major, sizeof major);
    else if (text && size > strlen(text))
        memcpy(value, text, strlen(text) + 1);
    else
        return real.clGetDeviceInfo(device, what, size, value, needed);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL program_info(cl_program program, cl_program_info what, size_t size, void *value,
                                       size_t *needed)
{
    const size_t bytes = strlen(binary) + zero;
    if (what == CL_PROGRAM_BINARY_SIZES)
        memcpy(value, &bytes, sizeof bytes);
    else if (what == CL_PROGRAM_BINARIES)
        memcpy(*(char **)value, binary, bytes);
    else
        return real.clGetProgramInfo(program, what, size, value, needed);
    return CL_SUCCESS;
}

static cl_program CL_API_CALL program_again(cl_context context, cl_uint n, const cl_device_id *devices,
                                            const size_t *sizes, const unsigned char **binaries, cl_int *status,
                                            cl_int *error)
{
    (void)context;
    (void)devices;
    again++;
    builds++;
    *status = *error = CL_SUCCESS;
    // The form that it was told in: a text, with the zero at its end or without.
    if (n != 1 || sizes[0] < strlen(binary) || memcmp(binaries[0], binary, strlen(binary)) ||
        strnlen((const char *)binaries[0], sizes[0]) + zero != sizes[0])
        *error = CL_INVALID_BINARY;
    return *error ? NULL : (cl_program)(void *)&program_mark;
}

static cl_int CL_API_CALL program_build(cl_program program, cl_uint n, const cl_device_id *devices, const char *options,
                                        void(CL_CALLBACK *told)(cl_program, void *), void *arg)
{
    (void)n;
    (void)devices;
    (void)told;
    (void)arg;
    return (char *)program == &program_mark && strstr(options, "-cl-nv-verbose") ? CL_SUCCESS : CL_INVALID_PROGRAM;
}

static cl_int CL_API_CALL program_log(cl_program program, cl_device_id device, cl_program_build_info what, size_t size,
                                      void *value, size_t *needed)
{
    (void)program;
    (void)device;
    if (log_error || what != CL_PROGRAM_BUILD_LOG || (value && size < log_size))
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, build_log, log_size);
    if (needed)
        *needed = log_size;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL program_drop(cl_program program)
{
    again -= (char *)program == &program_mark;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL platform_info(cl_platform_id platform, cl_platform_info what, size_t size, void *value,
                                        size_t *needed)
{
    if (what != CL_PLATFORM_HOST_TIMER_RESOLUTION)
        return real.clGetPlatformInfo(platform, what, size, value, needed);
    memcpy(value, &timer_grain, sizeof timer_grain);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL no_timer(cl_device_id device, cl_ulong *on_device, cl_ulong *on_host)
{
    (void)device;
    (void)on_device;
    (void)on_host;
    timer_calls++;
    return CL_INVALID_OPERATION;
}

static cl_int CL_API_CALL no_times(cl_event event, cl_profiling_info what, size_t size, void *value, size_t *needed)
{
    (void)event;
    (void)what;
    (void)needed;
    memset(value, 0, size);
    return CL_SUCCESS;
}

// Launch a kernel and release it, as an analysis does.
static weft_status fill_once(struct test_device *dev, cl_mem buffer)
{
    struct weft__kernel *kernel = NULL;
    struct weft__stream stream;
    weft_status status = weft__fill_create(&kernel, dev->ctx);
    if (!status)
        status = weft__stream_begin(&stream, dev->ctx, dev->queue, 0, NULL, NULL);
    if (!status)
        status = weft__fill(&stream, kernel, buffer, 0, 16, 7);
    if (!status)
        status = weft__stream_end(&stream);
    if (!status)
        status = weft__fail_cl(dev->ctx, weft__cl.clFinish(dev->queue), "clFinish");
    weft__kernel_release(&kernel);
    return status;
}

static int references(void)
{
    int sum = 0;
    for (int i = 0; i < made; i++)
        sum += kernels[i].references;
    return sum;
}

// A repetition of three kernels that are gone at its end.
static struct profile *repetition(struct test_device *dev, cl_mem buffer, int keep)
{
    struct profile *p = profile_create(100);
    static int texts;
    weft_status status = WEFT_OK;
    made = dead = again = builds = 0;
    snprintf(binary, sizeof binary, "//\n.version 8.8\n.target sm_90\n// %d\n", texts++);
    below = weft__cl;
    weft__cl.clCreateKernel = kernel_make;
    weft__cl.clReleaseKernel = kernel_drop;
    profile_calls_attach(p);
    real = profile__next;
    profile__next.clRetainKernel = kernel_hold;
    profile__next.clReleaseKernel = kernel_drop;
    profile__next.clGetKernelInfo = kernel_info;
    p->keep_kernels = keep;
    profile_rep_begin(p);
    for (int i = 0; i < 3 && !status; i++)
        status = fill_once(dev, buffer);
    profile_rep_end(p);
    profile_rep_settle(p);
    profile__next.clGetDeviceInfo = device_info;
    profile__next.clGetProgramInfo = program_info;
    profile__next.clCreateProgramWithBinary = program_again;
    profile__next.clBuildProgram = program_build;
    profile__next.clGetProgramBuildInfo = program_log;
    profile__next.clReleaseProgram = program_drop;
    tap_ok(!status && p->count == 3 && made == 3, "%s: three kernels", dev->name);
    return p;
}

static void repetition_end(struct test_device *dev, struct profile **p, const char *what)
{
    profile_calls_detach();
    weft__cl = below;
    profile_destroy(p);
    tap_ok(!dead && !again && !references(), "%s: %s: no dead handle asked, nothing left over", dev->name, what);
}

static int handles_known(const struct profile *p)
{
    int known = 0;
    for (size_t i = 0; i < p->kernel_count; i++)
        known += p->kernels[i].id != NULL;
    return known;
}

static void log_make(size_t bytes)
{
    static const char form[] = "ptxas info    : Compiling entry function '%s' for 'sm_90'\n"
                               "ptxas info    : Function properties for %s\n"
                               "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
                               "ptxas info    : Used %d registers, 368 bytes cmem[0]\n";
    build_log = calloc(1, bytes + 1000);
    log_size = 0;
    while (build_log && log_size < bytes)
        log_size += (size_t)sprintf(build_log + log_size, form, "other", "other", 8);
    if (build_log)
        log_size += (size_t)sprintf(build_log + log_size, form, "fill", "fill", 40) + 1;
}

static void device_run(struct test_device *dev)
{
    cl_mem buffer = NULL;
    if (!tap_ok(!weft__buffer_create(&buffer, dev->ctx, 64, "test"), "%s: a buffer", dev->name))
        return;
    version = "OpenCL 3.0 CUDA";
    log_error = CL_SUCCESS;
    log_make(LOG_BYTES);

    struct profile *p;
    const char *why;
    for (zero = 0; zero < 2; zero++) {
        int known = 0;
        p = repetition(dev, buffer, 1);
        why = profile_resources_ask(p);
        for (size_t i = 0; i < p->count; i++)
            known += p->commands[i].resources.registers == 40 && !strcmp(p->commands[i].resources.target, "sm_90");
        tap_ok(!why && known == 3, "%s: registers of released kernels, from a log of 1 MiB; PTX %s a zero at its end",
               dev->name, zero ? "with" : "without");
        tap_is_int(builds, 1, "%s: three kernels of a program, built once", dev->name);
        tap_is_int(references(), 0, "%s: they are let go once asked", dev->name);
        tap_is_int(handles_known(p), 0, "%s: and nothing is known of their handles", dev->name);
        repetition_end(dev, &p, "asked");
    }
    zero = 1;

    p = repetition(dev, buffer, 1);
    tap_is_int(references(), 3, "%s: held until somebody asks", dev->name);
    profile_clear(p);
    tap_is_int(references(), 0, "%s: or all is forgotten", dev->name);
    repetition_end(dev, &p, "forgotten");
    p = repetition(dev, buffer, 1);
    repetition_end(dev, &p, "never asked");

    p = repetition(dev, buffer, 0);
    tap_is_int(handles_known(p), 0, "%s: nor of a handle that the program has dropped", dev->name);
    why = profile_resources_ask(p);
    tap_ok(why && strstr(why, "not held"), "%s: kernels that nobody held are not asked", dev->name);
    repetition_end(dev, &p, "not held");

    p = repetition(dev, buffer, 1);
    log_size = 0;
    why = profile_resources_ask(p);
    tap_ok(why && strstr(why, "build log"), "%s: an empty log", dev->name);
    repetition_end(dev, &p, "empty log");
    p = repetition(dev, buffer, 1);
    log_error = CL_INVALID_VALUE;
    why = profile_resources_ask(p);
    tap_ok(why && strstr(why, "build log"), "%s: no log", dev->name);
    repetition_end(dev, &p, "no log");

    p = repetition(dev, buffer, 1);
    strcpy(binary, "\177ELF");
    why = profile_resources_ask(p);
    tap_ok(why && strstr(why, "no PTX"), "%s: machine code is not built again", dev->name);
    repetition_end(dev, &p, "machine code");

    static const struct {
        const char *version;
        cl_ulong grain; // of the platform's timer; 0: it has none
        int calls;
    } timers[] = {{"OpenCL 1.2 old", 1, 0},  {"OpenCL 2.0 old", 1, 0}, {"OpenCL 2.1 new", 1, 1},
                  {"OpenCL 3.0 CUDA", 0, 0}, {"OpenCL 3.0", 1, 1},     {"?", 1, 0}};
    p = repetition(dev, buffer, 0);
    profile__next.clGetPlatformInfo = platform_info;
    profile__next.clGetDeviceAndHostTimer = no_timer;
    profile__next.clGetEventProfilingInfo = no_times;
    for (size_t i = 0; i < sizeof timers / sizeof *timers; i++) {
        struct profile_clock clock;
        profile_clock_init(&clock);
        version = timers[i].version;
        timer_grain = timers[i].grain;
        timer_calls = 0;
        profile_clock_sample(&clock, dev->queue, dev->ctx->device.id);
        tap_ok(timer_calls == timers[i].calls && !clock.timer && !clock.samples,
               "%s: the timer of \"%s\", resolution %llu; markers without times", dev->name, version,
               (unsigned long long)timer_grain);
    }
    repetition_end(dev, &p, "timer");
    weft__buffer_release(&buffer);
    free(build_log);
}

int main(void)
{
    test_device_each(device_run);
    return tap_done();
}
