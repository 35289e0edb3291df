// SPDX-License-Identifier: Apache-2.0
// Histogram and index-to-pointers against their oracle: both algorithms, both widths, pointers in place and from counts beside
// them, few to many bins, flat to skewed indices, clamped launches, tuning values, queues, errors, the long sweep.
#include "host/common/check_exact.h"
#include "host/internal/inside.h"
#include "tests/support/device.h"
#include "tests/support/rng.h"

#include <stdlib.h>
#include <string.h>
#include <weft/histogram.h>

static struct rng rng;

// Where the indices lie.
enum data { DATA_FLAT, DATA_EQUAL, DATA_SKEWED, DATA_SORTED, DATA_OUTSIDE, DATA_COUNT };
static const char *const data_names[] = {"flat", "equal", "skewed", "sorted", "outside"};

static void data_fill(int32_t *idx, int64_t n, int64_t bins, enum data data)
{
    int32_t one = bins ? (int32_t)rng_below(&rng, (uint64_t)bins) : 7;
    for (int64_t i = 0; i < n; i++) {
        double u = rng_unit(&rng);
        if (data == DATA_EQUAL)
            idx[i] = one;
        else if (data == DATA_SKEWED)
            idx[i] = (int32_t)(u * u * u * u * u * u * (double)bins);
        else if (data == DATA_SORTED)
            idx[i] = (int32_t)((double)i / (double)n * (double)bins);
        else if (data == DATA_OUTSIDE) // any bits: most are negative or too large
            idx[i] = (int32_t)(u < 0.3 ? u * (double)bins : (double)(int32_t)rng_u64(&rng));
        else
            idx[i] = (int32_t)(u * (double)bins);
    }
}

// One histogram of n indices with a plan that is there, in canaried buffers, against the oracle.
static int check(struct test_device *dev, struct weft_histogram_plan *plan, int64_t bins, enum weft_ofs ofs, int64_t n,
                 enum data data)
{
    const struct weft_histogram_info *info = weft_histogram_plan_info(plan);
    const struct weft_histogram_params *p = &info->params;
    size_t out_bytes = (size_t)(bins + (p->pointers != 0)) * weft_ofs_bytes(ofs), in_bytes = (size_t)n * 4;
    int32_t *idx = test_alloc(in_bytes);
    char *want = test_alloc(out_bytes), *got = test_alloc(out_bytes);
    data_fill(idx, n, bins, data);
    weft__ref_histogram(want, idx, n, bins, ofs, p->pointers);
    struct test_buffer from = test_buffer_make(dev, idx, in_bytes), out = test_buffer_make(dev, NULL, out_bytes);
    weft_status status = weft_histogram_run(plan, dev->queue, out.mem, from.mem, n, 0, NULL, NULL);
    test_buffer_read(dev, &out, got, out_bytes);
    char why[256] = "right";
    int intact = test_buffer_intact(dev, &out) && test_buffer_intact(dev, &from);
    int ok = !status && check_histogram(got, want, bins, ofs, p->pointers, why, sizeof why) && intact;
    if (!ok)
        tap_note("bins=%lld ofs=%d n=%lld %s pointers=%d algo=%d wg=%d ipt=%d groups=%d range=%d slab=%lld: %s, %s",
                 (long long)bins, (int)weft_ofs_bytes(ofs) * 8, (long long)n, data_names[data], p->pointers,
                 (int)p->algo, test_value(dev, "histogram", p, "wg"), test_value(dev, "histogram", p, "ipt"),
                 test_value(dev, "histogram", p, "groups"), test_value(dev, "histogram", p, "range"),
                 (long long)p->slab, status ? test_error(dev) : why, intact ? "intact" : "canary hit");
    test_buffer_free(&out);
    test_buffer_free(&from);
    free(idx);
    free(want);
    free(got);
    return ok;
}

