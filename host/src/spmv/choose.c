// SPDX-License-Identifier: Apache-2.0
// Chooses an algorithm by what schedules and conversions cost.
#include "choose.h"
#include "columns.h"
#include "cost.h"
#include "ell.h"
#include "hyb.h"
#include "push.h"
#include "sdia.h"

#include <math.h>
#include <stdio.h>

// On an H200 a power law of 100 M entries took 0.676 ms by csr_merge and 0.705 by csr_flags; 64 rows of 625 000 entries took 0.77
// and 0.65 times as long by csr_flags (f32, f64), stencil27:200 0.68 times: long rows, and rows whose x is near or much of it kept, have
// no bound.
#define FLAGS_MOST (1 << 25) // entries
#define FLAGS_LONG 48
#define FLAGS_KEPT 0.25
// With other semirings a row of products that are all NaN may be NaN by csr_flags, and is zero by all others (fmin, fmax).
static int flags_may(const struct weft_spmv_plan *plan)
{
    return weft__caps_of(plan->ctx).lanes == WEFT_LANES_PTX &&
           (plan->a.nnz <= FLAGS_MOST || weft__spmv_rows_long(plan) || weft__spmv_mean_row(plan) >= FLAGS_LONG ||
            weft__spmv_x_kept(plan) >= FLAGS_KEPT) &&
           plan->info.params.problem.semiring == WEFT_SPMV_SEMIRING_PLUS_TIMES;
}

// Elements of sliced ELL for each entry up to which its products are expected to be faster: on a GPU where rows are this long on
// average, or the longest is little more than that, as on grids (band:20000000,5 on an H200: 0.263 ms for 0.334 of CSR, while rows of
// 12.5 at random took 0.872 for 0.844), and enough to fill it. Where x is near, or entries are near the diagonal, other rows will do, if the bytes
// take so long (docs/log/sliced-ell.md). A CPU weighs the elements (cost_cpu.c).
#define SELL_PADDING 1.25
#define SELL_ROW     24
#define SELL_ALIKE   1.1 // longest row for the mean one
#define SELL_ROWS    512 // for each compute unit
// Fewer are enough where x is far and has more bytes than the second cache: rows that run together then read each line of it once. On an H200
// uniform:42195,16146836,6725989 took 141 us by csr_lanes and 91 by sliced ELL in f64, 75 and 73 in f32; 20 000 rows gained nothing.
#define SELL_ROWS_BEYOND 256
// Microseconds of bytes where x is near, and where it is small, or nearly all entries are near the diagonal, so that columns mostly fit in
// 16 bits.
#define SELL_US     8.0
#define SELL_FIT_US 5.5
#define SELL_APART  8 // entries of a row of mean length, at most, where they may not fit
#define SELL_TAKEN  2 // entries of a row that has any, at least
#define SELL_SCALAR 4 // entries of a row of many lengths, from which on it is ahead of csr_scalar
// Rows for each unit where x is near, or entries are near the diagonal: csr_lanes then waits for little, and sliced ELL is ahead only with
// many rows: half as many as a unit has threads where the bytes take as long as above, else as many. Short rows then go by csr_scalar,
// which is as fast while the caches hold the matrix.
#define SELL_ROWS_NEAR 2048
#define SELL_ROWS_LONG 1024
// Fewer are enough where the caches do not hold the matrix, or its bytes take as long as above, if rows that stand together are alike as
// they come (finite elements with several unknowns a node; docs/log/finite-elements.md): with this many elements for each entry at most.
#define SELL_AS_THEY_COME 1.17

// As SELL_PADDING, of sliced DIA once it is counted: values alone, so that it has fewer bytes than CSR still.
#define SDIA_BOUND 1.5
// Where a GPU's caches do not hold the matrix it may have more elements, as long as it saves this share of the bytes of CSR: finite elements with
// several unknowns a node need 1.17 to 1.53 (docs/log/finite-elements.md). Its count may find so many more.
#define SDIA_SAVES    0.15
#define SDIA_MORE     0.1
#define SDIA_MOST_CPU 2.0 // elements for each entry on a CPU, which weighs them (cost_cpu.c)
// And so many elements where sliced ELL has columns in 16 bits: with values of 8 bytes it took 0.80 to 0.94 times as long as sliced DIA with
// 1.17 to 1.25.
#define SDIA_ALONE 1.1

