// SPDX-License-Identifier: Apache-2.0
// Self-tests of the primitives: a new plan solves a small problem before its caller gets it.
#pragma once

#include "host/src/core/selftest.h"
#include <weft/expand.h>
#include <weft/histogram.h>
#include <weft/merge.h>
#include <weft/scan.h>
#include <weft/segsort.h>

// Errors of all: WEFT_EDEVICE, as weft__selftest.
weft_status weft__scan_trial(struct weft_context *ctx, struct weft_scan_plan *plan, enum weft_scan_type type,
                             int64_t n_max);
// Of a histogram: a plan with the programs of one for `like` bins, and with resolved parameters. It is not tried.
weft_status weft__histogram_like(struct weft_histogram_plan **out, struct weft_context *ctx, int64_t bins, int64_t like,
                                 enum weft_ofs ofs, int64_t n_max, const struct weft_histogram_params *params);
weft_status weft__histogram_trial(struct weft_context *ctx, struct weft_histogram_plan *plan, int64_t bins,
                                  enum weft_ofs ofs, int64_t n_max);
weft_status weft__expand_trial(struct weft_context *ctx, struct weft_expand_plan *plan, int64_t m_max, int64_t nnz_max,
                               enum weft_ofs ofs);
weft_status weft__merge_trial(struct weft_context *ctx, struct weft_merge_plan *plan, enum weft_key key,
                              int payload_bytes, int64_t n_max);
weft_status weft__segsort_trial(struct weft_context *ctx, struct weft_segsort_plan *plan, enum weft_key key,
                                int payload_bytes, enum weft_ofs ofs, int64_t n_max);
