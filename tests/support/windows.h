// SPDX-License-Identifier: Apache-2.0
// What tests of the host take from POSIX, beyond the library (host/src/windows/posix.h), and Windows lacks.
#pragma once

#include <io.h>

static inline int pipe(int ends[2])
{
    return _pipe(ends, 1 << 16, O_BINARY);
}

static inline char *mkdtemp(char *name)
{
    return _mktemp(name) && !_mkdir(name) ? name : NULL;
}

static inline int setenv(const char *name, const char *value, int over)
{
    return over || !getenv(name) ? _putenv_s(name, value) : 0;
}

static inline int unsetenv(const char *name)
{
    return _putenv_s(name, "");
}
