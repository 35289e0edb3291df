// SPDX-License-Identifier: Apache-2.0
// The inside of device matrices: the check of a shape.
#ifndef WEFT_MATRIX_DEVICE_CSR_H
#define WEFT_MATRIX_DEVICE_CSR_H

#include "host/src/core/context.h"
#include "host/src/core/copy.h"
#include <weft/device_csr.h>

// Errors: WEFT_EINVAL sizes, type, ofs; WEFT_ERANGE nnz too large for ofs.
weft_status weft__shape_check(struct weft_context *ctx, struct weft_shape shape);

#endif
