// SPDX-License-Identifier: Apache-2.0
// Operations on matrices of a device.
#include "nonsense.h"

#define TYPE(x) ((enum weft_type)(x))
#define OFS(x)  ((enum weft_ofs)(x))

static int32_t row_ptr[] = {0, 2, 3}, row[] = {0, 0, 1}, col[] = {0, 2, 1};
static float val[] = {1, 2, 3}, x[] = {1, 2, 3}, y[] = {0, 0, 0};
static const struct weft_csr good = {.m = 2, .n = 3, .nnz = 3, .row_ptr = row_ptr, .col = col, .val = val};
static const struct weft_coo coo = {.m = 2, .n = 3, .nnz = 3, .row = row, .col = col, .val = val};

// Matrices of the host that no function may take.
static const struct {
    int64_t m, n, nnz;
    int type, ofs;
    int32_t *row_ptr, *col;
    float *val;
    const char *word;
} bad[] = {
    {-1, 3, 3, 0, 0, row_ptr, col, val, "m, n"}, {2, INT64_MAX, 3, 0, 0, row_ptr, col, val, "m, n"},
    {2, 3, -1, 0, 0, row_ptr, col, val, "nnz"},  {2, 3, 3, 77, 0, row_ptr, col, val, "type 77"},
    {2, 3, 3, 0, 9, row_ptr, col, val, "ofs 9"}, {2, 3, 3, 0, 0, NULL, col, val, "row_ptr"},
    {2, 3, 3, 0, 0, row_ptr, NULL, val, "col"},  {2, 3, 3, 0, 0, row_ptr, col, NULL, "val"},
};
enum { BADS = sizeof bad / sizeof *bad };
static struct weft_csr bad_csr(int i)
{
    return (struct weft_csr){bad[i].m,        bad[i].n,       bad[i].nnz, TYPE(bad[i].type),
                             OFS(bad[i].ofs), bad[i].row_ptr, bad[i].col, bad[i].val};
}

// Shapes, types and widths that no object may be made for.
static const struct {
    int64_t m, n, nnz;
    int type, ofs;
    const char *word;
} shapes[] = {
    {-1, 3, 3, 0, 0, "sizes"},     {2, INT64_MIN, 3, 0, 0, "sizes"},
    {2, 3, -1, 0, 0, "sizes"},     {INT64_MAX, 3, 3, 0, 0, "sizes"},
    {2, 3, 3, 77, 0, "type 77"},   {2, 3, 3, -1, 0, "type -1"},
    {2, 3, 3, 0, 9, "9"},          {0, 3, 3, 0, 0, "no entries"},
    {2, 0, 3, 0, 0, "no entries"},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };
#define SHAPE(i) weft_shape(shapes[i].m, shapes[i].n, shapes[i].nnz, TYPE(shapes[i].type), OFS(shapes[i].ofs))

// One that objects may be made for.
#define OK_SHAPE weft_shape(2, 3, 3, WEFT_TYPE_F32, WEFT_OFS_32)

static void test_device_csr(struct test_device *dev, const struct weft_device_csr *a)
{
    struct weft_device_csr out, lost;
    struct weft_csr to;
    CASE(weft_device_csr_alloc);
    memset(&out, 1, sizeof out);
    SILENT(weft_device_csr_alloc(&out, NULL, OK_SHAPE));
    ZERO(out);
    NO_IN("out is NULL", weft_device_csr_alloc(NULL, dev->ctx, OK_SHAPE));
    for (int i = 0; i < SHAPES; i++)
        NO_IN(shapes[i].word, weft_device_csr_alloc(&out, dev->ctx, SHAPE(i)));
    ZERO(out);
    CASE(weft_device_csr_free);
    weft_device_csr_free(NULL);
    weft_device_csr_free(&out);
    CASE(weft_device_csr_write_sync);
    SILENT(weft_device_csr_write_sync(a, NULL, dev->queue, &good));
    NO_IN("queue is NULL", weft_device_csr_write_sync(a, dev->ctx, NULL, &good));
    NO_IN("device matrix is NULL", weft_device_csr_write_sync(NULL, dev->ctx, dev->queue, &good));
    NO_IN("matrix is NULL", weft_device_csr_write_sync(a, dev->ctx, dev->queue, NULL));
    lost = *a;
    lost.col = NULL;
    NO_IN("is NULL", weft_device_csr_write_sync(&lost, dev->ctx, dev->queue, &good));
    lost.col = lost.row_ptr;
    lost.row_ptr = a->col;
    lost.m = 1;
    NO_IN("matrix", weft_device_csr_write_sync(&lost, dev->ctx, dev->queue, &good));
    for (int i = 0; i < BADS; i++) {
        to = bad_csr(i);
        CASE(weft_device_csr_write_sync);
        NO_IN(bad[i].word, weft_device_csr_write_sync(a, dev->ctx, dev->queue, &to));
        CASE(weft_device_csr_read_sync);
        NO_IN(bad[i].word, weft_device_csr_read_sync(&to, dev->ctx, dev->queue, a));
    }
    to = good;
    SILENT(weft_device_csr_read_sync(&to, NULL, dev->queue, a));
    NO_IN("queue is NULL", weft_device_csr_read_sync(&to, dev->ctx, NULL, a));
    NO_IN("device matrix is NULL", weft_device_csr_read_sync(&to, dev->ctx, dev->queue, NULL));
    NO_IN("matrix is NULL", weft_device_csr_read_sync(NULL, dev->ctx, dev->queue, a));
    float one = 1;
    CASE(weft_device_write_sync);
    SILENT(weft_device_write_sync(a->val, NULL, dev->queue, &one, 4));
    NO_IN("queue is NULL", weft_device_write_sync(a->val, dev->ctx, NULL, &one, 4));
    NO_IN("device array is NULL", weft_device_write_sync(NULL, dev->ctx, dev->queue, &one, 4));
    NO_IN("host array is NULL", weft_device_write_sync(a->val, dev->ctx, dev->queue, NULL, 4));
    NO_IN("device array has", weft_device_write_sync(a->val, dev->ctx, dev->queue, &one, (size_t)1 << 40));
    CASE(weft_device_read_sync);
    SILENT(weft_device_read_sync(&one, NULL, dev->queue, a->val, 4));
    NO_IN("queue is NULL", weft_device_read_sync(&one, dev->ctx, NULL, a->val, 4));
    NO_IN("device array is NULL", weft_device_read_sync(&one, dev->ctx, dev->queue, NULL, 4));
    NO_IN("host array is NULL", weft_device_read_sync(NULL, dev->ctx, dev->queue, a->val, 4));
    NO_IN("device array has", weft_device_read_sync(&one, dev->ctx, dev->queue, a->val, (size_t)1 << 40));
}

