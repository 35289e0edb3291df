// SPDX-License-Identifier: Apache-2.0
// What a transposition is made for: the shape with the forms of input that conversions and refills have.
#pragma once

#include "host/src/core/limits.h"

#include <weft/transpose.h>

struct weft__transpose_shape {
    int64_t m, n, nnz;
    enum weft_type type;
    enum weft_ofs ofs;
    int rows_given;    // nonzero: input is COO, `row_ptr` of the input holds nnz int32 row indices instead of offsets
    int val_positions; // nonzero: input val is not read, its place is taken by the position of the entry (a plan's
        // analysis); type is then WEFT_TYPE_I32 for 32-bit offsets, WEFT_TYPE_F64 (8 bytes) for 64-bit ones
    int mirror; // nonzero: try first whether the pattern is symmetric (m == n; ScanTrans on GPUs)
    int wide;   // nonzero: 64-bit positions for 64-bit offsets, however few the entries are
    // A trial: the layout of the plan that it stands for, of the same method: its programs are to be the same. Read while a
    // plan is made. NULL: as the shape says.
    const void *like;
};

// Kernels step past the last entry by a tile, a chunk or all groups' tiles, and past the last row by a few lanes, in
// numbers that must not wrap around: so many entries at most have 32-bit positions.
#define WEFT__POS_32_MOST (INT32_MAX - (1 << 26))

// Width of positions among the entries inside a transposition, whatever row and column pointers have.
static inline enum weft_ofs weft__transpose_pos(const struct weft__transpose_shape *shape)
{
    return shape->ofs == WEFT_OFS_64 && (shape->wide || shape->nnz > WEFT__HOSTILE(WEFT__POS_32_MOST, INT64_C(1) << 12))
               ? WEFT_OFS_64
               : WEFT_OFS_32;
}

// Do input, output and so many bytes of scratch lie in the device's memory together? A processor may have more than its driver
// says.
bool weft__transpose_fits(const struct weft_context *ctx, const struct weft__transpose_shape *shape, size_t scratch);

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
