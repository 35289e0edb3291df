// SPDX-License-Identifier: Apache-2.0
// OpenCL calls that fail when a countdown ends.
#include "fault.h"

#include <stdatomic.h>

static struct weft__cl_table real;
static const cl_int default_errors[] = {
#define FAULT_ERROR(name, error) error,
    FAULT_CALLS(FAULT_ERROR)
#undef FAULT_ERROR
};
static atomic_int armed, armed_error, armed_n, armed_ever, counts[FAULT_COUNT], hit, live;

const char *fault_name(enum fault_call call)
{
    static const char *const names[] = {
#define FAULT_NAME(name, error) #name,
        FAULT_CALLS(FAULT_NAME)
#undef FAULT_NAME
    };
    return names[call];
}

// The error to give back, or CL_SUCCESS: make the real call.
static cl_int fails(enum fault_call call)
{
    const int n = ++counts[call];
    if ((int)call != armed || !armed_n || n < armed_n || (n > armed_n && !armed_ever))
        return CL_SUCCESS;
    hit = 1;
    return armed_error;
}

// The hostile build does not find a program again: a context makes more and more of them, and ends them all.
static int is_counted(enum fault_call call)
{
    (void)call;
    return !WEFT__HOSTILE(0, call == FAULT_clCreateProgramWithBinary || call == FAULT_clCreateProgramWithSource ||
                                 call == FAULT_clReleaseProgram);
}

static void *made(void *object, enum fault_call call)
{
    live += object && is_counted(call);
    return object;
}

static cl_int event_made(cl_int error, cl_event *event)
{
    live += error == CL_SUCCESS && event;
    return error;
}

