// SPDX-License-Identifier: Apache-2.0
// Scan, histogram and expand with threads: a contiguous part of the work for each.
#include "primitives.h"
#include "transpose.h"

#include <omp.h>

// Most threads; more would stay idle.
enum { THREADS_MAX = 1024 };

static int threads_count(void)
{
    int threads = omp_get_max_threads();
    return threads < THREADS_MAX ? threads : THREADS_MAX;
}

// ---- scan ------------------------------------------------------------------------------------------------------

// Each thread sums its part, then scans it from the sums before. Integer sums are unsigned: they wrap around.
#define SCAN_DEFINE(name, in_t, sum_t)                                                                                 \
    static void name(sum_t *out, const in_t *in, int64_t n)                                                            \
    {                                                                                                                  \
        sum_t sums[THREADS_MAX];                                                                                       \
        _Pragma("omp parallel num_threads(threads_count())")                                                           \
        {                                                                                                              \
            int t = omp_get_thread_num(), all = omp_get_num_threads();                                                 \
            int64_t i = part_start(n, t, all), end = part_start(n, t + 1, all);                                        \
            sum_t sum = 0, carry = 0;                                                                                  \
            _Pragma("omp simd reduction(+ : sum)") for (int64_t k = i; k < end; k++) sum += (sum_t)in[k];              \
            sums[t] = sum;                                                                                             \
            _Pragma("omp barrier");                                                                                    \
            for (int k = 0; k < t; k++)                                                                                \
                carry += sums[k];                                                                                      \
            for (; i + 4 <= end; i += 4) {                                                                             \
                sum_t v0 = (sum_t)in[i], v1 = (sum_t)in[i + 1], v2 = (sum_t)in[i + 2], v3 = (sum_t)in[i + 3];          \
                sum_t s1 = v0 + v1, s2 = s1 + v2, s3 = s1 + (v2 + v3);                                                 \
                out[i] = carry;                                                                                        \
                out[i + 1] = carry + v0;                                                                               \
                out[i + 2] = carry + s1;                                                                               \
                out[i + 3] = carry + s2;                                                                               \
                carry += s3;                                                                                           \
            }                                                                                                          \
            for (; i < end; i++) {                                                                                     \
                sum_t v = (sum_t)in[i];                                                                                \
                out[i] = carry;                                                                                        \
                carry += v;                                                                                            \
            }                                                                                                          \
        }                                                                                                              \
    }

SCAN_DEFINE(scan_u32, uint32_t, uint32_t)
SCAN_DEFINE(scan_u64, uint64_t, uint64_t)
SCAN_DEFINE(scan_f32, float, float)
SCAN_DEFINE(scan_i32_i64, int32_t, uint64_t)
SCAN_DEFINE(scan_u32_u64, uint32_t, uint64_t)

void weft__omp_array_scan(void *out, const void *in, int64_t n, enum weft_scan_type type)
{
    if (type == WEFT_SCAN_TYPE_I64)
        scan_u64(out, in, n);
    else if (type == WEFT_SCAN_TYPE_F32)
        scan_f32(out, in, n);
    else if (type == WEFT_SCAN_TYPE_I32_I64)
        scan_i32_i64(out, in, n);
    else if (type == WEFT_SCAN_TYPE_U32_U64)
        scan_u32_u64(out, in, n);
    else
        scan_u32(out, in, n);
}

// ---- histogram -------------------------------------------------------------------------------------------------

// Counts of idx[start .. end-1] in `count`, by atomic additions when it is shared.
WEFT_INLINE void count_part(void *count, const int32_t *idx, int64_t start, int64_t end, int64_t bins, int shared,
                            int wide)
{
    int64_t *count64 = count;
    int32_t *count32 = count;
    for (int64_t i = start; i < end; i++) {
        int32_t b = idx[i];
        if (b < 0 || b >= bins)
            continue;
        if (!shared)
            ofs_next(count, b, wide);
        else if (wide)
            __atomic_fetch_add(count64 + b, 1, __ATOMIC_RELAXED);
        else
            __atomic_fetch_add(count32 + b, 1, __ATOMIC_RELAXED);
    }
}

