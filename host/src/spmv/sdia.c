// SPDX-License-Identifier: Apache-2.0
// Sliced DIA (cl/spmv_sdia.cl): conversion from CSR and product; and how well it would fit, from a sample of the slices.
#include "host/src/core/check.h"
#include "host/src/core/limits.h"
#include "host/src/core/tune.h"
#include "host/src/spmv/formats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/scan.h>

const struct weft__kernel_spec weft__sdia_count_spec = {"sdia_count", "spmv/sdia_pack_gpu.cl"};
const struct weft__kernel_spec weft__sdia_count_cpu_spec = {"sdia_count_cpu", "spmv/sdia_pack_cpu.cl"};
const struct weft__kernel_spec weft__sdia_fill_spec = {"sdia_fill", "spmv/sdia_pack_gpu.cl"};
const struct weft__kernel_spec weft__sdia_fill_cpu_spec = {"sdia_fill_cpu", "spmv/sdia_pack_cpu.cl"};
const struct weft__kernel_spec weft__spmv_sdia_spec = {"spmv_sdia", "spmv/sdia.cl"};
const struct weft__kernel_spec weft__spmv_sdia_cpu_spec = {"spmv_sdia_cpu", "spmv/sdia_cpu.cl"};

struct weft_tune_spmv_sdia {
    struct weft__tune_key key;
    int wg, ipt, rows;
    int chunk; // slices of a work-item (CPU)
    int read;
};
static const struct weft_tune_spmv_sdia tune[] = {
    // 2026-11-22, one NVIDIA H200, f32 and f64: stencil27:120 0.0593 and 0.107 ms, band:20000000,5 0.229 and 0.312; 0.0666 and
    // 0.115, 0.240 and 0.350 with 7 slots together; 0.071 and 0.113, 0.239 and 0.350 with 3 slots of 2 rows; more with more.
    {{WEFT_SCHEDULE_GPU, NULL, NULL, "the best of five points on an H200"}, 128, 4, 1, 1, 2},
    {{WEFT_SCHEDULE_CPU, NULL, NULL, "default"}, 1, 0, 0, 32, 1},
};
#define HEIGHT     32 // rows of a slice, a bit of a mask each
#define BEHIND     8  // slots behind the last one, to read ahead
#define PACK_WG    32 // work-items of a conversion (GPU)
#define PACK_CHUNK 16 // slices of a work-item of a conversion (CPU)

struct sdia {
    cl_mem slice_ptr; // slices + 1 slots, 64-bit
    cl_mem slot;      // offset and mask of each
    cl_mem val;       // HEIGHT for each slot; NULL for a pattern
    cl_uint slices, chunk;
    int64_t slots;
    struct weft__kernel *run, *fill;
    size_t groups, wg;
};

static int is_cpu(const struct weft_spmv_plan *plan)
{
    return plan->ctx->schedule == WEFT_SCHEDULE_CPU;
}

// Slices of a work-item of a product.
static cl_uint chunk_of(const struct weft_spmv_plan *plan)
{
    const struct weft_tune_spmv_sdia *row = WEFT__TUNE_FIND(plan->ctx, tune);
    return is_cpu(plan) ? weft__spmv_chunk(plan, (cl_uint)row->chunk * HEIGHT, HEIGHT) / HEIGHT : (cl_uint)row->chunk;
}

static void destroy(void *state)
{
    struct sdia *s = state;
    weft__kernel_release(&s->run);
    weft__kernel_release(&s->fill);
    weft__buffer_release(&s->slice_ptr);
    weft__buffer_release(&s->slot);
    weft__buffer_release(&s->val);
    free(s);
}

static weft_status pack_kernel(struct weft__kernel **out, struct weft_spmv_plan *plan,
                               const struct weft__kernel_spec *spec)
{
    struct weft__defines d = {0};
    weft__define_types(&d, plan->a.type, plan->a.ofs);
    weft__define(&d, "WEFT_WG", "%d", is_cpu(plan) ? 1 : PACK_WG);
    return weft__kernel_create(out, plan->ctx, spec, &d);
}

// Work-groups that take `count` slices.
static size_t pack_groups(const struct weft_spmv_plan *plan, size_t count)
{
    return is_cpu(plan) ? weft__groups(weft__ceil_div(count, PACK_CHUNK), 1) : weft__groups(count, PACK_WG);
}

