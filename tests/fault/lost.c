// SPDX-License-Identifier: Apache-2.0
// What a plan does where the device gives up: each launch of a run is refused, alone and with all that follow; a wait fails; or an
// event that a run waits for has failed (with the argument `events`). The run says so, by its status or by its event, and the next run of the same plan is
// right, with no call in between.
#include "host/internal/tests.h"
#include "tests/support/csr.h"
#include "tests/support/fault.h"
#include "tests/support/problem.h"

#include <stdlib.h>
#include <string.h>
#include <weft/canonical.h>
#include <weft/convert.h>
#include <weft/expand.h>
#include <weft/histogram.h>
#include <weft/merge.h>
#include <weft/permute.h>
#include <weft/scan.h>
#include <weft/segsort.h>
#include <weft/validate.h>

enum { N = 20000, ROWS = 900, COLS = 700, NNZ = 9000, BLOCK = 64 };

static struct rng rng;
static bool events; // test those that fail, else launches and waits
// Arrays and matrices, and what comes out by the reference.
static int32_t *small, *sums, *counts, *expanded;
static uint32_t *key, *sorted;
static struct weft_csr a, at, canonical, permuted, by_rows; // by_rows: of coordinates whose entries are those of a
static struct weft_coo coo;
static struct weft_permutation moved;

// A plan, that of the operation, and what it runs on.
struct job {
    struct test_device *dev;
    struct weft_scan_plan *scan;
    struct weft_histogram_plan *histogram;
    struct weft_expand_plan *expand;
    struct weft_merge_plan *merge;
    struct weft_segsort_plan *segsort;
    struct weft_transpose_plan *transpose;
    struct weft_transpose_refill *refill;
    struct weft_canonical_plan *canonical;
    struct weft_permute_plan *permute;
    struct weft_coo_to_csr *convert;
    struct weft_validate_plan *validate;
    struct weft_spmv_plan *spmv;
    struct test_buffer in, out, row;
    struct test_csr from, to;
    struct test_problem problem;
    struct weft_spmv_params params;
};

#define ARGS   struct job *j, cl_uint nwait, const cl_event *wait, cl_event *event
#define EVENTS nwait, wait, event

static weft_status scan_run(ARGS)
{
    return weft_scan_run(j->scan, j->dev->queue, j->out.mem, j->in.mem, N, EVENTS);
}
static weft_status histogram_run(ARGS)
{
    return weft_histogram_run(j->histogram, j->dev->queue, j->out.mem, j->in.mem, N, EVENTS);
}
static weft_status expand_run(ARGS)
{
    return weft_expand_run(j->expand, j->dev->queue, j->out.mem, j->in.mem, ROWS, NNZ, EVENTS);
}
static weft_status merge_run(ARGS)
{
    return weft_merge_blocks_run(j->merge, j->dev->queue, j->out.mem, NULL, j->in.mem, NULL, N, N / 2, EVENTS);
}
static weft_status segsort_run(ARGS)
{
    return weft_segsort_blocks_run(j->segsort, j->dev->queue, j->out.mem, NULL, j->in.mem, NULL, N, N, EVENTS);
}
static weft_status transpose_run(ARGS)
{
    return weft_transpose_run(j->transpose, j->dev->queue, &j->to.d, &j->from.d, EVENTS);
}
static weft_status refill_run(ARGS)
{
    return weft_transpose_refill_run(j->refill, j->dev->queue, j->out.mem, j->from.d.val, a.type, EVENTS);
}
static weft_status canonical_run(ARGS)
{
    return weft_canonical_run(j->canonical, j->dev->queue, &j->to.d, &j->from.d, EVENTS);
}
static weft_status permute_run(ARGS)
{
    return weft_permute_run(j->permute, j->dev->queue, &j->to.d, &j->from.d, EVENTS);
}
static weft_status convert_run(ARGS)
{
    const struct weft_device_coo from = {ROWS, COLS, NNZ, a.type, j->row.mem, j->from.d.col, j->from.d.val};
    return weft_coo_to_csr_run(j->convert, j->dev->queue, &j->to.d, &from, EVENTS);
}
static weft_status validate_run(ARGS)
{
    return weft_validate_run(j->validate, j->dev->queue, j->out.mem, &j->from.d, WEFT_COLUMNS_ANY, EVENTS);
}
static weft_status spmv_run(ARGS)
{
    struct test_problem *p = &j->problem;
    return weft_spmv_run(j->spmv, j->dev->queue, p->by.mem, 1, p->bx.mem, 0, EVENTS);
}

