// SPDX-License-Identifier: Apache-2.0
// Self-tests: a right device passes them, a driver that leaves out a launch is found in every operation, a plan with wrong
// programs is refused with the kernels' names, what was right is not tried again, and all programs of a plan are tried.
#include "tests/support/device.h"

#include "host/internal/tests.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <weft/histogram.h>
#include <weft/scan.h>
#include <weft/selftest.h>
#include <weft/transpose.h>

static struct weft__cl_table real;

// The lie: launch number `left_out` of a trial, counted from 1, is not made. 0: none.
static struct {
    int launches, left_out;
    bool all;        // or every launch of `kernel`
    bool listens;    // plans try their kernels: the last one stays in `kernel`, and all in `tried`
    bool idles;      // no launch is made but of what listens
    char kernel[64]; // which a plan launches on this device
    struct {
        cl_program program; // of the context, which has one for each text; NULL where it remembers one alone
        char kernel[64];
    } tried[200];
    int tries, untried; // of those; launches of other kernels
    char first[64];     // of these
} lie;

static bool was_tried(cl_program program, const char *kernel)
{
    for (int i = 0; i < lie.tries; i++)
        if (lie.tried[i].program == program && !strcmp(lie.tried[i].kernel, kernel))
            return true;
    return false;
}

static void kernel_seen(cl_kernel k, const char *name)
{
    cl_program program = NULL;
    clGetKernelInfo(k, CL_KERNEL_PROGRAM, sizeof program, &program, NULL);
    program = WEFT__HOSTILE(program, NULL);
    const bool tried = was_tried(program, name);
    if (lie.listens) {
        strcpy(lie.kernel, name);
        if (!tried && lie.tries < 200) {
            lie.tried[lie.tries].program = program;
            strcpy(lie.tried[lie.tries++].kernel, name);
        }
    } else if (!tried && !lie.untried++) {
        strcpy(lie.first, name);
    }
}

static cl_int CL_API_CALL lying_launch(cl_command_queue q, cl_kernel k, cl_uint d, const size_t *o, const size_t *g,
                                       const size_t *l, cl_uint n, const cl_event *w, cl_event *event)
{
    char name[64] = "";
    lie.launches++;
    clGetKernelInfo(k, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL);
    kernel_seen(k, name);
    if (lie.launches != lie.left_out && (!lie.all || strcmp(name, lie.kernel)) && (!lie.idles || lie.listens))
        return real.clEnqueueNDRangeKernel(q, k, d, o, g, l, n, w, event);
    return n || event ? real.clEnqueueMarkerWithWaitList(q, n, w, event) : CL_SUCCESS;
}

static void lie_begin(void)
{
    real = weft__cl;
    weft__cl.clEnqueueNDRangeKernel = lying_launch;
    lie.launches = lie.left_out = 0;
    lie.all = lie.listens = lie.idles = false;
    lie.tries = lie.untried = 0;
    *lie.first = '\0';
}

static void lie_end(void)
{
    weft__cl = real;
}

// The trials of a device: launches of each in an honest run, then what a lie does to it.
struct trials {
    int launches[512], count, lying, right, missed;
    char kernels[4096]; // all that ran
};

static void result_seen(void *arg, const struct weft_selftest_result *result)
{
    struct trials *t = arg;
    if (t->count == 512)
        tap_bail("more than 512 trials");
    t->right += result->right;
    if (!t->lying) {
        t->launches[t->count] = lie.launches;
        if (!result->right)
            tap_note("%s: %s", result->what, result->text);
        for (const char *at = result->kernels; *at; at += strcspn(at, " "), at += *at == ' ') {
            char word[64];
            snprintf(word, sizeof word, " %.*s ", (int)strcspn(at, " "), at);
            if (!strstr(t->kernels, word) && strlen(t->kernels) + strlen(word) < sizeof t->kernels)
                strcat(t->kernels, word);
        }
    } else if (result->right) {
        t->missed++;
        tap_note("not found: %s, kernels %s without the last launch", result->what, result->kernels);
    }
    t->count++;
    lie.launches = 0;
    lie.left_out = t->lying ? t->launches[t->count] : 0;
}

