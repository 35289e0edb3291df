// SPDX-License-Identifier: Apache-2.0
// What schedules and conversions cost, told from the figures of a matrix.
#pragma once

#include "plan.h"

// Tiles may share a row of this length and more.
#define WEFT__SPMV_SHARED_ROW     64
#define WEFT__SPMV_CPU_SHARED_ROW 8192
// Microseconds of a step of one work-item in a sliced format; columns of 16 bits wait for their base as well.
#define WEFT__SPMV_STEP_US   0.4
#define WEFT__SPMV_STEP16_US 0.6

// Work-items of a GPU's unit that run at a time.
#define WEFT__SPMV_UNIT_RUNS 2048

// What the second cache keeps, at full speed: microseconds, 380 KiB for each unit.
#define WEFT__SPMV_KEPT_US 12.0

// Microseconds in which a GPU moves so many bytes at its full speed.
double weft__spmv_bytes_us(const struct weft_spmv_plan *plan, double bytes);
// Entries of a row.
double weft__spmv_mean_row(const struct weft_spmv_plan *plan);
// Are rows that are not empty so long on average that the lanes of csr_flags had better take entries side by side?
bool weft__spmv_rows_long(const struct weft_spmv_plan *plan);
// Do rows find what they read of x side by side, each by itself or on a GPU with those beside it, or in the first cache?
int weft__spmv_x_near(const struct weft_spmv_plan *plan);
// Does the first cache of a unit hold all of x? The share of entries that are not beside the one before, in the mean of rows.
bool weft__spmv_x_cached(const struct weft_spmv_plan *plan);
double weft__spmv_far_share(const struct weft_spmv_plan *plan);
// Do rows read x side by side, of a matrix that comes from memory for the most part?
bool weft__spmv_streams(const struct weft_spmv_plan *plan);
// Whether csr_scalar takes as long as sliced ELL or less: rows are short, x is near, and the caches hold the matrix.
bool weft__spmv_scalar_near(const struct weft_spmv_plan *plan);
// The share of far reads of x that find it in the first cache, by a schedule without tiles in local memory; 1 where x is near.
double weft__spmv_x_kept(const struct weft_spmv_plan *plan);
// Tiles of csr_flags: one turn of the lanes (SMALL), or many, so that a unit's first cache keeps what rows that stand together read of x:
// where entries lie beside the one before (NEAR), or a good part of them near the diagonal (LOCAL).
enum weft__spmv_flags_tiles { WEFT__SPMV_TILES_SMALL, WEFT__SPMV_TILES_NEAR, WEFT__SPMV_TILES_LOCAL };
enum weft__spmv_flags_tiles weft__spmv_flags_tiles(const struct weft_spmv_plan *plan);
// The share of entries that are not near the diagonal.
double weft__spmv_apart(const struct weft_spmv_plan *plan);
// Whether nearly all lie near it: the first cache then has what rows read of x, whatever the order of their entries.
bool weft__spmv_on_diagonal(const struct weft_spmv_plan *plan);
// The lanes per row that suit the distribution, and how many entries each of them reads at once, 4 or 1.
int weft__spmv_lanes(const struct weft_spmv_plan *plan);
int weft__spmv_lanes_step(const struct weft_spmv_plan *plan);
// Microseconds of a product by a CSR schedule of a GPU, to be compared with each other: reads of x from the second cache, which
// all have, do not count. INFINITY where a schedule is not to be taken.
double weft__spmv_lanes_cost(const struct weft_spmv_plan *plan, int lanes);
double weft__spmv_scalar_cost(const struct weft_spmv_plan *plan);
double weft__spmv_merge_cost(const struct weft_spmv_plan *plan);
double weft__spmv_flags_cost(const struct weft_spmv_plan *plan);
// Whether so many rows are empty, and nowhere many entries stand together, that csr_scalar takes less time by blocks of rows, and the
// products that are expected pay for what these need.
bool weft__spmv_scalar_gaps(const struct weft_spmv_plan *plan);
// Products that are expected of a plan, 0: not known. And microseconds that a plan of csr_scalar takes longer to make than one of csr_lanes.
double weft__spmv_runs(const struct weft_spmv_plan *plan);
double weft__spmv_scalar_make_us(const struct weft_spmv_plan *plan);
// Whether csr_flags takes less time when a launch before scales all of y than when its tiles share the empty rows. Never with f64_sums:
// y would be rounded twice.
bool weft__spmv_flags_scales(const struct weft_spmv_plan *plan);
// Microseconds that CSR takes beyond reads of x from the second cache, where that does not hold x: by csr_flags or csr_lanes, whichever takes
// less; and where work-groups share entries, as by csr_flags and csr_hubs.
double weft__spmv_csr_more_us(const struct weft_spmv_plan *plan);
double weft__spmv_shared_more_us(const struct weft_spmv_plan *plan);
// Elements of sliced ELL for each entry when all rows are sorted by length.
double weft__spmv_sorted_padding(const struct weft_spmv_plan *plan, int64_t height);
// Elements of panels where the entries of a row lie anywhere: they, and one for each part of a row without any.
double weft__spmv_panels_elements(const struct weft_spmv_plan *plan);
// Microseconds of a product by panels, and by CSR beside them: where x is far, with reads that take a sector of the second cache, but
// for the share `again` of what was read before (again.h); where x is near, by bytes alone, and 0 says that panels do not gain. Then
// whether they gain, and the products expected make up for the conversion.
double weft__spmv_panels_us(const struct weft_spmv_plan *plan);
double weft__spmv_panels_csr_us(const struct weft_spmv_plan *plan, double again);
bool weft__spmv_panels_repay(const struct weft_spmv_plan *plan, double again);
// Whether they still gain where the work-group that has most has so many entries, as a long part of a row makes it.
bool weft__spmv_panels_shared(const struct weft_spmv_plan *plan, double again, double fullest);
// The share of rows that have the columns of the row before, as a sample tells; microseconds that a product by csr_nodes takes less than by CSR
// on a GPU, where these rows hold so much of the entries, 0: it does not gain; and that its plan takes longer to make than one of csr_lanes.
double weft__spmv_nodes_alike(const struct weft_spmv_plan *plan);
// Lanes of a node, where there are so many; more of them where they would not fill the device.
int weft__spmv_nodes_lanes(const struct weft_spmv_plan *plan, double nodes);
double weft__spmv_nodes_saves_us(const struct weft_spmv_plan *plan, double alike);
double weft__spmv_nodes_make_us(const struct weft_spmv_plan *plan);
// Whether csr_hubs gains, and the products expected make up for its columns, where this share of the entries lies in hubs that the first
// cache does not keep by itself.
bool weft__spmv_hubs_repay(const struct weft_spmv_plan *plan, double share);
// Whether it is expected to be faster than panels, beside which `again` is known (weft__spmv_panels_csr_us); and whether the products
// expected take so long that a sample costs little, though panels may be taken then.
bool weft__spmv_hubs_lead(const struct weft_spmv_plan *plan, double share, double again);
bool weft__spmv_hubs_sampled(const struct weft_spmv_plan *plan);
// GPU: microseconds in which a product by CSR moves its bytes at the device's full speed, without its launch; in which a
// conversion to a sliced format ends; and the share of a product's bytes that sliced DIA saves, which stores no columns, with `padding`
// elements for each entry.
double weft__spmv_csr_us(const struct weft_spmv_plan *plan);
double weft__spmv_convert_us(const struct weft_spmv_plan *plan, bool narrow); // narrow: to columns in 16 bits
double weft__spmv_diagonals_save(const struct weft_spmv_plan *plan, double padding);
// Microseconds of a row of `longest` elements in a sliced format, and whether these are no more than CSR takes.
double weft__spmv_steps_us(double longest, double step_us);
int weft__spmv_steps_hidden(const struct weft_spmv_plan *plan, double longest, double step_us);
// What a sliced format has to do.
struct weft__spmv_load {
    double elements; // stored
    double longest;  // that a work-item walks one after the other: of a row (GPU), of a chunk (CPU)
    double items;    // work-items (CPU)
};
// Whether a conversion costs no more than auto supposed, or was not chosen by auto.
int weft__spmv_bound_holds(const struct weft_spmv_plan *plan, const struct weft__spmv_load *load);
// CPU: whether a product by a sliced format takes less time than CSR.
bool weft__spmv_cpu_gains(const struct weft_spmv_plan *plan, enum weft_spmv_algo algo,
                          const struct weft__spmv_load *load);
