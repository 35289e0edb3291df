// SPDX-License-Identifier: Apache-2.0
// The oracle of the check of a matrix: row pointers first, then entry by entry.
#include "host/src/ref/ref.h"

enum weft_fault weft__ref_validate(const struct weft_csr *a, enum weft_columns columns, int64_t *at)
{
    *at = 0;
    if (weft_csr_ofs(a, 0) != 0)
        return WEFT_FAULT_FIRST;
    if (weft_csr_ofs(a, *at = a->m) != a->nnz)
        return WEFT_FAULT_LAST;
    for (*at = 0; *at < a->m; ++*at)
        if (weft_csr_ofs(a, *at) > weft_csr_ofs(a, *at + 1))
            return WEFT_FAULT_DESCENDS;
    for (int64_t i = 0; i < a->m; i++)
        for (int64_t p = *at = weft_csr_ofs(a, i); p < weft_csr_ofs(a, i + 1); *at = ++p) {
            if (a->col[p] < 0 || a->col[p] >= a->n)
                return WEFT_FAULT_RANGE;
            if (p == weft_csr_ofs(a, i) || columns == WEFT_COLUMNS_ANY)
                continue;
            if (a->col[p] < a->col[p - 1])
                return WEFT_FAULT_ORDER;
            if (a->col[p] == a->col[p - 1] && columns == WEFT_COLUMNS_UNIQUE)
                return WEFT_FAULT_DUPLICATE;
        }
    *at = 0;
    return WEFT_FAULT_NONE;
}
