// SPDX-License-Identifier: Apache-2.0
// ScanTrans on a CPU: direct, or by blocks of columns; cl/transpose_scan_cpu.cl describes both. Which one pays depends
// on where the columns of the matrix lie, so a probe on the device decides, unless the shape leaves no choice.
#include "host/src/transpose/transpose.h"

#include <stdio.h>
#include <stdlib.h>

#define FILE_NAME "transpose/scan_cpu.cl"

// Columns from which blocks can pay: with fewer, counters and open lines of output stay in a cache of 1 or 2 MiB.
// docs/transpose.md has the measurements.
#define BLOCKS_PAY 65536
// Entries that a block should hold, and the least and most bits that number the blocks: more blocks need more open lines
// in the first step, fewer more counters in the second.
#define BLOCK_ENTRIES    2048
#define BLOCK_BITS_LEAST 6
#define BLOCK_BITS_MOST  11
#define SAMPLE_BITS      9 // of SAMPLE_BLOCKS in the kernel

#define SPAN_BYTES 12 // of span_t in the kernels

enum mode { DIRECT, BLOCKS, PROBE }; // as in the kernels

enum { COUNT, SUMS, PLACES, MOVE, FINISH, NKERNELS };
static const struct weft__kernel_spec specs[NKERNELS] = {
    [COUNT] = {"cpu_count", FILE_NAME}, [SUMS] = {"cpu_sums", FILE_NAME},     [PLACES] = {"cpu_places", FILE_NAME},
    [MOVE] = {"cpu_move", FILE_NAME},   [FINISH] = {"cpu_finish", FILE_NAME},
};

struct layout {
    enum mode mode;
    uint32_t chunks, ranges; // of entries, of columns
    uint32_t shift, blocks;  // columns of a block: 2^shift
    uint32_t sample_shift;   // the same for the sample of the probe
    int32_t room;            // columns that a chunk of direct can count
    size_t table, sums;      // counters
    size_t mid_bytes;        // entries kept between the two steps of blocks, or counters of direct
};

struct scan_cpu {
    struct weft__transpose_shape shape;
    struct layout l;
    int units;
    struct weft__kernel *kernels[NKERNELS];
    cl_mem span, table, sums, mid;
};

static void layout_make(struct layout *l, const struct weft__transpose_shape *shape,
                        const struct weft_transpose_params *p)
{
    size_t n = (size_t)shape->n, nnz = (size_t)shape->nnz;
    uint32_t n_bits = weft__bits_for(shape->n);
    uint32_t bits = weft__bits_for(shape->nnz / BLOCK_ENTRIES);
    bits = p->bits                   ? (uint32_t)p->bits
           : bits < BLOCK_BITS_LEAST ? BLOCK_BITS_LEAST
           : bits > BLOCK_BITS_MOST  ? BLOCK_BITS_MOST
                                     : bits;
    *l = (struct layout){.chunks = (uint32_t)p->groups, .ranges = (uint32_t)weft__min((size_t)p->groups, n)};
    l->sample_shift = n_bits > SAMPLE_BITS ? n_bits - SAMPLE_BITS : 0;
    l->shift = n_bits > bits ? n_bits - bits : 0;
    l->blocks = (uint32_t)(((n - 1) >> l->shift) + 1);
    // Fewer for patterns, whose entries take less memory. With less than all columns for each chunk, those that the
    // chunk has may still fit: the device knows, and takes blocks where they do not.
    const size_t most_counters = (shape->type == WEFT_PATTERN ? nnz / 5 * 2 : nnz) + BLOCKS_PAY;
    l->room = (int32_t)weft__min(n, most_counters / l->chunks);
    if (p->bits)
        l->mode = bits >= n_bits ? DIRECT : BLOCKS, l->room = (int32_t)n;
    else if (weft__mul(l->chunks, (size_t)l->room) < n)
        l->mode = BLOCKS;
    else
        l->mode = n > BLOCKS_PAY || (size_t)l->room < n ? PROBE : DIRECT;
    size_t ofs = weft_ofs_bytes(shape->ofs), direct = weft__mul(l->chunks, (size_t)l->room);
    l->table = l->mode == DIRECT ? direct : (size_t)l->chunks * l->blocks;
    l->sums = weft__max(l->ranges, (size_t)l->blocks + 1);
    if (l->mode != DIRECT)
        l->mid_bytes = weft__mul(nnz, 8 + weft_type_bytes(shape->type));
    if (l->mode == PROBE)
        l->mid_bytes = weft__max(l->mid_bytes, weft__mul(direct, ofs));
}

static weft_status plan(struct weft_context *ctx, const struct weft__transpose_shape *shape,
                        struct weft_transpose_info *info)
{
    struct weft_transpose_params *p = &info->params;
    weft_status status = weft__transpose_cpu_params(ctx, shape, p, 31);
    if (status)
        return status;
    struct layout l;
    layout_make(&l, shape, p);
    size_t ofs = weft_ofs_bytes(shape->ofs);
    info->passes = l.mode == DIRECT ? 1 : 2;
    info->workspace_bytes =
        weft__add(weft__mul(weft__add(l.table, l.sums), ofs), weft__add(l.mid_bytes, (size_t)l.chunks * SPAN_BYTES));
    static const char *const why[] = {"direct: the counters of all columns are few or asked for",
                                      "by blocks of columns: asked for, or many more columns than entries",
                                      "direct or by blocks of columns, as a probe of the columns decides"};
    snprintf(info->why, sizeof info->why, "scan, CPU schedule, %u chunks, %s", l.chunks, why[l.mode]);
    return WEFT_OK;
}

