// SPDX-License-Identifier: Apache-2.0
// A layer of OpenCL that makes the device below look like one of NVIDIA's, as far as the recorder asks, and ends the
// program as such a driver would (with a signal) where a handle is used after its last release, a call is made that the
// platform does not have, or PTX comes back in another form than it was given in. At the end it tells on stderr what was not
// released. A contract test: it says nothing of a real driver.
#include "profile/opencl.h"

#include <CL/cl_layer.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT  __attribute__((visibility("default"))) CL_API_ENTRY cl_int CL_API_CALL
#define HANDLES 65536

static cl_icd_dispatch below, mine;

static void die(const char *call, const char *why)
{
    fprintf(stderr, "strict: %s: %s\n", call, why);
    abort();
}

// ---- lifetimes -------------------------------------------------------------------------------------------------

static int serials;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct {
    const void *id;
    const char *kind;
    int references, serial;
} handles[HANDLES];

static size_t place(const void *id)
{
    size_t at = ((size_t)id >> 4) * 0x9e3779b97f4a7c15u % HANDLES;
    for (size_t i = 0; handles[at].id && handles[at].id != id; i++) {
        if (i == HANDLES / 2)
            die("strict", "too many handles");
        at = (at + 1) % HANDLES;
    }
    return at;
}

static void born(const void *id, const char *kind)
{
    if (!id)
        return;
    pthread_mutex_lock(&mutex);
    size_t at = place(id);
    handles[at].id = id;
    handles[at].kind = kind;
    handles[at].references = 1;
    handles[at].serial = ++serials;
    pthread_mutex_unlock(&mutex);
}

// Used by `call`, and more references from now on. A handle whose making was not seen passes.
static void use(const void *id, const char *call, int more)
{
    pthread_mutex_lock(&mutex);
    size_t at = place(id);
    if (id && handles[at].id && handles[at].references <= 0)
        die(call, handles[at].kind);
    if (id && handles[at].id)
        handles[at].references += more;
    pthread_mutex_unlock(&mutex);
}

static void leftovers(void)
{
    for (size_t i = 0; i < HANDLES; i++)
        if (handles[i].references > 0)
            fprintf(stderr, "strict: a %s is left, with %d references\n", handles[i].kind, handles[i].references);
}

