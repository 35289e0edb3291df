// SPDX-License-Identifier: Apache-2.0
// Writes Rutherford-Boeing files: column pointers, row indices and values in Fortran's fixed fields.
#include "host/src/mtx/mtx.h"

#include "host/src/core/error.h"
#include "host/src/core/out.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LINE 80

// Columns of a matrix: where each begins, and the position and row of each of its entries.
struct columns {
    int64_t *ptr, *at; // (size n+2, of which n+1 are used at the end; size nnz)
    int32_t *row;      // (size nnz)
};

static int columns_make(struct columns *c, const struct weft_csr *a)
{
    const size_t nnz = (size_t)a->nnz;
    c->ptr = calloc((size_t)a->n + 2, sizeof *c->ptr);
    c->at = malloc(weft__mul(nnz + 1, sizeof *c->at));
    c->row = malloc(weft__mul(nnz + 1, sizeof *c->row));
    if (!c->ptr || !c->at || !c->row)
        return 0;
    for (int64_t p = 0; p < a->nnz; p++)
        c->ptr[a->col[p] + 2]++;
    for (int64_t j = 0; j < a->n; j++)
        c->ptr[j + 2] += c->ptr[j + 1];
    for (int64_t i = 0; i < a->m; i++)
        for (int64_t p = weft_csr_ofs(a, i); p < weft_csr_ofs(a, i + 1); p++) {
            const int64_t to = c->ptr[a->col[p] + 1]++;
            c->at[to] = p;
            c->row[to] = (int32_t)i;
        }
    return 1;
}

static int digits_of(int64_t value)
{
    int digits = 1;
    while (value /= 10)
        digits++;
    return digits;
}

// Fields of one width, so many a line.
struct section {
    int width, per;
    int64_t count, lines;
};

static struct section section_of(int width, int64_t count)
{
    const int per = LINE / width;
    return (struct section){width, per, count, (count + per - 1) / per};
}

static void line_end(FILE *file, const struct section *s, int64_t i)
{
    if ((i + 1) % s->per == 0 || i + 1 == s->count)
        putc('\n', file);
}

static void value_print(FILE *file, const struct weft_csr *a, int64_t p, int width)
{
    if (a->type == WEFT_TYPE_I32)
        fprintf(file, "%*" PRId32, width, ((const int32_t *)a->val)[p]);
    else if (a->type == WEFT_TYPE_F32)
        fprintf(file, "%*.8E", width, (double)((const float *)a->val)[p]);
    else
        fprintf(file, "%*.16E", width, ((const double *)a->val)[p]);
}

static void text_write(FILE *file, const struct weft_csr *a, const struct columns *c)
{
    const int pattern = a->type == WEFT_TYPE_PATTERN, whole = a->type == WEFT_TYPE_I32;
    const int width = whole ? 12 : a->type == WEFT_TYPE_F32 ? 16 : 25, decimals = a->type == WEFT_TYPE_F32 ? 8 : 16;
    const struct section ptr = section_of(digits_of(a->nnz + 1) + 1, a->n + 1);
    const struct section row = section_of(digits_of(a->m) + 1, a->nnz);
    const struct section val = section_of(width, pattern ? 0 : a->nnz);
    char format[32] = "", text[32];
    if (whole)
        snprintf(format, sizeof format, "(%dI%d)", val.per, width);
    else if (!pattern)
        snprintf(format, sizeof format, "(%dE%d.%d)", val.per, width, decimals);
    fprintf(file, "%-72s%-8s\n", "written by weft", "weft");
    fprintf(file, "%14lld %13lld %13lld %13lld\n", (long long)(ptr.lines + row.lines + val.lines), (long long)ptr.lines,
            (long long)row.lines, (long long)val.lines);
    fprintf(file, "%c%ca           %14lld %13lld %13lld %13d\n",
            pattern ? 'p'
            : whole ? 'i'
                    : 'r',
            a->m == a->n ? 'u' : 'r', (long long)a->m, (long long)a->n, (long long)a->nnz, 0);
    snprintf(text, sizeof text, "(%dI%d)", ptr.per, ptr.width);
    fprintf(file, "%-16s", text);
    snprintf(text, sizeof text, "(%dI%d)", row.per, row.width);
    fprintf(file, "%-16s%-20s\n", text, format);
    for (int64_t j = 0; j <= a->n; j++) {
        fprintf(file, "%*lld", ptr.width, (long long)c->ptr[j] + 1);
        line_end(file, &ptr, j);
    }
    for (int64_t p = 0; p < a->nnz; p++) {
        fprintf(file, "%*lld", row.width, (long long)c->row[p] + 1);
        line_end(file, &row, p);
    }
    for (int64_t p = 0; p < val.count; p++) {
        value_print(file, a, c->at[p], width);
        line_end(file, &val, p);
    }
}

weft_status weft__rb_write(const char *path, int fresh, const struct weft_csr *a, struct weft_error *err)
{
    weft_status status = weft_csr_validate(a, err);
    if (status)
        return status;
    struct columns c = {0};
    struct weft__out out = {0};
    int error = columns_make(&c, a) ? weft__out_open(&out, path, fresh) : ENOMEM;
    FILE *file = error ? NULL : weft__out_file(&out);
    if (!error && !file)
        error = ENOMEM;
    if (!error)
        text_write(file, a, &c);
    if (!error)
        error = weft__out_commit(&out);
    const int late = weft__out_close(&out);
    free(c.ptr);
    free(c.at);
    free(c.row);
    error = error ? error : late;
    return error ? weft__error(err, error == ENOMEM ? WEFT_ENOMEM : WEFT_EIO, "%.600s: %s", path, strerror(error))
                 : WEFT_OK;
}
