// SPDX-License-Identifier: Apache-2.0
// What transpose.c knows of a method: a table of functions, one file each.
#ifndef WEFT_SRC_TRANSPOSE_H
#define WEFT_SRC_TRANSPOSE_H

#include "program.h"
#include <weft/transpose.h>

struct weft__transpose_shape {
    int64_t m, n, nnz;
    enum weft_type type;
    enum weft_ofs ofs;
    int rows_given;    // nonzero: input is COO, `row_ptr` of the input holds nnz int32 row indices instead of offsets
    int val_positions; // nonzero: input val is not read, its place is taken by the position of the entry (a plan's
                       // analysis); type is then WEFT_I32 for 32-bit offsets, WEFT_F64 (8 bytes) for 64-bit ones
};

struct weft__transpose_method {
    const char *name;
    // Resolve defaults in *info (params, passes, workspace_bytes, why) without allocating on the device.
    weft_status (*plan)(struct weft_context *ctx, const struct weft__transpose_shape *shape,
                        struct weft_transpose_info *info);
    // Compile and allocate according to *info; *state owns everything, also when half built.
    weft_status (*create)(void **state, struct weft_context *ctx, const struct weft__transpose_shape *shape,
                          const struct weft_transpose_info *info);
    // Enqueue; nnz > 0, m > 0, n > 0 (transpose.c handles the rest).
    weft_status (*run)(void *state, struct weft__stream *stream, const struct weft_device_csr *a,
                       const struct weft_device_csr *at);
    void (*destroy)(void **state);
};

extern const struct weft__transpose_method weft__transpose_scan_gpu, weft__transpose_scan_cpu,
    weft__transpose_merge_gpu, weft__transpose_merge_cpu;

#endif
