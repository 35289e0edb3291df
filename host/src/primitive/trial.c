// SPDX-License-Identifier: Apache-2.0
// The small problems of the primitives: some tiles, numbers that every order of sums gives alike, ties, empty segments.
#include "host/src/primitive/trial.h"
#include "host/src/core/error.h"
#include "host/src/ref/ref.h"

#include <stdio.h>
#include <stdlib.h>

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

// Elements of a trial of a plan for n_max elements: several tiles where the plan takes that many.
static int64_t size_of(enum weft_schedule schedule, int wg, int ipt, int64_t n_max)
{
    const int64_t tile = schedule == WEFT_SCHEDULE_GPU ? (int64_t)wg * ipt : ipt;
    const int64_t most = 2 * least(tile, 1 << 16) + 77;
    return n_max < most ? n_max : most;
}

// What n elements show of a plan: few of a tile say little of a full one, one tile nothing of what several launch.
static int extent_of(enum weft_schedule schedule, int wg, int ipt, int64_t n)
{
    const int64_t tile = schedule == WEFT_SCHEDULE_GPU ? (int64_t)wg * ipt : ipt;
    return (n > tile / 16) + (n > tile) + (n > 2 * tile);
}

// Small numbers without a pattern that a shift or a mask keeps.
static int32_t number(int64_t i, int32_t below)
{
    uint32_t x = (uint32_t)i * UINT32_C(2654435761);
    x ^= x >> 15;
    return (int32_t)(x % (uint32_t)below);
}

struct scan {
    struct weft_scan_plan *plan;
    const struct weft_scan_info *info;
    enum weft_scan_type type;
    int64_t n;
};

// Of chained tiles also what one tile takes, and what a scan in place does.
static void scan_trial(struct weft__trial *t, void *arg)
{
    const struct scan *s = arg;
    const struct weft_scan_params *p = &s->info->params;
    const size_t wide = weft_scan_in_bytes(s->type), wide_out = weft_scan_sum_bytes(s->type);
    const size_t in_bytes = (size_t)s->n * wide, total = p->total != 0;
    void *in = weft__trial_memory(t, in_bytes), *expected = weft__trial_memory(t, ((size_t)s->n + total) * wide_out);
    for (int64_t i = 0; in && i < s->n; i++) {
        const int32_t value = number(i, 9);
        if (s->type == WEFT_SCAN_TYPE_F32)
            ((float *)in)[i] = (float)value;
        else if (wide == 8)
            ((int64_t *)in)[i] = value;
        else
            ((int32_t *)in)[i] = value;
    }
    const int chained = p->algo == WEFT_SCAN_ALGO_CHAINED, forms = !chained ? 1 : wide == wide_out && !total ? 3 : 2;
    for (int form = 0; form < forms; form++) {
        const int64_t n = form == 1 ? least(s->n, (int64_t)p->gpu.wg * p->gpu.ipt) : s->n;
        const size_t bytes = ((size_t)n + total) * wide_out;
        if (in && expected)
            weft__ref_scan(expected, in, n, s->type, p->inclusive, p->total);
        cl_mem from = weft__trial_buffer(t, in, in_bytes), to = form == 2 ? from : weft__trial_buffer(t, NULL, bytes);
        if (!t->status)
            t->status = weft_scan_run(s->plan, t->queue, to, from, n, 0, NULL, NULL);
        weft__trial_same(t, to, expected, bytes);
    }
    free(in);
    free(expected);
}

weft_status weft__scan_trial(struct weft_context *ctx, struct weft_scan_plan *plan, enum weft_scan_type type,
                             int64_t n_max)
{
    const struct weft_scan_info *info = weft_scan_plan_info(plan);
    const struct weft_scan_params *p = &info->params;
    const int cpu = info->schedule == WEFT_SCHEDULE_CPU, wg = cpu ? p->cpu.wg : p->gpu.wg,
              ipt = cpu ? p->cpu.chunk : p->gpu.ipt;
    struct scan s = {plan, info, type, size_of(info->schedule, wg, ipt, n_max)};
    char what[200];
    snprintf(what, sizeof what, "scan %s, inclusive %d, total %d, algo %d, wg %d, ipt %d, look %d, extent %d",
             weft_scan_type_name(type), p->inclusive, p->total, (int)p->algo, wg, ipt, p->gpu.look,
             extent_of(info->schedule, wg, ipt, s.n));
    return weft__selftest(ctx, what, scan_trial, &s);
}

