// SPDX-License-Identifier: Apache-2.0
// A layer of OpenCL below which every device takes smaller work-groups and has less local memory than it does. It keeps
// to what it says: a launch beyond it fails as it would on such a device, and is counted. What is lied about stands in
// WEFT_TEST_LIMITS, as numbers after words:
//
//     wg 64 local 16384 kernel 32     kernel: of each kernel, by itself (default wg)
#include "layer.h"

#include <CL/cl_layer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default"))) CL_API_ENTRY cl_int CL_API_CALL

static cl_icd_dispatch below, mine;
static size_t wg_most, kernel_most;
static cl_ulong local_most;
static cl_uint refused;

static cl_int answer(const void *from, size_t bytes, size_t size, void *value, size_t *needed)
{
    if (needed)
        *needed = bytes;
    if (value && size < bytes)
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, from, bytes);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL my_platform(cl_platform_id platform, cl_platform_info what, size_t size, void *value,
                                      size_t *needed)
{
    if (what == LIMITS_REFUSED)
        return answer(&refused, sizeof refused, size, value, needed);
    return below.clGetPlatformInfo(platform, what, size, value, needed);
}

static cl_int CL_API_CALL my_device(cl_device_id device, cl_device_info what, size_t size, void *value, size_t *needed)
{
    const size_t items[3] = {wg_most, 1, 1};
    if (what == CL_DEVICE_MAX_WORK_GROUP_SIZE)
        return answer(&wg_most, sizeof wg_most, size, value, needed);
    if (what == CL_DEVICE_MAX_WORK_ITEM_SIZES)
        return answer(items, sizeof items, size, value, needed);
    if (what == CL_DEVICE_LOCAL_MEM_SIZE)
        return answer(&local_most, sizeof local_most, size, value, needed);
    return below.clGetDeviceInfo(device, what, size, value, needed);
}

static cl_int CL_API_CALL my_kernel(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what, size_t size,
                                    void *value, size_t *needed)
{
    if (what == CL_KERNEL_WORK_GROUP_SIZE)
        return answer(&kernel_most, sizeof kernel_most, size, value, needed);
    return below.clGetKernelWorkGroupInfo(kernel, device, what, size, value, needed);
}

static cl_int CL_API_CALL my_run(cl_command_queue queue, cl_kernel kernel, cl_uint dims, const size_t *first,
                                 const size_t *global, const size_t *local, cl_uint nwait, const cl_event *wait,
                                 cl_event *event)
{
    cl_device_id device;
    cl_ulong bytes = 0;
    if (local && local[0] > kernel_most) {
        refused++;
        return CL_INVALID_WORK_GROUP_SIZE;
    }
    if (below.clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL) == CL_SUCCESS &&
        below.clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof bytes, &bytes, NULL) ==
            CL_SUCCESS &&
        bytes > local_most) {
        refused++;
        return CL_OUT_OF_RESOURCES;
    }
    return below.clEnqueueNDRangeKernel(queue, kernel, dims, first, global, local, nwait, wait, event);
}

EXPORT clGetLayerInfo(cl_layer_info what, size_t size, void *value, size_t *needed)
{
    static const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    static const char name[] = "limits";
    return what == CL_LAYER_API_VERSION ? answer(&version, sizeof version, size, value, needed)
           : what == CL_LAYER_NAME      ? answer(name, sizeof name, size, value, needed)
                                        : CL_INVALID_VALUE;
}

EXPORT clInitLayer(cl_uint count, const cl_icd_dispatch *target, cl_uint *count_out, const cl_icd_dispatch **out)
{
    const size_t bytes = count * sizeof(void *);
    memcpy(&below, target, bytes < sizeof below ? bytes : sizeof below);
    const struct limits limits = limits_read();
    wg_most = limits.wg;
    kernel_most = limits.kernel;
    local_most = limits.local;
    mine.clGetPlatformInfo = my_platform;
    mine.clGetDeviceInfo = my_device;
    mine.clGetKernelWorkGroupInfo = my_kernel;
    mine.clEnqueueNDRangeKernel = my_run;
    *count_out = sizeof mine / sizeof(void *);
    *out = &mine;
    return CL_SUCCESS;
}
