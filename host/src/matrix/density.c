// SPDX-License-Identifier: Apache-2.0
// Histograms of a pattern and their entropy.
#include "host/src/core/check.h"
#include "host/src/primitive/histogram_sum.h"
#include "host/src/matrix/indices.h"
#include "host/src/core/error.h"
#include "host/src/matrix/measure.h"
#include "host/src/core/threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <weft/measure.h>

weft_status weft_row_histogram(int64_t *out, const struct weft_csr *a, struct weft_error *err)
{
    weft_status status = weft_csr_validate(a, err);
    if (!status)
        status = weft__histogram_check(err, out, a->m, "out");
    if (status)
        return status;
    for (int64_t i = 0; i < a->m; i++)
        out[i] = weft_csr_ofs(a, i + 1) - weft_csr_ofs(a, i);
    return WEFT_OK;
}

// Entries of which a thread counts the columns at a time.
#define CHUNK 65536

struct columns {
    int64_t *count;
    const struct weft_csr *a;
};

static void columns_count(void *arg, int64_t chunk)
{
    const struct columns *c = arg;
    int64_t end = chunk * CHUNK + CHUNK < c->a->nnz ? chunk * CHUNK + CHUNK : c->a->nnz;
    for (int64_t p = chunk * CHUNK; p < end; p++)
        __atomic_fetch_add(&c->count[c->a->col[p]], 1, __ATOMIC_RELAXED);
}

weft_status weft_col_histogram(int64_t *out, const struct weft_csr *a, int threads, struct weft_error *err)
{
    weft_status status = weft_csr_validate(a, err);
    if (!status)
        status = weft__histogram_check(err, out, a->n, "out");
    if (!status)
        status = weft__threads_check(err, threads);
    if (status)
        return status;
    for (int64_t j = 0; j < a->n; j++)
        out[j] = 0;
    struct weft__team team;
    weft__team_begin(&team, threads);
    weft__team_each(&team, a->nnz, a->nnz / CHUNK + 1, columns_count, &(struct columns){out, a});
    weft__team_end(&team);
    return WEFT_OK;
}

double weft_entropy(const int64_t *count, int64_t buckets)
{
    if (weft__histogram_check(NULL, count, buckets, "count"))
        return 0;
    const double sum = weft__histogram_sum(count, buckets);
    double entropy = 0;
    for (int64_t b = 0; b < buckets; b++)
        if (count[b] > 0 && (double)count[b] < sum) {
            double p = (double)count[b] / sum;
            entropy -= p * log(p);
        }
    return entropy;
}

// The bucket of a row or a column: equal parts, or parts of `size`.
struct split {
    int64_t lines, parts, size;
};

static inline int64_t split_begin(const struct split *s, int64_t part)
{
    if (s->size)
        return part * s->size < s->lines ? part * s->size : s->lines;
    return (part * s->lines + s->parts - 1) / s->parts; // the first i with i*parts/lines == part
}

static void split_by_size(struct split *s, int64_t lines, int64_t size)
{
    s->lines = lines;
    s->size = size < 1 ? 1 : size > lines ? lines : size;
    s->parts = (lines + s->size - 1) / s->size;
}

static void splits_make(struct split *row, struct split *col, const struct weft_csr *a, int64_t m,
                        const struct weft_density_params *p)
{
    if (p->rows) {
        *row = (struct split){.lines = m, .parts = p->rows < m ? p->rows : m};
        *col = (struct split){.lines = a->n, .parts = p->cols < a->n ? p->cols : a->n};
        return;
    }
    int64_t area = a->nnz ? m * a->n / a->nnz : INT64_MAX;
    double height = a->nnz ? sqrt((double)area * ((double)m / (double)a->n)) : (double)m;
    split_by_size(row, m, height < 1 ? 1 : (int64_t)height);
    split_by_size(col, a->n, area / (height < 1 ? 1 : (int64_t)height));
}

// Entries before row i of the matrix.
static int64_t entries_before(const struct weft_csr *a, const int32_t *row, int64_t i)
{
    return weft_csr_ofs(a, row ? weft__index_find(row, (size_t)a->m, i) : i);
}

struct density_rows {
    struct weft_density *d;
    const struct weft_csr *a;
    const int32_t *index;
    const struct split *row, *col;
};

static void density_row(void *arg, int64_t r)
{
    const struct density_rows *rows = arg;
    const struct split *col = rows->col;
    const struct weft_csr *a = rows->a;
    int64_t begin = entries_before(a, rows->index, split_begin(rows->row, r)),
            end = entries_before(a, rows->index, split_begin(rows->row, r + 1));
    int64_t *count = rows->d->count + r * rows->d->cols;
    rows->d->row[r] = end - begin;
    for (int64_t p = begin; p < end; p++)
        count[col->size ? (uint32_t)a->col[p] / (uint32_t)col->size : a->col[p] * col->parts / col->lines]++;
}

