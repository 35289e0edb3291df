// SPDX-License-Identifier: Apache-2.0
// Cuts a shape for ScanTrans on GPUs into passes, tiles and buckets, and chooses the tuning values that were not given.
#include "host/src/transpose/scan_layout.h"
#include "host/src/core/limits.h"
#include "host/src/core/tune.h"

#include <math.h>
#include <stdio.h>

#define PART_LARGE (INT64_C(1) << 26) // entries from which the parts are doubled
#define PART_MOST                                                                                                      \
    WEFT__HOSTILE((size_t)1 << 31, (size_t)1 << 10) // entries of a part, about: they are counted in 32 bits
// Tiles in a chunk of a bucket in the last pass, at most: few, so that work-groups are many; more for patterns, whose counts would
// outgrow them. In the pass before it is one. Fewer where a compute unit would have less than CHUNKS_OF_UNIT of them
// (docs/log/small-launches.md).
#define BUCKET_TILES         4
#define BUCKET_TILES_PATTERN 16
#define CHUNKS_OF_UNIT       16

// The last of three passes: its work-groups, and entries of a work-item of the smallest ones.
#define LAST_WG       256
#define LAST_WG_LEAST 128
#define LAST_IPT      8

// docs/log/huge-tiles.md. Below so many entries of a bin in a small tile the first pass takes large ones, below twice as many
// where values have 8 bytes, since rows travel on their own; and below so many a pass over buckets.
#define RUN_FIRST   32
#define RUN_BUCKETS 16
// docs/log/three-passes.md. With values of 8 bytes tiles of half as many entries, up to so many in all, where each bin of the first two of
// three passes still has so many.
#define HALF_MOST (INT64_C(1) << 25)
#define RUN_HALF  16
// Two passes are crowded whose buckets have more tiles than this in the mean. They are three where a column has more bits than two
// digits less TWO_LESS.
#define CROWDED  3.5
#define TWO_LESS 3
// The columns of parts may have so many bits less than large tiles would hold, if they then fit the words of rows.
#define PACKED_BITS 2

// docs/log/small-launches.md. So few counts, of a part and a bin each, are added up by one of the groups that count; more of so few
// entries by several, in segments. Of so few tiles the group that moves one counts all entries itself. Buckets that have so few tiles
// together are counted by each group that has a chunk of one. Chunks are added up by the groups that count them where a group has so few.
#define JOINED_MOST        16384
#define SEGMENTS_MOST      (INT64_C(1) << 22)
#define FIRST_COUNTED_MOST 6
#define SELF_COUNTED_MOST  96
#define GROUP_CHUNKS       2

// docs/log/hypersparse.md. Buckets of the last pass are sparse that have SPARSE_COLUMNS or more and so many entries in the mean that
// hardly any has more than WEFT__SCAN_SPARSE.
#define SPARSE_COLUMNS 1024
#define SPARSE_MEAN    210

struct tune {
    struct weft__tune_key key;
    int wg, ipt4, ipt8, ipt0, bits; // ipt4: values of 4 bytes, ipt8: of 8, ipt0: patterns
    int groups_per_unit;            // parts per compute unit
    int wg_more;                    // values of 4 bytes: wg of buckets that may go whole, with tiles as large; 0: wg
    int wg_large;                   // of large tiles
};
static const struct tune tune_rows[] = {
    // 2026-11-22, one NVIDIA H200, uniform:500000,500000,10000000: 0.341 ms, the best of 21 points of weft-bench -o
    // transpose -a scan --sweep; 0.360 at 512 of 8, 0.406 with 9 bits. The kernels of later that day: 0.302 and 0.301.
    // Three passes, uniform:8000000,8000000,100000000, 2026-11-25: 2.73 ms, 2.96 with 512 of 8. Buckets
    // that go whole: 0.251 ms with 512 of 8, 0.262 with 256 of 16. Large tiles: docs/log/huge-tiles.md.
    {{WEFT_SCHEDULE_GPU, "NVIDIA", 0, NULL, "swept on an H200"}, 256, 16, 16, 16, 10, 4, 512, 512},
    {{WEFT_SCHEDULE_GPU, NULL, 0, NULL, "32 KiB of local memory, not measured"}, 256, 16, 8, 16, 10, 4, 0, 256},
    // docs/log/amd-occupancy.md: the largest tiles that leave two groups and a quarter of the waves. Patterns stage half as
    // many bytes; with tiles of 256 x 8 the counts of 100 M entries would make the scratch 1.22 times input and output.
    {{WEFT_SCHEDULE_GPU, WEFT__VENDOR_AMD, 0, NULL, "from the ISA, not run: 8 of 32 waves"},
     256,
     8,
     8,
     16,
     10,
     4,
     0,
     256},
    {{WEFT_SCHEDULE_GPU, WEFT__VENDOR_AMD, 32, NULL, "from the ISA, not run: 24 of 64 waves"},
     256,
     16,
     16,
     16,
     10,
     4,
     0,
     256},
    {{WEFT_SCHEDULE_CPU, NULL, 0, NULL, "tests only"}, 64, 4, 4, 4, 8, 1, 0, 64},
};

