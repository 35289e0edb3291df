// SPDX-License-Identifier: Apache-2.0
// A library for LD_PRELOAD: the n-th call of a kind that concerns files of one folder fails, once or from then on.
//
//     WEFT_IO_UNDER=FOLDER  files whose path begins so; everything else is left alone
//     WEFT_IO_CALL=NAME     open read write fsync rename close mmap
//     WEFT_IO_N=N           counted from 1; 0 or none: nothing fails
//     WEFT_IO_EVER=1        every later one too
//     WEFT_IO_COUNT=FILE    at the end the number of calls of each kind is written there
#undef _FILE_OFFSET_BITS // both names of each call are here
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum call { OPEN, READ, WRITE, FSYNC, RENAME, CLOSE, MMAP, CALLS };
static const char *const names[CALLS] = {"open", "read", "write", "fsync", "rename", "close", "mmap"};
static const int errors[CALLS] = {EMFILE, EIO, ENOSPC, EIO, EACCES, EIO, ENOMEM};
static int counts[CALLS];
static char ours[4096]; // nonzero: the descriptor is one of a file of the folder

static int is_ours(const char *path)
{
    const char *under = getenv("WEFT_IO_UNDER");
    char seen[4096];
    if (!under || !path)
        return 0;
    if (path[0] == '/')
        return !strncmp(path, under, strlen(under));
    return getcwd(seen, sizeof seen) && !strncmp(seen, under, strlen(under));
}

static int is_fd(int fd)
{
    return fd >= 0 && (size_t)fd < sizeof ours && ours[fd];
}

// Nonzero: this call fails; errno is set.
static int fails(enum call call)
{
    const char *name = getenv("WEFT_IO_CALL"), *n = getenv("WEFT_IO_N"), *ever = getenv("WEFT_IO_EVER");
    const int count = ++counts[call];
    if (!name || !n || strcmp(name, names[call]) || !atoi(n))
        return 0;
    if (count != atoi(n) && !(ever && *ever == '1' && count > atoi(n)))
        return 0;
    errno = errors[call];
    return 1;
}

static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

#define REAL(name, type, ...) ((type(*)(__VA_ARGS__))(unsigned long)next(#name))

static int opened(int fd)
{
    if (fd >= 0 && (size_t)fd < sizeof ours)
        ours[fd] = 1;
    return fd;
}

// glibc's own stdio does not call these: fopen is caught as a whole.
#define OPENS(name)                                                                                                    \
    int name(const char *path, int flags, ...);                                                                        \
    int name(const char *path, int flags, ...)                                                                         \
    {                                                                                                                  \
        va_list args;                                                                                                  \
        va_start(args, flags);                                                                                         \
        const unsigned mode = va_arg(args, unsigned);                                                                  \
        va_end(args);                                                                                                  \
        const int mine = is_ours(path);                                                                                \
        if (mine && fails(OPEN))                                                                                       \
            return -1;                                                                                                 \
        const int fd = REAL(name, int, const char *, int, ...)(path, flags, mode);                                     \
        return mine ? opened(fd) : fd;                                                                                 \
    }
OPENS(open)
OPENS(open64)

#define OPENS_AT(name)                                                                                                 \
    int name(int folder, const char *path, int flags, ...);                                                            \
    int name(int folder, const char *path, int flags, ...)                                                             \
    {                                                                                                                  \
        va_list args;                                                                                                  \
        va_start(args, flags);                                                                                         \
        const unsigned mode = va_arg(args, unsigned);                                                                  \
        va_end(args);                                                                                                  \
        const int mine = path[0] != '/' && folder != AT_FDCWD ? is_fd(folder) : is_ours(path);                         \
        if (mine && fails(OPEN))                                                                                       \
            return -1;                                                                                                 \
        const int fd = REAL(name, int, int, const char *, int, ...)(folder, path, flags, mode);                        \
        return mine ? opened(fd) : fd;                                                                                 \
    }
