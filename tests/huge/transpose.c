// SPDX-License-Identifier: Apache-2.0
// Transpositions of more than 2^31 entries on one device, verified against a pattern whose transpose is known: by ScanTrans,
// MergeTrans and what AUTO takes, a plan and its refill, conversions from and to coordinates.
//
//     WEFT_HUGE=1 meson test -C build --suite huge
//     build/tests/huge/test-huge_transpose --entries 4.4e9 --type pattern --what scan,merge
//
// Options: device.h; --what scan,merge,auto,plan,coo,expand. Without any: 2.2e9 entries of f32, then 4.4e9 of a pattern.
// A matrix of weft_generate, which takes longer, is verified by a sum over its entries: --generate band:146000000,15.
#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/convert.h>
#include <weft/expand.h>
#include <weft/generate.h>

struct test {
    struct huge_device *d;
    const struct huge_options *o;
    struct huge_pattern p;
    struct huge_offsets row_ptr;
    int64_t nnz, value, offset; // bytes of a value, of an offset
    struct weft_device_csr a;
    char name[100];
};

static int64_t csr_bytes(const struct test *t, int64_t rows, int64_t value)
{
    return (rows + 1) * t->offset + t->nnz * (4 + value);
}

static int64_t largest(const struct test *t, int64_t value)
{
    const int64_t entry = value > 4 ? value : 4, rows = t->p.m > t->p.n ? t->p.m : t->p.n;
    return t->nnz * entry > (rows + 1) * t->offset ? t->nnz * entry : (rows + 1) * t->offset;
}

static int64_t host_bytes(const struct test *t)
{
    return (t->p.m + t->p.n + 2) * t->offset + 2 * HUGE_STAGE;
}

static void transpose(struct test *t, enum weft_transpose_algo algo, const char *name)
{
    const struct weft_transpose_params params = {.algo = algo};
    struct weft_transpose_plan *op = NULL;
    struct weft_device_csr at = {0};
    char what[200];
    size_t scratch = 0;
    snprintf(what, sizeof what, "%s by %s", t->name, name);
    weft_status status =
        weft_transpose_workspace(&scratch, t->d->ctx, weft_shape(t->p.m, t->p.n, t->nnz, t->a.type, t->a.ofs), &params);
    if (!tap_ok(!status, "%s: workspace", what)) {
        tap_note("%s", huge_error(t->d));
        return;
    }
    if (!huge_fits(t->d, csr_bytes(t, t->p.m, t->value) + csr_bytes(t, t->p.n, t->value) + (int64_t)scratch,
                   largest(t, t->value), host_bytes(t), what))
        return;
    huge_time_begin(t->d);
    status =
        weft_transpose_plan_create(&op, t->d->ctx, weft_shape(t->p.m, t->p.n, t->nnz, t->a.type, t->a.ofs), &params);
    if (!status)
        status = weft_device_csr_alloc(&at, t->d->ctx, weft_shape(t->p.n, t->p.m, t->nnz, t->a.type, t->a.ofs));
    huge_time_note(t->d, "%s: made", what);
    for (int again = 0; again < 2 && !status; again++) {
        status = weft_transpose_run(op, t->d->queue, &at, &t->a, 0, NULL, NULL);
        huge_time_note(t->d, "%s: run", what);
    }
    if (tap_ok(!status, "%s: runs", what)) {
        const struct weft_transpose_info *info = weft_transpose_plan_info(op);
        tap_note("%s", info->why);
        huge_check_transpose(t->d, &t->p, at.row_ptr, at.col, at.val, t->nnz, t->a.type, t->a.ofs, 0, what);
        huge_time_note(t->d, "%s: checked", what);
    } else
        tap_note("%s", huge_error(t->d));
    weft_transpose_plan_destroy(&op);
    weft_device_csr_free(&at);
}

