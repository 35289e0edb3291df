// SPDX-License-Identifier: Apache-2.0
// counts[b] = number of i with idx[i] == b; pointers[b] = number of i with 0 <= idx[i] < b.
#include "host/src/ref/ref.h"

#define HISTOGRAM_DEFINE(name, ofs_t)                                                                                  \
    static void name(ofs_t *out, const int32_t *idx, int64_t n, int64_t bins, int pointers)                            \
    {                                                                                                                  \
        ofs_t sum = 0;                                                                                                 \
        for (int64_t b = 0; b < bins; b++)                                                                             \
            out[b] = 0;                                                                                                \
        for (int64_t i = 0; i < n; i++)                                                                                \
            if (idx[i] >= 0 && idx[i] < bins)                                                                          \
                out[idx[i]]++;                                                                                         \
        for (int64_t b = 0; pointers && b < bins; b++) {                                                               \
            ofs_t count = out[b];                                                                                      \
            out[b] = sum;                                                                                              \
            sum += count;                                                                                              \
        }                                                                                                              \
        if (pointers)                                                                                                  \
            out[bins] = sum;                                                                                           \
    }

HISTOGRAM_DEFINE(histogram_ofs32, int32_t)
HISTOGRAM_DEFINE(histogram_ofs64, int64_t)

void weft__ref_histogram(void *out, const int32_t *idx, int64_t n, int64_t bins, enum weft_ofs ofs, int pointers)
{
    if (ofs == WEFT_OFS_64)
        histogram_ofs64(out, idx, n, bins, pointers);
    else
        histogram_ofs32(out, idx, n, bins, pointers);
}
