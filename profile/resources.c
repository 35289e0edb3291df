// SPDX-License-Identifier: Apache-2.0
// Registers of kernels from the build log of NVIDIA's compiler, and the occupancy that follows.
#include "resources.h"
#include "clock.h"
#include "next.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

static void number_before(const char *line, size_t length, const char *unit, int64_t *out)
{
    const char *at = memmem(line, length, unit, strlen(unit));
    if (!at)
        return;
    while (at > line && at[-1] == ' ')
        at--;
    while (at > line && at[-1] >= '0' && at[-1] <= '9')
        at--;
    *out = strtoll(at, NULL, 10);
}

int profile_ptxas_parse(struct profile_resources *out, const char *log, const char *name)
{
    int inside = 0, found = 0;
    int64_t stores = -1, loads = -1, local = -1;
    for (const char *line = log; *line;) {
        size_t length = strcspn(line, "\n");
        char entry[256], target[16];
        const char *at = memmem(line, length, "entry function '", 16);
        if (at && sscanf(at, "entry function '%255[^']' for '%15[^']'", entry, target) == 2) {
            inside = !strcmp(entry, name);
            if (inside)
                memcpy(out->target, target, sizeof target);
        } else if (inside && memmem(line, length, "stack frame", 11)) {
            number_before(line, length, "bytes stack frame", &out->stack_bytes);
            number_before(line, length, "bytes spill stores", &stores);
            number_before(line, length, "bytes spill loads", &loads);
        } else if (inside && memmem(line, length, "Used ", 5) && memmem(line, length, "registers", 9)) {
            number_before(line, length, "registers", &out->registers);
            number_before(line, length, "bytes smem", &local);
            found = 1;
            inside = 0;
        }
        line += length + (line[length] == '\n');
    }
    if (stores >= 0 || loads >= 0)
        out->spill_bytes = (stores > 0 ? stores : 0) + (loads > 0 ? loads : 0);
    if (local >= 0)
        out->local_bytes = local;
    return found;
}

static int is_nvidia(cl_device_id device)
{
    char vendor[64] = "";
    cl_uint major = 0;
    profile__next.clGetDeviceInfo(device, CL_DEVICE_VENDOR, sizeof vendor - 1, vendor, NULL);
    return strstr(vendor, "NVIDIA") &&
           profile__next.clGetDeviceInfo(device, 0x4000 /* cl_nv_device_attribute_query: compute capability */,
                                         sizeof major, &major, NULL) == CL_SUCCESS;
}

// The text that stands for the program's binary on NVIDIA, *length of it; *ended: a zero ends it and counts as part of it.
// There is room behind it.
enum { ROOM = 64 };
static char *ptx_get(cl_program program, size_t *length, int *ended)
{
    size_t bytes[1] = {0};
    if (profile__next.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, bytes, NULL) != CL_SUCCESS ||
        !bytes[0])
        return NULL;
    char *text = calloc(1, bytes[0] + ROOM);
    unsigned char *list[] = {(unsigned char *)text};
    if (!text)
        return NULL;
    if (profile__next.clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof list, list, NULL) == CL_SUCCESS) {
        *length = strnlen(text, bytes[0]);
        *ended = *length < bytes[0];
        if (memmem(text, *length, ".version", 8)) // else the driver gives machine code instead
            return text;
    }
    free(text);
    return NULL;
}

// Build the text once more, for the log; NULL: none. A comment behind the text makes it one that no cache has seen. The
// driver gets back the form that it gave, with a zero at the end or without.
static char *log_get(cl_context context, cl_device_id device, char *text, size_t length, int ended)
{
    cl_int error = CL_SUCCESS, status = CL_SUCCESS;
    size_t log_size = 0;
    char *log = NULL;
    const unsigned char *binary = (const unsigned char *)text;
    const size_t size =
        length + (size_t)snprintf(text + length, ROOM, "\n// %lld\n", (long long)profile_now()) + (ended != 0);
    cl_program again = profile__next.clCreateProgramWithBinary(context, 1, &device, &size, &binary, &status, &error);
    if (!again || error != CL_SUCCESS)
        return NULL;
    if (profile__next.clBuildProgram(again, 1, &device, "-cl-nv-verbose", NULL, NULL) == CL_SUCCESS &&
        profile__next.clGetProgramBuildInfo(again, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &log_size) == CL_SUCCESS)
        log = calloc(1, log_size + 1);
    if (log &&
        profile__next.clGetProgramBuildInfo(again, device, CL_PROGRAM_BUILD_LOG, log_size, log, NULL) != CL_SUCCESS)
        log[0] = 0;
    profile__next.clReleaseProgram(again);
    return log;
}

