// SPDX-License-Identifier: Apache-2.0
// Scan as a part of other operations: enqueued on their stream, arguments trusted.
#pragma once

#include "host/src/core/stream.h"
#include <weft/scan.h>

// weft_scan_run without its checks: n within the plan, buffers large enough.
void weft__scan_enqueue(struct weft_scan_plan *plan, struct weft__stream *stream, cl_mem in, cl_mem out, size_t n);
// What a plan would be, without making it.
weft_status weft__scan_info(struct weft_scan_info *info, struct weft_context *ctx, enum weft_scan_type type,
                            int64_t n_max, const struct weft_scan_params *params);
// For tests: the next run is the last one before the numbers of runs begin again.
void weft__scan_last_run(struct weft_scan_plan *plan);
