// SPDX-License-Identifier: Apache-2.0
// CSR summed up by a bit for each entry: a matrix beside which such bits stand.
#include "host/src/core/fill.h"
#include "host/src/core/limits.h"
#include "host/src/core/tune.h"
#include "host/src/primitive/scan.h"
#include "host/src/spmv/spmv.h"

#include <stdlib.h>

const struct weft__kernel_spec weft__rows_flags_spec = {"rows_flags", "spmv/rows_flags.cl"};
const struct weft__kernel_spec weft__rows_flags_count_spec = {"rows_flags_count", "spmv/rows_flags.cl"};
const struct weft__kernel_spec weft__rows_flags_before_spec = {"rows_flags_before", "spmv/rows_flags.cl"};
const struct weft__kernel_spec weft__rows_flags_rows_spec = {"rows_flags_rows", "spmv/rows_flags.cl"};
const struct weft__kernel_spec weft__rows_flags_cross_spec = {"rows_flags_cross", "spmv/rows_flags.cl"};
const struct weft__kernel_spec weft__spmv_flags_spec = {"spmv_csr_flags", "spmv/csr_flags.cl"};
const struct weft__kernel_spec weft__spmv_flags_join_spec = {"spmv_flags_join", "spmv/flags_join.cl"};

struct weft_tune_spmv_flags {
    struct weft__tune_key key;
    int wg, ipt;
    int short_wg, short_ipt; // where rows are shorter than SHORT_ROW on average
    int read;
};
// On an H200, f32: power law of 5.6 entries a row 0.0413 ms with 256 x 4, 0.0448 with 256 x 8, 0.0444 with 128 x 8; of 13
// and 10 entries (boyd1, cnr-2000) 0.0105 and 0.0181 with 128 x 8, 0.0110 and 0.0185 with 256 x 8, 0.0121 and 0.0208 with
// 256 x 4.
static const struct weft_tune_spmv_flags tune[] = {{{WEFT_SCHEDULE_GPU, NULL, NULL, "default"}, 128, 8, 256, 4, 2}};
#define SHORT_ROW 8

#define ROWS_WG 64 // of the kernels that prepare
#define JOIN_WG 64

struct flags_state {
    struct weft__kernel *run, *join; // join: NULL where tiles join their rows themselves
    size_t groups, wg;
    cl_uint tiles, tile, gaps, empties;
    cl_ulong words;
    cl_mem flags, row_of, empty, cross, part, head, arrived;
};

static void flags_destroy(void *state)
{
    struct flags_state *s = state;
    weft__kernel_release(&s->run);
    weft__kernel_release(&s->join);
    weft__buffer_release(&s->flags);
    weft__buffer_release(&s->row_of);
    weft__buffer_release(&s->empty);
    weft__buffer_release(&s->cross);
    weft__buffer_release(&s->part);
    weft__buffer_release(&s->head);
    weft__buffer_release(&s->arrived);
    free(s);
}

static weft_status memory_create(struct flags_state *s, struct weft_spmv_plan *plan)
{
    const size_t acc = weft__spmv_acc_bytes(plan);
    const struct {
        cl_mem *mem;
        size_t bytes;
        const char *what;
    } buffers[] = {
        {&s->flags, (size_t)s->words * 8, "bits where rows begin"},
        {&s->cross, ((size_t)s->tiles + 1) * 8, "rows that tiles share"},
        {&s->part, (size_t)s->tiles * acc, "sums behind each tile"},
        {&s->head, (size_t)s->tiles * acc, "sums before each tile"},
        {&s->arrived, weft__caps_of(plan->ctx).fence ? (size_t)s->tiles * 8 : 0, "tiles that came to a shared row"},
        {&s->row_of, s->gaps ? ((size_t)plan->a.m - s->empties + 1) * 4 : 0, "rows with entries"},
        {&s->empty, (size_t)s->empties * 4, "rows without entries"},
    };
    weft_status status = WEFT_OK;
    for (size_t i = 0; !status && i < sizeof buffers / sizeof *buffers; i++) {
        if (!buffers[i].bytes)
            continue;
        status = weft__buffer_create(buffers[i].mem, plan->ctx, buffers[i].bytes, buffers[i].what);
        plan->info.workspace_bytes += buffers[i].bytes;
    }
    return status;
}

// Launch over `count` elements.
#define EACH(stream, kernel, count, ...)                                                                               \
    WEFT__LAUNCH(stream, kernel, weft__groups(weft__ceil_div((size_t)(count), ROWS_WG), ROWS_WG), ROWS_WG, __VA_ARGS__)

