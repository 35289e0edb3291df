// SPDX-License-Identifier: Apache-2.0
// Coordinates in row order: sums by segments, or by atomics.
//
//     pass               reads                  writes              form of an entry on its way   buffers
//     expand             row_ptr                row of each entry   row                           ROW
//   and for each SpMV
//     spmv_scale         y                      y                   (rows alone)
//     spmv_coo_segment   ROW, COL, VAL, x       y, sums of tiles    product, sum of a segment     PART, HEAD
//     spmv_coo_join      ROW, PART, HEAD        y of shared rows    sum of a part
//     spmv_coo_atomic    ROW, COL, VAL, x       y                   product; in the place of both
#include "coo.h"
#include "scale.h"

#include <stdlib.h>
#include <weft/expand.h>

struct weft_tune_spmv_coo {
    struct weft__tune_key key;
    int wg, ipt;
    int tiles; // for each compute unit (CPU)
    int read;
};
static const struct weft_tune_spmv_coo tune[] = {
    {{WEFT_SCHEDULE_GPU, NULL, 0, NULL, "default"}, 256, 7, 0, 2},
    {{WEFT_SCHEDULE_CPU, NULL, 0, NULL, "default"}, 1, 0, 16, 1},
};

#define GPU(member) WEFT__SPMV_GPU(struct weft_tune_spmv_coo, member, member)
static const struct weft__tunable gpu_values[] = {
    {GPU(wg), .low = 32, .step = 32, .most = weft__tunable_wg, .lower = WEFT__LOWER_HALVE, .kept = WEFT__KEPT_FOUND,
     .sweep = {64, 128, 256, 512}, .help = "work-items per work-group"},
    {GPU(ipt), .low = 1, .high = 16, .step = 1, .lower = WEFT__LOWER_STEP, .kept = WEFT__KEPT_FOUND,
     .sweep = {5, 7, 9, 11}, .help = "entries of a tile per work-item"},
    {GPU(read), WEFT__SPMV_READ},
};
static const struct weft__tunable atomic_values[] = {
    {GPU(wg), .low = 1, .step = 1, .most = weft__tunable_wg, .lower = WEFT__LOWER_HALVE, .kept = WEFT__KEPT,
     .help = "work-items per work-group"},
    {GPU(ipt), .low = 1, .high = 16, .step = 1, .kept = WEFT__KEPT, .help = "not used"},
    {GPU(read), .low = 1, .high = 3, .step = 1, .kept = WEFT__KEPT, .help = "as of coo"},
};
static const struct weft__tunable cpu_values[] = {
    {WEFT__SPMV_CPU(struct weft_tune_spmv_coo, wg, wg), .low = 1, .step = 1, .most = weft__tunable_wg,
     .kept = WEFT__KEPT, .help = "work-items per work-group"},
};
enum { BY_CPU, BY_GPU };
const struct weft__tunables weft__spmv_coo_tunables[] = {
    [BY_CPU] = {"spmv", "coo", WEFT_SCHEDULE_CPU, "spmv.coo", WEFT__TUNABLES(cpu_values), WEFT__TUNE_ROWS(tune)},
    [BY_GPU] = {"spmv", "coo", WEFT_SCHEDULE_GPU, "spmv.coo", WEFT__TUNABLES(gpu_values), WEFT__TUNE_ROWS(tune)},
    {"spmv", "coo_atomic", WEFT_SCHEDULE_GPU, "spmv.coo_atomic", WEFT__TUNABLES(atomic_values), WEFT__TUNE_ROWS(tune)},
    {"spmv", "coo_atomic", WEFT_SCHEDULE_CPU, "spmv.coo_atomic", WEFT__TUNABLES(cpu_values), WEFT__TUNE_ROWS(tune)},
    {0},
};

// The kernel that joins the sums of tiles.
static void join_make(struct weft__make *make, struct weft__spmv_coo *c, struct weft_spmv_plan *plan)
{
    const int cpu = weft__spmv_is_cpu(plan);
    const size_t per_group = cpu ? 1 : 2;
    struct weft__defines d = {0};
    c->join_wg = cpu ? 1 : 64;
    c->join_groups = c->tiles > 1 ? weft__groups(weft__ceil_div(c->tiles, per_group), c->join_wg) : 0;
    weft__spmv_define(plan, &d);
    weft__define(&d, "WEFT_WG", "%zu", c->join_wg);
    weft__define(&d, "WEFT_JOIN", "%zu", c->join_wg / per_group);
    weft__make_kernel(make, &c->k[WEFT__COO_JOIN], &weft__spmv_coo_join_spec, &d);
}

