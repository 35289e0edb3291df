// SPDX-License-Identifier: Apache-2.0
// Merge against its serial reference, in every way a device can run it.
#include "host/common/check_exact.h"
#include "host/internal/inside.h"
#include "tests/support/device.h"
#include "tests/support/rng.h"

#include <stdlib.h>
#include <string.h>
#include <weft/merge.h>

static struct rng rng;

// One case: na and nb elements, or blocks of `block` elements of na; keys below `spread` (0: any).
struct merge_case {
    enum weft_key key;
    int payload_bytes;
    int64_t na, nb, block;
    uint64_t spread;
    struct weft_merge_params params;
};

static int compare(const void *x, const void *y)
{
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return a < b ? -1 : a > b;
}

// n keys in ascending order.
static void keys_make(void *out, enum weft_key key, int64_t n, uint64_t spread)
{
    uint64_t *draw = test_alloc((size_t)n * 8);
    uint64_t flip = key == WEFT_KEY_I64 ? UINT64_C(1) << 63 : key == WEFT_KEY_I32 ? UINT64_C(1) << 31 : 0;
    for (int64_t i = 0; i < n; i++) {
        draw[i] = spread ? rng_below(&rng, spread) : rng_u64(&rng);
        if (weft_key_bytes(key) == 4)
            draw[i] &= UINT32_MAX;
    }
    qsort(draw, (size_t)n, 8, compare);
    for (int64_t i = 0; i < n; i++) {
        uint64_t v = draw[i] ^ flip; // ascending as unsigned, so ascending as signed after the flip
        uint32_t w = (uint32_t)v;
        memcpy((char *)out + (size_t)i * weft_key_bytes(key), weft_key_bytes(key) == 8 ? (void *)&v : (void *)&w,
               weft_key_bytes(key));
    }
    free(draw);
}

static int64_t blocks_made(char *out, const struct merge_case *c)
{
    for (int64_t at = 0; at < c->na; at += c->block)
        keys_make(out + (size_t)at * weft_key_bytes(c->key), c->key, c->block < c->na - at ? c->block : c->na - at,
                  c->spread);
    return c->na;
}

static void check(struct test_device *dev, const struct merge_case *c)
{
    size_t kb = weft_key_bytes(c->key), vb = (size_t)c->payload_bytes;
    int64_t n = c->na + c->nb;
    size_t na = (size_t)c->na, nb = (size_t)c->nb, all = na + nb;
    char *a = test_alloc(na * kb), *b = test_alloc(nb * kb), *val = test_alloc(all * 8);
    char *want = test_alloc(all * kb), *want_val = test_alloc(all * 8), *got = test_alloc(all * kb),
         *got_val = test_alloc(all * 8);
    if (c->block)
        blocks_made(a, c);
    else {
        keys_make(a, c->key, c->na, c->spread);
        keys_make(b, c->key, c->nb, c->spread);
    }
    for (size_t i = 0; i < all * vb / 4; i++)
        memcpy(val + i * 4, &(uint32_t){(uint32_t)i}, 4);
    if (c->block)
        weft__ref_merge_blocks(c->key, c->payload_bytes, want, want_val, a, val, n, c->block);
    else
        weft__ref_merge(c->key, c->payload_bytes, want, want_val, a, val, c->na, b, val + na * vb, c->nb);

    struct test_buffer da = test_buffer_make(dev, a, na * kb), da_val = test_buffer_make(dev, val, na * vb),
                       db = test_buffer_make(dev, b, nb * kb), db_val = test_buffer_make(dev, val + na * vb, nb * vb),
                       out = test_buffer_make(dev, NULL, all * kb), out_val = test_buffer_make(dev, NULL, all * vb);
    struct weft_merge_plan *plan = NULL;
    weft_status status = weft_merge_plan_create(&plan, dev->ctx, c->key, c->payload_bytes, n, &c->params);
    if (!status && c->block)
        status = weft_merge_blocks_run(plan, dev->queue, out.mem, vb ? out_val.mem : NULL, da.mem,
                                       vb ? da_val.mem : NULL, n, c->block, 0, NULL, NULL);
    else if (!status)
        status = weft_merge_run(plan, dev->queue, out.mem, vb ? out_val.mem : NULL, da.mem, vb ? da_val.mem : NULL,
                                c->na, db.mem, vb ? db_val.mem : NULL, c->nb, 0, NULL, NULL);
    test_buffer_read(dev, &out, got, all * kb);
    test_buffer_read(dev, &out_val, got_val, all * vb);
    char why[256] = "";
    const int same = check_keys(got, got_val, want, want_val, n, c->key, c->payload_bytes, why, sizeof why);
    int intact = test_buffer_intact(dev, &out) && test_buffer_intact(dev, &out_val);
    if (!tap_ok(!status && same && intact,
                "%s: %s payload %d, %lld + %lld, block %lld, spread %llu, wg %d ipt %d groups %d", dev->name,
                weft_key_name(c->key), c->payload_bytes, (long long)c->na, (long long)c->nb, (long long)c->block,
                (unsigned long long)c->spread, test_value(dev, "merge", &c->params, "wg"),
                test_value(dev, "merge", &c->params, "ipt"), test_value(dev, "merge", &c->params, "groups")))
        tap_note("status %d %s; %s; canaries %s", status, status ? test_error(dev) : "", why,
                 intact ? "intact" : "broken");
    weft_merge_plan_destroy(&plan);
    struct test_buffer *buffers[] = {&da, &da_val, &db, &db_val, &out, &out_val};
    for (size_t i = 0; i < 6; i++)
        test_buffer_free(buffers[i]);
    char *arrays[] = {a, b, val, want, want_val, got, got_val};
    for (size_t i = 0; i < 7; i++)
        free(arrays[i]);
}

