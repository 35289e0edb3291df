// SPDX-License-Identifier: Apache-2.0
// The scan of one launch: runs in a row whose numbers begin again, neighbours that say nothing, no memory for new words.
#include "host/internal/tests.h"
#include "scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Runs enqueued one after the other, from a to b and back, over more elements and fewer, with no wait between them.
static void test_chained_queue(struct test_device *dev, enum weft_scan_type type)
{
    enum { N = 3000 };
    const int runs = test_sample() ? 11 : 40;
    static const int64_t sizes[] = {N, 300, 1, 2999, 129, 1000, 128, 2000};
    size_t bytes = weft_scan_sum_bytes(type);
    char *want[2] = {test_alloc(N * bytes), test_alloc(N * bytes)}, *got = test_alloc(N * bytes);
    scan_data_fill(want[0], N, type, DATA_ANY);
    scan_data_fill(want[1], N, type, DATA_ANY);
    struct test_buffer b[2] = {test_buffer_make(dev, want[0], N * bytes), test_buffer_make(dev, want[1], N * bytes)};
    struct weft_scan_params params = scan_smallest(dev);
    params.algo = WEFT_SCAN_ALGO_CHAINED;
    params.inclusive = 1;
    struct weft_scan_plan *plan = scan_plan_make(dev, type, N, &params);
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
    struct weft_scan_params params = scan_smallest(dev);
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
    struct weft_scan_plan *plan = scan_plan_make(dev, type, most, &params);
    ctx->salt = 0;
    weft__cl.clBuildProgram = build_as_before;
    int ok = plan && stuck_builds;
    const size_t count = sizeof sizes / sizeof *sizes - (test_sample() ? 2 : 0);
    for (size_t i = 0; ok && i < count; i++) {
        if (i == 2)
            weft__scan_last_run(plan);
        ok = scan_check(dev, plan, type, sizes[i], DATA_ANY, 0);
    }
    if (ok && weft_scan_in_bytes(type) == weft_scan_sum_bytes(type))
        ok = scan_check(dev, plan, type, sizes[1], DATA_ANY, 1);
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
    struct weft_scan_params params = scan_smallest(dev);
    params.algo = WEFT_SCAN_ALGO_CHAINED;
    struct weft_scan_plan *plan = scan_plan_make(dev, WEFT_SCAN_TYPE_U32, N, &params);
    struct test_buffer in = test_buffer_make(dev, NULL, 4 * N), out = test_buffer_make(dev, NULL, 4 * N);
    if (plan)
        weft__scan_last_run(plan);
    int ok = plan && scan_check(dev, plan, WEFT_SCAN_TYPE_U32, N, DATA_ANY, 0);
    cl_mem(CL_API_CALL * before)(cl_context, cl_mem_flags, size_t, void *, cl_int *) = weft__cl.clCreateBuffer;
    weft__cl.clCreateBuffer = no_buffer;
    ok = ok && weft_scan_run(plan, dev->queue, out.mem, in.mem, N, 0, NULL, NULL) == WEFT_EDEVMEM;
    weft__cl.clCreateBuffer = before;
    for (int run = 0; ok && run < 2; run++)
        ok = scan_check(dev, plan, WEFT_SCAN_TYPE_U32, N, DATA_ANY, 0);
    tap_ok(ok, "%s: chained, no memory for new words", dev->name);
    test_buffer_free(&in);
    test_buffer_free(&out);
    weft_scan_plan_destroy(&plan);
}

void scan_test_neighbours(struct test_device *dev)
{
    test_chained_queue(dev, WEFT_SCAN_TYPE_I64);
    test_chained_no_words(dev);
    test_chained_stuck(dev, WEFT_SCAN_TYPE_U32, "3", 32);
    test_chained_stuck(dev, WEFT_SCAN_TYPE_U32_U64, "1000", 32); // none
    test_chained_stuck(dev, WEFT_SCAN_TYPE_I32, "21", 64);
    if (test_sample())
        return;
    test_chained_queue(dev, WEFT_SCAN_TYPE_U32);
    test_chained_stuck(dev, WEFT_SCAN_TYPE_I32_I64, "3", 32);
    test_chained_stuck(dev, WEFT_SCAN_TYPE_I64, "1000", 64);
}
