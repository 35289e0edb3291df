// SPDX-License-Identifier: Apache-2.0
// Figures of patterns against closed forms and plain oracles; the H of the paper's table for its matrices that are here.
#include "host/internal/inside.h"
#include "tests/support/csr.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/generate.h>
#include <weft/mtx.h>
#include <weft/permute.h>

#ifndef WEFT_MATRICES
#define WEFT_MATRICES "../shared/matrices"
#endif

static struct rng rng;

static int near(double a, double b)
{
    return fabs(a - b) <= 1e-11 * (1 + fabs(b));
}

static void matrix_generate(struct weft_csr *out, const char *spec, enum weft_type type)
{
    struct weft_error err;
    if (weft_generate(out, spec, weft_generate_params(.type = type, .seed = 5, .integers = 1), &err))
        tap_bail("%s", err.text);
}

static void density_make(struct weft_density *out, const struct weft_csr *a, int64_t rows, int64_t cols, int threads)
{
    struct weft_error err;
    if (weft_density_alloc(out, a, weft_density_params(.rows = rows, .cols = cols, .threads = threads), &err))
        tap_bail("%s", err.text);
}

// ---- entropy and buckets ---------------------------------------------------------------------------------------

static void test_entropy(void)
{
    int64_t count[64] = {0};
    tap_ok(weft_entropy(count, 64) == 0 && weft_entropy(NULL, 0) == 0, "entropy of nothing is 0");
    count[17] = 12345;
    tap_ok(weft_entropy(count, 64) == 0, "entropy of a single bucket is 0");
    for (int b = 0; b < 64; b++)
        count[b] = 7;
    tap_ok(near(weft_entropy(count, 64), log(64)), "entropy of 64 equal buckets is ln 64");
    count[0] = 1, count[1] = 1, count[2] = 2;
    tap_ok(near(weft_entropy(count, 3), 1.5 * log(2)), "entropy of 1 1 2 is 1.5 bits");
    struct weft_csr a;
    struct weft_density d;
    matrix_generate(&a, "dense:60,60", WEFT_TYPE_PATTERN);
    density_make(&d, &a, 0, 0, 0);
    tap_ok(d.rows == 60 && d.cols == 60 && near(weft_density_entropy(&d), log(3600)), "dense: H is ln(m*n)");
    weft_density_free(&d);
    density_make(&d, &a, 6, 10, 0);
    tap_ok(d.rows == 6 && d.cols == 10 && near(weft_density_entropy(&d), log(60)), "dense: 6 x 10 buckets, ln 60");
    weft_density_free(&d);
    density_make(&d, &a, 1, 1, 0);
    tap_ok(weft_density_entropy(&d) == 0, "one bucket: 0");
    weft_density_free(&d);
    weft_csr_free(&a);
    matrix_generate(&a, "band:100,1", WEFT_TYPE_PATTERN);
    density_make(&d, &a, 0, 0, 0);
    tap_ok(d.height == 10 && d.width == 10 && near(weft_density_entropy(&d), log(10)),
           "diagonal: 10 of 10 x 10 buckets");
    weft_density_free(&d);
    weft_csr_free(&a);
}

// The rule of the paper in integers: the largest height with height^2 * n <= area * m.
static void rule(int64_t *height, int64_t *width, const struct weft_csr *a)
{
    *height = a->m;
    *width = a->n;
    if (!a->nnz)
        return;
    int64_t area = a->m * a->n / a->nnz, h = 0;
    while ((h + 1) * (h + 1) * a->n <= area * a->m)
        h++;
    h = h < 1 ? 1 : h;
    int64_t w = area / h < 1 ? 1 : area / h;
    *height = h < a->m ? h : a->m;
    *width = w < a->n ? w : a->n;
}

