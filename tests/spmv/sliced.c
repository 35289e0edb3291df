// SPDX-License-Identifier: Apache-2.0
// ELL, sliced ELL and hybrids on a GPU, whatever is read together and wherever rows end; what a plan takes for what rows read of x; and the CSR schedules
// that docs/log/sliced-ell.md found best beside them.
#include "host/internal/inside.h"
#include "host/internal/tests.h"
#include "tests/support/device.h"

#include <stdlib.h>
#include <string.h>
#include <weft/generate.h>
#include <weft/spmv.h>

// Rows of `m`: of all lengths up to `longest`, all of the longest, or the longest one last behind empty ones.
enum rows { ALL_LENGTHS, ALIKE, LAST };

static int64_t length_of(enum rows rows, int64_t m, int longest, int64_t i)
{
    return rows == ALIKE ? longest : rows == LAST ? i == m - 1 ? longest : 0 : i * 7 % (longest + 1);
}

// Of whole numbers, so that sums are exact; of n = 97 columns, ascending.
static struct weft_csr matrix_make(int64_t m, int longest, enum rows rows, enum weft_type type)
{
    enum { N = 97 };
    struct weft_csr a = {.m = m, .n = N, .type = type, .ofs = WEFT_OFS_32};
    for (int64_t i = 0; i < m; i++)
        a.nnz += length_of(rows, m, longest, i);
    int32_t *ptr = test_alloc((size_t)(m + 1) * sizeof *ptr), *col = test_alloc((size_t)(a.nnz + 1) * sizeof *col);
    float *f = test_alloc((size_t)(a.nnz + 1) * sizeof *f);
    ptr[0] = 0;
    for (int64_t i = 0; i < m; i++) {
        const int64_t count = length_of(rows, m, longest, i);
        for (int64_t k = 0; k < count; k++) {
            const int64_t p = ptr[i] + k;
            col[p] = (int32_t)(k * 5 + i % 5);
            if (type == WEFT_TYPE_I32)
                ((int32_t *)f)[p] = (int32_t)(p % 9 - 4);
            else
                f[p] = (float)(p % 9 - 4);
        }
        ptr[i + 1] = ptr[i] + (int32_t)count;
    }
    a.row_ptr = ptr;
    a.col = col;
    a.val = f;
    return a;
}

static void matrix_free(struct weft_csr *a)
{
    free(a->row_ptr);
    free(a->col);
    free(a->val);
}

// Is y = A*x, without rounding? packed: whether products read one array.
static int is_right(struct test_device *dev, const struct weft_csr *a, const struct weft_spmv_params *params,
                    bool packed)
{
    const size_t bytes = (size_t)a->m * 4;
    const bool whole = a->type == WEFT_TYPE_I32;
    float x[97], *y = test_alloc(bytes + 4), *want = test_alloc(bytes + 4);
    for (int j = 0; j < 97; j++)
        if (whole)
            ((int32_t *)x)[j] = j % 7 - 3;
        else
            x[j] = (float)(j % 7 - 3);
    for (int64_t i = 0; i < a->m; i++) {
        int sum = 0;
        for (int64_t p = weft_csr_ofs(a, i); p < weft_csr_ofs(a, i + 1); p++)
            sum += (a->col[p] % 7 - 3) * (int)(p % 9 - 4);
        if (whole)
            ((int32_t *)want)[i] = sum;
        else
            want[i] = (float)sum;
    }
    struct weft_device_csr d = {0};
    struct weft_spmv_plan *plan = NULL;
    struct test_buffer bx = test_buffer_make(dev, x, sizeof x), by = test_buffer_make(dev, NULL, bytes);
    const int made = !weft_device_csr_alloc(&d, dev->ctx, weft_csr_shape(a)) &&
                     !weft_device_csr_write_sync(&d, dev->ctx, dev->queue, a) &&
                     !weft__spmv_plan_create(&plan, dev->ctx, dev->queue, &d, params,
                                             packed ? NULL : &(struct weft__spmv_once){.large = true});
    const enum weft_spmv_algo algo = params->policy.algo;
    const int ran = made &&
                    (algo == WEFT_SPMV_ALGO_SELL16 || algo == WEFT_SPMV_ALGO_HYB ||
                     (((struct weft__spmv_ell *)plan->state)->packed != NULL) == packed) &&
                    !weft_spmv_run(plan, dev->queue, by.mem, 1, bx.mem, 0, 0, NULL, NULL);
    if (ran)
        test_buffer_read(dev, &by, y, bytes);
    int right = ran;
    for (int64_t i = 0; right && i < a->m; i++) // -0 is 0
        right = whole ? ((int32_t *)y)[i] == ((int32_t *)want)[i] : y[i] == want[i];
    if (!right)
        tap_note("%lld rows, %lld entries, ipt %d: %s", (long long)a->m, (long long)a->nnz, params->gpu.ipt,
                 ran ? "wrong" : test_error(dev));
    weft_spmv_plan_destroy(&plan);
    weft_device_csr_free(&d);
    test_buffer_free(&bx);
    test_buffer_free(&by);
    free(y);
    free(want);
    return right;
}

