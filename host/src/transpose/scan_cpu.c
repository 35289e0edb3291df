// SPDX-License-Identifier: Apache-2.0
// ScanTrans on a CPU: direct, or by blocks of columns; cl/transpose/scan_cpu.cl describes both. Which one pays depends
// on where the columns of the matrix lie, so a probe on the device decides, unless the shape leaves no choice.
//
//   pass   | reads          | writes                         | form of an entry on its way | buffers
//   count  | col            | columns and counters of chunks | none                        | SPAN, DIRECT
//   sums   | counters, col  | sums of ranges of columns; by  | none                        | SPAN, DIRECT, SUMS,
//          |                | blocks: counters of blocks     |                             | TABLE
//   places | counters, sums | A^T row_ptr, places of chunks  | none                        | the same
//   move   | A, places      | direct: A^T; by blocks: MID    | by blocks: row, col, val    | SPAN, DIRECT, TABLE,
//          |                |                                |                             | MID
//   finish | MID            | by blocks: A^T                 | none                        | SPAN, SUMS, MID
//
// DIRECT is TABLE, or MID where the probe may take blocks: then one memory serves either way.
#include "host/src/core/make.h"
#include "host/src/transpose/method.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILES                                                                                                          \
    {                                                                                                                  \
        "transpose/scan_cpu.cl", "transpose/pos.clh", "transpose/cpu.clh"                                              \
    }

// Blocks can pay where the result has more bytes than a processor has addresses of pages at hand, and more columns than counters and open
// lines of output fit a cache of 1 or 2 MiB: those lines alone, where there are more bytes still (docs/log/transpose-cpu.md).
#define PAGES_PAY  (9 << 20)
#define BLOCKS_PAY 65536
#define MANY_PAGES (16 << 20)
#define LINES_PAY  8192

// Entries that a block should hold, and the least and most bits that number the blocks: more blocks need more open
// lines in the first step, fewer more counters in the second.
#define BLOCK_ENTRIES    16384
#define BLOCK_BITS_LEAST 8
#define BLOCK_BITS_MOST  11
#define SAMPLE_BITS      9  // of SAMPLE_BLOCKS in the kernel
#define DIRECT_BITS      31 // as many as all columns need

#define SPAN_BYTES 12 // of span_t in the kernels
#define PACKED     "WEFT_PACKED"

static const struct weft__tunable values[] = {
    {WEFT__TUNABLE_BY_SHAPE("bits", struct weft_transpose_params, cpu.bits), .low = 1, .high = DIRECT_BITS, .step = 1,
     .kept = WEFT__KEPT, .help = "as many as all columns need mean the direct form, fewer 2^bits blocks of columns"},
    {WEFT__TRANSPOSE_CHUNKS},
};
const struct weft__tunables weft__transpose_scan_cpu_tunables[] = {
    {"transpose", NULL, WEFT_SCHEDULE_CPU, "transpose.scan", WEFT__TUNABLES(values), {0}},
    {0},
};

enum mode { DIRECT, BLOCKS, PROBE }; // as in the kernels

enum { SPAN, TABLE, SUMS, MID, NBUFFERS };
enum { COUNT, SUM, PLACES, MOVE, FINISH, NKERNELS };
static const struct weft__kernel_spec specs[NKERNELS] = {
    [COUNT] = {"cpu_count", FILES}, [SUM] = {"cpu_sums", FILES},      [PLACES] = {"cpu_places", FILES},
    [MOVE] = {"cpu_move", FILES},   [FINISH] = {"cpu_finish", FILES},
};

struct layout {
    enum mode mode;
    uint32_t chunks, ranges; // of entries, of columns
    uint32_t shift, blocks;  // columns of a block: 2^shift
    uint32_t sample_shift;   // the same for the sample of the probe
    int32_t room;            // columns that a chunk of direct can count
    size_t table, sums;      // counters
    size_t mid_bytes;        // entries kept between the two steps of blocks, or counters of direct
    int packed;              // row, and column in its block, of such an entry share a word
};

struct scan_cpu {
    struct weft__transpose_shape shape;
    struct layout l;
    struct weft__kernel *k[NKERNELS];
    cl_mem b[NBUFFERS];
};

static bool blocks_may(size_t columns, size_t bytes)
{
    return (columns > BLOCKS_PAY && bytes > PAGES_PAY) || (columns > LINES_PAY && bytes > MANY_PAGES);
}