#define GPU(member, column) WEFT__TUNABLE(#member, struct weft_transpose_params, gpu.member, struct tune, column)
static const struct weft__tunable values[] = {
    {GPU(wg, wg), .low = 32, .step = WEFT__POWER_OF_TWO, .most = weft__tunable_wg, .lower = WEFT__LOWER_HALVE,
     .kept = WEFT__KEPT_FOUND, .sweep = {128, 256, 512}, .help = "work-items per work-group"},
    {GPU(ipt, ipt4), .low = 1, .high = 64, .step = 1, .kept = WEFT__KEPT_FOUND, .sweep = {4, 8, 16, 32},
     .help = "entries per work-item and tile"},
    {GPU(bits, bits), .low = 1, .high = 14, .step = 1, .kept = WEFT__KEPT_FOUND, .sweep = {9, 10, 11},
     .help = "column bits that one pass resolves"},
    {GPU(groups, groups_per_unit), .low = 1, .high = 1 << 20, .step = 1, .kept = WEFT__KEPT,
     .help = "work-groups that share the entries; the default is for each compute unit"},
    {GPU(wg_large, wg_large), .low = 32, .step = WEFT__POWER_OF_TWO, .most = weft__tunable_wg,
     .lower = WEFT__LOWER_HALVE, .kept = WEFT__KEPT_FOUND, .sweep = {256, 512},
     .help = "work-items per work-group where bins are many and tiles large; wg or less: no tiles are"},
};
const struct weft__tunables weft__transpose_scan_gpu_tunables[] = {
    {"transpose", NULL, WEFT_SCHEDULE_GPU, "transpose.scan", WEFT__TUNABLES(values), WEFT__TUNE_ROWS(tune_rows)},
    {0},
};

#define TURN      4096
#define TURN_WIDE 3072 // positions of 64 bits: where 1024 bins begin takes 8 KiB
int weft__scan_staged(struct weft__scan_tile tile, enum weft_ofs pos)
{
    const int turn = pos == WEFT_OFS_64 ? TURN_WIDE : TURN;
    return tile.ipt * tile.wg <= turn ? tile.ipt : turn > tile.wg ? turn / tile.wg : 1;
}

// Bits of a row; of a trial as many as keep columns out of rows' words where they are always on their own.
#define BITS_APART 32
static uint32_t row_bits(const struct weft__transpose_shape *shape)
{
    const struct weft__scan_layout *like = shape->like;
    return !like || like->passes == 1 || like->parts_packed ? weft__bits_for(shape->m) : BITS_APART;
}

// Local memory of a moving kernel with room for 2^bits bins, whatever the layout. Those of entries on their way hold the bin of
// each slot, and a partition also marks rows.
enum pass { PARTITION, BETWEEN, COLUMNS };
static size_t local_bytes(const struct weft_context *ctx, const struct weft__transpose_shape *shape, int wg, int ipt,
                          int bits, enum pass pass)
{
    const struct weft__scan_tile tile = {wg, ipt};
    size_t w = (size_t)wg, slots = w * (size_t)weft__scan_staged(tile, weft__transpose_pos(shape)),
           bins = (size_t)1 << bits;
    size_t hist = weft__max(w / 32 * bins * 2, pass == PARTITION ? 0 : bins * 4);
    size_t stage = slots * (weft_type_bytes(shape->type) ? 8 : 4);
    int lanes = weft__caps_of(ctx).lanes != WEFT_LANES_LOCAL;
    // Of columns beside rows and values that share a word, also in the last pass; `bits` may be of these columns.
    const int apart = pass != COLUMNS || (weft_type_bytes(shape->type) == 4 && row_bits(shape) + (uint32_t)bits > 32);
    size_t mem = lanes ? 1 : w, marks = lanes && pass == PARTITION ? w / 32 * (size_t)ipt * 4 : 0;
    return weft__max(hist, stage) + weft_ofs_bytes(weft__transpose_pos(shape)) * bins + 4 * (w / 32) + 4 * mem +
           (apart ? slots * 2 : 0) + marks;
}

