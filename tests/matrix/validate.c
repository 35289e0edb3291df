// SPDX-License-Identifier: Apache-2.0
// The check of matrices, on the host and on devices, against the oracle: matrices in order, one fault of each kind at every
// edge, several faults, garbage.
#include "tests/support/csr.h"
#include "host/internal/inside.h"

#include <stdlib.h>
#include <string.h>
#include <weft/validate.h>

static struct rng rng;

static void ofs_set(struct weft_csr *a, int64_t i, int64_t p)
{
    if (a->ofs == WEFT_OFS_64)
        ((int64_t *)a->row_ptr)[i] = p;
    else
        ((int32_t *)a->row_ptr)[i] = (int32_t)p;
}

// Strictly ascending columns: a random matrix through the oracle.
static void matrix_make(struct weft_csr *out, enum test_spread spread, int64_t m, int64_t n, int64_t nnz,
                        enum weft_ofs ofs)
{
    struct weft_csr a;
    test_matrix_make(&a, &rng, spread, m, n, nnz, WEFT_TYPE_PATTERN, ofs);
    if (weft__ref_canonical(out, &a, 0))
        tap_bail("out of host memory");
    weft_csr_free(&a);
}

static struct test_device *device; // NULL: the host's check alone
static struct weft_validate_plan *plans[2];

// Host and device find what the oracle finds.
static int check(const struct weft_csr *a)
{
    int ok = 1;
    static unsigned calls;
    const int slow = device && device->checker, first = slow ? (int)(calls++ % 3) : WEFT_COLUMNS_ANY;
    for (int columns = first; columns <= (slow ? first : (int)WEFT_COLUMNS_UNIQUE) && ok; columns++) {
        struct weft_error err = {0};
        int64_t at, found[2] = {-1, -1};
        const enum weft_fault want = weft__ref_validate(a, (enum weft_columns)columns, &at);
        weft_status status = weft_csr_validate_columns(a, (enum weft_columns)columns, &err);
        ok = status == (want ? WEFT_EMATRIX : WEFT_OK) && (columns || weft_csr_validate(a, NULL) == status);
        if (ok && want > WEFT_FAULT_LAST) { // the text names the place
            char place[64];
            snprintf(place, sizeof place, "%s[%lld]", want == WEFT_FAULT_DESCENDS ? "row_ptr" : "col", (long long)at);
            ok = !strncmp(err.text, place, strlen(place));
        }
        if (ok && device) {
            struct test_csr d;
            test_csr_make(&d, device, a, a->m, a->n, a->nnz, a->type, a->ofs);
            struct test_buffer to = test_buffer_make(device, NULL, sizeof found);
            status = weft_validate_run(plans[a->ofs], device->queue, to.mem, &d.d, (enum weft_columns)columns, 0, NULL,
                                       NULL);
            test_buffer_read(device, &to, found, sizeof found);
            ok = !status && found[0] == (int64_t)want && found[1] == at && test_buffer_intact(device, &to);
            test_buffer_free(&to);
            test_csr_free(&d);
        }
        if (!ok)
            tap_note("%lld x %lld, %lld entries, columns %s: want %s at %lld; device %lld at %lld; host '%s'",
                     (long long)a->m, (long long)a->n, (long long)a->nnz, weft_columns_name((enum weft_columns)columns),
                     weft_fault_name(want), (long long)at, (long long)found[0], (long long)found[1], err.text);
    }
    return ok;
}

// One fault at a time in the matrix, which is as it was afterwards.
static int faults_right(struct weft_csr *a, int draws)
{
    int ok = check(a);
    for (int k = 0; ok && k < draws; k++) {
        const int64_t i = k == 0 ? 0 : k == 1 ? a->m : (int64_t)rng_below(&rng, (uint64_t)a->m + 1);
        const int64_t was = weft_csr_ofs(a, i);
        ofs_set(a, i, k % 3 == 0 ? was + 1 + (int64_t)rng_below(&rng, 9) : k % 3 == 1 ? was - 1 : INT32_MIN);
        ok = check(a);
        ofs_set(a, i, was);
    }
    for (int k = 0; ok && k < draws && a->nnz; k++) {
        const int64_t p = k == 0 ? 0 : k == 1 ? a->nnz - 1 : (int64_t)rng_below(&rng, (uint64_t)a->nnz);
        const int32_t was = a->col[p];
        a->col[p] = k % 4 == 0 ? -1 : k % 4 == 1 ? (int32_t)a->n : p ? a->col[p - 1] - (k % 4 == 2) : INT32_MAX;
        ok = check(a);
        a->col[p] = was;
    }
    return ok;
}

