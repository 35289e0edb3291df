// SPDX-License-Identifier: Apache-2.0
// A context that threads share: what the log is given stays as it is during the call, the last error is always one
// failure, whole, and an attempt that is none of the caller's business changes it never. Build with -Db_sanitize=thread to
// have every access judged (docs/testing.md).
#include "host/internal/inside.h"
#include "tests/support/device.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <weft/scan.h>
#include <weft/transpose.h>

enum { THREADS = 8, LENGTH = 600 };

static const cl_int codes[THREADS] = {CL_INVALID_VALUE,       CL_OUT_OF_HOST_MEMORY, CL_INVALID_KERNEL,
                                      CL_INVALID_MEM_OBJECT,  CL_OUT_OF_RESOURCES,   CL_INVALID_EVENT,
                                      CL_INVALID_BUFFER_SIZE, CL_INVALID_CONTEXT};
static const weft_status statuses[THREADS] = {WEFT_EDEVICE, WEFT_ENOMEM,  WEFT_EDEVICE, WEFT_EDEVICE,
                                              WEFT_EDEVMEM, WEFT_EDEVICE, WEFT_EDEVICE, WEFT_EDEVICE};

struct worker {
    pthread_t thread;
    struct weft_context *ctx;
    int number, rounds;
    int64_t logged, torn,
        mixed; // lines of the log that were its own, or not whole; errors whose parts do not belong together
};

static _Thread_local struct worker *self;
static atomic_int foreign; // lines given to a thread that another one failed with

// The number of the thread that such a text is of, -1 where it is not whole.
static int text_owner(const char *text)
{
    const char letter = text[0];
    size_t length = strspn(text, (const char[]){letter, 0});
    int code = 0;
    const char *end = strrchr(text, '(');
    if (letter < 'a' || letter >= 'a' + THREADS || length != LENGTH || !end || sscanf(end, "(%d)", &code) != 1)
        return -1;
    return code == codes[letter - 'a'] ? letter - 'a' : -1;
}

// The text is looked at twice, with time for others between.
static void log_check(void *arg, const char *text)
{
    (void)arg;
    if (!self)
        return;
    char copy[sizeof((struct weft_error *)0)->text];
    snprintf(copy, sizeof copy, "%s", text);
    for (int i = 0; i < 4; i++)
        sched_yield();
    const int owner = text_owner(copy);
    self->torn += owner < 0 || strcmp(copy, text) != 0;
    foreign += owner != self->number;
    self->logged++;
}

static void *fail_often(void *arg)
{
    struct worker *w = self = arg;
    char name[LENGTH + 1];
    memset(name, 'a' + w->number, LENGTH);
    name[LENGTH] = 0;
    for (int i = 0; i < w->rounds; i++) {
        struct weft_error err;
        weft__fail_cl(w->ctx, codes[w->number], name);
        weft_context_error(&err, w->ctx);
        const int owner = text_owner(err.text);
        w->mixed += owner < 0 || err.cl_error != codes[owner] || err.status != statuses[owner];
    }
    return NULL;
}

// Plans whose row of the tune file is refused: they succeed.
static void *tuned_often(void *arg)
{
    struct worker *w = arg;
    for (int i = 0; i < w->rounds; i++) {
        size_t bytes = 0;
        w->torn += weft_scan_workspace(&bytes, w->ctx, WEFT_SCAN_TYPE_I32, 1000, NULL) != WEFT_OK || !bytes;
    }
    return NULL;
}

// Time for others between a plan's last look at what the context keeps and its trial. A lock would put the threads in an order.
static cl_kernel CL_API_CALL kernel_late(cl_program program, const char *name, cl_int *error)
{
    nanosleep(&(struct timespec){.tv_nsec = 300000}, NULL);
    return clCreateKernel(program, name, error);
}

// Plans that try themselves, by plans of their own, while other threads record what was right.
static void *tried_often(void *arg)
{
    struct worker *w = arg;
    static const enum weft_type types[] = {WEFT_TYPE_F32, WEFT_TYPE_F64, WEFT_TYPE_PATTERN};
    for (int i = 0; i < w->rounds; i++) { // each has a record of its own
        const int64_t n = INT64_C(2) << i % 16, nnz = INT64_C(20) << i / 16 % 4 * 3;
        struct weft_transpose_plan *plan = NULL;
        w->torn += weft_transpose_plan_create(&plan, w->ctx, weft_shape(70, n, nnz, types[w->number % 3], WEFT_OFS_32),
                                              weft_transpose_params(.algo = WEFT_TRANSPOSE_ALGO_MERGE)) != WEFT_OK;
        weft_transpose_plan_destroy(&plan);
    }
    return NULL;
}

static atomic_int wiped;

// The only thread that fails: its last error stays until its next.
static void *fail_alone(void *arg)
{
    struct worker *w = arg;
    for (int i = 0; i < w->rounds; i++) {
        struct weft_error err;
        char name[32];
        snprintf(name, sizeof name, "number %d ", i);
        weft__fail_cl(w->ctx, CL_INVALID_VALUE, name);
        for (int k = 0; k < 3; k++) {
            sched_yield();
            weft_context_error(&err, w->ctx);
            wiped += strncmp(err.text, name, strlen(name)) != 0 || err.cl_error != CL_INVALID_VALUE;
        }
    }
    return NULL;
}

