// SPDX-License-Identifier: Apache-2.0
// Plans of every operation with their inputs and what comes out by the reference: what tests of a lost device run.
#include "lost_jobs.h"
#include "host/internal/tests.h"

#include <stdlib.h>
#include <string.h>

enum { N = 20000, ROWS = 900, COLS = 700, NNZ = 9000, BLOCK = 64 };
enum { SORT, LOOK, SUM }; // forms of weft_canonical_run

static struct rng rng;
// Arrays and matrices, and what comes out by the reference.
static int32_t *small, *sums, *counts, *expanded, *turned; // turned: the first elements of small, permuted
static uint32_t *key, *sorted;
static struct weft_csr a, at, canonical, summed, permuted,
    by_rows; // by_rows: of coordinates whose entries are those of a
static struct weft_coo coo;
static struct weft_permutation moved;

#define ARGS   struct lost_job *j, cl_uint nwait, const cl_event *wait, cl_event *event
#define EVENTS nwait, wait, event

static weft_status scan_run(ARGS)
{
    return weft_scan_run(j->scan, j->queue, j->out.mem, j->in.mem, N, EVENTS);
}
static weft_status histogram_run(ARGS)
{
    return weft_histogram_run(j->histogram, j->queue, j->out.mem, j->in.mem, N, EVENTS);
}
static weft_status expand_run(ARGS)
{
    return weft_expand_run(j->expand, j->queue, j->out.mem, j->in.mem, ROWS, NNZ, EVENTS);
}
static weft_status merge_pair_run(ARGS)
{
    return weft_merge_run(j->merge, j->queue, j->out.mem, NULL, j->in.mem, NULL, N / 2, j->half.mem, NULL, N / 2,
                          EVENTS);
}
static weft_status merge_run(ARGS)
{
    return weft_merge_blocks_run(j->merge, j->queue, j->out.mem, NULL, j->in.mem, NULL, N, N / 2, EVENTS);
}
static weft_status segments_run(ARGS)
{
    return weft_segsort_run(j->segsort, j->queue, j->out.mem, NULL, j->in.mem, NULL, N, j->offsets.mem, 2, EVENTS);
}
static weft_status segsort_run(ARGS)
{
    return weft_segsort_blocks_run(j->segsort, j->queue, j->out.mem, NULL, j->in.mem, NULL, N, N, EVENTS);
}
static weft_status transpose_run(ARGS)
{
    return weft_transpose_run(j->transpose, j->queue, &j->to.d, &j->from.d, EVENTS);
}
static weft_status refill_run(ARGS)
{
    return weft_transpose_refill_run(j->refill, j->queue, j->out.mem, j->from.d.val, a.type, EVENTS);
}
static weft_status canonical_run(ARGS)
{
    return weft_canonical_run(j->canonical, j->queue, &j->to.d, &j->from.d, EVENTS);
}
static weft_status permute_run(ARGS)
{
    return weft_permute_run(j->permute, j->queue, &j->to.d, &j->from.d, EVENTS);
}
static weft_status vector_run(ARGS)
{
    return weft_permute_vector_run(j->permute, j->queue, j->out.mem, j->in.mem, WEFT_PERMUTE_SIDE_ROWS, false,
                                   WEFT_TYPE_I32, EVENTS);
}
static weft_status convert_run(ARGS)
{
    const struct weft_device_coo from = {ROWS, COLS, NNZ, a.type, j->row.mem, j->from.d.col, j->from.d.val};
    return weft_coo_to_csr_run(j->convert, j->queue, &j->to.d, &from, EVENTS);
}
static weft_status validate_run(ARGS)
{
    return weft_validate_run(j->validate, j->queue, j->out.mem, &j->from.d, WEFT_COLUMNS_ANY, EVENTS);
}
static weft_status spmv_run(ARGS)
{
    struct test_problem *p = &j->problem;
    return weft_spmv_run(j->spmv, j->queue, p->by.mem, 1, p->bx.mem, 0, EVENTS);
}

