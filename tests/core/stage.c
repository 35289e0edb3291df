// SPDX-License-Identifier: Apache-2.0
// Large copies between host and device go through a ring of pinned slots: every byte arrives at any size, place and number of
// slots and threads, bytes beside them stay, and without pinned memory the driver copies.
#include "host/internal/tests.h"
#include "tests/support/csr.h"
#include "tests/support/fault.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SLOT = 4096, PIECE = 512, SMALL_DEVICE = 400000 };

static struct rng rng;
static int told; // lines of the log

static void tell(void *arg, const char *text)
{
    (void)arg;
    told++;
    tap_note("%s", text);
}

// A context whose copies of a piece or more are staged, on any device.
static struct weft_context *context_make(struct test_device *dev, int slots, int threads)
{
    struct weft_context *ctx = NULL;
    struct weft_error err;
    const struct weft_device_info *info = weft_context_device(dev->ctx);
    if (weft_context_create(&ctx,
                            weft_context_params(.device = info->id, .schedule = weft_context_schedule(dev->ctx),
                                                .lanes = info->lanes, .log = tell),
                            &err))
        tap_bail("%s", err.text);
    ctx->staging.forced = true;
    ctx->staging.slots = slots;
    ctx->staging.threads = threads;
    ctx->staging.slot_bytes = SLOT;
    ctx->staging.piece_bytes = PIECE;
    return ctx;
}

static cl_command_queue queue_make(struct weft_context *ctx, cl_command_queue_properties properties)
{
    cl_int error;
    cl_command_queue queue = clCreateCommandQueue(ctx->cl, ctx->device.id, properties, &error);
    return error ? NULL : queue;
}

static unsigned char *random_bytes(size_t bytes)
{
    unsigned char *out = test_alloc(bytes + 1);
    for (size_t i = 0; i < bytes; i++)
        out[i] = (unsigned char)rng_u64(&rng);
    return out;
}

// There and back: `bytes` bytes of an array that begins `off` bytes behind an aligned address, from byte `first` of a buffer.
static int there_and_back(struct weft_context *ctx, cl_command_queue queue, size_t bytes, size_t off, size_t first)
{
    unsigned char *in = random_bytes(bytes + off + 64), *out = test_alloc(bytes + off + 65);
    cl_mem buffer = NULL;
    int ok = 0;
    memset(out, 0xa5, bytes + off + 65);
    if (!weft__buffer_create(&buffer, ctx, first + bytes, "a test")) {
        const struct weft__copy to = {buffer, first, in + off, bytes}, from = {buffer, first, out + off, bytes};
        ok = !weft__copies_in(ctx, queue, false, &to, 1) && !weft__copies_out(ctx, queue, false, &from, 1);
    }
    ok = ok && (!bytes || !memcmp(in + off, out + off, bytes));
    for (size_t i = 0; i < off; i++)
        ok = ok && out[i] == 0xa5;
    for (size_t i = off + bytes; i < off + bytes + 65; i++)
        ok = ok && out[i] == 0xa5;
    weft__buffer_release(&buffer);
    free(in);
    free(out);
    return ok;
}

static void test_sizes(struct test_device *dev, int slots, int threads, cl_command_queue_properties properties)
{
    static const size_t around[] = {0, 1, PIECE, SLOT, 2 * SLOT, 3 * SLOT, 7 * SLOT, 64 * SLOT};
    struct weft_context *ctx = context_make(dev, slots, threads);
    cl_command_queue queue = queue_make(ctx, properties);
    int count = 0, ok = 1;
    for (size_t s = 0; queue && s < sizeof around / sizeof *around; s++)
        for (int more = -1; more <= 1; more++)
            for (size_t off = 0; off < (test_sample() && s > 3 ? 1 : 2); off++) {
                const size_t bytes = around[s] || more >= 0 ? around[s] + (size_t)more : 0;
                const int right = there_and_back(ctx, queue, bytes, off * 3, off * 20);
                if (!right)
                    tap_note("%zu bytes at %zu are wrong", bytes, off * 3);
                ok = ok && right;
                count++;
            }
    if (queue) {
        tap_ok(ok, "%s: %d copies through %d slots by %d threads, queue %d", dev->name, count, slots, threads,
               (int)properties);
        tap_ok(ctx->staging.stage != NULL, "%s: the ring was made", dev->name);
        clReleaseCommandQueue(queue);
    }
    weft_context_destroy(&ctx);
}

