// SPDX-License-Identifier: Apache-2.0
// Bad schedules: work-groups that begin in other orders than those of their numbers, the first one last of all. Kernels whose
// groups wait for others, or tell them something, still end, and their results are right.
#include "host/internal/tests.h"
#include "tests/support/csr.h"
#include "tests/support/problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/scan.h>
#include <weft/segsort.h>
#include <weft/transpose.h>

// The number that group g of n is taken for. Devices begin them by ascending g.
static const struct {
    const char *name, *number;
} orders[] = {
    {"the last group first", "n - 1 - g"},
    {"the first group last", "(g + 1) % n"},
    {"the odd groups first", "g < n / 2 ? 2 * g + 1 : 2 * (g - n / 2)"},
};
enum { ORDERS = sizeof orders / sizeof *orders };

static struct weft__cl_table real;
static char head[600], *cache;
static int compiled;

static cl_program CL_API_CALL create_ordered(cl_context ctx, cl_uint count, const char **texts, const size_t *lengths,
                                             cl_int *error)
{
    const char *all[4] = {head};
    size_t sizes[4] = {strlen(head)};
    if (count > 3)
        tap_bail("a program of many texts");
    for (cl_uint i = 0; i < count; i++) {
        all[i + 1] = texts[i];
        sizes[i + 1] = lengths && lengths[i] ? lengths[i] : strlen(texts[i]);
    }
    compiled++;
    return real.clCreateProgramWithSource(ctx, count + 1, all, sizes, error);
}

// Programs made from here on take this order. brief: waits are short, as in tests with a tile that says nothing.
static void order_begin(struct test_device *dev, int order, bool brief)
{
    const int used = snprintf(head, sizeof head, "%s", brief ? "#define WEFT_STUCK 1000000u\n" : "");
    test_order_text(head + used, sizeof head - (size_t)used, orders[order].number);
    real = weft__cl;
    weft__cl.clCreateProgramWithSource = create_ordered;
    compiled = 0;
    dev->ctx->salt = 0x0de5 + 2 * (uint64_t)order + brief; // caches do not see the head
    cache = dev->ctx->cache_dir;
    dev->ctx->cache_dir = NULL;
}

static void order_end(struct test_device *dev)
{
    weft__cl.clCreateProgramWithSource = real.clCreateProgramWithSource;
    dev->ctx->salt = 0;
    dev->ctx->cache_dir = cache;
}

static int runs_of(const struct test_device *dev)
{
    const char *asked = getenv("WEFT_RUNS");
    return asked ? atoi(asked) : dev->checker ? 1 : test_sample() ? 20 : 400;
}

static int scans(struct test_device *dev, int order, bool brief, int runs)
{
    enum { TILE = 32 * 4, N = 40 * TILE + 7 };
    static cl_uint in[N], want[N], got[N];
    const struct weft_scan_params params = {.algo = WEFT_SCAN_ALGO_CHAINED, .gpu.wg = 32, .gpu.ipt = 4, .gpu.look = 32};
    struct weft_scan_plan *plan = NULL;
    order_begin(dev, order, brief);
    const weft_status status = weft_scan_plan_create(&plan, dev->ctx, WEFT_SCAN_TYPE_U32, N, &params);
    order_end(dev);
    int right = 0;
    for (int i = 0; i < N; i++)
        in[i] = (cl_uint)i * 2654435761u;
    weft__ref_scan(want, in, N, WEFT_SCAN_TYPE_U32, 0, 0);
    struct test_buffer from = test_buffer_make(dev, in, sizeof in), to = test_buffer_make(dev, NULL, sizeof got);
    for (int run = 0; run < runs && !status; run++) {
        test_buffer_poison(dev, &to);
        const weft_status done = weft_scan_run(plan, dev->queue, to.mem, from.mem, N, 0, NULL, NULL);
        test_buffer_read(dev, &to, got, sizeof got);
        right += !done && !memcmp(got, want, sizeof got);
    }
    test_buffer_free(&from);
    test_buffer_free(&to);
    weft_scan_plan_destroy(&plan);
    return right;
}

