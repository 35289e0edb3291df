// SPDX-License-Identifier: Apache-2.0
// Whether another order of rows and columns pays: what is measured of a matrix, and the model that bench/lab/advice_fit.py
// fitted to records of the study (docs/randomization.md). Used by weft advise and by the study of the bench.
#pragma once

#include <weft/device.h>
#include <weft/matrix.h>
#include <weft/permute.h>

// What the model looks at, of one matrix in one order.
struct advice_measures {
    double entries;   // of the matrix; the same in every order, as is the next
    double rows;      // rows for each entry
    double surprises; // rows for each entry whose length is not the one that followed the same four lengths last time
    double waste;     // places of groups of 32 rows, each as long as its longest, for each entry: 1 is even
    double imbalance; // fullest of 64 equal parts of the rows over the mean
    double x_lines;   // lines of 64 bytes of x for each entry, in windows of 4096 entries (weft_measures.x_lines)
};

// Errors: as weft_measure.
weft_status advice_measure(struct advice_measures *out, const struct weft_csr *a, struct weft_error *err);

// An entry costs 1 + sum of cost[i]*term[i]; the terms:
//   rows       rows for each entry: what begins and ends
//   surprises  loops that end where a processor does not foresee it
//   waste      places without an entry in groups of rows that run in step
//   lines      lines of x, wherever they lie
//   far        the same times log2(bytes of x / far_bytes), where that is positive: lines that lie far away
//   start      1000 for each product: what a small matrix pays
enum { ADVICE_TERMS = 6 };
void advice_terms(double out[ADVICE_TERMS], const struct advice_measures *m, double x_bytes, double far_bytes);

// One kind of device.
struct advice_model {
    cl_device_type type; // CL_DEVICE_TYPE_CPU or _GPU
    double cost[ADVICE_TERMS], far_bytes;
    double spread; // standard deviation of ln(measured/predicted), of matrices left out of the fit
    // Making and applying an order, in products with the regular matrix: permute[order]*(entries/100000)^slope.
    double permute[WEFT_ORDER_COUNT], permute_slope;
    double permute_spread; // standard deviation of ln(measured/predicted) of these
    const char *from;      // device, date, number of matrices
};
// The model for a device; NULL: there is none for its kind.
const struct advice_model *advice_model_of(const struct weft_device_info *device);

// Of one order; each interval holds 19 of 20 matrices.
struct advice {
    double ratio, low, high;                   // time of a product over that of the regular matrix
    double permute, permute_low, permute_high; // cost of the order, in products
    double after;                              // products after which it has paid; infinity: never
    int pays;                                  // nonzero: predicted to pay for the products that were asked for
};
// Less than this share of a product's time is no gain worth an order.
#define ADVICE_GAIN 0.05
// products 0: so many that the cost of permuting does not matter.
void advice_predict(struct advice *out, const struct advice_model *model, const struct advice_measures *regular,
                    const struct advice_measures *permuted, enum weft_order order, double x_bytes, int64_t products);
// The same judgement of what was measured.
int advice_pays(double ratio, double permute, int64_t products);
