// SPDX-License-Identifier: Apache-2.0
// y[i] = alpha * (sum of a[p]*x[col[p]] over the entries p of row i) + beta*y[i], entries from the left; and the same
// in the other semirings.
#include "host/src/ref/ref.h"

#include <math.h>

#define SPMV_DEFINE(name, T, ofs_t, VALUE)                                                                             \
    static void name(const struct weft_csr *a, double alpha, const T *restrict x, double beta, T *restrict y)          \
    {                                                                                                                  \
        const ofs_t *restrict row_ptr = a->row_ptr;                                                                    \
        const int32_t *restrict col = a->col;                                                                          \
        const T *restrict val = a->val;                                                                                \
        (void)val;                                                                                                     \
        for (int64_t i = 0; i < a->m; i++) {                                                                           \
            T sum = 0;                                                                                                 \
            for (ofs_t p = row_ptr[i]; p < row_ptr[i + 1]; p++)                                                        \
                sum += VALUE * x[col[p]];                                                                              \
            y[i] = beta == 0 ? (T)alpha * sum : (T)alpha * sum + (T)beta * y[i];                                       \
        }                                                                                                              \
    }
#define SPMV_DEFINE_TYPE(type, T)                                                                                      \
    SPMV_DEFINE(type##_32, T, int32_t, val[p])                                                                         \
    SPMV_DEFINE(type##_64, T, int64_t, val[p])                                                                         \
    SPMV_DEFINE(type##_ones_32, T, int32_t, (T)1)                                                                      \
    SPMV_DEFINE(type##_ones_64, T, int64_t, (T)1)
SPMV_DEFINE_TYPE(f32, float)
SPMV_DEFINE_TYPE(f64, double)
SPMV_DEFINE_TYPE(i32, int32_t)

#define SPMV_CALL(prefix)                                                                                              \
    (a->type == WEFT_TYPE_PATTERN ? (a->ofs == WEFT_OFS_64 ? prefix##_ones_64 : prefix##_ones_32)                      \
                                  : (a->ofs == WEFT_OFS_64 ? prefix##_64 : prefix##_32))(a, alpha, x, beta, y)

void weft__ref_spmv(const struct weft_csr *a, enum weft_type type, double alpha, const void *x, double beta, void *y)
{
    if (type == WEFT_TYPE_F32)
        SPMV_CALL(f32);
    else if (type == WEFT_TYPE_F64)
        SPMV_CALL(f64);
    else
        SPMV_CALL(i32);
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

// Rounded to the type of sums: of f32, double holds each sum and product of two exactly enough to round once.
static double times(enum weft_spmv_semiring semiring, enum weft_type acc, double a, double b)
{
    double out = semiring == WEFT_SPMV_SEMIRING_MIN_PLUS ? a + b
                 : semiring == WEFT_SPMV_SEMIRING_OR_AND ? a != 0 && b != 0
                                                         : a * b;
    if (semiring == WEFT_SPMV_SEMIRING_MIN_PLUS && acc == WEFT_TYPE_I32)
        return a == INT32_MAX || b == INT32_MAX ? INT32_MAX : fmin(fmax(out, INT32_MIN), INT32_MAX);
    return acc == WEFT_TYPE_F32 ? (double)(float)out : out;
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

// The tree over count entries from p, by levels; T is the type of sums.
#define FIXED_DEFINE(name, T)                                                                                          \
    static T name##_chunk(const struct weft_csr *a, enum weft_type type, const void *x, int64_t p, int count)          \
    {                                                                                                                  \
        T s[1024];                                                                                                     \
        for (int i = 0; i < count; i++)                                                                                \
            s[i] = (T)weft__ref_get(a->val, a->type, p + i) * (T)weft__ref_get(x, type, a->col[p + i]);                \
        for (int d = 1; d < count; d *= 2)                                                                             \
            for (int i = 0; i + d < count; i += 2 * d)                                                                 \
                s[i] = s[i] + s[i + d];                                                                                \
        return s[0];                                                                                                   \
    }                                                                                                                  \
    static void name(const struct weft_csr *a, enum weft_type type, double alpha, const void *x, double beta, void *y) \
    {                                                                                                                  \
        for (int64_t i = 0; i < a->m; i++) {                                                                           \
            T sum = 0;                                                                                                 \
            int64_t begin = weft_csr_ofs(a, i), end = weft_csr_ofs(a, i + 1);                                          \
            for (int64_t p = begin; p < end; p += 1024) {                                                              \
                T chunk = name##_chunk(a, type, x, p, end - p < 1024 ? (int)(end - p) : 1024);                         \
                sum = p == begin ? chunk : sum + chunk;                                                                \
            }                                                                                                          \
            T out = (T)alpha * sum;                                                                                    \
            if (beta != 0) {                                                                                           \
                T old = (T)beta * (T)weft__ref_get(y, type, i);                                                        \
                out = out + old;                                                                                       \
            }                                                                                                          \
            set(y, type, i, (double)out);                                                                              \
        }                                                                                                              \
    }
FIXED_DEFINE(fixed_f32, float)
FIXED_DEFINE(fixed_f64, double)
FIXED_DEFINE(fixed_i32, int32_t)

void weft__ref_spmv_fixed(const struct weft_csr *a, enum weft_type type, int f64_sums, double alpha, const void *x,
                          double beta, void *y)
{
    if (type == WEFT_TYPE_F64 || f64_sums)
        fixed_f64(a, type, alpha, x, beta, y);
    else if (type == WEFT_TYPE_F32)
        fixed_f32(a, type, alpha, x, beta, y);
    else
        fixed_i32(a, type, alpha, x, beta, y);
}
