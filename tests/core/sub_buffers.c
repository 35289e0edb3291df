// SPDX-License-Identifier: Apache-2.0
// Arrays at offsets of one cl_mem, as sub-buffers at the base alignment of the device: transposition, SpMV, scan.
#include "host/internal/tests.h"
#include "tests/support/device.h"

#include <stdlib.h>
#include <string.h>
#include <weft/generate.h>
#include <weft/weft.h>

enum { M = 70, N = 90, NNZ = 800, PARTS = 10 };

// One cl_mem, cut from its begin on.
struct whole {
    struct test_device *dev;
    cl_mem all, parts[PARTS];
    size_t align, used, room;
    int count;
};

static cl_mem part(struct whole *w, size_t bytes)
{
    cl_int error;
    const cl_buffer_region region = {w->used, bytes};
    w->used = (w->used + bytes + w->align - 1) / w->align * w->align;
    if (w->count == PARTS || w->used > w->room)
        tap_bail("the buffer is too small");
    cl_mem out = clCreateSubBuffer(w->all, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    if (error != CL_SUCCESS)
        tap_bail("clCreateSubBuffer: %d", error);
    return w->parts[w->count++] = out;
}

static struct weft_device_csr matrix(struct whole *w, struct weft_shape s)
{
    struct weft_device_csr out = {.m = s.m, .n = s.n, .nnz = s.nnz, .type = s.type, .ofs = s.ofs};
    out.row_ptr = part(w, ((size_t)s.m + 1) * weft_ofs_bytes(s.ofs));
    out.col = part(w, (size_t)s.nnz * 4);
    out.val = part(w, (size_t)s.nnz * weft_type_bytes(s.type));
    return out;
}

static void test_transpose(struct whole *w, const struct weft_csr *a, const struct weft_device_csr *from)
{
    struct test_device *dev = w->dev;
    const struct weft_shape turned = weft_shape_transposed(weft_csr_shape(a));
    struct weft_device_csr to = matrix(w, turned);
    struct weft_csr want, got, again;
    struct weft_transpose_plan *plan = NULL;
    if (weft__ref_transpose(&want, a) || weft_csr_alloc(&got, turned) || weft_csr_alloc(&again, weft_csr_shape(a)))
        tap_bail("out of host memory");
    const int ok = !weft_transpose_plan_create(&plan, dev->ctx, weft_csr_shape(a), NULL) &&
                   !weft_transpose_run(plan, dev->queue, &to, from, 0, NULL, NULL) &&
                   !weft_device_csr_read_sync(&got, dev->ctx, dev->queue, &to) &&
                   !weft_device_csr_read_sync(&again, dev->ctx, dev->queue, from);
    tap_ok(ok && weft_csr_equal(&got, &want) && weft_csr_equal(&again, a), "%s: transposition within one buffer: %s",
           dev->name, ok ? "" : test_error(dev));
    weft_transpose_plan_destroy(&plan);
    weft_csr_free(&want);
    weft_csr_free(&got);
    weft_csr_free(&again);
}

static void test_spmv(struct whole *w, const struct weft_csr *a, const struct weft_device_csr *from)
{
    struct test_device *dev = w->dev;
    float x[N], want[M] = {0}, got[M];
    cl_mem on_x = part(w, sizeof x), on_y = part(w, sizeof got);
    for (int i = 0; i < N; i++)
        x[i] = (float)(i % 7 - 3);
    weft__ref_spmv(a, WEFT_TYPE_F32, 1, x, 0, want); // whole numbers: exact in any order
    struct weft_spmv_plan *plan = NULL;
    const int ok = !weft_spmv_plan_create(&plan, dev->ctx, dev->queue, from, NULL) &&
                   !clEnqueueWriteBuffer(dev->queue, on_x, CL_TRUE, 0, sizeof x, x, 0, NULL, NULL) &&
                   !weft_spmv_run(plan, dev->queue, on_y, 1, on_x, 0, 0, NULL, NULL) &&
                   !clEnqueueReadBuffer(dev->queue, on_y, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL);
    tap_ok(ok && !memcmp(got, want, sizeof got), "%s: SpMV within one buffer: %s", dev->name,
           ok ? "" : test_error(dev));
    weft_spmv_plan_destroy(&plan);
}

static void test_scan(struct whole *w)
{
    struct test_device *dev = w->dev;
    int32_t in[NNZ], want[NNZ], got[NNZ];
    cl_mem from = part(w, sizeof in), to = part(w, sizeof got);
    for (int i = 0; i < NNZ; i++)
        in[i] = i * i % 101 - 50;
    weft__ref_scan(want, in, NNZ, WEFT_SCAN_TYPE_I32, 0, 0);
    struct weft_scan_plan *plan = NULL;
    const int ok = !weft_scan_plan_create(&plan, dev->ctx, WEFT_SCAN_TYPE_I32, NNZ, NULL) &&
                   !clEnqueueWriteBuffer(dev->queue, from, CL_TRUE, 0, sizeof in, in, 0, NULL, NULL) &&
                   !weft_scan_run(plan, dev->queue, to, from, NNZ, 0, NULL, NULL) &&
                   !clEnqueueReadBuffer(dev->queue, to, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL);
    tap_ok(ok && !memcmp(got, want, sizeof got), "%s: scan within one buffer: %s", dev->name,
           ok ? "" : test_error(dev));
    weft_scan_plan_destroy(&plan);
}

static void each_device(struct test_device *dev)
{
    struct weft_csr a;
    struct weft_error err;
    cl_uint bits = 0;
    if (dev->checker) { // it reports each value that was written to a sub-buffer
        tap_skip("%s: it does not know what is initialised in sub-buffers", dev->name);
        return;
    }
    cl_int error =
        clGetDeviceInfo(weft_context_device(dev->ctx)->id, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, NULL);
    if (error != CL_SUCCESS || bits < 8)
        tap_bail("%s: CL_DEVICE_MEM_BASE_ADDR_ALIGN: %d, %u bits", dev->name, error, bits);
    if (weft_generate(&a, "uniform:70,90,800", weft_generate_params(.integers = true), &err))
        tap_bail("%s", err.text);
    struct whole w = {.dev = dev, .align = bits / 8, .room = 65536 + PARTS * (size_t)bits / 8};
    char *poison = test_alloc(w.room);
    test_poison(poison, w.room);
    w.all = clCreateBuffer(weft_context_cl(dev->ctx), CL_MEM_COPY_HOST_PTR, w.room, poison, &error);
    if (error != CL_SUCCESS)
        tap_bail("clCreateBuffer: %d", error);
    part(&w, 1); // nothing begins where the whole does
    struct weft_device_csr from = matrix(&w, weft_csr_shape(&a));
    if (weft_device_csr_write_sync(&from, dev->ctx, dev->queue, &a))
        tap_bail("%s", test_error(dev));
    test_transpose(&w, &a, &from);
    w.count -= 3; // its result makes room
    for (int i = 0; i < 3; i++)
        clReleaseMemObject(w.parts[w.count + i]);
    test_spmv(&w, &a, &from);
    w.count -= 2;
    for (int i = 0; i < 2; i++)
        clReleaseMemObject(w.parts[w.count + i]);
    test_scan(&w);
    error = clEnqueueReadBuffer(dev->queue, w.all, CL_TRUE, 0, w.room, poison, 0, NULL, NULL);
    tap_ok(error == CL_SUCCESS && test_poisoned(poison, 1) && test_poisoned(poison + w.used, w.room - w.used),
           "%s: nothing is written in front of the arrays or behind them", dev->name);
    while (w.count)
        clReleaseMemObject(w.parts[--w.count]);
    clReleaseMemObject(w.all);
    free(poison);
    weft_csr_free(&a);
}

int main(void)
{
    test_device_each(each_device);
    return tap_done();
}
