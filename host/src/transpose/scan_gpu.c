// SPDX-License-Identifier: Apache-2.0
// ScanTrans on devices with local memory: one, two or three stable passes over digits of the column.
//   n <= 2^bits       one pass: a bin is a column.
//   n <= 2^(2*bits)   two: partition by the high digit into buckets, then each bucket by the low digit, which also
//                     gives the column pointers. Up to one bit more where local memory allows.
//   larger n          three: a pass between, which parts each bucket by the middle digit. Also where two passes would have
//                     buckets of many tiles (scan_layout.c).
//
//   pass              | reads             | writes            | form of an entry on its way | buffers
//   count, vertical,  | col; row_ptr for  | where bins begin  | none                        | ROW_AT, TABLE,
//   offsets           | the rows of spans |                   |                             | BUCKET_OFS, CHUNK_INDEX
//   one pass:         |                   |                   |                             |
//     first           | A                 | A^T               | none                        | those of count
//   two passes:       |                   |                   |                             |
//     first           | A                 | KEY, ROW, VAL     | column in bucket, row, val; | KEY, ROW, VAL
//                     |                   |                   | `packed`: column in row's   |
//                     |                   |                   | word; `pairs`: val beside it|
//     count, vertical | KEY or ROW, where | LARGE_TABLE       | the same                    | CHUNK_INDEX
//     of the last     | buckets are large |                   |                             |
//     last            | KEY, ROW, VAL     | A^T               | the same                    | CHUNK_INDEX, LARGE_TABLE
//   three passes:     |                   |                   |                             |
//     first           | A                 | KEY_, ROW_FIRST;  | as in two, with the bits of | KEY_FIRST, ROW_FIRST;
//                     |                   | not `pairs`: A^T  | two digits of the column    | A^T col, val
//     count, vertical | these             | LARGE_TABLE       | the same                    | as in two
//     of the second   |                   |                   |                             |
//     second          | these             | KEY, ROW, VAL;    | as in two, with the bits of | KEY, ROW, VAL, PART_OFS
//                     |                   | where parts begin | the low digit               |
//     chunks          | PART_OFS          | chunks of parts   | none                        | CHUNK_INDEX
//     as in two, of parts
#include "host/src/core/limits.h"
#include "host/src/transpose/scan_layout.h"

#include <stdlib.h>

enum {
    COUNT,
    JOINED,
    VERTICAL,
    OFFSETS,
    CHUNKS,
    SECOND_COUNT,
    LAST_COUNT,
    BUCKET_VERTICAL,
    FIRST,
    SECOND,
    LAST,
    NKERNELS
};
#define COUNT_FILES(file)                                                                                              \
    {                                                                                                                  \
        file, "transpose/pos.clh", "transpose/scan.clh", "transpose/scan_sums.clh"                                     \
    }
#define MOVE_FILES(file)                                                                                               \
    {                                                                                                                  \
        file, "lib/tile.clh", "lib/radix.clh", "transpose/pos.clh", "transpose/scan.clh", "transpose/scan_few.clh"     \
    }
static const struct weft__kernel_spec specs[NKERNELS] = {
    [COUNT] = {"scan_count", COUNT_FILES("transpose/scan_count.cl")},
    [JOINED] = {"scan_count_offsets", COUNT_FILES("transpose/scan_count.cl")}, // the three around it in one
    [VERTICAL] = {"scan_vertical", COUNT_FILES("transpose/scan_count.cl")},
    [OFFSETS] = {"scan_offsets", COUNT_FILES("transpose/scan_count.cl")}, // only where vertical cannot find them
    [CHUNKS] = {"bucket_chunks", COUNT_FILES("transpose/scan_chunks.cl")},
    [SECOND_COUNT] = {"bucket_count", COUNT_FILES("transpose/scan_chunks.cl")},
    [LAST_COUNT] = {"bucket_count", COUNT_FILES("transpose/scan_chunks.cl")},
    [BUCKET_VERTICAL] = {"bucket_vertical",
                         COUNT_FILES("transpose/scan_chunks.cl")}, // only where bucket_count cannot do it
    [FIRST] = {"scan_partition", MOVE_FILES("transpose/scan_partition.cl")},
    [SECOND] = {"scan_bucket", MOVE_FILES("transpose/scan_bucket.cl")}, // of three passes
    [LAST] = {"scan_bucket", MOVE_FILES("transpose/scan_bucket.cl")},   // of two and three
};

