// SPDX-License-Identifier: Apache-2.0
// Writes files whole or not at all.
#include "host/src/core/out.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- the place -------------------------------------------------------------------------------------------------

static char *joined(const char *a, const char *b, const char *c)
{
    const size_t room = strlen(a) + strlen(b) + strlen(c) + 1;
    char *text = malloc(room);
    if (text)
        snprintf(text, room, "%s%s%s", a, b, c);
    else
        errno = ENOMEM;
    return text;
}

// Absolute and free of links, also of links to what is not there. NULL with errno.
static char *place_of(const char *path)
{
    char name[PATH_MAX], target[PATH_MAX], real[PATH_MAX];
    if (realpath(path, real))
        return joined(real, "", "");
    if (errno != ENOENT)
        return NULL;
    if (snprintf(name, sizeof name, "%s", path) >= (int)sizeof name) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    ssize_t length;
    for (int links = 0; (length = readlink(name, target, sizeof target - 1)) >= 0; links++) {
        char *slash = strrchr(name, '/');
        size_t folder = *target == '/' || !slash ? 0 : (size_t)(slash - name) + 1;
        target[length] = 0;
        if (links == 40 || folder + (size_t)length >= sizeof name) {
            errno = links == 40 ? ELOOP : ENAMETOOLONG;
            return NULL;
        }
        memcpy(name + folder, target, (size_t)length + 1);
    }
    char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    if (!*base || !strcmp(base, ".") || !strcmp(base, "..")) {
        errno = *name ? EISDIR : ENOENT;
        return NULL;
    }
    const char *folder = !slash ? "." : slash == name ? "/" : name;
    if (slash && slash != name)
        *slash = 0;
    return realpath(folder, real) ? joined(real[1] ? real : "", "/", base) : NULL;
}

static int same_file(const struct stat *file, int fd)
{
    struct stat other;
    return !fstat(fd, &other) && other.st_dev == file->st_dev && other.st_ino == file->st_ino;
}

// A name of a file without one; NULL: the system shows none.
static const char *nameless(char name[40], int fd)
{
    snprintf(name, 40, "/proc/self/fd/%d", fd);
    return access(name, F_OK) ? NULL : name;
}

// A file that is empty and not in its place yet: without a name, else with one beside the place. 0 or errno.
static int part_open(struct weft__out *out)
{
    char *slash = strrchr(out->path, '/'), kept = slash[1], name[40];
    slash[1] = 0;
    out->fd = open(out->path, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    slash[1] = kept;
    if (out->fd >= 0 && nameless(name, out->fd))
        return 0;
    if (out->fd >= 0)
        close(out->fd);
    do {
        if (!weft__part_name(&out->part, out->path))
            return ENOMEM;
        weft__part_note(out->part); // before it is there: a signal may come in between
        out->fd = open(out->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (out->fd < 0 && errno == EEXIST);
    if (out->fd < 0) {
        const int error = errno;
        weft__part_forget(&out->part);
        return error;
    }
    return 0;
}

// Where another file is mounted on the place, none can be renamed to it.
static int is_mounted(char *path, const struct stat *file)
{
    struct stat folder;
    char *slash = strrchr(path, '/'), kept = slash[1];
    slash[1] = 0;
    const int apart = !stat(path, &folder) && folder.st_dev != file->st_dev;
    slash[1] = kept;
    return apart;
}

// ---- the file --------------------------------------------------------------------------------------------------

int weft__out_open(struct weft__out *out, const char *path, int fresh)
{
    struct stat old;
    const int there = !stat(path, &old);
    *out = (struct weft__out){.fd = -1, .fresh = fresh};
    if (there && S_ISREG(old.st_mode) && (same_file(&old, STDOUT_FILENO) || same_file(&old, STDERR_FILENO)))
        return weft__out_stream(out, same_file(&old, STDOUT_FILENO) ? STDOUT_FILENO : STDERR_FILENO);
    if (there && !S_ISREG(old.st_mode)) {
        out->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        out->open = out->fd >= 0;
        return out->open ? 0 : errno;
    }
    if (there && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS))
        return errno;
    out->path = place_of(path);
    if (!out->path)
        return errno;
    int error = there && is_mounted(out->path, &old) ? EROFS : part_open(out);
    if (there && (error == EACCES || error == EPERM || error == EROFS)) {
        out->fd = open(out->path, O_WRONLY | O_CLOEXEC);
        out->inplace = 1;
        error = out->fd < 0 ? errno : 0;
    } else if (there && !error) {
        // Who may not give files away keeps the new one.
        const int given = old.st_uid == geteuid() || !fchown(out->fd, old.st_uid, old.st_gid);
        if (fchmod(out->fd, old.st_mode & (given ? 07777 : 0777)))
            error = errno;
    }
    out->open = out->fd >= 0;
    if (error)
        weft__out_close(out);
    return error;
}

int weft__out_stream(struct weft__out *out, int fd)
{
    *out = (struct weft__out){.fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)};
    out->open = out->fd >= 0;
    return out->open ? 0 : errno;
}

int weft__out_write(struct weft__out *out, const void *data, size_t bytes)
{
    const char *from = data;
    if (out->inplace && !out->done && !out->error) {
        out->done = 1;
        out->error = ftruncate(out->fd, 0) ? errno : 0;
    }
    out->settled &= !bytes;
    while (bytes && !out->error) {
        ssize_t done = write(out->fd, from, bytes);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0) {
            out->error = errno;
        } else {
            from += done;
            bytes -= (size_t)done;
        }
    }
    return out->error;
}

