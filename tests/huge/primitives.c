// SPDX-License-Identifier: Apache-2.0
// Scan, histogram, expand, merge, segmented sort and fill of more than 2^31 elements. Every input and every result is a function
// of the position, of periods that do not divide 2^31, so that a position that lost its upper bits shows.
#include "device.h"
#include "host/internal/inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/expand.h>
#include <weft/histogram.h>
#include <weft/merge.h>
#include <weft/scan.h>
#include <weft/segsort.h>

// Elements first .. first+count-1 of an array, `to` begins with the first of them; n: of all.
typedef void array_fn(void *to, int64_t first, int64_t count, int64_t n);

struct part {
    array_fn *fn;
    char *to;
    int64_t first, n;
    int width;
};

static void part_fill(void *arg, int64_t first, int64_t end)
{
    const struct part *p = arg;
    p->fn(p->to + first * p->width, p->first + first, end - first, p->n);
}

static void stage_fill(struct huge_device *d, int stage, array_fn *fn, int64_t first, int64_t count, int64_t n,
                       int width)
{
    struct part part = {fn, d->stage[stage], first, n, width};
    huge_parallel(count, 1 << 18, part_fill, &part);
}

static void array_write(struct huge_device *d, cl_mem to, array_fn *fn, int64_t n, int width)
{
    const int64_t most = HUGE_STAGE / width;
    for (int64_t first = 0; first < n; first += most) {
        const int64_t count = n - first < most ? n - first : most;
        stage_fill(d, 0, fn, first, count, n, width);
        huge_write(d, to, first * width, d->stage[0], count * width);
    }
}

static cl_mem array_make(struct huge_device *d, array_fn *fn, int64_t n, int width)
{
    cl_mem out = huge_buffer(d, n * width);
    array_write(d, out, fn, n, width);
    return out;
}

// A test: the array is what the function says.
static void array_check(struct huge_device *d, cl_mem from, array_fn *fn, int64_t n, int width, const char *what)
{
    const int64_t most = HUGE_STAGE / width;
    int64_t wrong = -1;
    for (int64_t first = 0; first < n && wrong < 0; first += most) {
        const int64_t count = n - first < most ? n - first : most;
        const char *got = d->stage[0], *want = d->stage[1];
        stage_fill(d, 1, fn, first, count, n, width);
        huge_read(d, from, first * width, d->stage[0], count * width);
        if (memcmp(got, want, (size_t)(count * width)))
            for (int64_t i = 0; i < count && wrong < 0; i++)
                if (memcmp(got + i * width, want + i * width, (size_t)width))
                    wrong = first + i;
    }
    if (!tap_ok(wrong < 0, "%s", what))
        tap_note("wrong from element %lld of %lld on", (long long)wrong, (long long)n);
}

// Run it or say why not.
static int good(struct huge_device *d, weft_status status, const char *what)
{
    if (status)
        tap_note("%s", huge_error(d));
    return tap_ok(!status, "%s: runs", what);
}

#define ARRAY(name, T, VALUE)                                                                                          \
    static void name(void *to, int64_t first, int64_t count, int64_t n)                                                \
    {                                                                                                                  \
        T *out = to;                                                                                                   \
        (void)n;                                                                                                       \
        for (int64_t k = 0; k < count; k++) {                                                                          \
            const int64_t i = first + k;                                                                               \
            out[k] = (T)(VALUE);                                                                                       \
        }                                                                                                              \
    }

// ---- scan ------------------------------------------------------------------------------------------------------------

#define PERIOD    1009
#define BEFORE(i) ((i) / PERIOD * (PERIOD * (PERIOD - 1) / 2) + (i) % PERIOD * ((i) % PERIOD - 1) / 2)
ARRAY(counts, uint32_t, i % PERIOD)
ARRAY(sums32, uint32_t, BEFORE(i))
ARRAY(sums64, uint64_t, BEFORE(i))

