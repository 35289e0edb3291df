// SPDX-License-Identifier: Apache-2.0
// Device memory that weft's own OpenCL calls hold, measured at the call table.
#pragma once

#include <stdint.h>

// Start counting; once, before the first buffer.
void bench_memory_watch(void);
// Forget the peak so far.
void bench_memory_reset(void);
// Most bytes held at one time since the reset, less what was held at the reset.
int64_t bench_memory_peak(void);
