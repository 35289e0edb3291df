// SPDX-License-Identifier: Apache-2.0
// Panels of columns: parts without entries and longer than a work-group's share, columns in any order, new values, refusals.
#include "host/internal/tests.h"
#include "tests/support/csr.h"
#include "tests/support/device.h"
#include "tests/support/rng.h"

#include <stdlib.h>
#include <string.h>
#include <weft/generate.h>
#include <weft/spmv.h>

// Panels, buckets and slabs of the usual size, for which costs were fitted.
#ifdef WEFT_HOSTILE
#define USUAL 0
#else
#define USUAL 1
#endif

// How the columns of a row stand.
enum order { ASCEND, PANELS_ASCEND, LONG_APART, SHORT_APART, ANY, NORDERS };
static const char *const orders[] = {"ascending", "ascending but for neighbours", "ascending but for two of a long row",
                                     "ascending but for two of a short row", "in any order"};

enum { LONG_ROW = 7, SHORT_ROW = 6 };
// Several panels; few rows in so many that several work-items sum up the parts of each. A checker has fewer entries in
// LONG_ROW, and fewer rows where products wait in buckets: an entry takes it a millisecond.
static const struct size {
    int m, n, few; // few: entries of a row, at most, where these lie in many panels; or 0
} sizes[] = {{301, 60000, 0}, {37, 150000, 0}}, checked[] = {{101, 60000, 0}, {13, 90000, 0}}, few = {20000, 60000, 4},
  few_checked = {6000, 60000, 4}, slabs = {40000, 1600000, 50}, tiny = {7, 60000, 0};
#define NOBODY   20000 // from here on
#define NOBODY_N 12000 // columns that no row has: more than a panel

static struct rng rng;

static void value_set(void *to, enum weft_type type, int64_t i, int value)
{
    if (type == WEFT_TYPE_F32)
        ((float *)to)[i] = (float)value;
    else if (type == WEFT_TYPE_F64)
        ((double *)to)[i] = value;
    else if (type == WEFT_TYPE_I32)
        ((int32_t *)to)[i] = value;
}

static int value_get(const void *from, enum weft_type type, int64_t i)
{
    return type == WEFT_TYPE_F32   ? (int)((const float *)from)[i]
           : type == WEFT_TYPE_F64 ? (int)((const double *)from)[i]
                                   : ((const int32_t *)from)[i];
}

static void swap(int32_t *col, int64_t p, int64_t other)
{
    const int32_t c = col[p];
    col[p] = col[other];
    col[other] = c;
}

// Every fifth row is empty; row LONG_ROW has every third column, or ninth, and some twice. Values and x are small integers, so that any
// order of sums gives the same y.
static struct weft_csr matrix(const struct size *size, int checker, enum order order, enum weft_type type,
                              enum weft_ofs ofs)
{
    const int64_t m = size->m, n = size->n;
    struct weft_csr a = {0};
    if (weft_csr_alloc(&a, weft_shape(m, n, m * (n / 1500) + n, type, ofs)))
        tap_bail("out of memory");
    int64_t at = 0;
    for (int64_t i = 0; i <= m; i++) {
        test_row_begin(&a, i, at);
        const int64_t begin = at, step = i == LONG_ROW ? (checker ? 9 : 3) : rng_between(&rng, 1500, 9000);
        for (int64_t c = (int64_t)rng_below(&rng, 3000); i < m && i % 5 && c < n && at - begin < n / 2; c += step) {
            if (c >= NOBODY && c < NOBODY + NOBODY_N)
                continue;
            a.col[at++] = (int32_t)c;
            if (i == LONG_ROW && c % 1000 == 0)
                a.col[at++] = (int32_t)c;
        }
        for (int64_t p = begin; order == PANELS_ASCEND && p + 1 < at; p += 2)
            if (a.col[p + 1] - a.col[p] < 8 &&
                a.col[p] / 32 == a.col[p + 1] / 32) // of one panel: their ends divide by 32
                swap(a.col, p, p + 1);
        for (int64_t p = at - 1; order == ANY && p > begin; p--)
            swap(a.col, p, begin + (int64_t)rng_below(&rng, (uint64_t)(p - begin + 1)));
        const int64_t half = (at - begin) / 2;
        if (half && ((order == LONG_APART && i == LONG_ROW) || (order == SHORT_APART && i == SHORT_ROW)))
            swap(a.col, begin + (int64_t)rng_below(&rng, (uint64_t)half),
                 begin + half + (int64_t)rng_below(&rng, (uint64_t)half));
    }
    a.nnz = at;
    return a;
}

