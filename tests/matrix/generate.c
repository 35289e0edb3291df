// SPDX-License-Identifier: Apache-2.0
#include "host/internal/inside.h"
#include "tests/support/rng.h"
#include "tests/support/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/generate.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static double value(const struct weft_csr *a, int64_t p)
{
    return a->type == WEFT_TYPE_F32   ? (double)((float *)a->val)[p]
           : a->type == WEFT_TYPE_F64 ? ((double *)a->val)[p]
           : a->type == WEFT_TYPE_I32 ? ((int32_t *)a->val)[p]
                                      : 1;
}

static int make(struct weft_csr *a, const char *spec, const struct weft_generate_params *params)
{
    struct weft_error err = {0};
    weft_status status = weft_generate(a, spec, params, &err);
    if (status)
        tap_note("%s", err.text);
    return !status && !weft_csr_validate(a, NULL);
}

static int columns_ascend(const struct weft_csr *a, int strictly)
{
    for (int64_t i = 0; i < a->m; i++)
        for (int64_t p = weft_csr_ofs(a, i) + 1; p < weft_csr_ofs(a, i + 1); p++)
            if (a->col[p] < a->col[p - 1] + strictly)
                return 0;
    return 1;
}

// The hashes were taken when the generators were written; they may not change, on any machine.
static const struct known {
    const char *spec;
    int64_t m, n, nnz;
    uint64_t hash, hash_seed7; // f32, of seeds 0 and 7
} knowns[] = {
    {"uniform:1000,2000,150000", 1000, 2000, 150000, UINT64_C(0x813d681416ab264b), UINT64_C(0x6da0e2e621697719)},
    {"uniform:100000,100000,1000000", 100000, 100000, 1000000, UINT64_C(0x3aa572679f7210ac),
     UINT64_C(0xed056c218aef9ccf)},
    {"uniform:3,300000,200000", 3, 300000, 200000, UINT64_C(0x73dfa9c2634c7e0b), UINT64_C(0x88d6352692d4de2e)},
    {"heavy:1000,2000,150000,60000", 1000, 2000, 150000, UINT64_C(0xd7f73f49ba04871e), UINT64_C(0x15a84a48bd8a843a)},
    {"power:50000,50000,300000", 50000, 50000, 300000, UINT64_C(0xb85b7140a454a803), UINT64_C(0x2e3da397b355fc10)},
    {"power:10,7,100", 10, 7, 100, UINT64_C(0x633bd05ec9d5a13d), UINT64_C(0xbc3f5775d956b5d6)},
    {"web:50000,300000", 50000, 50000, 300000, UINT64_C(0xf82e3908a22fc64d), UINT64_C(0x4f21268cd8641d1d)},
    {"web:7,100", 7, 7, 100, UINT64_C(0x3bc39a9d3aee6317), UINT64_C(0xab7794fb27ef6af7)},
    {"stencil5:300", 90000, 90000, 448800, UINT64_C(0x974d8b451367b2d2), UINT64_C(0x974d8b451367b2d2)},
    {"stencil27:30", 27000, 27000, 681472, UINT64_C(0x6136e989b3923abe), UINT64_C(0x6136e989b3923abe)},
    {"band:20000,9", 20000, 20000, 179980, UINT64_C(0x2f9eda2ff248f8e5), UINT64_C(0xf88a4e7d29b2d3a1)},
    {"dense:200,700", 200, 700, 140000, UINT64_C(0xab9bd8a9b8b11065), UINT64_C(0x05957f198839cd2f)},
    {"rows:5000,3000,60000,7", 5000, 3000, 60000, UINT64_C(0x3482e7b6d888d4cf), UINT64_C(0xf644a6da2da09fac)},
    {"cols:5000,3000,60000,7", 5000, 3000, 60000, UINT64_C(0xc163d446570d71ec), UINT64_C(0xe5b0379e75f50d07)},
    {"rmat:30000,200000", 30000, 30000, 200000, UINT64_C(0xc5749875e228a086), UINT64_C(0x3eb2d74f5d60a0dc)},
    {"block:10000,180000,6", 10000, 10000, 180000, UINT64_C(0xce22f65e821b0133), UINT64_C(0x7b2787ab3e909f75)},
    {"kkt:20000,120000", 20000, 20000, 120000, UINT64_C(0x4c4efd3348b2eea3), UINT64_C(0x376db25892a1bc72)},
    {"circuit:20000,120000", 20000, 20000, 120000, UINT64_C(0x39eb06046aaad9e0), UINT64_C(0xcdd262e350527715)},
    {"lp:2000,20000,90000", 2000, 20000, 90000, UINT64_C(0x6612adf9a69a0bf2), UINT64_C(0x3fcc5a7df0e2e279)},
    {"arrow:9000,3", 9000, 9000, 62988, UINT64_C(0xe4f883ddb8b60199), UINT64_C(0xf307849825e1463a)},
    {"stencil7:30", 27000, 27000, 183600, UINT64_C(0x414ac8f603f5cae7), UINT64_C(0x414ac8f603f5cae7)},
    {"fem:9,3", 2187, 2187, 140625, UINT64_C(0x579547da518aeea1), UINT64_C(0x97fff2a5f52e8f86)},
    {"near:20000,150000,40", 20000, 20000, 150000, UINT64_C(0xfce8e3a772eb434a), UINT64_C(0x1f988a4a24f788f8)},
    {"stencil5:120+shuffled", 14400, 14400, 71520, UINT64_C(0x29abef20dbfdf30c), UINT64_C(0x2b383725fc4d3588)},
    {"band:20000,9+unsorted", 20000, 20000, 179980, UINT64_C(0x4b03d4e000f27da9), UINT64_C(0x6ff96d0ba2fa1b61)},
    {"uniform:300,70000,90000+shuffled+unsorted", 300, 70000, 90000, UINT64_C(0x7d4c225c7c82024b),
     UINT64_C(0xc6e46a98e996b053)},
};

