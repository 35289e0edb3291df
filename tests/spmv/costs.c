// SPDX-License-Identifier: Apache-2.0
// What the CSR schedules of a GPU and the formats of a CPU are expected to cost, and which one is taken, by figures alone: no device,
// nothing runs.
#include "host/internal/inside.h"
#include "host/internal/tests.h"
#include "tests/support/tap.h"

#include <math.h>
#include <string.h>

// What costs ask of a device: that of an H200.
static const struct weft_context h200 = {.device = {.compute_units = 132, .local_bytes = 48 << 10, .max_wg = 1024}};

// What csr_flags, which auto takes on lanes of NVIDIA alone, is expected to cost: reads of x that are far and wide values take
// longer, a device of twice the units half as long; but one group writes the empty rows of one tile, whatever the device. Where they are
// many a launch before scales y.
static void test_flags_cost(void)
{
    struct weft_context ctx = {.device.compute_units = 132};
    struct weft_spmv_plan plan = {.ctx = &ctx,
                                  .type = WEFT_TYPE_F32,
                                  .acc = WEFT_TYPE_F32,
                                  .x_size = 1 << 28,
                                  .a = {.m = 1 << 20, .n = 1 << 20, .nnz = 1 << 23, .type = WEFT_TYPE_F32}};
    const double launch = 6.2, usual = weft__spmv_flags_cost(&plan) - launch;
    plan.stats.far = plan.stats.lone = 3 << 23;
    plan.stats.apart = 1 << 25;
    const double far = weft__spmv_flags_cost(&plan) - launch;
    plan.stats.far = plan.stats.lone = plan.stats.apart = 0;
    plan.a.type = WEFT_TYPE_F64;
    const double wide = weft__spmv_flags_cost(&plan) - launch;
    plan.a.type = WEFT_TYPE_F32;
    ctx.device.compute_units = 264;
    const double faster = weft__spmv_flags_cost(&plan) - launch;
    tap_ok(usual > 12 && far > usual + 7 && wide > 1.5 * usual && fabs(2 * faster - usual) < 1e-6,
           "csr_flags is expected to take %.1f us, %.1f where x is far, %.1f for f64, %.1f on twice the units", usual,
           far, wide, faster);
    plan.a.m = 11000;
    plan.a.nnz = 1000;
    plan.info.empty_rows = 10000;
    const double alone = weft__spmv_flags_cost(&plan) - launch;
    ctx.device.compute_units = 1000;
    tap_ok(!weft__spmv_flags_scales(&plan) && fabs(alone - 6.5) < 0.01 &&
               fabs(weft__spmv_flags_cost(&plan) - launch - alone) < 1e-6,
           "csr_flags: one group writes 10 000 empty rows in %.1f us", alone);
    ctx.device.compute_units = 132;
    plan.a.m = 1 << 20;
    plan.info.empty_rows = (1 << 20) - 1000;
    const double scaled = weft__spmv_flags_cost(&plan) - launch;
    plan.a.m *= 16;
    plan.info.empty_rows += 15 << 20;
    const double larger = weft__spmv_flags_cost(&plan) - launch;
    tap_ok(weft__spmv_flags_scales(&plan) && scaled > 4 && scaled < 8 && larger > scaled + 20 && larger < scaled + 30,
           "csr_flags: %.1f us where a launch before scales a million empty rows, %.1f for 16 million", scaled, larger);
}

// Entries of R-MAT gather in few rows: csr_flags took 61 and 37 us on an H200, csr_merge 75 and 46. At random they lie in many, and csr_flags
// takes longer. Many rows of one entry, which have none beside another, leave x as far as it is.
static void test_gathered_cost(void)
{
    static const struct {
        int64_t m, nnz, empty, single, far, longest;
        enum weft_type type;
    } cases[] = {{4964578, 5997567, 4064926, 426145, 15267212, 14160, WEFT_TYPE_F32},
                 {8000000, 6000000, 6903646, 562388, 17270585, 13000, WEFT_TYPE_F32},
                 {2000000, 3000000, 1575840, 180000, 7359510, 12269, WEFT_TYPE_F64},
                 {6000000, 9000000, 1339449, 2007607, 84885981, 11, WEFT_TYPE_F32}};
    struct weft_context ctx = h200;
    ctx.device.lanes = WEFT_LANES_PTX;
    ctx.device.fence = true;
    for (int i = 0; i < 4; i++) {
        struct weft_spmv_plan plan = {
            .ctx = &ctx,
            .type = cases[i].type,
            .acc = cases[i].type,
            .x_size = cases[i].m,
            .y_size = cases[i].m,
            .a = {.m = cases[i].m, .n = cases[i].m, .nnz = cases[i].nnz, .type = cases[i].type},
            .info = {.empty_rows = cases[i].empty},
            .stats = {.max_row = cases[i].longest, .far = cases[i].far, .lone = cases[i].far}};
        plan.stats.apart = 32 * (cases[i].m - cases[i].empty); // all of the entries
        plan.stats.hist[0] = (cl_uint)cases[i].empty;
        plan.stats.hist[1] = (cl_uint)cases[i].single;
        const double flags = weft__spmv_flags_cost(&plan), merge = weft__spmv_merge_cost(&plan);
        const bool gathered = i < 3;
        tap_ok(!weft__spmv_x_near(&plan) && gathered == (flags < 0.99 * merge),
               "%lld rows, %lld of them empty: csr_flags is expected to take %.1f us, csr_merge %.1f",
               (long long)cases[i].m, (long long)cases[i].empty, flags, merge);
    }
}

