// SPDX-License-Identifier: Apache-2.0
#include "resources.h"
#include "calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

// The text that stands for the program's binary on NVIDIA, with a comment behind it that no cache has seen. Where a zero
// ends the text and counts as part of it, one does so here: the driver gets back the form that it gave.
static char *ptx_get(cl_program program, size_t *size)
{
    size_t bytes[1] = {0};
    if (profile__next.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, bytes, NULL) != CL_SUCCESS ||
        !bytes[0])
        return NULL;
    char *text = calloc(1, bytes[0] + 64);
    unsigned char *list[] = {(unsigned char *)text};
    if (text && profile__next.clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof list, list, NULL) != CL_SUCCESS) {
        free(text);
        return NULL;
    }
    if (!text)
        return NULL;
    size_t length = strnlen(text, bytes[0]);
    if (!memmem(text, length, ".version", 8)) { // a driver that gives machine code instead
        free(text);
        return NULL;
    }
    *size = length + (size_t)sprintf(text + length, "\n// %lld\n", (long long)profile_now()) + (length < bytes[0]);
    return text;
}

const char *profile_ptxas_ask(struct profile_resources *out, cl_kernel kernel, cl_device_id device, const char *name)
{
    cl_program program = NULL, again = NULL;
    cl_context context = NULL;
    cl_uint devices = 0;
    cl_int error = CL_SUCCESS, status = CL_SUCCESS;
    const char *why = "the build log does not tell";
    size_t size = 0, log_size = 0;
    if (!is_nvidia(device))
        return "the driver does not tell";
    if (!profile__next.clGetKernelInfo ||
        profile__next.clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof program, &program, NULL) != CL_SUCCESS ||
        profile__next.clGetKernelInfo(kernel, CL_KERNEL_CONTEXT, sizeof context, &context, NULL) != CL_SUCCESS ||
        profile__next.clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof devices, &devices, NULL) != CL_SUCCESS ||
        devices != 1)
        return "the program is not for one device";
    char *text = ptx_get(program, &size), *log = NULL;
    if (!text)
        return "the driver's binary is no PTX";
    const unsigned char *binary = (const unsigned char *)text;
    again = profile__next.clCreateProgramWithBinary(context, 1, &device, &size, &binary, &status, &error);
    if (again && error == CL_SUCCESS &&
        profile__next.clBuildProgram(again, 1, &device, "-cl-nv-verbose", NULL, NULL) == CL_SUCCESS &&
        profile__next.clGetProgramBuildInfo(again, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &log_size) == CL_SUCCESS)
        log = calloc(1, log_size + 1);
    if (log &&
        profile__next.clGetProgramBuildInfo(again, device, CL_PROGRAM_BUILD_LOG, log_size, log, NULL) == CL_SUCCESS)
        why = profile_ptxas_parse(out, log, name) ? NULL : why;
    if (again && error == CL_SUCCESS)
        profile__next.clReleaseProgram(again);
    free(log);
    free(text);
    return why;
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