static struct weft_histogram_plan *plan_make(struct test_device *dev, int64_t bins, enum weft_ofs ofs, int64_t n_max,
                                             const struct weft_histogram_params *params)
{
    struct weft_histogram_plan *plan = NULL;
    if (weft_histogram_plan_create(&plan, dev->ctx, bins, ofs, n_max, params))
        tap_note("plan: %s", test_error(dev));
    return plan;
}

// One plan for n_max indices, and a check at each size up to it.
static int check_sizes(struct test_device *dev, int64_t bins, enum weft_ofs ofs, const int64_t *sizes, size_t count,
                       enum data data, const struct weft_histogram_params *params)
{
    struct weft_histogram_plan *plan = plan_make(dev, bins, ofs, sizes[count - 1], params);
    int ok = plan != NULL;
    for (size_t i = 0; ok && i < count; i++)
        ok = check(dev, plan, bins, ofs, sizes[i], data);
    weft_histogram_plan_destroy(&plan);
    return ok;
}

// The smallest tuning values of a schedule, so that small inputs have many rows and ranges.
static struct weft_histogram_params smallest(struct test_device *dev)
{
    return dev->gpu ? (struct weft_histogram_params){.gpu.wg = 32, .gpu.ipt = 4, .gpu.range = 64}
                    : (struct weft_histogram_params){.cpu.wg = 1, .cpu.chunk = 8, .cpu.range = 64, .cpu.chunks = 6};
}

static void test_shapes(struct test_device *dev, enum weft_histogram_algo algo, enum weft_ofs ofs, int pointers)
{
    struct weft_histogram_params params = smallest(dev);
    params.algo = algo;
    params.pointers = pointers;
    int64_t step = (int64_t)test_value(dev, "histogram", &params, "wg") * test_value(dev, "histogram", &params, "ipt");
    const int64_t sizes[] = {0, 1, step + 1, (test_sample() ? 4 : 12) * step + 3, 2, step - 1, step, 20 * step + 3};
    const int64_t bins[] = {0, 1, 65, test_sample() ? 200 : 900, 2, 31, 63, 64, 200, 1023, 5000};
    size_t nsizes = test_sample() ? 4 : sizeof sizes / sizeof *sizes;
    size_t nbins = test_sample() ? 4 : sizeof bins / sizeof *bins;
    int ok = 1;
    for (size_t b = 0; ok && b < nbins; b++)
        ok = check_sizes(dev, bins[b], ofs, sizes, nsizes, b % DATA_COUNT, &params);
    tap_ok(ok, "%s: %s to %d-bit %s, edge sizes", dev->name, algo == WEFT_HISTOGRAM_ALGO_ROWS ? "rows" : "atomic",
           (int)weft_ofs_bytes(ofs) * 8, pointers ? "pointers" : "counts");
}

// The defaults, with bins for one range, several ranges and atomics, and every kind of data.
static void test_defaults(struct test_device *dev, enum weft_ofs ofs)
{
    const int64_t bins[] = {1, 16, 1000, 8192, 8193, test_sample() ? 16000 : 40000, test_sample() ? 16500 : 300000};
    const int64_t sizes[] = {0, 1, 255, 2048, 2049, test_sample() ? 600 : 100000};
    for (size_t b = 0; b < sizeof bins / sizeof *bins; b += !test_sample() ? 1 : ofs == WEFT_OFS_64 ? 3 : 2) {
        struct weft_histogram_params params = {.pointers = b % 3 == 0};
        int ok = 1;
        for (int data = 0; ok && data < DATA_COUNT; data++) {
            size_t first = data || test_sample() ? 5 : 0;
            if (!test_sample() || data == (int)b % DATA_COUNT)
                ok = check_sizes(dev, bins[b], ofs, sizes + first, 6 - first, (enum data)data, &params);
        }
        tap_ok(ok, "%s: %lld bins of %d bits, default tuning", dev->name, (long long)bins[b],
               (int)weft_ofs_bytes(ofs) * 8);
    }
}

