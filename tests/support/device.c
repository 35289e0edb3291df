// SPDX-License-Identifier: Apache-2.0
// The device of a test, buffers between canaries, and the sample of WEFT_SAMPLE.
#include "device.h"
#include "host/internal/tests.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CANARY_BYTES 64

static int env_is_set(const char *name)
{
    const char *text = getenv(name);
    return text && *text && strcmp(text, "0") != 0;
}

int test_sample(void)
{
    return env_is_set("WEFT_SAMPLE");
}

int test_slow(void)
{
    return env_is_set("WEFT_SLOW");
}

void *test_alloc(size_t bytes)
{
    void *data = malloc(bytes ? bytes : 1);
    if (!data)
        tap_bail("out of host memory: %zu bytes", bytes);
    return data;
}

int test_value(const struct test_device *dev, const char *op, const void *params, const char *name)
{
    return weft__tunable_get(weft__tunables_of(op, NULL, weft_context_schedule(dev->ctx)), params, name);
}

void test_value_set(const struct test_device *dev, const char *op, void *params, const char *name, int value)
{
    const struct weft__tunable *t =
        weft__tunable_find(weft__tunables_of(op, NULL, weft_context_schedule(dev->ctx)), name);
    if (!t)
        tap_bail("%s has no tuning value %s", op, name);
    *weft__tunable_value(t, params) = value;
}

const char *test_error(struct test_device *dev)
{
    static struct weft_error error;
    weft_context_error(&error, dev->ctx);
    return error.text;
}

cl_command_queue test_queue(struct test_device *dev, cl_command_queue_properties properties)
{
    cl_int error;
    cl_command_queue queue =
        clCreateCommandQueue(weft_context_cl(dev->ctx), weft_context_device(dev->ctx)->id, properties, &error);
    return error == CL_SUCCESS ? queue : NULL;
}

// Oclgrind 21.10 gives a new buffer the number of one that was released, but keeps what it knew of that one, by its old
// size: what lies beyond counts as uninitialised for ever. So under it no buffer is released before the end.
static cl_int CL_API_CALL buffer_keep(cl_mem buffer)
{
    (void)buffer;
    return CL_SUCCESS;
}

// Kernels for GPUs take a CPU's compiler many seconds to optimise and milliseconds to run on the sizes of the tests: they
// are compiled as they stand. The suite `slow` optimises them.
static cl_int CL_API_CALL build_plain(cl_program program, cl_uint n, const cl_device_id *devices, const char *options,
                                      void(CL_CALLBACK *notify)(cl_program, void *), void *arg)
{
    char text[512];
    snprintf(text, sizeof text, "%s -cl-opt-disable", options ? options : "");
    return clBuildProgram(program, n, devices, text, notify, arg);
}

#define GLOBAL_ID "#define get_global_id(d) (get_group_id(d) * get_local_size(d) + get_local_id(d))\n"

void test_order_text(char *text, size_t room, const char *number)
{
    snprintf(text, room,
             "static size_t number_of(uint d)\n{\n const size_t g = get_group_id(d), n = get_num_groups(d);\n"
             " return d ? g : %s;\n}\n#define get_group_id(d) number_of(d)\n" GLOBAL_ID,
             number);
}

// PoCL takes work-groups, and work-items from barrier to barrier, by ascending number. Then the last of two writers of one place
// is right, and what lower work-items wrote is there without a barrier. Half of the programs, by their text, take both by
// descending number; with a salt (weft_context.salt) it is the other half. Where groups wait for others it is the work-items
// alone: test `schedules` has the groups.
static cl_program CL_API_CALL create_ordered(cl_context ctx, cl_uint count, const char **texts, const size_t *lengths,
                                             cl_int *error)
{
    static const char items[] = "static size_t item_of(uint d)\n{\n const size_t i = get_local_id(d);\n"
                                " return d ? i : get_local_size(d) - 1 - i;\n}\n"
                                "#define get_local_id(d) item_of(d)\n" GLOBAL_ID "#line 1\n";
    static const char salt[] = "#define WEFT_SALT ";
    char head[1024] = "";
    unsigned hash = 0, turned = 0;
    for (const char *c = texts[0]; count == 1 && *c; c++) {
        const int salted = !strncmp(c, salt, sizeof salt - 1);
        turned |= (unsigned)salted;
        if (salted)
            c += strcspn(c, "\n");
        hash = hash * 31 + (unsigned char)*c;
    }
    if (count != 1 || (hash >> 16 & 1) != turned)
        return clCreateProgramWithSource(ctx, count, texts, lengths, error);
    if (!strstr(texts[0], "WEFT_STUCK"))
        test_order_text(head, sizeof head - sizeof items, "n - 1 - g");
    return clCreateProgramWithSource(ctx, 2, (const char *[]){strcat(head, items), texts[0]}, NULL, error);
}

void test_fence(struct test_device *dev, int on)
{
    dev->ctx->device.fence = on;
}

