// SPDX-License-Identifier: Apache-2.0
// The runtime's part of the stand-in: streams that do nothing until the host waits, events that count the calls of
// cuSPARSE between them as milliseconds.
#include "cuda.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WORK_MAX = 64 };

struct CUstream_st {
    struct standin_object object;
};
struct CUevent_st {
    struct standin_object object;
    int recorded, reached;
    long sparse;
};

static struct {
    long sparse;
    int nwork;
    struct standin_work work[WORK_MAX];
} all;

void standin_reset_runtime(void)
{
    memset(&all, 0, sizeof all);
}

void standin_count_sparse(void)
{
    all.sparse++;
}

void standin_csr2csc(const struct standin_work *w, size_t size)
{
    const int *row_ptr = w->in[0], *col = w->in[1];
    int *col_ptr = w->out[0], *row = w->out[1];
    const int64_t m = w->n[0], n = w->n[1], nnz = w->n[2];
    memset(col_ptr, 0, ((size_t)n + 1) * sizeof *col_ptr);
    for (int64_t p = 0; p < nnz; p++)
        col_ptr[col[p] + 1]++;
    for (int64_t j = 0; j < n; j++)
        col_ptr[j + 1] += col_ptr[j];
    for (int64_t i = 0; i < m; i++)
        for (int p = row_ptr[i]; p < row_ptr[i + 1]; p++) {
            int at = col_ptr[col[p]]++;
            row[at] = (int)i;
            if (w->out[2])
                memcpy((char *)w->out[2] + (size_t)at * size, (const char *)w->in[2] + (size_t)p * size, size);
        }
    for (int64_t j = n; j > 0; j--)
        col_ptr[j] = col_ptr[j - 1];
    col_ptr[0] = 0;
    standin_count_sparse();
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
    if (!standin_devices())
        return cudaErrorNoDevice;
    *count = standin_devices();
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device)
{
    memset(prop, 0, sizeof *prop);
    if (device < 0 || device >= standin_devices())
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
    return standin_set_device(device) ? cudaSuccess : cudaErrorInvalidDevice;
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
    if (standin_enter())
        return cudaErrorMemoryAllocation;
    if (!bytes)
        abort();
    *out = standin_alloc(bytes);
    memset(standin_at(*out, bytes, "cudaMalloc"), 0x5a, bytes);
    return cudaSuccess;
}

cudaError_t cudaFree(void *device)
{
    drain();
    return standin_free(device, "cudaFree") ? cudaSuccess : cudaErrorInvalidValue;
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
