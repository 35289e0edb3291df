// SPDX-License-Identifier: Apache-2.0
// Points of tuning axes, numbered as the digits of a number whose bases are the lengths of the axes.
#include "point.h"

#include <math.h>
#include <string.h>

static int pinned(const struct bench_case *c, const char *name)
{
    for (int i = 0; i < c->ntune; i++)
        if (!strcmp(c->tune[i].name, name))
            return 1;
    return 0;
}

void bench_axes_find(struct bench_axes *out, const struct bench_case *c, int found)
{
    const struct weft__tunables *set = bench_case_tunables(c);
    out->count = 0;
    for (size_t i = 0; set && i < set->count && out->count < BENCH_AXES_MAX; i++)
        if (set->list[i].sweep[0] && (!found || set->list[i].kept == WEFT__KEPT_FOUND) && !pinned(c, set->list[i].name))
            out->axis[out->count++] = &set->list[i];
}

int bench_axis_length(const struct weft__tunable *axis)
{
    int length = 0;
    while (length < WEFT__TUNABLE_SWEEP && axis->sweep[length])
        length++;
    return length;
}

int bench_axes_points(const struct bench_axes *axes)
{
    int points = 1;
    for (int x = 0; x < axes->count; x++)
        points *= bench_axis_length(axes->axis[x]);
    return points;
}

int bench_point_value(const struct bench_axes *axes, int x, int point)
{
    for (int i = axes->count - 1; i > x; i--)
        point /= bench_axis_length(axes->axis[i]);
    return axes->axis[x]->sweep[point % bench_axis_length(axes->axis[x])];
}

double bench_point_run(struct bench_result *out, const struct bench_case *c, const struct bench_axes *axes,
                       const int *value)
{
    struct bench_case point = *c;
    for (int x = 0; x < axes->count; x++)
        if (value[x]) {
            point.tune[point.ntune].name = axes->axis[x]->name;
            point.tune[point.ntune++].value = value[x];
        }
    bench_case_run(out, &point);
    return out->outcome == BENCH_DONE ? out->record.median_ms : NAN;
}
