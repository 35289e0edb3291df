// SPDX-License-Identifier: Apache-2.0
// Multi-threaded transposition: cuts the work, takes the memory, chooses a method.
#include "backends/algo.h"
#include "transpose.h"
#include "host/common/clock.h"
#include "backends/backend.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

// The size and alignment of huge pages on most machines; memory below it is not worth the alignment.
#define WEFT_HUGE_BYTES ((size_t)2 << 20)

void *weft__omp_take(struct work *w, size_t bytes)
{
    size_t align = bytes < WEFT_HUGE_BYTES ? 64 : WEFT_HUGE_BYTES, size = weft__round_up(weft__max(bytes, 1), align);
    if (size >= PTRDIFF_MAX || w->block_count == (int)(sizeof w->blocks / sizeof *w->blocks))
        return NULL;
    char *block = aligned_alloc(align, size);
    if (!block)
        return NULL;
#ifdef MADV_HUGEPAGE
    if (align == WEFT_HUGE_BYTES)
        madvise(block, size, MADV_HUGEPAGE); // refused: ordinary pages serve
#endif

        // Written by the threads in order of slots, which places the pages near them on machines with several sockets.
#pragma omp parallel for schedule(static) num_threads(w->slots)
    for (size_t page = 0; page < size; page += 4096)
        memset(block + page, 0, weft__min(4096, size - page));
    w->blocks[w->block_count++] = block;
    w->bytes += size;
    return block;
}

void weft__omp_each(struct work *w, void (*phase)(struct work *w, int slot))
{
#pragma omp parallel for schedule(static, 1) num_threads(w->slots)
    for (int slot = 0; slot < w->slots; slot++)
        phase(w, slot);
}

// The place where `before` rows and entries lie behind: the last row i with i + row_ptr[i] <= before.
static struct cut cut_find(const struct weft_csr *a, int64_t before)
{
    int64_t low = 0, high = a->m;
    while (low < high) {
        int64_t mid = low + (high - low + 1) / 2;
        if (mid + weft_csr_ofs(a, mid) <= before)
            low = mid;
        else
            high = mid - 1;
    }
    return (struct cut){low, before - low};
}

static void work_cut(struct work *w)
{
    for (int s = 0; s <= w->slots; s++)
        w->cut[s] = cut_find(w->a, part_start(w->a->m + w->a->nnz, s, w->slots));
}

static weft_status cuts_take(struct work *w)
{
    size_t slots = (size_t)w->slots;
    if (!(w->cut = weft__omp_take(w, (slots + 1) * sizeof *w->cut)) ||
        !(w->low = weft__omp_take(w, slots * sizeof *w->low)) ||
        !(w->high = weft__omp_take(w, slots * sizeof *w->high)))
        return WEFT_ENOMEM;
    work_cut(w);
    return WEFT_OK;
}

static weft_status output_take(struct work *w)
{
    const struct weft_csr *a = w->a;
    w->out = (struct weft_csr){.m = a->n, .n = a->m, .nnz = a->nnz, .type = a->type, .ofs = a->ofs};
    if (!(w->out.row_ptr = weft__omp_take(w, weft__mul((size_t)a->n + 1, weft_ofs_bytes(a->ofs)))) ||
        !(w->out.col = weft__omp_take(w, weft__mul((size_t)a->nnz, sizeof *w->out.col))) ||
        (w->val_bytes && !(w->out.val = weft__omp_take(w, weft__mul((size_t)a->nnz, w->val_bytes)))))
        return WEFT_ENOMEM;
    return WEFT_OK;
}

static void span_find(struct work *w, int slot)
{
    int32_t low = INT32_MAX, high = -1;
    for (int64_t p = w->cut[slot].pos; p < w->cut[slot + 1].pos; p++) {
        int32_t j = w->a->col[p];
        low = j < low ? j : low;
        high = j > high ? j : high;
    }
    w->low[slot] = high < 0 ? 0 : low;
    w->high[slot] = (int64_t)high + 1;
}

