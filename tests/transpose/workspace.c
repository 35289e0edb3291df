// SPDX-License-Identifier: Apache-2.0
// The workspace of transposition: as told, as reported and as allocated, on every device; and how much scan takes of large shapes.
#include "host/internal/inside.h"
#include "host/internal/tests.h"
#include "tests/support/csr.h"

#include <stdio.h>

static struct rng rng;

struct shape {
    int64_t m, n, nnz;
};

// What the library allocates on the device, seen at the table of OpenCL calls.
static struct weft__cl_table real_cl;
static size_t allocated_bytes;
static int allocations, kernels_created;

static cl_mem CL_API_CALL count_buffer(cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *error)
{
    allocated_bytes += size;
    allocations++;
    return real_cl.clCreateBuffer(context, flags, size, host, error);
}

static cl_kernel CL_API_CALL count_kernel(cl_program program, const char *name, cl_int *error)
{
    kernels_created++;
    return real_cl.clCreateKernel(program, name, error);
}

// The workspace of a plan of scan for a shape that is not made; vendor: whose tuning values, NULL for the device's own.
static void check_large(struct test_device *dev, const struct shape *s, enum weft_type type, const char *vendor)
{
    size_t bytes = SIZE_MAX, value = weft_type_bytes(type);
    const size_t both = 2 * (size_t)s->nnz * (4 + value) + (size_t)(s->m + s->n + 2) * 4;
    const int ok = !weft_transpose_workspace(&bytes, dev->ctx, weft_shape(s->m, s->n, s->nnz, type, WEFT_OFS_32),
                                             weft_transpose_params(.algo = WEFT_TRANSPOSE_ALGO_SCAN)) &&
                   (double)(both + bytes) <= WEFT__HOSTILE(2.2, 4) * (double)both; // small tiles have more counts
    tap_ok(ok, "%s: scan of %lld x %lld, %s%s%s, takes %.2f times the bytes of input and output", dev->name,
           (long long)s->m, (long long)s->n, weft_type_name(type), vendor ? ", as for " : "", vendor ? vendor : "",
           (double)(both + bytes) / (double)both);
}

// The workspace is what is asked for, what is reported and what is allocated; a run allocates nothing; scan keeps to
// 2.2 times the bytes of input and output.
static void test_workspace(struct test_device *dev, enum weft_transpose_algo algo)
{
    static const struct shape shapes[] = {{30, 90, 300}, {300, 5000, 40000}, {70000, 140000, 200000}};
    int ok = 1;
    real_cl = weft__cl;
    for (size_t i = 0; ok && i < (test_sample() ? 1 : sizeof shapes / sizeof *shapes); i++) {
        const struct shape *s = &shapes[i];
        struct weft_csr a;
        struct test_csr from, to;
        struct weft_transpose_plan *op = NULL;
        struct weft_transpose_info info = {0};
        struct weft_transpose_params params = {.algo = algo};
        size_t asked = 0;
        test_matrix_make(&a, &rng, TEST_UNIFORM, s->m, s->n, s->nnz, WEFT_TYPE_F32, WEFT_OFS_32);
        test_csr_make(&from, dev, &a, s->m, s->n, s->nnz, WEFT_TYPE_F32, WEFT_OFS_32);
        test_csr_make(&to, dev, NULL, s->n, s->m, s->nnz, WEFT_TYPE_F32, WEFT_OFS_32);
        // The first plan of its kind tries its programs, in buffers of its own.
        const struct weft_shape shape = weft_shape(s->m, s->n, s->nnz, WEFT_TYPE_F32, WEFT_OFS_32);
        if (weft_transpose_plan_create(&op, dev->ctx, shape, &params))
            tap_bail("%s", test_error(dev));
        weft_transpose_plan_destroy(&op);
        allocated_bytes = 0;
        allocations = 0;
        weft__cl.clCreateBuffer = count_buffer;
        weft__cl.clCreateKernel = count_kernel;
        ok = !weft_transpose_workspace(&asked, dev->ctx, shape, &params) && allocations == 0 &&
             !weft_transpose_plan_create(&op, dev->ctx, shape, &params);
        if (ok) {
            info = *weft_transpose_plan_info(op);
            // A buffer of no bytes takes one.
            ok = asked == info.workspace_bytes && allocated_bytes >= asked &&
                 allocated_bytes - asked <= (size_t)allocations && info.params.algo == algo && info.passes > 0 &&
                 info.why[0] && (info.schedule == WEFT_SCHEDULE_GPU) == dev->gpu;
            allocations = kernels_created = 0;
            ok = ok && !weft_transpose_run(op, dev->queue, &to.d, &from.d, 0, NULL, NULL) && allocations == 0 &&
                 kernels_created == 0;
            clFinish(dev->queue);
        }
        weft__cl = real_cl;
        if (!ok)
            tap_note("%lld x %lld: asked %zu, reported %zu, allocated %zu in %d", (long long)s->m, (long long)s->n,
                     asked, info.workspace_bytes, allocated_bytes, allocations);
        weft_transpose_plan_destroy(&op);
        test_csr_free(&from);
        test_csr_free(&to);
        weft_csr_free(&a);
    }
    tap_ok(ok, "%s: %s, workspace as reported, none in a run", dev->name,
           algo == WEFT_TRANSPOSE_ALGO_SCAN ? "scan" : "merge");
    static const struct shape large[] = {{500000, 500000, 10000000},
                                         {916428, 916428, 5105039},
                                         {1728000, 1728000, 45882712},
                                         {8000000, 8000000, 100000000}};
    // With the tuning values of each vendor.
    static const struct {
        const char *vendor, *name;
        int wave;
    } as[] = {{NULL, NULL, 0},
              {"NVIDIA", "NVIDIA", 32},
              {WEFT__VENDOR_AMD, "AMD, waves of 64", 64},
              {WEFT__VENDOR_AMD, "AMD, waves of 32", 32}};
    struct weft_device_info *const device = &dev->ctx->device, own = *device;
    for (size_t v = 0; algo == WEFT_TRANSPOSE_ALGO_SCAN && v < (dev->gpu ? sizeof as / sizeof *as : 1); v++) {
        if (as[v].vendor) {
            snprintf(device->vendor, sizeof device->vendor, "%s", as[v].vendor);
            device->wave = as[v].wave;
        }
        for (size_t i = 0; i < sizeof large / sizeof *large; i++)
            for (int type = WEFT_TYPE_F32; type <= WEFT_TYPE_PATTERN; type++)
                check_large(dev, &large[i], (enum weft_type)type, as[v].name);
    }
    *device = own;
}

static void each_device(struct test_device *dev)
{
    test_workspace(dev, WEFT_TRANSPOSE_ALGO_SCAN);
    test_workspace(dev, WEFT_TRANSPOSE_ALGO_MERGE);
}

int main(void)
{
    rng = rng_start();
    test_device_each(each_device);
    return tap_done();
}
