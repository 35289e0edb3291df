// SPDX-License-Identifier: Apache-2.0
// Whether another order of rows and columns pays: what is measured of a matrix, and the model that was fitted to it by
// bench/advice_fit.py (docs/randomization.md). Used by weft advise and by the study of the bench.
#ifndef TOOL_ADVICE_H
#define TOOL_ADVICE_H

#include <weft/matrix.h>
#include <weft/permute.h>

// What the model looks at, of one matrix in one order.
struct advice_measures {
    double x_lines;   // lines of 64 bytes of x for each entry, in windows of 4096 entries (weft_measures.x_lines)
    double waste;     // places of groups of 32 rows, each as long as its longest, for each entry: 1 is even
    double imbalance; // fullest of 64 equal parts of the rows over the mean
};

// Errors: as weft_measure.
weft_status advice_measure(struct advice_measures *out, const struct weft_csr *a, struct weft_error *err);

#endif
