// SPDX-License-Identifier: Apache-2.0
// ScanTrans on devices with local memory: one, two or three stable passes over digits of the column.
//   n <= 2^bits       one pass: a bin is a column.
//   n <= 2^(2*bits)   two (up to one bit more where local memory allows): partition by the high digit into buckets, then
//                     each bucket by the low digit, which also gives the column pointers.
//   larger n          three: partition by the low digit first, then as above by the high and the middle one; column
//                     pointers from the sorted columns.
#include "op.h"
#include "transpose.h"
#include "variants.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_WG   256
#define PART_LARGE (INT64_C(1) << 26) // entries from which the parts are doubled
// Tiles in a chunk of a bucket: few, so that work-groups are many; more for patterns, whose counts would outgrow them.
#define BUCKET_TILES         4
#define BUCKET_TILES_PATTERN 16
// A bucket that a tile of a wide work-group holds is read once, counted by its ranks, and goes out in whole lines.
#define WIDE_WG  512
#define WIDE_IPT 28 // most entries of a work-item

static const struct weft__kernel_spec count_spec = {"scan_count", "transpose_scan_count.cl",
                                                    "row_ptr row_at col before table m nnz part tile shift mask nbins "
                                                    "finders failed run"};
static const struct weft__kernel_spec vertical_spec = {"scan_vertical", "transpose_scan_count.cl",
                                                       "table total rows bucket_ofs chunk_first large_first large "
                                                       "nlarge arrived chunk wide nbins failed run"};
static const struct weft__kernel_spec offsets_spec = {
    "scan_offsets", "transpose_scan_count.cl",
    "total bucket_ofs chunk_first large_first large nlarge chunk wide nbins failed run"};
static const struct weft__kernel_spec bucket_count_spec = {
    "bucket_count", "transpose_scan_count.cl",
    "key bucket_ofs large_first table chunk nbuckets stride shift ncols failed run"};
static const struct weft__kernel_spec bucket_vertical_spec = {"bucket_vertical", "transpose_scan_count.cl",
                                                              "table large_first large nlarge total ncols failed run"};
static const struct weft__kernel_spec col_ptr_spec = {"scan_col_ptr", "transpose_scan_count.cl",
                                                      "sorted bucket_ofs col_ptr n nnz shift nbuckets failed run"};
static const struct weft__kernel_spec partition_spec = {
    "scan_partition", "transpose_scan_partition.cl",
    "row_ptr rows col val bucket_ofs table before key_out row_out val_out nnz part_tiles shift mask pack "
    "key_mask nbins failed run"};
static const struct weft__kernel_spec bucket_spec = {
    "scan_bucket", "transpose_scan_bucket.cl",
    "key row val bucket_ofs chunk_first large_first large nlarge table total col_out col_ptr row_out val_out n chunk "
    "nbuckets shift pack ncols failed run"};

struct tune {
    struct weft__tune_key key;
    int wg, ipt4, ipt8, bits; // ipt4: values of up to 4 bytes, ipt8: of 8
    int groups_per_unit;      // parts per compute unit
    int wg_more; // values of 4 bytes: wg of three passes, with larger tiles, and of buckets that may go whole, with
                 // tiles as large; 0: wg
};
static const struct tune tune_rows[] = {
    // 2026-11-22, one NVIDIA H200, uniform:500000,500000,10000000: 0.341 ms, the best of 21 points of weft-bench -o transpose -a
    // scan --sweep; 0.360 at 512 of 8, 0.406 with 9 bits. The kernels of later that day: 0.302 and 0.301.
    // Three passes, uniform:8000000,8000000,100000000: 3.68 ms with 512 of 16, 4.23 with 256. Buckets that go whole: 0.251 ms with
    // 512 of 8, 0.262 with 256 of 16.
    {{WEFT_SCHEDULE_GPU, "NVIDIA", NULL, "swept on an H200"}, 256, 16, 16, 10, 4, 512},
    {{WEFT_SCHEDULE_GPU, NULL, NULL, "32 KiB of local memory, not measured"}, 256, 16, 8, 10, 4, 0},
    // Compiled for gfx90a, values of 4 bytes: tiles of 256 x 8 leave 2 groups of the partition (24864 bytes of local memory)
    // and 3 of the buckets in the 64 KiB of a compute unit; 256 x 16 one of each (45600 and 36896 bytes).
    {{WEFT_SCHEDULE_GPU, WEFT__VENDOR_AMD, NULL, "from the ISA, not run: 8 and 12 of 32 waves"}, 256, 8, 8, 10, 4, 0},
    {{WEFT_SCHEDULE_CPU, NULL, NULL, "tests only"}, 64, 4, 4, 8, 1, 0},
};

