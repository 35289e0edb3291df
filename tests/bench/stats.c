// SPDX-License-Identifier: Apache-2.0
// Statistics and the stop rule of the bench on samples with known answers.
#include "host/common/stats.h"
#include "tests/support/tap.h"

#include <math.h>
#include <string.h>

static int near(double got, double want)
{
    return fabs(got - want) <= 1e-12 * fabs(want);
}

static void add(struct bench_samples *samples, double ms, int times)
{
    for (int i = 0; i < times; i++)
        if (!bench_samples_add(samples, ms))
            tap_bail("out of memory");
}

static void test_stats(void)
{
    struct bench_samples s = {0};
    add(&s, 5, 1);
    struct bench_stats one = bench_stats_of(&s);
    tap_ok(near(one.median, 5) && near(one.min, 5) && near(one.max, 5) && one.noise == 0, "one sample");
    const double more[] = {1, 9, 2, 4}; // with the 5: quartiles 2, 4, 5
    for (int i = 0; i < 4; i++)
        add(&s, more[i], 1);
    struct bench_stats five = bench_stats_of(&s);
    tap_ok(near(five.median, 4) && near(five.min, 1) && near(five.max, 9) && near(five.low, 2) && near(five.high, 5) &&
               near(five.noise, (5.0 - 2.0) / 4.0),
           "five samples");
    add(&s, 6, 1); // 1 2 4 5 6 9: quartiles between two
    tap_ok(near(bench_stats_of(&s).median, 4.5) && near(bench_stats_of(&s).noise, (5.75 - 2.5) / 4.5),
           "an even number of samples");
    bench_samples_free(&s);
    tap_ok(!s.ms && !s.count, "freed");
}

static const char *reason(const struct bench_stop *stop, struct bench_samples *s, double elapsed_ms)
{
    const char *why = bench_stop_reason(stop, s, elapsed_ms);
    return why ? why : "go on";
}

static void test_stop(void)
{
    const struct bench_stop reps = {.reps = 3}, time = {.min_s = 2}, rule = {0};
    struct bench_samples s = {0};
    tap_is_str(reason(&reps, &s, 1e9), "go on", "reps: no sample yet");
    add(&s, 1, 3);
    tap_is_str(reason(&reps, &s, 0), "reps", "reps: as many as asked for");
    tap_is_str(reason(&time, &s, 2500), "go on", "min-time: fewer than ten samples");
    tap_is_str(reason(&rule, &s, 14999), "go on", "the rule wants ten samples");
    tap_is_str(reason(&rule, &s, 15001), "time-limit", "or three after 15 s");
    add(&s, 1, 7);
    tap_is_str(reason(&time, &s, 1999), "go on", "min-time: too early");
    tap_is_str(reason(&time, &s, 2001), "min-time", "min-time: long enough");
    tap_is_str(reason(&rule, &s, 499), "go on", "the rule wants half a second");
    tap_is_str(reason(&rule, &s, 501), "settled", "equal samples are settled");
    bench_samples_free(&s);

    // Quartiles 0.9 and 1.1, median 1 or 1.1: its relative error, 0.929*noise/sqrt(n), is below 1 % from 285 samples on.
    size_t settled = 0;
    for (int i = 0; i < 1000 && !settled; i++) {
        add(&s, i % 2 ? 0.9 : 1.1, 1);
        if (!strcmp(reason(&rule, &s, 1000), "settled"))
            settled = s.count;
    }
    tap_ok(settled >= 285 && settled < 345 * 5 / 4, "noisy samples take longer");
    tap_note("settled after %zu", settled);
    bench_samples_free(&s);

    add(&s, 1, 1);
    tap_is_str(reason(&rule, &s, 59999), "go on", "one slow sample");
    tap_is_str(reason(&rule, &s, 60001), "time-limit", "one sample after a minute");
    for (int i = 0; i < 50000; i++) {
        add(&s, 1, 1);
        add(&s, 3, 1);
    }
    tap_is_str(reason(&rule, &s, 10), "many", "an end to samples of no length");
    bench_samples_free(&s);
}

// Looks of these times, 30 ms each: how many are taken, and which counts.
static void looks(const double *ms, int want, double least, const char *name)
{
    struct bench_looks l = {0};
    int pause, before = -1, longer = 1;
    while ((pause = bench_looks_pause(&l, 30 * l.count)) >= 0) {
        longer = longer && pause > before;
        before = pause;
        bench_looks_add(&l, ms[l.count]);
    }
    tap_ok(l.count == want && l.least == least && longer, "%s: %d looks, %g", name, l.count, l.least);
}

static void test_looks(void)
{
    looks((const double[]){1, 1.05}, 2, 1, "two that agree are enough");
    looks((const double[]){3, 1, 1.05}, 3, 1, "a slow moment at first");
    looks((const double[]){1, 3, 1.05}, 3, 1, "one in the middle");
    looks((const double[]){3, 3.2}, 2, 3, "one that lasts is not seen");
    looks((const double[]){5, 4, 3, 1, 1.05}, 5, 1, "several");
    looks((const double[]){9, 7, 5, 3, 1}, 5, 1, "never two that agree");
    struct bench_looks l = {0};
    bench_looks_add(&l, 9);
    tap_ok(bench_looks_pause(&l, 1e9) > 0, "a second look, however long the first took");
    bench_looks_add(&l, 1);
    tap_ok(bench_looks_pause(&l, 301) < 0 && bench_looks_pause(&l, 299) > 0, "no third one after 0.3 s");
}

int main(void)
{
    test_stats();
    test_stop();
    test_looks();
    return tap_done();
}
