// SPDX-License-Identifier: Apache-2.0
// WEFT_SPMV_MODE_REPRODUCIBLE gives the same bits on every device: the hashes of y are recorded here, so that each device is
// compared with those before it. The input is drawn from a fixed seed; WEFT_SEED does not change it.
#include "host/common/check_spmv.h"
#include "tests/support/device.h"
#include "tests/support/rng.h"

#include "host/internal/inside.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/spmv.h>

static const struct hash_case {
    const char *name;
    int64_t rows;
    enum weft_type type;
    enum weft_ofs ofs;
    int f64_sums;
    enum weft_spmv_transpose transpose;
    double alpha, beta;
    uint64_t hash; // of y
} cases[] = {
    {"f32", 60, WEFT_TYPE_F32, WEFT_OFS_32, 0, WEFT_SPMV_TRANSPOSE_PLAIN, 1, 0, UINT64_C(0x9d7aa5086b6e6e3a)},
    {"f32, alpha and beta", 60, WEFT_TYPE_F32, WEFT_OFS_64, 0, WEFT_SPMV_TRANSPOSE_PLAIN, 1.1, -0.3,
     UINT64_C(0x2b7ba220e015e68f)},
    {"f32, A^T", 60, WEFT_TYPE_F32, WEFT_OFS_32, 0, WEFT_SPMV_TRANSPOSE_BY_COPY, 1, 0, UINT64_C(0xd591590dc083d97f)},
    {"f32, f64 sums", 60, WEFT_TYPE_F32, WEFT_OFS_32, 1, WEFT_SPMV_TRANSPOSE_PLAIN, 1.1, -0.3,
     UINT64_C(0x0ed18a621fef6519)},
    {"f64", 60, WEFT_TYPE_F64, WEFT_OFS_32, 0, WEFT_SPMV_TRANSPOSE_PLAIN, 1, 0, UINT64_C(0xec0fa0be95e50384)},
    {"f64, alpha and beta", 60, WEFT_TYPE_F64, WEFT_OFS_64, 0, WEFT_SPMV_TRANSPOSE_PLAIN, 1.1, -0.3,
     UINT64_C(0x28a54bc67a3615d0)},
    {"f64, A^T", 60, WEFT_TYPE_F64, WEFT_OFS_32, 0, WEFT_SPMV_TRANSPOSE_BY_COPY, 1, 0, UINT64_C(0x3b849bdfc04d25f7)},
    {"f32, large", 20000, WEFT_TYPE_F32, WEFT_OFS_32, 0, WEFT_SPMV_TRANSPOSE_PLAIN, 1, 0, UINT64_C(0xa6c4ad6dc52c1739)},
    {"f64, large", 20000, WEFT_TYPE_F64, WEFT_OFS_32, 0, WEFT_SPMV_TRANSPOSE_PLAIN, 1, 0, UINT64_C(0xe7bd013e2bfd5637)},
};

// Numbers of many magnitudes, so that another order of a sum shows.
static void values_draw(struct rng *rng, void *v, enum weft_type type, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        double value = ldexp(2 * rng_unit(rng) - 1, (int)rng_between(rng, -9, 9));
        if (type == WEFT_TYPE_F64)
            ((double *)v)[i] = value;
        else
            ((float *)v)[i] = (float)value;
    }
}

// Mostly short rows, some empty, and lengths around the chunks of 1024 that the sums are made of.
static struct weft_csr matrix_draw(struct rng *rng, const struct hash_case *c)
{
    static const int64_t longs[] = {1023, 1024, 1025, 2100, 33, 64};
    int64_t *length = test_alloc((size_t)c->rows * sizeof *length), nnz = 0;
    for (int64_t i = 0; i < c->rows; i++)
        nnz += length[i] = i % 10 == 7   ? 0
                           : i % 60 == 9 ? longs[i / 60 % 2 ? rng_below(rng, 6) : 3]
                                         : rng_between(rng, 0, 12);
    struct weft_csr a;
    if (weft_csr_alloc(&a, weft_shape(c->rows, 90, nnz, c->type, c->ofs)))
        tap_bail("no memory for a test matrix");
    for (int64_t i = 0, at = 0; i <= c->rows; i++) {
        if (c->ofs == WEFT_OFS_64)
            ((int64_t *)a.row_ptr)[i] = at;
        else
            ((int32_t *)a.row_ptr)[i] = (int32_t)at;
        at += i < c->rows ? length[i] : 0;
    }
    for (int64_t p = 0; p < nnz; p++)
        a.col[p] = (int32_t)rng_below(rng, 90);
    values_draw(rng, a.val, c->type, nnz);
    free(length);
    return a;
}

