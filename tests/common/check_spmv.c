// SPDX-License-Identifier: Apache-2.0
// The checker of products, on products made by hand: errors just beyond the bound of rounding are found in every row, errors
// within it are let through; what infinities, NaN, sums too large and integers that wrap around may give.
#include "host/common/check_spmv.h"
#include "host/internal/inside.h"
#include "tests/support/rng.h"
#include "tests/support/tap.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { M = 9, N = 50 };
static const int lengths[M] = {0, 1, 2, 3, 10, 40, 1, 50, 7};

static struct rng rng;

union values {
    float f32[N];
    double f64[N];
    int32_t i32[N];
};

static void put(void *v, enum weft_type type, int64_t i, long double value)
{
    if (type == WEFT_TYPE_F64)
        ((double *)v)[i] = (double)value;
    else if (type == WEFT_TYPE_F32)
        ((float *)v)[i] = (float)value;
    else
        ((int32_t *)v)[i] = (int32_t)value;
}

static long double get(const void *v, enum weft_type type, int64_t i)
{
    return type == WEFT_TYPE_F64   ? (long double)((const double *)v)[i]
           : type == WEFT_TYPE_F32 ? (long double)((const float *)v)[i]
                                   : (long double)((const int32_t *)v)[i];
}

// Values in 1/2..1 of either sign (positive ones for `ones` alone), or whole numbers.
static long double draw(enum weft_type type)
{
    const int sign = rng_below(&rng, 2) ? 1 : -1;
    return type == WEFT_TYPE_I32 ? (long double)rng_between(&rng, -9, 9)
                                 : (long double)(sign * (0.5 + rng_unit(&rng) / 2));
}

static struct weft_csr matrix_make(enum weft_type type, enum weft_type vec)
{
    struct weft_csr a;
    int64_t nnz = 0;
    for (int i = 0; i < M; i++)
        nnz += lengths[i];
    if (weft_csr_alloc(&a, weft_shape(M, N, nnz, type, WEFT_OFS_32)))
        tap_bail("no memory for a matrix");
    int32_t *ptr = a.row_ptr;
    ptr[0] = 0;
    for (int i = 0; i < M; i++) {
        ptr[i + 1] = ptr[i] + lengths[i];
        for (int32_t p = ptr[i]; p < ptr[i + 1]; p++) {
            a.col[p] = (int32_t)rng_below(&rng, N);
            if (type != WEFT_TYPE_PATTERN)
                put(a.val, vec, p, draw(vec));
        }
    }
    return a;
}

// Exact value of a row, and the sum of the sizes of its terms.
static long double row_of(const struct check_spmv *job, int i, long double *size)
{
    const int32_t *ptr = job->a->row_ptr;
    long double sum = 0;
    *size = 0;
    for (int32_t p = ptr[i]; p < ptr[i + 1]; p++) {
        const long double value = job->a->type == WEFT_TYPE_PATTERN ? 1 : get(job->a->val, job->type, p),
                          term = value * get(job->x, job->type, job->a->col[p]);
        sum += term;
        *size += fabsl(term);
    }
    const long double old = job->beta == 0 ? 0 : job->beta * get(job->y0, job->type, i);
    *size = fabsl(job->alpha) * *size + fabsl(old);
    return job->alpha * sum + old;
}

// By how much row i may be off, as check_spmv.h says it.
static long double bound_of(const struct check_spmv *job, int i, long double value, long double size)
{
    const long double half = job->type == WEFT_TYPE_F64 ? 0x1p-53L : 0x1p-24L;
    if (job->exact || job->type == WEFT_TYPE_I32)
        return 0;
    if (!job->f64_sums)
        return (lengths[i] + 3) * half * size;
    return (lengths[i] + 3) * 0x1p-53L * size + half * (fabsl(value) + (job->parts ? 2 * size : 0));
}

