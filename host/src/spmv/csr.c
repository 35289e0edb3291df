// SPDX-License-Identifier: Apache-2.0
// The CSR schedules: a row per work-item, lanes per row, tiles of equal work.
#include "host/src/core/limits.h"
#include "host/src/core/tune.h"
#include "host/src/spmv/spmv.h"

#include <stdlib.h>

const struct weft__kernel_spec weft__spmv_scalar_spec = {"spmv_csr_scalar", "spmv/csr_scalar.cl"};
const struct weft__kernel_spec weft__spmv_lanes_spec = {"spmv_csr_lanes", "spmv/csr_lanes.cl"};
const struct weft__kernel_spec weft__spmv_merge_spec = {"spmv_csr_merge", "spmv/csr_merge.cl"};
const struct weft__kernel_spec weft__spmv_cpu_spec = {"spmv_csr_cpu", "spmv/csr_cpu.cl"};

struct weft_tune_spmv_csr {
    struct weft__tune_key key;
    int scalar_wg;
    int lanes_wg, lanes_ipt;          // lanes_ipt: reads of four entries of one lane in flight, at most
    int merge_wg, merge_ipt, cut_ipt; // rows plus entries of a tile for each work-item; cut_ipt: large, with long rows
    int cpu_lanes;                    // independent sums of a long row
    int cpu_tiles;                    // tiles for each compute unit
    int read;
};
static const struct weft_tune_spmv_csr tune[] = {
    {{WEFT_SCHEDULE_GPU, NULL, NULL, "default"}, 128, 256, 3, 256, 4, 8, 0, 0, 2},
    {{WEFT_SCHEDULE_CPU, NULL, NULL, "default"}, 1, 1, 0, 1, 0, 0, 8, 16, 1},
};

#define CPU_LONG_ROW 40 // mean entries of a row from which a CPU takes independent sums

struct csr_state {
    struct weft__kernel *kernel;
    size_t groups, wg;
    cl_int chunk; // rows of a work-item (scalar)
    struct weft__spmv_tiles tiles;
};

static void csr_destroy(void *state)
{
    struct csr_state *s = state;
    weft__kernel_release(&s->kernel);
    weft__spmv_tiles_release(&s->tiles);
    free(s);
}

static weft_status state_create(struct csr_state **out, struct weft_spmv_plan *plan)
{
    plan->state = *out = calloc(1, sizeof **out);
    return *out ? WEFT_OK : weft__fail(plan->ctx, WEFT_ENOMEM, "out of host memory for a plan");
}

// Resolve wg, ipt and read; `step` is what wg must be a multiple of; `local` may be NULL.
static weft_status tuning_resolve(struct weft_spmv_plan *plan, int wg, int step, int ipt, int most_ipt, int ipt_step,
                                  size_t (*local)(const void *of, int wg, int ipt))
{
    struct weft_spmv_params *p = &plan->info.params;
    const struct weft_tune_spmv_csr *row = WEFT__TUNE_FIND(plan->ctx, tune);
    p->read = p->read ? p->read : row->read;
    return weft__size_resolve(plan->ctx, &p->wg, &p->ipt,
                              &(struct weft__size_rule){.name = "params.",
                                                        .wg = wg,
                                                        .wg_step = step,
                                                        .ipt = ipt,
                                                        .ipt_least = ipt ? ipt_step : 0,
                                                        .ipt_most = most_ipt,
                                                        .ipt_step = ipt_step,
                                                        .local = local,
                                                        .of = plan});
}

static weft_status scalar_create(struct weft_spmv_plan *plan, cl_command_queue queue)
{
    (void)queue;
    struct csr_state *s;
    struct weft__defines d = {0};
    const struct weft_tune_spmv_csr *row = WEFT__TUNE_FIND(plan->ctx, tune);
    weft_status status = state_create(&s, plan);
    if (!status)
        status = tuning_resolve(plan, row->scalar_wg, 1, 0, 0, 1, NULL);
    if (status)
        return status;
    const size_t m = (size_t)plan->a.m, units = (size_t)plan->ctx->device.compute_units * (size_t)row->cpu_tiles;
    s->wg = (size_t)plan->info.params.wg;
    s->chunk = (cl_int)(units ? weft__ceil_div(m, units) : 1);
    s->groups = weft__groups(weft__ceil_div(weft__ceil_div(m, (size_t)s->chunk), s->wg), s->wg);
    weft__spmv_define(plan, &d);
    weft__define(&d, "WEFT_WG", "%zu", s->wg);
    return weft__kernel_create(&s->kernel, plan->ctx, &weft__spmv_scalar_spec, &d);
}

