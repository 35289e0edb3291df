// SPDX-License-Identifier: Apache-2.0
// Jensen-Shannon distance (J. Lin, IEEE Trans. Information Theory 37(1), 1991) and a bootstrap of it.
#include "host/src/core/check.h"
#include "host/src/primitive/histogram_sum.h"
#include "host/src/core/error.h"
#include "host/src/core/random.h"
#include "host/src/core/threads.h"

#include <math.h>
#include <stdlib.h>
#include <weft/measure.h>

// A count below 0 counts as 0.
static double positive(int64_t count)
{
    return count > 0 ? (double)count : 0;
}

double weft_jensen_shannon(const int64_t *a, const int64_t *b, int64_t buckets)
{
    if (weft__histogram_check(NULL, a, buckets, "a") || weft__histogram_check(NULL, b, buckets, "b"))
        return 0;
    const double sum_a = weft__histogram_sum(a, buckets), sum_b = weft__histogram_sum(b, buckets);
    double divergence = 0;
    if (sum_a == 0 || sum_b == 0)
        return sum_a > 0 || sum_b > 0;
    for (int64_t i = 0; i < buckets; i++) {
        double p = positive(a[i]) / sum_a, q = positive(b[i]) / sum_b, mean = (p + q) / 2;
        double from_p = p > 0 ? p * log2(p / mean) : 0, from_q = q > 0 ? q * log2(q / mean) : 0;
        divergence += (from_p + from_q) / 2;
    }
    return sqrt(divergence < 0 ? 0 : divergence > 1 ? 1 : divergence);
}

struct source {
    uint64_t key, counter;
};

// Uniform in (0, 1).
static double unit(struct source *s)
{
    return ((double)(weft__random_draw(s->key, s->counter++) >> 11) + 0.5) * 0x1p-53;
}

#define NORMAL_FROM 64 // a Poisson variable of a larger mean is drawn as a normal one, rounded

static int64_t poisson(struct source *s, double mean)
{
    if (mean <= 0)
        return 0;
    if (mean >= NORMAL_FROM) {
        double normal = sqrt(-2 * log(unit(s))) * cos(6.283185307179586 * unit(s));
        double x = floor(mean + sqrt(mean) * normal + 0.5);
        return x >= 0x1p63 ? INT64_MAX : x > 0 ? (int64_t)x : 0;
    }
    double bound = exp(-mean), product = unit(s);
    int64_t k = 0;
    for (; product > bound; k++)
        product *= unit(s);
    return k;
}

struct bootstrap {
    const int64_t *a, *b;
    int64_t buckets;
    double sum_a, sum_b;
    uint64_t seed;
};

// One draw of both histograms, around themselves or (joint) around their common distribution. `draw` holds 2*buckets.
static double trial_run(const struct bootstrap *s, int trial, int joint, int64_t *draw)
{
    struct source source = {weft__random_key(weft__random_key(s->seed, 32 + (uint64_t)joint), (uint64_t)trial), 0};
    double share = s->sum_a / (s->sum_a + s->sum_b);
    for (int64_t i = 0; i < s->buckets; i++) {
        double both = (double)s->a[i] + (double)s->b[i];
        draw[i] = poisson(&source, joint ? both * share : (double)s->a[i]);
        draw[s->buckets + i] = poisson(&source, joint ? both * (1 - share) : (double)s->b[i]);
    }
    return weft_jensen_shannon(draw, draw + s->buckets, s->buckets);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, int count, double at)
{
    return sorted[(int)(at * (count - 1) + 0.5)];
}

struct trials {
    const struct bootstrap *s;
    int trials;
    double *out;
    struct weft__loop loop;
};

static void trials_work(void *arg)
{
    struct trials *all = arg;
    int64_t *draw = malloc(weft__max(weft__mul((size_t)all->s->buckets, 2 * sizeof *draw), 1)), t, end;
    while (draw && weft__next(&all->loop, 1, &t, &end))
        all->out[t] = trial_run(all->s, (int)(t % all->trials), (int)(t / all->trials), draw);
    free(draw);
}

