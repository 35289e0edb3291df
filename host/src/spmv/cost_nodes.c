// SPDX-License-Identifier: Apache-2.0
// Tells what csr_nodes saves of CSR on a GPU; the numbers were fitted on an H200 (docs/log/nodes.md).
#include "cost.h"

#include <math.h>

// Rows of a node for which columns are read once, at most (nodes.c); how many times the time of the bytes of these columns a product saves, with
// values of four and of eight bytes; entries of a row on average, with fewer of which nodes gain nothing; and microseconds in which CSR moves
// its bytes, with less than which a launch takes as long. With values of four bytes nodes whose x is read far apart save less: of an H200's
// 132 units, microseconds of a thousand.
#define NODES_MOST       8.0
#define NODES_SAVES      1.0
#define NODES_SAVES_WIDE 1.1
#define NODES_ROW        16
#define NODES_LEAST      2.5
#define NODES_GAIN       0.05 // of the time of CSR, at least
#define NODE_FAR_US      0.093
#define H200_UNITS       132.0
// Each lane of a node takes two of its columns in a step, and waits for memory.
#define STEP      2
#define STEP_US   0.5
#define LAUNCH_US 3.0
// Entries of a mean row for each lane: twice and half as many lanes took up to 1.3 times as long. Work-items of a unit that keep it busy, and the
// share of them that nodes must have: with 0.12 and 0.43 csr_lanes took 0.7 of the time in f64 (docs/log/lanes.md).
#define LANES_ROW 5
#define UNIT_FULL 1024.0
#define FULL      0.5
// What a plan takes longer to make than that of csr_lanes: microseconds, and times of a product by CSR. 151 plans took 170 to 600 us.
#define MAKE_US       220.0
#define MAKE_PRODUCTS 5.0

double weft__spmv_nodes_alike(const struct weft_spmv_plan *plan)
{
    const double blocks = ceil((double)plan->a.m / 32);
    return blocks > 0 ? (double)plan->stats.alike / 1024 / blocks : 0;
}

int weft__spmv_nodes_lanes(const struct weft_spmv_plan *plan, double nodes)
{
    const double full = UNIT_FULL * plan->ctx->device.compute_units;
    int lanes = 2;
    while (lanes < 32 && (LANES_ROW * lanes <= weft__spmv_mean_row(plan) || lanes * nodes < full))
        lanes *= 2;
    return lanes;
}

double weft__spmv_nodes_saves_us(const struct weft_spmv_plan *plan, double alike)
{
    const bool wide = weft_type_bytes(plan->a.type) == 8;
    const double us = weft__spmv_csr_us(plan), shared = fmin(alike, 1 - 1 / NODES_MOST),
                 nodes = (1 - shared) * (double)plan->a.m, lanes = weft__spmv_nodes_lanes(plan, nodes),
                 columns = weft__spmv_bytes_us(plan, shared * 4 * (double)plan->a.nnz),
                 lost = NODE_FAR_US * weft__spmv_far_share(plan) * nodes * 1e-3 * H200_UNITS /
                        plan->ctx->device.compute_units,
                 saves = wide ? NODES_SAVES_WIDE * columns : NODES_SAVES * columns - lost,
                 longest = (double)plan->stats.max_row / (STEP * lanes) * STEP_US;
    if (weft__spmv_mean_row(plan) < NODES_ROW || us < NODES_LEAST || longest > LAUNCH_US + us ||
        nodes * lanes < FULL * UNIT_FULL * plan->ctx->device.compute_units)
        return 0;
    return saves >= NODES_GAIN * (LAUNCH_US + us) ? saves : 0;
}

double weft__spmv_nodes_make_us(const struct weft_spmv_plan *plan)
{
    return MAKE_US + MAKE_PRODUCTS * weft__spmv_csr_us(plan);
}