// Count into buckets one entry at a time, with a list of buckets that are there.
static int density_good(const struct weft_csr *a, int64_t rows, int64_t cols)
{
    struct weft_density d, again;
    int64_t height = 0, width = 0;
    density_make(&d, a, rows, cols, 0);
    density_make(&again, a, rows, cols, 5);
    if (!rows) {
        rule(&height, &width, a);
        rows = (a->m + height - 1) / height;
        cols = (a->n + width - 1) / width;
    }
    rows = rows < a->m ? rows : a->m;
    cols = cols < a->n ? cols : a->n;
    int ok = d.m == a->m && d.n == a->n && d.nnz == a->nnz && d.rows == rows && d.cols == cols && d.height == height &&
             d.width == width && !memcmp(d.count, again.count, (size_t)(rows * cols) * sizeof *d.count);
    int64_t *count = calloc((size_t)(rows * cols), sizeof *count), *col = calloc((size_t)cols, sizeof *col);
    int64_t *row = calloc((size_t)rows, sizeof *row);
    double entropy = 0, parts[64], want[64] = {0};
    for (int64_t i = 0; i < a->m; i++)
        for (int64_t p = weft_csr_ofs(a, i); p < weft_csr_ofs(a, i + 1); p++) {
            int64_t r = height ? i / height : i * rows / a->m, c = width ? a->col[p] / width : a->col[p] * cols / a->n;
            count[r * cols + c]++;
            row[r]++;
            col[c]++;
        }
    for (int64_t b = 0; b < rows * cols; b++)
        if (count[b]) {
            double p = (double)count[b] / (double)a->nnz;
            entropy -= p * log2(p) * log(2);
            want[b / cols * 8 / rows * 8 + b % cols * 8 / cols] -= p * log2(p) * log(2);
        }
    ok = ok && !memcmp(d.count, count, (size_t)(rows * cols) * sizeof *count) &&
         !memcmp(d.row, row, (size_t)rows * sizeof *row) && !memcmp(d.col, col, (size_t)cols * sizeof *col) &&
         near(weft_density_entropy(&d), entropy) && !weft_density_hierarchy(parts, &d, 8);
    for (int i = 0; ok && i < 64; i++)
        ok = near(parts[i], want[i]);
    for (int64_t level = 1; ok && level <= 4; level *= 2) { // blocks add up to those of the level above, and to H
        double coarse[16], sum = 0;
        weft_density_hierarchy(coarse, &d, level);
        for (int64_t i = 0; i < level * level; i++)
            sum += coarse[i];
        ok = near(sum, entropy);
    }
    free(count);
    free(row);
    free(col);
    weft_density_free(&d);
    weft_density_free(&again);
    return ok;
}

static void test_density(void)
{
    static const struct {
        int64_t m, n, nnz;
    } shapes[] = {{1, 1, 1},    {5, 3, 0},      {1, 1000, 20},   {1000, 1, 20},   {7, 7, 900},
                  {40, 60, 77}, {500, 30, 400}, {30, 500, 2000}, {300, 300, 4000}};
    static const int64_t grids[][2] = {{0, 0}, {1, 1}, {8, 8}, {3, 17}, {400, 400}};
    for (size_t g = 0; g < sizeof grids / sizeof *grids; g++) {
        int ok = 1;
        for (size_t s = 0; ok && s < sizeof shapes / sizeof *shapes; s++) {
            struct weft_csr a;
            test_matrix_make(&a, &rng, (enum test_spread)rng_below(&rng, TEST_SPREADS), shapes[s].m, shapes[s].n,
                             shapes[s].nnz, WEFT_TYPE_PATTERN, s % 2 ? WEFT_OFS_64 : WEFT_OFS_32);
            ok = density_good(&a, grids[g][0], grids[g][1]);
            if (!ok)
                tap_note("%lld x %lld, %lld entries", (long long)a.m, (long long)a.n, (long long)a.nnz);
            weft_csr_free(&a);
        }
        tap_ok(ok, "buckets of %s %lld x %lld, entropy, hierarchy as counted one by one",
               grids[g][0] ? "grid" : "the paper,", (long long)grids[g][0], (long long)grids[g][1]);
    }
    struct weft_csr empty;
    struct weft_density d;
    if (weft_csr_alloc(&empty, weft_shape(0, 9, 0, WEFT_TYPE_F32, WEFT_OFS_32)))
        tap_bail("out of host memory");
    density_make(&d, &empty, 0, 0, 0);
    tap_ok(!d.rows && !d.cols && weft_density_entropy(&d) == 0, "a matrix without rows has no buckets");
    weft_density_free(&d);
    weft_density_free(NULL);
    weft_csr_free(&empty);
}