// Each row off by `times` the bound, or, where that is nothing, by the smallest step: is it found in each row (or in none)?
static void test_errors(const struct check_spmv *job, const char *name)
{
    char why[256];
    union values y, bad;
    long double value[M], bound[M];
    for (int i = 0; i < M; i++) {
        long double size;
        value[i] = row_of(job, i, &size);
        bound[i] = bound_of(job, i, value[i], size);
        put(&y, job->type, i, value[i]);
    }
    tap_ok(check_spmv(job, &y, why, sizeof why), "%s: the product itself passes %s", name, why);
    static const double within[] = {0.4, -0.4}, beyond[] = {3, -3, 1e3, -1e7};
    for (int i = 0; i < M; i++) {
        const long double step = get(&y, job->type, i) == 0 ? 0 : bound[i];
        // Rounding y to its type takes all of the bound of one sum in f64.
        const int seen = step > 0 && (!job->f64_sums || job->parts);
        for (size_t k = 0; k < sizeof within / sizeof *within && seen; k++) {
            bad = y;
            put(&bad, job->type, i, value[i] + within[k] * step);
            if (!check_spmv(job, &bad, why, sizeof why))
                tap_ok(0, "%s: row %d, %g of the bound: %s", name, i, within[k], why);
        }
        int found = 0, tried = 0;
        for (size_t k = 0; k < sizeof beyond / sizeof *beyond; k++, tried++) {
            bad = y;
            if (step > 0)
                put(&bad, job->type, i, value[i] + beyond[k] * step);
            else if (job->type == WEFT_TYPE_F64)
                bad.f64[i] = beyond[k] < 0 ? nextafter(y.f64[i], -1e9) : y.f64[i] + 1e-3;
            else if (job->type == WEFT_TYPE_F32)
                bad.f32[i] = beyond[k] < 0 ? nextafterf(y.f32[i], -1e9f) : y.f32[i] + 1e-3f;
            else
                bad.i32[i] += beyond[k] < 0 ? -1 : 1;
            // An empty row without beta is zero: the bound allows numbers below the normal ones there.
            if (lengths[i] == 0 && job->beta == 0 && !job->exact && job->type != WEFT_TYPE_I32)
                put(&bad, job->type, i, beyond[k] * 1e-30L);
            const int right = check_spmv(job, &bad, why, sizeof why);
            char row[32];
            snprintf(row, sizeof row, "row %d", i);
            found += !right && !strncmp(why, row, strlen(row));
        }
        tap_is_int(found, tried, "%s: errors beyond the bound in row %d of %d entries", name, i, lengths[i]);
    }
    bad = y;
    if (job->type == WEFT_TYPE_F64)
        bad.f64[4] = NAN;
    else if (job->type == WEFT_TYPE_F32)
        bad.f32[4] = NAN;
    else
        return;
    tap_ok(!check_spmv(job, &bad, why, sizeof why), "%s: NaN is found: %s", name, why);
}

// The reference itself, whose loops are a copy for each type, width of offsets and pattern: sums of small whole numbers are
// exact, in any order.
static void test_reference(enum weft_type type, enum weft_type vec, enum weft_ofs ofs)
{
    struct weft_csr narrow = matrix_make(type, vec), a;
    union values x, y, want;
    if (weft_csr_alloc(&a, weft_shape(M, N, narrow.nnz, type, ofs)))
        tap_bail("no memory for a matrix");
    for (int i = 0; i <= M; i++)
        if (ofs == WEFT_OFS_64)
            ((int64_t *)a.row_ptr)[i] = weft_csr_ofs(&narrow, i);
        else
            ((int32_t *)a.row_ptr)[i] = (int32_t)weft_csr_ofs(&narrow, i);
    memcpy(a.col, narrow.col, (size_t)a.nnz * 4);
    for (int64_t p = 0; p < a.nnz && type != WEFT_TYPE_PATTERN; p++)
        put(a.val, type, p, (long double)rng_between(&rng, -9, 9));
    int ok = 1;
    for (int kind = 0; kind < 4; kind++) { // beta 0, and by the form whose order of sums is fixed
        const int beta = kind % 2 * 3, fixed = kind / 2;
        for (int j = 0; j < N; j++)
            put(&x, vec, j, (long double)rng_between(&rng, -9, 9));
        for (int i = 0; i < M; i++) {
            long double sum = 0;
            put(&y, vec, i, (long double)rng_between(&rng, -9, 9));
            for (int64_t p = weft_csr_ofs(&a, i); p < weft_csr_ofs(&a, i + 1); p++)
                sum += (type == WEFT_TYPE_PATTERN ? 1 : get(a.val, type, p)) * get(&x, vec, a.col[p]);
            put(&want, vec, i, 2 * sum + (long double)beta * get(&y, vec, i));
        }
        if (fixed)
            weft__ref_spmv_fixed(&a, vec, 0, 2, &x, beta, &y);
        else
            weft__ref_spmv(&a, vec, 2, &x, beta, &y);
        for (int i = 0; i < M; i++) // zeros of either sign
            ok = ok && get(&y, vec, i) == get(&want, vec, i);
    }
    tap_ok(ok, "the reference: %s matrix, %s vectors, %d-bit offsets", weft_type_name(type), weft_type_name(vec),
           ofs == WEFT_OFS_64 ? 64 : 32);
    weft_csr_free(&narrow);
    weft_csr_free(&a);
}

