// SPDX-License-Identifier: Apache-2.0
#include "host/src/core/fill.h"
#include "host/src/core/limits.h"
#include "host/src/spmv/spmv.h"

const struct weft__kernel_spec weft__rows_tiles_spec = {"rows_tiles", "spmv/rows_tiles.cl"};
const struct weft__kernel_spec weft__spmv_join_spec = {"spmv_join", "spmv/join.cl"};

// Parts of one row from which a whole work-group joins them.
#define MANY_PARTS 64

static weft_status tiles_cut(struct weft__spmv_tiles *t, struct weft_spmv_plan *plan, cl_command_queue queue)
{
    struct weft_context *ctx = plan->ctx;
    const struct weft_device_csr *a = &plan->a;
    const size_t wg = ctx->schedule == WEFT_SCHEDULE_CPU ? 1 : 64;
    struct weft__defines d = {0};
    struct weft__stream stream = {0};
    struct weft__kernel *kernel = NULL, *fill = NULL;
    cl_mem count = NULL;
    cl_int m = (cl_int)a->m;
    weft__define_types(&d, WEFT_PATTERN, a->ofs);
    weft__define(&d, "WEFT_WG", "%zu", wg);
    weft_status status = weft__kernel_create(&kernel, ctx, &weft__rows_tiles_spec, &d);
    if (!status)
        status = weft__fill_create(&fill, ctx);
    if (!status)
        status = weft__buffer_create(&count, ctx, sizeof t->nsplit, "number of cut rows");
    if (!status)
        status = weft__stream_begin(&stream, ctx, queue, 0, NULL, NULL);
    if (!status)
        status = weft__fill(&stream, fill, count, 0, 1, 0);
    if (!status)
        status = WEFT__LAUNCH(&stream, kernel, weft__groups(weft__ceil_div((size_t)t->tiles + 1, wg), wg), wg,
                              WEFT__ARG(row_ptr, a->row_ptr), WEFT__ARG(tile_row, t->row), WEFT__ARG(tile_pos, t->pos),
                              WEFT__ARG(split, t->split), WEFT__ARG(nsplit, count), WEFT__ARG(m),
                              WEFT__ARG(tile, t->tile), WEFT__ARG(snap, t->snap), WEFT__ARG(tiles, t->tiles));
    if (!status)
        status = weft__spmv_read(ctx, queue, count, 0, sizeof t->nsplit, &t->nsplit);
    weft__buffer_release(&count);
    weft__kernel_release(&kernel);
    weft__kernel_release(&fill);
    return status;
}

weft_status weft__spmv_tiles_create(struct weft__spmv_tiles *t, struct weft_spmv_plan *plan, cl_command_queue queue,
                                    uint32_t tile, uint32_t snap)
{
    struct weft_context *ctx = plan->ctx;
    const struct weft_device_csr *a = &plan->a;
    const size_t tiles = weft__ceil_div((size_t)a->m + (size_t)a->nnz, tile);
    if (tiles >= UINT32_MAX)
        return weft__fail(ctx, WEFT_ERANGE, "%zu tiles of rows plus entries, a plan counts less than 2^32 - 1", tiles);
    const size_t row_bytes = (tiles + 1) * sizeof(cl_int), pos_bytes = (tiles + 1) * weft_ofs_bytes(a->ofs);
    const size_t split_bytes = tiles * sizeof(cl_uint);
    t->tiles = (cl_uint)tiles;
    t->tile = tile;
    t->snap = snap;
    t->bytes = row_bytes + pos_bytes + split_bytes;
    weft_status status = weft__buffer_create(&t->row, ctx, row_bytes, "first row of each tile");
    if (!status)
        status = weft__buffer_create(&t->pos, ctx, pos_bytes, "first entry of each tile");
    if (!status)
        status = weft__buffer_create(&t->split, ctx, split_bytes, "list of cut rows");
    return status ? status : tiles_cut(t, plan, queue);
}

// Two words for each tile, at zero: the tiles of a cut row meet at those of the last one.
static weft_status arrived_create(struct weft__spmv_tiles *t, struct weft_spmv_plan *plan, cl_command_queue queue)
{
    const size_t bytes = (size_t)t->tiles * 2 * sizeof(cl_uint);
    struct weft__stream stream = {0};
    struct weft__kernel *fill = NULL;
    weft_status status = weft__buffer_create(&t->arrived, plan->ctx, bytes, "tiles that came to a cut row");
    if (!status)
        status = weft__fill_create(&fill, plan->ctx);
    if (!status)
        status = weft__stream_begin(&stream, plan->ctx, queue, 0, NULL, NULL);
    if (!status)
        status = weft__fill(&stream, fill, t->arrived, 0, 2 * (uint64_t)t->tiles, 0);
    if (!status)
        status = weft__fail_cl(plan->ctx, weft__cl.clFinish(queue), "clFinish");
    t->bytes += bytes;
    weft__kernel_release(&fill);
    return status;
}

weft_status weft__spmv_tiles_sums(struct weft__spmv_tiles *t, struct weft_spmv_plan *plan, cl_command_queue queue)
{
    const int cpu = plan->ctx->schedule == WEFT_SCHEDULE_CPU;
    const size_t bytes = t->tiles * weft__spmv_acc_bytes(plan);
    struct weft__defines d = {0};
    weft_status status = weft__buffer_create(&t->part, plan->ctx, bytes, "sums behind each tile");
    if (!status)
        status = weft__buffer_create(&t->head, plan->ctx, bytes, "sums before each tile");
    t->bytes += 2 * bytes;
    if (status || !t->nsplit)
        return status;
    if (weft__caps_of(plan->ctx).fence)
        return arrived_create(t, plan, queue);
    const int many = !cpu && weft__wg_most(plan->ctx) >= 256 && plan->stats.max_row / t->tile > MANY_PARTS;
    t->join_wg = cpu ? 1 : many ? 256 : 64;
    t->join_per_group = cpu || many ? 1 : 2;
    weft__spmv_define(plan, &d);
    weft__define(&d, "WEFT_WG", "%zu", t->join_wg);
    weft__define(&d, "WEFT_JOIN", "%zu", t->join_wg / t->join_per_group);
    return weft__kernel_create(&t->join, plan->ctx, &weft__spmv_join_spec, &d);
}

weft_status weft__spmv_tiles_join(const struct weft__spmv_tiles *t, struct weft_spmv_plan *plan,
                                  struct weft__stream *stream, const struct weft__spmv_call *call)
{
    if (!t->join)
        return stream->status;
    size_t groups = weft__groups(weft__ceil_div(t->nsplit, t->join_per_group), t->join_wg);
    return WEFT__LAUNCH(stream, t->join, groups, t->join_wg, WEFT__ARG(row_ptr, plan->a.row_ptr),
                        WEFT__ARG(tile_row, t->row), WEFT__ARG(part, t->part), WEFT__ARG(head, t->head),
                        WEFT__ARG(split, t->split), WEFT__ARG(nsplit, t->nsplit), WEFT__ARG(tile, t->tile),
                        WEFT__ARG(snap, t->snap), WEFT__ARG(y, call->y), WEFT__SPMV_SCALAR(alpha, plan, call->alpha),
                        WEFT__SPMV_SCALAR(beta, plan, call->beta));
}

void weft__spmv_tiles_release(struct weft__spmv_tiles *t)
{
    weft__kernel_release(&t->join);
    weft__buffer_release(&t->row);
    weft__buffer_release(&t->pos);
    weft__buffer_release(&t->split);
    weft__buffer_release(&t->part);
    weft__buffer_release(&t->head);
    weft__buffer_release(&t->arrived);
}