// Slots of `count` of the `slices` slices, at equal distances. *unfit: columns of a row do not ascend, and the slots are
// of no use. Blocks.
static weft_status slots_count(struct weft_spmv_plan *plan, cl_command_queue queue, cl_mem size, cl_uint slices,
                               cl_uint count, cl_uint limit, cl_int *unfit)
{
    const struct weft__kernel_spec *spec = is_cpu(plan) ? &weft__sdia_count_cpu_spec : &weft__sdia_count_spec;
    const cl_int m = (cl_int)plan->a.m, none = 0;
    const cl_uint chunk = PACK_CHUNK;
    const size_t nargs = is_cpu(plan) ? 9 : 8;
    struct weft__stream stream;
    struct weft__kernel *kernel = NULL;
    cl_mem word = NULL;
    weft_status status = weft__buffer_create(&word, plan->ctx, sizeof none, "word of a conversion");
    if (!status)
        status = pack_kernel(&kernel, plan, spec);
    if (!status)
        status = weft__spmv_write(plan->ctx, queue, word, sizeof none, &none);
    if (!status)
        status = weft__stream_begin(&stream, plan->ctx, queue, 0, NULL, NULL);
    if (!status) {
        const struct weft__arg args[] = {WEFT__ARG(row_ptr, plan->a.row_ptr),
                                         WEFT__ARG(col, plan->a.col),
                                         WEFT__ARG(size),
                                         WEFT__ARG(unfit, word),
                                         WEFT__ARG(m),
                                         WEFT__ARG(slices),
                                         WEFT__ARG(count),
                                         WEFT__ARG(limit),
                                         WEFT__ARG(chunk)};
        status = weft__launch(&stream, kernel, pack_groups(plan, count), is_cpu(plan) ? 1 : PACK_WG, args, nargs);
    }
    if (!status)
        status = weft__spmv_read(plan->ctx, queue, word, 0, sizeof *unfit, unfit);
    weft__kernel_release(&kernel);
    weft__buffer_release(&word);
    return status;
}

// A sample has this many slices, and looks no further into one that needs this many times its entries.
#define SAMPLE       512
#define SAMPLE_LIMIT 2

weft_status weft__spmv_sdia_sample(struct weft_spmv_plan *plan, cl_command_queue queue, double *padding)
{
    const size_t slices = weft__ceil_div((size_t)plan->a.m, HEIGHT), count = weft__min(slices, SAMPLE);
    cl_long sizes[SAMPLE];
    cl_int unfit = 0;
    cl_mem size = NULL;
    double slots = 0;
    weft_status status = weft__buffer_create(&size, plan->ctx, count * sizeof *sizes, "sample of slices");
    if (!status)
        status = slots_count(plan, queue, size, (cl_uint)slices, (cl_uint)count, SAMPLE_LIMIT, &unfit);
    if (!status)
        status = weft__spmv_read(plan->ctx, queue, size, 0, count * sizeof *sizes, sizes);
    for (size_t i = 0; !status && i < count; i++)
        slots += (double)sizes[i];
    weft__buffer_release(&size);
    *padding =
        unfit || !plan->a.nnz ? INFINITY : slots / (double)count * (double)(slices * HEIGHT) / (double)plan->a.nnz;
    return status;
}

// slice_ptr, and how many slots there are; *last: those of the last slice. Blocks.
static weft_status slices_size(struct sdia *s, struct weft_spmv_plan *plan, cl_command_queue queue, cl_int *unfit,
                               int64_t *last)
{
    struct weft_scan_plan *scan = NULL;
    cl_long ends[2] = {0, 0};
    weft_status status = slots_count(plan, queue, s->slice_ptr, s->slices, s->slices, 0, unfit);
    if (status || *unfit)
        return status;
    status = weft_scan_plan_create(&scan, plan->ctx, WEFT_SCAN_I64, s->slices,
                                   weft_scan_params(.total = 1, .algo = WEFT_SCAN_THREE));
    if (!status)
        status = weft_scan_run(scan, queue, s->slice_ptr, s->slice_ptr, s->slices, 0, NULL, NULL);
    if (!status)
        status =
            weft__spmv_read(plan->ctx, queue, s->slice_ptr, (s->slices - (size_t)1) * sizeof *ends, sizeof ends, ends);
    weft_scan_plan_destroy(&scan);
    s->slots = ends[1];
    *last = ends[1] - ends[0];
    return status;
}

// Elements for each entry; rows that only fill up the last slice do not count.
static double padding_of(const struct sdia *s, const struct weft_spmv_plan *plan, int64_t last)
{
    const double filling = (double)s->slices * HEIGHT - (double)plan->a.m;
    return plan->a.nnz ? ((double)s->slots * HEIGHT - (double)last * filling) / (double)plan->a.nnz : 0;
}

