// SPDX-License-Identifier: Apache-2.0
// Sliced ELL: sorted rows; columns in 16 bits, where distances fit and where they do not, the bits of plain slices; how much padding is
// refused, and that no format refuses a matrix without entries.
#include "tests/support/device.h"
#include "tests/support/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <weft/generate.h>
#include <weft/spmv.h>

#define M 70 // slices of 8 and of 32, the last not full

// Row i has `length` entries or one less, the first in column i*near, each next one `step` further; values at random.
static struct weft_csr matrix(struct rng *rng, int64_t n, int64_t near, int64_t step, int length, enum weft_type type)
{
    struct weft_csr a = {0};
    if (weft_csr_alloc(&a, weft_shape(M, n, M * length, type, WEFT_OFS_32)))
        tap_bail("out of memory");
    int32_t *ptr = a.row_ptr, at = 0;
    for (int64_t i = 0; i < M; i++) {
        ptr[i] = at;
        for (int k = 0; k < length - (i % 5 == 3); k++, at++) {
            a.col[at] = (int32_t)(i * near + k * step);
            if (type == WEFT_TYPE_F32)
                ((float *)a.val)[at] = (float)rng_unit(rng) - 0.5F;
        }
    }
    ptr[M] = at;
    a.nnz = at;
    return a;
}

// y of a plan with `algo`, and what the plan is.
static int run(float *y, struct weft_spmv_info *info, struct test_device *dev, const struct weft_csr *a, const float *x,
               enum weft_spmv_algo algo)
{
    struct weft_device_csr d = {0};
    struct weft_spmv_plan *plan = NULL;
    struct test_buffer bx = test_buffer_make(dev, x, (size_t)a->n * 4), by = test_buffer_make(dev, NULL, M * 4);
    int ok = !weft_device_csr_alloc(&d, dev->ctx, weft_csr_shape(a)) &&
             !weft_device_csr_write_sync(&d, dev->ctx, dev->queue, a) &&
             !weft_spmv_plan_create(&plan, dev->ctx, dev->queue, &d, weft_spmv_params(.policy.algo = algo)) &&
             !weft_spmv_run(plan, dev->queue, by.mem, 1, bx.mem, 0, 0, NULL, NULL);
    if (ok) {
        *info = *weft_spmv_plan_info(plan);
        test_buffer_read(dev, &by, y, M * 4);
        ok = test_buffer_intact(dev, &bx) && test_buffer_intact(dev, &by);
    } else {
        tap_note("%s", test_error(dev));
    }
    weft_spmv_plan_destroy(&plan);
    weft_device_csr_free(&d);
    test_buffer_free(&bx);
    test_buffer_free(&by);
    return ok;
}

static int longer(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x < y) - (x > y);
}

// Bytes of sliced ELL in f32 with slices of `height` rows that are sorted in windows of `sigma`.
static size_t sell_bytes(const struct weft_csr *a, int64_t height, int64_t sigma)
{
    int64_t elements = 0, *length = test_alloc((size_t)a->m * sizeof *length);
    for (int64_t i = 0; i < a->m; i++)
        length[i] = weft_csr_ofs(a, i + 1) - weft_csr_ofs(a, i);
    for (int64_t i = 0; i < a->m; i += sigma)
        qsort(length + i, (size_t)(a->m - i < sigma ? a->m - i : sigma), sizeof *length, longer);
    for (int64_t s = 0; s < a->m; s += height) {
        int64_t widest = 0;
        for (int64_t i = s; i < s + height && i < a->m; i++)
            widest = length[i] > widest ? length[i] : widest;
        elements += height * widest;
    }
    free(length);
    return (size_t)(elements * 8 + (a->m + height - 1) / height * 8 + 8 + (sigma > 1 ? a->m * 4 : 0));
}

