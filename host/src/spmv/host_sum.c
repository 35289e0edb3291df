// SPDX-License-Identifier: Apache-2.0
// Sums of rows by threads of the host, in every type and every semiring that is not the caller's own.
#include "host.h"

#include <math.h>

// What the semirings are in one type of sums; the same as cl/spmv/spmv.clh.
static inline float f32_less(float a, float b)
{
    return fminf(a, b);
}
static inline float f32_more(float a, float b)
{
    return fmaxf(a, b);
}
static inline double f64_less(double a, double b)
{
    return fmin(a, b);
}
static inline double f64_more(double a, double b)
{
    return fmax(a, b);
}
static inline int32_t i32_less(int32_t a, int32_t b)
{
    return a < b ? a : b;
}
static inline int32_t i32_more(int32_t a, int32_t b)
{
    return a > b ? a : b;
}
// Integers wrap in (+, *), and in (min, +) stop at the ends, where INT32_MAX is infinity.
static inline int32_t i32_add(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a + (uint32_t)b);
}
static inline int32_t i32_mul(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a * (uint32_t)b);
}
static inline int32_t i32_path(int32_t a, int32_t b)
{
    const int64_t sum = (int64_t)a + b;
    return a == INT32_MAX || b == INT32_MAX || sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : (int32_t)sum;
}
#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#define OR(a, b)  ((a) != 0 || (b) != 0)
#define AND(a, b) ((a) != 0 && (b) != 0)

// Sums of pieces for one type of values, type of sums and semiring.
#define SUM_DEFINE(name, T, acc_t, ZERO, PLUS, TIMES)                                                                  \
    static void name##_sum(const struct weft__spmv_pieces *p, int64_t begin, int64_t end, const T *restrict x,         \
                           acc_t *restrict sum)                                                                        \
    {                                                                                                                  \
        const int32_t *restrict col = p->col;                                                                          \
        const T *restrict val = p->val;                                                                                \
        for (int64_t i = begin; i < end; i++) {                                                                        \
            acc_t s = (acc_t)(ZERO);                                                                                   \
            for (int64_t q = p->piece[i]; q < p->piece[i + 1]; q++) {                                                  \
                const acc_t a = val ? (acc_t)val[q] : (acc_t)1, b = (acc_t)x[col[q]];                                  \
                const acc_t product = (acc_t)TIMES(a, b);                                                              \
                s = (acc_t)PLUS(s, product);                                                                           \
            }                                                                                                          \
            sum[i] = s;                                                                                                \
        }                                                                                                              \
    }
// Sums of rows from those of their pieces.
#define JOIN_DEFINE(name, acc_t, PLUS)                                                                                 \
    static void name##_join(const int64_t *first, int64_t rows, const acc_t *sum, acc_t *out)                          \
    {                                                                                                                  \
        for (int64_t r = 0; r < rows; r++) {                                                                           \
            acc_t s = sum[first[r]];                                                                                   \
            for (int64_t i = first[r] + 1; i < first[r + 1]; i++)                                                      \
                s = (acc_t)PLUS(s, sum[i]);                                                                            \
            out[r] = s;                                                                                                \
        }                                                                                                              \
    }
#define SUM_DEFINE_FLOAT(name, T, acc_t, prefix)                                                                       \
    SUM_DEFINE(name##_add, T, acc_t, 0, ADD, MUL)                                                                      \
    SUM_DEFINE(name##_min, T, acc_t, INFINITY, prefix##_less, ADD)                                                     \
    SUM_DEFINE(name##_or, T, acc_t, 0, OR, AND)                                                                        \
    SUM_DEFINE(name##_max, T, acc_t, -INFINITY, prefix##_more, MUL)
#define JOIN_DEFINE_ALL(name, acc_t, PLUS)                                                                             \
    JOIN_DEFINE(name##_add, acc_t, PLUS)                                                                               \
    JOIN_DEFINE(name##_min, acc_t, name##_less)                                                                        \
    JOIN_DEFINE(name##_or, acc_t, OR)                                                                                  \
    JOIN_DEFINE(name##_max, acc_t, name##_more)
SUM_DEFINE_FLOAT(f32, float, float, f32)
SUM_DEFINE_FLOAT(f64, double, double, f64)
SUM_DEFINE_FLOAT(mixed, float, double, f64)
SUM_DEFINE(i32_add, int32_t, int32_t, 0, i32_add, i32_mul)
SUM_DEFINE(i32_min, int32_t, int32_t, INT32_MAX, i32_less, i32_path)
SUM_DEFINE(i32_or, int32_t, int32_t, 0, OR, AND)
SUM_DEFINE(i32_max, int32_t, int32_t, INT32_MIN, i32_more, i32_mul)
JOIN_DEFINE_ALL(f32, float, ADD)
JOIN_DEFINE_ALL(f64, double, ADD)
JOIN_DEFINE_ALL(i32, int32_t, i32_add)

#define PIECES_CALL(type, part, ...)                                                                                   \
    switch (semiring) {                                                                                                \
    case WEFT_SPMV_SEMIRING_MIN_PLUS:                                                                                  \
        type##_min_##part(__VA_ARGS__);                                                                                \
        break;                                                                                                         \
    case WEFT_SPMV_SEMIRING_OR_AND:                                                                                    \
        type##_or_##part(__VA_ARGS__);                                                                                 \
        break;                                                                                                         \
    case WEFT_SPMV_SEMIRING_MAX_TIMES:                                                                                 \
        type##_max_##part(__VA_ARGS__);                                                                                \
        break;                                                                                                         \
    default:                                                                                                           \
        type##_add_##part(__VA_ARGS__);                                                                                \
    }

struct sums {
    const struct weft__spmv_pieces *p;
    enum weft_type type, acc;
    enum weft_spmv_semiring semiring;
    const void *x;
    void *sum;
};

#define CHUNK 64 // pieces that a thread sums at a time

static void chunk_sum(void *arg, int64_t chunk)
{
    const struct sums *s = arg;
    const enum weft_spmv_semiring semiring = s->semiring;
    const int64_t begin = chunk * CHUNK, end = begin + CHUNK < s->p->count ? begin + CHUNK : s->p->count;
    if (s->type == WEFT_TYPE_I32) {
        PIECES_CALL(i32, sum, s->p, begin, end, s->x, s->sum)
    } else if (s->type == WEFT_TYPE_F64) {
        PIECES_CALL(f64, sum, s->p, begin, end, s->x, s->sum)
    } else if (s->acc == WEFT_TYPE_F64) {
        PIECES_CALL(mixed, sum, s->p, begin, end, s->x, s->sum)
    } else {
        PIECES_CALL(f32, sum, s->p, begin, end, s->x, s->sum)
    }
}

void weft__spmv_pieces_sum(struct weft__team *team, const struct weft__spmv_pieces *p, enum weft_type type,
                           enum weft_type acc, enum weft_spmv_semiring semiring, const void *x, void *sum)
{
    struct sums s = {p, type, acc, semiring, x, sum};
    weft__team_each(team, p->piece[p->count], (p->count + CHUNK - 1) / CHUNK, chunk_sum, &s);
}

void weft__spmv_pieces_join(const int64_t *first, int64_t rows, enum weft_type acc, enum weft_spmv_semiring semiring,
                            const void *sum, void *out)
{
    if (acc == WEFT_TYPE_I32) {
        PIECES_CALL(i32, join, first, rows, sum, out)
    } else if (acc == WEFT_TYPE_F64) {
        PIECES_CALL(f64, join, first, rows, sum, out)
    } else {
        PIECES_CALL(f32, join, first, rows, sum, out)
    }
}
