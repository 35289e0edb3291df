// SPDX-License-Identifier: Apache-2.0
// Files in memory for fuzz targets of what is read by name.
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

const char *fuzz_file(int which, const void *data, size_t bytes)
{
    static int fd[2] = {-1, -1};
    static char path[2][64];
    if (fd[which] < 0)
        fd[which] = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd[which] < 0 || ftruncate(fd[which], 0) || pwrite(fd[which], data, bytes, 0) != (ssize_t)bytes)
        abort();
    snprintf(path[which], sizeof path[which], "/proc/self/fd/%d", fd[which]);
    return path[which];
}

void fuzz_line(const char *text)
{
    if (!text[0] || strchr(text, '\n'))
        abort();
}
