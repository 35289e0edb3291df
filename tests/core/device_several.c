// SPDX-License-Identifier: Apache-2.0
// Several devices at work: two of one OpenCL context, each with a weft context of its own, and parts of a device. Each
// computes what the reference does, and refuses a queue of its neighbour.
#include "host/internal/inside.h"
#include "tests/support/csr.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/generate.h>
#include <weft/spmv.h>

// A transposition and a product with integers on this device.
static int works(struct weft_context *ctx, cl_command_queue queue, const struct weft_csr *a)
{
    struct weft_csr want, got;
    struct weft_device_csr d = {0};
    struct weft_spmv_plan *plan = NULL;
    const size_t x_bytes = (size_t)a->n * 4, y_bytes = (size_t)a->m * 4;
    int32_t *x = test_alloc(x_bytes), *y = test_alloc(y_bytes), *want_y = test_alloc(y_bytes);
    cl_mem bx = NULL, by = NULL;
    for (int64_t j = 0; j < a->n; j++)
        x[j] = (int32_t)(j % 17 - 8);
    if (weft__ref_transpose(&want, a))
        tap_bail("out of host memory");
    weft__ref_spmv(a, WEFT_TYPE_I32, 1, x, 0, want_y);
    weft_status status = weft_transpose_sync(&got, ctx, a, NULL);
    int ok = !status && weft_csr_equal(&got, &want);
    if (!status)
        status = weft_device_csr_alloc(&d, ctx, weft_csr_shape(a));
    if (!status)
        status = weft_device_csr_write_sync(&d, ctx, queue, a);
    if (!status)
        status = weft_spmv_plan_create(&plan, ctx, queue, &d, NULL);
    if (!status)
        status = weft__buffer_create_from(&bx, ctx, x_bytes, x, "x");
    if (!status)
        status = weft__buffer_create_zeros(&by, ctx, y_bytes, "y");
    if (!status)
        status = weft_spmv_run(plan, queue, by, 1, bx, 0, 0, NULL, NULL);
    ok = ok && !status && clEnqueueReadBuffer(queue, by, CL_TRUE, 0, y_bytes, y, 0, NULL, NULL) == CL_SUCCESS &&
         !memcmp(y, want_y, y_bytes);
    if (status) {
        struct weft_error err;
        weft_context_error(&err, ctx);
        tap_note("%s", err.text);
    }
    weft_spmv_plan_destroy(&plan);
    weft_device_csr_free(&d);
    weft__buffer_release(&bx);
    weft__buffer_release(&by);
    weft_csr_free(&got);
    weft_csr_free(&want);
    free(x);
    free(y);
    free(want_y);
    return ok;
}

// Both devices of one OpenCL context, in turn and with the queue of the other one.
static void test_pair(const cl_device_id ids[2], const struct weft_csr *a, const char *what)
{
    cl_int error;
    cl_context both = clCreateContext(NULL, 2, ids, NULL, NULL, &error);
    if (!tap_ok(error == CL_SUCCESS, "%s: a context of two", what))
        return;
    struct weft_context *ctx[2] = {NULL, NULL};
    cl_command_queue queue[2];
    struct weft_error err = {0};
    for (int i = 0; i < 2; i++) {
        queue[i] = clCreateCommandQueue(both, ids[i], 0, &error);
        const weft_status status =
            weft_context_create(&ctx[i], weft_context_params(.context = both, .device = ids[i]), &err);
        tap_ok(error == CL_SUCCESS && !status && weft_context_device(ctx[i])->id == ids[i] &&
                   weft_context_cl(ctx[i]) == both,
               "%s: the context's device %d %s", what, i, err.text);
        if (error != CL_SUCCESS || status)
            tap_bail("%s", err.text);
    }
    for (int i = 0; i < 2; i++)
        tap_ok(works(ctx[i], queue[i], a), "%s: device %d transposes and multiplies", what, i);
    // Each on its own buffers of the shared context; then the second takes what the first wrote.
    struct weft_device_csr d = {0};
    struct weft_csr back = {0};
    weft_status status = weft_csr_alloc(&back, weft_csr_shape(a));
    if (!status)
        status = weft_device_csr_alloc(&d, ctx[0], weft_csr_shape(a));
    if (!status)
        status = weft_device_csr_write_sync(&d, ctx[0], queue[0], a);
    if (!status)
        status = weft_device_csr_read_sync(&back, ctx[1], queue[1], &d);
    tap_ok(!status && weft_csr_equal(&back, a), "%s: buffers pass from one device to the other", what);
    struct weft_spmv_plan *plan = NULL;
    status = weft_spmv_plan_create(&plan, ctx[0], queue[1], &d, NULL);
    weft_context_error(&err, ctx[0]);
    tap_ok(status == WEFT_EINVAL && !plan && strstr(err.text, "queue"), "%s: the other one's queue is refused: %s",
           what, err.text);
    weft_csr_free(&back);
    weft_device_csr_free(&d);
    for (int i = 0; i < 2; i++) {
        weft_context_destroy(&ctx[i]);
        clReleaseCommandQueue(queue[i]);
    }
    clReleaseContext(both);
}