// Rows of 3000 entries, as many as keep the device busy: csr_lanes took 15 us on an H200, csr_flags 12. Rows of 1000 went by lanes.
static void test_busy_cost(void)
{
    struct weft_context ctx = h200;
    for (int i = 0; i < 2; i++) {
        const int64_t m = i ? 4000 : 1500, row = i ? 1000 : 3000;
        struct weft_spmv_plan plan = {.ctx = &ctx,
                                      .type = WEFT_TYPE_F32,
                                      .acc = WEFT_TYPE_F32,
                                      .x_size = row,
                                      .y_size = m,
                                      .a = {.m = m, .n = row, .nnz = m * row, .type = WEFT_TYPE_F32},
                                      .stats = {.max_row = row, .steps = {[5] = m * row / 32}}};
        const double flags = weft__spmv_flags_cost(&plan), lanes = weft__spmv_lanes_cost(&plan, 32);
        tap_ok(i ? lanes < flags : flags < lanes, "%lld dense rows of %lld: csr_lanes %.1f us, csr_flags %.1f",
               (long long)m, (long long)row, lanes, flags);
    }
}

// Short rows: what each schedule is expected to take, by figures of generated patterns, has the one first that was fastest on an H200. Where
// reads of an x of 4.6 KB lie apart csr_scalar took 33 us and csr_merge 39; along a band from memory csr_flags took 26 and csr_scalar 33;
// blocks of nine rows among empty ones took csr_scalar 52, csr_lanes 30 and csr_flags 30 in f64, csr_lanes 25 and csr_flags 20 in f32.
static void test_short_cost(void)
{
    static const struct {
        const char *first;
        int64_t m, n, nnz, empty, single, far, steps[2];
        int fullest;
        enum weft_type type;
    } cases[] = {
        {"csr_scalar", 4570234, 1148, 5165158, 1475887, 1668842, 44899938, {541255, 550869}, 68, WEFT_TYPE_F32},
        {"csr_scalar", 4570234, 1148, 5165158, 1475887, 1668842, 44899938, {541255, 550869}, 68, WEFT_TYPE_F64},
        {"csr_scalar", 1000000, 30000, 1500000, 222872, 334560, 14352345, {140473, 139732}, 78, WEFT_TYPE_F32},
        {"csr_flags", 2812011, 2812011, 8436031, 0, 0, 0, {263628, 351502}, 96, WEFT_TYPE_F32},
        {"csr_flags", 1128159, 1128159, 5273088, 670842, 0, 212610, {423747, 344488}, 846, WEFT_TYPE_F64},
        {"csr_flags", 1128159, 1128159, 5273088, 670842, 0, 212610, {423747, 344488}, 846, WEFT_TYPE_F32},
    };
    struct weft_context ctx = h200;
    ctx.device.lanes = WEFT_LANES_PTX;
    ctx.device.fence = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const enum weft_type type = cases[i].type;
        struct weft_spmv_plan plan = {.ctx = &ctx,
                                      .type = type,
                                      .acc = type,
                                      .x_size = cases[i].n,
                                      .y_size = cases[i].m,
                                      .a = {.m = cases[i].m, .n = cases[i].n, .nnz = cases[i].nnz, .type = type},
                                      .info = {.empty_rows = cases[i].empty},
                                      .stats = {.max_row = 10,
                                                .far = cases[i].far,
                                                .lone = cases[i].far,
                                                .apart = cases[i].far,
                                                .fullest = cases[i].fullest}};
        plan.info.params.policy.products = 1000;
        memcpy(plan.stats.steps, cases[i].steps, sizeof cases[i].steps);
        plan.stats.hist[0] = (cl_uint)cases[i].empty;
        plan.stats.hist[1] = (cl_uint)cases[i].single;
        const char *names[] = {"csr_scalar", "csr_lanes", "csr_merge", "csr_flags"};
        const double us[] = {weft__spmv_scalar_cost(&plan), weft__spmv_lanes_cost(&plan, 2),
                             weft__spmv_merge_cost(&plan), weft__spmv_flags_cost(&plan)};
        int first = 0;
        for (int k = 1; k < 4; k++)
            first = us[k] < us[first] ? k : first;
        tap_ok(!strcmp(names[first], cases[i].first),
               "%lld rows, %lld entries, %s: csr_scalar %.1f us, csr_lanes %.1f, csr_merge %.1f, csr_flags %.1f",
               (long long)cases[i].m, (long long)cases[i].nnz, weft_type_name(type), us[0], us[1], us[2], us[3]);
    }
}

