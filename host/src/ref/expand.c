// SPDX-License-Identifier: Apache-2.0
// row[p] = i where row_ptr[i] <= p < row_ptr[i+1].
#include "host/src/ref/ref.h"

void weft__ref_expand(int32_t *row, const void *row_ptr, int64_t m, enum weft_ofs ofs)
{
    for (int64_t i = 0; i < m; i++) {
        int64_t p = ofs == WEFT_OFS_64 ? ((const int64_t *)row_ptr)[i] : ((const int32_t *)row_ptr)[i];
        int64_t end = ofs == WEFT_OFS_64 ? ((const int64_t *)row_ptr)[i + 1] : ((const int32_t *)row_ptr)[i + 1];
        for (; p < end; p++)
            row[p] = (int32_t)i;
    }
}