// Shares of a product by CSR that sliced ELL is expected to save: where the longest row is little more than the mean one,
// elsewhere. On an H200 it saved 0.26 to 0.31 on bands, 0.11 to 0.13 on grids, which take sliced DIA, and 0.22 on rows of 30 at
// random.
#define SELL_SAVES_ALIKE 0.25
#define SELL_SAVES       0.15
static double sell_share(int alike)
{
    return alike ? SELL_SAVES_ALIKE : SELL_SAVES;
}

// Do a GPU's products take bytes from memory?
static bool beyond_caches(const struct weft_spmv_plan *plan)
{
    return !weft__spmv_is_cpu(plan) && weft__spmv_csr_us(plan) > WEFT__SPMV_KEPT_US;
}

// Microseconds that the products which are expected save beyond a conversion to `elements` for each entry, which on a GPU saves `share`
// of the time in which CSR moves its bytes. On a CPU 8 rows stand side by side, as long as the longest of them.
static double saves(const struct weft_spmv_plan *plan, enum weft_spmv_algo algo, double elements, double share)
{
    if (!weft__spmv_is_cpu(plan))
        return (double)plan->info.params.policy.products * share * weft__spmv_csr_us(plan) -
               weft__spmv_convert_us(plan, algo == WEFT_SPMV_ALGO_SELL16);
    const double all = elements * (double)plan->a.nnz, items = (double)weft__spmv_items(plan);
    const struct weft__spmv_load load = {
        .elements = all, .longest = fmax(all / items, 8.0 * (double)plan->stats.max_row), .items = items};
    return weft__spmv_cpu_saves(plan, algo, &load);
}

static int denied(const struct weft_spmv_plan *plan, enum weft_spmv_algo algo)
{
    return (plan->denied >> algo & 1u) != 0;
}

// Do columns in 16 bits make sliced ELL faster? On an H200, where they fit, it took 0.72 to 1.04 times as long in f32, 0.81 to 1.21 in f64;
// where they do not, the plan has those of 32.
static int sell_narrow(const struct weft_spmv_plan *plan)
{
    if (weft__spmv_is_cpu(plan))
        return weft__spmv_cpu_narrow(plan);
    return weft_type_bytes(plan->a.type) >= 4 &&
           weft__spmv_steps_hidden(plan, (double)plan->stats.max_row, WEFT__SPMV_STEP16_US);
}

static double sell_padding(const struct weft_spmv_plan *plan)
{
    return weft__spmv_sorted_padding(plan, weft__spmv_is_cpu(plan) ? 8 : 32);
}

static double sell_limit(const struct weft_spmv_plan *plan)
{
    const double asked = plan->info.params.format.max_padding;
    return weft__spmv_is_cpu(plan) || asked < SELL_PADDING ? asked : SELL_PADDING;
}

// csr_scalar has no lanes, and other values of ipt: who gives one of them means another algorithm.
static bool scalar_excluded(const struct weft_spmv_plan *plan)
{
    return plan->info.params.gpu.lanes || plan->info.params.gpu.ipt;
}

// Of a GPU: do rows side by side read x side by side, or around the diagonal?
static bool reads_near(const struct weft_spmv_plan *plan)
{
    return !weft__spmv_is_cpu(plan) && (weft__spmv_x_near(plan) || weft__spmv_on_diagonal(plan));
}

// And do its bytes take so long that rows of many lengths gain by sliced ELL? Blocks read x side by side anywhere, so that their columns fit
// in 16 bits by chance; there csr_lanes waits for long rows less.
static bool sell_long(const struct weft_spmv_plan *plan)
{
    const bool fit = weft__spmv_x_cached(plan) || weft__spmv_on_diagonal(plan);
    return reads_near(plan) && weft__spmv_csr_us(plan) >= (fit ? SELL_FIT_US : SELL_US) &&
           (fit || weft__spmv_mean_row(plan) <= SELL_APART) &&
           plan->a.nnz >= SELL_TAKEN * (plan->a.m - plan->info.empty_rows);
}