// Every number of elements together, and every rest of a row behind them; work-groups that end within a slice; arrays in one, and each by
// itself, as of a matrix that is large for its device.
static void test_rests(struct test_device *dev)
{
    static const enum weft_spmv_algo algos[] = {WEFT_SPMV_ALGO_ELL, WEFT_SPMV_ALGO_SELL, WEFT_SPMV_ALGO_SELL16,
                                                WEFT_SPMV_ALGO_HYB};
    const int most = dev->checker ? 3 : 8;
    for (size_t k = 0; k < sizeof algos / sizeof *algos; k++) {
        int right = 1;
        for (int ipt = 1; right && ipt <= most; ipt++) {
            for (int longest = 0; right && longest <= 17; longest += dev->checker ? 5 : 1) {
                const enum rows rows = (enum rows)((longest + ipt) % 3);
                const int64_t m = rows == ALIKE ? 70 : rows == LAST ? 33 : 131;
                struct weft_csr a = matrix_make(m, longest, rows, ipt % 3 ? WEFT_TYPE_F32 : WEFT_TYPE_I32);
                const struct weft_spmv_params params = {.policy.algo = algos[k],
                                                        .problem.vec_type = a.type,
                                                        .gpu.ipt = ipt,
                                                        .gpu.wg = 40,
                                                        .format.sigma = ipt % 2 ? 64 : 1,
                                                        .format.max_padding = 1e9};
                right = is_right(dev, &a, &params, (longest + ipt / 2) % 2);
                matrix_free(&a);
            }
        }
        tap_ok(right, "%s: %s: rows of 0 to 17 entries, up to %d together", dev->name, weft_spmv_algo_name(algos[k]),
               most);
    }
}

// What a plan takes of NVIDIA's row by what rows read of x; of others and of a CPU nothing changes, and what is given stays.
static void test_fit(struct test_device *dev)
{
    const struct weft_device_info is = dev->ctx->device;
    static const struct {
        const char *what, *spec, *vendor;
        enum weft_spmv_algo algo;
        int given_wg, given_ipt, wg, ipt;
    } cases[] = {
        {"near the diagonal", "near:40000,200000,2000", "NVIDIA", WEFT_SPMV_ALGO_SELL16, 0, 0, 256, 6},
        {"the same, sell", "near:40000,200000,2000", "NVIDIA", WEFT_SPMV_ALGO_SELL, 0, 0, 256, 8},
        {"both given", "near:40000,200000,2000", "NVIDIA", WEFT_SPMV_ALGO_SELL, 64, 3, 64, 3},
        {"another vendor", "near:40000,200000,2000", "another", WEFT_SPMV_ALGO_SELL, 0, 0, 128, 4},
        {"beside one another", "band:40000,5", "NVIDIA", WEFT_SPMV_ALGO_SELL, 0, 0, 128, 8},
        {"long rows apart", "uniform:2000,40000,60000", "NVIDIA", WEFT_SPMV_ALGO_SELL, 0, 0, 128, 4},
        {"short rows apart", "uniform:20000,40000,60000", "NVIDIA", WEFT_SPMV_ALGO_SELL, 0, 0, 128, 8},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct weft_csr a;
        struct weft_device_csr d = {0};
        struct weft_error err = {0};
        struct weft_spmv_plan *plan = NULL;
        if (weft_generate(&a, cases[i].spec, weft_generate_params(.type = WEFT_TYPE_F32), &err))
            tap_bail("%s", err.text);
        dev->ctx->device.compute_units = 1;
        snprintf(dev->ctx->device.vendor, sizeof dev->ctx->device.vendor, "%s", cases[i].vendor);
        const int made =
            !weft_device_csr_alloc(&d, dev->ctx, weft_csr_shape(&a)) &&
            !weft_device_csr_write_sync(&d, dev->ctx, dev->queue, &a) &&
            !weft_spmv_plan_create(&plan, dev->ctx, dev->queue, &d,
                                   weft_spmv_params(.policy.algo = cases[i].algo, .gpu.wg = cases[i].given_wg,
                                                    .gpu.ipt = cases[i].given_ipt, .format.max_padding = 100));
        const int least = weft__wg_lower(dev->ctx, cases[i].wg);
        dev->ctx->device = is;
        const int wg = made ? weft_spmv_plan_info(plan)->params.gpu.wg : 0,
                  ipt = made ? weft_spmv_plan_info(plan)->params.gpu.ipt : 0;
        tap_ok(wg == least && ipt == cases[i].ipt, "%s: %s, %s: work-groups of %d, %d elements together", dev->name,
               cases[i].what, weft_spmv_algo_name(cases[i].algo), wg, ipt);
        weft_spmv_plan_destroy(&plan);
        weft_device_csr_free(&d);
        weft_csr_free(&a);
    }
}

