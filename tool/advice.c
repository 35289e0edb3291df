// SPDX-License-Identifier: Apache-2.0
#include "advice.h"

#include <weft/measure.h>

enum { GROUP = 32, PARTS = 64 };

weft_status advice_measure(struct advice_measures *out, const struct weft_csr *a, struct weft_error *err)
{
    struct weft_measures measures;
    weft_status status = weft_measure(&measures, a, 0, err);
    if (!status)
        status = weft_load_imbalance(&out->imbalance, a, PARTS, err);
    if (status)
        return status;
    out->x_lines = measures.x_lines;
    int64_t places = 0;
    for (int64_t i = 0; i < a->m; i += GROUP) {
        int64_t longest = 0;
        for (int64_t k = i; k < i + GROUP && k < a->m; k++) {
            const int64_t length = weft_csr_ofs(a, k + 1) - weft_csr_ofs(a, k);
            longest = length > longest ? length : longest;
        }
        places += longest * (i + GROUP < a->m ? GROUP : a->m - i);
    }
    out->waste = a->nnz ? (double)places / (double)a->nnz : 1;
    return WEFT_OK;
}
