// SPDX-License-Identifier: Apache-2.0
// Operations whose work-groups hand memory to each other, with the waves of many groups interleaved in as many orders as
// WEFT_AMD_SEEDS says. Below layer.c, where memory keeps the order of what is written: what a cache may do is not seen.
#include "host/internal/inside.h"
#include "tests/support/csr.h"
#include "tests/support/problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/scan.h>
#include <weft/segsort.h>

static struct rng rng;

// The n-th order: its groups and how long a wave runs at a time differ too.
static void order_set(int n)
{
    static const char *const groups[] = {"2", "3", "8", "16"}, *const quanta[] = {"1", "7", "40", "300", "0"};
    char seed[32];
    snprintf(seed, sizeof seed, "%d", n + 1);
    setenv("WEFT_AMD_SEED", seed, 1);
    setenv("WEFT_AMD_GROUPS", groups[n % 4], 1);
    setenv("WEFT_AMD_QUANTUM", quanta[n / 4 % 5], 1);
}

struct job {
    struct test_device *dev;
    struct test_buffer in, out, more;
    void *want, *got;
    size_t bytes;
    struct weft_scan_plan *scan;
    struct weft_segsort_plan *sort;
    struct weft_spmv_plan *spmv;
    struct test_problem problem;
    struct weft_csr matrix;
};

static int out_right(struct job *j)
{
    test_buffer_read(j->dev, &j->out, j->got, j->bytes);
    return !memcmp(j->got, j->want, j->bytes) && test_buffer_intact(j->dev, &j->out);
}

// Groups that add to one word without atomics: some order has to lose a sum, else none of the others says anything.
static int race(struct job *j, int n)
{
    static cl_kernel kernel;
    static int lost;
    const char *text = "__kernel void race(volatile __global uint *a) { a[0] = a[0] + 1u; }";
    const size_t global = 16, local = 1;
    const cl_uint zero = 0;
    cl_uint sum = 0;
    if (!kernel) {
        cl_program program = clCreateProgramWithSource(weft_context_cl(j->dev->ctx), 1, &text, NULL, NULL);
        if (program && clBuildProgram(program, 0, NULL, "", NULL, NULL) == CL_SUCCESS)
            kernel = clCreateKernel(program, "race", NULL);
        clReleaseProgram(program);
        j->in = test_buffer_make(j->dev, &zero, sizeof zero);
    }
    test_buffer_write(j->dev, &j->in, &zero, sizeof zero);
    if (!kernel || clSetKernelArg(kernel, 0, sizeof(cl_mem), &j->in.mem) ||
        clEnqueueNDRangeKernel(j->dev->queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL))
        return 0;
    test_buffer_read(j->dev, &j->in, &sum, sizeof sum);
    lost += sum < 16;
    return n < 4 ? sum > 0 && sum <= 16 : lost > 0;
}

// A look-back over 20 tiles, sums of two words.
static int scan_chained(struct job *j, int n)
{
    enum { N = 20 * 128 - 5 };
    if (!j->scan) {
        uint32_t in[N];
        for (int i = 0; i < N; i++)
            in[i] = (uint32_t)rng_u64(&rng);
        j->bytes = N * sizeof(uint64_t);
        j->want = test_alloc(j->bytes);
        j->got = test_alloc(j->bytes);
        weft__ref_scan(j->want, in, N, WEFT_SCAN_TYPE_U32_U64, 1, 0);
        j->in = test_buffer_make(j->dev, in, sizeof in);
        j->out = test_buffer_make(j->dev, NULL, j->bytes);
        if (weft_scan_plan_create(&j->scan, j->dev->ctx, WEFT_SCAN_TYPE_U32_U64, N,
                                  weft_scan_params(.inclusive = true, .algo = WEFT_SCAN_ALGO_CHAINED,
                                                   .gpu = {.wg = 32, .ipt = 4, .look = 32})))
            return 0;
    }
    (void)n;
    test_buffer_poison(j->dev, &j->out);
    return !weft_scan_run(j->scan, j->dev->queue, j->out.mem, j->in.mem, N, 0, NULL, NULL) && out_right(j);
}

