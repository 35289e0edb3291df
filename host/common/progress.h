// SPDX-License-Identifier: Apache-2.0
// A line on a terminal's stderr that says what a long step is doing; nothing in a pipe, nothing for a short step.
#pragma once

#include <stdint.h>

// Whether to show anything at all: call it once, before the first begin.
void bench_progress_enable(int quiet);
// A step starts; the line appears when it takes longer than two seconds.
__attribute__((format(printf, 1, 2))) void bench_progress_begin(const char *format, ...);
// How far it is, in bytes (total 0: not known). Has the form of weft_mtx_params.progress.
void bench_progress_bytes(void *arg, int64_t done, int64_t total);
void bench_progress_end(void);
