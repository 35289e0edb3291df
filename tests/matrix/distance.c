// SPDX-License-Identifier: Apache-2.0
// Distances of histograms against closed forms and a plain oracle, and what chance makes of them.
#include "measure.h"

#include <string.h>

static struct rng rng;

static void test_jensen_shannon(void)
{
    enum { B = 50 };
    int64_t a[B], b[B], half_a[B] = {0}, half_b[B] = {0}, none[B] = {0};
    int same = 1, symmetric = 1, bounded = 1, oracle = 1;
    for (int t = 0; t < 100; t++) {
        double pa[B], pb[B], sa = 0, sb = 0, divergence = 0;
        for (int i = 0; i < B; i++) {
            a[i] = (int64_t)rng_below(&rng, (uint64_t)(1 + t % 7 * 100));
            b[i] = (int64_t)rng_below(&rng, 500) * (rng_below(&rng, 3) == 0);
            sa += (double)a[i];
            sb += (double)b[i];
        }
        a[0]++, b[0]++, sa++, sb++;
        for (int i = 0; i < B; i++) { // H of the mean less the mean of H
            pa[i] = (double)a[i] / sa;
            pb[i] = (double)b[i] / sb;
            double mean = (pa[i] + pb[i]) / 2;
            divergence -= mean > 0 ? mean * log(mean) : 0;
            divergence += (pa[i] > 0 ? pa[i] * log(pa[i]) : 0) / 2 + (pb[i] > 0 ? pb[i] * log(pb[i]) : 0) / 2;
        }
        double d = weft_jensen_shannon(a, b, B);
        oracle = oracle && fabs(d * d - divergence / log(2)) < 1e-12;
        symmetric = symmetric && d == weft_jensen_shannon(b, a, B);
        bounded = bounded && d >= 0 && d <= 1;
        for (int i = 0; i < B; i++)
            b[i] = 3 * a[i];
        same = same && weft_jensen_shannon(a, a, B) == 0 && weft_jensen_shannon(a, b, B) < 1e-8;
    }
    tap_ok(same, "Jensen-Shannon: 0 for equal distributions");
    tap_ok(symmetric, "Jensen-Shannon: symmetric");
    tap_ok(bounded, "Jensen-Shannon: between 0 and 1");
    tap_ok(oracle, "Jensen-Shannon: entropy of the mean less the mean of the entropies");
    for (int i = 0; i < B; i++)
        (i % 2 ? half_a : half_b)[i] = 1 + i;
    tap_ok(test_near(weft_jensen_shannon(half_a, half_b, B), 1) && weft_jensen_shannon(none, half_a, B) == 1 &&
               weft_jensen_shannon(none, none, B) == 0,
           "Jensen-Shannon: 1 for disjoint ones; empty ones");
}

// Two samples of one distribution, and two of different ones.
static void test_distance(void)
{
    enum { B = 64, N = 4000 };
    int64_t a[B] = {0}, b[B] = {0}, c[B] = {0}, large[B];
    struct rng fixed = {7};
    for (int k = 0; k < N; k++) {
        a[rng_below(&fixed, B)]++;
        b[rng_below(&fixed, B)]++;
        c[rng_below(&fixed, 2) ? rng_below(&fixed, B) : rng_below(&fixed, B / 2)]++;
    }
    struct weft_distance same, other, again, seeded, wide;
    int failed = weft_distance(&same, a, b, B, NULL, NULL) || weft_distance(&other, a, c, B, NULL, NULL) ||
                 weft_distance(&again, a, c, B, NULL, NULL) ||
                 weft_distance(&seeded, a, c, B, weft_distance_params(.seed = 1), NULL);
    tap_ok(!failed && same.distance == weft_jensen_shannon(a, b, B) && same.distance <= same.chance && same.p > 0.05,
           "two samples of one distribution: distance %.4f, by chance %.4f, p %.2f", same.distance, same.chance,
           same.p);
    tap_ok(other.distance > other.chance && other.low > other.chance && test_near(other.p, 1.0 / 201),
           "of two: distance %.4f in %.4f .. %.4f, by chance %.4f", other.distance, other.low, other.high,
           other.chance);
    tap_ok(other.low < other.high && other.trials == 200 && other.level == 0.95, "defaults");
    tap_ok(!memcmp(&other, &again, sizeof other) && other.low != seeded.low, "the seed decides");
    for (int i = 0; i < B; i++)
        large[i] = a[i] * 100;
    failed = weft_distance(&wide, large, large, B, weft_distance_params(.trials = 400, .level = 0.5), NULL);
    // Entries are 100 times as many: what counting brings about is 10 times smaller (same.chance is at another level).
    tap_ok(!failed && wide.distance == 0 && wide.chance * 8 < same.chance && wide.p == 1,
           "large counts: by chance %.5f", wide.chance);
    int64_t none[B] = {0};
    failed = weft_distance(&same, none, none, B, NULL, NULL) || weft_distance(&other, NULL, NULL, 0, NULL, NULL);
    tap_ok(!failed && same.distance == 0 && same.high == 0 && other.distance == 0, "empty histograms");
}

