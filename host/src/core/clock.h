// SPDX-License-Identifier: Apache-2.0
// The host's clock.
#pragma once

#include <time.h>

// Milliseconds of a clock that never steps back.
static inline double weft__now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}