// Rows longer than a window has rows, and rows of one length that keep their order: the bytes are those of sorted rows, and the product is
// right.
static void test_sorted(struct test_device *dev, struct rng *rng)
{
    static const char *const specs[] = {"power:1500,900,20000", "arrow:700,3", "uniform:2100,40,9000", "dense:70,50"};
    static const int sigmas[] = {2, 8, 64, 1024};
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++)
        for (size_t i = 0; i < sizeof sigmas / sizeof *sigmas; i++) {
            const struct weft_spmv_params params = {.policy.algo = WEFT_SPMV_ALGO_SELL,
                                                    .format = {.sigma = sigmas[i], .max_padding = 1000}};
            struct weft_error err = {0};
            struct weft_csr a;
            struct weft_device_csr d = {0};
            struct weft_spmv_plan *plan = NULL;
            if (weft_generate(&a, specs[k], weft_generate_params(.integers = true, .seed = rng_u64(rng)), &err))
                tap_bail("%s", err.text);
            float *x = test_alloc((size_t)a.n * 4), *got = test_alloc((size_t)a.m * 4);
            for (int64_t j = 0; j < a.n; j++)
                x[j] = (float)(j % 7 - 3);
            struct test_buffer bx = test_buffer_make(dev, x, (size_t)a.n * 4),
                               by = test_buffer_make(dev, NULL, (size_t)a.m * 4);
            int ok = !weft_device_csr_alloc(&d, dev->ctx, weft_csr_shape(&a)) &&
                     !weft_device_csr_write_sync(&d, dev->ctx, dev->queue, &a) &&
                     !weft_spmv_plan_create(&plan, dev->ctx, dev->queue, &d, &params);
            const size_t want = sell_bytes(&a, dev->gpu ? 32 : 8, sigmas[i]),
                         bytes = ok ? weft_spmv_plan_info(plan)->format_bytes : 0;
            ok = ok && bytes == want && !weft_spmv_run(plan, dev->queue, by.mem, 1, bx.mem, 0, 0, NULL, NULL);
            if (ok)
                test_buffer_read(dev, &by, got, (size_t)a.m * 4);
            for (int64_t r = 0; ok && r < a.m; r++) {
                float sum = 0;
                for (int64_t q = weft_csr_ofs(&a, r); q < weft_csr_ofs(&a, r + 1); q++)
                    sum += ((float *)a.val)[q] * x[a.col[q]];
                ok = got[r] == sum;
            }
            tap_ok(ok, "%s: %s sorted in windows of %d: %zu bytes of %zu", dev->name, specs[k], sigmas[i], bytes, want);
            weft_spmv_plan_destroy(&plan);
            test_buffer_free(&bx);
            test_buffer_free(&by);
            weft_device_csr_free(&d);
            weft_csr_free(&a);
            free(x);
            free(got);
        }
}

static void test_narrow(struct test_device *dev, struct rng *rng)
{
    const int height = dev->gpu ? 32 : 8;
    static const struct {
        const char *what;
        int64_t near, step;
        int length;
        enum weft_type type;
    } cases[] = {{"a band", 1, 1, 5, WEFT_TYPE_F32},
                 {"a band of a pattern", 1, 1, 5, WEFT_TYPE_PATTERN},
                 {"steps far apart", 2, 30000, 4, WEFT_TYPE_F32},
                 {"all rows alike", 0, 7, 9, WEFT_TYPE_F32},
                 {"one entry", 3, 0, 1, WEFT_TYPE_F32}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int64_t n = cases[i].near * (M - 1) + cases[i].step * cases[i].length + 1;
        struct weft_csr a = matrix(rng, n, cases[i].near, cases[i].step, cases[i].length, cases[i].type);
        float *x = test_alloc((size_t)n * 4), want[M], got[M];
        for (int64_t j = 0; j < n; j++)
            x[j] = (float)rng_unit(rng) - 0.5F;
        struct weft_spmv_info plain = {0}, narrow = {0};
        const int ok =
            run(want, &plain, dev, &a, x, WEFT_SPMV_ALGO_SELL) && run(got, &narrow, dev, &a, x, WEFT_SPMV_ALGO_SELL16);
        tap_ok(ok && !memcmp(got, want, sizeof want), "%s: %s: the bits of plain slices", dev->name, cases[i].what);
        const int64_t slices = (M + height - 1) / height, ptr_bytes = (slices + 1) * 8,
                      sorted = narrow.params.format.sigma > 1 ? M * 4 : 0,
                      elements =
                          ((int64_t)plain.format_bytes - ptr_bytes - sorted) / (cases[i].type == WEFT_TYPE_F32 ? 8 : 4);
        tap_ok(ok && narrow.params.policy.algo == WEFT_SPMV_ALGO_SELL16 &&
                   (int64_t)narrow.format_bytes == (int64_t)plain.format_bytes - elements * 2 + elements / height * 4,
               "%s: %s: in 16 bits, %zu bytes for %zu", dev->name, cases[i].what, narrow.format_bytes,
               plain.format_bytes);
        free(x);
        weft_csr_free(&a);
    }

    // The distance 65534 is the last that fits: rows 0 and 1 of a slice.
    for (int64_t far = 65533; far <= 65536; far++) {
        const int64_t n = far + 5;
        struct weft_csr a = matrix(rng, n, 0, 1, 3, WEFT_TYPE_F32);
        a.col[3] = (int32_t)far; // the first entry of row 1; its others come before it
        float *x = test_alloc((size_t)n * 4), want[M], got[M];
        for (int64_t j = 0; j < n; j++)
            x[j] = (float)rng_unit(rng) - 0.5F;
        struct weft_spmv_info plain = {0}, info = {0};
        const int ok =
            run(want, &plain, dev, &a, x, WEFT_SPMV_ALGO_SELL) && run(got, &info, dev, &a, x, WEFT_SPMV_ALGO_SELL16);
        const int fits = far <= 65534;
        tap_ok(ok && !memcmp(got, want, sizeof want) &&
                   info.params.policy.algo == (fits ? WEFT_SPMV_ALGO_SELL16 : WEFT_SPMV_ALGO_SELL) &&
                   (strstr(info.why, "32 bits") != NULL) == !fits && (info.format_bytes < plain.format_bytes) == fits,
               "%s: columns %lld apart: %s", dev->name, (long long)far, info.why);
        free(x);
        weft_csr_free(&a);
    }
}