// Arrays of several sizes in one transfer, some of which are too small for it; large enough for several huge pages.
static void test_several(struct test_device *dev)
{
    enum { COUNT = 5 };
    static const size_t bytes[COUNT] = {PIECE - 1, (5 << 20) + 13, 0, 3 * SLOT + 1, (2 << 20) + PIECE};
    struct weft_context *ctx = context_make(dev, 3, 3);
    cl_command_queue queue = queue_make(ctx, 0);
    struct weft__copy in[COUNT], out[COUNT];
    unsigned char *from[COUNT], *to[COUNT];
    cl_mem buffer[COUNT] = {NULL};
    int ok = 1;
    for (int i = 0; i < COUNT; i++) {
        from[i] = random_bytes(bytes[i]);
        to[i] = test_alloc(bytes[i] + 1);
        ok = ok && !weft__buffer_create(&buffer[i], ctx, bytes[i], "a test");
        in[i] = (struct weft__copy){buffer[i], 0, from[i], bytes[i]};
        out[i] = (struct weft__copy){buffer[i], 0, to[i], bytes[i]};
    }
    ok = ok && !weft__copies_in(ctx, queue, true, in, COUNT) && !weft__copies_out(ctx, queue, true, out, COUNT);
    for (int i = 0; i < COUNT; i++) {
        ok = ok && (!bytes[i] || !memcmp(from[i], to[i], bytes[i]));
        weft__buffer_release(&buffer[i]);
        free(from[i]);
        free(to[i]);
    }
    tap_ok(ok, "%s: several arrays in one transfer", dev->name);
    clReleaseCommandQueue(queue);
    weft_context_destroy(&ctx);
}

static void test_matrices(struct test_device *dev)
{
    static const struct {
        enum weft_type type;
        enum weft_ofs ofs;
    } kinds[] = {{WEFT_TYPE_F32, WEFT_OFS_32}, {WEFT_TYPE_F64, WEFT_OFS_64}, {WEFT_TYPE_PATTERN, WEFT_OFS_64}};
    static const int64_t sizes[] = {0, 100, 3000, 40000};
    struct weft_context *ctx = context_make(dev, 3, 3);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            struct weft_csr a, want, got = {0};
            test_matrix_make(&a, &rng, TEST_UNIFORM, 700, 900, sizes[s], kinds[k].type, kinds[k].ofs);
            if (weft__ref_transpose(&want, &a))
                tap_bail("no memory");
            ctx->device.unified = false; // else arrays are lent, not copied
            const weft_status status = weft_transpose_sync(&got, ctx, &a, NULL);
            tap_ok(!status && weft_csr_equal(&got, &want), "%s: transposition of %lld entries of %s", dev->name,
                   (long long)sizes[s], weft_type_name(kinds[k].type));
            weft_csr_free(&got);
            weft_csr_free(&want);
            weft_csr_free(&a);
        }
    weft_context_destroy(&ctx);
}

// y = A*x by the host alone.
static void expect(int32_t *y, const struct weft_csr *a, const int32_t *x)
{
    for (int64_t i = 0; i < a->m; i++) {
        uint32_t sum = 0;
        for (int64_t p = weft_csr_ofs(a, i); p < weft_csr_ofs(a, i + 1); p++)
            sum += ((const uint32_t *)a->val)[p] * (uint32_t)x[a->col[p]];
        y[i] = (int32_t)sum;
    }
}

static int plans(const struct weft_context *ctx)
{
    int count = 0;
    for (int i = 0; i < WEFT__KEPT_PLANS; i++)
        count += ctx->kept.plan[i].at != NULL;
    return count;
}

