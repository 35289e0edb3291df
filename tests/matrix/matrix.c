// SPDX-License-Identifier: Apache-2.0
// Host matrices: allocation, validation, comparison, and CSR from coordinates against the formula.
#include "host/internal/tests.h"
#include "tests/support/rng.h"
#include "tests/support/tap.h"

#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void test_alloc(void)
{
    struct weft_csr a;
    struct weft_coo coo;
    static const struct weft_csr zero;
    tap_is_int(weft_csr_alloc(&a, weft_shape(-1, 1, 0, WEFT_TYPE_F32, WEFT_OFS_32)), WEFT_EINVAL, "negative rows");
    tap_is_int(weft_csr_alloc(&a, weft_shape(1, INT64_C(1) << 31, 0, WEFT_TYPE_F32, WEFT_OFS_32)), WEFT_EINVAL,
               "2^31 columns");
    tap_is_int(weft_csr_alloc(&a, weft_shape(1, 1, INT64_C(1) << 31, WEFT_TYPE_F32, WEFT_OFS_32)), WEFT_ERANGE,
               "2^31 entries, 32-bit offsets");
    tap_is_int(weft_csr_alloc(&a, weft_shape(1, 1, INT64_C(1) << 61, WEFT_TYPE_F64, WEFT_OFS_64)), WEFT_ENOMEM,
               "2^61 entries");
    tap_is_int(weft_csr_alloc(&a, weft_shape(0, 3, 2, WEFT_TYPE_F32, WEFT_OFS_32)), WEFT_EINVAL,
               "entries without rows");
    tap_is_int(weft_csr_alloc(&a, weft_shape(3, 0, 2, WEFT_TYPE_F32, WEFT_OFS_32)), WEFT_EINVAL,
               "entries without columns");
    tap_ok(!memcmp(&a, &zero, sizeof a), "a failure leaves zeros");
    tap_is_int(weft_coo_alloc(&coo, weft_shape(.m = 1, .n = 1, .nnz = -1, .type = WEFT_TYPE_F32)), WEFT_EINVAL,
               "negative entries");
    tap_is_int(weft_coo_alloc(&coo, weft_shape(.m = 1, .n = 1, .nnz = INT64_C(1) << 61, .type = WEFT_TYPE_F32)),
               WEFT_ENOMEM, "2^61 coordinates");
    tap_ok(!weft_csr_alloc(&a, weft_shape(0, 0, 0, WEFT_TYPE_F32, WEFT_OFS_32)) && !weft_csr_validate(&a, NULL),
           "0 x 0");
    weft_csr_free(&a);
    tap_ok(!weft_csr_alloc(&a, weft_shape(3, 0, 0, WEFT_TYPE_PATTERN, WEFT_OFS_64)) && !a.val &&
               !weft_csr_validate(&a, NULL),
           "3 x 0 pattern");
    weft_csr_free(&a);
    tap_ok(!memcmp(&a, &zero, sizeof a), "freeing leaves zeros");
    weft_csr_free(&a);
    weft_csr_free(NULL);
    weft_coo_free(NULL);
    tap_is_int((int64_t)weft_type_bytes(WEFT_TYPE_F64), 8, "bytes of f64");
    tap_is_int((int64_t)weft_type_bytes((enum weft_type)77), 0, "bytes of no type");
    tap_is_str(weft_type_name(WEFT_TYPE_I32), "i32", "name of i32");
    tap_is_str(weft_type_name((enum weft_type)77), "unknown", "name of no type");
}