// One row, and which results are right: of inf, -inf, nan and `value` those that `right` names by +, -, n and f. Where `value`
// is not, nothing finite is.
struct row {
    const char *name;
    enum weft_type type;
    int f64_sums, parts, k;
    double val[4], x[4], alpha, beta, y0;
    const char *right;
    double value;
};
#define F32 WEFT_TYPE_F32
#define F64 WEFT_TYPE_F64
#define BIG 1.7e308
#define INF INFINITY
static const struct row rows[] = {
    {"inf", F64, 0, 0, 1, {INF}, {1}, 1, 0, 0, "+", 0},
    {"inf, f32", F32, 0, 0, 2, {INF, 3}, {1, 1}, 1, 0, 0, "+", 0},
    {"inf, f64 sums", F32, 1, 0, 2, {INF, 3}, {1, 1}, 1, 0, 0, "+", 0},
    {"inf in x", F32, 0, 0, 2, {-2, 3}, {INF, 1}, 1, 0, 0, "-", 0},
    {"-inf", F64, 0, 0, 3, {1, -INF, 5}, {1, 1, 1}, 1, 0, 0, "-", 0},
    {"inf * 0", F64, 0, 0, 2, {INF, 1}, {0, 1}, 1, 0, 0, "n", 0},
    {"inf - inf", F64, 0, 0, 3, {INF, 1, -INF}, {1, 1, 1}, 1, 0, 0, "n", 0},
    {"nan", F32, 0, 0, 1, {NAN}, {1}, 1, 0, 0, "n", 0},
    {"nan and inf", F64, 0, 0, 2, {NAN, INF}, {1, 1}, 1, 0, 0, "n", 0},
    {"nan in x", F64, 0, 0, 2, {1, 1}, {1, NAN}, 1, 0, 0, "n", 0},
    {"a sum too large", F64, 0, 0, 2, {BIG, BIG}, {1, 1}, 1, 0, 0, "+", 0},
    {"a sum too large, below 0", F32, 0, 0, 2, {-2e38, -2e38}, {1, 1}, 1, 0, 0, "-", 0},
    {"a product too large", F64, 0, 0, 1, {1e200}, {-1e200}, 1, 0, 0, "-", 0},
    {"a partial sum too large", F64, 0, 0, 3, {BIG, BIG, -BIG}, {1, 1, 1}, 1, 0, 0, "f+", BIG},
    {"partial sums of both signs too large", F64, 0, 0, 4, {BIG, -BIG, BIG, -BIG}, {1, 1, 1, 1}, 1, 0, 0, "f+-n", 0},
    {"the same, f32", F32, 0, 0, 4, {2e38, -2e38, 2e38, -2e38}, {1, 1, 1, 1}, 1, 0, 0, "f+-n", 0},
    {"inf and partial sums too large", F64, 0, 0, 3, {INF, -BIG, -BIG}, {1, 1, 1}, 1, 0, 0, "+n", 0},
    {"inf and sums too large of its sign", F64, 0, 0, 3, {INF, BIG, BIG}, {1, 1, 1}, 1, 0, 0, "+", 0},
    {"the largest f64", F64, 0, 0, 1, {DBL_MAX}, {1}, 1, 0, 0, "f", DBL_MAX},
    {"the largest f32", F32, 0, 0, 1, {FLT_MAX}, {-1}, 1, 0, 0, "f", -FLT_MAX},
    {"large and small", F64, 0, 0, 3, {BIG, -BIG, 1}, {1, 1, 1}, 1, 0, 0, "f", 1},
    {"f64 sums too large for f32", F32, 1, 0, 2, {2e38, 2e38}, {1, 1}, 1, 0, 0, "+", 0},
    {"f64 sums, partial ones too large for f32",
     F32,
     1,
     0,
     3,
     {0x1p127, 0x1p127, -0x1.8p127},
     {1, 1, 1},
     1,
     0,
     0,
     "f",
     0x1p126},
    {"the same in parts", F32, 1, 1, 3, {0x1p127, 0x1p127, -0x1.8p127}, {1, 1, 1}, 1, 0, 0, "f+", 0x1p126},
    {"the largest f32, f64 sums", F32, 1, 0, 1, {FLT_MAX}, {1}, 1, 0, 0, "f", FLT_MAX},
    {"alpha makes less of it", F64, 0, 0, 2, {BIG, BIG}, {1, 1}, 0.25, 0, 0, "f+", BIG / 2},
    {"alpha makes more of it", F64, 0, 0, 2, {BIG, BIG / 2}, {1, -1}, 2, 0, 0, "f+", BIG},
    {"alpha turns it", F64, 0, 0, 2, {INF, 1}, {1, 1}, -2, 0, 0, "-", 0},
    {"alpha 0 of inf", F64, 0, 0, 1, {INF}, {1}, 0, 0, 0, "n", 0},
    {"alpha 0 of a sum too large", F64, 0, 0, 2, {BIG, BIG}, {1, 1}, 0, 0, 0, "fn", 0},
    {"alpha 0", F64, 0, 0, 2, {BIG, 1}, {1, 1}, 0, 0, 0, "f", 0},
    {"alpha inf", F64, 0, 0, 1, {2}, {1}, INF, 0, 0, "+n", 0},
    {"alpha -inf", F32, 0, 0, 2, {2, 3}, {1, 1}, -INF, 0, 0, "-n", 0},
    {"alpha inf, no entries", F64, 0, 0, 0, {0}, {0}, INF, 0, 0, "fn", 0},
    {"alpha too large for f32", F32, 0, 0, 2, {2, -3}, {1, 1}, 1e300, 0, 0, "+-n", 0},
    {"alpha large, f64 sums", F32, 1, 0, 1, {1e-20}, {1}, 1e50, 0, 0, "f", (float)1e-20 * 1e50},
    {"alpha nan", F64, 0, 0, 1, {2}, {1}, NAN, 0, 0, "n", 0},
    {"alpha nan, y inf", F64, 0, 0, 1, {2}, {1}, NAN, 1, INF, "n", 0},
    {"y inf", F64, 0, 0, 1, {2}, {1}, 1, -1, INF, "-", 0},
    {"y inf, no entries", F32, 0, 0, 0, {0}, {0}, 1, 1, INF, "+", 0},
    {"y inf and a term -inf", F64, 0, 0, 1, {-INF}, {1}, 1, 1, INF, "n", 0},
    {"y nan", F64, 0, 0, 1, {2}, {1}, 1, 1, NAN, "n", 0},
    {"y nan that is not read", F64, 0, 0, 1, {2}, {1}, 1, 0, NAN, "f", 2},
    {"beta inf of 0", F64, 0, 0, 1, {2}, {1}, 1, INF, 0, "n", 0},
    {"beta y too large", F64, 0, 0, 1, {2}, {1}, 1, 2, BIG, "+", 0},
    {"y takes it back", F64, 0, 0, 2, {BIG, BIG}, {1, 1}, 1, -1, BIG, "f+", BIG},
    {"subnormal f32", F32, 0, 0, 1, {1e-40}, {(float)0.7}, 1, 0, 0, "f", (float)1e-40 * (float)0.7},
    {"subnormal f64", F64, 0, 0, 2, {1e-310, 3e-320}, {0.3, 0.7}, 1, 0, 0, "f", 1e-310 * 0.3 + 3e-320 * 0.7},
};

