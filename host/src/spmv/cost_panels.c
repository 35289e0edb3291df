// SPDX-License-Identifier: Apache-2.0
// Tells what panels and hubs cost, and CSR beside them; the numbers were fitted on devices.
#include "columns.h"
#include "cost.h"
#include "push.h"

#include <math.h>

static int is_wide(const struct weft_spmv_plan *plan)
{
    return weft_type_bytes(plan->a.type) == 8;
}

// On an H200 panels took 1.3 to 1.5 times as long as their bytes at full speed, and no less than the host takes for two launches
// (docs/log/panels.md). Entries that lie anywhere leave empty so many parts; each has an entry that counts for nothing. Nothing else is on its
// way while x comes to local memory, so that it counts more.
#define PANELS_US    5.5
#define PANELS_LEAST 14.5
#define PANELS_BYTES 1.45
#define PANELS_X     1.2
#define PANELS_GAIN  0.95 // of the time of CSR, at most
// Bytes for each entry at the speed of memory that CSR takes as long as: so many, and more for reads of x that the first cache does not
// keep, unless they are of what was read before.
#define FAR_US         4.8
#define FAR_BYTES      12.0
#define FAR_BYTES_MORE 20.5
#define FAR_BYTES_WIDE 20.0
#define FAR_MORE_WIDE  14.5

// The push form: entries, products and their places go through memory once, but for what the second cache keeps, and each work-group reads
// its panels of x. A run is filled up by one and a half entries on average, and its ends cost as much as some more. Products of 8 bytes
// take twice as long. Each slab but the first is two launches more. One work-item sums up a row, while its bucket waits; on an H200 four
// buckets to a unit do so at a time (docs/log/panels.md).
#define PUSH_US         3.0
#define PUSH_SLAB_US    8.0
#define PUSH_BYTES      1.3
#define PUSH_BYTES_WIDE 2.0
#define PUSH_RUN        5.0
#define PUSH_ALONE_US   0.0065 // an entry of the longest row
#define PUSH_BUCKETS    4
static double push_us(const struct weft_spmv_plan *plan, const struct weft__spmv_push_size *size)
{
    double rows = 0; // of at least half the length of the longest
    for (int64_t k = (plan->stats.max_row + 1) / 2; k < WEFT__SPMV_BINS; k++)
        rows += plan->stats.hist[k];
    const double acc = (double)weft__spmv_acc_bytes(plan), vec = (double)weft_type_bytes(plan->type);
    const double units = plan->ctx->device.compute_units;
    const double elements = (double)plan->a.nnz + PUSH_RUN * (double)size->panels * (double)size->buckets;
    const double near = (double)size->slabs * (double)(size->teams + size->panels) * weft__spmv_panels_cols(plan) * vec;
    const double bytes =
        elements * (5 + (double)weft_type_bytes(plan->a.type) + 2 * acc) + (double)plan->a.m * (2 + vec) + near;
    const double waves = fmin((double)size->buckets, rows) / (PUSH_BUCKETS * units),
                 alone = PUSH_ALONE_US * (double)plan->stats.max_row * waves;
    return PUSH_US + PUSH_SLAB_US * (double)(size->slabs - 1) + alone +
           (is_wide(plan) ? PUSH_BYTES_WIDE : PUSH_BYTES) * weft__spmv_bytes_us(plan, bytes);
}

// A work-group takes the longest part of a row alone, and its share of the others. On an H100 rows of 100 000 to a million entries so took
// 20 to 98 us, where others would have taken 18 (docs/log/panels.md).
#define ALONE_US      12.0
#define ALONE         0.28e-3 // an entry
#define ALONE_WIDE    0.36e-3
#define ALONE_CONVERT 0.002 // an entry, which one work-group of the conversion moves
#define UNIT_GROUPS   2
static double longest_part(const struct weft_spmv_plan *plan)
{
    return (double)plan->stats.max_row / (double)weft__spmv_panels_count(plan);
}

static double team_us(const struct weft_spmv_plan *plan, double entries)
{
    return ALONE_US + (is_wide(plan) ? ALONE_WIDE : ALONE) * entries;
}

