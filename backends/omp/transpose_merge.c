// SPDX-License-Identifier: Apache-2.0
// MergeTrans: each slot transposes its own entries to a piece, and rounds merge FAN neighbouring pieces each until one
// is left. In a piece the entries are sorted by columns, so that to merge is to copy, column by column, the run of each
// piece; every slot writes an even share of the output, wherever columns begin.
// Source:  H. Wang, W. Liu, K. Hou, W. Feng, Parallel Transposition of Sparse Data Structures, ICS 2016, section 4.2.
//          Pieces keep column pointers, where the paper merges by keys; they span only the columns that they hold.
// Moves:   nnz*(12 + 2*v) bytes and nnz*2*(4+v) a round, v = sizeof val.
// Scratch: nnz*(4+v) bytes of entries when there is a round; the pointers of all pieces.
#include "transpose.h"

enum {
    FAN = 16,      // pieces that are merged at a time
    LONG_RUN = 64, // entries that are worth a call of memcpy
    BLOCK = 1024   // columns whose sums stay in the first-level cache
};

// Entries begin .. end-1, sorted by columns low .. high-1; ptr[j - low] is the first of column j, ptr[high - low] == end.
struct piece {
    int64_t low, high, begin, end;
    void *ptr; // (size high-low+2 offsets)
};

struct merge {
    int rounds;
    struct piece *pieces[16]; // pieces[r]: those that round r merges; pieces[rounds]: the result
    int count[16];
    struct weft_csr spare; // col and val of the rounds between
    int round;             // the round that runs
};

// Where round r finds its entries; what it writes is found by round r + 1.
static struct weft_csr *round_input(struct work *w, int r)
{
    struct merge *merge = w->method;
    return (merge->rounds - r) % 2 ? &merge->spare : &w->out;
}

// Piece k of the round after r spans the pieces that it is made of.
static void pieces_join(const struct merge *merge, int r)
{
    for (int k = 0; k < merge->count[r + 1]; k++) {
        struct piece *joined = &merge->pieces[r + 1][k];
        const struct piece *part = merge->pieces[r];
        int first = k * FAN, last = first + FAN < merge->count[r] ? first + FAN : merge->count[r];
        *joined = part[first];
        for (int s = first + 1; s < last; s++) {
            joined->low = part[s].low < joined->low ? part[s].low : joined->low;
            joined->high = part[s].high > joined->high ? part[s].high : joined->high;
            joined->end = part[s].end;
        }
    }
}

// Offsets that the pointers of a piece take, whole cache lines of them.
static size_t pointers_size(const struct piece *piece)
{
    return weft__round_up((size_t)(piece->high - piece->low) + 2, 16);
}

static weft_status merge_prepare(struct work *w)
{
    struct merge *merge = w->method = weft__omp_take(w, sizeof *merge);
    if (!merge)
        return WEFT_ENOMEM;
    for (int count = w->slots;; count = (count + FAN - 1) / FAN) {
        int r = merge->rounds;
        merge->count[r] = count;
        merge->pieces[r] = weft__omp_take(w, (size_t)count * sizeof *merge->pieces[r]);
        if (!merge->pieces[r])
            return WEFT_ENOMEM;
        if (r)
            pieces_join(merge, r - 1);
        else
            for (int s = 0; s < count; s++)
                merge->pieces[0][s] = (struct piece){w->low[s], w->high[s], w->cut[s].pos, w->cut[s + 1].pos, NULL};
        if (count == 1)
            break;
        merge->rounds++;
    }
    // The result spans all columns and has the row pointers of the output.
    merge->pieces[merge->rounds][0].low = 0;
    merge->pieces[merge->rounds][0].high = w->a->n;
    size_t pointers = 0;
    for (int r = 0; r <= merge->rounds; r++)
        for (int s = 0; s < merge->count[r]; s++)
            pointers += pointers_size(&merge->pieces[r][s]);
    char *ptr = weft__omp_take(w, weft__mul(pointers, weft_ofs_bytes(w->a->ofs)));
    if (!ptr)
        return WEFT_ENOMEM;
    for (int r = 0; r <= merge->rounds; r++)
        for (int s = 0; s < merge->count[r]; s++) {
            merge->pieces[r][s].ptr = ptr;
            ptr += pointers_size(&merge->pieces[r][s]) * weft_ofs_bytes(w->a->ofs);
        }
    if (merge->rounds)
        merge->pieces[merge->rounds][0].ptr = w->out.row_ptr;
    if (!merge->rounds)
        return WEFT_OK;
    merge->spare.col = weft__omp_take(w, weft__mul((size_t)w->a->nnz, sizeof *merge->spare.col));
    merge->spare.val = weft__omp_take(w, weft__mul((size_t)w->a->nnz, w->val_bytes));
    return merge->spare.col && merge->spare.val ? WEFT_OK : WEFT_ENOMEM;
}

