// SPDX-License-Identifier: Apache-2.0
// What the tests of figures of patterns share.
#pragma once

#include "tests/support/csr.h"

#include <math.h>
#include <weft/generate.h>
#include <weft/measure.h>

static inline int test_near(double a, double b)
{
    return fabs(a - b) <= 1e-11 * (1 + fabs(b));
}

static inline void test_generate(struct weft_csr *out, const char *spec, enum weft_type type)
{
    struct weft_error err;
    if (weft_generate(out, spec, weft_generate_params(.type = type, .seed = 5, .integers = 1), &err))
        tap_bail("%s", err.text);
}

static inline void test_density(struct weft_density *out, const struct weft_csr *a, int64_t rows, int64_t cols,
                                int threads)
{
    struct weft_error err;
    if (weft_density_alloc(out, a, weft_density_params(.rows = rows, .cols = cols, .threads = threads), &err))
        tap_bail("%s", err.text);
}

static inline void test_refused(weft_status got, weft_status want, const struct weft_error *err, const char *what)
{
    tap_ok(got == want && err->status == want && err->text[0], "refuses %s: %s", what, err->text);
}
