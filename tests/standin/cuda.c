// SPDX-License-Identifier: Apache-2.0
// The runtime's part of the stand-in: device memory at addresses where the host has none, streams that do nothing until
// the host waits, events that count the calls of cuSPARSE between them as milliseconds.
#include "cuda.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Where device memory seems to be: no process maps anything there, so that the host cannot read it by mistake.
#define DEVICE_BASE UINT64_C(0x200000000000)
enum { BLOCKS_MAX = 64, WORK_MAX = 64 };

struct CUstream_st {
    struct standin_object object;
};
struct CUevent_st {
    struct standin_object object;
    int recorded, reached;
    long sparse;
};

static struct {
    int devices, device;
    long alive, calls, fail, sparse;
    char complaint[256];
    struct standin_object *objects;
    struct {
        uint64_t device;
        size_t bytes;
        char *host;
    } blocks[BLOCKS_MAX];
    int nblocks, nwork;
    uint64_t next;
    struct standin_work work[WORK_MAX];
} all;

void standin_reset(int devices)
{
    for (struct standin_object *o = all.objects, *next; o; o = next) {
        next = o->next;
        free(o);
    }
    for (int i = 0; i < all.nblocks; i++)
        free(all.blocks[i].host);
    memset(&all, 0, sizeof all);
    all.devices = devices;
    all.device = -1;
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

int standin_device(void)
{
    return all.device;
}

int standin_enter(void)
{
    return ++all.calls == all.fail;
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

void standin_count_sparse(void)
{
    all.sparse++;
}

// ---- objects and memory ----------------------------------------------------------------------------------------

void *standin_create(enum standin_kind kind, size_t bytes)
{
    struct standin_object *object = calloc(1, bytes);
    if (!object)
        abort();
    object->kind = kind;
    object->alive = 1;
    object->next = all.objects;
    all.objects = object;
    all.alive++;
    return object;
}

int standin_is(const void *object, enum standin_kind kind)
{
    for (const struct standin_object *o = all.objects; o; o = o->next)
        if (o == object && o->kind == kind && o->alive)
            return 1;
    standin_complain("an object of kind %x is asked for, which this is not or no longer", kind);
    return 0;
}

void standin_destroy(void *object, enum standin_kind kind)
{
    if (standin_is(object, kind)) {
        ((struct standin_object *)object)->alive = 0;
        all.alive--;
    }
}

void *standin_at(const void *device, size_t bytes, const char *what)
{
    uint64_t at = (uint64_t)(uintptr_t)device;
    for (int i = 0; i < all.nblocks; i++)
        if (all.blocks[i].host && at >= all.blocks[i].device &&
            at - all.blocks[i].device + bytes <= all.blocks[i].bytes)
            return all.blocks[i].host + (at - all.blocks[i].device);
    standin_complain("%s: %zu bytes at %p are no device memory", what, bytes, device);
    return NULL;
}

static void drain(void)
{
    for (int i = 0; i < all.nwork; i++)
        all.work[i].run(&all.work[i]);
    all.nwork = 0;
}

void standin_enqueue(cudaStream_t stream, const struct standin_work *work)
{
    if (!standin_is(stream, STANDIN_STREAM))
        return;
    if (all.nwork == WORK_MAX)
        drain();
    all.work[all.nwork++] = *work;
}

// ---- entry points ----------------------------------------------------------------------------------------------

#define ENTER()                                                                                                        \
    if (standin_enter())                                                                                               \
    return cudaErrorUnknown

cudaError_t cudaGetDeviceCount(int *count)
{
    if (!all.devices)
        return cudaErrorNoDevice;
    *count = all.devices;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device)
{
    memset(prop, 0, sizeof *prop);
    if (device < 0 || device >= all.devices)
        return cudaErrorInvalidDevice;
    memset(prop->uuid.bytes, device + 1, sizeof prop->uuid.bytes);
    prop->pciBusID = 0x10 * (device + 1);
    prop->pciDomainID = device;
    return cudaSuccess;
}

cudaError_t cudaGetLastError(void)
{
    return cudaSuccess;
}

const char *cudaGetErrorString(cudaError_t error)
{
    return error == cudaErrorNoDevice           ? "no CUDA-capable device is detected"
           : error == cudaErrorMemoryAllocation ? "out of memory"
                                                : "unknown error";
}

cudaError_t cudaSetDevice(int device)
{
    ENTER();
    all.device = device;
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    ENTER();
    if (flags != cudaStreamNonBlocking)
        standin_complain("the stream waits for the default one");
    *stream = standin_create(STANDIN_STREAM, sizeof **stream);
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    standin_is(stream, STANDIN_STREAM);
    drain();
    ENTER();
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void)
{
    drain();
    ENTER();
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    if (all.nwork)
        standin_complain("a stream is destroyed with work in it");
    standin_destroy(stream, STANDIN_STREAM);
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    ENTER();
    *event = standin_create(STANDIN_EVENT, sizeof **event);
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    standin_destroy(event, STANDIN_EVENT);
    return cudaSuccess;
}

static void event_reach(const struct standin_work *work)
{
    cudaEvent_t event = work->out[0];
    event->reached = 1;
    event->sparse = all.sparse;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    ENTER();
    if (!standin_is(event, STANDIN_EVENT))
        return cudaErrorInvalidValue;
    event->recorded = 1;
    event->reached = 0;
    standin_enqueue(stream, &(struct standin_work){.run = event_reach, .out = {event}});
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t stop)
{
    ENTER();
    if (!standin_is(start, STANDIN_EVENT) || !standin_is(stop, STANDIN_EVENT))
        return cudaErrorInvalidValue;
    if (!start->reached || !stop->reached)
        standin_complain("the time of events is asked for that the device has not reached");
    *ms = (float)(stop->sparse - start->sparse);
    return cudaSuccess;
}

static void host_call(const struct standin_work *work)
{
    void (*fn)(void *) = NULL;
    struct timespec before, after;
    memcpy(&fn, &work->n[0], sizeof fn);
    clock_gettime(CLOCK_MONOTONIC, &before);
    fn(work->out[0]);
    clock_gettime(CLOCK_MONOTONIC, &after);
    if ((after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec > 4000000)
        standin_complain("a host function holds the stream while the host waits for it");
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *arg)
{
    ENTER();
    struct standin_work work = {.run = host_call, .out = {arg}};
    memcpy(&work.n[0], &fn, sizeof fn);
    standin_enqueue(stream, &work);
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **out, size_t bytes)
{
    if (standin_enter() || all.nblocks == BLOCKS_MAX)
        return cudaErrorMemoryAllocation;
    char *host = malloc(bytes + 1);
    if (!host || !bytes)
        abort();
    memset(host, 0x5a, bytes);
    all.blocks[all.nblocks].device = all.next;
    all.blocks[all.nblocks].bytes = bytes;
    all.blocks[all.nblocks++].host = host;
    *out = (void *)(uintptr_t)all.next;
    all.next += (bytes + 4095) / 4096 * 4096 + 4096; // no two blocks touch
    all.alive++;
    return cudaSuccess;
}

cudaError_t cudaFree(void *device)
{
    drain();
    for (int i = 0; i < all.nblocks; i++)
        if (all.blocks[i].host && all.blocks[i].device == (uint64_t)(uintptr_t)device) {
            free(all.blocks[i].host);
            all.blocks[i].host = NULL;
            all.alive--;
            return cudaSuccess;
        }
    standin_complain("cudaFree of %p", device);
    return cudaErrorInvalidValue;
}

static void fill(const struct standin_work *work)
{
    memset(work->out[0], (int)work->n[1], (size_t)work->n[0]);
}

cudaError_t cudaMemsetAsync(void *device, int value, size_t bytes, cudaStream_t stream)
{
    ENTER();
    void *to = standin_at(device, bytes, "cudaMemsetAsync");
    if (!to)
        return cudaErrorInvalidValue;
    standin_enqueue(stream, &(struct standin_work){.run = fill, .out = {to}, .n = {(int64_t)bytes, value}});
    return cudaSuccess;
}

static void copy(const struct standin_work *work)
{
    memcpy(work->out[0], work->in[0], (size_t)work->n[0]);
}

// Where a copy of this kind goes to and comes from; 0: not there.
static int copy_places(struct standin_work *work, void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    *work = (struct standin_work){.run = copy, .in = {from}, .out = {to}, .n = {(int64_t)bytes}};
    if (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice)
        work->out[0] = standin_at(to, bytes, "destination of a copy");
    if (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice)
        work->in[0] = standin_at(from, bytes, "source of a copy");
    return work->in[0] && work->out[0];
}

// Does not wait for a stream that is not to wait for the default one.
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    struct standin_work work;
    ENTER();
    if (!copy_places(&work, to, from, bytes, kind))
        return cudaErrorInvalidValue;
    copy(&work);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    struct standin_work work;
    ENTER();
    if (kind != cudaMemcpyDeviceToDevice)
        standin_complain("an asynchronous copy from or to the host");
    if (!copy_places(&work, to, from, bytes, kind))
        return cudaErrorInvalidValue;
    standin_enqueue(stream, &work);
    return cudaSuccess;
}
