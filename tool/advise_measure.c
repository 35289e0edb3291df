// SPDX-License-Identifier: Apache-2.0
// weft advise --measure: products in every order.
#include "host/common/product.h"
#include "host/common/progress.h"
#include "advise.h"
#include "host/internal/inside.h"
#include "host/common/clock.h"

#include <math.h>
#include <stdlib.h>
#include <weft/generate.h>

#define ROUND_S 0.03 // least time of the products of a round

// The first and the last event of a product.
struct span {
    cl_event first, last;
    int lost;
};

static void span_add(void *arg, const char *kernel, size_t global, size_t wg, cl_event event)
{
    (void)kernel, (void)global, (void)wg;
    struct span *s = arg;
    if (!s->first && weft__cl.clRetainEvent(event) == CL_SUCCESS)
        s->first = event;
    if (s->last)
        weft__cl.clReleaseEvent(s->last);
    s->last = weft__cl.clRetainEvent(event) == CL_SUCCESS ? event : NULL;
}

// Time from the start of the first kernel to the end of the last, by the device's clock.
static weft_status product_ms(struct advise *s, struct trial *t, double *ms)
{
    struct weft_context *ctx = s->device.ctx;
    struct span span = {0};
    cl_ulong start = 0, end = 0;
    weft_context_on_launch(ctx, span_add, &span);
    weft_status status = weft_spmv_run(t->plan, s->device.queue, t->y, 1, t->x, 0, 0, NULL, NULL);
    weft_context_on_launch(ctx, NULL, NULL);
    if (!status)
        status = weft__fail_cl(ctx, weft__cl.clFinish(s->device.queue), "clFinish");
    if (!status && span.first && span.last) {
        status = weft__fail_cl(
            ctx, weft__cl.clGetEventProfilingInfo(span.first, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL),
            "start of SpMV");
        if (!status)
            status = weft__fail_cl(
                ctx, weft__cl.clGetEventProfilingInfo(span.last, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL),
                "end of SpMV");
    }
    if (span.first)
        weft__cl.clReleaseEvent(span.first);
    if (span.last)
        weft__cl.clReleaseEvent(span.last);
    *ms = (double)(end - start) * 1e-6;
    return status;
}

// Buffers and plan of one order, and a first product, which compiles and is compared with the regular one's.
static weft_status trial_prepare(struct advise *s, struct trial *t, const struct product_expected *e, const void *x,
                                 int *wrong, char *why, size_t size)
{
    struct weft_context *ctx = s->device.ctx;
    cl_command_queue queue = s->device.queue;
    const size_t bytes = weft_type_bytes(s->type), x_bytes = (size_t)t->a.n * bytes, y_bytes = (size_t)t->a.m * bytes;
    void *x_moved = calloc(weft__max(1, (size_t)t->a.n), bytes), *y = calloc(weft__max(1, (size_t)t->a.m), bytes);
    double ms;
    weft_status status = x_moved && y ? WEFT_OK : WEFT_ENOMEM;
    if (!status)
        status = weft_vector_permute(x_moved, x, &t->p, WEFT_PERMUTE_SIDE_COLS, 0, bytes);
    if (!status)
        status = weft_device_csr_alloc(&t->on_device, ctx, weft_csr_shape(&t->a));
    if (!status)
        status = weft_device_csr_write_sync(&t->on_device, ctx, queue, &t->a);
    if (!status)
        status = weft__buffer_create(&t->x, ctx, x_bytes, "x");
    if (!status)
        status = weft__buffer_create(&t->y, ctx, y_bytes, "y");
    if (!status && x_bytes)
        status = weft__fail_cl(
            ctx, weft__cl.clEnqueueWriteBuffer(queue, t->x, CL_TRUE, 0, x_bytes, x_moved, 0, NULL, NULL), "write x");
    if (!status)
        status =
            weft_spmv_plan_create(&t->plan, ctx, queue, &t->on_device,
                                  weft_spmv_params(.problem.vec_type = s->type, .policy.products = s->o->products));
    if (!status)
        status = product_ms(s, t, &ms);
    if (!status && y_bytes)
        status = weft__fail_cl(ctx, weft__cl.clEnqueueReadBuffer(queue, t->y, CL_TRUE, 0, y_bytes, y, 0, NULL, NULL),
                               "read y");
    if (!status)
        *wrong = !product_right(y, s->type, &t->p, e, why, size);
    free(x_moved);
    free(y);
    return status;
}

