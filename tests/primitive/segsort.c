// SPDX-License-Identifier: Apache-2.0
// Segmented sort against its serial reference, in every way a device can run it.
#include "host/common/check_exact.h"
#include "host/internal/inside.h"
#include "tests/support/device.h"
#include "tests/support/fault.h"
#include "tests/support/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/segsort.h>

static struct rng rng;

// How the n elements are divided.
enum split {
    BLOCKS, // blocks of `block` elements
    ONE,    // one segment
    TINY,   // lengths 0 .. 8
    MIXED,  // lengths 0, small, and up to n/2
    EMPTY,  // many empty segments, few others
    HOLLOW  // segments of one element, about 20 empty ones between two
};
static const char *const split_names[] = {"blocks", "one segment", "tiny", "mixed", "mostly empty", "hollow"};

enum place { APART, ALL, KEYS, PAYLOAD }; // what is sorted in place
static const char *const place_names[] = {"", ", in place", ", keys in place", ", payload in place"};
enum keys { ANY, FEW, SAME, DOWN, BIT }; // random; below 5 and negative ones; all equal; descending; one bit differs
static const char *const key_names[] = {"any", "few", "same", "down", "one bit"};

struct sort_case {
    enum weft_key key;
    int payload_bytes;
    enum weft_ofs ofs;
    int64_t n, block;
    enum split split;
    enum keys keys;
    int in_place; // ALL: key and payload
    struct weft_segsort_params params;
    struct weft_segsort_plan *plan; // NULL: one for this case alone
};

static int64_t length_draw(const struct sort_case *c, int64_t left)
{
    int64_t length = c->block;
    if (c->split == ONE)
        length = left;
    else if (c->split == TINY)
        length = rng_between(&rng, 0, 8);
    else if (c->split == MIXED)
        length = rng_below(&rng, 3) ? rng_between(&rng, 0, 20) : rng_between(&rng, 0, 1 + c->n / 2);
    else if (c->split == HOLLOW)
        length = !rng_below(&rng, 20);
    else if (c->split == EMPTY)
        length = rng_below(&rng, 200) ? 0 : rng_between(&rng, 1, 100);
    return length < left ? length : left;
}

// Offsets that cover 0 .. n, with an empty segment at both ends unless they are blocks; *segments of them.
static int64_t *offsets_make(const struct sort_case *c, int64_t *segments)
{
    int64_t room = 64, count = 0, at = 0;
    int64_t *out = test_alloc((size_t)room * 8);
    if (c->split != BLOCKS && c->split != ONE)
        out[count++] = 0;
    while (at < c->n || !count) {
        if (count + 3 > room) {
            room *= 2;
            out = realloc(out, (size_t)room * 8);
            if (!out)
                tap_bail("out of host memory");
        }
        out[count++] = at;
        at += length_draw(c, c->n - at);
    }
    out[count++] = at;
    if (c->split != BLOCKS && c->split != ONE)
        out[count++] = at;
    *segments = count - 1;
    return out;
}

static void keys_make(char *out, const struct sort_case *c)
{
    for (int64_t i = 0; i < c->n; i++) {
        uint64_t v = c->keys == ANY    ? rng_u64(&rng)
                     : c->keys == FEW  ? (uint64_t)rng_between(&rng, -2, 3)
                     : c->keys == SAME ? UINT64_C(0xfffffffffffffff5)
                     : c->keys == BIT  ? UINT64_C(0x123456789abcdef) ^ (rng_u64(&rng) & UINT64_C(0x0000100000001000))
                                       : (uint64_t)(c->n - i) * 3;
        uint32_t w = (uint32_t)v;
        if (weft_key_bytes(c->key) == 8)
            memcpy(out + i * 8, &v, 8);
        else
            memcpy(out + i * 4, &w, 4);
    }
}

static weft_status case_run(struct weft_segsort_plan *plan, struct test_device *dev, const struct sort_case *c,
                            cl_mem key, cl_mem val, cl_mem offsets, int64_t segments, cl_mem out, cl_mem out_val)
{
    if (c->split == BLOCKS)
        return weft_segsort_blocks_run(plan, dev->queue, out, out_val, key, val, c->n, c->block, 0, NULL, NULL);
    return weft_segsort_run(plan, dev->queue, out, out_val, key, val, c->n, offsets, segments, 0, NULL, NULL);
}

