// SPDX-License-Identifier: Apache-2.0
// Is y the product it should be? Linked by tests and bench: nothing is timed that was not compared.
#pragma once

#include <stdbool.h>
#include <weft/spmv.h>

// y = alpha*A*x + beta*y0
struct check_spmv {
    const struct weft_csr *a;
    enum weft_type type; // of x and y; that of a unless a is a pattern
    enum weft_spmv_semiring semiring;
    int f64_sums;
    int exact;    // nonzero: integer values whose sums the type holds, so that equality is demanded
    int parts;    // with f64_sums, nonzero: y takes a row in several parts (coo, hyb) and is rounded each time
    bool flushes; // f32 added by atomics of NVIDIA's devices, for which subnormal numbers are zero
    double alpha, beta;
    const void *x, *y0; // y0 may be NULL when beta == 0
};

// What row i may give in (+, *), the reference in higher precision.
//
// A row of k entries may be off by (k + 3) * eps * (|alpha| sum |a x| + |beta y0|), eps half the distance from 1 to the next
// number of the type of sums, and by (k + 3) subnormal steps; with f64_sums also by the rounding of the result. Integers wrap
// around and must be equal. Where additions take subnormal operands and results for zero, a step is twice the least normal number.
//
// Infinities and NaN. Terms are a x and beta y0.
// - A term that is NaN, or infinities of both signs, give NaN in every order of summation. Otherwise one that is infinite
//   gives that infinity. Nothing finite is right then.
// - Where the terms of one sign add up to more than the type of sums holds, partial sums overflow in some orders and not in
//   others. So that infinity is right, and a finite result within the bound. With both signs so, NaN is right too. An
//   infinite term of one sign and such terms of the other give that infinity or NaN.
// - An infinite alpha makes an infinity or NaN of each part of a row: any of them is right that a term can give.
// - A result that its type rounds to infinity is that infinity.
struct check_row {
    int64_t entries;
    bool finite, plus, minus, nan; // right: a finite result, the infinities, NaN
    long double value, bound;      // of a finite result
};
enum { CHECK_ROW_TEXT = 96 };
struct check_row check_row(const struct check_spmv *job, int64_t i);
// Nonzero: `got` is right.
int check_row_right(const struct check_row *row, double got);
// What is right, as "2 within 1e-16 or inf".
const char *check_row_text(const struct check_row *row, char text[CHECK_ROW_TEXT]);

// Compare every row. The other semirings must be equal; NaN is equal to NaN. With (min, +) and (max, *) a row whose terms are
// all NaN is NaN, or what no entries give.
// Nonzero when all rows pass; else the first that does not is described in `why`.
int check_spmv(const struct check_spmv *job, const void *y, char *why, size_t why_size);
// 64-bit FNV-1a of `bytes` bytes: what --hash prints of y, so that results of several devices can be compared.
uint64_t check_hash(const void *y, size_t bytes);
