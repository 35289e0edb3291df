// SPDX-License-Identifier: Apache-2.0
// The recorder's own form of each OpenCL call: it times the call, passes it on and notes what it did.
#include "calls.h"
#include "clock.h"
#include "objects.h"

#include <stdlib.h>
#include <string.h>

// The one that other threads may take out at any time.
static struct profile *active(void)
{
    return __atomic_load_n(&profile__active, __ATOMIC_ACQUIRE);
}

// The recorder with its mutex held, NULL: the call is not for it.
static struct profile *lock(void)
{
    struct profile *p = profile__inside ? NULL : active();
    if (p)
        profile__lock(p);
    return p;
}

static void unlock(struct profile *p)
{
    profile__unlock(p);
}

// Note a call that is no command.
static void call_note(enum profile_phase phase, int64_t begin)
{
    int64_t end = profile_now();
    struct profile *p = lock();
    if (p) {
        if (p->recording)
            profile__span(p, p->own ? PHASE_BENCH : phase, begin, end);
        unlock(p);
    }
}

// ---- commands --------------------------------------------------------------------------------------------------

// Before the call: the event to hand to the driver. An event of our own where the program wants none.
struct enqueue {
    int64_t call_ns;
    cl_event *event; // what the driver gets; NULL: nobody wants one
};

static struct enqueue enqueue_begin(cl_event *event, cl_event *own)
{
    struct enqueue e = {.event = event};
    const struct profile *p = active();
    *own = NULL;
    if (p && p->recording && !event)
        e.event = own;
    e.call_ns = profile_now();
    return e;
}

enum { SETTLE_FROM = 256 };

// Ask those that have ended, so that neither events nor their queues pile up. Many that do not end (they wait for something
// that the host will do later) are asked again when there are twice as many.
static void settle_some(struct profile *p)
{
    int blocked = 0;
    for (size_t i = p->unsettled; i < p->count; i++) {
        profile__settle(p, &p->commands[i], 0);
        blocked |= p->commands[i].event != NULL;
        if (!blocked)
            p->unsettled = i + 1;
    }
    p->settle_at = 2 * p->pending > SETTLE_FROM ? 2 * p->pending : SETTLE_FROM;
}

// After the call: the command, with the mutex held, or NULL (with it free): nothing to fill in.
static struct profile_command *enqueue_end(const struct enqueue *e, cl_command_queue queue, enum profile_kind kind,
                                           const char *name, cl_int error, cl_bool blocking, struct profile **locked)
{
    static const enum profile_phase phases[] = {PHASE_WRITE, PHASE_READ, PHASE_CALL,  PHASE_COPY,
                                                PHASE_COPY,  PHASE_READ, PHASE_WRITE, PHASE_CALL};
    int64_t end = profile_now();
    struct profile *p = *locked = lock();
    cl_event made = error == CL_SUCCESS && e->event ? *e->event : NULL;
    struct profile_command *c = p && error == CL_SUCCESS ? profile__command(p, kind, name) : NULL;
    // Of a blocking transfer the part that is one is known when its times are (phases.c).
    const int split = c && blocking && (kind == PROFILE_READ || kind == PROFILE_WRITE || kind == PROFILE_MAP);
    if (p && p->recording && !split) {
        enum profile_phase phase = phases[kind];
        if (p->section == PROFILE_SETUP && phase == PHASE_READ)
            phase = PHASE_ANALYSE;
        if (kind == PROFILE_COPY || kind == PROFILE_FILL)
            phase = PHASE_CALL; // only enqueued
        profile__span(p, p->own ? PHASE_BENCH : phase, e->call_ns, end);
    }
    if (c) {
        struct profile_queue *q = profile__queue(p, queue);
        c->call_ns = e->call_ns;
        c->return_ns = end;
        c->blocking = blocking != 0;
        c->queue = q ? (int)(q - p->queues) : -1;
        if (q)
            q->rep = p->rep;
        c->untimed = !q ? "out of host memory" : q->untimed ? q->untimed : !made ? "the driver gave no event" : NULL;
        if (!c->untimed && profile__next.clRetainEvent(made) == CL_SUCCESS) {
            c->event = made;
            p->pending++;
        } else if (!c->untimed) {
            c->untimed = "the driver keeps no event";
        }
    }
    if (p && p->settle_often && p->pending >= SETTLE_FROM && p->pending >= p->settle_at)
        settle_some(p);
    return c;
}

