// SPDX-License-Identifier: Apache-2.0
// counts[b] = number of i with idx[i] == b; pointers[b] = number of i with 0 <= idx[i] < b.
#include "host/src/ref/ofs.h"
#include "host/src/ref/ref.h"

static inline __attribute__((always_inline)) void histogram(void *out, int wide, const int32_t *idx, int64_t n,
                                                            int64_t bins, int pointers)
{
    int64_t sum = 0;
    for (int64_t b = 0; b < bins; b++)
        weft__ofs_set(out, b, wide, 0);
    for (int64_t i = 0; i < n; i++)
        if (idx[i] >= 0 && idx[i] < bins)
            weft__ofs_set(out, idx[i], wide, weft__ofs_get(out, idx[i], wide) + 1);
    for (int64_t b = 0; pointers && b < bins; b++) {
        const int64_t count = weft__ofs_get(out, b, wide);
        weft__ofs_set(out, b, wide, sum);
        sum += count;
    }
    if (pointers)
        weft__ofs_set(out, bins, wide, sum);
}

void weft__ref_histogram(void *out, const int32_t *idx, int64_t n, int64_t bins, enum weft_ofs ofs, int pointers)
{
    if (ofs == WEFT_OFS_64)
        histogram(out, 1, idx, n, bins, pointers);
    else
        histogram(out, 0, idx, n, bins, pointers);
}