static bool rows_alike(const struct weft_spmv_plan *plan)
{
    return (double)plan->stats.max_row <= SELL_ALIKE * weft__spmv_mean_row(plan);
}

// Is csr_scalar as fast?
static bool scalar_instead(const struct weft_spmv_plan *plan)
{
    return !scalar_excluded(plan) && weft__spmv_scalar_near(plan) &&
           (rows_alike(plan) || weft__spmv_mean_row(plan) < SELL_SCALAR);
}

// Where x is near, or entries are near the diagonal: are rows enough for sliced ELL?
static bool sell_fills(const struct weft_spmv_plan *plan)
{
    const int rows = sell_long(plan) ? SELL_ROWS_LONG : SELL_ROWS_NEAR;
    return plan->a.m >= (int64_t)rows * plan->ctx->device.compute_units ||
           ((beyond_caches(plan) || sell_long(plan)) &&
            32.0 * (double)plan->stats.steps[0] <= SELL_AS_THEY_COME * (double)plan->a.nnz);
}

// Where rows of many lengths read x where those beside them have, CSR finds it in the first cache. Sliced ELL, which reads it anywhere at one step,
// took 1.24 times as long on near:127861,5554437,31793 on an H200 (docs/log/sliced-ell.md).
static bool lines_return(const struct weft_spmv_plan *plan)
{
    return plan->returns && !rows_alike(plan) && !reads_near(plan);
}

// As saves(), of sliced ELL, which saves `share`; 0: auto does not take it.
static double sell_saves(const struct weft_spmv_plan *plan, double share, enum weft_spmv_algo *out)
{
    const double padding = sell_padding(plan);
    // For want of memory: columns in 32 bits need less on their way.
    const int refused = denied(plan, WEFT_SPMV_ALGO_SELL16);
    *out = !refused && sell_narrow(plan) ? WEFT_SPMV_ALGO_SELL16 : WEFT_SPMV_ALGO_SELL;
    if (denied(plan, WEFT_SPMV_ALGO_SELL) || (refused && !plan->crowded) || padding > sell_limit(plan) ||
        lines_return(plan) || (reads_near(plan) && (!sell_fills(plan) || scalar_instead(plan))) ||
        !weft__spmv_steps_hidden(plan, (double)plan->stats.max_row, WEFT__SPMV_STEP_US))
        return 0;
    return saves(plan, *out, padding, share);
}

static int sell_choose(struct weft_spmv_plan *plan, double share, double least, enum weft_spmv_algo *out)
{
    struct weft_spmv_info *info = &plan->info;
    if (sell_saves(plan, share, out) <= least)
        return 0;
    snprintf(info->why, sizeof info->why,
             "%lld runs expected pay for a conversion, and slices of sorted rows need %.2f elements for each "
             "entry",
             (long long)info->params.policy.products, sell_padding(plan));
    plan->bound = sell_limit(plan);
    plan->least = least;
    return 1;
}

// Where a launch takes longer than the bytes of the matrix, sliced ELL in one buffer saves these microseconds of a product, on devices whose driver
// takes longer with more buffers: while the bytes take SMALL_US, and the steps of the longest row no longer than a launch, or than the bytes. On an H200 it took on grids and bands 0.69 to 0.99 times as long as csr_lanes, 0.65 to 1.01 times as long as sliced DIA (docs/log/small-launches.md).
#define SMALL_SAVES_US  0.5
#define SMALL_US        6.0
#define SMALL_LAUNCH_US 3.0
static bool small_choose(struct weft_spmv_plan *plan)
{
    struct weft_spmv_info *info = &plan->info;
    const double us = weft__spmv_csr_us(plan),
                 steps = weft__spmv_steps_us((double)plan->stats.max_row, WEFT__SPMV_STEP_US);
    if (!plan->a.nnz || weft__spmv_is_cpu(plan) || scalar_excluded(plan) ||
        weft__caps_of(plan->ctx).lanes != WEFT_LANES_PTX || us > SMALL_US || steps > fmax(SMALL_LAUNCH_US, us) ||
        !reads_near(plan) || denied(plan, WEFT_SPMV_ALGO_SELL) || sell_padding(plan) > sell_limit(plan) ||
        (double)info->params.policy.products * SMALL_SAVES_US <= weft__spmv_convert_us(plan, false))
        return false;
    snprintf(info->why, sizeof info->why,
             "%lld runs expected pay for a conversion to fewer buffers: a launch takes longer than the bytes",
             (long long)info->params.policy.products);
    plan->bound = sell_limit(plan);
    return true;
}