// Tuning values of small tiles, so that small inputs meet every edge; then random ones.
static struct weft_merge_params params_small(const struct test_device *dev)
{
    return dev->gpu ? (struct weft_merge_params){.gpu.wg = 32, .gpu.ipt = 3}
                    : (struct weft_merge_params){.cpu.chunk = 7};
}
static struct weft_merge_params params_random(const struct test_device *dev)
{
    return dev->gpu ? (struct weft_merge_params){.gpu.wg = 32 * (int)rng_between(&rng, 1, test_sample() ? 2 : 8),
                                                 .gpu.ipt = (int)rng_between(&rng, 1, 12),
                                                 .gpu.groups = (int)rng_between(&rng, 1, 20)}
                    : (struct weft_merge_params){.cpu.wg = (int)rng_between(&rng, 1, 8),
                                                 .cpu.chunk = (int)rng_between(&rng, 1, 300),
                                                 .cpu.chunks = (int)rng_between(&rng, 1, 20)};
}

static void test_edges(struct test_device *dev)
{
    const int64_t tile = dev->gpu ? 96 : 7;
    const int64_t sizes[] = {0, 1, tile - 1, tile, tile + 1, 2 * tile + 1, 5 * tile};
    const size_t count = sizeof sizes / sizeof *sizes;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++) {
            if (test_sample() && (i + j) % 3)
                continue;
            struct merge_case c = {.na = sizes[i],
                                   .nb = sizes[j],
                                   .spread = (i + j) % 2 ? 0 : 4,
                                   .payload_bytes = 4,
                                   .params = params_small(dev)};
            check(dev, &c);
        }
    const int64_t blocks[] = {1, 2, 3, tile / 2, tile / 2 + 1, tile - 1, tile, tile + 1, 3 * tile, 100000};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        for (size_t j = 0; j < count; j++) {
            if (test_sample() && (i + j) % 3)
                continue;
            struct merge_case c = {.na = sizes[j],
                                   .block = blocks[i],
                                   .spread = (i + j) % 2 ? 0 : 4,
                                   .payload_bytes = 4,
                                   .params = params_small(dev)};
            check(dev, &c);
        }
}

static void test_types(struct test_device *dev)
{
    for (enum weft_key key = WEFT_KEY_U32; key <= WEFT_KEY_I64; key++)
        for (int payload = 0; payload <= 8; payload += 4) {
            if (test_sample() && ((int)key + payload / 4) % 2)
                continue;
            int64_t n = test_sample() ? 150 : 5000;
            struct merge_case c = {.key = key, .payload_bytes = payload, .na = n, .nb = n / 3};
            if (test_sample())
                c.params = params_small(dev);
            check(dev, &c);
            c.block = n / 7;
            c.nb = 0;
            c.spread = 100;
            check(dev, &c);
        }
}

