// SPDX-License-Identifier: Apache-2.0
// Writes files whole or not at all, by a part beside the place that takes it at the end: core/out.c for Windows.
#include "host/src/core/out.h"

#include <windows.h>

#include <errno.h>

// Its path without links into out->path where a file is there, the error otherwise. *fd: a device, opened; else -1.
static int place_find(struct weft__out *out, const char *path, int *fd)
{
    char name[4096];
    struct stat about;
    *fd = open(path, O_WRONLY | O_CLOEXEC);
    if (*fd < 0 && errno == ENOENT) {
        out->path = _fullpath(NULL, path, 0);
        return out->path ? 0 : ENOENT;
    }
    if (*fd < 0 || fstat(*fd, &about) || S_ISDIR(about.st_mode)) {
        const DWORD is = GetFileAttributesA(path);
        const int error = is != INVALID_FILE_ATTRIBUTES && is & FILE_ATTRIBUTE_DIRECTORY ? EISDIR : errno;
        if (*fd >= 0)
            close(*fd);
        return error;
    }
    if (!S_ISREG(about.st_mode))
        return 0;
    const DWORD length =
        GetFinalPathNameByHandleA((HANDLE)_get_osfhandle(*fd), name, sizeof name, FILE_NAME_NORMALIZED);
    close(*fd);
    *fd = -1;
    out->path = length && length < sizeof name ? strdup(name) : _fullpath(NULL, path, 0);
    return out->path ? 0 : ENOMEM;
}

static int part_open(struct weft__out *out)
{
    do {
        if (!weft__part_name(&out->part, out->path))
            return ENOMEM;
        out->fd = open(out->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (out->fd < 0 && errno == EEXIST);
    if (out->fd < 0)
        return errno;
    weft__part_note(out->part);
    return 0;
}

int weft__out_open(struct weft__out *out, const char *path, int fresh)
{
    int device;
    *out = (struct weft__out){.fd = -1, .fresh = fresh};
    int error = place_find(out, path, &device);
    if (!error && device >= 0)
        out->fd = device;
    else if (!error)
        error = part_open(out);
    out->open = out->fd >= 0;
    if (error)
        weft__out_close(out);
    return error;
}

int weft__out_stream(struct weft__out *out, int fd)
{
    *out = (struct weft__out){.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0)};
    out->open = out->fd >= 0;
    return out->open ? 0 : errno;
}

int weft__out_write(struct weft__out *out, const void *data, size_t bytes)
{
    const char *from = data;
    while (bytes && !out->error) {
        const int done = write(out->fd, from, (unsigned)(bytes < 1 << 30 ? bytes : 1 << 30));
        if (done < 0) {
            out->error = errno;
        } else {
            from += done;
            bytes -= (size_t)done;
        }
    }
    return out->error;
}

FILE *weft__out_file(struct weft__out *out)
{
    const int copy = out->file ? -1 : fcntl(out->fd, F_DUPFD_CLOEXEC, 0);
    if (copy >= 0 && !(out->file = fdopen(copy, "wb")))
        close(copy);
    return out->file;
}

int weft__out_flush(struct weft__out *out)
{
    if (out->file && fflush(out->file) && !out->error)
        out->error = errno ? errno : EIO;
    return out->error;
}

int weft__out_commit(struct weft__out *out)
{
    if (weft__out_flush(out) || !out->path || out->done)
        return out->error;
    if (!MoveFileExA(out->part, out->path, out->fresh ? 0 : MOVEFILE_REPLACE_EXISTING))
        out->error = GetLastError() == ERROR_ALREADY_EXISTS ? EEXIST : EACCES;
    if (!out->error) {
        out->done = 1;
        weft__part_forget(&out->part);
    }
    return out->error;
}

int weft__out_close(struct weft__out *out)
{
    weft__out_flush(out);
    if (out->file && fclose(out->file) && !out->error)
        out->error = errno;
    if (out->open && close(out->fd) && !out->error)
        out->error = errno;
    if (out->part)
        unlink(out->part);
    weft__part_forget(&out->part);
    free(out->path);
    const int error = out->error;
    *out = (struct weft__out){.fd = -1};
    return error;
}