// Calls that repeat a shape find plan, queue and buffers of the last one, and give right results; nothing grows, and little is
// kept where little is allowed.
static void test_kept(struct test_device *dev, bool allowed)
{
    static const int64_t entries[] = {5000, 5000, 3000, 5000, 5000};
    struct weft_context *ctx = context_make(dev, 3, 2);
    struct weft_csr a, want, got;
    int live[5], ok = 1;
    ctx->device.unified = false;
    if (!allowed)
        ctx->device.global_bytes = SMALL_DEVICE; // arrays and scratch fit, but little of them may be kept
    fault_install();
    const int before = fault_live();
    for (int i = 0; i < 5; i++) {
        test_matrix_make(&a, &rng, TEST_UNIFORM, 400, 300, entries[i], WEFT_TYPE_F32, WEFT_OFS_32);
        if (weft__ref_transpose(&want, &a))
            tap_bail("no memory");
        ok = ok && !weft_transpose_sync(&got, ctx, &a, NULL) && weft_csr_equal(&got, &want);
        live[i] = fault_live();
        weft_csr_free(&got);
        weft_csr_free(&want);
        weft_csr_free(&a);
    }
    tap_ok(ok && live[1] == live[0] && live[4] == live[3], "%s: repeated calls are right, %d to %d objects", dev->name,
           live[0] - before, live[4] - before);
    tap_ok(allowed ? plans(ctx) == 2 && ctx->kept.bytes > 80000 : ctx->kept.bytes <= SMALL_DEVICE / WEFT__KEEP_SHARE,
           "%s: %zu bytes are kept", dev->name, ctx->kept.bytes);
    // A buffer that the device has no memory for takes the place of what is kept.
    cl_mem buffer = NULL;
    fault_set(FAULT_clCreateBuffer, 1);
    const weft_status status = weft__buffer_create(&buffer, ctx, 1234, "a test");
    tap_ok(allowed ? !status && !ctx->kept.bytes && !plans(ctx) : status == WEFT_EDEVMEM || !status,
           "%s: without memory, what is kept goes first", dev->name);
    weft__buffer_release(&buffer);
    weft_context_trim(ctx);
    tap_ok(!ctx->kept.bytes && !ctx->kept.queue && !ctx->staging.stage, "%s: trimmed", dev->name);
    fault_remove();
    weft_context_destroy(&ctx);
}

// Products that repeat a matrix, or its shape alone, find a plan that suits them.
static void test_products(struct test_device *dev)
{
    struct weft_context *ctx = context_make(dev, 3, 2);
    int32_t x[300], y[400], want[400];
    int ok = 1, live[4], kept = 0;
    ctx->device.unified = false;
    for (int j = 0; j < 300; j++)
        x[j] = j % 7 - 3;
    fault_install();
    for (int i = 0; i < 4; i++) {
        struct weft_csr a;
        struct rng same = {.state = i < 2 ? 7 : 8};
        test_matrix_make(&a, &same, i < 3 ? TEST_UNIFORM : TEST_SKEWED, 400, 300, 4000, WEFT_TYPE_I32, WEFT_OFS_32);
        expect(want, &a, x);
        ok = ok && !weft_spmv_sync(y, ctx, 1, &a, x, 0, weft_spmv_params(.policy.algo = WEFT_SPMV_ALGO_CSR_LANES)) &&
             !memcmp(y, want, sizeof y);
        live[i] = fault_live();
        kept += plans(ctx);
        weft_csr_free(&a);
    }
    fault_remove();
    tap_ok(ok && live[1] == live[0] && kept == (dev->gpu ? 8 : 4), "%s: repeated products are right, %d plans kept",
           dev->name, kept);
    weft_context_destroy(&ctx);
}

// The figures that the host counts are those of the device.
static void test_stats(struct test_device *dev)
{
    static const int64_t rows[] = {1, 31, 32, 33, 1000};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct weft_csr a;
        struct weft__spmv_stats host;
        struct weft_device_csr d = {0};
        struct weft_spmv_plan *plan = NULL;
        test_matrix_make(&a, &rng, TEST_SKEWED, rows[i], 300, 50 * rows[i], WEFT_TYPE_F32, WEFT_OFS_64);
        weft__spmv_stats_host(&host, &a);
        const int ok = !weft_device_csr_alloc(&d, dev->ctx, weft_csr_shape(&a)) &&
                       !weft_device_csr_write_sync(&d, dev->ctx, dev->queue, &a) &&
                       !weft_spmv_plan_create(&plan, dev->ctx, dev->queue, &d,
                                              weft_spmv_params(.policy.algo = WEFT_SPMV_ALGO_CSR_LANES));
        tap_ok(ok && !memcmp(&host, &plan->stats, sizeof host), "%s: figures of %lld rows", dev->name,
               (long long)rows[i]);
        weft_spmv_plan_destroy(&plan);
        weft_device_csr_free(&d);
        weft_csr_free(&a);
    }
}