// That of the passes which these columns take, at most.
static size_t local_needed(const struct weft_context *ctx, const struct weft__transpose_shape *shape,
                           const struct weft_transpose_params *p)
{
    const enum pass last = (int)weft__bits_for(shape->n) > p->gpu.bits ? COLUMNS : PARTITION;
    size_t needed = 0;
    for (int pass = PARTITION; pass <= (int)last; pass++)
        needed = weft__max(needed, local_bytes(ctx, shape, p->gpu.wg, p->gpu.ipt, p->gpu.bits, (enum pass)pass));
    return needed;
}

static int fits(const struct weft_context *ctx, const struct weft__transpose_shape *shape,
                const struct weft_transpose_params *p)
{
    return ((size_t)1 << p->gpu.bits) % (2 * (size_t)p->gpu.wg) == 0 &&
           (size_t)p->gpu.wg * (size_t)p->gpu.ipt <= 32768 && local_needed(ctx, shape, p) <= weft__local_most(ctx);
}

// Bits that a bucket resolves: one more than a partition where local memory allows, since it marks no rows.
static uint32_t bucket_bits_of(const struct weft_context *ctx, const struct weft__transpose_shape *shape,
                               const struct weft_transpose_params *p, enum pass pass)
{
    int more = local_bytes(ctx, shape, p->gpu.wg, p->gpu.ipt, p->gpu.bits + 1, pass) <= weft__local_most(ctx);
    return (uint32_t)(p->gpu.bits + more);
}

uint32_t weft__scan_bins_room(size_t bins, int wg)
{
    uint32_t room = 2 * (uint32_t)wg;
    while (room < bins)
        room *= 2;
    return room;
}

static size_t workspace_bytes(const struct weft__scan_layout *l, const struct weft__transpose_shape *shape)
{
    struct weft__scratch needs[NBUFFERS];
    weft__scan_scratch(needs, l, shape);
    return weft__add(weft__scratch_bytes(needs, NBUFFERS), shape->mirror ? WEFT__MIRROR_BYTES : 0);
}

static size_t entries_of(struct weft__scan_tile tile)
{
    return (size_t)tile.wg * (size_t)tile.ipt;
}

// Bits of the low digit, of `most` at most; of a trial what there is room for in the layout that it is like.
static uint32_t low_most(const struct weft__transpose_shape *shape, uint32_t most)
{
    const struct weft__scan_layout *like = shape->like;
    return like ? (uint32_t)weft__min(most, like->last_digit) : most;
}

// Entries that columns of `low_bits` bits have in a matrix of random ones: in the mean, and nearly always at most.
static double part_mean(const struct weft__transpose_shape *shape, uint32_t low_bits)
{
    return (double)shape->nnz * (double)(UINT64_C(1) << low_bits) / (double)shape->n;
}
static double part_most(const struct weft__transpose_shape *shape, uint32_t low_bits)
{
    return part_mean(shape, low_bits) + 3 * sqrt(part_mean(shape, low_bits));
}

// Large tiles: of fewer entries where values take two registers each.
static struct weft__scan_tile large_of(const struct weft__transpose_shape *shape, const struct weft_transpose_params *p)
{
    return (struct weft__scan_tile){
        p->gpu.wg_large, WEFT__SCAN_LARGE_IPT(p->gpu.ipt, weft_type_bytes(shape->type), weft__transpose_pos(shape))};
}

// They fit the moving kernels of three passes.
static int large_fits(const struct weft_context *ctx, const struct weft__transpose_shape *shape,
                      const struct weft_transpose_params *p)
{
    const struct weft__scan_tile large = large_of(shape, p);
    const int bits = (int)weft__max((uint32_t)p->gpu.bits, weft__bits_for(2 * (int64_t)large.wg));
    size_t needed = 0;
    for (int pass = PARTITION; pass <= COLUMNS; pass++)
        needed = weft__max(needed, local_bytes(ctx, shape, large.wg, large.ipt, bits, (enum pass)pass));
    return entries_of(large) <= 32768 && needed <= weft__local_most(ctx);
}

// There are large tiles, and enough of them for all compute units.
static int large_pays(const struct weft_context *ctx, const struct weft__transpose_shape *shape,
                      const struct weft_transpose_params *p)
{
    const struct weft__scan_tile large = large_of(shape, p);
    return large.wg > p->gpu.wg && (double)shape->nnz >= 2.0 * (double)entries_of(large) * ctx->device.compute_units;
}

