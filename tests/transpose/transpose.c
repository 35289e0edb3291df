// SPDX-License-Identifier: Apache-2.0
// Transposition against the serial oracle, bit for bit: every method, schedule, type and width of offsets on every
// device; edge shapes, tuning values, queues, events. What is refused: errors.c; what is allocated: workspace.c.
#include "host/internal/inside.h"
#include "host/internal/tests.h"
#include "tests/support/csr.h"

#include <stdio.h>
#include <string.h>

static struct rng rng;

struct shape {
    enum test_spread spread;
    int64_t m, n, nnz;
};

static int check(struct test_device *dev, const struct shape *s, enum weft_type type, enum weft_ofs ofs,
                 const struct weft_transpose_params *params)
{
    struct weft_csr a;
    test_matrix_make(&a, &rng, s->spread, s->m, s->n, s->nnz, type, ofs);
    int ok = test_transpose(dev, &a, params, NULL);
    if (!ok)
        tap_note("entries are spread: %s", test_spread_name(s->spread));
    weft_csr_free(&a);
    return ok;
}

// Tuning that makes small matrices large: tiles of few entries, passes of few bits, several chunks.
static size_t small_tunings(struct test_device *dev, enum weft_transpose_algo algo, struct weft_transpose_params out[4])
{
    const struct weft_transpose_params scan_cpu[] = {
        {.cpu = {.bits = 31, .chunks = 3}}, {.cpu = {.bits = 3, .chunks = 2}}, {.cpu = {.bits = 1, .chunks = 1}}};
    const struct weft_transpose_params merge_cpu[] = {{.cpu = {.bits = 1, .chunks = 5}},
                                                      {.cpu = {.bits = 2, .chunks = 4}},
                                                      {.cpu = {.bits = 1, .chunks = 2}},
                                                      {.cpu.chunks = 1}};
    const struct weft_transpose_params scan_gpu[] = {{.gpu = {.wg = 32, .ipt = 2, .bits = 6, .groups = 3}}};
    const struct weft_transpose_params merge_gpu[] = {{.gpu = {.wg = 32, .ipt = 2}}};
    const struct weft_transpose_params *from[] = {scan_cpu, merge_cpu, scan_gpu, merge_gpu};
    const size_t counts[] = {3, 4, 1, 1};
    size_t which = (dev->gpu ? 2u : 0u) + (algo == WEFT_TRANSPOSE_ALGO_MERGE ? 1u : 0u);
    for (size_t i = 0; i < counts[which]; i++) {
        out[i] = from[which][i];
        out[i].algo = algo;
    }
    return counts[which];
}

// Around the tiles of the small tunings (64 entries), their passes (64 and 8192 columns), chunks; extremes of shape.
static const struct shape edge_shapes[] = {
    {TEST_UNIFORM, 0, 0, 0},           {TEST_UNIFORM, 0, 70, 0},       {TEST_UNIFORM, 70, 0, 0},
    {TEST_UNIFORM, 9, 70, 0},          {TEST_UNIFORM, 1, 1, 1},        {TEST_UNIFORM, 1, 1, 5},
    {TEST_UNIFORM, 1, 1000, 90},       {TEST_UNIFORM, 1000, 1, 90},    {TEST_UNIFORM, 2, 2, 31},
    {TEST_UNIFORM, 20, 63, 32},        {TEST_UNIFORM, 20, 64, 33},     {TEST_UNIFORM, 20, 65, 63},
    {TEST_UNIFORM, 20, 64, 64},        {TEST_UNIFORM, 20, 64, 65},     {TEST_UNIFORM, 300, 4095, 127},
    {TEST_UNIFORM, 300, 4096, 128},    {TEST_UNIFORM, 300, 4097, 129}, {TEST_UNIFORM, 300, 8192, 128},
    {TEST_UNIFORM, 300, 8193, 129},    {TEST_ONE_ROW, 30, 200, 2000},  {TEST_ONE_COLUMN, 200, 30, 2000},
    {TEST_ONE_COLUMN, 90, 5000, 900},  {TEST_LAST, 40, 50, 300},       {TEST_FEW_ROWS, 500, 100, 300},
    {TEST_DIAGONAL, 900, 800, 2500},   {TEST_SKEWED, 700, 5000, 3000}, {TEST_DESCENDING, 50, 400, 2100},
    {TEST_UNIFORM, 3000, 70000, 4000}, {TEST_UNIFORM, 20000, 3, 3000},
};

