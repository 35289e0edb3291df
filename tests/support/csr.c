// SPDX-License-Identifier: Apache-2.0
// Matrices on the device between canaries, and one transposition of them against the oracle.
#include "csr.h"
#include "host/common/check_exact.h"
#include "host/internal/inside.h"

#include <stdio.h>
#include <string.h>

const char *test_spread_name(enum test_spread spread)
{
    static const char *const names[TEST_SPREADS] = {"uniform",  "one row",  "one column", "last",
                                                    "few rows", "diagonal", "skewed",     "descending"};
    return names[spread];
}

static void entry_place(struct rng *rng, enum test_spread spread, int64_t i, int64_t m, int64_t n, int64_t nnz,
                        int64_t *row, int64_t *col)
{
    *row = (int64_t)rng_below(rng, (uint64_t)m);
    *col = (int64_t)rng_below(rng, (uint64_t)n);
    if (spread == TEST_ONE_ROW)
        *row = m / 2;
    if (spread == TEST_ONE_COLUMN)
        *col = n / 2;
    if (spread == TEST_LAST) {
        *row = m - 1;
        *col = n - 1;
    }
    if (spread == TEST_FEW_ROWS)
        *row -= *row % 7;
    if (spread == TEST_DIAGONAL) {
        *row = i * m / nnz;
        *col = (*row * n / m + (int64_t)rng_below(rng, 5)) % n;
    }
    if (spread == TEST_SKEWED && i % 2) {
        *row = (int64_t)rng_below(rng, (uint64_t)(m < 3 ? m : 3));
        *col = (int64_t)rng_below(rng, (uint64_t)(n < 3 ? n : 3));
    }
}

static int descending(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x < y) - (x > y);
}

void test_row_begin(struct weft_csr *a, int64_t i, int64_t at)
{
    if (a->ofs == WEFT_OFS_64)
        ((int64_t *)a->row_ptr)[i] = at;
    else
        ((int32_t *)a->row_ptr)[i] = (int32_t)at;
}

void test_matrix_make(struct weft_csr *out, struct rng *rng, enum test_spread spread, int64_t m, int64_t n, int64_t nnz,
                      enum weft_type type, enum weft_ofs ofs)
{
    struct weft_coo coo;
    struct weft_error err = {0};
    if (weft_coo_alloc(&coo, weft_shape(.m = m, .n = n, .nnz = nnz, .type = type)))
        tap_bail("out of host memory: %lld entries", (long long)nnz);
    for (int64_t i = 0; i < nnz; i++) {
        int64_t row, col;
        entry_place(rng, spread, i, m, n, nnz, &row, &col);
        coo.row[i] = (int32_t)row;
        coo.col[i] = (int32_t)col;
        uint64_t bits = rng_u64(rng);
        size_t bytes = weft_type_bytes(type);
        if (bytes)
            memcpy((char *)coo.val + (size_t)i * bytes, &bits, bytes);
    }
    if (weft_csr_from_coo(out, &coo, ofs, &err))
        tap_bail("test matrix: %s", err.text);
    weft_coo_free(&coo);
    if (spread == TEST_DESCENDING)
        for (int64_t i = 0; i < m; i++) {
            int64_t first = weft_csr_ofs(out, i);
            qsort(out->col + first, (size_t)(weft_csr_ofs(out, i + 1) - first), 4, descending);
        }
}

void test_csr_make(struct test_csr *out, struct test_device *dev, const struct weft_csr *a, int64_t m, int64_t n,
                   int64_t nnz, enum weft_type type, enum weft_ofs ofs)
{
    *out = (struct test_csr){.d = {.m = m, .n = n, .nnz = nnz, .type = type, .ofs = ofs}};
    out->row_ptr = test_buffer_make(dev, a ? a->row_ptr : NULL, ((size_t)m + 1) * weft_ofs_bytes(ofs));
    out->col = test_buffer_make(dev, a && nnz ? a->col : NULL, (size_t)nnz * 4);
    if (type != WEFT_TYPE_PATTERN)
        out->val = test_buffer_make(dev, a && nnz ? a->val : NULL, (size_t)nnz * weft_type_bytes(type));
    out->d.row_ptr = out->row_ptr.mem;
    out->d.col = out->col.mem;
    out->d.val = out->val.mem;
}