static void test_device_coo(struct test_device *dev)
{
    struct weft_device_coo out;
    CASE(weft_device_coo_alloc);
    memset(&out, 1, sizeof out);
    SILENT(weft_device_coo_alloc(&out, NULL, OK_SHAPE));
    ZERO(out);
    NO_IN("out is NULL", weft_device_coo_alloc(NULL, dev->ctx, SHAPE(0)));
    for (int i = 0; i < SHAPES; i++)
        if (!shapes[i].ofs)
            NO_IN(shapes[i].word, weft_device_coo_alloc(&out, dev->ctx, SHAPE(i)));
    ZERO(out);
    tap_ok(!weft_device_coo_alloc(&out, dev->ctx, weft_shape(.ofs = OFS(9))) && out.row && !out.nnz,
           "no width of offsets is looked at");
    CASE(weft_device_coo_free);
    weft_device_coo_free(NULL);
    weft_device_coo_free(&out);
    ZERO(out);
    weft_device_coo_free(&out);
}

static void test_transpose(struct test_device *dev, const struct weft_device_csr *a, const struct weft_device_csr *at)
{
    struct weft_transpose_plan *op = (struct weft_transpose_plan *)dev;
    struct weft_csr out, host;
    struct weft_device_csr lost = *a;
    size_t bytes = 7;
    CASE(weft_transpose_workspace);
    SILENT(weft_transpose_workspace(&bytes, NULL, OK_SHAPE, NULL));
    tap_ok(!bytes, "no bytes");
    NO_IN("out_bytes is NULL", weft_transpose_workspace(NULL, dev->ctx, OK_SHAPE, NULL));
    for (int i = 0; i < SHAPES; i++)
        NO_IN(shapes[i].word, weft_transpose_workspace(&bytes, dev->ctx, SHAPE(i), NULL));
    CASE(weft_transpose_plan_create);
    SILENT(weft_transpose_plan_create(&op, NULL, OK_SHAPE, NULL));
    tap_ok(!op, "no object");
    NO_IN("out is NULL", weft_transpose_plan_create(NULL, dev->ctx, OK_SHAPE, NULL));
    for (int i = 0; i < SHAPES; i++)
        NO_IN(shapes[i].word, weft_transpose_plan_create(&op, dev->ctx, SHAPE(i), NULL));
    NO_IN("algo 77", weft_transpose_plan_create(&op, dev->ctx, OK_SHAPE,
                                                weft_transpose_params(.algo = (enum weft_transpose_algo)77)));
    if (dev->gpu)
        NO_IN("wg is -1", weft_transpose_plan_create(&op, dev->ctx, OK_SHAPE, weft_transpose_params(.gpu.wg = -1)));
    NO_IN(dev->gpu ? "groups" : "chunks",
          weft_transpose_plan_create(&op, dev->ctx, OK_SHAPE,
                                     weft_transpose_params(.gpu.groups = INT32_MIN, .cpu.chunks = INT32_MIN)));
    if (weft_transpose_plan_create(&op, dev->ctx, OK_SHAPE, NULL))
        tap_bail("no object: %s", test_error(dev));
    CASE(weft_transpose_run);
    SILENT(weft_transpose_run(NULL, dev->queue, at, a, 0, NULL, NULL));
    NO_IN("queue is NULL", weft_transpose_run(op, NULL, at, a, 0, NULL, NULL));
    NO_IN("a is NULL", weft_transpose_run(op, dev->queue, at, NULL, 0, NULL, NULL));
    NO_IN("at is NULL", weft_transpose_run(op, dev->queue, NULL, a, 0, NULL, NULL));
    NO_IN("wait is NULL", weft_transpose_run(op, dev->queue, at, a, 1, NULL, NULL));
    lost.val = NULL;
    NO_IN("val is NULL", weft_transpose_run(op, dev->queue, at, &lost, 0, NULL, NULL));
    lost = *at;
    lost.col = at->val;
    NO_IN("two arrays of the output", weft_transpose_run(op, dev->queue, &lost, a, 0, NULL, NULL));
    CASE(weft_transpose_plan_info);
    tap_ok(!weft_transpose_plan_info(NULL), "no info of no plan");
    CASE(weft_transpose_plan_destroy);
    weft_transpose_plan_destroy(NULL);
    weft_transpose_plan_destroy(&op);
    CASE(weft_transpose_sync);
    memset(&out, 1, sizeof out);
    SILENT(weft_transpose_sync(&out, NULL, &good, NULL));
    ZERO(out);
    NO_IN("out is NULL", weft_transpose_sync(NULL, dev->ctx, &good, NULL));
    NO_IN("matrix is NULL", weft_transpose_sync(&out, dev->ctx, NULL, NULL));
    host = good;
    NO_IN("same matrix", weft_transpose_sync(&host, dev->ctx, &host, NULL));
    tap_ok(weft_csr_equal(&host, &good), "the matrix is as it was");
    for (int i = 0; i < BADS; i++) {
        host = bad_csr(i);
        NO_IN(bad[i].word, weft_transpose_sync(&out, dev->ctx, &host, NULL));
    }
    ZERO(out);
}

