// SPDX-License-Identifier: Apache-2.0
// Panels: a matrix cut into columns whose part of x fits local memory. Conversion from CSR and SpMV; GPUs alone.
//
// Part k*m + row is what a row has in panel k. Parts lie one after the other, each with one entry at least. A work-group of the SpMV
// takes parts of one panel, in chunks of 32*ipt entries; the last chunk is filled up.
//
//     pass            reads              writes                    form of an entry on its way     buffers
//     panels_count    CSR                entries of parts          (parts alone)                   AT
//     panels_count_rows  the same, slower, where the panels of a row do not ascend
//     scan            AT                 begins of parts           (parts alone)                   AT
//     panels_begins   AT                 begins of panels          (panels alone)                  -
//     panels_cut      AT                 parts of work-groups      (work-groups alone)             TABLE, ORIGIN
//     fill            -                  all of COL, VAL           nothing                         COL, VAL
//     panels_lines    AT, ORIGIN, TABLE  parts before each chunk   (chunks alone)                  HEADS
//     panels_fill     CSR, AT, ORIGIN    all entries               column in the panel, value      COL, VAL
//     panels_heads, panels_fill_rows     the same, where the panels of a row do not ascend
//   and for each SpMV
//     spmv_panels       all but AT, x    PART                      product, sum of a part
//     spmv_panels_join  PART             y                         sum of a row
#include "again.h"
#include "columns.h"
#include "cost.h"
#include "host/src/core/copy.h"
#include "host/src/core/fill.h"
#include "push.h"
#include "variants.h"

#include <stdlib.h>

static const struct weft__kernel_spec count_spec = {"panels_count", {"spmv/panels_pack.cl"}};
static const struct weft__kernel_spec count_rows_spec = {"panels_count_rows", {"spmv/panels_pack.cl"}};
static const struct weft__kernel_spec begins_spec = {"panels_begins", {"spmv/panels_pack.cl"}};
static const struct weft__kernel_spec cut_spec = {"panels_cut", {"spmv/panels_pack.cl"}};
static const struct weft__kernel_spec heads_spec = {"panels_heads", {"spmv/panels_pack.cl"}};
static const struct weft__kernel_spec lines_spec = {"panels_lines", {"spmv/panels_pack.cl"}};
static const struct weft__kernel_spec fill_spec = {"panels_fill", {"spmv/panels_pack.cl"}};
static const struct weft__kernel_spec fill_rows_spec = {"panels_fill_rows", {"spmv/panels_pack.cl"}};
static const struct weft__kernel_spec run_spec = {"spmv_panels", {"spmv/panels.cl", "spmv/spmv.clh"}};
static const struct weft__kernel_spec join_spec = {"spmv_panels_join", {"spmv/panels_join.cl", "spmv/spmv.clh"}};

struct weft_tune_spmv_panels {
    struct weft__tune_key key;
    int wg, ipt, read;
};
static const struct weft_tune_spmv_panels tune[] = {{{WEFT_SCHEDULE_GPU, NULL, 0, NULL, "default"}, 512, 4, 2}};
#define GPU(member) WEFT__SPMV_GPU(struct weft_tune_spmv_panels, member, member)
static const struct weft__tunable gpu_values[] = {
    {GPU(wg), .low = 32, .step = 32, .most = weft__tunable_wg, .lower = WEFT__LOWER_HALVE, .kept = WEFT__KEPT_FOUND,
     .sweep = {256, 512, 1024}, .help = "work-items per work-group"},
    {GPU(ipt), .low = 4, .high = 8, .step = 4, .kept = WEFT__KEPT_FOUND, .sweep = {4, 8},
     .help = "entries side by side of a work-item at a time"},
    {GPU(read), WEFT__SPMV_READ},
};
const struct weft__tunables weft__spmv_panels_tunables[] = {
    {"spmv", "panels", WEFT_SCHEDULE_GPU, "spmv.panels", WEFT__TUNABLES(gpu_values), WEFT__TUNE_ROWS(tune)},
    {0},
};
#define NOTHING 0x7fff
#define PACK_WG 64
#define JOIN_WG 128
// Entries of a row in any order that auto lets one work-item walk over: on an H200 a row of 66 667 took 13 ms, one of 125 000 took 20.
#define WALKED 4096
enum { TABLE, ORIGIN, COL, VAL, HEADS, PART, NBUFFERS };
enum { RUN, JOIN, NKERNELS };
struct panels {
    cl_mem b[NBUFFERS];
    struct weft__kernel *k[NKERNELS];
    cl_int cols;
    cl_uint panels, count; // work-groups of an SpMV
    cl_ulong parts;
    double again;    // what far_check has found of the matrix
    int64_t fullest; // entries of the work-group that has most
    int64_t chunks;
    int joiners;  // work-items that sum up a row's parts
    int join_wg;  // of the kernel that does, as it was compiled
    cl_int unfit; // nonzero: the panels of a row's entries do not ascend
};

