// SPDX-License-Identifier: Apache-2.0
// Kernels that measure ceilings: copying a buffer as fast as the device can, a triad, and nothing at all.
#pragma once

#include "host/src/core/program.h"

extern const struct weft__kernel_spec weft__copy_spec;
// `wg` work-items per work-group; the form (strided or chunked) follows the schedule of ctx.
weft_status weft__copy_create(struct weft__kernel **out, struct weft_context *ctx, int wg);
// 16*count bytes from `in` to `out`, by `groups` work-groups of the kernel's wg.
weft_status weft__copy(struct weft__stream *stream, struct weft__kernel *kernel, size_t groups, int wg, cl_mem in,
                       cl_mem out, uint64_t count);

extern const struct weft__kernel_spec weft__triad_spec, weft__empty_spec;
// The same for out = a + s*b, 16*count bytes of f32 each.
weft_status weft__triad_create(struct weft__kernel **out, struct weft_context *ctx, int wg);
weft_status weft__triad(struct weft__stream *stream, struct weft__kernel *kernel, size_t groups, int wg, cl_mem a,
                        cl_mem b, cl_mem out, cl_float s, uint64_t count);
// A kernel of one work-item that does nothing; `flag` is a buffer of an int.
weft_status weft__empty_create(struct weft__kernel **out, struct weft_context *ctx);
weft_status weft__empty(struct weft__stream *stream, struct weft__kernel *kernel, cl_mem flag);