static void scan(struct huge_device *d, int64_t n, enum weft_scan_type type, enum weft_scan_algo algo)
{
    const int width = (int)weft_scan_sum_bytes(type);
    struct weft_scan_plan *plan = NULL;
    char what[200];
    snprintf(what, sizeof what, "scan %s, %lld elements, %s", weft_scan_type_name(type), (long long)n,
             algo == WEFT_SCAN_ALGO_CHAINED ? "chained" : "three launches");
    if (!huge_fits(d, n * (4 + width), n * width, 0, what))
        return;
    huge_time_begin(d);
    weft_status status = weft_scan_plan_create(&plan, d->ctx, type, n, weft_scan_params(.algo = algo));
    if (status == WEFT_EUNSUPPORTED) {
        tap_skip("%s: %s", what, huge_error(d));
        return;
    }
    cl_mem in = array_make(d, counts, n, 4), out = huge_buffer(d, n * width);
    huge_time_note(d, "%s: written", what);
    if (!status)
        status = weft_scan_run(plan, d->queue, out, in, n, 0, NULL, NULL);
    huge_time_note(d, "%s: run", what);
    if (good(d, status, what))
        array_check(d, out, width == 8 ? sums64 : sums32, n, width, what);
    huge_time_note(d, "%s: checked", what);
    weft_scan_plan_destroy(&plan);
    huge_release(&in);
    huge_release(&out);
}

// ---- histogram -------------------------------------------------------------------------------------------------------

#define MANY_BINS 1000003
ARRAY(indices, int32_t, i % PERIOD)
ARRAY(many_indices, int32_t, i % MANY_BINS)
static int64_t histogram_n; // of indices
// Entries in the bins before bin i.
#define POINTER(i, bins) ((i) * (histogram_n / (bins)) + ((i) < histogram_n % (bins) ? (i) : histogram_n % (bins)))
ARRAY(pointers, int64_t, POINTER(i, PERIOD))
ARRAY(many_pointers, int64_t, POINTER(i, MANY_BINS))

static void histogram(struct huge_device *d, int64_t n, int64_t bins, enum weft_histogram_algo algo)
{
    struct weft_histogram_plan *plan = NULL;
    const int many = bins == MANY_BINS;
    char what[200];
    snprintf(what, sizeof what, "histogram, %lld indices in %lld bins, %s", (long long)n, (long long)bins,
             algo == WEFT_HISTOGRAM_ALGO_ATOMIC ? "atomics" : "rows");
    if (!huge_fits(d, n * 4, n * 4, 0, what))
        return;
    huge_time_begin(d);
    histogram_n = n;
    cl_mem in = array_make(d, many ? many_indices : indices, n, 4), out = huge_buffer(d, (bins + 1) * 8);
    huge_time_note(d, "%s: written", what);
    weft_status status = weft_histogram_plan_create(&plan, d->ctx, bins, WEFT_OFS_64, n,
                                                    weft_histogram_params(.pointers = 1, .algo = algo));
    if (!status)
        status = weft_histogram_run(plan, d->queue, out, in, n, 0, NULL, NULL);
    huge_time_note(d, "%s: run", what);
    if (good(d, status, what))
        array_check(d, out, many ? many_pointers : pointers, bins + 1, 8, what);
    weft_histogram_plan_destroy(&plan);
    huge_release(&in);
    huge_release(&out);
}

// ---- expand: row i has 15 + i mod 7 positions --------------------------------------------------------------------------

#define ROWS_7       126 // positions of 7 rows
#define ROW_BEGIN(i) ((i) / 7 * ROWS_7 + (i) % 7 * 15 + (i) % 7 * ((i) % 7 - 1) / 2)
ARRAY(row_begins, int64_t, ROW_BEGIN(i))
static int64_t row_at(int64_t p)
{
    int64_t i = p / ROWS_7 * 7;
    while (ROW_BEGIN(i + 1) <= p)
        i++;
    return i;
}
static void row_indices(void *to, int64_t first, int64_t count, int64_t n)
{
    int32_t *out = to;
    int64_t i = row_at(first), end = ROW_BEGIN(i + 1);
    (void)n;
    for (int64_t k = 0; k < count; k++) {
        if (first + k == end) {
            i++;
            end = ROW_BEGIN(i + 1);
        }
        out[k] = (int32_t)i;
    }
}

