// SPDX-License-Identifier: Apache-2.0
// csr_flags: CSR summed up by a bit for each entry, which says whether a row begins there. csr_hubs: the same with columns of its own,
// which say what work-groups find in local memory (hubs.h).
//
// A word is 32 entries; a tile is wg*ipt entries, a large one `turns` times as many. FLAGS holds two uints for each word: the
// bits, and how many bits are set before the word, so that the row of a bit is found without a search.
//
//     pass                  reads             writes                form of an entry on its way   part of FLAGS
//     fill                                    0 everywhere                                        bits
//     rows_flags            row_ptr           bits                  a bit, set where a row begins bits
//     rows_flags_count      bits              bits of each word     32 to a sum                   bits, and COUNT
//     scan                  COUNT             sums before           32 to a sum                   COUNT
//     rows_flags_before     COUNT             beside the bits       32 to a sum                   COUNT, bits
//     rows_flags_rows       row_ptr, bits     rows, empty rows      (rows; where any is empty)    row_of, empty
//                                             unless y is scaled
//     rows_flags_cross      row_ptr, bits     tiles of a shared row (a pair for each tile)        cross
//   and for each SpMV
//     spmv_scale            y                 y                     (rows alone; where many are empty)
//     spmv_csr_flags        col, val, x,      y; sums of parts of   product; sum of four, lanes,  all, and SUMS
//                           FLAGS             shared rows           groups of lanes, tile
//     spmv_flags_join       SUMS              y of shared rows      sum of a tile's part          (without a fence)
#include "again.h"
#include "cost.h"
#include "host/src/core/fill.h"
#include "host/src/primitive/scan.h"
#include "hubs.h"
#include "scale.h"

#include <stdlib.h>

struct weft_tune_spmv_flags {
    struct weft__tune_key key;
    int wg, ipt;
    int short_wg, short_ipt; // where rows are shorter than SHORT_ROW on average, and in sums of 8 bytes
    int long_ipt;            // of sums of 8 bytes where rows have WIDE_LONG_ROW entries and more on average
    int row_wg, row_ipt;     // where the mean row is longer than a usual tile, and no longer than this one
    int near_wg, near_ipt;   // of large tiles where x is near; short_ipt in sums of 8 bytes
    int read;
};
// On an H200, f32: power law of 5.6 entries a row 0.0413 ms with 256 x 4, 0.0448 with 256 x 8, 0.0444 with 128 x 8; of
// 13 and 10 entries (boyd1, cnr-2000) 0.0105 and 0.0181 with 128 x 8, 0.0110 and 0.0185 with 256 x 8, 0.0121 and 0.0208
// with 256 x 4. On an H100 19 patterns with longer rows took 0.88 to 1.05 times as long in f64 with 256 x 4, and 9 with rows of
// 5000 entries and more 0.88 to 1.02 with 128 x 16; a stencil from memory 1.19 times as long with 256 x 4 on an H200
// (docs/log/long-rows.md). Rows that two tiles share at most need no join by a whole group: 0.82 to 0.96 of the time with rows of
// 1250 to 4000 entries on an H200.
static const struct weft_tune_spmv_flags tune[] = {
    {{WEFT_SCHEDULE_GPU, NULL, 0, NULL, "default"}, 128, 8, 256, 4, 16, 128, 8, 256, 4, 2},
    {{WEFT_SCHEDULE_GPU, "NVIDIA", 0, NULL, "measured on an H200"}, 128, 8, 256, 4, 16, 256, 16, 256, 8, 2}};
#define GPU(member) WEFT__SPMV_GPU(struct weft_tune_spmv_flags, member, member)
static const struct weft__tunable gpu_values[] = {
    {GPU(wg), .low = 32, .step = 32, .most = weft__tunable_wg, .lower = WEFT__LOWER_HALVE, .kept = WEFT__KEPT_FOUND,
     .sweep = {64, 128, 256},
     .help = "work-items per work-group; the default is another where rows are short or long, in f64, and with large "
             "tiles"},
    {GPU(ipt), .low = 4, .high = 16, .step = 4, .kept = WEFT__KEPT_FOUND, .sweep = {4, 8, 16},
     .help = "entries of a tile per work-item; the default is another where rows are short or long, in f64, and with "
             "large tiles"},
    {GPU(read), WEFT__SPMV_READ},
};
// Work-groups that stay on a unit, with hubs or where entries lie near the diagonal: docs/log/hubs.md has other sizes. short_wg:
// where 1024 work-items with 64 registers would spill, as with other sums than (+,*) in the type of the values, or are not there.
static const struct weft_tune_spmv_flags hubs_tune[] = {
    {{WEFT_SCHEDULE_GPU, NULL, 0, NULL, "default"}, 256, 4, 256, 4, 4, 256, 4, 256, 4, 2},
    {{WEFT_SCHEDULE_GPU, "NVIDIA", 0, NULL, "measured on an H200"}, 1024, 4, 256, 4, 4, 256, 4, 256, 4, 2}};
