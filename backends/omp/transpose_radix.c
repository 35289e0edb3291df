// SPDX-License-Identifier: Apache-2.0
// Radix: a stable partition of the entries into buckets of 2^shift neighbouring columns, then a stable counting sort of
// each bucket inside the cache. A bucket that holds more than a slot's share is sorted by all slots together.
// Moves:   nnz*(4 + 4+v + 2*(8+v) + 4+v) bytes, v = sizeof val, all of it in long runs or inside the cache.
// Scratch: nnz*(8+v) bytes of records; for each slot a place a bucket and a place a column of a bucket.
// Order:   records lie bucket by bucket, slot by slot, so entries of a column keep their order.
#include "transpose.h"

enum {
    BUCKETS_MOST = 2048,   // so many ends of buckets still fit a second-level cache, and their pages its address cache
    BUCKET_ENTRIES = 8192, // entries that a bucket should hold
    SHIFT_MOST = 20        // keeps a slot's cursors of one bucket under 8 MiB
};

struct radix {
    int shift;
    int64_t buckets;
    int64_t *start; // first record of each bucket (size buckets+1)
    int64_t *place; // next record of each slot and bucket (size slots*buckets)
    char *records;  // column in its bucket, row, value (size nnz)
    void *next;     // cursors of the columns of a bucket, for each slot (size slots<<shift offsets)
    int64_t taken;  // buckets that slots have begun
    int64_t large;  // buckets of so many entries are sorted by all slots together
    int64_t shared; // the bucket that is
};

static weft_status radix_prepare(struct work *w)
{
    struct radix *radix = w->method = weft__omp_take(w, sizeof *radix);
    if (!radix)
        return WEFT_ENOMEM;
    int64_t wanted = w->a->nnz / BUCKET_ENTRIES + 1, most = wanted < BUCKETS_MOST ? wanted : BUCKETS_MOST;
    while (radix->shift < SHIFT_MOST && w->a->n >> radix->shift >= most)
        radix->shift++;
    radix->buckets = (w->a->n >> radix->shift) + 1;
    radix->large = w->slots == 1 ? INT64_MAX : w->a->nnz / w->slots + 1;
    size_t slots = (size_t)w->slots, buckets = (size_t)radix->buckets, record = 8 + w->val_bytes;
    if (!(radix->start = weft__omp_take(w, (buckets + 1) * sizeof *radix->start)) ||
        !(radix->place = weft__omp_take(w, slots * buckets * sizeof *radix->place)) ||
        !(radix->records = weft__omp_take(w, weft__mul((size_t)w->a->nnz, record))) ||
        !(radix->next = weft__omp_take(w, (slots << radix->shift) * weft_ofs_bytes(w->a->ofs))))
        return WEFT_ENOMEM;
    return WEFT_OK;
}

static void count_buckets(struct work *w, int slot)
{
    const struct radix *radix = w->method;
    int64_t *count = radix->place + slot * radix->buckets;
    const int32_t *col = w->a->col;
    int shift = radix->shift;
    memset(count, 0, (size_t)radix->buckets * sizeof *count);
    for (int64_t p = w->cut[slot].pos; p < w->cut[slot + 1].pos; p++)
        count[col[p] >> shift]++;
}

static void place_buckets(struct work *w)
{
    struct radix *radix = w->method;
    int64_t sum = 0;
    for (int64_t b = 0; b < radix->buckets; b++) {
        radix->start[b] = sum;
        for (int s = 0; s < w->slots; s++) {
            int64_t *place = &radix->place[s * radix->buckets + b], count = *place;
            *place = sum;
            sum += count;
        }
    }
    radix->start[radix->buckets] = sum;
}

WEFT_INLINE void part_typed(struct work *w, int slot, int wide, size_t bytes)
{
    const struct radix *radix = w->method;
    const struct weft_csr *a = w->a;
    const int32_t *col = a->col;
    const void *val = a->val;
    int64_t *place = radix->place + slot * radix->buckets;
    char *records = radix->records;
    int shift = radix->shift;
    int32_t mask = (int32_t)((INT64_C(1) << shift) - 1);
    int64_t p = w->cut[slot].pos, end = w->cut[slot + 1].pos;
    for (int64_t i = w->cut[slot].row; p < end; i++) {
        int64_t row_end = ofs_get(a->row_ptr, i + 1, wide), stop = row_end < end ? row_end : end;
        for (; p < stop; p++) {
            int32_t head[2] = {col[p] & mask, (int32_t)i};
            char *record = records + (size_t)place[col[p] >> shift]++ * (sizeof head + bytes);
            memcpy(record, head, sizeof head);
            val_copy(record + sizeof head, 0, val, p, bytes);
            __builtin_prefetch(record + WEFT_LINE_BYTES, 1); // too many streams for the hardware to follow
        }
    }
}

static void part_entries(struct work *w, int slot)
{
    WEFT_BY_TYPE(part_typed, w, slot);
}

// Columns of bucket b.
static int64_t bucket_width(const struct work *w, int64_t b)
{
    const struct radix *radix = w->method;
    int64_t left = w->a->n - (b << radix->shift), most = INT64_C(1) << radix->shift;
    return left < most ? left : most;
}

