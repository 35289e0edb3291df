// SPDX-License-Identifier: Apache-2.0
// CSR with a fixed tree of sums: the same bits on every device.
//
//     pass              reads               writes              form of an entry on its way       buffers
//     rows_tiles        row_ptr             begins of tiles     (rows alone)                      those of tiles.h
//   and for each SpMV
//     spmv_csr_fixed    CSR, x, tiles       y, sums of chunks   product, tree of sums             chunk
//     spmv_fixed_join   chunk, cut rows     y of cut rows       sum of a chunk, tree of these
#include "plan.h"
#include "tiles.h"

#include <stdlib.h>

#define CHUNK     1024 // entries of a chunk, part of the definition of the result (cl/spmv/csr_fixed.cl)
#define TILE      (2 * CHUNK - 1)
#define CPU_TILES 16 // for each compute unit

struct weft_tune_spmv_fixed {
    struct weft__tune_key key;
    int wg, ipt; // ipt: what wg leaves of a tile
    int read;
};
static const struct weft_tune_spmv_fixed tune[] = {
    {{WEFT_SCHEDULE_GPU, NULL, 0, NULL, "default"}, 256, 8, 2},
    {{WEFT_SCHEDULE_CPU, NULL, 0, NULL, "default"}, 1, 0, 1},
};
#define GPU(member) WEFT__SPMV_GPU(struct weft_tune_spmv_fixed, member, member)
static const struct weft__tunable gpu_values[] = {
    {GPU(wg), .low = 64, .step = 32, .most = weft__tunable_wg, .lower = WEFT__LOWER_HALVE, .kept = WEFT__KEPT,
     .help = "work-items per work-group"},
    {GPU(ipt), .low = 1, .high = 32, .step = 1, .kept = WEFT__KEPT,
     .help = "entries per work-item; at least as many as a work-group needs for a tile of 2047"},
    {GPU(read), .low = 1, .high = 3, .step = 1, .kept = WEFT__KEPT, .help = "as of csr_merge"},
};
static const struct weft__tunable cpu_values[] = {
    {WEFT__SPMV_CPU(struct weft_tune_spmv_fixed, wg, wg), .low = 1, .step = 1, .most = weft__tunable_wg,
     .kept = WEFT__KEPT, .help = "work-items per work-group"},
};
const struct weft__tunables weft__spmv_fixed_tunables[] = {
    {"spmv", "csr_fixed", WEFT_SCHEDULE_GPU, "spmv.csr_fixed", WEFT__TUNABLES(gpu_values), WEFT__TUNE_ROWS(tune)},
    {"spmv", "csr_fixed", WEFT_SCHEDULE_CPU, "spmv.csr_fixed", WEFT__TUNABLES(cpu_values), WEFT__TUNE_ROWS(tune)},
    {0},
};

enum { RUN, JOIN, NKERNELS };
struct fixed_state {
    struct weft__spmv_tiles tiles;
    cl_mem chunk;
    struct weft__kernel *k[NKERNELS]; // JOIN: NULL where no row is cut
    size_t groups, wg, join_wg;
};

static weft_status kernels_create(struct fixed_state *s, struct weft_spmv_plan *plan, struct weft__make *make)
{
    const struct weft__spmv_sizes sizes = weft__spmv_sizes(&plan->info.params, plan->info.schedule);
    const int cpu = weft__spmv_is_cpu(plan);
    struct weft__defines d = {0}, join;
    s->wg = (size_t)sizes.wg;
    s->join_wg = cpu ? 1 : 64;
    s->groups = cpu ? weft__ceil_div(s->tiles.tiles, s->wg) : weft__groups(s->tiles.tiles, s->wg);
    weft__spmv_define(plan, &d);
    join = d;
    weft__define(&join, "WEFT_WG", "%zu", s->join_wg);
    weft__define(&d, "WEFT_WG", "%d", sizes.wg);
    if (!cpu) {
        weft__define(&d, "WEFT_IPT", "%d", sizes.ipt);
        weft__define(&d, "WEFT_TILED", "1");
    }
    weft__make_kernel(make, &s->k[RUN], cpu ? &weft__spmv_fixed_cpu_spec : &weft__spmv_fixed_spec, &d);
    if (s->tiles.nsplit)
        weft__make_kernel(make, &s->k[JOIN], &weft__spmv_fixed_join_spec, &join);
    for (int i = 0; i < NKERNELS && s->k[i] && !make->status; i++) {
        make->status = weft__spmv_tiles_bind(&s->tiles, plan, s->k[i]);
        if (!make->status)
            make->status = WEFT__BIND(plan->ctx, s->k[i], WEFT__ARG(chunk, s->chunk));
    }
    return make->status;
}

// Local memory of cl/spmv/csr_fixed.cl: rows and entries of a tile share it.
static size_t tile_local(const void *of, const void *params)
{
    (void)params;
    return TILE * weft__spmv_acc_bytes(of) + 4;
}

static weft_status fixed_create(struct weft_spmv_plan *plan, cl_command_queue queue)
{
    struct weft_spmv_params *p = &plan->info.params;
    const int cpu = weft__spmv_is_cpu(plan);
    struct weft__make make = {.ctx = plan->ctx};
    struct fixed_state *s = plan->state = weft__make_memory(&make, sizeof *s, "a plan");
    if (!s)
        return make.status;
    // A tile holds a chunk, and the rows that begin less than a chunk before it.
    struct weft_tune_spmv_fixed row = *WEFT__TUNE_FIND(plan->ctx, tune);
    const int wg = p->gpu.wg ? p->gpu.wg : weft__wg_lower(plan->ctx, WEFT__HOSTILE(row.wg, 64));
    row.ipt = wg < 1 ? 0 : (int)weft__ceil_div(TILE, (size_t)wg);
    weft__spmv_resolve(&make, plan, &row, cpu ? NULL : tile_local);
    if (!make.status && !cpu)
        make.status = weft__check_range(plan->ctx, p->gpu.ipt, row.ipt, 32, 1, "spmv: gpu.ipt");
    if (make.status)
        return make.status;
    const uint32_t tile = cpu ? weft__spmv_cpu_tile(plan, plan->a.m + plan->a.nnz, CPU_TILES) : CHUNK;
    const size_t sums = 2 * ((size_t)plan->a.nnz / CHUNK + 1) * weft__spmv_acc_bytes(plan);
    make.status = weft__spmv_tiles_create(&s->tiles, plan, queue, tile, CHUNK);
    weft__spmv_make_buffer(&make, &s->chunk, sums, "sums of chunks");
    plan->info.workspace_bytes += make.bytes;
    return kernels_create(s, plan, &make);
}

static weft_status fixed_run(struct weft_spmv_plan *plan, struct weft__stream *stream,
                             const struct weft__spmv_call *call)
{
    const struct fixed_state *s = plan->state;
    const cl_uint cut = s->tiles.nsplit;
    weft__spmv_launch_csr(plan, stream, s->k[RUN], s->groups, s->wg, call);
    return cut ? weft__spmv_launch_csr(plan, stream, s->k[JOIN], weft__groups(cut, s->join_wg), s->join_wg, call)
               : stream->status;
}

static void fixed_destroy(void *state)
{
    struct fixed_state *s = state;
    weft__spmv_tiles_release(&s->tiles);
    weft__parts_release(s->k, NKERNELS, &s->chunk, 1);
    free(s);
}

const struct weft__spmv_method weft__spmv_csr_fixed = {
    .create = fixed_create, .run = fixed_run, .destroy = fixed_destroy};
