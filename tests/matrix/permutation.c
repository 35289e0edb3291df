// SPDX-License-Identifier: Apache-2.0
// Orders and permutations on the host: every order against a plain oracle, inverses, products, pinned hashes, reverse
// Cuthill-McKee on shuffled bands and grids, errors.
#include "host/internal/inside.h"
#include "tests/support/csr.h"

#include <stdlib.h>
#include <string.h>
#include <weft/generate.h>
#include <weft/measure.h>
#include <weft/permute.h>

static struct rng rng;

static void matrix_generate(struct weft_csr *out, const char *spec, enum weft_type type)
{
    struct weft_error err;
    if (weft_generate(out, spec, weft_generate_params(.type = type, .seed = 5, .integers = 1), &err))
        tap_bail("%s", err.text);
}

static void order_make(struct weft_permutation *out, enum weft_order order, const struct weft_csr *a, uint64_t seed)
{
    struct weft_error err;
    if (weft_permutation_alloc(out, order, a, seed, &err))
        tap_bail("%s", err.text);
}

static void csr_permute(struct weft_csr *out, const struct weft_csr *a, const struct weft_permutation *p, int keep)
{
    struct weft_error err;
    if (weft_csr_permute(out, a, p, weft_permute_params(.keep = keep), &err))
        tap_bail("%s", err.text);
}

static int maps_good(const int32_t *map, const int32_t *inv, int64_t count)
{
    if (!map || !inv)
        return !map && !inv;
    for (int64_t i = 0; i < count; i++)
        if (map[i] < 0 || map[i] >= count || inv[map[i]] != i)
            return 0;
    return 1;
}

// Entry by entry: row i of `out` holds those of its old row, in their order or inserted before the first larger column.
static int permuted(const struct weft_csr *out, const struct weft_csr *a, const struct weft_permutation *p, int keep)
{
    int64_t used = 0, bytes = (int64_t)weft_type_bytes(a->type);
    int64_t *from = test_alloc((size_t)(a->nnz + 1) * sizeof *from);
    int ok = out->m == a->m && out->n == a->n && out->nnz == a->nnz && out->type == a->type && out->ofs == a->ofs;
    for (int64_t i = 0; ok && i < a->m; i++) {
        int64_t old = p->row ? p->row[i] : i, begin = used;
        ok = weft_csr_ofs(out, i) == begin;
        for (int64_t q = weft_csr_ofs(a, old); q < weft_csr_ofs(a, old + 1); q++) {
            int64_t at = used++;
            for (; p->col && !keep && at > begin && p->col_inv[a->col[from[at - 1]]] > p->col_inv[a->col[q]]; at--)
                from[at] = from[at - 1];
            from[at] = q;
        }
    }
    ok = ok && weft_csr_ofs(out, a->m) == used;
    for (int64_t k = 0; ok && k < used; k++)
        ok = out->col[k] == (p->col ? p->col_inv[a->col[from[k]]] : a->col[from[k]]) &&
             (!bytes || !memcmp((char *)out->val + k * bytes, (char *)a->val + from[k] * bytes, (size_t)bytes));
    free(from);
    return ok;
}

// Coordinates permuted and made CSR, whatever their order, hold the same: compared after sorting by two transpositions.
static int coo_permuted(const struct weft_csr *out, const struct weft_csr *a, const struct weft_permutation *p)
{
    struct weft_coo coo, moved;
    struct weft_csr csr, once, sorted, want_once, want;
    if (weft_coo_alloc(&coo, weft_shape(.m = a->m, .n = a->n, .nnz = a->nnz, .type = a->type)))
        tap_bail("out of host memory");
    weft__ref_expand(coo.row, a->row_ptr, a->m, a->ofs);
    memcpy(coo.col, a->col, (size_t)a->nnz * 4);
    if (coo.val)
        memcpy(coo.val, a->val, (size_t)a->nnz * weft_type_bytes(a->type));
    if (weft_coo_permute(&moved, &coo, p, NULL) || weft_csr_from_coo(&csr, &moved, a->ofs, NULL) ||
        weft__ref_transpose(&once, &csr) || weft__ref_transpose(&sorted, &once) ||
        weft__ref_transpose(&want_once, out) || weft__ref_transpose(&want, &want_once))
        tap_bail("out of host memory");
    int ok = weft_csr_equal(&sorted, &want);
    struct weft_csr *all[] = {&csr, &once, &sorted, &want_once, &want};
    for (int i = 0; i < 5; i++)
        weft_csr_free(all[i]);
    weft_coo_free(&coo);
    weft_coo_free(&moved);
    return ok;
}

