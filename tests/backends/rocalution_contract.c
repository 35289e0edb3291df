// SPDX-License-Identifier: Apache-2.0
// A contract test, not a result: the backend `rocalution` against a stand-in of rocALUTION, with each call failing once.
#include "backends/backend.h"
#include "host/common/check_spmv.h"
#include "host/internal/inside.h"
#include "standin/gpu.h"
#include "tests/support/csr.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

static const struct weft_backend *const backend = &weft__backend_rocalution;
static struct rng rng;

void standin_reset_runtime(void)
{
}

// Nonzero where nothing is alive, no rule was broken and the threads are as before; else says what.
static int clean(const char *what)
{
    const char *complaint = standin_complaint();
    const int good = !complaint && !standin_alive() && omp_get_max_threads() == 3;
    if (!good)
        tap_note("%s: %ld alive, %d threads, %s", what, standin_alive(), omp_get_max_threads(),
                 complaint ? complaint : "no complaint");
    return good;
}

static const struct {
    int64_t m, n, nnz;
} shapes[] = {{1, 1, 1}, {1, 300, 200}, {300, 1, 200}, {33, 31, 1000}, {70, 90, 2000}, {257, 255, 90}, {8, 1000, 70}};

struct tally {
    int right, refused, wrong;
};

// What a case came to: `fail` is the call that was to fail, 0: none.
static void count(struct tally *t, weft_status status, int right, long fail, const struct weft_error *err)
{
    const int said = err->text[0] && !strchr(err->text, '\n');
    const int kept = clean(err->text);
    if (kept && (fail ? status == WEFT_ENOMEM && said : !status && right))
        t->right++;
    else if (kept && !fail && status == WEFT_EUNSUPPORTED && said)
        t->refused++;
    else if (t->wrong++ < 5)
        tap_note("call %ld: status %d, %s", fail, status, err->text);
}

static long transpose_case(struct tally *t, const struct weft_csr *a, long fail)
{
    struct weft_backend_times times = WEFT_BACKEND_NO_TIMES;
    struct weft_error err = {0};
    struct weft_csr want, out = {0};
    void *state = NULL;
    double ms = -1;
    standin_reset(0);
    standin_fail(fail);
    weft_status status = backend->transpose.prepare(&state, NULL, a, NULL, NULL, &times, &err);
    for (int run = 0; run < 2 && !status; run++)
        status = backend->transpose.run(state, &ms, &err);
    if (!status)
        status = backend->transpose.poison(state, &err);
    int stays = 0; // what the runs before have left
    if (!status && !fail) {
        struct weft_csr left = {0}, right;
        if (weft__ref_transpose(&right, a))
            tap_bail("no memory");
        stays = !backend->transpose.result(state, &left, &times, &err) && weft_csr_equal(&right, &left);
        weft_csr_free(&left);
        weft_csr_free(&right);
    }
    if (!status)
        status = backend->transpose.run(state, &ms, &err);
    if (!status)
        status = backend->transpose.result(state, &out, &times, &err);
    if (weft__ref_transpose(&want, a))
        tap_bail("no memory");
    const int right = !status && !stays && weft_csr_equal(&want, &out) && ms >= 0;
    const long calls = standin_calls();
    backend->transpose.finish(&state);
    weft_csr_free(&want);
    weft_csr_free(&out);
    count(t, status, right, fail, &err);
    return calls;
}

