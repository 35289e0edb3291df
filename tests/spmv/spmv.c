// SPDX-License-Identifier: Apache-2.0
// SpMV against its oracle: every algorithm, type, edge shape; semirings; tuning values; queues; errors.
#include "host/common/check_spmv.h"
#include "tests/support/csr.h"
#include "tests/support/device.h"
#include "tests/support/rng.h"

#include "host/internal/tests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/spmv.h>

static struct rng rng;
static const char *only; // first argument: the one algorithm to test, NULL for all
static int64_t huge;     // length of the long rows

static int is_wanted(enum weft_spmv_algo algo)
{
    return !only || !strcmp(only, weft_spmv_algo_name(algo));
}

// Lengths of the rows of a test matrix.
enum rows {
    ROWS_EMPTY,
    ROWS_ONE,
    ROWS_FEW,
    ROWS_MIXED,
    ROWS_HUGE_FIRST,
    ROWS_HUGE_LAST,
    ROWS_HUGE_MIDDLE,
    ROWS_SPANS,
    ROWS_ENDS,
    ROWS_LONG,
    ROWS_FULL
};

static int64_t row_length(enum rows rows, int64_t i, int64_t m, int64_t n)
{
    switch (rows) {
    case ROWS_EMPTY:
        return 0;
    case ROWS_ONE:
        return 1;
    case ROWS_FEW:
        return rng_between(&rng, 0, 9);
    case ROWS_MIXED: // mostly short, some long, runs of empty rows
        return i / 40 % 3 == 1       ? 0
               : rng_below(&rng, 50) ? rng_between(&rng, 1, 40)
                                     : rng_between(&rng, huge / 45, huge / 6);
    case ROWS_HUGE_FIRST:
        return i == 0 ? huge : rng_between(&rng, 0, 3);
    case ROWS_HUGE_LAST:
        return i == m - 1 ? huge : rng_between(&rng, 0, 3);
    case ROWS_HUGE_MIDDLE:
        return i == m / 2 ? huge : i == m / 2 + 1 ? huge / 3 : rng_between(&rng, 0, 3);
    case ROWS_SPANS: // of every number of tiles of 128 entries up to five
        return 40 + i * 37 % 400;
    case ROWS_ENDS: // one entry behind the end of a tile of 96, one before it, and at it
        return (const int[]){193, 94, 97, 96, 288, 1}[i % 6];
    case ROWS_LONG: // 256 and more on average, short and empty ones between; two end in one stretch of 128, by other steps of 32
        return i == 0       ? 580
               : i == 2     ? 40
               : i % 4 == 1 ? 0
               : i % 4 == 2 ? rng_between(&rng, 1, 5)
                            : rng_between(&rng, 560, 1100);
    default:
        return n;
    }
}

// Values: in -1..1, or small whole numbers, of which sums are exact.
static void values_fill(void *v, enum weft_type type, int64_t count, int whole)
{
    for (int64_t i = 0; i < count; i++) {
        double value = whole || type == WEFT_TYPE_I32 ? (double)rng_between(&rng, -4, 4) : 2 * rng_unit(&rng) - 1;
        if (type == WEFT_TYPE_F32)
            ((float *)v)[i] = (float)value;
        else if (type == WEFT_TYPE_F64)
            ((double *)v)[i] = value;
        else if (type == WEFT_TYPE_I32)
            ((int32_t *)v)[i] = (int32_t)value;
    }
}

// Columns in any order, duplicates included; or ascending, each once, so that rows have at most n entries.
static struct weft_csr matrix_make(int64_t m, int64_t n, enum rows rows, enum weft_type type, enum weft_ofs ofs,
                                   int whole, int ascending)
{
    struct weft_csr a;
    int64_t *lengths = test_alloc((size_t)m * sizeof *lengths), nnz = 0;
    for (int64_t i = 0; i < m; i++) {
        lengths[i] = n ? row_length(rows, i, m, n) : 0;
        nnz += lengths[i] = ascending && lengths[i] > n ? n : lengths[i];
    }
    if (weft_csr_alloc(&a, weft_shape(m, n, nnz, type, ofs)))
        tap_bail("no memory for a test matrix");
    int64_t at = 0;
    for (int64_t i = 0; i <= m; i++) {
        test_row_begin(&a, i, at);
        for (int64_t k = 0; i < m && k < lengths[i]; k++, at++) { // where they ascend, each has columns of its own
            const int64_t low = ascending ? k * n / lengths[i] : 0, end = ascending ? (k + 1) * n / lengths[i] : n;
            a.col[at] = (int32_t)(low + (int64_t)rng_below(&rng, (uint64_t)(end - low)));
        }
    }
    values_fill(a.val, type, nnz, whole);
    free(lengths);
    return a;
}

