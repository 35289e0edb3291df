// SPDX-License-Identifier: Apache-2.0
// weft advise: a matrix in every order, what is predicted of each and what was measured.
#pragma once

#include "host/common/advice.h"
#include "tool.h"

#include <weft/spmv.h>

enum { ADVISE_ROUNDS = 5 };

// A matrix in one order, and what is known of it.
struct trial {
    enum weft_order order;
    struct weft_permutation p;
    struct weft_csr a;
    struct advice_measures measures;
    struct advice advice; // with a model
    double order_ms;      // host time of making the permutation
    // With --measure.
    struct weft_device_csr on_device;
    cl_mem x, y;
    struct weft_spmv_plan *plan;
    double ms[ADVISE_ROUNDS]; // time of a product
    double ratio, permute;
    int pays;
};

struct advise {
    const struct tool_options *o;
    struct tool_matrix m;
    struct tool_device device;
    const struct advice_model *model; // NULL: none for this kind of device
    enum weft_type type;              // of x and y
    struct trial trials[WEFT_ORDER_COUNT];
};

// Run products in every order on the device, compare each with the regular one's, and fill ms, ratio, permute and pays.
// TOOL_OK or the exit status after a complaint.
int advise_measure(struct advise *s);
// The middle one of ADVISE_ROUNDS values.
double advise_median(const double *values);