// Few work-groups for many jobs and small slabs: what happens beyond 2^31 indices, in small.
static void test_clamped(struct test_device *dev)
{
    const int64_t slab = test_sample() ? 100 : 1000,
                  sizes[] = {5, test_sample() ? 18 : slab, test_sample() ? 250 : 5 * slab};
    int ok = 1;
    for (int groups = 1; ok && groups <= 3; groups++)
        for (int pointers = 0; ok && pointers <= 1; pointers++) {
            if (test_sample() && pointers != groups % 2)
                continue;
            struct weft_histogram_params params = smallest(dev);
            test_value_set(dev, "histogram", &params, "groups", groups);
            params.pointers = pointers;
            params.slab = groups == 3 ? 4 : slab * groups;
            ok = check_sizes(dev, 150, WEFT_OFS_64, sizes, groups == 3 ? 2 : 3, DATA_FLAT, &params);
            params.algo = WEFT_HISTOGRAM_ALGO_ATOMIC;
            if (ok && dev->gpu)
                ok = check_sizes(dev, 150, WEFT_OFS_64, sizes, groups == 3 ? 2 : 3, DATA_SKEWED, &params);
        }
    tap_ok(ok, "%s: clamped to 1, 2, 3 work-groups and to small slabs", dev->name);
}

// Several slices and, of each, several ranges of the bins: each counts its own, whatever lies in the scratch.
static void test_cut(struct test_device *dev)
{
    struct weft_histogram_params params = smallest(dev);
    test_value_set(dev, "histogram", &params, "groups", dev->gpu ? 8 : 12);
    test_value_set(dev, "histogram", &params, "range", 32);
    const int64_t bins = 96, n = 4 * (dev->gpu ? 128 : 48) + 3;
    struct weft_histogram_plan *plan = plan_make(dev, bins, WEFT_OFS_32, n, &params);
    const struct weft_histogram_info *info = plan ? weft_histogram_plan_info(plan) : NULL;
    int ok = info && info->rows > 1 && info->ranges > 2;
    for (int data = 0; ok && data < DATA_COUNT; data++)
        ok = check(dev, plan, bins, WEFT_OFS_32, n, (enum data)data);
    tap_ok(ok, "%s: %d slices of the indices, %d ranges of the bins", dev->name, info ? info->rows : 0,
           info ? info->ranges : 0);
    weft_histogram_plan_destroy(&plan);
}

static void test_tuning(struct test_device *dev)
{
    int ok = 1, max_wg = (int)weft_context_device(dev->ctx)->max_wg;
    for (int draw = 0; ok && draw < (test_sample() ? 2 : 6); draw++) {
        int wg_max = max_wg < 512 ? max_wg : 512;
        struct weft_histogram_params params = {.pointers = (int)rng_below(&rng, 2)};
        params.algo = dev->gpu ? (enum weft_histogram_algo)rng_below(&rng, 3) : WEFT_HISTOGRAM_ALGO_AUTO;
        test_value_set(dev, "histogram", &params, "wg",
                       dev->gpu ? (int)rng_between(&rng, 1, wg_max / 32) * 32 : (int)rng_between(&rng, 1, 8));
        test_value_set(dev, "histogram", &params, "ipt",
                       dev->gpu ? (int)rng_between(&rng, 1, 8) * 4 : (int)rng_between(&rng, 1, 1000));
        test_value_set(dev, "histogram", &params, "groups", (int)rng_between(&rng, 1, 50));
        test_value_set(dev, "histogram", &params, "range", (int)rng_between(&rng, 1, 4000));
        int64_t n = (int64_t)rng_below(&rng, test_sample() ? 2000 : 50000),
                bins = rng_between(&rng, 1, test_sample() ? 600 : 20000);
        ok = check_sizes(dev, bins, (enum weft_ofs)rng_below(&rng, 2), &n, 1, (enum data)rng_below(&rng, DATA_COUNT),
                         &params);
    }
    tap_ok(ok, "%s: tuning values at random", dev->name);
}