// Sliced DIA has hardly any bytes of columns, and is worth as much padding as sliced ELL (stencil27:120 on an H200:
// 0.067 ms for 0.094 of it, band:20000000,5 0.228 for 0.263).
static bool sdia_may(const struct weft_spmv_plan *plan, int alike, double padding)
{
    enum weft_spmv_algo sell;
    if (padding > plan->info.params.format.max_padding)
        return false;
    if (weft__spmv_is_cpu(plan)) // from memory no more bytes than by CSR
        return padding <= SDIA_MOST_CPU &&
               (weft__spmv_cpu_cached(plan) || weft__spmv_diagonals_save(plan, padding) >= 0);
    if (padding > SDIA_ALONE && weft_type_bytes(plan->a.type) == 8 && weft__spmv_x_near(plan) &&
        sell_saves(plan, sell_share(alike), &sell) > 0 && sell == WEFT_SPMV_ALGO_SELL16)
        return false;
    return padding <= SELL_PADDING || (beyond_caches(plan) && weft__spmv_diagonals_save(plan, padding) >= SDIA_SAVES);
}

// The share that sliced DIA saves. Beside another format, of a GPU, what its work-items take for the elements of a row, one step after the other, as
// well: with few rows these take longer than the bytes (fem:26,4 on an H200: 19.5 us, 13.1 by nodes).
static double sdia_share(const struct weft_spmv_plan *plan, double padding, double least)
{
    const double share = weft__spmv_diagonals_save(plan, padding),
                 steps = weft__spmv_steps_us(padding * (double)plan->stats.max_row, WEFT__SPMV_STEP_US);
    return weft__spmv_is_cpu(plan) || least <= 0 ? share : fmin(share, 1 - steps / weft__spmv_csr_us(plan));
}

// Where rows are long enough by themselves, a sample of the slices tells. `least`: microseconds that another format saves.
static weft_status sdia_choose(struct weft_spmv_plan *plan, cl_command_queue queue, int alike, double least,
                               int *chosen)
{
    struct weft_spmv_info *info = &plan->info;
    const double rows = 32.0 * ((double)plan->stats.steps[0] - (double)plan->stats.max_row) / (double)plan->a.nnz;
    double padding = 0;
    *chosen = 0;
    if (denied(plan, WEFT_SPMV_ALGO_SDIA) || saves(plan, WEFT_SPMV_ALGO_SDIA, 1, sdia_share(plan, 1, least)) <= least ||
        !weft__spmv_steps_hidden(plan, (double)plan->stats.max_row, WEFT__SPMV_STEP_US) || !sdia_may(plan, alike, rows))
        return WEFT_OK; // it does not pay, a row is too long, or rows that stand together differ in length
    weft_status status = weft__spmv_sdia_sample(plan, queue, &padding);
    if (status || !sdia_may(plan, alike, padding) ||
        saves(plan, WEFT_SPMV_ALGO_SDIA, padding, sdia_share(plan, padding, least)) <= least)
        return status;
    snprintf(info->why, sizeof info->why,
             "%lld runs expected pay for a conversion, and the diagonals of rows side by side need %.2f elements for "
             "each entry",
             (long long)info->params.policy.products, padding);
    plan->least = least;
    plan->bound = fmin(fmax(SDIA_BOUND, padding + SDIA_MORE), info->params.format.max_padding);
    *chosen = 1;
    return WEFT_OK;
}

// As saves(), of a hybrid, on a CPU: where rows are short, and a few are so long that sliced ELL would wait for them. Its parts round on
// their own what is summed up in f64, so that those who ask for that do not get it.
static double hyb_saves(const struct weft_spmv_plan *plan)
{
    const struct weft_spmv_params *p = &plan->info.params;
    if (!weft__spmv_is_cpu(plan) || denied(plan, WEFT_SPMV_ALGO_HYB) || p->problem.f64_sums || p->format.width ||
        !plan->a.nnz)
        return 0;
    return weft__spmv_cpu_hyb_saves(plan);
}

