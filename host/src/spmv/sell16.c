// SPDX-License-Identifier: Apache-2.0
// Sliced ELL with columns in 16 bits (cl/sell16_pack.cl, cl/spmv_sell16.cl): conversion from CSR and product.
#include "host/src/spmv/formats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAD 65535 // the distance that stands for padding

const struct weft__kernel_spec weft__sell16_pack_spec = {"sell16_pack", "spmv/sell16_pack.cl"};
const struct weft__kernel_spec weft__spmv_sell16_spec = {"spmv_sell16", "spmv/sell16.cl"};
const struct weft__kernel_spec weft__spmv_sell16_cpu_spec = {"spmv_sell16_cpu", "spmv/sell16_cpu.cl"};

struct sell16 {
    struct weft__spmv_ell ell; // its columns are gone where those of 16 bits serve
    cl_mem base, col;          // NULL: a distance does not fit, ell runs
    struct weft__kernel *run;
};

static void destroy(void *state)
{
    struct sell16 *s = state;
    weft__spmv_ell_release(&s->ell);
    weft__buffer_release(&s->base);
    weft__buffer_release(&s->col);
    weft__kernel_release(&s->run);
    free(s);
}

static cl_ulong steps_of(const struct sell16 *s)
{
    return (cl_ulong)s->ell.elements / s->ell.height;
}

static weft_status pack(struct sell16 *s, struct weft_spmv_plan *plan, cl_command_queue queue, cl_int *is_wide)
{
    const size_t wg = plan->ctx->schedule == WEFT_SCHEDULE_CPU ? 1 : 64;
    const cl_ulong steps = steps_of(s);
    const cl_int none = 0;
    struct weft__defines d = {0};
    struct weft__stream stream;
    struct weft__kernel *kernel = NULL;
    cl_mem wide = NULL;
    weft__define(&d, "WEFT_WG", "%zu", wg);
    weft__define(&d, "WEFT_PAD", "%d", PAD);
    weft_status status = weft__buffer_create(&wide, plan->ctx, sizeof none, "word of a conversion");
    if (!status)
        status = weft__kernel_create(&kernel, plan->ctx, &weft__sell16_pack_spec, &d);
    if (!status)
        status = weft__spmv_write(plan->ctx, queue, wide, sizeof none, &none);
    if (!status)
        status = weft__stream_begin(&stream, plan->ctx, queue, 0, NULL, NULL);
    if (!status)
        status = WEFT__LAUNCH(&stream, kernel, weft__groups(weft__ceil_div((size_t)steps, wg), wg), wg,
                              WEFT__ARG(ell_col, s->ell.col), WEFT__ARG(base, s->base), WEFT__ARG(col, s->col),
                              WEFT__ARG(wide), WEFT__ARG(steps), WEFT__ARG(height, s->ell.height));
    if (!status)
        status = weft__spmv_read(plan->ctx, queue, wide, 0, sizeof *is_wide, is_wide);
    weft__kernel_release(&kernel);
    weft__buffer_release(&wide);
    return status;
}

static weft_status kernel_create(struct sell16 *s, struct weft_spmv_plan *plan)
{
    const struct weft_spmv_params *p = &plan->info.params;
    const int cpu = plan->ctx->schedule == WEFT_SCHEDULE_CPU;
    struct weft__defines d = {0};
    weft__spmv_define(plan, &d);
    weft__define(&d, "WEFT_WG", "%d", p->wg);
    weft__define(&d, "WEFT_SORTED", "%d", s->ell.perm != NULL);
    weft__define(&d, cpu ? "WEFT_BLOCK" : "WEFT_IPT", "%d", cpu ? (int)s->ell.height : p->ipt);
    weft__define(&d, "WEFT_PAD", "%d", PAD);
    return weft__kernel_create(&s->run, plan->ctx, cpu ? &weft__spmv_sell16_cpu_spec : &weft__spmv_sell16_spec, &d);
}

