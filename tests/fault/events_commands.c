// SPDX-License-Identifier: Apache-2.0
// Events and commands of the layer of failing events: what is executed when, and how it ends.
//
// A command whose events have all ended is executed at once, in the thread that asks for it or that ends the last of the events.
// Any other is kept, with arguments and buffers as they were when it was enqueued. A command ends when all that it waits for has
// ended, never before.
#include "events_commands.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The arguments of a kernel as they were set last.
struct shadow {
    struct shadow *next;
    cl_kernel kernel;
    struct {
        bool set, local;
        size_t bytes;
        char value[EVENTS_ARG_BYTES];
    } arg[EVENTS_ARGS];
};

// The layer counts references itself: a driver's threads may still hold one when the caller lets go of the last.
struct buffer {
    struct buffer *next;
    cl_mem mem;
    int references;
};

cl_icd_dispatch events_below;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // guards all that follows
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
cl_uint events_flags;
static cl_uint alive;           // events
static struct command *pending; // in the order in which they were enqueued
static struct callback *due;    // callbacks to be made when the lock is free
static struct shadow *shadows;
static struct buffer *buffers; // all that there are

void *events_memory(size_t bytes)
{
    void *data = calloc(1, bytes);
    if (!data) {
        fprintf(stderr, "events: out of memory\n");
        abort();
    }
    return data;
}

// ---- events ----------------------------------------------------------------------------------------------------

cl_event event_make(cl_command_queue queue, cl_int status)
{
    cl_event event = events_memory(sizeof *event);
    *event = (struct _cl_event){.dispatch = &events_below, .references = 1, .status = status, .queue = queue};
    alive++;
    return event;
}

void event_release(cl_event event)
{
    if (--event->references)
        return;
    while (event->callbacks) { // which nobody will call
        struct callback *c = event->callbacks;
        event->callbacks = c->next;
        free(c);
    }
    free(event);
    alive--;
}

static void callback_due(cl_event event, struct callback *c)
{
    struct callback **end = &due;
    if (event->status < 0 && (events_flags & EVENTS_MUTE)) {
        free(c);
        return;
    }
    while (*end)
        end = &(*end)->next;
    *c = (struct callback){.fn = c->fn, .arg = c->arg, .event = event, .status = event->status};
    event->references++;
    *end = c;
}

void event_end(cl_event event, cl_int status)
{
    event->status = status;
    while (event->callbacks) {
        struct callback *c = event->callbacks;
        event->callbacks = c->next;
        callback_due(event, c);
    }
    pthread_cond_broadcast(&changed);
}

void event_callback(cl_event event, void(CL_CALLBACK *fn)(cl_event, cl_int, void *), void *arg)
{
    struct callback *c = events_memory(sizeof *c);
    *c = (struct callback){.next = event->callbacks, .fn = fn, .arg = arg};
    if (event->status > CL_COMPLETE)
        event->callbacks = c;
    else
        callback_due(event, c);
}

void events_lock(void)
{
    pthread_mutex_lock(&lock);
}

void events_wait(void)
{
    pthread_cond_wait(&changed, &lock);
}

void events_unlock(void)
{
    while (due) {
        struct callback *c = due;
        due = c->next;
        pthread_mutex_unlock(&lock);
        c->fn(c->event, c->status, c->arg);
        pthread_mutex_lock(&lock);
        event_release(c->event);
        free(c);
    }
    pthread_mutex_unlock(&lock);
}

// ---- commands --------------------------------------------------------------------------------------------------

