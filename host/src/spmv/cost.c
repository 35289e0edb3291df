// SPDX-License-Identifier: Apache-2.0
// Tells what the CSR schedules of a GPU cost from the figures of a matrix; the numbers were fitted on devices.
#include "cost.h"

#include <math.h>

double weft__spmv_mean_row(const struct weft_spmv_plan *plan)
{
    return plan->a.m ? (double)plan->a.nnz / (double)plan->a.m : 0;
}

// On an H200 csr_flags took 0.70 to 0.97 times as long so with rows of 320 entries and more of x far apart
// (docs/log/long-rows.md); shorter rows begin in every second word of bits, which would all be scanned.
#define STRIPED_ROW 256

bool weft__spmv_rows_long(const struct weft_spmv_plan *plan)
{
    return plan->a.nnz / STRIPED_ROW >= plan->a.m - plan->info.empty_rows;
}

// Rows of this mean length and more are long.
#define LONG_ROW  48
#define LONG_KEPT 0.9
// Bytes of x that stay in the first cache of a unit. The share of entries that are not beside the one before: with less, reads of x run along
// rows, as on bands and blocks. On a GPU the share of those that are not beside the entry at their place in the row behind either: with less,
// rows side by side read x side by side, as on grids. They had 0 to 0.12 of those, linear programs and entries at random 0.34 and more
// (docs/log/finite-elements.md).
#define CACHED_BYTES (128 << 10)
#define FAR_MOST     0.5
#define LONE_MOST    0.25
// Entries from which the matrix comes from memory rather than from the caches.
#define FROM_MEMORY (1 << 22)
// Entries of the row before in the first read of a row, at most.
#define READ_BEFORE 3

// Rows of one entry have none beside another: of those sampled, as many have a share as have two entries. sum: of the shares of every
// 32nd row, of 1024.
static double share_of(const struct weft_spmv_plan *plan, int64_t sum)
{
    const double taken = (double)(plan->a.m - plan->info.empty_rows),
                 pairs = fmin(taken - (double)plan->stats.hist[1], (double)plan->a.nnz - taken);
    return sum > 0 ? fmin((double)sum / 1024 / ceil(fmax(pairs, 0) / 32), 1) : 0; // the sampled rows may have more
}

double weft__spmv_far_share(const struct weft_spmv_plan *plan)
{
    return share_of(plan, plan->stats.far);
}

static bool reads_along(const struct weft_spmv_plan *plan)
{
    return weft__spmv_far_share(plan) <= FAR_MOST;
}

static bool reads_beside(const struct weft_spmv_plan *plan)
{
    return reads_along(plan) || (!weft__spmv_is_cpu(plan) && share_of(plan, plan->stats.lone) <= LONE_MOST);
}

bool weft__spmv_x_cached(const struct weft_spmv_plan *plan)
{
    return (double)plan->x_size * (double)weft_type_bytes(plan->type) <= CACHED_BYTES;
}

int weft__spmv_x_near(const struct weft_spmv_plan *plan)
{
    return weft__spmv_x_cached(plan) || reads_beside(plan);
}

// Bytes of the first cache that are left for x, where its reads lie far apart: by csr_flags, csr_lanes with values of four and of eight
// bytes, and csr_merge, whose tiles lie in the same memory. Of an x of more bytes it keeps the square of their share (docs/log/csr-costs.md).
#define KEPT_FLAGS      (184 << 10)
#define KEPT_LANES      (144 << 10)
#define KEPT_LANES_WIDE (120 << 10)
#define KEPT_MERGE      (88 << 10)
#define KEPT_MERGE_WIDE (60 << 10)
static double kept(const struct weft_spmv_plan *plan, int bytes)
{
    const double share = bytes / fmax((double)plan->x_size * (double)weft_type_bytes(plan->type), 1);
    return share >= 1 || weft__spmv_x_near(plan) ? 1 : share * share;
}

double weft__spmv_x_kept(const struct weft_spmv_plan *plan)
{
    return kept(plan, KEPT_FLAGS);
}

static int is_wide(const struct weft_spmv_plan *plan)
{
    return weft_type_bytes(plan->a.type) == 8;
}