// A matrix on the device, between canaries.
struct on_device {
    struct test_buffer row_ptr, col, val;
    struct weft_device_csr a;
};

static struct on_device matrix_write(struct test_device *dev, const struct weft_csr *a)
{
    struct on_device d = {
        .row_ptr = test_buffer_make(dev, a->row_ptr, (size_t)(a->m + 1) * weft_ofs_bytes(a->ofs)),
        .col = test_buffer_make(dev, a->col, (size_t)a->nnz * 4),
        .val = test_buffer_make(dev, a->val, (size_t)a->nnz * weft_type_bytes(a->type)),
        .a = {.m = a->m, .n = a->n, .nnz = a->nnz, .type = a->type, .ofs = a->ofs},
    };
    d.a.row_ptr = d.row_ptr.mem;
    d.a.col = d.col.mem;
    d.a.val = a->type == WEFT_TYPE_PATTERN ? NULL : d.val.mem;
    return d;
}

static int matrix_free(struct test_device *dev, struct on_device *d)
{
    int intact =
        test_buffer_intact(dev, &d->row_ptr) && test_buffer_intact(dev, &d->col) && test_buffer_intact(dev, &d->val);
    test_buffer_free(&d->row_ptr);
    test_buffer_free(&d->col);
    test_buffer_free(&d->val);
    return intact;
}

// Sums by atomics come in any order.
static int is_repeatable(const struct weft_spmv_info *info)
{
    return info->params.problem.vec_type == WEFT_TYPE_I32 ||
           info->params.problem.semiring != WEFT_SPMV_SEMIRING_PLUS_TIMES ||
           (info->params.policy.algo != WEFT_SPMV_ALGO_COO_ATOMIC &&
            info->params.problem.transpose != WEFT_SPMV_TRANSPOSE_BY_ATOMICS);
}

// One product with a plan that is there, twice, against the oracle and bit for bit against itself. `a` is what it
// multiplies, transposed if the plan transposes.
static int check_run(struct test_device *dev, struct weft_spmv_plan *plan, const struct weft_csr *a, double alpha,
                     double beta, int whole)
{
    const struct weft_spmv_info *info = weft_spmv_plan_info(plan);
    const enum weft_type type = info->params.problem.vec_type;
    const size_t x_bytes = (size_t)a->n * weft_type_bytes(type), y_bytes = (size_t)a->m * weft_type_bytes(type);
    void *x = test_alloc(x_bytes), *y0 = test_alloc(y_bytes), *y = test_alloc(y_bytes), *again = test_alloc(y_bytes);
    values_fill(x, type, a->n, whole);
    values_fill(y0, type, a->m, whole);
    struct test_buffer bx = test_buffer_make(dev, x, x_bytes),
                       by = test_buffer_make(dev, beta == 0 ? NULL : y0, y_bytes);
    weft_status status = weft_spmv_run(plan, dev->queue, by.mem, alpha, bx.mem, beta, 0, NULL, NULL);
    test_buffer_read(dev, &by, y, y_bytes);
    if (beta != 0)
        test_buffer_write(dev, &by, y0, y_bytes);
    if (!status)
        status = weft_spmv_run(plan, dev->queue, by.mem, alpha, bx.mem, beta, 0, NULL, NULL);
    test_buffer_read(dev, &by, again, y_bytes);
    struct check_spmv job = {.a = a,
                             .type = type,
                             .semiring = info->params.problem.semiring,
                             .f64_sums = info->params.problem.f64_sums,
                             .exact = whole,
                             .parts = info->params.policy.algo >= WEFT_SPMV_ALGO_HYB &&
                                      info->params.policy.algo <= WEFT_SPMV_ALGO_COO_ATOMIC,
                             .alpha = alpha,
                             .beta = beta,
                             .x = x,
                             .y0 = y0};
    char why[256] = "";
    int right = !status && check_spmv(&job, y, why, sizeof why),
        same = !is_repeatable(info) || !memcmp(y, again, y_bytes);
    int intact = test_buffer_intact(dev, &bx) && test_buffer_intact(dev, &by);
    if (right && info->params.policy.algo == WEFT_SPMV_ALGO_CSR_FIXED &&
        info->params.problem.semiring == WEFT_SPMV_SEMIRING_PLUS_TIMES) {
        weft__ref_spmv_fixed(a, type, info->params.problem.f64_sums, alpha, x, beta, y0);
        right = !memcmp(y, y0, y_bytes);
        snprintf(why, sizeof why, "not the bits of the oracle");
    }
    const struct weft__spmv_sizes sizes = weft__spmv_sizes(&info->params, info->schedule);
    if (!right || !same || !intact)
        tap_note("%s %s ofs%d m=%lld n=%lld nnz=%lld semiring=%d lanes=%d wg=%d ipt=%d read=%d f64_sums=%d alpha=%g "
                 "beta=%g: %s%s%s%s",
                 weft_spmv_algo_name(info->params.policy.algo), weft_type_name(a->type),
                 a->ofs == WEFT_OFS_64 ? 64 : 32, (long long)a->m, (long long)a->n, (long long)a->nnz,
                 (int)info->params.problem.semiring, sizes.lanes, sizes.wg, sizes.ipt, sizes.read,
                 info->params.problem.f64_sums, alpha, beta, status ? test_error(dev) : "", why,
                 same ? "" : ", runs differ", intact ? "" : ", canary hit");
    test_buffer_free(&bx);
    test_buffer_free(&by);
    free(x);
    free(y0);
    free(y);
    free(again);
    return right && same && intact;
}

