// SPDX-License-Identifier: Apache-2.0
// Points of tuning axes: which there are, and running a case at one. What --sweep and --tune have in common.
#pragma once

#include "run.h"

struct bench_axes {
    const struct weft__tunable *axis[BENCH_AXES_MAX];
    int count;
};

// The axes of the case: tuning values with values to sweep and none in c->tune; nonzero `found`: those that --tune looks
// for.
void bench_axes_find(struct bench_axes *out, const struct bench_case *c, int found);
int bench_axis_length(const struct weft__tunable *axis);
// How many points they have together.
int bench_axes_points(const struct bench_axes *axes);
// Value of axis `x` at point number `point`, the first axis changing slowest.
int bench_point_value(const struct bench_axes *axes, int x, int point);
// Run the case with its own values and one for each axis, 0: its default. Gives the median in ms; NaN: there is none, see *out.
double bench_point_run(struct bench_result *out, const struct bench_case *c, const struct bench_axes *axes,
                       const int *value);