struct scan_gpu {
    struct weft__transpose_shape shape;
    struct weft__scan_layout l;
    int count_wg, units, lanes; // lanes: lane operations cost little
    struct weft__mirror mirror;
    struct weft__kernel *k[NKERNELS];
    cl_mem b[NBUFFERS];
};

static int pos_bits(const struct scan_gpu *s)
{
    return 8 * (int)weft_ofs_bytes(weft__transpose_pos(&s->shape));
}

static void define_sizes(struct weft__defines *d, const struct scan_gpu *s, enum weft_type type, int wg)
{
    weft__define_types(d, type, s->shape.ofs);
    weft__define(d, "WEFT_POS_BITS", "%d", pos_bits(s));
    weft__define(d, "WEFT_WG", "%d", wg);
    weft__define(d, "WEFT_SPAN", "%zu", s->l.span);
}

// Width of a column inside its bucket, or inside its part of one.
static int key_bits_of(const struct weft__scan_layout *l, int parts)
{
    return !parts ? l->key_bits : l->parts_packed ? 32 : 16;
}

static void define_count(struct weft__defines *d, const struct scan_gpu *s, int kernel)
{
    define_sizes(d, s, WEFT_TYPE_PATTERN, s->count_wg);
    weft__define(d, "WEFT_BEGIN_BITS", "%d", s->l.passes == 1 ? 8 * (int)weft_ofs_bytes(s->shape.ofs) : pos_bits(s));
    weft__define(d, "WEFT_BINS", "%u", s->l.count_bins);
    weft__define(d, "WEFT_KEY_BITS", "%d", key_bits_of(&s->l, kernel == LAST_COUNT));
    if (kernel == LAST_COUNT ? s->l.last_chunks.joined : kernel == SECOND_COUNT && s->l.second_chunks.joined)
        weft__define(d, "WEFT_CHUNKS_JOINED", "1");
    if (s->shape.rows_given)
        weft__define(d, "WEFT_ROWS_GIVEN", "1");
    if (s->shape.mirror)
        weft__define(d, "WEFT_MIRROR", "1");
}

static void define_move(struct weft__defines *d, const struct scan_gpu *s, int what)
{
    const struct weft__scan_layout *l = &s->l;
    const int wide = what == LAST && l->wide_ipt;
    const struct weft__scan_tile tile = wide             ? (struct weft__scan_tile){WEFT__SCAN_WIDE_WG, l->wide_ipt}
                                        : what == LAST   ? l->last
                                        : what == SECOND ? l->second
                                                         : l->first;
    // Bins are columns in the last pass, whose begins are column pointers.
    const int columns = what == LAST || l->passes == 1, moving = !columns, moved = what != FIRST;
    const int packed = what == LAST ? l->parts_packed : l->packed;
    const uint32_t digits = what == LAST ? l->last_digit : what == SECOND ? l->mid_digit : l->first_digit;
    const uint32_t bins = wide             ? weft__scan_bins_room((size_t)1 << digits, tile.wg)
                          : what == LAST   ? l->last_bins
                          : what == SECOND ? l->mid_bins
                                           : l->first_bins;
    define_sizes(d, s, s->shape.type, tile.wg);
    weft__define(d, "WEFT_BEGIN_BITS", "%d", columns ? 8 * (int)weft_ofs_bytes(s->shape.ofs) : pos_bits(s));
    weft__define(d, "WEFT_IPT", "%d", tile.ipt);
    weft__define(d, "WEFT_STAGED", "%d", weft__scan_staged(tile, weft__transpose_pos(&s->shape)));
    weft__define(d, "WEFT_BINS", "%u", bins);
    // One program for all digits where a ballot is not worth saving.
    weft__define(d, "WEFT_DIGIT_BITS", "%u", s->lanes ? digits : weft__bits_for(bins));
    weft__define(d, "WEFT_KEY_BITS", "%d", key_bits_of(l, what == LAST));
    if (wide)
        weft__define(d, "WEFT_WIDE", "1");
    if (moving)
        weft__define(d, "WEFT_MOVING", "1");
    if (moved && (moving || l->one_tile))
        weft__define(d, "WEFT_ONE_TILE", "1");
    if ((moving || moved) && l->pairs)
        weft__define(d, "WEFT_PAIRS", "1");
    if ((moving || moved) && packed)
        weft__define(d, "WEFT_PACKED", "1");
    if (what == LAST ? l->last_chunks.joined : what == SECOND && l->second_chunks.joined)
        weft__define(d, "WEFT_CHUNKS_JOINED", "1");
    if (what == LAST && l->sparse)
        weft__define(d, "WEFT_SPARSE", "%d", WEFT__SCAN_SPARSE);
    if (what == LAST && l->self_counted)
        weft__define(d, "WEFT_SELF_COUNTED", "1");
    if (what == SECOND && l->parts_packed)
        weft__define(d, "WEFT_PACKED_OUT", "1");
    if (what == FIRST && l->first_counted)
        weft__define(d, "WEFT_SELF_COUNTED", "1");
    if (what == FIRST && l->segments)
        weft__define(d, "WEFT_SEGMENTS", "1");
    if (what == FIRST && s->shape.rows_given)
        weft__define(d, "WEFT_ROWS_GIVEN", "1");
    if (what == FIRST && s->shape.val_positions)
        weft__define(d, "WEFT_VAL_POSITIONS", "1");
    if (s->shape.mirror)
        weft__define(d, "WEFT_MIRROR", "1");
}

