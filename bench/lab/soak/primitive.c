// SPDX-License-Identifier: Apache-2.0
// Random problems of the primitives, with arrays of the host.
#include "soak.h"
#include "host/common/check_exact.h"
#include "host/internal/inside.h"

#include <stdlib.h>
#include <string.h>
#include <weft/expand.h>
#include <weft/histogram.h>
#include <weft/merge.h>
#include <weft/scan.h>
#include <weft/segsort.h>

static enum soak_result scan(struct soak *s)
{
    const enum weft_scan_type type = (enum weft_scan_type)draw_below(&s->kind, WEFT_SCAN_TYPE_U32_U64 + 1);
    struct weft_scan_params p = {.algo = (enum weft_scan_algo)draw_below(&s->kind, WEFT_SCAN_ALGO_CHAINED + 1)};
    p.inclusive = draw_once(&s->kind, 2);
    p.total = !p.inclusive && draw_once(&s->kind, 2);
    const int64_t n = draw_size(&s->shape, s->most);
    soak_say(s, " %s %s n=%lld inclusive=%d total=%d", weft_scan_type_name(type), weft_scan_algo_name(p.algo),
             (long long)n, p.inclusive, p.total);
    soak_tune(s, "scan", weft_scan_algo_name(p.algo), &p);
    const size_t outputs = (size_t)n + p.total, bytes = weft_scan_sum_bytes(type);
    void *in = soak_memory((size_t)n * weft_scan_in_bytes(type)), *got = soak_memory(outputs * bytes),
         *want = soak_memory(outputs * bytes);
    soak_words(s, in, n, weft_scan_in_bytes(type));
    for (int64_t i = 0; type == WEFT_SCAN_TYPE_F32 && i < n; i++) // whole numbers, whose sums are exact
        ((float *)in)[i] = (float)((int)(draw_u64(&s->shape) % 8) - 3);
    enum soak_result result = soak_status(s, weft_scan_sync(got, s->ctx, in, n, type, &p), 0);
    if (result == SOAK_RIGHT) {
        weft__ref_scan(want, in, n, type, p.inclusive, p.total);
        result = soak_compared(s, check_scan(got, want, (int64_t)outputs, type, s->why, sizeof s->why));
    }
    free(in);
    free(got);
    free(want);
    return result;
}

static enum soak_result histogram(struct soak *s)
{
    const enum weft_ofs ofs = (enum weft_ofs)draw_below(&s->kind, 2);
    struct weft_histogram_params p = {
        .algo = (enum weft_histogram_algo)draw_below(&s->kind, WEFT_HISTOGRAM_ALGO_ATOMIC + 1)};
    p.pointers = draw_once(&s->kind, 2);
    if (draw_once(&s->kind, 4))
        p.slab = 4 << draw_below(&s->kind, 12);
    const int64_t n = draw_size(&s->shape, s->most), bins = 1 + draw_size(&s->shape, s->most);
    soak_say(s, " %s n=%lld bins=%lld, %s-bit counts, pointers=%d slab=%lld", weft_histogram_algo_name(p.algo),
             (long long)n, (long long)bins, weft_ofs_name(ofs), p.pointers, (long long)p.slab);
    soak_tune(s, "histogram", weft_histogram_algo_name(p.algo), &p);
    const size_t bytes = ((size_t)bins + p.pointers) * weft_ofs_bytes(ofs);
    int32_t *in = soak_memory((size_t)n * 4);
    void *got = soak_memory(bytes), *want = soak_memory(bytes);
    const int64_t used = draw_once(&s->shape, 3) ? 1 + draw_below(&s->shape, bins) : bins;
    for (int64_t i = 0; i < n; i++)
        in[i] = (int32_t)(draw_u64(&s->shape) % (uint64_t)used);
    enum soak_result result = soak_status(s, weft_histogram_sync(got, s->ctx, in, n, bins, ofs, &p), 0);
    if (result == SOAK_RIGHT) {
        weft__ref_histogram(want, in, n, bins, ofs, p.pointers);
        result = soak_compared(s, check_histogram(got, want, bins, ofs, p.pointers, s->why, sizeof s->why));
    }
    free(in);
    free(got);
    free(want);
    return result;
}

// Do count + 1 offsets ascend from 0 to n?
static int are_offsets(const void *ptr, enum weft_ofs ofs, int64_t count, int64_t n)
{
    const struct weft_csr a = {.ofs = ofs, .row_ptr = (void *)(uintptr_t)ptr};
    int good = weft_csr_ofs(&a, 0) == 0 && weft_csr_ofs(&a, count) == n;
    for (int64_t i = 0; i < count && good; i++)
        good = weft_csr_ofs(&a, i) <= weft_csr_ofs(&a, i + 1);
    return good;
}

static enum soak_result expand(struct soak *s)
{
    const enum weft_ofs ofs = (enum weft_ofs)draw_below(&s->kind, 2);
    struct weft_expand_params p = {0};
    const int64_t m = draw_size(&s->shape, s->most), nnz = m ? draw_size(&s->shape, s->most) : 0;
    soak_say(s, " m=%lld nnz=%lld, %s-bit offsets", (long long)m, (long long)nnz, weft_ofs_name(ofs));
    soak_tune(s, "expand", NULL, &p);
    void *ptr = soak_memory(((size_t)m + 1) * weft_ofs_bytes(ofs));
    int32_t *got = soak_memory((size_t)nnz * 4), *want = soak_memory((size_t)nnz * 4);
    soak_offsets(s, ptr, m, nnz, ofs);
    enum soak_result result =
        soak_status(s, weft_expand_sync(got, s->ctx, ptr, m, nnz, ofs, &p), !are_offsets(ptr, ofs, m, nnz));
    if (result == SOAK_RIGHT) {
        weft__ref_expand(want, ptr, m, ofs);
        result = soak_compared(s, check_expand(got, want, nnz, s->why, sizeof s->why));
    }
    free(ptr);
    free(got);
    free(want);
    return result;
}

