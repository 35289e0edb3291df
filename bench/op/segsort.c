// SPDX-License-Identifier: Apache-2.0
// Segmented sort of as many keys as the matrix has entries. The algorithms are the ways to cut them into segments:
// blocks of 1024, the rows of the matrix, a mixture of empty to huge segments, and one segment of all.
#include "host/common/check_exact.h"
#include "host/internal/inside.h"
#include "keys.h"
#include "primitive.h"

#include <stdio.h>
#include <weft/segsort.h>

#define BLOCK 1024

static const char *const *segsort_algos(const struct weft_backend *backend)
{
    static const char *const cases[] = {"blocks", "rows", "mixed", "whole", NULL};
    return bench_primitive_algos(backend) ? cases : NULL;
}

static int is(const struct bench_run *run, const char *algo)
{
    return !strcmp(run->algo, algo);
}

static int64_t segments_of(const struct bench_run *run)
{
    const struct weft_csr *a = run->input->a;
    return is(run, "blocks")  ? (int64_t)weft__ceil_div((size_t)a->nnz, BLOCK)
           : is(run, "rows")  ? a->m
           : is(run, "mixed") ? a->nnz / 196 + 4 // the others have 147 keys on average
                              : 1;
}

// Offsets of "mixed": a quarter of the segments are empty, most of the others short, a few of up to 16384 keys, and one
// in the middle holds a quarter of all keys.
static void mixed_draw(const struct bench_run *run, int64_t *offsets)
{
    int64_t n = run->input->a->nnz, segments = segments_of(run), at = 0;
    uint64_t state = run->input->seed + 1;
    for (int64_t s = 0; s < segments; s++) {
        uint64_t kind = bench_random(&state) % 64, draw = bench_random(&state);
        uint64_t length = kind < 16 ? 0 : kind < 56 ? 1 + draw % 8 : kind < 63 ? 9 + draw % 248 : 257 + draw % 16128;
        if (s == segments / 2)
            length = (uint64_t)n / 4;
        offsets[s] = at;
        at = (int64_t)weft__min((size_t)at + length, (size_t)n);
    }
    offsets[segments] = n;
}

// in: keys, payload, offsets; 64-bit offsets, scratch of backend omp. out: keys, payload.
static void segsort_sizes(const struct bench_run *run, size_t *in_bytes, size_t *out_bytes)
{
    const struct weft_csr *a = run->input->a;
    in_bytes[0] = out_bytes[0] = weft__mul((size_t)a->nnz, weft_key_bytes(bench_key(run)));
    in_bytes[1] = out_bytes[1] = weft__mul((size_t)a->nnz, (size_t)bench_payload_bytes(run));
    in_bytes[3] = weft__mul((size_t)segments_of(run) + 1, sizeof(int64_t));
    in_bytes[2] = is(run, "blocks") ? 0 : in_bytes[3] / sizeof(int64_t) * weft_ofs_bytes(a->ofs);
    in_bytes[4] = bench_is_threaded(run) ? in_bytes[0] + in_bytes[1] : 0;
}

// Keys of all bits; one in eight repeats the one before it.
static void segsort_draw(const struct bench_run *run, void *const *in)
{
    const struct weft_csr *a = run->input->a;
    uint64_t state = run->input->seed, key = 0;
    int64_t segments = segments_of(run), *offsets = in[3];
    size_t bytes = weft_key_bytes(bench_key(run));
    for (int64_t i = 0; i < a->nnz; i++) {
        uint64_t draw = bench_random(&state);
        if (draw % 8)
            key = draw * UINT64_C(0x9e3779b97f4a7c15) >> (bytes == 8 ? 0 : 32);
        bench_put(in[0], bytes, i, key);
    }
    bench_payload_draw(run, in[1], 0, a->nnz);
    if (is(run, "mixed"))
        mixed_draw(run, offsets);
    for (int64_t s = 0; s <= segments; s++) {
        if (!is(run, "mixed"))
            offsets[s] = is(run, "rows") ? weft_csr_ofs(a, s) : s == segments ? a->nnz : s * BLOCK;
        if (!is(run, "blocks"))
            bench_put(in[2], weft_ofs_bytes(a->ofs), s, (uint64_t)offsets[s]);
    }
}

static weft_status segsort_reference(const struct bench_run *run, void *const *in, void *const *out)
{
    return weft__ref_segsort(bench_key(run), bench_payload_bytes(run), out[0], out[1], in[0], in[1], in[3],
                             segments_of(run));
}

static int segsort_right(const struct bench_run *run, void *const *out, void *const *want, char *why, size_t size)
{
    return check_keys(out[0], out[1], want[0], want[1], run->input->a->nnz, bench_key(run), bench_payload_bytes(run),
                      why, size);
}

