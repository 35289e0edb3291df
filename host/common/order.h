// SPDX-License-Identifier: Apache-2.0
// Orders as programs name them: those of weft/permute.h, then two of the paper that move single entries.
#pragma once

#include <stddef.h>
#include <weft/permute.h>

// What A. Jain, I. Bustany, P. D'Alberto time as Row-Permute and Row-Column-Permute. Neither is a permutation of the
// matrix: lengths of rows and columns stay, the pattern is lost, entries may coincide and then stay apart.
enum {
    BENCH_ORDER_ROW_ENTRIES = WEFT_ORDER_COUNT, // row indices shuffled among entries; columns and values keep together
    BENCH_ORDER_ROW_COL_ENTRIES,                // row indices and column indices shuffled among entries, each by itself
    BENCH_ORDERS
};

// "row", "row-entries", ...; "unknown".
const char *bench_order_name(int order);
// The order of that name; `known` gets all names for a message. 0: there is none.
int bench_order_parse(int *out, const char *text, char *known, size_t size);
// Nonzero: one of the two that shuffle entries.
int bench_order_shuffles(int order);
// Bytes of host memory that making the order takes beside the result.
size_t bench_order_bytes(int order, const struct weft_csr *a);
// The matrix in that order, columns of each row ascending where columns move.
//   p  the permutation; of an order that shuffles entries one that moves nothing. NULL: not wanted
// On failure out and *p are all zero. Errors: those of weft_permutation_alloc, weft_csr_permute, weft_csr_canonical.
weft_status bench_order_make(struct weft_csr *out, struct weft_permutation *p, int order, const struct weft_csr *a,
                             uint64_t seed, struct weft_error *err);
