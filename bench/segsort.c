// SPDX-License-Identifier: Apache-2.0
// Segmented sort of as many keys as the matrix has entries. The algorithms are the ways to cut them into segments:
// blocks of 1024, the rows of the matrix, a mixture of empty to huge segments, and one segment of all.
#include "../host/src/internal.h"
#include "../host/src/ref/ref.h"
#include "keys.h"
#include "primitive.h"

#include <stdio.h>
#include <stdlib.h>
#include <weft/segsort.h>

#define BLOCK 1024

static const char *const *segsort_algos(const struct weft_backend *backend)
{
    static const char *const cases[] = {"blocks", "rows", "mixed", "whole", NULL};
    return !strcmp(backend->name, "ref") || !strcmp(backend->name, "opencl") ? cases : NULL;
}

static int is(const struct bench_run *run, const char *algo)
{
    return !strcmp(run->algo, algo);
}

// Segments of "mixed": a quarter are empty, most of the others short, a few of up to 16384 keys, and one in the middle
// holds a quarter of all keys. Gives their number; offsets may be NULL.
static int64_t mixed_draw(const struct bench_run *run, void *offsets)
{
    int64_t n = run->input->a->nnz, at = 0, segments = 0, huge = n / 4;
    size_t bytes = weft_ofs_bytes(run->input->a->ofs);
    uint64_t state = run->input->seed + 1;
    while (at < n) {
        uint64_t kind = bench_random(&state) % 64, draw = bench_random(&state);
        int64_t length = (int64_t)(kind < 16   ? 0
                                   : kind < 56 ? 1 + draw % 8
                                   : kind < 63 ? 9 + draw % 248
                                               : 257 + draw % 16128);
        if (huge && at >= n / 2) {
            length = huge;
            huge = 0;
        }
        if (offsets)
            bench_put(offsets, bytes, segments, (uint64_t)at);
        segments++;
        at = length < n - at ? at + length : n;
    }
    if (offsets)
        bench_put(offsets, bytes, segments, (uint64_t)n);
    return segments;
}

// Segments given by offsets; 0: blocks.
static int64_t segments_of(const struct bench_run *run)
{
    return is(run, "rows") ? run->input->a->m : is(run, "mixed") ? mixed_draw(run, NULL) : is(run, "whole");
}

// in: keys, payload, offsets; out: keys, payload.
static void segsort_sizes(const struct bench_run *run, size_t *in_bytes, size_t *out_bytes)
{
    const struct weft_csr *a = run->input->a;
    in_bytes[0] = out_bytes[0] = weft__mul((size_t)a->nnz, weft_key_bytes(bench_key(run)));
    in_bytes[1] = out_bytes[1] = weft__mul((size_t)a->nnz, (size_t)bench_payload_bytes(run));
    in_bytes[2] = is(run, "blocks") ? 0 : weft__mul((size_t)segments_of(run) + 1, weft_ofs_bytes(a->ofs));
}

// Keys of all bits; one in eight repeats the one before it.
static void segsort_draw(const struct bench_run *run, void *const *in)
{
    const struct weft_csr *a = run->input->a;
    uint64_t state = run->input->seed, key = 0;
    size_t bytes = weft_key_bytes(bench_key(run)), ofs_bytes = weft_ofs_bytes(a->ofs);
    for (int64_t i = 0; i < a->nnz; i++) {
        uint64_t draw = bench_random(&state);
        if (draw % 8)
            key = draw * UINT64_C(0x9e3779b97f4a7c15) >> (bytes == 8 ? 0 : 32);
        bench_put(in[0], bytes, i, key);
    }
    bench_payload_draw(run, in[1], 0, a->nnz);
    if (is(run, "rows")) {
        memcpy(in[2], a->row_ptr, ((size_t)a->m + 1) * ofs_bytes);
    } else if (is(run, "mixed")) {
        mixed_draw(run, in[2]);
    } else if (is(run, "whole")) {
        bench_put(in[2], ofs_bytes, 0, 0);
        bench_put(in[2], ofs_bytes, 1, (uint64_t)a->nnz);
    }
}

