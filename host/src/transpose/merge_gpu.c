// SPDX-License-Identifier: Apache-2.0
// MergeTrans on devices with local memory: tiles of entries are ordered by column in local memory, then rounds merge up
// to 2^bits neighbouring runs at once. Early rounds merge as many as they may: the more runs, the closer together are the
// columns in a tile of the result, and the fewer bits order it.
//   sort     matrix -> runs of one tile
//   round    cuts of every tile of the result in every run, then the tiles are put together and ordered
//   last     drops the columns and writes their pointers; long gaps of empty columns by a kernel of their own
// Runs alternate between two places: scratch of this object, and the arrays of the result with columns beside them.
#include "host/src/core/op.h"
#include "host/src/transpose/transpose.h"
#include "host/src/core/variants.h"

#include <stdio.h>
#include <stdlib.h>

#define CUT_WG     32
#define GAP_WG     64
#define GAP        (1 << 18) // empty columns that make a long gap; more than 8 tiles
#define MAX_BITS   10
#define MAX_ROUNDS 64
#define MAX_TILE   32768

// Lines of the table for merge_cut: between two of them PER_LINE entries of a run, were these spread evenly, and not so
// many that one tile were busy writing them.
#define PER_LINE  8
#define MAX_LINES 65536

static const struct weft__kernel_spec sort_spec = {"merge_sort", "transpose/merge_tile.cl"};
static const struct weft__kernel_spec join_spec = {"merge_join", "transpose/merge_tile.cl"};
static const struct weft__kernel_spec cut_spec = {"merge_cut", "transpose/merge_cut.cl"};
static const struct weft__kernel_spec gaps_spec = {"merge_gaps", "transpose/merge_cut.cl"};

struct tune {
    struct weft__tune_key key;
    int wg, ipt, most_ipt, bits, most_bits, radix; // most_*: taken where they save a round
};
static const struct tune tune_rows[] = {
    // 2026-11-22, one NVIDIA H200, f32, ms: uniform:500000,500000,10000000 0.435, power:916000 0.271, stencil27:120 1.460, cnr-2000
    // 0.286, boyd1 0.148, wave 0.154, power:8000000 4.96, stencil27:200 6.97. Not swept.
    {{WEFT_SCHEDULE_GPU, NULL, NULL, "measured on an H200"}, 256, 12, 14, 7, 8, 10},
    // Compiled for gfx90a, values of 4 bytes: tiles of 256 x 8 with steps of 9 bits leave 2 groups in the 64 KiB of a compute
    // unit (26216 bytes of local memory at most); 256 x 12 with 10 bits one (42344).
    {{WEFT_SCHEDULE_GPU, WEFT__VENDOR_AMD, NULL, "from the ISA, not run: 8 of 32 waves"}, 256, 8, 8, 7, 8, 9},
    {{WEFT_SCHEDULE_CPU, NULL, NULL, "tests only"}, 64, 4, 4, 4, 4, 4},
};

struct layout {
    size_t tile, tiles, rounds;
    size_t runs[MAX_ROUNDS];          // merged at once in a round; the first has the most
    int room;                         // for runs in the kernels: few values, so that shapes share programs
    int tile_bits, radix, wide, gaps; // gaps: there may be long ones
};

struct merge_gpu {
    struct weft__transpose_shape shape;
    struct layout l;
    int wg, units;
    struct weft__kernel *sort, *join, *last, *cut, *gap;
    cl_mem col[2], row, val, cuts, first, gaps, table, grids;
};

static int bits_for(int64_t count) // bits that hold 0 .. count-1
{
    int bits = 0;
    while (((int64_t)1 << bits) < count)
        bits++;
    return bits;
}

static size_t rounds_for(size_t tiles, int bits)
{
    size_t rounds = 0;
    for (; tiles > 1; rounds++)
        tiles = weft__ceil_div(tiles, (size_t)1 << bits);
    return rounds;
}

static void layout_make(struct layout *l, const struct weft__transpose_shape *shape, int wg, int ipt, int bits,
                        int radix)
{
    *l = (struct layout){.tile = (size_t)wg * (size_t)ipt, .radix = radix};
    l->tiles = weft__ceil_div((size_t)shape->nnz, l->tile);
    for (size_t left = l->tiles; left > 1; l->rounds++) {
        l->runs[l->rounds] = weft__min(left, (size_t)1 << bits);
        left = weft__ceil_div(left, l->runs[l->rounds]);
    }
    for (l->room = 32; l->room < (int)l->runs[0];)
        l->room *= 2;
    l->tile_bits = bits_for((int64_t)l->tile);
    l->wide = bits_for(shape->n) > 32 - l->tile_bits + radix;
    l->gaps = shape->n >= GAP;
}

