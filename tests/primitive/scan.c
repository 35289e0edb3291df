// SPDX-License-Identifier: Apache-2.0
// Scan against its oracle: every type, edge shapes, clamped launches, tuning values, queues, errors, the long sweep.
#include "host/common/check_exact.h"
#include "host/internal/tests.h"
#include "scan.h"
#include "tests/support/rng.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/scan.h>

static const enum weft_scan_type all_types[] = {WEFT_SCAN_TYPE_I32, WEFT_SCAN_TYPE_U32,     WEFT_SCAN_TYPE_I64,
                                                WEFT_SCAN_TYPE_F32, WEFT_SCAN_TYPE_I32_I64, WEFT_SCAN_TYPE_U32_U64};
#define TYPES (sizeof all_types / sizeof *all_types)

static struct rng rng;

void scan_data_fill(void *in, int64_t n, enum weft_scan_type type, enum data data)
{
    for (int64_t i = 0; i < n; i++) {
        uint64_t bits = rng_u64(&rng);
        if (type == WEFT_SCAN_TYPE_F32)
            ((float *)in)[i] = data == DATA_ANY ? (float)(2 * rng_unit(&rng) - 1) : (float)((int)(bits % 8) - 3);
        else if (weft_scan_in_bytes(type) == 8)
            ((uint64_t *)in)[i] = data == DATA_ANY ? bits : bits % 8;
        else
            ((uint32_t *)in)[i] = (uint32_t)(data == DATA_ANY ? bits : bits % 8);
    }
}

// Floats in -1..1 may be off by (k+3)*eps*sum|in| after k elements.
static int check_floats(const float *got, const float *want, const float *in, int64_t count, int64_t n, char *why,
                        size_t size)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++) {
        const double error = fabs((double)got[i] - (double)want[i]);
        sum += i < n ? fabs((double)in[i]) : 0;
        if (!(error <= (double)(i + 3) * FLT_EPSILON * sum)) {
            snprintf(why, size, "sums[%lld] is %g, not %g", (long long)i, (double)got[i], (double)want[i]);
            return 0;
        }
    }
    return 1;
}

int scan_check(struct test_device *dev, struct weft_scan_plan *plan, enum weft_scan_type type, int64_t n,
               enum data data, int in_place)
{
    const struct weft_scan_info *info = weft_scan_plan_info(plan);
    const struct weft_scan_params *p = &info->params;
    int64_t outputs = n + (p->total != 0);
    size_t in_bytes = (size_t)n * weft_scan_in_bytes(type), out_bytes = (size_t)outputs * weft_scan_sum_bytes(type);
    void *in = test_alloc(in_bytes), *want = test_alloc(out_bytes), *got = test_alloc(out_bytes);
    scan_data_fill(in, n, type, data);
    weft__ref_scan(want, in, n, type, p->inclusive, p->total);
    struct test_buffer out = test_buffer_make(dev, NULL, out_bytes), from = {0};
    if (in_place)
        test_buffer_write(dev, &out, in, in_bytes);
    else
        from = test_buffer_make(dev, in, in_bytes);
    weft_status status = weft_scan_run(plan, dev->queue, out.mem, in_place ? out.mem : from.mem, n, 0, NULL, NULL);
    test_buffer_read(dev, &out, got, out_bytes);
    char why[256] = "";
    const int right = type == WEFT_SCAN_TYPE_F32 && data == DATA_ANY
                          ? check_floats(got, want, in, outputs, n, why, sizeof why)
                          : check_scan(got, want, outputs, type, why, sizeof why);
    int intact = test_buffer_intact(dev, &out) && (in_place || test_buffer_intact(dev, &from));
    if (!in_place && n) {
        void *same = test_alloc(in_bytes);
        test_buffer_read(dev, &from, same, in_bytes);
        intact = intact && !memcmp(same, in, in_bytes);
        free(same);
    }
    if (status || !right || !intact)
        tap_note("%s algo=%d n=%lld inclusive=%d total=%d wg=%d ipt=%d groups=%d data=%d in_place=%d: %s, "
                 "%s",
                 weft_scan_type_name(type), (int)p->algo, (long long)n, p->inclusive, p->total,
                 test_value(dev, "scan", p, "wg"), test_value(dev, "scan", p, "ipt"),
                 test_value(dev, "scan", p, "groups"), (int)data, in_place, status ? test_error(dev) : why,
                 intact ? "intact" : "canary hit");
    test_buffer_free(&out);
    test_buffer_free(&from);
    free(in);
    free(want);
    free(got);
    return !status && right && intact;
}