// Values of four bytes at most: lanes so that one read of four entries each holds a row of mean length, and where x is far what the first read
// holds of the row before; two reads where they come from memory and x is near. Long rows take 16 where they read x along, or it is kept
// (band:100k,101 on an H200: 0.026 ms, and 0.035 with 2), elsewhere two: rows that run side by side are then at like columns, if columns ascend, and
// x comes from the first cache (10 M entries at random, 100 to a row: 0.053 ms with 2 lanes and 0.084 with 32; docs/log/lanes.md).
static int narrow_lanes(const struct weft_spmv_plan *plan)
{
    const double mean = weft__spmv_mean_row(plan);
    const int near = weft__spmv_x_near(plan);
    const int step = near && plan->a.nnz >= FROM_MEMORY ? 8 : 4;
    const bool across = near && !weft__spmv_x_cached(plan) && !reads_along(plan); // rows read x side by side, not lanes
    int lanes = mean >= LONG_ROW && !across && weft__spmv_x_kept(plan) >= LONG_KEPT ? 16 : 2;
    if (mean < LONG_ROW)
        while (lanes < 16 && lanes * step < mean + (near ? 0 : READ_BEFORE))
            lanes *= 2;
    return lanes;
}

static int log2_of(int lanes)
{
    int log = 0;
    while (1 << log < lanes)
        log++;
    return log;
}

// Values of eight bytes are read one by one. Lanes so that rows side by side have no more such reads than a lane has in flight, a tenth more for a
// few that are longer; one read less where rows are long and x is far. Long rows among short ones get no more than they use (docs/log/lanes.md).
#define SINGLE_READS 4
#define SINGLE_LONG  16 // entries
#define SINGLE_MORE  1.1
static int wide_lanes(const struct weft_spmv_plan *plan)
{
    const double mean = weft__spmv_mean_row(plan);
    const int reads = mean >= SINGLE_LONG && !weft__spmv_x_near(plan) ? SINGLE_READS - 1 : SINGLE_READS;
    int lanes = 2;
    while (lanes < 32 && lanes < mean &&
           (double)plan->stats.steps[log2_of(lanes)] > SINGLE_MORE * reads * ceil((double)plan->a.m * lanes / 32))
        lanes *= 2;
    return lanes;
}

int weft__spmv_lanes(const struct weft_spmv_plan *plan)
{
    int lanes = is_wide(plan) ? wide_lanes(plan) : narrow_lanes(plan);
    // No less work-items than the device runs at a time.
    while (lanes < 32 && (double)plan->a.m * lanes < 1024.0 * plan->ctx->device.compute_units)
        lanes *= 2;
    return lanes;
}

int weft__spmv_lanes_step(const struct weft_spmv_plan *plan)
{
    return is_wide(plan) ? 1 : 4;
}

// Microseconds of a product by the CSR schedules of a GPU beside what reads of x from the second cache take, which all of them have in
// common; fitted to 130 generated patterns in f32 and f64 on an H200 (bench/lab/csr_fit.py, docs/log/csr-costs.md). Work is for its 132
// units; a launch, and one row or one tile alone, take as long on a device of any size. Rates are for a million rows or entries, and for
// a thousand groups of 32 lanes.
//
// Where the matrix comes from memory and x is near, a schedule takes so many times as long as its bytes at full speed, beyond what
// the second cache keeps. Lanes take longer where x is large or rows are very long, csr_flags where they are short
// (docs/log/csr-costs.md). On an H100 with an x of 6.9 MB lanes took twice as long as on an H200, and csr_flags takes 1.1 times as
// long as lanes there.
#define H200_UNITS   132
#define JOIN_US      2.0        // a launch behind another that keeps the device busy
#define LARGE_X      (48 << 10) // bytes for each unit
#define FLAGS_ROW    8          // entries
#define LANES_ROW    800        // entries
#define MEMORY_LANES 1.18
#define MEMORY_LONG  1.30 // lanes with long rows
#define MEMORY_FLAGS 1.24
#define MEMORY_SLOW  1.40 // lanes with a large x or very long rows, csr_flags with short ones, others in f64
#define MEMORY_WIDE  1.05 // lanes in f64, and with very long rows
#define MEMORY_WIDER 1.22
#define MEMORY_MERGE 1.63
static double shared_out(const struct weft_spmv_plan *plan, double h200_us)
{
    return h200_us * H200_UNITS / plan->ctx->device.compute_units;
}

