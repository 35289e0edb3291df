// SPDX-License-Identifier: Apache-2.0
// Every OpenCL call and every allocation of a whole life of the library (devices, context, compilation, disk cache,
// transposition, plan, conversion; with the argument `spmv` products, with `permute` permuting, with `canonical` sorting and summing) fails once: the answer is the status that the fault
// deserves, with a message, or the right result where the call can be done without; nothing is left alive. The linker
// turns the library's calls of malloc and its kin into the __wrap_ functions here.
#include "tests/support/csr.h"
#include "tests/support/fault.h"
#include "host/internal/tests.h"

#include <dirent.h>
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <weft/canonical.h>
#include <weft/convert.h>
#include <weft/expand.h>
#include <weft/permute.h>
#include <weft/spmv.h>

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
char *__real_strdup(const char *text);
void __real_free(void *old);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
char *__wrap_strdup(const char *text);
void __wrap_free(void *old);

static atomic_int until_failure = -1; // calls that still succeed; negative: all do
static atomic_int live;

static int fails(void)
{
    return atomic_load(&until_failure) >= 0 && atomic_fetch_sub(&until_failure, 1) == 0;
}

static void *counted(void *fresh)
{
    atomic_fetch_add(&live, fresh != NULL);
    return fresh;
}

// What is not yet written, or no longer there, is not zero.
void *__wrap_malloc(size_t bytes)
{
    void *fresh = fails() ? NULL : counted(__real_malloc(bytes));
    if (fresh)
        memset(fresh, 0xa5, bytes);
    return fresh;
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return fails() ? NULL : counted(__real_calloc(count, bytes));
}

void *__wrap_realloc(void *old, size_t bytes)
{
    if (fails())
        return NULL;
    void *fresh = __real_realloc(old, bytes);
    return old ? fresh : counted(fresh);
}

char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : counted(__real_strdup(text));
}

void __wrap_free(void *old)
{
    atomic_fetch_sub(&live, old != NULL);
    if (old)
        memset(old, 0x5a, malloc_usable_size(old));
    __real_free(old);
}

// What the scenario works on: made before anything fails.
static struct rng rng;
static cl_device_id device;
static enum weft_schedule schedule;
static enum weft_transpose_algo algo;
static char cache_dir[64] = "/tmp/weft-fault-XXXXXX";
static struct weft_csr input, output; // output: the transpose of input
static struct weft_csr ordered;       // columns of a row ascend
static struct weft_coo coordinates;   // of input, row by row

// The caller's queue is out of order, so that barriers between kernels are needed, and not part of the faults.
static cl_command_queue queue_make(struct weft_context *ctx)
{
    cl_int error;
    cl_command_queue queue =
        clCreateCommandQueue(weft_context_cl(ctx), device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &error);
    return queue ? queue : clCreateCommandQueue(weft_context_cl(ctx), device, 0, &error);
}

// A host array as a buffer and back, aligned as every schedule wants it: maps where memory is shared, else copies.
static weft_status lend_once(struct weft_context *ctx, cl_command_queue in)
{
    static _Alignas(128) int32_t array[32];
    cl_mem buffer = NULL;
    weft_status status = weft__lend_begin(&buffer, ctx, in, WEFT__LEND_BOTH, array, sizeof array, "the array");
    if (!status)
        status = weft__lend_end(ctx, in, buffer, array, sizeof array);
    weft__buffer_release(&buffer);
    return status;
}

