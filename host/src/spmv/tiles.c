// SPDX-License-Identifier: Apache-2.0
// Cuts a CSR matrix into tiles of equal rows plus entries, and joins the sums of the rows that tiles share.
#include "tiles.h"

// Parts of one row from which a whole work-group joins them.
#define MANY_PARTS 64

static weft_status tiles_cut(struct weft__spmv_tiles *t, struct weft_spmv_plan *plan, cl_command_queue queue)
{
    const size_t wg = weft__spmv_is_cpu(plan) ? 1 : 64;
    const cl_int m = (cl_int)plan->a.m;
    struct weft__make make = {.ctx = plan->ctx};
    struct weft__defines d = {0};
    struct weft__kernel *kernel = NULL;
    cl_mem count = NULL;
    weft__define_types(&d, WEFT_TYPE_PATTERN, plan->a.ofs);
    weft__define(&d, "WEFT_WG", "%zu", wg);
    weft__make_kernel(&make, &kernel, &weft__rows_tiles_spec, &d);
    weft__spmv_make_word(&make, queue, &count, "number of cut rows");
    struct weft__stream stream = weft__spmv_stream(&make, queue);
    WEFT__LAUNCH(&stream, kernel, weft__groups(weft__ceil_div((size_t)t->tiles + 1, wg), wg), wg,
                 WEFT__ARG(row_ptr, plan->a.row_ptr), WEFT__ARG(tile_row, t->b[WEFT__TILES_ROW]),
                 WEFT__ARG(tile_pos, t->b[WEFT__TILES_POS]), WEFT__ARG(split, t->b[WEFT__TILES_SPLIT]),
                 WEFT__ARG(nsplit, count), WEFT__ARG(m), WEFT__ARG(tile, t->tile), WEFT__ARG(snap, t->snap),
                 WEFT__ARG(tiles, t->tiles));
    weft__spmv_read(&stream, count, 0, sizeof t->nsplit, &t->nsplit);
    weft__parts_release(&kernel, 1, &count, 1);
    return stream.status;
}

weft_status weft__spmv_tiles_create(struct weft__spmv_tiles *t, struct weft_spmv_plan *plan, cl_command_queue queue,
                                    uint32_t tile, uint32_t snap)
{
    struct weft__make make = {.ctx = plan->ctx};
    const struct weft_device_csr *a = &plan->a;
    const size_t tiles = weft__ceil_div((size_t)a->m + (size_t)a->nnz, tile);
    if (tiles >= UINT32_MAX)
        return weft__fail(plan->ctx, WEFT_ERANGE, "%zu tiles of rows plus entries, a plan counts less than 2^32 - 1",
                          tiles);
    t->tiles = (cl_uint)tiles;
    t->tile = tile;
    t->snap = snap;
    weft__make_buffers(
        &make, t->b,
        (const struct weft__scratch[WEFT__TILES_BUFFERS]){
            [WEFT__TILES_ROW] = {(tiles + 1) * sizeof(cl_int), .what = "first row of each tile"},
            [WEFT__TILES_POS] = {(tiles + 1) * weft_ofs_bytes(a->ofs), .what = "first entry of each tile"},
            [WEFT__TILES_SPLIT] = {tiles * sizeof(cl_uint), .what = "list of cut rows"}},
        WEFT__TILES_BUFFERS);
    plan->info.workspace_bytes += make.bytes;
    return make.status ? make.status : tiles_cut(t, plan, queue);
}

weft_status weft__spmv_tiles_sums(struct weft__spmv_tiles *t, struct weft_spmv_plan *plan)
{
    const int cpu = weft__spmv_is_cpu(plan), fence = weft__caps_of(plan->ctx).fence;
    const int many = !cpu && weft__wg_most(plan->ctx) >= 256 && plan->stats.max_row / t->tile > MANY_PARTS;
    const size_t bytes = t->tiles * weft__spmv_acc_bytes(plan);
    // Two words for each tile: the tiles of a cut row meet at those of the last one.
    const size_t arrived = t->nsplit && fence ? (size_t)t->tiles * 2 * sizeof(cl_uint) : 0;
    struct weft__make make = {.ctx = plan->ctx};
    struct weft__defines d = {0};
    weft__make_buffers(&make, t->b,
                       (const struct weft__scratch[WEFT__TILES_BUFFERS]){
                           [WEFT__TILES_PART] = {bytes, .what = "sums behind each tile"},
                           [WEFT__TILES_HEAD] = {bytes, .what = "sums before each tile"},
                           [WEFT__TILES_ARRIVED] = {arrived, "tiles that came to a cut row", .zeros = true}},
                       WEFT__TILES_BUFFERS);
    plan->info.workspace_bytes += make.bytes;
    if (!t->nsplit || fence)
        return make.status;
    t->join_wg = cpu ? 1 : many ? 256 : 64;
    t->join_per_group = cpu || many ? 1 : 2;
    weft__spmv_define(plan, &d);
    weft__define(&d, "WEFT_WG", "%zu", t->join_wg);
    weft__define(&d, "WEFT_JOIN", "%zu", t->join_wg / t->join_per_group);
    weft__make_kernel(&make, &t->join, &weft__spmv_join_spec, &d);
    return make.status ? make.status : weft__spmv_tiles_bind(t, plan, t->join);
}

weft_status weft__spmv_tiles_bind(const struct weft__spmv_tiles *t, struct weft_spmv_plan *plan,
                                  struct weft__kernel *kernel)
{
    const cl_mem arrived = t->b[t->b[WEFT__TILES_ARRIVED] ? WEFT__TILES_ARRIVED : WEFT__TILES_PART];
    return WEFT__BIND(plan->ctx, kernel, WEFT__ARG(tile_row, t->b[WEFT__TILES_ROW]),
                      WEFT__ARG(tile_pos, t->b[WEFT__TILES_POS]), WEFT__ARG(split, t->b[WEFT__TILES_SPLIT]),
                      WEFT__ARG(part, t->b[WEFT__TILES_PART]), WEFT__ARG(head, t->b[WEFT__TILES_HEAD]),
                      WEFT__ARG(arrived), WEFT__ARG(nsplit, t->nsplit), WEFT__ARG(tile, t->tile),
                      WEFT__ARG(snap, t->snap), WEFT__ARG(tiles, t->tiles));
}

weft_status weft__spmv_tiles_join(const struct weft__spmv_tiles *t, struct weft_spmv_plan *plan,
                                  struct weft__stream *stream, const struct weft__spmv_call *call)
{
    if (!t->join)
        return stream->status;
    const size_t groups = weft__groups(weft__ceil_div(t->nsplit, t->join_per_group), t->join_wg);
    return weft__spmv_launch_csr(plan, stream, t->join, groups, t->join_wg, call);
}

void weft__spmv_tiles_release(struct weft__spmv_tiles *t)
{
    weft__parts_release(&t->join, 1, t->b, WEFT__TILES_BUFFERS);
}
