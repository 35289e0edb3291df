// SPDX-License-Identifier: Apache-2.0
// MergeTrans on devices with local memory: tiles of entries are ordered by column in local memory, then rounds merge up
// to 2^bits neighbouring runs at once. Early rounds merge as many as they may: the more runs, the closer together are
// the columns in a tile of the result, and the fewer bits order it.
// Runs alternate between two places: scratch of this object (COL0, ROW, VAL), and the arrays of the result with their
// columns in COL1.
//
//   pass         | reads          | writes                          | form of an entry on its way | buffers
//   sort         | A              | runs of one tile, lines of them | col, row, val               | a place, TABLE, GRIDS
//   sort_last    | A of one tile  | A^T without long gaps           | none                        | GAPS
//   a round:     |                |                                 |                             |
//     cut        | lines, columns | where each tile of the result   | none                        | TABLE, GRIDS, CUTS,
//                | of the runs    | begins in each run              |                             | FIRST
//     join       | runs, cuts     | longer runs, lines of them      | col, row, val               | both places, CUTS,
//                |                |                                 |                             | FIRST, TABLE, GRIDS
//     join_last  | runs, cuts     | A^T without long gaps           | columns are dropped         | COL0, ROW, VAL, CUTS,
//                |                |                                 |                             | FIRST, GAPS
//   fill_gaps    | GAPS           | A^T row_ptr in long gaps of     | none                        | GAPS
//                |                | empty columns                   |                             |
#include "host/src/core/make.h"
#include "host/src/core/check.h"
#include "host/src/core/limits.h"
#include "host/src/core/tune.h"
#include "host/src/transpose/method.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CUT_WG     32
#define GAP_WG     64
#define GAP        (1 << 18) // empty columns that make a long gap; more than 8 tiles
#define MAX_BITS   10
#define MAX_ROUNDS 64

// Lines of the table for merge_cut: between two of them PER_LINE entries of a run, were these spread evenly, and not so
// many that one tile were busy writing them.
#define PER_LINE  8
#define MAX_LINES 65536

enum { COL0, COL1, ROW, VAL, CUTS, FIRST, GAPS, TABLE, GRIDS, NBUFFERS };
enum { SORT, SORT_LAST, JOIN, JOIN_LAST, CUT, FILL_GAPS, NKERNELS };
#define TILE_FILES                                                                                                     \
    {                                                                                                                  \
        "transpose/merge_tile.cl", "lib/tile.clh", "lib/radix.clh", "transpose/pos.clh", "transpose/merge.clh"         \
    }
static const struct weft__kernel_spec specs[NKERNELS] = {
    [SORT] = {"merge_sort", TILE_FILES},
    [SORT_LAST] = {"merge_sort", TILE_FILES},
    [JOIN] = {"merge_join", TILE_FILES},
    [JOIN_LAST] = {"merge_join", TILE_FILES},
    [CUT] = {"merge_cut", {"transpose/merge_cut.cl", "transpose/pos.clh"}},
    [FILL_GAPS] = {"merge_gaps", {"transpose/merge_cut.cl", "transpose/pos.clh"}},
};

struct tune {
    struct weft__tune_key key;
    int wg, ipt, most_ipt, bits, most_bits, radix; // most_*: taken where they save a round
};
static const struct tune tune_rows[] = {
    // 2026-11-22, one NVIDIA H200, f32, ms: uniform:500000,500000,10000000 0.435, power:916000 0.271, stencil27:120
    // 1.460, cnr-2000 0.286, boyd1 0.148, wave 0.154, power:8000000 4.96, stencil27:200 6.97. Not swept.
    {{WEFT_SCHEDULE_GPU, NULL, 0, NULL, "measured on an H200"}, 256, 12, 14, 7, 8, 10},
    // docs/log/amd-occupancy.md: the largest tiles that leave two groups and a quarter of the waves; 256 x 8 with steps of 9
    // bits. Waves of 32 hold those of the row above, 24 of 64.
    {{WEFT_SCHEDULE_GPU, WEFT__VENDOR_AMD, 0, NULL, "from the ISA, not run: 8 of 32 waves"}, 256, 8, 8, 7, 8, 9},
    {{WEFT_SCHEDULE_GPU, WEFT__VENDOR_AMD, 32, NULL, "from the ISA, not run: 24 of 64 waves"}, 256, 12, 14, 7, 8, 10},
    {{WEFT_SCHEDULE_CPU, NULL, 0, NULL, "tests only"}, 64, 4, 4, 4, 4, 4},
};