static const struct weft__tunable hubs_values[] = {
    {GPU(wg), .low = 32, .step = 32, .most = weft__tunable_wg, .lower = WEFT__LOWER_HALVE, .kept = WEFT__KEPT_FOUND,
     .sweep = {256, 512, 1024}, .help = "work-items per work-group"},
    {GPU(ipt), .low = 4, .high = 16, .step = 4, .kept = WEFT__KEPT_FOUND, .sweep = {4, 8},
     .help = "entries of a tile per work-item"},
    {GPU(read), WEFT__SPMV_READ},
};
const struct weft__tunables weft__spmv_flags_tunables[] = {
    {"spmv", "csr_flags", WEFT_SCHEDULE_GPU, "spmv.csr_flags", WEFT__TUNABLES(gpu_values), WEFT__TUNE_ROWS(tune)},
    {"spmv", "csr_hubs", WEFT_SCHEDULE_GPU, "spmv.csr_hubs", WEFT__TUNABLES(hubs_values), WEFT__TUNE_ROWS(hubs_tune)},
    {0},
};
#define SHORT_ROW     8
#define WIDE_LONG_ROW 4096
static int rows_short(const struct weft_spmv_plan *plan)
{
    return plan->a.nnz / SHORT_ROW < plan->a.m;
}
// Do four lanes of small tiles exchange columns, so that they read x for neighbours? On an H100 patterns above 10 us took 0.82 to
// 1.04 times as long so in f32. Shorter rows and values of eight bytes gained nothing; where x is near and the matrix comes from memory, an H200 took up to
// 1.13 times as long (docs/log/long-rows.md).
static int reads_turned(const struct weft_spmv_plan *plan)
{
    return !weft__spmv_rows_long(plan) && !rows_short(plan) && weft__spmv_acc_bytes(plan) == 4 &&
           !weft__spmv_streams(plan);
}

#define ROWS_WG 64 // of the kernels that prepare
#define JOIN_WG 64

// FLAGS: bits, cross, row_of, empty, hubs; SUMS: part, head, arrived. Each buffer of a launch takes the host 0.2 us and more
// (docs/log/small-launches.md).
enum { FLAGS, SUMS, COL, NBUFFERS }; // COL: of csr_hubs
enum { RUN, JOIN, SCALE, NKERNELS };
struct flags_state {
    cl_mem b[NBUFFERS];
    // NULL: JOIN where tiles join their rows themselves, SCALE where RUN writes empty rows.
    struct weft__kernel *k[NKERNELS];
    enum weft__spmv_flags_tiles kind; // LOCAL with hubs
    size_t groups, wg;
    cl_uint tiles, tile, gaps, empties;                     // empties: rows that RUN writes without an entry
    cl_uint turns;                                          // of each group of lanes in a tile
    cl_ulong words, cross_at, row_of_at, empty_at, hubs_at; // the parts of FLAGS begin there, in uints
    struct weft__spmv_hubs hubs;
    size_t room; // for hubs in local memory; 0: csr_flags
};

static void flags_destroy(void *state)
{
    struct flags_state *s = state;
    weft__buffer_release(&s->hubs.count);
    weft__parts_release(s->k, NKERNELS, s->b, NBUFFERS);
    free(s);
}

static void memory_make(struct flags_state *s, struct weft_spmv_plan *plan, struct weft__make *make)
{
    const int fence = weft__caps_of(plan->ctx).fence;
    const size_t sums = 2 * weft__spmv_acc_bytes(plan), arrived = fence ? 8 : 0;
    s->cross_at = 2 * s->words;
    s->row_of_at = s->cross_at + 2 * (s->tiles + UINT64_C(1));
    s->empty_at = s->row_of_at + (s->gaps ? (cl_ulong)(plan->a.m - plan->info.empty_rows) + 1 : 0);
    s->hubs_at = s->empty_at + s->empties;
    weft__make_buffers(
        make, s->b,
        (const struct weft__scratch[COL]){
            [FLAGS] = {((size_t)s->hubs_at + s->hubs.number) * 4, .what = "bits where rows begin"},
            [SUMS] = {weft__max(s->tiles, 1) * (sums + arrived), "sums of parts of rows", .zeros = true}},
        COL);
    plan->info.workspace_bytes += make->bytes;
}

