// SPDX-License-Identifier: Apache-2.0
// Opens files and folders only where they are the user's own.
#include "host/src/core/own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// The descriptor where it is of `kind` (S_IFDIR, S_IFREG) and the user's own, else -1 and closed.
static int own_check(int fd, mode_t kind, const char **why)
{
    struct stat about;
    *why = NULL;
    if (fd < 0) {
        if (errno != ENOENT)
            *why = errno == ELOOP     ? "a symbolic link"
                   : errno == ENOTDIR ? "no folder, or a link"
                   : errno == ENXIO   ? "no regular file"
                   : errno == EACCES  ? "permission denied"
                                      : "cannot be opened";
        return -1;
    }
    if (fstat(fd, &about))
        *why = "cannot be looked at";
    else if ((about.st_mode & S_IFMT) != kind)
        *why = kind == S_IFDIR ? "no folder" : "no regular file";
    else if (about.st_uid != geteuid())
        *why = "it belongs to another user";
    else if (about.st_mode & (S_IWGRP | S_IWOTH))
        *why = "group or others may write to it";
    if (!*why)
        return fd;
    close(fd);
    return -1;
}

const char *weft__own_base(const char *name)
{
    const char *path = secure_getenv(name);
#ifdef _WIN32
    return path && (path[0] == '/' || path[0] == '\\' || (path[0] && path[1] == ':')) ? path : NULL;
#else
    return path && path[0] == '/' ? path : NULL;
#endif
}

int weft__own_folder(const char *path, const char **why)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return own_check(fd, S_IFDIR, why);
}

int weft__own_file(int folder, const char *name, const char **why)
{
    return own_check(openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), S_IFREG, why);
}

int weft__own_path(const char *path, const char **why)
{
    char folder[4096];
    const char *slash = weft__path_slash(path);
    int length = !slash          ? snprintf(folder, sizeof folder, ".")
                 : slash == path ? snprintf(folder, sizeof folder, "/")
                                 : snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
    *why = "the path is too long";
    if (length < 0 || (size_t)length >= sizeof folder)
        return -1;
    int at = weft__own_folder(folder, why);
    if (at < 0) {
        if (*why && !strcmp(*why, "it belongs to another user"))
            *why = "its folder belongs to another user";
        else if (*why && !strcmp(*why, "group or others may write to it"))
            *why = "group or others may write to its folder";
        return -1;
    }
    int fd = weft__own_file(at, slash ? slash + 1 : path, why);
    close(at);
    return fd;
}

int weft__own_folder_make(const char *path)
{
    char part[4096];
    int length = snprintf(part, sizeof part, "%s", path), error = 0;
    if (length < 1 || (size_t)length >= sizeof part)
        return EINVAL;
    for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdir(part, 0700) && errno != EEXIST && !error)
            error = errno;
        *slash = '/';
    }
    return !mkdir(part, 0700) ? 0 : error ? error : errno;
}