static void test_validate(void)
{
    int32_t row_ptr[] = {0, 2, 2, 3}, col[] = {0, 3, 1};
    float val[] = {1, 2, 3};
    struct weft_csr good = {.m = 3, .n = 4, .nnz = 3, .row_ptr = row_ptr, .col = col, .val = val}, bad;
    struct weft_error err = {0};
    tap_is_int(weft_csr_validate(&good, &err), WEFT_OK, "a good matrix");
    tap_is_int(weft_csr_validate(NULL, &err), WEFT_EINVAL, "no matrix");
    bad = good;
    bad.m = -1;
    tap_is_int(weft_csr_validate(&bad, &err), WEFT_EINVAL, "negative rows");
    bad = good;
    bad.col = NULL;
    tap_is_int(weft_csr_validate(&bad, &err), WEFT_EINVAL, "no columns");
    bad = good;
    bad.nnz = 2;
    tap_ok(weft_csr_validate(&bad, &err) == WEFT_EMATRIX && !strcmp(err.text, "row_ptr[3] is 3, not nnz = 2"), "%s",
           err.text);
    row_ptr[0] = 1;
    tap_ok(weft_csr_validate(&good, &err) == WEFT_EMATRIX && !strcmp(err.text, "row_ptr[0] is 1, not 0"), "%s",
           err.text);
    row_ptr[0] = 0;
    row_ptr[1] = 3;
    tap_ok(weft_csr_validate(&good, &err) == WEFT_EMATRIX && !strcmp(err.text, "row_ptr[1] = 3 exceeds row_ptr[2] = 2"),
           "%s", err.text);
    row_ptr[1] = 2;
    col[1] = 4;
    tap_ok(weft_csr_validate(&good, &err) == WEFT_EMATRIX && !strcmp(err.text, "col[1] = 4 is outside 0 .. 3"), "%s",
           err.text);
    col[1] = -1;
    tap_is_int(weft_csr_validate(&good, NULL), WEFT_EMATRIX, "negative column, no place for the message");
}

static void coo_random(struct weft_coo *coo, struct rng *rng, int64_t m, int64_t n, int64_t nnz, enum weft_type type,
                       int skew)
{
    if (weft_coo_alloc(coo, weft_shape(.m = m, .n = n, .nnz = nnz, .type = type)))
        tap_bail("out of memory");
    for (int64_t k = 0; k < nnz; k++) {
        coo->row[k] = (int32_t)(skew && rng_below(rng, 8) ? m / 2 : (int64_t)rng_below(rng, (uint64_t)m));
        coo->col[k] = (int32_t)rng_below(rng, (uint64_t)n);
        if (type == WEFT_TYPE_F32)
            ((float *)coo->val)[k] = (float)k;
        else if (type == WEFT_TYPE_F64)
            ((double *)coo->val)[k] = (double)k;
        else if (type == WEFT_TYPE_I32)
            ((int32_t *)coo->val)[k] = (int32_t)k;
    }
}

static double coo_value(const struct weft_coo *coo, int64_t k)
{
    return coo->type == WEFT_TYPE_F32   ? (double)((float *)coo->val)[k]
           : coo->type == WEFT_TYPE_F64 ? ((double *)coo->val)[k]
           : coo->type == WEFT_TYPE_I32 ? ((int32_t *)coo->val)[k]
                                        : 1;
}

// Put value v where position p of `a` is; patterns ignore it.
static int position_is(const struct weft_csr *a, int64_t p, int32_t col, double v)
{
    double got = a->type == WEFT_TYPE_F32   ? (double)((float *)a->val)[p]
                 : a->type == WEFT_TYPE_F64 ? ((double *)a->val)[p]
                 : a->type == WEFT_TYPE_I32 ? ((int32_t *)a->val)[p]
                                            : v;
    return a->col[p] == col && got == v;
}

// Whether `a` holds the entries of `coo` and their mirror images, in the order of the coordinates inside each row:
// walk through the coordinates and strike off the next position of each row.
static int holds(const struct weft_csr *a, const struct weft_coo *coo, enum weft__mirrored mirror)
{
    int64_t *next = malloc(((size_t)a->m + 1) * sizeof *next);
    int good = next && !weft_csr_validate(a, NULL);
    for (int64_t i = 0; good && i < a->m; i++)
        next[i] = weft_csr_ofs(a, i);
    for (int64_t k = 0; good && k < coo->nnz; k++) {
        int32_t i = coo->row[k], j = coo->col[k];
        double v = coo_value(coo, k);
        good = next[i] < weft_csr_ofs(a, i + 1) && position_is(a, next[i]++, j, v);
        if (good && mirror && i != j)
            good = next[j] < weft_csr_ofs(a, j + 1) &&
                   position_is(a, next[j]++, i, mirror == WEFT__MIRROR_NEGATED ? -v : v);
    }
    for (int64_t i = 0; good && i < a->m; i++)
        good = next[i] == weft_csr_ofs(a, i + 1);
    free(next);
    return good;
}