#define UNIT_BYTES 32300.0 // of an H200, in a microsecond: 4270 GB/s by 132 units
double weft__spmv_bytes_us(const struct weft_spmv_plan *plan, double bytes)
{
    return bytes / (UNIT_BYTES * plan->ctx->device.compute_units);
}

static double most(double a, double b)
{
    return a > b ? a : b;
}

static double from_memory(const struct weft_spmv_plan *plan, double times)
{
    return weft__spmv_x_near(plan) ? times * (weft__spmv_csr_us(plan) - WEFT__SPMV_KEPT_US) : 0;
}

// Where x is near and much of the matrix comes from memory, csr_lanes and csr_merge take longer with rows among many empty ones: by a share of
// the bytes, the same for both, while csr_flags does not (docs/log/csr-costs.md). Of twice GAPS_KEPT_US of bytes the second cache keeps
// nothing.
#define GAPS         0.6
#define GAPS_ROWS    0.25 // of the rows, that are empty
#define GAPS_KEPT_US 8.0
static double gaps_us(const struct weft_spmv_plan *plan)
{
    const double us = weft__spmv_csr_us(plan);
    if (!weft__spmv_x_near(plan) || (double)plan->info.empty_rows < GAPS_ROWS * (double)plan->a.m)
        return 0;
    return GAPS * us * fmin(fmax(us / GAPS_KEPT_US - 1, 0), 1);
}

// Bytes of x that rows which run at a time, `lanes` each, are at together: two reads, and as far as entries at random lead or lag; INFINITY
// where not all rows run at a time.
static double together_bytes(const struct weft_spmv_plan *plan, int lanes)
{
    const double mean = weft__spmv_mean_row(plan), x = (double)plan->x_size * (double)weft_type_bytes(plan->type);
    if ((double)plan->a.m * lanes > (double)WEFT__SPMV_UNIT_RUNS * plan->ctx->device.compute_units)
        return INFINITY;
    return x * (4 * lanes / mean + 2 / sqrt(mean));
}

// Do few lanes of long rows find x that rows side by side have read? They do so with values of four bytes, where what they are at
// together is kept. On an H100 few lanes took 0.74 to 0.94 times as long as csr_flags then, else up to 1.8 times (docs/log/csr-costs.md).
#define FEW_LANES 4
static int rows_together(const struct weft_spmv_plan *plan, int lanes)
{
    return !is_wide(plan) && together_bytes(plan, lanes) <= KEPT_FLAGS;
}

// Microseconds beyond those of reads that the second cache holds, where x has more bytes: entries whose x comes from memory take so long,
// a million. That cache holds less of x than it has bytes, since the matrix comes through it, too. Rows that run together, if their columns
// ascend, read each line of x once (docs/log/long-rows.md). lanes: of a row; 0 where work-groups share entries.
#define SECOND_UNIT (272 << 10) // bytes of x for each unit, at least
#define SECOND_US   18.0
#define SECOND_LINE 128.0 // bytes
static double second_us(const struct weft_spmv_plan *plan, int lanes)
{
    const double x = (double)plan->x_size * (double)weft_type_bytes(plan->type), nnz = (double)plan->a.nnz,
                 holds =
                     most((double)SECOND_UNIT * plan->ctx->device.compute_units, (double)plan->ctx->device.cache_bytes);
    if (weft__spmv_x_near(plan) || x <= holds)
        return 0;
    const bool together = lanes && weft__spmv_mean_row(plan) >= LONG_ROW && together_bytes(plan, lanes) <= holds;
    const double missed = (1 - holds / x) * nnz;
    return shared_out(plan, SECOND_US * 1e-6 * (together ? fmin(missed, x / SECOND_LINE) : missed));
}

