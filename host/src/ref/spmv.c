// SPDX-License-Identifier: Apache-2.0
// y[i] = alpha * (sum of a[p]*x[col[p]] over the entries p of row i) + beta*y[i], entries from the left; and the same
// in the other semirings.
#include "host/src/ref/ofs.h"
#include "host/src/ref/ref.h"

#include <math.h>

// `wide` (offsets of 64 bits) and `ones` (a pattern) are constants wherever these are called.
static inline __attribute__((always_inline)) void spmv_f32(const struct weft_csr *a, int wide, int ones, double alpha,
                                                           const float *restrict x, double beta, float *restrict y)
{
    const float *restrict val = a->val;
    for (int64_t i = 0; i < a->m; i++) {
        float sum = 0;
        for (int64_t p = weft__ofs_get(a->row_ptr, i, wide); p < weft__ofs_get(a->row_ptr, i + 1, wide); p++)
            sum += (ones ? 1 : val[p]) * x[a->col[p]];
        y[i] = beta == 0 ? (float)alpha * sum : (float)alpha * sum + (float)beta * y[i];
    }
}
static inline __attribute__((always_inline)) void spmv_f64(const struct weft_csr *a, int wide, int ones, double alpha,
                                                           const double *restrict x, double beta, double *restrict y)
{
    const double *restrict val = a->val;
    for (int64_t i = 0; i < a->m; i++) {
        double sum = 0;
        for (int64_t p = weft__ofs_get(a->row_ptr, i, wide); p < weft__ofs_get(a->row_ptr, i + 1, wide); p++)
            sum += (ones ? 1 : val[p]) * x[a->col[p]];
        y[i] = beta == 0 ? (double)alpha * sum : (double)alpha * sum + (double)beta * y[i];
    }
}
static inline __attribute__((always_inline)) void spmv_i32(const struct weft_csr *a, int wide, int ones, double alpha,
                                                           const int32_t *restrict x, double beta, int32_t *restrict y)
{
    const int32_t *restrict val = a->val;
    for (int64_t i = 0; i < a->m; i++) { // integers wrap around
        uint32_t sum = 0;
        for (int64_t p = weft__ofs_get(a->row_ptr, i, wide); p < weft__ofs_get(a->row_ptr, i + 1, wide); p++)
            sum += (ones ? 1 : (uint32_t)val[p]) * (uint32_t)x[a->col[p]];
        sum *= (uint32_t)(int32_t)alpha;
        y[i] = (int32_t)(beta == 0 ? sum : sum + (uint32_t)(int32_t)beta * (uint32_t)y[i]);
    }
}

void weft__ref_spmv(const struct weft_csr *a, enum weft_type type, double alpha, const void *x, double beta, void *y)
{
    const int wide = a->ofs == WEFT_OFS_64, ones = a->type == WEFT_TYPE_PATTERN;
    if (type == WEFT_TYPE_F32 && !wide && !ones)
        spmv_f32(a, 0, 0, alpha, x, beta, y);
    else if (type == WEFT_TYPE_F32 && !ones)
        spmv_f32(a, 1, 0, alpha, x, beta, y);
    else if (type == WEFT_TYPE_F32 && !wide)
        spmv_f32(a, 0, 1, alpha, x, beta, y);
    else if (type == WEFT_TYPE_F32)
        spmv_f32(a, 1, 1, alpha, x, beta, y);
    else if (type == WEFT_TYPE_F64 && !wide && !ones)
        spmv_f64(a, 0, 0, alpha, x, beta, y);
    else if (type == WEFT_TYPE_F64 && !ones)
        spmv_f64(a, 1, 0, alpha, x, beta, y);
    else if (type == WEFT_TYPE_F64 && !wide)
        spmv_f64(a, 0, 1, alpha, x, beta, y);
    else if (type == WEFT_TYPE_F64)
        spmv_f64(a, 1, 1, alpha, x, beta, y);
    else if (!wide && !ones)
        spmv_i32(a, 0, 0, alpha, x, beta, y);
    else if (!ones)
        spmv_i32(a, 1, 0, alpha, x, beta, y);
    else if (!wide)
        spmv_i32(a, 0, 1, alpha, x, beta, y);
    else
        spmv_i32(a, 1, 1, alpha, x, beta, y);
}

double weft__ref_get(const void *v, enum weft_type type, int64_t i)
{
    return type == WEFT_TYPE_F32   ? (double)((const float *)v)[i]
           : type == WEFT_TYPE_F64 ? ((const double *)v)[i]
           : type == WEFT_TYPE_I32 ? ((const int32_t *)v)[i]
                                   : 1.0;
}

static void set(void *v, enum weft_type type, int64_t i, double value)
{
    if (type == WEFT_TYPE_F32)
        ((float *)v)[i] = (float)value;
    else if (type == WEFT_TYPE_F64)
        ((double *)v)[i] = value;
    else
        ((int32_t *)v)[i] = (int32_t)value;
}

// A number as the type of sums has it, and sums and products of two such: of f32, double holds each exactly enough to round
// once; of i32 they wrap around.
static inline double in_type(enum weft_type acc, double a)
{
    return acc == WEFT_TYPE_F32 ? (double)(float)a : acc == WEFT_TYPE_I32 ? (double)(int32_t)a : a;
}
static inline double sum_of(enum weft_type acc, double a, double b)
{
    return acc == WEFT_TYPE_I32 ? (double)(int32_t)((uint32_t)(int32_t)a + (uint32_t)(int32_t)b) : in_type(acc, a + b);
}
static inline double product(enum weft_type acc, double a, double b)
{
    return acc == WEFT_TYPE_I32 ? (double)(int32_t)((uint32_t)(int32_t)a * (uint32_t)(int32_t)b) : in_type(acc, a * b);
}