static void test_from_coo(struct rng *rng)
{
    static const int64_t sizes[][3] = {{0, 0, 0},
                                       {1, 1, 0},
                                       {1, 1, 5},
                                       {7, 5, 0},
                                       {7, 5, 100},
                                       {1000, 3, 50},
                                       {1, 100000, 200000},
                                       {70000, 1, 200000},
                                       {300000, 300000, 400000},
                                       {4000000, 10, 100},
                                       {65536, 65536, 65536},
                                       {65537, 100, 65537}};
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (int type = WEFT_TYPE_F32; type <= WEFT_TYPE_PATTERN; type++)
            for (int skew = 0; skew < 2; skew++) {
                struct weft_coo coo;
                struct weft_csr a, b;
                coo_random(&coo, rng, sizes[s][0], sizes[s][1], sizes[s][2], (enum weft_type)type, skew);
                int good =
                    !weft_csr_from_coo(&a, &coo, WEFT_OFS_32, NULL) && !weft_csr_from_coo(&b, &coo, WEFT_OFS_64, NULL);
                tap_ok(good && holds(&a, &coo, WEFT__MIRROR_NONE) && holds(&b, &coo, WEFT__MIRROR_NONE) &&
                           weft_csr_hash(&a) == weft_csr_hash(&b) && !weft_csr_equal(&a, &b),
                       "CSR of %lld x %lld, %lld entries, %s%s", (long long)coo.m, (long long)coo.n, (long long)coo.nnz,
                       weft_type_name(coo.type), skew ? ", one heavy row" : "");
                weft_csr_free(&a);
                weft_csr_free(&b);
                weft_coo_free(&coo);
            }
}

static void test_build(struct rng *rng)
{
    for (int trial = 0; trial < 60; trial++) {
        int64_t n = rng_between(rng, 1, trial % 3 ? 50 : 200000), nnz = rng_between(rng, 0, trial % 3 ? 1000 : 300000),
                at = 0;
        enum weft_type type = (enum weft_type)(trial % 4);
        enum weft__mirrored mirror = (enum weft__mirrored)(trial % 3);
        struct weft_coo coo;
        coo_random(&coo, rng, n, n, nnz, type, trial % 2);
        struct weft__coo_slice slices[64];
        size_t count = 0, bytes = weft_type_bytes(type);
        while (count < COUNT(slices)) {
            int64_t take = count + 1 == COUNT(slices) ? nnz - at : rng_between(rng, 0, (nnz - at) / 8);
            slices[count++] = (struct weft__coo_slice){take, coo.row + at, coo.col + at,
                                                       bytes ? (char *)coo.val + (size_t)at * bytes : NULL};
            at += take;
        }
        struct weft_csr a;
        int threads = (int)rng_between(rng, 1, 6);
        struct weft__team team;
        weft__team_begin(&team, threads);
        int built =
            !weft__csr_build(&a, n, n, type, trial % 2 ? WEFT_OFS_64 : WEFT_OFS_32, slices, count, mirror, &team);
        weft__team_end(&team);
        tap_ok(built && holds(&a, &coo, mirror), "%lld x %lld of %lld entries in slices, %s, mirror %d, %d threads",
               (long long)n, (long long)n, (long long)nnz, weft_type_name(type), mirror, threads);
        weft_csr_free(&a);
        weft_coo_free(&coo);
    }
    struct weft_csr a;
    int32_t row[] = {1, 0}, col[] = {0, 0};
    struct weft__coo_slice ones = {2, row, col, NULL};
    struct weft__team team;
    weft__team_begin(&team, 0);
    tap_ok(!weft__csr_build(&a, 2, 2, WEFT_TYPE_F64, WEFT_OFS_32, &ones, 1, WEFT__MIRROR_SAME, &team) && a.nnz == 3 &&
               ((double *)a.val)[0] == 1 && ((double *)a.val)[2] == 1,
           "without values every one is one");
    weft__team_end(&team);
    weft_csr_free(&a);
}