// Bind what a kernel takes of the matrix and the tiles.
static void arrays_bind(const struct flags_state *s, struct weft_spmv_plan *plan, struct weft__make *make,
                        struct weft__kernel *kernel)
{
    const cl_int m = (cl_int)plan->a.m;
    const cl_long nnz = plan->a.nnz;
    if (!make->status)
        make->status = WEFT__BIND(plan->ctx, kernel, WEFT__ARG(flags, s->b[FLAGS]), WEFT__ARG(sums, s->b[SUMS]),
                                  WEFT__ARG(cross_at, s->cross_at), WEFT__ARG(row_of_at, s->row_of_at),
                                  WEFT__ARG(empty_at, s->empty_at), WEFT__ARG(hubs_at, s->hubs_at),
                                  WEFT__ARG(hubs, s->hubs.number), WEFT__ARG(turns, s->turns), WEFT__ARG(m),
                                  WEFT__ARG(nnz), WEFT__ARG(tile, s->tile), WEFT__ARG(tiles, s->tiles),
                                  WEFT__ARG(gaps, s->gaps), WEFT__ARG(empties, s->empties), WEFT__ARG(words, s->words));
}

// Launch over `count` elements.
#define EACH(stream, kernel, count, ...)                                                                               \
    WEFT__LAUNCH(stream, kernel, weft__groups(weft__ceil_div((size_t)(count), ROWS_WG), ROWS_WG), ROWS_WG, __VA_ARGS__)

static void flags_fill(struct flags_state *s, struct weft_spmv_plan *plan, struct weft__make *make,
                       cl_command_queue queue)
{
    enum { MARK, COUNT, BEFORE, ROWS, CROSSES, ZERO, NFILLS };
    static const struct weft__kernel_spec *const specs[] = {&weft__rows_flags_spec, &weft__rows_flags_count_spec,
                                                            &weft__rows_flags_before_spec, &weft__rows_flags_rows_spec,
                                                            &weft__rows_flags_cross_spec};
    const cl_mem row_ptr = plan->a.row_ptr;
    struct weft__kernel *k[NFILLS] = {0};
    cl_mem count = NULL;
    struct weft_scan_plan *scan = NULL;
    struct weft__defines d = {0};
    weft__define_types(&d, WEFT_TYPE_PATTERN, plan->a.ofs);
    weft__define(&d, "WEFT_WG", "%d", ROWS_WG);
    if (!make->status)
        make->status = weft__fill_create(&k[ZERO], plan->ctx);
    for (int i = 0; i < ZERO; i++) {
        weft__make_kernel(make, &k[i], specs[i], &d);
        arrays_bind(s, plan, make, k[i]);
    }
    weft__spmv_make_buffer(make, &count, (size_t)s->words * 4, "rows that begin in each word");
    if (!make->status)
        make->status = weft_scan_plan_create(&scan, plan->ctx, WEFT_SCAN_TYPE_U32, (int64_t)s->words, NULL);
    struct weft__stream stream = weft__spmv_stream(make, queue);
    weft__fill(&stream, k[ZERO], s->b[FLAGS], 0, 2 * s->words, 0);
    EACH(&stream, k[MARK], plan->a.m + 1, WEFT__ARG(row_ptr));
    EACH(&stream, k[COUNT], s->words, WEFT__ARG(count));
    if (!stream.status)
        weft__scan_enqueue(scan, &stream, count, count, (size_t)s->words);
    EACH(&stream, k[BEFORE], s->words, WEFT__ARG(before, count));
    if (s->gaps)
        EACH(&stream, k[ROWS], plan->a.m, WEFT__ARG(row_ptr));
    EACH(&stream, k[CROSSES], s->tiles + UINT64_C(1), WEFT__ARG(row_ptr));
    make->status = weft__spmv_finish(&stream);
    weft_scan_plan_destroy(&scan);
    weft__parts_release(k, NFILLS, &count, 1);
}

