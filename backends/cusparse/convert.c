// SPDX-License-Identifier: Apache-2.0
// Sliced ELL and blocks on the host: cuSPARSE multiplies with them, but leaves making the first to its callers and calls
// its own way to make the second deprecated.
#include "cusparse_backend.h"
#include "host/internal/inside.h"

#include <stdlib.h>
#include <string.h>

enum { SLICE = 32, PADDING_MOST = 16 };
// Those of blocks in matrices of finite elements, and those that the generator `block` makes most.
static const int block_edges[] = {2, 3, 4, 5, 6, 8, 12, 16};

void weft__cusparse_form_free(struct cusparse_form *form)
{
    free(form->ptr);
    free(form->col);
    free(form->val);
    memset(form, 0, sizeof *form);
}

// Memory for what *out says it holds, `values` for each entry; the values are zero.
static weft_status form_alloc(struct cusparse_form *out, size_t values, enum weft_type type, struct weft_error *err)
{
    out->ptr_bytes = weft__mul((size_t)out->bands + 1, sizeof *out->ptr);
    out->idx_bytes = weft__mul((size_t)out->entries, sizeof *out->col);
    out->val_bytes = weft__mul(weft__mul((size_t)out->entries, values), weft_type_bytes(type));
    out->ptr = malloc(out->ptr_bytes);
    out->col = malloc(weft__max(out->idx_bytes, 1));
    out->val = calloc(weft__max(out->val_bytes, 1), 1);
    if (out->ptr && out->col && out->val)
        return WEFT_OK;
    weft__cusparse_form_free(out);
    return weft__error(err, WEFT_ENOMEM, "out of host memory for a matrix of %zu bytes", out->val_bytes);
}

static void value_add(void *to, int64_t i, const struct weft_csr *a, int64_t p)
{
    if (a->type == WEFT_TYPE_F64)
        ((double *)to)[i] += ((const double *)a->val)[p];
    else
        ((float *)to)[i] += ((const float *)a->val)[p];
}

weft_status weft__cusparse_sell(struct cusparse_form *out, const struct weft_csr *a, struct weft_error *err)
{
    *out = (struct cusparse_form){.edge = SLICE, .bands = (a->m + SLICE - 1) / SLICE};
    int32_t *width = malloc(weft__max((size_t)out->bands, 1) * sizeof *width);
    if (!width)
        return weft__error(err, WEFT_ENOMEM, "out of host memory for the widths of slices");
    for (int64_t s = 0; s < out->bands; s++) {
        int64_t widest = 0;
        for (int64_t i = s * SLICE; i < a->m && i < (s + 1) * SLICE; i++) {
            int64_t length = weft_csr_ofs(a, i + 1) - weft_csr_ofs(a, i);
            widest = length > widest ? length : widest;
        }
        width[s] = (int32_t)(widest < INT32_MAX ? widest : INT32_MAX);
        out->entries += SLICE * widest;
    }
    weft_status status = WEFT_OK;
    if (out->entries > INT32_MAX || out->entries > PADDING_MOST * a->nnz + (1 << 20))
        status = weft__error(err, WEFT_EUNSUPPORTED, "sliced ELL would need %lld entries for %lld",
                             (long long)out->entries, (long long)a->nnz);
    if (!status)
        status = form_alloc(out, 1, a->type, err);
    if (status) {
        memset(out, 0, sizeof *out);
        free(width);
        return status;
    }
    memset(out->col, 0xff, out->idx_bytes);
    out->ptr[0] = 0;
    for (int64_t s = 0; s < out->bands; s++) {
        out->ptr[s + 1] = out->ptr[s] + SLICE * width[s];
        for (int64_t i = s * SLICE; i < a->m && i < (s + 1) * SLICE; i++) {
            int64_t at = out->ptr[s] + i % SLICE;
            for (int64_t p = weft_csr_ofs(a, i); p < weft_csr_ofs(a, i + 1); p++, at += SLICE) {
                out->col[at] = a->col[p];
                value_add(out->val, at, a, p);
            }
        }
    }
    free(width);
    return WEFT_OK;
}

// Blocks of edge x edge that hold an entry; `seen` has room for an index for each column of blocks.
static int64_t blocks_count(const struct weft_csr *a, int edge, int32_t *seen)
{
    int64_t count = 0;
    memset(seen, 0xff, (size_t)((a->n + edge - 1) / edge) * sizeof *seen);
    for (int64_t i = 0; i < a->m; i++)
        for (int64_t p = weft_csr_ofs(a, i); p < weft_csr_ofs(a, i + 1); p++) {
            int32_t *row = &seen[a->col[p] / edge];
            count += *row != i / edge;
            *row = (int32_t)(i / edge);
        }
    return count;
}

static int index_compare(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

// Fill a form that has its memory. `place`: for each column of blocks its place in the row of blocks at hand.
static void blocks_fill(struct cusparse_form *out, const struct weft_csr *a, int32_t *place)
{
    const int edge = out->edge;
    memset(place, 0xff, (size_t)((a->n + edge - 1) / edge) * sizeof *place);
    out->ptr[0] = 0;
    for (int64_t band = 0; band < out->bands; band++) {
        const int64_t last = (band + 1) * edge < a->m ? (band + 1) * edge : a->m;
        const int32_t start = out->ptr[band];
        int32_t end = start;
        for (int64_t p = weft_csr_ofs(a, band * edge); p < weft_csr_ofs(a, last); p++)
            if (place[a->col[p] / edge] < start) {
                place[a->col[p] / edge] = end;
                out->col[end++] = a->col[p] / edge;
            }
        qsort(out->col + start, (size_t)(end - start), sizeof *out->col, index_compare);
        for (int32_t k = start; k < end; k++)
            place[out->col[k]] = k;
        for (int64_t i = band * edge; i < last; i++)
            for (int64_t p = weft_csr_ofs(a, i); p < weft_csr_ofs(a, i + 1); p++) {
                int64_t block = place[a->col[p] / edge];
                value_add(out->val, (block * edge + i % edge) * edge + a->col[p] % edge, a, p);
            }
        out->ptr[band + 1] = end;
    }
}

weft_status weft__cusparse_blocks(struct cusparse_form *out, const struct weft_csr *a, struct weft_error *err)
{
    *out = (struct cusparse_form){0};
    int32_t *scratch = malloc(weft__max((size_t)a->n, 1) * sizeof *scratch);
    if (!scratch)
        return weft__error(err, WEFT_ENOMEM, "out of host memory for blocks");
    int64_t least = INT64_MAX;
    for (size_t k = 0; k < sizeof block_edges / sizeof *block_edges; k++) {
        int edge = block_edges[k];
        int64_t count = blocks_count(a, edge, scratch);
        int64_t bytes = count * (edge * edge * (int64_t)weft_type_bytes(a->type) + 4);
        if (bytes < least) {
            least = bytes;
            *out = (struct cusparse_form){.edge = edge, .bands = (a->m + edge - 1) / edge, .entries = count};
        }
    }
    int64_t values = (int64_t)out->edge * out->edge;
    weft_status status = WEFT_OK;
    if (out->entries > INT32_MAX || 2 * a->nnz < out->entries * values)
        status = weft__error(err, WEFT_EUNSUPPORTED, "blocks of %d x %d would be only %.0f %% full", out->edge,
                             out->edge, 100.0 * (double)a->nnz / (double)(out->entries * values));
    if (!status)
        status = form_alloc(out, (size_t)values, a->type, err);
    if (status)
        memset(out, 0, sizeof *out);
    else
        blocks_fill(out, a, scratch);
    free(scratch);
    return status;
}