// Each operation, in the forms that differ in what they leave in their scratch memory. Arrays: one in, one out.
const struct lost_operation lost_operations[] = {
    {.name = "scan", .run = scan_run, .form = WEFT_SCAN_ALGO_THREE},
    {.name = "chained scan", .run = scan_run, .form = WEFT_SCAN_ALGO_CHAINED, .gpu = true},
    {.name = "histogram", .run = histogram_run, .form = WEFT_HISTOGRAM_ALGO_ROWS},
    {.name = "atomic histogram", .run = histogram_run, .form = WEFT_HISTOGRAM_ALGO_ATOMIC, .gpu = true},
    {.name = "expand", .run = expand_run},
    {.name = "merge", .run = merge_run},
    {.name = "merge of two arrays", .run = merge_pair_run},
    {.name = "sort of segments", .run = segments_run},
    {.name = "sort by merges", .run = segsort_run, .form = WEFT_SEGSORT_WHOLE_MERGE},
    {.name = "sort by digits", .run = segsort_run, .form = WEFT_SEGSORT_WHOLE_RADIX, .gpu = true},
    {.name = "chained sort", .run = segsort_run, .form = WEFT_SEGSORT_WHOLE_CHAINED, .gpu = true},
    {.name = "transposition by scans", .run = transpose_run, .form = WEFT_TRANSPOSE_ALGO_SCAN},
    {.name = "transposition by merges", .run = transpose_run, .form = WEFT_TRANSPOSE_ALGO_MERGE},
    {.name = "refill", .run = refill_run},
    {.name = "sorted columns", .run = canonical_run, .form = SORT},
    {.name = "sorted columns, after a look", .run = canonical_run, .form = LOOK, .blocks = true},
    {.name = "sums of duplicates", .run = canonical_run, .form = SUM},
    {.name = "permutation", .run = permute_run},
    {.name = "permutation of a vector", .run = vector_run},
    {.name = "conversion", .run = convert_run},
    {.name = "check", .run = validate_run},
    {.name = "csr_scalar", .run = spmv_run, .form = WEFT_SPMV_ALGO_CSR_SCALAR},
    {.name = "csr_lanes", .run = spmv_run, .form = WEFT_SPMV_ALGO_CSR_LANES},
    {.name = "csr_merge", .run = spmv_run, .form = WEFT_SPMV_ALGO_CSR_MERGE},
    {.name = "csr_flags", .run = spmv_run, .form = WEFT_SPMV_ALGO_CSR_FLAGS, .gpu = true},
    {.name = "csr_hubs", .run = spmv_run, .form = WEFT_SPMV_ALGO_CSR_HUBS, .gpu = true},
    {.name = "csr_nodes", .run = spmv_run, .form = WEFT_SPMV_ALGO_CSR_NODES},
    {.name = "csr_fixed", .run = spmv_run, .form = WEFT_SPMV_ALGO_CSR_FIXED},
    {.name = "coo", .run = spmv_run, .form = WEFT_SPMV_ALGO_COO},
    {.name = "coo_atomic", .run = spmv_run, .form = WEFT_SPMV_ALGO_COO_ATOMIC},
    {.name = "ell", .run = spmv_run, .form = WEFT_SPMV_ALGO_ELL},
    {.name = "sell", .run = spmv_run, .form = WEFT_SPMV_ALGO_SELL},
    {.name = "sell16", .run = spmv_run, .form = WEFT_SPMV_ALGO_SELL16},
    {.name = "sdia", .run = spmv_run, .form = WEFT_SPMV_ALGO_SDIA},
    {.name = "panels", .run = spmv_run, .form = WEFT_SPMV_ALGO_PANELS, .gpu = true},
    {.name = "hyb", .run = spmv_run, .form = WEFT_SPMV_ALGO_HYB},
    {.name = "hyb, rest on the host", .run = spmv_run, .form = WEFT_SPMV_ALGO_HYB, .host_rest = true},
    {.name = "A^T by a copy", .run = spmv_run, .form = WEFT_SPMV_ALGO_CSR, .transpose = WEFT_SPMV_TRANSPOSE_BY_COPY},
    {.name = "A^T by atomics",
     .run = spmv_run,
     .form = WEFT_SPMV_ALGO_CSR,
     .transpose = WEFT_SPMV_TRANSPOSE_BY_ATOMICS},
};
const size_t lost_count = sizeof lost_operations / sizeof *lost_operations;