static void test_orders(enum weft_order order)
{
    static const struct {
        int64_t m, n, nnz;
    } shapes[] = {{0, 0, 0},     {5, 0, 0},      {0, 4, 0},       {1, 1, 3},       {40, 40, 0},
                  {2, 900, 300}, {300, 3, 1500}, {64, 500, 2500}, {700, 700, 9000}};
    int good = 1, moved = 1, coo = 1, back = 1, threads = 1;
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int c = 0; c < 4; c++) {
            struct weft_csr a, b, again, home;
            struct weft_permutation p, inverse;
            int keep = c & 1;
            test_matrix_make(&a, &rng, (enum test_spread)rng_below(&rng, TEST_SPREADS), shapes[s].m, shapes[s].n,
                             shapes[s].nnz, (enum weft_type)c, c & 2 ? WEFT_OFS_64 : WEFT_OFS_32);
            order_make(&p, order, &a, rng_u64(&rng));
            good = good && p.m == a.m && p.n == a.n && maps_good(p.row, p.row_inv, a.m) &&
                   maps_good(p.col, p.col_inv, a.n);
            csr_permute(&b, &a, &p, keep);
            moved = moved && permuted(&b, &a, &p, keep);
            coo = coo && coo_permuted(&b, &a, &p);
            if (weft_csr_permute(&again, &a, &p, weft_permute_params(.keep = keep, .threads = 7), NULL) ||
                weft_permutation_inverse(&inverse, &p))
                tap_bail("out of host memory");
            threads = threads && weft_csr_equal(&again, &b);
            csr_permute(&home, &b, &inverse, 1);
            if (keep)
                back = back && weft_csr_equal(&home, &a);
            struct weft_csr *all[] = {&a, &b, &again, &home};
            for (int i = 0; i < 4; i++)
                weft_csr_free(all[i]);
            weft_permutation_free(&p);
            weft_permutation_free(&inverse);
        }
    const char *name = weft_order_name(order);
    tap_ok(good, "%s: maps undo each other", name);
    tap_ok(moved, "%s: entries are where they should be", name);
    tap_ok(coo, "%s: coordinates hold the same matrix", name);
    tap_ok(threads, "%s: 7 threads give the same", name);
    tap_ok(back, "%s: the inverse gives the matrix back", name);
}

// Sorted rows come back bit for bit without `keep`; and A'*x', brought back, is A*x on integers.
static void test_sorted(enum weft_order order)
{
    static const char *const specs[] = {"power:500,350,6000", "stencil27:7", "uniform:90,400,3000", "band:200,7"};
    int back = 1, product = 1;
    for (int s = 0; s < 4; s++)
        for (int t = 0; t < 3; t++) {
            enum weft_type type = (enum weft_type)t;
            size_t bytes = weft_type_bytes(type);
            struct weft_csr a, b, home;
            struct weft_permutation p, inverse;
            matrix_generate(&a, specs[s], type);
            order_make(&p, order, &a, 77);
            csr_permute(&b, &a, &p, 0);
            if (weft_permutation_inverse(&inverse, &p))
                tap_bail("out of host memory");
            csr_permute(&home, &b, &inverse, 0);
            back = back && weft_csr_equal(&home, &a);
            char *x = test_alloc((size_t)a.n * bytes), *x_new = test_alloc((size_t)a.n * bytes);
            char *y = test_alloc((size_t)a.m * bytes), *y_new = test_alloc((size_t)a.m * bytes);
            char *y_old = test_alloc((size_t)a.m * bytes);
            for (int64_t j = 0; j < a.n; j++) {
                int32_t v = (int32_t)rng_between(&rng, -100, 100);
                if (type == WEFT_TYPE_F32)
                    ((float *)x)[j] = (float)v;
                else if (type == WEFT_TYPE_F64)
                    ((double *)x)[j] = v;
                else
                    ((int32_t *)x)[j] = v;
            }
            weft__ref_spmv(&a, type, 1, x, 0, y);
            int failed = weft_vector_permute(x_new, x, &p, WEFT_PERMUTE_SIDE_COLS, 0, bytes);
            weft__ref_spmv(&b, type, 1, x_new, 0, y_new);
            failed = failed || weft_vector_permute(y_old, y_new, &p, WEFT_PERMUTE_SIDE_ROWS, 1, bytes);
            product = product && !failed && !memcmp(y_old, y, (size_t)a.m * bytes);
            // And the other ways: x back, y there.
            failed = weft_vector_permute(x, x_new, &p, WEFT_PERMUTE_SIDE_COLS, 1, bytes) ||
                     weft_vector_permute(y_old, y, &p, WEFT_PERMUTE_SIDE_ROWS, 0, bytes);
            weft__ref_spmv(&a, type, 1, x, 0, y);
            failed = failed || weft_vector_permute(y_new, y, &p, WEFT_PERMUTE_SIDE_ROWS, 0, bytes);
            product = product && !failed && !memcmp(y_old, y_new, (size_t)a.m * bytes);
            char *vectors[] = {x, x_new, y, y_new, y_old};
            for (int i = 0; i < 5; i++)
                free(vectors[i]);
            weft_csr_free(&a);
            weft_csr_free(&b);
            weft_csr_free(&home);
            weft_permutation_free(&p);
            weft_permutation_free(&inverse);
        }
    tap_ok(back, "%s: the inverse gives sorted rows back", weft_order_name(order));
    tap_ok(product, "%s: a product commutes with it exactly", weft_order_name(order));
}