// Millions of reads of an x that the first cache keeps whole, where they lie apart; the fits below are of reads that run along x or leave
// that cache (docs/log/csr-costs.md).
static double gathers(const struct weft_spmv_plan *plan)
{
    return weft__spmv_x_cached(plan) ? weft__spmv_far_share(plan) * (double)plan->a.nnz * 1e-6 : 0;
}

// Microseconds of reads of an x that is not near, where entries lie apart but near the diagonal; `us` for a million. By lanes it is the more
// the longer rows are: the fewer of them run at a time, and share what they read.
#define AROUND_LANES     0.075 // for each entry of a row of mean length
#define AROUND_LANES_ROW 24    // entries, at most
#define AROUND_MERGE     2.0
#define AROUND_FLAGS     1.7
#define AROUND_WIDE      0.9 // in f64
static double around(const struct weft_spmv_plan *plan, double us)
{
    const bool is_there = !weft__spmv_x_near(plan) && weft__spmv_on_diagonal(plan);
    return is_there ? us * weft__spmv_far_share(plan) * (double)plan->a.nnz * 1e-6 : 0;
}

// Do values have at most four bytes, is x not near, and have rows an entry or more on average? Then csr_merge takes longer for them, and lanes less.
static bool far_narrow(const struct weft_spmv_plan *plan)
{
    return !is_wide(plan) && !weft__spmv_x_near(plan) && weft__spmv_mean_row(plan) >= 1;
}

// Lanes take a step for each entry of the longest of the rows side by side, and wait longer for x that the first cache does not keep.
// One long row runs alone.
#define GROUP      0.12  // a thousand groups of 32 lanes, beside their steps
#define GROUP_FAR  0.10  // where far_narrow(), and in f64 where reads near the diagonal count
#define GROUP_WIDE 0.085 // in f64, where rows have a step's entries
#define WAIT       0.011
#define WAIT_WIDE  0.015
#define WAIT_LONG  0.050
// Where x is near and so many rows are so long that the device is busy, each of them takes longer (docs/log/csr-costs.md).
#define BUSY_ENTRIES (FROM_MEMORY / 2)
#define BUSY         1.4
#define GATHER_LANES 1.5
#define GATHER_SMALL 0.5 // as GROUP_WIDE, and of an x of so many bytes
#define SMALL_X      (16 << 10)
double weft__spmv_lanes_cost(const struct weft_spmv_plan *plan, int lanes)
{
    const int wide = is_wide(plan), far = !weft__spmv_x_near(plan);
    const bool single = wide && weft__spmv_mean_row(plan) >= SINGLE_READS;
    const double groups = ceil((double)plan->a.m * lanes / 32) * 1e-3,
                 steps = (double)plan->stats.steps[log2_of(lanes)] * 1e-3;
    const double missed = 1 - kept(plan, wide ? KEPT_LANES_WIDE : KEPT_LANES);
    const int apart = far && lanes <= FEW_LANES && weft__spmv_mean_row(plan) >= LONG_ROW &&
                      !weft__spmv_on_diagonal(plan) && !rows_together(plan, lanes);
    const double step = (wide ? 0.0195 : 0.011) + (wide ? WAIT_WIDE : WAIT) * missed + (apart ? WAIT_LONG : 0);
    const int busy = !far && weft__spmv_mean_row(plan) >= LANES_ROW && plan->a.nnz >= BUSY_ENTRIES;
    const double alone = (double)plan->stats.max_row / lanes * (wide ? 0.125 : 0.068) * (busy ? BUSY : 1);
    const double x = (double)plan->x_size * (double)weft_type_bytes(plan->type), mean = weft__spmv_mean_row(plan),
                 gather = single || x <= SMALL_X ? GATHER_SMALL : GATHER_LANES,
                 diagonal = around(plan, AROUND_LANES * fmin(mean, AROUND_LANES_ROW)),
                 group = single && diagonal <= 0      ? GROUP_WIDE
                         : far_narrow(plan) || single ? GROUP_FAR
                                                      : GROUP;
    const bool very = mean >= LANES_ROW;
    const int slow = x > (double)LARGE_X * plan->ctx->device.compute_units || very;
    const double memory = wide               ? very ? MEMORY_WIDER : MEMORY_WIDE
                          : slow             ? MEMORY_SLOW
                          : mean >= LONG_ROW ? MEMORY_LONG
                                             : MEMORY_LANES;
    return 4.8 + second_us(plan, lanes) + gaps_us(plan) +
           most(from_memory(plan, memory),
                most(alone, shared_out(plan, group * groups + step * steps + gather * gathers(plan) + diagonal)));
}

