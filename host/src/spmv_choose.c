// SPDX-License-Identifier: Apache-2.0
#include "spmv_formats.h"

#include <stdio.h>

static double mean_row(const struct weft_spmv_plan *plan)
{
    return plan->a.m ? (double)plan->a.nnz / (double)plan->a.m : 0;
}

// Rows of this mean length and more are long.
#define LONG_ROW 48
// Tiles may share a row of this length and more.
#define SHARED_ROW 64

// Lanes so that one read of four entries each holds a row of mean length. Long rows take two: rows that run side by side
// are then at like columns, if columns ascend, and x comes from the first cache. On an H200 a product of 10 M entries at
// random, 100 to a row, took 0.053 ms with 2 lanes and 0.084 with 32 (docs/performance.md).
int weft__spmv_lanes(const struct weft_spmv_plan *plan)
{
    const double mean = mean_row(plan);
    int lanes = 2;
    if (mean < LONG_ROW)
        while (lanes < 16 && lanes * 4 < mean)
            lanes *= 2;
    // No less work-items than the device runs at a time.
    while (lanes < 32 && (double)plan->a.m * lanes < 1024.0 * plan->ctx->device.compute_units)
        lanes *= 2;
    return lanes;
}

// What the two CSR schedules of a GPU cost, in entries (an H200 takes about 100000 in a microsecond).
//   lanes  steps of 32 lanes side by side, idle ones too; or the time in which one long row runs alone.
//   tiles  rows and entries, more for a tile than for a step; and what it takes to join a row where one may be cut, more
//          by a second kernel than inside a launch.
// The numbers were fitted to times on an H200. The plans that auto chose there took at most 1.2 times the best of all
// algorithms on 109 of 112 real matrices in f32 and on 106 in f64, at most 1.72 times on the others
// (docs/performance.md).
static double lanes_cost(const struct weft_spmv_plan *plan, int lanes)
{
    int log = 0;
    while (1 << log < lanes)
        log++;
    const double idle = 32.0 * (double)plan->stats.steps[log] / (mean_row(plan) >= 16 ? 2 : 1.4);
    const double alone = (double)plan->stats.max_row / lanes * 15000;
    return idle > alone ? idle : alone;
}
static double tiles_cost(const struct weft_spmv_plan *plan)
{
    const double cut = plan->stats.max_row < SHARED_ROW ? 0 : weft__caps_of(plan->ctx).fence ? 3e5 : 1e6;
    return (double)plan->a.nnz + (double)plan->a.m + 3e5 + cut;
}

// Tiles by bits that say where rows begin, or of rows plus entries. On an H200 the former took 0.76 to 0.93 times as long in f32
// where tiles share rows (boyd1, cnr-2000, a power law), the latter 0.87 to 0.99 times where they share none (uniform 500k,
// wave; docs/performance.md), and on a power law of 100 M entries, 0.676 ms for 0.705.
#define FLAGS_MOST (1 << 25) // entries
// With other semirings a row of products that are all NaN is NaN by csr_flags, zero by all others (fmin, fmax).
static enum weft_spmv_algo tiles_algo(const struct weft_spmv_plan *plan)
{
    const int flags = weft__caps_of(plan->ctx).lanes == WEFT_LANES_PTX && plan->stats.max_row >= SHARED_ROW &&
                      plan->a.nnz <= FLAGS_MOST && plan->info.params.semiring == WEFT_PLUS_TIMES;
    return flags ? WEFT_SPMV_CSR_FLAGS : WEFT_SPMV_CSR_MERGE;
}

// Elements of sliced ELL for each entry when all rows are sorted by length: what windows of sorted rows come close to.
// Lengths beyond the histogram count as the longest.
static double sorted_padding(const struct weft_spmv_plan *plan, int64_t height)
{
    double elements = 0;
    int64_t taken = 0; // rows, from the longest on
    for (int64_t k = WEFT__SPMV_BINS - 1; k > 0; k--) {
        const int64_t rows = plan->stats.hist[k],
                      slices = (taken + rows + height - 1) / height - (taken + height - 1) / height;
        elements += (double)(slices * height) * (double)(k == WEFT__SPMV_BINS - 1 ? plan->stats.max_row : k);
        taken += rows;
    }
    return plan->a.nnz ? elements / (double)plan->a.nnz : 0;
}

