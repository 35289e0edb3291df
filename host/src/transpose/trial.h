// SPDX-License-Identifier: Apache-2.0
// Self-tests of transposition and of what permutes.
#pragma once

#include "host/src/core/selftest.h"
#include "host/src/transpose/shape.h"
#include <weft/permute.h>

// Matrices of a smaller shape go through the programs of a plan of `shape` with these parameters, resolved into `info`, and of
// this layout (ScanTrans on GPUs), which limits of its kernels may have decided. NULL: that of the shape.
// Errors: WEFT_EDEVICE, as weft__selftest.
weft_status weft__transpose_trial(struct weft_context *ctx, const struct weft__transpose_shape *shape,
                                  const struct weft_transpose_params *params, const struct weft_transpose_info *info,
                                  const struct weft__scan_layout *layout);
// The same for a gather of values, and for a permutation of rows and columns.
weft_status weft__refill_trial(struct weft_context *ctx, enum weft_ofs ofs);
weft_status weft__permute_trial(struct weft_context *ctx, enum weft_type type, enum weft_ofs ofs,
                                const struct weft_permute_info *info);
