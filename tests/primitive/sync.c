// SPDX-License-Identifier: Apache-2.0
// The primitives with arrays of the host against their oracles: sizes from 0, every alignment that an array may have, results
// in the input, contents that are refused.
#include "host/internal/inside.h"
#include "tests/support/device.h"
#include "tests/support/rng.h"

#include <stdlib.h>
#include <string.h>
#include <weft/weft.h>

// Elements of the largest case, and words of an array: results lie up to SHIFT words in.
enum { MOST = 3000, SHIFT = 3, WORDS = 2 * (MOST + 1) + SHIFT };

static struct rng rng;
static int64_t sizes[] = {0, 1, MOST - 1, MOST};
enum { SIZES = sizeof sizes / sizeof *sizes };

// Is `got` what `want` is, and poison after it?
static int right(struct test_device *dev, weft_status status, const char *what, int64_t n, const void *got,
                 const void *want, size_t bytes, size_t room)
{
    const int ok = !status && !memcmp(got, want, bytes) && test_poisoned((const char *)got + bytes, room - bytes);
    if (!ok)
        tap_note("%s, %lld elements: %s", what, (long long)n, status ? test_error(dev) : "differs");
    return ok;
}

// `got` comes from the call that was to be refused.
static void refused(struct test_device *dev, const char *what, weft_status want, weft_status got)
{
    tap_is_int(got, want, "%s: refuses %s: %s", dev->name, what, test_error(dev));
}

static void draw(int32_t *x, int64_t n, uint64_t below)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = (int32_t)rng_below(&rng, below);
}

static void test_scan(struct test_device *dev)
{
    static int32_t in[WORDS];
    static int64_t got[WORDS], want[WORDS];
    int ok = 1;
    for (int s = 0; ok && s < SIZES; s++) {
        const int total = s % 2 == 0;
        const int64_t n = sizes[s];
        int32_t *const x = in + s % SHIFT;
        int64_t *const y = got + s % SHIFT;
        const size_t bytes = (size_t)(n + total) * sizeof *y;
        draw(x, n, 1000);
        weft__ref_scan(want, x, n, WEFT_SCAN_TYPE_I32_I64, 0, total);
        test_poison(y, bytes + 8);
        ok =
            right(dev, weft_scan_sync(y, dev->ctx, x, n, WEFT_SCAN_TYPE_I32_I64, weft_scan_params(.total = total != 0)),
                  "scan", n, y, want, bytes, bytes + 8);
    }
    // The result begins inside the input.
    const int64_t n = sizes[SIZES - 1];
    draw(in, n, 1000);
    weft__ref_scan(want, in, n, WEFT_SCAN_TYPE_I32, 1, 0);
    ok = ok &&
         right(dev, weft_scan_sync(in + 1, dev->ctx, in, n, WEFT_SCAN_TYPE_I32, weft_scan_params(.inclusive = true)),
               "scan in place", n, in + 1, want, (size_t)n * sizeof *in, (size_t)n * sizeof *in);
    tap_ok(ok, "%s: scan", dev->name);
}

static void test_histogram(struct test_device *dev)
{
    static int32_t idx[WORDS], got[WORDS], want[WORDS];
    int ok = 1;
    for (int s = 0; ok && s < SIZES; s++) {
        const int pointers = s % 2;
        const int64_t n = sizes[s], bins = sizes[SIZES - 1 - s] / 2;
        int32_t *const x = idx + s % SHIFT, *const y = got + pointers;
        const size_t bytes = (size_t)(bins + pointers) * sizeof *y;
        draw(x, n, bins ? (uint64_t)bins : 1);
        weft__ref_histogram(want, x, n, bins, WEFT_OFS_32, pointers);
        test_poison(y, bytes + 8);
        ok = right(
            dev,
            weft_histogram_sync(y, dev->ctx, x, n, bins, WEFT_OFS_32, weft_histogram_params(.pointers = pointers != 0)),
            "histogram", n, y, want, bytes, bytes + 8);
    }
    tap_ok(ok, "%s: histogram", dev->name);
}

// Offsets of `count` segments over n elements.
static void offsets_draw(int32_t *offsets, int64_t count, int64_t n)
{
    offsets[0] = 0;
    for (int64_t i = 1; i < count; i++)
        offsets[i] = offsets[i - 1] + (int32_t)rng_below(&rng, (uint64_t)(n - offsets[i - 1]) / 4 + 1);
    if (count)
        offsets[count] = (int32_t)n;
}

static void test_expand(struct test_device *dev)
{
    static int32_t row_ptr[WORDS], got[WORDS], want[WORDS];
    int ok = 1;
    for (int s = 0; ok && s < SIZES; s++) {
        const int64_t n = sizes[s], m = n / 3 + (n > 0);
        int32_t *const x = row_ptr + s % SHIFT, *const y = got + s % SHIFT;
        const size_t bytes = (size_t)n * sizeof *y;
        offsets_draw(x, m, n);
        weft__ref_expand(want, x, m, WEFT_OFS_32);
        test_poison(y, bytes + 8);
        ok = right(dev, weft_expand_sync(y, dev->ctx, x, m, n, WEFT_OFS_32, NULL), "expand", n, y, want, bytes,
                   bytes + 8);
    }
    tap_ok(ok, "%s: expand", dev->name);
    const int32_t one[] = {1, 2, 3}, down[] = {0, 3, 1, 3};
    refused(dev, "row pointers from 1", WEFT_EMATRIX, weft_expand_sync(got, dev->ctx, one, 2, 3, WEFT_OFS_32, NULL));
    refused(dev, "no rows", WEFT_EMATRIX, weft_expand_sync(got, dev->ctx, one + 2, 0, 3, WEFT_OFS_32, NULL));
    refused(dev, "row pointers that descend", WEFT_EMATRIX,
            weft_expand_sync(got, dev->ctx, down, 3, 3, WEFT_OFS_32, NULL));
    refused(dev, "row pointers that end early", WEFT_EMATRIX,
            weft_expand_sync(got, dev->ctx, down, 3, 4, WEFT_OFS_32, NULL));
}

