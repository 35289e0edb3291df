// SPDX-License-Identifier: Apache-2.0
// The types of keys that sorts and merges order.
#ifndef WEFT_KEY_H
#define WEFT_KEY_H

#include <stddef.h>
#include <weft/status.h>

#ifdef __cplusplus
extern "C" {
#endif

// Type of the keys that are sorted and merged, in ascending order.
enum weft_key {
    WEFT_KEY_U32 = 0, // uint32_t
    WEFT_KEY_I32,     // int32_t
    WEFT_KEY_U64,     // uint64_t
    WEFT_KEY_I64      // int64_t
};

// Bytes of one key; 0 for any other number.
WEFT_API size_t weft_key_bytes(enum weft_key key);
// "u32" "i32" "u64" "i64"
WEFT_API const char *weft_key_name(enum weft_key key);
WEFT_API weft_status weft_key_parse(enum weft_key *out, const char *text);

#ifdef __cplusplus
}
#endif
#endif
