// SPDX-License-Identifier: Apache-2.0
// Serial oracles: short, formula first. Every operation is compared with these.
#pragma once

#include <weft/key.h>
#include <weft/matrix.h>
#include <weft/scan.h>
#include <weft/spmv.h>
#include <weft/validate.h>

// A^T of A: row pointers of A^T from a count of columns, then one stable pass over the entries in row order.
// `out` is allocated here; out.m = a.n, out.n = a.m. Source: F. Gustavson, ACM TOMS 4(3), 1978.
weft_status weft__ref_transpose(struct weft_csr *out, const struct weft_csr *a);
// The same into arrays that are there (out allocated n x m, nnz); `next` is scratch of n offsets.
void weft__ref_transpose_into(struct weft_csr *out, const struct weft_csr *a, void *next);

// The first fault of a matrix whose arrays are there, and its row or position (0: none).
enum weft_fault weft__ref_validate(const struct weft_csr *a, enum weft_columns columns, int64_t *at);
// Columns sorted inside each row, stable, and unless `keep` duplicates added up from the left. `out` is allocated here.
weft_status weft__ref_canonical(struct weft_csr *out, const struct weft_csr *a, int keep);

// Merge of the sorted arrays a (na) and b (nb), stable, left first; payloads of payload_bytes (0: none) go with the keys.
void weft__ref_merge(enum weft_key key, int payload_bytes, void *out, void *out_val, const void *a, const void *a_val,
                     int64_t na, const void *b, const void *b_val, int64_t nb);
// The same for all pairs of neighbouring sorted blocks of `block` elements; a block without neighbour is copied.
void weft__ref_merge_blocks(enum weft_key key, int payload_bytes, void *out, void *out_val, const void *in,
                            const void *in_val, int64_t n, int64_t block);

// Each segment, in[offsets[s]] .. in[offsets[s+1]-1], in ascending order, stable; `out` is not `in`.
weft_status weft__ref_segsort(enum weft_key key, int payload_bytes, void *out, void *out_val, const void *in,
                              const void *in_val, const int64_t *offsets, int64_t segments);

// Histogram of n indices: counts[bins], or with pointers those summed up, bins+1 of them.
void weft__ref_histogram(void *out, const int32_t *idx, int64_t n, int64_t bins, enum weft_ofs ofs, int pointers);

// Row index of every position of m rows.
void weft__ref_expand(int32_t *row, const void *row_ptr, int64_t m, enum weft_ofs ofs);

// Prefix sums of n elements; inclusive and total as in weft_scan_params. f32 is summed in double precision.
void weft__ref_scan(void *out, const void *in, int64_t n, enum weft_scan_type type, int inclusive, int total);

// y = alpha*A*x + beta*y, entries of a row from the left; y is not read when beta == 0. x and y have `type`, which is
// that of A unless A is a pattern.
void weft__ref_spmv(const struct weft_csr *a, enum weft_type type, double alpha, const void *x, double beta, void *y);
// y = A*x in a semiring, with the y before added ("plus") where `add` is nonzero. Not WEFT_SPMV_SEMIRING_CUSTOM.
void weft__ref_spmv_semiring(const struct weft_csr *a, enum weft_type type, enum weft_spmv_semiring semiring,
                             int f64_sums, const void *x, int add, void *y);
// y = alpha*A*x + beta*y with the sums of WEFT_SPMV_MODE_REPRODUCIBLE, bit for bit: chunks of 1024 entries of a row, in a chunk
// neighbours added at distance 1, 2, 4, .. 512 where both are there, then the chunks from the left.
void weft__ref_spmv_fixed(const struct weft_csr *a, enum weft_type type, int f64_sums, double alpha, const void *x,
                          double beta, void *y);
// Element i of an array of `type` (1 for WEFT_TYPE_PATTERN).
double weft__ref_get(const void *v, enum weft_type type, int64_t i);
