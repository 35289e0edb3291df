// SPDX-License-Identifier: Apache-2.0
// Measured choice: time the candidates for a bounded while, keep the winner on disk per device and structure.
#include "host/src/core/tune.h"
#include "cost.h"
#include "host/src/core/cache.h"
#include "host/src/core/fill.h"
#include "hyb.h"
#include "sdia.h"
#include "tune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TUNE_VERSION "spmv tune 3"
#define TRY_MS       20.0 // time for the runs of one candidate, when a run takes less
#define BATCH_MS     1.0  // the clock and the wait at the end are small against it
#define TRIES        3    // batches at least, since one may meet a disturbance
#define HOPELESS     4.0  // a candidate that is so much slower after these gets no others

struct candidate {
    enum weft_spmv_algo algo;
    int lanes; // csr_lanes, csr_merge on a CPU
};
#define CANDIDATES_MAX 24
#define SDIA_PADDING   1.8 // elements of sliced DIA for each entry with which it takes as many bytes as CSR

// What was found.
struct tuned {
    int found;
    struct weft_spmv_params params;
    char why[256];
};

// ---- which -----------------------------------------------------------------------------------------------------

struct list {
    struct candidate items[CANDIDATES_MAX];
    int count;
};

// What the caller asked for allows the algorithm.
static int is_allowed(const struct weft_spmv_plan *plan, enum weft_spmv_algo algo)
{
    const struct weft_spmv_params *asked = &plan->info.params;
    const int is_csr =
        algo <= WEFT_SPMV_ALGO_CSR_MERGE || algo == WEFT_SPMV_ALGO_CSR_FLAGS || algo == WEFT_SPMV_ALGO_CSR_NODES;
    if (asked->policy.algo != algo && asked->policy.algo != WEFT_SPMV_ALGO_AUTO &&
        !(asked->policy.algo == WEFT_SPMV_ALGO_CSR && is_csr))
        return 0;
    const int is_converted = algo == WEFT_SPMV_ALGO_ELL || algo == WEFT_SPMV_ALGO_SELL || algo == WEFT_SPMV_ALGO_HYB ||
                             algo == WEFT_SPMV_ALGO_SELL16 || algo == WEFT_SPMV_ALGO_SDIA ||
                             algo == WEFT_SPMV_ALGO_PANELS || algo == WEFT_SPMV_ALGO_CSR_HUBS;
    // A hybrid rounds what is summed up in f64 for each part of a row: auto does not take it (choose.c).
    if (asked->policy.algo == WEFT_SPMV_ALGO_AUTO && algo == WEFT_SPMV_ALGO_HYB && asked->problem.f64_sums)
        return 0;
    return asked->policy.algo != WEFT_SPMV_ALGO_AUTO || is_csr || (is_converted && asked->policy.products > 0);
}

static void list_add(struct list *list, const struct weft_spmv_plan *plan, enum weft_spmv_algo algo, int lanes)
{
    const struct weft_spmv_params *asked = &plan->info.params;
    if (list->count == CANDIDATES_MAX || !is_allowed(plan, algo))
        return;
    const int given = weft__spmv_sizes(asked, plan->info.schedule).lanes;
    const struct candidate c = {algo, given ? given : lanes};
    for (int i = 0; i < list->count; i++)
        if (list->items[i].algo == c.algo && list->items[i].lanes == c.lanes)
            return;
    list->items[list->count++] = c;
}

