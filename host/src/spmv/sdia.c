// SPDX-License-Identifier: Apache-2.0
// Sliced DIA: conversion from CSR and SpMV; and how well it would fit, from a sample of the slices.
//
//     pass         reads             writes                    form of an entry on its way   buffers
//     sdia_count   row_ptr, col      slots of slices           (diagonals of a slice)        SLICE_PTR
//     scan         SLICE_PTR         begins of slices          (slices alone)                SLICE_PTR
//     sdia_fill    CSR, SLICE_PTR    diagonals, all elements   bit of a mask, value          SLOT, VAL
//   and for each SpMV
//     spmv_sdia    all of these, x   y                         product, sum of a row
#include "sdia.h"
#include "cost.h"
#include "ell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct weft_tune_spmv_sdia {
    struct weft__tune_key key;
    int wg, ipt, rows;
    int chunk; // slices of a work-item (CPU)
    int read;
};
static const struct weft_tune_spmv_sdia tune[] = {
    // 2026-11-22, one NVIDIA H200, f32 and f64: stencil27:120 0.0593 and 0.107 ms, band:20000000,5 0.229 and 0.312;
    // 0.0666 and 0.115, 0.240 and 0.350 with 7 slots together; 0.071 and 0.113, 0.239 and 0.350 with 3 slots of 2 rows;
    // more with more.
    {{WEFT_SCHEDULE_GPU, NULL, 0, NULL, "the best of five points on an H200"}, 128, 4, 1, 1, 2},
    {{WEFT_SCHEDULE_CPU, NULL, 0, NULL, "default"}, 1, 0, 0, 32, 1},
};
#define GPU(member) WEFT__SPMV_GPU(struct weft_tune_spmv_sdia, member, member)
static const struct weft__tunable gpu_values[] = {
    {GPU(rows), .low = 1, .high = 4, .step = 1, .sweep = {1, 2, 4}, .help = "rows per work-item at a time"},
    {GPU(ipt), .low = 1, .high = 8, .step = 1, .kept = WEFT__KEPT, .sweep = {1, 3, 4, 5, 7},
     .help = "slots that a work-item reads together"},
    {GPU(wg), .low = 1, .step = 1, .most = weft__tunable_wg, .lower = WEFT__LOWER_HALVE, .kept = WEFT__KEPT,
     .sweep = {64, 128, 256}, .help = "work-items per work-group"},
    {GPU(read), WEFT__SPMV_READ},
};
static const struct weft__tunable cpu_values[] = {
    {WEFT__SPMV_CPU(struct weft_tune_spmv_sdia, wg, wg), .low = 1, .step = 1, .most = weft__tunable_wg,
     .kept = WEFT__KEPT, .help = "work-items per work-group"},
};
const struct weft__tunables weft__spmv_sdia_tunables[] = {
    {"spmv", "sdia", WEFT_SCHEDULE_GPU, "spmv.sdia", WEFT__TUNABLES(gpu_values), WEFT__TUNE_ROWS(tune)},
    {"spmv", "sdia", WEFT_SCHEDULE_CPU, "spmv.sdia", WEFT__TUNABLES(cpu_values), WEFT__TUNE_ROWS(tune)},
    {0},
};
#define HEIGHT     32 // rows of a slice, a bit of a mask each
#define BEHIND     8  // slots behind the last one, to read ahead
#define PACK_WG    32 // work-items of a conversion (GPU)
#define PACK_CHUNK 16 // slices of a work-item of a conversion, at most (CPU)

enum {
    SLICE_PTR, // slices + 1 slots, 64-bit
    SLOT,      // offset and mask of each
    VAL,       // HEIGHT for each slot; NULL for a pattern
    NBUFFERS
};
enum { RUN, FILL, NKERNELS };
struct sdia {
    cl_mem b[NBUFFERS];
    struct weft__kernel *k[NKERNELS];
    cl_uint slices, chunk;
    int64_t slots;
    size_t groups, wg;
};

// Slices of a work-item of an SpMV.
static cl_uint chunk_of(const struct weft_spmv_plan *plan)
{
    const struct weft_tune_spmv_sdia *row = WEFT__TUNE_FIND(plan->ctx, tune);
    return weft__spmv_is_cpu(plan) ? weft__spmv_chunk(plan, (cl_uint)row->chunk * HEIGHT, HEIGHT) / HEIGHT
                                   : (cl_uint)row->chunk;
}