// Each operation, in the forms that differ in what they leave in their scratch memory. Arrays: one in, one out.
static const struct operation {
    const char *name;
    weft_status (*run)(ARGS);
    int form, gpu; // gpu: of that schedule alone
} operations[] = {
#define OPERATION(name, run, destroy, form, gpu)                                                                       \
    {                                                                                                                  \
        name, run, (void (*)(void *))(void (*)(void))(destroy), form, gpu                                              \
    }
    {"scan", scan_run, WEFT_SCAN_ALGO_THREE, 0},
    {"chained scan", scan_run, WEFT_SCAN_ALGO_CHAINED, 1},
    {"histogram", histogram_run, WEFT_HISTOGRAM_ALGO_ROWS, 0},
    {"atomic histogram", histogram_run, WEFT_HISTOGRAM_ALGO_ATOMIC, 1},
    {"expand", expand_run, 0, 0},
    {"merge", merge_run, 0, 0},
    {"sort by merges", segsort_run, WEFT_SEGSORT_WHOLE_MERGE, 0},
    {"sort by digits", segsort_run, WEFT_SEGSORT_WHOLE_RADIX, 1},
    {"chained sort", segsort_run, WEFT_SEGSORT_WHOLE_CHAINED, 1},
    {"transposition by scans", transpose_run, WEFT_TRANSPOSE_ALGO_SCAN, 0},
    {"transposition by merges", transpose_run, WEFT_TRANSPOSE_ALGO_MERGE, 0},
    {"refill", refill_run, 0, 0},
    {"canonical form", canonical_run, 0, 0},
    {"permutation", permute_run, 0, 0},
    {"conversion", convert_run, 0, 0},
    {"check", validate_run, 0, 0},
    {"csr_scalar", spmv_run, WEFT_SPMV_ALGO_CSR_SCALAR, 0},
    {"csr_lanes", spmv_run, WEFT_SPMV_ALGO_CSR_LANES, 0},
    {"csr_merge", spmv_run, WEFT_SPMV_ALGO_CSR_MERGE, 0},
    {"csr_flags", spmv_run, WEFT_SPMV_ALGO_CSR_FLAGS, 1},
    {"csr_fixed", spmv_run, WEFT_SPMV_ALGO_CSR_FIXED, 0},
    {"coo", spmv_run, WEFT_SPMV_ALGO_COO, 0},
    {"sell", spmv_run, WEFT_SPMV_ALGO_SELL, 0},
    {"hyb", spmv_run, WEFT_SPMV_ALGO_HYB, 0},
};

// What comes out of an array operation, and how many bytes.
static const void *array_want(const struct operation *o, size_t *bytes)
{
    static const int64_t fine[1] = {WEFT_FAULT_NONE};
    *bytes = o->run == expand_run      ? NNZ * 4
             : o->run == histogram_run ? BLOCK * 4
             : o->run == validate_run  ? 8
             : o->run == refill_run    ? NNZ * 4
                                       : N * 4;
    return o->run == scan_run        ? (const void *)sums
           : o->run == histogram_run ? (const void *)counts
           : o->run == expand_run    ? (const void *)expanded
           : o->run == validate_run  ? (const void *)fine
           : o->run == refill_run    ? at.val
                                     : (const void *)sorted;
}

static const struct weft_csr *matrix_want(const struct operation *o)
{
    return o->run == transpose_run   ? &at
           : o->run == canonical_run ? &canonical
           : o->run == permute_run   ? &permuted
           : o->run == convert_run   ? &by_rows
                                     : NULL;
}

