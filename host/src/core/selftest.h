// SPDX-License-Identifier: Apache-2.0
// Self-tests: before a plan is handed out its programs solve a small problem, once for a device, driver and library.
#pragma once

#include "host/src/core/context.h"

// A small problem that runs. The first failure stays in `status`, and later steps do nothing.
struct weft__trial {
    struct weft_context *ctx;
    cl_command_queue queue;
    weft_status status; // of the device, or of memory: says nothing of numbers
    bool wrong;         // a result differs from the oracle's
    cl_mem buffers[16];
    size_t nbuffers;
};
// A buffer of `bytes` bytes that holds `data`; NULL: bytes of 0xa5, so that what is not written shows. Released by the
// end of the trial.
cl_mem weft__trial_buffer(struct weft__trial *trial, const void *data, size_t bytes);
// Host memory, all zeros, or NULL after a failure; the caller frees it.
void *weft__trial_memory(struct weft__trial *trial, size_t bytes);
// Compare what the queue leaves in `buffer` with `expected`.
void weft__trial_same(struct weft__trial *trial, cl_mem buffer, const void *expected, size_t bytes);

typedef void weft__trial_fn(struct weft__trial *trial, void *arg);
// Run the trial, unless self-tests are off, one runs in this thread, or `what` was right before. `what` names the operation and
// says what its programs depend on, beside device, driver and library: "scan i32 wg=256 ipt=16".
// Errors: WEFT_EDEVICE a result is wrong; the text names `what` and the kernels. A trial that cannot run is no error.
weft_status weft__selftest(struct weft_context *ctx, const char *what, weft__trial_fn *fn, void *arg);

// Around a self-test of a plan whose algorithm was not asked for: is another to take its place, because this one computes wrong
// numbers? Then the log says so. `other` names it; NULL: there is none. Any other failure is the context's error.
void weft__fallback_begin(struct weft_context *ctx);
bool weft__fallback(struct weft_context *ctx, weft_status status, const char *other);

// At the begin and end of a context's life.
void weft__selftest_begin(struct weft_context *ctx, bool off);
void weft__selftest_end(struct weft_context *ctx);