// What comes out of an array operation, and how many bytes.
static const void *array_want(const struct lost_operation *o, size_t *bytes)
{
    static const int64_t fine[1] = {WEFT_FAULT_NONE};
    *bytes = o->run == expand_run      ? NNZ * 4
             : o->run == histogram_run ? BLOCK * 4
             : o->run == validate_run  ? 8
             : o->run == refill_run    ? NNZ * 4
             : o->run == vector_run    ? ROWS * 4
                                       : N * 4;
    return o->run == scan_run        ? (const void *)sums
           : o->run == histogram_run ? (const void *)counts
           : o->run == expand_run    ? (const void *)expanded
           : o->run == validate_run  ? (const void *)fine
           : o->run == refill_run    ? at.val
           : o->run == vector_run    ? (const void *)turned
           : o->run == segments_run  ? (const void *)key // the segments are in order
                                     : (const void *)sorted;
}

static const struct weft_csr *matrix_want(const struct lost_operation *o)
{
    return o->run == transpose_run   ? &at
           : o->run == canonical_run ? (o->form == SUM ? &summed : &canonical)
           : o->run == permute_run   ? &permuted
           : o->run == convert_run   ? &by_rows
                                     : NULL;
}

// The diagonals of a band, where columns ascend.
static void band_make(struct test_problem *p)
{
    for (int64_t i = 0; i < p->a.m; i++)
        for (int64_t q = weft_csr_ofs(&p->a, i); q < weft_csr_ofs(&p->a, i + 1); q++)
            p->a.col[q] = (int32_t)(weft__min((size_t)i, (size_t)p->a.n / 2) + (size_t)(q - weft_csr_ofs(&p->a, i)));
    if (weft_device_csr_write_sync(&p->d, p->dev->ctx, p->dev->queue, &p->a))
        tap_bail("%s", test_error(p->dev));
}

// The plan of a product. Where A^T is asked for, that of the transposed matrix.
static weft_status product_make(struct lost_job *j, const struct lost_operation *o)
{
    struct test_problem *p = &j->problem;
    struct weft_csr other = {0};
    struct weft_device_csr d = {0};
    j->params = (struct weft_spmv_params){.policy.algo = (enum weft_spmv_algo)o->form,
                                          .problem.transpose = o->transpose,
                                          .format.host_rest = o->host_rest,
                                          .format.max_padding = 1e9};
    if (o->form == WEFT_SPMV_ALGO_CSR_MERGE || o->form == WEFT_SPMV_ALGO_CSR_FLAGS ||
        o->form == WEFT_SPMV_ALGO_CSR_HUBS) // rows of many tiles
        j->params.gpu.wg = 32, j->params.gpu.ipt = 4;
    if (o->form == WEFT_SPMV_ALGO_SDIA)
        band_make(p);
    if (!o->transpose) {
        j->spmv = test_problem_plan(p, &j->params);
    } else {
        if (weft__ref_transpose(&other, &p->a) || weft_device_csr_alloc(&d, j->dev->ctx, weft_csr_shape(&other)) ||
            weft_device_csr_write_sync(&d, j->dev->ctx, j->dev->queue, &other) ||
            weft_spmv_plan_create(&j->spmv, j->dev->ctx, j->dev->queue, &d, &j->params))
            tap_note("%s", test_error(j->dev));
        weft_device_csr_free(&d); // the plan keeps what it needs
        weft_csr_free(&other);
    }
    if (!j->spmv)
        return WEFT_EDEVICE;
    const enum weft_spmv_algo got = weft_spmv_plan_info(j->spmv)->params.policy.algo;
    const bool same = (int)got == o->form || o->form == WEFT_SPMV_ALGO_CSR;
    if (!same)
        tap_note("it became %s", weft_spmv_algo_name(got));
    return same ? WEFT_OK : WEFT_EDEVICE;
}