static void destroy(void *state)
{
    struct panels *s = state;
    weft__parts_release(s->k, NKERNELS, s->b, NBUFFERS);
    free(s);
}

// Entries that 32 lanes take at a time.
static int64_t chunk_of(const struct weft_spmv_plan *plan)
{
    return 32 * (int64_t)plan->info.params.gpu.ipt;
}

// auto wants entries that lie anywhere. Where many more parts are empty than would be so, rows keep to some of the panels, and CSR
// finds x in the caches (stencil27:40+unsorted on an H200: 0.0059 ms by CSR, 0.0138 by panels).
#define CLUSTERED 1.1
static int is_clustered(const struct weft_spmv_plan *plan, int64_t entries)
{
    return (double)entries > CLUSTERED * weft__spmv_panels_elements(plan);
}

// Refuse what would be mostly entries that count for nothing. Rows without entries do not count.
static weft_status size_check(const struct panels *s, struct weft_spmv_plan *plan, int64_t entries)
{
    const double limit = plan->bound > 0 ? plan->bound : plan->info.params.format.max_padding;
    const double nnz = (double)plan->a.nnz, free_rows = plan->bound > 0 ? 0 : (double)plan->a.m;
    const bool few = !plan->a.nnz || (double)entries - free_rows <= limit * nnz, // nothing is never too much
        clustered = plan->bound > 0 && is_clustered(plan, entries);
    if (few && s->parts < UINT32_MAX && entries / 128 < INT32_MAX && !clustered)
        return WEFT_OK;
    plan->returns |= clustered;
    if (plan->trial || plan->bound > 0)
        return WEFT_ERANGE;
    return weft__fail(plan->ctx, WEFT_ERANGE,
                      "panels would hold %lld elements for %lld entries, %.1f times as many; params.format.max_padding "
                      "allows %.1f: %llu parts of %lld rows in %u panels of %d columns",
                      (long long)entries, (long long)plan->a.nnz, (double)entries / nnz, limit,
                      (unsigned long long)s->parts, (long long)plan->a.m, s->panels, s->cols);
}

// auto supposed that reads of x lie far apart, unless x is near and panels gain by their bytes: do panels still repay?
static weft_status far_check(struct panels *s, struct weft_spmv_plan *plan, cl_command_queue queue)
{
    weft_status status = weft__spmv_x_near(plan) ? WEFT_OK : weft__spmv_again(plan, queue, &s->again);
    if (!status && !weft__spmv_panels_repay(plan, s->again)) {
        plan->returns = true;
        status = WEFT_ERANGE;
    }
    return status;
}

static void pack_kernel(const struct panels *s, struct weft_spmv_plan *plan, struct weft__make *make,
                        struct weft__kernel **out, const struct weft__kernel_spec *spec)
{
    const cl_int m = (cl_int)plan->a.m;
    struct weft__defines d = {0};
    weft__define_types(&d, plan->a.type, plan->a.ofs);
    weft__define(&d, "WEFT_WG", "%d", PACK_WG);
    weft__define(&d, "WEFT_IPT", "%d", plan->info.params.gpu.ipt);
    weft__make_kernel(make, out, spec, &d);
    if (!make->status)
        make->status = WEFT__BIND(plan->ctx, *out, WEFT__ARG(m), WEFT__ARG(panels, s->panels),
                                  WEFT__ARG(parts, s->parts), WEFT__ARG(count, s->count), WEFT__ARG(cols, s->cols));
}

