// SPDX-License-Identifier: Apache-2.0
// Sliced ELL with columns in 16 bits: conversion from sliced ELL (ell.c) and SpMV.
//
//     pass          reads                 writes                form of an entry on its way    buffers
//     sell16_pack   columns of 32 bits    bases and distances   distance to the base of step   BASE, COL
//   and for each SpMV
//     spmv_sell16   ELL, BASE, COL, x     y                     product, sum of a row
#include "plan.h"
#include "ell.h"
#include "variants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct weft__kernel_spec pack_spec = {"sell16_pack", {"spmv/sell16_pack.cl"}};
static const struct weft__kernel_spec gpu_spec = {"spmv_sell16", {"spmv/sell16.cl", "spmv/spmv.clh", "spmv/ell.clh"}};
static const struct weft__kernel_spec cpu_spec = {"spmv_sell16_cpu",
                                                  {"spmv/sell16_cpu.cl", "spmv/spmv.clh", "spmv/ell.clh"}};

#define PAD 65535 // the distance that stands for padding

enum { BASE, COL, NBUFFERS };
struct sell16 {
    struct weft__spmv_ell ell; // its columns are gone where those of 16 bits serve
    cl_mem b[NBUFFERS];        // NULL: a distance does not fit, ell runs
    struct weft__kernel *run;
};

static void destroy(void *state)
{
    struct sell16 *s = state;
    weft__spmv_ell_release(&s->ell);
    weft__parts_release(&s->run, 1, s->b, NBUFFERS);
    free(s);
}

// Columns in 16 bits from those in 32. *is_wide: one does not fit.
static void pack(struct sell16 *s, struct weft_spmv_plan *plan, struct weft__make *make, cl_command_queue queue,
                 cl_int *is_wide)
{
    const size_t wg = weft__spmv_is_cpu(plan) ? 1 : 64;
    const cl_ulong steps = (cl_ulong)s->ell.elements / s->ell.height;
    struct weft__defines d = {0};
    struct weft__kernel *kernel = NULL;
    cl_mem wide = NULL;
    weft__define(&d, "WEFT_WG", "%zu", wg);
    weft__define(&d, "WEFT_PAD", "%d", PAD);
    weft__spmv_make_word(make, queue, &wide, "word of a conversion");
    weft__make_kernel(make, &kernel, &pack_spec, &d);
    struct weft__stream stream = weft__spmv_stream(make, queue);
    WEFT__LAUNCH(&stream, kernel, weft__groups(weft__ceil_div((size_t)steps, wg), wg), wg,
                 WEFT__ARG(ell_col, s->ell.b[WEFT__ELL_COL]), WEFT__ARG(base, s->b[BASE]), WEFT__ARG(col, s->b[COL]),
                 WEFT__ARG(wide), WEFT__ARG(steps), WEFT__ARG(height, s->ell.height));
    make->status = weft__spmv_read(&stream, wide, 0, sizeof *is_wide, is_wide);
    weft__parts_release(&kernel, 1, &wide, 1);
}

static void kernel_create(struct sell16 *s, struct weft_spmv_plan *plan, struct weft__make *make)
{
    const struct weft__spmv_sizes sizes = weft__spmv_sizes(&plan->info.params, plan->info.schedule);
    const int cpu = weft__spmv_is_cpu(plan);
    const cl_mem val = s->ell.b[WEFT__ELL_VAL] ? s->ell.b[WEFT__ELL_VAL] : s->b[COL];
    struct weft__defines d = {0};
    weft__spmv_define(plan, &d);
    weft__define(&d, "WEFT_WG", "%d", sizes.wg);
    weft__define(&d, "WEFT_SORTED", "%d", s->ell.b[WEFT__ELL_PERM] != NULL);
    weft__define(&d, cpu ? "WEFT_BLOCK" : "WEFT_IPT", "%d", cpu ? (int)s->ell.height : sizes.ipt);
    if (!cpu)
        weft__define(&d, "WEFT_HEIGHT", "%u", s->ell.height);
    weft__define(&d, "WEFT_PAD", "%d", PAD);
    weft__make_kernel(make, &s->run, cpu ? &cpu_spec : &gpu_spec, &d);
    if (!make->status)
        make->status = weft__spmv_ell_bind(&s->ell, plan, s->run);
    if (!make->status)
        make->status =
            WEFT__BIND(plan->ctx, s->run, WEFT__ARG(base, s->b[BASE]), WEFT__ARG(col, s->b[COL]), WEFT__ARG(val));
}