// Generators that draw may draw an entry twice, and +unsorted leaves no order.
static int columns_repeat(const char *spec)
{
    static const char *const regular[] = {"stencil", "fem", "band", "dense", "arrow"};
    for (size_t i = 0; i < COUNT(regular); i++)
        if (!strncmp(spec, regular[i], strlen(regular[i])))
            return 0;
    return 1;
}

static void test_known(void)
{
    for (size_t i = 0; i < COUNT(knowns); i++) {
        const struct known *k = &knowns[i];
        struct weft_csr a, b;
        if (!tap_ok(make(&a, k->spec, NULL), "%s", k->spec))
            continue;
        tap_ok(a.m == k->m && a.n == k->n && a.nnz == k->nnz, "%s: sizes", k->spec);
        const int unsorted = strstr(k->spec, "+unsorted") != NULL;
        tap_ok(columns_ascend(&a, !columns_repeat(k->spec)) != unsorted, "%s: columns %s", k->spec,
               unsorted ? "do not ascend" : "ascend");
        if (!tap_ok(weft_csr_hash(&a) == k->hash, "%s: the matrix of seed 0", k->spec))
            tap_note("hash 0x%016llx", (unsigned long long)weft_csr_hash(&a));
        setenv("OMP_NUM_THREADS", "1", 1);
        tap_ok(make(&b, k->spec, NULL) && weft_csr_equal(&a, &b), "%s: the same from one thread", k->spec);
        weft_csr_free(&b);
        setenv("OMP_NUM_THREADS", "5", 1);
        tap_ok(make(&b, k->spec, NULL) && weft_csr_equal(&a, &b), "%s: the same from five", k->spec);
        weft_csr_free(&b);
        unsetenv("OMP_NUM_THREADS");
        tap_ok(make(&b, k->spec, weft_generate_params(.ofs = WEFT_OFS_64)) && weft_csr_hash(&b) == weft_csr_hash(&a),
               "%s: the same with 64-bit offsets", k->spec);
        weft_csr_free(&b);
        int made = make(&b, k->spec, weft_generate_params(.seed = 7));
        if (!tap_ok(made && weft_csr_hash(&b) == k->hash_seed7, "%s: the matrix of seed 7", k->spec))
            tap_note("hash 0x%016llx", (unsigned long long)weft_csr_hash(&b));
        weft_csr_free(&b);
        weft_csr_free(&a);
    }
}

