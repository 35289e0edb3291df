// SPDX-License-Identifier: Apache-2.0
// Panels whose rows have less than about an entry in each: products by panel of columns, summed up by bucket of rows. Conversion
// from CSR and SpMV; GPUs alone.
//
// A bucket is rows that follow each other, BUCKET entries at most. A slab is buckets whose products the second cache keeps. A run
// is what a bucket has in one panel, in quads of four entries; the last quad is filled up. Entries stand by slab, then panel, then
// bucket; their products by bucket, then panel.
//
//     pass           reads               writes                  form of an entry on its way       buffers
//     push_cut       row_ptr             begins of buckets       (buckets alone)                   CUT
//     push_count     CSR, CUT            quads of runs           (runs alone)                      FROM, TO
//     scan           FROM, TO            quads before runs       (runs alone)                      FROM, TO
//     push_begins    FROM                begins of panels        (panels alone)                    -
//     push_rows      row_ptr, CUT, TO    rows of buckets         (rows alone)                      BUCKETS, BEGIN
//     fill           -                   all of COL, VAL         nothing                           COL, VAL
//     push_fill      CSR, CUT, FROM, TO  all entries             column in the panel, value, place COL, VAL, QUAD, PLACE
//   and for each slab of an SpMV
//     spmv_push      COL, VAL, QUAD, x   PRODUCT                 product
//     spmv_push_sum  PRODUCT, PLACE      y                       product, sum of a row
#include "push.h"
#include "columns.h"
#include "host/src/core/copy.h"
#include "host/src/core/fill.h"
#include "variants.h"

#include <stdlib.h>

static const struct weft__kernel_spec cut_spec = {"push_cut", {"spmv/push_pack.cl"}};
static const struct weft__kernel_spec count_spec = {"push_count", {"spmv/push_pack.cl"}};
static const struct weft__kernel_spec begins_spec = {"push_begins", {"spmv/push_pack.cl"}};
static const struct weft__kernel_spec rows_spec = {"push_rows", {"spmv/push_pack.cl"}};
static const struct weft__kernel_spec fill_spec = {"push_fill", {"spmv/push_pack.cl"}};
static const struct weft__kernel_spec run_spec = {"spmv_push", {"spmv/push.cl", "spmv/spmv.clh"}};
static const struct weft__kernel_spec sum_spec = {"spmv_push_sum", {"spmv/push_sum.cl", "spmv/spmv.clh"}};

#define PACK_WG      256
#define PUSH_WG      1024
#define SUM_WG       512
#define UNIT_ITEMS   2048 // work-items of spmv_push that a compute unit runs at a time on an H200
#define BUCKET_BYTES (32 << 10)
#define STEP_MOST    4096 // quads, more than a work-group of spmv_push takes at a time: 32 bits hold these
#define RUN_LEAST    16   // entries of a run on average: quads are mostly full
#define PANELS_MOST  (BUCKET_BYTES / 4 / RUN_LEAST) // with more, a full bucket of the smallest sums has shorter runs
#define ROWS_LIGHT   8 // rows that count as an entry of a bucket, which one work-group sums up: empty rows have an end
// Slabs pay where runs are short, so that their products fill lines of the second cache that others begin, and the cache does
// not keep all products: bytes for each compute unit that it keeps, and of a slab (docs/log/panels.md).
#define RUN_SHORT  WEFT__HOSTILE(64, 1 << 20)
#define KEPT_BYTES (size_t) WEFT__HOSTILE(350 << 10, 4 << 10)
#define SLAB_BYTES (size_t) WEFT__HOSTILE(230 << 10, 4 << 10)
#define SLABS_MOST (size_t)64

enum { PIECES, FIRST, COL, VAL, QUAD, PLACE, BUCKETS, BEGIN, CUT, PRODUCT, NBUFFERS };
enum { RUN, SUM, NKERNELS };
struct push {
    cl_mem b[NBUFFERS];
    struct weft__kernel *k[NKERNELS];
    cl_int cols;
    cl_uint panels, count;    // buckets
    cl_uint slabs, slab;      // buckets of one
    cl_uint teams;            // work-groups of spmv_push for a slab
    int bucket;               // entries of one, at most
    size_t wg, sum_wg;        // of spmv_push, of spmv_push_sum
    int pack_wg;              // of kernels of the conversion, also when values are taken again
    int64_t quads, kept;      // kept: of the largest slab
    cl_uint base[SLABS_MOST]; // quads before a slab
};
// What only a conversion needs.
struct runs {
    cl_mem from, to;
};

