// SPDX-License-Identifier: Apache-2.0
// Random numbers as a hash of (seed, stream, counter): any thread can make any of them, on every machine the same.
#pragma once

#include <stdint.h>

// Finalizer of splitmix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014).
static inline uint64_t weft__random_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

// Key of an independent stream of draws.
static inline uint64_t weft__random_key(uint64_t seed, uint64_t stream)
{
    return weft__random_mix(weft__random_mix(seed + UINT64_C(0x9e3779b97f4a7c15)) +
                            stream * UINT64_C(0xd1342543de82ef95));
}

static inline uint64_t weft__random_draw(uint64_t key, uint64_t counter)
{
    return weft__random_mix(key + (counter + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

// High half of a*b: brings a uniform 64-bit number a to a uniform one below b.
static inline uint64_t weft__random_below(uint64_t a, uint64_t b)
{
    uint64_t a0 = a & 0xffffffff, a1 = a >> 32, b0 = b & 0xffffffff, b1 = b >> 32;
    uint64_t mid = a1 * b0 + (a0 * b0 >> 32), mid2 = a0 * b1 + (mid & 0xffffffff);
    return a1 * b1 + (mid >> 32) + (mid2 >> 32);
}