// A row of counters for each thread, then their sum down the rows and along the bins. Where rows would outweigh the
// indices, one row for all: with so many bins additions seldom meet.
WEFT_INLINE void histogram_typed(void *out, char *rows, const int32_t *idx, int64_t n, int64_t bins, int nrows,
                                 int wide)
{
    int64_t sums[THREADS_MAX];
    size_t row_bytes = (size_t)bins * (wide ? sizeof(int64_t) : sizeof(int32_t));
#pragma omp parallel num_threads(threads_count())
    {
        int t = omp_get_thread_num(), all = omp_get_num_threads(), mine = nrows == 1 ? 0 : t;
        int64_t low = part_start(bins, t, all), high = part_start(bins, t + 1, all), sum = 0;
        if (nrows == 1)
            for (int64_t b = low; b < high; b++)
                ofs_set(rows, b, 0, wide);
        else
            memset(rows + (size_t)t * row_bytes, 0, row_bytes);
#pragma omp barrier
        count_part(rows + (size_t)mine * row_bytes, idx, part_start(n, t, all), part_start(n, t + 1, all), bins,
                   nrows == 1 && all > 1, wide);
#pragma omp barrier
        for (int r = 1; r < all && nrows > 1; r++)
            for (int64_t b = low; b < high; b++)
                ofs_set(rows, b, ofs_get(rows, b, wide) + ofs_get(rows + (size_t)r * row_bytes, b, wide), wide);
        for (int64_t b = low; b < high; b++)
            sum += ofs_get(rows, b, wide);
        sums[t] = sum;
#pragma omp barrier
        sum = 0;
        for (int k = 0; k < t; k++)
            sum += sums[k];
        for (int64_t b = low; b < high; b++) {
            ofs_set(out, b, sum, wide);
            sum += ofs_get(rows, b, wide);
        }
        if (t == all - 1)
            ofs_set(out, bins, sum, wide);
    }
}

static int rows_count(int64_t n, int64_t bins)
{
    return bins > 0 && threads_count() > 4 * n / bins ? 1 : threads_count();
}

size_t weft__omp_array_histogram_scratch(int64_t n, int64_t bins, enum weft_ofs ofs)
{
    return weft__mul(weft__mul((size_t)bins, (size_t)rows_count(n, bins)), weft_ofs_bytes(ofs));
}

void weft__omp_array_histogram(void *out, const int32_t *idx, int64_t n, int64_t bins, enum weft_ofs ofs, void *scratch)
{
    if (ofs == WEFT_OFS_64)
        histogram_typed(out, scratch, idx, n, bins, rows_count(n, bins), 1);
    else
        histogram_typed(out, scratch, idx, n, bins, rows_count(n, bins), 0);
}

// ---- expand ----------------------------------------------------------------------------------------------------

// Rows that end within the first d steps along row ends and positions: the largest i with row_ptr[i] + i <= d.
WEFT_INLINE int64_t rows_before(const void *row_ptr, int64_t m, int64_t d, int wide)
{
    int64_t low = 0, high = m;
    while (low < high) {
        int64_t mid = high - (high - low) / 2;
        if (ofs_get(row_ptr, mid, wide) + mid <= d)
            low = mid;
        else
            high = mid - 1;
    }
    return low;
}

// Equal shares of rows plus positions, as D. Merrill, M. Garland, SC'16, section III.
WEFT_INLINE void expand_typed(int32_t *row, const void *row_ptr, int64_t m, int64_t nnz, int wide)
{
#pragma omp parallel num_threads(threads_count())
    {
        int t = omp_get_thread_num(), all = omp_get_num_threads();
        int64_t d = part_start(m + nnz, t, all), d_end = part_start(m + nnz, t + 1, all);
        int64_t i = rows_before(row_ptr, m, d, wide), last = rows_before(row_ptr, m, d_end, wide);
        int64_t p = d - i, end = d_end - last;
        for (; i < last; i++)
            for (int64_t row_end = ofs_get(row_ptr, i + 1, wide); p < row_end; p++)
                row[p] = (int32_t)i;
        for (; p < end; p++)
            row[p] = (int32_t)last;
    }
}

void weft__omp_array_expand(int32_t *row, const void *row_ptr, int64_t m, int64_t nnz, enum weft_ofs ofs)
{
    if (ofs == WEFT_OFS_64)
        expand_typed(row, row_ptr, m, nnz, 1);
    else
        expand_typed(row, row_ptr, m, nnz, 0);
}
