// SPDX-License-Identifier: Apache-2.0
// Builds CSR from entries in any order.
// Method: two stable counting sorts. The first groups entries by the high bits of their row (a few hundred groups,
// few enough that the caches and the TLB follow every write position), reading the slices in order, each thread a
// run of them. The second sorts each group by row; a group and its part of the output fit a cache, and no two
// groups touch the same memory. Columns and values move inside the arrays of the output itself; only the rows need
// a second home.
#include "host/src/matrix/csr_build.h"
#include "host/src/core/error.h"

#include <stdlib.h>
#include <string.h>

#define GROUP_ENTRIES 32768 // entries and rows that a group should have
#define GROUP_LIMIT   512

struct build {
    struct weft_csr *out;
    const struct weft__coo_slice *slices;
    size_t slice_count;
    enum weft__mirrored mirror;
    struct weft__team *team;
    int parts;              // runs of slices
    int shift;              // row >> shift is its group
    int64_t groups;         // 1 or more
    int64_t fullest;        // entries of the fullest group
    size_t *first;          // first slice of each part (size parts+1)
    int64_t *next;          // next position of group g for part t: next[t*groups + g]
    int64_t *start;         // first position of each group (size groups+1)
    uint32_t *row;          // row of each position, inside its group (size nnz)
    size_t bytes;           // of a value; 0: there are none
    struct weft__loop sort; // over the groups
};

// Give each part a run of slices with about the same number of entries.
static void slices_share(struct build *b, int64_t stored)
{
    int64_t seen = 0;
    int t = 0;
    for (size_t s = 0; s < b->slice_count; s++) {
        while (t < b->parts && seen >= stored / b->parts * t)
            b->first[t++] = s;
        seen += b->slices[s].count;
    }
    while (t <= b->parts)
        b->first[t++] = b->slice_count;
    b->first[0] = 0;
}

static void groups_count(void *arg, int64_t t)
{
    const struct build *b = arg;
    int64_t *count = b->next + t * b->groups;
    memset(count, 0, (size_t)b->groups * sizeof *count);
    for (size_t s = b->first[t]; s < b->first[t + 1]; s++) {
        const struct weft__coo_slice *slice = &b->slices[s];
        for (int64_t p = 0; p < slice->count; p++)
            count[slice->row[p] >> b->shift]++;
        if (b->mirror)
            for (int64_t p = 0; p < slice->count; p++)
                count[slice->col[p] >> b->shift] += slice->row[p] != slice->col[p];
    }
}

// Counts to positions, group by group and in each group part by part; returns the number of entries.
static int64_t groups_scan(struct build *b)
{
    int64_t sum = 0;
    b->fullest = 0;
    for (int64_t g = 0; g < b->groups; g++) {
        b->start[g] = sum;
        for (int t = 0; t < b->parts; t++) {
            int64_t *next = &b->next[(int64_t)t * b->groups + g], count = *next;
            *next = sum;
            sum += count;
        }
        if (sum - b->start[g] > b->fullest)
            b->fullest = sum - b->start[g];
    }
    b->start[b->groups] = sum;
    return sum;
}

static void value_negate(void *val, enum weft_type type)
{
    if (type == WEFT_TYPE_F32)
        *(float *)val = -*(float *)val;
    else if (type == WEFT_TYPE_F64)
        *(double *)val = -*(double *)val;
    else if (type == WEFT_TYPE_I32)
        *(int32_t *)val = -*(int32_t *)val;
}

static inline int64_t place(const struct build *b, int64_t *next, int32_t row, int32_t col)
{
    int64_t to = next[row >> b->shift]++;
    b->row[to] = (uint32_t)row & ((UINT32_C(1) << b->shift) - 1);
    b->out->col[to] = col;
    return to;
}