// One launch of a kernel of the conversion, over `items` work-items.
static void pack(const struct panels *s, struct weft_spmv_plan *plan, struct weft__make *make, cl_command_queue queue,
                 const struct weft__kernel_spec *spec, uint64_t items, const struct weft__arg *args, size_t nargs)
{
    struct weft__kernel *kernel = NULL;
    pack_kernel(s, plan, make, &kernel, spec);
    struct weft__stream stream = weft__spmv_stream(make, queue);
    make->status = weft__launch(&stream, kernel, weft__groups(weft__ceil_div((size_t)items, PACK_WG), PACK_WG), PACK_WG,
                                args, nargs);
    weft__parts_release(&kernel, 1, NULL, 0);
}

// Entries of each part into `at`. *unfit, unless NULL: they could not be told so; blocks then.
static void sizes_count(const struct panels *s, struct weft_spmv_plan *plan, struct weft__make *make,
                        cl_command_queue queue, const struct weft_device_csr *a, cl_mem at, cl_int *unfit)
{
    cl_mem word = NULL;
    struct weft__make own = *make; // the word is not among the plan's bytes
    weft__spmv_make_word(&own, queue, &word, "word of a conversion");
    pack(s, plan, &own, queue, &count_spec, s->parts,
         WEFT__ARGS(WEFT__ARG(row_ptr, a->row_ptr), WEFT__ARG(col, a->col), WEFT__ARG(size, at),
                    WEFT__ARG(unfit, word)));
    struct weft__stream stream = weft__spmv_stream(&own, queue);
    if (unfit)
        weft__spmv_read(&stream, word, 0, sizeof *unfit, unfit);
    weft__buffer_release(&word);
    make->status = stream.status;
}

// *at: entries before each part, and all of them behind the last. Blocks. first: s->unfit is not known yet.
static void parts_count(struct panels *s, struct weft_spmv_plan *plan, struct weft__make *make, cl_command_queue queue,
                        const struct weft_device_csr *a, int first, cl_mem *at, int64_t *entries)
{
    cl_long ends[2] = {0, 0};
    struct weft__make own = *make; // not among the plan's bytes
    weft__spmv_make_buffer(&own, at, weft__mul((size_t)s->parts + 1, sizeof(cl_long)), "parts of rows in panels");
    if (!s->unfit)
        sizes_count(s, plan, &own, queue, a, *at, first ? &s->unfit : NULL);
    if (s->unfit && plan->bound > 0 && plan->info.max_row > WALKED)
        own.status = own.status ? own.status : WEFT_ERANGE;
    if (s->unfit)
        pack(s, plan, &own, queue, &count_rows_spec, (uint64_t)a->m,
             WEFT__ARGS(WEFT__ARG(row_ptr, a->row_ptr), WEFT__ARG(col, a->col), WEFT__ARG(size, *at)));
    struct weft__stream stream = weft__spmv_stream(&own, queue);
    make->status = weft__spmv_positions(&stream, *at, (size_t)s->parts, ends);
    *entries = ends[1];
}

struct cut {
    cl_long part, at;
};

