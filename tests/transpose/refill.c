// SPDX-License-Identifier: Apache-2.0
// Plans: every refill has the bits of a full transposition; the analysis may run in another queue; errors.
#include "host/internal/inside.h"
#include "tests/support/csr.h"

#include <stdio.h>
#include <string.h>

static struct rng rng;

// A plan of one pattern, then values of every type through it.
static int check(struct test_device *dev, enum test_spread spread, int64_t m, int64_t n, int64_t nnz, enum weft_ofs ofs,
                 const struct weft_transpose_params *params)
{
    char why[256] = "";
    struct weft_csr a;
    struct test_csr from;
    struct weft_transpose_refill *plan = NULL;
    test_matrix_make(&a, &rng, spread, m, n, nnz, WEFT_TYPE_PATTERN, ofs);
    test_csr_make(&from, dev, &a, m, n, nnz, WEFT_TYPE_PATTERN, ofs);
    weft_status status = weft_transpose_refill_create(&plan, dev->ctx, dev->queue, &from.d, params);
    int ok = !status;
    for (int type = WEFT_TYPE_F32; ok && type <= WEFT_TYPE_PATTERN; type++) {
        struct weft_csr values = a, want;
        size_t bytes = (size_t)nnz * weft_type_bytes((enum weft_type)type);
        values.type = (enum weft_type)type;
        values.val = type == WEFT_TYPE_PATTERN ? NULL : test_alloc(bytes);
        for (size_t i = 0; i + 4 <= bytes; i += 4) {
            uint64_t bits = rng_u64(&rng);
            memcpy((char *)values.val + i, &bits, 4);
        }
        if (weft__ref_transpose(&want, &values))
            tap_bail("out of host memory");
        struct test_buffer val = {0}, at_val = {0};
        if (type != WEFT_TYPE_PATTERN) {
            val = test_buffer_make(dev, values.val, bytes);
            at_val = test_buffer_make(dev, NULL, bytes);
        }
        status = weft_transpose_refill_run(plan, dev->queue, at_val.mem, val.mem, (enum weft_type)type, 0, NULL, NULL);
        const struct weft_device_csr *pattern = weft_transpose_refill_pattern(plan);
        struct weft_csr got = {.m = n, .n = m, .nnz = nnz, .type = WEFT_TYPE_PATTERN, .ofs = ofs};
        got.row_ptr = test_alloc(((size_t)n + 1) * weft_ofs_bytes(ofs));
        got.col = test_alloc((size_t)nnz * 4);
        ok = !status && pattern->type == WEFT_TYPE_PATTERN && !pattern->val &&
             !weft_device_csr_read_sync(&got, dev->ctx, dev->queue, pattern);
        got.type = (enum weft_type)type;
        got.val = type == WEFT_TYPE_PATTERN ? NULL : test_alloc(bytes);
        if (ok && bytes)
            test_buffer_read(dev, &at_val, got.val, bytes);
        if (ok && (!weft_csr_equal(&got, &want) || (at_val.mem && !test_buffer_intact(dev, &at_val)))) {
            ok = 0;
            snprintf(why, sizeof why, "%s differs", weft_type_name((enum weft_type)type));
        }
        test_buffer_free(&val);
        test_buffer_free(&at_val);
        free(values.val);
        weft_csr_free(&got);
        weft_csr_free(&want);
    }
    if (!ok)
        tap_note("%s, %lld x %lld, %lld entries, %d-bit offsets: %s", test_spread_name(spread), (long long)m,
                 (long long)n, (long long)nnz, ofs == WEFT_OFS_64 ? 64 : 32, status ? test_error(dev) : why);
    weft_transpose_refill_destroy(&plan);
    test_csr_free(&from);
    weft_csr_free(&a);
    return ok;
}

