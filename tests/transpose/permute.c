// SPDX-License-Identifier: Apache-2.0
// Permuting on every device against the host form, bit for bit; products commute with every order; queues; errors.
#include "host/internal/inside.h"
#include "tests/support/csr.h"

#include <stdlib.h>
#include <string.h>
#include <weft/generate.h>
#include <weft/permute.h>
#include <weft/spmv.h>

static struct rng rng;

static void order_make(struct weft_permutation *out, enum weft_order order, const struct weft_csr *a)
{
    struct weft_error err;
    if (weft_permutation_alloc(out, order, a, rng_u64(&rng), &err))
        tap_bail("%s", err.text);
}

// One plan, run twice, in canaried buffers; then the blocking form (under a checker: for one order).
static int check(struct test_device *dev, const struct weft_csr *a, const struct weft_permutation *p, int keep,
                 const char *what)
{
    char why[256] = "";
    struct weft_csr want, got = {0};
    struct test_csr from, to;
    struct weft_permute_plan *plan = NULL;
    struct weft_permute_info info = {0};
    struct weft_error err;
    const struct weft_permute_params *params = weft_permute_params(.keep = keep);
    if (weft_csr_permute(&want, a, p, params, &err))
        tap_bail("%s", err.text);
    test_csr_make(&from, dev, a, a->m, a->n, a->nnz, a->type, a->ofs);
    test_csr_make(&to, dev, NULL, a->m, a->n, a->nnz, a->type, a->ofs);
    weft_status status = weft_permute_plan_create(&plan, dev->ctx, weft_csr_shape(a), p, params);
    for (int run = 0; run < (test_sample() ? 1 : 2) && !status; run++)
        status = weft_permute_run(plan, dev->queue, &to.d, &from.d, 0, NULL, NULL);
    int ok = !status && test_csr_equal(dev, &to, &want, why);
    ok = ok && test_csr_equal(dev, &from, a, why); // the input is as it was
    if (ok) {
        size_t asked = 0;
        info = *weft_permute_plan_info(plan);
        ok = info.sorts == (p->col && !keep) && info.workspace_bytes >= 4 * (size_t)(a->nnz + 2 * a->m + 2 * a->n) &&
             !weft_permute_workspace(&asked, dev->ctx, weft_csr_shape(a), p, params) && asked == info.workspace_bytes;
    }
    if (ok && (!test_sample() || keep)) {
        status = weft_permute_sync(&got, dev->ctx, a, p, params);
        ok = !status && weft_csr_equal(&got, &want);
    }
    if (!ok)
        tap_note("%s, %lld x %lld, %lld entries, %s, %d-bit offsets, keep %d: %s", what, (long long)a->m,
                 (long long)a->n, (long long)a->nnz, weft_type_name(a->type), (int)weft_ofs_bytes(a->ofs) * 8, keep,
                 status ? test_error(dev) : why);
    weft_permute_plan_destroy(&plan);
    weft_csr_free(&want);
    weft_csr_free(&got);
    test_csr_free(&from);
    test_csr_free(&to);
    return ok;
}

