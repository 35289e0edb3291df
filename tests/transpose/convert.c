// SPDX-License-Identifier: Apache-2.0
// COO to CSR and CSR to COO on every device against the host forms; errors.
#include "tests/support/csr.h"

#include <string.h>
#include <weft/convert.h>

static struct rng rng;

static void coo_make(struct weft_coo *out, int64_t m, int64_t n, int64_t nnz, enum weft_type type)
{
    if (weft_coo_alloc(out, weft_shape(.m = m, .n = n, .nnz = nnz, .type = type)))
        tap_bail("out of host memory");
    size_t bytes = weft_type_bytes(type);
    for (int64_t p = 0; p < nnz; p++) {
        uint64_t bits = rng_u64(&rng);
        out->row[p] = (int32_t)rng_below(&rng, (uint64_t)m);
        out->col[p] = (int32_t)rng_below(&rng, (uint64_t)n);
        if (p % 3 == 0 && m > 2) // a heavy row
            out->row[p] = (int32_t)(m / 2);
        if (bytes)
            memcpy((char *)out->val + (size_t)p * bytes, &bits, bytes);
    }
}

// The device form in canaried buffers, against weft_csr_from_coo.
static int check(struct test_device *dev, int64_t m, int64_t n, int64_t nnz, enum weft_type type, enum weft_ofs ofs,
                 const struct weft_transpose_params *params)
{
    char why[256] = "";
    struct weft_coo a;
    struct weft_csr want, via_host = {0};
    struct weft_coo back = {0};
    struct test_csr to;
    struct weft_coo_to_csr *op = NULL;
    struct weft_error err;
    size_t bytes = (size_t)nnz * weft_type_bytes(type), asked = 0;
    coo_make(&a, m, n, nnz, type);
    if (weft_csr_from_coo(&want, &a, ofs, &err))
        tap_bail("%s", err.text);
    struct test_buffer row = test_buffer_make(dev, nnz ? a.row : NULL, (size_t)nnz * 4);
    struct test_buffer col = test_buffer_make(dev, nnz ? a.col : NULL, (size_t)nnz * 4), val = {0};
    if (type != WEFT_TYPE_PATTERN)
        val = test_buffer_make(dev, nnz ? a.val : NULL, bytes);
    test_csr_make(&to, dev, NULL, m, n, nnz, type, ofs);
    struct weft_device_coo from = {m, n, nnz, type, row.mem, col.mem, val.mem};
    weft_status status = weft_coo_to_csr_create(&op, dev->ctx, weft_shape(m, n, nnz, type, ofs), params);
    if (!status)
        status = weft_coo_to_csr_run(op, dev->queue, &to.d, &from, 0, NULL, NULL);
    int ok = !status && test_csr_equal(dev, &to, &want, why);
    struct weft_transpose_info info = {0};
    if (op)
        info = *weft_coo_to_csr_info(op);
    ok = ok && !weft_coo_to_csr_workspace(&asked, dev->ctx, weft_shape(m, n, nnz, type, ofs), params) &&
         asked == info.workspace_bytes;
    if (ok) { // host arrays in and out, and back again
        status = weft_coo_to_csr_sync(&via_host, dev->ctx, &a, ofs, params);
        if (!status)
            status = weft_csr_to_coo_sync(&back, dev->ctx, &want);
        ok = !status && weft_csr_equal(&via_host, &want) && back.m == m && back.n == n && back.nnz == nnz &&
             back.type == type;
        for (int64_t i = 0; ok && i < m; i++)
            for (int64_t p = weft_csr_ofs(&want, i); ok && p < weft_csr_ofs(&want, i + 1); p++)
                ok = back.row[p] == i && back.col[p] == want.col[p];
        ok = ok && (!bytes || !memcmp(back.val, want.val, bytes));
    }
    if (!ok)
        tap_note("%lld x %lld, %lld entries, %s, %d-bit offsets: %s", (long long)m, (long long)n, (long long)nnz,
                 weft_type_name(type), ofs == WEFT_OFS_64 ? 64 : 32, status ? test_error(dev) : why);
    weft_coo_to_csr_destroy(&op);
    test_csr_free(&to);
    test_buffer_free(&row);
    test_buffer_free(&col);
    test_buffer_free(&val);
    weft_coo_free(&a);
    weft_coo_free(&back);
    weft_csr_free(&want);
    weft_csr_free(&via_host);
    return ok;
}

