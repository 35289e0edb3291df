// SPDX-License-Identifier: Apache-2.0
// Matrices whose indices count from 1, brought to 0 and back on the host and on devices; what contradicts its base is refused
// in the same words and stays as it is.
#include "tests/support/csr.h"

#include <stdio.h>
#include <string.h>

#define COUNT(x) (sizeof(x) / sizeof *(x))

static struct rng rng;

// One more than each index, by other means than the library's.
static void count_from_one(struct weft_csr *a)
{
    for (int64_t i = 0; i <= a->m && a->ofs == WEFT_OFS_64; i++)
        ++((int64_t *)a->row_ptr)[i];
    for (int64_t i = 0; i <= a->m && a->ofs == WEFT_OFS_32; i++)
        ++((int32_t *)a->row_ptr)[i];
    for (int64_t p = 0; p < a->nnz; p++)
        ++a->col[p];
}

static const struct shape {
    enum test_spread spread;
    int64_t m, n, nnz;
} shapes[] = {
    {TEST_UNIFORM, 0, 0, 0},       {TEST_UNIFORM, 5, 7, 0},      {TEST_UNIFORM, 1, 1, 1},
    {TEST_LAST, 3, INT32_MAX, 70}, {TEST_UNIFORM, 2000, 50, 63}, {TEST_SKEWED, 60, 80, 9001},
};

static void test_shapes(struct test_device *dev, enum weft_ofs ofs)
{
    for (size_t i = 0; i < COUNT(shapes); i++) {
        const struct shape *s = &shapes[i];
        struct weft_csr zero, one;
        struct test_csr d;
        char why[256] = "";
        struct weft_error err = {0};
        const enum weft_type type = i % 2 ? WEFT_TYPE_F32 : WEFT_TYPE_PATTERN;
        struct rng again = rng;
        test_matrix_make(&zero, &again, s->spread, s->m, s->n, s->nnz, type, ofs);
        test_matrix_make(&one, &rng, s->spread, s->m, s->n, s->nnz, type, ofs);
        count_from_one(&one);
        test_csr_make(&d, dev, &one, s->m, s->n, s->nnz, type, ofs);
        int ok =
            !weft_device_csr_rebase_sync(&d.d, dev->ctx, dev->queue, 1, 1) && test_csr_equal(dev, &d, &one, why) &&
            !weft_device_csr_rebase_sync(&d.d, dev->ctx, dev->queue, 1, 0) && test_csr_equal(dev, &d, &zero, why) &&
            !weft_device_csr_rebase_sync(&d.d, dev->ctx, dev->queue, 0, 0) && test_csr_equal(dev, &d, &zero, why) &&
            !weft_device_csr_rebase_sync(&d.d, dev->ctx, dev->queue, 0, 1) && test_csr_equal(dev, &d, &one, why);
        tap_ok(ok, "%s: %lld x %lld, %lld entries, %s-bit offsets: %s", dev->name, (long long)s->m, (long long)s->n,
               (long long)s->nnz, weft_ofs_name(ofs),
               ok     ? "there and back"
               : *why ? why
                      : test_error(dev));
        ok = !weft_csr_rebase(&one, 1, 0, &err) && weft_csr_equal(&one, &zero) && !weft_csr_rebase(&one, 0, 1, &err) &&
             test_csr_equal(dev, &d, &one, why);
        tap_ok(ok, "the same on the host: %s", err.text);
        test_csr_free(&d);
        weft_csr_free(&zero);
        weft_csr_free(&one);
    }
}

// Inputs that lie about their base, or are none: 3 x 4 with 3 entries.
static const struct {
    int from;
    int32_t row[4], col[3];
    const char *text;
} bad[] = {
    {0, {1, 3, 3, 4}, {1, 4, 2}, "row_ptr[0] is 1, not 0"},
    {1, {0, 3, 3, 4}, {1, 4, 2}, "row_ptr[0] is 0, not 1"},
    {1, {INT32_MIN, 3, 3, 4}, {1, 4, 2}, "row_ptr[0] is -2147483648, not 1"},
    {1, {1, 3, 3, 3}, {1, 4, 2}, "row_ptr[3] is 3, not nnz + 1 = 4"},
    {1, {1, 3, 3, INT32_MAX}, {1, 4, 2}, "row_ptr[3] is 2147483647, not nnz + 1 = 4"},
    {1, {1, 4, 3, 4}, {1, 4, 2}, "row_ptr[1] = 4 exceeds row_ptr[2] = 3"},
    {1, {1, INT32_MAX, 3, 4}, {1, 4, 2}, "row_ptr[1] = 2147483647 exceeds row_ptr[2] = 3"},
    {1, {1, 3, 3, 4}, {1, 5, 2}, "col[1] = 5 is outside 1 .. 4"},
    {1, {1, 3, 3, 4}, {1, 4, 0}, "col[2] = 0 is outside 1 .. 4"},
    {1, {1, 3, 3, 4}, {INT32_MIN, 4, 1}, "col[0] = -2147483648 is outside 1 .. 4"},
    {1, {1, 3, 3, 4}, {1, INT32_MAX, 1}, "col[1] = 2147483647 is outside 1 .. 4"},
    {0, {0, 2, 2, 3}, {0, 3, -1}, "col[2] = -1 is outside 0 .. 3"},
};

