// SPDX-License-Identifier: Apache-2.0
// What `auto` chooses costs at most 1.3 times the best of ours, by the bytes and steps of tests/support/cost.c, over families
// of matrices: SpMV with and without products to come for a GPU of 132 units and a CPU of 16, the mirror of transposition.
#include "host/internal/inside.h"
#include "host/internal/tests.h"
#include "tests/support/csr.h"
#include "tests/support/cost.h"
#include "tests/support/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/generate.h>
#include <weft/spmv.h>

#define MOST 1.3

static struct rng rng;

// ---- families --------------------------------------------------------------------------------------------------

enum family {
    FEW,
    MANY,
    DENSE,
    ARROW,
    WEB,
    POWER,
    HUBS,
    DENSE_ROWS,
    DENSE_COLUMNS,
    BAND,
    BAND_WIDE,
    STENCIL5,
    STENCIL27,
    BLOCKS,
    HYPERSPARSE,
    TALL,
    WIDE,
    // Held out while the rule was made.
    TRIANGLE,
    TURNS,
    SCATTERED,
    LONG_BLOCK,
    BAND_ONE_ROW,
    FAMILIES
};
static const char *const family_names[] = {"few entries a row",
                                           "many a row",
                                           "dense",
                                           "arrow",
                                           "web graph",
                                           "power law",
                                           "hubs",
                                           "few dense rows",
                                           "few dense columns",
                                           "band",
                                           "wide band",
                                           "5 points",
                                           "27 points",
                                           "dense blocks",
                                           "hypersparse",
                                           "tall",
                                           "wide",
                                           "triangle",
                                           "long and short rows in turns",
                                           "band with scattered slices",
                                           "long rows side by side",
                                           "band with one dense row"};

struct build {
    struct weft_csr *a;
    int64_t row, p;
};

static void entry_add(struct build *b, int64_t j)
{
    if (j >= 0 && j < b->a->n)
        b->a->col[b->p++] = (int32_t)j;
}

static void row_end(struct build *b)
{
    ((int32_t *)b->a->row_ptr)[++b->row] = (int32_t)b->p;
}

// `count` columns of n that ascend, spread at random.
static void spread_add(struct build *b, int64_t count)
{
    const double step = (double)b->a->n / (double)(count ? count : 1);
    int64_t before = -1;
    for (int64_t k = 0; k < count; k++) {
        const int64_t j = (int64_t)(step * ((double)k + rng_unit(&rng)));
        if (j > before)
            entry_add(b, j);
        before = j > before ? j : before;
    }
}

static void band_add(struct build *b, int64_t i, int64_t half)
{
    for (int64_t j = i - half; j <= i + half; j++)
        entry_add(b, j);
}

static void all_add(struct build *b)
{
    for (int64_t j = 0; j < b->a->n; j++)
        entry_add(b, j);
}

static void row_add(struct build *b, enum family family, int64_t i)
{
    const int64_t m = b->a->m, n = b->a->n;
    switch (family) {
    case FEW:
        spread_add(b, rng_between(&rng, 3, 8));
        break;
    case MANY:
        spread_add(b, rng_between(&rng, 25, 35));
        break;
    case ARROW:
        if (i == 0) {
            all_add(b);
        } else {
            entry_add(b, 0);
            entry_add(b, i);
        }
        break;
    case HUBS: // every 500th
        spread_add(b, i % 500 ? rng_between(&rng, 8, 16) : n / 40);
        break;
    case DENSE_ROWS:
        if (i % (m / 4) == 7)
            all_add(b);
        else
            band_add(b, i, 4);
        break;
    case DENSE_COLUMNS:
        for (int64_t k = 0; k < 4; k++)
            if (k * n / 4 < i - 3)
                entry_add(b, k * n / 4);
        band_add(b, i, 3);
        for (int64_t k = 0; k < 4; k++)
            if (k * n / 4 > i + 3)
                entry_add(b, k * n / 4);
        break;
    case BLOCKS:
        for (int64_t j = i / 24 * 24; j < i / 24 * 24 + 24; j++)
            entry_add(b, j);
        break;
    case HYPERSPARSE:
        if (i % 50 == 0)
            spread_add(b, 1);
        break;
    case TALL:
    case WIDE:
        spread_add(b, family == TALL ? 4 : 40);
        break;
    case TRIANGLE:
        spread_add(b, 1 + 60 * i / m);
        break;
    case TURNS:
        spread_add(b, i % 8 ? 6 : 150);
        break;
    case SCATTERED: // one slice of 32 rows in 400
        if (i / 32 % 400 == 200)
            spread_add(b, 9);
        else
            band_add(b, i, 4);
        break;
    case LONG_BLOCK:
        spread_add(b, i < 64 ? 5000 : 24);
        break;
    case BAND_ONE_ROW:
        if (i == m / 3)
            for (int64_t j = 0; j < n * 4 / 5; j++)
                entry_add(b, j);
        else
            band_add(b, i, 7);
        break;
    default:
        break;
    }
}