static weft_status plan_make(struct lost_job *j, const struct lost_operation *o)
{
    struct weft_context *ctx = j->dev->ctx;
    const struct weft_shape shape = weft_csr_shape(&a);
    const struct weft_transpose_params by = {.algo = (enum weft_transpose_algo)o->form};
    if (o->run == scan_run)
        return weft_scan_plan_create(&j->scan, ctx, WEFT_SCAN_TYPE_I32, N,
                                     weft_scan_params(.algo = (enum weft_scan_algo)o->form));
    if (o->run == histogram_run)
        return weft_histogram_plan_create(&j->histogram, ctx, BLOCK, WEFT_OFS_32, N,
                                          weft_histogram_params(.algo = (enum weft_histogram_algo)o->form));
    if (o->run == expand_run)
        return weft_expand_plan_create(&j->expand, ctx, ROWS, NNZ, WEFT_OFS_32, NULL);
    if (o->run == merge_run || o->run == merge_pair_run)
        return weft_merge_plan_create(&j->merge, ctx, WEFT_KEY_U32, 0, N, NULL);
    if (o->run == segsort_run || o->run == segments_run)
        return weft_segsort_plan_create(&j->segsort, ctx, WEFT_KEY_U32, 0, WEFT_OFS_32, N,
                                        weft_segsort_params(.whole = (enum weft_segsort_whole)o->form));
    if (o->run == transpose_run)
        return weft_transpose_plan_create(&j->transpose, ctx, shape, &by);
    if (o->run == refill_run)
        return weft_transpose_refill_create(&j->refill, ctx, j->dev->queue, &j->from.d, NULL);
    if (o->run == canonical_run)
        return weft_canonical_plan_create(&j->canonical, ctx, shape,
                                          weft_canonical_params(.keep = o->form != SUM, .always = o->form != LOOK));
    if (o->run == permute_run || o->run == vector_run)
        return weft_permute_plan_create(&j->permute, ctx, shape, &moved, NULL);
    if (o->run == convert_run)
        return weft_coo_to_csr_create(&j->convert, ctx, shape, NULL);
    if (o->run == validate_run)
        return weft_validate_plan_create(&j->validate, ctx, a.ofs);
    return product_make(j, o);
}

// Results are overwritten, so that what a run leaves out is seen.
void lost_poison(struct lost_job *j, const struct lost_operation *o)
{
    if (o->run == spmv_run)
        test_buffer_poison(j->dev, &j->problem.by);
    else if (matrix_want(o))
        test_csr_poison(j->dev, &j->to);
    else
        test_buffer_poison(j->dev, &j->out);
}

static int is_right(struct lost_job *j, const struct lost_operation *o)
{
    char why[256];
    size_t bytes;
    if (o->run == spmv_run)
        return test_problem_right(&j->problem, &j->params, 1, 0);
    if (matrix_want(o))
        return test_csr_equal(j->dev, &j->to, matrix_want(o), why);
    const void *want = array_want(o, &bytes);
    char *got = test_alloc(bytes);
    test_buffer_read(j->dev, &j->out, got, bytes);
    const int right = !memcmp(got, want, bytes) && test_buffer_intact(j->dev, &j->out);
    free(got);
    return right;
}

// The next run of the plan, without a fault.
int lost_next_right(struct lost_job *j, const struct lost_operation *o)
{
    fault_set(FAULT_clFlush, 0);
    lost_poison(j, o);
    const weft_status status = o->run(j, 0, NULL, NULL);
    clFinish(j->queue); // results are read through that of the device
    return !status && is_right(j, o);
}

bool lost_untouched(struct lost_job *j, const struct lost_operation *o)
{
    const struct test_csr *to = &j->to;
    const struct test_buffer *b[] = {&to->row_ptr, &to->col, &to->val};
    if (!matrix_want(o))
        b[0] = o->run == spmv_run ? &j->problem.by : &j->out;
    bool good = true;
    for (int i = 0; i < (matrix_want(o) ? 3 : 1); i++) {
        char *got = test_alloc(b[i]->bytes);
        test_buffer_read(j->dev, b[i], got, b[i]->bytes);
        good = good && test_poisoned(got, b[i]->bytes);
        free(got);
    }
    return good;
}

bool lost_begin(struct lost_job *j, struct test_device *dev, const struct lost_operation *o)
{
    size_t bytes;
    const struct weft_csr *to = matrix_want(o);
    const void *in = o->run == expand_run ? (const void *)a.row_ptr : small;
    const int32_t offsets[] = {0, N / 2, N};
    if (o->run == merge_run || o->run == merge_pair_run || o->run == segsort_run || o->run == segments_run)
        in = key;
    *j = (struct lost_job){.dev = dev, .queue = dev->queue};
    array_want(o, &bytes);
    j->problem = test_problem_make(dev, &rng, 900, 800, 6, o->form == WEFT_SPMV_ALGO_SDIA ? 60 : 1500,
                                   o->transpose ? WEFT_TYPE_I32 : WEFT_TYPE_F32, WEFT_OFS_32);
    test_csr_make(&j->from, dev, &a, a.m, a.n, a.nnz, a.type, a.ofs);
    j->row = test_buffer_make(dev, coo.row, NNZ * 4);
    j->in = test_buffer_make(dev, in, o->run == expand_run ? (ROWS + 1) * 4 : N * 4);
    j->half = test_buffer_make(dev, key + N / 2, N / 2 * 4);
    j->offsets = test_buffer_make(dev, offsets, sizeof offsets);
    j->out = test_buffer_make(dev, NULL, o->run == validate_run ? 16 : bytes);
    if (to)
        test_csr_make(&j->to, dev, NULL, to->m, to->n, a.nnz, to->type, to->ofs);
    fault_set(FAULT_clFlush, 0);
    return tap_ok(!plan_make(j, o) && lost_next_right(j, o), "%s, %s: without faults", dev->name, o->name);
}

