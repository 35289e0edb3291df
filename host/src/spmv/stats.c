// SPDX-License-Identifier: Apache-2.0
// The distribution of the row lengths of a matrix, and how far entries of a row lie apart.
#include "host/src/core/fill.h"
#include "plan.h"

#include <stdlib.h>
#include <string.h>

#define SUMS 13   // figures of a group
#define NEAR 8    // columns
#define SPAN 4096 // columns
#define ROWS 32

static void stats_add(struct weft_spmv_plan *plan, const cl_long *sums, size_t groups)
{
    struct weft__spmv_stats *s = &plan->stats;
    for (size_t g = 0; g < groups; g++) {
        for (int i = 0; i < 6; i++)
            s->steps[i] += sums[g * SUMS + (size_t)i];
        if (s->max_row < sums[g * SUMS + 6])
            s->max_row = sums[g * SUMS + 6];
        s->far += sums[g * SUMS + 7];
        s->changes += sums[g * SUMS + 8];
        s->apart += sums[g * SUMS + 9];
        if (s->fullest < sums[g * SUMS + 10])
            s->fullest = sums[g * SUMS + 10];
        s->lone += sums[g * SUMS + 11];
        s->alike += sums[g * SUMS + 12];
    }
    plan->info.max_row = s->max_row;
    plan->info.empty_rows = s->hist[0];
}

static int64_t set_far(const int32_t *col, int64_t begin, int64_t last)
{
    int64_t far = -1;
    for (int64_t p = begin; p <= last; p++) {
        bool near = false;
        for (int64_t q = begin; q <= last && !near; q++) {
            const int64_t before = (int64_t)col[p] - col[q];
            near = before <= NEAR && (before > 0 || (before == 0 && q < p));
        }
        far += !near;
    }
    return far;
}

static int64_t far_share(const struct weft_csr *a, int64_t row)
{
    const int64_t begin = weft_csr_ofs(a, row), end = weft_csr_ofs(a, row + 1) - 1;
    const int64_t last = end < begin + 32 ? end : begin + 32;
    int64_t far = 0;
    bool falls = false;
    if (begin >= last)
        return 0;
    for (int64_t p = begin; p < last; p++) {
        far += llabs((long long)a->col[p + 1] - a->col[p]) > NEAR;
        falls = falls || a->col[p + 1] < a->col[p];
    }
    return 1024 * (falls ? set_far(a->col, begin, last) : far) / (last - begin);
}

static int64_t lone_share(const struct weft_csr *a, int64_t row)
{
    const int64_t begin = weft_csr_ofs(a, row), end = weft_csr_ofs(a, row + 1) - 1, length = end + 1 - begin,
                  last = end < begin + 32 ? end : begin + 32, behind = row + 2 <= a->m ? weft_csr_ofs(a, row + 2) : 0;
    int64_t lone = 0;
    if (begin >= last)
        return 0;
    for (int64_t p = begin + 1; p <= last; p++)
        lone += llabs((long long)a->col[p] - a->col[p - 1]) > NEAR &&
                !(p + length < behind && llabs((long long)a->col[p + length] - a->col[p]) <= NEAR);
    return 1024 * lone / (last - begin);
}

static int64_t apart_share(const struct weft_csr *a, int64_t row)
{
    const int64_t begin = weft_csr_ofs(a, row), end = weft_csr_ofs(a, row + 1),
                  last = end < begin + 32 ? end : begin + 32;
    const int64_t diagonal = row * a->n / a->m;
    int64_t apart = 0;
    if (begin >= last)
        return 0;
    for (int64_t p = begin; p < last; p++)
        apart += llabs((long long)(a->col[p] - diagonal)) > SPAN;
    return 1024 * apart / (last - begin);
}

static int64_t alike_share(const struct weft_csr *a, int64_t first)
{
    const uint32_t rows = a->m - first < ROWS ? (uint32_t)(a->m - first) : ROWS;
    uint32_t at = (uint32_t)(first / ROWS) * 0x9e3779b1U;
    at = ((at ^ at >> 15) * 0x85ebca6bU) >> 16;
    if (rows < 2)
        return 0;
    const int64_t row = first + 1 + at % (rows - 1), before = weft_csr_ofs(a, row - 1), begin = weft_csr_ofs(a, row),
                  end = weft_csr_ofs(a, row + 1), length = end - begin;
    if (length <= 0 || length != begin - before)
        return 0;
    const int64_t compared = length < 32 ? length : 32;
    return memcmp(a->col + begin, a->col + before, (size_t)compared * sizeof *a->col) ? 0 : 1024;
}