static weft_status scalar_run(struct weft_spmv_plan *plan, struct weft__stream *stream,
                              const struct weft__spmv_call *call)
{
    struct csr_state *s = plan->state;
    cl_int m = (cl_int)plan->a.m;
    cl_mem val = weft__spmv_val(plan);
    return WEFT__LAUNCH(stream, s->kernel, s->groups, s->wg, WEFT__ARG(row_ptr, plan->a.row_ptr),
                        WEFT__ARG(col, plan->a.col), WEFT__ARG(val), WEFT__ARG(x, call->x), WEFT__ARG(y, call->y),
                        WEFT__ARG(m), WEFT__ARG(chunk, s->chunk), WEFT__SPMV_SCALAR(alpha, plan, call->alpha),
                        WEFT__SPMV_SCALAR(beta, plan, call->beta));
}

const struct weft__spmv_method weft__spmv_csr_scalar = {WEFT_SPMV_CSR_SCALAR, scalar_create, NULL, scalar_run,
                                                        csr_destroy};

static weft_status lanes_create(struct weft_spmv_plan *plan, cl_command_queue queue)
{
    (void)queue;
    struct csr_state *s;
    struct weft__defines d = {0};
    struct weft_spmv_params *p = &plan->info.params;
    const struct weft_tune_spmv_csr *row = WEFT__TUNE_FIND(plan->ctx, tune);
    weft_status status = state_create(&s, plan);
    p->lanes = p->lanes ? p->lanes : weft__spmv_lanes(plan);
    if (!status) {
        const int64_t reads = plan->a.nnz / (plan->a.m + 1) / (4 * p->lanes + 1); // of a lane, for a row of mean length
        const int ipt = reads < 1 ? 1 : reads < row->lanes_ipt ? (int)reads : row->lanes_ipt;
        status = tuning_resolve(plan, row->lanes_wg, 32, ipt, 4, 1, NULL);
    }
    if (!status && (p->lanes < 2 || p->lanes > 32 || (p->lanes & (p->lanes - 1))))
        status = weft__fail(plan->ctx, WEFT_EINVAL, "params.lanes is %d, it must be 2, 4, 8, 16 or 32", p->lanes);
    if (status)
        return status;
    s->wg = (size_t)p->wg;
    s->groups = weft__groups(weft__ceil_div((size_t)plan->a.m, s->wg / (size_t)p->lanes), s->wg);
    weft__spmv_define(plan, &d);
    weft__define(&d, "WEFT_WG", "%d", p->wg);
    weft__define(&d, "WEFT_LPR", "%d", p->lanes);
    weft__define(&d, "WEFT_IPT", "%d", p->ipt);
    return weft__kernel_create(&s->kernel, plan->ctx, &weft__spmv_lanes_spec, &d);
}

static weft_status lanes_run(struct weft_spmv_plan *plan, struct weft__stream *stream,
                             const struct weft__spmv_call *call)
{
    struct csr_state *s = plan->state;
    cl_int m = (cl_int)plan->a.m;
    cl_long whole = plan->a.nnz & ~INT64_C(3);
    cl_mem val = weft__spmv_val(plan);
    return WEFT__LAUNCH(stream, s->kernel, s->groups, s->wg, WEFT__ARG(row_ptr, plan->a.row_ptr),
                        WEFT__ARG(col, plan->a.col), WEFT__ARG(val), WEFT__ARG(x, call->x), WEFT__ARG(y, call->y),
                        WEFT__ARG(m), WEFT__ARG(whole), WEFT__SPMV_SCALAR(alpha, plan, call->alpha),
                        WEFT__SPMV_SCALAR(beta, plan, call->beta));
}