void lost_plan_destroy(struct lost_job *j)
{
    weft_scan_plan_destroy(&j->scan);
    weft_histogram_plan_destroy(&j->histogram);
    weft_expand_plan_destroy(&j->expand);
    weft_merge_plan_destroy(&j->merge);
    weft_segsort_plan_destroy(&j->segsort);
    weft_transpose_plan_destroy(&j->transpose);
    weft_transpose_refill_destroy(&j->refill);
    weft_canonical_plan_destroy(&j->canonical);
    weft_permute_plan_destroy(&j->permute);
    weft_coo_to_csr_destroy(&j->convert);
    weft_validate_plan_destroy(&j->validate);
    weft_spmv_plan_destroy(&j->spmv);
}

void lost_end(struct lost_job *j)
{
    clFinish(j->queue);
    clFinish(j->dev->queue);
    lost_plan_destroy(j);
    test_problem_free(&j->problem);
    test_csr_free(&j->from);
    test_csr_free(&j->to);
    test_buffer_free(&j->row);
    test_buffer_free(&j->in);
    test_buffer_free(&j->half);
    test_buffer_free(&j->offsets);
    test_buffer_free(&j->out);
}

void lost_make(void)
{
    rng = rng_start();
    small = test_alloc(N * 4);
    sums = test_alloc(N * 4);
    counts = test_alloc(BLOCK * 4);
    expanded = test_alloc(NNZ * 4);
    turned = test_alloc(ROWS * 4);
    key = test_alloc(N * 4);
    sorted = test_alloc(N * 4);
    for (uint32_t i = 0; i < N; i++) { // two halves, each in order
        small[i] = (int32_t)rng_below(&rng, BLOCK);
        key[i] = i % (N / 2) * 3 + (i < N / 2 ? 1 : 0);
    }
    test_matrix_make(&a, &rng, TEST_SKEWED, ROWS, COLS, NNZ, WEFT_TYPE_I32, WEFT_OFS_32);
    weft__ref_scan(sums, small, N, WEFT_SCAN_TYPE_I32, 0, 0);
    weft__ref_histogram(counts, small, N, BLOCK, WEFT_OFS_32, 0);
    weft__ref_expand(expanded, a.row_ptr, ROWS, WEFT_OFS_32);
    const int64_t whole[] = {0, N};
    coo = (struct weft_coo){ROWS, COLS, NNZ, a.type, test_alloc(NNZ * 4), a.col, a.val};
    for (int32_t p = 0; p < NNZ; p++)
        coo.row[p] = (int32_t)rng_below(&rng, ROWS);
    if (weft__ref_segsort(WEFT_KEY_U32, 0, sorted, NULL, key, NULL, whole, 1) || weft__ref_transpose(&at, &a) ||
        weft__ref_canonical(&canonical, &a, 1) || weft__ref_canonical(&summed, &a, 0) ||
        weft_csr_from_coo(&by_rows, &coo, WEFT_OFS_32, NULL) ||
        weft_permutation_alloc(&moved, WEFT_ORDER_ROW_COL, &a, 3, NULL) ||
        weft_csr_permute(&permuted, &a, &moved, NULL, NULL) ||
        weft_vector_permute(turned, small, &moved, WEFT_PERMUTE_SIDE_ROWS, false, 4))
        tap_bail("out of host memory");
}

void lost_free(void)
{
    weft_permutation_free(&moved);
    weft_csr_free(&a);
    weft_csr_free(&at);
    weft_csr_free(&canonical);
    weft_csr_free(&summed);
    weft_csr_free(&permuted);
    weft_csr_free(&by_rows);
    free(coo.row);
    free(small);
    free(sums);
    free(counts);
    free(expanded);
    free(turned);
    free(key);
    free(sorted);
}

const struct weft_csr *lost_matrix(void)
{
    return &a;
}

const struct weft_csr *lost_transposed(void)
{
    return &at;
}
