// SPDX-License-Identifier: Apache-2.0
// The bytes in which kernels note the lines that they run (kernels.py): the same file at the same address in every process.
// Part of kernels.c in builds with -Dkernel_coverage=true, which defines WEFT_LINES, the path.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define ADDRESS ((void *)0x610000000000) // as in kernels.py
#define BYTES   ((size_t)1 << 20)

// A second copy of the library in the process finds the bytes there. Tests run programs as other users, who write them too.
__attribute__((constructor)) static void lines_map(void)
{
    const int made = open(WEFT_LINES, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (made >= 0)
        fchmod(made, 0666);
    const int file = made >= 0 ? made : open(WEFT_LINES, O_RDWR | O_CLOEXEC);
    if (file < 0 || ftruncate(file, (off_t)BYTES) ||
        (mmap(ADDRESS, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, file, 0) != ADDRESS &&
         errno != EEXIST)) {
        perror(WEFT_LINES);
        abort();
    }
    close(file);
}
