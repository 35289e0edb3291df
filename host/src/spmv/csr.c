// SPDX-License-Identifier: Apache-2.0
// The CSR schedules: a row per work-item, lanes per row, tiles of equal work. csr_merge has several passes:
//
//     pass             reads              writes                      form of an entry on its way   buffers (tiles.h)
//     rows_tiles       row_ptr            begins of tiles, cut rows   (rows alone)                  ROW, POS, SPLIT
//   and for each SpMV
//     spmv_csr_merge   CSR, x, ROW, POS   y, sums of cut rows         product, sum of row or part   PART, HEAD, ARRIVED
//     spmv_join        SPLIT, PART, HEAD  y of cut rows               sum of a part                 (without a fence)
//
// A CPU takes tiles as well. Where most rows are empty it first finds the row of each entry:
//
//     expand             row_ptr               row of each entry      row                           row_of
//   and for each SpMV
//     spmv_csr_gaps_cpu  CSR, row_of, x, ROW,  y, sums of cut rows    product, sum of row or part   PART, HEAD
//                        POS
//
// So does csr_scalar on a GPU:
//
//     spmv_csr_gaps      CSR, row_of, x        y                      product, sum in local memory  row_of
#include "plan.h"
#include "coo.h"
#include "cost.h"
#include "tiles.h"

#include <math.h>
#include <stdlib.h>

struct weft_tune_spmv_csr {
    struct weft__tune_key key;
    int scalar_wg, scalar_ipt;
    int lanes_wg, lanes_ipt;          // lanes_ipt: reads of four entries of one lane in flight, at most
    int single_ipt, single_most;      // reads of one entry in flight, at least and at most
    int merge_wg, merge_ipt, cut_ipt; // rows plus entries of a tile for each work-item; cut_ipt: large, with long rows
    int cpu_lanes, cpu_few_lanes;     // independent sums of a long row, where rows are long on average and elsewhere
    int cpu_tiles;                    // tiles for each compute unit
    int read;
};
static const struct weft_tune_spmv_csr tune[] = {
    {{WEFT_SCHEDULE_GPU, NULL, 0, NULL, "default"}, 128, 8, 256, 3, 4, 8, 256, 4, 8, 0, 0, 0, 2},
    {{WEFT_SCHEDULE_CPU, NULL, 0, NULL, "default"}, 1, 0, 1, 0, 0, 0, 1, 0, 0, 8, 4, 16, 1},
};

