// SPDX-License-Identifier: Apache-2.0
// Operations of backend `cusparse`, as backend.h describes them, and what they share: a session with a handle, and formats.
#pragma once

#include "backends/cuda/session.h"

#include <cusparse.h>

// One-line errors; WEFT_OK for success. `what` names the call.
weft_status weft__cusparse_fail(cusparseStatus_t status, const char *what, struct weft_error *err);

// A session and a handle on its stream; what both are given is all zero before.
weft_status weft__cusparse_open(struct cuda_session *s, cusparseHandle_t *handle, struct weft_context *ctx,
                                struct weft_error *err);
void weft__cusparse_close(struct cuda_session *s, cusparseHandle_t handle);

// Puts the entries of each column of `out`, a transpose of `a`, in the order of their rows, and entries at one place in that
// of `a`. Adds and mends nothing: what is wrong stays wrong. Errors: WEFT_ENOMEM.
weft_status weft__cusparse_columns_order(struct weft_csr *out, const struct weft_csr *a, struct weft_error *err);

// A matrix in sliced ELL or in blocks, in host memory.
struct cusparse_form {
    int edge;        // rows of a slice; rows and columns of a block
    int64_t bands;   // slices, rows of blocks
    int64_t entries; // column indices: of sliced ELL with those that pad, of blocks
    size_t ptr_bytes, idx_bytes, val_bytes;
    int32_t *ptr; // [bands + 1] sliced ELL: entries before each slice; blocks: blocks before each row
    int32_t *col; // [entries] sliced ELL: -1 pads
    void *val;    // zeros pad; the values of a block lie by rows
};
// Errors: WEFT_EUNSUPPORTED the matrix does not suit the form; WEFT_ENOMEM. *out is all zero after an error.
weft_status weft__cusparse_sell(struct cusparse_form *out, const struct weft_csr *a, struct weft_error *err);
weft_status weft__cusparse_blocks(struct cusparse_form *out, const struct weft_csr *a, struct weft_error *err);
void weft__cusparse_form_free(struct cusparse_form *form);
