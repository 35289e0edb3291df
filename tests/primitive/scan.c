// SPDX-License-Identifier: Apache-2.0
// Scan against its oracle: every type, edge shapes, clamped launches, tuning values, queues, errors, the long sweep; the
// form of one launch also where neighbours say nothing.
#include "host/internal/tests.h"
#include "tests/support/device.h"
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

// What the elements are: any bits (sums wrap around; floats in -1..1), or small whole numbers whose sums are exact.
enum data { DATA_ANY, DATA_SMALL };

static void data_fill(void *in, int64_t n, enum weft_scan_type type, enum data data)
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

// Index of the first wrong sum, -1: none. Floats in -1..1 may be off by (k+3)*eps*sum|in| after k elements.
static int64_t first_wrong(const void *got, const void *want, const void *in, int64_t count, int64_t n,
                           enum weft_scan_type type, enum data data)
{
    size_t bytes = weft_scan_sum_bytes(type);
    double sum = 0;
    for (int64_t i = 0; i < count; i++) {
        if (type == WEFT_SCAN_TYPE_F32 && data == DATA_ANY) {
            double error = fabs((double)((const float *)got)[i] - (double)((const float *)want)[i]);
            sum += i < n ? fabs((double)((const float *)in)[i]) : 0;
            if (!(error <= (double)(i + 3) * FLT_EPSILON * sum))
                return i;
        } else if (memcmp((const char *)got + (size_t)i * bytes, (const char *)want + (size_t)i * bytes, bytes)) {
            return i;
        }
    }
    return -1;
}

// One scan of n elements with a plan that is there, in canaried buffers or in place, against the oracle.
static int check(struct test_device *dev, struct weft_scan_plan *plan, enum weft_scan_type type, int64_t n,
                 enum data data, int in_place)
{
    const struct weft_scan_info *info = weft_scan_plan_info(plan);
    const struct weft_scan_params *p = &info->params;
    int64_t outputs = n + (p->total != 0);
    size_t in_bytes = (size_t)n * weft_scan_in_bytes(type), out_bytes = (size_t)outputs * weft_scan_sum_bytes(type);
    void *in = test_alloc(in_bytes), *want = test_alloc(out_bytes), *got = test_alloc(out_bytes);
    data_fill(in, n, type, data);
    weft__ref_scan(want, in, n, type, p->inclusive, p->total);
    struct test_buffer out = test_buffer_make(dev, NULL, out_bytes), from = {0};
    if (in_place)
        test_buffer_write(dev, &out, in, in_bytes);
    else
        from = test_buffer_make(dev, in, in_bytes);
    weft_status status = weft_scan_run(plan, dev->queue, out.mem, in_place ? out.mem : from.mem, n, 0, NULL, NULL);
    test_buffer_read(dev, &out, got, out_bytes);
    int64_t wrong = status ? 0 : first_wrong(got, want, in, outputs, n, type, data);
    int intact = test_buffer_intact(dev, &out) && (in_place || test_buffer_intact(dev, &from));
    if (!in_place && n) {
        void *same = test_alloc(in_bytes);
        test_buffer_read(dev, &from, same, in_bytes);
        intact = intact && !memcmp(same, in, in_bytes);
        free(same);
    }
    if (status || wrong >= 0 || !intact)
        tap_note("%s algo=%d n=%lld inclusive=%d total=%d wg=%d ipt=%d groups=%d data=%d in_place=%d: %s, first wrong "
                 "%lld, %s",
                 weft_scan_type_name(type), (int)p->algo, (long long)n, p->inclusive, p->total,
                 test_value(dev, "scan", p, "wg"), test_value(dev, "scan", p, "ipt"),
                 test_value(dev, "scan", p, "groups"), (int)data, in_place, status ? test_error(dev) : "ran",
                 (long long)wrong, intact ? "intact" : "canary hit");
    test_buffer_free(&out);
    test_buffer_free(&from);
    free(in);
    free(want);
    free(got);
    return !status && wrong < 0 && intact;
}

static struct weft_scan_plan *plan_make(struct test_device *dev, enum weft_scan_type type, int64_t n_max,
                                        const struct weft_scan_params *params)
{
    struct weft_scan_plan *plan = NULL;
    if (weft_scan_plan_create(&plan, dev->ctx, type, n_max, params))
        tap_note("plan: %s", test_error(dev));
    return plan;
}