#define GPU(column, member) WEFT__SPMV_GPU(struct weft_tune_spmv_csr, column, member)
#define CPU(column, member) WEFT__SPMV_CPU(struct weft_tune_spmv_csr, column, member)
static const struct weft__tunable scalar_values[] = {
    {GPU(scalar_wg, wg), .low = 1, .step = 1, .most = weft__tunable_wg, .lower = WEFT__LOWER_HALVE, .kept = WEFT__KEPT,
     .sweep = {128, 256, 512}, .help = "work-items per work-group"},
    {GPU(scalar_ipt, ipt), .low = 1, .high = 16, .step = WEFT__POWER_OF_TWO, .lower = WEFT__LOWER_HALVE,
     .sweep = {1, 4, 8, 16},
     .help =
         "rows of a block per work-item, whose sums lie in local memory; 1: none, the default with more than 3 entries "
         "for 4 rows"},
    {GPU(read, read), WEFT__SPMV_READ},
};
static const struct weft__tunable lanes_values[] = {
    {WEFT__TUNABLE_BY_SHAPE("lanes", struct weft_spmv_params, gpu.lanes), .low = 2, .high = 32,
     .step = WEFT__POWER_OF_TWO, .sweep = {2, 4, 8, 16, 32}, .help = "work-items per row"},
    {GPU(lanes_ipt, ipt), .low = 1, .high = 8, .step = 1, .kept = WEFT__KEPT, .sweep = {1, 2, 3, 4, 8},
     .help = "reads of one work-item in flight, each of four entries or of one; the default is by the length of rows"},
    {GPU(lanes_wg, wg), .low = 32, .step = 32, .most = weft__tunable_wg, .lower = WEFT__LOWER_HALVE,
     .kept = WEFT__KEPT_FOUND, .sweep = {64, 128, 256}, .help = "work-items per work-group"},
    {GPU(read, read), WEFT__SPMV_READ},
};
static const struct weft__tunable merge_values[] = {
    {GPU(merge_wg, wg), .low = 32, .step = 32, .most = weft__tunable_wg, .lower = WEFT__LOWER_HALVE,
     .kept = WEFT__KEPT_FOUND, .sweep = {64, 128, 256, 512}, .help = "work-items per work-group"},
    {GPU(merge_ipt, ipt), .low = 4, .high = 16, .step = 4, .lower = WEFT__LOWER_STEP, .kept = WEFT__KEPT_FOUND,
     .sweep = {4, 8, 12, 16}, .help = "rows plus entries of a tile per work-item; the default is more for long rows"},
    {GPU(read, read), WEFT__SPMV_READ},
};
static const struct weft__tunable cpu_values[] = {
    {WEFT__TUNABLE_BY_SHAPE("lanes", struct weft_spmv_params, cpu.lanes), .low = 1, .high = 16,
     .step = WEFT__POWER_OF_TWO, .sweep = {1, 2, 4, 8, 16},
     .help = "independent sums of a row; 2: of blocks of eight entries"},
    {CPU(scalar_wg, wg), .low = 1, .step = 1, .most = weft__tunable_wg, .kept = WEFT__KEPT,
     .help = "work-items per work-group"},
};
static const struct weft__tunable scalar_cpu_values[] = {
    {CPU(scalar_wg, wg), .low = 1, .step = 1, .most = weft__tunable_wg, .kept = WEFT__KEPT,
     .help = "work-items per work-group"},
};
#define SET(algo, schedule, values)                                                                                    \
    {                                                                                                                  \
        "spmv", algo, WEFT_SCHEDULE_##schedule, "spmv." algo, WEFT__TUNABLES(values), WEFT__TUNE_ROWS(tune)            \
    }
const struct weft__tunables weft__spmv_csr_tunables[] = {
    SET("csr_scalar", GPU, scalar_values),
    SET("csr_scalar", CPU, scalar_cpu_values),
    SET("csr_lanes", GPU, lanes_values),
    SET("csr_lanes", CPU, cpu_values),
    SET("csr_merge", GPU, merge_values),
    SET("csr_merge", CPU, cpu_values),
    SET("csr_flags", CPU, cpu_values),
    SET("csr_hubs", CPU, cpu_values),
    {0},
};

// A CPU takes independent sums of rows of CPU_LONG entries and more (LONG of cl/spmv/csr_cpu.cl). On an AMD EPYC in f32 8 of them took
// 0.86 to 0.89 times as long as 4 with rows of 1000, and 1.2 to 1.5 times on most patterns with a few long rows (docs/log/cpu-costs.md).
#define CPU_LONG     64
#define CPU_LONG_ROW 256 // mean entries of a row
#define CPU_BLOCKS   2   // sums, each of blocks of eight entries

struct csr_state {
    struct weft__kernel *kernel;
    size_t groups, wg;
    struct weft__spmv_tiles tiles; // none: rows
    cl_mem row_of;                 // the row of each entry; NULL: not needed
};

static void csr_destroy(void *state)
{
    struct csr_state *s = state;
    weft__parts_release(&s->kernel, 1, &s->row_of, 1);
    weft__spmv_tiles_release(&s->tiles);
    free(s);
}