// Values for a plan: those of A are not needed any more.
static void plan(struct test *t)
{
    struct weft_transpose_refill *plan = NULL;
    const int64_t value = t->value ? t->value : 4;
    const enum weft_type type = t->value ? t->a.type : WEFT_TYPE_F32;
    char what[200];
    size_t scratch = 0;
    snprintf(what, sizeof what, "%s by a plan", t->name);
    weft_status status = weft_transpose_workspace(
        &scratch, t->d->ctx,
        weft_shape(t->p.m, t->p.n, t->nnz, t->a.ofs == WEFT_OFS_64 ? WEFT_TYPE_F64 : WEFT_TYPE_I32, t->a.ofs), NULL);
    int64_t bytes = csr_bytes(t, t->p.m, t->value) + csr_bytes(t, t->p.n, t->offset);
    const int64_t after = bytes + t->nnz * value * (t->value ? 1 : 2);
    bytes += (int64_t)scratch;
    if (!tap_ok(!status, "%s: workspace", what) ||
        !huge_fits(t->d, bytes > after ? bytes : after, largest(t, t->offset), host_bytes(t), what))
        return;
    huge_time_begin(t->d);
    status = weft_transpose_refill_create(&plan, t->d->ctx, t->d->queue, &t->a, NULL);
    huge_time_note(t->d, "%s: analysed", what);
    if (!tap_ok(!status, "%s: analysed", what)) {
        tap_note("%s", huge_error(t->d));
        return;
    }
    struct weft_device_csr at = *weft_transpose_refill_pattern(plan), from = t->a;
    from.type = type;
    from.row_ptr = from.col = NULL;
    from.val = t->value ? t->a.val : huge_buffer(t->d, t->nnz * value);
    cl_mem val = huge_buffer(t->d, t->nnz * value);
    huge_upload(t->d, &from, &t->p, &t->row_ptr, 12345);
    huge_time_note(t->d, "%s: new values written", what);
    status = weft_transpose_refill_run(plan, t->d->queue, val, from.val, type, 0, NULL, NULL);
    huge_time_note(t->d, "%s: refilled", what);
    if (tap_ok(!status, "%s: runs", what))
        huge_check_transpose(t->d, &t->p, at.row_ptr, at.col, val, t->nnz, type, t->a.ofs, 12345, what);
    else
        tap_note("%s", huge_error(t->d));
    huge_time_note(t->d, "%s: checked", what);
    huge_release(&val);
    weft_transpose_refill_destroy(&plan);
    if (!t->value)
        huge_release(&from.val);
    else {
        huge_upload(t->d, &from, &t->p, &t->row_ptr, 0);
        huge_time_note(t->d, "%s: old values written", what);
    }
}

// The rows of a's entries, as coordinates.
static cl_mem rows_expand(struct test *t, const char *what)
{
    struct weft_expand_plan *expand = NULL;
    cl_mem row = huge_buffer(t->d, t->nnz * 4);
    weft_status status = weft_expand_plan_create(&expand, t->d->ctx, t->p.m, t->nnz, t->a.ofs, NULL);
    if (!status)
        status = weft_expand_run(expand, t->d->queue, row, t->a.row_ptr, t->p.m, t->nnz, 0, NULL, NULL);
    huge_time_note(t->d, "%s: rows of coordinates", what);
    weft_expand_plan_destroy(&expand);
    if (tap_ok(!status, "%s: rows of coordinates", what))
        return row;
    tap_note("%s", huge_error(t->d));
    huge_release(&row);
    return NULL;
}