static weft_status flags_fill(struct flags_state *s, struct weft_spmv_plan *plan, cl_command_queue queue)
{
    enum { MARK, COUNT, BEFORE, ROWS, CROSS, KERNELS };
    static const struct weft__kernel_spec *const specs[KERNELS] = {
        &weft__rows_flags_spec, &weft__rows_flags_count_spec, &weft__rows_flags_before_spec,
        &weft__rows_flags_rows_spec, &weft__rows_flags_cross_spec};
    struct weft_context *ctx = plan->ctx;
    const cl_mem row_ptr = plan->a.row_ptr;
    const cl_int m = (cl_int)plan->a.m;
    struct weft__kernel *kernels[KERNELS] = {0}, *fill = NULL;
    cl_mem count = NULL, row_of = s->row_of ? s->row_of : s->cross, empty = s->empty ? s->empty : row_of;
    struct weft_scan_plan *scan = NULL;
    struct weft__stream stream = {0};
    struct weft__defines d = {0};
    weft__define_types(&d, WEFT_PATTERN, plan->a.ofs);
    weft__define(&d, "WEFT_WG", "%d", ROWS_WG);
    weft_status status = weft__fill_create(&fill, ctx);
    for (int i = 0; !status && i < KERNELS; i++)
        status = weft__kernel_create(&kernels[i], ctx, specs[i], &d);
    if (!status)
        status = weft__buffer_create(&count, ctx, (size_t)s->words * 4, "rows that begin in each word");
    if (!status)
        status = weft_scan_plan_create(&scan, ctx, WEFT_SCAN_U32, (int64_t)s->words, NULL);
    if (!status)
        status = weft__stream_begin(&stream, ctx, queue, 0, NULL, NULL);
    if (!status)
        status = weft__fill(&stream, fill, s->flags, 0, 2 * s->words, 0);
    if (!status)
        status =
            EACH(&stream, kernels[MARK], m + INT64_C(1), WEFT__ARG(row_ptr), WEFT__ARG(flags, s->flags), WEFT__ARG(m));
    if (!status)
        status = EACH(&stream, kernels[COUNT], s->words, WEFT__ARG(flags, s->flags), WEFT__ARG(count),
                      WEFT__ARG(words, s->words));
    if (!status) {
        weft__scan_enqueue(scan, &stream, count, count, (size_t)s->words);
        status = EACH(&stream, kernels[BEFORE], s->words, WEFT__ARG(before, count), WEFT__ARG(flags, s->flags),
                      WEFT__ARG(words, s->words));
    }
    if (!status && s->gaps)
        status = EACH(&stream, kernels[ROWS], m, WEFT__ARG(row_ptr), WEFT__ARG(flags, s->flags), WEFT__ARG(row_of),
                      WEFT__ARG(empty), WEFT__ARG(m));
    if (!status)
        status = EACH(&stream, kernels[CROSS], s->tiles + UINT64_C(1), WEFT__ARG(row_ptr), WEFT__ARG(flags, s->flags),
                      WEFT__ARG(row_of), WEFT__ARG(cross, s->cross), WEFT__ARG(tile, s->tile),
                      WEFT__ARG(tiles, s->tiles), WEFT__ARG(gaps, s->gaps));
    if (!status && s->arrived)
        status = weft__fill(&stream, fill, s->arrived, 0, 2 * (uint64_t)s->tiles, 0);
    if (!status)
        status = weft__fail_cl(ctx, weft__cl.clFinish(queue), "clFinish");
    weft_scan_plan_destroy(&scan);
    weft__buffer_release(&count);
    weft__kernel_release(&fill);
    for (int i = 0; i < KERNELS; i++)
        weft__kernel_release(&kernels[i]);
    return status;
}

// Local memory of cl/spmv_csr_flags.cl.
static size_t tile_local(const void *of, int wg, int ipt)
{
    const size_t acc = weft__spmv_acc_bytes(of), w = (size_t)wg;
    (void)ipt;
    return w / 16 * (acc + 4) + 8 + w * acc;
}

static weft_status params_resolve(struct weft_spmv_plan *plan)
{
    struct weft_spmv_params *p = &plan->info.params;
    const struct weft_tune_spmv_flags *row = WEFT__TUNE_FIND(plan->ctx, tune);
    const int are_short = plan->a.nnz / SHORT_ROW < plan->a.m;
    p->read = p->read ? p->read : row->read;
    return weft__size_resolve(plan->ctx, &p->wg, &p->ipt,
                              &(struct weft__size_rule){.name = "params.",
                                                        .wg = are_short ? row->short_wg : row->wg,
                                                        .wg_step = 32,
                                                        .ipt = are_short ? row->short_ipt : row->ipt,
                                                        .ipt_least = 4,
                                                        .ipt_most = 16,
                                                        .ipt_step = 4,
                                                        .local = tile_local,
                                                        .of = plan});
}

