// SPDX-License-Identifier: Apache-2.0
// COO to CSR is a transposition whose input has row indices in the place of row pointers, and whose rows are the
// columns of the matrix.
#include "host/src/core/check.h"
#include "host/src/core/lend.h"
#include "host/src/matrix/device_csr.h"
#include "host/src/matrix/sync.h"
#include "host/src/transpose/method.h"

#include <stdlib.h>
#include <string.h>
#include <weft/convert.h>
#include <weft/expand.h>

static struct weft__transpose_shape shape_of(struct weft_shape s)
{
    return (struct weft__transpose_shape){
        .m = s.n, .n = s.m, .nnz = s.nnz, .type = s.type, .ofs = s.ofs, .rows_given = 1};
}

weft_status weft_coo_to_csr_workspace(size_t *out_bytes, struct weft_context *ctx, struct weft_shape result,
                                      const struct weft_transpose_params *params)
{
    struct weft__transpose_shape shape = shape_of(result);
    struct weft_transpose_info info;
    weft_status status = WEFT__NEED_IN(ctx, {"out_bytes", out_bytes});
    if (!status)
        status = weft__transpose_plan(&info, ctx, &shape, params);
    if (out_bytes)
        *out_bytes = status ? 0 : info.workspace_bytes;
    return status;
}

// The public handle is the transposition itself.
weft_status weft_coo_to_csr_create(struct weft_coo_to_csr **out, struct weft_context *ctx, struct weft_shape result,
                                   const struct weft_transpose_params *params)
{
    struct weft__transpose_shape shape = shape_of(result);
    struct weft_transpose_plan *op = NULL;
    if (out)
        *out = NULL;
    weft_status status = WEFT__NEED_IN(ctx, {"out", out});
    if (!status)
        status = weft__transpose_create(&op, ctx, &shape, params);
    if (!status)
        *out = (struct weft_coo_to_csr *)op;
    return status;
}

weft_status weft_coo_to_csr_run(struct weft_coo_to_csr *op, cl_command_queue queue, const struct weft_device_csr *out,
                                const struct weft_device_coo *a, cl_uint nwait, const cl_event *wait, cl_event *event)
{
    weft__event_none(event);
    weft_status status =
        WEFT__NEED_IN(weft__transpose_context((struct weft_transpose_plan *)op), {"a", a}, {"out", out});
    if (status)
        return status;
    struct weft_device_csr turned = {.m = a->n,
                                     .n = a->m,
                                     .nnz = a->nnz,
                                     .type = a->type,
                                     .ofs = out->ofs,
                                     .row_ptr = a->col,
                                     .col = a->row,
                                     .val = a->val};
    return weft_transpose_run((struct weft_transpose_plan *)op, queue, out, &turned, nwait, wait, event);
}

const struct weft_transpose_info *weft_coo_to_csr_info(const struct weft_coo_to_csr *op)
{
    return weft_transpose_plan_info((const struct weft_transpose_plan *)op);
}

void weft_coo_to_csr_destroy(struct weft_coo_to_csr **op)
{
    if (!op)
        return;
    struct weft_transpose_plan *inner = (struct weft_transpose_plan *)*op;
    weft_transpose_plan_destroy(&inner);
    *op = NULL;
}

weft_status weft_coo_to_csr_sync(struct weft_csr *out, struct weft_context *ctx, const struct weft_coo *a,
                                 enum weft_ofs ofs, const struct weft_transpose_params *params)
{
    struct weft_error err = {0};
    if (out)
        *out = (struct weft_csr){0};
    weft_status status = WEFT__NEED_IN(ctx, {"out", out});
    if (status)
        return status;
    if ((status = weft__coo_check(&err, a)))
        return weft__fail(ctx, status, "%s", err.text);
    struct weft_coo_to_csr *op = NULL;
    struct weft_device_coo from = {.m = a->m, .n = a->n, .nnz = a->nnz, .type = a->type};
    struct weft__sync sync = {.ctx = ctx};
    const size_t nnz = (size_t)a->nnz;
    sync.status = weft_coo_to_csr_create(&op, ctx, weft_shape(a->m, a->n, a->nnz, a->type, ofs), params);
    weft__sync_begin(&sync, out, weft_shape(a->m, a->n, a->nnz, a->type, ofs));
    weft__sync_buffer(&sync, &from.row, a->row, nnz * 4, "row indices");
    weft__sync_buffer(&sync, &from.col, a->col, nnz * 4, "column indices");
    weft__sync_buffer(&sync, &from.val, a->val, nnz * weft_type_bytes(a->type), "values");
    if (!sync.status)
        sync.status = weft_coo_to_csr_run(op, sync.queue, &sync.to, &from, 0, NULL, NULL);
    status = weft__sync_end(&sync);
    weft__lend_release(ctx, &from.row, !status);
    weft__lend_release(ctx, &from.col, !status);
    weft__lend_release(ctx, &from.val, !status);
    weft_coo_to_csr_destroy(&op);
    return status;
}

weft_status weft_csr_to_coo_sync(struct weft_coo *out, struct weft_context *ctx, const struct weft_csr *a)
{
    struct weft_error err = {0};
    if (out)
        *out = (struct weft_coo){0};
    weft_status status = WEFT__NEED_IN(ctx, {"out", out});
    if (status)
        return status;
    status = weft_csr_validate(a, &err);
    if (status)
        return weft__fail(ctx, status, "%s", err.text);
    const size_t nnz = (size_t)a->nnz;
    if (weft_coo_alloc(out, weft_shape(.m = a->m, .n = a->n, .nnz = a->nnz, .type = a->type)))
        return weft__fail(ctx, WEFT_ENOMEM, "out of host memory for coordinates");
    status = weft_expand_sync(out->row, ctx, a->row_ptr, a->m, a->nnz, a->ofs, NULL);
    if (!status && nnz) {
        memcpy(out->col, a->col, nnz * 4);
        if (out->val)
            memcpy(out->val, a->val, nnz * weft_type_bytes(a->type));
    }
    if (status)
        weft_coo_free(out);
    return status;
}