static void bad_make(struct weft_csr *out, size_t i, enum weft_ofs ofs)
{
    if (weft_csr_alloc(out, weft_shape(3, 4, 3, WEFT_TYPE_PATTERN, ofs)))
        tap_bail("out of host memory");
    for (int k = 0; k < 4 && ofs == WEFT_OFS_64; k++)
        ((int64_t *)out->row_ptr)[k] = bad[i].row[k];
    if (ofs == WEFT_OFS_32)
        memcpy(out->row_ptr, bad[i].row, sizeof bad[i].row);
    memcpy(out->col, bad[i].col, sizeof bad[i].col);
}

static void test_bad(struct test_device *dev, enum weft_ofs ofs)
{
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct weft_csr a, same;
        struct test_csr d;
        struct weft_error err;
        char why[256] = "";
        bad_make(&a, i, ofs);
        bad_make(&same, i, ofs);
        test_csr_make(&d, dev, &a, a.m, a.n, a.nnz, a.type, a.ofs);
        tap_ok(weft_csr_rebase(&a, bad[i].from, 1 - bad[i].from, &err) == WEFT_EMATRIX &&
                   !strcmp(err.text, bad[i].text) && weft_csr_equal(&a, &same),
               "host, unchanged: %s", err.text);
        tap_ok(weft_device_csr_rebase_sync(&d.d, dev->ctx, dev->queue, bad[i].from, 1 - bad[i].from) == WEFT_EMATRIX &&
                   !strcmp(test_error(dev), bad[i].text) && test_csr_equal(dev, &d, &same, why),
               "%s, %s-bit offsets, unchanged: %s %s", dev->name, weft_ofs_name(ofs), test_error(dev), why);
        test_csr_free(&d);
        weft_csr_free(&a);
        weft_csr_free(&same);
    }
}

// One column of many that is out of range for its base alone: 0, or n and one more.
static void test_one_bad(struct test_device *dev)
{
    enum { M = 7, N = 90, NNZ = 5000 };
    for (int k = 0; k < 4; k++) {
        const int from = k % 2;
        const int32_t column = from ? (k / 2 ? N + 1 : 0) : (k / 2 ? N : -1);
        const int64_t at = (int64_t)rng_below(&rng, NNZ);
        struct weft_csr a;
        struct test_csr d;
        struct weft_error err = {0};
        char text[100];
        test_matrix_make(&a, &rng, TEST_UNIFORM, M, N, NNZ, WEFT_TYPE_PATTERN, WEFT_OFS_32);
        if (from)
            count_from_one(&a);
        a.col[at] = column;
        test_csr_make(&d, dev, &a, M, N, NNZ, WEFT_TYPE_PATTERN, WEFT_OFS_32);
        snprintf(text, sizeof text, "col[%lld] = %d is outside %d .. %d", (long long)at, (int)column, from,
                 N - 1 + from);
        tap_ok(weft_csr_rebase(&a, from, 1 - from, &err) == WEFT_EMATRIX && !strcmp(err.text, text), "host: %s", text);
        tap_ok(weft_device_csr_rebase_sync(&d.d, dev->ctx, dev->queue, from, 1 - from) == WEFT_EMATRIX &&
                   !strcmp(test_error(dev), text),
               "%s: %s", dev->name, test_error(dev));
        test_csr_free(&d);
        weft_csr_free(&a);
    }
}

// A last row pointer that has no 32-bit number is found before the arrays are looked at.
static void test_room(struct test_device *dev)
{
    int32_t row[] = {0, INT32_MAX}, col[] = {0};
    struct weft_csr a = {1, 1, INT32_MAX, WEFT_TYPE_PATTERN, WEFT_OFS_32, row, col, NULL};
    struct weft_device_csr d = {1, 1, INT32_MAX, WEFT_TYPE_PATTERN, WEFT_OFS_32, NULL, NULL, NULL};
    struct weft_error err;
    tap_ok(weft_csr_rebase(&a, 0, 1, &err) == WEFT_ERANGE && row[1] == INT32_MAX, "host: %s", err.text);
    tap_ok(weft_device_csr_rebase_sync(&d, dev->ctx, dev->queue, 0, 1) == WEFT_ERANGE &&
               !strcmp(test_error(dev), err.text),
           "%s: %s", dev->name, test_error(dev));
}

static void test_all(struct test_device *dev)
{
    for (int ofs = WEFT_OFS_32; ofs <= WEFT_OFS_64; ofs++) {
        test_shapes(dev, (enum weft_ofs)ofs);
        test_bad(dev, (enum weft_ofs)ofs);
    }
    test_one_bad(dev);
    test_room(dev);
}

int main(void)
{
    rng = rng_start();
    test_device_each(test_all);
    return tap_done();
}
