// SPDX-License-Identifier: Apache-2.0
// Pictures in a build without cairo: there are none, and it says so.
#include "picture.h"
#include "tool.h"

int picture_check(const char *path, int force)
{
    (void)path, (void)force;
    tool_complain("this build draws no pictures: it has no cairo (-Dcairo=enabled)");
    return TOOL_USAGE;
}

void picture_spy_buckets(int64_t *rows, int64_t *cols, int size, int64_t m, int64_t n)
{
    (void)size, (void)m, (void)n;
    *rows = *cols = 1;
}

void picture_map_buckets(int64_t *rows, int64_t *cols, int size, int64_t m, int64_t n)
{
    picture_spy_buckets(rows, cols, size, m, n);
}

int picture_spy(const struct picture *p, const struct weft_density *d)
{
    (void)d;
    return picture_check(p->path, p->force);
}

int picture_entropy(const struct picture *p, const struct weft_density *d, const double *const parts[3])
{
    (void)d, (void)parts;
    return picture_check(p->path, p->force);
}