// How a shape is cut: passes, digits, parts.
struct layout {
    int passes;
    uint32_t low_bits, mid_bits; // digits; the rest of the column is the high digit
    uint32_t low_bins;           // three passes: bins of the first
    uint32_t nbuckets, ncols;    // bins of the partition into buckets; columns (digits) of a bucket
    int key_bits;                // of a column inside its bucket
    int pairs, packed;           // entries on their way: value beside the row, column inside the row's word
    size_t tile, part, parts;    // entries of a tile, of a part; number of parts
    size_t span;                 // entries between two remembered rows
    size_t chunk, large_chunks, large_buckets;
    int wide_ipt; // entries of a work-item where all buckets may each fit a tile of WIDE_WG work-items, which then move them; else 0
    uint32_t count_bins, first_bins, bucket_bins; // room for bins: counting, partitions, buckets
};

struct scan_gpu {
    struct weft__transpose_shape shape;
    struct layout l;
    int wg, units, lanes; // lanes: lane operations cost little
    struct weft__mirror mirror;
    cl_kernel offsets; // NULL: vertical finds them
    cl_kernel count, count_given, vertical, bucket_count, bucket_vertical, col_ptr;
    cl_kernel first, second, bucket; // partition from the input, partition of three passes, buckets
    cl_mem row_at, before, table, total, bucket_ofs, chunk_first, large_first, large, nlarge, large_table, large_total;
    cl_mem key, row, val; // entries in buckets
    cl_mem col;           // three passes: columns by the low digit, then sorted
    cl_mem arrived;       // groups that came to the offsets: zero between launches
};

static int bits_for(int64_t count) // bits that hold 0 .. count-1
{
    int bits = 0;
    while (((int64_t)1 << bits) < count)
        bits++;
    return bits;
}

// Entries of a work-item that are in local memory at once: larger tiles go through it in turns.
#define TURN 4096
static int staged(int wg, int ipt)
{
    return ipt * wg <= TURN ? ipt : TURN > wg ? TURN / wg : 1;
}

// Local memory of a moving kernel with room for 2^bits bins, whatever the layout; a partition also marks rows.
static size_t local_bytes(const struct weft_context *ctx, const struct weft__transpose_shape *shape, int wg, int ipt,
                          int bits, int partition)
{
    size_t w = (size_t)wg, slots = w * (size_t)staged(wg, ipt), bins = (size_t)1 << bits;
    size_t hist = weft__max(w / 32 * bins * 2, partition ? 0 : bins * 4);
    size_t stage = slots * (weft_type_bytes(shape->type) ? 8 : 4);
    int lanes = weft__caps_of(ctx).lanes != WEFT_LANES_LOCAL;
    size_t mem = lanes ? 1 : w, marks = lanes && partition ? w / 32 * (size_t)ipt * 4 : 0;
    return weft__max(hist, stage) + weft_ofs_bytes(shape->ofs) * bins + 4 * (w / 32) + 4 * mem +
           (partition ? slots * 2 : 0) + marks;
}

static int fits(const struct weft_context *ctx, const struct weft__transpose_shape *shape,
                const struct weft_transpose_params *p)
{
    return ((size_t)1 << p->bits) % (2 * (size_t)p->wg) == 0 && (size_t)p->wg * (size_t)p->ipt <= 32768 &&
           local_bytes(ctx, shape, p->wg, p->ipt, p->bits, 1) <= (size_t)ctx->device.local_bytes;
}