static void test_all(struct test_device *dev)
{
    static struct trials t;
    t = (struct trials){0};
    dev->ctx->trials.every = test_sample() ? 6 : 1;
    dev->ctx->trials.asked = 0;
    lie_begin();
    const weft_status status = weft_selftest(dev->ctx, result_seen, &t);
    tap_ok(!status && t.right == t.count && t.count > (test_sample() ? 25 : 100), "%s: %d of %d trials are right (%d)",
           dev->name, t.right, t.count, (int)status);
    int of = 0, ran = 0;
    for (const struct weft__kernel_text *k = weft__kernel_texts; k->entry; k++) {
        char word[64];
        snprintf(word, sizeof word, " %s ", k->entry);
        of++;
        ran += strstr(t.kernels, word) != NULL;
    }
    tap_note("%s: %d of the %d kernels for all schedules ran", dev->name, ran, of);
    const int honest = t.count;
    t.count = t.right = 0;
    t.lying = 1;
    dev->ctx->trials.asked = 0;
    lie.launches = 0;
    lie.left_out = t.launches[0];
    const weft_status found = weft_selftest(dev->ctx, result_seen, &t);
    lie_end();
    tap_ok(found == WEFT_EDEVICE && t.count == honest && !t.missed,
           "%s: a driver that leaves out the last launch is found in %d of %d trials", dev->name, t.count - t.missed,
           honest);
    const char *text = test_error(dev);
    tap_ok(strstr(text, weft_context_device(dev->ctx)->name) != NULL, "%s: the error names the device: %s", dev->name,
           text);
}

static char folder[] = "/tmp/weft-selftest-XXXXXX";

static int files_drop(void)
{
    DIR *dir = opendir(folder);
    int count = 0;
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        char path[400];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        count += entry->d_name[0] != '.' && !unlink(path);
    }
    if (dir)
        closedir(dir);
    return count;
}

static struct weft_context *context_make(struct test_device *dev, const char *cache, bool off)
{
    struct weft_context *ctx = NULL;
    const struct weft_device_info *d = weft_context_device(dev->ctx);
    const struct weft_context_params params = {.device = d->id,
                                               .schedule = weft_context_schedule(dev->ctx),
                                               .lanes = d->lanes,
                                               .cache_dir = cache,
                                               .no_selftest = off};
    if (weft_context_create(&ctx, &params, NULL))
        tap_bail("no context");
    return ctx;
}

// The plan that is made. Its algorithm is asked for: else another takes the place of one that is wrong.
static int64_t most;
static struct weft_scan_params asked;

// Launches that making it takes; *ms: the least time of some more, which find their programs in the context.
static int plan_launches(struct weft_context *ctx, weft_status want, double *ms)
{
    struct weft_scan_plan *plan = NULL;
    lie.launches = 0;
    const weft_status status = weft_scan_plan_create(&plan, ctx, WEFT_SCAN_TYPE_I32, most, &asked);
    const int launches = lie.launches;
    if (status != want || (plan != NULL) != !status)
        tap_note("status %d", (int)status);
    weft_scan_plan_destroy(&plan);
    for (int i = 0; ms && i < 5; i++) {
        struct timespec from, to;
        clock_gettime(CLOCK_MONOTONIC, &from);
        weft_scan_plan_create(&plan, ctx, WEFT_SCAN_TYPE_I32, most, &asked);
        clock_gettime(CLOCK_MONOTONIC, &to);
        const double took = (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) * 1e-6;
        *ms = !i || took < *ms ? took : *ms;
        weft_scan_plan_destroy(&plan);
    }
    return status == want ? launches : -1;
}

