// SPDX-License-Identifier: Apache-2.0
// Recomputes every row of an SpMV in higher precision and compares. Here alone is decided what a row may give.
#include "host/common/check_spmv.h"
#include "host/internal/inside.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What a sum meets, or may meet: an infinity of one of the signs, NaN, or one of the three, whichever.
enum { PLUS = 1, MINUS = 2, NONE = 4, SOME = 8 };

// The terms of a row in higher precision: sum of the finite ones, sum of their absolute values, and what the others are.
struct terms {
    long double value, size;
    unsigned sure;
};

#define ROW_SUM(name, T, wide_t)                                                                                       \
    static struct terms name(const struct check_spmv *job, int64_t begin, int64_t end)                                 \
    {                                                                                                                  \
        const int32_t *col = job->a->col;                                                                              \
        const T *val = job->a->val, *x = job->x;                                                                       \
        const int ones = job->a->type == WEFT_TYPE_PATTERN;                                                            \
        wide_t sum = 0, size = 0;                                                                                      \
        for (int64_t p = begin; p < end; p++) {                                                                        \
            wide_t term = (ones ? (wide_t)1 : (wide_t)val[p]) * (wide_t)x[col[p]];                                     \
            sum += term;                                                                                               \
            size += term < 0 ? -term : term;                                                                           \
        }                                                                                                              \
        return (struct terms){sum, size, 0};                                                                           \
    }
ROW_SUM(row_f32, float, double)
ROW_SUM(row_f64, double, long double)

// A product, one of whose factors is infinite or NaN.
static unsigned special(double product)
{
    return isnan(product) ? NONE : product > 0 ? PLUS : MINUS;
}

// The same where infinite terms or NaN are among them.
static struct terms row_special(const struct check_spmv *job, int64_t begin, int64_t end)
{
    struct terms out = {0};
    for (int64_t p = begin; p < end; p++) {
        const double v = weft__ref_get(job->a->val, job->a->type, p),
                     x = weft__ref_get(job->x, job->type, job->a->col[p]);
        if (isfinite(v) && isfinite(x)) {
            const long double term = (long double)v * (long double)x;
            out.value += term;
            out.size += fabsl(term);
        } else {
            out.sure |= special(v * x);
        }
    }
    return out;
}

// Integers are exact modulo 2^32, in any order.
static struct check_row row_i32(const struct check_spmv *job, int64_t i, int64_t begin, int64_t end)
{
    const int ones = job->a->type == WEFT_TYPE_PATTERN;
    const int32_t *val = job->a->val, *x = job->x, *y0 = job->y0;
    uint32_t sum = 0;
    for (int64_t p = begin; p < end; p++)
        sum += (ones ? 1 : (uint32_t)val[p]) * (uint32_t)x[job->a->col[p]];
    sum *= (uint32_t)(int32_t)job->alpha;
    if (job->beta != 0)
        sum += (uint32_t)(int32_t)job->beta * (uint32_t)y0[i];
    return (struct check_row){.entries = end - begin, .value = (int32_t)sum, .finite = 1};
}

// What is infinite, or may be, times alpha.
static unsigned times_alpha(unsigned of, long double alpha)
{
    const unsigned signs = of & (PLUS | MINUS), others = of & ~(unsigned)(PLUS | MINUS);
    if (alpha > 0 || !signs)
        return of;
    return alpha < 0 ? others | (of & PLUS ? MINUS : 0) | (of & MINUS ? PLUS : 0) : others | NONE;
}

// Signs of what terms add up to, taken by themselves, where that is `least` or more.
static unsigned signs_of(long double value, long double size, long double least)
{
    if (size < least) // nearly always
        return 0;
    return ((size + value) / 2 >= least ? PLUS : 0) | ((size - value) / 2 >= least ? MINUS : 0);
}