// CPU: microseconds that the products which are expected save beyond the conversion, by a sliced format, and by a hybrid, whose ELL
// part and rest the lengths of rows tell; 0 or less: they do not repay it.
double weft__spmv_cpu_saves(const struct weft_spmv_plan *plan, enum weft_spmv_algo algo,
                            const struct weft__spmv_load *load);
double weft__spmv_cpu_hyb_saves(const struct weft_spmv_plan *plan);
// CPU: whether the last cache holds the matrix.
bool weft__spmv_cpu_cached(const struct weft_spmv_plan *plan);
// CPU: whether sliced ELL had better have columns in 16 bits.
bool weft__spmv_cpu_narrow(const struct weft_spmv_plan *plan);
// CPU: whether CSR had better add up rows by blocks of eight entries.
bool weft__spmv_cpu_blocks(const struct weft_spmv_plan *plan);
// CPU: whether CSR had better walk entries than rows, since most rows are empty, and whether finding the row of each entry is repaid;
// it is where the number of products is not known.
bool weft__spmv_cpu_gaps(const struct weft_spmv_plan *plan);
// Whether no tile of CSR is to cut a row although some are long: a core waits no longer for the longest than for a second launch.
bool weft__spmv_cpu_whole(const struct weft_spmv_plan *plan);