struct weft_scan_plan *scan_plan_make(struct test_device *dev, enum weft_scan_type type, int64_t n_max,
                                      const struct weft_scan_params *params)
{
    struct weft_scan_plan *plan = NULL;
    static uint64_t turn; // plans in turn take work-items by ascending and by descending number
    const uint64_t salt = dev->ctx->salt;
    dev->ctx->salt = salt ? salt : turn++ % 2;
    if (weft_scan_plan_create(&plan, dev->ctx, type, n_max, params))
        tap_note("plan: %s", test_error(dev));
    dev->ctx->salt = salt;
    return plan;
}

struct weft_scan_params scan_smallest(struct test_device *dev)
{
    return dev->gpu ? (struct weft_scan_params){.gpu.wg = 32, .gpu.ipt = 4}
                    : (struct weft_scan_params){.cpu.wg = 1, .cpu.chunk = 8};
}

// Nonzero: there is a form of one launch.
static int can_chain(struct test_device *dev, enum weft_scan_type type)
{
    return dev->gpu && type != WEFT_SCAN_TYPE_F32 && weft_context_device(dev->ctx)->int64_atomics;
}

static void test_shapes(struct test_device *dev, enum weft_scan_type type, int inclusive, int total,
                        enum weft_scan_algo algo)
{
    struct weft_scan_params params = scan_smallest(dev);
    int64_t tile = (int64_t)test_value(dev, "scan", &params, "wg") * test_value(dev, "scan", &params, "ipt");
    // A second level of tiles; in a sample for one form of each type.
    int64_t largest = test_sample() && (inclusive || total) ? 5 * tile + 3 : tile * tile + tile + 1;
    params.inclusive = inclusive;
    params.total = total;
    params.algo = algo;
    const int64_t sizes[] = {0, 1, 2, 7, tile - 1, tile, tile + 1, 2 * tile - 1, 3 * tile + 5, largest};
    struct weft_scan_plan *plan = scan_plan_make(dev, type, largest, &params);
    int ok = plan != NULL;
    for (size_t i = 0; ok && i < sizeof sizes / sizeof *sizes; i++)
        if (!test_sample() || (i + (size_t)type) % 3) // of each type two thirds of the sizes
            ok = scan_check(dev, plan, type, sizes[i], i % 2 ? DATA_ANY : DATA_SMALL, 0);
    if (ok && weft_scan_in_bytes(type) == weft_scan_sum_bytes(type))
        ok = scan_check(dev, plan, type, 5 * tile + 3, DATA_ANY, 1);
    tap_ok(ok, "%s: %s %s%s%s, edge sizes", dev->name, weft_scan_type_name(type), inclusive ? "inclusive" : "exclusive",
           total ? " with total" : "", algo == WEFT_SCAN_ALGO_CHAINED ? ", chained" : "");
    weft_scan_plan_destroy(&plan);
}

// Three launches with sums of more than two tiles of sums, which scan_spine adds up one tile after the other.
static void test_spine(struct test_device *dev, enum weft_scan_type type)
{
    struct weft_scan_params params = scan_smallest(dev);
    params.algo = WEFT_SCAN_ALGO_THREE;
    const int64_t tile = (int64_t)test_value(dev, "scan", &params, "wg") * test_value(dev, "scan", &params, "ipt"),
                  n = 2 * tile * tile + 1;
    struct weft_scan_plan *plan = scan_plan_make(dev, type, n, &params);
    tap_ok(plan && scan_check(dev, plan, type, n, DATA_ANY, 0), "%s: %s, sums of %lld tiles", dev->name,
           weft_scan_type_name(type), (long long)(n / tile + 1));
    weft_scan_plan_destroy(&plan);
}