static void test_cut(void)
{
    static const int64_t step[] = {1, 1, 1, 9, 9, 9, 9}, flat[] = {4, 4, 4, 4}, ramp[] = {1, 2, 3, 4, 5},
                         fall[] = {9, 9, 9, 9, 2, 1, 1};
    tap_ok(weft_histogram_cut(step, 7) == 2, "a step up is cut at its first steep bucket");
    tap_ok(weft_histogram_cut(fall, 7) == 4, "a step down too");
    tap_ok(!weft_histogram_cut(flat, 4) && !weft_histogram_cut(ramp, 5) && !weft_histogram_cut(step, 2) &&
               !weft_histogram_cut(NULL, 0),
           "flat, straight, short: no cut");
}

// ---- distance ------------------------------------------------------------------------------------------------

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
    tap_ok(near(weft_jensen_shannon(half_a, half_b, B), 1) && weft_jensen_shannon(none, half_a, B) == 1 &&
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
    tap_ok(other.distance > other.chance && other.low > other.chance && near(other.p, 1.0 / 201),
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
    tap_ok(!failed && near(d.distance, 1) && near(d.low, 1) && near(d.high, 1) && near(d.bias, 0), "disjoint: 1 to 1");
}

// ---- figures of a matrix ---------------------------------------------------------------------------------------

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int lengths_good(const struct weft_lengths *f, int64_t *length, int64_t lines)
{
    static const int percent[WEFT_MEASURE_QUANTILES] = {0, 5, 25, 50, 75, 95, 100};
    double mean = 0, square = 0;
    int64_t empty = 0;
    for (int64_t i = 0; i < lines; i++) {
        mean += (double)length[i] / (double)lines;
        empty += !length[i];
    }
    for (int64_t i = 0; i < lines; i++)
        square += ((double)length[i] - mean) * ((double)length[i] - mean) / (double)lines;
    int ok = f->lines == lines && f->empty == empty && near(f->mean, mean) && near(f->deviation, sqrt(square)) &&
             near(f->entropy, weft_entropy(length, lines));
    qsort(length, (size_t)lines, sizeof *length, ascending);
    for (int q = 0; ok && lines && q < WEFT_MEASURE_QUANTILES; q++)
        ok = f->quantile[q] == length[(percent[q] * (lines - 1) + 50) / 100];
    return ok;
}

// Everything from a dense table of counts and sums.
static int measures_good(const struct weft_csr *a)
{
    struct weft_measures f, again;
    struct weft_error err;
    if (weft_measure(&f, a, 0, &err) || weft_measure(&again, a, 3, &err))
        tap_bail("%s", err.text);
    int64_t m = a->m, n = a->n, lower = 0, upper = 0, profile = 0, places = 0, met = 0, equal = 0;
    int64_t *stored = calloc((size_t)(m * n + 1), sizeof *stored);
    double *sum = calloc((size_t)(m * n + 1), sizeof *sum), spread = 0;
    int64_t *rows = calloc((size_t)m + 1, sizeof *rows), *cols = calloc((size_t)n + 1, sizeof *cols), lines = 0;
    for (int64_t i = 0; i < m; i++)
        for (int64_t p = weft_csr_ofs(a, i); p < weft_csr_ofs(a, i + 1); p++) {
            int64_t j = a->col[p], seen = 0;
            stored[i * n + j]++;
            sum[i * n + j] += a->type == WEFT_TYPE_I32 ? ((int32_t *)a->val)[p] : 0;
            rows[i]++;
            cols[j]++;
            lower = i - j > lower ? i - j : lower;
            upper = j - i > upper ? j - i : upper;
            spread += fabs((double)j - (double)i * (double)n / (double)m) / (double)a->nnz;
            for (int64_t q = p / WEFT_MEASURE_WINDOW * WEFT_MEASURE_WINDOW; q < p; q++)
                seen |= a->col[q] / 16 == j / 16;
            lines += !seen;
        }
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            if (stored[i * n + j] && j < i) {
                profile += i - j;
                break;
            }
        }
    for (int64_t c = 0; m == n && c < m * n; c++) {
        int64_t i = c / n, j = c % n;
        if (i == j || !stored[c])
            continue;
        places++;
        met += stored[j * n + i] > 0;
        equal += stored[j * n + i] > 0 && (a->type == WEFT_TYPE_PATTERN || sum[c] == sum[j * n + i]);
    }
    double pattern = m != n ? -1 : places ? (double)met / (double)places : 1;
    double value = m != n ? -1 : places ? (double)equal / (double)places : 1;
    struct weft_density d;
    density_make(&d, a, 0, 0, 0);
    int ok = !memcmp(&f, &again, sizeof f) && f.m == m && f.n == n && f.nnz == a->nnz && f.lower == lower &&
             f.upper == upper && f.profile == profile && near(f.spread, spread) && near(f.pattern_symmetry, pattern) &&
             near(f.value_symmetry, value) && f.entropy == weft_density_entropy(&d) && f.bucket_rows == d.rows &&
             f.bucket_cols == d.cols && near(f.x_lines, a->nnz ? (double)lines / (double)a->nnz : 0);
    ok = ok && lengths_good(&f.row, rows, m) && lengths_good(&f.col, cols, n);
    if (!ok)
        tap_note("%lld x %lld, %lld entries, %s", (long long)m, (long long)n, (long long)a->nnz,
                 weft_type_name(a->type));
    weft_density_free(&d);
    free(stored);
    free(sum);
    free(rows);
    free(cols);
    return ok;
}