static void destroy(void *state)
{
    struct push *s = state;
    weft__parts_release(s->k, NKERNELS, s->b, NBUFFERS);
    free(s);
}

struct weft__spmv_push_size weft__spmv_push_size(const struct weft_spmv_plan *plan)
{
    const size_t most = weft__min(weft__local_most(plan->ctx), BUCKET_BYTES + 64), acc = weft__spmv_acc_bytes(plan),
                 units = weft__max(1, (size_t)plan->ctx->device.compute_units);
    struct weft__spmv_push_size size = {.panels = weft__spmv_panels_count(plan), .bucket = (int)((most - 64) / acc)};
    if (plan->acc != plan->type || !plan->a.nnz || plan->stats.max_row > size.bucket / 4 ||
        plan->a.nnz >= size.panels * plan->a.m)
        return size;
    // Each bucket begins with the first row behind its share, and the longest row may reach beyond that.
    const int64_t work = plan->a.nnz + plan->a.m / ROWS_LIGHT;
    size.buckets = (int64_t)weft__ceil_div((size_t)work, (size_t)(size.bucket - plan->stats.max_row));
    size.share = (int64_t)weft__ceil_div((size_t)work, (size_t)size.buckets);
    const double run = (double)plan->a.nnz / ((double)size.panels * (double)size.buckets);
    if (run < RUN_LEAST)
        size.buckets = 0;
    const size_t bytes = (size_t)plan->a.nnz * acc,
                 slabs = run < RUN_SHORT && bytes > KEPT_BYTES * units ? weft__ceil_div(bytes, SLAB_BYTES * units) : 1;
    size.slabs = (int64_t)weft__min(weft__min(slabs, SLABS_MOST), (size_t)size.buckets);
    size.teams = (int64_t)weft__max(UNIT_ITEMS / (size_t)weft__wg_lower(plan->ctx, PUSH_WG), 1) * (int64_t)units;
    return size;
}

// One launch of a kernel of the conversion.
static void pack(const struct push *s, struct weft_spmv_plan *plan, struct weft__make *make, cl_command_queue queue,
                 const struct weft__kernel_spec *spec, const struct weft__arg *args, size_t nargs)
{
    const cl_int m = (cl_int)plan->a.m;
    struct weft__kernel *kernel = NULL;
    struct weft__defines d = {0};
    weft__define_types(&d, plan->a.type, plan->a.ofs);
    weft__define(&d, "WEFT_WG", "%d", s->pack_wg);
    weft__define(&d, "WEFT_PANELS", "%d", PANELS_MOST);
    weft__define(&d, "WEFT_BUCKET", "%d", s->bucket);
    weft__make_kernel(make, &kernel, spec, &d);
    if (!make->status)
        make->status = WEFT__BIND(plan->ctx, kernel, WEFT__ARG(m), WEFT__ARG(count, s->count), WEFT__ARG(slab, s->slab),
                                  WEFT__ARG(panels, s->panels), WEFT__ARG(cols, s->cols));
    struct weft__stream stream = weft__spmv_stream(make, queue);
    make->status = weft__launch(&stream, kernel, weft__groups(s->count, 1), (size_t)s->pack_wg, args, nargs);
    weft__parts_release(&kernel, 1, NULL, 0);
}

static struct weft__scratch scratch(size_t count, size_t bytes, const char *what)
{
    return (struct weft__scratch){.bytes = weft__mul(count, bytes), .what = what};
}

// Quads before each run, and all of them. Blocks.
static void runs_make(struct push *s, struct weft_spmv_plan *plan, struct weft__make *make, cl_command_queue queue,
                      const struct weft_device_csr *a, struct runs *runs)
{
    const size_t count = (size_t)s->panels * s->count;
    cl_long ends[2] = {0, 0};
    struct weft__make own = {.ctx = make->ctx, .status = make->status}; // not among the plan's bytes
    weft__spmv_make_buffer(&own, &runs->from, (count + 1) * sizeof(cl_long), "runs by panel");
    weft__spmv_make_buffer(&own, &runs->to, (count + 1) * sizeof(cl_long), "runs by bucket");
    pack(s, plan, &own, queue, &count_spec,
         WEFT__ARGS(WEFT__ARG(row_ptr, a->row_ptr), WEFT__ARG(col, a->col), WEFT__ARG(cut, s->b[CUT]),
                    WEFT__ARG(from, runs->from), WEFT__ARG(to, runs->to)));
    struct weft__stream stream = weft__spmv_stream(&own, queue);
    weft__spmv_positions(&stream, runs->from, count, ends);
    make->status = weft__spmv_positions(&stream, runs->to, count, ends);
    s->quads = ends[1];
}

