// SPDX-License-Identifier: Apache-2.0
// Tells what products and conversions cost on a CPU from the figures of a matrix; the numbers were fitted on a processor.
#include "cost.h"
#include "hyb.h"

#include <math.h>

// Nanoseconds of a core of an AMD EPYC with AVX-512, where x stays in the caches: of CSR for an entry, a row, and a row that is not
// as long as the one before, where the processor guesses wrongly where the row ends; of formats for an element and a row. The same of
// conversions. Fitted to 97 patterns in f32 and 44 in f64 (bench/lab/cpu_fit.py, docs/log/cpu-costs.md), but for an entry of CSR in
// f32, 0.33 there, since an Intel Xeon took up to 1.5 times as long as by sliced ELL where all rows have one length, and for an element of
// sliced ELL, 0.33 and 0.55 there: later runs on the same kind of processor took 0.43 to 0.75 and 0.7 to 1.
struct cost {
    double element, row, change;
};
struct format {
    struct cost run, convert;
};
enum { NARROW, WIDE, WIDTHS };
static const struct cost csr[WIDTHS] = {{0.40, 0.45, 7.0}, {0.45, 0.45, 7.0}};
// From memory, where sliced ELL takes no longer than from the caches.
static const struct cost csr_far[WIDTHS] = {{0.50, 0.45, 7.0}, {0.45, 0.45, 7.0}};
// In blocks of eight, from the caches. From memory they take as long.
static const struct cost blocks[WIDTHS] = {{0.36, 0.45, 7.0}, {0.45, 0.45, 7.0}};
// Two sums of blocks of eight took 0.67 to 0.89 times as long as one sum or four with rows of 50 to 500 entries, from 16 on where the next row
// is mostly as long, since then the processor knows where loops end. They took 1.2 to 1.5 times as long where x is not in the second
// cache, and with integers, of which LLVM makes gathers (docs/log/cpu-costs.md).
#define BLOCKS_ALIKE 16
#define BLOCKS_ROW   48
#define BLOCKS_MOST  600
#define BLOCKS_X     (512 << 10) // bytes
// CSR that walks entries and not rows (spmv_csr_gaps_cpu). A row with entries takes as long whatever it holds; where they come
// one by one, the processor guesses wrongly twice at a row of several.
static const struct cost gaps[WIDTHS] = {{0.4, 0.12, 6.3}, {0.45, 0.18, 6.3}};
#define GAPS_TAKEN 1.6                                // a row with entries
static const struct cost gaps_make = {1.5, 1.0, 4.0}; // the rows of its entries
#define GAPS_GAIN 0.8                                 // of the time by rows, at most
static const struct format sell[WIDTHS] = {{{0.45, 0.9, 0}, {2.0, 5.0, 0}}, {{0.70, 0.9, 0}, {3.0, 4.0, 0}}};
static const struct format sell16[WIDTHS] = {{{0.45, 0.9, 0}, {4.0, 6.0, 0}}, {{0.70, 0.9, 0}, {5.0, 4.5, 0}}};
static const struct format sdia[WIDTHS] = {{{0.14, 0.2, 0}, {4.0, 0.5, 0}}, {{0.20, 0.2, 0}, {5.0, 0.5, 0}}};
// The rest of a hybrid, whose ELL part takes as long as sliced ELL: an entry, and a row that has some. Its conversion is of all
// entries and rows (docs/log/cpu-costs.md).
static const struct cost rest = {1.15, 4.4, 0}, hyb_convert[WIDTHS] = {{5.0, 9.0, 0}, {6.0, 9.0, 0}};
#define CONVERT_US 450.0 // buffers and launches
#define GAIN       0.93  // of the time of CSR, at most
#define LAUNCH_US  5.0   // which either takes as well
// Sliced ELL gained nothing where CSR takes less than this: five patterns took 0.84 to 0.97 times as long by CSR (docs/log/cpu-costs.md).
#define SELL_LEAST_US 12.0
#define JOIN_US       3.0 // a second launch, where tiles of csr_merge share rows
// Entries and rows of a unit from which the processor does not know from the product before where its rows end. With fewer it knows
// more than in proportion.
#define LEARNED     1.5e5
#define LEARNED_POW 1.5
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

