// SPDX-License-Identifier: Apache-2.0
// The host clock of the backends that run on the host.
#pragma once

#include <time.h>

// Milliseconds of a clock that never steps back.
static inline double clock_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}
