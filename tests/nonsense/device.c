// SPDX-License-Identifier: Apache-2.0
// Contexts and the primitives.
#include "nonsense.h"

#define OFS(x) ((enum weft_ofs)(x))
#define KEY(x) ((enum weft_key)(x))
#define SUM(x) ((enum weft_scan_type)(x))

static void test_context(struct test_device *dev)
{
    struct weft_context *ctx = (struct weft_context *)dev;
    struct weft_device_info *list = (struct weft_device_info *)dev, probed = {0};
    size_t count = 7;
    CASE(weft_devices_list);
    NO("out is NULL", weft_devices_list(NULL, &count, &err));
    tap_ok(!count, "no devices");
    NO("count is NULL", weft_devices_list(&list, NULL, &err));
    tap_ok(!list, "no list");
    CASE(weft_devices_free);
    weft_devices_free(NULL);
    weft_devices_free(&list);
    CASE(weft_device_default);
    tap_is_int(weft_device_default(NULL, 3), -1, "no list");
    tap_is_int(weft_device_default(&probed, 0), -1, "a list of none");
    CASE(weft_device_find);
    tap_is_int(weft_device_find(NULL, 3, "0"), -1, "no list");
    tap_is_int(weft_device_find(NULL, 3, NULL), -1, "no list, no text");
    tap_is_int(weft_device_find(&probed, 0, "gpu"), -1, "a list of none");
    CASE(weft_device_probe);
    SILENT(weft_device_probe(NULL));
    SILENT(weft_device_probe(&probed));
    tap_is_str(probed.why, "id is NULL", "a device of zeros");
    CASE(weft_selftest);
    SILENT(weft_selftest(NULL, NULL, NULL));
    CASE(weft_context_create);
    NO("out is NULL", weft_context_create(NULL, NULL, &err));
    NO("schedule is 77", weft_context_create(&ctx, weft_context_params(.schedule = (enum weft_schedule)77), &err));
    NO("schedule is -1", weft_context_create(&ctx, weft_context_params(.schedule = (enum weft_schedule) - 1), &err));
    NO("lanes is 77", weft_context_create(&ctx, weft_context_params(.lanes = (enum weft_lanes)77), &err));
    NO("wave is 7", weft_context_create(&ctx, weft_context_params(.lanes = WEFT_LANES_SUBGROUPS, .wave = 7), &err));
    tap_ok(!ctx, "no context");
    tap_is_int(weft_context_create(&ctx, weft_context_params(.select = "-1"), NULL), WEFT_ENODEV, "device -1");
    tap_is_int(weft_context_create(&ctx, weft_context_params(.device = (cl_device_id)&list), NULL), WEFT_ENODEV,
               "a device that is none");
    CASE(weft_context_destroy);
    weft_context_destroy(NULL);
    weft_context_destroy(&ctx);
    CASE(weft_context_device);
    tap_ok(!weft_context_device(NULL), "of no context");
    CASE(weft_context_cl);
    tap_ok(!weft_context_cl(NULL), "of no context");
    CASE(weft_context_schedule);
    tap_ok(!weft_context_schedule(NULL), "of no context");
    CASE(weft_context_error);
    struct weft_error error;
    weft_context_error(NULL, dev->ctx);
    weft_context_error(NULL, NULL);
    weft_context_error(&error, NULL);
    tap_is_str(error.text, "ctx is NULL", "of no context");
    CASE(weft_context_trim);
    weft_context_trim(NULL);
    CASE(weft_context_on_launch);
    weft_context_on_launch(NULL, NULL, NULL);
    CASE(weft_context_build_stats);
    struct weft_build_stats stats = {1, 1, 1, 1};
    weft_context_build_stats(NULL, dev->ctx);
    weft_context_build_stats(&stats, NULL);
    ZERO(stats);
}

