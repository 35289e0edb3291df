// SPDX-License-Identifier: Apache-2.0
// Operations on a device whose buffers have a quarter of its memory.
#include "limits.h"
#include "host/internal/tests.h"

#include <string.h>
#include <weft/canonical.h>
#include <weft/convert.h>
#include <weft/expand.h>
#include <weft/histogram.h>
#include <weft/merge.h>
#include <weft/segsort.h>

// Arrays of three quarters of the device's memory, of which a buffer has a quarter at most: every plan is made with scratch that
// fits, or refused with both sizes; so is the matrix. The layer counts buffers beyond the limit.
void test_memory(struct test_device *dev)
{
    const int64_t n = 3 * (int64_t)limits.alloc / 4; // elements of 4 bytes
    const struct weft_shape shape = weft_shape(1000, 1000, n, WEFT_TYPE_F32, WEFT_OFS_32);
    const struct weft_shape wide =
        weft_shape(1000, n, 1000, WEFT_TYPE_F32, WEFT_OFS_32); // the row pointers of its transpose
    struct weft_context *ctx = dev->ctx;
    struct weft_device_csr d = {0};
    struct weft_transpose_plan *transpose = NULL;
    struct weft_coo_to_csr *convert = NULL;
    struct weft_canonical_plan *canonical = NULL;
    struct weft_scan_plan *scan = NULL;
    struct weft_histogram_plan *histogram = NULL;
    struct weft_expand_plan *expand = NULL;
    struct weft_merge_plan *merge = NULL;
    struct weft_segsort_plan *sort = NULL;
    int made = 0, said = 0, all = 0;
#define MEMORY(what, ...)                                                                                              \
    do {                                                                                                               \
        const weft_status status = __VA_ARGS__;                                                                        \
        const int sizes = status == WEFT_ERANGE && strstr(test_error(dev), " bytes") && limited(dev);                  \
        tap_ok(!status || sizes, "%s: %s: %s %s", dev->name, what, status ? "refused" : "made",                        \
               status && !sizes ? test_error(dev) : "");                                                               \
        made += !status;                                                                                               \
        said += sizes;                                                                                                 \
        all++;                                                                                                         \
    } while (0)
    MEMORY("matrix", weft_device_csr_alloc(&d, ctx, shape));
    tap_ok(!d.row_ptr && !d.col && !d.val, "%s: nothing of it is left", dev->name);
    for (int algo = WEFT_TRANSPOSE_ALGO_AUTO; algo <= WEFT_TRANSPOSE_ALGO_MERGE; algo++) {
        const struct weft_transpose_params by = {.algo = (enum weft_transpose_algo)algo};
        MEMORY("transposition", weft_transpose_plan_create(&transpose, ctx, shape, &by));
        weft_transpose_plan_destroy(&transpose);
        MEMORY("transposition of many columns", weft_transpose_plan_create(&transpose, ctx, wide, &by));
        weft_transpose_plan_destroy(&transpose);
    }
    MEMORY("conversion", weft_coo_to_csr_create(&convert, ctx, shape, NULL));
    weft_coo_to_csr_destroy(&convert);
    MEMORY("canonical form", weft_canonical_plan_create(&canonical, ctx, shape, weft_canonical_params(.keep = 1)));
    weft_canonical_plan_destroy(&canonical);
    MEMORY("scan", weft_scan_plan_create(&scan, ctx, WEFT_SCAN_TYPE_I32, n, NULL));
    weft_scan_plan_destroy(&scan);
    MEMORY("histogram", weft_histogram_plan_create(&histogram, ctx, n / 4, WEFT_OFS_32, n, NULL));
    weft_histogram_plan_destroy(&histogram);
    MEMORY("expand", weft_expand_plan_create(&expand, ctx, 1000, n, WEFT_OFS_32, NULL));
    weft_expand_plan_destroy(&expand);
    MEMORY("merge", weft_merge_plan_create(&merge, ctx, WEFT_KEY_U32, 4, n, NULL));
    weft_merge_plan_destroy(&merge);
    for (int whole = WEFT_SEGSORT_WHOLE_AUTO; whole <= WEFT_SEGSORT_WHOLE_CHAINED && (dev->gpu || !whole); whole++) {
        MEMORY("sort", weft_segsort_plan_create(&sort, ctx, WEFT_KEY_U32, 4, WEFT_OFS_32, n,
                                                weft_segsort_params(.whole = (enum weft_segsort_whole)whole)));
        weft_segsort_plan_destroy(&sort);
    }
#undef MEMORY
    weft_device_csr_free(&d);
    tap_ok(said && made, "%s: of %d plans and matrices with arrays of %lld bytes %d are made, %d refused with sizes",
           dev->name, all, (long long)n * 4, made, said);
}
