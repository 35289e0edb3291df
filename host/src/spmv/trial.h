// SPDX-License-Identifier: Apache-2.0
// Self-test of SpMV.
#pragma once

#include "host/src/core/selftest.h"
#include <weft/spmv.h>

// A small matrix of `type` and `ofs` through the algorithm and tuning of `info`; gaps: most of its rows are empty; large: in the form of
// large matrices (plan.h). Custom semirings have no oracle.
// Errors: WEFT_EDEVICE, as weft__selftest.
weft_status weft__spmv_trial(struct weft_context *ctx, enum weft_type type, enum weft_ofs ofs,
                             const struct weft_spmv_info *info, bool gaps, bool large);