static void destroy(void **state)
{
    struct scan_gpu *s = *state;
    if (!s)
        return;
    weft__parts_release(s->k, NKERNELS, s->b, NBUFFERS);
    weft__mirror_release(&s->mirror);
    free(s);
    *state = NULL;
}

// What all launches of a kernel share; the mark of the run and what depends on the pass are set by each.
static weft_status bind(const struct scan_gpu *s, struct weft_context *ctx, int kernel)
{
    const struct weft__scan_layout *l = &s->l;
    const enum weft_ofs pos = weft__transpose_pos(&s->shape);
    const int whole = kernel <= OFFSETS || kernel == FIRST;
    const int of_last = l->passes < 3 || kernel == CHUNKS || kernel == LAST_COUNT || kernel == LAST;
    const union weft__ofs nnz = weft__ofs_value(pos, (size_t)s->shape.nnz), part = weft__ofs_value(pos, l->part),
                          chunk = weft__ofs_value(pos, of_last ? l->last_chunks.entries : l->second_chunks.entries);
    const cl_int m = (cl_int)s->shape.m;
    const cl_uint wide =
        (cl_uint)weft__min((size_t)WEFT__SCAN_WIDE_WG * (size_t)l->wide_ipt, l->last_chunks.entries); // a chunk each
    const cl_uint tile = (cl_uint)l->tile, part_tiles = (cl_uint)(l->part / l->tile), parts = (cl_uint)l->parts,
                  segment = (cl_uint)l->segment, table_rows = (cl_uint)weft__scan_table_rows(l),
                  arrived_at = (cl_uint)weft__scan_index_words(l),
                  large_rows = (cl_uint)(of_last ? l->last_chunks.chunks : l->second_chunks.chunks);
    // What says whether there is anything to do; without a mirror it is not read, and NULL.
    const cl_mem failed = s->mirror.failed, table = s->b[whole ? TABLE : LARGE_TABLE];
    return WEFT__BIND(ctx, s->k[kernel], WEFT__ARG(row_at, s->b[ROW_AT]), WEFT__ARG(table),
                      WEFT__ARG(chunk_index, s->b[CHUNK_INDEX]), WEFT__ARG(failed), WEFT__ARG(m),
                      WEFT__OFS(nnz, pos, nnz), WEFT__OFS(part, pos, part), WEFT__OFS(chunk, pos, chunk),
                      WEFT__ARG(tile), WEFT__ARG(part_tiles), WEFT__ARG(parts), WEFT__ARG(segment),
                      WEFT__ARG(table_rows), WEFT__ARG(arrived_at), WEFT__ARG(large_rows), WEFT__ARG(wide));
}