// Local memory of a tile (cl/transpose_merge.clh), with a share for lane operations where the device has none.
static size_t local_bytes(int wg, int ipt, int bits, int radix, const struct weft__transpose_shape *shape)
{
    size_t tile = (size_t)wg * (size_t)ipt, value = weft_type_bytes(shape->type), counters = (size_t)wg / 32 << radix;
    bits = bits < 5 ? 5 : bits;
    size_t words = tile * (value == 8 || bits_for(shape->n) > 32 - bits_for((int64_t)tile) + radix ? 2 : 1);
    size_t work = 2 * counters > 4 * words ? 2 * counters : 4 * words;
    return tile * (value == 4 ? 8 : 4) + work + tile / 4 + (size_t)wg * 4 + (size_t)wg / 8 * 3 + 8 +
           (weft_ofs_bytes(shape->ofs) << bits) + 16;
}

// Lines of the table for runs of `length` entries.
static cl_uint lines_for(const struct weft__transpose_shape *shape, size_t length)
{
    size_t lines = weft__min(weft__min(length / PER_LINE, MAX_LINES), (size_t)shape->n);
    return lines ? (cl_uint)lines : 1;
}

// Bytes of col[0] .. grids, in the order of the members.
#define NBUFFERS 9
static void buffer_sizes(size_t *out, const struct layout *l, const struct weft__transpose_shape *shape)
{
    size_t nnz = (size_t)shape->nnz, ofs = weft_ofs_bytes(shape->ofs);
    out[0] = l->rounds >= 1 ? weft__mul(nnz, 4) : 0;
    out[1] = l->rounds >= 2 ? weft__mul(nnz, 4) : 0;
    out[2] = out[0];
    out[3] = l->rounds >= 1 ? weft__mul(nnz, weft_type_bytes(shape->type)) : 0;
    out[4] = l->rounds >= 1 ? weft__mul(weft__mul(l->tiles, l->runs[0]), ofs) : 0;
    out[5] = l->rounds >= 1 ? weft__mul(l->tiles, 4) : 0;
    out[6] = 8 * (1 + 3 * (l->gaps ? (size_t)shape->n / GAP + 1 : 0));
    out[7] = 0;
    out[8] = l->rounds >= 1 ? weft__mul(8, weft__ceil_div(l->tiles, l->runs[0])) : 0;
    for (size_t round = 0, length = l->tile; round < l->rounds; length *= l->runs[round++]) {
        size_t groups = weft__ceil_div(weft__ceil_div((size_t)shape->nnz, length), l->runs[round]);
        size_t column = weft__mul(groups, l->runs[round]);
        size_t bytes = weft__mul(weft__mul(column, lines_for(shape, length)), ofs);
        out[7] = bytes > out[7] ? bytes : out[7];
    }
}

