// SPDX-License-Identifier: Apache-2.0
// Makes programs of the files of cl/, compiles and caches them, and launches their kernels.
#include "host/src/core/program.h"
#include "host/src/core/cache.h"
#include "host/src/core/limits.h"
#include "host/src/core/quirks.h"
#include "host/src/core/launches.h"
#include "host/src/core/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// A compiled program, kept by its text and options for the life of the context.
struct weft__program {
    struct weft__program *next;
    char *text;
    cl_program program;
};

void weft__define(struct weft__defines *d, const char *name, const char *format, ...)
{
    va_list args;
    if (d->used >= sizeof d->text) // too long already; weft__kernel_create refuses it
        return;
    int length = snprintf(d->text + d->used, sizeof d->text - d->used, "#define %s ", name);
    d->used += length > 0 ? (size_t)length : 0;
    if (d->used < sizeof d->text) {
        va_start(args, format);
        length = vsnprintf(d->text + d->used, sizeof d->text - d->used, format, args);
        va_end(args);
        d->used += length > 0 ? (size_t)length : 0;
    }
    if (d->used + 1 < sizeof d->text) {
        d->text[d->used++] = '\n';
        d->text[d->used] = 0;
    }
}

void weft__define_types(struct weft__defines *d, enum weft_type type, enum weft_ofs ofs)
{
    weft__define(d, "WEFT_OFS_BITS", "%d", ofs == WEFT_OFS_64 ? 64 : 32);
    weft__define(d, "WEFT_VAL_BITS", "%d", (int)weft_type_bytes(type) * 8);
    if (type == WEFT_TYPE_F32)
        weft__define(d, "WEFT_VAL_IS_F32", "1");
    else if (type == WEFT_TYPE_F64)
        weft__define(d, "WEFT_VAL_IS_F64", "1");
    else if (type == WEFT_TYPE_I32)
        weft__define(d, "WEFT_VAL_IS_I32", "1");
}

struct weft__caps weft__caps_of(const struct weft_context *ctx)
{
    const enum weft_lanes lanes = __atomic_load_n(&ctx->device.lanes, __ATOMIC_RELAXED); // weft__limit_wave sets it
    return (struct weft__caps){.lanes = ctx->schedule == WEFT_SCHEDULE_CPU ? WEFT_LANES_LOCAL : lanes,
                               .wave = ctx->device.wave,
                               .fp64 = ctx->device.fp64,
                               .int64_atomics = ctx->device.int64_atomics,
                               .fence = ctx->schedule == WEFT_SCHEDULE_GPU && ctx->device.fence,
                               .no_ballot = ctx->no_ballot,
                               .no_size = ctx->no_size,
                               .large = ctx->large_flag && ctx->device.max_alloc_bytes > WEFT__LARGE_BYTES};
}

const char *weft__program_options(const struct weft__caps *caps)
{
    if (caps->large)
        return caps->lanes == WEFT_LANES_SUBGROUPS ? "-cl-std=CL3.0 " WEFT__LARGE_OPTION
                                                   : "-cl-std=CL1.2 " WEFT__LARGE_OPTION;
    return caps->lanes == WEFT_LANES_SUBGROUPS ? "-cl-std=CL3.0" : "-cl-std=CL1.2";
}

static const struct weft__source *source_find(const char *name)
{
    for (const struct weft__source *s = weft__sources; s->name; s++)
        if (!strcmp(s->name, name))
            return s;
    return NULL;
}

uint64_t weft__sources_hash(void)
{
    static _Atomic uint64_t known; // every thread finds the same
    uint64_t hash = known;
    if (hash)
        return hash;
    hash = UINT64_C(0xcbf29ce484222325);
    for (const struct weft__source *s = weft__sources; s->name; s++)
        for (int part = 0; part < 2; part++)
            for (const char *c = part ? s->text : s->name; *c; c++)
                hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    known = hash;
    return hash;
}

// Append a file to `text` of `room` bytes, *length of which are taken; counts on where there is no room.
static void source_append(char *text, size_t room, size_t *length, const struct weft__source *source)
{
    const int more = snprintf(text ? text + *length : NULL, text ? room - *length : 0, "#line 1 \"%s\"\n%s",
                              source->name, source->text);
    *length += more > 0 ? (size_t)more : 0;
}

#define MOST_FILES (sizeof((struct weft__kernel_spec *)0)->files / sizeof(char *))