#define RETAINED(name, type)                                                                                           \
    static cl_int CL_API_CALL my_clRetain##name(type id)                                                               \
    {                                                                                                                  \
        use(id, "clRetain" #name, 1);                                                                                  \
        return below.clRetain##name(id);                                                                               \
    }                                                                                                                  \
    static cl_int CL_API_CALL my_clRelease##name(type id)                                                              \
    {                                                                                                                  \
        use(id, "clRelease" #name, -1);                                                                                \
        return below.clRelease##name(id);                                                                              \
    }
RETAINED(Kernel, cl_kernel)
RETAINED(Program, cl_program)
RETAINED(Event, cl_event)
RETAINED(CommandQueue, cl_command_queue)
RETAINED(MemObject, cl_mem)
RETAINED(Context, cl_context)

#define MADE(type, kind, name, params, args)                                                                           \
    static type CL_API_CALL my_##name params                                                                           \
    {                                                                                                                  \
        type id = below.name args;                                                                                     \
        born(id, kind);                                                                                                \
        return id;                                                                                                     \
    }
MADE(cl_context, "context", clCreateContext,
     (const cl_context_properties *p, cl_uint n, const cl_device_id *d,
      void(CL_CALLBACK *f)(const char *, const void *, size_t, void *), void *u, cl_int *e),
     (p, n, d, f, u, e))
MADE(cl_command_queue, "queue", clCreateCommandQueue,
     (cl_context c, cl_device_id d, cl_command_queue_properties p, cl_int *e), (c, d, p, e))
MADE(cl_mem, "buffer", clCreateBuffer, (cl_context c, cl_mem_flags f, size_t b, void *h, cl_int *e), (c, f, b, h, e))
MADE(cl_event, "event", clCreateUserEvent, (cl_context c, cl_int *e), (c, e))

// Calls that use one handle.
#define USED(name, params, args, id)                                                                                   \
    static cl_int CL_API_CALL my_##name params                                                                         \
    {                                                                                                                  \
        use(id, #name, 0);                                                                                             \
        return below.name args;                                                                                        \
    }
USED(clSetKernelArg, (cl_kernel k, cl_uint i, size_t s, const void *v), (k, i, s, v), k)
USED(clGetKernelInfo, (cl_kernel k, cl_kernel_info w, size_t s, void *v, size_t *n), (k, w, s, v, n), k)
USED(clGetKernelWorkGroupInfo, (cl_kernel k, cl_device_id d, cl_kernel_work_group_info w, size_t s, void *v, size_t *n),
     (k, d, w, s, v, n), k)
USED(clGetMemObjectInfo, (cl_mem m, cl_mem_info w, size_t s, void *v, size_t *n), (m, w, s, v, n), m)
USED(clGetEventInfo, (cl_event o, cl_event_info w, size_t s, void *v, size_t *n), (o, w, s, v, n), o)
USED(clGetCommandQueueInfo, (cl_command_queue q, cl_command_queue_info w, size_t s, void *v, size_t *n),
     (q, w, s, v, n), q)
USED(clGetContextInfo, (cl_context c, cl_context_info w, size_t s, void *v, size_t *n), (c, w, s, v, n), c)
USED(clFinish, (cl_command_queue q), (q), q)
USED(clFlush, (cl_command_queue q), (q), q)

static void list_use(cl_uint count, const cl_event *list, const char *call)
{
    for (cl_uint i = 0; i < count; i++)
        use(list[i], call, 0);
}

static cl_int CL_API_CALL my_clWaitForEvents(cl_uint count, const cl_event *list)
{
    list_use(count, list, "clWaitForEvents");
    return below.clWaitForEvents(count, list);
}

#define ENQUEUED(name, params, args)                                                                                   \
    static cl_int CL_API_CALL my_##name params                                                                         \
    {                                                                                                                  \
        use(q, #name, 0);                                                                                              \
        list_use(n, w, #name);                                                                                         \
        cl_int error = below.name args;                                                                                \
        if (error == CL_SUCCESS && e)                                                                                  \
            born(*e, "event");                                                                                         \
        return error;                                                                                                  \
    }
#define ANY cl_uint n, const cl_event *w, cl_event *e
ENQUEUED(clEnqueueWriteBuffer, (cl_command_queue q, cl_mem m, cl_bool b, size_t o, size_t s, const void *h, ANY),
         (q, m, b, o, s, h, n, w, e))
ENQUEUED(clEnqueueReadBuffer, (cl_command_queue q, cl_mem m, cl_bool b, size_t o, size_t s, void *h, ANY),
         (q, m, b, o, s, h, n, w, e))
ENQUEUED(clEnqueueCopyBuffer, (cl_command_queue q, cl_mem f, cl_mem t, size_t i, size_t o, size_t s, ANY),
         (q, f, t, i, o, s, n, w, e))
ENQUEUED(clEnqueueNDRangeKernel,
         (cl_command_queue q, cl_kernel k, cl_uint d, const size_t *o, const size_t *g, const size_t *l, ANY),
         ((use(k, "clEnqueueNDRangeKernel", 0), q), k, d, o, g, l, n, w, e))
ENQUEUED(clEnqueueMarkerWithWaitList, (cl_command_queue q, ANY), (q, n, w, e))
ENQUEUED(clEnqueueBarrierWithWaitList, (cl_command_queue q, ANY), (q, n, w, e))

// ---- what NVIDIA's driver says ---------------------------------------------------------------------------------

enum { NAMES = 256, PTX_PROGRAMS = 256, TICK_NS = 1000, APART_NS = 20000 };
// Its clock counts from 1970; start and end are by another one, which is behind.
#define EPOCH_NS UINT64_C(1700000000000000000)

// The text of a program, and the zero that ends it belongs to it. Gives the bytes.
static size_t ptx_make(char out[200], cl_program program)
{
    pthread_mutex_lock(&mutex);
    const int serial = handles[place(program)].serial;
    pthread_mutex_unlock(&mutex);
    return 1 + (size_t)snprintf(out, 200,
                                "//\n// Stand-in %d\n//\n\n.version 8.8\n.target sm_90, texmode_independent\n", serial);
}
static char *names[NAMES];
static int name_count;
static cl_program ptx_programs[PTX_PROGRAMS];
static int ptx_count;

static cl_kernel CL_API_CALL my_clCreateKernel(cl_program program, const char *name, cl_int *error)
{
    use(program, "clCreateKernel", 0);
    cl_kernel kernel = below.clCreateKernel(program, name, error);
    born(kernel, "kernel");
    pthread_mutex_lock(&mutex);
    if (name_count < NAMES)
        names[name_count++] = strdup(name);
    pthread_mutex_unlock(&mutex);
    return kernel;
}

static cl_program CL_API_CALL my_clCreateProgramWithSource(cl_context context, cl_uint n, const char **texts,
                                                           const size_t *sizes, cl_int *error)
{
    cl_program program = below.clCreateProgramWithSource(context, n, texts, sizes, error);
    born(program, "program");
    for (int i = 0; i < ptx_count; i++) // the handle may have been another's
        ptx_programs[i] = ptx_programs[i] == program ? NULL : ptx_programs[i];
    return program;
}

static cl_int CL_API_CALL my_clCreateKernelsInProgram(cl_program program, cl_uint count, cl_kernel *out, cl_uint *made)
{
    use(program, "clCreateKernelsInProgram", 0);
    cl_uint n = 0;
    cl_int error = below.clCreateKernelsInProgram(program, count, out, &n);
    for (cl_uint i = 0; i < n && out && error == CL_SUCCESS; i++)
        born(out[i], "kernel");
    if (made)
        *made = n;
    return error;
}

static cl_int answer(const void *from, size_t bytes, size_t size, void *value, size_t *needed)
{
    if (value && size < bytes)
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, from, bytes);
    if (needed)
        *needed = bytes;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL my_clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t size, void *value,
                                             size_t *needed)
{
    static const cl_device_type type = CL_DEVICE_TYPE_GPU;
    static const cl_uint major = 9, place[16] = {0, 0x1b};
    static const size_t tick = TICK_NS;
    static const char vendor[] = "NVIDIA Corporation", version[] = "OpenCL 3.0 CUDA",
                      extensions[] = "cl_khr_fp64 cl_khr_pci_bus_info";
    switch (what) {
    case CL_DEVICE_TYPE:
        return answer(&type, sizeof type, size, value, needed);
    case CL_DEVICE_VENDOR:
        return answer(vendor, sizeof vendor, size, value, needed);
    case CL_DEVICE_VERSION:
        return answer(version, sizeof version, size, value, needed);
    case CL_DEVICE_EXTENSIONS:
        return answer(extensions, sizeof extensions, size, value, needed);
    case CL_DEVICE_PROFILING_TIMER_RESOLUTION:
        return answer(&tick, sizeof tick, size, value, needed);
    case 0x4000: // cl_nv_device_attribute_query: compute capability
        return answer(&major, sizeof major, size, value, needed);
    case 0x410F: // cl_khr_pci_bus_info
        return answer(place, 16, size, value, needed);
    default:
        return below.clGetDeviceInfo(device, what, size, value, needed);
    }
}

static cl_int CL_API_CALL my_clGetPlatformInfo(cl_platform_id platform, cl_platform_info what, size_t size, void *value,
                                               size_t *needed)
{
    static const cl_ulong none = 0;
    return what == CL_PLATFORM_HOST_TIMER_RESOLUTION ? answer(&none, sizeof none, size, value, needed)
                                                     : below.clGetPlatformInfo(platform, what, size, value, needed);
}

static cl_int CL_API_CALL my_clGetDeviceAndHostTimer(cl_device_id device, cl_ulong *on_device, cl_ulong *on_host)
{
    (void)device, (void)on_device, (void)on_host;
    die("clGetDeviceAndHostTimer", "CL_PLATFORM_HOST_TIMER_RESOLUTION is 0");
    return CL_INVALID_OPERATION;
}

static cl_int CL_API_CALL my_clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t size, void *value,
                                                     size_t *needed)
{
    use(event, "clGetEventProfilingInfo", 0);
    cl_int error = below.clGetEventProfilingInfo(event, what, size, value, needed);
    cl_ulong time;
    if (error == CL_SUCCESS && value) {
        memcpy(&time, value, sizeof time);
        time = (time + EPOCH_NS) / TICK_NS * TICK_NS;
        time -= what == CL_PROFILING_COMMAND_START || what == CL_PROFILING_COMMAND_END ? APART_NS : 0;
        memcpy(value, &time, sizeof time);
    }
    return error;
}

static int is_ptx(cl_program program)
{
    int i = ptx_count;
    while (i > 0 && ptx_programs[i - 1] != program)
        i--;
    return i > 0;
}

static cl_int CL_API_CALL my_clGetProgramInfo(cl_program program, cl_program_info what, size_t size, void *value,
                                              size_t *needed)
{
    char ptx[200];
    use(program, "clGetProgramInfo", 0);
    const size_t bytes = ptx_make(ptx, program);
    if (what == CL_PROGRAM_BINARY_SIZES)
        return answer(&bytes, sizeof bytes, size, value, needed);
    if (what != CL_PROGRAM_BINARIES)
        return below.clGetProgramInfo(program, what, size, value, needed);
    memcpy(*(char **)value, ptx, bytes);
    return CL_SUCCESS;
}

static cl_program CL_API_CALL my_clCreateProgramWithBinary(cl_context context, cl_uint n, const cl_device_id *devices,
                                                           const size_t *sizes, const unsigned char **binaries,
                                                           cl_int *status, cl_int *error)
{
    const char *empty = "";
    (void)devices;
    if (n != 1 || !sizes[0] || binaries[0][sizes[0] - 1] || strlen((const char *)binaries[0]) + 1 != sizes[0] ||
        !strstr((const char *)binaries[0], ".version"))
        die("clCreateProgramWithBinary", "PTX that is no text with a zero at its end");
    cl_program program = below.clCreateProgramWithSource(context, 1, &empty, NULL, error);
    born(program, "program");
    if (status)
        *status = CL_SUCCESS;
    if (ptx_count == PTX_PROGRAMS)
        die("strict", "too many programs");
    ptx_programs[ptx_count++] = program;
    return program;
}

static cl_int CL_API_CALL my_clBuildProgram(cl_program program, cl_uint n, const cl_device_id *devices,
                                            const char *options, void(CL_CALLBACK *told)(cl_program, void *), void *arg)
{
    use(program, "clBuildProgram", 0);
    return is_ptx(program) ? CL_SUCCESS : below.clBuildProgram(program, n, devices, options, told, arg);
}

static cl_int CL_API_CALL my_clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info what,
                                                   size_t size, void *value, size_t *needed)
{
    static char log[NAMES * 512];
    size_t used = 0;
    use(program, "clGetProgramBuildInfo", 0);
    if (!is_ptx(program) || what != CL_PROGRAM_BUILD_LOG)
        return below.clGetProgramBuildInfo(program, device, what, size, value, needed);
    for (int i = 0; i < name_count; i++) {
        const int plain = strcmp(names[i], "fill") != 0; // of this one less is told, and of a device that nobody knows
        used += (size_t)snprintf(log + used, sizeof log - used,
                                 "ptxas info    : Compiling entry function '%.200s' for '%s'\n%s"
                                 "ptxas info    : Used 32 registers, used 0 barriers, 368 bytes cmem[0]\n",
                                 names[i], plain ? "sm_90" : "sm_999",
                                 plain ? "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n" : "");
    }
    return answer(log, used + 1, size, value, needed);
}

// ---- the loader's side -----------------------------------------------------------------------------------------

#define CALLS(X)                                                                                                       \
    X(clBuildProgram)                                                                                                  \
    X(clCreateBuffer)                                                                                                  \
    X(clCreateCommandQueue)                                                                                            \
    X(clCreateContext)                                                                                                 \
    X(clCreateKernel)                                                                                                  \
    X(clCreateKernelsInProgram)                                                                                        \
    X(clCreateProgramWithBinary)                                                                                       \
    X(clCreateProgramWithSource)                                                                                       \
    X(clCreateUserEvent)                                                                                               \
    X(clEnqueueBarrierWithWaitList)                                                                                    \
    X(clEnqueueCopyBuffer)                                                                                             \
    X(clEnqueueMarkerWithWaitList)                                                                                     \
    X(clEnqueueNDRangeKernel)                                                                                          \
    X(clEnqueueReadBuffer)                                                                                             \
    X(clEnqueueWriteBuffer)                                                                                            \
    X(clFinish)                                                                                                        \
    X(clFlush)                                                                                                         \
    X(clGetCommandQueueInfo)                                                                                           \
    X(clGetContextInfo)                                                                                                \
    X(clGetDeviceAndHostTimer)                                                                                         \
    X(clGetDeviceInfo)                                                                                                 \
    X(clGetEventInfo)                                                                                                  \
    X(clGetEventProfilingInfo)                                                                                         \
    X(clGetKernelInfo)                                                                                                 \
    X(clGetKernelWorkGroupInfo)                                                                                        \
    X(clGetMemObjectInfo)                                                                                              \
    X(clGetPlatformInfo)                                                                                               \
    X(clGetProgramBuildInfo)                                                                                           \
    X(clGetProgramInfo)                                                                                                \
    X(clReleaseCommandQueue)                                                                                           \
    X(clReleaseContext)                                                                                                \
    X(clReleaseEvent)                                                                                                  \
    X(clReleaseKernel)                                                                                                 \
    X(clReleaseMemObject)                                                                                              \
    X(clReleaseProgram)                                                                                                \
    X(clRetainCommandQueue)                                                                                            \
    X(clRetainContext)                                                                                                 \
    X(clRetainEvent)                                                                                                   \
    X(clRetainKernel)                                                                                                  \
    X(clRetainMemObject)                                                                                               \
    X(clRetainProgram)                                                                                                 \
    X(clSetKernelArg)                                                                                                  \
    X(clWaitForEvents)

EXPORT clGetLayerInfo(cl_layer_info what, size_t size, void *value, size_t *needed)
{
    static const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    static const char name[] = "strict";
    return what == CL_LAYER_API_VERSION ? answer(&version, sizeof version, size, value, needed)
           : what == CL_LAYER_NAME      ? answer(name, sizeof name, size, value, needed)
                                        : CL_INVALID_VALUE;
}

EXPORT clInitLayer(cl_uint count, const cl_icd_dispatch *target, cl_uint *count_out, const cl_icd_dispatch **out)
{
    const size_t bytes = count * sizeof(void *);
    memcpy(&below, target, bytes < sizeof below ? bytes : sizeof below);
#define PUT(name) mine.name = my_##name;
    CALLS(PUT)
#undef PUT
    atexit(leftovers);
    *out = &mine;
    *count_out = sizeof mine / sizeof(void *);
    return CL_SUCCESS;
}