// The whole of a command's wrapper: the call, and what to note of it (`fill` sees the command as c).
#define ENQUEUE(kind, name, queue, blocking, call, fill)                                                               \
    cl_event own;                                                                                                      \
    struct enqueue e = enqueue_begin(event, &own);                                                                     \
    cl_int error = call;                                                                                               \
    struct profile *p;                                                                                                 \
    struct profile_command *c = enqueue_end(&e, queue, kind, name, error, blocking, &p);                               \
    if (c) {                                                                                                           \
        fill;                                                                                                          \
    }                                                                                                                  \
    if (p)                                                                                                             \
        unlock(p);                                                                                                     \
    if (own)                                                                                                           \
        profile__next.clReleaseEvent(own);                                                                             \
    return error

static cl_int CL_API_CALL write_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                       size_t bytes, const void *from, cl_uint nwait, const cl_event *wait,
                                       cl_event *event)
{
    ENQUEUE(PROFILE_WRITE, "clEnqueueWriteBuffer", queue, blocking,
            profile__next.clEnqueueWriteBuffer(queue, buffer, blocking, offset, bytes, from, nwait, wait, e.event),
            c->bytes = (int64_t)bytes);
}

static cl_int CL_API_CALL read_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                      size_t bytes, void *to, cl_uint nwait, const cl_event *wait, cl_event *event)
{
    ENQUEUE(PROFILE_READ, "clEnqueueReadBuffer", queue, blocking,
            profile__next.clEnqueueReadBuffer(queue, buffer, blocking, offset, bytes, to, nwait, wait, e.event),
            c->bytes = (int64_t)bytes);
}

static cl_int CL_API_CALL copy_buffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset,
                                      size_t to_offset, size_t bytes, cl_uint nwait, const cl_event *wait,
                                      cl_event *event)
{
    ENQUEUE(PROFILE_COPY, "clEnqueueCopyBuffer", queue, CL_FALSE,
            profile__next.clEnqueueCopyBuffer(queue, from, to, from_offset, to_offset, bytes, nwait, wait, e.event),
            c->bytes = (int64_t)bytes);
}

static cl_int CL_API_CALL fill_buffer(cl_command_queue queue, cl_mem to, const void *pattern, size_t pattern_bytes,
                                      size_t offset, size_t bytes, cl_uint nwait, const cl_event *wait, cl_event *event)
{
    ENQUEUE(PROFILE_FILL, "clEnqueueFillBuffer", queue, CL_FALSE,
            profile__next.clEnqueueFillBuffer(queue, to, pattern, pattern_bytes, offset, bytes, nwait, wait, e.event),
            c->bytes = (int64_t)bytes);
}

#define RECT_BYTES ((int64_t)(region[0] * region[1] * region[2]))
static cl_int CL_API_CALL read_rect(cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t *b_origin,
                                    const size_t *h_origin, const size_t *region, size_t b_row, size_t b_slice,
                                    size_t h_row, size_t h_slice, void *to, cl_uint nwait, const cl_event *wait,
                                    cl_event *event)
{
    ENQUEUE(PROFILE_READ, "clEnqueueReadBufferRect", queue, blocking,
            profile__next.clEnqueueReadBufferRect(queue, buffer, blocking, b_origin, h_origin, region, b_row, b_slice,
                                                  h_row, h_slice, to, nwait, wait, e.event),
            c->bytes = RECT_BYTES);
}

static cl_int CL_API_CALL write_rect(cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t *b_origin,
                                     const size_t *h_origin, const size_t *region, size_t b_row, size_t b_slice,
                                     size_t h_row, size_t h_slice, const void *from, cl_uint nwait,
                                     const cl_event *wait, cl_event *event)
{
    ENQUEUE(PROFILE_WRITE, "clEnqueueWriteBufferRect", queue, blocking,
            profile__next.clEnqueueWriteBufferRect(queue, buffer, blocking, b_origin, h_origin, region, b_row, b_slice,
                                                   h_row, h_slice, from, nwait, wait, e.event),
            c->bytes = RECT_BYTES);
}

static cl_int CL_API_CALL copy_rect(cl_command_queue queue, cl_mem from, cl_mem to, const size_t *f_origin,
                                    const size_t *t_origin, const size_t *region, size_t f_row, size_t f_slice,
                                    size_t t_row, size_t t_slice, cl_uint nwait, const cl_event *wait, cl_event *event)
{
    ENQUEUE(PROFILE_COPY, "clEnqueueCopyBufferRect", queue, CL_FALSE,
            profile__next.clEnqueueCopyBufferRect(queue, from, to, f_origin, t_origin, region, f_row, f_slice, t_row,
                                                  t_slice, nwait, wait, e.event),
            c->bytes = RECT_BYTES);
}