static int check(struct test_device *dev, const struct sort_case *c)
{
    size_t kb = weft_key_bytes(c->key), vb = (size_t)c->payload_bytes, n = (size_t)c->n;
    int64_t segments;
    int64_t *offsets = offsets_make(c, &segments);
    size_t ob = weft_ofs_bytes(c->ofs);
    char *key = test_alloc(n * kb), *val = test_alloc(n * 8), *given = test_alloc((size_t)(segments + 1) * 8);
    char *want = test_alloc(n * kb), *want_val = test_alloc(n * 8), *got = test_alloc(n * kb),
         *got_val = test_alloc(n * 8);
    keys_make(key, c);
    for (size_t i = 0; i < n * vb / 4; i++)
        memcpy(val + i * 4, &(uint32_t){(uint32_t)i}, 4);
    for (int64_t i = 0; i <= segments; i++) {
        int32_t narrow = (int32_t)offsets[i];
        memcpy(given + (size_t)i * ob, ob == 8 ? (void *)&offsets[i] : (void *)&narrow, ob);
    }
    if (weft__ref_segsort(c->key, c->payload_bytes, want, want_val, key, val, offsets, segments))
        tap_bail("out of host memory");

    struct test_buffer in = test_buffer_make(dev, key, n * kb), in_val = test_buffer_make(dev, val, n * vb),
                       ofs = test_buffer_make(dev, given, (size_t)(segments + 1) * ob),
                       other = test_buffer_make(dev, NULL, n * kb), other_val = test_buffer_make(dev, NULL, n * vb);
    struct test_buffer *out = c->in_place == ALL || c->in_place == KEYS ? &in : &other;
    struct test_buffer *out_val = c->in_place == ALL || c->in_place == PAYLOAD ? &in_val : &other_val;
    struct weft_segsort_plan *plan = c->plan;
    weft_status status = WEFT_OK;
    if (!plan)
        status = weft_segsort_plan_create(&plan, dev->ctx, c->key, c->payload_bytes, c->ofs, c->n, &c->params);
    if (!status)
        status = case_run(plan, dev, c, in.mem, vb ? in_val.mem : NULL, ofs.mem, segments, out->mem,
                          vb ? out_val->mem : NULL);
    test_buffer_read(dev, out, got, n * kb);
    test_buffer_read(dev, out_val, got_val, n * vb);
    char why[256] = "";
    const int same = check_keys(got, got_val, want, want_val, c->n, c->key, c->payload_bytes, why, sizeof why);
    int intact = test_buffer_intact(dev, &in) && test_buffer_intact(dev, &in_val) && test_buffer_intact(dev, &other) &&
                 test_buffer_intact(dev, &other_val);
    int right = tap_ok(
        !status && same && intact,
        "%s: %s payload %d, %lld %s keys, %s, block %lld, ofs %d%s, wg %d ipt %d bits %d groups %d, form %d wg "
        "%d ipt %d bits %d look %d words %d",
        dev->name, weft_key_name(c->key), c->payload_bytes, (long long)c->n, key_names[c->keys], split_names[c->split],
        (long long)c->block, (int)ob * 8, place_names[c->in_place], test_value(dev, "segsort", &c->params, "wg"),
        test_value(dev, "segsort", &c->params, "ipt"), test_value(dev, "segsort", &c->params, "bits"),
        test_value(dev, "segsort", &c->params, "groups"), (int)c->params.whole, c->params.gpu.radix.wg,
        c->params.gpu.radix.ipt, c->params.gpu.radix.bits, c->params.gpu.radix.look, c->params.gpu.radix.words);
    if (!right)
        tap_note("status %d %s; %s; canaries %s", status, status ? test_error(dev) : "", why,
                 intact ? "intact" : "broken");
    if (!c->plan)
        weft_segsort_plan_destroy(&plan);
    struct test_buffer *buffers[] = {&in, &in_val, &ofs, &other, &other_val};
    for (size_t i = 0; i < 5; i++)
        test_buffer_free(buffers[i]);
    char *arrays[] = {key, val, given, want, want_val, got, got_val};
    for (size_t i = 0; i < 7; i++)
        free(arrays[i]);
    free(offsets);
    return right;
}

