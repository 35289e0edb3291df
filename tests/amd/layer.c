// SPDX-License-Identifier: Apache-2.0
// A layer of OpenCL below which every device is an AMD GPU: its programs are compiled to AMD's machine code (code.c), and a
// launch executes that on the processor (waves.c) as a native kernel of the driver beneath. WEFT_AMD_CHIP is the chip.
#include "code.h"

#include <CL/cl_layer.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT   __attribute__((visibility("default"))) CL_API_ENTRY cl_int CL_API_CALL
#define ARGS     64
#define SIMPLE   64 // bytes of the largest argument that is a value
#define BINARY   "AMD by emulation\n"
#define LDS_MOST 65536
// cl_ext.h: CL_DEVICE_WAVEFRONT_WIDTH_AMD
#define WAVEFRONT_WIDTH 0x4043

struct program {
    int references;
    cl_context context;
    cl_device_id device;
    char *text, *log;
    const struct amd_code *code;
};

struct kernel {
    int references;
    struct program *program;
    const struct amd_kernel *what;
    struct {
        int given;
        size_t size; // of local memory
        unsigned char value[SIMPLE];
    } arg[ARGS];
};

// What a native kernel gets.
struct run {
    const struct amd_code *code;
    const struct amd_kernel *kernel;
    size_t groups, group_size, local, args_size;
    cl_uint buffers;
    cl_mem buffer[ARGS]; // which it keeps until its end
    unsigned char args[4096];
};

static cl_icd_dispatch below, mine;
static const char *chip;

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

static cl_int answer_text(const char *text, size_t size, void *value, size_t *needed)
{
    return answer(text, strlen(text) + 1, size, value, needed);
}

static void *made(void *thing, cl_int failure, cl_int *error)
{
    if (error)
        *error = thing ? CL_SUCCESS : failure;
    return thing;
}

static cl_int CL_API_CALL my_platform(cl_platform_id platform, cl_platform_info what, size_t size, void *value,
                                      size_t *needed)
{
    return what == CL_PLATFORM_NAME      ? answer_text("AMD Accelerated Parallel Processing", size, value, needed)
           : what == CL_PLATFORM_VENDOR  ? answer_text("Advanced Micro Devices, Inc.", size, value, needed)
           : what == CL_PLATFORM_VERSION ? answer_text("OpenCL 2.1 AMD-APP (emulated)", size, value, needed)
                                         : below.clGetPlatformInfo(platform, what, size, value, needed);
}