// Bytes of a part of an image, -1: the driver does not say what an element takes.
static int64_t image_bytes(cl_mem image, const size_t *region)
{
    size_t element = 0;
    if (profile__next.clGetImageInfo(image, CL_IMAGE_ELEMENT_SIZE, sizeof element, &element, NULL) != CL_SUCCESS)
        return -1;
    return (int64_t)element * RECT_BYTES;
}

static cl_int CL_API_CALL read_image(cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t *origin,
                                     const size_t *region, size_t row, size_t slice, void *to, cl_uint nwait,
                                     const cl_event *wait, cl_event *event)
{
    ENQUEUE(
        PROFILE_READ, "clEnqueueReadImage", queue, blocking,
        profile__next.clEnqueueReadImage(queue, image, blocking, origin, region, row, slice, to, nwait, wait, e.event),
        c->bytes = image_bytes(image, region));
}

static cl_int CL_API_CALL write_image(cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t *origin,
                                      const size_t *region, size_t row, size_t slice, const void *from, cl_uint nwait,
                                      const cl_event *wait, cl_event *event)
{
    ENQUEUE(PROFILE_WRITE, "clEnqueueWriteImage", queue, blocking,
            profile__next.clEnqueueWriteImage(queue, image, blocking, origin, region, row, slice, from, nwait, wait,
                                              e.event),
            c->bytes = image_bytes(image, region));
}

static void *CL_API_CALL map_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags,
                                    size_t offset, size_t bytes, cl_uint nwait, const cl_event *wait, cl_event *event,
                                    cl_int *out)
{
    cl_event own;
    cl_int error;
    struct enqueue e = enqueue_begin(event, &own);
    void *mapped =
        profile__next.clEnqueueMapBuffer(queue, buffer, blocking, flags, offset, bytes, nwait, wait, e.event, &error);
    struct profile *p;
    struct profile_command *c = enqueue_end(&e, queue, PROFILE_MAP, "clEnqueueMapBuffer", error, blocking, &p);
    if (c)
        c->bytes = (int64_t)bytes;
    if (p)
        unlock(p);
    if (own)
        profile__next.clReleaseEvent(own);
    if (out)
        *out = error;
    return mapped;
}

static cl_int CL_API_CALL unmap(cl_command_queue queue, cl_mem buffer, void *mapped, cl_uint nwait,
                                const cl_event *wait, cl_event *event)
{
    ENQUEUE(PROFILE_UNMAP, "clEnqueueUnmapMemObject", queue, CL_FALSE,
            profile__next.clEnqueueUnmapMemObject(queue, buffer, mapped, nwait, wait, e.event), (void)c);
}

static cl_int CL_API_CALL marker(cl_command_queue queue, cl_uint nwait, const cl_event *wait, cl_event *event)
{
    ENQUEUE(PROFILE_MARKER, "clEnqueueMarkerWithWaitList", queue, CL_FALSE,
            profile__next.clEnqueueMarkerWithWaitList(queue, nwait, wait, e.event), (void)c);
}

static cl_int CL_API_CALL barrier(cl_command_queue queue, cl_uint nwait, const cl_event *wait, cl_event *event)
{
    ENQUEUE(PROFILE_MARKER, "clEnqueueBarrierWithWaitList", queue, CL_FALSE,
            profile__next.clEnqueueBarrierWithWaitList(queue, nwait, wait, e.event), (void)c);
}

// ---- kernels ---------------------------------------------------------------------------------------------------

static void kernel_name(struct profile_kernel *k)
{
    char name[256] = "";
    if (profile__next.clGetKernelInfo)
        profile__next.clGetKernelInfo(k->id, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL);
    k->name = strdup(name[0] ? name : "?");
}

static int64_t kernel_ask(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what, int wide)
{
    cl_ulong value = 0;
    size_t size = 0;
    cl_int error = wide ? profile__next.clGetKernelWorkGroupInfo(kernel, device, what, sizeof value, &value, NULL)
                        : profile__next.clGetKernelWorkGroupInfo(kernel, device, what, sizeof size, &size, NULL);
    return error != CL_SUCCESS ? -1 : wide ? (int64_t)value : (int64_t)size;
}