// Local memory of cl/spmv/csr_flags.cl.
static size_t tile_local(const void *of, const void *params)
{
    const size_t acc = weft__spmv_acc_bytes(of), w = (size_t)((const struct weft_spmv_params *)params)->gpu.wg;
    return w / 16 * (acc + 4) + 8 + w * acc;
}

// Is a row longer than a usual tile, but not longer than one that is meant for such rows?
static bool row_in_tile(const struct weft_spmv_plan *plan, const struct weft_tune_spmv_flags *row)
{
    const int64_t taken = plan->a.m - plan->info.empty_rows;
    return plan->a.nnz > taken * row->wg * row->ipt && plan->a.nnz <= taken * row->row_wg * row->row_ipt;
}

static void params_resolve(struct weft_spmv_plan *plan, struct weft__make *make, enum weft__spmv_flags_tiles kind)
{
    struct weft_tune_spmv_flags row = *WEFT__TUNE_FIND(plan->ctx, tune);
    const bool wide = weft__spmv_acc_bytes(plan) == 8;
    if (kind == WEFT__SPMV_TILES_LOCAL) {
        row = *WEFT__TUNE_FIND(plan->ctx, hubs_tune);
        if (plan->acc != plan->type || plan->info.params.problem.semiring != WEFT_SPMV_SEMIRING_PLUS_TIMES)
            row.wg = row.short_wg;
    } else if (kind == WEFT__SPMV_TILES_NEAR) {
        row.wg = row.near_wg;
        row.ipt = wide ? row.short_ipt : row.near_ipt;
    } else if (wide && plan->a.nnz / WIDE_LONG_ROW >= plan->a.m) {
        row.ipt = row.long_ipt;
    } else if (row_in_tile(plan, &row)) {
        row.wg = row.row_wg;
        row.ipt = row.row_ipt;
    } else if (rows_short(plan) || (wide && !weft__spmv_rows_long(plan) && !weft__spmv_streams(plan))) {
        row.wg = row.short_wg;
        row.ipt = row.short_ipt;
    }
    weft__spmv_resolve(make, plan, &row, tile_local);
}

static weft_status kernels_create(struct flags_state *s, struct weft_spmv_plan *plan, struct weft__make *make)
{
    struct weft__defines d = {0}, join;
    weft__spmv_define(plan, &d);
    join = d;
    weft__define(&d, "WEFT_WG", "%d", plan->info.params.gpu.wg);
    weft__define(&d, "WEFT_IPT", "%d", plan->info.params.gpu.ipt);
    weft__define(&d, "WEFT_GAPS", "%d", (int)s->gaps);
    weft__define(&d, "WEFT_LARGE", "%d", s->kind != WEFT__SPMV_TILES_SMALL);
    weft__define(&d, "WEFT_STRIPED", "%d", s->kind == WEFT__SPMV_TILES_SMALL && weft__spmv_rows_long(plan));
    weft__define(&d, "WEFT_TURNED", "%d", s->kind == WEFT__SPMV_TILES_SMALL && reads_turned(plan));
    weft__define(&d, "WEFT_HUBS", "%zu", s->room);
    weft__define(&join, "WEFT_WG", "%d", JOIN_WG);
    weft__make_kernel(make, &s->k[RUN], &weft__spmv_flags_spec, &d);
    if (!weft__caps_of(plan->ctx).fence && s->tiles > 1)
        weft__make_kernel(make, &s->k[JOIN], &weft__spmv_flags_join_spec, &join);
    for (int i = 0; i <= JOIN && s->k[i]; i++)
        arrays_bind(s, plan, make, s->k[i]);
    if (plan->gaps)
        weft__spmv_make_scale(make, &s->k[SCALE], plan);
    return make->status;
}

// Each unit has as many work-groups as it runs at a time, with one large tile each. A barrier for each of several tiles took 1.1 to
// 1.2 times as long on an H200, more work-items 1.1 to 1.3 times, since the first cache has less room then (docs/log/hubs.md).
#define UNIT_ITEMS 1024
#define TILE_MOST  (1 << 30)  // entries, so that they fit offsets of 32 bits
#define UNIT_X     (80 << 10) // bytes of x along the rows of a unit, from which it has two tiles
#define APART      0.45       // of the entries, that are not near the diagonal, as well

static size_t unit_groups(const struct weft_spmv_plan *plan)
{
    return weft__max(UNIT_ITEMS / (size_t)plan->info.params.gpu.wg, 1);
}