// ---- what each order is --------------------------------------------------------------------------------------

static void test_pinned(void)
{
    // Of power:3000,2000,20000 with seed 5, order with seed 42: any change of these breaks other people's records.
    static const uint64_t hashes[WEFT_ORDER_COUNT] = {UINT64_C(0x69318f5d4e31bb39), UINT64_C(0x0fce8b32718260d1),
                                                      UINT64_C(0xd3414710dab3a2c5), UINT64_C(0xa358adc6daa0d5a9),
                                                      UINT64_C(0x8d35c2b6c387a571), UINT64_C(0xbdaf159831e4a115),
                                                      UINT64_C(0xd8c15a3c555fec45)};
    struct weft_csr a;
    matrix_generate(&a, "power:3000,2000,20000", WEFT_TYPE_PATTERN);
    for (int order = 0; order < WEFT_ORDER_COUNT; order++) {
        struct weft_permutation p, other;
        order_make(&p, (enum weft_order)order, &a, 42);
        order_make(&other, (enum weft_order)order, &a, 43);
        uint64_t hash = weft_permutation_hash(&p);
        const char *name = weft_order_name((enum weft_order)order);
        tap_ok(hash == hashes[order], "%s: seed 42 gives 0x%016llx", name, (unsigned long long)hash);
        int random = order >= WEFT_ORDER_ROW && order <= WEFT_ORDER_ROW_COL;
        tap_ok((weft_permutation_hash(&other) != hash) == random, "%s: another seed gives %s", name,
               random ? "another permutation" : "the same");
        tap_ok(weft_permutation_is_identity(&p) == (order == WEFT_ORDER_REGULAR), "%s: is%s the identity", name,
               order == WEFT_ORDER_REGULAR ? "" : " not");
        weft_permutation_free(&p);
        weft_permutation_free(&other);
    }
    weft_csr_free(&a);
}

// Each row is about as often at each place: chi-square over 8 x 8 cells of 4000 permutations of 8 rows, 49 degrees of
// freedom; 99.99 % stay below 98. The seeds are fixed.
static void test_uniform(void)
{
    struct weft_csr a;
    int count[8][8] = {{0}};
    matrix_generate(&a, "band:8,1", WEFT_TYPE_PATTERN);
    for (uint64_t seed = 0; seed < 4000; seed++) {
        struct weft_permutation p;
        order_make(&p, WEFT_ORDER_ROW_COL, &a, seed);
        for (int i = 0; i < 8; i++)
            count[i][seed % 2 ? p.row[i] : p.col[i]]++;
        weft_permutation_free(&p);
    }
    double square = 0;
    for (int c = 0; c < 64; c++)
        square += (count[c / 8][c % 8] - 500.0) * (count[c / 8][c % 8] - 500.0) / 500;
    tap_ok(square < 98, "row-col: places are uniform (chi-square %.1f)", square);
    weft_csr_free(&a);
}

