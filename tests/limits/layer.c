// SPDX-License-Identifier: Apache-2.0
// A layer of OpenCL below which every device is smaller than it is. It keeps to what it says: a launch, a buffer, a queue
// or a program beyond it fails as it would on such a device, and is counted. What is lied about stands in
// WEFT_TEST_LIMITS, as numbers after words (layer.h):
//
//     wg 64 local 16384 kernel 32 fp64 0 atomics64 0 units 1 alloc 4194304 bits 32 ooo 0
#include "layer.h"
#include "tests/support/layer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cl_icd_dispatch below, mine;
static struct limits limits;
static cl_uint refused;

static cl_int refuse(cl_int error)
{
    refused++;
    return error;
}

static cl_int CL_API_CALL my_platform(cl_platform_id platform, cl_platform_info what, size_t size, void *value,
                                      size_t *needed)
{
    if (what == LIMITS_REFUSED)
        return layer_answer(&refused, sizeof refused, size, value, needed);
    return below.clGetPlatformInfo(platform, what, size, value, needed);
}

// The extensions of the device but those that it shall not have.
static cl_int extensions(cl_device_id device, size_t size, void *value, size_t *needed)
{
    static const char *const doubles[] = {"cl_khr_fp64", NULL};
    static const char *const atomics[] = {"cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics", NULL};
    static const char *const ballots[] = {"cl_khr_subgroup_ballot", NULL};
    static const char *const sizes[] = {"cl_intel_required_subgroup_size", NULL};
    const char *const *const gone[] = {limits.fp64 ? NULL : doubles, limits.atomics64 ? NULL : atomics,
                                       limits.ballot ? NULL : ballots, limits.sized ? NULL : sizes};
    size_t bytes = 0;
    cl_int error = below.clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, 0, NULL, &bytes);
    char *text = calloc(1, bytes + 1);
    if (error == CL_SUCCESS)
        error = text ? below.clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, bytes, text, NULL) : CL_OUT_OF_HOST_MEMORY;
    for (size_t i = 0; i < sizeof gone / sizeof *gone && error == CL_SUCCESS; i++)
        for (const char *const *name = gone[i]; name && *name; name++)
            for (char *at = strstr(text, *name); at; at = strstr(at, *name))
                at[0] = 'x'; // another word of the same length
    if (error == CL_SUCCESS)
        error = layer_answer(text, bytes, size, value, needed);
    free(text);
    return error;
}

static cl_int CL_API_CALL my_device(cl_device_id device, cl_device_info what, size_t size, void *value, size_t *needed)
{
    const size_t wg = limits.wg, items[3] = {limits.wg, 1, 1};
    const cl_ulong local = limits.local, alloc = limits.alloc, all = 4 * (cl_ulong)limits.alloc;
    const cl_uint units = limits.units, bits = limits.bits;
    const cl_device_fp_config no_double = 0;
    const cl_command_queue_properties in_order = CL_QUEUE_PROFILING_ENABLE;
    const struct {
        cl_device_info what;
        int lied;
        const void *from;
        size_t bytes;
    } answers[] = {{CL_DEVICE_MAX_WORK_GROUP_SIZE, 1, &wg, sizeof wg},
                   {CL_DEVICE_MAX_WORK_ITEM_SIZES, 1, items, sizeof items},
                   {CL_DEVICE_LOCAL_MEM_SIZE, 1, &local, sizeof local},
                   {CL_DEVICE_DOUBLE_FP_CONFIG, !limits.fp64, &no_double, sizeof no_double},
                   {CL_DEVICE_MAX_COMPUTE_UNITS, limits.units > 0, &units, sizeof units},
                   {CL_DEVICE_MAX_MEM_ALLOC_SIZE, limits.alloc > 0, &alloc, sizeof alloc},
                   {CL_DEVICE_GLOBAL_MEM_SIZE, limits.alloc > 0, &all, sizeof all},
                   {CL_DEVICE_ADDRESS_BITS, limits.bits > 0, &bits, sizeof bits},
                   {CL_DEVICE_QUEUE_PROPERTIES, !limits.ooo, &in_order, sizeof in_order}};
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        if (what == answers[i].what && answers[i].lied)
            return layer_answer(answers[i].from, answers[i].bytes, size, value, needed);
    return what == CL_DEVICE_EXTENSIONS ? extensions(device, size, value, needed)
                                        : below.clGetDeviceInfo(device, what, size, value, needed);
}