// sdia: elements of sliced DIA for each entry.
static struct list list_make(const struct weft_spmv_plan *plan, double sdia)
{
    struct list list = {.count = 0};
    const double nnz = (double)plan->a.nnz, m = (double)plan->a.m, limit = plan->info.params.format.max_padding;
    const int64_t width = plan->info.params.format.width ? plan->info.params.format.width : weft__spmv_hyb_width(plan);
    if (plan->ctx->schedule == WEFT_SCHEDULE_CPU) {
        static const int sums[] = {1, 4, 8, 16};
        for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
            list_add(&list, plan, WEFT_SPMV_ALGO_CSR_MERGE, sums[i]);
    } else {
        const int lanes = weft__spmv_lanes(plan);
        if (plan->info.params.problem.semiring == WEFT_SPMV_SEMIRING_PLUS_TIMES) { // as in choose.c
            list_add(&list, plan, WEFT_SPMV_ALGO_CSR_FLAGS, 0);
            list_add(&list, plan, WEFT_SPMV_ALGO_CSR_HUBS, 0);
        }
        list_add(&list, plan, WEFT_SPMV_ALGO_CSR_MERGE, 0);
        list_add(&list, plan, WEFT_SPMV_ALGO_CSR_LANES, lanes);
        list_add(&list, plan, WEFT_SPMV_ALGO_CSR_LANES, lanes > 2 ? lanes / 2 : 2);
        list_add(&list, plan, WEFT_SPMV_ALGO_CSR_LANES, lanes < 32 ? lanes * 2 : 32);
    }
    list_add(&list, plan, WEFT_SPMV_ALGO_CSR_SCALAR, 0);
    if (plan->stats.alike)
        list_add(&list, plan, WEFT_SPMV_ALGO_CSR_NODES, 0);
    if (sdia <= SDIA_PADDING && sdia <= limit)
        list_add(&list, plan, WEFT_SPMV_ALGO_SDIA, 0);
    if (plan->ctx->schedule == WEFT_SCHEDULE_GPU)
        list_add(&list, plan, WEFT_SPMV_ALGO_PANELS, 0);
    list_add(&list, plan, WEFT_SPMV_ALGO_SELL16, 0);
    list_add(&list, plan, WEFT_SPMV_ALGO_SELL, 0); // what sorting saves is known once it is done
    if (m * (double)plan->info.max_row <= limit * nnz)
        list_add(&list, plan, WEFT_SPMV_ALGO_ELL, 0);
    if (width > 0 && width < plan->info.max_row && m * (double)width <= limit * nnz)
        list_add(&list, plan, WEFT_SPMV_ALGO_HYB, 0);
    return list;
}

// ---- how fast --------------------------------------------------------------------------------------------------

// *ms: host time of `count` runs.
static weft_status runs_time(struct weft_spmv_plan *c, cl_command_queue queue, cl_mem x, cl_mem y, int count,
                             double *ms)
{
    const struct weft__spmv_clock clock = weft__spmv_clock();
    weft_status status = WEFT_OK;
    for (int i = 0; i < count && !status; i++)
        status = weft_spmv_run(c, queue, y, 1, x, 0, 0, NULL, NULL);
    if (!status)
        status = weft__fail_cl(c->ctx, weft__cl.clFinish(queue), "clFinish");
    *ms = weft__spmv_clock_ms(&clock);
    return status;
}

// *least: time of one run, the shortest of several batches. `best_ms` is that of the best candidate so far, < 0: none.
static weft_status candidate_time(struct weft_spmv_plan *c, cl_command_queue queue, cl_mem x, cl_mem y, double best_ms,
                                  double *least)
{
    int count = 1, tries = 0;
    double spent = 0, ms = 0;
    weft_status status = runs_time(c, queue, x, y, 1, least); // the first warms up
    while (!status && (tries < TRIES || spent < TRY_MS)) {
        status = runs_time(c, queue, x, y, count, &ms);
        spent += ms;
        *least = ms / count < *least ? ms / count : *least;
        if (++tries >= TRIES && best_ms >= 0 && *least > HOPELESS * best_ms)
            break;
        if (ms < BATCH_MS && count < 256)
            count *= 2;
    }
    return status;
}

// Nonzero: this matrix or device is none for the candidate.
static int is_not_here(weft_status status)
{
    return status == WEFT_ERANGE || status == WEFT_EDEVMEM || status == WEFT_EINVAL;
}