// One life. *right: whether what it computed is right, as far as it came.
static weft_status transpose_life(struct weft_error *err, int *right)
{
    struct weft_context *ctx = NULL;
    struct weft_device_csr a = {0}, at = {0};
    struct weft_transpose_plan *op = NULL;
    struct weft_transpose_refill *plan = NULL;
    struct weft_csr got = {0}, csr = {0}, none = {0}, empty = {.m = 3, .n = 4, .type = WEFT_TYPE_F32};
    int32_t zeros[5] = {0};
    cl_command_queue queue = NULL;
    cl_event done = NULL;
    struct weft_transpose_params params = {.algo = algo};
    *err = (struct weft_error){0};
    *right = 1;
    weft_status status = weft_context_create(
        &ctx, weft_context_params(.device = device, .schedule = schedule, .cache_dir = cache_dir), err);
    if (status) {
        *right = ctx == NULL;
        return status;
    }
    queue = queue_make(ctx);
    status = weft_device_csr_alloc(&a, ctx, weft_csr_shape(&input));
    if (!status)
        status = weft_device_csr_alloc(&at, ctx, weft_shape_transposed(weft_csr_shape(&input)));
    if (!status)
        status = weft_device_csr_write_sync(&a, ctx, queue, &input);
    if (!status)
        status = weft_transpose_plan_create(&op, ctx, weft_csr_shape(&input), &params);
    if (!status)
        status = weft_transpose_run(op, queue, &at, &a, 0, NULL, &done);
    if (!status) { // not in the table: the test waits, not the library
        clWaitForEvents(1, &done);
        weft__cl.clReleaseEvent(done);
        done = NULL;
    }
    if (!status)
        status = weft_csr_alloc(&got, weft_shape_transposed(weft_csr_shape(&input)))
                     ? weft__fail(ctx, WEFT_ENOMEM, "the test itself is out of memory")
                     : WEFT_OK;
    if (!status)
        status = weft_device_csr_read_sync(&got, ctx, queue, &at);
    if (!status)
        *right = weft_csr_equal(&got, &output);
    if (!status)
        status = weft_transpose_refill_create(&plan, ctx, queue, &a, &params);
    if (!status)
        status = weft_transpose_refill_run(plan, queue, at.val, a.val, input.type, 0, NULL, &done);
    if (!status) {
        clWaitForEvents(1, &done);
        weft__cl.clReleaseEvent(done);
        memset(got.val, 0xff, (size_t)got.nnz * 4);
        status = weft__copy_out(ctx, queue, got.val, at.val, (size_t)got.nnz * 4);
        *right = *right && (status || weft_csr_equal(&got, &output));
    }
    if (!status)
        status = lend_once(ctx, queue);
    if (!status)
        status = weft_coo_to_csr_sync(&csr, ctx, &coordinates, input.ofs, &params);
    *right = *right && (status || weft_csr_equal(&csr, &input));
    empty.row_ptr = zeros;
    if (!status)
        status = weft_transpose_sync(&none, ctx, &empty, &params);
    *right = *right && (status || (none.m == 4 && none.row_ptr && !memcmp(none.row_ptr, zeros, sizeof zeros)));
    if (status) {
        weft_context_error(err, ctx);
        *right = *right && err->status == status;
    }
    clFinish(queue);
    weft_csr_free(&got);
    weft_csr_free(&csr);
    weft_csr_free(&none);
    weft_transpose_plan_destroy(&op);
    weft_transpose_refill_destroy(&plan);
    weft_device_csr_free(&a);
    weft_device_csr_free(&at);
    clReleaseCommandQueue(queue);
    weft_context_destroy(&ctx);
    return status;
}

