// SPDX-License-Identifier: Apache-2.0
// Sliced DIA: where diagonals fit and what is taken where they do not, masks, reach of x, the bits of plain slices.
#include "host/common/check_spmv.h"
#include "tests/support/device.h"
#include "tests/support/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <weft/spmv.h>

#define HEIGHT 32 // rows of a slice

static struct rng rng;

// Row i has an entry in column i + offset for each of `offsets`, which ascend, but in one place of `drop` (0: everywhere),
// and rows empty .. empty+79 have none. Values are small whole numbers, or drawn from -0.5 to 0.5.
struct shape {
    const char *what;
    int64_t m, n;
    int64_t offsets[9];
    int count, drop, empty;
    enum weft_type type;
    enum weft_ofs ofs;
};
#define NOWHERE 1000000000

static int is_there(const struct shape *s, int64_t i, int k)
{
    const int64_t j = i + s->offsets[k];
    return j >= 0 && j < s->n && (i < s->empty || i >= s->empty + 80) && (!s->drop || (i * 5 + k * 3) % s->drop);
}

static double value_draw(int whole)
{
    return whole ? (double)rng_between(&rng, -4, 4) : rng_unit(&rng) - 0.5;
}

static void value_set(void *v, enum weft_type type, int64_t i, double value)
{
    if (type == WEFT_TYPE_F64)
        ((double *)v)[i] = value;
    else if (type == WEFT_TYPE_I32)
        ((int32_t *)v)[i] = (int32_t)value;
    else if (type == WEFT_TYPE_F32)
        ((float *)v)[i] = (float)value;
}

static void ofs_set(struct weft_csr *a, int64_t i, int64_t at)
{
    if (a->ofs == WEFT_OFS_64)
        ((int64_t *)a->row_ptr)[i] = at;
    else
        ((int32_t *)a->row_ptr)[i] = (int32_t)at;
}

static struct weft_csr matrix(const struct shape *s, int whole)
{
    struct weft_csr a = {0};
    int64_t nnz = 0, at = 0;
    for (int64_t i = 0; i < s->m; i++)
        for (int k = 0; k < s->count; k++)
            nnz += is_there(s, i, k);
    if (weft_csr_alloc(&a, weft_shape(s->m, s->n, nnz, s->type, s->ofs)))
        tap_bail("out of memory");
    ofs_set(&a, 0, 0);
    for (int64_t i = 0; i < s->m; ofs_set(&a, ++i, at))
        for (int k = 0; k < s->count; k++)
            if (is_there(s, i, k)) {
                a.col[at] = (int32_t)(i + s->offsets[k]);
                value_set(a.val, s->type, at++, value_draw(whole));
            }
    return a;
}

// Slots by their definition: offsets that some row of a slice has.
static int64_t slots_of(const struct shape *s)
{
    int64_t slots = 0;
    for (int64_t first = 0; first < s->m; first += HEIGHT)
        for (int k = 0; k < s->count; k++) {
            int any = 0;
            for (int64_t i = first; i < first + HEIGHT && i < s->m; i++)
                any |= is_there(s, i, k);
            slots += any;
        }
    return slots;
}

// A plan for `a`, x and y on the device.
struct job {
    struct test_device *dev;
    struct weft_device_csr d;
    struct weft_spmv_plan *plan;
    struct weft_spmv_info info;
    struct test_buffer x, y;
    size_t y_bytes;
};

// x: n values of the vectors' type. Nonzero: there is a plan.
static int job_make(struct job *j, struct test_device *dev, const struct weft_csr *a, const void *x,
                    const struct weft_spmv_params *params)
{
    const size_t bytes = weft_type_bytes(a->type == WEFT_TYPE_PATTERN ? WEFT_TYPE_F32 : a->type);
    *j = (struct job){.dev = dev, .y_bytes = (size_t)a->m * bytes};
    j->x = test_buffer_make(dev, x, (size_t)a->n * bytes);
    j->y = test_buffer_make(dev, NULL, j->y_bytes);
    const int ok = !weft_device_csr_alloc(&j->d, dev->ctx, weft_csr_shape(a)) &&
                   !weft_device_csr_write_sync(&j->d, dev->ctx, dev->queue, a) &&
                   !weft_spmv_plan_create(&j->plan, dev->ctx, dev->queue, &j->d, params);
    if (ok)
        j->info = *weft_spmv_plan_info(j->plan);
    else
        tap_note("%s", test_error(dev));
    return ok;
}