static void test_values(void)
{
    static const char *const specs[] = {"uniform:100,100,5000", "power:100,100,5000", "band:1000,5", "dense:50,100"};
    for (size_t i = 0; i < COUNT(specs); i++)
        for (int type = WEFT_TYPE_F32; type <= WEFT_TYPE_PATTERN; type++)
            for (int integers = 0; integers < 2; integers++) {
                struct weft_csr a;
                int good = make(&a, specs[i], weft_generate_params(.type = (enum weft_type)type, .integers = integers));
                double low = 0, high = 0, sum = 0;
                for (int64_t p = 0; good && type != WEFT_TYPE_PATTERN && p < a.nnz; p++) {
                    double v = value(&a, p);
                    low = v < low ? v : low;
                    high = v > high ? v : high;
                    sum += v;
                    if (integers || type == WEFT_TYPE_I32)
                        good = v == (int)v && v != 0;
                }
                if (type == WEFT_TYPE_PATTERN)
                    good = good && !a.val;
                else if (integers || type == WEFT_TYPE_I32)
                    good = good && low == -8 && high == 8;
                else // 5000 values: the mean strays by 0.008 (one sigma)
                    good = good && low >= -1 && low < -0.99 && high < 1 && high > 0.99 && sum / 5000 < 0.05 &&
                           sum / 5000 > -0.05;
                tap_ok(good, "%s, %s: %s values", specs[i], weft_type_name((enum weft_type)type),
                       integers ? "integer" : "ordinary");
                weft_csr_free(&a);
            }
}

// Every pair of points of the grid: neighbours or not, by the definition.
// Grids: points of a stencil, those that lie beside one another along an axis alone (5, 7) or any way (27), the diagonal's value, and
// unknowns of a point, whose values are drawn where `diagonal` is 0.
static void test_grid(const char *spec, int64_t k, int points, int diagonal, int64_t unknowns)
{
    struct weft_csr a;
    const int64_t rows = (points == 5 ? k * k : k * k * k) * unknowns;
    int64_t p = 0;
    int good = make(&a, spec, weft_generate_params(.type = WEFT_TYPE_F64)) && a.m == rows && a.n == rows;
    for (int64_t r = 0; good && r < rows; r++) {
        good = weft_csr_ofs(&a, r) == p;
        for (int64_t c = 0; good && c < rows; c++) {
            const int64_t i = r / unknowns, j = c / unknowns;
            int64_t dx = llabs(i % k - j % k), dy = llabs(i / k % k - j / k % k), dz = llabs(i / k / k - j / k / k);
            int near = points < 27 ? dx + dy + dz <= 1 : dx <= 1 && dy <= 1 && dz <= 1;
            if (!near)
                continue;
            good = p < a.nnz && a.col[p] == c && (!diagonal || value(&a, p) == (r != c ? -1 : diagonal));
            p++;
        }
    }
    tap_ok(good && p == a.nnz, "%s: neighbours and values", spec);
    weft_csr_free(&a);
}

static void test_grids(void)
{
    char spec[64];
    for (int64_t k = 1; k <= 5; k++) {
        snprintf(spec, sizeof spec, "stencil5:%lld", (long long)(k * k));
        test_grid(spec, k * k, 5, 4, 1);
        snprintf(spec, sizeof spec, "stencil7:%lld", (long long)k);
        test_grid(spec, k, 7, 6, 1);
        snprintf(spec, sizeof spec, "stencil27:%lld", (long long)k);
        test_grid(spec, k, 27, 26, 1);
        snprintf(spec, sizeof spec, "fem:%lld,%lld", (long long)k, (long long)(6 - k));
        test_grid(spec, k, 27, 0, 6 - k);
    }
}

// Columns anywhere within W of the diagonal, as many on either side, out to W.
static void test_near(void)
{
    struct weft_csr a;
    int64_t most = 0, above = 0, half = 0;
    int good = make(&a, "near:20000,400000,300", NULL) && a.nnz == 400000;
    for (int64_t i = 0; good && i < a.m; i++)
        for (int64_t p = weft_csr_ofs(&a, i); p < weft_csr_ofs(&a, i + 1); p++) {
            const int64_t away = llabs(a.col[p] - i);
            most = away > most ? away : most;
            above += a.col[p] > i;
            half += away <= 150;
        }
    tap_ok(good && most == 300 && llabs(above - 200000) < 3000 && llabs(half - 200000) < 3000,
           "near: %lld of 400000 above the diagonal, %lld within 150 of it, the farthest %lld away", (long long)above,
           (long long)half, (long long)most);
    weft_csr_free(&a);
}

