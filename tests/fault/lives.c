// SPDX-License-Identifier: Apache-2.0
// Whole lives of the library, one for each kind of operation, with a look whether what they computed is right.
#include "lives.h"
#include "host/internal/tests.h"

#include <string.h>
#include <weft/canonical.h>
#include <weft/convert.h>
#include <weft/expand.h>
#include <weft/permute.h>
#include <weft/spmv.h>

struct lives lives;

// What the lives work on: made before anything fails.
static struct weft_csr input, output; // output: the transpose of input
static struct weft_csr ordered;       // columns of a row ascend
static struct weft_coo coordinates;   // of input, row by row

// The caller's queue is out of order, so that barriers between kernels are needed, and not part of the faults.
static cl_command_queue queue_make(struct weft_context *ctx)
{
    cl_int error;
    cl_command_queue queue =
        clCreateCommandQueue(weft_context_cl(ctx), lives.device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &error);
    return queue ? queue : clCreateCommandQueue(weft_context_cl(ctx), lives.device, 0, &error);
}

weft_status lives_begin(struct weft_context **ctx, cl_command_queue *queue, struct weft_error *err, int *right)
{
    *err = (struct weft_error){0};
    weft_status status = weft_context_create(
        ctx, weft_context_params(.device = lives.device, .schedule = lives.schedule, .cache_dir = lives.cache_dir),
        err);
    *right = !status || !*ctx;
    if (!status)
        *queue = queue_make(*ctx);
    return status;
}

void lives_finish(struct weft_context *ctx, cl_command_queue queue, weft_status status, struct weft_error *err,
                  int *right)
{
    if (status) {
        weft_context_error(err, ctx);
        *right = *right && err->status == status;
    }
    clFinish(queue);
}

// A host array as a buffer and back, aligned as every schedule wants it: maps where memory is shared, else copies.
static weft_status lend_once(struct weft_context *ctx, cl_command_queue in)
{
    static _Alignas(128) int32_t array[32];
    cl_mem buffer = NULL;
    weft_status status = weft__lend_begin(&buffer, ctx, in, WEFT__LEND_BOTH, array, sizeof array, "the array");
    if (!status)
        status = weft__lend_end(ctx, in, buffer, array, sizeof array);
    weft__buffer_release(&buffer);
    return status;
}

weft_status transpose_life(struct weft_error *err, int *right)
{
    struct weft_context *ctx = NULL;
    struct weft_device_csr a = {0}, at = {0};
    struct weft_transpose_plan *op = NULL;
    struct weft_transpose_refill *plan = NULL;
    struct weft_csr got = {0}, csr = {0}, none = {0}, empty = {.m = 3, .n = 4, .type = WEFT_TYPE_F32};
    int32_t zeros[5] = {0};
    cl_command_queue queue = NULL;
    cl_event done = NULL;
    struct weft_transpose_params params = {.algo = lives.algo};
    weft_status status = lives_begin(&ctx, &queue, err, right);
    if (status)
        return status;
    status = weft_device_csr_alloc(&a, ctx, weft_csr_shape(&input));
    if (!status)
        status = weft_device_csr_alloc(&at, ctx, weft_shape_transposed(weft_csr_shape(&input)));
    if (!status)
        status = weft_device_csr_write_sync(&a, ctx, queue, &input);
    if (!status)
        status = weft_transpose_plan_create(&op, ctx, weft_csr_shape(&input), &params);
    if (!status)
        status = weft_transpose_run(op, queue, &at, &a, 0, NULL, &done);
    if (!status) { // not in the table: the test waits, not the library
        clWaitForEvents(1, &done);
        weft__cl.clReleaseEvent(done);
        done = NULL;
    }
    if (!status)
        status = weft_csr_alloc(&got, weft_shape_transposed(weft_csr_shape(&input)))
                     ? weft__fail(ctx, WEFT_ENOMEM, "the test itself is out of memory")
                     : WEFT_OK;
    if (!status)
        status = weft_device_csr_read_sync(&got, ctx, queue, &at);
    if (!status)
        *right = weft_csr_equal(&got, &output);
    if (!status)
        status = weft_transpose_refill_create(&plan, ctx, queue, &a, &params);
    if (!status)
        status = weft_transpose_refill_run(plan, queue, at.val, a.val, input.type, 0, NULL, &done);
    if (!status) {
        clWaitForEvents(1, &done);
        weft__cl.clReleaseEvent(done);
        memset(got.val, 0xff, (size_t)got.nnz * 4);
        status = weft__copy_out(ctx, queue, got.val, at.val, (size_t)got.nnz * 4);
        *right = *right && (status || weft_csr_equal(&got, &output));
    }
    if (!status)
        status = lend_once(ctx, queue);
    if (!status)
        status = weft_coo_to_csr_sync(&csr, ctx, &coordinates, input.ofs, &params);
    *right = *right && (status || weft_csr_equal(&csr, &input));
    empty.row_ptr = zeros;
    if (!status)
        status = weft_transpose_sync(&none, ctx, &empty, &params);
    *right = *right && (status || (none.m == 4 && none.row_ptr && !memcmp(none.row_ptr, zeros, sizeof zeros)));
    lives_finish(ctx, queue, status, err, right);
    weft_csr_free(&got);
    weft_csr_free(&csr);
    weft_csr_free(&none);
    weft_transpose_plan_destroy(&op);
    weft_transpose_refill_destroy(&plan);
    weft_device_csr_free(&a);
    weft_device_csr_free(&at);
    clReleaseCommandQueue(queue);
    weft_context_destroy(&ctx);
    return status;
}