static void test_plan(struct test_device *dev, const struct weft_device_csr *a, const struct weft_device_csr *at)
{
    struct weft_transpose_refill *plan = (struct weft_transpose_refill *)dev;
    struct weft_device_csr wrong = *a;
    size_t bytes = 7;
    CASE(weft_transpose_refill_workspace);
    SILENT(weft_transpose_refill_workspace(&bytes, NULL, OK_SHAPE));
    tap_ok(!bytes, "no bytes");
    NO_IN("out_bytes is NULL", weft_transpose_refill_workspace(NULL, dev->ctx, OK_SHAPE));
    NO_IN("sizes",
          weft_transpose_refill_workspace(&bytes, dev->ctx, weft_shape(2, 3, INT64_MIN, WEFT_TYPE_F32, WEFT_OFS_32)));
    NO_IN("9", weft_transpose_refill_workspace(&bytes, dev->ctx, weft_shape(2, 3, 3, WEFT_TYPE_F32, OFS(9))));
    CASE(weft_transpose_refill_create);
    SILENT(weft_transpose_refill_create(&plan, NULL, dev->queue, a, NULL));
    tap_ok(!plan, "no plan");
    NO_IN("out is NULL", weft_transpose_refill_create(NULL, dev->ctx, dev->queue, a, NULL));
    NO_IN("queue is NULL", weft_transpose_refill_create(&plan, dev->ctx, NULL, a, NULL));
    NO_IN("a is NULL", weft_transpose_refill_create(&plan, dev->ctx, dev->queue, NULL, NULL));
    wrong.ofs = OFS(9);
    NO_IN("9", weft_transpose_refill_create(&plan, dev->ctx, dev->queue, &wrong, NULL));
    wrong = *a;
    wrong.nnz = -1;
    NO_IN("sizes", weft_transpose_refill_create(&plan, dev->ctx, dev->queue, &wrong, NULL));
    wrong = *a;
    wrong.col = NULL;
    NO_IN("col is NULL", weft_transpose_refill_create(&plan, dev->ctx, dev->queue, &wrong, NULL));
    if (weft_transpose_refill_create(&plan, dev->ctx, dev->queue, a, NULL))
        tap_bail("no plan: %s", test_error(dev));
    CASE(weft_transpose_refill_run);
    SILENT(weft_transpose_refill_run(NULL, dev->queue, at->val, a->val, WEFT_TYPE_F32, 0, NULL, NULL));
    NO_IN("queue is NULL", weft_transpose_refill_run(plan, NULL, at->val, a->val, WEFT_TYPE_F32, 0, NULL, NULL));
    NO_IN("type 77", weft_transpose_refill_run(plan, dev->queue, at->val, a->val, TYPE(77), 0, NULL, NULL));
    NO_IN("val is NULL", weft_transpose_refill_run(plan, dev->queue, at->val, NULL, WEFT_TYPE_F32, 0, NULL, NULL));
    NO_IN("at_val is NULL", weft_transpose_refill_run(plan, dev->queue, NULL, a->val, WEFT_TYPE_F32, 0, NULL, NULL));
    NO_IN("wait is NULL", weft_transpose_refill_run(plan, dev->queue, at->val, a->val, WEFT_TYPE_F32, 1, NULL, NULL));
    CASE(weft_transpose_refill_pattern);
    tap_ok(!weft_transpose_refill_pattern(NULL), "no pattern of no plan");
    CASE(weft_transpose_refill_info);
    tap_ok(!weft_transpose_refill_info(NULL), "no info of no plan");
    clFinish(dev->queue);
    CASE(weft_transpose_refill_destroy);
    weft_transpose_refill_destroy(NULL);
    weft_transpose_refill_destroy(&plan);
}