static int hyb_choose(struct weft_spmv_plan *plan)
{
    struct weft_spmv_info *info = &plan->info;
    if (hyb_saves(plan) <= 0)
        return 0;
    snprintf(
        info->why, sizeof info->why,
        "%lld runs expected pay for a conversion: the first %lld entries of a row side by side, the rest by themselves",
        (long long)info->params.policy.products, (long long)weft__spmv_hyb_width(plan));
    plan->bound = info->params.format.max_padding;
    return 1;
}

// Panels, whose elements and bytes are known once they are counted: where reads of x by CSR would each meet another line of the
// second cache, and where many entries of a row in each panel come from memory. Lanes in local memory would meet at barriers for every
// chunk of sums; the push form has none.
#define PANELS_BOUND 1.35
static int panels_may(const struct weft_spmv_plan *plan)
{
    return !weft__spmv_is_cpu(plan) && !denied(plan, WEFT_SPMV_ALGO_PANELS) && plan->a.nnz > 0 &&
           (weft__caps_of(plan->ctx).lanes != WEFT_LANES_LOCAL || weft__spmv_push_size(plan).buckets) &&
           weft__spmv_panels_repay(plan, 0);
}

// Would panels gain so little that sliced ELL, where it saves, is taken first? On an H200 band:144289,41 shuffled in f64 was expected to take 0.95 of the
// time of CSR by panels and took 1.00, by sliced ELL 0.76.
#define PANELS_CLOSE 0.9
static int panels_close(const struct weft_spmv_plan *plan)
{
    return panels_may(plan) && weft__spmv_panels_us(plan) > PANELS_CLOSE * weft__spmv_panels_csr_us(plan, 0);
}

static int panels_choose(struct weft_spmv_plan *plan)
{
    struct weft_spmv_info *info = &plan->info;
    if (!panels_may(plan))
        return 0;
    snprintf(
        info->why, sizeof info->why,
        "%lld runs expected pay for a conversion: with x in local memory, by %lld panels of columns, a run is expected "
        "to take %.3g us, by CSR %.3g",
        (long long)info->params.policy.products, (long long)weft__spmv_panels_count(plan), weft__spmv_panels_us(plan),
        weft__spmv_panels_csr_us(plan, 0));
    plan->bound = PANELS_BOUND < info->params.format.max_padding ? PANELS_BOUND : info->params.format.max_padding;
    return 1;
}

// Columns that hold many entries, of which a sample tells. Other sums have smaller work-groups (flags.c), which were not timed.
#define HUBS_SHARE 0.4 // of all entries, that lie in hubs and not in the first cache: more was not seen
static int hubs_choose(struct weft_spmv_plan *plan)
{
    struct weft_spmv_info *info = &plan->info;
    if (weft__spmv_is_cpu(plan) || denied(plan, WEFT_SPMV_ALGO_CSR_HUBS) || weft__spmv_x_near(plan) ||
        weft__caps_of(plan->ctx).lanes != WEFT_LANES_PTX ||
        info->params.problem.semiring != WEFT_SPMV_SEMIRING_PLUS_TIMES || plan->acc != plan->type ||
        !weft__spmv_hubs_repay(plan, HUBS_SHARE * (1 - weft__spmv_x_kept(plan))))
        return 0;
    snprintf(
        info->why, sizeof info->why,
        "%lld runs expected pay for columns of its own, and many entries lie in columns whose x local memory holds",
        (long long)info->params.policy.products);
    plan->bound = 1;
    return 1;
}

// Microseconds that a product by csr_nodes takes less than by CSR; 0: it is not taken. Who gives lanes, ipt or rows means another algorithm. Lanes
// in local memory, which meet at barriers for the sums of each row, were not timed; a CPU gained on some patterns and lost on others
// (docs/log/nodes.md).
static double nodes_us(const struct weft_spmv_plan *plan)
{
    if (weft__spmv_is_cpu(plan) || denied(plan, WEFT_SPMV_ALGO_CSR_NODES) || scalar_excluded(plan) ||
        plan->info.params.gpu.rows || weft__caps_of(plan->ctx).lanes == WEFT_LANES_LOCAL)
        return 0;
    return weft__spmv_nodes_saves_us(plan, weft__spmv_nodes_alike(plan));
}

