// SPDX-License-Identifier: Apache-2.0
// Permuting on the host: row lengths in their new order, their prefix sum, then each row by itself.
#include "host/src/core/check.h"
#include "host/src/core/error.h"
#include "host/src/core/threads.h"
#include "host/src/matrix/keys.h"

#include <stdlib.h>
#include <string.h>
#include <weft/permute.h>

static inline void row_ptr_set(struct weft_csr *a, int64_t i, int64_t ofs)
{
    if (a->ofs == WEFT_OFS_64)
        ((int64_t *)a->row_ptr)[i] = ofs;
    else
        ((int32_t *)a->row_ptr)[i] = (int32_t)ofs;
}

static inline int64_t old_row(const struct weft_permutation *p, int64_t i)
{
    return p->row ? p->row[i] : i;
}

// New row i of `out`, columns ascending. `key` holds twice the length of the row.
static void row_fill_sorted(struct weft_csr *out, int64_t i, const struct weft_csr *a, const struct weft_permutation *p,
                            uint64_t *key, int col_bits)
{
    int64_t to = weft_csr_ofs(out, i), count = weft_csr_ofs(out, i + 1) - to, from = weft_csr_ofs(a, old_row(p, i));
    size_t bytes = weft_type_bytes(a->type);
    for (int64_t k = 0; k < count; k++)
        key[k] = (uint64_t)p->col_inv[a->col[from + k]] << 32 | (uint64_t)k;
    weft__keys_sort(key, count, key + count, col_bits);
    for (int64_t k = 0; k < count; k++) {
        int64_t source = from + (int64_t)(key[k] & 0xffffffff);
        out->col[to + k] = (int32_t)(key[k] >> 32);
        if (bytes == 4)
            ((uint32_t *)out->val)[to + k] = ((const uint32_t *)a->val)[source];
        else if (bytes == 8)
            ((uint64_t *)out->val)[to + k] = ((const uint64_t *)a->val)[source];
    }
}

static void row_fill(struct weft_csr *out, int64_t i, const struct weft_csr *a, const struct weft_permutation *p)
{
    int64_t to = weft_csr_ofs(out, i), count = weft_csr_ofs(out, i + 1) - to, from = weft_csr_ofs(a, old_row(p, i));
    size_t bytes = weft_type_bytes(a->type);
    for (int64_t k = 0; k < count; k++)
        out->col[to + k] = p->col_inv ? p->col_inv[a->col[from + k]] : a->col[from + k];
    if (bytes && count)
        memcpy((char *)out->val + (size_t)to * bytes, (const char *)a->val + (size_t)from * bytes,
               (size_t)count * bytes);
}

struct rows {
    struct weft_csr *out;
    const struct weft_csr *a;
    const struct weft_permutation *p;
    int sort, col_bits;
    int64_t longest;
    struct weft__loop loop;
};

static void rows_work(void *arg)
{
    struct rows *r = arg;
    uint64_t *key = r->sort ? malloc(weft__max(weft__mul((size_t)r->longest, 2 * sizeof *key), 1)) : NULL;
    int64_t i, end;
    while ((key || !r->sort) && weft__next(&r->loop, 256, &i, &end))
        for (; i < end; i++) {
            if (r->sort)
                row_fill_sorted(r->out, i, r->a, r->p, key, r->col_bits);
            else
                row_fill(r->out, i, r->a, r->p);
        }
    free(key);
}

static weft_status rows_fill(struct weft_csr *out, const struct weft_csr *a, const struct weft_permutation *p, int sort,
                             int64_t longest, int threads)
{
    struct rows rows = {out, a, p, sort, .longest = longest, .col_bits = 1, .loop.count = a->m};
    while (INT64_C(1) << rows.col_bits < a->n)
        rows.col_bits++;
    struct weft__team team;
    weft__team_begin(&team, threads);
    weft__team_run(&team, weft__team_threads(&team, a->nnz), rows_work, &rows);
    weft__team_end(&team);
    return weft__loop_done(&rows.loop) ? WEFT_OK : WEFT_ENOMEM;
}

static weft_status shapes_check(int64_t m, int64_t n, const struct weft_permutation *p, struct weft_error *err)
{
    if (m == p->m && n == p->n)
        return WEFT_OK;
    return weft__error(err, WEFT_EINVAL,
                       "the permutation is of %lld rows and %lld columns, the matrix has %lld and %lld",
                       (long long)p->m, (long long)p->n, (long long)m, (long long)n);
}

