// SPDX-License-Identifier: Apache-2.0
// Transposition on the host: the serial oracle against the definition, and every multi-threaded algorithm against the
// oracle for all types, many shapes and several numbers of threads.
#include "backends/backend.h"
#include "host/internal/inside.h"
#include "tests/support/rng.h"
#include "tests/support/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum pattern {
    UNIFORM,    // rows and columns at random: duplicates, columns in any order
    ONE_ROW,    // all entries in the middle row
    ONE_COLUMN, // all entries in the middle column
    LAST_ROW,   // all entries in the last row
    HEAVY,      // half of the entries in one column, half of the rest in one row
    BAND,       // columns near the diagonal
    CORNERS,    // entries in the first and last row and column
};

struct shape {
    int64_t m, n, nnz;
    enum pattern pattern;
};

static void put(int64_t m, int64_t n, enum pattern pattern, struct rng *rng, int32_t *row, int32_t *col)
{
    int64_t i = rng_between(rng, 0, m - 1), j = rng_between(rng, 0, n - 1);
    switch (pattern) {
    case UNIFORM:
        break;
    case ONE_ROW:
        i = m / 2;
        break;
    case ONE_COLUMN:
        j = n / 2;
        break;
    case LAST_ROW:
        i = m - 1;
        break;
    case HEAVY:
        if (rng_below(rng, 2))
            j = n / 3;
        else if (rng_below(rng, 2))
            i = m / 3;
        break;
    case BAND:
        j = i * n / m + rng_between(rng, -2, 2);
        j = j < 0 ? 0 : j >= n ? n - 1 : j;
        break;
    case CORNERS:
        i = rng_below(rng, 2) ? 0 : m - 1;
        j = rng_below(rng, 2) ? 0 : n - 1;
        break;
    }
    *row = (int32_t)i;
    *col = (int32_t)j;
}

// A matrix of the shape whose value number p, in the order of rows, has the bits of p: two entries that change places
// are seen even when they are duplicates.
static void make(struct weft_csr *out, struct shape shape, enum weft_type type, enum weft_ofs ofs, struct rng *rng)
{
    struct weft_coo coo;
    struct weft_error err = {0};
    if (weft_coo_alloc(&coo, weft_shape(.m = shape.m, .n = shape.n, .nnz = shape.nnz, .type = type)))
        tap_bail("no memory");
    for (int64_t p = 0; p < shape.nnz; p++)
        put(shape.m, shape.n, shape.pattern, rng, &coo.row[p], &coo.col[p]);
    size_t bytes = weft_type_bytes(type);
    if (bytes)
        memset(coo.val, 0, (size_t)shape.nnz * bytes);
    if (weft_csr_from_coo(out, &coo, ofs, &err))
        tap_bail("%s", err.text);
    weft_coo_free(&coo);
    for (int64_t p = 0; bytes && p < shape.nnz; p++)
        if (bytes == 8)
            ((uint64_t *)out->val)[p] = (uint64_t)p;
        else
            ((uint32_t *)out->val)[p] = (uint32_t)p;
}

// The definition: entries (row, col) of A are entries (col, row) of A^T; sorted by col, then by position in A.
struct entry {
    int32_t row, col;
    int64_t pos;
};

static int entry_compare(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    return a->col != b->col ? (a->col > b->col) - (a->col < b->col) : (a->pos > b->pos) - (a->pos < b->pos);
}

static int obeys_definition(const struct weft_csr *a, const struct weft_csr *at)
{
    if (at->m != a->n || at->n != a->m || at->nnz != a->nnz || at->type != a->type || at->ofs != a->ofs ||
        weft_csr_validate(at, NULL))
        return 0;
    struct entry *entries = malloc(((size_t)a->nnz + 1) * sizeof *entries);
    for (int64_t i = 0; i < a->m; i++)
        for (int64_t p = weft_csr_ofs(a, i); p < weft_csr_ofs(a, i + 1); p++)
            entries[p] = (struct entry){(int32_t)i, a->col[p], p};
    qsort(entries, (size_t)a->nnz, sizeof *entries, entry_compare);
    size_t bytes = weft_type_bytes(a->type);
    int good = 1;
    for (int64_t j = 0; j < at->m; j++)
        for (int64_t p = weft_csr_ofs(at, j); p < weft_csr_ofs(at, j + 1); p++)
            good &= entries[p].col == j && entries[p].row == at->col[p] &&
                    (!bytes || !memcmp((char *)at->val + (size_t)p * bytes,
                                       (char *)a->val + (size_t)entries[p].pos * bytes, bytes));
    free(entries);
    return good;
}