// What a life with products makes: a plan, a run, new values, a run.
static struct spmv_case {
    const char *name;
    int ordered; // nonzero: the matrix whose columns ascend
    struct weft_spmv_params params;
} spmv_cases[] = {
    {"csr_merge", 0, {.policy.algo = WEFT_SPMV_ALGO_CSR_MERGE}},
    {"csr_flags", 0, {.policy.algo = WEFT_SPMV_ALGO_CSR_FLAGS}},
    {"sell", 0, {.policy.algo = WEFT_SPMV_ALGO_SELL, .format.max_padding = 100}},
    {"sell16", 0, {.policy.algo = WEFT_SPMV_ALGO_SELL16, .format.max_padding = 100}},
    {"sdia", 1, {.policy.algo = WEFT_SPMV_ALGO_SDIA, .format.max_padding = 100}},
    {"sell for sdia", 0, {.policy.algo = WEFT_SPMV_ALGO_SDIA, .format.max_padding = 100}},
    {"hyb", 0, {.policy.algo = WEFT_SPMV_ALGO_HYB, .format.max_padding = 100}},
    {"hyb, rest on the host", 0, {.policy.algo = WEFT_SPMV_ALGO_HYB, .format.max_padding = 100, .format.host_rest = 1}},
    {"coo, transposed", 0, {.policy.algo = WEFT_SPMV_ALGO_COO, .problem.transpose = WEFT_SPMV_TRANSPOSE_BY_COPY}},
    {"A^T by atomics", 0, {.problem.transpose = WEFT_SPMV_TRANSPOSE_BY_ATOMICS}},
    {"csr_fixed", 0, {.policy.mode = WEFT_SPMV_MODE_REPRODUCIBLE}},
    {"measured", 0, {.policy.algo = WEFT_SPMV_ALGO_CSR_LANES, .gpu.lanes = 4, .cpu.lanes = 4, .policy.tune = 1}},
};
static struct spmv_case *spmv_case;

// y = times*A*ones, for the integers of `input` or of its transpose.
static int product_right(const struct weft_csr *a, const int32_t *y, uint32_t times)
{
    for (int64_t i = 0; i < a->m; i++) {
        uint32_t sum = 0;
        for (int64_t p = weft_csr_ofs(a, i); p < weft_csr_ofs(a, i + 1); p++)
            sum += ((const uint32_t *)a->val)[p];
        if ((uint32_t)y[i] != times * sum)
            return 0;
    }
    return 1;
}

static weft_status spmv_life(struct weft_error *err, int *right)
{
    struct weft_context *ctx = NULL;
    struct weft_device_csr a = {0};
    struct weft_spmv_plan *plan = NULL;
    cl_command_queue queue = NULL;
    cl_mem x = NULL, y = NULL;
    int32_t ones[60], got[60];
    const int turned = spmv_case->params.problem.transpose != WEFT_SPMV_TRANSPOSE_PLAIN;
    const struct weft_csr *from = spmv_case->ordered ? &ordered : &input, *what = turned ? &output : from;
    for (int i = 0; i < 60; i++)
        ones[i] = 1;
    *err = (struct weft_error){0};
    *right = 1;
    weft_status status = weft_context_create(
        &ctx, weft_context_params(.device = device, .schedule = schedule, .cache_dir = cache_dir), err);
    if (status) {
        *right = ctx == NULL;
        return status;
    }
    queue = queue_make(ctx);
    status = weft_device_csr_alloc(&a, ctx, weft_csr_shape(from));
    if (!status)
        status = weft_device_csr_write_sync(&a, ctx, queue, from);
    if (!status)
        status = weft__buffer_create(&x, ctx, sizeof ones, "x");
    if (!status)
        status = weft__buffer_create(&y, ctx, sizeof got, "y");
    if (!status)
        status = weft__copy_in(ctx, queue, x, ones, sizeof ones);
    if (!status)
        status = weft_spmv_plan_create(&plan, ctx, queue, &a, &spmv_case->params);
    for (int round = 0; round < 2 && !status; round++) {
        cl_event done = NULL;
        status = weft_spmv_run(plan, queue, y, 2, x, round, 0, NULL, &done);
        if (!status)
            clWaitForEvents(1, &done);
        if (done)
            weft__cl.clReleaseEvent(done);
        if (!status)
            status = weft__copy_out(ctx, queue, got, y, sizeof got);
        *right = *right && (status || product_right(what, got, round ? 4 : 2));
        if (!status && round == 0)
            status = weft_spmv_plan_refill(plan, queue, &a);
    }
    if (status) {
        weft_context_error(err, ctx);
        *right = *right && err->status == status;
    }
    clFinish(queue);
    weft_spmv_plan_destroy(&plan);
    weft__buffer_release(&x);
    weft__buffer_release(&y);
    weft_device_csr_free(&a);
    clReleaseCommandQueue(queue);
    weft_context_destroy(&ctx);
    return status;
}

// A matrix whose rows and columns move, and a vector.
static struct weft_permutation permutation;
static struct weft_csr permuted;