// As the specification has it: an entry for each device of the context, in an array that has room for all. PoCL takes less.
static cl_device_id pair[2];
static cl_int CL_API_CALL tells(cl_program program, cl_program_info what, size_t size, void *value, size_t *needed)
{
    if (what == CL_PROGRAM_NUM_DEVICES && value && size >= sizeof(cl_uint)) {
        *(cl_uint *)value = 2;
        return CL_SUCCESS;
    }
    if (what == CL_PROGRAM_DEVICES && value) {
        if (size < sizeof pair)
            return CL_INVALID_VALUE;
        memcpy(value, pair, sizeof pair);
        return CL_SUCCESS;
    }
    if (what == CL_PROGRAM_BINARY_SIZES && value) {
        size_t *const sizes = value;
        if (size < 2 * sizeof *sizes)
            return CL_INVALID_VALUE;
        sizes[0] = 0; // not built for this one
        return clGetProgramInfo(program, what, sizeof *sizes, &sizes[1], needed);
    }
    if (what == CL_PROGRAM_BINARIES && value) {
        unsigned char **const binaries = value;
        if (size < 2 * sizeof *binaries || binaries[0])
            return CL_INVALID_VALUE;
        return clGetProgramInfo(program, what, sizeof *binaries, &binaries[1], needed);
    }
    return clGetProgramInfo(program, what, size, value, needed);
}

// The second device of a context finds in the disk cache what a context before it compiled.
static void test_cache(const struct weft_device_info *info, const struct weft_csr *a)
{
    char folder[] = "/tmp/weft-several-XXXXXX", remove[64];
    struct weft_build_stats stats[2] = {{0}};
    if (!mkdtemp(folder))
        tap_bail("mkdtemp");
    pair[1] = info->id;
    weft__cl.clGetProgramInfo = tells;
    for (int i = 0; i < 2; i++) {
        struct weft_context *ctx = NULL;
        struct weft_csr got;
        if (weft_context_create(&ctx, weft_context_params(.device = info->id, .cache_dir = folder), NULL) ||
            weft_transpose_sync(&got, ctx, a, NULL))
            tap_bail("%s: a transposition", info->name);
        weft_context_build_stats(&stats[i], ctx);
        weft_csr_free(&got);
        weft_context_destroy(&ctx);
    }
    weft__cl.clGetProgramInfo = clGetProgramInfo;
    tap_ok(stats[0].compiled > 0 && stats[1].loaded == stats[0].compiled && !stats[1].compiled,
           "%s, second of two: %d programs compiled, %d found in the disk cache", info->name, stats[0].compiled,
           stats[1].loaded);
    snprintf(remove, sizeof remove, "rm -r %s", folder);
    if (system(remove))
        tap_note("%s stays", folder);
}

// A context of more devices than most hosts have.
static cl_int CL_API_CALL many(cl_context context, cl_context_info what, size_t size, void *value, size_t *needed)
{
    enum { COUNT = 300 };
    if (what != CL_CONTEXT_DEVICES)
        return clGetContextInfo(context, what, size, value, needed);
    if (value && size < COUNT * sizeof(cl_device_id))
        return CL_INVALID_VALUE;
    if (needed)
        *needed = COUNT * sizeof(cl_device_id);
    for (int i = 0; value && i < COUNT; i++)
        ((cl_device_id *)value)[i] = pair[1];
    return CL_SUCCESS;
}

static void test_many(const struct weft_device_info *info)
{
    cl_int error;
    cl_context one = clCreateContext(NULL, 1, &info->id, NULL, NULL, &error);
    struct weft_context *ctx = NULL;
    struct weft_error err = {0};
    pair[1] = info->id;
    weft__cl.clGetContextInfo = many;
    const weft_status status = weft_context_create(&ctx, weft_context_params(.context = one), &err);
    weft__cl.clGetContextInfo = clGetContextInfo;
    tap_ok(!error && !status && weft_context_device(ctx)->id == info->id, "%s: a context of 300 devices %s", info->name,
           err.text);
    weft_context_destroy(&ctx);
    clReleaseContext(one);
}

