// SPDX-License-Identifier: Apache-2.0
// The short way of transposition for symmetric patterns: it says when the result is complete, which is then exact; where
// it does not hold, ScanTrans behind it makes the result.
#include "host/internal/inside.h"
#include "tests/support/csr.h"
#include "tests/support/fault.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/generate.h>

static struct rng rng;

enum form { BAND, MESH, ARROW, HOLLOW, WIDE, BLOCKS, HOLES, FORMS, GRAPH = FORMS, GAPS, HUBS };
static const char *const form_names[] = {"band",
                                         "mesh",
                                         "arrow with a dense row",
                                         "rows without entries",
                                         "wide band",
                                         "blocks",
                                         "wide band with holes and short rows",
                                         "long rows at random"};
enum flaw { NONE, ONE_MISSING, ONE_MORE, DUPLICATE, UNSORTED, FLAWS };
static const char *const flaw_names[] = {"symmetric", "an image missing", "an entry too many", "an entry twice",
                                         "a row out of order"};

static int has_entry(enum form form, int64_t i, int64_t j, int64_t n)
{
    const int64_t low = i < j ? i : j, high = i < j ? j : i;
    switch (form) {
    case BAND:
        return high - low <= 3;
    case MESH:
        return high - low <= 1 || high - low == 17 || (uint64_t)(low * 2654435761 + high * 40503) % 97 == 0;
    case ARROW:
        return low == n / 3 || high == n / 3 || low == high;
    case WIDE:
        return high - low <= 70;
    case BLOCKS:
        return low / 100 == high / 100;
    case HOLES: // every eighth row is short
        return low == high ||
               (high - low <= 70 && (low % 8 && high % 8 ? (low * 7 + high * 3) % 41 != 0 : high - low <= 2));
    case GRAPH: // rows of about n / 2
        return ((uint64_t)(low * 2654435761 + high * 40503) * UINT64_C(0x9e3779b97f4a7c15)) >> 63 != 0;
    case GAPS:
        return high - low < 200 && (high - low) % 4 == 0;
    case HUBS: // few long rows with gaps, the others short
        return low == high || (i % 60 == 0 && j % 5 == 0) || (j % 60 == 0 && i % 5 == 0);
    default:
        return low % 5 == 0 && high % 5 == 0 && (high - low) % 3 == 0 && high - low < 480;
    }
}

// An n x n matrix with such a pattern; a flaw is near the end, where the probe does not look.
static struct weft_csr matrix_make(enum form form, enum flaw flaw, int64_t n, enum weft_type type, enum weft_ofs ofs)
{
    int32_t *row = test_alloc((size_t)(n * n + 1) * 4), *col = test_alloc((size_t)(n * n + 1) * 4);
    int64_t nnz = 0, victim = -1;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            if (has_entry(form, i, j, n)) {
                row[nnz] = (int32_t)i;
                col[nnz++] = (int32_t)j;
                if (i != j && i < n - 1)
                    victim = nnz - 1; // its image lies in another row
            }
    if (flaw != NONE && victim < 0)
        tap_bail("a matrix without entries off the diagonal");
    if (flaw == ONE_MISSING) {
        memmove(&row[victim], &row[victim + 1], (size_t)(nnz - victim - 1) * 4);
        memmove(&col[victim], &col[victim + 1], (size_t)(nnz - victim - 1) * 4);
        nnz--;
    } else if (flaw == ONE_MORE || flaw == DUPLICATE) {
        memmove(&row[victim + 1], &row[victim], (size_t)(nnz - victim) * 4);
        memmove(&col[victim + 1], &col[victim], (size_t)(nnz - victim) * 4);
        nnz++;
        if (flaw == ONE_MORE) { // in front of its row, a column that is free or makes a duplicate
            int64_t first = victim;
            while (first > 0 && row[first - 1] == row[victim])
                first--;
            memmove(&col[first + 1], &col[first], (size_t)(victim - first) * 4);
            col[first] = col[first + 1] > 0 ? col[first + 1] - 1 : 0;
        }
    } else if (flaw == UNSORTED) {
        const int64_t other = victim > 0 && row[victim - 1] == row[victim] ? victim - 1 : victim + 1;
        const int32_t swap = col[victim];
        if (row[other] != row[victim])
            tap_bail("a row of one entry");
        col[victim] = col[other];
        col[other] = swap;
    }
    struct weft_csr a;
    if (weft_csr_alloc(&a, weft_shape(n, n, nnz, type, ofs)))
        tap_bail("out of host memory");
    int64_t p = 0;
    for (int64_t i = 0; i <= n; i++) {
        while (p < nnz && row[p] < i)
            p++;
        if (ofs == WEFT_OFS_64)
            ((int64_t *)a.row_ptr)[i] = p;
        else
            ((int32_t *)a.row_ptr)[i] = (int32_t)p;
    }
    memcpy(a.col, col, (size_t)nnz * 4);
    for (size_t i = 0; i + 4 <= (size_t)nnz * weft_type_bytes(type); i += 4) {
        uint64_t bits = rng_u64(&rng);
        memcpy((char *)a.val + i, &bits, 4);
    }
    free(row);
    free(col);
    return a;
}

