// SPDX-License-Identifier: Apache-2.0
// Every backend but weft's own kernels, whose operations have tests of their own: each algorithm on shapes that hug
// edges either gives the right result or says in one line why it cannot.
#include "backends/backend.h"
#include "backends/pages.h"
#include "host/common/clock.h"
#include "host/internal/inside.h"
#include "host/common/check_spmv.h"
#include "tests/support/device.h"
#include "tests/support/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum rows {
    EQUAL,    // each row has its share
    RANDOM,   // each row has up to twice that
    GAPS,     // every third row is empty, and so is the end
    LONG_ROW, // everything in one row, the rest is empty
    LAST_ROW, // everything in the last row
    ONE_EACH, // the first row has one entry, the last everything else
};

static const struct shape {
    int64_t m, n, nnz; // nnz: about so many
    enum rows rows;
    int repeats; // nonzero: columns repeat inside rows, in any order; else they ascend
} shapes[] = {
    {0, 0, 0, EQUAL, 0},          {0, 5, 0, EQUAL, 0},
    {5, 0, 0, EQUAL, 0},          {7, 5, 0, EQUAL, 0},
    {1, 1, 1, EQUAL, 0},          {1, 40, 30, EQUAL, 0},
    {40, 1, 40, EQUAL, 0},        {1, 3000, 3000, EQUAL, 0},
    {256, 256, 2048, EQUAL, 0},   {257, 255, 2000, EQUAL, 1},
    {1000, 700, 9000, RANDOM, 0}, {1000, 700, 9000, RANDOM, 1},
    {3, 5000, 9000, RANDOM, 0},   {5000, 3, 12000, RANDOM, 0},
    {900, 900, 20000, RANDOM, 0}, {500, 400, 3000, GAPS, 0},
    {500, 400, 3000, GAPS, 1},    {130, 4000, 3000, LONG_ROW, 0},
    {64, 90, 80, LONG_ROW, 0},    {600, 2000, 1500, LAST_ROW, 0},
    {50, 60, 55, ONE_EACH, 0},
};

static int64_t row_length(const struct shape *s, int64_t i, struct rng *rng)
{
    const int64_t mean = s->m ? (s->nnz + s->m - 1) / s->m : 0;
    int64_t length = 0;
    switch (s->rows) {
    case EQUAL:
        length = mean;
        break;
    case RANDOM:
        length = rng_between(rng, 0, 2 * mean);
        break;
    case GAPS:
        length = i % 3 && i < s->m - 20 ? 2 * mean : 0;
        break;
    case LONG_ROW:
        length = i == s->m / 2 ? s->nnz : 0;
        break;
    case LAST_ROW:
        length = i == s->m - 1 ? s->nnz : 0;
        break;
    case ONE_EACH:
        length = i == 0 ? 1 : i == s->m - 1 ? s->nnz - 1 : 0;
        break;
    }
    return length < s->n || s->repeats ? length : s->n;
}

static double small(struct rng *rng)
{
    return (double)rng_between(rng, -4, 4);
}

// Of a vector. Sums of integers wrap around.
static double element(enum weft_type type, struct rng *rng)
{
    return type == WEFT_TYPE_I32 ? (double)rng_between(rng, INT32_MIN, INT32_MAX) : small(rng);
}

static void number_set(enum weft_type type, void *out, int64_t i, double value)
{
    if (type == WEFT_TYPE_F32)
        ((float *)out)[i] = (float)value;
    else if (type == WEFT_TYPE_F64)
        ((double *)out)[i] = value;
    else if (type == WEFT_TYPE_I32)
        ((int32_t *)out)[i] = (int32_t)value;
}

// Small integers, so that products are exact. A row of k distinct columns takes one from each k-th of them.
static void make(struct weft_csr *out, const struct shape *s, enum weft_type type, enum weft_ofs ofs, struct rng *rng)
{
    struct weft_coo coo;
    struct weft_error err = {0};
    int64_t *length = test_alloc(((size_t)s->m + 1) * sizeof *length), nnz = 0, p = 0;
    for (int64_t i = 0; i < s->m; i++)
        nnz += length[i] = row_length(s, i, rng);
    if (weft_coo_alloc(&coo, weft_shape(.m = s->m, .n = s->n, .nnz = nnz, .type = type)))
        tap_bail("no memory");
    for (int64_t i = 0; i < s->m; i++)
        for (int64_t k = 0; k < length[i]; k++, p++) {
            int64_t low = k * s->n / length[i], high = (k + 1) * s->n / length[i] - 1;
            coo.row[p] = (int32_t)i;
            coo.col[p] = (int32_t)(s->repeats ? rng_between(rng, 0, s->n - 1) : rng_between(rng, low, high));
            number_set(type, coo.val, p, small(rng));
        }
    if (weft_csr_from_coo(out, &coo, ofs, &err))
        tap_bail("%s", err.text);
    weft_coo_free(&coo);
    free(length);
}

