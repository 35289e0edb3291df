// SPDX-License-Identifier: Apache-2.0
// A driver that computes wrong numbers in some kernels: where the schedule of these was not asked for, another takes its place, the
// log says so, and the result is right; where it was, or where the other is wrong too, the call is refused.
#include "host/common/check_exact.h"
#include "host/common/check_spmv.h"
#include "host/internal/inside.h"
#include "tests/support/csr.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/scan.h>
#include <weft/segsort.h>
#include <weft/spmv.h>

static struct weft__cl_table real;
static const char *lies[2]; // kernels that are not run
static char said[2048];     // by the log, of what takes a place

static cl_int CL_API_CALL lying_launch(cl_command_queue q, cl_kernel k, cl_uint d, const size_t *o, const size_t *g,
                                       const size_t *l, cl_uint n, const cl_event *w, cl_event *event)
{
    char name[64] = "";
    clGetKernelInfo(k, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL);
    for (int i = 0; i < 2; i++)
        if (lies[i] && !strcmp(name, lies[i]))
            return n || event ? real.clEnqueueMarkerWithWaitList(q, n, w, event) : CL_SUCCESS;
    return real.clEnqueueNDRangeKernel(q, k, d, o, g, l, n, w, event);
}

static void on_log(void *arg, const char *text)
{
    (void)arg;
    if (strstr(text, "takes its place"))
        snprintf(said, sizeof said, "%s", text);
}

// What is not told what it holds begins as zeros: kernels that read what was not computed stay within their arrays.
static cl_mem CL_API_CALL zero_buffer(cl_context c, cl_mem_flags flags, size_t bytes, void *host, cl_int *error)
{
    void *zeros = host ? NULL : test_alloc(bytes);
    if (zeros)
        memset(zeros, 0, bytes);
    cl_mem buffer =
        real.clCreateBuffer(c, host ? flags : flags | CL_MEM_COPY_HOST_PTR, bytes, host ? host : zeros, error);
    free(zeros);
    return buffer;
}

// A context of its own, since what was right is not tried again.
static struct weft_context *begin(struct test_device *dev, const char *one, const char *two)
{
    struct weft_context *ctx = NULL;
    const struct weft_device_info *d = weft_context_device(dev->ctx);
    if (weft_context_create(&ctx,
                            weft_context_params(.device = d->id, .schedule = weft_context_schedule(dev->ctx),
                                                .lanes = d->lanes, .cache_dir = "", .log = on_log),
                            NULL))
        tap_bail("no context");
    ctx->device.fence = dev->ctx->device.fence;
    if (dev->gpu)
        strcpy(ctx->device.vendor, "NVIDIA"); // auto takes what was fast there: chained scans and sorts
    said[0] = 0;
    lies[0] = one;
    lies[1] = two;
    return ctx;
}

enum end_of { REFUSED, TAKEN, BOTH_REFUSED };

// Status and result of a call whose context ends here. TAKEN: another schedule did it.
static void end(struct test_device *dev, struct weft_context *ctx, const char *what, weft_status status, int right,
                enum end_of expected)
{
    struct weft_error err;
    weft_context_error(&err, ctx);
    if (expected == TAKEN)
        tap_ok(!status && right && said[0] && !err.text[0], "%s: %s: another takes its place: %.300s", dev->name, what,
               status ? err.text : said);
    else
        tap_ok(status == WEFT_EDEVICE && !said[0] == (expected == REFUSED) && err.text[0], "%s: %s: refused: %.300s",
               dev->name, what, err.text);
    weft_context_destroy(&ctx);
    lies[0] = lies[1] = NULL;
}

static void test_scan(struct test_device *dev, const char *what, enum weft_scan_algo algo, const char *one,
                      const char *two, enum end_of expected)
{
    enum { N = 50000 };
    static int32_t in[N], got[N], want[N];
    for (int i = 0; i < N; i++)
        in[i] = i % 7 - 2;
    struct weft_context *ctx = begin(dev, one, two);
    const weft_status status = weft_scan_sync(got, ctx, in, N, WEFT_SCAN_TYPE_I32, weft_scan_params(.algo = algo));
    weft__ref_scan(want, in, N, WEFT_SCAN_TYPE_I32, 0, 0);
    end(dev, ctx, what, status, !memcmp(got, want, sizeof got), expected);
}

static void test_sort(struct test_device *dev, const char *what, const char *one, const char *two, enum end_of expected)
{
    enum { N = 1 << 18 };
    uint32_t *in = test_alloc(N * 4), *got = test_alloc(N * 4), *want = test_alloc(N * 4);
    const int64_t offsets[] = {0, N};
    for (uint32_t i = 0; i < N; i++)
        in[i] = i * 2654435761u;
    struct weft_context *ctx = begin(dev, one, two);
    const weft_status status =
        weft_segsort_sync(got, NULL, ctx, in, NULL, N, offsets, 1, WEFT_KEY_U32, 0, WEFT_OFS_64, NULL);
    if (weft__ref_segsort(WEFT_KEY_U32, 0, want, NULL, in, NULL, offsets, 1))
        tap_bail("out of memory");
    end(dev, ctx, what, status, !memcmp(got, want, N * 4), expected);
    free(in);
    free(got);
    free(want);
}

static void test_transpose_of(struct test_device *dev, const struct weft_csr *a, const char *what,
                              enum weft_transpose_algo algo, const char *one, const char *two, enum end_of expected)
{
    struct weft_csr got = {0}, want = {0};
    char why[256] = "";
    struct weft_context *ctx = begin(dev, one, two);
    const weft_status status = weft_transpose_sync(&got, ctx, a, weft_transpose_params(.algo = algo));
    if (weft__ref_transpose(&want, a))
        tap_bail("out of memory");
    end(dev, ctx, what, status, !status && check_transpose(&got, &want, why, sizeof why), expected);
    weft_csr_free(&got);
    weft_csr_free(&want);
}

