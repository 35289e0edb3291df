// SPDX-License-Identifier: Apache-2.0
// How ScanTrans on GPUs cuts shapes that no machine of the tests holds: counters and numbers of 32 bits must be enough for
// what they count, and sizes must not wrap around; and what is too large for a device.
#include "host/internal/tests.h"
#include "tests/support/csr.h"
#include "tests/support/device.h"

#include <string.h>

typedef unsigned __int128 wide;

struct counts {
    int64_t planned, narrow, refused, overflows, uncovered, sizes;
};

static wide up(wide a, wide b)
{
    return (a + b - 1) / b;
}

static wide larger(wide a, wide b)
{
    return a > b ? a : b;
}

static void layout_check(struct counts *c, struct test_device *dev, const struct weft__transpose_shape *shape,
                         struct weft_transpose_params params)
{
    struct weft_transpose_info info = {.params = params};
    const weft_status status = weft__scan_plan(dev->ctx, shape, &info);
    const struct weft_transpose_params *p = &info.params;
    const wide nnz = (uint64_t)shape->nnz, most = UINT32_MAX, own = (uint32_t)p->gpu.wg;
    if (status) { // only what a launch cannot hold
        c->refused++;
        c->overflows += status != WEFT_ERANGE ||
                        nnz / (uint32_t)p->gpu.ipt + (larger(own, (uint32_t)p->gpu.wg_large) << p->gpu.bits) <= most;
        return;
    }
    struct weft__scan_layout l;
    struct weft__scratch needs[NBUFFERS];
    weft__scan_layout_make(&l, dev->ctx, shape, p);
    weft__scan_scratch(needs, &l, shape);
    c->planned++;
    const wide tile = l.tile, small = l.second_chunks.entries, part = l.part, tiles = up(nnz, tile),
               chunks = nnz / l.last_chunks.entries + l.nparts, second = l.passes == 3 ? nnz / small + l.nbuckets : 0;
    const wide wg = (uint32_t)(l.wide_ipt ? WEFT__SCAN_WIDE_WG : l.last.wg);
    // Counters of a part, and of the tiles before one in their part; numbers of chunks; work-items of each launch.
    c->overflows += weft__scan_table_rows(&l) > most || weft__scan_index_words(&l) > most || chunks / 2 * 3 > most;
    c->overflows += part > most || chunks > most || tiles * (uint32_t)l.first.wg > most || chunks * wg > most ||
                    second * (uint32_t)l.second.wg > most || (up(nnz, l.span) / 256 + 2 + l.parts) * 256 > most;
    c->uncovered += part % tile != 0 || part * l.parts < nnz || part * (l.parts - 1) >= nnz;
    // Of few enough entries positions have 32 bits, also those behind the last tile and chunk.
    const wide pos = shape->nnz <= WEFT__HOSTILE(INT32_MAX - (1 << 26), 0) ? 4 : 8;
    c->narrow += pos == 4;
    c->overflows +=
        pos == 4 && (tiles * tile > INT32_MAX || part * l.parts > INT32_MAX || nnz + l.last_chunks.entries > INT32_MAX);
    const wide width = l.nbuckets + l.nbuckets % 2, value = weft_type_bytes(shape->type);
    c->overflows += pos == 4 && width * l.parts > INT32_MAX; // counts of parts are numbered by a position
    const wide key = l.packed ? 0 : (uint32_t)l.key_bits / 8, parts_key = l.parts_packed ? 0 : 2;
    // Of buckets that are larger than a chunk: a count for each chunk and digit, and sums, of which two chunks have one at most.
    const wide some = nnz / l.last_chunks.entries < l.nparts ? nnz / l.last_chunks.entries : l.nparts,
               more = nnz / small < l.nbuckets ? nnz / small : l.nbuckets;
    const wide of_last = pos << l.low_bits, of_second = l.passes == 3 ? pos << l.mid_bits : 0;
    const wide last_counts = nnz / l.last_chunks.entries + some, second_counts = nnz / small + more,
               counts =
                   larger((last_counts + last_counts / 2) * of_last, (second_counts + second_counts / 2) * of_second);
    const uint32_t columns = weft__bits_for(shape->n);
    c->uncovered +=
        (uint64_t)l.nparts << l.low_bits < (uint64_t)shape->n ||
        (l.passes > 1 && (uint64_t)l.nbuckets << l.mid_bits < l.nparts) || l.nbuckets > UINT32_C(1) << p->gpu.bits ||
        l.mid_bits > (uint32_t)p->gpu.bits + 1 || l.low_bits > (uint32_t)p->gpu.bits + 1 ||
        (l.second.wg > p->gpu.wg && l.mid_bits > (uint32_t)p->gpu.bits) || // what large tiles have memory for
        (l.last.wg > p->gpu.wg && l.low_bits > (uint32_t)p->gpu.bits) ||
        (l.passes == 3) != (columns > (uint32_t)p->gpu.bits && l.mid_bits);
    c->sizes += needs[ROW_AT].bytes != (up(nnz, l.span) + 1) * 4 ||
                needs[TABLE].bytes != tiles * width * 4 + width * pos * (l.parts + larger(l.segments, 1));
    const wide sums = larger(l.passes > 1 ? last_counts / 2 : 0, l.passes > 2 ? second_counts / 2 : 0);
    c->sizes += needs[CHUNK_INDEX].bytes != (3 * (uint64_t)l.nparts + 4 + larger(sums, 2 + l.segments)) * 4;
    if (l.passes > 1)
        c->sizes += needs[LARGE_TABLE].bytes != counts || needs[KEY].bytes != nnz * parts_key ||
                    needs[ROW].bytes != nnz * (l.pairs ? 8u : 4u) || needs[VAL].bytes != (l.pairs ? 0 : nnz * value);
    c->sizes += needs[KEY_FIRST].bytes != (l.passes == 3 ? nnz * key : 0) ||
                needs[ROW_FIRST].bytes != (l.passes == 3 && l.pairs ? nnz * 8 : 0) ||
                needs[PART_OFS].bytes != (l.passes == 3 ? (l.nparts + 1) * pos : 0);
}

