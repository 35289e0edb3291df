// SPDX-License-Identifier: Apache-2.0
// What the operations of backend `mkl` share: its errors, and a CSR matrix that it borrows.
#pragma once

#include "backends/backend.h"

#include <mkl_spblas.h>

// A one-line error; WEFT_OK for success. `what` names the call.
weft_status weft__mkl_fail(sparse_status_t status, const char *what, struct weft_error *err);

// A handle on `a`, whose arrays it borrows; integers travel as floats of their width. `ones` are the values of a pattern, NULL: it
// is refused. Errors: WEFT_EUNSUPPORTED 64-bit offsets, a pattern; WEFT_ENOMEM.
weft_status weft__mkl_csr(sparse_matrix_t *out, const struct weft_csr *a, float *ones, struct weft_error *err);