static void destroy(void *state)
{
    struct sdia *s = state;
    weft__parts_release(s->k, NKERNELS, s->b, NBUFFERS);
    free(s);
}

// Slices of a work-item of a conversion on a CPU: few where rows are long, so that all cores have some.
static cl_uint pack_chunk(const struct weft_spmv_plan *plan)
{
    return weft__spmv_chunk(plan, PACK_CHUNK * HEIGHT, HEIGHT) / HEIGHT;
}

// A kernel of the conversion, which takes `chunk` on a CPU alone.
static void pack_make(struct weft__make *make, struct weft__kernel **out, struct weft_spmv_plan *plan,
                      const struct weft__kernel_spec *spec)
{
    const cl_int m = (cl_int)plan->a.m;
    const cl_uint chunk = weft__spmv_is_cpu(plan) ? pack_chunk(plan) : 1;
    struct weft__defines d = {0};
    weft__define_types(&d, plan->a.type, plan->a.ofs);
    weft__define(&d, "WEFT_WG", "%d", weft__spmv_is_cpu(plan) ? 1 : PACK_WG);
    weft__make_kernel(make, out, spec, &d);
    if (!make->status)
        make->status = WEFT__BIND(plan->ctx, *out, WEFT__ARG(m), WEFT__ARG(chunk));
}

// Work-groups that take `count` slices.
static size_t pack_groups(const struct weft_spmv_plan *plan, size_t count)
{
    return weft__spmv_is_cpu(plan) ? weft__groups(weft__ceil_div(count, pack_chunk(plan)), 1)
                                   : weft__groups(count, PACK_WG);
}

// Slots of `count` of the `slices` slices, at equal distances. *unfit: columns of a row do not ascend, and the slots
// are of no use. Blocks. The stream may go on.
static struct weft__stream slots_count(struct weft_spmv_plan *plan, struct weft__make *make, cl_command_queue queue,
                                       cl_mem size, cl_uint slices, cl_uint count, cl_uint limit, cl_int *unfit)
{
    struct weft__kernel *kernel = NULL;
    cl_mem word = NULL;
    weft__spmv_make_word(make, queue, &word, "word of a conversion");
    pack_make(make, &kernel, plan, weft__spmv_is_cpu(plan) ? &weft__sdia_count_cpu_spec : &weft__sdia_count_spec);
    struct weft__stream stream = weft__spmv_stream(make, queue);
    WEFT__LAUNCH(&stream, kernel, pack_groups(plan, count), weft__spmv_is_cpu(plan) ? 1 : PACK_WG,
                 WEFT__ARG(row_ptr, plan->a.row_ptr), WEFT__ARG(col, plan->a.col), WEFT__ARG(size),
                 WEFT__ARG(unfit, word), WEFT__ARG(slices), WEFT__ARG(count), WEFT__ARG(limit));
    weft__spmv_read(&stream, word, 0, sizeof *unfit, unfit);
    weft__parts_release(&kernel, 1, &word, 1);
    return stream;
}

// A sample has this many slices, and looks no further into one that needs this many times its entries.
#define SAMPLE       512
#define SAMPLE_LIMIT 4

weft_status weft__spmv_sdia_sample(struct weft_spmv_plan *plan, cl_command_queue queue, double *padding)
{
    const size_t slices = weft__ceil_div((size_t)plan->a.m, HEIGHT), count = weft__min(slices, SAMPLE);
    struct weft__make make = {.ctx = plan->ctx};
    cl_long sizes[SAMPLE];
    cl_int unfit = 0;
    cl_mem size = NULL;
    double slots = 0;
    weft__spmv_make_buffer(&make, &size, count * sizeof *sizes, "sample of slices");
    struct weft__stream stream =
        slots_count(plan, &make, queue, size, (cl_uint)slices, (cl_uint)count, SAMPLE_LIMIT, &unfit);
    weft__spmv_read(&stream, size, 0, count * sizeof *sizes, sizes);
    for (size_t i = 0; !stream.status && i < count; i++)
        slots += (double)sizes[i];
    weft__buffer_release(&size);
    *padding =
        unfit || !plan->a.nnz ? INFINITY : slots / (double)count * (double)(slices * HEIGHT) / (double)plan->a.nnz;
    return stream.status;
}

