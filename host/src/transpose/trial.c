// SPDX-License-Identifier: Apache-2.0
// The small matrices that transposition and permutation are tried with: empty rows, a long one, equal columns, symmetry.
#include "host/src/transpose/trial.h"
#include "host/src/ref/ref.h"
#include "host/src/transpose/scan_layout.h"

#include <stdio.h>
#include <stdlib.h>

struct transpose {
    struct weft_context *ctx;
    struct weft__transpose_shape shape; // of the trial
    struct weft_transpose_params params;
};

static void value_set(const struct weft_csr *a, int64_t p)
{
    const size_t wide = weft_type_bytes(a->type);
    if (wide == 8)
        ((int64_t *)a->val)[p] = p;
    else if (wide == 4)
        ((int32_t *)a->val)[p] = (int32_t)p;
}

static void offset_set(const struct weft_csr *a, int64_t i, int64_t p)
{
    if (a->ofs == WEFT_OFS_64)
        ((int64_t *)a->row_ptr)[i] = p;
    else
        ((int32_t *)a->row_ptr)[i] = (int32_t)p;
}

// Row i of `a`: none in every fifth, the last has what is left. Columns descend in places, and meet each other.
static void scattered(struct weft_csr *a)
{
    const int64_t each = 1 + a->nnz / (a->m + 1);
    int64_t p = 0;
    for (int64_t i = 0; i < a->m; i++) {
        offset_set(a, i, p);
        int64_t end = i + 1 == a->m ? a->nnz : i % 5 ? p + each : p;
        for (end = end < a->nnz ? end : a->nnz; p < end; p++) {
            uint32_t x = (uint32_t)p * UINT32_C(2654435761);
            x ^= x >> 15;
            a->col[p] = (int32_t)(p % 3 ? (int64_t)x % a->n : i % a->n);
            value_set(a, p);
        }
    }
    offset_set(a, a->m, a->nnz);
}

// Three diagonals: 3*m - 2 entries.
static void symmetric(struct weft_csr *a)
{
    int64_t p = 0;
    for (int64_t i = 0; i < a->m; i++) {
        offset_set(a, i, p);
        for (int64_t j = i ? i - 1 : 0; j <= i + 1 && j < a->n; j++, p++) {
            a->col[p] = (int32_t)j;
            value_set(a, p);
        }
    }
    offset_set(a, a->m, p);
}

// `a` on the device; rows: row indices instead of offsets.
static struct weft_device_csr matrix_write(struct weft__trial *t, const struct weft_csr *a, int rows)
{
    const size_t nnz = (size_t)a->nnz;
    struct weft_device_csr out = {.m = a->m, .n = a->n, .nnz = a->nnz, .type = a->type, .ofs = a->ofs};
    int32_t *row = rows ? weft__trial_memory(t, nnz * 4) : NULL;
    if (row)
        weft__ref_expand(row, a->row_ptr, a->m, a->ofs);
    out.row_ptr = row ? weft__trial_buffer(t, row, nnz * 4)
                      : weft__trial_buffer(t, a->row_ptr, ((size_t)a->m + 1) * weft_ofs_bytes(a->ofs));
    out.col = weft__trial_buffer(t, a->col, nnz * 4);
    out.val = a->val ? weft__trial_buffer(t, a->val, nnz * weft_type_bytes(a->type)) : NULL;
    free(row);
    return out;
}

static struct weft_device_csr matrix_room(struct weft__trial *t, const struct weft_csr *like)
{
    const size_t nnz = (size_t)like->nnz;
    struct weft_device_csr out = {.m = like->m, .n = like->n, .nnz = like->nnz, .type = like->type, .ofs = like->ofs};
    out.row_ptr = weft__trial_buffer(t, NULL, ((size_t)like->m + 1) * weft_ofs_bytes(like->ofs));
    out.col = weft__trial_buffer(t, NULL, nnz * 4);
    out.val = like->val ? weft__trial_buffer(t, NULL, nnz * weft_type_bytes(like->type)) : NULL;
    return out;
}

static void matrix_same(struct weft__trial *t, const struct weft_device_csr *got, const struct weft_csr *expected)
{
    const size_t nnz = (size_t)expected->nnz;
    weft__trial_same(t, got->row_ptr, expected->row_ptr, ((size_t)expected->m + 1) * weft_ofs_bytes(expected->ofs));
    weft__trial_same(t, got->col, expected->col, nnz * 4);
    if (expected->val)
        weft__trial_same(t, got->val, expected->val, nnz * weft_type_bytes(expected->type));
}

