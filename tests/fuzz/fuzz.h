// SPDX-License-Identifier: Apache-2.0
// What the fuzz targets share: the entrance of libFuzzer, and files in memory.
#pragma once

#include <stddef.h>
#include <stdint.h>

// libFuzzer's; driver.c has a main that calls it where the compiler has no libFuzzer. A target aborts when what it tests
// broke its promise.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

// The path of a file in memory that holds these bytes until the next call. Two are there at a time: `which` is 0 or 1.
const char *fuzz_file(int which, const void *data, size_t bytes);
// One line that is not empty, else it aborts.
void fuzz_line(const char *text);