// own[k]: work-groups of panel k, one at least; as many in all as the device runs at a time, unless panels are more, so that
// none begins when others are done. Each further one goes to the panel whose work-groups have most. Their number.
static cl_uint teams_share(const struct panels *s, const struct weft_spmv_plan *plan, const cl_long *begin,
                           cl_uint *own)
{
    const int wg = plan->info.params.gpu.wg;
    const int64_t units = (int64_t)weft__max(WEFT__SPMV_UNIT_ITEMS / (size_t)wg, 1) * plan->ctx->device.compute_units,
                  most = (begin[s->panels] - 1) / ((int64_t)wg * plan->info.params.gpu.ipt) + 1;
    const cl_uint teams = (cl_uint)(units < most ? units : most);
    cl_uint count = s->panels;
    for (cl_uint k = 0; k < s->panels; k++)
        own[k] = 1;
    for (; count < teams; count++) {
        cl_uint fullest = 0;
        double entries = 0;
        for (cl_uint k = 0; k < s->panels; k++)
            if ((double)(begin[k + 1] - begin[k]) / own[k] > entries) {
                entries = (double)(begin[k + 1] - begin[k]) / own[k];
                fullest = k;
            }
        own[fullest]++;
    }
    return count;
}

// wanted[g]: the entry from which work-group g of panels is to take.
static void teams_place(const struct panels *s, const cl_long *begin, const cl_uint *own, cl_long *wanted)
{
    for (cl_uint k = 0, g = 0; k < s->panels; k++)
        for (cl_uint i = 0; i < own[k]; i++)
            wanted[g++] = begin[k] + (cl_long)((double)(begin[k + 1] - begin[k]) * i / own[k]);
}

// TABLE and ORIGIN from where the work-groups begin; s->count of those that have parts, and s->chunks.
static void table_make(struct panels *s, struct weft__make *make, const struct cut *cut, cl_uint wanted, int64_t chunk)
{
    cl_uint4 *table = weft__make_memory(make, wanted * sizeof *table, "work-groups of panels");
    cl_long2 *origin = weft__make_memory(make, wanted * sizeof *origin, "work-groups of panels");
    for (cl_uint g = 0; !make->status && g < wanted; g++) {
        const struct cut *from = &cut[g], *to = &cut[g + 1];
        if (from->part == to->part)
            continue; // one part is as long as several work-groups were to be
        const int64_t chunks = (to->at - from->at + chunk - 1) / chunk, m = (int64_t)s->parts / s->panels;
        table[s->count] = (cl_uint4){
            {(cl_uint)(from->part / m * s->cols), (cl_uint)s->chunks, (cl_uint)chunks, (cl_uint)to->part - 1}};
        origin[s->count++] = (cl_long2){{from->part, s->chunks * chunk - from->at}};
        s->chunks += chunks;
        s->fullest = s->fullest < to->at - from->at ? to->at - from->at : s->fullest;
    }
    if (!make->status)
        make->status =
            weft__buffer_create_from(&s->b[TABLE], make->ctx, s->count * sizeof *table, table, "work-groups of panels");
    if (!make->status)
        make->status = weft__buffer_create_from(&s->b[ORIGIN], make->ctx, s->count * sizeof *origin, origin,
                                                "work-groups of panels");
    make->bytes += s->count * (sizeof *table + sizeof *origin);
    free(table);
    free(origin);
}

// Numbers that a kernel has written. Blocks.
static void numbers_read(struct weft__make *make, cl_command_queue queue, cl_mem from, size_t count, cl_long *to)
{
    struct weft__stream stream = weft__spmv_stream(make, queue);
    make->status = weft__spmv_read(&stream, from, 0, count * sizeof *to, to);
}

