// SPDX-License-Identifier: Apache-2.0
// ScanTrans on devices with local memory: one, two or three stable passes over digits of the column.
//   n <= 2^bits       one pass: a bin is a column.
//   n <= 2^(2*bits)   two: partition by the high digit into buckets, then each bucket by the low digit, which also
//                     gives the column pointers. Up to one bit more where local memory allows.
//   larger n          three: partition by the low digit first, then as above by the high and the middle one; column
//                     pointers from the sorted columns.
//
//   pass              | reads             | writes            | form of an entry on its way | buffers
//   count, vertical,  | col; row_ptr for  | where bins begin  | none                        | ROW_AT, BEFORE, TABLE,
//   offsets           | the rows of spans |                   |                             | TOTAL .. NLARGE, ARRIVED
//   one pass:         |                   |                   |                             |
//     first           | A                 | A^T               | none                        | those of count
//   two passes:       |                   |                   |                             |
//     first           | A                 | KEY, ROW, VAL     | column in bucket, row, val; | KEY, ROW, VAL
//                     |                   |                   | `packed`: column in row's   |
//                     |                   |                   | word; `pairs`: val beside it|
//     bucket_count,   | KEY or ROW, where | LARGE_TABLE,      | the same                    | LARGE_FIRST, LARGE,
//     bucket_vertical | buckets are large | LARGE_TOTAL       |                             | NLARGE
//     bucket          | KEY, ROW, VAL     | A^T               | the same                    | CHUNK_FIRST, LARGE_*
//   three passes:     |                   |                   |                             |
//     first           | A                 | COL, A^T col, val | whole column, row, val      | COL, arrays of A^T
//     count_given     | COL               | where bins begin  | none                        | as count, without ROW_AT
//     second          | COL, A^T col, val | KEY, ROW, VAL     | as in two, never packed     | KEY, ROW, VAL
//     bucket_*        | KEY, ROW, VAL     | COL, A^T col, val | as in two                   | as in two
//     col_ptr         | COL, sorted       | A^T row_ptr       | none                        | COL, BUCKET_OFS
#include "host/src/core/limits.h"
#include "host/src/transpose/scan_layout.h"

#include <stdlib.h>

enum { COUNT, COUNT_GIVEN, VERTICAL, OFFSETS, BUCKET_COUNT, BUCKET_VERTICAL, COL_PTR, FIRST, SECOND, BUCKET, NKERNELS };
#define COUNT_FILES                                                                                                    \
    {                                                                                                                  \
        "transpose/scan_count.cl", "transpose/pos.clh", "transpose/scan.clh"                                           \
    }
#define MOVE_FILES(file)                                                                                               \
    {                                                                                                                  \
        file, "lib/tile.clh", "lib/radix.clh", "transpose/pos.clh", "transpose/scan.clh"                               \
    }
static const struct weft__kernel_spec specs[NKERNELS] = {
    [COUNT] = {"scan_count", COUNT_FILES},
    [COUNT_GIVEN] = {"scan_count", COUNT_FILES}, // rows given: of the second of three passes
    [VERTICAL] = {"scan_vertical", COUNT_FILES},
    [OFFSETS] = {"scan_offsets", COUNT_FILES}, // only where vertical cannot find them
    [BUCKET_COUNT] = {"bucket_count", COUNT_FILES},
    [BUCKET_VERTICAL] = {"bucket_vertical", COUNT_FILES},
    [COL_PTR] = {"scan_col_ptr", COUNT_FILES},
    [FIRST] = {"scan_partition", MOVE_FILES("transpose/scan_partition.cl")},  // from the input
    [SECOND] = {"scan_partition", MOVE_FILES("transpose/scan_partition.cl")}, // of three passes
    [BUCKET] = {"scan_bucket", MOVE_FILES("transpose/scan_bucket.cl")},
};

struct scan_gpu {
    struct weft__transpose_shape shape;
    struct weft__scan_layout l;
    int wg, count_wg, units, lanes; // lanes: lane operations cost little
    struct weft__mirror mirror;
    struct weft__kernel *k[NKERNELS];
    cl_mem b[NBUFFERS];
};

static void define_sizes(struct weft__defines *d, const struct scan_gpu *s, enum weft_type type, int wg)
{
    const int pos = 8 * (int)weft_ofs_bytes(weft__transpose_pos(&s->shape));
    weft__define_types(d, type, s->shape.ofs);
    weft__define(d, "WEFT_POS_BITS", "%d", pos);
    weft__define(d, "WEFT_BEGIN_BITS", "%d", s->l.passes == 1 ? 8 * (int)weft_ofs_bytes(s->shape.ofs) : pos);
    weft__define(d, "WEFT_WG", "%d", wg);
    weft__define(d, "WEFT_SPAN", "%zu", s->l.span);
}