struct tally {
    const struct weft_backend *backend;
    const char *algo;
    int right, refused, wrong;
    char reasons[2048]; // of the refusals, each once
};

// What became of a case.
static void count(struct tally *t, const struct weft_csr *a, weft_status status, int right, const char *text)
{
    if (!status && right) {
        t->right++;
    } else if (status == WEFT_EUNSUPPORTED && *text && !strchr(text, '\n')) {
        t->refused++;
        size_t used = strlen(t->reasons);
        if (!strstr(t->reasons, text) && used + strlen(text) < sizeof t->reasons) {
            tap_note("%s, %s: %s", t->backend->name, t->algo, text);
            memcpy(t->reasons + used, text, strlen(text) + 1);
        }
    } else if (t->wrong++ < 5) {
        tap_note("%s, %s: %lld x %lld, %lld entries, %s, %d-bit offsets: status %d, %s", t->backend->name, t->algo,
                 (long long)a->m, (long long)a->n, (long long)a->nnz, weft_type_name(a->type),
                 8 * (int)weft_ofs_bytes(a->ofs), status, text);
    }
}

static void spmv_case(struct tally *t, struct weft_context *ctx, const struct weft_csr *a, double alpha, double beta,
                      struct rng *rng)
{
    const struct weft_backend_spmv *op = &t->backend->spmv;
    const enum weft_type type = a->type == WEFT_TYPE_PATTERN ? WEFT_TYPE_F32 : a->type;
    struct weft_backend_times times = WEFT_BACKEND_NO_TIMES;
    struct weft_error err = {0};
    size_t bytes = (size_t)a->m * weft_type_bytes(type);
    void *x = test_alloc((size_t)a->n * 8), *y0 = test_alloc(bytes), *y = test_alloc(bytes), *state = NULL;
    for (int64_t j = 0; j < a->n; j++)
        number_set(type, x, j, element(type, rng));
    for (int64_t i = 0; i < a->m; i++)
        number_set(type, y0, i, element(type, rng));
    test_poison(y, bytes);
    struct weft_backend_spmv_job job = {.a = a, .x = x, .y = beta != 0 ? y0 : NULL, .alpha = alpha, .beta = beta};
    struct check_spmv check = {
        .a = a, .type = type, .exact = 1, .alpha = alpha, .beta = beta, .x = x, .y0 = beta != 0 ? y0 : NULL};
    int right = 0;
    double ms = -1;
    weft_status status = op->prepare(&state, ctx, &job, t->algo, &times, &err);
    for (int run = 0; run < 2 && !status; run++) // the second shows what the first left behind
        status = op->run(state, &ms, &err);
    int stays = 0; // a result that was there before
    if (!status && a->m) {
        status = op->poison(state, &err);
        stays = !status && !op->result(state, y, &times, &err) && check_spmv(&check, y, err.text, sizeof err.text);
    }
    if (!status)
        status = op->run(state, &ms, &err);
    if (!status)
        status = op->result(state, y, &times, &err);
    if (!status) {
        right = !stays && check_spmv(&check, y, err.text, sizeof err.text) && ms >= 0;
        if (!right && (ms < 0 || stays))
            snprintf(err.text, sizeof err.text, stays ? "poison leaves the result" : "no time");
    }
    op->finish(&state);
    count(t, a, status, right, err.text);
    free(x);
    free(y0);
    free(y);
}

static void transpose_case(struct tally *t, struct weft_context *ctx, const struct weft_csr *a)
{
    const struct weft_backend_transpose *op = &t->backend->transpose;
    struct weft_backend_times times = WEFT_BACKEND_NO_TIMES;
    struct weft_error err = {0};
    struct weft_csr out = {0}, want;
    void *state = NULL;
    double ms = -1;
    int right = 0;
    weft_status status = op->prepare(&state, ctx, a, t->algo, NULL, &times, &err);
    for (int run = 0; run < 2 && !status; run++)
        status = op->run(state, &ms, &err);
    if (weft__ref_transpose(&want, a))
        tap_bail("no memory");
    int stays = 0; // a result that was there before
    if (!status) {
        status = op->poison(state, &err);
        stays = !status && !op->result(state, &out, &times, &err) && weft_csr_equal(&want, &out);
        weft_csr_free(&out);
    }
    if (!status)
        status = op->run(state, &ms, &err);
    if (!status)
        status = op->result(state, &out, &times, &err);
    if (!status) {
        right = !stays && weft_csr_equal(&want, &out) && ms >= 0;
        if (!right)
            snprintf(err.text, sizeof err.text, "%s",
                     stays ? "poison leaves the transpose" : "the transpose differs, or has no time");
    }
    weft_csr_free(&want);
    op->finish(&state);
    weft_csr_free(&out);
    count(t, a, status, right, err.text);
}