// Products from which a conversion to sliced ELL pays, and elements of it for each entry up to which its products are
// expected to be faster: on a GPU where rows are this long on average, or the longest is little more than that, as on
// grids (band:20000000,5 on an H200: 0.263 ms for 0.334 of CSR, while rows of 12.5 at random took 0.872 for 0.844), and
// enough to fill it; a CPU gains from any. Columns in 16 bits: on a CPU always; on an H200 with values of 8 bytes
// (stencil27:120 0.128 ms for 0.149, uniform:100000,100000,10000000 0.055 for 0.064), while with 4 bytes products of 32
// bits already take as long as a copy and 16 take longer (band:20000000,5 0.289 for 0.265). The conversion took as long as
// 5 to 13 products by CSR on an H200 and as 8 to 100 on a CPU (docs/performance.md).
#define SELL_PRODUCTS 128
#define SELL_PADDING  1.25
#define SELL_ROW      24
#define SELL_ALIKE    1.1 // longest row for the mean one
#define SELL_ROWS     512 // for each compute unit

// Sliced DIA has hardly any bytes of columns, and is worth as much padding as sliced ELL (stencil27:120 on an H200: 0.067 ms
// for 0.094 of it, band:20000000,5 0.228 for 0.263). Where rows are long enough by themselves, a sample of the slices tells.
static weft_status sdia_choose(struct weft_spmv_plan *plan, cl_command_queue queue, int *chosen)
{
    struct weft_spmv_info *info = &plan->info;
    const double limit = info->params.max_padding < SELL_PADDING ? info->params.max_padding : SELL_PADDING;
    double padding = 0;
    *chosen = 0;
    if (32.0 * (double)plan->stats.steps[0] > limit * (double)plan->a.nnz + 32.0 * (double)plan->stats.max_row)
        return WEFT_OK; // rows that stand together differ in length
    weft_status status = weft__spmv_sdia_sample(plan, queue, &padding);
    if (status || padding > limit)
        return status;
    snprintf(
        info->why, sizeof info->why,
        "%lld products expected pay for a conversion, and the diagonals of rows side by side need %.2f elements for "
        "each entry",
        (long long)info->params.products, padding);
    *chosen = 1;
    return WEFT_OK;
}

weft_status weft__spmv_choose(struct weft_spmv_plan *plan, cl_command_queue queue, enum weft_spmv_algo *out)
{
    struct weft_spmv_info *info = &plan->info;
    const double mean = mean_row(plan);
    const int cpu = plan->ctx->schedule == WEFT_SCHEDULE_CPU;
    const double padding = sorted_padding(plan, cpu ? 8 : 32);
    const int alike = (double)plan->stats.max_row <= SELL_ALIKE * mean,
              fills = plan->a.m >= (int64_t)SELL_ROWS * plan->ctx->device.compute_units,
              gains = plan->a.nnz > 0 && (cpu || (fills && (alike || mean >= SELL_ROW)));
    const int converts = info->params.algo == WEFT_SPMV_AUTO && info->params.products >= SELL_PRODUCTS && gains;
    if (converts) {
        int chosen = 0;
        weft_status status = sdia_choose(plan, queue, &chosen);
        *out = WEFT_SPMV_SDIA;
        if (status || chosen)
            return status;
    }
    if (converts && padding <= SELL_PADDING && padding <= info->params.max_padding) {
        snprintf(info->why, sizeof info->why,
                 "%lld products expected pay for a conversion, and slices of sorted rows need %.2f elements for each "
                 "entry",
                 (long long)info->params.products, padding);
        *out = cpu || weft_type_bytes(plan->a.type) == 8 ? WEFT_SPMV_SELL16 : WEFT_SPMV_SELL;
        return WEFT_OK;
    }
    if (cpu) {
        snprintf(info->why, sizeof info->why,
                 "CPU: a chunk of equal rows plus entries per work-item (mean %.1f, longest %lld)", mean,
                 (long long)info->max_row);
        *out = WEFT_SPMV_CSR_MERGE;
        return WEFT_OK;
    }
    const int lanes = weft__spmv_lanes(plan);
    const double with_lanes = lanes_cost(plan, lanes), with_tiles = tiles_cost(plan);
    snprintf(info->why, sizeof info->why,
             "rows of %.1f entries, longest %lld: %d lanes for each cost as %.3g entries, tiles of equal work as %.3g",
             mean, (long long)info->max_row, lanes, with_lanes, with_tiles);
    *out = with_lanes <= with_tiles ? WEFT_SPMV_CSR_LANES : tiles_algo(plan);
    return WEFT_OK;
}
