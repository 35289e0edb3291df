// SPDX-License-Identifier: Apache-2.0
// Matrices whose indices count from 1, as in Fortran and MATLAB, and back; on the host and on a device.
#include "host/src/core/check.h"
#include "host/src/core/limits.h"
#include "host/src/core/variants.h"
#include "host/src/matrix/device_csr.h"
#include "host/src/matrix/validate.h"

static const struct weft__kernel_spec rebase_spec = {"rebase", {"matrix/rebase.cl"}};

static weft_status bases_check(struct weft_error *err, struct weft_shape shape, int from, int to)
{
    if (from < 0 || from > 1 || to < 0 || to > 1)
        return weft__error(err, WEFT_EINVAL, "bases %d and %d: each is 0 or 1", from, to);
    if (to > from && shape.ofs == WEFT_OFS_32 && shape.nnz == INT32_MAX)
        return weft__error(err, WEFT_ERANGE, "the last row pointer from base 1 is 2^31: 64-bit offsets are needed");
    return WEFT_OK;
}

static void ofs_set(const struct weft_csr *a, int64_t i, int64_t value)
{
    if (a->ofs == WEFT_OFS_64)
        ((int64_t *)a->row_ptr)[i] = value;
    else
        ((int32_t *)a->row_ptr)[i] = (int32_t)value;
}

weft_status weft_csr_rebase(struct weft_csr *a, int from, int to, struct weft_error *err)
{
    weft_status status = weft__csr_check(err, a);
    if (!status)
        status = bases_check(err, weft_csr_shape(a), from, to);
    if (!status)
        status = weft__csr_validate_based(a, from, err);
    if (status || from == to)
        return status;
    for (int64_t i = 0; i <= a->m; i++)
        ofs_set(a, i, weft_csr_ofs(a, i) + to - from);
    for (int64_t p = 0; p < a->nnz; p++)
        a->col[p] += to - from;
    return WEFT_OK;
}

static void rebase_define(struct weft__defines *d, int wg, enum weft_ofs ofs)
{
    weft__define(d, "WEFT_WG", "%d", wg);
    weft__define(d, "WEFT_OFS_BITS", "%d", (int)weft_ofs_bytes(ofs) * 8);
}

// Add `by` to the indices of a matrix that has been checked, and wait.
static weft_status shift(struct weft_context *ctx, cl_command_queue queue, const struct weft_device_csr *a, cl_int by)
{
    struct weft__stream stream;
    struct weft__defines d = {0};
    struct weft__kernel *kernel = NULL;
    const int wg = weft__wg_small(ctx);
    const cl_ulong m = (cl_ulong)a->m, nnz = (cl_ulong)a->nnz;
    cl_mem col = a->col ? a->col : a->row_ptr; // not touched without entries
    rebase_define(&d, wg, a->ofs);
    weft_status status = weft__kernel_create(&kernel, ctx, &rebase_spec, &d);
    if (!status)
        status = weft__stream_begin(&stream, ctx, queue, 0, NULL, NULL);
    if (!status) {
        const size_t steps = weft__max((size_t)a->m + 1, (size_t)a->nnz);
        WEFT__LAUNCH(&stream, kernel, weft__groups(weft__ceil_div(steps, (size_t)wg), (size_t)wg), (size_t)wg,
                     WEFT__ARG(row_ptr, a->row_ptr), WEFT__ARG(col), WEFT__ARG(m), WEFT__ARG(nnz), WEFT__ARG(by));
        status = weft__stream_end(&stream);
    }
    if (!status)
        status = weft__fail_cl(ctx, weft__cl.clFinish(queue), "clFinish");
    weft__kernel_release(&kernel);
    return status;
}

weft_status weft_device_csr_rebase_sync(const struct weft_device_csr *a, struct weft_context *ctx,
                                        cl_command_queue queue, int from, int to)
{
    struct weft_error err = {0};
    weft_status status = WEFT__NEED_IN(ctx, {"a", a});
    if (!status && bases_check(&err, weft_device_csr_shape(a), from, to))
        status = weft__fail(ctx, err.status, "%s", err.text);
    if (!status)
        status = weft__validate_based_sync(ctx, queue, a, from);
    return status || from == to ? status : shift(ctx, queue, a, to - from);
}

void weft__rebase_variants(weft__variant_fn *fn, void *arg)
{
    for (int ofs = WEFT_OFS_32; ofs <= WEFT_OFS_64; ofs++) {
        struct weft__variant v = {.spec = &rebase_spec, .schedule = WEFT_SCHEDULE_AUTO};
        rebase_define(&v.defines, WEFT__WG_LEAST, (enum weft_ofs)ofs);
        fn(arg, &v);
    }
}
