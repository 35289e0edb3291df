// SPDX-License-Identifier: Apache-2.0
// What transposition refuses, with which status: shapes, types, tuning values, matrices and buffers of a run, device
// matrices, host arrays.
#include "host/internal/tests.h"
#include "tests/support/csr.h"

#include <string.h>

static struct rng rng;

struct shape {
    int64_t m, n, nnz;
};

static void refused(struct test_device *dev, const char *what, struct shape s, int type, int ofs,
                    struct weft_transpose_params params, weft_status want)
{
    struct weft_transpose_plan *op = (struct weft_transpose_plan *)&rng;
    size_t bytes = 1;
    weft_status status = weft_transpose_plan_create(
        &op, dev->ctx, weft_shape(s.m, s.n, s.nnz, (enum weft_type)type, (enum weft_ofs)ofs), &params);
    tap_ok(status == want && !op && *test_error(dev), "%s: refuses %s: %s", dev->name, what, test_error(dev));
    status = weft_transpose_workspace(&bytes, dev->ctx,
                                      weft_shape(s.m, s.n, s.nnz, (enum weft_type)type, (enum weft_ofs)ofs), &params);
    tap_ok(status == want && !bytes, "%s: has no workspace for %s", dev->name, what);
}

static void run_refused(struct test_device *dev, const char *what, struct weft_transpose_plan *op,
                        cl_command_queue queue, struct weft_device_csr a, struct weft_device_csr at, weft_status want)
{
    weft_status status = weft_transpose_run(op, queue, &at, &a, 0, NULL, NULL);
    tap_ok(status == want && *test_error(dev), "%s: run refuses %s: %s", dev->name, what, test_error(dev));
}

// An array of input or output that is larger than a buffer of the device, which may be a processor, and scratch that is not.
static void test_arrays(struct test_device *dev)
{
    static const struct {
        int64_t m, n, nnz;
        enum weft_type type;
        enum weft_ofs ofs;
        const char *what; // NULL: just fits
    } cases[] = {{1, 1, INT64_MAX, WEFT_TYPE_F32, WEFT_OFS_64, ""},
                 {1, 1, 250001, WEFT_TYPE_F32, WEFT_OFS_32, "col needs 1000004 bytes"},
                 {1, 1, 125001, WEFT_TYPE_F64, WEFT_OFS_32, "val needs 1000008 bytes"},
                 {250000, 1, 1, WEFT_TYPE_F32, WEFT_OFS_32, "row_ptr of the input needs 1000004 bytes"},
                 {1, 125000, 0, WEFT_TYPE_F32, WEFT_OFS_64, "row_ptr of the output needs 1000008 bytes"},
                 {249999, 249999, 1, WEFT_TYPE_F64, WEFT_OFS_32, NULL},
                 {1 << 20, 1, 0, WEFT_TYPE_F32, WEFT_OFS_32, NULL}};
    const struct weft_device_info own = dev->ctx->device;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct weft_transpose_plan *op = NULL;
        dev->ctx->device.max_alloc_bytes = 1000000;
        const weft_status status = weft_transpose_plan_create(
            &op, dev->ctx, weft_shape(cases[i].m, cases[i].n, cases[i].nnz, cases[i].type, cases[i].ofs), NULL);
        dev->ctx->device = own;
        tap_ok(cases[i].what ? status == WEFT_ERANGE && !op && strstr(test_error(dev), cases[i].what) : !status,
               "%s: %lld x %lld, %lld entries, in buffers of 1000000 bytes: %s", dev->name, (long long)cases[i].m,
               (long long)cases[i].n, (long long)cases[i].nnz, status ? test_error(dev) : "made");
        weft_transpose_plan_destroy(&op);
    }
}

