// SPDX-License-Identifier: Apache-2.0
// Sliced ELL with columns in 16 bits.
#ifndef WEFT_SPMV_SELL16_H
#define WEFT_SPMV_SELL16_H

#include "plan.h"

extern const struct weft__spmv_method weft__spmv_sell16;

#endif