bool weft__spmv_streams(const struct weft_spmv_plan *plan)
{
    return reads_beside(plan) && weft__spmv_csr_us(plan) > 2 * WEFT__SPMV_KEPT_US;
}

// Entries a row that has any, at most: longer ones lie in other lines of the first cache than those beside them. Where x is far a work-item waits
// for one read after the other. Rows for each unit, at least: with fewer all schedules take as long as a launch.
#define SCALAR_MEAN 6
#define SCALAR_FAR  1
#define SCALAR_ROWS 2048

static bool scalar_short(const struct weft_spmv_plan *plan)
{
    return (double)plan->a.nnz <= SCALAR_MEAN * (double)(plan->a.m - plan->info.empty_rows);
}

bool weft__spmv_scalar_near(const struct weft_spmv_plan *plan)
{
    return weft__spmv_x_near(plan) && scalar_short(plan) && weft__spmv_csr_us(plan) <= WEFT__SPMV_KEPT_US;
}

// Beyond so many microseconds of bytes the second cache keeps the less of the matrix the more it has, and of twice as many nothing.
#define SCALAR_KEPT_US 10.0
#define MEMORY_SCALAR  1.18
static double scalar_memory_us(const struct weft_spmv_plan *plan)
{
    const double us = weft__spmv_csr_us(plan);
    return weft__spmv_x_near(plan) ? MEMORY_SCALAR * us * fmin(fmax(us / SCALAR_KEPT_US - 1, 0), 1) : 0;
}

#define GATHER_SCALAR      0.9
#define GATHER_SCALAR_WIDE 1.9
static double scalar_rows_us(const struct weft_spmv_plan *plan)
{
    const int wide = is_wide(plan), far = !weft__spmv_x_near(plan);
    const double groups = ceil((double)plan->a.m / 32) * 1e-3, steps = (double)plan->stats.steps[0] * 1e-3;
    const double alone = (double)plan->stats.max_row * (wide ? 0.065 : 0.042);
    return 4.8 + second_us(plan, 1) +
           most(scalar_memory_us(plan),
                most(alone, shared_out(plan, (far ? 0.22 : 0.1) * groups + (wide ? 0.0295 : 0.02) * steps +
                                                 (wide ? GATHER_SCALAR_WIDE : GATHER_SCALAR) * gathers(plan))));
}

// Blocks of rows, whose y is written once.
static double scalar_blocks_us(const struct weft_spmv_plan *plan)
{
    const double rows = (double)plan->a.m * 1e-6, entries = (double)plan->a.nnz * 1e-6;
    const int wide = is_wide(plan);
    const double entry = weft__spmv_x_cached(plan) ? wide ? 5.5 : 3.8 : 8;
    return 4.8 + second_us(plan, 0) + shared_out(plan, (wide ? 2.45 : 1.45) * rows + entry * entries);
}

// Entries for each row up to which csr_scalar takes blocks of rows, and the most entries of 32 rows side by side, since the work-group of
// a full block runs alone; both are more where the first cache keeps x (docs/log/hypersparse.md). What they take to find the row of each
// entry: microseconds, and those of a row.
#define BLOCKS_MEAN           0.75
#define BLOCKS_MEAN_CACHED    1.25
#define BLOCKS_FULLEST        64
#define BLOCKS_FULLEST_CACHED 80
#define BLOCKS_MAKE_US        150
#define BLOCKS_ROW_US         14e-6
static double blocks_make_us(const struct weft_spmv_plan *plan)
{
    return BLOCKS_MAKE_US + shared_out(plan, BLOCKS_ROW_US * (double)plan->a.m);
}

double weft__spmv_runs(const struct weft_spmv_plan *plan)
{
    return plan->once ? 1 : (double)plan->info.params.policy.products;
}