// A plan for the matrix of `plan`, as it is after a transposition.
static weft_status candidate_create(struct weft_spmv_plan **out, const struct weft_spmv_plan *plan,
                                    cl_command_queue queue, weft__spmv_try *try, const struct candidate *candidate)
{
    struct weft_spmv_params params = plan->info.params;
    params.policy.algo = candidate->algo;
    struct weft__spmv_sizes sizes = weft__spmv_sizes(&params, plan->info.schedule);
    sizes.lanes = candidate->lanes;
    weft__spmv_sizes_set(&params, plan->info.schedule, &sizes);
    params.policy.tune = 0;
    params.problem.transpose = WEFT_SPMV_TRANSPOSE_PLAIN;
    params.problem.plus = plan->asked ? plan->asked->problem.plus : NULL;
    params.problem.times = plan->asked ? plan->asked->problem.times : NULL;
    params.problem.zero = plan->asked ? plan->asked->problem.zero : NULL;
    struct weft_error error;
    weft__quiet_begin(plan->ctx); // that a candidate is none for this matrix or device is no failure
    const weft_status status = try(out, plan->ctx, queue, &plan->a, &params);
    weft__quiet_end(&error);
    if (status && !is_not_here(status))
        weft__fail_again(plan->ctx, &error);
    return status;
}

static int name_put(char *out, size_t size, const struct weft_spmv_params *p, enum weft_schedule schedule)
{
    const int lanes = weft__spmv_sizes(p, schedule).lanes;
    return snprintf(out, size, lanes ? "%s, lanes=%d" : "%s", weft_spmv_algo_name(p->policy.algo), lanes);
}

static weft_status measure(struct weft_spmv_plan *plan, cl_command_queue queue, weft__spmv_try *try, cl_mem x, cl_mem y,
                           struct tuned *out)
{
    double sdia = 0;
    const weft_status sampled = weft__spmv_sdia_sample(plan, queue, &sdia);
    if (sampled)
        return sampled;
    const struct list list = list_make(plan, sdia);
    const double products = (double)plan->info.params.policy.products;
    double best = -1, best_ms = -1;
    char others[sizeof plan->info.why] = "";
    size_t used = 0;
    for (int i = 0; i < list.count; i++) {
        struct weft_spmv_plan *c = NULL;
        weft_status status = candidate_create(&c, plan, queue, try, &list.items[i]);
        if (is_not_here(status))
            continue;
        const enum weft_spmv_algo became = status ? list.items[i].algo : c->info.params.policy.algo;
        if (became != list.items[i].algo && is_allowed(plan, became)) { // which is a candidate itself
            weft_spmv_plan_destroy(&c);
            continue;
        }
        double ms = 0;
        struct weft_error error = {0};
        if (!status) { // some drivers allocate when a kernel first runs
            weft__quiet_begin(plan->ctx);
            status = candidate_time(c, queue, x, y, best_ms, &ms);
            weft__quiet_end(&error);
            if (status && status != WEFT_EDEVMEM)
                weft__fail_again(plan->ctx, &error);
        }
        if (status) {
            weft_spmv_plan_destroy(&c);
            if (status == WEFT_EDEVMEM)
                continue;
            return status;
        }
        const double total = products > 0 ? c->info.convert_ms + products * ms : ms;
        char name[64];
        name_put(name, sizeof name, &c->info.params, c->info.schedule);
        if (used < sizeof others)
            used += (size_t)snprintf(others + used, sizeof others - used, "%s%s %.4g", used ? "; " : "", name, ms);
        if (best < 0 || total < best) {
            best = total;
            best_ms = ms;
            out->found = 1;
            out->params = c->info.params;
        }
        weft_spmv_plan_destroy(&c);
    }
    snprintf(out->why, sizeof out->why, "measured, ms: %.*s", (int)sizeof out->why - 20, others);
    return WEFT_OK;
}

// ---- on disk ---------------------------------------------------------------------------------------------------

// 16 pieces of 64 columns, and the figures of the rows.
static weft_status structure_hash(const struct weft_spmv_plan *plan, cl_command_queue queue, uint64_t *out)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    int32_t col[64];
    const size_t nnz = (size_t)plan->a.nnz;
    const unsigned char *p = (const unsigned char *)&plan->stats;
    for (size_t i = 0; i < sizeof plan->stats; i++)
        hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
    struct weft__stream stream = weft__spmv_stream(&(struct weft__make){.ctx = plan->ctx}, queue);
    for (size_t k = 0; k < 16; k++) {
        const size_t at = nnz / 16 * k, count = weft__min(64, nnz - at);
        weft__spmv_read(&stream, plan->a.col, at * 4, count * 4, col);
        for (size_t i = 0; !stream.status && i < count; i++)
            hash = (hash ^ (uint32_t)col[i]) * UINT64_C(0x100000001b3);
    }
    *out = hash;
    return stream.status;
}

