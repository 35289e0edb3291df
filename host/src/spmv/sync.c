// SPDX-License-Identifier: Apache-2.0
// SpMV with vectors of the host, in one call.
#include "plan.h"
#include "host/src/matrix/device_csr.h"

weft_status weft_spmv_sync(void *y, struct weft_context *ctx, double alpha, const struct weft_csr *a, const void *x,
                           double beta, const struct weft_spmv_params *params)
{
    struct weft_error err = {0};
    struct weft_device_csr d = {0};
    struct weft_spmv_plan *plan = NULL;
    cl_command_queue queue = NULL;
    cl_mem dx = NULL, dy = NULL;
    size_t x_bytes = 0, y_bytes = 0;
    if (!ctx)
        return WEFT_EINVAL;
    weft_status status = weft_csr_validate(a, &err);
    if (status)
        return weft__fail(ctx, status, "%s", err.text);
    status = weft__queue_create(&queue, ctx);
    if (!status)
        status = weft_device_csr_alloc(&d, ctx, weft_csr_shape(a));
    if (!status)
        status = weft_device_csr_write_sync(&d, ctx, queue, a);
    if (!status)
        status = weft_spmv_plan_create(&plan, ctx, queue, &d, params);
    if (!status) {
        x_bytes = (size_t)plan->x_size * weft_type_bytes(plan->type);
        y_bytes = (size_t)plan->y_size * weft_type_bytes(plan->type);
        if ((x_bytes && !x) || (y_bytes && !y))
            status = weft__fail(ctx, WEFT_EINVAL, "%s is NULL", x_bytes && !x ? "x" : "y");
    }
    if (!status)
        status = weft__buffer_create(&dx, ctx, x_bytes, "x");
    if (!status)
        status = weft__buffer_create(&dy, ctx, y_bytes, "y");
    if (!status)
        status = weft__copy_in(ctx, queue, dx, x, x_bytes);
    if (!status && beta != 0)
        status = weft__copy_in(ctx, queue, dy, y, y_bytes);
    if (!status)
        status = weft_spmv_run(plan, queue, dy, alpha, dx, beta, 0, NULL, NULL);
    if (!status)
        status = weft__copy_out(ctx, queue, y, dy, y_bytes);
    weft_spmv_plan_destroy(&plan);
    weft__buffer_release(&dx);
    weft__buffer_release(&dy);
    weft_device_csr_free(&d);
    weft__queue_release(&queue);
    return status;
}
