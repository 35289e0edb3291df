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

// Rows up to which the host counts their lengths itself: it takes less time than to ask the device.
#define ROWS_COUNTED 32768

// A plan of weft_spmv_sync that is kept for the next call: one that knows nothing of its matrix but the shape.
struct kept {
    struct weft_spmv_plan *plan;
    struct weft_shape shape;
    struct weft_spmv_params params;
    struct weft__spmv_stats stats;
};

static void kept_drop(void *plan)
{
    struct kept *k = plan;
    if (k)
        weft_spmv_plan_destroy(&k->plan);
    free(k);
}

static bool keeps(const struct kept *k)
{
    return k->plan->method == &weft__spmv_csr_lanes && k->params.problem.semiring != WEFT_SPMV_SEMIRING_CUSTOM &&
           k->params.problem.transpose == WEFT_SPMV_TRANSPOSE_PLAIN && !k->params.policy.tune;
}

static bool shape_same(struct weft_shape a, struct weft_shape b)
{
    return a.m == b.m && a.n == b.n && a.nnz == b.nnz && a.type == b.type && a.ofs == b.ofs;
}

// The plan of the last call if it would be made once more, or a new one.
static weft_status kept_take(struct kept **out, struct weft_context *ctx, cl_command_queue queue,
                             const struct weft_csr *a, const struct weft_device_csr *d,
                             const struct weft_spmv_params *given)
{
    static const struct weft_spmv_params defaults;
    const struct weft_spmv_params *params = given ? given : &defaults;
    const bool counted = a->m <= ROWS_COUNTED && params->problem.transpose == WEFT_SPMV_TRANSPOSE_PLAIN;
    struct weft__make make = {.ctx = ctx};
    struct kept *last = weft__keep_plan(ctx, kept_drop), *made = weft__make_memory(&make, sizeof *made, "a plan");
    weft_status status = make.status;
    if (made) {
        made->shape = weft_csr_shape(a);
        memcpy(&made->params, params, sizeof *params);
        if (counted)
            weft__spmv_stats_host(&made->stats, a);
    }
    *out = NULL;
    if (made && last && counted && shape_same(last->shape, made->shape) &&
        !memcmp(&last->params, params, sizeof *params) && !memcmp(&last->stats, &made->stats, sizeof made->stats)) {
        *out = last;
        last = NULL;
        status = weft_spmv_plan_refill((*out)->plan, queue, d);
    } else if (made) {
        *out = made;
        made = NULL;
        const struct weft__spmv_once once = {.stats = counted ? &(*out)->stats : NULL};
        status = weft__spmv_plan_create(&(*out)->plan, ctx, queue, d, given, &once);
    }
    kept_drop(last);
    free(made);
    if (status) {
        kept_drop(*out);
        *out = NULL;
    }
    return status;
}

static void kept_end(struct weft_context *ctx, struct kept *k, bool idle)
{
    if (!k || !idle || !k->plan->method || !keeps(k)) {
        kept_drop(k);
        return;
    }
    weft__spmv_matrix_release(k->plan);
    weft__keep_plan_end(ctx, k, 0, kept_drop);
}

weft_status weft_spmv_sync(void *y, struct weft_context *ctx, double alpha, const struct weft_csr *a, const void *x,
                           double beta, const struct weft_spmv_params *params)
{
    struct weft_error err = {0};
    struct weft_device_csr d = {0};
    struct kept *kept = NULL;
    cl_command_queue queue = NULL;
    cl_mem dx = NULL, dy = NULL;
    void *own = NULL, *to = y;
    size_t x_bytes = 0, y_bytes = 0;
    if (!ctx)
        return WEFT_EINVAL;
    weft_status status = weft__csr_check(&err, a);
    if (status)
        return weft__fail(ctx, status, "%s", err.text);
    status = weft__keep_queue(&queue, ctx);
    if (!status)
        status = weft__sync_lend(&d, ctx, queue, a);
    if (!status)
        status = kept_take(&kept, ctx, queue, a, &d, params);
    if (!status) {
        const struct weft_spmv_plan *plan = kept->plan;
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
        status = weft_spmv_run(kept->plan, queue, dy, alpha, dx, beta, 0, NULL, NULL);
    if (!status)
        status = weft__lend_end(ctx, queue, dy, to, y_bytes);
    if (status)
        weft__lend_wait(ctx, queue);
    kept_end(ctx, kept, !status);
    weft__lend_release(ctx, &dx, !status);
    weft__lend_release(ctx, &dy, !status);
    weft__lend_csr_release(ctx, &d, !status);
    weft__keep_queue_end(ctx, &queue, !status);
    if (!status && own)
        memcpy(y, own, y_bytes);
    free(own);
    return status;
}
