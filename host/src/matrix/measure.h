// SPDX-License-Identifier: Apache-2.0
// Figures of matrices whose rows without entries are left out (weft__mtx_read_rows).
#pragma once

#include <weft/measure.h>

// As weft_density_alloc, weft_measure and weft_load_imbalance of the matrix of m rows that has row i of `a` at row[i]
// (ascending) and no other entries; row NULL: m is a->m, none is left out. Memory follows the entries, not m and n.
weft_status weft__density_make(struct weft_density *out, const struct weft_csr *a, const int32_t *row, int64_t m,
                               const struct weft_density_params *params, struct weft_error *err);
weft_status weft__measure(struct weft_measures *out, const struct weft_csr *a, const int32_t *row, int64_t m,
                          int threads, struct weft_error *err);
weft_status weft__load_imbalance(double *out, const struct weft_csr *a, const int32_t *row, int64_t m, int64_t parts,
                                 struct weft_error *err);