// The kernels of a layout.
static void kernels_make(struct scan_gpu *s, struct weft__make *make)
{
    struct weft_context *ctx = make->ctx;
    s->count_wg = weft__wg_lower(ctx, WEFT__SCAN_COUNT_WG);
    s->units = ctx->device.compute_units;
    s->lanes = weft__caps_of(ctx).lanes != WEFT_LANES_LOCAL;
    const int buckets = s->l.passes > 1, three = s->l.passes == 3, counted = buckets && !s->l.self_counted;
    const int first = !s->l.first_counted; // is counted by a launch of its own
    const int needed[NKERNELS] = {[COUNT] = first && !s->l.joined,
                                  [JOINED] = first && s->l.joined,
                                  [VERTICAL] = first && !s->l.joined,
                                  [OFFSETS] = first && !weft__caps_of(ctx).fence,
                                  [CHUNKS] = three,
                                  [SECOND_COUNT] = three,
                                  [LAST_COUNT] = counted,
                                  [BUCKET_VERTICAL] =
                                      counted && !(s->l.last_chunks.joined && (!three || s->l.second_chunks.joined)),
                                  [FIRST] = 1,
                                  [SECOND] = three,
                                  [LAST] = buckets};
    if (s->shape.mirror)
        weft__mirror_create(&s->mirror, make, &s->shape, s->l.guess);
    for (int i = 0; i < NKERNELS; i++) {
        struct weft__defines d = {0};
        if (!needed[i])
            continue;
        if (i >= FIRST)
            define_move(&d, s, i);
        else
            define_count(&d, s, i);
        weft__make_kernel(make, &s->k[i], &specs[i], &d);
        if (!make->status)
            make->status = bind(s, ctx, i);
    }
}

static weft_status create(void **state, struct weft__transpose_made *made, struct weft_context *ctx,
                          const struct weft__transpose_shape *shape, const struct weft_transpose_info *info)
{
    struct weft__make make = {.ctx = ctx};
    struct scan_gpu *s = *state = weft__make_memory(&make, sizeof *s, "a transposition");
    if (!s)
        return make.status;
    struct weft__scratch needs[NBUFFERS];
    s->shape = *shape;
    weft__scan_layout_make(&s->l, ctx, shape, &info->params);
    weft__scan_scratch(needs, &s->l, shape);
    weft__make_buffers(&make, s->b, needs, NBUFFERS);
    kernels_make(s, &make);
    *made = (struct weft__transpose_made){make.programs, &s->l};
    if (make.status)
        destroy(state);
    return make.status;
}

uint64_t weft__scan_gpu_programs(struct weft_context *ctx, const struct weft__transpose_shape *shape,
                                 const struct weft__scan_layout *layout)
{
    struct weft__make make = {.ctx = ctx, .status = WEFT_ERANGE}; // of which nothing is made
    struct scan_gpu s = {.shape = *shape, .l = *layout};
    kernels_make(&s, &make);
    return make.programs;
}

// Columns of few buckets, of which each takes a work-group; then fewer, until digits are no wider and entries have the same form
// on their way.
static int few(struct weft__transpose_few *few, struct weft_context *ctx, const struct weft__transpose_shape *shape,
               const struct weft__transpose_made *made)
{
    enum { DIAGONALS = 20, LONG_ROWS = 480, BUCKETS = 128 }; // rows of 41 entries, whose images are guessed
    const struct weft__scan_layout *like = made->layout;
    struct weft__transpose_shape *s = &few->shape;
    if (few->diagonals && !shape->mirror)
        return 0;
    if (few->diagonals && like->guess) {
        s->n = s->n < LONG_ROWS ? s->n : LONG_ROWS;
        few->diagonals = s->n > DIAGONALS ? DIAGONALS : (int)s->n - 1;
    }
    const int64_t most = (int64_t)BUCKETS << like->last_digit;
    if (like->passes > 1 && s->n > most)
        s->n = most;
    for (; s->n > few->diagonals; s->n /= 2) {
        struct weft__scan_layout l;
        if (shape->mirror)
            s->m = s->n;
        if (few->diagonals)
            s->nnz = weft__diagonals_entries(s->n, few->diagonals);
        weft__scan_layout_make(&l, ctx, s, &few->params);
        if (weft__scan_layout_fits(&l) && l.pairs == like->pairs && l.packed == like->packed &&
            l.parts_packed == like->parts_packed)
            return 1;
    }
    return 0;
}

