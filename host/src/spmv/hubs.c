// SPDX-License-Identifier: Apache-2.0
// Finds the hubs of a matrix by a sample of its entries, and writes columns that say which entries lie in one.
//
//     pass          reads          writes                      form of an entry on its way   buffers
//     fill          -              0 everywhere                nothing                       COUNT, BINS
//     hubs_count    col, sampled   entries of each column      (columns alone)               COUNT
//     hubs_bins     COUNT          columns of so many entries  (columns alone)               BINS
//     hubs_take     COUNT          columns of hubs             (columns alone)               the list, COUNT
//     hubs_columns  col, COUNT     all columns                 column, or number of a hub    COL
#include "hubs.h"
#include "host/src/core/fill.h"

static const struct weft__kernel_spec count_spec = {"hubs_count", {"spmv/hubs.cl"}};
static const struct weft__kernel_spec bins_spec = {"hubs_bins", {"spmv/hubs.cl"}};
static const struct weft__kernel_spec take_spec = {"hubs_take", {"spmv/hubs.cl"}};
static const struct weft__kernel_spec columns_spec = {"hubs_columns", {"spmv/hubs.cl"}};

#define WG      256
#define GROUPS  32 // of hubs_bins, for each compute unit: each has bins of its own
#define SAMPLES (1 << 20)
#define RUN     32 // entries side by side, as RUN of cl/spmv/hubs.cl
// Entries of a column for each work-group that reads it once more, at least.
#define WORTH 0.5
#define LINE  128  // bytes of the first cache
#define LINES 1024 // that it keeps of x while the matrix goes by

// One launch over `items` work-items.
static void pass(struct weft_spmv_plan *plan, struct weft__make *make, cl_command_queue queue,
                 const struct weft__kernel_spec *spec, uint64_t items, const struct weft__arg *args, size_t nargs)
{
    const size_t wg = (size_t)weft__wg_lower(plan->ctx, WG);
    struct weft__kernel *kernel = NULL;
    struct weft__defines d = {0};
    weft__define_types(&d, WEFT_TYPE_PATTERN, plan->a.ofs);
    weft__define(&d, "WEFT_WG", "%zu", wg);
    weft__make_kernel(make, &kernel, spec, &d);
    struct weft__stream stream = weft__spmv_stream(make, queue);
    make->status = weft__launch(&stream, kernel, weft__groups(weft__ceil_div((size_t)items, wg), wg), wg, args, nargs);
    weft__parts_release(&kernel, 1, NULL, 0);
}

// Entries of the longest columns, `most` at most, that have `least` and more in the sample; how many these are, and the length of the
// shortest of them: all of this length, unless `split`. Those of the last bin alone may be too many.
static double longest(const cl_uint *bins, double samples, size_t most, double least, bool split, cl_uint *number,
                      cl_uint *length)
{
    const cl_uint last = WEFT__HUBS_BINS - 1;
    double entries = samples;
    size_t columns = bins[last];
    for (cl_uint b = 1; b < last; b++)
        entries -= (double)b * bins[b];
    *length = last;
    for (cl_uint b = last - 1; b > 0 && b >= least && columns < most; b--) {
        const size_t fit = weft__min(bins[b], most - columns);
        if (fit < bins[b] && !split)
            break;
        columns += fit;
        entries += (double)b * (double)fit;
        *length = b;
    }
    *number = (cl_uint)weft__min(columns, most);
    return columns > most ? entries * (double)most / (double)columns : entries;
}

// How many times `side` columns side by side have so many entries in the sample. Blocks.
static void bins_count(struct weft_spmv_plan *plan, struct weft__make *make, cl_command_queue queue, cl_mem count,
                       cl_ulong side, cl_uint found[WEFT__HUBS_BINS])
{
    const cl_int n = (cl_int)plan->a.n;
    const size_t items = (size_t)plan->ctx->device.compute_units * GROUPS * WG;
    const size_t bytes = WEFT__HUBS_BINS * sizeof *found;
    struct weft__kernel *zero = NULL;
    cl_mem bins = NULL;
    weft__spmv_make_buffer(make, &bins, bytes, "columns of each length");
    if (!make->status)
        make->status = weft__fill_create(&zero, plan->ctx);
    struct weft__stream stream = weft__spmv_stream(make, queue);
    weft__fill(&stream, zero, bins, 0, WEFT__HUBS_BINS, 0);
    make->status = stream.status;
    pass(plan, make, queue, &bins_spec, weft__min(weft__ceil_div((size_t)n, (size_t)side), items),
         WEFT__ARGS(WEFT__ARG(count), WEFT__ARG(bins), WEFT__ARG(side), WEFT__ARG(n)));
    stream = weft__spmv_stream(make, queue);
    make->status = weft__spmv_read(&stream, bins, 0, bytes, found);
    weft__parts_release(&zero, 1, &bins, 1);
}