static struct weft_csr family_make(enum family family, int64_t m, enum weft_type type)
{
    char spec[80] = "";
    struct weft_csr a;
    struct weft_error err = {0};
    const long long size = (long long)m;
    if (family == DENSE)
        snprintf(spec, sizeof spec, "dense:%lld,%lld", size / 80, size / 80);
    else if (family == WEB)
        snprintf(spec, sizeof spec, "web:%lld,%lld", size, 30 * size);
    else if (family == POWER)
        snprintf(spec, sizeof spec, "power:%lld,%lld,%lld", size, size, 8 * size);
    else if (family == BAND)
        snprintf(spec, sizeof spec, "band:%lld,5", size);
    else if (family == BAND_WIDE)
        snprintf(spec, sizeof spec, "band:%lld,301", size / 10);
    else if (family == STENCIL5)
        snprintf(spec, sizeof spec, "stencil5:%lld", (long long)sqrt((double)m));
    else if (family == STENCIL27)
        snprintf(spec, sizeof spec, "stencil27:%lld", (long long)cbrt((double)m));
    if (spec[0]) {
        if (weft_generate(&a, spec, weft_generate_params(.type = type, .seed = rng_u64(&rng)), &err))
            tap_bail("%s", err.text);
        return a;
    }
    const int64_t n = family == TALL ? m / 50 : family == WIDE ? m * 4 : m, rows = family == WIDE ? m / 10 : m;
    const int64_t room = family == HYPERSPARSE ? rows : rows * 62 + 8 * n + 400000;
    if (weft_csr_alloc(&a, weft_shape(rows, n, room, type, WEFT_OFS_32)))
        tap_bail("out of host memory");
    struct build b = {.a = &a};
    ((int32_t *)a.row_ptr)[0] = 0;
    for (int64_t i = 0; i < rows; i++) {
        row_add(&b, family, i);
        row_end(&b);
        if (b.p > room)
            tap_bail("%s has more entries than expected", family_names[family]);
    }
    a.nnz = b.p;
    memset(a.val, 0, (size_t)a.nnz * weft_type_bytes(type));
    return a;
}

// ---- products --------------------------------------------------------------------------------------------------

static void check_spmv_choice(struct test_device *dev, enum family family, int64_t m, enum weft_type type)
{
    struct cost_device model = dev->gpu ? cost_gpu : cost_cpu;
    model.joins = dev->gpu && !weft__caps_of(dev->ctx).fence;
    struct weft_csr a = family_make(family, m, type);
    struct weft_device_csr d = {0};
    if (weft_device_csr_alloc(&d, dev->ctx, weft_csr_shape(&a)) ||
        weft_device_csr_write_sync(&d, dev->ctx, dev->queue, &a))
        tap_bail("%s", test_error(dev));
    for (int products = 0; products <= 1000000; products += 1000000) {
        const struct weft_spmv_params params = {.policy.products = products};
        struct weft_spmv_plan *plan = NULL;
        struct weft_spmv_info info = {0};
        enum weft_spmv_algo best = WEFT_SPMV_ALGO_AUTO;
        const int lanes = weft__caps_of(dev->ctx).lanes != WEFT_LANES_LOCAL; // which panels and nodes ask for
        const double least = cost_spmv_best(&model, &a, !products, lanes, &best);
        const int made = !weft_spmv_plan_create(&plan, dev->ctx, dev->queue, &d, &params);
        if (made)
            info = *weft_spmv_plan_info(plan);
        weft_spmv_plan_destroy(&plan);
        const double us =
            made ? cost_spmv(&model, &a, info.params.policy.algo, info.params.gpu.lanes + info.params.cpu.lanes)
                 : INFINITY;
        tap_ok(us <= MOST * least, "%s: %s, %lld entries, %s, %d products: %s", dev->name, family_names[family],
               (long long)a.nnz, weft_type_name(type), products,
               made ? weft_spmv_algo_name(info.params.policy.algo) : "none");
        if (us > MOST * least)
            tap_note("%.1f us, %s takes %.1f: %s", us, weft_spmv_algo_name(best), least,
                     made ? info.why : test_error(dev));
    }
    weft_device_csr_free(&d);
    weft_csr_free(&a);
}

