// SPDX-License-Identifier: Apache-2.0
// A stand-in for backends/cub/transpose.cu that computes on the host.
#include "backends/cub/cub_backend.h"
#include "cuda.h"

#include <string.h>

static size_t work_bytes(const struct cub_transpose *t, enum cub_transpose_algo algo)
{
    return 16 + (size_t)t->nnz * (algo == CUB_PAIRS ? 20 : 16);
}

static void run(const struct standin_work *w)
{
    memset(w->out[3], 0xee, (size_t)w->n[3]);
    standin_csr2csc(w, (size_t)w->type);
}

const char *weft__cub_number(void)
{
    return "CUB 99.8.7";
}

cudaError_t weft__cub_transpose(const struct cub_transpose *t, enum cub_transpose_algo algo, void *work, size_t *bytes,
                                cudaStream_t stream)
{
    const size_t nnz = (size_t)t->nnz, values = nnz * (size_t)t->value_bytes;
    struct standin_work w = {.run = run, .n = {t->m, t->n, t->nnz}, .type = t->value_bytes};
    if (standin_enter() || t->m < 1 || t->n < 1)
        return cudaErrorUnknown;
    *bytes = work_bytes(t, algo);
    if (!work)
        return cudaSuccess;
    w.n[3] = (int64_t)*bytes;
    w.in[0] = standin_at(t->row_ptr, ((size_t)t->m + 1) * 4, "row pointers");
    w.in[1] = standin_at(t->col, nnz * 4, "column indices");
    w.in[2] = standin_at(t->val, values, "values");
    w.out[0] = standin_at(t->out_ptr, ((size_t)t->n + 1) * 4, "column pointers");
    w.out[1] = standin_at(t->out_row, nnz * 4, "row indices");
    w.out[2] = values ? standin_at(t->out_val, values, "values of the transpose") : NULL;
    w.out[3] = standin_at(work, *bytes, "work");
    if (!w.in[0] || !w.in[1] || !w.in[2] || !w.out[0] || !w.out[1] || (values && !w.out[2]) || !w.out[3])
        return cudaErrorInvalidValue;
    standin_enqueue(stream, &w);
    return cudaSuccess;
}
