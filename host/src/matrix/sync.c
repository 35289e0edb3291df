// SPDX-License-Identifier: Apache-2.0
// The skeleton of functions that block and give a matrix.
#include "host/src/matrix/sync.h"
#include "host/src/core/lend.h"
#include "host/src/matrix/device_csr.h"

void weft__sync_begin(struct weft__sync *s, struct weft_csr *out, struct weft_shape shape)
{
    s->out = out;
    if (!s->status && weft_csr_alloc(out, shape))
        s->status = weft__fail(s->ctx, WEFT_ENOMEM, "out of host memory for the result");
    if (!s->status)
        s->status = weft__queue_create(&s->queue, s->ctx);
    if (!s->status)
        s->status = weft__lend_csr(&s->to, s->ctx, s->queue, WEFT__LEND_WRITE, out);
}

void weft__sync_csr(struct weft__sync *s, struct weft_device_csr *to, const struct weft_csr *from)
{
    if (!s->status)
        s->status = weft__lend_csr(to, s->ctx, s->queue, WEFT__LEND_READ, from);
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
        weft__lend_wait(s->queue);
    weft_device_csr_free(&s->to);
    if (s->status)
        weft_csr_free(s->out);
    weft__queue_release(&s->queue);
    return s->status;
}
