// SPDX-License-Identifier: Apache-2.0
// MergeTrans on a CPU; cl/transpose/merge_cpu.cl describes it. Entries alternate between the output and one scratch
// copy, so that the last round writes the output; pointers of pieces alternate between two scratch buffers.
//
//   pass  | reads         | writes                         | form of an entry on its way  | buffers
//   local | A             | pieces transposed on their own | row and val; the column is   | PTR0, SPAN0, MID_*
//         |               |                                | where its piece's pointers   |
//         |               |                                | say                          |
//   merge | `ways` pieces | one piece of them; last: A^T   | the same                     | PTR*, SPAN*, MID_*
#include "host/src/core/make.h"
#include "host/src/transpose/method.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAYS_BITS  2 // log2 of the pieces merged at once
#define SPAN_BYTES 8 // of span_t in the kernels

enum { PTR0, PTR1, SPAN0, SPAN1, MID_ROW, MID_VAL, NBUFFERS };
enum { LOCAL, MERGE, NKERNELS };
static const struct weft__kernel_spec specs[NKERNELS] = {
    [LOCAL] = {"cpu_local", {"transpose/merge_cpu.cl", "transpose/pos.clh", "transpose/cpu.clh"}},
    [MERGE] = {"cpu_merge", {"transpose/merge_cpu.cl", "transpose/pos.clh", "transpose/cpu.clh"}},
};

static const struct weft__tunable values[] = {
    {WEFT__TUNABLE_BY_SHAPE("bits", struct weft_transpose_params, cpu.bits), .low = 1, .high = 10, .step = 1,
     .kept = WEFT__KEPT, .help = "log2 of the pieces merged at once"},
    {WEFT__TRANSPOSE_CHUNKS},
};
const struct weft__tunables weft__transpose_merge_cpu_tunables[] = {
    {"transpose", "merge", WEFT_SCHEDULE_CPU, "transpose.merge", WEFT__TUNABLES(values), {0}},
    {0},
};

struct layout {
    uint32_t pieces, ways;
    int rounds;
};

struct merge_cpu {
    struct weft__transpose_shape shape;
    struct layout l;
    struct weft__kernel *k[NKERNELS];
    cl_mem b[NBUFFERS];
};

static uint32_t merged(const struct layout *l, uint32_t pieces) // pieces after one more round
{
    return (pieces - 1) / l->ways + 1;
}

static void layout_make(struct layout *l, const struct weft_transpose_params *p)
{
    *l = (struct layout){.pieces = (uint32_t)p->cpu.chunks, .ways = UINT32_C(1) << p->cpu.bits};
    for (uint32_t pieces = l->pieces; pieces > 1; pieces = merged(l, pieces))
        l->rounds++;
}

static void scratch(struct weft__scratch out[NBUFFERS], const struct layout *l,
                    const struct weft__transpose_shape *shape)
{
    const size_t width = weft__mul((size_t)shape->n + 1, weft_ofs_bytes(shape->ofs));
    const size_t mid = l->rounds > 0 ? (size_t)shape->nnz : 0, spans = (size_t)l->pieces * SPAN_BYTES;
    const struct weft__scratch needs[NBUFFERS] = {
        [PTR0] = {l->rounds > 0 ? weft__mul(l->pieces, width) : 0, .what = "pointers of pieces"},
        [PTR1] = {l->rounds > 1 ? weft__mul(merged(l, l->pieces), width) : 0, .what = "pointers of pieces"},
        [SPAN0] = {spans, .what = "columns of pieces"},
        [SPAN1] = {spans, .what = "columns of pieces"},
        [MID_ROW] = {weft__mul(mid, 4), .what = "rows of pieces"},
        [MID_VAL] = {weft__mul(mid, weft_type_bytes(shape->type)), .what = "values of pieces"},
    };
    memcpy(out, needs, sizeof needs);
}

static weft_status plan(struct weft_context *ctx, const struct weft__transpose_shape *shape,
                        struct weft_transpose_info *info)
{
    struct weft_transpose_params *p = &info->params;
    weft_status status = weft__transpose_cpu_params(ctx, shape, p, weft__transpose_merge_cpu_tunables);
    if (status)
        return status;
    if (!p->cpu.bits)
        p->cpu.bits = WAYS_BITS;
    struct layout l;
    struct weft__scratch needs[NBUFFERS];
    layout_make(&l, p);
    scratch(needs, &l, shape);
    info->passes = 1 + l.rounds;
    info->workspace_bytes = weft__scratch_bytes(needs, NBUFFERS);
    snprintf(info->why, sizeof info->why, "merge, CPU schedule, %u pieces, %u merged at once", l.pieces, l.ways);
    return WEFT_OK;
}