// The digits and tiles of three passes.
static void three_cut(struct weft__scan_layout *l, const struct weft_context *ctx,
                      const struct weft__transpose_shape *shape, const struct weft_transpose_params *p, uint32_t n_bits)
{
    const struct weft__scan_tile tile = {p->gpu.wg, p->gpu.ipt}, large = large_of(shape, p);
    struct weft_transpose_params last = *p;
    last.gpu.wg = p->gpu.wg < LAST_WG ? p->gpu.wg : LAST_WG;
    const uint32_t bits = (uint32_t)p->gpu.bits, others = bits + bucket_bits_of(ctx, shape, p, BETWEEN),
                   least = n_bits > others ? n_bits - others : 0, m_bits = row_bits(shape);
    const int may_large = large_pays(ctx, shape, p);
    // The last pass takes as many columns at a time as fit the tile of a small work-group, of which many run side by side; fewer
    // where their bits then fit the word of a row. Large tiles take more where these do not, or where bins would be too many.
    const uint32_t room = m_bits < 32 ? 32 - m_bits : 0;
    uint32_t most = 0;
    l->low_bits = least;
    // Small tiles leave local memory for more columns.
    for (int ipt = p->gpu.ipt < LAST_IPT ? p->gpu.ipt : LAST_IPT; ipt <= p->gpu.ipt; ipt *= 2) {
        last.gpu.ipt = ipt;
        most = low_most(shape, bucket_bits_of(ctx, shape, &last, COLUMNS));
        while (l->low_bits < most && part_most(shape, l->low_bits + 1) <= last.gpu.wg * ipt)
            l->low_bits++;
    }
    l->last = (struct weft__scan_tile){last.gpu.wg, last.gpu.ipt};
    uint32_t more = l->low_bits;
    while (may_large && more < weft__min(bits, most) && part_most(shape, more + 1) <= (double)entries_of(large))
        more++;
    if (l->low_bits > room && room >= least && room + PACKED_BITS >= more)
        l->low_bits = room;
    else if (more > l->low_bits && (l->low_bits > room || (n_bits - l->low_bits + 2 > 2 * bits && more <= room))) {
        l->low_bits = more;
        l->last = large;
    }
    // Tiles of no more entries than parts have.
    const double entries = part_most(shape, l->low_bits);
    while (l->last.wg > LAST_WG_LEAST && entries <= l->last.wg / 2 * (l->last.ipt < LAST_IPT ? l->last.ipt : LAST_IPT))
        l->last.wg /= 2;
    while (l->last.ipt > 4 && l->last.ipt % 4 == 0 && entries <= l->last.wg * (l->last.ipt - 4))
        l->last.ipt -= 4;
    // Of few entries buckets are made half a tile, as long as that takes no more room for bins.
    const uint32_t rest = n_bits - l->low_bits, narrow = weft__bits_for(2 * (int64_t)p->gpu.wg);
    const uint32_t half = weft__bits_for((int64_t)(2 * (size_t)shape->nnz / entries_of(tile)));
    l->mid_bits = (uint32_t)weft__max((rest + 1) / 2, rest - weft__min(bits, rest));
    if (half <= narrow && half <= bits && half < rest && rest - half < l->mid_bits)
        l->mid_bits = rest - half;
    // Many bins leave a tile few entries for each, whose sectors are then written in parts.
    const size_t first = (size_t)weft__ceil_div((size_t)shape->n, (size_t)1 << (l->mid_bits + l->low_bits));
    const size_t wide = weft_type_bytes(shape->type) == 8 ? 2 : 1;
    if (may_large && first * RUN_FIRST * wide > entries_of(tile))
        l->first = large;
    // Columns on their own, values of 8 bytes and positions of 64 bits take more registers than large work-groups have, and one bit
    // more than `bits` more local memory.
    const int held = wide == 1 || l->low_bits <= room || weft__transpose_pos(shape) == WEFT_OFS_32;
    if (may_large && l->mid_bits <= bits && held && (size_t)RUN_BUCKETS << l->mid_bits > entries_of(tile))
        l->second = large;
}

// Parts of a segment, of which there are about as many: segment_of of cl/transpose/scan.clh, where chunks are counted on the device.
static size_t segment_of(size_t parts)
{
    size_t each = 8;
    while (each * each < parts)
        each *= 2;
    return each;
}

// Buckets of more than a chunk have at most a chunk for each `entries` of them, and one more each.
static struct weft__scan_chunks chunks_of(const struct weft_context *ctx, size_t entries, size_t nnz, uint32_t nbuckets)
{
    const size_t buckets = weft__min(nnz / entries, (size_t)nbuckets), chunks = nnz / entries + buckets,
                 groups = (size_t)ctx->device.compute_units * WEFT__SCAN_CHUNK_GROUPS;
    return (struct weft__scan_chunks){entries, chunks, buckets,
                                      weft__caps_of(ctx).fence && chunks <= GROUP_CHUNKS * groups};
}