// `bytes` is constant where this is inlined, so that the copies become plain moves.
static inline void groups_fill_bytes(const struct build *b, int64_t t, size_t bytes)
{
    int64_t *next = b->next + t * b->groups;
    char *val = b->out->val;
    for (size_t s = b->first[t]; s < b->first[t + 1]; s++) {
        const struct weft__coo_slice *slice = &b->slices[s];
        const char *from = slice->val;
        for (int64_t p = 0; p < slice->count; p++) {
            int32_t i = slice->row[p], j = slice->col[p];
            int64_t to = place(b, next, i, j);
            if (bytes)
                memcpy(val + (size_t)to * bytes, from + (size_t)p * bytes, bytes);
            if (!b->mirror || i == j)
                continue;
            to = place(b, next, j, i);
            if (bytes) {
                memcpy(val + (size_t)to * bytes, from + (size_t)p * bytes, bytes);
                if (b->mirror == WEFT__MIRROR_NEGATED)
                    value_negate(val + (size_t)to * bytes, b->out->type);
            }
        }
    }
}

static void groups_fill(void *arg, int64_t t)
{
    const struct build *b = arg;
    const size_t bytes = b->bytes;
    if (bytes == 8)
        groups_fill_bytes(b, t, 8);
    else if (bytes == 4)
        groups_fill_bytes(b, t, 4);
    else
        groups_fill_bytes(b, t, 0);
}

// Sort group g by row. row_ptr[i+1] counts row i, then is the next position of row i, and ends as its end.
// `bytes` and `wide` (64-bit offsets) are constant where this is inlined.
static inline void group_sort_as(const struct build *b, int64_t g, int32_t *col, char *val, size_t bytes, int wide)
{
    struct weft_csr *out = b->out;
    int64_t begin = b->start[g], count = b->start[g + 1] - begin;
    int64_t low = g << b->shift, rows = (g + 1) << b->shift;
    rows = (rows < out->m ? rows : out->m) - low;
    int32_t *end32 = wide ? NULL : (int32_t *)out->row_ptr + low + 1;
    int64_t *end64 = wide ? (int64_t *)out->row_ptr + low + 1 : NULL;
    const uint32_t *row = b->row + begin;
    memset(wide ? (void *)end64 : (void *)end32, 0, (size_t)rows * (wide ? sizeof *end64 : sizeof *end32));
    for (int64_t p = 0; p < count; p++) {
        if (wide)
            end64[row[p]]++;
        else
            end32[row[p]]++;
    }
    int64_t sum = begin;
    for (int64_t i = 0; i < rows; i++) {
        int64_t length = wide ? end64[i] : end32[i];
        if (wide)
            end64[i] = sum;
        else
            end32[i] = (int32_t)sum;
        sum += length;
    }
    memcpy(col, out->col + begin, (size_t)count * sizeof *col);
    if (bytes)
        memcpy(val, (char *)out->val + (size_t)begin * bytes, (size_t)count * bytes);
    for (int64_t p = 0; p < count; p++) {
        int64_t to = wide ? end64[row[p]]++ : end32[row[p]]++;
        out->col[to] = col[p];
        if (bytes)
            memcpy((char *)out->val + (size_t)to * bytes, val + (size_t)p * bytes, bytes);
    }
}

static void group_sort(const struct build *b, int64_t g, int32_t *col, char *val)
{
    const size_t bytes = b->bytes;
    int wide = b->out->ofs == WEFT_OFS_64;
    if (bytes == 8)
        wide ? group_sort_as(b, g, col, val, 8, 1) : group_sort_as(b, g, col, val, 8, 0);
    else if (bytes == 4)
        wide ? group_sort_as(b, g, col, val, 4, 1) : group_sort_as(b, g, col, val, 4, 0);
    else
        wide ? group_sort_as(b, g, col, val, 0, 1) : group_sort_as(b, g, col, val, 0, 0);
}

