// SPDX-License-Identifier: Apache-2.0
// ScanTrans on devices with local memory: one, two or three stable passes over digits of the column.
//   n <= 2^bits       one pass: a bin is a column.
//   n <= 2^(2*bits)   two (up to one bit more where local memory allows): partition by the high digit into buckets, then
//                     each bucket by the low digit, which also gives the column pointers.
//   larger n          three: partition by the low digit first, then as above by the high and the middle one; column
//                     pointers from the sorted columns.
#include "host/src/core/op.h"
#include "host/src/transpose/scan_layout.h"
#include "host/src/core/variants.h"

#include <stdlib.h>
#include <string.h>

static const struct weft__kernel_spec count_spec = {"scan_count", "transpose/scan_count.cl"};
static const struct weft__kernel_spec vertical_spec = {"scan_vertical", "transpose/scan_count.cl"};
static const struct weft__kernel_spec offsets_spec = {"scan_offsets", "transpose/scan_count.cl"};
static const struct weft__kernel_spec bucket_count_spec = {"bucket_count", "transpose/scan_count.cl"};
static const struct weft__kernel_spec bucket_vertical_spec = {"bucket_vertical", "transpose/scan_count.cl"};
static const struct weft__kernel_spec col_ptr_spec = {"scan_col_ptr", "transpose/scan_count.cl"};
static const struct weft__kernel_spec partition_spec = {"scan_partition", "transpose/scan_partition.cl"};
static const struct weft__kernel_spec bucket_spec = {"scan_bucket", "transpose/scan_bucket.cl"};

struct scan_gpu {
    struct weft__transpose_shape shape;
    struct weft__scan_layout l;
    int wg, count_wg, units, lanes; // lanes: lane operations cost little
    struct weft__mirror mirror;
    struct weft__kernel *offsets; // NULL: vertical finds them
    struct weft__kernel *count, *count_given, *vertical, *bucket_count, *bucket_vertical, *col_ptr;
    struct weft__kernel *first, *second, *bucket; // partition from the input, partition of three passes, buckets
    cl_mem row_at, before, table, total, bucket_ofs, chunk_first, large_first, large, nlarge, large_table, large_total;
    cl_mem key, row, val; // entries in buckets
    cl_mem col;           // three passes: columns by the low digit, then sorted
    cl_mem arrived;       // groups that came to the offsets: zero between launches
};

static void define_sizes(struct weft__defines *d, const struct scan_gpu *s, enum weft_type type, int wg)
{
    weft__define_types(d, type, s->shape.ofs);
    weft__define(d, "WEFT_WG", "%d", wg);
    weft__define(d, "WEFT_SPAN", "%zu", s->l.span);
}

static void define_count(struct weft__defines *d, const struct scan_gpu *s, int rows_given)
{
    define_sizes(d, s, WEFT_PATTERN, s->count_wg);
    weft__define(d, "WEFT_BINS", "%u", s->l.count_bins);
    weft__define(d, "WEFT_KEY_BITS", "%d", s->l.key_bits);
    if (rows_given)
        weft__define(d, "WEFT_ROWS_GIVEN", "1");
    if (s->shape.mirror)
        weft__define(d, "WEFT_MIRROR", "1");
}

enum scatter { FIRST, SECOND, BUCKET };
static void define_scatter(struct weft__defines *d, const struct scan_gpu *s, enum scatter what)
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
    struct weft__kernel **kernels[] = {&s->count,        &s->count_given,     &s->vertical, &s->offsets,
                                       &s->bucket_count, &s->bucket_vertical, &s->col_ptr,  &s->first,
                                       &s->second,       &s->bucket};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        weft__kernel_release(kernels[i]);
    weft__mirror_release(&s->mirror);
    for (cl_mem *buffer = &s->row_at; buffer <= &s->col; buffer++)
        weft__buffer_release(buffer);
    weft__buffer_release(&s->arrived);
    free(s);
    *state = NULL;
}

