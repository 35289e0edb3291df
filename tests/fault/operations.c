// SPDX-License-Identifier: Apache-2.0
// Lives of single operations: each primitive, conversions, permutation, checks and a product, as sizes, plan, run and the blocking
// form; and the list of devices.
#include "lives.h"
#include "host/internal/tests.h"

#include <string.h>
#include <weft/canonical.h>
#include <weft/convert.h>
#include <weft/expand.h>
#include <weft/histogram.h>
#include <weft/merge.h>
#include <weft/permute.h>
#include <weft/scan.h>
#include <weft/segsort.h>
#include <weft/spmv.h>
#include <weft/validate.h>

enum { N = 300, HALF = N / 2, BINS = 40, SEGMENTS = 7, BLOCK = 64 };

// What goes in, and what comes out by the reference: made before anything fails.
static struct {                             // aligned, so that each run maps the same ones
    _Alignas(128) uint32_t key[N], load[N]; // in no order
    uint32_t sorted[N], sorted_load[N];     // two halves, each in order
    int32_t index[N];                       // below BINS
    int32_t offsets[SEGMENTS + 1];          // of rows, the third of which is empty
} in;
static struct {
    int32_t sums[N + 1], pointers[BINS + 1], row[N];
    uint32_t merged[N], merged_load[N];       // of the two halves
    uint32_t rows[N], rows_load[N];           // sorted in each row
    uint32_t in_blocks[N], in_blocks_load[N]; // sorted in each block
    uint32_t whole[N], whole_load[N];
} want;

// A life: the context, and the inputs on the device.
struct job {
    struct weft_context *ctx;
    cl_command_queue queue;
    cl_mem key, load, index, offsets, out, out_load;
    int form; // of the operation: its algorithm
    int *right;
};

// Wait for a run, whose event is the caller's. The wait is the test's, not the library's.
static weft_status ended(weft_status status, cl_event *done)
{
    if (!status)
        clWaitForEvents(1, done);
    if (*done)
        weft__cl.clReleaseEvent(*done);
    *done = NULL;
    return status;
}

static weft_status compared(struct job *j, weft_status status, const void *got, const void *expected, size_t bytes)
{
    *j->right = *j->right && (status || !memcmp(got, expected, bytes));
    return status;
}

static weft_status fetched(struct job *j, weft_status status, cl_mem from, const void *expected, size_t bytes)
{
    char got[(N + 1) * 4];
    memset(got, 0xff, bytes);
    if (!status)
        status = weft_device_read_sync(got, j->ctx, j->queue, from, bytes);
    return compared(j, status, got, expected, bytes);
}

static weft_status scan(struct job *j)
{
    const struct weft_scan_params *params = weft_scan_params(.algo = (enum weft_scan_algo)j->form, .total = true);
    struct weft_scan_plan *plan = NULL;
    _Alignas(128) int32_t got[N + 1];
    cl_event done = NULL;
    size_t bytes;
    weft_status status = weft_scan_workspace(&bytes, j->ctx, WEFT_SCAN_TYPE_I32, N, params);
    if (!status)
        status = weft_scan_plan_create(&plan, j->ctx, WEFT_SCAN_TYPE_I32, N, params);
    if (!status)
        status = ended(weft_scan_run(plan, j->queue, j->out, j->index, N, 0, NULL, &done), &done);
    status = fetched(j, status, j->out, want.sums, sizeof want.sums);
    if (!status)
        status = compared(j, weft_scan_sync(got, j->ctx, in.index, N, WEFT_SCAN_TYPE_I32, params), got, want.sums,
                          sizeof got);
    clFinish(j->queue);
    weft_scan_plan_destroy(&plan);
    return status;
}

static weft_status histogram(struct job *j)
{
    const struct weft_histogram_params *params =
        weft_histogram_params(.algo = (enum weft_histogram_algo)j->form, .pointers = true);
    struct weft_histogram_plan *plan = NULL;
    _Alignas(128) int32_t got[BINS + 1];
    cl_event done = NULL;
    size_t bytes;
    weft_status status = weft_histogram_workspace(&bytes, j->ctx, BINS, WEFT_OFS_32, N, params);
    if (!status)
        status = weft_histogram_plan_create(&plan, j->ctx, BINS, WEFT_OFS_32, N, params);
    if (!status)
        status = ended(weft_histogram_run(plan, j->queue, j->out, j->index, N, 0, NULL, &done), &done);
    status = fetched(j, status, j->out, want.pointers, sizeof want.pointers);
    if (!status)
        status = compared(j, weft_histogram_sync(got, j->ctx, in.index, N, BINS, WEFT_OFS_32, params), got,
                          want.pointers, sizeof got);
    clFinish(j->queue);
    weft_histogram_plan_destroy(&plan);
    return status;
}