// Tuning values of small tiles, so that small inputs meet every edge; then random ones.
static struct weft_segsort_params params_small(const struct test_device *dev)
{
    return dev->gpu ? (struct weft_segsort_params){.gpu.wg = 32, .gpu.ipt = 2, .gpu.bits = 2}
                    : (struct weft_segsort_params){.cpu.chunk = 50, .cpu.chunks = 7};
}
static struct weft_segsort_params params_random(const struct test_device *dev)
{
    return dev->gpu ? (struct weft_segsort_params){.gpu.wg = 32 * (int)rng_between(&rng, 1, 4),
                                                   .gpu.ipt = (int)rng_between(&rng, 2, 6),
                                                   .gpu.bits = (int)rng_between(&rng, 1, 6)}
                    : (struct weft_segsort_params){.cpu.wg = (int)rng_between(&rng, 1, 8),
                                                   .cpu.chunk = (int)rng_between(&rng, 1, 300),
                                                   .cpu.chunks = (int)rng_between(&rng, 1, 20)};
}

static void test_edges(struct test_device *dev)
{
    const int64_t tile = 64, sizes[] = {0, 1, 2, tile - 1, tile, tile + 1, 4 * tile, 4 * tile + 1, 33 * tile + 5};
    const int64_t blocks[] = {1, 2, 31, 33, tile - 1, tile, tile + 1, 2 * tile, 5 * tile + 3};
    const size_t count = sizeof sizes / sizeof *sizes;
    for (size_t i = 0; i < count; i++)
        for (enum split split = ONE; split <= EMPTY; split++) {
            if (test_sample() && (sizes[i] > 300 || (i + (size_t)split) % 4))
                continue;
            struct sort_case c = {.payload_bytes = 4,
                                  .n = sizes[i],
                                  .split = split,
                                  .keys = (enum keys)(i % 4),
                                  .in_place = (int)i % 2,
                                  .params = params_small(dev)};
            check(dev, &c);
        }
    // Either array in place, with any number of digits that differ, among which is none.
    for (int place = APART; place <= PAYLOAD; place++)
        for (enum keys keys = ANY; keys <= BIT; keys++) {
            struct sort_case c = {.payload_bytes = 4,
                                  .n = test_sample() ? 100 : 33 * tile + 5,
                                  .split = ONE,
                                  .keys = keys,
                                  .in_place = place,
                                  .params = params_small(dev)};
            check(dev, &c);
        }
    // More segments than four times the elements of a tile; three chunks for four work-items.
    struct sort_case hollow = {.payload_bytes = 4, .n = 150, .split = HOLLOW, .params = params_small(dev)};
    if (!dev->gpu)
        hollow.params.cpu.wg = 4;
    check(dev, &hollow);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        for (size_t j = 0; j < count; j++) {
            if (test_sample() && (sizes[j] > 300 || (i + j) % 8))
                continue;
            struct sort_case c = {.payload_bytes = 4,
                                  .n = sizes[j],
                                  .block = blocks[i],
                                  .keys = (enum keys)((i + j) % 4),
                                  .in_place = (int)j % 2,
                                  .params = params_small(dev)};
            check(dev, &c);
        }
}

static void test_types(struct test_device *dev)
{
    for (enum weft_key key = WEFT_KEY_U32; key <= WEFT_KEY_I64; key++)
        for (int payload = 0; payload <= 8; payload += 4) {
            if (((int)key + payload / 4) % (test_sample() ? 4 : 2))
                continue;
            struct sort_case c = {.key = key,
                                  .payload_bytes = payload,
                                  .ofs = (int)key % 2 ? WEFT_OFS_64 : WEFT_OFS_32,
                                  .n = test_sample() ? 150 : 5000,
                                  .split = payload ? MIXED : ONE,
                                  .keys = payload == 4 ? FEW : ANY};
            if (test_sample())
                c.params = params_small(dev);
            check(dev, &c);
        }
}

