// SPDX-License-Identifier: Apache-2.0
#include "spmv.h"

#include <stdio.h>

static double mean_row(const struct weft_spmv_plan *plan)
{
    return plan->a.m ? (double)plan->a.nnz / (double)plan->a.m : 0;
}

// Rows of this mean length and more are long.
#define LONG_ROW 48

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

// Work of the lanes schedule over work of one that balances: idle lanes count as work, and so does the time in which
// one long row runs alone.
static double lanes_imbalance(const struct weft_spmv_plan *plan, int lanes)
{
    int log = 0;
    while (1 << log < lanes)
        log++;
    double work = (double)plan->a.nnz + (double)plan->a.m;
    double idle = 32.0 * (double)plan->stats.steps[log];
    // A lane that takes one entry after another is about as long at it as the whole device with 20000 entries.
    double alone = (double)plan->stats.max_row / lanes * 20000.0;
    return (idle > alone ? idle : alone) / work;
}

// Products from which a conversion to sliced ELL pays, mean length of a row from which its products are faster than those
// of the lanes, and elements of it for each entry, before rows are sorted, up to which they are expected to be. On an
// H200 the conversion took as long as 5 to 13 products by CSR (docs/performance.md).
#define SELL_PRODUCTS 128
#define SELL_ROW      24
#define SELL_PADDING  1.5

enum weft_spmv_algo weft__spmv_choose(struct weft_spmv_plan *plan)
{
    struct weft_spmv_info *info = &plan->info;
    const double mean = mean_row(plan);
    if (plan->ctx->schedule == WEFT_SCHEDULE_CPU) {
        snprintf(info->why, sizeof info->why,
                 "CPU: a chunk of equal rows plus entries per work-item (mean %.1f, "
                 "longest %lld)",
                 mean, (long long)info->max_row);
        return WEFT_SPMV_CSR_MERGE;
    }
    const double padding = plan->a.nnz ? 32.0 * (double)plan->stats.steps[0] / (double)plan->a.nnz : 0;
    if (info->params.algo == WEFT_SPMV_AUTO && info->params.products >= SELL_PRODUCTS && mean >= SELL_ROW &&
        padding <= SELL_PADDING && padding <= info->params.max_padding) {
        snprintf(info->why, sizeof info->why,
                 "%lld products expected pay for a conversion, and slices of 32 rows need %.2f elements for each entry",
                 (long long)info->params.products, padding);
        return WEFT_SPMV_SELL;
    }
    const int lanes = weft__spmv_lanes(plan);
    const double imbalance = lanes_imbalance(plan, lanes);
    if (mean >= 16 && imbalance < 2) {
        snprintf(info->why, sizeof info->why, "rows of %.1f entries, longest %lld: %d lanes for each, %.2fx the work",
                 mean, (long long)info->max_row, lanes, imbalance);
        return WEFT_SPMV_CSR_LANES;
    }
    snprintf(info->why, sizeof info->why, "rows of %.1f entries, longest %lld: tiles of equal work", mean,
             (long long)info->max_row);
    return WEFT_SPMV_CSR_MERGE;
}
