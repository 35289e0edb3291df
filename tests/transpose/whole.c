// SPDX-License-Identifier: Apache-2.0
// ScanTrans for GPUs: large buckets of many columns, and whose chunks are added up by the launch that counts them; tiles that go
// through local memory in turns; where that is 48 KiB or more, buckets that a wide work-group holds whole. Oclgrind has 32 KiB unless
// asked for more, which do for tiles of a pattern.
#include "host/internal/tests.h"
#include "tests/support/csr.h"

#include <stdio.h>
#include <string.h>

static struct rng rng;

struct shape {
    enum test_spread spread;
    int64_t m, n, nnz;
    enum weft_type type;
    enum weft_ofs ofs;
};

static int check(struct test_device *dev, const struct shape *s, const struct weft_transpose_params *params, char *said)
{
    struct weft_csr a;
    struct weft_transpose_info info = {0};
    test_matrix_make(&a, &rng, s->spread, s->m, s->n, s->nnz, s->type, s->ofs);
    const int ok = test_transpose(dev, &a, params, &info);
    snprintf(said, 200, "%s", info.why);
    weft_csr_free(&a);
    return ok;
}

static int check_uneven(struct test_device *dev, enum weft_ofs ofs)
{
    const struct weft_transpose_params params = {.algo = WEFT_TRANSPOSE_ALGO_SCAN,
                                                 .gpu = {.wg = 64, .ipt = 12, .bits = 7, .groups = 3, .wg_large = 64}};
    struct weft_csr a;
    struct weft_transpose_info info = {0};
    test_matrix_make(&a, &rng, TEST_UNIFORM, 500, 130, 104000, WEFT_TYPE_F32, ofs);
    for (int64_t p = 0; p < 6000; p++) // of bucket 0 a thousand, of bucket 2 five thousand more
        a.col[p * 17] = p % 6 ? 5 : 0;
    const int ok = test_transpose(dev, &a, &params, &info);
    weft_csr_free(&a);
    return ok && strstr(info.why, "up to 2048 entries whole");
}

// 64 buckets of exactly one chunk of 256 entries, exactly two, or none.
static int check_full(struct test_device *dev, const struct weft_transpose_params *params)
{
    struct weft_csr a;
    struct weft_transpose_info info = {0};
    test_matrix_make(&a, &rng, TEST_UNIFORM, 500, 4096, 52 * 256, WEFT_TYPE_F32, WEFT_OFS_32);
    for (int32_t p = 0; p < 52 * 256; p++) {
        const int32_t part = p % 52, bucket = part < 32 ? 2 * part : (part - 32) / 2 * 4 + 1;
        a.col[p] = bucket * 64 + p / 52 % 64;
    }
    const int ok = test_transpose(dev, &a, params, &info);
    weft_csr_free(&a);
    return ok && strstr(info.why, "64 buckets of 64 digits");
}

// Three passes, and in the second of them four parts of three chunks each, far from each other.
static int check_apart(struct test_device *dev, const struct weft_transpose_params *params)
{
    struct weft_csr a;
    struct weft_transpose_info info = {0};
    test_matrix_make(&a, &rng, TEST_UNIFORM, 500, 32768, 60000, WEFT_TYPE_F32, WEFT_OFS_32);
    for (int32_t p = 0; p < 2800; p++)
        a.col[p * 21] = (5 + p % 4 * 600) * 16 + p / 4 % 16;
    const int ok = test_transpose(dev, &a, params, &info);
    weft_csr_free(&a);
    return ok && strstr(info.why, "3 passes") && strstr(info.why, "of 16 digits");
}

