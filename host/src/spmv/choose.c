// SPDX-License-Identifier: Apache-2.0
#include "host/src/spmv/formats.h"

#include <math.h>
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

// Cost in time that does not depend on the entries is told in entries: those that a device takes in that time. An H200
// of 132 units takes about 100000 in a microsecond.
static double fixed_cost(const struct weft_spmv_plan *plan, double h200)
{
    return h200 / 132 * plan->ctx->device.compute_units;
}

// What the two CSR schedules of a GPU cost, in entries.
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
    const double alone = (double)plan->stats.max_row / lanes * fixed_cost(plan, 15000);
    return idle > alone ? idle : alone;
}
static double tiles_cost(const struct weft_spmv_plan *plan)
{
    const double cut = plan->stats.max_row < SHARED_ROW ? 0 : weft__caps_of(plan->ctx).fence ? 3e5 : 1e6;
    return (double)plan->a.nnz + (double)plan->a.m + fixed_cost(plan, 3e5 + cut);
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

#define SDIA_BOUND                                                                                                     \
    1.5 // as SELL_PADDING, of sliced DIA once it is counted: values alone, so that it has fewer bytes than CSR still

// A row of a sliced format belongs to one work-item on a GPU, which takes STEP of its elements together, then waits for
// memory. All other rows may be done by then. So the steps of the longest one must fit into the time that CSR takes at
// least, when it moves its bytes at the full speed of the device. Numbers of an H200: 4270 GB/s by 132 units, 3 us for a
// launch. A web graph with a row of 3753 entries took sell 23 times as long as csr with f32 and 33 times with f64.
#define UNIT_BYTES 32300.0 // in a microsecond
#define LAUNCH_US  3.0
#define STEP       4
#define STEP_US    0.4
#define STEP16_US  0.6 // columns of 16 bits wait for their base as well
// A CPU has a chunk of rows for each work-item, and the other units wait for the heaviest. Tiles of csr_merge are alike.
#define CPU_SLACK 1.15
#define CPU_TILE  4096.0 // rows plus entries, at least
#define CPU_TILES 16     // for each unit, at most

static int is_cpu(const struct weft_spmv_plan *plan)
{
    return plan->ctx->schedule == WEFT_SCHEDULE_CPU;
}

static double csr_least_us(const struct weft_spmv_plan *plan)
{
    const double value = (double)weft_type_bytes(plan->a.type), vector = (double)weft_type_bytes(plan->type);
    const double bytes = (double)plan->a.nnz * (4 + value) + (double)plan->a.m * (double)weft_ofs_bytes(plan->a.ofs) +
                         (double)(plan->a.m + plan->a.n) * vector;
    return LAUNCH_US + bytes / (UNIT_BYTES * plan->ctx->device.compute_units);
}

static int steps_hidden(const struct weft_spmv_plan *plan, double longest, double step_us)
{
    return is_cpu(plan) || longest / STEP * step_us <= csr_least_us(plan);
}

// Elements that the last of the units has passed when all is done.
static double cpu_span(const struct weft_spmv_plan *plan, double total, double longest, double items)
{
    const double units = plan->ctx->device.compute_units;
    return fmin(ceil(items / units) * longest, total / units + longest);
}

static int cpu_holds(const struct weft_spmv_plan *plan, const struct weft__spmv_load *load)
{
    const double all = (double)plan->a.nnz + (double)plan->a.m, units = plan->ctx->device.compute_units;
    const double tile = fmax(CPU_TILE, all / (CPU_TILES * units));
    const double csr = cpu_span(plan, all, tile, ceil(all / tile)) * (4 + (double)weft_type_bytes(plan->a.type));
    return cpu_span(plan, load->elements, load->longest, load->items) * load->bytes <= CPU_SLACK * csr;
}

int weft__spmv_bound_holds(const struct weft_spmv_plan *plan, const struct weft__spmv_load *load)
{
    if (plan->bound <= 0)
        return 1;
    return load->elements <= plan->bound * (double)plan->a.nnz &&
           (is_cpu(plan) ? cpu_holds(plan, load) : steps_hidden(plan, load->longest, STEP_US));
}

static int denied(const struct weft_spmv_plan *plan, enum weft_spmv_algo algo)
{
    return (plan->denied >> algo & 1u) != 0;
}

// Sliced DIA has hardly any bytes of columns, and is worth as much padding as sliced ELL (stencil27:120 on an H200: 0.067 ms
// for 0.094 of it, band:20000000,5 0.228 for 0.263). Where rows are long enough by themselves, a sample of the slices tells.
static weft_status sdia_choose(struct weft_spmv_plan *plan, cl_command_queue queue, int *chosen)
{
    struct weft_spmv_info *info = &plan->info;
    const double limit = info->params.max_padding < SELL_PADDING ? info->params.max_padding : SELL_PADDING;
    double padding = 0;
    *chosen = 0;
    if (denied(plan, WEFT_SPMV_SDIA) || !steps_hidden(plan, (double)plan->stats.max_row, STEP_US) ||
        32.0 * (double)plan->stats.steps[0] > limit * (double)plan->a.nnz + 32.0 * (double)plan->stats.max_row)
        return WEFT_OK; // a row is too long, or rows that stand together differ in length
    weft_status status = weft__spmv_sdia_sample(plan, queue, &padding);
    if (status || padding > limit)
        return status;
    snprintf(
        info->why, sizeof info->why,
        "%lld products expected pay for a conversion, and the diagonals of rows side by side need %.2f elements for "
        "each entry",
        (long long)info->params.products, padding);
    plan->bound = SDIA_BOUND < info->params.max_padding ? SDIA_BOUND : info->params.max_padding;
    *chosen = 1;
    return WEFT_OK;
}

// Sliced ELL, with columns in 16 bits where those are faster and the longest row allows it.
static int sell_choose(struct weft_spmv_plan *plan, enum weft_spmv_algo *out)
{
    struct weft_spmv_info *info = &plan->info;
    const double limit = info->params.max_padding < SELL_PADDING ? info->params.max_padding : SELL_PADDING;
    const double padding = sorted_padding(plan, is_cpu(plan) ? 8 : 32), longest = (double)plan->stats.max_row;
    if (padding > limit || !steps_hidden(plan, longest, STEP_US))
        return 0;
    *out = (is_cpu(plan) || weft_type_bytes(plan->a.type) == 8) && steps_hidden(plan, longest, STEP16_US)
               ? WEFT_SPMV_SELL16
               : WEFT_SPMV_SELL;
    if (denied(plan, WEFT_SPMV_SELL) || denied(plan, WEFT_SPMV_SELL16))
        return 0;
    snprintf(info->why, sizeof info->why,
             "%lld products expected pay for a conversion, and slices of sorted rows need %.2f elements for each "
             "entry",
             (long long)info->params.products, padding);
    plan->bound = limit;
    return 1;
}

// One of the CSR schedules.
static enum weft_spmv_algo csr_choose(struct weft_spmv_plan *plan)
{
    struct weft_spmv_info *info = &plan->info;
    const char *instead = plan->denied ? "; converted it would take longer" : "";
    if (is_cpu(plan)) {
        snprintf(info->why, sizeof info->why,
                 "CPU: a chunk of equal rows plus entries per work-item (mean %.1f, longest %lld)%s", mean_row(plan),
                 (long long)info->max_row, instead);
        return WEFT_SPMV_CSR_MERGE;
    }
    const int lanes = weft__spmv_lanes(plan);
    const double with_lanes = lanes_cost(plan, lanes), with_tiles = tiles_cost(plan);
    snprintf(
        info->why, sizeof info->why,
        "rows of %.1f entries, longest %lld: %d lanes for each cost as %.3g entries, tiles of equal work as %.3g%s",
        mean_row(plan), (long long)info->max_row, lanes, with_lanes, with_tiles, instead);
    return with_lanes <= with_tiles ? WEFT_SPMV_CSR_LANES : tiles_algo(plan);
}

weft_status weft__spmv_choose(struct weft_spmv_plan *plan, cl_command_queue queue, enum weft_spmv_algo *out)
{
    const struct weft_spmv_params *p = &plan->info.params;
    const double mean = mean_row(plan);
    const int alike = (double)plan->stats.max_row <= SELL_ALIKE * mean,
              fills = plan->a.m >= (int64_t)SELL_ROWS * plan->ctx->device.compute_units,
              gains = plan->a.nnz > 0 && (is_cpu(plan) || (fills && (alike || mean >= SELL_ROW)));
    plan->bound = 0;
    if (p->algo == WEFT_SPMV_AUTO && p->products >= SELL_PRODUCTS && gains) {
        int chosen = 0;
        weft_status status = sdia_choose(plan, queue, &chosen);
        *out = WEFT_SPMV_SDIA;
        if (status || chosen || sell_choose(plan, out))
            return status;
    }
    *out = csr_choose(plan);
    return WEFT_OK;
}
