// SPDX-License-Identifier: Apache-2.0
// Two products in CSR that differ in where they add up: for docs/profiling.md, not for use.
#pragma once

#include "host/src/core/program.h"
#include <weft/transpose.h>

// Names: "csr_naive" (the sum is in global memory), "csr_private" (in a variable); ends with NULL.
extern const char *const weft__csr_pair_names[];
// Whether `name` is one of them: its position, or -1.
int weft__csr_pair_find(const char *name);
// The kernel for values of a type other than a pattern. Errors: as weft__kernel_create; WEFT_EUNSUPPORTED f64 on a
// device without it, patterns.
weft_status weft__csr_pair_create(struct weft__kernel **out, struct weft_context *ctx, int which, enum weft_type type,
                                  enum weft_ofs ofs);
// y = A*x
weft_status weft__csr_pair_run(struct weft__stream *stream, struct weft__kernel *kernel, int which,
                               const struct weft_device_csr *a, cl_mem x, cl_mem y);