static void test_band(int64_t n, int64_t width)
{
    char spec[64];
    struct weft_csr a;
    snprintf(spec, sizeof spec, "band:%lld,%lld", (long long)n, (long long)width);
    int64_t p = 0;
    int good = make(&a, spec, NULL) && a.m == n && a.n == n;
    for (int64_t i = 0; good && i < n; i++)
        for (int64_t j = 0; good && j < n; j++)
            if (llabs(i - j) <= width / 2) {
                good = p < a.nnz && p >= weft_csr_ofs(&a, i) && p < weft_csr_ofs(&a, i + 1) && a.col[p] == j;
                p++;
            }
    tap_ok(good && p == a.nnz, "%s: its diagonals", spec);
    weft_csr_free(&a);
}

static void test_uniform(void)
{
    struct weft_csr a;
    int64_t most = 0, least = INT64_MAX, *count = calloc(64, sizeof *count);
    if (!make(&a, "uniform:64,64,640000", NULL) || !count)
        tap_bail("uniform:64,64,640000");
    for (int64_t i = 0; i < 64; i++) {
        int64_t length = weft_csr_ofs(&a, i + 1) - weft_csr_ofs(&a, i);
        most = length > most ? length : most;
        least = length < least ? length : least;
    }
    for (int64_t p = 0; p < a.nnz; p++)
        count[a.col[p]]++;
    for (int64_t j = 0; j < 64; j++) {
        most = count[j] > most ? count[j] : most;
        least = count[j] < least ? count[j] : least;
    }
    // 10000 expected, one sigma is 99
    tap_ok(most < 10600 && least > 9400, "uniform: rows and columns are equally full (%lld to %lld)", (long long)least,
           (long long)most);
    free(count);
    weft_csr_free(&a);
}

// Entries of the rows from `first` in steps of `step`, K of them: about half of all, in rows or (by the transpose) columns.
static void test_lines(const char *spec, int cols)
{
    struct weft_csr a;
    if (!make(&a, spec, weft_generate_params(.type = WEFT_TYPE_PATTERN)))
        tap_bail("%s", spec);
    const int64_t lines = cols ? a.n : a.m;
    int64_t full = 0, sum = 0, *count = calloc((size_t)lines, sizeof *count);
    if (!count)
        tap_bail("out of memory");
    for (int64_t i = 0; i < a.m; i++)
        for (int64_t p = weft_csr_ofs(&a, i); p < weft_csr_ofs(&a, i + 1); p++)
            count[cols ? a.col[p] : i]++;
    for (int64_t l = 0; l < lines; l++)
        if (count[l] > 1000) {
            full++;
            sum += count[l];
        }
    tap_ok(full == 7 && sum > a.nnz / 2 && sum < a.nnz * 51 / 100, "%s: %lld full lines with %lld entries", spec,
           (long long)full, (long long)sum);
    free(count);
    weft_csr_free(&a);
}

// Entry (i, j) once for each (j, i).
static void test_symmetric(const char *spec)
{
    struct weft_csr a, at;
    int good = make(&a, spec, weft_generate_params(.type = WEFT_TYPE_PATTERN)) && !weft__ref_transpose(&at, &a);
    tap_ok(good && weft_csr_equal(&a, &at), "%s: symmetric", spec);
    weft_csr_free(&a);
    weft_csr_free(&at);
}

// Whole squares: the columns of the first row of a square stand in all of its rows.
static void test_block(void)
{
    struct weft_csr a;
    int good = make(&a, "block:700,9000,5", weft_generate_params(.type = WEFT_TYPE_PATTERN));
    for (int64_t i = 0; good && i < a.m; i++) {
        const int64_t first = weft_csr_ofs(&a, i / 5 * 5), p = weft_csr_ofs(&a, i), n = weft_csr_ofs(&a, i + 1) - p;
        good = n % 5 == 0 && !memcmp(a.col + first, a.col + p, (size_t)n * sizeof *a.col);
        for (int64_t k = 0; good && k < n; k++)
            good = a.col[p + k] / 5 * 5 + 4 < a.n;
    }
    tap_ok(good, "block:700,9000,5: whole squares");
    weft_csr_free(&a);
}

// Most entries of R-MAT lie in the first quarter, 0.57 of them, and as many of that in its first quarter.
static void test_rmat(void)
{
    struct weft_csr a;
    int64_t quarter = 0, sixteenth = 0;
    if (!make(&a, "rmat:4096,400000", weft_generate_params(.type = WEFT_TYPE_PATTERN)))
        tap_bail("rmat");
    for (int64_t i = 0; i < a.m; i++)
        for (int64_t p = weft_csr_ofs(&a, i); p < weft_csr_ofs(&a, i + 1); p++) {
            quarter += i < a.m / 2 && a.col[p] < a.n / 2;
            sixteenth += i < a.m / 4 && a.col[p] < a.n / 4;
        }
    tap_ok(llabs(quarter - 228000) < 2000 && llabs(sixteenth - 129960) < 2000, "rmat: %lld, %lld of 400000",
           (long long)quarter, (long long)sixteenth);
    weft_csr_free(&a);
}