static void test_record(struct test_device *dev, enum weft_scan_algo algo)
{
    double with = 0, without = 0;
    most = dev->checker ? 3000 : 100000;
    asked = (struct weft_scan_params){.algo = algo};
    tap_note("%s: a scan, %s", dev->name, weft_scan_algo_name(algo));
    lie_begin();
    struct weft_context *first = context_make(dev, folder, false);
    lie.listens = true; // not while a context is made: its probe of the lanes is of no plan
    tap_ok(plan_launches(first, WEFT_OK, NULL) > 0, "%s: the first plan tries its programs", dev->name);
    lie.listens = false;
    tap_is_int(plan_launches(first, WEFT_OK, NULL), 0, "%s: the second does not", dev->name);
    weft_context_destroy(&first);
    struct weft_context *second = context_make(dev, folder, false), *off = context_make(dev, folder, true);
    tap_is_int(plan_launches(second, WEFT_OK, &with), 0, "%s: another context finds the record", dev->name);
    tap_is_int(plan_launches(off, WEFT_OK, &without), 0, "%s: no_selftest tries nothing", dev->name);
    tap_ok(with - without < 5, "%s: asking takes %.3f ms (a plan %.3f ms, without self-tests %.3f)", dev->name,
           with - without, with, without);
    weft_context_destroy(&second);
    setenv("WEFT_SELFTEST", "0", 1);
    files_drop();
    second = context_make(dev, folder, false);
    tap_is_int(plan_launches(second, WEFT_OK, NULL), 0, "%s: nor does WEFT_SELFTEST=0", dev->name);
    weft_context_destroy(&second);
    unsetenv("WEFT_SELFTEST");

    // A wrong kernel. What was found wrong is tried again; what is right then is taken.
    second = context_make(dev, folder, false);
    lie.all = true;
    struct weft_error err;
    tap_ok(plan_launches(second, WEFT_EDEVICE, NULL) > 0, "%s: a plan with a wrong kernel is refused", dev->name);
    weft_context_error(&err, second);
    tap_ok(err.status == WEFT_EDEVICE && strstr(err.text, lie.kernel) && !strchr(err.text, '\n'), "%s: %s", dev->name,
           err.text);
    tap_ok(plan_launches(off, WEFT_OK, NULL) == 0, "%s: not so where self-tests are off", dev->name);
    lie.all = false;
    tap_ok(plan_launches(second, WEFT_OK, NULL) > 0, "%s: right again, the plan is made", dev->name);
    weft_context_destroy(&second);
    weft_context_destroy(&off);
    lie_end();
    files_drop();
}

// What is right of a plan for few elements says nothing of kernels that only plans for more of them launch.
static void test_sizes(struct test_device *dev, enum weft_scan_algo algo)
{
    static const int64_t sizes[] = {3, 1000, 6000, 10000, 300000};
    const size_t count = sizeof sizes / sizeof *sizes - (dev->checker ? 2 : 0);
    asked = (struct weft_scan_params){.algo = algo};
    lie_begin();
    struct weft_context *ctx = context_make(dev, folder, false);
    cl_command_queue queue = clCreateCommandQueue(weft_context_cl(ctx), weft_context_device(ctx)->id, 0, NULL);
    int done = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t bytes = (size_t)sizes[i] * 4;
        struct weft_scan_plan *plan = NULL;
        void *zeros = test_alloc(bytes);
        cl_mem b[2];
        for (int k = 0; k < 2; k++)
            b[k] = clCreateBuffer(weft_context_cl(ctx), CL_MEM_COPY_HOST_PTR, bytes, memset(zeros, 0, bytes), NULL);
        lie.listens = true;
        weft_status status = weft_scan_plan_create(&plan, ctx, WEFT_SCAN_TYPE_I32, sizes[i], &asked);
        lie.listens = false;
        lie.untried = i ? lie.untried : 0; // the probe of the lanes
        for (size_t k = 0; k <= i && !status; k++)
            status = weft_scan_run(plan, queue, b[1], b[0], sizes[k], 0, NULL, NULL);
        if (!status)
            status = weft_scan_run(plan, queue, b[1], b[1], sizes[i], 0, NULL, NULL);
        clFinish(queue);
        done += !status;
        weft_scan_plan_destroy(&plan);
        for (int k = 0; k < 2; k++)
            clReleaseMemObject(b[k]);
        free(zeros);
    }
    tap_ok(done == (int)count && !lie.untried,
           "%s: scans of %d sizes, %s: %d launches of kernels that were not tried %s", dev->name, done,
           weft_scan_algo_name(algo), lie.untried, lie.first);
    clReleaseCommandQueue(queue);
    weft_context_destroy(&ctx);
    lie_end();
    files_drop();
}

// Buffers of what a plan is run with. Nothing reads them, as only self-tests compute: they say that they are large.
struct idle {
    struct weft_context *ctx;
    cl_command_queue queue;
    cl_mem mem[6];
    int count;
};

static cl_int CL_API_CALL large_said(cl_mem mem, cl_mem_info what, size_t size, void *value, size_t *needed)
{
    const cl_int error = real.clGetMemObjectInfo(mem, what, size, value, needed);
    if (!error && what == CL_MEM_SIZE && value)
        *(size_t *)value = SIZE_MAX / 4;
    return error;
}

static cl_mem idle_buffer(struct idle *x)
{
    cl_mem *out = &x->mem[x->count++];
    *out = clCreateBuffer(weft_context_cl(x->ctx), CL_MEM_READ_WRITE, 64, NULL, NULL);
    return *out;
}

