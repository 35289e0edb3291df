// SPDX-License-Identifier: Apache-2.0
// Recomputes every row of an SpMV in higher precision and compares.
#include "host/common/check_spmv.h"
#include "host/internal/inside.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// One row in higher precision: its value, and the sum of the absolute values of all terms.
struct row {
    long double value, size;
};

#define ROW_SUM(name, T, wide_t)                                                                                       \
    static struct row name(const struct check_spmv *job, int64_t begin, int64_t end)                                   \
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
        return (struct row){sum, size};                                                                                \
    }
ROW_SUM(row_f32, float, double)
ROW_SUM(row_f64, double, long double)
ROW_SUM(row_i32, int32_t, double)

static struct row row_value(const struct check_spmv *job, int64_t i)
{
    int64_t begin = weft_csr_ofs(job->a, i), end = weft_csr_ofs(job->a, i + 1);
    struct row r = job->type == WEFT_TYPE_F32   ? row_f32(job, begin, end)
                   : job->type == WEFT_TYPE_F64 ? row_f64(job, begin, end)
                                                : row_i32(job, begin, end);
    // The device has alpha and beta in the type of sums.
    int f32 = job->type == WEFT_TYPE_F32 && !job->f64_sums;
    long double alpha = f32 ? (float)job->alpha : job->alpha, beta = f32 ? (float)job->beta : job->beta;
    long double y0 = beta == 0 ? 0 : weft__ref_get(job->y0, job->type, i);
    r.value = alpha * r.value + beta * y0;
    r.size = fabsl(alpha) * r.size + fabsl(beta * y0);
    return r;
}

static int check_rows(const struct check_spmv *job, const void *y, char *why, size_t why_size)
{
    const long double eps = job->type == WEFT_TYPE_F64 || job->f64_sums ? 0x1p-53L : 0x1p-24L;
    const long double last = job->type == WEFT_TYPE_F64 ? 0x1p-53L : 0x1p-24L,
                      tiny = job->type == WEFT_TYPE_F64 ? 0x1p-1074L : 0x1p-149L;
    for (int64_t i = 0; i < job->a->m; i++) {
        int64_t k = weft_csr_ofs(job->a, i + 1) - weft_csr_ofs(job->a, i);
        struct row r = row_value(job, i);
        long double bound = (long double)(k + 3) * (eps * r.size + tiny) +
                            (job->f64_sums ? last * (fabsl(r.value) + (job->parts ? 2 * r.size : 0)) : 0);
        if (job->exact || job->type == WEFT_TYPE_I32)
            bound = 0;
        double got = weft__ref_get(y, job->type, i);
        if (!(fabsl((long double)got - r.value) <= bound)) { // NaN fails too
            snprintf(why, why_size, "row %lld of %lld entries: got %.17g, expected %.17Lg within %.3Lg", (long long)i,
                     (long long)k, got, r.value, bound);
            return 0;
        }
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
    while (i < job->a->m && weft__ref_get(y, job->type, i) == weft__ref_get(want, job->type, i))
        i++;
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
