// SPDX-License-Identifier: Apache-2.0
// HIP's part of the stand-in: copies, streams, events.
#include "hip.h"

#include <hip/hip_runtime_api.h>
#include <string.h>
#include <time.h>

struct ihipStream_t {
    struct standin_object object;
};
struct ihipEvent_t {
    struct standin_object object;
    int recorded, waited;
    double ms;
};
static struct {
    long sparse, timed;
    const void *recorded; // the stream of the last record
    int *later;
    int later_value;
    hipStreamCallback_t callback; // that the stream will make
    hipStream_t callback_stream;
    void *callback_arg;
} all;

void standin_reset_runtime(void)
{
    memset(&all, 0, sizeof all);
}

long standin_timed(void)
{
    return all.timed;
}

void standin_count_sparse(const void *stream)
{
    all.sparse += stream == all.recorded;
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

// ---- memory ----

hipError_t hipMalloc(void **memory, size_t bytes)
{
    if (standin_enter())
        return hipErrorOutOfMemory;
    *memory = standin_alloc(bytes);
    return hipSuccess;
}

hipError_t hipFree(void *memory)
{
    wait_all();
    return !memory || standin_free(memory, "hipFree") ? hipSuccess : hipErrorInvalidValue;
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
    if (standin_on_device(down ? to : from)) {
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
    *count = standin_devices();
    return *count ? hipSuccess : hipErrorNoDevice;
}

hipError_t hipDeviceGetPCIBusId(char *id, int length, int device)
{
    static const char *const ids[] = {"0000:03:00.0", "0000:83:00.0", "0001:03:00.0"};
    if (standin_enter())
        return hipErrorUnknown;
    if (device < 0 || device >= standin_devices() || length < 13) {
        standin_complain("hipDeviceGetPCIBusId: device %d, room for %d", device, length);
        return hipErrorInvalidDevice;
    }
    memcpy(id, ids[device], 13);
    return hipSuccess;
}

hipError_t hipSetDevice(int device)
{
    return !standin_enter() && standin_set_device(device) ? hipSuccess : hipErrorInvalidDevice;
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
    return standin_destroy(stream, STANDIN_STREAM) ? hipSuccess : hipErrorInvalidHandle;
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
    return standin_destroy(event, STANDIN_EVENT) ? hipSuccess : hipErrorInvalidHandle;
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