static void test_scan(struct test_device *dev, cl_mem a, cl_mem b)
{
    struct weft_scan_plan *plan = (struct weft_scan_plan *)dev;
    cl_event none = NULL;
    size_t bytes = 7;
    CASE(weft_scan_in_bytes);
    tap_ok(!weft_scan_in_bytes(SUM(77)) && !weft_scan_in_bytes(SUM(-1)), "no type");
    CASE(weft_scan_sum_bytes);
    tap_ok(!weft_scan_sum_bytes(SUM(77)) && !weft_scan_sum_bytes(SUM(-1)), "no type");
    CASE(weft_scan_type_name);
    tap_is_str(weft_scan_type_name(SUM(-1)), "unknown", "no type");
    CASE(weft_scan_workspace);
    SILENT(weft_scan_workspace(&bytes, NULL, WEFT_SCAN_TYPE_I32, 1, NULL));
    tap_ok(!bytes, "no bytes");
    NO_IN("out_bytes is NULL", weft_scan_workspace(NULL, dev->ctx, WEFT_SCAN_TYPE_I32, 1, NULL));
    NO_IN("type 77", weft_scan_workspace(&bytes, dev->ctx, SUM(77), 1, NULL));
    CASE(weft_scan_plan_create);
    SILENT(weft_scan_plan_create(&plan, NULL, WEFT_SCAN_TYPE_I32, 1, NULL));
    tap_ok(!plan, "no plan");
    NO_IN("out is NULL", weft_scan_plan_create(NULL, dev->ctx, WEFT_SCAN_TYPE_I32, 1, NULL));
    NO_IN("type 77", weft_scan_plan_create(&plan, dev->ctx, SUM(77), 1, NULL));
    NO_IN("n_max is -1", weft_scan_plan_create(&plan, dev->ctx, WEFT_SCAN_TYPE_I32, -1, NULL));
    NO_IN("77", weft_scan_plan_create(&plan, dev->ctx, WEFT_SCAN_TYPE_I32, 1,
                                      weft_scan_params(.algo = (enum weft_scan_algo)77)));
    NO_IN("wg",
          weft_scan_plan_create(&plan, dev->ctx, WEFT_SCAN_TYPE_I32, 1, weft_scan_params(.gpu.wg = -1, .cpu.wg = -1)));
    NO_IN(dev->gpu ? "ipt" : "chunk",
          weft_scan_plan_create(&plan, dev->ctx, WEFT_SCAN_TYPE_I32, 1,
                                weft_scan_params(.gpu.ipt = INT32_MIN, .cpu.chunk = INT32_MIN)));
    NO_IN(dev->gpu ? "groups" : "chunks", weft_scan_plan_create(&plan, dev->ctx, WEFT_SCAN_TYPE_I32, 1,
                                                                weft_scan_params(.gpu.groups = -1, .cpu.chunks = -1)));
    tap_is_int(weft_scan_plan_create(&plan, dev->ctx, WEFT_SCAN_TYPE_I64, INT64_MAX,
                                     weft_scan_params(.algo = WEFT_SCAN_ALGO_THREE)) == WEFT_OK,
               dev->gpu ? 0 : 1, "2^63-1 elements");
    weft_scan_plan_destroy(&plan);
    if (weft_scan_plan_create(&plan, dev->ctx, WEFT_SCAN_TYPE_I32, 4, NULL))
        tap_bail("no plan: %s", test_error(dev));
    CASE(weft_scan_run);
    SILENT(weft_scan_run(NULL, dev->queue, b, a, 1, 0, NULL, NULL));
    NO_IN("queue is NULL", weft_scan_run(plan, NULL, b, a, 1, 0, NULL, NULL));
    NO_IN("in is NULL", weft_scan_run(plan, dev->queue, b, NULL, 1, 0, NULL, NULL));
    NO_IN("out is NULL", weft_scan_run(plan, dev->queue, NULL, a, 1, 0, NULL, NULL));
    NO_IN("n is -1", weft_scan_run(plan, dev->queue, b, a, -1, 0, NULL, NULL));
    NO_IN("n is 5", weft_scan_run(plan, dev->queue, b, a, 5, 0, NULL, NULL));
    NO_IN("n is -9", weft_scan_run(plan, dev->queue, b, a, INT64_MIN, 0, NULL, NULL));
    NO_IN("wait is NULL", weft_scan_run(plan, dev->queue, b, a, 1, 1, NULL, NULL));
    NO_IN("wait[0] is NULL", weft_scan_run(plan, dev->queue, b, a, 1, 1, &none, NULL));
    CASE(weft_scan_plan_info);
    tap_ok(!weft_scan_plan_info(NULL), "no info of no plan");
    CASE(weft_scan_plan_destroy);
    weft_scan_plan_destroy(NULL);
    weft_scan_plan_destroy(&plan);
    weft_scan_plan_destroy(&plan);
    int32_t x[4] = {0};
    CASE(weft_scan_sync);
    SILENT(weft_scan_sync(x, NULL, x, 1, WEFT_SCAN_TYPE_I32, NULL));
    NO_IN("in: the host array is NULL", weft_scan_sync(x, dev->ctx, NULL, 1, WEFT_SCAN_TYPE_I32, NULL));
    NO_IN("out: the host array is NULL", weft_scan_sync(NULL, dev->ctx, x, 1, WEFT_SCAN_TYPE_I32, NULL));
    NO_IN("type 77", weft_scan_sync(x, dev->ctx, x, 1, SUM(77), NULL));
    NO_IN("-1", weft_scan_sync(x, dev->ctx, x, -1, WEFT_SCAN_TYPE_I32, NULL));
}

