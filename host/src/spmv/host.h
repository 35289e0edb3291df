// SPDX-License-Identifier: Apache-2.0
// The rest of a hybrid on the host: a thread of the plan multiplies it while the device multiplies the ELL part.
#pragma once

#include "coo.h"
#include "host/src/core/threads.h"

struct weft__spmv_host;

// Take over the rest `c`, whose row, col and val the device has, in row order and in commands that have completed.
// Afterwards these buffers may go. Blocks.
weft_status weft__spmv_host_create(struct weft__spmv_host **out, struct weft_spmv_plan *plan, cl_command_queue queue,
                                   const struct weft__spmv_coo *c);
// New values of the same rest. Blocks; waits for the runs that are enqueued.
weft_status weft__spmv_host_refill(struct weft__spmv_host *h, struct weft_spmv_plan *plan, cl_command_queue queue,
                                   const struct weft__spmv_coo *c);
// A run has two halves, and the launches of the device part come between them: x travels to the host, whose thread
// starts when it is there; its sums come back and are added to y.
struct weft__spmv_host_run {
    cl_event sums; // set by the thread when the sums are there
};
weft_status weft__spmv_host_begin(struct weft__spmv_host *h, struct weft_spmv_plan *plan, struct weft__stream *stream,
                                  const struct weft__spmv_call *call, struct weft__spmv_host_run *run);
weft_status weft__spmv_host_end(struct weft__spmv_host *h, struct weft_spmv_plan *plan, struct weft__stream *stream,
                                const struct weft__spmv_call *call, struct weft__spmv_host_run *run);
// Waits for the runs that are enqueued. Accepts NULL and *h == NULL.
void weft__spmv_host_destroy(struct weft__spmv_host **h);

// Bytes that it holds of the matrix, and beside it (copy of x, sums).
size_t weft__spmv_host_bytes(const struct weft__spmv_host *h);
size_t weft__spmv_host_workspace(const struct weft__spmv_host *h);

// host_sum.c: sum[i] of the entries of piece i, which are piece[i] .. piece[i+1]-1, in the type of sums; `val` is
// NULL for a pattern.
struct weft__spmv_pieces {
    int64_t count, *piece;
    const int32_t *col;
    const void *val;
};
void weft__spmv_pieces_sum(struct weft__team *team, const struct weft__spmv_pieces *p, enum weft_type type,
                           enum weft_type acc, enum weft_spmv_semiring semiring, const void *x, void *sum);
// out[r] = sum of sum[first[r]] .. sum[first[r+1]-1], from the left; out may be sum.
void weft__spmv_pieces_join(const int64_t *first, int64_t rows, enum weft_type acc, enum weft_spmv_semiring semiring,
                            const void *sum, void *out);