static weft_status permute_life(struct weft_error *err, int *right)
{
    struct weft_context *ctx = NULL;
    struct weft_permute_plan *plan = NULL;
    struct weft_csr got = {0};
    cl_command_queue queue = NULL;
    cl_mem in = NULL, out = NULL;
    cl_event done = NULL;
    int32_t vector[60];
    int32_t row[300] = {0};
    *err = (struct weft_error){0};
    *right = 1;
    weft_status status = weft_context_create(
        &ctx, weft_context_params(.device = device, .schedule = schedule, .cache_dir = cache_dir), err);
    if (status) {
        *right = ctx == NULL;
        return status;
    }
    queue = queue_make(ctx);
    status = weft_permute_sync(&got, ctx, &input, &permutation, NULL);
    *right = status ? !got.row_ptr : weft_csr_equal(&got, &permuted);
    if (!status)
        status = lend_once(ctx, queue);
    if (!status) { // a primitive with arrays of the host
        status = weft_expand_sync(row, ctx, input.row_ptr, input.m, input.nnz, input.ofs, NULL);
        *right = *right && (status || !memcmp(row, coordinates.row, sizeof row));
    }
    if (!status)
        status = weft_permute_plan_create(&plan, ctx, weft_csr_shape(&input), &permutation, NULL);
    if (!status)
        status = weft__buffer_create(&in, ctx, sizeof vector, "in");
    if (!status)
        status = weft__buffer_create(&out, ctx, sizeof vector, "out");
    if (!status)
        status = weft__copy_in(ctx, queue, in, permutation.col, sizeof vector);
    if (!status)
        status =
            weft_permute_vector_run(plan, queue, out, in, WEFT_PERMUTE_SIDE_COLS, 1, WEFT_TYPE_I32, 0, NULL, &done);
    if (!status)
        clWaitForEvents(1, &done);
    if (done)
        weft__cl.clReleaseEvent(done);
    if (!status)
        status = weft__copy_out(ctx, queue, vector, out, sizeof vector);
    for (int j = 0; j < 60 && !status; j++) // the map itself, brought back
        *right = *right && vector[j] == j;
    if (status) {
        weft_context_error(err, ctx);
        *right = *right && err->status == status;
    }
    clFinish(queue);
    weft_csr_free(&got);
    weft_permute_plan_destroy(&plan);
    weft__buffer_release(&in);
    weft__buffer_release(&out);
    clReleaseCommandQueue(queue);
    weft_context_destroy(&ctx);
    return status;
}

// A matrix whose rows are sorted and summed, twice; the second time in place and already in order.
static struct weft_csr canonical;

static weft_status canonical_life(struct weft_error *err, int *right)
{
    struct weft_context *ctx = NULL;
    struct weft_canonical_plan *plan = NULL;
    struct weft_csr got = {0};
    struct weft_device_csr a = {0}, b = {0};
    cl_command_queue queue = NULL;
    int64_t nnz = 0;
    *err = (struct weft_error){0};
    *right = 1;
    weft_status status = weft_context_create(
        &ctx, weft_context_params(.device = device, .schedule = schedule, .cache_dir = cache_dir), err);
    if (status) {
        *right = ctx == NULL;
        return status;
    }
    queue = queue_make(ctx);
    status = weft_canonical_sync(&got, ctx, &input, NULL);
    *right = status ? !got.row_ptr : weft_csr_equal(&got, &canonical);
    if (!status)
        status = weft_device_csr_alloc(&a, ctx, weft_csr_shape(&canonical));
    if (!status)
        status = weft_device_csr_alloc(&b, ctx, weft_csr_shape(&canonical));
    if (!status)
        status = weft_device_csr_write_sync(&a, ctx, queue, &canonical);
    if (!status)
        status = weft_canonical_plan_create(&plan, ctx, weft_csr_shape(&canonical), NULL);
    if (!status)
        status = weft_canonical_run(plan, queue, &b, &a, 0, NULL, NULL);
    if (!status)
        status = weft_canonical_nnz_sync(&nnz, ctx, queue, &b);
    *right = *right && (status || nnz == canonical.nnz);
    if (!status)
        status = weft_validate_sync(ctx, queue, &b, WEFT_COLUMNS_UNIQUE);
    if (!status)
        status = weft_device_csr_rebase_sync(&b, ctx, queue, 0, 1);
    if (!status)
        status = weft_device_csr_rebase_sync(&b, ctx, queue, 1, 0);
    if (!status)
        status = weft_device_csr_read_sync(&got, ctx, queue, &b);
    *right = *right && (status || weft_csr_equal(&got, &canonical));
    if (status) {
        weft_context_error(err, ctx);
        *right = *right && err->status == status;
    }
    clFinish(queue);
    weft_csr_free(&got);
    weft_canonical_plan_destroy(&plan);
    weft_device_csr_free(&a);
    weft_device_csr_free(&b);
    clReleaseCommandQueue(queue);
    weft_context_destroy(&ctx);
    return status;
}