// The short way alone, then with ScanTrans behind it. mirrors: the first is to say yes; positions: the values of `a` are the
// positions of its entries, which are not read but counted, as for a plan of refills. Frees `a`.
static int check_as(struct test_device *dev, struct weft_csr a, int mirrors, int positions, char *why)
{
    const int64_t n = a.n;
    const enum weft_type type = a.type;
    const enum weft_ofs ofs = a.ofs;
    struct weft_csr want;
    if (weft__ref_transpose(&want, &a))
        tap_bail("out of host memory");
    const struct weft__transpose_shape shape = {
        .m = n, .n = n, .nnz = a.nnz, .type = type, .ofs = ofs, .val_positions = positions, .mirror = 1};
    struct test_csr from, to;
    test_csr_make(&from, dev, &a, n, n, a.nnz, type, ofs);
    test_csr_make(&to, dev, NULL, n, n, a.nnz, type, ofs);
    struct weft__mirror mirror = {0};
    struct weft__make make = {.ctx = dev->ctx};
    struct weft__stream stream = {0};
    cl_uint failed = 77;
    weft__mirror_create(&mirror, &make, &shape, weft__mirror_guesses(&shape));
    int ok = !make.status && !weft__stream_begin(&stream, dev->ctx, dev->queue, 0, NULL, NULL);
    if (ok)
        weft__mirror_run(&mirror, &stream, &shape, &from.d, &to.d);
    ok = ok && !weft__stream_end(&stream) &&
         clEnqueueReadBuffer(dev->queue, mirror.failed, CL_TRUE, 0, 4, &failed, 0, NULL, NULL) == CL_SUCCESS;
    const cl_uint mirrored = failed != mirror.run;
    if (!ok)
        snprintf(why, 256, "%s", test_error(dev));
    if (ok && mirrored != (cl_uint)mirrors) {
        ok = 0;
        snprintf(why, 256, "it says %u", (unsigned)mirrored);
    }
    ok = ok && (!mirrored || test_csr_equal(dev, &to, &want, why));
    weft__mirror_release(&mirror);
    if (ok) {
        struct weft_transpose_plan *op = NULL;
        test_csr_poison(dev, &to);
        ok = !weft__transpose_create(&op, dev->ctx, &shape, weft_transpose_params(.algo = WEFT_TRANSPOSE_ALGO_SCAN)) &&
             !weft_transpose_run(op, dev->queue, &to.d, &from.d, 0, NULL, NULL);
        if (!ok)
            snprintf(why, 256, "%s", test_error(dev));
        ok = ok && test_csr_equal(dev, &to, &want, why);
        weft_transpose_plan_destroy(&op);
    }
    test_csr_free(&from);
    test_csr_free(&to);
    weft_csr_free(&a);
    weft_csr_free(&want);
    return ok;
}

static int check(struct test_device *dev, struct weft_csr a, int mirrors, char *why)
{
    return check_as(dev, a, mirrors, 0, why);
}

static void count_mirror(void *arg, const char *entry, size_t global, size_t wg, cl_event event)
{
    (void)global, (void)wg, (void)event;
    *(int *)arg += !strcmp(entry, "mirror");
}

struct learner {
    struct test_device *dev;
    struct weft_transpose_plan *op;
    struct test_csr from, to;
    char why[256];
};

