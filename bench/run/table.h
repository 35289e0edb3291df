// SPDX-License-Identifier: Apache-2.0
// The tables for people: at most 100 columns, ASCII.
#pragma once

#include "run.h"

// Which optional columns a block has.
struct bench_table {
    FILE *out;        // NULL: print nothing
    int gflops;       // nonzero: GFLOP/s
    int vendors;      // nonzero: speedup against the best vendor
    int noisy;        // nonzero: a row was marked; 2: and it was said what that means
    int64_t products; // positive: the bytes of the format for GFLOP/s, and the total is of so many products
};

// Name and shape, then the heads of the columns. `matrix` and `a` are NULL for an operation without one.
void bench_table_head(const struct bench_table *table, const char *op, const char *matrix, const struct weft_csr *a,
                      int64_t seed);
void bench_table_row(struct bench_table *table, const struct bench_result *result);
// After the rows: what the mark of a noisy time means, once.
void bench_table_end(struct bench_table *table);
// 4 significant digits, no exponent: "0.03812", "312.1", "15300".
const char *bench_ms_text(char text[24], double ms);
