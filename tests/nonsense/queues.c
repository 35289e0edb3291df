// SPDX-License-Identifier: Apache-2.0
// A queue of another OpenCL context: every function that takes a queue refuses it. An event that was asked for is NULL then. Plans
// refuse a matrix with a buffer of another context.
#include "nonsense.h"

static int32_t row_ptr[] = {0, 2, 3}, col[] = {0, 2, 1};
static float val[] = {1, 2, 3};
static const struct weft_csr good = {.m = 2, .n = 3, .nnz = 3, .row_ptr = row_ptr, .col = col, .val = val};

// main.c compares these functions with those in the headers that have a queue.
#define OTHER(function, ...)                                                                                           \
    do {                                                                                                               \
        nonsense_queued(#function, (void (*)(void))(function));                                                        \
        NO_IN("of another OpenCL context", function(__VA_ARGS__));                                                     \
    } while (0)
// The same of a function that gives an event; and without a plan.
#define OTHER_RUN(function, plan, ...)                                                                                 \
    do {                                                                                                               \
        cl_event event = (cl_event)&event;                                                                             \
        OTHER(function, plan, __VA_ARGS__, 0, NULL, &event);                                                           \
        tap_ok(!event, #function ": no event");                                                                        \
        event = (cl_event)&event;                                                                                      \
        SILENT(function(NULL, __VA_ARGS__, 0, NULL, &event));                                                          \
        tap_ok(!event, #function ": no event without a plan");                                                         \
    } while (0)

static void test_matrices(struct test_device *dev, cl_command_queue q, const struct weft_device_csr *a,
                          const struct weft_device_csr *b, const struct weft_device_csr *at)
{
    struct weft_context *ctx = dev->ctx;
    struct weft_csr to = good;
    OTHER(weft_device_csr_write_sync, a, ctx, q, &good);
    OTHER(weft_device_csr_read_sync, &to, ctx, q, a);
    OTHER(weft_device_write_sync, a->val, ctx, q, good.val, 4);
    OTHER(weft_device_read_sync, to.val, ctx, q, a->val, 4);
    struct weft_transpose_plan *transpose = NULL;
    struct weft_transpose_refill *refill = NULL;
    struct weft_coo_to_csr *convert = NULL;
    struct weft_permutation p;
    struct weft_permute_plan *permute = NULL;
    struct weft_spmv_plan *spmv = NULL;
    struct weft_validate_plan *validate = NULL;
    struct weft_canonical_plan *canonical = NULL;
    struct test_buffer found = test_buffer_make(dev, NULL, 16);
    int64_t nnz;
    const struct weft_device_coo coo = {2, 3, 3, WEFT_TYPE_F32, a->col, a->col, a->val};
    const struct weft_shape shape = weft_csr_shape(&good);
    if (weft_transpose_plan_create(&transpose, ctx, shape, NULL) ||
        weft_transpose_refill_create(&refill, ctx, dev->queue, a, NULL) ||
        weft_coo_to_csr_create(&convert, ctx, shape, NULL) ||
        weft_permutation_alloc(&p, WEFT_ORDER_ROW_COL, &good, 1, NULL) ||
        weft_permute_plan_create(&permute, ctx, shape, &p, NULL) ||
        weft_spmv_plan_create(&spmv, ctx, dev->queue, a, NULL) || weft_validate_plan_create(&validate, ctx, good.ofs) ||
        weft_canonical_plan_create(&canonical, ctx, shape, NULL))
        tap_bail("no plan: %s", test_error(dev));
    OTHER_RUN(weft_transpose_run, transpose, q, at, a);
    struct weft_transpose_refill *none = refill;
    OTHER(weft_transpose_refill_create, &none, ctx, q, a, NULL);
    OTHER_RUN(weft_transpose_refill_run, refill, q, at->val, a->val, WEFT_TYPE_F32);
    OTHER_RUN(weft_coo_to_csr_run, convert, q, b, &coo);
    OTHER_RUN(weft_permute_run, permute, q, b, a);
    OTHER_RUN(weft_permute_vector_run, permute, q, b->val, a->val, WEFT_PERMUTE_SIDE_COLS, 0, WEFT_TYPE_F32);
    struct weft_spmv_plan *no_plan = spmv;
    OTHER(weft_spmv_plan_create, &no_plan, ctx, q, a, NULL);
    tap_ok(!none && !no_plan, "no plan is made");
    OTHER_RUN(weft_spmv_run, spmv, q, b->val, 1, a->val, 0);
    OTHER(weft_spmv_plan_refill, spmv, q, a);
    OTHER_RUN(weft_validate_run, validate, q, found.mem, a, WEFT_COLUMNS_ANY);
    OTHER(weft_validate_sync, ctx, q, a, WEFT_COLUMNS_ANY);
    OTHER(weft_device_csr_rebase_sync, a, ctx, q, 0, 1);
    OTHER_RUN(weft_canonical_run, canonical, q, b, a);
    OTHER(weft_canonical_nnz_sync, &nnz, ctx, q, a);
    clFinish(dev->queue);
    test_buffer_free(&found);
    weft_validate_plan_destroy(&validate);
    weft_canonical_plan_destroy(&canonical);
    weft_transpose_plan_destroy(&transpose);
    weft_transpose_refill_destroy(&refill);
    weft_coo_to_csr_destroy(&convert);
    weft_permutation_free(&p);
    weft_permute_plan_destroy(&permute);
    weft_spmv_plan_destroy(&spmv);
}

// Each array of a matrix is a buffer of `other` in turn.
static void test_buffers(struct test_device *dev, cl_context other, const struct weft_device_csr *a)
{
    struct weft_spmv_plan *spmv = NULL, *none;
    struct weft_transpose_refill *refill;
    cl_int error;
    const cl_mem far = clCreateBuffer(other, CL_MEM_READ_WRITE, 64, NULL, &error);
    if (!far || weft_spmv_plan_create(&spmv, dev->ctx, dev->queue, a, NULL))
        tap_bail("%s: a second context: %d", dev->name, error);
    static const char *const words[] = {"row_ptr is of another", "col is of another", "val is of another"};
    for (int i = 0; i < 3; i++) {
        struct weft_device_csr bad = *a;
        *(i == 0 ? &bad.row_ptr : i == 1 ? &bad.col : &bad.val) = far;
        CASE(weft_spmv_plan_create);
        NO_IN(words[i], weft_spmv_plan_create(&none, dev->ctx, dev->queue, &bad, NULL));
        tap_ok(!none, "no plan");
        CASE(weft_spmv_plan_refill);
        NO_IN(words[i], weft_spmv_plan_refill(spmv, dev->queue, &bad));
        if (i == 2) // not read
            continue;
        CASE(weft_transpose_refill_create);
        NO_IN(words[i], weft_transpose_refill_create(&refill, dev->ctx, dev->queue, &bad, NULL));
        tap_ok(!refill, "no plan");
    }
    weft_spmv_plan_destroy(&spmv);
    clReleaseMemObject(far);
}

static void test_arrays(struct test_device *dev, cl_command_queue q, cl_mem in, cl_mem out)
{
    struct weft_scan_plan *scan = NULL;
    struct weft_histogram_plan *histogram = NULL;
    struct weft_expand_plan *expand = NULL;
    struct weft_merge_plan *merge = NULL;
    struct weft_segsort_plan *sort = NULL;
    if (weft_scan_plan_create(&scan, dev->ctx, WEFT_SCAN_TYPE_I32, 4, NULL) ||
        weft_histogram_plan_create(&histogram, dev->ctx, 3, WEFT_OFS_32, 4, NULL) ||
        weft_expand_plan_create(&expand, dev->ctx, 4, 4, WEFT_OFS_32, NULL) ||
        weft_merge_plan_create(&merge, dev->ctx, WEFT_KEY_U32, 0, 4, NULL) ||
        weft_segsort_plan_create(&sort, dev->ctx, WEFT_KEY_U32, 0, WEFT_OFS_32, 4, NULL))
        tap_bail("no plan: %s", test_error(dev));
    for (int n = 0; n < 2; n++) { // nothing to do is no reason to take it
        OTHER_RUN(weft_scan_run, scan, q, out, in, n);
        OTHER_RUN(weft_histogram_run, histogram, q, out, in, n);
        OTHER_RUN(weft_expand_run, expand, q, out, in, n, n);
        OTHER_RUN(weft_merge_run, merge, q, out, NULL, in, NULL, n, in, NULL, 0);
        OTHER_RUN(weft_merge_blocks_run, merge, q, out, NULL, in, NULL, n, 1);
        OTHER_RUN(weft_segsort_run, sort, q, out, NULL, in, NULL, n, in, n);
        OTHER_RUN(weft_segsort_blocks_run, sort, q, out, NULL, in, NULL, n, 1);
    }
    weft_scan_plan_destroy(&scan);
    weft_histogram_plan_destroy(&histogram);
    weft_expand_plan_destroy(&expand);
    weft_merge_plan_destroy(&merge);
    weft_segsort_plan_destroy(&sort);
}

void nonsense_queues(struct test_device *dev)
{
    cl_device_id id = weft_context_device(dev->ctx)->id;
    cl_int error;
    cl_context other = clCreateContext(NULL, 1, &id, NULL, NULL, &error);
    cl_command_queue queue = other ? clCreateCommandQueue(other, id, 0, &error) : NULL;
    struct weft_device_csr a, b, at;
    if (!queue)
        tap_bail("%s: a second context: %d", dev->name, error);
    if (weft_device_csr_alloc(&a, dev->ctx, weft_csr_shape(&good)) ||
        weft_device_csr_alloc(&b, dev->ctx, weft_csr_shape(&good)) ||
        weft_device_csr_alloc(&at, dev->ctx, weft_shape_transposed(weft_csr_shape(&good))) ||
        weft_device_csr_write_sync(&a, dev->ctx, dev->queue, &good))
        tap_bail("no matrix: %s", test_error(dev));
    tap_note("%s", dev->name);
    test_matrices(dev, queue, &a, &b, &at);
    test_buffers(dev, other, &a);
    test_arrays(dev, queue, a.col, b.col);
    weft_device_csr_free(&a);
    weft_device_csr_free(&b);
    weft_device_csr_free(&at);
    clReleaseCommandQueue(queue);
    clReleaseContext(other);
}
