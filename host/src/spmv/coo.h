// SPDX-License-Identifier: Apache-2.0
// Coordinates in row order, added to y: a format of its own and the rest of a hybrid.
#pragma once

#include "plan.h"

enum { WEFT__COO_ROW, WEFT__COO_COL, WEFT__COO_VAL, WEFT__COO_PART, WEFT__COO_HEAD, WEFT__COO_BUFFERS };
enum { WEFT__COO_RUN, WEFT__COO_JOIN, WEFT__COO_KERNELS };
struct weft__spmv_coo {
    cl_mem b[WEFT__COO_BUFFERS]; // all owned; VAL is NULL for a pattern
    struct weft__kernel *k[WEFT__COO_KERNELS];
    int64_t nnz;
    int atomic; // nonzero: the kernel of atomics
    cl_uint tile, tiles;
    size_t groups, wg, join_groups, join_wg;
    size_t bytes, workspace_bytes; // the matrix; the rest
};
// Kernels and scratch for c->nnz entries; the caller fills ROW, COL and VAL.
weft_status weft__spmv_coo_create(struct weft__spmv_coo *c, struct weft_spmv_plan *plan);
// Have the kernels take these arrays: once they are there, and when others are in their place.
weft_status weft__spmv_coo_bind(const struct weft__spmv_coo *c, struct weft_spmv_plan *plan);
// y = y + alpha*A*x
weft_status weft__spmv_coo_run(const struct weft__spmv_coo *c, struct weft_spmv_plan *plan, struct weft__stream *stream,
                               const struct weft__spmv_call *call);
void weft__spmv_coo_release(struct weft__spmv_coo *c);
// row[p] of every position p of `ptr`, which has m + 1 offsets. Blocks.
weft_status weft__spmv_rows_expand(struct weft__stream *stream, cl_mem ptr, enum weft_ofs ofs, int64_t m, int64_t nnz,
                                   cl_mem row);
