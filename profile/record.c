// SPDX-License-Identifier: Apache-2.0
// What the recorder knows: made, destroyed, repetitions and sections, commands and spans, times of events.
#include "record.h"
#include "clock.h"
#include "next.h"
#include "objects.h"
#include "resources.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

const char *profile_kind_name(enum profile_kind kind)
{
    static const char *const names[] = {"write", "read", "kernel", "copy", "fill", "map", "unmap", "marker"};
    return names[kind];
}

const char *profile_section_name(enum profile_section section)
{
    static const char *const names[] = {"", "setup", "launch", "read"};
    return names[section];
}

const char *profile_phase_name(enum profile_phase phase)
{
    static const char *const names[] = {"bench", "kernel", "write",    "read",   "analyse", "copy", "stage",
                                        "gap",   "build",  "allocate", "launch", "call",    "wait", "host"};
    return names[phase];
}

int profile__thread(void)
{
    static atomic_int next;
    static _Thread_local int mine = -1;
    if (mine < 0)
        mine = atomic_fetch_add(&next, 1);
    return mine;
}

_Thread_local int profile__inside;
struct profile *profile__active;

void profile__lock(struct profile *p)
{
    pthread_mutex_lock(&p->mutex);
    profile__inside = 1;
}

void profile__unlock(struct profile *p)
{
    profile__inside = 0;
    pthread_mutex_unlock(&p->mutex);
}

struct profile *profile_create(size_t limit)
{
    struct profile *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    pthread_mutex_init(&p->mutex, NULL);
    p->limit = limit;
    p->rep = -1;
    return p;
}

static void events_release(struct profile *p)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->commands[i].event)
            profile__next.clReleaseEvent(p->commands[i].event);
    p->count = p->unsettled = p->pending = 0;
}

void profile_destroy(struct profile **p)
{
    if (!p || !*p)
        return;
    if (profile__active == *p && (*p)->detach)
        (*p)->detach();
    events_release(*p);
    profile__kernels_let_go(*p);
    profile__kernels_forget(*p);
    free((*p)->kept);
    for (size_t i = 0; i < (*p)->name_count; i++)
        free((*p)->names[i]);
    free((*p)->names);
    free((*p)->kernels);
    free((*p)->queues);
    free((*p)->buffers);
    free((*p)->commands);
    free((*p)->spans);
    free((*p)->reps);
    pthread_mutex_destroy(&(*p)->mutex);
    free(*p);
    *p = NULL;
}

// ---- repetitions -----------------------------------------------------------------------------------------------

void profile_clear(struct profile *p)
{
    profile__lock(p);
    events_release(p);
    profile__kernels_let_go(p);
    profile__kernels_forget(p);
    p->span_count = 0;
    p->rep_count = 0;
    p->rep = -1;
    p->queue_count = 0; // queues and kernels that live on are asked once more
    p->dropped = 0;
    profile__unlock(p);
}

void profile_rep_begin(struct profile *p)
{
    profile__lock(p);
    struct profile_rep *grown = realloc(p->reps, (p->rep_count + 1) * sizeof *grown);
    if (grown) {
        p->reps = grown;
        p->rep = (int)p->rep_count++;
        p->reps[p->rep] = (struct profile_rep){.first_command = p->count, .first_span = p->span_count};
        profile_clock_init(&p->reps[p->rep].clock);
        p->section = PROFILE_NONE;
        p->own = 0;
        p->recording = 1;
        p->reps[p->rep].begin_ns = profile_now();
    } else {
        p->lost = 1;
    }
    profile__unlock(p);
}

void profile_rep_end(struct profile *p)
{
    int64_t now = profile_now();
    profile__lock(p);
    if (p->recording) {
        struct profile_rep *rep = &p->reps[p->rep];
        rep->end_ns = now;
        rep->commands = p->count - rep->first_command;
        rep->spans = p->span_count - rep->first_span;
        p->recording = 0;
    }
    profile__unlock(p);
}

void profile_section_begin(struct profile *p, enum profile_section section)
{
    profile__lock(p);
    p->section = section;
    if (p->recording)
        p->reps[p->rep].sections[section].begin_ns = profile_now();
    profile__unlock(p);
}

void profile_section_end(struct profile *p)
{
    int64_t now = profile_now();
    profile__lock(p);
    if (p->recording)
        p->reps[p->rep].sections[p->section].end_ns = now;
    p->section = PROFILE_NONE;
    profile__unlock(p);
}

