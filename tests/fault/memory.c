// SPDX-License-Identifier: Apache-2.0
// Every allocation of reading, writing, generating, building, permuting, sorting and measuring fails, once and for ever: each time the answer is
// WEFT_ENOMEM, the matrix is all zero, and nothing is left allocated.
#include "heap.h"
#include "host/internal/inside.h"
#include "tests/support/tap.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weft/canonical.h>
#include <weft/generate.h>
#include <weft/measure.h>
#include <weft/mtx.h>
#include <weft/permute.h>

static const char coordinate[] = "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 1\n2 1 2\n3 2 3\n";
static const char array[] = "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n";
static const char far[] =
    "%%MatrixMarket matrix coordinate real symmetric\n9000000 9000000 3\n1 1 1\n9000000 1 2\n70 2 3\n";
static char far_path[] = "/tmp/weft-memory-far-XXXXXX";
static char path[] = "/tmp/weft-memory-XXXXXX.mtx.gz";

static weft_status parse_coordinate(struct weft_csr *a, struct weft_error *err)
{
    return weft_mtx_parse(a, NULL, "text", coordinate, sizeof coordinate - 1, NULL, err);
}

static weft_status parse_array(struct weft_csr *a, struct weft_error *err)
{
    return weft_mtx_parse(a, NULL, "text", array, sizeof array - 1, NULL, err);
}

static weft_status generate(struct weft_csr *a, struct weft_error *err)
{
    return weft_generate(a, "uniform:100,100,200000", NULL, err);
}

static weft_status generate_band(struct weft_csr *a, struct weft_error *err)
{
    return weft_generate(a, "band:100,3", NULL, err);
}

// Needs the memory of generating as well: a failure there counts like one of writing.
static weft_status write_file(struct weft_csr *a, struct weft_error *err)
{
    weft_status status = weft_generate(a, "dense:300,300", NULL, err);
    if (!status)
        status = weft_mtx_write(path, a, err);
    if (status)
        weft_csr_free(a);
    return status;
}

// Larger than a block, so that blocks are carried over and the list of blocks grows.
static weft_status read_file(struct weft_csr *a, struct weft_error *err)
{
    return weft_mtx_read(a, NULL, path, NULL, err);
}

// A matrix through every order, one after the other, as CSR and as coordinates.
static weft_status permute(struct weft_csr *a, struct weft_error *err)
{
    int32_t row[] = {0, 1, 1, 1, 2, 0}, col[] = {1, 0, 2, 3, 3, 3};
    const struct weft_coo coo = {3, 4, 6, WEFT_TYPE_PATTERN, row, col, NULL};
    weft_status status = weft_csr_from_coo(a, &coo, WEFT_OFS_32, err);
    for (int order = 0; order < WEFT_ORDER_COUNT && !status; order++) {
        struct weft_permutation p, back = {0};
        struct weft_csr moved = {0};
        struct weft_coo moved_coo = {0};
        status = weft_permutation_alloc(&p, (enum weft_order)order, a, 1, err);
        if (!status)
            status = weft_csr_permute(&moved, a, &p, NULL, err);
        if (!status)
            status = weft_coo_permute(&moved_coo, &coo, &p, err);
        if (!status && weft_permutation_inverse(&back, &p)) { // which has no place for a message
            status = WEFT_ENOMEM;
            *err = (struct weft_error){.status = status, .text = "inverse"};
        }
        weft_coo_free(&moved_coo);
        weft_csr_free(a);
        *a = moved;
        weft_permutation_free(&p);
        weft_permutation_free(&back);
    }
    if (status)
        weft_csr_free(a);
    return status;
}

// Far more rows and columns than entries, those without entries left out; and its figures.
static weft_status read_rows(struct weft_csr *a, struct weft_error *err)
{
    struct weft_measures figures;
    struct weft_mtx_info info;
    int32_t *row = NULL;
    weft_status status = weft__mtx_read_rows(a, &row, &info, far_path, NULL, err);
    if (!status)
        status = weft__measure(&figures, a, row, info.m, 0, err);
    free(row);
    if (status)
        weft_csr_free(a);
    return status;
}

