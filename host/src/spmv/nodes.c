// SPDX-License-Identifier: Apache-2.0
// csr_nodes: CSR by nodes, rows that follow each other and have the same columns, which are read once for all of them.
//
//     pass            reads              writes                              form of an entry on its way    buffers
//     nodes_alike     row_ptr, col       rows that have the columns of the   column                         alike, figures
//                                        row before
//     nodes_count     alike              nodes of blocks of rows             (rows alone)                   size
//     scan            size               nodes before each block             (blocks alone)                 size
//     nodes_write     row_ptr, alike,    nodes                               (rows alone)                   node
//                     size
//   and for each SpMV
//     spmv_csr_nodes  col, val, node, x  y                                   products, sums of rows         node
#include "plan.h"
#include "cost.h"
#include "variants.h"

#include <math.h>
#include <stdlib.h>

static const struct weft__kernel_spec alike_spec = {"nodes_alike", {"spmv/nodes_find.cl"}};
static const struct weft__kernel_spec count_spec = {"nodes_count", {"spmv/nodes_find.cl"}};
static const struct weft__kernel_spec write_spec = {"nodes_write", {"spmv/nodes_find.cl"}};
static const struct weft__kernel_spec gpu_spec = {"spmv_csr_nodes", {"spmv/csr_nodes.cl", "spmv/spmv.clh"}};
static const struct weft__kernel_spec cpu_spec = {"spmv_csr_nodes_cpu", {"spmv/csr_nodes_cpu.cl", "spmv/spmv.clh"}};

#define BLOCK      120 // rows, as BLOCK of cl/spmv/nodes_find.cl
#define FIND_WG    256 // work-items that compare the rows of a block, LANES to a row
#define LANES      8
#define GROUPS     1024 // of them at most
#define WRITE_WG   64
#define CPU_ROWS   4  // of a node, at most
#define CPU_CHUNKS 16 // work-items for each compute unit

struct weft_tune_spmv_nodes {
    struct weft__tune_key key;
    int wg, ipt, read;
};
static const struct weft_tune_spmv_nodes tune[] = {
    {{WEFT_SCHEDULE_GPU, NULL, 0, NULL, "default"}, 128, 2, 2},
    {{WEFT_SCHEDULE_CPU, NULL, 0, NULL, "default"}, 1, 0, 1},
};
#define GPU(member) WEFT__SPMV_GPU(struct weft_tune_spmv_nodes, member, member)
static const struct weft__tunable gpu_values[] = {
    {WEFT__TUNABLE_BY_SHAPE("lanes", struct weft_spmv_params, gpu.lanes), .low = 2, .high = 32,
     .step = WEFT__POWER_OF_TWO, .sweep = {2, 4, 8, 16, 32}, .help = "work-items per node"},
    {GPU(ipt), .low = 1, .high = 4, .step = 1, .kept = WEFT__KEPT, .sweep = {1, 2, 4},
     .help = "columns of a node that a work-item reads together"},
    {WEFT__TUNABLE_BY_SHAPE("rows", struct weft_spmv_params, gpu.rows), .low = 1, .high = 8, .step = 1,
     .sweep = {2, 3, 4, 6, 8}, .help = "rows of a node, at most"},
    {GPU(wg), .low = 32, .step = 32, .most = weft__tunable_wg, .lower = WEFT__LOWER_HALVE, .kept = WEFT__KEPT,
     .sweep = {64, 128, 256}, .help = "work-items per work-group"},
    {GPU(read), WEFT__SPMV_READ},
};
static const struct weft__tunable cpu_values[] = {
    {WEFT__SPMV_CPU(struct weft_tune_spmv_nodes, wg, wg), .low = 1, .step = 1, .most = weft__tunable_wg,
     .kept = WEFT__KEPT, .help = "work-items per work-group"},
};
const struct weft__tunables weft__spmv_nodes_tunables[] = {
    {"spmv", "csr_nodes", WEFT_SCHEDULE_GPU, "spmv.csr_nodes", WEFT__TUNABLES(gpu_values), WEFT__TUNE_ROWS(tune)},
    {"spmv", "csr_nodes", WEFT_SCHEDULE_CPU, "spmv.csr_nodes", WEFT__TUNABLES(cpu_values), WEFT__TUNE_ROWS(tune)},
    {0},
};

struct nodes_state {
    struct weft__kernel *run;
    cl_mem node;
    size_t groups, wg;
};

static void destroy(void *state)
{
    struct nodes_state *s = state;
    weft__parts_release(&s->run, 1, &s->node, 1);
    free(s);
}

// What the rows of a matrix have in common: rows with the columns of the row before, their entries, and the first ones of such rows that
// follow each other.
#define FIGURES 3
struct found {
    cl_mem alike;
    int64_t rows, entries, runs;
};

static void define_find(struct weft__defines *d, const struct weft_spmv_plan *plan, size_t wg, int lanes)
{
    *d = (struct weft__defines){0};
    weft__define_types(d, WEFT_TYPE_PATTERN, plan->a.ofs);
    weft__define(d, "WEFT_WG", "%zu", wg);
    weft__define(d, "WEFT_LPR", "%d", lanes);
}