// Rows with a third of an entry in each panel, of which products wait in buckets (push.c); many are empty, the last ones too. In
// `slabs` with so many panels and entries that a device of few units keeps the products of a slab alone.
static struct weft_csr sparse(const struct size *size, enum order order, enum weft_type type, enum weft_ofs ofs)
{
    const int64_t m = size->m, n = size->n, most = size->few;
    struct weft_csr a = {0};
    if (weft_csr_alloc(&a, weft_shape(m, n, m * (most + 8), type, ofs)))
        tap_bail("out of memory");
    int64_t at = 0;
    for (int64_t i = 0; i <= m; i++) {
        test_row_begin(&a, i, at);
        const int64_t length = i >= m - 700 || i % 7 == 0 ? 0 : i == LONG_ROW + 1 ? 900 : rng_between(&rng, 0, most);
        for (int64_t k = 0; i < m && k < length; k++)
            a.col[at++] = (int32_t)(order == ANY ? (int64_t)rng_below(&rng, (uint64_t)n)
                                                 : n * k / length + (int64_t)rng_below(&rng, (uint64_t)(n / length)));
    }
    a.nnz = at;
    return a;
}

static void values_draw(struct weft_csr *a)
{
    for (int64_t p = 0; a->val && p < a->nnz; p++)
        value_set(a->val, a->type, p, (int)rng_between(&rng, -3, 3));
}

// y = 2*A*x - y, or the least of sums and y.
static void expect(const struct weft_csr *a, enum weft_type vec, int semiring, const void *x, const void *y0, void *y)
{
    for (int64_t i = 0; i < a->m; i++) {
        int64_t sum = semiring ? INT32_MAX : 0;
        for (int64_t p = weft_csr_ofs(a, i); p < weft_csr_ofs(a, i + 1); p++) {
            const int v = a->val ? value_get(a->val, a->type, p) : 1, b = value_get(x, vec, a->col[p]);
            sum = !semiring ? sum + (int64_t)v * b : sum < v + b ? sum : v + b;
        }
        const int before = value_get(y0, vec, i);
        value_set(y, vec, i, (int)(!semiring ? 2 * sum - before : sum < before ? sum : before));
    }
}

struct product {
    struct test_device *dev;
    int m;
    enum weft_type vec;
    void *x, *y0, *want, *got;
    size_t wide;
    struct test_buffer bx, by;
};

// A run; nonzero: right, and nothing beside y was written.
static int right(struct product *p, struct weft_spmv_plan *plan, const struct weft_csr *a, int semiring)
{
    expect(a, p->vec, semiring, p->x, p->y0, p->want);
    test_buffer_write(p->dev, &p->by, p->y0, (size_t)p->m * p->wide);
    if (weft_spmv_run(plan, p->dev->queue, p->by.mem, semiring ? 1 : 2, p->bx.mem, semiring ? 1 : -1, 0, NULL, NULL)) {
        tap_note("%s", test_error(p->dev));
        return 0;
    }
    test_buffer_read(p->dev, &p->by, p->got, (size_t)p->m * p->wide);
    for (int i = 0; i < p->m; i++)
        if (memcmp((char *)p->got + (size_t)i * p->wide, (char *)p->want + (size_t)i * p->wide, p->wide)) {
            tap_note("row %d is %d, should be %d", i, value_get(p->got, p->vec, i), value_get(p->want, p->vec, i));
            return 0;
        }
    return test_buffer_intact(p->dev, &p->bx) && test_buffer_intact(p->dev, &p->by);
}

