// SPDX-License-Identifier: Apache-2.0
// Operations of backend `rocsparse`, as backend.h describes them, and what they share: one AMD GPU through HIP.
#pragma once

#include "host/internal/inside.h"
#include "backends/backend.h"

#include <hip/hip_runtime_api.h>
#include <rocsparse/rocsparse.h>
#include <stdatomic.h>

// The version of the headers as one number, 20303 for 2.3.3.
#define ROCSPARSE_HEADERS (ROCSPARSE_VERSION_MAJOR * 10000 + ROCSPARSE_VERSION_MINOR * 100 + ROCSPARSE_VERSION_PATCH)

// A routine for f32 or f64: ROCSPARSE_CALL(type, csrmv, ...) is rocsparse_scsrmv or rocsparse_dcsrmv.
#define ROCSPARSE_CALL(type, name, ...)                                                                                \
    ((type) == WEFT_TYPE_F64 ? rocsparse_d##name(__VA_ARGS__) : rocsparse_s##name(__VA_ARGS__))

// Status of a call as a status of ours; a failure names the call in err.
weft_status weft__rocsparse_hip(hipError_t code, const char *call, struct weft_error *err);
weft_status weft__rocsparse_lib(rocsparse_status code, const char *call, struct weft_error *err);

// The GPU that an OpenCL context is on, seen by HIP. All zero is a closed one.
struct rocsparse_gpu {
    int index; // HIP's number of it
    hipStream_t stream;
    hipEvent_t start, stop;
    rocsparse_handle handle; // on stream; scalars are in host memory
    atomic_int gate;         // nonzero: what is enqueued between begin and end may run
};
// Find the GPU, make it current, create what is in the struct; what was created before a failure stays for _close.
// Errors: WEFT_ENODEV no HIP device, or the context is on something else.
weft_status weft__rocsparse_open(struct rocsparse_gpu *out, struct weft_context *ctx, struct weft_error *err);
void weft__rocsparse_close(struct rocsparse_gpu *gpu);

// The GPU's time of the calls between, whose status goes to end. begin makes the GPU current and holds the stream back,
// so that the host's part of the calls is not in the time; end lets it go and waits.
weft_status weft__rocsparse_begin(struct rocsparse_gpu *gpu, struct weft_error *err);
weft_status weft__rocsparse_end(struct rocsparse_gpu *gpu, weft_status status, double *ms, struct weft_error *err);

// Device memory of `bytes` bytes, at least four (rocSPARSE refuses NULL also for empty arrays), filled with what is no
// result: NaN, -1. `what` names it in err.
weft_status weft__rocsparse_alloc(void **out, size_t bytes, const char *what, struct weft_error *err);
// The same bytes once more in memory of that many.
weft_status weft__rocsparse_poison(void *memory, size_t bytes, struct weft_error *err);
void weft__rocsparse_free(void **memory); // accepts NULL and *memory == NULL
// Copy to and from the device; both wait for what the device was asked before.
weft_status weft__rocsparse_write(void *to, const void *from, size_t bytes, const char *what, struct weft_error *err);
weft_status weft__rocsparse_read(void *to, const void *from, size_t bytes, const char *what, struct weft_error *err);

// A CSR matrix in device memory; all zero holds nothing.
struct rocsparse_csr {
    rocsparse_int m, n, nnz;
    void *row_ptr, *col, *val; // val is NULL for a pattern
};
// Memory for the arrays of `a`, then their contents. Errors: WEFT_EUNSUPPORTED 64-bit offsets.
weft_status weft__rocsparse_csr_create(struct rocsparse_csr *out, const struct weft_csr *a, struct weft_error *err);
weft_status weft__rocsparse_csr_write(struct rocsparse_csr *out, const struct weft_csr *a, struct weft_error *err);
void weft__rocsparse_csr_free(struct rocsparse_csr *a);