static void test_errors(struct test_device *dev)
{
    const struct shape good = {10, 20, 30};
    const struct weft_transpose_params none = {.algo = WEFT_TRANSPOSE_ALGO_SCAN};
    struct weft_transpose_params merge = {.algo = WEFT_TRANSPOSE_ALGO_MERGE};
    refused(dev, "m < 0", (struct shape){.m = -1, .n = 1}, 0, 0, none, WEFT_EINVAL);
    refused(dev, "n < 0", (struct shape){.m = 1, .n = -1}, 0, 0, none, WEFT_EINVAL);
    refused(dev, "nnz < 0", (struct shape){.m = 1, .n = 1, .nnz = -1}, 0, 0, none, WEFT_EINVAL);
    refused(dev, "m = 2^31", (struct shape){.m = INT64_C(1) << 31, .n = 1}, 0, 0, none, WEFT_EINVAL);
    refused(dev, "n = 2^31", (struct shape){.m = 1, .n = INT64_C(1) << 31}, 0, 0, none, WEFT_EINVAL);
    refused(dev, "entries without rows", (struct shape){.m = 0, .n = 5, .nnz = 1}, 0, 0, none, WEFT_EINVAL);
    refused(dev, "entries without columns", (struct shape){.m = 5, .n = 0, .nnz = 1}, 0, 0, none, WEFT_EINVAL);
    refused(dev, "an unknown type", good, 99, 0, none, WEFT_EINVAL);
    refused(dev, "a negative type", good, -1, 0, none, WEFT_EINVAL);
    refused(dev, "an unknown width of offsets", good, 0, 7, none, WEFT_EINVAL);
    refused(dev, "2^31 entries with 32-bit offsets", (struct shape){.m = 9, .n = 9, .nnz = INT64_C(1) << 31}, 0,
            WEFT_OFS_32, none, WEFT_ERANGE);
    const int64_t most = INT32_MAX - (1 << 26);
    refused(dev, "entries whose tiles end beyond 32-bit offsets", (struct shape){.m = 9, .n = 9, .nnz = most + 1}, 0,
            WEFT_OFS_32, none, WEFT_ERANGE);
    tap_ok(strstr(test_error(dev), "2080374783 entries") != NULL, "%s: says how many: %s", dev->name, test_error(dev));
    struct weft__transpose_shape full = {.m = 9, .n = 9, .nnz = most, .type = WEFT_TYPE_F32};
    struct weft_transpose_info fits;
    tap_ok(!weft__transpose_plan(&fits, dev->ctx, &full, &none), "%s: plans as many", dev->name);
    refused(dev, "rows whose lanes end beyond 32 bits", (struct shape){.m = INT32_MAX - 9, .n = 9, .nnz = 9}, 0,
            WEFT_OFS_64, none, WEFT_ERANGE);
    struct weft_transpose_plan *empty = NULL;
    tap_ok(!weft_transpose_plan_create(&empty, dev->ctx, weft_shape(INT32_MAX, 9, 0, WEFT_TYPE_F32, WEFT_OFS_32), NULL),
           "%s: 2^31-1 rows without entries", dev->name);
    weft_transpose_plan_destroy(&empty);
    refused(dev, "an unknown method", good, 0, 0, (struct weft_transpose_params){.algo = 7}, WEFT_EINVAL);
    if (dev->gpu) {
        refused(dev, "a negative wg", good, 0, 0, (struct weft_transpose_params){.gpu.wg = -1}, WEFT_EINVAL);
        refused(dev, "a negative ipt", good, 0, 0, (struct weft_transpose_params){.gpu.ipt = -1}, WEFT_EINVAL);
    }
    refused(dev, "negative bits", good, 0, 0, (struct weft_transpose_params){.gpu.bits = -1, .cpu.bits = -1},
            WEFT_EINVAL);
    refused(dev, "negative groups", good, 0, 0, (struct weft_transpose_params){.gpu.groups = -1, .cpu.chunks = -1},
            WEFT_EINVAL);
    for (int algo = WEFT_TRANSPOSE_ALGO_SCAN; algo <= WEFT_TRANSPOSE_ALGO_MERGE; algo++) {
        struct weft_transpose_params p = algo == WEFT_TRANSPOSE_ALGO_SCAN ? none : merge;
        if (dev->gpu) {
            p.gpu.wg = 33;
            refused(dev, "a work-group size", good, 0, 0, p, WEFT_EINVAL);
            p.gpu.wg = 0;
            p.gpu.ipt = 100000;
            refused(dev, "items per work-item", good, 0, 0, p, WEFT_EINVAL);
            p.gpu.ipt = 0;
        }
        p.gpu.bits = p.cpu.bits = 32;
        refused(dev, "too many bits", good, 0, 0, p, WEFT_EINVAL);
        p.gpu.bits = p.cpu.bits = 0;
        p.gpu.groups = p.cpu.chunks = 1 << 30;
        refused(dev, "too many groups", good, 0, 0, p, WEFT_EINVAL);
    }
    if (dev->gpu) {
        struct weft_transpose_params scan = none;
        scan.gpu.wg = 96; // no number of bins is a multiple
        refused(dev, "a work-group of no power of two", good, 0, 0, scan, WEFT_EINVAL);
        tap_ok(strstr(test_error(dev), "a power of two") != NULL, "%s: says what it must be: %s", dev->name,
               test_error(dev));
        merge.gpu.wg = 32;
        merge.gpu.ipt = 2;
        merge.gpu.bits = 11;
        refused(dev, "more than 2^10 runs", good, 0, WEFT_OFS_64, merge, WEFT_EINVAL);
        merge.gpu.bits = 0;
        refused(dev, "more than 2^27 tiles of 64 entries", (struct shape){9, 9, (INT64_C(1) << 33) + 1}, 0, WEFT_OFS_64,
                merge, WEFT_ERANGE);
        // Tiles of two entries to a work-item at least, where the work-group alone is given.
        const int64_t local = dev->ctx->device.local_bytes;
        int tried = 0, small = 0;
        for (int kib = 24; kib <= 64; kib += 8)
            for (int wg = 32; wg <= 1024 && (size_t)wg <= dev->ctx->device.max_wg; wg += 32) {
                const struct weft__transpose_shape shape = {.m = 1000, .n = 1000, .nnz = 100000, .type = WEFT_TYPE_F32};
                struct weft_transpose_info info = {.params = {.algo = WEFT_TRANSPOSE_ALGO_MERGE, .gpu.wg = wg}};
                dev->ctx->device.local_bytes = kib << 10;
                tried += !weft__transpose_merge_gpu.plan(dev->ctx, &shape, &info);
                small += info.params.gpu.ipt < 2;
            }
        dev->ctx->device.local_bytes = local;
        // Buckets of as many bins as a partition take more local memory where the work-group is small.
        const struct weft__transpose_shape tall = {
            .m = 1000, .n = 1 << 24, .nnz = 100000, .type = WEFT_TYPE_F32, .ofs = WEFT_OFS_64, .wide = 1};
        struct weft_transpose_info buckets = {
            .params = {.algo = WEFT_TRANSPOSE_ALGO_SCAN, .gpu = {.wg = 32, .ipt = 1, .bits = 12}}};
        dev->ctx->device.local_bytes = 48 << 10;
        const weft_status beyond = weft__transpose_scan_gpu.plan(dev->ctx, &tall, &buckets);
        dev->ctx->device.local_bytes = local;
        tap_ok(beyond == WEFT_EINVAL, "%s: buckets beyond local memory: %s", dev->name, test_error(dev));
        // Wide digits leave no local memory to find the offsets where entries are counted: that is done apart.
        const struct weft__transpose_shape few = {.m = 90, .n = 4000, .nnz = 700, .type = WEFT_TYPE_F32};
        const struct weft_transpose_info digits = {
            .params = {.algo = WEFT_TRANSPOSE_ALGO_SCAN, .gpu = {.wg = 32, .ipt = 2, .bits = 12, .groups = 1}}};
        struct weft__scan_layout l[2] = {0};
        int planned = 0;
        for (int i = 0; i < 2; i++) {
            struct weft_transpose_info info = digits;
            dev->ctx->device.local_bytes = i ? 32 << 10 : 48 << 10;
            planned += !weft__transpose_scan_gpu.plan(dev->ctx, &few, &info);
            weft__scan_layout_make(&l[i], dev->ctx, &few, &info.params);
        }
        dev->ctx->device.local_bytes = local;
        tap_ok(planned == 2 && l[0].joined == weft__caps_of(dev->ctx).fence && !l[1].joined,
               "%s: offsets of %u bins are found apart in 32 KiB", dev->name, l[1].count_bins);
        struct weft_transpose_info large = {
            .params = {.algo = WEFT_TRANSPOSE_ALGO_SCAN, .gpu = {.wg = 32, .ipt = 64, .bits = 6, .wg_large = 1024}}};
        dev->ctx->device.local_bytes = 48 << 10;
        const weft_status too_large = weft__transpose_scan_gpu.plan(
            dev->ctx, &(struct weft__transpose_shape){.m = 90, .n = 80, .nnz = 700, .type = WEFT_TYPE_F32}, &large);
        dev->ctx->device.local_bytes = local;
        tap_ok(too_large == WEFT_EINVAL && strstr(test_error(dev), "wg"), "%s: large tiles beyond local memory: %s",
               dev->name, test_error(dev));
        tap_ok(tried > 20 && !small, "%s: %d plans by work-group alone, %d of less than two entries", dev->name, tried,
               small);
    }
    struct weft_transpose_plan *op = NULL;
    weft_status status = weft_transpose_plan_create(
        &op, dev->ctx, weft_shape(100, INT32_MAX, INT64_C(1) << 60, WEFT_TYPE_F64, WEFT_OFS_64), NULL);
    tap_ok(status == WEFT_ERANGE && !op, "%s: refuses scratch beyond the device: %s", dev->name, test_error(dev));

    test_arrays(dev);

    struct weft_csr a;
    struct test_csr from, to;
    test_matrix_make(&a, &rng, TEST_UNIFORM, 10, 20, 30, WEFT_TYPE_F32, WEFT_OFS_32);
    test_csr_make(&from, dev, &a, 10, 20, 30, WEFT_TYPE_F32, WEFT_OFS_32);
    test_csr_make(&to, dev, NULL, 20, 10, 30, WEFT_TYPE_F32, WEFT_OFS_32);
    if (!tap_ok(!weft_transpose_plan_create(&op, dev->ctx, weft_shape(10, 20, 30, WEFT_TYPE_F32, WEFT_OFS_32), NULL),
                "%s: an object", dev->name))
        return;
    struct weft_device_csr x = from.d, y = to.d;
    run_refused(dev, "no queue", op, NULL, x, y, WEFT_EINVAL);
#define REFUSE(what, change)                                                                                           \
    x = from.d;                                                                                                        \
    y = to.d;                                                                                                          \
    change;                                                                                                            \
    run_refused(dev, what, op, dev->queue, x, y, WEFT_EINVAL);
    REFUSE("another number of rows", x.m = 11)
    REFUSE("another number of columns", x.n = 11)
    REFUSE("another number of entries", x.nnz = 29)
    REFUSE("another type", x.type = WEFT_TYPE_I32)
    REFUSE("other offsets", x.ofs = WEFT_OFS_64)
    REFUSE("an output that is not turned", y.m = 10; y.n = 20)
    REFUSE("an output of another type", y.type = WEFT_TYPE_PATTERN)
    REFUSE("no row pointers", x.row_ptr = NULL)
    REFUSE("no columns", x.col = NULL)
    REFUSE("no values", x.val = NULL)
    REFUSE("no row pointers of the output", y.row_ptr = NULL)
    REFUSE("no columns of the output", y.col = NULL)
    REFUSE("no values of the output", y.val = NULL)
    REFUSE("a small buffer", x.val = x.row_ptr)
    REFUSE("one buffer for two columns", y.col = x.col)
    REFUSE("one buffer for two values", y.val = x.val)
#undef REFUSE
    run_refused(dev, "something that is no buffer", op, dev->queue,
                (struct weft_device_csr){10, 20, 30, WEFT_TYPE_F32, WEFT_OFS_32, from.d.row_ptr, from.d.col, NULL},
                to.d, WEFT_EINVAL);
    weft_transpose_plan_destroy(&op);
    weft_transpose_plan_destroy(&op);
    weft_transpose_plan_destroy(NULL);

    struct weft_device_csr bad = {.m = 1};
    status = weft_device_csr_alloc(&bad, dev->ctx, weft_shape(-1, 1, 0, WEFT_TYPE_F32, WEFT_OFS_32));
    tap_ok(status == WEFT_EINVAL && !bad.row_ptr && !bad.m, "%s: no buffers for m < 0", dev->name);
    status = weft_device_csr_alloc(&bad, dev->ctx, weft_shape(1, 1, INT64_C(1) << 31, WEFT_TYPE_PATTERN, WEFT_OFS_32));
    tap_ok(status == WEFT_ERANGE && !bad.row_ptr, "%s: no buffers for 2^31 entries with 32-bit offsets", dev->name);
    status = weft_device_csr_alloc(&bad, dev->ctx, weft_shape(1, 1, INT64_C(1) << 60, WEFT_TYPE_PATTERN, WEFT_OFS_64));
    tap_ok(status == WEFT_ERANGE && !bad.row_ptr, "%s: no buffers beyond the device: %s", dev->name, test_error(dev));
    a.nnz = 29;
    status = weft_device_csr_write_sync(&from.d, dev->ctx, dev->queue, &a);
    tap_ok(status == WEFT_EINVAL, "%s: writes no other matrix: %s", dev->name, test_error(dev));
    status = weft_device_csr_read_sync(&a, dev->ctx, dev->queue, &from.d);
    tap_ok(status == WEFT_EINVAL, "%s: reads no other matrix", dev->name);
    a.nnz = 30;
    status = weft_device_csr_write_sync(&from.d, dev->ctx, NULL, &a);
    tap_ok(status == WEFT_EINVAL, "%s: writes nothing without a queue: %s", dev->name, test_error(dev));
    weft_device_csr_free(&bad);
    weft_device_csr_free(NULL);

    struct weft_csr out;
    a.col[3] = 20;
    status = weft_transpose_sync(&out, dev->ctx, &a, NULL);
    tap_ok(status == WEFT_EMATRIX && !out.row_ptr && *test_error(dev), "%s: refuses a column beyond n: %s", dev->name,
           test_error(dev));
    a.col[3] = 0;
    status = weft_transpose_sync(&out, dev->ctx, &a, weft_transpose_params(.algo = 7));
    tap_ok(status == WEFT_EINVAL && !out.row_ptr, "%s: refuses an unknown method with host arrays", dev->name);
    weft_csr_free(&a);
    test_csr_free(&from);
    test_csr_free(&to);
}