static void destroy(void **state)
{
    struct merge_cpu *s = *state;
    if (!s)
        return;
    weft__parts_release(s->k, NKERNELS, s->b, NBUFFERS);
    free(s);
    *state = NULL;
}

static weft_status create(void **state, struct weft__transpose_made *made, struct weft_context *ctx,
                          const struct weft__transpose_shape *shape, const struct weft_transpose_info *info)
{
    struct weft__make make = {.ctx = ctx};
    struct merge_cpu *s = *state = weft__make_memory(&make, sizeof *s, "a transposition");
    if (!s)
        return make.status;
    struct weft__defines d = {0};
    struct weft__scratch needs[NBUFFERS];
    s->shape = *shape;
    layout_make(&s->l, &info->params);
    scratch(needs, &s->l, shape);
    weft__make_buffers(&make, s->b, needs, NBUFFERS);
    weft__transpose_cpu_defines(&d, shape, shape->ofs); // pieces have pointers like A^T's
    weft__make_kernel(&make, &s->k[LOCAL], &specs[LOCAL], &d);
    if (s->l.rounds)
        weft__make_kernel(&make, &s->k[MERGE], &specs[MERGE], &d);
    *made = (struct weft__transpose_made){make.programs, &s->l};
    if (make.status)
        destroy(state);
    return make.status;
}

// Pieces enough for a round, or for two where there are more.
static int few(struct weft__transpose_few *few, struct weft_context *ctx, const struct weft__transpose_shape *shape,
               const struct weft__transpose_made *made)
{
    const struct layout *l = made->layout;
    struct weft_transpose_params *p = &few->params;
    (void)ctx, (void)shape;
    p->cpu.chunks = (int)weft__min((size_t)p->cpu.chunks, WEFT__FEW_CHUNKS);
    if (l->rounds > 1)
        p->cpu.bits = (int)weft__min((size_t)p->cpu.bits, 2);
    return !few->diagonals;
}

static weft_status run(void *state, struct weft__stream *stream, const struct weft_device_csr *a,
                       const struct weft_device_csr *at)
{
    struct merge_cpu *s = state;
    const struct layout *l = &s->l;
    cl_int m = (cl_int)s->shape.m, n = (cl_int)s->shape.n;
    cl_long nnz = s->shape.nnz;
    cl_mem row_ptr = s->shape.rows_given ? NULL : a->row_ptr, row = s->shape.rows_given ? a->row_ptr : NULL;
    cl_mem rows[2] = {at->col, s->b[MID_ROW]}, vals[2] = {at->val, s->b[MID_VAL]};
    cl_uint pieces = l->pieces, ways = l->ways;
    int here = l->rounds % 2; // where entries lie: 0 in the output, 1 in scratch
    cl_mem ptr = l->rounds ? s->b[PTR0] : at->row_ptr;
    WEFT__LAUNCH(stream, s->k[LOCAL], pieces, 1, WEFT__ARG(row_ptr), WEFT__ARG(row), WEFT__ARG(col, a->col),
                 WEFT__ARG(val, a->val), WEFT__ARG(ptr), WEFT__ARG(span, s->b[SPAN0]), WEFT__ARG(out_row, rows[here]),
                 WEFT__ARG(out_val, vals[here]), WEFT__ARG(m), WEFT__ARG(n), WEFT__ARG(nnz));
    for (int round = 0; round < l->rounds; round++) {
        cl_uint left = merged(l, pieces), range_bits = weft__bits_for((l->pieces - 1) / left + 1);
        cl_mem out = round + 1 == l->rounds ? at->row_ptr : s->b[PTR1 - round % 2];
        WEFT__LAUNCH(stream, s->k[MERGE], (size_t)left << range_bits, 1, WEFT__ARG(ptr),
                     WEFT__ARG(span, s->b[SPAN0 + round % 2]), WEFT__ARG(row, rows[here]), WEFT__ARG(val, vals[here]),
                     WEFT__ARG(out_ptr, out), WEFT__ARG(out_span, s->b[SPAN1 - round % 2]),
                     WEFT__ARG(out_row, rows[1 - here]), WEFT__ARG(out_val, vals[1 - here]), WEFT__ARG(n),
                     WEFT__ARG(pieces), WEFT__ARG(ways), WEFT__ARG(range_bits));
        ptr = out;
        here = 1 - here;
        pieces = left;
    }
    return stream->status;
}

void weft__transpose_merge_cpu_variants(weft__variant_fn *fn, void *arg)
{
    for (int i = 0; i < NKERNELS; i++)
        weft__transpose_cpu_variants(fn, arg, &specs[i], NULL, 0);
}

const struct weft__transpose_method weft__transpose_merge_cpu = {"merge", plan, create, few, run, destroy};
