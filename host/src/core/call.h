// SPDX-License-Identifier: Apache-2.0
// A call that blocks on arrays of the host: its queue and its buffers, made as they come and released together.
//
//     struct weft__call call = weft__call_begin(ctx, weft_scan_plan_create(&plan, ...));
//     const cl_mem from = weft__call_in(&call, "in", in, in_bytes), to = weft__call_out(&call, "out", out, out_bytes);
//     if (!call.status)
//         call.status = weft_scan_run(plan, call.queue, to, from, ...);
//     weft_scan_plan_destroy(&plan);
//     return weft__call_end(&call);
//
// The first failure stays in `status`, and what follows does nothing.
#pragma once

#include "host/src/core/context.h"

enum { WEFT__CALL_ARRAYS = 8 };

struct weft__call {
    struct weft_context *ctx;
    weft_status status;
    cl_command_queue queue;
    struct weft__call_array {
        cl_mem buffer;
        const void *host;
        void *result; // the array once more if the call writes it
        size_t bytes;
    } array[WEFT__CALL_ARRAYS];
    int count;
};

// `status` is that of what the caller has made.
struct weft__call weft__call_begin(struct weft_context *ctx, weft_status status);
// Buffers for an array that is read, and for one that gets a result; lent as lend.h says. A result may lie in arrays that
// came before it: then the device writes elsewhere, and it is copied at the end. NULL after a failure, WEFT_EINVAL where the
// array is NULL.
cl_mem weft__call_in(struct weft__call *call, const char *name, const void *host, size_t bytes);
cl_mem weft__call_out(struct weft__call *call, const char *name, void *host, size_t bytes);
// Wait for the results, release everything, return the status.
weft_status weft__call_end(struct weft__call *call);
