// SPDX-License-Identifier: Apache-2.0
// Figures of a matrix against closed forms and plain oracles, also where most rows are empty.
#include "measure.h"
#include "host/internal/inside.h"

#include <stdlib.h>
#include <string.h>

static struct rng rng;

// ---- figures of a matrix ---------------------------------------------------------------------------------------

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int lengths_good(const struct weft_lengths *f, int64_t *length, int64_t lines)
{
    static const int percent[WEFT_MEASURE_QUANTILES] = {0, 5, 25, 50, 75, 95, 100};
    double mean = 0, square = 0;
    int64_t empty = 0;
    for (int64_t i = 0; i < lines; i++) {
        mean += (double)length[i] / (double)lines;
        empty += !length[i];
    }
    for (int64_t i = 0; i < lines; i++)
        square += ((double)length[i] - mean) * ((double)length[i] - mean) / (double)lines;
    int ok = f->lines == lines && f->empty == empty && test_near(f->mean, mean) &&
             test_near(f->deviation, sqrt(square)) && test_near(f->entropy, weft_entropy(length, lines));
    qsort(length, (size_t)lines, sizeof *length, ascending);
    for (int q = 0; ok && lines && q < WEFT_MEASURE_QUANTILES; q++)
        ok = f->quantile[q] == length[(percent[q] * (lines - 1) + 50) / 100];
    return ok;
}

// Everything from a dense table of counts and sums.
static int measures_good(const struct weft_csr *a)
{
    struct weft_measures f, again;
    struct weft_error err;
    if (weft_measure(&f, a, 0, &err) || weft_measure(&again, a, 3, &err))
        tap_bail("%s", err.text);
    int64_t m = a->m, n = a->n, lower = 0, upper = 0, profile = 0, places = 0, met = 0, equal = 0;
    int64_t *stored = calloc((size_t)(m * n + 1), sizeof *stored);
    double *sum = calloc((size_t)(m * n + 1), sizeof *sum), spread = 0;
    int64_t *rows = calloc((size_t)m + 1, sizeof *rows), *cols = calloc((size_t)n + 1, sizeof *cols), lines = 0;
    for (int64_t i = 0; i < m; i++)
        for (int64_t p = weft_csr_ofs(a, i); p < weft_csr_ofs(a, i + 1); p++) {
            int64_t j = a->col[p], seen = 0;
            stored[i * n + j]++;
            sum[i * n + j] += a->type == WEFT_TYPE_I32 ? ((int32_t *)a->val)[p] : 0;
            rows[i]++;
            cols[j]++;
            lower = i - j > lower ? i - j : lower;
            upper = j - i > upper ? j - i : upper;
            spread += fabs((double)j - (double)i * (double)n / (double)m) / (double)a->nnz;
            for (int64_t q = p / WEFT_MEASURE_WINDOW * WEFT_MEASURE_WINDOW; q < p; q++)
                seen |= a->col[q] / 16 == j / 16;
            lines += !seen;
        }
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            if (stored[i * n + j] && j < i) {
                profile += i - j;
                break;
            }
        }
    for (int64_t c = 0; m == n && c < m * n; c++) {
        int64_t i = c / n, j = c % n;
        if (i == j || !stored[c])
            continue;
        places++;
        met += stored[j * n + i] > 0;
        equal += stored[j * n + i] > 0 && (a->type == WEFT_TYPE_PATTERN || sum[c] == sum[j * n + i]);
    }
    double pattern = m != n ? -1 : places ? (double)met / (double)places : 1;
    double value = m != n ? -1 : places ? (double)equal / (double)places : 1;
    struct weft_density d;
    test_density(&d, a, 0, 0, 0);
    int ok = !memcmp(&f, &again, sizeof f) && f.m == m && f.n == n && f.nnz == a->nnz && f.lower == lower &&
             f.upper == upper && f.profile == profile && test_near(f.spread, spread) &&
             test_near(f.pattern_symmetry, pattern) && test_near(f.value_symmetry, value) &&
             f.entropy == weft_density_entropy(&d) && f.bucket_rows == d.rows && f.bucket_cols == d.cols &&
             test_near(f.x_lines, a->nnz ? (double)lines / (double)a->nnz : 0);
    ok = ok && lengths_good(&f.row, rows, m) && lengths_good(&f.col, cols, n);
    if (!ok)
        tap_note("%lld x %lld, %lld entries, %s", (long long)m, (long long)n, (long long)a->nnz,
                 weft_type_name(a->type));
    weft_density_free(&d);
    free(stored);
    free(sum);
    free(rows);
    free(cols);
    return ok;
}

