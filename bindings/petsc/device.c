// SPDX-License-Identifier: Apache-2.0
// Opens the device of this rank and closes it when PETSc ends, launches kernels of vectors, and sums up device times.
#include "bindings/petsc/device.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static struct wp_device device;
static PetscMPIInt local_rank;
PetscLogEvent wp_events[WP_EVENT_COUNT];

static const char *const kernel_names[] = {
#define KERNEL_NAME(name, args) #name,
    WP_KERNELS(KERNEL_NAME)};
static const char *const kernel_args[] = {
#define KERNEL_ARGS(name, args) args,
    WP_KERNELS(KERNEL_ARGS)};

// Device times by the name of a kernel or copy. Events wait in a list until it is full.
enum { TIMES = 64, PENDING = 512 };
static struct {
    char name[40];
    long count;
    double ms;
} times[TIMES];
static struct {
    int slot;
    cl_event event;
} pending[PENDING];
static int ntimes, npending;

static PetscErrorCode drain(void)
{
    for (int i = 0; i < npending; i++) {
        cl_ulong from = 0, to = 0;
        cl_event event = pending[i].event;
        WP_CL(clWaitForEvents(1, &event));
        if (!clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof from, &from, NULL) &&
            !clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof to, &to, NULL) && to >= from)
            times[pending[i].slot].ms += (double)(to - from) * 1e-6;
        WP_CL(clReleaseEvent(event));
    }
    npending = 0;
    return 0;
}

// Count a command; its event is retained until its time is known.
static PetscErrorCode note(const char *name, cl_event event)
{
    int i = 0;
    while (i < ntimes && strncmp(times[i].name, name, sizeof times[i].name - 1) != 0)
        i++;
    if (i == TIMES)
        return 0;
    if (i == ntimes)
        snprintf(times[ntimes++].name, sizeof times[0].name, "%s", name);
    times[i].count++;
    WP_CL(clRetainEvent(event));
    pending[npending].slot = i;
    pending[npending++].event = event;
    return npending == PENDING ? drain() : 0;
}

static void note_weft(void *arg, const char *kernel, size_t global, size_t wg, cl_event event)
{
    (void)arg, (void)global, (void)wg;
    (void)note(kernel, event);
}

PetscErrorCode wp_check(weft_status status, const char *call)
{
    struct weft_error err = {0};
    if (status == WEFT_OK)
        return 0;
    weft_context_error(&err, device.ctx);
    SETERRQ(PETSC_COMM_SELF, status == WEFT_ENOMEM || status == WEFT_EDEVMEM ? PETSC_ERR_MEM : PETSC_ERR_LIB, "%s: %s",
            call, err.text[0] ? err.text : weft_status_text(status));
}

// A line for each device time, of rank 0 alone: behind the text of -log_view.
static PetscErrorCode print_times(void)
{
    PetscMPIInt rank;
    PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
    PetscCall(drain());
    if (rank != 0 || ntimes == 0)
        return 0;
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "\nweft: commands of rank 0 on %s\n  %-34s %10s %12s\n",
                          weft_context_device(device.ctx)->name, "kernel or copy", "count", "device ms"));
    for (int i = 0; i < ntimes; i++)
        PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %-34s %10ld %12.3f\n", times[i].name, times[i].count, times[i].ms));
    return 0;
}

static PetscErrorCode close_device(void)
{
    if (!device.ctx)
        return 0;
    if (device.timed)
        PetscCall(print_times());
    for (int k = 0; k < WP_KERNEL_COUNT; k++)
        WP_CL(clReleaseKernel(device.kernels[k]));
    WP_CL(clReleaseProgram(device.program));
    PetscCall(wp_buffer_free(&device.part));
    PetscCall(wp_pinned_free(&device.part_host));
    WP_CL(clFinish(device.queue));
    WP_CL(clReleaseCommandQueue(device.queue));
    WP_CL(clReleaseCommandQueue(device.aside));
    weft_context_destroy(&device.ctx);
    ntimes = 0;
    memset(&device, 0, sizeof device);
    return 0;
}