static void test_shapes(struct test_device *dev, enum weft_transpose_algo algo)
{
    struct weft_transpose_params params = {.algo = algo};
    int64_t few = 1;
    if (dev->checker && dev->gpu) { // as many tiles and passes, each a tenth as large
        params.gpu.wg = 32;
        params.gpu.ipt = 2;
        params.gpu.bits = algo == WEFT_TRANSPOSE_ALGO_SCAN ? 6 : 0;
        few = 10;
    }
    int ok = 1;
    for (int ofs = WEFT_OFS_32; ok && ofs <= WEFT_OFS_64; ofs++) {
        enum weft_ofs o = (enum weft_ofs)ofs;
        ok = check(dev, TEST_UNIFORM, 0, 0, 0, o, &params) && check(dev, TEST_UNIFORM, 5, 7, 0, o, &params) &&
             check(dev, TEST_UNIFORM, 1, 1, 1, o, &params) &&
             check(dev, TEST_DESCENDING, 60, 70, 3000 / few, o, &params) &&
             check(dev, TEST_ONE_COLUMN, 200, 90, 500 / few, o, &params) &&
             check(dev, TEST_SKEWED, 500, 6000, 4000 / few, o, &params);
        if (ok && !test_sample())
            ok = check(dev, TEST_UNIFORM, 5000, 140000, 100000, o, &params);
    }
    tap_ok(ok, "%s: %s, refills have the bits of a transposition", dev->name,
           algo == WEFT_TRANSPOSE_ALGO_SCAN ? "scan" : "merge");
}