// Every order, and columns alone, on matrices of one type.
static void test_type(struct test_device *dev, enum weft_type type, enum weft_ofs ofs)
{
    static const struct shape {
        int64_t m, n, nnz;
    } shapes[] = {{0, 0, 0},   {5, 0, 0},        {0, 4, 0},       {1, 1, 3},
                  {40, 40, 0}, {300, 130, 1500}, {64, 900, 2500}, {1500, 1500, 20000}},
      few[] = {{5, 0, 0}, {0, 4, 0}, {40, 20, 0}, {25, 40, 130}};
    size_t count = test_sample() ? sizeof few / sizeof *few : sizeof shapes / sizeof *shapes;
    int ok = 1;
    for (size_t s = 0; ok && s < count; s++) {
        struct weft_csr a;
        struct weft_permutation p;
        struct shape shape = test_sample() ? few[s] : shapes[s];
        test_matrix_make(&a, &rng, (enum test_spread)rng_below(&rng, TEST_SPREADS), shape.m, shape.n, shape.nnz, type,
                         ofs);
        for (int order = 0; ok && order < WEFT_ORDER_COUNT; order += test_sample() ? 3 : 1) {
            order_make(&p, (enum weft_order)order, &a);
            ok = check(dev, &a, &p, (int)((s + (size_t)order) % 2), weft_order_name((enum weft_order)order));
            weft_permutation_free(&p);
        }
        if (ok && a.nnz) {
            struct weft_permutation both;
            order_make(&both, WEFT_ORDER_ROW_COL, &a);
            if (weft_permutation_from(&p, a.m, a.n, NULL, both.col, NULL))
                tap_bail("out of host memory");
            ok = check(dev, &a, &p, 0, "columns") && (test_sample() || check(dev, &a, &p, 1, "columns"));
            weft_permutation_free(&p);
            weft_permutation_free(&both);
        }
        weft_csr_free(&a);
    }
    tap_ok(ok, "%s: %s, %d-bit offsets, every order as on the host", dev->name, weft_type_name(type),
           (int)weft_ofs_bytes(ofs) * 8);
}

// Entries of several work-items of a CPU, the last of which has less than a chunk.
static void test_chunks(struct test_device *dev)
{
    struct weft_csr a;
    struct weft_permutation p;
    test_matrix_make(&a, &rng, TEST_UNIFORM, 300, 130, 20001, WEFT_TYPE_PATTERN, WEFT_OFS_32);
    order_make(&p, WEFT_ORDER_ROW_COL, &a);
    tap_ok(check(dev, &a, &p, 1, "chunks"), "%s: 20001 entries, the last chunk not full", dev->name);
    weft_permutation_free(&p);
    weft_csr_free(&a);
}

// A'*x', brought back, is A*x: on integers, where sums are exact in any order.
static int product_check(struct test_device *dev, const struct weft_csr *a, enum weft_order order)
{
    struct weft_permutation p;
    struct weft_permute_plan *plan = NULL;
    struct weft_spmv_plan *spmv = NULL;
    struct test_csr from, to;
    size_t xs = (size_t)a->n * 4, ys = (size_t)a->m * 4;
    float *x = test_alloc(xs), *want = test_alloc(ys), *got = test_alloc(ys);
    for (int64_t j = 0; j < a->n; j++)
        x[j] = (float)rng_between(&rng, -50, 50);
    weft__ref_spmv(a, WEFT_TYPE_F32, 1, x, 0, want);
    order_make(&p, order, a);
    test_csr_make(&from, dev, a, a->m, a->n, a->nnz, a->type, a->ofs);
    test_csr_make(&to, dev, NULL, a->m, a->n, a->nnz, a->type, a->ofs);
    struct test_buffer x_old = test_buffer_make(dev, x, xs), x_new = test_buffer_make(dev, NULL, xs);
    struct test_buffer y_new = test_buffer_make(dev, NULL, ys), y_old = test_buffer_make(dev, NULL, ys);
    weft_status status = weft_permute_plan_create(&plan, dev->ctx, weft_csr_shape(a), &p, NULL);
    if (!status)
        status = weft_permute_run(plan, dev->queue, &to.d, &from.d, 0, NULL, NULL);
    if (!status)
        status = weft_permute_vector_run(plan, dev->queue, x_new.mem, x_old.mem, WEFT_PERMUTE_SIDE_COLS, 0,
                                         WEFT_TYPE_F32, 0, NULL, NULL);
    if (!status)
        status = weft_spmv_plan_create(&spmv, dev->ctx, dev->queue, &to.d,
                                       weft_spmv_params(.policy.algo = WEFT_SPMV_ALGO_CSR_SCALAR));
    if (!status)
        status = weft_spmv_run(spmv, dev->queue, y_new.mem, 1, x_new.mem, 0, 0, NULL, NULL);
    if (!status)
        status = weft_permute_vector_run(plan, dev->queue, y_old.mem, y_new.mem, WEFT_PERMUTE_SIDE_ROWS, 1,
                                         WEFT_TYPE_F32, 0, NULL, NULL);
    test_buffer_read(dev, &y_old, got, ys);
    int ok = !status && !memcmp(got, want, ys) && test_buffer_intact(dev, &y_old) && test_buffer_intact(dev, &x_new);
    if (!ok)
        tap_note("%s, %lld x %lld: %s", weft_order_name(order), (long long)a->m, (long long)a->n,
                 status ? test_error(dev) : "another y");
    weft_spmv_plan_destroy(&spmv);
    weft_permute_plan_destroy(&plan);
    weft_permutation_free(&p);
    test_csr_free(&from);
    test_csr_free(&to);
    struct test_buffer *buffers[] = {&x_old, &x_new, &y_new, &y_old};
    for (int i = 0; i < 4; i++)
        test_buffer_free(buffers[i]);
    free(x);
    free(want);
    free(got);
    return ok;
}

