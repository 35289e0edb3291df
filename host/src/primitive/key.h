// SPDX-License-Identifier: Apache-2.0
// What segmented sort and merge share: types of keys and payloads.
#pragma once

#include "host/src/core/program.h"
#include <weft/key.h>

weft_status weft__key_check(struct weft_context *ctx, enum weft_key key, int payload_bytes);
// WEFT_KEY_T, WEFT_KEY_BITS, WEFT_KEY_SIGNED, WEFT_VAL_BITS.
void weft__key_define(struct weft__defines *d, enum weft_key key, int payload_bytes);