static void test_measures(void)
{
    static const struct {
        int64_t m, n, nnz;
    } shapes[] = {{0, 0, 0},     {3, 0, 0},     {0, 3, 0},     {1, 1, 2},     {20, 20, 0},
                  {30, 70, 400}, {70, 30, 400}, {60, 60, 900}, {40, 40, 9000}};
    int ok = 1;
    for (size_t s = 0; ok && s < sizeof shapes / sizeof *shapes; s++)
        for (int spread = 0; ok && spread < TEST_SPREADS; spread++) {
            struct weft_csr a;
            test_matrix_make(&a, &rng, (enum test_spread)spread, shapes[s].m, shapes[s].n, shapes[s].nnz,
                             spread % 2 ? WEFT_TYPE_I32 : WEFT_TYPE_PATTERN, s % 2 ? WEFT_OFS_64 : WEFT_OFS_32);
            for (int64_t p = 0; a.val && p < a.nnz; p++) // few values, so that some are equal
                ((int32_t *)a.val)[p] = (int32_t)rng_below(&rng, 3);
            ok = measures_good(&a);
            weft_csr_free(&a);
        }
    tap_ok(ok, "figures as read off a dense table");
    struct weft_csr a;
    struct weft_measures f;
    test_generate(&a, "stencil5:20", WEFT_TYPE_F64);
    ok = !weft_measure(&f, &a, 0, NULL);
    tap_ok(ok && f.lower == 20 && f.upper == 20 && f.pattern_symmetry == 1 && f.value_symmetry == 1 &&
               f.row.quantile[0] == 3 && f.row.quantile[6] == 5 && !f.row.empty,
           "5-point stencil: bandwidth, symmetry, lengths");
    ((double *)a.val)[1] += 1; // entry (0, 1); 4*380 are off the diagonal
    ok = !weft_measure(&f, &a, 0, NULL);
    tap_ok(ok && f.pattern_symmetry == 1 && test_near(f.value_symmetry, 1 - 2.0 / (4 * 380)), "one value changed");
    weft_csr_free(&a);
}

static void test_imbalance(void)
{
    struct weft_csr a;
    double f = 0, g = 0, h = 0;
    test_generate(&a, "heavy:1000,1000,9000,4500", WEFT_TYPE_PATTERN);
    int64_t fullest = 0, parts = 7;
    for (int64_t k = 0; k < parts; k++) {
        int64_t entries = weft_csr_ofs(&a, a.m * (k + 1) / parts) - weft_csr_ofs(&a, a.m * k / parts);
        fullest = entries > fullest ? entries : fullest;
    }
    tap_ok(!weft_load_imbalance(&f, &a, parts, NULL) && test_near(f, (double)fullest * 7 / 9000),
           "imbalance in 7 parts: %.2f", f);
    tap_ok(!weft_load_imbalance(&g, &a, 1, NULL) && g == 1 && !weft_load_imbalance(&h, &a, 1000000, NULL) && h > 5e5,
           "one part is balanced, a million are not");
    weft_csr_free(&a);
    test_generate(&a, "dense:64,5", WEFT_TYPE_PATTERN);
    tap_ok(!weft_load_imbalance(&f, &a, 16, NULL) && f == 1, "equal rows in equal parts: 1");
    weft_csr_free(&a);
    if (weft_csr_alloc(&a, weft_shape(9, 9, 0, WEFT_TYPE_F32, WEFT_OFS_32)))
        tap_bail("out of host memory");
    tap_ok(!weft_load_imbalance(&f, &a, 4, NULL) && f == 1, "no entries: 1");
    weft_csr_free(&a);
}

