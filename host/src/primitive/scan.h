// SPDX-License-Identifier: Apache-2.0
// Scan as a part of other operations: enqueued on their stream, arguments trusted.
#pragma once

#include "host/src/core/stream.h"
#include <weft/scan.h>

// weft_scan_run without its checks: n within the plan, buffers large enough.
void weft__scan_enqueue(struct weft_scan_plan *plan, struct weft__stream *stream, cl_mem in, cl_mem out, size_t n);
// For tests: the next run is the last one before the numbers of runs begin again.
void weft__scan_last_run(struct weft_scan_plan *plan);