// A matrix and a plan for it, run with several alpha and beta.
static int check(struct test_device *dev, const struct weft_csr *a, const struct weft_spmv_params *params, int whole)
{
    static const double scalars[][2] = {{1, 0}, {1, 1}, {2, -3}, {0, 0}};
    struct on_device d = matrix_write(dev, a);
    struct weft_spmv_plan *plan = NULL;
    int ok = !weft_spmv_plan_create(&plan, dev->ctx, dev->queue, &d.a, params);
    if (!ok)
        tap_note("plan: %s", test_error(dev));
    if (ok && a->m && params->policy.algo == WEFT_SPMV_ALGO_SDIA) { // what it takes instead is tested by itself
        const struct weft_spmv_info *info = weft_spmv_plan_info(plan);
        ok = info->params.policy.algo == WEFT_SPMV_ALGO_SDIA;
        if (!ok)
            tap_note("plan: %s", info->why);
    }
    struct weft_csr at = {0};
    if (params->problem.transpose && weft__ref_transpose(&at, a))
        tap_bail("no memory for a transpose");
    // A sample has one pair that looks at the sums for each plan, in turn; zeros, which do not, come on top now and then.
    static size_t turn;
    const size_t count = params->problem.semiring == WEFT_SPMV_SEMIRING_PLUS_TIMES ? 4 : 2, looks = count == 4 ? 3 : 2;
    const size_t one = turn % looks, zeros = count == 4 && turn % 4 == 0 ? 3 : one;
    turn++;
    for (size_t i = 0; ok && i < count; i++)
        if (!test_sample() || i == one || i == zeros)
            ok = check_run(dev, plan, params->problem.transpose ? &at : a, scalars[i][0], scalars[i][1], whole);
    weft_spmv_plan_destroy(&plan);
    weft_csr_free(&at);
    return matrix_free(dev, &d) && ok;
}

static const enum weft_spmv_algo all_algos[] = {
    WEFT_SPMV_ALGO_AUTO,      WEFT_SPMV_ALGO_CSR,        WEFT_SPMV_ALGO_CSR_SCALAR, WEFT_SPMV_ALGO_CSR_LANES,
    WEFT_SPMV_ALGO_CSR_MERGE, WEFT_SPMV_ALGO_ELL,        WEFT_SPMV_ALGO_SELL,       WEFT_SPMV_ALGO_HYB,
    WEFT_SPMV_ALGO_COO,       WEFT_SPMV_ALGO_COO_ATOMIC, WEFT_SPMV_ALGO_CSR_FIXED,  WEFT_SPMV_ALGO_SELL16,
    WEFT_SPMV_ALGO_SDIA,      WEFT_SPMV_ALGO_CSR_FLAGS,  WEFT_SPMV_ALGO_PANELS,     WEFT_SPMV_ALGO_CSR_HUBS,
    WEFT_SPMV_ALGO_CSR_NODES};
#define ALGOS (sizeof all_algos / sizeof *all_algos)

static const struct shape {
    int64_t m, n;
    enum rows rows;
} shapes[] = {
    {0, 0, ROWS_EMPTY},       {0, 5, ROWS_EMPTY},          {5, 0, ROWS_EMPTY},      {1, 1, ROWS_ONE},
    {1, 300, ROWS_FULL},      {300, 1, ROWS_ONE},          {31, 40, ROWS_FEW},      {257, 3, ROWS_FEW},
    {1000, 1, ROWS_EMPTY},    {64, 64, ROWS_FULL},         {700, 900, ROWS_MIXED},  {5, 100, ROWS_HUGE_FIRST},
    {90, 77, ROWS_HUGE_LAST}, {300, 50, ROWS_HUGE_MIDDLE}, {1, 9, ROWS_HUGE_FIRST}, {3000, 2000, ROWS_FEW},
};
#define SHAPES (sizeof shapes / sizeof *shapes)
// The same kinds of shapes, for slow checkers. Rows of 3000 are cut by the tiles of the CPU schedule.
static const struct shape small_shapes[SHAPES] = {
    {0, 0, ROWS_EMPTY},       {0, 5, ROWS_EMPTY},         {5, 0, ROWS_EMPTY},      {1, 1, ROWS_ONE},
    {1, 90, ROWS_FULL},       {60, 1, ROWS_ONE},          {31, 40, ROWS_FEW},      {70, 3, ROWS_FEW},
    {100, 1, ROWS_EMPTY},     {3, 3000, ROWS_FULL},       {85, 90, ROWS_MIXED},    {5, 100, ROWS_HUGE_FIRST},
    {12, 77, ROWS_HUGE_LAST}, {20, 50, ROWS_HUGE_MIDDLE}, {1, 9, ROWS_HUGE_FIRST}, {100, 90, ROWS_FEW},
};