struct check_row check_row(const struct check_spmv *job, int64_t i)
{
    const int64_t begin = weft_csr_ofs(job->a, i), end = weft_csr_ofs(job->a, i + 1), k = end - begin;
    if (job->type == WEFT_TYPE_I32)
        return row_i32(job, i, begin, end);
    const int f64 = job->type == WEFT_TYPE_F64, wide = f64 || job->f64_sums, narrowed = wide && !f64;
    const long double eps = wide ? 0x1p-53L : 0x1p-24L, last = f64 ? 0x1p-53L : 0x1p-24L,
                      tiny = f64            ? 0x1p-1074L
                             : job->flushes ? 0x1p-125L
                                            : 0x1p-149L;
    // What rounds to infinity, in the type of sums and in that of y.
    const long double f32_end = 0x1.ffffffp127L, f64_end = 0x1.fffffffffffff8p1023L, sum_end = wide ? f64_end : f32_end,
                      y_end = f64 ? f64_end : f32_end;
    // The device has alpha and beta in the type of sums.
    const double alpha = wide ? job->alpha : (float)job->alpha, beta = wide ? job->beta : (float)job->beta,
                 y0 = beta == 0 ? 0 : weft__ref_get(job->y0, job->type, i);
    struct terms t = f64 ? row_f64(job, begin, end) : row_f32(job, begin, end);
    if (!isfinite(t.size))
        t = row_special(job, begin, end);

    // Roundings before the last one may carry a sum up to the end.
    long double up = 1 + (k > 1 ? (long double)(k - 1) : 0) * eps;
    unsigned sure = t.sure, may = t.sure | signs_of(up * t.value, up * t.size, sum_end);
    long double value = 0, size = 0;
    if (isfinite(alpha)) {
        sure = times_alpha(sure, alpha);
        may = times_alpha(may, alpha);
        value = (long double)alpha * t.value;
        size = fabsl((long double)alpha) * t.size;
    } else { // of what a part of the row adds up to, if only zero
        may = NONE | (isnan(alpha) ? 0 : times_alpha(may | signs_of(t.value, t.size, LDBL_MIN), alpha));
        sure = (sure & NONE) | (k == 0 ? 0 : isnan(alpha) ? NONE : SOME);
    }
    if (isfinite(beta) && isfinite(y0)) {
        value += (long double)beta * y0;
        size += fabsl((long double)beta * y0);
    } else {
        sure |= special(beta * y0);
    }
    up += (alpha != 1 ? eps : 0) + (beta != 0 ? eps : 0) + (narrowed && job->parts ? 2 * last : 0);
    may |= sure | signs_of(up * value, up * size, job->parts ? y_end : sum_end);
    long double bound = (long double)(k + 3) * (eps * size + tiny);
    if (narrowed) {
        may |= (value + bound >= y_end ? PLUS : 0) | (value - bound <= -y_end ? MINUS : 0);
        bound += last * (fabsl(value) + (job->parts ? 2 * size : 0));
    }
    if (!isfinite(size)) { // only where long double ends where double does
        may |= PLUS | MINUS;
        value = 0;
        bound = INFINITY;
    }
    const int nan = sure & NONE || (sure & PLUS && sure & MINUS);
    return (struct check_row){.entries = k,
                              .value = value,
                              .bound = job->exact ? 0 : bound,
                              .finite = !sure,
                              .plus = !nan && may & PLUS && !(sure & MINUS),
                              .minus = !nan && may & MINUS && !(sure & PLUS),
                              .nan = nan || may & NONE || (may & PLUS && may & MINUS)};
}

int check_row_right(const struct check_row *row, double got)
{
    if (isnan(got))
        return row->nan;
    if (isinf(got))
        return got > 0 ? row->plus : row->minus;
    return row->finite && fabsl((long double)got - row->value) <= row->bound;
}

const char *check_row_text(const struct check_row *row, char text[CHECK_ROW_TEXT])
{
    const char *const others[] = {row->plus ? "inf" : "", row->minus ? "-inf" : "", row->nan ? "nan" : ""};
    int at = row->finite ? snprintf(text, CHECK_ROW_TEXT, "%.17Lg within %.3Lg", row->value, row->bound) : 0;
    for (int k = 0; k < 3; k++)
        if (others[k][0])
            at += snprintf(text + at, CHECK_ROW_TEXT - (size_t)at, "%s%s", at ? " or " : "", others[k]);
    return text;
}