static void kernel_fill(struct profile *p, struct profile_command *c, cl_kernel id, cl_uint dims, const size_t *global,
                        const size_t *local)
{
    struct profile_kernel *k = profile__kernel(p, id);
    c->dims = dims <= 3 ? dims : 3;
    for (cl_uint i = 0; i < c->dims; i++) {
        c->global[i] = global ? global[i] : 1;
        c->wg[i] = local ? local[i] : 0;
    }
    if (!k)
        return;
    if (!k->name)
        kernel_name(k);
    c->kernel = id;
    if (p->keep_kernels && !p->own)
        profile__kernel_keep(p, id);
    c->name = profile__intern(p, k->name ? k->name : "?");
    if (!k->asked && c->queue >= 0) {
        cl_device_id device = p->queues[c->queue].device;
        k->asked = 1;
        k->resources = (struct profile_resources){.known = 1, .registers = -1, .spill_bytes = -1, .stack_bytes = -1};
        k->resources.local_bytes = kernel_ask(id, device, CL_KERNEL_LOCAL_MEM_SIZE, 1);
        k->resources.private_bytes = kernel_ask(id, device, CL_KERNEL_PRIVATE_MEM_SIZE, 1);
        k->resources.max_wg = kernel_ask(id, device, CL_KERNEL_WORK_GROUP_SIZE, 0);
        k->resources.wg_multiple = kernel_ask(id, device, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, 0);
    }
    c->resources = k->resources;
    c->bound_bytes = 0;
    for (cl_uint i = 0; i < k->nargs; i++) {
        size_t bytes;
        int before = 0;
        for (cl_uint j = 0; j < i; j++)
            before |= k->args[j] == k->args[i];
        if (!before && profile__buffer_get(p, k->args[i], &bytes))
            c->bound_bytes += (int64_t)bytes;
    }
}

static cl_int CL_API_CALL launch(cl_command_queue queue, cl_kernel kernel, cl_uint dims, const size_t *offset,
                                 const size_t *global, const size_t *local, cl_uint nwait, const cl_event *wait,
                                 cl_event *event)
{
    ENQUEUE(PROFILE_KERNEL, "?", queue, CL_FALSE,
            profile__next.clEnqueueNDRangeKernel(queue, kernel, dims, offset, global, local, nwait, wait, e.event),
            kernel_fill(p, c, kernel, dims, global, local));
}

static cl_int CL_API_CALL task(cl_command_queue queue, cl_kernel kernel, cl_uint nwait, const cl_event *wait,
                               cl_event *event)
{
    static const size_t one = 1;
    ENQUEUE(PROFILE_KERNEL, "?", queue, CL_FALSE, profile__next.clEnqueueTask(queue, kernel, nwait, wait, e.event),
            kernel_fill(p, c, kernel, 1, &one, &one));
}

static void kernel_made(cl_kernel id, const char *name)
{
    struct profile *p = id ? lock() : NULL;
    if (!p)
        return;
    struct profile_kernel *k = profile__kernel(p, id);
    if (k) {
        free(k->name);
        free(k->args);
        *k = (struct profile_kernel){.id = id, .name = name ? strdup(name) : NULL};
    }
    unlock(p);
}

static cl_kernel CL_API_CALL create_kernel(cl_program program, const char *name, cl_int *error)
{
    int64_t begin = profile_now();
    cl_kernel kernel = profile__next.clCreateKernel(program, name, error);
    call_note(PHASE_BUILD, begin);
    kernel_made(kernel, name);
    return kernel;
}

static cl_int CL_API_CALL create_kernels(cl_program program, cl_uint count, cl_kernel *kernels, cl_uint *made)
{
    int64_t begin = profile_now();
    cl_uint n = 0;
    cl_int error = profile__next.clCreateKernelsInProgram(program, count, kernels, &n);
    call_note(PHASE_BUILD, begin);
    for (cl_uint i = 0; i < n && i < count && kernels && error == CL_SUCCESS; i++)
        kernel_made(kernels[i], NULL);
    if (made)
        *made = n;
    return error;
}

static cl_int CL_API_CALL release_kernel(cl_kernel kernel)
{
    struct profile *p = lock();
    if (p) {
        profile__kernel_release(p, kernel);
        unlock(p);
    }
    return profile__next.clReleaseKernel(kernel);
}