static void test_histogram(struct test_device *dev, cl_mem a, cl_mem b)
{
    struct weft_histogram_plan *plan = (struct weft_histogram_plan *)dev;
    size_t bytes = 7;
    CASE(weft_histogram_workspace);
    SILENT(weft_histogram_workspace(&bytes, NULL, 4, WEFT_OFS_32, 4, NULL));
    tap_ok(!bytes, "no bytes");
    NO_IN("out_bytes is NULL", weft_histogram_workspace(NULL, dev->ctx, 4, WEFT_OFS_32, 4, NULL));
    CASE(weft_histogram_plan_create);
    SILENT(weft_histogram_plan_create(&plan, NULL, 4, WEFT_OFS_32, 4, NULL));
    tap_ok(!plan, "no plan");
    NO_IN("out is NULL", weft_histogram_plan_create(NULL, dev->ctx, 4, WEFT_OFS_32, 4, NULL));
    NO_IN("bins", weft_histogram_plan_create(&plan, dev->ctx, -1, WEFT_OFS_32, 4, NULL));
    NO_IN("bins", weft_histogram_plan_create(&plan, dev->ctx, INT64_MAX, WEFT_OFS_32, 4, NULL));
    NO_IN("bins", weft_histogram_plan_create(&plan, dev->ctx, INT64_MIN, WEFT_OFS_32, 4, NULL));
    NO_IN("offsets 9", weft_histogram_plan_create(&plan, dev->ctx, 4, OFS(9), 4, NULL));
    NO_IN("n_max", weft_histogram_plan_create(&plan, dev->ctx, 4, WEFT_OFS_32, -1, NULL));
    NO_IN("algorithm 77", weft_histogram_plan_create(&plan, dev->ctx, 4, WEFT_OFS_32, 4,
                                                     weft_histogram_params(.algo = (enum weft_histogram_algo)77)));
    NO_IN("wg", weft_histogram_plan_create(&plan, dev->ctx, 4, WEFT_OFS_32, 4,
                                           weft_histogram_params(.gpu.wg = -1, .cpu.wg = -1)));
    NO_IN(dev->gpu ? "ipt" : "chunk",
          weft_histogram_plan_create(&plan, dev->ctx, 4, WEFT_OFS_32, 4,
                                     weft_histogram_params(.gpu.ipt = -1, .cpu.chunk = -1)));
    NO_IN(dev->gpu ? "groups" : "chunks",
          weft_histogram_plan_create(&plan, dev->ctx, 4, WEFT_OFS_32, 4,
                                     weft_histogram_params(.gpu.groups = -1, .cpu.chunks = -1)));
    NO_IN("slab",
          weft_histogram_plan_create(&plan, dev->ctx, 4, WEFT_OFS_64, 4, weft_histogram_params(.slab = INT64_MIN)));
    if (weft_histogram_plan_create(&plan, dev->ctx, 4, WEFT_OFS_32, 4, NULL))
        tap_bail("no plan: %s", test_error(dev));
    CASE(weft_histogram_run);
    SILENT(weft_histogram_run(NULL, dev->queue, b, a, 1, 0, NULL, NULL));
    NO_IN("queue is NULL", weft_histogram_run(plan, NULL, b, a, 1, 0, NULL, NULL));
    NO_IN("idx is NULL", weft_histogram_run(plan, dev->queue, b, NULL, 1, 0, NULL, NULL));
    NO_IN("out is NULL", weft_histogram_run(plan, dev->queue, NULL, a, 1, 0, NULL, NULL));
    NO_IN("n is -1", weft_histogram_run(plan, dev->queue, b, a, -1, 0, NULL, NULL));
    NO_IN("wait is NULL", weft_histogram_run(plan, dev->queue, b, a, 1, 1, NULL, NULL));
    NO_IN("out and idx are the same", weft_histogram_run(plan, dev->queue, a, a, 1, 0, NULL, NULL));
    CASE(weft_histogram_plan_info);
    tap_ok(!weft_histogram_plan_info(NULL), "no info of no plan");
    CASE(weft_histogram_plan_destroy);
    weft_histogram_plan_destroy(NULL);
    weft_histogram_plan_destroy(&plan);
    int32_t x[4] = {0};
    CASE(weft_histogram_sync);
    SILENT(weft_histogram_sync(x, NULL, x, 1, 4, WEFT_OFS_32, NULL));
    NO_IN("idx: the host array is NULL", weft_histogram_sync(x, dev->ctx, NULL, 1, 4, WEFT_OFS_32, NULL));
    NO_IN("out: the host array is NULL", weft_histogram_sync(NULL, dev->ctx, x, 1, 4, WEFT_OFS_32, NULL));
    NO_IN("n_max", weft_histogram_sync(x, dev->ctx, x, INT64_MIN, 4, WEFT_OFS_32, NULL));
    NO_IN("bins", weft_histogram_sync(x, dev->ctx, x, 1, -1, WEFT_OFS_32, NULL));
    NO_IN("offsets 9", weft_histogram_sync(x, dev->ctx, x, 1, 4, OFS(9), NULL));
}

