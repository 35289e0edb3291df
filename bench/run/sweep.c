// SPDX-License-Identifier: Apache-2.0
// Runs every point of an operation's tuning axes and prints them as tables.
#include "sweep.h"
#include "block.h"
#include "point.h"
#include "host/common/name.h"
#include "host/common/progress.h"
#include "table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void cell_print(FILE *out, double ms, int noisy, int best)
{
    char text[24], cell[28];
    snprintf(cell, sizeof cell, "%s%s", isfinite(ms) ? bench_ms_text(text, ms) : "-", best ? "*" : noisy ? "!" : " ");
    fprintf(out, " %10s", cell);
}

// Point (row * columns + column) * rest + r is at value `row` of axis 0 and `column` of axis 1.
static void tables_print(FILE *out, const struct bench_case *c, const struct bench_axes *axes, const double *ms,
                         const char *noisy, int points)
{
    const struct weft__tunable *const *axis = axes->axis;
    const int naxes = axes->count;
    int rows = bench_axis_length(axis[0]), columns = naxes > 1 ? bench_axis_length(axis[1]) : 1,
        rest = points / rows / columns;
    int best = -1, marked = 0;
    for (int p = 0; p < points; p++)
        if (isfinite(ms[p]) && (best < 0 || ms[p] < ms[best]))
            best = p;
    for (int r = 0; r < rest; r++) {
        fprintf(out, "\n%s %s", c->op->name, c->algo);
        if (c->matrix)
            fprintf(out, " of %s", bench_text_line(c->matrix).text);
        fprintf(out, " on %s, median ms", c->device ? c->device->info.name : "the host");
        for (int x = 2; x < naxes; x++)
            fprintf(out, ", %s %d", axis[x]->name, bench_point_value(axes, x, r));
        fprintf(out, "\n  %8s", axis[0]->name);
        if (naxes > 1)
            fprintf(out, " | %s\n  %8s", axis[1]->name, "");
        for (int column = 0; naxes > 1 && column < columns; column++)
            fprintf(out, " %9d ", axis[1]->sweep[column]);
        for (int row = 0; row < rows; row++) {
            fprintf(out, "\n  %8d", axis[0]->sweep[row]);
            for (int column = 0; column < columns; column++) {
                int p = (row * columns + column) * rest + r;
                cell_print(out, ms[p], noisy[p], p == best);
                marked |= noisy[p];
            }
        }
        putc('\n', out);
    }
    if (best < 0) {
        fputs("no point could be run\n", out);
        return;
    }
    fputs("best:", out);
    for (int x = 0; x < naxes; x++)
        fprintf(out, "%s %s %d", x ? "," : "", axis[x]->name, bench_point_value(axes, x, best));
    char text[24];
    fprintf(out, ": %s ms%s\n", bench_ms_text(text, ms[best]), noisy[best] ? " !" : "");
    if (marked)
        fputs(BENCH_NOISE_TEXT "\n", out);
    fflush(out);
}

void bench_sweep(FILE *out, const struct bench_case *c, void (*emit)(void *arg, struct bench_result *result), void *arg)
{
    struct bench_axes axes;
    bench_axes_find(&axes, c, 0);
    int points = bench_axes_points(&axes);
    if (!axes.count) {
        if (out)
            fprintf(out, "\n%s %s has no tuning axes %s\n", c->op->name, c->algo, c->device ? "here" : "on the host");
        return;
    }
    double *ms = malloc((size_t)points * sizeof *ms);
    char *noisy = calloc((size_t)points, 1);
    if (!ms || !noisy) {
        bench_complain("out of host memory for a sweep");
        points = 0;
    }
    for (int p = 0; p < points; p++) {
        struct bench_result result;
        int value[BENCH_AXES_MAX];
        for (int x = 0; x < axes.count; x++)
            value[x] = bench_point_value(&axes, x, p);
        bench_progress_begin("%s %s: point %d of %d", c->op->name, c->algo, p + 1, points);
        ms[p] = bench_point_run(&result, c, &axes, value);
        bench_progress_end();
        noisy[p] = result.outcome == BENCH_DONE && bench_noisy(result.record.noise);
        emit(arg, &result);
    }
    if (out && points)
        tables_print(out, c, &axes, ms, noisy, points);
    free(ms);
    free(noisy);
}
