// SPDX-License-Identifier: Apache-2.0
// Transposition of shapes for which kernels have forms of their own: rows that are mostly empty, columns far apart, places of an
// entry that do not fit in one word, few entries of many columns.
#include "tests/support/csr.h"

#include <string.h>

static struct rng rng;

#define CHECKER_MOST 70000 // rows and columns

static void test_device(struct test_device *dev)
{
    const struct weft_transpose_params scan = {.algo = WEFT_TRANSPOSE_ALGO_SCAN};
    const struct weft_transpose_params scan_bit = {.algo = WEFT_TRANSPOSE_ALGO_SCAN, .cpu = {.bits = 1, .chunks = 3}};
    const struct weft_transpose_params merge = {.algo = WEFT_TRANSPOSE_ALGO_MERGE, .gpu = {.wg = 32, .ipt = 2}};
    const struct weft_transpose_params merge_bit = {.algo = WEFT_TRANSPOSE_ALGO_MERGE, .gpu.bits = 1};
    // Buckets of 1024 columns or 2048, as local memory allows, of which sparse ones take no histogram.
    const struct weft_transpose_params few = {.algo = WEFT_TRANSPOSE_ALGO_SCAN,
                                              .gpu = {.wg = 64, .ipt = 4, .bits = 10}};
    // The same with tiles of 512 entries.
    const struct weft_transpose_params few_large = {.algo = WEFT_TRANSPOSE_ALGO_SCAN,
                                                    .gpu = {.wg = 64, .ipt = 8, .bits = 10}};
    const struct {
        const char *what;
        int64_t m, n, nnz;
        const struct weft_transpose_params *params;
        enum weft_type type;
        enum test_spread spread;
        enum weft_ofs ofs;
        int cpu; // the schedule that has the form is that of processors
    } cases[] = {
        {.what = "mostly empty rows", .m = 300000, .n = 90, .nnz = 200, .params = &merge},
        {.what = "columns in long gaps, one tile", .m = 20, .n = 6000000, .nnz = 9, .params = &merge},
        {.what = "columns in long gaps, three tiles",
         .m = 20,
         .n = 30000000,
         .nnz = 150,
         .params = &merge,
         .type = WEFT_TYPE_PATTERN},
        {.what = "columns of a joined tile far apart", .m = 20, .n = 9000000, .nnz = 9300, .params = &merge_bit},
        // Of 512 entries, or 256, the rows are more than 256 and at most 2048.
        {.what = "rows read by fours", .m = 15001, .n = 5000, .nnz = 6000, .params = &scan},
        {.what = "rows read by fours, 64-bit offsets",
         .m = 15003,
         .n = 5000,
         .nnz = 6000,
         .params = &scan,
         .ofs = WEFT_OFS_64},
        {.what = "rows read by fours, some of them long",
         .m = 15002,
         .n = 5000,
         .nnz = 9000,
         .params = &scan,
         .spread = TEST_SKEWED},
        {.what = "rows that are searched", .m = 500000, .n = 5000, .nnz = 6000, .params = &scan, .type = WEFT_TYPE_F64},
        {.what = "few entries of many columns", .m = 2000, .n = 40000, .nnz = 900, .params = &few},
        {.what = "few entries of many columns, 64-bit offsets",
         .m = 2000,
         .n = 40001,
         .nnz = 900,
         .params = &few,
         .ofs = WEFT_OFS_64},
        {.what = "few entries of many columns without values",
         .m = 2000,
         .n = 40000,
         .nnz = 900,
         .params = &few,
         .type = WEFT_TYPE_PATTERN},
        {.what = "few entries of many columns that do not fit the row's word",
         .m = 3000000,
         .n = 300000,
         .nnz = 9000,
         .params = &few,
         .type = WEFT_TYPE_F64},
        {.what = "an entry of many columns", .m = 2000, .n = 40000, .nnz = 1, .params = &few, .spread = TEST_LAST},
        {.what = "few entries of many columns, three passes", .m = 2000, .n = 3000001, .nnz = 2000, .params = &few},
        {.what = "few entries of many columns, 256 in one",
         .m = 300,
         .n = 40000,
         .nnz = 256,
         .params = &few_large,
         .spread = TEST_ONE_COLUMN},
        {.what = "few entries of many columns, 257 in one",
         .m = 300,
         .n = 40000,
         .nnz = 257,
         .params = &few_large,
         .spread = TEST_ONE_COLUMN},
        {.what = "few entries of many columns, half in a few",
         .m = 2000,
         .n = 40000,
         .nnz = 600,
         .params = &few_large,
         .spread = TEST_SKEWED},
        {.what = "few entries of many columns, many of a few",
         .m = 2000,
         .n = 40000,
         .nnz = 900,
         .params = &few,
         .spread = TEST_SKEWED},
        {.what = "places of two words", .m = 100000, .n = 200000, .nnz = 3000, .params = &scan_bit, .cpu = 1},
        {.what = "places of two words without values",
         .m = 100000,
         .n = 200000,
         .nnz = 3000,
         .params = &scan_bit,
         .type = WEFT_TYPE_PATTERN,
         .cpu = 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct weft_csr a;
        if (cases[i].cpu ? dev->gpu : !dev->gpu)
            continue;
        if (dev->checker && cases[i].m + cases[i].n > CHECKER_MOST) {
            tap_skip("%s: %s: too many for a memory checker", dev->name, cases[i].what);
            continue;
        }
        test_matrix_make(&a, &rng, cases[i].spread, cases[i].m, cases[i].n, cases[i].nnz, cases[i].type, cases[i].ofs);
        struct weft_transpose_info info = {0};
        const int sparse = cases[i].params == &few || cases[i].params == &few_large;
        tap_ok(test_transpose(dev, &a, cases[i].params, &info) && (!sparse || strstr(info.why, "for few entries")),
               "%s: %s: %s", dev->name, cases[i].what, info.why);
        weft_csr_free(&a);
    }
}

int main(void)
{
    rng = rng_start();
    test_device_each(test_device);
    return tap_done();
}
