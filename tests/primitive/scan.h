// SPDX-License-Identifier: Apache-2.0
// What the tests of scan share.
#pragma once

#include "tests/support/device.h"

#include <weft/scan.h>

// What the elements are: any bits (sums wrap around; floats in -1..1), or small whole numbers whose sums are exact.
enum data { DATA_ANY, DATA_SMALL };
void scan_data_fill(void *in, int64_t n, enum weft_scan_type type, enum data data);

// The smallest tuning values of a schedule: tiles (or chunks) of few elements, so that small inputs have many.
struct weft_scan_params scan_smallest(struct test_device *dev);
// NULL where the library refuses, which a note says.
struct weft_scan_plan *scan_plan_make(struct test_device *dev, enum weft_scan_type type, int64_t n_max,
                                      const struct weft_scan_params *params);
// One scan of n elements with a plan that is there, in canaried buffers or in place, against the oracle.
int scan_check(struct test_device *dev, struct weft_scan_plan *plan, enum weft_scan_type type, int64_t n,
               enum data data, int in_place);

// The form of one launch, where tiles wait for their neighbours (scan_chained.c).
void scan_test_neighbours(struct test_device *dev);
