// SPDX-License-Identifier: Apache-2.0
// Sets of indices whose memory follows their number, not their range.
#pragma once

#include <stdint.h>
#include <stdlib.h>

static inline int weft__index_compare(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

// Sort index[0 .. count-1] and leave each one once; returns how many there are.
static inline size_t weft__indices_unique(int32_t *index, size_t count)
{
    size_t kept = 0;
    if (count)
        qsort(index, count, sizeof *index, weft__index_compare);
    for (size_t i = 0; i < count; i++)
        if (!kept || index[kept - 1] != index[i])
            index[kept++] = index[i];
    return kept;
}

// How many of the indices, which ascend, are below `value`: its place, where it is one of them.
static inline int32_t weft__index_find(const int32_t *index, size_t count, int64_t value)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (index[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return (int32_t)low;
}
