// SPDX-License-Identifier: Apache-2.0
// What a transposition is made for: the shape with the forms of input that conversions and refills have.
#pragma once

#include <weft/transpose.h>

struct weft__transpose_shape {
    int64_t m, n, nnz;
    enum weft_type type;
    enum weft_ofs ofs;
    int rows_given;    // nonzero: input is COO, `row_ptr` of the input holds nnz int32 row indices instead of offsets
    int val_positions; // nonzero: input val is not read, its place is taken by the position of the entry (a plan's
        // analysis); type is then WEFT_TYPE_I32 for 32-bit offsets, WEFT_TYPE_F64 (8 bytes) for 64-bit ones
    int mirror; // nonzero: try first whether the pattern is symmetric (m == n; ScanTrans on GPUs)
};

// Workspace and object of any shape, where the public functions make plain CSR ones.
weft_status weft__transpose_plan(struct weft_transpose_info *out, struct weft_context *ctx,
                                 const struct weft__transpose_shape *shape, const struct weft_transpose_params *params);
weft_status weft__transpose_create(struct weft_transpose_plan **out, struct weft_context *ctx,
                                   const struct weft__transpose_shape *shape,
                                   const struct weft_transpose_params *params);

// Bits that hold 0 .. count-1.
static inline uint32_t weft__bits_for(int64_t count)
{
    uint32_t bits = 0;
    while (((int64_t)1 << bits) < count)
        bits++;
    return bits;
}
