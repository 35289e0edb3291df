// SPDX-License-Identifier: Apache-2.0
// In the place of primitives.c and sort.c in a build without OpenMP: never called, since the backend then cannot run.
#include "primitives.h"

void weft__omp_array_scan(void *out, const void *in, int64_t n, enum weft_scan_type type)
{
    (void)out, (void)in, (void)n, (void)type;
}

size_t weft__omp_array_histogram_scratch(int64_t n, int64_t bins, enum weft_ofs ofs)
{
    (void)n, (void)bins, (void)ofs;
    return 0;
}

void weft__omp_array_histogram(void *out, const int32_t *idx, int64_t n, int64_t bins, enum weft_ofs ofs, void *scratch)
{
    (void)out, (void)idx, (void)n, (void)bins, (void)ofs, (void)scratch;
}

void weft__omp_array_expand(int32_t *row, const void *row_ptr, int64_t m, int64_t nnz, enum weft_ofs ofs)
{
    (void)row, (void)row_ptr, (void)m, (void)nnz, (void)ofs;
}

void weft__omp_array_merge(enum weft_key key, int payload_bytes, void *out, void *out_val, const void *a,
                           const void *a_val, int64_t na, const void *b, const void *b_val, int64_t nb, int64_t block)
{
    (void)key, (void)payload_bytes, (void)out, (void)out_val, (void)a, (void)a_val, (void)na, (void)b, (void)b_val;
    (void)nb, (void)block;
}

void weft__omp_array_segsort(enum weft_key key, int payload_bytes, void *out, void *out_val, const void *in,
                             const void *in_val, const int64_t *offsets, int64_t segments, void *scratch)
{
    (void)key, (void)payload_bytes, (void)out, (void)out_val, (void)in, (void)in_val, (void)offsets, (void)segments;
    (void)scratch;
}
