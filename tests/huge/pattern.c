// SPDX-License-Identifier: Apache-2.0
#include "pattern.h"
#include "tests/support/tap.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const huge_kind_names[HUGE_KINDS] = {"far", "near", "mirror", "narrow"};

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

// x with a*x = 1 (mod w)
static int64_t inverse(int64_t a, int64_t w)
{
    int64_t x = 1, next = 0, r = a, s = w;
    while (s) {
        const int64_t q = r / s, rest = r - q * s, y = x - q * next;
        r = s;
        s = rest;
        x = next;
        next = y;
    }
    return (x % w + w) % w;
}

static int offset_order(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

void huge_pattern_make(struct huge_pattern *p, enum huge_kind kind, int64_t entries, int64_t columns)
{
    static const int64_t close[HUGE_SLOTS] = {0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987};
    // 64 neighbouring rows that begin at a multiple of 64 have 945 entries.
    *p = (struct huge_pattern){.m = entries / 945 * 64 + 64, .slots = HUGE_SLOTS, .full = kind == HUGE_MIRROR};
    if (kind == HUGE_MIRROR) {
        p->slots = 15;
        p->m = entries / 15 + 1;
    }
    p->n = kind != HUGE_NARROW ? p->m : columns ? columns : 20000;
    p->window = kind != HUGE_NARROW ? p->m : p->n < 4093 ? p->n : 4093;
    p->step = 1;
    if (kind == HUGE_FAR || kind == HUGE_NARROW)
        for (p->step = p->window * 618 / 1000; gcd(p->step, p->window) != 1;)
            p->step++;
    p->back = inverse(p->step, p->window);
    const int64_t w = p->window;
    for (int s = 0; s < p->slots; s++)
        p->offset[s] = kind == HUGE_NEAR || s < 8 ? close[s] : w * (s - 7) / 9 + s;
    if (kind == HUGE_MIRROR) {
        const int64_t half[] = {1, 2, 3, 1000, w / 5, w / 3, w / 2 - 1};
        for (int s = 0; s < 7; s++) {
            p->offset[2 * s + 1] = half[s];
            p->offset[2 * s + 2] = w - half[s];
        }
    } else if (kind == HUGE_NARROW && w < 1000) {
        p->slots = w < HUGE_SLOTS ? (int)w : HUGE_SLOTS;
        for (int s = 0; s < p->slots; s++)
            p->offset[s] = w * s / p->slots;
    }
    qsort(p->offset, (size_t)p->slots, sizeof *p->offset, offset_order);
    int64_t order[HUGE_SLOTS][2];
    for (int s = 0; s < p->slots; s++) {
        order[s][0] = p->back * p->offset[s] % w;
        order[s][1] = s;
    }
    qsort(order, (size_t)p->slots, sizeof *order, offset_order);
    for (int s = 0; s < p->slots; s++) {
        p->behind[s] = order[s][0];
        p->behind_slot[s] = (int)order[s][1];
    }
}

// ---- threads ---------------------------------------------------------------------------------------------------------

struct job {
    huge_part_fn *fn;
    void *arg;
    int64_t count, part, next;
};

static void *job_work(void *arg)
{
    struct job *job = arg;
    for (;;) {
        const int64_t first = __atomic_fetch_add(&job->next, job->part, __ATOMIC_RELAXED);
        if (first >= job->count)
            return NULL;
        job->fn(job->arg, first, first + job->part < job->count ? first + job->part : job->count);
    }
}

static int threads_wanted(void)
{
    const char *text = getenv("WEFT_HUGE_THREADS");
    cpu_set_t set;
    int count = text ? atoi(text) : sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
    return count < 1 ? 1 : count > 256 ? 256 : count;
}

void huge_parallel(int64_t count, int64_t part, huge_part_fn *fn, void *arg)
{
    struct job job = {fn, arg, count, part, 0};
    pthread_t threads[256];
    int started = 0, wanted = threads_wanted() - 1;
    while (started < wanted && started < count / part && !pthread_create(&threads[started], NULL, job_work, &job))
        started++;
    job_work(&job);
    while (started > 0)
        pthread_join(threads[--started], NULL);
}

// ---- rows ------------------------------------------------------------------------------------------------------------

#define PART 16384 // rows or columns of a thread at a time, or fewer: those of some patterns have very many entries
static int64_t part_of(int64_t count)
{
    return count >= 64 * PART ? PART : count >= 64 * 256 ? 256 : 1;
}

struct rows {
    const struct huge_pattern *p;
    struct huge_offsets row_ptr;
    int64_t *before; // entries of each part of rows, then before it
    int64_t first;
    int32_t *row, *col;
    void *val;
    enum weft_type type;
    uint32_t salt;
    struct huge_bad *bad;
};

static void ofs_put(const struct huge_offsets *o, int64_t i, int64_t v)
{
    if (o->ofs == WEFT_OFS_64)
        ((int64_t *)o->at)[i] = v;
    else
        ((int32_t *)o->at)[i] = (int32_t)v;
}

static void rows_count(void *arg, int64_t first, int64_t end)
{
    const struct rows *x = arg;
    int64_t sum = 0;
    for (int64_t i = first; i < end; i++)
        for (int s = 0; s < x->p->slots; s++)
            sum += huge_present(x->p, i, s);
    x->before[first / PART] = sum;
}

static void rows_place(void *arg, int64_t first, int64_t end)
{
    const struct rows *x = arg;
    int64_t at = x->before[first / PART];
    for (int64_t i = first; i < end; i++) {
        ofs_put(&x->row_ptr, i, at);
        for (int s = 0; s < x->p->slots; s++)
            at += huge_present(x->p, i, s);
    }
}

int64_t huge_row_ptr(const struct huge_pattern *p, struct huge_offsets row_ptr)
{
    const int64_t parts = (p->m + PART - 1) / PART;
    struct rows x = {.p = p, .row_ptr = row_ptr, .before = malloc((size_t)parts * sizeof *x.before)};
    int64_t nnz = 0;
    if (!x.before)
        tap_bail("out of host memory");
    huge_parallel(p->m, PART, rows_count, &x);
    for (int64_t i = 0; i < parts; i++) {
        const int64_t count = x.before[i];
        x.before[i] = nnz;
        nnz += count;
    }
    huge_parallel(p->m, PART, rows_place, &x);
    ofs_put(&row_ptr, p->m, nnz);
    free(x.before);
    return nnz;
}

int64_t huge_piece_end(const struct huge_offsets *ptr, int64_t count, int64_t from, int64_t entries)
{
    const int64_t stop = huge_ofs(ptr, from) + entries;
    int64_t lo = from + 1, hi = count; // at least one row
    while (lo < hi) {
        const int64_t mid = hi - (hi - lo) / 2;
        if (huge_ofs(ptr, mid) <= stop)
            lo = mid;
        else
            hi = mid - 1;
    }
    return lo;
}

static void rows_fill(void *arg, int64_t first, int64_t end)
{
    const struct rows *x = arg;
    const int64_t start = huge_ofs(&x->row_ptr, x->first);
    for (int64_t i = x->first + first; i < x->first + end; i++) {
        int32_t col[HUGE_SLOTS];
        const int count = huge_row(x->p, i, col);
        const int64_t at = huge_ofs(&x->row_ptr, i) - start;
        for (int k = 0; k < count; k++) {
            if (x->row)
                x->row[at + k] = (int32_t)i;
            if (x->col)
                x->col[at + k] = col[k];
            if (x->val)
                huge_value_put(x->val, x->type, at + k, huge_value(i, col[k], x->salt));
        }
    }
}

void huge_rows_fill(const struct huge_pattern *p, const struct huge_offsets *row_ptr, int64_t first, int64_t end,
                    int32_t *row, int32_t *col, void *val, enum weft_type type, uint32_t salt)
{
    struct rows x = {.p = p, .row_ptr = *row_ptr, .first = first, .row = row, .col = col, .val = val, .type = type};
    x.salt = salt;
    huge_parallel(end - first, PART, rows_fill, &x);
}

// ---- checks ----------------------------------------------------------------------------------------------------------

static void bad_add(struct huge_bad *bad, int64_t at, const char *what, int64_t index, int64_t got, int64_t want)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&mutex);
    if (!bad->count++ || at < bad->at) {
        bad->at = at;
        snprintf(bad->what, sizeof bad->what, "%s of %lld: %lld, not %lld", what, (long long)index, (long long)got,
                 (long long)want);
    }
    pthread_mutex_unlock(&mutex);
}

