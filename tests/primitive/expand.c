// SPDX-License-Identifier: Apache-2.0
// Expand against its oracle: rows of every kind, both widths, clamped launches, tuning values, queues, errors, the long
// sweep.
#include "host/common/check_exact.h"
#include "host/internal/inside.h"
#include "tests/support/device.h"
#include "tests/support/rng.h"

#include <stdlib.h>
#include <string.h>
#include <weft/expand.h>

static struct rng rng;

// How the positions are spread over the rows.
enum rows { ROWS_EVEN, ROWS_ONE, ROWS_ENDS, ROWS_RARE, ROWS_SKEWED, ROWS_COUNT };
static const char *const rows_names[] = {"even", "one row", "first and last", "few rows", "skewed"};

static void row_set(void *row_ptr, int64_t i, int64_t p, enum weft_ofs ofs)
{
    if (ofs == WEFT_OFS_64)
        ((int64_t *)row_ptr)[i] = p;
    else
        ((int32_t *)row_ptr)[i] = (int32_t)p;
}

static void rows_fill(void *row_ptr, int64_t m, int64_t nnz, enum rows rows, enum weft_ofs ofs)
{
    int64_t one = m ? (int64_t)rng_below(&rng, (uint64_t)m) : 0, p = 0;
    row_set(row_ptr, 0, 0, ofs);
    for (int64_t i = 1; i < m; i++) {
        double x = (double)i / (double)m;
        if (rows == ROWS_ONE)
            p = i > one ? nnz : 0;
        else if (rows == ROWS_ENDS)
            p = nnz / 2;
        else if (rows == ROWS_RARE) // long stretches of empty rows
            p = rng_below(&rng, 50) ? p : p + (int64_t)rng_below(&rng, (uint64_t)(nnz - p) / 4 + 1);
        else if (rows == ROWS_SKEWED)
            p = (int64_t)((double)nnz * (1 - (1 - x) * (1 - x) * (1 - x) * (1 - x)));
        else
            p = (int64_t)((double)nnz * x);
        row_set(row_ptr, i, p, ofs);
    }
    row_set(row_ptr, m, nnz, ofs);
}

// One expansion with a plan that is there, in canaried buffers, against the oracle.
static int check(struct test_device *dev, struct weft_expand_plan *plan, enum weft_ofs ofs, int64_t m, int64_t nnz,
                 enum rows rows)
{
    size_t in_bytes = (size_t)(m + 1) * weft_ofs_bytes(ofs), out_bytes = (size_t)nnz * 4;
    void *row_ptr = test_alloc(in_bytes);
    int32_t *want = test_alloc(out_bytes), *got = test_alloc(out_bytes);
    rows_fill(row_ptr, m, nnz, rows, ofs);
    weft__ref_expand(want, row_ptr, m, ofs);
    struct test_buffer from = test_buffer_make(dev, row_ptr, in_bytes), out = test_buffer_make(dev, NULL, out_bytes);
    weft_status status = weft_expand_run(plan, dev->queue, out.mem, from.mem, m, nnz, 0, NULL, NULL);
    test_buffer_read(dev, &out, got, out_bytes);
    char why[256] = "right";
    int intact = test_buffer_intact(dev, &out) && test_buffer_intact(dev, &from);
    int ok = !status && check_expand(got, want, nnz, why, sizeof why) && intact;
    if (!ok) {
        const struct weft_expand_info *info = weft_expand_plan_info(plan);
        tap_note("m=%lld nnz=%lld ofs=%d %s wg=%d ipt=%d groups=%d: %s, %s", (long long)m, (long long)nnz,
                 (int)weft_ofs_bytes(ofs) * 8, rows_names[rows], test_value(dev, "expand", &info->params, "wg"),
                 test_value(dev, "expand", &info->params, "ipt"), test_value(dev, "expand", &info->params, "groups"),
                 status ? test_error(dev) : why, intact ? "intact" : "canary hit");
    }
    test_buffer_free(&out);
    test_buffer_free(&from);
    free(row_ptr);
    free(want);
    free(got);
    return ok;
}