static void test_row(const struct row *row)
{
    static const char names[] = "+-nf";
    const int f32 = row->type == F32;
    int32_t ptr[] = {0, row->k}, col[] = {0, 1, 2, 3};
    union values val, x, y0, y;
    for (int i = 0; i < 4; i++) {
        put(&val, row->type, i, row->val[i]);
        put(&x, row->type, i, row->x[i]);
    }
    put(&y0, row->type, 0, row->y0);
    const struct weft_csr a = {
        .m = 1, .n = 4, .nnz = row->k, .type = row->type, .row_ptr = ptr, .col = col, .val = &val};
    const struct check_spmv job = {.a = &a,
                                   .type = row->type,
                                   .f64_sums = row->f64_sums,
                                   .parts = row->parts,
                                   .alpha = row->alpha,
                                   .beta = row->beta,
                                   .x = &x,
                                   .y0 = &y0};
    const double most = f32 ? (double)FLT_MAX : DBL_MAX, results[] = {INF, -INF, NAN, row->value};
    char why[256], said[256] = "";
    int ok = 1;
    for (int i = 0; i < 4; i++) {
        put(&y, row->type, 0, results[i]);
        const int right = check_spmv(&job, &y, why, sizeof why);
        if (right != !!strchr(row->right, names[i])) {
            ok = 0;
            tap_note("%g %s", results[i], right ? "is taken for right" : why);
        }
    }
    // Far from the value by its terms, which the bound goes by.
    long double size = fabsl((long double)row->beta * row->y0);
    for (int i = 0; i < row->k; i++)
        size += fabsl((long double)row->alpha * row->val[i] * row->x[i]);
    const double finite[] = {0, 1, -1, most, -most, row->value * 1.001, row->value - most * 1e-3};
    for (size_t i = 0; i < sizeof finite / sizeof *finite; i++) {
        put(&y, row->type, 0, finite[i]);
        const long double got = get(&y, row->type, 0);
        const int near = strchr(row->right, 'f') && fabsl(got - row->value) <= 1e-6L * size + 0x1p-146L;
        if (!isfinite(got) || near)
            continue;
        if (check_spmv(&job, &y, said, sizeof said)) {
            ok = 0;
            tap_note("%Lg is taken for right", got);
        }
    }
    tap_ok(ok && strstr(said, "expected ") && !strstr(said, "nan within") && !strstr(said, "inf within"), "%s: %s",
           row->name, said);
}