static void ptr_check(void *arg, int64_t first, int64_t end)
{
    const struct rows *x = arg;
    for (int64_t j = first; j < end; j++) {
        struct huge_column c = huge_column_begin(x->p, j);
        int64_t count = 0;
        while (huge_column_next(x->p, &c) >= 0)
            count++;
        const int64_t got = huge_ofs(&x->row_ptr, j + 1) - huge_ofs(&x->row_ptr, j);
        if (got != count)
            bad_add(x->bad, j, "entries of column", j, got, count);
    }
}

void huge_col_ptr_check(struct huge_bad *bad, const struct huge_pattern *p, const struct huge_offsets *col_ptr,
                        int64_t nnz)
{
    struct rows x = {.p = p, .row_ptr = *col_ptr, .bad = bad};
    if (huge_ofs(col_ptr, 0) != 0)
        bad_add(bad, 0, "pointer", 0, huge_ofs(col_ptr, 0), 0);
    huge_parallel(p->n, part_of(p->n), ptr_check, &x);
    if (huge_ofs(col_ptr, p->n) != nnz)
        bad_add(bad, p->n, "pointer", p->n, huge_ofs(col_ptr, p->n), nnz);
}

static void columns_check(void *arg, int64_t first, int64_t end)
{
    const struct rows *x = arg;
    const int64_t start = huge_ofs(&x->row_ptr, x->first);
    for (int64_t j = x->first + first; j < x->first + end; j++) {
        struct huge_column c = huge_column_begin(x->p, j);
        int64_t at = huge_ofs(&x->row_ptr, j) - start;
        for (int64_t i; (i = huge_column_next(x->p, &c)) >= 0; at++) {
            if (x->row && x->row[at] != i)
                bad_add(x->bad, start + at, "a row of column", j, x->row[at], i);
            if (x->val && !huge_value_is(x->val, x->type, at, huge_value(i, j, x->salt)))
                bad_add(x->bad, start + at, "the value in column of row", i, j, j);
        }
    }
}