static weft_status (*life)(struct weft_error *err, int *right) = transpose_life;

// Statuses that a fault may end in; WEFT_OK where the library can do without the call.
static int allowed(enum fault_call call, weft_status status)
{
    switch (call) {
    case FAULT_clBuildProgram: // the first is that of a cached binary, which is then compiled
        return status == WEFT_OK || status == WEFT_EBUILD;
    case FAULT_clCreateProgramWithBinary:
    case FAULT_clGetPlatformInfo:
    case FAULT_clGetProgramInfo:
    case FAULT_clGetProgramBuildInfo:
        return status == WEFT_OK;
    case FAULT_clCreateBuffer:
    case FAULT_clEnqueueWriteBuffer:
    case FAULT_clCreateProgramWithSource:
    case FAULT_clEnqueueBarrierWithWaitList:
    case FAULT_clEnqueueCopyBuffer:
    case FAULT_clEnqueueMarkerWithWaitList:
    case FAULT_clEnqueueNDRangeKernel:
    case FAULT_clSetEventCallback:
    case FAULT_clFlush:
        return status == WEFT_EDEVMEM;
    case FAULT_clCreateCommandQueue:
    case FAULT_clCreateKernel:
    case FAULT_clCreateUserEvent:
    case FAULT_clEnqueueReadBuffer:
        return status == WEFT_ENOMEM;
    case FAULT_clGetPlatformIDs:
        return status == WEFT_ENODEV;
    case FAULT_clGetDeviceIDs: // a platform that fails is listed, and does not hide the others
        return status == WEFT_OK || status == WEFT_ENODEV;
    case FAULT_clGetDeviceInfo: // what is not known is taken for not there, or for zero
        return status == WEFT_OK || status == WEFT_ENODEV || status == WEFT_ERANGE || status == WEFT_EINVAL;
    case FAULT_clReleaseCommandQueue: // nobody can do anything about these
    case FAULT_clReleaseContext:
    case FAULT_clReleaseEvent:
    case FAULT_clReleaseKernel:
    case FAULT_clReleaseMemObject:
    case FAULT_clReleaseProgram:
        return status == WEFT_OK;
    case FAULT_clFinish: // of a queue that is given up: nothing is lost
        return status == WEFT_OK || status == WEFT_EDEVMEM;
    case FAULT_clGetKernelWorkGroupInfo: // the kernel's limit is then the device's
    case FAULT_clGetEventProfilingInfo:
    case FAULT_clRetainEvent:
    case FAULT_clWaitForEvents:
    case FAULT_clSetUserEventStatus:
        return status == WEFT_OK || status == WEFT_EDEVICE;
    default:
        return status == WEFT_EDEVICE;
    }
}

static void cache_clear(void)
{
    DIR *dir = opendir(cache_dir);
    char path[400];
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (entry->d_name[0] != '.') {
            snprintf(path, sizeof path, "%s/%s", cache_dir, entry->d_name);
            unlink(path);
        }
    if (dir)
        closedir(dir);
}