// A device of exactly the memory that an operation and its matrices take, and one of a byte less.
static void test_memory(struct test_device *dev)
{
    const struct weft_device_info own = dev->ctx->device;
    for (int algo = WEFT_TRANSPOSE_ALGO_SCAN; algo <= WEFT_TRANSPOSE_ALGO_MERGE; algo++) {
        const struct weft_transpose_params params = {.algo = (enum weft_transpose_algo)algo};
        struct weft_transpose_plan *op = NULL;
        size_t scratch = 0;
        weft_status status = weft_transpose_workspace(&scratch, dev->ctx,
                                                      weft_shape(300, 500, 10000, WEFT_TYPE_F64, WEFT_OFS_64), &params);
        tap_ok(!status && scratch, "%s: says what scratch an operation takes", dev->name);
        dev->ctx->device.type = CL_DEVICE_TYPE_GPU;
        dev->ctx->device.global_bytes = (int64_t)scratch + 2 * 10000 * 12 + (301 + 501) * 8;
        status =
            weft_transpose_plan_create(&op, dev->ctx, weft_shape(300, 500, 10000, WEFT_TYPE_F64, WEFT_OFS_64), &params);
        tap_ok(!status && op, "%s: takes a device of just enough memory", dev->name);
        weft_transpose_plan_destroy(&op);
        dev->ctx->device.global_bytes--;
        status =
            weft_transpose_plan_create(&op, dev->ctx, weft_shape(300, 500, 10000, WEFT_TYPE_F64, WEFT_OFS_64), &params);
        tap_ok(status == WEFT_ERANGE && !op && strstr(test_error(dev), "of memory"), "%s: refuses it with less: %s",
               dev->name, test_error(dev));
        weft_transpose_plan_destroy(&op);
        dev->ctx->device = own;
    }
}

static struct rng rng;