// Refuse what would be mostly filled up.
static weft_status size_check(const struct push *s, struct weft_spmv_plan *plan)
{
    const double limit = plan->bound > 0 ? plan->bound : plan->info.params.format.max_padding;
    const double elements = 4 * (double)s->quads, nnz = (double)plan->a.nnz;
    if (elements <= limit * nnz && s->quads < UINT32_MAX - STEP_MOST)
        return WEFT_OK;
    if (plan->trial || plan->bound > 0)
        return WEFT_ERANGE;
    return weft__fail(plan->ctx, WEFT_ERANGE,
                      "panels would hold %.0f elements for %lld entries, %.2f times as many; params.format.max_padding "
                      "allows %.2f: %u panels of %d columns, %u buckets of rows",
                      elements, (long long)plan->a.nnz, elements / nnz, limit, s->panels, s->cols, s->count);
}

// Work-groups take as many quads of the slab each, all at the same time; one that comes to the end of a panel takes the next
// one's part of x.
static void pieces_place(struct push *s, const cl_long *begin, cl_uint4 *pieces, cl_uint *first)
{
    cl_uint n = 0;
    for (cl_uint i = 0; i < s->slabs; i++, begin += s->panels) {
        const cl_long quads = begin[s->panels] - begin[0];
        cl_uint panel = 0;
        s->base[i] = (cl_uint)begin[0];
        s->kept = quads > s->kept ? quads : s->kept;
        for (cl_uint g = 0; g < s->teams; g++) {
            cl_long at = begin[0] + quads * g / s->teams;
            const cl_long end = begin[0] + quads * (g + 1) / s->teams;
            for (*first++ = n; at < end; at = pieces[n++].s[2]) {
                while (begin[panel + 1] <= at)
                    panel++;
                const cl_long to = begin[panel + 1] < end ? begin[panel + 1] : end;
                pieces[n] = (cl_uint4){{panel * (cl_uint)s->cols, (cl_uint)at, (cl_uint)to, 0}};
            }
        }
    }
    *first = n;
}

static void upload(struct weft__make *make, cl_mem *buffer, const void *from, size_t bytes)
{
    if (!make->status)
        make->status = weft__buffer_create_from(buffer, make->ctx, bytes, from, "work-groups of panels");
    make->bytes += make->status ? 0 : bytes;
}

// The work-groups of spmv_push. Blocks.
static void teams_make(struct push *s, struct weft_spmv_plan *plan, struct weft__make *make, cl_command_queue queue,
                       const struct runs *runs)
{
    const size_t panels = (size_t)s->panels * s->slabs, teams = (size_t)s->teams * s->slabs;
    struct weft__make own = {.ctx = make->ctx, .status = make->status}; // not among the plan's bytes
    cl_mem begins = NULL;
    cl_long *begin = weft__make_memory(&own, (panels + 1) * sizeof *begin, "begins of panels");
    cl_uint4 *pieces = weft__make_memory(&own, (teams + panels) * sizeof *pieces, "work-groups of panels");
    cl_uint *first = weft__make_memory(&own, (teams + 1) * sizeof *first, "work-groups of panels");
    weft__spmv_make_buffer(&own, &begins, (panels + 1) * sizeof *begin, "begins of panels");
    pack(s, plan, &own, queue, &begins_spec, WEFT__ARGS(WEFT__ARG(from, runs->from), WEFT__ARG(begin, begins)));
    struct weft__stream stream = weft__spmv_stream(&own, queue);
    make->status = weft__spmv_read(&stream, begins, 0, (panels + 1) * sizeof *begin, begin);
    if (!make->status) {
        pieces_place(s, begin, pieces, first);
        upload(make, &s->b[PIECES], pieces, first[teams] * sizeof *pieces);
        upload(make, &s->b[FIRST], first, (teams + 1) * sizeof *first);
    }
    weft__buffer_release(&begins);
    free(begin);
    free(pieces);
    free(first);
}