static void test_convert(struct test_device *dev, const struct weft_device_csr *a)
{
    struct weft_coo_to_csr *op = (struct weft_coo_to_csr *)dev;
    struct weft_device_coo from = {2, 3, 3, WEFT_TYPE_F32, a->col, a->col, a->val};
    struct weft_csr out, host;
    struct weft_coo coo_out, wrong;
    size_t bytes = 7;
    CASE(weft_coo_to_csr_workspace);
    SILENT(weft_coo_to_csr_workspace(&bytes, NULL, OK_SHAPE, NULL));
    tap_ok(!bytes, "no bytes");
    NO_IN("out_bytes is NULL", weft_coo_to_csr_workspace(NULL, dev->ctx, OK_SHAPE, NULL));
    CASE(weft_coo_to_csr_create);
    SILENT(weft_coo_to_csr_create(&op, NULL, OK_SHAPE, NULL));
    tap_ok(!op, "no object");
    NO_IN("out is NULL", weft_coo_to_csr_create(NULL, dev->ctx, OK_SHAPE, NULL));
    for (int i = 0; i < SHAPES; i++)
        NO_IN(shapes[i].word, weft_coo_to_csr_create(&op, dev->ctx, SHAPE(i), NULL));
    if (weft_coo_to_csr_create(&op, dev->ctx, OK_SHAPE, NULL))
        tap_bail("no object: %s", test_error(dev));
    CASE(weft_coo_to_csr_run);
    SILENT(weft_coo_to_csr_run(NULL, dev->queue, a, &from, 0, NULL, NULL));
    NO_IN("a is NULL", weft_coo_to_csr_run(op, dev->queue, a, NULL, 0, NULL, NULL));
    NO_IN("out is NULL", weft_coo_to_csr_run(op, dev->queue, NULL, &from, 0, NULL, NULL));
    from.row = NULL;
    NO_IN("is NULL", weft_coo_to_csr_run(op, dev->queue, a, &from, 0, NULL, NULL));
    CASE(weft_coo_to_csr_info);
    tap_ok(!weft_coo_to_csr_info(NULL), "no info of no plan");
    CASE(weft_coo_to_csr_destroy);
    weft_coo_to_csr_destroy(NULL);
    weft_coo_to_csr_destroy(&op);
    CASE(weft_coo_to_csr_sync);
    memset(&out, 1, sizeof out);
    SILENT(weft_coo_to_csr_sync(&out, NULL, &coo, WEFT_OFS_32, NULL));
    ZERO(out);
    NO_IN("out is NULL", weft_coo_to_csr_sync(NULL, dev->ctx, &coo, WEFT_OFS_32, NULL));
    NO_IN("matrix is NULL", weft_coo_to_csr_sync(&out, dev->ctx, NULL, WEFT_OFS_32, NULL));
    NO_IN("9", weft_coo_to_csr_sync(&out, dev->ctx, &coo, OFS(9), NULL));
    for (int i = 0; i < 4; i++) {
        wrong = (struct weft_coo){bad[i].m, bad[i].n, bad[i].nnz, TYPE(bad[i].type), row, col, val};
        NO_IN(bad[i].word, weft_coo_to_csr_sync(&out, dev->ctx, &wrong, WEFT_OFS_32, NULL));
    }
    wrong = coo;
    wrong.row = NULL;
    NO_IN("row is NULL", weft_coo_to_csr_sync(&out, dev->ctx, &wrong, WEFT_OFS_32, NULL));
    ZERO(out);
    CASE(weft_csr_to_coo_sync);
    memset(&coo_out, 1, sizeof coo_out);
    SILENT(weft_csr_to_coo_sync(&coo_out, NULL, &good));
    ZERO(coo_out);
    NO_IN("out is NULL", weft_csr_to_coo_sync(NULL, dev->ctx, &good));
    NO_IN("matrix is NULL", weft_csr_to_coo_sync(&coo_out, dev->ctx, NULL));
    for (int i = 0; i < BADS; i++) {
        host = bad_csr(i);
        NO_IN(bad[i].word, weft_csr_to_coo_sync(&coo_out, dev->ctx, &host));
    }
    ZERO(coo_out);
}

