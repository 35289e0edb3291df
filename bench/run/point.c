// SPDX-License-Identifier: Apache-2.0
// Points of tuning axes, numbered as the digits of a number whose bases are the lengths of the axes.
#include "point.h"

#include <math.h>

void bench_axes_find(struct bench_axes *out, const struct bench_case *c, const char *only)
{
    out->count = 0;
    for (const struct bench_axis *x = bench_case_axes(c); x && x->name && out->count < BENCH_AXES_MAX; x++)
        if (!only || bench_list_has(only, x->name))
            out->axis[out->count++] = x;
}

int bench_axis_length(const struct bench_axis *axis)
{
    int length = 0;
    while (length < 16 && axis->values[length])
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
    return axes->axis[x]->values[point % bench_axis_length(axes->axis[x])];
}

double bench_point_run(struct bench_result *out, const struct bench_case *c, const struct bench_axes *axes,
                       const int *value)
{
    struct bench_case point = *c;
    point.ntune = 0;
    for (int x = 0; x < axes->count; x++)
        if (value[x]) {
            point.tune[point.ntune].name = axes->axis[x]->name;
            point.tune[point.ntune++].value = value[x];
        }
    bench_case_run(out, &point);
    return out->outcome == BENCH_DONE ? out->record.median_ms : NAN;
}