// Whether a run tried the mirror; -1: its result is wrong.
static int run_tries(struct learner *l, const struct weft_csr *want)
{
    int tries = 0;
    test_csr_poison(l->dev, &l->to);
    l->dev->ctx->on_launch = count_mirror;
    l->dev->ctx->on_launch_arg = &tries;
    const int ok = !weft_transpose_run(l->op, l->dev->queue, &l->to.d, &l->from.d, 0, NULL, NULL);
    l->dev->ctx->on_launch = NULL;
    if (!ok)
        snprintf(l->why, sizeof l->why, "%s", test_error(l->dev));
    return ok && test_csr_equal(l->dev, &l->to, want, l->why) ? tries : -1;
}

// A transposition learns that the pattern in its buffers is not symmetric, and tries no more for a while; the result is
// exact whatever comes into these buffers.
static void test_learns(struct test_device *dev)
{
    const int64_t n = dev->checker ? 20 : 60;
    struct weft_csr with = matrix_make(MESH, NONE, n, WEFT_TYPE_F32, WEFT_OFS_32), without, want, want_without;
    if (weft_csr_alloc(&without, weft_shape(n, n, with.nnz, WEFT_TYPE_F32, WEFT_OFS_32)))
        tap_bail("out of host memory");
    memcpy(without.row_ptr, with.row_ptr, (size_t)(n + 1) * 4);
    memcpy(without.val, with.val, (size_t)with.nnz * 4);
    for (int64_t p = 0; p < with.nnz; p++)
        without.col[p] = (int32_t)(p % 7);
    if (weft__ref_transpose(&want, &with) || weft__ref_transpose(&want_without, &without))
        tap_bail("out of host memory");
    const struct weft__transpose_shape shape = {
        .m = n, .n = n, .nnz = with.nnz, .type = WEFT_TYPE_F32, .ofs = WEFT_OFS_32, .mirror = 1};
    struct learner l = {.dev = dev};
    test_csr_make(&l.from, dev, &without, n, n, with.nnz, WEFT_TYPE_F32, WEFT_OFS_32);
    test_csr_make(&l.to, dev, NULL, n, n, with.nnz, WEFT_TYPE_F32, WEFT_OFS_32);
    const struct weft_transpose_params *small =
        weft_transpose_params(.algo = WEFT_TRANSPOSE_ALGO_SCAN, .gpu.wg = 32, .gpu.ipt = 2, .gpu.bits = 6);
    if (weft__transpose_create(&l.op, dev->ctx, &shape, small))
        tap_bail("%s", test_error(dev));
    // Three at once: the second does not know yet how the first ends. What follows knows.
    int ok = 1, tries = 0;
    test_csr_poison(dev, &l.to);
    for (int run = 0; ok && run < 3; run++)
        ok = !weft_transpose_run(l.op, dev->queue, &l.to.d, &l.from.d, 0, NULL, NULL);
    ok = ok && test_csr_equal(dev, &l.to, &want_without, l.why);
    for (int run = 0; ok && run < 3; run++)
        ok = run_tries(&l, &want_without) == 0;
    tap_ok(ok, "%s: without symmetry, not tried once a run has ended%s", dev->name, l.why);
    struct test_csr other;
    test_csr_make(&other, dev, &without, n, n, with.nnz, WEFT_TYPE_F32, WEFT_OFS_32);
    cl_mem *const parts[] = {&l.from.d.row_ptr, &l.from.d.col}, others[] = {other.d.row_ptr, other.d.col};
    for (int part = 0; ok && part < 2; part++) {
        const cl_mem own = *parts[part];
        *parts[part] = others[part];
        ok = run_tries(&l, &want_without) == 1 && run_tries(&l, &want_without) == 0;
        *parts[part] = own;
        ok = ok && run_tries(&l, &want_without) == 1 && run_tries(&l, &want_without) == 0;
    }
    test_csr_free(&other);
    tap_ok(ok, "%s: tried again where row pointers or columns are in another buffer%s", dev->name, l.why);
    if (clEnqueueWriteBuffer(dev->queue, l.from.d.col, CL_TRUE, 0, (size_t)with.nnz * 4, with.col, 0, NULL, NULL))
        tap_bail("cannot write a buffer");
    for (int run = 0; ok && run < 3; run++)
        ok = run_tries(&l, &want) == 0;
    tap_ok(ok, "%s: another pattern in these buffers, which is symmetric: not tried, exact%s", dev->name, l.why);
    for (int run = 0; ok && run < 70; run++) {
        const int tried = run_tries(&l, &want);
        ok = tried >= 0;
        tries += tried;
    }
    tap_ok(ok && tries > 1, "%s: after a while it tries again, and goes on%s", dev->name, l.why);
    if (clEnqueueWriteBuffer(dev->queue, l.from.d.col, CL_TRUE, 0, (size_t)with.nnz * 4, without.col, 0, NULL, NULL))
        tap_bail("cannot write a buffer");
    tap_ok(run_tries(&l, &want_without) == 1, "%s: without symmetry again: exact%s", dev->name, l.why);
    weft_transpose_plan_destroy(&l.op);
    test_csr_free(&l.from);
    test_csr_free(&l.to);
    weft_csr_free(&want);
    weft_csr_free(&want_without);
    weft_csr_free(&with);
    weft_csr_free(&without);
}