static void test_spmv(struct test_device *dev, const struct weft_csr *a, const char *what, enum weft_spmv_algo algo,
                      const char *one, const char *two, enum end_of expected)
{
    float *x = test_alloc((size_t)a->n * 4), *y = test_alloc((size_t)a->m * 4);
    char why[256] = "";
    for (int64_t j = 0; j < a->n; j++)
        x[j] = (float)(j % 5) - 2;
    const struct check_spmv job = {.a = a, .type = WEFT_TYPE_F32, .alpha = 1, .x = x};
    struct weft_context *ctx = begin(dev, one, two);
    const weft_status status = weft_spmv_sync(y, ctx, 1, a, x, 0, weft_spmv_params(.policy.algo = algo));
    end(dev, ctx, what, status, !status && check_spmv(&job, y, why, sizeof why), expected);
    free(x);
    free(y);
}

// The kernel of a product that auto makes of `a`.
static const char *kernel_of_auto(struct test_device *dev, const struct weft_csr *a)
{
    static char name[64];
    struct weft_context *ctx = begin(dev, NULL, NULL);
    struct weft_device_csr d;
    struct weft_spmv_plan *plan = NULL;
    cl_int error;
    cl_command_queue queue = clCreateCommandQueue(weft_context_cl(ctx), weft_context_device(ctx)->id, 0, &error);
    if (error || weft_device_csr_alloc(&d, ctx, weft_csr_shape(a)) || weft_device_csr_write_sync(&d, ctx, queue, a) ||
        weft_spmv_plan_create(&plan, ctx, queue, &d, NULL))
        tap_bail("no plan");
    const enum weft_spmv_algo algo = weft_spmv_plan_info(plan)->params.policy.algo;
    snprintf(name, sizeof name, "spmv_%s",
             dev->gpu || algo == WEFT_SPMV_ALGO_CSR_SCALAR ? weft_spmv_algo_name(algo) : "csr_cpu");
    weft_spmv_plan_destroy(&plan);
    weft_device_csr_free(&d);
    clReleaseCommandQueue(queue);
    weft_context_destroy(&ctx);
    return name;
}

static void test_device(struct test_device *dev)
{
    struct rng rng = {7};
    struct weft_csr a;
    if (dev->checker) {
        tap_skip("%s: a memory checker", dev->name);
        return;
    }
    test_matrix_make(&a, &rng, TEST_UNIFORM, 400, 300, 3000, WEFT_TYPE_F32, WEFT_OFS_32);
    for (int64_t q = 0; q < a.nnz; q++)
        ((float *)a.val)[q] = (float)(q % 9) - 4;
    real = weft__cl;
    weft__cl.clEnqueueNDRangeKernel = lying_launch;
    weft__cl.clCreateBuffer = zero_buffer;
    if (dev->gpu) {
        test_scan(dev, "a scan of three launches", WEFT_SCAN_ALGO_THREE, "scan_down", NULL, REFUSED);
        if (weft_context_device(dev->ctx)->int64_atomics) {
            test_scan(dev, "a chained scan that was asked for", WEFT_SCAN_ALGO_CHAINED, "scan_chained", NULL, REFUSED);
            test_scan(dev, "both forms of a scan", WEFT_SCAN_ALGO_AUTO, "scan_chained", "scan_down", BOTH_REFUSED);
            test_scan(dev, "a chained scan", WEFT_SCAN_ALGO_AUTO, "scan_chained", NULL, TAKEN);
        }
        test_sort(dev, "a chained sort and a radix sort", "segsort_move", NULL, TAKEN);
        test_sort(dev, "both forms of a sort", "segsort_move", "segsort_tile", BOTH_REFUSED);
        test_spmv(dev, &a, "csr_lanes that was asked for", WEFT_SPMV_ALGO_CSR_LANES, "spmv_csr_lanes", NULL, REFUSED);
    } else {
        test_spmv(dev, &a, "every form of CSR", WEFT_SPMV_ALGO_AUTO, "spmv_csr_cpu", "spmv_csr_scalar", BOTH_REFUSED);
    }
    const char *kernel = kernel_of_auto(dev, &a);
    test_spmv(dev, &a, kernel, WEFT_SPMV_ALGO_AUTO, kernel, NULL, TAKEN);
    const char *scan = dev->gpu ? "scan_partition" : "cpu_move", *merge = dev->gpu ? "merge_sort" : "cpu_local";
    test_transpose_of(dev, &a, "ScanTrans that was asked for", WEFT_TRANSPOSE_ALGO_SCAN, scan, NULL, REFUSED);
    test_transpose_of(dev, &a, "both forms of a transposition", WEFT_TRANSPOSE_ALGO_AUTO, scan, merge, BOTH_REFUSED);
    struct weft_transpose_plan *plan = NULL;
    if (weft_transpose_plan_create(&plan, dev->ctx, weft_csr_shape(&a), NULL))
        tap_bail("no plan");
    const int scans = weft_transpose_plan_info(plan)->params.algo == WEFT_TRANSPOSE_ALGO_SCAN;
    weft_transpose_plan_destroy(&plan);
    test_transpose_of(dev, &a, "what auto takes of a transposition", WEFT_TRANSPOSE_ALGO_AUTO, scans ? scan : merge,
                      NULL, TAKEN);
    weft__cl = real;
    weft_csr_free(&a);
}

int main(void)
{
    unsetenv("WEFT_SELFTEST");
    test_device_each(test_device);
    return tap_done();
}
