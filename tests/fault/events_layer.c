// SPDX-License-Identifier: Apache-2.0
// A layer of OpenCL in which events fail as the specification has it. A command that waits for a failed event is not executed, and
// its own event fails: CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST. What the specification leaves open is a flag of events.h.
// Events are the layer's own (events_commands.c).
#include "events_commands.h"
#include "tests/support/layer.h"

static cl_icd_dispatch mine;

static cl_int CL_API_CALL my_kernel_run(cl_command_queue queue, cl_kernel kernel, cl_uint dims, const size_t *first,
                                        const size_t *global, const size_t *local, cl_uint nwait, const cl_event *wait,
                                        cl_event *event)
{
    struct command c = {.what = KERNEL, .queue = queue, .kernel = kernel, .dims = dims};
    const size_t *const given[3] = {first, global, local};
    for (int i = 0; i < 3; i++) {
        c.has[i] = given[i] != NULL;
        if (given[i])
            memcpy(c.sizes[i], given[i], dims * sizeof(size_t));
    }
    return command_enqueue(&c, CL_FALSE, nwait, wait, event);
}

static cl_int CL_API_CALL my_read(cl_command_queue queue, cl_mem from, cl_bool blocking, size_t at, size_t bytes,
                                  void *to, cl_uint nwait, const cl_event *wait, cl_event *event)
{
    const struct command c = {.what = READ, .queue = queue, .from = from, .at = at, .bytes = bytes, .host = to};
    return command_enqueue(&c, blocking, nwait, wait, event);
}

static cl_int CL_API_CALL my_write(cl_command_queue queue, cl_mem to, cl_bool blocking, size_t at, size_t bytes,
                                   const void *from, cl_uint nwait, const cl_event *wait, cl_event *event)
{
    struct command c = {.what = WRITE, .queue = queue, .to = to, .at = at, .bytes = bytes};
    memcpy(&c.host, &from, sizeof from);
    return command_enqueue(&c, blocking, nwait, wait, event);
}

static cl_int CL_API_CALL my_copy(cl_command_queue queue, cl_mem from, cl_mem to, size_t at, size_t at_to, size_t bytes,
                                  cl_uint nwait, const cl_event *wait, cl_event *event)
{
    const struct command c = {
        .what = COPY, .queue = queue, .from = from, .to = to, .at = at, .at_to = at_to, .bytes = bytes};
    return command_enqueue(&c, CL_FALSE, nwait, wait, event);
}

static cl_int CL_API_CALL my_marker(cl_command_queue queue, cl_uint nwait, const cl_event *wait, cl_event *event)
{
    return command_enqueue(&(struct command){.what = NOTHING, .queue = queue}, CL_FALSE, nwait, wait, event);
}

static cl_int CL_API_CALL my_barrier(cl_command_queue queue, cl_uint nwait, const cl_event *wait, cl_event *event)
{
    return command_enqueue(&(struct command){.what = NOTHING, .queue = queue, .barrier = true}, CL_FALSE, nwait, wait,
                           event);
}

static cl_int CL_API_CALL my_unmap(cl_command_queue queue, cl_mem mem, void *at, cl_uint nwait, const cl_event *wait,
                                   cl_event *event)
{
    return command_enqueue(&(struct command){.what = UNMAP, .queue = queue, .to = mem, .host = at}, CL_FALSE, nwait,
                           wait, event);
}

// Every map blocks: where it lies is known at once.
static void *CL_API_CALL my_map(cl_command_queue queue, cl_mem mem, cl_bool blocking, cl_map_flags how, size_t at,
                                size_t bytes, cl_uint nwait, const cl_event *wait, cl_event *event, cl_int *error)
{
    cl_int ignored;
    (void)blocking;
    error = error ? error : &ignored;
    *error = command_enqueue(&(struct command){.what = NOTHING, .queue = queue}, CL_TRUE, nwait, wait, event);
    if (*error)
        return NULL;
    events_lock();
    void *to = events_below.clEnqueueMapBuffer(queue, mem, CL_TRUE, how, at, bytes, 0, NULL, NULL, error);
    events_unlock();
    return to;
}

// ---- waits and questions ---------------------------------------------------------------------------------------

static cl_event CL_API_CALL my_user_event(cl_context context, cl_int *error)
{
    (void)context;
    events_lock();
    cl_event event = event_make(NULL, CL_SUBMITTED);
    events_unlock();
    if (error)
        *error = CL_SUCCESS;
    return event;
}

static cl_int CL_API_CALL my_status(cl_event event, cl_int status)
{
    cl_int error = status > CL_COMPLETE ? CL_INVALID_VALUE : CL_SUCCESS;
    events_lock();
    if (!error && (event->queue || event->status <= CL_COMPLETE))
        error = CL_INVALID_OPERATION;
    if (!error) {
        event_end(event, status);
        commands_end();
    }
    events_unlock();
    return error;
}

static cl_int CL_API_CALL my_callback(cl_event event, cl_int when, void(CL_CALLBACK *fn)(cl_event, cl_int, void *),
                                      void *arg)
{
    if (when != CL_COMPLETE)
        return CL_INVALID_VALUE; // the library asks for nothing else
    events_lock();
    event_callback(event, fn, arg);
    events_unlock();
    return CL_SUCCESS;
}

static cl_int CL_API_CALL my_wait(cl_uint count, const cl_event *events)
{
    cl_int error = count && events ? CL_SUCCESS : CL_INVALID_VALUE;
    events_lock();
    for (cl_uint i = 0; i < count && events; i++) {
        while (events[i]->status > CL_COMPLETE)
            events_wait();
        if (events[i]->status < 0)
            error = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    }
    events_unlock();
    return error;
}