static long spmv_case(struct tally *t, const struct weft_csr *a, const char *algo, double alpha, double beta, long fail)
{
    const enum weft_type type = a->type == WEFT_TYPE_PATTERN ? WEFT_TYPE_F32 : a->type;
    struct weft_backend_times times = WEFT_BACKEND_NO_TIMES;
    struct weft_error err = {0};
    double x[1000], y0[1000], y[1000], ms = -1;
    for (int j = 0; j < 1000; j++)
        for (int side = 0; side < 2; side++) {
            double *v = side ? y0 : x;
            if (type == WEFT_TYPE_F64)
                v[j] = j % 9 - 4 * side;
            else
                ((float *)v)[j] = (float)(j % 9 - 4 * side);
        }
    struct weft_backend_spmv_job job = {.a = a, .x = x, .y = beta != 0 ? y0 : NULL, .alpha = alpha, .beta = beta};
    struct check_spmv check = {
        .a = a, .type = type, .exact = 1, .alpha = alpha, .beta = beta, .x = x, .y0 = beta != 0 ? y0 : NULL};
    void *state = NULL;
    standin_reset(0);
    standin_fail(fail);
    weft_status status = backend->spmv.prepare(&state, NULL, &job, algo, &times, &err);
    for (int run = 0; run < 2 && !status; run++)
        status = backend->spmv.run(state, &ms, &err);
    if (!status)
        status = backend->spmv.poison(state, &err);
    int stays = 0; // what the runs before have left
    if (!status)
        status = backend->spmv.result(state, y, &times, &err);
    if (!status)
        stays = check_spmv(&check, y, err.text, sizeof err.text);
    if (!status)
        status = backend->spmv.run(state, &ms, &err);
    if (!status)
        status = backend->spmv.result(state, y, &times, &err);
    const int right = !status && !stays && check_spmv(&check, y, err.text, sizeof err.text) && ms >= 0 &&
                      times.format_bytes > 8 * a->nnz - 1;
    const long calls = standin_calls();
    backend->spmv.finish(&state);
    count(t, status, right, fail, &err);
    return calls;
}

// Whole numbers in the matrix, so that products are exact.
static void whole(struct weft_csr *a)
{
    for (int64_t p = 0; p < a->nnz; p++)
        if (a->type == WEFT_TYPE_F64)
            ((double *)a->val)[p] = (double)(p % 7 - 3);
        else if (a->type == WEFT_TYPE_F32)
            ((float *)a->val)[p] = (float)(p % 7 - 3);
}

int main(void)
{
    static const enum weft_type types[] = {WEFT_TYPE_F32, WEFT_TYPE_F64, WEFT_TYPE_I32, WEFT_TYPE_PATTERN};
    static const double scales[][2] = {{1, 0}, {-2, 0}, {3, 1}, {3, -2}};
    struct tally transposed = {0}, multiplied = {0}, failed = {0};
    struct weft_error err = {0};
    struct weft_csr a;
    rng = rng_start();
    omp_set_num_threads(3);
    tap_is_str(backend->version(), "rocALUTION 99.8.7", "the library's version");
    tap_ok(!backend->probe(NULL, &err), "it runs without a device");
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes * 8; k++) {
        const enum weft_ofs ofs = k & 4 ? WEFT_OFS_64 : WEFT_OFS_32;
        test_matrix_make(&a, &rng, (enum test_spread)(k / 8 % TEST_SPREADS), shapes[k / 8].m, shapes[k / 8].n,
                         shapes[k / 8].nnz, types[k % 4], ofs);
        transpose_case(&transposed, &a, 0);
        whole(&a);
        for (const char *const *algo = backend->spmv.algos; *algo; algo++)
            for (size_t s = 0; s < 4; s++)
                spmv_case(&multiplied, &a, *algo, scales[s][0], scales[s][1], 0);
        weft_csr_free(&a);
    }
    tap_ok(!transposed.wrong && transposed.right == 42, "transpositions: %d right, %d refused, %d wrong",
           transposed.right, transposed.refused, transposed.wrong);
    tap_ok(!multiplied.wrong && multiplied.right > 400, "products: %d right, %d refused, %d wrong", multiplied.right,
           multiplied.refused, multiplied.wrong);
    test_matrix_make(&a, &rng, TEST_UNIFORM, 40, 40, 400, WEFT_TYPE_F64, WEFT_OFS_32);
    whole(&a);
    long calls = transpose_case(&transposed, &a, 0);
    for (long fail = 1; fail <= calls; fail++)
        transpose_case(&failed, &a, fail);
    calls = spmv_case(&multiplied, &a, "hyb", 3, -2, 0);
    for (long fail = 1; fail <= calls; fail++)
        spmv_case(&failed, &a, "hyb", 3, -2, fail);
    tap_ok(!failed.wrong && failed.right > 10, "each of %d calls fails once: %d wrong", failed.right, failed.wrong);
    weft_csr_free(&a);
    struct tally none = {0};
    test_matrix_make(&a, &rng, TEST_UNIFORM, 5, 7, 0, WEFT_TYPE_F32, WEFT_OFS_32);
    transpose_case(&none, &a, 0);
    spmv_case(&none, &a, "csr", 1, 0, 0);
    tap_ok(none.refused == 2, "a matrix without entries is refused");
    weft_csr_free(&a);
    standin_reset(0);
    return tap_done();
}
