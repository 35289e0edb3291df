// SPDX-License-Identifier: Apache-2.0
// Merge of as many sorted keys as the matrix has entries. The algorithms are what is merged: all pairs of neighbours
// among blocks of 256 (small) or 65536 keys (large), or two arrays, one of them twice as long as the other.
#include "host/common/check_exact.h"
#include "host/internal/inside.h"
#include "keys.h"
#include "primitive.h"

#include <stdio.h>
#include <weft/merge.h>

static const char *const *merge_algos(const struct weft_backend *backend)
{
    static const char *const cases[] = {"small", "large", "two", NULL};
    return bench_primitive_algos(backend) ? cases : NULL;
}

// 0: two arrays.
static int64_t block_of(const struct bench_run *run)
{
    return !strcmp(run->algo, "small") ? 256 : !strcmp(run->algo, "large") ? 65536 : 0;
}

// Lengths of the arrays; of blocks the first is all.
static int64_t left_of(const struct bench_run *run)
{
    return block_of(run) ? run->input->a->nnz : run->input->a->nnz / 3;
}

static int64_t right_of(const struct bench_run *run)
{
    return run->input->a->nnz - left_of(run);
}

// in: keys and payload of the left array (or of all), then of the right one; out: keys, payload.
static void merge_sizes(const struct bench_run *run, size_t *in_bytes, size_t *out_bytes)
{
    size_t key = weft_key_bytes(bench_key(run)), val = (size_t)bench_payload_bytes(run);
    size_t left = (size_t)left_of(run), right = (size_t)right_of(run);
    in_bytes[0] = weft__mul(left, key);
    in_bytes[1] = weft__mul(left, val);
    in_bytes[2] = weft__mul(right, key);
    in_bytes[3] = weft__mul(right, val);
    out_bytes[0] = in_bytes[0] + in_bytes[2];
    out_bytes[1] = in_bytes[1] + in_bytes[3];
}

// Sorted blocks: each key is the one before plus 0, 1 or 2, so that a third of the keys repeat. `sparse`
// doubles the steps: the shorter array of "two" then spans the same values as the other.
static void sorted_draw(const struct bench_run *run, uint64_t *state, void *keys, int64_t n, int64_t block, int sparse)
{
    size_t bytes = weft_key_bytes(bench_key(run));
    uint64_t start = bench_key(run) == WEFT_KEY_I32 ? (uint64_t)-1000 : 0, key = start;
    for (int64_t i = 0; i < n; i++) {
        key = block && i % block == 0 ? start : key + ((bench_random(state) % 3) << sparse);
        bench_put(keys, bytes, i, key);
    }
}

static void merge_draw(const struct bench_run *run, void *const *in)
{
    uint64_t state = run->input->seed;
    int64_t left = left_of(run), right = right_of(run), block = block_of(run);
    sorted_draw(run, &state, in[0], left, block, !block);
    sorted_draw(run, &state, in[2], right, 0, 0);
    bench_payload_draw(run, in[1], 0, left);
    bench_payload_draw(run, in[3], left, right);
}

static weft_status merge_reference(const struct bench_run *run, void *const *in, void *const *out)
{
    int64_t block = block_of(run), left = left_of(run);
    int payload_bytes = bench_payload_bytes(run);
    if (block)
        weft__ref_merge_blocks(bench_key(run), payload_bytes, out[0], out[1], in[0], in[1], left, block);
    else
        weft__ref_merge(bench_key(run), payload_bytes, out[0], out[1], in[0], in[1], left, in[2], in[3], right_of(run));
    return WEFT_OK;
}

static int merge_right(const struct bench_run *run, void *const *out, void *const *want, char *why, size_t size)
{
    return check_keys(out[0], out[1], want[0], want[1], run->input->a->nnz, bench_key(run), bench_payload_bytes(run),
                      why, size);
}

static void merge_threaded(const struct bench_run *run, void *const *in, void *const *out)
{
    weft__omp_array_merge(bench_key(run), bench_payload_bytes(run), out[0], out[1], in[0], in[1], left_of(run), in[2],
                          in[3], right_of(run), block_of(run));
}

static weft_status merge_plan_create(void **plan, struct bench_run *run)
{
    struct weft_merge_plan *merge = NULL;
    struct weft_merge_params params = {0};
    bench_tune(run, &params);
    weft_status status =
        weft_merge_plan_create(&merge, run->ctx, bench_key(run), bench_payload_bytes(run), run->input->a->nnz, &params);
    *plan = merge;
    if (status)
        return status;
    const struct weft_merge_info *info = weft_merge_plan_info(merge);
    run->times.workspace_bytes = (int64_t)info->workspace_bytes;
    snprintf(run->times.chosen, sizeof run->times.chosen, "%s + %d, wg %d, ipt %d", weft_key_name(bench_key(run)),
             bench_payload_bytes(run), bench_tuned(run, &info->params, "wg"), bench_tuned(run, &info->params, "ipt"));
    return WEFT_OK;
}

static weft_status merge_plan_run(void *plan, const struct bench_run *run, const cl_mem *in, const cl_mem *out)
{
    int64_t block = block_of(run), left = left_of(run);
    if (block)
        return weft_merge_blocks_run(plan, run->queue, out[0], out[1], in[0], in[1], left, block, 0, NULL, NULL);
    return weft_merge_run(plan, run->queue, out[0], out[1], in[0], in[1], left, in[2], in[3], right_of(run), 0, NULL,
                          NULL);
}

static void merge_plan_destroy(void **plan)
{
    struct weft_merge_plan *merge = *plan;
    weft_merge_plan_destroy(&merge);
    *plan = NULL;
}

static const struct bench_primitive merge_primitive = {4,
                                                       merge_sizes,
                                                       merge_draw,
                                                       merge_reference,
                                                       merge_right,
                                                       merge_threaded,
                                                       merge_plan_create,
                                                       merge_plan_run,
                                                       merge_plan_destroy};

const struct bench_op bench_merge = {
    .name = "merge",
    .help = "merge of nnz sorted keys with payload",
    .cases = 1,
    .draws = 1,
    .algos = merge_algos,
    .bytes_min = bench_primitive_bytes_min,
    .setup = bench_primitive_setup,
    BENCH_PRIMITIVE_OP(merge_primitive),
};
