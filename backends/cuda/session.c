// SPDX-License-Identifier: Apache-2.0
// Finds the CUDA device that is the OpenCL device of the bench, and times what runs on it by CUDA events.
#include "session.h"
#include "backends/trace.h"
#include "host/common/clock.h"
#include "host/internal/inside.h"

#include <sched.h>
#include <string.h>

// What clGetDeviceInfo is asked for: cl_khr_device_uuid, cl_nv_device_attribute_query.
enum { QUERY_UUID = 0x106A, QUERY_PCI_BUS_NV = 0x4008, QUERY_PCI_DOMAIN_NV = 0x400A };
// How long a run waits at most for the host to enqueue all of it; a call that itself waits for the device needs a limit.
#define GATE_MS 5.0

weft_status weft__cuda_fail(cudaError_t error, const char *what, struct weft_error *err)
{
    if (error == cudaSuccess)
        return WEFT_OK;
    cudaGetLastError(); // or the next call would report this error once more
    return weft__error(err, error == cudaErrorMemoryAllocation ? WEFT_EDEVMEM : WEFT_EDEVICE, "%s: CUDA: %s", what,
                       cudaGetErrorString(error));
}

// ---- the device ------------------------------------------------------------------------------------------------

// Whether CUDA device `device` is the OpenCL device: the same UUID, or with old drivers the same PCI domain and bus.
static int device_is(int device, cl_device_id id)
{
    unsigned char uuid[16];
    cl_uint bus, domain = 0;
    struct cudaDeviceProp prop;
    if (cudaGetDeviceProperties(&prop, device) != cudaSuccess)
        return 0;
    if (weft__cl.clGetDeviceInfo(id, QUERY_UUID, sizeof uuid, uuid, NULL) == CL_SUCCESS)
        return !memcmp(uuid, prop.uuid.bytes, sizeof uuid);
    if (weft__cl.clGetDeviceInfo(id, QUERY_PCI_BUS_NV, sizeof bus, &bus, NULL) != CL_SUCCESS)
        return 0;
    weft__cl.clGetDeviceInfo(id, QUERY_PCI_DOMAIN_NV, sizeof domain, &domain, NULL);
    return (cl_uint)prop.pciBusID == bus && (cl_uint)prop.pciDomainID == domain;
}

static weft_status device_find(struct weft_context *ctx, int *device, struct weft_error *err)
{
    int count = 0; // stays as it is when there is no driver
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || !count) {
        cudaGetLastError();
        return weft__error(err, WEFT_ENODEV, "no CUDA device (%s)", cudaGetErrorString(error));
    }
    if (!ctx)
        return weft__error(err, WEFT_ENODEV, "no OpenCL device");
    for (*device = 0; *device < count; ++*device)
        if (device_is(*device, ctx->device.id))
            return WEFT_OK;
    cudaGetLastError();
    return weft__error(err, WEFT_ENODEV, "%s is no CUDA device", ctx->device.name);
}

weft_status weft__cuda_probe(struct weft_context *ctx, struct weft_error *err)
{
    int device = 0;
    return device_find(ctx, &device, err);
}

// ---- sessions --------------------------------------------------------------------------------------------------

weft_status weft__cuda_open(struct cuda_session *s, struct weft_context *ctx, const char *library,
                            struct weft_error *err)
{
    int device = 0;
    s->library = library;
    weft_status status = device_find(ctx, &device, err);
    if (!status)
        status = weft__cuda_fail(cudaSetDevice(device), "cudaSetDevice", err);
    if (!status)
        status = weft__cuda_fail(cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking), "cudaStreamCreate", err);
    if (!status)
        status = weft__cuda_fail(cudaEventCreate(&s->start), "cudaEventCreate", err);
    if (!status)
        status = weft__cuda_fail(cudaEventCreate(&s->stop), "cudaEventCreate", err);
    return status;
}

void weft__cuda_close(struct cuda_session *s)
{
    if (s->stream)
        cudaStreamSynchronize(s->stream);
    for (int i = 0; i < s->block_count; i++)
        cudaFree(s->blocks[i]);
    if (s->start)
        cudaEventDestroy(s->start);
    if (s->stop)
        cudaEventDestroy(s->stop);
    if (s->stream)
        cudaStreamDestroy(s->stream);
    cudaGetLastError();
    memset(s, 0, sizeof *s);
}

