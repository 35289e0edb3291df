// SPDX-License-Identifier: Apache-2.0
// Runs every point of an operation's tuning axes and prints them as tables.
#include "sweep.h"
#include "block.h"
#include "host/common/progress.h"
#include "table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int axis_length(const struct bench_axis *axis)
{
    int length = 0;
    while (length < 16 && axis->values[length])
        length++;
    return length;
}

// Value of axis `x` at point number `point`, the first axis changing slowest.
static int value_at(const struct bench_axis *axes, int naxes, int x, int point)
{
    for (int i = naxes - 1; i > x; i--)
        point /= axis_length(&axes[i]);
    return axes[x].values[point % axis_length(&axes[x])];
}

static void cell_print(FILE *out, double ms, int noisy, int best)
{
    char text[24], cell[28];
    snprintf(cell, sizeof cell, "%s%s", isfinite(ms) ? bench_ms_text(text, ms) : "-", best ? "*" : noisy ? "!" : " ");
    fprintf(out, " %10s", cell);
}

// Point (row * columns + column) * rest + r is at value `row` of axis 0 and `column` of axis 1.
static void tables_print(FILE *out, const struct bench_case *c, const struct bench_axis *axes, int naxes,
                         const double *ms, const char *noisy, int points)
{
    int rows = axis_length(&axes[0]), columns = naxes > 1 ? axis_length(&axes[1]) : 1, rest = points / rows / columns;
    int best = -1, marked = 0;
    for (int p = 0; p < points; p++)
        if (isfinite(ms[p]) && (best < 0 || ms[p] < ms[best]))
            best = p;
    for (int r = 0; r < rest; r++) {
        fprintf(out, "\n%s %s", c->op->name, c->algo);
        if (c->matrix)
            fprintf(out, " of %s", c->matrix);
        fprintf(out, " on %s, median ms", c->device ? c->device->info.name : "the host");
        for (int x = 2; x < naxes; x++)
            fprintf(out, ", %s %d", axes[x].name, value_at(axes, naxes, x, r));
        fprintf(out, "\n  %8s", axes[0].name);
        if (naxes > 1)
            fprintf(out, " | %s\n  %8s", axes[1].name, "");
        for (int column = 0; naxes > 1 && column < columns; column++)
            fprintf(out, " %9d ", axes[1].values[column]);
        for (int row = 0; row < rows; row++) {
            fprintf(out, "\n  %8d", axes[0].values[row]);
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
        fprintf(out, "%s %s %d", x ? "," : "", axes[x].name, value_at(axes, naxes, x, best));
    char text[24];
    fprintf(out, ": %s ms%s\n", bench_ms_text(text, ms[best]), noisy[best] ? " !" : "");
    if (marked)
        fputs(BENCH_NOISE_TEXT "\n", out);
    fflush(out);
}

void bench_sweep(FILE *out, const struct bench_case *c, void (*emit)(void *arg, struct bench_result *result), void *arg)
{
    const struct bench_axis *axes = bench_case_axes(c);
    int naxes = 0, points = 1;
    for (; axes && axes[naxes].name && naxes < BENCH_AXES_MAX; naxes++)
        points *= axis_length(&axes[naxes]);
    if (!naxes) {
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
        struct bench_case point = *c;
        struct bench_result result;
        point.ntune = naxes;
        for (int x = 0; x < naxes; x++) {
            point.tune[x].name = axes[x].name;
            point.tune[x].value = value_at(axes, naxes, x, p);
        }
        bench_progress_begin("%s %s: point %d of %d", c->op->name, c->algo, p + 1, points);
        bench_case_run(&result, &point);
        bench_progress_end();
        ms[p] = result.outcome == BENCH_DONE ? result.record.median_ms : NAN;
        noisy[p] = result.outcome == BENCH_DONE && result.record.noise > BENCH_NOISE_MAX;
        emit(arg, &result);
    }
    if (out && points)
        tables_print(out, c, axes, naxes, ms, noisy, points);
    free(ms);
    free(noisy);
}
