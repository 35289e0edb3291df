// SPDX-License-Identifier: Apache-2.0
#ifndef BENCH_NAME_H
#define BENCH_NAME_H

#include <stddef.h>

// Name of the matrix in a file: "thermal2" of "/data/thermal2.tar.gz".
void bench_name_of_file(char *out, size_t size, const char *path);
// What tables, records and pictures can hold: control characters and bytes that are no UTF-8 become question marks.
void bench_text_mend(char *text);

#endif