// out->alike is the caller's to release.
static void rows_compare(struct found *out, struct weft_spmv_plan *plan, struct weft__make *make,
                         cl_command_queue queue)
{
    const int cpu = weft__spmv_is_cpu(plan);
    const size_t wg = cpu ? 1 : (size_t)weft__wg_lower(plan->ctx, FIND_WG), m = (size_t)plan->a.m,
                 groups = weft__min(weft__ceil_div(m, BLOCK),
                                    cpu ? CPU_CHUNKS * (size_t)plan->ctx->device.compute_units : GROUPS),
                 bytes = groups * FIGURES * sizeof(cl_long);
    const cl_int rows = (cl_int)plan->a.m;
    const union weft__ofs nnz = weft__ofs_value(plan->a.ofs, (size_t)plan->a.nnz);
    struct weft__kernel *kernel = NULL;
    struct weft__defines d;
    cl_mem figures = NULL;
    cl_long *sums = weft__make_memory(make, bytes, "figures of rows");
    define_find(&d, plan, wg, (int)weft__min(LANES, wg));
    weft__make_kernel(make, &kernel, &alike_spec, &d);
    weft__spmv_make_buffer(make, &out->alike, m, "rows alike");
    weft__spmv_make_buffer(make, &figures, bytes, "figures of rows");
    struct weft__stream stream = weft__spmv_stream(make, queue);
    WEFT__LAUNCH(&stream, kernel, groups, wg, WEFT__ARG(row_ptr, plan->a.row_ptr), WEFT__ARG(col, plan->a.col),
                 WEFT__ARG(alike, out->alike), WEFT__ARG(figures), WEFT__ARG(m, rows),
                 WEFT__OFS(nnz, plan->a.ofs, nnz));
    weft__spmv_read(&stream, figures, 0, bytes, sums);
    make->status = stream.status;
    for (size_t g = 0; !make->status && g < groups; g++) {
        out->rows += sums[FIGURES * g];
        out->entries += sums[FIGURES * g + 1];
        out->runs += sums[FIGURES * g + 2];
    }
    weft__parts_release(&kernel, 1, &figures, 1);
    free(sums);
}

// The nodes, of `rows` rows at most, and how many they are.
static void nodes_write(struct nodes_state *s, struct weft_spmv_plan *plan, struct weft__make *make,
                        cl_command_queue queue, cl_mem alike, cl_uint rows, cl_int *nodes)
{
    enum { COUNT, WRITE, NKERNELS };
    const size_t wg = weft__spmv_is_cpu(plan) ? 1 : WRITE_WG;
    const cl_uint blocks = (cl_uint)weft__ceil_div((size_t)plan->a.m, BLOCK);
    const size_t groups = weft__groups(weft__ceil_div(blocks, wg), wg);
    const cl_int m = (cl_int)plan->a.m;
    struct weft__kernel *k[NKERNELS] = {0};
    struct weft__defines d;
    cl_mem size = NULL;
    cl_long ends[2] = {0, 0};
    define_find(&d, plan, wg, 1);
    weft__make_kernel(make, &k[COUNT], &count_spec, &d);
    weft__make_kernel(make, &k[WRITE], &write_spec, &d);
    weft__spmv_make_buffer(make, &size, ((size_t)blocks + 1) * sizeof(cl_long), "nodes of blocks");
    struct weft__stream stream = weft__spmv_stream(make, queue);
    WEFT__LAUNCH(&stream, k[COUNT], groups, wg, WEFT__ARG(alike), WEFT__ARG(size), WEFT__ARG(m), WEFT__ARG(blocks),
                 WEFT__ARG(rows));
    make->status = weft__spmv_positions(&stream, size, blocks, ends);
    *nodes = (cl_int)ends[1];
    const size_t bytes = (size_t)ends[1] * sizeof(cl_uint4);
    weft__spmv_make_buffer(make, &s->node, bytes, "nodes");
    stream = weft__spmv_stream(make, queue);
    WEFT__LAUNCH(&stream, k[WRITE], groups, wg, WEFT__ARG(row_ptr, plan->a.row_ptr), WEFT__ARG(alike), WEFT__ARG(size),
                 WEFT__ARG(node, s->node), WEFT__ARG(m), WEFT__ARG(blocks), WEFT__ARG(rows));
    make->status = weft__spmv_finish(&stream);
    plan->info.workspace_bytes += bytes;
    weft__parts_release(k, NKERNELS, &size, 1);
}

// Rows of a node, at most: in the mean of those that have more than one.
#define ROWS_MOST 8
static int rows_most(const struct found *found)
{
    const double rows = found->runs ? rint(1 + (double)found->rows / (double)found->runs) : 1;
    return (int)fmin(rows, ROWS_MOST);
}