static weft_status plan_make(struct job *j, const struct operation *o)
{
    struct weft_context *ctx = j->dev->ctx;
    const struct weft_shape shape = weft_csr_shape(&a);
    const struct weft_transpose_params by = {.algo = (enum weft_transpose_algo)o->form};
    if (o->run == scan_run)
        return weft_scan_plan_create(&j->scan, ctx, WEFT_SCAN_TYPE_I32, N,
                                     weft_scan_params(.algo = (enum weft_scan_algo)o->form));
    if (o->run == histogram_run)
        return weft_histogram_plan_create(&j->histogram, ctx, BLOCK, WEFT_OFS_32, N,
                                          weft_histogram_params(.algo = (enum weft_histogram_algo)o->form));
    if (o->run == expand_run)
        return weft_expand_plan_create(&j->expand, ctx, ROWS, NNZ, WEFT_OFS_32, NULL);
    if (o->run == merge_run)
        return weft_merge_plan_create(&j->merge, ctx, WEFT_KEY_U32, 0, N, NULL);
    if (o->run == segsort_run)
        return weft_segsort_plan_create(&j->segsort, ctx, WEFT_KEY_U32, 0, WEFT_OFS_32, N,
                                        weft_segsort_params(.whole = (enum weft_segsort_whole)o->form));
    if (o->run == transpose_run)
        return weft_transpose_plan_create(&j->transpose, ctx, shape, &by);
    if (o->run == refill_run)
        return weft_transpose_refill_create(&j->refill, ctx, j->dev->queue, &j->from.d, NULL);
    if (o->run == canonical_run)
        return weft_canonical_plan_create(&j->canonical, ctx, shape, weft_canonical_params(.keep = true));
    if (o->run == permute_run)
        return weft_permute_plan_create(&j->permute, ctx, shape, &moved, NULL);
    if (o->run == convert_run)
        return weft_coo_to_csr_create(&j->convert, ctx, shape, NULL);
    if (o->run == validate_run)
        return weft_validate_plan_create(&j->validate, ctx, a.ofs);
    j->params = (struct weft_spmv_params){.policy.algo = (enum weft_spmv_algo)o->form, .format.max_padding = 1e9};
    if (o->form == WEFT_SPMV_ALGO_CSR_MERGE || o->form == WEFT_SPMV_ALGO_CSR_FLAGS) // rows of many tiles
        j->params.gpu.wg = 32, j->params.gpu.ipt = 4;
    j->spmv = test_problem_plan(&j->problem, &j->params);
    return j->spmv ? WEFT_OK : WEFT_EDEVICE;
}

// Results are overwritten, so that what a run leaves out is seen.
static void poison(struct job *j, const struct operation *o)
{
    if (o->run == spmv_run)
        test_buffer_poison(j->dev, &j->problem.by);
    else if (matrix_want(o))
        test_csr_poison(j->dev, &j->to);
    else
        test_buffer_poison(j->dev, &j->out);
}

static int is_right(struct job *j, const struct operation *o)
{
    char why[256];
    size_t bytes;
    if (o->run == spmv_run)
        return test_problem_right(&j->problem, &j->params, 1, 0);
    if (matrix_want(o))
        return test_csr_equal(j->dev, &j->to, matrix_want(o), why);
    const void *want = array_want(o, &bytes);
    char *got = test_alloc(bytes);
    test_buffer_read(j->dev, &j->out, got, bytes);
    const int right = !memcmp(got, want, bytes) && test_buffer_intact(j->dev, &j->out);
    free(got);
    return right;
}

// The next run of the plan, without a fault.
static int next_right(struct job *j, const struct operation *o)
{
    fault_set(FAULT_clFlush, 0);
    poison(j, o);
    return !o->run(j, 0, NULL, NULL) && is_right(j, o);
}

// Each launch of a run is refused, with `ever` all that follow too: the device is gone until the next run.
static void test_launches(struct job *j, const struct operation *o, bool ever)
{
    int good = 1, n = 1, hit = 1;
    for (; good && hit; n++) {
        struct weft_error err;
        if (ever)
            fault_set_ever(FAULT_clEnqueueNDRangeKernel, n);
        else
            fault_set(FAULT_clEnqueueNDRangeKernel, n);
        const weft_status status = o->run(j, 0, NULL, NULL);
        hit = fault_hit();
        weft_context_error(&err, j->dev->ctx);
        good =
            !hit ? !status : status == WEFT_EDEVMEM && err.status == status && strstr(err.text, "CL_OUT_OF_RESOURCES");
        if (!good)
            tap_note("launch %d: status %d, %s", n, (int)status, err.text);
        else if (!(good = next_right(j, o)))
            tap_note("launch %d: the next run is wrong", n);
    }
    tap_ok(good && n > 2, "%s, %s: %d launches refused%s, the next run is right", j->dev->name, o->name, n - 2,
           ever ? " with all later ones" : "");
}