// Share the parts out among work-groups. Blocks.
static void teams_make(struct panels *s, struct weft_spmv_plan *plan, struct weft__make *make, cl_command_queue queue,
                       cl_mem at)
{
    enum { BEGIN, WANTED, CUT, NLISTS };
    const size_t panels = (size_t)s->panels + 1;
    cl_mem b[NLISTS] = {0};
    struct weft__make own = {.ctx = make->ctx, .status = make->status}; // not among the plan's bytes
    cl_long *begin = weft__make_memory(&own, panels * sizeof *begin, "begins of panels");
    weft__spmv_make_buffer(&own, &b[BEGIN], panels * sizeof *begin, "begins of panels");
    pack(s, plan, &own, queue, &begins_spec, panels, WEFT__ARGS(WEFT__ARG(at), WEFT__ARG(begin, b[BEGIN])));
    numbers_read(&own, queue, b[BEGIN], panels, begin);
    cl_uint *shares = weft__make_memory(&own, panels * sizeof *shares, "work-groups of panels");
    const cl_uint teams = own.status ? 0 : teams_share(s, plan, begin, shares);
    const size_t cuts = (size_t)teams + 1;
    cl_long *wanted = weft__make_memory(&own, cuts * sizeof *wanted, "work-groups of panels");
    struct cut *cut = weft__make_memory(&own, cuts * sizeof *cut, "work-groups of panels");
    if (!own.status) {
        teams_place(s, begin, shares, wanted);
        wanted[teams] = begin[s->panels];
        own.status =
            weft__buffer_create_from(&b[WANTED], own.ctx, cuts * sizeof *wanted, wanted, "work-groups of panels");
    }
    weft__spmv_make_buffer(&own, &b[CUT], cuts * sizeof *cut, "work-groups of panels");
    s->count = teams + 1;
    pack(s, plan, &own, queue, &cut_spec, cuts,
         WEFT__ARGS(WEFT__ARG(at), WEFT__ARG(wanted, b[WANTED]), WEFT__ARG(cut, b[CUT])));
    numbers_read(&own, queue, b[CUT], 2 * cuts, (cl_long *)cut);
    s->count = 0;
    make->status = own.status;
    table_make(s, make, cut, teams, chunk_of(plan));
    weft__parts_release(NULL, 0, b, NLISTS);
    free(begin);
    free(shares);
    free(wanted);
    free(cut);
}

// Entries to their places; `at` is of no use afterwards.
static void entries_fill(const struct panels *s, struct weft_spmv_plan *plan, struct weft__make *make,
                         cl_command_queue queue, const struct weft_device_csr *a, cl_mem at)
{
    const cl_mem val = s->b[VAL] ? a->val : a->col;
    if (s->unfit)
        pack(s, plan, make, queue, &heads_spec, s->parts,
             WEFT__ARGS(WEFT__ARG(at), WEFT__ARG(origin, s->b[ORIGIN]), WEFT__ARG(to_col, s->b[COL])));
    pack(s, plan, make, queue, s->unfit ? &fill_rows_spec : &fill_spec, s->unfit ? (uint64_t)a->m : s->parts,
         WEFT__ARGS(WEFT__ARG(row_ptr, a->row_ptr), WEFT__ARG(col, a->col), WEFT__ARG(val), WEFT__ARG(at),
                    WEFT__ARG(origin, s->b[ORIGIN]), WEFT__ARG(to_col, s->b[COL]),
                    WEFT__ARG(to_val, s->b[s->b[VAL] ? VAL : HEADS])));
}

static void arrays_make(struct panels *s, struct weft_spmv_plan *plan, struct weft__make *make, cl_command_queue queue,
                        cl_mem at)
{
    const size_t elements = (size_t)(s->chunks * chunk_of(plan)), val = weft_type_bytes(plan->a.type);
    struct weft__kernel *zero = NULL;
    weft__spmv_make_buffer(make, &s->b[COL], weft__mul(elements, 2), "columns of 16 bits");
    if (val)
        weft__spmv_make_buffer(make, &s->b[VAL], weft__mul(elements, val), "values of panels");
    weft__spmv_make_buffer(make, &s->b[HEADS], weft__mul((size_t)s->chunks, 4), "parts before chunks");
    plan->info.format_bytes = make->bytes;
    weft__spmv_make_buffer(make, &s->b[PART], weft__mul((size_t)s->parts, weft__spmv_acc_bytes(plan)), "sums of parts");
    plan->info.workspace_bytes += make->bytes - plan->info.format_bytes;
    if (!make->status)
        make->status = weft__fill_create(&zero, plan->ctx);
    struct weft__stream stream = weft__spmv_stream(make, queue);
    weft__fill(&stream, zero, s->b[COL], 0, elements / 2, NOTHING << 16 | NOTHING);
    if (val)
        weft__fill(&stream, zero, s->b[VAL], 0, elements * val / 4, 0);
    make->status = stream.status;
    weft__parts_release(&zero, 1, NULL, 0);
    pack(s, plan, make, queue, &lines_spec, s->count * UINT64_C(32),
         WEFT__ARGS(WEFT__ARG(at), WEFT__ARG(origin, s->b[ORIGIN]), WEFT__ARG(table, s->b[TABLE]),
                    WEFT__ARG(heads, s->b[HEADS])));
    entries_fill(s, plan, make, queue, &plan->a, at);
}

