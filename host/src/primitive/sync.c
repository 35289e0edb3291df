// SPDX-License-Identifier: Apache-2.0
// The primitives with arrays of the host in and out, in one call each.
#include "host/src/core/call.h"
#include "host/src/core/check.h"

#include <weft/expand.h>
#include <weft/histogram.h>
#include <weft/merge.h>
#include <weft/scan.h>
#include <weft/segsort.h>

weft_status weft_scan_sync(void *out, struct weft_context *ctx, const void *in, int64_t n, enum weft_scan_type type,
                           const struct weft_scan_params *params)
{
    struct weft_scan_plan *plan = NULL;
    struct weft__call call = weft__call_begin(ctx, weft_scan_plan_create(&plan, ctx, type, n, params));
    const size_t count = (size_t)n, sums = count + (params && params->total);
    const cl_mem from = weft__call_in(&call, "scan: in", in, weft__mul(count, weft_scan_in_bytes(type)));
    const cl_mem to = weft__call_out(&call, "scan: out", out, weft__mul(sums, weft_scan_sum_bytes(type)));
    if (!call.status)
        call.status = weft_scan_run(plan, call.queue, to, from, n, 0, NULL, NULL);
    weft_scan_plan_destroy(&plan);
    return weft__call_end(&call);
}

weft_status weft_histogram_sync(void *out, struct weft_context *ctx, const int32_t *idx, int64_t n, int64_t bins,
                                enum weft_ofs ofs, const struct weft_histogram_params *params)
{
    struct weft_histogram_plan *plan = NULL;
    struct weft__call call = weft__call_begin(ctx, weft_histogram_plan_create(&plan, ctx, bins, ofs, n, params));
    const size_t counts = (size_t)bins + (params && params->pointers);
    const cl_mem from = weft__call_in(&call, "histogram: idx", idx, weft__mul((size_t)n, sizeof *idx));
    const cl_mem to = weft__call_out(&call, "histogram: out", out, weft__mul(counts, weft_ofs_bytes(ofs)));
    if (!call.status)
        call.status = weft_histogram_run(plan, call.queue, to, from, n, 0, NULL, NULL);
    weft_histogram_plan_destroy(&plan);
    return weft__call_end(&call);
}

static int64_t offset_at(const void *offsets, enum weft_ofs ofs, int64_t i)
{
    return ofs == WEFT_OFS_64 ? ((const int64_t *)offsets)[i] : ((const int32_t *)offsets)[i];
}

// Do `count` + 1 offsets ascend from 0 to n?
static void offsets_check(struct weft__call *call, const char *name, const void *offsets, enum weft_ofs ofs,
                          int64_t count, int64_t n)
{
    if (call->status)
        return;
    const int64_t first = offset_at(offsets, ofs, 0), last = offset_at(offsets, ofs, count);
    if (first != 0 || last != n)
        call->status = weft__fail(call->ctx, WEFT_EMATRIX, "%s: from %lld to %lld, not from 0 to %lld", name,
                                  (long long)first, (long long)last, (long long)n);
    for (int64_t i = 0; i < count && !call->status; i++)
        if (offset_at(offsets, ofs, i) > offset_at(offsets, ofs, i + 1))
            call->status =
                weft__fail(call->ctx, WEFT_EMATRIX, "%s: element %lld exceeds the next one", name, (long long)i);
}

weft_status weft_expand_sync(int32_t *row, struct weft_context *ctx, const void *row_ptr, int64_t m, int64_t nnz,
                             enum weft_ofs ofs, const struct weft_expand_params *params)
{
    static const char name[] = "expand: row_ptr";
    struct weft_expand_plan *plan = NULL;
    struct weft__call call = weft__call_begin(ctx, weft_expand_plan_create(&plan, ctx, m, nnz, ofs, params));
    const cl_mem from = weft__call_in(&call, name, row_ptr, weft__mul((size_t)m + 1, weft_ofs_bytes(ofs)));
    const cl_mem to = weft__call_out(&call, "expand: row", row, weft__mul((size_t)nnz, sizeof *row));
    offsets_check(&call, name, row_ptr, ofs, m, nnz);
    if (!call.status)
        call.status = weft_expand_run(plan, call.queue, to, from, m, nnz, 0, NULL, NULL);
    weft_expand_plan_destroy(&plan);
    return weft__call_end(&call);
}