static void destroy(void **state)
{
    struct scan_cpu *s = *state;
    if (!s)
        return;
    for (int i = 0; i < NKERNELS; i++)
        weft__kernel_release(&s->kernels[i]);
    cl_mem *buffers[] = {&s->span, &s->table, &s->sums, &s->mid};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        weft__buffer_release(buffers[i]);
    free(s);
    *state = NULL;
}

static weft_status create(void **state, struct weft_context *ctx, const struct weft__transpose_shape *shape,
                          const struct weft_transpose_info *info)
{
    struct scan_cpu *s = calloc(1, sizeof *s);
    *state = s;
    if (!s)
        return weft__fail(ctx, WEFT_ENOMEM, "out of host memory for a transposition");
    s->shape = *shape;
    s->units = ctx->device.compute_units;
    layout_make(&s->l, shape, &info->params);
    struct weft__defines d = {0};
    weft__transpose_cpu_defines(&d, shape);
    weft_status status = WEFT_OK;
    for (int i = 0; i < NKERNELS && !status; i++)
        if (i != FINISH || s->l.mode != DIRECT)
            status = weft__kernel_create(&s->kernels[i], ctx, &specs[i], &d);
    size_t ofs = weft_ofs_bytes(shape->ofs);
    if (!status)
        status = weft__buffer_create(&s->span, ctx, s->l.chunks * SPAN_BYTES, "columns of chunks");
    if (!status)
        status = weft__buffer_create(&s->table, ctx, weft__mul(s->l.table, ofs), "table of counters");
    if (!status)
        status = weft__buffer_create(&s->sums, ctx, s->l.sums * ofs, "sums of counters");
    if (!status && s->l.mid_bytes)
        status = weft__buffer_create(&s->mid, ctx, s->l.mid_bytes, "entries in blocks");
    if (status)
        destroy(state);
    return status;
}

static weft_status run(void *state, struct weft__stream *stream, const struct weft_device_csr *a,
                       const struct weft_device_csr *at)
{
    struct scan_cpu *s = state;
    const struct layout *l = &s->l;
    cl_int m = (cl_int)s->shape.m, n = (cl_int)s->shape.n, room = l->room;
    cl_long nnz = s->shape.nnz;
    cl_uint wanted = l->mode, units = (cl_uint)s->units, chunks = l->chunks, ranges = l->ranges, shift = l->shift,
            blocks = l->blocks, sample_shift = l->sample_shift;
    cl_mem row_ptr = s->shape.rows_given ? NULL : a->row_ptr, row = s->shape.rows_given ? a->row_ptr : NULL;
    cl_mem direct = l->mode == PROBE ? s->mid : s->table;
    WEFT__LAUNCH(stream, s->kernels[COUNT], chunks, 1, WEFT__ARG(col, a->col), WEFT__ARG(table, direct),
                 WEFT__ARG(span, s->span), WEFT__ARG(n), WEFT__ARG(nnz), WEFT__ARG(room), WEFT__ARG(wanted),
                 WEFT__ARG(sample_shift), WEFT__ARG(units));
    WEFT__LAUNCH(stream, s->kernels[SUMS], chunks, 1, WEFT__ARG(span, s->span), WEFT__ARG(table, direct),
                 WEFT__ARG(sum, s->sums), WEFT__ARG(n), WEFT__ARG(ranges), WEFT__ARG(room), WEFT__ARG(col, a->col),
                 WEFT__ARG(block_table, s->table), WEFT__ARG(nnz), WEFT__ARG(shift), WEFT__ARG(blocks));
    WEFT__LAUNCH(stream, s->kernels[PLACES], chunks, 1, WEFT__ARG(span, s->span), WEFT__ARG(table, direct),
                 WEFT__ARG(sum, s->sums), WEFT__ARG(out_ptr, at->row_ptr), WEFT__ARG(n), WEFT__ARG(nnz),
                 WEFT__ARG(ranges), WEFT__ARG(room), WEFT__ARG(block_table, s->table), WEFT__ARG(blocks));
    WEFT__LAUNCH(stream, s->kernels[MOVE], chunks, 1, WEFT__ARG(span, s->span), WEFT__ARG(row_ptr), WEFT__ARG(row),
                 WEFT__ARG(col, a->col), WEFT__ARG(val, a->val), WEFT__ARG(table, direct), WEFT__ARG(out_row, at->col),
                 WEFT__ARG(out_val, at->val), WEFT__ARG(m), WEFT__ARG(nnz), WEFT__ARG(room),
                 WEFT__ARG(block_table, s->table), WEFT__ARG(mid, s->mid), WEFT__ARG(shift), WEFT__ARG(blocks));
    if (l->mode != DIRECT)
        WEFT__LAUNCH(stream, s->kernels[FINISH], blocks, 1, WEFT__ARG(span, s->span), WEFT__ARG(block_ptr, s->sums),
                     WEFT__ARG(mid, s->mid), WEFT__ARG(out_ptr, at->row_ptr), WEFT__ARG(out_row, at->col),
                     WEFT__ARG(out_val, at->val), WEFT__ARG(n), WEFT__ARG(chunks), WEFT__ARG(shift), WEFT__ARG(blocks));
    return stream->status;
}

void weft__transpose_scan_cpu_variants(weft__variant_fn *fn, void *arg)
{
    for (int i = 0; i < NKERNELS; i++)
        weft__transpose_cpu_variants(fn, arg, &specs[i]);
}

const struct weft__transpose_method weft__transpose_scan_cpu = {"scan", plan, create, run, destroy};