// Where rows are many, one work-item sums up the parts of each (weft__spmv_panels_joiners), which takes long with hundreds of panels: on an
// H200 5000 rows of 1776 parts took 107 us more.
#define JOIN_US      0.06 // a part, behind the first ones
#define JOIN_US_WIDE 0.11
#define JOIN_FIRST   64
static double join_us(const struct weft_spmv_plan *plan)
{
    if (weft__spmv_panels_joiners(plan) > 1)
        return 0;
    return (is_wide(plan) ? JOIN_US_WIDE : JOIN_US) * fmax((double)weft__spmv_panels_count(plan) - JOIN_FIRST, 0);
}

// A part stays empty where none of its row's entries lie in it. Rows count by their lengths: where most are shorter than their mean, more
// parts are empty than it tells of.
double weft__spmv_panels_elements(const struct weft_spmv_plan *plan)
{
    const double panels = (double)weft__spmv_panels_count(plan);
    double parts = 0, beyond = (double)plan->a.nnz; // entries of the rows in the last bin, which has all longer ones
    for (int k = 0; k < WEFT__SPMV_BINS; k++) {
        const double rows = (double)plan->stats.hist[k];
        const double each = k < WEFT__SPMV_BINS - 1 ? k : fmax(beyond / fmax(rows, 1), k);
        if (rows > 0)
            parts += rows * panels * pow(1 - 1 / panels, each);
        beyond -= rows * k;
    }
    return (double)plan->a.nnz + parts;
}

// Near the diagonal a row lies in two panels, or three.
#define PANELS_DIAGONAL 2
static double elements_expected(const struct weft_spmv_plan *plan)
{
    const double anywhere = weft__spmv_panels_elements(plan), taken = (double)(plan->a.m - plan->info.empty_rows),
                 parts = (double)plan->a.m * (double)weft__spmv_panels_count(plan);
    return weft__spmv_on_diagonal(plan) ? fmax(anywhere, (double)plan->a.nnz + parts - PANELS_DIAGONAL * taken)
                                        : anywhere;
}

double weft__spmv_panels_us(const struct weft_spmv_plan *plan)
{
    const struct weft__spmv_push_size size = weft__spmv_push_size(plan);
    if (size.buckets)
        return fmax(PANELS_LEAST, push_us(plan, &size));
    const double nnz = (double)plan->a.nnz, parts = (double)plan->a.m * (double)weft__spmv_panels_count(plan),
                 elements = elements_expected(plan), vec = (double)weft_type_bytes(plan->type);
    const double bytes = elements * (2 + (double)weft_type_bytes(plan->a.type)) +
                         2 * parts * (double)weft__spmv_acc_bytes(plan) +
                         ((double)plan->a.m + PANELS_X * (double)plan->a.n) * vec;
    const double share = nnz / (UNIT_GROUPS * (double)plan->ctx->device.compute_units),
                 alone = team_us(plan, longest_part(plan) + share);
    return fmax(fmax(PANELS_LEAST, alone), PANELS_US + PANELS_BYTES * weft__spmv_bytes_us(plan, bytes) + join_us(plan));
}

// Where x is near, CSR takes so many times as long as its bytes: 1.25 on an H200, 1.5 on an H100. It takes longer where rows are long and a
// good part of the entries is not beside the one before, each in another sector of x: fitted to seven patterns of 30 to 329 rows
// (docs/log/panels.md). What that makes longer than WEFT__SPMV_KEPT_US is weighed, too.
#define NEAR_BYTES 1.35
#define NEAR_FAR   1.04
#define NEAR_PART  24 // entries a part, at least: fewer, and the sums of parts take what columns of 16 bits gain

// more: beyond reads of x from the second cache.
static double csr_us(const struct weft_spmv_plan *plan, double again, double more)
{
    if (weft__spmv_x_near(plan)) {
        const double parts = (double)plan->a.m * (double)weft__spmv_panels_count(plan),
                     far = weft__spmv_rows_long(plan) && !weft__spmv_x_cached(plan)
                               ? NEAR_FAR * weft__spmv_far_share(plan)
                               : 0,
                     us = (1 + far) * weft__spmv_csr_us(plan);
        return us > WEFT__SPMV_KEPT_US && (double)plan->a.nnz >= NEAR_PART * parts ? FAR_US + NEAR_BYTES * us : 0;
    }
    const int wide = weft_type_bytes(plan->type) == 8;
    const double missed = weft__spmv_on_diagonal(plan) ? 0 : (1 - again) * (1 - weft__spmv_x_kept(plan));
    const double bytes = wide ? FAR_BYTES_WIDE + FAR_MORE_WIDE * missed : FAR_BYTES + FAR_BYTES_MORE * missed;
    return FAR_US + more + weft__spmv_bytes_us(plan, bytes * (double)plan->a.nnz);
}