// Two histograms on an out-of-order queue, both behind a write that the test lets go late.
static void test_events(struct test_device *dev)
{
    enum { N = 1000, BINS = 300 };
    cl_command_queue queue = test_queue(dev, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    if (!queue) {
        tap_skip("%s: no out-of-order queue", dev->name);
        return;
    }
    int32_t *idx = test_alloc(N * sizeof *idx), want[BINS + 1], got[BINS + 1];
    data_fill(idx, N, BINS, DATA_SKEWED);
    weft__ref_histogram(want, idx, N, BINS, WEFT_OFS_32, 1);
    struct weft_histogram_params params = smallest(dev);
    params.pointers = 1;
    struct weft_histogram_plan *plan = plan_make(dev, BINS, WEFT_OFS_32, N, &params);
    struct test_buffer in = test_buffer_make(dev, NULL, N * sizeof *idx);
    struct test_buffer out = test_buffer_make(dev, NULL, sizeof got);
    cl_int error;
    cl_event gate = clCreateUserEvent(weft_context_cl(dev->ctx), &error), done = NULL, again = NULL, written = NULL;
    int ok = plan && !clEnqueueWriteBuffer(queue, in.mem, CL_FALSE, 0, N * sizeof *idx, idx, 1, &gate, &written) &&
             !weft_histogram_run(plan, queue, out.mem, in.mem, N, 1, &written, &done) &&
             !weft_histogram_run(plan, queue, out.mem, in.mem, N, 1, &done, &again);
    clSetUserEventStatus(gate, CL_COMPLETE);
    ok = ok && !clEnqueueReadBuffer(queue, out.mem, CL_TRUE, 0, sizeof got, got, 1, &again, NULL) &&
         !memcmp(got, want, sizeof got);
    clFinish(queue);
    tap_ok(ok, "%s: out-of-order queue, wait list and event", dev->name);
    cl_event events[] = {gate, done, again, written};
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (events[i])
            clReleaseEvent(events[i]);
    test_buffer_free(&in);
    test_buffer_free(&out);
    weft_histogram_plan_destroy(&plan);
    clReleaseCommandQueue(queue);
    free(idx);
}

static void refused(struct test_device *dev, const char *what, int64_t bins, enum weft_ofs ofs, int64_t n_max,
                    const struct weft_histogram_params *params, weft_status want)
{
    struct weft_histogram_plan *plan = (struct weft_histogram_plan *)&rng;
    size_t bytes = 1;
    int ok = weft_histogram_plan_create(&plan, dev->ctx, bins, ofs, n_max, params) == want && !plan &&
             *test_error(dev) && weft_histogram_workspace(&bytes, dev->ctx, bins, ofs, n_max, params) == want && !bytes;
    tap_ok(ok, "%s: refuses %s: %s", dev->name, what, test_error(dev));
}

static void run_refused(struct test_device *dev, const char *what, struct weft_histogram_plan *plan,
                        cl_command_queue queue, cl_mem idx, cl_mem out, int64_t n, weft_status want)
{
    int ok = weft_histogram_run(plan, queue, out, idx, n, 0, NULL, NULL) == want;
    tap_ok(ok, "%s: run refuses %s: %s", dev->name, what, test_error(dev));
}

static void test_errors(struct test_device *dev)
{
    const int64_t big = INT64_C(1) << 31;
    refused(dev, "2^31 bins", big, WEFT_OFS_32, 10, NULL, WEFT_EINVAL);
    refused(dev, "a negative number of bins", -1, WEFT_OFS_32, 10, NULL, WEFT_EINVAL);
    refused(dev, "an unknown width", 10, (enum weft_ofs)9, 10, NULL, WEFT_EINVAL);
    refused(dev, "an unknown algorithm", 10, WEFT_OFS_32, 10,
            weft_histogram_params(.algo = (enum weft_histogram_algo)7), WEFT_EINVAL);
    refused(dev, "a negative length", 10, WEFT_OFS_32, -1, NULL, WEFT_EINVAL);
    refused(dev, "2^31 indices in 32 bits", 10, WEFT_OFS_32, big, NULL, WEFT_ERANGE);
    refused(dev, "a work-group size", 10, WEFT_OFS_32, 10, weft_histogram_params(.gpu.wg = 33, .cpu.wg = 33),
            WEFT_EINVAL);
    refused(dev, "indices per work-item", 10, WEFT_OFS_32, 10, weft_histogram_params(.gpu.ipt = -1, .cpu.chunk = -1),
            WEFT_EINVAL);
    refused(dev, "a negative number of groups", 10, WEFT_OFS_32, 10,
            weft_histogram_params(.gpu.groups = -1, .cpu.chunks = -1), WEFT_EINVAL);
    refused(dev, "a negative range", 10, WEFT_OFS_32, 10, weft_histogram_params(.gpu.range = -1, .cpu.range = -1),
            WEFT_EINVAL);
    refused(dev, "a slab of 3", 10, WEFT_OFS_64, 10, weft_histogram_params(.slab = 3), WEFT_EINVAL);
    if (!dev->gpu)
        refused(dev, "atomics", 10, WEFT_OFS_32, 10, weft_histogram_params(.algo = WEFT_HISTOGRAM_ALGO_ATOMIC),
                WEFT_EINVAL);
    struct weft_histogram_plan *plan = plan_make(dev, 100, WEFT_OFS_64, 100, NULL);
    struct test_buffer idx = test_buffer_make(dev, NULL, 400), out = test_buffer_make(dev, NULL, 800);
    run_refused(dev, "n < 0", plan, dev->queue, idx.mem, out.mem, -1, WEFT_EINVAL);
    run_refused(dev, "n > n_max", plan, dev->queue, idx.mem, out.mem, 101, WEFT_EINVAL);
    run_refused(dev, "no indices", plan, dev->queue, NULL, out.mem, 100, WEFT_EINVAL);
    run_refused(dev, "a small result", plan, dev->queue, out.mem, idx.mem, 100, WEFT_EINVAL);
    run_refused(dev, "no queue", plan, NULL, idx.mem, out.mem, 100, WEFT_EINVAL);
    size_t bytes = 0;
    const struct weft_histogram_info *info = weft_histogram_plan_info(plan);
    weft_status status = weft_histogram_workspace(&bytes, dev->ctx, 100, WEFT_OFS_64, 100, NULL);
    tap_ok(!status && bytes == info->workspace_bytes && bytes &&
               test_value(dev, "histogram", &info->params, "wg") > 0 && info->params.algo && info->why[0] &&
               info->rows > 0 && info->ranges > 0,
           "%s: info gives the defaults back: %s", dev->name, info->why);
    struct weft_histogram_plan *narrow = plan_make(dev, 100, WEFT_OFS_32, 100, NULL);
    tap_is_int(info->rows, weft_histogram_plan_info(narrow)->rows,
               "%s: as many rows for 100 indices, however wide counts are", dev->name);
    weft_histogram_plan_destroy(&narrow);
    weft_histogram_plan_destroy(&plan);
    weft_histogram_plan_destroy(&plan);
    weft_histogram_plan_destroy(NULL);
    test_buffer_free(&idx);
    test_buffer_free(&out);
}

// Pointers by a chained scan, from counts beside the result: auto takes it on NVIDIA's devices. Bins of one tile and of several, one row of
// counts and many.
static void test_apart(struct test_device *dev)
{
    static const int64_t bins[] = {0, 1, 5000, 20000}, sizes[] = {0, 1, 3000, 60000};
    char vendor[sizeof dev->ctx->device.vendor];
    memcpy(vendor, dev->ctx->device.vendor, sizeof vendor);
    strcpy(dev->ctx->device.vendor, "NVIDIA");
    for (int algo = WEFT_HISTOGRAM_ALGO_ROWS; algo <= WEFT_HISTOGRAM_ALGO_ATOMIC; algo++)
        for (size_t b = 0; b < sizeof bins / sizeof *bins; b++) {
            const struct weft_histogram_params params = {.pointers = true, .algo = (enum weft_histogram_algo)algo};
            size_t bytes = 0;
            struct weft_histogram_plan *plan = plan_make(dev, bins[b], WEFT_OFS_32, 60000, &params);
            const weft_status status = weft_histogram_workspace(&bytes, dev->ctx, bins[b], WEFT_OFS_32, 60000, &params);
            tap_ok(!status && plan && bytes == weft_histogram_plan_info(plan)->workspace_bytes &&
                       (!weft__caps_of(dev->ctx).int64_atomics || bytes >= 4 * (size_t)bins[b]) &&
                       check_sizes(dev, bins[b], WEFT_OFS_32, sizes, 4, b % 2 ? DATA_SKEWED : DATA_FLAT, &params),
                   "%s: %s, %lld bins: counts beside the pointers", dev->name,
                   weft_histogram_algo_name((enum weft_histogram_algo)algo), (long long)bins[b]);
            weft_histogram_plan_destroy(&plan);
        }
    memcpy(dev->ctx->device.vendor, vendor, sizeof vendor);
}

// Every number of indices from 1 to 20000, then x1.5 up to 20 000 000; what lies behind the bins stays poison.
static void test_sweep(struct test_device *dev, int64_t bins, enum weft_ofs ofs)
{
    enum { MOST = 20000000, MORE = 64 };
    size_t bytes = weft_ofs_bytes(ofs), used = (size_t)bins * bytes, all = used + MORE * bytes;
    int32_t *idx = test_alloc(MOST * sizeof *idx);
    char *got = test_alloc(all), *want = test_alloc(used);
    data_fill(idx, MOST, bins, DATA_SKEWED);
    struct weft_histogram_plan *plan = plan_make(dev, bins, ofs, MOST, NULL);
    struct test_buffer from = test_buffer_make(dev, idx, MOST * sizeof *idx), out = test_buffer_make(dev, NULL, all);
    int ok = plan != NULL;
    int64_t n = 1;
    while (ok) {
        weft__ref_histogram(want, idx, n, bins, ofs, 0);
        ok = !weft_histogram_run(plan, dev->queue, out.mem, from.mem, n, 0, NULL, NULL);
        test_buffer_read(dev, &out, got, all);
        ok = ok && !memcmp(got, want, used) && (dev->checker || test_poisoned(got + used, MORE * bytes));
        if (n == MOST || !ok)
            break;
        n = n < 20000 ? n + 1 : n * 3 / 2 < MOST ? n * 3 / 2 : MOST;
    }
    tap_ok(ok, "%s: %lld bins, sweep to %lld indices", dev->name, (long long)bins, (long long)n);
    weft_histogram_plan_destroy(&plan);
    test_buffer_free(&from);
    test_buffer_free(&out);
    free(idx);
    free(got);
    free(want);
}

static void test_all(struct test_device *dev)
{
    if (test_slow()) {
        test_sweep(dev, 100, WEFT_OFS_32);
        test_sweep(dev, 20000, WEFT_OFS_64);
        test_sweep(dev, 100000, WEFT_OFS_32);
        return;
    }
    for (int ofs = WEFT_OFS_32; ofs <= WEFT_OFS_64; ofs++) {
        for (int pointers = 0; pointers <= 1; pointers++) {
            test_shapes(dev, WEFT_HISTOGRAM_ALGO_ROWS, (enum weft_ofs)ofs, pointers);
            if (dev->gpu)
                test_shapes(dev, WEFT_HISTOGRAM_ALGO_ATOMIC, (enum weft_ofs)ofs, pointers);
        }
        test_defaults(dev, (enum weft_ofs)ofs);
    }
    test_clamped(dev);
    test_cut(dev);
    test_tuning(dev);
    test_events(dev);
    test_errors(dev);
    if (dev->gpu && !dev->checker) // a checker would take minutes
        test_apart(dev);
}

int main(void)
{
    rng = rng_start();
    test_device_each(test_all);
    return tap_done();
}