// The same rows in another order: lengths of rows, and values, as often as before; symmetric as before.
static void test_shuffled(void)
{
    struct weft_csr a, b;
    if (!make(&a, "stencil5:40", NULL) || !make(&b, "stencil5:40+shuffled", NULL))
        tap_bail("shuffled");
    int64_t lengths[2][8] = {{0}}, diagonal = 0, moved = 0;
    for (int64_t i = 0; i < a.m; i++) {
        lengths[0][weft_csr_ofs(&a, i + 1) - weft_csr_ofs(&a, i)]++;
        lengths[1][weft_csr_ofs(&b, i + 1) - weft_csr_ofs(&b, i)]++;
        for (int64_t p = weft_csr_ofs(&b, i); p < weft_csr_ofs(&b, i + 1); p++) {
            diagonal += b.col[p] == i && value(&b, p) == 4;
            moved += llabs(b.col[p] - i) > 40;
        }
    }
    tap_ok(!memcmp(lengths[0], lengths[1], sizeof lengths[0]) && diagonal == b.m && moved > b.nnz / 2,
           "shuffled: the same rows, %lld of %lld entries far from the diagonal", (long long)moved, (long long)b.nnz);
    weft_csr_free(&a);
    weft_csr_free(&b);
    test_symmetric("stencil5:40+shuffled");
}

// The same entries, each with its value, in another order within the row.
static void test_unsorted(void)
{
    struct weft_csr a, b;
    if (!make(&a, "uniform:50,4000,30000", NULL) || !make(&b, "uniform:50,4000,30000+unsorted", NULL))
        tap_bail("unsorted");
    int64_t sum[2] = {0}, moved = 0;
    int good = !memcmp(a.row_ptr, b.row_ptr, ((size_t)a.m + 1) * 4);
    for (int64_t p = 0; p < a.nnz; p++) {
        sum[0] += (int64_t)(value(&a, p) * 0x1p23) * (a.col[p] + 1);
        sum[1] += (int64_t)(value(&b, p) * 0x1p23) * (b.col[p] + 1);
        moved += a.col[p] != b.col[p];
    }
    tap_ok(good && sum[0] == sum[1] && moved > a.nnz * 9 / 10, "unsorted: values stay with their columns");
    weft_csr_free(&a);
    weft_csr_free(&b);
}

static int descending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

// A power law with exponent 2: the k-th heaviest has a degree close to proportional to 1/k.
static void power_check(int64_t *degree, int64_t count, int64_t nnz, const char *what)
{
    int64_t heavy = 0, others = 0, close = 0;
    for (int64_t i = 0; i < count; i++)
        heavy = degree[i] > degree[heavy] ? i : heavy;
    for (int64_t i = 0; i < count; i++)
        if (i != heavy && degree[i] * 3 > degree[heavy]) {
            others++;
            close += llabs(i - heavy) < count / 64;
        }
    tap_ok(others > 8 && close * 8 < others, "power: of %lld other heavy %s %lld are close to the heaviest",
           (long long)others, what, (long long)close);
    qsort(degree, (size_t)count, sizeof *degree, descending);
    double ratio = (double)degree[999] / (double)degree[9999];
    tap_ok(ratio > 7 && ratio < 13, "power: degree of %s number 1000 against 10000: %.1f", what, ratio);
    double share = (double)degree[0] / (double)nnz;
    tap_ok(share > 0.0005 && share < 0.02, "power: the heaviest of the %s holds %.2f %% of the entries", what,
           100 * share);
    tap_ok(degree[count - count / 10] == 0, "power: some %s are empty", what);
}

