// SPDX-License-Identifier: Apache-2.0
// Sums of counts that do not overflow.
#pragma once

#include <stdint.h>

// Sum of the counts of a histogram, those below 0 as 0, whatever they are. Exact up to 2^53.
static inline double weft__histogram_sum(const int64_t *count, int64_t buckets)
{
    uint64_t low = 0, high = 0; // of 32 bits each: neither wraps around
    for (int64_t b = 0; b < buckets; b++)
        if (count[b] > 0) {
            low += (uint64_t)count[b] & UINT32_MAX;
            high += (uint64_t)count[b] >> 32;
        }
    return (double)high * 0x1p32 + (double)low;
}
