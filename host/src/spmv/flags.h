// SPDX-License-Identifier: Apache-2.0
// CSR summed up by a bit for each entry.
#ifndef WEFT_SPMV_FLAGS_H
#define WEFT_SPMV_FLAGS_H

#include "plan.h"

extern const struct weft__spmv_method weft__spmv_csr_flags;

#endif