// The text, or with text NULL its length; `sources` ends with NULL.
static size_t text_write(char *text, size_t room, const struct weft__caps *caps,
                         const struct weft__source *const *sources, const char *defines)
{
    static const char *const lanes[] = {"", "", "#define WEFT_LANES_PTX 1\n", "#define WEFT_LANES_AMDGCN 1\n",
                                        "#define WEFT_LANES_SUBGROUPS 1\n"};
    char wave[128] = "";
    const int subgroups = caps->lanes == WEFT_LANES_SUBGROUPS;
    if (caps->lanes == WEFT_LANES_AMDGCN || subgroups)
        snprintf(wave, sizeof wave, "#define WEFT_WAVE %d\n%s%s", caps->wave,
                 subgroups && caps->no_ballot ? "#define WEFT_NO_BALLOT 1\n" : "",
                 subgroups && caps->no_size ? "#define WEFT_WAVE_AS_COMPILED 1\n" : "");
    const int head = snprintf(text, text ? room : 0, "%s%s%s%s%s%s", caps->fp64 ? "#define WEFT_HAS_FP64 1\n" : "",
                              caps->int64_atomics ? "#define WEFT_HAS_INT64_ATOMICS 1\n" : "",
                              caps->fence ? "#define WEFT_DEVICE_FENCE 1\n" : "", lanes[caps->lanes], wave, defines);
    size_t length = head > 0 ? (size_t)head : 0;
    for (; *sources; sources++)
        source_append(text, room, &length, *sources);
    return length;
}

char *weft__program_text(const struct weft__caps *caps, const struct weft__kernel_spec *spec, const char *defines)
{
    const struct weft__source *sources[MOST_FILES + 2] = {source_find("lib/weft.clh")};
    size_t count = 1;
    for (size_t i = 1; i < MOST_FILES && spec->files[i]; i++)
        sources[count++] = source_find(spec->files[i]);
    sources[count++] = source_find(spec->files[0]);
    for (size_t i = 0; i < count; i++)
        if (!sources[i])
            return NULL;
    const size_t room = text_write(NULL, 0, caps, sources, defines) + 1;
    char *text = malloc(room);
    if (text)
        text_write(text, room, caps, sources, defines);
    return text;
}

// File and line that the #line directives of `text` give to its line `number`; *line is 0 before the first directive.
static void line_find(const char *text, long number, char file[64], long *line)
{
    *line = 0;
    for (long i = 1, next = 0; text && i <= number; i++) {
        if (sscanf(text, "#line %ld \"%63[^\"]\"", &next, file) != 2) {
            *line = next;
            next += next > 0;
        }
        text = strchr(text, '\n');
        text += text != NULL;
    }
}

char *weft__log_lines(const char *log, const char *text)
{
    static const char mark[] = "<kernel>:";
    size_t marks = 0, at = 0;
    for (const char *p = log; (p = strstr(p, mark)) != NULL; p += sizeof mark - 1)
        marks++;
    char *out = malloc(strlen(log) + marks * 96 + 1);
    while (out && *log) {
        long number, line;
        int used = 0;
        char file[64];
        if (!strncmp(log, mark, sizeof mark - 1) && sscanf(log + sizeof mark - 1, "%ld%n", &number, &used) == 1) {
            line_find(text, number, file, &line);
            if (line) {
                at += (size_t)sprintf(out + at, "%s:%ld", file, line);
                log += sizeof mark - 1 + (size_t)used;
                continue;
            }
        }
        out[at++] = *log++;
    }
    if (out)
        out[at] = '\0';
    return out;
}

