// SPDX-License-Identifier: Apache-2.0
// Orders of rows and columns, as pairs of maps that undo each other.
#include "host/src/matrix/permutation.h"

#include "host/src/core/check.h"
#include "host/src/core/error.h"
#include "host/src/core/names.h"
#include "host/src/core/random.h"

#include <stdlib.h>
#include <string.h>
#include <weft/measure.h>

WEFT__NAMES(order, "regular", "row", "row-gradient", "col-gradient", "row-col", "degree", "rcm");
WEFT__NAMES(permute_side, "rows", "cols");

// ---- maps ------------------------------------------------------------------------------------------------------

static weft_status maps_alloc(int32_t **map, int32_t **inv, int64_t count)
{
    *map = malloc(weft__max((size_t)count * sizeof **map, 1));
    *inv = malloc(weft__max((size_t)count * sizeof **inv, 1));
    return *map && *inv ? WEFT_OK : WEFT_ENOMEM;
}

static void map_invert(int32_t *inv, const int32_t *map, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        inv[map[i]] = (int32_t)i;
}

void weft_permutation_free(struct weft_permutation *p)
{
    if (!p)
        return;
    free(p->row);
    free(p->row_inv);
    free(p->col);
    free(p->col_inv);
    *p = (struct weft_permutation){0};
}

// Fill inv from map, which may be anything.
static weft_status map_check(int32_t *inv, const int32_t *map, int64_t count, const char *what, struct weft_error *err)
{
    for (int64_t i = 0; i < count; i++)
        inv[i] = -1;
    for (int64_t i = 0; i < count; i++) {
        if (map[i] < 0 || map[i] >= count)
            return weft__error(err, WEFT_EMATRIX, "%s[%lld] = %d is outside 0 .. %lld", what, (long long)i, map[i],
                               (long long)count - 1);
        if (inv[map[i]] >= 0)
            return weft__error(err, WEFT_EMATRIX, "%s[%lld] and %s[%d] are both %d", what, (long long)i, what,
                               inv[map[i]], map[i]);
        inv[map[i]] = (int32_t)i;
    }
    return WEFT_OK;
}

weft_status weft_permutation_from(struct weft_permutation *out, int64_t m, int64_t n, const int32_t *row,
                                  const int32_t *col, struct weft_error *err)
{
    weft_status status = WEFT__NEED(err, {"out", out});
    if (status)
        return status;
    *out = (struct weft_permutation){0};
    const struct weft_permutation sizes = {.m = m, .n = n};
    if ((status = weft__permutation_check(err, &sizes)))
        return status;
    *out = sizes;
    status = row ? maps_alloc(&out->row, &out->row_inv, m) : WEFT_OK;
    if (!status && col)
        status = maps_alloc(&out->col, &out->col_inv, n);
    if (status)
        weft__error(err, status, "%lld rows and %lld columns: %s", (long long)m, (long long)n,
                    weft_status_text(status));
    if (!status && row) {
        memcpy(out->row, row, (size_t)m * sizeof *row);
        status = map_check(out->row_inv, row, m, "row", err);
    }
    if (!status && col) {
        memcpy(out->col, col, (size_t)n * sizeof *col);
        status = map_check(out->col_inv, col, n, "col", err);
    }
    if (status)
        weft_permutation_free(out);
    return status;
}

weft_status weft_permutation_inverse(struct weft_permutation *out, const struct weft_permutation *p)
{
    if (out && out == p) // whose arrays are the caller's
        return WEFT_EINVAL;
    if (out)
        *out = (struct weft_permutation){0};
    if (weft__permutation_check(NULL, p))
        return WEFT_EINVAL;
    return weft_permutation_from(out, p->m, p->n, p->row_inv, p->col_inv, NULL);
}

bool weft_permutation_is_identity(const struct weft_permutation *p)
{
    if (weft__permutation_check(NULL, p))
        return 0;
    for (int64_t i = 0; p->row && i < p->m; i++)
        if (p->row[i] != i)
            return 0;
    for (int64_t j = 0; p->col && j < p->n; j++)
        if (p->col[j] != j)
            return 0;
    return 1;
}

static uint64_t hash_word(uint64_t hash, uint64_t word, int bytes)
{
    for (int i = 0; i < bytes; i++)
        hash = (hash ^ (word >> 8 * i & 255)) * UINT64_C(0x100000001b3);
    return hash;
}

uint64_t weft_permutation_hash(const struct weft_permutation *p)
{
    if (weft__permutation_check(NULL, p))
        return 0;
    uint64_t hash = hash_word(hash_word(UINT64_C(0xcbf29ce484222325), (uint64_t)p->m, 8), (uint64_t)p->n, 8);
    for (int64_t i = 0; i < p->m; i++)
        hash = hash_word(hash, (uint64_t)(p->row ? p->row[i] : i), 4);
    for (int64_t j = 0; j < p->n; j++)
        hash = hash_word(hash, (uint64_t)(p->col ? p->col[j] : j), 4);
    return hash;
}

// ---- orders ----------------------------------------------------------------------------------------------------

// Streams of draws; those of weft_generate are below 16.
enum { STREAM_ROWS = 16, STREAM_COLS };