static void test_products(struct test_device *dev)
{
    static const char *const specs[] = {"power:500,350,4000", "stencil5:18"}, *const few = "uniform:20,30,90";
    for (int order = 0; order < WEFT_ORDER_COUNT; order++) {
        int ok = 1;
        for (int s = 0; ok && s < (test_sample() ? 1 : 2); s++) {
            struct weft_csr a;
            if (weft_generate(&a, test_sample() ? few : specs[s], weft_generate_params(.seed = 3, .integers = 1), NULL))
                tap_bail("out of host memory");
            ok = product_check(dev, &a, (enum weft_order)order);
            weft_csr_free(&a);
        }
        tap_ok(ok, "%s: a product commutes with order %s", dev->name, weft_order_name((enum weft_order)order));
    }
}

// Vectors of both widths, there and back, on both sides.
static void test_vectors(struct test_device *dev)
{
    enum { M = 1000, N = 300 };
    struct weft_csr a;
    struct weft_permutation p;
    struct weft_permute_plan *plan = NULL;
    uint64_t in[M], want[M], got[M];
    test_matrix_make(&a, &rng, TEST_UNIFORM, M, N, 2000, WEFT_TYPE_PATTERN, WEFT_OFS_32);
    order_make(&p, WEFT_ORDER_ROW_COL, &a);
    int ok = !weft_permute_plan_create(&plan, dev->ctx, weft_csr_shape(&a), &p, NULL);
    for (int i = 0; i < M; i++)
        in[i] = rng_u64(&rng);
    for (int c = 0; ok && c < 8; c++) {
        enum weft_type type = c & 1 ? WEFT_TYPE_F64 : c & 4 ? WEFT_TYPE_I32 : WEFT_TYPE_F32;
        enum weft_permute_side side = c & 2 ? WEFT_PERMUTE_SIDE_COLS : WEFT_PERMUTE_SIDE_ROWS;
        size_t width = weft_type_bytes(type), bytes = (side == WEFT_PERMUTE_SIDE_ROWS ? M : N) * width;
        struct test_buffer from = test_buffer_make(dev, in, bytes), to = test_buffer_make(dev, NULL, bytes);
        ok = !weft_permute_vector_run(plan, dev->queue, to.mem, from.mem, side, c >> 2, type, 0, NULL, NULL) &&
             !weft_vector_permute(want, in, &p, side, c >> 2, width);
        test_buffer_read(dev, &to, got, bytes);
        ok = ok && !memcmp(got, want, bytes) && test_buffer_intact(dev, &to);
        test_buffer_free(&from);
        test_buffer_free(&to);
    }
    tap_ok(ok, "%s: vectors there and back", dev->name);
    weft_permute_plan_destroy(&plan);
    weft_permutation_free(&p);
    weft_csr_free(&a);
}