// Local memory of cl/spmv/coo_segment.cl.
static size_t tile_local(const void *of, const void *params)
{
    const struct weft_spmv_params *p = params;
    const size_t acc = weft__spmv_acc_bytes(of), w = (size_t)p->gpu.wg;
    return w * (size_t)p->gpu.ipt * (acc + 4) + w / 32 * (acc + 4) + 4 * w + 8;
}

weft_status weft__spmv_coo_create(struct weft__spmv_coo *c, struct weft_spmv_plan *plan)
{
    const int cpu = weft__spmv_is_cpu(plan);
    const struct weft_tune_spmv_coo *row = WEFT__TUNE_FIND(plan->ctx, tune);
    struct weft__make make = {.ctx = plan->ctx};
    struct weft__defines d = {0};
    weft__local_fn *const local = cpu || c->atomic ? NULL : tile_local;
    // A hybrid's tuning values belong to its ELL part.
    struct weft_spmv_params *p = &plan->info.params, rest = {0};
    if (p->policy.algo == WEFT_SPMV_ALGO_COO || p->policy.algo == WEFT_SPMV_ALGO_COO_ATOMIC)
        weft__spmv_resolve(&make, plan, row, local);
    else
        make.status = weft__tunables_resolve(&weft__spmv_coo_tunables[cpu ? BY_CPU : BY_GPU], plan->ctx, p = &rest, row,
                                             local, plan);
    if (make.status)
        return make.status;
    const struct weft__spmv_sizes sizes = weft__spmv_sizes(p, plan->info.schedule);
    c->bytes = weft__mul((size_t)c->nnz, 8 + weft_type_bytes(plan->a.type));
    c->wg = (size_t)sizes.wg;
    weft__spmv_define(plan, &d);
    weft__define(&d, "WEFT_WG", "%d", sizes.wg);
    if (c->atomic) {
        c->groups = weft__groups(weft__ceil_div((size_t)c->nnz, c->wg), c->wg);
        weft__define(&d, "WEFT_ATOMIC", "1");
        make.status = weft__spmv_atomic_check(plan);
        weft__make_kernel(&make, &c->k[WEFT__COO_RUN], &weft__spmv_atomic_spec, &d);
        return make.status;
    }
    c->tile = cpu ? weft__spmv_cpu_tile(plan, c->nnz, row->tiles) : (cl_uint)(sizes.wg * sizes.ipt);
    const size_t tiles = weft__ceil_div((size_t)c->nnz, c->tile);
    if (tiles >= UINT32_MAX)
        return weft__fail(plan->ctx, WEFT_ERANGE, "%zu tiles of entries, a plan counts less than 2^32 - 1", tiles);
    c->tiles = (cl_uint)tiles;
    c->groups = weft__groups(weft__ceil_div(c->tiles, cpu ? c->wg : 1), c->wg);
    if (!cpu) {
        weft__define(&d, "WEFT_IPT", "%d", sizes.ipt);
        weft__define(&d, "WEFT_TILED", "1");
    }
    const size_t sums = c->tiles * weft__spmv_acc_bytes(plan);
    weft__spmv_make_buffer(&make, &c->b[WEFT__COO_PART], sums, "sums behind each tile");
    weft__spmv_make_buffer(&make, &c->b[WEFT__COO_HEAD], sums, "sums before each tile");
    c->workspace_bytes = make.bytes;
    weft__make_kernel(&make, &c->k[WEFT__COO_RUN], cpu ? &weft__spmv_coo_cpu_spec : &weft__spmv_segment_spec, &d);
    join_make(&make, c, plan);
    return make.status;
}

weft_status weft__spmv_coo_bind(const struct weft__spmv_coo *c, struct weft_spmv_plan *plan)
{
    const cl_long nnz = c->nnz;
    const cl_mem val = c->b[c->b[WEFT__COO_VAL] ? WEFT__COO_VAL : WEFT__COO_COL];
    weft_status status = WEFT_OK;
    for (int i = 0; i < WEFT__COO_KERNELS && !status && c->k[i]; i++)
        status =
            WEFT__BIND(plan->ctx, c->k[i], WEFT__ARG(row, c->b[WEFT__COO_ROW]), WEFT__ARG(col, c->b[WEFT__COO_COL]),
                       WEFT__ARG(val), WEFT__ARG(part, c->b[WEFT__COO_PART]), WEFT__ARG(head, c->b[WEFT__COO_HEAD]),
                       WEFT__ARG(nnz), WEFT__ARG(tile, c->tile), WEFT__ARG(tiles, c->tiles));
    return status;
}