// Long rows in an x that the second cache does not hold: csr_lanes has them run together, and reads a line of x once. On an H200 lanes took
// 91 us, csr_flags 172.
static void test_second_cost(void)
{
    struct weft_context ctx = h200;
    struct weft_spmv_plan plan = {
        .ctx = &ctx,
        .type = WEFT_TYPE_F64,
        .acc = WEFT_TYPE_F64,
        .x_size = 19928965,
        .a = {.m = 1221, .n = 19928965, .nnz = 7277089, .type = WEFT_TYPE_F64},
        .stats = {.max_row = 6207, .far = 39936, .lone = 39936, .apart = 39936, .steps = {[5] = 228010}}};
    const double lanes = weft__spmv_lanes_cost(&plan, 32), flags = weft__spmv_flags_cost(&plan),
                 csr = weft__spmv_panels_csr_us(&plan, 0);
    tap_ok(weft__spmv_lanes(&plan) == 32 && flags > 1.5 * lanes && csr > 80 && csr < 100,
           "1221 long rows beyond the second cache: csr_lanes %.0f us, csr_flags %.0f, beside panels %.0f", lanes,
           flags, csr);
    ctx.device.cache_bytes = 256 << 20;
    tap_ok(weft__spmv_lanes_cost(&plan, 32) > weft__spmv_flags_cost(&plan), "not where that holds x");
    ctx.device.cache_bytes = 0;
    plan.stats.far = plan.stats.lone = 0;
    tap_ok(weft__spmv_lanes_cost(&plan, 32) > weft__spmv_flags_cost(&plan), "nor where x is near");
    plan.stats.far = plan.stats.lone = plan.stats.apart = 39936 << 10;
    plan.stats.steps[1] = INT64_C(250000) << 10;
    plan.a.m *= 1 << 10;
    plan.a.nnz *= 1 << 10;
    tap_ok(weft__spmv_lanes_cost(&plan, 2) > weft__spmv_flags_cost(&plan), "nor where not all rows run at a time");
}

// A grid of 7 points: entries are not beside one another, but beside those of the row behind. A GPU's rows then read x side by side, so that
// csr_lanes takes few lanes even of long rows; a CPU's do not.
static void test_grid_near(void)
{
    struct weft_context ctx = h200, cpu = {.schedule = WEFT_SCHEDULE_CPU, .device = {.compute_units = 2}};
    struct weft_spmv_plan plan = {.ctx = &ctx,
                                  .type = WEFT_TYPE_F32,
                                  .acc = WEFT_TYPE_F32,
                                  .x_size = 1000000,
                                  .a = {.m = 1000000, .n = 1000000, .nnz = 6940000, .type = WEFT_TYPE_F32},
                                  .stats = {.max_row = 7, .far = INT64_C(680) * 31250, .lone = INT64_C(20) * 31250}};
    const int near = weft__spmv_x_near(&plan);
    plan.a.nnz *= 12;
    const int lanes = weft__spmv_lanes(&plan);
    plan.stats.lone = plan.stats.far;
    const int apart = weft__spmv_x_near(&plan);
    plan.stats.lone = 0;
    plan.ctx = &cpu;
    tap_ok(near && !apart && lanes == 2 && !weft__spmv_x_near(&plan),
           "a grid's x is near to rows side by side: %d, else %d, on a CPU %d; long rows take %d lanes", near, apart,
           weft__spmv_x_near(&plan), lanes);
}

// Sliced ELL gains nothing beside csr_scalar where rows are short and the caches hold the matrix, and x is near.
static void test_scalar_near(void)
{
    struct weft_context ctx = {.device.compute_units = 132};
    struct weft_spmv_plan plan = {.ctx = &ctx,
                                  .type = WEFT_TYPE_F32,
                                  .x_size = 1052509,
                                  .y_size = 1052509,
                                  .a = {.m = 1052509, .n = 1052509, .nnz = 3157529, .type = WEFT_TYPE_F32}};
    const bool near = weft__spmv_scalar_near(&plan);
    plan.stats.far = plan.stats.lone = plan.stats.apart = INT64_C(900) * 1052509 / 32;
    const bool far = weft__spmv_scalar_near(&plan);
    plan.stats.far = plan.stats.lone = plan.stats.apart = 0;
    plan.a.m = plan.a.n = plan.x_size = plan.y_size = 1052509 / 4;
    const bool wide = weft__spmv_scalar_near(&plan), kept = weft__spmv_csr_us(&plan) < 10;
    plan.a.m = plan.a.n = plan.x_size = plan.y_size = 10525090;
    plan.a.nnz = 31575290;
    tap_ok(near && !far && !wide && kept && !weft__spmv_scalar_near(&plan),
           "csr_scalar is as fast as sliced ELL: %d, where x is far %d, with long rows %d", near, far, wide);
}

// A matrix that comes from memory: no schedule is expected to be faster than its bytes, and the order is that of what an H200 takes
// on stencil27:160 and band:20000000,5.
static void test_memory_cost(void)
{
    struct weft_context ctx = {.device.compute_units = 132};
    struct weft_spmv_plan plan = {.ctx = &ctx,
                                  .type = WEFT_TYPE_F32,
                                  .x_size = 1 << 22,
                                  .a = {.m = 1 << 22, .n = 1 << 22, .nnz = 27 << 22, .type = WEFT_TYPE_F32}};
    const double bytes = weft__spmv_csr_us(&plan), flags = weft__spmv_flags_cost(&plan),
                 lanes = weft__spmv_lanes_cost(&plan, 8), merge = weft__spmv_merge_cost(&plan);
    tap_ok(bytes > 200 && flags > bytes && lanes > flags && merge > lanes && isinf(weft__spmv_scalar_cost(&plan)),
           "27 entries a row from memory: bytes %.0f us, csr_flags %.0f, csr_lanes %.0f, csr_merge %.0f", bytes, flags,
           lanes, merge);
    tap_ok(weft__spmv_streams(&plan), "27 entries a row stream from memory");
    plan.stats.far = plan.stats.lone = plan.stats.apart = INT64_C(1) << 27;
    tap_ok(!weft__spmv_streams(&plan), "but not where x is far");
    plan.x_size = 1 << 10;
    tap_ok(weft__spmv_x_near(&plan) && !weft__spmv_streams(&plan), "nor where only the first cache brings it near");
    plan.x_size = 1 << 22;
    plan.stats.far = plan.stats.lone = plan.stats.apart = 0;
    plan.a.nnz = plan.a.m = 1 << 22;
    tap_ok(!weft__spmv_streams(&plan), "nor from the second cache");
    plan.a.nnz = 5 << 22;
    const double few = weft__spmv_flags_cost(&plan), scalar = weft__spmv_scalar_cost(&plan);
    tap_ok(few > weft__spmv_csr_us(&plan) && scalar > few && weft__spmv_merge_cost(&plan) > scalar,
           "5 entries a row from memory: csr_scalar %.0f us, csr_flags %.0f", scalar, few);
    plan.stats.far = plan.stats.lone = plan.stats.apart = INT64_C(1) << 27;
    tap_ok(isinf(weft__spmv_scalar_cost(&plan)), "and never by csr_scalar where x is far");
}