// ---- lanes of CSR ------------------------------------------------------------------------------------------------

enum columns { C_BAND, C_PAIRS, C_FEW, C_EVERY_40TH };

// Rows of 64 entries with columns `columns`, of 2^17 columns in all or, for C_FEW, of 1024. Side by side, or few columns in all:
// 16 lanes for each row of a GPU; apart from each other: 2, or as many as fill the device.
static void check_lanes(struct test_device *dev, enum columns columns, int want)
{
    enum { EACH = 64, FAR = 40 };
    const int units = (int)weft_context_device(dev->ctx)->compute_units;
    const int64_t m = 512 * units, n = columns == C_FEW ? 1024 : 1 << 17;
    struct weft_csr a;
    struct weft_device_csr d = {0};
    if (weft_csr_alloc(&a, weft_shape(m, n, m * EACH, WEFT_TYPE_F32, WEFT_OFS_32)))
        tap_bail("out of host memory");
    for (int64_t i = 0; i < m * EACH; i++) {
        const int64_t row = i / EACH, e = i % EACH;
        const int64_t at = columns == C_PAIRS ? e / 2 * FAR + e % 2 : columns == C_BAND ? e : e * FAR;
        a.col[i] = (int32_t)((row + at) % n);
    }
    for (int64_t r = 0; r <= m; r++)
        ((int32_t *)a.row_ptr)[r] = (int32_t)(r * EACH);
    memset(a.val, 0, (size_t)a.nnz * 4);
    struct weft_spmv_plan *plan = NULL;
    const struct weft_spmv_params params = {.policy.algo = WEFT_SPMV_ALGO_CSR_LANES};
    if (weft_device_csr_alloc(&d, dev->ctx, weft_csr_shape(&a)) ||
        weft_device_csr_write_sync(&d, dev->ctx, dev->queue, &a) ||
        weft_spmv_plan_create(&plan, dev->ctx, dev->queue, &d, &params))
        tap_bail("%s", test_error(dev));
    const int lanes = weft_spmv_plan_info(plan)->params.gpu.lanes;
    tap_ok(lanes == want, "%s: %d of %d lanes for rows whose columns are of kind %d", dev->name, lanes, want,
           (int)columns);
    weft_spmv_plan_destroy(&plan);
    weft_device_csr_free(&d);
    weft_csr_free(&a);
}

// Rows of one entry or none, enough of them for csr_scalar, which has neither lanes nor fours of entries: a caller who gives one of
// these gets an algorithm that has it.
static void check_given(struct test_device *dev)
{
    const int64_t m = 4096 * (int64_t)weft_context_device(dev->ctx)->compute_units;
    struct weft_csr a = family_make(HYPERSPARSE, m, WEFT_TYPE_F32);
    struct weft_device_csr d = {0};
    if (weft_device_csr_alloc(&d, dev->ctx, weft_csr_shape(&a)) ||
        weft_device_csr_write_sync(&d, dev->ctx, dev->queue, &a))
        tap_bail("%s", test_error(dev));
    for (int i = 0; i < 3; i++) {
        const struct weft_spmv_params params = {
            .policy.algo = WEFT_SPMV_ALGO_CSR, .gpu.ipt = i == 1 ? 4 : 0, .gpu.lanes = i == 2 ? 8 : 0};
        struct weft_spmv_plan *plan = NULL;
        const int made = !weft_spmv_plan_create(&plan, dev->ctx, dev->queue, &d, &params);
        const int scalar = made && weft_spmv_plan_info(plan)->params.policy.algo == WEFT_SPMV_ALGO_CSR_SCALAR;
        tap_ok(made && scalar == !i, "%s: rows of one entry or none, %s given: %s", dev->name,
               i == 0   ? "nothing"
               : i == 1 ? "ipt"
                        : "lanes",
               made ? weft_spmv_plan_info(plan)->why : test_error(dev));
        weft_spmv_plan_destroy(&plan);
    }
    weft_device_csr_free(&d);
    weft_csr_free(&a);
}