weft_status weft__spmv_coo_run(const struct weft__spmv_coo *c, struct weft_spmv_plan *plan, struct weft__stream *stream,
                               const struct weft__spmv_call *call)
{
    weft__spmv_launch(plan, stream, c->k[WEFT__COO_RUN], c->groups, c->wg, call);
    return c->atomic ? stream->status
                     : weft__spmv_launch(plan, stream, c->k[WEFT__COO_JOIN], c->join_groups, c->join_wg, call);
}

void weft__spmv_coo_release(struct weft__spmv_coo *c)
{
    weft__parts_release(c->k, WEFT__COO_KERNELS, c->b, WEFT__COO_BUFFERS);
}

weft_status weft__spmv_rows_expand(struct weft__stream *stream, cl_mem ptr, enum weft_ofs ofs, int64_t m, int64_t nnz,
                                   cl_mem row)
{
    struct weft_expand_plan *expand = NULL;
    if (!stream->status)
        stream->status = weft_expand_plan_create(&expand, stream->ctx, m, nnz, ofs, NULL);
    if (!stream->status)
        stream->status = weft_expand_run(expand, stream->queue, row, ptr, m, nnz, 0, NULL, NULL);
    weft__spmv_finish(stream);
    weft_expand_plan_destroy(&expand);
    return stream->status;
}

struct coo_state {
    struct weft__spmv_coo coo;
    struct weft__kernel *scale;
};

// The columns and values are the caller's own.
static weft_status coo_fill(struct weft_spmv_plan *plan, cl_command_queue queue, const struct weft_device_csr *a)
{
    (void)queue;
    struct coo_state *s = plan->state;
    weft_status status = weft__spmv_retain(plan->ctx, &s->coo.b[WEFT__COO_COL], a->col);
    if (!status && a->val)
        status = weft__spmv_retain(plan->ctx, &s->coo.b[WEFT__COO_VAL], a->val);
    return status ? status : weft__spmv_coo_bind(&s->coo, plan);
}

static weft_status coo_create(struct weft_spmv_plan *plan, cl_command_queue queue)
{
    const struct weft_device_csr *a = &plan->a;
    struct weft__make make = {.ctx = plan->ctx};
    struct coo_state *s = plan->state = weft__make_memory(&make, sizeof *s, "a plan");
    if (!s)
        return make.status;
    s->coo.nnz = a->nnz;
    s->coo.atomic = plan->info.params.policy.algo == WEFT_SPMV_ALGO_COO_ATOMIC;
    make.status = weft__spmv_coo_create(&s->coo, plan);
    weft__spmv_make_scale(&make, &s->scale, plan);
    struct weft__spmv_clock clock = weft__spmv_clock();
    weft__spmv_make_buffer(&make, &s->coo.b[WEFT__COO_ROW], weft__mul((size_t)a->nnz, 4), "row indices");
    struct weft__stream stream = weft__spmv_stream(&make, queue);
    weft__spmv_rows_expand(&stream, a->row_ptr, a->ofs, a->m, a->nnz, s->coo.b[WEFT__COO_ROW]);
    plan->info.convert_ms = weft__spmv_clock_ms(&clock);
    plan->info.format_bytes = s->coo.bytes;
    plan->info.workspace_bytes += s->coo.workspace_bytes;
    return stream.status ? stream.status : coo_fill(plan, queue, a);
}

static weft_status coo_run(struct weft_spmv_plan *plan, struct weft__stream *stream, const struct weft__spmv_call *call)
{
    const struct coo_state *s = plan->state;
    const cl_mem *b = s->coo.b;
    if (!stream->status)
        stream->status = WEFT__ALONE(plan->ctx, {"y", call->y, 1}, {"col", b[WEFT__COO_COL], b[WEFT__COO_COL] != NULL},
                                     {"val", b[WEFT__COO_VAL], b[WEFT__COO_VAL] != NULL});
    weft__spmv_scale(s->scale, plan, stream, call);
    return weft__spmv_coo_run(&s->coo, plan, stream, call);
}

static void coo_destroy(void *state)
{
    struct coo_state *s = state;
    weft__spmv_coo_release(&s->coo);
    weft__kernel_release(&s->scale);
    free(s);
}

const struct weft__spmv_method weft__spmv_coo = {
    .create = coo_create, .fill = coo_fill, .run = coo_run, .destroy = coo_destroy};
const struct weft__spmv_method weft__spmv_coo_atomic = {
    .create = coo_create, .fill = coo_fill, .run = coo_run, .destroy = coo_destroy};
