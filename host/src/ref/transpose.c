// SPDX-License-Identifier: Apache-2.0
// out = A^T: out.row_ptr[j+1] - out.row_ptr[j] = number of entries of A in column j; entry p of A in row i goes to the
// next free place of row col[p], and because p ascends, rows ascend there and equal entries keep their order.
// Source: F. Gustavson, Two fast algorithms for sparse matrices, ACM TOMS 4(3), 1978.
// Moves:  nnz*(12 + 2*sizeof val) bytes and nnz read-modify-writes of `next`; scattered writes.
#include "../internal.h"
#include "ref.h"

#include <stdlib.h>
#include <string.h>

// `bytes` of a value is a constant at every call, so that the copy becomes one load and one store.
#define TRANSPOSE_DEFINE(name, ofs_t)                                                                                  \
    static inline void name(const struct weft_csr *out, const struct weft_csr *a, ofs_t *restrict next, size_t bytes)  \
    {                                                                                                                  \
        const ofs_t *restrict from = a->row_ptr;                                                                       \
        const int32_t *restrict col = a->col;                                                                          \
        ofs_t *restrict row_ptr = out->row_ptr;                                                                        \
        memset(next, 0, (size_t)a->n * sizeof *next);                                                                  \
        for (int64_t p = 0; p < a->nnz; p++)                                                                           \
            next[col[p]]++;                                                                                            \
        ofs_t sum = 0;                                                                                                 \
        for (int64_t j = 0; j < a->n; j++) {                                                                           \
            ofs_t count = next[j];                                                                                     \
            next[j] = row_ptr[j] = sum;                                                                                \
            sum += count;                                                                                              \
        }                                                                                                              \
        row_ptr[a->n] = sum;                                                                                           \
        for (int64_t i = 0; i < a->m; i++)                                                                             \
            for (ofs_t p = from[i]; p < from[i + 1]; p++) {                                                            \
                size_t to = (size_t)next[col[p]]++;                                                                    \
                out->col[to] = (int32_t)i;                                                                             \
                if (bytes)                                                                                             \
                    memcpy((char *)out->val + to * bytes, (const char *)a->val + (size_t)p * bytes, bytes);            \
            }                                                                                                          \
    }

TRANSPOSE_DEFINE(transpose_ofs32, int32_t)
TRANSPOSE_DEFINE(transpose_ofs64, int64_t)

void weft__ref_transpose_into(struct weft_csr *out, const struct weft_csr *a, void *next)
{
    size_t bytes = weft_type_bytes(a->type);
    if (a->ofs == WEFT_OFS64)
        bytes == 8   ? transpose_ofs64(out, a, next, 8)
        : bytes == 4 ? transpose_ofs64(out, a, next, 4)
                     : transpose_ofs64(out, a, next, 0);
    else
        bytes == 8   ? transpose_ofs32(out, a, next, 8)
        : bytes == 4 ? transpose_ofs32(out, a, next, 4)
                     : transpose_ofs32(out, a, next, 0);
}

weft_status weft__ref_transpose(struct weft_csr *out, const struct weft_csr *a)
{
    weft_status status = weft_csr_alloc(out, a->n, a->m, a->nnz, a->type, a->ofs);
    void *next = malloc(weft__max(1, weft__mul((size_t)a->n, weft_ofs_bytes(a->ofs))));
    if (!status && !next)
        status = WEFT_ENOMEM;
    if (!status)
        weft__ref_transpose_into(out, a, next);
    else
        weft_csr_free(out);
    free(next);
    return status;
}