// Entries on their way: rows with values and columns, or what the layout makes of them.
struct entries {
    cl_mem key, row, val;
};

// By the high digit: into buckets that begin at `bucket_ofs`, or, in one pass, columns.
static void first_run(struct scan_gpu *s, struct weft__stream *stream, const struct weft_device_csr *a,
                      cl_mem bucket_ofs, struct entries to)
{
    const struct weft__scan_layout *l = &s->l;
    const size_t wg = (size_t)s->count_wg, found = weft__ceil_div((size_t)s->shape.nnz, l->span) + 1,
                 tiles = weft__ceil_div((size_t)s->shape.nnz, l->tile);
    const cl_uint finders = s->shape.rows_given ? 0 : (cl_uint)weft__ceil_div(found, wg);
    const cl_mem rows_of = s->shape.rows_given ? a->row_ptr : s->b[ROW_AT];
    const cl_uint nbins = l->nbuckets, mask = 0xffffffffu, run = s->mirror.mark;
    const cl_uint shift = l->mid_bits + l->low_bits, pack = shift, key_mask = (cl_uint)((UINT64_C(1) << shift) - 1);
    if (s->k[JOINED])
        WEFT__LAUNCH(stream, s->k[JOINED], finders + l->parts, wg, WEFT__ARG(row_ptr, a->row_ptr),
                     WEFT__ARG(col, a->col), WEFT__ARG(bucket_ofs), WEFT__ARG(shift), WEFT__ARG(mask), WEFT__ARG(nbins),
                     WEFT__ARG(finders), WEFT__ARG(run));
    else if (s->k[COUNT]) {
        WEFT__LAUNCH(stream, s->k[COUNT], finders + l->parts, wg, WEFT__ARG(row_ptr, a->row_ptr),
                     WEFT__ARG(col, a->col), WEFT__ARG(shift), WEFT__ARG(mask), WEFT__ARG(nbins), WEFT__ARG(finders),
                     WEFT__ARG(run));
        WEFT__LAUNCH(stream, s->k[VERTICAL], weft__ceil_div(nbins, 32), wg, WEFT__ARG(bucket_ofs), WEFT__ARG(nbins),
                     WEFT__ARG(run));
    }
    if (s->k[OFFSETS])
        WEFT__LAUNCH(stream, s->k[OFFSETS], 1, wg, WEFT__ARG(bucket_ofs), WEFT__ARG(nbins), WEFT__ARG(run));
    WEFT__LAUNCH(stream, s->k[FIRST], tiles, (size_t)l->first.wg, WEFT__ARG(row_ptr, a->row_ptr),
                 WEFT__ARG(rows, rows_of), WEFT__ARG(col, a->col), WEFT__ARG(val, a->val), WEFT__ARG(bucket_ofs),
                 WEFT__ARG(key_out, to.key), WEFT__ARG(row_out, to.row), WEFT__ARG(val_out, to.val), WEFT__ARG(shift),
                 WEFT__ARG(mask), WEFT__ARG(pack), WEFT__ARG(key_mask), WEFT__ARG(nbins), WEFT__ARG(run));
}

// What a pass over buckets does: `digits` bits of the column from `shift` on say where an entry goes.
struct pass {
    int count, move;                 // kernels
    cl_uint nbuckets, shift, digits; // `pack` = shift + digits bits of the column are left
    cl_mem bucket_ofs;
    struct entries from, to;
    cl_mem begin_out; // where each of n columns or parts begins
    cl_long n;
    int packed;
    size_t wg;
    struct weft__scan_chunks chunks;
};

