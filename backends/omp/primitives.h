// SPDX-License-Identifier: Apache-2.0
// Multi-threaded forms of the primitives, with the meaning of their references in host/src/ref/ref.h. Arrays are the
// caller's; payloads may be NULL when payload_bytes is 0.
#pragma once

#include <weft/key.h>
#include <weft/matrix.h>
#include <weft/scan.h>

// Exclusive prefix sums.
void weft__omp_array_scan(void *out, const void *in, int64_t n, enum weft_scan_type type);
// Pointers: out has bins+1 elements.
void weft__omp_array_histogram(void *out, const int32_t *idx, int64_t n, int64_t bins, enum weft_ofs ofs,
                               void *scratch);
size_t weft__omp_array_histogram_scratch(int64_t n, int64_t bins, enum weft_ofs ofs);
void weft__omp_array_expand(int32_t *row, const void *row_ptr, int64_t m, int64_t nnz, enum weft_ofs ofs);
// block == 0: merge of a and b. block > 0: of all pairs of neighbouring blocks of a; b and nb are not used.
void weft__omp_array_merge(enum weft_key key, int payload_bytes, void *out, void *out_val, const void *a,
                           const void *a_val, int64_t na, const void *b, const void *b_val, int64_t nb, int64_t block);
// Segments by offsets (segments+1 of them); scratch holds as many bytes as keys and payloads together.
void weft__omp_array_segsort(enum weft_key key, int payload_bytes, void *out, void *out_val, const void *in,
                             const void *in_val, const int64_t *offsets, int64_t segments, void *scratch);