static void test_measures(void)
{
    static const struct {
        int64_t m, n, nnz;
    } shapes[] = {{0, 0, 0},     {3, 0, 0},     {0, 3, 0},     {1, 1, 2},     {20, 20, 0},
                  {30, 70, 400}, {70, 30, 400}, {60, 60, 900}, {40, 40, 9000}};
    int ok = 1;
    for (size_t s = 0; ok && s < sizeof shapes / sizeof *shapes; s++)
        for (int spread = 0; ok && spread < TEST_SPREADS; spread++) {
            struct weft_csr a;
            test_matrix_make(&a, &rng, (enum test_spread)spread, shapes[s].m, shapes[s].n, shapes[s].nnz,
                             spread % 2 ? WEFT_TYPE_I32 : WEFT_TYPE_PATTERN, s % 2 ? WEFT_OFS_64 : WEFT_OFS_32);
            for (int64_t p = 0; a.val && p < a.nnz; p++) // few values, so that some are equal
                ((int32_t *)a.val)[p] = (int32_t)rng_below(&rng, 3);
            ok = measures_good(&a);
            weft_csr_free(&a);
        }
    tap_ok(ok, "figures as read off a dense table");
    struct weft_csr a;
    struct weft_measures f;
    matrix_generate(&a, "stencil5:20", WEFT_TYPE_F64);
    ok = !weft_measure(&f, &a, 0, NULL);
    tap_ok(ok && f.lower == 20 && f.upper == 20 && f.pattern_symmetry == 1 && f.value_symmetry == 1 &&
               f.row.quantile[0] == 3 && f.row.quantile[6] == 5 && !f.row.empty,
           "5-point stencil: bandwidth, symmetry, lengths");
    ((double *)a.val)[1] += 1; // entry (0, 1); 4*380 are off the diagonal
    ok = !weft_measure(&f, &a, 0, NULL);
    tap_ok(ok && f.pattern_symmetry == 1 && near(f.value_symmetry, 1 - 2.0 / (4 * 380)), "one value changed");
    weft_csr_free(&a);
}

static void test_imbalance(void)
{
    struct weft_csr a;
    double f = 0, g = 0, h = 0;
    matrix_generate(&a, "heavy:1000,1000,9000,4500", WEFT_TYPE_PATTERN);
    int64_t fullest = 0, parts = 7;
    for (int64_t k = 0; k < parts; k++) {
        int64_t entries = weft_csr_ofs(&a, a.m * (k + 1) / parts) - weft_csr_ofs(&a, a.m * k / parts);
        fullest = entries > fullest ? entries : fullest;
    }
    tap_ok(!weft_load_imbalance(&f, &a, parts, NULL) && near(f, (double)fullest * 7 / 9000),
           "imbalance in 7 parts: %.2f", f);
    tap_ok(!weft_load_imbalance(&g, &a, 1, NULL) && g == 1 && !weft_load_imbalance(&h, &a, 1000000, NULL) && h > 5e5,
           "one part is balanced, a million are not");
    weft_csr_free(&a);
    matrix_generate(&a, "dense:64,5", WEFT_TYPE_PATTERN);
    tap_ok(!weft_load_imbalance(&f, &a, 16, NULL) && f == 1, "equal rows in equal parts: 1");
    weft_csr_free(&a);
    if (weft_csr_alloc(&a, weft_shape(9, 9, 0, WEFT_TYPE_F32, WEFT_OFS_32)))
        tap_bail("out of host memory");
    tap_ok(!weft_load_imbalance(&f, &a, 4, NULL) && f == 1, "no entries: 1");
    weft_csr_free(&a);
}

