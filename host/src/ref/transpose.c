// SPDX-License-Identifier: Apache-2.0
// out = A^T: row j of out holds the entries of column j of A. They are counted, the counts summed up to row_ptr, and
// entry p of row i goes to the next free place of row col[p]. Because p ascends, the row indices ascend there and
// equal entries keep their order.
// Source: F. Gustavson, Two fast algorithms for sparse matrices: multiplication and permuted transposition,
//         ACM TOMS 4(3), 1978.
#include "host/src/core/error.h"
#include "host/src/ref/ofs.h"
#include "host/src/ref/ref.h"

#include <stdlib.h>
#include <string.h>

// `wide` and `bytes` are constants wherever this is called.
static inline __attribute__((always_inline)) void transpose(const struct weft_csr *out, const struct weft_csr *a,
                                                            void *restrict next, int wide, size_t bytes)
{
    const void *restrict a_ptr = a->row_ptr;
    const int32_t *restrict a_col = a->col;
    const char *restrict a_val = a->val;
    void *restrict out_ptr = out->row_ptr;
    int32_t *restrict out_col = out->col;
    char *restrict out_val = out->val;
    int64_t sum = 0;
    for (int64_t j = 0; j < a->n; j++)
        weft__ofs_set(next, j, wide, 0);
    for (int64_t p = 0; p < a->nnz; p++)
        weft__ofs_set(next, a_col[p], wide, weft__ofs_get(next, a_col[p], wide) + 1);
    for (int64_t j = 0; j < a->n; j++) {
        const int64_t count = weft__ofs_get(next, j, wide);
        weft__ofs_set(next, j, wide, sum);
        weft__ofs_set(out_ptr, j, wide, sum);
        sum += count;
    }
    weft__ofs_set(out_ptr, a->n, wide, sum);
    for (int64_t i = 0; i < a->m; i++)
        for (int64_t p = weft__ofs_get(a_ptr, i, wide); p < weft__ofs_get(a_ptr, i + 1, wide); p++) {
            const int64_t to = weft__ofs_get(next, a_col[p], wide);
            weft__ofs_set(next, a_col[p], wide, to + 1);
            out_col[to] = (int32_t)i;
            if (bytes)
                memcpy(out_val + (size_t)to * bytes, a_val + (size_t)p * bytes, bytes);
        }
}

void weft__ref_transpose_into(struct weft_csr *out, const struct weft_csr *a, void *next)
{
    const size_t bytes = weft_type_bytes(a->type);
    if (a->ofs == WEFT_OFS_64)
        bytes == 8   ? transpose(out, a, next, 1, 8)
        : bytes == 4 ? transpose(out, a, next, 1, 4)
                     : transpose(out, a, next, 1, 0);
    else
        bytes == 8   ? transpose(out, a, next, 0, 8)
        : bytes == 4 ? transpose(out, a, next, 0, 4)
                     : transpose(out, a, next, 0, 0);
}

weft_status weft__ref_transpose(struct weft_csr *out, const struct weft_csr *a)
{
    weft_status status = weft_csr_alloc(out, weft_shape_transposed(weft_csr_shape(a)));
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