// Rows of the tune file, which change what candidates are.
static uint64_t rows_hash(const struct weft_context *ctx)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    const unsigned char *p = (const unsigned char *)ctx->tune;
    for (size_t i = 0; i < ctx->ntune * sizeof *ctx->tune; i++)
        hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
    return hash;
}

char *weft__spmv_tune_key(const struct weft_spmv_plan *plan, const char *version, uint64_t kernels, uint64_t structure)
{
    const struct weft_spmv_params *p = &plan->info.params;
    const struct weft__spmv_sizes z = weft__spmv_sizes(p, plan->info.schedule);
    const struct weft_context *ctx = plan->ctx;
    char text[3584]; // the semiring takes up to 2048
    snprintf(
        text, sizeof text,
        "weft %s, kernels %016llx, %lld x %lld, %lld entries, types %d %d %d, offsets %d, structure %016llx, "
        "schedule %d, lanes %d of %d, fence %d, salt %llu, rows %016llx\n"
        "asked: %d, products %lld, width %lld, padding %.17g, sigma %d, lanes %d, wg %d, ipt %d, rows %d, read %d, "
        "host %d, semiring %d\n%s",
        version, (unsigned long long)kernels, (long long)plan->a.m, (long long)plan->a.n, (long long)plan->a.nnz,
        (int)plan->a.type, (int)plan->type, (int)plan->acc, (int)plan->a.ofs, (unsigned long long)structure,
        (int)ctx->schedule, (int)__atomic_load_n(&ctx->device.lanes, __ATOMIC_RELAXED), ctx->device.wave,
        ctx->device.fence, (unsigned long long)ctx->salt, (unsigned long long)rows_hash(ctx), (int)p->policy.algo,
        (long long)p->policy.products, (long long)p->format.width, p->format.max_padding, p->format.sigma, z.lanes,
        z.wg, z.ipt, z.rows, z.read, p->format.host_rest, (int)p->problem.semiring, plan->semiring.text);
    return weft__cache_key(&ctx->device, TUNE_VERSION, text);
}

// What is stored: the values that a candidate differs in.
#define RECORD "%31s %9d %9d %9d %9d %9d %18lld"

int weft__spmv_record_parse(const struct weft_spmv_plan *plan, const void *data, size_t size,
                            struct weft_spmv_params *p)
{
    char text[160] = "", name[32];
    struct weft__spmv_sizes z = weft__spmv_sizes(&plan->info.params, plan->info.schedule);
    const struct weft_spmv_params *asked = &plan->info.params;
    long long width = 0;
    if (data && size < sizeof text)
        memcpy(text, data, size);
    if (sscanf(text, RECORD, name, &z.lanes, &z.wg, &z.ipt, &z.read, &p->format.sigma, &width) != 7)
        return 0;
    p->format.width = width;
    weft__spmv_sizes_set(p, plan->info.schedule, &z);
    if (z.lanes < 0 || z.wg < 0 || z.ipt < 0 || z.read < 0 || z.read > 3)
        return 0;
    // What an algorithm does not use is as it was asked for. No hybrid is wider than the longest row, which may have more entries than the
    // matrix has columns.
    const int sigma = p->format.sigma;
    if (sigma != asked->format.sigma && (sigma < 0 || sigma > 1024 || (sigma & (sigma - 1))))
        return 0;
    if (width != asked->format.width && (width < 0 || width > plan->info.max_row))
        return 0;
    for (int i = WEFT_SPMV_ALGO_CSR_SCALAR; strcmp(weft_spmv_algo_name((enum weft_spmv_algo)i), "unknown"); i++)
        if (!strcmp(weft_spmv_algo_name((enum weft_spmv_algo)i), name)) {
            p->policy.algo = (enum weft_spmv_algo)i;
            return is_allowed(plan, p->policy.algo);
        }
    return 0;
}