// y on the device; 0: no result.
static int product(struct test_device *dev, const struct hash_case *c, const struct weft_csr *a, const void *x,
                   size_t x_bytes, void *y, size_t y_bytes)
{
    const struct weft_spmv_params params = {
        .policy.mode = WEFT_SPMV_MODE_REPRODUCIBLE, .problem.f64_sums = c->f64_sums, .problem.transpose = c->transpose};
    struct weft_device_csr d = {0};
    struct weft_spmv_plan *plan = NULL;
    struct test_buffer bx = test_buffer_make(dev, x, x_bytes),
                       by = test_buffer_make(dev, c->beta == 0 ? NULL : y, y_bytes);
    weft_status status = weft_device_csr_alloc(&d, dev->ctx, weft_csr_shape(a));
    if (!status)
        status = weft_device_csr_write_sync(&d, dev->ctx, dev->queue, a);
    if (!status)
        status = weft_spmv_plan_create(&plan, dev->ctx, dev->queue, &d, &params);
    if (!status)
        status = weft_spmv_run(plan, dev->queue, by.mem, c->alpha, bx.mem, c->beta, 0, NULL, NULL);
    test_buffer_read(dev, &by, y, y_bytes);
    const int intact = test_buffer_intact(dev, &bx) && test_buffer_intact(dev, &by);
    if (status || !intact)
        tap_note("%s", status ? test_error(dev) : "canary hit");
    weft_spmv_plan_destroy(&plan);
    weft_device_csr_free(&d);
    test_buffer_free(&bx);
    test_buffer_free(&by);
    return !status && intact;
}

static void test_case(struct test_device *dev, const struct hash_case *c)
{
    struct rng fixed = {UINT64_C(0x5eed)};
    struct weft_csr a = matrix_draw(&fixed, c), at = {0};
    if (c->transpose && weft__ref_transpose(&at, &a))
        tap_bail("no memory for a transpose");
    const struct weft_csr *b = c->transpose ? &at : &a; // what is multiplied
    const size_t x_bytes = (size_t)b->n * weft_type_bytes(c->type), y_bytes = (size_t)b->m * weft_type_bytes(c->type);
    void *x = test_alloc(x_bytes), *y = test_alloc(y_bytes), *want = test_alloc(y_bytes);
    values_draw(&fixed, x, c->type, b->n);
    values_draw(&fixed, y, c->type, b->m);
    memcpy(want, y, y_bytes);
    weft__ref_spmv_fixed(b, c->type, c->f64_sums, c->alpha, x, c->beta, want);
    const uint64_t reference = check_hash(want, y_bytes);
    const int ran = product(dev, c, &a, x, x_bytes, y, y_bytes);
    const uint64_t got = check_hash(y, y_bytes);
    if (!tap_ok(ran && got == c->hash && reference == c->hash, "%s: %s: the recorded hash of y", dev->name, c->name))
        tap_note("device %016llx, oracle %016llx, recorded %016llx", (unsigned long long)got,
                 (unsigned long long)reference, (unsigned long long)c->hash);
    free(x);
    free(y);
    free(want);
    weft_csr_free(&a);
    weft_csr_free(&at);
}

static void each_device(struct test_device *dev)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (test_sample() && cases[i].rows > 1000)
            continue;
        if ((cases[i].type == WEFT_TYPE_F64 || cases[i].f64_sums) && !weft_context_device(dev->ctx)->fp64)
            tap_skip("%s: no double precision", dev->name);
        else
            test_case(dev, &cases[i]);
    }
}

int main(void)
{
    test_device_each(each_device);
    return tap_done();
}