static void define_count(struct weft__defines *d, const struct scan_gpu *s, int rows_given)
{
    define_sizes(d, s, WEFT_TYPE_PATTERN, s->count_wg);
    weft__define(d, "WEFT_BINS", "%u", s->l.count_bins);
    weft__define(d, "WEFT_KEY_BITS", "%d", s->l.key_bits);
    if (rows_given)
        weft__define(d, "WEFT_ROWS_GIVEN", "1");
    if (s->shape.mirror)
        weft__define(d, "WEFT_MIRROR", "1");
}

static void define_scatter(struct weft__defines *d, const struct scan_gpu *s, int what)
{
    const int wide = what == BUCKET && s->l.wide_ipt, wg = wide ? WEFT__SCAN_WIDE_WG : s->wg,
              ipt = wide ? s->l.wide_ipt : (int)(s->l.span / 32);
    define_sizes(d, s, s->shape.type, wg);
    weft__define(d, "WEFT_IPT", "%d", ipt);
    weft__define(d, "WEFT_STAGED", "%d", weft__scan_staged(wg, ipt));
    if (wide)
        weft__define(d, "WEFT_WIDE", "1");
    uint32_t bins = wide ? weft__scan_bins_room(s->l.ncols, wg) : what == BUCKET ? s->l.bucket_bins : s->l.first_bins;
    weft__define(d, "WEFT_BINS", "%u", bins);
    uint32_t digits = what == BUCKET                      ? s->l.mid_bits
                      : what == FIRST && s->l.passes == 3 ? s->l.low_bits
                                                          : weft__bits_for(s->l.nbuckets);
    // One program for all digits where a ballot is not worth saving.
    weft__define(d, "WEFT_DIGIT_BITS", "%u", s->lanes ? digits : weft__bits_for(bins));
    // The first of three passes keeps whole columns.
    weft__define(d, "WEFT_KEY_BITS", "%d", what == FIRST && s->l.passes == 3 ? 32 : s->l.key_bits);
    // Between the passes entries travel in one form; the first of three passes uses the output arrays for it.
    int moving = what == BUCKET || (s->l.passes == 2 ? what == FIRST : what == SECOND);
    if (what != BUCKET && s->l.passes > 1)
        weft__define(d, "WEFT_MOVING", "1");
    if (moving && s->l.pairs)
        weft__define(d, "WEFT_PAIRS", "1");
    if (moving && s->l.packed)
        weft__define(d, "WEFT_PACKED", "1");
    if (what == BUCKET && s->l.passes == 3)
        weft__define(d, "WEFT_COL_OUT", "1");
    if (what == SECOND || (what == FIRST && s->shape.rows_given))
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
    const int bucket = kernel == BUCKET || kernel == BUCKET_COUNT || kernel == BUCKET_VERTICAL;
    const union weft__ofs nnz = weft__ofs_value(pos, (size_t)s->shape.nnz), part = weft__ofs_value(pos, l->part),
                          chunk = weft__ofs_value(pos, l->chunk);
    const cl_int m = (cl_int)s->shape.m;
    const cl_long n = s->shape.n;
    const cl_uint wide = (cl_uint)weft__min((size_t)WEFT__SCAN_WIDE_WG * (size_t)l->wide_ipt, l->chunk); // a chunk each
    const cl_uint tile = (cl_uint)l->tile, part_tiles = (cl_uint)(l->part / l->tile);
    const cl_uint nbuckets = l->nbuckets, ncols = l->ncols, pack = l->mid_bits;
    // What says whether there is anything to do; without a mirror it is not read.
    const cl_mem failed = s->shape.mirror ? s->mirror.failed : s->b[BUCKET_OFS];
    const cl_mem table = s->b[bucket ? LARGE_TABLE : TABLE], total = s->b[bucket ? LARGE_TOTAL : TOTAL];
    return WEFT__BIND(ctx, s->k[kernel], WEFT__ARG(row_at, s->b[ROW_AT]), WEFT__ARG(before, s->b[BEFORE]),
                      WEFT__ARG(table), WEFT__ARG(total), WEFT__ARG(chunk_first, s->b[CHUNK_FIRST]),
                      WEFT__ARG(large_first, s->b[LARGE_FIRST]), WEFT__ARG(large, s->b[LARGE]),
                      WEFT__ARG(nlarge, s->b[NLARGE]), WEFT__ARG(arrived, s->b[ARRIVED]), WEFT__ARG(failed),
                      WEFT__ARG(m), WEFT__ARG(n), WEFT__OFS(nnz, pos, nnz), WEFT__OFS(part, pos, part),
                      WEFT__OFS(chunk, pos, chunk), WEFT__ARG(tile), WEFT__ARG(part_tiles), WEFT__ARG(wide),
                      WEFT__ARG(nbuckets), WEFT__ARG(ncols), WEFT__ARG(pack));
}

