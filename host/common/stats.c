// SPDX-License-Identifier: Apache-2.0
// Samples, their quartiles, and the rules that say when to stop and which of two times is less.
#include "host/common/stats.h"

#include <math.h>
#include <stdlib.h>

#define SAMPLES_MIN 10
#define MIN_S       0.5
#define SLOW_S      15.0
#define SAMPLES_MAX 100000
#define ERROR_MAX   0.01
#define LOOKS_MAX   5
#define LOOKS_AGREE 1.1
#define LOOKS_MS    300
#define PAUSE_MS    8 // before the second look; twice as long before each further one

int bench_samples_add(struct bench_samples *samples, double ms)
{
    if (samples->count == samples->room) {
        size_t room = samples->room ? 2 * samples->room : 64;
        double *grown = realloc(samples->ms, room * sizeof *grown);
        if (!grown)
            return 0;
        samples->ms = grown;
        samples->room = room;
    }
    samples->ms[samples->count++] = ms;
    return 1;
}

void bench_samples_free(struct bench_samples *samples)
{
    free(samples->ms);
    *samples = (struct bench_samples){0};
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Value a fraction `q` of the way through sorted values, linear between two.
static double quantile(const double *sorted, size_t count, double q)
{
    double at = q * (double)(count - 1);
    size_t low = (size_t)at;
    size_t high = low + 1 < count ? low + 1 : low;
    return sorted[low] + (at - (double)low) * (sorted[high] - sorted[low]);
}

struct bench_stats bench_stats_of(struct bench_samples *samples)
{
    qsort(samples->ms, samples->count, sizeof *samples->ms, ascending);
    const double *s = samples->ms;
    size_t count = samples->count;
    struct bench_stats out = {.median = quantile(s, count, 0.5),
                              .min = s[0],
                              .max = s[count - 1],
                              .low = quantile(s, count, 0.25),
                              .high = quantile(s, count, 0.75)};
    if (out.median > 0)
        out.noise = (out.high - out.low) / out.median;
    return out;
}

const char *bench_stop_reason(const struct bench_stop *stop, struct bench_samples *samples, double elapsed_ms)
{
    size_t count = samples->count;
    double elapsed_s = elapsed_ms * 1e-3;
    if (stop->reps > 0)
        return count >= (size_t)stop->reps ? "reps" : NULL;
    if (count >= SAMPLES_MIN && stop->min_s > 0 && elapsed_s >= stop->min_s)
        return "min-time";
    double slow_s = stop->min_s > SLOW_S ? stop->min_s : SLOW_S;
    if ((count >= 3 && elapsed_s >= slow_s) || (count && elapsed_s >= 4 * slow_s))
        return "time-limit";
    if (count >= SAMPLES_MAX && stop->min_s <= 0)
        return "many";
    if (count < SAMPLES_MIN || count < samples->look || stop->min_s > 0 || elapsed_s < MIN_S)
        return NULL;
    // Of a normal distribution the quartiles are 1.349 deviations apart, and the error of the median is 1.253
    // deviations over the root of the count.
    samples->look = count + count / 8 + 1;
    return 1.253 / 1.349 * bench_stats_of(samples).noise / sqrt((double)count) <= ERROR_MAX ? "settled" : NULL;
}

const char *const bench_verdict_names[] = {"faster", "slower", "unclear"};

enum bench_verdict bench_judge(const struct bench_time *a, const struct bench_time *b, double drift)
{
    const double least = fmax(drift, 1.01);
    if (b->high < a->low && b->ms * least < a->ms)
        return BENCH_FASTER;
    if (b->low > a->high && b->ms > a->ms * least)
        return BENCH_SLOWER;
    return BENCH_UNCLEAR;
}

void bench_looks_add(struct bench_looks *looks, double ms)
{
    const double least = looks->count++ ? looks->least : INFINITY, next = looks->count > 2 ? looks->next : INFINITY;
    looks->next = fmin(next, fmax(least, ms));
    looks->least = fmin(least, ms);
}

int bench_looks_pause(const struct bench_looks *looks, double elapsed_ms)
{
    if (looks->count < 2)
        return looks->count ? PAUSE_MS : 0;
    const int done = looks->count >= LOOKS_MAX || elapsed_ms > LOOKS_MS || looks->next <= LOOKS_AGREE * looks->least;
    return done ? -1 : PAUSE_MS << (looks->count - 1);
}
