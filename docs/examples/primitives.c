// SPDX-License-Identifier: Apache-2.0
// The examples of docs/scan.md, histogram.md, expand.md, merge.md, segsort.md, permute.md and canonical.md, on the small arrays shown there.
#include <inttypes.h>
#include <stdio.h>
#include <weft/weft.h>

static struct weft_context *ctx;
static cl_command_queue queue;

#define COUNT(array) ((int64_t)(sizeof(array) / sizeof *(array)))

static cl_mem buffer(const int32_t *from, int64_t n)
{
    cl_int error;
    size_t bytes = (size_t)n * sizeof *from;
    return clCreateBuffer(weft_context_cl(ctx), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, (void *)from, &error);
}

static void print(const char *name, weft_status status, cl_mem from, int64_t n)
{
    int32_t array[16];
    struct weft_error err;
    if (status) {
        weft_context_error(&err, ctx);
        printf("%s: %s\n", name, err.text);
        return;
    }
    clEnqueueReadBuffer(queue, from, CL_TRUE, 0, (size_t)n * sizeof *array, array, 0, NULL, NULL);
    printf("%s:", name);
    for (int64_t i = 0; i < n; i++)
        printf(" %" PRId32, array[i]);
    putchar('\n');
}

static void scan(void)
{
    static const int32_t elements[] = {3, 1, 0, 4, -1};
    const int64_t n = 4, n_max = 100;
    cl_mem in = buffer(elements, n), out = buffer(elements, n + 1);
    cl_event event;

    struct weft_scan_plan *plan;
    weft_status status = weft_scan_plan_create(&plan, ctx, WEFT_SCAN_TYPE_U32, n_max, weft_scan_params(.total = 1));
    if (!status) // out has n+1 elements; without .total it may be `in` itself, or n elements
        status = weft_scan_run(plan, queue, out, in, n, 0, NULL, &event);
    if (!status)
        clWaitForEvents(1, &event);
    weft_scan_plan_destroy(&plan);

    if (!status)
        clReleaseEvent(event);
    print("scan", status, out, n + 1);
    clReleaseMemObject(in);
    clReleaseMemObject(out);
}

static void histogram(void)
{
    static const int32_t indices[] = {2, 0, 2, 3}, empty[5] = {0};
    const int64_t nnz = COUNT(indices), nnz_max = nnz, n_cols = 4;
    cl_mem col = buffer(indices, nnz), col_ptr = buffer(empty, n_cols + 1);
    cl_event event;

    struct weft_histogram_plan *plan;
    weft_status status =
        weft_histogram_plan_create(&plan, ctx, n_cols, WEFT_OFS_32, nnz_max, weft_histogram_params(.pointers = 1));
    if (!status) // col_ptr has n_cols+1 elements
        status = weft_histogram_run(plan, queue, col_ptr, col, nnz, 0, NULL, &event);
    if (!status)
        clWaitForEvents(1, &event);
    weft_histogram_plan_destroy(&plan);

    if (!status)
        clReleaseEvent(event);
    print("histogram", status, col_ptr, n_cols + 1);
    clReleaseMemObject(col);
    clReleaseMemObject(col_ptr);
}

static void expand(void)
{
    static const int32_t pointers[] = {0, 2, 2, 3}, empty[3] = {0};
    const int64_t m = 3, nnz = 3, m_max = 10, nnz_max = 10;
    cl_mem row_ptr = buffer(pointers, m + 1), row = buffer(empty, nnz);
    cl_event event;

    struct weft_expand_plan *plan;
    weft_status status = weft_expand_plan_create(&plan, ctx, m_max, nnz_max, WEFT_OFS_32, NULL);
    if (!status) // row_ptr: m+1 offsets, row: nnz int32_t
        status = weft_expand_run(plan, queue, row, row_ptr, m, nnz, 0, NULL, &event);
    if (!status)
        clWaitForEvents(1, &event);
    weft_expand_plan_destroy(&plan);

    if (!status)
        clReleaseEvent(event);
    print("expand", status, row, nnz);
    clReleaseMemObject(row_ptr);
    clReleaseMemObject(row);
}

