// SPDX-License-Identifier: Apache-2.0
// The measured choice: what the key of a record holds; a record that no longer fits is measured again, once; what is measured with rows of
// the tune file, with sums in f64, and while another thread compiles.
#include "host/internal/tests.h"
#include "tests/support/problem.h"

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct rng rng;
static char dir[] = "/tmp/weft-record-XXXXXX";

// ---- the key ---------------------------------------------------------------------------------------------------

struct input {
    struct weft_context ctx;
    struct weft_spmv_plan plan;
    struct weft__tune_row row;
    const char *version;
    uint64_t kernels, structure;
};

static char *key_of(struct input *in)
{
    in->plan.ctx = &in->ctx;
    in->ctx.tune = &in->row;
    return weft__spmv_tune_key(&in->plan, in->version, in->kernels, in->structure);
}

#define TEXT(member, what)   strcpy(in->member, what)
#define NUMBER(member, what) in->member = what

// Change component `i`; NULL: there is none, else its name.
static const char *input_change(struct input *in, int i)
{
#define CHANGE(number, kind, member, what)                                                                             \
    case number:                                                                                                       \
        kind(member, what);                                                                                            \
        return #member
    switch (i) {
        CHANGE(0, NUMBER, version, "0.1.1");
        CHANGE(1, NUMBER, kernels, 78);
        CHANGE(2, NUMBER, structure, 100);
        CHANGE(3, TEXT, ctx.device.name, "another");
        CHANGE(4, TEXT, ctx.device.vendor, "another");
        CHANGE(5, TEXT, ctx.device.driver, "another");
        CHANGE(6, TEXT, ctx.device.version, "another");
        CHANGE(7, TEXT, ctx.device.platform, "another");
        CHANGE(8, TEXT, ctx.device.platform_version, "another");
        CHANGE(9, NUMBER, ctx.device.lanes, WEFT_LANES_SUBGROUPS);
        CHANGE(10, NUMBER, ctx.device.wave, 64);
        CHANGE(11, NUMBER, ctx.device.fence, 1);
        CHANGE(12, NUMBER, ctx.schedule, WEFT_SCHEDULE_GPU);
        CHANGE(13, NUMBER, ctx.salt, 9);
        CHANGE(14, NUMBER, row.values[0].value, 65);
        CHANGE(15, NUMBER, plan.a.m, 11);
        CHANGE(16, NUMBER, plan.a.n, 21);
        CHANGE(17, NUMBER, plan.a.nnz, 31);
        CHANGE(18, NUMBER, plan.a.type, WEFT_TYPE_PATTERN);
        CHANGE(19, NUMBER, plan.a.ofs, WEFT_OFS_64);
        CHANGE(20, NUMBER, plan.type, WEFT_TYPE_I32);
        CHANGE(21, NUMBER, plan.acc, WEFT_TYPE_F64);
        CHANGE(22, TEXT, plan.semiring.text, "another");
        CHANGE(23, NUMBER, plan.info.params.problem.semiring, WEFT_SPMV_SEMIRING_MIN_PLUS);
        CHANGE(24, NUMBER, plan.info.params.policy.algo, WEFT_SPMV_ALGO_CSR);
        CHANGE(25, NUMBER, plan.info.params.policy.products, 1000);
        CHANGE(26, NUMBER, plan.info.params.format.width, 7);
        CHANGE(27, NUMBER, plan.info.params.format.host_rest, 1);
        CHANGE(28, NUMBER, plan.info.params.format.max_padding, 4.000000001);
        CHANGE(29, NUMBER, plan.info.params.format.sigma, 32);
        CHANGE(30, NUMBER, plan.info.params.gpu.lanes, 4);
        CHANGE(31, NUMBER, plan.info.params.gpu.wg, 128);
        CHANGE(32, NUMBER, plan.info.params.gpu.ipt, 8);
        CHANGE(33, NUMBER, plan.info.params.gpu.rows, 2);
        CHANGE(34, NUMBER, plan.info.params.gpu.read, 1);
    }
    return NULL;
}

