// SPDX-License-Identifier: Apache-2.0
// Figures of a pattern: lengths, bandwidth, symmetry, locality, balance.
#include "check.h"
#include "internal.h"
#include "ref/ref.h"
#include "threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <weft/measure.h>

static weft_status lengths_measure(struct weft_lengths *out, const int64_t *length, int64_t lines)
{
    static const double at[WEFT_MEASURE_QUANTILES] = {0, 0.05, 0.25, 0.5, 0.75, 0.95, 1};
    int64_t longest = 0, sum = 0;
    *out = (struct weft_lengths){.lines = lines, .entropy = weft_entropy(length, lines)};
    if (!lines)
        return WEFT_OK;
    for (int64_t i = 0; i < lines; i++) {
        longest = length[i] > longest ? length[i] : longest;
        sum += length[i];
    }
    int64_t *with = calloc(weft__add((size_t)longest, 1), sizeof *with); // lines of each length
    if (!with)
        return WEFT_ENOMEM;
    double squares = 0;
    out->mean = (double)sum / (double)lines;
    for (int64_t i = 0; i < lines; i++) {
        with[length[i]]++;
        squares += ((double)length[i] - out->mean) * ((double)length[i] - out->mean);
    }
    out->deviation = sqrt(squares / (double)lines);
    out->empty = with[0];
    int q = 0;
    for (int64_t k = 0, below = 0; k <= longest; k++) {
        below += with[k];
        while (q < WEFT_MEASURE_QUANTILES && (int64_t)(at[q] * (double)(lines - 1) + 0.5) < below)
            out->quantile[q++] = k;
    }
    free(with);
    return WEFT_OK;
}

static void diagonal_measure(struct weft_measures *out, const struct weft_csr *a)
{
    double spread = 0, slope = a->m ? (double)a->n / (double)a->m : 0;
    for (int64_t i = 0; i < a->m; i++) {
        int64_t least = i, end = weft_csr_ofs(a, i + 1);
        for (int64_t p = weft_csr_ofs(a, i); p < end; p++) {
            int64_t j = a->col[p];
            least = j < least ? j : least;
            out->upper = j - i > out->upper ? j - i : out->upper;
            spread += fabs((double)j - (double)i * slope);
        }
        out->lower = i - least > out->lower ? i - least : out->lower;
        out->profile += i - least;
    }
    out->spread = a->nnz ? spread / (double)a->nnz : 0;
}

#define LINE_ELEMENTS 16 // of 4 bytes

static weft_status locality_measure(struct weft_measures *out, const struct weft_csr *a, int threads)
{
    int64_t windows = (a->nnz + WEFT_MEASURE_WINDOW - 1) / WEFT_MEASURE_WINDOW, lines = 0;
    size_t bytes = ((size_t)a->n / LINE_ELEMENTS + 1) * sizeof(int64_t);
    int failed = 0;
#pragma omp parallel reduction(+ : lines) reduction(| : failed) num_threads(weft__threads_for(threads, a->nnz))
    {
        int64_t *seen = calloc(bytes, 1); // last window that touched a line, counted from 1
        failed = !seen;
#pragma omp for schedule(static)
        for (int64_t w = 0; w < windows; w++)
            for (int64_t p = w * WEFT_MEASURE_WINDOW; !failed && p < a->nnz && p < (w + 1) * WEFT_MEASURE_WINDOW; p++) {
                int64_t *line = &seen[a->col[p] / LINE_ELEMENTS];
                lines += *line != w + 1;
                *line = w + 1;
            }
        free(seen);
    }
    out->x_lines = a->nnz ? (double)lines / (double)a->nnz : 0;
    return failed ? WEFT_ENOMEM : WEFT_OK;
}

// Sum of the entries from *p on that are in column `col`; *p moves behind them.
static double place_sum(const struct weft_csr *a, int64_t *p, int64_t end, int64_t col)
{
    double sum = 0;
    for (; *p < end && a->col[*p] == col; ++*p)
        sum += weft__ref_get(a->val, a->type, *p);
    return sum;
}

