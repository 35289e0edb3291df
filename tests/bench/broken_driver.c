// SPDX-License-Identifier: Apache-2.0
// An OpenCL driver in which nothing works, for the ICD loader: one platform that cannot list its devices, and one with
// a device that describes itself and then refuses a context.
#include <CL/cl_icd.h>
#include <string.h>

struct _cl_platform_id {
    const cl_icd_dispatch *dispatch;
};
struct _cl_device_id {
    const cl_icd_dispatch *dispatch;
};

static cl_icd_dispatch dispatch;
static struct _cl_platform_id mute = {&dispatch}, refusing = {&dispatch};
static struct _cl_device_id device = {&dispatch};

static cl_int answer(const void *value, size_t bytes, size_t room, void *out, size_t *out_bytes)
{
    if (out && room < bytes)
        return CL_INVALID_VALUE;
    if (out)
        memcpy(out, value, bytes);
    if (out_bytes)
        *out_bytes = bytes;
    return CL_SUCCESS;
}

static cl_int answer_text(const char *text, size_t room, void *out, size_t *out_bytes)
{
    return answer(text, strlen(text) + 1, room, out, out_bytes);
}

static cl_int CL_API_CALL platform_info(cl_platform_id platform, cl_platform_info what, size_t room, void *out,
                                        size_t *out_bytes)
{
    switch (what) {
    case CL_PLATFORM_NAME:
        return answer_text(platform == &mute ? "Mute" : "Refusing\xae", room, out, out_bytes);
    case CL_PLATFORM_ICD_SUFFIX_KHR:
        return answer_text("BROKEN", room, out, out_bytes);
    case CL_PLATFORM_EXTENSIONS:
        return answer_text("cl_khr_icd", room, out, out_bytes);
    default:
        return answer_text("OpenCL 1.2", room, out, out_bytes);
    }
}

static cl_int CL_API_CALL device_ids(cl_platform_id platform, cl_device_type type, cl_uint room, cl_device_id *out,
                                     cl_uint *count)
{
    (void)type;
    if (platform == &mute)
        return CL_OUT_OF_HOST_MEMORY;
    if (out && room)
        out[0] = &device;
    if (count)
        *count = 1;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL device_info(cl_device_id id, cl_device_info what, size_t room, void *out, size_t *out_bytes)
{
    (void)id;
    const cl_device_type type = CL_DEVICE_TYPE_ACCELERATOR;
    const cl_bool yes = CL_TRUE;
    const cl_platform_id platform = &refusing;
    char text[201] = "";
    switch (what) {
    case CL_DEVICE_TYPE:
        return answer(&type, sizeof type, room, out, out_bytes);
    case CL_DEVICE_PLATFORM:
        return answer(&platform, sizeof platform, room, out, out_bytes);
    case CL_DEVICE_AVAILABLE:
    case CL_DEVICE_COMPILER_AVAILABLE:
        return answer(&yes, sizeof yes, room, out, out_bytes);
    case CL_DEVICE_NAME: // a byte that is no UTF-8, and longer than 127 of them
        memset(text, 'n', sizeof text - 1);
        memcpy(text, "Refuser\xae ", 9);
        return answer_text(text, room, out, out_bytes);
    case CL_DEVICE_VENDOR: // a character of two bytes would be cut
        for (size_t i = 0; i + 2 < sizeof text; i += 2)
            memcpy(text + i, "\xc3\xa9", 2);
        return answer_text(text, room, out, out_bytes);
    case CL_DEVICE_EXTENSIONS:
    case CL_DEVICE_VERSION:
    case CL_DRIVER_VERSION:
        return answer_text("", room, out, out_bytes);
    default:
        return CL_INVALID_VALUE;
    }
}

static cl_context CL_API_CALL create_context(const cl_context_properties *properties, cl_uint count,
                                             const cl_device_id *devices,
                                             void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *),
                                             void *arg, cl_int *error)
{
    (void)properties;
    (void)count;
    (void)devices;
    (void)notify;
    (void)arg;
    if (error)
        *error = CL_OUT_OF_RESOURCES;
    return NULL;
}

CL_API_ENTRY cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint room, cl_platform_id *out, cl_uint *count)
{
    dispatch.clGetPlatformInfo = platform_info;
    dispatch.clGetDeviceIDs = device_ids;
    dispatch.clGetDeviceInfo = device_info;
    dispatch.clCreateContext = create_context;
    if (out && room > 0)
        out[0] = &mute;
    if (out && room > 1)
        out[1] = &refusing;
    if (count)
        *count = 2;
    return CL_SUCCESS;
}

// What a loader asks a driver for by name.
CL_API_ENTRY void *CL_API_CALL clGetExtensionFunctionAddress(const char *name)
{
    return !strcmp(name, "clIcdGetPlatformIDsKHR") ? (void *)(cl_ulong)clIcdGetPlatformIDsKHR
           : !strcmp(name, "clGetPlatformInfo")    ? (void *)(cl_ulong)platform_info
                                                   : NULL;
}
