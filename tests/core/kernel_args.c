// SPDX-License-Identifier: Apache-2.0
// The argument names of every kernel's spec are those of the compiled kernel, in the same order: the launch code sets
// arguments by position, and this is what keeps it right.
#include "tests/support/device.h"
#include "host/src/core/variants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct seen {
    struct test_device *dev;
    const struct weft__kernel_spec *specs[512];
    size_t count;
};

// The kernel's argument names as one string like a spec's; "" where the driver has none.
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

    char *text = weft__program_text(&caps, v->spec->source, v->defines.text);
    if (!tap_ok(text != NULL, "%s: %s is embedded", v->spec->entry, v->spec->source))
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
    if (tap_is_int(error, CL_SUCCESS, "%s: %s of %s compiles", dev->name, v->spec->entry, v->spec->source)) {
        names_read(kernel, names, sizeof names);
        tap_is_str(names, v->spec->args, "%s: arguments of %s", dev->name, v->spec->entry);
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
    wanted->found |= !strcmp(v->spec->source, wanted->source);
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

int main(void)
{
    test_sources();
    test_device_each(test_all);
    return tap_done();
}