static void test_power(void)
{
    struct weft_csr a;
    if (!make(&a, "power:300000,200000,1500000", weft_generate_params(.type = WEFT_TYPE_PATTERN)))
        tap_bail("power:300000,200000,1500000");
    int64_t *rows = calloc((size_t)a.m, sizeof *rows), *cols = calloc((size_t)a.n, sizeof *cols);
    if (!rows || !cols)
        tap_bail("out of memory");
    for (int64_t i = 0; i < a.m; i++)
        rows[i] = weft_csr_ofs(&a, i + 1) - weft_csr_ofs(&a, i);
    for (int64_t p = 0; p < a.nnz; p++)
        cols[a.col[p]]++;
    power_check(rows, a.m, a.nnz, "rows");
    power_check(cols, a.n, a.nnz, "columns");
    free(rows);
    free(cols);
    weft_csr_free(&a);
}

static void test_edges(void)
{
    static const struct {
        const char *spec;
        int64_t m, n, nnz;
    } cases[] = {{"uniform:0,0,0", 0, 0, 0},
                 {"uniform:5,0,0", 5, 0, 0},
                 {"uniform:1,1,1000", 1, 1, 1000},
                 {"uniform:1,2147483647,100", 1, 2147483647, 100},
                 {"rows:0,4,0,0", 0, 4, 0},
                 {"rows:1,1,9,1", 1, 1, 9},
                 {"cols:3,2,9,2", 3, 2, 9},
                 {"rmat:1,5", 1, 1, 5},
                 {"rmat:3,100", 3, 3, 100},
                 {"block:5,7,5", 5, 5, 7},
                 {"kkt:1,5", 1, 1, 5},
                 {"kkt:7,2", 7, 7, 2},
                 {"circuit:1,5", 1, 1, 5},
                 {"circuit:3,100", 3, 3, 100},
                 {"lp:1,1,9", 1, 1, 9},
                 {"lp:7,2147483647,99", 7, 2147483647, 99},
                 {"arrow:0,0", 0, 0, 0},
                 {"arrow:4,4", 4, 4, 16},
                 {"arrow:4,0", 4, 4, 4},
                 {"uniform:0,0,0+shuffled+unsorted", 0, 0, 0},
                 {"uniform:1,9,9+unsorted+shuffled", 1, 9, 9},
                 {"power:0,4,0", 0, 4, 0},
                 {"power:1,1,10", 1, 1, 10},
                 {"power:2,2147483647,100000", 2, 2147483647, 100000},
                 {"power:3,3,0", 3, 3, 0},
                 {"stencil5:0", 0, 0, 0},
                 {"stencil27:1", 1, 1, 1},
                 {"stencil7:0", 0, 0, 0},
                 {"fem:0,3", 0, 0, 0},
                 {"near:0,0,0", 0, 0, 0},
                 {"near:3,9,0", 3, 3, 9},
                 {"near:1,9,1", 1, 1, 9},
                 {"band:0,1", 0, 0, 0},
                 {"band:1,99", 1, 1, 1},
                 {"band:4,99999999999", 4, 4, 16},
                 {"dense:0,9", 0, 9, 0},
                 {"dense:9,0", 9, 0, 0}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct weft_csr a;
        tap_ok(make(&a, cases[i].spec, NULL) && a.m == cases[i].m && a.n == cases[i].n && a.nnz == cases[i].nnz, "%s",
               cases[i].spec);
        weft_csr_free(&a);
    }
}