static void one_transposed(struct weft__trial *t, const struct transpose *x, void (*fill)(struct weft_csr *a))
{
    const struct weft__transpose_shape *s = &x->shape;
    struct weft_transpose_plan *plan = NULL;
    struct weft_csr a = {0}, expected = {0};
    t->status = weft_csr_alloc(&a, weft_shape(s->m, s->n, s->nnz, s->type, s->ofs));
    if (!t->status)
        fill(&a);
    if (!t->status)
        t->status = weft__ref_transpose(&expected, &a);
    if (!t->status)
        t->status = weft__transpose_create(&plan, x->ctx, s, &x->params);
    if (!t->status) {
        const struct weft_device_csr from = matrix_write(t, &a, s->rows_given), to = matrix_room(t, &expected);
        if (!t->status)
            t->status = weft_transpose_run(plan, t->queue, &to, &from, 0, NULL, NULL);
        matrix_same(t, &to, &expected);
    }
    weft_transpose_plan_destroy(&plan);
    weft_csr_free(&a);
    weft_csr_free(&expected);
}

static void transpose_trial(struct weft__trial *t, void *arg)
{
    const struct transpose *x = arg;
    if (x->shape.mirror) {
        struct transpose small = *x;
        small.shape.m = small.shape.n = x->shape.n < 3000 ? x->shape.n : 3000;
        small.shape.nnz = 3 * small.shape.n - 2;
        small.shape.like = NULL;
        one_transposed(t, &small, symmetric);
    }
    if (!t->status)
        one_transposed(t, x, scattered);
}

// The trial is of few entries, which ScanTrans on GPUs would cut otherwise: it is to have the layout *like, and what
// decides its kernels is told in `out`. Where its digits would then need more room the trial is as its shape says.
static void trial_like(struct transpose *x, const struct weft__scan_layout *like, char *out, size_t size,
                       const struct weft_transpose_params *p)
{
    struct weft__scan_layout l;
    snprintf(out, size, ", tiles %dx%d %dx%d %dx%d whole %d, bins %u %u %u, key %d, forms %d%d%d%d%d%d%d%d",
             like->first.wg, like->first.ipt, like->second.wg, like->second.ipt, like->last.wg, like->last.ipt,
             like->wide_ipt, like->first_bins, like->mid_bins, like->last_bins, like->key_bits, like->pairs,
             like->packed, like->parts_packed, like->joined, like->first_counted, like->self_counted, like->one_tile,
             like->sparse);
    x->shape.like = like;
    x->params.gpu = p->gpu;
    if (!weft__scan_layout_like(&l, x->ctx, &x->shape, p))
        x->shape.like = NULL;
}

weft_status weft__transpose_trial(struct weft_context *ctx, const struct weft__transpose_shape *shape,
                                  const struct weft_transpose_params *params, const struct weft_transpose_info *info,
                                  const struct weft__scan_layout *layout)
{
    enum { ROWS = 700, COLUMNS = 1 << 17, ENTRIES = 20000 };
    const struct weft_transpose_params *p = &info->params;
    struct transpose x = {ctx, *shape, params ? *params : (struct weft_transpose_params){0}};
    struct weft__scan_layout made;
    char what[512], like[192] = "";
    if (!shape->m || !shape->n || !shape->nnz)
        return WEFT_OK;
    x.params.algo = p->algo;
    x.shape.n = shape->n < COLUMNS ? shape->n : COLUMNS;
    x.shape.m = shape->mirror ? x.shape.n : shape->m < ROWS ? shape->m : ROWS;
    x.shape.nnz = shape->nnz < ENTRIES ? shape->nnz : ENTRIES;
    x.shape.wide = weft__transpose_pos(shape) == WEFT_OFS_64;
    if (!layout && info->schedule == WEFT_SCHEDULE_GPU && p->algo == WEFT_TRANSPOSE_ALGO_SCAN) {
        weft__scan_layout_make(&made, ctx, shape, p);
        layout = &made;
    }
    if (layout)
        trial_like(&x, layout, like, sizeof like, p);
    snprintf(what, sizeof what,
             "transpose %s, %d bits, wide %d, algo %d, wg %d, ipt %d, bits %d, passes %d, rows given %d, positions %d, "
             "mirror %d, "
             "log columns %d, rows %d, entries %d%s",
             weft_type_name(shape->type), (int)weft_ofs_bytes(shape->ofs) * 8, x.shape.wide, (int)p->algo, p->gpu.wg,
             p->gpu.ipt, info->schedule == WEFT_SCHEDULE_CPU ? p->cpu.bits : p->gpu.bits, info->passes,
             shape->rows_given, shape->val_positions, shape->mirror, (int)weft__bits_for(x.shape.n),
             (int)weft__bits_for(x.shape.m) / 4, (int)weft__bits_for(x.shape.nnz) / 4,
             like); // few say little of more
    return weft__selftest(ctx, what, transpose_trial, &x);
}