static void segsort_threaded(const struct bench_run *run, void *const *in, void *const *out)
{
    weft__omp_array_segsort(bench_key(run), bench_payload_bytes(run), out[0], out[1], in[0], in[1], in[3],
                            segments_of(run), in[4]);
}

// Tuning of case "whole" is that of the form which the device takes for it: form 1 MERGE, 2 RADIX, 3 CHAINED, 0 the default.
static const struct weft__tunables *segsort_tunables(const struct bench_run *run)
{
    int merged = 0;
    for (int i = 0; i < run->tune.count; i++)
        merged |= !strcmp(run->tune.values[i].name, "form") && run->tune.values[i].value == WEFT_SEGSORT_WHOLE_MERGE;
    return weft__tunables_of("segsort", merged ? "blocks" : run->algo, weft_context_schedule(run->ctx));
}

static struct weft_segsort_params segsort_params(const struct bench_run *run)
{
    struct weft_segsort_params p = {
        .whole = is(run, "whole") && segsort_tunables(run)->algo ? WEFT_SEGSORT_WHOLE_AUTO : WEFT_SEGSORT_WHOLE_MERGE};
    bench_tune(run, &p);
    return p;
}

static weft_status segsort_plan_create(void **plan, struct bench_run *run)
{
    struct weft_segsort_plan *sort = NULL;
    const struct weft_segsort_params params = segsort_params(run);
    weft_status status = weft_segsort_plan_create(&sort, run->ctx, bench_key(run), bench_payload_bytes(run),
                                                  run->input->a->ofs, run->input->a->nnz, &params);
    *plan = sort;
    if (status)
        return status;
    const struct weft_segsort_info *info = weft_segsort_plan_info(sort);
    run->times.workspace_bytes = (int64_t)info->workspace_bytes;
    const struct weft_segsort_params *p = &info->params;
    char *chosen = run->times.chosen;
    const size_t size = sizeof run->times.chosen;
    const char *key = weft_key_name(bench_key(run));
    const int payload = bench_payload_bytes(run);
    const struct weft_segsort_radix *r = &p->gpu.radix;
    if (info->schedule == WEFT_SCHEDULE_CPU)
        snprintf(chosen, size, "%s + %d, wg %d, ipt %d, groups %d", key, payload, p->cpu.wg, p->cpu.chunk,
                 p->cpu.chunks);
    else if (p->whole == WEFT_SEGSORT_WHOLE_MERGE)
        snprintf(chosen, size, "%s + %d, wg %d, ipt %d, bits %d", key, payload, p->gpu.wg, p->gpu.ipt, p->gpu.bits);
    else if (p->whole == WEFT_SEGSORT_WHOLE_RADIX)
        snprintf(chosen, size, "%s + %d, radix, wg %d, ipt %d, bits %d, words %d", key, payload, r->wg, r->ipt, r->bits,
                 r->words);
    else
        snprintf(chosen, size, "%s + %d, chained, wg %d, ipt %d, bits %d, look %d, words %d", key, payload, r->wg,
                 r->ipt, r->bits, r->look, r->words);
    return WEFT_OK;
}

static weft_status segsort_plan_run(void *plan, const struct bench_run *run, const cl_mem *in, const cl_mem *out)
{
    int64_t n = run->input->a->nnz;
    if (is(run, "blocks"))
        return weft_segsort_blocks_run(plan, run->queue, out[0], out[1], in[0], in[1], n, BLOCK, 0, NULL, NULL);
    return weft_segsort_run(plan, run->queue, out[0], out[1], in[0], in[1], n, in[2], segments_of(run), 0, NULL, NULL);
}

static void segsort_plan_destroy(void **plan)
{
    struct weft_segsort_plan *sort = *plan;
    weft_segsort_plan_destroy(&sort);
    *plan = NULL;
}

const struct bench_primitive bench_segsort_primitive = {3,
                                                        segsort_sizes,
                                                        segsort_draw,
                                                        segsort_reference,
                                                        segsort_right,
                                                        segsort_threaded,
                                                        segsort_plan_create,
                                                        segsort_plan_run,
                                                        segsort_plan_destroy};

const struct bench_op bench_segsort = {
    .name = "segsort",
    .help = "sort of the segments of nnz keys with payload",
    .cases = 1,
    .draws = 1,
    .algos = segsort_algos,
    .tunables = segsort_tunables,
    .bytes_min = bench_primitive_bytes_min,
    .setup = bench_primitive_setup,
    BENCH_PRIMITIVE_OP(bench_segsort_primitive),
};
