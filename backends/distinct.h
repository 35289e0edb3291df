// SPDX-License-Identifier: Apache-2.0
// Refuses matrices with repeated entries, for libraries that do not keep them as they are.
#pragma once

#include "backend.h"
#include "host/internal/inside.h"

#include <stdlib.h>
#include <string.h>

// WEFT_EUNSUPPORTED, with `why` and the row, where a row has two entries in one column.
static inline weft_status weft__distinct(const struct weft_csr *a, const char *why, struct weft_error *err)
{
    int32_t *seen = malloc(weft__max(1, weft__mul((size_t)a->n, sizeof *seen)));
    weft_status status = seen ? WEFT_OK : weft__error(err, WEFT_ENOMEM, "out of host memory for a transposition");
    if (seen)
        memset(seen, 0xff, (size_t)a->n * sizeof *seen);
    for (int64_t i = 0; i < a->m && !status; i++)
        for (int64_t p = weft_csr_ofs(a, i); p < weft_csr_ofs(a, i + 1) && !status; p++) {
            if (seen[a->col[p]] == i)
                status = weft__error(err, WEFT_EUNSUPPORTED, "%s, as in row %lld", why, (long long)i);
            seen[a->col[p]] = (int32_t)i;
        }
    free(seen);
    return status;
}
