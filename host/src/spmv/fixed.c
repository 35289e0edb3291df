// SPDX-License-Identifier: Apache-2.0
// CSR with a fixed tree of sums: the same bits on every device.
//
//     pass              reads               writes              form of an entry on its way       buffers
//     rows_tiles        row_ptr             begins of tiles     (rows alone)                      those of tiles.h
//   and for each SpMV
//     spmv_csr_fixed    CSR, x, tiles       y, sums of chunks   product, tree of sums             chunk
//     spmv_fixed_join   chunk, cut rows     y of cut rows       sum of a chunk, tree of these
#include "fixed.h"
#include "tiles.h"

#include <stdlib.h>

#define CHUNK     1024 // entries of a chunk, part of the definition of the result (cl/spmv/csr_fixed.cl)
#define TILE      (2 * CHUNK - 1)
#define CPU_TILES 16 // for each compute unit

enum { RUN, JOIN, NKERNELS };
struct fixed_state {
    struct weft__spmv_tiles tiles;
    cl_mem chunk;
    struct weft__kernel *k[NKERNELS]; // JOIN: NULL where no row is cut
    size_t groups, wg, join_wg;
};

static weft_status kernels_create(struct fixed_state *s, struct weft_spmv_plan *plan, struct weft__make *make)
{
    const struct weft_spmv_params *p = &plan->info.params;
    const int cpu = weft__spmv_is_cpu(plan);
    struct weft__defines d = {0}, join;
    s->wg = (size_t)p->wg;
    s->join_wg = cpu ? 1 : 64;
    s->groups = cpu ? weft__ceil_div(s->tiles.tiles, s->wg) : weft__groups(s->tiles.tiles, s->wg);
    weft__spmv_define(plan, &d);
    join = d;
    weft__define(&join, "WEFT_WG", "%zu", s->join_wg);
    weft__define(&d, "WEFT_WG", "%d", p->wg);
    if (!cpu) {
        weft__define(&d, "WEFT_IPT", "%d", p->ipt);
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
static size_t tile_local(const void *of, int wg, int ipt)
{
    (void)wg;
    (void)ipt;
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
    const int wg = p->wg ? p->wg : cpu ? 1 : weft__wg_lower(plan->ctx, 256);
    const int least = cpu || wg < 1 ? 0 : (int)weft__ceil_div(TILE, (size_t)wg);
    weft__spmv_sizes(&make, plan, cpu ? 1 : 2,
                     (struct weft__size_rule){.wg = wg,
                                              .wg_step = cpu ? 1 : 32,
                                              .ipt = least,
                                              .ipt_least = least,
                                              .ipt_most = cpu ? 0 : 32,
                                              .ipt_step = 1,
                                              .local = cpu ? NULL : tile_local});
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

const struct weft__spmv_method weft__spmv_csr_fixed = {fixed_create, NULL, fixed_run, fixed_destroy};