// The sample: every spread once, both sides of a tile and of a pass, every shape without entries, buckets of
// several chunks with entries in their last column and in others.
static const struct shape sample_shapes[] = {
    {TEST_UNIFORM, 0, 0, 0},       {TEST_UNIFORM, 0, 70, 0},      {TEST_UNIFORM, 70, 0, 0},
    {TEST_UNIFORM, 9, 70, 0},      {TEST_UNIFORM, 1, 1, 1},       {TEST_UNIFORM, 1, 1, 5},
    {TEST_UNIFORM, 20, 64, 63},    {TEST_UNIFORM, 20, 65, 64},    {TEST_UNIFORM, 20, 64, 65},
    {TEST_ONE_ROW, 9, 100, 130},   {TEST_ONE_COLUMN, 90, 9, 130}, {TEST_LAST, 20, 30, 70},
    {TEST_FEW_ROWS, 90, 40, 70},   {TEST_DIAGONAL, 70, 60, 130},  {TEST_SKEWED, 50, 90, 130},
    {TEST_DESCENDING, 9, 50, 130}, {TEST_UNIFORM, 20, 4200, 70},  {TEST_LAST, 20, 4096, 600},
    {TEST_SKEWED, 50, 900, 1500},  {TEST_UNIFORM, 20, 8193, 70},  {TEST_SKEWED, 50, 9000, 600},
};

// wide: positions inside as wide as the offsets, else as these few entries have them.
static void test_edges(struct test_device *dev, enum weft_transpose_algo algo, enum weft_type type, enum weft_ofs ofs,
                       int wide)
{
    struct weft_transpose_params tunings[4];
    size_t count = small_tunings(dev, algo, tunings);
    const struct shape *shapes = test_sample() ? sample_shapes : edge_shapes;
    size_t nshapes = test_sample() ? sizeof sample_shapes / sizeof *shapes : sizeof edge_shapes / sizeof *shapes;
    int ok = 1;
    dev->ctx->wide_positions = wide;
    for (size_t t = 0; ok && t < count; t++)
        // A sample: every tuning of f32, one of each other type.
        for (size_t i = 0; ok && i < nshapes && (!test_sample() || type == WEFT_TYPE_F32 || t == (size_t)type % count);
             i++)
            // Under a checker every shape of f32, and of each other type some, among them that of three passes.
            if (!dev->checker || type == WEFT_TYPE_F32 || i % 5 == (size_t)type || shapes[i].n > 8192)
                ok = check(dev, &shapes[i], type, ofs, &tunings[t]);
    dev->ctx->wide_positions = 0;
    tap_ok(ok, "%s: %s, %s, %d-bit offsets, %d-bit positions, edge shapes", dev->name,
           algo == WEFT_TRANSPOSE_ALGO_SCAN ? "scan" : "merge", weft_type_name(type), ofs == WEFT_OFS_64 ? 64 : 32,
           wide ? 64 : 32);
}