// Bits that a bucket resolves: one more than a partition where local memory allows, since it marks no rows.
static uint32_t bucket_bits_of(const struct weft_context *ctx, const struct weft__transpose_shape *shape,
                               const struct weft_transpose_params *p)
{
    int more = local_bytes(ctx, shape, p->wg, p->ipt, p->bits + 1, 0) <= (size_t)ctx->device.local_bytes;
    return (uint32_t)(p->bits + more);
}

// Room for `bins` bins: a power of two, two or more for each work-item.
static uint32_t bins_room(size_t bins, int wg)
{
    uint32_t room = 2 * (uint32_t)wg;
    while (room < bins)
        room *= 2;
    return room;
}

static void layout_make(struct layout *l, const struct weft_context *ctx, const struct weft__transpose_shape *shape,
                        const struct weft_transpose_params *p)
{
    size_t nnz = (size_t)shape->nnz;
    uint32_t bits = (uint32_t)p->bits, more = bucket_bits_of(ctx, shape, p), n_bits = (uint32_t)bits_for(shape->n);
    *l = (struct layout){.passes = n_bits <= bits ? 1 : n_bits <= bits + more ? 2 : 3};
    l->tile = (size_t)p->wg * (size_t)p->ipt;
    l->span = 32 * (size_t)p->ipt;
    l->part = weft__ceil_div(weft__ceil_div(nnz, l->tile), (size_t)p->groups) * l->tile;
    l->parts = weft__ceil_div(nnz, l->part);
    if (l->passes == 3)
        l->low_bits = (n_bits + 2) / 3;
    if (l->passes >= 2) {
        // Few columns to a bucket, as many as make it a full tile, and no more buckets than bins.
        uint32_t rest = n_bits - l->low_bits, least = l->passes == 3 ? rest / 2 : rest > bits ? rest - bits : 0;
        double wanted = 0.75 * (double)l->tile * (double)shape->n / (double)nnz;
        l->mid_bits = least;
        while (l->mid_bits < more && l->mid_bits < rest &&
               (double)(UINT64_C(2) << (l->mid_bits + l->low_bits)) <= wanted)
            l->mid_bits++;
    }
    l->low_bins = UINT32_C(1) << l->low_bits;
    l->ncols = UINT32_C(1) << l->mid_bits;
    l->nbuckets = (uint32_t)weft__ceil_div((size_t)shape->n, (size_t)1 << (l->mid_bits + l->low_bits));
    l->pairs = l->passes > 1 && weft_type_bytes(shape->type) == 4;
    l->packed = l->passes == 2 && (uint32_t)bits_for(shape->m) + l->mid_bits <= 32;
    l->key_bits = l->packed || l->mid_bits + l->low_bits > 16 ? 32 : 16;
    l->first_bins = bins_room(weft__max(l->nbuckets, l->low_bins), p->wg);
    l->bucket_bins = bins_room(l->ncols, p->wg);
    l->count_bins = (uint32_t)weft__max(l->first_bins, l->bucket_bins);
    l->chunk = (shape->type == WEFT_PATTERN ? BUCKET_TILES_PATTERN : BUCKET_TILES) * l->tile;
    // Random columns fill buckets alike: five standard deviations above the mean leave hardly any that is larger.
    const double mean = (double)nnz / l->nbuckets, most = mean + 5 * sqrt(mean);
    const int wide_ipt =
        mean > 2 * (double)l->tile && most <= WIDE_WG * WIDE_IPT ? ((int)(most / WIDE_WG) / 4 + 1) * 4 : 0;
    if (l->passes == 2 && l->pairs && l->packed && ctx->device.max_wg >= WIDE_WG && most <= (double)l->chunk &&
        local_bytes(ctx, shape, WIDE_WG, wide_ipt, bits_for(bins_room(l->ncols, WIDE_WG)), 0) <=
            (size_t)ctx->device.local_bytes)
        l->wide_ipt = wide_ipt;
    l->large_chunks = 2 * nnz / l->chunk;
    l->large_buckets = nnz / l->chunk;
}