// Tiles of two work-groups' size where bins are many, in each pass; and buckets of many tiles, which take other digits.
static void test_large(struct test_device *dev)
{
    const struct weft_transpose_params small = {.gpu = {.wg = 32, .ipt = 2, .bits = 7, .wg_large = 32}},
                                       twice = {.gpu = {.wg = 32, .ipt = 2, .bits = 7, .wg_large = 64}},
                                       many = {.gpu = {.wg = 32, .ipt = 2, .bits = 10, .wg_large = 64}},
                                       few = {.gpu = {.wg = 32, .ipt = 2, .bits = 6, .wg_large = 64}};
    const struct {
        const struct weft_transpose_params *params;
        struct shape shape;
        const char *why;
    } cases[] = {
        // The column shares the row's word in parts alone, or nowhere.
        {&twice,
         {TEST_UNIFORM, 500, 65536, 40000, WEFT_TYPE_F32, WEFT_OFS_32},
         "tiles of 128, 128, 64, row and column"},
        {&twice, {TEST_SKEWED, 500, 65536, 40000, WEFT_TYPE_F64, WEFT_OFS_64}, "tiles of 128, 128, 64, row and column"},
        {&many, {TEST_UNIFORM, 20000000, 5000001, 425000, WEFT_TYPE_I32, WEFT_OFS_32}, "tiles of 128, 128, 128"},
        {&many, {TEST_SKEWED, 20000000, 5000001, 425000, WEFT_TYPE_F64, WEFT_OFS_32}, "tiles of 128, 128, 128"},
        // Two passes: values of 8 bytes; buckets of many tiles.
        {&twice,
         {TEST_UNIFORM, 500, 16384, 20000, WEFT_TYPE_F64, WEFT_OFS_32},
         "128 buckets of 128 digits, tiles of 128, 128"},
        {&twice,
         {TEST_UNIFORM, 3000, 1000, 60000, WEFT_TYPE_F32, WEFT_OFS_32},
         "32 buckets of 32 digits, tiles of 128, 128"},
        {&twice,
         {TEST_SKEWED, 3000, 1000, 60000, WEFT_TYPE_F64, WEFT_OFS_64},
         "32 buckets of 32 digits, tiles of 128, 128"},
        {&small,
         {TEST_ONE_COLUMN, 3000, 1000, 60000, WEFT_TYPE_PATTERN, WEFT_OFS_32},
         "32 buckets of 32 digits, tiles of 64, 64"},
        // These, and too many columns for two digits.
        {&small, {TEST_UNIFORM, 500, 16384, 60000, WEFT_TYPE_F32, WEFT_OFS_32}, "3 passes over 14 column bits"},
        // Few enough for Oclgrind.
        {&few,
         {TEST_SKEWED, 300, 200, 15000, WEFT_TYPE_F32, WEFT_OFS_32},
         "2 passes over 8 column bits, 13 buckets of 16 digits"}};
    const struct weft_device_info own = dev->ctx->device;
    char said[200];
    dev->ctx->device.compute_units = 1; // these few entries are large tiles for all of them
    const size_t ncases = sizeof cases / sizeof *cases;
    for (size_t i = dev->checker ? ncases - 1 : 0; i < ncases; i++) {
        struct weft_transpose_params params = *cases[i].params;
        params.algo = WEFT_TRANSPOSE_ALGO_SCAN;
        tap_ok(check(dev, &cases[i].shape, &params, said) && strstr(said, cases[i].why), "%s: large tiles, %s, %s: %s",
               dev->name, test_spread_name(cases[i].shape.spread), weft_type_name(cases[i].shape.type), said);
    }
    // Positions of 64 bits go through local memory in shorter turns.
    dev->ctx->wide_positions = 1;
    for (size_t i = 0; i < (dev->checker ? 0 : 4); i += test_sample() ? 3 : 1) {
        struct weft_transpose_params params = *cases[i].params;
        struct shape shape = cases[i].shape;
        params.algo = WEFT_TRANSPOSE_ALGO_SCAN;
        shape.ofs = WEFT_OFS_64;
        tap_ok(check(dev, &shape, &params, said) && strstr(said, "3 passes") && strstr(said, "tiles of 128"),
               "%s: large tiles, positions of 64 bits, %s, %s: %s", dev->name, test_spread_name(shape.spread),
               weft_type_name(shape.type), said);
    }
    dev->ctx->wide_positions = 0;
    dev->ctx->device = own;
}