// 30 heavy rows at the end of 300: cut there, and spread evenly.
static void test_gradient(void)
{
    enum { M = 300, HEAVY = 30, N = 400 };
    struct weft_coo coo;
    struct weft_csr a;
    struct weft_permutation p;
    if (weft_coo_alloc(&coo, weft_shape(.m = M, .n = N, .nnz = M + HEAVY * N, .type = WEFT_TYPE_PATTERN)))
        tap_bail("out of host memory");
    int64_t k = 0;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < (i < M - HEAVY ? 1 : N + 1); j++, k++) {
            coo.row[k] = i;
            coo.col[k] = j % N;
        }
    if (weft_csr_from_coo(&a, &coo, WEFT_OFS_32, NULL))
        tap_bail("out of host memory");
    order_make(&p, WEFT_ORDER_ROW_GRADIENT, &a, 1);
    struct weft_density d;
    if (weft_density_alloc(&d, &a, NULL, NULL))
        tap_bail("out of host memory");
    tap_ok(p.row_cut >= M - HEAVY - d.height && p.row_cut < M - HEAVY + d.height, "row-gradient: cut at row %lld of %d",
           (long long)p.row_cut, M);
    int64_t parts = 10, fullest = 0, emptiest = M;
    for (int64_t part = 0; part < parts; part++) {
        int64_t heavy = 0;
        for (int64_t i = part * M / parts; i < (part + 1) * M / parts; i++)
            heavy += p.row[i] >= p.row_cut;
        fullest = heavy > fullest ? heavy : fullest;
        emptiest = heavy < emptiest ? heavy : emptiest;
    }
    tap_ok(fullest - emptiest <= 1, "row-gradient: %lld to %lld rows behind the cut in each tenth", (long long)emptiest,
           (long long)fullest);
    tap_ok(!p.col && !p.col_cut, "row-gradient: columns stay");
    weft_permutation_free(&p);
    weft_density_free(&d);
    weft_csr_free(&a);
    matrix_generate(&a, "band:49,1", WEFT_TYPE_PATTERN); // 7 x 7 buckets of 7 x 7: a histogram without a step
    order_make(&p, WEFT_ORDER_COL_GRADIENT, &a, 1);
    tap_ok(!p.row_cut && !p.col_cut && maps_good(p.row, p.row_inv, 49) && !weft_permutation_is_identity(&p),
           "col-gradient: no step, no cut, still at random");
    weft_permutation_free(&p);
    weft_csr_free(&a);
    weft_coo_free(&coo);
}

static void test_degree(void)
{
    struct weft_csr a;
    struct weft_permutation p;
    int ok = 1;
    matrix_generate(&a, "power:2000,1000,9000", WEFT_TYPE_PATTERN);
    order_make(&p, WEFT_ORDER_DEGREE, &a, 0);
    for (int64_t i = 1; i < a.m; i++) {
        int64_t before = weft_csr_ofs(&a, p.row[i - 1] + 1) - weft_csr_ofs(&a, p.row[i - 1]);
        int64_t here = weft_csr_ofs(&a, p.row[i] + 1) - weft_csr_ofs(&a, p.row[i]);
        ok = ok && (before > here || (before == here && p.row[i - 1] < p.row[i]));
    }
    tap_ok(ok && !p.col, "degree: longest rows first, equal ones in their order");
    weft_permutation_free(&p);
    weft_csr_free(&a);
}

static int64_t bandwidth(const struct weft_csr *a)
{
    struct weft_measures f;
    if (weft_measure(&f, a, 0, NULL))
        tap_bail("out of host memory");
    return f.lower > f.upper ? f.lower : f.upper;
}

