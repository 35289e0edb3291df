// SPDX-License-Identifier: Apache-2.0
// Is y the product it should be? Linked by tests and bench: nothing is timed that was not compared.
#pragma once

#include <weft/spmv.h>

// y = alpha*A*x + beta*y0
struct check_spmv {
    const struct weft_csr *a;
    enum weft_type type; // of x and y; that of a unless a is a pattern
    enum weft_spmv_semiring semiring;
    int f64_sums;
    int exact; // nonzero: integer values whose sums the type holds, so that equality is demanded
    int parts; // with f64_sums, nonzero: y takes a row in several parts (coo, hyb) and is rounded each time
    double alpha, beta;
    const void *x, *y0; // y0 may be NULL when beta == 0
};

// Compare every row. In (+, *) a row of k entries may be off by (k + 3) * eps * (|alpha| sum |a x| + |beta y0|), eps
// half the distance from 1 to the next number of the type of sums, the reference in higher precision; with f64_sums
// also by the rounding of the result. Integers and the other semirings must be equal.
// Nonzero when all rows pass; else the first that does not is described in `why`.
int check_spmv(const struct check_spmv *job, const void *y, char *why, size_t why_size);
// 64-bit FNV-1a of `bytes` bytes: what --hash prints of y, so that results of several devices can be compared.
uint64_t check_hash(const void *y, size_t bytes);