// What the driver says of a build, "" where it says nothing; NULL: no memory. The caller frees it.
static char *build_log(struct weft_context *ctx, cl_program program)
{
    size_t size = 0;
    weft__cl.clGetProgramBuildInfo(program, ctx->device.id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    char *log = calloc(1, size + 1);
    if (log && size)
        weft__cl.clGetProgramBuildInfo(program, ctx->device.id, CL_PROGRAM_BUILD_LOG, size, log, NULL);
    return log;
}

// `log` in the context's error; `text` is what was compiled.
static weft_status build_fail(struct weft_context *ctx, const char *log, const char *source, const char *text,
                              cl_int error)
{
    char *lines = log ? weft__log_lines(log, text) : NULL;
    weft__fail(ctx, WEFT_EBUILD, "%s does not compile on %s: %s (%d)\n%s", source, ctx->device.name,
               weft__cl_error_name(error), error, lines ? lines : "");
    free(lines);
    return WEFT_EBUILD;
}

// A build whose log names no error is tried again, after 10 ms and then four times as long each time: PoCL 3.1 fails so while
// other processes write to a cache of its own that was empty.
#define BUILDS 5

static weft_status program_compile(cl_program *out, struct weft_context *ctx, const char *source, const char *text,
                                   const char *options)
{
    for (int builds = 1;; builds++) {
        cl_int error;
        cl_program program = weft__cl.clCreateProgramWithSource(ctx->cl, 1, &text, NULL, &error);
        if (error != CL_SUCCESS)
            return weft__fail_cl(ctx, error, "clCreateProgramWithSource");
        error = weft__cl.clBuildProgram(program, 1, &ctx->device.id, options, NULL, NULL);
        if (error == CL_SUCCESS) {
            *out = program;
            return WEFT_OK;
        }
        char *log = build_log(ctx, program);
        weft__cl.clReleaseProgram(program);
        if (builds == BUILDS || !log || strcasestr(log, "error")) {
            const weft_status status = build_fail(ctx, log, source, text, error);
            free(log);
            return status;
        }
        free(log);
        nanosleep(&(struct timespec){.tv_nsec = 10000000L << 2 * (builds - 1)}, NULL);
    }
}

// A program from the disk cache; NULL when it is not there or the driver rejects it.
static cl_program program_load(struct weft_context *ctx, const char *key, const char *options)
{
    size_t size = 0;
    unsigned char *binary = weft__cached(ctx, key, &size);
    if (!binary)
        return NULL;
    cl_int error, status = CL_SUCCESS;
    const unsigned char *binaries[] = {binary};
    cl_program program =
        weft__cl.clCreateProgramWithBinary(ctx->cl, 1, &ctx->device.id, &size, binaries, &status, &error);
    free(binary);
    if (error != CL_SUCCESS)
        return NULL;
    if (status == CL_SUCCESS)
        status = weft__cl.clBuildProgram(program, 1, &ctx->device.id, options, NULL, NULL);
    if (status == CL_SUCCESS)
        return program;
    weft__cl.clReleaseProgram(program);
    return NULL;
}

// The binary for the context's device, *size bytes; NULL: none. A program belongs to all devices of its OpenCL context.
static unsigned char *program_binary(struct weft_context *ctx, cl_program program, size_t *size)
{
    cl_uint count = 0;
    if (weft__cl.clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof count, &count, NULL) != CL_SUCCESS || !count)
        return NULL;
    cl_device_id *devices = calloc(count, sizeof *devices);
    size_t *sizes = calloc(count, sizeof *sizes), at = 0;
    unsigned char **binaries = calloc(count, sizeof *binaries), *out = NULL; // NULL: not asked for
    if (devices && sizes && binaries &&
        weft__cl.clGetProgramInfo(program, CL_PROGRAM_DEVICES, count * sizeof *devices, devices, NULL) == CL_SUCCESS &&
        weft__cl.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, count * sizeof *sizes, sizes, NULL) == CL_SUCCESS) {
        while (count > 1 && at < count && devices[at] != ctx->device.id)
            at++; // alone it is the one, whatever a driver calls it: PoCL names the whole of a part
        if (at < count && sizes[at] && (out = malloc(sizes[at]))) {
            *size = sizes[at];
            binaries[at] = out;
            if (weft__cl.clGetProgramInfo(program, CL_PROGRAM_BINARIES, count * sizeof *binaries, binaries, NULL) !=
                CL_SUCCESS) {
                free(out);
                out = NULL;
            }
        }
    }
    free(devices);
    free(sizes);
    free(binaries);
    return out;
}

// Store the binary; a failure costs the next process a compilation, nothing else.
static void program_store(struct weft_context *ctx, const char *key, cl_program program)
{
    size_t size = 0;
    unsigned char *binary = program_binary(ctx, program, &size);
    if (binary)
        weft__cache_write(ctx->cache_dir, key, binary, size);
    free(binary);
}

// The program of `text`, from memory, disk or compiled. Called with the mutex free; the list only grows.
static weft_status program_get(cl_program *out, struct weft_context *ctx, const char *source, char *text,
                               const char *options)
{
    pthread_mutex_lock(&ctx->mutex);
    for (struct weft__program *p = ctx->programs; p; p = WEFT__HOSTILE(p->next, NULL))
        if (!strcmp(p->text, text)) {
            *out = p->program;
            pthread_mutex_unlock(&ctx->mutex);
            free(text);
            return WEFT_OK;
        }
    pthread_mutex_unlock(&ctx->mutex);

    struct weft__program *entry = calloc(1, sizeof *entry);
    char *key = ctx->cache_dir ? weft__cache_key(&ctx->device, options, text) : NULL;
    cl_program program = NULL;
    weft_status status = entry ? WEFT_OK : weft__fail(ctx, WEFT_ENOMEM, "out of host memory for a program");
    double start = weft__now_ms();
    if (!status && key)
        program = program_load(ctx, key, options);
    double load_ms = weft__now_ms() - start;
    int loaded = program != NULL;
    start = weft__now_ms();
    if (!status && !program)
        status = program_compile(&program, ctx, source, text, options);
    if (!status && key && !loaded)
        program_store(ctx, key, program);
    double compile_ms = weft__now_ms() - start;
    free(key);
    if (status) {
        free(entry);
        free(text);
        return status;
    }
    *entry = (struct weft__program){.text = text, .program = program};
    pthread_mutex_lock(&ctx->mutex);
    entry->next = ctx->programs;
    ctx->programs = entry;
    ctx->stats.loaded += loaded;
    ctx->stats.compiled += !loaded;
    if (loaded)
        ctx->stats.load_ms += load_ms;
    else
        ctx->stats.compile_ms += compile_ms;
    pthread_mutex_unlock(&ctx->mutex);
    *out = program;
    return WEFT_OK;
}

