// SPDX-License-Identifier: Apache-2.0
// Exclusive scan of as many elements as the matrix has entries. Type f32 sums floats, i32 and pattern sum int32 and
// uint32, to 64-bit sums with --index 64. The elements are small whole numbers, so that f32 sums are exact too. Algorithms of
// opencl: the forms of weft_scan_algo.
#include "host/common/check_exact.h"
#include "host/internal/inside.h"
#include "primitive.h"

#include <stdio.h>
#include <string.h>
#include <weft/scan.h>

static const char *const *scan_algos(const struct weft_backend *backend)
{
    static const char *const opencl[] = {"auto", "three", "chained", NULL};
    return strcmp(backend->name, "opencl") ? bench_primitive_algos(backend) : opencl;
}

static enum weft_scan_type scan_type(const struct bench_run *run)
{
    const struct weft_csr *a = run->input->a;
    int wide = a->ofs == WEFT_OFS_64;
    return a->type == WEFT_TYPE_F32   ? WEFT_SCAN_TYPE_F32
           : a->type == WEFT_TYPE_I32 ? (wide ? WEFT_SCAN_TYPE_I32_I64 : WEFT_SCAN_TYPE_I32)
                                      : (wide ? WEFT_SCAN_TYPE_U32_U64 : WEFT_SCAN_TYPE_U32);
}

static void scan_sizes(const struct bench_run *run, size_t *in_bytes, size_t *out_bytes)
{
    size_t n = (size_t)run->input->a->nnz;
    *in_bytes = weft__mul(n, weft_scan_in_bytes(scan_type(run)));
    *out_bytes = weft__mul(n, weft_scan_sum_bytes(scan_type(run)));
}

// -1, 0 or 1 (0, 1 or 2 without a sign), so that sums stay below 2^24 in f32.
static void scan_draw(const struct bench_run *run, void *const *in)
{
    uint64_t state = run->input->seed;
    for (int64_t i = 0; i < run->input->a->nnz; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        int value = (int)((state >> 33) % 3);
        if (scan_type(run) == WEFT_SCAN_TYPE_F32)
            ((float *)*in)[i] = (float)(value - 1);
        else
            ((int32_t *)*in)[i] = run->input->a->type == WEFT_TYPE_I32 ? value - 1 : value;
    }
}

static weft_status scan_reference(const struct bench_run *run, void *const *in, void *const *out)
{
    weft__ref_scan(*out, *in, run->input->a->nnz, scan_type(run), 0, 0);
    return WEFT_OK;
}

static int scan_right(const struct bench_run *run, void *const *out, void *const *want, char *why, size_t size)
{
    return check_scan(*out, *want, run->input->a->nnz, scan_type(run), why, size);
}

static void scan_threaded(const struct bench_run *run, void *const *in, void *const *out)
{
    weft__omp_array_scan(*out, *in, run->input->a->nnz, scan_type(run));
}

static weft_status scan_plan_create(void **plan, struct bench_run *run)
{
    struct weft_scan_plan *scan = NULL;
    struct weft_scan_params params = {0};
    weft_scan_algo_parse(&params.algo, run->algo);
    bench_tune(run, &params);
    weft_status status = weft_scan_plan_create(&scan, run->ctx, scan_type(run), run->input->a->nnz, &params);
    *plan = scan;
    if (status)
        return status;
    const struct weft_scan_info *info = weft_scan_plan_info(scan);
    run->times.workspace_bytes = (int64_t)info->workspace_bytes;
    snprintf(run->times.chosen, sizeof run->times.chosen, "%s%s, wg %d, ipt %d", weft_scan_type_name(scan_type(run)),
             info->params.algo == WEFT_SCAN_ALGO_CHAINED ? ", chained" : "", bench_tuned(run, &info->params, "wg"),
             bench_tuned(run, &info->params, "ipt"));
    return WEFT_OK;
}

static weft_status scan_plan_run(void *plan, const struct bench_run *run, const cl_mem *in, const cl_mem *out)
{
    return weft_scan_run(plan, run->queue, *out, *in, run->input->a->nnz, 0, NULL, NULL);
}

static void scan_plan_destroy(void **plan)
{
    struct weft_scan_plan *scan = *plan;
    weft_scan_plan_destroy(&scan);
    *plan = NULL;
}

const struct bench_primitive bench_scan_primitive = {1,
                                                     scan_sizes,
                                                     scan_draw,
                                                     scan_reference,
                                                     scan_right,
                                                     scan_threaded,
                                                     scan_plan_create,
                                                     scan_plan_run,
                                                     scan_plan_destroy};

static weft_status scan_setup(struct bench_run *run, struct weft_error *err)
{
    if (run->input->a->type == WEFT_TYPE_F64)
        return weft__error(err, WEFT_EUNSUPPORTED, "there is no scan of f64");
    return bench_primitive_setup(run, err);
}

const struct bench_op bench_scan = {
    .name = "scan",
    .help = "exclusive prefix sums of nnz elements",
    .draws = 1,
    .defaults = "auto",
    .algos = scan_algos,
    .bytes_min = bench_primitive_bytes_min,
    .setup = scan_setup,
    BENCH_PRIMITIVE_OP(bench_scan_primitive),
};
