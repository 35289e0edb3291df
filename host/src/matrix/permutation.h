// SPDX-License-Identifier: Apache-2.0
// What the parts of the permutations share.
#pragma once

#include <weft/permute.h>

// Reverse Cuthill-McKee: fill row and col (sizes m and n), which are the same for a square matrix.
// Errors: WEFT_ERANGE more vertices than int32_t counts; WEFT_ENOMEM.
weft_status weft__order_rcm(int32_t *row, int32_t *col, const struct weft_csr *a);