// A plan, two runs, new values, another run.
static void check(struct test_device *dev, const struct size *size, enum order order, enum weft_type type,
                  enum weft_ofs ofs, int semiring, int wg, int ipt)
{
    struct weft_csr a = size->few ? sparse(size, order, type, ofs) : matrix(size, dev->checker, order, type, ofs);
    struct weft_device_csr d = {0}, other = {0};
    struct weft_spmv_plan *plan = NULL;
    const enum weft_type vec = type == WEFT_TYPE_PATTERN ? WEFT_TYPE_F32 : type;
    struct product p = {.dev = dev, .m = size->m, .vec = vec, .wide = weft_type_bytes(vec)};
    const size_t x_bytes = (size_t)size->n * p.wide, y_bytes = (size_t)size->m * p.wide;
    p.x = test_alloc(x_bytes);
    p.y0 = test_alloc(y_bytes);
    p.want = test_alloc(y_bytes);
    p.got = test_alloc(y_bytes);
    for (int i = 0; i < size->n; i++)
        value_set(p.x, vec, i, (int)rng_between(&rng, -4, 4));
    for (int i = 0; i < size->m; i++)
        value_set(p.y0, vec, i, (int)rng_between(&rng, -9, 9));
    values_draw(&a);
    p.bx = test_buffer_make(dev, p.x, x_bytes);
    p.by = test_buffer_make(dev, p.y0, y_bytes);
    struct weft_spmv_params params = {.policy.algo = WEFT_SPMV_ALGO_PANELS, .format.max_padding = 1e6};
    params.problem.semiring = semiring ? WEFT_SPMV_SEMIRING_MIN_PLUS : WEFT_SPMV_SEMIRING_PLUS_TIMES;
    params.gpu.wg = dev->gpu ? wg : 0;
    params.gpu.ipt = dev->gpu ? ipt : 0;
    int ok = !weft_device_csr_alloc(&d, dev->ctx, weft_csr_shape(&a)) &&
             !weft_device_csr_write_sync(&d, dev->ctx, dev->queue, &a) &&
             !weft_spmv_plan_create(&plan, dev->ctx, dev->queue, &d, &params);
    if (!ok)
        tap_note("%s", test_error(dev));
    const struct weft_spmv_info *info = weft_spmv_plan_info(plan);
    ok = ok && (info->params.policy.algo == WEFT_SPMV_ALGO_PANELS) == (dev->gpu != 0) && info->format_bytes > 0;
    if (dev->gpu && size == &slabs && USUAL)
        ok = ok && (int64_t)info->workspace_bytes < 2 * a.nnz; // not all products at a time
    ok = ok && right(&p, plan, &a, semiring) && right(&p, plan, &a, semiring);
    values_draw(&a);
    ok = ok && !weft_device_csr_alloc(&other, dev->ctx, weft_csr_shape(&a)) &&
         !weft_device_csr_write_sync(&other, dev->ctx, dev->queue, &a) &&
         !weft_spmv_plan_refill(plan, dev->queue, &other) && right(&p, plan, &a, semiring);
    weft_device_csr_free(&other);
    weft_device_csr_free(&d);
    tap_ok(ok, "%s: %d x %d, columns %s, %s, %d bits, semiring %d, work-groups of %d, %d entries", dev->name, size->m,
           size->n, orders[order], weft_type_name(type), (int)weft_ofs_bytes(ofs) * 8, semiring, wg, ipt);
    weft_spmv_plan_destroy(&plan);
    test_buffer_free(&p.bx);
    test_buffer_free(&p.by);
    free(p.x);
    free(p.y0);
    free(p.want);
    free(p.got);
    weft_csr_free(&a);
}

// A checker with less local memory, so that fewer entries are several buckets too.
static void check_few(struct test_device *dev)
{
    const struct size *size = dev->checker ? &few_checked : &few;
    const int64_t local = dev->ctx->device.local_bytes;
    if (dev->checker)
        dev->ctx->device.local_bytes = local < 32768 ? local : 32768;
    check(dev, size, ASCEND, WEFT_TYPE_F32, WEFT_OFS_32, 0, 64, 4);
    check(dev, size, ANY, WEFT_TYPE_I32, WEFT_OFS_64, 1, 64, 4);
    check(dev, size, ANY, WEFT_TYPE_PATTERN, WEFT_OFS_32, 0, 64, 4);
    if (weft_context_device(dev->ctx)->fp64)
        check(dev, size, ANY, WEFT_TYPE_F64, WEFT_OFS_32, 0, 64, 4);
    dev->ctx->device.local_bytes = local;
}

