// SPDX-License-Identifier: Apache-2.0
// Choices for random problems: from given bytes while there are any, then from splitmix64 (G. Steele, D. Lea, C. Flood,
// OOPSLA 2014), so that a fuzzer steers the first of them and a seed all.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct draw {
    uint64_t state;
    const uint8_t *data; // `left` bytes
    size_t left;
};

static inline uint64_t draw_u64(struct draw *d)
{
    uint64_t z = d->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

// In 0 .. limit-1, limit > 0; takes a byte, or three for a limit above 256.
static inline int64_t draw_below(struct draw *d, int64_t limit)
{
    const size_t bytes = limit > 256 ? 3 : 1;
    uint64_t x = 0;
    if (d->left < bytes)
        return (int64_t)(draw_u64(d) % (uint64_t)limit);
    for (size_t i = 0; i < bytes; i++)
        x = x << 8 | d->data[i];
    d->data += bytes;
    d->left -= bytes;
    return (int64_t)(x % (uint64_t)limit);
}

// True once in `times`.
static inline int draw_once(struct draw *d, int64_t times)
{
    return draw_below(d, times) == 0;
}

// 0 .. most, small ones as likely as large ones.
static inline int64_t draw_size(struct draw *d, int64_t most)
{
    static const int64_t scales[] = {2, 40, 300, 3000, INT64_MAX};
    const int64_t scale = scales[draw_below(d, 5)];
    return draw_below(d, (most < scale ? most : scale) + 1);
}