// PoCL says of a context of parts that it has the whole; here it says what it has.
static cl_device_id said;
static cl_int CL_API_CALL says(cl_context context, cl_context_info what, size_t size, void *value, size_t *needed)
{
    if (what != CL_CONTEXT_DEVICES)
        return clGetContextInfo(context, what, size, value, needed);
    if (needed)
        *needed = sizeof said;
    if (value)
        memcpy(value, &said, sizeof said);
    return CL_SUCCESS;
}

// The first part alone, named or as the only one of its context. Without a context nothing vouches for it.
static void test_part(const struct weft_device_info *info, const cl_device_id parts[2], const struct weft_csr *a)
{
    static const char *const forms[] = {"named", "the only one of its context"};
    cl_int error;
    cl_context one = clCreateContext(NULL, 1, parts, NULL, NULL, &error);
    if (!tap_ok(error == CL_SUCCESS, "a context of a part"))
        return;
    said = parts[0];
    for (int form = 0; form < 2; form++) {
        struct weft_context *ctx = NULL;
        struct weft_error err = {0};
        weft__cl.clGetContextInfo = form == 1 ? says : clGetContextInfo;
        const weft_status status =
            weft_context_create(&ctx, weft_context_params(.context = one, .device = form == 1 ? NULL : parts[0]), &err);
        weft__cl.clGetContextInfo = clGetContextInfo;
        tap_ok(!status && weft_context_device(ctx)->id == parts[0] && weft_context_device(ctx)->compute_units == 1 &&
                   weft_context_device(ctx)->index == info->index &&
                   !strcmp(weft_context_device(ctx)->platform, info->platform),
               "a part of %s, %s: one unit of %d %s", info->name, forms[form], info->compute_units, err.text);
        cl_command_queue queue = status ? NULL : clCreateCommandQueue(weft_context_cl(ctx), parts[0], 0, &error);
        tap_ok(queue && works(ctx, queue, a), "a part, %s, transposes and multiplies", forms[form]);
        if (queue)
            clReleaseCommandQueue(queue);
        weft_context_destroy(&ctx);
    }
    struct weft_context *ctx = NULL;
    struct weft_error err = {0};
    weft__cl.clGetContextInfo = says;
    const cl_device_id others[] = {parts[1], info->id};
    for (int i = 0; i < 2; i++) {
        const weft_status status =
            weft_context_create(&ctx, weft_context_params(.context = one, .device = others[i]), &err);
        tap_ok(status == WEFT_EINVAL && !ctx && strstr(err.text, "params.device"), "%s is not in it: %s",
               i ? "the whole" : "the other part", err.text);
    }
    weft__cl.clGetContextInfo = clGetContextInfo;
    tap_is_int(weft_context_create(&ctx, weft_context_params(.device = parts[0]), &err), WEFT_ENODEV,
               "a part without a context: %s", err.text);
    clReleaseContext(one);
}

// Two parts of a device, which no list of devices has.
static void test_parts(const struct weft_device_info *info, const struct weft_csr *a)
{
    const cl_device_partition_property by_count[] = {CL_DEVICE_PARTITION_BY_COUNTS, 1, 1,
                                                     CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0};
    cl_device_id parts[2];
    cl_uint count = 0;
    if (info->compute_units < 2 || clCreateSubDevices(info->id, by_count, 2, parts, &count) != CL_SUCCESS ||
        count != 2) {
        tap_skip("%s has no parts", info->name);
        return;
    }
    test_part(info, parts, a);
    test_pair(parts, a, "two parts");
    for (int i = 0; i < 2; i++)
        clReleaseDevice(parts[i]);
}

int main(void)
{
    struct weft_device_info *list = NULL;
    struct weft_error err = {0};
    struct weft_csr a;
    size_t count = 0, pairs = 0;
    if (weft_devices_list(&list, &count, &err))
        tap_skip_all("%s", err.text);
    if (weft_generate(&a, "uniform:300,200,2500", weft_generate_params(.type = WEFT_TYPE_I32, .seed = 3, .integers = 1),
                      &err))
        tap_bail("%s", err.text);
    for (size_t i = 1; i < count; i++)
        if (list[i].platform_id == list[i - 1].platform_id && list[i].id != list[i - 1].id && !list[i].why[0] &&
            !list[i - 1].why[0] && !pairs++)
            test_pair((cl_device_id[]){list[i - 1].id, list[i].id}, &a, "two devices");
    if (!pairs)
        tap_skip("no platform has two devices");
    for (size_t i = 0; i < count; i++)
        if (!list[i].why[0]) {
            test_parts(&list[i], &a);
            test_cache(&list[i], &a);
            test_many(&list[i]);
        }
    weft_csr_free(&a);
    weft_devices_free(&list);
    return tap_done();
}