// segsort_move: tiles that look back at the counts of each digit.
static int segsort_move(struct job *j, int n)
{
    enum { N = 9 * 128 + 3 };
    if (!j->sort) {
        uint32_t in[N];
        const int64_t offsets[2] = {0, N};
        for (int i = 0; i < N; i++)
            in[i] = (uint32_t)rng_below(&rng, 1 << 16);
        j->bytes = sizeof in;
        j->want = test_alloc(j->bytes);
        j->got = test_alloc(j->bytes);
        j->in = test_buffer_make(j->dev, in, sizeof in);
        j->out = test_buffer_make(j->dev, NULL, j->bytes);
        j->more = test_buffer_make(j->dev, offsets, sizeof offsets);
        if (weft__ref_segsort(WEFT_KEY_U32, 0, j->want, NULL, in, NULL, offsets, 1) ||
            weft_segsort_plan_create(&j->sort, j->dev->ctx, WEFT_KEY_U32, 0, WEFT_OFS_64, N,
                                     weft_segsort_params(.whole = WEFT_SEGSORT_WHOLE_CHAINED,
                                                         .gpu.radix = {.wg = 64, .ipt = 2, .bits = 8, .look = 4})))
            return 0;
    }
    (void)n;
    test_buffer_poison(j->dev, &j->out);
    return !weft_segsort_run(j->sort, j->dev->queue, j->out.mem, NULL, j->in.mem, NULL, N, j->more.mem, 1, 0, NULL,
                             NULL) &&
           out_right(j);
}

// csr_flags: rows over many tiles, whose last group sums them up (comes_last), or another launch (spmv_flags_join).
static int flags(struct job *j, int fence)
{
    const struct weft_spmv_params *params =
        weft_spmv_params(.policy.algo = WEFT_SPMV_ALGO_CSR_FLAGS, .gpu = {.wg = 64, .ipt = 4});
    if (!j->spmv) {
        test_fence(j->dev, fence);
        j->problem = test_problem_make(j->dev, &rng, 40, 90, 3, 1100, WEFT_TYPE_F32, WEFT_OFS_32);
        j->spmv = test_problem_plan(&j->problem, params);
        test_fence(j->dev, 1);
    }
    return j->spmv && test_problem_run(&j->problem, j->spmv, params, 0.75, -1.25);
}

static int flags_last(struct job *j, int n)
{
    (void)n;
    return flags(j, 1);
}

static int flags_join(struct job *j, int n)
{
    (void)n;
    return flags(j, 0);
}

// ScanTrans: the last group of the count lays out the buckets (comes_last).
static int transposition(struct job *j, int n)
{
    (void)n;
    if (!j->matrix.row_ptr)
        test_matrix_make(&j->matrix, &rng, TEST_SKEWED, 90, 300, 1500, WEFT_TYPE_F32, WEFT_OFS_32);
    struct weft_transpose_params params = {.algo = WEFT_TRANSPOSE_ALGO_SCAN};
    test_value_set(j->dev, "transpose", &params, "wg", 128);
    return test_transpose(j->dev, &j->matrix, &params, NULL);
}

static void orders(struct test_device *dev)
{
    static const struct {
        const char *name;
        int (*run)(struct job *, int);
    } jobs[] = {{"a race is seen", race},
                {"scan, chained", scan_chained},
                {"segsort_move, chained", segsort_move},
                {"csr_flags, comes_last", flags_last},
                {"csr_flags, spmv_flags_join", flags_join},
                {"transposition, comes_last", transposition}};
    const int seeds = (int)strtol(getenv("WEFT_AMD_SEEDS") ? getenv("WEFT_AMD_SEEDS") : "8", NULL, 10);
    if (dev->ctx->device.lanes != WEFT_LANES_AMDGCN)
        return; // lanes in local memory: no wave hands anything to another but at barriers
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        struct job j = {.dev = dev};
        int right = 1, n = 0;
        for (; n < seeds && right; n++) {
            order_set(n);
            right = jobs[i].run(&j, n);
        }
        tap_ok(right, "%s: %s: %d orders", dev->name, jobs[i].name, n);
        weft_scan_plan_destroy(&j.scan);
        weft_segsort_plan_destroy(&j.sort);
        weft_spmv_plan_destroy(&j.spmv);
        weft_csr_free(&j.matrix);
        if (j.problem.dev)
            test_problem_free(&j.problem);
        test_buffer_free(&j.in);
        test_buffer_free(&j.out);
        test_buffer_free(&j.more);
        free(j.want);
        free(j.got);
    }
}

int main(void)
{
    if (!getenv("WEFT_AMD_CHIP"))
        tap_skip_all("not below tests/amd/layer.c");
    rng = rng_start();
    test_device_each(orders);
    return tap_done();
}