static void buckets_run(struct scan_gpu *s, struct weft__stream *stream, const struct pass *p)
{
    const struct weft__scan_layout *l = &s->l;
    const cl_uint stride = p->packed && l->pairs ? 2 : 1, run = s->mirror.mark, shift = p->shift,
                  pack = p->shift + p->digits, ncols = UINT32_C(1) << p->digits, nbuckets = p->nbuckets;
    const cl_mem bucket_ofs = p->bucket_ofs, key = p->packed ? p->from.row : p->from.key;
    if (p->chunks.buckets) {
        const size_t groups = (size_t)s->units * WEFT__SCAN_CHUNK_GROUPS, wg = (size_t)s->count_wg;
        const cl_uint large_rows = (cl_uint)p->chunks.chunks;
        WEFT__LAUNCH(stream, s->k[p->count], weft__min(groups, p->chunks.chunks), wg, WEFT__ARG(key),
                     WEFT__ARG(bucket_ofs), WEFT__ARG(nbuckets), WEFT__ARG(stride), WEFT__ARG(shift), WEFT__ARG(ncols),
                     WEFT__ARG(run));
        if (!p->chunks.joined)
            WEFT__LAUNCH(stream, s->k[BUCKET_VERTICAL], groups, wg, WEFT__ARG(nbuckets), WEFT__ARG(ncols),
                         WEFT__ARG(large_rows), WEFT__ARG(run));
    }
    const size_t groups = nbuckets + (size_t)s->shape.nnz / p->chunks.entries;
    WEFT__LAUNCH(stream, s->k[p->move], groups, p->wg, WEFT__ARG(key, p->from.key), WEFT__ARG(row, p->from.row),
                 WEFT__ARG(val, p->from.val), WEFT__ARG(bucket_ofs), WEFT__ARG(key_out, p->to.key),
                 WEFT__ARG(begin_out, p->begin_out), WEFT__ARG(row_out, p->to.row), WEFT__ARG(val_out, p->to.val),
                 WEFT__ARG(n, p->n), WEFT__ARG(nbuckets), WEFT__ARG(shift), WEFT__ARG(pack), WEFT__ARG(ncols),
                 WEFT__ARG(run));
}

static weft_status run(void *state, struct weft__stream *stream, const struct weft_device_csr *a,
                       const struct weft_device_csr *at)
{
    struct scan_gpu *s = state;
    const struct weft__scan_layout *l = &s->l;
    const struct entries output = {NULL, at->col, at->val}, parts = {s->b[KEY], s->b[ROW], s->b[VAL]};
    const struct entries buckets = {s->b[KEY_FIRST], l->pairs ? s->b[ROW_FIRST] : at->col, at->val};
    struct pass last = {.count = LAST_COUNT,
                        .move = LAST,
                        .nbuckets = l->nparts,
                        .digits = l->low_bits,
                        .bucket_ofs = s->b[BUCKET_OFS],
                        .from = parts,
                        .to = output,
                        .begin_out = at->row_ptr,
                        .n = s->shape.n,
                        .packed = l->parts_packed,
                        .wg = (size_t)(l->wide_ipt ? WEFT__SCAN_WIDE_WG : l->last.wg),
                        .chunks = l->last_chunks};
    if (s->shape.mirror)
        weft__mirror_run(&s->mirror, stream, &s->shape, a, at);
    first_run(s, stream, a, l->passes == 1 ? at->row_ptr : s->b[BUCKET_OFS],
              l->passes == 1   ? output
              : l->passes == 2 ? parts
                               : buckets);
    if (l->passes == 3) {
        const struct pass second = {.count = SECOND_COUNT,
                                    .move = SECOND,
                                    .nbuckets = l->nbuckets,
                                    .shift = l->low_bits,
                                    .digits = l->mid_bits,
                                    .bucket_ofs = s->b[BUCKET_OFS],
                                    .from = buckets,
                                    .to = parts,
                                    .begin_out = s->b[PART_OFS],
                                    .n = l->nparts,
                                    .packed = l->packed,
                                    .wg = (size_t)l->second.wg,
                                    .chunks = l->second_chunks};
        const cl_uint nbuckets = l->nparts, run = s->mirror.mark;
        const cl_mem bucket_ofs = last.bucket_ofs = s->b[PART_OFS];
        buckets_run(s, stream, &second);
        const size_t wg = (size_t)s->count_wg, groups = weft__min((size_t)s->units, weft__ceil_div(nbuckets, wg));
        WEFT__LAUNCH(stream, s->k[CHUNKS], groups, wg, WEFT__ARG(bucket_ofs), WEFT__ARG(nbuckets), WEFT__ARG(run));
    }
    if (l->passes > 1)
        buckets_run(s, stream, &last);
    return stream->status;
}