double weft__spmv_scalar_make_us(const struct weft_spmv_plan *plan)
{
    return weft__spmv_scalar_gaps(plan) ? blocks_make_us(plan) : 0;
}

bool weft__spmv_scalar_gaps(const struct weft_spmv_plan *plan)
{
    const double runs = weft__spmv_runs(plan);
    const bool cached = weft__spmv_x_cached(plan);
    if ((double)plan->a.nnz > (cached ? BLOCKS_MEAN_CACHED : BLOCKS_MEAN) * (double)plan->a.m ||
        plan->stats.fullest > (cached ? BLOCKS_FULLEST_CACHED : BLOCKS_FULLEST))
        return false;
    return runs <= 0 || runs * (scalar_rows_us(plan) - scalar_blocks_us(plan)) >= blocks_make_us(plan);
}

double weft__spmv_scalar_cost(const struct weft_spmv_plan *plan)
{
    const int far = !weft__spmv_x_near(plan);
    if ((far ? weft__spmv_mean_row(plan) > SCALAR_FAR : !scalar_short(plan)) ||
        (double)plan->a.m < (double)SCALAR_ROWS * plan->ctx->device.compute_units)
        return INFINITY;
    return weft__spmv_scalar_gaps(plan) ? scalar_blocks_us(plan) : scalar_rows_us(plan);
}

// Tiles that share rows join them: inside the launch, or by a second one where a device has no fence. On NVIDIA's
// devices csr_merge reads from the second cache what csr_flags finds in the first.
#define MISS_US          6.0 // a million entries
#define GATHER_MERGE     1.0
#define GATHER_MERGE_ROW 3.0
double weft__spmv_merge_cost(const struct weft_spmv_plan *plan)
{
    const double rows = (double)plan->a.m * 1e-6, entries = (double)plan->a.nnz * 1e-6;
    const int shared = plan->stats.max_row >= WEFT__SPMV_SHARED_ROW;
    const double apart = weft__spmv_x_cached(plan) ? weft__spmv_far_share(plan) : 0;
    const bool near = weft__spmv_x_near(plan), narrow = far_narrow(plan);
    const double row = near     ? 1.1 + GATHER_MERGE_ROW * apart
                       : narrow ? 5.6
                                : 4.7,
                 empty = narrow ? 2.2 : 3.1,
                 entry = 1.5 + (shared ? 1.8 : 0) + (is_wide(plan) ? shared ? 1.9 : 1.1 : 0);
    const double join = shared && !weft__caps_of(plan->ctx).fence ? JOIN_US : 0;
    const double miss =
        weft__caps_of(plan->ctx).lanes == WEFT_LANES_PTX
            ? MISS_US * (weft__spmv_x_kept(plan) - kept(plan, is_wide(plan) ? KEPT_MERGE_WIDE : KEPT_MERGE))
            : 0;
    return 6.4 + join + second_us(plan, 0) + gaps_us(plan) +
           most(from_memory(plan, is_wide(plan) ? MEMORY_SLOW : MEMORY_MERGE),
                shared_out(plan, row * rows + empty * 1e-6 * (double)plan->info.empty_rows + (entry + miss) * entries +
                                     (shared ? 0 : GATHER_MERGE * gathers(plan)) + around(plan, AROUND_MERGE)));
}

double weft__spmv_apart(const struct weft_spmv_plan *plan)
{
    const int64_t samples = (plan->a.m - plan->info.empty_rows + 31) / 32;
    return (double)plan->stats.apart / (1024 * fmax((double)samples, 1));
}

// The share of entries more than 4096 columns from the diagonal, at most; the first entries of every 32nd row tell, and the first row of any
// matrix begins near it.
#define DIAGONAL      0.05
#define DIAGONAL_ROWS 640
bool weft__spmv_on_diagonal(const struct weft_spmv_plan *plan)
{
    return plan->a.m >= DIAGONAL_ROWS && weft__spmv_apart(plan) <= DIAGONAL;
}