// On a device of two units, whatever this one has.
static void check_slabs(struct test_device *dev)
{
    const int units = dev->ctx->device.compute_units;
    dev->ctx->device.compute_units = 2;
    check(dev, &slabs, ANY, WEFT_TYPE_F32, WEFT_OFS_32, 0, 64, 4);
    dev->ctx->device.compute_units = units;
}

// Mostly parts without entries: refused before memory is taken for them.
static void test_refused(struct test_device *dev)
{
    struct weft_csr a = {0};
    struct weft_error err = {0};
    struct weft_device_csr d = {0};
    struct weft_spmv_plan *plan = NULL;
    if (weft_generate(&a, "uniform:5000,1000000,1200", NULL, &err))
        tap_bail("%s", err.text);
    int ok = !weft_device_csr_alloc(&d, dev->ctx, weft_csr_shape(&a)) &&
             !weft_device_csr_write_sync(&d, dev->ctx, dev->queue, &a) &&
             weft_spmv_plan_create(&plan, dev->ctx, dev->queue, &d,
                                   weft_spmv_params(.policy.algo = WEFT_SPMV_ALGO_PANELS)) == WEFT_ERANGE;
    tap_ok(ok && !plan && strstr(test_error(dev), "panels would hold") && strstr(test_error(dev), "5000 rows"),
           "%s: too many parts are refused: %s", dev->name, test_error(dev));
    weft_spmv_plan_destroy(&plan);
    weft_device_csr_free(&d);
    weft_csr_free(&a);
}

// Whether a matrix that is filled up in the push form is taken where nothing may be.
static weft_status filled(struct test_device *dev, struct weft_csr *a)
{
    struct weft_device_csr d = {0};
    struct weft_spmv_plan *plan = NULL;
    values_draw(a);
    weft_status status = weft_device_csr_alloc(&d, dev->ctx, weft_csr_shape(a));
    if (!status)
        status = weft_device_csr_write_sync(&d, dev->ctx, dev->queue, a);
    if (!status)
        status = weft_spmv_plan_create(&plan, dev->ctx, dev->queue, &d,
                                       weft_spmv_params(.policy.algo = WEFT_SPMV_ALGO_PANELS, .format.max_padding = 1));
    weft_spmv_plan_destroy(&plan);
    weft_device_csr_free(&d);
    weft_csr_free(a);
    return status;
}

// Four entries of a row side by side: quads of which none has room left.
static struct weft_csr quads(int64_t m, int64_t n)
{
    struct weft_csr a = {0};
    if (weft_csr_alloc(&a, weft_shape(m, n, 4 * m, WEFT_TYPE_F32, WEFT_OFS_32)))
        tap_bail("out of memory");
    for (int64_t i = 0; i <= m; i++) {
        test_row_begin(&a, i, 4 * i);
        const int64_t first = 4 * (int64_t)rng_below(&rng, (uint64_t)n / 4);
        for (int64_t k = 0; i < m && k < 4; k++)
            a.col[4 * i + k] = (int32_t)(first + k);
    }
    a.nnz = 4 * m;
    return a;
}

// Runs that are filled up by more than is allowed, and by exactly as much.
static void test_filled(struct test_device *dev)
{
    struct weft_csr a = sparse(dev->checker ? &few_checked : &few, ASCEND, WEFT_TYPE_F32, WEFT_OFS_32), full;
    tap_ok(filled(dev, &a) == WEFT_ERANGE && strstr(test_error(dev), "buckets of rows"), "%s: filled up too much: %s",
           dev->name, test_error(dev));
    full = quads(2000, 150000);
    tap_ok(!filled(dev, &full), "%s: full quads are taken where nothing may be filled up", dev->name);
}