// One segment digit by digit, in tiles of 64 elements; 8 bits a digit, and an odd number of digits, of 11 (7) or 5 bits.
static void test_whole(struct test_device *dev, enum weft_segsort_whole whole)
{
    const int64_t tile = 64, sizes[] = {1, tile - 1, tile, tile + 1, 4 * tile + 1, 33 * tile + 5, 0};
    const int count = sizeof sizes / sizeof *sizes, bits[] = {whole != WEFT_SEGSORT_WHOLE_RADIX ? 5
                                                              : test_sample()                   ? 7
                                                                                                : 11,
                                                              8};
    for (int place = KEYS; place <= PAYLOAD; place++)
        for (enum keys keys = ANY; keys <= SAME; keys += SAME - ANY) { // all alike: no pass, or one that copies
            struct sort_case c = {.payload_bytes = 4,
                                  .n = 200,
                                  .split = ONE,
                                  .keys = keys,
                                  .in_place = place,
                                  .params = params_small(dev)};
            c.params.whole = whole;
            c.params.gpu.radix = (struct weft_segsort_radix){.wg = 32, .ipt = 2, .bits = 8, .look = 2};
            check(dev, &c);
        }
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < count; i++)
            for (enum keys keys = ANY; keys <= BIT; keys++) {
                if ((i + (int)keys) % (k ? 5 : 2) != k)
                    continue;
                if (test_sample() && (sizes[i] > 300 || (i + k + (int)whole) % 3))
                    continue;
                struct sort_case c = {.payload_bytes = 4,
                                      .n = sizes[i],
                                      .split = i % 3 ? ONE : BLOCKS,
                                      .block = sizes[i] + 1 + i % 2,
                                      .keys = keys,
                                      .in_place = (i + (int)keys / 2 + k) % 2,
                                      .params = params_small(dev)};
                c.params.whole = whole;
                c.params.gpu.radix = (struct weft_segsort_radix){.wg = 32, .ipt = 2, .bits = bits[k], .look = 1 + k};
                check(dev, &c);
            }
    // Every key and payload; work-groups larger and smaller than the number of bins; positions of 64 bits.
    for (enum weft_key key = WEFT_KEY_U32; key <= WEFT_KEY_I64; key++)
        for (int payload = 0; payload <= 8; payload += 4) {
            if (((int)key + payload / 4 + (int)whole) % 4)
                continue;
            struct sort_case c = {.key = key,
                                  .payload_bytes = payload,
                                  .ofs = (int)key % 2 ? WEFT_OFS_64 : WEFT_OFS_32,
                                  .n = test_sample() ? 130 : 2000,
                                  .split = ONE,
                                  .keys = payload == 4 ? FEW : ANY,
                                  .in_place = payload == 8,
                                  .params = params_small(dev)};
            c.params.whole = whole;
            c.params.gpu.radix = (struct weft_segsort_radix){.wg = 32 << key % 3, .ipt = 3, .bits = 6 + payload / 4};
            c.params.gpu.radix.words = 2 - (int)key % 2;
            check(dev, &c);
        }
}

static cl_int(CL_API_CALL *build_as_before)(cl_program, cl_uint, const cl_device_id *, const char *,
                                            void(CL_CALLBACK *)(cl_program, void *), void *);
static int stuck_builds;

static cl_int CL_API_CALL build_stuck(cl_program program, cl_uint n, const cl_device_id *devices, const char *options,
                                      void(CL_CALLBACK *notify)(cl_program, void *), void *arg)
{
    char text[512];
    snprintf(text, sizeof text, "%s -DWEFT_STUCK=3", options ? options : "");
    stuck_builds++;
    return build_as_before(program, n, devices, text, notify, arg);
}