static weft_status segsort_reference(const struct bench_run *run, void *const *in, void *const *out)
{
    const struct weft_csr *a = run->input->a;
    int blocks = is(run, "blocks");
    int64_t segments = blocks ? (int64_t)weft__ceil_div((size_t)a->nnz, BLOCK) : segments_of(run);
    int64_t *offsets = malloc(((size_t)segments + 1) * sizeof *offsets);
    if (!offsets)
        return WEFT_ENOMEM;
    for (int64_t s = 0; s <= segments; s++)
        offsets[s] = blocks                 ? (s < segments ? s * BLOCK : a->nnz)
                     : a->ofs == WEFT_OFS64 ? ((const int64_t *)in[2])[s]
                                            : ((const int32_t *)in[2])[s];
    weft_status status =
        weft__ref_segsort(bench_key(run), bench_payload_bytes(run), out[0], out[1], in[0], in[1], offsets, segments);
    free(offsets);
    return status;
}

static weft_status segsort_plan_create(void **plan, struct bench_run *run)
{
    struct weft_segsort_plan *sort = NULL;
    struct weft_segsort_info info;
    weft_status status = weft_segsort_plan_create(
        &sort, run->ctx, bench_key(run), bench_payload_bytes(run), run->input->a->ofs, run->input->a->nnz,
        weft_segsort_params(.wg = bench_tune(run, "wg"), .ipt = bench_tune(run, "ipt"), .bits = bench_tune(run, "bits"),
                            .groups = bench_tune(run, "groups")));
    *plan = sort;
    if (status)
        return status;
    weft_segsort_plan_info(sort, &info);
    run->times.workspace_bytes = (int64_t)info.workspace_bytes;
    if (info.schedule == WEFT_SCHEDULE_CPU)
        snprintf(run->times.chosen, sizeof run->times.chosen, "%s + %d, wg %d, ipt %d, groups %d",
                 weft_key_name(bench_key(run)), bench_payload_bytes(run), info.params.wg, info.params.ipt,
                 info.params.groups);
    else
        snprintf(run->times.chosen, sizeof run->times.chosen, "%s + %d, wg %d, ipt %d, bits %d",
                 weft_key_name(bench_key(run)), bench_payload_bytes(run), info.params.wg, info.params.ipt,
                 info.params.bits);
    return WEFT_OK;
}

static weft_status segsort_plan_run(void *plan, const struct bench_run *run, const cl_mem *in, const cl_mem *out)
{
    int64_t n = run->input->a->nnz;
    if (is(run, "blocks"))
        return weft_segsort_blocks_run(plan, run->queue, in[0], in[1], n, BLOCK, out[0], out[1], 0, NULL, NULL);
    return weft_segsort_run(plan, run->queue, in[0], in[1], n, in[2], segments_of(run), out[0], out[1], 0, NULL, NULL);
}

static void segsort_plan_destroy(void **plan)
{
    struct weft_segsort_plan *sort = *plan;
    weft_segsort_plan_destroy(&sort);
    *plan = NULL;
}

static weft_status segsort_setup(struct bench_run *run, struct weft_error *err)
{
    static const struct bench_primitive primitive = {segsort_sizes,       segsort_draw,     segsort_reference,
                                                     segsort_plan_create, segsort_plan_run, segsort_plan_destroy};
    return bench_primitive_setup(run, &primitive, err);
}

static int64_t segsort_bytes_min(const struct bench_run *run)
{
    size_t in_bytes[BENCH_PRIMITIVE_IN] = {0}, out_bytes[BENCH_PRIMITIVE_OUT] = {0};
    segsort_sizes(run, in_bytes, out_bytes);
    return (int64_t)(in_bytes[0] + in_bytes[1] + in_bytes[2] + out_bytes[0] + out_bytes[1]);
}

static const struct bench_axis *segsort_axes(const struct bench_run *run)
{
    static const struct bench_axis gpu[] = {
        {"wg", {128, 256, 512}}, {"ipt", {4, 8, 12, 16}}, {"bits", {4, 6, 8}}, {NULL, {0}}};
    static const struct bench_axis cpu[] = {
        {"ipt", {4096, 16384, 65536, 262144}}, {"groups", {1, 2, 4, 8, 16, 64}}, {NULL, {0}}};
    return !run->ctx ? NULL : weft_context_schedule(run->ctx) == WEFT_SCHEDULE_CPU ? cpu : gpu;
}

const struct bench_op bench_segsort = {
    .name = "segsort",
    .help = "sort of the segments of nnz keys with payload",
    .cases = 1,
    .draws = 1,
    .algos = segsort_algos,
    .axes = segsort_axes,
    .input = bench_primitive_input,
    .input_free = bench_primitive_input_free,
    .bytes_min = segsort_bytes_min,
    .setup = segsort_setup,
    .launch = bench_primitive_launch,
    .verify = bench_primitive_verify,
    .finish = bench_primitive_finish,
};