struct permute {
    struct weft_context *ctx;
    enum weft_type type;
    enum weft_ofs ofs;
    const struct weft_permute_info *info;
};

enum { M = 600, N = 700, NNZ = 9000 };

static void refill_trial(struct weft__trial *t, void *arg)
{
    const struct permute *x = arg;
    struct weft_transpose_refill *plan = NULL;
    struct weft_csr a = {0}, expected = {0};
    t->status = weft_csr_alloc(&a, weft_shape(M, N, NNZ, x->type, x->ofs));
    if (!t->status) {
        scattered(&a);
        t->status = weft__ref_transpose(&expected, &a);
    }
    if (!t->status) {
        const size_t bytes = NNZ * weft_type_bytes(x->type);
        const struct weft_device_csr from = matrix_write(t, &a, 0);
        cl_mem to = weft__trial_buffer(t, NULL, bytes);
        if (!t->status)
            t->status = weft_transpose_refill_create(&plan, x->ctx, t->queue, &from, NULL);
        if (!t->status)
            t->status = weft_transpose_refill_run(plan, t->queue, to, from.val, x->type, 0, NULL, NULL);
        weft__trial_same(t, to, expected.val, bytes);
    }
    weft__cl.clFinish(t->queue);
    weft_transpose_refill_destroy(&plan);
    weft_csr_free(&a);
    weft_csr_free(&expected);
}

weft_status weft__refill_trial(struct weft_context *ctx, enum weft_ofs ofs)
{
    weft_status status = WEFT_OK;
    for (int wide = 0; wide <= 1 && !status; wide++) { // values of 4 and of 8 bytes
        struct permute x = {ctx, wide ? WEFT_TYPE_F64 : WEFT_TYPE_F32, ofs, NULL};
        char what[100];
        snprintf(what, sizeof what, "refill, %d bits, values of %d bytes", (int)weft_ofs_bytes(ofs) * 8, wide ? 8 : 4);
        status = weft__selftest(ctx, what, refill_trial, &x);
    }
    return status;
}

static void permute_trial(struct weft__trial *t, void *arg)
{
    const struct permute *x = arg;
    struct weft_permute_plan *plan = NULL;
    struct weft_permutation p = {0};
    struct weft_csr a = {0}, expected = {0};
    int32_t row[M], col[N];
    for (int i = 0; i < M; i++)
        row[i] = (i * 7 + 5) % M;
    for (int j = 0; j < N; j++)
        col[j] = (j * 11 + 3) % N;
    t->status = weft_permutation_from(&p, M, N, row, x->info->sorts ? col : NULL, NULL);
    if (!t->status)
        t->status = weft_csr_alloc(&a, weft_shape(M, N, NNZ, x->type, x->ofs));
    if (!t->status) {
        scattered(&a);
        t->status = weft_csr_permute(&expected, &a, &p, &x->info->params, NULL);
    }
    if (!t->status)
        t->status = weft_permute_plan_create(&plan, x->ctx, weft_csr_shape(&a), &p, &x->info->params);
    if (!t->status) {
        const struct weft_device_csr from = matrix_write(t, &a, 0), to = matrix_room(t, &expected);
        if (!t->status)
            t->status = weft_permute_run(plan, t->queue, &to, &from, 0, NULL, NULL);
        matrix_same(t, &to, &expected);
    }
    weft_permute_plan_destroy(&plan);
    weft_permutation_free(&p);
    weft_csr_free(&a);
    weft_csr_free(&expected);
}

weft_status weft__permute_trial(struct weft_context *ctx, enum weft_type type, enum weft_ofs ofs,
                                const struct weft_permute_info *info)
{
    struct permute x = {ctx, type, ofs, info};
    char what[100];
    snprintf(what, sizeof what, "permute %s, %d bits, sorts %d, keep %d", weft_type_name(type),
             (int)weft_ofs_bytes(ofs) * 8, info->sorts, info->params.keep);
    return weft__selftest(ctx, what, permute_trial, &x);
}