// Find the columns that each slot meets; gives their sum, which is the number of counters that they need.
static int64_t spans_find(struct work *w)
{
    weft__omp_each(w, span_find);
    int64_t sum = 0;
    for (int s = 0; s < w->slots; s++)
        sum += w->high[s] - w->low[s];
    return sum;
}

// Set low and high. When `counters`, as spans_find gave them (negative: not asked yet), would take more memory than the
// matrix and its transpose, the work is cut again for fewer slots.
static void spans_fit(struct work *w, int64_t counters)
{
    int64_t ofs_bytes = (int64_t)weft_ofs_bytes(w->a->ofs);
    int64_t limit = w->a->nnz * 2 * (int64_t)(4 + w->val_bytes) + (w->a->m + w->a->n) * ofs_bytes;
    if (counters < 0)
        counters = spans_find(w);
    while (w->slots > 1 && counters * ofs_bytes > limit) {
        w->slots /= 2;
        work_cut(w);
        counters = spans_find(w);
    }
}

enum {
    SLOT_LEAST = 16384,     // rows, columns and entries that are worth a thread
    RADIX_LEAST = 262144,   // entries from which radix is worth its passes
    SAMPLES = 4,            // stretches of entries that locality_find looks at
    SAMPLE_ENTRIES = 32768, // in each, of which the second half counts
    LINES = 16384           // cache lines of a second-level cache of 1 MiB
};

// Of a sample of entries, the share whose column's cursor lies in a line that a second-level cache would still hold (nnz >= SAMPLE_ENTRIES).
static double locality_find(const struct weft_csr *a)
{
    int32_t *line = malloc(LINES * sizeof *line);
    if (!line)
        return 1;
    int32_t cursors = (int32_t)(WEFT_LINE_BYTES / weft_ofs_bytes(a->ofs));
    int64_t hits = 0;
    for (int s = 0; s < SAMPLES; s++) {
        const int32_t *col = a->col + part_start(a->nnz - SAMPLE_ENTRIES, s, SAMPLES - 1);
        memset(line, 0xff, LINES * sizeof *line);
        for (int k = 0; k < SAMPLE_ENTRIES; k++) {
            int32_t tag = col[k] / cursors, *held = &line[tag % LINES];
            hits += k >= SAMPLE_ENTRIES / 2 && *held == tag;
            *held = tag;
        }
    }
    free(line);
    return (double)hits / (SAMPLES * (SAMPLE_ENTRIES / 2));
}

// ScanTrans where most cursors are met in the cache and there are fewer of them than entries, else radix. Milliseconds
// of both with 16 threads, f32, 300 MiB of last-level cache (columns, million entries):
//     uniform       100000, 10    4.5   5.1        power law    1000000, 10    7.2   5.2
//     uniform       500000, 10   10.4   4.6        one dense column, 10        8.4   5.1
//     uniform      1000000, 1     4.7   1.1        band of 5   5000000, 25     6.3  12.0
//     uniform     10000000, 10   33.8   6.5        27-point stencil, 45.9     11.0  20.9
// *counters gets what spans_find gives, if it was asked.
static const struct method *method_choose(struct work *w, int64_t *counters)
{
    if (w->a->nnz < RADIX_LEAST)
        return &weft__omp_scan;
    if (locality_find(w->a) < 0.5)
        return &weft__omp_radix;
    *counters = spans_find(w);
    return w->slots == 1 || *counters <= w->a->nnz ? &weft__omp_scan : &weft__omp_radix;
}

const char *const weft__omp_transpose_algos[] = {"auto", "scan", "merge", "radix", NULL};
static const struct method *const methods[] = {NULL, &weft__omp_scan, &weft__omp_merge, &weft__omp_radix};

struct omp_transpose {
    struct work work;
    const struct method *method;
};

