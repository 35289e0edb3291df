// SPDX-License-Identifier: Apache-2.0
// Faults at the table of OpenCL calls: make the n-th call of a kind fail, and count what stays alive.
#pragma once

#include "tap.h"

#include "host/internal/inside.h"

// Every call of the table can be made to fail: X(name, error that the driver would give). What ends a life, sets a status or
// waits is done all the same, and its error comes late.
#define FAULT_CALLS(X)                                                                                                 \
    X(clBuildProgram, CL_BUILD_PROGRAM_FAILURE)                                                                        \
    X(clCreateBuffer, CL_MEM_OBJECT_ALLOCATION_FAILURE)                                                                \
    X(clCreateCommandQueue, CL_OUT_OF_HOST_MEMORY)                                                                     \
    X(clCreateContext, CL_DEVICE_NOT_AVAILABLE)                                                                        \
    X(clCreateKernel, CL_OUT_OF_HOST_MEMORY)                                                                           \
    X(clCreateProgramWithBinary, CL_INVALID_BINARY)                                                                    \
    X(clCreateProgramWithSource, CL_OUT_OF_RESOURCES)                                                                  \
    X(clCreateUserEvent, CL_OUT_OF_HOST_MEMORY)                                                                        \
    X(clEnqueueBarrierWithWaitList, CL_OUT_OF_RESOURCES)                                                               \
    X(clEnqueueCopyBuffer, CL_OUT_OF_RESOURCES)                                                                        \
    X(clEnqueueMapBuffer, CL_MAP_FAILURE)                                                                              \
    X(clEnqueueMarkerWithWaitList, CL_OUT_OF_RESOURCES)                                                                \
    X(clEnqueueNDRangeKernel, CL_OUT_OF_RESOURCES)                                                                     \
    X(clEnqueueReadBuffer, CL_OUT_OF_HOST_MEMORY)                                                                      \
    X(clEnqueueUnmapMemObject, CL_INVALID_VALUE)                                                                       \
    X(clEnqueueWriteBuffer, CL_MEM_OBJECT_ALLOCATION_FAILURE)                                                          \
    X(clFinish, CL_OUT_OF_RESOURCES)                                                                                   \
    X(clFlush, CL_OUT_OF_RESOURCES)                                                                                    \
    X(clGetCommandQueueInfo, CL_INVALID_COMMAND_QUEUE)                                                                 \
    X(clGetContextInfo, CL_INVALID_CONTEXT)                                                                            \
    X(clGetDeviceIDs, CL_INVALID_PLATFORM)                                                                             \
    X(clGetDeviceInfo, CL_INVALID_DEVICE)                                                                              \
    X(clGetEventInfo, CL_INVALID_EVENT)                                                                                \
    X(clGetEventProfilingInfo, CL_PROFILING_INFO_NOT_AVAILABLE)                                                        \
    X(clGetKernelArgInfo, CL_INVALID_KERNEL)                                                                           \
    X(clGetKernelWorkGroupInfo, CL_INVALID_KERNEL)                                                                     \
    X(clGetMemObjectInfo, CL_INVALID_MEM_OBJECT)                                                                       \
    X(clGetPlatformIDs, -1001)                                                                                         \
    X(clGetPlatformInfo, CL_INVALID_PLATFORM)                                                                          \
    X(clGetProgramBuildInfo, CL_INVALID_PROGRAM)                                                                       \
    X(clGetProgramInfo, CL_OUT_OF_HOST_MEMORY)                                                                         \
    X(clReleaseCommandQueue, CL_INVALID_COMMAND_QUEUE)                                                                 \
    X(clReleaseContext, CL_INVALID_CONTEXT)                                                                            \
    X(clReleaseEvent, CL_INVALID_EVENT)                                                                                \
    X(clReleaseKernel, CL_INVALID_KERNEL)                                                                              \
    X(clReleaseMemObject, CL_INVALID_MEM_OBJECT)                                                                       \
    X(clReleaseProgram, CL_INVALID_PROGRAM)                                                                            \
    X(clRetainCommandQueue, CL_INVALID_COMMAND_QUEUE)                                                                  \
    X(clRetainContext, CL_INVALID_CONTEXT)                                                                             \
    X(clRetainEvent, CL_INVALID_EVENT)                                                                                 \
    X(clRetainMemObject, CL_INVALID_MEM_OBJECT)                                                                        \
    X(clSetKernelArg, CL_INVALID_ARG_SIZE)                                                                             \
    X(clSetMemObjectDestructorCallback, CL_OUT_OF_HOST_MEMORY)                                                         \
    X(clSetUserEventStatus, CL_INVALID_EVENT)                                                                          \
    X(clWaitForEvents, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)

enum fault_call {
#define FAULT_ENUM(name, error) FAULT_##name,
    FAULT_CALLS(FAULT_ENUM)
#undef FAULT_ENUM
        FAULT_COUNT
};
// As many as the table has, and each of its names once (fault_install): none is left out.
#define FAULT_ONE(name) +1
_Static_assert(FAULT_COUNT == WEFT__CL_CALLS(FAULT_ONE), "a call of the table cannot be made to fail");
#undef FAULT_ONE
const char *fault_name(enum fault_call call);

// Put the faults between the library and OpenCL; nothing fails yet. Calls of one thread only, but for those that the thread
// of a plan makes, with events.
void fault_install(void);
void fault_remove(void);
// Make the n-th call from now (n = 1, 2, ...) fail with its error of the list; n = 0: none. Counts start anew.
void fault_set(enum fault_call call, int n);
// The same with another error.
void fault_set_error(enum fault_call call, int n, cl_int error);
// The n-th call from now and all later ones.
void fault_set_ever(enum fault_call call, int n);
// Calls since fault_set, and whether one was made to fail.
int fault_calls(enum fault_call call);
int fault_hit(void);
// Contexts, queues, buffers, programs, kernels and events that were made or retained through the table and not
// released.
int fault_live(void);
