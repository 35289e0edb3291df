// SPDX-License-Identifier: Apache-2.0
// The argument names that cl/embed.py read from each kernel are those of the compiled kernel, in the same order: launches
// find the place of an argument by its name, and this is what keeps them right.
#include "tests/support/device.h"
#include "host/internal/tests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct seen {
    struct test_device *dev;
    const struct weft__kernel_spec *specs[512];
    size_t count;
};

// The kernel's argument names as one string with spaces between; "" where the driver has none.
static void names_read(cl_kernel kernel, char *out, size_t size)
{
    cl_uint count = 0;
    out[0] = 0;
    if (clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof count, &count, NULL) != CL_SUCCESS)
        return;
    for (cl_uint i = 0; i < count; i++) {
        char name[64] = "";
        if (clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_NAME, sizeof name, name, NULL) != CL_SUCCESS)
            snprintf(name, sizeof name, "?");
        // PoCL writes _cl_ before words that are also built-in functions.
        const char *word = strncmp(name, "_cl_", 4) ? name : name + 4;
        snprintf(out + strlen(out), size - strlen(out), "%s%s", i ? " " : "", word);
    }
}

static void variant_check(void *arg, const struct weft__variant *v)
{
    struct seen *seen = arg;
    struct test_device *dev = seen->dev;
    if (v->schedule != WEFT_SCHEDULE_AUTO && (v->schedule == WEFT_SCHEDULE_GPU) != dev->gpu)
        return;
    struct weft__caps caps = weft__caps_of(dev->ctx);
    if ((v->fp64 && !caps.fp64) || (v->int64_atomics && !caps.int64_atomics))
        return;
    for (size_t i = 0; i < seen->count; i++)
        if (seen->specs[i] == v->spec)
            return;
    if (seen->count == sizeof seen->specs / sizeof *seen->specs)
        tap_bail("more kernels than this test has room for");
    seen->specs[seen->count++] = v->spec;

    char *text = weft__program_text(&caps, v->spec, v->defines.text);
    if (!tap_ok(text != NULL, "%s: %s is embedded", v->spec->entry, v->spec->files[0]))
        return;
    char options[128], names[1024];
    snprintf(options, sizeof options, "%s -cl-kernel-arg-info", weft__program_options(&caps));
    cl_device_id device = weft_context_device(dev->ctx)->id;
    const char *texts[] = {text};
    cl_int error;
    cl_kernel kernel = NULL;
    cl_program program = clCreateProgramWithSource(weft_context_cl(dev->ctx), 1, texts, NULL, &error);
    if (error == CL_SUCCESS)
        error = weft__cl.clBuildProgram(program, 1, &device, options, NULL, NULL);
    if (error == CL_SUCCESS)
        kernel = clCreateKernel(program, v->spec->entry, &error);
    if (tap_is_int(error, CL_SUCCESS, "%s: %s of %s compiles", dev->name, v->spec->entry, v->spec->files[0])) {
        const struct weft__kernel_text *known = weft__kernel_text(v->spec);
        char want[1024] = "";
        for (int i = 0; known && known->args[i]; i++)
            snprintf(want + strlen(want), sizeof want - strlen(want), "%s%s", i ? " " : "", known->args[i]);
        names_read(kernel, names, sizeof names);
        tap_is_str(names, want, "%s: arguments of %s", dev->name, v->spec->entry);
    }
    if (kernel)
        clReleaseKernel(kernel);
    if (program)
        clReleaseProgram(program);
    free(text);
}

static void test_all(struct test_device *dev)
{
    struct seen seen = {.dev = dev};
    for (const struct weft__operation *op = weft__operations; op->name; op++)
        op->variants(variant_check, &seen);
    tap_ok(seen.count > 0, "%s: %zu kernels", dev->name, seen.count);
}

struct wanted {
    const char *source;
    int found;
};

static void source_compare(void *arg, const struct weft__variant *v)
{
    struct wanted *wanted = arg;
    wanted->found |= !strcmp(v->spec->files[0], wanted->source);
}

// What no operation lists would be neither tested here nor compiled offline.
static void test_sources(void)
{
    for (const struct weft__source *s = weft__sources; s->name; s++) {
        struct wanted wanted = {.source = s->name};
        for (const struct weft__operation *op = weft__operations; op->name; op++)
            op->variants(source_compare, &wanted);
        if (!strstr(s->name, ".clh"))
            tap_ok(wanted.found, "an operation lists %s", s->name);
    }
}

// A launch names its arguments: one that the kernel does not have, or that nobody gives, is refused before it is enqueued.
static void test_names(struct test_device *dev)
{
    struct weft__kernel *kernel = NULL;
    struct weft__stream stream;
    struct test_buffer b = test_buffer_make(dev, NULL, 64);
    const cl_uint value = 7;
    const cl_ulong first = 0, count = 16;
    const cl_mem out = b.mem;
    cl_uint got[16] = {0};
    if (weft__fill_create(&kernel, dev->ctx))
        tap_bail("%s: %s", dev->name, test_error(dev));
    const size_t wg = (size_t)weft__wg_small(dev->ctx);
    weft__stream_begin(&stream, dev->ctx, dev->queue, 0, NULL, NULL);
    WEFT__LAUNCH(&stream, kernel, 1, wg, WEFT__ARG(out), WEFT__ARG(first), WEFT__ARG(number, count), WEFT__ARG(value));
    tap_ok(stream.status == WEFT_EINVAL && strstr(test_error(dev), "fill has no argument number"),
           "%s: an argument that the kernel does not have", dev->name);
    weft__stream_begin(&stream, dev->ctx, dev->queue, 0, NULL, NULL);
    WEFT__LAUNCH(&stream, kernel, 1, wg, WEFT__ARG(out), WEFT__ARG(first), WEFT__ARG(count));
    tap_ok(stream.status == WEFT_EINVAL && strstr(test_error(dev), "argument value is not given"),
           "%s: an argument that nobody gives", dev->name);
    weft_status status = WEFT__BIND(dev->ctx, kernel, WEFT__ARG(out), WEFT__ARG(value), WEFT__ARG(other, value));
    weft__stream_begin(&stream, dev->ctx, dev->queue, 0, NULL, NULL);
    WEFT__LAUNCH(&stream, kernel, 1, wg, WEFT__ARG(count), WEFT__ARG(first)); // in another order than the kernel's
    test_buffer_read(dev, &b, got, sizeof got);
    tap_ok(!status && !stream.status && got[0] == 7 && got[15] == 7, "%s: bound arguments stay", dev->name);
    weft__kernel_release(&kernel);
    test_buffer_free(&b);
}

int main(void)
{
    test_sources();
    test_device_each(test_names);
    test_device_each(test_all);
    return tap_done();
}