// The kernel with these defines, after all the sizes are known.
static weft_status kernel_create(struct csr_state *s, struct weft_spmv_plan *plan, struct weft__make *make,
                                 const struct weft__kernel_spec *spec, const struct weft__defines *d)
{
    const cl_int m = (cl_int)plan->a.m;
    const cl_long whole = plan->a.nnz & ~INT64_C(3);
    weft__make_kernel(make, &s->kernel, spec, d);
    if (!make->status)
        make->status = WEFT__BIND(plan->ctx, s->kernel, WEFT__ARG(m), WEFT__ARG(whole));
    return make->status || !s->tiles.tiles ? make->status : weft__spmv_tiles_bind(&s->tiles, plan, s->kernel);
}

static weft_status csr_run(struct weft_spmv_plan *plan, struct weft__stream *stream, const struct weft__spmv_call *call)
{
    const struct csr_state *s = plan->state;
    weft__spmv_launch_csr(plan, stream, s->kernel, s->groups, s->wg, call);
    return weft__spmv_tiles_join(&s->tiles, plan, stream, call);
}

static void row_of_make(struct csr_state *s, struct weft_spmv_plan *plan, struct weft__make *make,
                        cl_command_queue queue)
{
    const size_t bytes = weft__mul((size_t)plan->a.nnz, sizeof(cl_int));
    struct weft__spmv_clock clock = weft__spmv_clock();
    weft__spmv_make_buffer(make, &s->row_of, bytes, "row of each entry");
    struct weft__stream stream = weft__spmv_stream(make, queue);
    make->status = weft__spmv_rows_expand(&stream, plan->a.row_ptr, plan->a.ofs, plan->a.m, plan->a.nnz, s->row_of);
    plan->info.convert_ms += weft__spmv_clock_ms(&clock);
    plan->info.workspace_bytes += bytes;
}

// Local memory of cl/spmv/csr_gaps.cl, which runs where a work-item has several rows of a block.
#define GAPS_EACH 4 // entries of a work-item at a time, as its EACH
static size_t scalar_local(const void *of, const void *params)
{
    const struct weft_spmv_params *p = params;
    const size_t acc = weft__spmv_acc_bytes(of), wg = (size_t)p->gpu.wg, ipt = (size_t)p->gpu.ipt;
    return ipt > 1 ? wg * (ipt * acc + GAPS_EACH * (acc + sizeof(cl_ushort))) : 0;
}

// Rows of a block for each work-item, of `usual` ones: the more entries there are the more local memory they leave to the first cache
// (docs/log/hypersparse.md).
#define GAPS_SPARSE 64 // rows for each entry, by the bytes of a sum, from which on twice as many are faster
#define GAPS_DENSE  3  // up to which half as many are; with sums of 8 bytes, whatever the entries
static int scalar_rows(const struct weft_spmv_plan *plan, int usual)
{
    const int64_t acc = (int64_t)weft__spmv_acc_bytes(plan), m = plan->a.m, nnz = plan->a.nnz;
    const int rows = nnz > m / GAPS_DENSE || acc == 8 ? (usual + 1) / 2 : usual;
    return !weft__spmv_scalar_gaps(plan) ? 1 : nnz <= m / (GAPS_SPARSE / acc) ? 2 * rows : rows;
}

static weft_status gaps_create(struct csr_state *s, struct weft_spmv_plan *plan, struct weft__make *make,
                               cl_command_queue queue)
{
    const struct weft_spmv_params *p = &plan->info.params;
    struct weft__defines d = {0};
    s->wg = (size_t)p->gpu.wg;
    s->groups = weft__groups(weft__ceil_div((size_t)plan->a.m, s->wg * (size_t)p->gpu.ipt), s->wg);
    weft__spmv_define(plan, &d);
    weft__define(&d, "WEFT_WG", "%d", p->gpu.wg);
    weft__define(&d, "WEFT_IPT", "%d", p->gpu.ipt);
    row_of_make(s, plan, make, queue);
    kernel_create(s, plan, make, &weft__spmv_gaps_spec, &d);
    if (!make->status)
        make->status = WEFT__BIND(plan->ctx, s->kernel, WEFT__ARG(row_of, s->row_of));
    plan->gaps = !make->status; // another algorithm may follow
    return make->status;
}

