// SPDX-License-Identifier: Apache-2.0
// out = A^T: row j of out holds the entries of column j of A. They are counted, the counts summed up to row_ptr, and
// entry p of row i goes to the next free place of row col[p]. Because p ascends, the row indices ascend there and
// equal entries keep their order.
// Source: F. Gustavson, Two fast algorithms for sparse matrices: multiplication and permuted transposition,
//         ACM TOMS 4(3), 1978.
#include "host/src/core/error.h"
#include "host/src/ref/ref.h"

#include <stdlib.h>
#include <string.h>

// `bytes` of a value is a constant wherever this is called, so that memcpy becomes one load and one store.
#define TRANSPOSE_DEFINE(name, ofs_t)                                                                                  \
    static inline void name(const struct weft_csr *out, const struct weft_csr *a, ofs_t *restrict next, size_t bytes)  \
    {                                                                                                                  \
        const ofs_t *restrict a_ptr = a->row_ptr;                                                                      \
        const int32_t *restrict a_col = a->col;                                                                        \
        const char *restrict a_val = a->val;                                                                           \
        ofs_t *restrict out_ptr = out->row_ptr;                                                                        \
        int32_t *restrict out_col = out->col;                                                                          \
        char *restrict out_val = out->val;                                                                             \
        for (int64_t j = 0; j < a->n; j++)                                                                             \
            next[j] = 0;                                                                                               \
        for (int64_t p = 0; p < a->nnz; p++)                                                                           \
            next[a_col[p]]++;                                                                                          \
        ofs_t sum = 0;                                                                                                 \
        for (int64_t j = 0; j < a->n; j++) {                                                                           \
            ofs_t count = next[j];                                                                                     \
            next[j] = out_ptr[j] = sum;                                                                                \
            sum += count;                                                                                              \
        }                                                                                                              \
        out_ptr[a->n] = sum;                                                                                           \
        for (int64_t i = 0; i < a->m; i++)                                                                             \
            for (ofs_t p = a_ptr[i]; p < a_ptr[i + 1]; p++) {                                                          \
                size_t to = (size_t)next[a_col[p]]++;                                                                  \
                out_col[to] = (int32_t)i;                                                                              \
                if (bytes)                                                                                             \
                    memcpy(out_val + to * bytes, a_val + (size_t)p * bytes, bytes);                                    \
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
