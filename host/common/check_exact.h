// SPDX-License-Identifier: Apache-2.0
// Is a result that must be the oracle's bit for bit that? One function an operation, linked by tests and bench.
#pragma once

#include <weft/key.h>
#include <weft/matrix.h>
#include <weft/scan.h>

// All compare what is in memory of the host with what the oracle (host/src/ref/ref.h) made of the same input.
// Nonzero: equal; else the first difference is described in `why`.

// Shape and arrays of a transpose.
int check_transpose(const struct weft_csr *got, const struct weft_csr *want, char *why, size_t size);
// n sums, one more with a total. Sums of f32 must be exact too: draw elements whose sums are.
int check_scan(const void *got, const void *want, int64_t n, enum weft_scan_type type, char *why, size_t size);
// n keys and their payloads (payload_bytes 0: none), of a segmented sort or of a merge: both are stable.
int check_keys(const void *got, const void *got_val, const void *want, const void *want_val, int64_t n,
               enum weft_key key, int payload_bytes, char *why, size_t size);
// Counts of `bins` bins, or the bins + 1 pointers that follow from them.
int check_histogram(const void *got, const void *want, int64_t bins, enum weft_ofs ofs, int pointers, char *why,
                    size_t size);
// Row indices of nnz positions.
int check_expand(const int32_t *got, const int32_t *want, int64_t nnz, char *why, size_t size);
// nnz values of `type` alone.
int check_values(const void *got, const void *want, int64_t nnz, enum weft_type type, char *why, size_t size);