// A sample has every fifth shape, from shape `part` (modulo 5) on: the types and semirings of an algorithm share them.
static int shapes_check(struct test_device *dev, enum weft_type type, enum weft_ofs ofs,
                        const struct weft_spmv_params *params, int whole, size_t part)
{
    int ok = 1;
    struct weft_spmv_params small = *params;
    const int fixed = params->policy.algo == WEFT_SPMV_ALGO_CSR_FIXED; // its tiles cannot be made small
    if (test_sample() && dev->gpu && !fixed) {                         // small tiles, so that little has many
        small.gpu.wg = 32;
        small.gpu.ipt = params->policy.algo == WEFT_SPMV_ALGO_CSR_SCALAR ? 0
                        : params->policy.algo < WEFT_SPMV_ALGO_ELL || params->policy.algo == WEFT_SPMV_ALGO_CSR_FLAGS ||
                                params->policy.algo == WEFT_SPMV_ALGO_PANELS ||
                                params->policy.algo == WEFT_SPMV_ALGO_CSR_HUBS
                            ? 4
                            : 3;
    }
    huge = !test_sample() ? 9000 : fixed ? 2100 : 250;
    for (size_t i = test_sample() ? part % 5 : 0; ok && i < SHAPES; i += test_sample() ? 5 : 1) {
        const struct shape *s = test_sample() ? &small_shapes[i] : &shapes[i];
        const int64_t n = test_sample() && dev->gpu && !fixed && s->n > 200 ? 200 : s->n;
        struct weft_csr a = matrix_make(s->m, n, s->rows, type, ofs, whole, params->policy.algo == WEFT_SPMV_ALGO_SDIA);
        ok = check(dev, &a, &small, whole);
        weft_csr_free(&a);
    }
    return ok;
}

// Every algorithm over every shape, for all kinds of values.
static void test_types(struct test_device *dev)
{
    static const struct {
        enum weft_type type, vec_type;
        enum weft_ofs ofs;
        int f64_sums, whole;
    } kinds[] = {
        {WEFT_TYPE_F32, WEFT_TYPE_F32, WEFT_OFS_32, 0, 0},     {WEFT_TYPE_F64, WEFT_TYPE_F64, WEFT_OFS_64, 0, 0},
        {WEFT_TYPE_F32, WEFT_TYPE_F32, WEFT_OFS_64, 1, 0},     {WEFT_TYPE_I32, WEFT_TYPE_I32, WEFT_OFS_32, 0, 1},
        {WEFT_TYPE_PATTERN, WEFT_TYPE_F32, WEFT_OFS_32, 0, 0}, {WEFT_TYPE_F32, WEFT_TYPE_F32, WEFT_OFS_32, 0, 1},
        {WEFT_TYPE_PATTERN, WEFT_TYPE_F64, WEFT_OFS_64, 0, 1}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t i = 0; i < ALGOS; i++) {
            struct weft_spmv_params params = {.policy.algo = all_algos[i],
                                              .problem.vec_type = kinds[k].vec_type,
                                              .problem.f64_sums = kinds[k].f64_sums,
                                              .format.max_padding = 1e9};
            if (!is_wanted(all_algos[i]) || (kinds[k].f64_sums && all_algos[i] == WEFT_SPMV_ALGO_COO_ATOMIC))
                continue;                      // the latter is refused, see errors.c
            const int once = (k + i) % 7 == 0; // of all kinds of values one for each algorithm
            if (test_sample() && !once)
                continue;
            int fp64 = kinds[k].vec_type == WEFT_TYPE_F64 || kinds[k].f64_sums;
            if (fp64 && !weft_context_device(dev->ctx)->fp64)
                tap_skip("%s: no double precision", dev->name);
            else
                tap_ok(shapes_check(dev, kinds[k].type, kinds[k].ofs, &params, kinds[k].whole, k / 3 + i + 3),
                       "%s: %s, %s matrix, %s vectors%s%s, shapes", dev->name, weft_spmv_algo_name(all_algos[i]),
                       weft_type_name(kinds[k].type), weft_type_name(kinds[k].vec_type),
                       kinds[k].f64_sums ? ", f64 sums" : "", kinds[k].whole ? ", exact" : "");
        }
}

