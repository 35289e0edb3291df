// SPDX-License-Identifier: Apache-2.0
// Transposition of shapes for which kernels have forms of their own: rows that are mostly empty, columns far apart, places of an
// entry that do not fit in one word, few entries of many columns.
#include "tests/support/csr.h"

static struct rng rng;

// Buckets of 4096 columns, of which sparse ones take no histogram.
#define FEW                                                                                                            \
    {                                                                                                                  \
        .wg = 64, .ipt = 4, .bits = 11                                                                                 \
    }

#define CHECKER_MOST 70000 // rows and columns

static void test_device(struct test_device *dev)
{
    static const struct {
        const char *what;
        int gpu; // the schedule that has the form
        int64_t m, n, nnz;
        enum weft_type type;
        struct weft_transpose_params params;
        enum test_spread spread; // TEST_UNIFORM unless given
        int wide;                // offsets of 64 bits
    } cases[] = {
        {"mostly empty rows",
         1,
         300000,
         90,
         200,
         WEFT_TYPE_F32,
         {.algo = WEFT_TRANSPOSE_ALGO_MERGE, .gpu = {.wg = 32, .ipt = 2}}},
        {"columns in long gaps, one tile",
         1,
         20,
         6000000,
         9,
         WEFT_TYPE_F32,
         {.algo = WEFT_TRANSPOSE_ALGO_MERGE, .gpu = {.wg = 32, .ipt = 2}}},
        {"columns in long gaps, three tiles",
         1,
         20,
         30000000,
         150,
         WEFT_TYPE_PATTERN,
         {.algo = WEFT_TRANSPOSE_ALGO_MERGE, .gpu = {.wg = 32, .ipt = 2}}},
        {"columns of a joined tile far apart",
         1,
         20,
         9000000,
         9300,
         WEFT_TYPE_F32,
         {.algo = WEFT_TRANSPOSE_ALGO_MERGE, .gpu.bits = 1}},
        {"rows that are read, ten for an entry",
         1,
         60000,
         5000,
         6000,
         WEFT_TYPE_F32,
         {.algo = WEFT_TRANSPOSE_ALGO_SCAN}},
        {"rows that are searched", 1, 500000, 5000, 6000, WEFT_TYPE_F64, {.algo = WEFT_TRANSPOSE_ALGO_SCAN}},
        {"rows that are read, some of them long",
         1,
         60000,
         5000,
         9000,
         WEFT_TYPE_F32,
         {.algo = WEFT_TRANSPOSE_ALGO_SCAN},
         TEST_SKEWED},
        {"few entries of many columns",
         1,
         2000,
         40000,
         900,
         WEFT_TYPE_F32,
         {.algo = WEFT_TRANSPOSE_ALGO_SCAN, .gpu = FEW}},
        {"few entries of many columns, 64-bit offsets",
         1,
         2000,
         40001,
         900,
         WEFT_TYPE_F32,
         {.algo = WEFT_TRANSPOSE_ALGO_SCAN, .gpu = FEW},
         TEST_UNIFORM,
         1},
        {"few entries of many columns without values",
         1,
         2000,
         40000,
         900,
         WEFT_TYPE_PATTERN,
         {.algo = WEFT_TRANSPOSE_ALGO_SCAN, .gpu = FEW}},
        {"few entries of many columns that do not fit the row's word",
         1,
         3000000,
         300000,
         9000,
         WEFT_TYPE_F64,
         {.algo = WEFT_TRANSPOSE_ALGO_SCAN, .gpu = FEW}},
        {"few entries of many columns, many of a few",
         1,
         2000,
         40000,
         900,
         WEFT_TYPE_F32,
         {.algo = WEFT_TRANSPOSE_ALGO_SCAN, .gpu = FEW},
         TEST_SKEWED},
        {"places of two words",
         0,
         100000,
         200000,
         3000,
         WEFT_TYPE_F32,
         {.algo = WEFT_TRANSPOSE_ALGO_SCAN, .cpu = {.bits = 1, .chunks = 3}}},
        {"places of two words without values",
         0,
         100000,
         200000,
         3000,
         WEFT_TYPE_PATTERN,
         {.algo = WEFT_TRANSPOSE_ALGO_SCAN, .cpu = {.bits = 1, .chunks = 3}}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct weft_csr a;
        if (cases[i].gpu != dev->gpu)
            continue;
        if (dev->checker && cases[i].m + cases[i].n > CHECKER_MOST) {
            tap_skip("%s: %s: too many for a memory checker", dev->name, cases[i].what);
            continue;
        }
        test_matrix_make(&a, &rng, cases[i].spread, cases[i].m, cases[i].n, cases[i].nnz, cases[i].type,
                         cases[i].wide ? WEFT_OFS_64 : WEFT_OFS_32);
        tap_ok(test_transpose(dev, &a, &cases[i].params, NULL), "%s: %s", dev->name, cases[i].what);
        weft_csr_free(&a);
    }
}

int main(void)
{
    rng = rng_start();
    test_device_each(test_device);
    return tap_done();
}