// The share of rows with the columns of the row before from which on nodes come before panels.
#define NODES_ALIKE 0.4
// The share that sliced ELL saves of rows that have the columns of the row before: no more than of others, but for columns in 16 bits of rows that are
// no longer than this, from memory as far as a second cache helps, where x is not read all over. There it saved 0.36 to 0.53, elsewhere 0.44 at most.
#define NODES_SELL_SAVES 0.4
#define NODES_SELL_ROW   64
#define NODES_SELL_US    40.0
#define NODES_SELL_APART 0.5
static double nodes_sell_share(const struct weft_spmv_plan *plan)
{
    return weft_type_bytes(plan->a.type) == 8 && sell_narrow(plan) && weft__spmv_mean_row(plan) < NODES_SELL_ROW &&
                   beyond_caches(plan) && weft__spmv_csr_us(plan) <= NODES_SELL_US &&
                   weft__spmv_apart(plan) <= NODES_SELL_APART
               ? NODES_SELL_SAVES
               : SELL_SAVES;
}

// What the products which are expected save beyond the making of its plan; 0: nothing.
static double nodes_saves(const struct weft_spmv_plan *plan)
{
    const double saves = (double)plan->info.params.policy.products * nodes_us(plan);
    return saves > 0 ? fmax(0, saves - weft__spmv_nodes_make_us(plan)) : 0;
}

// Microseconds that the making of a plan takes longer than that of csr_lanes: between the medians of 109 patterns on an H100, 100 and 245,
// and of 91 on H200s, 144 and 364. Products share them, if it is known how many.
#define MERGE_MAKE_US 120
#define FLAGS_MAKE_US 300

// One of the CSR schedules.
static enum weft_spmv_algo csr_choose(struct weft_spmv_plan *plan)
{
    struct weft_spmv_info *info = &plan->info;
    const bool converts = plan->denied & ~(1U << WEFT_SPMV_ALGO_CSR_NODES);
    const char *instead = !converts       ? ""
                          : plan->crowded ? "; the device has no memory for a conversion"
                                          : "; converted it would take longer";
    if (weft__spmv_is_cpu(plan)) {
        const bool whole = weft__spmv_cpu_whole(plan);
        snprintf(info->why, sizeof info->why,
                 "CPU: a chunk of equal rows plus entries per work-item%s%s (mean %.1f, longest %lld)%s",
                 weft__spmv_cpu_gaps(plan) ? ", by entries since most rows are empty" : "", whole ? ", no row cut" : "",
                 weft__spmv_mean_row(plan), (long long)info->max_row, instead);
        return whole ? WEFT_SPMV_ALGO_CSR_LANES : WEFT_SPMV_ALGO_CSR_MERGE;
    }
    const int lanes = weft__spmv_lanes(plan);
    const bool given = scalar_excluded(plan);
    const double runs = weft__spmv_runs(plan), share = runs > 0 ? 1 / runs : 0;
    const struct {
        enum weft_spmv_algo algo;
        double us;
    } all[] = {
        {WEFT_SPMV_ALGO_CSR_LANES, weft__spmv_lanes_cost(plan, lanes)},
        {WEFT_SPMV_ALGO_CSR_SCALAR,
         given ? INFINITY : weft__spmv_scalar_cost(plan) + weft__spmv_scalar_make_us(plan) * share},
        {WEFT_SPMV_ALGO_CSR_MERGE, weft__spmv_merge_cost(plan) + MERGE_MAKE_US * share},
        {WEFT_SPMV_ALGO_CSR_FLAGS, flags_may(plan) ? weft__spmv_flags_cost(plan) + FLAGS_MAKE_US * share : INFINITY}};
    size_t best = 0, next = 2; // csr_merge has a cost at all times
    for (size_t i = 1; i < sizeof all / sizeof *all; i++)
        best = all[i].us < all[best].us ? i : best;
    const double nodes = nodes_us(plan) - weft__spmv_nodes_make_us(plan) * share;
    if (nodes > 0) {
        snprintf(
            info->why, sizeof info->why,
            "rows of %.1f entries, longest %lld, of which %.2f have the columns of the row before: beside reads of "
            "x csr_nodes is expected to take %.3g us, %s %.3g%s",
            weft__spmv_mean_row(plan), (long long)info->max_row, weft__spmv_nodes_alike(plan), all[best].us - nodes,
            weft_spmv_algo_name(all[best].algo), all[best].us, instead);
        plan->bound = 1;
        return WEFT_SPMV_ALGO_CSR_NODES;
    }
    next = best == next ? 0 : next;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        next = i != best && all[i].us < all[next].us ? i : next;
    snprintf(
        info->why, sizeof info->why,
        "rows of %.1f entries, longest %lld: beside reads of x %s is expected to take %.3g us, %s %.3g (%d lanes)%s%s",
        weft__spmv_mean_row(plan), (long long)info->max_row, weft_spmv_algo_name(all[best].algo), all[best].us,
        weft_spmv_algo_name(all[next].algo), all[next].us, lanes,
        share > 0 ? ", a share of what plans take to make included" : "", instead);
    return all[best].algo;
}