void profile_own(struct profile *p, int begin)
{
    static _Thread_local int64_t began;
    int64_t now = profile_now();
    profile__lock(p);
    if (!begin && p->own)
        profile__span(p, PHASE_BENCH, began, now);
    began = now;
    p->own = begin;
    profile__unlock(p);
}

// ---- what is recorded ------------------------------------------------------------------------------------------

static enum profile_phase phase_of(const struct profile *p, enum profile_kind kind)
{
    if (p->own)
        return PHASE_BENCH;
    if (kind == PROFILE_WRITE || kind == PROFILE_UNMAP)
        return PHASE_WRITE;
    if (p->section == PROFILE_SETUP)
        return PHASE_ANALYSE;
    return kind == PROFILE_KERNEL                        ? PHASE_KERNEL
           : kind == PROFILE_READ || kind == PROFILE_MAP ? PHASE_READ
                                                         : PHASE_COPY;
}

struct profile_command *profile__command(struct profile *p, enum profile_kind kind, const char *name)
{
    if (!p->recording)
        return NULL;
    if (p->count == p->limit) {
        p->dropped++;
        return NULL;
    }
    if (!profile__grow(&p->commands, &p->room, p->count, sizeof *p->commands)) {
        p->lost = 1;
        return NULL;
    }
    struct profile_command *c = &p->commands[p->count++];
    *c = (struct profile_command){.kind = kind,
                                  .name = profile__intern(p, name),
                                  .section = p->section,
                                  .phase = phase_of(p, kind),
                                  .rep = p->rep,
                                  .thread = profile__thread(),
                                  .queue = -1,
                                  .bytes = -1,
                                  .bound_bytes = -1};
    return c;
}

void profile__span(struct profile *p, enum profile_phase phase, int64_t begin_ns, int64_t end_ns)
{
    if (!p->recording || p->span_count >= 8 * p->limit)
        return;
    // One call after the other of the same phase is one span, when nothing was in between.
    if (p->span_count > p->reps[p->rep].first_span) {
        struct profile_span *last = &p->spans[p->span_count - 1];
        if (last->phase == phase && begin_ns >= last->begin_ns && begin_ns - last->end_ns < 100) {
            last->end_ns = end_ns > last->end_ns ? end_ns : last->end_ns;
            return;
        }
    }
    if (profile__grow(&p->spans, &p->span_room, p->span_count, sizeof *p->spans))
        p->spans[p->span_count++] = (struct profile_span){phase, begin_ns, end_ns};
    else
        p->lost = 1;
}

void profile_command_add(struct profile *p, enum profile_kind kind, const char *name, int64_t bytes, int64_t call_ns,
                         int64_t return_ns, int64_t start_ns, int64_t end_ns)
{
    profile__lock(p);
    struct profile_command *c = profile__command(p, kind, name);
    if (c) {
        c->bytes = bytes;
        c->call_ns = call_ns;
        c->return_ns = return_ns;
        c->blocking = 1;
        c->untimed = end_ns ? NULL : "timed by the host's clock";
        c->queued_ns = c->submit_ns = call_ns;
        c->start_ns = start_ns;
        c->end_ns = end_ns;
        if (!end_ns || kind != PROFILE_KERNEL)
            profile__span(p, c->phase, call_ns, return_ns);
    }
    profile__unlock(p);
}

void profile_span_add(struct profile *p, enum profile_phase phase, int64_t begin_ns, int64_t end_ns)
{
    profile__lock(p);
    profile__span(p, phase, begin_ns, end_ns);
    profile__unlock(p);
}

// ---- times -----------------------------------------------------------------------------------------------------