static void refused(weft_status got, weft_status want, const struct weft_error *err, const char *what)
{
    tap_ok(got == want && err->status == want && err->text[0], "refuses %s: %s", what, err->text);
}

static void test_errors(void)
{
    struct weft_error err = {0};
    struct weft_csr a;
    struct weft_density d;
    struct weft_distance distance;
    struct weft_measures f;
    int64_t count[10] = {1, 2, 3}, bad[10] = {1, -2, 3};
    double x, parts[1];
    matrix_generate(&a, "band:10,3", WEFT_TYPE_F32);
    refused(weft_density_alloc(&d, &a, weft_density_params(.rows = 4), &err), WEFT_EINVAL, &err,
            "rows without columns");
    refused(weft_density_alloc(&d, &a, weft_density_params(.rows = -1, .cols = 2), &err), WEFT_EINVAL, &err,
            "a negative number of buckets");
    tap_ok(!d.count && !d.rows, "nothing is left after a refusal");
    refused(weft_load_imbalance(&x, &a, 0, &err), WEFT_EINVAL, &err, "no parts");
    refused(weft_distance(&distance, count, bad, 10, NULL, &err), WEFT_EINVAL, &err, "a negative count");
    refused(weft_distance(&distance, count, count, -1, NULL, &err), WEFT_EINVAL, &err, "a negative size");
    refused(weft_distance(&distance, count, NULL, 10, NULL, &err), WEFT_EINVAL, &err, "one histogram");
    refused(weft_distance(&distance, count, count, 10, weft_distance_params(.trials = -1), &err), WEFT_EINVAL, &err,
            "negative trials");
    refused(weft_distance(&distance, count, count, 10, weft_distance_params(.level = 1), &err), WEFT_EINVAL, &err,
            "certainty");
    refused(weft_distance(&distance, count, count, 10, weft_distance_params(.level = NAN), &err), WEFT_EINVAL, &err,
            "no number for a level");
    density_make(&d, &a, 2, 2, 0);
    tap_ok(weft_density_hierarchy(parts, &d, 0) == WEFT_EINVAL, "refuses a hierarchy of 0 parts");
    weft_density_free(&d);
    a.col[3] = 10;
    refused(weft_density_alloc(&d, &a, NULL, &err), WEFT_EMATRIX, &err, "a column out of range");
    refused(weft_measure(&f, &a, 0, &err), WEFT_EMATRIX, &err, "the same in all figures");
    refused(weft_row_histogram(count, &a, &err), WEFT_EMATRIX, &err, "the same in a histogram of rows");
    refused(weft_col_histogram(count, &a, 0, &err), WEFT_EMATRIX, &err, "and of columns");
    refused(weft_load_imbalance(&x, &a, 2, &err), WEFT_EMATRIX, &err, "and in parts");
    weft_csr_free(&a);
}

// ---- the paper's table -----------------------------------------------------------------------------------------

struct published {
    const char *name;
    double regular;    // H of the matrix as it is
    double permute[2]; // least and most H of "Row-Permute", which shuffles the row of each entry by itself
};

static double entropy_of(const struct weft_csr *a)
{
    struct weft_density d;
    density_make(&d, a, 0, 0, 0);
    double entropy = weft_density_entropy(&d);
    weft_density_free(&d);
    return entropy;
}

// H when every entry gets the row of another entry: row lengths stay, the pattern goes.
static double entropy_shuffled(const struct weft_csr *a)
{
    struct weft_coo coo;
    struct weft_csr b;
    if (weft_coo_alloc(&coo, weft_shape(.m = a->m, .n = a->n, .nnz = a->nnz, .type = WEFT_TYPE_PATTERN)))
        tap_bail("out of host memory");
    memcpy(coo.col, a->col, (size_t)a->nnz * 4);
    for (int64_t i = 0; i < a->m; i++)
        for (int64_t p = weft_csr_ofs(a, i); p < weft_csr_ofs(a, i + 1); p++) {
            int64_t q = (int64_t)rng_below(&rng, (uint64_t)p + 1);
            coo.row[p] = coo.row[q];
            coo.row[q] = (int32_t)i;
        }
    if (weft_csr_from_coo(&b, &coo, WEFT_OFS_32, NULL))
        tap_bail("out of host memory");
    double entropy = entropy_of(&b);
    weft_csr_free(&b);
    weft_coo_free(&coo);
    return entropy;
}