// y = A*x, y being poison before. Nonzero: it ran, within the buffers.
static int job_run(struct job *j, void *y)
{
    test_buffer_poison(j->dev, &j->y);
    const int ok = j->plan && !weft_spmv_run(j->plan, j->dev->queue, j->y.mem, 1, j->x.mem, 0, 0, NULL, NULL);
    test_buffer_read(j->dev, &j->y, y, j->y_bytes);
    return ok && test_buffer_intact(j->dev, &j->x) && test_buffer_intact(j->dev, &j->y);
}

static void job_free(struct job *j)
{
    weft_spmv_plan_destroy(&j->plan);
    weft_device_csr_free(&j->d);
    test_buffer_free(&j->x);
    test_buffer_free(&j->y);
}

static void *x_draw(int64_t n, enum weft_type type, int whole)
{
    void *x = test_alloc((size_t)n * weft_type_bytes(type));
    for (int64_t i = 0; i < n; i++)
        value_set(x, type, i, value_draw(whole));
    return x;
}

static int is_right(const struct weft_csr *a, const void *x, const void *y, enum weft_type type)
{
    const struct check_spmv check = {.a = a, .type = type, .exact = 1, .alpha = 1, .x = x};
    char why[256] = "";
    const int right = check_spmv(&check, y, why, sizeof why);
    if (!right)
        tap_note("%s", why);
    return right;
}

static const struct shape shapes[] = {
    {"three diagonals", 100, 100, {-1, 0, 1}, 3, 0, NOWHERE, WEFT_TYPE_F32, WEFT_OFS_32},
    {"three diagonals of a pattern", 100, 100, {-1, 0, 1}, 3, 0, NOWHERE, WEFT_TYPE_PATTERN, WEFT_OFS_32},
    {"nine diagonals, offsets of 64 bits",
     130,
     130,
     {-40, -9, -8, -1, 0, 1, 8, 9, 40},
     9,
     0,
     NOWHERE,
     WEFT_TYPE_F32,
     WEFT_OFS_64},
    {"f64", 97, 97, {-3, -2, -1, 0, 1, 2, 3}, 7, 0, NOWHERE, WEFT_TYPE_F64, WEFT_OFS_64},
    {"integers", 64, 64, {-7, 0, 5}, 3, 0, NOWHERE, WEFT_TYPE_I32, WEFT_OFS_32},
    {"diagonals with holes", 200, 200, {-33, -2, -1, 0, 1, 2, 31, 32}, 8, 3, NOWHERE, WEFT_TYPE_F32, WEFT_OFS_32},
    {"one slice", 32, 32, {-1, 0, 1}, 3, 0, NOWHERE, WEFT_TYPE_F32, WEFT_OFS_32},
    {"a row less", 31, 31, {-1, 0, 1}, 3, 0, NOWHERE, WEFT_TYPE_F32, WEFT_OFS_32},
    {"a row more", 33, 33, {-1, 0, 1}, 3, 0, NOWHERE, WEFT_TYPE_F32, WEFT_OFS_32},
    {"one row", 1, 9, {0, 1, 8}, 3, 0, NOWHERE, WEFT_TYPE_F32, WEFT_OFS_32},
    {"one entry", 50, 50, {-49}, 1, 0, NOWHERE, WEFT_TYPE_F32, WEFT_OFS_32},
    {"the other corner", 50, 50, {49}, 1, 0, NOWHERE, WEFT_TYPE_F32, WEFT_OFS_32},
    {"corners", 50, 50, {-49, 49}, 2, 0, NOWHERE, WEFT_TYPE_F32, WEFT_OFS_32},
    {"wide", 70, 9000, {0, 1, 4500, 8930}, 4, 0, NOWHERE, WEFT_TYPE_F32, WEFT_OFS_32},
    {"tall", 700, 40, {-690, -660, -1, 0, 1}, 5, 0, NOWHERE, WEFT_TYPE_F32, WEFT_OFS_32},
    {"empty slices", 300, 300, {-1, 0, 1}, 3, 0, 90, WEFT_TYPE_F32, WEFT_OFS_32},
    {"empty rows at the begin", 130, 130, {-1, 0, 1}, 3, 4, 0, WEFT_TYPE_F32, WEFT_OFS_32},
    {"no entries", 70, 70, {0}, 0, 0, NOWHERE, WEFT_TYPE_F32, WEFT_OFS_32},
    {"no columns", 70, 0, {0}, 1, 0, NOWHERE, WEFT_TYPE_F32, WEFT_OFS_32},
    {"several slices to a work-item of a CPU", 9000, 9000, {-1, 0, 1}, 3, 0, NOWHERE, WEFT_TYPE_PATTERN, WEFT_OFS_64},
    {"several slices, with holes", 9000, 8900, {-33, 0, 1}, 3, 5, NOWHERE, WEFT_TYPE_F32, WEFT_OFS_32},
};