static weft_status arrays_alloc(struct sdia *s, struct weft_spmv_plan *plan)
{
    const size_t val = weft_type_bytes(plan->a.type), slots = (size_t)s->slots;
    const size_t elements = weft__mul(slots, HEIGHT);
    weft_status status = weft__buffer_create(&s->slot, plan->ctx, weft__mul(slots + BEHIND, 8), "slots of sliced DIA");
    if (!status && val)
        status = weft__buffer_create(&s->val, plan->ctx, weft__mul(elements, val), "values of sliced DIA");
    plan->info.format_bytes = (slots + BEHIND) * 8 + elements * val + ((size_t)s->slices + 1) * sizeof(cl_long);
    return status;
}

static weft_status kernels_create(struct sdia *s, struct weft_spmv_plan *plan)
{
    struct weft_spmv_params *p = &plan->info.params;
    const struct weft_tune_spmv_sdia *row = WEFT__TUNE_FIND(plan->ctx, tune);
    const int cpu = is_cpu(plan);
    p->rows = p->rows ? p->rows : row->rows;
    p->read = p->read ? p->read : row->read;
    weft_status status = weft__size_resolve(plan->ctx, &p->wg, &p->ipt,
                                            &(struct weft__size_rule){.name = "params.",
                                                                      .wg = row->wg,
                                                                      .wg_step = 1,
                                                                      .ipt = row->ipt,
                                                                      .ipt_least = !cpu,
                                                                      .ipt_most = cpu ? 0 : 8,
                                                                      .ipt_step = 1});
    if (!status)
        status = weft__check_range(plan->ctx, p->rows, cpu ? 0 : 1, cpu ? 0 : 4, 1, "params.rows");
    if (status)
        return status;
    s->chunk = chunk_of(plan);
    s->wg = (size_t)p->wg;
    s->groups =
        weft__groups(weft__ceil_div(cpu ? weft__ceil_div(s->slices, s->chunk) : (size_t)plan->a.m, s->wg), s->wg);
    struct weft__defines d = {0};
    weft__spmv_define(plan, &d);
    weft__define(&d, "WEFT_WG", "%d", p->wg);
    if (!cpu) {
        weft__define(&d, "WEFT_IPT", "%d", p->ipt);
        weft__define(&d, "WEFT_ROWS", "%d", p->rows);
    }
    status = weft__kernel_create(&s->run, plan->ctx, cpu ? &weft__spmv_sdia_cpu_spec : &weft__spmv_sdia_spec, &d);
    if (!status)
        status = pack_kernel(&s->fill, plan, cpu ? &weft__sdia_fill_cpu_spec : &weft__sdia_fill_spec);
    return status;
}

static weft_status fill(struct weft_spmv_plan *plan, cl_command_queue queue, const struct weft_device_csr *a)
{
    const struct sdia *s = plan->state;
    const cl_int m = (cl_int)a->m;
    const cl_mem val = s->val ? a->val : a->col, to = s->val ? s->val : s->slot;
    const cl_uint chunk = PACK_CHUNK;
    struct weft__stream stream;
    weft_status status = weft__stream_begin(&stream, plan->ctx, queue, 0, NULL, NULL);
    const struct weft__arg args[] = {WEFT__ARG(row_ptr, a->row_ptr),
                                     WEFT__ARG(col, a->col),
                                     WEFT__ARG(val),
                                     WEFT__ARG(slice_ptr, s->slice_ptr),
                                     WEFT__ARG(slot, s->slot),
                                     WEFT__ARG(sdia_val, to),
                                     WEFT__ARG(m),
                                     WEFT__ARG(slices, s->slices),
                                     WEFT__ARG(chunk)};
    if (!status && s->slots)
        status = weft__launch(&stream, s->fill, pack_groups(plan, s->slices), is_cpu(plan) ? 1 : PACK_WG, args,
                              is_cpu(plan) ? 9 : 8);
    return status;
}

// Sliced ELL instead. It fails as it would if it had been asked for.
static weft_status sell_create(struct weft_spmv_plan *plan, cl_command_queue queue, const char *because)
{
    char *why = plan->info.why;
    const size_t used = strlen(why);
    struct weft__spmv_clock clock = weft__spmv_clock(plan->ctx);
    snprintf(why + used, sizeof plan->info.why - used, "%ssliced ELL, since %s", used ? "; " : "", because);
    destroy(plan->state);
    plan->state = NULL;
    plan->method = &weft__spmv_sell;
    plan->info.params.algo = WEFT_SPMV_SELL;
    weft_status status = plan->method->create(plan, queue);
    plan->info.convert_ms = weft__spmv_clock_ms(plan->ctx, &clock);
    return status;
}