static cl_int CL_API_CALL my_device(cl_device_id device, cl_device_info what, size_t size, void *value, size_t *needed)
{
    static const char extensions[] =
        "cl_khr_fp64 cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics "
        "cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics cl_khr_int64_base_atomics "
        "cl_khr_int64_extended_atomics cl_khr_byte_addressable_store cl_khr_fp16 cl_amd_device_attribute_query "
        "cl_amd_media_ops cl_amd_media_ops2 cl_khr_subgroups";
    static const struct {
        cl_device_info what;
        const char *text;
    } texts[] = {{CL_DEVICE_VENDOR, "Advanced Micro Devices, Inc."},
                 {CL_DEVICE_VERSION, "OpenCL 2.0 "},
                 {CL_DEVICE_OPENCL_C_VERSION, "OpenCL C 2.0 "},
                 {CL_DRIVER_VERSION, "0.0 (emulated)"},
                 {CL_DEVICE_EXTENSIONS, extensions}};
    const cl_device_type type = CL_DEVICE_TYPE_GPU;
    const cl_ulong local = LDS_MOST;
    const cl_uint units = 4, wave = strncmp(chip, "gfx9", 4) ? 32 : 64;
    const size_t largest = 256;
    const struct {
        cl_device_info what;
        const void *from;
        size_t bytes;
    } answers[] = {{CL_DEVICE_TYPE, &type, sizeof type},
                   {WAVEFRONT_WIDTH, &wave, sizeof wave},
                   {CL_DEVICE_LOCAL_MEM_SIZE, &local, sizeof local},
                   {CL_DEVICE_MAX_COMPUTE_UNITS, &units, sizeof units},
                   {CL_DEVICE_MAX_WORK_GROUP_SIZE, &largest, sizeof largest}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (what == texts[i].what)
            return answer_text(texts[i].text, size, value, needed);
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        if (what == answers[i].what)
            return answer(answers[i].from, answers[i].bytes, size, value, needed);
    return what == CL_DEVICE_NAME ? answer_text(chip, size, value, needed)
                                  : below.clGetDeviceInfo(device, what, size, value, needed);
}

static cl_program CL_API_CALL my_source(cl_context context, cl_uint count, const char **texts, const size_t *lengths,
                                        cl_int *error)
{
    size_t bytes = 1;
    for (cl_uint i = 0; i < count; i++)
        bytes += lengths && lengths[i] ? lengths[i] : strlen(texts[i]);
    struct program *p = calloc(1, sizeof *p);
    char *text = calloc(1, bytes);
    if (!p || !text) {
        free(p);
        free(text);
        return made(NULL, CL_OUT_OF_HOST_MEMORY, error);
    }
    for (cl_uint i = 0; i < count; i++)
        strncat(text, texts[i], lengths && lengths[i] ? lengths[i] : strlen(texts[i]));
    *p = (struct program){.references = 1, .context = context, .text = text};
    return made(p, CL_SUCCESS, error);
}

static cl_program CL_API_CALL my_binary(cl_context context, cl_uint count, const cl_device_id *devices,
                                        const size_t *lengths, const unsigned char **binaries, cl_int *status,
                                        cl_int *error)
{
    char name[64] = "";
    const size_t mark = sizeof BINARY - 1;
    if (count == 1 && lengths[0] > mark && lengths[0] - mark < sizeof name && !memcmp(binaries[0], BINARY, mark))
        memcpy(name, binaries[0] + mark, lengths[0] - mark);
    const struct amd_code *code = !strncmp(name, chip, strlen(chip)) ? amd_code_named(name) : NULL;
    struct program *p = code ? calloc(1, sizeof *p) : NULL;
    if (p)
        *p = (struct program){.references = 1, .context = context, .device = devices[0], .code = code};
    if (status)
        *status = p ? CL_SUCCESS : CL_INVALID_BINARY;
    return made(p, CL_INVALID_BINARY, error);
}

static cl_int CL_API_CALL my_build(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                                   void(CL_CALLBACK *notify)(cl_program, void *), void *data)
{
    struct program *p = (struct program *)program;
    (void)notify;
    (void)data;
    if (count)
        p->device = devices[0];
    if (!p->code) {
        free(p->log);
        p->code = amd_code_of(chip, p->text, options ? options : "", &p->log);
    }
    return p->code ? CL_SUCCESS : CL_BUILD_PROGRAM_FAILURE;
}

static cl_int CL_API_CALL my_program_info(cl_program program, cl_program_info what, size_t size, void *value,
                                          size_t *needed)
{
    struct program *p = (struct program *)program;
    const cl_uint one = 1;
    char binary[128] = "";
    if (p->code)
        snprintf(binary, sizeof binary, BINARY "%s", p->code->name);
    const size_t bytes = strlen(binary);
    switch (what) {
    case CL_PROGRAM_NUM_DEVICES:
    case CL_PROGRAM_REFERENCE_COUNT:
        return answer(&one, sizeof one, size, value, needed);
    case CL_PROGRAM_CONTEXT:
        return answer(&p->context, sizeof p->context, size, value, needed);
    case CL_PROGRAM_DEVICES:
        return answer(&p->device, sizeof p->device, size, value, needed);
    case CL_PROGRAM_SOURCE:
        return answer_text(p->text ? p->text : "", size, value, needed);
    case CL_PROGRAM_BINARY_SIZES:
        return answer(&bytes, sizeof bytes, size, value, needed);
    case CL_PROGRAM_BINARIES:
        if (value && ((unsigned char **)value)[0])
            memcpy(((unsigned char **)value)[0], binary, bytes);
        if (needed)
            *needed = sizeof(void *);
        return CL_SUCCESS;
    }
    return CL_INVALID_VALUE;
}

static cl_int CL_API_CALL my_build_info(cl_program program, cl_device_id device, cl_program_build_info what,
                                        size_t size, void *value, size_t *needed)
{
    const struct program *p = (const struct program *)program;
    const cl_build_status status = p->code ? CL_BUILD_SUCCESS : CL_BUILD_ERROR;
    (void)device;
    return what == CL_PROGRAM_BUILD_STATUS ? answer(&status, sizeof status, size, value, needed)
           : what == CL_PROGRAM_BUILD_LOG  ? answer_text(p->log ? p->log : "", size, value, needed)
                                           : answer_text("", size, value, needed);
}

static cl_int CL_API_CALL my_program_retain(cl_program program)
{
    __atomic_add_fetch(&((struct program *)program)->references, 1, __ATOMIC_ACQ_REL);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL my_program_release(cl_program program)
{
    struct program *p = (struct program *)program;
    if (__atomic_sub_fetch(&p->references, 1, __ATOMIC_ACQ_REL) == 0) {
        free(p->text);
        free(p->log);
        free(p);
    }
    return CL_SUCCESS;
}

static cl_kernel CL_API_CALL my_kernel(cl_program program, const char *name, cl_int *error)
{
    struct program *p = (struct program *)program;
    if (!p->code)
        return made(NULL, CL_INVALID_PROGRAM_EXECUTABLE, error);
    const struct amd_kernel *what = amd_kernel_of(p->code, name);
    struct kernel *k = what ? calloc(1, sizeof *k) : NULL;
    if (k) {
        *k = (struct kernel){.references = 1, .program = p, .what = what};
        my_program_retain(program);
    }
    return made(k, what ? CL_OUT_OF_HOST_MEMORY : CL_INVALID_KERNEL_NAME, error);
}

static cl_int CL_API_CALL my_kernel_retain(cl_kernel kernel)
{
    __atomic_add_fetch(&((struct kernel *)kernel)->references, 1, __ATOMIC_ACQ_REL);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL my_kernel_release(cl_kernel kernel)
{
    struct kernel *k = (struct kernel *)kernel;
    if (__atomic_sub_fetch(&k->references, 1, __ATOMIC_ACQ_REL) == 0) {
        my_program_release((cl_program)k->program);
        free(k);
    }
    return CL_SUCCESS;
}

// The arguments that a program gives: those before the hidden ones.
static cl_uint args_of(const struct amd_kernel *k)
{
    cl_uint count = 0;
    while (count < k->args && k->arg[count].kind <= AMD_LOCAL_ARG)
        count++;
    return count;
}

static cl_int CL_API_CALL my_arg(cl_kernel kernel, cl_uint index, size_t size, const void *value)
{
    struct kernel *k = (struct kernel *)kernel;
    if (index >= args_of(k->what))
        return CL_INVALID_ARG_INDEX;
    const struct amd_arg *a = &k->what->arg[index];
    if (a->kind == AMD_LOCAL_ARG ? size == 0 : size != a->size || size > SIMPLE)
        return CL_INVALID_ARG_SIZE;
    if (a->kind == AMD_LOCAL_ARG ? value != NULL : a->kind == AMD_VALUE && !value)
        return CL_INVALID_ARG_VALUE;
    memset(k->arg[index].value, 0, SIMPLE);
    if (value)
        memcpy(k->arg[index].value, value, size);
    k->arg[index].size = size;
    k->arg[index].given = 1;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL my_kernel_info(cl_kernel kernel, cl_kernel_info what, size_t size, void *value,
                                         size_t *needed)
{
    const struct kernel *k = (const struct kernel *)kernel;
    const cl_uint args = args_of(k->what), references = (cl_uint)k->references;
    return what == CL_KERNEL_FUNCTION_NAME     ? answer_text(k->what->name, size, value, needed)
           : what == CL_KERNEL_REFERENCE_COUNT ? answer(&references, sizeof references, size, value, needed)
           : what == CL_KERNEL_NUM_ARGS        ? answer(&args, sizeof args, size, value, needed)
           : what == CL_KERNEL_CONTEXT ? answer(&k->program->context, sizeof k->program->context, size, value, needed)
           : what == CL_KERNEL_PROGRAM ? answer(&k->program, sizeof k->program, size, value, needed)
                                       : CL_INVALID_VALUE;
}

static cl_int CL_API_CALL my_group_info(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what,
                                        size_t size, void *value, size_t *needed)
{
    const struct kernel *k = (const struct kernel *)kernel;
    const size_t some = k->what->required > 0, required[3] = {k->what->required, some, some};
    const size_t wave = (size_t)k->program->code->wave;
    const cl_ulong local = k->what->local, private = k->what->private;
    (void)device;
    return what == CL_KERNEL_WORK_GROUP_SIZE           ? answer(&k->what->largest, sizeof(size_t), size, value, needed)
           : what == CL_KERNEL_COMPILE_WORK_GROUP_SIZE ? answer(required, sizeof required, size, value, needed)
           : what == CL_KERNEL_LOCAL_MEM_SIZE          ? answer(&local, sizeof local, size, value, needed)
           : what == CL_KERNEL_PRIVATE_MEM_SIZE        ? answer(&private, sizeof private, size, value, needed)
           : what == CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE ? answer(&wave, sizeof wave, size, value, needed)
                                                                  : CL_INVALID_VALUE;
}

static cl_int CL_API_CALL my_arg_info(cl_kernel kernel, cl_uint index, cl_kernel_arg_info what, size_t size,
                                      void *value, size_t *needed)
{
    (void)kernel, (void)index, (void)what, (void)size, (void)value, (void)needed;
    return CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
}

static void CL_CALLBACK native(void *args)
{
    const struct run *r = args;
    if (amd_run(r->code, r->kernel, r->args, r->args_size, r->groups, r->group_size, r->local)) {
        fprintf(stderr, "amd: %s of %s was not run to its end\n", r->kernel->name, r->code->name);
        abort(); // a native kernel has no status to give
    }
    for (cl_uint i = 0; i < r->buffers; i++)
        below.clReleaseMemObject(r->buffer[i]);
}

// Where a buffer lies. PoCL 3.1 puts the addresses of native kernels' buffers in an order of its own, and knows no sub-buffers
// there; on its processor an address stays as it is, so that each buffer is mapped once, when it is made.
static pthread_mutex_t places_lock = PTHREAD_MUTEX_INITIALIZER;
static struct place {
    cl_mem buffer;
    char *address;
} * places;
static size_t places_count;

static struct place *place_of(cl_mem buffer)
{
    size_t i = 0;
    while (i < places_count && places[i].buffer != buffer)
        i++;
    return i < places_count ? &places[i] : NULL;
}

static int place_add(cl_mem buffer, char *address)
{
    pthread_mutex_lock(&places_lock);
    struct place *p = place_of(buffer); // of one that is gone
    if (!p) {
        p = realloc(places, (places_count + 1) * sizeof *places);
        if (p) {
            places = p;
            p += places_count++;
        }
    }
    if (p)
        *p = (struct place){buffer, address};
    pthread_mutex_unlock(&places_lock);
    return p != NULL;
}

static char *address_of(const unsigned char *value, cl_mem *whole)
{
    cl_mem buffer, parent = NULL;
    size_t offset = 0;
    memcpy(&buffer, value, sizeof buffer);
    if (buffer && below.clGetMemObjectInfo(buffer, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent, NULL) == 0 &&
        parent && below.clGetMemObjectInfo(buffer, CL_MEM_OFFSET, sizeof offset, &offset, NULL) == 0)
        buffer = parent;
    *whole = buffer;
    pthread_mutex_lock(&places_lock);
    const struct place *p = buffer ? place_of(buffer) : NULL;
    char *address = p ? p->address + offset : NULL;
    pthread_mutex_unlock(&places_lock);
    return address;
}

static cl_mem CL_API_CALL my_buffer(cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *error)
{
    cl_device_id device[16];
    char *address = NULL;
    cl_mem buffer = below.clCreateBuffer(context, flags, size, host, error);
    if (!buffer)
        return NULL;
    cl_command_queue queue = NULL;
    if (below.clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof device, device, NULL) == CL_SUCCESS)
        queue = below.clCreateCommandQueue(context, device[0], 0, NULL);
    if (queue) {
        address =
            below.clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, size, 0, NULL, NULL, NULL);
        if (address)
            below.clEnqueueUnmapMemObject(queue, buffer, address, 0, NULL, NULL);
        below.clFinish(queue);
        below.clReleaseCommandQueue(queue);
    }
    if (address && place_add(buffer, address))
        return buffer;
    below.clReleaseMemObject(buffer);
    return made(NULL, CL_MEM_OBJECT_ALLOCATION_FAILURE, error);
}

static cl_int CL_API_CALL my_launch(cl_command_queue queue, cl_kernel kernel, cl_uint dims, const size_t *first,
                                    const size_t *global, const size_t *local, cl_uint nwait, const cl_event *wait,
                                    cl_event *event)
{
    struct kernel *k = (struct kernel *)kernel;
    const struct amd_kernel *what = k->what;
    const size_t size = local ? local[0] : what->required ? what->required : 64;
    struct run r = {.code = k->program->code, .kernel = what, .group_size = size};
    if (dims != 1 || (first && first[0]))
        return CL_INVALID_WORK_DIMENSION;
    if (!global[0])
        return CL_INVALID_GLOBAL_WORK_SIZE;
    if (global[0] % size || (what->required && size != what->required) || size > what->largest)
        return CL_INVALID_WORK_GROUP_SIZE;
    r.groups = global[0] / size;
    for (cl_uint i = 0; i < args_of(what); i++) {
        const struct amd_arg *a = &what->arg[i];
        if (!k->arg[i].given)
            return CL_INVALID_KERNEL_ARGS;
        if (a->offset + a->size > sizeof r.args)
            return CL_OUT_OF_RESOURCES;
        r.args_size = a->offset + a->size;
        if (a->kind == AMD_LOCAL_ARG) {
            const uint32_t at = (uint32_t)((what->local + r.local + 15) & ~(size_t)15);
            r.local = at - what->local + k->arg[i].size;
            memcpy(r.args + a->offset, &at, sizeof at);
        } else if (a->kind == AMD_BUFFER) {
            const char *address = address_of(k->arg[i].value, &r.buffer[r.buffers]);
            memcpy(r.args + a->offset, &address, sizeof address);
            r.buffers += address != NULL;
        } else {
            memcpy(r.args + a->offset, k->arg[i].value, a->size);
        }
    }
    if (what->local + r.local > LDS_MOST)
        return CL_OUT_OF_RESOURCES;
    for (cl_uint i = 0; i < r.buffers; i++)
        below.clRetainMemObject(r.buffer[i]);
    const cl_int error = below.clEnqueueNativeKernel(queue, native, &r, sizeof r, 0, NULL, NULL, nwait, wait, event);
    for (cl_uint i = 0; i < r.buffers && error; i++)
        below.clReleaseMemObject(r.buffer[i]);
    return error;
}

static cl_int CL_API_CALL my_event(cl_event event, cl_event_info what, size_t size, void *value, size_t *needed)
{
    const cl_int error = below.clGetEventInfo(event, what, size, value, needed);
    if (error == CL_SUCCESS && what == CL_EVENT_COMMAND_TYPE && value &&
        *(cl_command_type *)value == CL_COMMAND_NATIVE_KERNEL)
        *(cl_command_type *)value = CL_COMMAND_NDRANGE_KERNEL;
    return error;
}

static void at_end(void)
{
    amd_report(chip);
}

EXPORT clGetLayerInfo(cl_layer_info what, size_t size, void *value, size_t *needed)
{
    const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    return what == CL_LAYER_API_VERSION ? answer(&version, sizeof version, size, value, needed)
           : what == CL_LAYER_NAME      ? answer_text("amd", size, value, needed)
                                        : CL_INVALID_VALUE;
}

EXPORT clInitLayer(cl_uint count, const cl_icd_dispatch *target, cl_uint *count_out, const cl_icd_dispatch **out)
{
    const size_t bytes = count * sizeof(void *);
    memcpy(&below, target, bytes < sizeof below ? bytes : sizeof below);
    chip = getenv("WEFT_AMD_CHIP");
    if (!chip)
        return CL_INVALID_VALUE;
    mine.clGetPlatformInfo = my_platform;
    mine.clGetDeviceInfo = my_device;
    mine.clCreateProgramWithSource = my_source;
    mine.clCreateProgramWithBinary = my_binary;
    mine.clBuildProgram = my_build;
    mine.clGetProgramInfo = my_program_info;
    mine.clGetProgramBuildInfo = my_build_info;
    mine.clRetainProgram = my_program_retain;
    mine.clReleaseProgram = my_program_release;
    mine.clCreateKernel = my_kernel;
    mine.clRetainKernel = my_kernel_retain;
    mine.clReleaseKernel = my_kernel_release;
    mine.clSetKernelArg = my_arg;
    mine.clGetKernelInfo = my_kernel_info;
    mine.clGetKernelWorkGroupInfo = my_group_info;
    mine.clGetKernelArgInfo = my_arg_info;
    mine.clCreateBuffer = my_buffer;
    mine.clEnqueueNDRangeKernel = my_launch;
    mine.clGetEventInfo = my_event;
    atexit(at_end);
    *count_out = sizeof mine / sizeof(void *);
    *out = &mine;
    return CL_SUCCESS;
}
