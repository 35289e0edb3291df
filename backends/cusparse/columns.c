// SPDX-License-Identifier: Apache-2.0
// Orders what algorithm 2 of cusparseCsr2cscEx2 leaves open: the entries of a column, so that they can be compared.
#include "cusparse_backend.h"
#include "host/internal/inside.h"

#include <stdlib.h>
#include <string.h>

struct entry {
    int32_t row, from;
};

static int entry_compare(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return x->row != y->row ? (x->row < y->row ? -1 : 1) : (x->from > y->from) - (x->from < y->from);
}

// Several entries at one place of `a`, of row r and column c: the `count` values take the order that they have there. Where
// they are other values they stay as they are.
static void equals_order(char *values, int64_t count, size_t bytes, const struct weft_csr *a, int32_t r, int64_t c)
{
    const int32_t *ptr = a->row_ptr;
    char value[8];
    int64_t done = 0;
    for (int64_t p = ptr[r]; p < ptr[r + 1] && done < count; p++) {
        const char *wanted = (const char *)a->val + (size_t)p * bytes;
        int64_t found = done;
        if (a->col[p] != c)
            continue;
        while (found < count && memcmp(values + (size_t)found * bytes, wanted, bytes) != 0)
            found++;
        if (found == count)
            return;
        memcpy(value, values + (size_t)found * bytes, bytes);
        memcpy(values + (size_t)found * bytes, values + (size_t)done * bytes, bytes);
        memcpy(values + (size_t)done++ * bytes, value, bytes);
    }
}

static void column_order(struct weft_csr *out, const struct weft_csr *a, int64_t c, struct entry *entries, char *values)
{
    const size_t bytes = weft_type_bytes(a->type);
    const int64_t begin = ((const int32_t *)out->row_ptr)[c], count = ((const int32_t *)out->row_ptr)[c + 1] - begin;
    int32_t *rows = out->col + begin;
    char *kept = bytes ? (char *)out->val + (size_t)begin * bytes : NULL;
    for (int64_t i = 0; i < count; i++)
        entries[i] = (struct entry){rows[i], (int32_t)i};
    qsort(entries, (size_t)count, sizeof *entries, entry_compare);
    if (bytes)
        memcpy(values, kept, (size_t)count * bytes);
    for (int64_t i = 0; i < count; i++) {
        rows[i] = entries[i].row;
        if (bytes)
            memcpy(kept + (size_t)i * bytes, values + (size_t)entries[i].from * bytes, bytes);
    }
    for (int64_t i = 0, end; bytes && i < count; i = end) {
        for (end = i + 1; end < count && rows[end] == rows[i];)
            end++;
        if (end > i + 1 && rows[i] >= 0 && rows[i] < a->m)
            equals_order(kept + (size_t)i * bytes, end - i, bytes, a, rows[i], c);
    }
}

weft_status weft__cusparse_columns_order(struct weft_csr *out, const struct weft_csr *a, struct weft_error *err)
{
    const int32_t *ptr = out->row_ptr;
    size_t most = 1;
    for (int64_t c = 0; c < out->m; c++) {
        if (ptr[c] < 0 || ptr[c + 1] < ptr[c] || ptr[c + 1] > out->nnz)
            return WEFT_OK; // wrong, which the comparison says better
        most = weft__max(most, (size_t)(ptr[c + 1] - ptr[c]));
    }
    struct entry *entries = malloc(most * sizeof *entries);
    char *values = malloc(most * 8);
    for (int64_t c = 0; entries && values && c < out->m; c++)
        column_order(out, a, c, entries, values);
    const int good = entries && values;
    free(entries);
    free(values);
    return good ? WEFT_OK : weft__error(err, WEFT_ENOMEM, "out of host memory for the order of columns");
}
