// SPDX-License-Identifier: Apache-2.0
// SpMV with vectors of the host, in one call.
#include "plan.h"
#include "host/src/core/keep.h"
#include "host/src/core/lend.h"
#include "host/src/matrix/sync.h"

#include <stdlib.h>
#include <string.h>

struct bytes {
    const void *at;
    size_t count;
};

static bool overlap(struct bytes a, struct bytes b)
{
    const uintptr_t i = (uintptr_t)a.at, j = (uintptr_t)b.at;
    return a.count && b.count && i < j + b.count && j < i + a.count;
}

// Does y lie where the device reads? Then it is written in memory of its own and copied at the end.
static bool y_is_read(const struct weft_csr *a, struct bytes x, struct bytes y)
{
    const size_t nnz = (size_t)a->nnz;
    return overlap(x, y) || overlap((struct bytes){a->row_ptr, ((size_t)a->m + 1) * weft_ofs_bytes(a->ofs)}, y) ||
           overlap((struct bytes){a->col, nnz * 4}, y) ||
           overlap((struct bytes){a->val, nnz * weft_type_bytes(a->type)}, y);
}

weft_status weft_spmv_sync(void *y, struct weft_context *ctx, double alpha, const struct weft_csr *a, const void *x,
                           double beta, const struct weft_spmv_params *params)
{
    struct weft_device_csr d = {0};
    struct weft_spmv_plan *plan = NULL;
    cl_command_queue queue = NULL;
    cl_mem dx = NULL, dy = NULL;
    void *own = NULL, *to = y;
    size_t x_bytes = 0, y_bytes = 0;
    if (!ctx)
        return WEFT_EINVAL;
    weft_status status = weft__sync_check(ctx, a);
    if (status)
        return status;
    status = weft__keep_queue(&queue, ctx);
    if (!status)
        status = weft__lend_csr(&d, ctx, queue, WEFT__LEND_READ, a);
    if (!status)
        status = weft__sync_check_there(ctx, queue, &d);
    if (!status)
        status = weft_spmv_plan_create(&plan, ctx, queue, &d, params);
    if (!status) {
        x_bytes = (size_t)plan->x_size * weft_type_bytes(plan->type);
        y_bytes = (size_t)plan->y_size * weft_type_bytes(plan->type);
        if ((x_bytes && !x) || (y_bytes && !y))
            status = weft__fail(ctx, WEFT_EINVAL, "%s is NULL", x_bytes && !x ? "x" : "y");
    }
    if (!status && y_is_read(a, (struct bytes){x, x_bytes}, (struct bytes){y, y_bytes})) {
        to = own = malloc(y_bytes);
        if (!own)
            status = weft__fail(ctx, WEFT_ENOMEM, "out of host memory for y");
        else if (beta != 0)
            memcpy(own, y, y_bytes);
    }
    if (!status)
        status = weft__lend_begin(&dx, ctx, queue, WEFT__LEND_READ, x, x_bytes, "x");
    if (!status)
        status = weft__lend_begin(&dy, ctx, queue, beta != 0 ? WEFT__LEND_BOTH : WEFT__LEND_WRITE, to, y_bytes, "y");
    if (!status)
        status = weft_spmv_run(plan, queue, dy, alpha, dx, beta, 0, NULL, NULL);
    if (!status)
        status = weft__lend_end(ctx, queue, dy, to, y_bytes);
    if (status)
        weft__lend_wait(queue);
    weft_spmv_plan_destroy(&plan);
    weft__lend_release(ctx, &dx, !status);
    weft__lend_release(ctx, &dy, !status);
    weft__lend_csr_release(ctx, &d, !status);
    weft__keep_queue_end(ctx, &queue, !status);
    if (!status && own)
        memcpy(y, own, y_bytes);
    free(own);
    return status;
}