static void test_errors(void)
{
    struct weft_error err = {0};
    struct weft_csr a;
    struct weft_measures f;
    int64_t count[10] = {0};
    double x;
    test_generate(&a, "band:10,3", WEFT_TYPE_F32);
    test_refused(weft_load_imbalance(&x, &a, 0, &err), WEFT_EINVAL, &err, "no parts");
    a.col[3] = 10;
    test_refused(weft_measure(&f, &a, 0, &err), WEFT_EMATRIX, &err, "a column out of range in all figures");
    test_refused(weft_row_histogram(count, &a, &err), WEFT_EMATRIX, &err, "the same in a histogram of rows");
    test_refused(weft_col_histogram(count, &a, 0, &err), WEFT_EMATRIX, &err, "and of columns");
    test_refused(weft_load_imbalance(&x, &a, 2, &err), WEFT_EMATRIX, &err, "and in parts");
    weft_csr_free(&a);
}

// ---- far more lines than entries -------------------------------------------------------------------------------

#define FAR_LINES   ((1 << 20) + 5)
#define FAR_ENTRIES 600

// Places of 300 entries and their mirrors, half of the mirrors left out or with another value.
static void far_make(struct weft_coo *out)
{
    if (weft_coo_alloc(out, weft_shape(.m = FAR_LINES, .n = FAR_LINES, .nnz = FAR_ENTRIES, .type = WEFT_TYPE_F32)))
        tap_bail("out of memory");
    for (int64_t p = 0; p < FAR_ENTRIES; p += 2) {
        const int32_t i = (int32_t)rng_below(&rng, FAR_LINES), j = p % 3 ? (int32_t)rng_below(&rng, FAR_LINES) : i / 2;
        const int mirrored = rng_below(&rng, 2) != 0;
        out->row[p] = i;
        out->col[p] = j;
        out->row[p + 1] = mirrored ? j : i;
        out->col[p + 1] = mirrored ? i : (int32_t)rng_below(&rng, FAR_LINES);
        ((float *)out->val)[p] = 1;
        ((float *)out->val)[p + 1] = (float)(1 + p % 4 / 2);
    }
}

// The figures by going through all pairs of entries. Places are distinct, or their values were added up.
static void far_expect(struct weft_measures *want, const struct weft_coo *a)
{
    int64_t places = 0, met = 0, equal = 0, lines = 0;
    *want = (struct weft_measures){.m = FAR_LINES, .n = FAR_LINES, .nnz = a->nnz};
    want->row.empty = want->col.empty = FAR_LINES;
    for (int64_t p = 0; p < a->nnz; p++) {
        int64_t i = a->row[p], j = a->col[p], first_row = 1, first_col = 1, first_place = 1, first_line = 1,
                mirrors = 0;
        double value = 0, mirrored = 0;
        for (int64_t q = 0; q < a->nnz; q++) {
            const int before = q < p;
            first_row &= !(before && a->row[q] == i);
            first_col &= !(before && a->col[q] == j);
            first_line &= !(before && a->col[q] / 16 == j / 16);
            first_place &= !(before && a->row[q] == i && a->col[q] == j);
            if (a->row[q] == i && a->col[q] == j)
                value += (double)((const float *)a->val)[q];
            if (a->row[q] == j && a->col[q] == i) {
                mirrors++;
                mirrored += (double)((const float *)a->val)[q];
            }
        }
        want->row.empty -= first_row;
        want->col.empty -= first_col;
        lines += first_line;
        want->lower = i - j > want->lower ? i - j : want->lower;
        want->upper = j - i > want->upper ? j - i : want->upper;
        if (first_place && i != j) {
            places++;
            met += mirrors > 0;
            equal += mirrors > 0 && value == mirrored;
        }
    }
    want->x_lines = (double)lines / (double)a->nnz;
    want->pattern_symmetry = (double)met / (double)places;
    want->value_symmetry = (double)equal / (double)places;
}

