// SPDX-License-Identifier: Apache-2.0
// out[i] = in[0] + ... + in[i-1] (exclusive) or + in[i] (inclusive).
#include "host/src/ref/ref.h"

#define SCAN_DEFINE(name, in_t, sum_t, acc_t)                                                                          \
    static void name(sum_t *out, const in_t *in, int64_t n, int inclusive, int total)                                  \
    {                                                                                                                  \
        acc_t sum = 0;                                                                                                 \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            acc_t next = sum + (acc_t)in[i];                                                                           \
            out[i] = (sum_t)(inclusive ? next : sum);                                                                  \
            sum = next;                                                                                                \
        }                                                                                                              \
        if (total)                                                                                                     \
            out[n] = (sum_t)sum;                                                                                       \
    }

// Sums are unsigned, because those wrap around; floats are summed in double precision.
SCAN_DEFINE(scan_32, uint32_t, uint32_t, uint32_t)
SCAN_DEFINE(scan_64, uint64_t, uint64_t, uint64_t)
SCAN_DEFINE(scan_f32, float, float, double)
SCAN_DEFINE(scan_i32_i64, int32_t, int64_t, int64_t)
SCAN_DEFINE(scan_u32_u64, uint32_t, uint64_t, uint64_t)

void weft__ref_scan(void *out, const void *in, int64_t n, enum weft_scan_type type, int inclusive, int total)
{
    switch (type) {
    case WEFT_SCAN_TYPE_I32:
    case WEFT_SCAN_TYPE_U32:
        scan_32(out, in, n, inclusive, total);
        break;
    case WEFT_SCAN_TYPE_I64:
        scan_64(out, in, n, inclusive, total);
        break;
    case WEFT_SCAN_TYPE_F32:
        scan_f32(out, in, n, inclusive, total);
        break;
    case WEFT_SCAN_TYPE_I32_I64:
        scan_i32_i64(out, in, n, inclusive, total);
        break;
    case WEFT_SCAN_TYPE_U32_U64:
        scan_u32_u64(out, in, n, inclusive, total);
        break;
    }
}