// The defaults, at the edges of their own tiles and at sizes of several launches.
static void test_defaults(struct test_device *dev, enum weft_scan_type type, enum weft_scan_algo algo)
{
    struct weft_scan_plan *plan = scan_plan_make(dev, type, 1 << 20, algo ? weft_scan_params(.algo = algo) : NULL);
    int ok = plan != NULL;
    if (ok) {
        const struct weft_scan_info *info = weft_scan_plan_info(plan);
        int64_t wg = test_value(dev, "scan", &info->params, "wg"),
                tile = wg * test_value(dev, "scan", &info->params, "ipt");
        const int64_t sizes[] = {0,    1,        wg - 1,       wg,           wg + 1, tile - 1,
                                 tile, tile + 1, 2 * tile - 1, 2 * tile + 1, 300000};
        // A sample: up to the smallest number of elements that takes two tiles.
        size_t count = sizeof sizes / sizeof *sizes - (test_sample() ? 3 : 0);
        for (size_t i = 0; ok && i < count; i++)
            ok = scan_check(dev, plan, type, sizes[i], i % 2 ? DATA_ANY : DATA_SMALL, 0);
    }
    tap_ok(ok, "%s: %s, default tuning%s", dev->name, weft_scan_type_name(type), algo ? ", chained" : "");
    weft_scan_plan_destroy(&plan);
}

// Few work-groups for many tiles, few chunks for many elements: what happens beyond 2^31 elements, in small.
static void test_clamped(struct test_device *dev)
{
    int ok = 1;
    for (int groups = 1; ok && groups <= 3; groups++) {
        struct weft_scan_params params = scan_smallest(dev);
        test_value_set(dev, "scan", &params, "groups", groups);
        params.total = 1;
        struct weft_scan_plan *plan = scan_plan_make(dev, WEFT_SCAN_TYPE_U32_U64, 3000, &params);
        ok = plan && scan_check(dev, plan, WEFT_SCAN_TYPE_U32_U64, 3000, DATA_ANY, 0) &&
             scan_check(dev, plan, WEFT_SCAN_TYPE_U32_U64, 200, DATA_ANY, 0);
        weft_scan_plan_destroy(&plan);
    }
    tap_ok(ok, "%s: clamped to 1, 2, 3 work-groups", dev->name);
}

// Buffers that plans make, with words behind their end that must stay as they are.
enum { GUARD = 512, GUARDED = 4 }; // bytes; buffers
static struct {
    cl_mem(CL_API_CALL *make)(cl_context, cl_mem_flags, size_t, void *, cl_int *);
    cl_mem mem[GUARDED];
    size_t bytes[GUARDED];
    int count;
} guarded;

static cl_mem CL_API_CALL buffer_guarded(cl_context cl, cl_mem_flags flags, size_t bytes, void *data, cl_int *error)
{
    if (data || guarded.count == GUARDED)
        return guarded.make(cl, flags, bytes, data, error);
    uint8_t *poison = test_alloc(bytes + GUARD);
    test_poison(poison, bytes + GUARD);
    cl_mem mem = guarded.make(cl, flags | CL_MEM_COPY_HOST_PTR, bytes + GUARD, poison, error);
    free(poison);
    guarded.mem[guarded.count] = mem;
    guarded.bytes[guarded.count++] = bytes;
    return mem;
}

// Fewer elements than the plan is for, in more chunks on a CPU: 100 of 8, where 801 elements are 51 chunks of 16.
static void test_fewer(struct test_device *dev, enum weft_scan_type type)
{
    struct weft_scan_params params = scan_smallest(dev);
    params.algo = WEFT_SCAN_ALGO_THREE;
    test_value_set(dev, "scan", &params, "groups", 100);
    guarded.make = weft__cl.clCreateBuffer;
    guarded.count = 0;
    weft__cl.clCreateBuffer = buffer_guarded;
    struct weft_scan_plan *plan = scan_plan_make(dev, type, 801, &params);
    weft__cl.clCreateBuffer = guarded.make;
    const int count = guarded.count, right = plan && scan_check(dev, plan, type, 800, DATA_ANY, 0);
    int intact = count > 0;
    for (int i = 0; i < count && right; i++) {
        uint8_t behind[GUARD];
        intact =
            intact &&
            !clEnqueueReadBuffer(dev->queue, guarded.mem[i], CL_TRUE, guarded.bytes[i], GUARD, behind, 0, NULL, NULL) &&
            test_poisoned(behind, GUARD);
    }
    tap_ok(right && intact, "%s: %s, 800 elements by a plan for 801: %d buffers %s", dev->name,
           weft_scan_type_name(type), count, intact ? "intact" : "overrun");
    weft_scan_plan_destroy(&plan);
}

