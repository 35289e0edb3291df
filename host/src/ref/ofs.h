// SPDX-License-Identifier: Apache-2.0
// Element i of an array of offsets; `wide`, for 64 bits, is a constant wherever it is asked, so that it becomes one load or store.
#pragma once

#include <stdint.h>

static inline int64_t weft__ofs_get(const void *ofs, int64_t i, int wide)
{
    return wide ? ((const int64_t *)ofs)[i] : ((const int32_t *)ofs)[i];
}
static inline void weft__ofs_set(void *ofs, int64_t i, int wide, int64_t value)
{
    if (wide)
        ((int64_t *)ofs)[i] = value;
    else
        ((int32_t *)ofs)[i] = (int32_t)value;
}
