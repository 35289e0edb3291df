// SPDX-License-Identifier: Apache-2.0
// The layer of failing events from the inside: its events, and the commands that it keeps. All is under one lock.
#pragma once

#include "events.h"

#include <CL/cl_layer.h>
#include <stdbool.h>

enum { EVENTS_ARGS = 32, EVENTS_ARG_BYTES = 64 };

struct callback {
    struct callback *next;
    void(CL_CALLBACK *fn)(cl_event, cl_int, void *);
    void *arg;
    cl_event event; // retained
    cl_int status;
};

struct _cl_event {
    const void *dispatch; // where a driver's object has its calls
    cl_uint references;
    cl_int status; // CL_QUEUED, CL_SUBMITTED: not yet; CL_COMPLETE; negative: failed
    cl_command_queue queue;
    struct callback *callbacks;
};

struct waited {
    cl_event event; // retained
    bool listed;    // in the wait list; else before it in the queue
};

struct command {
    struct command *next;
    enum { NOTHING, KERNEL, READ, WRITE, COPY, UNMAP } what;
    bool barrier;
    cl_command_queue queue;
    cl_event event;
    struct waited *waits;
    size_t nwaits;
    cl_kernel kernel; // of a command that is kept: its own
    cl_uint dims;
    size_t sizes[3][3]; // first, global, local
    bool has[3];
    cl_mem from, to, args[EVENTS_ARGS];
    size_t at, at_to, bytes;
    void *host;
};

extern cl_icd_dispatch events_below; // the driver
extern cl_uint events_flags;         // EVENTS_* of events.h

void events_lock(void);
// Make the callbacks that are due, then unlock.
void events_unlock(void);
// Wait, unlocked, until another event has ended.
void events_wait(void);
// Memory of zeros.
void *events_memory(size_t bytes);

cl_event event_make(cl_command_queue queue, cl_int status);
void event_release(cl_event event);
void event_end(cl_event event, cl_int status);
// Have it called when the event has ended; or at once, or never.
void event_callback(cl_event event, void(CL_CALLBACK *fn)(cl_event, cl_int, void *), void *arg);

// Enqueue a copy of the command: execute it, or keep it. Locks.
cl_int command_enqueue(const struct command *from, cl_bool blocking, cl_uint nwait, const cl_event *wait,
                       cl_event *out);
// End every command that can, until none can.
void commands_end(void);
bool commands_are_pending(cl_command_queue queue);

// Kernels with the arguments that were set last, and buffers, which commands hold that are kept.
cl_int kernel_arg(cl_kernel kernel, cl_uint i, size_t bytes, const void *value);
void kernel_forget(cl_kernel kernel);
void buffer_add(cl_mem mem);
cl_int buffer_retain(cl_mem mem);
cl_int buffer_release(cl_mem mem);
struct events_alive events_count(void);