// csr_merge's kernel takes smaller work-groups than the device; all others take what the device does.
static cl_int CL_API_CALL merge_small(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what,
                                      size_t size, void *value, size_t *needed)
{
    char name[64] = "";
    const cl_int error = clGetKernelWorkGroupInfo(kernel, device, what, size, value, needed);
    if (error == CL_SUCCESS && what == CL_KERNEL_WORK_GROUP_SIZE &&
        clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL) == CL_SUCCESS &&
        !strcmp(name, "spmv_csr_merge"))
        *(size_t *)value = 64;
    return error;
}

// The choice stays where its kernel wants smaller work-groups.
static void check_limited(struct test_device *dev)
{
    struct weft_csr a;
    struct weft_device_csr d = {0};
    struct weft_spmv_plan *plan = NULL;
    if (weft__quirks_of(&dev->ctx->device).untold_groups) {
        tap_skip("%s: what the driver says of work-groups is no limit", dev->name);
        return;
    }
    if (weft_generate(&a, "heavy:20000,20000,200000,15000", weft_generate_params(.type = WEFT_TYPE_F32), NULL))
        tap_bail("out of memory");
    if (weft_device_csr_alloc(&d, dev->ctx, weft_csr_shape(&a)) ||
        weft_device_csr_write_sync(&d, dev->ctx, dev->queue, &a))
        tap_bail("%s", test_error(dev));
    weft__cl.clGetKernelWorkGroupInfo = merge_small;
    const weft_status status =
        weft_spmv_plan_create(&plan, dev->ctx, dev->queue, &d, weft_spmv_params(.policy.algo = WEFT_SPMV_ALGO_CSR));
    weft__cl.clGetKernelWorkGroupInfo = clGetKernelWorkGroupInfo;
    const struct weft_spmv_info *info = status ? NULL : weft_spmv_plan_info(plan);
    tap_ok(info && info->params.policy.algo == WEFT_SPMV_ALGO_CSR_MERGE && info->params.gpu.wg <= 64,
           "%s: a kernel of work-groups of 64: %s, %d: %s", dev->name,
           info ? weft_spmv_algo_name(info->params.policy.algo) : "none", info ? info->params.gpu.wg : 0,
           info ? info->why : test_error(dev));
    weft_spmv_plan_destroy(&plan);
    weft_device_csr_free(&d);
    weft_csr_free(&a);
}