const struct weft__spmv_method weft__spmv_csr_lanes = {WEFT_SPMV_CSR_LANES, lanes_create, NULL, lanes_run, csr_destroy};

// Entries by which a cut may move back to the begin of its row, for a tile of `items` rows and entries.
static uint32_t snap_of(uint32_t items)
{
    uint32_t snap = 1;
    while (snap * 16 <= items)
        snap *= 2;
    return snap;
}

// Local memory of cl/spmv_csr_merge.cl.
static size_t merge_local(const void *of, int wg, int ipt)
{
    const size_t acc = weft__spmv_acc_bytes(of), items = (size_t)wg * (size_t)ipt;
    return items * acc + (items / 16 + 3) * 4 + (size_t)wg * acc;
}

static weft_status merge_create(struct weft_spmv_plan *plan, cl_command_queue queue)
{
    struct csr_state *s;
    struct weft__defines d = {0};
    struct weft_spmv_params *p = &plan->info.params;
    const struct weft_tune_spmv_csr *row = WEFT__TUNE_FIND(plan->ctx, tune);
    // Where tiles cut rows, larger ones cut fewer; enough of them must be left to fill the device.
    const int64_t cut_items = (int64_t)row->merge_wg * row->cut_ipt;
    const int cut = plan->stats.max_row >= snap_of((uint32_t)cut_items) &&
                    plan->a.m + plan->a.nnz >= 4 * cut_items * plan->ctx->device.compute_units;
    weft_status status = state_create(&s, plan);
    if (!status)
        status = tuning_resolve(plan, row->merge_wg, 32, cut ? row->cut_ipt : row->merge_ipt, 16, 4, merge_local);
    if (status)
        return status;
    const size_t items = (size_t)p->wg * (size_t)p->ipt;
    const uint32_t snap = snap_of((uint32_t)items);
    status = weft__spmv_tiles_create(&s->tiles, plan, queue, (uint32_t)items - snap - 8, snap);
    if (!status)
        status = weft__spmv_tiles_sums(&s->tiles, plan, queue);
    if (status)
        return status;
    plan->info.workspace_bytes += s->tiles.bytes;
    s->wg = (size_t)p->wg;
    s->groups = weft__groups(s->tiles.tiles, s->wg);
    weft__spmv_define(plan, &d);
    weft__define(&d, "WEFT_WG", "%d", p->wg);
    weft__define(&d, "WEFT_IPT", "%d", p->ipt);
    if (s->tiles.arrived) {
        weft__define(&d, "WEFT_CUT", "1");
        weft__define(&d, "WEFT_ITEMS", "%uu", s->tiles.tile);
        weft__define(&d, "WEFT_SNAP", "%uu", s->tiles.snap);
    }
    return weft__kernel_create(&s->kernel, plan->ctx, &weft__spmv_merge_spec, &d);
}

static weft_status merge_run(struct weft_spmv_plan *plan, struct weft__stream *stream,
                             const struct weft__spmv_call *call)
{
    struct csr_state *s = plan->state;
    cl_long whole = plan->a.nnz & ~INT64_C(3);
    cl_mem val = weft__spmv_val(plan), arrived = s->tiles.arrived ? s->tiles.arrived : s->tiles.part;
    weft_status status = WEFT__LAUNCH(
        stream, s->kernel, s->groups, s->wg, WEFT__ARG(row_ptr, plan->a.row_ptr), WEFT__ARG(col, plan->a.col),
        WEFT__ARG(val), WEFT__ARG(x, call->x), WEFT__ARG(y, call->y), WEFT__ARG(tile_row, s->tiles.row),
        WEFT__ARG(tile_pos, s->tiles.pos), WEFT__ARG(part, s->tiles.part), WEFT__ARG(head, s->tiles.head),
        WEFT__ARG(arrived), WEFT__ARG(tiles, s->tiles.tiles), WEFT__ARG(whole),
        WEFT__SPMV_SCALAR(alpha, plan, call->alpha), WEFT__SPMV_SCALAR(beta, plan, call->beta));
    return status ? status : weft__spmv_tiles_join(&s->tiles, plan, stream, call);
}