void huge_columns_check(struct huge_bad *bad, const struct huge_pattern *p, const struct huge_offsets *col_ptr,
                        int64_t first, int64_t end, const int32_t *row, const void *val, enum weft_type type,
                        uint32_t salt)
{
    struct rows x = {.p = p, .row_ptr = *col_ptr, .first = first, .row = (int32_t *)(uintptr_t)row, .type = type};
    x.val = (void *)(uintptr_t)val;
    x.salt = salt;
    x.bad = bad;
    huge_parallel(end - first, part_of(end - first), columns_check, &x);
}

static void rows_check(void *arg, int64_t first, int64_t end)
{
    const struct rows *x = arg;
    const int64_t start = huge_ofs(&x->row_ptr, x->first);
    for (int64_t i = x->first + first; i < x->first + end; i++) {
        int32_t col[HUGE_SLOTS];
        const int count = huge_row(x->p, i, col);
        const int64_t at = huge_ofs(&x->row_ptr, i) - start;
        for (int k = 0; k < count; k++) {
            if (x->row && x->row[at + k] != i)
                bad_add(x->bad, start + at + k, "row at position", start + at + k, x->row[at + k], i);
            if (x->col && x->col[at + k] != col[k])
                bad_add(x->bad, start + at + k, "a column of row", i, x->col[at + k], col[k]);
            if (x->val && !huge_value_is(x->val, x->type, at + k, huge_value(i, col[k], x->salt)))
                bad_add(x->bad, start + at + k, "the value in row of column", col[k], i, i);
        }
    }
}

void huge_rows_check(struct huge_bad *bad, const struct huge_pattern *p, const struct huge_offsets *row_ptr,
                     int64_t first, int64_t end, const int32_t *row, const int32_t *col, const void *val,
                     enum weft_type type, uint32_t salt)
{
    struct rows x = {.p = p, .row_ptr = *row_ptr, .first = first, .row = (int32_t *)(uintptr_t)row, .type = type};
    x.col = (int32_t *)(uintptr_t)col;
    x.val = (void *)(uintptr_t)val;
    x.salt = salt;
    x.bad = bad;
    huge_parallel(end - first, PART, rows_check, &x);
}

struct sum {
    const struct huge_part *part;
    struct huge_bad *bad;
    uint64_t sum;
};

static uint64_t mixed(uint64_t x)
{
    x = (x ^ x >> 31) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ x >> 32;
}

static void entries_sum(void *arg, int64_t first, int64_t end)
{
    struct sum *x = arg;
    const struct huge_part *a = x->part;
    const int64_t start = huge_ofs(&a->row_ptr, a->first);
    uint64_t sum = 0;
    for (int64_t i = a->first + first; i < a->first + end; i++) {
        int32_t before = 0;
        for (int64_t p = huge_ofs(&a->row_ptr, i) - start; p < huge_ofs(&a->row_ptr, i + 1) - start; p++) {
            const int32_t j = a->col[p];
            uint64_t value = 0;
            if (a->val)
                memcpy(&value, (const char *)a->val + (size_t)p * a->bytes, a->bytes);
            if (a->turned && (j < before || j >= a->n))
                bad_add(x->bad, start + p, "an index of row", i, j, before);
            before = j;
            sum += mixed((uint64_t)(a->turned ? j : i) << 32 ^ (uint64_t)(a->turned ? i : j) ^ mixed(value));
        }
    }
    __atomic_fetch_add(&x->sum, sum, __ATOMIC_RELAXED);
}

uint64_t huge_entries_sum(struct huge_bad *bad, const struct huge_part *part)
{
    struct sum x = {.part = part, .bad = bad};
    huge_parallel(part->end - part->first, part_of(part->end - part->first), entries_sum, &x);
    return x.sum;
}