static weft_status create(void **state, struct weft_context *ctx, const struct weft__transpose_shape *shape,
                          const struct weft_transpose_info *info)
{
    struct scan_gpu *s = calloc(1, sizeof *s);
    *state = s;
    if (!s)
        return weft__fail(ctx, WEFT_ENOMEM, "out of host memory for a transposition");
    s->shape = *shape;
    s->wg = info->params.wg;
    s->count_wg = weft__wg_lower(ctx, WEFT__SCAN_COUNT_WG);
    s->units = ctx->device.compute_units;
    s->lanes = weft__caps_of(ctx).lanes != WEFT_LANES_LOCAL;
    weft__scan_layout_make(&s->l, ctx, shape, &info->params);
    struct weft__defines count = {0}, given = {0}, first = {0}, second = {0}, bucket = {0};
    define_count(&count, s, shape->rows_given);
    define_count(&given, s, 1);
    define_scatter(&first, s, FIRST);
    define_scatter(&second, s, SECOND);
    define_scatter(&bucket, s, BUCKET);
    weft_status status = weft__kernel_create(&s->count, ctx, &count_spec, &count);
    if (!status)
        status = weft__kernel_create(&s->vertical, ctx, &vertical_spec, &count);
    if (!status && !weft__caps_of(ctx).fence)
        status = weft__kernel_create(&s->offsets, ctx, &offsets_spec, &count);
    if (!status)
        status = weft__kernel_create(&s->first, ctx, &partition_spec, &first);
    if (!status && s->l.passes > 1)
        status = weft__kernel_create(&s->bucket_count, ctx, &bucket_count_spec, &count);
    if (!status && s->l.passes > 1)
        status = weft__kernel_create(&s->bucket_vertical, ctx, &bucket_vertical_spec, &count);
    if (!status && s->l.passes > 1)
        status = weft__kernel_create(&s->bucket, ctx, &bucket_spec, &bucket);
    if (!status && s->l.passes == 3)
        status = weft__kernel_create(&s->count_given, ctx, &count_spec, &given);
    if (!status && s->l.passes == 3)
        status = weft__kernel_create(&s->second, ctx, &partition_spec, &second);
    if (!status && s->l.passes == 3)
        status = weft__kernel_create(&s->col_ptr, ctx, &col_ptr_spec, &count);
    if (!status && shape->mirror)
        status = weft__mirror_create(&s->mirror, ctx, shape);
    size_t sizes[WEFT__SCAN_BUFFERS];
    weft__scan_buffer_sizes(sizes, &s->l, shape);
    cl_mem *buffers = &s->row_at;
    for (int i = 0; i < WEFT__SCAN_BUFFERS && !status; i++)
        if (&buffers[i] != &s->total && (sizes[i] || i < 11))
            status = weft__buffer_create(&buffers[i], ctx, sizes[i], "scratch of a transposition");
    // Oclgrind does not take an exchange with memory never written for writing.
    if (!status)
        status = weft__buffer_create_zeros(&s->total, ctx, sizes[&s->total - buffers], "scratch of a transposition");
    if (!status)
        status = weft__buffer_create_zeros(&s->arrived, ctx, 4, "scratch of a transposition");
    if (status)
        destroy(state);
    return status;
}

// What says whether there is anything to do; without a mirror it is not read.
static cl_mem failed_of(const struct scan_gpu *s)
{
    return s->shape.mirror ? s->mirror.failed : s->bucket_ofs;
}

