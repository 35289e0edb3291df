// SPDX-License-Identifier: Apache-2.0
// Products by every algorithm with more than 2^31 entries of a pattern whose rows and columns are known (pattern.h). Values and x
// are small integers, so that every order of sums gives the same y.
#include "device.h"
#include "host/internal/inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/spmv.h>

struct test {
    struct huge_device *d;
    const struct huge_options *o;
    struct huge_pattern p;
    struct huge_offsets row_ptr;
    struct weft_device_csr a;
    int64_t nnz, value, offset; // entries; bytes of a value, of an offset
    cl_mem x, y;
    float *want, *got; // of m elements or, of a transposed product, n
    char name[80];
};

static float x_of(int64_t j)
{
    return (float)(j % 9 - 4);
}

static float value_of(const struct test *t, int64_t i, int64_t j)
{
    return t->value ? (float)((3 * i + 5 * j) % 7 - 3) : 1.0f;
}

// ---- the matrix --------------------------------------------------------------------------------------------------------

struct piece {
    const struct test *t;
    int64_t row; // that the stage begins with
};

static void values_fill(void *arg, int64_t first, int64_t end)
{
    const struct piece *x = arg;
    const struct test *t = x->t;
    const int64_t before = huge_ofs(&t->row_ptr, x->row);
    int32_t col[HUGE_SLOTS];
    for (int64_t i = x->row + first; i < x->row + end; i++) {
        const int count = huge_row(&t->p, i, col);
        const int64_t at = huge_ofs(&t->row_ptr, i) - before;
        for (int k = 0; k < count; k++)
            ((float *)t->d->stage[1])[at + k] = value_of(t, i, col[k]);
    }
}

static void matrix_write(struct test *t)
{
    struct weft_device_csr pattern = t->a;
    pattern.val = NULL;
    pattern.type = WEFT_TYPE_PATTERN;
    huge_upload(t->d, &pattern, &t->p, &t->row_ptr, 0);
    for (int64_t i = 0, end; i < t->p.m && t->value; i = end) {
        end = huge_piece_end(&t->row_ptr, t->p.m, i, HUGE_PIECE);
        const int64_t first = huge_ofs(&t->row_ptr, i), count = huge_ofs(&t->row_ptr, end) - first;
        struct piece piece = {t, i};
        huge_parallel(end - i, 4096, values_fill, &piece);
        if (count)
            huge_write(t->d, t->a.val, first * 4, t->d->stage[1], count * 4);
    }
}

static void x_write(struct test *t)
{
    const int64_t most = HUGE_STAGE / 4;
    float *stage = t->d->stage[0];
    const int64_t all = t->p.m > t->p.n ? t->p.m : t->p.n; // A^T takes m elements
    for (int64_t j = 0; j < all; j += most) {
        const int64_t count = all - j < most ? all - j : most;
        for (int64_t k = 0; k < count; k++)
            stage[k] = x_of(j + k);
        huge_write(t->d, t->x, j * 4, stage, count * 4);
    }
}

// ---- what comes out ------------------------------------------------------------------------------------------------------

static void rows_want(void *arg, int64_t first, int64_t end)
{
    struct test *t = arg;
    int32_t col[HUGE_SLOTS];
    for (int64_t i = first; i < end; i++) {
        const int count = huge_row(&t->p, i, col);
        float sum = 0;
        for (int k = 0; k < count; k++)
            sum += value_of(t, i, col[k]) * x_of(col[k]);
        t->want[i] = sum;
    }
}

// Of A^T*x
static void columns_want(void *arg, int64_t first, int64_t end)
{
    struct test *t = arg;
    for (int64_t j = first; j < end; j++) {
        struct huge_column c = huge_column_begin(&t->p, j);
        float sum = 0;
        for (int64_t i = huge_column_next(&t->p, &c); i >= 0; i = huge_column_next(&t->p, &c))
            sum += value_of(t, i, j) * x_of(i);
        t->want[j] = sum;
    }
}