static void kernels_make(struct panels *s, struct weft_spmv_plan *plan, struct weft__make *make)
{
    const cl_int m = (cl_int)plan->a.m, n = (cl_int)plan->a.n;
    struct weft__defines run = {0}, join = {0};
    weft__spmv_define(plan, &run);
    weft__spmv_define(plan, &join);
    weft__define(&run, "WEFT_WG", "%d", plan->info.params.gpu.wg);
    weft__define(&run, "WEFT_COLS", "%zu", weft__spmv_panels_cols_most(plan));
    weft__define(&run, "WEFT_IPT", "%d", plan->info.params.gpu.ipt);
    s->join_wg = weft__wg_lower(plan->ctx, JOIN_WG);
    weft__define(&join, "WEFT_WG", "%d", s->join_wg);
    weft__define(&join, "WEFT_JOIN", "%d", s->joiners);
    weft__make_kernel(make, &s->k[RUN], &run_spec, &run);
    weft__make_kernel(make, &s->k[JOIN], &join_spec, &join);
    if (!make->status)
        make->status = WEFT__PARTS_BIND(
            plan->ctx, s->k, NKERNELS, WEFT__ARG(table, s->b[TABLE]), WEFT__ARG(heads, s->b[HEADS]),
            WEFT__ARG(col, s->b[COL]), WEFT__ARG(val, s->b[s->b[VAL] ? VAL : COL]), WEFT__ARG(part, s->b[PART]),
            WEFT__ARG(count, s->count), WEFT__ARG(m), WEFT__ARG(n), WEFT__ARG(panels, s->panels));
}

// Sums of parts, or where those are more than the entries the products themselves (push.c).
static weft_status create(struct weft_spmv_plan *plan, cl_command_queue queue)
{
    struct weft__make make = {.ctx = plan->ctx};
    struct panels *s = plan->state = weft__make_memory(&make, sizeof *s, "a plan");
    cl_mem at = NULL;
    int64_t entries = 0;
    if (!s)
        return make.status;
    struct weft__spmv_clock clock = weft__spmv_clock();
    weft__spmv_resolve(&make, plan, WEFT__TUNE_FIND(plan->ctx, tune), weft__spmv_panels_local);
    if (!make.status && plan->bound > 0)
        make.status = far_check(s, plan, queue);
    if (make.status)
        return make.status;
    if (weft__spmv_push_size(plan).buckets) {
        destroy(s);
        plan->state = NULL;
        plan->method = &weft__spmv_push;
        make.status = plan->method->create(plan, queue);
        plan->info.convert_ms = weft__spmv_clock_ms(&clock);
        return make.status;
    }
    s->cols = weft__spmv_panels_cols(plan);
    s->panels = plan->a.nnz ? (cl_uint)weft__spmv_panels_count(plan) : 1; // without entries one has all parts
    s->parts = (cl_ulong)s->panels * (cl_ulong)plan->a.m;
    s->joiners = weft__spmv_panels_joiners(plan);
    make.status = size_check(s, plan, (int64_t)s->parts); // before memory is taken for them
    if (!make.status)
        parts_count(s, plan, &make, queue, &plan->a, 1, &at, &entries);
    if (!make.status)
        make.status = size_check(s, plan, entries);
    if (!make.status)
        teams_make(s, plan, &make, queue, at);
    if (!make.status && plan->bound > 0 && !weft__spmv_panels_shared(plan, s->again, (double)s->fullest))
        make.status = WEFT_ERANGE;
    if (!make.status)
        arrays_make(s, plan, &make, queue, at);
    kernels_make(s, plan, &make);
    struct weft__stream stream = weft__spmv_stream(&make, queue);
    weft__spmv_finish(&stream);
    weft__buffer_release(&at);
    plan->info.convert_ms = weft__spmv_clock_ms(&clock);
    return stream.status;
}