void weft__programs_free(struct weft_context *ctx)
{
    while (ctx->programs) {
        struct weft__program *p = ctx->programs;
        ctx->programs = p->next;
        weft__cl.clReleaseProgram(p->program);
        free(p->text);
        free(p);
    }
}

// The work-group size that the defines ask for; 0: none.
static size_t wg_of(const struct weft__defines *d)
{
    static const char name[] = "#define WEFT_WG ";
    const char *at = strstr(d->text, name);
    return at ? strtoul(at + sizeof name - 1, NULL, 10) : 0;
}

const struct weft__kernel_text *weft__kernel_text(const struct weft__kernel_spec *spec)
{
    for (const struct weft__kernel_text *k = weft__kernel_texts; k->entry; k++)
        if (!strcmp(k->entry, spec->entry) && !strcmp(k->source, spec->files[0]))
            return k;
    return NULL;
}

// A launch costs the host some microseconds, and setting an argument a part of one: names are looked up once for a place
// in the code, whose literals keep their addresses, and a number that did not change is not set again. An array always
// is: another one may have the handle of one that is gone.
struct weft__kernel {
    cl_kernel cl;
    const char *entry;
    const char *const *args;
    uint32_t all, values;      // a bit for each argument; values: no arrays
    uint32_t bound, kept;      // set by weft__bind; the number in `number` is set
    uint64_t mark;             // the owner's
    uint64_t number[32];       // what values were set to
    const char *name_seen[32]; // the name that stood at this place of a launch
    int8_t place_seen[32];     // and the argument that it is
};

weft_status weft__kernel_create(struct weft__kernel **out, struct weft_context *ctx,
                                const struct weft__kernel_spec *spec, const struct weft__defines *defines)
{
    *out = NULL;
    struct weft__caps caps = weft__caps_of(ctx);
    const struct weft__kernel_text *known = weft__kernel_text(spec);
    if (!known)
        return weft__fail(ctx, WEFT_EDEVICE, "%s has no kernel %s", spec->files[0], spec->entry);
    if (defines->used + 1 >= sizeof defines->text)
        return weft__fail(ctx, WEFT_ERANGE, "the defines of %s are too long", spec->entry);
    struct weft__defines salted = *defines;
    if (ctx->salt)
        weft__define(&salted, "WEFT_SALT", "%llu", (unsigned long long)ctx->salt);
    struct weft__kernel *kernel = calloc(1, sizeof *kernel);
    char *text = kernel ? weft__program_text(&caps, spec, salted.text) : NULL;
    if (!text) {
        free(kernel);
        return weft__fail(ctx, WEFT_ENOMEM, "out of host memory for the text of %s", spec->files[0]);
    }
    cl_program program = NULL;
    weft_status status = program_get(&program, ctx, spec->files[0], text, weft__program_options(&caps));
    cl_int error = CL_SUCCESS;
    *kernel = (struct weft__kernel){.entry = spec->entry, .args = known->args, .values = known->values};
    for (size_t i = 0; known->args[i]; i++)
        kernel->all |= UINT32_C(1) << i;
    if (!status)
        kernel->cl = weft__cl.clCreateKernel(program, spec->entry, &error);
    if (!status && error != CL_SUCCESS) {
        kernel->cl = NULL;
        status = weft__fail_cl(ctx, error, spec->entry);
    }
    if (!status)
        status = weft__limit_check(ctx, kernel->cl, spec->entry, wg_of(defines));
    if (!status && caps.lanes == WEFT_LANES_SUBGROUPS && caps.no_size)
        status = weft__limit_wave(ctx, kernel->cl, spec->entry, wg_of(defines));
    if (status)
        weft__kernel_release(&kernel);
    *out = kernel;
    return status;
}