static void merge(void)
{
    static const int32_t left[] = {1, 3, 3}, right[] = {2, 3}, blocks[] = {4, 7, 1, 5, 2, 9, 3},
                         count[] = {0, 1, 2, 3, 4, 5, 6};
    const int64_t na = COUNT(left), nb = COUNT(right), n = COUNT(blocks), block = 2, n_max = n;
    cl_mem a_key = buffer(left, na), a_val = buffer(count, na), b_key = buffer(right, nb),
           b_val = buffer(count + na, nb);
    cl_mem out_key = buffer(count, na + nb), out_val = buffer(count, na + nb);
    cl_mem key = buffer(blocks, n), val = buffer(count, n), key_out = buffer(count, n), val_out = buffer(count, n);
    cl_event event[2];

    struct weft_merge_plan *plan; // keys uint32_t, with 4 bytes of payload each
    weft_status status = weft_merge_plan_create(&plan, ctx, WEFT_KEY_U32, 4, n_max, NULL);
    if (!status)
        status = weft_merge_run(plan, queue, out_key, out_val, a_key, a_val, na, b_key, b_val, nb, 0, NULL, &event[0]);
    if (!status)
        status = weft_merge_blocks_run(plan, queue, key_out, val_out, key, val, n, block, 0, NULL, &event[1]);
    if (!status)
        clWaitForEvents(2, event);
    weft_merge_plan_destroy(&plan);

    for (int i = 0; i < 2 && !status; i++)
        clReleaseEvent(event[i]);
    print("merge, two", status, out_key, na + nb);
    print("merge, two, payload", status, out_val, na + nb);
    print("merge, blocks", status, key_out, n);
    print("merge, blocks, payload", status, val_out, n);
    cl_mem all[] = {a_key, a_val, b_key, b_val, out_key, out_val, key, val, key_out, val_out};
    for (int64_t i = 0; i < COUNT(all); i++)
        clReleaseMemObject(all[i]);
}

static void segsort(void)
{
    static const int32_t columns[] = {5, 1, 4, 9, 2}, pointers[] = {0, 3, 3, 5}, count[] = {0, 1, 2, 3, 4};
    static const int32_t blocks[] = {5, 1, 4, 9, 2};
    const int64_t m = 3, nnz = COUNT(columns), n = COUNT(blocks), block = 2, n_max = n;
    cl_mem col = buffer(columns, nnz), val = buffer(count, nnz), row_ptr = buffer(pointers, m + 1);
    cl_mem key = buffer(blocks, n), pay = buffer(count, n), key_out = buffer(count, n), pay_out = buffer(count, n);
    cl_event event[2];

    struct weft_segsort_plan *plan; // keys int32_t, with 4 bytes of payload each
    weft_status status = weft_segsort_plan_create(&plan, ctx, WEFT_KEY_I32, 4, WEFT_OFS_32, n_max, NULL);
    if (!status) // sorts the columns of each row, values with them, in place
        status = weft_segsort_run(plan, queue, col, val, col, val, nnz, row_ptr, m, 0, NULL, &event[0]);
    if (!status)
        status = weft_segsort_blocks_run(plan, queue, key_out, pay_out, key, pay, n, block, 0, NULL, &event[1]);
    if (!status)
        clWaitForEvents(2, event);
    weft_segsort_plan_destroy(&plan);

    for (int i = 0; i < 2 && !status; i++)
        clReleaseEvent(event[i]);
    print("segsort, rows", status, col, nnz);
    print("segsort, rows, payload", status, val, nnz);
    print("segsort, blocks", status, key_out, n);
    cl_mem all[] = {col, val, row_ptr, key, pay, key_out, pay_out};
    for (int64_t i = 0; i < COUNT(all); i++)
        clReleaseMemObject(all[i]);
}

