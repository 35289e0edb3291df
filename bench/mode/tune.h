// SPDX-License-Identifier: Apache-2.0
// --tune: find tuning values for the devices in use, and write them where the library looks for them.
#pragma once

#include "bench/run/block.h"

// Before the devices are opened: which file contexts read, and which one --tune writes. BENCH_USAGE after a complaint
// when there is no place for one; -1: go on.
int bench_tune_open(struct bench *b);
// After they are: says in a line for which of them the file of --tune-file has no row, or what of a file cannot be read.
void bench_tune_tell(const struct bench *b);
// Spend --tune-time seconds on every device in use. Sets b->wrong, b->failed or b->refused when something went wrong.
void bench_tune_run(struct bench *b);