static void test_key(void)
{
    static struct input plain = {.version = "0.1.0", .kernels = 77, .structure = 99}, other;
    plain.ctx.schedule = WEFT_SCHEDULE_CPU;
    plain.ctx.ntune = 1;
    plain.row.count = 1;
    plain.row.values[0].value = 64;
    plain.plan.a = (struct weft_device_csr){.m = 10, .n = 20, .nnz = 30};
    plain.plan.info.params.format.max_padding = 4;
    char *key = key_of(&plain), *same = key_of(&plain);
    tap_is_str(key, same, "the same plan has the same key");
    free(same);
    const char *name = "";
    for (int i = 0; name; i++) {
        other = plain;
        name = input_change(&other, i);
        if (!name)
            break;
        char *changed = key_of(&other);
        tap_ok(key && changed && strcmp(key, changed) != 0, "another %s, another key", name);
        free(changed);
    }
    // A semiring as long as may be: its end counts.
    memset(plain.plan.semiring.text, 'x', sizeof plain.plan.semiring.text - 1);
    other = plain;
    other.plan.semiring.text[sizeof other.plan.semiring.text - 2] = 'y';
    char *a = key_of(&plain), *b = key_of(&other);
    tap_ok(a && b && strcmp(a, b) != 0, "the end of a long semiring is in the key");
    free(a);
    free(b);
    free(key);
    tap_ok(weft__sources_hash() && weft__sources_hash() == weft__sources_hash(), "the kernels have one hash");
}

// ---- the record ------------------------------------------------------------------------------------------------

static int told, failed; // lines of the log

static void log_count(void *arg, const char *text)
{
    (void)arg;
    if (strstr(text, "measured again"))
        told++;
    else
        failed++;
    tap_note("log: %.300s", text);
}

// Key of the only record in the folder; the caller frees it.
static char *record_key(char path[400])
{
    DIR *d = opendir(dir);
    char *out = NULL;
    for (struct dirent *e; d && (e = readdir(d));) {
        char head[40] = "", file_path[400];
        uint64_t sizes[3];
        snprintf(file_path, sizeof file_path, "%s/%.255s", dir, e->d_name);
        FILE *file = e->d_name[0] == '.' ? NULL : fopen(file_path, "rb");
        if (!file)
            continue;
        char *key = NULL;
        if (fread(head, 24, 1, file) == 1 && fread(sizes, sizeof sizes, 1, file) == 1 && sizes[0] < 100000) {
            key = calloc(1, sizes[0] + 1);
            if (key && fread(key, sizes[0], 1, file) == 1 && strstr(key, "\nspmv tune ") && !out) {
                out = key;
                key = NULL;
                snprintf(path, 400, "%s", file_path);
            }
        }
        free(key);
        fclose(file);
    }
    if (d)
        closedir(d);
    return out;
}

static struct weft_spmv_info run(struct test_problem *p, struct weft_context *ctx,
                                 const struct weft_spmv_params *params, int *right)
{
    struct weft_spmv_info info = {.why = ""};
    struct weft_spmv_plan *plan = NULL;
    *right = 0;
    if (weft_spmv_plan_create(&plan, ctx, p->dev->queue, &p->d, params))
        return info;
    info = *weft_spmv_plan_info(plan);
    *right = test_problem_run(p, plan, &(struct weft_spmv_params){.policy.algo = info.params.policy.algo}, 2, -3);
    weft_spmv_plan_destroy(&plan);
    return info;
}

// A context like that of `dev`, of the same OpenCL context.
static struct weft_context *context_make(struct test_device *dev, const char *cache_dir, const char *tune_file)
{
    const struct weft_device_info *device = weft_context_device(dev->ctx);
    struct weft_context *ctx = NULL;
    struct weft_error err = {0};
    if (weft_context_create(&ctx,
                            weft_context_params(.context = weft_context_cl(dev->ctx), .device = device->id,
                                                .schedule = weft_context_schedule(dev->ctx), .cache_dir = cache_dir,
                                                .lanes = device->lanes,
                                                .wave = device->lanes == WEFT_LANES_SUBGROUPS ? device->wave : 0,
                                                .tune_file = tune_file, .log = log_count),
                            &err))
        tap_bail("%s: %s", dev->name, err.text);
    return ctx;
}

