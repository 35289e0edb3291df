// SPDX-License-Identifier: Apache-2.0
// Expand and the segmented sort as parts of other operations: enqueued on their stream, arguments trusted.
#pragma once

#include "host/src/core/stream.h"
#include <weft/expand.h>
#include <weft/segsort.h>

// weft_expand_run without its checks: sizes within the plan, buffers large enough.
void weft__expand_enqueue(struct weft_expand_plan *plan, struct weft__stream *stream, cl_mem row, cl_mem row_ptr,
                          size_t m, size_t nnz);
// weft_segsort_run without its checks.
void weft__segsort_enqueue(struct weft_segsort_plan *plan, struct weft__stream *stream, cl_mem out_key,
                           cl_mem out_payload, cl_mem key, cl_mem payload, int64_t n, cl_mem offsets, int64_t segments);