static void test_errors(void)
{
    static const struct {
        const char *spec;
        weft_status status;
        const char *message;
    } cases[] = {{"", WEFT_EINVAL, "expected uniform:M,N,NNZ, heavy"},
                 {"random:1,1,1", WEFT_EINVAL, "expected uniform:M,N,NNZ, heavy"},
                 {"uniform", WEFT_EINVAL, "expected uniform:M,N,NNZ"},
                 {"uniform:", WEFT_EINVAL, "expected uniform:M,N,NNZ"},
                 {"uniform:1,1", WEFT_EINVAL, "expected uniform:M,N,NNZ"},
                 {"uniform:1,1,1,1", WEFT_EINVAL, "expected uniform:M,N,NNZ"},
                 {"uniform:-1,1,1", WEFT_EINVAL, "expected uniform:M,N,NNZ"},
                 {"uniform:1, 1,1", WEFT_EINVAL, "expected uniform:M,N,NNZ"},
                 {"uniform:1,1,1x", WEFT_EINVAL, "expected uniform:M,N,NNZ"},
                 {"heavy:5,5,10", WEFT_EINVAL, "expected heavy:M,N,NNZ,ROW"},
                 {"heavy:5,5,10,11", WEFT_EINVAL, "more than all entries"},
                 {"rows:5,5,9,6", WEFT_EINVAL, "1 to 5"},
                 {"cols:5,4,9,0", WEFT_EINVAL, "1 to 4"},
                 {"block:5,9,6", WEFT_EINVAL, "1 to 5"},
                 {"arrow:5,6", WEFT_EINVAL, "0 to 5"},
                 {"rmat:5", WEFT_EINVAL, "expected rmat:M,NNZ"},
                 {"kkt:0,5", WEFT_EINVAL, "without rows or columns"},
                 {"lp:5,5,5+sorted", WEFT_EINVAL, "+shuffled or +unsorted"},
                 {"lp:5,5,5+", WEFT_EINVAL, "+shuffled or +unsorted"},
                 {"rmta:5,5", WEFT_EINVAL, "did you mean rmat?"},
                 {"web:5", WEFT_EINVAL, "expected web:M,NNZ"},
                 {"web:5,5,5", WEFT_EINVAL, "expected web:M,NNZ"},
                 {"web:0,5", WEFT_EINVAL, "without rows or columns"},
                 {"web:2147483648,5", WEFT_ERANGE, "limited to 2147483647"},
                 {"web:5,2147483648", WEFT_ERANGE, "32-bit offsets"},
                 {"uniform:0,5,1", WEFT_EINVAL, "without rows or columns"},
                 {"power:5,0,1", WEFT_EINVAL, "without rows or columns"},
                 {"uniform:2147483648,1,0", WEFT_ERANGE, "limited to 2147483647"},
                 {"uniform:1,2147483648,0", WEFT_ERANGE, "limited to 2147483647"},
                 {"uniform:1,1,2147483648", WEFT_ERANGE, "32-bit offsets"},
                 {"uniform:1,1,99999999999999999999", WEFT_ERANGE, "exceeds 64 bits"},
                 {"dense:100000,100000", WEFT_ERANGE, "32-bit offsets"},
                 {"stencil5:46341", WEFT_ERANGE, "limited to 2147483647"},
                 {"stencil27:1291", WEFT_ERANGE, "limited to 2147483647"},
                 {"stencil27:2147483647", WEFT_ERANGE, "limited to 2147483647"},
                 {"near:5,9,6", WEFT_EINVAL, "0 to 5"},
                 {"near:0,5,0", WEFT_EINVAL, "without rows or columns"},
                 {"fem:5", WEFT_EINVAL, "expected fem:K,D"},
                 {"fem:5,0", WEFT_EINVAL, "at least one unknown"},
                 {"fem:1291,1", WEFT_ERANGE, "limited to 2147483647"},
                 {"fem:2,9223372036854775807", WEFT_ERANGE, "limited to 2147483647"},
                 {"fem:9223372036854775807,2", WEFT_ERANGE, "limited to 2147483647"},
                 {"fem:2,6000", WEFT_ERANGE, "32-bit offsets"},
                 {"stencil7:1291", WEFT_ERANGE, "limited to 2147483647"},
                 {"band:10,4", WEFT_EINVAL, "must be odd"},
                 {"band:2147483648,1", WEFT_ERANGE, "limited to 2147483647"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct weft_csr a;
        struct weft_error err = {0};
        weft_status status = weft_generate(&a, cases[i].spec, NULL, &err);
        if (!tap_ok(status == cases[i].status && strstr(err.text, cases[i].message) && !a.row_ptr, "refused: '%s'",
                    cases[i].spec))
            tap_note("status %d, \"%s\"", status, err.text);
    }
    struct weft_csr a;
    tap_is_int(weft_generate(&a, NULL, NULL, NULL), WEFT_EINVAL, "no specification");
    tap_is_int(weft_generate(&a, "dense:1,1", weft_generate_params(.type = (enum weft_type)9), NULL), WEFT_EINVAL,
               "unknown type");
}

int main(void)
{
    test_known();
    test_values();
    test_grids();
    test_near();
    test_band(30, 1);
    test_band(30, 7);
    test_band(30, 29);
    test_band(30, 59);
    test_band(30, 61);
    test_band(30, 1001);
    test_uniform();
    test_power();
    test_lines("rows:5000,3000,60000,7", 0);
    test_lines("cols:5000,3000,60000,7", 1);
    test_symmetric("kkt:2001,12001");
    test_symmetric("circuit:2001,12001");
    test_symmetric("arrow:200,3");
    test_block();
    test_rmat();
    test_shuffled();
    test_unsorted();
    test_edges();
    test_errors();
    return tap_done();
}