static void test_tuning(struct test_device *dev)
{
    int ok = 1, max_wg = (int)weft_context_device(dev->ctx)->max_wg;
    for (int draw = 0; ok && draw < (test_sample() ? 2 : 5); draw++) {
        struct weft_scan_params params = {.inclusive = (int)rng_below(&rng, 2)};
        int wg_max = max_wg < 512 ? max_wg : 512;
        test_value_set(dev, "scan", &params, "wg",
                       dev->gpu ? (int)rng_between(&rng, 1, wg_max / 32) * 32 : (int)rng_between(&rng, 1, 8));
        test_value_set(dev, "scan", &params, "ipt",
                       dev->gpu ? (int)rng_between(&rng, 1, 8) * 4 : (int)rng_between(&rng, 1, 100) * 8);
        test_value_set(dev, "scan", &params, "groups", (int)rng_between(&rng, 1, 50));
        enum weft_scan_type type = all_types[rng_below(&rng, TYPES)];
        params.algo = can_chain(dev, type) ? (enum weft_scan_algo)rng_below(&rng, 3) : WEFT_SCAN_ALGO_AUTO;
        if (params.algo == WEFT_SCAN_ALGO_CHAINED) { // tiles of it are in local memory
            int64_t most =
                (weft_context_device(dev->ctx)->local_bytes - 64) / test_value(dev, "scan", &params, "wg") - 5;
            while (test_value(dev, "scan", &params, "ipt") > 4 &&
                   test_value(dev, "scan", &params, "ipt") * (int64_t)weft_scan_in_bytes(type) > most)
                test_value_set(dev, "scan", &params, "ipt", test_value(dev, "scan", &params, "ipt") - 4);
            test_value_set(dev, "scan", &params, "look",
                           (int)rng_between(&rng, 1, test_value(dev, "scan", &params, "wg") / 32) * 32);
        }
        int64_t n = (int64_t)rng_below(&rng, test_sample() ? 3000 : 100000);
        struct weft_scan_plan *plan = scan_plan_make(dev, type, n, &params);
        ok = plan && scan_check(dev, plan, type, n, DATA_ANY, 0);
        weft_scan_plan_destroy(&plan);
    }
    tap_ok(ok, "%s: tuning values at random", dev->name);
}

// The same bits from run to run, and with any number of work-groups on a GPU.
static void test_repeatable(struct test_device *dev)
{
    enum { N = 5000 };
    float *in = test_alloc(N * sizeof *in), *first = test_alloc(N * sizeof *in), *again = test_alloc(N * sizeof *in);
    int ok = 1;
    scan_data_fill(in, N, WEFT_SCAN_TYPE_F32, DATA_ANY);
    for (int run = 0; ok && run < 3; run++) {
        struct weft_scan_params params = scan_smallest(dev);
        if (dev->gpu)
            test_value_set(dev, "scan", &params, "groups", 1 + 3 * run);
        struct weft_scan_plan *plan = scan_plan_make(dev, WEFT_SCAN_TYPE_F32, N, &params);
        struct test_buffer from = test_buffer_make(dev, in, N * sizeof *in);
        struct test_buffer out = test_buffer_make(dev, NULL, N * sizeof *in);
        ok = plan && !weft_scan_run(plan, dev->queue, out.mem, from.mem, N, 0, NULL, NULL);
        test_buffer_read(dev, &out, run ? again : first, N * sizeof *in);
        ok = ok && (!run || !memcmp(first, again, N * sizeof *in));
        test_buffer_free(&from);
        test_buffer_free(&out);
        weft_scan_plan_destroy(&plan);
    }
    tap_ok(ok, "%s: f32 sums have the same bits every time", dev->name);
    free(in);
    free(first);
    free(again);
}

