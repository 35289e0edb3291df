// SPDX-License-Identifier: Apache-2.0
// Plans of SpMV: the caller's own semirings, the rest of a hybrid on the host, queues and events, figures
// that analysis gives, the measured choice, host arrays. What is refused: errors.c. New values: refill.c.
#include "host/internal/inside.h"
#include "tests/support/problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <weft/generate.h>

static struct rng rng;

static const enum weft_spmv_algo algos[] = {
    WEFT_SPMV_ALGO_CSR_SCALAR, WEFT_SPMV_ALGO_CSR_LANES, WEFT_SPMV_ALGO_CSR_MERGE, WEFT_SPMV_ALGO_ELL,
    WEFT_SPMV_ALGO_SELL,       WEFT_SPMV_ALGO_HYB,       WEFT_SPMV_ALGO_COO,       WEFT_SPMV_ALGO_COO_ATOMIC,
    WEFT_SPMV_ALGO_CSR_FIXED,  WEFT_SPMV_ALGO_CSR_FLAGS, WEFT_SPMV_ALGO_CSR_HUBS,  WEFT_SPMV_ALGO_CSR_NODES};
#define ALGOS (sizeof algos / sizeof *algos)

// What a plan for an algorithm runs: lanes of a processor have other ones in the place of some.
static enum weft_spmv_algo what_runs(const struct test_device *dev, enum weft_spmv_algo algo)
{
    if (dev->gpu)
        return algo;
    return algo == WEFT_SPMV_ALGO_CSR_FLAGS || algo == WEFT_SPMV_ALGO_CSR_HUBS ? WEFT_SPMV_ALGO_CSR_MERGE
           : algo == WEFT_SPMV_ALGO_PANELS                                     ? WEFT_SPMV_ALGO_SELL16
                                                                               : algo;
}

// ---- the caller's semiring -------------------------------------------------------------------------------------

// Widest paths, (max, min): y[i] = max over j of min(a[i][j], x[j]); with beta also y0[i].
static int widest_check(struct test_problem *p, int add)
{
    test_buffer_read(p->dev, &p->by, p->y, p->y_bytes);
    for (int64_t i = 0; i < p->a.m; i++) {
        float want = add ? ((float *)p->y0)[i] : -INFINITY;
        for (int64_t q = weft_csr_ofs(&p->a, i); q < weft_csr_ofs(&p->a, i + 1); q++)
            want = fmaxf(want, fminf(((float *)p->a.val)[q], ((float *)p->x)[p->a.col[q]]));
        if (((float *)p->y)[i] != want) {
            tap_note("row %lld: %g, expected %g", (long long)i, (double)((float *)p->y)[i], (double)want);
            return 0;
        }
    }
    return 1;
}

static void test_custom(struct test_device *dev)
{
    struct test_problem p =
        test_problem_make(dev, &rng, test_sample() ? 70 : 700, 90, 0, 60, WEFT_TYPE_F32, WEFT_OFS_32);
    for (int64_t i = 0; i < p.a.m; i++) { // columns ascend, for sliced DIA
        const int64_t begin = weft_csr_ofs(&p.a, i), k = weft_csr_ofs(&p.a, i + 1) - begin;
        for (int64_t q = 0; q < k; q++)
            p.a.col[begin + q] = (int32_t)(q * p.a.n / k);
    }
    test_problem_write(&p);
    for (int i = WEFT_SPMV_ALGO_CSR_SCALAR; i <= WEFT_SPMV_ALGO_CSR_NODES; i++) {
        const enum weft_spmv_algo algo = (enum weft_spmv_algo)i;
        char plus[] = "fmax(a, b)", times[] = "fmin(a, b)", zero[] = "-INFINITY";
        struct weft_spmv_params params = {.policy.algo = algo,
                                          .problem.semiring = WEFT_SPMV_SEMIRING_CUSTOM,
                                          .problem.plus = plus,
                                          .problem.times = times,
                                          .problem.zero = zero,
                                          .format.max_padding = 1e9};
        struct weft_spmv_plan *plan = test_problem_plan(&p, &params);
        memset(plus, '?', sizeof plus - 1); // the plan has copies
        memset(times, '?', sizeof times - 1);
        memset(zero, '?', sizeof zero - 1);
        int ok = plan && weft_spmv_plan_info(plan)->params.policy.algo == what_runs(dev, algo);
        for (int add = 0; ok && add < 2; add++) {
            test_buffer_write(dev, &p.by, p.y0, p.y_bytes);
            ok = !weft_spmv_run(plan, dev->queue, p.by.mem, 1, p.bx.mem, add, 0, NULL, NULL) && widest_check(&p, add);
        }
        tap_ok(ok, "%s: widest paths, a semiring of the caller: %s", dev->name, weft_spmv_algo_name(algo));
        weft_spmv_plan_destroy(&plan);
    }
    test_problem_free(&p);
}