weft_status weft_csr_permute(struct weft_csr *out, const struct weft_csr *a, const struct weft_permutation *p,
                             const struct weft_permute_params *params, struct weft_error *err)
{
    static const struct weft_permute_params defaults;
    if (!params)
        params = &defaults;
    weft_status status = WEFT__NEED(err, {"out", out});
    if (!status && out == a)
        status = weft__error(err, WEFT_EINVAL, "out and a are the same matrix");
    if (status)
        return status;
    *out = (struct weft_csr){0};
    status = weft_csr_validate(a, err);
    if (!status)
        status = weft__permutation_check(err, p);
    if (!status)
        status = weft__threads_check(err, params->threads);
    if (!status)
        status = shapes_check(a->m, a->n, p, err);
    if (status)
        return status;
    int sort = p->col && !params->keep;
    int64_t longest = 0, sum = 0;
    status = weft_csr_alloc(out, weft_csr_shape(a));
    for (int64_t i = 0; i < a->m && !status; i++) {
        int64_t length = weft_csr_ofs(a, old_row(p, i) + 1) - weft_csr_ofs(a, old_row(p, i));
        longest = length > longest ? length : longest;
        row_ptr_set(out, i, sum);
        sum += length;
    }
    if (!status) {
        row_ptr_set(out, a->m, sum);
        status = sort && longest > UINT32_MAX ? WEFT_ERANGE : rows_fill(out, a, p, sort, longest, params->threads);
    }
    if (!status)
        return WEFT_OK;
    weft_csr_free(out);
    return weft__error(err, status, "permuting %lld x %lld with %lld entries: %s", (long long)a->m, (long long)a->n,
                       (long long)a->nnz, weft_status_text(status));
}

weft_status weft_coo_permute(struct weft_coo *out, const struct weft_coo *a, const struct weft_permutation *p,
                             struct weft_error *err)
{
    weft_status status = WEFT__NEED(err, {"out", out});
    if (!status && out == a)
        status = weft__error(err, WEFT_EINVAL, "out and a are the same matrix");
    if (status)
        return status;
    *out = (struct weft_coo){0};
    status = weft__coo_check(err, a);
    if (!status)
        status = weft__permutation_check(err, p);
    if (!status)
        status = shapes_check(a->m, a->n, p, err);
    if (status)
        return status;
    status = weft_coo_alloc(out, weft_shape(.m = a->m, .n = a->n, .nnz = a->nnz, .type = a->type));
    if (status)
        return weft__error(err, status, "%lld coordinates: %s", (long long)a->nnz, weft_status_text(status));
    for (int64_t k = 0; k < a->nnz; k++) {
        out->row[k] = p->row ? p->row_inv[a->row[k]] : a->row[k];
        out->col[k] = p->col ? p->col_inv[a->col[k]] : a->col[k];
    }
    if (out->val && a->nnz)
        memcpy(out->val, a->val, (size_t)a->nnz * weft_type_bytes(a->type));
    return WEFT_OK;
}

weft_status weft_vector_permute(void *out, const void *in, const struct weft_permutation *p,
                                enum weft_permute_side side, bool back, size_t bytes)
{
    if (weft__permutation_check(NULL, p))
        return WEFT_EINVAL;
    int64_t count = side == WEFT_PERMUTE_SIDE_ROWS ? p->m : p->n;
    const int32_t *map = side == WEFT_PERMUTE_SIDE_ROWS ? (back ? p->row_inv : p->row) : (back ? p->col_inv : p->col);
    if ((bytes != 4 && bytes != 8) || (side != WEFT_PERMUTE_SIDE_ROWS && side != WEFT_PERMUTE_SIDE_COLS) ||
        (count && (!out || !in || out == in)))
        return WEFT_EINVAL;
    if (!map && count)
        memcpy(out, in, (size_t)count * bytes);
    for (int64_t i = 0; map && i < count; i++) {
        if (bytes == 4)
            ((uint32_t *)out)[i] = ((const uint32_t *)in)[map[i]];
        else
            ((uint64_t *)out)[i] = ((const uint64_t *)in)[map[i]];
    }
    return WEFT_OK;
}