void test_cache_empty(struct test_device *dev, void (*fn)(struct test_device *dev))
{
    char folder[] = "/tmp/weft-cache-XXXXXX", *kept = dev->ctx->cache_dir;
    if (!mkdtemp(folder))
        tap_bail("%s", folder);
    dev->ctx->cache_dir = folder;
    fn(dev);
    dev->ctx->cache_dir = kept;
    DIR *const d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.')
            unlinkat(dirfd(d), e->d_name, 0);
    if (d)
        closedir(d);
    if (rmdir(folder))
        tap_bail("%s is not empty", folder);
}

static void device_run(const struct weft_device_info *info, enum weft_schedule schedule, enum weft_lanes lanes,
                       int wave, void (*fn)(struct test_device *dev))
{
    struct test_device dev = {.gpu = schedule == WEFT_SCHEDULE_GPU, .checker = strstr(info->platform, "Oclgrind") != 0};
    struct weft_error error = {0};
    snprintf(dev.name, sizeof dev.name, "%d %s, %s", info->index, info->name,
             schedule == WEFT_SCHEDULE_CPU ? "cpu" : "gpu");
    if (dev.gpu)
        snprintf(dev.name + strlen(dev.name), sizeof dev.name - strlen(dev.name), wave ? ", %s of %d" : ", %s",
                 weft_lanes_name(lanes), wave);
    weft_status status = weft_context_create(
        &dev.ctx, weft_context_params(.device = info->id, .schedule = schedule, .lanes = lanes, .wave = wave), &error);
    if (status) {
        tap_ok(0, "%s: context: %s", dev.name, error.text);
        return;
    }
    if (weft_context_device(dev.ctx)->lanes != lanes) {
        tap_skip("%s: the driver's answers to a probe are wrong", dev.name);
        weft_context_destroy(&dev.ctx);
        return;
    }
    if (dev.checker)
        weft__cl.clReleaseMemObject = buffer_keep;
    if (dev.gpu && (info->type & CL_DEVICE_TYPE_CPU) && !dev.checker && !test_slow())
        weft__cl.clBuildProgram = build_plain;
    if ((info->type & CL_DEVICE_TYPE_CPU) && lanes == WEFT_LANES_LOCAL && !test_slow())
        weft__cl.clCreateProgramWithSource = create_ordered;
    if (lanes == WEFT_LANES_LOCAL && (info->type & CL_DEVICE_TYPE_CPU))
        test_fence(&dev, 1);
    dev.queue = test_queue(&dev, CL_QUEUE_PROFILING_ENABLE);
    if (tap_ok(dev.queue != NULL, "%s: queue", dev.name)) {
        fn(&dev);
        clReleaseCommandQueue(dev.queue);
    }
    weft__cl.clBuildProgram = clBuildProgram;
    weft__cl.clCreateProgramWithSource = clCreateProgramWithSource;
    weft_context_destroy(&dev.ctx);
}

void test_device_each(void (*fn)(struct test_device *dev))
{
    const char *only = getenv("WEFT_DEVICE"), *schedule = getenv("WEFT_SCHEDULE");
    const int want_gpu = !schedule || strcmp(schedule, "cpu") != 0, cpu = !schedule || strcmp(schedule, "gpu") != 0;
    struct weft_device_info *list = NULL;
    struct weft_error error = {0};
    size_t count = 0;
    if (weft_devices_list(&list, &count, &error))
        tap_skip("%s", error.text);
    const int all = !only || !*only || !strcmp(only, "all"), wanted = all ? -1 : weft_device_find(list, count, only);
    if (!all && wanted < 0)
        tap_bail("WEFT_DEVICE is \"%s\": there is no such device", only);
    for (size_t i = 0; i < count; i++) {
        const struct weft_device_info *info = &list[i];
        if (!all && wanted != (int)i)
            continue;
        if (weft_device_probe(&list[i])) {
            tap_skip("%d %s: %s", info->index, info->name, info->why);
            continue;
        }
        const int gpu = want_gpu && !weft__quirks_of(info).cpu_only;
        if (want_gpu && !gpu)
            tap_skip("%d %s, gpu: these kernels end the driver's compiler", info->index, info->name);
        // Where sub-groups are used only when asked for, the driver's optimiser fails on them (host/src/core/quirks.c).
        if (gpu && (info->lanes == WEFT_LANES_SUBGROUPS || !test_slow()))
            for (int wave = 32; wave <= 64; wave *= 2)
                if (info->waves & wave)
                    device_run(info, WEFT_SCHEDULE_GPU, WEFT_LANES_SUBGROUPS, wave, fn);
        if (gpu && info->lanes != WEFT_LANES_SUBGROUPS)
            device_run(info, WEFT_SCHEDULE_GPU, info->lanes, 0, fn);
        if (gpu && info->lanes != WEFT_LANES_LOCAL)
            device_run(info, WEFT_SCHEDULE_GPU, WEFT_LANES_LOCAL, 0, fn);
        if (cpu && (info->type & CL_DEVICE_TYPE_CPU))
            device_run(info, WEFT_SCHEDULE_CPU, WEFT_LANES_LOCAL, 0, fn);
    }
    weft_devices_free(&list);
}