// More columns than three passes reach where local memory is small: MergeTrans, whatever AUTO would rather take.
static void test_wide(struct test_device *dev)
{
    const struct weft_shape shape = {.m = 2, .n = INT32_MAX, .nnz = 100000, .type = WEFT_TYPE_F32};
    const int64_t local_bytes = dev->ctx->device.local_bytes;
    size_t bytes = 0, merge = 0;
    if (!dev->gpu)
        return;
    dev->ctx->device.local_bytes = 16384;
    const weft_status scan =
        weft_transpose_workspace(&bytes, dev->ctx, shape, weft_transpose_params(.algo = WEFT_TRANSPOSE_ALGO_SCAN));
    tap_is_int(scan, WEFT_EINVAL, "%s: ScanTrans does not reach all columns with 16 KiB", dev->name);
    const weft_status status = weft_transpose_workspace(&merge, dev->ctx, shape,
                                                        weft_transpose_params(.algo = WEFT_TRANSPOSE_ALGO_MERGE)),
                      chosen = weft_transpose_workspace(&bytes, dev->ctx, shape, NULL);
    tap_ok(!status && !chosen && bytes == merge, "%s: auto then takes MergeTrans", dev->name);
    dev->ctx->device.local_bytes = local_bytes;
}

// AUTO takes MergeTrans for few entries in few columns, and ScanTrans where its values are given.
static void test_few(struct test_device *dev)
{
    const int64_t most = dev->gpu ? 3584 : 30000, columns = dev->gpu ? 4000 : 100000;
    const struct {
        int64_t n, nnz;
        int bits;
        enum weft_transpose_algo algo;
    } cases[] = {{columns, most, 0, WEFT_TRANSPOSE_ALGO_MERGE},
                 {1, 1, 0, WEFT_TRANSPOSE_ALGO_MERGE},
                 {columns, most + 1, 0, WEFT_TRANSPOSE_ALGO_SCAN},
                 {columns + 1, most, 0, WEFT_TRANSPOSE_ALGO_SCAN},
                 {columns, most, 9, WEFT_TRANSPOSE_ALGO_SCAN}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct weft__transpose_shape shape = {
            .m = 2000, .n = cases[i].n, .nnz = cases[i].nnz, .type = WEFT_TYPE_F32};
        struct weft_transpose_params params = {0};
        struct weft_transpose_info info;
        *(dev->gpu ? &params.gpu.bits : &params.cpu.bits) = cases[i].bits;
        const weft_status status = weft__transpose_plan(&info, dev->ctx, &shape, &params);
        tap_ok(!status && info.params.algo == cases[i].algo, "%s: auto, %lld entries in %lld columns, bits %d: %s",
               dev->name, (long long)cases[i].nnz, (long long)cases[i].n, cases[i].bits,
               cases[i].algo == WEFT_TRANSPOSE_ALGO_MERGE ? "merge" : "scan");
    }
}

int main(void)
{
    rng = rng_start();
    test_device_each(test_few);
    test_device_each(test_errors);
    test_device_each(test_wide);
    return tap_done();
}
