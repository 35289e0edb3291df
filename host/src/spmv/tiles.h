// SPDX-License-Identifier: Apache-2.0
// Tiles of equal rows plus entries (cl/spmv/rows_tiles.cl), and the sums of rows that they cut (cl/spmv/join.cl).
#pragma once

#include "plan.h"

enum {
    WEFT__TILES_ROW,
    WEFT__TILES_POS,
    WEFT__TILES_SPLIT,
    WEFT__TILES_PART,
    WEFT__TILES_HEAD,
    WEFT__TILES_ARRIVED, // where the tiles of a cut row meet; NULL: a kernel of its own joins them
    WEFT__TILES_BUFFERS
};
struct weft__spmv_tiles {
    cl_uint tiles, nsplit;
    cl_uint tile, snap; // rows plus entries; entries by which a cut may move
    cl_mem b[WEFT__TILES_BUFFERS];
    struct weft__kernel *join;
    size_t join_wg, join_per_group;
};
// Cut plan->a, and count the bytes in plan->info. Blocks.
weft_status weft__spmv_tiles_create(struct weft__spmv_tiles *t, struct weft_spmv_plan *plan, cl_command_queue queue,
                                    uint32_t tile, uint32_t snap);
// Memory for the sums of cut rows, counted as well, and the kernel that joins them.
weft_status weft__spmv_tiles_sums(struct weft__spmv_tiles *t, struct weft_spmv_plan *plan);
// Bind what a kernel takes of the tiles.
weft_status weft__spmv_tiles_bind(const struct weft__spmv_tiles *t, struct weft_spmv_plan *plan,
                                  struct weft__kernel *kernel);
weft_status weft__spmv_tiles_join(const struct weft__spmv_tiles *t, struct weft_spmv_plan *plan,
                                  struct weft__stream *stream, const struct weft__spmv_call *call);
void weft__spmv_tiles_release(struct weft__spmv_tiles *t);