static void to_coo(struct test *t)
{
    char what[200];
    snprintf(what, sizeof what, "%s: CSR to COO", t->name);
    if (!huge_fits(t->d, csr_bytes(t, t->p.m, t->value) + t->nnz * 4, largest(t, t->value), host_bytes(t), what))
        return;
    huge_time_begin(t->d);
    cl_mem row = rows_expand(t, what);
    if (!row)
        return;
    struct huge_bad bad = {0};
    for (int64_t i = 0, end; i < t->p.m && !bad.count; i = end) {
        end = huge_piece_end(&t->row_ptr, t->p.m, i, HUGE_PIECE);
        const int64_t first = huge_ofs(&t->row_ptr, i), count = huge_ofs(&t->row_ptr, end) - first;
        if (!count)
            continue;
        huge_read(t->d, row, first * 4, t->d->stage[0], count * 4);
        huge_rows_check(&bad, &t->p, &t->row_ptr, i, end, t->d->stage[0], NULL, NULL, t->a.type, 0);
    }
    huge_release(&row);
    tap_ok(!bad.count, "%s", what);
    if (bad.count)
        tap_note("%lld wrong, first at %lld: %s", (long long)bad.count, (long long)bad.at, bad.what);
    huge_time_note(t->d, "%s: checked", what);
}

// COO to CSC: row and column exchanged, the coordinates of A^T give the CSR matrix A^T.
static void from_coo(struct test *t)
{
    struct weft_coo_to_csr *op = NULL;
    struct weft_device_csr at = {0};
    char what[200];
    size_t scratch = 0;
    snprintf(what, sizeof what, "%s: COO to CSC", t->name);
    weft_status status =
        weft_coo_to_csr_workspace(&scratch, t->d->ctx, weft_shape(t->p.n, t->p.m, t->nnz, t->a.type, t->a.ofs), NULL);
    if (!tap_ok(!status, "%s: workspace", what) ||
        !huge_fits(t->d,
                   csr_bytes(t, t->p.m, t->value) + t->nnz * 4 + csr_bytes(t, t->p.n, t->value) + (int64_t)scratch,
                   largest(t, t->value), host_bytes(t), what))
        return;
    huge_time_begin(t->d);
    cl_mem row = rows_expand(t, what);
    if (!row)
        return;
    const struct weft_device_coo from = {
        .m = t->p.n, .n = t->p.m, .nnz = t->nnz, .type = t->a.type, .row = t->a.col, .col = row, .val = t->a.val};
    status = weft_coo_to_csr_create(&op, t->d->ctx, weft_shape(t->p.n, t->p.m, t->nnz, t->a.type, t->a.ofs), NULL);
    if (!status)
        status = weft_device_csr_alloc(&at, t->d->ctx, weft_shape(t->p.n, t->p.m, t->nnz, t->a.type, t->a.ofs));
    if (!status)
        status = weft_coo_to_csr_run(op, t->d->queue, &at, &from, 0, NULL, NULL);
    huge_time_note(t->d, "%s: run", what);
    if (tap_ok(!status, "%s: runs", what))
        huge_check_transpose(t->d, &t->p, at.row_ptr, at.col, at.val, t->nnz, t->a.type, t->a.ofs, 0, what);
    else
        tap_note("%s", huge_error(t->d));
    huge_time_note(t->d, "%s: checked", what);
    weft_coo_to_csr_destroy(&op);
    weft_device_csr_free(&at);
    huge_release(&row);
}

