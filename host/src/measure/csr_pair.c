// SPDX-License-Identifier: Apache-2.0
// Two forms of SpMV in CSR that differ in where they add up.
#include "host/src/measure/csr_pair.h"
#include "host/src/core/limits.h"
#include "host/src/core/variants.h"

#include <string.h>

const char *const weft__csr_pair_names[] = {"csr_naive", "csr_private", NULL};
static const struct weft__kernel_spec specs[] = {{"csr_naive", {"measure/csr_pair.cl"}},
                                                 {"csr_private", {"measure/csr_pair.cl"}}};

int weft__csr_pair_find(const char *name)
{
    for (int i = 0; weft__csr_pair_names[i]; i++)
        if (!strcmp(name, weft__csr_pair_names[i]))
            return i;
    return -1;
}

static void pair_define(struct weft__defines *d, int wg, enum weft_type type, enum weft_ofs ofs)
{
    weft__define(d, "WEFT_WG", "%d", wg);
    weft__define_types(d, type, ofs);
}

weft_status weft__csr_pair_create(struct weft__kernel **out, struct weft_context *ctx, int which, enum weft_type type,
                                  enum weft_ofs ofs)
{
    struct weft__defines d = {0};
    *out = NULL;
    if (type == WEFT_TYPE_PATTERN)
        return weft__fail(ctx, WEFT_EUNSUPPORTED, "%s takes no pattern", weft__csr_pair_names[which]);
    if (type == WEFT_TYPE_F64 && !ctx->device.fp64)
        return weft__fail(ctx, WEFT_EUNSUPPORTED, "%s has no double precision", ctx->device.name);
    pair_define(&d, weft__wg_small(ctx), type, ofs);
    return weft__kernel_create(out, ctx, &specs[which], &d);
}

weft_status weft__csr_pair_run(struct weft__stream *stream, struct weft__kernel *kernel, int which,
                               const struct weft_device_csr *a, cl_mem x, cl_mem y)
{
    const cl_int m = (cl_int)a->m;
    const size_t wg = (size_t)weft__wg_small(stream->ctx);
    const size_t groups = weft__ceil_div((size_t)a->m, wg);
    if (groups > weft__groups_most(wg)) // a row per work-item, and no loop
        stream->status = weft__fail(stream->ctx, WEFT_ERANGE, "%s: %lld rows, it takes less than 2^31 - %zu",
                                    weft__csr_pair_names[which], (long long)a->m, wg);
    return WEFT__LAUNCH(stream, kernel, groups, wg, WEFT__ARG(row_ptr, a->row_ptr), WEFT__ARG(col, a->col),
                        WEFT__ARG(val, a->val), WEFT__ARG(x), WEFT__ARG(y), WEFT__ARG(m));
}

void weft__csr_pair_variants(weft__variant_fn *fn, void *arg)
{
    static const enum weft_type types[] = {WEFT_TYPE_F32, WEFT_TYPE_F64};
    for (size_t t = 0; t < 2; t++)
        for (size_t i = 0; i < 2; i++) {
            struct weft__variant v = {.spec = &specs[i], .fp64 = types[t] == WEFT_TYPE_F64};
            pair_define(&v.defines, WEFT__WG_LEAST, types[t], WEFT_OFS_32);
            fn(arg, &v);
        }
}
