// SPDX-License-Identifier: Apache-2.0
// How often a matrix reads again what it has just read of x: the sample beside exact counts of the same entries.
#include "host/internal/tests.h"
#include "tests/support/csr.h"
#include "tests/support/device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <weft/generate.h>

enum { WINDOWS = 8, WINDOW = 8192, SECTOR = 32 };

// The share of entries, of eight windows, whose sector of x a window has met before, beyond that of entries at random.
static double exact(const struct weft_csr *a, size_t bytes)
{
    const size_t nnz = (size_t)a->nnz, count = nnz < WINDOW ? nnz : WINDOW, most = count ? nnz / count : 0,
                 windows = most < WINDOWS ? most : WINDOWS, columns = SECTOR / bytes,
                 sectors = (size_t)a->n / columns + 1;
    char *met = test_alloc(sectors);
    double again = 0;
    for (size_t w = 0; w < windows; w++) {
        const int32_t *col = a->col + (windows > 1 ? (nnz - count) / (windows - 1) * w : 0);
        memset(met, 0, sectors);
        for (size_t i = 0; i < count; i++) {
            again += met[(size_t)col[i] / columns];
            met[(size_t)col[i] / columns] = 1;
        }
    }
    free(met);
    const double each = (double)count * (double)columns / (double)a->n, random = 1 + expm1(-each) / each;
    again = windows ? again / (double)(windows * count) : 0;
    return fmax(again - random, 0) / (1 - random);
}

static void each_device(struct test_device *dev)
{
    static const struct {
        const char *spec;
        double low, high;
    } cases[] = {
        {"uniform:20000,1000000,200000", 0, 0.02},  {"uniform:3000,20000,100000", 0, 0.02}, {"band:40000,9", 0.8, 1},
        {"cols:50000,300000,300000,100", 0.3, 0.6}, {"stencil5:300+shuffled", 0, 0.2},      {"dense:20,4000", 0, 0.02},
        {"uniform:100,10000,500", 0, 0.02},         {"uniform:1,1000000,1", 0, 0}};
    static const enum weft_type types[] = {WEFT_TYPE_F32, WEFT_TYPE_F64, WEFT_TYPE_PATTERN};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const enum weft_type type = types[i % 3];
        struct weft_error err;
        struct weft_csr a;
        struct weft_device_csr d;
        if ((type == WEFT_TYPE_F64 && !weft_context_device(dev->ctx)->fp64) || (dev->checker && i < 6))
            continue;
        if (weft_generate(&a, cases[i].spec, weft_generate_params(.type = type, .seed = 3), &err))
            tap_bail("%s", err.text);
        struct weft_spmv_plan *plan = NULL;
        double share = -1;
        weft_status status = weft_device_csr_alloc(&d, dev->ctx, weft_csr_shape(&a));
        if (!status)
            status = weft_device_csr_write_sync(&d, dev->ctx, dev->queue, &a);
        if (!status)
            status = weft_spmv_plan_create(&plan, dev->ctx, dev->queue, &d,
                                           weft_spmv_params(.policy.algo = WEFT_SPMV_ALGO_CSR_SCALAR));
        if (!status)
            status = weft__spmv_again(plan, dev->queue, &share);
        const double want = exact(&a, type == WEFT_TYPE_F64 ? 8 : 4);
        tap_ok(!status && fabs(share - want) < 0.02 && share >= cases[i].low && share <= cases[i].high,
               "%s: %s, %s: %.3f read again, exactly %.3f", dev->name, cases[i].spec, weft_type_name(type), share,
               want);
        weft_spmv_plan_destroy(&plan);
        weft_device_csr_free(&d);
        weft_csr_free(&a);
    }
}

int main(void)
{
    test_device_each(each_device);
    return tap_done();
}