static void expand(struct huge_device *d, int64_t n)
{
    const int64_t m = n / ROWS_7 * 7, nnz = ROW_BEGIN(m);
    struct weft_expand_plan *plan = NULL;
    char what[200];
    snprintf(what, sizeof what, "expand, %lld rows, %lld positions", (long long)m, (long long)nnz);
    if (!huge_fits(d, nnz * 4 + m * 8, nnz * 4, 0, what))
        return;
    huge_time_begin(d);
    cl_mem row_ptr = array_make(d, row_begins, m + 1, 8), row = huge_buffer(d, nnz * 4);
    huge_time_note(d, "%s: written", what);
    weft_status status = weft_expand_plan_create(&plan, d->ctx, m, nnz, WEFT_OFS_64, NULL);
    if (!status)
        status = weft_expand_run(plan, d->queue, row, row_ptr, m, nnz, 0, NULL, NULL);
    huge_time_note(d, "%s: run", what);
    if (good(d, status, what))
        array_check(d, row, row_indices, nnz, 4, what);
    huge_time_note(d, "%s: checked", what);
    weft_expand_plan_destroy(&plan);
    huge_release(&row_ptr);
    huge_release(&row);
}

// ---- merge: of the numbers from 0 on those that 3 divides, and the others ------------------------------------------------

ARRAY(numbers, uint32_t, i)
ARRAY(thirds, uint32_t, 3 * i)
ARRAY(others, uint32_t, i + i / 2 + 1)
ARRAY(doubles, uint32_t, i < (n + 1) / 2 ? 2 * i : 2 * (i - (n + 1) / 2) + 1)

static void merge(struct huge_device *d, int64_t n, int blocks)
{
    n = n > UINT32_MAX ? UINT32_MAX : n;
    const int64_t na = (n + 2) / 3;
    struct weft_merge_plan *plan = NULL;
    char what[200];
    snprintf(what, sizeof what, "merge, %lld keys of %s", (long long)n, blocks ? "two blocks" : "two arrays");
    if (!huge_fits(d, 8 * n, 4 * n, 0, what))
        return;
    huge_time_begin(d);
    cl_mem a = blocks ? array_make(d, doubles, n, 4) : array_make(d, thirds, na, 4);
    cl_mem b = blocks ? NULL : array_make(d, others, n - na, 4), out = huge_buffer(d, n * 4);
    huge_time_note(d, "%s: written", what);
    weft_status status = weft_merge_plan_create(&plan, d->ctx, WEFT_KEY_U32, 0, n, NULL);
    if (!status)
        status = blocks ? weft_merge_blocks_run(plan, d->queue, out, NULL, a, NULL, n, (n + 1) / 2, 0, NULL, NULL)
                        : weft_merge_run(plan, d->queue, out, NULL, a, NULL, na, b, NULL, n - na, 0, NULL, NULL);
    huge_time_note(d, "%s: run", what);
    if (good(d, status, what))
        array_check(d, out, numbers, n, 4, what);
    huge_time_note(d, "%s: checked", what);
    weft_merge_plan_destroy(&plan);
    huge_release(&a);
    huge_release(&b);
    huge_release(&out);
}

// ---- segmented sort ----------------------------------------------------------------------------------------------------

