// SPDX-License-Identifier: Apache-2.0
// What ran: the commands of OpenCL queues with their times and bytes, the calls of the host, repetitions and their
// sections. calls.c fills it, phases.c says where the time went, json.c and trace.c write it down.
//
// One recorder is active in a process at a time, since OpenCL's calls know of none. It may be used from any thread;
// repetitions begin and end in one.
#pragma once

#include "model.h"

const char *profile_kind_name(enum profile_kind kind);
const char *profile_section_name(enum profile_section section);
const char *profile_phase_name(enum profile_phase phase);

// NULL: no memory. Commands beyond `limit` are counted, not kept.
struct profile *profile_create(size_t limit);
// Accepts NULL and *p == NULL. Takes it out of the calls first, when it is in.
void profile_destroy(struct profile **p);

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
extern struct profile *profile__active; // the one that calls are for; NULL: they go on unrecorded

// ---- inside, with the mutex held ----
struct profile_command *profile__command(struct profile *p, enum profile_kind kind, const char *name);
void profile__span(struct profile *p, enum profile_phase phase, int64_t begin_ns, int64_t end_ns);
// Ask the command's event; wait: also when it has not ended.
void profile__settle(struct profile *p, struct profile_command *c, int wait);
int profile__thread(void);