// Every buffer of a transposition with the short way fails in turn, whatever the driver says: device memory is out, the
// message has the size and the error the driver's code, nothing is left.
static void test_memory(struct test_device *dev)
{
    static const cl_int errors[] = {CL_OUT_OF_RESOURCES, CL_INVALID_BUFFER_SIZE, CL_MEM_OBJECT_ALLOCATION_FAILURE};
    const struct weft__transpose_shape shape = {.m = 90, .n = 90, .nnz = 300, .type = WEFT_TYPE_F32, .mirror = 1};
    const struct weft_transpose_params *params = weft_transpose_params(.algo = WEFT_TRANSPOSE_ALGO_SCAN);
    struct weft_transpose_plan *op = NULL;
    int n = 1, ok = 1, hit = 1;
    fault_install();
    weft__transpose_create(&op, dev->ctx, &shape, params); // the programs are there from now on
    weft_transpose_plan_destroy(&op);
    const int live = fault_live();
    for (; ok && hit && n < 1000; n++) {
        op = (struct weft_transpose_plan *)&rng;
        fault_set_error(FAULT_clCreateBuffer, n, errors[n % 3]);
        const weft_status status = weft__transpose_create(&op, dev->ctx, &shape, params);
        struct weft_error err;
        weft_context_error(&err, dev->ctx);
        hit = fault_hit();
        ok = hit ? status == WEFT_EDEVMEM && !op && err.cl_error == errors[n % 3] && strstr(err.text, " bytes on ")
                 : !status;
        if (!ok)
            tap_note("buffer %d: status %d, code %d, %s", n, (int)status, err.cl_error, err.text);
        weft_transpose_plan_destroy(&op);
    }
    const int left = fault_live() - live;
    fault_remove();
    tap_ok(ok && n > 3 && !left, "%s: %d buffers failed, %d objects left", dev->name, n - 2, left);
}

// The device has no memory for the shape, or no buffer for one of its arrays.
static int too_large(struct test_device *dev)
{
    return strstr(test_error(dev), "bytes of memory") || strstr(test_error(dev), "at once");
}

// Shapes that AUTO tries to mirror, by their size alone.
static void test_dense(struct test_device *dev)
{
    static const struct {
        int64_t n, nnz;
        int tries;
    } shapes[] = {{4000, 16000000, 0}, {1100, 1210000, 0},   {4000, 4000000, 0},
                  {4000, 3996000, 1},  {100000, 2700000, 1}, {100000, 20100000, 1}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const struct weft__transpose_shape shape = {.m = shapes[i].n, .n = shapes[i].n, .nnz = shapes[i].nnz};
        struct weft_transpose_plan *op = NULL;
        struct weft_transpose_info info = {0};
        const weft_status status = weft__transpose_create(&op, dev->ctx, &shape, NULL);
        const int made = !status;
        if (status == WEFT_ERANGE && too_large(dev)) {
            tap_skip("%s: %lld entries: %s", dev->name, (long long)shapes[i].nnz, test_error(dev));
            continue;
        }
        if (made)
            info = *weft_transpose_plan_info(op);
        tap_ok(made && (strstr(info.why, "mirror") != NULL) == shapes[i].tries,
               "%s: %lld entries in %lld columns: the mirror is %s: %s", dev->name, (long long)shapes[i].nnz,
               (long long)shapes[i].n, shapes[i].tries ? "tried" : "not tried", info.why);
        weft_transpose_plan_destroy(&op);
    }
}