static void test_shapes(struct test_device *dev, enum weft_transpose_algo algo)
{
    struct weft_transpose_params params = {.algo = algo};
    if (dev->checker && dev->gpu) { // small tiles
        params.gpu.wg = 32;
        params.gpu.ipt = 2;
        params.gpu.bits = algo == WEFT_TRANSPOSE_ALGO_SCAN ? 6 : 0;
    }
    const struct {
        int64_t m, n, nnz;
    } shapes[] = {{0, 0, 0},         {0, 4, 0},
                  {4, 0, 0},         {4, 5, 0},
                  {1, 1, 1},         {1, 90, 70},
                  {90, 1, 70},       {33, 60, dev->checker ? 300 : 2000},
                  {6000, 500, 9000}, {140000, 9000, 100000}};
    static const struct {
        enum weft_type type;
        enum weft_ofs ofs;
    } kinds[] = {{WEFT_TYPE_F32, WEFT_OFS_32},
                 {WEFT_TYPE_F64, WEFT_OFS_64},
                 {WEFT_TYPE_I32, WEFT_OFS_32},
                 {WEFT_TYPE_PATTERN, WEFT_OFS_64}};
    for (size_t k = 0; k < 4; k++) {
        int ok = 1;
        for (size_t i = 0; ok && i < sizeof shapes / sizeof *shapes - (test_sample() ? 2 : 0); i++)
            ok = check(dev, shapes[i].m, shapes[i].n, shapes[i].nnz, kinds[k].type, kinds[k].ofs, &params);
        tap_ok(ok, "%s: %s, COO to CSR and back, %s, %d-bit offsets", dev->name,
               algo == WEFT_TRANSPOSE_ALGO_SCAN ? "scan" : "merge", weft_type_name(kinds[k].type),
               kinds[k].ofs == WEFT_OFS_64 ? 64 : 32);
    }
}

// On a CPU, rows in blocks: what many rows take by default.
static void test_blocks(struct test_device *dev)
{
    const struct weft_transpose_params params = {.algo = WEFT_TRANSPOSE_ALGO_SCAN, .cpu = {.bits = 1, .chunks = 2}};
    if (!dev->gpu)
        tap_ok(check(dev, 300, 200, 900, WEFT_TYPE_F32, WEFT_OFS_32, &params) &&
                   check(dev, 300, 200, 900, WEFT_TYPE_PATTERN, WEFT_OFS_64, &params),
               "%s: COO to CSR and back, rows in blocks", dev->name);
}

static void refused(struct test_device *dev, const char *what, weft_status got, weft_status want)
{
    tap_ok(got == want && *test_error(dev), "%s: refuses %s: %s", dev->name, what, test_error(dev));
}