// Sums of integers modulo 2^32, by the reference in each of its forms and by the checker; one more or less is found.
static void test_wrap(enum weft_type type)
{
    struct weft_csr a = matrix_make(type, WEFT_TYPE_I32);
    union values x, y0, y, want;
    char why[256];
    for (int64_t p = 0; p < a.nnz && type != WEFT_TYPE_PATTERN; p++)
        ((int32_t *)a.val)[p] = (int32_t)rng_u64(&rng);
    for (int j = 0; j < N; j++) {
        x.i32[j] = j % 4 ? (int32_t)rng_u64(&rng) : INT32_MAX;
        y0.i32[j] = (int32_t)rng_u64(&rng);
    }
    for (int kind = 0; kind < 4; kind++) {
        const int alpha = kind / 2 ? -3 : 1, beta = kind % 2 ? INT32_MAX : 0;
        const struct check_spmv job = {
            .a = &a, .type = WEFT_TYPE_I32, .alpha = alpha, .beta = beta, .x = &x, .y0 = beta ? &y0 : NULL};
        for (int i = 0; i < M; i++) {
            uint32_t sum = 0;
            for (int64_t p = weft_csr_ofs(&a, i); p < weft_csr_ofs(&a, i + 1); p++)
                sum += (type == WEFT_TYPE_PATTERN ? 1 : ((uint32_t *)a.val)[p]) * (uint32_t)x.i32[a.col[p]];
            want.i32[i] = (int32_t)((uint32_t)alpha * sum + (uint32_t)beta * (uint32_t)y0.i32[i]);
        }
        int same = 1;
        y = y0;
        weft__ref_spmv(&a, WEFT_TYPE_I32, alpha, &x, beta, &y);
        same = same && !memcmp(&y, &want, M * 4);
        y = y0;
        weft__ref_spmv_fixed(&a, WEFT_TYPE_I32, 0, alpha, &x, beta, &y);
        same = same && !memcmp(&y, &want, M * 4);
        const int right = check_spmv(&job, &want, why, sizeof why);
        int found = 0;
        for (int i = 0; i < M; i++)
            for (int step = -1; step <= 1; step += 2) {
                y = want;
                y.i32[i] = (int32_t)((uint32_t)want.i32[i] + (uint32_t)step);
                found += !check_spmv(&job, &y, why, sizeof why);
            }
        tap_ok(same && right && found == 2 * M, "%s, integers wrap around, alpha %d, beta %d: %s", weft_type_name(type),
               alpha, beta, right ? "" : why);
    }
    weft_csr_free(&a);
}