// One plan for several sorts, long ones and short ones: what one leaves behind is no harm to the next. stuck: one tile of
// three says nothing, and the tiles behind have to count it themselves.
static void test_whole_again(struct test_device *dev, enum weft_segsort_whole whole, int stuck)
{
    const int64_t most = (test_sample() ? 8 : 40) * 64 + 3, sizes[] = {most, 65, most - 64, 300, most};
    struct weft_segsort_params params = params_small(dev);
    params.whole = whole;
    const int wg = stuck ? 64 : whole == WEFT_SEGSORT_WHOLE_RADIX ? 128 : 32; // one, two and four groups of lanes
    params.gpu.radix = (struct weft_segsort_radix){.wg = wg, .ipt = stuck ? 3 : 2, .bits = 8, .look = 2};
    struct weft_segsort_plan *plan = NULL;
    if (stuck) {
        build_as_before = weft__cl.clBuildProgram;
        weft__cl.clBuildProgram = build_stuck;
        stuck_builds = 0;
        dev->ctx->salt = 0x57c4; // caches do not see the option: these programs are other texts to them
    }
    weft_status status = weft_segsort_plan_create(&plan, dev->ctx, WEFT_KEY_U32, 4, WEFT_OFS_32, most, &params);
    if (stuck) {
        weft__cl.clBuildProgram = build_as_before;
        dev->ctx->salt = 0;
    }
    int ok = !status && (!stuck || stuck_builds);
    for (size_t i = 0; ok && i < sizeof sizes / sizeof *sizes; i++) {
        struct sort_case c = {.key = WEFT_KEY_U32,
                              .payload_bytes = 4,
                              .n = sizes[i],
                              .split = ONE,
                              .keys = (enum keys)(i % 5),
                              .in_place = (int)i / 2 % 2,
                              .params = params,
                              .plan = plan};
        ok = check(dev, &c);
    }
    tap_ok(ok, "%s: whole sorts in a row with one plan, form %d%s", dev->name, (int)whole,
           stuck ? ", one tile of three says nothing" : "");
    weft_segsort_plan_destroy(&plan);
}

static void test_random(struct test_device *dev)
{
    for (int i = 0; i < (test_sample() ? 2 : 6); i++) {
        struct weft_segsort_params params = params_random(dev);
        enum weft_key key = (enum weft_key)rng_below(&rng, 4);
        int payload = 4 * (int)rng_below(&rng, 3);
        for (int k = 0; k < (test_sample() ? 2 : 8); k++) {
            struct sort_case c = {.key = key,
                                  .payload_bytes = payload,
                                  .n = rng_between(&rng, 0, test_sample() ? 300 : 6000),
                                  .split = (enum split)rng_below(&rng, 5),
                                  .keys = (enum keys)rng_below(&rng, 4),
                                  .in_place = (int)rng_below(&rng, 2),
                                  .params = params};
            c.block = rng_between(&rng, 1, 1 + c.n);
            check(dev, &c);
        }
    }
}