PetscErrorCode wp_device_init(void)
{
    static const char *const names[] = {"WeftPlan", "WeftUpload", "WeftHalo", "WeftVecPut", "WeftVecGet"};
    MPI_Comm host;
    PetscClassId classid;
    PetscCallMPI(MPI_Comm_split_type(PETSC_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host));
    PetscCallMPI(MPI_Comm_rank(host, &local_rank));
    PetscCallMPI(MPI_Comm_free(&host));
    PetscCall(PetscClassIdRegister("weft", &classid));
    for (int i = 0; i < WP_EVENT_COUNT; i++)
        PetscCall(PetscLogEventRegister(names[i], classid, &wp_events[i]));
    return 0;
}

// Is this device of the kind of `first`, and meant by WEFT_DEVICE?
static int alike(const struct weft_device_info *one, const struct weft_device_info *first, const char *text)
{
    return one->type == first->type && one->unified == first->unified && !one->why[0] &&
           weft_device_find(one, 1, text) == 0;
}

// The index of the device in weft_devices_list.
static PetscErrorCode pick(int *out)
{
    const char *text = getenv("WEFT_DEVICE");
    struct weft_device_info *list = NULL;
    struct weft_error err = {0};
    size_t count = 0, found = 0, seen = 0;
    weft_status status = weft_devices_list(&list, &count, &err);
    PetscCheck(status == WEFT_OK, PETSC_COMM_SELF, PETSC_ERR_LIB, "no device for weft: %s", err.text);
    int first = weft_device_find(list, count, text);
    *out = first;
    for (size_t i = 0; i < count && first >= 0; i++)
        found += (size_t)alike(&list[i], &list[first], text);
    for (size_t i = 0; i < count && found; i++) {
        if (alike(&list[i], &list[first], text) && seen++ == (size_t)local_rank % found)
            *out = (int)i;
    }
    weft_devices_free(&list);
    PetscCheck(first >= 0, PETSC_COMM_SELF, PETSC_ERR_USER,
               "WEFT_DEVICE is '%s', which no device is: give an index, a kind (gpu) or a part of a name", text);
    return 0;
}

static PetscErrorCode build(void)
{
    char options[80];
    cl_int code;
    cl_device_id id = weft_context_device(device.ctx)->id;
    const char *text = wp_kernels_text;
    device.program = clCreateProgramWithSource(device.cl, 1, &text, NULL, &code);
    WP_CL(code);
    snprintf(options, sizeof options, "-D T=%s -D WG=%d", WP_TYPE_NAME, WP_REDUCE_WG);
    if (clBuildProgram(device.program, 1, &id, options, NULL, NULL)) {
        char log[1000] = "";
        clGetProgramBuildInfo(device.program, id, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
        SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "the kernels of vectors do not compile: %s", log);
    }
    for (int k = 0; k < WP_KERNEL_COUNT; k++) {
        device.kernels[k] = clCreateKernel(device.program, kernel_names[k], &code);
        WP_CL(code);
    }
    return 0;
}