static void run(struct huge_device *d, const struct huge_options *o)
{
    struct test t = {.d = d, .o = o, .value = (int64_t)weft_type_bytes(o->type)};
    t.offset = (int64_t)weft_ofs_bytes(o->ofs);
    huge_pattern_make(&t.p, o->kind, o->entries, o->columns);
    if (!huge_fits(d, (t.p.m + 1) * t.offset + o->entries * (4 + t.value), o->entries * (t.value > 4 ? t.value : 4),
                   host_bytes(&t), "the matrix"))
        return;
    huge_time_begin(d);
    t.row_ptr = (struct huge_offsets){o->ofs, malloc((size_t)((t.p.m + 1) * t.offset))};
    if (!t.row_ptr.at)
        tap_bail("out of host memory");
    t.nnz = huge_row_ptr(&t.p, t.row_ptr);
    snprintf(t.name, sizeof t.name, "%s, %lld entries of %s", huge_kind_names[o->kind], (long long)t.nnz,
             weft_type_name(o->type));
    huge_time_note(d, "%s, %lld x %lld: row pointers", t.name, (long long)t.p.m, (long long)t.p.n);
    if (o->ofs == WEFT_OFS_32 && t.nnz > INT32_MAX)
        tap_bail("--index 32 ends at 2147483647 entries");
    if (!tap_ok(!weft_device_csr_alloc(&t.a, d->ctx, weft_shape(t.p.m, t.p.n, t.nnz, o->type, o->ofs)), "%s: buffers",
                t.name)) {
        tap_note("%s", huge_error(d));
        free(t.row_ptr.at);
        return;
    }
    huge_upload(d, &t.a, &t.p, &t.row_ptr, 0);
    huge_time_note(d, "%s: written", t.name);
    if (huge_wanted(o, "scan"))
        transpose(&t, WEFT_TRANSPOSE_ALGO_SCAN, "scan");
    if (huge_wanted(o, "merge"))
        transpose(&t, WEFT_TRANSPOSE_ALGO_MERGE, "merge");
    if (huge_wanted(o, "auto"))
        transpose(&t, WEFT_TRANSPOSE_ALGO_AUTO, "auto");
    if (huge_wanted(o, "plan"))
        plan(&t);
    if (huge_wanted(o, "expand"))
        to_coo(&t);
    if (huge_wanted(o, "coo"))
        from_coo(&t);
    weft_device_csr_free(&t.a);
    free(t.row_ptr.at);
}

// The sum over the entries of a device matrix, read in pieces; an all-zero *bad stays so where nothing is wrong.
static uint64_t device_sum(struct huge_device *d, struct huge_bad *bad, const struct weft_device_csr *a)
{
    const int64_t width = (int64_t)weft_ofs_bytes(a->ofs), value = (int64_t)weft_type_bytes(a->type);
    struct huge_part part = {.n = a->n, .bytes = (size_t)value, .turned = 1};
    uint64_t sum = 0;
    part.row_ptr = (struct huge_offsets){a->ofs, malloc((size_t)((a->m + 1) * width))};
    if (!part.row_ptr.at)
        tap_bail("out of host memory");
    huge_read(d, a->row_ptr, 0, part.row_ptr.at, (a->m + 1) * width);
    for (int64_t i = 0; i < a->m && !bad->count; i++)
        if (huge_ofs(&part.row_ptr, i) > huge_ofs(&part.row_ptr, i + 1))
            *bad = (struct huge_bad){1, i, "row pointers descend"};
    if (huge_ofs(&part.row_ptr, 0) || huge_ofs(&part.row_ptr, a->m) != a->nnz)
        *bad = (struct huge_bad){1, 0, "row pointers do not go from 0 to the number of entries"};
    for (part.first = 0; part.first < a->m && !bad->count; part.first = part.end) {
        part.end = huge_piece_end(&part.row_ptr, a->m, part.first, HUGE_PIECE);
        const int64_t first = huge_ofs(&part.row_ptr, part.first), count = huge_ofs(&part.row_ptr, part.end) - first;
        if (count > HUGE_PIECE)
            tap_bail("a row of %lld entries is more than this test takes", (long long)count);
        if (count)
            huge_read(d, a->col, first * 4, d->stage[0], count * 4);
        if (count && value)
            huge_read(d, a->val, first * value, d->stage[1], count * value);
        part.col = d->stage[0];
        part.val = value ? d->stage[1] : NULL;
        sum += huge_entries_sum(bad, &part);
    }
    free(part.row_ptr.at);
    return sum;
}