// Two sorts in a row on an out-of-order queue, joined by an event: the second one finds the first one's result.
static void test_out_of_order(struct test_device *dev)
{
    enum { N = 500 };
    cl_command_queue queue = test_queue(dev, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    if (!queue) {
        tap_skip("%s: no out-of-order queue", dev->name);
        return;
    }
    uint32_t key[N], got[N];
    int64_t offsets[] = {0, N};
    uint32_t want[N];
    for (int i = 0; i < N; i++)
        key[i] = (uint32_t)rng_u64(&rng);
    if (weft__ref_segsort(WEFT_KEY_U32, 0, want, NULL, key, NULL, offsets, 1))
        tap_bail("out of host memory");
    struct test_buffer x = test_buffer_make(dev, key, sizeof key), y = test_buffer_make(dev, NULL, sizeof key);
    struct weft_segsort_plan *plan = NULL;
    struct weft_segsort_params params = params_small(dev);
    cl_event first = NULL, second = NULL;
    weft_status status = weft_segsort_plan_create(&plan, dev->ctx, WEFT_KEY_U32, 0, WEFT_OFS_32, N, &params);
    if (!status)
        status = weft_segsort_blocks_run(plan, queue, y.mem, NULL, x.mem, NULL, N, N / 3, 0, NULL, &first);
    if (!status)
        status = weft_segsort_blocks_run(plan, queue, x.mem, NULL, y.mem, NULL, N, N, 1, &first, &second);
    int right = !status && clWaitForEvents(1, &second) == CL_SUCCESS && clFinish(queue) == CL_SUCCESS;
    test_buffer_read(dev, &x, got, sizeof got);
    tap_ok(right && !memcmp(got, want, sizeof got), "%s: two sorts on an out-of-order queue", dev->name);
    if (first)
        clReleaseEvent(first);
    if (second)
        clReleaseEvent(second);
    weft_segsort_plan_destroy(&plan);
    test_buffer_free(&x);
    test_buffer_free(&y);
    clReleaseCommandQueue(queue);
}

static void refused(struct test_device *dev, const char *what, enum weft_key key, int payload, int ofs, int64_t n_max,
                    const struct weft_segsort_params *params, weft_status want)
{
    struct weft_segsort_plan *plan = (struct weft_segsort_plan *)&rng;
    size_t bytes = 1;
    tap_ok(weft_segsort_plan_create(&plan, dev->ctx, key, payload, (enum weft_ofs)ofs, n_max, params) == want &&
               !plan &&
               weft_segsort_workspace(&bytes, dev->ctx, key, payload, (enum weft_ofs)ofs, n_max, params) == want,
           "%s: refuses %s: %s", dev->name, what, test_error(dev));
}

// A launch that is refused half-way is no harm to the next sort of the plan.
static void test_whole_failed(struct test_device *dev, enum weft_segsort_whole whole)
{
    enum { N = 130 };
    const int64_t offsets[] = {0, N};
    uint32_t key[N], got[N], want[N];
    for (int i = 0; i < N; i++)
        key[i] = (uint32_t)rng_u64(&rng);
    if (weft__ref_segsort(WEFT_KEY_U32, 0, want, NULL, key, NULL, offsets, 1))
        tap_bail("out of host memory");
    struct test_buffer x = test_buffer_make(dev, key, sizeof key), y = test_buffer_make(dev, NULL, sizeof key);
    struct weft_segsort_params params = params_small(dev);
    params.whole = whole;
    params.gpu.radix = (struct weft_segsort_radix){.wg = 32, .ipt = 2, .bits = 8, .look = 2};
    struct weft_segsort_plan *plan = NULL;
    fault_install();
    int ok = !weft_segsort_plan_create(&plan, dev->ctx, WEFT_KEY_U32, 0, WEFT_OFS_32, N, &params), failed = 0;
    for (int launch = 2; ok && launch <= 4; launch++) {
        fault_set_error(FAULT_clEnqueueNDRangeKernel, launch, CL_OUT_OF_RESOURCES);
        failed += weft_segsort_blocks_run(plan, dev->queue, y.mem, NULL, x.mem, NULL, N, N, 0, NULL, NULL) != WEFT_OK;
        fault_set(FAULT_clEnqueueNDRangeKernel, 0);
        ok = !weft_segsort_blocks_run(plan, dev->queue, y.mem, NULL, x.mem, NULL, N, N, 0, NULL, NULL);
        test_buffer_read(dev, &y, got, sizeof got);
        ok = ok && !memcmp(got, want, sizeof got);
    }
    fault_remove();
    tap_ok(ok && failed == 3, "%s: a sort after one that failed half-way, form %d", dev->name, (int)whole);
    weft_segsort_plan_destroy(&plan);
    test_buffer_free(&x);
    test_buffer_free(&y);
}

// What the forms of a whole sort refuse, and which form a plan says that it takes.
static void test_whole_errors(struct test_device *dev)
{
    struct whole {
        enum weft_segsort_whole whole;
        struct weft_segsort_radix radix;
        int64_t n;
        const char *what, *said;
        weft_status status;
    };
    const struct whole gpu[] = {
        {WEFT_SEGSORT_WHOLE_RADIX, {.wg = 48}, 9, "radix.wg", "radix.wg", WEFT_EINVAL},
        {WEFT_SEGSORT_WHOLE_RADIX, {.ipt = 1}, 9, "radix.ipt", "radix.ipt", WEFT_EINVAL},
        {WEFT_SEGSORT_WHOLE_RADIX, {.bits = 12}, 9, "radix.bits", "radix.bits", WEFT_EINVAL},
        {WEFT_SEGSORT_WHOLE_CHAINED, {.look = 33}, 9, "radix.look", "radix.look", WEFT_EINVAL},
        {WEFT_SEGSORT_WHOLE_CHAINED, {.words = 3}, 9, "radix.words", "radix.words", WEFT_EINVAL},
        {WEFT_SEGSORT_WHOLE_AUTO, {.wg = -32}, 1 << 20, "radix.wg of auto", "radix.wg", WEFT_EINVAL},
        {WEFT_SEGSORT_WHOLE_CHAINED, {0}, 1 << 30, "2^30 elements that look back", "too many", WEFT_ERANGE},
    };
    const struct whole cpu[] = {
        {WEFT_SEGSORT_WHOLE_RADIX, {0}, 9, "digits", "CPU", WEFT_EUNSUPPORTED},
        {WEFT_SEGSORT_WHOLE_CHAINED, {0}, 9, "digits that look back", "CPU", WEFT_EUNSUPPORTED},
    };
    const struct whole *cases = dev->gpu ? gpu : cpu;
    for (size_t i = 0; i < (dev->gpu ? sizeof gpu : sizeof cpu) / sizeof *gpu; i++) {
        struct weft_segsort_params params = {.whole = cases[i].whole, .gpu.radix = cases[i].radix};
        refused(dev, cases[i].what, WEFT_KEY_U32, 4, WEFT_OFS_32, cases[i].n, &params, cases[i].status);
        tap_ok(strstr(test_error(dev), cases[i].said) != NULL, "%s: and says so", dev->name);
    }
    // Which form auto is: the scratch tells. Merges where the array is small, or the local memory.
    const int64_t local = dev->ctx->device.local_bytes;
    for (int i = 0; i < 3; i++) {
        size_t bytes[4] = {0};
        struct weft_segsort_params params = params_small(dev);
        dev->ctx->device.local_bytes = i == 2 ? 2048 : local;
        for (int whole = WEFT_SEGSORT_WHOLE_AUTO; whole <= WEFT_SEGSORT_WHOLE_CHAINED; whole++) {
            params.whole = (enum weft_segsort_whole)whole;
            weft_segsort_workspace(&bytes[whole], dev->ctx, WEFT_KEY_U32, 4, WEFT_OFS_32, (1 << 17) - !i, &params);
        }
        const int merged = bytes[0] == bytes[1], digits = bytes[0] == bytes[2] || bytes[0] == bytes[3];
        tap_ok(bytes[1] && (dev->gpu && i == 1 ? digits && !merged : merged && !digits), "%s: auto %s", dev->name,
               dev->gpu && i == 1 ? "goes by digits" : "merges");
        if (dev->gpu && i == 2) {
            params.whole = WEFT_SEGSORT_WHOLE_RADIX;
            refused(dev, "digits that exceed the local memory", WEFT_KEY_U32, 4, WEFT_OFS_32, 9, &params, WEFT_EINVAL);
        }
    }
    dev->ctx->device.local_bytes = local;
}

static void test_errors(struct test_device *dev)
{
    struct weft_segsort_plan *plan = NULL;
    struct test_buffer x = test_buffer_make(dev, NULL, 64), y = test_buffer_make(dev, NULL, 64);
    refused(dev, "a key type", (enum weft_key)9, 0, WEFT_OFS_32, 1, NULL, WEFT_EINVAL);
    refused(dev, "a payload", WEFT_KEY_U32, 3, WEFT_OFS_32, 1, NULL, WEFT_EINVAL);
    refused(dev, "a width of offsets", WEFT_KEY_U32, 0, 7, 1, NULL, WEFT_EINVAL);
    refused(dev, "n_max", WEFT_KEY_U32, 0, WEFT_OFS_32, -1, NULL, WEFT_EINVAL);
    refused(dev, "n_max beyond offsets", WEFT_KEY_U32, 0, WEFT_OFS_32, INT64_C(1) << 31, NULL, WEFT_ERANGE);
    refused(dev, "wg", WEFT_KEY_U32, 0, WEFT_OFS_32, 1, weft_segsort_params(.gpu.wg = 9, .cpu.wg = 9), WEFT_EINVAL);
    refused(dev, "ipt", WEFT_KEY_U32, 0, WEFT_OFS_32, 1, weft_segsort_params(.gpu.ipt = -1, .cpu.chunk = -1),
            WEFT_EINVAL);
    if (dev->gpu)
        refused(dev, "bits", WEFT_KEY_U32, 0, WEFT_OFS_32, 1, weft_segsort_params(.gpu.bits = 9), WEFT_EINVAL);
    else
        refused(dev, "chunks", WEFT_KEY_U32, 0, WEFT_OFS_32, 1, weft_segsort_params(.cpu.chunks = -1), WEFT_EINVAL);
    refused(dev, "a form", WEFT_KEY_U32, 0, WEFT_OFS_32, 1, weft_segsort_params(.whole = (enum weft_segsort_whole)4),
            WEFT_EINVAL);
    test_whole_errors(dev);
    struct weft_segsort_params params = params_small(dev);
    if (weft_segsort_plan_create(&plan, dev->ctx, WEFT_KEY_U32, 4, WEFT_OFS_32, 16, &params))
        tap_bail("%s: plan: %s", dev->name, test_error(dev));
    size_t bytes = 1;
    const struct weft_segsort_info *info = weft_segsort_plan_info(plan);
    tap_ok(test_value(dev, "segsort", &info->params, "wg") > 0 &&
               test_value(dev, "segsort", &info->params, "ipt") > 0 &&
               test_value(dev, "segsort", &info->params, dev->gpu ? "bits" : "groups") > 0 && info->why[0],
           "%s: info", dev->name);
    tap_ok(weft_segsort_workspace(&bytes, dev->ctx, WEFT_KEY_U32, 4, WEFT_OFS_32, 16, &params) == WEFT_OK &&
               bytes == info->workspace_bytes,
           "%s: workspace is what the plan holds", dev->name);
    cl_command_queue q = dev->queue;
    tap_is_int(weft_segsort_run(plan, q, x.mem, x.mem, x.mem, x.mem, -1, y.mem, 1, 0, NULL, NULL), WEFT_EINVAL,
               "%s: negative length", dev->name);
    tap_is_int(weft_segsort_run(plan, q, x.mem, x.mem, x.mem, x.mem, 4, y.mem, 0, 0, NULL, NULL), WEFT_EINVAL,
               "%s: no segments", dev->name);
    tap_is_int(weft_segsort_run(plan, q, x.mem, x.mem, x.mem, x.mem, 17, y.mem, 1, 0, NULL, NULL), WEFT_EINVAL,
               "%s: beyond n_max", dev->name);
    tap_is_int(weft_segsort_blocks_run(plan, q, x.mem, x.mem, x.mem, x.mem, 4, 2, 0, NULL, NULL), WEFT_EINVAL,
               "%s: output twice", dev->name);
    tap_is_int(weft_segsort_run(plan, q, x.mem, x.mem, x.mem, NULL, 4, y.mem, 1, 0, NULL, NULL), WEFT_EINVAL,
               "%s: payload missing", dev->name);
    tap_is_int(weft_segsort_run(plan, q, x.mem, x.mem, x.mem, x.mem, 4, y.mem, 16, 0, NULL, NULL), WEFT_EINVAL,
               "%s: offsets too small", dev->name);
    tap_is_int(weft_segsort_blocks_run(plan, q, x.mem, x.mem, x.mem, x.mem, 4, 0, 0, NULL, NULL), WEFT_EINVAL,
               "%s: block of nothing", dev->name);
    tap_is_int(weft_segsort_run(plan, q, NULL, NULL, NULL, NULL, 0, NULL, 0, 0, NULL, NULL), WEFT_OK,
               "%s: nothing to sort", dev->name);
    weft_segsort_plan_destroy(&plan);
    weft_segsort_plan_destroy(&plan);
    weft_segsort_plan_destroy(NULL);
    test_buffer_free(&x);
    test_buffer_free(&y);
}

static void sweep(struct test_device *dev)
{
    for (int64_t n = 1; n <= 20000000; n = n < 20000 ? n + 1 : n + n / 2) {
        struct sort_case c = {.payload_bytes = 4, .n = n, .split = (enum split)(n % 5), .keys = (enum keys)(n / 5 % 4)};
        c.block = 1 + (int64_t)rng_below(&rng, (uint64_t)n);
        check(dev, &c);
    }
}

static void test_device(struct test_device *dev)
{
    test_edges(dev);
    test_types(dev);
    test_random(dev);
    for (enum weft_segsort_whole whole = WEFT_SEGSORT_WHOLE_RADIX; dev->gpu && whole <= WEFT_SEGSORT_WHOLE_CHAINED;
         whole++) {
        test_whole(dev, whole);
        test_whole_again(dev, whole, 0);
        test_whole_failed(dev, whole);
    }
    if (dev->gpu)
        test_whole_again(dev, WEFT_SEGSORT_WHOLE_CHAINED, 1);
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
