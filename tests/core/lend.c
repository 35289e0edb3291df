// SPDX-License-Identifier: Apache-2.0
// Functions that block use the caller's arrays where they are, on devices that share the host's memory: results are equal at
// any alignment, input that cannot be written stays, nothing is copied, and y may lie in what is read.
#include "host/internal/inside.h"
#include "tests/support/problem.h"
#include "tests/support/csr.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static struct rng rng;
static struct weft__cl_table real;
static int copies, shared, maps;

static cl_int CL_API_CALL seen_write(cl_command_queue q, cl_mem b, cl_bool k, size_t o, size_t s, const void *h,
                                     cl_uint n, const cl_event *w, cl_event *event)
{
    copies++;
    return real.clEnqueueWriteBuffer(q, b, k, o, s, h, n, w, event);
}

static cl_int CL_API_CALL seen_read(cl_command_queue q, cl_mem b, cl_bool k, size_t o, size_t s, void *h, cl_uint n,
                                    const cl_event *w, cl_event *event)
{
    copies++;
    return real.clEnqueueReadBuffer(q, b, k, o, s, h, n, w, event);
}

static cl_mem CL_API_CALL seen_create(cl_context c, cl_mem_flags f, size_t s, void *h, cl_int *error)
{
    shared += (f & CL_MEM_USE_HOST_PTR) != 0;
    return real.clCreateBuffer(c, f, s, h, error);
}

// A driver with rules of its own for host memory.
static cl_mem CL_API_CALL refuse_create(cl_context c, cl_mem_flags f, size_t s, void *h, cl_int *error)
{
    if (!(f & CL_MEM_USE_HOST_PTR))
        return real.clCreateBuffer(c, f, s, h, error);
    *error = CL_INVALID_HOST_PTR;
    return NULL;
}

static void *CL_API_CALL seen_map(cl_command_queue q, cl_mem b, cl_bool k, cl_map_flags f, size_t o, size_t s,
                                  cl_uint n, const cl_event *w, cl_event *event, cl_int *error)
{
    maps++;
    return real.clEnqueueMapBuffer(q, b, k, f, o, s, n, w, event, error);
}

static void look(void)
{
    real = weft__cl;
    copies = shared = maps = 0;
    weft__cl.clEnqueueWriteBuffer = seen_write;
    weft__cl.clEnqueueReadBuffer = seen_read;
    weft__cl.clCreateBuffer = seen_create;
    weft__cl.clEnqueueMapBuffer = seen_map;
}

static void look_away(void)
{
    weft__cl = real;
}

// Pages that hold `bytes` bytes from `offset` on, read only.
struct pages {
    char *first;
    size_t bytes;
    void *at;
};

static struct pages pages_make(const void *data, size_t bytes, size_t offset)
{
    struct pages p = {.bytes = bytes + offset + 1};
    p.first = mmap(NULL, p.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p.first == MAP_FAILED)
        tap_bail("no memory");
    p.at = p.first + offset;
    if (bytes)
        memcpy(p.at, data, bytes);
    mprotect(p.first, p.bytes, PROT_READ);
    return p;
}

static int shares(struct test_device *dev, size_t offset)
{
    return weft_context_device(dev->ctx)->unified && (!dev->gpu || offset % 128 == 0);
}

static void test_transposed(struct test_device *dev, enum weft_type type, enum weft_ofs ofs, size_t offset)
{
    struct weft_csr a, want, got;
    test_matrix_make(&a, &rng, TEST_UNIFORM, 300, 200, 4000, type, ofs);
    struct pages row_ptr = pages_make(a.row_ptr, 301 * weft_ofs_bytes(ofs), offset);
    struct pages col = pages_make(a.col, 4000 * 4, offset);
    struct pages val = pages_make(a.val, 4000 * weft_type_bytes(type), offset);
    struct weft_csr held = a;
    held.row_ptr = row_ptr.at;
    held.col = col.at;
    held.val = a.val ? val.at : NULL;
    if (weft__ref_transpose(&want, &a))
        tap_bail("no memory");
    look();
    const weft_status status = weft_transpose_sync(&got, dev->ctx, &held, NULL);
    const int arrays = type == WEFT_TYPE_PATTERN ? 2 : 3, all = shares(dev, offset);
    look_away();
    tap_ok(!status && weft_csr_equal(&got, &want) && weft_csr_equal(&a, &held),
           "%s: transposition of read-only arrays of %s at %zu bytes: %s", dev->name, weft_type_name(type), offset,
           status ? test_error(dev) : "equal");
    if (all) // malloc gives results that suit the CPU schedule, and may suit the other one
        tap_ok(shared >= (dev->gpu ? arrays : 2 * arrays) && (dev->gpu || (!copies && maps == arrays)),
               "%s: %d arrays are used where they are, %d copies, %d maps", dev->name, shared, copies, maps);
    else
        tap_ok(copies >= arrays, "%s: %d copies where memory is not shared", dev->name, copies);
    weft_csr_free(&got);
    weft_csr_free(&want);
    weft_csr_free(&a);
    munmap(row_ptr.first, row_ptr.bytes);
    munmap(col.first, col.bytes);
    munmap(val.first, val.bytes);
}