static void test_random(struct test_device *dev)
{
    for (int i = 0; i < (test_sample() ? 2 : 10); i++) {
        int64_t most = test_sample() ? 300 : 6000;
        struct merge_case c = {.key = (enum weft_key)rng_below(&rng, 4),
                               .payload_bytes = 4 * (int)rng_below(&rng, 3),
                               .na = rng_between(&rng, 0, most),
                               .spread = rng_below(&rng, 2) ? 0 : rng_below(&rng, 1000),
                               .params = params_random(dev)};
        if (rng_below(&rng, 2))
            c.block = rng_between(&rng, 1, 1 + (int64_t)rng_below(&rng, (uint64_t)most));
        else
            c.nb = rng_between(&rng, 0, most);
        check(dev, &c);
    }
}

// Runs of one plan follow each other on an out-of-order queue through events: blocks of 1, 2, 4 ... make a sort.
static void test_out_of_order(struct test_device *dev)
{
    cl_command_queue queue = test_queue(dev, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    if (!queue) {
        tap_skip("%s: no out-of-order queue", dev->name);
        return;
    }
    const int64_t n = test_sample() ? 200 : 3000;
    uint32_t *key = test_alloc((size_t)n * 4), *got = test_alloc((size_t)n * 4);
    for (int64_t i = 0; i < n; i++)
        key[i] = (uint32_t)rng_u64(&rng);
    struct test_buffer x = test_buffer_make(dev, key, (size_t)n * 4), y = test_buffer_make(dev, NULL, (size_t)n * 4);
    struct weft_merge_plan *plan = NULL;
    struct weft_merge_params params = params_small(dev);
    weft_status status = weft_merge_plan_create(&plan, dev->ctx, WEFT_KEY_U32, 0, n, &params);
    cl_event events[64];
    cl_uint rounds = 0;
    struct test_buffer *from = &x, *to = &y;
    for (int64_t block = 1; block < n && !status; block *= 2, rounds++) {
        status = weft_merge_blocks_run(plan, queue, to->mem, NULL, from->mem, NULL, n, block, rounds > 0,
                                       rounds ? &events[rounds - 1] : NULL, &events[rounds]);
        struct test_buffer *swap = from;
        from = to;
        to = swap;
    }
    int ordered = !status && clWaitForEvents(1, &events[rounds - 1]) == CL_SUCCESS &&
                  clFinish(queue) == CL_SUCCESS; // Oclgrind runs a queue when it is finished
    test_buffer_read(dev, from, got, (size_t)n * 4);
    for (int64_t i = 1; i < n; i++)
        ordered = ordered && got[i - 1] <= got[i];
    tap_ok(ordered, "%s: rounds of merges on an out-of-order queue", dev->name);
    for (cl_uint i = 0; i < rounds && !status; i++)
        clReleaseEvent(events[i]);
    weft_merge_plan_destroy(&plan);
    test_buffer_free(&x);
    test_buffer_free(&y);
    clReleaseCommandQueue(queue);
    free(key);
    free(got);
}

static void test_errors(struct test_device *dev)
{
    struct weft_merge_plan *plan = NULL;
    size_t bytes = 1;
    struct test_buffer x = test_buffer_make(dev, NULL, 64), y = test_buffer_make(dev, NULL, 64);
    tap_is_int(weft_merge_plan_create(&plan, dev->ctx, (enum weft_key)9, 0, 1, NULL), WEFT_EINVAL, "%s: key type",
               dev->name);
    tap_is_int(weft_merge_plan_create(&plan, dev->ctx, WEFT_KEY_U32, 3, 1, NULL), WEFT_EINVAL, "%s: payload",
               dev->name);
    tap_is_int(weft_merge_plan_create(&plan, dev->ctx, WEFT_KEY_U32, 0, -1, NULL), WEFT_EINVAL, "%s: n_max", dev->name);
    tap_is_int(weft_merge_plan_create(&plan, dev->ctx, WEFT_KEY_U32, 0, 1, weft_merge_params(.gpu.wg = 9, .cpu.wg = 9)),
               WEFT_EINVAL, "%s: wg", dev->name);
    tap_is_int(
        weft_merge_plan_create(&plan, dev->ctx, WEFT_KEY_U32, 0, 1, weft_merge_params(.gpu.ipt = -1, .cpu.chunk = -1)),
        WEFT_EINVAL, "%s: ipt", dev->name);
    tap_ok(plan == NULL, "%s: no plan after an error", dev->name);
    tap_is_int(weft_merge_workspace(&bytes, dev->ctx, WEFT_KEY_U32, 5, 1, NULL), WEFT_EINVAL, "%s: workspace",
               dev->name);
    if (weft_merge_plan_create(&plan, dev->ctx, WEFT_KEY_U32, 4, 16, NULL))
        tap_bail("%s: plan: %s", dev->name, test_error(dev));
    const struct weft_merge_info *info = weft_merge_plan_info(plan);
    tap_ok(test_value(dev, "merge", &info->params, "wg") > 0 && test_value(dev, "merge", &info->params, "ipt") > 0 &&
               test_value(dev, "merge", &info->params, "groups") > 0 && info->why[0],
           "%s: info", dev->name);
    tap_ok(weft_merge_workspace(&bytes, dev->ctx, WEFT_KEY_U32, 4, 16, NULL) == WEFT_OK &&
               bytes == info->workspace_bytes,
           "%s: workspace is what the plan holds", dev->name);
    tap_is_int(weft_merge_run(plan, dev->queue, y.mem, y.mem, x.mem, x.mem, -1, x.mem, x.mem, 1, 0, NULL, NULL),
               WEFT_EINVAL, "%s: negative length", dev->name);
    tap_is_int(weft_merge_run(plan, dev->queue, y.mem, y.mem, x.mem, x.mem, 9, x.mem, x.mem, 9, 0, NULL, NULL),
               WEFT_EINVAL, "%s: beyond n_max", dev->name);
    tap_is_int(weft_merge_run(plan, dev->queue, y.mem, y.mem, x.mem, NULL, 4, x.mem, x.mem, 4, 0, NULL, NULL),
               WEFT_EINVAL, "%s: payload missing", dev->name);
    tap_is_int(weft_merge_run(plan, dev->queue, x.mem, y.mem, x.mem, x.mem, 4, x.mem, x.mem, 4, 0, NULL, NULL),
               WEFT_EINVAL, "%s: output is an input", dev->name);
    tap_is_int(weft_merge_run(plan, dev->queue, y.mem, y.mem, x.mem, x.mem, 4, x.mem, x.mem, 4, 0, NULL, NULL),
               WEFT_EINVAL, "%s: output twice", dev->name);
    tap_is_int(weft_merge_blocks_run(plan, dev->queue, y.mem, y.mem, x.mem, x.mem, 4, 0, 0, NULL, NULL), WEFT_EINVAL,
               "%s: block of nothing", dev->name);
    tap_is_int(weft_merge_blocks_run(plan, dev->queue, NULL, NULL, NULL, NULL, 0, INT64_MAX, 0, NULL, NULL), WEFT_OK,
               "%s: nothing to merge", dev->name);
    weft_merge_plan_destroy(&plan);
    weft_merge_plan_destroy(&plan);
    weft_merge_plan_destroy(NULL);
    test_buffer_free(&x);
    test_buffer_free(&y);
}

static void sweep(struct test_device *dev)
{
    for (int64_t n = 1; n <= 20000000; n = n < 20000 ? n + 1 : n + n / 2) {
        struct merge_case c = {.na = n, .spread = n % 3 ? 0 : 50, .payload_bytes = 4};
        if (n % 2)
            c.block = 1 + (int64_t)rng_below(&rng, (uint64_t)n);
        else {
            c.nb = (int64_t)rng_below(&rng, (uint64_t)n);
            c.na = n - c.nb;
        }
        check(dev, &c);
    }
}

static void test_device(struct test_device *dev)
{
    test_edges(dev);
    test_types(dev);
    test_random(dev);
    test_out_of_order(dev);
    test_errors(dev);
    if (test_slow())
        sweep(dev);
}

int main(void)
{
    rng = rng_start();
    test_device_each(test_device);
    return tap_done();
}