// Entries to their places.
static void entries_fill(const struct push *s, struct weft_spmv_plan *plan, struct weft__make *make,
                         cl_command_queue queue, const struct weft_device_csr *a, const struct runs *runs)
{
    const cl_mem val = s->b[VAL] ? a->val : a->col;
    pack(s, plan, make, queue, &fill_spec,
         WEFT__ARGS(WEFT__ARG(row_ptr, a->row_ptr), WEFT__ARG(col, a->col), WEFT__ARG(val), WEFT__ARG(cut, s->b[CUT]),
                    WEFT__ARG(from, runs->from), WEFT__ARG(to, runs->to), WEFT__ARG(to_col, s->b[COL]),
                    WEFT__ARG(to_val, s->b[s->b[VAL] ? VAL : QUAD]), WEFT__ARG(to_quad, s->b[QUAD]),
                    WEFT__ARG(place, s->b[PLACE])));
}

static void arrays_make(struct push *s, struct weft_spmv_plan *plan, struct weft__make *make, cl_command_queue queue,
                        const struct runs *runs)
{
    const size_t quads = (size_t)s->quads, val = weft_type_bytes(plan->a.type);
    struct weft__kernel *zero = NULL;
    struct weft__scratch needs[NBUFFERS] = {[COL] = scratch(quads, 8, "columns of 16 bits"),
                                            [VAL] = scratch(quads, 4 * val, "values of panels"),
                                            [QUAD] = scratch(quads, 4, "places of products"),
                                            [PLACE] = scratch(quads, 8, "places in buckets"),
                                            [BUCKETS] = scratch(s->count, 16, "buckets of rows"),
                                            [BEGIN] = scratch((size_t)plan->a.m + s->count, 2, "rows")};
    for (int i = COL; i <= BEGIN; i++)
        if (needs[i].bytes)
            weft__spmv_make_buffer(make, &s->b[i], needs[i].bytes, needs[i].what);
    plan->info.format_bytes = make->bytes;
    weft__spmv_make_buffer(make, &s->b[PRODUCT], weft__mul((size_t)s->kept, 4 * weft__spmv_acc_bytes(plan)),
                           "products");
    plan->info.workspace_bytes += make->bytes - plan->info.format_bytes;
    if (!make->status)
        make->status = weft__fill_create(&zero, plan->ctx);
    struct weft__stream stream = weft__spmv_stream(make, queue);
    weft__fill(&stream, zero, s->b[COL], 0, quads * 2, 0);
    if (val)
        weft__fill(&stream, zero, s->b[VAL], 0, quads * val, 0);
    make->status = stream.status;
    weft__parts_release(&zero, 1, NULL, 0);
    pack(s, plan, make, queue, &rows_spec,
         WEFT__ARGS(WEFT__ARG(row_ptr, plan->a.row_ptr), WEFT__ARG(cut, s->b[CUT]), WEFT__ARG(to, runs->to),
                    WEFT__ARG(buckets, s->b[BUCKETS]), WEFT__ARG(begin, s->b[BEGIN])));
    entries_fill(s, plan, make, queue, &plan->a, runs);
}

static void kernels_make(struct push *s, struct weft_spmv_plan *plan, struct weft__make *make)
{
    const cl_int n = (cl_int)plan->a.n;
    struct weft__defines run = {0}, sum = {0};
    weft__spmv_define(plan, &run);
    weft__spmv_define(plan, &sum);
    weft__define(&run, "WEFT_WG", "%zu", s->wg);
    weft__define(&run, "WEFT_COLS", "%zu", weft__spmv_panels_cols_most(plan));
    weft__define(&sum, "WEFT_WG", "%zu", s->sum_wg);
    weft__define(&sum, "WEFT_BUCKET", "%d", s->bucket);
    weft__make_kernel(make, &s->k[RUN], &run_spec, &run);
    weft__make_kernel(make, &s->k[SUM], &sum_spec, &sum);
    if (!make->status)
        make->status = WEFT__PARTS_BIND(
            plan->ctx, s->k, NKERNELS, WEFT__ARG(pieces, s->b[PIECES]), WEFT__ARG(first, s->b[FIRST]),
            WEFT__ARG(col, s->b[COL]), WEFT__ARG(val, s->b[s->b[VAL] ? VAL : COL]), WEFT__ARG(to, s->b[QUAD]),
            WEFT__ARG(product, s->b[PRODUCT]), WEFT__ARG(n), WEFT__ARG(buckets, s->b[BUCKETS]),
            WEFT__ARG(begin, s->b[BEGIN]), WEFT__ARG(place, s->b[PLACE]));
}