static const enum weft_type types[] = {WEFT_TYPE_F32, WEFT_TYPE_F64, WEFT_TYPE_I32, WEFT_TYPE_PATTERN};

static void tally_show(const struct tally *t, const char *op, const char *where)
{
    tap_ok(!t->wrong && t->right, "%s, %s by %s%s: %d right, %d refused, %d wrong", t->backend->name, op, t->algo,
           where, t->right, t->refused, t->wrong);
}

// Algorithms and tuning values that a backend does not know are refused by their names.
static void names_test(const struct weft_backend *backend, struct weft_context *ctx, const struct weft_csr *a)
{
    const struct weft_backend_tune tune = {1, {{"strange", 1}}};
    struct weft_backend_times times;
    for (int tuned = 0; tuned < 2; tuned++) {
        struct weft_backend_spmv_job job = {.a = a, .alpha = 1, .tune = tuned ? &tune : NULL};
        const char *algo = tuned ? NULL : "nonsense", *named = tuned ? "strange" : "nonsense";
        struct weft_error err = {0};
        void *state = NULL;
        if (backend->transpose.algos)
            tap_ok(backend->transpose.prepare(&state, ctx, a, algo, job.tune, &times, &err) == WEFT_EINVAL && !state &&
                       strstr(err.text, named),
                   "%s, transposition, %s: %s", backend->name, named, err.text);
        if (backend->spmv.algos)
            tap_ok(backend->spmv.prepare(&state, ctx, &job, algo, &times, &err) == WEFT_EINVAL && !state &&
                       strstr(err.text, named),
                   "%s, SpMV, %s: %s", backend->name, named, err.text);
    }
}

static void backend_test(const struct weft_backend *backend, struct weft_context *ctx, struct rng *rng)
{
    static const double scales[][2] = {{1, 0}, {-2, 0}, {3, -2}};
    const size_t nshapes = sizeof shapes / sizeof *shapes;
    const char *where = ctx ? " on the device" : "";
    struct weft_csr a;
    for (const char *const *algo = backend->transpose.algos; algo && *algo; algo++) {
        struct tally t = {.backend = backend, .algo = *algo};
        for (size_t k = 0; k < nshapes * 8; k++) {
            make(&a, &shapes[k / 8], types[k % 4], k & 4 ? WEFT_OFS_64 : WEFT_OFS_32, rng);
            transpose_case(&t, ctx, &a);
            weft_csr_free(&a);
        }
        tally_show(&t, "transpose", where);
    }
    for (const char *const *algo = backend->spmv.algos; algo && *algo; algo++) {
        struct tally t = {.backend = backend, .algo = *algo};
        for (size_t k = 0; k < nshapes * 8; k++)
            for (size_t s = 0; s < (test_sample() ? 1 : 3); s++) {
                const double *scale = scales[test_sample() ? k % 3 : s];
                make(&a, &shapes[k / 8], types[k % 4], k & 4 ? WEFT_OFS_64 : WEFT_OFS_32, rng);
                spmv_case(&t, ctx, &a, scale[0], scale[1], rng);
                weft_csr_free(&a);
            }
        tally_show(&t, "product", where);
    }
    make(&a, &shapes[8], WEFT_TYPE_F32, WEFT_OFS_32, rng);
    names_test(backend, ctx, &a);
    weft_csr_free(&a);
}

static struct rng rng;

static cl_int CL_API_CALL launch_refuse(cl_command_queue queue, cl_kernel kernel, cl_uint dims, const size_t *offset,
                                        const size_t *global, const size_t *local, cl_uint nwait, const cl_event *wait,
                                        cl_event *event)
{
    (void)queue, (void)kernel, (void)dims, (void)offset, (void)global, (void)local;
    (void)nwait, (void)wait, (void)event;
    return CL_OUT_OF_RESOURCES;
}