OPENS_AT(openat)
OPENS_AT(openat64)

#define FOPENS(name)                                                                                                   \
    FILE *name(const char *path, const char *mode)                                                                     \
    {                                                                                                                  \
        const int mine = is_ours(path);                                                                                \
        if (mine && fails(OPEN))                                                                                       \
            return NULL;                                                                                               \
        FILE *file = REAL(name, FILE *, const char *, const char *)(path, mode);                                       \
        if (mine && file)                                                                                              \
            opened(fileno(file));                                                                                      \
        return file;                                                                                                   \
    }
FILE *fopen(const char *path, const char *mode);
FILE *fopen64(const char *path, const char *mode);
FOPENS(fopen)
FOPENS(fopen64)

ssize_t read(int fd, void *data, size_t bytes)
{
    return is_fd(fd) && fails(READ) ? -1 : REAL(read, ssize_t, int, void *, size_t)(fd, data, bytes);
}

ssize_t write(int fd, const void *data, size_t bytes)
{
    return is_fd(fd) && fails(WRITE) ? -1 : REAL(write, ssize_t, int, const void *, size_t)(fd, data, bytes);
}

size_t fwrite(const void *data, size_t size, size_t count, FILE *file)
{
    return is_fd(fileno(file)) && fails(WRITE)
               ? 0
               : REAL(fwrite, size_t, const void *, size_t, size_t, FILE *)(data, size, count, file);
}

size_t fread(void *data, size_t size, size_t count, FILE *file)
{
    return is_fd(fileno(file)) && fails(READ)
               ? 0
               : REAL(fread, size_t, void *, size_t, size_t, FILE *)(data, size, count, file);
}

int fsync(int fd)
{
    return is_fd(fd) && fails(FSYNC) ? -1 : REAL(fsync, int, int)(fd);
}

int rename(const char *from, const char *to)
{
    return is_ours(to) && fails(RENAME) ? -1 : REAL(rename, int, const char *, const char *)(from, to);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    const int mine = to_folder == AT_FDCWD ? is_ours(to) : is_fd(to_folder);
    return mine && fails(RENAME)
               ? -1
               : REAL(renameat, int, int, const char *, int, const char *)(from_folder, from, to_folder, to);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    const int mine = to_folder == AT_FDCWD ? is_ours(to) : is_fd(to_folder);
    return mine && fails(RENAME)
               ? -1
               : REAL(linkat, int, int, const char *, int, const char *, int)(from_folder, from, to_folder, to, flags);
}

int dup(int fd)
{
    const int copy = REAL(dup, int, int)(fd);
    return is_fd(fd) ? opened(copy) : copy;
}

// The descriptor is closed either way, as Linux does.
int close(int fd)
{
    const int mine = is_fd(fd);
    if (mine)
        ours[fd] = 0;
    const int failed = mine && fails(CLOSE), error = errno, status = REAL(close, int, int)(fd);
    if (failed)
        errno = error;
    return failed ? -1 : status;
}

int fclose(FILE *file)
{
    const int fd = fileno(file), mine = is_fd(fd);
    if (mine)
        ours[fd] = 0;
    const int failed = mine && fails(CLOSE), error = errno, status = REAL(fclose, int, FILE *)(file);
    if (failed)
        errno = error;
    return failed ? EOF : status;
}

void *mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    return is_fd(fd) && fails(MMAP) ? MAP_FAILED
                                    : REAL(mmap, void *, void *, size_t, int, int, int,
                                           off_t)(address, bytes, protection, flags, fd, offset);
}

__attribute__((destructor)) static void counts_write(void)
{
    const char *path = getenv("WEFT_IO_COUNT");
    FILE *file = path ? REAL(fopen, FILE *, const char *, const char *)(path, "w") : NULL;
    for (int i = 0; file && i < CALLS; i++)
        fprintf(file, "%s %d\n", names[i], counts[i]);
    if (file)
        REAL(fclose, int, FILE *)(file);
}
