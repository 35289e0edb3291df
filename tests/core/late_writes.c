// SPDX-License-Identifier: Apache-2.0
// OpenCL lets a blocking write return once the data was taken over: the buffer has it when the write's event is complete or
// its queue was finished, and for the commands that follow in its queue. Intel's CPU runtime does so. Here every driver
// does: a write waits until one of these asks for it.
#include "host/internal/inside.h"
#include "host/common/check_spmv.h"
#include "tests/support/csr.h"
#include "tests/support/rng.h"

#include <stdlib.h>
#include <string.h>
#include <weft/convert.h>
#include <weft/permute.h>

#define LATE 64 // writes at a time
static struct late {
    cl_command_queue queue;
    cl_mem to;
    size_t at, bytes;
    void *data;
    cl_event event;
} late[LATE];
static int nlate, seen;

// Writes of `queue` that are due, of all queues for NULL.
static void late_write(cl_command_queue queue)
{
    int left = 0;
    for (int i = 0; i < nlate; i++) {
        struct late w = late[i];
        if (queue && w.queue != queue) {
            late[left++] = w;
            continue;
        }
        cl_int error = clEnqueueWriteBuffer(w.queue, w.to, CL_TRUE, w.at, w.bytes, w.data, 0, NULL, NULL);
        if (error || clFinish(w.queue))
            tap_bail("a late write: OpenCL error %d", error);
        clSetUserEventStatus(w.event, CL_COMPLETE);
        clReleaseEvent(w.event);
        clReleaseMemObject(w.to);
        clReleaseCommandQueue(w.queue);
        free(w.data);
    }
    nlate = left;
}

static cl_int CL_API_CALL my_write(cl_command_queue queue, cl_mem to, cl_bool blocks, size_t at, size_t bytes,
                                   const void *data, cl_uint nwait, const cl_event *wait, cl_event *event)
{
    cl_context context;
    cl_int error = clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
    if (error || !blocks || nwait)
        return clEnqueueWriteBuffer(queue, to, blocks, at, bytes, data, nwait, wait, event);
    if (nlate == LATE)
        late_write(NULL);
    struct late *w = &late[nlate++];
    *w = (struct late){queue, to, at, bytes, test_alloc(bytes), clCreateUserEvent(context, &error)};
    memcpy(w->data, data, bytes);
    clRetainMemObject(to);
    clRetainCommandQueue(queue);
    if (event) {
        clRetainEvent(w->event);
        *event = w->event;
    }
    seen++;
    return error;
}

static cl_int CL_API_CALL my_wait(cl_uint count, const cl_event *events)
{
    late_write(NULL);
    return clWaitForEvents(count, events);
}

static cl_int CL_API_CALL my_finish(cl_command_queue queue)
{
    late_write(queue);
    return clFinish(queue);
}

static cl_int CL_API_CALL my_run(cl_command_queue queue, cl_kernel kernel, cl_uint dims, const size_t *first,
                                 const size_t *global, const size_t *local, cl_uint nwait, const cl_event *wait,
                                 cl_event *event)
{
    late_write(queue);
    return clEnqueueNDRangeKernel(queue, kernel, dims, first, global, local, nwait, wait, event);
}

static cl_int CL_API_CALL my_read(cl_command_queue queue, cl_mem from, cl_bool blocks, size_t at, size_t bytes,
                                  void *data, cl_uint nwait, const cl_event *wait, cl_event *event)
{
    late_write(queue);
    return clEnqueueReadBuffer(queue, from, blocks, at, bytes, data, nwait, wait, event);
}

// Off: what is still late is written.
static void late_set(int on)
{
    late_write(NULL);
    weft__cl.clEnqueueWriteBuffer = on ? my_write : clEnqueueWriteBuffer;
    weft__cl.clWaitForEvents = on ? my_wait : clWaitForEvents;
    weft__cl.clFinish = on ? my_finish : clFinish;
    weft__cl.clEnqueueNDRangeKernel = on ? my_run : clEnqueueNDRangeKernel;
    weft__cl.clEnqueueReadBuffer = on ? my_read : clEnqueueReadBuffer;
    seen = 0;
}

static struct rng rng;

static int arrays_equal(const struct weft_csr *a, const struct weft_csr *b)
{
    const size_t nnz = (size_t)a->nnz;
    return a->m == b->m && a->n == b->n && a->nnz == b->nnz &&
           !memcmp(a->row_ptr, b->row_ptr, ((size_t)a->m + 1) * 4) && !memcmp(a->col, b->col, nnz * 4) &&
           !memcmp(a->val, b->val, nnz * 4);
}

// The maps of a permutation are written before any queue of the caller's is known.
static void test_permute(struct test_device *dev, const struct weft_csr *a)
{
    struct weft_permutation p, back;
    struct weft_csr there, again;
    if (weft_permutation_alloc(&p, WEFT_ORDER_ROW_COL, a, 5, NULL) || weft_permutation_inverse(&back, &p))
        tap_bail("out of host memory");
    late_set(1);
    weft_status status = weft_permute_sync(&there, dev->ctx, a, &p, weft_permute_params(.keep = 1));
    if (!status)
        status = weft_permute_sync(&again, dev->ctx, &there, &back, weft_permute_params(.keep = 1));
    const int late_ones = seen;
    late_set(0);
    tap_ok(!status && late_ones && arrays_equal(a, &again), "%s: a permutation and its inverse, %d late writes %s",
           dev->name, late_ones, status ? test_error(dev) : "");
    if (!status)
        weft_csr_free(&again);
    weft_csr_free(&there);
    weft_permutation_free(&p);
    weft_permutation_free(&back);
}