// A device without room for rows beside values in three passes: these travel apart, and the result is right.
static void test_short(struct test_device *dev)
{
    const struct weft_transpose_params params = {
        .algo = WEFT_TRANSPOSE_ALGO_SCAN, .gpu.wg = 32, .gpu.ipt = 2, .gpu.bits = 6, .gpu.groups = 3};
    const struct weft_device_info own = dev->ctx->device;
    for (int64_t m = 500; m <= 1 << 24; m += (1 << 24) - 500) {
        const int64_t nnz = 60000, n = 32768;
        const struct weft_shape shape = weft_shape(m, n, nnz, WEFT_TYPE_F32, WEFT_OFS_32);
        size_t pairs = 0, apart = 0;
        struct weft_csr a;
        test_matrix_make(&a, &rng, TEST_UNIFORM, m, n, nnz, WEFT_TYPE_F32, WEFT_OFS_32);
        dev->ctx->device.type = CL_DEVICE_TYPE_GPU;
        dev->ctx->device.global_bytes = INT64_C(1) << 40;
        int ok = !weft_transpose_workspace(&pairs, dev->ctx, shape, &params);
        dev->ctx->device.global_bytes = (int64_t)pairs + nnz * 16 + (m + n + 2) * 4 - 1;
        ok = ok && !weft_transpose_workspace(&apart, dev->ctx, shape, &params) && apart + 8 * (size_t)nnz == pairs;
        tap_ok(ok && test_transpose(dev, &a, &params, NULL),
               "%s: memory short of rows beside values, %lld rows: %zu bytes of scratch for %zu", dev->name,
               (long long)m, apart, pairs);
        dev->ctx->device = own;
        weft_csr_free(&a);
    }
}

// A device of exactly the local memory that the moving kernels of a tuning take, and one of a byte less.
static void test_local(struct test_device *dev)
{
    enum { WG = 32, IPT = 4, BITS = 6, SLOTS = WG * IPT, BINS = 1 << BITS };
    const struct weft__transpose_shape shape = {
        .m = 1000, .n = BINS - 1, .nnz = 5000, .type = WEFT_TYPE_F32, .ofs = WEFT_OFS_32};
    const struct weft_transpose_params params = {.gpu = {.wg = WG, .ipt = IPT, .bits = BITS}};
    const struct weft_device_info own = dev->ctx->device;
    // Of cl/transpose/scan_partition.cl: entries, where bins begin, a sum, what lanes take, the bin of each slot.
    const int64_t lanes = weft__caps_of(dev->ctx).lanes == WEFT_LANES_LOCAL ? 4 * WG : 4 + 4 * IPT,
                  bytes = SLOTS * 8 + BINS * 4 + 4 + lanes + SLOTS * 2;
    for (int less = 0; less <= 1; less++) {
        struct weft_transpose_info info = {.params = params};
        dev->ctx->device.local_bytes = bytes - less;
        const weft_status status = weft__scan_plan(dev->ctx, &shape, &info);
        tap_ok(status == (less ? WEFT_EINVAL : WEFT_OK) && info.params.gpu.ipt == IPT,
               "%s: %s a device of %lld bytes of local memory%s%s", dev->name, less ? "refuses" : "takes",
               (long long)bytes - less, less ? ": " : "", less ? test_error(dev) : "");
    }
    dev->ctx->device = own;
}