static void density_count(struct weft_density *d, const struct weft_csr *a, const int32_t *index,
                          const struct split *row, const struct split *col, int threads)
{
    struct weft__team team;
    weft__team_begin(&team, threads);
    weft__team_each(&team, a->nnz, d->rows, density_row, &(struct density_rows){d, a, index, row, col});
    weft__team_end(&team);
    for (int64_t r = 0; r < d->rows; r++)
        for (int64_t c = 0; c < d->cols; c++)
            d->col[c] += d->count[r * d->cols + c];
}

weft_status weft_density_alloc(struct weft_density *out, const struct weft_csr *a,
                               const struct weft_density_params *params, struct weft_error *err)
{
    return weft__density_make(out, a, NULL, a ? a->m : 0, params, err);
}

weft_status weft__density_make(struct weft_density *out, const struct weft_csr *a, const int32_t *index, int64_t m,
                               const struct weft_density_params *params, struct weft_error *err)
{
    static const struct weft_density_params defaults;
    const struct weft_density_params *p = params ? params : &defaults;
    weft_status status = WEFT__NEED(err, {"out", out});
    if (status)
        return status;
    *out = (struct weft_density){0};
    status = weft_csr_validate(a, err);
    if (!status)
        status = weft__threads_check(err, p->threads);
    if (status)
        return status;
    if (p->rows < 0 || p->cols < 0 || !p->rows != !p->cols)
        return weft__error(err, WEFT_EINVAL, "%lld x %lld buckets: both are positive, or both 0", (long long)p->rows,
                           (long long)p->cols);
    *out = (struct weft_density){.m = m, .n = a->n, .nnz = a->nnz};
    if (!m || !a->n)
        return WEFT_OK;
    struct split row, col;
    splits_make(&row, &col, a, m, p);
    out->rows = row.parts;
    out->cols = col.parts;
    out->height = row.size;
    out->width = col.size;
    size_t buckets = weft__mul((size_t)row.parts, (size_t)col.parts);
    if (weft__mul(buckets, sizeof *out->count) >= PTRDIFF_MAX)
        status = WEFT_ERANGE;
    if (!status) {
        out->count = calloc(buckets, sizeof *out->count);
        out->row = calloc((size_t)row.parts, sizeof *out->row);
        out->col = calloc((size_t)col.parts, sizeof *out->col);
        if (!out->count || !out->row || !out->col)
            status = WEFT_ENOMEM;
    }
    if (status) {
        weft_density_free(out);
        return weft__error(err, status, "%lld x %lld buckets: %s", (long long)row.parts, (long long)col.parts,
                           weft_status_text(status));
    }
    density_count(out, a, index, &row, &col, p->threads);
    return WEFT_OK;
}

void weft_density_free(struct weft_density *d)
{
    if (!d)
        return;
    free(d->count);
    free(d->row);
    free(d->col);
    *d = (struct weft_density){0};
}

// Sizes that a density has, and its array.
static weft_status density_check(const struct weft_density *d)
{
    return !d || weft__sizes_check(NULL, d->rows, d->cols, d->nnz)
               ? WEFT_EINVAL
               : weft__histogram_check(NULL, d->count, d->rows * d->cols, "count");
}

double weft_density_entropy(const struct weft_density *d)
{
    return density_check(d) ? 0 : weft_entropy(d->count, d->rows * d->cols);
}

weft_status weft_density_hierarchy(double *out, const struct weft_density *d, int64_t parts)
{
    if (!out || density_check(d) || parts < 1 || parts > INT32_MAX)
        return WEFT_EINVAL;
    for (int64_t i = 0; i < parts * parts; i++)
        out[i] = 0;
    for (int64_t r = 0; r < d->rows; r++)
        for (int64_t c = 0; c < d->cols; c++) {
            int64_t count = d->count[r * d->cols + c];
            if (!count)
                continue;
            double p = (double)count / (double)d->nnz;
            out[r * parts / d->rows * parts + c * parts / d->cols] -= count < d->nnz ? p * log(p) : 0;
        }
    return WEFT_OK;
}

int64_t weft_histogram_cut(const int64_t *count, int64_t buckets)
{
    int64_t inner = buckets > 2 ? buckets - 2 : 0, cut = 0;
    double steepest = 0;
    if (weft__histogram_check(NULL, count, buckets, "count") || inner < 1)
        return 0;
    // Of the differences below.
    double sum = (double)count[inner + 1] + (double)count[inner] - (double)count[1] - (double)count[0];
    for (int64_t b = 1; b <= inner; b++) {
        double apart = fabs((double)inner * ((double)count[b + 1] - (double)count[b - 1]) - sum);
        if (apart > steepest) {
            steepest = apart;
            cut = b;
        }
    }
    return cut;
}