// Shuffle rows and columns alike, then reorder: the bandwidth is back near the one before.
static void test_rcm(const char *spec, int64_t most)
{
    struct weft_csr a, mixed, back;
    struct weft_permutation p, alike, rcm;
    matrix_generate(&a, spec, WEFT_TYPE_F32);
    order_make(&p, WEFT_ORDER_ROW, &a, 9);
    if (weft_permutation_from(&alike, a.m, a.n, p.row, p.row, NULL))
        tap_bail("out of host memory");
    csr_permute(&mixed, &a, &alike, 0);
    order_make(&rcm, WEFT_ORDER_RCM, &mixed, 0);
    csr_permute(&back, &mixed, &rcm, 0);
    int64_t was = bandwidth(&a), shuffled = bandwidth(&mixed), now = bandwidth(&back);
    tap_ok(!memcmp(rcm.row, rcm.col, (size_t)a.m * 4), "rcm: %s: rows and columns alike", spec);
    tap_ok(now <= most && shuffled > 2 * most, "rcm: %s: bandwidth %lld, shuffled %lld, reordered %lld (at most %lld)",
           spec, (long long)was, (long long)shuffled, (long long)now, (long long)most);
    weft_csr_free(&a);
    weft_csr_free(&mixed);
    weft_csr_free(&back);
    weft_permutation_free(&p);
    weft_permutation_free(&alike);
    weft_permutation_free(&rcm);
}

// Only one side of each pair stored, and a rectangular band, rows and columns shuffled apart.
static void test_rcm_shapes(void)
{
    enum { N = 300 };
    struct weft_coo coo;
    struct weft_csr a, mixed, back;
    struct weft_permutation p, rcm;
    for (int wide = 0; wide < 2; wide++) {
        int64_t n = wide ? 2 * N : N;
        if (weft_coo_alloc(&coo, weft_shape(.m = N, .n = n, .nnz = 2 * N, .type = WEFT_TYPE_PATTERN)))
            tap_bail("out of host memory");
        for (int i = 0; i < N; i++)
            for (int k = 0; k < 2; k++) { // square: above the diagonal; wide: columns 2*i and 2*i+3
                coo.row[2 * i + k] = i;
                coo.col[2 * i + k] = (int32_t)(wide ? (2 * i + 3 * k) % n : (i + k + 1) % n);
            }
        if (weft_csr_from_coo(&a, &coo, WEFT_OFS_64, NULL))
            tap_bail("out of host memory");
        order_make(&p, WEFT_ORDER_ROW_COL, &a, 3);
        if (!wide) {
            struct weft_permutation alike;
            if (weft_permutation_from(&alike, N, n, p.row, p.row, NULL))
                tap_bail("out of host memory");
            weft_permutation_free(&p);
            p = alike;
        }
        csr_permute(&mixed, &a, &p, 0);
        order_make(&rcm, WEFT_ORDER_RCM, &mixed, 0);
        csr_permute(&back, &mixed, &rcm, 0);
        struct weft_measures before, after;
        if (weft_measure(&before, &mixed, 0, NULL) || weft_measure(&after, &back, 0, NULL))
            tap_bail("out of host memory");
        tap_ok(after.spread * 8 < before.spread, "rcm: %s: mean distance from the diagonal %.1f, shuffled %.1f",
               wide ? "rectangular" : "not symmetric", after.spread, before.spread);
        weft_coo_free(&coo);
        weft_csr_free(&a);
        weft_csr_free(&mixed);
        weft_csr_free(&back);
        weft_permutation_free(&p);
        weft_permutation_free(&rcm);
    }
}

// ---- the rest ------------------------------------------------------------------------------------------------

static void refused(weft_status got, weft_status want, const struct weft_error *err, const char *what)
{
    tap_ok(got == want && err->status == want && err->text[0], "refuses %s: %s", what, err->text);
}