// One segment: key i is step*i mod n, so that the sorted keys are all numbers, each from one place, back*key mod n.
static int64_t key_step, key_back;
static int64_t product_mod(int64_t a, int64_t b, int64_t n)
{
    return (int64_t)((unsigned __int128)(uint64_t)a * (uint64_t)b % (uint64_t)n);
}
static void steps_by(void *to, int64_t first, int64_t count, int64_t n, int64_t step)
{
    uint32_t *out = to;
    int64_t at = product_mod(step, first, n);
    for (int64_t k = 0; k < count; k++) {
        out[k] = (uint32_t)at;
        at += step;
        at -= at >= n ? n : 0;
    }
}
static void whole_keys(void *to, int64_t first, int64_t count, int64_t n)
{
    steps_by(to, first, count, n, key_step);
}
static void whole_places(void *to, int64_t first, int64_t count, int64_t n)
{
    steps_by(to, first, count, n, key_back);
}
// A step near the golden ratio that has an inverse.
static void key_steps_set(int64_t n)
{
    for (key_step = (int64_t)((double)n * 0.6180339887) | 1;; key_step += 2) {
        int64_t r0 = n, r1 = key_step, t0 = 0, t1 = 1;
        while (r1) {
            const int64_t q = r0 / r1, r = r0 - q * r1, t = t0 - q * t1;
            r0 = r1, r1 = r;
            t0 = t1, t1 = t;
        }
        if (r0 == 1) {
            key_back = t0 < 0 ? t0 + n : t0;
            return;
        }
    }
}

// Segments as the rows of expand, and blocks: in a segment of `length`, element s has the key (STEP*s + segment) mod length.
// STEP is prime to all lengths, and so is what brings s back.
#define STEP  11
#define BLOCK 1000
static int64_t back_of(int64_t length)
{
    int64_t back = 1;
    while (back * STEP % length != 1)
        back++;
    return back;
}
#define SEGMENTS(name, FIRST, BEGIN, VALUE)                                                                            \
    static void name(void *to, int64_t first, int64_t count, int64_t n)                                                \
    {                                                                                                                  \
        uint32_t *out = to;                                                                                            \
        int64_t i = FIRST(first), begin = BEGIN(i), next = BEGIN(i + 1);                                               \
        int64_t length = (next < n ? next : n) - begin, back = back_of(length);                                        \
        for (int64_t k = 0; k < count; k++) {                                                                          \
            if (first + k == next) {                                                                                   \
                i++;                                                                                                   \
                begin = next;                                                                                          \
                next = BEGIN(i + 1);                                                                                   \
                if ((next < n ? next : n) - begin != length) {                                                         \
                    length = (next < n ? next : n) - begin;                                                            \
                    back = back_of(length);                                                                            \
                }                                                                                                      \
            }                                                                                                          \
            const int64_t s = first + k - begin;                                                                       \
            (void)back;                                                                                                \
            out[k] = (uint32_t)(VALUE);                                                                                \
        }                                                                                                              \
    }
#define BLOCK_AT(p)    ((p) / BLOCK)
#define BLOCK_BEGIN(i) ((i)*BLOCK)
#define KEY            (STEP * s + i) % length
#define PLACE          (begin + back * (s + length - i % length) % length)
SEGMENTS(row_keys, row_at, ROW_BEGIN, KEY)
SEGMENTS(row_sorted, row_at, ROW_BEGIN, s)
SEGMENTS(row_places, row_at, ROW_BEGIN, PLACE)
SEGMENTS(block_keys, BLOCK_AT, BLOCK_BEGIN, KEY)
SEGMENTS(block_sorted, BLOCK_AT, BLOCK_BEGIN, s)
SEGMENTS(block_places, BLOCK_AT, BLOCK_BEGIN, PLACE)

enum sorted { SORT_WHOLE, SORT_MERGED, SORT_ROWS, SORT_BLOCKS };