static size_t key_bytes(const struct layout *l)
{
    return l->passes == 1 || l->packed ? 0 : (size_t)l->key_bits / 8;
}

// Bytes of each buffer, in the order of the members of scan_gpu from row_at to col.
#define NBUFFERS 15
static void buffer_sizes(size_t *out, const struct layout *l, const struct weft__transpose_shape *shape)
{
    size_t nnz = (size_t)shape->nnz, ofs = weft_ofs_bytes(shape->ofs), val = weft_type_bytes(shape->type);
    size_t bins = weft__max(l->nbuckets, l->low_bins), many = l->passes > 1;
    out[0] = shape->rows_given ? 0 : (weft__ceil_div(nnz, l->span) + 1) * 4;
    const size_t width = bins + bins % 2; // as ROW_OF_BINS
    out[1] = weft__mul(weft__mul(weft__ceil_div(nnz, l->tile), width), 4);
    out[2] = weft__mul(weft__mul(l->parts, width), ofs);
    out[3] = bins * ofs;
    out[4] = (bins + 1) * ofs;
    out[5] = out[6] = out[7] = (bins + 1) * 4;
    out[8] = 2 * 4;
    out[9] = many * weft__mul(l->large_chunks * l->ncols, ofs);
    out[10] = many * weft__mul(l->large_buckets * l->ncols, ofs);
    out[11] = weft__mul(nnz, key_bytes(l));
    out[12] = many * weft__mul(nnz, l->pairs ? 8 : 4);
    out[13] = l->pairs ? 0 : many * weft__mul(nnz, val);
    out[14] = l->passes == 3 ? weft__mul(nnz, 4) : 0;
}

