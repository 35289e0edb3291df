// SPDX-License-Identifier: Apache-2.0
// Matrices whose indices count from 1, as in Fortran and MATLAB, and back.
#include "host/src/core/check.h"
#include "host/src/core/error.h"

static void ofs_set(const struct weft_csr *a, int64_t i, int64_t value)
{
    if (a->ofs == WEFT_OFS_64)
        ((int64_t *)a->row_ptr)[i] = value;
    else
        ((int32_t *)a->row_ptr)[i] = (int32_t)value;
}

// What weft_csr_validate asks for, of indices that count from `base`.
static weft_status based_check(const struct weft_csr *a, int base, struct weft_error *err)
{
    const long long first = weft_csr_ofs(a, 0), last = weft_csr_ofs(a, a->m), end = a->nnz + base;
    if (first != base)
        return weft__error(err, WEFT_EMATRIX, "row_ptr[0] is %lld, not the base %d", first, base);
    if (last != end)
        return weft__error(err, WEFT_EMATRIX, "row_ptr[%lld] is %lld, not %lld: nnz = %lld from base %d",
                           (long long)a->m, last, end, (long long)a->nnz, base);
    for (int64_t i = 0; i < a->m; i++)
        if (weft_csr_ofs(a, i) > weft_csr_ofs(a, i + 1))
            return weft__error(err, WEFT_EMATRIX, "row_ptr[%lld] = %lld exceeds row_ptr[%lld] = %lld", (long long)i,
                               (long long)weft_csr_ofs(a, i), (long long)i + 1, (long long)weft_csr_ofs(a, i + 1));
    for (int64_t p = 0; p < a->nnz; p++)
        if (a->col[p] < base || a->col[p] - base >= a->n)
            return weft__error(err, WEFT_EMATRIX, "col[%lld] = %d is outside %d .. %lld", (long long)p, (int)a->col[p],
                               base, (long long)a->n - 1 + base);
    return WEFT_OK;
}

weft_status weft_csr_rebase(struct weft_csr *a, int from, int to, struct weft_error *err)
{
    weft_status status = weft__csr_check(err, a);
    if (!status && (from < 0 || from > 1 || to < 0 || to > 1))
        status = weft__error(err, WEFT_EINVAL, "bases %d and %d: each is 0 or 1", from, to);
    if (!status)
        status = based_check(a, from, err);
    if (!status && to > from && a->ofs == WEFT_OFS_32 && a->nnz == INT32_MAX)
        status = weft__error(err, WEFT_ERANGE, "the last row pointer from base 1 is 2^31: 64-bit offsets are needed");
    if (status || from == to)
        return status;
    for (int64_t i = 0; i <= a->m; i++)
        ofs_set(a, i, weft_csr_ofs(a, i) + to - from);
    for (int64_t p = 0; p < a->nnz; p++)
        a->col[p] += to - from;
    return WEFT_OK;
}