struct histogram {
    struct weft_histogram_plan *plan;
    struct weft_context *ctx;
    struct weft_histogram_params params;
    int64_t bins, like, n; // of the trial; bins of the plan
    enum weft_ofs ofs;
};

// Of many bins or long chunks a plan of fewer or shorter ones, with the same programs.
static void histogram_trial(struct weft__trial *t, void *arg)
{
    const struct histogram *h = arg;
    struct weft_histogram_plan *fewer = NULL, *plan = h->plan;
    const int pointers = h->params.pointers;
    const size_t bytes = (size_t)(h->bins + (pointers != 0)) * weft_ofs_bytes(h->ofs);
    int32_t *idx = weft__trial_memory(t, (size_t)h->n * 4);
    void *expected = weft__trial_memory(t, bytes);
    for (int64_t i = 0; idx && i < h->n; i++) // many of one bin, some of none
        idx[i] = h->bins ? number(i, i % 3 ? (int32_t)h->bins : 1 + (int32_t)h->bins / 100) - (i % 101 == 0) : -1;
    if (idx && expected)
        weft__ref_histogram(expected, idx, h->n, h->bins, h->ofs, pointers);
    cl_mem from = weft__trial_buffer(t, idx, (size_t)h->n * 4), to = weft__trial_buffer(t, NULL, bytes);
    if (!plan && !t->status)
        t->status = weft__histogram_like(&fewer, h->ctx, h->bins, h->like, h->ofs, h->n, &h->params);
    plan = plan ? plan : fewer;
    if (!t->status)
        t->status = weft_histogram_run(plan, t->queue, to, from, h->n, 0, NULL, NULL);
    weft__trial_same(t, to, expected, bytes);
    weft_histogram_plan_destroy(&fewer);
    free(idx);
    free(expected);
}

weft_status weft__histogram_trial(struct weft_context *ctx, struct weft_histogram_plan *plan, int64_t bins,
                                  enum weft_ofs ofs, int64_t n_max)
{
    enum { MOST = 1 << 16, ROWS = 9, FEW = 1000 }; // of more than 8 rows several work-items share a bin
    const struct weft_histogram_info *info = weft_histogram_plan_info(plan);
    struct histogram h = {plan, ctx, info->params, least(bins, MOST), bins, 0, ofs};
    struct weft_histogram_params *p = &h.params;
    const int cpu = info->schedule == WEFT_SCHEDULE_CPU, wg = cpu ? p->cpu.wg : p->gpu.wg;
    if (!cpu && info->ranges > 3) // each reads all indices
        h.bins = least(h.bins, 2 * (int64_t)p->gpu.range + 77);
    int *chunk = &p->cpu.chunk;
    if (h.bins < bins || (cpu && *chunk > MOST))
        h.plan = NULL;
    *chunk = (int)least(*chunk, MOST);
    const int ipt = cpu ? *chunk : p->gpu.ipt;
    // Rows that are summed up take two indices for each of their bins, and as many as a slice has.
    const int64_t rows = info->rows > 1 ? least(info->rows, cpu || bins > FEW ? 2 : ROWS) : 0;
    const int64_t slices = rows * (cpu ? ipt : (int64_t)wg * ipt) + 77, filled = (rows * h.bins + 1) / 2;
    h.n = size_of(info->schedule, wg, ipt, n_max);
    h.n = least(n_max, h.n > slices && h.n > filled ? h.n : slices > filled ? slices : filled);
    char what[200];
    snprintf(what, sizeof what,
             "histogram %d bits, pointers %d, algo %d, wg %d, ipt %d, range %d, rows %d, extent %d, log bins %d",
             (int)weft_ofs_bytes(ofs) * 8, p->pointers, (int)p->algo, wg, ipt, cpu ? p->cpu.range : p->gpu.range,
             (int)rows, extent_of(info->schedule, wg, ipt, h.n),
             bins ? 64 - __builtin_clzll((unsigned long long)bins) : 0);
    return weft__selftest(ctx, what, histogram_trial, &h);
}