// y = 2*A*x + beta*y by the host alone, for integers.
static void expect(int32_t *y, const struct weft_csr *a, const int32_t *x, int32_t beta)
{
    for (int64_t i = 0; i < a->m; i++) {
        int32_t sum = 0;
        for (int64_t p = weft_csr_ofs(a, i); p < weft_csr_ofs(a, i + 1); p++)
            sum += ((const int32_t *)a->val)[p] * x[a->col[p]];
        y[i] = 2 * sum + (beta ? beta * y[i] : 0);
    }
}

static void test_multiplied(struct test_device *dev, size_t offset, int beta, int place)
{
    enum { N = 240 };
    struct test_problem p = test_problem_make(dev, &rng, N, N, 2, 30, WEFT_TYPE_I32, WEFT_OFS_32);
    static const char *const places[] = {"apart", "y is x", "y begins within x", "y is among the values"};
    char memory[3 * N * 4 + 256], *first = memory + (128 - (uintptr_t)memory % 128) % 128 + offset;
    int32_t *x = (int32_t *)(void *)first, want[N], *y = place == 1 ? x : place == 2 ? x + 7 : x + N;
    struct weft_csr held = p.a;
    memcpy(x, p.x, N * 4);
    if (place == 3) { // as many values as there are, and the last of them is where y begins
        y = (int32_t *)p.a.val + p.a.nnz - N;
    } else if (place != 1) {
        memcpy(y, p.y0, N * 4);
    }
    memcpy(want, y, N * 4);
    expect(want, &p.a, x, beta);
    look();
    const weft_status status =
        weft_spmv_sync(y, dev->ctx, 2, &held, x, beta, weft_spmv_params(.policy.algo = WEFT_SPMV_ALGO_CSR));
    look_away();
    tap_ok(!status && !memcmp(y, want, sizeof want), "%s: y = 2*A*x + %d*y at %zu bytes, %s: %s", dev->name, beta,
           offset, places[place], status ? test_error(dev) : "right");
    if (shares(dev, offset) && place == 0)
        tap_ok(maps >= 1 - dev->gpu && shared >= 1, "%s: %d arrays are used where they are", dev->name, shared);
    test_problem_free(&p);
}

static void test_refused(struct test_device *dev)
{
    struct weft_csr a, want, got;
    test_matrix_make(&a, &rng, TEST_SKEWED, 300, 200, 4000, WEFT_TYPE_F64, WEFT_OFS_64);
    if (weft__ref_transpose(&want, &a))
        tap_bail("no memory");
    real = weft__cl;
    weft__cl.clCreateBuffer = refuse_create;
    const weft_status status = weft_transpose_sync(&got, dev->ctx, &a, NULL);
    look_away();
    tap_ok(!status && weft_csr_equal(&got, &want), "%s: arrays are copied where the driver refuses them", dev->name);
    weft_csr_free(&got);
    weft_csr_free(&want);
    weft_csr_free(&a);
}

static void test_device(struct test_device *dev)
{
    static const size_t offsets[] = {0, 4, 8, 64, 128, 4092};
    static const struct {
        enum weft_type type;
        enum weft_ofs ofs;
    } kinds[] = {{WEFT_TYPE_F32, WEFT_OFS_32}, {WEFT_TYPE_F64, WEFT_OFS_64}, {WEFT_TYPE_PATTERN, WEFT_OFS_32}};
    for (size_t o = 0; o < sizeof offsets / sizeof *offsets; o++) {
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            if (kinds[k].ofs == WEFT_OFS_32 || offsets[o] % 8 == 0)
                test_transposed(dev, kinds[k].type, kinds[k].ofs, offsets[o]);
        if (offsets[o] <= 128)
            for (int place = 0; place < 4; place++)
                test_multiplied(dev, offsets[o], place % 2 ? 0 : 3, place);
    }
    test_multiplied(dev, 0, 3, 1);
    test_refused(dev);
}

int main(void)
{
    rng = rng_start();
    test_device_each(test_device);
    return tap_done();
}
