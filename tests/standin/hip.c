// SPDX-License-Identifier: Apache-2.0
// HIP's part of the stand-in: device memory at addresses where the host has none, streams, events.
#include "standin.h"

#include <hip/hip_runtime_api.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Where device memory seems to be: no process maps anything there, so that the host cannot read it by mistake.
#define DEVICE_BASE UINT64_C(0x200000000000)

struct ihipStream_t {
    struct standin_object object;
};
struct ihipEvent_t {
    struct standin_object object;
    int recorded, waited;
    double ms;
};
struct block {
    uint64_t device;
    size_t bytes;
    void *host;
};
static struct {
    int devices, device;
    long alive, calls, fail, sparse, timed;
    const void *recorded; // the stream of the last record
    char complaint[256];
    struct standin_object *objects;
    struct block *blocks;
    size_t nblocks;
    uint64_t next;
    int *later;
    int later_value;
    hipStreamCallback_t callback; // that the stream will make
    hipStream_t callback_stream;
    void *callback_arg;
} all;

void standin_reset(int devices)
{
    for (struct standin_object *o = all.objects, *next; o; o = next) {
        next = o->next;
        free(o);
    }
    for (size_t i = 0; i < all.nblocks; i++)
        free(all.blocks[i].host);
    free(all.blocks);
    memset(&all, 0, sizeof all);
    all.devices = devices;
    all.next = DEVICE_BASE;
}

long standin_alive(void)
{
    return all.alive;
}

const char *standin_complaint(void)
{
    return all.complaint[0] ? all.complaint : NULL;
}

void standin_fail(long call)
{
    all.fail = call ? all.calls + call : 0;
}

long standin_calls(void)
{
    return all.calls;
}

long standin_timed(void)
{
    return all.timed;
}

int standin_device(void)
{
    return all.device;
}

int standin_enter(void)
{
    all.calls++;
    return all.calls == all.fail;
}

void standin_count_sparse(const void *stream)
{
    all.sparse += stream == all.recorded;
}

void standin_complain(const char *format, ...)
{
    va_list args;
    if (all.complaint[0])
        return;
    va_start(args, format);
    vsnprintf(all.complaint, sizeof all.complaint, format, args);
    va_end(args);
}

// ---- objects ----

void *standin_create(enum standin_kind kind, size_t bytes)
{
    struct standin_object *object = calloc(1, bytes);
    if (!object)
        abort();
    *object = (struct standin_object){kind, 1, all.objects};
    all.objects = object;
    all.alive++;
    return object;
}

int standin_is(const void *object, enum standin_kind kind)
{
    for (const struct standin_object *o = all.objects; o; o = o->next)
        if (o == object && o->kind == kind && o->alive)
            return 1;
    standin_complain("a handle of kind %d is not alive", (int)kind);
    return 0;
}

void standin_destroy(const void *object)
{
    for (struct standin_object *o = all.objects; o; o = o->next)
        if (o == object)
            o->alive = 0;
    all.alive--;
}

// ---- memory ----

static struct block *block_of(const void *device)
{
    uint64_t at = (uint64_t)(uintptr_t)device;
    for (size_t i = 0; i < all.nblocks; i++)
        if (all.blocks[i].host && at >= all.blocks[i].device && at - all.blocks[i].device <= all.blocks[i].bytes)
            return &all.blocks[i];
    return NULL;
}

void *standin_at(const void *device, size_t bytes, const char *what)
{
    struct block *block = block_of(device);
    if (!block) {
        standin_complain("%s is not in device memory", what);
        return NULL;
    }
    size_t offset = (size_t)((uint64_t)(uintptr_t)device - block->device);
    if (bytes > block->bytes - offset) {
        standin_complain("%s has %zu bytes, %zu are needed", what, block->bytes - offset, bytes);
        return NULL;
    }
    return (char *)block->host + offset;
}

void standin_later(int *to, int value)
{
    all.later = to;
    all.later_value = value;
}

static void wait_all(void)
{
    if (all.callback)
        all.callback(all.callback_stream, hipSuccess, all.callback_arg);
    all.callback = NULL;
    if (all.later)
        *all.later = all.later_value;
    all.later = NULL;
}

hipError_t hipMalloc(void **memory, size_t bytes)
{
    if (standin_enter())
        return hipErrorOutOfMemory;
    struct block *grown = realloc(all.blocks, (all.nblocks + 1) * sizeof *grown);
    void *host = malloc(bytes + 1);
    if (!grown || !host)
        abort();
    all.blocks = grown;
    all.blocks[all.nblocks++] = (struct block){all.next, bytes, host};
    *memory = (void *)(uintptr_t)all.next;
    all.next += (bytes + 0x1fff) & ~UINT64_C(0xfff); // a page lies between two blocks
    all.alive++;
    return hipSuccess;
}

hipError_t hipFree(void *memory)
{
    struct block *block = block_of(memory);
    wait_all();
    if (!memory)
        return hipSuccess;
    if (!block || block->device != (uint64_t)(uintptr_t)memory) {
        standin_complain("hipFree of what hipMalloc did not give");
        return hipErrorInvalidValue;
    }
    free(block->host);
    block->host = NULL;
    all.alive--;
    return hipSuccess;
}

