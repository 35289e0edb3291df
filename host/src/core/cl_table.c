// SPDX-License-Identifier: Apache-2.0
// The calls of OpenCL behind one table, so that tests and profilers can stand in between.
#include "host/src/core/cl_table.h"

#ifdef WEFT_OPENCL_DLOPEN
#include <dlfcn.h>
#include <pthread.h>

#ifdef _WIN32
#define LOADER "OpenCL.dll"
#else
#define LOADER "libOpenCL.so.1"
#endif

// Built so, the library loads without an OpenCL loader. Every way to a device begins with clGetPlatformIDs: its first call
// takes the loader that the process has, else the system's, and fills the table.
static int table_fill(void)
{
    void *const ours = dlsym(RTLD_DEFAULT, "clGetPlatformIDs") ? NULL : dlopen(LOADER, RTLD_NOW);
    void *const loader = ours ? ours : RTLD_DEFAULT;
    struct weft__cl_table found;
    int all = 1;
#define WEFT__CL_FIND(name) all &= (*(void **)&found.name = dlsym(loader, #name)) != NULL;
    WEFT__CL_CALLS(WEFT__CL_FIND)
#undef WEFT__CL_FIND
    *(void **)&found.clGetKernelSubGroupInfo = dlsym(loader, "clGetKernelSubGroupInfo");
    if (all)
        weft__cl = found;
    return all;
}

static cl_int CL_API_CALL platforms_first(cl_uint room, cl_platform_id *list, cl_uint *count)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static int filled;
    pthread_mutex_lock(&mutex);
    filled = filled || table_fill();
    const int is_there = filled;
    pthread_mutex_unlock(&mutex);
    return is_there ? weft__cl.clGetPlatformIDs(room, list, count) : -1001; // CL_PLATFORM_NOT_FOUND_KHR
}

struct weft__cl_table weft__cl = {.clGetPlatformIDs = platforms_first};
#else
struct weft__cl_table weft__cl = {
#define WEFT__CL_INIT(name) .name = name,
    WEFT__CL_CALLS(WEFT__CL_INIT).clGetKernelSubGroupInfo = clGetKernelSubGroupInfo,
#undef WEFT__CL_INIT
};
#endif

const char *weft__cl_error_name(cl_int error)
{
    static const struct {
        cl_int error;
        const char *name;
    } names[] = {
#define NAME(x) {x, #x}
        NAME(CL_DEVICE_NOT_FOUND),
        NAME(CL_DEVICE_NOT_AVAILABLE),
        NAME(CL_COMPILER_NOT_AVAILABLE),
        NAME(CL_MEM_OBJECT_ALLOCATION_FAILURE),
        NAME(CL_OUT_OF_RESOURCES),
        NAME(CL_OUT_OF_HOST_MEMORY),
        NAME(CL_PROFILING_INFO_NOT_AVAILABLE),
        NAME(CL_MAP_FAILURE),
        NAME(CL_MEM_COPY_OVERLAP),
        NAME(CL_BUILD_PROGRAM_FAILURE),
        NAME(CL_MISALIGNED_SUB_BUFFER_OFFSET),
        NAME(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
        NAME(CL_INVALID_VALUE),
        NAME(CL_INVALID_DEVICE_TYPE),
        NAME(CL_INVALID_PLATFORM),
        NAME(CL_INVALID_DEVICE),
        NAME(CL_INVALID_CONTEXT),
        NAME(CL_INVALID_QUEUE_PROPERTIES),
        NAME(CL_INVALID_COMMAND_QUEUE),
        NAME(CL_INVALID_MEM_OBJECT),
        NAME(CL_INVALID_BINARY),
        NAME(CL_INVALID_BUILD_OPTIONS),
        NAME(CL_INVALID_PROGRAM),
        NAME(CL_INVALID_PROGRAM_EXECUTABLE),
        NAME(CL_INVALID_KERNEL_NAME),
        NAME(CL_INVALID_KERNEL),
        NAME(CL_INVALID_ARG_INDEX),
        NAME(CL_INVALID_ARG_VALUE),
        NAME(CL_INVALID_ARG_SIZE),
        NAME(CL_INVALID_KERNEL_ARGS),
        NAME(CL_INVALID_WORK_DIMENSION),
        NAME(CL_INVALID_WORK_GROUP_SIZE),
        NAME(CL_INVALID_WORK_ITEM_SIZE),
        NAME(CL_INVALID_GLOBAL_OFFSET),
        NAME(CL_INVALID_EVENT_WAIT_LIST),
        NAME(CL_INVALID_EVENT),
        NAME(CL_INVALID_OPERATION),
        NAME(CL_INVALID_BUFFER_SIZE),
        NAME(CL_INVALID_GLOBAL_WORK_SIZE),
        {-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
#undef NAME
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].error == error)
            return names[i].name;
    return "unknown OpenCL error";
}
