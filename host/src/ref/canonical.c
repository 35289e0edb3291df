// SPDX-License-Identifier: Apache-2.0
// The oracle of sorted columns and summed duplicates: a stable transposition sorts what lies in a row by where it came from.
#include "host/src/ref/ref.h"

#include <string.h>

// Add entry `from` of `a` to its entry `to`.
static void entry_add(struct weft_csr *a, int64_t to, int64_t from)
{
    if (a->type == WEFT_TYPE_F32)
        ((float *)a->val)[to] = ((float *)a->val)[to] + ((float *)a->val)[from];
    if (a->type == WEFT_TYPE_F64)
        ((double *)a->val)[to] = ((double *)a->val)[to] + ((double *)a->val)[from];
    if (a->type == WEFT_TYPE_I32)
        ((int32_t *)a->val)[to] = (int32_t)((uint32_t)((int32_t *)a->val)[to] + (uint32_t)((int32_t *)a->val)[from]);
}

// What lies behind row i moves one entry to the left, onto entry p.
static void entry_drop(struct weft_csr *a, int64_t i, int64_t p)
{
    const size_t bytes = weft_type_bytes(a->type), rest = (size_t)(a->nnz - p - 1);
    memmove(a->col + p, a->col + p + 1, rest * sizeof *a->col);
    if (bytes)
        memmove((char *)a->val + (size_t)p * bytes, (char *)a->val + (size_t)(p + 1) * bytes, rest * bytes);
    for (int64_t k = i + 1; k <= a->m; k++) {
        if (a->ofs == WEFT_OFS_64)
            ((int64_t *)a->row_ptr)[k]--;
        else
            ((int32_t *)a->row_ptr)[k]--;
    }
    a->nnz--;
}

weft_status weft__ref_canonical(struct weft_csr *out, const struct weft_csr *a, int keep)
{
    struct weft_csr turned;
    weft_status status = weft__ref_transpose(&turned, a);
    if (status)
        return status;
    status = weft__ref_transpose(out, &turned);
    weft_csr_free(&turned);
    for (int64_t i = 0; i < a->m && !status && !keep; i++)
        for (int64_t p = weft_csr_ofs(out, i) + 1; p < weft_csr_ofs(out, i + 1);) {
            if (out->col[p - 1] != out->col[p]) {
                p++;
                continue;
            }
            entry_add(out, p - 1, p);
            entry_drop(out, i, p);
        }
    return status;
}