// A call that gives an error code.
#define CODE(name, params, args)                                                                                       \
    static cl_int CL_API_CALL fault_##name params                                                                      \
    {                                                                                                                  \
        cl_int error = fails(FAULT_##name);                                                                            \
        return error ? error : real.name args;                                                                         \
    }
// One that also gives an event.
#define CODE_EVENT(name, params, args)                                                                                 \
    static cl_int CL_API_CALL fault_##name params                                                                      \
    {                                                                                                                  \
        cl_int error = fails(FAULT_##name);                                                                            \
        return error ? error : event_made(real.name args, event);                                                      \
    }
// One that gives an object, and its error through a pointer.
#define OBJECT(type, name, params, args)                                                                               \
    static type CL_API_CALL fault_##name params                                                                        \
    {                                                                                                                  \
        *out = fails(FAULT_##name);                                                                                    \
        return *out ? NULL : made(real.name args, FAULT_##name);                                                       \
    }
// One that is made all the same.
#define LATE(name, params, args)                                                                                       \
    static cl_int CL_API_CALL fault_##name params                                                                      \
    {                                                                                                                  \
        const cl_int error = fails(FAULT_##name), got = real.name args;                                                \
        return error ? error : got;                                                                                    \
    }
// A call that ends an object's life.
#define RELEASE(name, type)                                                                                            \
    static cl_int CL_API_CALL fault_##name(type object)                                                                \
    {                                                                                                                  \
        const cl_int error = fails(FAULT_##name);                                                                      \
        live -= is_counted(FAULT_##name);                                                                              \
        const cl_int got = real.name(object);                                                                          \
        return error ? error : got;                                                                                    \
    }

CODE(clBuildProgram,
     (cl_program p, cl_uint n, const cl_device_id *d, const char *o, void(CL_CALLBACK *f)(cl_program, void *), void *u),
     (p, n, d, o, f, u))
OBJECT(cl_mem, clCreateBuffer, (cl_context c, cl_mem_flags f, size_t s, void *h, cl_int *out), (c, f, s, h, out))
OBJECT(cl_command_queue, clCreateCommandQueue,
       (cl_context c, cl_device_id d, cl_command_queue_properties p, cl_int *out), (c, d, p, out))
OBJECT(cl_context, clCreateContext,
       (const cl_context_properties *p, cl_uint n, const cl_device_id *d,
        void(CL_CALLBACK *f)(const char *, const void *, size_t, void *), void *u, cl_int *out),
       (p, n, d, f, u, out))
OBJECT(cl_kernel, clCreateKernel, (cl_program p, const char *name, cl_int *out), (p, name, out))
OBJECT(cl_program, clCreateProgramWithBinary,
       (cl_context c, cl_uint n, const cl_device_id *d, const size_t *l, const unsigned char **b, cl_int *s,
        cl_int *out),
       (c, n, d, l, b, s, out))
OBJECT(cl_program, clCreateProgramWithSource, (cl_context c, cl_uint n, const char **s, const size_t *l, cl_int *out),
       (c, n, s, l, out))
OBJECT(cl_event, clCreateUserEvent, (cl_context c, cl_int *out), (c, out))
CODE_EVENT(clEnqueueBarrierWithWaitList, (cl_command_queue q, cl_uint n, const cl_event *w, cl_event *event),
           (q, n, w, event))
CODE_EVENT(clEnqueueCopyBuffer,
           (cl_command_queue q, cl_mem f, cl_mem t, size_t i, size_t o, size_t s, cl_uint n, const cl_event *w,
            cl_event *event),
           (q, f, t, i, o, s, n, w, event))
CODE_EVENT(clEnqueueMarkerWithWaitList, (cl_command_queue q, cl_uint n, const cl_event *w, cl_event *event),
           (q, n, w, event))
CODE_EVENT(clEnqueueNDRangeKernel,
           (cl_command_queue q, cl_kernel k, cl_uint d, const size_t *o, const size_t *g, const size_t *l, cl_uint n,
            const cl_event *w, cl_event *event),
           (q, k, d, o, g, l, n, w, event))
CODE_EVENT(clEnqueueReadBuffer,
           (cl_command_queue q, cl_mem b, cl_bool k, size_t o, size_t s, void *h, cl_uint n, const cl_event *w,
            cl_event *event),
           (q, b, k, o, s, h, n, w, event))
CODE_EVENT(clEnqueueWriteBuffer,
           (cl_command_queue q, cl_mem b, cl_bool k, size_t o, size_t s, const void *h, cl_uint n, const cl_event *w,
            cl_event *event),
           (q, b, k, o, s, h, n, w, event))
CODE_EVENT(clEnqueueUnmapMemObject,
           (cl_command_queue q, cl_mem b, void *h, cl_uint n, const cl_event *w, cl_event *event),
           (q, b, h, n, w, event))
LATE(clFinish, (cl_command_queue q), (q))
CODE(clFlush, (cl_command_queue q), (q))
CODE(clGetCommandQueueInfo, (cl_command_queue q, cl_command_queue_info i, size_t s, void *v, size_t *r),
     (q, i, s, v, r))
CODE(clGetDeviceIDs, (cl_platform_id p, cl_device_type t, cl_uint n, cl_device_id *d, cl_uint *c), (p, t, n, d, c))
CODE(clGetDeviceInfo, (cl_device_id d, cl_device_info i, size_t s, void *v, size_t *r), (d, i, s, v, r))
CODE(clGetEventInfo, (cl_event e, cl_event_info i, size_t s, void *v, size_t *r), (e, i, s, v, r))
CODE(clGetMemObjectInfo, (cl_mem m, cl_mem_info i, size_t s, void *v, size_t *r), (m, i, s, v, r))
CODE(clGetPlatformIDs, (cl_uint n, cl_platform_id *p, cl_uint *c), (n, p, c))
CODE(clGetPlatformInfo, (cl_platform_id p, cl_platform_info i, size_t s, void *v, size_t *r), (p, i, s, v, r))
CODE(clGetProgramBuildInfo, (cl_program p, cl_device_id d, cl_program_build_info i, size_t s, void *v, size_t *r),
     (p, d, i, s, v, r))
CODE(clGetProgramInfo, (cl_program p, cl_program_info i, size_t s, void *v, size_t *r), (p, i, s, v, r))
CODE(clSetMemObjectDestructorCallback, (cl_mem m, void(CL_CALLBACK *f)(cl_mem, void *), void *u), (m, f, u))
CODE(clSetKernelArg, (cl_kernel k, cl_uint i, size_t s, const void *v), (k, i, s, v))
CODE(clGetContextInfo, (cl_context c, cl_context_info i, size_t s, void *v, size_t *r), (c, i, s, v, r))
CODE(clGetEventProfilingInfo, (cl_event e, cl_profiling_info i, size_t s, void *v, size_t *r), (e, i, s, v, r))
CODE(clGetKernelArgInfo, (cl_kernel k, cl_uint a, cl_kernel_arg_info i, size_t s, void *v, size_t *r),
     (k, a, i, s, v, r))
CODE(clGetKernelWorkGroupInfo, (cl_kernel k, cl_device_id d, cl_kernel_work_group_info i, size_t s, void *v, size_t *r),
     (k, d, i, s, v, r))
LATE(clSetUserEventStatus, (cl_event e, cl_int s), (e, s))
LATE(clWaitForEvents, (cl_uint n, const cl_event *e), (n, e))
RELEASE(clReleaseCommandQueue, cl_command_queue)
RELEASE(clReleaseContext, cl_context)
RELEASE(clReleaseEvent, cl_event)
RELEASE(clReleaseKernel, cl_kernel)
RELEASE(clReleaseMemObject, cl_mem)
RELEASE(clReleaseProgram, cl_program)

static void *CL_API_CALL fault_clEnqueueMapBuffer(cl_command_queue q, cl_mem b, cl_bool k, cl_map_flags f, size_t o,
                                                  size_t s, cl_uint n, const cl_event *w, cl_event *event, cl_int *out)
{
    *out = fails(FAULT_clEnqueueMapBuffer);
    void *at = *out ? NULL : real.clEnqueueMapBuffer(q, b, k, f, o, s, n, w, event, out);
    event_made(*out, event);
    return at;
}

static cl_int CL_API_CALL fault_clRetainCommandQueue(cl_command_queue queue)
{
    cl_int error = fails(FAULT_clRetainCommandQueue);
    if (!error)
        error = real.clRetainCommandQueue(queue);
    live += error == CL_SUCCESS;
    return error;
}

static cl_int CL_API_CALL fault_clRetainContext(cl_context context)
{
    cl_int error = fails(FAULT_clRetainContext);
    if (!error)
        error = real.clRetainContext(context);
    live += error == CL_SUCCESS;
    return error;
}

static cl_int CL_API_CALL fault_clRetainMemObject(cl_mem object)
{
    cl_int error = fails(FAULT_clRetainMemObject);
    if (!error)
        error = real.clRetainMemObject(object);
    live += error == CL_SUCCESS;
    return error;
}

static cl_int CL_API_CALL fault_clRetainEvent(cl_event event)
{
    cl_int error = fails(FAULT_clRetainEvent);
    if (!error)
        error = real.clRetainEvent(event);
    live += error == CL_SUCCESS;
    return error;
}

void fault_install(void)
{
    real = weft__cl;
    live = 0;
#define FAULT_INSTALL(name, error) weft__cl.name = fault_##name;
    FAULT_CALLS(FAULT_INSTALL)
#undef FAULT_INSTALL
    fault_set(FAULT_clFlush, 0);
}

void fault_remove(void)
{
    weft__cl = real;
}

void fault_set(enum fault_call call, int n)
{
    fault_set_error(call, n, default_errors[call]);
}

void fault_set_error(enum fault_call call, int n, cl_int error)
{
    armed = (int)call;
    armed_n = n;
    armed_error = error;
    armed_ever = 0;
    hit = 0;
    for (int i = 0; i < FAULT_COUNT; i++)
        counts[i] = 0;
}

void fault_set_ever(enum fault_call call, int n)
{
    fault_set(call, n);
    armed_ever = 1;
}

int fault_calls(enum fault_call call)
{
    return counts[call];
}

int fault_hit(void)
{
    return hit;
}

int fault_live(void)
{
    return live;
}
