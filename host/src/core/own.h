// SPDX-License-Identifier: Apache-2.0
// Files that decide what the process executes: taken only where nobody but the effective user can have written them.
#pragma once

#include <string.h>

// The last of the characters of `path` that separate folders; NULL: there is none.
static inline char *weft__path_slash(const char *path)
{
    char *last = strrchr(path, '/');
#ifdef _WIN32
    char *other = strrchr(path, '\\');
    last = !last || (other && other > last) ? other : last;
#endif
    return last;
}

// The folder that the environment's variable `name` holds: $XDG_CACHE_HOME, $HOME and the like. NULL: it is not set, or no absolute path,
// which by the XDG Base Directory Specification is as if it were not set.
const char *weft__own_base(const char *name);
// Descriptor of the folder `path`, or of the file `name` in the folder `folder`, for reading; the caller closes it. -1: it
// is not there (*why NULL), or it is not the user's own and *why says so: no folder or regular file, a link, another
// user's, writable by group or others. What is checked is what was opened; a FIFO or device does not block.
int weft__own_folder(const char *path, const char **why);
int weft__own_file(int folder, const char *name, const char **why);
// The same of a file by its path, whose folder is checked first.
int weft__own_path(const char *path, const char **why);
// Make the folder `path` and those above it that are missing, for the user alone. 0, or the errno of the first that was not made;
// weft__own_folder says whether it is there, since another may have made it.
int weft__own_folder_make(const char *path);
