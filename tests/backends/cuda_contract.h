// SPDX-License-Identifier: Apache-2.0
// What the contract tests of the backends on CUDA share.
#pragma once

#include "backends/backend.h"
#include "host/internal/inside.h"
#include "tests/support/csr.h"

enum { CUDA_SHAPES = 13 };
extern const struct cuda_shape {
    int64_t m, n, nnz;
} cuda_shapes[CUDA_SHAPES];
extern struct weft_context cuda_fake; // the OpenCL device
extern struct rng cuda_rng;

// To be called first.
void cuda_begin(void);
// `count` GPUs of the stand-in; what the OpenCL device knows of itself, 0: not known.
void cuda_devices(int count, int uuid, int bus, int domain);
struct weft_backend_times cuda_no_times(void);
// After finish: nothing is alive and no rule was broken. Nonzero when so; else says what.
int cuda_clean(const char *what);
void cuda_probe_test(const struct weft_backend *backend, const char *version);
void cuda_transpose_test(const struct weft_backend *backend, const char *algo);
