// SPDX-License-Identifier: Apache-2.0
// out = a and b in ascending order; of equal keys those of a come first. Both are sorted, so the next element is the
// smaller of the two heads.
#include "host/src/ref/ref.h"

#include <string.h>

#define MERGE_DEFINE(name, key_t)                                                                                      \
    static void name(key_t *restrict out, char *restrict out_val, const key_t *restrict a, const char *restrict a_val, \
                     int64_t na, const key_t *restrict b, const char *restrict b_val, int64_t nb, size_t bytes)        \
    {                                                                                                                  \
        for (int64_t i = 0, j = 0; i + j < na + nb;) {                                                                 \
            int64_t o = i + j;                                                                                         \
            int left = j == nb || (i < na && a[i] <= b[j]);                                                            \
            out[o] = left ? a[i] : b[j];                                                                               \
            if (bytes)                                                                                                 \
                memcpy(out_val + (size_t)o * bytes, left ? a_val + (size_t)i * bytes : b_val + (size_t)j * bytes,      \
                       bytes);                                                                                         \
            left ? i++ : j++;                                                                                          \
        }                                                                                                              \
    }

MERGE_DEFINE(merge_u32, uint32_t)
MERGE_DEFINE(merge_i32, int32_t)
MERGE_DEFINE(merge_u64, uint64_t)
MERGE_DEFINE(merge_i64, int64_t)

void weft__ref_merge(enum weft_key key, int payload_bytes, void *out, void *out_val, const void *a, const void *a_val,
                     int64_t na, const void *b, const void *b_val, int64_t nb)
{
    size_t bytes = (size_t)payload_bytes;
    if (key == WEFT_KEY_U32)
        merge_u32(out, out_val, a, a_val, na, b, b_val, nb, bytes);
    else if (key == WEFT_KEY_I32)
        merge_i32(out, out_val, a, a_val, na, b, b_val, nb, bytes);
    else if (key == WEFT_KEY_U64)
        merge_u64(out, out_val, a, a_val, na, b, b_val, nb, bytes);
    else
        merge_i64(out, out_val, a, a_val, na, b, b_val, nb, bytes);
}

void weft__ref_merge_blocks(enum weft_key key, int payload_bytes, void *out, void *out_val, const void *in,
                            const void *in_val, int64_t n, int64_t block)
{
    size_t k = weft_key_bytes(key), v = (size_t)payload_bytes;
    for (int64_t at = 0; at < n;) {
        int64_t left = block < n - at ? block : n - at, right = block < n - at - left ? block : n - at - left;
        size_t i = (size_t)at, j = (size_t)(at + left);
        weft__ref_merge(key, payload_bytes, (char *)out + i * k, (char *)out_val + i * v, (const char *)in + i * k,
                        (const char *)in_val + i * v, left, (const char *)in + j * k, (const char *)in_val + j * v,
                        right);
        at += left + right;
    }
}