// The slot's own entries, sorted by columns. ptr[j+1] is the cursor of column j and ends where column j+1 begins.
WEFT_INLINE void own_typed(struct work *w, int slot, int wide, size_t bytes)
{
    const struct merge *merge = w->method;
    const struct piece *piece = &merge->pieces[0][slot];
    int64_t width = piece->high - piece->low, sum = piece->begin;
    for (int64_t j = 0; j < width + 2; j++)
        ofs_set(piece->ptr, j, 0, wide);
    count_cols(w, slot, piece->ptr, piece->low - 2, wide);
    ofs_set(piece->ptr, 0, sum, wide);
    for (int64_t j = 0; j <= width; j++) {
        sum += ofs_get(piece->ptr, j + 1, wide);
        ofs_set(piece->ptr, j + 1, sum, wide);
    }
    struct weft_csr *to = round_input(w, 0);
    move_rows(w, slot, to->col, to->val, piece->ptr, piece->low - 1, wide, bytes);
}

static void own_transpose(struct work *w, int slot)
{
    WEFT_BY_TYPE(own_typed, w, slot);
}

// Add to sum[j - begin] what a piece holds before column j, for the columns begin .. end-1.
WEFT_INLINE void piece_sum(const struct piece *piece, int64_t *sum, int64_t begin, int64_t end, int wide)
{
    int64_t low = piece->low > begin ? piece->low : begin, high = piece->high < end ? piece->high : end;
    for (int64_t j = low; j < high; j++)
        sum[j - begin] += ofs_get(piece->ptr, j - piece->low, wide) - piece->begin;
    for (int64_t j = high > begin ? high : begin; j < end; j++)
        sum[j - begin] += piece->end - piece->begin;
}

// Pieces of round r that become piece k of the next.
static int parts_of(const struct merge *merge, int r, int k)
{
    int left = merge->count[r] - k * FAN;
    return left < FAN ? left : FAN;
}

// Pointers of the joined pieces: the slot's share of the columns of each, a block at a time.
WEFT_INLINE void join_typed(struct work *w, int slot, int wide, size_t bytes)
{
    (void)bytes;
    const struct merge *merge = w->method;
    int r = merge->round;
    int64_t sum[BLOCK];
    for (int k = 0; k < merge->count[r + 1]; k++) {
        const struct piece *joined = &merge->pieces[r + 1][k], *part = merge->pieces[r] + k * FAN;
        int64_t columns = joined->high - joined->low + 1;
        int64_t last = joined->low + part_start(columns, slot + 1, w->slots);
        for (int64_t begin = joined->low + part_start(columns, slot, w->slots); begin < last; begin += BLOCK) {
            int64_t end = begin + BLOCK < last ? begin + BLOCK : last;
            for (int64_t j = begin; j < end; j++)
                sum[j - begin] = joined->begin;
            for (int s = 0; s < parts_of(merge, r, k); s++)
                piece_sum(&part[s], sum, begin, end, wide);
            for (int64_t j = begin; j < end; j++)
                ofs_set(joined->ptr, j - joined->low, sum[j - begin], wide);
        }
    }
}

static void join_pointers(struct work *w, int slot)
{
    WEFT_BY_TYPE(join_typed, w, slot);
}