// In other semirings NaN is what fmin and fmax make of it, and products of integers wrap around.
static void test_semirings(void)
{
    int32_t ptr[] = {0, 2, 4, 6, 6}, col[] = {0, 1, 0, 1, 0, 1};
    float val[] = {NAN, 2, NAN, NAN, -INFINITY, 1}, x[] = {1, 3};
    const struct weft_csr a = {.m = 4, .n = 2, .nnz = 6, .type = F32, .row_ptr = ptr, .col = col, .val = val};
    struct check_spmv job = {.a = &a, .type = F32, .semiring = WEFT_SPMV_SEMIRING_MIN_PLUS, .alpha = 1, .x = x};
    static const float right[][4] = {{5, INFINITY, -INFINITY, INFINITY}, {5, NAN, -INFINITY, INFINITY}},
                       wrong[][4] = {{NAN, INFINITY, -INFINITY, INFINITY},
                                     {5, 1, -INFINITY, INFINITY},
                                     {5, NAN, NAN, INFINITY},
                                     {5, NAN, -INFINITY, NAN}};
    char why[256];
    for (int i = 0; i < 2; i++)
        tap_ok(check_spmv(&job, right[i], why, sizeof why), "min, +: terms of NaN, %d %s", i, why);
    for (int i = 0; i < 4; i++)
        tap_ok(!check_spmv(&job, wrong[i], why, sizeof why), "min, +: wrong beside NaN: %s", why);
    const float y0[] = {7, 8, NAN, NAN}, added[] = {5, 8, -INFINITY, INFINITY}, lost[] = {5, NAN, -INFINITY, INFINITY};
    job.beta = 1;
    job.y0 = y0;
    tap_ok(check_spmv(&job, added, why, sizeof why), "min, +: NaN and y %s", why);
    tap_ok(!check_spmv(&job, lost, why, sizeof why), "min, +: NaN behind a number: %s", why);
    int32_t large[] = {65536, 3, -65536, 3, INT32_MIN, 1}, ix[] = {65537, 2}, iy[] = {65536, 6, INT32_MIN, INT32_MIN};
    const struct weft_csr b = {
        .m = 4, .n = 2, .nnz = 6, .type = WEFT_TYPE_I32, .row_ptr = ptr, .col = col, .val = large};
    job = (struct check_spmv){
        .a = &b, .type = WEFT_TYPE_I32, .semiring = WEFT_SPMV_SEMIRING_MAX_TIMES, .alpha = 1, .x = ix};
    iy[2] = 2;
    tap_ok(check_spmv(&job, iy, why, sizeof why), "max, *: products wrap around %s", why);
}

// Zero for a subnormal product is right where additions flush, and nowhere else; ten times the least normal number is not.
static void test_flushed(void)
{
    int32_t ptr[] = {0, 1}, col[] = {0};
    float val[] = {0x1p-130f}, x[] = {1}, zero[] = {0}, beyond[] = {10 * 0x1p-126f};
    const struct weft_csr a = {.m = 1, .n = 1, .nnz = 1, .type = F32, .row_ptr = ptr, .col = col, .val = val};
    char why[256];
    for (int flushes = 0; flushes < 2; flushes++) {
        const struct check_spmv job = {.a = &a, .type = F32, .flushes = flushes, .alpha = 1, .x = x};
        tap_ok(check_spmv(&job, val, why, sizeof why) && check_spmv(&job, zero, why, sizeof why) == flushes &&
                   !check_spmv(&job, beyond, why, sizeof why),
               "a subnormal product, additions %s: %s", flushes ? "flush" : "keep it", why);
    }
}