static weft_status plan(struct weft_context *ctx, const struct weft__transpose_shape *shape,
                        struct weft_transpose_info *info)
{
    const struct tune *tune = WEFT__TUNE_FIND(ctx, tune_rows);
    struct weft_transpose_params *p = &info->params;
    size_t max_local = weft__local_most(ctx);
    int max_wg = (int)weft__wg_most(ctx) / 32 * 32, wg_given = p->wg != 0, ipt_given = p->ipt != 0;
    if (!wg_given)
        p->wg = tune->wg < max_wg ? tune->wg : max_wg;
    p->ipt = p->ipt ? p->ipt : tune->ipt;
    int bits_given = p->bits != 0;
    p->bits = p->bits ? p->bits : tune->bits;
    weft_status status = weft__check_range(ctx, p->wg, 32, max_wg, 32, "wg");
    if (!status)
        status = weft__check_range(ctx, p->ipt, 2, 32, 1, "ipt");
    if (!status)
        status = weft__check_range(ctx, p->bits, 1, MAX_BITS, 1, "bits");
    if (!status) // there is nothing to share out: the value is checked and not used
        status = weft__check_range(ctx, p->groups, 0, 1 << 20, 1, "groups");
    if (status)
        return status;
    size_t tiles = weft__ceil_div((size_t)shape->nnz, (size_t)p->wg * (size_t)p->ipt);
    size_t fewer = weft__ceil_div((size_t)shape->nnz, (size_t)p->wg * (size_t)tune->most_ipt);
    if (!ipt_given && !bits_given && rounds_for(fewer, tune->most_bits) < rounds_for(tiles, tune->most_bits)) {
        p->ipt = tune->most_ipt;
        tiles = fewer;
    }
    if (!bits_given && rounds_for(tiles, tune->most_bits) < rounds_for(tiles, tune->bits))
        p->bits = tune->most_bits;
    while (!ipt_given && p->ipt > 2 && local_bytes(p->wg, p->ipt, p->bits, tune->radix, shape) > max_local)
        p->ipt = p->ipt > 4 ? p->ipt / 2 : 2;
    while (!wg_given && p->wg > 32 && local_bytes(p->wg, p->ipt, p->bits, tune->radix, shape) > max_local)
        p->wg = p->wg / 2 / 32 * 32;
    size_t need = local_bytes(p->wg, p->ipt, p->bits, tune->radix, shape);
    if (need > max_local || p->wg * p->ipt > MAX_TILE)
        return weft__fail(ctx, WEFT_EINVAL,
                          "wg %d, ipt %d, bits %d need %zu bytes of local memory of %zu, and tiles of at most %d",
                          p->wg, p->ipt, p->bits, need, max_local, MAX_TILE);
    struct layout l;
    layout_make(&l, shape, p->wg, p->ipt, p->bits, tune->radix);
    if (l.tiles > UINT32_MAX / (size_t)p->wg) // a work-group owns a tile
        return weft__fail(ctx, WEFT_ERANGE, "%lld entries are too many for tiles of wg*ipt = %d", (long long)shape->nnz,
                          p->wg * p->ipt);
    p->bits = l.runs[0] > 1 ? bits_for((int64_t)l.runs[0]) : 1;
    p->groups = 0;
    size_t sizes[NBUFFERS];
    buffer_sizes(sizes, &l, shape);
    info->workspace_bytes = 0;
    for (int i = 0; i < NBUFFERS; i++)
        info->workspace_bytes = weft__add(info->workspace_bytes, sizes[i]);
    info->passes = (int)l.rounds + 1;
    snprintf(info->why, sizeof info->why, "merge: %zu tiles of %zu entries, %zu rounds that merge up to %zu runs; %s",
             l.tiles, l.tile, l.rounds, l.runs[0], tune->key.source);
    return WEFT_OK;
}

enum what { SORT, SORT_LAST, JOIN, JOIN_LAST };
static void define_tile(struct weft__defines *d, const struct merge_gpu *s, enum what what)
{
    const struct layout *l = &s->l;
    weft__define(d, "WEFT_OFS_BITS", "%d", s->shape.ofs == WEFT_OFS64 ? 64 : 32);
    weft__define(d, "WEFT_VAL_BITS", "%d", (int)weft_type_bytes(s->shape.type) * 8);
    weft__define(d, "WEFT_WG", "%d", s->wg);
    weft__define(d, "WEFT_IPT", "%zu", l->tile / (size_t)s->wg);
    weft__define(d, "WEFT_TILE_BITS", "%d", l->tile_bits);
    weft__define(d, "WEFT_RADIX_BITS", "%d", l->radix);
    weft__define(d, "WEFT_GAP", "%d", GAP);
    if (what <= SORT_LAST)
        weft__define(d, "WEFT_SORT", "1");
    else
        weft__define(d, "WEFT_JOIN", "%d", l->room);
    if (what == SORT_LAST || what == JOIN_LAST)
        weft__define(d, "WEFT_LAST", "1");
    if (l->wide)
        weft__define(d, "WEFT_WIDE", "1");
    if (s->shape.rows_given && what <= SORT_LAST)
        weft__define(d, "WEFT_ROWS_GIVEN", "1");
    if (s->shape.val_positions && what <= SORT_LAST)
        weft__define(d, "WEFT_VAL_POSITIONS", "1");
}

static void define_cut(struct weft__defines *d, const struct merge_gpu *s, int wg)
{
    weft__define_types(d, WEFT_PATTERN, s->shape.ofs);
    weft__define(d, "WEFT_WG", "%d", wg);
    weft__define(d, "WEFT_RUNS", "%d", s->l.room);
    weft__define(d, "WEFT_TILE", "%zu", s->l.tile);
}

static void destroy(void **state)
{
    struct merge_gpu *s = *state;
    if (!s)
        return;
    struct weft__kernel **kernels[] = {&s->sort, &s->join, &s->last, &s->cut, &s->gap};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        weft__kernel_release(kernels[i]);
    cl_mem *buffers[] = {&s->col[0], &s->col[1], &s->row, &s->val, &s->cuts, &s->first, &s->gaps, &s->table, &s->grids};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        weft__buffer_release(buffers[i]);
    free(s);
    *state = NULL;
}

