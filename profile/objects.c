// SPDX-License-Identifier: Apache-2.0
// Queues, kernels and buffers as the recorder knows them.
#include "objects.h"
#include "next.h"

#include <stdlib.h>
#include <string.h>

int profile__grow(void *array, size_t *room, size_t count, size_t size)
{
    void **at = array;
    if (count < *room)
        return 1;
    size_t wanted = 2 * *room + 64;
    void *grown = realloc(*at, wanted * size);
    if (!grown)
        return 0;
    *at = grown;
    *room = wanted;
    return 1;
}

const char *profile__intern(struct profile *p, const char *name)
{
    for (size_t i = 0; i < p->name_count; i++)
        if (!strcmp(p->names[i], name))
            return p->names[i];
    char **grown = realloc(p->names, (p->name_count + 1) * sizeof *grown);
    if (grown)
        p->names = grown;
    char *copy = grown ? strdup(name) : NULL;
    if (!copy) {
        p->lost = 1;
        return "?";
    }
    return p->names[p->name_count++] = copy;
}

// The queue takes the number of one that is gone, of the same kind, from an earlier repetition: a program that makes a queue
// in each has one number for all.
struct profile_queue *profile__queue_add(struct profile *p, cl_command_queue id)
{
    struct profile_queue q = {.id = id, .rep = -1};
    cl_command_queue_properties props = 0;
    size_t grain = 0;
    profile__next.clGetCommandQueueInfo(id, CL_QUEUE_DEVICE, sizeof q.device, &q.device, NULL);
    profile__next.clGetCommandQueueInfo(id, CL_QUEUE_PROPERTIES, sizeof props, &props, NULL);
    profile__next.clGetDeviceInfo(q.device, CL_DEVICE_PROFILING_TIMER_RESOLUTION, sizeof grain, &grain, NULL);
    q.grain_ns = (int64_t)grain;
    q.out_of_order = (props & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
    if (!(props & CL_QUEUE_PROFILING_ENABLE))
        q.untimed = "the queue has no profiling";
    size_t at = p->queue_count;
    for (size_t i = p->queue_count; i-- > 0;) {
        struct profile_queue *old = &p->queues[i];
        old->id = old->id == id ? NULL : old->id; // its end was not seen
        if (!old->id && old->rep != p->rep && old->device == q.device && old->out_of_order == q.out_of_order &&
            !old->untimed == !q.untimed)
            at = i;
    }
    if (at == p->queue_count) {
        struct profile_queue *grown = realloc(p->queues, (p->queue_count + 1) * sizeof *grown);
        if (!grown) {
            p->lost = 1;
            return NULL;
        }
        p->queues = grown;
        p->queue_count++;
    }
    p->queues[at] = q;
    return &p->queues[at];
}

void profile__queue_release(struct profile *p, cl_command_queue id)
{
    // weft drops a queue once; other programs may hold it further, and a driver counts references of its own.
    for (size_t i = 0; i < p->queue_count && id && !p->settle_often; i++)
        if (p->queues[i].id == id)
            p->queues[i].id = NULL;
}

struct profile_queue *profile__queue(struct profile *p, cl_command_queue id)
{
    for (size_t i = 0; i < p->queue_count; i++)
        if (p->queues[i].id == id)
            return &p->queues[i];
    return profile__queue_add(p, id);
}

struct profile_kernel *profile__kernel(struct profile *p, cl_kernel id)
{
    size_t empty = p->kernel_count;
    for (size_t i = p->kernel_count; i-- > 0;) {
        if (p->kernels[i].id == id)
            return &p->kernels[i];
        empty = p->kernels[i].id ? empty : i;
    }
    if (empty == p->kernel_count) {
        struct profile_kernel *grown = realloc(p->kernels, (p->kernel_count + 1) * sizeof *grown);
        if (!grown) {
            p->lost = 1;
            return NULL;
        }
        p->kernels = grown;
        p->kernel_count++;
    }
    p->kernels[empty] = (struct profile_kernel){.id = id};
    return &p->kernels[empty];
}

void profile__kernel_release(struct profile *p, cl_kernel id)
{
    cl_uint references = 0;
    if (!id || !profile__next.clGetKernelInfo ||
        profile__next.clGetKernelInfo(id, CL_KERNEL_REFERENCE_COUNT, sizeof references, &references, NULL) !=
            CL_SUCCESS ||
        references != 1)
        return;
    for (size_t i = 0; i < p->kernel_count; i++)
        if (p->kernels[i].id == id) {
            free(p->kernels[i].name);
            free(p->kernels[i].args);
            p->kernels[i] = (struct profile_kernel){.id = NULL};
        }
}

int profile__kernel_is_kept(const struct profile *p, cl_kernel id)
{
    size_t i = p->kept_count;
    while (i > 0 && p->kept[i - 1] != id)
        i--;
    return i > 0;
}

void profile__kernel_keep(struct profile *p, cl_kernel id)
{
    if (profile__kernel_is_kept(p, id))
        return;
    if (!profile__grow(&p->kept, &p->kept_room, p->kept_count, sizeof(cl_kernel)))
        p->lost = 1;
    else if (profile__next.clRetainKernel(id) == CL_SUCCESS)
        p->kept[p->kept_count++] = id;
}

void profile__kernels_let_go(struct profile *p)
{
    for (size_t i = 0; i < p->kept_count; i++) {
        profile__kernel_release(p, p->kept[i]);
        profile__next.clReleaseKernel(p->kept[i]);
    }
    p->kept_count = 0;
}

void profile__kernels_forget(struct profile *p)
{
    for (size_t i = 0; i < p->kernel_count; i++) {
        free(p->kernels[i].name);
        free(p->kernels[i].args);
    }
    p->kernel_count = 0;
}

// Place of `id`, or where it would go: linear probing, never full.
static size_t buffer_place(const struct profile *p, cl_mem id)
{
    size_t at = ((uintptr_t)id >> 4) * 0x9e3779b97f4a7c15u % p->buffer_room;
    while (p->buffers[at].id && p->buffers[at].id != id)
        at = at + 1 == p->buffer_room ? 0 : at + 1;
    return at;
}

void profile__buffer_set(struct profile *p, cl_mem id, size_t bytes)
{
    if (2 * (p->buffer_count + 1) > p->buffer_room) {
        struct profile_buffer *old = p->buffers;
        size_t room = p->buffer_room;
        struct profile_buffer *grown = calloc(2 * room + 64, sizeof *grown);
        if (!grown) {
            p->lost = 1;
            return;
        }
        p->buffers = grown;
        p->buffer_room = 2 * room + 64;
        for (size_t i = 0; i < room; i++)
            if (old[i].id)
                p->buffers[buffer_place(p, old[i].id)] = old[i];
        free(old);
    }
    size_t at = buffer_place(p, id);
    p->buffer_count += !p->buffers[at].id;
    p->buffers[at] = (struct profile_buffer){id, bytes};
}

int profile__buffer_get(const struct profile *p, cl_mem id, size_t *bytes)
{
    if (!p->buffer_room || !id)
        return 0;
    size_t at = buffer_place(p, id);
    *bytes = p->buffers[at].bytes;
    return p->buffers[at].id == id;
}