static void test_validate(struct test_device *dev, const struct weft_device_csr *a, cl_mem found)
{
    struct weft_validate_plan *plan = (struct weft_validate_plan *)dev;
    struct weft_device_csr lost = *a;
    size_t bytes = 7;
    CASE(weft_validate_workspace);
    SILENT(weft_validate_workspace(&bytes, NULL, WEFT_OFS_32));
    tap_ok(!bytes, "no bytes");
    NO_IN("out_bytes is NULL", weft_validate_workspace(NULL, dev->ctx, WEFT_OFS_32));
    NO_IN("9", weft_validate_workspace(&bytes, dev->ctx, OFS(9)));
    CASE(weft_validate_plan_create);
    SILENT(weft_validate_plan_create(&plan, NULL, WEFT_OFS_32));
    tap_ok(!plan, "no plan");
    NO_IN("out is NULL", weft_validate_plan_create(NULL, dev->ctx, WEFT_OFS_32));
    NO_IN("-1", weft_validate_plan_create(&plan, dev->ctx, OFS(-1)));
    if (weft_validate_plan_create(&plan, dev->ctx, WEFT_OFS_32))
        tap_bail("no plan: %s", test_error(dev));
    CASE(weft_validate_run);
    SILENT(weft_validate_run(NULL, dev->queue, found, a, WEFT_COLUMNS_ANY, 0, NULL, NULL));
    NO_IN("queue is NULL", weft_validate_run(plan, NULL, found, a, WEFT_COLUMNS_ANY, 0, NULL, NULL));
    NO_IN("found is NULL", weft_validate_run(plan, dev->queue, NULL, a, WEFT_COLUMNS_ANY, 0, NULL, NULL));
    NO_IN("a is NULL", weft_validate_run(plan, dev->queue, found, NULL, WEFT_COLUMNS_ANY, 0, NULL, NULL));
    NO_IN("columns is 77", weft_validate_run(plan, dev->queue, found, a, (enum weft_columns)77, 0, NULL, NULL));
    NO_IN("wait is NULL", weft_validate_run(plan, dev->queue, found, a, WEFT_COLUMNS_ANY, 1, NULL, NULL));
    lost.row_ptr = found;
    NO_IN("found and row_ptr", weft_validate_run(plan, dev->queue, found, &lost, WEFT_COLUMNS_ANY, 0, NULL, NULL));
    lost = *a;
    lost.col = NULL;
    NO_IN("col is NULL", weft_validate_run(plan, dev->queue, found, &lost, WEFT_COLUMNS_ANY, 0, NULL, NULL));
    lost = *a;
    lost.ofs = WEFT_OFS_64;
    NO_IN("64", weft_validate_run(plan, dev->queue, found, &lost, WEFT_COLUMNS_ANY, 0, NULL, NULL));
    lost.ofs = WEFT_OFS_32;
    lost.m = -1;
    NO_IN("sizes", weft_validate_run(plan, dev->queue, found, &lost, WEFT_COLUMNS_ANY, 0, NULL, NULL));
    CASE(weft_validate_plan_info);
    tap_ok(!weft_validate_plan_info(NULL), "no info of no plan");
    CASE(weft_validate_plan_destroy);
    weft_validate_plan_destroy(NULL);
    weft_validate_plan_destroy(&plan);
    CASE(weft_validate_sync);
    SILENT(weft_validate_sync(NULL, dev->queue, a, WEFT_COLUMNS_ANY));
    NO_IN("queue is NULL", weft_validate_sync(dev->ctx, NULL, a, WEFT_COLUMNS_ANY));
    NO_IN("a is NULL", weft_validate_sync(dev->ctx, dev->queue, NULL, WEFT_COLUMNS_ANY));
    NO_IN("columns is -1", weft_validate_sync(dev->ctx, dev->queue, a, (enum weft_columns) - 1));
    CASE(weft_device_csr_rebase_sync);
    SILENT(weft_device_csr_rebase_sync(a, NULL, dev->queue, 0, 1));
    NO_IN("queue is NULL", weft_device_csr_rebase_sync(a, dev->ctx, NULL, 0, 1));
    NO_IN("a is NULL", weft_device_csr_rebase_sync(NULL, dev->ctx, dev->queue, 0, 1));
    NO_IN("bases 2 and 0", weft_device_csr_rebase_sync(a, dev->ctx, dev->queue, 2, 0));
    NO_IN("bases 0 and -1", weft_device_csr_rebase_sync(a, dev->ctx, dev->queue, 0, -1));
    NO_IN("sizes", weft_device_csr_rebase_sync(&lost, dev->ctx, dev->queue, 0, 1));
    lost = *a;
    lost.col = NULL;
    NO_IN("col is NULL", weft_device_csr_rebase_sync(&lost, dev->ctx, dev->queue, 0, 1));
}

static void test_canonical(struct test_device *dev, const struct weft_device_csr *a, const struct weft_device_csr *b)
{
    struct weft_canonical_plan *plan = (struct weft_canonical_plan *)dev;
    struct weft_device_csr lost = *b;
    struct weft_csr out, host;
    size_t bytes = 7;
    int64_t nnz = 7;
    CASE(weft_canonical_workspace);
    SILENT(weft_canonical_workspace(&bytes, NULL, weft_shape(2, 3, 3, WEFT_TYPE_F32, WEFT_OFS_32), NULL));
    tap_ok(!bytes, "no bytes");
    NO_IN("out_bytes is NULL",
          weft_canonical_workspace(NULL, dev->ctx, weft_shape(2, 3, 3, WEFT_TYPE_F32, WEFT_OFS_32), NULL));
    for (int i = 0; i < SHAPES; i++)
        NO_IN(shapes[i].word, weft_canonical_workspace(&bytes, dev->ctx, SHAPE(i), NULL));
    CASE(weft_canonical_plan_create);
    SILENT(weft_canonical_plan_create(&plan, NULL, weft_shape(2, 3, 3, WEFT_TYPE_F32, WEFT_OFS_32), NULL));
    tap_ok(!plan, "no plan");
    NO_IN("out is NULL",
          weft_canonical_plan_create(NULL, dev->ctx, weft_shape(2, 3, 3, WEFT_TYPE_F32, WEFT_OFS_32), NULL));
    for (int i = 0; i < SHAPES; i++)
        NO_IN(shapes[i].word, weft_canonical_plan_create(&plan, dev->ctx, SHAPE(i), NULL));
    NO_IN("threads is -1", weft_canonical_plan_create(&plan, dev->ctx, weft_shape(2, 3, 3, WEFT_TYPE_F32, WEFT_OFS_32),
                                                      weft_canonical_params(.threads = -1)));
    if (weft_canonical_plan_create(&plan, dev->ctx, weft_shape(2, 3, 3, WEFT_TYPE_F32, WEFT_OFS_32), NULL))
        tap_bail("no plan: %s", test_error(dev));
    CASE(weft_canonical_run);
    SILENT(weft_canonical_run(NULL, dev->queue, b, a, 0, NULL, NULL));
    NO_IN("queue is NULL", weft_canonical_run(plan, NULL, b, a, 0, NULL, NULL));
    NO_IN("out is NULL", weft_canonical_run(plan, dev->queue, NULL, a, 0, NULL, NULL));
    NO_IN("a is NULL", weft_canonical_run(plan, dev->queue, b, NULL, 0, NULL, NULL));
    NO_IN("wait is NULL", weft_canonical_run(plan, dev->queue, b, a, 1, NULL, NULL));
    lost.val = NULL;
    NO_IN("val is NULL", weft_canonical_run(plan, dev->queue, &lost, a, 0, NULL, NULL));
    lost.val = b->val;
    lost.n = 4;
    NO_IN("the output is 2 x 4", weft_canonical_run(plan, dev->queue, &lost, a, 0, NULL, NULL));
    CASE(weft_canonical_nnz_sync);
    SILENT(weft_canonical_nnz_sync(&nnz, NULL, dev->queue, a));
    ZERO(nnz);
    NO_IN("out is NULL", weft_canonical_nnz_sync(NULL, dev->ctx, dev->queue, a));
    NO_IN("queue is NULL", weft_canonical_nnz_sync(&nnz, dev->ctx, NULL, a));
    NO_IN("a is NULL", weft_canonical_nnz_sync(&nnz, dev->ctx, dev->queue, NULL));
    lost.m = -1;
    NO_IN("sizes", weft_canonical_nnz_sync(&nnz, dev->ctx, dev->queue, &lost));
    CASE(weft_canonical_plan_info);
    tap_ok(!weft_canonical_plan_info(NULL), "no info of no plan");
    CASE(weft_canonical_plan_destroy);
    weft_canonical_plan_destroy(NULL);
    weft_canonical_plan_destroy(&plan);
    CASE(weft_canonical_sync);
    memset(&out, 1, sizeof out);
    SILENT(weft_canonical_sync(&out, NULL, &good, NULL));
    ZERO(out);
    NO_IN("out is NULL", weft_canonical_sync(NULL, dev->ctx, &good, NULL));
    NO_IN("matrix is NULL", weft_canonical_sync(&out, dev->ctx, NULL, NULL));
    host = good;
    NO_IN("same matrix", weft_canonical_sync(&host, dev->ctx, &host, NULL));
    tap_ok(weft_csr_equal(&host, &good), "the matrix is as it was");
    for (int i = 0; i < BADS; i++) {
        host = bad_csr(i);
        NO_IN(bad[i].word, weft_canonical_sync(&out, dev->ctx, &host, NULL));
    }
    ZERO(out);
}