static weft_status plan(struct weft_context *ctx, const struct weft__transpose_shape *shape,
                        struct weft_transpose_info *info)
{
    const struct tune *tune = WEFT__TUNE_FIND(ctx, tune_rows);
    struct weft_transpose_params *p = &info->params;
    struct layout l;
    size_t val = weft_type_bytes(shape->type);
    int given = p->wg || p->ipt || p->bits;
    if (!p->wg)
        p->wg = tune->wg;
    while (!given && (size_t)p->wg > ctx->device.max_wg && p->wg > 32)
        p->wg /= 2;
    if (!p->ipt)
        p->ipt = val == 8 ? tune->ipt8 : tune->ipt4;
    if (!p->bits)
        p->bits = tune->bits;
    if (p->wg < 32 || p->wg % 32 || (size_t)p->wg > ctx->device.max_wg || p->wg > 1024)
        return weft__fail(ctx, WEFT_EINVAL, "wg %d is not a multiple of 32 up to %zu", p->wg, ctx->device.max_wg);
    if (p->ipt < 1 || p->ipt > 64 || p->bits < 1 || p->bits > 14)
        return weft__fail(ctx, WEFT_EINVAL, "ipt %d is not in 1 .. 64, or bits %d not in 1 .. 14", p->ipt, p->bits);
    if (!p->groups) // more for large matrices: shorter parts balance the counting better
        p->groups = ctx->device.compute_units * tune->groups_per_unit * (shape->nnz >= PART_LARGE ? 2 : 1);
    if (p->groups < 1 || p->groups > 1 << 20)
        return weft__fail(ctx, WEFT_EINVAL, "groups %d is not in 1 .. %d", p->groups, 1 << 20);
    int n_bits = bits_for(shape->n);
    if (!given) {
        // Smaller tiles where local memory asks for it, wider digits where three passes would not cover n.
        while (3 * p->bits < n_bits)
            p->bits++;
        while (!fits(ctx, shape, p) && (p->ipt > 4 || p->wg > 32))
            if (p->ipt > 4)
                p->ipt /= 2;
            else
                p->wg /= 2;
        // Two passes of smaller work-groups, whose histograms leave room for one more bit, rather than three passes.
        struct weft_transpose_params other = *p;
        other.wg /= 2;
        if (n_bits == 2 * p->bits + 1 && bucket_bits_of(ctx, shape, p) == (uint32_t)p->bits && other.wg >= 64 &&
            fits(ctx, shape, &other) && bucket_bits_of(ctx, shape, &other) > (uint32_t)p->bits)
            *p = other;
        layout_make(&l, ctx, shape, p);
        other = *p;
        other.wg = tune->wg_more;
        if (l.wide_ipt && other.wg > p->wg)
            other.ipt = (int)l.tile / other.wg;
        if (other.wg && (size_t)other.wg <= ctx->device.max_wg && val == 4 && (l.passes == 3 || l.wide_ipt) &&
            other.ipt && fits(ctx, shape, &other))
            *p = other;
    }
    if (3 * p->bits < n_bits)
        return weft__fail(ctx, WEFT_EINVAL, "three passes of %d bits do not reach %lld columns", p->bits,
                          (long long)shape->n);
    if (!fits(ctx, shape, p))
        return weft__fail(
            ctx, WEFT_EINVAL,
            "wg %d, ipt %d, bits %d need %zu bytes of local memory of %lld, and 2^bits a multiple of 2*wg", p->wg,
            p->ipt, p->bits, local_bytes(ctx, shape, p->wg, p->ipt, p->bits, 1), (long long)ctx->device.local_bytes);
    layout_make(&l, ctx, shape, p);
    if (weft__ceil_div((size_t)shape->nnz, l.tile) > UINT32_MAX / (size_t)p->wg) // a work-group owns a tile
        return weft__fail(ctx, WEFT_ERANGE, "%lld entries are too many for tiles of wg*ipt = %zu",
                          (long long)shape->nnz, l.tile);
    size_t sizes[NBUFFERS];
    buffer_sizes(sizes, &l, shape);
    info->workspace_bytes = 0;
    for (int i = 0; i < NBUFFERS; i++)
        info->workspace_bytes = weft__add(info->workspace_bytes, sizes[i]);
    info->passes = l.passes;
    info->workspace_bytes = weft__add(info->workspace_bytes, shape->mirror ? 8 : 4); // arrived, the mark of the mirror
    char whole[64] = "";
    if (l.wide_ipt)
        snprintf(whole, sizeof whole, ", up to %zu entries whole",
                 weft__min((size_t)WIDE_WG * (size_t)l.wide_ipt, l.chunk));
    snprintf(info->why, sizeof info->why, "scan: %d passes over %d column bits, %u buckets of %u digits%s%s%s",
             l.passes, n_bits, l.nbuckets, l.ncols, whole, l.packed ? ", row and column in one word" : "",
             shape->mirror ? "; mirrored where the pattern is symmetric" : "");
    return WEFT_OK;
}

static void define_sizes(struct weft__defines *d, const struct scan_gpu *s, enum weft_type type, int wg)
{
    weft__define_types(d, type, s->shape.ofs);
    weft__define(d, "WEFT_WG", "%d", wg);
    weft__define(d, "WEFT_SPAN", "%zu", s->l.span);
}

