// SPDX-License-Identifier: Apache-2.0
#include "device.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int name_find(const char *text, const char *const *names, int count, const char *option)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(text, names[i]))
            return i;
    tap_bail("%s %s is not known", option, text);
}

static void known(int is, const char *option, const char *text)
{
    if (!is)
        tap_bail("%s %s is not known", option, text);
}

void huge_options_read(struct huge_options *o, int argc, char **argv)
{
    static const char *const lanes[] = {"best", "local"};
    for (int i = 1; i < argc; i += 2) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (!value)
            tap_bail("%s needs a value", name);
        if (!strcmp(name, "--entries"))
            o->entries = (int64_t)strtod(value, NULL);
        else if (!strcmp(name, "--columns"))
            o->columns = (int64_t)strtod(value, NULL);
        else if (!strcmp(name, "--type"))
            known(!weft_type_parse(&o->type, value), name, value);
        else if (!strcmp(name, "--index"))
            known(!weft_ofs_parse(&o->ofs, value), name, value);
        else if (!strcmp(name, "--pattern"))
            o->kind = (enum huge_kind)name_find(value, huge_kind_names, HUGE_KINDS, name);
        else if (!strcmp(name, "--generate"))
            o->generate = value;
        else if (!strcmp(name, "--what"))
            o->what = value;
        else if (!strcmp(name, "--schedule"))
            known(!weft_schedule_parse(&o->schedule, value), name, value);
        else if (!strcmp(name, "--lanes"))
            o->local = name_find(value, lanes, 2, name);
        else
            tap_bail("%s is not an option: --entries --type --index --pattern --columns --generate --what --schedule "
                     "--lanes",
                     name);
    }
    if (o->entries < 100000)
        tap_bail("--entries are at least 100000");
}

int huge_wanted(const struct huge_options *o, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = o->what; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (!strncmp(at, name, length) && (!at[length] || at[length] == ','))
            return 1;
    return 0;
}

void huge_skip_unless_wanted(int argc)
{
    const char *text = getenv("WEFT_HUGE");
    if (argc == 1 && (!text || strcmp(text, "1") != 0))
        tap_skip_all("minutes of time and up to 100 GB of device memory: WEFT_HUGE=1 runs this");
}

// ---- the device ------------------------------------------------------------------------------------------------------

#define MOST_LAUNCHES 256

static struct {
    char name[40];
    cl_event event;
} launches[MOST_LAUNCHES];
static int launched;
static double began;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void launch_note(void *arg, const char *kernel, size_t global, size_t wg, cl_event event)
{
    (void)arg;
    // At once, so that a failure has the kernel's name.
    const cl_int code = clWaitForEvents(1, &event);
    if (code != CL_SUCCESS) {
        cl_int state = 0;
        clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
        tap_note("kernel %s, %zu work-items by %zu: OpenCL error %d, state %d", kernel, global, wg, code, state);
    }
    if (launched == MOST_LAUNCHES)
        return;
    snprintf(launches[launched].name, sizeof launches[launched].name, "%s", kernel);
    clRetainEvent(event);
    launches[launched++].event = event;
}

static int64_t memory_free(void)
{
    long long kib = 0;
    char line[200];
    FILE *f = fopen("/proc/meminfo", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "MemAvailable: %lld", &kib) == 1)
            break;
    if (f)
        fclose(f);
    return kib ? kib * 1024 : (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
}