static void test_permute(struct test_device *dev, const struct weft_device_csr *a, const struct weft_device_csr *b)
{
    struct weft_permute_plan *plan = (struct weft_permute_plan *)dev;
    struct weft_permutation p, wrong;
    struct weft_csr out, host;
    if (weft_permutation_alloc(&p, WEFT_ORDER_ROW_COL, &good, 1, NULL))
        tap_bail("no permutation");
    size_t bytes = 7;
    CASE(weft_permute_workspace);
    SILENT(weft_permute_workspace(&bytes, NULL, OK_SHAPE, &p, NULL));
    tap_ok(!bytes, "no bytes");
    NO_IN("out_bytes is NULL", weft_permute_workspace(NULL, dev->ctx, OK_SHAPE, &p, NULL));
    NO_IN("permutation is NULL", weft_permute_workspace(&bytes, dev->ctx, OK_SHAPE, NULL, NULL));
    NO_IN("type 77", weft_permute_workspace(&bytes, dev->ctx, weft_shape(2, 3, 3, TYPE(77), WEFT_OFS_32), &p, NULL));
    NO_IN("2 x 4", weft_permute_workspace(&bytes, dev->ctx, weft_shape(2, 4, 3, WEFT_TYPE_F32, WEFT_OFS_32), &p, NULL));
    CASE(weft_permute_plan_create);
    SILENT(weft_permute_plan_create(&plan, NULL, OK_SHAPE, &p, NULL));
    tap_ok(!plan, "no plan");
    NO_IN("out is NULL", weft_permute_plan_create(NULL, dev->ctx, OK_SHAPE, &p, NULL));
    NO_IN("permutation is NULL", weft_permute_plan_create(&plan, dev->ctx, OK_SHAPE, NULL, NULL));
    NO_IN("sizes",
          weft_permute_plan_create(&plan, dev->ctx, weft_shape(2, 3, -1, WEFT_TYPE_F32, WEFT_OFS_32), &p, NULL));
    NO_IN("type 77", weft_permute_plan_create(&plan, dev->ctx, weft_shape(2, 3, 3, TYPE(77), WEFT_OFS_32), &p, NULL));
    NO_IN("9", weft_permute_plan_create(&plan, dev->ctx, weft_shape(2, 3, 3, WEFT_TYPE_F32, OFS(9)), &p, NULL));
    NO_IN("2 x 4",
          weft_permute_plan_create(&plan, dev->ctx, weft_shape(2, 4, 3, WEFT_TYPE_F32, WEFT_OFS_32), &p, NULL));
    wrong = p;
    wrong.row_inv = NULL;
    NO_IN("row_inv", weft_permute_plan_create(&plan, dev->ctx, OK_SHAPE, &wrong, NULL));
    if (weft_permute_plan_create(&plan, dev->ctx, OK_SHAPE, &p, NULL))
        tap_bail("no plan: %s", test_error(dev));
    CASE(weft_permute_run);
    SILENT(weft_permute_run(NULL, dev->queue, b, a, 0, NULL, NULL));
    NO_IN("queue is NULL", weft_permute_run(plan, NULL, b, a, 0, NULL, NULL));
    NO_IN("a is NULL", weft_permute_run(plan, dev->queue, b, NULL, 0, NULL, NULL));
    NO_IN("out is NULL", weft_permute_run(plan, dev->queue, NULL, a, 0, NULL, NULL));
    NO_IN("wait is NULL", weft_permute_run(plan, dev->queue, b, a, 1, NULL, NULL));
    CASE(weft_permute_vector_run);
    SILENT(weft_permute_vector_run(NULL, dev->queue, b->val, a->val, WEFT_PERMUTE_SIDE_ROWS, 0, WEFT_TYPE_F32, 0, NULL,
                                   NULL));
    NO_IN("queue is NULL",
          weft_permute_vector_run(plan, NULL, b->val, a->val, WEFT_PERMUTE_SIDE_ROWS, 0, WEFT_TYPE_F32, 0, NULL, NULL));
    NO_IN("side 77", weft_permute_vector_run(plan, dev->queue, b->val, a->val, (enum weft_permute_side)77, 0,
                                             WEFT_TYPE_F32, 0, NULL, NULL));
    NO_IN("type 3", weft_permute_vector_run(plan, dev->queue, b->val, a->val, WEFT_PERMUTE_SIDE_ROWS, 0,
                                            WEFT_TYPE_PATTERN, 0, NULL, NULL));
    NO_IN("in is NULL", weft_permute_vector_run(plan, dev->queue, b->val, NULL, WEFT_PERMUTE_SIDE_ROWS, 0,
                                                WEFT_TYPE_F32, 0, NULL, NULL));
    NO_IN("out is NULL", weft_permute_vector_run(plan, dev->queue, NULL, a->val, WEFT_PERMUTE_SIDE_ROWS, 0,
                                                 WEFT_TYPE_F32, 0, NULL, NULL));
    CASE(weft_permute_plan_info);
    tap_ok(!weft_permute_plan_info(NULL), "no info of no plan");
    CASE(weft_permute_plan_destroy);
    weft_permute_plan_destroy(NULL);
    weft_permute_plan_destroy(&plan);
    CASE(weft_permute_sync);
    memset(&out, 1, sizeof out);
    SILENT(weft_permute_sync(&out, NULL, &good, &p, NULL));
    ZERO(out);
    NO_IN("out is NULL", weft_permute_sync(NULL, dev->ctx, &good, &p, NULL));
    NO_IN("matrix is NULL", weft_permute_sync(&out, dev->ctx, NULL, &p, NULL));
    NO_IN("permutation is NULL", weft_permute_sync(&out, dev->ctx, &good, NULL, NULL));
    host = good;
    NO_IN("same matrix", weft_permute_sync(&host, dev->ctx, &host, &p, NULL));
    tap_ok(weft_csr_equal(&host, &good), "the matrix is as it was");
    for (int i = 0; i < BADS; i++) {
        host = bad_csr(i);
        NO_IN(bad[i].word, weft_permute_sync(&out, dev->ctx, &host, &p, NULL));
    }
    ZERO(out);
    weft_permutation_free(&p);
}

