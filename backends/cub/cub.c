// SPDX-License-Identifier: Apache-2.0
// Transposition by NVIDIA's CUB, a stable radix sort of the entries by column, on the CUDA device of the bench.
#include "backends/algo.h"
#include "backends/cuda/transpose.h"
#include "cub_backend.h"
#include "host/internal/inside.h"

#include <stdlib.h>

const char *const weft__cub_transpose_algos[] = {"pairs", "gather", NULL};

struct state {
    struct cuda_session cuda;
    struct cuda_transpose m;
    enum cub_transpose_algo algo;
    void *work;
};

// Where `work` is NULL, *bytes is how much of it is needed.
static weft_status enqueue(const struct state *t, void *work, size_t *bytes, struct weft_error *err)
{
    const struct weft_csr *a = t->m.a;
    const struct cub_transpose job = {.m = (int)a->m,
                                      .n = (int)a->n,
                                      .nnz = (int)a->nnz,
                                      .value_bytes = (int)weft_type_bytes(a->type),
                                      .row_ptr = t->m.row_ptr,
                                      .col = t->m.col,
                                      .val = t->m.val,
                                      .out_ptr = t->m.out_ptr,
                                      .out_row = t->m.out_row,
                                      .out_val = t->m.out_val};
    return weft__cuda_fail(weft__cub_transpose(&job, t->algo, work, bytes, t->cuda.stream), "CUB", err);
}

static weft_status init(struct state *t, struct weft_context *ctx, const struct weft_csr *a,
                        struct weft_backend_times *times, struct weft_error *err)
{
    size_t bytes = 0;
    weft_status status = weft__cuda_open(&t->cuda, ctx, "CUB", err);
    if (!status)
        status = weft__cuda_transpose_take(&t->m, &t->cuda, a, times, err);
    if (!status)
        status = enqueue(t, NULL, &bytes, err);
    if (!status)
        status = weft__cuda_take(&t->cuda, &t->work, bytes, "CUB's work", err);
    times->workspace_bytes = (int64_t)bytes;
    return status;
}

weft_status weft__cub_transpose_prepare(void **state, struct weft_context *ctx, const struct weft_csr *a,
                                        const char *algo, const struct weft_backend_tune *tune,
                                        struct weft_backend_times *times, struct weft_error *err)
{
    *state = NULL;
    const int k = weft__algo_find(weft__cub_transpose_algos, algo, tune, "backend cub has no transposition", err);
    if (k < 0)
        return WEFT_EINVAL;
    struct state *t = calloc(1, sizeof *t);
    if (!t)
        return weft__error(err, WEFT_ENOMEM, "out of host memory for a transposition");
    t->algo = k ? CUB_GATHER : CUB_PAIRS;
    *state = t;
    weft_status status = init(t, ctx, a, times, err);
    if (status)
        weft__cub_transpose_finish(state);
    return status;
}

weft_status weft__cub_transpose_run(void *state, double *ms, struct weft_error *err)
{
    struct state *t = state;
    size_t bytes = 0;
    weft_status status = weft__cuda_begin(&t->cuda, err);
    if (!status)
        status = enqueue(t, t->work, &bytes, err);
    return weft__cuda_end(&t->cuda, status, ms, err);
}

weft_status weft__cub_transpose_plain(void *state, int runs, struct weft_error *err)
{
    struct state *t = state;
    size_t bytes = 0;
    weft_status status = WEFT_OK;
    for (int i = 0; i < runs && !status; i++)
        status = enqueue(t, t->work, &bytes, err);
    return status ? status : weft__cuda_fail(cudaStreamSynchronize(t->cuda.stream), "cudaStreamSynchronize", err);
}

weft_status weft__cub_transpose_call(void *state, struct weft_csr *out, struct weft_error *err)
{
    struct state t = *(struct state *)state;
    size_t bytes = 0;
    weft_status status = weft__cuda_transpose_have(&t.m, &t.cuda, err);
    if (!status)
        status = enqueue(&t, NULL, &bytes, err);
    if (!status)
        status = weft__cuda_have(&t.cuda, &t.work, NULL, bytes, "CUB's work", err);
    if (!status)
        status = weft__cuda_settle(err);
    if (!status)
        status = weft__cub_transpose_plain(&t, 1, err);
    if (!status)
        status = weft__cuda_transpose_read(&t.m, out, err);
    weft__cuda_drop(&t.cuda);
    return status;
}

weft_status weft__cub_transpose_poison(void *state, struct weft_error *err)
{
    struct state *t = state;
    return weft__cuda_transpose_poison(&t->m, &t->cuda, err);
}

weft_status weft__cub_transpose_result(void *state, struct weft_csr *out, struct weft_backend_times *times,
                                       struct weft_error *err)
{
    const struct state *t = state;
    return weft__cuda_transpose_result(&t->m, out, times, err);
}

void weft__cub_transpose_finish(void **state)
{
    if (!state || !*state)
        return;
    struct state *t = *state;
    weft__cuda_close(&t->cuda);
    free(t);
    *state = NULL;
}

const struct weft_backend weft__backend_cub = {
    .name = "cub",
    .needs = "cuda",
    .probe = weft__cuda_probe,
    .version = weft__cub_number,
    .transpose = {WEFT__BACKEND_OP(cub, transpose), .plain = weft__cub_transpose_plain,
                  .call = weft__cub_transpose_call},
};