static weft_status scalar_create(struct weft_spmv_plan *plan, cl_command_queue queue)
{
    struct weft__make make = {.ctx = plan->ctx};
    struct weft__defines d = {0};
    struct weft_tune_spmv_csr row = *WEFT__TUNE_FIND(plan->ctx, tune);
    struct csr_state *s = plan->state = weft__make_memory(&make, sizeof *s, "a plan");
    row.scalar_ipt = scalar_rows(plan, row.scalar_ipt);
    weft__spmv_resolve(&make, plan, &row, weft__spmv_is_cpu(plan) ? NULL : scalar_local);
    if (make.status)
        return make.status;
    const size_t m = (size_t)plan->a.m, units = (size_t)plan->ctx->device.compute_units * (size_t)row.cpu_tiles;
    const struct weft__spmv_sizes sizes = weft__spmv_sizes(&plan->info.params, plan->info.schedule);
    if (sizes.ipt > 1)
        return gaps_create(s, plan, &make, queue);
    const cl_int chunk = units ? (cl_int)weft__ceil_div(m, units) : 1; // rows of a work-item
    s->wg = (size_t)sizes.wg;
    s->groups = weft__groups(weft__ceil_div(weft__ceil_div(m, (size_t)chunk), s->wg), s->wg);
    weft__spmv_define(plan, &d);
    weft__define(&d, "WEFT_WG", "%zu", s->wg);
    kernel_create(s, plan, &make, &weft__spmv_scalar_spec, &d);
    return make.status ? make.status : WEFT__BIND(plan->ctx, s->kernel, WEFT__ARG(chunk));
}

// Reads of `step` entries that a lane keeps in flight, by a row of mean length. Of single entries as many as share out what it has evenly.
static int lanes_reads(const struct weft_spmv_plan *plan, const struct weft_tune_spmv_csr *row, int lanes, int step)
{
    if (step == 1) {
        const int64_t reads = (int64_t)fmax(ceil(weft__spmv_mean_row(plan) / lanes), 1),
                      turns = (reads + row->single_most - 1) / row->single_most, even = (reads + turns - 1) / turns;
        return even < row->single_ipt ? row->single_ipt : (int)even;
    }
    const int64_t reads = plan->a.nnz / (plan->a.m + 1) / (4 * (int64_t)lanes + 1);
    return reads < 1 ? 1 : reads < row->lanes_ipt ? (int)reads : row->lanes_ipt;
}

// Blocks of rows for each work-group, one after the other: on an H200 with values of four bytes two, which read x for each other, took 0.82 to
// 1.0 of the time of one, where so many times as many groups are left as run at a time (docs/log/turns.md). More where a device launches too few
// groups for all rows. Notes in the plan whether it has several for that gain.
#define BLOCKS       2
#define BLOCKS_WAVES 4
static size_t lanes_blocks(struct weft_spmv_plan *plan, int lanes, int step, size_t rows)
{
    const size_t m = (size_t)plan->a.m, wave = (size_t)plan->ctx->device.compute_units * WEFT__SPMV_UNIT_RUNS,
                 groups = weft__ceil_div(m, rows), most = weft__groups(groups, (size_t)plan->info.params.gpu.wg);
    plan->large =
        step > 1 && ((plan->once && plan->once->large) || m / (BLOCKS * BLOCKS_WAVES) * (size_t)lanes >= wave);
    return weft__max(weft__ceil_div(groups, most), plan->large ? BLOCKS : 1);
}

