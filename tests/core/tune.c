// SPDX-License-Identifier: Apache-2.0
// Tune files: which file is read, which of its lines, what plans take from them and what they refuse; results stay right.
#include "host/internal/inside.h"
#include "tests/support/device.h"
#include "tests/support/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <weft/expand.h>
#include <weft/generate.h>
#include <weft/histogram.h>
#include <weft/merge.h>
#include <weft/scan.h>
#include <weft/segsort.h>
#include <weft/spmv.h>
#include <weft/transpose.h>

static char folder[] = "/tmp/weft-tune-XXXXXX", path[64];
static char logged[8192];

static void log_keep(void *arg, const char *text)
{
    (void)arg;
    size_t used = strlen(logged);
    snprintf(logged + used, sizeof logged - used, "%s\n", text);
}

static int log_lines(void)
{
    int lines = 0;
    for (const char *at = logged; *at; at++)
        lines += *at == '\n';
    return lines;
}

static void file_write(const char *to, const char *text)
{
    FILE *file = fopen(to, "w");
    if (!file || fputs(text, file) < 0 || fclose(file))
        tap_bail("%s cannot be written", to);
}

// A context like that of `dev` with the rows in `text` (NULL: whatever the environment says), its log in `logged`.
static struct weft_context *context_make(struct test_device *dev, const char *text)
{
    const struct weft_device_info *info = weft_context_device(dev->ctx);
    struct weft_context *ctx = NULL;
    struct weft_error err = {0};
    logged[0] = 0;
    if (text)
        file_write(path, text);
    if (weft_context_create(&ctx,
                            weft_context_params(.device = info->id, .schedule = dev->ctx->schedule,
                                                .lanes = info->lanes,
                                                .wave = info->lanes == WEFT_LANES_SUBGROUPS ? info->wave : 0,
                                                .tune_file = text ? path : NULL, .log = log_keep),
                            &err))
        tap_bail("%s: %s", dev->name, err.text);
    return ctx;
}

// A row for the device; `of` gives another name, driver or schedule: "device", "driver", "schedule".
static char *row(struct test_device *dev, const char *of, const char *op, int bytes, const char *values)
{
    static char text[512];
    const struct weft_device_info *info = weft_context_device(dev->ctx);
    int gpu = dev->gpu ^ !strcmp(of, "schedule");
    snprintf(text, sizeof text, "%s%s\t%s%s\t%s\t%s\t%d\t%s\t1.5\twhatever\n", info->name,
             strcmp(of, "device") ? "" : " 2", info->driver, strcmp(of, "driver") ? "" : ".1", gpu ? "gpu" : "cpu", op,
             bytes, values);
    return text;
}

static struct weft_scan_info scan_info(struct weft_context *ctx, enum weft_scan_type type,
                                       const struct weft_scan_params *params)
{
    struct weft_scan_info info = {.params = {.gpu.wg = -1, .cpu.wg = -1}};
    struct weft_scan_plan *plan = NULL;
    if (!weft_scan_plan_create(&plan, ctx, type, 1000, params))
        info = *weft_scan_plan_info(plan);
    weft_scan_plan_destroy(&plan);
    return info;
}

// Values that are not the defaults.
static const char *scan_values(const struct test_device *dev)
{
    return dev->gpu ? "wg=64 ipt=4 groups=3" : "wg=1 ipt=64 groups=3";
}

static int is_tuned(const struct test_device *dev, const struct weft_scan_info *info)
{
    return test_value(dev, "scan", &info->params, "wg") == (dev->gpu ? 64 : 1) &&
           test_value(dev, "scan", &info->params, "ipt") == (dev->gpu ? 4 : 64) &&
           test_value(dev, "scan", &info->params, "groups") == 3 && strstr(info->why, "tuning from the tune file") &&
           !strstr(info->why, "by the caller");
}