// Execute, and wait for the end.
static cl_int command_do(const struct command *c)
{
    cl_event end = NULL;
    const size_t *part[3];
    cl_int error = CL_SUCCESS;
    for (int i = 0; i < 3; i++)
        part[i] = c->has[i] ? c->sizes[i] : NULL;
    switch (c->what) {
    case KERNEL:
        error =
            events_below.clEnqueueNDRangeKernel(c->queue, c->kernel, c->dims, part[0], part[1], part[2], 0, NULL, &end);
        break;
    case READ:
        return events_below.clEnqueueReadBuffer(c->queue, c->from, CL_TRUE, c->at, c->bytes, c->host, 0, NULL, NULL);
    case WRITE:
        return events_below.clEnqueueWriteBuffer(c->queue, c->to, CL_TRUE, c->at, c->bytes, c->host, 0, NULL, NULL);
    case COPY:
        error = events_below.clEnqueueCopyBuffer(c->queue, c->from, c->to, c->at, c->at_to, c->bytes, 0, NULL, &end);
        break;
    case UNMAP:
        error = events_below.clEnqueueUnmapMemObject(c->queue, c->to, c->host, 0, NULL, &end);
        break;
    case NOTHING:
        break;
    }
    if (!error && end)
        error = events_below.clWaitForEvents(1, &end);
    if (end)
        events_below.clReleaseEvent(end);
    return error;
}

static struct buffer **buffer_find(cl_mem mem)
{
    struct buffer **b = &buffers;
    while (*b && (*b)->mem != mem)
        b = &(*b)->next;
    return b;
}

static struct shadow *shadow_of(cl_kernel kernel)
{
    struct shadow *s = shadows;
    while (s && s->kernel != kernel)
        s = s->next;
    if (!s) {
        s = events_memory(sizeof *s);
        s->kernel = kernel;
        s->next = shadows;
        shadows = s;
    }
    return s;
}

// A kernel with the arguments of now.
static cl_kernel kernel_copy(struct command *c)
{
    const struct shadow *s = shadow_of(c->kernel);
    char name[256];
    cl_program program;
    cl_int error = events_below.clGetKernelInfo(c->kernel, CL_KERNEL_PROGRAM, sizeof program, &program, NULL);
    error = error ? error : events_below.clGetKernelInfo(c->kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL);
    cl_kernel copy = error ? NULL : events_below.clCreateKernel(program, name, &error);
    for (cl_uint i = 0; i < EVENTS_ARGS && !error; i++) {
        if (!s->arg[i].set)
            continue;
        error = events_below.clSetKernelArg(copy, i, s->arg[i].bytes, s->arg[i].local ? NULL : s->arg[i].value);
        if (!s->arg[i].local && s->arg[i].bytes == sizeof(cl_mem))
            memcpy(&c->args[i], s->arg[i].value, sizeof(cl_mem));
        if (c->args[i] && *buffer_find(c->args[i]))
            buffer_retain(c->args[i]);
        else
            c->args[i] = NULL;
    }
    if (error) {
        fprintf(stderr, "events: a kernel cannot be copied: %d\n", error);
        abort();
    }
    return copy;
}

static void command_free(struct command *c, bool kept)
{
    for (size_t i = 0; i < c->nwaits; i++)
        event_release(c->waits[i].event);
    if (kept) {
        if (c->kernel)
            events_below.clReleaseKernel(c->kernel);
        for (int i = 0; i < EVENTS_ARGS; i++)
            buffer_release(c->args[i]);
        buffer_release(c->from);
        buffer_release(c->to);
        events_below.clReleaseCommandQueue(c->queue);
    }
    event_release(c->event);
    free(c->waits);
    free(c);
}

static bool command_is_ready(const struct command *c)
{
    for (size_t i = 0; i < c->nwaits; i++)
        if (c->waits[i].event->status > CL_COMPLETE)
            return false;
    return true;
}

static void command_end(struct command *c)
{
    bool failed = false;
    for (size_t i = 0; i < c->nwaits; i++)
        failed |= c->waits[i].event->status < 0 && (c->waits[i].listed || (events_flags & EVENTS_ORDER));
    const cl_int error = failed ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : command_do(c);
    event_end(c->event, error < 0 ? error : CL_COMPLETE);
}

void commands_end(void)
{
    for (struct command **at = &pending; *at;) {
        struct command *c = *at;
        if (!command_is_ready(c)) {
            at = &c->next;
            continue;
        }
        *at = c->next;
        command_end(c);
        command_free(c, true);
        at = &pending;
    }
}

static void wait_add(struct command *c, cl_event event, bool listed)
{
    c->waits[c->nwaits++] = (struct waited){event, listed};
    event->references++;
}