static void test_expand(struct test_device *dev, cl_mem a, cl_mem b)
{
    struct weft_expand_plan *plan = (struct weft_expand_plan *)dev;
    size_t bytes = 7;
    CASE(weft_expand_workspace);
    SILENT(weft_expand_workspace(&bytes, NULL, 4, 4, WEFT_OFS_32, NULL));
    tap_ok(!bytes, "no bytes");
    NO_IN("out_bytes is NULL", weft_expand_workspace(NULL, dev->ctx, 4, 4, WEFT_OFS_32, NULL));
    CASE(weft_expand_plan_create);
    SILENT(weft_expand_plan_create(&plan, NULL, 4, 4, WEFT_OFS_32, NULL));
    tap_ok(!plan, "no plan");
    NO_IN("out is NULL", weft_expand_plan_create(NULL, dev->ctx, 4, 4, WEFT_OFS_32, NULL));
    NO_IN("m_max", weft_expand_plan_create(&plan, dev->ctx, -1, 4, WEFT_OFS_32, NULL));
    NO_IN("m_max", weft_expand_plan_create(&plan, dev->ctx, INT64_MAX, 4, WEFT_OFS_32, NULL));
    NO_IN("nnz_max", weft_expand_plan_create(&plan, dev->ctx, 4, INT64_MIN, WEFT_OFS_32, NULL));
    NO_IN("offsets 9", weft_expand_plan_create(&plan, dev->ctx, 4, 4, OFS(9), NULL));
    NO_IN("wg",
          weft_expand_plan_create(&plan, dev->ctx, 4, 4, WEFT_OFS_32, weft_expand_params(.gpu.wg = -1, .cpu.wg = -1)));
    NO_IN(dev->gpu ? "ipt" : "chunk", weft_expand_plan_create(&plan, dev->ctx, 4, 4, WEFT_OFS_32,
                                                              weft_expand_params(.gpu.ipt = -1, .cpu.chunk = -1)));
    NO_IN(dev->gpu ? "groups" : "chunks",
          weft_expand_plan_create(&plan, dev->ctx, 4, 4, WEFT_OFS_32,
                                  weft_expand_params(.gpu.groups = -1, .cpu.chunks = -1)));
    if (weft_expand_plan_create(&plan, dev->ctx, 4, 4, WEFT_OFS_32, NULL))
        tap_bail("no plan: %s", test_error(dev));
    CASE(weft_expand_run);
    SILENT(weft_expand_run(NULL, dev->queue, b, a, 1, 1, 0, NULL, NULL));
    NO_IN("queue is NULL", weft_expand_run(plan, NULL, b, a, 1, 1, 0, NULL, NULL));
    NO_IN("row_ptr is NULL", weft_expand_run(plan, dev->queue, b, NULL, 1, 1, 0, NULL, NULL));
    NO_IN("row is NULL", weft_expand_run(plan, dev->queue, NULL, a, 1, 1, 0, NULL, NULL));
    NO_IN("rows", weft_expand_run(plan, dev->queue, b, a, -1, 1, 0, NULL, NULL));
    NO_IN("positions", weft_expand_run(plan, dev->queue, b, a, 1, INT64_MIN, 0, NULL, NULL));
    NO_IN("no rows", weft_expand_run(plan, dev->queue, b, a, 0, 1, 0, NULL, NULL));
    NO_IN("wait is NULL", weft_expand_run(plan, dev->queue, b, a, 1, 1, 1, NULL, NULL));
    NO_IN("row and row_ptr are the same", weft_expand_run(plan, dev->queue, a, a, 1, 1, 0, NULL, NULL));
    CASE(weft_expand_plan_info);
    tap_ok(!weft_expand_plan_info(NULL), "no info of no plan");
    CASE(weft_expand_plan_destroy);
    weft_expand_plan_destroy(NULL);
    weft_expand_plan_destroy(&plan);
    int32_t x[4] = {0};
    CASE(weft_expand_sync);
    SILENT(weft_expand_sync(x, NULL, x, 1, 0, WEFT_OFS_32, NULL));
    NO_IN("row_ptr: the host array is NULL", weft_expand_sync(x, dev->ctx, NULL, 0, 0, WEFT_OFS_32, NULL));
    NO_IN("row: the host array is NULL", weft_expand_sync(NULL, dev->ctx, x, 1, 1, WEFT_OFS_32, NULL));
    NO_IN("m_max", weft_expand_sync(x, dev->ctx, x, -1, 1, WEFT_OFS_32, NULL));
    NO_IN("nnz_max", weft_expand_sync(x, dev->ctx, x, 1, INT64_MIN, WEFT_OFS_32, NULL));
    NO_IN("offsets 9", weft_expand_sync(x, dev->ctx, x, 1, 0, OFS(9), NULL));
}