static void segsort(struct huge_device *d, int64_t n, enum sorted kind)
{
    static const char *const names[] = {"one segment", "one segment, merged", "rows", "blocks of 1000"};
    n = n > UINT32_MAX ? UINT32_MAX : n;
    const int64_t m = kind == SORT_ROWS ? n / ROWS_7 * 7 : 1, width = kind == SORT_BLOCKS ? 0 : 8;
    n = kind == SORT_ROWS ? ROW_BEGIN(m) : kind == SORT_BLOCKS ? n / BLOCK * BLOCK : n;
    array_fn *keys = kind == SORT_ROWS ? row_keys : kind == SORT_BLOCKS ? block_keys : whole_keys;
    array_fn *places = kind == SORT_ROWS ? row_places : kind == SORT_BLOCKS ? block_places : whole_places;
    array_fn *sorted = kind == SORT_ROWS ? row_sorted : kind == SORT_BLOCKS ? block_sorted : numbers;
    const struct weft_segsort_params params = {.whole = kind == SORT_WHOLE ? WEFT_SEGSORT_WHOLE_AUTO
                                                                           : WEFT_SEGSORT_WHOLE_MERGE};
    struct weft_segsort_plan *plan = NULL;
    size_t scratch = 0;
    char what[200];
    snprintf(what, sizeof what, "segsort, %lld keys with 4 bytes, %s", (long long)n, names[kind]);
    weft_status status = weft_segsort_workspace(&scratch, d->ctx, WEFT_KEY_U32, 4, WEFT_OFS_64, n, &params);
    if (!good(d, status, what) || !huge_fits(d, 8 * n + (int64_t)scratch + (m + 1) * width, 4 * n, 0, what))
        return;
    huge_time_begin(d);
    key_steps_set(n);
    cl_mem key = array_make(d, keys, n, 4), val = array_make(d, numbers, n, 4), offsets = NULL;
    if (kind == SORT_ROWS)
        offsets = array_make(d, row_begins, m + 1, 8);
    else if (kind != SORT_BLOCKS) {
        const int64_t ends[2] = {0, n};
        offsets = huge_buffer(d, sizeof ends);
        huge_write(d, offsets, 0, ends, sizeof ends);
    }
    huge_time_note(d, "%s: written", what);
    status = weft_segsort_plan_create(&plan, d->ctx, WEFT_KEY_U32, 4, WEFT_OFS_64, n, &params);
    if (!status) {
        const struct weft_segsort_info *info = weft_segsort_plan_info(plan);
        tap_note("%s", info->why);
        status = kind == SORT_BLOCKS
                     ? weft_segsort_blocks_run(plan, d->queue, key, val, key, val, n, BLOCK, 0, NULL, NULL)
                     : weft_segsort_run(plan, d->queue, key, val, key, val, n, offsets, m, 0, NULL, NULL);
    }
    huge_time_note(d, "%s: run", what);
    if (good(d, status, what)) {
        snprintf(what, sizeof what, "segsort, %lld keys with 4 bytes, %s: keys", (long long)n, names[kind]);
        array_check(d, key, sorted, n, 4, what);
        snprintf(what, sizeof what, "segsort, %lld keys with 4 bytes, %s: payload", (long long)n, names[kind]);
        array_check(d, val, places, n, 4, what);
    }
    huge_time_note(d, "%s: checked", what);
    weft_segsort_plan_destroy(&plan);
    huge_release(&key);
    huge_release(&val);
    huge_release(&offsets);
}

// As many segments as an int counts: the last thousand of them have a thousand keys each, the others none.
enum { LAST = 1000, LAST_KEYS = 1000 };
ARRAY(late_offsets, int32_t, i < n - 1 - LAST ? 0 : (i - (n - 1 - LAST)) * LAST_KEYS)

static void segments(struct huge_device *d, int64_t wanted)
{
    const int64_t count = wanted < INT32_MAX ? wanted : INT32_MAX, n = (int64_t)LAST * LAST_KEYS;
    struct weft_segsort_plan *plan = NULL;
    char what[200];
    snprintf(what, sizeof what, "segsort, %lld segments", (long long)count);
    if (!huge_fits(d, 4 * count + 16 * n, 4 * (count + 1), 0, what))
        return;
    huge_time_begin(d);
    cl_mem key = array_make(d, block_keys, n, 4), val = array_make(d, numbers, n, 4);
    cl_mem offsets = array_make(d, late_offsets, count + 1, 4);
    huge_time_note(d, "%s: written", what);
    weft_status status = weft_segsort_plan_create(&plan, d->ctx, WEFT_KEY_U32, 4, WEFT_OFS_32, n, NULL);
    if (!status)
        status = weft_segsort_run(plan, d->queue, key, val, key, val, n, offsets, count, 0, NULL, NULL);
    huge_time_note(d, "%s: run", what);
    if (good(d, status, what)) {
        array_check(d, key, block_sorted, n, 4, what);
        array_check(d, val, block_places, n, 4, what);
    }
    weft_segsort_plan_destroy(&plan);
    huge_release(&key);
    huge_release(&val);
    huge_release(&offsets);
}