static weft_status kernel_create(struct weft__kernel **out, struct weft_context *ctx, const struct merge_gpu *s,
                                 enum what what)
{
    struct weft__defines d = {0};
    define_tile(&d, s, what);
    return weft__kernel_create(out, ctx, what <= SORT_LAST ? &sort_spec : &join_spec, &d);
}

static weft_status create(void **state, struct weft_context *ctx, const struct weft__transpose_shape *shape,
                          const struct weft_transpose_info *info)
{
    struct merge_gpu *s = calloc(1, sizeof *s);
    *state = s;
    if (!s)
        return weft__fail(ctx, WEFT_ENOMEM, "out of host memory for a transposition");
    const struct weft_transpose_params *p = &info->params;
    s->shape = *shape;
    s->wg = p->wg;
    s->units = ctx->device.compute_units;
    layout_make(&s->l, shape, p->wg, p->ipt, p->bits, WEFT__TUNE_FIND(ctx, tune_rows)->radix);
    const struct layout *l = &s->l;
    struct weft__defines cut = {0}, gap = {0};
    define_cut(&cut, s, CUT_WG);
    define_cut(&gap, s, GAP_WG);
    weft_status status = kernel_create(&s->sort, ctx, s, l->rounds ? SORT : SORT_LAST);
    if (!status && l->rounds > 1)
        status = kernel_create(&s->join, ctx, s, JOIN);
    if (!status && l->rounds)
        status = kernel_create(&s->last, ctx, s, JOIN_LAST);
    if (!status && l->rounds)
        status = weft__kernel_create(&s->cut, ctx, &cut_spec, &cut);
    if (!status && l->gaps)
        status = weft__kernel_create(&s->gap, ctx, &gaps_spec, &gap);
    cl_mem *buffers[] = {&s->col[0], &s->col[1], &s->row, &s->val, &s->cuts, &s->first, &s->gaps, &s->table, &s->grids};
    size_t sizes[NBUFFERS];
    buffer_sizes(sizes, l, shape);
    for (int i = 0; i < NBUFFERS && !status; i++)
        if (sizes[i])
            status = weft__buffer_create(buffers[i], ctx, sizes[i], "scratch of a transposition");
    if (status)
        destroy(state);
    return status;
}

// Runs in memory.
struct place {
    cl_mem col, row, val;
};
// Where the runs are after `round` rounds: in the end in the result, before that in turns in scratch and the result.
static struct place place_of(const struct merge_gpu *s, size_t round, const struct weft_device_csr *at)
{
    size_t left = s->l.rounds - round;
    return left % 2 ? (struct place){s->col[0], s->row, s->val}
                    : (struct place){left ? s->col[1] : NULL, at->col, at->val};
}

static weft_status run(void *state, struct weft__stream *stream, const struct weft_device_csr *a,
                       const struct weft_device_csr *at)
{
    struct merge_gpu *s = state;
    const struct layout *l = &s->l;
    size_t wg = (size_t)s->wg;
    union weft__ofs nnz = weft__ofs_value(s->shape.ofs, (size_t)s->shape.nnz),
                    tiles = weft__ofs_value(s->shape.ofs, l->tiles);
    cl_int m = (cl_int)s->shape.m, n = (cl_int)s->shape.n;
    cl_long length = (cl_long)l->tile;
    struct place to = place_of(s, 0, at);
    cl_uint lines = lines_for(&s->shape, l->tile), runs = l->rounds ? (cl_uint)l->runs[0] : 1;
    WEFT__LAUNCH(stream, s->sort, l->tiles, wg, WEFT__ARG(rows, a->row_ptr), WEFT__ARG(col, a->col),
                 WEFT__ARG(val, a->val), WEFT__ARG(col_out, to.col), WEFT__ARG(row_out, to.row),
                 WEFT__ARG(val_out, to.val), WEFT__ARG(col_ptr, at->row_ptr), WEFT__ARG(gaps, s->gaps),
                 WEFT__ARG(table, s->table), WEFT__ARG(grids, s->grids), WEFT__ARG(m), WEFT__ARG(n),
                 WEFT__OFS(nnz, s->shape.ofs, nnz), WEFT__ARG(runs), WEFT__ARG(lines));
    for (size_t round = 0; round < l->rounds; round++) {
        struct place from = to;
        cl_uint per_group = (cl_uint)weft__min((size_t)length * runs / l->tile, l->tiles);
        cl_uint next_runs = round + 1 < l->rounds ? (cl_uint)l->runs[round + 1] : 1;
        to = place_of(s, round + 1, at);
        WEFT__LAUNCH(stream, s->cut, weft__groups(l->tiles, CUT_WG), CUT_WG, WEFT__ARG(col, from.col),
                     WEFT__ARG(table, s->table), WEFT__ARG(grids, s->grids), WEFT__ARG(cuts, s->cuts),
                     WEFT__ARG(first, s->first), WEFT__ARG(n), WEFT__OFS(nnz, s->shape.ofs, nnz),
                     WEFT__OFS(tiles, s->shape.ofs, tiles), WEFT__ARG(per_group), WEFT__ARG(runs), WEFT__ARG(length),
                     WEFT__ARG(lines));
        lines = lines_for(&s->shape, (size_t)length * runs);
        WEFT__LAUNCH(stream, round + 1 < l->rounds ? s->join : s->last, l->tiles, wg, WEFT__ARG(col, from.col),
                     WEFT__ARG(row, from.row), WEFT__ARG(val, from.val), WEFT__ARG(col_out, to.col),
                     WEFT__ARG(row_out, to.row), WEFT__ARG(val_out, to.val), WEFT__ARG(cuts, s->cuts),
                     WEFT__ARG(first, s->first), WEFT__ARG(col_ptr, at->row_ptr), WEFT__ARG(gaps, s->gaps),
                     WEFT__ARG(table, s->table), WEFT__ARG(grids, s->grids), WEFT__ARG(n),
                     WEFT__OFS(nnz, s->shape.ofs, nnz), WEFT__OFS(tiles, s->shape.ofs, tiles), WEFT__ARG(per_group),
                     WEFT__ARG(runs), WEFT__ARG(length), WEFT__ARG(next_runs), WEFT__ARG(lines));
        length *= runs;
        runs = next_runs;
    }
    if (l->gaps)
        WEFT__LAUNCH(stream, s->gap, (size_t)s->units * 8, GAP_WG, WEFT__ARG(gaps, s->gaps),
                     WEFT__ARG(col_ptr, at->row_ptr));
    return stream->status;
}