// Squares that would be mirrored, of more columns than ScanTrans reaches in little local memory, are for MergeTrans.
static void test_huge(struct test_device *dev)
{
    const int64_t n = (INT64_C(1) << 30) + 5, local = dev->ctx->device.local_bytes;
    const struct weft__transpose_shape shape = {.m = n, .n = n, .nnz = 1000000, .type = WEFT_TYPE_PATTERN};
    struct weft_transpose_plan *op = NULL;
    struct weft_transpose_info info = {0};
    dev->ctx->device.local_bytes = 16 << 10;
    const weft_status status = weft__transpose_create(&op, dev->ctx, &shape, NULL);
    dev->ctx->device.local_bytes = local;
    if (!status)
        info = *weft_transpose_plan_info(op);
    if (status == WEFT_ERANGE && too_large(dev))
        tap_skip("%s: 2^30 columns: %s", dev->name, test_error(dev));
    else
        tap_ok(!status && info.params.algo == WEFT_TRANSPOSE_ALGO_MERGE, "%s: 2^30 columns and as many rows: %s %s",
               dev->name, info.why, status ? test_error(dev) : "");
    weft_transpose_plan_destroy(&op);
}

static void each_device(struct test_device *dev)
{
    static const enum weft_type types[] = {WEFT_TYPE_F32, WEFT_TYPE_F64, WEFT_TYPE_PATTERN, WEFT_TYPE_I32};
    if (!dev->gpu)
        return;
    int turn = 0;
    for (int form = 0; form < FORMS; form++)
        for (int flaw = 0; flaw < FLAWS; flaw++) {
            char why[256] = "";
            const int64_t sizes[] = {700, test_sample() ? 90 : 1500};
            const int64_t n = sizes[(form + flaw) % 2];
            const enum weft_type type = types[turn++ % 4];
            const struct weft_csr a = matrix_make((enum form)form, (enum flaw)flaw, test_sample() && n > 90 ? 60 : n,
                                                  type, turn % 3 ? WEFT_OFS_32 : WEFT_OFS_64);
            const int ok = check(dev, a, flaw == NONE, why);
            tap_ok(ok, "%s: %s, %s, %s%s%s", dev->name, form_names[form], flaw_names[flaw], weft_type_name(type),
                   ok ? "" : ": ", why);
        }
    char why[256] = "";
    for (int flaw = NONE; flaw <= ONE_MISSING; flaw++) {
        struct weft_csr a = matrix_make(MESH, (enum flaw)flaw, 90, WEFT_TYPE_I32, WEFT_OFS_32);
        for (int64_t p = 0; p < a.nnz; p++)
            ((int32_t *)a.val)[p] = (int32_t)p;
        tap_ok(check_as(dev, a, flaw == NONE, 1, why), "%s: positions of entries, %s%s", dev->name, flaw_names[flaw],
               why);
    }
    why[0] = '\0';
    if (!test_sample())
        tap_ok(check(dev, matrix_make(GRAPH, NONE, 1500, WEFT_TYPE_F32, WEFT_OFS_32), 0, why),
               "%s: symmetric, but every image far to seek: given up%s", dev->name, why);
    tap_ok(check(dev, matrix_make(GAPS, NONE, 300, WEFT_TYPE_F32, WEFT_OFS_32), 1, why),
           "%s: long rows with gaps, where images stand elsewhere%s", dev->name, why);
    why[0] = '\0';
    tap_ok(check(dev, matrix_make(HUBS, NONE, 600, WEFT_TYPE_F32, WEFT_OFS_32), 1, why),
           "%s: few long rows with gaps, images before and behind the first guess%s", dev->name, why);
    for (int far = 0; far <= 1 && !dev->checker; far++) {
        const char *spec = far ? "stencil5:300+shuffled" : "stencil5:300";
        struct weft_csr a;
        if (weft_generate(&a, spec, NULL, NULL))
            tap_bail("%s", spec);
        why[0] = '\0';
        tap_ok(check(dev, a, !far, why), "%s: %s is %s%s", dev->name, spec, far ? "given up" : "mirrored", why);
    }
    why[0] = '\0';
    if (!dev->checker) { // no kernel runs
        test_dense(dev);
        test_huge(dev);
    }
    tap_ok(check(dev, matrix_make(BAND, NONE, 1, WEFT_TYPE_F32, WEFT_OFS_32), 1, why), "%s: 1 x 1%s", dev->name, why);
    test_learns(dev);
    test_memory(dev);
}

int main(void)
{
    rng = rng_start();
    test_device_each(each_device);
    return tap_done();
}