static weft_status expand(struct job *j)
{
    struct weft_expand_plan *plan = NULL;
    _Alignas(128) int32_t got[N];
    cl_event done = NULL;
    size_t bytes;
    weft_status status = weft_expand_workspace(&bytes, j->ctx, SEGMENTS, N, WEFT_OFS_32, NULL);
    if (!status)
        status = weft_expand_plan_create(&plan, j->ctx, SEGMENTS, N, WEFT_OFS_32, NULL);
    if (!status)
        status = ended(weft_expand_run(plan, j->queue, j->out, j->offsets, SEGMENTS, N, 0, NULL, &done), &done);
    status = fetched(j, status, j->out, want.row, sizeof want.row);
    if (!status)
        status = compared(j, weft_expand_sync(got, j->ctx, in.offsets, SEGMENTS, N, WEFT_OFS_32, NULL), got, want.row,
                          sizeof got);
    clFinish(j->queue);
    weft_expand_plan_destroy(&plan);
    return status;
}

static weft_status merge(struct job *j)
{
    struct weft_merge_plan *plan = NULL;
    _Alignas(128) uint32_t key[N], load[N]; // so that each run maps the same ones
    cl_mem sorted = NULL, sorted_load = NULL, half = NULL, half_load = NULL;
    cl_event done = NULL;
    size_t bytes;
    weft_status status = weft__buffer_create(&sorted, j->ctx, sizeof in.sorted, "keys");
    if (!status)
        status = weft__buffer_create(&sorted_load, j->ctx, sizeof in.sorted, "payload");
    if (!status)
        status = weft__buffer_create(&half, j->ctx, HALF * 4, "keys");
    if (!status)
        status = weft__buffer_create(&half_load, j->ctx, HALF * 4, "payload");
    if (!status)
        status = weft_device_write_sync(sorted, j->ctx, j->queue, in.sorted, sizeof in.sorted);
    if (!status)
        status = weft_device_write_sync(sorted_load, j->ctx, j->queue, in.sorted_load, sizeof in.sorted);
    if (!status)
        status = weft_device_write_sync(half, j->ctx, j->queue, in.sorted + HALF, HALF * 4);
    if (!status)
        status = weft_device_write_sync(half_load, j->ctx, j->queue, in.sorted_load + HALF, HALF * 4);
    if (!status)
        status = weft_merge_workspace(&bytes, j->ctx, WEFT_KEY_U32, 4, N, NULL);
    if (!status)
        status = weft_merge_plan_create(&plan, j->ctx, WEFT_KEY_U32, 4, N, NULL);
    if (!status)
        status = ended(weft_merge_run(plan, j->queue, j->out, j->out_load, sorted, sorted_load, HALF, half, half_load,
                                      HALF, 0, NULL, &done),
                       &done);
    status = fetched(j, status, j->out, want.merged, sizeof want.merged);
    status = fetched(j, status, j->out_load, want.merged_load, sizeof want.merged);
    if (!status)
        status = ended(
            weft_merge_blocks_run(plan, j->queue, j->out, j->out_load, sorted, sorted_load, N, HALF, 0, NULL, &done),
            &done);
    status = fetched(j, status, j->out_load, want.merged_load, sizeof want.merged);
    if (!status)
        status = weft_merge_sync(key, load, j->ctx, in.sorted, in.sorted_load, HALF, in.sorted + HALF,
                                 in.sorted_load + HALF, HALF, WEFT_KEY_U32, 4, NULL);
    compared(j, status, key, want.merged, sizeof key);
    compared(j, status, load, want.merged_load, sizeof load);
    clFinish(j->queue);
    weft_merge_plan_destroy(&plan);
    weft__buffer_release(&sorted);
    weft__buffer_release(&sorted_load);
    weft__buffer_release(&half);
    weft__buffer_release(&half_load);
    return status;
}