#define GPU(member) WEFT__TUNABLE(#member, struct weft_transpose_params, gpu.member, struct tune, member)
static const struct weft__tunable values[] = {
    {GPU(wg), .low = 32, .step = 32, .most = weft__tunable_wg, .lower = WEFT__LOWER_HALVE, .kept = WEFT__KEPT_FOUND,
     .sweep = {64, 128, 256, 512}, .help = "work-items per work-group"},
    {GPU(ipt), .low = 2, .high = 32, .step = 1, .kept = WEFT__KEPT_FOUND, .sweep = {4, 8, 16},
     .help = "entries per work-item and tile; the default is more where that saves a round"},
    {GPU(bits), .low = 1, .high = MAX_BITS, .step = 1, .kept = WEFT__KEPT_FOUND, .sweep = {2, 4, 6, 8},
     .help = "log2 of the runs merged at once; the default is more where that saves a round"},
    {WEFT__TUNABLE_BY_SHAPE("groups", struct weft_transpose_params, gpu.groups), .low = 1, .high = 1 << 20, .step = 1,
     .kept = WEFT__KEPT, .help = "of scan alone"},
};
const struct weft__tunables weft__transpose_merge_gpu_tunables[] = {
    {"transpose", "merge", WEFT_SCHEDULE_GPU, "transpose.merge", WEFT__TUNABLES(values), WEFT__TUNE_ROWS(tune_rows)},
    {0},
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
    struct weft__kernel *k[NKERNELS];
    cl_mem b[NBUFFERS];
};

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
    l->tile_bits = (int)weft__bits_for((int64_t)l->tile);
    l->wide = (int)weft__bits_for(shape->n) > 32 - l->tile_bits + radix;
    l->gaps = shape->n >= GAP;
    const struct layout *like = shape->like;
    if (like) { // what decides the programs and is not as small as a trial
        l->room = like->room;
        l->wide = like->wide;
    }
}

// Local memory of a tile (cl/transpose/merge.clh), with a share for lane operations where the device has none.
static size_t local_bytes(int wg, int ipt, int bits, int radix, const struct weft__transpose_shape *shape)
{
    size_t tile = (size_t)wg * (size_t)ipt, value = weft_type_bytes(shape->type), counters = (size_t)wg / 32 << radix;
    bits = bits < 5 ? 5 : bits;
    size_t words =
        tile * (value == 8 || (int)weft__bits_for(shape->n) > 32 - (int)weft__bits_for((int64_t)tile) + radix ? 2 : 1);
    size_t work = 2 * counters > 4 * words ? 2 * counters : 4 * words;
    return tile * (value == 4 ? 8 : 4) + work + tile / 4 + (size_t)wg * 4 + (size_t)wg / 8 * 3 + 8 +
           (weft_ofs_bytes(weft__transpose_pos(shape)) << bits) + 16;
}

// Lines of the table for runs of `length` entries.
static cl_uint lines_for(const struct weft__transpose_shape *shape, size_t length)
{
    size_t lines = weft__min(weft__min(length / PER_LINE, MAX_LINES), (size_t)shape->n);
    return lines ? (cl_uint)lines : 1;
}