static void layout_make(struct layout *l, const struct weft__transpose_shape *shape,
                        const struct weft_transpose_params *p)
{
    size_t n = (size_t)shape->n, nnz = (size_t)shape->nnz;
    uint32_t n_bits = weft__bits_for(shape->n);
    uint32_t bits = weft__bits_for(shape->nnz / BLOCK_ENTRIES);
    bits = p->cpu.bits               ? (uint32_t)p->cpu.bits
           : bits < BLOCK_BITS_LEAST ? BLOCK_BITS_LEAST
           : bits > BLOCK_BITS_MOST  ? BLOCK_BITS_MOST
                                     : bits;
    *l = (struct layout){.chunks = (uint32_t)p->cpu.chunks, .ranges = (uint32_t)weft__min((size_t)p->cpu.chunks, n)};
    l->sample_shift = n_bits > SAMPLE_BITS ? n_bits - SAMPLE_BITS : 0;
    l->shift = n_bits > bits ? n_bits - bits : 0;
    l->blocks = (uint32_t)(((n - 1) >> l->shift) + 1);
    // Fewer for patterns, whose entries take less memory. With less than all columns for each chunk, those that the
    // chunk has may still fit: the device knows, and takes blocks where they do not.
    const size_t most_counters = (shape->type == WEFT_TYPE_PATTERN ? nnz / 5 * 2 : nnz) + BLOCKS_PAY;
    l->room = (int32_t)weft__min(n, most_counters / l->chunks);
    if (p->cpu.bits)
        l->mode = bits >= n_bits ? DIRECT : BLOCKS, l->room = (int32_t)n;
    else if (weft__mul(l->chunks, (size_t)l->room) < n)
        l->mode = BLOCKS;
    else
        l->mode = shape->like || blocks_may(n, nnz * (4 + weft_type_bytes(shape->type))) || (size_t)l->room < n
                      ? PROBE
                      : DIRECT;
    size_t pos = weft_ofs_bytes(weft__transpose_pos(shape)), direct = weft__mul(l->chunks, (size_t)l->room);
    l->table = l->mode == DIRECT ? direct : (size_t)l->chunks * l->blocks;
    l->sums = weft__max(l->ranges, (size_t)l->blocks + 1);
    const struct layout *like = shape->like;
    l->packed = like ? like->packed : l->mode != DIRECT && weft__bits_for(shape->m) + l->shift <= 32;
    if (l->mode != DIRECT)
        l->mid_bytes = weft__mul(nnz, (l->packed ? 4 : 8) + weft_type_bytes(shape->type));
    if (l->mode == PROBE)
        l->mid_bytes = weft__max(l->mid_bytes, weft__mul(direct, pos));
}

static void scratch(struct weft__scratch out[NBUFFERS], const struct layout *l,
                    const struct weft__transpose_shape *shape)
{
    const size_t pos = weft_ofs_bytes(weft__transpose_pos(shape));
    const struct weft__scratch needs[NBUFFERS] = {
        [SPAN] = {(size_t)l->chunks * SPAN_BYTES, .what = "columns of chunks"},
        [TABLE] = {weft__mul(l->table, pos), .what = "table of counters"},
        [SUMS] = {weft__mul(l->sums, pos), .what = "sums of counters"},
        [MID] = {l->mid_bytes, .what = "entries in blocks"},
    };
    memcpy(out, needs, sizeof needs);
}

static weft_status plan(struct weft_context *ctx, const struct weft__transpose_shape *shape,
                        struct weft_transpose_info *info)
{
    struct weft_transpose_params *p = &info->params;
    weft_status status = weft__transpose_cpu_params(ctx, shape, p, weft__transpose_scan_cpu_tunables);
    if (status)
        return status;
    struct layout l;
    layout_make(&l, shape, p);
    struct weft__scratch needs[NBUFFERS];
    scratch(needs, &l, shape);
    info->passes = l.mode == DIRECT ? 1 : 2;
    info->workspace_bytes = weft__scratch_bytes(needs, NBUFFERS);
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
    weft__parts_release(s->k, NKERNELS, s->b, NBUFFERS);
    free(s);
    *state = NULL;
}

// What all launches of a kernel share: everything but the matrices.
static weft_status bind(const struct scan_cpu *s, struct weft_context *ctx, struct weft__kernel *kernel)
{
    const struct layout *l = &s->l;
    const cl_int m = (cl_int)s->shape.m, n = (cl_int)s->shape.n, room = l->room;
    const cl_long nnz = s->shape.nnz;
    const cl_uint wanted = l->mode, units = (cl_uint)ctx->device.compute_units;
    return WEFT__BIND(ctx, kernel, WEFT__ARG(span, s->b[SPAN]), WEFT__ARG(table, s->b[l->mode == PROBE ? MID : TABLE]),
                      WEFT__ARG(block_table, s->b[TABLE]), WEFT__ARG(sum, s->b[SUMS]), WEFT__ARG(block_ptr, s->b[SUMS]),
                      WEFT__ARG(mid, s->b[MID]), WEFT__ARG(m), WEFT__ARG(n), WEFT__ARG(nnz), WEFT__ARG(room),
                      WEFT__ARG(wanted), WEFT__ARG(units), WEFT__ARG(chunks, l->chunks), WEFT__ARG(ranges, l->ranges),
                      WEFT__ARG(shift, l->shift), WEFT__ARG(blocks, l->blocks),
                      WEFT__ARG(sample_shift, l->sample_shift));
}

