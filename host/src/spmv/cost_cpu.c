// SPDX-License-Identifier: Apache-2.0
// Tells what products and conversions cost on a CPU from the figures of a matrix; the numbers were fitted on a processor.
#include "cost.h"

#include <math.h>

// Nanoseconds of a core of an AMD EPYC with AVX-512, where x stays in the caches: of CSR for an entry, a row, and a row that is not
// as long as the one before, where the processor guesses wrongly where the row ends; of formats for an element and a row. The same of
// conversions. Fitted to 97 patterns in f32 and 44 in f64 (bench/lab/cpu_fit.py, docs/log/cpu-costs.md), but for an entry of CSR in
// f32: 0.33 there; an Intel Xeon took up to 1.5 times as long as by sliced ELL where all rows have one length.
struct cost {
    double element, row, change;
};
struct format {
    struct cost run, convert;
};
enum { NARROW, WIDE, WIDTHS };
static const struct cost csr[WIDTHS] = {{0.40, 0.45, 6.3}, {0.45, 0.45, 6.3}};
static const struct format sell[WIDTHS] = {{{0.33, 0.9, 0}, {2.0, 5.0, 0}}, {{0.55, 0.9, 0}, {3.0, 4.0, 0}}};
static const struct format sell16[WIDTHS] = {{{0.33, 0.9, 0}, {4.0, 6.0, 0}}, {{0.55, 0.9, 0}, {5.0, 4.5, 0}}};
static const struct format sdia[WIDTHS] = {{{0.14, 0.2, 0}, {4.0, 0.5, 0}}, {{0.20, 0.2, 0}, {5.0, 0.5, 0}}};
#define CONVERT_US 450.0 // buffers and launches
#define GAIN       0.93  // of the time of CSR, at most
#define LAUNCH_US  5.0   // which either takes as well
// Sliced ELL gained nothing where CSR takes less than this: five patterns took 0.84 to 0.97 times as long by CSR (docs/log/cpu-costs.md).
#define SELL_LEAST_US 12.0
#define JOIN_US       3.0 // a second launch, where tiles of csr_merge share rows
// Entries and rows of a unit from which the processor does not know from the product before where its rows end.
#define LEARNED 1.2e5
// Tiles of csr_merge: nanoseconds at least, and how many for each unit at most.
#define TILE       2500.0
#define UNIT_TILES 16

static int width_of(const struct weft_spmv_plan *plan)
{
    return weft_type_bytes(plan->a.type) == 8 ? WIDE : NARROW;
}

static const struct format *format_of(const struct weft_spmv_plan *plan, enum weft_spmv_algo algo)
{
    const int width = width_of(plan);
    return algo == WEFT_SPMV_ALGO_SDIA ? &sdia[width] : algo == WEFT_SPMV_ALGO_SELL16 ? &sell16[width] : &sell[width];
}

// Microseconds until the last of the units is done with items of `total` nanoseconds, the longest of them last.
static double span_us(const struct weft_spmv_plan *plan, double total, double longest, double items)
{
    const double units = plan->ctx->device.compute_units;
    return fmin(ceil(items / units) * longest, total / units + longest) * 1e-3;
}

static double csr_us(const struct weft_spmv_plan *plan)
{
    const struct cost *c = &csr[width_of(plan)];
    const double entries = (double)plan->a.nnz, rows = (double)plan->a.m, units = plan->ctx->device.compute_units;
    const double wrong = fmin(1, (entries + rows) / units / LEARNED) * (double)plan->stats.changes,
                 all = c->element * entries + c->row * rows + c->change * wrong,
                 tile = fmax(TILE, all / (UNIT_TILES * units));
    const double join = plan->stats.max_row >= WEFT__SPMV_SHARED_ROW ? JOIN_US : 0;
    return span_us(plan, all, tile, ceil(all / tile)) + join;
}

static double format_us(const struct weft_spmv_plan *plan, enum weft_spmv_algo algo, const struct weft__spmv_load *load)
{
    const struct cost *c = &format_of(plan, algo)->run;
    return span_us(plan, c->element * load->elements + c->row * (double)plan->a.m,
                   c->element * load->longest + c->row * (double)plan->a.m / load->items, load->items);
}

bool weft__spmv_cpu_gains(const struct weft_spmv_plan *plan, enum weft_spmv_algo algo,
                          const struct weft__spmv_load *load)
{
    const double csr_takes = csr_us(plan);
    return (algo == WEFT_SPMV_ALGO_SDIA || csr_takes >= SELL_LEAST_US) &&
           LAUNCH_US + format_us(plan, algo, load) <= GAIN * (LAUNCH_US + csr_takes);
}

bool weft__spmv_cpu_repays(const struct weft_spmv_plan *plan, enum weft_spmv_algo algo,
                           const struct weft__spmv_load *load)
{
    const struct cost *c = &format_of(plan, algo)->convert;
    const double convert = CONVERT_US + (c->element * load->elements + c->row * (double)plan->a.m) /
                                            plan->ctx->device.compute_units * 1e-3;
    return weft__spmv_cpu_gains(plan, algo, load) &&
           (double)plan->info.params.policy.products * (csr_us(plan) - format_us(plan, algo, load)) >= convert;
}
