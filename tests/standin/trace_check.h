// SPDX-License-Identifier: Apache-2.0
// What a backend tells a profiler (backends/trace.h) of one product in CSR: each array written once, y read once, one
// kernel, and the bench's own work as begin and end.
#pragma once

#include "backends/backend.h"
#include "backends/trace.h"
#include "tests/support/tap.h"

static int64_t traced_bytes[6];
static int traced_count[6], traced_depth, traced_owns, traced_late;
static double traced_analysis_ms;

static void traced_own(int begin)
{
    traced_depth += begin ? 1 : -1;
    traced_owns += begin;
}

static void traced_command(enum weft_trace_kind kind, const char *name, int64_t bytes, double begin_ms, double end_ms,
                           double device_ms)
{
    traced_count[kind]++;
    traced_bytes[kind] += bytes;
    traced_analysis_ms += kind == WEFT_TRACE_ANALYSE ? end_ms - begin_ms : 0;
    traced_late += !name || end_ms < begin_ms || device_ms < 0;
}

static void trace_check(const struct weft_backend *backend, struct weft_context *ctx, const char *algo)
{
    int32_t row_ptr[] = {0, 2, 3, 5}, col[] = {0, 2, 1, 0, 2};
    float val[] = {1, 2, 3, 4, 5}, x[] = {1, 1, 1}, y[3] = {0};
    struct weft_csr a = {.m = 3, .n = 3, .nnz = 5, .type = WEFT_TYPE_F32, .ofs = WEFT_OFS_32};
    a.row_ptr = row_ptr;
    a.col = col;
    a.val = val;
    struct weft_backend_spmv_job job = {.a = &a, .x = x, .alpha = 1};
    struct weft_backend_times times = {0};
    struct weft_error err = {0};
    void *state = NULL;
    double ms;
    weft__trace = (struct weft_backend_trace){traced_own, traced_command};
    weft_status status = backend->spmv.prepare(&state, ctx, &job, algo, &times, &err);
    tap_is_int(traced_bytes[WEFT_TRACE_WRITE], (int64_t)(sizeof row_ptr + sizeof col + sizeof val + sizeof x),
               "trace: bytes written before a product by %s", algo);
    if (!status)
        status = backend->spmv.run(state, &ms, &err);
    if (!status)
        status = backend->spmv.result(state, y, &times, &err);
    weft__trace = (struct weft_backend_trace){0};
    backend->spmv.finish(&state);
    tap_ok(!status && y[0] == 3 && y[1] == 3 && y[2] == 9, "trace: the product is right %s", err.text);
    tap_ok(traced_bytes[WEFT_TRACE_READ] == sizeof y && traced_count[WEFT_TRACE_READ] == 1, "trace: y read once");
    tap_is_int(traced_count[WEFT_TRACE_KERNEL], 1, "trace: one kernel");
    tap_ok(traced_count[WEFT_TRACE_ALLOCATE] >= 5, "trace: memory for five arrays");
    const double analysis_ms = times.convert_ms + times.analyse_ms;
    tap_ok(traced_count[WEFT_TRACE_ANALYSE] == (analysis_ms > 0) && traced_analysis_ms > analysis_ms - 1e-6 &&
               traced_analysis_ms < analysis_ms + 1e-6,
           "trace: analysis and conversion, where they were");
    tap_ok(traced_owns > 0 && !traced_depth && !traced_late, "trace: the bench's own work begins and ends");
}