static void test_semirings(struct test_device *dev)
{
    static const enum weft_spmv_semiring rings[] = {WEFT_SPMV_SEMIRING_MIN_PLUS, WEFT_SPMV_SEMIRING_OR_AND,
                                                    WEFT_SPMV_SEMIRING_MAX_TIMES};
    static const enum weft_type types[] = {WEFT_TYPE_F32, WEFT_TYPE_I32, WEFT_TYPE_PATTERN};
    for (size_t r = 0; r < 3; r++)
        for (size_t i = 2; i < ALGOS; i++) {
            if (!is_wanted(all_algos[i]) || (test_sample() && (r + i) % 3))
                continue;
            const enum weft_type type = types[(r + i) % 3];
            struct weft_spmv_params params = {
                .policy.algo = all_algos[i], .problem.semiring = rings[r], .format.max_padding = 1e9};
            tap_ok(shapes_check(dev, type, WEFT_OFS_32, &params, 0, r + i), "%s: %s, semiring %d, %s", dev->name,
                   weft_spmv_algo_name(all_algos[i]), (int)rings[r], weft_type_name(type));
        }
}

// Values of eight bytes by every number of lanes and of reads in flight; a matrix without entries, and lanes that are none.
static void test_single(struct test_device *dev)
{
    huge = 260;
    struct weft_csr a = matrix_make(90, 300, ROWS_MIXED, WEFT_TYPE_F64, WEFT_OFS_32, 0, 0),
                    none = matrix_make(40, 40, ROWS_EMPTY, WEFT_TYPE_F64, WEFT_OFS_32, 0, 0);
    struct weft_spmv_params params = {.policy.algo = WEFT_SPMV_ALGO_CSR_LANES};
    int right = check(dev, &none, &params, 0);
    for (int i = 0; right && i < 10; i++) {
        params.gpu.lanes = 2 << i % 5;
        params.gpu.ipt = i < 8 ? i + 1 : 0;
        params.problem.semiring = i % 3 ? WEFT_SPMV_SEMIRING_PLUS_TIMES : WEFT_SPMV_SEMIRING_MIN_PLUS;
        right = check(dev, &a, &params, 0);
    }
    tap_ok(right, "%s: csr_lanes in f64, 2 to 32 lanes, 1 to 8 reads", dev->name);
    struct on_device d = matrix_write(dev, &none);
    struct weft_spmv_plan *plan = NULL;
    params.gpu.lanes = -1;
    tap_ok(weft_spmv_plan_create(&plan, dev->ctx, dev->queue, &d.a, &params) == WEFT_EINVAL,
           "%s: csr_lanes in f64 with -1 lanes: %s", dev->name, test_error(dev));
    matrix_free(dev, &d);
    weft_csr_free(&a);
    weft_csr_free(&none);
}

// Long rows, which csr_flags reads by other strides, in every type and with tiles of two sizes.
static void test_long_rows(struct test_device *dev)
{
    static const enum weft_type types[] = {WEFT_TYPE_F32, WEFT_TYPE_I32, WEFT_TYPE_PATTERN, WEFT_TYPE_F64};
    static const int ipts[] = {4, 16, 8, 16};
    if (!is_wanted(WEFT_SPMV_ALGO_CSR_FLAGS) || !dev->gpu)
        return;
    for (size_t k = 0; k < 4; k++) {
        const struct weft_spmv_params params = {.policy.algo = WEFT_SPMV_ALGO_CSR_FLAGS,
                                                .gpu = {.wg = k % 2 ? 64 : 32, .ipt = ipts[k]}};
        if (types[k] == WEFT_TYPE_F64 && !weft_context_device(dev->ctx)->fp64)
            continue;
        struct weft_csr a = matrix_make(k % 2 ? 9 : 4, 400, ROWS_LONG, types[k], WEFT_OFS_32, 0, 0);
        tap_ok(check(dev, &a, &params, 0), "%s: csr_flags, long rows, %s", dev->name, weft_type_name(types[k]));
        weft_csr_free(&a);
    }
}