PetscErrorCode wp_device_get(const struct wp_device **out)
{
    *out = &device;
    if (device.ctx)
        return 0;
    int index;
    cl_int code;
    PetscBool timed;
    struct weft_error err = {0};
    PetscCall(pick(&index));
    char select[16];
    snprintf(select, sizeof select, "%d", index);
    weft_status status = weft_context_create(&device.ctx, weft_context_params(.select = select), &err);
    PetscCheck(status == WEFT_OK, PETSC_COMM_SELF, PETSC_ERR_LIB, "device %d: %s", index, err.text);
    const struct weft_device_info *info = weft_context_device(device.ctx);
    PetscCheck(WP_TYPE != WEFT_TYPE_F64 || info->fp64, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "device %d, %s, has no double precision", index, info->name);
    PetscCall(PetscOptionsHasName(NULL, NULL, "-log_view", &timed));
    device.timed = timed == PETSC_TRUE;
    device.cl = weft_context_cl(device.ctx);
    cl_command_queue_properties properties = timed ? CL_QUEUE_PROFILING_ENABLE : 0;
    device.queue = clCreateCommandQueue(device.cl, info->id, properties, &code);
    WP_CL(code);
    device.aside = clCreateCommandQueue(device.cl, info->id, properties, &code);
    WP_CL(code);
    if (timed)
        weft_context_on_launch(device.ctx, note_weft, NULL);
    PetscCall(build());
    PetscCall(PetscInfo(NULL, "weft: local rank %d uses device %d, %s\n", (int)local_rank, index, info->name));
    return PetscRegisterFinalize(close_device);
}

// Enqueue with the event of -log_view's table.
static PetscErrorCode launch(enum wp_kernel kernel, size_t global, const size_t *wg)
{
    cl_event event = NULL;
    WP_CL(clEnqueueNDRangeKernel(device.queue, device.kernels[kernel], 1, NULL, &global, wg, 0, NULL,
                                 device.timed ? &event : NULL));
    if (event) {
        PetscCall(note(kernel_names[kernel], event));
        WP_CL(clReleaseEvent(event));
    }
    return 0;
}

PetscErrorCode wp_launch(enum wp_kernel kernel, size_t n, ...)
{
    if (n == 0)
        return 0;
    va_list args;
    cl_ulong length = n;
    cl_uint k = 0;
    cl_int code = clSetKernelArg(device.kernels[kernel], k++, sizeof length, &length);
    va_start(args, n);
    for (const char *c = kernel_args[kernel]; *c && !code; c++) {
        if (*c == 'm') {
            cl_mem buffer = va_arg(args, cl_mem);
            code = clSetKernelArg(device.kernels[kernel], k++, sizeof buffer, &buffer);
        } else if (*c == 's') {
            PetscScalar value = (PetscScalar)va_arg(args, double);
            code = clSetKernelArg(device.kernels[kernel], k++, sizeof value, &value);
        } else if (*c == 'u') {
            cl_uint value = va_arg(args, cl_uint);
            code = clSetKernelArg(device.kernels[kernel], k++, sizeof value, &value);
        } else {
            cl_ulong value = va_arg(args, cl_ulong);
            code = clSetKernelArg(device.kernels[kernel], k++, sizeof value, &value);
        }
    }
    va_end(args);
    PetscCheck(!code, PETSC_COMM_SELF, PETSC_ERR_LIB, "clSetKernelArg of %s: OpenCL error %d", kernel_names[kernel],
               (int)code);
    size_t wg = WP_REDUCE_WG;
    if (kernel == WP_KERNEL_reduce)
        return launch(kernel, PetscMin((n + wg * 16 - 1) / (wg * 16), (size_t)WP_REDUCE_GROUPS) * wg, &wg);
    return launch(kernel, (n + wg - 1) / wg * wg, &wg);
}

PetscErrorCode wp_buffer(cl_mem *out, size_t bytes)
{
    const struct wp_device *d;
    cl_int code;
    PetscCall(wp_device_get(&d));
    *out = clCreateBuffer(d->cl, CL_MEM_READ_WRITE, PetscMax(bytes, sizeof(PetscScalar)), NULL, &code);
    PetscCheck(!code, PETSC_COMM_SELF, PETSC_ERR_MEM, "no %zu bytes on the device: OpenCL error %d", bytes, (int)code);
    return 0;
}

PetscErrorCode wp_buffer_free(cl_mem *buffer)
{
    if (*buffer)
        WP_CL(clReleaseMemObject(*buffer));
    *buffer = NULL;
    return 0;
}