static weft_status segsort(struct job *j)
{
    const struct weft_segsort_params *params = weft_segsort_params(.whole = (enum weft_segsort_whole)j->form);
    struct weft_segsort_plan *plan = NULL;
    _Alignas(128) uint32_t key[N], load[N]; // so that each run maps the same ones
    cl_event done = NULL;
    size_t bytes;
    weft_status status = weft_segsort_workspace(&bytes, j->ctx, WEFT_KEY_U32, 4, WEFT_OFS_32, N, params);
    if (!status)
        status = weft_segsort_plan_create(&plan, j->ctx, WEFT_KEY_U32, 4, WEFT_OFS_32, N, params);
    if (!status)
        status = ended(weft_segsort_run(plan, j->queue, j->out, j->out_load, j->key, j->load, N, j->offsets, SEGMENTS,
                                        0, NULL, &done),
                       &done);
    status = fetched(j, status, j->out, want.rows, sizeof want.rows);
    status = fetched(j, status, j->out_load, want.rows_load, sizeof want.rows);
    if (!status)
        status = ended(
            weft_segsort_blocks_run(plan, j->queue, j->out, j->out_load, j->key, j->load, N, BLOCK, 0, NULL, &done),
            &done);
    status = fetched(j, status, j->out_load, want.in_blocks_load, sizeof want.rows);
    if (!status) // one segment: the form
        status = ended(
            weft_segsort_blocks_run(plan, j->queue, j->out, j->out_load, j->key, j->load, N, N, 0, NULL, &done), &done);
    status = fetched(j, status, j->out, want.whole, sizeof want.rows);
    status = fetched(j, status, j->out_load, want.whole_load, sizeof want.rows);
    if (!status)
        status = weft_segsort_sync(key, load, j->ctx, in.key, in.load, N, in.offsets, SEGMENTS, WEFT_KEY_U32, 4,
                                   WEFT_OFS_32, params);
    compared(j, status, key, want.rows, sizeof key);
    compared(j, status, load, want.rows_load, sizeof load);
    clFinish(j->queue);
    weft_segsort_plan_destroy(&plan);
    return status;
}

// To coordinates and back, on the host and on the device.
static weft_status conversion(struct job *j)
{
    const struct weft_csr *a = lives_made.input;
    const struct weft_shape shape = weft_csr_shape(a);
    struct weft_coo_to_csr *op = NULL;
    struct weft_device_coo coo = {0};
    struct weft_device_csr to = {0};
    struct weft_coo host = {0};
    struct weft_csr got = {0};
    cl_event done = NULL;
    size_t bytes;
    weft_status status = weft_csr_to_coo_sync(&host, j->ctx, a);
    *j->right = *j->right && (status ? !host.row : !memcmp(host.row, lives_made.coordinates->row, (size_t)a->nnz * 4));
    if (!status)
        status = weft_device_coo_alloc(&coo, j->ctx, shape);
    if (!status)
        status = weft_device_csr_alloc(&to, j->ctx, shape);
    if (!status)
        status = weft_device_write_sync(coo.row, j->ctx, j->queue, host.row, (size_t)a->nnz * 4);
    if (!status)
        status = weft_device_write_sync(coo.col, j->ctx, j->queue, host.col, (size_t)a->nnz * 4);
    if (!status)
        status = weft_device_write_sync(coo.val, j->ctx, j->queue, host.val, (size_t)a->nnz * 4);
    if (!status)
        status = weft_coo_to_csr_workspace(&bytes, j->ctx, shape, NULL);
    if (!status)
        status = weft_coo_to_csr_create(&op, j->ctx, shape, NULL);
    if (!status)
        status = ended(weft_coo_to_csr_run(op, j->queue, &to, &coo, 0, NULL, &done), &done);
    if (!status && weft_csr_alloc(&got, shape))
        status = weft__fail(j->ctx, WEFT_ENOMEM, "the test itself is out of memory");
    if (!status)
        status = weft_device_csr_read_sync(&got, j->ctx, j->queue, &to);
    *j->right = *j->right && (status || weft_csr_equal(&got, a));
    clFinish(j->queue);
    weft_coo_to_csr_destroy(&op);
    weft_device_coo_free(&coo);
    weft_device_csr_free(&to);
    weft_coo_free(&host);
    weft_csr_free(&got);
    return status;
}