// What a life with products makes: a plan, a run, new values, a run.
static const struct spmv_case {
    const char *name;
    int ordered; // nonzero: the matrix whose columns ascend
    struct weft_spmv_params params;
} spmv_cases[] = {
    {"csr_merge", 0, {.policy.algo = WEFT_SPMV_ALGO_CSR_MERGE}},
    {"csr_flags", 0, {.policy.algo = WEFT_SPMV_ALGO_CSR_FLAGS}},
    {"csr_hubs", 0, {.policy.algo = WEFT_SPMV_ALGO_CSR_HUBS}},
    {"csr_nodes", 0, {.policy.algo = WEFT_SPMV_ALGO_CSR_NODES}},
    {"sell", 0, {.policy.algo = WEFT_SPMV_ALGO_SELL, .format.max_padding = 100}},
    {"sell16", 0, {.policy.algo = WEFT_SPMV_ALGO_SELL16, .format.max_padding = 100}},
    {"panels", 0, {.policy.algo = WEFT_SPMV_ALGO_PANELS, .format.max_padding = 100}},
    {"sdia", 1, {.policy.algo = WEFT_SPMV_ALGO_SDIA, .format.max_padding = 100}},
    {"sell for sdia", 0, {.policy.algo = WEFT_SPMV_ALGO_SDIA, .format.max_padding = 100}},
    {"hyb", 0, {.policy.algo = WEFT_SPMV_ALGO_HYB, .format.max_padding = 100}},
    {"hyb, rest on the host", 0, {.policy.algo = WEFT_SPMV_ALGO_HYB, .format.max_padding = 100, .format.host_rest = 1}},
    {"coo, transposed", 0, {.policy.algo = WEFT_SPMV_ALGO_COO, .problem.transpose = WEFT_SPMV_TRANSPOSE_BY_COPY}},
    {"A^T by atomics", 0, {.problem.transpose = WEFT_SPMV_TRANSPOSE_BY_ATOMICS}},
    {"csr_fixed", 0, {.policy.mode = WEFT_SPMV_MODE_REPRODUCIBLE}},
    {"measured", 0, {.policy.algo = WEFT_SPMV_ALGO_CSR_LANES, .gpu.lanes = 4, .cpu.lanes = 4, .policy.tune = 1}},
};

// y = times*A*ones, for the integers of `input` or of its transpose.
static int product_right(const struct weft_csr *a, const int32_t *y, uint32_t times)
{
    for (int64_t i = 0; i < a->m; i++) {
        uint32_t sum = 0;
        for (int64_t p = weft_csr_ofs(a, i); p < weft_csr_ofs(a, i + 1); p++)
            sum += ((const uint32_t *)a->val)[p];
        if ((uint32_t)y[i] != times * sum)
            return 0;
    }
    return 1;
}