static void test_merge(struct test_device *dev, cl_mem a, cl_mem b)
{
    struct weft_merge_plan *plan = (struct weft_merge_plan *)dev;
    const int64_t large = INT64_MAX;
    size_t bytes = 7;
    CASE(weft_merge_workspace);
    SILENT(weft_merge_workspace(&bytes, NULL, WEFT_KEY_U32, 0, 4, NULL));
    tap_ok(!bytes, "no bytes");
    NO_IN("out_bytes is NULL", weft_merge_workspace(NULL, dev->ctx, WEFT_KEY_U32, 0, 4, NULL));
    CASE(weft_merge_plan_create);
    SILENT(weft_merge_plan_create(&plan, NULL, WEFT_KEY_U32, 0, 4, NULL));
    tap_ok(!plan, "no plan");
    NO_IN("out is NULL", weft_merge_plan_create(NULL, dev->ctx, WEFT_KEY_U32, 0, 4, NULL));
    NO_IN("key type 77", weft_merge_plan_create(&plan, dev->ctx, KEY(77), 0, 4, NULL));
    NO_IN("key type -1", weft_merge_plan_create(&plan, dev->ctx, KEY(-1), 0, 4, NULL));
    NO_IN("payload_bytes", weft_merge_plan_create(&plan, dev->ctx, WEFT_KEY_U32, 3, 4, NULL));
    NO_IN("payload_bytes", weft_merge_plan_create(&plan, dev->ctx, WEFT_KEY_U32, -4, 4, NULL));
    NO_IN("n_max", weft_merge_plan_create(&plan, dev->ctx, WEFT_KEY_U32, 0, INT64_MIN, NULL));
    NO_IN("wg",
          weft_merge_plan_create(&plan, dev->ctx, WEFT_KEY_U32, 0, 4, weft_merge_params(.gpu.wg = -1, .cpu.wg = -1)));
    NO_IN(dev->gpu ? "ipt" : "chunk", weft_merge_plan_create(&plan, dev->ctx, WEFT_KEY_U32, 0, 4,
                                                             weft_merge_params(.gpu.ipt = -1, .cpu.chunk = -1)));
    NO_IN(dev->gpu ? "groups" : "chunks",
          weft_merge_plan_create(&plan, dev->ctx, WEFT_KEY_U32, 0, 4,
                                 weft_merge_params(.gpu.groups = -1, .cpu.chunks = -1)));
    if (weft_merge_plan_create(&plan, dev->ctx, WEFT_KEY_U32, 0, 4, NULL))
        tap_bail("no plan: %s", test_error(dev));
    CASE(weft_merge_run);
    SILENT(weft_merge_run(NULL, dev->queue, b, NULL, a, NULL, 1, a, NULL, 1, 0, NULL, NULL));
    NO_IN("queue is NULL", weft_merge_run(plan, NULL, b, NULL, a, NULL, 1, a, NULL, 1, 0, NULL, NULL));
    NO_IN("keys is NULL", weft_merge_run(plan, dev->queue, b, NULL, NULL, NULL, 1, a, NULL, 1, 0, NULL, NULL));
    NO_IN("b_key is NULL", weft_merge_run(plan, dev->queue, b, NULL, a, NULL, 1, NULL, NULL, 1, 0, NULL, NULL));
    NO_IN("out_key is NULL", weft_merge_run(plan, dev->queue, NULL, NULL, a, NULL, 1, a, NULL, 1, 0, NULL, NULL));
    NO_IN("lengths", weft_merge_run(plan, dev->queue, b, NULL, a, NULL, -1, a, NULL, 1, 0, NULL, NULL));
    NO_IN("lengths", weft_merge_run(plan, dev->queue, b, NULL, a, NULL, large, a, NULL, large, 0, NULL, NULL));
    NO_IN("at most 4", weft_merge_run(plan, dev->queue, b, NULL, a, NULL, 4, a, NULL, 1, 0, NULL, NULL));
    NO_IN("wait is NULL", weft_merge_run(plan, dev->queue, b, NULL, a, NULL, 1, a, NULL, 1, 1, NULL, NULL));
    CASE(weft_merge_blocks_run);
    SILENT(weft_merge_blocks_run(NULL, dev->queue, b, NULL, a, NULL, 2, 1, 0, NULL, NULL));
    NO_IN("queue is NULL", weft_merge_blocks_run(plan, NULL, b, NULL, a, NULL, 2, 1, 0, NULL, NULL));
    NO_IN("keys is NULL", weft_merge_blocks_run(plan, dev->queue, b, NULL, NULL, NULL, 2, 1, 0, NULL, NULL));
    NO_IN("block 0", weft_merge_blocks_run(plan, dev->queue, b, NULL, a, NULL, 2, 0, 0, NULL, NULL));
    NO_IN("n is -1", weft_merge_blocks_run(plan, dev->queue, b, NULL, a, NULL, -1, 1, 0, NULL, NULL));
    CASE(weft_merge_plan_info);
    tap_ok(!weft_merge_plan_info(NULL), "no info of no plan");
    CASE(weft_merge_plan_destroy);
    weft_merge_plan_destroy(NULL);
    weft_merge_plan_destroy(&plan);
    uint32_t x[4] = {1, 2, 3, 1}, y[4] = {0};
    CASE(weft_merge_sync);
    SILENT(weft_merge_sync(y, NULL, NULL, x, NULL, 2, x, NULL, 2, WEFT_KEY_U32, 0, NULL));
    NO_IN("a_key: the host array is NULL",
          weft_merge_sync(y, NULL, dev->ctx, NULL, NULL, 2, x, NULL, 2, WEFT_KEY_U32, 0, NULL));
    NO_IN("b_payload: the host array is NULL",
          weft_merge_sync(y, y, dev->ctx, x, x, 2, x, NULL, 2, WEFT_KEY_U32, 4, NULL));
    NO_IN("out_key: the host array is NULL",
          weft_merge_sync(NULL, NULL, dev->ctx, x, NULL, 2, x, NULL, 2, WEFT_KEY_U32, 0, NULL));
    NO_IN("b_key: element 3 is less",
          weft_merge_sync(y, NULL, dev->ctx, x, NULL, 0, x, NULL, 4, WEFT_KEY_U32, 0, NULL));
    NO_IN("na", weft_merge_sync(y, NULL, dev->ctx, x, NULL, INT64_MIN, x, NULL, 2, WEFT_KEY_U32, 0, NULL));
    NO_IN("nb", weft_merge_sync(y, NULL, dev->ctx, x, NULL, 1, x, NULL, large, WEFT_KEY_U32, 0, NULL));
    NO_IN("key type 77", weft_merge_sync(y, NULL, dev->ctx, x, NULL, 2, x, NULL, 2, KEY(77), 0, NULL));
    NO_IN("payload_bytes", weft_merge_sync(y, NULL, dev->ctx, x, NULL, 2, x, NULL, 2, WEFT_KEY_U32, -4, NULL));
}