// Every tuning value that changes the code, and some drawn at random.
static void test_tuning(struct test_device *dev)
{
    // More rows than work-items of a CPU take at once: several slices, blocks or pieces for each. And none.
    static const enum weft_spmv_algo cut[] = {
        WEFT_SPMV_ALGO_ELL,    WEFT_SPMV_ALGO_SELL,      WEFT_SPMV_ALGO_HYB,
        WEFT_SPMV_ALGO_COO,    WEFT_SPMV_ALGO_CSR,       WEFT_SPMV_ALGO_CSR_LANES,
        WEFT_SPMV_ALGO_SELL16, WEFT_SPMV_ALGO_CSR_FIXED, WEFT_SPMV_ALGO_CSR_SCALAR};
    struct weft_csr a;
    for (int none = 0; !dev->gpu && none < 2; none++) {
        const int64_t m = none ? 0 : 1024 * (int64_t)weft_context_device(dev->ctx)->compute_units + 1;
        a = matrix_make(m, 500, ROWS_FEW, WEFT_TYPE_F32, WEFT_OFS_32, 0, 0);
        for (size_t k = 0; k < sizeof cut / sizeof *cut; k++) {
            const struct weft_spmv_params params = {.policy.algo = cut[k], .format.max_padding = 1e9};
            tap_ok(check(dev, &a, &params, 0), "%s: %s, %lld rows", dev->name, weft_spmv_algo_name(cut[k]),
                   (long long)m);
        }
        weft_csr_free(&a);
    }
    huge = test_sample() ? 250 : 9000;
    a = matrix_make(test_sample() ? 90 : 900, 500, ROWS_MIXED, WEFT_TYPE_F32, WEFT_OFS_32, 0, 0);
    for (int lanes = 1; lanes <= 32; lanes *= 2) {
        if (dev->gpu ? lanes < 2 : lanes > 16)
            continue;
        struct weft_spmv_params params = {
            .policy.algo = WEFT_SPMV_ALGO_CSR_LANES, .gpu = {.lanes = lanes, .wg = 64}, .cpu.lanes = lanes};
        tap_ok(check(dev, &a, &params, 0), "%s: csr_lanes with %d lanes", dev->name, lanes);
    }
    const int fence = weft_context_device(dev->ctx)->fence;
    for (int k = 0; dev->gpu && k < 6; k++) {
        test_fence(dev, fence && k < 4);
        struct weft_spmv_params params = {.policy.algo = k % 2 ? WEFT_SPMV_ALGO_CSR_LANES : WEFT_SPMV_ALGO_CSR_MERGE,
                                          .gpu.lanes = k % 2 ? 4 : 0,
                                          .gpu.wg = 32 * (int)rng_between(&rng, 1, 8),
                                          .gpu.ipt = (int)rng_between(&rng, 1, 4) * (k % 2 ? 1 : 4),
                                          .gpu.read = k % 4};
        tap_ok(check(dev, &a, &params, 0), "%s: %s with wg=%d ipt=%d read=%d", dev->name,
               weft_spmv_algo_name(params.policy.algo), params.gpu.wg, params.gpu.ipt, params.gpu.read);
    }
    for (int k = 0; dev->gpu && k < 4; k += test_sample() ? 3 : 1) {
        test_fence(dev, fence && k < 3);
        struct weft_spmv_params params = {.policy.algo = WEFT_SPMV_ALGO_CSR_FLAGS,
                                          .gpu.wg = 32 * (int)rng_between(&rng, 1, 8),
                                          .gpu.ipt = 4 * (int)rng_between(&rng, 1, 4),
                                          .gpu.read = k};
        tap_ok(check(dev, &a, &params, 0), "%s: csr_flags with wg=%d ipt=%d read=%d", dev->name, params.gpu.wg,
               params.gpu.ipt, params.gpu.read);
    }
    test_fence(dev, fence);
    weft_csr_free(&a);
    for (int spans = 0; dev->gpu && spans < 2; spans++) {
        // A row in so many tiles that a whole work-group joins its parts, and one of a third.
        huge = dev->checker ? 3000 : 9000;
        a = matrix_make(spans ? 25 : 60, 500, spans ? ROWS_SPANS : ROWS_HUGE_MIDDLE, WEFT_TYPE_F32, WEFT_OFS_32, 0, 0);
        for (int k = 0; k < 3; k++) { // by each kind of tiles
            static const enum weft_spmv_algo tiled[] = {WEFT_SPMV_ALGO_CSR_MERGE, WEFT_SPMV_ALGO_CSR_FLAGS,
                                                        WEFT_SPMV_ALGO_CSR_FIXED};
            const struct weft_spmv_params params = {
                .policy.algo = tiled[k], .gpu.wg = k < 2 ? 32 : 0, .gpu.ipt = k < 2 ? 4 : 0};
            const char *name = weft_spmv_algo_name(params.policy.algo);
            const char *what = spans ? "rows of one to five tiles" : "a row in many tiles";
            for (int turned = 0; turned < 2; turned++) { // the first or the last tile of a row comes last
                dev->ctx->salt = (uint64_t)turned;
                tap_ok(check(dev, &a, &params, 0), "%s: %s, %s%s", dev->name, name, what, turned ? ", turned" : "");
            }
            dev->ctx->salt = 0;
            test_fence(dev, 0);
            tap_ok(check(dev, &a, &params, 0), "%s: %s, %s, joined by a second kernel", dev->name, name, what);
            test_fence(dev, fence);
        }
        for (int k = 0; k < 2 && !spans && !dev->checker; k++) { // more of its tiles than a group of lanes has lanes
            const struct weft_spmv_params wide = {
                .policy.algo = k ? WEFT_SPMV_ALGO_CSR_FLAGS : WEFT_SPMV_ALGO_CSR_MERGE, .gpu.wg = 64, .gpu.ipt = 4};
            tap_ok(check(dev, &a, &wide, 0), "%s: %s, a row joined by two groups of lanes", dev->name,
                   weft_spmv_algo_name(wide.policy.algo));
        }
        // Long rows in the steps of 128 entries that a group of lanes takes: three of them, by two groups.
        struct weft_spmv_params steps = {.policy.algo = WEFT_SPMV_ALGO_CSR_FLAGS, .gpu.wg = 64, .gpu.ipt = 12};
        tap_ok(check(dev, &a, &steps, 0), "%s: csr_flags, rows over several steps", dev->name);
        weft_csr_free(&a);
        if (weft_context_device(dev->ctx)->fp64 && !dev->checker && !spans) {
            struct weft_spmv_params merge = {.policy.algo = WEFT_SPMV_ALGO_CSR_MERGE, .gpu.wg = 32, .gpu.ipt = 4};
            a = matrix_make(60, 500, ROWS_HUGE_MIDDLE, WEFT_TYPE_F64, WEFT_OFS_32, 0, 0);
            tap_ok(check(dev, &a, &merge, 0), "%s: csr_merge, a row of f64 in many tiles", dev->name);
            weft_csr_free(&a);
        }
    }
}