static int sorts(struct test_device *dev, int order, bool brief, int runs)
{
    enum { N = 30 * 64 * 3 + 5 };
    static cl_uint in[N], want[N], got[N];
    const int64_t all[2] = {0, N};
    const struct weft_segsort_params params = {.whole = WEFT_SEGSORT_WHOLE_CHAINED,
                                               .gpu.radix = {.wg = 64, .ipt = 3, .bits = 8, .look = 2}};
    struct weft_segsort_plan *plan = NULL;
    order_begin(dev, order, brief);
    weft_status status = weft_segsort_plan_create(&plan, dev->ctx, WEFT_KEY_U32, 0, WEFT_OFS_32, N, &params);
    order_end(dev);
    int right = 0;
    for (int i = 0; i < N; i++)
        in[i] = (cl_uint)i * 2654435761u;
    if (!status)
        status = weft__ref_segsort(WEFT_KEY_U32, 0, want, NULL, in, NULL, all, 1);
    struct test_buffer from = test_buffer_make(dev, in, sizeof in), to = test_buffer_make(dev, NULL, sizeof got);
    for (int run = 0; run < runs && !status; run++) {
        test_buffer_poison(dev, &to);
        const weft_status done =
            weft_segsort_blocks_run(plan, dev->queue, to.mem, NULL, from.mem, NULL, N, N, 0, NULL, NULL);
        test_buffer_read(dev, &to, got, sizeof got);
        right += !done && !memcmp(got, want, sizeof got);
    }
    test_buffer_free(&from);
    test_buffer_free(&to);
    weft_segsort_plan_destroy(&plan);
    return right;
}

static int products(struct test_device *dev, int order, enum weft_spmv_algo algo, int runs)
{
    struct rng rng = {.state = 5};
    struct test_problem p = test_problem_make(dev, &rng, 1500, 1400, 2, 900, WEFT_TYPE_F32, WEFT_OFS_32);
    const struct weft_spmv_params params = {.policy.algo = algo};
    order_begin(dev, order, true);
    struct weft_spmv_plan *plan = test_problem_plan(&p, &params);
    order_end(dev);
    int right = 0;
    for (int run = 0; run < runs && plan; run++)
        right += test_problem_run(&p, plan, &params, 2, 1) != 0;
    weft_spmv_plan_destroy(&plan);
    test_problem_free(&p);
    return right;
}

static void test_device(struct test_device *dev)
{
    const int runs = runs_of(dev), wide = weft__caps_of(dev->ctx).int64_atomics, few = test_sample();
    for (int order = 0; order < (few ? 1 : ORDERS) && dev->gpu; order++) {
        const char *name = orders[order].name;
        for (int brief = few; brief < 2; brief++) {
            const int count = brief ? runs : runs / 20 + 1, some = wide ? scans(dev, order, brief, count) : count;
            tap_ok(some == count && (compiled || !wide), "%s: %s, %d of %d chained scans%s", dev->name, name, some,
                   count, brief ? ", short waits" : "");
            const int sorted = sorts(dev, order, brief, count);
            tap_ok(sorted == count, "%s: %s, %d of %d chained sorts%s", dev->name, name, sorted, count,
                   brief ? ", short waits" : "");
        }
        for (int flags = few; flags < 2; flags++) {
            const int right = products(dev, order, flags ? WEFT_SPMV_ALGO_CSR_FLAGS : WEFT_SPMV_ALGO_CSR_MERGE, runs);
            tap_ok(right == runs, "%s: %s, %d of %d products by %s", dev->name, name, right, runs,
                   flags ? "flags" : "merge");
        }
    }
}

int main(void)
{
    test_device_each(test_device);
    return tap_done();
}