static void test_errors(struct test_device *dev)
{
    struct weft_coo a, coo_out = {.m = 1};
    struct weft_csr csr, csr_out = {.m = 1};
    struct weft_coo_to_csr *op = NULL;
    struct weft_error err;
    size_t bytes = 1;
    coo_make(&a, 10, 20, 30, WEFT_TYPE_F32);
    if (weft_csr_from_coo(&csr, &a, WEFT_OFS_32, &err))
        tap_bail("%s", err.text);
    refused(dev, "m < 0", weft_coo_to_csr_create(&op, dev->ctx, weft_shape(-1, 1, 0, WEFT_TYPE_F32, WEFT_OFS_32), NULL),
            WEFT_EINVAL);
    weft_status status = weft_coo_to_csr_workspace(
        &bytes, dev->ctx, weft_shape(1, INT64_C(1) << 31, 0, WEFT_TYPE_F32, WEFT_OFS_32), NULL);
    refused(dev, "n = 2^31", bytes ? WEFT_OK : status, WEFT_EINVAL);
    refused(dev, "2^31 entries with 32-bit offsets",
            weft_coo_to_csr_create(&op, dev->ctx, weft_shape(9, 9, INT64_C(1) << 31, WEFT_TYPE_F32, WEFT_OFS_32), NULL),
            WEFT_ERANGE);
    int32_t kept = a.row[7];
    a.row[7] = 10;
    status = weft_coo_to_csr_sync(&csr_out, dev->ctx, &a, WEFT_OFS_32, NULL);
    refused(dev, "a row beyond m", csr_out.row_ptr || csr_out.m ? WEFT_OK : status, WEFT_EMATRIX);
    a.row[7] = kept;
    a.col[7] = -1;
    refused(dev, "a negative column", weft_coo_to_csr_sync(&csr_out, dev->ctx, &a, WEFT_OFS_32, NULL), WEFT_EMATRIX);
    a.col[7] = 0;
    void *val = a.val;
    a.val = NULL;
    refused(dev, "coordinates without values", weft_coo_to_csr_sync(&csr_out, dev->ctx, &a, WEFT_OFS_32, NULL),
            WEFT_EINVAL);
    a.val = val;
    kept = csr.col[0];
    csr.col[0] = 20;
    status = weft_csr_to_coo_sync(&coo_out, dev->ctx, &csr);
    refused(dev, "a column beyond n", coo_out.row || coo_out.m ? WEFT_OK : status, WEFT_EMATRIX);
    csr.col[0] = kept;
    struct test_buffer row = test_buffer_make(dev, a.row, 120), col = test_buffer_make(dev, a.col, 120);
    struct test_buffer values = test_buffer_make(dev, a.val, 120);
    struct test_csr to;
    test_csr_make(&to, dev, NULL, 10, 20, 30, WEFT_TYPE_F32, WEFT_OFS_32);
    if (tap_ok(!weft_coo_to_csr_create(&op, dev->ctx, weft_shape(10, 20, 30, WEFT_TYPE_F32, WEFT_OFS_32), NULL),
               "%s: an object", dev->name)) {
        struct weft_device_coo good = {10, 20, 30, WEFT_TYPE_F32, row.mem, col.mem, values.mem}, x = good;
        struct weft_device_csr y = to.d;
        x.row = NULL;
        refused(dev, "no rows", weft_coo_to_csr_run(op, dev->queue, &y, &x, 0, NULL, NULL), WEFT_EINVAL);
        x = good;
        x.m = 11;
        refused(dev, "another shape", weft_coo_to_csr_run(op, dev->queue, &y, &x, 0, NULL, NULL), WEFT_EINVAL);
        y.col = good.col;
        refused(dev, "a shared buffer", weft_coo_to_csr_run(op, dev->queue, &y, &good, 0, NULL, NULL), WEFT_EINVAL);
        refused(dev, "no queue", weft_coo_to_csr_run(op, NULL, &to.d, &good, 0, NULL, NULL), WEFT_EINVAL);
    }
    weft_coo_to_csr_destroy(&op);
    weft_coo_to_csr_destroy(&op);
    weft_coo_to_csr_destroy(NULL);
    test_csr_free(&to);
    test_buffer_free(&row);
    test_buffer_free(&col);
    test_buffer_free(&values);
    weft_coo_free(&a);
    weft_csr_free(&csr);
}

static void test_all(struct test_device *dev)
{
    test_shapes(dev, WEFT_TRANSPOSE_ALGO_SCAN);
    test_shapes(dev, WEFT_TRANSPOSE_ALGO_MERGE);
    test_blocks(dev);
    test_errors(dev);
}

int main(void)
{
    rng = rng_start();
    test_device_each(test_all);
    return tap_done();
}