static void test_segsort(struct test_device *dev)
{
    static int32_t key[WORDS], load[WORDS], offsets[WORDS], got[WORDS], got_load[WORDS], want[WORDS], want_load[WORDS];
    static int64_t wide[WORDS];
    int ok = 1;
    for (int s = 0; ok && s < SIZES; s++) {
        const int64_t n = sizes[s], segments = n / 9 + (n > 0);
        int32_t *const k = key + s % SHIFT, *const y = got + 1;
        const size_t bytes = (size_t)n * sizeof *y;
        const bool in_place = s == SIZES - 1;
        draw(k, n, 50);
        draw(load, n, 1000000);
        offsets_draw(offsets, segments, n);
        for (int64_t i = 0; i <= segments; i++)
            wide[i] = offsets[i];
        if (weft__ref_segsort(WEFT_KEY_I32, 4, want, want_load, k, load, wide, segments))
            tap_bail("no memory");
        test_poison(y, bytes + 8);
        test_poison(got_load, bytes + 8);
        ok = right(dev,
                   weft_segsort_sync(y, got_load, dev->ctx, k, load, n, offsets, segments, WEFT_KEY_I32, 4, WEFT_OFS_32,
                                     NULL),
                   "segsort", n, y, want, bytes, bytes + 8) &&
             right(dev, WEFT_OK, "payload of segsort", n, got_load, want_load, bytes, bytes + 8);
        if (in_place && ok)
            ok = right(dev,
                       weft_segsort_sync(k, load, dev->ctx, k, load, n, wide, segments, WEFT_KEY_I32, 4, WEFT_OFS_64,
                                         NULL),
                       "segsort in place", n, k, want, bytes, bytes) &&
                 right(dev, WEFT_OK, "its payload", n, load, want_load, bytes, bytes);
    }
    tap_ok(ok, "%s: segsort", dev->name);
    const int32_t down[] = {0, 3, 1, 3};
    refused(dev, "offsets that descend", WEFT_EMATRIX,
            weft_segsort_sync(got, NULL, dev->ctx, key, NULL, 3, down, 3, WEFT_KEY_I32, 0, WEFT_OFS_32, NULL));
    refused(dev, "offsets that end early", WEFT_EMATRIX,
            weft_segsort_sync(got, NULL, dev->ctx, key, NULL, 4, down, 3, WEFT_KEY_I32, 0, WEFT_OFS_32, NULL));
}

// Keys in ascending order.
static void sorted_draw(uint32_t *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = (uint32_t)rng_below(&rng, 3) + (i ? x[i - 1] : 0);
}

static void test_merge(struct test_device *dev)
{
    static uint32_t a[WORDS], b[WORDS], load[WORDS], got[WORDS], got_load[WORDS], want[WORDS], want_load[WORDS];
    int ok = 1;
    for (int s = 0; ok && s < SIZES; s++) {
        const int t = (s + 1) % SIZES;
        const int64_t na = sizes[s] / 2, nb = sizes[t] / 2;
        uint32_t *const x = a + s % SHIFT, *const z = b + t % SHIFT;
        const size_t bytes = (size_t)(na + nb) * sizeof *a;
        sorted_draw(x, na);
        sorted_draw(z, nb);
        for (uint32_t i = 0; i < MOST; i++)
            load[i] = i;
        weft__ref_merge(WEFT_KEY_U32, 4, want, want_load, x, load, na, z, load + na, nb);
        test_poison(got, bytes + 8);
        test_poison(got_load, bytes + 8);
        ok = right(dev, weft_merge_sync(got, got_load, dev->ctx, x, load, na, z, load + na, nb, WEFT_KEY_U32, 4, NULL),
                   "merge", na + nb, got, want, bytes, bytes + 8) &&
             right(dev, WEFT_OK, "payload of merge", na + nb, got_load, want_load, bytes, bytes + 8);
    }
    tap_ok(ok, "%s: merge", dev->name);
    const int64_t down[] = {-1, 3, 2};
    int64_t out[6];
    refused(dev, "keys that descend", WEFT_EINVAL,
            weft_merge_sync(out, NULL, dev->ctx, down, NULL, 2, down, NULL, 3, WEFT_KEY_I64, 0, NULL));
}

static void test_all(struct test_device *dev)
{
    sizes[SIZES - 1] = dev->checker ? 50 : MOST;
    sizes[SIZES - 2] = sizes[SIZES - 1] - 1;
    test_scan(dev);
    test_histogram(dev);
    test_expand(dev);
    test_segsort(dev);
    test_merge(dev);
}

int main(void)
{
    rng = rng_start();
    test_device_each(test_all);
    return tap_done();
}
