// SPDX-License-Identifier: Apache-2.0
// The calls of OpenCL that the recorder stands before, and what they go on to: weft's table of calls (weft.c), or what
// the loader gives a layer (layer.c).
#pragma once

#include "opencl.h"

// Recorded.
#define PROFILE_WRAPPED(X)                                                                                             \
    X(clBuildProgram)                                                                                                  \
    X(clCreateBuffer)                                                                                                  \
    X(clCreateCommandQueue)                                                                                            \
    X(clCreateKernel)                                                                                                  \
    X(clCreateProgramWithBinary)                                                                                       \
    X(clCreateProgramWithSource)                                                                                       \
    X(clEnqueueBarrierWithWaitList)                                                                                    \
    X(clEnqueueCopyBuffer)                                                                                             \
    X(clEnqueueMarkerWithWaitList)                                                                                     \
    X(clEnqueueNDRangeKernel)                                                                                          \
    X(clEnqueueReadBuffer)                                                                                             \
    X(clEnqueueWriteBuffer)                                                                                            \
    X(clFinish)                                                                                                        \
    X(clFlush)                                                                                                         \
    X(clReleaseCommandQueue)                                                                                           \
    X(clReleaseContext)                                                                                                \
    X(clReleaseKernel)                                                                                                 \
    X(clReleaseMemObject)                                                                                              \
    X(clSetKernelArg)                                                                                                  \
    X(clWaitForEvents)
// Recorded too, where programs other than weft call them.
#define PROFILE_WRAPPED_LAYER(X)                                                                                       \
    X(clCompileProgram)                                                                                                \
    X(clCreateCommandQueueWithProperties)                                                                              \
    X(clCreateKernelsInProgram)                                                                                        \
    X(clEnqueueCopyBufferRect)                                                                                         \
    X(clEnqueueFillBuffer)                                                                                             \
    X(clEnqueueMapBuffer)                                                                                              \
    X(clEnqueueReadBufferRect)                                                                                         \
    X(clEnqueueReadImage)                                                                                              \
    X(clEnqueueTask)                                                                                                   \
    X(clEnqueueUnmapMemObject)                                                                                         \
    X(clEnqueueWriteBufferRect)                                                                                        \
    X(clEnqueueWriteImage)                                                                                             \
    X(clLinkProgram)
// Asked by the recorder itself.
#define PROFILE_ASKED(X)                                                                                               \
    X(clGetCommandQueueInfo)                                                                                           \
    X(clGetDeviceInfo)                                                                                                 \
    X(clGetEventInfo)                                                                                                  \
    X(clGetEventProfilingInfo)                                                                                         \
    X(clGetKernelWorkGroupInfo)                                                                                        \
    X(clGetMemObjectInfo)                                                                                              \
    X(clGetPlatformInfo)                                                                                               \
    X(clGetProgramBuildInfo)                                                                                           \
    X(clGetProgramInfo)                                                                                                \
    X(clReleaseEvent)                                                                                                  \
    X(clReleaseProgram)                                                                                                \
    X(clRetainEvent)
// The same; weft's table lacks them. Of the last, the loader may be too old (NULL).
#define PROFILE_ASKED_MORE(X)                                                                                          \
    X(clGetImageInfo)                                                                                                  \
    X(clGetKernelInfo)                                                                                                 \
    X(clRetainKernel)                                                                                                  \
    X(clGetDeviceAndHostTimer)

struct profile_calls {
#define PROFILE_MEMBER(name) __typeof__(&name) name;
    PROFILE_WRAPPED(PROFILE_MEMBER)
    PROFILE_WRAPPED_LAYER(PROFILE_MEMBER)
    PROFILE_ASKED(PROFILE_MEMBER)
    PROFILE_ASKED_MORE(PROFILE_MEMBER)
#undef PROFILE_MEMBER
};
extern struct profile_calls profile__next; // set before anything is recorded
