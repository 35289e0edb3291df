// SPDX-License-Identifier: Apache-2.0
// Samples of a time, when to stop taking them, and what they say.
#pragma once

#include <stddef.h>

// A time is noisy where the quartiles of its samples are apart by more than this share of the median: tables mark it.
#define BENCH_NOISE_MAX  0.25
#define BENCH_NOISE_TEXT "!: noisy, the quartiles are more than 25 % of the median apart; other work on the machine?"

// What tables mark: the distance of the quartiles over the median, as a record has it.
static inline int bench_noisy(double noise)
{
    return noise > BENCH_NOISE_MAX;
}

// A time of several samples: median and quartiles.
struct bench_time {
    double ms, low, high;
};
// Of two times b beside a; bench_verdict_names has the names.
enum bench_verdict { BENCH_FASTER, BENCH_SLOWER, BENCH_UNCLEAR, BENCH_VERDICTS };
extern const char *const bench_verdict_names[];
// The quartiles must part, and the medians by 1 % at least, and by more than the factor `drift` (1 or more) by which the machine
// itself changed; else it is unclear. Noise alone makes nothing unclear: the quartiles of noisy times part as well.
enum bench_verdict bench_judge(const struct bench_time *a, const struct bench_time *b, double drift);

// When to stop: after `reps` samples when that is given; else after at least 10 samples and min_s seconds (default
// 0.5), as soon as the standard error of the median is below one percent of it. A min_s that was asked for ends the
// sampling by itself. After 15 s three samples are enough, after 60 s one; without a min_s 100000 at any time.
struct bench_stop {
    int reps;     // 0: by time
    double min_s; // 0: default
};

struct bench_samples {
    double *ms;
    size_t count, room;
    size_t look; // count at which the spread is looked at again
};

struct bench_stats {
    double median, min, max;
    double low, high; // quartiles
    double noise;     // their distance over the median
};

// Append one sample; 0 when there is no memory.
int bench_samples_add(struct bench_samples *samples, double ms);
void bench_samples_free(struct bench_samples *samples);
// What the samples say (count > 0); sorts them.
struct bench_stats bench_stats_of(struct bench_samples *samples);
// Why to stop, or NULL: go on. elapsed_ms is the host time that sampling has taken.
const char *bench_stop_reason(const struct bench_stop *stop, struct bench_samples *samples, double elapsed_ms);

// A host has slow moments of some ten milliseconds, in which every launch takes several times as long. So a short time is
// taken again after a pause, until the two shortest agree within 10 %, five times or 0.3 s at most.
struct bench_looks { // zero: none yet
    int count;
    double least, next; // the two shortest
};
// Another time; it counts where it is the least.
void bench_looks_add(struct bench_looks *looks, double ms);
// Milliseconds to pause before the next look: 0 before the first, negative when `least` is the result.
int bench_looks_pause(const struct bench_looks *looks, double elapsed_ms);