static struct weft_expand_plan *plan_make(struct test_device *dev, int64_t m_max, int64_t nnz_max, enum weft_ofs ofs,
                                          const struct weft_expand_params *params)
{
    static uint64_t turn; // plans in turn take work-items by ascending and by descending number
    struct weft_expand_plan *plan = NULL;
    dev->ctx->salt = turn++ % 2;
    if (weft_expand_plan_create(&plan, dev->ctx, m_max, nnz_max, ofs, params))
        tap_note("plan: %s", test_error(dev));
    dev->ctx->salt = 0;
    return plan;
}

// The smallest tuning values of a schedule, so that small inputs have many tiles.
static struct weft_expand_params smallest(struct test_device *dev)
{
    return dev->gpu ? (struct weft_expand_params){.gpu.wg = 32, .gpu.ipt = 4}
                    : (struct weft_expand_params){.cpu.wg = 1, .cpu.chunk = 3};
}

// Every pair of the edge sizes, every kind of rows.
static void test_shapes(struct test_device *dev, enum weft_ofs ofs, const struct weft_expand_params *params,
                        const char *what)
{
    struct weft_expand_plan *plan = plan_make(dev, 100000, 100000, ofs, params);
    int ok = plan != NULL;
    const struct weft_expand_info *info = weft_expand_plan_info(plan);
    int64_t tile =
        ok ? (int64_t)test_value(dev, "expand", &info->params, "wg") * test_value(dev, "expand", &info->params, "ipt")
           : 1;
    const int64_t sizes[] = {0, 1, 2, tile - 1, tile, tile + 1, 2 * tile - 1, 5 * tile + 7};
    const size_t count = sizeof sizes / sizeof *sizes;
    for (size_t a = 0; ok && a < count; a++)
        for (size_t b = 0; ok && b < count; b++) {
            int64_t m = sizes[a] < 100000 ? sizes[a] : 100000, nnz = sizes[b] < 100000 ? sizes[b] : 100000;
            if (m || !nnz)
                ok = check(dev, plan, ofs, m, nnz, (enum rows)((a + b) % ROWS_COUNT));
        }
    for (int rows = 0; ok && rows < ROWS_COUNT; rows++)
        ok = check(dev, plan, ofs, 3 * tile < 90000 ? 3 * tile : 90000, 2000, (enum rows)rows) &&
             check(dev, plan, ofs, 2000, 3 * tile < 90000 ? 3 * tile : 90000, (enum rows)rows);
    tap_ok(ok, "%s: %d-bit offsets, edge sizes, %s", dev->name, (int)weft_ofs_bytes(ofs) * 8, what);
    weft_expand_plan_destroy(&plan);
}

// Few work-groups for many tiles: what happens beyond 2^31 steps, in small.
static void test_clamped(struct test_device *dev)
{
    int ok = 1;
    for (int groups = 1; ok && groups <= 3; groups++) {
        struct weft_expand_params params = smallest(dev);
        test_value_set(dev, "expand", &params, "groups", groups);
        struct weft_expand_plan *plan = plan_make(dev, 1000, 3000, WEFT_OFS_64, &params);
        ok = plan && check(dev, plan, WEFT_OFS_64, 1000, 3000, ROWS_RARE) &&
             check(dev, plan, WEFT_OFS_64, 7, 2999, ROWS_SKEWED);
        weft_expand_plan_destroy(&plan);
    }
    tap_ok(ok, "%s: clamped to 1, 2, 3 work-groups", dev->name);
}

