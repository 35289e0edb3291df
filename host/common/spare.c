// SPDX-License-Identifier: Apache-2.0
// Tells matrices from what results may replace.
#include "host/common/spare.h"

#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

// As the forms begin that weft reads (docs/input.md); of the text forms Rutherford-Boeing has no such sign.
static int begins_as_matrix(const char *path)
{
    static const char *const signs[] = {"%%MatrixMarket", "\x1f\x8b", "PK\3\4", "weft matrix"};
    char text[16] = "";
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t bytes = fd < 0 ? 0 : read(fd, text, sizeof text);
    if (fd >= 0)
        close(fd);
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (bytes >= (ssize_t)strlen(signs[i]) && !strncasecmp(text, signs[i], strlen(signs[i])))
            return 1;
    return 0;
}

static int is_named_as_matrix(const char *path)
{
    static const char *const ends[] = {".mtx", ".mtx.gz", ".npz", ".rb", ".weft", ".tar", ".tgz"};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const size_t length = strlen(name);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const size_t end = strlen(ends[i]);
        if (length > end && !strcasecmp(name + length - end, ends[i]))
            return 1;
    }
    // Files of the Harwell-Boeing collection end in their type: .rua, .psa.
    const char *type = length > 4 && name[length - 4] == '.' ? name + length - 3 : NULL;
    return strstr(name, ".tar.") || (type && strchr("rcpiq", type[0]) && strchr("suhzr", type[1]) && type[2] == 'a');
}

int bench_spare_matrix(const char *path)
{
    struct stat about;
    if (stat(path, &about) || !S_ISREG(about.st_mode) || !about.st_size)
        return 0;
    return is_named_as_matrix(path) || begins_as_matrix(path);
}