// Turns of each group of lanes in a large tile, so that `teams` work-groups have one each.
static size_t turns_find(const struct weft_spmv_plan *plan, size_t teams)
{
    const size_t all = (size_t)plan->info.params.gpu.wg * (size_t)plan->info.params.gpu.ipt;
    return weft__max(weft__min(weft__ceil_div((size_t)plan->a.nnz + 1, teams * all), TILE_MOST / all), 1);
}

// Sizes of tiles and of bits; `teams`: work-groups that have a large tile each. ERANGE where tiles are too many.
static weft_status sizes_find(struct flags_state *s, struct weft_spmv_plan *plan, size_t teams)
{
    s->wg = (size_t)plan->info.params.gpu.wg;
    s->turns = s->kind == WEFT__SPMV_TILES_SMALL ? 1 : (cl_uint)turns_find(plan, teams);
    s->tile = s->turns * (cl_uint)s->wg * (cl_uint)plan->info.params.gpu.ipt;
    const int64_t tiles = plan->a.nnz ? plan->a.nnz / s->tile + 1 : 0; // a bit behind the last entry ends the last row
    if (tiles >= UINT32_MAX)
        return weft__fail(plan->ctx, WEFT_ERANGE, "%s: %lld tiles of entries, a plan counts less than 2^32 - 1",
                          weft_spmv_algo_name(plan->info.params.policy.algo), (long long)tiles);
    s->tiles = (cl_uint)tiles;
    s->words = (cl_ulong)tiles * (s->tile / 32) + 1;
    plan->gaps = weft__spmv_flags_scales(plan);
    s->empties = plan->gaps ? 0 : (cl_uint)plan->info.empty_rows;
    s->gaps = plan->info.empty_rows > 0;
    s->groups = weft__groups(s->tiles ? s->tiles : weft__ceil_div((size_t)plan->a.m, s->wg), s->wg);
    return WEFT_OK;
}

// Work-groups with a large tile each. Twice as many where a unit's rows go along much of x and about half of the entries are not near
// the diagonal: an H200 then took 0.90 and 0.93 times as long, and other patterns 1.04 to 1.17 times (docs/log/large-tiles.md).
static size_t large_teams(const struct flags_state *s, const struct weft_spmv_plan *plan)
{
    const size_t units = (size_t)plan->ctx->device.compute_units,
                 x = (size_t)plan->x_size * weft_type_bytes(plan->type) / units;
    const bool twice = s->kind == WEFT__SPMV_TILES_LOCAL && x > UNIT_X && weft__spmv_apart(plan) >= APART;
    return unit_groups(plan) * units * (twice ? 2 : 1);
}

static weft_status flags_create(struct weft_spmv_plan *plan, cl_command_queue queue)
{
    struct weft__make make = {.ctx = plan->ctx};
    struct flags_state *s = plan->state = weft__make_memory(&make, sizeof *s, "a plan");
    if (make.status)
        return make.status;
    s->kind = weft__spmv_flags_tiles(plan);
    params_resolve(plan, &make, s->kind);
    if (!make.status)
        make.status = sizes_find(s, plan, large_teams(s, plan));
    if (make.status)
        return make.status;
    memory_make(s, plan, &make);
    flags_fill(s, plan, &make, queue);
    return kernels_create(s, plan, &make);
}

// Hubs whose x fits local memory beside the sums, in one of few sizes, since it is compiled in. The `share` work-groups of a unit take no
// more together than one may: with four of 48 KiB an H200's first cache had no room, and 100 M entries took 740 us for 585 (docs/log/hubs.md).
#define HUBS_ROOM 64
static size_t hubs_most(const struct weft_spmv_plan *plan, size_t share)
{
    const size_t local = weft__local_most(plan->ctx) / share, sums = tile_local(plan, &plan->info.params);
    const size_t room = (local > sums ? local - sums : 0) / weft_type_bytes(plan->type);
    return WEFT__HOSTILE(room, weft__min(room, HUBS_ROOM)) / HUBS_ROOM * HUBS_ROOM;
}

static size_t hubs_room(size_t most, size_t number)
{
    size_t room = HUBS_ROOM;
    while (room < number)
        room *= 4;
    return weft__min(room, most);
}