static void test_shapes(struct test_device *dev)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const struct shape *s = &shapes[i];
        const enum weft_type type = s->type == WEFT_TYPE_PATTERN ? WEFT_TYPE_F32 : s->type;
        if (type == WEFT_TYPE_F64 && !weft_context_device(dev->ctx)->fp64) {
            tap_skip("%s: no double precision", dev->name);
            continue;
        }
        const size_t y_bytes = (size_t)s->m * weft_type_bytes(type);
        void *want = test_alloc(y_bytes), *got = test_alloc(y_bytes), *again = test_alloc(y_bytes);
        // Rows and slots of a work-item at a time, and work-groups that are no whole slices.
        static const struct weft_spmv_params tuned[] = {
            {.gpu.wg = 0}, {.gpu.wg = 64, .gpu.ipt = 3, .gpu.rows = 2}, {.gpu.wg = 40, .gpu.ipt = 8, .gpu.rows = 4}};
        for (int whole = 0; whole < 2; whole++) {
            if (test_sample() && (i + (size_t)whole) % 3)
                continue;
            struct weft_csr a = matrix(s, whole);
            void *x = x_draw(s->n, type, whole);
            struct job plain = {0}, j;
            struct weft_spmv_params params = tuned[dev->gpu ? (i / 2 + (size_t)whole) % 3 : 0];
            params.policy.algo = WEFT_SPMV_ALGO_SDIA;
            params.format.max_padding = 1e9;
            int ok = job_make(&j, dev, &a, x, &params) && job_run(&j, got) && job_run(&j, again);
            if (!whole) {
                ok &= job_make(&plain, dev, &a, x,
                               weft_spmv_params(.policy.algo = WEFT_SPMV_ALGO_SELL, .format.max_padding = 1e9));
                ok = ok && job_run(&plain, want);
            }
            tap_ok(ok && j.info.params.policy.algo == WEFT_SPMV_ALGO_SDIA && !memcmp(got, again, y_bytes) &&
                       (whole ? is_right(&a, x, got, type) : !memcmp(got, want, y_bytes)),
                   "%s: %s: %s", dev->name, s->what, whole ? "exact" : "the bits of plain slices");
            const int64_t slots = slots_of(s), slices = (s->m + HEIGHT - 1) / HEIGHT,
                          bytes = slots * (8 + HEIGHT * (int64_t)weft_type_bytes(s->type)) + 64 + (slices + 1) * 8;
            tap_ok(ok && (int64_t)j.info.format_bytes == bytes && j.info.convert_ms > 0,
                   "%s: %s: %lld slots: %zu bytes", dev->name, s->what, (long long)slots, j.info.format_bytes);
            if (!whole)
                job_free(&plain);
            job_free(&j);
            free(x);
            weft_csr_free(&a);
        }
        free(want);
        free(got);
        free(again);
    }
}

// What is not an entry does not reach y: NaN and infinity in columns without entries, column 0 among them.
static void test_leaks(struct test_device *dev)
{
    static const enum weft_spmv_semiring rings[] = {WEFT_SPMV_SEMIRING_PLUS_TIMES, WEFT_SPMV_SEMIRING_MIN_PLUS,
                                                    WEFT_SPMV_SEMIRING_OR_AND, WEFT_SPMV_SEMIRING_MAX_TIMES};
    const struct shape s = {"", 150, 150, {-35, -2, 0, 2, 35}, 5, 0, NOWHERE, WEFT_TYPE_F32, WEFT_OFS_32};
    struct weft_csr a = matrix(&s, 1);
    int64_t kept = 0; // leave out each column that 3 divides
    for (int64_t i = 0, p = 0; i < a.m; i++) {
        const int64_t end = weft_csr_ofs(&a, i + 1);
        for (; p < end; p++)
            if (a.col[p] % 3) {
                a.col[kept] = a.col[p];
                ((float *)a.val)[kept++] = ((float *)a.val)[p];
            }
        ofs_set(&a, i + 1, kept);
    }
    a.nnz = kept;
    float x[150], zeros[150], got[150], want[150];
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    for (int k = 0; k < 3; k++)
        for (size_t r = 0; r < 4; r++) {
            if (test_sample() && r != (size_t)k)
                continue;
            for (int j = 0; j < 150; j++) {
                zeros[j] = j % 3 ? (float)rng_between(&rng, 1, 4) : 0;
                x[j] = j % 3 ? zeros[j] : bad[k];
            }
            const struct weft_spmv_params params = {.policy.algo = WEFT_SPMV_ALGO_SDIA, .problem.semiring = rings[r]};
            struct job job;
            int ok = job_make(&job, dev, &a, x, &params) && job_run(&job, got);
            test_buffer_write(dev, &job.x, zeros, sizeof zeros);
            ok = ok && job_run(&job, want) && job.info.params.policy.algo == WEFT_SPMV_ALGO_SDIA;
            tap_ok(ok && !memcmp(got, want, sizeof got) && (r || is_right(&a, zeros, got, WEFT_TYPE_F32)),
                   "%s: %g in columns without entries, semiring %d", dev->name, (double)bad[k], (int)rings[r]);
            job_free(&job);
        }
    weft_csr_free(&a);
}