// Columns in 16 bits for those in 32; where one does not fit, all stay.
static weft_status narrow(struct sell16 *s, struct weft_spmv_plan *plan, cl_command_queue queue)
{
    const size_t elements = (size_t)s->ell.elements, steps = (size_t)steps_of(s);
    cl_int is_wide = 0;
    weft_status status = weft__buffer_create(&s->base, plan->ctx, weft__mul(steps, 4), "bases of columns");
    if (!status)
        status = weft__buffer_create(&s->col, plan->ctx, weft__mul(elements, 2), "columns of 16 bits");
    if (!status)
        status = pack(s, plan, queue, &is_wide);
    if (status)
        return status;
    if (is_wide) {
        weft__buffer_release(&s->base);
        weft__buffer_release(&s->col);
        char *why = plan->info.why;
        const size_t used = strlen(why);
        plan->info.params.algo = WEFT_SPMV_SELL;
        snprintf(why + used, sizeof plan->info.why - used,
                 "%scolumns of 32 bits, since rows of a slice lie %d apart or more", used ? "; " : "", PAD);
        return WEFT_OK;
    }
    weft__buffer_release(&s->ell.col);
    s->ell.bytes = s->ell.bytes - elements * 2 + steps * 4;
    return kernel_create(s, plan);
}

static weft_status create(struct weft_spmv_plan *plan, cl_command_queue queue)
{
    struct sell16 *s = plan->state = calloc(1, sizeof *s);
    if (!s)
        return weft__fail(plan->ctx, WEFT_ENOMEM, "out of host memory for a plan");
    struct weft__spmv_clock clock = weft__spmv_clock(plan->ctx);
    struct weft__stream stream;
    weft_status status = weft__spmv_sell_sigma(plan);
    if (!status)
        status = weft__spmv_ell_create(&s->ell, plan, queue, &plan->a, -1, plan->info.params.sigma);
    if (!status)
        status = weft__stream_begin(&stream, plan->ctx, queue, 0, NULL, NULL);
    if (!status)
        status = weft__spmv_ell_fill(&s->ell, plan, &stream, &plan->a);
    if (!status)
        status = narrow(s, plan, queue);
    plan->info.format_bytes = s->ell.bytes;
    plan->info.convert_ms = weft__spmv_clock_ms(plan->ctx, &clock);
    return status;
}

// Values alone change. The conversion writes columns of 32 bits as well; they go to memory that the queue gives back.
static weft_status fill(struct weft_spmv_plan *plan, cl_command_queue queue, const struct weft_device_csr *a)
{
    struct sell16 *s = plan->state;
    struct weft__stream stream;
    weft_status status = WEFT_OK;
    if (s->base)
        status = weft__buffer_create(&s->ell.col, plan->ctx, weft__mul((size_t)s->ell.elements, 4), "columns of ELL");
    if (!status)
        status = weft__stream_begin(&stream, plan->ctx, queue, 0, NULL, NULL);
    if (!status)
        status = weft__spmv_ell_fill(&s->ell, plan, &stream, a);
    if (s->base)
        weft__buffer_release(&s->ell.col);
    return status;
}

static weft_status run(struct weft_spmv_plan *plan, struct weft__stream *stream, const struct weft__spmv_call *call)
{
    const struct sell16 *s = plan->state;
    const struct weft__spmv_ell *e = &s->ell;
    if (!s->base)
        return weft__spmv_ell_run(e, plan, stream, call);
    const cl_int m = (cl_int)plan->a.m;
    const cl_mem val = e->val ? e->val : s->col, perm = e->perm ? e->perm : e->slice_ptr;
    if (plan->ctx->schedule == WEFT_SCHEDULE_CPU)
        return WEFT__LAUNCH(stream, s->run, e->groups, e->wg, WEFT__ARG(slice_ptr, e->slice_ptr),
                            WEFT__ARG(base, s->base), WEFT__ARG(col, s->col), WEFT__ARG(val), WEFT__ARG(perm),
                            WEFT__ARG(x, call->x), WEFT__ARG(y, call->y), WEFT__ARG(m), WEFT__ARG(height, e->height),
                            WEFT__ARG(chunk, e->chunk), WEFT__SPMV_SCALAR(alpha, plan, call->alpha),
                            WEFT__SPMV_SCALAR(beta, plan, call->beta));
    return WEFT__LAUNCH(stream, s->run, e->groups, e->wg, WEFT__ARG(slice_ptr, e->slice_ptr), WEFT__ARG(base, s->base),
                        WEFT__ARG(col, s->col), WEFT__ARG(val), WEFT__ARG(perm), WEFT__ARG(x, call->x),
                        WEFT__ARG(y, call->y), WEFT__ARG(m), WEFT__ARG(height, e->height),
                        WEFT__SPMV_SCALAR(alpha, plan, call->alpha), WEFT__SPMV_SCALAR(beta, plan, call->beta));
}

const struct weft__spmv_method weft__spmv_sell16 = {WEFT_SPMV_SELL16, create, fill, run, destroy};