// What is alive: the test's own device has a context of its own.
struct alive {
    int allocations, objects;
};

static struct alive alive_now(void)
{
    return (struct alive){atomic_load(&live), fault_live()};
}

static int good(const char *what, int n, weft_status status, const struct weft_error *err, int right, int is_allowed,
                struct alive before)
{
    int left = atomic_load(&live) - before.allocations, objects = fault_live() - before.objects;
    int clean = !objects && !left;
    int told = !status || err->text[0];
    if (!clean || !told || !right || !is_allowed)
        tap_note("%s number %d: status %d (%s), %s, %d OpenCL objects and %d allocations left", what, n, (int)status,
                 err->text, right ? "right" : "wrong", objects, left);
    return clean && told && right && is_allowed;
}

// `cold`: with an empty cache each time, so that programs are compiled and stored.
// The next one to fail after the nth: each of the first ones, and in a sample every tenth of the others.
static int next_failure(int n)
{
    return n + (test_sample() && n >= 9 ? 10 : 1);
}

static void test_call(enum fault_call call, int cold, const char *where)
{
    struct weft_error err;
    struct alive before = alive_now();
    int n = 1, ok = 1, hit = 1, failed = 0, right;
    for (; ok && hit && n < 100000; n = next_failure(n)) {
        if (cold)
            cache_clear();
        fault_set(call, n);
        weft_status status = life(&err, &right);
        hit = fault_hit();
        failed += hit;
        ok = good(fault_name(call), n, status, &err, right, hit ? allowed(call, status) : !status, before);
    }
    fault_set(call, 0);
    const weft_status next = life(&err, &right);
    ok = good("the call after", n, next, &err, right, !next, before) && ok;
    tap_ok(ok && failed, "%s: %s failed %d times%s", where, fault_name(call), failed, cold ? ", empty cache" : "");
}

static void test_memory(const char *where)
{
    struct weft_error err;
    struct alive before = alive_now();
    int n = 0, ok = 1, hit = 1, failed = 0, right;
    for (; ok && hit && n < 100000; n = next_failure(n)) {
        atomic_store(&until_failure, n);
        weft_status status = life(&err, &right);
        hit = atomic_load(&until_failure) < 0;
        failed += hit;
        atomic_store(&until_failure, -1);
        // The cache can do without memory, and a device without extensions is one that cannot be used.
        ok = good("allocation", n, status, &err, right,
                  !status || (hit && (status == WEFT_ENOMEM || status == WEFT_ENODEV)), before);
    }
    tap_ok(ok && failed > 9, "%s: %d allocations failed", where, failed);
}

// Calls whose failure no algorithm sees: finding platforms and devices comes before, storing a program cannot fail. They
// are tried with the algorithm of fewer programs alone.
static int is_common(enum fault_call call)
{
    return call == FAULT_clGetPlatformIDs || call == FAULT_clGetPlatformInfo || call == FAULT_clGetDeviceIDs ||
           call == FAULT_clGetProgramInfo;
}

// Each call of the life fails once, or those alone that the kind of life matters for; with `compiling` also on the way
// to a compiled program.
static void test_life(const char *where, int common, int compiling)
{
    struct weft_error err;
    int right, calls[FAULT_COUNT];
    fault_set(FAULT_clFlush, 0);
    struct alive before = alive_now();
    life(&err, &right); // fills the cache
    fault_set(FAULT_clFlush, 0);
    weft_status status = life(&err, &right);
    if (!tap_ok(good("no fault", 0, status, &err, right, !status, before), "%s: without faults", where))
        return;
    for (int call = 0; call < FAULT_COUNT; call++)
        calls[call] = fault_calls((enum fault_call)call);
    for (int call = 0; call < FAULT_COUNT; call++)
        if (calls[call] && (common || !is_common((enum fault_call)call)))
            test_call((enum fault_call)call, 0, where);
    static const enum fault_call making[] = {FAULT_clBuildProgram, FAULT_clCreateProgramWithSource,
                                             FAULT_clGetProgramInfo};
    for (size_t i = 0; compiling && i < sizeof making / sizeof *making; i++)
        if (common || !is_common(making[i]))
            test_call(making[i], 1, where);
    test_memory(where);
}