// Nonzero: a finite result is so near that it is right, far from where sums overflow. Zero says nothing. It judges nearly all
// rows of y = A*x, in a part of the time of check_row.
static int row_near(const struct check_spmv *job, int64_t i, double got)
{
    const int64_t begin = weft_csr_ofs(job->a, i), end = weft_csr_ofs(job->a, i + 1);
    const int f64 = job->type == WEFT_TYPE_F64;
    const struct terms t = f64 ? row_f64(job, begin, end) : row_f32(job, begin, end);
    const double eps = f64 || job->f64_sums ? 0x1p-53 : 0x1p-24,
                 bound = job->exact ? 0 : (double)(end - begin + 2) * eps * (double)t.size; // check_row has 3
    return t.size < 0x1p100L && fabsl((long double)got - t.value) <= (long double)bound;
}

static int check_rows(const struct check_spmv *job, const void *y, char *why, size_t why_size)
{
    char text[CHECK_ROW_TEXT];
    const int product = job->type != WEFT_TYPE_I32 && job->alpha == 1 && job->beta == 0;
    for (int64_t i = 0; i < job->a->m; i++) {
        const double got = weft__ref_get(y, job->type, i);
        if (product && row_near(job, i, got))
            continue;
        const struct check_row row = check_row(job, i);
        if (!check_row_right(&row, got)) {
            snprintf(why, why_size, "row %lld of %lld entries: got %.17g, expected %s", (long long)i,
                     (long long)row.entries, got, check_row_text(&row, text));
            return 0;
        }
    }
    return 1;
}

// fmin and fmax leave NaN out where there is anything else. A row that has nothing else is NaN, or what no entries give.
static int may_be_nan(const struct check_spmv *job, int64_t i)
{
    const int least = job->semiring == WEFT_SPMV_SEMIRING_MIN_PLUS;
    const int64_t begin = weft_csr_ofs(job->a, i), end = weft_csr_ofs(job->a, i + 1);
    if (begin == end || job->type == WEFT_TYPE_I32 || (!least && job->semiring != WEFT_SPMV_SEMIRING_MAX_TIMES) ||
        (job->beta != 0 && !isnan(weft__ref_get(job->y0, job->type, i))))
        return 0;
    for (int64_t p = begin; p < end; p++) {
        const double v = weft__ref_get(job->a->val, job->a->type, p),
                     x = weft__ref_get(job->x, job->type, job->a->col[p]);
        if (!isnan(least ? v + x : v * x))
            return 0;
    }
    return 1;
}

static int check_semiring(const struct check_spmv *job, const void *y, char *why, size_t why_size)
{
    size_t bytes = (size_t)job->a->m * weft_type_bytes(job->type);
    void *want = malloc(bytes ? bytes : 1);
    if (!want) {
        snprintf(why, why_size, "out of memory for the reference");
        return 0;
    }
    if (job->beta != 0)
        memcpy(want, job->y0, bytes);
    weft__ref_spmv_semiring(job->a, job->type, job->semiring, job->f64_sums, job->x, job->beta != 0, want);
    int64_t i = 0;
    for (; i < job->a->m; i++) {
        const double got = weft__ref_get(y, job->type, i), expected = weft__ref_get(want, job->type, i);
        if (!(got == expected || (isnan(got) && (isnan(expected) || may_be_nan(job, i)))))
            break;
    }
    if (i < job->a->m)
        snprintf(why, why_size, "row %lld: got %.17g, expected %.17g", (long long)i, weft__ref_get(y, job->type, i),
                 weft__ref_get(want, job->type, i));
    free(want);
    return i == job->a->m;
}

uint64_t check_hash(const void *y, size_t bytes)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ ((const unsigned char *)y)[i]) * UINT64_C(0x100000001b3);
    return hash;
}

int check_spmv(const struct check_spmv *job, const void *y, char *why, size_t why_size)
{
    why[0] = 0;
    return job->semiring == WEFT_SPMV_SEMIRING_PLUS_TIMES ? check_rows(job, y, why, why_size)
                                                          : check_semiring(job, y, why, why_size);
}