static struct weft_context *context_make(struct test_device *dev, const char *tune,
                                         void (*log)(void *arg, const char *text))
{
    struct weft_context *ctx = NULL;
    struct weft_error err;
    if (weft_context_create(&ctx,
                            weft_context_params(.device = weft_context_device(dev->ctx)->id,
                                                .schedule = weft_context_schedule(dev->ctx), .cache_dir = "",
                                                .tune_file = tune, .log = log),
                            &err))
        tap_bail("%s: %s", dev->name, err.text);
    return ctx;
}

static void threads_run(struct worker *workers, int count, void *(*work)(void *arg))
{
    for (int i = 0; i < count; i++)
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
            tap_bail("the system gives no thread");
}

static void threads_join(struct worker *workers, int count)
{
    for (int i = 0; i < count; i++)
        pthread_join(workers[i].thread, NULL);
}

static void test_failures(struct test_device *dev)
{
    struct weft_context *ctx = context_make(dev, "", log_check);
    struct worker workers[THREADS] = {{.ctx = ctx}};
    int64_t logged = 0, torn = 0, mixed = 0;
    const int rounds = test_sample() ? 300 : 3000;
    foreign = 0;
    for (int i = 0; i < THREADS; i++)
        workers[i] = (struct worker){.ctx = ctx, .number = i, .rounds = rounds};
    threads_run(workers, THREADS, fail_often);
    threads_join(workers, THREADS);
    for (int i = 0; i < THREADS; i++) {
        logged += workers[i].logged;
        torn += workers[i].torn;
        mixed += workers[i].mixed;
    }
    tap_is_int(logged, (int64_t)THREADS * rounds, "%s: each failure is a line of the log", dev->name);
    tap_is_int(torn, 0, "%s: every line is whole while the callback reads it", dev->name);
    tap_is_int(foreign, 0, "%s: and of the thread that is called", dev->name);
    tap_is_int(mixed, 0, "%s: status, code and text of the last error are those of one failure", dev->name);
    weft_context_destroy(&ctx);
}

static void test_tuned(struct test_device *dev)
{
    char path[] = "/tmp/weft-shared-XXXXXX";
    const struct weft_device_info *info = weft_context_device(dev->ctx);
    int fd = mkstemp(path);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file)
        tap_bail("mkstemp");
    fprintf(file, "%s\t%s\t%s\tscan\t4\twg=99999999\n", info->name, info->driver, dev->gpu ? "gpu" : "cpu");
    fclose(file);
    struct weft_context *ctx = context_make(dev, path, NULL);
    struct worker workers[4], alone = {.ctx = ctx, .rounds = test_sample() ? 500 : 5000};
    for (int i = 0; i < 4; i++)
        workers[i] = (struct worker){.ctx = ctx, .rounds = test_sample() ? 2000 : 20000};
    wiped = 0;
    threads_run(workers, 4, tuned_often);
    threads_run(&alone, 1, fail_alone);
    threads_join(&alone, 1);
    threads_join(workers, 4);
    int64_t failed = 0;
    for (int i = 0; i < 4; i++)
        failed += workers[i].torn;
    tap_is_int(failed, 0, "%s: plans whose row is refused succeed", dev->name);
    tap_is_int(wiped, 0, "%s: and another thread's error stays", dev->name);
    weft_context_destroy(&ctx);
    // A row with a name that the operation does not know is dropped once, by one thread.
    file = fopen(path, "w");
    if (!file)
        tap_bail("%s", path);
    fprintf(file, "%s\t%s\t%s\tscan\t4\twg=64 colour=3\n", info->name, info->driver, dev->gpu ? "gpu" : "cpu");
    fclose(file);
    ctx = context_make(dev, path, NULL);
    for (int i = 0; i < 4; i++)
        workers[i] = (struct worker){.ctx = ctx, .rounds = 50};
    threads_run(workers, 4, tuned_often);
    threads_join(workers, 4);
    failed = 0;
    for (int i = 0; i < 4; i++)
        failed += workers[i].torn;
    tap_is_int(failed, 0, "%s: a row of unknown values is left out in every thread", dev->name);
    weft_context_destroy(&ctx);
    unlink(path);
}

static void test_tried(struct test_device *dev)
{
    struct weft_context *ctx = context_make(dev, "", NULL);
    struct worker workers[4];
    ctx->trials.off = false;
    weft__cl.clCreateKernel = kernel_late;
    for (int i = 0; i < 4; i++)
        workers[i] = (struct worker){.ctx = ctx, .number = i, .rounds = 64};
    threads_run(workers, 4, tried_often);
    threads_join(workers, 4);
    weft__cl.clCreateKernel = clCreateKernel;
    int64_t failed = 0;
    for (int i = 0; i < 4; i++)
        failed += workers[i].torn;
    tap_is_int(failed, 0, "%s: plans try themselves in four threads", dev->name);
    tap_ok(ctx->trials.count >= 100, "%s: %zu records of what is right", dev->name, ctx->trials.count);
    weft_context_destroy(&ctx);
}

static void test_all(struct test_device *dev)
{
    if (!dev->gpu) // whose kernels compile soon
        test_tried(dev);
    test_failures(dev);
    test_tuned(dev);
}

int main(void)
{
    test_device_each(test_all);
    return tap_done();
}