static void test_tuning(struct test_device *dev)
{
    int ok = 1, max_wg = (int)weft_context_device(dev->ctx)->max_wg;
    for (int draw = 0; ok && draw < (test_sample() ? 2 : 5); draw++) {
        struct weft_expand_params params = {0};
        int wg_max = max_wg < 256 ? max_wg : 256;
        test_value_set(dev, "expand", &params, "wg",
                       dev->gpu ? (int)rng_between(&rng, 1, wg_max / 32) * 32 : (int)rng_between(&rng, 1, 8));
        test_value_set(dev, "expand", &params, "ipt",
                       dev->gpu ? (int)rng_between(&rng, 1, 4) * 4 : (int)rng_between(&rng, 1, 1000));
        test_value_set(dev, "expand", &params, "groups", (int)rng_between(&rng, 1, 50));
        enum weft_ofs ofs = (enum weft_ofs)rng_below(&rng, 2);
        int64_t m = rng_between(&rng, 1, test_sample() ? 1000 : 30000);
        int64_t nnz = (int64_t)rng_below(&rng, test_sample() ? 3000 : 50000);
        struct weft_expand_plan *plan = plan_make(dev, m, nnz, ofs, &params);
        ok = plan && check(dev, plan, ofs, m, nnz, (enum rows)rng_below(&rng, ROWS_COUNT));
        weft_expand_plan_destroy(&plan);
    }
    tap_ok(ok, "%s: tuning values at random", dev->name);
}