bool weft__spmv_cpu_blocks(const struct weft_spmv_plan *plan)
{
    const double mean = weft__spmv_mean_row(plan);
    const int alike = 2 * plan->stats.changes <= plan->a.m;
    return plan->type != WEFT_TYPE_I32 && mean >= (alike ? BLOCKS_ALIKE : BLOCKS_ROW) && mean < BLOCKS_MOST &&
           (weft__spmv_x_near(plan) || plan->x_size * (int64_t)weft_type_bytes(plan->type) <= BLOCKS_X);
}

// Nanoseconds of a core for a product by CSR, where the processor guesses wrongly at `changes` rows once there are too many to learn.
static double csr_ns(const struct weft_spmv_plan *plan, const struct cost *c, double changes)
{
    const double entries = (double)plan->a.nnz, rows = (double)plan->a.m, units = plan->ctx->device.compute_units,
                 wrong = fmin(1, pow((entries + rows) / units / LEARNED, LEARNED_POW)) * changes;
    return c->element * entries + c->row * rows + c->change * wrong;
}

static double rows_ns(const struct weft_spmv_plan *plan)
{
    const double bytes = (double)plan->a.nnz * (4 + (double)weft_type_bytes(plan->a.type));
    const int cached = bytes <= (double)plan->ctx->device.cache_bytes;
    const struct cost *by = !cached ? csr_far : weft__spmv_cpu_blocks(plan) ? blocks : csr;
    return csr_ns(plan, &by[width_of(plan)], (double)plan->stats.changes);
}

static double gaps_ns(const struct weft_spmv_plan *plan)
{
    const double taken = (double)(plan->a.m - plan->info.empty_rows), several = taken - (double)plan->stats.hist[1];
    return csr_ns(plan, &gaps[width_of(plan)], fmin(taken, 2 * several)) + GAPS_TAKEN * taken;
}

bool weft__spmv_cpu_gaps(const struct weft_spmv_plan *plan)
{
    const double by_rows = rows_ns(plan), by_entries = gaps_ns(plan),
                 products = (double)plan->info.params.policy.products;
    if (!plan->a.nnz || plan->once || by_entries > GAPS_GAIN * by_rows)
        return false;
    return products <= 0 || products * (by_rows - by_entries) >= csr_ns(plan, &gaps_make, (double)plan->stats.changes);
}

static double csr_us(const struct weft_spmv_plan *plan)
{
    const double units = plan->ctx->device.compute_units,
                 all = weft__spmv_cpu_gaps(plan) ? gaps_ns(plan) : rows_ns(plan),
                 tile = fmax(TILE, all / (UNIT_TILES * units));
    const double join = plan->stats.max_row >= WEFT__SPMV_CPU_SHARED_ROW ? JOIN_US : 0;
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

bool weft__spmv_cpu_hyb_repays(const struct weft_spmv_plan *plan)
{
    const struct cost *ell = &sell[width_of(plan)].run, *convert = &hyb_convert[width_of(plan)];
    const int64_t columns = weft__spmv_hyb_width(plan);
    const double rows = (double)plan->a.m, units = plan->ctx->device.compute_units, csr_takes = csr_us(plan);
    double entries = (double)plan->a.nnz, longer = 0; // of the rest; of the last bin all are longer
    for (int64_t k = 0; k < WEFT__SPMV_BINS; k++) {
        entries -= (double)(k < columns ? k : columns) * (double)plan->stats.hist[k];
        longer += k > columns ? (double)plan->stats.hist[k] : 0;
    }
    const double ns = (ell->element * (double)columns + ell->row) * rows + rest.element * entries + rest.row * longer;
    const double us = ns / units * 1e-3 + 2 * JOIN_US; // three launches
    const double convert_us =
        CONVERT_US + (convert->element * (double)plan->a.nnz + convert->row * rows) / units * 1e-3;
    return LAUNCH_US + us <= GAIN * (LAUNCH_US + csr_takes) &&
           (double)plan->info.params.policy.products * (csr_takes - us) >= convert_us;
}