// Default tuning, with sizes at the edges of its own tiles, and large enough for each form that the CPU scan has.
static void test_defaults(struct test_device *dev, enum weft_transpose_algo algo, enum weft_type type,
                          enum weft_ofs ofs)
{
    struct weft_transpose_params params = {.algo = algo};
    struct weft_transpose_plan *op = NULL;
    struct weft_transpose_info info = {0};
    int ok = !weft_transpose_plan_create(&op, dev->ctx, weft_shape(1000, 1000, 10000, type, ofs), &params);
    if (ok)
        info = *weft_transpose_plan_info(op);
    weft_transpose_plan_destroy(&op);
    int64_t tile = dev->gpu ? (int64_t)info.params.gpu.wg * info.params.gpu.ipt : 1024;
    const struct shape shapes[] = {
        {TEST_UNIFORM, 10, 10, 0},
        {TEST_UNIFORM, 100, 90, tile - 1},
        {TEST_DIAGONAL, 100, 90, tile},
        {TEST_DESCENDING, 1000, 5000, tile + 1},
        {TEST_SKEWED, 400, 300, 9000},
        {TEST_UNIFORM, 5000, 140000, 300000},
        {TEST_DIAGONAL, 9000, 140000, 300000},
        {TEST_SKEWED, 9000, 140000, 300000},
        {TEST_ONE_COLUMN, 9000, 140000, 60000},
        {TEST_UNIFORM, 10000000, 20, 1000},
        {TEST_UNIFORM, 20, 10000000, 1000},
    };
    size_t count = test_sample() ? 2 : sizeof shapes / sizeof *shapes;
    for (size_t i = 0; ok && i < count; i++)
        ok = check(dev, &shapes[i], type, ofs, &params);
    if (ok && dev->gpu && !dev->checker && algo == WEFT_TRANSPOSE_ALGO_SCAN) { // whole tiles, several for a work-group
        params.gpu.groups = 2;
        ok = check(dev, &(struct shape){TEST_SKEWED, 500, 300, 7 * tile + 5}, type, ofs, &params);
    }
    tap_ok(ok, "%s: %s, %s, %d-bit offsets, default tuning", dev->name,
           algo == WEFT_TRANSPOSE_ALGO_SCAN    ? "scan"
           : algo == WEFT_TRANSPOSE_ALGO_MERGE ? "merge"
                                               : "auto",
           weft_type_name(type), ofs == WEFT_OFS_64 ? 64 : 32);
}

// Programs without the fence of a device, with work-groups and work-items in the other order than elsewhere.
static void test_turned(struct test_device *dev, enum weft_transpose_algo algo)
{
    static const struct shape shapes[] = {{TEST_SKEWED, 50, 900, 1500}, {TEST_SKEWED, 50, 9000, 600}};
    struct weft_transpose_params tunings[4];
    const size_t count = small_tunings(dev, algo, tunings);
    const int fence = weft_context_device(dev->ctx)->fence;
    int ok = 1;
    test_fence(dev, 0);
    dev->ctx->salt = 1;
    for (size_t i = 0; ok && i < 2 * count; i++)
        ok = check(dev, &shapes[i % 2], WEFT_TYPE_F32, WEFT_OFS_32, &tunings[i / 2]);
    dev->ctx->salt = 0;
    test_fence(dev, fence);
    tap_ok(ok, "%s: %s, no fence, turned", dev->name, algo == WEFT_TRANSPOSE_ALGO_SCAN ? "scan" : "merge");
}

// 64-bit offsets with 32-bit positions and values of 32 bits. On GPUs one, two and three passes, with the fence where it is
// not had and without it where it is.
static void test_narrow(struct test_device *dev, enum weft_transpose_algo algo)
{
    static const struct shape shapes[] = {
        {TEST_LAST, 20, 60, 300}, {TEST_SKEWED, 50, 900, 1500}, {TEST_SKEWED, 50, 9000, 600}};
    struct weft_transpose_params tunings[4];
    const size_t count = small_tunings(dev, algo, tunings);
    const int fence = weft_context_device(dev->ctx)->fence;
    int ok = 1;
    test_fence(dev, dev->gpu && !fence);
    for (size_t i = 0; ok && i < 3 * count; i++)
        ok = check(dev, &shapes[i % 3], WEFT_TYPE_F32, WEFT_OFS_64, &tunings[i / 3]);
    test_fence(dev, fence);
    tap_ok(ok, "%s: %s, f32, 64-bit offsets, 32-bit positions", dev->name,
           algo == WEFT_TRANSPOSE_ALGO_SCAN ? "scan" : "merge");
}