static int record_read(const struct weft_spmv_plan *plan, const char *key, struct tuned *out)
{
    size_t size = 0;
    unsigned char *data = weft__cached(plan->ctx, key, &size);
    const int found = weft__spmv_record_parse(plan, data, size, &out->params);
    free(data);
    return found;
}

static void record_write(const char *dir, const char *key, const struct weft_spmv_params *p,
                         enum weft_schedule schedule)
{
    const struct weft__spmv_sizes z = weft__spmv_sizes(p, schedule);
    char text[160];
    int length = snprintf(text, sizeof text, "%s %d %d %d %d %d %lld", weft_spmv_algo_name(p->policy.algo), z.lanes,
                          z.wg, z.ipt, z.read, p->format.sigma, (long long)p->format.width);
    weft__cache_write(dir, key, (const unsigned char *)text, (size_t)length);
}

// ---- both, and the vectors to measure with
// ------------------------------------------------------------------------------------------------------

// x is 1 everywhere in f32, 0.0078 in f64.
static weft_status measure_all(struct weft_spmv_plan *plan, cl_command_queue queue, weft__spmv_try *try,
                               struct tuned *out)
{
    enum { X, Y, NVECTORS };
    const size_t bytes = weft_type_bytes(plan->type), x_bytes = weft__mul((size_t)plan->a.n, bytes);
    struct weft__make make = {.ctx = plan->ctx};
    struct weft__kernel *fill = NULL;
    cl_mem b[NVECTORS] = {0};
    struct weft__spmv_clock clock = weft__spmv_clock();
    weft__make_buffers(&make, b,
                       (const struct weft__scratch[NVECTORS]){
                           [X] = {x_bytes, .what = "x to measure with"},
                           [Y] = {weft__mul((size_t)plan->a.m, bytes), .what = "y to measure with"}},
                       NVECTORS);
    if (!make.status)
        make.status = weft__fill_create(&fill, plan->ctx);
    struct weft__stream stream = weft__spmv_stream(&make, queue);
    weft__fill(&stream, fill, b[X], 0, x_bytes / 4, UINT32_C(0x3f800000));
    if (!weft__spmv_finish(&stream))
        stream.status = measure(plan, queue, try, b[X], b[Y], out);
    weft__parts_release(&fill, 1, b, NVECTORS);
    plan->info.tune_ms = weft__spmv_clock_ms(&clock);
    return stream.status;
}

weft_status weft__spmv_tune(struct weft_spmv_plan *plan, cl_command_queue queue, weft__spmv_try *try, int again,
                            enum weft__spmv_chosen *chosen)
{
    struct weft_spmv_info *info = &plan->info;
    struct tuned tuned = {.found = 0};
    uint64_t structure = 0;
    int recorded = 0;
    *chosen = WEFT__SPMV_NOTHING;
    weft_status status = plan->a.nnz ? structure_hash(plan, queue, &structure) : WEFT_OK;
    if (status || !plan->a.nnz)
        return status;
    const char *dir = plan->ctx->cache_dir;
    char *key = dir ? weft__spmv_tune_key(plan, WEFT_VERSION, weft__sources_hash(), structure) : NULL;
    if (key && again)
        weft__cache_drop(dir, key);
    if (key && !again && record_read(plan, key, &tuned)) {
        tuned.found = recorded = 1;
        char name[64];
        name_put(name, sizeof name, &tuned.params, info->schedule);
        snprintf(tuned.why, sizeof tuned.why, "measured before on this device and structure: %s", name);
    } else {
        status = measure_all(plan, queue, try, &tuned);
        if (!status && tuned.found && key)
            record_write(dir, key, &tuned.params, info->schedule);
    }
    free(key);
    if (status || !tuned.found)
        return status;
    info->params.policy.algo = tuned.params.policy.algo;
    const struct weft__spmv_sizes sizes = weft__spmv_sizes(&tuned.params, info->schedule);
    weft__spmv_sizes_set(&info->params, info->schedule, &sizes);
    info->params.format.sigma = tuned.params.format.sigma;
    info->params.format.width = tuned.params.format.width;
    memcpy(info->why, tuned.why, sizeof info->why);
    *chosen = recorded ? WEFT__SPMV_RECORDED : WEFT__SPMV_MEASURED;
    return WEFT_OK;
}
