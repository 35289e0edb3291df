// SPDX-License-Identifier: Apache-2.0
// Cuts columns into panels whose part of x fits local memory.
#include "columns.h"

#define COLS_MOST 32736 // a multiple of 32 below the 32767 that stands for no column
// Bytes of x in local memory. More columns make fewer parts, which are cheaper where they have few entries: on an H200 44 KiB took
// 0.90 times as long as 32 with 4 entries a part, and as long with 8 (docs/log/panels.md).
#define X_BYTES      (32 << 10)
#define X_BYTES_MORE (44 << 10)
#define FEW          6 // entries of a part

// Local memory of cl/spmv/panels.cl beside x.
size_t weft__spmv_panels_local(const void *of, const void *params)
{
    const size_t acc = weft__spmv_acc_bytes(of), wg = (size_t)((const struct weft_spmv_params *)params)->gpu.wg;
    return wg / 16 * (acc + 4) + wg * acc + 64;
}

// Columns that local memory holds, a multiple of 32: one of few numbers, since it is compiled in.
size_t weft__spmv_panels_cols_most(const struct weft_spmv_plan *plan)
{
    const size_t most = weft__local_most(plan->ctx), sums = weft__spmv_panels_local(plan, &plan->info.params),
                 vec = weft_type_bytes(plan->type);
    const double few = FEW * (double)plan->a.m * (double)plan->a.n, cells = (double)plan->a.nnz * X_BYTES;
    const size_t wanted = WEFT__HOSTILE(cells / (double)vec < few ? X_BYTES_MORE : X_BYTES, 8 << 10);
    const size_t room = weft__min(wanted, most > sums ? most - sums : 0) / vec;
    return weft__max(weft__min(room, COLS_MOST) / 32 * 32, 32);
}

// So that all have about as many.
int weft__spmv_panels_cols(const struct weft_spmv_plan *plan)
{
    const size_t cols = weft__spmv_panels_cols_most(plan),
                 panels = weft__max(weft__ceil_div((size_t)plan->a.n, cols), 1);
    return (int)weft__max(weft__round_up(weft__ceil_div((size_t)plan->a.n, panels), 32), 32);
}

int64_t weft__spmv_panels_count(const struct weft_spmv_plan *plan)
{
    return (int64_t)weft__max(weft__ceil_div((size_t)plan->a.n, (size_t)weft__spmv_panels_cols(plan)), 1);
}

#define ALONE 8 // parts of a row that one work-item sums up, whatever the number of rows
int weft__spmv_panels_joiners(const struct weft_spmv_plan *plan)
{
    return weft__spmv_panels_count(plan) > ALONE &&
                   plan->a.m * 32 <= (int64_t)WEFT__SPMV_UNIT_ITEMS * plan->ctx->device.compute_units
               ? 32
               : 1;
}