static cl_int CL_API_CALL my_kernel(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what, size_t size,
                                    void *value, size_t *needed)
{
    const size_t most = limits.kernel;
    if (what == CL_KERNEL_WORK_GROUP_SIZE)
        return layer_answer(&most, sizeof most, size, value, needed);
    return below.clGetKernelWorkGroupInfo(kernel, device, what, size, value, needed);
}

static cl_int CL_API_CALL my_run(cl_command_queue queue, cl_kernel kernel, cl_uint dims, const size_t *first,
                                 const size_t *global, const size_t *local, cl_uint nwait, const cl_event *wait,
                                 cl_event *event)
{
    cl_device_id device;
    cl_ulong bytes = 0;
    if (local && local[0] > limits.kernel)
        return refuse(CL_INVALID_WORK_GROUP_SIZE);
    if (limits.bits == 32 && global[0] > UINT32_MAX)
        return refuse(CL_INVALID_GLOBAL_WORK_SIZE);
    if (below.clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL) == CL_SUCCESS &&
        below.clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof bytes, &bytes, NULL) ==
            CL_SUCCESS &&
        bytes > limits.local)
        return refuse(CL_OUT_OF_RESOURCES);
    return below.clEnqueueNDRangeKernel(queue, kernel, dims, first, global, local, nwait, wait, event);
}

static cl_mem CL_API_CALL my_buffer(cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *error)
{
    cl_int ignored;
    if (limits.alloc && size > limits.alloc) {
        *(error ? error : &ignored) = refuse(CL_INVALID_BUFFER_SIZE);
        return NULL;
    }
    return below.clCreateBuffer(context, flags, size, host, error);
}

static cl_command_queue CL_API_CALL my_queue(cl_context context, cl_device_id device, cl_command_queue_properties asked,
                                             cl_int *error)
{
    cl_int ignored;
    if (!limits.ooo && (asked & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)) {
        *(error ? error : &ignored) = refuse(CL_INVALID_QUEUE_PROPERTIES);
        return NULL;
    }
    return below.clCreateCommandQueue(context, device, asked, error);
}

// What the device lacks is no word that its compiler knows.
static cl_program CL_API_CALL my_program(cl_context context, cl_uint count, const char **texts, const size_t *lengths,
                                         cl_int *error)
{
    static const char no_double[] = "#define double no_double_precision\n#define convert_double no_double_precision\n";
    static const char no_atomics[] = "#define atom_add no_64_bit_atomics\n#define atom_xchg no_64_bit_atomics\n"
                                     "#define atom_cmpxchg no_64_bit_atomics\n";
    enum { OWN = 4 };
    const char **all = calloc((size_t)count + OWN, sizeof *all);
    size_t *sizes = calloc((size_t)count + OWN, sizeof *sizes); // 0: up to the NUL
    cl_program program = NULL;
    if (all && sizes) {
        all[0] = limits.fp64 ? "" : no_double;
        all[1] = limits.atomics64 ? "" : no_atomics;
        all[2] = limits.ballot ? "" : "#define sub_group_ballot no_ballot\n";
        all[3] = limits.sized ? "" : "#define intel_reqd_sub_group_size no_size_on_request\n";
        for (cl_uint i = 0; i < count; i++) {
            all[i + OWN] = texts[i];
            sizes[i + OWN] = lengths ? lengths[i] : 0;
        }
        program = below.clCreateProgramWithSource(context, count + OWN, all, sizes, error);
    } else if (error) {
        *error = CL_OUT_OF_HOST_MEMORY;
    }
    free(all);
    free(sizes);
    return program;
}

LAYER_INFO("limits")

LAYER_EXPORT clInitLayer(cl_uint count, const cl_icd_dispatch *target, cl_uint *count_out, const cl_icd_dispatch **out)
{
    below = layer_below(count, target);
    limits = limits_read();
    mine.clGetPlatformInfo = my_platform;
    mine.clGetDeviceInfo = my_device;
    mine.clGetKernelWorkGroupInfo = my_kernel;
    mine.clEnqueueNDRangeKernel = my_run;
    mine.clCreateBuffer = my_buffer;
    mine.clCreateCommandQueue = my_queue;
    mine.clCreateProgramWithSource = my_program;
    *count_out = sizeof mine / sizeof(void *);
    *out = &mine;
    return CL_SUCCESS;
}