static weft_status create(void **state, struct weft_context *ctx, const struct weft__transpose_shape *shape,
                          const struct weft_transpose_info *info)
{
    struct weft__make make = {.ctx = ctx};
    struct scan_gpu *s = *state = weft__make_memory(&make, sizeof *s, "a transposition");
    if (!s)
        return make.status;
    s->shape = *shape;
    s->wg = info->params.gpu.wg;
    s->count_wg = weft__wg_lower(ctx, WEFT__SCAN_COUNT_WG);
    s->units = ctx->device.compute_units;
    s->lanes = weft__caps_of(ctx).lanes != WEFT_LANES_LOCAL;
    weft__scan_layout_make(&s->l, ctx, shape, &info->params);
    const int buckets = s->l.passes > 1, three = s->l.passes == 3;
    const int needed[NKERNELS] = {[COUNT] = 1,
                                  [COUNT_GIVEN] = three,
                                  [VERTICAL] = 1,
                                  [OFFSETS] = !weft__caps_of(ctx).fence,
                                  [BUCKET_COUNT] = buckets,
                                  [BUCKET_VERTICAL] = buckets,
                                  [COL_PTR] = three,
                                  [FIRST] = 1,
                                  [SECOND] = three,
                                  [BUCKET] = buckets};
    struct weft__scratch needs[NBUFFERS];
    weft__scan_scratch(needs, &s->l, shape);
    weft__make_buffers(&make, s->b, needs, NBUFFERS);
    if (!make.status && shape->mirror)
        make.status = weft__mirror_create(&s->mirror, ctx, shape);
    for (int i = 0; i < NKERNELS; i++) {
        struct weft__defines d = {0};
        if (!needed[i])
            continue;
        if (i >= FIRST)
            define_scatter(&d, s, i);
        else
            define_count(&d, s, shape->rows_given || i == COUNT_GIVEN);
        weft__make_kernel(&make, &s->k[i], &specs[i], &d);
        if (!make.status)
            make.status = bind(s, ctx, i);
    }
    if (make.status)
        destroy(state);
    return make.status;
}

// Count bins of (col >> shift) & mask, scan, find the offsets of bins in `bucket_ofs`.
static void count_run(struct scan_gpu *s, struct weft__stream *stream, int kernel, cl_mem row_ptr, cl_mem col,
                      cl_mem bucket_ofs, cl_uint shift, cl_uint mask, cl_uint nbins)
{
    const size_t wg = (size_t)s->count_wg, found = weft__ceil_div((size_t)s->shape.nnz, s->l.span) + 1;
    const cl_uint finders = row_ptr && !s->shape.rows_given ? (cl_uint)weft__ceil_div(found, wg) : 0;
    const cl_uint rows = (cl_uint)s->l.parts, run = s->mirror.mark;
    WEFT__LAUNCH(stream, s->k[kernel], finders + s->l.parts, wg, WEFT__ARG(row_ptr), WEFT__ARG(col), WEFT__ARG(shift),
                 WEFT__ARG(mask), WEFT__ARG(nbins), WEFT__ARG(finders), WEFT__ARG(run));
    WEFT__LAUNCH(stream, s->k[VERTICAL], weft__ceil_div(nbins, 32), wg, WEFT__ARG(rows), WEFT__ARG(bucket_ofs),
                 WEFT__ARG(nbins), WEFT__ARG(run));
    if (s->k[OFFSETS])
        WEFT__LAUNCH(stream, s->k[OFFSETS], 1, wg, WEFT__ARG(bucket_ofs), WEFT__ARG(nbins), WEFT__ARG(run));
}

// Entries on their way: rows with values and columns, or what the layout makes of them.
struct entries {
    cl_mem key, row, val;
};