static void test_device(struct test_device *dev)
{
    char where[300];
    fault_install(); // here, since the table is another one for each device and schedule
    device = weft_context_device(dev->ctx)->id;
    schedule = weft_context_schedule(dev->ctx);
    for (algo = WEFT_TRANSPOSE_ALGO_SCAN; life == transpose_life && algo <= WEFT_TRANSPOSE_ALGO_MERGE; algo++) {
        snprintf(where, sizeof where, "%s, %s", dev->name, algo == WEFT_TRANSPOSE_ALGO_SCAN ? "scan" : "merge");
        test_life(where, algo == WEFT_TRANSPOSE_ALGO_MERGE, 1);
    }
    for (size_t i = 0; life == spmv_life && i < sizeof spmv_cases / sizeof *spmv_cases; i++) {
        if (test_sample() &&
            (i + (size_t)(schedule == WEFT_SCHEDULE_CPU)) % 2) // a sample: every other one on each schedule
            continue;
        spmv_case = &spmv_cases[i];
        snprintf(where, sizeof where, "%s, %s", dev->name, spmv_case->name);
        test_life(where, 0, 0);
    }
    if (life == permute_life || life == canonical_life)
        test_life(dev->name, 0, 0);
    fault_remove();
}

int main(int argc, char **argv)
{
    struct weft_error err;
    if (argc > 1 && !strcmp(argv[1], "spmv"))
        life = spmv_life;
    if (argc > 1 && !strcmp(argv[1], "permute"))
        life = permute_life;
    if (argc > 1 && !strcmp(argv[1], "canonical"))
        life = canonical_life;
    rng = rng_start();
    if (!mkdtemp(cache_dir))
        tap_bail("%s: %s", cache_dir, strerror(errno));
    const enum weft_type type = life == spmv_life ? WEFT_TYPE_I32 : WEFT_TYPE_F32;
    test_matrix_make(&input, &rng, TEST_SKEWED, 50, 60, 300, type, WEFT_OFS_32);
    if (weft_coo_alloc(&coordinates, weft_shape(.m = 50, .n = 60, .nnz = 300, .type = type)) ||
        weft_csr_alloc(&ordered, weft_shape(50, 60, 300, type, WEFT_OFS_32)))
        tap_bail("out of host memory");
    memcpy(ordered.val, input.val, 1200);
    for (int32_t p = 0; p < 300; p++)
        ordered.col[p] = p / 6 % 7 + p % 6 * 9;
    for (int32_t i = 0; i <= 50; i++)
        ((int32_t *)ordered.row_ptr)[i] = i * 6;
    for (int64_t i = 0; i < input.m; i++)
        for (int64_t p = weft_csr_ofs(&input, i); p < weft_csr_ofs(&input, i + 1); p++)
            coordinates.row[p] = (int32_t)i;
    memcpy(coordinates.col, input.col, 1200);
    memcpy(coordinates.val, input.val, 1200);
    struct weft_coo turned = {60, 50, 300, type, coordinates.col, coordinates.row, coordinates.val};
    if (weft_csr_from_coo(&output, &turned, WEFT_OFS_32, &err)) // stable: the transpose
        tap_bail("%s", err.text);
    if (weft_permutation_alloc(&permutation, WEFT_ORDER_ROW_COL, &input, 7, &err) ||
        weft_csr_permute(&permuted, &input, &permutation, NULL, &err) || weft__ref_canonical(&canonical, &input, 0))
        tap_bail("%s", err.text);
    test_device_each(test_device);
    weft_permutation_free(&permutation);
    weft_csr_free(&permuted);
    weft_csr_free(&canonical);
    weft_csr_free(&input);
    weft_csr_free(&ordered);
    weft_csr_free(&output);
    weft_coo_free(&coordinates);
    cache_clear();
    rmdir(cache_dir);
    return tap_done();
}