static void idle_begin(struct idle *x, struct test_device *dev)
{
    lie_begin();
    *x = (struct idle){.ctx = context_make(dev, folder, false)};
    x->queue = clCreateCommandQueue(weft_context_cl(x->ctx), weft_context_device(x->ctx)->id, 0, NULL);
    weft__cl.clGetMemObjectInfo = large_said;
    lie.idles = true;
    lie.untried = 0; // the probe of the lanes
}

static void buffers_drop(struct idle *x)
{
    clFinish(x->queue);
    while (x->count)
        clReleaseMemObject(x->mem[--x->count]);
}

static void idle_end(struct idle *x)
{
    clReleaseCommandQueue(x->queue);
    weft_context_destroy(&x->ctx);
    lie_end();
    files_drop();
}

// Rows of counts are summed up by plans for many indices alone.
static void test_histograms(struct test_device *dev)
{
    static const struct {
        int64_t bins, n;
        enum weft_ofs ofs;
        int chunk;
        bool atomic;
    } cases[] = {{100, 1000, WEFT_OFS_32, 0, false},       {10000, 5000, WEFT_OFS_32, 0, false},
                 {10000, 100000, WEFT_OFS_32, 0, false},   {80000, 3000000, WEFT_OFS_32, 0, false},
                 {10000, 10000000, WEFT_OFS_32, 0, false}, {100, 10000000, WEFT_OFS_32, 1 << 20, false},
                 {10000, 100000, WEFT_OFS_64, 0, false},   {100000, 1000, WEFT_OFS_32, 0, true},
                 {1 << 25, 1000, WEFT_OFS_32, 0, true}};
    const size_t count = sizeof cases / sizeof *cases - (dev->checker ? 6 : 0);
    for (size_t i = 0; i < count; i++) {
        struct idle x;
        struct weft_histogram_plan *plan = NULL;
        const struct weft_histogram_params p = {.algo = cases[i].atomic ? WEFT_HISTOGRAM_ALGO_ATOMIC
                                                                        : WEFT_HISTOGRAM_ALGO_ROWS,
                                                .cpu.chunk = cases[i].chunk};
        if (cases[i].atomic && !dev->gpu)
            continue;
        idle_begin(&x, dev);
        lie.listens = true;
        weft_status status = weft_histogram_plan_create(&plan, x.ctx, cases[i].bins, cases[i].ofs, cases[i].n, &p);
        lie.listens = false;
        cl_mem out = idle_buffer(&x), idx = idle_buffer(&x);
        if (!status)
            status = weft_histogram_run(plan, x.queue, out, idx, cases[i].n, 0, NULL, NULL);
        tap_ok(!status && lie.tries && !lie.untried,
               "%s: histogram of %lld indices, %lld bins, %d rows: %d launches of kernels that were not tried %s",
               dev->name, (long long)cases[i].n, (long long)cases[i].bins,
               status ? 0 : weft_histogram_plan_info(plan)->rows, lie.untried, lie.first);
        weft_histogram_plan_destroy(&plan);
        buffers_drop(&x);
        idle_end(&x);
    }
}