// What a large matrix has wrong is found on the device, and told as the host tells it.
static void test_bad(struct test_device *dev)
{
    enum { M = 400, NNZ = 5000 };
    struct weft_context *ctx = context_make(dev, 3, 2);
    ctx->device.unified = false;
    for (int fault = 0; fault < 5; fault++) {
        struct weft_csr a, got;
        struct weft_error want, tell_of, y_of;
        float x[M] = {0}, y[M];
        test_matrix_make(&a, &rng, TEST_UNIFORM, M, M, NNZ, WEFT_TYPE_F32, WEFT_OFS_32);
        int32_t *const row_ptr = a.row_ptr;
        if (fault == 0)
            row_ptr[0] = 1;
        else if (fault == 1)
            row_ptr[M]--;
        else if (fault == 2)
            row_ptr[M / 2] = NNZ + 1;
        else
            a.col[NNZ / 3] = fault == 3 ? M : -1;
        const weft_status status = weft_csr_validate(&a, &want), there = weft_transpose_sync(&got, ctx, &a, NULL);
        weft_context_error(&tell_of, ctx);
        const weft_status too = weft_spmv_sync(y, ctx, 1, &a, x, 0, NULL);
        weft_context_error(&y_of, ctx);
        tap_ok(status == WEFT_EMATRIX && there == status && too == status && !strcmp(want.text, tell_of.text) &&
                   !strcmp(want.text, y_of.text) && !got.row_ptr,
               "%s: %s", dev->name, tell_of.text);
        weft_csr_free(&a);
    }
    weft_context_destroy(&ctx);
}

// A transposition and an SpMV, staged: *right is 0 where one of them has a wrong result, or no text for its failure.
static weft_status calls_make(struct weft_context *ctx, const struct weft_csr *a, const struct weft_csr *want,
                              int *right)
{
    struct weft_csr got = {0};
    struct weft_error error;
    int32_t x[300], y[400], want_y[400];
    for (int j = 0; j < 300; j++)
        x[j] = j % 7 - 3;
    weft_status status = weft_transpose_sync(&got, ctx, a, NULL);
    *right = status ? !got.row_ptr && !got.col && !got.val : weft_csr_equal(&got, want);
    if (!status)
        status = weft_spmv_sync(y, ctx, 1, a, x, 0, weft_spmv_params(.policy.algo = WEFT_SPMV_ALGO_CSR));
    expect(want_y, a, x);
    *right = *right && (status || !memcmp(y, want_y, sizeof y));
    if (status)
        weft_context_error(&error, ctx);
    *right = *right && (!status || (error.status == status && error.text[0]));
    weft_csr_free(&got);
    return status;
}

// Each OpenCL call fails once: a result is right or there is none, nothing is left, and the next call is right.
static void test_faults(struct test_device *dev)
{
    struct weft_context *ctx = context_make(dev, 2, 3);
    struct weft_csr a, want;
    int right, calls[FAULT_COUNT];
    ctx->device.unified = false;
    test_matrix_make(&a, &rng, TEST_UNIFORM, 400, 300, 4000, WEFT_TYPE_I32, WEFT_OFS_32);
    if (weft__ref_transpose(&want, &a) || calls_make(ctx, &a, &want, &right) || !right)
        tap_bail("without faults: %s", test_error(dev));
    int32_t x[300] = {0}, y[400]; // what takes the place of CSR where there is no memory beside it is compiled by then
    if (weft_spmv_sync(y, ctx, 1, &a, x, 0, weft_spmv_params(.policy.algo = WEFT_SPMV_ALGO_CSR_SCALAR)))
        tap_bail("by rows: %s", test_error(dev));
    weft_context_trim(ctx);
    fault_install();
    const int before = fault_live();
    fault_set(FAULT_clFlush, 0);
    calls_make(ctx, &a, &want, &right);
    for (int call = 0; call < FAULT_COUNT; call++)
        calls[call] = fault_calls((enum fault_call)call);
    weft_context_trim(ctx);
    ctx->log = NULL;
    for (int call = 0; call < FAULT_COUNT; call++) {
        int failed = 0, ok = 1;
        for (int n = 1, hit = calls[call]; hit && ok; n += test_sample() && n > 4 ? 7 : 1) {
            fault_set((enum fault_call)call, n);
            const weft_status status = calls_make(ctx, &a, &want, &right);
            hit = fault_hit();
            failed += hit;
            fault_set((enum fault_call)call, 0);
            ok = right && (hit || !status) && !calls_make(ctx, &a, &want, &right) && right;
            weft_context_trim(ctx);
            ctx->staging.off = 0;
            ok = ok && fault_live() == before;
            if (!ok)
                tap_note("%s number %d: status %d, %d objects left", fault_name((enum fault_call)call), n, (int)status,
                         fault_live() - before);
        }
        if (calls[call])
            tap_ok(ok && failed, "%s: %s failed %d times", dev->name, fault_name((enum fault_call)call), failed);
    }
    fault_remove();
    weft_csr_free(&want);
    weft_csr_free(&a);
    weft_context_destroy(&ctx);
}