// Rows of several tiles whose sums a second kernel joins, and where in a tile they end.
static void test_row_ends(struct test_device *dev)
{
    const struct weft_spmv_params params = {.policy.algo = WEFT_SPMV_ALGO_COO, .gpu = {.wg = 32, .ipt = 3}};
    if (!dev->gpu)
        return;
    struct weft_csr a = matrix_make(7, 60, ROWS_ENDS, WEFT_TYPE_F32, WEFT_OFS_32, 0, 0);
    tap_ok(check(dev, &a, &params, 0), "%s: coo, rows that end near the end of a tile", dev->name);
    weft_csr_free(&a);
}

// A^T*x, by a copy in every format and by atomics.
static void test_transposed(struct test_device *dev)
{
    static const struct {
        enum weft_spmv_transpose transpose;
        enum weft_spmv_algo algo;
        enum weft_type type;
    } ways[] = {{WEFT_SPMV_TRANSPOSE_BY_COPY, WEFT_SPMV_ALGO_CSR, WEFT_TYPE_F32},
                {WEFT_SPMV_TRANSPOSE_BY_COPY, WEFT_SPMV_ALGO_SELL, WEFT_TYPE_F64},
                {WEFT_SPMV_TRANSPOSE_BY_COPY, WEFT_SPMV_ALGO_COO, WEFT_TYPE_PATTERN},
                {WEFT_SPMV_TRANSPOSE_BY_ATOMICS, WEFT_SPMV_ALGO_AUTO, WEFT_TYPE_F32},
                {WEFT_SPMV_TRANSPOSE_BY_ATOMICS, WEFT_SPMV_ALGO_CSR, WEFT_TYPE_F64},
                {WEFT_SPMV_TRANSPOSE_BY_ATOMICS, WEFT_SPMV_ALGO_CSR, WEFT_TYPE_I32},
                {WEFT_SPMV_TRANSPOSE_BY_ATOMICS, WEFT_SPMV_ALGO_CSR, WEFT_TYPE_PATTERN}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct weft_spmv_params params = {
            .policy.algo = ways[i].algo, .problem.transpose = ways[i].transpose, .format.max_padding = 1e9};
        if (ways[i].type == WEFT_TYPE_F64 && !weft_context_device(dev->ctx)->fp64)
            tap_skip("%s: no double precision", dev->name);
        else
            tap_ok(shapes_check(dev, ways[i].type, i % 2 ? WEFT_OFS_64 : WEFT_OFS_32, &params, 0, i),
                   "%s: A^T*x %s, %s, %s", dev->name,
                   ways[i].transpose == WEFT_SPMV_TRANSPOSE_BY_COPY ? "by a copy" : "by atomics",
                   weft_spmv_algo_name(ways[i].algo), weft_type_name(ways[i].type));
    }
}