weft_status weft__spmv_hubs_find(struct weft__spmv_hubs *out, struct weft_spmv_plan *plan, cl_command_queue queue,
                                 size_t most, size_t groups)
{
    const size_t nnz = (size_t)plan->a.nnz, runs = weft__max(weft__min(nnz, SAMPLES) / RUN, 1);
    const cl_ulong samples = weft__min(runs * RUN, nnz), apart = nnz / RUN / runs * RUN,
                   side = LINE / weft_type_bytes(plan->type);
    const double all = (double)weft__max(samples, 1), least = WORTH * (double)groups * all / (double)weft__max(nnz, 1);
    struct weft__make make = {.ctx = plan->ctx};
    struct weft__kernel *zero = NULL;
    cl_uint columns[WEFT__HUBS_BINS] = {0}, lines[WEFT__HUBS_BINS] = {0}, unused;
    weft__spmv_make_buffer(&make, &out->count, weft__mul((size_t)plan->a.n, 4), "entries of columns");
    if (!make.status)
        make.status = weft__fill_create(&zero, plan->ctx);
    struct weft__stream stream = weft__spmv_stream(&make, queue);
    weft__fill(&stream, zero, out->count, 0, (size_t)plan->a.n, 0);
    make.status = stream.status;
    pass(plan, &make, queue, &count_spec, samples,
         WEFT__ARGS(WEFT__ARG(col, plan->a.col), WEFT__ARG(count, out->count), WEFT__ARG(samples), WEFT__ARG(apart)));
    bins_count(plan, &make, queue, out->count, 1, columns);
    bins_count(plan, &make, queue, out->count, side, lines);
    weft__parts_release(&zero, 1, NULL, 0);
    out->share = longest(columns, all, most, least, false, &out->number, &out->least) / all;
    out->kept = longest(lines, all, LINES, 1, true, &unused, &unused) / all;
    return make.status;
}

void weft__spmv_hubs_write(const struct weft__spmv_hubs *hubs, struct weft_spmv_plan *plan, struct weft__make *make,
                           cl_command_queue queue, cl_mem list, cl_ulong at, cl_mem *col)
{
    const cl_ulong nnz = (cl_ulong)plan->a.nnz;
    const cl_int n = (cl_int)plan->a.n;
    cl_mem taken = NULL;
    struct weft__make own = {.ctx = plan->ctx, .status = make->status}; // a word that is not among the plan's bytes
    weft__spmv_make_word(&own, queue, &taken, "hubs that were found");
    make->status = own.status;
    pass(plan, make, queue, &take_spec, (uint64_t)plan->a.n,
         WEFT__ARGS(WEFT__ARG(count, hubs->count), WEFT__ARG(column, list), WEFT__ARG(taken), WEFT__ARG(at),
                    WEFT__ARG(least, hubs->least), WEFT__ARG(most, hubs->number), WEFT__ARG(n)));
    weft__spmv_make_buffer(make, col, weft__mul((size_t)nnz, 4), "columns with numbers of hubs");
    pass(plan, make, queue, &columns_spec, nnz,
         WEFT__ARGS(WEFT__ARG(col, plan->a.col), WEFT__ARG(count, hubs->count), WEFT__ARG(out, *col), WEFT__ARG(nnz)));
    struct weft__stream stream = weft__spmv_stream(make, queue);
    make->status = weft__spmv_finish(&stream); // what it read may go
    weft__buffer_release(&taken);
}

void weft__spmv_hubs_variants(weft__variant_fn *fn, void *arg)
{
    static const struct weft__kernel_spec *const specs[] = {&count_spec, &bins_spec, &take_spec, &columns_spec};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        struct weft__variant v = {.spec = specs[i], .schedule = WEFT_SCHEDULE_GPU};
        weft__define_types(&v.defines, WEFT_TYPE_PATTERN, WEFT_OFS_32);
        weft__define(&v.defines, "WEFT_WG", "%d", WG);
        fn(arg, &v);
    }
}