// What each thread of groups_sort does; one that lacks the memory leaves its groups to the others.
static void groups_sort_work(void *arg)
{
    struct build *b = arg;
    int32_t *col = malloc(weft__max(weft__mul((size_t)b->fullest, sizeof *col), 1));
    char *val = malloc(weft__max(weft__mul((size_t)b->fullest, b->bytes), 1));
    int64_t g, end;
    while (col && val && weft__next(&b->sort, 1, &g, &end))
        group_sort(b, g, col, val);
    free(col);
    free(val);
}

static weft_status groups_sort(struct build *b)
{
    if (b->out->ofs == WEFT_OFS_64)
        *(int64_t *)b->out->row_ptr = 0;
    else
        *(int32_t *)b->out->row_ptr = 0;
    b->sort.count = b->groups;
    weft__team_run(b->team, b->parts, groups_sort_work, b);
    return weft__loop_done(&b->sort) ? WEFT_OK : WEFT_ENOMEM;
}

// Entries that values_one sets at a time.
#define ONES 65536

static void values_one(void *arg, int64_t chunk)
{
    struct weft_csr *a = arg;
    int64_t end = chunk * ONES + ONES < a->nnz ? chunk * ONES + ONES : a->nnz;
    for (int64_t p = chunk * ONES; p < end; p++) {
        if (a->type == WEFT_TYPE_F32)
            ((float *)a->val)[p] = 1.0f;
        else if (a->type == WEFT_TYPE_F64)
            ((double *)a->val)[p] = 1.0;
        else if (a->type == WEFT_TYPE_I32)
            ((int32_t *)a->val)[p] = 1;
    }
}

static weft_status build_run(struct build *b, int64_t m, int64_t n, enum weft_type type, enum weft_ofs ofs)
{
    int has_values = b->slice_count && b->slices[0].val;
    int64_t stored = 0;
    for (size_t s = 0; s < b->slice_count; s++)
        stored += b->slices[s].count;
    b->parts = weft__team_threads(b->team, stored + m);
    int64_t groups = (int64_t)weft__min(weft__max((size_t)(stored + m) / GROUP_ENTRIES, 1), GROUP_LIMIT);
    while (m > 0 && (m - 1) >> b->shift >= groups)
        b->shift++;
    b->groups = m > 0 ? ((m - 1) >> b->shift) + 1 : 1;
    b->first = malloc(((size_t)b->parts + 1) * sizeof *b->first);
    b->next = malloc(weft__mul((size_t)b->parts, (size_t)b->groups * sizeof *b->next));
    b->start = malloc(((size_t)b->groups + 1) * sizeof *b->start);
    if (!b->first || !b->next || !b->start)
        return WEFT_ENOMEM;
    slices_share(b, stored);
    weft__team_each(b->team, stored + m, b->parts, groups_count, b);
    int64_t nnz = groups_scan(b);
    weft_status status = weft_csr_alloc(b->out, weft_shape(m, n, nnz, type, ofs));
    if (status)
        return status;
    if (!nnz)
        return WEFT_OK;
    b->row = malloc(weft__mul((size_t)nnz, sizeof *b->row));
    if (!b->row)
        return WEFT_ENOMEM;
    b->bytes = has_values ? weft_type_bytes(type) : 0;
    weft__team_each(b->team, stored + m, b->parts, groups_fill, b);
    status = groups_sort(b);
    if (!status && !has_values)
        weft__team_each(b->team, nnz, nnz / ONES + 1, values_one, b->out);
    return status;
}

weft_status weft__csr_build(struct weft_csr *out, int64_t m, int64_t n, enum weft_type type, enum weft_ofs ofs,
                            const struct weft__coo_slice *slices, size_t slice_count, enum weft__mirrored mirror,
                            struct weft__team *team)
{
    struct build b = {.out = out, .slices = slices, .slice_count = slice_count, .mirror = mirror, .team = team};
    memset(out, 0, sizeof *out);
    weft_status status = build_run(&b, m, n, type, ofs);
    free(b.first);
    free(b.next);
    free(b.start);
    free(b.row);
    if (status)
        weft_csr_free(out);
    return status;
}