const struct weft__spmv_method weft__spmv_csr_merge = {WEFT_SPMV_CSR_MERGE, merge_create, NULL, merge_run, csr_destroy};

// CPU: a tile per work-item; long rows are cut when `cut` is set.
static weft_status cpu_create(struct weft_spmv_plan *plan, cl_command_queue queue, int cut)
{
    struct csr_state *s;
    struct weft__defines d = {0};
    struct weft_spmv_params *p = &plan->info.params;
    const struct weft_tune_spmv_csr *row = WEFT__TUNE_FIND(plan->ctx, tune);
    weft_status status = state_create(&s, plan);
    if (!status)
        status = tuning_resolve(plan, 1, 1, 0, 0, 1, NULL);
    if (!p->lanes) // where rows are short, looking for long ones costs more than it saves
        p->lanes = plan->a.nnz / (plan->a.m + 1) < CPU_LONG_ROW ? 1 : row->cpu_lanes;
    if (!status && (p->lanes < 1 || p->lanes > 16 || (p->lanes & (p->lanes - 1))))
        status = weft__fail(plan->ctx, WEFT_EINVAL, "params.lanes is %d, a CPU takes 1, 2, 4, 8 or 16", p->lanes);
    if (status)
        return status;
    const size_t units = (size_t)plan->ctx->device.compute_units * (size_t)row->cpu_tiles;
    const size_t even = weft__ceil_div((size_t)plan->a.m + (size_t)plan->a.nnz, units);
    const uint32_t tile = (uint32_t)weft__min(weft__max(even, 4096), (size_t)1 << 30);
    status = weft__spmv_tiles_create(&s->tiles, plan, queue, tile, cut ? snap_of(tile) : UINT32_MAX);
    if (!status)
        status = weft__spmv_tiles_sums(&s->tiles, plan, queue);
    if (status)
        return status;
    plan->info.workspace_bytes += s->tiles.bytes;
    s->wg = (size_t)p->wg;
    s->groups = weft__ceil_div(s->tiles.tiles, s->wg);
    weft__spmv_define(plan, &d);
    weft__define(&d, "WEFT_WG", "%d", p->wg);
    weft__define(&d, "WEFT_LPR", "%d", p->lanes);
    return weft__kernel_create(&s->kernel, plan->ctx, &weft__spmv_cpu_spec, &d);
}

static weft_status cpu_rows_create(struct weft_spmv_plan *plan, cl_command_queue queue)
{
    return cpu_create(plan, queue, 0);
}

static weft_status cpu_cut_create(struct weft_spmv_plan *plan, cl_command_queue queue)
{
    return cpu_create(plan, queue, 1);
}

static weft_status cpu_run(struct weft_spmv_plan *plan, struct weft__stream *stream, const struct weft__spmv_call *call)
{
    struct csr_state *s = plan->state;
    cl_mem val = weft__spmv_val(plan);
    weft_status status =
        WEFT__LAUNCH(stream, s->kernel, s->groups, s->wg, WEFT__ARG(row_ptr, plan->a.row_ptr),
                     WEFT__ARG(col, plan->a.col), WEFT__ARG(val), WEFT__ARG(x, call->x), WEFT__ARG(y, call->y),
                     WEFT__ARG(tile_row, s->tiles.row), WEFT__ARG(tile_pos, s->tiles.pos),
                     WEFT__ARG(part, s->tiles.part), WEFT__ARG(head, s->tiles.head), WEFT__ARG(tiles, s->tiles.tiles),
                     WEFT__SPMV_SCALAR(alpha, plan, call->alpha), WEFT__SPMV_SCALAR(beta, plan, call->beta));
    return status ? status : weft__spmv_tiles_join(&s->tiles, plan, stream, call);
}

const struct weft__spmv_method weft__spmv_csr_lanes_cpu = {WEFT_SPMV_CSR_LANES, cpu_rows_create, NULL, cpu_run,
                                                           csr_destroy};
const struct weft__spmv_method weft__spmv_csr_merge_cpu = {WEFT_SPMV_CSR_MERGE, cpu_cut_create, NULL, cpu_run,
                                                           csr_destroy};