// Count bins of (col >> shift) & mask, scan, find the offsets of bins in `bucket_ofs`.
static void count_run(struct scan_gpu *s, struct weft__stream *stream, struct weft__kernel *kernel, cl_mem row_ptr,
                      cl_mem col, cl_mem bucket_ofs, cl_uint shift, cl_uint mask, cl_uint nbins)
{
    union weft__ofs nnz = weft__ofs_value(s->shape.ofs, (size_t)s->shape.nnz),
                    part = weft__ofs_value(s->shape.ofs, s->l.part), chunk = weft__ofs_value(s->shape.ofs, s->l.chunk);
    cl_int m = (cl_int)s->shape.m;
    cl_uint wide = (cl_uint)weft__min((size_t)WEFT__SCAN_WIDE_WG * (size_t)s->l.wide_ipt, s->l.chunk); // a chunk each
    cl_uint rows = (cl_uint)s->l.parts, tile = (cl_uint)s->l.tile;
    const size_t found = weft__ceil_div((size_t)s->shape.nnz, s->l.span) + 1;
    cl_uint finders = row_ptr && !s->shape.rows_given ? (cl_uint)weft__ceil_div(found, (size_t)s->count_wg) : 0;
    cl_mem failed = failed_of(s);
    WEFT__LAUNCH(stream, kernel, finders + s->l.parts, (size_t)s->count_wg, WEFT__ARG(row_ptr),
                 WEFT__ARG(row_at, s->row_at), WEFT__ARG(col), WEFT__ARG(before, s->before), WEFT__ARG(table, s->table),
                 WEFT__ARG(m), WEFT__OFS(nnz, s->shape.ofs, nnz), WEFT__OFS(part, s->shape.ofs, part), WEFT__ARG(tile),
                 WEFT__ARG(shift), WEFT__ARG(mask), WEFT__ARG(nbins), WEFT__ARG(finders), WEFT__ARG(failed),
                 WEFT__ARG(run, s->mirror.mark));
    WEFT__LAUNCH(stream, s->vertical, weft__ceil_div(nbins, 32), (size_t)s->count_wg, WEFT__ARG(table, s->table),
                 WEFT__ARG(total, s->total), WEFT__ARG(rows), WEFT__ARG(bucket_ofs),
                 WEFT__ARG(chunk_first, s->chunk_first), WEFT__ARG(large_first, s->large_first),
                 WEFT__ARG(large, s->large), WEFT__ARG(nlarge, s->nlarge), WEFT__ARG(arrived, s->arrived),
                 WEFT__OFS(chunk, s->shape.ofs, chunk), WEFT__ARG(wide), WEFT__ARG(nbins), WEFT__ARG(failed),
                 WEFT__ARG(run, s->mirror.mark));
    if (s->offsets)
        WEFT__LAUNCH(stream, s->offsets, 1, (size_t)s->count_wg, WEFT__ARG(total, s->total), WEFT__ARG(bucket_ofs),
                     WEFT__ARG(chunk_first, s->chunk_first), WEFT__ARG(large_first, s->large_first),
                     WEFT__ARG(large, s->large), WEFT__ARG(nlarge, s->nlarge), WEFT__OFS(chunk, s->shape.ofs, chunk),
                     WEFT__ARG(wide), WEFT__ARG(nbins), WEFT__ARG(failed), WEFT__ARG(run, s->mirror.mark));
}

static void partition_run(struct scan_gpu *s, struct weft__stream *stream, struct weft__kernel *kernel, cl_mem row_ptr,
                          cl_mem rows, cl_mem col, cl_mem val, cl_mem bucket_ofs, cl_mem key_out, cl_mem row_out,
                          cl_mem val_out, cl_uint shift, cl_uint mask, cl_uint key_mask, cl_uint nbins)
{
    union weft__ofs nnz = weft__ofs_value(s->shape.ofs, (size_t)s->shape.nnz);
    cl_uint part_tiles = (cl_uint)(s->l.part / s->l.tile), pack = s->l.mid_bits;
    size_t tiles = weft__ceil_div((size_t)s->shape.nnz, s->l.tile), wg = (size_t)s->wg;
    cl_mem failed = failed_of(s);
    WEFT__LAUNCH(stream, kernel, tiles, wg, WEFT__ARG(row_ptr), WEFT__ARG(rows), WEFT__ARG(col), WEFT__ARG(val),
                 WEFT__ARG(bucket_ofs), WEFT__ARG(table, s->table), WEFT__ARG(before, s->before), WEFT__ARG(key_out),
                 WEFT__ARG(row_out), WEFT__ARG(val_out), WEFT__OFS(nnz, s->shape.ofs, nnz), WEFT__ARG(part_tiles),
                 WEFT__ARG(shift), WEFT__ARG(mask), WEFT__ARG(pack), WEFT__ARG(key_mask), WEFT__ARG(nbins),
                 WEFT__ARG(failed), WEFT__ARG(run, s->mirror.mark));
}