struct expand {
    struct weft_expand_plan *plan;
    int64_t m, nnz;
    enum weft_ofs ofs;
};

static void expand_trial(struct weft__trial *t, void *arg)
{
    const struct expand *e = arg;
    const size_t wide = weft_ofs_bytes(e->ofs), pointers = ((size_t)e->m + 1) * wide, bytes = (size_t)e->nnz * 4;
    void *row_ptr = weft__trial_memory(t, pointers);
    int32_t *expected = weft__trial_memory(t, bytes);
    int64_t at = 0;
    for (int64_t i = 0; row_ptr && i <= e->m; i++) { // empty rows, short ones, a long one at the end
        at = i == e->m ? e->nnz : least(at, e->nnz);
        if (wide == 8)
            ((int64_t *)row_ptr)[i] = at;
        else
            ((int32_t *)row_ptr)[i] = (int32_t)at;
        at += i % 3 ? number(i, 5) : 0;
    }
    if (row_ptr && expected)
        weft__ref_expand(expected, row_ptr, e->m, e->ofs);
    cl_mem from = weft__trial_buffer(t, row_ptr, pointers), to = weft__trial_buffer(t, NULL, bytes);
    if (!t->status)
        t->status = weft_expand_run(e->plan, t->queue, to, from, e->m, e->nnz, 0, NULL, NULL);
    weft__trial_same(t, to, expected, bytes);
    free(row_ptr);
    free(expected);
}

weft_status weft__expand_trial(struct weft_context *ctx, struct weft_expand_plan *plan, int64_t m_max, int64_t nnz_max,
                               enum weft_ofs ofs)
{
    const struct weft_expand_info *info = weft_expand_plan_info(plan);
    const struct weft_expand_params *p = &info->params;
    const int cpu = info->schedule == WEFT_SCHEDULE_CPU, wg = cpu ? p->cpu.wg : p->gpu.wg,
              ipt = cpu ? p->cpu.chunk : p->gpu.ipt;
    const int64_t n = size_of(info->schedule, wg, ipt, INT64_MAX);
    struct expand e = {plan, least(m_max, n / 2), least(nnz_max, n), ofs};
    char what[200];
    snprintf(what, sizeof what, "expand %d bits, wg %d, ipt %d, extent %d", (int)weft_ofs_bytes(ofs) * 8, wg, ipt,
             extent_of(info->schedule, wg, ipt, e.m + e.nnz));
    return e.m ? weft__selftest(ctx, what, expand_trial, &e) : WEFT_OK;
}

// Keys and payload of a merge or a sort, on the host.
struct pairs {
    enum weft_key key;
    size_t key_bytes, val_bytes;
    int64_t n;
    void *k, *v, *out_k, *out_v;
};

static void pairs_make(struct weft__trial *t, struct pairs *p)
{
    const size_t n = (size_t)p->n;
    p->k = weft__trial_memory(t, n * p->key_bytes);
    p->v = weft__trial_memory(t, n * p->val_bytes);
    p->out_k = weft__trial_memory(t, n * p->key_bytes);
    p->out_v = weft__trial_memory(t, n * p->val_bytes);
    for (size_t i = 0; i < n * p->val_bytes / 4 && p->v; i++)
        ((uint32_t *)p->v)[i] = (uint32_t)i;
}

static void pairs_free(struct pairs *p)
{
    free(p->k);
    free(p->v);
    free(p->out_k);
    free(p->out_v);
}

// Keys of ascending values ascend. The top bits move too: signs and the digits of wide keys count.
static void key_set(const struct pairs *p, int64_t i, int64_t value)
{
    const bool is_signed = p->key == WEFT_KEY_I32 || p->key == WEFT_KEY_I64;
    if (p->key_bytes == 8)
        ((int64_t *)p->k)[i] = (is_signed ? value - 50 : value) * (INT64_C(1) << 40);
    else
        ((int32_t *)p->k)[i] = (int32_t)((is_signed ? value - 50 : value) * (1 << 20));
}