weft_status weft__spmv_choose(struct weft_spmv_plan *plan, cl_command_queue queue, enum weft_spmv_algo *out)
{
    const struct weft_spmv_params *p = &plan->info.params;
    const double mean = weft__spmv_mean_row(plan);
    const int rows = weft__spmv_shared_more_us(plan) > 0 ? SELL_ROWS_BEYOND : SELL_ROWS;
    const int alike = rows_alike(plan), fills = plan->a.m >= (int64_t)rows * plan->ctx->device.compute_units,
              gains = plan->a.nnz > 0 &&
                      (weft__spmv_is_cpu(plan) || (fills && (alike || mean >= SELL_ROW || sell_long(plan))));
    plan->bound = plan->least = 0;
    if (p->policy.algo == WEFT_SPMV_ALGO_AUTO) {
        // A CPU tells what each format takes, and the one that saves most is taken; on a GPU the first that saves.
        const bool cpu = weft__spmv_is_cpu(plan);
        const double hyb = fmax(0, hyb_saves(plan)),
                     sell = cpu && gains ? fmax(0, sell_saves(plan, sell_share(alike), out)) : 0,
                     nodes = nodes_saves(plan);
        int chosen = 0;
        *out = WEFT_SPMV_ALGO_SELL;
        if (small_choose(plan))
            return WEFT_OK;
        *out = WEFT_SPMV_ALGO_SDIA;
        weft_status status = gains ? sdia_choose(plan, queue, alike, fmax(nodes, fmax(hyb, sell)), &chosen) : WEFT_OK;
        if (status || chosen)
            return status;
        if (nodes > 0 && (weft__spmv_nodes_alike(plan) >= NODES_ALIKE || !panels_may(plan))) {
            if (!gains || !sell_choose(plan, nodes_sell_share(plan), nodes, out)) {
                plan->bound = 0;
                *out = csr_choose(plan);
            }
            return WEFT_OK;
        }
        // There sliced ELL with columns in 16 bits has as few bytes as panels, and no sums of parts
        // (uniform:300000,1000,9000000 in f64 on an H100: 0.033 and 0.036 ms).
        if (gains && reads_near(plan) && sell_choose(plan, sell_share(alike), 0, out) && *out == WEFT_SPMV_ALGO_SELL16)
            return WEFT_OK;
        plan->bound = 0;
        *out = WEFT_SPMV_ALGO_CSR_HUBS;
        if (panels_may(plan) && weft__spmv_hubs_sampled(plan) && hubs_choose(plan))
            return WEFT_OK; // which then compare themselves with panels
        if (gains && panels_close(plan) && sell_choose(plan, sell_share(alike), 0, out))
            return WEFT_OK;
        plan->bound = 0;
        *out = WEFT_SPMV_ALGO_PANELS;
        if (panels_choose(plan) || (gains && sell_choose(plan, sell_share(alike), hyb, out)))
            return WEFT_OK;
        *out = WEFT_SPMV_ALGO_HYB;
        if (hyb_choose(plan))
            return WEFT_OK;
        *out = WEFT_SPMV_ALGO_CSR_HUBS;
        if (hubs_choose(plan))
            return WEFT_OK;
    }
    plan->bound = 0;
    *out = csr_choose(plan);
    return WEFT_OK;
}
