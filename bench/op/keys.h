// SPDX-License-Identifier: Apache-2.0
// Keys and payloads that segmented sort and merge are benched with. Type f32 stands for u32 keys and i32 for i32 keys,
// both with payloads of 4 bytes, f64 for u64 keys with 8 bytes, pattern for u32 keys alone. A payload is the position
// of its key in the input, so that a result in which equal keys have changed places is seen to be wrong.
#pragma once

#include "op.h"
#include <string.h>
#include <weft/key.h>

static inline enum weft_key bench_key(const struct bench_run *run)
{
    enum weft_type type = run->input->a->type;
    return type == WEFT_TYPE_F64 ? WEFT_KEY_U64 : type == WEFT_TYPE_I32 ? WEFT_KEY_I32 : WEFT_KEY_U32;
}

static inline int bench_payload_bytes(const struct bench_run *run)
{
    return (int)weft_type_bytes(run->input->a->type);
}

static inline uint64_t bench_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 31;
}

// array[i] = value, in elements of 4 or 8 bytes.
static inline void bench_put(void *array, size_t bytes, int64_t i, uint64_t value)
{
    if (bytes == 8)
        ((uint64_t *)array)[i] = value;
    else
        ((uint32_t *)array)[i] = (uint32_t)value;
}

// Payloads first, first+1, ...
static inline void bench_payload_draw(const struct bench_run *run, void *payload, int64_t first, int64_t n)
{
    for (int64_t i = 0; i < n && bench_payload_bytes(run); i++)
        bench_put(payload, (size_t)bench_payload_bytes(run), i, (uint64_t)(first + i));
}
