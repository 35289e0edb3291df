// SPDX-License-Identifier: Apache-2.0
// Queues, kernels, buffers and names as the recorder knows them. The mutex is held in every call.
#pragma once

#include "model.h"

// The text, kept as long as the recorder.
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
// Let go of the kernels that were held; forget all kernels.
void profile__kernels_let_go(struct profile *p);
void profile__kernels_forget(struct profile *p);
// Room for one more of `size` bytes behind `count`; *array is reallocated. 0: no memory.
int profile__grow(void *array, size_t *room, size_t count, size_t size);