// The sums of a plan that took its values from the file.
static int scan_right(struct test_device *dev, struct weft_context *ctx)
{
    enum { N = 5000 };
    static int32_t in[N], want[N], got[N];
    struct weft_scan_plan *plan = NULL;
    struct rng rng = {5};
    cl_int error;
    for (int i = 0; i < N; i++)
        in[i] = (int32_t)(rng_u64(&rng) % 9);
    weft__ref_scan(want, in, N, WEFT_SCAN_TYPE_I32, 0, 0);
    cl_command_queue queue = clCreateCommandQueue(ctx->cl, ctx->device.id, 0, &error);
    cl_mem a = clCreateBuffer(ctx->cl, CL_MEM_COPY_HOST_PTR, sizeof in, in, &error);
    cl_mem b = clCreateBuffer(ctx->cl, 0, sizeof got, NULL, &error);
    int good = !weft_scan_plan_create(&plan, ctx, WEFT_SCAN_TYPE_I32, N, NULL) &&
               !weft_scan_run(plan, queue, b, a, N, 0, NULL, NULL) &&
               !clEnqueueReadBuffer(queue, b, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL) &&
               !memcmp(got, want, sizeof got);
    struct weft_scan_info info = {.why = ""};
    if (plan)
        info = *weft_scan_plan_info(plan);
    weft_scan_plan_destroy(&plan);
    clReleaseMemObject(a);
    clReleaseMemObject(b);
    clReleaseCommandQueue(queue);
    return good && is_tuned(dev, &info);
}

static void test_taken(struct test_device *dev)
{
    struct weft_context *ctx = context_make(dev, row(dev, "", "scan", 4, scan_values(dev)));
    tap_ok(scan_right(dev, ctx) && !*logged, "%s: a plan takes the values of its row, and sums are right", dev->name);
    struct weft_scan_info plain = scan_info(dev->ctx, WEFT_SCAN_TYPE_I64, NULL),
                          wide = scan_info(ctx, WEFT_SCAN_TYPE_I64, NULL);
    tap_ok(!memcmp(&plain.params, &wide.params, sizeof plain.params) && !strcmp(plain.why, wide.why),
           "%s: elements of another width do not", dev->name);
    int ipt = dev->gpu ? 8 : 128;
    struct weft_scan_info given =
        scan_info(ctx, WEFT_SCAN_TYPE_I32, weft_scan_params(.gpu.ipt = ipt, .cpu.chunk = ipt));
    tap_ok(test_value(dev, "scan", &given.params, "ipt") == ipt &&
               test_value(dev, "scan", &given.params, "groups") != 3 && strstr(given.why, "by the caller"),
           "%s: nor does a plan whose caller gives a value", dev->name);
    size_t bytes = 0;
    tap_ok(!weft_scan_workspace(&bytes, ctx, WEFT_SCAN_TYPE_I32, 1000, NULL) &&
               bytes == scan_info(ctx, WEFT_SCAN_TYPE_I32, NULL).workspace_bytes,
           "%s: the workspace that is told is that of the tuned plan", dev->name);
    weft_context_destroy(&ctx);
}