// Is `at` what the oracle makes of `a`, bit for bit? If not, `why` (256 bytes) names the first difference.
static int agrees(const struct weft_csr *a, const struct weft_csr *at, char *why)
{
    struct weft_csr want;
    if (weft__ref_transpose(&want, a))
        tap_bail("no memory");
    int same = weft_csr_equal(&want, at);
    snprintf(why, 256, "%s", "shape, type or a value differs");
    if (!same && want.m == at->m && want.nnz == at->nnz) {
        for (int64_t p = want.nnz - 1; p >= 0; p--)
            if (want.col[p] != at->col[p])
                snprintf(why, 256, "col[%lld] is %d, not %d", (long long)p, at->col[p], want.col[p]);
        for (int64_t j = want.m; j >= 0; j--)
            if (weft_csr_ofs(&want, j) != weft_csr_ofs(at, j))
                snprintf(why, 256, "row_ptr[%lld] is %lld, not %lld", (long long)j, (long long)weft_csr_ofs(at, j),
                         (long long)weft_csr_ofs(&want, j));
    }
    weft_csr_free(&want);
    return same;
}

static const struct shape shapes[] = {
    {0, 0, 0, UNIFORM},          {0, 5, 0, UNIFORM},           {5, 0, 0, UNIFORM},
    {1, 1, 0, UNIFORM},          {1, 1, 1, UNIFORM},           {1, 1, 9, UNIFORM},
    {7, 3, 0, UNIFORM},          {1, 40, 25, UNIFORM},         {40, 1, 25, UNIFORM},
    {3, 3, 50, UNIFORM},         {13, 29, 40, UNIFORM},        {500, 9, 300, UNIFORM},
    {9, 500, 300, UNIFORM},      {64, 64, 64, ONE_ROW},        {64, 64, 64, ONE_COLUMN},
    {1000, 1000, 3000, ONE_ROW}, {1000, 1000, 3000, LAST_ROW}, {1000, 1000, 3000, ONE_COLUMN},
    {900, 700, 5000, HEAVY},     {1000, 800, 4000, BAND},      {2000, 2000, 100, CORNERS},
    {1, 3000, 5000, UNIFORM},    {3000, 1, 5000, UNIFORM},     {40, 30000, 60, UNIFORM},
    {30000, 40, 60, LAST_ROW},   {1025, 1023, 4096, UNIFORM},  {700, 5000, 20000, UNIFORM},
};

static void oracle_test(struct rng *rng)
{
    int good = 1, refused = 0;
    char why[256];
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (int type = WEFT_TYPE_F32; type <= WEFT_TYPE_PATTERN; type++)
            for (int ofs = WEFT_OFS_32; ofs <= WEFT_OFS_64; ofs++) {
                struct weft_csr a, at;
                make(&a, shapes[k], (enum weft_type)type, (enum weft_ofs)ofs, rng);
                if (weft__ref_transpose(&at, &a))
                    tap_bail("no memory");
                good &= obeys_definition(&a, &at) && agrees(&a, &at, why);
                if (a.nnz) { // the comparison that all other tests trust sees one wrong bit
                    at.col[a.nnz / 2] ^= 1;
                    refused |= !agrees(&a, &at, why) && strstr(why, "col[");
                    good &= !obeys_definition(&a, &at);
                }
                weft_csr_free(&a);
                weft_csr_free(&at);
            }
    tap_ok(good, "the serial transpose obeys the definition");
    tap_ok(refused, "a wrong column is named: %s", why);
}

// Transpose `a` twice with one plan and compare; prints what differs. Gives 1 when all is well.
static int run_matches(const struct weft_backend_transpose *ops, const struct weft_csr *a, const char *algo,
                       struct weft_backend_times *times)
{
    void *state;
    struct weft_error err = {0};
    int good = 1;
    if (ops->prepare(&state, NULL, a, algo, NULL, times, &err)) {
        tap_note("prepare: %s", err.text);
        return 0;
    }
    for (int turn = 0; good && turn < 2; turn++) {
        double ms = -1;
        struct weft_csr at;
        char why[256] = "";
        if (ops->run(state, &ms, &err) || ops->result(state, &at, times, &err)) {
            tap_note("run: %s", err.text);
            good = 0;
            break;
        }
        good = ms >= 0 && agrees(a, &at, why);
        if (!good)
            tap_note("%lld x %lld, %lld entries, %s, %zu-byte offsets, turn %d, %g ms: %s", (long long)a->m,
                     (long long)a->n, (long long)a->nnz, weft_type_name(a->type), weft_ofs_bytes(a->ofs), turn, ms,
                     why);
        weft_csr_free(&at);
    }
    ops->finish(&state);
    return good && !state;
}

static void threads_set(int threads)
{
#ifdef _OPENMP
    omp_set_num_threads(threads);
#else
    (void)threads;
#endif
}

// All algorithms of a backend on all shapes and types and on random shapes.
static void backend_test(const struct weft_backend *backend, struct rng *rng)
{
    static const int threads[] = {1, 2, 3, 7, 33};
    const struct weft_backend_transpose *ops = &backend->transpose;
    for (int k = 0; ops->algos[k]; k++)
        for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
            int good = 1;
            threads_set(threads[t]);
            for (size_t s = 0; s < sizeof shapes / sizeof *shapes + 20; s++)
                for (int kind = 0; kind < 8; kind++) {
                    struct shape shape = {rng_between(rng, 1, 3000), rng_between(rng, 1, 3000),
                                          rng_between(rng, 0, 9000), (enum pattern)rng_below(rng, CORNERS + 1)};
                    struct weft_csr a;
                    struct weft_backend_times times = {0};
                    make(&a, s < sizeof shapes / sizeof *shapes ? shapes[s] : shape, (enum weft_type)(kind % 4),
                         (enum weft_ofs)(kind / 4), rng);
                    good &= run_matches(ops, &a, ops->algos[k], &times);
                    weft_csr_free(&a);
                }
            tap_ok(good, "%s %s, %d threads: all shapes and types", backend->name, ops->algos[k], threads[t]);
        }
}

