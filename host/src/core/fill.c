// SPDX-License-Identifier: Apache-2.0
// Fills buffers by a kernel.
#include "host/src/core/fill.h"
#include "host/src/core/limits.h"
#include "host/src/core/make.h"

// Words of a work-item. With one, an H100 starts groups more slowly than its memory takes words (docs/log/hypersparse.md).
#define WORDS 16

const struct weft__kernel_spec weft__fill_spec = {"fill", {"lib/fill.cl"}};

weft_status weft__fill_create(struct weft__kernel **out, struct weft_context *ctx)
{
    struct weft__make make = {.ctx = ctx};
    struct weft__defines d = {0};
    weft__define(&d, "WEFT_WG", "%d", weft__wg_small(ctx));
    weft__make_kernel(&make, out, &weft__fill_spec, &d);
    return make.status;
}

weft_status weft__fill(struct weft__stream *stream, struct weft__kernel *kernel, cl_mem out, uint64_t first,
                       uint64_t count, uint32_t value)
{
    const size_t wg = (size_t)weft__wg_small(stream->ctx);
    const uint64_t most = stream->ctx->fill_words ? stream->ctx->fill_words : WEFT__HOSTILE(UINT64_MAX, 1000);
    while (count && !stream->status) {
        const uint64_t piece = count < most ? count : most;
        const size_t groups = weft__groups(weft__ceil_div((size_t)piece, wg * WORDS), wg);
        WEFT__LAUNCH(stream, kernel, groups, wg, WEFT__ARG(out), WEFT__ARG(first), WEFT__ARG(count, piece),
                     WEFT__ARG(value));
        first += piece;
        count -= piece;
    }
    return stream->status;
}