static cl_int CL_API_CALL set_arg(cl_kernel kernel, cl_uint index, size_t bytes, const void *value)
{
    int64_t begin = profile_now();
    cl_int error = profile__next.clSetKernelArg(kernel, index, bytes, value);
    struct profile *p = error == CL_SUCCESS ? lock() : NULL;
    struct profile_kernel *k = p ? profile__kernel(p, kernel) : NULL;
    if (k) {
        cl_mem buffer = NULL;
        size_t ignored;
        if (value && bytes == sizeof buffer)
            memcpy(&buffer, value, sizeof buffer);
        if (!profile__buffer_get(p, buffer, &ignored))
            buffer = NULL;
        if (index >= k->nargs && buffer) {
            cl_mem *grown = realloc(k->args, (index + 1) * sizeof *grown);
            for (cl_uint i = k->nargs; i <= index && grown; i++)
                grown[i] = NULL;
            k->args = grown ? grown : k->args;
            k->nargs = grown ? index + 1 : k->nargs;
        }
        if (index < k->nargs)
            k->args[index] = buffer;
    }
    if (p) {
        if (p->recording)
            profile__span(p, p->own ? PHASE_BENCH : PHASE_CALL, begin, profile_now());
        unlock(p);
    }
    return error;
}

// ---- objects, waiting ------------------------------------------------------------------------------------------

static void queue_made(cl_command_queue id)
{
    struct profile *p = id ? lock() : NULL;
    if (p) {
        profile__queue_add(p, id);
        unlock(p);
    }
}

static cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id device,
                                                 cl_command_queue_properties props, cl_int *out)
{
    cl_int error;
    int64_t begin = profile_now();
    cl_command_queue queue =
        profile__next.clCreateCommandQueue(context, device, props | CL_QUEUE_PROFILING_ENABLE, &error);
    if (error != CL_SUCCESS && !(props & CL_QUEUE_PROFILING_ENABLE)) // a device may refuse
        queue = profile__next.clCreateCommandQueue(context, device, props, &error);
    call_note(PHASE_CALL, begin);
    if (error == CL_SUCCESS)
        queue_made(queue);
    if (out)
        *out = error;
    return queue;
}

enum { PROPERTIES_MAX = 64 };

static cl_command_queue CL_API_CALL create_queue_with(cl_context context, cl_device_id device,
                                                      const cl_queue_properties *props, cl_int *out)
{
    cl_queue_properties mine[PROPERTIES_MAX + 4];
    int n = 0, at = -1;
    cl_int error;
    int64_t begin = profile_now();
    for (; props && props[n] && n < PROPERTIES_MAX; n += 2) {
        mine[n] = props[n];
        mine[n + 1] = props[n + 1];
        at = props[n] == CL_QUEUE_PROPERTIES ? n : at;
    }
    const int longer = props && props[n];
    if (at < 0) {
        at = n;
        mine[n] = CL_QUEUE_PROPERTIES;
        mine[n + 1] = 0;
        n += 2;
    }
    mine[at + 1] |= CL_QUEUE_PROFILING_ENABLE;
    mine[n] = 0;
    cl_command_queue queue =
        profile__next.clCreateCommandQueueWithProperties(context, device, longer ? props : mine, &error);
    if (error != CL_SUCCESS)
        queue = profile__next.clCreateCommandQueueWithProperties(context, device, props, &error);
    call_note(PHASE_CALL, begin);
    if (error == CL_SUCCESS)
        queue_made(queue);
    if (out)
        *out = error;
    return queue;
}

static cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, size_t bytes, void *host, cl_int *error)
{
    int64_t begin = profile_now();
    cl_mem buffer = profile__next.clCreateBuffer(context, flags, bytes, host, error);
    int64_t end = profile_now();
    struct profile *p = lock();
    if (!p)
        return buffer;
    if (buffer)
        profile__buffer_set(p, buffer, bytes);
    // A buffer may be written as it is made; the driver gives no event for it.
    struct profile_command *c =
        buffer && host && (flags & CL_MEM_COPY_HOST_PTR) ? profile__command(p, PROFILE_WRITE, "clCreateBuffer") : NULL;
    if (c) {
        c->bytes = (int64_t)bytes;
        c->call_ns = begin;
        c->return_ns = end;
        c->blocking = 1;
        c->untimed = "part of clCreateBuffer";
    }
    if (p->recording)
        profile__span(p, p->own ? PHASE_BENCH : c ? PHASE_WRITE : PHASE_ALLOCATE, begin, end);
    unlock(p);
    return buffer;
}

