// SPDX-License-Identifier: Apache-2.0
// Checks the arguments of public functions: host memory, matrices, buffers, ranges of numbers.
#include "host/src/core/check.h"
#include "host/src/core/context.h"
#include "host/src/core/threads.h"

#include <weft/transpose.h>

static const char *missing(const struct weft__pointer *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!list[i].at)
            return list[i].name;
    return NULL;
}

weft_status weft__pointers_check(struct weft_error *err, const struct weft__pointer *list, size_t count)
{
    const char *name = missing(list, count);
    return name ? weft__error(err, WEFT_EINVAL, "%s is NULL", name) : WEFT_OK;
}

weft_status weft__pointers_check_in(struct weft_context *ctx, const struct weft__pointer *list, size_t count)
{
    const char *name = missing(list, count);
    if (!ctx)
        return WEFT_EINVAL;
    return name ? weft__fail(ctx, WEFT_EINVAL, "%s is NULL", name) : WEFT_OK;
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

weft_status weft__check_buffer(struct weft_context *ctx, cl_mem buffer, size_t bytes, const char *name)
{
    size_t size = 0;
    if (!bytes)
        return WEFT_OK;
    if (!buffer)
        return weft__fail(ctx, WEFT_EINVAL, "%s is NULL, it needs %zu bytes", name, bytes);
    cl_int error = weft__cl.clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof size, &size, NULL);
    if (error != CL_SUCCESS)
        return weft__fail_cl(ctx, error, name);
    if (size < bytes)
        return weft__fail(ctx, WEFT_EINVAL, "%s has %zu bytes, it needs %zu", name, size, bytes);
    return WEFT_OK;
}

weft_status weft__check_range(struct weft_context *ctx, int64_t value, int64_t low, int64_t high, int64_t step,
                              const char *name)
{
    if (value >= low && value <= high && value % step == 0)
        return WEFT_OK;
    if (step == 1)
        return weft__fail(ctx, WEFT_EINVAL, "%s is %lld, it must be in %lld..%lld", name, (long long)value,
                          (long long)low, (long long)high);
    return weft__fail(ctx, WEFT_EINVAL, "%s is %lld, it must be a multiple of %lld in %lld..%lld", name,
                      (long long)value, (long long)step, (long long)low, (long long)high);
}

weft_status weft__buffers_check(struct weft_context *ctx, const struct weft__buffer_rule *list, size_t count)
{
    weft_status status = WEFT_OK;
    for (size_t i = 0; i < count && !status; i++)
        status = weft__check_buffer(ctx, list[i].buffer, list[i].bytes, list[i].name);
    return status;
}

weft_status weft__ranges_check(struct weft_context *ctx, const struct weft__range_rule *list, size_t count)
{
    weft_status status = WEFT_OK;
    for (size_t i = 0; i < count && !status; i++)
        status = weft__check_range(ctx, list[i].value, list[i].low, list[i].high, list[i].step, list[i].name);
    return status;
}

weft_status weft__check_apart(struct weft_context *ctx, const struct weft_device_csr *in,
                              const struct weft_device_csr *out)
{
    const cl_mem from[] = {in->row_ptr, in->col, in->val}, to[] = {out->row_ptr, out->col, out->val};
    for (int i = 0; i < 9; i++)
        if (from[i % 3] && from[i % 3] == to[i / 3])
            return weft__fail(ctx, WEFT_EINVAL, "input and output share a buffer");
    return WEFT_OK;
}