static weft_status fill(struct weft_spmv_plan *plan, cl_command_queue queue, const struct weft_device_csr *a)
{
    struct panels *s = plan->state;
    struct weft__make make = {.ctx = plan->ctx};
    cl_mem at = NULL;
    int64_t entries;
    parts_count(s, plan, &make, queue, a, 0, &at, &entries);
    entries_fill(s, plan, &make, queue, a, at);
    weft__buffer_release(&at);
    return make.status;
}

static weft_status run(struct weft_spmv_plan *plan, struct weft__stream *stream, const struct weft__spmv_call *call)
{
    const struct panels *s = plan->state;
    const size_t wg = (size_t)plan->info.params.gpu.wg, join_wg = (size_t)s->join_wg;
    weft__spmv_launch(plan, stream, s->k[RUN], weft__groups(s->count, wg), wg, call);
    return weft__spmv_launch(plan, stream, s->k[JOIN],
                             weft__groups(weft__ceil_div((size_t)plan->a.m * (size_t)s->joiners, join_wg), join_wg),
                             join_wg, call);
}

static void variants(weft__variant_fn *fn, void *arg)
{
    static const struct weft__kernel_spec *const packs[] = {
        &count_spec, &count_rows_spec, &begins_spec, &cut_spec, &lines_spec, &fill_spec, &heads_spec, &fill_rows_spec};
    static const enum weft_type types[] = {WEFT_TYPE_F32, WEFT_TYPE_F64, WEFT_TYPE_PATTERN};
    for (size_t i = 0; i < sizeof packs / sizeof *packs; i++)
        for (int t = 0; t < 3; t++) {
            struct weft__variant v = {.spec = packs[i], .schedule = WEFT_SCHEDULE_GPU};
            weft__define_types(&v.defines, types[t], t == 1 ? WEFT_OFS_64 : WEFT_OFS_32);
            weft__define(&v.defines, "WEFT_WG", "%d", PACK_WG);
            weft__define(&v.defines, "WEFT_IPT", "%d", t == 1 ? 4 : 8);
            fn(arg, &v);
        }
    WEFT__SPMV_EACH(&run_spec, WEFT_SCHEDULE_GPU, {"WEFT_WG", 512}, {"WEFT_COLS", 4096}, {"WEFT_IPT", 4});
    WEFT__SPMV_EACH(&run_spec, WEFT_SCHEDULE_GPU, {"WEFT_WG", 256}, {"WEFT_COLS", 4096}, {"WEFT_IPT", 8});
    WEFT__SPMV_EACH(&join_spec, WEFT_SCHEDULE_GPU, {"WEFT_WG", JOIN_WG}, {"WEFT_JOIN", 1});
    WEFT__SPMV_EACH(&join_spec, WEFT_SCHEDULE_GPU, {"WEFT_WG", JOIN_WG}, {"WEFT_JOIN", 32});
    weft__spmv_push.variants(fn, arg);
}

// A processor has caches, and no memory that a work-group fills for all: sliced ELL with columns in 16 bits.
static weft_status cpu_create(struct weft_spmv_plan *plan, cl_command_queue queue)
{
    plan->method = &weft__spmv_sell16;
    plan->info.params.policy.algo = WEFT_SPMV_ALGO_SELL16;
    return plan->method->create(plan, queue);
}

const struct weft__spmv_method weft__spmv_panels_cpu = {.create = cpu_create};
const struct weft__spmv_method weft__spmv_panels = {
    .create = create, .fill = fill, .run = run, .destroy = destroy, .variants = variants};