// SLICE_PTR, and how many slots there are; *last: those of the last slice. Blocks.
static weft_status slices_size(struct sdia *s, struct weft_spmv_plan *plan, struct weft__make *make,
                               cl_command_queue queue, cl_int *unfit, int64_t *last)
{
    cl_long ends[2] = {0, 0};
    weft__spmv_make_buffer(make, &s->b[SLICE_PTR], ((size_t)s->slices + 1) * sizeof *ends, "slices of sliced DIA");
    struct weft__stream stream = slots_count(plan, make, queue, s->b[SLICE_PTR], s->slices, s->slices, 0, unfit);
    if (!*unfit)
        weft__spmv_positions(&stream, s->b[SLICE_PTR], s->slices, ends);
    s->slots = ends[1];
    *last = ends[1] - ends[0];
    return stream.status;
}

// Elements for each entry; rows that only fill up the last slice do not count.
static double padding_of(const struct sdia *s, const struct weft_spmv_plan *plan, int64_t last)
{
    const double filling = (double)s->slices * HEIGHT - (double)plan->a.m;
    return plan->a.nnz ? ((double)s->slots * HEIGHT - (double)last * filling) / (double)plan->a.nnz : 0;
}

static weft_status kernels_create(struct sdia *s, struct weft_spmv_plan *plan, struct weft__make *make)
{
    const struct weft_tune_spmv_sdia *row = WEFT__TUNE_FIND(plan->ctx, tune);
    const int cpu = weft__spmv_is_cpu(plan);
    const cl_int m = (cl_int)plan->a.m, n = (cl_int)plan->a.n;
    const cl_mem val = s->b[s->b[VAL] ? VAL : SLOT];
    weft__spmv_resolve(make, plan, row, NULL);
    if (make->status)
        return make->status;
    s->chunk = chunk_of(plan);
    const struct weft__spmv_sizes sizes = weft__spmv_sizes(&plan->info.params, plan->info.schedule);
    s->wg = (size_t)sizes.wg;
    s->groups =
        weft__groups(weft__ceil_div(cpu ? weft__ceil_div(s->slices, s->chunk) : (size_t)plan->a.m, s->wg), s->wg);
    struct weft__defines d = {0};
    weft__spmv_define(plan, &d);
    weft__define(&d, "WEFT_WG", "%d", sizes.wg);
    if (!cpu) {
        weft__define(&d, "WEFT_IPT", "%d", sizes.ipt);
        weft__define(&d, "WEFT_ROWS", "%d", sizes.rows);
    }
    weft__make_kernel(make, &s->k[RUN], cpu ? &weft__spmv_sdia_cpu_spec : &weft__spmv_sdia_spec, &d);
    pack_make(make, &s->k[FILL], plan, cpu ? &weft__sdia_fill_cpu_spec : &weft__sdia_fill_spec);
    return make->status ? make->status
                        : WEFT__BIND(plan->ctx, s->k[RUN], WEFT__ARG(slice_ptr, s->b[SLICE_PTR]),
                                     WEFT__ARG(slot, s->b[SLOT]), WEFT__ARG(val), WEFT__ARG(m), WEFT__ARG(n),
                                     WEFT__ARG(slices, s->slices), WEFT__ARG(chunk, s->chunk));
}

static weft_status fill(struct weft_spmv_plan *plan, cl_command_queue queue, const struct weft_device_csr *a)
{
    const struct sdia *s = plan->state;
    const cl_mem val = s->b[VAL] ? a->val : a->col, to = s->b[s->b[VAL] ? VAL : SLOT];
    struct weft__stream stream = weft__spmv_stream(&(struct weft__make){.ctx = plan->ctx}, queue);
    return WEFT__LAUNCH(&stream, s->k[FILL], s->slots ? pack_groups(plan, s->slices) : 0,
                        weft__spmv_is_cpu(plan) ? 1 : PACK_WG, WEFT__ARG(row_ptr, a->row_ptr), WEFT__ARG(col, a->col),
                        WEFT__ARG(val), WEFT__ARG(slice_ptr, s->b[SLICE_PTR]), WEFT__ARG(slot, s->b[SLOT]),
                        WEFT__ARG(sdia_val, to), WEFT__ARG(slices, s->slices));
}