static void buckets_run(struct scan_gpu *s, struct weft__stream *stream, const struct weft_device_csr *at)
{
    const struct weft__scan_layout *l = &s->l;
    union weft__ofs chunk = weft__ofs_value(s->shape.ofs, l->chunk);
    cl_long n = s->shape.n;
    cl_uint shift = l->low_bits, nbuckets = l->nbuckets, ncols = l->ncols, pack = l->mid_bits;
    cl_uint stride = l->packed && l->pairs ? 2 : 1;
    cl_mem key = l->packed ? s->row : s->key, failed = failed_of(s);
    if (l->large_buckets) {
        size_t groups = (size_t)s->units * 8;
        WEFT__LAUNCH(stream, s->bucket_count, weft__min(groups, l->large_chunks), (size_t)s->count_wg, WEFT__ARG(key),
                     WEFT__ARG(bucket_ofs, s->bucket_ofs), WEFT__ARG(large_first, s->large_first),
                     WEFT__ARG(table, s->large_table), WEFT__OFS(chunk, s->shape.ofs, chunk), WEFT__ARG(nbuckets),
                     WEFT__ARG(stride), WEFT__ARG(shift), WEFT__ARG(ncols), WEFT__ARG(failed),
                     WEFT__ARG(run, s->mirror.mark));
        WEFT__LAUNCH(stream, s->bucket_vertical, groups, (size_t)s->count_wg, WEFT__ARG(table, s->large_table),
                     WEFT__ARG(large_first, s->large_first), WEFT__ARG(large, s->large), WEFT__ARG(nlarge, s->nlarge),
                     WEFT__ARG(total, s->large_total), WEFT__ARG(ncols), WEFT__ARG(failed),
                     WEFT__ARG(run, s->mirror.mark));
    }
    const size_t groups = l->nbuckets + (size_t)s->shape.nnz / l->chunk,
                 wg = l->wide_ipt ? WEFT__SCAN_WIDE_WG : (size_t)s->wg;
    WEFT__LAUNCH(stream, s->bucket, groups, wg, WEFT__ARG(key, s->key), WEFT__ARG(row, s->row), WEFT__ARG(val, s->val),
                 WEFT__ARG(bucket_ofs, s->bucket_ofs), WEFT__ARG(chunk_first, s->chunk_first),
                 WEFT__ARG(large_first, s->large_first), WEFT__ARG(large, s->large), WEFT__ARG(nlarge, s->nlarge),
                 WEFT__ARG(table, s->large_table), WEFT__ARG(total, s->large_total), WEFT__ARG(col_out, s->col),
                 WEFT__ARG(col_ptr, at->row_ptr), WEFT__ARG(row_out, at->col), WEFT__ARG(val_out, at->val),
                 WEFT__ARG(n), WEFT__OFS(chunk, s->shape.ofs, chunk), WEFT__ARG(nbuckets), WEFT__ARG(shift),
                 WEFT__ARG(pack), WEFT__ARG(ncols), WEFT__ARG(failed), WEFT__ARG(run, s->mirror.mark));
}

static weft_status run(void *state, struct weft__stream *stream, const struct weft_device_csr *a,
                       const struct weft_device_csr *at)
{
    struct scan_gpu *s = state;
    const struct weft__scan_layout *l = &s->l;
    cl_uint all = 0xffffffffu, high = l->mid_bits + l->low_bits;
    cl_mem rows = s->shape.rows_given ? a->row_ptr : s->row_at;
    if (s->shape.mirror)
        weft__mirror_run(&s->mirror, stream, &s->shape, a, at);
    if (l->passes == 1) {
        count_run(s, stream, s->count, a->row_ptr, a->col, at->row_ptr, 0, all, l->nbuckets);
        partition_run(s, stream, s->first, a->row_ptr, rows, a->col, a->val, at->row_ptr, NULL, at->col, at->val, 0,
                      all, 0, l->nbuckets);
    } else if (l->passes == 2) {
        count_run(s, stream, s->count, a->row_ptr, a->col, s->bucket_ofs, high, all, l->nbuckets);
        partition_run(s, stream, s->first, a->row_ptr, rows, a->col, a->val, s->bucket_ofs, s->key, s->row, s->val,
                      high, all, l->ncols - 1, l->nbuckets);
        buckets_run(s, stream, at);
    } else {
        cl_uint low = l->low_bins - 1;
        count_run(s, stream, s->count, a->row_ptr, a->col, s->bucket_ofs, 0, low, l->low_bins);
        partition_run(s, stream, s->first, a->row_ptr, rows, a->col, a->val, s->bucket_ofs, s->col, at->col, at->val, 0,
                      low, all, l->low_bins);
        count_run(s, stream, s->count_given, NULL, s->col, s->bucket_ofs, high, all, l->nbuckets);
        partition_run(s, stream, s->second, NULL, at->col, s->col, at->val, s->bucket_ofs, s->key, s->row, s->val, high,
                      all, (UINT32_C(1) << high) - 1, l->nbuckets);
        buckets_run(s, stream, at);
        union weft__ofs nnz = weft__ofs_value(s->shape.ofs, (size_t)s->shape.nnz);
        cl_long n = s->shape.n;
        cl_uint nbuckets = l->nbuckets;
        cl_mem failed = failed_of(s);
        WEFT__LAUNCH(stream, s->col_ptr,
                     weft__groups(weft__ceil_div((size_t)n + 1, 8 * (size_t)s->count_wg), (size_t)s->count_wg),
                     (size_t)s->count_wg, WEFT__ARG(sorted, s->col), WEFT__ARG(bucket_ofs, s->bucket_ofs),
                     WEFT__ARG(col_ptr, at->row_ptr), WEFT__ARG(n), WEFT__OFS(nnz, s->shape.ofs, nnz),
                     WEFT__ARG(shift, high), WEFT__ARG(nbuckets), WEFT__ARG(failed), WEFT__ARG(run, s->mirror.mark));
    }
    return stream->status;
}

