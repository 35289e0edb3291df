// SPDX-License-Identifier: Apache-2.0
// What primitives say of billions of elements, without any: the scratch that they take, which forms reach that far, and what is refused.
#include "host/internal/tests.h"
#include "tests/support/device.h"

#include <stdio.h>
#include <string.h>
#include <weft/expand.h>
#include <weft/histogram.h>
#include <weft/merge.h>
#include <weft/scan.h>
#include <weft/segsort.h>

// What plans of huge arrays take, and what they refuse; nothing is allocated.
static void test_sizes(struct test_device *dev)
{
    const int64_t many = INT64_C(4400000000), more = INT64_C(1) << 36;
    struct weft_device_info *info = &dev->ctx->device;
    char vendor[sizeof info->vendor];
    size_t bytes = 0, other = 0;
    tap_ok(!weft_scan_workspace(&bytes, dev->ctx, WEFT_SCAN_TYPE_I32_I64, many, NULL) && bytes, "%s: scan of 4.4e9",
           dev->name);
    tap_ok(!weft_histogram_workspace(&bytes, dev->ctx, 1000, WEFT_OFS_64, many, NULL) && bytes &&
               weft_histogram_workspace(&other, dev->ctx, 1000, WEFT_OFS_32, many, NULL) == WEFT_ERANGE,
           "%s: histogram of 4.4e9", dev->name);
    tap_ok(!weft_expand_workspace(&bytes, dev->ctx, INT32_MAX, many, WEFT_OFS_64, NULL) && !bytes == !dev->gpu &&
               weft_expand_workspace(&other, dev->ctx, INT32_MAX, many, WEFT_OFS_32, NULL) == WEFT_ERANGE,
           "%s: expand of 4.4e9 positions", dev->name);
    tap_ok(!weft_merge_workspace(&bytes, dev->ctx, WEFT_KEY_U32, 4, many, NULL) && !bytes == !dev->gpu,
           "%s: merge of 4.4e9", dev->name);
    tap_ok(!weft_segsort_workspace(&bytes, dev->ctx, WEFT_KEY_U32, 4, WEFT_OFS_64, many, NULL) &&
               bytes >= 8 * (size_t)many &&
               weft_segsort_workspace(&other, dev->ctx, WEFT_KEY_U32, 4, WEFT_OFS_32, many, NULL) == WEFT_ERANGE,
           "%s: segsort of 4.4e9", dev->name);
    if (!dev->gpu)
        return;
    // NVIDIA's rows chain tiles where they can; auto takes something else beyond.
    memcpy(vendor, info->vendor, sizeof vendor);
    snprintf(info->vendor, sizeof info->vendor, "NVIDIA Corporation");
    const int atomics = info->int64_atomics;
    const int64_t local = info->local_bytes, max_wg = (int64_t)info->max_wg;
    info->int64_atomics = 1;
    info->local_bytes = 49152;
    info->max_wg = 1024;
    const enum weft_scan_type types[] = {WEFT_SCAN_TYPE_U32, WEFT_SCAN_TYPE_I64, WEFT_SCAN_TYPE_U32_U64};
    if (WEFT__HOSTILE(0, 1))
        tap_skip("%s: forms for 2^36 and 2^30: the smallest tiles are too many", dev->name);
    for (size_t i = 0; WEFT__HOSTILE(i < 3, 0); i++) {
        int ok = 1;
        for (int64_t n = INT64_C(1) << 33; n <= more; n += INT64_C(1) << 33)
            ok = ok && !weft_scan_workspace(&bytes, dev->ctx, types[i], n, NULL);
        tap_ok(ok, "%s: scan of up to 2^36 %s has a form", dev->name, weft_scan_type_name(types[i]));
    }
    tap_ok(weft_scan_workspace(&bytes, dev->ctx, WEFT_SCAN_TYPE_U32, more * 4,
                               weft_scan_params(.algo = WEFT_SCAN_ALGO_CHAINED)) == WEFT_ERANGE &&
               strstr(test_error(dev), "2^31"),
           "%s: too many to be chained: %s", dev->name, test_error(dev));
    size_t chained = 0, radix = 0;
    const int64_t most = (INT64_C(1) << 30) - 1;
    int ok = !weft_segsort_workspace(&bytes, dev->ctx, WEFT_KEY_U32, 4, WEFT_OFS_64, most, NULL) &&
             !weft_segsort_workspace(&chained, dev->ctx, WEFT_KEY_U32, 4, WEFT_OFS_64, most,
                                     weft_segsort_params(.whole = WEFT_SEGSORT_WHOLE_CHAINED)) &&
             !weft_segsort_workspace(&other, dev->ctx, WEFT_KEY_U32, 4, WEFT_OFS_64, most + 1, NULL) &&
             !weft_segsort_workspace(&radix, dev->ctx, WEFT_KEY_U32, 4, WEFT_OFS_64, most + 1,
                                     weft_segsort_params(.whole = WEFT_SEGSORT_WHOLE_RADIX));
    if (WEFT__HOSTILE(1, 0))
        tap_ok(ok && bytes == chained && other == radix, "%s: segsort chains less than 2^30: %zu and %zu bytes",
               dev->name, bytes, other);
    tap_ok(weft_segsort_workspace(&bytes, dev->ctx, WEFT_KEY_U32, 4, WEFT_OFS_64, most + 1,
                                  weft_segsort_params(.whole = WEFT_SEGSORT_WHOLE_CHAINED)) == WEFT_ERANGE &&
               strstr(test_error(dev), "less than 2^30"),
           "%s: too many to be chained: %s", dev->name, test_error(dev));
    memcpy(info->vendor, vendor, sizeof vendor);
    info->int64_atomics = atomics;
    info->local_bytes = local;
    info->max_wg = (size_t)max_wg;
}

// The last position that 32 bits hold, with as many entries and four less; and 64 bits around 2^31 and 2^32.

int main(void)
{
    test_device_each(test_sizes);
    return tap_done();
}