// A permutation by its plan; the check of what comes out; the sizes of plans that other lives make; a product with host arrays.
static weft_status matrices(struct job *j)
{
    const struct weft_csr *a = lives_made.input;
    const struct weft_permutation *p = lives_made.permutation;
    const struct weft_shape shape = weft_csr_shape(a);
    struct weft_permute_plan *plan = NULL;
    struct weft_validate_plan *check = NULL;
    struct weft_device_csr from = {0}, to = {0};
    struct weft_csr got = {0};
    const int64_t none[2] = {WEFT_FAULT_NONE, 0};
    _Alignas(128) float x[60], y[50];
    struct weft_csr pattern = *a; // of any values, so that sums are lengths of rows
    cl_event done = NULL;
    size_t bytes;
    pattern.type = WEFT_TYPE_PATTERN;
    pattern.val = NULL;
    for (int i = 0; i < 60; i++)
        x[i] = 1;
    weft_status status = weft_transpose_workspace(&bytes, j->ctx, shape, NULL);
    if (!status)
        status = weft_transpose_refill_workspace(&bytes, j->ctx, shape);
    if (!status)
        status = weft_canonical_workspace(&bytes, j->ctx, shape, NULL);
    if (!status)
        status = weft_permute_workspace(&bytes, j->ctx, shape, p, NULL);
    if (!status)
        status = weft_validate_workspace(&bytes, j->ctx, shape.ofs);
    if (!status)
        status = weft_device_csr_alloc(&from, j->ctx, shape);
    if (!status)
        status = weft_device_csr_alloc(&to, j->ctx, shape);
    if (!status)
        status = weft_device_csr_write_sync(&from, j->ctx, j->queue, a);
    if (!status)
        status = weft_permute_plan_create(&plan, j->ctx, shape, p, NULL);
    if (!status)
        status = ended(weft_permute_run(plan, j->queue, &to, &from, 0, NULL, &done), &done);
    if (!status && weft_csr_alloc(&got, shape))
        status = weft__fail(j->ctx, WEFT_ENOMEM, "the test itself is out of memory");
    if (!status)
        status = weft_device_csr_read_sync(&got, j->ctx, j->queue, &to);
    *j->right = *j->right && (status || weft_csr_equal(&got, lives_made.permuted));
    if (!status)
        status = weft_validate_plan_create(&check, j->ctx, shape.ofs);
    if (!status)
        status = ended(weft_validate_run(check, j->queue, j->out, &to, WEFT_COLUMNS_ANY, 0, NULL, &done), &done);
    if (!status)
        status = weft_device_read_sync(y, j->ctx, j->queue, j->out, sizeof none);
    compared(j, status, y, none, sizeof(int64_t)); // where it is means nothing
    if (!status)
        status = weft_spmv_sync(y, j->ctx, 1, &pattern, x, 0, NULL);
    for (int i = 0; i < 50 && !status; i++)
        *j->right = *j->right && y[i] == (float)(weft_csr_ofs(a, i + 1) - weft_csr_ofs(a, i));
    clFinish(j->queue);
    weft_validate_plan_destroy(&check);
    weft_permute_plan_destroy(&plan);
    weft_device_csr_free(&from);
    weft_device_csr_free(&to);
    weft_csr_free(&got);
    return status;
}

static const struct operation {
    const char *name;
    weft_status (*run)(struct job *j);
    int form;
    bool gpu; // of that schedule alone
} operations[] = {
    {"scan", scan, WEFT_SCAN_ALGO_THREE, false},
    {"chained scan", scan, WEFT_SCAN_ALGO_CHAINED, true},
    {"histogram", histogram, WEFT_HISTOGRAM_ALGO_ROWS, false},
    {"atomic histogram", histogram, WEFT_HISTOGRAM_ALGO_ATOMIC, true},
    {"expand", expand, 0, false},
    {"merge", merge, 0, false},
    {"sort by merges", segsort, WEFT_SEGSORT_WHOLE_MERGE, false},
    {"sort by digits", segsort, WEFT_SEGSORT_WHOLE_RADIX, true},
    {"chained sort", segsort, WEFT_SEGSORT_WHOLE_CHAINED, true},
    {"conversion", conversion, 0, false},
    {"matrices", matrices, 0, false},
};