// auto supposed that many entries lie in hubs: do these repay, and are panels not faster?
static weft_status hubs_check(const struct flags_state *s, struct weft_spmv_plan *plan, cl_command_queue queue)
{
    const double share = s->hubs.share - s->hubs.kept;
    double again = 0;
    if (!weft__spmv_hubs_repay(plan, share))
        return WEFT_ERANGE;
    if (plan->denied >> WEFT_SPMV_ALGO_PANELS & 1u || !weft__spmv_panels_repay(plan, 0))
        return WEFT_OK;
    weft_status status = weft__spmv_again(plan, queue, &again);
    if (!status && weft__spmv_panels_repay(plan, again) && !weft__spmv_hubs_lead(plan, share, again))
        status = WEFT_ERANGE;
    return status;
}

static weft_status hubs_create(struct weft_spmv_plan *plan, cl_command_queue queue)
{
    struct weft__make make = {.ctx = plan->ctx};
    struct flags_state *s = plan->state = weft__make_memory(&make, sizeof *s, "a plan");
    struct weft__spmv_clock clock = weft__spmv_clock();
    if (make.status)
        return make.status;
    params_resolve(plan, &make, WEFT__SPMV_TILES_LOCAL);
    if (make.status)
        return make.status;
    const size_t share = unit_groups(plan), most = hubs_most(plan, share);
    s->kind = most ? WEFT__SPMV_TILES_LOCAL : WEFT__SPMV_TILES_SMALL;
    make.status = sizes_find(s, plan, share * (size_t)plan->ctx->device.compute_units);
    if (!make.status)
        make.status = weft__spmv_hubs_find(&s->hubs, plan, queue, most, s->groups);
    if (!make.status && plan->bound > 0)
        make.status = hubs_check(s, plan, queue);
    s->room = hubs_room(most, s->hubs.number);
    memory_make(s, plan, &make);
    flags_fill(s, plan, &make, queue);
    if (s->hubs.number) {
        weft__spmv_hubs_write(&s->hubs, plan, &make, queue, s->b[FLAGS], s->hubs_at, &s->b[COL]);
        plan->info.workspace_bytes += (size_t)plan->a.nnz * 4;
    }
    weft__buffer_release(&s->hubs.count);
    plan->info.convert_ms = weft__spmv_clock_ms(&clock);
    kernels_create(s, plan, &make);
    if (!make.status)
        plan->columns = s->b[COL];
    else
        plan->gaps = false; // another algorithm may follow
    return make.status;
}

// A call behind one that has scaled y.
static struct weft__spmv_call call_scaled(const struct weft_spmv_plan *plan, const struct weft__spmv_call *call)
{
    struct weft__spmv_call out = *call;
    if (plan->acc == WEFT_TYPE_F64)
        out.beta.f64 = call->beta.f64 != 0;
    else if (plan->acc == WEFT_TYPE_F32)
        out.beta.f32 = call->beta.f32 != 0;
    else
        out.beta.i32 = call->beta.i32 != 0;
    return out;
}

static weft_status flags_run(struct weft_spmv_plan *plan, struct weft__stream *stream,
                             const struct weft__spmv_call *call)
{
    const struct flags_state *s = plan->state;
    const struct weft__spmv_call rest = s->k[SCALE] ? call_scaled(plan, call) : *call;
    const size_t joins = weft__groups(weft__ceil_div(s->tiles, JOIN_WG / 32), JOIN_WG);
    if (s->k[SCALE])
        weft__spmv_scale(s->k[SCALE], plan, stream, call);
    weft__spmv_launch_csr(plan, stream, s->k[RUN], s->groups, s->wg, &rest);
    return s->k[JOIN] ? weft__spmv_launch(plan, stream, s->k[JOIN], joins, JOIN_WG, &rest) : stream->status;
}

// The lanes of a processor have no segmented sums: csr_merge.
static weft_status cpu_create(struct weft_spmv_plan *plan, cl_command_queue queue)
{
    plan->method = &weft__spmv_csr_cpu;
    plan->info.params.policy.algo = WEFT_SPMV_ALGO_CSR_MERGE;
    return plan->method->create(plan, queue);
}

const struct weft__spmv_method weft__spmv_csr_flags_cpu = {.create = cpu_create};
const struct weft__spmv_method weft__spmv_csr_flags = {
    .create = flags_create, .run = flags_run, .destroy = flags_destroy};
const struct weft__spmv_method weft__spmv_csr_hubs = {
    .create = hubs_create, .run = flags_run, .destroy = flags_destroy, .variants = weft__spmv_hubs_variants};
