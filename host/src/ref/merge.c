// SPDX-License-Identifier: Apache-2.0
// out = a and b in ascending order; of equal keys those of a come first. Both are sorted, so the next element is the
// smaller of the two heads.
#include "host/src/ref/ref.h"

#include <string.h>

// Is key i of a not above key j of b? `key` is a constant wherever it is asked for.
static inline int goes_first(enum weft_key key, const void *a, int64_t i, const void *b, int64_t j)
{
    switch (key) {
    case WEFT_KEY_U32:
        return ((const uint32_t *)a)[i] <= ((const uint32_t *)b)[j];
    case WEFT_KEY_I32:
        return ((const int32_t *)a)[i] <= ((const int32_t *)b)[j];
    case WEFT_KEY_U64:
        return ((const uint64_t *)a)[i] <= ((const uint64_t *)b)[j];
    default:
        return ((const int64_t *)a)[i] <= ((const int64_t *)b)[j];
    }
}

static inline __attribute__((always_inline)) void merge(enum weft_key key, size_t key_bytes, size_t bytes,
                                                        char *restrict out, char *restrict out_val,
                                                        const char *restrict a, const char *restrict a_val, int64_t na,
                                                        const char *restrict b, const char *restrict b_val, int64_t nb)
{
    for (int64_t i = 0, j = 0; i + j < na + nb;) {
        const int left = j == nb || (i < na && goes_first(key, a, i, b, j));
        const size_t o = (size_t)(i + j), from = (size_t)(left ? i : j);
        memcpy(out + o * key_bytes, (left ? a : b) + from * key_bytes, key_bytes);
        if (bytes)
            memcpy(out_val + o * bytes, (left ? a_val : b_val) + from * bytes, bytes);
        left ? i++ : j++;
    }
}

void weft__ref_merge(enum weft_key key, int payload_bytes, void *out, void *out_val, const void *a, const void *a_val,
                     int64_t na, const void *b, const void *b_val, int64_t nb)
{
    const size_t bytes = (size_t)payload_bytes;
    if (key == WEFT_KEY_U32)
        merge(WEFT_KEY_U32, 4, bytes, out, out_val, a, a_val, na, b, b_val, nb);
    else if (key == WEFT_KEY_I32)
        merge(WEFT_KEY_I32, 4, bytes, out, out_val, a, a_val, na, b, b_val, nb);
    else if (key == WEFT_KEY_U64)
        merge(WEFT_KEY_U64, 8, bytes, out, out_val, a, a_val, na, b, b_val, nb);
    else
        merge(WEFT_KEY_I64, 8, bytes, out, out_val, a, a_val, na, b, b_val, nb);
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