// The number of products that are expected decides on a conversion; one long row speaks against it, on a GPU short rows that
// differ, or have few entries, on a CPU rows of one length. On NVIDIA's devices rows of 40 in values of four bytes are converted to panels.
static void test_products(struct test_device *dev, enum weft_type type)
{
    static const struct {
        enum weft_spmv_algo algo;
        int64_t products, n;
        enum rows rows;
        int sell, sell_gpu, sell_ptx;
    } cases[] = {{WEFT_SPMV_ALGO_AUTO, 0, 40, ROWS_FULL, 0, 0, 0},
                 {WEFT_SPMV_ALGO_AUTO, 1000000, 40, ROWS_FULL, 1, 1, 1},
                 {WEFT_SPMV_ALGO_CSR, 1000000, 40, ROWS_FULL, 0, 0, 0},
                 {WEFT_SPMV_ALGO_AUTO, 1000000, 40, ROWS_HUGE_MIDDLE, 0, 0, 0},
                 {WEFT_SPMV_ALGO_AUTO, 1000000, 5, ROWS_FULL, 1, 0, 1},
                 {WEFT_SPMV_ALGO_AUTO, 1000000, 40, ROWS_FEW, 1, 0, 1},
                 {WEFT_SPMV_ALGO_AUTO, 1000000, 9, ROWS_FULL, 1, 1, 1},
                 {WEFT_SPMV_ALGO_AUTO, 0, 5, ROWS_FULL, 0, 0, 0},
                 {WEFT_SPMV_ALGO_AUTO, 10, 40, ROWS_FULL, 0, 0, 0},
                 {WEFT_SPMV_ALGO_AUTO, 1000000, 40, ROWS_EMPTY, 0, 0, 0}};
    const struct weft_device_info is = dev->ctx->device;
    const int vector = dev->ctx->vector;
    huge = 400;
    if (!dev->gpu) {
        dev->ctx->device.compute_units = 2; // few rows are then enough for a conversion
        dev->ctx->device.cache_bytes = 1 << 25;
        dev->ctx->vector = 16; // with fewer, or by Intel, the rows of one length are converted in f64 as well
        dev->ctx->device.vendor[0] = 0;
        huge = 100000;
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (test_sample() && type == WEFT_TYPE_F64 && i != 1)
            continue; // the one in which types differ
        // As many rows as a device is expected to want for sliced ELL. A CPU wants more where it knows the ends of fewer.
        const int64_t m = dev->gpu ? 2048 * (int64_t)is.compute_units : cases[i].rows == ROWS_FULL ? 16384 : 65536;
        struct weft_csr a = matrix_make(m, cases[i].n, cases[i].rows, type, WEFT_OFS_32, 0, 0);
        struct on_device d = matrix_write(dev, &a);
        struct weft_spmv_params params = {.policy.algo = cases[i].algo, .policy.products = cases[i].products};
        struct weft_spmv_plan *plan = NULL;
        struct weft_spmv_info info = {0};
        int ok = !weft_spmv_plan_create(&plan, dev->ctx, dev->queue, &d.a, &params);
        if (ok) {
            info = *weft_spmv_plan_info(plan);
            // On NVIDIA's devices small matrices are converted for fewer buffers, and keep columns of 32 bits.
            const bool ptx = weft__caps_of(dev->ctx).lanes == WEFT_LANES_PTX;
            const enum weft_spmv_algo algo = info.params.policy.algo,
                                      wanted = dev->gpu ? WEFT_SPMV_ALGO_SELL16 : WEFT_SPMV_ALGO_SELL;
            const int sliced = algo == wanted || (ptx && algo == WEFT_SPMV_ALGO_SELL),
                      sell_gpu = ptx ? cases[i].sell_ptx : cases[i].sell_gpu;
            const int gains = cases[i].sell && (type != WEFT_TYPE_F64 || cases[i].rows != ROWS_FULL);
            ok = sliced == (dev->gpu ? sell_gpu : gains) && info.why[0] && check_run(dev, plan, &a, 2, -3, 0);
        }
        weft_spmv_plan_destroy(&plan);
        ok &= matrix_free(dev, &d);
        tap_ok(ok, "%s: %s, %s with %d products expected, rows %d: %s", dev->name, weft_type_name(type),
               weft_spmv_algo_name(cases[i].algo), (int)cases[i].products, (int)cases[i].rows,
               weft_spmv_algo_name(info.params.policy.algo));
        weft_csr_free(&a);
    }
    dev->ctx->device = is;
    dev->ctx->vector = vector;
}

static void each_device(struct test_device *dev)
{
    test_types(dev);
    test_long_rows(dev);
    test_semirings(dev);
    if (only)
        return;
    test_tuning(dev);
    if (dev->gpu && weft_context_device(dev->ctx)->fp64)
        test_single(dev);
    test_row_ends(dev);
    test_products(dev, WEFT_TYPE_F32);
    if (weft_context_device(dev->ctx)->fp64)
        test_products(dev, WEFT_TYPE_F64);
    test_transposed(dev);
}

int main(int argc, char **argv)
{
    only = argc > 1 ? argv[1] : NULL;
    rng = rng_start();
    test_device_each(each_device);
    return tap_done();
}