// On an out-of-order queue behind a write that the test lets go late; the result feeds the inverse.
static void test_events(struct test_device *dev)
{
    cl_command_queue queue = test_queue(dev, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    if (!queue) {
        tap_skip("%s: no out-of-order queue", dev->name);
        return;
    }
    char why[256] = "";
    struct weft_csr a;
    struct weft_permutation p, inverse;
    struct test_csr from, mid, back;
    struct weft_permute_plan *there = NULL, *home = NULL;
    test_matrix_make(&a, &rng, TEST_SKEWED, 50, 40, 200, WEFT_TYPE_F32, WEFT_OFS_32);
    order_make(&p, WEFT_ORDER_ROW_COL, &a);
    int ok = !weft_permutation_inverse(&inverse, &p);
    test_csr_make(&from, dev, &a, a.m, a.n, a.nnz, a.type, a.ofs);
    test_csr_make(&mid, dev, NULL, a.m, a.n, a.nnz, a.type, a.ofs);
    test_csr_make(&back, dev, NULL, a.m, a.n, a.nnz, a.type, a.ofs);
    const struct weft_permute_params *keep = weft_permute_params(.keep = 1);
    ok = ok && !weft_permute_plan_create(&there, dev->ctx, weft_csr_shape(&a), &p, keep) &&
         !weft_permute_plan_create(&home, dev->ctx, weft_csr_shape(&a), &inverse, keep);
    // Until the gate opens the columns are those of another matrix.
    int32_t *zeros = calloc((size_t)a.nnz, sizeof *zeros);
    ok = ok && zeros && !clEnqueueWriteBuffer(queue, from.d.col, CL_TRUE, 0, (size_t)a.nnz * 4, zeros, 0, NULL, NULL);
    cl_int error;
    cl_event gate = clCreateUserEvent(weft_context_cl(dev->ctx), &error), written = NULL, once = NULL, twice = NULL;
    ok = ok && !clEnqueueWriteBuffer(queue, from.d.col, CL_FALSE, 0, (size_t)a.nnz * 4, a.col, 1, &gate, &written) &&
         !weft_permute_run(there, queue, &mid.d, &from.d, 1, &written, &once) &&
         !weft_permute_run(home, queue, &back.d, &mid.d, 1, &once, &twice);
    clSetUserEventStatus(gate, CL_COMPLETE);
    ok = ok && !clWaitForEvents(1, &twice);
    clFinish(queue);
    ok = ok && test_csr_equal(dev, &back, &a, why);
    tap_ok(ok, "%s: out-of-order queue, wait list and event, the inverse gives the matrix back %s", dev->name, why);
    cl_event events[] = {gate, written, once, twice};
    for (int i = 0; i < 4; i++)
        if (events[i])
            clReleaseEvent(events[i]);
    free(zeros);
    weft_permute_plan_destroy(&there);
    weft_permute_plan_destroy(&home);
    weft_permutation_free(&p);
    weft_permutation_free(&inverse);
    test_csr_free(&from);
    test_csr_free(&mid);
    test_csr_free(&back);
    weft_csr_free(&a);
    clReleaseCommandQueue(queue);
}

static void refused(struct test_device *dev, weft_status got, weft_status want, const char *what)
{
    tap_ok(got == want && *test_error(dev), "%s: refuses %s: %s", dev->name, what, test_error(dev));
}

static void test_errors(struct test_device *dev)
{
    struct weft_csr a, bad = {0};
    struct weft_permutation p, other;
    struct weft_permute_plan *plan = NULL;
    struct test_csr from, to;
    test_matrix_make(&a, &rng, TEST_UNIFORM, 20, 30, 100, WEFT_TYPE_F32, WEFT_OFS_32);
    order_make(&p, WEFT_ORDER_ROW_COL, &a);
    refused(dev, weft_permute_plan_create(&plan, dev->ctx, weft_shape(p.m, p.n, -1, a.type, a.ofs), &p, NULL),
            WEFT_EINVAL, "nnz < 0");
    refused(dev,
            weft_permute_plan_create(&plan, dev->ctx, weft_shape(p.m, p.n, INT64_C(1) << 31, a.type, a.ofs), &p, NULL),
            WEFT_ERANGE, "2^31 entries in 32 bits");
    refused(dev, weft_permute_plan_create(&plan, dev->ctx, weft_shape(p.m, p.n, 5, (enum weft_type)9, a.ofs), &p, NULL),
            WEFT_EINVAL, "an unknown type");
    if (plan || weft_permute_plan_create(&plan, dev->ctx, weft_csr_shape(&a), &p, NULL))
        tap_bail("plan: %s", test_error(dev));
    test_csr_make(&from, dev, &a, a.m, a.n, a.nnz, a.type, a.ofs);
    test_csr_make(&to, dev, NULL, a.m, a.n, a.nnz, a.type, a.ofs);
    struct weft_device_csr x = to.d;
    x.m++;
    refused(dev, weft_permute_run(plan, dev->queue, &x, &from.d, 0, NULL, NULL), WEFT_EINVAL, "another shape");
    x = to.d;
    x.type = WEFT_TYPE_I32;
    refused(dev, weft_permute_run(plan, dev->queue, &x, &from.d, 0, NULL, NULL), WEFT_EINVAL, "another type");
    x = to.d;
    x.col = NULL;
    refused(dev, weft_permute_run(plan, dev->queue, &x, &from.d, 0, NULL, NULL), WEFT_EINVAL, "no columns");
    x.col = from.d.col;
    refused(dev, weft_permute_run(plan, dev->queue, &x, &from.d, 0, NULL, NULL), WEFT_EINVAL, "a shared buffer");
    x.col = to.d.row_ptr;
    refused(dev, weft_permute_run(plan, dev->queue, &x, &from.d, 0, NULL, NULL), WEFT_EINVAL, "a small buffer");
    refused(dev, weft_permute_run(plan, NULL, &to.d, &from.d, 0, NULL, NULL), WEFT_EINVAL, "no queue");
    cl_mem v = from.d.val, w = to.d.val;
    refused(dev,
            weft_permute_vector_run(plan, dev->queue, w, v, (enum weft_permute_side)2, 0, WEFT_TYPE_F32, 0, NULL, NULL),
            WEFT_EINVAL, "an unknown side");
    refused(
        dev,
        weft_permute_vector_run(plan, dev->queue, w, v, WEFT_PERMUTE_SIDE_ROWS, 0, WEFT_TYPE_PATTERN, 0, NULL, NULL),
        WEFT_EINVAL, "vectors without values");
    refused(dev,
            weft_permute_vector_run(plan, dev->queue, v, v, WEFT_PERMUTE_SIDE_ROWS, 0, WEFT_TYPE_F32, 0, NULL, NULL),
            WEFT_EINVAL, "the same vector twice");
    refused(dev,
            weft_permute_vector_run(plan, dev->queue, w, to.d.row_ptr, WEFT_PERMUTE_SIDE_COLS, 0, WEFT_TYPE_F64, 0,
                                    NULL, NULL),
            WEFT_EINVAL, "a short vector");
    if (weft_permutation_from(&other, a.n, a.m, NULL, NULL, NULL))
        tap_bail("out of host memory");
    refused(dev, weft_permute_sync(&bad, dev->ctx, &a, &other, NULL), WEFT_EINVAL, "a permutation of another shape");
    a.col[7] = 30;
    refused(dev, weft_permute_sync(&bad, dev->ctx, &a, &p, NULL), WEFT_EMATRIX, "a column out of range");
    tap_ok(!bad.row_ptr && !bad.col, "%s: nothing is left after a refusal", dev->name);
    weft_permute_plan_destroy(&plan);
    weft_permute_plan_destroy(&plan);
    weft_permute_plan_destroy(NULL);
    weft_permutation_free(&p);
    weft_permutation_free(&other);
    test_csr_free(&from);
    test_csr_free(&to);
    weft_csr_free(&a);
}

static void test_all(struct test_device *dev)
{
    if (!test_sample())
        test_type(dev, WEFT_TYPE_I32, WEFT_OFS_32);
    test_type(dev, WEFT_TYPE_F64, WEFT_OFS_64);
    test_type(dev, WEFT_TYPE_PATTERN, WEFT_OFS_32);
    if (!dev->checker)
        test_chunks(dev);
    test_products(dev);
    test_vectors(dev);
    test_events(dev);
    test_errors(dev);
}

int main(void)
{
    rng = rng_start();
    test_device_each(test_all);
    return tap_done();
}
