// SPDX-License-Identifier: Apache-2.0
// The small matrices that transposition and permutation are tried with: empty rows, a long one, equal columns, symmetry.
#include "host/src/transpose/trial.h"
#include "host/src/ref/ref.h"

#include <stdio.h>
#include <stdlib.h>

struct transpose {
    struct weft_context *ctx;
    const struct weft__transpose_method *method;
    const struct weft__transpose_shape *shape; // of the plan
    const struct weft_transpose_info *info;
    const struct weft__transpose_made *made;
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

// Row i of `a`: none in every fifth, the last has what is left. Columns descend in places, and meet each other. Of many columns
// those in the middle are empty.
static void scattered(struct weft_csr *a)
{
    const int64_t used = a->n > WEFT__FEW_COLUMNS ? WEFT__FEW_APART : a->n, empty = a->n - used;
    const int64_t each = 1 + a->nnz / (a->m + 1);
    int64_t p = 0;
    for (int64_t i = 0; i < a->m; i++) {
        offset_set(a, i, p);
        int64_t end = i + 1 == a->m ? a->nnz : i % 5 ? p + each : p;
        for (end = end < a->nnz ? end : a->nnz; p < end; p++) {
            uint32_t x = (uint32_t)p * UINT32_C(2654435761);
            x ^= x >> 15;
            const int64_t j = p % 3 ? (int64_t)x % used : i % used;
            a->col[p] = (int32_t)(j < used / 2 ? j : j + empty);
            value_set(a, p);
        }
    }
    offset_set(a, a->m, a->nnz);
}

static void symmetric(struct weft_csr *a, int diagonals)
{
    int64_t p = 0;
    for (int64_t i = 0; i < a->m; i++) {
        offset_set(a, i, p);
        for (int64_t j = i > diagonals ? i - diagonals : 0; j <= i + diagonals && j < a->n; j++, p++) {
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

static void one_transposed(struct weft__trial *t, const struct transpose *x, const struct weft__transpose_few *few)
{
    const struct weft__transpose_shape *s = &few->shape;
    struct weft_transpose_plan *plan = NULL;
    struct weft_csr a = {0}, expected = {0};
    t->status = weft_csr_alloc(&a, weft_shape(s->m, s->n, s->nnz, s->type, s->ofs));
    if (!t->status && few->diagonals)
        symmetric(&a, few->diagonals);
    else if (!t->status)
        scattered(&a);
    if (!t->status)
        t->status = weft__ref_transpose(&expected, &a);
    if (!t->status)
        t->status = weft__transpose_create(&plan, x->ctx, s, &few->params);
    if (!t->status && weft__transpose_made(plan)->programs != x->made->programs)
        t->status = weft__fail(x->ctx, WEFT_EINVAL, "the plan of a self-test has other programs than what it is for");
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

enum { ROWS = 700, ENTRIES = 20000, SQUARE = 3000 };

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int weft__transpose_few(struct weft__transpose_few *out, struct weft_context *ctx,
                        const struct weft__transpose_method *method, const struct weft__transpose_shape *shape,
                        const struct weft_transpose_info *info, const struct weft__transpose_made *made, int diagonals)
{
    *out = (struct weft__transpose_few){.shape = *shape, .params = info->params, .diagonals = diagonals};
    struct weft__transpose_shape *s = &out->shape;
    s->like = made->layout;
    s->wide = weft__transpose_pos(shape) == WEFT_OFS_64;
    if (diagonals) {
        s->m = s->n = least(least(shape->m, shape->n), SQUARE);
        s->nnz = weft__diagonals_entries(s->n, diagonals);
    } else {
        s->n = least(shape->n, WEFT__FEW_COLUMNS);
        s->m = shape->mirror ? s->n : least(shape->m, ROWS);
        s->nnz = least(shape->nnz, ENTRIES);
    }
    return method->few(out, ctx, shape, made);
}

static void transpose_trial(struct weft__trial *t, void *arg)
{
    const struct transpose *x = arg;
    struct weft__transpose_few few;
    if (x->shape->m > 1 && x->shape->n > 1 &&
        weft__transpose_few(&few, x->ctx, x->method, x->shape, x->info, x->made, 1))
        one_transposed(t, x, &few);
    if (!t->status && weft__transpose_few(&few, x->ctx, x->method, x->shape, x->info, x->made, 0))
        one_transposed(t, x, &few);
    else if (!t->status)
        t->status = weft__fail(x->ctx, WEFT_EINVAL, "no small problem has the programs of this transposition");
}

weft_status weft__transpose_trial(struct weft_context *ctx, const struct weft__transpose_method *method,
                                  const struct weft__transpose_shape *shape, const struct weft_transpose_info *info,
                                  const struct weft__transpose_made *made)
{
    const struct weft_transpose_params *p = &info->params;
    struct transpose x = {ctx, method, shape, info, made};
    char what[512];
    // The hash stands for all that programs are compiled with. The rest says what the problems show: few say little of more.
    snprintf(
        what, sizeof what,
        "transpose %s, %d bits, algo %d, wg %d, ipt %d, bits %d, passes %d, rows given %d, positions %d, mirror %d, "
        "log columns %d, rows %d, entries %d, programs %016llx",
        weft_type_name(shape->type), (int)weft_ofs_bytes(shape->ofs) * 8, (int)p->algo, p->gpu.wg, p->gpu.ipt,
        info->schedule == WEFT_SCHEDULE_CPU ? p->cpu.bits : p->gpu.bits, info->passes, shape->rows_given,
        shape->val_positions, shape->mirror, (int)weft__bits_for(least(shape->n, WEFT__FEW_COLUMNS)),
        (int)weft__bits_for(least(shape->m, shape->mirror ? WEFT__FEW_COLUMNS : ROWS)) / 4,
        (int)weft__bits_for(least(shape->nnz, ENTRIES)) / 4, (unsigned long long)made->programs);
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