// Buckets of one word an entry, each of which fits the tile of a wide work-group, are moved whole; none that lacks anything
// for it is.
static void test_wide(struct test_device *dev)
{
    const struct weft_device_info own = dev->ctx->device;
    const struct weft__transpose_shape shape = {
        .m = 1000, .n = 4096, .nnz = 384000, .type = WEFT_TYPE_F32, .ofs = WEFT_OFS_32};
    struct weft__transpose_shape one_pass = shape, two_words = shape, pattern = shape, fuller = shape, emptier = shape;
    one_pass.n = 200;
    one_pass.nnz = 200 * 1500;
    two_words.m = 1 << 29;
    pattern.type = WEFT_TYPE_PATTERN;
    fuller.nnz = 1900 * 256; // five standard deviations above the mean are more than a chunk
    emptier.nnz = 1000 * 256;
    const struct {
        const char *what;
        struct weft__transpose_shape shape;
        size_t max_wg;
        int64_t local;
        int wide;
    } cases[] = {
        {"buckets of 1500 entries", shape, 512, 65536, 4},   {"work-groups of 256 alone", shape, 256, 65536, 0},
        {"16 KiB of local memory", shape, 512, 16384, 0},    {"one pass", one_pass, 512, 65536, 0},
        {"rows of too many bits", two_words, 512, 65536, 0}, {"no values", pattern, 512, 65536, 0},
        {"buckets beyond a chunk", fuller, 512, 65536, 0},   {"buckets of two tiles at most", emptier, 512, 65536, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct weft__scan_layout l;
        dev->ctx->device.max_wg = cases[i].max_wg;
        dev->ctx->device.local_bytes = cases[i].local;
        weft__scan_layout_make(&l, dev->ctx, &cases[i].shape,
                               &(struct weft_transpose_params){.gpu = {.wg = 64, .ipt = 8, .bits = 8, .groups = 1}});
        tap_is_int(l.wide_ipt, cases[i].wide, "%s: whole buckets, %s", dev->name, cases[i].what);
    }
    dev->ctx->device = own;
}

// A chunk has as many tiles as leave 16 chunks to each compute unit, or as a bucket of random columns takes, but four at most, of
// patterns 16.
static void test_chunks(struct test_device *dev)
{
    const struct weft_device_info own = dev->ctx->device;
    const struct {
        int units;
        int64_t nnz;
        enum weft_type type;
        size_t tiles;
    } cases[] = {{100, 100000, WEFT_TYPE_F32, 1},    {100, 110000, WEFT_TYPE_F32, 2},
                 {8, 100000, WEFT_TYPE_F64, 2},      {1, 100000, WEFT_TYPE_F32, 4},
                 {1, 100000, WEFT_TYPE_F64, 4},      {1, 100000, WEFT_TYPE_PATTERN, 13},
                 {100, 100000, WEFT_TYPE_PATTERN, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct weft__transpose_shape shape = {
            .m = 1000, .n = 65536, .nnz = cases[i].nnz, .type = cases[i].type, .ofs = WEFT_OFS_32};
        struct weft__scan_layout l;
        dev->ctx->device.compute_units = cases[i].units;
        weft__scan_layout_make(&l, dev->ctx, &shape,
                               &(struct weft_transpose_params){.gpu = {.wg = 64, .ipt = 8, .bits = 8, .groups = 1}});
        tap_ok(l.passes == 2 && l.last_chunks.entries == cases[i].tiles * 64 * 8 && l.one_tile == (cases[i].tiles == 1),
               "%s: chunks of %zu tiles, %d compute units, %lld entries, %s; %zu entries", dev->name, cases[i].tiles,
               cases[i].units, (long long)cases[i].nnz, weft_type_name(cases[i].type), l.last_chunks.entries);
    }
    dev->ctx->device = own;
}

// Three passes of values of 8 bytes have tiles of half as many entries on NVIDIA's devices, while their bins are few or entries are no more
// than columns; no others have, nor where a size of tiles is given.
static void test_half(void)
{
    static const struct {
        int64_t m, n, nnz;
        enum weft_type type;
        enum weft_lanes lanes;
        int wg_large, ipt;
    } cases[] = {{4962164, 4962164, 8747103, WEFT_TYPE_F64, WEFT_LANES_PTX, 0, 8},
                 {20000000, 20000000, 18946423, WEFT_TYPE_F64, WEFT_LANES_PTX, 0, 8},
                 {4962164, 4962164, 8747103, WEFT_TYPE_F32, WEFT_LANES_PTX, 0, 16},
                 {4962164, 4962164, 8747103, WEFT_TYPE_F64, WEFT_LANES_PTX, 512, 16},
                 {8000000, 8000000, 30000000, WEFT_TYPE_F64, WEFT_LANES_PTX, 0, 16},
                 {20000000, 20000000, 761949, WEFT_TYPE_F64, WEFT_LANES_PTX, 0, 16},
                 {500000, 500000, 10000000, WEFT_TYPE_F64, WEFT_LANES_PTX, 0, 16},
                 {40000000, 40000000, 36000000, WEFT_TYPE_F64, WEFT_LANES_PTX, 0, 16},
                 {4962164, 4962164, 8747103, WEFT_TYPE_F64, WEFT_LANES_LOCAL, 0, 16}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct weft_context ctx = {.device = {.vendor = "NVIDIA Corporation",
                                              .type = CL_DEVICE_TYPE_GPU,
                                              .compute_units = 132,
                                              .lanes = cases[i].lanes,
                                              .fence = true,
                                              .local_bytes = 48 << 10,
                                              .max_wg = 1024,
                                              .global_bytes = INT64_C(140) << 30,
                                              .max_alloc_bytes = INT64_C(35) << 30},
                                   .schedule = WEFT_SCHEDULE_GPU};
        const struct weft__transpose_shape shape = {
            .m = cases[i].m, .n = cases[i].n, .nnz = cases[i].nnz, .type = cases[i].type, .ofs = WEFT_OFS_32};
        struct weft_transpose_info info = {.params.gpu.wg_large = cases[i].wg_large};
        const weft_status status = weft__scan_plan(&ctx, &shape, &info);
        tap_ok(!status && info.params.gpu.ipt == cases[i].ipt,
               "%lld columns, %lld entries, %s, lanes %d, large tiles %d: %d entries a work-item",
               (long long)cases[i].n, (long long)cases[i].nnz, weft_type_name(cases[i].type), (int)cases[i].lanes,
               cases[i].wg_large, info.params.gpu.ipt);
    }
}

static void test_layouts(struct test_device *dev)
{
    static const int64_t entries[] = {
        INT64_C(2080374783),   INT64_C(2080374784), INT64_C(2147483647), INT64_C(2147483648), INT64_C(2190000000),
        INT64_C(4294967295),   INT64_C(4294967296), INT64_C(4294967297), INT64_C(4400000000), INT64_C(8589934593),
        INT64_C(100000000000), INT64_C(1) << 38,    INT64_C(1) << 44};
    static const int64_t columns[] = {1, 1000, 4000, 20000, 1000000, 5000000, 146000000, INT32_MAX};
    static const enum weft_type types[] = {WEFT_TYPE_F32, WEFT_TYPE_F64, WEFT_TYPE_PATTERN};
    static const struct weft_transpose_params tunings[] = {
        {.gpu.groups = 0},
        {.gpu.groups = 1},
        {.gpu.groups = 2},
        {.gpu.groups = 1 << 20},
        {.gpu = {.wg = 32, .ipt = 4, .bits = 11, .groups = 1}},
        {.gpu = {.wg = 64, .ipt = 16, .bits = 12, .groups = 1 << 20}},
        {.gpu = {.wg = 32, .ipt = 4, .bits = 11, .wg_large = 64}}};
    struct counts c = {0};
    for (size_t e = 0; e < sizeof entries / sizeof *entries; e++)
        for (size_t n = 0; n < sizeof columns / sizeof *columns; n++)
            for (size_t t = 0; t < sizeof types / sizeof *types; t++)
                for (size_t p = 0; p < sizeof tunings / sizeof *tunings && dev->gpu; p++) {
                    if (tunings[p].gpu.bits == 12 && dev->ctx->device.local_bytes < 96 << 10)
                        continue; // no room for so many bins
                    const struct weft__transpose_shape shape = {
                        .m = INT32_MAX / 2, .n = columns[n], .nnz = entries[e], .type = types[t], .ofs = WEFT_OFS_64};
                    layout_check(&c, dev, &shape, tunings[p]);
                }
    if (dev->gpu) {
        tap_ok(c.planned > 600 && c.refused,
               "%s: %lld shapes of 2^31 - 2^26 - 1 to 2^44 entries are planned, %lld refused", dev->name,
               (long long)c.planned, (long long)c.refused);
        tap_ok(WEFT__HOSTILE(c.narrow >= 60, !c.narrow), "%s: %lld of them with 32-bit positions", dev->name,
               (long long)c.narrow);
        tap_is_int(c.overflows, 0, "%s: none has numbers beyond 32 bits where these are kept in 32", dev->name);
        tap_is_int(c.uncovered, 0, "%s: parts cover the entries", dev->name);
        tap_is_int(c.sizes, 0, "%s: sizes of scratch buffers", dev->name);
    }

    test_wide(dev);
    test_chunks(dev);
    if (dev->gpu)
        test_local(dev);
    test_memory(dev);
    if (dev->gpu && !dev->checker)
        test_short(dev);
}

int main(void)
{
    rng = rng_start();
    test_half();
    test_device_each(test_layouts);
    return tap_done();
}