// Columns in 16 bits in the place of those in 32; where one does not fit, all stay.
static weft_status narrow(struct sell16 *s, struct weft_spmv_plan *plan, struct weft__make *make,
                          cl_command_queue queue)
{
    const size_t elements = (size_t)s->ell.elements, steps = elements / s->ell.height;
    cl_int is_wide = 0;
    weft__spmv_make_buffer(make, &s->b[BASE], weft__mul(steps, 4), "bases of columns");
    weft__spmv_make_buffer(make, &s->b[COL], weft__mul(elements, 2), "columns of 16 bits");
    pack(s, plan, make, queue, &is_wide);
    if (make->status)
        return make->status;
    if (is_wide) {
        char *why = plan->info.why;
        const size_t used = strlen(why);
        weft__parts_release(NULL, 0, s->b, NBUFFERS);
        plan->info.params.policy.algo = WEFT_SPMV_ALGO_SELL;
        plan->large = !weft__spmv_is_cpu(plan); // the self-test then runs this form
        snprintf(why + used, sizeof plan->info.why - used,
                 "%scolumns of 32 bits, since rows of a slice lie %d apart or more", used ? "; " : "", PAD);
        return WEFT_OK;
    }
    s->ell.bytes = s->ell.bytes - elements * 2 + steps * 4;
    kernel_create(s, plan, make);
    weft__buffer_release(&s->ell.b[WEFT__ELL_COL]);
    return make->status;
}

static weft_status create(struct weft_spmv_plan *plan, cl_command_queue queue)
{
    struct weft__make make = {.ctx = plan->ctx};
    struct sell16 *s = plan->state = weft__make_memory(&make, sizeof *s, "a plan");
    if (!s)
        return make.status;
    struct weft__spmv_clock clock = weft__spmv_clock();
    make.status = weft__spmv_sell_sigma(plan);
    if (!make.status)
        make.status = weft__spmv_ell_create(&s->ell, plan, queue, -1, plan->info.params.format.sigma);
    struct weft__stream stream = weft__spmv_stream(&make, queue);
    make.status = weft__spmv_ell_fill(&s->ell, &stream, &plan->a);
    if (!make.status)
        make.status = narrow(s, plan, &make, queue);
    plan->info.format_bytes = s->ell.bytes;
    plan->info.convert_ms = weft__spmv_clock_ms(&clock);
    return make.status;
}

// Values alone change. The conversion writes columns of 32 bits as well; they go to memory that the queue gives back.
static weft_status fill(struct weft_spmv_plan *plan, cl_command_queue queue, const struct weft_device_csr *a)
{
    struct sell16 *s = plan->state;
    struct weft__make make = {.ctx = plan->ctx};
    if (s->b[BASE])
        weft__spmv_make_buffer(&make, &s->ell.b[WEFT__ELL_COL], weft__mul((size_t)s->ell.elements, 4),
                               "columns of ELL");
    struct weft__stream stream = weft__spmv_stream(&make, queue);
    weft__spmv_ell_fill(&s->ell, &stream, a);
    if (s->b[BASE])
        weft__buffer_release(&s->ell.b[WEFT__ELL_COL]);
    return stream.status;
}

static weft_status run(struct weft_spmv_plan *plan, struct weft__stream *stream, const struct weft__spmv_call *call)
{
    const struct sell16 *s = plan->state;
    return s->b[BASE] ? weft__spmv_launch(plan, stream, s->run, s->ell.groups, s->ell.wg, call)
                      : weft__spmv_ell_run(&s->ell, plan, stream, call);
}

static void variants(weft__variant_fn *fn, void *arg)
{
    WEFT__SPMV_EACH(&pack_spec, WEFT_SCHEDULE_AUTO, {"WEFT_WG", 64}, {"WEFT_PAD", PAD});
    static const struct {
        int wg, ipt;
    } gpu[] = {{256, 6}, {128, 6}, {128, 4}};
    for (int sorted = 0; sorted < 2; sorted++) {
        for (size_t i = 0; i < sizeof gpu / sizeof *gpu; i++)
            WEFT__SPMV_EACH(&gpu_spec, WEFT_SCHEDULE_GPU, {"WEFT_WG", gpu[i].wg}, {"WEFT_IPT", gpu[i].ipt},
                            {"WEFT_HEIGHT", 32}, {"WEFT_SORTED", sorted}, {"WEFT_PAD", PAD});
        WEFT__SPMV_EACH(&cpu_spec, WEFT_SCHEDULE_CPU, {"WEFT_WG", 1}, {"WEFT_BLOCK", 8}, {"WEFT_SORTED", sorted},
                        {"WEFT_PAD", PAD});
    }
}

const struct weft__spmv_method weft__spmv_sell16 = {
    .create = create, .fill = fill, .run = run, .destroy = destroy, .variants = variants};