// What auto chooses by figures alone, on a device with as many units as an H200 and lanes in hardware; nothing runs.
static void test_choice(struct test_device *dev)
{
    static const struct {
        const char *what;
        int64_t m, n, nnz, products;
        enum weft_type type;
        int far;         // of 1024 entries those that lie far from the one before
        int panels;      // 2: those that need no lanes
        int64_t longest; // entries of the longest row; 0: a hundred times the mean, so that no sliced format is taken
    } cases[] = {
        {"100 entries a row in 100 000 columns", 100000, 100000, 10000000, 1000, WEFT_TYPE_F32, 1000, 1, 0},
        {"the same in f64", 100000, 100000, 10000000, 1000, WEFT_TYPE_F64, 1000, 1, 0},
        {"the same for few products", 100000, 100000, 10000000, 20, WEFT_TYPE_F32, 1000, 0, 0},
        {"the same side by side", 100000, 100000, 10000000, 1000, WEFT_TYPE_F32, 100, 0, 0},
        {"few long rows", 300, 5000000, 20000000, 1000, WEFT_TYPE_F32, 1000, 1, 0},
        {"x in the first cache", 20000, 20000, 4000000, 1000, WEFT_TYPE_F32, 1000, 0, 0},
        {"the same with more than the second cache keeps", 10000, 10000, 100000000, 1000, WEFT_TYPE_F32, 0, 1, 100000},
        {"the same for few products", 10000, 10000, 100000000, 100, WEFT_TYPE_F32, 0, 0, 100000},
        {"half of the entries in 7 rows", 30000, 30000, 4000000, 1000, WEFT_TYPE_F64, 1000, 0, 290000},
        {"half of the entries in 80 rows", 30000, 30000, 4000000, 1000, WEFT_TYPE_F64, 1000, 1, 25000},
        {"few entries a part, x in the first cache", 1000000, 10000, 20000000, 1000, WEFT_TYPE_F32, 0, 0, 0},
        {"a half of an entry a part", 500000, 500000, 10000000, 1000, WEFT_TYPE_F32, 1000, 2, 0},
        {"the same in f64", 500000, 500000, 10000000, 1000, WEFT_TYPE_F64, 1000, 0, 0},
        {"the same with rows longer than a bucket has room for", 300000, 1000000, 10000000, 1000, WEFT_TYPE_F32, 1000,
         0, 0},
        {"few entries of a bucket in a panel", 20000000, 20000000, 60000000, 1000, WEFT_TYPE_F32, 1000, 0, 0},
        {"one entry a part in f64", 150000, 200000, 5000000, 1000, WEFT_TYPE_F64, 1000, 0, 0},
        {"no more than two launches take", 50000, 50000, 1000000, 100000, WEFT_TYPE_F32, 1000, 0, 0},
        {"more of x than entries", 10, 1000000, 1000000, 1000, WEFT_TYPE_F64, 1000, 0, 0},
    };
    const int units = dev->ctx->device.compute_units;
    const enum weft_lanes lanes = dev->ctx->device.lanes;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct weft_spmv_plan plan = {.ctx = dev->ctx, .type = cases[i].type, .acc = cases[i].type};
        plan.a = (struct weft_device_csr){.m = cases[i].m, .n = cases[i].n, .nnz = cases[i].nnz, .type = cases[i].type};
        plan.x_size = cases[i].n;
        plan.info.schedule = dev->ctx->schedule;
        plan.info.params = (struct weft_spmv_params){.policy.products = cases[i].products, .format.max_padding = 4};
        plan.denied = 1u << WEFT_SPMV_ALGO_CSR_HUBS; // what a sample says of entries that lie anywhere
        plan.stats.far = plan.stats.lone = plan.stats.apart = cases[i].far * ((cases[i].m + 31) / 32);
        plan.info.max_row = plan.stats.max_row = cases[i].longest ? cases[i].longest : 100 * cases[i].nnz / cases[i].m;
        enum weft_spmv_algo chosen = WEFT_SPMV_ALGO_AUTO, local = WEFT_SPMV_ALGO_AUTO;
        dev->ctx->device.compute_units = 132;
        dev->ctx->device.lanes = WEFT_LANES_PTX;
        int ok = !weft__spmv_choose(&plan, dev->queue, &chosen) && plan.info.why[0];
        ok = ok && (plan.bound > 0) == (cases[i].panels > 0);
        dev->ctx->device.lanes = WEFT_LANES_LOCAL;
        ok = ok && !weft__spmv_choose(&plan, dev->queue, &local) &&
             (local == WEFT_SPMV_ALGO_PANELS) == (cases[i].panels == 2);
        dev->ctx->device.compute_units = units;
        dev->ctx->device.lanes = lanes;
        tap_ok(ok && (chosen == WEFT_SPMV_ALGO_PANELS) == (cases[i].panels > 0), "%s: %s: %s, %s", dev->name,
               cases[i].what, weft_spmv_algo_name(chosen), plan.info.why);
    }
}

