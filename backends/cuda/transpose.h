// SPDX-License-Identifier: Apache-2.0
// The arrays of a transposition on a CUDA device: those of A, those of A^T, and their ways there and back.
#pragma once

#include "session.h"

struct cuda_transpose {
    const struct weft_csr *a;               // borrowed
    void *row_ptr, *col, *val;              // of A on the device
    void *out_ptr, *out_row, *out_val;      // of A^T on the device; a pattern's out_val is val
    size_t ptr_bytes, idx_bytes, val_bytes; // of A^T
};

// Device memory for `a`, which is copied in, and for its transpose. A pattern's `val` points to memory all the same.
// Errors: WEFT_EUNSUPPORTED 64-bit offsets, no rows or no columns; WEFT_EDEVMEM.
weft_status weft__cuda_transpose_take(struct cuda_transpose *t, struct cuda_session *s, const struct weft_csr *a,
                                      struct weft_backend_times *times, struct weft_error *err);
// The same as part of a call from host to host, for the matrix of `t`, in a session that borrows the stream.
weft_status weft__cuda_transpose_have(struct cuda_transpose *t, struct cuda_session *call, struct weft_error *err);
// What is no result in the arrays of A^T, as `poison` of a backend; those of a pattern have no values.
weft_status weft__cuda_transpose_poison(const struct cuda_transpose *t, struct cuda_session *s, struct weft_error *err);
// A copy of the transpose, allocated here, in memory of weft's or of malloc's, as a plain program has it.
weft_status weft__cuda_transpose_result(const struct cuda_transpose *t, struct weft_csr *out,
                                        struct weft_backend_times *times, struct weft_error *err);
weft_status weft__cuda_transpose_read(const struct cuda_transpose *t, struct weft_csr *out, struct weft_error *err);