static void partition_run(struct scan_gpu *s, struct weft__stream *stream, int kernel, cl_mem row_ptr,
                          struct entries from, cl_mem bucket_ofs, struct entries to, cl_uint shift, cl_uint mask,
                          cl_uint key_mask, cl_uint nbins)
{
    const size_t tiles = weft__ceil_div((size_t)s->shape.nnz, s->l.tile);
    const cl_uint run = s->mirror.mark;
    WEFT__LAUNCH(stream, s->k[kernel], tiles, (size_t)s->wg, WEFT__ARG(row_ptr), WEFT__ARG(rows, from.row),
                 WEFT__ARG(col, from.key), WEFT__ARG(val, from.val), WEFT__ARG(bucket_ofs), WEFT__ARG(key_out, to.key),
                 WEFT__ARG(row_out, to.row), WEFT__ARG(val_out, to.val), WEFT__ARG(shift), WEFT__ARG(mask),
                 WEFT__ARG(key_mask), WEFT__ARG(nbins), WEFT__ARG(run));
}

static void buckets_run(struct scan_gpu *s, struct weft__stream *stream, const struct weft_device_csr *at)
{
    const struct weft__scan_layout *l = &s->l;
    const cl_mem bucket_ofs = s->b[BUCKET_OFS];
    const cl_uint shift = l->low_bits, stride = l->packed && l->pairs ? 2 : 1, run = s->mirror.mark;
    if (l->large_buckets) {
        const size_t groups = (size_t)s->units * 8, wg = (size_t)s->count_wg;
        WEFT__LAUNCH(stream, s->k[BUCKET_COUNT], weft__min(groups, l->large_chunks), wg,
                     WEFT__ARG(key, s->b[l->packed ? ROW : KEY]), WEFT__ARG(bucket_ofs), WEFT__ARG(stride),
                     WEFT__ARG(shift), WEFT__ARG(run));
        WEFT__LAUNCH(stream, s->k[BUCKET_VERTICAL], groups, wg, WEFT__ARG(run));
    }
    const size_t groups = l->nbuckets + (size_t)s->shape.nnz / l->chunk,
                 wg = l->wide_ipt ? WEFT__SCAN_WIDE_WG : (size_t)s->wg;
    WEFT__LAUNCH(stream, s->k[BUCKET], groups, wg, WEFT__ARG(key, s->b[KEY]), WEFT__ARG(row, s->b[ROW]),
                 WEFT__ARG(val, s->b[VAL]), WEFT__ARG(bucket_ofs), WEFT__ARG(col_out, s->b[COL]),
                 WEFT__ARG(col_ptr, at->row_ptr), WEFT__ARG(row_out, at->col), WEFT__ARG(val_out, at->val),
                 WEFT__ARG(shift), WEFT__ARG(run));
}

static weft_status run(void *state, struct weft__stream *stream, const struct weft_device_csr *a,
                       const struct weft_device_csr *at)
{
    struct scan_gpu *s = state;
    const struct weft__scan_layout *l = &s->l;
    const cl_uint all = 0xffffffffu, high = l->mid_bits + l->low_bits, low = l->low_bins - 1, nbuckets = l->nbuckets;
    const cl_mem bucket_ofs = s->b[BUCKET_OFS];
    const struct entries input = {a->col, s->shape.rows_given ? a->row_ptr : s->b[ROW_AT], a->val};
    const struct entries output = {NULL, at->col, at->val}, between = {s->b[COL], at->col, at->val};
    const struct entries buckets = {s->b[KEY], s->b[ROW], s->b[VAL]};
    if (s->shape.mirror)
        weft__mirror_run(&s->mirror, stream, &s->shape, a, at);
    if (l->passes == 1) {
        count_run(s, stream, COUNT, a->row_ptr, a->col, at->row_ptr, 0, all, nbuckets);
        partition_run(s, stream, FIRST, a->row_ptr, input, at->row_ptr, output, 0, all, 0, nbuckets);
    } else if (l->passes == 2) {
        count_run(s, stream, COUNT, a->row_ptr, a->col, bucket_ofs, high, all, nbuckets);
        partition_run(s, stream, FIRST, a->row_ptr, input, bucket_ofs, buckets, high, all, l->ncols - 1, nbuckets);
        buckets_run(s, stream, at);
    } else {
        count_run(s, stream, COUNT, a->row_ptr, a->col, bucket_ofs, 0, low, l->low_bins);
        partition_run(s, stream, FIRST, a->row_ptr, input, bucket_ofs, between, 0, low, all, l->low_bins);
        count_run(s, stream, COUNT_GIVEN, NULL, s->b[COL], bucket_ofs, high, all, nbuckets);
        partition_run(s, stream, SECOND, NULL, between, bucket_ofs, buckets, high, all, (UINT32_C(1) << high) - 1,
                      nbuckets);
        buckets_run(s, stream, at);
        const size_t wg = (size_t)s->count_wg, chunks = weft__ceil_div((size_t)s->shape.n + 1, 8 * wg);
        const cl_uint run = s->mirror.mark;
        WEFT__LAUNCH(stream, s->k[COL_PTR], weft__groups(chunks, wg), wg, WEFT__ARG(sorted, s->b[COL]),
                     WEFT__ARG(bucket_ofs), WEFT__ARG(col_ptr, at->row_ptr), WEFT__ARG(shift, high), WEFT__ARG(run));
    }
    return stream->status;
}