// Pinned memory is not to be had at all, or for one slot alone.
static void test_refused(struct test_device *dev)
{
    for (int n = 1; n <= 2; n++) {
        struct weft_context *ctx = context_make(dev, 4, 2);
        cl_command_queue queue = queue_make(ctx, 0);
        fault_install();
        told = 0;
        fault_set(FAULT_clEnqueueMapBuffer, n);
        const int ok = there_and_back(ctx, queue, 9 * SLOT, 0, 0), again = there_and_back(ctx, queue, 9 * SLOT, 0, 0);
        struct weft_error error;
        weft_context_error(&error, ctx);
        tap_ok(ok && again && fault_hit() && told == (n == 1) && !error.status,
               "%s: mapping number %d fails, %d lines of the log", dev->name, n, told);
        fault_remove();
        clReleaseCommandQueue(queue);
        weft_context_destroy(&ctx);
    }
}

// Transfers to the device end when all of it is in slots: later ones take these in turn, and what did not arrive is told to the
// queue it belongs to, once.
static void test_leave(struct test_device *dev)
{
    enum { COUNT = 7, BYTES = 2 * SLOT + 100 };
    struct weft_context *ctx = context_make(dev, 3, 2);
    cl_command_queue queue[2] = {queue_make(ctx, 0), queue_make(ctx, 0)};
    unsigned char *from[COUNT], *to = test_alloc(BYTES);
    cl_mem buffer[COUNT] = {NULL};
    int ok = 1, same = 1;
    for (int i = 0; i < COUNT; i++) {
        from[i] = random_bytes(BYTES);
        const size_t bytes = BYTES - (size_t)(i * 1000);
        ok = ok && !weft__buffer_create(&buffer[i], ctx, BYTES, "a test");
        const struct weft__copy in = {buffer[i], 0, from[i], bytes};
        unsigned char *const kept = test_alloc(BYTES);
        memcpy(kept, from[i], BYTES);
        ok = ok && !weft__copies_in(ctx, queue[i % 2], true, &in, 1);
        memset(from[i], 0, BYTES); // it was read
        free(from[i]);
        from[i] = kept;
    }
    ok = ok && !weft__stage_settle(ctx, queue[0]) && !weft__stage_settle(ctx, queue[1]);
    for (int i = 0; i < COUNT && ok; i++) {
        const size_t bytes = BYTES - (size_t)(i * 1000);
        const struct weft__copy out = {buffer[i], 0, to, bytes};
        ok = !weft__copies_out(ctx, queue[0], true, &out, 1);
        same = same && !memcmp(to, from[i], bytes);
    }
    tap_ok(ok && same, "%s: %d transfers behind each other, through 3 slots", dev->name, COUNT);

    struct weft_error error;
    const struct weft__copy in = {buffer[0], 0, from[0], 2 * SLOT};
    fault_install();
    ok = !weft__copies_in(ctx, queue[0], true, &in, 1);
    fault_set(FAULT_clWaitForEvents, 1);
    weft_status status = weft__stage_settle(ctx, queue[0]);
    weft_context_error(&error, ctx);
    tap_ok(ok && fault_hit() && status == WEFT_EDEVICE && error.status == status && !weft__stage_settle(ctx, queue[0]),
           "%s: a chunk that did not arrive: %s", dev->name, error.text);
    ok = !weft__copies_in(ctx, queue[0], true, &in, 1);
    fault_set(FAULT_clWaitForEvents, 1);
    for (int i = 0; i < 2; i++) // all slots are taken in turn
        ok = ok && !weft__copies_in(ctx, queue[1], true, &in, 1);
    ok = ok && fault_hit() && !weft__stage_settle(ctx, queue[1]);
    status = weft__stage_settle(ctx, queue[0]);
    weft_context_error(&error, ctx);
    tap_ok(ok && status == WEFT_EDEVICE && error.status == status && !weft__stage_settle(ctx, queue[0]),
           "%s: seen by another transfer: %s", dev->name, error.text);
    fault_remove();
    for (int i = 0; i < COUNT; i++) {
        weft__buffer_release(&buffer[i]);
        free(from[i]);
    }
    free(to);
    clReleaseCommandQueue(queue[0]);
    clReleaseCommandQueue(queue[1]);
    weft_context_destroy(&ctx);
}