// The rest is a call with a phase.
#define NOTED(type, name, phase, params, args)                                                                         \
    static type CL_API_CALL noted_##name params                                                                        \
    {                                                                                                                  \
        int64_t begin = profile_now();                                                                                 \
        type result = profile__next.name args;                                                                         \
        call_note(phase, begin);                                                                                       \
        return result;                                                                                                 \
    }
typedef void(CL_CALLBACK *program_fn)(cl_program, void *);
NOTED(cl_int, clBuildProgram, PHASE_BUILD,
      (cl_program p, cl_uint n, const cl_device_id *d, const char *o, program_fn f, void *u), (p, n, d, o, f, u))
NOTED(cl_int, clCompileProgram, PHASE_BUILD,
      (cl_program p, cl_uint n, const cl_device_id *d, const char *o, cl_uint h, const cl_program *hp, const char **hn,
       program_fn f, void *u),
      (p, n, d, o, h, hp, hn, f, u))
NOTED(cl_program, clLinkProgram, PHASE_BUILD,
      (cl_context c, cl_uint n, const cl_device_id *d, const char *o, cl_uint k, const cl_program *ps, program_fn f,
       void *u, cl_int *e),
      (c, n, d, o, k, ps, f, u, e))
NOTED(cl_program, clCreateProgramWithSource, PHASE_BUILD,
      (cl_context c, cl_uint n, const char **s, const size_t *l, cl_int *e), (c, n, s, l, e))
NOTED(cl_program, clCreateProgramWithBinary, PHASE_BUILD,
      (cl_context c, cl_uint n, const cl_device_id *d, const size_t *l, const unsigned char **b, cl_int *s, cl_int *e),
      (c, n, d, l, b, s, e))
NOTED(cl_int, clReleaseMemObject, PHASE_ALLOCATE, (cl_mem m), (m))
NOTED(cl_int, clFinish, PHASE_CALL, (cl_command_queue q), (q))
NOTED(cl_int, clFlush, PHASE_CALL, (cl_command_queue q), (q))
NOTED(cl_int, clWaitForEvents, PHASE_CALL, (cl_uint n, const cl_event *e), (n, e))

// What a program drops goes only when nothing holds it; commands that have ended need not.
static cl_int CL_API_CALL release_queue(cl_command_queue queue)
{
    struct profile *p = lock();
    if (p) {
        if (p->settle_often)
            settle_some(p);
        profile__queue_release(p, queue);
        unlock(p);
    }
    return profile__next.clReleaseCommandQueue(queue);
}

static cl_int CL_API_CALL release_context(cl_context context)
{
    struct profile *p = lock();
    if (p) {
        if (p->settle_often)
            settle_some(p);
        unlock(p);
    }
    return profile__next.clReleaseContext(context);
}

const struct profile_calls profile__wrapped = {
    .clBuildProgram = noted_clBuildProgram,
    .clCreateBuffer = create_buffer,
    .clCreateCommandQueue = create_queue,
    .clCreateKernel = create_kernel,
    .clCreateProgramWithBinary = noted_clCreateProgramWithBinary,
    .clCreateProgramWithSource = noted_clCreateProgramWithSource,
    .clEnqueueBarrierWithWaitList = barrier,
    .clEnqueueCopyBuffer = copy_buffer,
    .clEnqueueMarkerWithWaitList = marker,
    .clEnqueueNDRangeKernel = launch,
    .clEnqueueReadBuffer = read_buffer,
    .clEnqueueWriteBuffer = write_buffer,
    .clFinish = noted_clFinish,
    .clFlush = noted_clFlush,
    .clReleaseCommandQueue = release_queue,
    .clReleaseContext = release_context,
    .clReleaseKernel = release_kernel,
    .clReleaseMemObject = noted_clReleaseMemObject,
    .clSetKernelArg = set_arg,
    .clWaitForEvents = noted_clWaitForEvents,
    .clCompileProgram = noted_clCompileProgram,
    .clCreateCommandQueueWithProperties = create_queue_with,
    .clCreateKernelsInProgram = create_kernels,
    .clEnqueueCopyBufferRect = copy_rect,
    .clEnqueueFillBuffer = fill_buffer,
    .clEnqueueMapBuffer = map_buffer,
    .clEnqueueReadBufferRect = read_rect,
    .clEnqueueReadImage = read_image,
    .clEnqueueTask = task,
    .clEnqueueUnmapMemObject = unmap,
    .clEnqueueWriteBufferRect = write_rect,
    .clEnqueueWriteImage = write_image,
    .clLinkProgram = noted_clLinkProgram,
};