// On an H200 large tiles took 0.79 to 1.01 times as long where entries lie beside the one before. Where most do not, but a good part is
// near the diagonal, as in web graphs, circuits and saddle points, they took 0.87 to 1.01 times: 0.19 to 0.64 of the entries are not
// near it. R-MAT and entries at random, 0.84 and more, lost (docs/log/large-tiles.md). All groups of lanes take the last turn, and with
// few turns it may be for little. A row longer than what a unit has would leave others without work. Sums of 8 bytes with empty rows
// take more registers than near tiles have; where entries are apart large tiles gain while these rows are few.
#define LOCAL_APART 0.7
#define LOCAL_EMPTY 0.25 // of the rows, with sums of 8 bytes
#define TURN_NEAR   8192 // entries for each unit
#define TURN        4096 // with sums of 8 bytes, or where x is far
#define TURNS       2
#define TURNS_WASTE 1.15 // turns taken by turns needed
enum weft__spmv_flags_tiles weft__spmv_flags_tiles(const struct weft_spmv_plan *plan)
{
    const bool near = reads_beside(plan), wide = weft__spmv_acc_bytes(plan) == 8;
    const double gaps = wide ? (double)plan->info.empty_rows : 0;
    const double units = plan->ctx->device.compute_units, entries = (double)plan->a.nnz / units,
                 turns = entries / (near && !wide ? TURN_NEAR : TURN);
    if (entries < TURNS * TURN_NEAR || ceil(turns) > TURNS_WASTE * turns ||
        gaps > (near ? 0 : LOCAL_EMPTY * (double)plan->a.m))
        return WEFT__SPMV_TILES_SMALL;
    if (near)
        return WEFT__SPMV_TILES_NEAR;
    return !weft__spmv_x_near(plan) && weft__spmv_apart(plan) <= LOCAL_APART && (double)plan->stats.max_row <= entries
               ? WEFT__SPMV_TILES_LOCAL
               : WEFT__SPMV_TILES_SMALL;
}

// Microseconds of an empty row by csr_flags: any, one where x is near and values have 8 bytes, and one of many where x is near.
#define EMPTY_US      7.3e-6
#define EMPTY_WIDE_US 13.3e-6
#define GAP_US        2.5e-6
#define GAP_WIDE_US   4.0e-6
// Groups, one for each tile of entries, share the empty rows: where tiles are few, each has many rows of y to write.
#define FLAGS_TILE 1024.0
static double flags_empty_us(const struct weft_spmv_plan *plan, double row_us)
{
    const double empty = (double)plan->info.empty_rows;
    return most(0.65e-3 * empty / ceil(most((double)plan->a.nnz, 1) / FLAGS_TILE), shared_out(plan, row_us * empty));
}

// A launch before that scales all of y takes as long as its bytes, and where a host is slow to launch it takes the least.
#define SCALE_LEAST 8.0
static double scale_us(const struct weft_spmv_plan *plan)
{
    return weft__spmv_bytes_us(plan, (double)plan->a.m * (double)weft_type_bytes(plan->type));
}

bool weft__spmv_flags_scales(const struct weft_spmv_plan *plan)
{
    return plan->acc == plan->type && flags_empty_us(plan, EMPTY_US) > SCALE_LEAST + scale_us(plan);
}

// With one entry in 16 rows and fewer each row with entries takes another sector of y, the longer the more bytes x and y have, up to twice
// the second cache (docs/log/hypersparse.md).
#define SCALE_US     3.6
#define SCALE_BYTES  1.35
#define SECTOR_ROWS  16
#define SECTOR_US    0.45e-12 // a row, for each byte of x and y
#define SECTOR_BYTES 100e6
// An empty row costs as much as another one where entries lie in as many rows as they would at random, and less where they gather in few,
// as in R-MAT (docs/log/csr-costs.md).
#define GATHERED 0.35
static double rows_as_taken(const struct weft_spmv_plan *plan)
{
    const double rows = (double)plan->a.m, taken = rows - (double)plan->info.empty_rows,
                 random = -expm1(-weft__spmv_mean_row(plan)) * rows, spread = random > 0 ? fmin(taken / random, 1) : 1;
    return taken + (GATHERED + (1 - GATHERED) * spread) * (rows - taken);
}

