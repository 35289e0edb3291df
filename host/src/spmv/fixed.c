// SPDX-License-Identifier: Apache-2.0
// CSR with a fixed tree of sums: the same bits on every device.
#include "host/src/core/limits.h"
#include "host/src/spmv/spmv.h"

#include <stdlib.h>

const struct weft__kernel_spec weft__spmv_fixed_spec = {"spmv_csr_fixed", "spmv/csr_fixed.cl"};
const struct weft__kernel_spec weft__spmv_fixed_cpu_spec = {"spmv_csr_fixed_cpu", "spmv/csr_fixed_cpu.cl"};
const struct weft__kernel_spec weft__spmv_fixed_join_spec = {"spmv_fixed_join", "spmv/fixed_join.cl"};

#define CHUNK     1024 // entries of a chunk, part of the definition of the result (cl/spmv_csr_fixed.cl)
#define TILE      (2 * CHUNK - 1)
#define CPU_TILES 16 // for each compute unit

struct fixed_state {
    struct weft__spmv_tiles tiles;
    cl_mem chunk;
    struct weft__kernel *run, *join;
    const struct weft__kernel_spec *spec; // of run
    size_t groups, wg, join_wg;
};

static weft_status kernels_create(struct fixed_state *s, struct weft_spmv_plan *plan, int cpu)
{
    struct weft_spmv_params *p = &plan->info.params;
    struct weft__defines d = {0}, join = {0};
    s->wg = (size_t)p->wg;
    s->join_wg = cpu ? 1 : 64;
    s->groups = cpu ? weft__ceil_div(s->tiles.tiles, s->wg) : weft__groups(s->tiles.tiles, s->wg);
    s->spec = cpu ? &weft__spmv_fixed_cpu_spec : &weft__spmv_fixed_spec;
    weft__spmv_define(plan, &d);
    join = d;
    weft__define(&join, "WEFT_WG", "%zu", s->join_wg);
    weft__define(&d, "WEFT_WG", "%d", p->wg);
    if (!cpu) {
        weft__define(&d, "WEFT_IPT", "%d", p->ipt);
        weft__define(&d, "WEFT_TILED", "1");
    }
    weft_status status = weft__kernel_create(&s->run, plan->ctx, s->spec, &d);
    return status || !s->tiles.nsplit ? status
                                      : weft__kernel_create(&s->join, plan->ctx, &weft__spmv_fixed_join_spec, &join);
}

// Local memory of cl/spmv_csr_fixed.cl: rows and entries of a tile share it.
static size_t tile_local(const void *of, int wg, int ipt)
{
    (void)wg;
    (void)ipt;
    return TILE * weft__spmv_acc_bytes(of) + 4;
}

static weft_status fixed_create(struct weft_spmv_plan *plan, cl_command_queue queue)
{
    struct weft_spmv_params *p = &plan->info.params;
    const int cpu = plan->ctx->schedule == WEFT_SCHEDULE_CPU;
    struct fixed_state *s = plan->state = calloc(1, sizeof *s);
    if (!s)
        return weft__fail(plan->ctx, WEFT_ENOMEM, "out of host memory for a plan");
    p->read = p->read ? p->read : cpu ? 1 : 2;
    // A tile holds a chunk, and the rows that begin less than a chunk before it.
    const int wg = p->wg ? p->wg : cpu ? 1 : weft__wg_lower(plan->ctx, 256);
    const int least = cpu || wg < 1 ? 0 : (int)weft__ceil_div(TILE, (size_t)wg);
    weft_status status = weft__size_resolve(plan->ctx, &p->wg, &p->ipt,
                                            &(struct weft__size_rule){.name = "params.",
                                                                      .wg = wg,
                                                                      .wg_step = cpu ? 1 : 32,
                                                                      .ipt = least,
                                                                      .ipt_least = least,
                                                                      .ipt_most = cpu ? 0 : 32,
                                                                      .ipt_step = 1,
                                                                      .local = cpu ? NULL : tile_local,
                                                                      .of = plan});
    if (status)
        return status;
    const size_t acc = weft__spmv_acc_bytes(plan);
    const size_t units = (size_t)plan->ctx->device.compute_units * CPU_TILES;
    const size_t even = weft__ceil_div((size_t)plan->a.m + (size_t)plan->a.nnz, units);
    const size_t tile = cpu ? weft__min(weft__max(even, 4096), (size_t)1 << 30) : CHUNK;
    const size_t bytes = 2 * ((size_t)plan->a.nnz / CHUNK + 1) * acc;
    status = weft__spmv_tiles_create(&s->tiles, plan, queue, (uint32_t)tile, CHUNK);
    if (!status)
        status = weft__buffer_create(&s->chunk, plan->ctx, bytes, "sums of chunks");
    plan->info.workspace_bytes += s->tiles.bytes + bytes;
    return status ? status : kernels_create(s, plan, cpu);
}

static weft_status fixed_run(struct weft_spmv_plan *plan, struct weft__stream *stream,
                             const struct weft__spmv_call *call)
{
    struct fixed_state *s = plan->state;
    const struct weft__spmv_tiles *t = &s->tiles;
    const cl_mem val = weft__spmv_val(plan);
    weft_status status =
        WEFT__LAUNCH(stream, s->run, s->groups, s->wg, WEFT__ARG(row_ptr, plan->a.row_ptr), WEFT__ARG(col, plan->a.col),
                     WEFT__ARG(val), WEFT__ARG(x, call->x), WEFT__ARG(y, call->y), WEFT__ARG(tile_row, t->row),
                     WEFT__ARG(tile_pos, t->pos), WEFT__ARG(chunk, s->chunk), WEFT__ARG(tiles, t->tiles),
                     WEFT__SPMV_SCALAR(alpha, plan, call->alpha), WEFT__SPMV_SCALAR(beta, plan, call->beta));
    if (status || !t->nsplit)
        return status;
    return WEFT__LAUNCH(stream, s->join, weft__groups(t->nsplit, s->join_wg), s->join_wg,
                        WEFT__ARG(row_ptr, plan->a.row_ptr), WEFT__ARG(tile_row, t->row), WEFT__ARG(chunk, s->chunk),
                        WEFT__ARG(split, t->split), WEFT__ARG(nsplit, t->nsplit), WEFT__ARG(y, call->y),
                        WEFT__SPMV_SCALAR(alpha, plan, call->alpha), WEFT__SPMV_SCALAR(beta, plan, call->beta));
}

static void fixed_destroy(void *state)
{
    struct fixed_state *s = state;
    weft__spmv_tiles_release(&s->tiles);
    weft__buffer_release(&s->chunk);
    weft__kernel_release(&s->run);
    weft__kernel_release(&s->join);
    free(s);
}

const struct weft__spmv_method weft__spmv_csr_fixed = {WEFT_SPMV_CSR_FIXED, fixed_create, NULL, fixed_run,
                                                       fixed_destroy};