// The sum of no entries, and the values that stand for infinity in integers.
static double zero_of(enum weft_spmv_semiring semiring, enum weft_type type)
{
    switch (semiring) {
    case WEFT_SPMV_SEMIRING_MIN_PLUS:
        return type == WEFT_TYPE_I32 ? INT32_MAX : (double)INFINITY;
    case WEFT_SPMV_SEMIRING_MAX_TIMES:
        return type == WEFT_TYPE_I32 ? INT32_MIN : -(double)INFINITY;
    default:
        return 0;
    }
}

static double plus(enum weft_spmv_semiring semiring, double a, double b)
{
    switch (semiring) {
    case WEFT_SPMV_SEMIRING_MIN_PLUS:
        return fmin(a, b);
    case WEFT_SPMV_SEMIRING_OR_AND:
        return a != 0 || b != 0;
    case WEFT_SPMV_SEMIRING_MAX_TIMES:
        return fmax(a, b);
    default:
        return a + b;
    }
}

// In the type of sums. Of i32, sums of (min, +) stop at the ends, and products of (max, *) wrap around.
static double times(enum weft_spmv_semiring semiring, enum weft_type acc, double a, double b)
{
    if (semiring == WEFT_SPMV_SEMIRING_OR_AND)
        return a != 0 && b != 0;
    if (semiring != WEFT_SPMV_SEMIRING_MIN_PLUS)
        return product(acc, a, b);
    if (acc == WEFT_TYPE_I32)
        return a == INT32_MAX || b == INT32_MAX ? INT32_MAX : fmin(fmax(a + b, INT32_MIN), INT32_MAX);
    return sum_of(acc, a, b);
}

void weft__ref_spmv_semiring(const struct weft_csr *a, enum weft_type type, enum weft_spmv_semiring semiring,
                             int f64_sums, const void *x, int add, void *y)
{
    const enum weft_type acc = f64_sums ? WEFT_TYPE_F64 : type;
    for (int64_t i = 0; i < a->m; i++) {
        double sum = zero_of(semiring, type);
        for (int64_t p = weft_csr_ofs(a, i); p < weft_csr_ofs(a, i + 1); p++)
            sum = plus(semiring, sum,
                       times(semiring, acc, weft__ref_get(a->val, a->type, p), weft__ref_get(x, type, a->col[p])));
        set(y, type, i, add ? plus(semiring, sum, weft__ref_get(y, type, i)) : sum);
    }
}

// The tree over count entries from p, by levels. `type` and `acc` are constants wherever these are called. Sums of f32 stay
// float, which is faster, not other bits.
static inline __attribute__((always_inline)) double chunk_sum(const struct weft_csr *a, enum weft_type type,
                                                              enum weft_type acc, const void *x, int64_t p, int count)
{
    const int ones = a->type == WEFT_TYPE_PATTERN, floats = acc == WEFT_TYPE_F32;
    double s[1024];
    float f[1024];
    for (int i = 0; i < count; i++) {
        const double v = ones ? 1 : weft__ref_get(a->val, type, p + i), w = weft__ref_get(x, type, a->col[p + i]);
        if (floats)
            f[i] = (float)v * (float)w;
        else
            s[i] = product(acc, v, w);
    }
    for (int d = 1; d < count; d *= 2)
        for (int i = 0; i + d < count; i += 2 * d)
            if (floats)
                f[i] = f[i] + f[i + d];
            else
                s[i] = sum_of(acc, s[i], s[i + d]);
    return floats ? (double)f[0] : s[0];
}

static inline __attribute__((always_inline)) void fixed(const struct weft_csr *a, enum weft_type type,
                                                        enum weft_type acc, double alpha, const void *x, double beta,
                                                        void *y)
{
    for (int64_t i = 0; i < a->m; i++) {
        const int64_t begin = weft_csr_ofs(a, i), end = weft_csr_ofs(a, i + 1);
        double sum = 0;
        for (int64_t p = begin; p < end; p += 1024) {
            const double chunk = chunk_sum(a, type, acc, x, p, end - p < 1024 ? (int)(end - p) : 1024);
            sum = p == begin ? chunk : sum_of(acc, sum, chunk);
        }
        sum = product(acc, in_type(acc, alpha), sum);
        if (beta != 0)
            sum = sum_of(acc, sum, product(acc, in_type(acc, beta), weft__ref_get(y, type, i)));
        set(y, type, i, sum);
    }
}

void weft__ref_spmv_fixed(const struct weft_csr *a, enum weft_type type, int f64_sums, double alpha, const void *x,
                          double beta, void *y)
{
    if (type == WEFT_TYPE_F64)
        fixed(a, WEFT_TYPE_F64, WEFT_TYPE_F64, alpha, x, beta, y);
    else if (f64_sums)
        fixed(a, type, WEFT_TYPE_F64, alpha, x, beta, y);
    else if (type == WEFT_TYPE_F32)
        fixed(a, WEFT_TYPE_F32, WEFT_TYPE_F32, alpha, x, beta, y);
    else
        fixed(a, WEFT_TYPE_I32, WEFT_TYPE_I32, alpha, x, beta, y);
}