void weft__transpose_scan_gpu_variants(weft__variant_fn *fn, void *arg)
{
    static const enum weft_type types[] = {WEFT_TYPE_F32, WEFT_TYPE_F64, WEFT_TYPE_PATTERN};
    for (int wide = 0; wide < 3; wide++) { // 32 bits, 64, 64 for offsets alone: then what reads or writes these
        const enum weft_ofs ofs = wide ? WEFT_OFS_64 : WEFT_OFS_32, pos = wide == 1 ? WEFT_OFS_64 : WEFT_OFS_32;
        const int mixed = ofs != pos;
        struct scan_gpu s = {
            .wg = 256,
            .count_wg = WEFT__SCAN_COUNT_WG,
            .l = {.count_bins = 1024, .first_bins = 1024, .bucket_bins = 512, .span = 512, .key_bits = 16}};
        s.shape.ofs = ofs;
        s.shape.wide = wide == 1;
        for (int given = 0; given < 2; given++) {
            for (int i = COUNT; i <= COL_PTR; i++) {
                if (i == COUNT_GIVEN ||
                    (mixed && (given || i == BUCKET_COUNT || i == BUCKET_VERTICAL))) // the same text
                    continue;
                struct weft__variant v = {.spec = &specs[i], .schedule = WEFT_SCHEDULE_GPU};
                s.l.key_bits = given ? 32 : 16;
                s.l.passes = i == VERTICAL || i == OFFSETS ? 1 : 3;
                define_count(&v.defines, &s, given);
                fn(arg, &v);
            }
        }
        for (int passes = 1; passes <= 3; passes++)
            for (int special = 0; special < 3; special++) // plain, rows given, positions
                for (int t = 0; t < 3; t++)
                    for (int what = FIRST; what <= BUCKET; what++) {
                        if ((special && (t || what != FIRST)) || (what == SECOND && passes != 3) ||
                            (what == BUCKET && passes == 1) ||
                            (mixed && (special || passes == 3 || types[t] == WEFT_TYPE_PATTERN)))
                            continue;
                        struct weft__variant v = {.spec = &specs[what], .schedule = WEFT_SCHEDULE_GPU};
                        s.shape.type = types[t];
                        s.shape.rows_given = special == 1;
                        s.shape.val_positions = special == 2;
                        s.shape.mirror = special == 2;
                        s.l.passes = passes;
                        s.l.pairs = passes > 1 && types[t] == WEFT_TYPE_F32;
                        s.l.packed = passes == 2 && pos == WEFT_OFS_32;
                        s.l.key_bits = s.l.packed || (passes == 3 && pos == WEFT_OFS_64) ? 32 : 16;
                        s.l.nbuckets = 1000;
                        s.l.mid_bits = s.l.low_bits = 8;
                        // As fits() leaves them in 48 KiB of local memory.
                        s.l.span = types[t] == WEFT_TYPE_F64 || (pos == WEFT_OFS_64 && s.l.pairs) ? 256 : 512;
                        define_scatter(&v.defines, &s, what);
                        fn(arg, &v);
                    }
        const int ipts[] = {4, 16, WEFT__SCAN_WIDE_IPT(pos)};
        for (int i = mixed ? 2 : 0; i < 3; i++) {
            struct weft__variant v = {.spec = &specs[BUCKET], .schedule = WEFT_SCHEDULE_GPU};
            s.shape = (struct weft__transpose_shape){.type = WEFT_TYPE_F32, .ofs = ofs, .wide = wide == 1};
            s.l.passes = 2;
            s.l.pairs = s.l.packed = 1;
            s.l.key_bits = 32;
            s.l.ncols = 512;
            s.l.wide_ipt = ipts[i];
            define_scatter(&v.defines, &s, BUCKET);
            fn(arg, &v);
        }
        s.l.wide_ipt = 0;
    }
}

const struct weft__transpose_method weft__transpose_scan_gpu = {"scan", weft__scan_plan, create, run, destroy};
