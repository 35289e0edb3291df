// SPDX-License-Identifier: Apache-2.0
// The one table through which every OpenCL call of the library goes, so that tests can inject faults and tools can
// trace: weft__cl.clCreateBuffer(...).
#pragma once

#include <weft/device.h>

#define WEFT__CL_CALLS(X)                                                                                              \
    X(clBuildProgram)                                                                                                  \
    X(clCreateBuffer)                                                                                                  \
    X(clCreateCommandQueue)                                                                                            \
    X(clCreateContext)                                                                                                 \
    X(clCreateKernel)                                                                                                  \
    X(clCreateProgramWithBinary)                                                                                       \
    X(clCreateProgramWithSource)                                                                                       \
    X(clCreateUserEvent)                                                                                               \
    X(clEnqueueBarrierWithWaitList)                                                                                    \
    X(clEnqueueCopyBuffer)                                                                                             \
    X(clEnqueueMapBuffer)                                                                                              \
    X(clEnqueueMarkerWithWaitList)                                                                                     \
    X(clEnqueueNDRangeKernel)                                                                                          \
    X(clEnqueueReadBuffer)                                                                                             \
    X(clEnqueueUnmapMemObject)                                                                                         \
    X(clEnqueueWriteBuffer)                                                                                            \
    X(clFinish)                                                                                                        \
    X(clFlush)                                                                                                         \
    X(clGetCommandQueueInfo)                                                                                           \
    X(clGetContextInfo)                                                                                                \
    X(clGetDeviceIDs)                                                                                                  \
    X(clGetDeviceInfo)                                                                                                 \
    X(clGetEventInfo)                                                                                                  \
    X(clGetEventProfilingInfo)                                                                                         \
    X(clGetKernelArgInfo)                                                                                              \
    X(clGetKernelWorkGroupInfo)                                                                                        \
    X(clGetMemObjectInfo)                                                                                              \
    X(clGetPlatformIDs)                                                                                                \
    X(clGetPlatformInfo)                                                                                               \
    X(clGetProgramBuildInfo)                                                                                           \
    X(clGetProgramInfo)                                                                                                \
    X(clReleaseCommandQueue)                                                                                           \
    X(clReleaseContext)                                                                                                \
    X(clReleaseEvent)                                                                                                  \
    X(clReleaseKernel)                                                                                                 \
    X(clReleaseMemObject)                                                                                              \
    X(clReleaseProgram)                                                                                                \
    X(clRetainCommandQueue)                                                                                            \
    X(clRetainContext)                                                                                                 \
    X(clRetainEvent)                                                                                                   \
    X(clRetainMemObject)                                                                                               \
    X(clSetKernelArg)                                                                                                  \
    X(clSetMemObjectDestructorCallback)                                                                                \
    X(clSetUserEventStatus)                                                                                            \
    X(clWaitForEvents)

// Of OpenCL 2.1: declared here because headers for 1.2 hide it, NULL where the loader has none.
extern CL_API_ENTRY cl_int CL_API_CALL clGetKernelSubGroupInfo(cl_kernel, cl_device_id, cl_uint, size_t, const void *,
                                                               size_t, void *, size_t *) __attribute__((weak));

struct weft__cl_table {
#define WEFT__CL_MEMBER(name) __typeof__(&name) name;
    WEFT__CL_CALLS(WEFT__CL_MEMBER)
#undef WEFT__CL_MEMBER
    __typeof__(&clGetKernelSubGroupInfo) clGetKernelSubGroupInfo; // may be NULL
};
extern struct weft__cl_table weft__cl;

// "CL_OUT_OF_RESOURCES" for -5 and so on; "unknown OpenCL error" for what the table lacks.
const char *weft__cl_error_name(cl_int error);