// Sparse and dense counts, near and far, where the draws lie above the distance.
static void test_distance_interval(void)
{
    enum { B = 400 };
    int64_t a[B], b[B];
    int held = 1, open = 1, biased = 0, failed = 0;
    for (int t = 0; t < 24 && !failed; t++) {
        const uint64_t most = t % 4 == 0 ? 2 : t % 4 == 1 ? 9 : t % 4 == 2 ? 100 : 5000;
        for (int i = 0; i < B; i++) {
            a[i] = (int64_t)rng_below(&rng, most);
            b[i] = t % 3 == 0   ? a[i] + (i % 5 == 0)
                   : t % 3 == 1 ? (int64_t)rng_below(&rng, most)
                                : a[B - 1 - i] * (i % 20 == 0);
        }
        a[0] += 3, b[1] += 3;
        struct weft_distance d;
        const double level = t % 2 ? 0.95 : 0.5;
        failed = weft_distance(&d, a, b, B, weft_distance_params(.seed = (uint64_t)t, .level = level), NULL);
        held = held && d.low >= 0 && d.low <= d.distance && d.distance <= d.high && d.high <= 1;
        open = open && d.high - d.low > 0 && d.high - d.low < 0.3;
        biased += d.bias > d.distance - d.low; // quantiles without the correction would not hold it
    }
    tap_ok(!failed && held, "the interval holds the distance");
    tap_ok(open, "and is not everything");
    tap_ok(biased >= 6, "draws lie above the distance: in %d of 24 with the whole interval", biased);
    for (int i = 0; i < B; i++)
        a[i] = i % 2 ? 0 : 3, b[i] = i % 2 ? 3 : 0;
    struct weft_distance d;
    failed = weft_distance(&d, a, b, B, NULL, NULL);
    tap_ok(!failed && test_near(d.distance, 1) && test_near(d.low, 1) && test_near(d.high, 1) && test_near(d.bias, 0),
           "disjoint: 1 to 1");
}

static void test_errors(void)
{
    struct weft_error err = {0};
    struct weft_distance distance;
    const int64_t count[10] = {1, 2, 3}, bad[10] = {1, -2, 3};
    test_refused(weft_distance(&distance, count, bad, 10, NULL, &err), WEFT_EINVAL, &err, "a negative count");
    test_refused(weft_distance(&distance, count, count, -1, NULL, &err), WEFT_EINVAL, &err, "a negative size");
    test_refused(weft_distance(&distance, count, NULL, 10, NULL, &err), WEFT_EINVAL, &err, "one histogram");
    test_refused(weft_distance(&distance, count, count, 10, weft_distance_params(.trials = -1), &err), WEFT_EINVAL,
                 &err, "negative trials");
    test_refused(weft_distance(&distance, count, count, 10, weft_distance_params(.level = 1), &err), WEFT_EINVAL, &err,
                 "certainty");
    test_refused(weft_distance(&distance, count, count, 10, weft_distance_params(.level = NAN), &err), WEFT_EINVAL,
                 &err, "no number for a level");
}

int main(void)
{
    rng = rng_start();
    test_jensen_shannon();
    test_distance();
    test_distance_interval();
    test_errors();
    return tap_done();
}