static void test_errors(void)
{
    static const int32_t twice[] = {0, 2, 2}, outside[] = {0, 1, 3}, turned[] = {2, 0, 1}, same[] = {0, 1, 2};
    struct weft_error err = {0};
    struct weft_permutation p, none;
    struct weft_csr a, b;
    struct weft_coo coo, moved;
    enum weft_order order = WEFT_ORDER_RCM;
    matrix_generate(&a, "band:3,3", WEFT_TYPE_F32);
    tap_is_int(weft_order_parse(&order, "rows"), WEFT_EINVAL, "an unknown order");
    tap_is_int(weft_order_parse(&order, NULL), WEFT_EINVAL, "no order");
    tap_ok(order == WEFT_ORDER_RCM, "a refusal leaves the order as it was");
    int known = 1;
    for (int i = 0; i < WEFT_ORDER_COUNT; i++)
        known = known && !weft_order_parse(&order, weft_order_name((enum weft_order)i)) && (int)order == i;
    tap_ok(known && !strcmp(weft_order_name(WEFT_ORDER_COUNT), "unknown"), "every name is an order");
    refused(weft_permutation_alloc(&p, (enum weft_order)99, &a, 0, &err), WEFT_EINVAL, &err, "order 99");
    refused(weft_permutation_from(&p, 3, 3, twice, NULL, &err), WEFT_EMATRIX, &err, "a row twice");
    refused(weft_permutation_from(&p, 3, 3, NULL, outside, &err), WEFT_EMATRIX, &err, "a column outside");
    refused(weft_permutation_from(&p, -1, 3, NULL, NULL, &err), WEFT_EINVAL, &err, "a negative size");
    tap_ok(!p.row && !p.col && !p.m, "nothing is left after a refusal");
    if (weft_permutation_from(&p, 3, 3, NULL, turned, &err))
        tap_bail("%s", err.text);
    tap_ok(!weft_permutation_is_identity(&p) && !p.row, "the caller's own columns");
    weft_permutation_free(&p);
    if (weft_permutation_from(&p, 3, 3, turned, NULL, &err))
        tap_bail("%s", err.text);
    tap_ok(!weft_permutation_is_identity(&p) && p.row_inv[2] == 0 && p.row_inv[0] == 1, "the caller's own rows");
    struct weft_permutation still;
    for (int which = 1; which < 4; which++) {
        if (weft_permutation_from(&still, 3, 3, which & 1 ? same : NULL, which & 2 ? same : NULL, &err))
            tap_bail("%s", err.text);
        tap_ok(weft_permutation_is_identity(&still), "the identity, written down for%s%s", which & 1 ? " rows" : "",
               which & 2 ? " columns" : "");
        weft_permutation_free(&still);
    }
    p.n = 4;
    refused(weft_csr_permute(&b, &a, &p, NULL, &err), WEFT_EINVAL, &err, "another shape");
    p.n = 3;
    a.col[1] = -1;
    refused(weft_csr_permute(&b, &a, &p, NULL, &err), WEFT_EMATRIX, &err, "a column out of range");
    refused(weft_permutation_alloc(&none, WEFT_ORDER_ROW, &a, 0, &err), WEFT_EMATRIX, &err, "the same in an order");
    tap_ok(!b.row_ptr && !none.row, "nothing is left of these");
    weft_permutation_free(&p);
    if (weft_coo_alloc(&coo, weft_shape(.m = 3, .n = 3, .nnz = 1, .type = WEFT_TYPE_PATTERN)) ||
        weft_permutation_from(&p, 3, 3, turned, turned, NULL))
        tap_bail("out of host memory");
    coo.row[0] = 3;
    coo.col[0] = 0;
    refused(weft_coo_permute(&moved, &coo, &p, &err), WEFT_EMATRIX, &err, "a coordinate outside");
    coo.m = 4;
    refused(weft_coo_permute(&moved, &coo, &p, &err), WEFT_EINVAL, &err, "coordinates of another shape");
    float x[3] = {0}, y[3];
    tap_ok(weft_vector_permute(y, x, &p, WEFT_PERMUTE_SIDE_ROWS, 0, 2) == WEFT_EINVAL &&
               weft_vector_permute(y, x, &p, (enum weft_permute_side)5, 0, 4) == WEFT_EINVAL &&
               weft_vector_permute(NULL, x, &p, WEFT_PERMUTE_SIDE_ROWS, 0, 4) == WEFT_EINVAL,
           "refuses elements of 2 bytes, an unknown side, no vector");
    weft_coo_free(&coo);
    weft_permutation_free(&p);
    weft_permutation_free(&p);
    weft_permutation_free(NULL);
    weft_csr_free(&a);
}

int main(void)
{
    rng = rng_start();
    for (int order = 0; order < WEFT_ORDER_COUNT; order++) {
        test_orders((enum weft_order)order);
        test_sorted((enum weft_order)order);
    }
    test_pinned();
    test_uniform();
    test_gradient();
    test_degree();
    test_rcm("band:2000,9", 8);
    test_rcm("stencil5:40", 60);
    test_rcm("stencil27:12", 450); // from a corner the widest level has 12^3 - 11^3 = 397 vertices
    test_rcm_shapes();
    test_errors();
    return tap_done();
}