// What costs and choices ask of a device: that of an H200.
static const struct weft_context h200 = {.device = {.compute_units = 132,
                                                    .local_bytes = 48 << 10,
                                                    .max_wg = 1024,
                                                    .cache_bytes = 50 << 20,
                                                    .lanes = WEFT_LANES_PTX,
                                                    .fence = true},
                                         .schedule = WEFT_SCHEDULE_GPU};

// Two schedules of CSR, by figures of patterns that an H200 has timed: the first took less. lanes: 0, csr_lanes is none of the two.
static void test_csr_costs(void)
{
    enum schedule { LANES, SCALAR, MERGE, FLAGS };
    enum { NEAR, BLOCKS, SHORT, SMALL_X };
    static const char *const names[] = {"csr_lanes", "csr_scalar", "csr_merge", "csr_flags"};
    static const struct {
        const char *name;
        int64_t m, n, nnz, longest, empty, single, far, apart, steps[6];
    } patterns[] = {[NEAR] = {"near:537829,5533103,295",
                              537829,
                              537829,
                              5533103,
                              30,
                              21,
                              188,
                              14826846,
                              0,
                              {293482, 282718, 278495, 285257, 286984, 537808}},
                    [BLOCKS] = {"block:1471357,2958062,12",
                                1471357,
                                1471357,
                                2958062,
                                48,
                                1244435,
                                0,
                                24692,
                                7000000,
                                {258720, 172044, 119037, 118619, 123223, 227966}},
                    [SHORT] = {"uniform:1191805,2681969,2579831",
                               1191805,
                               2681969,
                               2579831,
                               12,
                               136428,
                               296523,
                               24337152,
                               24337152,
                               {212163, 207781, 213967, 298397, 588140, 1055377}},
                    [SMALL_X] = {"uniform:524492,1518,2939706",
                                 524492,
                                 1518,
                                 2939706,
                                 20,
                                 1891,
                                 11062,
                                 15864838,
                                 15864838,
                                 {180732, 174330, 174630, 181672, 262272, 522601}}};
    static const struct {
        const char *took; // us
        int pattern, lanes;
        enum weft_type type;
        enum schedule less, more;
    } cases[] = {{"20.1 and 23.6", NEAR, 4, WEFT_TYPE_F32, LANES, FLAGS},
                 {"14.7 and 19.5", BLOCKS, 0, WEFT_TYPE_F32, FLAGS, MERGE},
                 {"20.2 and 23.3", BLOCKS, 2, WEFT_TYPE_F64, FLAGS, LANES},
                 {"24.1 and 27.2", SHORT, 2, WEFT_TYPE_F32, LANES, MERGE},
                 {"30.4 and 33.5", SHORT, 2, WEFT_TYPE_F64, MERGE, LANES},
                 {"10.3 and 12.7", SMALL_X, 2, WEFT_TYPE_F32, LANES, SCALAR}};
    struct weft_context ctx = h200;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int k = cases[i].pattern;
        const int64_t m = patterns[k].m, n = patterns[k].n, far = patterns[k].far;
        struct weft_spmv_plan plan = {
            .ctx = &ctx,
            .type = cases[i].type,
            .acc = cases[i].type,
            .x_size = n,
            .y_size = m,
            .a = {.m = m, .n = n, .nnz = patterns[k].nnz, .type = cases[i].type},
            .info = {.empty_rows = patterns[k].empty, .max_row = patterns[k].longest},
            .stats = {.max_row = patterns[k].longest, .far = far, .lone = far, .apart = patterns[k].apart}};
        plan.stats.hist[0] = (cl_uint)patterns[k].empty;
        plan.stats.hist[1] = (cl_uint)patterns[k].single;
        memcpy(plan.stats.steps, patterns[k].steps, sizeof patterns[k].steps);
        const double us[] = {cases[i].lanes ? weft__spmv_lanes_cost(&plan, cases[i].lanes) : 0,
                             weft__spmv_scalar_cost(&plan), weft__spmv_merge_cost(&plan), weft__spmv_flags_cost(&plan)};
        tap_ok(us[cases[i].less] < us[cases[i].more], "%s, %s, took %s us: %s is expected to take %.1f, %s %.1f",
               patterns[k].name, weft_type_name(cases[i].type), cases[i].took, names[cases[i].less], us[cases[i].less],
               names[cases[i].more], us[cases[i].more]);
    }
}