static void test_others(struct test_device *dev)
{
    static const char *const of[] = {"device", "driver", "schedule"};
    char text[2048] = "";
    for (int i = 0; i < 3; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s", row(dev, of[i], "scan", 4, scan_values(dev)));
    struct weft_context *ctx = context_make(dev, text);
    struct weft_scan_info plain = scan_info(dev->ctx, WEFT_SCAN_TYPE_I32, NULL),
                          info = scan_info(ctx, WEFT_SCAN_TYPE_I32, NULL);
    tap_ok(!memcmp(&plain.params, &info.params, sizeof plain.params) && !strstr(info.why, "tune file") && !*logged,
           "%s: rows of another device, driver or schedule change nothing", dev->name);
    weft_context_destroy(&ctx);
    snprintf(text, sizeof text, "%s%s", row(dev, "", "scan", 4, "wg=32 ipt=8"), "");
    strcat(text, row(dev, "", "scan", 4, scan_values(dev)));
    ctx = context_make(dev, text);
    info = scan_info(ctx, WEFT_SCAN_TYPE_I32, NULL);
    tap_ok(is_tuned(dev, &info), "%s: of two rows the last counts", dev->name);
    weft_context_destroy(&ctx);
}

static void test_malformed(struct test_device *dev)
{
    static const char *const values[] = {"",
                                         "wg",
                                         "wg=",
                                         "wg=0",
                                         "wg=-3",
                                         "wg=3x",
                                         "wg=64 =4",
                                         "=4",
                                         "wg= 64",
                                         "wg=99999999999",
                                         "wg=64  ipt=4",
                                         "wg=+4",
                                         "a=1 b=1 c=1 d=1 e=1 f=1 g=1",
                                         "a_name_that_is_longer_than_it_may=3"};
    enum { VALUES = sizeof values / sizeof *values };
    static char text[16384];
    snprintf(text, sizeof text, "# a comment\n\nnonsense\n\t\t\t\t\t\nGPU\t1\tboth\tscan\t4\twg=64\n");
    for (int i = 0; i < VALUES; i++)
        strcat(text, row(dev, "", "scan", 4, values[i]));
    strcat(text, row(dev, "", "an_operation_with_a_long_name", 4, "wg=64"));
    strcat(text, row(dev, "", "scan", -4, "wg=64"));
    memset(text + strlen(text), 'x', 3000);
    strcat(text, "\n");
    strcat(text, row(dev, "", "scan", 4, scan_values(dev)));
    text[strlen(text) - 1] = 0; // the last line has no end
    struct weft_context *ctx = context_make(dev, text);
    struct weft_scan_info info = scan_info(ctx, WEFT_SCAN_TYPE_I32, NULL);
    tap_ok(is_tuned(dev, &info), "%s: lines that are none hide no other", dev->name);
    tap_is_int(log_lines(), 3 + VALUES + 2 + 1, "%s: each is a line of the log", dev->name);
    tap_ok(strstr(logged, ":3: no row") && strstr(logged, ": too long") && strstr(logged, path),
           "%s: with file and line", dev->name);
    weft_context_destroy(&ctx);
    char *random = test_alloc(20000);
    struct rng rng = {7};
    for (int i = 0; i < 19999; i++)
        random[i] = (char)(1 + rng_u64(&rng) % 255);
    random[19999] = 0;
    ctx = context_make(dev, random);
    tap_ok(ctx->ntune == 0, "%s: a file of random bytes", dev->name);
    weft_context_destroy(&ctx);
    free(random);
}

static void test_refused(struct test_device *dev)
{
    static const char *const values[] = {"wg=99999999", "ipt=3", "ipt=2000000000", "bins=3"};
    struct weft_scan_info plain = scan_info(dev->ctx, WEFT_SCAN_TYPE_I32, NULL);
    for (int i = 0; i < 4; i++) {
        struct weft_context *ctx = context_make(dev, row(dev, "", "scan", 4, values[i]));
        struct weft_scan_info info = scan_info(ctx, WEFT_SCAN_TYPE_I32, NULL);
        struct weft_error err;
        weft_context_error(&err, ctx);
        tap_ok(!memcmp(&plain.params, &info.params, sizeof plain.params) && !strcmp(info.why, plain.why) &&
                   strstr(logged, "left out") && !err.status && !err.text[0],
               "%s: %s is refused, the defaults stay, and nothing failed: %s", dev->name, values[i], logged);
        weft_context_destroy(&ctx);
    }
    struct weft_context *ctx = context_make(dev, row(dev, "", "scan", 4, scan_values(dev)));
    struct weft_scan_plan *plan = NULL;
    tap_ok(weft_scan_plan_create(&plan, ctx, WEFT_SCAN_TYPE_I32, -1, NULL) == WEFT_EINVAL && !plan &&
               !strstr(logged, "left out"),
           "%s: the caller's own mistake is not the file's: %s", dev->name, logged);
    weft_context_destroy(&ctx);
}

// Every operation has a row of its own.
static void test_operations(struct test_device *dev)
{
    const int wg = dev->gpu ? 64 : 1;
    const char *values = dev->gpu ? "wg=64 ipt=4" : "wg=1 ipt=2048";
    static char text[4096];
    text[0] = 0;
    strcat(text, row(dev, "", "merge", 8, values));
    strcat(text, row(dev, "", "segsort", 8, values));
    strcat(text, row(dev, "", "segsort.whole", 8, "wg=64 ipt=4 look=2"));
    strcat(text, row(dev, "", "expand", 4, values));
    strcat(text, row(dev, "", "histogram.rows", 4, values));
    strcat(text, row(dev, "", "histogram.atomic", 4, values));
    struct weft_context *ctx = context_make(dev, text);
    const int ipt = dev->gpu ? 4 : 2048;
    struct weft_merge_plan *merge = NULL;
    struct weft_merge_info m = {.why = ""};
    if (!weft_merge_plan_create(&merge, ctx, WEFT_KEY_U32, 4, 100, NULL))
        m = *weft_merge_plan_info(merge);
    tap_ok(test_value(dev, "merge", &m.params, "wg") == wg && test_value(dev, "merge", &m.params, "ipt") == ipt &&
               strstr(m.why, "tune file"),
           "%s: merge: %s", dev->name, m.why);
    weft_merge_plan_destroy(&merge);
    struct weft_segsort_plan *sort = NULL;
    struct weft_segsort_info s = {.why = ""};
    if (!test_sample()) { // its kernels take a CPU's compiler longest
        if (!weft_segsort_plan_create(&sort, ctx, WEFT_KEY_U32, 4, WEFT_OFS_32, 100, NULL))
            s = *weft_segsort_plan_info(sort);
        tap_ok(test_value(dev, "segsort", &s.params, "wg") == wg &&
                   test_value(dev, "segsort", &s.params, "ipt") == ipt && strstr(s.why, "tune file"),
               "%s: segsort: %s", dev->name, s.why);
        weft_segsort_plan_destroy(&sort);
        if (dev->gpu) { // a row of its own, which the plan above is too small for
            tap_ok(!s.params.gpu.radix.wg, "%s: no digits, no values of theirs", dev->name);
            const struct weft_segsort_params chained = {.whole = WEFT_SEGSORT_WHOLE_CHAINED};
            s = (struct weft_segsort_info){.why = ""};
            if (!weft_segsort_plan_create(&sort, ctx, WEFT_KEY_U32, 4, WEFT_OFS_32, 100, &chained))
                s = *weft_segsort_plan_info(sort);
            const char *why = strstr(s.why, "look back");
            tap_ok(s.params.gpu.radix.wg == 64 && s.params.gpu.radix.ipt == 4 && s.params.gpu.radix.look == 2 &&
                       test_value(dev, "segsort", &s.params, "wg") == wg && why && strstr(why, "tune file"),
                   "%s: segsort.whole: %s", dev->name, s.why);
            weft_segsort_plan_destroy(&sort);
        }
    }
    struct weft_expand_plan *expand = NULL;
    struct weft_expand_info e = {.why = ""};
    if (!weft_expand_plan_create(&expand, ctx, 100, 100, WEFT_OFS_32, NULL))
        e = *weft_expand_plan_info(expand);
    tap_ok(test_value(dev, "expand", &e.params, "wg") == wg && test_value(dev, "expand", &e.params, "ipt") == ipt &&
               strstr(e.why, "tune file"),
           "%s: expand: %s", dev->name, e.why);
    weft_expand_plan_destroy(&expand);
    for (int many = 0; many <= dev->gpu; many++) {
        struct weft_histogram_plan *histogram = NULL;
        struct weft_histogram_info h = {.why = ""};
        if (!weft_histogram_plan_create(&histogram, ctx, many ? 10000000 : 100, WEFT_OFS_32, 100, NULL))
            h = *weft_histogram_plan_info(histogram);
        tap_ok(test_value(dev, "histogram", &h.params, "wg") == wg &&
                   test_value(dev, "histogram", &h.params, "ipt") == ipt && strstr(h.why, "tune file") &&
                   h.params.algo == (many ? WEFT_HISTOGRAM_ALGO_ATOMIC : WEFT_HISTOGRAM_ALGO_ROWS),
               "%s: histogram: %s", dev->name, h.why);
        weft_histogram_plan_destroy(&histogram);
    }
    tap_ok(!*logged, "%s: nothing to log", dev->name);
    weft_context_destroy(&ctx);
}

// Transposes of `a` with these rows agree with the reference; `why` is what the object says.
static int transpose_right(struct weft_context *ctx, const struct weft_csr *a, enum weft_transpose_algo algo,
                           struct weft_transpose_info *info)
{
    struct weft_csr want = {0}, got = {0};
    struct weft_transpose_plan *op = NULL;
    const struct weft_transpose_params *params = weft_transpose_params(.algo = algo);
    int good = !weft__ref_transpose(&want, a) && !weft_transpose_sync(&got, ctx, a, params) &&
               weft_csr_equal(&want, &got) && !weft_transpose_plan_create(&op, ctx, weft_csr_shape(a), params);
    if (good)
        *info = *weft_transpose_plan_info(op);
    weft_transpose_plan_destroy(&op);
    weft_csr_free(&want);
    weft_csr_free(&got);
    return good;
}

// Rows of transposes and products, and rows of values that they refuse.
static void test_matrices(struct test_device *dev)
{
    static char text[4096];
    struct weft_csr a = {0};
    struct weft_error err;
    if (weft_generate(&a, "uniform:300,200,4000", NULL, &err))
        tap_bail("%s", err.text);
    float *x = test_alloc(200 * sizeof *x), *want = test_alloc(300 * sizeof *want), *y = test_alloc(300 * sizeof *y);
    for (int i = 0; i < 200; i++)
        x[i] = (float)(i % 7);
    for (int64_t p = 0; p < a.nnz; p++)
        ((float *)a.val)[p] = (float)(p % 5);
    const enum weft_spmv_algo algo = dev->gpu ? WEFT_SPMV_ALGO_CSR_MERGE : WEFT_SPMV_ALGO_SELL;
    for (int bad = 0; bad < 2; bad++) {
        const char *values = bad ? "wg=7777777" : dev->gpu ? "wg=64 ipt=4 bits=8" : "groups=3";
        text[0] = 0;
        strcat(text, row(dev, "", "transpose.scan", 4, values));
        strcat(text, row(dev, "", "transpose.merge", 4, bad || !dev->gpu ? values : "wg=64 ipt=4"));
        strcat(text, row(dev, "", dev->gpu ? "spmv.csr_merge" : "spmv.sell", 4,
                         bad        ? "wg=7777777"
                         : dev->gpu ? "wg=64 ipt=8 read=1"
                                    : "wg=2"));
        struct weft_context *ctx = context_make(dev, text);
        for (enum weft_transpose_algo t = WEFT_TRANSPOSE_ALGO_SCAN; t <= WEFT_TRANSPOSE_ALGO_MERGE; t++) {
            struct weft_transpose_info info = {.why = ""};
            int good = transpose_right(ctx, &a, t, &info);
            int taken = dev->gpu ? info.params.gpu.wg == 64 && info.params.gpu.ipt == 4 : info.params.cpu.chunks == 3;
            // The CPU schedule has one work-item in each group, whatever it is asked for.
            int refused = bad && dev->gpu;
            tap_ok(good && (bad || (taken && strstr(info.why, "tune file"))) &&
                       (!refused || (!strstr(info.why, "tune file") && strstr(logged, "left out"))),
                   "%s: transpose %d, %s: %s", dev->name, (int)t, values, info.why);
        }
        cl_command_queue queue = clCreateCommandQueue(ctx->cl, ctx->device.id, 0, NULL);
        struct weft_device_csr on = {0};
        struct weft_spmv_plan *plan = NULL;
        struct weft_spmv_info info = {.why = ""};
        weft_status status = weft_device_csr_alloc(&on, ctx, weft_csr_shape(&a));
        if (!status)
            status = weft_device_csr_write_sync(&on, ctx, queue, &a);
        if (!status)
            status = weft_spmv_plan_create(&plan, ctx, queue, &on, weft_spmv_params(.policy.algo = algo));
        if (!status)
            info = *weft_spmv_plan_info(plan);
        weft_spmv_plan_destroy(&plan);
        weft_device_csr_free(&on);
        clReleaseCommandQueue(queue);
        tap_ok(!status && (strstr(info.why, "tune file") == NULL) == bad &&
                   (bad || (dev->gpu ? info.params.gpu.wg == 64 && info.params.gpu.ipt == 8 : info.params.cpu.wg == 2)),
               "%s: product, %s: %s", dev->name, bad ? "refused" : "taken", info.why);
        for (int i = 0; i < 300; i++) {
            want[i] = 0;
            for (int64_t p = weft_csr_ofs(&a, i); p < weft_csr_ofs(&a, i + 1); p++)
                want[i] += ((float *)a.val)[p] * x[a.col[p]];
        }
        tap_ok(!weft_spmv_sync(y, ctx, 1, &a, x, 0, weft_spmv_params(.policy.algo = algo)) &&
                   !memcmp(y, want, 300 * sizeof *y),
               "%s: and its result is right", dev->name);
        weft_context_destroy(&ctx);
    }
    free(x);
    free(want);
    free(y);
    weft_csr_free(&a);
}

// The rows of the tables for a vendor whose device is not here.
static void test_vendor(struct test_device *dev)
{
    struct weft_context *ctx = context_make(dev, "");
    snprintf(ctx->device.vendor, sizeof ctx->device.vendor, "Advanced Micro Devices, Inc.");
    struct weft_merge_plan *merge = NULL;
    struct weft_segsort_plan *sort = NULL;
    struct weft_merge_info m = {.why = ""};
    const int wave32 = ctx->device.wave == 32; // these have a row of their own
    struct weft_segsort_info s = {.why = ""};
    if (!weft_merge_plan_create(&merge, ctx, WEFT_KEY_U32, 4, 100, NULL))
        m = *weft_merge_plan_info(merge);
    if (!test_sample() && !weft_segsort_plan_create(&sort, ctx, WEFT_KEY_U32, 4, WEFT_OFS_32, 100, NULL))
        s = *weft_segsort_plan_info(sort);
    tap_ok((strstr(m.why, "from the ISA") != NULL) == dev->gpu &&
               (test_sample() || (strstr(s.why, "from the ISA") != NULL) == dev->gpu) &&
               (!dev->gpu || (test_value(dev, "merge", &m.params, "ipt") == WEFT__HOSTILE(wave32 ? 12 : 7, 1) &&
                              (test_sample() || test_value(dev, "segsort", &s.params, "ipt") == WEFT__HOSTILE(6, 1)))),
           "%s: AMD has rows of its own, for GPUs: %s", dev->name, m.why);
    weft_merge_plan_destroy(&merge);
    weft_segsort_plan_destroy(&sort);
    weft_context_destroy(&ctx);
}

// Which file: the parameter, WEFT_TUNE, XDG_CONFIG_HOME, HOME.
static void test_path(struct test_device *dev)
{
    char out[256], xdg[64], under[96];
    const char *had_home = getenv("HOME");
    char home[512];
    snprintf(home, sizeof home, "%s", had_home ? had_home : "");
    snprintf(xdg, sizeof xdg, "%s", folder);
    snprintf(under, sizeof under, "%s/weft", folder);
    mkdir(under, 0777);
    snprintf(under, sizeof under, "%s/weft/tune.tsv", folder);
    file_write(under, row(dev, "", "scan", 4, scan_values(dev)));
    setenv("XDG_CONFIG_HOME", xdg, 1);
    setenv("WEFT_TUNE", "", 1);
    struct weft_context *ctx = context_make(dev, NULL);
    tap_ok(ctx->ntune == 0 && !*logged, "%s: an empty WEFT_TUNE is no file", dev->name);
    weft_context_destroy(&ctx);
    unsetenv("WEFT_TUNE");
    ctx = context_make(dev, NULL);
    struct weft_scan_info info = scan_info(ctx, WEFT_SCAN_TYPE_I32, NULL);
    tap_ok(is_tuned(dev, &info), "%s: the file below XDG_CONFIG_HOME is read by default", dev->name);
    weft_context_destroy(&ctx);
    tap_ok(weft__tune_path(out, sizeof out, "x") && !strcmp(out, "x") && !weft__tune_path(out, sizeof out, ""),
           "%s: a parameter goes before, an empty one is no file", dev->name);
    setenv("WEFT_TUNE", "/nonexistent/tune", 1);
    tap_ok(weft__tune_path(out, sizeof out, NULL) && !strcmp(out, "/nonexistent/tune"), "%s: so does WEFT_TUNE",
           dev->name);
    unsetenv("WEFT_TUNE");
    setenv("XDG_CONFIG_HOME", "no/absolute/path", 1); // is as if it were not set
    setenv("HOME", "/proc/nonexistent", 1);           // where not even root makes a folder
    ctx = context_make(dev, NULL);
    tap_ok(weft__tune_path(out, sizeof out, NULL) && !strcmp(out, "/proc/nonexistent/.config/weft/tune.tsv") &&
               !*logged,
           "%s: a default file need not be there, and a folder that is no absolute path is as if it were not set",
           dev->name);
    unsetenv("XDG_CONFIG_HOME");
    tap_ok(weft__tune_path(out, sizeof out, NULL) && !strcmp(out, "/proc/nonexistent/.config/weft/tune.tsv"),
           "%s: the home's file", dev->name);
    weft_context_destroy(&ctx);
#ifndef _WIN32
    setenv("HOME", "no/absolute/path", 1);
    tap_ok(!weft__tune_path(out, sizeof out, NULL), "%s: a home that is no absolute path has none", dev->name);
    setenv("HOME", "/proc/nonexistent", 1);
#endif
    unlink(path);
    ctx = context_make(dev, "");
    tap_ok(!*logged, "%s: an empty file", dev->name);
    weft_context_destroy(&ctx);
    logged[0] = 0;
    weft__tune_load(dev->ctx, folder);
    tap_ok(dev->ctx->ntune == 0, "%s: a folder is no file", dev->name);
    setenv("HOME", home, 1);
    setenv("WEFT_TUNE", "", 1);
    unlink(under);
}

static void test_missing(struct test_device *dev)
{
    static const char *const files[] = {"/nonexistent/tune", "/dev/zero"};
    for (int i = 0; i < 2; i++) {
        struct weft_context *ctx = NULL;
        logged[0] = 0;
        weft_status status = weft_context_create(
            &ctx,
            weft_context_params(.device = weft_context_device(dev->ctx)->id, .tune_file = files[i], .log = log_keep),
            NULL);
        tap_ok(!status && log_lines() == 1 && strstr(logged, files[i]), "%s: a file asked for is missed: %s", dev->name,
               logged);
        weft_context_destroy(&ctx);
    }
}

// A file that the environment names is read where it is the user's own; one that the caller names may be anybody's.
static void test_foreign(struct test_device *dev)
{
    static const struct {
        const char *what;
        mode_t file, folder; // of the file 0: it is another thing
        int taken, named;    // by the environment, by the caller
    } cases[] = {{"its own", 0644, 0755, 1, 1},
                 {"of the group", 0664, 0700, 0, 1},
                 {"of everybody", 0606, 0700, 0, 1},
                 {"of the group's folder", 0600, 0770, 0, 1},
                 {"link", 0, 0700, 0, 1},
                 {"fifo", 0, 0700, 0, 0},
                 {"folder", 0, 0700, 0, 0},
                 {"another user's", 0600, 0700, 0, 1}};
    char own[] = "/tmp/weft-tune-own-XXXXXX", file[64], real[64], whole[5000];
    if (!mkdtemp(own))
        tap_bail("no folder for files");
    snprintf(file, sizeof file, "%s/tune.tsv", own);
    snprintf(real, sizeof real, "%s/real.tsv", own);
    alarm(120); // a FIFO waits for its writer
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *what = cases[i].what;
        if (!strcmp(what, "another user's") && geteuid()) {
            tap_skip("only root gives files away");
            continue;
        }
        file_write(real, row(dev, "", "scan", 4, scan_values(dev)));
        int good = !strcmp(what, "link")     ? !symlink(real, file)
                   : !strcmp(what, "fifo")   ? !mkfifo(file, 0600)
                   : !strcmp(what, "folder") ? !mkdir(file, 0700)
                                             : !rename(real, file) && !chmod(file, cases[i].file);
        if (!strcmp(what, "another user's"))
            good = good && !chown(file, 65534, 0);
        good = good && !chmod(own, cases[i].folder);
        for (int named = 0; named < 2; named++) {
            const struct weft_device_info *info = weft_context_device(dev->ctx);
            struct weft_context *ctx = NULL;
            setenv("WEFT_TUNE", named ? "" : file, 1);
            logged[0] = 0;
            weft_status status = weft_context_create(
                &ctx,
                weft_context_params(.device = info->id, .schedule = dev->ctx->schedule, .lanes = info->lanes,
                                    .wave = info->lanes == WEFT_LANES_SUBGROUPS ? info->wave : 0,
                                    .tune_file = named ? file : NULL, .log = log_keep),
                NULL);
            const int taken = !status && ctx->ntune == 1, want = named ? cases[i].named : cases[i].taken;
            tap_ok(good && !status && taken == want && log_lines() == !want && (want || strstr(logged, file)),
                   "%s: a file %s, named by the %s: %s", dev->name, what, named ? "caller" : "environment",
                   want ? "read" : logged);
            weft_context_destroy(&ctx);
        }
        chmod(own, 0700);
        unlink(real);
        if (unlink(file))
            rmdir(file);
    }
    alarm(0);
    rmdir(own);
    memset(whole, 'x', sizeof whole - 1);
    whole[sizeof whole - 1] = 0;
    setenv("WEFT_TUNE", whole, 1);
    struct weft_context *ctx = context_make(dev, NULL);
    tap_ok(!ctx->ntune && log_lines() == 1 && strstr(logged, "too long"), "%s: a path without end: %s", dev->name,
           logged);
    weft_context_destroy(&ctx);
    setenv("WEFT_TUNE", "", 1);
}

static void test_device(struct test_device *dev)
{
    test_foreign(dev);
    test_taken(dev);
    test_others(dev);
    test_malformed(dev);
    test_refused(dev);
    test_operations(dev);
    test_matrices(dev);
    test_vendor(dev);
    test_path(dev);
    test_missing(dev);
}

int main(void)
{
    if (!mkdtemp(folder))
        tap_bail("no folder for files");
    snprintf(path, sizeof path, "%s/tune.tsv", folder);
    test_device_each(test_device);
    char under[96];
    snprintf(under, sizeof under, "%s/weft", folder);
    unlink(path);
    rmdir(under);
    rmdir(folder);
    return tap_done();
}