weft_status spmv_life(struct weft_error *err, int *right)
{
    struct weft_context *ctx = NULL;
    struct weft_device_csr a = {0};
    struct weft_spmv_plan *plan = NULL;
    cl_command_queue queue = NULL;
    cl_mem x = NULL, y = NULL;
    int32_t ones[60], got[60];
    uint32_t tripled[300];
    const struct spmv_case *spmv_case = &spmv_cases[lives.number];
    const int turned = spmv_case->params.problem.transpose != WEFT_SPMV_TRANSPOSE_PLAIN;
    const struct weft_csr *from = spmv_case->ordered ? &ordered : &input, *what = turned ? &output : from;
    for (int i = 0; i < 60; i++)
        ones[i] = 1;
    for (int p = 0; p < 300; p++)
        tripled[p] = 3 * ((const uint32_t *)from->val)[p];
    weft_status status = lives_begin(&ctx, &queue, err, right);
    if (status)
        return status;
    status = weft_device_csr_alloc(&a, ctx, weft_csr_shape(from));
    if (!status)
        status = weft_device_csr_write_sync(&a, ctx, queue, from);
    if (!status)
        status = weft__buffer_create(&x, ctx, sizeof ones, "x");
    if (!status)
        status = weft__buffer_create(&y, ctx, sizeof got, "y");
    if (!status)
        status = weft__copy_in(ctx, queue, x, ones, sizeof ones);
    if (!status)
        status = weft_spmv_plan_create(&plan, ctx, queue, &a, &spmv_case->params);
    for (int round = 0; round < 2 && !status; round++) {
        cl_event done = NULL;
        status = weft_spmv_run(plan, queue, y, 2, x, round, 0, NULL, &done);
        if (!status)
            clWaitForEvents(1, &done);
        if (done)
            weft__cl.clReleaseEvent(done);
        if (!status)
            status = weft__copy_out(ctx, queue, got, y, sizeof got);
        *right = *right && (status || product_right(what, got, round ? 8 : 2)); // 2 A, then 2 (3 A) beside it
        if (!status && round == 0)
            status = weft__copy_in(ctx, queue, a.val, tripled, sizeof tripled);
        if (!status && round == 0)
            status = weft_spmv_plan_refill(plan, queue, &a);
    }
    lives_finish(ctx, queue, status, err, right);
    weft_spmv_plan_destroy(&plan);
    weft__buffer_release(&x);
    weft__buffer_release(&y);
    weft_device_csr_free(&a);
    clReleaseCommandQueue(queue);
    weft_context_destroy(&ctx);
    return status;
}

// A matrix whose rows and columns move, and a vector.
static struct weft_permutation permutation;
static struct weft_csr permuted;

weft_status permute_life(struct weft_error *err, int *right)
{
    struct weft_context *ctx = NULL;
    struct weft_permute_plan *plan = NULL;
    struct weft_csr got = {0};
    cl_command_queue queue = NULL;
    cl_mem in = NULL, out = NULL;
    cl_event done = NULL;
    int32_t vector[60];
    int32_t row[300] = {0};
    weft_status status = lives_begin(&ctx, &queue, err, right);
    if (status)
        return status;
    status = weft_permute_sync(&got, ctx, &input, &permutation, NULL);
    *right = status ? !got.row_ptr : weft_csr_equal(&got, &permuted);
    if (!status)
        status = lend_once(ctx, queue);
    if (!status) { // a primitive with arrays of the host
        status = weft_expand_sync(row, ctx, input.row_ptr, input.m, input.nnz, input.ofs, NULL);
        *right = *right && (status || !memcmp(row, coordinates.row, sizeof row));
    }
    if (!status)
        status = weft_permute_plan_create(&plan, ctx, weft_csr_shape(&input), &permutation, NULL);
    if (!status)
        status = weft__buffer_create(&in, ctx, sizeof vector, "in");
    if (!status)
        status = weft__buffer_create(&out, ctx, sizeof vector, "out");
    if (!status)
        status = weft__copy_in(ctx, queue, in, permutation.col, sizeof vector);
    if (!status)
        status =
            weft_permute_vector_run(plan, queue, out, in, WEFT_PERMUTE_SIDE_COLS, 1, WEFT_TYPE_I32, 0, NULL, &done);
    if (!status)
        clWaitForEvents(1, &done);
    if (done)
        weft__cl.clReleaseEvent(done);
    if (!status)
        status = weft__copy_out(ctx, queue, vector, out, sizeof vector);
    for (int j = 0; j < 60 && !status; j++) // the map itself, brought back
        *right = *right && vector[j] == j;
    lives_finish(ctx, queue, status, err, right);
    weft_csr_free(&got);
    weft_permute_plan_destroy(&plan);
    weft__buffer_release(&in);
    weft__buffer_release(&out);
    clReleaseCommandQueue(queue);
    weft_context_destroy(&ctx);
    return status;
}

const struct lives_made lives_made = {&input, &permuted, &coordinates, &permutation};

