// SPDX-License-Identifier: Apache-2.0
// Checks matrices in host memory, in parallel: the least fault of all chunks is the first.
#include "host/src/core/check.h"
#include "host/src/core/names.h"
#include "host/src/core/threads.h"
#include "host/src/matrix/validate.h"

// Rows or entries that a thread looks at at a time; of how many it looks at in the time of a step.
#define CHUNK 65536
#define SWIFT 8

WEFT__NAMES(columns, "any", "ascending", "unique");
WEFT__NAMES(fault, "none", "first", "last", "descends", "range", "order", "duplicate");

weft_status weft__columns_check(struct weft_error *err, enum weft_columns columns)
{
    return (unsigned)columns <= WEFT_COLUMNS_UNIQUE
               ? WEFT_OK
               : weft__error(err, WEFT_EINVAL, "columns is %d, no demand on columns", (int)columns);
}

weft_status weft__fault_error(struct weft_error *err, enum weft_fault fault, int base, int64_t at, const int64_t a[2])
{
    const long long i = at, x = a[0], y = a[1];
    switch (fault) {
    case WEFT_FAULT_NONE:
        return WEFT_OK;
    case WEFT_FAULT_FIRST:
        return weft__error(err, WEFT_EMATRIX, "row_ptr[0] is %lld, not %d", x, base);
    case WEFT_FAULT_LAST:
        return weft__error(err, WEFT_EMATRIX, "row_ptr[%lld] is %lld, not %s = %lld", i, x, base ? "nnz + 1" : "nnz",
                           y + base);
    case WEFT_FAULT_DESCENDS:
        return weft__error(err, WEFT_EMATRIX, "row_ptr[%lld] = %lld exceeds row_ptr[%lld] = %lld", i, x, i + 1, y);
    case WEFT_FAULT_RANGE:
        return weft__error(err, WEFT_EMATRIX, "col[%lld] = %lld is outside %d .. %lld", i, x, base, y - 1 + base);
    case WEFT_FAULT_ORDER:
        return weft__error(err, WEFT_EMATRIX, "col[%lld] = %lld follows %lld in its row: columns do not ascend", i, x,
                           y);
    case WEFT_FAULT_DUPLICATE:
        return weft__error(err, WEFT_EMATRIX, "col[%lld] = %lld follows %lld in its row: a duplicate", i, x, y);
    }
    return weft__error(err, WEFT_EMATRIX, "fault %d", (int)fault);
}

struct look {
    const struct weft_csr *a;
    enum weft_columns columns;
    int base;            // of indices; 1: columns in any order
    _Atomic int64_t bad; // the first row or position with a fault; INT64_MAX: none
};

static void least_set(_Atomic int64_t *bad, int64_t at)
{
    int64_t least = atomic_load(bad);
    while (at < least && !atomic_compare_exchange_weak(bad, &least, at))
        ;
}

static int64_t chunk_end(int64_t chunk, int64_t count)
{
    return (chunk + 1) * CHUNK < count ? (chunk + 1) * CHUNK : count;
}

// Of row pointers of 32 bits, at the speed of memory: does one of so many exceed the next?
static bool ofs_descend(const int32_t *row_ptr, int64_t count)
{
    int32_t any = 0;
    for (int64_t i = 0; i < count; i++)
        any |= row_ptr[i] > row_ptr[i + 1];
    return any;
}

static void rows_look(void *arg, int64_t chunk)
{
    struct look *l = arg;
    const int64_t begin = chunk * CHUNK, end = chunk_end(chunk, l->a->m);
    if (l->a->ofs == WEFT_OFS_32 && !ofs_descend((const int32_t *)l->a->row_ptr + begin, end - begin))
        return;
    for (int64_t i = begin; i < end; i++)
        if (weft_csr_ofs(l->a, i) > weft_csr_ofs(l->a, i + 1)) {
            least_set(&l->bad, i);
            return;
        }
}