static weft_status transpose_init(struct omp_transpose *t, struct weft_backend_times *times)
{
    struct work *w = &t->work;
    int most = w->slots, chosen = !t->method;
    if (chosen) {
        int64_t worth = (w->a->m + w->a->n + w->a->nnz) / SLOT_LEAST;
        w->slots = worth < 1 ? 1 : worth < most ? (int)worth : most;
    }
    weft_status status = output_take(w);
    size_t output_bytes = w->bytes;
    if (!status)
        status = cuts_take(w);
    if (status)
        return status;
    double start = clock_ms();
    int64_t counters = -1;
    if (chosen)
        t->method = method_choose(w, &counters);
    if (t->method->spans)
        spans_fit(w, counters);
    times->analyse_ms = clock_ms() - start;
    status = t->method->prepare(w);
    times->workspace_bytes = (int64_t)(w->bytes - output_bytes);
    if (chosen || w->slots != most)
        snprintf(times->chosen, sizeof times->chosen, "%s, %d thread%s", t->method->name, w->slots,
                 w->slots == 1 ? "" : "s");
    return status;
}

weft_status weft__omp_transpose_prepare(void **state, struct weft_context *ctx, const struct weft_csr *a,
                                        const char *algo, const struct weft_backend_tune *tune,
                                        struct weft_backend_times *times, struct weft_error *err)
{
    (void)ctx;
    *state = NULL;
    const int k = weft__algo_find(weft__omp_transpose_algos, algo, tune, "backend omp has no transposition", err);
    if (k < 0)
        return WEFT_EINVAL;
    struct omp_transpose *t = calloc(1, sizeof *t);
    weft_status status = t ? WEFT_OK : WEFT_ENOMEM;
    if (t) {
        t->method = methods[k];
        t->work.a = a;
        t->work.wide = a->ofs == WEFT_OFS_64;
        t->work.val_bytes = weft_type_bytes(a->type);
        t->work.slots = omp_get_max_threads();
        status = transpose_init(t, times);
    }
    *state = t;
    if (status) {
        weft__omp_transpose_finish(state);
        return weft__error(err, status, "the transpose of %lld x %lld with %lld entries: %s", (long long)a->m,
                           (long long)a->n, (long long)a->nnz, weft_status_text(status));
    }
    return WEFT_OK;
}

weft_status weft__omp_transpose_run(void *state, double *ms, struct weft_error *err)
{
    (void)err;
    struct omp_transpose *t = state;
    struct work *w = &t->work;
    double start = clock_ms();
    t->method->run(w);
    ofs_set(w->out.row_ptr, w->out.m, w->out.nnz, w->wide);
    *ms = clock_ms() - start;
    return WEFT_OK;
}

weft_status weft__omp_transpose_poison(void *state, struct weft_error *err)
{
    (void)err;
    struct omp_transpose *t = state;
    struct weft_csr *out = &t->work.out;
    memset(out->row_ptr, 0xff, ((size_t)out->m + 1) * weft_ofs_bytes(out->ofs));
    memset(out->col, 0xff, (size_t)out->nnz * sizeof *out->col);
    if (t->work.val_bytes)
        memset(out->val, 0xff, (size_t)out->nnz * t->work.val_bytes);
    return WEFT_OK;
}

weft_status weft__omp_transpose_result(void *state, struct weft_csr *out, struct weft_backend_times *times,
                                       struct weft_error *err)
{
    (void)times;
    const struct omp_transpose *t = state;
    const struct weft_csr *from = &t->work.out;
    weft_status status = weft_csr_alloc(out, weft_csr_shape(from));
    if (status)
        return weft__error(err, status, "a copy of the transpose: %s", weft_status_text(status));
    memcpy(out->row_ptr, from->row_ptr, ((size_t)from->m + 1) * weft_ofs_bytes(from->ofs));
    memcpy(out->col, from->col, (size_t)from->nnz * sizeof *out->col);
    if (t->work.val_bytes)
        memcpy(out->val, from->val, (size_t)from->nnz * t->work.val_bytes);
    return WEFT_OK;
}

void weft__omp_transpose_finish(void **state)
{
    if (!state || !*state)
        return;
    struct omp_transpose *t = *state;
    for (int k = 0; k < t->work.block_count; k++)
        free(t->work.blocks[k]);
    free(t);
    *state = NULL;
}
