// SPDX-License-Identifier: Apache-2.0
// Tells what a conversion costs, what sliced formats need for it, and what their longest rows take.
#include "cost.h"

#include <math.h>

// Elements of sliced ELL for each entry when all rows are sorted by length: what windows of sorted rows come close to. Of lengths beyond
// the histogram only the sum is known. In falling order the first row of a slice is no longer than any row of the slice before, so that
// the slices hold at most that sum and one slice of the longest row.
double weft__spmv_sorted_padding(const struct weft_spmv_plan *plan, int64_t height)
{
    double elements = 0, beyond = (double)plan->a.nnz;
    int64_t taken = 0; // rows, from the longest on
    for (int64_t k = 0; k < WEFT__SPMV_BINS - 1; k++)
        beyond -= (double)k * (double)plan->stats.hist[k];
    for (int64_t k = WEFT__SPMV_BINS - 1; k > 0; k--) {
        const int64_t rows = plan->stats.hist[k],
                      slices = (taken + rows + height - 1) / height - (taken + height - 1) / height;
        const double longest = (double)height * (double)(k == WEFT__SPMV_BINS - 1 ? plan->stats.max_row : k);
        elements +=
            k == WEFT__SPMV_BINS - 1 ? fmin((double)slices * longest, beyond + longest) : (double)slices * longest;
        taken += rows;
    }
    return plan->a.nnz ? elements / (double)plan->a.nnz : 0;
}

// A row of a sliced format belongs to one work-item on a GPU, which takes STEP of its elements together, or more, then waits for
// memory. All other rows may be done by then. So the steps of the longest one must fit into the time that CSR takes at
// least, when it moves its bytes at the full speed of the device. An H200 takes 3 us for a launch. A web graph with a row of
// 3753 entries took sell 23 times as long as csr with f32 and 33 times with f64.
#define LAUNCH_US 3.0
#define STEP      4

// Bytes of a product by CSR.
static double csr_bytes(const struct weft_spmv_plan *plan)
{
    const double value = (double)weft_type_bytes(plan->a.type), vector = (double)weft_type_bytes(plan->type);
    return (double)plan->a.nnz * (4 + value) + (double)plan->a.m * (double)weft_ofs_bytes(plan->a.ofs) +
           (double)(plan->a.m + plan->a.n) * vector;
}

double weft__spmv_csr_us(const struct weft_spmv_plan *plan)
{
    return weft__spmv_bytes_us(plan, csr_bytes(plan));
}

double weft__spmv_diagonals_save(const struct weft_spmv_plan *plan, double padding)
{
    const double nnz = (double)plan->a.nnz, columns = nnz * 4 + (double)plan->a.m * (double)weft_ofs_bytes(plan->a.ofs);
    return (columns - (padding - 1) * nnz * (double)weft_type_bytes(plan->a.type)) / csr_bytes(plan);
}

// Figures of an H200, sliced DIA and sliced ELL: 0.27 to 0.31 ms for 1.2 to 3 M entries, 0.42 to 0.54 for 10 M, 0.54 to 0.73
// for 13 M. Buffers and the host's steps take the most of it where entries are few. Columns in 16 bits take 1.4 to 1.8
// times as long in half of the cases, 1.0 to 2.5 in all.
#define CONVERT_US       250.0
#define CONVERT_PRODUCTS 10 // by CSR, which move as many bytes
#define NARROW_US        200.0
#define NARROW_PRODUCTS  10

double weft__spmv_convert_us(const struct weft_spmv_plan *plan, bool narrow)
{
    const double us = weft__spmv_csr_us(plan);
    return CONVERT_US + CONVERT_PRODUCTS * us + (narrow ? NARROW_US + NARROW_PRODUCTS * us : 0);
}

double weft__spmv_steps_us(double longest, double step_us)
{
    return longest / STEP * step_us;
}

int weft__spmv_steps_hidden(const struct weft_spmv_plan *plan, double longest, double step_us)
{
    return weft__spmv_is_cpu(plan) || weft__spmv_steps_us(longest, step_us) <= LAUNCH_US + weft__spmv_csr_us(plan);
}

int weft__spmv_bound_holds(const struct weft_spmv_plan *plan, const struct weft__spmv_load *load)
{
    if (plan->bound <= 0)
        return 1;
    if (load->elements > plan->bound * (double)plan->a.nnz)
        return 0;
    if (!weft__spmv_is_cpu(plan))
        return weft__spmv_steps_hidden(plan, load->longest, WEFT__SPMV_STEP_US);
    const enum weft_spmv_algo algo = plan->info.params.policy.algo;
    return weft__spmv_cpu_gains(plan, algo, load) &&
           (plan->least <= 0 || weft__spmv_cpu_saves(plan, algo, load) > plan->least);
}