int main(void)
{
    static const struct {
        enum weft_type type, vec;
        int f64_sums, exact, parts;
        double alpha, beta;
        enum weft_spmv_semiring semiring;
        const char *name;
    } jobs[] = {
        {WEFT_TYPE_F32, WEFT_TYPE_F32, 0, 0, 0, 1, 0, WEFT_SPMV_SEMIRING_PLUS_TIMES, "f32"},
        {WEFT_TYPE_F64, WEFT_TYPE_F64, 0, 0, 0, 1, 0, WEFT_SPMV_SEMIRING_PLUS_TIMES, "f64"},
        {WEFT_TYPE_F32, WEFT_TYPE_F32, 0, 0, 0, 2, -3, WEFT_SPMV_SEMIRING_PLUS_TIMES, "f32, alpha 2, beta -3"},
        {WEFT_TYPE_PATTERN, WEFT_TYPE_F32, 0, 0, 0, 1, 0, WEFT_SPMV_SEMIRING_PLUS_TIMES, "pattern"},
        {WEFT_TYPE_F32, WEFT_TYPE_F32, 1, 0, 0, 1, 0, WEFT_SPMV_SEMIRING_PLUS_TIMES, "f32, f64 sums"},
        {WEFT_TYPE_F32, WEFT_TYPE_F32, 1, 0, 1, 1, 0, WEFT_SPMV_SEMIRING_PLUS_TIMES, "f32, f64 sums in parts"},
        {WEFT_TYPE_I32, WEFT_TYPE_I32, 0, 0, 0, 1, 1, WEFT_SPMV_SEMIRING_PLUS_TIMES, "i32"},
        {WEFT_TYPE_I32, WEFT_TYPE_I32, 0, 1, 0, 1, 0, WEFT_SPMV_SEMIRING_PLUS_TIMES, "i32, exact"},
    };
    rng = rng_start();
    for (size_t k = 0; k < sizeof jobs / sizeof *jobs; k++) {
        struct weft_csr a = matrix_make(jobs[k].type, jobs[k].vec);
        union values x, y0;
        for (int i = 0; i < N; i++)
            put(&x, jobs[k].vec, i, draw(jobs[k].vec));
        for (int i = 0; i < M; i++)
            put(&y0, jobs[k].vec, i, draw(jobs[k].vec));
        const struct check_spmv job = {.a = &a,
                                       .type = jobs[k].vec,
                                       .semiring = jobs[k].semiring,
                                       .f64_sums = jobs[k].f64_sums,
                                       .exact = jobs[k].exact,
                                       .parts = jobs[k].parts,
                                       .alpha = jobs[k].alpha,
                                       .beta = jobs[k].beta,
                                       .x = &x,
                                       .y0 = &y0};
        test_errors(&job, jobs[k].name);
        weft_csr_free(&a);
    }
    // Semirings: any difference is an error.
    struct weft_csr a = matrix_make(WEFT_TYPE_F32, WEFT_TYPE_F32);
    float x[N], y[M];
    for (int i = 0; i < N; i++)
        x[i] = (float)draw(WEFT_TYPE_F32);
    for (int i = 0; i < M; i++) {
        y[i] = INFINITY;
        for (int64_t p = weft_csr_ofs(&a, i); p < weft_csr_ofs(&a, i + 1); p++)
            y[i] = fminf(y[i], ((float *)a.val)[p] + x[a.col[p]]);
    }
    char why[256];
    const struct check_spmv job = {
        .a = &a, .type = WEFT_TYPE_F32, .semiring = WEFT_SPMV_SEMIRING_MIN_PLUS, .alpha = 1, .x = x};
    tap_ok(check_spmv(&job, y, why, sizeof why), "min, +: the product passes %s", why);
    for (int i = 0; i < M; i++) {
        const float right = y[i];
        y[i] = nextafterf(right, -1e9f);
        tap_ok(!check_spmv(&job, y, why, sizeof why), "min, +: the last bit of row %d: %s", i, why);
        y[i] = right;
    }
    weft_csr_free(&a);
    for (int vec = WEFT_TYPE_F32; vec <= WEFT_TYPE_I32; vec++)
        for (int wide = 0; wide < 2; wide++) {
            test_reference((enum weft_type)vec, (enum weft_type)vec, wide ? WEFT_OFS_64 : WEFT_OFS_32);
            test_reference(WEFT_TYPE_PATTERN, (enum weft_type)vec, wide ? WEFT_OFS_64 : WEFT_OFS_32);
        }
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        test_row(&rows[k]);
    test_wrap(WEFT_TYPE_I32);
    test_wrap(WEFT_TYPE_PATTERN);
    test_semirings();
    test_flushed();
    return tap_done();
}
