// SPDX-License-Identifier: Apache-2.0
// A product to compute: what the tests of plans of SpMV run and what they ask to be refused.
#pragma once

#include "device.h"
#include "rng.h"

#include <stdbool.h>
#include <weft/spmv.h>

// A matrix on host and device, x, and y before and behind.
struct test_problem {
    struct test_device *dev;
    struct weft_csr a;
    bool turned; // the device has the transpose of `a`, for plans that transpose it
    struct weft_device_csr d;
    enum weft_type type; // of the vectors
    void *x, *y0, *y;
    size_t x_bytes, y_bytes;
    struct test_buffer bx, by;
};

// Row i has base + i % 4 entries, every 30th `longest`. Bails out when the device refuses.
struct test_problem test_problem_make(struct test_device *dev, struct rng *rng, int64_t m, int64_t n, int64_t base,
                                      int64_t longest, enum weft_type type, enum weft_ofs ofs);
// Row i has length(i, m) entries.
struct test_problem test_problem_of(struct test_device *dev, struct rng *rng, int64_t m, int64_t n,
                                    int64_t (*length)(int64_t i, int64_t m), enum weft_type type, enum weft_ofs ofs);
// That of the transpose of p->a, whose plans are made with params.problem.transpose. The columns of a row ascend on the device.
struct test_problem test_problem_turned(const struct test_problem *p, struct rng *rng);
// Matrix and x, which were changed on the host, to the device.
void test_problem_write(struct test_problem *p);
void test_problem_free(struct test_problem *p);
// A plan for the matrix; NULL where it is refused, with the reason in the output.
struct weft_spmv_plan *test_problem_plan(struct test_problem *p, const struct weft_spmv_params *params);
// A run from y0; nonzero: y is right.
int test_problem_run(struct test_problem *p, struct weft_spmv_plan *plan, const struct weft_spmv_params *params,
                     double alpha, double beta);
// Draws other values, on host and device, and refills the plan with them; zero: that is refused.
int test_problem_renew(struct test_problem *p, struct weft_spmv_plan *plan, struct rng *rng);
// Is y, which is read from the device, alpha*A*x + beta*y0?
int test_problem_right(struct test_problem *p, const struct weft_spmv_params *params, double alpha, double beta);
// Values from -1 to 1, integers from -9 to 9; none of a pattern.
void test_values_draw(struct rng *rng, void *v, enum weft_type type, int64_t count);
