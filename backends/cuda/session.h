// SPDX-License-Identifier: Apache-2.0
// A session on the CUDA device that is the OpenCL device of the bench, for the backends of NVIDIA's libraries: memory, copies
// and times by CUDA events.
#pragma once

#include "backends/backend.h"

#include <cuda_runtime_api.h>
#include <stdatomic.h>

enum { CUDA_BLOCKS_MAX = 16 };

struct cuda_session {
    const char *library; // whose calls are timed, for a trace
    cudaStream_t stream;
    cudaEvent_t start, stop;
    atomic_int gate;               // nonzero: what is enqueued may run
    void *blocks[CUDA_BLOCKS_MAX]; // device memory, freed by weft__cuda_close
    int block_count;
};

// A one-line error; WEFT_OK for success. `what` names the call.
weft_status weft__cuda_fail(cudaError_t error, const char *what, struct weft_error *err);

// As `probe` of a backend: WEFT_OK where the OpenCL device is a CUDA device too.
weft_status weft__cuda_probe(struct weft_context *ctx, struct weft_error *err);

// The session must be all zero before. weft__cuda_close also takes one that is half open, and waits for the device.
weft_status weft__cuda_open(struct cuda_session *s, struct weft_context *ctx, const char *library,
                            struct weft_error *err);
void weft__cuda_close(struct cuda_session *s);
// Device memory of `bytes` bytes, all of them 0xff: NaN, a negative index. *out is NULL after a failure.
weft_status weft__cuda_take(struct cuda_session *s, void **out, size_t bytes, const char *what, struct weft_error *err);
// All bytes of that memory 0xff once more, when the stream has done what it was asked before; waits.
weft_status weft__cuda_poison(struct cuda_session *s, void *block, size_t bytes, struct weft_error *err);
// For calls from host to host, as a plain program makes them. Device memory in a session that borrows stream and handle,
// with the contents of `from` (NULL: not set), which the stream has once weft__cuda_settle returned; and its end.
weft_status weft__cuda_have(struct cuda_session *call, void **out, const void *from, size_t bytes, const char *what,
                            struct weft_error *err);
weft_status weft__cuda_settle(struct weft_error *err);
void weft__cuda_drop(struct cuda_session *call);
// Copy and wait; add the milliseconds of the host clock to *ms, which counts as 0 while it is negative.
weft_status weft__cuda_write(void *to, const void *from, size_t bytes, double *ms, struct weft_error *err);
weft_status weft__cuda_read(void *to, const void *from, size_t bytes, double *ms, struct weft_error *err);
// What the stream gets between these two is timed on the device. It starts when all of it is enqueued, so that the
// host's part of a call is not in its time. `status` is what the calls between them returned.
weft_status weft__cuda_begin(struct cuda_session *s, struct weft_error *err);
weft_status weft__cuda_end(struct cuda_session *s, weft_status status, double *ms, struct weft_error *err);