// A matrix is written in one queue, transposed in a second, read in a third.
static void test_queues(struct test_device *dev, const struct weft_csr *a)
{
    struct weft_csr at, got;
    struct weft_device_csr from, to;
    struct weft_transpose_plan *op = NULL;
    cl_command_queue other = test_queue(dev, 0);
    cl_event done = NULL;
    if (!other || weft__ref_transpose(&at, a) || weft_csr_alloc(&got, weft_shape_transposed(weft_csr_shape(a))))
        tap_bail("out of host memory");
    late_set(1);
    weft_status status = weft_device_csr_alloc(&from, dev->ctx, weft_csr_shape(a));
    if (!status)
        status = weft_device_csr_alloc(&to, dev->ctx, weft_shape_transposed(weft_csr_shape(a)));
    if (!status)
        status = weft_transpose_plan_create(&op, dev->ctx, weft_csr_shape(a), NULL);
    if (!status)
        status = weft_device_csr_write_sync(&from, dev->ctx, dev->queue, a);
    if (!status)
        status = weft_transpose_run(op, other, &to, &from, 0, NULL, &done);
    const int late_ones = seen;
    late_set(0);
    if (!status)
        status = clWaitForEvents(1, &done) ? WEFT_EDEVICE : weft_device_csr_read_sync(&got, dev->ctx, dev->queue, &to);
    tap_ok(!status && late_ones && arrays_equal(&at, &got), "%s: written in one queue, used in another %s", dev->name,
           status ? test_error(dev) : "");
    if (done)
        clReleaseEvent(done);
    weft_transpose_plan_destroy(&op);
    weft_device_csr_free(&from);
    weft_device_csr_free(&to);
    clReleaseCommandQueue(other);
    weft_csr_free(&at);
    weft_csr_free(&got);
}

// A plan is made in one queue and run in another.
static void test_plans(struct test_device *dev, const struct weft_csr *a)
{
    static const enum weft_spmv_algo algos[] = {
        WEFT_SPMV_ALGO_CSR_MERGE, WEFT_SPMV_ALGO_CSR_FLAGS, WEFT_SPMV_ALGO_ELL,      WEFT_SPMV_ALGO_SELL,
        WEFT_SPMV_ALGO_HYB,       WEFT_SPMV_ALGO_COO,       WEFT_SPMV_ALGO_SDIA,     WEFT_SPMV_ALGO_SELL16,
        WEFT_SPMV_ALGO_CSR_FIXED, WEFT_SPMV_ALGO_PANELS,    WEFT_SPMV_ALGO_CSR_HUBS, WEFT_SPMV_ALGO_CSR_NODES};
    float *x = test_alloc((size_t)a->n * 4), *y = test_alloc((size_t)a->m * 4);
    struct test_csr d;
    cl_command_queue other = test_queue(dev, 0);
    if (!other)
        tap_bail("no queue");
    for (int64_t i = 0; i < a->n; i++)
        x[i] = (float)rng_between(&rng, -9, 9);
    test_csr_make(&d, dev, a, a->m, a->n, a->nnz, a->type, a->ofs);
    struct test_buffer bx = test_buffer_make(dev, x, (size_t)a->n * 4),
                       by = test_buffer_make(dev, NULL, (size_t)a->m * 4);
    for (size_t i = 0; i < sizeof algos / sizeof *algos; i++) {
        struct weft_spmv_plan *plan = NULL;
        char why[256] = "";
        test_buffer_poison(dev, &by);
        late_set(1);
        weft_status status =
            weft_spmv_plan_create(&plan, dev->ctx, dev->queue, &d.d,
                                  weft_spmv_params(.policy.algo = algos[i], .format.max_padding = 1e9,
                                                   .policy.mode = algos[i] == WEFT_SPMV_ALGO_CSR_FIXED));
        if (!status)
            status = weft_spmv_run(plan, other, by.mem, 1, bx.mem, 0, 0, NULL, NULL);
        if (!status)
            clEnqueueReadBuffer(other, by.mem, CL_TRUE, 0, (size_t)a->m * 4, y, 0, NULL, NULL);
        late_set(0);
        const struct check_spmv job = {.a = a, .type = WEFT_TYPE_F32, .exact = 1, .alpha = 1, .x = x};
        tap_ok(!status && check_spmv(&job, y, why, sizeof why), "%s: %s, made in one queue and run in another %s%s",
               dev->name, weft_spmv_algo_name(algos[i]), why, status ? test_error(dev) : "");
        weft_spmv_plan_destroy(&plan);
    }
    clReleaseCommandQueue(other);
    test_buffer_free(&bx);
    test_buffer_free(&by);
    test_csr_free(&d);
    free(x);
    free(y);
}

static void test_all(struct test_device *dev)
{
    struct weft_csr a;
    test_matrix_make(&a, &rng, TEST_UNIFORM, 300, 200, 2000, WEFT_TYPE_F32, WEFT_OFS_32);
    for (int64_t p = 0; p < a.nnz; p++)
        ((float *)a.val)[p] = (float)(p % 13 - 6);
    test_permute(dev, &a);
    test_queues(dev, &a);
    test_plans(dev, &a);
    weft_csr_free(&a);
}

int main(void)
{
    rng = rng_start();
    test_device_each(test_all);
    return tap_done();
}
