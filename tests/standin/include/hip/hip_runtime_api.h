// SPDX-License-Identifier: Apache-2.0
// The part of HIP's interface that backends/rocsparse calls, declared anew for machines without HIP's headers. Where
// those are installed, the stand-in is also compiled against them, so that the two cannot part.
#pragma once

#include <stddef.h>

typedef enum hipError_t {
    hipSuccess = 0,
    hipErrorInvalidValue = 1,
    hipErrorOutOfMemory = 2,
    hipErrorNoDevice = 100,
    hipErrorInvalidDevice = 101,
    hipErrorInvalidHandle = 400,
    hipErrorNotReady = 600,
    hipErrorUnknown = 999
} hipError_t;
typedef enum hipMemcpyKind { hipMemcpyHostToHost, hipMemcpyHostToDevice, hipMemcpyDeviceToHost } hipMemcpyKind;
typedef struct ihipStream_t *hipStream_t;
typedef struct ihipEvent_t *hipEvent_t;
typedef void (*hipStreamCallback_t)(hipStream_t stream, hipError_t status, void *userData);

const char *hipGetErrorString(hipError_t error);
hipError_t hipGetDeviceCount(int *count);
hipError_t hipDeviceGetPCIBusId(char *id, int length, int device);
hipError_t hipSetDevice(int device);
hipError_t hipStreamCreate(hipStream_t *stream);
hipError_t hipStreamDestroy(hipStream_t stream);
hipError_t hipStreamSynchronize(hipStream_t stream);
hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback, void *userData, unsigned int flags);
hipError_t hipEventCreate(hipEvent_t *event);
hipError_t hipEventDestroy(hipEvent_t event);
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream);
hipError_t hipEventSynchronize(hipEvent_t event);
hipError_t hipEventElapsedTime(float *ms, hipEvent_t start, hipEvent_t stop);
hipError_t hipMalloc(void **memory, size_t bytes);
hipError_t hipFree(void *memory);
hipError_t hipMemset(void *memory, int byte, size_t bytes);
hipError_t hipMemcpy(void *to, const void *from, size_t bytes, hipMemcpyKind kind);