// Equal for equal values, else in no order, and every digit of some keys differs: a sort by digits needs all its passes.
static void key_scatter(const struct pairs *p, int64_t i, int64_t value)
{
    const uint64_t key = (uint64_t)(value + 1) * UINT64_C(0x9E3779B97F4A7C15);
    if (p->key_bytes == 8)
        ((uint64_t *)p->k)[i] = key;
    else
        ((uint32_t *)p->k)[i] = (uint32_t)(key >> 32);
}

struct merge {
    struct weft_merge_plan *plan;
    enum weft_key key;
    int payload_bytes;
    int64_t n;
};

static void merge_trial(struct weft__trial *t, void *arg)
{
    const struct merge *m = arg;
    const int64_t na = m->n / 3, nb = m->n - na;
    struct pairs p = {m->key, weft_key_bytes(m->key), (size_t)m->payload_bytes, m->n, NULL, NULL, NULL, NULL};
    const size_t kb = p.key_bytes, vb = p.val_bytes;
    pairs_make(t, &p);
    for (int64_t i = 0; i < m->n && !t->status; i++) // ties within each and between the two
        key_set(&p, i, (i < na ? i * 97 / na : (i - na) * 99 / nb));
    if (!t->status)
        weft__ref_merge(m->key, m->payload_bytes, p.out_k, p.out_v, p.k, p.v, na, (char *)p.k + (size_t)na * kb,
                        (char *)p.v + (size_t)na * vb, nb);
    cl_mem ak = weft__trial_buffer(t, p.k, (size_t)na * kb);
    cl_mem av = weft__trial_buffer(t, p.v, (size_t)na * vb);
    cl_mem bk = weft__trial_buffer(t, t->status ? NULL : (char *)p.k + (size_t)na * kb, (size_t)nb * kb);
    cl_mem bv = weft__trial_buffer(t, t->status ? NULL : (char *)p.v + (size_t)na * vb, (size_t)nb * vb);
    cl_mem ok = weft__trial_buffer(t, NULL, (size_t)m->n * kb), ov = weft__trial_buffer(t, NULL, (size_t)m->n * vb);
    if (!t->status)
        t->status = weft_merge_run(m->plan, t->queue, ok, ov, ak, av, na, bk, bv, nb, 0, NULL, NULL);
    weft__trial_same(t, ok, p.out_k, (size_t)m->n * kb);
    weft__trial_same(t, ov, p.out_v, (size_t)m->n * vb);
    pairs_free(&p);
}

weft_status weft__merge_trial(struct weft_context *ctx, struct weft_merge_plan *plan, enum weft_key key,
                              int payload_bytes, int64_t n_max)
{
    const struct weft_merge_info *info = weft_merge_plan_info(plan);
    const struct weft_merge_params *p = &info->params;
    const int cpu = info->schedule == WEFT_SCHEDULE_CPU, wg = cpu ? p->cpu.wg : p->gpu.wg,
              ipt = cpu ? p->cpu.chunk : p->gpu.ipt;
    struct merge m = {plan, key, payload_bytes, size_of(info->schedule, wg, ipt, n_max)};
    char what[200];
    snprintf(what, sizeof what, "merge %s, payload %d, wg %d, ipt %d, extent %d", weft_key_name(key), payload_bytes, wg,
             ipt, extent_of(info->schedule, wg, ipt, m.n));
    return m.n > 3 ? weft__selftest(ctx, what, merge_trial, &m) : WEFT_OK;
}

struct segsort {
    struct weft_segsort_plan *plan;
    struct weft_context *ctx;
    const struct weft_segsort_info *info;
    enum weft_key key;
    int payload_bytes;
    enum weft_ofs ofs;
    int64_t n;
};

enum { SEGMENTS = 9 };