// map[0 .. count-1] = first, first+1, ... at random (Fisher and Yates). Draws are numbered from `first`, so that the
// two parts of a gradient order use different ones.
static void shuffle(int32_t *map, int64_t first, int64_t count, uint64_t key)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t j = (int64_t)weft__random_below(weft__random_draw(key, (uint64_t)(first + i)), (uint64_t)i + 1);
        map[i] = map[j];
        map[j] = (int32_t)(first + i);
    }
}

// Lines before and after the cut, each part at random, spread evenly among each other. `scratch` holds count.
static void shuffle_parts(int32_t *map, int64_t count, int64_t cut, uint64_t key, int32_t *scratch)
{
    shuffle(scratch, 0, cut, key);
    shuffle(scratch + cut, cut, count - cut, key);
    for (int64_t i = 0, low = 0; i < count; i++) {
        int64_t due = (i + 1) * cut / count; // lines of the first part among the first i+1
        map[i] = due > low ? scratch[low] : scratch[cut + i - low];
        low = due;
    }
}

static weft_status order_gradient(struct weft_permutation *p, const struct weft_csr *a, const uint64_t key[2],
                                  struct weft_error *err)
{
    struct weft_density d;
    weft_status status = weft_density_alloc(&d, a, NULL, err);
    if (status)
        return status;
    p->row_cut = weft_histogram_cut(d.row, d.rows) * d.height;
    p->col_cut = p->col ? weft_histogram_cut(d.col, d.cols) * d.width : 0;
    weft_density_free(&d);
    shuffle_parts(p->row, p->m, p->row_cut, key[0], p->row_inv); // row_inv is filled afterwards
    if (p->col)
        shuffle_parts(p->col, p->n, p->col_cut, key[1], p->col_inv);
    return WEFT_OK;
}

// Rows by length, longest first, stable: a counting sort.
static weft_status order_degree(int32_t *row, const struct weft_csr *a)
{
    int64_t longest = 0, sum = 0;
    for (int64_t i = 0; i < a->m; i++)
        longest = weft_csr_ofs(a, i + 1) - weft_csr_ofs(a, i) > longest ? weft_csr_ofs(a, i + 1) - weft_csr_ofs(a, i)
                                                                        : longest;
    int64_t *next = calloc(weft__add((size_t)longest, 1), sizeof *next);
    if (!next)
        return WEFT_ENOMEM;
    for (int64_t i = 0; i < a->m; i++)
        next[weft_csr_ofs(a, i + 1) - weft_csr_ofs(a, i)]++;
    for (int64_t length = longest; length >= 0; length--) {
        int64_t count = next[length];
        next[length] = sum;
        sum += count;
    }
    for (int64_t i = 0; i < a->m; i++)
        row[next[weft_csr_ofs(a, i + 1) - weft_csr_ofs(a, i)]++] = (int32_t)i;
    free(next);
    return WEFT_OK;
}

static weft_status order_fill(struct weft_permutation *p, enum weft_order order, const struct weft_csr *a,
                              uint64_t seed, struct weft_error *err)
{
    const uint64_t key[2] = {weft__random_key(seed, STREAM_ROWS), weft__random_key(seed, STREAM_COLS)};
    switch (order) {
    case WEFT_ORDER_ROW:
    case WEFT_ORDER_ROW_COL:
        shuffle(p->row, 0, p->m, key[0]);
        if (p->col)
            shuffle(p->col, 0, p->n, key[1]);
        return WEFT_OK;
    case WEFT_ORDER_ROW_GRADIENT:
    case WEFT_ORDER_COL_GRADIENT:
        return order_gradient(p, a, key, err);
    case WEFT_ORDER_DEGREE:
        return order_degree(p->row, a);
    case WEFT_ORDER_RCM:
        return weft__order_rcm(p->row, p->col, a);
    case WEFT_ORDER_REGULAR:
    case WEFT_ORDER_COUNT:
        break;
    }
    return WEFT_OK;
}

weft_status weft_permutation_alloc(struct weft_permutation *out, enum weft_order order, const struct weft_csr *a,
                                   uint64_t seed, struct weft_error *err)
{
    weft_status status = WEFT__NEED(err, {"out", out});
    if (status)
        return status;
    *out = (struct weft_permutation){0};
    if ((unsigned)order >= WEFT_ORDER_COUNT)
        return weft__error(err, WEFT_EINVAL, "there is no order %d", (int)order);
    status = weft_csr_validate(a, err);
    if (status)
        return status;
    *out = (struct weft_permutation){.m = a->m, .n = a->n};
    if (order == WEFT_ORDER_REGULAR)
        return WEFT_OK;
    if (err)
        err->text[0] = '\0';
    status = maps_alloc(&out->row, &out->row_inv, a->m);
    if (!status && (order == WEFT_ORDER_COL_GRADIENT || order == WEFT_ORDER_ROW_COL || order == WEFT_ORDER_RCM))
        status = maps_alloc(&out->col, &out->col_inv, a->n);
    if (!status)
        status = order_fill(out, order, a, seed, err);
    if (status) {
        weft_permutation_free(out);
        return err && err->text[0] ? status
                                   : weft__error(err, status, "order %s of %lld x %lld: %s", weft_order_name(order),
                                                 (long long)a->m, (long long)a->n, weft_status_text(status));
    }
    map_invert(out->row_inv, out->row, a->m);
    if (out->col)
        map_invert(out->col_inv, out->col, a->n);
    return WEFT_OK;
}