static weft_status lanes_create(struct weft_spmv_plan *plan, cl_command_queue queue)
{
    (void)queue;
    struct weft__make make = {.ctx = plan->ctx};
    struct weft__defines d = {0};
    struct weft_spmv_params *p = &plan->info.params;
    struct weft_tune_spmv_csr row = *WEFT__TUNE_FIND(plan->ctx, tune);
    struct csr_state *s = plan->state = weft__make_memory(&make, sizeof *s, "a plan");
    p->gpu.lanes = p->gpu.lanes ? p->gpu.lanes : weft__spmv_lanes(plan);
    const int step = weft__spmv_lanes_step(plan);
    row.lanes_ipt = lanes_reads(plan, &row, p->gpu.lanes, step);
    weft__spmv_resolve(&make, plan, &row, NULL);
    if (make.status)
        return make.status;
    s->wg = (size_t)p->gpu.wg;
    const size_t rows = s->wg / (size_t)p->gpu.lanes, blocks = lanes_blocks(plan, p->gpu.lanes, step, rows);
    s->groups = weft__ceil_div((size_t)plan->a.m, blocks * rows);
    weft__spmv_define(plan, &d);
    weft__define(&d, "WEFT_WG", "%d", p->gpu.wg);
    weft__define(&d, "WEFT_BLOCKS", "%zu", blocks);
    weft__define(&d, "WEFT_LPR", "%d", p->gpu.lanes);
    weft__define(&d, "WEFT_STEP", "%d", step);
    weft__define(&d, "WEFT_IPT", "%d", p->gpu.ipt);
    return kernel_create(s, plan, &make, &weft__spmv_lanes_spec, &d);
}

// Entries by which a cut may move back to the begin of its row, for a tile of `items` rows and entries.
static uint32_t snap_of(uint32_t items)
{
    uint32_t snap = 1;
    while (snap * 16 <= items)
        snap *= 2;
    return snap;
}

// Local memory of cl/spmv/csr_merge.cl.
static size_t merge_local(const void *of, const void *params)
{
    const struct weft_spmv_params *p = params;
    const size_t acc = weft__spmv_acc_bytes(of), wg = (size_t)p->gpu.wg, items = wg * (size_t)p->gpu.ipt;
    return items * acc + (items / 16 + 3) * 4 + wg * acc;
}

// Tiles, the sums of the rows they cut, and the sizes of the launch; counts them in plan->info.
static void tiles_create(struct csr_state *s, struct weft_spmv_plan *plan, struct weft__make *make,
                         cl_command_queue queue, uint32_t tile, uint32_t snap)
{
    if (!make->status)
        make->status = weft__spmv_tiles_create(&s->tiles, plan, queue, tile, snap);
    if (!make->status)
        make->status = weft__spmv_tiles_sums(&s->tiles, plan);
    s->wg = (size_t)weft__spmv_sizes(&plan->info.params, plan->info.schedule).wg;
    s->groups = weft__groups(weft__spmv_is_cpu(plan) ? weft__ceil_div(s->tiles.tiles, s->wg) : s->tiles.tiles, s->wg);
}

static weft_status merge_create(struct weft_spmv_plan *plan, cl_command_queue queue)
{
    struct weft__make make = {.ctx = plan->ctx};
    struct weft__defines d = {0};
    struct weft_spmv_params *p = &plan->info.params;
    struct weft_tune_spmv_csr row = *WEFT__TUNE_FIND(plan->ctx, tune);
    // Where tiles cut rows, larger ones cut fewer; enough of them must be left to fill the device.
    const int64_t cut_items = (int64_t)row.merge_wg * row.cut_ipt;
    const int cut = plan->stats.max_row >= snap_of((uint32_t)cut_items) &&
                    plan->a.m + plan->a.nnz >= 4 * cut_items * plan->ctx->device.compute_units;
    struct csr_state *s = plan->state = weft__make_memory(&make, sizeof *s, "a plan");
    row.merge_ipt = cut ? row.cut_ipt : row.merge_ipt;
    weft__spmv_resolve(&make, plan, &row, merge_local);
    if (make.status)
        return make.status;
    const uint32_t items = (uint32_t)(p->gpu.wg * p->gpu.ipt), snap = snap_of(items);
    tiles_create(s, plan, &make, queue, items - snap - 8, snap);
    weft__spmv_define(plan, &d);
    weft__define(&d, "WEFT_WG", "%d", p->gpu.wg);
    weft__define(&d, "WEFT_IPT", "%d", p->gpu.ipt);
    if (s->tiles.b[WEFT__TILES_ARRIVED]) {
        weft__define(&d, "WEFT_CUT", "1");
        weft__define(&d, "WEFT_ITEMS", "%uu", s->tiles.tile);
        weft__define(&d, "WEFT_SNAP", "%uu", s->tiles.snap);
    }
    return kernel_create(s, plan, &make, &weft__spmv_merge_spec, &d);
}