// Where diagonals do not do, sliced ELL runs and info says why.
static void test_instead(struct test_device *dev)
{
    static const struct {
        const char *what, *why;
        int64_t row; // whose columns change, < 0: none
        enum {
            TWICE,
            SWAP,
            APART
        } change; // its last is equal to the one before, they change places; its first is in column 0
        double max_padding;
    } cases[] = {{"a row out of order", "do not ascend", 0, SWAP, 0},
                 {"the last row out of order", "do not ascend", 99, SWAP, 0},
                 {"a column twice", "do not ascend", 40, TWICE, 0},
                 {"little padding allowed", "1.08 elements for each entry", 40, APART, 1.05},
                 {"more padding allowed", NULL, 40, APART, 1.09},
                 {"as usual", NULL, -1, TWICE, 0}};
    const struct shape s = {"", 100, 100, {-5, -1, 0, 1, 5}, 5, 0, NOWHERE, WEFT_TYPE_F32, WEFT_OFS_32};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct weft_csr a = matrix(&s, 1);
        if (cases[i].change == APART) {
            a.col[weft_csr_ofs(&a, cases[i].row)] = 0; // an offset of its own
        } else if (cases[i].row >= 0) {
            int32_t *last = &a.col[weft_csr_ofs(&a, cases[i].row + 1) - 1], before = last[-1];
            last[-1] = cases[i].change == SWAP ? *last : before;
            *last = before;
        }
        float *x = x_draw(a.n, WEFT_TYPE_F32, 1), y[100];
        const struct weft_spmv_params params = {.policy.algo = WEFT_SPMV_ALGO_SDIA,
                                                .format.max_padding = cases[i].max_padding};
        struct job j;
        int ok = job_make(&j, dev, &a, x, &params) && job_run(&j, y) && is_right(&a, x, y, WEFT_TYPE_F32);
        const char *why = cases[i].why;
        tap_ok(ok && j.info.params.policy.algo == (why ? WEFT_SPMV_ALGO_SELL : WEFT_SPMV_ALGO_SDIA) &&
                   (why ? strstr(j.info.why, why) && strstr(j.info.why, "sliced ELL, since") &&
                              j.info.format_bytes >= (size_t)a.nnz * 8
                        : !strcmp(j.info.why, "asked for")) &&
                   j.info.convert_ms > 0,
               "%s: %s: %s", dev->name, cases[i].what, j.info.why);
        struct weft_device_csr next = {0}; // and takes new values
        for (int64_t p = 0; p < a.nnz; p++)
            ((float *)a.val)[p] = (float)value_draw(1);
        ok = ok && !weft_device_csr_alloc(&next, dev->ctx, weft_csr_shape(&a)) &&
             !weft_device_csr_write_sync(&next, dev->ctx, dev->queue, &a) &&
             !weft_spmv_plan_refill(j.plan, dev->queue, &next);
        weft_device_csr_free(&next); // the plan keeps what it needs
        tap_ok(ok && job_run(&j, y) && is_right(&a, x, y, WEFT_TYPE_F32), "%s: %s: new values", dev->name,
               cases[i].what);
        job_free(&j);
        free(x);
        weft_csr_free(&a);
    }
    // Three rows fill a slice badly, which does not count; sliced ELL that is refused is refused.
    const struct shape few = {"", 3, 3, {-1, 0, 1}, 3, 0, NOWHERE, WEFT_TYPE_F32, WEFT_OFS_32};
    struct weft_csr a = matrix(&few, 1);
    float x[3] = {1, 2, 3}, y[3];
    struct job j;
    int ok =
        job_make(&j, dev, &a, x, weft_spmv_params(.policy.algo = WEFT_SPMV_ALGO_SDIA, .format.max_padding = 1.3)) &&
        job_run(&j, y);
    tap_ok(ok && j.info.params.policy.algo == WEFT_SPMV_ALGO_SDIA && is_right(&a, x, y, WEFT_TYPE_F32),
           "%s: rows that fill up a slice", dev->name);
    job_free(&j);
    weft_csr_free(&a);
    const struct shape odd = {"", 64, 64, {-63, 0, 63}, 3, 0, NOWHERE, WEFT_TYPE_F32, WEFT_OFS_32};
    a = matrix(&odd, 1);
    float ones[64] = {0};
    const struct weft_spmv_params strict = {
        .policy.algo = WEFT_SPMV_ALGO_SDIA, .format.sigma = 1, .format.max_padding = 1.1};
    ok = !job_make(&j, dev, &a, ones, &strict);
    tap_ok(ok && strstr(test_error(dev), "sell would hold"), "%s: neither diagonals nor slices: %s", dev->name,
           test_error(dev));
    job_free(&j);
    weft_csr_free(&a);
}

