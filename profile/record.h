// SPDX-License-Identifier: Apache-2.0
// What ran: the commands of OpenCL queues with their times and bytes, the calls of the host, repetitions and their
// sections. calls.c fills it, phases.c says where the time went, json.c and trace.c write it down.
//
// One recorder is active in a process at a time, since OpenCL's calls know of none. It may be used from any thread;
// repetitions begin and end in one.
#ifndef PROFILE_RECORD_H
#define PROFILE_RECORD_H

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
const char *profile_kind_name(enum profile_kind kind);

// Of a repetition of the bench; NONE under the layer.
enum profile_section { PROFILE_NONE, PROFILE_SETUP, PROFILE_LAUNCH, PROFILE_RESULT, PROFILE_SECTIONS };
const char *profile_section_name(enum profile_section section);

// Where an instant belongs; docs/reference/profile-record.md says what each is. The first that fits has it.
enum profile_phase {
    PHASE_BENCH,
    PHASE_KERNEL,
    PHASE_WRITE,
    PHASE_READ,
    PHASE_ANALYSE,
    PHASE_COPY,
    PHASE_GAP,
    PHASE_BUILD,
    PHASE_ALLOCATE,
    PHASE_LAUNCH,
    PHASE_CALL,
    PHASE_WAIT,
    PHASE_HOST,
    PHASE_COUNT
};
const char *profile_phase_name(enum profile_phase phase);

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
    enum profile_phase phase; // WRITE, READ, COPY, BUILD, ALLOCATE, CALL, or BENCH
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
    int settle_often; // nonzero: commands are asked for their times as the program runs, not at the end
    size_t unsettled; // commands before it have been asked
    size_t pending;   // commands that hold an event
    size_t settle_at; // and how many ask for it
    int lost;         // nonzero: memory ran out, and something is missing
};

// NULL: no memory. Commands beyond `limit` are counted, not kept.
struct profile *profile_create(size_t limit);
// Accepts NULL and *p == NULL. Takes it out of the calls first, when it is in.
void profile_destroy(struct profile **p);
// Nanoseconds of CLOCK_MONOTONIC.
int64_t profile_now(void);

// A repetition begins and ends; what is recorded outside of one is lost. Sections do not overlap.
void profile_rep_begin(struct profile *p);
void profile_rep_end(struct profile *p);
void profile_section_begin(struct profile *p, enum profile_section section);
void profile_section_end(struct profile *p);
// Between the two calls the host and the device do what is the bench's own: no time of the program's.
void profile_own(struct profile *p, int begin);
// Forget every repetition; buffers stay known.
void profile_clear(struct profile *p);

// Ask all commands of the last repetition for their times, and bring them onto the host's clock. Waits until they have
// ended, but for a program under the layer, which may leave commands that never do.
void profile_rep_settle(struct profile *p);

// For backends without OpenCL: a command without an event, of a queue -1, and the host inside a call of `phase`.
// start_ns, end_ns: on the host's clock, 0: none.
void profile_command_add(struct profile *p, enum profile_kind kind, const char *name, int64_t bytes, int64_t call_ns,
                         int64_t return_ns, int64_t start_ns, int64_t end_ns);

void profile_span_add(struct profile *p, enum profile_phase phase, int64_t begin_ns, int64_t end_ns);

// Ask for the registers of every kernel of the last repetition that was held (keep_kernels, set before it begins), and
// let them go. Gives why some are not known, or NULL.
const char *profile_resources_ask(struct profile *p);

// ---- inside ----
// While the recorder asks the driver, that may call back into the program (a destructor of a buffer, say, when the last
// event goes), and the program OpenCL: such calls of a thread that has the mutex pass by.
void profile__lock(struct profile *p);
void profile__unlock(struct profile *p);
extern _Thread_local int profile__inside;

// ---- inside, with the mutex held ----
struct profile_command *profile__command(struct profile *p, enum profile_kind kind, const char *name);
void profile__span(struct profile *p, enum profile_phase phase, int64_t begin_ns, int64_t end_ns);
const char *profile__intern(struct profile *p, const char *name);
struct profile_queue *profile__queue(struct profile *p, cl_command_queue id);
// Of a queue made now, also if the handle is known.
struct profile_queue *profile__queue_add(struct profile *p, cl_command_queue id);
struct profile_kernel *profile__kernel(struct profile *p, cl_kernel id);
// A reference is about to go: what is known of the handle goes with the last one, since another kernel may get it without
// a call that the recorder sees.
void profile__kernel_release(struct profile *p, cl_kernel id);
void profile__queue_release(struct profile *p, cl_command_queue id);
// Hold the kernel until profile_resources_ask, profile_clear or profile_destroy.
void profile__kernel_keep(struct profile *p, cl_kernel id);
int profile__kernel_is_kept(const struct profile *p, cl_kernel id);
void profile__buffer_set(struct profile *p, cl_mem id, size_t bytes);
int profile__buffer_get(const struct profile *p, cl_mem id, size_t *bytes);
// Ask the command's event; wait: also when it has not ended.
void profile__settle(struct profile *p, struct profile_command *c, int wait);
int profile__grow(void *array, size_t *room, size_t count, size_t size);
int profile__thread(void);

#endif