// The first row that begins at position p or behind it, of row pointers that ascend.
static int64_t row_from(const struct weft_csr *a, int64_t p)
{
    int64_t low = 0, high = a->m;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (weft_csr_ofs(a, middle) < p)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// What is wrong with entry p, of which *row is the first row that begins there or behind it.
static enum weft_fault entry_fault(const struct look *l, int64_t p, int64_t *row)
{
    const struct weft_csr *a = l->a;
    const int32_t col = a->col[p];
    if (col < l->base || col - l->base >= a->n)
        return WEFT_FAULT_RANGE;
    if (!l->columns || !p || a->col[p - 1] < col || (l->columns == WEFT_COLUMNS_ASCENDING && a->col[p - 1] == col))
        return WEFT_FAULT_NONE;
    while (*row < a->m && weft_csr_ofs(a, *row) < p)
        ++*row;
    if (*row < a->m && weft_csr_ofs(a, *row) == p)
        return WEFT_FAULT_NONE;
    return a->col[p - 1] == col ? WEFT_FAULT_DUPLICATE : WEFT_FAULT_ORDER;
}

#define TILE 1024 // of CHUNK: compilers make vectors of a loop of known length

// Is one of TILE columns outside base .. last + base? Then the sign of its distance from either end is set.
static bool tile_outside(const int32_t *col, uint32_t base, uint32_t last)
{
    uint32_t signs = 0;
    for (int i = 0; i < TILE; i++)
        signs |= ((uint32_t)col[i] - base) | (last - ((uint32_t)col[i] - base));
    return signs >> 31;
}

// Without a demand on their order, columns are looked at by tiles, at the speed of memory: up to the first that has a fault.
static int64_t tiles_skip(const struct weft_csr *a, int base, int64_t p, int64_t end)
{
    while (a->n && end - p >= TILE && !tile_outside(a->col + p, (uint32_t)base, (uint32_t)(a->n - 1)))
        p += TILE;
    return p;
}

static void entries_look(void *arg, int64_t chunk)
{
    struct look *l = arg;
    const int64_t end = chunk_end(chunk, l->a->nnz);
    int64_t row = l->columns ? row_from(l->a, chunk * CHUNK) : 0;
    for (int64_t p = l->columns ? chunk * CHUNK : tiles_skip(l->a, l->base, chunk * CHUNK, end); p < end; p++)
        if (entry_fault(l, p, &row)) {
            least_set(&l->bad, p);
            return;
        }
}

static weft_status matrix_look(const struct weft_csr *a, enum weft_columns columns, int base, struct weft_error *err)
{
    if (weft_csr_ofs(a, 0) != base)
        return weft__fault_error(err, WEFT_FAULT_FIRST, base, 0, (int64_t[2]){weft_csr_ofs(a, 0), 0});
    if (weft_csr_ofs(a, a->m) != a->nnz + base)
        return weft__fault_error(err, WEFT_FAULT_LAST, base, a->m, (int64_t[2]){weft_csr_ofs(a, a->m), a->nnz});
    struct look look = {a, columns, base, INT64_MAX};
    struct weft__team team;
    weft__team_begin(&team, 0);
    weft__team_each(&team, a->m / 2, (a->m + CHUNK - 1) / CHUNK, rows_look, &look);
    const int64_t row = atomic_load(&look.bad);
    if (row == INT64_MAX)
        weft__team_each(&team, a->nnz / (columns ? 1 : SWIFT), (a->nnz + CHUNK - 1) / CHUNK, entries_look, &look);
    weft__team_end(&team);
    if (row != INT64_MAX)
        return weft__fault_error(err, WEFT_FAULT_DESCENDS, base, row,
                                 (int64_t[2]){weft_csr_ofs(a, row), weft_csr_ofs(a, row + 1)});
    const int64_t p = atomic_load(&look.bad);
    if (p == INT64_MAX)
        return WEFT_OK;
    int64_t from = columns ? row_from(a, p) : 0;
    const enum weft_fault fault = entry_fault(&look, p, &from);
    return weft__fault_error(err, fault, base, p,
                             (int64_t[2]){a->col[p], fault == WEFT_FAULT_RANGE ? a->n : a->col[p - 1]});
}

weft_status weft_csr_validate_columns(const struct weft_csr *a, enum weft_columns columns, struct weft_error *err)
{
    weft_status status = weft__csr_check(err, a);
    if (!status)
        status = weft__columns_check(err, columns);
    return status ? status : matrix_look(a, columns, 0, err);
}

weft_status weft__csr_validate_based(const struct weft_csr *a, int base, struct weft_error *err)
{
    weft_status status = weft__csr_check(err, a);
    return status ? status : matrix_look(a, WEFT_COLUMNS_ANY, base, err);
}

weft_status weft_csr_validate(const struct weft_csr *a, struct weft_error *err)
{
    return weft_csr_validate_columns(a, WEFT_COLUMNS_ANY, err);
}