void weft__transpose_scan_gpu_variants(weft__variant_fn *fn, void *arg)
{
    static const enum weft_type types[] = {WEFT_TYPE_F32, WEFT_TYPE_F64, WEFT_TYPE_PATTERN};
    for (int wide = 0; wide < 3; wide++) { // 32 bits, 64, 64 for offsets alone: then what reads or writes these
        const enum weft_ofs ofs = wide ? WEFT_OFS_64 : WEFT_OFS_32, pos = wide == 1 ? WEFT_OFS_64 : WEFT_OFS_32;
        const int mixed = ofs != pos;
        struct scan_gpu s = {.count_wg = WEFT__SCAN_COUNT_WG,
                             .l = {.count_bins = 1024,
                                   .first_bins = 1024,
                                   .mid_bins = 512,
                                   .last_bins = 512,
                                   .span = 512,
                                   .key_bits = 16}};
        s.shape.ofs = ofs;
        s.shape.wide = wide == 1;
        for (int given = 0; given < 2; given++) {
            for (int i = COUNT; i < FIRST; i++) {
                if (i == LAST_COUNT || (mixed && (given || i >= CHUNKS))) // the same text
                    continue;
                struct weft__variant v = {.spec = &specs[i], .schedule = WEFT_SCHEDULE_GPU};
                s.l.key_bits = given ? 32 : 16;
                s.l.passes = i == VERTICAL || i == OFFSETS ? 1 : 3;
                s.l.second_chunks.joined = given;
                s.shape.rows_given = given;
                define_count(&v.defines, &s, i);
                fn(arg, &v);
            }
        }
        for (int passes = 1; passes <= 3; passes++)
            for (int special = 0; special < 3;
                 special++) // plain, rows given, positions; SECOND: not packed, packs, packed
                for (int t = 0; t < 3; t++)
                    for (int what = FIRST; what <= LAST; what++) {
                        if ((special && what != SECOND && (t || what != FIRST)) || (what == SECOND && passes != 3) ||
                            (what == LAST && passes != 2) ||
                            (mixed && (special || passes == 3 || types[t] == WEFT_TYPE_PATTERN)))
                            continue;
                        struct weft__variant v = {.spec = &specs[what], .schedule = WEFT_SCHEDULE_GPU};
                        s.shape.type = types[t];
                        s.shape.rows_given = special == 1;
                        s.shape.val_positions = special == 2;
                        s.shape.mirror = special == 2;
                        s.l.passes = passes;
                        s.l.segments = passes == 2 ? 8 : 0;
                        s.l.last_chunks.joined = passes == 2;
                        s.l.second_chunks.joined = special == 1;
                        // Three passes and positions: values of 32 bits travel apart, as where memory is short.
                        s.l.pairs = passes > 1 && types[t] == WEFT_TYPE_F32 && !(passes == 3 && special == 2);
                        s.l.packed = passes == 2 ? pos == WEFT_OFS_32 : passes == 3 && special == 2;
                        s.l.parts_packed = passes == 2 ? s.l.packed : special > 0;
                        s.l.key_bits = s.l.packed || (passes == 3 && pos == WEFT_OFS_64) ? 32 : 16;
                        s.l.first_digit = 10;
                        s.l.mid_digit = s.l.last_digit = 8;
                        // As fits() leaves them in 48 KiB of local memory.
                        s.l.span = types[t] == WEFT_TYPE_F64 || (pos == WEFT_OFS_64 && s.l.pairs) ? 256 : 512;
                        s.l.first = s.l.second = s.l.last = (struct weft__scan_tile){256, (int)s.l.span / 32};
                        define_move(&v.defines, &s, what);
                        fn(arg, &v);
                    }
        const int ipts[] = {4, 16, WEFT__SCAN_WIDE_IPT(pos)};
        for (int i = mixed ? 2 : 0; i < 3; i++) {
            struct weft__variant v = {.spec = &specs[LAST], .schedule = WEFT_SCHEDULE_GPU};
            s.shape = (struct weft__transpose_shape){.type = WEFT_TYPE_F32, .ofs = ofs, .wide = wide == 1};
            s.l.passes = 2;
            s.l.pairs = s.l.packed = s.l.parts_packed = 1;
            s.l.key_bits = 32;
            s.l.last_digit = 9;
            s.l.wide_ipt = ipts[i];
            define_move(&v.defines, &s, LAST);
            fn(arg, &v);
        }
        s.l.wide_ipt = 0;
        // Large tiles of three passes.
        for (int packed = 0; packed < 2 && !mixed; packed++)
            for (int t = 0; t < 2; t++)
                for (int what = FIRST; what <= LAST; what++) {
                    if (what == SECOND && types[t] == WEFT_TYPE_F64 && pos == WEFT_OFS_64 && !packed)
                        continue;
                    struct weft__variant v = {.spec = &specs[what], .schedule = WEFT_SCHEDULE_GPU};
                    s.shape = (struct weft__transpose_shape){.type = types[t], .ofs = ofs, .wide = wide == 1};
                    s.l.passes = 3;
                    s.l.pairs = types[t] == WEFT_TYPE_F32;
                    s.l.packed = 0;
                    s.l.parts_packed = packed;
                    s.l.key_bits = packed ? 16 : 32;
                    s.l.first_digit = s.l.mid_digit = s.l.last_digit = 9;
                    const int ipt = WEFT__SCAN_LARGE_IPT(16, weft_type_bytes(types[t]), pos);
                    s.l.span = 32 * (size_t)ipt;
                    s.l.first = s.l.second = s.l.last = (struct weft__scan_tile){512, ipt};
                    s.l.one_tile = !packed;
                    s.l.first_bins = s.l.mid_bins = s.l.last_bins = 1024;
                    define_move(&v.defines, &s, what);
                    fn(arg, &v);
                }
        // Buckets in chunks of a tile, whose columns may be on their own; large tiles, of values of 8 bytes also in chunks of several;
        // few entries; few entries of many columns, which also may be on their own.
        enum { ONE_TILE, ONE_TILE_APART, ONE_TILE_LARGE, LARGE_TILES, FEW, SPARSE, SPARSE_APART, KINDS };
        for (int kind = wide ? SPARSE : 0; kind < KINDS; kind++)
            for (int t = kind == LARGE_TILES; t < (kind == ONE_TILE_LARGE || kind == LARGE_TILES ? 2 : 3); t++) {
                const int large = kind == ONE_TILE_LARGE || kind == LARGE_TILES, sparse = kind >= SPARSE;
                struct weft__variant v = {.spec = &specs[LAST], .schedule = WEFT_SCHEDULE_GPU};
                s.shape = (struct weft__transpose_shape){.type = types[t], .ofs = ofs, .wide = wide == 1};
                s.l.passes = 2;
                s.l.pairs = types[t] == WEFT_TYPE_F32;
                s.l.packed = s.l.parts_packed = kind != ONE_TILE_APART && kind != SPARSE_APART;
                s.l.key_bits = s.l.packed ? 32 : 16;
                s.l.last_digit = sparse ? 11 : 8;
                s.l.last = (struct weft__scan_tile){sparse ? 128 : 256, sparse ? 8 : 16};
                if (large)
                    s.l.last = (struct weft__scan_tile){512, WEFT__SCAN_LARGE_IPT(16, weft_type_bytes(types[t]), pos)};
                s.l.span = 512;
                s.l.last_bins = weft__scan_bins_room((size_t)1 << s.l.last_digit, s.l.last.wg);
                s.l.one_tile = kind != LARGE_TILES && !sparse;
                s.l.self_counted = kind == FEW;
                s.l.sparse = sparse;
                define_move(&v.defines, &s, LAST);
                fn(arg, &v);
                for (int passes = 1; passes <= 2 && kind == FEW; passes++) {
                    struct weft__variant first = {.spec = &specs[FIRST], .schedule = WEFT_SCHEDULE_GPU};
                    s.l.passes = passes;
                    s.l.pairs = passes == 2 && types[t] == WEFT_TYPE_F32;
                    s.l.first_counted = 1;
                    s.l.segments = 0;
                    s.l.first = (struct weft__scan_tile){256, 16};
                    s.l.first_bins = 1024;
                    define_move(&first.defines, &s, FIRST);
                    fn(arg, &first);
                    s.l.first_counted = 0;
                }
            }
    }
}

const struct weft__transpose_method weft__transpose_scan_gpu = {"scan", weft__scan_plan, create, few, run, destroy};
