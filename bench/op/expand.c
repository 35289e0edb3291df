// SPDX-License-Identifier: Apache-2.0
// Pointers-to-index: the row index of every entry of the matrix from its row pointers.
#include "host/common/check_exact.h"
#include "host/internal/inside.h"
#include "primitive.h"

#include <stdio.h>
#include <string.h>
#include <weft/expand.h>

static void expand_sizes(const struct bench_run *run, size_t *in_bytes, size_t *out_bytes)
{
    const struct weft_csr *a = run->input->a;
    *in_bytes = weft__mul((size_t)a->m + 1, weft_ofs_bytes(a->ofs));
    *out_bytes = weft__mul((size_t)a->nnz, sizeof(int32_t));
}

static void expand_draw(const struct bench_run *run, void *const *in)
{
    const struct weft_csr *a = run->input->a;
    memcpy(*in, a->row_ptr, ((size_t)a->m + 1) * weft_ofs_bytes(a->ofs));
}

static weft_status expand_reference(const struct bench_run *run, void *const *in, void *const *out)
{
    weft__ref_expand(*out, *in, run->input->a->m, run->input->a->ofs);
    return WEFT_OK;
}

static int expand_right(const struct bench_run *run, void *const *out, void *const *want, char *why, size_t size)
{
    return check_expand(*out, *want, run->input->a->nnz, why, size);
}

static void expand_threaded(const struct bench_run *run, void *const *in, void *const *out)
{
    const struct weft_csr *a = run->input->a;
    weft__omp_array_expand(*out, *in, a->m, a->nnz, a->ofs);
}

static weft_status expand_plan_create(void **plan, struct bench_run *run)
{
    const struct weft_csr *a = run->input->a;
    struct weft_expand_plan *expand = NULL;
    struct weft_expand_params params = {0};
    bench_tune(run, &params);
    weft_status status = weft_expand_plan_create(&expand, run->ctx, a->m, a->nnz, a->ofs, &params);
    *plan = expand;
    if (status)
        return status;
    const struct weft_expand_info *info = weft_expand_plan_info(expand);
    run->times.workspace_bytes = (int64_t)info->workspace_bytes;
    snprintf(run->times.chosen, sizeof run->times.chosen, "wg %d, ipt %d", bench_tuned(run, &info->params, "wg"),
             bench_tuned(run, &info->params, "ipt"));
    return WEFT_OK;
}

static weft_status expand_plan_run(void *plan, const struct bench_run *run, const cl_mem *in, const cl_mem *out)
{
    return weft_expand_run(plan, run->queue, *out, *in, run->input->a->m, run->input->a->nnz, 0, NULL, NULL);
}

static void expand_plan_destroy(void **plan)
{
    struct weft_expand_plan *expand = *plan;
    weft_expand_plan_destroy(&expand);
    *plan = NULL;
}

static const struct bench_primitive expand_primitive = {1,
                                                        expand_sizes,
                                                        expand_draw,
                                                        expand_reference,
                                                        expand_right,
                                                        expand_threaded,
                                                        expand_plan_create,
                                                        expand_plan_run,
                                                        expand_plan_destroy};

const struct bench_op bench_expand = {
    .name = "expand",
    .help = "pointers-to-index: row indices from row pointers",
    .algos = bench_primitive_algos,
    .bytes_min = bench_primitive_bytes_min,
    .setup = bench_primitive_setup,
    BENCH_PRIMITIVE_OP(expand_primitive),
};