// -log_view's table counts a copy; `event` is that of its command.
static PetscErrorCode note_copy(const char *name, size_t bytes, cl_event event)
{
    char sized[40];
    if (!device.timed)
        return 0;
    snprintf(sized, sizeof sized, "%s, %zu bytes", name, bytes);
    return note(sized, event);
}

PetscErrorCode wp_write(cl_mem to, const void *from, size_t bytes)
{
    cl_event done;
    if (bytes == 0)
        return 0;
    WP_CL(clEnqueueWriteBuffer(device.queue, to, CL_TRUE, 0, bytes, from, 0, NULL, &done));
    PetscCall(note_copy("write", bytes, done));
    return wp_wait(&done);
}

PetscErrorCode wp_read(void *to, cl_mem from, size_t bytes)
{
    cl_event done;
    if (bytes == 0)
        return 0;
    WP_CL(clEnqueueReadBuffer(device.queue, from, CL_TRUE, 0, bytes, to, 0, NULL, &done));
    PetscCall(note_copy("read", bytes, done));
    return wp_wait(&done);
}

PetscErrorCode wp_read_aside(void *to, cl_mem from, size_t bytes, cl_event *event)
{
    cl_event written;
    *event = NULL;
    if (bytes == 0)
        return 0;
    WP_CL(clEnqueueMarkerWithWaitList(device.queue, 0, NULL, &written));
    WP_CL(clFlush(device.queue));
    WP_CL(clEnqueueReadBuffer(device.aside, from, CL_FALSE, 0, bytes, to, 1, &written, event));
    WP_CL(clReleaseEvent(written));
    WP_CL(clFlush(device.aside));
    return note_copy("read", bytes, *event);
}

PetscErrorCode wp_write_aside(cl_mem to, const void *from, size_t bytes, cl_event *event)
{
    *event = NULL;
    if (bytes == 0)
        return 0;
    WP_CL(clEnqueueWriteBuffer(device.aside, to, CL_FALSE, 0, bytes, from, 0, NULL, event));
    WP_CL(clFlush(device.aside));
    WP_CL(clEnqueueBarrierWithWaitList(device.queue, 1, event, NULL));
    return note_copy("write", bytes, *event);
}

PetscErrorCode wp_wait(cl_event *event)
{
    if (!*event)
        return 0;
    WP_CL(clWaitForEvents(1, event));
    WP_CL(clReleaseEvent(*event));
    *event = NULL;
    return 0;
}

PetscErrorCode wp_pinned_alloc(struct wp_pinned *out, size_t bytes)
{
    const struct wp_device *d;
    cl_int code;
    PetscCall(wp_device_get(&d));
    out->buffer =
        clCreateBuffer(d->cl, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, PetscMax(bytes, (size_t)8), NULL, &code);
    WP_CL(code);
    out->at = clEnqueueMapBuffer(d->queue, out->buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                 PetscMax(bytes, (size_t)8), 0, NULL, NULL, &code);
    WP_CL(code);
    return 0;
}

PetscErrorCode wp_pinned_free(struct wp_pinned *memory)
{
    if (memory->buffer) {
        WP_CL(clEnqueueUnmapMemObject(device.queue, memory->buffer, memory->at, 0, NULL, NULL));
        WP_CL(clReleaseMemObject(memory->buffer));
    }
    memory->buffer = NULL;
    memory->at = NULL;
    return 0;
}

PetscErrorCode wp_parts(size_t count, cl_mem *mem, PetscScalar **host)
{
    if (count > device.part_count) {
        PetscCall(wp_buffer_free(&device.part));
        PetscCall(wp_pinned_free(&device.part_host));
        device.part_count = 0;
        PetscCall(wp_buffer(&device.part, count * sizeof(PetscScalar)));
        PetscCall(wp_pinned_alloc(&device.part_host, count * sizeof(PetscScalar)));
        device.part_count = count;
    }
    *mem = device.part;
    *host = device.part_host.at;
    return 0;
}
