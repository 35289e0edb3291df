// SPDX-License-Identifier: Apache-2.0
#include "name.h"

#include <stdio.h>
#include <string.h>

void bench_name_of_file(char *out, size_t size, const char *path)
{
    const char *base = strrchr(path, '/');
    snprintf(out, size, "%s", base ? base + 1 : path);
    static const char *const ends[] = {".gz", ".tgz", ".tar", ".mtx"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t length = strlen(out), end = strlen(ends[i]);
        if (length > end && !strcmp(out + length - end, ends[i]))
            out[length - end] = 0;
    }
}