static void test_published(const char *folder)
{
    static const struct published table[] = {{"lp_osa_07", 8.412, {9.255, 9.258}},
                                             {"cvxqp3", 8.646, {11.028, 11.033}},
                                             {"brainpc2", 7.478, {9.809, 9.813}},
                                             {"mhd4800a", 7.132, {10.959, 10.966}}};
    for (size_t t = 0; t < sizeof table / sizeof *table; t++) {
        char path[4096];
        struct weft_csr a;
        struct weft_error err;
        snprintf(path, sizeof path, "%s/%s.mtx.gz", folder, table[t].name);
        if (weft_mtx_read(&a, NULL, path, weft_mtx_params(.type = WEFT_TYPE_PATTERN), &err)) {
            tap_skip("%s", err.text);
            continue;
        }
        double regular = entropy_of(&a), shuffled = entropy_shuffled(&a);
        tap_ok(fabs(regular - table[t].regular) < 0.0006, "%s: H is %.4f, published %.3f", table[t].name, regular,
               table[t].regular);
        // 32 trials were published; another one lies a little outside now and then.
        tap_ok(shuffled > table[t].permute[0] - 0.004 && shuffled < table[t].permute[1] + 0.004,
               "%s: H with rows shuffled among entries is %.4f, published %.3f .. %.3f", table[t].name, shuffled,
               table[t].permute[0], table[t].permute[1]);
        weft_csr_free(&a);
    }
}

// ---- far more lines than entries -------------------------------------------------------------------------------

#define FAR_LINES   ((1 << 20) + 5)
#define FAR_ENTRIES 600

// Places of 300 entries and their mirrors, half of the mirrors left out or with another value.
static void far_make(struct weft_coo *out)
{
    if (weft_coo_alloc(out, weft_shape(.m = FAR_LINES, .n = FAR_LINES, .nnz = FAR_ENTRIES, .type = WEFT_TYPE_F32)))
        tap_bail("out of memory");
    for (int64_t p = 0; p < FAR_ENTRIES; p += 2) {
        const int32_t i = (int32_t)rng_below(&rng, FAR_LINES), j = p % 3 ? (int32_t)rng_below(&rng, FAR_LINES) : i / 2;
        const int mirrored = rng_below(&rng, 2) != 0;
        out->row[p] = i;
        out->col[p] = j;
        out->row[p + 1] = mirrored ? j : i;
        out->col[p + 1] = mirrored ? i : (int32_t)rng_below(&rng, FAR_LINES);
        ((float *)out->val)[p] = 1;
        ((float *)out->val)[p + 1] = (float)(1 + p % 4 / 2);
    }
}

// The figures by going through all pairs of entries. Places are distinct, or their values were added up.
static void far_expect(struct weft_measures *want, const struct weft_coo *a)
{
    int64_t places = 0, met = 0, equal = 0, lines = 0;
    *want = (struct weft_measures){.m = FAR_LINES, .n = FAR_LINES, .nnz = a->nnz};
    want->row.empty = want->col.empty = FAR_LINES;
    for (int64_t p = 0; p < a->nnz; p++) {
        int64_t i = a->row[p], j = a->col[p], first_row = 1, first_col = 1, first_place = 1, first_line = 1,
                mirrors = 0;
        double value = 0, mirrored = 0;
        for (int64_t q = 0; q < a->nnz; q++) {
            const int before = q < p;
            first_row &= !(before && a->row[q] == i);
            first_col &= !(before && a->col[q] == j);
            first_line &= !(before && a->col[q] / 16 == j / 16);
            first_place &= !(before && a->row[q] == i && a->col[q] == j);
            if (a->row[q] == i && a->col[q] == j)
                value += (double)((const float *)a->val)[q];
            if (a->row[q] == j && a->col[q] == i) {
                mirrors++;
                mirrored += (double)((const float *)a->val)[q];
            }
        }
        want->row.empty -= first_row;
        want->col.empty -= first_col;
        lines += first_line;
        want->lower = i - j > want->lower ? i - j : want->lower;
        want->upper = j - i > want->upper ? j - i : want->upper;
        if (first_place && i != j) {
            places++;
            met += mirrors > 0;
            equal += mirrors > 0 && value == mirrored;
        }
    }
    want->x_lines = (double)lines / (double)a->nnz;
    want->pattern_symmetry = (double)met / (double)places;
    want->value_symmetry = (double)equal / (double)places;
}

