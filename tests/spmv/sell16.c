// SPDX-License-Identifier: Apache-2.0
// Sliced ELL with columns in 16 bits: where distances fit and where they do not, padding, the bits of plain slices.
#include "tests/support/device.h"
#include "tests/support/rng.h"

#include <stdlib.h>
#include <string.h>
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

static void test_each(struct test_device *dev)
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
    struct rng rng = {.state = 11};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int64_t n = cases[i].near * (M - 1) + cases[i].step * cases[i].length + 1;
        struct weft_csr a = matrix(&rng, n, cases[i].near, cases[i].step, cases[i].length, cases[i].type);
        float *x = test_alloc((size_t)n * 4), want[M], got[M];
        for (int64_t j = 0; j < n; j++)
            x[j] = (float)rng_unit(&rng) - 0.5F;
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
        struct weft_csr a = matrix(&rng, n, 0, 1, 3, WEFT_TYPE_F32);
        a.col[3] = (int32_t)far; // the first entry of row 1; its others come before it
        float *x = test_alloc((size_t)n * 4), want[M], got[M];
        for (int64_t j = 0; j < n; j++)
            x[j] = (float)rng_unit(&rng) - 0.5F;
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

int main(void)
{
    test_device_each(test_each);
    return tap_done();
}