// A matrix of weft_generate: its transpose has the same entries, in order.
static void generated(struct huge_device *d, const struct huge_options *o)
{
    const struct weft_generate_params how = {.type = o->type, .ofs = o->ofs, .seed = 1};
    static const struct {
        const char *name;
        enum weft_transpose_algo algo;
    } algos[] = {
        {"scan", WEFT_TRANSPOSE_ALGO_SCAN}, {"merge", WEFT_TRANSPOSE_ALGO_MERGE}, {"auto", WEFT_TRANSPOSE_ALGO_AUTO}};
    struct weft_csr a;
    struct weft_device_csr from = {0}, to = {0};
    struct weft_error error = {0};
    struct huge_bad bad = {0};
    huge_time_begin(d);
    weft_status status = weft_generate(&a, o->generate, &how, &error);
    huge_time_note(d, "%s: generated", o->generate);
    if (!tap_ok(!status, "%s: generated", o->generate)) {
        tap_note("%s", error.text);
        return;
    }
    status = weft_csr_validate(&a, &error);
    tap_ok(!status, "%s: %lld x %lld, %lld entries, valid", o->generate, (long long)a.m, (long long)a.n,
           (long long)a.nnz);
    if (status)
        tap_note("%s", error.text);
    const struct huge_part all = {.row_ptr = {a.ofs, a.row_ptr},
                                  .end = a.m,
                                  .n = a.n,
                                  .col = a.col,
                                  .val = a.val,
                                  .bytes = weft_type_bytes(a.type)};
    const uint64_t want = huge_entries_sum(&bad, &all);
    huge_time_note(d, "%s: looked at", o->generate);
    status = status ? status : weft_device_csr_alloc(&from, d->ctx, weft_csr_shape(&a));
    if (!status)
        status = weft_device_csr_alloc(&to, d->ctx, weft_shape_transposed(weft_csr_shape(&a)));
    if (!status)
        status = weft_device_csr_write_sync(&from, d->ctx, d->queue, &a);
    huge_time_note(d, "%s: written", o->generate);
    for (int i = 0; i < 3 && !status; i++) {
        if (!huge_wanted(o, algos[i].name))
            continue;
        struct weft_transpose_plan *op = NULL;
        status =
            weft_transpose_plan_create(&op, d->ctx, weft_csr_shape(&a), weft_transpose_params(.algo = algos[i].algo));
        if (!status)
            status = weft_transpose_run(op, d->queue, &to, &from, 0, NULL, NULL);
        huge_time_note(d, "%s by %s: run", o->generate, algos[i].name);
        const uint64_t got = status ? 0 : device_sum(d, &bad, &to);
        tap_ok(!status && !bad.count && got == want, "%s by %s", o->generate, algos[i].name);
        if (bad.count)
            tap_note("%lld wrong, first at %lld: %s", (long long)bad.count, (long long)bad.at, bad.what);
        huge_time_note(d, "%s by %s: checked", o->generate, algos[i].name);
        weft_transpose_plan_destroy(&op);
    }
    if (status)
        tap_note("%s", huge_error(d));
    weft_device_csr_free(&from);
    weft_device_csr_free(&to);
    weft_csr_free(&a);
}

int main(int argc, char **argv)
{
    struct huge_options o = {.entries = 2200000000, .type = WEFT_TYPE_F32, .ofs = WEFT_OFS_64};
    struct huge_device d;
    huge_skip_unless_wanted(argc);
    o.what = "scan,merge,auto,plan,expand,coo";
    huge_options_read(&o, argc, argv);
    huge_device_open(&d, &o);
    if (o.generate)
        generated(&d, &o);
    else
        run(&d, &o);
    if (argc == 1) {
        o.entries *= 2;
        o.type = WEFT_TYPE_PATTERN;
        o.what = "scan,merge,auto,expand";
        run(&d, &o);
        o.kind = HUGE_MIRROR;
        o.what = "auto";
        run(&d, &o);
        o.kind = HUGE_NARROW;
        o.what = "scan,merge";
        run(&d, &o);
    }
    huge_device_close(&d);
    return tap_done();
}
