// SPDX-License-Identifier: Apache-2.0
// Copy a buffer by a kernel, as fast as the device can: the measured ceiling of everything else.
#ifndef WEFT_COPY_H
#define WEFT_COPY_H

#include "program.h"

extern const struct weft__kernel_spec weft__copy_spec;
// `wg` work-items per work-group; the form (strided or chunked) follows the schedule of ctx.
weft_status weft__copy_create(cl_kernel *out, struct weft_context *ctx, int wg);
// 16*count bytes from `in` to `out`, by `groups` work-groups of the kernel's wg.
weft_status weft__copy(struct weft__stream *stream, cl_kernel kernel, size_t groups, int wg, cl_mem in, cl_mem out,
                       uint64_t count);

#endif