// ---- the rest on the host --------------------------------------------------------------------------------------

static void test_host_rest(struct test_device *dev)
{
    static const struct {
        enum weft_type type;
        int f64_sums;
        enum weft_spmv_semiring semiring;
        int64_t longest;
    } ways[] = {{WEFT_TYPE_F32, 0, WEFT_SPMV_SEMIRING_PLUS_TIMES, 300},
                {WEFT_TYPE_F64, 0, WEFT_SPMV_SEMIRING_PLUS_TIMES, 300},
                {WEFT_TYPE_F32, 1, WEFT_SPMV_SEMIRING_PLUS_TIMES, 300},
                {WEFT_TYPE_I32, 0, WEFT_SPMV_SEMIRING_PLUS_TIMES, 300},
                {WEFT_TYPE_F32, 0, WEFT_SPMV_SEMIRING_MIN_PLUS, 70},
                {WEFT_TYPE_I32, 0, WEFT_SPMV_SEMIRING_MIN_PLUS, 70},
                {WEFT_TYPE_F64, 0, WEFT_SPMV_SEMIRING_MAX_TIMES, 70},
                {WEFT_TYPE_I32, 0, WEFT_SPMV_SEMIRING_MAX_TIMES, 70},
                {WEFT_TYPE_F32, 0, WEFT_SPMV_SEMIRING_MAX_TIMES, 70},
                {WEFT_TYPE_F32, 1, WEFT_SPMV_SEMIRING_MIN_PLUS, 70},
                {WEFT_TYPE_F32, 1, WEFT_SPMV_SEMIRING_OR_AND, 70},
                {WEFT_TYPE_PATTERN, 0, WEFT_SPMV_SEMIRING_OR_AND, 70},
                {WEFT_TYPE_I32, 0, WEFT_SPMV_SEMIRING_OR_AND, 70},
                {WEFT_TYPE_F32, 0, WEFT_SPMV_SEMIRING_PLUS_TIMES, 20000}}; // rows of several pieces
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if ((ways[i].type == WEFT_TYPE_F64 || ways[i].f64_sums) && !weft_context_device(dev->ctx)->fp64) {
            tap_skip("%s: no double precision", dev->name);
            continue;
        }
        struct test_problem p = test_problem_make(dev, &rng, 90, 100, 2, ways[i].longest, ways[i].type, WEFT_OFS_32);
        const struct weft_spmv_params params = {.policy.algo = WEFT_SPMV_ALGO_HYB,
                                                .format.host_rest = 1,
                                                .problem.f64_sums = ways[i].f64_sums,
                                                .problem.semiring = ways[i].semiring,
                                                .problem.vec_type = p.type,
                                                .format.max_padding = 1e9};
        struct weft_spmv_plan *plan = test_problem_plan(&p, &params);
        struct weft_spmv_info info = {0};
        if (plan)
            info = *weft_spmv_plan_info(plan);
        const int plain = ways[i].semiring == WEFT_SPMV_SEMIRING_PLUS_TIMES;
        int64_t rest = 0;
        for (int64_t r = 0; r < p.a.m; r++) {
            const int64_t length = weft_csr_ofs(&p.a, r + 1) - weft_csr_ofs(&p.a, r);
            rest += length > 4 ? length - 4 : 0;
        }
        int ok = plan && info.params.format.width == 4 && info.rest == rest &&
                 test_problem_run(&p, plan, &params, plain ? 2 : 1, 0) &&
                 test_problem_run(&p, plan, &params, 1, plain ? -3 : 1);
        tap_ok(ok, "%s: rest on the host, %s%s, semiring %d, rows of %d", dev->name, weft_type_name(ways[i].type),
               ways[i].f64_sums ? ", f64 sums" : "", (int)ways[i].semiring, (int)ways[i].longest);
        weft_spmv_plan_destroy(&plan);
        test_problem_free(&p);
    }
    struct test_problem p = test_problem_make(dev, &rng, 50, 100, 2, 3, WEFT_TYPE_F32, WEFT_OFS_32);
    const struct weft_spmv_params params = {
        .policy.algo = WEFT_SPMV_ALGO_HYB, .format.host_rest = 1, .format.width = 100, .format.max_padding = 1e9};
    struct weft_spmv_plan *plan = test_problem_plan(&p, &params);
    tap_ok(plan && test_problem_run(&p, plan, &params, 1, 0), "%s: rest on the host, and there is none", dev->name);
    weft_spmv_plan_destroy(&plan);
    const struct weft_spmv_params single = {
        .policy.algo = WEFT_SPMV_ALGO_HYB, .format.host_rest = 1, .format.width = 4, .format.max_padding = 1e9};
    plan = test_problem_plan(&p, &single);
    tap_ok(plan && test_problem_run(&p, plan, &single, 1, 0), "%s: rest on the host, one entry a row", dev->name);
    weft_spmv_plan_destroy(&plan);
    test_problem_free(&p);
}