static void kernel_create(struct nodes_state *s, struct weft_spmv_plan *plan, struct weft__make *make, cl_int nodes,
                          cl_uint rows)
{
    const int cpu = weft__spmv_is_cpu(plan);
    const struct weft__spmv_sizes sizes = weft__spmv_sizes(&plan->info.params, plan->info.schedule);
    const size_t items = CPU_CHUNKS * (size_t)plan->ctx->device.compute_units;
    const cl_uint chunk = cpu ? (cl_uint)weft__ceil_div((size_t)nodes, items) : 1;
    struct weft__defines d = {0};
    s->wg = (size_t)sizes.wg;
    s->groups = weft__groups(cpu ? weft__ceil_div(weft__ceil_div((size_t)nodes, chunk), s->wg)
                                 : weft__ceil_div((size_t)nodes, s->wg / (size_t)sizes.lanes),
                             s->wg);
    weft__spmv_define(plan, &d);
    weft__define(&d, "WEFT_WG", "%zu", s->wg);
    weft__define(&d, "WEFT_ROWS", "%u", rows);
    if (!cpu) {
        weft__define(&d, "WEFT_LPR", "%d", sizes.lanes);
        weft__define(&d, "WEFT_IPT", "%d", sizes.ipt);
    }
    weft__make_kernel(make, &s->run, cpu ? &cpu_spec : &gpu_spec, &d);
    if (!make->status)
        make->status = WEFT__BIND(plan->ctx, s->run, WEFT__ARG(node, s->node), WEFT__ARG(nodes), WEFT__ARG(chunk));
}

static weft_status create(struct weft_spmv_plan *plan, cl_command_queue queue)
{
    struct weft__make make = {.ctx = plan->ctx};
    struct weft_spmv_params *p = &plan->info.params;
    struct nodes_state *s = plan->state = weft__make_memory(&make, sizeof *s, "a plan");
    struct found found = {0};
    cl_int nodes = 0;
    if (make.status)
        return make.status;
    if (plan->stats.max_row > INT32_MAX)
        return weft__fail(plan->ctx, WEFT_ERANGE, "csr_nodes: a row has %lld entries, a node counts less than 2^31",
                          (long long)plan->stats.max_row);
    rows_compare(&found, plan, &make, queue);
    if (!make.status && plan->bound > 0 &&
        weft__spmv_nodes_saves_us(plan, (double)found.entries / (double)plan->a.nnz) <= 0)
        make.status = WEFT_ERANGE; // auto supposed more such rows
    if (!make.status && !weft__spmv_is_cpu(plan)) {
        const double all = (double)(plan->a.m - found.rows);
        p->gpu.rows = p->gpu.rows ? p->gpu.rows : rows_most(&found);
        p->gpu.lanes = p->gpu.lanes ? p->gpu.lanes : weft__spmv_nodes_lanes(plan, all);
    }
    if (!make.status)
        weft__spmv_resolve(&make, plan, WEFT__TUNE_FIND(plan->ctx, tune), NULL);
    const cl_uint rows = weft__spmv_is_cpu(plan) ? CPU_ROWS : (cl_uint)p->gpu.rows;
    if (!make.status)
        nodes_write(s, plan, &make, queue, found.alike, rows, &nodes);
    if (!make.status)
        kernel_create(s, plan, &make, nodes, rows);
    weft__buffer_release(&found.alike);
    return make.status;
}

static weft_status run(struct weft_spmv_plan *plan, struct weft__stream *stream, const struct weft__spmv_call *call)
{
    const struct nodes_state *s = plan->state;
    return weft__spmv_launch_csr(plan, stream, s->run, s->groups, s->wg, call);
}

static void variants(weft__variant_fn *fn, void *arg)
{
    static const struct weft__kernel_spec *const finds[] = {&alike_spec, &count_spec, &write_spec};
    for (size_t i = 0; i < sizeof finds / sizeof *finds; i++)
        for (int cpu = 0; cpu < 2; cpu++)
            for (int ofs = 0; ofs < 2; ofs++) {
                struct weft__variant v = {.spec = finds[i], .schedule = cpu ? WEFT_SCHEDULE_CPU : WEFT_SCHEDULE_GPU};
                weft__define_types(&v.defines, WEFT_TYPE_PATTERN, ofs ? WEFT_OFS_64 : WEFT_OFS_32);
                weft__define(&v.defines, "WEFT_WG", "%d", cpu ? 1 : i ? WRITE_WG : FIND_WG);
                weft__define(&v.defines, "WEFT_LPR", "%d", cpu || i ? 1 : LANES);
                fn(arg, &v);
            }
    for (int rows = 2; rows <= 8; rows += 3)
        for (int lanes = 2; lanes <= 32; lanes *= 4)
            WEFT__SPMV_EACH(&gpu_spec, WEFT_SCHEDULE_GPU, {"WEFT_WG", 128}, {"WEFT_LPR", lanes}, {"WEFT_IPT", 2},
                            {"WEFT_ROWS", rows});
    WEFT__SPMV_EACH(&cpu_spec, WEFT_SCHEDULE_CPU, {"WEFT_WG", 1}, {"WEFT_ROWS", CPU_ROWS});
}

const struct weft__spmv_method weft__spmv_csr_nodes = {
    .create = create, .run = run, .destroy = destroy, .variants = variants};