// Where x is near, a row with entries takes this among many empty rows; else it is in the time of the entries.
#define ROW_NEAR   4.5
#define FLAGS_GAPS 0.2 // of the rows, that are empty
static bool among_gaps(const struct weft_spmv_plan *plan)
{
    return weft__spmv_x_near(plan) && (double)plan->info.empty_rows >= FLAGS_GAPS * (double)plan->a.m;
}

static double flags_rows_us(const struct weft_spmv_plan *plan, double row)
{
    const double rows = (double)plan->a.m, taken = rows - (double)plan->info.empty_rows;
    const double bytes = (double)(plan->x_size + plan->y_size) * (double)weft_type_bytes(plan->type);
    if (plan->a.nnz <= plan->a.m / SECTOR_ROWS)
        return SECTOR_US * fmin(bytes, SECTOR_BYTES) * taken;
    const double near = among_gaps(plan) ? ROW_NEAR * taken : 0;
    return 1e-6 * (weft__spmv_x_near(plan) ? near : row * rows_as_taken(plan));
}

#define ROWS_APART 0.35 // of the entries: fewer, and rows read less of x that is far
// Microseconds of a million rows, where x is far, and of a million entries; times the bytes of a matrix from memory.
struct flags_rates {
    double row, entry, memory;
};
static struct flags_rates flags_rates(const struct weft_spmv_plan *plan)
{
    const int wide = is_wide(plan);
    switch (weft__spmv_flags_tiles(plan)) {
    case WEFT__SPMV_TILES_NEAR:
        return wide ? (struct flags_rates){7.6, 2.7, 1.15} : (struct flags_rates){7.6, 1.45, 1.20};
    case WEFT__SPMV_TILES_LOCAL: {
        const double far = fmin(weft__spmv_apart(plan) / ROWS_APART, 1);
        return wide ? (struct flags_rates){plan->info.empty_rows ? 7.6 : 5.6 * far, 2.7, 1.24}
                    : (struct flags_rates){4.7 * far, 1.45, 1.24};
    }
    default:
        return (struct flags_rates){7.6, wide ? 2.7 : 1.6,
                                    !wide && weft__spmv_mean_row(plan) < FLAGS_ROW ? MEMORY_SLOW : MEMORY_FLAGS};
    }
}

#define GATHER_FLAGS      1.7
#define GATHER_FLAGS_WIDE 2.4
double weft__spmv_flags_cost(const struct weft_spmv_plan *plan)
{
    const struct flags_rates rates = flags_rates(plan);
    const int scales = weft__spmv_flags_scales(plan), wide = is_wide(plan);
    const double empty_row = among_gaps(plan)                  ? wide ? GAP_WIDE_US : GAP_US
                             : wide && weft__spmv_x_near(plan) ? EMPTY_WIDE_US
                                                               : EMPTY_US;
    const double empty =
                     scales ? SCALE_US + SCALE_BYTES * scale_us(plan) : flags_empty_us(plan, fmin(empty_row, EMPTY_US)),
                 work = shared_out(plan, flags_rows_us(plan, rates.row) + rates.entry * (double)plan->a.nnz * 1e-6 +
                                             (wide ? GATHER_FLAGS_WIDE : GATHER_FLAGS) * gathers(plan) +
                                             around(plan, wide ? AROUND_WIDE : AROUND_FLAGS) +
                                             (scales ? 0 : empty_row * (double)plan->info.empty_rows));
    return 6.2 + second_us(plan, 0) + most(from_memory(plan, rates.memory), scales ? empty + work : most(empty, work));
}

double weft__spmv_shared_more_us(const struct weft_spmv_plan *plan)
{
    return second_us(plan, 0);
}

double weft__spmv_csr_more_us(const struct weft_spmv_plan *plan)
{
    const int lanes = weft__spmv_lanes(plan);
    const double shared = second_us(plan, 0), alone = second_us(plan, lanes),
                 more = weft__spmv_lanes_cost(plan, lanes) - alone - (weft__spmv_flags_cost(plan) - shared);
    return fmin(shared, alone + fmax(more, 0));
}