static void test_faults(enum weft_ofs ofs)
{
    static const struct {
        enum test_spread spread;
        int64_t m, n, nnz;
    } shapes[] = {
        {TEST_UNIFORM, 0, 0, 0},          {TEST_UNIFORM, 7, 3, 0},          {TEST_UNIFORM, 1, 1, 1},
        {TEST_UNIFORM, 90, 70, 800},      {TEST_ONE_ROW, 9, 100000, 5000},  {TEST_FEW_ROWS, 9000, 500, 900},
        {TEST_ONE_COLUMN, 5000, 9, 9000}, {TEST_UNIFORM, 3000, 3000, 9000},
    };
    const char *const name = device ? device->name : "host";
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct weft_csr a;
        const int64_t less = device && device->checker ? 20 : 1;
        const int64_t m = (shapes[i].m + less - 1) / less, nnz = (shapes[i].nnz + less - 1) / less;
        matrix_make(&a, shapes[i].spread, m, shapes[i].n, nnz, ofs);
        tap_ok(faults_right(&a, device && device->checker ? 2
                                : test_sample()           ? 4
                                                          : 16),
               "%s: %s, %lld x %lld, %lld entries, %zu-byte offsets", name, test_spread_name(shapes[i].spread),
               (long long)a.m, (long long)a.n, (long long)a.nnz, weft_ofs_bytes(ofs));
        weft_csr_free(&a);
    }
    struct weft_csr a; // unsorted, duplicates, then garbage
    test_matrix_make(&a, &rng, TEST_SKEWED, 50, 60, 299, WEFT_TYPE_PATTERN, ofs);
    int ok = check(&a);
    for (int k = 0; k < (device && device->checker ? 3 : 20) && ok; k++) {
        ofs_set(&a, 1 + (int64_t)rng_below(&rng, 49), (int64_t)(int32_t)rng_u64(&rng));
        a.col[rng_below(&rng, 299)] = (int32_t)rng_u64(&rng);
        ok = check(&a);
    }
    tap_ok(ok, "%s: garbage, %zu-byte offsets", name, weft_ofs_bytes(ofs));
    weft_csr_free(&a);
}

// In parallel pieces of the host: the least fault of several.
static void test_pieces(void)
{
    struct weft_csr a;
    matrix_make(&a, TEST_UNIFORM, 200000, 1000, 400000, WEFT_OFS_32);
    int ok = check(&a);
    for (int k = 0; k < 5 && ok; k++) {
        a.col[rng_below(&rng, (uint64_t)a.nnz)] = (int32_t)a.n;
        ok = check(&a);
    }
    tap_ok(ok, "host: the first of several columns out of range");
    for (int k = 0; k < 5 && ok; k++) {
        ofs_set(&a, 1 + (int64_t)rng_below(&rng, 199999), INT32_MAX);
        ok = check(&a);
    }
    tap_ok(ok, "host: the first of several row pointers that descend");
    weft_csr_free(&a);
}

static void test_names(void)
{
    int ok = 1;
    for (int i = 0; i <= WEFT_COLUMNS_UNIQUE; i++) {
        enum weft_columns columns = WEFT_COLUMNS_ANY;
        ok = ok && !weft_columns_parse(&columns, weft_columns_name((enum weft_columns)i)) && (int)columns == i;
    }
    for (int i = 0; i <= WEFT_FAULT_DUPLICATE; i++) {
        enum weft_fault fault = WEFT_FAULT_NONE;
        ok = ok && !weft_fault_parse(&fault, weft_fault_name((enum weft_fault)i)) && (int)fault == i;
    }
    tap_ok(ok, "names lead back to their enumerators");
}

// Blocking, in words.
static void test_sync(struct test_device *dev)
{
    struct weft_csr a;
    struct weft_error err;
    struct test_csr d;
    int ok = 1;
    matrix_make(&a, TEST_UNIFORM, 20, 30, 200, WEFT_OFS_64);
    const int64_t last = weft_csr_ofs(&a, 20);
    for (int k = 0; k < 6 && ok; k++) {
        ofs_set(&a, 0, k == 1);
        ofs_set(&a, 20, last + (k == 2));
        ofs_set(&a, 3, weft_csr_ofs(&a, k == 3 ? 5 : 4) + (k == 3));
        a.col[weft_csr_ofs(&a, 7) + 1] = k == 4 ? 30 : a.col[weft_csr_ofs(&a, 7)] - (k == 5);
        test_csr_make(&d, dev, &a, a.m, a.n, a.nnz, a.type, a.ofs);
        const weft_status want = weft_csr_validate_columns(&a, WEFT_COLUMNS_UNIQUE, &err);
        ok = want == WEFT_EMATRIX && weft_validate_sync(dev->ctx, dev->queue, &d.d, WEFT_COLUMNS_UNIQUE) == want &&
             !strcmp(test_error(dev), err.text);
        tap_ok(ok, "%s: in words: %s", dev->name, test_error(dev));
        test_csr_free(&d);
    }
    weft_csr_free(&a);
    matrix_make(&a, TEST_UNIFORM, 20, 30, 200, WEFT_OFS_64);
    test_csr_make(&d, dev, &a, a.m, a.n, a.nnz, a.type, a.ofs);
    tap_ok(!weft_validate_sync(dev->ctx, dev->queue, &d.d, WEFT_COLUMNS_UNIQUE), "%s: nothing is wrong", dev->name);
    test_csr_free(&d);
    weft_csr_free(&a);
}

static void test_all(struct test_device *dev)
{
    device = dev;
    for (int ofs = WEFT_OFS_32; ofs <= WEFT_OFS_64; ofs++) {
        size_t bytes = 0;
        if (weft_validate_plan_create(&plans[ofs], dev->ctx, (enum weft_ofs)ofs))
            tap_bail("no plan: %s", test_error(dev));
        tap_ok(!weft_validate_workspace(&bytes, dev->ctx, (enum weft_ofs)ofs) &&
                   bytes == weft_validate_plan_info(plans[ofs])->workspace_bytes && bytes >= 8,
               "%s: workspace", dev->name);
    }
    test_faults(WEFT_OFS_32);
    test_faults(WEFT_OFS_64);
    for (int ofs = WEFT_OFS_32; ofs <= WEFT_OFS_64; ofs++)
        weft_validate_plan_destroy(&plans[ofs]);
    test_sync(dev);
    device = NULL;
}

int main(void)
{
    rng = rng_start();
    test_names();
    test_faults(WEFT_OFS_32);
    test_faults(WEFT_OFS_64);
    test_pieces();
    test_device_each(test_all);
    return tap_done();
}