double weft__spmv_panels_csr_us(const struct weft_spmv_plan *plan, double again)
{
    return csr_us(plan, again, weft__spmv_csr_more_us(plan));
}

#define PANELS_CONVERT_US       1100.0
#define PANELS_CONVERT_PRODUCTS 30 // by CSR, which move as many bytes

static double panels_convert_us(const struct weft_spmv_plan *plan)
{
    const double alone = weft__spmv_push_size(plan).buckets ? 0 : ALONE_CONVERT * longest_part(plan);
    return PANELS_CONVERT_US + PANELS_CONVERT_PRODUCTS * weft__spmv_csr_us(plan) + alone;
}

// Where rows have so many more empty parts than rows of their mean length would, columns mostly differ in length, too. The first cache then
// keeps more of x than a sample tells (docs/log/panels.md).
#define UNEVEN      1.1
#define UNEVEN_GAIN 0.85 // of the time of CSR, at most
static double gain_asked(const struct weft_spmv_plan *plan)
{
    const double nnz = (double)plan->a.nnz, parts = (double)plan->a.m * (double)weft__spmv_panels_count(plan);
    return weft__spmv_panels_elements(plan) > UNEVEN * (nnz + parts * exp(-nnz / parts)) ? UNEVEN_GAIN : PANELS_GAIN;
}

bool weft__spmv_panels_repay(const struct weft_spmv_plan *plan, double again)
{
    const double csr = weft__spmv_panels_csr_us(plan, again), us = weft__spmv_panels_us(plan);
    return us <= gain_asked(plan) * csr &&
           (double)plan->info.params.policy.products * (csr - us) >= panels_convert_us(plan);
}

bool weft__spmv_panels_shared(const struct weft_spmv_plan *plan, double again, double fullest)
{
    return team_us(plan, fullest) <= gain_asked(plan) * weft__spmv_panels_csr_us(plan, again);
}

// A read of x from local memory, which the first cache would not have kept, saves as long as so many bytes take. Each work-group reads
// the hubs first (docs/log/hubs.md).
#define HUBS_BYTES            26.0
#define HUBS_US               2.5
#define HUBS_GAIN             0.05 // of the time of CSR, at least
#define HUBS_CONVERT_US       800.0
#define HUBS_CONVERT_PRODUCTS 8 // by CSR, which move as many bytes
#define HUBS_SAMPLE_US        500.0
#define HUBS_SAMPLE_SHARE     0.02 // of the time of the products, at most

static double hubs_us(const struct weft_spmv_plan *plan, double share, double again)
{
    const double bytes = HUBS_BYTES * share * (double)plan->a.nnz;
    return csr_us(plan, again, weft__spmv_shared_more_us(plan)) + HUBS_US - weft__spmv_bytes_us(plan, bytes);
}

bool weft__spmv_hubs_repay(const struct weft_spmv_plan *plan, double share)
{
    const double csr = weft__spmv_panels_csr_us(plan, 0), saved = csr - hubs_us(plan, share, 0);
    return saved >= HUBS_GAIN * csr && (double)plan->info.params.policy.products * saved >=
                                           HUBS_CONVERT_US + HUBS_CONVERT_PRODUCTS * weft__spmv_csr_us(plan);
}

bool weft__spmv_hubs_lead(const struct weft_spmv_plan *plan, double share, double again)
{
    return hubs_us(plan, share, again) <= weft__spmv_panels_us(plan);
}

bool weft__spmv_hubs_sampled(const struct weft_spmv_plan *plan)
{
    return HUBS_SAMPLE_SHARE * (double)plan->info.params.policy.products * weft__spmv_panels_csr_us(plan, 0) >=
           HUBS_SAMPLE_US;
}