static weft_status kernels_create(struct flags_state *s, struct weft_spmv_plan *plan)
{
    struct weft__defines d = {0}, join = {0};
    weft__spmv_define(plan, &d);
    join = d;
    weft__define(&d, "WEFT_WG", "%d", plan->info.params.wg);
    weft__define(&d, "WEFT_IPT", "%d", plan->info.params.ipt);
    weft__define(&d, "WEFT_GAPS", "%d", (int)s->gaps);
    weft_status status = weft__kernel_create(&s->run, plan->ctx, &weft__spmv_flags_spec, &d);
    if (status || s->arrived || s->tiles < 2)
        return status;
    weft__define(&join, "WEFT_WG", "%d", JOIN_WG);
    return weft__kernel_create(&s->join, plan->ctx, &weft__spmv_flags_join_spec, &join);
}

static weft_status flags_create(struct weft_spmv_plan *plan, cl_command_queue queue)
{
    struct flags_state *s = plan->state = calloc(1, sizeof *s);
    if (!s)
        return weft__fail(plan->ctx, WEFT_ENOMEM, "out of host memory for a plan");
    weft_status status = params_resolve(plan);
    if (status)
        return status;
    s->wg = (size_t)plan->info.params.wg;
    s->tile = (cl_uint)(plan->info.params.wg * plan->info.params.ipt);
    const int64_t tiles = plan->a.nnz ? plan->a.nnz / s->tile + 1 : 0; // a bit behind the last entry ends the last row
    if (tiles >= UINT32_MAX)
        return weft__fail(plan->ctx, WEFT_ERANGE, "csr_flags: %lld tiles of entries, a plan counts less than 2^32 - 1",
                          (long long)tiles);
    s->tiles = (cl_uint)tiles;
    s->words = (cl_ulong)tiles * (s->tile / 32) + 1;
    s->empties = (cl_uint)plan->info.empty_rows;
    s->gaps = s->empties > 0;
    s->groups = weft__groups(s->tiles ? s->tiles : weft__ceil_div((size_t)plan->a.m, s->wg), s->wg);
    status = memory_create(s, plan);
    if (!status)
        status = flags_fill(s, plan, queue);
    return status ? status : kernels_create(s, plan);
}

static weft_status flags_run(struct weft_spmv_plan *plan, struct weft__stream *stream,
                             const struct weft__spmv_call *call)
{
    struct flags_state *s = plan->state;
    const cl_long nnz = plan->a.nnz;
    cl_mem val = weft__spmv_val(plan), row_of = s->row_of ? s->row_of : s->cross, empty = s->empty ? s->empty : row_of,
           part = s->part ? s->part : s->cross, head = s->head ? s->head : s->cross,
           arrived = s->arrived ? s->arrived : s->cross;
    weft_status status =
        WEFT__LAUNCH(stream, s->run, s->groups, s->wg, WEFT__ARG(col, plan->a.col), WEFT__ARG(val),
                     WEFT__ARG(x, call->x), WEFT__ARG(y, call->y), WEFT__ARG(flags, s->flags), WEFT__ARG(row_of),
                     WEFT__ARG(empty), WEFT__ARG(cross, s->cross), WEFT__ARG(part), WEFT__ARG(head), WEFT__ARG(arrived),
                     WEFT__ARG(tiles, s->tiles), WEFT__ARG(nnz), WEFT__ARG(empties, s->empties),
                     WEFT__SPMV_SCALAR(alpha, plan, call->alpha), WEFT__SPMV_SCALAR(beta, plan, call->beta));
    if (status || !s->join)
        return status;
    return WEFT__LAUNCH(stream, s->join, weft__groups(weft__ceil_div(s->tiles, JOIN_WG / 32), JOIN_WG), JOIN_WG,
                        WEFT__ARG(y, call->y), WEFT__ARG(flags, s->flags), WEFT__ARG(row_of),
                        WEFT__ARG(cross, s->cross), WEFT__ARG(part), WEFT__ARG(head), WEFT__ARG(tile, s->tile),
                        WEFT__ARG(tiles, s->tiles), WEFT__ARG(gaps, s->gaps),
                        WEFT__SPMV_SCALAR(alpha, plan, call->alpha), WEFT__SPMV_SCALAR(beta, plan, call->beta));
}

const struct weft__spmv_method weft__spmv_csr_flags = {WEFT_SPMV_CSR_FLAGS, flags_create, NULL, flags_run,
                                                       flags_destroy};