// band:144289,41 with rows and columns in a random order, by its figures: panels took 22 us of 45 by CSR on an H200 in f32, sliced ELL 27; in f64 all of
// CSR's 52, sliced ELL 39. What would look at the matrix is denied.
static void test_beside_panels(void)
{
    struct weft_context ctx = h200;
    enum { M = 144289, EACH = 41 };
    for (int wide = 0; wide < 2; wide++) {
        const enum weft_type type = wide ? WEFT_TYPE_F64 : WEFT_TYPE_F32;
        struct weft_spmv_plan plan = {.ctx = &ctx,
                                      .type = type,
                                      .acc = type,
                                      .x_size = M,
                                      .y_size = M,
                                      .a = {.m = M, .n = M, .nnz = M * EACH, .type = type},
                                      .info = {.max_row = EACH, .schedule = WEFT_SCHEDULE_GPU},
                                      .denied = 1U << WEFT_SPMV_ALGO_SDIA | 1U << WEFT_SPMV_ALGO_CSR_HUBS};
        plan.info.params.policy.algo = WEFT_SPMV_ALGO_AUTO;
        plan.info.params.policy.products = 1000;
        plan.info.params.format.max_padding = 4;
        plan.stats.max_row = EACH;
        plan.stats.far = plan.stats.lone = plan.stats.apart = 1024 * ((M + 31) / 32);
        plan.stats.hist[EACH] = M;
        for (int log = 0; log < 6; log++)
            plan.stats.steps[log] = (int64_t)((M * (INT64_C(1) << log) + 31) / 32) * ((EACH + (1 << log) - 1) >> log);
        enum weft_spmv_algo chosen = WEFT_SPMV_ALGO_AUTO;
        const int ok = !weft__spmv_choose(&plan, NULL, &chosen);
        tap_ok(ok && chosen == (wide ? WEFT_SPMV_ALGO_SELL16 : WEFT_SPMV_ALGO_PANELS), "rows of 41 apart, %s: %s, %s",
               weft_type_name(type), weft_spmv_algo_name(chosen), plan.info.why);
        // Of many lengths, where panels were refused: for their elements, then since lines of x are read again.
        plan.denied |= 1U << WEFT_SPMV_ALGO_PANELS;
        plan.stats.max_row = plan.info.max_row = EACH + 20;
        for (int again = 0; again < 2; again++) {
            plan.returns = again;
            const int chose = !weft__spmv_choose(&plan, NULL, &chosen);
            tap_ok(chose && (chosen == WEFT_SPMV_ALGO_SELL16) == !again,
                   "rows of 41 and a longer one, lines %s, %s: %s", again ? "return" : "do not", weft_type_name(type),
                   weft_spmv_algo_name(chosen));
        }
    }
}