double advise_median(const double *values)
{
    double sorted[ADVISE_ROUNDS];
    for (int i = 0; i < ADVISE_ROUNDS; i++) {
        int at = i;
        for (; at > 0 && sorted[at - 1] > values[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = values[i];
    }
    return sorted[ADVISE_ROUNDS / 2];
}

// Rounds of products, orders in turn, so that what changes on the machine meets all of them.
static weft_status rounds_run(struct advise *s)
{
    weft_status status = WEFT_OK;
    for (int r = 0; r < ADVISE_ROUNDS && !status; r++)
        for (int i = 0; i < WEFT_ORDER_COUNT && !status; i++) {
            struct trial *t = &s->trials[i];
            const double start = clock_ms();
            double ms, total = 0;
            int runs = 0;
            while (!status && (!runs || clock_ms() - start < ROUND_S * 1e3)) {
                status = product_ms(s, t, &ms);
                total += ms;
                runs++;
            }
            t->ms[r] = total / runs;
        }
    for (int i = 0; i < WEFT_ORDER_COUNT && !status; i++) {
        struct trial *t = &s->trials[i];
        const double regular = advise_median(s->trials[WEFT_ORDER_REGULAR].ms);
        double ratios[ADVISE_ROUNDS];
        for (int r = 0; r < ADVISE_ROUNDS; r++)
            ratios[r] = s->trials[WEFT_ORDER_REGULAR].ms[r] > 0 ? t->ms[r] / s->trials[WEFT_ORDER_REGULAR].ms[r] : 1;
        t->ratio = advise_median(ratios);
        if (i) {
            const double ms = product_permute_ms(s->device.ctx, s->device.queue, &s->m.a, &t->p);
            t->permute = ms < 0 || regular <= 0 ? NAN : (t->order_ms + ms) / regular;
        }
        t->pays = i && advice_pays(t->ratio, t->permute, s->o->products);
    }
    return status;
}

int advise_measure(struct advise *s)
{
    struct product_expected e = {0};
    struct weft_csr x = {0}; // a row of n random values
    char spec[48], why[128] = "";
    int wrong = 0, code = TOOL_OK;
    struct weft_error err = {0};
    snprintf(spec, sizeof spec, "dense:1,%lld", (long long)s->m.a.n);
    weft_status status = weft_generate(&x, spec, weft_generate_params(.type = s->type), &err);
    if (!status)
        status = product_expect(&e, &s->m.a, s->type, x.val);
    if (status)
        code = tool_fail(status, &err);
    for (int i = 0; i < WEFT_ORDER_COUNT && !code; i++) {
        bench_progress_begin("SpMV in order %s", weft_order_name((enum weft_order)i));
        status = trial_prepare(s, &s->trials[i], &e, x.val, &wrong, why, sizeof why);
        bench_progress_end();
        if (status) {
            code = tool_fail_device(status, s->device.ctx);
        } else if (wrong) {
            tool_complain("order %s: wrong SpMV: %s", weft_order_name((enum weft_order)i), why);
            code = TOOL_WRONG;
        }
    }
    if (!code) {
        bench_progress_begin("measuring SpMV");
        status = rounds_run(s);
        bench_progress_end();
        if (status)
            code = tool_fail_device(status, s->device.ctx);
    }
    product_expected_free(&e);
    weft_csr_free(&x);
    return code;
}