void huge_device_open(struct huge_device *d, const struct huge_options *o)
{
    const char *wanted = getenv("WEFT_DEVICE");
    struct weft_error error = {0};
    *d = (struct huge_device){0};
    struct weft_context_params params = {.select = wanted, .schedule = o->schedule};
    if (o->local) {
        params.lanes = WEFT_LANES_LOCAL;
    }
    if (weft_context_create(&d->ctx, &params, &error))
        tap_skip_all("%s", error.text);
    const struct weft_device_info *info = weft_context_device(d->ctx);
    cl_int code;
    d->queue = clCreateCommandQueue(weft_context_cl(d->ctx), info->id, CL_QUEUE_PROFILING_ENABLE, &code);
    if (code != CL_SUCCESS)
        tap_bail("clCreateCommandQueue: %d", code);
    d->shared = (info->type & CL_DEVICE_TYPE_CPU) != 0;
    d->host_bytes = memory_free();
    d->device_bytes = d->shared && info->global_bytes > d->host_bytes ? d->host_bytes : info->global_bytes;
    d->device_bytes -= d->device_bytes / 32;
    for (int i = 0; i < 2; i++)
        if (!(d->stage[i] = malloc(HUGE_STAGE)))
            tap_bail("out of host memory");
    weft_context_on_launch(d->ctx, launch_note, NULL);
    tap_note("%s, driver %s: %.1f GB, %.1f GB in one buffer; host %.1f GB free", info->name, info->driver,
             (double)info->global_bytes * 1e-9, (double)info->max_alloc_bytes * 1e-9, (double)d->host_bytes * 1e-9);
}

void huge_device_close(struct huge_device *d)
{
    for (int i = 0; i < launched; i++)
        clReleaseEvent(launches[i].event);
    launched = 0;
    clReleaseCommandQueue(d->queue);
    weft_context_destroy(&d->ctx);
    free(d->stage[0]);
    free(d->stage[1]);
}

int huge_fits(const struct huge_device *d, int64_t device, int64_t largest, int64_t host, const char *what)
{
    const int64_t most = weft_context_device(d->ctx)->max_alloc_bytes;
    const int one = d->shared ? device + host <= d->device_bytes : device <= d->device_bytes && host <= d->host_bytes;
    tap_note("%s: needs %.1f GB of device memory, at most %.1f GB in one buffer, %.1f GB of host memory", what,
             (double)device * 1e-9, (double)largest * 1e-9, (double)host * 1e-9);
    if (one && largest <= most)
        return 1;
    tap_skip("%s: the device has %.1f GB and %.1f GB in one buffer, the host %.1f GB free", what,
             (double)d->device_bytes * 1e-9, (double)most * 1e-9, (double)d->host_bytes * 1e-9);
    return 0;
}

const char *huge_error(const struct huge_device *d)
{
    static struct weft_error error;
    weft_context_error(&error, d->ctx);
    return error.text;
}

cl_mem huge_buffer(struct huge_device *d, int64_t bytes)
{
    cl_int code;
    cl_mem out = clCreateBuffer(weft_context_cl(d->ctx), CL_MEM_READ_WRITE, bytes ? (size_t)bytes : 1, NULL, &code);
    if (code != CL_SUCCESS)
        tap_bail("a buffer of %lld bytes: OpenCL error %d", (long long)bytes, code);
    return out;
}

void huge_release(cl_mem *buffer)
{
    if (*buffer)
        clReleaseMemObject(*buffer);
    *buffer = NULL;
}

void huge_write(struct huge_device *d, cl_mem to, int64_t first_byte, const void *from, int64_t bytes)
{
    const cl_int code =
        clEnqueueWriteBuffer(d->queue, to, CL_TRUE, (size_t)first_byte, (size_t)bytes, from, 0, NULL, NULL);
    if (code != CL_SUCCESS)
        tap_bail("write: OpenCL error %d", code);
}

void huge_read(struct huge_device *d, cl_mem from, int64_t first_byte, void *to, int64_t bytes)
{
    const cl_int code =
        clEnqueueReadBuffer(d->queue, from, CL_TRUE, (size_t)first_byte, (size_t)bytes, to, 0, NULL, NULL);
    if (code != CL_SUCCESS)
        tap_bail("read: OpenCL error %d", code);
}

