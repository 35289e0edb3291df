// SPDX-License-Identifier: Apache-2.0
// Comparisons of results with those of the oracles, element by element.
#include "host/common/check_exact.h"

#include <stdio.h>
#include <string.h>

// First of `count` elements of `bytes` bytes that differs, -1: none.
static int64_t difference(const void *got, const void *want, int64_t count, size_t bytes)
{
    int64_t at = 0;
    if (!count || !bytes || !memcmp(got, want, (size_t)count * bytes))
        return -1;
    while (!memcmp((const char *)got + (size_t)at * bytes, (const char *)want + (size_t)at * bytes, bytes))
        at++;
    return at;
}

// Element `at` of signed integers of 4 or 8 bytes.
static long long number(const void *array, int64_t at, size_t bytes)
{
    return bytes == 8 ? ((const int64_t *)array)[at] : ((const int32_t *)array)[at];
}

static int same(const char *name, const void *got, const void *want, int64_t count, size_t bytes, char *why,
                size_t size)
{
    const int64_t at = difference(got, want, count, bytes);
    why[0] = 0;
    if (at >= 0)
        snprintf(why, size, "%s[%lld] is %lld, not %lld", name, (long long)at, number(got, at, bytes),
                 number(want, at, bytes));
    return at < 0;
}

int check_transpose(const struct weft_csr *got, const struct weft_csr *want, char *why, size_t size)
{
    if (got->m != want->m || got->n != want->n || got->nnz != want->nnz || got->type != want->type ||
        got->ofs != want->ofs) {
        snprintf(why, size, "the shape is %lld x %lld with %lld entries", (long long)got->m, (long long)got->n,
                 (long long)got->nnz);
        return 0;
    }
    return same("col_ptr", got->row_ptr, want->row_ptr, want->m + 1, weft_ofs_bytes(want->ofs), why, size) &&
           same("row_idx", got->col, want->col, want->nnz, sizeof *want->col, why, size) &&
           check_values(got->val, want->val, want->nnz, want->type, why, size);
}

int check_scan(const void *got, const void *want, int64_t n, enum weft_scan_type type, char *why, size_t size)
{
    if (type == WEFT_SCAN_TYPE_F32)
        return check_values(got, want, n, WEFT_TYPE_F32, why, size);
    return same("sums", got, want, n, weft_scan_sum_bytes(type), why, size);
}

int check_keys(const void *got, const void *got_val, const void *want, const void *want_val, int64_t n,
               enum weft_key key, int payload_bytes, char *why, size_t size)
{
    return same("keys", got, want, n, weft_key_bytes(key), why, size) &&
           same("payloads", got_val, want_val, n, (size_t)payload_bytes, why, size);
}

int check_histogram(const void *got, const void *want, int64_t bins, enum weft_ofs ofs, int pointers, char *why,
                    size_t size)
{
    return same(pointers ? "pointers" : "counts", got, want, bins + (pointers != 0), weft_ofs_bytes(ofs), why, size);
}

int check_expand(const int32_t *got, const int32_t *want, int64_t nnz, char *why, size_t size)
{
    return same("rows", got, want, nnz, sizeof *want, why, size);
}

int check_values(const void *got, const void *want, int64_t nnz, enum weft_type type, char *why, size_t size)
{
    const int64_t at = difference(got, want, nnz, weft_type_bytes(type));
    why[0] = 0;
    if (at >= 0)
        snprintf(why, size, "val[%lld] is not that of the reference", (long long)at);
    return at < 0;
}