// Which schedule `csr` takes where x is far and some of it fits the first cache, on a device of 132 units: those that an H100 took least
// time by, or within 2 %.
static void test_kept_cost(void)
{
    enum { ROWS_FAR = 1000 }; // of 1024 entries
    static const struct {
        const char *what;
        double m, n, nnz;
        enum weft_type type;
        int far;
        enum weft_spmv_algo want;
    } cases[] = {
        {"10 a row, 200 KB of x", 600e3, 50e3, 6e6, WEFT_TYPE_F32, ROWS_FAR, WEFT_SPMV_ALGO_CSR_LANES},
        {"30 a row, 240 KB of x in f64", 200e3, 30e3, 6e6, WEFT_TYPE_F64, ROWS_FAR, WEFT_SPMV_ALGO_CSR_LANES},
        {"10 a row, 16 MB of x", 4e6, 4e6, 40e6, WEFT_TYPE_F32, ROWS_FAR, WEFT_SPMV_ALGO_CSR_MERGE},
        {"100 a row, all rows at a time", 100e3, 100e3, 10e6, WEFT_TYPE_F32, ROWS_FAR, WEFT_SPMV_ALGO_CSR_LANES},
        {"the same in f64", 100e3, 100e3, 10e6, WEFT_TYPE_F64, ROWS_FAR, WEFT_SPMV_ALGO_CSR_LANES},
        {"100 a row, some rows later", 200e3, 200e3, 20e6, WEFT_TYPE_F32, ROWS_FAR, WEFT_SPMV_ALGO_CSR_FLAGS},
        {"200 a row, 8 MB of x", 100e3, 2e6, 20e6, WEFT_TYPE_F32, ROWS_FAR, WEFT_SPMV_ALGO_CSR_FLAGS},
        {"80 a row, 40 M entries", 500e3, 500e3, 40e6, WEFT_TYPE_F64, ROWS_FAR, WEFT_SPMV_ALGO_CSR_LANES},
        {"300 a row, 320 KB of x in f64", 20e3, 40e3, 6e6, WEFT_TYPE_F64, ROWS_FAR, WEFT_SPMV_ALGO_CSR_LANES},
        {"dense, from memory", 4e3, 10e3, 40e6, WEFT_TYPE_F32, 0, WEFT_SPMV_ALGO_CSR_FLAGS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct weft_context ctx = {.device = {.compute_units = 132, .lanes = WEFT_LANES_PTX, .fence = true},
                                   .schedule = WEFT_SCHEDULE_GPU};
        struct weft_spmv_plan plan = {.ctx = &ctx, .type = cases[i].type, .x_size = (int64_t)cases[i].n};
        const double mean = cases[i].nnz / cases[i].m, longest = mean + (cases[i].far ? 2 * sqrt(mean) : 0);
        plan.a = (struct weft_device_csr){
            .m = (int64_t)cases[i].m, .n = (int64_t)cases[i].n, .nnz = (int64_t)cases[i].nnz, .type = cases[i].type};
        plan.info.params.policy.algo = WEFT_SPMV_ALGO_CSR;
        plan.info.max_row = plan.stats.max_row = (int64_t)(2 * longest);
        plan.stats.far = plan.stats.lone = cases[i].far * ((plan.a.m + 31) / 32);
        plan.stats.apart = 1024 * ((plan.a.m + 31) / 32);
        for (int log = 0; log < 6; log++) // of 32 >> log rows side by side the longest
            plan.stats.steps[log] = (int64_t)(cases[i].m * (1 << log) / 32 * ceil(longest / (1 << log)));
        enum weft_spmv_algo chosen = WEFT_SPMV_ALGO_AUTO;
        const int ok = !weft__spmv_choose(&plan, NULL, &chosen);
        tap_ok(ok && chosen == cases[i].want, "csr of %s: %s, %s", cases[i].what, weft_spmv_algo_name(chosen),
               plan.info.why);
    }
}

// Which schedule `csr` takes where most rows are empty, and whether csr_scalar takes blocks of rows: where no 32 rows have many entries, and
// the products that are expected pay for the row of each entry.
static void test_empty_cost(void)
{
    static const struct {
        const char *what;
        double m, nnz;
        int64_t fullest, products;
        enum weft_type type;
        enum weft_spmv_algo want;
        bool gaps;
    } cases[] = {
        {"14 M rows, 20 000 entries", 14e6, 20e3, 6, 0, WEFT_TYPE_F32, WEFT_SPMV_ALGO_CSR_SCALAR, true},
        {"the same in f64", 14e6, 20e3, 6, 0, WEFT_TYPE_F64, WEFT_SPMV_ALGO_CSR_SCALAR, true},
        {"the same, 300 in 32 rows", 14e6, 20e3, 300, 0, WEFT_TYPE_F64, WEFT_SPMV_ALGO_CSR_FLAGS, false},
        {"14 M rows, 300 000 entries, f64", 14e6, 300e3, 9, 0, WEFT_TYPE_F64, WEFT_SPMV_ALGO_CSR_SCALAR, true},
        {"10 M rows, a million entries", 10e6, 1e6, 20, 1000, WEFT_TYPE_F32, WEFT_SPMV_ALGO_CSR_SCALAR, true},
        {"the same in f64", 10e6, 1e6, 20, 1000, WEFT_TYPE_F64, WEFT_SPMV_ALGO_CSR_SCALAR, true},
        {"the same once", 10e6, 1e6, 20, 1, WEFT_TYPE_F64, WEFT_SPMV_ALGO_CSR_SCALAR, false},
        {"3 M rows, 100 000 entries, f64", 3e6, 100e3, 9, 0, WEFT_TYPE_F64, WEFT_SPMV_ALGO_CSR_SCALAR, true},
        {"the same, 300 in 32 rows", 3e6, 100e3, 300, 0, WEFT_TYPE_F64, WEFT_SPMV_ALGO_CSR_FLAGS, false},
        {"2 M rows, 500 000 entries", 2e6, 500e3, 30, 0, WEFT_TYPE_F32, WEFT_SPMV_ALGO_CSR_SCALAR, true},
        {"3 M rows, 2.2 M entries", 3e6, 2.2e6, 50, 1000, WEFT_TYPE_F32, WEFT_SPMV_ALGO_CSR_SCALAR, true},
        {"3 M rows, 2.3 M entries", 3e6, 2.3e6, 50, 1000, WEFT_TYPE_F32, WEFT_SPMV_ALGO_CSR_MERGE, false},
        {"the same ten times", 3e6, 2.3e6, 50, 10, WEFT_TYPE_F32, WEFT_SPMV_ALGO_CSR_SCALAR, false},
        {"8 M rows, 4 M entries, f64", 8e6, 4e6, 40, 1000, WEFT_TYPE_F64, WEFT_SPMV_ALGO_CSR_SCALAR, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct weft_context ctx = {.device = {.compute_units = 132, .lanes = WEFT_LANES_PTX, .fence = true},
                                   .schedule = WEFT_SCHEDULE_GPU};
        const int64_t m = (int64_t)cases[i].m;
        struct weft_spmv_plan plan = {
            .ctx = &ctx, .type = cases[i].type, .acc = cases[i].type, .x_size = m, .y_size = m};
        const double mean = cases[i].nnz / cases[i].m;
        plan.a = (struct weft_device_csr){.m = m, .n = m, .nnz = (int64_t)cases[i].nnz, .type = cases[i].type};
        plan.info.params.policy.algo = WEFT_SPMV_ALGO_CSR;
        plan.info.params.policy.products = cases[i].products;
        plan.info.empty_rows = (int64_t)(cases[i].m * exp(-mean));
        plan.info.max_row = plan.stats.max_row = 6;
        plan.stats.fullest = cases[i].fullest;
        plan.stats.far = plan.stats.lone = plan.stats.apart = 1024 * ((m + 31) / 32);
        for (int log = 0; log < 6; log++) // of 32 >> log rows side by side the longest, as far as one has an entry
            plan.stats.steps[log] =
                (int64_t)(cases[i].m * (1 << log) / 32 * -expm1(-mean * (32 >> log)) * (1 + 2 * mean));
        enum weft_spmv_algo chosen = WEFT_SPMV_ALGO_AUTO;
        const int ok = !weft__spmv_choose(&plan, NULL, &chosen), gaps = weft__spmv_scalar_gaps(&plan);
        tap_ok(ok && chosen == cases[i].want && gaps == cases[i].gaps, "csr of %s: %s, %s%s", cases[i].what,
               weft_spmv_algo_name(chosen), gaps ? "blocks of rows, " : "", plan.info.why);
    }
}

// What two cores take for 1000 products: the format that took least time there, or within 10 %, with vectors of 16 floats and of 8, and with 16 by
// Intel.
static void test_cpu_cost(void)
{
    enum { ROWS_FAR = 1000, ANY_ORDER = 999 }; // of 1024 entries; near the diagonal in any order
    enum { AVX512, INTEL, AVX2 };
    static const struct {
        const char *name, *vendor;
        int vector;
    } kinds[] = {[AVX512] = {"AVX-512", "AuthenticAMD", 16},
                 [INTEL] = {"AVX-512 of Intel", "GenuineIntel", 16},
                 [AVX2] = {"AVX2", "AuthenticAMD", 8}};
    static const struct {
        const char *what;
        int kind;
        double m, n, nnz, changes; // changes: of a row
        enum weft_type type;
        int far;
        enum weft_spmv_algo want;
    } cases[] = {
        {"64 000 rows of 27 at random", AVX512, 64e3, 64e3, 1.7e6, 0.1, WEFT_TYPE_F32, ROWS_FAR,
         WEFT_SPMV_ALGO_CSR_MERGE},
        {"a stencil, columns in any order", AVX512, 64e3, 64e3, 1.7e6, 0.1, WEFT_TYPE_F32, ANY_ORDER,
         WEFT_SPMV_ALGO_SELL},
        {"4000 rows of 5", INTEL, 4e3, 4e3, 20e3, 0.84, WEFT_TYPE_F32, ROWS_FAR, WEFT_SPMV_ALGO_SELL},
        {"10 000 rows of 10", INTEL, 10e3, 10e3, 100e3, 0.91, WEFT_TYPE_F64, ROWS_FAR, WEFT_SPMV_ALGO_SELL},
        {"3000 rows of 1000", INTEL, 3e3, 3e3, 3e6, 0.99, WEFT_TYPE_F32, 0, WEFT_SPMV_ALGO_CSR_MERGE},
        {"4000 rows of 5", AVX512, 4e3, 4e3, 20e3, 0.84, WEFT_TYPE_F32, ROWS_FAR, WEFT_SPMV_ALGO_CSR_MERGE},
        {"4000 rows of 5", AVX2, 4e3, 4e3, 20e3, 0.84, WEFT_TYPE_F32, ROWS_FAR, WEFT_SPMV_ALGO_SELL},
        {"8000 rows of 25", AVX512, 8e3, 8e3, 200e3, 0, WEFT_TYPE_F32, 0, WEFT_SPMV_ALGO_SELL},
        {"16 000 rows of 5", AVX512, 16e3, 5, 80e3, 0, WEFT_TYPE_F64, 0, WEFT_SPMV_ALGO_CSR_MERGE},
        {"8000 rows of 25", AVX2, 8e3, 8e3, 200e3, 0, WEFT_TYPE_F32, 0, WEFT_SPMV_ALGO_SELL},
        {"3000 rows of 1000", AVX2, 3e3, 3e3, 3e6, 0.99, WEFT_TYPE_F32, 0, WEFT_SPMV_ALGO_CSR_MERGE},
        {"50 000 rows of 6", AVX512, 50e3, 50e3, 300e3, 0.88, WEFT_TYPE_F32, ROWS_FAR, WEFT_SPMV_ALGO_SELL},
        {"50 000 rows of 6", AVX2, 50e3, 50e3, 300e3, 0.88, WEFT_TYPE_F32, ROWS_FAR, WEFT_SPMV_ALGO_SELL},
        {"6 M entries in 30 000 columns", AVX512, 200e3, 30e3, 6e6, 0.93, WEFT_TYPE_F32, ROWS_FAR,
         WEFT_SPMV_ALGO_SELL16},
        {"6 M entries in 30 000 columns", AVX2, 200e3, 30e3, 6e6, 0.93, WEFT_TYPE_F32, ROWS_FAR, WEFT_SPMV_ALGO_SELL16},
        {"3 M entries in 50 000 columns", AVX512, 100e3, 50e3, 3e6, 0.95, WEFT_TYPE_F32, ROWS_FAR,
         WEFT_SPMV_ALGO_SELL16},
        {"3 M entries in 100 000 columns", AVX512, 100e3, 100e3, 3e6, 0.95, WEFT_TYPE_F32, ROWS_FAR,
         WEFT_SPMV_ALGO_SELL16},
        {"3 M entries in 200 000 columns", AVX512, 100e3, 200e3, 3e6, 0.95, WEFT_TYPE_F32, ROWS_FAR,
         WEFT_SPMV_ALGO_SELL},
        {"1.5 M entries in 50 000 columns", AVX512, 50e3, 50e3, 1.5e6, 0.95, WEFT_TYPE_F32, ROWS_FAR,
         WEFT_SPMV_ALGO_SELL},
        {"6 M entries in 30 000 columns", AVX512, 200e3, 30e3, 6e6, 0.93, WEFT_TYPE_F64, ROWS_FAR,
         WEFT_SPMV_ALGO_CSR_MERGE},
        {"6 M entries in 30 000 columns", AVX2, 200e3, 30e3, 6e6, 0.93, WEFT_TYPE_F64, ROWS_FAR, WEFT_SPMV_ALGO_SELL16},
        {"3 M rows of 2, 1000 columns", AVX512, 3e6, 1e3, 6e6, 0.8, WEFT_TYPE_F32, ROWS_FAR, WEFT_SPMV_ALGO_SELL},
        {"10 a row, x of 6 MB", AVX512, 500e3, 800e3, 5e6, 0.9, WEFT_TYPE_F64, ROWS_FAR, WEFT_SPMV_ALGO_CSR_MERGE},
        {"5 a row, x of 800 KB", AVX2, 200e3, 200e3, 1e6, 0.85, WEFT_TYPE_F32, ROWS_FAR, WEFT_SPMV_ALGO_SELL},
        {"a million entries, x of 40 MB", AVX512, 10e6, 10e6, 1e6, 0.17, WEFT_TYPE_F32, ROWS_FAR,
         WEFT_SPMV_ALGO_CSR_MERGE},
        {"a million entries, x of 40 MB", AVX2, 10e6, 10e6, 1e6, 0.17, WEFT_TYPE_F32, ROWS_FAR, WEFT_SPMV_ALGO_SELL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct weft_context ctx = {.device = {.compute_units = 2, .cache_bytes = 1 << 25, .type = CL_DEVICE_TYPE_CPU},
                                   .schedule = WEFT_SCHEDULE_CPU,
                                   .vector = kinds[cases[i].kind].vector};
        snprintf(ctx.device.vendor, sizeof ctx.device.vendor, "%s", kinds[cases[i].kind].vendor);
        const double m = cases[i].m, mean = cases[i].nnz / m;
        struct weft_spmv_plan plan = {.ctx = &ctx,
                                      .type = cases[i].type,
                                      .acc = cases[i].type,
                                      .x_size = (int64_t)cases[i].n,
                                      .y_size = (int64_t)m,
                                      .denied = 1u << WEFT_SPMV_ALGO_SDIA}; // which would ask the device for a sample
        if (mean > 100)
            plan.denied |= 1u << WEFT_SPMV_ALGO_SELL; // so that a hybrid is weighed
        plan.a = (struct weft_device_csr){
            .m = (int64_t)m, .n = (int64_t)cases[i].n, .nnz = (int64_t)cases[i].nnz, .type = cases[i].type};
        plan.info.schedule = ctx.schedule;
        plan.info.params.format.max_padding = 4;
        plan.info.params.policy.products = 1000;
        const bool alike = cases[i].changes <= 0 || mean > 100;
        double rows = m * exp(-mean); // of k entries: those that entries at random leave, or all alike
        for (int k = 0; k < WEFT__SPMV_BINS; k++, rows *= mean / k)
            plan.stats.hist[k] = (cl_uint)(!alike ? rows : k == (int)mean ? m : 0);
        plan.info.empty_rows = plan.stats.hist[0];
        plan.info.max_row = plan.stats.max_row = (int64_t)(mean + (alike ? 0 : 4 * sqrt(mean)));
        plan.stats.changes = (int64_t)(cases[i].changes * m);
        plan.stats.far = plan.stats.lone = cases[i].far * ((plan.a.m + 31) / 32);
        plan.stats.apart = cases[i].far == ANY_ORDER ? 0 : plan.stats.far;
        enum weft_spmv_algo chosen = WEFT_SPMV_ALGO_AUTO;
        const int ok = !weft__spmv_choose(&plan, NULL, &chosen);
        tap_ok(ok && chosen == cases[i].want, "CPU with %s, %s, %s: %s, %s", kinds[cases[i].kind].name, cases[i].what,
               weft_type_name(cases[i].type), weft_spmv_algo_name(chosen), plan.info.why);
    }
}

// Sliced ELL, chosen by the lengths of all rows, has more elements once its windows are counted. It is left where a hybrid saves more
// than that, and kept where it only has to be faster than CSR.
static void test_cpu_least(void)
{
    static const int64_t lengths[] = {0, 1, 2, 3, 6, 30}, rows[] = {300000, 250000, 200000, 100000, 40000, 5000};
    struct weft_context ctx = {.device = {.compute_units = 2, .cache_bytes = 1 << 25, .type = CL_DEVICE_TYPE_CPU},
                               .schedule = WEFT_SCHEDULE_CPU,
                               .vector = 8};
    struct weft_spmv_plan plan = {
        .ctx = &ctx, .type = WEFT_TYPE_F32, .acc = WEFT_TYPE_F32, .denied = 1u << WEFT_SPMV_ALGO_SDIA};
    plan.a.type = plan.type;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        plan.stats.hist[lengths[i]] = (cl_uint)rows[i];
        plan.a.m += rows[i];
        plan.a.nnz += lengths[i] * rows[i];
    }
    plan.a.n = plan.x_size = plan.y_size = plan.a.m;
    plan.info.schedule = ctx.schedule;
    plan.info.params.format.max_padding = 4;
    plan.info.params.policy.products = 1000;
    plan.info.empty_rows = rows[0];
    plan.info.max_row = plan.stats.max_row = 30;
    plan.stats.changes = plan.a.m * 7 / 10;
    enum weft_spmv_algo chosen = WEFT_SPMV_ALGO_AUTO;
    const int ok = !weft__spmv_choose(&plan, NULL, &chosen);
    plan.info.params.policy.algo = WEFT_SPMV_ALGO_SELL;
    const double nnz = (double)plan.a.nnz, items = 900;
    const struct weft__spmv_load sorted = {.elements = nnz, .longest = nnz / items, .items = items},
                                 windows = {.elements = 3.5 * nnz, .longest = 3.5 * nnz / items, .items = items};
    tap_ok(ok && chosen == WEFT_SPMV_ALGO_SELL && plan.least > 0 && plan.bound > 3.5,
           "CPU: sliced ELL saves more than a hybrid, which saves %.0f us: %s", plan.least,
           weft_spmv_algo_name(chosen));
    tap_ok(weft__spmv_bound_holds(&plan, &sorted), "CPU: it is kept where windows need no more elements");
    tap_ok(!weft__spmv_bound_holds(&plan, &windows), "CPU: it is left where they need three and a half times as many");
    plan.least = 0;
    tap_ok(weft__spmv_bound_holds(&plan, &windows), "CPU: it is kept where there is no other");
    const struct weft__spmv_load most = {.elements = 4.1 * nnz, .longest = 4.1 * nnz / items, .items = items};
    tap_ok(!weft__spmv_bound_holds(&plan, &most), "CPU: it is left where it needs more elements than are allowed");
}

// What a CPU takes for 1000 products with m long rows alike.
static enum weft_spmv_algo long_rows_choose(struct weft_context *ctx, enum weft_type type, int64_t m, int64_t n,
                                            int64_t row, int64_t far, int64_t apart)
{
    struct weft_spmv_plan plan = {.ctx = ctx,
                                  .type = type,
                                  .acc = type,
                                  .x_size = n,
                                  .y_size = m,
                                  .denied = 1u << WEFT_SPMV_ALGO_SDIA,
                                  .a = {.m = m, .n = n, .nnz = m * row, .type = type}};
    plan.info.schedule = ctx->schedule;
    plan.info.params.format.max_padding = 4;
    plan.info.params.policy.products = 1000;
    plan.stats.hist[WEFT__SPMV_BINS - 1] = (cl_uint)m;
    plan.info.max_row = plan.stats.max_row = row + 300;
    plan.stats.changes = m - 1;
    plan.stats.far = plan.stats.lone = far;
    plan.stats.apart = apart;
    enum weft_spmv_algo chosen = WEFT_SPMV_ALGO_AUTO;
    return weft__spmv_choose(&plan, NULL, &chosen) ? WEFT_SPMV_ALGO_AUTO : chosen;
}

// Fifty long rows of f64: where each entry is on another line of x, sliced ELL reads a line once for eight rows; in a band CSR does as well.
static void test_cpu_apart(void)
{
    struct weft_context ctx = {.device = {.compute_units = 2, .cache_bytes = 1 << 25, .type = CL_DEVICE_TYPE_CPU},
                               .schedule = WEFT_SCHEDULE_CPU};
    static const int far[] = {0, 896, 1500}; // with 1500 x is far, with 896 it counts as near
    for (int i = 0; i < 9; i++) {            // the last three on 16 cores, which have too few rows
        const bool apart = far[i % 3] > 0 && i < 6;
        ctx.vector = i < 3 ? 8 : 16;
        ctx.device.compute_units = i < 6 ? 2 : 16;
        const enum weft_spmv_algo chosen =
            long_rows_choose(&ctx, WEFT_TYPE_F64, 50, 300000, 20000, far[i % 3], far[i % 3]);
        // Cut rows would take a second launch, which two cores that share out whole rows do without.
        const enum weft_spmv_algo csr = i < 6 ? WEFT_SPMV_ALGO_CSR_LANES : WEFT_SPMV_ALGO_CSR_MERGE;
        tap_ok(chosen == (apart ? WEFT_SPMV_ALGO_SELL : csr),
               "CPU, %d units, vectors of %d, 50 rows of 20 000, %d far: %s", ctx.device.compute_units, ctx.vector,
               far[i % 3], weft_spmv_algo_name(chosen));
    }
}

// Thirty long rows without AVX-512: CSR reads x as a stream where a row has every second column, and sliced ELL is taken where it has every tenth.
static void test_cpu_close(void)
{
    struct weft_context ctx = {.device = {.compute_units = 2, .cache_bytes = 1 << 25, .type = CL_DEVICE_TYPE_CPU},
                               .schedule = WEFT_SCHEDULE_CPU,
                               .vector = 8};
    for (int close = 0; close < 2; close++) {
        const int row = close ? 50000 : 10000;
        const enum weft_spmv_algo chosen = long_rows_choose(&ctx, WEFT_TYPE_F32, 30, 100000, row, 0, 0);
        tap_ok(chosen == (close ? WEFT_SPMV_ALGO_CSR_LANES : WEFT_SPMV_ALGO_SELL),
               "CPU, 30 rows of %d, 100 000 columns: %s", row, weft_spmv_algo_name(chosen));
    }
}

// Of few rows the first alone is looked at, which begins near the diagonal: x is far nevertheless.
static void test_cpu_first(void)
{
    struct weft_context ctx = {.device = {.compute_units = 2, .cache_bytes = 1 << 25, .type = CL_DEVICE_TYPE_CPU},
                               .schedule = WEFT_SCHEDULE_CPU,
                               .vector = 16};
    const enum weft_spmv_algo chosen = long_rows_choose(&ctx, WEFT_TYPE_F32, 32, 1000000, 100000, 1000, 0);
    tap_ok(chosen == WEFT_SPMV_ALGO_CSR_LANES, "CPU, 32 rows of 100 000, the first near the diagonal: %s",
           weft_spmv_algo_name(chosen));
}

// Lanes with values of eight bytes: rows alike, and one among them of 9000 entries; what was best of five on an H200 (docs/log/lanes.md).
static void test_wide_lanes(void)
{
    static const struct {
        int row, far, longest, want;
    } cases[] = {{7, 0, 7, 2},      {15, 0, 15, 4},  {26, 0, 26, 8},  {61, 0, 61, 16},
                 {100, 0, 100, 32}, {25, 1, 25, 16}, {7, 0, 9000, 2}, {800, 1, 800, 32}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int64_t m = 500000, row = cases[i].row, far = cases[i].far * 1024 * ((m + 31) / 32);
        struct weft_context ctx = h200;
        struct weft_spmv_plan plan = {.ctx = &ctx,
                                      .x_size = m,
                                      .type = WEFT_TYPE_F64,
                                      .a = {.m = m, .n = m, .nnz = m * row, .type = WEFT_TYPE_F64},
                                      .stats = {.far = far, .lone = far, .apart = far}};
        for (int log = 0; log < 6; log++)
            plan.stats.steps[log] = (m << log) / 32 * (((row - 1) >> log) + 1) + ((cases[i].longest - row) >> log);
        tap_ok(weft__spmv_lanes(&plan) == cases[i].want, "rows of %d, the longest %d, x %s: %d lanes in f64",
               cases[i].row, cases[i].longest, far ? "far" : "near", weft__spmv_lanes(&plan));
    }
}

int main(void)
{
    test_wide_lanes();
    test_flags_cost();
    test_gathered_cost();
    test_busy_cost();
    test_short_cost();
    test_second_cost();
    test_grid_near();
    test_scalar_near();
    test_memory_cost();
    test_kept_cost();
    test_empty_cost();
    test_cpu_cost();
    test_cpu_least();
    test_cpu_apart();
    test_cpu_close();
    test_cpu_first();
    return tap_done();
}