// Plans of many entries or columns have programs that plans of few do not have.
static void test_transposes(struct test_device *dev)
{
    enum { ALL, GPU, CPU };
    static const struct {
        int schedule, long_run;
        int64_t m, n, nnz;
        struct weft_transpose_params params;
    } cases[] = {
        {ALL, 0, 700, 900, 500, {.algo = WEFT_TRANSPOSE_ALGO_MERGE}},
        {CPU, 0, 700, 900, 500, {.algo = WEFT_TRANSPOSE_ALGO_SCAN}},
        {CPU, 0, 3000, 5000, 200000, {.algo = WEFT_TRANSPOSE_ALGO_MERGE}}, // several pieces
        {CPU, 0, 3000, 5000, 200000, {.algo = WEFT_TRANSPOSE_ALGO_MERGE, .cpu = {.chunks = 9, .bits = 1}}},
        {CPU, 0, 3000, 5000, 200000, {.algo = WEFT_TRANSPOSE_ALGO_SCAN}},                        // direct
        {CPU, 0, 50000, 50000, 5000000, {.algo = WEFT_TRANSPOSE_ALGO_SCAN}},                     // a probe decides
        {CPU, 0, 70000, 100000, 300000, {.algo = WEFT_TRANSPOSE_ALGO_SCAN, .cpu = {.bits = 1}}}, // not in a word
        {CPU, 0, 70000, 30000000, 300000, {.algo = WEFT_TRANSPOSE_ALGO_SCAN}},                   // blocks
        {GPU, 0, 5000, 5000, 1000000, {.algo = WEFT_TRANSPOSE_ALGO_AUTO}},                       // the mirror
        {GPU, 0, 300000, 300000, 2000000, {.algo = WEFT_TRANSPOSE_ALGO_MERGE}},                  // rounds, gaps
        {GPU, 1, 300000, 300000, 2000000, {.algo = WEFT_TRANSPOSE_ALGO_MERGE, .gpu = {.wg = 64, .ipt = 4, .bits = 2}}},
        {GPU, 1, 3000, 2000000000, 50000, {.algo = WEFT_TRANSPOSE_ALGO_MERGE}}, // rows apart
        {GPU, 1, 300000, 8000000, 2000000, {.algo = WEFT_TRANSPOSE_ALGO_SCAN}}, // three passes
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int64_t m = cases[i].m, n = cases[i].n, nnz = cases[i].nnz;
        const struct weft_shape shape = weft_shape(m, n, nnz, WEFT_TYPE_F32, WEFT_OFS_32);
        struct weft_transpose_plan *plan = NULL;
        struct idle x;
        if ((cases[i].schedule && (cases[i].schedule == GPU) != dev->gpu) || (dev->checker && nnz > 500) ||
            (cases[i].long_run && test_sample()))
            continue;
        idle_begin(&x, dev);
        lie.listens = true;
        weft_status status = weft_transpose_plan_create(&plan, x.ctx, shape, &cases[i].params);
        lie.listens = false;
        const struct weft_device_csr
            a = {m, n, nnz, WEFT_TYPE_F32, WEFT_OFS_32, idle_buffer(&x), idle_buffer(&x), idle_buffer(&x)},
            at = {n, m, nnz, WEFT_TYPE_F32, WEFT_OFS_32, idle_buffer(&x), idle_buffer(&x), idle_buffer(&x)};
        if (!status)
            status = weft_transpose_run(plan, x.queue, &at, &a, 0, NULL, NULL);
        struct weft_error err;
        weft_context_error(&err, x.ctx);
        tap_ok(!status && lie.tries && !lie.untried,
               "%s: transposition of %lld entries, %lld columns: %d launches of kernels that were not tried %s; %s",
               dev->name, (long long)nnz, (long long)n, lie.untried, lie.first,
               status ? err.text : weft_transpose_plan_info(plan)->why);
        weft_transpose_plan_destroy(&plan);
        buffers_drop(&x);
        idle_end(&x);
    }
}

// The plan of a large square matrix on a GPU tries the mirror as well.
static void test_mirror(struct test_device *dev)
{
    struct weft_context *ctx = context_make(dev, folder, false);
    struct weft_transpose_plan *plan = NULL;
    const weft_status status =
        weft_transpose_plan_create(&plan, ctx, weft_shape(5000, 5000, 1000000, WEFT_TYPE_F32, WEFT_OFS_32), NULL);
    tap_ok(!status && strstr(weft_transpose_plan_info(plan)->why, "mirrored") && ctx->trials.count > 0,
           "%s: the mirror is right", dev->name);
    weft_transpose_plan_destroy(&plan);
    weft_context_destroy(&ctx);
    files_drop();
}

static void test_device(struct test_device *dev)
{
    size_t bytes;
    if (dev->gpu && !dev->checker)
        test_mirror(dev);
    test_histograms(dev);
    test_transposes(dev);
    for (int algo = WEFT_SCAN_ALGO_THREE; algo <= WEFT_SCAN_ALGO_CHAINED; algo++) {
        const struct weft_scan_params p = {.algo = (enum weft_scan_algo)algo};
        if (weft_scan_workspace(&bytes, dev->ctx, WEFT_SCAN_TYPE_I32, 1, &p) == WEFT_OK) {
            test_record(dev, p.algo);
            test_sizes(dev, p.algo);
        }
    }
    if (dev->checker || (test_sample() && dev->gpu))
        tap_skip("%s: every operation: %s", dev->name, dev->checker ? "a memory checker" : "a sample");
    else
        test_all(dev);
}

int main(void)
{
    unsetenv("WEFT_SELFTEST");
    if (!mkdtemp(folder))
        tap_bail("mkdtemp");
    test_device_each(test_device);
    files_drop();
    rmdir(folder);
    return tap_done();
}