// A driver that refuses launches is an error with a reason, and nothing lasting. What the library behind a backend prints
// about it is its own.
static void refusal_test(const struct weft_backend *backend, struct weft_context *ctx)
{
    const struct weft_backend_spmv *op = &backend->spmv;
    struct weft_backend_times times;
    struct weft_error err = {0};
    struct weft_csr a;
    void *state = NULL;
    double ms;
    float x[300], y[300];
    make(&a, &shapes[8], WEFT_TYPE_F32, WEFT_OFS_32, &rng);
    for (int j = 0; j < 300; j++)
        x[j] = (float)(j % 7);
    struct weft_backend_spmv_job job = {.a = &a, .x = x, .alpha = 1};
    struct check_spmv check = {.a = &a, .type = WEFT_TYPE_F32, .exact = 1, .alpha = 1, .x = x};
    struct weft__cl_table whole = weft__cl;
    weft__cl.clEnqueueNDRangeKernel = launch_refuse;
    weft_status status = op->prepare(&state, ctx, &job, NULL, &times, &err);
    if (!status)
        status = op->run(state, &ms, &err);
    weft__cl = whole;
    tap_ok(status && *err.text && !strchr(err.text, '\n'), "%s: a driver that refuses launches: %s", backend->name,
           err.text);
    op->finish(&state);
    status = op->prepare(&state, ctx, &job, NULL, &times, &err);
    weft__cl.clEnqueueNDRangeKernel = launch_refuse;
    weft_status refused = status ? status : op->run(state, &ms, &err);
    weft__cl = whole;
    tap_ok(!status && refused && *err.text, "%s: and refuses later: %s", backend->name, err.text);
    if (!status)
        status = op->run(state, &ms, &err);
    if (!status)
        status = op->result(state, y, &times, &err);
    tap_ok(!status && check_spmv(&check, y, err.text, sizeof err.text), "%s: and then launches: %s", backend->name,
           err.text);
    op->finish(&state);
    tap_ok(!state, "%s is finished", backend->name);
    weft_csr_free(&a);
}

static int times_asked, times_refused; // of events: the ends are asked for, and the one that fails, from 1
static cl_int(CL_API_CALL *times_real)(cl_event event, cl_profiling_info what, size_t size, void *value,
                                       size_t *needed);

static cl_int CL_API_CALL times_refuse(cl_event event, cl_profiling_info what, size_t size, void *value, size_t *needed)
{
    const int end = what == CL_PROFILING_COMMAND_END;
    if (end && ++times_asked == times_refused)
        return CL_PROFILING_INFO_NOT_AVAILABLE;
    return times_real(event, what, size, value, needed);
}

// Weft's own kernels: what a run before left is no result, and a launch whose event has no times does not make the span short.
static void opencl_test(const struct weft_backend *backend, struct weft_context *ctx)
{
    struct weft_backend_times times = WEFT_BACKEND_NO_TIMES;
    struct weft_error err = {0};
    struct weft_csr a;
    void *state = NULL;
    double ms = 0, host_ms = 0;
    make(&a, &shapes[8], WEFT_TYPE_F32, WEFT_OFS_32, &rng);
    struct tally t = {.backend = backend, .algo = "scan"};
    transpose_case(&t, ctx, &a);
    tally_show(&t, "transpose", ", poisoned between runs");
    t = (struct tally){.backend = backend, .algo = "csr"};
    spmv_case(&t, ctx, &a, 1, 0, &rng);
    tally_show(&t, "product", ", poisoned between runs");
    weft_csr_free(&a);
    make(&a, &(struct shape){20000, 20000, 300000, RANDOM, 0}, WEFT_TYPE_F32, WEFT_OFS_32, &rng); // several launches
    weft_status status = backend->transpose.prepare(&state, ctx, &a, "scan", NULL, &times, &err);
    if (!status)
        status = backend->transpose.run(state, &ms, &err);
    struct weft__cl_table whole = weft__cl;
    times_real = whole.clGetEventProfilingInfo;
    times_asked = times_refused = 0;
    weft__cl.clGetEventProfilingInfo = times_refuse;
    if (!status)
        status = backend->transpose.run(state, &ms, &err);
    const int launches = times_asked;
    struct weft_csr out = {0};
    for (int k = 1; k <= launches && !status; k += launches - 1 ? launches - 1 : 1) { // the first, and the last
        times_asked = 0;
        times_refused = k;
        const double start = clock_ms();
        status = backend->transpose.run(state, &ms, &err);
        host_ms = clock_ms() - start;
        tap_ok(!status && ms > 0.5 * host_ms && ms <= host_ms,
               "launch %d of %d has no times: the host's clock has %g of %g ms", k, launches, ms, host_ms);
    }
    weft__cl = whole;
    if (!status)
        status = backend->transpose.result(state, &out, &times, &err);
    tap_ok(!status && launches > 1 && times.host_clock, "and it is told");
    weft_csr_free(&out);
    backend->transpose.finish(&state);
    weft_csr_free(&a);
}

