// SPDX-License-Identifier: Apache-2.0
// Checks the arguments of public functions on the host: pointers, matrices, sizes, types.
#include "host/src/core/check.h"
#include "host/src/core/error.h"
#include "host/src/core/threads.h"

weft_status weft__pointers_check(struct weft_error *err, const struct weft__pointer *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!list[i].at)
            return weft__error(err, WEFT_EINVAL, "%s is NULL", list[i].name);
    return WEFT_OK;
}

weft_status weft__sizes_check(struct weft_error *err, int64_t m, int64_t n, int64_t nnz)
{
    if (m < 0 || n < 0 || nnz < 0 || m > INT32_MAX || n > INT32_MAX)
        return weft__error(err, WEFT_EINVAL,
                           "a matrix needs 0 <= m, n <= 2147483647 and nnz >= 0, not %lld x %lld with %lld entries",
                           (long long)m, (long long)n, (long long)nnz);
    return WEFT_OK;
}

weft_status weft__type_check(struct weft_error *err, enum weft_type type)
{
    return (unsigned)type > WEFT_TYPE_PATTERN
               ? weft__error(err, WEFT_EINVAL, "type %d is not a type of values", (int)type)
               : WEFT_OK;
}

weft_status weft__ofs_check(struct weft_error *err, enum weft_ofs ofs)
{
    return (unsigned)ofs > WEFT_OFS_64 ? weft__error(err, WEFT_EINVAL, "ofs %d is not a width of offsets", (int)ofs)
                                       : WEFT_OK;
}

weft_status weft__csr_check(struct weft_error *err, const struct weft_csr *a)
{
    weft_status status = WEFT__NEED(err, {"the matrix", a});
    if (!status)
        status = weft__sizes_check(err, a->m, a->n, a->nnz);
    if (!status)
        status = weft__type_check(err, a->type);
    if (!status)
        status = weft__ofs_check(err, a->ofs);
    if (status)
        return status;
    const char *name = !a->row_ptr                                         ? "row_ptr"
                       : a->nnz && !a->col                                 ? "col"
                       : a->nnz && a->type != WEFT_TYPE_PATTERN && !a->val ? "val"
                                                                           : NULL;
    return name ? weft__error(err, WEFT_EINVAL, "an array of the matrix is missing: %s is NULL", name) : WEFT_OK;
}

// Entries that a thread looks at at a time.
#define CHUNK 65536

struct coo_entries {
    const struct weft_coo *a;
    _Atomic int64_t bad; // the first entry outside
};

static void coo_chunk_check(void *arg, int64_t chunk)
{
    struct coo_entries *c = arg;
    const struct weft_coo *a = c->a;
    const int64_t begin = chunk * CHUNK, end = begin + CHUNK < a->nnz ? begin + CHUNK : a->nnz;
    for (int64_t p = begin; p < end; p++)
        if (a->row[p] < 0 || a->row[p] >= a->m || a->col[p] < 0 || a->col[p] >= a->n) {
            int64_t least = atomic_load(&c->bad);
            while (p < least && !atomic_compare_exchange_weak(&c->bad, &least, p))
                ;
            return;
        }
}

weft_status weft__coo_check(struct weft_error *err, const struct weft_coo *a)
{
    weft_status status = WEFT__NEED(err, {"the matrix", a});
    if (!status)
        status = weft__sizes_check(err, a->m, a->n, a->nnz);
    if (!status)
        status = weft__type_check(err, a->type);
    if (status || !a->nnz)
        return status;
    const char *name = !a->row ? "row" : !a->col ? "col" : a->type != WEFT_TYPE_PATTERN && !a->val ? "val" : NULL;
    if (name)
        return weft__error(err, WEFT_EINVAL, "an array of the coordinates is missing: %s is NULL", name);
    struct coo_entries entries = {a, INT64_MAX};
    struct weft__team team;
    weft__team_begin(&team, 0);
    weft__team_each(&team, a->nnz, a->nnz / CHUNK + 1, coo_chunk_check, &entries);
    weft__team_end(&team);
    const int64_t bad = atomic_load(&entries.bad);
    if (bad == INT64_MAX)
        return WEFT_OK;
    return weft__error(err, WEFT_EMATRIX, "entry %lld at (%d, %d) is outside %lld x %lld", (long long)bad, a->row[bad],
                       a->col[bad], (long long)a->m, (long long)a->n);
}

weft_status weft__permutation_check(struct weft_error *err, const struct weft_permutation *p)
{
    weft_status status = WEFT__NEED(err, {"the permutation", p});
    if (!status && (p->m < 0 || p->n < 0 || p->m > INT32_MAX || p->n > INT32_MAX))
        status = weft__error(err, WEFT_EINVAL, "a permutation needs 0 <= m, n <= 2147483647");
    if (!status && (!p->row != !p->row_inv || !p->col != !p->col_inv))
        status = weft__error(err, WEFT_EINVAL, "the permutation has one map of a pair: %s and %s_inv belong together",
                             !p->row != !p->row_inv ? "row" : "col", !p->row != !p->row_inv ? "row" : "col");
    return status;
}

weft_status weft__threads_check(struct weft_error *err, int threads)
{
    return threads < 0 ? weft__error(err, WEFT_EINVAL, "threads is %d, it must be 0 or more", threads) : WEFT_OK;
}

weft_status weft__histogram_check(struct weft_error *err, const int64_t *count, int64_t buckets, const char *name)
{
    if (buckets < 0)
        return weft__error(err, WEFT_EINVAL, "a histogram of %lld buckets", (long long)buckets);
    return buckets && !count ? weft__error(err, WEFT_EINVAL, "%s is NULL", name) : WEFT_OK;
}