// Segments of many lengths; blocks; the whole array in the form of large ones.
static void segsort_trial(struct weft__trial *t, void *arg)
{
    const struct segsort *s = arg;
    struct weft_segsort_plan *whole = NULL;
    struct pairs p = {s->key, weft_key_bytes(s->key), (size_t)s->payload_bytes, s->n, NULL, NULL, NULL, NULL};
    const size_t kb = (size_t)s->n * p.key_bytes, vb = (size_t)s->n * p.val_bytes;
    const int64_t n = s->n, all[2] = {0, n},
                  offsets[SEGMENTS + 1] = {0, 1, 1, n / 50, n / 49, n / 20, n / 19, n / 3, n / 3, n};
    const int64_t block = 2 * n / 3 + 1, // no chunk of a processor ends there
        blocks[3] = {0, block, n};
    int32_t narrow[SEGMENTS + 1];
    pairs_make(t, &p);
    for (int64_t i = 0; i < n && !t->status; i++)
        key_scatter(&p, i, number(i, 101));
    for (int i = 0; i <= SEGMENTS; i++)
        narrow[i] = (int32_t)offsets[i];
    cl_mem k = weft__trial_buffer(t, p.k, kb), v = weft__trial_buffer(t, p.v, vb);
    cl_mem o = weft__trial_buffer(t, s->ofs == WEFT_OFS_64 ? (const void *)offsets : narrow,
                                  (SEGMENTS + 1) * weft_ofs_bytes(s->ofs));
    for (int form = 0; form < 3; form++) {
        cl_mem ok = weft__trial_buffer(t, NULL, kb), ov = weft__trial_buffer(t, NULL, vb);
        if (t->status)
            break;
        t->status = weft__ref_segsort(s->key, s->payload_bytes, p.out_k, p.out_v, p.k, p.v,
                                      form == 0   ? offsets
                                      : form == 1 ? blocks
                                                  : all,
                                      form == 0   ? SEGMENTS
                                      : form == 1 ? 2
                                                  : 1);
        if (!t->status && form == 0)
            t->status = weft_segsort_run(s->plan, t->queue, ok, ov, k, v, n, o, SEGMENTS, 0, NULL, NULL);
        else if (!t->status && form == 1)
            t->status = weft_segsort_blocks_run(s->plan, t->queue, ok, ov, k, v, n, block, 0, NULL, NULL);
        else if (s->info->params.whole == WEFT_SEGSORT_WHOLE_MERGE)
            break;
        else if (!t->status) { // asked for, the form has no least length
            t->status = weft_segsort_plan_create(&whole, s->ctx, s->key, s->payload_bytes, s->ofs, n, &s->info->params);
            if (!t->status)
                t->status = weft_segsort_blocks_run(whole, t->queue, ok, ov, k, v, n, n, 0, NULL, NULL);
        }
        weft__trial_same(t, ok, p.out_k, kb);
        weft__trial_same(t, ov, p.out_v, vb);
    }
    weft_segsort_plan_destroy(&whole);
    pairs_free(&p);
}

weft_status weft__segsort_trial(struct weft_context *ctx, struct weft_segsort_plan *plan, enum weft_key key,
                                int payload_bytes, enum weft_ofs ofs, int64_t n_max)
{
    const struct weft_segsort_info *info = weft_segsort_plan_info(plan);
    const struct weft_segsort_params *p = &info->params;
    const int cpu = info->schedule == WEFT_SCHEDULE_CPU, wg = cpu ? p->cpu.wg : p->gpu.wg,
              ipt = cpu ? p->cpu.chunk : p->gpu.ipt;
    struct segsort s = {plan, ctx, info, key, payload_bytes, ofs, size_of(info->schedule, wg, ipt, n_max)};
    char what[256];
    snprintf(what, sizeof what,
             "segsort %s, payload %d, %d bits, wg %d, ipt %d, bits %d, whole %d (%d %d %d %d %d), extent %d",
             weft_key_name(key), payload_bytes, (int)weft_ofs_bytes(ofs) * 8, wg, ipt, p->gpu.bits, (int)p->whole,
             p->gpu.radix.wg, p->gpu.radix.ipt, p->gpu.radix.bits, p->gpu.radix.look, p->gpu.radix.words,
             extent_of(info->schedule, wg, ipt, s.n));
    return s.n > 3 ? weft__selftest(ctx, what, segsort_trial, &s) : WEFT_OK;
}