// The analysis sits behind an event in one queue while the refill is enqueued in another; then an out-of-order queue.
static void test_queues(struct test_device *dev)
{
    enum { N = 300, NNZ = 2000 };
    struct weft_csr a, want;
    struct test_csr from;
    struct weft_transpose_refill *plan = NULL;
    test_matrix_make(&a, &rng, TEST_UNIFORM, N, N, NNZ, WEFT_TYPE_F32, WEFT_OFS_32);
    if (weft__ref_transpose(&want, &a))
        tap_bail("out of host memory");
    test_csr_make(&from, dev, &a, N, N, NNZ, WEFT_TYPE_F32, WEFT_OFS_32);
    struct test_buffer out = test_buffer_make(dev, NULL, NNZ * 4);
    cl_command_queue first = test_queue(dev, 0), second = test_queue(dev, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    if (!second)
        second = test_queue(dev, 0);
    cl_int error;
    cl_event gate = clCreateUserEvent(weft_context_cl(dev->ctx), &error), done[2] = {NULL, NULL};
    if (dev->checker) // Oclgrind works through a queue when it is flushed, and would wait here for ever
        clSetUserEventStatus(gate, CL_COMPLETE);
    int ok = error == CL_SUCCESS && !clEnqueueBarrierWithWaitList(first, 1, &gate, NULL) &&
             !weft_transpose_refill_create(&plan, dev->ctx, first, &from.d, NULL) &&
             !weft_transpose_refill_run(plan, second, out.mem, from.val.mem, WEFT_TYPE_F32, 0, NULL, &done[0]);
    cl_int state = CL_COMPLETE;
    if (ok)
        clGetEventInfo(done[0], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    int waits = state != CL_COMPLETE || dev->checker;
    if (!dev->checker)
        clSetUserEventStatus(gate, CL_COMPLETE);
    float got[NNZ] = {0};
    ok = ok && waits && clWaitForEvents(1, done) == CL_SUCCESS;
    if (dev->checker) // whose markers do not wait for what is before them
        clFinish(second);
    test_buffer_read(dev, &out, got, sizeof got);
    tap_ok(ok && !memcmp(got, want.val, sizeof got), "%s: a refill waits for the analysis in another queue", dev->name);
    test_buffer_poison(dev, &out);
    ok = ok && !weft_transpose_refill_run(plan, second, out.mem, from.val.mem, WEFT_TYPE_F32, 1, done, &done[1]) &&
         clWaitForEvents(1, &done[1]) == CL_SUCCESS;
    if (dev->checker)
        clFinish(second);
    test_buffer_read(dev, &out, got, sizeof got);
    tap_ok(ok && !memcmp(got, want.val, sizeof got), "%s: a refill behind a wait list", dev->name);
    struct weft_transpose_info info = {0};
    size_t asked = 0;
    if (plan)
        info = *weft_transpose_refill_info(plan);
    weft_status status = weft_transpose_refill_workspace(&asked, dev->ctx, weft_csr_shape(&a));
    tap_ok(!status && asked == info.workspace_bytes && asked == NNZ * 8 + (N + 1) * 4 &&
               info.params.algo != WEFT_TRANSPOSE_ALGO_AUTO && info.why[0],
           "%s: info of the plan: %s", dev->name, info.why);
    weft_transpose_refill_destroy(&plan);
    cl_event events[] = {gate, done[0], done[1]};
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (events[i])
            clReleaseEvent(events[i]);
    clReleaseCommandQueue(first);
    clReleaseCommandQueue(second);
    test_buffer_free(&out);
    test_csr_free(&from);
    weft_csr_free(&a);
    weft_csr_free(&want);
}

static void refused(struct test_device *dev, const char *what, weft_status got, weft_status want)
{
    tap_ok(got == want && *test_error(dev), "%s: refuses %s: %s", dev->name, what, test_error(dev));
}

static void test_errors(struct test_device *dev)
{
    struct weft_csr a;
    struct test_csr from;
    struct weft_transpose_refill *plan = (struct weft_transpose_refill *)&rng;
    test_matrix_make(&a, &rng, TEST_UNIFORM, 10, 20, 30, WEFT_TYPE_F32, WEFT_OFS_32);
    test_csr_make(&from, dev, &a, 10, 20, 30, WEFT_TYPE_F32, WEFT_OFS_32);
    struct test_buffer out = test_buffer_make(dev, NULL, 120);
    struct weft_device_csr bad = from.d;
    bad.n = -1;
    weft_status status = weft_transpose_refill_create(&plan, dev->ctx, dev->queue, &bad, NULL);
    refused(dev, "n < 0", status, plan ? WEFT_OK : WEFT_EINVAL);
    bad = from.d;
    bad.col = NULL;
    refused(dev, "no columns", weft_transpose_refill_create(&plan, dev->ctx, dev->queue, &bad, NULL), WEFT_EINVAL);
    bad = from.d;
    bad.nnz = 31;
    refused(dev, "small buffers", weft_transpose_refill_create(&plan, dev->ctx, dev->queue, &bad, NULL), WEFT_EINVAL);
    refused(dev, "no queue", weft_transpose_refill_create(&plan, dev->ctx, NULL, &from.d, NULL), WEFT_EINVAL);
    refused(dev, "an unknown method",
            weft_transpose_refill_create(&plan, dev->ctx, dev->queue, &from.d, weft_transpose_params(.algo = 9)),
            WEFT_EINVAL);
    if (!tap_ok(!weft_transpose_refill_create(&plan, dev->ctx, dev->queue, &from.d, NULL), "%s: a plan", dev->name))
        return;
    cl_mem val = from.val.mem;
    refused(dev, "an unknown type",
            weft_transpose_refill_run(plan, dev->queue, out.mem, val, (enum weft_type)9, 0, 0, 0), WEFT_EINVAL);
    refused(dev, "no values", weft_transpose_refill_run(plan, dev->queue, out.mem, NULL, WEFT_TYPE_F32, 0, 0, 0),
            WEFT_EINVAL);
    refused(dev, "no output", weft_transpose_refill_run(plan, dev->queue, NULL, val, WEFT_TYPE_F32, 0, 0, 0),
            WEFT_EINVAL);
    refused(dev, "small values", weft_transpose_refill_run(plan, dev->queue, out.mem, val, WEFT_TYPE_F64, 0, 0, 0),
            WEFT_EINVAL);
    refused(dev, "one buffer for both", weft_transpose_refill_run(plan, dev->queue, val, val, WEFT_TYPE_F32, 0, 0, 0),
            WEFT_EINVAL);
    refused(dev, "a run without a queue", weft_transpose_refill_run(plan, NULL, out.mem, val, WEFT_TYPE_F32, 0, 0, 0),
            WEFT_EINVAL);
    weft_transpose_refill_destroy(&plan);
    weft_transpose_refill_destroy(&plan);
    weft_transpose_refill_destroy(NULL);
    test_buffer_free(&out);
    test_csr_free(&from);
    weft_csr_free(&a);
}

static void test_all(struct test_device *dev)
{
    test_shapes(dev, WEFT_TRANSPOSE_ALGO_SCAN);
    test_shapes(dev, WEFT_TRANSPOSE_ALGO_MERGE);
    test_queues(dev);
    test_errors(dev);
}

int main(void)
{
    rng = rng_start();
    test_device_each(test_all);
    return tap_done();
}