// Rows of no to four entries, and one of all columns, with more of them for two units than a processor learns by heart. The long row is
// nothing to a hybrid, which a CPU takes where enough products pay for it, but not where sums in f64 are to round once, where
// a width is given, or where padding is not allowed. Without the long row the formats of whole slices are better.
static void check_hybrid(struct test_device *dev)
{
    const int64_t m = 240000, n = 150000;
    static const struct {
        const char *name;
        struct weft_spmv_params params;
        int dense, hyb;
    } cases[] = {
        {"many products", {.policy.products = 100000}, 1, 1},
        {"one product", {.policy.products = 1}, 1, 0},
        {"sums in f64", {.policy.products = 100000, .problem.f64_sums = true}, 1, 0},
        {"a width that is given", {.policy.products = 100000, .format.width = 2}, 1, 0},
        {"no padding", {.policy.products = 100000, .format.max_padding = 1}, 1, 0},
        {"no long row", {.policy.products = 100000}, 0, 0},
    };
    const int units = dev->ctx->device.compute_units;
    dev->ctx->device.compute_units = 2;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct weft_csr a;
        struct weft_device_csr d = {0};
        if (weft_csr_alloc(&a, weft_shape(m, n, 4 * m + n, WEFT_TYPE_F32, WEFT_OFS_32)))
            tap_bail("out of host memory");
        struct build b = {.a = &a};
        ((int32_t *)a.row_ptr)[0] = 0;
        for (int64_t i = 0; i < m; i++) {
            if (i == m / 2 && cases[k].dense)
                all_add(&b);
            else
                spread_add(&b, rng_between(&rng, 0, 4));
            row_end(&b);
        }
        a.nnz = b.p;
        memset(a.val, 0, (size_t)a.nnz * 4);
        struct weft_spmv_plan *plan = NULL;
        if (weft_device_csr_alloc(&d, dev->ctx, weft_csr_shape(&a)) ||
            weft_device_csr_write_sync(&d, dev->ctx, dev->queue, &a) ||
            weft_spmv_plan_create(&plan, dev->ctx, dev->queue, &d, &cases[k].params))
            tap_bail("%s", test_error(dev));
        const struct weft_spmv_info *info = weft_spmv_plan_info(plan);
        tap_ok((info->params.policy.algo == WEFT_SPMV_ALGO_HYB) == cases[k].hyb, "%s: %s: %s, %s", dev->name,
               cases[k].name, weft_spmv_algo_name(info->params.policy.algo), info->why);
        weft_spmv_plan_destroy(&plan);
        weft_device_csr_free(&d);
        weft_csr_free(&a);
    }
    dev->ctx->device.compute_units = units;
}

// ---- the mirror ------------------------------------------------------------------------------------------------

enum shape { S_BAND, S_WIDE, S_STENCIL, S_ARROW, S_BLOCKS, S_GRAPH, S_DEGREES, S_CLIQUES, S_EVERY_15TH, S_SHAPES };
static const char *const shape_names[] = {
    "band",    "wide band", "27 points", "arrow", "blocks", "graph, 300 a row", "graph with rows of all lengths",
    "cliques", "every 15th"};

static uint64_t pair_hash(int64_t low, int64_t high)
{
    uint64_t z = ((uint64_t)low << 32 | (uint64_t)high) + UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static int is_there(enum shape shape, int64_t i, int64_t j, int64_t n)
{
    const int64_t low = i < j ? i : j, high = i < j ? j : i;
    switch (shape) {
    case S_BAND:
        return high - low <= 2;
    case S_WIDE:
        return high - low <= 100;
    case S_STENCIL:
        return llabs(i % 12 - j % 12) <= 1 && llabs(i / 12 % 12 - j / 12 % 12) <= 1 && llabs(i / 144 - j / 144) <= 1;
    case S_ARROW:
        return low == 0 || low == high;
    case S_BLOCKS:
        return low / 200 == high / 200;
    case S_GRAPH:
        return pair_hash(low, high) % (uint64_t)n < 300;
    case S_DEGREES: // page k has a share of n / (k + 8)
        return pair_hash(low, high) % (uint64_t)n < (uint64_t)(8 * n / (8 + low));
    case S_EVERY_15TH:
        return low % 5 == 0 && high % 15 == low % 15;
    default:
        return low / 40 == high / 40 || pair_hash(low, high) % 500 == 0;
    }
}

// Where the mirror makes the transpose, it costs at most 1.3 times scan; where it would be cheaper by far, it does make it.
static void check_mirror(struct test_device *dev, enum shape shape)
{
    const int64_t n = shape == S_STENCIL ? 1728 : 1600;
    struct weft_csr a;
    if (weft_csr_alloc(&a, weft_shape(n, n, n * n, WEFT_TYPE_F32, WEFT_OFS_32)))
        tap_bail("out of host memory");
    struct build b = {.a = &a};
    ((int32_t *)a.row_ptr)[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++)
            if (is_there(shape, i, j, n))
                entry_add(&b, j);
        row_end(&b);
    }
    a.nnz = b.p;
    memset(a.val, 0, (size_t)a.nnz * 4);
    const struct weft__transpose_shape of = {.m = n, .n = n, .nnz = a.nnz, .mirror = 1};
    struct test_csr from, to;
    test_csr_make(&from, dev, &a, n, n, a.nnz, WEFT_TYPE_F32, WEFT_OFS_32);
    test_csr_make(&to, dev, NULL, n, n, a.nnz, WEFT_TYPE_F32, WEFT_OFS_32);
    struct weft__mirror mirror = {0};
    struct weft__make make = {.ctx = dev->ctx};
    struct weft__stream stream = {0};
    cl_uint failed = 77;
    weft__mirror_create(&mirror, &make, &of, weft__mirror_guesses(&of));
    int ok = !make.status && !weft__stream_begin(&stream, dev->ctx, dev->queue, 0, NULL, NULL);
    if (ok)
        weft__mirror_run(&mirror, &stream, &of, &from.d, &to.d);
    ok = ok && !weft__stream_end(&stream) &&
         clEnqueueReadBuffer(dev->queue, mirror.failed, CL_TRUE, 0, 4, &failed, 0, NULL, NULL) == CL_SUCCESS;
    const int mirrored = failed != mirror.run;
    const double ratio = cost_mirror_bytes(&a) / cost_scan_bytes(&a);
    tap_ok(ok && (mirrored ? ratio <= MOST : ratio >= 0.7),
           "%s: %s, %lld entries: the mirror costs %.2f of scan, and %s", dev->name, shape_names[shape],
           (long long)a.nnz, ratio, mirrored ? "goes on" : "gives up");
    weft__mirror_release(&mirror);
    test_csr_free(&from);
    test_csr_free(&to);
    weft_csr_free(&a);
}