static weft_status create(void **state, struct weft__transpose_made *made, struct weft_context *ctx,
                          const struct weft__transpose_shape *shape, const struct weft_transpose_info *info)
{
    struct weft__make make = {.ctx = ctx};
    struct scan_cpu *s = *state = weft__make_memory(&make, sizeof *s, "a transposition");
    if (!s)
        return make.status;
    struct weft__defines d = {0};
    struct weft__scratch needs[NBUFFERS];
    s->shape = *shape;
    layout_make(&s->l, shape, &info->params);
    scratch(needs, &s->l, shape);
    weft__make_buffers(&make, s->b, needs, NBUFFERS);
    weft__transpose_cpu_defines(&d, shape, weft__transpose_pos(shape));
    if (s->l.packed)
        weft__define(&d, PACKED, "1");
    for (int i = 0; i < (s->l.mode == DIRECT ? FINISH : NKERNELS); i++) {
        weft__make_kernel(&make, &s->k[i], &specs[i], &d);
        if (!make.status)
            make.status = bind(s, ctx, s->k[i]);
    }
    *made = (struct weft__transpose_made){make.programs, &s->l};
    if (make.status)
        destroy(state);
    return make.status;
}

// The form that the plan has; where a probe decides, first near the diagonal, which it takes for direct, then by blocks.
static int few(struct weft__transpose_few *few, struct weft_context *ctx, const struct weft__transpose_shape *shape,
               const struct weft__transpose_made *made)
{
    const struct layout *l = made->layout;
    struct weft_transpose_params *p = &few->params;
    const int bits = p->cpu.bits ? p->cpu.bits : BLOCK_BITS_LEAST;
    (void)ctx, (void)shape;
    p->cpu.chunks = (int)weft__min((size_t)p->cpu.chunks, WEFT__FEW_CHUNKS);
    if (few->diagonals)
        p->cpu.bits = 0;
    else if (l->mode == DIRECT)
        p->cpu.bits = DIRECT_BITS;
    else
        p->cpu.bits = (int)weft__min((size_t)bits, weft__bits_for(few->shape.n) - 1);
    return !few->diagonals || l->mode == PROBE;
}

static weft_status run(void *state, struct weft__stream *stream, const struct weft_device_csr *a,
                       const struct weft_device_csr *at)
{
    struct scan_cpu *s = state;
    const size_t chunks = s->l.chunks;
    cl_mem row_ptr = s->shape.rows_given ? NULL : a->row_ptr, row = s->shape.rows_given ? a->row_ptr : NULL;
    WEFT__LAUNCH(stream, s->k[COUNT], chunks, 1, WEFT__ARG(col, a->col));
    WEFT__LAUNCH(stream, s->k[SUM], chunks, 1, WEFT__ARG(col, a->col));
    WEFT__LAUNCH(stream, s->k[PLACES], chunks, 1, WEFT__ARG(out_ptr, at->row_ptr));
    WEFT__LAUNCH(stream, s->k[MOVE], chunks, 1, WEFT__ARG(row_ptr), WEFT__ARG(row), WEFT__ARG(col, a->col),
                 WEFT__ARG(val, a->val), WEFT__ARG(out_row, at->col), WEFT__ARG(out_val, at->val));
    if (s->k[FINISH])
        WEFT__LAUNCH(stream, s->k[FINISH], s->l.blocks, 1, WEFT__ARG(out_ptr, at->row_ptr), WEFT__ARG(out_row, at->col),
                     WEFT__ARG(out_val, at->val));
    return stream->status;
}

void weft__transpose_scan_cpu_variants(weft__variant_fn *fn, void *arg)
{
    for (int i = 0; i < NKERNELS; i++) {
        weft__transpose_cpu_variants(fn, arg, &specs[i], NULL, 1);
        weft__transpose_cpu_variants(fn, arg, &specs[i], PACKED, 1);
    }
}

const struct weft__transpose_method weft__transpose_scan_cpu = {"scan", plan, create, few, run, destroy};