// The smallest tuning values of a schedule: tiles (or chunks) of few elements, so that small inputs have many.
static struct weft_scan_params smallest(struct test_device *dev)
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
    struct weft_scan_params params = smallest(dev);
    int64_t tile = (int64_t)test_value(dev, "scan", &params, "wg") * test_value(dev, "scan", &params, "ipt");
    // A second level of tiles; in a sample for one form of each type.
    int64_t largest = test_sample() && (inclusive || total) ? 5 * tile + 3 : tile * tile + tile + 1;
    params.inclusive = inclusive;
    params.total = total;
    params.algo = algo;
    const int64_t sizes[] = {0, 1, 2, 7, tile - 1, tile, tile + 1, 2 * tile - 1, 3 * tile + 5, largest};
    struct weft_scan_plan *plan = plan_make(dev, type, largest, &params);
    int ok = plan != NULL;
    for (size_t i = 0; ok && i < sizeof sizes / sizeof *sizes; i++)
        if (!test_sample() || (i + (size_t)type) % 3) // of each type two thirds of the sizes
            ok = check(dev, plan, type, sizes[i], i % 2 ? DATA_ANY : DATA_SMALL, 0);
    if (ok && weft_scan_in_bytes(type) == weft_scan_sum_bytes(type))
        ok = check(dev, plan, type, 5 * tile + 3, DATA_ANY, 1);
    tap_ok(ok, "%s: %s %s%s%s, edge sizes", dev->name, weft_scan_type_name(type), inclusive ? "inclusive" : "exclusive",
           total ? " with total" : "", algo == WEFT_SCAN_ALGO_CHAINED ? ", chained" : "");
    weft_scan_plan_destroy(&plan);
}

// Three launches with sums of more than two tiles of sums, which scan_spine adds up one tile after the other.
static void test_spine(struct test_device *dev, enum weft_scan_type type)
{
    struct weft_scan_params params = smallest(dev);
    params.algo = WEFT_SCAN_ALGO_THREE;
    const int64_t tile = (int64_t)test_value(dev, "scan", &params, "wg") * test_value(dev, "scan", &params, "ipt"),
                  n = 2 * tile * tile + 1;
    struct weft_scan_plan *plan = plan_make(dev, type, n, &params);
    tap_ok(plan && check(dev, plan, type, n, DATA_ANY, 0), "%s: %s, sums of %lld tiles", dev->name,
           weft_scan_type_name(type), (long long)(n / tile + 1));
    weft_scan_plan_destroy(&plan);
}

// The defaults, at the edges of their own tiles and at sizes of several launches.
static void test_defaults(struct test_device *dev, enum weft_scan_type type, enum weft_scan_algo algo)
{
    struct weft_scan_plan *plan = plan_make(dev, type, 1 << 20, algo ? weft_scan_params(.algo = algo) : NULL);
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
            ok = check(dev, plan, type, sizes[i], i % 2 ? DATA_ANY : DATA_SMALL, 0);
    }
    tap_ok(ok, "%s: %s, default tuning%s", dev->name, weft_scan_type_name(type), algo ? ", chained" : "");
    weft_scan_plan_destroy(&plan);
}