static void clear(void)
{
    char path[400];
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.') {
            snprintf(path, sizeof path, "%s/%.255s", dir, e->d_name);
            unlink(path);
        }
    if (d)
        closedir(d);
}

static void test_records(struct test_device *dev)
{
    static const struct {
        const char *text;
        int told;                                // it was a record that this matrix or device refuses
    } records[] = {{"ell 0 0 0 0 0 0", 1},       // too much padding
                   {"csr_lanes 3 0 0 0 0 0", 1}, // no such number
                   {"csr_lanes 77 0 0 0 0 0", 1},
                   {"sell 0 0 0 0 3 0", 0}, // no power of two
                   {"", 0},
                   {"csr_merge", 0},
                   {"nothing 0 0 0 0 0 0", 0},
                   {"coo_atomic 0 0 0 0 0 0", 0}, // never a candidate
                   {"auto 0 0 0 0 0 0", 0},
                   {"csr_scalar 0 0 0 9 0 0", 0},
                   {"csr_scalar -1 0 0 0 0 0", 0},
                   {"hyb 0 0 0 0 0 -5", 0},
                   {"hyb 0 0 0 0 0 999999999999", 0},
                   {"hyb 0 0 0 0 0 601", 0}, // wider than the longest row
                   {"sell 0 0 0 0 5000 0", 0},
                   {"csr_merge 99999999999999999999 99999999999999999999 0 0 0 0", 0}};
    const struct weft_spmv_params params = {.policy.tune = 1, .policy.products = 100000};
    struct test_problem p = test_problem_make(dev, &rng, 600, 700, 2, 600, WEFT_TYPE_F32, WEFT_OFS_32);
    struct weft_error err = {0};
    char path[400];
    int right = 0;
    clear();
    struct weft_context *ctx = context_make(dev, dir, "");
    told = failed = 0;
    struct weft_spmv_info info = run(&p, ctx, &params, &right);
    char *key = record_key(path);
    tap_ok(right && info.tune_ms > 0 && key && !failed,
           "%s: measured and recorded, candidates that fail are no news: %s", dev->name, info.why);
    weft_context_error(&err, ctx);
    tap_ok(!err.status, "%s: nor errors: %s", dev->name, err.text);
    const int count = key ? (int)(sizeof records / sizeof *records) : 0;
    for (int i = 0; i < count; i += test_sample() && i > 2 ? 3 : 1) {
        told = failed = 0;
        weft__cache_write(dir, key, (const unsigned char *)records[i].text,
                          strlen(records[i].text) + !*records[i].text);
        info = run(&p, ctx, &params, &right);
        tap_ok(right && info.tune_ms > 0 && !strncmp(info.why, "measured, ms: ", 14),
               "%s: \"%s\" is measured again: %s", dev->name, records[i].text, info.why);
        tap_ok(told == records[i].told && !failed, "%s: with %d lines of the log", dev->name, records[i].told);
        info = run(&p, ctx, &params, &right);
        tap_ok(right && info.tune_ms == 0 && !strncmp(info.why, "measured before", 15) && told == records[i].told,
               "%s: once: %s", dev->name, info.why);
    }
    weft_context_error(&err, ctx);
    tap_ok(!err.status, "%s: and no error is left: %s", dev->name, err.text);
    free(key);
    weft_context_destroy(&ctx);
    test_problem_free(&p);
    clear();
}

// Columns come twice, so that a row is longer than the matrix is wide, and so may be a hybrid.
static void test_wide(struct test_device *dev)
{
    static const char record[] = "hyb 0 0 0 0 0 30";
    const struct weft_spmv_params params = {.policy.tune = 1, .policy.products = 100000};
    struct test_problem p = test_problem_make(dev, &rng, 600, 20, 6, 60, WEFT_TYPE_F32, WEFT_OFS_32);
    char path[400];
    int right = 0;
    clear();
    struct weft_context *ctx = context_make(dev, dir, "");
    run(&p, ctx, &params, &right);
    char *key = record_key(path);
    weft__cache_write(dir, key ? key : "", (const unsigned char *)record, sizeof record - 1);
    const struct weft_spmv_info info = run(&p, ctx, &params, &right);
    tap_ok(key && right && info.tune_ms == 0 && info.params.policy.algo == WEFT_SPMV_ALGO_HYB &&
               info.params.format.width == 30,
           "%s: \"%s\" is taken with 20 columns: %s", dev->name, record, info.why);
    free(key);
    weft_context_destroy(&ctx);
    test_problem_free(&p);
    clear();
}