static ssize_t file_write(void *cookie, const char *data, size_t bytes)
{
    struct weft__out *out = cookie;
    if (out->fd < 0) // abandoned
        return (ssize_t)bytes;
    const int error = weft__out_write(out, data, bytes);
    errno = error ? error : errno;
    return error ? 0 : (ssize_t)bytes;
}

FILE *weft__out_file(struct weft__out *out)
{
    if (!out->file)
        out->file = fopencookie(out, "w", (cookie_io_functions_t){.write = file_write});
    return out->file;
}

int weft__out_flush(struct weft__out *out)
{
    if (out->file && fflush(out->file) && !out->error)
        out->error = errno ? errno : EIO;
    return out->error;
}

// Give the file that has no name the name of the place, or of a part where there is a file in it.
static int name_give(struct weft__out *out)
{
    char name[40];
    const char *from = nameless(name, out->fd);
    if (!from)
        return ENOSYS;
    if (!linkat(AT_FDCWD, from, AT_FDCWD, out->path, AT_SYMLINK_FOLLOW)) {
        out->done = 1;
        return 0;
    }
    while (errno == EEXIST && !out->fresh) {
        if (!weft__part_name(&out->part, out->path))
            return ENOMEM;
        weft__part_note(out->part);
        if (!linkat(AT_FDCWD, from, AT_FDCWD, out->part, AT_SYMLINK_FOLLOW))
            return 0;
        const int error = errno;
        weft__part_forget(&out->part);
        errno = error;
    }
    return errno;
}

// The file that has a name goes to its place.
static int part_move(struct weft__out *out)
{
    int good;
    if (out->fresh) {
        good = !link(out->part, out->path);                                     // fails when there is a file by now
        if (!good && (errno == EPERM || errno == ENOTSUP || errno == ENOSYS)) { // a file system without links
            good = access(out->path, F_OK) && !rename(out->part, out->path);
            errno = good ? 0 : EEXIST;
        }
        if (good)
            unlink(out->part);
    } else {
        good = !rename(out->part, out->path);
    }
    return good ? 0 : errno;
}

// Some file systems tell only at a close that what was written is lost, which is too late once the file is in its place.
static int close_try(const struct weft__out *out)
{
    const int copy = dup(out->fd);
    return copy >= 0 && close(copy) ? errno : 0;
}

int weft__out_commit(struct weft__out *out)
{
    if (weft__out_flush(out))
        return out->error;
    if (!out->path || out->done)
        return 0;
    if (!out->inplace)
        out->error = close_try(out);
    if (out->error)
        return out->error;
    if (out->inplace)
        return weft__out_write(out, "", 0);
    if (!out->part)
        out->error = name_give(out);
    if (!out->error && !out->done)
        out->error = part_move(out);
    if (!out->error) {
        out->done = out->settled = 1;
        weft__part_forget(&out->part);
    }
    return out->error;
}

int weft__out_close(struct weft__out *out)
{
    const int fd = out->fd, open = out->open;
    if (out->path && !out->done)
        out->fd = -1; // what the stream holds back goes nowhere
    weft__out_flush(out);
    if (out->file)
        fclose(out->file);
    if (open && close(fd) && !out->error && !out->settled)
        out->error = errno;
    if (out->part)
        unlink(out->part);
    weft__part_forget(&out->part);
    free(out->path);
    const int error = out->error;
    *out = (struct weft__out){.fd = -1};
    return error;
}