void profile__settle(struct profile *p, struct profile_command *c, int wait)
{
    static const cl_profiling_info infos[] = {CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT,
                                              CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END};
    int64_t *const times[] = {&c->queued_ns, &c->submit_ns, &c->start_ns, &c->end_ns};
    cl_int status = CL_QUEUED;
    if (!c->event)
        return;
    if (profile__next.clGetEventInfo(c->event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL) !=
        CL_SUCCESS)
        status = -1;
    if (status > CL_COMPLETE && !wait)
        return;
    if (status > CL_COMPLETE && profile__next.clWaitForEvents(1, &c->event) != CL_SUCCESS)
        status = -1;
    if (status < 0)
        c->untimed = "the command failed";
    for (size_t i = 0; i < 4 && !c->untimed; i++) {
        cl_ulong value = 0;
        if (profile__next.clGetEventProfilingInfo(c->event, infos[i], sizeof value, &value, NULL) != CL_SUCCESS)
            c->untimed = "the driver gives no times of it";
        *times[i] = (int64_t)value;
    }
    if (!c->untimed && (!c->end_ns || c->end_ns < c->start_ns))
        c->untimed = "the driver's times are none";
    profile__next.clReleaseEvent(c->event);
    c->event = NULL;
    p->pending--;
}

// A queued time lies inside the call that made it; what ends has ended when a blocking call returns.
static void clock_learn(struct profile_clock *clock, const struct profile_command *c)
{
    if (c->queued_ns)
        profile_clock_bound(clock, c->call_ns - c->queued_ns, c->return_ns - c->queued_ns);
}

// The clock of the command's device, kept at its first queue.
static struct profile_clock *clock_of(struct profile *p, const struct profile_command *c)
{
    size_t i = 0;
    while (p->queues[i].device != p->queues[c->queue].device)
        i++;
    return &p->queues[i].clock;
}

void profile_rep_settle(struct profile *p)
{
    if (!p->rep_count)
        return;
    struct profile_rep *rep = &p->reps[p->rep_count - 1];
    struct profile_command *first = p->commands + rep->first_command;
    profile__lock(p);
    for (size_t i = 0; i < p->queue_count; i++) {
        p->queues[i].clock = rep->clock;
        p->queues[i].clock.grain_ns = p->queues[i].grain_ns;
    }
    for (size_t i = 0; i < rep->commands; i++) {
        profile__settle(p, &first[i], !p->settle_often);
        if (first[i].event) {
            first[i].untimed = "it had not ended when the program did";
            profile__next.clReleaseEvent(first[i].event);
            first[i].event = NULL;
            p->pending--;
        }
        // Without a queue the times are the host's already.
        if (!first[i].untimed && first[i].queue >= 0)
            clock_learn(clock_of(p, &first[i]), &first[i]);
    }
    for (size_t i = 0; i < p->queue_count; i++) {
        profile_clock_solve(&p->queues[i].clock);
        if (p->queues[i].clock.samples > rep->clock.samples)
            rep->clock = p->queues[i].clock;
    }
    for (size_t i = 0; i < rep->commands; i++) {
        struct profile_command *c = &first[i];
        if (c->untimed || c->queue < 0)
            continue;
        const struct profile_clock *clock = clock_of(p, c);
        // A driver that takes them by two clocks may let them cross by microseconds.
        c->submit_ns = c->submit_ns < c->start_ns ? c->submit_ns : c->start_ns;
        c->queued_ns = c->queued_ns < c->submit_ns ? c->queued_ns : c->submit_ns;
        c->queued_ns += clock->offset_ns;
        c->submit_ns += clock->offset_ns;
        c->start_ns += clock->offset_ns;
        c->end_ns += clock->offset_ns;
        rep->checked++;
        rep->outside +=
            c->start_ns < c->call_ns - clock->error_ns || (c->blocking && c->end_ns > c->return_ns + clock->error_ns);
    }
    p->unsettled = p->count;
    profile__unlock(p);
}

const char *profile_resources_ask(struct profile *p)
{
    const char *why = NULL;
    if (!p->rep_count)
        return why;
    struct profile_command *first = p->commands + p->reps[p->rep_count - 1].first_command;
    for (struct profile_command *c = first; c < p->commands + p->count; c++) {
        const struct profile_command *before = first;
        if (!c->kernel || c->queue < 0 || c->phase == PHASE_BENCH)
            continue;
        // A handle that nobody held may be dead, or another kernel's by now.
        if (!profile__kernel_is_kept(p, c->kernel)) {
            why = "the kernel was not held";
            continue;
        }
        while (before < c && (before->kernel != c->kernel || before->phase == PHASE_BENCH))
            before++;
        if (before < c) {
            c->resources = before->resources;
            continue;
        }
        const char *missing = profile_ptxas_ask(&c->resources, c->kernel, p->queues[c->queue].device, c->name);
        why = missing ? missing : why;
    }
    profile__kernels_let_go(p);
    return why;
}
