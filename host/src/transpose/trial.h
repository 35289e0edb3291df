// SPDX-License-Identifier: Apache-2.0
// Self-tests of transposition and of what permutes.
#pragma once

#include "host/src/core/selftest.h"
#include "host/src/transpose/method.h"
#include <weft/permute.h>

// Small matrices go through the programs of a plan of `shape` by `method`, with the parameters that `info` has. A plan of a
// problem that has other programs than `made` says counts as one that cannot run.
// Errors: WEFT_EDEVICE, as weft__selftest.
weft_status weft__transpose_trial(struct weft_context *ctx, const struct weft__transpose_method *method,
                                  const struct weft__transpose_shape *shape, const struct weft_transpose_info *info,
                                  const struct weft__transpose_made *made);
// One of its problems: 0 diagonals, or 1. Zero: there is no such.
int weft__transpose_few(struct weft__transpose_few *out, struct weft_context *ctx,
                        const struct weft__transpose_method *method, const struct weft__transpose_shape *shape,
                        const struct weft_transpose_info *info, const struct weft__transpose_made *made, int diagonals);
// The same for a gather of values, and for a permutation of rows and columns.
weft_status weft__refill_trial(struct weft_context *ctx, enum weft_ofs ofs);
weft_status weft__permute_trial(struct weft_context *ctx, enum weft_type type, enum weft_ofs ofs,
                                const struct weft_permute_info *info);