// What the command waits for: its list, and what is not yet done before it in the queue.
static void waits_find(struct command *c, cl_uint nwait, const cl_event *wait)
{
    cl_command_queue_properties how = 0;
    size_t count = nwait;
    events_below.clGetCommandQueueInfo(c->queue, CL_QUEUE_PROPERTIES, sizeof how, &how, NULL);
    for (const struct command *p = pending; p; p = p->next)
        count++;
    c->waits = events_memory((count + 1) * sizeof *c->waits);
    for (cl_uint i = 0; i < nwait; i++)
        wait_add(c, wait[i], true);
    for (const struct command *p = pending; p; p = p->next)
        if (p->queue == c->queue &&
            (!(how & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) || p->barrier || (c->what == NOTHING && !nwait)))
            wait_add(c, p->event, false);
}

cl_int command_enqueue(const struct command *from, cl_bool blocking, cl_uint nwait, const cl_event *wait, cl_event *out)
{
    if (!nwait != !wait)
        return CL_INVALID_EVENT_WAIT_LIST;
    cl_int error = CL_SUCCESS;
    pthread_mutex_lock(&lock);
    struct command *c = events_memory(sizeof *c);
    *c = *from;
    c->event = event_make(c->queue, CL_QUEUED);
    waits_find(c, nwait, wait);
    cl_event event = c->event;
    event->references++;
    if (command_is_ready(c)) {
        command_end(c);
        error = event->status == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST ? CL_SUCCESS : event->status;
        command_free(c, false);
    } else {
        struct command **end = &pending;
        while (*end)
            end = &(*end)->next;
        *end = c;
        c->kernel = c->kernel ? kernel_copy(c) : NULL;
        events_below.clRetainCommandQueue(c->queue);
        if (c->from)
            buffer_retain(c->from);
        if (c->to)
            buffer_retain(c->to);
    }
    while (blocking && event->status > CL_COMPLETE)
        pthread_cond_wait(&changed, &lock);
    if (blocking && !error && event->status < 0)
        error = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    if (out && !error)
        *out = event;
    else
        event_release(event);
    events_unlock();
    return error;
}

bool commands_are_pending(cl_command_queue queue)
{
    for (const struct command *c = pending; c; c = c->next)
        if (c->queue == queue)
            return true;
    return false;
}

// ---- kernels and buffers ---------------------------------------------------------------------------------------

cl_int kernel_arg(cl_kernel kernel, cl_uint i, size_t bytes, const void *value)
{
    if (i >= EVENTS_ARGS || (value && bytes > EVENTS_ARG_BYTES)) // more than the library has
        return CL_INVALID_ARG_SIZE;
    struct shadow *s = shadow_of(kernel);
    s->arg[i].set = true;
    s->arg[i].local = !value;
    s->arg[i].bytes = bytes;
    if (value)
        memcpy(s->arg[i].value, value, bytes);
    return CL_SUCCESS;
}

void kernel_forget(cl_kernel kernel)
{
    for (struct shadow **s = &shadows; *s; s = &(*s)->next)
        if ((*s)->kernel == kernel) {
            struct shadow *gone = *s;
            *s = gone->next;
            free(gone);
            return;
        }
}

void buffer_add(cl_mem mem)
{
    struct buffer *b = events_memory(sizeof *b);
    *b = (struct buffer){buffers, mem, 1};
    buffers = b;
}

cl_int buffer_retain(cl_mem mem)
{
    struct buffer *b = *buffer_find(mem);
    if (b)
        b->references++;
    return events_below.clRetainMemObject(mem);
}

cl_int buffer_release(cl_mem mem)
{
    struct buffer **b = buffer_find(mem), *gone = *b;
    if (!mem)
        return CL_INVALID_MEM_OBJECT;
    if (gone && !--gone->references) {
        *b = gone->next;
        free(gone);
    }
    return events_below.clReleaseMemObject(mem);
}

struct events_alive events_count(void)
{
    struct events_alive now = {.events = alive};
    for (const struct buffer *b = buffers; b; b = b->next)
        now.buffers++;
    return now;
}