// A matrix whose rows are sorted and summed, twice; the second time in place and already in order.
static struct weft_csr canonical;

weft_status canonical_life(struct weft_error *err, int *right)
{
    struct weft_context *ctx = NULL;
    struct weft_canonical_plan *plan = NULL;
    struct weft_csr got = {0};
    struct weft_device_csr a = {0}, b = {0};
    cl_command_queue queue = NULL;
    int64_t nnz = 0;
    weft_status status = lives_begin(&ctx, &queue, err, right);
    if (status)
        return status;
    status = weft_canonical_sync(&got, ctx, &input, NULL);
    *right = status ? !got.row_ptr : weft_csr_equal(&got, &canonical);
    if (!status)
        status = lend_once(ctx, queue);
    if (!status)
        status = weft_device_csr_alloc(&a, ctx, weft_csr_shape(&canonical));
    if (!status)
        status = weft_device_csr_alloc(&b, ctx, weft_csr_shape(&canonical));
    if (!status)
        status = weft_device_csr_write_sync(&a, ctx, queue, &canonical);
    if (!status)
        status = weft_canonical_plan_create(&plan, ctx, weft_csr_shape(&canonical), NULL);
    if (!status)
        status = weft_canonical_run(plan, queue, &b, &a, 0, NULL, NULL);
    if (!status)
        status = weft_canonical_nnz_sync(&nnz, ctx, queue, &b);
    *right = *right && (status || nnz == canonical.nnz);
    if (!status)
        status = weft_validate_sync(ctx, queue, &b, WEFT_COLUMNS_UNIQUE);
    if (!status)
        status = weft_device_csr_rebase_sync(&b, ctx, queue, 0, 1);
    if (!status)
        status = weft_device_csr_rebase_sync(&b, ctx, queue, 1, 0);
    if (!status)
        status = weft_device_csr_read_sync(&got, ctx, queue, &b);
    *right = *right && (status || weft_csr_equal(&got, &canonical));
    lives_finish(ctx, queue, status, err, right);
    weft_csr_free(&got);
    weft_canonical_plan_destroy(&plan);
    weft_device_csr_free(&a);
    weft_device_csr_free(&b);
    clReleaseCommandQueue(queue);
    weft_context_destroy(&ctx);
    return status;
}

const char *lives_spmv_name(size_t i)
{
    return i < sizeof spmv_cases / sizeof *spmv_cases ? spmv_cases[i].name : NULL;
}

void lives_make(struct rng *rng, enum weft_type type)
{
    struct weft_error err;
    test_matrix_make(&input, rng, TEST_SKEWED, 50, 60, 300, type, WEFT_OFS_32);
    if (weft_coo_alloc(&coordinates, weft_shape(.m = 50, .n = 60, .nnz = 300, .type = type)) ||
        weft_csr_alloc(&ordered, weft_shape(50, 60, 300, type, WEFT_OFS_32)))
        tap_bail("out of host memory");
    memcpy(ordered.val, input.val, 1200);
    for (int32_t p = 0; p < 300; p++)
        ordered.col[p] = p / 6 % 7 + p % 6 * 9;
    for (int32_t i = 0; i <= 50; i++)
        ((int32_t *)ordered.row_ptr)[i] = i * 6;
    for (int64_t i = 0; i < input.m; i++)
        for (int64_t p = weft_csr_ofs(&input, i); p < weft_csr_ofs(&input, i + 1); p++)
            coordinates.row[p] = (int32_t)i;
    memcpy(coordinates.col, input.col, 1200);
    memcpy(coordinates.val, input.val, 1200);
    struct weft_coo turned = {60, 50, 300, type, coordinates.col, coordinates.row, coordinates.val};
    if (weft_csr_from_coo(&output, &turned, WEFT_OFS_32, &err)) // stable: the transpose
        tap_bail("%s", err.text);
    if (weft_permutation_alloc(&permutation, WEFT_ORDER_ROW_COL, &input, 7, &err) ||
        weft_csr_permute(&permuted, &input, &permutation, NULL, &err) || weft__ref_canonical(&canonical, &input, 0))
        tap_bail("%s", err.text);
}

void lives_free(void)
{
    weft_permutation_free(&permutation);
    weft_csr_free(&permuted);
    weft_csr_free(&canonical);
    weft_csr_free(&input);
    weft_csr_free(&ordered);
    weft_csr_free(&output);
    weft_coo_free(&coordinates);
}
