// SPDX-License-Identifier: Apache-2.0
// The skeleton of functions that block and give a matrix.
#include "host/src/matrix/sync.h"
#include "host/src/core/check.h"
#include "host/src/core/keep.h"
#include "host/src/core/lend.h"
#include "host/src/core/stage.h"
#include "host/src/matrix/device_csr.h"

#include <weft/validate.h>

void weft__sync_begin(struct weft__sync *s, struct weft_csr *out, struct weft_shape shape)
{
    s->out = out;
    if (!s->status && weft_csr_alloc(out, shape))
        s->status = weft__fail(s->ctx, WEFT_ENOMEM, "out of host memory for the result");
    if (!s->status)
        s->status = weft__keep_queue(&s->queue, s->ctx);
    if (!s->status)
        s->status = weft__lend_csr(&s->to, s->ctx, s->queue, WEFT__LEND_WRITE, out);
}

// Entries from which the check on the device is worth making its plan. A few threads of the host check fewer in less time.
#define CHECKED_THERE (1 << 19)

static bool checked_there(const struct weft_context *ctx, int64_t nnz)
{
    return weft__stage_takes(ctx, weft__mul((size_t)nnz, 4)) && (nnz >= CHECKED_THERE || ctx->staging.forced);
}

weft_status weft__sync_check(struct weft_context *ctx, struct weft_csr *out, const struct weft_csr *a)
{
    struct weft_error err = {0};
    if (out && out == a)
        return ctx ? weft__fail(ctx, WEFT_EINVAL, "out and a are the same matrix") : WEFT_EINVAL;
    if (out)
        *out = (struct weft_csr){0};
    weft_status status = WEFT__NEED_IN(ctx, {"out", out});
    if (!status && (status = weft__csr_check(&err, a)))
        status = weft__fail(ctx, status, "%s", err.text);
    return status;
}

weft_status weft__sync_lend(struct weft_device_csr *out, struct weft_context *ctx, cl_command_queue queue,
                            const struct weft_csr *a)
{
    struct weft_error err = {0};
    weft_status status = weft__lend_csr(out, ctx, queue, WEFT__LEND_READ, a);
    if (status || checked_there(ctx, a->nnz))
        return status ? status : weft_validate_sync(ctx, queue, out, WEFT_COLUMNS_ANY);
    status = weft_csr_validate(a, &err);
    return status ? weft__fail(ctx, status, "%s", err.text) : WEFT_OK;
}

void weft__sync_csr(struct weft__sync *s, const struct weft_csr *from)
{
    if (!s->status)
        s->status = weft__sync_lend(&s->from, s->ctx, s->queue, from);
}

void weft__sync_buffer(struct weft__sync *s, cl_mem *to, const void *from, size_t bytes, const char *what)
{
    if (!s->status && bytes)
        s->status = weft__lend_begin(to, s->ctx, s->queue, WEFT__LEND_READ, from, bytes, what);
}

weft_status weft__sync_end(struct weft__sync *s)
{
    if (!s->status)
        s->status = weft__lend_csr_end(s->ctx, s->queue, &s->to, s->out);
    if (s->status)
        weft__lend_wait(s->ctx, s->queue);
    weft__lend_csr_release(s->ctx, &s->to, !s->status);
    weft__lend_csr_release(s->ctx, &s->from, !s->status);
    if (s->status)
        weft_csr_free(s->out);
    weft__keep_queue_end(s->ctx, &s->queue, !s->status);
    return s->status;
}