static void define_count(struct weft__defines *d, const struct scan_gpu *s, int rows_given)
{
    define_sizes(d, s, WEFT_PATTERN, COUNT_WG);
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
    const int wide = what == BUCKET && s->l.wide_ipt, wg = wide ? WIDE_WG : s->wg,
              ipt = wide ? s->l.wide_ipt : (int)(s->l.span / 32);
    define_sizes(d, s, s->shape.type, wg);
    weft__define(d, "WEFT_IPT", "%d", ipt);
    weft__define(d, "WEFT_STAGED", "%d", staged(wg, ipt));
    if (wide)
        weft__define(d, "WEFT_WIDE", "1");
    uint32_t bins = wide ? bins_room(s->l.ncols, wg) : what == BUCKET ? s->l.bucket_bins : s->l.first_bins;
    weft__define(d, "WEFT_BINS", "%u", bins);
    int digits = what == BUCKET                      ? (int)s->l.mid_bits
                 : what == FIRST && s->l.passes == 3 ? (int)s->l.low_bits
                                                     : bits_for(s->l.nbuckets);
    // One program for all digits where a ballot is not worth saving.
    weft__define(d, "WEFT_DIGIT_BITS", "%d", s->lanes ? digits : bits_for(bins));
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
    cl_kernel *kernels[] = {&s->count,           &s->count_given, &s->vertical, &s->offsets, &s->bucket_count,
                            &s->bucket_vertical, &s->col_ptr,     &s->first,    &s->second,  &s->bucket};
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
    s->units = ctx->device.compute_units;
    s->lanes = weft__caps_of(ctx).lanes != WEFT_LANES_LOCAL;
    layout_make(&s->l, ctx, shape, &info->params);
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
    size_t sizes[NBUFFERS];
    buffer_sizes(sizes, &s->l, shape);
    cl_mem *buffers = &s->row_at;
    for (int i = 0; i < NBUFFERS && !status; i++)
        if (sizes[i] || i < 11)
            status = weft__buffer_create(&buffers[i], ctx, sizes[i], "scratch of a transposition");
    if (!status)
        status = weft__buffer_create_from(&s->arrived, ctx, 4, &(cl_uint){0}, "scratch of a transposition");
    if (status)
        destroy(state);
    return status;
}

// A number as an argument of type ofs_t.
union ofs {
    cl_int i32;
    cl_long i64;
};
static union ofs ofs_value(const struct scan_gpu *s, size_t value)
{
    union ofs out;
    if (s->shape.ofs == WEFT_OFS64)
        out.i64 = (cl_long)value;
    else
        out.i32 = (cl_int)value;
    return out;
}
// What says whether there is anything to do; without a mirror it is not read.
static cl_mem failed_of(const struct scan_gpu *s)
{
    return s->shape.mirror ? s->mirror.failed : s->bucket_ofs;
}
#define OFS_ARG(s, x)                                                                                                  \
    {                                                                                                                  \
        weft_ofs_bytes((s)->shape.ofs), &(x)                                                                           \
    }

// Count bins of (col >> shift) & mask, scan, find the offsets of bins in `bucket_ofs`.
static void count_run(struct scan_gpu *s, struct weft__stream *stream, cl_kernel kernel, cl_mem row_ptr, cl_mem col,
                      cl_mem bucket_ofs, cl_uint shift, cl_uint mask, cl_uint nbins)
{
    union ofs nnz = ofs_value(s, (size_t)s->shape.nnz), part = ofs_value(s, s->l.part),
              chunk = ofs_value(s, s->l.chunk);
    cl_int m = (cl_int)s->shape.m;
    cl_uint wide = (cl_uint)weft__min((size_t)WIDE_WG * (size_t)s->l.wide_ipt, s->l.chunk); // a chunk each
    cl_uint rows = (cl_uint)s->l.parts, tile = (cl_uint)s->l.tile;
    const size_t found = weft__ceil_div((size_t)s->shape.nnz, s->l.span) + 1;
    cl_uint finders = row_ptr && !s->shape.rows_given ? (cl_uint)weft__ceil_div(found, COUNT_WG) : 0;
    cl_mem failed = failed_of(s);
    WEFT__LAUNCH(stream, kernel, &count_spec, finders + s->l.parts, COUNT_WG, WEFT__ARG(row_ptr), WEFT__ARG(s->row_at),
                 WEFT__ARG(col), WEFT__ARG(s->before), WEFT__ARG(s->table), WEFT__ARG(m), OFS_ARG(s, nnz),
                 OFS_ARG(s, part), WEFT__ARG(tile), WEFT__ARG(shift), WEFT__ARG(mask), WEFT__ARG(nbins),
                 WEFT__ARG(finders), WEFT__ARG(failed), WEFT__ARG(s->mirror.mark));
    WEFT__LAUNCH(stream, s->vertical, &vertical_spec, weft__ceil_div(nbins, 32), COUNT_WG, WEFT__ARG(s->table),
                 WEFT__ARG(s->total), WEFT__ARG(rows), WEFT__ARG(bucket_ofs), WEFT__ARG(s->chunk_first),
                 WEFT__ARG(s->large_first), WEFT__ARG(s->large), WEFT__ARG(s->nlarge), WEFT__ARG(s->arrived),
                 OFS_ARG(s, chunk), WEFT__ARG(wide), WEFT__ARG(nbins), WEFT__ARG(failed), WEFT__ARG(s->mirror.mark));
    if (s->offsets)
        WEFT__LAUNCH(stream, s->offsets, &offsets_spec, 1, COUNT_WG, WEFT__ARG(s->total), WEFT__ARG(bucket_ofs),
                     WEFT__ARG(s->chunk_first), WEFT__ARG(s->large_first), WEFT__ARG(s->large), WEFT__ARG(s->nlarge),
                     OFS_ARG(s, chunk), WEFT__ARG(wide), WEFT__ARG(nbins), WEFT__ARG(failed),
                     WEFT__ARG(s->mirror.mark));
}

