// SPDX-License-Identifier: Apache-2.0
// Matrices for the tests of transposition: shapes that hug edges, device copies between canaries, exact comparison.
#pragma once

#include "device.h"
#include "rng.h"

#include <weft/transpose.h>

// Where the entries of a test matrix lie. Columns are not sorted inside rows, and repeat.
enum test_spread {
    TEST_UNIFORM = 0,
    TEST_ONE_ROW,    // all in one row in the middle
    TEST_ONE_COLUMN, // all in one column in the middle
    TEST_LAST,       // all in the last row and column
    TEST_FEW_ROWS,   // in every seventh row
    TEST_DIAGONAL,   // near the diagonal
    TEST_SKEWED,     // half in a few columns and rows, half anywhere
    TEST_DESCENDING, // columns descend inside each row
    TEST_SPREADS
};
const char *test_spread_name(enum test_spread spread);

// row_ptr[i] = at, whatever its width.
void test_row_begin(struct weft_csr *a, int64_t i, int64_t at);

// A matrix whose values are random bits, NaN and all; frees nothing on failure, since failing bails out.
void test_matrix_make(struct weft_csr *out, struct rng *rng, enum test_spread spread, int64_t m, int64_t n, int64_t nnz,
                      enum weft_type type, enum weft_ofs ofs);

// A matrix in device buffers of exact size between canaries.
struct test_csr {
    struct weft_device_csr d;
    struct test_buffer row_ptr, col, val;
};
// The contents of `a`; with a == NULL poison of the given sizes.
void test_csr_make(struct test_csr *out, struct test_device *dev, const struct weft_csr *a, int64_t m, int64_t n,
                   int64_t nnz, enum weft_type type, enum weft_ofs ofs);
void test_csr_poison(struct test_device *dev, struct test_csr *x);
void test_csr_free(struct test_csr *x);
// Nonzero when the device arrays are those of `want` bit for bit and the canaries are untouched; else *why (256 bytes)
// says where they differ first.
int test_csr_equal(struct test_device *dev, const struct test_csr *x, const struct weft_csr *want, char *why);
// One transposition in canaried buffers, against the oracle, and a second on the same object where the sample allows; the input must
// stay as it was. *info, if not NULL, says what was chosen. Where it fails a note says why.
int test_transpose(struct test_device *dev, const struct weft_csr *a, const struct weft_transpose_params *params,
                   struct weft_transpose_info *info);
// The same with so many runs.
int test_transpose_runs(struct test_device *dev, const struct weft_csr *a, const struct weft_transpose_params *params,
                        struct weft_transpose_info *info, int runs);
