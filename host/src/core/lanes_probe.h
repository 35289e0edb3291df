// SPDX-License-Identifier: Apache-2.0
// Tries the lane operations of a device before kernels use them.
#pragma once

#include "host/src/core/context.h"

// Nonzero: lane operations of the context's kind give what kernels count on. Compiles and runs a small kernel; leaves
// no error behind.
int weft__lanes_probe(struct weft_context *ctx);