// ---- what is measured ------------------------------------------------------------------------------------------

static int hybrids; // conversions to them

static void hybrids_count(void *arg, const char *entry, size_t global, size_t wg, cl_event event)
{
    (void)arg, (void)global, (void)wg, (void)event;
    hybrids += !strcmp(entry, "hyb_count");
}

// A hybrid rounds sums in f64 for each of its parts: it is among what is measured without such sums, and where it is asked for.
static void test_f64_sums(struct test_device *dev)
{
    static const struct {
        int f64_sums;
        enum weft_spmv_algo algo;
    } cases[] = {{0, WEFT_SPMV_ALGO_AUTO}, {1, WEFT_SPMV_ALGO_AUTO}, {1, WEFT_SPMV_ALGO_HYB}};
    if (!weft_context_device(dev->ctx)->fp64) {
        tap_skip("%s: no double precision", dev->name);
        return;
    }
    struct test_problem p = test_problem_make(dev, &rng, 600, 100, 6, 60, WEFT_TYPE_F32, WEFT_OFS_32);
    struct weft_context *ctx = context_make(dev, "", "");
    ctx->on_launch = hybrids_count;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct weft_spmv_params params = {.policy = {.tune = 1, .products = 1000, .algo = cases[i].algo},
                                                .problem.f64_sums = cases[i].f64_sums};
        const int wanted = !cases[i].f64_sums || cases[i].algo == WEFT_SPMV_ALGO_HYB;
        struct weft_spmv_plan *plan = NULL;
        hybrids = 0;
        const weft_status status = weft_spmv_plan_create(&plan, ctx, dev->queue, &p.d, &params);
        tap_ok(!status && (hybrids > 0) == wanted, "%s: %d hybrids measured, %s%s", dev->name, hybrids,
               weft_spmv_algo_name(cases[i].algo), cases[i].f64_sums ? ", f64 sums" : "");
        weft_spmv_plan_destroy(&plan);
    }
    weft_context_destroy(&ctx);
    test_problem_free(&p);
}

// A row of the tune file and a window that is no power of two: refused, with the row and without it; also where sliced DIA, whose columns
// have to ascend, hands over.
static void test_rows(struct test_device *dev)
{
    static const enum weft_spmv_algo algos[] = {WEFT_SPMV_ALGO_SELL, WEFT_SPMV_ALGO_SELL16, WEFT_SPMV_ALGO_SDIA};
    const struct weft_device_info *device = weft_context_device(dev->ctx);
    struct test_problem p = test_problem_make(dev, &rng, 60, 50, 6, 12, WEFT_TYPE_F32, WEFT_OFS_32);
    char path[64];
    snprintf(path, sizeof path, "%s/.tune", dir);
    FILE *file = fopen(path, "w");
    for (size_t i = 0; file && i < sizeof algos / sizeof *algos; i++)
        fprintf(file, "%s\t%s\t%s\tspmv.%s\t4\twg=%d\t1.5\ttest\n", device->name, device->driver,
                dev->gpu ? "gpu" : "cpu", weft_spmv_algo_name(algos[i]), dev->gpu ? 64 : 1);
    if (!file || fclose(file))
        tap_bail("%s", path);
    struct weft_context *ctx = context_make(dev, "", path);
    for (size_t i = 0; i < sizeof algos / sizeof *algos; i++) {
        struct weft_spmv_params params = {.policy.algo = algos[i], .format.max_padding = 1e9, .format.sigma = 3};
        struct weft_spmv_plan *plan = NULL;
        struct weft_error err = {0};
        const weft_status status = weft_spmv_plan_create(&plan, ctx, dev->queue, &p.d, &params);
        weft_context_error(&err, ctx);
        tap_ok(status == WEFT_EINVAL && !plan && strstr(err.text, "sigma is 3"),
               "%s: a row of the tune file and an odd window, %s: %s", dev->name, weft_spmv_algo_name(algos[i]),
               err.text);
        params.format.sigma = 4;
        const weft_status even = weft_spmv_plan_create(&plan, ctx, dev->queue, &p.d, &params);
        tap_ok(!even && strstr(weft_spmv_plan_info(plan)->why, "tune file"), "%s: an even one takes the row: %s",
               dev->name, even ? "no plan" : weft_spmv_plan_info(plan)->why);
        weft_spmv_plan_destroy(&plan);
    }
    unlink(path);
    weft_context_destroy(&ctx);
    test_problem_free(&p);
}