static void *gate_open(void *gate)
{
    const struct timespec soon = {.tv_nsec = 50 * 1000 * 1000};
    nanosleep(&soon, NULL);
    clSetUserEventStatus(*(cl_event *)gate, CL_COMPLETE);
    return NULL;
}

// Copies in a queue that runs out of order come behind the commands before: a copy on the device that waits for a gate is seen, and is
// not overtaken.
static void test_order(struct test_device *dev, size_t bytes)
{
    struct weft_context *ctx = context_make(dev, 2, 2);
    cl_command_queue queue = queue_make(ctx, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    for (int write = 0; queue && write < 2; write++) {
        unsigned char *first = random_bytes(bytes), *second = random_bytes(bytes), *got = test_alloc(bytes);
        cl_mem from = NULL, to = NULL;
        pthread_t thread;
        cl_int error;
        cl_event gate = clCreateUserEvent(ctx->cl, &error);
        int ok = !error && !weft__buffer_create(&from, ctx, bytes, "a test") &&
                 !weft__buffer_create(&to, ctx, bytes, "a test") &&
                 !weft_device_write_sync(from, ctx, queue, first, bytes) &&
                 !weft_device_write_sync(to, ctx, queue, second, bytes) &&
                 !clEnqueueCopyBuffer(queue, from, to, 0, 0, bytes, 1, &gate, NULL) && !clFlush(queue);
        if (pthread_create(&thread, NULL, gate_open, &gate))
            tap_bail("no thread");
        ok = ok && (!write || !weft_device_write_sync(from, ctx, queue, second, bytes)) &&
             !weft_device_read_sync(got, ctx, queue, to, bytes);
        pthread_join(thread, NULL);
        clFinish(queue);
        tap_ok(ok && !memcmp(got, first, bytes), "%s: %s %zu bytes behind a command of the same queue", dev->name,
               write ? "write and read" : "read", bytes);
        clReleaseEvent(gate);
        weft__buffer_release(&from);
        weft__buffer_release(&to);
        free(first);
        free(second);
        free(got);
    }
    if (queue)
        clReleaseCommandQueue(queue);
    else
        tap_skip("%s: no queue runs out of order", dev->name);
    weft_context_destroy(&ctx);
}

static void test_each(struct test_device *dev)
{
    test_order(dev, 5 * SLOT);
    test_order(dev, PIECE / 2);

    test_sizes(dev, 1, 1, 0);
    test_sizes(dev, 3, 1, CL_QUEUE_PROFILING_ENABLE);
    test_sizes(dev, 2, 4, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    test_sizes(dev, 5, 3, 0);
    if (!dev->checker) // it keeps a shadow of each byte
        test_several(dev);
    test_leave(dev);
    test_matrices(dev);
    test_kept(dev, true);
    test_kept(dev, false);
    test_products(dev);
    test_stats(dev);
    test_bad(dev);
    test_faults(dev);
    test_refused(dev);
}

int main(void)
{
    rng = rng_start();
    test_device_each(test_each);
    return tap_done();
}