void test_csr_poison(struct test_device *dev, struct test_csr *x)
{
    test_buffer_poison(dev, &x->row_ptr);
    test_buffer_poison(dev, &x->col);
    if (x->val.mem)
        test_buffer_poison(dev, &x->val);
}

void test_csr_free(struct test_csr *x)
{
    test_buffer_free(&x->row_ptr);
    test_buffer_free(&x->col);
    if (x->val.mem)
        test_buffer_free(&x->val);
    *x = (struct test_csr){0};
}

// The contents of a buffer, in memory that the caller frees.
static void *copy_read(struct test_device *dev, const struct test_buffer *b, size_t bytes)
{
    void *copy = test_alloc(bytes);
    if (bytes)
        test_buffer_read(dev, b, copy, bytes);
    return copy;
}

int test_csr_equal(struct test_device *dev, const struct test_csr *x, const struct weft_csr *want, char *why)
{
    const struct test_buffer *buffers[] = {&x->row_ptr, &x->col, &x->val};
    struct weft_csr got = *want;
    const size_t nnz = (size_t)want->nnz;
    got.row_ptr = copy_read(dev, &x->row_ptr, ((size_t)want->m + 1) * weft_ofs_bytes(want->ofs));
    got.col = copy_read(dev, &x->col, nnz * sizeof *got.col);
    got.val = copy_read(dev, &x->val, want->val ? nnz * weft_type_bytes(want->type) : 0);
    int right = check_transpose(&got, want, why, 256);
    for (size_t i = 0; i < 3 && right; i++)
        if (buffers[i]->mem && !test_buffer_intact(dev, buffers[i])) {
            static const char *const names[] = {"row_ptr", "col", "val"};
            snprintf(why, 256, "a canary of %s is dead", names[i]);
            right = 0;
        }
    weft_csr_free(&got);
    return right;
}

static const struct weft_transpose_params *params_of(const struct weft_transpose_params *p)
{
    static const struct weft_transpose_params none;
    return memcmp(p, &none, sizeof none) ? p : NULL;
}

int test_transpose(struct test_device *dev, const struct weft_csr *a, const struct weft_transpose_params *params,
                   struct weft_transpose_info *info)
{
    return test_transpose_runs(dev, a, params, info, test_sample() && a->nnz > 64 ? 1 : 2);
}

int test_transpose_runs(struct test_device *dev, const struct weft_csr *a, const struct weft_transpose_params *params,
                        struct weft_transpose_info *info, int runs)
{
    char why[256] = "";
    struct weft_csr want;
    struct test_csr from, to;
    struct weft_transpose_plan *op = NULL;
    if (weft__ref_transpose(&want, a))
        tap_bail("out of host memory");
    test_csr_make(&from, dev, a, a->m, a->n, a->nnz, a->type, a->ofs);
    test_csr_make(&to, dev, NULL, a->n, a->m, a->nnz, a->type, a->ofs);
    weft_status status = weft_transpose_plan_create(&op, dev->ctx, weft_csr_shape(a), params_of(params));
    int ok = !status;
    if (ok && info)
        *info = *weft_transpose_plan_info(op);
    for (int run = 0; ok && run < runs; run++) {
        status = weft_transpose_run(op, dev->queue, &to.d, &from.d, 0, NULL, NULL);
        ok = !status && test_csr_equal(dev, &to, &want, why);
        if (ok && run == 0)
            test_csr_poison(dev, &to);
    }
    if (ok && !test_csr_equal(dev, &from, a, why)) {
        ok = 0;
        snprintf(why, sizeof why, "the input was written to");
    }
    if (!ok)
        tap_note("%lld x %lld, %lld entries, %s, %d-bit offsets; algo=%d wg=%d ipt=%d bits=%d groups=%d: %s",
                 (long long)a->m, (long long)a->n, (long long)a->nnz, weft_type_name(a->type),
                 a->ofs == WEFT_OFS_64 ? 64 : 32, (int)params->algo, test_value(dev, "transpose", params, "wg"),
                 test_value(dev, "transpose", params, "ipt"), test_value(dev, "transpose", params, "bits"),
                 test_value(dev, "transpose", params, "groups"), status ? test_error(dev) : why);
    weft_transpose_plan_destroy(&op);
    test_csr_free(&from);
    test_csr_free(&to);
    weft_csr_free(&want);
    return ok;
}
