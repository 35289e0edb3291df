// SPDX-License-Identifier: Apache-2.0
// CSR of coordinates in memory: weft_csr_from_coo.
#include "host/src/core/check.h"
#include "host/src/core/error.h"
#include "host/src/matrix/csr_build.h"

#include <stdlib.h>
#include <string.h>

// Entries of one slice: enough that a slice costs nothing, few enough that threads share them evenly.
#define SLICE_ENTRIES 65536

weft_status weft_csr_from_coo(struct weft_csr *out, const struct weft_coo *a, enum weft_ofs ofs, struct weft_error *err)
{
    weft_status status = WEFT__NEED(err, {"out", out});
    if (status)
        return status;
    memset(out, 0, sizeof *out);
    status = weft__ofs_check(err, ofs);
    if (!status)
        status = weft__coo_check(err, a);
    if (status)
        return status;
    struct weft__team team;
    weft__team_begin(&team, 0);
    size_t count = weft__ceil_div((size_t)a->nnz, SLICE_ENTRIES), bytes = weft_type_bytes(a->type);
    struct weft__coo_slice *slices = malloc((count + 1) * sizeof *slices);
    status = slices ? WEFT_OK : WEFT_ENOMEM;
    if (!status) {
        for (size_t s = 0; s < count; s++) {
            size_t begin = s * SLICE_ENTRIES;
            slices[s] = (struct weft__coo_slice){.count = (int64_t)weft__min((size_t)a->nnz - begin, SLICE_ENTRIES),
                                                 .row = a->row + begin,
                                                 .col = a->col + begin,
                                                 .val = bytes ? (const char *)a->val + begin * bytes : NULL};
        }
        status = weft__csr_build(out, a->m, a->n, a->type, ofs, slices, count, WEFT__MIRROR_NONE, &team);
    }
    weft__team_end(&team);
    free(slices);
    if (status)
        return weft__error(err, status, "%lld x %lld with %lld entries: %s", (long long)a->m, (long long)a->n,
                           (long long)a->nnz, weft_status_text(status));
    return WEFT_OK;
}
