// SPDX-License-Identifier: Apache-2.0
// Each segment in ascending order of its keys, equal keys in their order: merge sort, bottom up, of runs of 1, 2, 4 elements and so on.
#include "host/src/core/error.h"
#include "host/src/ref/ref.h"

#include <stdlib.h>
#include <string.h>

weft_status weft__ref_segsort(enum weft_key key, int payload_bytes, void *out, void *out_val, const void *in,
                              const void *in_val, const int64_t *offsets, int64_t segments)
{
    size_t k = weft_key_bytes(key), v = (size_t)payload_bytes, n = segments ? (size_t)offsets[segments] : 0;
    char *a = out, *a_val = out_val, *b = malloc(n * k + 1), *b_val = malloc(n * v + 1);
    weft_status status = b && b_val ? WEFT_OK : WEFT_ENOMEM;
    if (!status && n) {
        memcpy(a, in, n * k);
        if (v)
            memcpy(a_val, in_val, n * v);
    }
    for (int64_t s = 0; s < segments && !status; s++) {
        size_t at = (size_t)offsets[s];
        int64_t length = offsets[s + 1] - offsets[s];
        for (int64_t run = 1; run < length; run *= 2) {
            weft__ref_merge_blocks(key, payload_bytes, b + at * k, b_val + at * v, a + at * k, a_val + at * v, length,
                                   run);
            memcpy(a + at * k, b + at * k, (size_t)length * k);
            if (v)
                memcpy(a_val + at * v, b_val + at * v, (size_t)length * v);
        }
    }
    free(b);
    free(b_val);
    return status;
}
