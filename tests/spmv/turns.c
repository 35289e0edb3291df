// SPDX-License-Identifier: Apache-2.0
// Runs that take turns from the first and from the last entries: every run gives the whole of y, and the same bits. Values are small
// integers, so that sums are exact in any order.
#include "host/internal/tests.h"
#include "tests/support/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/generate.h>
#include <weft/spmv.h>

#define RUNS_MOST 4 // two under a checker, which is slow

// Rows of about ten entries near the diagonal.
static struct weft_csr matrix_make(int64_t rows)
{
    char spec[100];
    struct weft_csr a;
    snprintf(spec, sizeof spec, "near:%lld,%lld,40", (long long)rows, (long long)rows * 10);
    if (weft_generate(&a, spec, weft_generate_params(.type = WEFT_TYPE_F32), NULL))
        tap_bail("no memory for a test matrix");
    for (int64_t p = 0; p < a.nnz; p++)
        ((float *)a.val)[p] = (float)(p % 7 - 3);
    return a;
}

static void product(const struct weft_csr *a, const float *x, float *y)
{
    const int32_t *row_ptr = a->row_ptr;
    for (int64_t i = 0; i < a->m; i++) {
        double sum = 0;
        for (int32_t p = row_ptr[i]; p < row_ptr[i + 1]; p++)
            sum += (double)((const float *)a->val)[p] * x[a->col[p]];
        y[i] = (float)sum;
    }
}

// Each run finds y full of another number. `turns`: it is expected to take turns.
static void test_algo(struct test_device *dev, const struct weft_csr *a, const struct weft_device_csr *d,
                      enum weft_spmv_algo algo, bool turns)
{
    const size_t bytes = (size_t)a->m * sizeof(float);
    const int runs = dev->checker ? 2 : RUNS_MOST;
    float *x = test_alloc((size_t)a->n * sizeof *x), *y = test_alloc(bytes), *want = test_alloc(bytes),
          *first = test_alloc(bytes);
    struct weft_spmv_plan *plan = NULL;
    for (int64_t j = 0; j < a->n; j++)
        x[j] = (float)(j % 5 - 2);
    product(a, x, want);
    struct test_buffer bx = test_buffer_make(dev, x, (size_t)a->n * sizeof *x);
    weft_status status = weft_spmv_plan_create(&plan, dev->ctx, dev->queue, d, weft_spmv_params(.policy.algo = algo));
    int right = 0, in_turn = 0;
    for (int r = 0; r < runs && !status; r++) {
        for (int64_t i = 0; i < a->m; i++)
            y[i] = (float)(1000 + r);
        struct test_buffer by = test_buffer_make(dev, y, bytes);
        in_turn += plan->backward == (turns ? (cl_uint)r % 2 : 0);
        status = weft_spmv_run(plan, dev->queue, by.mem, 1, bx.mem, 0, 0, NULL, NULL);
        test_buffer_read(dev, &by, y, bytes);
        if (!r)
            memcpy(first, y, bytes);
        bool same = !memcmp(y, first, bytes) && test_buffer_intact(dev, &by);
        for (int64_t i = 0; i < a->m; i++)
            same = same && y[i] == want[i]; // a sum of zeros may be -0
        right += same;
        test_buffer_free(&by);
    }
    if (!tap_ok(!status && plan->turns == turns && right == runs && in_turn == runs,
                "%s: %s: %d runs %s, each with all of y", dev->name, weft_spmv_algo_name(algo), runs,
                turns ? "in turns" : "from the first entries"))
        tap_note("%d right, %d in turn: %s", right, in_turn, status ? test_error(dev) : "no error");
    weft_spmv_plan_destroy(&plan);
    test_buffer_free(&bx);
    free(x);
    free(y);
    free(want);
    free(first);
}

static void each_device(struct test_device *dev)
{
    static const enum weft_spmv_algo algos[] = {
        WEFT_SPMV_ALGO_CSR_SCALAR, WEFT_SPMV_ALGO_CSR_LANES, WEFT_SPMV_ALGO_CSR_FLAGS, WEFT_SPMV_ALGO_CSR_HUBS,
        WEFT_SPMV_ALGO_CSR_NODES,  WEFT_SPMV_ALGO_ELL,       WEFT_SPMV_ALGO_SELL,      WEFT_SPMV_ALGO_SELL16,
        WEFT_SPMV_ALGO_SDIA,       WEFT_SPMV_ALGO_CSR_MERGE};
    const bool gpu = weft_context_schedule(dev->ctx) == WEFT_SCHEDULE_GPU;
    // 92 bytes a row, of which a unit moves 32 300 in a microsecond: 8.5 us, and less than one.
    const int64_t units = weft_context_device(dev->ctx)->compute_units, rows[] = {3000 * units, 300 * units};
    if (dev->checker && !gpu)
        return;
    for (int i = 0; i < (dev->checker ? 1 : 2); i++) {
        struct weft_csr a = matrix_make(rows[i]);
        struct weft_device_csr d = {0};
        if (weft_device_csr_alloc(&d, dev->ctx, weft_csr_shape(&a)) ||
            weft_device_csr_write_sync(&d, dev->ctx, dev->queue, &a))
            tap_bail("%s: %s", dev->name, test_error(dev));
        for (size_t k = 0; k < sizeof algos / sizeof *algos; k++)
            test_algo(dev, &a, &d, algos[k], gpu && !i);
        weft_device_csr_free(&d);
        weft_csr_free(&a);
    }
}

int main(void)
{
    test_device_each(each_device);
    return tap_done();
}