// Shapes that are large enough to be cut into many buckets and rounds.
static void large_test(const struct weft_backend *backend, struct rng *rng)
{
    static const struct shape large[] = {
        {300000, 300000, 600000, UNIFORM}, {200000, 70000, 600000, HEAVY}, {30, 1000000, 400000, UNIFORM},
        {1000000, 30, 400000, UNIFORM},    {100000, 99999, 500000, BAND},
    };
    const struct weft_backend_transpose *ops = &backend->transpose;
    for (int k = 0; ops->algos[k]; k++)
        for (size_t s = 0; s < sizeof large / sizeof *large; s++) {
            struct weft_csr a;
            struct weft_backend_times times = {0};
            make(&a, large[s], s % 2 ? WEFT_TYPE_F64 : WEFT_TYPE_F32, s % 3 ? WEFT_OFS_32 : WEFT_OFS_64, rng);
            threads_set(s % 2 ? 3 : 18);
            tap_ok(run_matches(ops, &a, ops->algos[k], &times), "%s %s: %lld x %lld, %lld entries", backend->name,
                   ops->algos[k], (long long)a.m, (long long)a.n, (long long)a.nnz);
            tap_ok(times.workspace_bytes > 0, "its workspace is reported: %lld bytes",
                   (long long)times.workspace_bytes);
            weft_csr_free(&a);
        }
}

static void errors_test(const struct weft_backend *backend, struct rng *rng)
{
    const struct weft_backend_transpose *ops = &backend->transpose;
    struct weft_csr a;
    struct weft_backend_times times = {0};
    struct weft_error err = {0};
    void *state = &a;
    make(&a, (struct shape){10, 10, 30, UNIFORM}, WEFT_TYPE_F32, WEFT_OFS_32, rng);
    tap_ok(ops->prepare(&state, NULL, &a, "nonsense", NULL, &times, &err) == WEFT_EINVAL && !state &&
               strstr(err.text, "\"nonsense\""),
           "%s refuses an unknown algorithm: %s", backend->name, err.text);
    tap_ok(run_matches(ops, &a, NULL, &times), "%s without a name runs its default", backend->name);
    ops->finish(&state);
    ops->finish(NULL);
    weft_csr_free(&a);
}

// What auto chooses, and that few entries in many columns do not buy each thread a counter for every column.
static void choice_test(const struct weft_backend *backend, struct rng *rng)
{
    static const struct {
        struct shape shape;
        int threads;
        const char *algo, *chosen;
    } cases[] = {
        {{1000000, 1000000, 1000000, UNIFORM}, 3, "auto", "radix, 3 threads"},
        {{200000, 200000, 1000000, BAND}, 3, "auto", "scan, 3 threads"},
        {{100, 100, 1000, UNIFORM}, 3, "auto", "scan, 1 thread"},
        {{100, 2000000, 1000, UNIFORM}, 32, "scan", "scan, 1 thread"},
        {{100, 2000000, 1000, UNIFORM}, 32, "merge", "merge, 1 thread"},
        {{1000, 1000, 5000, UNIFORM}, 3, "scan", ""},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct weft_csr a;
        struct weft_backend_times times = {0};
        make(&a, cases[k].shape, WEFT_TYPE_F32, WEFT_OFS_32, rng);
        threads_set(cases[k].threads);
        int good = run_matches(&backend->transpose, &a, cases[k].algo, &times);
        tap_ok(good, "%s: %lld x %lld, %lld entries", cases[k].algo, (long long)a.m, (long long)a.n, (long long)a.nnz);
        tap_is_str(times.chosen, cases[k].chosen, "chosen of %d threads", cases[k].threads);
        weft_csr_free(&a);
    }
}

int main(void)
{
    struct rng rng = rng_start();
    struct weft_error err = {0};
    oracle_test(&rng);
    tap_ok(!weft__backend_ref.probe(NULL, &err), "ref runs everywhere");
    backend_test(&weft__backend_ref, &rng);
    errors_test(&weft__backend_ref, &rng);
    if (weft__backend_omp.probe(NULL, &err)) {
        tap_ok(!weft__backend_omp.transpose.algos && *err.text, "omp says why it cannot run: %s", err.text);
        return tap_done();
    }
    backend_test(&weft__backend_omp, &rng);
    large_test(&weft__backend_omp, &rng);
    errors_test(&weft__backend_omp, &rng);
    choice_test(&weft__backend_omp, &rng);
    return tap_done();
}