// Sorted distances of all trials: apart in out[0 .. trials-1], joint behind them.
static weft_status trials_run(const struct bootstrap *s, int trials, double *out)
{
    const int64_t work = s->buckets < INT64_MAX / trials ? s->buckets * trials : INT64_MAX;
    struct trials all = {.s = s, .trials = trials, .out = out, .loop = {.count = 2 * (int64_t)trials}};
    struct weft__team team;
    weft__team_begin(&team, 0);
    weft__team_run(&team, weft__team_threads(&team, work), trials_work, &all);
    weft__team_end(&team);
    if (!weft__loop_done(&all.loop))
        return WEFT_ENOMEM;
    qsort(out, (size_t)trials, sizeof *out, ascending);
    qsort(out + trials, (size_t)trials, sizeof *out, ascending);
    return WEFT_OK;
}

static weft_status arguments_check(const int64_t *a, const int64_t *b, int64_t buckets,
                                   const struct weft_distance_params *p, struct weft_error *err)
{
    weft_status status = weft__histogram_check(err, a, buckets, "a");
    if (!status)
        status = weft__histogram_check(err, b, buckets, "b");
    if (status)
        return status;
    if (p->trials < 0 || p->trials > 1000000)
        return weft__error(err, WEFT_EINVAL, "%d trials: expected 1 .. 1000000, or 0 for the default", p->trials);
    if (!(p->level >= 0 && p->level < 1))
        return weft__error(err, WEFT_EINVAL, "level %g: expected a number above 0 and below 1", p->level);
    for (int64_t i = 0; i < buckets; i++)
        if (a[i] < 0 || b[i] < 0)
            return weft__error(err, WEFT_EINVAL, "bucket %lld counts less than nothing", (long long)i);
    return WEFT_OK;
}

// The draws lie above the distance they are drawn around, often with all of their quantiles; without that bias, around it.
static void interval_set(struct weft_distance *out, const double *sample, int trials)
{
    const double middle = quantile(sample, trials, 0.5);
    const double below = middle - quantile(sample, trials, (1 - out->level) / 2);
    const double above = quantile(sample, trials, (1 + out->level) / 2) - middle;
    out->bias = middle - out->distance;
    out->low = fmax(out->distance - below, 0);
    out->high = fmin(out->distance + above, 1);
}

weft_status weft_distance(struct weft_distance *out, const int64_t *a, const int64_t *b, int64_t buckets,
                          const struct weft_distance_params *params, struct weft_error *err)
{
    static const struct weft_distance_params defaults;
    const struct weft_distance_params *p = params ? params : &defaults;
    weft_status status = WEFT__NEED(err, {"out", out});
    if (status)
        return status;
    *out = (struct weft_distance){0};
    status = arguments_check(a, b, buckets, p, err);
    if (status)
        return status;
    struct bootstrap s = {.a = a, .b = b, .buckets = buckets, .seed = p->seed};
    s.sum_a = weft__histogram_sum(a, buckets);
    s.sum_b = weft__histogram_sum(b, buckets);
    int trials = p->trials ? p->trials : 200;
    double level = p->level > 0 ? p->level : 0.95, *sample = malloc((size_t)trials * 2 * sizeof *sample);
    status = sample ? WEFT_OK : WEFT_ENOMEM;
    if (!status && s.sum_a + s.sum_b > 0)
        status = trials_run(&s, trials, sample);
    else
        for (int t = 0; sample && t < 2 * trials; t++)
            sample[t] = 0;
    if (!status) {
        int as_large = 0;
        double distance = weft_jensen_shannon(a, b, buckets);
        for (int t = trials; t < 2 * trials; t++)
            as_large += sample[t] >= distance;
        *out = (struct weft_distance){.distance = distance,
                                      .chance = quantile(sample + trials, trials, level),
                                      .p = (1.0 + as_large) / (1.0 + trials),
                                      .trials = trials,
                                      .level = level};
        interval_set(out, sample, trials);
    }
    free(sample);
    return status ? weft__error(err, status, "%d trials of %lld buckets: %s", trials, (long long)buckets,
                                weft_status_text(status))
                  : WEFT_OK;
}