// A run waits for an event that fails: its event has failed, and what comes behind in the queue does not hang.
static void test_failed_event(struct job *j, const struct operation *o)
{
    cl_int error, state = 0;
    cl_event gate = clCreateUserEvent(weft_context_cl(j->dev->ctx), &error), done = NULL;
    poison(j, o);
    fault_set(FAULT_clFlush, 0);
    const weft_status status = o->run(j, 1, &gate, &done);
    error = clSetUserEventStatus(gate, -5);
    if (!status) {
        clWaitForEvents(1, &done);
        clGetEventInfo(done, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
        weft__cl.clReleaseEvent(done);
    }
    clReleaseEvent(gate);
    clFinish(j->dev->queue);
    tap_ok(!error && !status && state < 0 && next_right(j, o),
           "%s, %s: an event that failed makes the run's fail (%d), the next run is right", j->dev->name, o->name,
           (int)state);
}

static void test_operation(struct test_device *dev, const struct operation *o)
{
    struct job j = {.dev = dev};
    size_t bytes;
    const struct weft_csr *want = matrix_want(o);
    array_want(o, &bytes);
    j.problem = test_problem_make(dev, &rng, 900, 800, 6, 1500, WEFT_TYPE_F32, WEFT_OFS_32);
    test_csr_make(&j.from, dev, &a, a.m, a.n, a.nnz, a.type, a.ofs);
    j.row = test_buffer_make(dev, coo.row, NNZ * 4);
    j.in = o->run == expand_run
               ? test_buffer_make(dev, a.row_ptr, (ROWS + 1) * 4)
               : test_buffer_make(dev, o->run == merge_run || o->run == segsort_run ? (void *)key : small, N * 4);
    j.out = test_buffer_make(dev, NULL, o->run == validate_run ? 16 : bytes);
    if (want)
        test_csr_make(&j.to, dev, NULL, want->m, want->n, want->nnz, want->type, want->ofs);
    fault_set(FAULT_clFlush, 0);
    if (tap_ok(!plan_make(&j, o) && next_right(&j, o), "%s, %s: without faults", dev->name, o->name)) {
        if (events) {
            test_failed_event(&j, o);
        } else {
            test_launches(&j, o, false);
            test_launches(&j, o, true);
        }
    }
    clFinish(dev->queue);
    weft_scan_plan_destroy(&j.scan);
    weft_histogram_plan_destroy(&j.histogram);
    weft_expand_plan_destroy(&j.expand);
    weft_merge_plan_destroy(&j.merge);
    weft_segsort_plan_destroy(&j.segsort);
    weft_transpose_plan_destroy(&j.transpose);
    weft_transpose_refill_destroy(&j.refill);
    weft_canonical_plan_destroy(&j.canonical);
    weft_permute_plan_destroy(&j.permute);
    weft_coo_to_csr_destroy(&j.convert);
    weft_validate_plan_destroy(&j.validate);
    weft_spmv_plan_destroy(&j.spmv);
    test_problem_free(&j.problem);
    test_csr_free(&j.from);
    test_buffer_free(&j.row);
    test_buffer_free(&j.in);
    test_buffer_free(&j.out);
    if (want)
        test_csr_free(&j.to);
}

// Is a device lost for a blocking call, as when a driver ends a kernel that takes too long? The wait fails; the next call works.
static void test_waits(struct test_device *dev)
{
    static const enum fault_call waits[] = {FAULT_clFinish, FAULT_clWaitForEvents, FAULT_clEnqueueReadBuffer,
                                            FAULT_clEnqueueUnmapMemObject};
    int failed = 0, good = 1;
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        for (int n = 1, hit = 1; good && hit; n++) {
            struct weft_csr got = {0}, again = {0};
            fault_set(waits[i], n);
            const weft_status status = weft_transpose_sync(&got, dev->ctx, &a, NULL);
            hit = fault_hit();
            failed += hit && status;
            fault_set(FAULT_clFlush, 0);
            good = (status ? !got.row_ptr : weft_csr_equal(&got, &at)) &&
                   !weft_transpose_sync(&again, dev->ctx, &a, NULL) && weft_csr_equal(&again, &at);
            if (!good)
                tap_note("%s number %d: %d, %s", fault_name(waits[i]), n, (int)status, test_error(dev));
            weft_csr_free(&got);
            weft_csr_free(&again);
        }
    tap_ok(good && failed, "%s: %d waits of a blocking call fail, the next call is right", dev->name, failed);
}

// Does the driver hand a failure on to what waits for it, as OpenCL asks? By two copies.
static bool hands_on(struct test_device *dev)
{
    cl_int error, state = 0;
    const cl_int word = 1;
    cl_event gate = clCreateUserEvent(weft_context_cl(dev->ctx), &error), first = NULL, second = NULL;
    struct test_buffer from = test_buffer_make(dev, NULL, 4), to = test_buffer_make(dev, NULL, 4);
    error = clEnqueueWriteBuffer(dev->queue, from.mem, CL_FALSE, 0, 4, &word, 1, &gate, &first);
    if (!error)
        error = clEnqueueCopyBuffer(dev->queue, from.mem, to.mem, 0, 0, 4, 1, &first, &second);
    clSetUserEventStatus(gate, -5);
    if (!error) {
        clWaitForEvents(1, &second);
        clGetEventInfo(second, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
        clReleaseEvent(second);
    }
    if (first)
        clReleaseEvent(first);
    clReleaseEvent(gate);
    clFinish(dev->queue);
    test_buffer_free(&from);
    test_buffer_free(&to);
    return state < 0;
}

static void test_device(struct test_device *dev)
{
    if (events && !strcmp(weft_context_device(dev->ctx)->platform, "Portable Computing Language")) {
        tap_skip("%s: PoCL 3.1 ends the process where a released event fails, in pocl_update_event_failed", dev->name);
        return;
    }
    if (events && !hands_on(dev)) {
        tap_skip("%s: this driver does not hand a failure on to what waits for it", dev->name);
        return;
    }
    fault_install();
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (dev->gpu || !operations[i].gpu)
            test_operation(dev, &operations[i]);
    if (!events)
        test_waits(dev);
    fault_remove();
}

// lost [events]
int main(int argc, char **argv)
{
    events = argc > 1 && !strcmp(argv[1], "events");
    rng = rng_start();
    small = test_alloc(N * 4);
    sums = test_alloc(N * 4);
    counts = test_alloc(BLOCK * 4);
    expanded = test_alloc(NNZ * 4);
    key = test_alloc(N * 4);
    sorted = test_alloc(N * 4);
    for (uint32_t i = 0; i < N; i++) { // two halves, each in order
        small[i] = (int32_t)rng_below(&rng, BLOCK);
        key[i] = i % (N / 2) * 3 + (i < N / 2 ? 1 : 0);
    }
    test_matrix_make(&a, &rng, TEST_SKEWED, ROWS, COLS, NNZ, WEFT_TYPE_F32, WEFT_OFS_32);
    weft__ref_scan(sums, small, N, WEFT_SCAN_TYPE_I32, 0, 0);
    weft__ref_histogram(counts, small, N, BLOCK, WEFT_OFS_32, 0);
    weft__ref_expand(expanded, a.row_ptr, ROWS, WEFT_OFS_32);
    const int64_t whole[] = {0, N};
    coo = (struct weft_coo){ROWS, COLS, NNZ, a.type, test_alloc(NNZ * 4), a.col, a.val};
    for (int32_t p = 0; p < NNZ; p++)
        coo.row[p] = (int32_t)rng_below(&rng, ROWS);
    if (weft__ref_segsort(WEFT_KEY_U32, 0, sorted, NULL, key, NULL, whole, 1) || weft__ref_transpose(&at, &a) ||
        weft__ref_canonical(&canonical, &a, 1) || weft_csr_from_coo(&by_rows, &coo, WEFT_OFS_32, NULL) ||
        weft_permutation_alloc(&moved, WEFT_ORDER_ROW_COL, &a, 3, NULL) ||
        weft_csr_permute(&permuted, &a, &moved, NULL, NULL))
        tap_bail("out of host memory");
    test_device_each(test_device);
    weft_permutation_free(&moved);
    weft_csr_free(&a);
    weft_csr_free(&at);
    weft_csr_free(&canonical);
    weft_csr_free(&permuted);
    weft_csr_free(&by_rows);
    free(coo.row);
    free(small);
    free(sums);
    free(counts);
    free(expanded);
    free(key);
    free(sorted);
    return tap_done();
}
