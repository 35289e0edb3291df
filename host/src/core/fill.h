// SPDX-License-Identifier: Apache-2.0
// Fill a buffer with a 32-bit word by a kernel (memory checkers do not take clEnqueueFillBuffer for a write).
#pragma once

#include "host/src/core/program.h"

extern const struct weft__kernel_spec weft__fill_spec;
weft_status weft__fill_create(struct weft__kernel **out, struct weft_context *ctx);
// words first .. first+count-1 of `out` become `value`; in several launches where the driver wants them short
weft_status weft__fill(struct weft__stream *stream, struct weft__kernel *kernel, cl_mem out, uint64_t first,
                       uint64_t count, uint32_t value);