// Keys and payloads that are sorted or merged: in, got, want.
struct pairs {
    enum weft_key key;
    int payload;
    void *k[3], *p[3];
};

static struct pairs pairs_make(struct soak *s, int64_t n)
{
    struct pairs x = {.key = (enum weft_key)draw_below(&s->kind, WEFT_KEY_I64 + 1),
                      .payload = 4 * (int)draw_below(&s->kind, 3)};
    for (int i = 0; i < 3; i++) {
        x.k[i] = soak_memory((size_t)n * weft_key_bytes(x.key));
        x.p[i] = soak_memory((size_t)n * (size_t)x.payload);
    }
    soak_words(s, x.k[0], n, weft_key_bytes(x.key));
    if (x.payload)
        soak_words(s, x.p[0], n, (size_t)x.payload);
    soak_say(s, " %s, payload %d, n=%lld", weft_key_name(x.key), x.payload, (long long)n);
    return x;
}

static enum soak_result pairs_end(struct soak *s, struct pairs *x, int64_t n, enum soak_result result)
{
    if (result == SOAK_RIGHT)
        result = soak_compared(
            s, check_keys(x->k[1], x->p[1], x->k[2], x->p[2], n, x->key, x->payload, s->why, sizeof s->why));
    for (int i = 0; i < 3; i++) {
        free(x->k[i]);
        free(x->p[i]);
    }
    return result;
}

static enum soak_result segsort(struct soak *s)
{
    const enum weft_ofs ofs = (enum weft_ofs)draw_below(&s->kind, 2);
    struct weft_segsort_params p = {.whole =
                                        (enum weft_segsort_whole)draw_below(&s->kind, WEFT_SEGSORT_WHOLE_CHAINED + 1)};
    const int64_t n = draw_size(&s->shape, s->most),
                  segments = draw_once(&s->shape, 3) ? 1 : 1 + draw_size(&s->shape, s->most);
    struct pairs x = pairs_make(s, n);
    soak_say(s, " whole=%s segments=%lld", weft_segsort_whole_name(p.whole), (long long)segments);
    soak_tune(s, "segsort", NULL, &p);
    if (segments == 1)
        soak_tune(s, "segsort", "whole", &p);
    void *ptr = soak_memory(((size_t)segments + 1) * weft_ofs_bytes(ofs));
    soak_offsets(s, ptr, segments, n, ofs);
    const int good = are_offsets(ptr, ofs, segments, n);
    const weft_status status =
        weft_segsort_sync(x.k[1], x.p[1], s->ctx, x.k[0], x.p[0], n, ptr, segments, x.key, x.payload, ofs, &p);
    const enum soak_result result = soak_status(s, status, !good);
    if (result == SOAK_RIGHT) {
        int64_t *offsets = soak_memory(((size_t)segments + 1) * 8);
        const struct weft_csr a = {.ofs = ofs, .row_ptr = ptr};
        for (int64_t i = 0; i <= segments; i++)
            offsets[i] = weft_csr_ofs(&a, i);
        if (weft__ref_segsort(x.key, x.payload, x.k[2], x.p[2], x.k[0], x.p[0], offsets, segments))
            exit(2);
        free(offsets);
    }
    free(ptr);
    return pairs_end(s, &x, n, result);
}

static enum soak_result merge(struct soak *s)
{
    struct weft_merge_params p = {0};
    const int64_t n = draw_size(&s->shape, s->most), na = draw_below(&s->shape, n + 1), nb = n - na;
    struct pairs x = pairs_make(s, n);
    soak_say(s, " of them %lld left", (long long)na);
    soak_tune(s, "merge", NULL, &p);
    // Two sorted arrays: the sort's reference makes them.
    const int64_t cut[] = {0, na, n};
    const size_t bytes = weft_key_bytes(x.key), load = (size_t)x.payload;
    if (weft__ref_segsort(x.key, x.payload, x.k[1], x.p[1], x.k[0], x.p[0], cut, 2))
        exit(2);
    memcpy(x.k[0], x.k[1], (size_t)n * bytes);
    memcpy(x.p[0], x.p[1], (size_t)n * load);
    const char *bk = (const char *)x.k[0] + (size_t)na * bytes, *bp = (const char *)x.p[0] + (size_t)na * load;
    const enum soak_result result = soak_status(
        s, weft_merge_sync(x.k[1], x.p[1], s->ctx, x.k[0], x.p[0], na, bk, bp, nb, x.key, x.payload, &p), 0);
    if (result == SOAK_RIGHT)
        weft__ref_merge(x.key, x.payload, x.k[2], x.p[2], x.k[0], x.p[0], na, bk, bp, nb);
    return pairs_end(s, &x, n, result);
}

const struct soak_op soak_primitives[] = {
    {"scan", scan}, {"histogram", histogram}, {"expand", expand}, {"segsort", segsort}, {"merge", merge}, {NULL, NULL},
};