// auto on a device of one unit, where few entries are many: panels where columns lie anywhere, CSR where half of the entries are
// in a few columns, which the caches keep, unless panels then gain less but products are many. Hubs hold so few columns as well: on
// NVIDIA they gain more, on other devices whose lanes are the hardware's they may.
static void test_auto(struct test_device *dev)
{
    static const struct {
        const char *pattern;
        int64_t products;
        int panels; // 2: or hubs in their place
    } cases[] = {{"uniform:40000,200000,400000", 1000, 1},
                 {"cols:40000,200000,400000,50", 1000, 0},
                 {"uniform:40000,200000,400000", 100, 1},
                 {"cols:40000,200000,400000,4000", 100, 0},
                 {"cols:40000,200000,400000,4000", 1000, 2}};
    const enum weft_lanes lanes = dev->ctx->device.lanes;
    const int units = dev->ctx->device.compute_units;
    dev->ctx->device.compute_units = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct weft_csr a = {0};
        struct weft_error err = {0};
        struct weft_device_csr d = {0};
        struct weft_spmv_plan *plan = NULL;
        if (weft_generate(&a, cases[i].pattern, NULL, &err))
            tap_bail("%s", err.text);
        const int ok = !weft_device_csr_alloc(&d, dev->ctx, weft_csr_shape(&a)) &&
                       !weft_device_csr_write_sync(&d, dev->ctx, dev->queue, &a) &&
                       !weft_spmv_plan_create(&plan, dev->ctx, dev->queue, &d,
                                              weft_spmv_params(.policy.products = cases[i].products));
        const enum weft_spmv_algo algo = ok ? weft_spmv_plan_info(plan)->params.policy.algo : WEFT_SPMV_ALGO_AUTO;
        const bool panels = algo == WEFT_SPMV_ALGO_PANELS, hubs = algo == WEFT_SPMV_ALGO_CSR_HUBS,
                   other = cases[i].panels == 2 && lanes != WEFT_LANES_LOCAL;
        tap_ok(ok && (!other                    ? panels == (cases[i].panels > 0)
                      : lanes == WEFT_LANES_PTX ? hubs
                                                : hubs || panels),
               "%s: %s, %lld products: auto takes %s: %s", dev->name, cases[i].pattern, (long long)cases[i].products,
               weft_spmv_algo_name(algo), ok ? weft_spmv_plan_info(plan)->why : test_error(dev));
        weft_spmv_plan_destroy(&plan);
        weft_device_csr_free(&d);
        weft_csr_free(&a);
    }
    dev->ctx->device.compute_units = units;
}

// Of a matrix that nobody has: how it would be cut into buckets.
static struct weft__spmv_push_size push_size(struct test_device *dev, int64_t m, int64_t n, int64_t nnz,
                                             int64_t max_row, enum weft_type acc)
{
    struct weft_spmv_plan plan = {.ctx = dev->ctx, .type = WEFT_TYPE_F32, .acc = acc, .x_size = n};
    plan.a = (struct weft_device_csr){.m = m, .n = n, .nnz = nnz, .type = WEFT_TYPE_F32};
    plan.stats.max_row = max_row;
    return weft__spmv_push_size(&plan);
}