static void *slot_next(const struct work *w, int slot)
{
    const struct radix *radix = w->method;
    return (char *)radix->next + ((size_t)slot << radix->shift) * weft_ofs_bytes(w->a->ofs);
}

// Count the columns of records begin .. end-1; meanwhile the part of the output that they will fill comes to the cache.
WEFT_INLINE void count_records(const struct work *w, int64_t begin, int64_t end, void *count, int wide, size_t bytes)
{
    const struct radix *radix = w->method;
    const char *record = radix->records + (size_t)begin * (8 + bytes);
    const int32_t *out_col = w->out.col;
    const char *out_val = w->out.val;
    for (int64_t k = begin; k < end; k++, record += 8 + bytes) {
        int32_t j;
        memcpy(&j, record, sizeof j);
        ofs_next(count, j, wide);
        if ((size_t)k % (WEFT_LINE_BYTES / sizeof(int32_t)) == 0)
            __builtin_prefetch(out_col + k, 1);
        if (bytes && (size_t)k * bytes % WEFT_LINE_BYTES == 0)
            __builtin_prefetch(out_val + (size_t)k * bytes, 1);
    }
}

WEFT_INLINE void move_records(const struct work *w, int64_t begin, int64_t end, void *next, int wide, size_t bytes)
{
    const struct radix *radix = w->method;
    const char *record = radix->records + (size_t)begin * (8 + bytes);
    int32_t *out_col = w->out.col;
    void *out_val = w->out.val;
    for (int64_t k = begin; k < end; k++, record += 8 + bytes) {
        int32_t head[2];
        memcpy(head, record, sizeof head);
        int64_t to = ofs_next(next, head[0], wide);
        out_col[to] = head[1];
        val_copy(out_val, to, record + sizeof head, 0, bytes);
    }
}

// Counts of bucket b in the first `slots` slots to cursors, and row_ptr of the output.
WEFT_INLINE void place_cols(const struct work *w, int64_t b, int slot, int slots, int wide)
{
    const struct radix *radix = w->method;
    int64_t sum = radix->start[b], width = bucket_width(w, b);
    for (int64_t j = 0; j < width; j++) {
        ofs_set(w->out.row_ptr, (b << radix->shift) + j, sum, wide);
        for (int s = slot; s < slot + slots; s++) {
            void *next = slot_next(w, s);
            int64_t count = ofs_get(next, j, wide);
            ofs_set(next, j, sum, wide);
            sum += count;
        }
    }
}

WEFT_INLINE void sort_typed(struct work *w, int slot, int wide, size_t bytes)
{
    struct radix *radix = w->method;
    void *next = slot_next(w, slot);
    for (;;) {
        int64_t b;
#pragma omp atomic capture
        b = radix->taken++;
        if (b >= radix->buckets)
            return;
        int64_t begin = radix->start[b], end = radix->start[b + 1];
        if (end - begin >= radix->large)
            continue;
        memset(next, 0, (size_t)bucket_width(w, b) * (wide ? sizeof(int64_t) : sizeof(int32_t)));
        count_records(w, begin, end, next, wide, bytes);
        place_cols(w, b, slot, 1, wide);
        move_records(w, begin, end, next, wide, bytes);
    }
}

static void sort_buckets(struct work *w, int slot)
{
    WEFT_BY_TYPE(sort_typed, w, slot);
}

// The slot's share of the records of the shared bucket begins here.
static int64_t shared_cut(const struct work *w, int slot)
{
    const struct radix *radix = w->method;
    int64_t begin = radix->start[radix->shared];
    return begin + part_start(radix->start[radix->shared + 1] - begin, slot, w->slots);
}

WEFT_INLINE void shared_count_typed(struct work *w, int slot, int wide, size_t bytes)
{
    const struct radix *radix = w->method;
    void *count = slot_next(w, slot);
    memset(count, 0, (size_t)bucket_width(w, radix->shared) * (wide ? sizeof(int64_t) : sizeof(int32_t)));
    count_records(w, shared_cut(w, slot), shared_cut(w, slot + 1), count, wide, bytes);
}

static void shared_count(struct work *w, int slot)
{
    WEFT_BY_TYPE(shared_count_typed, w, slot);
}

WEFT_INLINE void shared_move_typed(struct work *w, int slot, int wide, size_t bytes)
{
    move_records(w, shared_cut(w, slot), shared_cut(w, slot + 1), slot_next(w, slot), wide, bytes);
}

static void shared_move(struct work *w, int slot)
{
    WEFT_BY_TYPE(shared_move_typed, w, slot);
}

static void radix_run(struct work *w)
{
    struct radix *radix = w->method;
    weft__omp_each(w, count_buckets);
    place_buckets(w);
    weft__omp_each(w, part_entries);
    radix->taken = 0;
    weft__omp_each(w, sort_buckets);
    for (int64_t b = 0; b < radix->buckets; b++) {
        if (radix->start[b + 1] - radix->start[b] < radix->large)
            continue;
        radix->shared = b;
        weft__omp_each(w, shared_count);
        if (w->wide)
            place_cols(w, b, 0, w->slots, 1);
        else
            place_cols(w, b, 0, w->slots, 0);
        weft__omp_each(w, shared_move);
    }
}

const struct method weft__omp_radix = {"radix", 0, radix_prepare, radix_run};