// Hand over to sliced ELL. It fails as it would if it had been asked for.
static weft_status sell_create(struct weft_spmv_plan *plan, cl_command_queue queue, const char *because)
{
    char *why = plan->info.why;
    const size_t used = strlen(why);
    struct weft__spmv_clock clock = weft__spmv_clock();
    snprintf(why + used, sizeof plan->info.why - used, "%ssliced ELL, since %s", used ? "; " : "", because);
    destroy(plan->state);
    plan->state = NULL;
    plan->method = &weft__spmv_sell;
    plan->info.params.policy.algo = WEFT_SPMV_ALGO_SELL;
    weft_status status = plan->method->create(plan, queue);
    plan->info.convert_ms = weft__spmv_clock_ms(&clock);
    return status;
}

static weft_status arrays_create(struct sdia *s, struct weft_spmv_plan *plan, cl_command_queue queue,
                                 const struct weft__spmv_clock *clock)
{
    const size_t slots = (size_t)s->slots, val = weft_type_bytes(plan->a.type);
    struct weft__make make = {.ctx = plan->ctx, .bytes = ((size_t)s->slices + 1) * sizeof(cl_long)};
    weft__spmv_make_buffer(&make, &s->b[SLOT], weft__mul(slots + BEHIND, 8), "slots of sliced DIA");
    if (val)
        weft__spmv_make_buffer(&make, &s->b[VAL], weft__mul(weft__mul(slots, HEIGHT), val), "values of sliced DIA");
    plan->info.format_bytes = make.bytes;
    make.status = kernels_create(s, plan, &make);
    if (!make.status)
        make.status = fill(plan, queue, &plan->a);
    struct weft__stream stream = weft__spmv_stream(&make, queue);
    weft__spmv_finish(&stream);
    plan->info.convert_ms = weft__spmv_clock_ms(clock);
    return stream.status;
}

// What auto chose: WEFT_ERANGE where a slice is so long that others would be done long before.
static weft_status bounded_create(struct sdia *s, struct weft_spmv_plan *plan, cl_command_queue queue,
                                  const struct weft__spmv_clock *clock, double padding)
{
    const cl_uint chunk = weft__spmv_is_cpu(plan) ? chunk_of(plan) : 1;
    int64_t longest = 0;
    weft_status status = weft__spmv_heaviest(plan, queue, s->b[SLICE_PTR], s->slices, chunk, &longest);
    if (status)
        return status;
    const struct weft__spmv_load load = {.elements = padding * (double)plan->a.nnz,
                                         .longest = (double)longest * (weft__spmv_is_cpu(plan) ? HEIGHT : 1),
                                         .items = (double)weft__ceil_div(s->slices, chunk)};
    return weft__spmv_bound_holds(plan, &load) ? arrays_create(s, plan, queue, clock) : WEFT_ERANGE;
}

static weft_status create(struct weft_spmv_plan *plan, cl_command_queue queue)
{
    struct weft__make make = {.ctx = plan->ctx};
    struct sdia *s = plan->state = weft__make_memory(&make, sizeof *s, "a plan");
    if (!s)
        return make.status;
    struct weft__spmv_clock clock = weft__spmv_clock();
    cl_int unfit = 0;
    int64_t last = 0;
    char because[120];
    s->slices = (cl_uint)weft__ceil_div((size_t)plan->a.m, HEIGHT);
    weft_status status = slices_size(s, plan, &make, queue, &unfit, &last);
    if (status)
        return status;
    if (plan->bound > 0)
        return unfit ? WEFT_ERANGE : bounded_create(s, plan, queue, &clock, padding_of(s, plan, last));
    if (unfit)
        return sell_create(plan, queue, "columns of a row do not ascend");
    const double padding = padding_of(s, plan, last);
    if (padding > plan->info.params.format.max_padding) {
        snprintf(because, sizeof because, "diagonals of %d rows need %.2f elements for each entry", HEIGHT, padding);
        return sell_create(plan, queue, because);
    }
    return arrays_create(s, plan, queue, &clock);
}

static weft_status run(struct weft_spmv_plan *plan, struct weft__stream *stream, const struct weft__spmv_call *call)
{
    const struct sdia *s = plan->state;
    return weft__spmv_launch(plan, stream, s->k[RUN], s->groups, s->wg, call);
}

const struct weft__spmv_method weft__spmv_sdia = {.create = create, .fill = fill, .run = run, .destroy = destroy};