hipError_t hipMemset(void *memory, int byte, size_t bytes)
{
    if (standin_enter())
        return hipErrorUnknown;
    void *host = standin_at(memory, bytes, "hipMemset: memory");
    if (!host)
        return hipErrorInvalidValue;
    memset(host, byte, bytes);
    return hipSuccess;
}

hipError_t hipMemcpy(void *to, const void *from, size_t bytes, hipMemcpyKind kind)
{
    if (standin_enter())
        return hipErrorUnknown;
    wait_all();
    if (kind != hipMemcpyHostToDevice && kind != hipMemcpyDeviceToHost)
        return hipErrorInvalidValue;
    const int down = kind == hipMemcpyDeviceToHost;
    void *device = standin_at(down ? from : to, bytes, "hipMemcpy: the device's side");
    if (!device)
        return hipErrorInvalidValue;
    if (block_of(down ? to : from)) {
        standin_complain("hipMemcpy: the host's side is in device memory");
        return hipErrorInvalidValue;
    }
    memcpy(down ? to : device, down ? device : from, bytes);
    return hipSuccess;
}

// ---- devices, streams, events ----

const char *hipGetErrorString(hipError_t error)
{
    return error == hipErrorOutOfMemory    ? "out of memory"
           : error == hipErrorInvalidValue ? "invalid argument"
                                           : "error";
}

hipError_t hipGetDeviceCount(int *count)
{
    if (standin_enter())
        return hipErrorUnknown;
    *count = all.devices;
    return all.devices ? hipSuccess : hipErrorNoDevice;
}

hipError_t hipDeviceGetPCIBusId(char *id, int length, int device)
{
    static const char *const ids[] = {"0000:03:00.0", "0000:83:00.0", "0001:03:00.0"};
    if (standin_enter())
        return hipErrorUnknown;
    if (device < 0 || device >= all.devices || length < 13) {
        standin_complain("hipDeviceGetPCIBusId: device %d, room for %d", device, length);
        return hipErrorInvalidDevice;
    }
    memcpy(id, ids[device], 13);
    return hipSuccess;
}

hipError_t hipSetDevice(int device)
{
    if (standin_enter() || device < 0 || device >= all.devices)
        return hipErrorInvalidDevice;
    all.device = device;
    return hipSuccess;
}

hipError_t hipStreamCreate(hipStream_t *stream)
{
    if (standin_enter())
        return hipErrorOutOfMemory;
    *stream = standin_create(STANDIN_STREAM, sizeof **stream);
    return hipSuccess;
}

hipError_t hipStreamDestroy(hipStream_t stream)
{
    if (!standin_is(stream, STANDIN_STREAM))
        return hipErrorInvalidHandle;
    standin_destroy(stream);
    return hipSuccess;
}

hipError_t hipStreamSynchronize(hipStream_t stream)
{
    if (standin_enter())
        return hipErrorUnknown;
    if (!standin_is(stream, STANDIN_STREAM))
        return hipErrorInvalidHandle;
    wait_all();
    return hipSuccess;
}

hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback, void *userData, unsigned int flags)
{
    if (standin_enter())
        return hipErrorUnknown;
    if (!standin_is(stream, STANDIN_STREAM) || flags)
        return hipErrorInvalidValue;
    all.callback = callback;
    all.callback_stream = stream;
    all.callback_arg = userData;
    return hipSuccess;
}

hipError_t hipEventCreate(hipEvent_t *event)
{
    if (standin_enter())
        return hipErrorOutOfMemory;
    *event = standin_create(STANDIN_EVENT, sizeof **event);
    return hipSuccess;
}

hipError_t hipEventDestroy(hipEvent_t event)
{
    if (!standin_is(event, STANDIN_EVENT))
        return hipErrorInvalidHandle;
    standin_destroy(event);
    return hipSuccess;
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream)
{
    struct timespec now;
    if (standin_enter())
        return hipErrorUnknown;
    if (!standin_is(event, STANDIN_EVENT) || !standin_is(stream, STANDIN_STREAM))
        return hipErrorInvalidHandle;
    clock_gettime(CLOCK_MONOTONIC, &now);
    event->ms = (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
    event->recorded = 1;
    event->waited = 0;
    all.timed = all.recorded == stream ? all.sparse : 0;
    all.sparse = 0;
    all.recorded = stream;
    return hipSuccess;
}

hipError_t hipEventSynchronize(hipEvent_t event)
{
    if (standin_enter())
        return hipErrorUnknown;
    if (!standin_is(event, STANDIN_EVENT) || !event->recorded)
        return hipErrorInvalidHandle;
    event->waited = 1;
    wait_all();
    return hipSuccess;
}

hipError_t hipEventElapsedTime(float *ms, hipEvent_t start, hipEvent_t stop)
{
    if (standin_enter())
        return hipErrorUnknown;
    if (!standin_is(start, STANDIN_EVENT) || !standin_is(stop, STANDIN_EVENT) || !start->recorded || !stop->recorded)
        return hipErrorInvalidHandle;
    if (!stop->waited) {
        standin_complain("hipEventElapsedTime: nobody has waited for the event");
        return hipErrorNotReady;
    }
    *ms = (float)(stop->ms - start->ms);
    return hipSuccess;
}