static weft_status measure(struct weft_csr *a, struct weft_error *err)
{
    struct weft_measures figures;
    struct weft_density d = {0};
    struct weft_distance distance;
    weft_status status = weft_generate(a, "stencil5:6", NULL, err);
    if (!status)
        status = weft_measure(&figures, a, 0, err);
    if (!status)
        status = weft_density_alloc(&d, a, weft_density_params(.rows = 4, .cols = 4), err);
    if (!status)
        status = weft_distance(&distance, d.row, d.col, d.rows, weft_distance_params(.trials = 3), err);
    weft_density_free(&d);
    if (status)
        weft_csr_free(a);
    return status;
}

// Rows are sorted and summed, and counts of rows and columns made.
static weft_status canonical(struct weft_csr *a, struct weft_error *err)
{
    int64_t rows[64], cols[64];
    weft_status status = weft_generate(a, "uniform:64,64,900", NULL, err);
    if (!status)
        status = weft_row_histogram(rows, a, err);
    if (!status)
        status = weft_col_histogram(cols, a, 2, err);
    if (!status)
        status = weft_csr_canonical(a, NULL, err);
    if (status)
        weft_csr_free(a);
    return status;
}

// The caller's own permutation, and a file that is open.
static weft_status write_open(struct weft_csr *a, struct weft_error *err)
{
    int32_t row[36];
    struct weft_permutation p = {0};
    for (int32_t i = 0; i < 36; i++)
        row[i] = 35 - i;
    weft_status status = weft_generate(a, "stencil5:6", NULL, err);
    if (!status)
        status = weft_permutation_from(&p, 36, 36, row, NULL, err);
    const int fd = open("/dev/null", O_WRONLY);
    if (!status)
        status = weft_mtx_write_fd(fd, "null", a, true, err);
    close(fd);
    weft_permutation_free(&p);
    if (status)
        weft_csr_free(a);
    return status;
}

// The next one to fail: each, and for ever in a sample every fifth of the later ones.
static int next_failure(int n, bool ever)
{
    return n + (ever && getenv("WEFT_SAMPLE") && n >= 9 ? 5 : 1);
}

static void test(const char *name, weft_status (*run)(struct weft_csr *a, struct weft_error *err), bool ever)
{
    static const struct weft_csr zero;
    struct weft_csr a;
    weft_status status = WEFT_ENOMEM;
    int failures = 0, before = heap_live(), good = 1;
    while (status && good) {
        struct weft_error err = {.text = "of an earlier call"};
        memset(&a, 0xff, sizeof a);
        heap_fail_after(failures, ever);
        status = run(&a, &err);
        int injected = heap_failed();
        if (!status) {
            // Trimming what is not used may fail without harm: go on until no call is left to fail.
            weft_csr_free(&a);
            if (injected) {
                status = WEFT_ENOMEM;
                failures = next_failure(failures, ever);
            }
            continue;
        }
        good = status == WEFT_ENOMEM && err.status == status && err.text[0] && strcmp(err.text, "of an earlier call") &&
               !memcmp(&a, &zero, sizeof a) && heap_live() == before;
        if (!good)
            tap_note("allocation %d: status %d, \"%s\", %d left", failures, status, err.text, heap_live() - before);
        failures = next_failure(failures, ever);
    }
    tap_ok(good && failures > 3 && heap_live() == before, "%s: %d allocations fail, %s", name, failures,
           ever ? "with all later ones" : "one at a time");
}

int main(void)
{
    int fd = mkstemps(path, 7);
    if (fd < 0)
        tap_bail("mkstemps");
    close(fd);
    fd = mkstemp(far_path);
    if (fd < 0 || write(fd, far, sizeof far - 1) != (ssize_t)(sizeof far - 1))
        tap_bail("mkstemp");
    close(fd);
    for (int ever = 0; ever <= 1; ever++) {
        test("reading coordinates", parse_coordinate, ever);
        test("reading an array", parse_array, ever);
        test("generating random entries", generate, ever);
        test("generating a band", generate_band, ever);
        test("writing a file", write_file, ever);
        test("reading a file", read_file, ever);
        test("permuting", permute, ever);
        test("measuring", measure, ever);
        test("sorting, summing and counting", canonical, ever);
        test("writing to an open file", write_open, ever);
        test("reading and measuring without empty rows", read_rows, ever);
    }
    unlink(path);
    unlink(far_path);
    return tap_done();
}