// Two expansions on an out-of-order queue, both behind a write that the test lets go late.
static void test_events(struct test_device *dev)
{
    enum { M = 500, NNZ = 3000 };
    cl_command_queue queue = test_queue(dev, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    if (!queue) {
        tap_skip("%s: no out-of-order queue", dev->name);
        return;
    }
    int32_t row_ptr[M + 1], *want = test_alloc(NNZ * sizeof *want), *got = test_alloc(NNZ * sizeof *got);
    rows_fill(row_ptr, M, NNZ, ROWS_SKEWED, WEFT_OFS_32);
    weft__ref_expand(want, row_ptr, M, WEFT_OFS_32);
    struct weft_expand_params params = smallest(dev);
    struct weft_expand_plan *plan = plan_make(dev, M, NNZ, WEFT_OFS_32, &params);
    struct test_buffer in = test_buffer_make(dev, NULL, sizeof row_ptr);
    struct test_buffer out = test_buffer_make(dev, NULL, NNZ * sizeof *got);
    cl_int error;
    cl_event gate = clCreateUserEvent(weft_context_cl(dev->ctx), &error), done = NULL, again = NULL, written = NULL;
    int ok = plan && !clEnqueueWriteBuffer(queue, in.mem, CL_FALSE, 0, sizeof row_ptr, row_ptr, 1, &gate, &written) &&
             !weft_expand_run(plan, queue, out.mem, in.mem, M, NNZ, 1, &written, &done) &&
             !weft_expand_run(plan, queue, out.mem, in.mem, M, NNZ, 1, &done, &again);
    clSetUserEventStatus(gate, CL_COMPLETE);
    ok = ok && !clEnqueueReadBuffer(queue, out.mem, CL_TRUE, 0, NNZ * sizeof *got, got, 1, &again, NULL) &&
         !memcmp(got, want, NNZ * sizeof *got);
    clFinish(queue);
    tap_ok(ok, "%s: out-of-order queue, wait list and event", dev->name);
    cl_event events[] = {gate, done, again, written};
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (events[i])
            clReleaseEvent(events[i]);
    test_buffer_free(&in);
    test_buffer_free(&out);
    weft_expand_plan_destroy(&plan);
    clReleaseCommandQueue(queue);
    free(want);
    free(got);
}

static void refused(struct test_device *dev, const char *what, int64_t m_max, int64_t nnz_max, enum weft_ofs ofs,
                    const struct weft_expand_params *params, weft_status want)
{
    struct weft_expand_plan *plan = (struct weft_expand_plan *)&rng;
    size_t bytes = 1;
    int ok = weft_expand_plan_create(&plan, dev->ctx, m_max, nnz_max, ofs, params) == want && !plan && *test_error(dev);
    if (want == WEFT_EINVAL)
        ok = ok && weft_expand_workspace(&bytes, dev->ctx, m_max, nnz_max, ofs, params) == want && !bytes;
    tap_ok(ok, "%s: refuses %s: %s", dev->name, what, test_error(dev));
}

static void run_refused(struct test_device *dev, const char *what, struct weft_expand_plan *plan,
                        cl_command_queue queue, cl_mem row_ptr, cl_mem row, int64_t m, int64_t nnz, weft_status want)
{
    int ok = weft_expand_run(plan, queue, row, row_ptr, m, nnz, 0, NULL, NULL) == want;
    tap_ok(ok, "%s: run refuses %s: %s", dev->name, what, test_error(dev));
}

static void test_errors(struct test_device *dev)
{
    const int64_t big = INT64_C(1) << 31;
    refused(dev, "2^31 rows", big, 10, WEFT_OFS_32, NULL, WEFT_EINVAL);
    refused(dev, "a negative number of rows", -1, 10, WEFT_OFS_32, NULL, WEFT_EINVAL);
    refused(dev, "a negative number of positions", 10, -1, WEFT_OFS_32, NULL, WEFT_EINVAL);
    refused(dev, "an unknown width", 10, 10, (enum weft_ofs)9, NULL, WEFT_EINVAL);
    refused(dev, "2^31 positions in 32 bits", 10, big, WEFT_OFS_32, NULL, WEFT_ERANGE);
    refused(dev, "a work-group size", 10, 10, WEFT_OFS_32, weft_expand_params(.gpu.wg = 33, .cpu.wg = 33), WEFT_EINVAL);
    refused(dev, "steps per work-item", 10, 10, WEFT_OFS_32, weft_expand_params(.gpu.ipt = -1, .cpu.chunk = -1),
            WEFT_EINVAL);
    refused(dev, "a negative number of groups", 10, 10, WEFT_OFS_32,
            weft_expand_params(.gpu.groups = -1, .cpu.chunks = -1), WEFT_EINVAL);
    if (dev->gpu)
        refused(dev, "more scratch than the device has", 10, INT64_MAX - 10, WEFT_OFS_64, NULL, WEFT_ERANGE);
    struct weft_expand_plan *plan = plan_make(dev, 99, 200, WEFT_OFS_32, NULL);
    struct test_buffer in = test_buffer_make(dev, NULL, 400), out = test_buffer_make(dev, NULL, 800),
                       less = test_buffer_make(dev, NULL, 396);
    run_refused(dev, "a row pointer too few", plan, dev->queue, less.mem, out.mem, 99, 200, WEFT_EINVAL);
    run_refused(dev, "m < 0", plan, dev->queue, in.mem, out.mem, -1, 0, WEFT_EINVAL);
    run_refused(dev, "m > m_max", plan, dev->queue, in.mem, out.mem, 100, 10, WEFT_EINVAL);
    run_refused(dev, "nnz < 0", plan, dev->queue, in.mem, out.mem, 10, -1, WEFT_EINVAL);
    run_refused(dev, "nnz > nnz_max", plan, dev->queue, in.mem, out.mem, 10, 201, WEFT_EINVAL);
    run_refused(dev, "positions without rows", plan, dev->queue, in.mem, out.mem, 0, 1, WEFT_EINVAL);
    run_refused(dev, "no row pointers", plan, dev->queue, NULL, out.mem, 99, 200, WEFT_EINVAL);
    run_refused(dev, "a small result", plan, dev->queue, out.mem, in.mem, 99, 200, WEFT_EINVAL);
    run_refused(dev, "no queue", plan, NULL, in.mem, out.mem, 99, 200, WEFT_EINVAL);
    size_t bytes = 0;
    const struct weft_expand_info *info = weft_expand_plan_info(plan);
    weft_status status = weft_expand_workspace(&bytes, dev->ctx, 99, 200, WEFT_OFS_32, NULL);
    tap_ok(!status && bytes == info->workspace_bytes && (bytes > 0) == dev->gpu &&
               test_value(dev, "expand", &info->params, "wg") > 0 &&
               test_value(dev, "expand", &info->params, "ipt") > 0 && info->why[0],
           "%s: info gives the defaults back: %s", dev->name, info->why);
    weft_expand_plan_destroy(&plan);
    weft_expand_plan_destroy(&plan);
    weft_expand_plan_destroy(NULL);
    test_buffer_free(&in);
    test_buffer_free(&out);
    test_buffer_free(&less);
}

// Every number of positions from 1 to 20000, then x1.5 up to 20 000 000; what lies behind them stays poison.
static void test_sweep(struct test_device *dev, enum weft_ofs ofs, enum rows rows)
{
    enum { MOST = 20000000, MORE = 64 };
    size_t bytes = weft_ofs_bytes(ofs), all = ((size_t)MOST + MORE) * 4;
    char *row_ptr = test_alloc((MOST / 3 + 2) * bytes), *got = test_alloc(all), *want = test_alloc(all);
    struct weft_expand_plan *plan = plan_make(dev, MOST / 3 + 1, MOST, ofs, NULL);
    struct test_buffer from = test_buffer_make(dev, NULL, (MOST / 3 + 2) * bytes);
    struct test_buffer out = test_buffer_make(dev, NULL, all);
    int ok = plan != NULL;
    int64_t n = 1;
    while (ok) {
        int64_t m = n / 3 + 1;
        size_t used = (size_t)n * 4, poisoned = used < 4096 ? used : 4096, rest = used - poisoned;
        rows_fill(row_ptr, m, n, rows, ofs);
        weft__ref_expand((int32_t *)(void *)want, row_ptr, m, ofs);
        test_buffer_write(dev, &from, row_ptr, (size_t)(m + 1) * bytes);
        test_poison(got, poisoned + MORE * 4);
        ok = !clEnqueueWriteBuffer(dev->queue, out.mem, CL_TRUE, rest, poisoned + MORE * 4, got, 0, NULL, NULL) &&
             !weft_expand_run(plan, dev->queue, out.mem, from.mem, m, n, 0, NULL, NULL);
        test_buffer_read(dev, &out, got, used + MORE * 4);
        ok = ok && !memcmp(got, want, used) && test_poisoned(got + used, MORE * 4);
        if (n == MOST || !ok)
            break;
        n = n < 20000 ? n + 1 : n * 3 / 2 < MOST ? n * 3 / 2 : MOST;
    }
    tap_ok(ok, "%s: %s, sweep to %lld positions", dev->name, rows_names[rows], (long long)n);
    weft_expand_plan_destroy(&plan);
    test_buffer_free(&from);
    test_buffer_free(&out);
    free(row_ptr);
    free(got);
    free(want);
}

static void test_all(struct test_device *dev)
{
    if (test_slow()) {
        test_sweep(dev, WEFT_OFS_32, ROWS_SKEWED);
        test_sweep(dev, WEFT_OFS_64, ROWS_RARE);
        return;
    }
    struct weft_expand_params params = smallest(dev);
    for (int ofs = WEFT_OFS_32; ofs <= WEFT_OFS_64; ofs++) {
        test_shapes(dev, (enum weft_ofs)ofs, &params, "smallest tuning");
        if (ofs == WEFT_OFS_32 && !test_sample())
            test_shapes(dev, (enum weft_ofs)ofs, NULL, "default tuning");
    }
    const struct weft_expand_params wide = {.gpu.wg = 256, .gpu.ipt = 4};
    for (int turned = 0; dev->gpu && turned < 2; turned++) // by the order of plan_make
        test_shapes(dev, WEFT_OFS_32, &wide, turned ? "eight groups of lanes, turned" : "eight groups of lanes");
    test_clamped(dev);
    test_tuning(dev);
    test_events(dev);
    test_errors(dev);
}

int main(void)
{
    rng = rng_start();
    test_device_each(test_all);
    return tap_done();
}