void test_poison(void *data, size_t bytes)
{
    uint32_t word = TEST_POISON;
    for (size_t i = 0; i < bytes; i += 4)
        memcpy((char *)data + i, &word, bytes - i < 4 ? bytes - i : 4);
}

int test_poisoned(const void *data, size_t bytes)
{
    uint32_t word = TEST_POISON;
    for (size_t i = 0; i < bytes; i += 4)
        if (memcmp((const char *)data + i, &word, bytes - i < 4 ? bytes - i : 4))
            return 0;
    return 1;
}

static void check_cl(cl_int error, const char *what)
{
    if (error != CL_SUCCESS)
        tap_bail("%s: OpenCL error %d", what, error);
}

// A blocking write may end when the data was taken over: its event says that every queue sees it.
static void write_wait(struct test_device *dev, cl_mem to, size_t at, size_t bytes, const void *data)
{
    cl_event written;
    check_cl(clEnqueueWriteBuffer(dev->queue, to, CL_TRUE, at, bytes, data, 0, NULL, &written), "write");
    check_cl(clWaitForEvents(1, &written), "write");
    clReleaseEvent(written);
}

// Bytes in front of the data: one canary, up to where a sub-buffer may begin.
static size_t front_bytes(struct test_device *dev)
{
    cl_uint bits = 0;
    check_cl(
        clGetDeviceInfo(weft_context_device(dev->ctx)->id, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, NULL),
        "CL_DEVICE_MEM_BASE_ADDR_ALIGN");
    size_t align = bits / 8;
    return align < CANARY_BYTES ? CANARY_BYTES : align;
}

struct test_buffer test_buffer_make(struct test_device *dev, const void *data, size_t bytes)
{
    struct test_buffer b = {.bytes = bytes ? bytes : 1};
    cl_int error;
    if (dev->checker) {
        b.mem = clCreateBuffer(weft_context_cl(dev->ctx), CL_MEM_READ_WRITE, b.bytes, NULL, &error);
        check_cl(error, "clCreateBuffer");
    } else {
        size_t front = front_bytes(dev), all = front + b.bytes + CANARY_BYTES;
        cl_buffer_region region = {front, b.bytes};
        char *canary = test_alloc(front);
        b.parent = clCreateBuffer(weft_context_cl(dev->ctx), CL_MEM_READ_WRITE, all, NULL, &error);
        check_cl(error, "clCreateBuffer");
        test_poison(canary, front);
        write_wait(dev, b.parent, 0, front, canary);
        write_wait(dev, b.parent, front + b.bytes, CANARY_BYTES, canary);
        free(canary);
        b.mem = clCreateSubBuffer(b.parent, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
        check_cl(error, "clCreateSubBuffer");
    }
    if (data)
        test_buffer_write(dev, &b, data, bytes);
    else
        test_buffer_poison(dev, &b);
    return b;
}

// A memory checker would take poison for initialised memory, so there the buffer stays as it is.
void test_buffer_poison(struct test_device *dev, struct test_buffer *b)
{
    if (dev->checker)
        return;
    void *data = test_alloc(b->bytes);
    test_poison(data, b->bytes);
    test_buffer_write(dev, b, data, b->bytes);
    free(data);
}

void test_buffer_write(struct test_device *dev, struct test_buffer *b, const void *data, size_t bytes)
{
    if (bytes)
        write_wait(dev, b->mem, 0, bytes, data);
}

void test_buffer_read(struct test_device *dev, const struct test_buffer *b, void *data, size_t bytes)
{
    if (bytes)
        check_cl(clEnqueueReadBuffer(dev->queue, b->mem, CL_TRUE, 0, bytes, data, 0, NULL, NULL), "read");
}

int test_buffer_intact(struct test_device *dev, const struct test_buffer *b)
{
    if (!b->parent)
        return 1;
    size_t front = front_bytes(dev);
    char *canary = test_alloc(front);
    check_cl(clEnqueueReadBuffer(dev->queue, b->parent, CL_TRUE, 0, front, canary, 0, NULL, NULL), "read");
    int intact = test_poisoned(canary, front);
    check_cl(clEnqueueReadBuffer(dev->queue, b->parent, CL_TRUE, front + b->bytes, CANARY_BYTES, canary, 0, NULL, NULL),
             "read");
    intact = intact && test_poisoned(canary, CANARY_BYTES);
    free(canary);
    return intact;
}

void test_buffer_free(struct test_buffer *b)
{
    if (b->mem)
        weft__cl.clReleaseMemObject(b->mem);
    if (b->parent)
        weft__cl.clReleaseMemObject(b->parent);
    *b = (struct test_buffer){0};
}