// ---- queues ----------------------------------------------------------------------------------------------------

// Runs that wait for each other by events alone, on an out-of-order queue where the device has one; each adds A*x to y. The plan is
// destroyed meanwhile.
static void test_queues(struct test_device *dev, enum weft_spmv_algo algo, int host_rest)
{
    enum { RUNS = 4 };
    struct test_problem p = test_problem_make(dev, &rng, 90, 90, 2, 70, WEFT_TYPE_I32, WEFT_OFS_32);
    const struct weft_spmv_params params = {
        .policy.algo = algo, .format.host_rest = host_rest, .format.max_padding = 1e9};
    struct weft_spmv_plan *plan = test_problem_plan(&p, &params);
    cl_command_queue queue = test_queue(dev, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    if (!queue)
        queue = test_queue(dev, 0);
    cl_int error;
    cl_event gate = clCreateUserEvent(weft_context_cl(dev->ctx), &error), done[RUNS] = {NULL};
    if (dev->checker) // Oclgrind works through a queue when it is flushed, and would wait here for ever
        clSetUserEventStatus(gate, CL_COMPLETE);
    int ok = plan && error == CL_SUCCESS;
    for (int i = 0; ok && i < RUNS; i++)
        ok = !weft_spmv_run(plan, queue, p.by.mem, 1, p.bx.mem, 1, 1, i ? &done[i - 1] : &gate, &done[i]);
    cl_int state = CL_COMPLETE;
    if (ok)
        clGetEventInfo(done[0], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    const int waits = state != CL_COMPLETE || dev->checker;
    if (!host_rest) // the runs keep what they need
        weft_spmv_plan_destroy(&plan);
    if (!dev->checker)
        clSetUserEventStatus(gate, CL_COMPLETE);
    weft_spmv_plan_destroy(&plan); // with host_rest it waits for the runs
    ok = ok && waits && clWaitForEvents(1, &done[RUNS - 1]) == CL_SUCCESS;
    clFinish(queue);
    tap_ok(ok && test_problem_right(&p, &params, RUNS, 1), "%s: %d runs behind a gate, plan destroyed meanwhile: %s%s",
           dev->name, RUNS, weft_spmv_algo_name(algo), host_rest ? ", rest on the host" : "");
    for (int i = 0; i < RUNS; i++)
        if (done[i])
            clReleaseEvent(done[i]);
    clReleaseEvent(gate);
    clReleaseCommandQueue(queue);
    test_problem_free(&p);
}

// Queues that the library has retained and not released.
static int queues_kept;

static cl_int CL_API_CALL retain_count(cl_command_queue queue)
{
    queues_kept++;
    return clRetainCommandQueue(queue);
}

static cl_int CL_API_CALL release_count(cl_command_queue queue)
{
    queues_kept--;
    return clReleaseCommandQueue(queue);
}

// The caller releases the queue of the last run, and the next run has another: in order and out of order by turns, so that what
// the plan knew of the first does not hold for the second. The plan keeps one queue, and at its end none.
static void test_queue_released(struct test_device *dev, enum weft_spmv_algo algo, int host_rest)
{
    enum { RUNS = 6 };
    struct test_problem p = test_problem_make(dev, &rng, 90, 90, 2, 70, WEFT_TYPE_I32, WEFT_OFS_32);
    const struct weft_spmv_params params = {
        .policy.algo = algo, .format.host_rest = host_rest, .format.max_padding = 1e9};
    struct weft_spmv_plan *plan = test_problem_plan(&p, &params);
    int ok = plan != NULL, one = 1;
    queues_kept = 0;
    weft__cl.clRetainCommandQueue = retain_count;
    weft__cl.clReleaseCommandQueue = release_count;
    for (int i = 0; ok && i < RUNS; i++) {
        // Oclgrind 21.10 takes a marker in a queue out of order for done before what comes before it.
        const bool in_order = i % 2 || dev->checker;
        cl_command_queue queue = test_queue(dev, in_order ? 0 : CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
        cl_event done = NULL;
        if (!queue)
            queue = test_queue(dev, 0);
        test_buffer_write(dev, &p.by, p.y0, p.y_bytes);
        ok = !weft_spmv_run(plan, queue, p.by.mem, 2, p.bx.mem, 1, 0, NULL, &done);
        clReleaseCommandQueue(queue);
        ok = ok && clWaitForEvents(1, &done) == CL_SUCCESS && test_problem_right(&p, &params, 2, 1);
        one = one && queues_kept == 1;
        if (done)
            clReleaseEvent(done);
    }
    ok = ok && test_problem_run(&p, plan, &params, 1, 0);
    weft_spmv_plan_destroy(&plan);
    weft__cl.clRetainCommandQueue = clRetainCommandQueue;
    weft__cl.clReleaseCommandQueue = clReleaseCommandQueue;
    tap_ok(ok && one && !queues_kept, "%s: %d runs, each in a queue that is released behind it, one is kept: %s%s",
           dev->name, RUNS, weft_spmv_algo_name(algo), host_rest ? ", rest on the host" : "");
    test_problem_free(&p);
}

// ---- figures ---------------------------------------------------------------------------------------------------

// Bytes of the formats by the formulas of docs/spmv.md, and what analysis says of the rows.
static void test_info(struct test_device *dev)
{
    const int64_t m = 64, longest = 50;
    struct test_problem p =
        test_problem_make(dev, &rng, m, 80, 2, longest, WEFT_TYPE_F32, WEFT_OFS_32); // three long rows: 7, 37
    const int64_t nnz = p.a.nnz;
    for (size_t i = 0; i < ALGOS; i++) {
        const struct weft_spmv_params params = {.policy.algo = algos[i], .format.sigma = 1, .format.max_padding = 1e9};
        struct weft_spmv_plan *plan = test_problem_plan(&p, &params);
        struct weft_spmv_info info = {0};
        if (plan)
            info = *weft_spmv_plan_info(plan);
        const int64_t height = dev->gpu ? 32 : 8, slices = m / height;
        int64_t sell = 0;
        for (int64_t s = 0; s < slices; s++) {
            int64_t widest = 0;
            for (int64_t r = s * height; r < (s + 1) * height; r++) {
                const int64_t length = weft_csr_ofs(&p.a, r + 1) - weft_csr_ofs(&p.a, r);
                widest = length > widest ? length : widest;
            }
            sell += widest * height;
        }
        const int64_t width = 4; // the last column that a third of the rows fill: rows of 2, 3, 4, 5 entries
        const int64_t want = algos[i] == WEFT_SPMV_ALGO_ELL    ? m * longest * 8 + 2 * 8
                             : algos[i] == WEFT_SPMV_ALGO_SELL ? sell * 8 + (slices + 1) * 8
                             : algos[i] == WEFT_SPMV_ALGO_HYB  ? m * width * 8 + 2 * 8 + info.rest * 12
                             : algos[i] == WEFT_SPMV_ALGO_COO || algos[i] == WEFT_SPMV_ALGO_COO_ATOMIC
                                 ? nnz * 12
                                 : nnz * 8 + (m + 1) * 4;
        const int converts = (algos[i] >= WEFT_SPMV_ALGO_ELL && algos[i] <= WEFT_SPMV_ALGO_COO_ATOMIC) ||
                             (algos[i] == WEFT_SPMV_ALGO_CSR_HUBS && dev->gpu);
        const int ok = plan && info.params.policy.algo == what_runs(dev, algos[i]) && info.max_row == longest &&
                       info.empty_rows == 0 && (int64_t)info.format_bytes == want &&
                       (info.convert_ms > 0) == converts && info.analyse_ms > 0 &&
                       (algos[i] != WEFT_SPMV_ALGO_HYB || info.params.format.width == width) &&
                       !strcmp(info.why, "asked for");
        tap_ok(ok, "%s: figures of a plan: %s", dev->name, weft_spmv_algo_name(algos[i]));
        if (!ok)
            tap_note("%lld bytes, expected %lld; width %lld, longest %lld, convert %g ms, analyse %g ms, %s",
                     (long long)info.format_bytes, (long long)want, (long long)info.params.format.width,
                     (long long)info.max_row, info.convert_ms, info.analyse_ms, info.why);
        weft_spmv_plan_destroy(&plan);
    }
    test_problem_free(&p);
}

// A row that keeps its lanes busy for longer than all others: tiles. Those of csr_flags where lanes are NVIDIA's.
static void test_shared(struct test_device *dev)
{
    const int nvidia = weft_context_device(dev->ctx)->lanes == WEFT_LANES_PTX;
    struct test_problem p = test_problem_make(dev, &rng, 40, 80, 2, 6000, WEFT_TYPE_F32, WEFT_OFS_32);
    struct weft_spmv_plan *plan = test_problem_plan(&p, weft_spmv_params(.policy.algo = WEFT_SPMV_ALGO_CSR));
    struct weft_spmv_info info = {0};
    if (plan)
        info = *weft_spmv_plan_info(plan);
    tap_ok(plan && info.params.policy.algo == (nvidia ? WEFT_SPMV_ALGO_CSR_FLAGS : WEFT_SPMV_ALGO_CSR_MERGE),
           "%s: csr is %s where few rows have all entries: %s", dev->name, weft_spmv_algo_name(info.params.policy.algo),
           info.why);
    weft_spmv_plan_destroy(&plan);
    test_problem_free(&p);
}

// ---- measured choice -------------------------------------------------------------------------------------------

struct tuned {
    int right, converted;
    struct weft_spmv_info info;
};

static struct tuned tuned_run(struct test_problem *p, struct weft_context *ctx, enum weft_spmv_algo algo,
                              int64_t products)
{
    const struct weft_spmv_params params = {.policy.algo = algo, .policy.tune = 1, .policy.products = products};
    struct tuned t = {0};
    struct weft_spmv_plan *plan = NULL;
    if (weft_spmv_plan_create(&plan, ctx, p->dev->queue, &p->d, &params))
        return t;
    t.info = *weft_spmv_plan_info(plan);
    t.right = test_problem_run(p, plan, &(struct weft_spmv_params){.policy.algo = t.info.params.policy.algo}, 2, -3);
    t.converted = t.info.params.policy.algo >= WEFT_SPMV_ALGO_ELL && t.info.params.policy.algo <= WEFT_SPMV_ALGO_HYB;
    weft_spmv_plan_destroy(&plan);
    return t;
}

static int is_measured(const struct tuned *t)
{
    return t->right && t->info.tune_ms > 0 && !strncmp(t->info.why, "measured, ms: ", 14);
}

static void test_tune(struct test_device *dev)
{
    struct test_problem p =
        test_problem_make(dev, &rng, test_sample() ? 60 : 600, 50, 6, 12, WEFT_TYPE_F32, WEFT_OFS_32);
    struct tuned first = tuned_run(&p, dev->ctx, WEFT_SPMV_ALGO_AUTO, 0);
    tap_ok(is_measured(&first) && !first.converted, "%s: auto without products: %s", dev->name, first.info.why);
    struct tuned again = tuned_run(&p, dev->ctx, WEFT_SPMV_ALGO_AUTO, 0);
    const struct weft_spmv_params *a = &first.info.params, *b = &again.info.params;
    tap_ok(again.right && again.info.tune_ms == 0 && a->policy.algo == b->policy.algo &&
               !memcmp(&a->gpu, &b->gpu, sizeof a->gpu) && !memcmp(&a->cpu, &b->cpu, sizeof a->cpu) &&
               !strncmp(again.info.why, "measured before", 15),
           "%s: the same again: %s", dev->name, again.info.why);
    struct tuned other = tuned_run(&p, dev->ctx, WEFT_SPMV_ALGO_CSR_LANES, 0);
    tap_ok(other.right && other.info.params.policy.algo == WEFT_SPMV_ALGO_CSR_LANES &&
               (is_measured(&other) || !dev->gpu),
           "%s: lanes alone: %s", dev->name, other.info.why);
    other = tuned_run(&p, dev->ctx, WEFT_SPMV_ALGO_AUTO, 1000000);
    tap_ok(is_measured(&other) && strstr(other.info.why, "sell"), "%s: with many products: %s", dev->name,
           other.info.why);
    other = tuned_run(&p, dev->ctx, WEFT_SPMV_ALGO_CSR, 1000000);
    tap_ok(is_measured(&other) && !other.converted && !strstr(other.info.why, "sell"), "%s: csr alone: %s", dev->name,
           other.info.why);
    struct test_problem q =
        test_problem_make(dev, &rng, test_sample() ? 60 : 600, 50, 6, 13, WEFT_TYPE_F32, WEFT_OFS_32);
    other = tuned_run(&q, dev->ctx, WEFT_SPMV_ALGO_AUTO, 0);
    tap_ok(is_measured(&other), "%s: another structure is measured by itself", dev->name);
    test_problem_free(&q);
    struct weft_context *bare = NULL; // without a cache
    if (!weft_context_create(&bare,
                             weft_context_params(.context = weft_context_cl(dev->ctx),
                                                 .device = weft_context_device(dev->ctx)->id,
                                                 .schedule = weft_context_schedule(dev->ctx), .cache_dir = ""),
                             NULL)) {
        first = tuned_run(&p, bare, WEFT_SPMV_ALGO_CSR, 0);
        again = tuned_run(&p, bare, WEFT_SPMV_ALGO_CSR, 0);
    }
    tap_ok(bare && is_measured(&first) && is_measured(&again), "%s: without a cache each plan measures", dev->name);
    weft_context_destroy(&bare);
    test_problem_free(&p);
    p = test_problem_make(dev, &rng, 60, 50, 1, 2, WEFT_TYPE_F32, WEFT_OFS_32);
    const struct weft_spmv_params custom = {.problem.semiring = WEFT_SPMV_SEMIRING_CUSTOM,
                                            .problem.plus = "fmax(a, b)",
                                            .problem.times = "fmin(a, b)",
                                            .problem.zero = "-INFINITY",
                                            .policy.tune = 1,
                                            .policy.products = 9};
    struct weft_spmv_plan *plan = test_problem_plan(&p, &custom);
    tap_ok(plan && !weft_spmv_run(plan, dev->queue, p.by.mem, 1, p.bx.mem, 0, 0, NULL, NULL) && widest_check(&p, 0),
           "%s: measured with a semiring of the caller", dev->name);
    weft_spmv_plan_destroy(&plan);
    test_problem_free(&p);
    p = test_problem_make(dev, &rng, 60, 60, 1, 20, WEFT_TYPE_PATTERN, WEFT_OFS_64);
    const struct weft_spmv_params turned = {.problem.transpose = WEFT_SPMV_TRANSPOSE_BY_COPY, .policy.tune = 1};
    plan = test_problem_plan(&p, &turned);
    struct weft_csr at;
    if (weft__ref_transpose(&at, &p.a))
        tap_bail("no memory for a transpose");
    weft_csr_free(&p.a);
    p.a = at;
    tap_ok(plan && test_problem_run(&p, plan, &turned, 2, -3), "%s: measured on the transpose of a pattern", dev->name);
    weft_spmv_plan_destroy(&plan);
    test_problem_free(&p);
}

// ---- host arrays -----------------------------------------------------------------------------------------------

static void test_sync(struct test_device *dev)
{
    struct test_problem p = test_problem_make(dev, &rng, 60, 50, 1, 20, WEFT_TYPE_F32, WEFT_OFS_64);
    const struct weft_spmv_params params = {.policy.algo = WEFT_SPMV_ALGO_CSR};
    memcpy(p.y, p.y0, p.y_bytes);
    weft_status status = weft_spmv_sync(p.y, dev->ctx, 2, &p.a, p.x, -3, &params);
    test_buffer_write(dev, &p.by, p.y, p.y_bytes);
    tap_ok(!status && test_problem_right(&p, &params, 2, -3), "%s: host arrays", dev->name);
    test_poison(p.y, p.y_bytes);
    status = weft_spmv_sync(p.y, dev->ctx, 1, &p.a, p.x, 0, NULL);
    test_buffer_write(dev, &p.by, p.y, p.y_bytes);
    tap_ok(!status && test_problem_right(&p, &params, 1, 0), "%s: host arrays, y is not read", dev->name);
    p.a.col[3] = 50;
    status = weft_spmv_sync(p.y, dev->ctx, 1, &p.a, p.x, 0, NULL);
    tap_ok(status == WEFT_EMATRIX && strstr(test_error(dev), "50"), "%s: refuses a column out of range: %s", dev->name,
           test_error(dev));
    p.a.col[3] = 0;
    status = weft_spmv_sync(p.y, dev->ctx, 1, &p.a, NULL, 0, NULL);
    tap_ok(status == WEFT_EINVAL && strstr(test_error(dev), "x is NULL"), "%s: refuses no x", dev->name);
    test_problem_free(&p);
}

// ---- tiles of csr_flags ----------------------------------------------------------------------------------------

// Entries of a small tile for each work-item: by the type of sums and the length of rows. A device of few units would take large ones.
static void test_tiles(struct test_device *dev)
{
    const struct weft_device_info is = dev->ctx->device;
    static const struct {
        const char *spec;
        enum weft_type type;
        int ipt, wg;
        const char *vendor; // NULL: as the device says
    } cases[] = {{"dense:3,5000", WEFT_TYPE_F64, 16, 128, NULL},     {"dense:40,500", WEFT_TYPE_F64, 8, 128, NULL},
                 {"band:900,9", WEFT_TYPE_F64, 4, 256, NULL},        {"band:900,5", WEFT_TYPE_F64, 4, 256, NULL},
                 {"dense:3,5000", WEFT_TYPE_F32, 8, 128, NULL},      {"band:900,9", WEFT_TYPE_F32, 8, 128, NULL},
                 {"band:900,5", WEFT_TYPE_F32, 4, 256, NULL},        {"dense:3,1024", WEFT_TYPE_F32, 8, 128, "NVIDIA"},
                 {"dense:3,1025", WEFT_TYPE_F32, 16, 256, "NVIDIA"}, {"dense:2,4096", WEFT_TYPE_F32, 16, 256, "NVIDIA"},
                 {"dense:3,1025", WEFT_TYPE_F64, 16, 256, "NVIDIA"}, {"dense:2,4097", WEFT_TYPE_F32, 8, 128, "NVIDIA"},
                 {"dense:3,2000", WEFT_TYPE_F32, 8, 128, "another"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct weft_csr a;
        struct weft_device_csr d = {0};
        struct weft_error err = {0};
        struct weft_spmv_plan *plan = NULL;
        if (cases[i].type == WEFT_TYPE_F64 && !dev->ctx->device.fp64)
            continue;
        if (weft_generate(&a, cases[i].spec, weft_generate_params(.type = cases[i].type), &err))
            tap_bail("%s", err.text);
        dev->ctx->device.compute_units = 100;
        if (cases[i].vendor)
            snprintf(dev->ctx->device.vendor, sizeof dev->ctx->device.vendor, "%s", cases[i].vendor);
        const int ok = !weft_device_csr_alloc(&d, dev->ctx, weft_csr_shape(&a)) &&
                       !weft_device_csr_write_sync(&d, dev->ctx, dev->queue, &a) &&
                       !weft_spmv_plan_create(&plan, dev->ctx, dev->queue, &d,
                                              weft_spmv_params(.policy.algo = WEFT_SPMV_ALGO_CSR_FLAGS));
        dev->ctx->device = is;
        const int ipt = ok ? weft_spmv_plan_info(plan)->params.gpu.ipt : 0,
                  wg = ok ? weft_spmv_plan_info(plan)->params.gpu.wg : 0;
        tap_ok(ok && ipt == cases[i].ipt && wg == cases[i].wg,
               "%s: csr_flags of %s, %s%s%s: %d work-items, %d entries of a tile for each", dev->name, cases[i].spec,
               weft_type_name(cases[i].type), cases[i].vendor ? ", vendor " : "",
               cases[i].vendor ? cases[i].vendor : "", wg, ipt);
        weft_spmv_plan_destroy(&plan);
        weft_device_csr_free(&d);
        weft_csr_free(&a);
    }
}

// ---- a CPU's units ---------------------------------------------------------------------------------------------

// A small matrix has work for every unit of a CPU, in every format.
#define UNITS 16
struct launches {
    const char *part; // of the name of a kernel
    size_t items;
};

static void items_count(void *arg, const char *entry, size_t global, size_t wg, cl_event event)
{
    struct launches *l = arg;
    (void)wg, (void)event;
    if (strstr(entry, l->part))
        l->items = global;
}

static void test_items(struct test_device *dev)
{
    static const enum weft_spmv_algo formats[] = {WEFT_SPMV_ALGO_ELL, WEFT_SPMV_ALGO_SELL, WEFT_SPMV_ALGO_SELL16,
                                                  WEFT_SPMV_ALGO_SDIA};
    const int units = dev->ctx->device.compute_units;
    struct weft_csr a;
    struct weft_error err = {0};
    struct weft_device_csr d = {0};
    if (weft_generate(&a, "band:2000,9", NULL, &err))
        tap_bail("%s", err.text);
    static const float ones[2000] = {1};
    struct test_buffer x = test_buffer_make(dev, ones, sizeof ones), y = test_buffer_make(dev, NULL, sizeof ones);
    if (weft_device_csr_alloc(&d, dev->ctx, weft_csr_shape(&a)) ||
        weft_device_csr_write_sync(&d, dev->ctx, dev->queue, &a))
        tap_bail("%s", test_error(dev));
    dev->ctx->device.compute_units = UNITS;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        struct weft_spmv_plan *plan = NULL;
        struct launches l = {.part = "spmv_"};
        int ok = !weft_spmv_plan_create(&plan, dev->ctx, dev->queue, &d, weft_spmv_params(.policy.algo = formats[i]));
        dev->ctx->on_launch = items_count;
        dev->ctx->on_launch_arg = &l;
        ok = ok && !weft_spmv_run(plan, dev->queue, y.mem, 1, x.mem, 0, 0, NULL, NULL);
        dev->ctx->on_launch = NULL;
        weft_spmv_plan_destroy(&plan);
        tap_ok(ok && l.items >= 2 * (size_t)UNITS, "%s: 2000 rows by %s: %zu work-items for %d units", dev->name,
               weft_spmv_algo_name(formats[i]), l.items, UNITS);
    }
    dev->ctx->device.compute_units = units;
    test_buffer_free(&x);
    test_buffer_free(&y);
    weft_device_csr_free(&d);
    weft_csr_free(&a);
}

static void each_device(struct test_device *dev)
{
    test_custom(dev);
    test_host_rest(dev);
    test_queues(dev, WEFT_SPMV_ALGO_CSR_MERGE, 0);
    test_queues(dev, WEFT_SPMV_ALGO_COO, 0);
    test_queues(dev, WEFT_SPMV_ALGO_HYB, 0);
    test_queues(dev, WEFT_SPMV_ALGO_HYB, 1);
    test_queue_released(dev, WEFT_SPMV_ALGO_CSR_MERGE, 0);
    test_queue_released(dev, WEFT_SPMV_ALGO_COO, 0);
    test_queue_released(dev, WEFT_SPMV_ALGO_HYB, 1);
    test_info(dev);
    test_shared(dev);
    test_cache_empty(dev, test_tune);
    test_sync(dev);
    if (dev->gpu)
        test_tiles(dev);
    else
        test_items(dev);
}

int main(void)
{
    rng = rng_start();
    tap_ok(!strcmp(weft_spmv_algo_name((enum weft_spmv_algo) - 1), "unknown") &&
               !strcmp(weft_spmv_algo_name(WEFT_SPMV_ALGO_CSR_FIXED), "csr_fixed"),
           "names of algorithms");
    test_device_each(each_device);
    return tap_done();
}