// uniform:42195,16146836,6725989 by its figures, and an x that the second cache holds: on an H200 the former took 141 us by csr_lanes in f64 and 91 by
// sliced ELL. What would look at the matrix is denied.
static void test_beyond_cache(void)
{
    struct weft_context ctx = h200;
    for (int fits = 0; fits < 2; fits++) {
        const int64_t n = fits ? 4000000 : 16146836;
        struct weft_spmv_plan plan = {.ctx = &ctx,
                                      .type = WEFT_TYPE_F64,
                                      .acc = WEFT_TYPE_F64,
                                      .x_size = n,
                                      .y_size = 42195,
                                      .a = {.m = 42195, .n = n, .nnz = 6725989, .type = WEFT_TYPE_F64},
                                      .info = {.max_row = 220, .schedule = WEFT_SCHEDULE_GPU},
                                      .stats = {.max_row = 220, .far = 1350560, .lone = 1350560, .apart = 1350560},
                                      .denied = 1U << WEFT_SPMV_ALGO_SDIA | 1U << WEFT_SPMV_ALGO_CSR_HUBS |
                                                1U << WEFT_SPMV_ALGO_PANELS};
        memcpy(plan.stats.steps, (int64_t[]){245992, 241125, 236283, 231958, 229450, 230315}, sizeof plan.stats.steps);
        plan.info.params.policy.algo = WEFT_SPMV_ALGO_AUTO;
        plan.info.params.policy.products = 1000;
        plan.info.params.format.max_padding = 4;
        enum weft_spmv_algo chosen = WEFT_SPMV_ALGO_AUTO;
        const int ok = !weft__spmv_choose(&plan, NULL, &chosen);
        tap_ok(ok && (chosen == WEFT_SPMV_ALGO_SELL || chosen == WEFT_SPMV_ALGO_SELL16) == !fits,
               "42195 rows of 159, x %s the second cache: %s, %s", fits ? "within" : "beyond",
               weft_spmv_algo_name(chosen), plan.info.why);
    }
}

// Small matrices by their figures, as stencil5:150, band:20000,21, band:8092,59 (whose rows are long) and uniform:50000,50000,400000 have them, and a band that
// is no longer small. What would look at the matrix is denied.
static void test_beside_launch(void)
{
    static const struct {
        const char *what;
        int64_t m;
        int each, products;
        bool far, other; // other: no driver that takes longer with more buffers
        bool sell;
    } cases[] = {{"a grid", 22500, 5, 1000, false, false, true},
                 {"the same, 100 products", 22500, 5, 100, false, false, false},
                 {"the same, another device", 22500, 5, 1000, false, true, false},
                 {"a band of 21", 20000, 21, 1000, false, false, true},
                 {"a band of 59", 8092, 59, 1000, false, false, false},
                 {"8 a row at random", 50000, 8, 1000, true, false, false},
                 {"a large grid", 2000000, 5, 1000, false, false, false}};
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        const size_t k = i / 2;
        const enum weft_type type = i % 2 ? WEFT_TYPE_F64 : WEFT_TYPE_F32;
        const int64_t m = cases[k].m, far = cases[k].far ? 1024 * ((m + 31) / 32) : 0;
        const int each = cases[k].each;
        struct weft_context ctx = h200;
        ctx.device.lanes = cases[k].other ? WEFT_LANES_SUBGROUPS : WEFT_LANES_PTX;
        struct weft_spmv_plan plan = {.ctx = &ctx,
                                      .type = type,
                                      .acc = type,
                                      .x_size = m,
                                      .y_size = m,
                                      .a = {.m = m, .n = m, .nnz = m * each, .type = type},
                                      .info = {.max_row = each, .schedule = WEFT_SCHEDULE_GPU},
                                      .denied = 1U << WEFT_SPMV_ALGO_SDIA | 1U << WEFT_SPMV_ALGO_CSR_HUBS |
                                                1U << WEFT_SPMV_ALGO_PANELS | 1U << WEFT_SPMV_ALGO_SELL16};
        plan.info.params.policy.algo = WEFT_SPMV_ALGO_AUTO;
        plan.info.params.policy.products = cases[k].products;
        plan.info.params.format.max_padding = 4;
        plan.stats.max_row = each;
        plan.stats.far = plan.stats.lone = plan.stats.apart = far;
        plan.stats.hist[each] = (cl_uint)m;
        for (int log = 0; log < 6; log++)
            plan.stats.steps[log] = ((m << log) + 31) / 32 * ((each + (1 << log) - 1) >> log);
        enum weft_spmv_algo chosen = WEFT_SPMV_ALGO_AUTO;
        const int ok = !weft__spmv_choose(&plan, NULL, &chosen);
        tap_ok(ok && (chosen == WEFT_SPMV_ALGO_SELL) == cases[k].sell, "%s, %s: %s, %s", cases[k].what,
               weft_type_name(type), weft_spmv_algo_name(chosen), plan.info.why);
    }
}

static void test_each(struct test_device *dev)
{
    if (!dev->gpu)
        return;
    test_rests(dev);
    if (!dev->checker)
        test_fit(dev);
}

int main(void)
{
    test_csr_costs();
    test_beside_panels();
    test_beyond_cache();
    test_beside_launch();
    test_device_each(test_each);
    return tap_done();
}
