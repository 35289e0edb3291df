// SPDX-License-Identifier: Apache-2.0
// Random numbers for tests: splitmix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014). The seed is printed, and
// WEFT_SEED=N in the environment replays a run.
#pragma once

#include "tap.h"

#include <stdlib.h>
#include <time.h>

struct rng {
    uint64_t state;
};

static inline uint64_t rng_u64(struct rng *rng)
{
    uint64_t z = rng->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

// Start from WEFT_SEED, or from the clock; the seed is printed as a comment.
static inline struct rng rng_start(void)
{
    const char *text = getenv("WEFT_SEED");
    struct rng rng = {(uint64_t)time(NULL)};
    rng.state = text ? strtoull(text, NULL, 0) : rng_u64(&rng) >> 32;
    tap_note("WEFT_SEED=%llu", (unsigned long long)rng.state);
    return rng;
}

// Uniform in 0 .. limit-1 (limit > 0; the bias is below limit / 2^64).
static inline uint64_t rng_below(struct rng *rng, uint64_t limit)
{
    return rng_u64(rng) % limit;
}

// Uniform in low .. high, both included.
static inline int64_t rng_between(struct rng *rng, int64_t low, int64_t high)
{
    return low + (int64_t)rng_below(rng, (uint64_t)(high - low) + 1);
}

// Uniform in [0, 1).
static inline double rng_unit(struct rng *rng)
{
    return (double)(rng_u64(rng) >> 11) * 0x1p-53;
}