static cl_int CL_API_CALL my_finish(cl_command_queue queue)
{
    events_lock();
    while (commands_are_pending(queue))
        events_wait();
    events_unlock();
    return events_below.clFinish(queue);
}

static cl_int CL_API_CALL my_retain(cl_event event)
{
    events_lock();
    event->references++;
    events_unlock();
    return CL_SUCCESS;
}

static cl_int CL_API_CALL my_release(cl_event event)
{
    events_lock();
    event_release(event);
    events_unlock();
    return CL_SUCCESS;
}

static cl_int CL_API_CALL my_event_info(cl_event event, cl_event_info what, size_t size, void *value, size_t *needed)
{
    events_lock();
    const struct _cl_event now = *event;
    events_unlock();
    const cl_command_type type = CL_COMMAND_USER;
    return what == CL_EVENT_COMMAND_EXECUTION_STATUS ? layer_answer(&now.status, sizeof(cl_int), size, value, needed)
           : what == CL_EVENT_REFERENCE_COUNT ? layer_answer(&now.references, sizeof(cl_uint), size, value, needed)
           : what == CL_EVENT_COMMAND_QUEUE   ? layer_answer(&now.queue, sizeof now.queue, size, value, needed)
           : what == CL_EVENT_COMMAND_TYPE && !now.queue ? layer_answer(&type, sizeof type, size, value, needed)
                                                         : CL_INVALID_VALUE;
}

static cl_int CL_API_CALL my_profiling(cl_event event, cl_profiling_info what, size_t size, void *value, size_t *needed)
{
    (void)event, (void)what, (void)size, (void)value, (void)needed;
    return CL_PROFILING_INFO_NOT_AVAILABLE;
}

static cl_int CL_API_CALL my_platform(cl_platform_id platform, cl_platform_info what, size_t size, void *value,
                                      size_t *needed)
{
    if (what == EVENTS_TAKE && size == sizeof events_flags && value) {
        events_lock();
        memcpy(&events_flags, value, sizeof events_flags);
        events_unlock();
        return CL_SUCCESS;
    }
    if (what == EVENTS_ALIVE) {
        events_lock();
        const struct events_alive now = events_count();
        events_unlock();
        return layer_answer(&now, sizeof now, size, value, needed);
    }
    return events_below.clGetPlatformInfo(platform, what, size, value, needed);
}

// ---- kernels and buffers ---------------------------------------------------------------------------------------

static cl_int CL_API_CALL my_arg(cl_kernel kernel, cl_uint i, size_t bytes, const void *value)
{
    events_lock();
    cl_int error = events_below.clSetKernelArg(kernel, i, bytes, value);
    error = error ? error : kernel_arg(kernel, i, bytes, value);
    events_unlock();
    return error;
}

static cl_int CL_API_CALL my_kernel_release(cl_kernel kernel)
{
    cl_uint references = 0;
    events_lock();
    events_below.clGetKernelInfo(kernel, CL_KERNEL_REFERENCE_COUNT, sizeof references, &references, NULL);
    if (references == 1)
        kernel_forget(kernel);
    const cl_int error = events_below.clReleaseKernel(kernel);
    events_unlock();
    return error;
}

static cl_int CL_API_CALL my_mem_retain(cl_mem mem)
{
    events_lock();
    const cl_int error = buffer_retain(mem);
    events_unlock();
    return error;
}

static cl_int CL_API_CALL my_mem_release(cl_mem mem)
{
    events_lock();
    const cl_int error = buffer_release(mem);
    events_unlock();
    return error;
}

static cl_mem added(cl_mem mem)
{
    events_lock();
    if (mem)
        buffer_add(mem);
    events_unlock();
    return mem;
}

static cl_mem CL_API_CALL my_buffer(cl_context context, cl_mem_flags how, size_t bytes, void *host, cl_int *error)
{
    return added(events_below.clCreateBuffer(context, how, bytes, host, error));
}

static cl_mem CL_API_CALL my_sub_buffer(cl_mem of, cl_mem_flags how, cl_buffer_create_type type, const void *what,
                                        cl_int *error)
{
    return added(events_below.clCreateSubBuffer(of, how, type, what, error));
}

LAYER_INFO("events")

LAYER_EXPORT clInitLayer(cl_uint count, const cl_icd_dispatch *target, cl_uint *count_out, const cl_icd_dispatch **out)
{
    events_below = layer_below(count, target);
    mine = (cl_icd_dispatch){.clEnqueueNDRangeKernel = my_kernel_run,
                             .clEnqueueReadBuffer = my_read,
                             .clEnqueueWriteBuffer = my_write,
                             .clEnqueueCopyBuffer = my_copy,
                             .clEnqueueMarkerWithWaitList = my_marker,
                             .clEnqueueBarrierWithWaitList = my_barrier,
                             .clEnqueueUnmapMemObject = my_unmap,
                             .clEnqueueMapBuffer = my_map,
                             .clCreateUserEvent = my_user_event,
                             .clSetUserEventStatus = my_status,
                             .clSetEventCallback = my_callback,
                             .clWaitForEvents = my_wait,
                             .clFinish = my_finish,
                             .clRetainEvent = my_retain,
                             .clReleaseEvent = my_release,
                             .clGetEventInfo = my_event_info,
                             .clGetEventProfilingInfo = my_profiling,
                             .clGetPlatformInfo = my_platform,
                             .clSetKernelArg = my_arg,
                             .clReleaseKernel = my_kernel_release,
                             .clRetainMemObject = my_mem_retain,
                             .clReleaseMemObject = my_mem_release,
                             .clCreateBuffer = my_buffer,
                             .clCreateSubBuffer = my_sub_buffer};
    *count_out = sizeof mine / sizeof(void *);
    *out = &mine;
    return CL_SUCCESS;
}