static void y_check(struct test *t, int64_t count, const char *what)
{
    int64_t wrong = -1;
    huge_read(t->d, t->y, 0, t->got, count * 4);
    if (memcmp(t->got, t->want, (size_t)count * 4))
        for (int64_t i = 0; i < count && wrong < 0; i++)
            if (t->got[i] != t->want[i])
                wrong = i;
    if (!tap_ok(wrong < 0, "%s", what))
        tap_note("y[%lld] is %g, not %g", (long long)wrong, (double)t->got[wrong], (double)t->want[wrong]);
}

// What no run writes is no result.
static weft_status y_poison(struct test *t)
{
    struct weft__kernel *fill = NULL;
    struct weft__stream stream;
    weft_status status = weft__fill_create(&fill, t->d->ctx);
    if (!status)
        status = weft__stream_begin(&stream, t->d->ctx, t->d->queue, 0, NULL, NULL);
    if (!status)
        status =
            weft__fill(&stream, fill, t->y, 0, (uint64_t)(t->p.m > t->p.n ? t->p.m : t->p.n), UINT32_C(0xffffa5a5));
    weft__kernel_release(&fill);
    return status;
}

// Bytes of what a plan holds beside the matrix, at most about.
static int64_t plan_bytes(const struct test *t, enum weft_spmv_algo algo)
{
    const int64_t elements = t->nnz / 15 * HUGE_SLOTS, entry = 4 + t->value;
    switch (algo) {
    case WEFT_SPMV_ALGO_COO:
    case WEFT_SPMV_ALGO_COO_ATOMIC:
        return t->nnz * 4 + t->nnz / 32;
    case WEFT_SPMV_ALGO_ELL:
    case WEFT_SPMV_ALGO_SELL:
    case WEFT_SPMV_ALGO_HYB:
        return elements * entry + t->p.m * 12;
    case WEFT_SPMV_ALGO_SELL16:
        return elements * (entry + 2) + t->p.m * 12;
    case WEFT_SPMV_ALGO_SDIA:
        return elements * (2 * entry);
    default:
        return t->nnz / 2 + t->p.m * 4;
    }
}

static void product(struct test *t, enum weft_spmv_algo algo, int by_atomics)
{
    struct weft_spmv_params params = {.policy.algo = algo};
    struct weft_spmv_plan *plan = NULL;
    char what[200];
    params.problem.transpose = by_atomics ? WEFT_SPMV_TRANSPOSE_BY_ATOMICS : WEFT_SPMV_TRANSPOSE_PLAIN;
    snprintf(what, sizeof what, "%s: %s", t->name, by_atomics ? "A^T*x by atomics" : weft_spmv_algo_name(algo));
    const int64_t matrix = t->nnz * (4 + t->value) + t->p.m * (t->offset + 8);
    if (!huge_fits(t->d, matrix + plan_bytes(t, algo), t->nnz * 4, t->p.m * (t->offset + 8), what))
        return;
    huge_time_begin(t->d);
    weft_status status = weft_spmv_plan_create(&plan, t->d->ctx, t->d->queue, &t->a, &params);
    huge_time_note(t->d, "%s: made", what);
    if (!status)
        status = y_poison(t);
    for (int again = 0; again < 2 && !status; again++) {
        status = weft_spmv_run(plan, t->d->queue, t->y, 1, t->x, 0, 0, NULL, NULL);
        huge_time_note(t->d, "%s: run", what);
    }
    if (tap_ok(!status, "%s: runs", what)) {
        const struct weft_spmv_info *info = weft_spmv_plan_info(plan);
        tap_note("%s: %s", weft_spmv_algo_name(info->params.policy.algo), info->why);
        y_check(t, by_atomics ? t->p.n : t->p.m, what);
        huge_time_note(t->d, "%s: checked", what);
    } else
        tap_note("%s", huge_error(t->d));
    weft_spmv_plan_destroy(&plan);
}