// Logs of texts that were built, since most kernels of a bench come back with the next matrix. By one thread alone.
static struct {
    uint64_t hash;
    size_t length;
    cl_device_id device;
    char *log;
} known[64];
static size_t known_count;

static const char *log_find(cl_context context, cl_device_id device, char *text, size_t length, int ended)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); // FNV-1a
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    for (size_t i = 0; i < known_count && i < COUNT(known); i++)
        if (known[i].hash == hash && known[i].length == length && known[i].device == device)
            return known[i].log;
    char *log = log_get(context, device, text, length, ended);
    const size_t at = known_count++ % COUNT(known); // the oldest goes
    free(known[at].log);
    known[at].hash = hash;
    known[at].length = length;
    known[at].device = device;
    known[at].log = log;
    return log;
}

const char *profile_ptxas_ask(struct profile_resources *out, cl_kernel kernel, cl_device_id device, const char *name)
{
    cl_program program = NULL;
    cl_context context = NULL;
    cl_uint devices = 0;
    size_t length = 0;
    int ended = 0;
    if (!is_nvidia(device))
        return "the driver does not tell";
    if (!profile__next.clGetKernelInfo ||
        profile__next.clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof program, &program, NULL) != CL_SUCCESS ||
        profile__next.clGetKernelInfo(kernel, CL_KERNEL_CONTEXT, sizeof context, &context, NULL) != CL_SUCCESS ||
        profile__next.clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof devices, &devices, NULL) != CL_SUCCESS ||
        devices != 1)
        return "the program is not for one device";
    char *text = ptx_get(program, &length, &ended);
    if (!text)
        return "the driver's binary is no PTX";
    const char *log = log_find(context, device, text, length, ended);
    free(text);
    return log && profile_ptxas_parse(out, log, name) ? NULL : "the build log does not tell";
}

static int64_t up(int64_t number, int64_t granule)
{
    return (number + granule - 1) / granule * granule;
}

const char *profile_occupancy(struct profile_occupancy *out, const struct profile_resources *r, int64_t wg)
{
    // As in tests/lint/occupancy.py, which names the source.
    static const struct {
        const char *target;
        int warps, registers, local, granule, system, groups;
    } models[] = {{"sm_75", 32, 65536, 65536, 256, 0, 16},
                  {"sm_80", 64, 65536, 167936, 128, 1024, 32},
                  {"sm_90", 64, 65536, 233472, 128, 1024, 32}};
    size_t i = 0;
    const size_t count = sizeof models / sizeof *models;
    if (r->registers <= 0 || !r->target[0])
        return "the registers are not known";
    if (wg <= 0)
        return "the work-group was left to the driver";
    while (i < count && strcmp(models[i].target, r->target))
        i++;
    if (i == count)
        return "there is no model of this device";
    const int64_t group = (wg + 31) / 32,
                  taken = up((r->local_bytes > 0 ? r->local_bytes : 0) + models[i].system, models[i].granule);
    const struct {
        const char *name;
        int64_t groups;
    } limits[] = {{"waves", models[i].warps / group},
                  {"groups", models[i].groups},
                  {"registers", models[i].registers / up(r->registers * 32, 256) / 4 * 4 / group},
                  {"local", taken ? models[i].local / taken : models[i].warps}};
    size_t least = 0;
    for (size_t k = 1; k < 4; k++)
        least = limits[k].groups < limits[least].groups ? k : least;
    *out = (struct profile_occupancy){(int)limits[least].groups, (int)(limits[least].groups * group), models[i].warps,
                                      limits[least].name};
    return NULL;
}