static void spmv_params_refused(struct test_device *dev, const char *word, const struct weft_device_csr *a,
                                struct weft_spmv_params params)
{
    struct weft_spmv_plan *plan = (struct weft_spmv_plan *)dev;
    NO_IN(word, weft_spmv_plan_create(&plan, dev->ctx, dev->queue, a, &params));
    tap_ok(!plan, "no plan");
}

static void test_spmv(struct test_device *dev, const struct weft_device_csr *a, cl_mem in, cl_mem out)
{
    struct weft_spmv_plan *plan = (struct weft_spmv_plan *)dev;
    struct weft_device_csr wrong = *a;
    struct weft_csr host;
    CASE(weft_spmv_algo_name);
    tap_is_str(weft_spmv_algo_name((enum weft_spmv_algo) - 1), "unknown", "no algorithm");
    CASE(weft_spmv_plan_create);
    SILENT(weft_spmv_plan_create(&plan, NULL, dev->queue, a, NULL));
    tap_ok(!plan, "no plan");
    NO_IN("out is NULL", weft_spmv_plan_create(NULL, dev->ctx, dev->queue, a, NULL));
    NO_IN("queue is NULL", weft_spmv_plan_create(&plan, dev->ctx, NULL, a, NULL));
    NO_IN("a is NULL", weft_spmv_plan_create(&plan, dev->ctx, dev->queue, NULL, NULL));
    wrong.type = TYPE(77);
    NO_IN("type", weft_spmv_plan_create(&plan, dev->ctx, dev->queue, &wrong, NULL));
    wrong = *a;
    wrong.m = -1;
    NO_IN("m, n", weft_spmv_plan_create(&plan, dev->ctx, dev->queue, &wrong, NULL));
    wrong = *a;
    wrong.row_ptr = NULL;
    NO_IN("row_ptr is NULL", weft_spmv_plan_create(&plan, dev->ctx, dev->queue, &wrong, NULL));
    spmv_params_refused(dev, "77", a, (struct weft_spmv_params){.policy.algo = (enum weft_spmv_algo)77});
    spmv_params_refused(dev, "semiring 77", a,
                        (struct weft_spmv_params){.problem.semiring = (enum weft_spmv_semiring)77});
    spmv_params_refused(dev, "plus", a, (struct weft_spmv_params){.problem.semiring = WEFT_SPMV_SEMIRING_CUSTOM});
    spmv_params_refused(dev, "transpose is 77", a,
                        (struct weft_spmv_params){.problem.transpose = (enum weft_spmv_transpose)77});
    spmv_params_refused(dev, "mode is 77", a, (struct weft_spmv_params){.policy.mode = (enum weft_spmv_mode)77});
    spmv_params_refused(dev, "products", a, (struct weft_spmv_params){.policy.products = -1});
    spmv_params_refused(dev, "max_padding", a, (struct weft_spmv_params){.format.max_padding = -1});
    if (dev->gpu)
        spmv_params_refused(dev, "read", a, (struct weft_spmv_params){.gpu.read = 77});
    spmv_params_refused(dev, "width", a,
                        (struct weft_spmv_params){.policy.algo = WEFT_SPMV_ALGO_HYB, .format.width = INT64_MIN});
    spmv_params_refused(dev, "sigma", a,
                        (struct weft_spmv_params){.policy.algo = WEFT_SPMV_ALGO_SELL, .format.sigma = -1});
    spmv_params_refused(
        dev, "lanes", a,
        (struct weft_spmv_params){.policy.algo = WEFT_SPMV_ALGO_CSR_LANES, .gpu.lanes = 77, .cpu.lanes = 77});
    if (dev->gpu)
        spmv_params_refused(
            dev, "wg", a,
            (struct weft_spmv_params){.policy.algo = WEFT_SPMV_ALGO_CSR_SCALAR, .gpu.wg = -1, .cpu.wg = -1});
    wrong = *a;
    wrong.type = WEFT_TYPE_PATTERN;
    spmv_params_refused(dev, "vec_type is 77", &wrong, (struct weft_spmv_params){.problem.vec_type = TYPE(77)});
    CASE(weft_spmv_plan_create);
    if (weft_spmv_plan_create(&plan, dev->ctx, dev->queue, a, NULL))
        tap_bail("no plan: %s", test_error(dev));
    CASE(weft_spmv_run);
    SILENT(weft_spmv_run(NULL, dev->queue, out, 1, in, 0, 0, NULL, NULL));
    NO_IN("queue is NULL", weft_spmv_run(plan, NULL, out, 1, in, 0, 0, NULL, NULL));
    NO_IN("x is NULL", weft_spmv_run(plan, dev->queue, out, 1, NULL, 0, 0, NULL, NULL));
    NO_IN("y is NULL", weft_spmv_run(plan, dev->queue, NULL, 1, in, 0, 0, NULL, NULL));
    NO_IN("wait is NULL", weft_spmv_run(plan, dev->queue, out, 1, in, 0, 1, NULL, NULL));
    CASE(weft_spmv_plan_refill);
    SILENT(weft_spmv_plan_refill(NULL, dev->queue, a));
    NO_IN("queue is NULL", weft_spmv_plan_refill(plan, NULL, a));
    NO_IN("a is NULL", weft_spmv_plan_refill(plan, dev->queue, NULL));
    CASE(weft_spmv_plan_info);
    tap_ok(!weft_spmv_plan_info(NULL), "no info of no plan");
    CASE(weft_spmv_plan_destroy);
    weft_spmv_plan_destroy(NULL);
    weft_spmv_plan_destroy(&plan);
    CASE(weft_spmv_sync);
    SILENT(weft_spmv_sync(y, NULL, 1, &good, x, 0, NULL));
    NO_IN("matrix is NULL", weft_spmv_sync(y, dev->ctx, 1, NULL, x, 0, NULL));
    NO_IN("x is NULL", weft_spmv_sync(y, dev->ctx, 1, &good, NULL, 0, NULL));
    NO_IN("y is NULL", weft_spmv_sync(NULL, dev->ctx, 1, &good, x, 0, NULL));
    for (int i = 0; i < BADS; i++) {
        host = bad_csr(i);
        NO_IN(bad[i].word, weft_spmv_sync(y, dev->ctx, 1, &host, x, 0, NULL));
    }
    ZERO(y);
}

