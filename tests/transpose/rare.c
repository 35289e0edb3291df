// SPDX-License-Identifier: Apache-2.0
// Transposition of shapes for which kernels have forms of their own: rows that are mostly empty, columns far apart, places of an
// entry that do not fit in one word.
#include "tests/support/csr.h"

static struct rng rng;

static void test_device(struct test_device *dev)
{
    static const struct {
        const char *what;
        int gpu; // the schedule that has the form
        int64_t m, n, nnz;
        enum weft_type type;
        struct weft_transpose_params params;
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
    if (dev->checker) {
        tap_skip("%s: millions of columns are too many for a memory checker", dev->name);
        return;
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct weft_csr a;
        if (cases[i].gpu != dev->gpu)
            continue;
        test_matrix_make(&a, &rng, TEST_UNIFORM, cases[i].m, cases[i].n, cases[i].nnz, cases[i].type, WEFT_OFS_32);
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
