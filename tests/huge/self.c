// SPDX-License-Identifier: Apache-2.0
// The checks of suite huge at small sizes: every pattern's transpose is what the serial reference makes, and one wrong
// pointer, row or value is found.
#include "pattern.h"
#include "host/internal/inside.h"
#include "tests/support/tap.h"

#include <stdlib.h>
#include <string.h>

static int64_t wrong(const struct huge_pattern *p, const struct weft_csr *at)
{
    const struct huge_offsets ptr = {at->ofs, at->row_ptr};
    struct huge_bad bad = {0};
    huge_col_ptr_check(&bad, p, &ptr, at->nnz);
    for (int64_t j = 0, end; j < p->n && !bad.count; j = end) {
        end = huge_piece_end(&ptr, p->n, j, 40000);
        const int64_t first = huge_ofs(&ptr, j);
        huge_columns_check(&bad, p, &ptr, j, end, at->col + first,
                           (const char *)at->val + (size_t)first * weft_type_bytes(at->type), at->type, 3);
    }
    return bad.count;
}

static uint64_t sum_of(struct huge_bad *bad, const struct weft_csr *a, int turned)
{
    const struct huge_part part = {.row_ptr = {a->ofs, a->row_ptr},
                                   .end = a->m,
                                   .n = a->n,
                                   .col = a->col,
                                   .val = a->val,
                                   .bytes = weft_type_bytes(a->type),
                                   .turned = turned};
    return huge_entries_sum(bad, &part);
}

static void test_pattern(enum huge_kind kind, int64_t columns, enum weft_ofs ofs, enum weft_type type)
{
    struct huge_pattern p;
    struct weft_csr a, at = {0};
    struct huge_bad bad = {0};
    huge_pattern_make(&p, kind, 123456, columns);
    struct huge_offsets ptr = {ofs, calloc((size_t)p.m + 1, 8)};
    const int64_t nnz = huge_row_ptr(&p, ptr);
    if (weft_csr_alloc(&a, weft_shape(p.m, p.n, nnz, type, ofs)))
        tap_bail("out of memory");
    memcpy(a.row_ptr, ptr.at, ((size_t)p.m + 1) * weft_ofs_bytes(ofs));
    huge_rows_fill(&p, &ptr, 0, p.m / 3, NULL, a.col, a.val, type, 3);
    const int64_t third = huge_ofs(&ptr, p.m / 3);
    huge_rows_fill(&p, &ptr, p.m / 3, p.m, NULL, a.col + third, (char *)a.val + (size_t)third * weft_type_bytes(type),
                   type, 3);
    const char *name = huge_kind_names[kind];
    tap_ok(nnz >= 123456 && nnz < 130000 && !weft_csr_validate(&a, NULL), "%s: %lld entries, a valid matrix", name,
           (long long)nnz);
    huge_rows_check(&bad, &p, &ptr, 0, p.m, NULL, a.col, a.val, type, 3);
    tap_ok(!bad.count, "%s: rows are as they were written", name);
    if (weft__ref_transpose(&at, &a))
        tap_bail("out of memory");
    tap_is_int(wrong(&p, &at), 0, "%s: the transpose of the reference is right", name);
    const uint64_t want = sum_of(&bad, &a, 0);
    tap_ok(sum_of(&bad, &at, 1) == want && !bad.count, "%s: and has the same entries", name);
    const int64_t some = nnz * 5 / 7;
    at.col[some] ^= 1;
    tap_is_int(wrong(&p, &at), 1, "%s: a wrong row is found", name);
    tap_ok(sum_of(&bad, &at, 1) != want, "%s: by the sum, too", name);
    at.col[some] ^= 1;
    ((char *)at.val)[(size_t)some * weft_type_bytes(type) + 2] ^= 4;
    tap_is_int(wrong(&p, &at), 1, "%s: a wrong value is found", name);
    ((char *)at.val)[(size_t)some * weft_type_bytes(type) + 2] ^= 4;
    const int64_t column = kind == HUGE_NARROW ? p.window / 2 : p.n / 2;
    if (ofs == WEFT_OFS_64)
        ((int64_t *)at.row_ptr)[column]++;
    else
        ((int32_t *)at.row_ptr)[column]++;
    tap_is_int(wrong(&p, &at), 2, "%s: a wrong pointer is found by the columns beside it", name);
    weft_csr_free(&a);
    weft_csr_free(&at);
    free(ptr.at);
}

int main(void)
{
    test_pattern(HUGE_FAR, 0, WEFT_OFS_64, WEFT_TYPE_F32);
    test_pattern(HUGE_NEAR, 0, WEFT_OFS_32, WEFT_TYPE_F64);
    test_pattern(HUGE_MIRROR, 0, WEFT_OFS_64, WEFT_TYPE_I32);
    test_pattern(HUGE_NARROW, 0, WEFT_OFS_64, WEFT_TYPE_F32);
    test_pattern(HUGE_NARROW, 21, WEFT_OFS_32, WEFT_TYPE_F32);
    return tap_done();
}