void weft__kernel_release(struct weft__kernel **kernel)
{
    if (*kernel && (*kernel)->cl)
        weft__cl.clReleaseKernel((*kernel)->cl);
    free(*kernel);
    *kernel = NULL;
}

uint64_t *weft__kernel_mark(struct weft__kernel *kernel)
{
    return &kernel->mark;
}

// The place of the argument `name`, number `i` of a launch; -1: the kernel has none.
static int arg_find(struct weft__kernel *kernel, const char *name, size_t i)
{
    if (i < 32 && kernel->name_seen[i] == name)
        return kernel->place_seen[i];
    int place = 0;
    while (kernel->args[place] && strcmp(kernel->args[place], name) != 0)
        place++;
    if (!kernel->args[place])
        return -1;
    if (i < 32) {
        kernel->name_seen[i] = name;
        kernel->place_seen[i] = (int8_t)place;
    }
    return place;
}

static cl_int arg_set(struct weft__kernel *kernel, int place, const struct weft__arg *arg)
{
    const uint32_t bit = UINT32_C(1) << place;
    uint64_t number = 0;
    const int is_number = (kernel->values & bit) && arg->value && arg->size <= sizeof number;
    if (is_number)
        memcpy(&number, arg->value, arg->size);
    if (is_number && (kernel->kept & bit) && kernel->number[place] == number)
        return CL_SUCCESS;
    const cl_int error = weft__cl.clSetKernelArg(kernel->cl, (cl_uint)place, arg->size, arg->value);
    kernel->number[place] = number;
    kernel->kept = is_number && error == CL_SUCCESS ? kernel->kept | bit : kernel->kept & ~bit;
    return error;
}

weft_status weft__bind(struct weft_context *ctx, struct weft__kernel *kernel, const struct weft__arg *args,
                       size_t nargs)
{
    cl_int error = CL_SUCCESS;
    for (size_t i = 0; i < nargs && error == CL_SUCCESS; i++) {
        const int place = arg_find(kernel, args[i].name, i);
        if (place < 0)
            continue;
        error = arg_set(kernel, place, &args[i]);
        kernel->bound |= UINT32_C(1) << place;
    }
    return weft__fail_cl(ctx, error, kernel->entry);
}

// Set the arguments of a launch; *error is what OpenCL says of them.
static weft_status args_set(struct weft_context *ctx, struct weft__kernel *kernel, const struct weft__arg *args,
                            size_t nargs, cl_int *error)
{
    uint32_t set = kernel->bound;
    *error = CL_SUCCESS;
    for (size_t i = 0; i < nargs && *error == CL_SUCCESS; i++) {
        const int place = arg_find(kernel, args[i].name, i);
        if (place < 0)
            return weft__fail(ctx, WEFT_EINVAL, "%s has no argument %s", kernel->entry, args[i].name);
        *error = arg_set(kernel, place, &args[i]);
        set |= UINT32_C(1) << place;
    }
    if (*error == CL_SUCCESS && set != kernel->all)
        return weft__fail(ctx, WEFT_EINVAL, "%s: argument %s is not given", kernel->entry,
                          kernel->args[__builtin_ctz(~set)]);
    return WEFT_OK;
}

size_t weft__groups_most(size_t wg)
{
    return (((size_t)1 << 31) - 1) / wg;
}

size_t weft__groups(size_t tiles, size_t wg)
{
    return weft__min(tiles, WEFT__HOSTILE(weft__groups_most(wg), 192 / wg + 1));
}

weft_status weft__launch(struct weft__stream *stream, struct weft__kernel *kernel, size_t groups, size_t wg,
                         const struct weft__arg *args, size_t nargs)
{
    if (stream->status || !groups)
        return stream->status;
    struct weft_context *ctx = stream->ctx;
    cl_int error;
    stream->status = args_set(ctx, kernel, args, nargs, &error);
    if (stream->status)
        return stream->status;
    if (error == CL_SUCCESS)
        error = weft__stream_barrier(stream);
    size_t global = groups * wg;
    cl_event event = NULL;
    const int told = !weft__launches_note(kernel->entry) && ctx->on_launch != NULL;
    if (error == CL_SUCCESS)
        error = weft__cl.clEnqueueNDRangeKernel(stream->queue, kernel->cl, 1, NULL, &global, &wg, stream->nwait,
                                                stream->wait, told ? &event : NULL);
    stream->status = weft__fail_cl(ctx, error, kernel->entry);
    if (!stream->status && event) {
        ctx->on_launch(ctx->on_launch_arg, kernel->entry, global, wg, event);
        weft__cl.clReleaseEvent(event);
    }
    return stream->status;
}
