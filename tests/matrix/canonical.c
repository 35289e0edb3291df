// SPDX-License-Identifier: Apache-2.0
// Sorted columns and summed duplicates against the oracle: edge shapes, every type, in place or not, with a look at the
// order or without, queues, errors; the same in host memory.
#include "tests/support/csr.h"
#include "tests/support/problem.h"
#include "host/internal/inside.h"

#include <stdlib.h>
#include <string.h>
#include <weft/canonical.h>

static struct rng rng;

static const struct shape {
    enum test_spread spread;
    int64_t m, n, nnz;
} shapes[] = {
    {TEST_UNIFORM, 0, 0, 0},          {TEST_UNIFORM, 5, 7, 0},        {TEST_UNIFORM, 0, 9, 0},
    {TEST_UNIFORM, 1, 1, 1},          {TEST_LAST, 3, 2, 100},         {TEST_ONE_COLUMN, 40, 30, 333},
    {TEST_ONE_ROW, 9, 5000, 1025},    {TEST_ONE_ROW, 1, 300, 800},    {TEST_FEW_ROWS, 2000, 50, 600},
    {TEST_DESCENDING, 70, 900, 1500}, {TEST_UNIFORM, 300, 20, 4096},  {TEST_UNIFORM, 100, 100, 4097},
    {TEST_SKEWED, 60, 80, 2047},      {TEST_DIAGONAL, 500, 500, 700}, {TEST_UNIFORM, 1000, 100000, 31},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void matrix_make(struct weft_csr *a, const struct shape *s, enum weft_type type, enum weft_ofs ofs)
{
    test_matrix_make(a, &rng, s->spread, s->m, s->n, s->nnz, type, ofs);
    test_values_draw(&rng, a->val, type, s->nnz);
}

// One run in canaried buffers, in place or not, against `want`.
static int run_right(struct test_device *dev, struct weft_canonical_plan *plan, const struct weft_csr *a,
                     const struct weft_csr *want, int in_place, cl_command_queue queue, char *why)
{
    struct test_csr from, to = {0};
    int64_t nnz = -1;
    test_csr_make(&from, dev, a, a->m, a->n, a->nnz, a->type, a->ofs);
    if (!in_place)
        test_csr_make(&to, dev, NULL, a->m, a->n, a->nnz, a->type, a->ofs);
    const struct test_csr *out = in_place ? &from : &to;
    weft_status status = weft_canonical_run(plan, queue, &out->d, &from.d, 0, NULL, NULL);
    if (!status)
        status = weft_canonical_nnz_sync(&nnz, dev->ctx, queue, &out->d);
    snprintf(why, 256, "%s", status ? test_error(dev) : "");
    int ok = !status && nnz == want->nnz && test_csr_equal(dev, out, want, why);
    if (ok && !in_place)
        ok = test_csr_equal(dev, &from, a, why);
    test_csr_free(&from);
    test_csr_free(&to);
    return ok;
}

static int shape_right(struct test_device *dev, const struct shape *s, enum weft_type type, enum weft_ofs ofs,
                       const struct weft_canonical_params *params)
{
    struct weft_canonical_plan *plan = NULL;
    struct weft_csr a, want;
    char why[256] = "";
    matrix_make(&a, s, type, ofs);
    if (weft__ref_canonical(&want, &a, params->keep))
        tap_bail("out of host memory");
    int ok = !weft_canonical_plan_create(&plan, dev->ctx, weft_csr_shape(&a), params);
    if (!ok)
        snprintf(why, sizeof why, "%s", test_error(dev));
    for (int in_place = 0; in_place < 2; in_place++)
        ok = ok && run_right(dev, plan, &a, &want, in_place, dev->queue, why);
    if (!ok)
        tap_note("%s, %lld x %lld, %lld entries, %s, %zu-byte offsets, keep %d, always %d: %s",
                 test_spread_name(s->spread), (long long)s->m, (long long)s->n, (long long)s->nnz, weft_type_name(type),
                 weft_ofs_bytes(ofs), params->keep, params->always, why);
    weft_canonical_plan_destroy(&plan);
    weft_csr_free(&a);
    weft_csr_free(&want);
    return ok;
}

static int has_type(struct test_device *dev, enum weft_type type)
{
    return type != WEFT_TYPE_F64 || weft_context_device(dev->ctx)->fp64;
}

static void test_shapes(struct test_device *dev, enum weft_type type, enum weft_ofs ofs)
{
    for (int form = dev->checker ? (int)type % 4 : 0; form < 4; form += dev->checker ? 4 : 1) { // a checker: one each
        const struct weft_canonical_params params = {.keep = form & 1, .always = form & 2};
        int ok = 1;
        for (unsigned i = 0; i < SHAPES && ok; i++)
            if (!test_sample() || (i + (unsigned)form + (unsigned)type) % (dev->checker ? 12 : 4) == 0)
                ok = shape_right(dev, &shapes[i], type, ofs, &params);
        tap_ok(ok, "%s: %s, %zu-byte offsets, %s%s", dev->name, weft_type_name(type), weft_ofs_bytes(ofs),
               params.keep ? "sorted" : "summed", params.always ? " without a look" : "");
    }
}

// What is in order already, with and without duplicates: nothing is sorted.
static void test_in_order(struct test_device *dev)
{
    struct weft_csr a, sorted, unique, want;
    char why[256] = "";
    matrix_make(&a, &(struct shape){TEST_UNIFORM, 50, 40, 900}, WEFT_TYPE_F32, WEFT_OFS_32);
    if (weft__ref_canonical(&sorted, &a, 1) || weft__ref_canonical(&unique, &a, 0) ||
        weft__ref_canonical(&want, &sorted, 0))
        tap_bail("out of host memory");
    const struct weft_csr *const inputs[] = {&sorted, &unique, &sorted};
    const struct weft_csr *const outputs[] = {&sorted, &unique, &want};
    for (int i = 0; i < 3; i++) {
        struct weft_canonical_plan *plan = NULL;
        int ok = !weft_canonical_plan_create(&plan, dev->ctx, weft_csr_shape(inputs[i]),
                                             weft_canonical_params(.keep = i == 0));
        for (int in_place = 0; in_place < 2; in_place++)
            ok = ok && run_right(dev, plan, inputs[i], outputs[i], in_place, dev->queue, why);
        tap_ok(ok, "%s: columns in order, %s: %s", dev->name,
               i == 0   ? "kept"
               : i == 1 ? "no duplicates"
                        : "with duplicates",
               why);
        weft_canonical_plan_destroy(&plan);
    }
    weft_csr_free(&a);
    weft_csr_free(&sorted);
    weft_csr_free(&unique);
    weft_csr_free(&want);
}

// Two runs on an out-of-order queue, the first behind a write that the test lets go late, the second behind the first.
static void test_events(struct test_device *dev)
{
    cl_command_queue queue = test_queue(dev, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    if (!queue) {
        tap_skip("%s: no out-of-order queue", dev->name);
        return;
    }
    struct weft_csr a, want;
    struct test_csr from, to;
    struct weft_canonical_plan *plan = NULL;
    char why[256] = "";
    cl_int error;
    cl_event gate = clCreateUserEvent(weft_context_cl(dev->ctx), &error), written = NULL, done = NULL, again = NULL;
    matrix_make(&a, &(struct shape){TEST_UNIFORM, 30, 20, 500}, WEFT_TYPE_I32, WEFT_OFS_64);
    if (weft__ref_canonical(&want, &a, 0))
        tap_bail("out of host memory");
    test_csr_make(&from, dev, &a, a.m, a.n, a.nnz, a.type, a.ofs);
    test_csr_make(&to, dev, NULL, a.m, a.n, a.nnz, a.type, a.ofs);
    test_poison(why, sizeof why);
    int ok = !weft_canonical_plan_create(&plan, dev->ctx, weft_csr_shape(&a), weft_canonical_params(.always = 1)) &&
             !clEnqueueWriteBuffer(queue, from.col.mem, CL_FALSE, 0, (size_t)a.nnz * 4, a.col, 1, &gate, &written) &&
             !weft_canonical_run(plan, queue, &to.d, &from.d, 1, &written, &done) &&
             !weft_canonical_run(plan, queue, &to.d, &from.d, 1, &done, &again);
    clSetUserEventStatus(gate, CL_COMPLETE);
    ok = ok && !clWaitForEvents(1, &again);
    if (dev->checker) // whose markers do not wait for what is before them
        clFinish(queue);
    ok = ok && test_csr_equal(dev, &to, &want, why);
    tap_ok(ok, "%s: out-of-order queue, wait list and event", dev->name);
    weft_canonical_plan_destroy(&plan);
    ok = !weft_canonical_plan_create(&plan, dev->ctx, weft_csr_shape(&a), NULL) &&
         run_right(dev, plan, &a, &want, 0, queue, why) && run_right(dev, plan, &a, &want, 1, queue, why);
    tap_ok(ok, "%s: out-of-order queue, with a look at the order", dev->name);
    clFinish(queue);
    cl_event events[] = {gate, written, done, again};
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (events[i])
            clReleaseEvent(events[i]);
    weft_canonical_plan_destroy(&plan);
    clReleaseCommandQueue(queue);
    test_csr_free(&from);
    test_csr_free(&to);
    weft_csr_free(&a);
    weft_csr_free(&want);
}

static void test_sync(struct test_device *dev)
{
    struct weft_csr a, want, got;
    matrix_make(&a, &(struct shape){TEST_SKEWED, 33, 44, 555}, WEFT_TYPE_F32, WEFT_OFS_32);
    if (weft__ref_canonical(&want, &a, 0))
        tap_bail("out of host memory");
    tap_ok(!weft_canonical_sync(&got, dev->ctx, &a, NULL) && weft_csr_equal(&got, &want), "%s: host arrays", dev->name);
    weft_csr_free(&got);
    a.col[7] = 44;
    tap_ok(weft_canonical_sync(&got, dev->ctx, &a, NULL) == WEFT_EMATRIX && !got.row_ptr &&
               strstr(test_error(dev), "col[7] = 44"),
           "%s: host arrays, a column out of range: %s", dev->name, test_error(dev));
    weft_csr_free(&a);
    weft_csr_free(&want);
}

static void test_errors(struct test_device *dev)
{
    struct weft_canonical_plan *plan = NULL;
    struct test_csr a, b;
    size_t bytes = 0;
    struct weft_csr host;
    matrix_make(&host, &(struct shape){TEST_UNIFORM, 10, 10, 60}, WEFT_TYPE_F32, WEFT_OFS_32);
    test_csr_make(&a, dev, &host, 10, 10, 60, WEFT_TYPE_F32, WEFT_OFS_32);
    test_csr_make(&b, dev, NULL, 10, 10, 60, WEFT_TYPE_F32, WEFT_OFS_32);
    tap_ok(weft_canonical_plan_create(&plan, dev->ctx, weft_shape(10, 10, INT64_C(1) << 31, WEFT_TYPE_F32, WEFT_OFS_32),
                                      NULL) == WEFT_ERANGE &&
               !plan,
           "%s: 2^31 entries of 32-bit offsets: %s", dev->name, test_error(dev));
    if (weft_canonical_plan_create(&plan, dev->ctx, weft_shape(10, 10, 60, WEFT_TYPE_F32, WEFT_OFS_32), NULL))
        tap_bail("no plan: %s", test_error(dev));
    tap_ok(!weft_canonical_workspace(&bytes, dev->ctx, weft_shape(10, 10, 60, WEFT_TYPE_F32, WEFT_OFS_32), NULL) &&
               bytes == weft_canonical_plan_info(plan)->workspace_bytes && bytes > 60 * 8,
           "%s: workspace, %zu bytes", dev->name, bytes);
    struct weft_device_csr other = a.d;
    other.nnz = 59;
    tap_ok(weft_canonical_run(plan, dev->queue, &b.d, &other, 0, NULL, NULL) == WEFT_EINVAL, "%s: another shape: %s",
           dev->name, test_error(dev));
    other = b.d;
    other.col = a.d.col;
    tap_ok(weft_canonical_run(plan, dev->queue, &other, &a.d, 0, NULL, NULL) == WEFT_EINVAL, "%s: one shared array: %s",
           dev->name, test_error(dev));
    ((int32_t *)host.row_ptr)[2] = 61;
    test_buffer_write(dev, &a.row_ptr, host.row_ptr, 11 * 4);
    tap_ok(weft_canonical_run(plan, dev->queue, &b.d, &a.d, 0, NULL, NULL) == WEFT_EMATRIX &&
               strstr(test_error(dev), "fault 'descends' at 2"),
           "%s: row pointers that descend: %s", dev->name, test_error(dev));
    weft_canonical_plan_destroy(&plan);
    weft_canonical_plan_destroy(&plan);
    test_csr_free(&a);
    test_csr_free(&b);
    weft_csr_free(&host);
}

static void test_all(struct test_device *dev)
{
    for (int type = WEFT_TYPE_F32; type <= WEFT_TYPE_PATTERN; type++)
        for (int ofs = WEFT_OFS_32; ofs <= WEFT_OFS_64; ofs++)
            if (has_type(dev, (enum weft_type)type) && (!test_sample() || (type ^ ofs) & 1))
                test_shapes(dev, (enum weft_type)type, (enum weft_ofs)ofs);
    test_in_order(dev);
    test_events(dev);
    test_sync(dev);
    test_errors(dev);
}

// In host memory, by any number of threads.
static void test_host(void)
{
    for (int type = WEFT_TYPE_F32; type <= WEFT_TYPE_PATTERN; type++)
        for (int keep = 0; keep < 2; keep++) {
            int ok = 1;
            for (unsigned i = 0; i < SHAPES && ok; i++) {
                struct weft_csr a, want;
                const struct weft_canonical_params params = {.keep = keep, .threads = i % 2 ? 7 : 1};
                matrix_make(&a, &shapes[i], (enum weft_type)type, (enum weft_ofs)(i % 2));
                if (weft__ref_canonical(&want, &a, keep))
                    tap_bail("out of host memory");
                ok = !weft_csr_canonical(&a, &params, NULL) && weft_csr_equal(&a, &want) &&
                     !weft_csr_validate_columns(&a, keep ? WEFT_COLUMNS_ASCENDING : WEFT_COLUMNS_UNIQUE, NULL);
                weft_csr_free(&a);
                weft_csr_free(&want);
            }
            tap_ok(ok, "host: %s, %s", weft_type_name((enum weft_type)type), keep ? "sorted" : "summed");
        }
}

// The oracle itself, on a matrix that a reader can follow.
static void test_oracle(void)
{
    int32_t row_ptr[] = {0, 3, 3, 7}, col[] = {2, 0, 2, 1, 1, 0, 1};
    float val[] = {1, 2, 4, 8, 16, 32, 64};
    const int32_t sorted[] = {0, 2, 2, 0, 1, 1, 1}, unique[] = {0, 2, 0, 1}, ends[] = {0, 2, 2, 4};
    const float moved[] = {2, 1, 4, 32, 8, 16, 64}, sums[] = {2, 5, 32, 88};
    const struct weft_csr a = {3, 3, 7, WEFT_TYPE_F32, WEFT_OFS_32, row_ptr, col, val};
    struct weft_csr out;
    tap_ok(!weft__ref_canonical(&out, &a, 1) && !memcmp(out.col, sorted, sizeof sorted) &&
               !memcmp(out.val, moved, sizeof moved) && !memcmp(out.row_ptr, row_ptr, sizeof row_ptr),
           "oracle: sorted");
    weft_csr_free(&out);
    tap_ok(!weft__ref_canonical(&out, &a, 0) && out.nnz == 4 && !memcmp(out.col, unique, sizeof unique) &&
               !memcmp(out.val, sums, sizeof sums) && !memcmp(out.row_ptr, ends, sizeof ends),
           "oracle: summed");
    weft_csr_free(&out);
}

int main(void)
{
    rng = rng_start();
    test_oracle();
    test_host();
    test_device_each(test_all);
    return tap_done();
}
