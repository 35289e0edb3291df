// SPDX-License-Identifier: Apache-2.0
// Makes a matrix in an order: by a permutation, or by shuffling the indices of single entries as the paper's scripts do.
#include "host/common/order.h"
#include "host/internal/inside.h"

#include <stdio.h>
#include <string.h>
#include <weft/canonical.h>

// Streams of draws; those of weft_generate and weft_permutation_alloc are below 32.
enum { STREAM_ENTRY_ROWS = 32, STREAM_ENTRY_COLS };

static const char *const shuffles[] = {"row-entries", "row-col-entries"};

const char *bench_order_name(int order)
{
    return bench_order_shuffles(order) ? shuffles[order - WEFT_ORDER_COUNT] : weft_order_name((enum weft_order)order);
}

int bench_order_parse(int *out, const char *text, char *known, size_t size)
{
    size_t used = 0;
    int found = 0;
    *known = 0;
    for (int i = 0; i < BENCH_ORDERS; i++) {
        if (used < size)
            used += (size_t)snprintf(known + used, size - used, "%s%s", i ? ", " : "", bench_order_name(i));
        if (!strcmp(text, bench_order_name(i))) {
            *out = i;
            found = 1;
        }
    }
    return found;
}

int bench_order_shuffles(int order)
{
    return order >= WEFT_ORDER_COUNT && order < BENCH_ORDERS;
}

size_t bench_order_bytes(int order, const struct weft_csr *a)
{
    if (bench_order_shuffles(order))
        return (8 + weft_type_bytes(a->type)) * (size_t)a->nnz;
    return order ? 8 * ((size_t)a->m + (size_t)a->n) : 0;
}

// Fisher and Yates, as the orders of the library: draw k is a hash of the key and k.
static void shuffle(int32_t *index, int64_t count, uint64_t key)
{
    for (int64_t k = 0; k < count; k++) {
        const int64_t j = (int64_t)weft__random_below(weft__random_draw(key, (uint64_t)k), (uint64_t)k + 1);
        const int32_t moved = index[k];
        index[k] = index[j];
        index[j] = moved;
    }
}

static weft_status entries_shuffle(struct weft_csr *out, int cols, const struct weft_csr *a, uint64_t seed,
                                   struct weft_error *err)
{
    struct weft_coo coo;
    weft_status status = weft_csr_validate(a, err);
    if (status)
        return status;
    status = weft_coo_alloc(&coo, weft_shape(.m = a->m, .n = a->n, .nnz = a->nnz, .type = a->type));
    if (status)
        return weft__error(err, status, "%lld coordinates: %s", (long long)a->nnz, weft_status_text(status));
    weft__ref_expand(coo.row, a->row_ptr, a->m, a->ofs);
    if (a->nnz) {
        memcpy(coo.col, a->col, (size_t)a->nnz * sizeof *a->col);
        if (a->val)
            memcpy(coo.val, a->val, (size_t)a->nnz * weft_type_bytes(a->type));
    }
    shuffle(coo.row, a->nnz, weft__random_key(seed, STREAM_ENTRY_ROWS));
    if (cols)
        shuffle(coo.col, a->nnz, weft__random_key(seed, STREAM_ENTRY_COLS));
    status = weft_csr_from_coo(out, &coo, a->ofs, err);
    weft_coo_free(&coo);
    if (!status && (status = weft_csr_canonical(out, weft_canonical_params(.keep = 1), err)))
        weft_csr_free(out);
    return status;
}

weft_status bench_order_make(struct weft_csr *out, struct weft_permutation *p, int order, const struct weft_csr *a,
                             uint64_t seed, struct weft_error *err)
{
    struct weft_permutation own = {0};
    const int shuffled = bench_order_shuffles(order);
    *out = (struct weft_csr){0};
    if (!p)
        p = &own;
    weft_status status =
        weft_permutation_alloc(p, shuffled ? WEFT_ORDER_REGULAR : (enum weft_order)order, a, seed, err);
    if (!status)
        status = shuffled ? entries_shuffle(out, order == BENCH_ORDER_ROW_COL_ENTRIES, a, seed, err)
                          : weft_csr_permute(out, a, p, NULL, err);
    if (status || p == &own)
        weft_permutation_free(p);
    return status;
}