void nonsense_matrices(struct test_device *dev)
{
    struct weft_device_csr a, b, at;
    struct test_buffer found = test_buffer_make(dev, NULL, 16);
    struct test_buffer in = test_buffer_make(dev, x, sizeof x), out = test_buffer_make(dev, NULL, sizeof y);
    tap_note("%s", dev->name);
    if (weft_device_csr_alloc(&a, dev->ctx, OK_SHAPE) || weft_device_csr_alloc(&b, dev->ctx, OK_SHAPE) ||
        weft_device_csr_alloc(&at, dev->ctx, weft_shape(3, 2, 3, WEFT_TYPE_F32, WEFT_OFS_32)) ||
        weft_device_csr_write_sync(&a, dev->ctx, dev->queue, &good))
        tap_bail("no matrix: %s", test_error(dev));
    test_device_coo(dev);
    test_device_csr(dev, &a);
    test_transpose(dev, &a, &at);
    test_plan(dev, &a, &at);
    test_convert(dev, &a);
    test_permute(dev, &a, &b);
    test_validate(dev, &a, found.mem);
    test_buffer_free(&found);
    test_canonical(dev, &a, &b);
    test_spmv(dev, &a, in.mem, out.mem);
    weft_device_csr_free(&a);
    weft_device_csr_free(&b);
    weft_device_csr_free(&at);
    test_buffer_free(&in);
    test_buffer_free(&out);
}