// Two scans in a row on an out-of-order queue, the first behind an event that the test completes late.
static void test_events(struct test_device *dev, enum weft_scan_algo algo)
{
    enum { N = 3000 };
    cl_command_queue queue = test_queue(dev, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    if (!queue) {
        tap_skip("%s: no out-of-order queue", dev->name);
        return;
    }
    uint32_t *in = test_alloc(N * sizeof *in), *want = test_alloc(N * sizeof *in), *got = test_alloc(N * sizeof *in);
    scan_data_fill(in, N, WEFT_SCAN_TYPE_U32, DATA_ANY);
    weft__ref_scan(want, in, N, WEFT_SCAN_TYPE_U32, 0, 0);
    weft__ref_scan(got, want, N, WEFT_SCAN_TYPE_U32, 0, 0);
    memcpy(want, got, N * sizeof *in);
    struct weft_scan_params params = scan_smallest(dev);
    params.algo = algo;
    struct weft_scan_plan *plan = scan_plan_make(dev, WEFT_SCAN_TYPE_U32, N, &params);
    struct test_buffer a = test_buffer_make(dev, NULL, N * sizeof *in), b = test_buffer_make(dev, NULL, N * sizeof *in);
    cl_int error;
    cl_event gate = clCreateUserEvent(weft_context_cl(dev->ctx), &error), first = NULL, second = NULL, written = NULL;
    int ok = plan && !clEnqueueWriteBuffer(queue, a.mem, CL_FALSE, 0, N * sizeof *in, in, 1, &gate, &written) &&
             !weft_scan_run(plan, queue, b.mem, a.mem, N, 1, &written, &first) &&
             !weft_scan_run(plan, queue, a.mem, b.mem, N, 1, &first, &second);
    clSetUserEventStatus(gate, CL_COMPLETE);
    ok = ok && !clEnqueueReadBuffer(queue, a.mem, CL_TRUE, 0, N * sizeof *in, got, 1, &second, NULL) &&
         !memcmp(got, want, N * sizeof *in);
    clFinish(queue);
    struct test_buffer none = {0};
    cl_event nothing = NULL;
    ok = ok && !weft_scan_run(plan, queue, none.mem, none.mem, 0, 1, &second, &nothing) && nothing &&
         clWaitForEvents(1, &nothing) == CL_SUCCESS;
    tap_ok(ok, "%s: out-of-order queue, wait list and event%s; no elements give an event too", dev->name,
           algo ? ", chained" : "");
    cl_event events[] = {gate, first, second, written, nothing};
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (events[i])
            clReleaseEvent(events[i]);
    test_buffer_free(&a);
    test_buffer_free(&b);
    weft_scan_plan_destroy(&plan);
    clReleaseCommandQueue(queue);
    free(in);
    free(want);
    free(got);
}

static void refused(struct test_device *dev, const char *what, enum weft_scan_type type, int64_t n_max,
                    const struct weft_scan_params *params, weft_status want)
{
    struct weft_scan_plan *plan = (struct weft_scan_plan *)&rng;
    size_t bytes = 1;
    int ok = weft_scan_plan_create(&plan, dev->ctx, type, n_max, params) == want && !plan && *test_error(dev);
    if (want == WEFT_EINVAL || want == WEFT_EUNSUPPORTED)
        ok = ok && weft_scan_workspace(&bytes, dev->ctx, type, n_max, params) == want && !bytes;
    tap_ok(ok, "%s: refuses %s: %s", dev->name, what, test_error(dev));
}

static void run_refused(struct test_device *dev, const char *what, struct weft_scan_plan *plan, cl_command_queue queue,
                        cl_mem in, cl_mem out, int64_t n, weft_status want)
{
    int ok = weft_scan_run(plan, queue, out, in, n, 0, NULL, NULL) == want;
    tap_ok(ok, "%s: run refuses %s: %s", dev->name, what, test_error(dev));
}

static void test_errors(struct test_device *dev)
{
    refused(dev, "an unknown type", (enum weft_scan_type)99, 10, NULL, WEFT_EINVAL);
    refused(dev, "a negative length", WEFT_SCAN_TYPE_I32, -1, NULL, WEFT_EINVAL);
    refused(dev, "a total of an inclusive scan", WEFT_SCAN_TYPE_I32, 10, weft_scan_params(.inclusive = 1, .total = 1),
            WEFT_EINVAL);
    refused(dev, "a work-group size", WEFT_SCAN_TYPE_I32, 10, weft_scan_params(.gpu.wg = 33, .cpu.wg = 33),
            WEFT_EINVAL);
    refused(dev, "items per work-item", WEFT_SCAN_TYPE_I32, 10, weft_scan_params(.gpu.ipt = 3, .cpu.chunk = 3),
            WEFT_EINVAL);
    refused(dev, "a negative number of groups", WEFT_SCAN_TYPE_I32, 10,
            weft_scan_params(.gpu.groups = -1, .cpu.chunks = -1), WEFT_EINVAL);
    if (dev->gpu)
        refused(dev, "more scratch than the device has", WEFT_SCAN_TYPE_I64, INT64_MAX, NULL, WEFT_ERANGE);
    refused(dev, "an unknown algorithm", WEFT_SCAN_TYPE_I32, 10, weft_scan_params(.algo = (enum weft_scan_algo)3),
            WEFT_EINVAL);
    refused(dev, "f32 chained", WEFT_SCAN_TYPE_F32, 10, weft_scan_params(.algo = WEFT_SCAN_ALGO_CHAINED),
            WEFT_EUNSUPPORTED);
    int atomics = dev->ctx->device.int64_atomics;
    dev->ctx->device.int64_atomics = 0;
    refused(dev, "chained without atomics", WEFT_SCAN_TYPE_I32, 10, weft_scan_params(.algo = WEFT_SCAN_ALGO_CHAINED),
            WEFT_EUNSUPPORTED);
    dev->ctx->device.int64_atomics = atomics;
    if (can_chain(dev, WEFT_SCAN_TYPE_I32)) {
        int64_t local = dev->ctx->device.local_bytes;
        dev->ctx->device.local_bytes = 1024;
        refused(dev, "a tile that local memory does not hold", WEFT_SCAN_TYPE_I32, 10,
                weft_scan_params(.algo = WEFT_SCAN_ALGO_CHAINED, .gpu.wg = 64, .gpu.ipt = 4), WEFT_EINVAL);
        dev->ctx->device.local_bytes = local;
        refused(dev, "a window beyond the work-group", WEFT_SCAN_TYPE_I32, 10,
                weft_scan_params(.algo = WEFT_SCAN_ALGO_CHAINED, .gpu.wg = 32, .gpu.look = 64), WEFT_EINVAL);
        const int64_t most = ((INT64_C(1) << 31) - 32) * 4; // the last group below 2^31 work-items
        const struct weft_scan_params *four =
            weft_scan_params(.algo = WEFT_SCAN_ALGO_CHAINED, .gpu.wg = 32, .gpu.ipt = 4);
        refused(dev, "2^31 work-items", WEFT_SCAN_TYPE_I32, most + 1, four, WEFT_ERANGE);
        size_t words = 0;
        tap_ok(!weft_scan_workspace(&words, dev->ctx, WEFT_SCAN_TYPE_I32, most, four) && words == (most / 128) * 12,
               "%s: less than 2^31 work-items are not refused", dev->name);
    }
    struct weft_scan_plan *plan = scan_plan_make(dev, WEFT_SCAN_TYPE_I32_I64, 100, NULL);
    struct test_buffer in = test_buffer_make(dev, NULL, 400), out = test_buffer_make(dev, NULL, 800);
    run_refused(dev, "n < 0", plan, dev->queue, in.mem, out.mem, -1, WEFT_EINVAL);
    run_refused(dev, "n > n_max", plan, dev->queue, in.mem, out.mem, 101, WEFT_EINVAL);
    run_refused(dev, "no input", plan, dev->queue, NULL, out.mem, 100, WEFT_EINVAL);
    run_refused(dev, "one buffer for two widths", plan, dev->queue, in.mem, in.mem, 50, WEFT_EINVAL);
    run_refused(dev, "a small output", plan, dev->queue, out.mem, in.mem, 100, WEFT_EINVAL);
    run_refused(dev, "no queue", plan, NULL, in.mem, out.mem, 100, WEFT_EINVAL);
    const struct weft_device_info *device = weft_context_device(dev->ctx);
    const enum weft_scan_algo usual =
        dev->gpu && strstr(device->vendor, "NVIDIA") ? WEFT_SCAN_ALGO_CHAINED : WEFT_SCAN_ALGO_THREE;
    size_t bytes = 0;
    const struct weft_scan_info *info = weft_scan_plan_info(plan);
    weft_status status = weft_scan_workspace(&bytes, dev->ctx, WEFT_SCAN_TYPE_I32_I64, 100, NULL);
    tap_ok(!status && bytes == info->workspace_bytes && test_value(dev, "scan", &info->params, "wg") > 0 &&
               test_value(dev, "scan", &info->params, "ipt") > 0 && info->why[0] &&
               (info->schedule == WEFT_SCHEDULE_GPU) == dev->gpu && info->params.algo == usual,
           "%s: info gives the defaults back: %s", dev->name, info->why);
    weft_scan_plan_destroy(&plan);
    weft_scan_plan_destroy(&plan);
    weft_scan_plan_destroy(NULL);
    test_buffer_free(&in);
    test_buffer_free(&out);
}

// Every size from 1 to 20000, then x1.5 up to 20 000 000, in one pair of buffers; what lies behind n stays poison.
static void test_sweep(struct test_device *dev, enum weft_scan_type type, enum weft_scan_algo algo)
{
    enum { MOST = 20000000, MORE = 64 };
    size_t in_bytes = weft_scan_in_bytes(type), bytes = weft_scan_sum_bytes(type);
    char *in = test_alloc(MOST * in_bytes), *want = test_alloc(MOST * bytes), *got = test_alloc((MOST + MORE) * bytes);
    scan_data_fill(in, MOST, type, type == WEFT_SCAN_TYPE_F32 ? DATA_SMALL : DATA_ANY);
    if (type == WEFT_SCAN_TYPE_F32) // sums that stay exact
        for (int64_t i = 0; i < MOST; i++)
            ((float *)(void *)in)[i] = (float)(i % 3 - 1);
    weft__ref_scan(want, in, MOST, type, 0, 0);
    struct weft_scan_plan *plan = scan_plan_make(dev, type, MOST, weft_scan_params(.algo = algo));
    struct test_buffer from = test_buffer_make(dev, in, MOST * in_bytes);
    struct test_buffer out = test_buffer_make(dev, NULL, (MOST + MORE) * bytes);
    int ok = plan != NULL;
    int64_t n = 1;
    while (ok) {
        size_t used = (size_t)n * bytes, poisoned = used < 4096 ? used : 4096, rest = used - poisoned;
        test_poison(got, poisoned + MORE * bytes);
        ok = !clEnqueueWriteBuffer(dev->queue, out.mem, CL_TRUE, rest, poisoned + MORE * bytes, got, 0, NULL, NULL) &&
             !weft_scan_run(plan, dev->queue, out.mem, from.mem, n, 0, NULL, NULL);
        test_buffer_read(dev, &out, got, used + MORE * bytes);
        ok = ok && !memcmp(got, want, used) && test_poisoned(got + used, MORE * bytes);
        if (n == MOST || !ok)
            break;
        n = n < 20000 ? n + 1 : n * 3 / 2 < MOST ? n * 3 / 2 : MOST;
    }
    tap_ok(ok, "%s: %s, sweep to %lld%s", dev->name, weft_scan_type_name(type), (long long)n, algo ? ", chained" : "");
    weft_scan_plan_destroy(&plan);
    test_buffer_free(&from);
    test_buffer_free(&out);
    free(in);
    free(want);
    free(got);
}

// More than 2^31 elements, in place, where the device has the memory: ones in, positions out.
static void test_huge(struct test_device *dev)
{
    const int64_t n = (INT64_C(1) << 31) + 1234567;
    const struct weft_device_info *info = weft_context_device(dev->ctx);
    if (info->max_alloc_bytes < n * 4 || info->global_bytes < INT64_C(40) << 30) {
        tap_skip("%s: more than 2^31 elements need a device with 40 GiB", dev->name);
        return;
    }
    enum { PIECE = 1 << 24 };
    uint32_t *piece = test_alloc(PIECE * sizeof *piece);
    cl_int error;
    cl_mem data = clCreateBuffer(weft_context_cl(dev->ctx), CL_MEM_READ_WRITE, (size_t)n * 4, NULL, &error);
    struct weft_scan_plan *plan = scan_plan_make(dev, WEFT_SCAN_TYPE_U32, n, NULL);
    int ok = plan && error == CL_SUCCESS;
    for (int64_t i = 0; i < PIECE; i++)
        piece[i] = 1;
    for (int64_t at = 0; ok && at < n; at += PIECE)
        ok = !clEnqueueWriteBuffer(dev->queue, data, CL_TRUE, (size_t)at * 4,
                                   (size_t)(n - at < PIECE ? n - at : PIECE) * 4, piece, 0, NULL, NULL);
    ok = ok && !weft_scan_run(plan, dev->queue, data, data, n, 0, NULL, NULL);
    for (int64_t at = 0; ok && at < n; at += PIECE) {
        int64_t count = n - at < PIECE ? n - at : PIECE;
        ok = !clEnqueueReadBuffer(dev->queue, data, CL_TRUE, (size_t)at * 4, (size_t)count * 4, piece, 0, NULL, NULL);
        for (int64_t i = 0; ok && i < count; i++)
            ok = piece[i] == (uint32_t)(at + i);
    }
    tap_ok(ok, "%s: %lld elements", dev->name, (long long)n);
    weft_scan_plan_destroy(&plan);
    if (data)
        clReleaseMemObject(data);
    free(piece);
}

static void test_chained(struct test_device *dev)
{
    // A sample: each width in and out, each form once.
    for (size_t t = 0; t < TYPES; t++)
        for (size_t f = 0; f < 3 && can_chain(dev, all_types[t]); f++)
            if (!test_sample() ||
                (all_types[t] != WEFT_SCAN_TYPE_U32 && all_types[t] != WEFT_SCAN_TYPE_U32_U64 && f == t % 3))
                test_shapes(dev, all_types[t], f == 2, f == 1, WEFT_SCAN_ALGO_CHAINED);
    test_defaults(dev, WEFT_SCAN_TYPE_I32, WEFT_SCAN_ALGO_CHAINED);
    test_events(dev, WEFT_SCAN_ALGO_CHAINED);
    scan_test_neighbours(dev);
    if (!test_sample())
        test_defaults(dev, WEFT_SCAN_TYPE_U32_U64, WEFT_SCAN_ALGO_CHAINED);
}

static void test_all(struct test_device *dev)
{
    if (test_slow()) {
        test_sweep(dev, WEFT_SCAN_TYPE_U32, WEFT_SCAN_ALGO_AUTO);
        test_sweep(dev, WEFT_SCAN_TYPE_F32, WEFT_SCAN_ALGO_AUTO);
        test_sweep(dev, WEFT_SCAN_TYPE_I32_I64, WEFT_SCAN_ALGO_AUTO);
        if (can_chain(dev, WEFT_SCAN_TYPE_U32)) {
            test_sweep(dev, WEFT_SCAN_TYPE_U32, WEFT_SCAN_ALGO_CHAINED);
            test_sweep(dev, WEFT_SCAN_TYPE_I32_I64, WEFT_SCAN_ALGO_CHAINED);
        }
        test_huge(dev);
        return;
    }
    for (size_t t = 0; t < TYPES; t++) {
        test_shapes(dev, all_types[t], 0, 0, WEFT_SCAN_ALGO_AUTO);
        test_shapes(dev, all_types[t], 0, 1, WEFT_SCAN_ALGO_AUTO);
        test_shapes(dev, all_types[t], 1, 0, WEFT_SCAN_ALGO_AUTO);
    }
    test_defaults(dev, WEFT_SCAN_TYPE_I32, WEFT_SCAN_ALGO_AUTO);
    test_defaults(dev, WEFT_SCAN_TYPE_F32, WEFT_SCAN_ALGO_AUTO);
    test_defaults(dev, WEFT_SCAN_TYPE_U32_U64, WEFT_SCAN_ALGO_AUTO);
    if (dev->gpu) {
        test_spine(dev, WEFT_SCAN_TYPE_U32);
        if (!dev->checker) // which takes its time
            test_spine(dev, WEFT_SCAN_TYPE_I32_I64);
    }
    test_clamped(dev);
    test_fewer(dev, WEFT_SCAN_TYPE_I32);
    test_fewer(dev, WEFT_SCAN_TYPE_U32_U64);
    test_tuning(dev);
    test_repeatable(dev);
    test_events(dev, WEFT_SCAN_ALGO_AUTO);
    if (can_chain(dev, WEFT_SCAN_TYPE_I32))
        test_chained(dev);
    test_errors(dev);
}

int main(void)
{
    rng = rng_start();
    test_device_each(test_all);
    return tap_done();
}