static void variant(weft__variant_fn *fn, void *arg, const struct merge_gpu *s, enum what what)
{
    struct weft__variant v = {.spec = what <= SORT_LAST ? &sort_spec : &join_spec, .schedule = WEFT_SCHEDULE_GPU};
    define_tile(&v.defines, s, what);
    fn(arg, &v);
}

void weft__transpose_merge_gpu_variants(weft__variant_fn *fn, void *arg)
{
    static const enum weft_type types[] = {WEFT_F32, WEFT_F64, WEFT_PATTERN};
    for (int ofs = WEFT_OFS32; ofs <= WEFT_OFS64; ofs++) {
        struct merge_gpu s = {.wg = 256, .l = {.tile = 3072, .tile_bits = 12, .radix = 10, .room = 128}};
        s.shape.ofs = (enum weft_ofs)ofs;
        struct weft__variant cut = {.spec = &cut_spec, .schedule = WEFT_SCHEDULE_GPU}, gap = cut;
        define_cut(&cut.defines, &s, CUT_WG);
        gap.spec = &gaps_spec;
        define_cut(&gap.defines, &s, GAP_WG);
        fn(arg, &cut);
        fn(arg, &gap);
        for (size_t t = 0; t < sizeof types / sizeof *types; t++)
            for (enum what what = SORT; what <= JOIN_LAST; what++) {
                s.shape.type = types[t];
                variant(fn, arg, &s, what);
            }
        for (int given = 0; given < 2; given++) {
            s.shape.type = ofs ? WEFT_F64 : WEFT_I32;
            s.shape.rows_given = given;
            s.shape.val_positions = 1;
            variant(fn, arg, &s, SORT);
        }
        struct merge_gpu wide = s, amd = s; // rows that leave less than a tile's room; AMD's row
        wide.l.wide = 1;
        wide.l.tile = 1536;
        amd.l.tile = 2048;
        amd.l.radix = 9;
        wide.l.tile_bits = amd.l.tile_bits = 11;
        amd.shape = (struct weft__transpose_shape){.type = ofs ? WEFT_F64 : WEFT_F32, .ofs = (enum weft_ofs)ofs};
        variant(fn, arg, &wide, SORT);
        variant(fn, arg, &wide, JOIN_LAST);
        for (enum what what = SORT; what <= JOIN_LAST; what++)
            if (what != SORT_LAST)
                variant(fn, arg, &amd, what);
        // The most runs that may be asked for.
        struct weft__variant most = {.spec = &cut_spec, .schedule = WEFT_SCHEDULE_GPU};
        s.l.room = 1 << MAX_BITS;
        define_cut(&most.defines, &s, CUT_WG);
        fn(arg, &most);
    }
}

const struct weft__transpose_method weft__transpose_merge_gpu = {"merge", plan, create, run, destroy};