// Copy entries from .. from+count-1 to to .. to+count-1, of which only those in begin .. end-1 are wanted.
WEFT_INLINE void run_copy(const struct weft_csr *out, int64_t to, const struct weft_csr *in, int64_t from,
                          int64_t count, int64_t begin, int64_t end, size_t bytes)
{
    int64_t skip = begin > to ? begin - to : 0, stop = count < end - to ? count : end - to;
    if (stop - skip >= LONG_RUN) {
        memcpy(out->col + to + skip, in->col + from + skip, (size_t)(stop - skip) * sizeof *out->col);
        if (bytes)
            memcpy((char *)out->val + (size_t)(to + skip) * bytes, (char *)in->val + (size_t)(from + skip) * bytes,
                   (size_t)(stop - skip) * bytes);
        return;
    }
    for (int64_t k = skip; k < stop; k++) {
        out->col[to + k] = in->col[from + k];
        val_copy(out->val, to + k, in->val, from + k, bytes);
    }
}

// Write the entries begin .. end-1 of a joined piece, a stretch of columns at a time in which the same parts take part.
WEFT_INLINE void merge_typed(struct work *w, const struct piece *joined, const struct piece *part, int parts,
                             int64_t begin, int64_t end, int wide, size_t bytes)
{
    const struct merge *merge = w->method;
    const struct weft_csr *in = round_input(w, merge->round), *out = round_input(w, merge->round + 1);
    // The column of entry `begin`: the last one that starts there or before.
    int64_t j = joined->low, high = joined->high - 1;
    while (j < high) {
        int64_t mid = j + (high - j + 1) / 2;
        if (ofs_get(joined->ptr, mid - joined->low, wide) <= begin)
            j = mid;
        else
            high = mid - 1;
    }
    int64_t at = ofs_get(joined->ptr, j - joined->low, wide);
    while (at < end) {
        const struct piece *active[FAN];
        int64_t next[FAN], stretch = joined->high;
        int count = 0;
        for (int s = 0; s < parts; s++)
            if (part[s].low > j) {
                stretch = part[s].low < stretch ? part[s].low : stretch;
            } else if (part[s].high > j) {
                stretch = part[s].high < stretch ? part[s].high : stretch;
                next[count] = ofs_get(part[s].ptr, j - part[s].low, wide);
                active[count++] = &part[s];
            }
        if (count == 1) {
            int64_t run = ofs_get(active[0]->ptr, stretch - active[0]->low, wide) - next[0];
            run_copy(out, at, in, next[0], run, begin, end, bytes);
            at += run;
            j = stretch;
        }
        for (; count && j < stretch && at < end; j++)
            for (int s = 0; s < count; s++) {
                int64_t stop = ofs_get(active[s]->ptr, j + 1 - active[s]->low, wide), run = stop - next[s];
                run_copy(out, at, in, next[s], run, begin, end, bytes);
                next[s] = stop;
                at += run;
            }
        j = stretch;
    }
}

WEFT_INLINE void round_typed(struct work *w, int slot, int wide, size_t bytes)
{
    const struct merge *merge = w->method;
    int r = merge->round;
    int64_t begin = part_start(w->a->nnz, slot, w->slots), end = part_start(w->a->nnz, slot + 1, w->slots);
    for (int k = 0; k < merge->count[r + 1]; k++) {
        const struct piece *joined = &merge->pieces[r + 1][k], *part = merge->pieces[r] + k * FAN;
        int64_t first = begin > joined->begin ? begin : joined->begin, last = end < joined->end ? end : joined->end;
        if (first < last)
            merge_typed(w, joined, part, parts_of(merge, r, k), first, last, wide, bytes);
    }
}

static void round_run(struct work *w, int slot)
{
    WEFT_BY_TYPE(round_typed, w, slot);
}

static void merge_run(struct work *w)
{
    struct merge *merge = w->method;
    weft__omp_each(w, own_transpose);
    for (merge->round = 0; merge->round < merge->rounds; merge->round++) {
        weft__omp_each(w, join_pointers);
        weft__omp_each(w, round_run);
    }
    if (!merge->rounds)
        memcpy(w->out.row_ptr, merge->pieces[0][0].ptr, ((size_t)w->a->n + 1) * weft_ofs_bytes(w->a->ofs));
}

const struct method weft__omp_merge = {"merge", 1, merge_prepare, merge_run};