// Large buckets with more strips of columns than there are work-groups to sum them: each takes several.
static void test_strips(struct test_device *dev)
{
    const struct weft_transpose_params params = {.algo = WEFT_TRANSPOSE_ALGO_SCAN,
                                                 .gpu = {.wg = 32, .ipt = 2, .bits = 9, .groups = 3, .wg_large = 32}};
    const struct weft_device_info own = dev->ctx->device;
    struct weft_csr a;
    struct weft_transpose_info info = {0};
    test_matrix_make(&a, &rng, TEST_UNIFORM, 40, 32768, 5000, WEFT_TYPE_F32, WEFT_OFS_32);
    for (int32_t p = 0; p < 5000; p++)
        a.col[p] = (p % 2 ? 77 : 5) * 256 + p / 2 % 256;
    dev->ctx->device.compute_units = 1;
    const int ok = test_transpose(dev, &a, &params, &info);
    dev->ctx->device = own;
    tap_ok(ok && strstr(info.why, "128 buckets of 256 digits"), "%s: buckets of many strips, few work-groups: %s",
           dev->name, info.why);
    weft_csr_free(&a);
}

// Counts are summed up by the launch that counts, many of them in segments, where the device has a fence; few entries in buckets by those
// that move them, and fewer at the first move, too.
static void test_few(struct test_device *dev)
{
    static const struct {
        struct shape shape;
        int wg, groups, segments, first_counted, self_counted;
    } cases[] = {{{TEST_ONE_COLUMN, 500, 4096, 6144, WEFT_TYPE_F32, WEFT_OFS_32}, 32, 256, 0, 0, 1},
                 {{TEST_SKEWED, 500, 4095, 6000, WEFT_TYPE_F64, WEFT_OFS_64}, 32, 3, 0, 0, 1},
                 {{TEST_UNIFORM, 500, 4096, 6145, WEFT_TYPE_PATTERN, WEFT_OFS_32}, 32, 256, 0, 0, 0},
                 {{TEST_UNIFORM, 500, 4096, 20000, WEFT_TYPE_I32, WEFT_OFS_32}, 32, 300, 10, 0, 0},
                 {{TEST_UNIFORM, 500, 128, 20000, WEFT_TYPE_F64, WEFT_OFS_32}, 32, 300, 10, 0, 0},
                 {{TEST_ONE_COLUMN, 500, 4096, 768, WEFT_TYPE_F32, WEFT_OFS_32}, 64, 256, 0, 1, 1},
                 {{TEST_UNIFORM, 500, 4096, 769, WEFT_TYPE_F32, WEFT_OFS_32}, 64, 256, 0, 0, 1},
                 {{TEST_SKEWED, 5000, 4095, 767, WEFT_TYPE_F64, WEFT_OFS_64}, 64, 3, 0, 1, 1},
                 {{TEST_UNIFORM, 2, 16384, 700, WEFT_TYPE_I32, WEFT_OFS_32}, 64, 256, 0, 1, 1},
                 {{TEST_UNIFORM, 700, 128, 640, WEFT_TYPE_PATTERN, WEFT_OFS_32}, 64, 256, 0, 1, 0},
                 {{TEST_ONE_COLUMN, 1, 100, 768, WEFT_TYPE_F64, WEFT_OFS_64}, 64, 256, 0, 1, 0},
                 {{TEST_UNIFORM, 500, 127, 769, WEFT_TYPE_F32, WEFT_OFS_32}, 64, 256, 0, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int wg = cases[i].wg, bits = wg > 32 || cases[i].segments ? 7 : 6;
        if (dev->checker && wg > 32 && i % 3 != 2)
            continue;
        const struct weft_transpose_params params = {
            .algo = WEFT_TRANSPOSE_ALGO_SCAN,
            .gpu = {.wg = wg, .ipt = 2, .bits = bits, .groups = cases[i].groups, .wg_large = wg}};
        const struct shape *x = &cases[i].shape;
        const struct weft__transpose_shape shape = {
            .m = x->m, .n = x->n, .nnz = x->nnz, .type = x->type, .ofs = x->ofs};
        struct weft_transpose_info info = {.params = params};
        struct weft__scan_layout l = {0};
        char said[200] = "";
        const int ok = !weft__scan_plan(dev->ctx, &shape, &info);
        if (ok)
            weft__scan_layout_make(&l, dev->ctx, &shape, &info.params);
        tap_ok(ok && l.joined == weft__caps_of(dev->ctx).fence &&
                   l.segments == (size_t)(l.joined ? cases[i].segments : 0) &&
                   l.first_counted == (cases[i].first_counted && weft__transpose_pos(&shape) == WEFT_OFS_32) &&
                   l.self_counted == (cases[i].self_counted && weft__transpose_pos(&shape) == WEFT_OFS_32) &&
                   check(dev, x, &params, said),
               "%s: %lld entries, %zu parts of %u bins, %zu segments, counted by those that move them %d %d: %s",
               dev->name, (long long)x->nnz, l.parts, l.nbuckets, l.segments, l.first_counted, l.self_counted, said);
    }
}

// Chunks are added up by the groups that count them, in one segment and in several, where they are few for the device; the second run
// finds the numbers of groups that came as the first left them.
static void test_joined(struct test_device *dev)
{
    static const struct {
        struct shape shape;
        int units, passes, second, last; // joined
    } cases[] = {{{TEST_ONE_COLUMN, 500, 4096, 60000, WEFT_TYPE_F32, WEFT_OFS_32}, 200, 3, 1, 1},
                 {{TEST_SKEWED, 500, 4096, 60000, WEFT_TYPE_F64, WEFT_OFS_32}, 200, 3, 1, 1},
                 {{TEST_UNIFORM, 500, 4096, 60000, WEFT_TYPE_F32, WEFT_OFS_32}, 1, 3, 0, 0},
                 {{TEST_ONE_COLUMN, 500, 4096, 6400, WEFT_TYPE_F32, WEFT_OFS_32}, 100, 2, 0, 1},
                 {{TEST_ONE_COLUMN, 500, 4096, 6400, WEFT_TYPE_F64, WEFT_OFS_32}, 1, 2, 0, 0},
                 {{TEST_SKEWED, 500, 4095, 6400, WEFT_TYPE_I32, WEFT_OFS_64}, 100, 2, 0, 1},
                 {{TEST_UNIFORM, 500, 4096, 6400, WEFT_TYPE_PATTERN, WEFT_OFS_32}, 100, 2, 0, 1}};
    const struct weft_transpose_params params = {.algo = WEFT_TRANSPOSE_ALGO_SCAN,
                                                 .gpu = {.wg = 32, .ipt = 2, .bits = 6, .groups = 3, .wg_large = 32}};
    const struct weft_device_info own = dev->ctx->device;
    for (int wide = 0; wide < 2; wide++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            const struct shape *x = &cases[i].shape;
            const struct weft__transpose_shape shape = {
                .m = x->m, .n = x->n, .nnz = x->nnz, .type = x->type, .ofs = x->ofs, .wide = wide};
            struct weft_transpose_info info = {.params = params};
            struct weft__scan_layout l = {0};
            struct weft_csr a;
            if ((wide && x->ofs == WEFT_OFS_32) || (dev->checker && (x->nnz > 6400 || x->type == WEFT_TYPE_F64)))
                continue;
            dev->ctx->wide_positions = wide;
            dev->ctx->device.compute_units = cases[i].units;
            int ok = !weft__scan_plan(dev->ctx, &shape, &info);
            if (ok)
                weft__scan_layout_make(&l, dev->ctx, &shape, &info.params);
            const int fence = weft__caps_of(dev->ctx).fence;
            ok = ok && l.passes == cases[i].passes && l.last_chunks.chunks && !l.self_counted &&
                 l.last_chunks.joined == (cases[i].last && fence) &&
                 (l.passes == 2 || l.second_chunks.joined == (cases[i].second && fence));
            test_matrix_make(&a, &rng, x->spread, x->m, x->n, x->nnz, x->type, x->ofs);
            ok = ok && test_transpose_runs(dev, &a, &params, NULL, 2);
            weft_csr_free(&a);
            dev->ctx->device = own;
            dev->ctx->wide_positions = 0;
            tap_ok(ok, "%s: %s, %s, %d units: %d passes, %zu chunks, joined %d, %d", dev->name,
                   test_spread_name(x->spread), weft_type_name(x->type), cases[i].units, l.passes, l.last_chunks.chunks,
                   l.second_chunks.joined, l.last_chunks.joined);
        }
}

static void each_device(struct test_device *dev)
{
    const struct weft_device_info *info = weft_context_device(dev->ctx);
    char said[200];
    if (!dev->gpu)
        return;
    test_strips(dev);
    test_few(dev);
    test_joined(dev);
    if (info->max_wg < 256 || info->local_bytes < 32 << 10)
        return;
    // 5120 entries to a tile, 4096 of them at once; without values they take little local memory.
    const struct weft_transpose_params turns = {.algo = WEFT_TRANSPOSE_ALGO_SCAN,
                                                .gpu = {.wg = 256, .ipt = 20, .bits = 9, .wg_large = 256}};
    const struct shape pattern = {TEST_UNIFORM, 300, 400, 5300, WEFT_TYPE_PATTERN, WEFT_OFS_32};
    tap_ok(check(dev, &pattern, &turns, said), "%s: tiles in turns, pattern", dev->name);
    if (info->max_wg < 512 || info->local_bytes < 48 << 10)
        return;
    // 64 buckets of 156 entries in the mean, tiles of 64: whole if all have at most 256, else in chunks.
    const struct weft_transpose_params small = {.algo = WEFT_TRANSPOSE_ALGO_SCAN,
                                                .gpu = {.wg = 32, .ipt = 2, .bits = 6, .groups = 3, .wg_large = 32}};
    static const struct shape shapes[] = {{TEST_UNIFORM, 500, 4096, 10000, WEFT_TYPE_F32, WEFT_OFS_32},
                                          {TEST_UNIFORM, 500, 4095, 9000, WEFT_TYPE_I32, WEFT_OFS_64},
                                          {TEST_SKEWED, 500, 4096, 10000, WEFT_TYPE_F32, WEFT_OFS_32},
                                          {TEST_ONE_COLUMN, 500, 4096, 10000, WEFT_TYPE_F32, WEFT_OFS_32},
                                          {TEST_UNIFORM, 300, 128, 10000, WEFT_TYPE_F32, WEFT_OFS_32},
                                          {TEST_SKEWED, 300, 127, 9500, WEFT_TYPE_I32, WEFT_OFS_64}};
    for (size_t i = dev->checker ? 4 : 0; i < sizeof shapes / sizeof *shapes; i++)
        tap_ok(check(dev, &shapes[i], &small, said) && strstr(said, "up to 256 entries whole"),
               "%s: whole buckets, %s, %s: %s", dev->name, test_spread_name(shapes[i].spread),
               weft_type_name(shapes[i].type), said);
    if (!dev->checker)
        tap_ok(check_full(dev, &small), "%s: buckets that fill their chunks", dev->name);
    // 65 buckets of 1600 entries in the mean, tiles of 2048, chunks of 3072: one bucket of two tiles, one of three
    // chunks.
    if (!dev->checker)
        tap_ok(check_uneven(dev, WEFT_OFS_32) && check_uneven(dev, WEFT_OFS_64), "%s: buckets that do not go whole",
               dev->name);
    // Buckets of 4300 entries, whole, through local memory in turns; too many for Oclgrind.
    const struct weft_transpose_params tall = {.algo = WEFT_TRANSPOSE_ALGO_SCAN,
                                               .gpu = {.wg = 32, .ipt = 40, .bits = 6, .wg_large = 32}};
    const struct shape many = {TEST_UNIFORM, 500, 4096, 275000, WEFT_TYPE_F32, WEFT_OFS_32};
    if (!dev->checker)
        tap_ok(check(dev, &many, &tall, said) && strstr(said, "entries whole"), "%s: whole buckets in turns: %s",
               dev->name, said);
    // In turns, passes: two, with the column in the row's word and on its own, and three.
    static const struct shape large[] = {{TEST_UNIFORM, 300, 3000, 5300, WEFT_TYPE_F32, WEFT_OFS_32},
                                         {TEST_UNIFORM, 300, 3000, 5300, WEFT_TYPE_F64, WEFT_OFS_64},
                                         {TEST_UNIFORM, 20000000, 200001, 12001, WEFT_TYPE_F32, WEFT_OFS_32},
                                         {TEST_UNIFORM, 300, 600001, 12000, WEFT_TYPE_F32, WEFT_OFS_32}};
    for (size_t i = 0; i < (dev->checker ? 2 : sizeof large / sizeof *large); i++)
        tap_ok(check(dev, &large[i], &turns, said), "%s: tiles in turns, %s", dev->name, weft_type_name(large[i].type));
    dev->ctx->wide_positions = 1;
    for (size_t i = 1; i < (dev->checker ? 0 : sizeof large / sizeof *large); i += 2) {
        struct shape wide = large[i];
        wide.ofs = WEFT_OFS_64;
        tap_ok(check(dev, &wide, &turns, said), "%s: tiles in turns, positions of 64 bits, %s: %s", dev->name,
               weft_type_name(wide.type), said);
    }
    dev->ctx->wide_positions = 0;
    // Three passes: 64 buckets of about 940 entries, chunks of 256, tiles of 64; 2048 parts of 29 entries. The column shares the
    // row's word in buckets and parts; in parts alone; 32 buckets of 21875 entries, two chunks: in neither.
    static const struct shape three[] = {{TEST_UNIFORM, 500, 32768, 60000, WEFT_TYPE_F32, WEFT_OFS_32},
                                         {TEST_UNIFORM, 1 << 24, 32768, 60000, WEFT_TYPE_F32, WEFT_OFS_32},
                                         {TEST_SKEWED, 1 << 24, 32768, 60000, WEFT_TYPE_I32, WEFT_OFS_64},
                                         {TEST_UNIFORM, 1 << 24, 32768, 60000, WEFT_TYPE_F64, WEFT_OFS_32},
                                         {TEST_SKEWED, 1 << 24, 32768, 60000, WEFT_TYPE_PATTERN, WEFT_OFS_32},
                                         {TEST_UNIFORM, 20000000, 600001, 700000, WEFT_TYPE_F32, WEFT_OFS_32},
                                         {TEST_SKEWED, 20000000, 600001, 700000, WEFT_TYPE_F64, WEFT_OFS_64}};
    for (size_t i = 0; i < (dev->checker ? 0 : sizeof three / sizeof *three); i++)
        tap_ok(check(dev, &three[i], i < 5 ? &small : &turns, said) && strstr(said, "3 passes"),
               "%s: buckets in parts, %s, %s, %lld rows: %s", dev->name, test_spread_name(three[i].spread),
               weft_type_name(three[i].type), (long long)three[i].m, said);
    // Two passes, columns on their own, chunks of four tiles: the next one is read ahead.
    const struct weft_transpose_params ahead = {.algo = WEFT_TRANSPOSE_ALGO_SCAN,
                                                .gpu = {.wg = 32, .ipt = 2, .bits = 8, .wg_large = 32}};
    const struct shape chunks = {TEST_UNIFORM, 1 << 24, 131072, 38000, WEFT_TYPE_F32, WEFT_OFS_32};
    if (!dev->checker)
        tap_ok(check(dev, &chunks, &ahead, said) && strstr(said, "2 passes") && !strstr(said, "in one word"),
               "%s: buckets of several tiles, columns apart: %s", dev->name, said);
    if (!dev->checker)
        tap_ok(check_apart(dev, &small), "%s: large parts of buckets apart from each other", dev->name);
    test_large(dev);
}

int main(void)
{
    rng = rng_start();
    test_device_each(each_device);
    return tap_done();
}