// What merge does on GPUs: tables written from the starts of digits (bands) in every round, as many runs at once as
// there may be, keys that do not fit beside a slot.
static void test_merged(struct test_device *dev)
{
    const struct weft_transpose_params rounds = {.algo = WEFT_TRANSPOSE_ALGO_MERGE,
                                                 .gpu.wg = 32,
                                                 .gpu.ipt = 2,
                                                 .gpu.bits = 2},
                                       runs = {.algo = WEFT_TRANSPOSE_ALGO_MERGE,
                                               .gpu = {.wg = 32, .ipt = 2, .bits = 10}},
                                       pairs = {.algo = WEFT_TRANSPOSE_ALGO_MERGE, .gpu.bits = 1, .cpu.bits = 1};
    const struct {
        struct shape s, sample;
        const struct weft_transpose_params *params;
        const char *what;
    } cases[] = {
        {{TEST_DIAGONAL, 3000, 3000, 20000}, {TEST_DIAGONAL, 200, 200, 1300}, &rounds, "a band, runs by four"},
        {{TEST_SKEWED, 900, 2000, 9000}, {TEST_SKEWED, 90, 900, 1300}, &rounds, "heavy columns, runs by four"},
        {{TEST_UNIFORM, 3000, 5000, 65600}, {TEST_UNIFORM, 200, 300, 4200}, &runs, "as many runs as there may be"},
        {{TEST_UNIFORM, 20, 9000000, 9300}, {TEST_UNIFORM, 20, 1060000, 3100}, &pairs, "columns far apart"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        tap_ok(check(dev, test_sample() ? &cases[i].sample : &cases[i].s, WEFT_TYPE_F32, WEFT_OFS_32, cases[i].params),
               "%s: merge, %s", dev->name, cases[i].what);
}

// What direct scan does on CPUs with counters for a part of the columns: chunks whose columns fit, that do not by a
// sample of them, that do not by one entry. Then blocks are taken.
static void test_spans(struct test_device *dev)
{
    const struct weft_transpose_params params = {.algo = WEFT_TRANSPOSE_ALGO_SCAN, .gpu.groups = 8, .cpu.chunks = 8};
    const struct shape band = test_sample() ? (struct shape){TEST_DIAGONAL, 1800, 20000, 6000}
                                            : (struct shape){TEST_DIAGONAL, 9000, 100000, 150000},
                       rows = test_sample() ? (struct shape){TEST_DESCENDING, 8, 20000, 40000}
                                            : (struct shape){TEST_DESCENDING, 3, 100000, 150000};
    tap_ok(check(dev, &band, WEFT_TYPE_F32, WEFT_OFS_32, &params), "%s: scan, a band", dev->name);
    tap_ok(check(dev, &band, WEFT_TYPE_PATTERN, WEFT_OFS_64, &params), "%s: scan, the pattern of a band", dev->name);
    tap_ok(check(dev, &rows, WEFT_TYPE_F32, WEFT_OFS_32, &params), "%s: scan, chunks that have all columns", dev->name);
    for (int last = 0; last < 2; last++) {
        struct weft_csr a;
        test_matrix_make(&a, &rng, band.spread, band.m, band.n, band.nnz, WEFT_TYPE_F64, WEFT_OFS_32);
        a.col[band.nnz / 3] = last ? (int32_t)band.n - 1 : 0;
        tap_ok(test_transpose(dev, &a, &params, NULL), "%s: scan, a band but for one entry in the %s column", dev->name,
               last ? "last" : "first");
        weft_csr_free(&a);
    }
}

// Scan on CPUs may go by blocks of columns, and has room for all entries in between, where columns are many, and where they are fewer
// but the output takes many pages. Then a run of either form.
static void test_blocks(struct test_device *dev)
{
    static const struct {
        int64_t n, nnz;
        enum weft_type type;
        int blocks;
    } cases[] = {{70000, 1000000, WEFT_TYPE_F32, 0}, {70000, 1500000, WEFT_TYPE_F32, 1},
                 {60000, 3000000, WEFT_TYPE_F32, 1}, {60000, 1500000, WEFT_TYPE_F32, 0},
                 {60000, 1500000, WEFT_TYPE_F64, 1}, {60000, 3000000, WEFT_TYPE_PATTERN, 0},
                 {8000, 20000000, WEFT_TYPE_F32, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t bytes = 0;
        const int ok = !weft_transpose_workspace(
            &bytes, dev->ctx, weft_shape(100000, cases[i].n, cases[i].nnz, cases[i].type, WEFT_OFS_32),
            weft_transpose_params(.algo = WEFT_TRANSPOSE_ALGO_SCAN,
                                  .cpu.chunks = 4)); // of more not each counts all columns
        const size_t entries = (size_t)cases[i].nnz * (4 + weft_type_bytes(cases[i].type));
        tap_ok(ok && (bytes >= entries) == cases[i].blocks,
               "%s: scan, %lld columns, %lld entries, %s: %zu bytes of workspace", dev->name, (long long)cases[i].n,
               (long long)cases[i].nnz, weft_type_name(cases[i].type), bytes);
    }
    if (dev->checker)
        return; // so many entries take a checker minutes
    const struct weft_transpose_params params = {.algo = WEFT_TRANSPOSE_ALGO_SCAN};
    const struct shape apart = {TEST_UNIFORM, 40000, 20000, 2200000}, near = {TEST_DIAGONAL, 40000, 20000, 2200000};
    tap_ok(check(dev, &apart, WEFT_TYPE_F32, WEFT_OFS_32, &params),
           "%s: scan, 20 000 columns of 2.2 million entries apart", dev->name);
    tap_ok(check(dev, &near, WEFT_TYPE_F32, WEFT_OFS_32, &params), "%s: scan, the same on a diagonal", dev->name);
}

static struct weft_transpose_params params_draw(struct test_device *dev, enum weft_transpose_algo algo)
{
    struct weft_transpose_params p = {.algo = algo};
    if (!dev->gpu) {
        p.cpu.bits = (int)rng_below(&rng, algo == WEFT_TRANSPOSE_ALGO_SCAN ? 32 : 6);
        p.cpu.chunks = (int)rng_below(&rng, 40);
    } else {
        p.gpu.wg = 32 << rng_below(&rng, 4);
        p.gpu.ipt = algo == WEFT_TRANSPOSE_ALGO_SCAN ? (int)rng_between(&rng, 1, 24) : 1 << rng_below(&rng, 4);
        p.gpu.bits = algo == WEFT_TRANSPOSE_ALGO_SCAN ? (int)rng_between(&rng, 6, 11) : (int)rng_below(&rng, 3);
        p.gpu.groups = (int)rng_below(&rng, 20);
    }
    return p;
}

// Random shapes with random tuning. What a method refuses (local memory, bits that do not reach n) is drawn again.
static void test_random(struct test_device *dev, enum weft_transpose_algo algo)
{
    int ok = 1, draws = test_sample() ? 1 : dev->gpu ? 4 : 40, refused = 0;
    for (int draw = 0; ok && draw < draws && refused < 200;) {
        struct weft_transpose_params p = params_draw(dev, algo);
        size_t bytes;
        int64_t most = test_sample() ? 400 : 20000;
        struct shape s = {(enum test_spread)rng_below(&rng, TEST_SPREADS), rng_between(&rng, 1, most),
                          rng_between(&rng, 1, most), rng_between(&rng, 0, 3 * most)};
        enum weft_type type = (enum weft_type)rng_below(&rng, 4);
        enum weft_ofs ofs = (enum weft_ofs)rng_below(&rng, 2);
        dev->ctx->wide_positions = (int)rng_below(&rng, 2);
        if (weft_transpose_workspace(&bytes, dev->ctx, weft_shape(s.m, s.n, s.nnz, type, ofs), &p) == WEFT_EINVAL) {
            refused++;
            continue;
        }
        ok = check(dev, &s, type, ofs, &p);
        draw++;
    }
    dev->ctx->wide_positions = 0;
    tap_ok(ok && refused < 200, "%s: %s, random shapes and tuning", dev->name,
           algo == WEFT_TRANSPOSE_ALGO_SCAN ? "scan" : "merge");
}

// (A^T)^T is A when the columns ascend inside its rows; with host arrays in and out.
static void test_twice(struct test_device *dev, enum weft_transpose_algo algo)
{
    struct weft_csr a, b, c = {0}, d = {0};
    test_matrix_make(&a, &rng, TEST_SKEWED, 300, 500, test_sample() ? 300 : 4000, WEFT_TYPE_F64, WEFT_OFS_32);
    if (weft__ref_transpose(&b, &a)) // rows of b are in order
        tap_bail("out of host memory");
    struct weft_transpose_params params = {.algo = algo};
    weft_status status = weft_transpose_sync(&c, dev->ctx, &b, &params);
    if (!status)
        status = weft_transpose_sync(&d, dev->ctx, &c, &params);
    tap_ok(!status && weft_csr_equal(&d, &b) && weft_csr_hash(&d) == weft_csr_hash(&b),
           "%s: %s, the transpose of the transpose is the matrix", dev->name,
           algo == WEFT_TRANSPOSE_ALGO_SCAN ? "scan" : "merge");
    weft_csr_free(&a);
    weft_csr_free(&b);
    weft_csr_free(&c);
    weft_csr_free(&d);
}

// On an out-of-order queue, behind an event that the test completes late: A to A^T to A, then no entries at all.
static void test_events(struct test_device *dev, enum weft_transpose_algo algo)
{
    cl_command_queue queue = test_queue(dev, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    if (!queue) {
        tap_skip("%s: no out-of-order queue", dev->name);
        return;
    }
    enum { N = 200, NNZ = 700 };
    char why[256] = "";
    struct weft_csr a, sorted;
    struct test_csr x, y;
    struct weft_transpose_plan *op = NULL, *empty = NULL;
    test_matrix_make(&a, &rng, TEST_UNIFORM, N, N, NNZ, WEFT_TYPE_F32, WEFT_OFS_32);
    if (weft__ref_transpose(&sorted, &a))
        tap_bail("out of host memory");
    weft_csr_free(&a);
    struct weft_transpose_params params = {.algo = algo};
    test_csr_make(&x, dev, &sorted, N, N, NNZ, WEFT_TYPE_F32, WEFT_OFS_32);
    test_csr_make(&y, dev, NULL, N, N, NNZ, WEFT_TYPE_F32, WEFT_OFS_32);
    test_buffer_poison(dev, &x.val);
    cl_int error;
    cl_event gate = clCreateUserEvent(weft_context_cl(dev->ctx), &error), written = NULL, first = NULL, second = NULL,
             none = NULL;
    int ok = error == CL_SUCCESS &&
             !weft_transpose_plan_create(&op, dev->ctx, weft_shape(N, N, NNZ, WEFT_TYPE_F32, WEFT_OFS_32), &params) &&
             !weft_transpose_plan_create(&empty, dev->ctx, weft_shape(N, N, 0, WEFT_TYPE_F32, WEFT_OFS_32), &params) &&
             !clEnqueueWriteBuffer(queue, x.val.mem, CL_FALSE, 0, NNZ * 4, sorted.val, 1, &gate, &written) &&
             !weft_transpose_run(op, queue, &y.d, &x.d, 1, &written, &first) &&
             !weft_transpose_run(op, queue, &x.d, &y.d, 1, &first, &second);
    cl_int state = CL_COMPLETE;
    if (ok)
        clGetEventInfo(second, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    int waits = state != CL_COMPLETE;
    clSetUserEventStatus(gate, CL_COMPLETE);
    ok = ok && waits && clWaitForEvents(1, &second) == CL_SUCCESS;
    if (dev->checker) // whose markers do not wait for what is before them
        clFinish(queue);
    ok = ok && test_csr_equal(dev, &x, &sorted, why);
    tap_ok(ok, "%s: %s, out-of-order queue, wait lists and events %s", dev->name,
           algo == WEFT_TRANSPOSE_ALGO_SCAN ? "scan" : "merge", why);
    struct weft_device_csr e = y.d, f = x.d;
    e.nnz = f.nnz = 0;
    ok = empty && second && !weft_transpose_run(empty, queue, &e, &f, 1, &second, &none) &&
         clWaitForEvents(1, &none) == CL_SUCCESS;
    if (dev->checker)
        clFinish(queue);
    struct weft_csr zeros;
    if (weft_csr_alloc(&zeros, weft_shape(N, N, 0, WEFT_TYPE_F32, WEFT_OFS_32)))
        tap_bail("out of host memory");
    tap_ok(ok && test_csr_equal(dev, &y, &zeros, why), "%s: no entries give zeros and an event %s", dev->name, why);
    clFinish(queue);
    cl_event events[] = {gate, written, first, second, none};
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (events[i])
            clReleaseEvent(events[i]);
    weft_transpose_plan_destroy(&op);
    weft_transpose_plan_destroy(&empty);
    test_csr_free(&x);
    test_csr_free(&y);
    weft_csr_free(&sorted);
    weft_csr_free(&zeros);
    clReleaseCommandQueue(queue);
}

// Random shapes of growing size; one tuning, so that few programs are compiled.
static void test_sweep(struct test_device *dev, enum weft_transpose_algo algo)
{
    struct weft_transpose_params params = {.algo = algo};
    int64_t nnz = 1, most = dev->gpu && (weft_context_device(dev->ctx)->type & CL_DEVICE_TYPE_CPU) ? 300000 : 20000000;
    int ok = 1;
    while (ok && nnz <= most) {
        int64_t m = rng_between(&rng, 1, nnz), n = rng_between(&rng, 1, 2 * nnz);
        struct shape s = {(enum test_spread)rng_below(&rng, TEST_SPREADS), m, n, nnz};
        ok = check(dev, &s, WEFT_TYPE_F32, WEFT_OFS_32, &params);
        nnz = nnz < 300 ? nnz + 1 : nnz * 3 / 2;
    }
    tap_ok(ok, "%s: %s, sweep to %lld entries", dev->name, algo == WEFT_TRANSPOSE_ALGO_SCAN ? "scan" : "merge",
           (long long)nnz);
}

// A dense m x n pattern with more than 2^31 entries, where the device has the memory: its transpose is known.
static void test_huge(struct test_device *dev, enum weft_transpose_algo algo)
{
    enum { PIECE = 1 << 24, N = 1024 };
    const int64_t m = (INT64_C(1) << 21) + 12345, nnz = m * N;
    const struct weft_device_info *info = weft_context_device(dev->ctx);
    if (info->max_alloc_bytes < nnz * 8 || info->global_bytes < INT64_C(80) << 30) {
        tap_skip("%s: more than 2^31 entries need a device with 80 GiB", dev->name);
        return;
    }
    struct weft_device_csr a = {0}, at = {0};
    struct weft_transpose_plan *op = NULL;
    int32_t *piece = test_alloc(PIECE * sizeof *piece);
    int64_t *ptr = test_alloc(((size_t)m + 1) * sizeof *ptr);
    int ok = !weft_device_csr_alloc(&a, dev->ctx, weft_shape(m, N, nnz, WEFT_TYPE_PATTERN, WEFT_OFS_64)) &&
             !weft_device_csr_alloc(&at, dev->ctx, weft_shape(N, m, nnz, WEFT_TYPE_PATTERN, WEFT_OFS_64)) &&
             !weft_transpose_plan_create(&op, dev->ctx, weft_shape(m, N, nnz, WEFT_TYPE_PATTERN, WEFT_OFS_64),
                                         weft_transpose_params(.algo = algo));
    for (int64_t i = 0; i <= m; i++)
        ptr[i] = i * N;
    ok = ok && !clEnqueueWriteBuffer(dev->queue, a.row_ptr, CL_TRUE, 0, ((size_t)m + 1) * 8, ptr, 0, NULL, NULL);
    for (int64_t p = 0; p < PIECE; p++)
        piece[p] = (int32_t)(p % N);
    for (int64_t p = 0; ok && p < nnz; p += PIECE)
        ok = !clEnqueueWriteBuffer(dev->queue, a.col, CL_TRUE, (size_t)p * 4,
                                   (size_t)(nnz - p < PIECE ? nnz - p : PIECE) * 4, piece, 0, NULL, NULL);
    ok = ok && !weft_transpose_run(op, dev->queue, &at, &a, 0, NULL, NULL) &&
         !clEnqueueReadBuffer(dev->queue, at.row_ptr, CL_TRUE, 0, (N + 1) * 8, ptr, 0, NULL, NULL);
    for (int64_t j = 0; ok && j <= N; j++)
        ok = ptr[j] == j * m;
    for (int64_t p = 0; ok && p < nnz; p += PIECE) {
        int64_t count = nnz - p < PIECE ? nnz - p : PIECE;
        ok = !clEnqueueReadBuffer(dev->queue, at.col, CL_TRUE, (size_t)p * 4, (size_t)count * 4, piece, 0, NULL, NULL);
        for (int64_t i = 0; ok && i < count; i++)
            ok = piece[i] == (p + i) % m;
    }
    tap_ok(ok, "%s: %s, %lld entries: %s", dev->name, algo == WEFT_TRANSPOSE_ALGO_SCAN ? "scan" : "merge",
           (long long)nnz, ok ? "" : test_error(dev));
    weft_transpose_plan_destroy(&op);
    weft_device_csr_free(&a);
    weft_device_csr_free(&at);
    free(piece);
    free(ptr);
}

// As many columns as there can be, where the device holds the pointers.
static void test_wide(struct test_device *dev, enum weft_transpose_algo algo)
{
    const struct weft_device_info *info = weft_context_device(dev->ctx);
    int64_t n =
        info->max_alloc_bytes > INT64_C(9) << 30 && info->global_bytes > INT64_C(60) << 30 ? INT32_MAX : 100000000;
    struct shape s = {TEST_UNIFORM, 7, n, 1000};
    struct weft_transpose_params params = {.algo = algo};
    tap_ok(check(dev, &s, WEFT_TYPE_I32, WEFT_OFS_32, &params), "%s: %s, %lld columns", dev->name,
           algo == WEFT_TRANSPOSE_ALGO_SCAN ? "scan" : "merge", (long long)n);
}

static void test_all(struct test_device *dev)
{
    for (enum weft_transpose_algo algo = WEFT_TRANSPOSE_ALGO_SCAN; algo <= WEFT_TRANSPOSE_ALGO_MERGE; algo++) {
        if (test_slow()) {
            test_sweep(dev, algo);
            test_wide(dev, algo);
            test_huge(dev, algo);
            continue;
        }
        // A GPU schedule on a CPU takes minutes to compile for all pairs: there, as in the sample, each type comes
        // once, f64 with 64-bit positions.
        int few = test_sample() || (dev->gpu && (weft_context_device(dev->ctx)->type & CL_DEVICE_TYPE_CPU));
        for (int type = WEFT_TYPE_F32; type <= WEFT_TYPE_PATTERN; type++)
            for (int ofs = WEFT_OFS_32; ofs <= WEFT_OFS_64; ofs++)
                for (int wide = 0; wide <= ofs; wide++)
                    if (!few || (ofs == type % 2 && wide == (type == WEFT_TYPE_F64)))
                        test_edges(dev, algo, (enum weft_type)type, (enum weft_ofs)ofs, wide);
        test_defaults(dev, algo, WEFT_TYPE_F32, WEFT_OFS_32);
        test_defaults(dev, algo, WEFT_TYPE_F64, WEFT_OFS_64);
        test_random(dev, algo);
        test_twice(dev, algo);
        test_events(dev, algo);
        test_turned(dev, algo);
        test_narrow(dev, algo);
    }
    if (!test_slow()) {
        if (dev->gpu)
            test_merged(dev);
        else {
            test_spans(dev);
            test_blocks(dev);
        }
        test_defaults(dev, WEFT_TRANSPOSE_ALGO_AUTO, WEFT_TYPE_F32, WEFT_OFS_32);
    }
}

int main(void)
{
    rng = rng_start();
    test_device_each(test_all);
    return tap_done();
}
