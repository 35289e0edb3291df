// SPDX-License-Identifier: Apache-2.0
// Tells what csr_nodes saves of CSR on a GPU; the numbers were fitted on an H200 (docs/log/nodes.md).
#include "cost.h"

#include <math.h>

// Rows of a node for which columns are read once, at most (nodes.c); the share of the bytes of these columns that a product saves, of the
// time of CSR; entries of a row on average, with fewer of which nodes gain nothing; and microseconds in which CSR moves its bytes, with less
// than which a launch takes as long.
#define NODES_MOST  8.0
#define NODES_SAVES 0.8
#define NODES_ROW   16
#define NODES_LEAST 2.5
#define NODES_GAIN  0.05 // of the time of CSR, at least
// The lanes of a node have so many of its columns in a step, and wait for memory.
#define NODES_STEP    64
#define NODES_STEP_US 0.5
#define LAUNCH_US     3.0
// What a plan takes longer to make than that of csr_lanes: microseconds, and times of a product by CSR. 136 plans took 160 to 480 us.
#define MAKE_US       220.0
#define MAKE_PRODUCTS 5.0

double weft__spmv_nodes_alike(const struct weft_spmv_plan *plan)
{
    const double blocks = ceil((double)plan->a.m / 32);
    return blocks > 0 ? (double)plan->stats.alike / 1024 / blocks : 0;
}

double weft__spmv_nodes_saves_us(const struct weft_spmv_plan *plan, double alike)
{
    const double us = weft__spmv_csr_us(plan), columns = fmin(alike, 1 - 1 / NODES_MOST) * 4 * (double)plan->a.nnz,
                 saves = NODES_SAVES * weft__spmv_bytes_us(plan, columns);
    if (weft__spmv_mean_row(plan) < NODES_ROW || us < NODES_LEAST ||
        (double)plan->stats.max_row / NODES_STEP * NODES_STEP_US > LAUNCH_US + us)
        return 0;
    return saves >= NODES_GAIN * (LAUNCH_US + us) ? saves : 0;
}

double weft__spmv_nodes_make_us(const struct weft_spmv_plan *plan)
{
    return MAKE_US + MAKE_PRODUCTS * weft__spmv_csr_us(plan);
}
