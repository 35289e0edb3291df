// SPDX-License-Identifier: Apache-2.0
// Types of keys and payloads: their sizes, names and defines.
#include "host/src/primitive/key.h"
#include "host/src/core/names.h"

size_t weft_key_bytes(enum weft_key key)
{
    return key == WEFT_KEY_U32 || key == WEFT_KEY_I32 ? 4 : key == WEFT_KEY_U64 || key == WEFT_KEY_I64 ? 8 : 0;
}

WEFT__NAMES(key, "u32", "i32", "u64", "i64");

weft_status weft__key_check(struct weft_context *ctx, enum weft_key key, int payload_bytes)
{
    if ((unsigned)key > WEFT_KEY_I64)
        return weft__fail(ctx, WEFT_EINVAL, "there is no key type %d", (int)key);
    if (payload_bytes != 0 && payload_bytes != 4 && payload_bytes != 8)
        return weft__fail(ctx, WEFT_EINVAL, "payload_bytes is %d, it must be 0, 4 or 8", payload_bytes);
    return WEFT_OK;
}

void weft__key_define(struct weft__defines *d, enum weft_key key, int payload_bytes)
{
    static const char *const types[] = {"uint", "int", "ulong", "long"};
    weft__define(d, "WEFT_KEY_T", "%s", types[key]);
    weft__define(d, "WEFT_KEY_BITS", "%d", (int)weft_key_bytes(key) * 8);
    weft__define(d, "WEFT_KEY_SIGNED", "%d", key == WEFT_KEY_I32 || key == WEFT_KEY_I64);
    weft__define(d, "WEFT_VAL_BITS", "%d", payload_bytes * 8);
}