static void scratch(struct weft__scratch out[NBUFFERS], const struct layout *l,
                    const struct weft__transpose_shape *shape)
{
    const size_t nnz = (size_t)shape->nnz, pos = weft_ofs_bytes(weft__transpose_pos(shape));
    const size_t moved = l->rounds >= 1 ? nnz : 0;
    const size_t cut = l->rounds >= 1 ? l->tiles : 0, gaps = l->gaps ? (size_t)shape->n / GAP + 1 : 0;
    size_t lines = 0; // most of a round
    for (size_t round = 0, length = l->tile; round < l->rounds; length *= l->runs[round++]) {
        size_t groups = weft__ceil_div(weft__ceil_div(nnz, length), l->runs[round]);
        lines = weft__max(lines, weft__mul(weft__mul(groups, l->runs[round]), lines_for(shape, length)));
    }
    const struct weft__scratch needs[NBUFFERS] = {
        [COL0] = {weft__mul(moved, 4), .what = "columns of runs"},
        [COL1] = {l->rounds >= 2 ? weft__mul(nnz, 4) : 0, .what = "columns of runs"},
        [ROW] = {weft__mul(moved, 4), .what = "rows of runs"},
        [VAL] = {weft__mul(moved, weft_type_bytes(shape->type)), .what = "values of runs"},
        [CUTS] = {weft__mul(weft__mul(cut, l->runs[0]), pos), .what = "cuts of tiles"},
        [FIRST] = {weft__mul(cut, 4), .what = "first columns of tiles"},
        [GAPS] = {8 * (1 + 3 * gaps), .what = "gaps of empty columns"},
        [TABLE] = {weft__mul(lines, pos), .what = "lines of runs"},
        [GRIDS] = {cut ? weft__mul(8, weft__ceil_div(l->tiles, l->runs[0])) : 0, .what = "grids of groups"},
    };
    memcpy(out, needs, sizeof needs);
}

static weft_status plan(struct weft_context *ctx, const struct weft__transpose_shape *shape,
                        struct weft_transpose_info *info)
{
    const struct tune *tune = WEFT__TUNE_FIND(ctx, tune_rows);
    struct weft_transpose_params *p = &info->params;
    const size_t max_local = weft__local_most(ctx);
    const int wg_given = p->gpu.wg != 0, ipt_given = p->gpu.ipt != 0, bits_given = p->gpu.bits != 0;
    const weft_status status = weft__tunables_resolve(weft__transpose_merge_gpu_tunables, ctx, p, tune, NULL, NULL);
    if (status)
        return status;
    size_t tiles = weft__ceil_div((size_t)shape->nnz, (size_t)p->gpu.wg * (size_t)p->gpu.ipt);
    size_t fewer = weft__ceil_div((size_t)shape->nnz, (size_t)p->gpu.wg * (size_t)tune->most_ipt);
    if (!ipt_given && !bits_given && rounds_for(fewer, tune->most_bits) < rounds_for(tiles, tune->most_bits)) {
        p->gpu.ipt = tune->most_ipt;
        tiles = fewer;
    }
    if (!bits_given && rounds_for(tiles, tune->most_bits) < rounds_for(tiles, tune->bits))
        p->gpu.bits = tune->most_bits;
    while (!ipt_given && p->gpu.ipt > 2 &&
           local_bytes(p->gpu.wg, p->gpu.ipt, p->gpu.bits, tune->radix, shape) > max_local)
        p->gpu.ipt = p->gpu.ipt > 4 ? p->gpu.ipt / 2 : 2;
    while (!wg_given && p->gpu.wg > 32 &&
           local_bytes(p->gpu.wg, p->gpu.ipt, p->gpu.bits, tune->radix, shape) > max_local)
        p->gpu.wg = p->gpu.wg / 2 / 32 * 32;
    size_t need = local_bytes(p->gpu.wg, p->gpu.ipt, p->gpu.bits, tune->radix, shape);
    if (need > max_local)
        return weft__fail(ctx, WEFT_EINVAL,
                          "transpose: gpu.wg %d, ipt %d, bits %d need %zu bytes of local memory of %zu", p->gpu.wg,
                          p->gpu.ipt, p->gpu.bits, need, max_local);
    struct layout l;
    layout_make(&l, shape, p->gpu.wg, p->gpu.ipt, p->gpu.bits, tune->radix);
    if (l.tiles > UINT32_MAX / (size_t)p->gpu.wg) // a work-group owns a tile
        return weft__fail(ctx, WEFT_ERANGE, "%lld entries are too many for tiles of wg*ipt = %d", (long long)shape->nnz,
                          p->gpu.wg * p->gpu.ipt);
    p->gpu.bits = l.runs[0] > 1 ? (int)weft__bits_for((int64_t)l.runs[0]) : 1;
    p->gpu.groups = 0;
    struct weft__scratch needs[NBUFFERS];
    scratch(needs, &l, shape);
    info->workspace_bytes = weft__scratch_bytes(needs, NBUFFERS);
    info->passes = (int)l.rounds + 1;
    snprintf(info->why, sizeof info->why, "merge: %zu tiles of %zu entries, %zu rounds that merge up to %zu runs; %s",
             l.tiles, l.tile, l.rounds, l.runs[0], tune->key.source);
    return WEFT_OK;
}