static void check_families(struct test_device *dev)
{
    if ((dev->ctx->device.type & CL_DEVICE_TYPE_GPU) && weft__caps_of(dev->ctx).lanes == WEFT_LANES_LOCAL) {
        tap_skip("%s: no GPU without lanes in hardware was timed", dev->name);
        return;
    }
    // The device that the model is of: auto knows processors apart (host/src/spmv/cost_cpu.c).
    const struct weft_device_info device = dev->ctx->device;
    const int vector = dev->ctx->vector;
    dev->ctx->device.compute_units = dev->gpu ? cost_gpu.units : cost_cpu.units;
    if (!dev->gpu) {
        snprintf(dev->ctx->device.vendor, sizeof dev->ctx->device.vendor, "AuthenticAMD");
        dev->ctx->device.cache_bytes = 1 << 20; // everything comes from memory
        dev->ctx->vector = 16;
    }
    for (int family = 0; family < FAMILIES; family++) {
        check_spmv_choice(dev, (enum family)family, 72000, family % 2 ? WEFT_TYPE_F64 : WEFT_TYPE_F32);
        check_spmv_choice(dev, (enum family)family, 24000, family % 2 ? WEFT_TYPE_F32 : WEFT_TYPE_F64);
    }
    check_spmv_choice(dev, HYPERSPARSE, 400000, WEFT_TYPE_F32);
    check_spmv_choice(dev, HYPERSPARSE, 2000000, WEFT_TYPE_F64);
    dev->ctx->device = device;
    dev->ctx->vector = vector;
}

static void each_device(struct test_device *dev)
{
    if (dev->gpu && !dev->checker) {
        check_lanes(dev, C_BAND, 16);
        check_lanes(dev, C_PAIRS, 16);
        check_lanes(dev, C_FEW, 16);
        check_lanes(dev, C_EVERY_40TH, 2);
        check_given(dev);
        check_limited(dev);
    }
    if (!dev->gpu && !dev->checker)
        check_hybrid(dev);
    if (dev->checker || test_sample()) {
        tap_skip("%s: too slow", dev->name);
        return;
    }
    check_families(dev);
    for (int shape = 0; dev->gpu && shape < S_SHAPES; shape++)
        check_mirror(dev, (enum shape)shape);
}

int main(void)
{
    rng = rng_start();
    test_device_each(each_device);
    return tap_done();
}