// `a` with columns ascending, and its transpose: places of row i that both have.
static void symmetry_count(struct weft_measures *out, const struct weft_csr *a, const struct weft_csr *at)
{
    int64_t places = 0, met = 0, equal = 0;
    for (int64_t i = 0; i < a->m; i++) {
        int64_t p = weft_csr_ofs(a, i), end = weft_csr_ofs(a, i + 1);
        int64_t q = weft_csr_ofs(at, i), at_end = weft_csr_ofs(at, i + 1);
        while (p < end) {
            int64_t j = a->col[p];
            double value = place_sum(a, &p, end, j);
            while (q < at_end && at->col[q] < j)
                q++;
            int there = q < at_end && at->col[q] == j;
            double mirrored = place_sum(at, &q, at_end, j);
            if (i == j)
                continue;
            places++;
            met += there;
            equal += there && (a->type == WEFT_PATTERN || value == mirrored);
        }
    }
    out->pattern_symmetry = places ? (double)met / (double)places : 1;
    out->value_symmetry = places ? (double)equal / (double)places : 1;
}

static weft_status symmetry_measure(struct weft_measures *out, const struct weft_csr *a)
{
    struct weft_csr at = {0}, sorted = {0};
    out->pattern_symmetry = out->value_symmetry = -1;
    if (a->m != a->n)
        return WEFT_OK;
    weft_status status = weft__ref_transpose(&at, a);
    if (!status)
        status = weft__ref_transpose(&sorted, &at);
    if (!status)
        symmetry_count(out, &sorted, &at);
    weft_csr_free(&at);
    weft_csr_free(&sorted);
    return status;
}

weft_status weft_measure(struct weft_measures *out, const struct weft_csr *a, int threads, struct weft_error *err)
{
    struct weft_density d;
    weft_status status = WEFT__NEED(err, {"out", out});
    if (status)
        return status;
    *out = (struct weft_measures){0};
    status = weft_density_make(&d, a, weft_density_params(.threads = threads), err);
    if (status)
        return status;
    *out = (struct weft_measures){.m = a->m,
                                  .n = a->n,
                                  .nnz = a->nnz,
                                  .entropy = weft_density_entropy(&d),
                                  .bucket_rows = d.rows,
                                  .bucket_cols = d.cols};
    weft_density_free(&d);
    int64_t *length = malloc(weft__max((size_t)(a->m > a->n ? a->m : a->n) * sizeof *length, 1));
    status = length ? WEFT_OK : WEFT_ENOMEM;
    if (!status)
        status = weft_row_histogram(length, a, NULL);
    if (!status)
        status = lengths_measure(&out->row, length, a->m);
    if (!status)
        status = weft_col_histogram(length, a, threads, NULL);
    if (!status)
        status = lengths_measure(&out->col, length, a->n);
    free(length);
    if (!status)
        status = symmetry_measure(out, a);
    if (!status)
        status = locality_measure(out, a, threads);
    if (status) {
        *out = (struct weft_measures){0};
        return weft__error(err, status, "measuring %lld x %lld with %lld entries: %s", (long long)a->m, (long long)a->n,
                           (long long)a->nnz, weft_status_text(status));
    }
    diagonal_measure(out, a);
    return WEFT_OK;
}

weft_status weft_load_imbalance(double *out, const struct weft_csr *a, int64_t parts, struct weft_error *err)
{
    weft_status status = WEFT__NEED(err, {"out", out});
    if (status)
        return status;
    *out = 1;
    status = weft_csr_validate(a, err);
    if (status)
        return status;
    if (parts < 1 || parts > INT32_MAX)
        return weft__error(err, WEFT_EINVAL, "%lld parts: expected 1 .. 2147483647", (long long)parts);
    int64_t fullest = 0;
    for (int64_t k = 0, begin = 0; k < parts && begin < a->m; k++) {
        int64_t end = a->m * (k + 1) / parts;
        int64_t entries = weft_csr_ofs(a, end) - weft_csr_ofs(a, begin);
        fullest = entries > fullest ? entries : fullest;
        begin = end;
    }
    if (a->nnz)
        *out = (double)fullest * (double)parts / (double)a->nnz;
    return WEFT_OK;
}