// Two passes; `crowded`: buckets will have many tiles, so that fewer buckets of more columns are better.
static void two_cut(struct weft__scan_layout *l, const struct weft_context *ctx,
                    const struct weft__transpose_shape *shape, const struct weft_transpose_params *p, uint32_t n_bits,
                    int crowded)
{
    const struct weft__scan_tile tile = {p->gpu.wg, p->gpu.ipt}, large = large_of(shape, p);
    const int may_large = large_pays(ctx, shape, p);
    const uint32_t bits = (uint32_t)p->gpu.bits, more = low_most(shape, bucket_bits_of(ctx, shape, p, COLUMNS));
    l->low_bits = n_bits > bits ? n_bits - bits : 0;
    if (crowded) {
        l->low_bits = (uint32_t)weft__max(l->low_bits, weft__min((n_bits + 1) / 2, bits - weft__min(2u, bits - 1)));
        if (may_large && (size_t)RUN_FIRST << (n_bits - l->low_bits) > entries_of(tile))
            l->first = large;
        // One bit more than `bits` fits small tiles alone.
        if (may_large && l->low_bits <= bits && (size_t)RUN_BUCKETS << l->low_bits > entries_of(tile))
            l->last = large;
        return;
    }
    if (may_large && weft_type_bytes(shape->type) == 8 && l->low_bits <= bits)
        l->first = l->last = large;
    // Few columns to a bucket, as many as make it a full tile, and no more buckets than bins.
    const double wanted = 0.75 * (double)entries_of(l->last) * (double)shape->n / (double)shape->nnz;
    while (l->low_bits < (l->last.wg == tile.wg ? more : bits) && l->low_bits < n_bits &&
           (double)(UINT64_C(2) << l->low_bits) <= wanted)
        l->low_bits++;
}

// What decides which programs run, as a trial has it from the layout that it is like.
static void like_take(struct weft__scan_layout *l, const struct weft__scan_layout *like)
{
    l->pairs = like->pairs;
    l->key_bits = like->key_bits;
    l->first_bins = like->first_bins;
    l->mid_bins = like->mid_bins;
    l->last_bins = like->last_bins;
    l->count_bins = like->count_bins;
    l->first_digit = like->first_digit;
    l->mid_digit = like->mid_digit;
    l->last_digit = like->last_digit;
    l->guess = like->guess;
    l->joined = like->joined;
    l->segment = like->segments ? l->segment : weft__max(l->parts, 1);
    l->segments = like->segments ? weft__ceil_div(l->parts, l->segment) : 0;
    l->first_counted = like->first_counted;
    l->self_counted = like->self_counted;
    l->one_tile = like->one_tile;
    l->sparse = like->sparse;
    l->wide_ipt = like->wide_ipt;
}

// Local memory of the kernel that counts and finds the offsets.
static size_t joined_bytes(const struct weft_context *ctx, const struct weft__transpose_shape *shape, uint32_t bins)
{
    const size_t wg = (size_t)weft__wg_lower(ctx, WEFT__SCAN_COUNT_WG),
                 pos = weft_ofs_bytes(weft__transpose_pos(shape));
    return (4 + pos) * bins + (pos + 1) * wg + 64;
}

// Entries that a bucket has at most where columns are random, which fill buckets alike: five standard deviations above the mean
// leave hardly any that is larger.
static double most_of(double mean)
{
    return mean + 5 * sqrt(mean);
}

// Tiles of `tile` entries in a chunk of a bucket: so few that the chunks of one large bucket still fill the device, but as many as
// such a bucket takes, and `most` at most.
static size_t chunk_tiles_of(const struct weft_context *ctx, size_t nnz, uint32_t nbuckets, size_t tile, size_t most)
{
    const size_t filled = tile * (size_t)ctx->device.compute_units * CHUNKS_OF_UNIT,
                 bucket = (size_t)(most_of((double)nnz / nbuckets) / (double)tile);
    return weft__min(most, 1 + weft__max(nnz / filled, bucket));
}