// Few work-groups for many tiles, few chunks for many elements: what happens beyond 2^31 elements, in small.
static void test_clamped(struct test_device *dev)
{
    int ok = 1;
    for (int groups = 1; ok && groups <= 3; groups++) {
        struct weft_scan_params params = smallest(dev);
        test_value_set(dev, "scan", &params, "groups", groups);
        params.total = 1;
        struct weft_scan_plan *plan = plan_make(dev, WEFT_SCAN_TYPE_U32_U64, 3000, &params);
        ok = plan && check(dev, plan, WEFT_SCAN_TYPE_U32_U64, 3000, DATA_ANY, 0) &&
             check(dev, plan, WEFT_SCAN_TYPE_U32_U64, 200, DATA_ANY, 0);
        weft_scan_plan_destroy(&plan);
    }
    tap_ok(ok, "%s: clamped to 1, 2, 3 work-groups", dev->name);
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
        struct weft_scan_plan *plan = plan_make(dev, type, n, &params);
        ok = plan && check(dev, plan, type, n, DATA_ANY, 0);
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
    data_fill(in, N, WEFT_SCAN_TYPE_F32, DATA_ANY);
    for (int run = 0; ok && run < 3; run++) {
        struct weft_scan_params params = smallest(dev);
        if (dev->gpu)
            test_value_set(dev, "scan", &params, "groups", 1 + 3 * run);
        struct weft_scan_plan *plan = plan_make(dev, WEFT_SCAN_TYPE_F32, N, &params);
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

// Runs enqueued one after the other, from a to b and back, over more elements and fewer, with no wait between them.
static void test_chained_queue(struct test_device *dev, enum weft_scan_type type)
{
    enum { N = 3000 };
    const int runs = test_sample() ? 11 : 40;
    static const int64_t sizes[] = {N, 300, 1, 2999, 129, 1000, 128, 2000};
    size_t bytes = weft_scan_sum_bytes(type);
    char *want[2] = {test_alloc(N * bytes), test_alloc(N * bytes)}, *got = test_alloc(N * bytes);
    data_fill(want[0], N, type, DATA_ANY);
    data_fill(want[1], N, type, DATA_ANY);
    struct test_buffer b[2] = {test_buffer_make(dev, want[0], N * bytes), test_buffer_make(dev, want[1], N * bytes)};
    struct weft_scan_params params = smallest(dev);
    params.algo = WEFT_SCAN_ALGO_CHAINED;
    params.inclusive = 1;
    struct weft_scan_plan *plan = plan_make(dev, type, N, &params);
    int ok = plan != NULL;
    for (int run = 0; run < runs; run++) {
        int64_t n = sizes[run % 8];
        int from = run % 3 % 2, to = !from;
        if (run == 5) // those from 6 on have the numbers of those from 0 on
            weft__scan_last_run(plan);
        ok = ok && !weft_scan_run(plan, dev->queue, b[to].mem, b[from].mem, n, 0, NULL, NULL);
        weft__ref_scan(want[to], want[from], n, type, 1, 0);
    }
    for (int i = 0; i < 2; i++) {
        test_buffer_read(dev, &b[i], got, N * bytes);
        ok = ok && !memcmp(got, want[i], N * bytes) && test_buffer_intact(dev, &b[i]);
        test_buffer_free(&b[i]);
        free(want[i]);
    }
    tap_ok(ok, "%s: %s, chained, %d runs in a row", dev->name, weft_scan_type_name(type), runs);
    weft_scan_plan_destroy(&plan);
    free(got);
}

static cl_int(CL_API_CALL *build_as_before)(cl_program, cl_uint, const cl_device_id *, const char *,
                                            void(CL_CALLBACK *)(cl_program, void *), void *);
static const char *stuck;
static int stuck_builds;

static cl_int CL_API_CALL build_stuck(cl_program program, cl_uint n, const cl_device_id *devices, const char *options,
                                      void(CL_CALLBACK *notify)(cl_program, void *), void *arg)
{
    char text[512];
    snprintf(text, sizeof text, "%s -DWEFT_STUCK=%s", options ? options : "", stuck);
    stuck_builds++;
    return build_as_before(program, n, devices, text, notify, arg);
}

// One of `every` tiles publishes nothing, so that who comes first behind it has to sum it up, and says it for the others. After
// three runs, of which the last is short, the numbers of the runs begin again with other silent tiles, which seem to speak if
// their words are still those of the first runs.
static void test_chained_stuck(struct test_device *dev, enum weft_scan_type type, const char *every, int wg)
{
    struct weft_context *ctx = dev->ctx;
    struct weft_scan_params params = smallest(dev);
    test_value_set(dev, "scan", &params, "wg", wg); // 32: a window of 32 tiles; more: several, looked at at once
    test_value_set(dev, "scan", &params, "look", wg);
    int64_t tile = (int64_t)test_value(dev, "scan", &params, "wg") * test_value(dev, "scan", &params, "ipt"),
            most = (test_sample() ? 34 : 75) * tile + 7;
    const int64_t sizes[] = {30 * tile + 5, 5 * tile, 2 * tile, 31 * tile + 5, most, 2 * tile, 33 * tile, 3 * tile};
    params.algo = WEFT_SCAN_ALGO_CHAINED;
    params.total = 1;
    build_as_before = weft__cl.clBuildProgram;
    weft__cl.clBuildProgram = build_stuck;
    stuck = every;
    stuck_builds = 0;
    ctx->salt = 0x57c4 + (uint64_t)atoi(every); // caches do not see the option: these programs are other texts to them
    struct weft_scan_plan *plan = plan_make(dev, type, most, &params);
    ctx->salt = 0;
    weft__cl.clBuildProgram = build_as_before;
    int ok = plan && stuck_builds;
    const size_t count = sizeof sizes / sizeof *sizes - (test_sample() ? 2 : 0);
    for (size_t i = 0; ok && i < count; i++) {
        if (i == 2)
            weft__scan_last_run(plan);
        ok = check(dev, plan, type, sizes[i], DATA_ANY, 0);
    }
    if (ok && weft_scan_in_bytes(type) == weft_scan_sum_bytes(type))
        ok = check(dev, plan, type, sizes[1], DATA_ANY, 1);
    tap_ok(ok, "%s: %s, chained, one tile of %s says nothing, groups of %d", dev->name, weft_scan_type_name(type),
           every, wg);
    weft_scan_plan_destroy(&plan);
}

static cl_mem CL_API_CALL no_buffer(cl_context ctx, cl_mem_flags flags, size_t bytes, void *from, cl_int *error)
{
    (void)ctx, (void)flags, (void)bytes, (void)from;
    *error = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return NULL;
}

// The numbers of runs begin again while the device has no memory for new words: that run fails, the next one does not.
static void test_chained_no_words(struct test_device *dev)
{
    enum { N = 1000 };
    struct weft_scan_params params = smallest(dev);
    params.algo = WEFT_SCAN_ALGO_CHAINED;
    struct weft_scan_plan *plan = plan_make(dev, WEFT_SCAN_TYPE_U32, N, &params);
    struct test_buffer in = test_buffer_make(dev, NULL, 4 * N), out = test_buffer_make(dev, NULL, 4 * N);
    if (plan)
        weft__scan_last_run(plan);
    int ok = plan && check(dev, plan, WEFT_SCAN_TYPE_U32, N, DATA_ANY, 0);
    cl_mem(CL_API_CALL * before)(cl_context, cl_mem_flags, size_t, void *, cl_int *) = weft__cl.clCreateBuffer;
    weft__cl.clCreateBuffer = no_buffer;
    ok = ok && weft_scan_run(plan, dev->queue, out.mem, in.mem, N, 0, NULL, NULL) == WEFT_EDEVMEM;
    weft__cl.clCreateBuffer = before;
    for (int run = 0; ok && run < 2; run++)
        ok = check(dev, plan, WEFT_SCAN_TYPE_U32, N, DATA_ANY, 0);
    tap_ok(ok, "%s: chained, no memory for new words", dev->name);
    test_buffer_free(&in);
    test_buffer_free(&out);
    weft_scan_plan_destroy(&plan);
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
    data_fill(in, N, WEFT_SCAN_TYPE_U32, DATA_ANY);
    weft__ref_scan(want, in, N, WEFT_SCAN_TYPE_U32, 0, 0);
    weft__ref_scan(got, want, N, WEFT_SCAN_TYPE_U32, 0, 0);
    memcpy(want, got, N * sizeof *in);
    struct weft_scan_params params = smallest(dev);
    params.algo = algo;
    struct weft_scan_plan *plan = plan_make(dev, WEFT_SCAN_TYPE_U32, N, &params);
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
    struct weft_scan_plan *plan = plan_make(dev, WEFT_SCAN_TYPE_I32_I64, 100, NULL);
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
    data_fill(in, MOST, type, type == WEFT_SCAN_TYPE_F32 ? DATA_SMALL : DATA_ANY);
    if (type == WEFT_SCAN_TYPE_F32) // sums that stay exact
        for (int64_t i = 0; i < MOST; i++)
            ((float *)(void *)in)[i] = (float)(i % 3 - 1);
    weft__ref_scan(want, in, MOST, type, 0, 0);
    struct weft_scan_plan *plan = plan_make(dev, type, MOST, weft_scan_params(.algo = algo));
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
    struct weft_scan_plan *plan = plan_make(dev, WEFT_SCAN_TYPE_U32, n, NULL);
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
    test_chained_queue(dev, WEFT_SCAN_TYPE_I64);
    test_chained_no_words(dev);
    test_chained_stuck(dev, WEFT_SCAN_TYPE_U32, "3", 32);
    test_chained_stuck(dev, WEFT_SCAN_TYPE_U32_U64, "1000", 32); // none
    test_chained_stuck(dev, WEFT_SCAN_TYPE_I32, "21", 64);
    if (test_sample())
        return;
    test_defaults(dev, WEFT_SCAN_TYPE_U32_U64, WEFT_SCAN_ALGO_CHAINED);
    test_chained_queue(dev, WEFT_SCAN_TYPE_U32);
    test_chained_stuck(dev, WEFT_SCAN_TYPE_I32_I64, "3", 32);
    test_chained_stuck(dev, WEFT_SCAN_TYPE_I64, "1000", 64);
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