// Rows first .. first+31, as far as there are any; 0 for those behind.
static void lengths_read(int64_t *out, const struct weft_csr *a, int64_t first)
{
    const int rows = a->m - first < ROWS ? (int)(a->m - first) : ROWS;
    if (a->ofs == WEFT_OFS_64)
        for (int r = 0; r < rows; r++)
            out[r] = ((const int64_t *)a->row_ptr)[first + r + 1] - ((const int64_t *)a->row_ptr)[first + r];
    else
        for (int r = 0; r < rows; r++)
            out[r] = ((const int32_t *)a->row_ptr)[first + r + 1] - ((const int32_t *)a->row_ptr)[first + r];
    for (int r = rows; r < ROWS; r++)
        out[r] = 0;
}

// As cl/spmv/rows_stats.cl.
void weft__spmv_stats_host(struct weft__spmv_stats *out, const struct weft_csr *a)
{
    *out = (struct weft__spmv_stats){0};
    int64_t before = a->m ? weft_csr_ofs(a, 1) - weft_csr_ofs(a, 0) : 0;
    for (int64_t first = 0; first < a->m; first += ROWS) {
        int64_t most[ROWS];
        const int64_t behind = first + ROWS < a->m ? first + ROWS : a->m,
                      entries = weft_csr_ofs(a, behind) - weft_csr_ofs(a, first);
        out->fullest = out->fullest > entries ? out->fullest : entries;
        const int64_t far = far_share(a, first), lone = lone_share(a, first);
        out->far += far;
        out->apart += apart_share(a, first);
        out->lone += lone < far ? lone : far;
        out->alike += alike_share(a, first);
        lengths_read(most, a, first);
        for (int r = 0; r < ROWS && first + r < a->m; r++) {
            out->hist[most[r] < WEFT__SPMV_BINS ? most[r] : WEFT__SPMV_BINS - 1]++;
            out->changes += most[r] != before;
            before = most[r];
        }
        // With 2^i lanes a row, 32 / 2^i rows run side by side: their longest one.
        for (int i = 5; i >= 0; i--) {
            for (int k = 0; k < 1 << i; k++) {
                if (i < 5)
                    most[k] = most[2 * k] > most[2 * k + 1] ? most[2 * k] : most[2 * k + 1];
                out->steps[i] += (most[k] + (1 << i) - 1) >> i;
            }
        }
        out->max_row = out->max_row > most[0] ? out->max_row : most[0];
    }
}

weft_status weft__spmv_stats(struct weft_spmv_plan *plan, cl_command_queue queue)
{
    if (plan->once && plan->once->stats) {
        plan->stats = *plan->once->stats;
        plan->info.max_row = plan->stats.max_row;
        plan->info.empty_rows = plan->stats.hist[0];
        return WEFT_OK;
    }
    enum { ZERO, STATS, NKERNELS };
    const int cpu = weft__spmv_is_cpu(plan);
    const size_t wg = cpu ? 1 : 64;
    const size_t groups = weft__min(weft__ceil_div((size_t)plan->a.m, ROWS * wg),
                                    cpu ? 4 * (size_t)plan->ctx->device.compute_units : 256);
    const size_t bytes = sizeof plan->stats.hist + groups * SUMS * sizeof(cl_long);
    const cl_int m = (cl_int)plan->a.m, n = (cl_int)plan->a.n;
    const union weft__ofs nnz = weft__ofs_value(plan->a.ofs, (size_t)plan->a.nnz);
    struct weft__defines d = {0};
    weft__define_types(&d, WEFT_TYPE_PATTERN, plan->a.ofs);
    weft__define(&d, "WEFT_WG", "%zu", wg);
    weft__define(&d, "WEFT_BINS", "%d", WEFT__SPMV_BINS);
    struct weft__make make = {.ctx = plan->ctx};
    struct weft__kernel *k[NKERNELS] = {0};
    cl_mem figures = NULL; // the histogram, then the sums of each group: one buffer, and one read
    char *read = weft__make_memory(&make, bytes, "row figures");
    weft__make_kernel(&make, &k[STATS], cpu ? &weft__rows_stats_cpu_spec : &weft__rows_stats_spec, &d);
    if (!make.status)
        make.status = weft__fill_create(&k[ZERO], plan->ctx);
    weft__spmv_make_buffer(&make, &figures, bytes, "row figures");
    struct weft__stream stream = weft__spmv_stream(&make, queue);
    weft__fill(&stream, k[ZERO], figures, 0, WEFT__SPMV_BINS, 0);
    WEFT__LAUNCH(&stream, k[STATS], groups, wg, WEFT__ARG(row_ptr, plan->a.row_ptr), WEFT__ARG(col, plan->a.col),
                 WEFT__ARG(figures), WEFT__ARG(m), WEFT__ARG(n), WEFT__OFS(nnz, plan->a.ofs, nnz));
    weft__spmv_read(&stream, figures, 0, bytes, read);
    if (!stream.status) {
        memcpy(plan->stats.hist, read, sizeof plan->stats.hist);
        stats_add(plan, (const cl_long *)(read + sizeof plan->stats.hist), groups);
    }
    weft__parts_release(k, NKERNELS, &figures, 1);
    free(read);
    return stream.status;
}