// Rows without entries left out of `a`: out->row_ptr, and the indices of the others.
static int32_t *far_compact(struct weft_csr *out, const struct weft_csr *a)
{
    int32_t *ptr = test_alloc((FAR_ENTRIES + 1) * sizeof *ptr), *row = test_alloc(FAR_ENTRIES * sizeof *row);
    *out = *a;
    out->m = 0;
    ptr[0] = 0;
    for (int64_t i = 0; i < a->m; i++)
        if (weft_csr_ofs(a, i + 1) > weft_csr_ofs(a, i)) {
            row[out->m++] = (int32_t)i;
            ptr[out->m] = (int32_t)weft_csr_ofs(a, i + 1);
        }
    out->row_ptr = ptr;
    return row;
}

static void test_far(void)
{
    struct weft_coo coo;
    struct weft_csr a, few;
    struct weft_measures want, got, rows;
    far_make(&coo);
    far_expect(&want, &coo);
    if (weft_csr_from_coo(&a, &coo, WEFT_OFS_32, NULL))
        tap_bail("out of memory");
    int32_t *row = far_compact(&few, &a);
    tap_ok(!weft_measure(&got, &a, 0, NULL) && !weft__measure(&rows, &few, row, a.m, 0, NULL),
           "far more lines than entries");
    tap_ok(got.row.empty == want.row.empty && got.col.empty == want.col.empty && got.row.quantile[3] == 0,
           "empty lines");
    tap_ok(got.lower == want.lower && got.upper == want.upper, "bandwidths");
    tap_ok(want.pattern_symmetry > 0.1 && test_near(got.pattern_symmetry, want.pattern_symmetry) &&
               test_near(got.value_symmetry, want.value_symmetry) && got.value_symmetry < got.pattern_symmetry,
           "symmetry %g and %g", got.pattern_symmetry, got.value_symmetry);
    tap_ok(test_near(got.x_lines, want.x_lines), "lines of x %g", got.x_lines);
    const double mean = (double)FAR_ENTRIES / FAR_LINES;
    double squares = 0;
    for (int64_t i = 0; i < a.m; i++) {
        const double off = (double)(weft_csr_ofs(&a, i + 1) - weft_csr_ofs(&a, i)) - mean;
        squares += off * off;
    }
    tap_ok(test_near(got.row.mean, mean) && test_near(got.row.deviation, sqrt(squares / FAR_LINES)), "deviation %g",
           got.row.deviation);
    tap_ok(rows.m == got.m && test_near(rows.row.deviation, got.row.deviation) && rows.row.empty == got.row.empty &&
               rows.lower == got.lower && rows.upper == got.upper && rows.profile == got.profile &&
               rows.spread == got.spread && rows.pattern_symmetry == got.pattern_symmetry &&
               rows.value_symmetry == got.value_symmetry && rows.entropy == got.entropy &&
               rows.bucket_rows == got.bucket_rows && rows.x_lines == got.x_lines &&
               rows.row.entropy == got.row.entropy && !memcmp(&rows.col, &got.col, sizeof got.col),
           "the same with the empty rows left out");
    for (int64_t parts = 1; parts <= 1000; parts *= 10) {
        double of_all, of_rows;
        tap_ok(!weft_load_imbalance(&of_all, &a, parts, NULL) &&
                   !weft__load_imbalance(&of_rows, &few, row, a.m, parts, NULL) && of_all == of_rows,
               "the fullest of %lld parts", (long long)parts);
    }
    free(row);
    free(few.row_ptr);
    weft_csr_free(&a);
    weft_coo_free(&coo);
    int32_t ptr[] = {0, 2}, col[] = {0, 1600, 1600}; // a third that is no entry
    a = (struct weft_csr){
        .m = 1, .n = FAR_LINES, .nnz = 2, .type = WEFT_TYPE_PATTERN, .ofs = WEFT_OFS_32, .row_ptr = ptr, .col = col};
    const weft_status status = weft_measure(&got, &a, 0, NULL);
    tap_ok(!status && got.x_lines == 1, "two entries, two lines of x: %g", got.x_lines);
}

int main(void)
{
    rng = rng_start();
    test_measures();
    test_imbalance();
    test_errors();
    test_far();
    return tap_done();
}