static void layout_of(struct weft__scan_layout *l, const struct weft_context *ctx,
                      const struct weft__transpose_shape *shape, const struct weft_transpose_params *p, int passes,
                      int crowded)
{
    const struct weft__scan_layout *like = shape->like;
    const size_t nnz = (size_t)shape->nnz;
    const uint32_t n_bits = weft__bits_for(shape->n);
    *l = (struct weft__scan_layout){.passes = passes};
    l->first = l->second = l->last = (struct weft__scan_tile){p->gpu.wg, p->gpu.ipt};
    if (l->passes == 2)
        two_cut(l, ctx, shape, p, n_bits, crowded);
    if (l->passes == 3)
        three_cut(l, ctx, shape, p, n_bits);
    if (like) {
        l->first = like->first;
        l->second = like->second;
        l->last = like->last;
    }
    l->tile = entries_of(l->first);
    l->span = 32 * (size_t)l->first.ipt;
    const uint32_t key = l->mid_bits + l->low_bits;
    l->nbuckets = (uint32_t)weft__ceil_div((size_t)shape->n, (size_t)1 << key);
    // Kernels number the counts of parts as wide as positions.
    const size_t held = weft__transpose_pos(shape) == WEFT_OFS_64 ? SIZE_MAX : INT32_MAX / ((size_t)l->nbuckets + 1),
                 parts = weft__max(weft__min((size_t)p->gpu.groups, held), weft__ceil_div(nnz, PART_MOST));
    l->part = weft__ceil_div(weft__ceil_div(nnz, l->tile), parts) * l->tile;
    l->parts = weft__ceil_div(nnz, l->part);
    l->nparts = (uint32_t)weft__ceil_div((size_t)shape->n, (size_t)1 << l->low_bits);
    l->pairs = l->passes > 1 && weft_type_bytes(shape->type) == 4;
    l->packed = l->passes > 1 && row_bits(shape) + key <= 32 && (!like || like->packed);
    l->parts_packed = l->passes > 1 && row_bits(shape) + l->low_bits <= 32 && (!like || like->parts_packed);
    l->key_bits = l->packed || key > 16 ? 32 : 16;
    l->first_bins = weft__scan_bins_room(l->nbuckets, l->first.wg);
    l->mid_bins = weft__scan_bins_room((size_t)1 << l->mid_bits, l->second.wg);
    l->last_bins = weft__scan_bins_room((size_t)1 << l->low_bits, l->last.wg);
    l->count_bins = (uint32_t)weft__max(l->first_bins, weft__max(l->mid_bins, l->last_bins));
    l->first_digit = weft__bits_for(l->nbuckets);
    l->mid_digit = l->mid_bits;
    l->last_digit = l->low_bits;
    l->guess = shape->mirror && weft__mirror_guesses(shape);
    const size_t each = segment_of(l->parts), segments = weft__ceil_div(l->parts, each);
    const int few = l->parts * l->nbuckets <= JOINED_MOST || segments == 1;
    l->exchanged = weft__caps_of(ctx).lanes != WEFT_LANES_PTX;
    l->joined = weft__caps_of(ctx).fence && (few || shape->nnz < SEGMENTS_MOST) &&
                joined_bytes(ctx, shape, l->count_bins) <= weft__local_most(ctx);
    l->segment = few ? weft__max(l->parts, 1) : each;
    l->segments = l->joined && !few ? segments : 0;
    l->self_counted =
        l->passes == 2 && nnz <= SELF_COUNTED_MOST * entries_of(l->last) && weft__transpose_pos(shape) == WEFT_OFS_32;
    const size_t first_local =
        local_bytes(ctx, shape, l->first.wg, l->first.ipt, (int)weft__bits_for(l->first_bins), PARTITION) +
        4 * ((size_t)l->first.wg / 32 + 1); // with the rows of the tile
    l->first_counted = (l->passes == 1 || l->self_counted) && nnz <= FIRST_COUNTED_MOST * l->tile &&
                       weft__transpose_pos(shape) == WEFT_OFS_32 && l->first.wg >= 64 &&
                       first_local <= weft__local_most(ctx);
    l->one_tile =
        l->passes > 1 && (crowded || l->self_counted || (passes == 3 && l->last.wg > p->gpu.wg && !l->parts_packed));
    if (like)
        like_take(l, like);
    const size_t tiles = shape->type == WEFT_TYPE_PATTERN ? BUCKET_TILES_PATTERN : BUCKET_TILES,
                 small = passes == 3 ? (size_t)p->gpu.wg * (size_t)p->gpu.ipt : entries_of(l->last);
    const double mean = (double)nnz / l->nbuckets, most = most_of(mean);
    const int wide_ipt =
        mean > 2 * (double)l->tile && most < WEFT__SCAN_WIDE_WG * WEFT__SCAN_WIDE_IPT(weft__transpose_pos(shape))
            ? ((int)(most / WEFT__SCAN_WIDE_WG) / 4 + 1) * 4
            : 0;
    if (!like && l->passes == 2 && !l->one_tile && l->pairs && l->packed && weft__wg_most(ctx) >= WEFT__SCAN_WIDE_WG &&
        most <= (double)(tiles * small) &&
        local_bytes(ctx, shape, WEFT__SCAN_WIDE_WG, wide_ipt,
                    (int)weft__bits_for(weft__scan_bins_room((size_t)1 << l->low_bits, WEFT__SCAN_WIDE_WG)),
                    COLUMNS) <= weft__local_most(ctx))
        l->wide_ipt = wide_ipt;
    const size_t chunk_tiles = l->wide_ipt ? tiles : chunk_tiles_of(ctx, nnz, l->nparts, small, tiles);
    if (!like && l->passes > 1 && chunk_tiles == 1)
        l->one_tile = 1;
    if (!like)
        l->sparse = l->passes > 1 && !l->wide_ipt && (size_t)1 << l->low_bits >= SPARSE_COLUMNS &&
                    nnz <= (size_t)SPARSE_MEAN * l->nparts;
    const size_t chunk = l->one_tile ? entries_of(l->last) : weft__max(chunk_tiles * small, entries_of(l->last));
    l->last_chunks = chunks_of(ctx, chunk, nnz, l->nparts);
    if (l->self_counted)
        l->last_chunks.chunks = l->last_chunks.buckets = 0;
    l->second_chunks = chunks_of(ctx, entries_of(l->second), nnz, l->nbuckets);
    if (like) {
        l->last_chunks.joined = like->last_chunks.joined;
        l->second_chunks.joined = like->second_chunks.joined;
    }
    // Where memory has no room for rows beside values between the first two passes, the result holds both.
    if (l->passes == 3 && l->pairs && !weft__transpose_fits(ctx, shape, workspace_bytes(l, shape)))
        l->pairs = 0;
}