// ---- fill --------------------------------------------------------------------------------------------------------------

ARRAY(filled, uint32_t, i < 5 || i >= n - 3 ? i : 42)

static void fill(struct huge_device *d, int64_t n)
{
    struct weft__kernel *kernel = NULL;
    struct weft__stream stream;
    char what[200];
    snprintf(what, sizeof what, "fill, %lld words", (long long)n);
    if (!huge_fits(d, 4 * n, 4 * n, 0, what))
        return;
    huge_time_begin(d);
    cl_mem out = array_make(d, numbers, n, 4);
    huge_time_note(d, "%s: written", what);
    weft_status status = weft__fill_create(&kernel, d->ctx);
    if (!status)
        status = weft__stream_begin(&stream, d->ctx, d->queue, 0, NULL, NULL);
    if (!status)
        status = weft__fill(&stream, kernel, out, 5, (uint64_t)n - 8, 42);
    huge_time_note(d, "%s: run", what);
    if (good(d, status, what))
        array_check(d, out, filled, n, 4, what);
    huge_time_note(d, "%s: checked", what);
    weft__kernel_release(&kernel);
    huge_release(&out);
}

int main(int argc, char **argv)
{
    struct huge_options o = {.entries = 2200000000, .ofs = WEFT_OFS_64};
    struct huge_device d;
    huge_skip_unless_wanted(argc);
    o.what = "scan,histogram,expand,merge,segsort,segments,fill";
    huge_options_read(&o, argc, argv);
    huge_device_open(&d, &o);
    const int64_t n = o.entries;
    if (huge_wanted(&o, "scan")) {
        scan(&d, n, WEFT_SCAN_TYPE_U32_U64, WEFT_SCAN_ALGO_THREE);
        scan(&d, n, WEFT_SCAN_TYPE_U32_U64, WEFT_SCAN_ALGO_CHAINED);
        scan(&d, 2 * n, WEFT_SCAN_TYPE_U32, WEFT_SCAN_ALGO_THREE);
        scan(&d, 2 * n, WEFT_SCAN_TYPE_U32, WEFT_SCAN_ALGO_CHAINED);
    }
    if (huge_wanted(&o, "histogram")) {
        histogram(&d, 2 * n, PERIOD, WEFT_HISTOGRAM_ALGO_ROWS);
        histogram(&d, 2 * n, MANY_BINS,
                  weft_context_schedule(d.ctx) == WEFT_SCHEDULE_CPU ? WEFT_HISTOGRAM_ALGO_ROWS
                                                                    : WEFT_HISTOGRAM_ALGO_ATOMIC);
    }
    if (huge_wanted(&o, "expand"))
        expand(&d, 2 * n);
    if (huge_wanted(&o, "merge")) {
        merge(&d, 2 * n, 0);
        merge(&d, n, 1);
    }
    if (huge_wanted(&o, "segsort")) {
        segsort(&d, n, SORT_WHOLE);
        segsort(&d, n, SORT_MERGED);
        segsort(&d, n, SORT_ROWS);
        segsort(&d, n, SORT_BLOCKS);
        segsort(&d, 2 * n, SORT_WHOLE);
    }
    if (huge_wanted(&o, "segments"))
        segments(&d, 2 * n);
    if (huge_wanted(&o, "fill"))
        fill(&d, 2 * n);
    huge_device_close(&d);
    return tap_done();
}