void huge_upload(struct huge_device *d, struct weft_device_csr *a, const struct huge_pattern *p,
                 const struct huge_offsets *row_ptr, uint32_t salt)
{
    const int64_t value = (int64_t)weft_type_bytes(a->type);
    if (a->row_ptr)
        huge_write(d, a->row_ptr, 0, row_ptr->at, (a->m + 1) * (int64_t)weft_ofs_bytes(a->ofs));
    for (int64_t i = 0, end; i < a->m; i = end) {
        end = huge_piece_end(row_ptr, a->m, i, HUGE_PIECE);
        const int64_t first = huge_ofs(row_ptr, i), count = huge_ofs(row_ptr, end) - first;
        huge_rows_fill(p, row_ptr, i, end, NULL, a->col ? d->stage[0] : NULL, a->val ? d->stage[1] : NULL, a->type,
                       salt);
        if (a->col && count)
            huge_write(d, a->col, first * 4, d->stage[0], count * 4);
        if (a->val && count)
            huge_write(d, a->val, first * value, d->stage[1], count * value);
    }
}

void huge_check_transpose(struct huge_device *d, const struct huge_pattern *p, cl_mem row_ptr, cl_mem col, cl_mem val,
                          int64_t nnz, enum weft_type type, enum weft_ofs ofs, uint32_t salt, const char *name)
{
    const int64_t width = (int64_t)weft_ofs_bytes(ofs), value = (int64_t)weft_type_bytes(type);
    struct huge_offsets col_ptr = {ofs, malloc((size_t)((p->n + 1) * width))};
    struct huge_bad bad = {0};
    if (!col_ptr.at)
        tap_bail("out of host memory");
    huge_read(d, row_ptr, 0, col_ptr.at, (p->n + 1) * width);
    huge_col_ptr_check(&bad, p, &col_ptr, nnz);
    int64_t most = HUGE_PIECE;
    for (int64_t j = 0; j < p->n && !bad.count; j++)
        if (huge_ofs(&col_ptr, j + 1) - huge_ofs(&col_ptr, j) > most)
            most = huge_ofs(&col_ptr, j + 1) - huge_ofs(&col_ptr, j);
    void *stage[2] = {d->stage[0], d->stage[1]};
    for (int i = 0; i < 2 && most > HUGE_PIECE; i++)
        if (!(stage[i] = malloc((size_t)most * 8)))
            tap_bail("out of host memory");
    for (int64_t j = 0, end; j < p->n && !bad.count; j = end) {
        end = huge_piece_end(&col_ptr, p->n, j, most);
        const int64_t first = huge_ofs(&col_ptr, j), count = huge_ofs(&col_ptr, end) - first;
        if (!count)
            continue;
        if (col)
            huge_read(d, col, first * 4, stage[0], count * 4);
        if (val)
            huge_read(d, val, first * value, stage[1], count * value);
        huge_columns_check(&bad, p, &col_ptr, j, end, col ? stage[0] : NULL, val ? stage[1] : NULL, type, salt);
    }
    for (int i = 0; i < 2 && most > HUGE_PIECE; i++)
        free(stage[i]);
    free(col_ptr.at);
    tap_ok(!bad.count, "%s", name);
    if (bad.count)
        tap_note("%lld wrong, first at %lld: %s", (long long)bad.count, (long long)bad.at, bad.what);
}

static void launches_drop(void)
{
    while (launched > 0)
        clReleaseEvent(launches[--launched].event);
}

void huge_time_begin(struct huge_device *d)
{
    clFinish(d->queue);
    launches_drop();
    began = now();
}

void huge_time_note(struct huge_device *d, const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    clFinish(d->queue);
    const double seconds = now() - began;
    double ms = 0;
    char kernels[600] = "";
    for (int i = 0; i < launched; i++) {
        cl_ulong from = 0, to = 0;
        if (clGetEventProfilingInfo(launches[i].event, CL_PROFILING_COMMAND_START, sizeof from, &from, NULL) ||
            clGetEventProfilingInfo(launches[i].event, CL_PROFILING_COMMAND_END, sizeof to, &to, NULL))
            continue;
        const size_t used = strlen(kernels);
        ms += (double)(to - from) * 1e-6;
        snprintf(kernels + used, sizeof kernels - used, " %.39s %.2f", launches[i].name, (double)(to - from) * 1e-6);
    }
    if (launched)
        tap_note("%s: %.2f s, kernels %.2f ms:%s", text, seconds, ms, kernels);
    else
        tap_note("%s: %.2f s", text, seconds);
    fflush(stdout);
    launches_drop();
    began = now();
}
