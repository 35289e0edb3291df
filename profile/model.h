// SPDX-License-Identifier: Apache-2.0
// What the recorder keeps, as data: commands, spans, clocks, queues, kernels, buffers, repetitions. record.h says what
// is done with them.
#pragma once

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "opencl.h"

enum profile_kind {
    PROFILE_WRITE, // host to device
    PROFILE_READ,  // device to host
    PROFILE_KERNEL,
    PROFILE_COPY,
    PROFILE_FILL,
    PROFILE_MAP,
    PROFILE_UNMAP,
    PROFILE_MARKER // and barriers
};

// Of a repetition of the bench; NONE under the layer.
enum profile_section { PROFILE_NONE, PROFILE_SETUP, PROFILE_LAUNCH, PROFILE_RESULT, PROFILE_SECTIONS };

// Where an instant belongs; docs/reference/profile-record.md says what each is. The first that fits has it.
enum profile_phase {
    PHASE_BENCH,
    PHASE_KERNEL,
    PHASE_WRITE,
    PHASE_READ,
    PHASE_ANALYSE,
    PHASE_COPY,
    PHASE_STAGE,
    PHASE_GAP,
    PHASE_BUILD,
    PHASE_ALLOCATE,
    PHASE_LAUNCH,
    PHASE_CALL,
    PHASE_WAIT,
    PHASE_HOST,
    PHASE_COUNT
};

// What the driver tells of a kernel on a device; -1: does not say.
struct profile_resources {
    int known;
    int64_t local_bytes, private_bytes, max_wg, wg_multiple;
    int64_t registers, spill_bytes, stack_bytes;
    char target[16]; // "sm_90", of what the registers are
};

struct profile_command {
    enum profile_kind kind;
    enum profile_section section;
    enum profile_phase phase;
    const char *name; // of the kernel, else of the call; the recorder's own
    int rep, queue, thread, blocking;
    int64_t bytes;              // of transfers; -1: not known
    int64_t bound_bytes;        // kernels: of the buffers that are arguments
    int64_t call_ns, return_ns; // host
    cl_event event;             // until it has been asked for its times
    const char *untimed;        // why there are no times; NULL: there are
    // Clock of the device until profile_rep_settle, then that of the host.
    int64_t queued_ns, submit_ns, start_ns, end_ns;
    cl_uint dims;
    size_t global[3], wg[3]; // wg[0] == 0: left to the driver
    cl_kernel kernel;
    struct profile_resources resources;
};

// A transfer that its call waits for; what comes before it on its queue is waited for too.
static inline int profile_command_waits(const struct profile_command *c)
{
    return c->blocking && (c->kind == PROFILE_READ || c->kind == PROFILE_WRITE || c->kind == PROFILE_MAP);
}

// The host inside a call.
struct profile_span {
    enum profile_phase phase; // WRITE, READ, COPY, STAGE, BUILD, ALLOCATE, CALL, or BENCH
    int64_t begin_ns, end_ns;
};

// How times of the device become times of the host, for one repetition (clock.c).
struct profile_clock {
    int64_t low_ns, high_ns; // bounds of what is added; low > high: nothing is known yet
    int64_t offset_ns, error_ns;
    int64_t grain_ns; // what the device's clock counts in: part of the error
    int contradicts;  // bounds that exclude each other: nonzero, and the offset is the middle of them
    int timer;        // nonzero: clGetDeviceAndHostTimer gave bounds
    int samples;
};

struct profile_queue {
    cl_command_queue id; // NULL: it is gone
    int rep;             // the last one in which it had commands
    cl_device_id device;
    const char *untimed; // why its events tell no times; NULL: they do
    int out_of_order;
    int64_t grain_ns;           // of the device's clock
    struct profile_clock clock; // of its device, where it is the device's first queue
};

struct profile_kernel {
    cl_kernel id;
    char *name;
    cl_mem *args; // what clSetKernelArg was told, where that was a buffer
    cl_uint nargs;
    int asked; // nonzero: resources are there
    struct profile_resources resources;
};

struct profile_buffer {
    cl_mem id;
    size_t bytes;
};

struct profile_rep {
    int64_t begin_ns, end_ns;
    struct {
        int64_t begin_ns, end_ns; // 0, 0: there was none
    } sections[PROFILE_SECTIONS];
    size_t first_command, commands, first_span, spans;
    struct profile_clock clock; // before settling: bounds from markers; then that of the device with most commands
    int checked, outside;       // commands whose times were compared with their calls; of them those that do not fit
};

struct profile {
    pthread_mutex_t mutex;
    struct profile_command *commands;
    size_t count, room;
    struct profile_span *spans;
    size_t span_count, span_room;
    struct profile_rep *reps;
    size_t rep_count;
    struct profile_queue *queues;
    size_t queue_count;
    struct profile_kernel *kernels;
    size_t kernel_count;
    struct profile_buffer *buffers; // a hash table
    size_t buffer_count, buffer_room;
    int keep_kernels; // nonzero: what is launched is held for profile_resources_ask, since programs drop kernels early
    cl_kernel *kept;  // each once
    size_t kept_count, kept_room;
    char **names; // every text that commands point to
    size_t name_count;
    size_t limit, dropped; // commands kept at most; not kept
    int recording, rep, own;
    enum profile_section section;
    int settle_often;     // nonzero: commands are asked for their times as the program runs, not at the end
    size_t unsettled;     // commands before it have been asked
    size_t pending;       // commands that hold an event
    size_t settle_at;     // and how many ask for it
    int lost;             // nonzero: memory ran out, and something is missing
    void (*detach)(void); // takes it out of the calls; NULL: it is not in
};