void weft__transpose_scan_gpu_variants(weft__variant_fn *fn, void *arg)
{
    static const enum weft_type types[] = {WEFT_F32, WEFT_F64, WEFT_PATTERN};
    for (int ofs = WEFT_OFS32; ofs <= WEFT_OFS64; ofs++) {
        struct scan_gpu s = {
            .wg = 256,
            .count_wg = WEFT__SCAN_COUNT_WG,
            .l = {.count_bins = 1024, .first_bins = 1024, .bucket_bins = 512, .span = 512, .key_bits = 16}};
        s.shape.ofs = (enum weft_ofs)ofs;
        for (int given = 0; given < 2; given++) {
            const struct weft__kernel_spec *specs[] = {&count_spec,        &vertical_spec,        &offsets_spec,
                                                       &bucket_count_spec, &bucket_vertical_spec, &col_ptr_spec};
            for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
                struct weft__variant v = {.spec = specs[i], .schedule = WEFT_SCHEDULE_GPU};
                s.l.key_bits = given ? 32 : 16;
                define_count(&v.defines, &s, given);
                fn(arg, &v);
            }
        }
        for (int passes = 1; passes <= 3; passes++)
            for (int special = 0; special < 3; special++) // plain, rows given, positions
                for (int t = 0; t < 3; t++)
                    for (int what = FIRST; what <= BUCKET; what++) {
                        if ((special && (t || what != FIRST)) || (what == SECOND && passes != 3) ||
                            (what == BUCKET && passes == 1))
                            continue;
                        struct weft__variant v = {.spec = what == BUCKET ? &bucket_spec : &partition_spec,
                                                  .schedule = WEFT_SCHEDULE_GPU};
                        s.shape.type = types[t];
                        s.shape.rows_given = special == 1;
                        s.shape.val_positions = special == 2;
                        s.shape.mirror = special == 2;
                        s.l.passes = passes;
                        s.l.pairs = passes > 1 && types[t] == WEFT_F32;
                        s.l.packed = passes == 2 && ofs == WEFT_OFS32;
                        s.l.key_bits = s.l.packed || (passes == 3 && ofs == WEFT_OFS64) ? 32 : 16;
                        s.l.nbuckets = 1000;
                        s.l.mid_bits = s.l.low_bits = 8;
                        // As fits() leaves them in 48 KiB of local memory.
                        s.l.span = types[t] == WEFT_F64 || (ofs == WEFT_OFS64 && s.l.pairs) ? 256 : 512;
                        define_scatter(&v.defines, &s, (enum scatter)what);
                        fn(arg, &v);
                    }
        const int ipts[] = {4, 16, WEFT__SCAN_WIDE_IPT(ofs)};
        for (int i = 0; i < 3; i++) {
            struct weft__variant v = {.spec = &bucket_spec, .schedule = WEFT_SCHEDULE_GPU};
            s.shape = (struct weft__transpose_shape){.type = WEFT_F32, .ofs = (enum weft_ofs)ofs};
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
