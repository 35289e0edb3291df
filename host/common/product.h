// SPDX-License-Identifier: Apache-2.0
// What products with a permuted matrix are compared with, whoever made them: the product of the regular matrix.
#pragma once

#include "host/common/check_spmv.h"

#include <stddef.h>
#include <weft/permute.h>

// What y = A*x of the regular matrix may give in each row.
struct product_expected {
    struct check_row *rows;
};

// x holds n values of `type`. Errors: WEFT_ENOMEM.
weft_status product_expect(struct product_expected *out, const struct weft_csr *a, enum weft_type type, const void *x);
void product_expected_free(struct product_expected *e);
// Compare y, whose rows are in the order of p. Nonzero: right; else `why` says where the first difference is.
int product_right(const void *y, enum weft_type type, const struct weft_permutation *p,
                  const struct product_expected *e, char *why, size_t size);
// Host time of making a plan and permuting on a device, where the matrix is already; the second time, since the first
// one compiles. Negative: could not be had.
double product_permute_ms(struct weft_context *ctx, cl_command_queue queue, const struct weft_csr *a,
                          const struct weft_permutation *p);