// ---- another thread --------------------------------------------------------------------------------------------

static struct compiler {
    struct test_problem *p;
    struct weft_context *ctx;
    cl_command_queue queue;
    atomic_int compiled;
    atomic_bool stop;
} compiler;

static _Thread_local bool is_compiler;

// A compilation of the other thread takes longer than many runs.
static cl_int CL_API_CALL build_slowly(cl_program program, cl_uint count, const cl_device_id *devices,
                                       const char *options,
                                       void(CL_CALLBACK *notify)(cl_program program, void *user_data), void *user_data)
{
    if (is_compiler)
        nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
    return clBuildProgram(program, count, devices, options, notify, user_data);
}

// Plans with expressions that no program has had.
static void *compile_often(void *arg)
{
    struct compiler *c = arg;
    is_compiler = true;
    for (int i = 0; !c->stop; i++) {
        char times[32];
        snprintf(times, sizeof times, "a + b + %d.0f", i);
        struct weft_spmv_plan *plan = NULL;
        const struct weft_spmv_params params = {.policy.algo = WEFT_SPMV_ALGO_CSR_SCALAR,
                                                .problem.semiring = WEFT_SPMV_SEMIRING_CUSTOM,
                                                .problem.plus = "fmin(a, b)",
                                                .problem.times = times,
                                                .problem.zero = "INFINITY"};
        c->compiled += !weft_spmv_plan_create(&plan, c->ctx, c->queue, &c->p->d, &params);
        weft_spmv_plan_destroy(&plan);
    }
    return NULL;
}

// What the other thread compiles is not taken from the times of this one.
static void test_threads(struct test_device *dev)
{
    struct test_problem p = test_problem_make(dev, &rng, 600, 500, 6, 12, WEFT_TYPE_F32, WEFT_OFS_32);
    struct weft_context *ctx = context_make(dev, "", "");
    const struct weft_spmv_params params = {.policy.tune = 1, .policy.products = 1000};
    pthread_t thread;
    int right = 0;
    told = failed = 0;
    compiler = (struct compiler){.p = &p, .ctx = ctx, .queue = test_queue(dev, 0)};
    weft__cl.clBuildProgram = build_slowly;
    if (pthread_create(&thread, NULL, compile_often, &compiler))
        tap_bail("the system gives no thread");
    for (int i = 0; i < 3; i++) {
        const struct weft_spmv_info info = run(&p, ctx, &params, &right);
        tap_ok(right && info.tune_ms > 0 && info.analyse_ms >= 0 && info.convert_ms >= 0 && !strstr(info.why, " -"),
               "%s: measured while another thread compiles: %g, %g and %g ms, %s", dev->name, info.analyse_ms,
               info.convert_ms, info.tune_ms, info.why);
    }
    compiler.stop = true;
    pthread_join(thread, NULL);
    weft__cl.clBuildProgram = clBuildProgram;
    tap_ok(compiler.compiled > 0 && !failed, "%s: %d programs compiled meanwhile", dev->name, compiler.compiled);
    clReleaseCommandQueue(compiler.queue);
    weft_context_destroy(&ctx);
    test_problem_free(&p);
}

static void each_device(struct test_device *dev)
{
    test_records(dev);
    test_wide(dev);
    test_f64_sums(dev);
    test_rows(dev);
    test_threads(dev);
}

int main(void)
{
    rng = rng_start();
    if (!mkdtemp(dir))
        tap_bail("%s", dir);
    test_key();
    test_device_each(each_device);
    clear();
    rmdir(dir);
    return tap_done();
}