static void run(struct huge_device *d, const struct huge_options *o)
{
    struct test t = {.d = d, .o = o, .value = (int64_t)weft_type_bytes(o->type)};
    if (t.value && o->type != WEFT_TYPE_F32)
        tap_bail("--type is f32 or pattern here");
    t.offset = (int64_t)weft_ofs_bytes(o->ofs);
    huge_pattern_make(&t.p, o->kind, o->entries, o->columns);
    const int64_t most = t.p.m > t.p.n ? t.p.m : t.p.n; // elements of x or y
    const int64_t host = t.p.m * (t.offset + 8) + 2 * HUGE_STAGE;
    if (!huge_fits(d, (t.p.m + 1) * (t.offset + 8) + o->entries * (4 + t.value), o->entries * 4, host, "the matrix"))
        return;
    huge_time_begin(d);
    t.row_ptr = (struct huge_offsets){o->ofs, malloc((size_t)((t.p.m + 1) * t.offset))};
    t.want = malloc((size_t)most * 4);
    t.got = malloc((size_t)most * 4);
    if (!t.row_ptr.at || !t.want || !t.got)
        tap_bail("out of host memory");
    t.nnz = huge_row_ptr(&t.p, t.row_ptr);
    snprintf(t.name, sizeof t.name, "%s, %lld entries of %s", huge_kind_names[o->kind], (long long)t.nnz,
             weft_type_name(o->type));
    huge_time_note(d, "%s, %lld x %lld: row pointers", t.name, (long long)t.p.m, (long long)t.p.n);
    if (o->ofs == WEFT_OFS_32 && t.nnz > INT32_MAX)
        tap_bail("--index 32 ends at 2147483647 entries");
    const int made = !weft_device_csr_alloc(&t.a, d->ctx, weft_shape(t.p.m, t.p.n, t.nnz, o->type, o->ofs));
    if (!tap_ok(made, "%s: buffers", t.name))
        tap_note("%s", huge_error(d));
    if (made) {
        t.x = huge_buffer(d, most * 4);
        t.y = huge_buffer(d, most * 4);
        matrix_write(&t);
        x_write(&t);
        huge_time_note(d, "%s: written", t.name);
        huge_parallel(t.p.m, 4096, rows_want, &t);
        huge_time_note(d, "%s: y known", t.name);
        for (int i = WEFT_SPMV_ALGO_AUTO; strcmp(weft_spmv_algo_name((enum weft_spmv_algo)i), "unknown"); i++)
            if (huge_wanted(o, weft_spmv_algo_name((enum weft_spmv_algo)i)))
                product(&t, (enum weft_spmv_algo)i, 0);
        if (huge_wanted(o, "atomics")) {
            huge_parallel(t.p.n, 4096, columns_want, &t);
            huge_time_note(d, "%s: y of A^T known", t.name);
            product(&t, WEFT_SPMV_ALGO_AUTO, 1);
        }
    }
    huge_release(&t.x);
    huge_release(&t.y);
    weft_device_csr_free(&t.a);
    free(t.row_ptr.at);
    free(t.want);
    free(t.got);
}

int main(int argc, char **argv)
{
    struct huge_options o = {.entries = 2200000000, .type = WEFT_TYPE_F32, .ofs = WEFT_OFS_64};
    struct huge_device d;
    huge_skip_unless_wanted(argc);
    o.what = "auto,csr_scalar,csr_lanes,csr_merge,csr_flags,csr_hubs,csr_nodes,csr_fixed,coo,coo_atomic,ell,sell,hyb,"
             "atomics";
    huge_options_read(&o, argc, argv);
    huge_device_open(&d, &o);
    run(&d, &o);
    if (argc == 1) {
        o.entries *= 2;
        o.type = WEFT_TYPE_PATTERN;
        o.what = "auto,csr_scalar,csr_lanes,csr_merge,csr_flags,csr_hubs,csr_nodes,csr_fixed,coo,coo_atomic,atomics";
        run(&d, &o);
        // Near the end of 32-bit offsets.
        o.entries = INT32_MAX - 20000;
        o.type = WEFT_TYPE_F32;
        o.ofs = WEFT_OFS_32;
        o.what = "csr_lanes,csr_merge,csr_fixed,sell,atomics";
        run(&d, &o);
        // Columns that lie close enough for 16 bits; diagonals.
        o.entries = 2200000000;
        o.ofs = WEFT_OFS_64;
        o.type = WEFT_TYPE_F32;
        o.kind = HUGE_NARROW;
        o.what = "sell16";
        run(&d, &o);
        o.kind = HUGE_NEAR;
        o.what = "sdia";
        run(&d, &o);
    }
    huge_device_close(&d);
    return tap_done();
}
