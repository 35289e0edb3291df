// SPDX-License-Identifier: Apache-2.0
// Values alone into a transpose whose pattern a plan has analysed: out[p] = val[permutation[p]]. Its floor is one reading
// of a permutation and of the values, and one writing of values.
#include "host/common/check_exact.h"
#include "host/internal/inside.h"
#include "primitive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/transpose.h>

static const char *const *refill_algos(const struct weft_backend *backend)
{
    return strcmp(backend->name, "omp") ? bench_primitive_algos(backend) : NULL;
}

// in: values; the permutation of the reference, 64 bits wide. out: values.
static void refill_sizes(const struct bench_run *run, size_t *in_bytes, size_t *out_bytes)
{
    const struct weft_csr *a = run->input->a;
    in_bytes[0] = *out_bytes = weft__mul((size_t)a->nnz, weft_type_bytes(a->type));
    in_bytes[1] = weft__mul((size_t)a->nnz, sizeof(int64_t));
}

// The values, and by counting where each entry of the transpose comes from.
static void refill_draw(const struct bench_run *run, void *const *in)
{
    const struct weft_csr *a = run->input->a;
    int64_t *from = in[1], *at = calloc((size_t)a->n + 1, sizeof *at);
    memset(from, 0, (size_t)a->nnz * sizeof *from); // without memory the reference is one value, and nothing agrees
    if (a->nnz)
        memcpy(in[0], a->val, (size_t)a->nnz * weft_type_bytes(a->type));
    for (int64_t p = 0; at && p < a->nnz; p++)
        at[a->col[p] + 1]++;
    for (int64_t c = 0; at && c < a->n; c++)
        at[c + 1] += at[c];
    for (int64_t p = 0; at && p < a->nnz; p++)
        from[at[a->col[p]]++] = p;
    free(at);
}

static weft_status refill_reference(const struct bench_run *run, void *const *in, void *const *out)
{
    const int64_t *from = in[1], n = run->input->a->nnz;
    if (weft_type_bytes(run->input->a->type) == 8)
        for (int64_t p = 0; p < n; p++)
            ((uint64_t *)*out)[p] = ((const uint64_t *)*in)[from[p]];
    else
        for (int64_t p = 0; p < n; p++)
            ((uint32_t *)*out)[p] = ((const uint32_t *)*in)[from[p]];
    return WEFT_OK;
}

static int refill_right(const struct bench_run *run, void *const *out, void *const *want, char *why, size_t size)
{
    return check_values(*out, *want, run->input->a->nnz, run->input->a->type, why, size);
}

static weft_status refill_plan_create(void **out, struct bench_run *run)
{
    const struct weft_csr *host = run->input->a;
    struct weft_csr pattern = *host;
    struct weft_device_csr a = {0};
    struct weft_transpose_refill *plan = NULL;
    pattern.type = WEFT_TYPE_PATTERN;
    pattern.val = NULL;
    weft_status status =
        weft_device_csr_alloc(&a, run->ctx, weft_shape(host->m, host->n, host->nnz, WEFT_TYPE_PATTERN, host->ofs));
    if (!status)
        status = weft_device_csr_write_sync(&a, run->ctx, run->queue, &pattern);
    double start = bench_now_ms();
    if (!status)
        status = weft_transpose_refill_create(&plan, run->ctx, run->queue, &a, NULL);
    if (!status) {
        clFinish(run->queue);
        run->times.analyse_ms = bench_now_ms() - start;
        const struct weft_transpose_info *info = weft_transpose_refill_info(plan);
        run->times.workspace_bytes = (int64_t)info->workspace_bytes;
    }
    weft_device_csr_free(&a);
    *out = plan;
    return status;
}

static weft_status refill_plan_run(void *plan, const struct bench_run *run, const cl_mem *in, const cl_mem *out)
{
    return weft_transpose_refill_run(plan, run->queue, *out, *in, run->input->a->type, 0, NULL, NULL);
}

static void refill_plan_destroy(void **plan)
{
    struct weft_transpose_refill *refill = *plan;
    weft_transpose_refill_destroy(&refill);
    *plan = NULL;
}

static const struct bench_primitive refill_primitive = {
    1,    refill_sizes,       refill_draw,     refill_reference,   refill_right,
    NULL, refill_plan_create, refill_plan_run, refill_plan_destroy};

static weft_status refill_setup(struct bench_run *run, struct weft_error *err)
{
    if (run->input->a->type == WEFT_TYPE_PATTERN)
        return weft__error(err, WEFT_EUNSUPPORTED, "a pattern has no values");
    return bench_primitive_setup(run, err);
}

static int64_t refill_bytes_min(const struct bench_run *run)
{
    const struct weft_csr *a = run->input->a;
    return a->nnz * (int64_t)(weft_ofs_bytes(a->ofs) + 2 * weft_type_bytes(a->type));
}

const struct bench_op bench_refill = {
    .name = "refill",
    .help = "values alone into a transpose that a plan has analysed",
    .algos = refill_algos,
    .bytes_min = refill_bytes_min,
    .setup = refill_setup,
    BENCH_PRIMITIVE_OP(refill_primitive),
};
