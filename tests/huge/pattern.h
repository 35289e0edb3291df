// SPDX-License-Identifier: Apache-2.0
// A matrix of any size whose transpose is known without making it, and threads to write and to check it by.
//
// Row i has an entry in column (step*i + offset[s]) mod window for each slot s, unless the slot is left out. `step` has an
// inverse mod `window`, so that the rows of a column are as easily told. Rows repeat after `window` rows; columns from `window` on
// are empty.
#pragma once

#include <stdint.h>
#include <weft/matrix.h>

#define HUGE_SLOTS 16

enum huge_kind {
    HUGE_FAR,    // square; neighbouring rows are far apart, half of the columns of a row are neighbours
    HUGE_NEAR,   // square; a band
    HUGE_MIRROR, // square; a symmetric pattern
    HUGE_NARROW, // few columns, which have very many entries
    HUGE_KINDS
};
extern const char *const huge_kind_names[HUGE_KINDS];

struct huge_pattern {
    int64_t m, n, window, step, back; // step*back = 1 (mod window)
    int slots, full;                  // full: no slot is left out
    int64_t offset[HUGE_SLOTS];       // ascending
    int64_t behind[HUGE_SLOTS];       // back*offset mod window, ascending, and their slots
    int behind_slot[HUGE_SLOTS];
};

// At least `entries` entries (100000 or more) in about as many rows as make 15 to a row. columns: of HUGE_NARROW, 0: 20000.
void huge_pattern_make(struct huge_pattern *p, enum huge_kind kind, int64_t entries, int64_t columns);

static inline int huge_present(const struct huge_pattern *p, int64_t i, int slot)
{
    return p->full || ((i & 63) != 63 && ((i + 5 * slot) & 15) != 0);
}
// Columns of row i, ascending; their number.
static inline int huge_row(const struct huge_pattern *p, int64_t i, int32_t *col)
{
    const int64_t base = (i % p->window) * p->step % p->window;
    int split = p->slots, count = 0;
    while (split > 0 && base + p->offset[split - 1] >= p->window)
        split--;
    for (int s = split; s < p->slots; s++)
        if (huge_present(p, i, s))
            col[count++] = (int32_t)(base + p->offset[s] - p->window);
    for (int s = 0; s < split; s++)
        if (huge_present(p, i, s))
            col[count++] = (int32_t)(base + p->offset[s]);
    return count;
}

// The rows of a column, ascending: huge_column_begin, then huge_column_next until it gives -1.
struct huge_column {
    int64_t base, block;
    int at, split;
};
static inline struct huge_column huge_column_begin(const struct huge_pattern *p, int64_t j)
{
    struct huge_column c = {.base = j < p->window ? p->back * j % p->window : 0, .block = j < p->window ? 0 : p->m};
    while (c.split < p->slots && p->behind[c.split] <= c.base)
        c.split++;
    return c;
}
static inline int64_t huge_column_next(const struct huge_pattern *p, struct huge_column *c)
{
    for (; c->block < p->m; c->block += p->window, c->at = 0)
        while (c->at < p->slots) {
            // Rows base - behind ascend as `behind` descends: those that wrap around come last.
            const int at = c->at++, q = at < c->split ? c->split - 1 - at : p->slots - 1 - (at - c->split);
            const int64_t i = c->block + c->base - p->behind[q] + (q < c->split ? 0 : p->window);
            if (i < p->m && huge_present(p, i, p->behind_slot[q]))
                return i;
        }
    return -1;
}

// Value of an entry, an integer below 2^24, exact in each type; `salt` gives others.
static inline uint32_t huge_value(int64_t row, int64_t col, uint32_t salt)
{
    const uint32_t h = (uint32_t)row * 2654435761u ^ ((uint32_t)col + salt) * 2246822519u;
    return (h ^ h >> 15) >> 8;
}
static inline void huge_value_put(void *val, enum weft_type type, int64_t p, uint32_t value)
{
    if (type == WEFT_TYPE_F32)
        ((float *)val)[p] = (float)value;
    else if (type == WEFT_TYPE_F64)
        ((double *)val)[p] = value;
    else if (type == WEFT_TYPE_I32)
        ((int32_t *)val)[p] = (int32_t)value;
}
static inline int huge_value_is(const void *val, enum weft_type type, int64_t p, uint32_t value)
{
    return type == WEFT_TYPE_F32   ? ((const float *)val)[p] == (float)value
           : type == WEFT_TYPE_F64 ? ((const double *)val)[p] == value
           : type == WEFT_TYPE_I32 ? ((const int32_t *)val)[p] == (int32_t)value
                                   : 1;
}

// ---- with threads ----------------------------------------------------------------------------------------------------

typedef void huge_part_fn(void *arg, int64_t first, int64_t end);
// Call fn for parts of 0 .. count-1 of at most `part`, by as many threads as the process may use (WEFT_HUGE_THREADS).
void huge_parallel(int64_t count, int64_t part, huge_part_fn *fn, void *arg);

// Offsets of either width.
struct huge_offsets {
    enum weft_ofs ofs;
    void *at;
};
static inline int64_t huge_ofs(const struct huge_offsets *o, int64_t i)
{
    return o->ofs == WEFT_OFS_64 ? ((const int64_t *)o->at)[i] : ((const int32_t *)o->at)[i];
}
// Row pointers (m+1); returns the number of entries.
int64_t huge_row_ptr(const struct huge_pattern *p, struct huge_offsets row_ptr);
// The first row that ends behind position `at`, at least row `from`: pieces of whole rows (or columns) begin there.
int64_t huge_piece_end(const struct huge_offsets *ptr, int64_t count, int64_t from, int64_t entries);
// Columns (or rows: `index` of each entry's row), and values of rows first .. end-1; any of the arrays may be NULL.
void huge_rows_fill(const struct huge_pattern *p, const struct huge_offsets *row_ptr, int64_t first, int64_t end,
                    int32_t *row, int32_t *col, void *val, enum weft_type type, uint32_t salt);

// What was found wrong: how much, and the first of it.
struct huge_bad {
    int64_t count, at; // position or column
    char what[160];
};
// Column pointers (n+1) of the transpose.
void huge_col_ptr_check(struct huge_bad *bad, const struct huge_pattern *p, const struct huge_offsets *col_ptr,
                        int64_t nnz);
// Rows and values of columns first .. end-1, the arrays beginning with those of column `first`. Pointers were checked before.
// row or val may be NULL.
void huge_columns_check(struct huge_bad *bad, const struct huge_pattern *p, const struct huge_offsets *col_ptr,
                        int64_t first, int64_t end, const int32_t *row, const void *val, enum weft_type type,
                        uint32_t salt);
// The same of A itself: its rows first .. end-1 (a conversion back); `row`: index of each entry's row.
void huge_rows_check(struct huge_bad *bad, const struct huge_pattern *p, const struct huge_offsets *row_ptr,
                     int64_t first, int64_t end, const int32_t *row, const int32_t *col, const void *val,
                     enum weft_type type, uint32_t salt);

// Of a matrix that is not known in advance: rows first .. end-1 of a CSR matrix, whose arrays begin with those of row `first`.
struct huge_part {
    struct huge_offsets row_ptr; // of all rows
    int64_t first, end, n;
    const int32_t *col;
    const void *val; // NULL: none
    size_t bytes;    // of a value
    int turned;      // nonzero: this is a transpose, a row of it a column
};
// A sum over (row, column, value) of the entries, in any order. Where the part is a transpose, its indices must ascend in
// each row, equal ones allowed.
uint64_t huge_entries_sum(struct huge_bad *bad, const struct huge_part *part);