static void device_test(struct test_device *dev)
{
    static int last = -1;
    const int index = weft_context_device(dev->ctx)->index;
    if (index == last) // schedules and lanes are those of weft's own kernels
        return;
    last = index;
    struct weft_csr a;
    make(&a, &shapes[8], WEFT_TYPE_F32, WEFT_OFS_32, &rng);
    for (const struct weft_backend *const *b = weft__backends; *b; b++) {
        struct weft_error err = {0};
        if (!strcmp((*b)->name, "opencl")) {
            names_test(*b, dev->ctx, &a);
            opencl_test(*b, dev->ctx);
        }
        if (!strcmp((*b)->needs, "host") || !strcmp((*b)->name, "opencl"))
            continue;
        if ((*b)->probe(dev->ctx, &err))
            tap_skip("%s on %s: %s", (*b)->name, dev->name, err.text);
        else
            backend_test(*b, dev->ctx, &rng);
        if (!strcmp((*b)->needs, "opencl") && !(*b)->probe(dev->ctx, &err))
            refusal_test(*b, dev->ctx);
    }
    weft_csr_free(&a);
}

// Rows at the end of what 32-bit offsets count: arrays that begin so many entries before their memory.
static void far_test(const struct weft_backend *backend, const char *algo)
{
    enum { MANY = 200, ROWS = 2 };
    const int64_t first = INT32_MAX - MANY;
    int32_t row_ptr[ROWS + 1] = {(int32_t)first, (int32_t)first + 93, INT32_MAX}, col[MANY];
    float val[MANY], x[MANY], y[ROWS] = {0}, want[ROWS] = {0};
    for (int p = 0; p < MANY; p++) {
        col[p] = p;
        val[p] = (float)(p % 7 - 3);
        x[p] = (float)(p % 5 + 1);
        want[p >= 93] += val[p] * x[p];
    }
    const struct weft_csr a = {.m = ROWS,
                               .n = MANY,
                               .nnz = INT32_MAX,
                               .type = WEFT_TYPE_F32,
                               .ofs = WEFT_OFS_32,
                               .row_ptr = row_ptr,
                               .col = (int32_t *)((uintptr_t)col - (uintptr_t)first * sizeof *col),
                               .val = (float *)((uintptr_t)val - (uintptr_t)first * sizeof *val)};
    const struct weft_backend_spmv_job job = {.a = &a, .x = x, .alpha = 1};
    struct weft_backend_times times = {0};
    struct weft_error err = {0};
    void *state = NULL;
    double ms;
    weft_status status = backend->spmv.prepare(&state, NULL, &job, algo, &times, &err);
    if (!status)
        status = backend->spmv.run(state, &ms, &err);
    if (!status)
        status = backend->spmv.result(state, y, &times, &err);
    backend->spmv.finish(&state);
    tap_ok(!status && y[0] == want[0] && y[1] == want[1], "%s %s: the last of 2^31-1 entries", backend->name, algo);
}

// Pages that are touched for the first time, by a block that is freed and taken again.
static long faults_again(void)
{
    struct rusage before, after;
    const size_t bytes = (size_t)64 << 20;
    for (int turn = 0; turn < 3; turn++) {
        getrusage(RUSAGE_SELF, &before);
        char *block = test_alloc(bytes);
        for (size_t at = 0; at < bytes; at += 4096)
            ((volatile char *)block)[at] = 1;
        free(block);
        getrusage(RUSAGE_SELF, &after);
    }
    return after.ru_minflt - before.ru_minflt;
}

// What a library frees and takes again in each run costs no pages.
static void pages_test(void)
{
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    weft__pages_keep();
    const long kept = faults_again();
    weft__pages_give();
    const long given = faults_again();
    tap_ok(kept < 100 && given > 10 * (kept + 1), "pages of a block that is taken again: %ld kept, %ld else", kept,
           given);
#else
    tap_skip("pages are kept with glibc's malloc alone");
#endif
}

int main(void)
{
    rng = rng_start();
    pages_test();
    for (const struct weft_backend *const *b = weft__backends; *b; b++) {
        struct weft_error err = {0};
        if (strcmp((*b)->needs, "host"))
            continue;
        if ((*b)->probe(NULL, &err))
            tap_skip("%s: %s", (*b)->name, err.text);
        else
            backend_test(*b, NULL, &rng);
        if (!strcmp((*b)->name, "omp") && !(*b)->probe(NULL, &err))
            far_test(*b, "csr_rows");
        if (!strcmp((*b)->name, "ref"))
            far_test(*b, "csr");
    }
    test_device_each(device_test);
    return tap_done();
}
