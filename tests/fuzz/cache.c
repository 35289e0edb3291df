// SPDX-License-Identifier: Apache-2.0
// Fuzz target: a file of the program cache. It is a hit when it is what was written, and only then. The first byte even:
// the file is the bytes that follow; odd: a right file with some of its bytes changed.
#include "fuzz.h"
#include "host/internal/tests.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FORMAT "weft program cache 1"
enum { MAGIC = 24 };

static const char key[] = "the key of a program\nof two lines";
static const unsigned char binary[] = "the binary of a program, which nobody runs";
static char folder[64], path[400];
static unsigned char right[4096];
static size_t right_bytes;

static void at_end(void)
{
    unlink(path);
    rmdir(folder);
}

// A right file; its name is the library's.
static void begin(void)
{
    snprintf(folder, sizeof folder, "%s/weft-fuzz-XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    if (!mkdtemp(folder))
        abort();
    weft__cache_write(folder, key, binary, sizeof binary);
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (entry->d_name[0] != '.')
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    if (dir)
        closedir(dir);
    FILE *file = fopen(path, "rb");
    right_bytes = file ? fread(right, 1, sizeof right, file) : 0;
    if (!right_bytes || fclose(file) || atexit(at_end))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    unsigned char file[sizeof right];
    char why[WEFT__CACHE_WHY];
    size_t size = 0, length = right_bytes;
    if (!bytes || bytes > sizeof file)
        return 0;
    if (!right_bytes)
        begin();
    memcpy(file, right, right_bytes);
    if (data[0] & 1)
        for (size_t i = 1; i + 1 < bytes; i += 2) // a place and a byte
            file[data[i] % right_bytes] = data[i + 1];
    else
        memcpy(file, data + 1, length = bytes - 1);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, file, length) != (ssize_t)length || close(fd))
        abort();
    unsigned char *got = weft__cache_read(folder, key, &size, why);
    int same = length == right_bytes && !memcmp(file, right, sizeof FORMAT);
    same =
        same && !memcmp(file + MAGIC, right + MAGIC, length - MAGIC); // what fills the room of the magic does not count
    if (same != (got != NULL) || (got && (size != sizeof binary || memcmp(got, binary, size))))
        abort();
    free(got);
    return 0;
}