static void partition_run(struct scan_gpu *s, struct weft__stream *stream, cl_kernel kernel, cl_mem row_ptr,
                          cl_mem rows, cl_mem col, cl_mem val, cl_mem bucket_ofs, cl_mem key_out, cl_mem row_out,
                          cl_mem val_out, cl_uint shift, cl_uint mask, cl_uint key_mask, cl_uint nbins)
{
    union ofs nnz = ofs_value(s, (size_t)s->shape.nnz);
    cl_uint part_tiles = (cl_uint)(s->l.part / s->l.tile), pack = s->l.mid_bits;
    size_t tiles = weft__ceil_div((size_t)s->shape.nnz, s->l.tile), wg = (size_t)s->wg;
    cl_mem failed = failed_of(s);
    WEFT__LAUNCH(stream, kernel, &partition_spec, tiles, wg, WEFT__ARG(row_ptr), WEFT__ARG(rows), WEFT__ARG(col),
                 WEFT__ARG(val), WEFT__ARG(bucket_ofs), WEFT__ARG(s->table), WEFT__ARG(s->before), WEFT__ARG(key_out),
                 WEFT__ARG(row_out), WEFT__ARG(val_out), OFS_ARG(s, nnz), WEFT__ARG(part_tiles), WEFT__ARG(shift),
                 WEFT__ARG(mask), WEFT__ARG(pack), WEFT__ARG(key_mask), WEFT__ARG(nbins), WEFT__ARG(failed),
                 WEFT__ARG(s->mirror.mark));
}