// A second launch, which joins the parts of rows, takes as long as this many entries of a row that waits for no other core.
static uint32_t cpu_snap(uint32_t tile)
{
    const uint32_t snap = snap_of(tile);
    return snap > WEFT__SPMV_CPU_SHARED_ROW ? snap : WEFT__SPMV_CPU_SHARED_ROW;
}

static int cpu_lanes(const struct weft_spmv_plan *plan, const struct weft_tune_spmv_csr *row)
{
    if (weft__spmv_cpu_blocks(plan))
        return CPU_BLOCKS;
    if (plan->info.max_row < CPU_LONG)
        return 1; // where no row is long, looking for one costs more than it saves
    return weft__spmv_mean_row(plan) < CPU_LONG_ROW ? row->cpu_few_lanes : row->cpu_lanes;
}

// CPU: a tile per work-item. Tiles cut long rows, but not those of csr_lanes.
static weft_status cpu_create(struct weft_spmv_plan *plan, cl_command_queue queue)
{
    struct weft__make make = {.ctx = plan->ctx};
    struct weft__defines d = {0};
    struct weft_spmv_params *p = &plan->info.params;
    const struct weft_tune_spmv_csr *row = WEFT__TUNE_FIND(plan->ctx, tune);
    struct csr_state *s = plan->state = weft__make_memory(&make, sizeof *s, "a plan");
    if (!p->cpu.lanes)
        p->cpu.lanes = cpu_lanes(plan, row);
    weft__spmv_resolve(&make, plan, row, NULL);
    if (make.status)
        return make.status;
    const uint32_t tile = weft__spmv_cpu_tile(plan, plan->a.m + plan->a.nnz, row->cpu_tiles);
    tiles_create(s, plan, &make, queue, tile, p->policy.algo == WEFT_SPMV_ALGO_CSR_LANES ? UINT32_MAX : cpu_snap(tile));
    weft__spmv_define(plan, &d);
    weft__define(&d, "WEFT_WG", "%d", p->cpu.wg);
    weft__define(&d, "WEFT_LPR", "%d", p->cpu.lanes);
    plan->gaps = weft__spmv_cpu_gaps(plan);
    if (!plan->gaps)
        return kernel_create(s, plan, &make, &weft__spmv_cpu_spec, &d);
    row_of_make(s, plan, &make, queue);
    kernel_create(s, plan, &make, &weft__spmv_gaps_cpu_spec, &d);
    return make.status ? make.status : WEFT__BIND(plan->ctx, s->kernel, WEFT__ARG(row_of, s->row_of));
}

const struct weft__spmv_method weft__spmv_csr_scalar = {
    .create = scalar_create, .run = csr_run, .destroy = csr_destroy};
const struct weft__spmv_method weft__spmv_csr_lanes = {.create = lanes_create, .run = csr_run, .destroy = csr_destroy};
const struct weft__spmv_method weft__spmv_csr_merge = {.create = merge_create, .run = csr_run, .destroy = csr_destroy};
const struct weft__spmv_method weft__spmv_csr_cpu = {.create = cpu_create, .run = csr_run, .destroy = csr_destroy};
