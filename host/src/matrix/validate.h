// SPDX-License-Identifier: Apache-2.0
// Faults of matrices in words, and the check as a part of other operations.
#pragma once

#include "host/src/core/stream.h"
#include <weft/validate.h>

// WEFT_EMATRIX with the text of a fault, WEFT_OK for none. At `at` is a[0] where a[1] should fit to it: the row pointer and
// what it should be or the next one; the column and n or the one before it. Indices count from `base`.
weft_status weft__fault_error(struct weft_error *err, enum weft_fault fault, int base, int64_t at, const int64_t a[2]);
// WEFT_EINVAL where there is no such demand.
weft_status weft__columns_check(struct weft_error *err, enum weft_columns columns);

// weft_csr_validate and weft_validate_sync of indices that count from `base`, 0 or 1.
weft_status weft__csr_validate_based(const struct weft_csr *a, int base, struct weft_error *err);
weft_status weft__validate_based_sync(struct weft_context *ctx, cl_command_queue queue, const struct weft_device_csr *a,
                                      int base);

// Wait for weft_validate_run on `queue` and read its answer from `found`.
weft_status weft__validate_ask(struct weft_validate_plan *plan, cl_command_queue queue, cl_mem found,
                               const struct weft_device_csr *a, enum weft_columns columns, cl_uint nwait,
                               const cl_event *wait, enum weft_fault *fault, int64_t *at);