// Rows without entries left out of `a`: out->row_ptr, and the indices of the others.
static int32_t *far_compact(struct weft_csr *out, const struct weft_csr *a)
{
    int32_t *ptr = test_alloc((FAR_ENTRIES + 1) * sizeof *ptr), *row = test_alloc(FAR_ENTRIES * sizeof *row);
    *out = *a;
    out->m = 0;
    ptr[0] = 0;
    for (int64_t i = 0; i < a->m; i++)
        if (weft_csr_ofs(a, i + 1) > weft_csr_ofs(a, i)) {
            row[out->m++] = (int32_t)i;
            ptr[out->m] = (int32_t)weft_csr_ofs(a, i + 1);
        }
    out->row_ptr = ptr;
    return row;
}

static void test_far(void)
{
    struct weft_coo coo;
    struct weft_csr a, few;
    struct weft_measures want, got, rows;
    far_make(&coo);
    far_expect(&want, &coo);
    if (weft_csr_from_coo(&a, &coo, WEFT_OFS_32, NULL))
        tap_bail("out of memory");
    int32_t *row = far_compact(&few, &a);
    tap_ok(!weft_measure(&got, &a, 0, NULL) && !weft__measure(&rows, &few, row, a.m, 0, NULL),
           "far more lines than entries");
    tap_ok(got.row.empty == want.row.empty && got.col.empty == want.col.empty && got.row.quantile[3] == 0,
           "empty lines");
    tap_ok(got.lower == want.lower && got.upper == want.upper, "bandwidths");
    tap_ok(want.pattern_symmetry > 0.1 && near(got.pattern_symmetry, want.pattern_symmetry) &&
               near(got.value_symmetry, want.value_symmetry) && got.value_symmetry < got.pattern_symmetry,
           "symmetry %g and %g", got.pattern_symmetry, got.value_symmetry);
    tap_ok(near(got.x_lines, want.x_lines), "lines of x %g", got.x_lines);
    const double mean = (double)FAR_ENTRIES / FAR_LINES;
    double squares = 0;
    for (int64_t i = 0; i < a.m; i++) {
        const double off = (double)(weft_csr_ofs(&a, i + 1) - weft_csr_ofs(&a, i)) - mean;
        squares += off * off;
    }
    tap_ok(near(got.row.mean, mean) && near(got.row.deviation, sqrt(squares / FAR_LINES)), "deviation %g",
           got.row.deviation);
    tap_ok(rows.m == got.m && near(rows.row.deviation, got.row.deviation) && rows.row.empty == got.row.empty &&
               rows.lower == got.lower && rows.upper == got.upper && rows.profile == got.profile &&
               rows.spread == got.spread && rows.pattern_symmetry == got.pattern_symmetry &&
               rows.value_symmetry == got.value_symmetry && rows.entropy == got.entropy &&
               rows.bucket_rows == got.bucket_rows && rows.x_lines == got.x_lines &&
               rows.row.entropy == got.row.entropy && !memcmp(&rows.col, &got.col, sizeof got.col),
           "the same with the empty rows left out");
    for (int64_t parts = 1; parts <= 1000; parts *= 10) {
        double of_all, of_rows;
        tap_ok(!weft_load_imbalance(&of_all, &a, parts, NULL) &&
                   !weft__load_imbalance(&of_rows, &few, row, a.m, parts, NULL) && of_all == of_rows,
               "the fullest of %lld parts", (long long)parts);
    }
    free(row);
    free(few.row_ptr);
    weft_csr_free(&a);
    weft_coo_free(&coo);
}

int main(void)
{
    rng = rng_start();
    test_entropy();
    test_density();
    test_cut();
    test_jensen_shannon();
    test_distance();
    test_distance_interval();
    test_measures();
    test_imbalance();
    test_errors();
    test_far();
    const char *folder = getenv("WEFT_MATRICES");
    test_published(folder ? folder : WEFT_MATRICES);
    return tap_done();
}