void weft__scan_layout_make(struct weft__scan_layout *l, const struct weft_context *ctx,
                            const struct weft__transpose_shape *shape, const struct weft_transpose_params *p)
{
    const uint32_t bits = (uint32_t)p->gpu.bits, more = bucket_bits_of(ctx, shape, p, COLUMNS),
                   n_bits = weft__bits_for(shape->n);
    const struct weft__scan_layout *like = shape->like;
    if (like) {
        layout_of(l, ctx, shape, p, like->passes, 0);
        return;
    }
    layout_of(l, ctx, shape, p, n_bits <= bits ? 1 : n_bits <= bits + more ? 2 : 3, 0);
    // Buckets of many tiles: digits of a few bits each, in two passes or in three, where memory has room.
    if (l->passes == 2 && !l->wide_ipt && (double)shape->nnz / l->nbuckets > CROWDED * (double)entries_of(l->last)) {
        struct weft__scan_layout other;
        layout_of(&other, ctx, shape, p, n_bits + TWO_LESS > 2 * bits ? 3 : 2, n_bits + TWO_LESS <= 2 * bits);
        if (other.passes == 3 && !other.low_bits) // parts of one column: the third pass would move nothing
            layout_of(&other, ctx, shape, p, 2, 1);
        if (weft__transpose_fits(ctx, shape, workspace_bytes(&other, shape)))
            *l = other;
    }
}

// Values of 8 bytes take so many registers that one work-group with 16 entries a work-item has a unit of NVIDIA's to itself. No more entries
// than columns, of which all passes wait for memory, take half tiles whatever the bins.
static void tile_halve(struct weft_transpose_params *p, const struct weft_context *ctx,
                       const struct weft__transpose_shape *shape, const struct weft__scan_layout *l)
{
    struct weft_transpose_params half = *p;
    struct weft__scan_layout other;
    if (weft__caps_of(ctx).lanes != WEFT_LANES_PTX || l->passes != 3 || l->sparse || shape->nnz > HALF_MOST ||
        weft_type_bytes(shape->type) != 8 || weft__transpose_pos(shape) != WEFT_OFS_32 || p->gpu.ipt < 2 * LAST_IPT)
        return;
    half.gpu.ipt /= 2;
    half.gpu.wg_large = half.gpu.wg;
    weft__scan_layout_make(&other, ctx, shape, &half);
    const size_t bins = weft__max((size_t)other.nbuckets, (size_t)1 << other.mid_bits);
    if (other.passes == 3 && (shape->nnz <= shape->n || bins * RUN_HALF <= (size_t)half.gpu.wg * (size_t)half.gpu.ipt))
        *p = half;
}

