// SPDX-License-Identifier: Apache-2.0
// Sorts the columns of rows and adds up duplicates in host memory, in place: each row by itself, then all moved together.
#include "host/src/core/check.h"
#include "host/src/core/error.h"
#include "host/src/core/threads.h"
#include "host/src/matrix/keys.h"

#include <stdlib.h>
#include <string.h>
#include <weft/canonical.h>

struct rows {
    struct weft_csr *a;
    int col_bits;
    int64_t longest;
    struct weft__loop loop;
};

static bool ascends(const int32_t *col, int64_t count)
{
    int64_t k = 1;
    while (k < count && col[k - 1] <= col[k])
        k++;
    return k >= count;
}

// Sort `count` entries from position `from` on. `key` holds twice their keys, `val` their values.
static void row_sort(struct weft_csr *a, int64_t from, int64_t count, uint64_t *key, char *val, int col_bits)
{
    const size_t bytes = weft_type_bytes(a->type);
    char *row_val = bytes ? (char *)a->val + (size_t)from * bytes : NULL;
    for (int64_t k = 0; k < count; k++)
        key[k] = (uint64_t)a->col[from + k] << 32 | (uint64_t)k;
    weft__keys_sort(key, count, key + count, col_bits);
    if (bytes)
        memcpy(val, row_val, (size_t)count * bytes);
    for (int64_t k = 0; k < count; k++) {
        a->col[from + k] = (int32_t)(key[k] >> 32);
        if (bytes)
            memcpy(row_val + (size_t)k * bytes, val + (key[k] & UINT32_MAX) * bytes, bytes);
    }
}

static void rows_work(void *arg)
{
    struct rows *r = arg;
    uint64_t *key = malloc(weft__max(weft__mul((size_t)r->longest, 2 * sizeof *key), 1));
    char *val = malloc(weft__max(weft__mul((size_t)r->longest, weft_type_bytes(r->a->type)), 1));
    int64_t i, end;
    while (key && val && weft__next(&r->loop, 256, &i, &end))
        for (; i < end; i++) {
            const int64_t from = weft_csr_ofs(r->a, i), count = weft_csr_ofs(r->a, i + 1) - from;
            if (count && !ascends(r->a->col + from, count))
                row_sort(r->a, from, count, key, val, r->col_bits);
        }
    free(key);
    free(val);
}

static weft_status rows_sort(struct weft_csr *a, int threads)
{
    struct rows rows = {.a = a, .col_bits = 1, .loop.count = a->m};
    while (INT64_C(1) << rows.col_bits < a->n)
        rows.col_bits++;
    for (int64_t i = 0; i < a->m; i++) {
        const int64_t length = weft_csr_ofs(a, i + 1) - weft_csr_ofs(a, i);
        rows.longest = length > rows.longest ? length : rows.longest;
    }
    if (rows.longest > UINT32_MAX)
        return WEFT_ERANGE;
    struct weft__team team;
    weft__team_begin(&team, threads);
    weft__team_run(&team, weft__team_threads(&team, a->nnz), rows_work, &rows);
    weft__team_end(&team);
    return weft__loop_done(&rows.loop) ? WEFT_OK : WEFT_ENOMEM;
}

static void value_move(struct weft_csr *a, int64_t to, int64_t from)
{
    const size_t bytes = weft_type_bytes(a->type);
    if (bytes)
        memmove((char *)a->val + (size_t)to * bytes, (char *)a->val + (size_t)from * bytes, bytes);
}

static void value_add(struct weft_csr *a, int64_t to, int64_t from)
{
    if (a->type == WEFT_TYPE_F32)
        ((float *)a->val)[to] += ((float *)a->val)[from];
    else if (a->type == WEFT_TYPE_F64)
        ((double *)a->val)[to] += ((double *)a->val)[from];
    else if (a->type == WEFT_TYPE_I32)
        ((uint32_t *)a->val)[to] += ((uint32_t *)a->val)[from];
}

static void ofs_set(struct weft_csr *a, int64_t i, int64_t ofs)
{
    if (a->ofs == WEFT_OFS_64)
        ((int64_t *)a->row_ptr)[i] = ofs;
    else
        ((int32_t *)a->row_ptr)[i] = (int32_t)ofs;
}

// Entries of one row and column, which are neighbours, become one.
static void duplicates_sum(struct weft_csr *a)
{
    int64_t to = 0, from = 0;
    for (int64_t i = 0; i < a->m; i++) {
        const int64_t end = weft_csr_ofs(a, i + 1), begin = to;
        ofs_set(a, i, begin);
        for (; from < end; from++) {
            if (to > begin && a->col[to - 1] == a->col[from]) {
                value_add(a, to - 1, from);
                continue;
            }
            a->col[to] = a->col[from];
            value_move(a, to++, from);
        }
    }
    ofs_set(a, a->m, to);
    a->nnz = to;
}

weft_status weft_csr_canonical(struct weft_csr *a, const struct weft_canonical_params *params, struct weft_error *err)
{
    static const struct weft_canonical_params defaults;
    if (!params)
        params = &defaults;
    weft_status status = weft_csr_validate(a, err);
    if (!status)
        status = weft__threads_check(err, params->threads);
    if (status)
        return status;
    status = rows_sort(a, params->threads);
    if (status)
        return weft__error(err, status, "sorting columns of %lld x %lld with %lld entries: %s", (long long)a->m,
                           (long long)a->n, (long long)a->nnz, weft_status_text(status));
    if (!params->keep)
        duplicates_sum(a);
    return WEFT_OK;
}
