// SPDX-License-Identifier: Apache-2.0
// MergeTrans on a CPU; cl/transpose_merge_cpu.cl describes it. Entries alternate between the output and one scratch
// copy, so that the last round writes the output; pointers of pieces alternate between two scratch buffers.
#include "host/src/transpose/transpose.h"

#include <stdio.h>
#include <stdlib.h>

#define WAYS_BITS  2 // log2 of the pieces merged at once
#define SPAN_BYTES 8 // of span_t in the kernels

static const struct weft__kernel_spec local_spec = {"cpu_local", "transpose/merge_cpu.cl"};
static const struct weft__kernel_spec merge_spec = {"cpu_merge", "transpose/merge_cpu.cl"};

struct layout {
    uint32_t pieces, ways;
    int rounds;
    size_t ptr[2]; // offsets in each buffer of pointers
    size_t spans;  // bytes in each buffer of columns of pieces
    size_t mid;    // entries of the scratch copy
};

struct merge_cpu {
    struct weft__transpose_shape shape;
    struct layout l;
    struct weft__kernel *local, *merge;
    cl_mem ptr[2], span[2], mid_row, mid_val;
};

static uint32_t merged(const struct layout *l, uint32_t pieces) // pieces after one more round
{
    return (pieces - 1) / l->ways + 1;
}

static void layout_make(struct layout *l, const struct weft__transpose_shape *shape,
                        const struct weft_transpose_params *p)
{
    *l = (struct layout){.pieces = (uint32_t)p->groups, .ways = UINT32_C(1) << p->bits};
    for (uint32_t pieces = l->pieces; pieces > 1; pieces = merged(l, pieces))
        l->rounds++;
    l->spans = l->pieces * SPAN_BYTES;
    size_t width = (size_t)shape->n + 1;
    l->ptr[0] = l->rounds > 0 ? weft__mul(l->pieces, width) : 0;
    l->ptr[1] = l->rounds > 1 ? weft__mul(merged(l, l->pieces), width) : 0;
    l->mid = l->rounds > 0 ? (size_t)shape->nnz : 0;
}

static weft_status plan(struct weft_context *ctx, const struct weft__transpose_shape *shape,
                        struct weft_transpose_info *info)
{
    struct weft_transpose_params *p = &info->params;
    weft_status status = weft__transpose_cpu_params(ctx, shape, p, 10);
    if (status)
        return status;
    if (!p->bits)
        p->bits = WAYS_BITS;
    struct layout l;
    layout_make(&l, shape, p);
    info->passes = 1 + l.rounds;
    info->workspace_bytes = weft__add(weft__mul(weft__add(l.ptr[0], l.ptr[1]), weft_ofs_bytes(shape->ofs)),
                                      weft__add(weft__mul(l.mid, 4 + weft_type_bytes(shape->type)), 2 * l.spans));
    snprintf(info->why, sizeof info->why, "merge, CPU schedule, %u pieces, %u merged at once", l.pieces, l.ways);
    return WEFT_OK;
}

static void destroy(void **state)
{
    struct merge_cpu *s = *state;
    if (!s)
        return;
    weft__kernel_release(&s->local);
    weft__kernel_release(&s->merge);
    cl_mem *buffers[] = {&s->ptr[0], &s->ptr[1], &s->span[0], &s->span[1], &s->mid_row, &s->mid_val};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        weft__buffer_release(buffers[i]);
    free(s);
    *state = NULL;
}

static weft_status create(void **state, struct weft_context *ctx, const struct weft__transpose_shape *shape,
                          const struct weft_transpose_info *info)
{
    struct merge_cpu *s = calloc(1, sizeof *s);
    *state = s;
    if (!s)
        return weft__fail(ctx, WEFT_ENOMEM, "out of host memory for a transposition");
    s->shape = *shape;
    layout_make(&s->l, shape, &info->params);
    struct weft__defines d = {0};
    weft__transpose_cpu_defines(&d, shape);
    size_t ofs = weft_ofs_bytes(shape->ofs), val = weft_type_bytes(shape->type);
    weft_status status = weft__kernel_create(&s->local, ctx, &local_spec, &d);
    if (!status && s->l.rounds)
        status = weft__kernel_create(&s->merge, ctx, &merge_spec, &d);
    for (int i = 0; i < 2; i++)
        if (!status && s->l.ptr[i])
            status = weft__buffer_create(&s->ptr[i], ctx, weft__mul(s->l.ptr[i], ofs), "pointers of pieces");
    for (int i = 0; i < 2 && !status; i++)
        status = weft__buffer_create(&s->span[i], ctx, s->l.spans, "columns of pieces");
    if (!status && s->l.mid)
        status = weft__buffer_create(&s->mid_row, ctx, weft__mul(s->l.mid, 4), "rows of pieces");
    if (!status && s->l.mid && val)
        status = weft__buffer_create(&s->mid_val, ctx, weft__mul(s->l.mid, val), "values of pieces");
    if (status)
        destroy(state);
    return status;
}

static weft_status run(void *state, struct weft__stream *stream, const struct weft_device_csr *a,
                       const struct weft_device_csr *at)
{
    struct merge_cpu *s = state;
    const struct layout *l = &s->l;
    cl_int m = (cl_int)s->shape.m, n = (cl_int)s->shape.n;
    cl_long nnz = s->shape.nnz;
    cl_mem row_ptr = s->shape.rows_given ? NULL : a->row_ptr, row = s->shape.rows_given ? a->row_ptr : NULL;
    cl_mem rows[2] = {at->col, s->mid_row}, vals[2] = {at->val, s->mid_val};
    cl_uint pieces = l->pieces, ways = l->ways;
    int here = l->rounds % 2; // where entries lie: 0 in the output, 1 in scratch
    cl_mem ptr = l->rounds ? s->ptr[0] : at->row_ptr;
    WEFT__LAUNCH(stream, s->local, pieces, 1, WEFT__ARG(row_ptr), WEFT__ARG(row), WEFT__ARG(col, a->col),
                 WEFT__ARG(val, a->val), WEFT__ARG(ptr), WEFT__ARG(span, s->span[0]), WEFT__ARG(out_row, rows[here]),
                 WEFT__ARG(out_val, vals[here]), WEFT__ARG(m), WEFT__ARG(n), WEFT__ARG(nnz));
    for (int round = 0; round < l->rounds; round++) {
        cl_uint left = merged(l, pieces), range_bits = weft__bits_for((l->pieces - 1) / left + 1);
        cl_mem out = round + 1 == l->rounds ? at->row_ptr : s->ptr[1 - round % 2];
        WEFT__LAUNCH(stream, s->merge, (size_t)left << range_bits, 1, WEFT__ARG(ptr),
                     WEFT__ARG(span, s->span[round % 2]), WEFT__ARG(row, rows[here]), WEFT__ARG(val, vals[here]),
                     WEFT__ARG(out_ptr, out), WEFT__ARG(out_span, s->span[1 - round % 2]),
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
    weft__transpose_cpu_variants(fn, arg, &local_spec);
    weft__transpose_cpu_variants(fn, arg, &merge_spec);
}

const struct weft__transpose_method weft__transpose_merge_cpu = {"merge", plan, create, run, destroy};