static weft_status arrays_create(struct sdia *s, struct weft_spmv_plan *plan, cl_command_queue queue,
                                 const struct weft__spmv_clock *clock)
{
    weft_status status = arrays_alloc(s, plan);
    if (!status)
        status = kernels_create(s, plan);
    if (!status)
        status = fill(plan, queue, &plan->a);
    if (!status)
        status = weft__fail_cl(plan->ctx, weft__cl.clFinish(queue), "clFinish");
    plan->info.convert_ms = weft__spmv_clock_ms(plan->ctx, clock);
    return status;
}

// What auto chose: WEFT_ERANGE where a slice is so long that others would be done long before.
static weft_status bounded_create(struct sdia *s, struct weft_spmv_plan *plan, cl_command_queue queue,
                                  const struct weft__spmv_clock *clock, double padding)
{
    const cl_uint chunk = is_cpu(plan) ? chunk_of(plan) : 1;
    int64_t longest = 0;
    weft_status status = weft__spmv_heaviest(plan, queue, s->slice_ptr, s->slices, chunk, &longest);
    if (status)
        return status;
    const struct weft__spmv_load load = {.elements = padding * (double)plan->a.nnz,
                                         .bytes = 0.25 + (double)weft_type_bytes(plan->a.type),
                                         .longest = (double)longest * (is_cpu(plan) ? HEIGHT : 1),
                                         .items = (double)weft__ceil_div(s->slices, chunk)};
    return weft__spmv_bound_holds(plan, &load) ? arrays_create(s, plan, queue, clock) : WEFT_ERANGE;
}

static weft_status create(struct weft_spmv_plan *plan, cl_command_queue queue)
{
    struct sdia *s = plan->state = calloc(1, sizeof *s);
    if (!s)
        return weft__fail(plan->ctx, WEFT_ENOMEM, "out of host memory for a plan");
    struct weft__spmv_clock clock = weft__spmv_clock(plan->ctx);
    cl_int unfit = 0;
    int64_t last = 0;
    char because[120];
    s->slices = (cl_uint)weft__ceil_div((size_t)plan->a.m, HEIGHT);
    weft_status status = weft__buffer_create(&s->slice_ptr, plan->ctx, ((size_t)s->slices + 1) * sizeof(cl_long),
                                             "slices of sliced DIA");
    if (!status)
        status = slices_size(s, plan, queue, &unfit, &last);
    if (status)
        return status;
    if (plan->bound > 0)
        return unfit ? WEFT_ERANGE : bounded_create(s, plan, queue, &clock, padding_of(s, plan, last));
    if (unfit)
        return sell_create(plan, queue, "columns of a row do not ascend");
    const double padding = padding_of(s, plan, last);
    if (padding > plan->info.params.max_padding) {
        snprintf(because, sizeof because, "diagonals of %d rows need %.2f elements for each entry", HEIGHT, padding);
        return sell_create(plan, queue, because);
    }
    return arrays_create(s, plan, queue, &clock);
}

static weft_status run(struct weft_spmv_plan *plan, struct weft__stream *stream, const struct weft__spmv_call *call)
{
    const struct sdia *s = plan->state;
    const cl_int m = (cl_int)plan->a.m, n = (cl_int)plan->a.n;
    const cl_mem val = s->val ? s->val : s->slot;
    if (is_cpu(plan))
        return WEFT__LAUNCH(stream, s->run, s->groups, s->wg, WEFT__ARG(slice_ptr, s->slice_ptr),
                            WEFT__ARG(slot, s->slot), WEFT__ARG(val), WEFT__ARG(x, call->x), WEFT__ARG(y, call->y),
                            WEFT__ARG(m), WEFT__ARG(n), WEFT__ARG(slices, s->slices), WEFT__ARG(chunk, s->chunk),
                            WEFT__SPMV_SCALAR(alpha, plan, call->alpha), WEFT__SPMV_SCALAR(beta, plan, call->beta));
    return WEFT__LAUNCH(stream, s->run, s->groups, s->wg, WEFT__ARG(slice_ptr, s->slice_ptr), WEFT__ARG(slot, s->slot),
                        WEFT__ARG(val), WEFT__ARG(x, call->x), WEFT__ARG(y, call->y), WEFT__ARG(m),
                        WEFT__SPMV_SCALAR(alpha, plan, call->alpha), WEFT__SPMV_SCALAR(beta, plan, call->beta));
}

const struct weft__spmv_method weft__spmv_sdia = {WEFT_SPMV_SDIA, create, fill, run, destroy};
