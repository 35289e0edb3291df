// SPDX-License-Identifier: Apache-2.0
// out[i] = in[0] + ... + in[i-1] (exclusive) or + in[i] (inclusive).
#include "host/src/ref/ref.h"

// Sums of integers have 64 bits without a sign, because those wrap around; narrower sums are their low bits. `type` is a
// constant wherever it is asked for, so that each of these is one load or store.
static inline uint64_t element(const void *in, int64_t i, enum weft_scan_type type)
{
    if (type == WEFT_SCAN_TYPE_I64)
        return ((const uint64_t *)in)[i];
    if (type == WEFT_SCAN_TYPE_I32_I64)
        return (uint64_t)((const int32_t *)in)[i];
    return ((const uint32_t *)in)[i];
}
static inline void put(void *out, int64_t i, enum weft_scan_type type, uint64_t sum)
{
    if (type == WEFT_SCAN_TYPE_U32)
        ((uint32_t *)out)[i] = (uint32_t)sum;
    else
        ((uint64_t *)out)[i] = sum;
}

static inline __attribute__((always_inline)) void scan(void *out, const void *in, int64_t n, enum weft_scan_type type,
                                                       int inclusive, int total)
{
    uint64_t sum = 0;
    for (int64_t i = 0; i < n; i++) {
        const uint64_t next = sum + element(in, i, type);
        put(out, i, type, inclusive ? next : sum);
        sum = next;
    }
    if (total)
        put(out, n, type, sum);
}

// Floats are summed in double precision.
static void scan_f32(float *out, const float *in, int64_t n, int inclusive, int total)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        const double next = sum + (double)in[i];
        out[i] = (float)(inclusive ? next : sum);
        sum = next;
    }
    if (total)
        out[n] = (float)sum;
}

void weft__ref_scan(void *out, const void *in, int64_t n, enum weft_scan_type type, int inclusive, int total)
{
    switch (type) {
    case WEFT_SCAN_TYPE_I32:
    case WEFT_SCAN_TYPE_U32:
        scan(out, in, n, WEFT_SCAN_TYPE_U32, inclusive, total);
        break;
    case WEFT_SCAN_TYPE_I64:
        scan(out, in, n, WEFT_SCAN_TYPE_I64, inclusive, total);
        break;
    case WEFT_SCAN_TYPE_F32:
        scan_f32(out, in, n, inclusive, total);
        break;
    case WEFT_SCAN_TYPE_I32_I64:
        scan(out, in, n, WEFT_SCAN_TYPE_I32_I64, inclusive, total);
        break;
    case WEFT_SCAN_TYPE_U32_U64:
        scan(out, in, n, WEFT_SCAN_TYPE_U32_U64, inclusive, total);
        break;
    }
}
