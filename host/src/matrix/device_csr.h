// SPDX-License-Identifier: Apache-2.0
// The inside of device matrices: the check of a shape.
#pragma once

#include "host/src/core/context.h"
#include "host/src/core/copy.h"
#include <weft/device_csr.h>

// Errors: WEFT_EINVAL sizes, type, ofs; WEFT_ERANGE nnz too large for ofs.
weft_status weft__shape_check(struct weft_context *ctx, struct weft_shape shape);
// WEFT_EINVAL unless the shapes are the same: "NAME is SHAPE; WANTS SHAPE".
weft_status weft__shape_same(struct weft_context *ctx, const char *name, struct weft_shape shape, const char *wants,
                             struct weft_shape wanted);
// A matrix of the shape of a plan, with buffers that hold it. Errors: WEFT_EINVAL.
weft_status weft__matrix_check(struct weft_context *ctx, const char *name, const struct weft_device_csr *a,
                               struct weft_shape wanted);
