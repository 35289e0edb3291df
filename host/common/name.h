// SPDX-License-Identifier: Apache-2.0
// Names of matrices, and texts made fit to be shown.
#pragma once

#include <stddef.h>

// Name of the matrix in a file: "thermal2" of "/data/thermal2.tar.gz".
void bench_name_of_file(char *out, size_t size, const char *path);
// What a terminal may get: control characters, but those of `plain`, and bytes that are no UTF-8 become \x1b and the like.
// `out` has room for BENCH_TEXT_GROWS * size + 1. Gives how many bytes were used: a character that `size` cuts is left.
size_t bench_text_show(char *out, const char *text, size_t size, const char *plain);
enum { BENCH_TEXT_GROWS = 4 };
// A text of others as a part of a line that people read, where a line break is shown too: its first 1023 bytes.
struct bench_text_line {
    char text[BENCH_TEXT_GROWS * 1023 + 1];
};
struct bench_text_line bench_text_line(const char *text);