static void permute(void)
{
    static int32_t pointers[] = {0, 1, 1, 4}, columns[] = {1, 0, 2, 3}, values[] = {5, 6, 7, 8};
    static const int32_t product[] = {10, 20, 30};
    struct weft_csr a = {3, 4, 4, WEFT_TYPE_I32, WEFT_OFS_32, pointers, columns, values};
    struct weft_device_csr from, to;
    struct weft_error err;
    cl_mem y_new = buffer(product, a.m), y = buffer(product, a.m);
    if (weft_device_csr_alloc(&from, ctx, weft_csr_shape(&a)) || weft_device_csr_alloc(&to, ctx, weft_csr_shape(&a)) ||
        weft_device_csr_write_sync(&from, ctx, queue, &a))
        return;

    struct weft_permutation p;
    struct weft_permute_plan *plan = NULL;
    weft_status status = weft_permutation_alloc(&p, WEFT_ORDER_DEGREE, &a, 0, &err);
    if (!status)
        status = weft_permute_plan_create(&plan, ctx, weft_csr_shape(&a), &p, NULL);
    weft_permutation_free(&p);
    if (!status) // the longest row comes first
        status = weft_permute_run(plan, queue, &to, &from, 0, NULL, NULL);
    if (!status) // a product with that matrix, brought back to the old order
        status =
            weft_permute_vector_run(plan, queue, y, y_new, WEFT_PERMUTE_SIDE_ROWS, 1, WEFT_TYPE_I32, 0, NULL, NULL);
    weft_permute_plan_destroy(&plan);

    print("permute, row_ptr", status, to.row_ptr, a.m + 1);
    print("permute, col", status, to.col, a.nnz);
    print("permute, val", status, to.val, a.nnz);
    print("permute, y", status, y, a.m);
    weft_device_csr_free(&from);
    weft_device_csr_free(&to);
    clReleaseMemObject(y_new);
    clReleaseMemObject(y);
}

static void canonical(void)
{
    static int32_t pointers[] = {0, 3, 3, 6}, columns[] = {2, 0, 2, 1, 1, 0}, values[] = {5, 6, 7, 1, 2, 3};
    struct weft_csr a = {3, 3, 6, WEFT_TYPE_I32, WEFT_OFS_32, pointers, columns, values};
    struct weft_device_csr d;
    int64_t nnz = 0;
    if (weft_device_csr_alloc(&d, ctx, weft_csr_shape(&a)) || weft_device_csr_write_sync(&d, ctx, queue, &a))
        return;

    struct weft_canonical_plan *plan = NULL;
    weft_status status = weft_validate_sync(ctx, queue, &d, WEFT_COLUMNS_ANY);
    if (!status)
        status = weft_canonical_plan_create(&plan, ctx, weft_device_csr_shape(&d), NULL);
    if (!status) // in place: columns ascend, duplicates are added up
        status = weft_canonical_run(plan, queue, &d, &d, 0, NULL, NULL);
    if (!status) // as many entries as are left
        status = weft_canonical_nnz_sync(&nnz, ctx, queue, &d);
    weft_canonical_plan_destroy(&plan);

    print("canonical, row_ptr", status, d.row_ptr, a.m + 1);
    print("canonical, col", status, d.col, nnz);
    print("canonical, val", status, d.val, nnz);
    weft_device_csr_free(&d);
}

int main(void)
{
    struct weft_error err = {0};
    if (weft_context_create(&ctx, NULL, &err))
        return fprintf(stderr, "%s\n", err.text), 1;
    queue = clCreateCommandQueue(weft_context_cl(ctx), weft_context_device(ctx)->id, 0, NULL);
    scan();
    histogram();
    expand();
    merge();
    segsort();
    permute();
    canonical();
    clReleaseCommandQueue(queue);
    weft_context_destroy(&ctx);
}