weft_status weft__cuda_take(struct cuda_session *s, void **out, size_t bytes, const char *what, struct weft_error *err)
{
    void *block = NULL;
    *out = NULL;
    if (s->block_count == CUDA_BLOCKS_MAX)
        return weft__error(err, WEFT_ENOMEM, "more than %d blocks of device memory", CUDA_BLOCKS_MAX);
    bytes = weft__max(bytes, 1);
    double begin = clock_ms();
    cudaError_t error = cudaMalloc(&block, bytes);
    weft__trace_command(WEFT_TRACE_ALLOCATE, "cudaMalloc", -1, begin, clock_ms(), 0);
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        return weft__error(err, WEFT_EDEVMEM, "out of device memory: %zu bytes for %s", bytes, what);
    }
    if (error != cudaSuccess)
        return weft__cuda_fail(error, what, err);
    s->blocks[s->block_count++] = *out = block;
    return weft__cuda_poison(s, block, bytes, err);
}

// The stream does not wait for the default one, hence the second call.
weft_status weft__cuda_poison(struct cuda_session *s, void *block, size_t bytes, struct weft_error *err)
{
    weft__trace_own(1);
    cudaError_t error = bytes ? cudaMemsetAsync(block, 0xff, bytes, s->stream) : cudaSuccess;
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(s->stream);
    weft__trace_own(0);
    return weft__cuda_fail(error, "cudaMemsetAsync", err);
}

weft_status weft__cuda_have(struct cuda_session *call, void **out, const void *from, size_t bytes, const char *what,
                            struct weft_error *err)
{
    *out = NULL;
    if (call->block_count == CUDA_BLOCKS_MAX)
        return weft__error(err, WEFT_ENOMEM, "more than %d blocks of device memory", CUDA_BLOCKS_MAX);
    weft_status status = weft__cuda_fail(cudaMalloc(out, weft__max(bytes, 1)), what, err);
    if (status)
        return status;
    call->blocks[call->block_count++] = *out;
    return from && bytes ? weft__cuda_fail(cudaMemcpy(*out, from, bytes, cudaMemcpyHostToDevice), what, err) : WEFT_OK;
}

// The session's stream does not wait for the default one, in which copies run.
weft_status weft__cuda_settle(struct weft_error *err)
{
    return weft__cuda_fail(cudaDeviceSynchronize(), "cudaDeviceSynchronize", err);
}

void weft__cuda_drop(struct cuda_session *call)
{
    for (int i = 0; i < call->block_count; i++)
        cudaFree(call->blocks[i]);
    cudaGetLastError();
    call->block_count = 0;
}

static weft_status copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, double *ms,
                        struct weft_error *err)
{
    double start = clock_ms();
    cudaError_t error = bytes ? cudaMemcpy(to, from, bytes, kind) : cudaSuccess;
    if (error == cudaSuccess && bytes)
        error = cudaDeviceSynchronize(); // a copy from pageable memory may return earlier
    double end = clock_ms();
    *ms = (*ms > 0 ? *ms : 0) + end - start;
    if (error == cudaSuccess && bytes)
        weft__trace_command(kind == cudaMemcpyHostToDevice ? WEFT_TRACE_WRITE : WEFT_TRACE_READ, "cudaMemcpy",
                            (int64_t)bytes, start, end, 0);
    return weft__cuda_fail(error, "cudaMemcpy", err);
}

weft_status weft__cuda_write(void *to, const void *from, size_t bytes, double *ms, struct weft_error *err)
{
    return copy(to, from, bytes, cudaMemcpyHostToDevice, ms, err);
}

weft_status weft__cuda_read(void *to, const void *from, size_t bytes, double *ms, struct weft_error *err)
{
    return copy(to, from, bytes, cudaMemcpyDeviceToHost, ms, err);
}

static void CUDART_CB gate_wait(void *arg)
{
    struct cuda_session *s = arg;
    double start = clock_ms();
    while (!atomic_load(&s->gate) && clock_ms() - start < GATE_MS)
        sched_yield();
}

weft_status weft__cuda_begin(struct cuda_session *s, struct weft_error *err)
{
    atomic_store(&s->gate, 0);
    weft_status status = weft__cuda_fail(cudaLaunchHostFunc(s->stream, gate_wait, s), "cudaLaunchHostFunc", err);
    return status ? status : weft__cuda_fail(cudaEventRecord(s->start, s->stream), "cudaEventRecord", err);
}

weft_status weft__cuda_end(struct cuda_session *s, weft_status status, double *ms, struct weft_error *err)
{
    float span = 0;
    if (!status)
        status = weft__cuda_fail(cudaEventRecord(s->stop, s->stream), "cudaEventRecord", err);
    double start = clock_ms();
    atomic_store(&s->gate, 1);
    cudaError_t error = cudaStreamSynchronize(s->stream);
    double end = clock_ms();
    if (!status)
        status = weft__cuda_fail(error, "cudaStreamSynchronize", err);
    if (!status)
        status = weft__cuda_fail(cudaEventElapsedTime(&span, s->start, s->stop), "cudaEventElapsedTime", err);
    *ms = (double)span;
    if (!status)
        weft__trace_command(WEFT_TRACE_KERNEL, s->library, -1, start, end, *ms);
    return status;
}