// The ith of those that the schedule has; NULL behind the last.
static const struct operation *operation_of(size_t i)
{
    for (size_t k = 0; k < sizeof operations / sizeof *operations; k++)
        if (!operations[k].gpu || lives.schedule == WEFT_SCHEDULE_GPU)
            if (!i--)
                return &operations[k];
    return NULL;
}

const char *lives_operation_name(size_t i)
{
    const struct operation *o = operation_of(i);
    return o ? o->name : NULL;
}

weft_status operation_life(struct weft_error *err, int *right)
{
    const struct operation *o = operation_of(lives.number);
    struct job j = {.form = o->form, .right = right};
    weft_status status = lives_begin(&j.ctx, &j.queue, err, right);
    if (status)
        return status;
    const struct {
        cl_mem *buffer;
        const void *data;
        size_t bytes;
    } arrays[] = {{&j.key, in.key, sizeof in.key},       {&j.load, in.load, sizeof in.load},
                  {&j.index, in.index, sizeof in.index}, {&j.offsets, in.offsets, sizeof in.offsets},
                  {&j.out, NULL, (N + 1) * 4},           {&j.out_load, NULL, N * 4}};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays && !status; i++) {
        status = weft__buffer_create(arrays[i].buffer, j.ctx, arrays[i].bytes, "an array");
        if (!status && arrays[i].data)
            status = weft_device_write_sync(*arrays[i].buffer, j.ctx, j.queue, arrays[i].data, arrays[i].bytes);
    }
    if (!status)
        status = o->run(&j);
    lives_finish(j.ctx, j.queue, status, err, right);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        weft__buffer_release(arrays[i].buffer);
    clReleaseCommandQueue(j.queue);
    weft_context_destroy(&j.ctx);
    return status;
}

weft_status devices_life(struct weft_error *err, int *right)
{
    struct weft_device_info *list = NULL;
    size_t count = 0;
    *err = (struct weft_error){0};
    weft_status status = weft_devices_list(&list, &count, err);
    *right = status ? !list : list && count;
    for (size_t i = 0; i < count && !status; i++)
        if (list[i].id == lives.device && (status = weft_device_probe(&list[i]))) {
            *err = (struct weft_error){.status = status};
            memcpy(err->text, list[i].why, weft__min(sizeof err->text, sizeof list[i].why));
        }
    weft_devices_free(&list);
    return status;
}

void lives_operations_make(struct rng *rng)
{
    const int32_t offsets[SEGMENTS + 1] = {0, 1, 90, 90, 120, 200, 299, N};
    const int64_t halves[] = {0, HALF, N}, rows[] = {0, 1, 90, 90, 120, 200, 299, N},
                  blocks[] = {0, 64, 128, 192, 256, N}, all[] = {0, N};
    memcpy(in.offsets, offsets, sizeof offsets);
    for (uint32_t i = 0; i < N; i++) {
        in.key[i] = (uint32_t)rng_below(rng, 100);
        in.load[i] = i;
        in.index[i] = (int32_t)rng_below(rng, BINS);
    }
    weft__ref_scan(want.sums, in.index, N, WEFT_SCAN_TYPE_I32, 0, 1);
    weft__ref_histogram(want.pointers, in.index, N, BINS, WEFT_OFS_32, 1);
    weft__ref_expand(want.row, in.offsets, SEGMENTS, WEFT_OFS_32);
    if (weft__ref_segsort(WEFT_KEY_U32, 4, in.sorted, in.sorted_load, in.key, in.load, halves, 2) ||
        weft__ref_segsort(WEFT_KEY_U32, 4, want.rows, want.rows_load, in.key, in.load, rows, SEGMENTS) ||
        weft__ref_segsort(WEFT_KEY_U32, 4, want.in_blocks, want.in_blocks_load, in.key, in.load, blocks, 5) ||
        weft__ref_segsort(WEFT_KEY_U32, 4, want.whole, want.whole_load, in.key, in.load, all, 1))
        tap_bail("out of host memory");
    weft__ref_merge_blocks(WEFT_KEY_U32, 4, want.merged, want.merged_load, in.sorted, in.sorted_load, N, HALF);
}