static weft_status create(struct weft_spmv_plan *plan, cl_command_queue queue)
{
    struct weft__make make = {.ctx = plan->ctx};
    struct push *s = plan->state = weft__make_memory(&make, sizeof *s, "a plan");
    struct runs runs = {0};
    if (!s)
        return make.status;
    const struct weft__spmv_push_size size = weft__spmv_push_size(plan);
    const cl_int light = ROWS_LIGHT;
    s->cols = weft__spmv_panels_cols(plan);
    s->panels = (cl_uint)size.panels;
    s->teams = (cl_uint)size.teams;
    s->bucket = size.bucket;
    s->wg = (size_t)weft__wg_lower(plan->ctx, PUSH_WG);
    s->sum_wg = (size_t)weft__wg_lower(plan->ctx, SUM_WG);
    s->pack_wg = weft__wg_lower(plan->ctx, PACK_WG);
    s->slabs = (cl_uint)size.slabs;
    s->slab = (cl_uint)((size.buckets - 1) / size.slabs + 1);
    s->count = s->slab * s->slabs; // the last ones may be empty
    weft__spmv_make_buffer(&make, &s->b[CUT], ((size_t)s->count + 1) * sizeof(cl_int), "begins of buckets");
    pack(s, plan, &make, queue, &cut_spec,
         WEFT__ARGS(WEFT__ARG(row_ptr, plan->a.row_ptr), WEFT__ARG(cut, s->b[CUT]), WEFT__ARG(share, size.share),
                    WEFT__ARG(light)));
    runs_make(s, plan, &make, queue, &plan->a, &runs);
    if (!make.status)
        make.status = size_check(s, plan);
    if (!make.status)
        teams_make(s, plan, &make, queue, &runs);
    if (!make.status)
        arrays_make(s, plan, &make, queue, &runs);
    kernels_make(s, plan, &make);
    struct weft__stream stream = weft__spmv_stream(&make, queue);
    weft__spmv_finish(&stream);
    weft__buffer_release(&runs.from);
    weft__buffer_release(&runs.to);
    return stream.status;
}

static weft_status fill(struct weft_spmv_plan *plan, cl_command_queue queue, const struct weft_device_csr *a)
{
    struct push *s = plan->state;
    struct weft__make make = {.ctx = plan->ctx};
    struct runs runs = {0};
    runs_make(s, plan, &make, queue, a, &runs);
    entries_fill(s, plan, &make, queue, a, &runs);
    weft__buffer_release(&runs.from);
    weft__buffer_release(&runs.to);
    return make.status;
}

static weft_status run(struct weft_spmv_plan *plan, struct weft__stream *stream, const struct weft__spmv_call *call)
{
    const struct push *s = plan->state;
    for (cl_uint i = 0; i < s->slabs && !stream->status; i++) {
        const cl_uint team = i * s->teams, slab = i * s->slab, base = s->base[i];
        stream->status = WEFT__PARTS_BIND(plan->ctx, s->k, NKERNELS, WEFT__ARG(team), WEFT__ARG(slab), WEFT__ARG(base));
        weft__spmv_launch(plan, stream, s->k[RUN], s->teams, s->wg, call);
        weft__spmv_launch(plan, stream, s->k[SUM], s->slab, s->sum_wg, call);
    }
    return stream->status;
}

static void variants(weft__variant_fn *fn, void *arg)
{
    static const struct weft__kernel_spec *const packs[] = {&cut_spec, &count_spec, &begins_spec, &rows_spec,
                                                            &fill_spec};
    static const enum weft_type types[] = {WEFT_TYPE_F32, WEFT_TYPE_PATTERN};
    for (size_t i = 0; i < sizeof packs / sizeof *packs; i++)
        for (int t = 0; t < 2; t++) {
            struct weft__variant v = {.spec = packs[i], .schedule = WEFT_SCHEDULE_GPU};
            weft__define_types(&v.defines, types[t], t ? WEFT_OFS_64 : WEFT_OFS_32);
            weft__define(&v.defines, "WEFT_WG", "%d", PACK_WG);
            weft__define(&v.defines, "WEFT_PANELS", "%d", PANELS_MOST);
            weft__define(&v.defines, "WEFT_BUCKET", "%d", BUCKET_BYTES / 4);
            fn(arg, &v);
        }
    WEFT__SPMV_EACH(&run_spec, WEFT_SCHEDULE_GPU, {"WEFT_WG", PUSH_WG}, {"WEFT_COLS", 5632});
    WEFT__SPMV_EACH(&sum_spec, WEFT_SCHEDULE_GPU, {"WEFT_WG", SUM_WG}, {"WEFT_BUCKET", BUCKET_BYTES / 8});
}

const struct weft__spmv_method weft__spmv_push = {
    .create = create, .fill = fill, .run = run, .destroy = destroy, .variants = variants};
