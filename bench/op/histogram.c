// SPDX-License-Identifier: Apache-2.0
// Index-to-pointers: the column pointers of the matrix from its column indices.
#include "host/common/check_exact.h"
#include "host/internal/inside.h"
#include "primitive.h"

#include <stdio.h>
#include <string.h>
#include <weft/histogram.h>

static const char *const *histogram_algos(const struct weft_backend *backend)
{
    static const char *const opencl[] = {"auto", "rows", "atomic", NULL};
    return strcmp(backend->name, "opencl") ? bench_primitive_algos(backend) : opencl;
}

// in: indices, scratch of backend omp.
static void histogram_sizes(const struct bench_run *run, size_t *in_bytes, size_t *out_bytes)
{
    const struct weft_csr *a = run->input->a;
    in_bytes[0] = weft__mul((size_t)a->nnz, sizeof *a->col);
    in_bytes[1] = bench_is_threaded(run) ? weft__omp_array_histogram_scratch(a->nnz, a->n, a->ofs) : 0;
    *out_bytes = weft__mul((size_t)a->n + 1, weft_ofs_bytes(a->ofs));
}

static void histogram_draw(const struct bench_run *run, void *const *in)
{
    const struct weft_csr *a = run->input->a;
    if (a->nnz)
        memcpy(*in, a->col, (size_t)a->nnz * sizeof *a->col);
}

static weft_status histogram_reference(const struct bench_run *run, void *const *in, void *const *out)
{
    const struct weft_csr *a = run->input->a;
    weft__ref_histogram(*out, *in, a->nnz, a->n, a->ofs, 1);
    return WEFT_OK;
}

static int histogram_right(const struct bench_run *run, void *const *out, void *const *want, char *why, size_t size)
{
    return check_histogram(*out, *want, run->input->a->n, run->input->a->ofs, 1, why, size);
}

static void histogram_threaded(const struct bench_run *run, void *const *in, void *const *out)
{
    const struct weft_csr *a = run->input->a;
    weft__omp_array_histogram(*out, in[0], a->nnz, a->n, a->ofs, in[1]);
}

static weft_status histogram_plan_create(void **plan, struct bench_run *run)
{
    const struct weft_csr *a = run->input->a;
    struct weft_histogram_plan *histogram = NULL;
    struct weft_histogram_params params = {.pointers = true};
    weft_histogram_algo_parse(&params.algo, run->algo);
    bench_tune(run, &params);
    weft_status status = weft_histogram_plan_create(&histogram, run->ctx, a->n, a->ofs, a->nnz, &params);
    *plan = histogram;
    if (status)
        return status;
    const struct weft_histogram_info *info = weft_histogram_plan_info(histogram);
    run->times.workspace_bytes = (int64_t)info->workspace_bytes;
    snprintf(run->times.chosen, sizeof run->times.chosen, "%s, wg %d, ipt %d, %d rows, %d ranges",
             weft_histogram_algo_name(info->params.algo), bench_tuned(run, &info->params, "wg"),
             bench_tuned(run, &info->params, "ipt"), info->rows, info->ranges);
    return WEFT_OK;
}

static weft_status histogram_plan_run(void *plan, const struct bench_run *run, const cl_mem *in, const cl_mem *out)
{
    return weft_histogram_run(plan, run->queue, *out, *in, run->input->a->nnz, 0, NULL, NULL);
}

static void histogram_plan_destroy(void **plan)
{
    struct weft_histogram_plan *histogram = *plan;
    weft_histogram_plan_destroy(&histogram);
    *plan = NULL;
}

const struct bench_primitive bench_histogram_primitive = {
    1,
    histogram_sizes,
    histogram_draw,
    histogram_reference,
    histogram_right,
    histogram_threaded,
    histogram_plan_create,
    histogram_plan_run,
    histogram_plan_destroy,
};

static weft_status histogram_setup(struct bench_run *run, struct weft_error *err)
{
    if (run->ctx && weft_context_schedule(run->ctx) == WEFT_SCHEDULE_CPU && !strcmp(run->algo, "atomic"))
        return weft__error(err, WEFT_EUNSUPPORTED, "the CPU schedule has no atomics");
    return bench_primitive_setup(run, err);
}

const struct bench_op bench_histogram = {
    .name = "histogram",
    .help = "index-to-pointers: column pointers from column indices",
    .defaults = "auto",
    .algos = histogram_algos,
    .bytes_min = bench_primitive_bytes_min,
    .setup = histogram_setup,
    BENCH_PRIMITIVE_OP(bench_histogram_primitive),
};
