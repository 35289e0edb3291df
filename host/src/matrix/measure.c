// SPDX-License-Identifier: Apache-2.0
// Figures of a pattern: lengths, bandwidth, symmetry, locality, balance.
#include "host/src/core/check.h"
#include "host/src/matrix/indices.h"
#include "host/src/core/error.h"
#include "host/src/matrix/measure.h"
#include "host/src/ref/ref.h"
#include "host/src/core/threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <weft/measure.h>

// Lines are numbered anew, those without entries left out, from so many on, where there are so many for each entry.
#define SPARSE_LEAST (1 << 20)
#define SPARSE_LINES 8

static int is_sparse(int64_t lines, int64_t nnz)
{
    return lines > SPARSE_LEAST && lines / SPARSE_LINES > nnz;
}

// Of `count` lines with these lengths, and others without entries.
static weft_status lengths_measure(struct weft_lengths *out, const int64_t *length, int64_t count, int64_t lines)
{
    static const double at[WEFT_MEASURE_QUANTILES] = {0, 0.05, 0.25, 0.5, 0.75, 0.95, 1};
    int64_t longest = 0, sum = 0;
    *out = (struct weft_lengths){.lines = lines, .entropy = weft_entropy(length, count)};
    if (!lines)
        return WEFT_OK;
    for (int64_t i = 0; i < count; i++) {
        longest = length[i] > longest ? length[i] : longest;
        sum += length[i];
    }
    int64_t *with = calloc(weft__add((size_t)longest, 1), sizeof *with); // lines of each length
    if (!with)
        return WEFT_ENOMEM;
    out->mean = (double)sum / (double)lines;
    double squares = (double)(lines - count) * (out->mean * out->mean);
    with[0] = lines - count;
    for (int64_t i = 0; i < count; i++) {
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

// Lengths of the columns, as above.
static weft_status columns_measure(struct weft_lengths *out, const struct weft_csr *a, int threads)
{
    const int sparse = is_sparse(a->n, a->nnz);
    int64_t *length = malloc(weft__max((size_t)(sparse ? a->nnz : a->n) * sizeof *length, 1)), count = a->n;
    int32_t *col = sparse ? malloc(weft__max((size_t)a->nnz * sizeof *col, 1)) : NULL;
    weft_status status = length && (!sparse || col) ? WEFT_OK : WEFT_ENOMEM;
    if (!status && sparse) {
        count = 0;
        if (a->nnz) {
            memcpy(col, a->col, (size_t)a->nnz * sizeof *col);
            qsort(col, (size_t)a->nnz, sizeof *col, weft__index_compare);
        }
        for (int64_t p = 0; p < a->nnz; p++) {
            if (!p || col[p] != col[p - 1])
                length[count++] = 0;
            length[count - 1]++;
        }
    } else if (!status) {
        status = weft_col_histogram(length, a, threads, NULL);
    }
    if (!status)
        status = lengths_measure(out, length, count, a->n);
    free(length);
    free(col);
    return status;
}

static weft_status rows_measure(struct weft_lengths *out, const struct weft_csr *a, int64_t m)
{
    int64_t *length = malloc(weft__max((size_t)a->m * sizeof *length, 1));
    weft_status status = length ? weft_row_histogram(length, a, NULL) : WEFT_ENOMEM;
    if (!status)
        status = lengths_measure(out, length, a->m, m);
    free(length);
    return status;
}

static void diagonal_measure(struct weft_measures *out, const struct weft_csr *a, const int32_t *row, int64_t m)
{
    double spread = 0, slope = m ? (double)a->n / (double)m : 0;
    for (int64_t at = 0; at < a->m; at++) {
        int64_t i = row ? row[at] : at, least = i, end = weft_csr_ofs(a, at + 1);
        for (int64_t p = weft_csr_ofs(a, at); p < end; p++) {
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

struct locality {
    const struct weft_csr *a;
    const int32_t *used;    // the lines that entries touch, where they are few, else NULL
    size_t count;           // lines
    struct weft__loop loop; // over the windows
    _Atomic int64_t lines;
};

static void locality_work(void *arg)
{
    struct locality *l = arg;
    const struct weft_csr *a = l->a;
    int64_t *seen = calloc(weft__max(l->count, 1), sizeof *seen); // last window that touched a line, counted from 1
    int64_t w, end, lines = 0;
    while (seen && weft__next(&l->loop, 1, &w, &end))
        for (int64_t p = w * WEFT_MEASURE_WINDOW; p < a->nnz && p < (w + 1) * WEFT_MEASURE_WINDOW; p++) {
            const int32_t at = a->col[p] / LINE_ELEMENTS;
            int64_t *line = &seen[l->used ? weft__index_find(l->used, l->count, at) : at];
            lines += *line != w + 1;
            *line = w + 1;
        }
    atomic_fetch_add(&l->lines, lines);
    free(seen);
}

static weft_status locality_measure(struct weft_measures *out, const struct weft_csr *a, int threads)
{
    size_t count = (size_t)a->n / LINE_ELEMENTS + 1;
    int32_t *used = NULL; // the lines that entries touch, where they are few
    if (is_sparse(a->n, a->nnz)) {
        if (!(used = malloc(weft__max((size_t)a->nnz * sizeof *used, 1))))
            return WEFT_ENOMEM;
        for (int64_t p = 0; p < a->nnz; p++)
            used[p] = a->col[p] / LINE_ELEMENTS;
        count = weft__indices_unique(used, (size_t)a->nnz);
    }
    struct locality l = {
        .a = a, .used = used, .count = count, .loop.count = (a->nnz + WEFT_MEASURE_WINDOW - 1) / WEFT_MEASURE_WINDOW};
    struct weft__team team;
    weft__team_begin(&team, threads);
    weft__team_run(&team, weft__team_threads(&team, a->nnz), locality_work, &l);
    weft__team_end(&team);
    free(used);
    out->x_lines = a->nnz ? (double)atomic_load(&l.lines) / (double)a->nnz : 0;
    return weft__loop_done(&l.loop) ? WEFT_OK : WEFT_ENOMEM;
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
            equal += there && (a->type == WEFT_TYPE_PATTERN || value == mirrored);
        }
    }
    out->pattern_symmetry = places ? (double)met / (double)places : 1;
    out->value_symmetry = places ? (double)equal / (double)places : 1;
}

// `a` with the rows and columns that have entries alone, numbered alike in their order: the same symmetry.
static weft_status lines_compact(struct weft_csr *out, const struct weft_csr *a, const int32_t *row)
{
    const size_t most = 2 * (size_t)a->nnz; // a row and a column of each entry
    int32_t *id = malloc(weft__max(most * sizeof *id, 1));
    size_t count = 0, bytes = weft_type_bytes(a->type);
    if (!id)
        return WEFT_ENOMEM;
    for (int64_t i = 0; i < a->m; i++)
        if (weft_csr_ofs(a, i + 1) > weft_csr_ofs(a, i))
            id[count++] = row ? row[i] : (int32_t)i;
    for (int64_t p = 0; p < a->nnz; p++)
        id[count++] = a->col[p];
    count = weft__indices_unique(id, count);
    weft_status status = weft_csr_alloc(out, weft_shape((int64_t)count, (int64_t)count, a->nnz, a->type, WEFT_OFS_64));
    if (!status) {
        int64_t *ptr = out->row_ptr;
        memset(ptr, 0, (count + 1) * sizeof *ptr);
        for (int64_t i = 0; i < a->m; i++) {
            const int64_t length = weft_csr_ofs(a, i + 1) - weft_csr_ofs(a, i);
            if (length)
                ptr[weft__index_find(id, count, row ? row[i] : i) + 1] = length;
        }
        for (size_t i = 0; i < count; i++)
            ptr[i + 1] += ptr[i];
        for (int64_t p = 0; p < a->nnz; p++)
            out->col[p] = weft__index_find(id, count, a->col[p]);
        if (bytes && a->nnz)
            memcpy(out->val, a->val, (size_t)a->nnz * bytes);
    }
    free(id);
    return status;
}

static weft_status symmetry_measure(struct weft_measures *out, const struct weft_csr *a, const int32_t *row, int64_t m)
{
    struct weft_csr at = {0}, sorted = {0}, few = {0};
    weft_status status = WEFT_OK;
    out->pattern_symmetry = out->value_symmetry = -1;
    if (m != a->n)
        return WEFT_OK;
    if (row || is_sparse(m, a->nnz)) {
        status = lines_compact(&few, a, row);
        a = &few;
    }
    if (!status)
        status = weft__ref_transpose(&at, a);
    if (!status)
        status = weft__ref_transpose(&sorted, &at);
    if (!status)
        symmetry_count(out, &sorted, &at);
    weft_csr_free(&at);
    weft_csr_free(&sorted);
    weft_csr_free(&few);
    return status;
}

weft_status weft_measure(struct weft_measures *out, const struct weft_csr *a, int threads, struct weft_error *err)
{
    return weft__measure(out, a, NULL, a ? a->m : 0, threads, err);
}

weft_status weft__measure(struct weft_measures *out, const struct weft_csr *a, const int32_t *row, int64_t m,
                          int threads, struct weft_error *err)
{
    struct weft_density d;
    weft_status status = WEFT__NEED(err, {"out", out});
    if (status)
        return status;
    *out = (struct weft_measures){0};
    status = weft__density_make(&d, a, row, m, weft_density_params(.threads = threads), err);
    if (status)
        return status;
    *out = (struct weft_measures){.m = m,
                                  .n = a->n,
                                  .nnz = a->nnz,
                                  .entropy = weft_density_entropy(&d),
                                  .bucket_rows = d.rows,
                                  .bucket_cols = d.cols};
    weft_density_free(&d);
    status = rows_measure(&out->row, a, m);
    if (!status)
        status = columns_measure(&out->col, a, threads);
    if (!status)
        status = symmetry_measure(out, a, row, m);
    if (!status)
        status = locality_measure(out, a, threads);
    if (status) {
        *out = (struct weft_measures){0};
        return weft__error(err, status, "measuring %lld x %lld with %lld entries: %s", (long long)m, (long long)a->n,
                           (long long)a->nnz, weft_status_text(status));
    }
    diagonal_measure(out, a, row, m);
    return WEFT_OK;
}

weft_status weft_load_imbalance(double *out, const struct weft_csr *a, int64_t parts, struct weft_error *err)
{
    return weft__load_imbalance(out, a, NULL, a ? a->m : 0, parts, err);
}

weft_status weft__load_imbalance(double *out, const struct weft_csr *a, const int32_t *row, int64_t m, int64_t parts,
                                 struct weft_error *err)
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
        const int64_t part = m * (k + 1) / parts, end = row ? weft__index_find(row, (size_t)a->m, part) : part;
        int64_t entries = weft_csr_ofs(a, end) - weft_csr_ofs(a, begin);
        fullest = entries > fullest ? entries : fullest;
        begin = end;
    }
    if (a->nnz)
        *out = (double)fullest * (double)parts / (double)a->nnz;
    return WEFT_OK;
}