static void buckets_run(struct scan_gpu *s, struct weft__stream *stream, const struct weft_device_csr *at)
{
    const struct layout *l = &s->l;
    union ofs chunk = ofs_value(s, l->chunk);
    cl_long n = s->shape.n;
    cl_uint shift = l->low_bits, nbuckets = l->nbuckets, ncols = l->ncols, pack = l->mid_bits;
    cl_uint stride = l->packed && l->pairs ? 2 : 1;
    cl_mem key = l->packed ? s->row : s->key, failed = failed_of(s);
    if (l->large_buckets) {
        size_t groups = (size_t)s->units * 8;
        WEFT__LAUNCH(stream, s->bucket_count, &bucket_count_spec, weft__min(groups, l->large_chunks), COUNT_WG,
                     WEFT__ARG(key), WEFT__ARG(s->bucket_ofs), WEFT__ARG(s->large_first), WEFT__ARG(s->large_table),
                     OFS_ARG(s, chunk), WEFT__ARG(nbuckets), WEFT__ARG(stride), WEFT__ARG(shift), WEFT__ARG(ncols),
                     WEFT__ARG(failed), WEFT__ARG(s->mirror.mark));
        WEFT__LAUNCH(stream, s->bucket_vertical, &bucket_vertical_spec, groups, COUNT_WG, WEFT__ARG(s->large_table),
                     WEFT__ARG(s->large_first), WEFT__ARG(s->large), WEFT__ARG(s->nlarge), WEFT__ARG(s->large_total),
                     WEFT__ARG(ncols), WEFT__ARG(failed), WEFT__ARG(s->mirror.mark));
    }
    const size_t groups = l->nbuckets + (size_t)s->shape.nnz / l->chunk, wg = l->wide_ipt ? WIDE_WG : (size_t)s->wg;
    WEFT__LAUNCH(stream, s->bucket, &bucket_spec, groups, wg, WEFT__ARG(s->key), WEFT__ARG(s->row), WEFT__ARG(s->val),
                 WEFT__ARG(s->bucket_ofs), WEFT__ARG(s->chunk_first), WEFT__ARG(s->large_first), WEFT__ARG(s->large),
                 WEFT__ARG(s->nlarge), WEFT__ARG(s->large_table), WEFT__ARG(s->large_total), WEFT__ARG(s->col),
                 WEFT__ARG(at->row_ptr), WEFT__ARG(at->col), WEFT__ARG(at->val), WEFT__ARG(n), OFS_ARG(s, chunk),
                 WEFT__ARG(nbuckets), WEFT__ARG(shift), WEFT__ARG(pack), WEFT__ARG(ncols), WEFT__ARG(failed),
                 WEFT__ARG(s->mirror.mark));
}

static weft_status run(void *state, struct weft__stream *stream, const struct weft_device_csr *a,
                       const struct weft_device_csr *at)
{
    struct scan_gpu *s = state;
    const struct layout *l = &s->l;
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
        union ofs nnz = ofs_value(s, (size_t)s->shape.nnz);
        cl_long n = s->shape.n;
        cl_uint nbuckets = l->nbuckets;
        cl_mem failed = failed_of(s);
        WEFT__LAUNCH(stream, s->col_ptr, &col_ptr_spec,
                     weft__groups(weft__ceil_div((size_t)n + 1, 8 * COUNT_WG), COUNT_WG), COUNT_WG, WEFT__ARG(s->col),
                     WEFT__ARG(s->bucket_ofs), WEFT__ARG(at->row_ptr), WEFT__ARG(n), OFS_ARG(s, nnz), WEFT__ARG(high),
                     WEFT__ARG(nbuckets), WEFT__ARG(failed), WEFT__ARG(s->mirror.mark));
    }
    return stream->status;
}

void weft__transpose_scan_gpu_variants(weft__variant_fn *fn, void *arg)
{
    static const enum weft_type types[] = {WEFT_F32, WEFT_F64, WEFT_PATTERN};
    for (int ofs = WEFT_OFS32; ofs <= WEFT_OFS64; ofs++) {
        struct scan_gpu s = {
            .wg = 256, .l = {.count_bins = 1024, .first_bins = 1024, .bucket_bins = 512, .span = 512, .key_bits = 16}};
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
        for (int ipt = 4; ipt <= WIDE_IPT; ipt += 12) {
            struct weft__variant v = {.spec = &bucket_spec, .schedule = WEFT_SCHEDULE_GPU};
            s.shape = (struct weft__transpose_shape){.type = WEFT_F32, .ofs = (enum weft_ofs)ofs};
            s.l.passes = 2;
            s.l.pairs = s.l.packed = 1;
            s.l.key_bits = 32;
            s.l.ncols = 512;
            s.l.wide_ipt = ipt;
            define_scatter(&v.defines, &s, BUCKET);
            fn(arg, &v);
        }
        s.l.wide_ipt = 0;
    }
}

const struct weft__transpose_method weft__transpose_scan_gpu = {"scan", plan, create, run, destroy};