static void test_from_coo_errors(void)
{
    int32_t row[] = {0, 1, 5, 7}, col[] = {0, 2, 0, 0};
    struct weft_coo coo = {.m = 5, .n = 3, .nnz = 4, .type = WEFT_TYPE_PATTERN, .row = row, .col = col};
    struct weft_csr a;
    struct weft_error err = {0};
    tap_ok(weft_csr_from_coo(&a, &coo, WEFT_OFS_32, &err) == WEFT_EMATRIX && !a.row_ptr &&
               !strcmp(err.text, "entry 2 at (5, 0) is outside 5 x 3"),
           "%s", err.text);
    row[2] = row[3] = 0;
    col[3] = -1;
    tap_ok(weft_csr_from_coo(&a, &coo, WEFT_OFS_32, &err) == WEFT_EMATRIX &&
               !strcmp(err.text, "entry 3 at (0, -1) is outside 5 x 3"),
           "%s", err.text);
}

static void test_equal(void)
{
    int32_t row[] = {0, 1}, col[] = {1, 0};
    float val[] = {1, 2};
    struct weft_coo coo = {.m = 2, .n = 2, .nnz = 2, .row = row, .col = col, .val = val};
    struct weft_csr a, b;
    if (weft_csr_from_coo(&a, &coo, WEFT_OFS_32, NULL) || weft_csr_from_coo(&b, &coo, WEFT_OFS_32, NULL))
        tap_bail("out of memory");
    tap_ok(weft_csr_equal(&a, &b) && weft_csr_hash(&a) == weft_csr_hash(&b), "equal matrices");
    ((float *)b.val)[1] = 3;
    tap_ok(!weft_csr_equal(&a, &b) && weft_csr_hash(&a) != weft_csr_hash(&b), "another value");
    ((float *)b.val)[1] = 2;
    b.col[0] = 0;
    tap_ok(!weft_csr_equal(&a, &b) && weft_csr_hash(&a) != weft_csr_hash(&b), "another column");
    b.col[0] = 1;
    ((int32_t *)b.row_ptr)[1] = 2;
    tap_ok(!weft_csr_equal(&a, &b) && weft_csr_hash(&a) != weft_csr_hash(&b), "another row");
    ((int32_t *)b.row_ptr)[1] = 1;
    b.n = 3;
    tap_ok(!weft_csr_equal(&a, &b), "another shape");
    weft_csr_free(&a);
    weft_csr_free(&b);
}

static void test_sizes(void)
{
    tap_ok(weft__mul(SIZE_MAX / 2, 3) == SIZE_MAX && weft__mul(6, 7) == 42, "multiplication saturates");
    tap_ok(weft__add(SIZE_MAX, 1) == SIZE_MAX && weft__add(6, 7) == 13, "addition saturates");
    tap_ok(weft__ceil_div(7, 3) == 3 && weft__ceil_div(6, 3) == 2 && weft__ceil_div(SIZE_MAX, 2) == SIZE_MAX / 2 + 1,
           "division rounds up");
    tap_ok(weft__round_up(7, 8) == 8 && weft__round_up(SIZE_MAX, 8) == SIZE_MAX, "rounding up saturates");
}

int main(void)
{
    struct rng rng = rng_start();
    test_alloc();
    test_validate();
    test_from_coo(&rng);
    test_build(&rng);
    test_from_coo_errors();
    test_equal();
    test_sizes();
    return tap_done();
}