static const struct shape band = {"", 300, 300, {-2, -1, 0, 1, 2}, 5, 0, NOWHERE, WEFT_TYPE_F32, WEFT_OFS_32};
static const struct shape wide = {"",      300,           300,        {-4, -3, -2, -1, 0, 1, 2, 3, 4}, 9, 0,
                                  NOWHERE, WEFT_TYPE_F32, WEFT_OFS_32};

// What auto takes for a band, and for one whose columns do not ascend.
static void test_auto(struct test_device *dev)
{
    static const struct {
        const char *what;
        int64_t products, row; // the row that is out of order, < 0: none
        int drop;              // holes in the diagonals
        double max_padding;
        int sdia, wide;
    } cases[] = {{"a band, many products", 1000000, -1, 0, 0, 1, 0},
                 {"a band, few products", 10, -1, 0, 0, 0, 0},
                 {"a band, a row out of order", 1000000, 299, 0, 0, 0, 0},
                 {"a wide band, a row out of order", 1000000, 299, 0, 0, 0, 1},
                 {"a band with holes", 1000000, -1, 2, 0, 0, 0},
                 {"a band, no padding", 1000000, -1, 0, 1, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (cases[i].wide && !dev->gpu)
            continue;
        struct shape s = cases[i].wide ? wide : band;
        s.drop = cases[i].drop;
        // As many rows as a GPU is expected to want for a conversion.
        s.m = s.n = dev->gpu ? 2048 * (int64_t)weft_context_device(dev->ctx)->compute_units : 300;
        struct weft_csr a = matrix(&s, 1);
        if (cases[i].row >= 0) {
            int32_t *last = &a.col[weft_csr_ofs(&a, cases[i].row + 1) - 1], before = last[-1];
            last[-1] = *last;
            *last = before;
        }
        float *x = x_draw(a.n, WEFT_TYPE_F32, 1), *y = test_alloc((size_t)a.m * 4);
        const struct weft_spmv_params params = {.policy.products = cases[i].products,
                                                .format.max_padding = cases[i].max_padding};
        struct job j;
        const int ok = job_make(&j, dev, &a, x, &params) && job_run(&j, y) && is_right(&a, x, y, WEFT_TYPE_F32);
        // Seen in the sample. Sliced ELL gains nothing with rows of one length that are as short as those of the first band.
        const enum weft_spmv_algo instead = cases[i].wide ? WEFT_SPMV_ALGO_SELL16
                                            : dev->gpu    ? WEFT_SPMV_ALGO_CSR_SCALAR
                                                          : WEFT_SPMV_ALGO_CSR_MERGE;
        tap_ok(ok && (cases[i].row < 0 || j.info.params.policy.algo == instead) &&
                   (j.info.params.policy.algo == WEFT_SPMV_ALGO_SDIA) == cases[i].sdia,
               "%s: auto, %s: %s: %s", dev->name, cases[i].what, weft_spmv_algo_name(j.info.params.policy.algo),
               j.info.why);
        job_free(&j);
        free(x);
        free(y);
        weft_csr_free(&a);
    }
}

// Diagonals were not tried: sliced ELL, which they would have become, has been measured once at most.
static int is_untried(const struct weft_spmv_info *info)
{
    const char *first = strstr(info->why, "; sell ");
    return info->params.policy.algo != WEFT_SPMV_ALGO_SDIA && !strstr(info->why, "sdia") &&
           (!first || !strstr(first + 1, "; sell "));
}

// A matrix that is a diagonal at its begin and at random behind: the sample of the slices reaches all of it.
static void test_sample_spread(struct test_device *dev)
{
    const int64_t m = 512 * HEIGHT * 2 + 40;
    struct weft_csr a = {0};
    if (weft_csr_alloc(&a, weft_shape(m, m, m, WEFT_TYPE_PATTERN, WEFT_OFS_32)))
        tap_bail("out of memory");
    for (int64_t i = 0; i < m; i++) {
        ofs_set(&a, i + 1, i + 1);
        a.col[i] = (int32_t)(i < m / 2 ? i : (int64_t)rng_below(&rng, (uint64_t)m));
    }
    ofs_set(&a, 0, 0);
    float *x = x_draw(m, WEFT_TYPE_F32, 1), *y = test_alloc((size_t)m * 4);
    struct job j; // GPUs are asked about diagonals where everything is measured
    const struct weft_spmv_params params = {.policy.products = 1000000, .policy.tune = dev->gpu};
    const int ok = job_make(&j, dev, &a, x, &params) && job_run(&j, y) && is_right(&a, x, y, WEFT_TYPE_F32);
    tap_ok(ok && is_untried(&j.info) && !strstr(j.info.why, "diagonals"), "%s: a diagonal at the begin alone: %s",
           dev->name, j.info.why);
    job_free(&j);
    free(x);
    free(y);
    weft_csr_free(&a);
}

// Measured where it fits, and found again.
static void test_tune(struct test_device *dev)
{
    struct shape s = band;
    s.m = 100;
    s.n = 30000;
    s.offsets[0] = rng_between(&rng, 0, 29000);
    for (int k = 1; k < s.count; k++)
        s.offsets[k] = s.offsets[k - 1] + rng_between(&rng, 1, 60);
    struct weft_csr a = matrix(&s, 1);
    float *x = x_draw(a.n, WEFT_TYPE_F32, 1), y[100];
    const struct weft_spmv_params alone = {.policy.algo = WEFT_SPMV_ALGO_SDIA, .policy.tune = 1},
                                  any = {.policy.tune = true, .policy.products = 1000000};
    static const char *const whys[] = {"measured, ms: sdia ", "measured before on this device and structure: sdia"};
    for (int k = 0; k < 3; k++) {
        struct job j;
        const int ok =
            job_make(&j, dev, &a, x, k < 2 ? &alone : &any) && job_run(&j, y) && is_right(&a, x, y, WEFT_TYPE_F32);
        tap_ok(ok && (k < 2 ? j.info.params.policy.algo == WEFT_SPMV_ALGO_SDIA &&
                                  !strncmp(j.info.why, whys[k], strlen(whys[k]))
                            : strstr(j.info.why, "sdia") != NULL),
               "%s: tuned: %s", dev->name, j.info.why);
        job_free(&j);
    }
    for (int64_t i = 0; i < a.m; i++) // each row somewhere else: no diagonals
        for (int64_t p = weft_csr_ofs(&a, i); p < weft_csr_ofs(&a, i + 1); p++)
            a.col[p] = (int32_t)(s.offsets[0] + i * 37 % 50 * 5 + p - weft_csr_ofs(&a, i));
    struct job j;
    const int ok = job_make(&j, dev, &a, x, &any) && job_run(&j, y) && is_right(&a, x, y, WEFT_TYPE_F32);
    tap_ok(ok && is_untried(&j.info) && strstr(j.info.why, "; sell "), "%s: tuned, no diagonals: %s", dev->name,
           j.info.why);
    job_free(&j);
    free(x);
    weft_csr_free(&a);
}

static void test_each(struct test_device *dev)
{
    test_shapes(dev);
    test_leaks(dev);
    test_instead(dev);
    test_auto(dev);
    if (!dev->gpu || !test_sample())
        test_sample_spread(dev);
    test_cache_empty(dev, test_tune);
}

int main(void)
{
    rng = rng_start();
    test_device_each(test_each);
    return tap_done();
}