// A row of 3000 entries and others of one: in the first slice it pads a slice of rows, and max_padding refuses that also where the last
// slice has one row; as the only row of the last slice it pads nothing.
static void test_padding(struct test_device *dev)
{
    enum { ROWS = 65, LONG = 3000, NNZ = LONG + ROWS - 1 };
    static const enum weft_spmv_algo algos[] = {WEFT_SPMV_ALGO_SELL, WEFT_SPMV_ALGO_SELL16, WEFT_SPMV_ALGO_PANELS};
    for (int first = 0; first < 2; first++) {
        struct weft_csr a = {0};
        struct weft_device_csr d = {0};
        if (weft_csr_alloc(&a, weft_shape(ROWS, 10, NNZ, WEFT_TYPE_F32, WEFT_OFS_32)))
            tap_bail("out of memory");
        for (int32_t i = 0; i <= ROWS; i++)
            ((int32_t *)a.row_ptr)[i] = i + (i > (first ? 0 : ROWS - 1) ? LONG - 1 : 0);
        memset(a.col, 0, NNZ * 4);
        memset(a.val, 0, NNZ * 4);
        if (weft_device_csr_alloc(&d, dev->ctx, weft_csr_shape(&a)) ||
            weft_device_csr_write_sync(&d, dev->ctx, dev->queue, &a))
            tap_bail("%s", test_error(dev));
        for (size_t i = 0; i < sizeof algos / sizeof *algos; i++) {
            struct weft_spmv_plan *plan = NULL;
            if (dev->gpu && algos[i] == WEFT_SPMV_ALGO_PANELS) // which has no slices there
                continue;
            const weft_status status = weft_spmv_plan_create(
                &plan, dev->ctx, dev->queue, &d, weft_spmv_params(.policy.algo = algos[i], .format.sigma = 1));
            tap_ok(status == (first ? WEFT_ERANGE : WEFT_OK) &&
                       (!first || strstr(test_error(dev), "params.format.max_padding allows 4.0")),
                   "%s: %s, %d rows of which the %s is long: %s", dev->name, weft_spmv_algo_name(algos[i]), ROWS,
                   first ? "first" : "last", status ? test_error(dev) : "taken");
            weft_spmv_plan_destroy(&plan);
        }
        weft_device_csr_free(&d);
        weft_csr_free(&a);
    }
}

// Without entries nothing is padding, whatever is allowed and however many panels the columns have.
static void test_none(struct test_device *dev, double max_padding)
{
    static const enum weft_spmv_algo algos[] = {WEFT_SPMV_ALGO_ELL,  WEFT_SPMV_ALGO_SELL, WEFT_SPMV_ALGO_SELL16,
                                                WEFT_SPMV_ALGO_SDIA, WEFT_SPMV_ALGO_HYB,  WEFT_SPMV_ALGO_PANELS};
    enum { COLUMNS = 100000 };
    static float x[COLUMNS], y[M], want[M];
    struct weft_csr a = {0};
    if (weft_csr_alloc(&a, weft_shape(M, COLUMNS, 0, WEFT_TYPE_F32, WEFT_OFS_32)))
        tap_bail("out of memory");
    memset(a.row_ptr, 0, (M + 1) * 4);
    for (size_t i = 0; i < sizeof algos / sizeof *algos; i++) {
        for (int k = 0; k < M; k++) {
            y[k] = (float)k;
            want[k] = 2 * (float)k;
        }
        const weft_status status = weft_spmv_sync(
            y, dev->ctx, 1, &a, x, 2, weft_spmv_params(.policy.algo = algos[i], .format.max_padding = max_padding));
        tap_ok(!status && !memcmp(y, want, sizeof y), "%s: %s without entries, max_padding %g: %s", dev->name,
               weft_spmv_algo_name(algos[i]), max_padding, status ? test_error(dev) : "y = 2 y");
    }
    weft_csr_free(&a);
}

static void test_each(struct test_device *dev)
{
    struct rng rng = {.state = 11};
    test_narrow(dev, &rng);
    test_sorted(dev, &rng);
    test_padding(dev);
    test_none(dev, 0);
    test_none(dev, INFINITY);
}

int main(void)
{
    test_device_each(test_each);
    return tap_done();
}