static void test_segsort(struct test_device *dev, cl_mem a, cl_mem b)
{
    struct weft_segsort_plan *plan = (struct weft_segsort_plan *)dev;
    size_t bytes = 7;
    CASE(weft_segsort_workspace);
    SILENT(weft_segsort_workspace(&bytes, NULL, WEFT_KEY_U32, 0, WEFT_OFS_32, 4, NULL));
    tap_ok(!bytes, "no bytes");
    NO_IN("out_bytes is NULL", weft_segsort_workspace(NULL, dev->ctx, WEFT_KEY_U32, 0, WEFT_OFS_32, 4, NULL));
    CASE(weft_segsort_plan_create);
    SILENT(weft_segsort_plan_create(&plan, NULL, WEFT_KEY_U32, 0, WEFT_OFS_32, 4, NULL));
    tap_ok(!plan, "no plan");
    NO_IN("out is NULL", weft_segsort_plan_create(NULL, dev->ctx, WEFT_KEY_U32, 0, WEFT_OFS_32, 4, NULL));
    NO_IN("key type 77", weft_segsort_plan_create(&plan, dev->ctx, KEY(77), 0, WEFT_OFS_32, 4, NULL));
    NO_IN("payload_bytes", weft_segsort_plan_create(&plan, dev->ctx, WEFT_KEY_U32, 5, WEFT_OFS_32, 4, NULL));
    NO_IN("9", weft_segsort_plan_create(&plan, dev->ctx, WEFT_KEY_U32, 0, OFS(9), 4, NULL));
    NO_IN("n_max", weft_segsort_plan_create(&plan, dev->ctx, WEFT_KEY_U32, 0, WEFT_OFS_32, -1, NULL));
    NO_IN("form 77", weft_segsort_plan_create(&plan, dev->ctx, WEFT_KEY_U32, 0, WEFT_OFS_32, 4,
                                              weft_segsort_params(.whole = (enum weft_segsort_whole)77)));
    NO_IN("wg", weft_segsort_plan_create(&plan, dev->ctx, WEFT_KEY_U32, 0, WEFT_OFS_32, 4,
                                         weft_segsort_params(.gpu.wg = -1, .cpu.wg = -1)));
    NO_IN(dev->gpu ? "ipt" : "chunk", weft_segsort_plan_create(&plan, dev->ctx, WEFT_KEY_U32, 0, WEFT_OFS_32, 4,
                                                               weft_segsort_params(.gpu.ipt = -1, .cpu.chunk = -1)));
    if (dev->gpu)
        NO_IN("bits", weft_segsort_plan_create(&plan, dev->ctx, WEFT_KEY_U32, 0, WEFT_OFS_32, 4,
                                               weft_segsort_params(.gpu.bits = -1)));
    else
        NO_IN("chunks", weft_segsort_plan_create(&plan, dev->ctx, WEFT_KEY_U32, 0, WEFT_OFS_32, 4,
                                                 weft_segsort_params(.cpu.chunks = -1)));
    if (weft_segsort_plan_create(&plan, dev->ctx, WEFT_KEY_U32, 0, WEFT_OFS_32, 4, NULL))
        tap_bail("no plan: %s", test_error(dev));
    CASE(weft_segsort_run);
    SILENT(weft_segsort_run(NULL, dev->queue, b, NULL, a, NULL, 2, a, 1, 0, NULL, NULL));
    NO_IN("queue is NULL", weft_segsort_run(plan, NULL, b, NULL, a, NULL, 2, a, 1, 0, NULL, NULL));
    NO_IN("key is NULL", weft_segsort_run(plan, dev->queue, b, NULL, NULL, NULL, 2, a, 1, 0, NULL, NULL));
    NO_IN("offsets is NULL", weft_segsort_run(plan, dev->queue, b, NULL, a, NULL, 2, NULL, 1, 0, NULL, NULL));
    NO_IN("out_key is NULL", weft_segsort_run(plan, dev->queue, NULL, NULL, a, NULL, 2, a, 1, 0, NULL, NULL));
    NO_IN("-1 segments", weft_segsort_run(plan, dev->queue, b, NULL, a, NULL, 2, a, -1, 0, NULL, NULL));
    NO_IN("segments", weft_segsort_run(plan, dev->queue, b, NULL, a, NULL, 2, a, INT64_MAX, 0, NULL, NULL));
    NO_IN("-1 elements", weft_segsort_run(plan, dev->queue, b, NULL, a, NULL, -1, a, 1, 0, NULL, NULL));
    NO_IN("wait is NULL", weft_segsort_run(plan, dev->queue, b, NULL, a, NULL, 2, a, 1, 1, NULL, NULL));
    NO_IN("out_key and offsets", weft_segsort_run(plan, dev->queue, b, NULL, a, NULL, 2, b, 1, 0, NULL, NULL));
    CASE(weft_segsort_blocks_run);
    SILENT(weft_segsort_blocks_run(NULL, dev->queue, b, NULL, a, NULL, 2, 1, 0, NULL, NULL));
    NO_IN("queue is NULL", weft_segsort_blocks_run(plan, NULL, b, NULL, a, NULL, 2, 1, 0, NULL, NULL));
    NO_IN("block 0", weft_segsort_blocks_run(plan, dev->queue, b, NULL, a, NULL, 2, 0, 0, NULL, NULL));
    NO_IN("n is -1", weft_segsort_blocks_run(plan, dev->queue, b, NULL, a, NULL, -1, 1, 0, NULL, NULL));
    CASE(weft_segsort_plan_info);
    tap_ok(!weft_segsort_plan_info(NULL), "no info of no plan");
    CASE(weft_segsort_plan_destroy);
    weft_segsort_plan_destroy(NULL);
    weft_segsort_plan_destroy(&plan);
    uint32_t x[4] = {0, 2, 1, 1}, y[4] = {0};
    CASE(weft_segsort_sync);
    SILENT(weft_segsort_sync(y, NULL, NULL, x, NULL, 2, x, 1, WEFT_KEY_U32, 0, WEFT_OFS_32, NULL));
    NO_IN("key: the host array is NULL",
          weft_segsort_sync(y, NULL, dev->ctx, NULL, NULL, 2, x, 1, WEFT_KEY_U32, 0, WEFT_OFS_32, NULL));
    NO_IN("offsets: the host array is NULL",
          weft_segsort_sync(y, NULL, dev->ctx, x, NULL, 2, NULL, 1, WEFT_KEY_U32, 0, WEFT_OFS_32, NULL));
    NO_IN("out_payload: the host array is NULL",
          weft_segsort_sync(y, NULL, dev->ctx, x, x, 2, x, 1, WEFT_KEY_U32, 4, WEFT_OFS_32, NULL));
    NO_IN("segments", weft_segsort_sync(y, NULL, dev->ctx, x, NULL, 2, x, -1, WEFT_KEY_U32, 0, WEFT_OFS_32, NULL));
    NO_IN("n_max", weft_segsort_sync(y, NULL, dev->ctx, x, NULL, -1, x, 1, WEFT_KEY_U32, 0, WEFT_OFS_32, NULL));
    NO_IN("key type 77", weft_segsort_sync(y, NULL, dev->ctx, x, NULL, 2, x, 1, KEY(77), 0, WEFT_OFS_32, NULL));
}

void nonsense_device(struct test_device *dev)
{
    struct test_buffer a = test_buffer_make(dev, NULL, 64), b = test_buffer_make(dev, NULL, 64);
    tap_note("%s", dev->name);
    test_context(dev);
    test_scan(dev, a.mem, b.mem);
    test_histogram(dev, a.mem, b.mem);
    test_expand(dev, a.mem, b.mem);
    test_merge(dev, a.mem, b.mem);
    test_segsort(dev, a.mem, b.mem);
    test_buffer_free(&a);
    test_buffer_free(&b);
}