weft_status weft_segsort_sync(void *out_key, void *out_payload, struct weft_context *ctx, const void *key,
                              const void *payload, int64_t n, const void *offsets, int64_t segments,
                              enum weft_key key_type, int payload_bytes, enum weft_ofs ofs,
                              const struct weft_segsort_params *params)
{
    static const char name[] = "segsort: offsets";
    struct weft_segsort_plan *plan = NULL;
    struct weft__call call =
        weft__call_begin(ctx, weft_segsort_plan_create(&plan, ctx, key_type, payload_bytes, ofs, n, params));
    if (!call.status)
        call.status = weft__check_range(ctx, segments, 0, INT32_MAX, 1, "segsort: segments");
    const size_t keys = weft__mul((size_t)n, weft_key_bytes(key_type)),
                 loads = weft__mul((size_t)n, (size_t)payload_bytes);
    const cl_mem k = weft__call_in(&call, "segsort: key", key, keys);
    const cl_mem p = weft__call_in(&call, "segsort: payload", payload, loads);
    const cl_mem at = weft__call_in(&call, name, offsets, weft__mul((size_t)segments + 1, weft_ofs_bytes(ofs)));
    const cl_mem to = weft__call_out(&call, "segsort: out_key", out_key, keys);
    const cl_mem to_load = weft__call_out(&call, "segsort: out_payload", out_payload, loads);
    offsets_check(&call, name, offsets, ofs, segments, n);
    if (!call.status)
        call.status = weft_segsort_run(plan, call.queue, to, to_load, k, p, n, at, segments, 0, NULL, NULL);
    weft_segsort_plan_destroy(&plan);
    return weft__call_end(&call);
}

// Is key i less than the one before it?
static bool descends_at(enum weft_key type, const void *key, int64_t i)
{
    switch (type) {
    case WEFT_KEY_U32:
        return ((const uint32_t *)key)[i] < ((const uint32_t *)key)[i - 1];
    case WEFT_KEY_I32:
        return ((const int32_t *)key)[i] < ((const int32_t *)key)[i - 1];
    case WEFT_KEY_U64:
        return ((const uint64_t *)key)[i] < ((const uint64_t *)key)[i - 1];
    case WEFT_KEY_I64:
        return ((const int64_t *)key)[i] < ((const int64_t *)key)[i - 1];
    }
    return false;
}

static void sorted_check(struct weft__call *call, const char *name, enum weft_key type, const void *key, int64_t n)
{
    for (int64_t i = 1; i < n && !call->status; i++)
        if (descends_at(type, key, i))
            call->status = weft__fail(call->ctx, WEFT_EINVAL, "%s: element %lld is less than the one before it", name,
                                      (long long)i);
}

weft_status weft_merge_sync(void *out_key, void *out_payload, struct weft_context *ctx, const void *a_key,
                            const void *a_payload, int64_t na, const void *b_key, const void *b_payload, int64_t nb,
                            enum weft_key key_type, int payload_bytes, const struct weft_merge_params *params)
{
    static const char a_name[] = "merge: a_key", b_name[] = "merge: b_key";
    if (!ctx)
        return WEFT_EINVAL;
    struct weft_merge_plan *plan = NULL;
    weft_status status = weft__check_range(ctx, na, 0, INT64_MAX, 1, "merge: na");
    if (!status)
        status = weft__check_range(ctx, nb, 0, INT64_MAX - na, 1, "merge: nb");
    if (!status)
        status = weft_merge_plan_create(&plan, ctx, key_type, payload_bytes, na + nb, params);
    struct weft__call call = weft__call_begin(ctx, status);
    const size_t bytes = weft_key_bytes(key_type), load = (size_t)payload_bytes, a = (size_t)na, b = (size_t)nb;
    const cl_mem ak = weft__call_in(&call, a_name, a_key, weft__mul(a, bytes));
    const cl_mem ap = weft__call_in(&call, "merge: a_payload", a_payload, weft__mul(a, load));
    const cl_mem bk = weft__call_in(&call, b_name, b_key, weft__mul(b, bytes));
    const cl_mem bp = weft__call_in(&call, "merge: b_payload", b_payload, weft__mul(b, load));
    const cl_mem to = weft__call_out(&call, "merge: out_key", out_key, weft__mul(a + b, bytes));
    const cl_mem to_load = weft__call_out(&call, "merge: out_payload", out_payload, weft__mul(a + b, load));
    sorted_check(&call, a_name, key_type, a_key, na);
    sorted_check(&call, b_name, key_type, b_key, nb);
    if (!call.status)
        call.status = weft_merge_run(plan, call.queue, to, to_load, ak, ap, na, bk, bp, nb, 0, NULL, NULL);
    weft_merge_plan_destroy(&plan);
    return weft__call_end(&call);
}