static void define_widths(struct weft__defines *d, const struct merge_gpu *s)
{
    weft__define(d, "WEFT_OFS_BITS", "%d", 8 * (int)weft_ofs_bytes(s->shape.ofs));
    weft__define(d, "WEFT_POS_BITS", "%d", 8 * (int)weft_ofs_bytes(weft__transpose_pos(&s->shape)));
}

static void define_tile(struct weft__defines *d, const struct merge_gpu *s, int what)
{
    const struct layout *l = &s->l;
    define_widths(d, s);
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

static void define_cut(struct weft__defines *d, const struct merge_gpu *s, int what)
{
    define_widths(d, s);
    weft__define(d, "WEFT_WG", "%d", what == CUT ? CUT_WG : GAP_WG);
    weft__define(d, "WEFT_RUNS", "%d", s->l.room);
    weft__define(d, "WEFT_TILE", "%zu", s->l.tile);
}

static void destroy(void **state)
{
    struct merge_gpu *s = *state;
    if (!s)
        return;
    weft__parts_release(s->k, NKERNELS, s->b, NBUFFERS);
    free(s);
    *state = NULL;
}

// What all launches of a kernel share.
static weft_status bind(const struct merge_gpu *s, struct weft_context *ctx, struct weft__kernel *kernel)
{
    const enum weft_ofs pos = weft__transpose_pos(&s->shape);
    const union weft__ofs nnz = weft__ofs_value(pos, (size_t)s->shape.nnz), tiles = weft__ofs_value(pos, s->l.tiles);
    const cl_int m = (cl_int)s->shape.m, n = (cl_int)s->shape.n;
    return WEFT__BIND(ctx, kernel, WEFT__ARG(cuts, s->b[CUTS]), WEFT__ARG(first, s->b[FIRST]),
                      WEFT__ARG(gaps, s->b[GAPS]), WEFT__ARG(table, s->b[TABLE]), WEFT__ARG(grids, s->b[GRIDS]),
                      WEFT__ARG(m), WEFT__ARG(n), WEFT__OFS(nnz, pos, nnz), WEFT__OFS(tiles, pos, tiles));
}

static weft_status create(void **state, struct weft__transpose_made *made, struct weft_context *ctx,
                          const struct weft__transpose_shape *shape, const struct weft_transpose_info *info)
{
    struct weft__make make = {.ctx = ctx};
    struct merge_gpu *s = *state = weft__make_memory(&make, sizeof *s, "a transposition");
    if (!s)
        return make.status;
    const struct weft_transpose_params *p = &info->params;
    const struct layout *l = &s->l;
    s->shape = *shape;
    s->wg = p->gpu.wg;
    s->units = ctx->device.compute_units;
    layout_make(&s->l, shape, p->gpu.wg, p->gpu.ipt, p->gpu.bits, WEFT__TUNE_FIND(ctx, tune_rows)->radix);
    const int needed[NKERNELS] = {[SORT] = l->rounds > 0,      [SORT_LAST] = !l->rounds, [JOIN] = l->rounds > 1,
                                  [JOIN_LAST] = l->rounds > 0, [CUT] = l->rounds > 0,    [FILL_GAPS] = l->gaps};
    struct weft__scratch needs[NBUFFERS];
    scratch(needs, l, shape);
    weft__make_buffers(&make, s->b, needs, NBUFFERS);
    for (int i = 0; i < NKERNELS; i++) {
        struct weft__defines d = {0};
        if (!needed[i])
            continue;
        if (i >= CUT)
            define_cut(&d, s, i);
        else
            define_tile(&d, s, i);
        weft__make_kernel(&make, &s->k[i], &specs[i], &d);
        if (!make.status)
            make.status = bind(s, ctx, s->k[i]);
    }
    *made = (struct weft__transpose_made){make.programs, l};
    if (make.status)
        destroy(state);
    return make.status;
}

// As many rounds as tell join and join_last apart: none, one, or two where there are more, of as few runs as that takes. With
// columns in which a long gap has room, where gaps are looked for.
static int few(struct weft__transpose_few *few, struct weft_context *ctx, const struct weft__transpose_shape *shape,
               const struct weft__transpose_made *made)
{
    const struct layout *l = made->layout;
    struct weft__transpose_shape *s = &few->shape;
    int *bits = &few->params.gpu.bits;
    (void)ctx;
    if (few->diagonals)
        return 0;
    const size_t least = weft__min(l->rounds, 2) * l->tile + 1; // two or three tiles
    s->nnz = (int64_t)weft__min((size_t)shape->nnz, weft__max((size_t)s->nnz, least));
    if (l->rounds > 1) {
        const uint32_t tile_bits = weft__bits_for((int64_t)weft__ceil_div((size_t)s->nnz, l->tile));
        *bits = (int)weft__min((size_t)*bits, (tile_bits + 1) / 2);
    }
    if (l->gaps)
        s->n = (int64_t)weft__min((size_t)shape->n, GAP + 2 * WEFT__FEW_APART);
    return 1;
}

// Runs in memory.
struct place {
    cl_mem col, row, val;
};
// Where the runs are after `round` rounds: in the end in the result, before that in turns in scratch and the result.
static struct place place_of(const struct merge_gpu *s, size_t round, const struct weft_device_csr *at)
{
    size_t left = s->l.rounds - round;
    return left % 2 ? (struct place){s->b[COL0], s->b[ROW], s->b[VAL]}
                    : (struct place){left ? s->b[COL1] : NULL, at->col, at->val};
}

static weft_status run(void *state, struct weft__stream *stream, const struct weft_device_csr *a,
                       const struct weft_device_csr *at)
{
    struct merge_gpu *s = state;
    const struct layout *l = &s->l;
    size_t wg = (size_t)s->wg;
    cl_long length = (cl_long)l->tile;
    struct place to = place_of(s, 0, at);
    cl_uint lines = lines_for(&s->shape, l->tile), runs = l->rounds ? (cl_uint)l->runs[0] : 1;
    WEFT__LAUNCH(stream, s->k[l->rounds ? SORT : SORT_LAST], l->tiles, wg, WEFT__ARG(rows, a->row_ptr),
                 WEFT__ARG(col, a->col), WEFT__ARG(val, a->val), WEFT__ARG(col_out, to.col), WEFT__ARG(row_out, to.row),
                 WEFT__ARG(val_out, to.val), WEFT__ARG(col_ptr, at->row_ptr), WEFT__ARG(runs), WEFT__ARG(lines));
    for (size_t round = 0; round < l->rounds; round++) {
        const struct place from = to;
        const int last = round + 1 == l->rounds;
        cl_uint per_group = (cl_uint)weft__min((size_t)length * runs / l->tile, l->tiles);
        cl_uint next_runs = last ? 1 : (cl_uint)l->runs[round + 1];
        to = place_of(s, round + 1, at);
        WEFT__LAUNCH(stream, s->k[CUT], weft__groups(l->tiles, CUT_WG), CUT_WG, WEFT__ARG(col, from.col),
                     WEFT__ARG(per_group), WEFT__ARG(runs), WEFT__ARG(length), WEFT__ARG(lines));
        lines = lines_for(&s->shape, (size_t)length * runs);
        WEFT__LAUNCH(stream, s->k[last ? JOIN_LAST : JOIN], l->tiles, wg, WEFT__ARG(col, from.col),
                     WEFT__ARG(row, from.row), WEFT__ARG(val, from.val), WEFT__ARG(col_out, to.col),
                     WEFT__ARG(row_out, to.row), WEFT__ARG(val_out, to.val), WEFT__ARG(col_ptr, at->row_ptr),
                     WEFT__ARG(per_group), WEFT__ARG(runs), WEFT__ARG(length), WEFT__ARG(next_runs), WEFT__ARG(lines));
        length *= runs;
        runs = next_runs;
    }
    if (l->gaps)
        WEFT__LAUNCH(stream, s->k[FILL_GAPS], (size_t)s->units * 8, GAP_WG, WEFT__ARG(col_ptr, at->row_ptr));
    return stream->status;
}

static void variant(weft__variant_fn *fn, void *arg, const struct merge_gpu *s, int what)
{
    struct weft__variant v = {.spec = &specs[what], .schedule = WEFT_SCHEDULE_GPU};
    if (what >= CUT)
        define_cut(&v.defines, s, what);
    else
        define_tile(&v.defines, s, what);
    fn(arg, &v);
}

void weft__transpose_merge_gpu_variants(weft__variant_fn *fn, void *arg)
{
    static const enum weft_type types[] = {WEFT_TYPE_F32, WEFT_TYPE_F64, WEFT_TYPE_PATTERN};
    for (int wide_pos = 0; wide_pos < 3; wide_pos++) { // 32 bits, 64, 64 for offsets alone: then what has these
        const enum weft_ofs ofs = wide_pos ? WEFT_OFS_64 : WEFT_OFS_32;
        struct merge_gpu s = {.wg = 256, .l = {.tile = 3072, .tile_bits = 12, .radix = 10, .room = 128}};
        s.shape.ofs = ofs;
        s.shape.wide = wide_pos == 1;
        if (wide_pos == 2) {
            variant(fn, arg, &s, SORT);
            variant(fn, arg, &s, SORT_LAST);
            variant(fn, arg, &s, JOIN_LAST);
            continue;
        }
        variant(fn, arg, &s, CUT);
        variant(fn, arg, &s, FILL_GAPS);
        for (size_t t = 0; t < sizeof types / sizeof *types; t++)
            for (int what = SORT; what <= JOIN_LAST; what++) {
                s.shape.type = types[t];
                variant(fn, arg, &s, what);
            }
        for (int given = 0; given < 2; given++) {
            s.shape.type = ofs ? WEFT_TYPE_F64 : WEFT_TYPE_I32;
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
        amd.shape =
            (struct weft__transpose_shape){.type = ofs ? WEFT_TYPE_F64 : WEFT_TYPE_F32, .ofs = ofs, .wide = wide_pos};
        variant(fn, arg, &wide, SORT);
        variant(fn, arg, &wide, JOIN_LAST);
        for (int what = SORT; what <= JOIN_LAST; what++)
            if (what != SORT_LAST)
                variant(fn, arg, &amd, what);
        // The most runs that may be asked for.
        s.l.room = 1 << MAX_BITS;
        variant(fn, arg, &s, CUT);
    }
}

const struct weft__transpose_method weft__transpose_merge_gpu = {"merge", plan, create, few, run, destroy};