// One work-group writes all rows of a bucket: millions of empty ones that follow each other are in many.
static void test_empty_rows(struct test_device *dev)
{
    const int64_t m = 4000000;
    const struct weft__spmv_push_size size = push_size(dev, m, 60000, 200000, 20, WEFT_TYPE_F32);
    tap_ok(size.buckets * size.bucket * 8 >= m && size.share <= size.bucket - 20,
           "%s: %lld buckets for %lld rows, most of them empty", dev->name, (long long)size.buckets, (long long)m);
}

// Which matrices have no push form.
static void test_push_range(struct test_device *dev)
{
    const int64_t m = 1 << 20, n = 1 << 19, nnz = 40 * m;
    const struct weft__spmv_push_size size = push_size(dev, m, n, nnz, 1, WEFT_TYPE_F32);
    const int64_t longest = size.bucket / 4, each = size.panels * m;
    const struct {
        const char *what;
        int64_t n, nnz, max_row;
        enum weft_type acc;
        int taken;
    } cases[] = {
        {"the longest row that may be", n, nnz, longest, WEFT_TYPE_F32, 1},
        {"too many panels, and so short runs", 16 * n, nnz, 1, WEFT_TYPE_F32, 0},
        {"a longer row", n, nnz, longest + 1, WEFT_TYPE_F32, 0},
        {"no entry", n, 0, 0, WEFT_TYPE_F32, 0},
        {"sums in another type", n, nnz, 1, WEFT_TYPE_F64, 0},
        {"an entry of each row in each panel", n, each, longest, WEFT_TYPE_F32, 0},
        {"one less", n, each - 1, longest, WEFT_TYPE_F32, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        tap_ok((push_size(dev, m, cases[i].n, cases[i].nnz, cases[i].max_row, cases[i].acc).buckets > 0) ==
                   cases[i].taken,
               "%s: the push form of 2^20 rows and %lld columns: %s", dev->name, (long long)cases[i].n, cases[i].what);
}

static void test_each(struct test_device *dev)
{
    static const struct {
        enum weft_type type;
        enum weft_ofs ofs;
        int semiring, wg, ipt;
    } cases[] = {{WEFT_TYPE_F32, WEFT_OFS_32, 0, 512, 4},
                 {WEFT_TYPE_I32, WEFT_OFS_64, 1, 64, 8},
                 {WEFT_TYPE_F64, WEFT_OFS_32, 0, 256, 8},
                 {WEFT_TYPE_PATTERN, WEFT_OFS_64, 0, 32, 4},
                 {WEFT_TYPE_I32, WEFT_OFS_32, 0, 128, 4}};
    const int most = (int)weft_context_device(dev->ctx)->max_wg / 32 * 32;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int order = 0; order < NORDERS; order++) {
            if (test_sample() && (i + (size_t)order) % 2)
                continue;
            if (cases[i].type == WEFT_TYPE_F64 && !weft_context_device(dev->ctx)->fp64)
                tap_skip("%s: no double precision", dev->name);
            else
                check(dev, &(dev->checker ? checked : sizes)[(i + (size_t)order) / 2 % 2], (enum order)order,
                      cases[i].type, cases[i].ofs, cases[i].semiring, cases[i].wg < most ? cases[i].wg : most,
                      cases[i].ipt);
        }
    // Where two entries of one row have changed places, it depends on them what a search by halves meets.
    for (int i = 0; i < (dev->checker ? 4 : 24); i++)
        check(dev, &tiny, SHORT_APART, WEFT_TYPE_F32, WEFT_OFS_32, 0, 64, 4);
    check_few(dev);
    if (!dev->checker) // an entry takes a checker a millisecond
        check_slabs(dev);
    if (dev->gpu && !USUAL)
        tap_skip("%s: what auto chooses with the panels of a hostile build", dev->name);
    if (dev->gpu) {
        if (USUAL)
            test_choice(dev);
        if (USUAL && !dev->checker)
            test_auto(dev);
        test_refused(dev);
        test_filled(dev);
        test_empty_rows(dev);
        test_push_range(dev);
    }
}

int main(void)
{
    rng = rng_start();
    test_device_each(test_each);
    return tap_done();
}