weft_status weft__scan_plan(struct weft_context *ctx, const struct weft__transpose_shape *shape,
                            struct weft_transpose_info *info)
{
    struct tune row = *WEFT__TUNE_FIND(ctx, tune_rows);
    struct weft_transpose_params *p = &info->params;
    struct weft__scan_layout l;
    const size_t val = weft_type_bytes(shape->type);
    const int given = p->gpu.wg || p->gpu.ipt || p->gpu.bits, ipt_given = p->gpu.ipt != 0, wg_large = p->gpu.wg_large;
    row.ipt4 = val == 8 ? row.ipt8 : val ? row.ipt4 : row.ipt0;
    // More for large matrices: shorter parts balance the counting better.
    row.groups_per_unit *= ctx->device.compute_units * (shape->nnz >= PART_LARGE ? 2 : 1);
    const weft_status status = weft__tunables_resolve(weft__transpose_scan_gpu_tunables, ctx, p, &row, NULL, NULL);
    if (status)
        return status;
    int n_bits = (int)weft__bits_for(shape->n);
    if (!given) {
        // Smaller tiles where local memory asks for it, wider digits where three passes would not cover n.
        while (3 * p->gpu.bits < n_bits)
            p->gpu.bits++;
        while (!fits(ctx, shape, p) && (p->gpu.ipt > 4 || p->gpu.wg > 32))
            if (p->gpu.ipt > 4)
                p->gpu.ipt /= 2;
            else
                p->gpu.wg /= 2;
        // Two passes of smaller work-groups, whose histograms leave room for one more bit, rather than three passes.
        struct weft_transpose_params other = *p;
        other.gpu.wg /= 2;
        if (n_bits == 2 * p->gpu.bits + 1 && bucket_bits_of(ctx, shape, p, COLUMNS) == (uint32_t)p->gpu.bits &&
            other.gpu.wg >= 64 && fits(ctx, shape, &other) &&
            bucket_bits_of(ctx, shape, &other, COLUMNS) > (uint32_t)p->gpu.bits)
            *p = other;
        weft__scan_layout_make(&l, ctx, shape, p);
        other = *p;
        other.gpu.wg = row.wg_more;
        if (l.wide_ipt && other.gpu.wg > p->gpu.wg)
            other.gpu.ipt = (int)l.tile / other.gpu.wg;
        if (other.gpu.wg && (size_t)other.gpu.wg <= weft__wg_most(ctx) && val == 4 && l.wide_ipt && other.gpu.ipt &&
            fits(ctx, shape, &other))
            *p = other;
        if (!wg_large)
            tile_halve(p, ctx, shape, &l);
    }
    while (!ipt_given && p->gpu.ipt > 4 && !fits(ctx, shape, p))
        p->gpu.ipt /= 2;
    if (3 * p->gpu.bits < n_bits)
        return weft__fail(ctx, WEFT_EINVAL, "three passes of %d bits do not reach %lld columns", p->gpu.bits,
                          (long long)shape->n);
    if (!fits(ctx, shape, p))
        return weft__fail(
            ctx, WEFT_EINVAL,
            "wg %d, ipt %d, bits %d need %zu bytes of local memory of %lld, 2*wg up to 2^bits, and wg*ipt up to 32768",
            p->gpu.wg, p->gpu.ipt, p->gpu.bits, local_needed(ctx, shape, p), (long long)weft__local_most(ctx));
    while (!wg_large && p->gpu.wg_large > p->gpu.wg && !large_fits(ctx, shape, p))
        p->gpu.wg_large /= 2;
    if (p->gpu.wg_large > p->gpu.wg && !large_fits(ctx, shape, p))
        return weft__fail(ctx, WEFT_EINVAL, "wg_large %d, ipt %d, bits %d: local memory has %zu bytes", p->gpu.wg_large,
                          p->gpu.ipt, p->gpu.bits, weft__local_most(ctx));
    weft__scan_layout_make(&l, ctx, shape, p);
    // A work-group owns a tile, of the whole or of a bucket.
    const size_t nnz = (size_t)shape->nnz, most = UINT32_MAX;
    if (weft__ceil_div(nnz, l.tile) > most / (size_t)l.first.wg ||
        (l.passes == 3 && nnz / l.second_chunks.entries + l.nbuckets > most / (size_t)l.second.wg) ||
        (l.passes > 1 && !l.wide_ipt && nnz / l.last_chunks.entries + l.nparts > most / (size_t)l.last.wg))
        return weft__fail(ctx, WEFT_ERANGE, "%lld entries are too many for tiles of wg*ipt = %zu",
                          (long long)shape->nnz, l.tile);
    info->passes = l.passes;
    info->workspace_bytes = workspace_bytes(&l, shape);
    char whole[64] = "";
    if (l.passes > 1 && !l.wide_ipt) {
        const size_t between = l.passes == 3 ? entries_of(l.second) : 0;
        if (between)
            snprintf(whole, sizeof whole, ", tiles of %zu, %zu, %zu", l.tile, between, entries_of(l.last));
        else
            snprintf(whole, sizeof whole, ", tiles of %zu, %zu", l.tile, entries_of(l.last));
    }
    if (l.wide_ipt)
        snprintf(whole, sizeof whole, ", up to %zu entries whole",
                 weft__min((size_t)WEFT__SCAN_WIDE_WG * (size_t)l.wide_ipt, l.last_chunks.entries));
    snprintf(info->why, sizeof info->why, "scan: %d passes over %d column bits, %u buckets of %u digits%s%s%s%s",
             l.passes, n_bits, l.nparts, 1u << l.low_bits, l.sparse ? " for few entries" : "", whole,
             l.parts_packed ? ", row and column in one word" : "",
             shape->mirror ? "; mirrored where the pattern is symmetric" : "");
    return WEFT_OK;
}
